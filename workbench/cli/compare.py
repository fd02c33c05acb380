"""The command `workbench compare`."""

import argparse
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    compare = commands.add_parser(
        "compare", help="compare formulations on a case or on a friction problem in a file; write a report",
        allow_abbrev=False,
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
    """Steps a case or solves a file, judges, prints and writes; see `workbench.comparison.cases`, `file_comparison`."""
    (_compare_file if is_file(o.case) else _compare_case)(o)


def is_file(name: str) -> bool:
    """Whether `name` is a file rather than a case: it has a folder or an ending of problems, or is there as a file."""
    from workbench.readers.files import ENDINGS

    path = Path(name)
    return path.suffix.lower() in ENDINGS or len(path.parts) > 1 or path.is_file()


def _chosen(o: argparse.Namespace) -> "tuple[Formulation, ...]":
    """The formulations asked for; solvers are looked up so that a mistyped one is told at once."""
    from workbench.algorithms import find_solver
    from workbench.builtin.formulations import FORMULATIONS

    for name in o.solver or []:
        find_solver(name)
    return tuple(map(find_formulation, o.formulation)) if o.formulation else tuple(FORMULATIONS)


def _compare_file(o: argparse.Namespace) -> None:
    from workbench.output import provenance, staged
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

    out = Path(o.out or f"{Path(o.case).stem}-comparison")
    with staged(out) as stage, Progress(o.quiet) as progress:
        name = Path(o.case).name
        result = compare_problem(
            name, problem, chosen, find_formulation("coulomb"), o.solver or (), seconds, progress, o.symmetric_part
        )
        facts = provenance(
            file=o.case, problem=result.facts, known=result.known,
            settings={"time_limit": seconds, "symmetric_part": o.symmetric_part},
            formulations=[f.label for f in chosen], solvers=list(dict.fromkeys(result.runs["solver"])),
            command=f"workbench {shlex.join(o.words)}",
        )  # fmt: skip
        from workbench.builtin.reports.figures.file import figures
        from workbench.builtin.reports.pages.file import render
        from workbench.builtin.reports.text.terminal import print_file_table

        _write(stage, o, result, facts, render(result, facts), figures)
    _tell(out, o, result, print_file_table)


def _compare_case(o: argparse.Namespace) -> None:
    for option in OF_FILES:
        if getattr(o, option):
            raise WorkbenchError(f"--{option.replace('_', '-')} is for files, and {o.case} is the name of a case")
    steps = tuple(number_option(h, "--step", "seconds") for part in o.step or ["1e-3"] for h in part.split(","))
    reference_step = number_option(o.reference_step or "1e-4", "--reference-step", "seconds")
    duration = None if o.duration is None else number_option(o.duration, "--duration", "seconds")
    from workbench.output import provenance, staged

    out = Path(o.out or f"{o.case}-comparison")
    case = find_case(o.case, o.set or [])
    chosen = _chosen(o)
    from workbench.comparison.cases import compare
    from workbench.comparison.jobs import Settings

    relaxation = None if o.relax is None else find_relaxation(o.relax)
    settings = Settings(steps, reference_step, duration, o.position_update == "explicit", o.normal, relaxation)
    settings = settings.of_case(case)
    settings.strides()
    with staged(out) as stage, Progress(o.quiet) as progress:
        result = compare(
            case, chosen, find_formulation("coulomb"), o.solver or (), settings, progress, os.cpu_count() or 1
        )
        facts = provenance(
            case=case.name, parameters=vars(case),
            settings=vars(settings) | {"relaxation": str(settings.relaxation)}, formulations=[f.label for f in chosen],
            solvers=list(dict.fromkeys(result.runs["solver"])), command=f"workbench {shlex.join(o.words)}",
        )  # fmt: skip
        from workbench.builtin.reports.figures.comparison import figures
        from workbench.builtin.reports.pages.comparison import render
        from workbench.builtin.reports.text.terminal import print_table

        result.diagnostics.to_csv(stage / "diagnostics.csv", index=False)
        _write(stage, o, result, facts, render(result, facts), figures)
    _tell(out, o, result, print_table)


def _write(
    stage: Path, o: argparse.Namespace, result: Any, facts: dict[str, Any], page: str, figures: Callable
) -> None:
    """The files that every comparison leaves behind."""
    result.runs.to_csv(stage / "runs.csv", index=False)
    result.runs.to_parquet(stage / "runs.parquet", index=False)
    result.trajectories.to_parquet(stage / "trajectories.parquet", index=False)
    (stage / "provenance.json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    (stage / "report.html").write_text(page, "utf-8")
    if o.figures:
        from workbench.builtin.reports.figures.comparison import write_figures

        write_figures(figures(result), stage / "figures", o.figures)


def _tell(out: Path, o: argparse.Namespace, result: Any, print_rows: Callable) -> None:
    """What the terminal is told of a comparison that has been written."""
    from workbench.builtin.reports.figures.comparison import remove_figures
    from workbench.output import json_rows

    remove_figures(out / "figures", keep=o.figures)
    if o.json:
        print(json_rows(result.runs))
    elif not o.quiet:
        print_rows(result)
        print(f"report: {out / 'report.html'}")
