"""Verdicts on all matrices of a box, and solutions of an LCP or MLCP with uncertain data.

0 <= z  perp  M z + q >= 0,  or  l <= z <= u  with bounds    for every M, q, l and u of their boxes
"""

from typing import Any

import numpy as np
from flint import fmpq_mat

from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.engine.timing import clock, moment
from workbench.matrices.intervals.box_classes import ALL, BoxVerdict, Member, box_classes
from workbench.matrices.intervals.largest_uncertainty import BOXES, largest_uncertainty
from workbench.matrices.intervals.p_box import as_lines
from workbench.matrices.intervals.rank_box import least_rank
from workbench.matrices.intervals.uncertain_mlcp import bounds
from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
from workbench.matrices.intervals.unique_box import UniqueBox, unique_box
from workbench.matrices.linear_algebra.rationals import as_text, doubles, nearest_double, rows_as_text
from workbench.problems.classes import LCP, MLCP
from workbench.problems.solution import Solution
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

_UNIQUE = {
    "all": "The MLCP has exactly one solution for every matrix of the box and every q.",
    "not all": "For one matrix of the box, which is given, and some q the MLCP has two solutions.",
    "undecided": "Whether the MLCP has exactly one solution for every matrix of the box and every q is undecided.",
}
PLACES = {
    "LCP": {
        "positive": "certainly positive", "zero": "certainly zero", "undetermined": "undetermined",
    },
    "MLCP": {
        "between": "certainly between their bounds", "lower": "certainly at the lower bound",
        "upper": "certainly at the upper bound", "undetermined": "undetermined",
    },
}  # fmt: skip
"""Positions of unknowns, in words."""


def check_box(M: IntervalMatrix, p: UncertainMLCP | None = None, seconds: float = 10.0) -> Entry:
    """Verdicts on a box of matrices (n, n), and the bounds of z of a problem with it, ready for JSON, within `seconds`.

    Exact numbers are strings "p/q", indices count from zero, null stands for what is undefined or without a bound.
    Raises DataError for a box that is not square or larger than `LARGEST_ORDER`.
    """
    n, columns = M.order, M.centre.ncols()
    if n != columns:
        raise DataError(f"the matrix is {n} x {columns}; the matrices of an LCP are square")
    if n > LARGEST_ORDER:
        raise DataError(f"the matrix has order {n}; a box of matrices is judged up to order {LARGEST_ORDER}")
    if p is not None:
        # Compiling the solver is start-up and not counted.
        _solved(p, *nearest_doubles(M.centre, p.q.centre))
    deadline = clock() + seconds
    classes, tree = box_classes(M, moment(deadline, 0.4 if p is None else 0.3))
    all_p, unique = classes["P"].verdict == ALL, None
    if p is not None and not p.is_lcp:
        # That all matrices are P is sufficient whatever the bounds are.
        unique = (
            UniqueBox(ALL, classes["P"].every, {"by": "P"}) if all_p else unique_box(M, p.kinds, moment(deadline, 0.2))
        )
    is_one = all_p if unique is None else unique.verdict == ALL
    solutions = None if p is None else _solutions(p, is_one, moment(deadline, 0.6))
    largest = {name: _bracket(M, name, moment(deadline, 1.0 / (len(BOXES) - k))) for k, name in enumerate(BOXES)}
    entry: Entry = {
        "n": n,
        "uncertain_entries": M.uncertain,
        "symmetric": M.symmetric,
        "kind": "box" if p is None else "LCP" if p.is_lcp else "MLCP",
        "classes": {name: _class_entry(found) for name, found in classes.items()},
        "rank": _rank_entry(M, deadline),
        "effort": {"tree_nodes": tree.nodes},
        "largest_uncertainty": largest,
        "uniqueness": None if p is None or unique is None else _uniqueness_entry(p, unique),
        "solutions": solutions,
        "M": {"centre": rows_as_text(M.centre), "radius": rows_as_text(M.radius)},
        "q": None if p is None else {"centre": as_text(p.q.centre.entries()), "radius": as_text(p.q.radius.entries())},
    }
    return {**entry, "in_words": _in_words(entry)}


def _uniqueness_entry(p: UncertainMLCP, found: UniqueBox) -> Entry:
    support = found.support
    if found.member is not None:
        support = {"matrix": rows_as_text(found.member), "x": as_text(found.x)}
    bounds = {name: list(getattr(p.kinds, name)) for name in ("free", "fixed", "bounded")}
    return {
        "verdict": found.verdict, "bounds": bounds, "proof": found.proof, "support": support, "reason": found.reason,
    }  # fmt: skip


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
    member = None if found.member is None else {"matrix": rows_as_text(found.member), "rank": found.member.rank()}
    support = {"rows": found.rows, "columns": found.columns, "R": rows_as_text(found.R), "x": as_text(found.x)}
    return {"at_least": found.at_least, "support": support, "member": member}


def _member_entry(member: Member | None) -> Entry | None:
    return None if member is None else {"matrix": rows_as_text(member.matrix), "witness": member.support}


def _bracket(M: IntervalMatrix, name: str, deadline: float) -> Entry:
    """The largest multiple of the radii that keeps a class, rounded outward, and what proves it exactly."""
    found = largest_uncertainty(M, name, deadline)
    signs, index_set = found.lost or ((), ())
    # Radii times zero are refuted by the centre, that of an uncertain box by a vertex.
    above = found.upper is not None and (index_set or None)
    support = {
        "lower": None if found.tree is None else str(found.lower),
        "tree": None if found.tree is None else as_lines(found.tree),
        "upper": str(found.upper) if above else None,
        "signs": list(signs) if above else None,
        "index_set": list(index_set) if above else None,
    }
    return {
        "support": support,
        "lower": nearest_double(found.lower) * (1 - 2**-52),
        "upper": None if found.upper is None else nearest_double(found.upper) * (1 + 2**-52),
        "reason": found.reason,
    }


def _solutions(p: UncertainMLCP, unique: bool, deadline: float) -> Entry:
    near = _solved(p, *nearest_doubles(p.M.centre, p.q.centre)).z
    found = bounds(p, unique, near, deadline)
    places = {"between": "positive", "lower": "zero"} if p.is_lcp else {}
    ends = ([None if x is None else [*map(str, x)] for x in bound] for bound in (p.lower, p.upper))
    return {
        "solvable": found.solvable,
        "lower": [None if x is None else str(x) for x in found.lower],
        "upper": [None if x is None else str(x) for x in found.upper],
        "exact": found.exact,
        "signs": None if found.solvable == "none" else [places.get(place, place) for place in found.places],
        "centre": None if found.basis is None else as_text(found.basis.z),
        "bounds": dict(zip(("lower", "upper"), ends, strict=True)),
        "samples": _samples(p),
        "reason": found.reason,
    }


def _solved(p: UncertainMLCP, M: Array, q: Array, lower: Array | None = None, upper: Array | None = None) -> Solution:
    """A solution in floating point, with the bounds in the middle of their intervals unless others are given."""
    with np.errstate(over="ignore", invalid="ignore"):
        if p.is_lcp:
            return find_solver("lemke").solve(LCP(M, q))
        low, high = (
            np.array([end if x is None else nearest_double(x) for x in bounds])
            for bounds, end in zip(p.centre_bounds, (-np.inf, np.inf), strict=True)
        )
        problem = MLCP(M, q, low if lower is None else lower, high if upper is None else upper)
        return default_solver(problem.kind).first.solve(problem)


def _samples(p: UncertainMLCP) -> list[list[float]]:
    """Solutions of members whose entries are at either end by chance, in floating point; those that were verified."""
    M, q = p.M, p.q
    (C, c), (D, d) = nearest_doubles(M.centre, q.centre), nearest_doubles(M.radius, q.radius)
    rng, found = np.random.default_rng(0), []
    for _ in range(SAMPLES):
        signs = rng.choice((-1.0, 1.0), C.shape)
        if M.symmetric:
            signs = np.tril(signs) + np.tril(signs, -1).T
        data = [C + signs * D, c + rng.choice((-1.0, 1.0), len(c)) * d]
        if not p.is_lcp:
            low, high = (
                np.array([end if x is None else nearest_double(x[rng.integers(2)]) for x in bounds])
                for bounds, end in ((p.lower, -np.inf), (p.upper, np.inf))
            )
            if (low > high).any():
                continue
            data += [low, high]
        solved = _solved(p, *data)
        if solved.verified:
            found.append(solved.z.tolist())
    return found


def nearest_doubles(M: fmpq_mat, q: fmpq_mat) -> tuple[Array, Array]:
    """M (n, n) and q (n) as doubles. Raises DataError for numbers beyond their range."""
    found = doubles(M), doubles(q.entries())
    if not all(np.isfinite(x).all() for x in found):
        raise DataError("M or q has numbers beyond the largest double, 1.8e308; change the units")
    return found


def _in_words(entry: Entry) -> str:
    """The result in sentences."""
    found, unique = entry["solutions"], entry["uniqueness"]
    words = [_UNIQUE[unique["verdict"]] if unique else _CONSEQUENCE[entry["classes"]["P"]["verdict"]]]
    if entry["symmetric"]:
        words[0] = (
            words[0]
            .replace("matrix of the box", "symmetric matrix of the box")
            .replace("matrices of the box", "symmetric matrices of the box")
        )
    if found and found["solvable"] == "none":
        words.append(f"No data of the boxes give the {entry['kind']} a solution.")
    elif found:
        counts = [(found["signs"].count(kind), words_of) for kind, words_of in PLACES[entry["kind"]].items()]
        some = [f"{count} {what}" for count, what in counts if count]
        some[0] = some[0].replace(" ", " is " if some[0].startswith("1 ") else " are ", 1)
        words.append(f"Of {entry['n']} unknowns, {', '.join(some[:-1])}{' and ' if some[1:] else ''}{some[-1]}.")
    return " ".join(words)
