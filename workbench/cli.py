"""The command line, and the only module that knows every package. Heavy imports happen inside the commands."""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.cli_check import add_command as add_check
from workbench.cli_files import add_commands as add_file_commands
from workbench.cli_painleve import add_command as add_painleve
from workbench.errors import UnknownNameError, WorkbenchError

if TYPE_CHECKING:
    from workbench.case import Case
    from workbench.formulation import Formulation
    from workbench.relaxation import Relaxation


class _Parser(argparse.ArgumentParser):
    """Errors as one line that says what is wrong, exit code 2."""

    def error(self, message: str) -> NoReturn:
        raise WorkbenchError(f"{message} (see {self.prog} --help)")


NUMERIC = ("--step", "--duration", "--reference-step", "--time-limit")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="workbench",
        description="Declare, solve, judge and compare formulations of frictional contact.",
        allow_abbrev=False,
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    compare = commands.add_parser(
        "compare", help="compare formulations on a case and write a report", allow_abbrev=False
    )
    compare.add_argument("case", help="name of a case (see: workbench list cases)")
    compare.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]", help="repeatable; default: all"
    )
    compare.add_argument(
        "--solver",
        action="append",
        metavar="NAME",
        help="repeatable; default: each formulation's round-off solver, and cvxpy:CLARABEL for convex QPs",
    )
    compare.add_argument("--step", action="append", metavar="H[,H...]", help="step sizes [s]; default 1e-3")
    compare.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's")
    compare.add_argument(
        "--reference-step", metavar="H", default="1e-4", help="step of the reference run [s]; default 1e-4"
    )
    compare.add_argument(
        "--position-update",
        choices=("symplectic", "explicit"),
        default="symplectic",
        help="q+ = q + h Gamma v+, or with v as in IDETC2016-60064",
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
    compare.add_argument(
        "--set", action="append", metavar="NAME=VALUE", default=[], help="a parameter of the case, repeatable"
    )
    compare.add_argument("--out", metavar="FOLDER", help="where to write; default: CASE-comparison")
    compare.add_argument("--figures", choices=("pdf", "svg", "png"), help="also write each figure as a file")
    compare.set_defaults(run=run_compare)

    reproduce = commands.add_parser("reproduce", help="a paper's figures beside the computed ones", allow_abbrev=False)
    reproduce.add_argument("names", nargs="*", metavar="NAME", help="reproductions (see: workbench list reproductions)")
    reproduce.add_argument("--all", action="store_true", help="all of them, in several processes")
    reproduce.add_argument("--out", metavar="FOLDER", help="default: NAME-reproduction, or reproductions for several")
    reproduce.set_defaults(run=run_reproduce)
    for command, name in ((compare, "runs.csv"), (reproduce, "claims.csv")):
        command.add_argument("--json", action="store_true", help=f"print the rows of {name} as JSON instead of a table")
        command.add_argument("--quiet", action="store_true", help="no progress bar, no table")

    show = commands.add_parser(
        "show", help="print the mathematics of a formulation from its declaration", allow_abbrev=False
    )
    show.add_argument("formulation", metavar="NAME[:OPTION=VALUE,...]")
    show.add_argument("--case", help="size and numbers of this case; default: wheel")
    show.add_argument("--latex", action="store_true", help="a LaTeX document instead of text")
    show.add_argument("--numbers", action="store_true", help="also the assembled numbers at the case's first step")
    show.add_argument("--step", default="1e-3", metavar="H", help="step for --numbers [s]; default 1e-3")
    show.set_defaults(run=run_show)

    add_check(commands)
    add_file_commands(commands, find_case, find_formulation)
    add_painleve(commands)

    listing = commands.add_parser("list", help="list cases, formulations, solvers, reproductions", allow_abbrev=False)
    listing.add_argument("what", nargs="?", choices=("cases", "formulations", "solvers", "reproductions"))
    listing.set_defaults(run=run_list)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 on success, 2 on a mistake that is told in one line, 130 when interrupted."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    # Matrices here are small and work is shared out between processes: threads of the BLAS would wait on each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if threading.current_thread() is threading.main_thread():
        # Ending politely means taking temporary folders and worker processes along.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        options = parser().parse_args(_join_numbers(arguments), argparse.Namespace(words=arguments))
        options.run(options)
    except WorkbenchError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("workbench: interrupted, nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output closed it (`| head`); nothing to say, and nobody to say it to.
        sys.stderr.close()
        return 0
    return 0


def _join_numbers(arguments: list[str]) -> list[str]:
    """`--step 1e-3 1e-2` and `--step -1e-3` as `--step=1e-3,1e-2` and `--step=-1e-3`, which argparse understands."""
    joined: list[str] = []
    i = 0
    while i < len(arguments):
        word = arguments[i]
        i += 1
        if word in NUMERIC:
            values: list[str] = []
            while i < len(arguments) and (not values or word == "--step") and _is_number(arguments[i]):
                values.append(arguments[i])
                i += 1
            word = f"{word}={','.join(values)}" if values else word
        joined.append(word)
    return joined


def _is_number(word: str) -> bool:
    try:
        return all(float(part) is not None for part in word.split(","))
    except ValueError:
        return False


def number_option(text: str, what: str, unit: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise WorkbenchError(f"{what} '{text}' is not a number; give a positive number of {unit}") from None
    if not 0 < value < float("inf"):
        raise WorkbenchError(f"{what} {text} is out of range; give a positive number of {unit}")
    return value


def find_case(name: str, settings: Sequence[str] = ()) -> "Case":
    """The case of this name with NAME=VALUE parameters set."""
    from cases import CASES

    known = {case.name: case for case in CASES}
    if name not in known:
        raise UnknownNameError("case", name, list(known))
    values = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        try:
            values[key] = float(text)
        except ValueError:
            raise WorkbenchError(f"--set {setting}: give NAME=NUMBER") from None
    return known[name]().with_parameters(**values)


def find_formulation(text: str) -> "Formulation":
    """The formulation NAME or NAME:OPTION=VALUE,OPTION=VALUE."""
    from formulations import FORMULATIONS, SLIDING

    name, _, rest = text.partition(":")
    known = {f.name: f for f in (*FORMULATIONS, *SLIDING)}
    if name not in known:
        raise UnknownNameError("formulation", name, list(known))
    options = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise WorkbenchError(f"formulation '{text}': '{part}' is no OPTION=VALUE")
        options[key] = value
    return known[name].with_options(**options)


def find_relaxation(text: str) -> "Relaxation":
    """The relaxation NAME=VALUE,NAME=VALUE, or rigid."""
    from workbench.relaxation import RIGID

    values = {}
    for part in text.split(",") if text != "rigid" else []:
        key, _, value = part.partition("=")
        try:
            values[key] = float(value)
        except ValueError:
            raise WorkbenchError(f"--relax {part}: give NAME=NUMBER, or rigid") from None
    return RIGID.with_values(**values)


def run_compare(o: argparse.Namespace) -> None:
    """Steps, judges, prints and writes; see `workbench.comparison` and `reports.comparison_page`."""
    with _compiling_alongside() as ready:
        _compare(o, ready)


def _compare(o: argparse.Namespace, ready: Callable[[], object]) -> None:
    steps = tuple(number_option(h, "--step", "seconds") for part in o.step or ["1e-3"] for h in part.split(","))
    reference_step = number_option(o.reference_step, "--reference-step", "seconds")
    duration = None if o.duration is None else number_option(o.duration, "--duration", "seconds")
    from workbench.output import json_rows, provenance, staged

    out = Path(o.out or f"{o.case}-comparison")
    case = find_case(o.case, o.set)
    from formulations import FORMULATIONS

    chosen = tuple(map(find_formulation, o.formulation)) if o.formulation else FORMULATIONS
    from workbench.solvers import find_solver

    for name in o.solver or []:
        find_solver(name)
    from workbench.comparison import compare
    from workbench.jobs import Settings

    relaxation = None if o.relax is None else find_relaxation(o.relax)
    settings = Settings(steps, reference_step, duration, o.position_update == "explicit", o.normal, relaxation)
    settings = settings.of_case(case)
    settings.strides()
    with staged(out) as stage, _Progress(o.quiet) as progress:
        ready()
        result = compare(
            case, chosen, find_formulation("coulomb"), o.solver or (), settings, progress, os.cpu_count() or 1
        )
        facts = provenance(
            case=case.name, parameters=vars(case),
            settings=vars(settings) | {"relaxation": str(settings.relaxation)}, formulations=[f.label for f in chosen],
            solvers=list(dict.fromkeys(result.runs["solver"])), command=f"workbench {shlex.join(o.words)}",
        )  # fmt: skip
        from reports.comparison_page import render
        from reports.figures import remove_figures

        result.runs.to_csv(stage / "runs.csv", index=False)
        result.runs.to_parquet(stage / "runs.parquet", index=False)
        result.trajectories.to_parquet(stage / "trajectories.parquet", index=False)
        result.diagnostics.to_csv(stage / "diagnostics.csv", index=False)
        (stage / "provenance.json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
        (stage / "report.html").write_text(render(result, facts), "utf-8")
        if o.figures:
            from reports.figures import write_figures

            write_figures(result, stage / "figures", o.figures)
    remove_figures(out / "figures", keep=o.figures)
    if o.json:
        print(json_rows(result.runs))
    elif not o.quiet:
        from reports.terminal import print_table

        print_table(result)
        print(f"report: {out / 'report.html'}")


def run_reproduce(o: argparse.Namespace) -> None:
    """Pages, claims and provenance; see `reports.reproduction_page`."""
    from reports.reproductions import REPRODUCTIONS, known_names

    if o.all == bool(o.names):
        raise WorkbenchError(f"give either names or --all; known: {', '.join(REPRODUCTIONS)}")
    names = known_names(REPRODUCTIONS if o.all else o.names)
    from reports.reproduction_page import make_pages, write_pages
    from workbench.output import json_rows, provenance, staged

    out = Path(o.out or (f"{names[0]}-reproduction" if len(names) == 1 else "reproductions"))
    with _compiling_alongside() as ready, staged(out) as stage, _Progress(o.quiet) as progress:
        ready()
        facts = provenance(command=f"workbench {shlex.join(o.words)}")
        pages = make_pages(names, facts, progress, os.cpu_count() or 1)
        claims = write_pages(pages, stage, facts)
    if o.json:
        print(json_rows(claims))
    elif not o.quiet:
        from reports.terminal import print_claims

        print_claims(claims)
        print(f"page: {out / ('index' if len(names) > 1 else names[0])}.html")


@contextmanager
def _compiling_alongside() -> Iterator[Callable[[], object]]:
    """On the first run after installation, compile the cone solvers in a second process while this one does the rest.

    They find their way here through numba's cache on disk; should the other process fail, nothing is lost but time.
    """
    from workbench.kernels import lu_factor

    if lu_factor.stats.cache_hits:
        yield lambda: None
        return
    command = [sys.executable, "-P", "-c", "import workbench.solvers.coulomb_exact, workbench.solvers.judice_pires"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process.wait
    finally:
        process.kill()
        process.wait()


class _Progress:
    """A progress bar on a terminal, None (nothing) in a pipe or when quiet."""

    def __init__(self, quiet: bool) -> None:
        self.shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Any:
        if not self.shown:
            return None
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        task = self.bar.add_task("compiling", total=None)
        self.bar.start()

        def report(label: str, done: int, total: int) -> None:
            self.bar.update(task, description=label, completed=done, total=total)

        return report

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.bar.stop()


def run_show(o: argparse.Namespace) -> None:
    """Relations, sets, class and block matrix of a declaration; with --numbers the assembled problem."""
    formulation = find_formulation(o.formulation)
    from workbench.assembly import compiled
    from workbench.formulation import ContactSymbols
    from workbench.notation import latex_page, text_page

    steps = formulation.symbols is ContactSymbols
    case = find_case(o.case or ("wheel" if steps else "rod-in-guide"))
    c = compiled(formulation, *(case.size if steps else _sliding_system(case).size))
    if o.latex:
        print(latex_page(c.declaration, f"{formulation.label}: {formulation.friction}"))
    else:
        print(f"{formulation.label}: {formulation.friction}\n{formulation.source}\n")
        print(f"size of {case.name}: {c.symbols}\n")
        print(text_page(c.declaration, c.kind))
    if o.numbers:
        from reports.terminal import problem_text
        from workbench.simulation import first_problem
        from workbench.sliding import pose_sliding

        h = number_option(o.step, "--step", "seconds")
        if steps:
            problem, where = first_problem(case, formulation, h, case.normal), f"first step, h = {h:g} s"
        else:
            problem, where = pose_sliding(formulation, _sliding_system(case))[0], "at the start"
        comment = "% " if o.latex else ""
        entries = [f"{u.name()}[{i}]" for u in c.declaration.partners for i in range(u.size)]
        text = problem_text(problem, f"{case.name}, {where}", entries)
        print("\n".join(comment + line for line in ["", *text.split("\n")]))


def _sliding_system(case: "Case") -> Any:
    """The sliding contacts of a case at its start."""
    from cases import CASES

    if not hasattr(case, "sliding_system"):
        able = ", ".join(c.name for c in CASES if hasattr(c, "sliding_system"))
        raise WorkbenchError(f"{case.name} does not give its sliding contacts; cases that do: {able}")
    return case.sliding_system(*case.start())


def run_list(o: argparse.Namespace) -> None:
    """Names with a line each."""
    if o.what in (None, "cases"):
        from cases import CASES

        print("cases")
        for case in CASES:
            print(f"  {case.name:<20} {case.description}")
            for name, default, unit, meaning in case.parameter_table():
                print(f"      {name} = {default:g} {unit:<6} {meaning}")
    if o.what in (None, "formulations"):
        from formulations import FORMULATIONS, SLIDING

        print("formulations")
        for f in (*FORMULATIONS, *SLIDING):
            print(f"  {f.name:<20} {f.friction}" + (f"  [{f.listed_options}]" if f.options else ""))
    if o.what in (None, "solvers"):
        from workbench.solvers import SOLVERS, find_solver

        print("solvers")
        for name in SOLVERS:
            solver = find_solver(name)
            print(f"  {name:<20} {', '.join(sorted(solver.solves))}; guaranteed for {solver.guaranteed_for}")
        print(f"  {'cvxpy:NAME':<20} any installed CVXPY solver, for problems that are convex (conic) QPs")
    if o.what in (None, "reproductions"):
        from reports.reproductions import REPRODUCTIONS

        print("\n  ".join(["reproductions", *REPRODUCTIONS]))


if __name__ == "__main__":
    sys.exit(main())
