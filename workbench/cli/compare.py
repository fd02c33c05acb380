"""The command `workbench compare`."""

import argparse
import os
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import OF_MODEL, case_with_settings, named_settings, number_if_given, number_option
from workbench.support.errors import WorkbenchError

SECONDS, LEAST_SECONDS = 90.0, 5.0
"""Total time for the formulations of a file's comparison, per row; and the least time of each row."""
OF_CASES = (
    "step", "duration", "reference_step", "reference", "scheme", "normal", "relax", "set",
    "derivative",
)  # fmt: skip
OF_FILES = ("time_limit",)
OF_SCENES = ("key", "ctrl")
OPTIONS = {
    "case": ("a case", {*OF_FILES, *OF_SCENES}),
    "file": ("a file with a single step", {*OF_CASES, *OF_SCENES}),
    "scene": ("a scene", {*OF_FILES, "scheme", "normal", "relax", "reference", "derivative"}),
}
"""The kinds of comparison as text, and the options that do not apply to each."""


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    compare = command(
        commands, "compare",
        "compare formulations on a case, a scene, a robot model or a friction problem; write a report",
        "compare wheel", "compare wheel -f stewart-trinkle:directions=8 -f ccp --step 1e-3 5e-4",
        "compare cube --relax rigid", "compare block --derivative x mu",
        "compare problem.hdf5", "compare robot.xml --key home --ctrl gait.csv --duration 1",
        "compare robot.xml -f box -f engine:mujoco,timeconst=0.004 --set geom/foot.friction=0.4",
        "compare ./mine.py:Incline -f ./mine.py:elliptic",
    )  # fmt: skip
    add_options(compare)
    compare.add_argument(
        "--out", metavar="FOLDER", help="folder for the report; default: CASE-comparison or FILE-comparison"
    )
    compare.add_argument("--figures", choices=("pdf", "svg", "png"), help="also write each figure as a file")
    compare.add_argument("--all", action="store_true", help="print all rows of the table; default: at most ten")
    compare.add_argument("--json", action="store_true", help="print the rows of runs.csv as JSON")
    compare.add_argument("--quiet", action="store_true", help="print no progress and no table")
    compare.set_defaults(run=run_compare)


def add_options(compare: argparse.ArgumentParser) -> None:
    """Add the options that define a comparison."""
    compare.add_argument(
        "case",
        help="name of a case or scene (see: workbench list cases), a problem file (see: workbench info), or a model "
        "file (.xml, .mjcf, .urdf)",
    )
    compare.add_argument(
        "-f",
        "--formulation",
        action="append",
        metavar="NAME[:OPTION=VALUE,...]",
        help="formulation; repeatable; default: all, each with its published tangent axes; for models also "
        "engine:mujoco[,timeconst=S][,cone=KIND], which is MuJoCo's own step",
    )
    compare.add_argument(
        "--axes", choices=("own", "both"), default="own",
        help="own: the tangent axes that each formulation is published with; both: fixed axes and axes along the "
        "sliding velocity; default: own",
    )  # fmt: skip
    compare.add_argument(
        "--solver",
        action="append",
        metavar="NAME",
        help="solver (see: workbench list solvers); repeatable; default: auto, which solves to round-off, and "
        "cvxpy:CLARABEL for convex QPs (not for scenes)",
    )
    compare.add_argument(
        "--metric", action="append", metavar="NAME", help="metric; repeatable; default: all that apply"
    )
    compare.add_argument(
        "--derivative", action="append", nargs=2, metavar=("OUTPUT", "PARAMETER"),
        help="also the error of the derivative of an output, at the end of a case's motion, with respect to a "
        "parameter (see: workbench sensitivity); repeatable",
    )  # fmt: skip
    compare.add_argument(
        "--time-limit",
        metavar="S",
        help="time limit for each formulation on a problem file [s]; default: 90 divided by the number of formulations",
    )
    compare.add_argument(
        "--step", action="append", metavar="H[,H...]", help="step sizes [s]; default: 1e-3, for scenes the scene's"
    )
    compare.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's, for models 0.5")
    compare.add_argument(
        "--reference-step",
        metavar="H",
        help="step size of the reference run [s]; default: 1e-4, or the next smaller one that divides all steps; for "
        "scenes a tenth of --step",
    )
    compare.add_argument(
        "--reference", choices=("events", "steps"),
        help="reference motion of a case: events (event-driven) or steps (of --reference-step); default: events where "
        "the case has them",
    )  # fmt: skip
    compare.add_argument(
        "--scheme", metavar="NAME",
        help="time-stepping scheme: symplectic, explicit, moreau-jean[:theta=0.7] (Moreau's midpoint rule) or midpoint "
        "(second order); default: symplectic",
    )  # fmt: skip
    compare.add_argument(
        "--normal",
        choices=("velocity", "gap", "moreau"),
        help="normal law: u_n >= 0 (velocity), u_n + phi/h >= 0 (gap) or u_n >= 0 on closed contacts (moreau); "
        "default: the case's",
    )
    compare.add_argument(
        "--relax",
        metavar="NAME=VALUE[,...]",
        help="compliance of all constraint rows (k_n, b_n, k_t, b_t, k_b, b_b, lateral), or rigid; default: the case's",
    )
    compare.add_argument(
        "--set", action="append", metavar="NAME=VALUE",
        help="parameter of the case, or value in the model such as geom/foot.friction=0.4; repeatable",
    )  # fmt: skip
    compare.add_argument("--key", metavar="NAME", help="keyframe of the model to start from")
    compare.add_argument(
        "--ctrl",
        metavar="FILE",
        help="actuator commands of the model: a number, or a table with columns for time and actuators",
    )


def run_compare(o: argparse.Namespace) -> None:
    """Compare, write the results, print the table."""
    _report(o, *chosen(o))


def chosen(o: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The subject of the comparison, and the other arguments of `wb.compare`."""
    from workbench.verbs.compare import is_file
    from workbench.verbs.scene import is_scene

    kind = "scene" if is_scene(o.case) else "file" if is_file(o.case) else "case"
    words, refused = OPTIONS[kind]
    for option in (*OF_CASES, *OF_FILES, *OF_SCENES):
        if getattr(o, option) and option in refused:
            own = next(x for x, (_, others) in OPTIONS.items() if option not in others)
            raise WorkbenchError(
                f"--{option.replace('_', '-')} is for {own}s; {Path(o.case).name if kind != 'case' else o.case} is "
                f"{words}"
            )
    if kind == "scene":
        return _of_scene(o)
    # All names are looked up before any work is done, to catch typing errors.
    from workbench.verbs.find import along_both_axes, find_formulations, find_solver, must_be_known
    from workbench.verbs.registries import BY_KIND, derivative_metrics, find_metrics

    given: dict[str, Any] = {
        "formulations": find_formulations(o.formulation) if o.formulation else None,
        "solvers": [find_solver(x) for x in o.solver or ()],
        "metrics": None if o.metric is None else find_metrics(o.metric),
    }  # fmt: skip
    if o.axes == "both":
        given["formulations"] = along_both_axes(given["formulations"])
    rows = len(given["formulations"] or find_formulations(None))
    if kind == "file":
        return o.case, given | _of_file(o, rows)
    must_be_known(o.case)
    what, settings = case_with_settings(o.case, o.set or []), _of_case(o)
    if o.derivative:
        (all_metrics,) = BY_KIND["metrics"]
        given["metrics"] = [*(given["metrics"] or all_metrics), *derivative_metrics(what, o.derivative)]
    return what, given | settings


def _of_file(o: argparse.Namespace, rows: int) -> dict[str, Any]:
    limit = o.time_limit or f"{max(LEAST_SECONDS, SECONDS / rows):.2g}"
    return {"seconds": number_option(limit, "--time-limit", "seconds")}


def _of_case(o: argparse.Namespace) -> dict[str, Any]:
    from workbench.verbs.find import find_relaxation

    return {
        "steps": steps_of(o.step or ["1e-3"]),
        "reference_step": number_if_given(o.reference_step, "--reference-step", "seconds"),
        "duration": number_if_given(o.duration, "--duration", "seconds"),
        "scheme": o.scheme, "normal": o.normal,
        "workers": os.cpu_count() or 1, "relaxation": find_relaxation(o.relax), "reference": o.reference or "auto",
    }  # fmt: skip


def _of_scene(o: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The scene, and the other arguments of `wb.compare`."""
    from workbench.verbs.find import find_formulations, find_solver
    from workbench.verbs.registries import find_metrics
    from workbench.verbs.scene import duration_of, find_engine, formulations_and_engines, scene

    formulations, engines = formulations_and_engines(o.formulation or [])
    chosen = find_formulations(formulations)
    metrics = None if o.metric is None else find_metrics(o.metric)
    found = scene(o.case, named_settings(o.set or [], OF_MODEL), o.key, o.ctrl)
    for x in engines:
        find_engine(x, found)
    return found, {
        "formulations": [*chosen, *engines] if o.formulation else None, "metrics": metrics,
        "solvers": [find_solver(x) for x in o.solver or ()], "workers": os.cpu_count() or 1,
        "steps": steps_of(o.step) if o.step else None,
        "duration": number_option(o.duration, "--duration", "seconds") if o.duration else duration_of(o.case),
        "reference_step": number_if_given(o.reference_step, "--reference-step", "seconds"),
    }  # fmt: skip


def steps_of(given: Sequence[str]) -> tuple[float, ...]:
    """The steps [s] of --step."""
    return tuple(number_option(h, "--step", "seconds") for part in given for h in part.split(","))


def _report(o: argparse.Namespace, what: Any, given: dict[str, Any]) -> None:
    from pandas import option_context

    from workbench.cli.ahead import compiled_ahead
    from workbench.support.output import json_rows, staged
    from workbench.verbs.compare import compare
    from workbench.verbs.registries import BY_KIND
    from workbench.verbs.scene import is_model, is_scene

    # With the file's extension: a case, or another file, may have the same name.
    name = Path(what).name if isinstance(what, str) else what.name
    out = Path(o.out or f"{Path(o.case).name if is_model(o.case) else name}-comparison")
    ahead = nullcontext() if isinstance(what, str) or is_scene(what) else compiled_ahead(o.words, what, given)
    # Of few rows, tables with Python's strings are made in half the time of those with Arrow's.
    strings = option_context("mode.string_storage", "python")
    with staged(out) as stage, ahead, strings, CommandProgress(o.quiet) as progress:
        found = compare(what, progress=progress, **given)
        c = found.comparison
        if c.mathematics and not any(card["compiled"] for card in c.mathematics):
            raise WorkbenchError("; ".join(dict.fromkeys(card["failure"].reason for card in c.mathematics)))
        if progress:
            progress("writing the page", 0, 1)
        found.write(stage, o.figures, found.facts | {"command": f"workbench {shlex.join(o.words)}"})
    # Lazy imports: pages need Altair, which the first row does not wait for.
    from workbench.builtin.reports.pages.comparison import remove_others
    from workbench.builtin.reports.text.terminal import print_comparison

    remove_others(c, out, o.figures)
    if o.json:
        print(json_rows(c.runs))
    elif not o.quiet:
        asked = [x for x in given["metrics"] or () if o.metric or x.name not in BY_KIND["metrics"][0]]
        print_comparison(c, asked, o.all, bool(o.solver))
        print(f"report: {out / 'report.html'}")
