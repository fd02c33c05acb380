"""The command line, and the only module that knows every package. Heavy imports happen inside the commands."""

import argparse
import os
import shlex
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.cli_check import add_command as add_check
from workbench.cli_compare import Progress
from workbench.cli_compare import add_command as add_compare
from workbench.cli_files import add_commands as add_file_commands
from workbench.cli_painleve import add_command as add_painleve
from workbench.errors import UnknownNameError, WorkbenchError

if TYPE_CHECKING:
    from workbench.case import Case
    from workbench.formulation import Formulation


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

    add_compare(commands)

    reproduce = commands.add_parser("reproduce", help="a paper's figures beside the computed ones", allow_abbrev=False)
    reproduce.add_argument("names", nargs="*", metavar="NAME", help="reproductions (see: workbench list reproductions)")
    reproduce.add_argument("--all", action="store_true", help="all of them, in several processes")
    reproduce.add_argument("--out", metavar="FOLDER", help="default: NAME-reproduction, or reproductions for several")
    reproduce.set_defaults(run=run_reproduce)
    reproduce.add_argument(
        "--json", action="store_true", help="print the rows of claims.csv as JSON instead of a table"
    )
    reproduce.add_argument("--quiet", action="store_true", help="no progress bar, no table")

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

    kind = CASES.find(name)
    values = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        try:
            values[key] = float(text)
        except ValueError:
            raise WorkbenchError(f"--set {setting}: give NAME=NUMBER") from None
    return kind().with_parameters(**values)


def find_formulation(text: str) -> "Formulation":
    """The formulation NAME or NAME:OPTION=VALUE,OPTION=VALUE."""
    from formulations import FORMULATIONS, SLIDING

    name, _, rest = text.partition(":")
    if name not in (*FORMULATIONS.names, *SLIDING.names):
        raise UnknownNameError("formulation", name, [*FORMULATIONS.names, *SLIDING.names])
    found = (FORMULATIONS if name in FORMULATIONS.names else SLIDING).find(name)
    options = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise WorkbenchError(f"formulation '{text}': '{part}' is no OPTION=VALUE")
        options[key] = value
    return found.with_options(**options)


def run_reproduce(o: argparse.Namespace) -> None:
    """Pages, claims and provenance; see `reports.reproduction_page`."""
    from reports.reproductions import REPRODUCTIONS, known_names

    if o.all == bool(o.names):
        raise WorkbenchError(f"give either names or --all; known: {', '.join(REPRODUCTIONS)}")
    names = known_names(REPRODUCTIONS if o.all else o.names)
    from reports.reproduction_page import make_pages, write_pages
    from workbench.output import json_rows, provenance, staged

    out = Path(o.out or (f"{names[0]}-reproduction" if len(names) == 1 else "reproductions"))
    with staged(out) as stage, Progress(o.quiet) as progress:
        facts = provenance(command=f"workbench {shlex.join(o.words)}")
        pages = make_pages(names, facts, progress, os.cpu_count() or 1)
        claims = write_pages(pages, stage, facts)
    if o.json:
        print(json_rows(claims))
    elif not o.quiet:
        from reports.terminal import print_claims

        print_claims(claims)
        print(f"page: {out / ('index' if len(names) > 1 else names[0])}.html")


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
