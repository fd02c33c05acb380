"""The command `workbench compare`."""

import argparse
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.parsing import command
from workbench.cli.progress import Progress
from workbench.cli.words import find_case, find_formulation, find_relaxation, number_option
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.language.formulation import Formulation


SECONDS, LEAST_SECONDS = 90.0, 5.0
"""Time that the formulations of a file's comparison share, each of its rows; and what each row gets at least."""
OF_CASES = ("step", "duration", "reference_step", "position_update", "normal", "relax", "set")
OF_FILES = ("time_limit", "symmetric_part")
"""Options that make no sense for a file, and for a case."""


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    compare = command(
        commands, "compare", "compare formulations on a case or on a friction problem in a file; write a report",
        "compare wheel", "compare wheel -f stewart-trinkle:directions=8 -f ccp --step 1e-3 5e-4",
        "compare cube --relax rigid",
        "compare problem.hdf5 --symmetric-part", "compare ./mine.py:Incline -f ./mine.py:elliptic",
    )  # fmt: skip
    compare.add_argument("case", help="name of a case (see: workbench list cases), or a file (see: workbench info)")
    compare.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]", help="repeatable; default: all"
    )
    compare.add_argument(
        "--solver",
        action="append",
        metavar="NAME",
        help="repeatable; default: each formulation's round-off solver, and cvxpy:CLARABEL for convex QPs",
    )
    compare.add_argument("--metric", action="append", metavar="NAME", help="repeatable; default: all that apply")
    compare.add_argument(
        "--time-limit",
        metavar="S",
        help=f"seconds for each row of a file; default: {SECONDS:g} over the number of formulations",
    )
    compare.add_argument(
        "--symmetric-part", action="store_true", help="of a file whose W is not quite symmetric: compare on (W + W')/2"
    )
    compare.add_argument("--step", action="append", metavar="H[,H...]", help="step sizes [s]; default 1e-3")
    compare.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's")
    compare.add_argument("--reference-step", metavar="H", help="step of the reference run [s]; default 1e-4")
    compare.add_argument(
        "--position-update",
        choices=("symplectic", "explicit"),
        help="q+ = q + h Gamma v+ (default), or with v as in IDETC2016-60064",
    )
    compare.add_argument(
        "--normal",
        choices=("velocity", "gap", "moreau"),
        help="normal law u_n >= 0, u_n + phi/h >= 0, or u_n >= 0 on closed contacts; default: the case's",
    )
    compare.add_argument(
        "--relax",
        metavar="NAME=VALUE[,...]",
        help="compliance k_n, b_n, k_t, b_t, k_b, b_b, lateral of all constraint rows, or rigid; default: the case's",
    )
    compare.add_argument("--set", action="append", metavar="NAME=VALUE", help="a parameter of the case, repeatable")
    compare.add_argument("--out", metavar="FOLDER", help="where to write; default: CASE-comparison")
    compare.add_argument("--figures", choices=("pdf", "svg", "png"), help="also write each figure as a file")
    compare.add_argument("--json", action="store_true", help="print the rows of runs.csv as JSON instead of a table")
    compare.add_argument("--quiet", action="store_true", help="no progress bar, no table")
    compare.set_defaults(run=run_compare)


def run_compare(o: argparse.Namespace) -> None:
    """Steps a case or solves a file, judges, prints and writes; see `workbench.comparison.cases` and `files`."""
    (_compare_file if is_file(o.case) else _compare_case)(o)


def is_file(name: str) -> bool:
    """Whether `name` is a file rather than a case: it has a folder or an ending of problems, or is there as a file."""
    from workbench.readers.files import ENDINGS

    path = Path(name)
    if ".py" in (path.suffix, Path(name.rpartition(":")[0]).suffix):
        return False
    return path.suffix.lower() in ENDINGS or len(path.parts) > 1 or path.is_file()


def _chosen(o: argparse.Namespace) -> "tuple[Formulation, ...]":
    """The formulations asked for; solvers and metrics are looked up so that a mistake is reported at once."""
    from workbench.algorithms import find_solver
    from workbench.builtin.formulations import FORMULATIONS
    from workbench.comparison.metrics import METRICS

    for name in o.solver or []:
        find_solver(name)
    for name in o.metric or []:
        METRICS.find(name)
    return tuple(map(find_formulation, o.formulation)) if o.formulation else tuple(FORMULATIONS)


def _compare_file(o: argparse.Namespace) -> None:
    from workbench.problems.classes import MLCP
    from workbench.readers.files import read_problem_file

    for option in OF_CASES:
        if getattr(o, option) is not None:
            word = option.replace("_", "-")
            raise WorkbenchError(f"--{word} is for cases, and {Path(o.case).name} is a file, which holds a single step")
    problem = read_problem_file(o.case)
    if isinstance(problem, MLCP):
        raise WorkbenchError(
            f"{Path(o.case).name} holds: {problem.kind}; formulations of friction are compared on friction problems "
            "(see: workbench solve, workbench check)"
        )
    chosen = _chosen(o)
    share = f"{max(LEAST_SECONDS, SECONDS / len(chosen)):.2g}"
    seconds = number_option(o.time_limit or share, "--time-limit", "seconds")
    from workbench.comparison.files import compare_problem

    def compared(progress: Any) -> Any:
        return compare_problem(
            Path(o.case).name, problem, chosen, find_formulation("coulomb"), o.solver or (), seconds, progress,
            o.symmetric_part, o.metric,
        )  # fmt: skip

    def subject(c: Any) -> dict[str, Any]:
        settings = {"time_limit": seconds, "symmetric_part": o.symmetric_part}
        return {"file": o.case, "problem": c.facts, "known": c.known, "settings": settings}

    _report(o, Path(o.case).stem, compared, subject)


def _compare_case(o: argparse.Namespace) -> None:
    for option in OF_FILES:
        if getattr(o, option):
            raise WorkbenchError(f"--{option.replace('_', '-')} is for files, and {o.case} is the name of a case")
    steps = tuple(number_option(h, "--step", "seconds") for part in o.step or ["1e-3"] for h in part.split(","))
    reference_step = number_option(o.reference_step or "1e-4", "--reference-step", "seconds")
    duration = None if o.duration is None else number_option(o.duration, "--duration", "seconds")
    case = find_case(o.case, o.set or [])
    chosen = _chosen(o)
    from workbench.comparison.cases import compare
    from workbench.comparison.jobs import Settings

    relaxation = None if o.relax is None else find_relaxation(o.relax)
    settings = Settings(steps, reference_step, duration, o.position_update == "explicit", o.normal, relaxation)
    settings = settings.of_case(case)
    settings.strides()

    def compared(progress: Any) -> Any:
        return compare(
            case, chosen, find_formulation("coulomb"), o.solver or (), settings, progress, os.cpu_count() or 1, o.metric
        )

    def subject(c: Any) -> dict[str, Any]:
        own = vars(settings) | {"relaxation": str(settings.relaxation)}
        return {"case": case.name, "parameters": vars(case), "settings": own}

    _report(o, o.case, compared, subject)


def _report(o: argparse.Namespace, name: str, compared: Callable, subject: Callable) -> None:
    """Compare, write what every comparison leaves behind, and print its table; `subject(c)` goes into provenance."""
    from workbench.builtin.reports.figures.charts import remove_figures
    from workbench.builtin.reports.pages.comparison import save
    from workbench.builtin.reports.text.terminal import print_table
    from workbench.output import json_rows, provenance, staged

    out = Path(o.out or f"{name}-comparison")
    with staged(out) as stage, Progress(o.quiet) as progress:
        c = compared(progress)
        if not any(card["compiled"] for card in c.mathematics):
            raise WorkbenchError("; ".join(dict.fromkeys(card["failure"].reason for card in c.mathematics)))
        facts = provenance(
            **subject(c), formulations=[f.label for f in c.formulations], solvers=list(dict.fromkeys(c.runs["solver"])),
            metrics=[m.name for m in c.metrics], command=f"workbench {shlex.join(o.words)}",
        )  # fmt: skip
        save(c, stage, facts, o.figures)
    remove_figures(out / "figures", keep=o.figures)
    if o.json:
        print(json_rows(c.runs))
    elif not o.quiet:
        print_table(c)
        print(f"report: {out / 'report.html'}")
