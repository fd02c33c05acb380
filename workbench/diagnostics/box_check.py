"""What can be said of all matrices of a box at once, and of the solutions of an LCP with uncertain data.

0 <= z  perp  M z + q >= 0    for every M and q of their boxes
"""

from typing import Any

import numpy as np
from flint import fmpq_mat

from workbench.algorithms import find_solver
from workbench.engine.timing import clock, moment
from workbench.matrices.intervals.box_classes import ALL, BoxVerdict, Member, box_classes
from workbench.matrices.intervals.largest_uncertainty import BOXES, largest_uncertainty
from workbench.matrices.intervals.rank_box import least_rank
from workbench.matrices.intervals.uncertain_lcp import bounds
from workbench.matrices.linear_algebra.rationals import as_text, nearest_double
from workbench.problems.classes import LCP
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.support.arrays import Array
from workbench.support.errors import DataError

LARGEST_ORDER = 60
"""Order up to which a box is judged."""

Entry = dict[str, Any]

SAMPLES = 40
"""Members of the box whose LCP is solved for a picture."""

_CONSEQUENCE = {
    "all": "Every matrix of the box is a P-matrix: the LCP has exactly one solution for every q.",
    "some": "Some matrices of the box are P-matrices and some are not: one of each is given.",
    "none": "No matrix of the box is a P-matrix.",
    "undecided": "Whether every matrix of the box is a P-matrix is undecided.",
}


def check_box(M: IntervalMatrix, q: IntervalMatrix | None = None, seconds: float = 10.0) -> Entry:
    """Verdicts on a box of matrices (n, n), and the bounds of z with q (n, 1), ready for JSON, within `seconds`.

    Exact numbers are strings "p/q", indices count from zero, null stands for what is undefined or without a bound.
    Raises DataError for a box that is not square or larger than `LARGEST_ORDER`, and for a q of another length.
    """
    n, columns = M.order, M.centre.ncols()
    if n != columns:
        raise DataError(f"the matrix is {n} x {columns}; the matrices of an LCP are square")
    if n > LARGEST_ORDER:
        raise DataError(f"the matrix has order {n}; a box of matrices is judged up to order {LARGEST_ORDER}")
    if q is not None and (q.order, q.centre.ncols()) != (n, 1):
        raise DataError(f"q has {q.order} entries; the {n} x {n} matrix needs {n}")
    if q is not None:
        # Compiling the solver is start-up and not counted.
        find_solver("lemke")
    deadline = clock() + seconds
    classes, p = box_classes(M, moment(deadline, 0.4 if q is None else 0.3))
    solutions = None if q is None else _solutions(M, q, classes["P"].verdict == ALL, moment(deadline, 0.6))
    largest = {name: _bracket(M, name, moment(deadline, 1.0 / (len(BOXES) - k))) for k, name in enumerate(BOXES)}
    entry: Entry = {
        "n": n,
        "uncertain_entries": M.uncertain,
        "symmetric": M.symmetric,
        "classes": {name: _class_entry(found) for name, found in classes.items()},
        "rank": _rank_entry(M, deadline),
        "effort": {"tree_nodes": p.nodes},
        "largest_uncertainty": largest,
        "solutions": solutions,
        "M": {"centre": _rows(M.centre), "radius": _rows(M.radius)},
        "q": None if q is None else {"centre": as_text(q.centre.entries()), "radius": as_text(q.radius.entries())},
    }
    return {**entry, "in_words": _in_words(entry)}


def _rows(A: fmpq_mat) -> list[list[str] | None]:
    return [as_text(row) for row in A.tolist()]


def _class_entry(found: BoxVerdict) -> Entry:
    return {
        "verdict": found.verdict,
        "proof": found.every or found.never,
        "support": found.support if found.every or found.never else None,
        "inside": _member_entry(found.inside),
        "outside": _member_entry(found.outside),
        "reason": found.reason if found.verdict == "undecided" else None,
    }


def _rank_entry(M: IntervalMatrix, deadline: float) -> Entry:
    """The rank that every member has at least, and a member without full rank."""
    found = least_rank(M, deadline)
    member = None if found.member is None else {"matrix": _rows(found.member), "rank": found.member.rank()}
    support = {"rows": found.rows, "columns": found.columns, "R": _rows(found.R), "x": as_text(found.x)}
    return {"at_least": found.at_least, "support": support, "member": member}


def _member_entry(member: Member | None) -> Entry | None:
    return None if member is None else {"matrix": _rows(member.matrix), "witness": member.support}


def _bracket(M: IntervalMatrix, name: str, deadline: float) -> Entry:
    """The largest multiple of the radii that keeps a class, rounded outward."""
    found = largest_uncertainty(M, name, deadline)
    return {
        "lower": nearest_double(found.lower) * (1 - 2**-52),
        "upper": None if found.upper is None else nearest_double(found.upper) * (1 + 2**-52),
        "reason": found.reason,
    }


def _solutions(M: IntervalMatrix, q: IntervalMatrix, all_p: bool, deadline: float) -> Entry:
    with np.errstate(over="ignore", invalid="ignore"):
        near = find_solver("lemke").solve(LCP(*nearest_doubles(M.centre, q.centre))).z
    found = bounds(M, q, all_p, near, deadline)
    return {
        "solvable": found.solvable,
        "lower": [None if x is None else str(x) for x in found.lower],
        "upper": [None if x is None else str(x) for x in found.upper],
        "exact": found.exact,
        "signs": None if found.solvable == "none" else found.signs,
        "centre": None if found.basis is None else as_text(found.basis.z),
        "samples": _samples(M, q),
        "reason": found.reason,
    }


def _samples(M: IntervalMatrix, q: IntervalMatrix) -> list[list[float]]:
    """Solutions of members whose entries are at either end by chance, in floating point; those that were verified."""
    (C, c), (D, d) = nearest_doubles(M.centre, q.centre), nearest_doubles(M.radius, q.radius)
    rng, found = np.random.default_rng(0), []
    for _ in range(SAMPLES):
        signs = rng.choice((-1.0, 1.0), C.shape)
        if M.symmetric:
            signs = np.tril(signs) + np.tril(signs, -1).T
        with np.errstate(over="ignore", invalid="ignore"):
            solved = find_solver("lemke").solve(LCP(C + signs * D, c + rng.choice((-1.0, 1.0), len(c)) * d))
        if solved.verified:
            found.append(solved.z.tolist())
    return found


def nearest_doubles(M: fmpq_mat, q: fmpq_mat) -> tuple[Array, Array]:
    """M (n, n) and q (n) as doubles. Raises DataError for numbers beyond their range."""
    values = np.array([nearest_double(x) for x in (*M.entries(), *q.entries())])
    if not np.isfinite(values).all():
        raise DataError("M or q has numbers beyond the largest double, 1.8e308; change the units")
    n = M.nrows()
    return values[: n * n].reshape(n, n), values[n * n :]


def _in_words(entry: Entry) -> str:
    """The result in sentences."""
    words = [_CONSEQUENCE[entry["classes"]["P"]["verdict"]]]
    if entry["symmetric"]:
        words[0] = (
            words[0]
            .replace("matrix of the box", "symmetric matrix of the box")
            .replace("matrices of the box", "symmetric matrices of the box")
        )
    found = entry["solutions"]
    if found and found["solvable"] == "none":
        words.append("No data of the boxes give the LCP a solution.")
    elif found:
        counts = {kind: found["signs"].count(kind) for kind in ("positive", "zero", "undetermined")}
        words.append(
            f"Of {entry['n']} unknowns {counts['positive']} are certainly positive, {counts['zero']} certainly zero "
            f"and {counts['undetermined']} undetermined."
        )
    return " ".join(words)
