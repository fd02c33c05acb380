"""Commands about files: convert, info, solve."""

import argparse
import shlex
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from workbench.cli.parsing import command
from workbench.cli.progress import goes_on
from workbench.cli.words import number_if_given, number_option, whole_if_given
from workbench.support.errors import WorkbenchError
from workbench.support.output import json_text, write_json

if TYPE_CHECKING:
    from workbench.verbs.solve_files import FileTasks

WRITTEN = (
    "file to write; its ending gives the format: .hdf5 (FCLIB), .npz, .mat, .dat (Siconos text), or for an LCP .mtx "
    "(MatrixMarket: M in NAME.mtx, q in NAME_q.mtx)"
)


def add_command(commands: Any) -> None:
    """Add the commands to a parser's subparsers."""
    formats = "problem file: Siconos text, FCLIB HDF5 (local or global), .npz or .mat, recognised by its content"
    convert = command(
        commands, "convert", "rewrite a problem in another file format", "convert problem.dat problem.hdf5",
        "convert problem.hdf5 problem.mat",
    )  # fmt: skip
    convert.add_argument("file", help=formats)
    convert.add_argument("out", help=WRITTEN)
    convert.add_argument("--local", action="store_true", help="write a global friction problem as a local one: form W")
    convert.set_defaults(run=run_convert)

    info = command(
        commands, "info", "print kind, sizes, rank and symmetry of the problem in a file", "info problem.hdf5"
    )
    info.add_argument("file", help=formats)
    info.add_argument("--json", action="store_true", help="print the result as JSON")
    info.set_defaults(run=run_info)

    solve = command(
        commands,
        "solve",
        "solve the problems in files and folders",
        "solve problem.hdf5",
        "solve problems/ -f ccp --out table",
        "solve problem.hdf5 --prove",
        "solve problem.hdf5 --all",
    )
    solve.add_argument("files", nargs="+", metavar="FILE", help=f"{formats}; or a folder of such files")
    solve.add_argument(
        "-f", "--formulation", action="append", metavar="NAME[:OPTION=VALUE,...]",
        help="formulation of friction problems; default: coulomb",
    )  # fmt: skip
    solve.add_argument(
        "--solver",
        action="append",
        metavar="NAME",
        help="solver (see: workbench list solvers); repeatable; default: auto, a chain of methods for each kind of "
        "problem, for small LCPs and MLCPs ending in exact arithmetic, which solves or proves that no solution exists",
    )
    solve.add_argument(
        "--time-limit",
        metavar="S",
        help="time limit for each problem [s]; each is then solved in a process; default: none",
    )
    solve.add_argument("--json", action="store_true", help="print the rows as JSON")
    solve.add_argument(
        "--out", metavar="OUT",
        help="folder for results.csv, summary.csv, profile.csv and provenance.json, from which the same command "
        "resumes after an interruption; or, for one problem, a file for the solution (.npz, .csv or .hdf5: FCLIB, "
        "group solution)",
    )  # fmt: skip
    solve.add_argument(
        "--start", metavar="FILE", help="initial guess, a file as --out writes it; for solvers that take one"
    )
    solve.add_argument(
        "--tolerance",
        metavar="X",
        help="largest residual of a verified solution, for all solvers; those that can, stop there",
    )
    solve.add_argument(
        "--max-iterations",
        metavar="N",
        help="maximum number of iterations, for solvers that have such a limit (not for auto)",
    )
    solve.add_argument(
        "--prove", action="store_true",
        help="also prove that an exact solution exists near the computed one, with a bound on the distance (LCPs, "
        "MLCPs, coulomb and ccp)",
    )  # fmt: skip
    solve.add_argument(
        "--all", action="store_true",
        help="find all solutions, and prove that there are no others: LCPs, MLCPs, and Coulomb's law with up to 8 "
        "contacts in the plane or 4 in space; only with --time-limit (default: 10) and --json",
    )  # fmt: skip
    solve.set_defaults(run=run_solve)


def run_convert(o: argparse.Namespace) -> None:
    """Convert one file to another."""
    from workbench.readers.files import read_problem_file, write_problem_file

    problem = read_problem_file(o.file)
    if o.local:
        if not hasattr(problem, "local"):
            raise WorkbenchError(f"--local is for global friction problems; {Path(o.file).name} holds: {problem.kind}")
        problem = problem.local
    write_problem_file(problem, o.out)


def run_info(o: argparse.Namespace) -> None:
    """Print facts, one per line."""
    from workbench.verbs.read import facts_of

    facts = {"file": o.file} | facts_of(o.file)
    if o.json:
        print(json_text(facts))
        return
    for name, value in facts.items():
        if value is not None:
            print(f"{name:<16} {f'{value:.6g}' if isinstance(value, float) else value}")


def run_solve(o: argparse.Namespace) -> None:
    """Print a row for every file and solver as it is computed; then the summary of a test set."""
    from workbench.readers.files import problem_files

    files = problem_files(o.files)
    if o.all:
        _all_solutions(o, [path for path, _ in files])
        return
    asked, answer = _asked(o, files)
    if o.prove and o.out and not answer:
        raise WorkbenchError(f"--prove prints its proofs and cannot write them to a folder; leave out --out {o.out}")
    if o.out and not answer:
        facts = {
            "command": f"workbench {shlex.join(o.words)}", "formulation": asked.tasks[0][1].label,
            "solvers": o.solver or ["default"], "files": [str(path) for path, _ in files],
        }  # fmt: skip
        found, totals = _in_folder(asked, Path(o.out), facts, not o.json)
    else:
        found = _solved(asked, answer, not o.json, o.prove)
        totals = _test_set(found, None) if len(found) > 1 else []
    if o.json:
        print(json_text(found))
    elif len(found) > 1:
        _print_totals(totals)


def _all_solutions(o: argparse.Namespace, files: list[Path]) -> None:
    """Print every solution of every file."""
    from workbench.verbs.solutions import solutions

    others = {"--formulation": o.formulation, "--solver": o.solver, "--out": o.out, "--start": o.start}
    others |= {"--tolerance": o.tolerance, "--max-iterations": o.max_iterations, "--prove": o.prove}
    if given := [name for name, value in others.items() if value]:
        raise WorkbenchError(f"--all excludes {given[0]}: solutions are counted exactly, under Coulomb's law")
    seconds = 10.0 if o.time_limit is None else number_option(o.time_limit, "--time-limit", "seconds")
    found = []
    for path in files:
        result = solutions(path, seconds=seconds)
        found.append({"file": str(path)} | result.data)
        if not o.json:
            print(result.text, flush=True)
    if o.json:
        print(json_text(found))


def _asked(o: argparse.Namespace, files: list[tuple[Path, bool]]) -> tuple["FileTasks", Path | None]:
    """Every file with every solver, and the file for the result; raises WorkbenchError."""
    from workbench.readers.answers import ENDINGS
    from workbench.verbs.find import find_formulation
    from workbench.verbs.solve_files import FileTasks

    seconds = number_if_given(o.time_limit, "--time-limit", "seconds")
    if o.formulation and len(o.formulation) > 1:
        raise WorkbenchError(f"solve takes one formulation; {len(o.formulation)} are given (see: workbench compare)")
    formulation = find_formulation(o.formulation[0] if o.formulation else "coulomb")
    answer = Path(o.out) if o.out and Path(o.out).suffix.lower() in ENDINGS else None
    if (answer or o.start) and (len(files), len(o.solver or [None])) != (1, 1):
        word = "--start" if o.start else f"--out {o.out}"
        raise WorkbenchError(f"{word} is for one problem and one solver; several are given")
    most = whole_if_given(o.max_iterations, "--max-iterations")
    tolerance = number_if_given(o.tolerance, "--tolerance", "no unit")
    return FileTasks.of(files, formulation, o.solver or [], seconds, o.start, tolerance, most), answer


def _in_folder(
    asked: "FileTasks", out: Path, facts: dict[str, Any], shown: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of tasks, each saved in the folder when computed, and their summary; then write all tables there."""
    from workbench.support.output import provenance, staged

    journal = asked.journal(out)
    with (
        goes_on(lambda: f"finished rows are kept in '{journal}'" if journal.exists() else ""),
        staged(out) as stage,
    ):
        found = _kept(asked, out, shown)
        totals = _test_set(found, stage)
        write_json(stage / "provenance.json", provenance(**facts))
    return found, totals


def _kept(asked: "FileTasks", out: Path, shown: bool) -> list[dict[str, Any]]:
    """The rows of tasks, printed if `shown`; those in the folder's journal are not computed again."""
    found = []
    with asked.resumed(out) as (there, rows):
        if shown and there:
            print(f"{there} of {len(asked.tasks)} rows were kept from before, in '{asked.journal(out)}'.")
        if shown:
            print(HEADER)
        for row in rows:
            found.append(row)
            if shown:
                print(_line(row), flush=True)
    return found


def _solved(asked: "FileTasks", answer: Path | None, shown: bool, prove: bool) -> list[dict[str, Any]]:
    """The rows of tasks, printed as they are computed if `shown`; the solution of a single one is written to a file."""
    found: list[dict[str, Any]] = []
    for row, values in asked.rows(prove):
        if shown and not found:
            print(HEADER)
        found.append(row)
        if shown:
            print(_line(row), flush=True)
        if answer:
            asked.write_answer(row, values, answer)
    return found


def _test_set(found: list[dict[str, Any]], stage: Path | None) -> list[dict[str, Any]]:
    """The summary of the rows as records; all tables are written if there is a stage."""
    from workbench.verbs.solve_files import test_set

    rows, totals, profile = test_set(found)
    if stage:
        rows.to_csv(stage / "results.csv", index=False)
        totals.to_csv(stage / "summary.csv", index=False)
        profile.to_csv(stage / "profile.csv", index=False)
    return [{str(name): value for name, value in row.items()} for row in totals.to_dict("records")]


def _print_totals(totals: list[dict[str, Any]]) -> None:
    for t in totals:
        mean = f"; {1e3 * t['time_mean']:.3g} ms on average over {t['mean_over']}" if t["mean_over"] else ""
        absent = f", {t['without_solution']} of them without a solution" if t["without_solution"] else ""
        print(f"{t['method']}: {t['solved']} of {t['problems']} verified{absent}{mean}")


HEADER = (
    f"{'file':<20} {'formulation':<12} {'solver':<14} {'claimed':<15} {'ok':<3} {'residual':>8} {'size':>6} "
    f"{'iter.':>5} {'time [ms]':>9}"
)


def _line(row: dict[str, Any]) -> str:
    from workbench.builtin.reports.text.check import in_lines
    from workbench.verbs.solve_files import proof_in_words

    def cell(value: Any, form: str) -> str:
        return "-" if value is None else format(value, form)

    name = row["file"] if len(row["file"]) <= 20 else "..." + row["file"][-17:]
    time = None if row["solve_time"] is None else 1e3 * row["solve_time"]
    line = (
        f"{name:<20} {row['formulation'] or '-':<12} {row['solver'] or '-':<14} {row['claimed']:<15} "
        f"{'yes' if row['verified'] else 'no':<3} {cell(row['residual'], '.1e'):>8} {cell(row['size'], 'd'):>6} "
        f"{cell(row['iterations'], 'd'):>5} {cell(time, '.3g'):>9}"
    )
    notes = []
    if row["moved"] is not None:
        notes.append(
            f"solved with the nearest W = J M^-1 J^T, which changes the exact velocity by {row['moved']:.1e} |q|"
        )
    if "proved" in row:
        notes.append(proof_in_words(row))
    if row["path"] is not None:
        notes.append(f"through: {row['path']}")
    if row["reason"]:
        notes.append(row["reason"])
    return "\n".join([line, *(indent(in_lines(note), "    ") for note in notes)])
