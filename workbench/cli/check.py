"""The command `workbench check`: a matrix in a file, or a formulation on a case."""

import argparse
import json
import math
import shlex
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

from workbench.cli.parsing import command
from workbench.cli.progress import CommandProgress
from workbench.cli.words import PROOFS, case_with_settings, number_option, state_settings
from workbench.support.errors import WorkbenchError
from workbench.support.output import json_text, page_path


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    check = command(
        commands, "check", "decide whether an LCP, or a formulation on a case, is well posed",
        "check matrix.csv --rhs q.csv", "check '[2 1; 1 4/3]' --rhs '[-1; 1]'",
        "check matrix.csv --certificate proof.json", "check matrix.npy --out page.html",
        "check matrix.csv --picture cones.svg", "check problem.hdf5",
        "check --case cube -f phantom-inertia:rho=1", "check --case rod --set tan_theta=2 --vary mu=0:3 --out rod.html",
        "check M0.csv --rhs q0.csv --pencil M1.csv --vary t=0:3", "check matrix.csv --rhs q.csv --uncertainty 1e-3",
        "check mlcp.npz --uncertainty 1e-3 --plus-minus radii.npz",
        "check '[2+-0.1 1; 1 2+-0.1]'", "check --case rod --vary mu=0.1:0.9 theta=10:80 --certificate proof.json",
    )  # fmt: skip
    check.add_argument(
        "file",
        nargs="?",
        help="file with M, with M and q, or with W, q and mu (text, .npy, .npz, .mat, .mtx, .json, .hdf5, Siconos "
        ".dat); FILE.npz:NAME for one array of several; - for stdin; or the matrix itself in brackets",
    )
    check.add_argument("--rhs", metavar="FILE", help="q, as a row or a column; default: the q of the file, if any")
    check.add_argument(
        "--uncertainty",
        metavar="R",
        help="check all M and q whose entries differ from the given ones by at most this fraction, such as 1e-3",
    )
    check.add_argument(
        "--plus-minus",
        metavar="FILE",
        help="check all matrices within these radii, an array of the shape of M; an .npz may "
        "have M, q, and lower and upper for the bounds of an MLCP",
    )
    check.add_argument(
        "--symmetric",
        action="store_true",
        help="with --uncertainty, --plus-minus or intervals: check symmetric matrices only",
    )
    check.add_argument("--case", metavar="NAME", help="check the first step of this case, instead of a file")
    check.add_argument("-f", "--formulation", metavar="NAME[:OPTION=VALUE,...]", help="with --case: formulation")
    check.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        default=[],
        help="with --case: parameter of the case, or its state as q=0,0.1,... and v=...; repeatable",
    )
    check.add_argument(
        "--at", metavar="T", help="with --case: check the state after T seconds under exact Coulomb friction"
    )
    check.add_argument("--step", metavar="H", default="1e-3", help="with --case: step size [s]; default: 1e-3")
    check.add_argument(
        "--vary", metavar="NAME=FROM:TO", nargs="+",
        help="find all solutions along a parameter: of a case under -f, of a case's sliding contacts at the start "
        "without -f, or of M + t M1 and q + t q1 along t; over two to four parameters of a case prove their number",
    )  # fmt: skip
    check.add_argument(
        "--undecided", metavar="SHARE", default="0.01",
        help="with --vary of several parameters: share of their range that may stay undecided; default: 0.01",
    )  # fmt: skip
    check.add_argument("--pencil", metavar="FILE", help="with --vary: M1; default: 0")
    check.add_argument(
        "--pencil-rhs", metavar="FILE", help="with --vary: q1; default: the q of the --pencil file, or 0"
    )
    check.add_argument("--json", action="store_true", help="print the result as JSON")
    check.add_argument(
        "--out",
        type=page_path,
        metavar="FILE.html",
        help="also write the result as a page (not with -f unless --vary is given)",
    )
    check.add_argument("--certificate", metavar="FILE.json", help="also write all proofs (see: workbench verify)")
    check.add_argument(
        "--picture",
        metavar="FILE.svg",
        help="also draw the complementary cones of two or three unknowns (.svg, .pdf, .png)",
    )
    check.add_argument("--time-limit", metavar="S", default="10", help="time limit [s]; default: 10")
    check.set_defaults(run=run_check)


def run_check(o: argparse.Namespace) -> None:
    """Print verdicts on a matrix or on a formulation; any completed verdict is success."""
    seconds = number_option(o.time_limit, "--time-limit", "seconds")
    if (o.file is None) == (o.case is None):
        raise WorkbenchError("give either a FILE with a matrix, or --case NAME with --formulation NAME")
    if o.vary is not None:
        _vary(o, seconds)
        return
    if o.pencil or o.pencil_rhs:
        raise WorkbenchError("--pencil and --pencil-rhs need --vary NAME=FROM:TO, the parameter that multiplies them")
    if o.case is None:
        _check_file(o, seconds)
        return
    if o.uncertainty or o.plus_minus or o.symmetric:
        raise WorkbenchError("--uncertainty, --plus-minus and --symmetric are for matrices, not for --case")
    if o.formulation is None or o.out or o.rhs or o.certificate or o.picture:
        raise WorkbenchError("--case needs --formulation NAME, and excludes --rhs, --out, --certificate and --picture")
    from workbench.support.numbers import exact_number
    from workbench.verbs.check import check

    h = number_option(o.step, "--step", "seconds")
    settings, state = state_settings(o.set)
    if o.at is not None:
        state["at"] = float(exact_number(o.at, "--at"))
    found = check(case_with_settings(o.case, settings), o.formulation, step=h, seconds=seconds, **state)
    print(json_text(found.data) if o.json else found.text)


def _check_file(o: argparse.Namespace, seconds: float) -> None:
    from workbench.engine.timing import clock, seconds_left
    from workbench.readers.problem import name_of, read_problem
    from workbench.support.output import provenance, replaced
    from workbench.verbs.check import SECONDS_OF_PAGE, check_problem, other_problem

    deadline = clock() + seconds
    if o.picture:
        from workbench.builtin.reports.figures.cones import ending_of, require_drawable

        ending = ending_of(o.picture)
    posed = None if o.rhs else other_problem(o.file)
    if posed is not None:
        if o.uncertainty or o.plus_minus or o.symmetric:
            _check_uncertain_mlcp(o, posed, deadline)
        else:
            _check_posed(o, posed, deadline)
        return
    M, q = read_problem(o.file, o.rhs, intervals=True)
    if o.uncertainty or o.plus_minus or o.symmetric or any(x is not None and x.upper is not None for x in (M, q)):
        _check_box(o, M, q, deadline)
        return
    if o.picture:
        require_drawable(M.values.shape[1])
    with (
        replaced(o.out) if o.out else nullcontext() as page,
        replaced(o.certificate) if o.certificate else nullcontext() as proofs,
        replaced(o.picture) if o.picture else nullcontext() as drawing,
    ):
        with CommandProgress(quiet=False) as report:
            found = check_problem(name_of(o.file), M, q, _for_verdicts(o, deadline, len(M.values), M.nonzero), report)
        if proofs:
            document = found.certificate(seconds_left(deadline, PROOFS if page else 1.0))
            proofs.write_text(json.dumps(document, indent=1), "utf-8")
        if drawing:
            drawing.write_bytes(found.picture().rendered(ending))
        if page:
            facts = provenance(file=o.file, rhs=o.rhs or "", command=f"workbench {shlex.join(o.words)}")
            page.write_bytes(found.html(facts, min(SECONDS_OF_PAGE, seconds_left(deadline, 1.0))).encode())
    _print_found(o, found)


def _check_box(o: argparse.Namespace, M: Any, q: Any, deadline: float) -> None:
    """Check all matrices within the intervals of M, of `--uncertainty` and of `--plus-minus`, and q likewise."""
    from workbench.verbs.check import uncertain_mlcp

    spread, of_q = _radii(o)
    if of_q is not None and q is None:
        raise WorkbenchError("--plus-minus has radii for q, but q is missing; give it by --rhs")
    box, right = _widened(o, M, spread, o.symmetric), q and _widened(o, q, of_q)
    problem = uncertain_mlcp(box, right, [0] * box.order, [None] * box.order) if right else None
    _check_uncertain(o, box, problem, deadline)


def _check_uncertain_mlcp(o: argparse.Namespace, posed: Any, deadline: float) -> None:
    """Check an MLCP with bounds for all M and q of `--uncertainty`, and all M, q and bounds of `--plus-minus`."""
    import numpy as np

    from workbench.readers.matrix import Matrix
    from workbench.readers.npz import read_arrays
    from workbench.verbs.check import uncertain_mlcp

    if not hasattr(posed, "lower"):
        raise WorkbenchError(
            f"--uncertainty, --plus-minus and --symmetric are for LCPs and MLCPs; '{o.file}' holds a {posed.kind}"
        )
    given = str(o.plus_minus or "")
    arrays = read_arrays(given, ("M", "q", "lower", "upper")) if given.lower().endswith(".npz") else {}
    spread, of_q = (None, None) if arrays.keys() - {"M", "q"} and "M" not in arrays else _radii(o)
    box = _widened(o, Matrix(posed.M), spread, o.symmetric)
    ends = []
    for name, bounds in (("lower", posed.lower), ("upper", posed.upper)):
        radii = np.broadcast_to(arrays.get(name, 0.0), bounds.shape).astype(float)
        if not (radii >= 0).all() or np.isinf(radii).any():
            raise WorkbenchError(f"--plus-minus {given}: {name} has a radius that is not a number >= 0")
        around = zip(bounds.tolist(), map(Fraction, radii.tolist()), strict=True)
        ends.append([(Fraction(x) - r, Fraction(x) + r) if math.isfinite(x) else None for x, r in around])
    q = _widened(o, Matrix(posed.q[:, None]), of_q)
    _check_uncertain(o, box, uncertain_mlcp(box, q, *ends), deadline)


def _check_uncertain(o: argparse.Namespace, box: Any, problem: Any, deadline: float) -> None:
    """Check a box of matrices, and the problem with it if there is one."""
    from workbench.engine.timing import seconds_left
    from workbench.readers.problem import name_of
    from workbench.support.output import provenance, replaced
    from workbench.verbs.check import SECONDS_OF_PAGE, check_uncertain

    if o.picture:
        raise WorkbenchError("--picture is for a single matrix, not for intervals")
    with (
        replaced(o.out) if o.out else nullcontext() as page,
        replaced(o.certificate) if o.certificate else nullcontext() as proofs,
    ):
        kept = PROOFS if o.certificate or o.out else 0.0
        found = check_uncertain(name_of(o.file), box, problem, seconds_left(deadline, 1.0 - kept))
        if proofs:
            document = found.certificate(seconds_left(deadline, PROOFS if page else 1.0))
            proofs.write_text(json.dumps(document, indent=1), "utf-8")
        if page:
            facts = provenance(file=o.file, rhs=o.rhs or "", command=f"workbench {shlex.join(o.words)}")
            page.write_bytes(found.html(facts, min(SECONDS_OF_PAGE, seconds_left(deadline, 1.0))).encode())
    _print_found(o, found)


def _print_found(o: argparse.Namespace, found: Any) -> None:
    """The result as text with the files that were written, or as JSON."""
    paths = (("report", o.out), ("certificate", o.certificate), ("picture", o.picture))
    written = [f"\n{what}: {path}" for what, path in paths if path]
    print(json_text(found.data) if o.json else found.text + "".join(written))


def _radii(o: argparse.Namespace) -> tuple[Any, Any]:
    """The radii of M and q in the file of `--plus-minus`, None where it has none."""
    from workbench.readers.problem import read_problem

    return read_problem(o.plus_minus) if o.plus_minus else (None, None)


def _widened(o: argparse.Namespace, M: Any, spread: Any, symmetric: bool = False) -> Any:
    """The box of a matrix with the radii `spread` and those of `--uncertainty`."""
    from flint import fmpq

    from workbench.readers.interval_matrix import IntervalMatrix
    from workbench.support.numbers import exact_number

    relative = fmpq(0)
    if o.uncertainty:
        given = exact_number(o.uncertainty, "--uncertainty")
        if given < 0:
            raise WorkbenchError(f"--uncertainty {o.uncertainty}: a number >= 0 is needed, such as 1e-3")
        relative = fmpq(given.numerator, given.denominator)
    box = IntervalMatrix.of(M).widened(relative, None if spread is None else spread.exact)
    return IntervalMatrix(box.centre, box.radius, symmetric)


def _for_verdicts(o: argparse.Namespace, deadline: float, n: int, entries: int) -> float:
    """Seconds for the verdicts on n unknowns: the time left after reading, less that reserved for proofs.

    `entries` of the matrix are not zero.
    """
    from workbench.verbs.check import seconds_before_proofs

    return seconds_before_proofs(deadline, PROOFS if o.certificate or o.out else 0.0, n, entries)


def _check_posed(o: argparse.Namespace, posed: Any, deadline: float) -> None:
    """Check a problem with bounds, or a friction problem."""
    from workbench.engine.timing import seconds_left
    from workbench.readers.problem import name_of
    from workbench.support.output import provenance, replaced
    from workbench.verbs.check import check_posed_problem

    if o.picture:
        raise WorkbenchError(f"--picture is for matrices and LCPs; '{o.file}' holds another kind of problem")
    with (
        replaced(o.out) if o.out else nullcontext() as page,
        replaced(o.certificate) if o.certificate else nullcontext() as proofs,
    ):
        found = check_posed_problem(name_of(o.file), posed, _for_verdicts(o, deadline, posed.size, 0))
        if proofs:
            proofs.write_text(json.dumps(found.certificate(seconds_left(deadline, 1.0)), indent=1), "utf-8")
        if page:
            facts = provenance(file=o.file, command=f"workbench {shlex.join(o.words)}")
            page.write_bytes(found.html(facts).encode())
    _print_found(o, found)


def _vary(o: argparse.Namespace, seconds: float) -> None:
    from workbench.cli.painleve import exact_setting
    from workbench.engine.timing import clock, seconds_left
    from workbench.support.numbers import exact_number
    from workbench.support.output import provenance, replaced
    from workbench.verbs.vary import vary

    of_file = bool(o.rhs or o.pencil or o.pencil_rhs)
    if o.case is not None and of_file:
        raise WorkbenchError(
            "--rhs, --pencil and --pencil-rhs are for files; with --case, --vary names a parameter of the case"
        )
    if o.case is None and not (o.pencil or o.pencil_rhs):
        raise WorkbenchError(
            "--vary with a file needs --pencil FILE or --pencil-rhs FILE, which the parameter multiplies"
        )
    h, given = number_option(o.step, "--step", "seconds"), dict(map(exact_setting, o.set))
    spans = [_along(text) for text in o.vary]
    if len(spans) > 1 and (o.case is None or o.formulation is not None):
        raise WorkbenchError("--vary of several parameters is for the sliding contacts of a --case, without -f")
    if len({name for name, *_ in spans}) < len(spans):
        raise WorkbenchError(f"--vary {' '.join(o.vary)}: one parameter is named twice")
    deadline = clock() + seconds
    if o.certificate and len(spans) < 2:
        raise WorkbenchError("--certificate with --vary is for two to four parameters of a --case")
    with (
        replaced(o.out) if o.out else nullcontext() as page,
        replaced(o.certificate) if o.certificate else nullcontext() as proofs,
    ):
        found: Any
        if len(spans) > 1:
            ranges = {name: ends for name, *ends in spans}
            undecided = exact_number(o.undecided, "--undecided")
            search = seconds_left(deadline, 1.0 - (PROOFS if proofs else 0.0))
            found = vary(o.case, along=ranges, given=given, seconds=search, undecided=undecided)
            if proofs:
                proofs.write_text(json.dumps(found.certificate(seconds_left(deadline, 1.0)), indent=1), "utf-8")
        elif o.case is None:
            found = vary(o.file, along=spans[0], rhs=o.rhs, pencil=o.pencil, pencil_rhs=o.pencil_rhs, seconds=seconds)
        else:
            found = vary(o.case, o.formulation, along=spans[0], given=given, step=h, seconds=seconds)
        if page:
            facts = provenance(result=found.title, command=f"workbench {shlex.join(o.words)}")
            page.write_bytes(found.html(facts).encode())
    _print_found(o, found)


def _along(text: str) -> tuple[str, Fraction, Fraction]:
    """NAME=FROM:TO, with the ends as typed."""
    from workbench.support.numbers import exact_number

    name, _, span = text.partition("=")
    ends = span.split(":")
    if not name or len(ends) != 2:
        raise WorkbenchError(f"--vary {text}: give NAME=FROM:TO, such as mu=0:3")
    low, high = (exact_number(end, f"--vary {name}") for end in ends)
    return name, low, high
