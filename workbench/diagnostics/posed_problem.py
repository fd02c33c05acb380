"""Verdicts on one posed problem, each with its support: entries ready for JSON, and rows of text.

The problem's doubles are taken as exact numbers; a step's free unknowns are eliminated in rationals.
"""

import math
import textwrap
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.diagnostics.wellposedness import LARGEST
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock
from workbench.matrices.distances.distance import distance
from workbench.matrices.linear_algebra.rationals import as_text, exact
from workbench.matrices.p_property.bounded import (
    Uniqueness,
    natural_test,
    pattern,
    reduced_test,
    solution_on_face,
    two_solutions,
)
from workbench.matrices.p_property.witness import PVerdict, as_lines, schur_complement
from workbench.matrices.solutions.equivalent_lcp import EquivalentLCP, equivalent_lcp
from workbench.matrices.solutions.existence import existence
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.matrices.solutions.solution_set import Piece, infeasibility, solution_set
from workbench.problems.classes import MLCP, Array
from workbench.readers.matrix import Matrix
from workbench.support.errors import DataError

LARGEST_EXACT = 90
"""Largest order of a mixed system that is eliminated in rationals."""
LARGEST_SHOWN = 12
"""Largest order for which two solutions are written out where uniqueness fails."""

Entry = dict[str, Any]


def distance_entry(M: Array, p: PVerdict, seconds: float) -> Entry | None:
    """Distance of M (n, n) from the non-P matrices, and beta_2; None where M is not proved to be P."""
    if p.verdict != "P":
        return None
    found = distance(Matrix(M), seconds)
    return {**found.entry(), "beta_2": found.beta_2.entry()}


def uniqueness_entry(M: fmpq_mat, lower: Array, upper: Array, seconds: float) -> Entry:
    """Decide by both tests if every q has one solution; if not, give a q with two. DataError for empty bounds."""
    end, kinds = clock() + seconds, pattern(lower, upper)
    found = {"reduced": reduced_test(M, kinds, seconds / 2), "natural": natural_test(M, kinds, end)}
    entry: Entry = {
        "verdict": next((u.verdict for u in found.values() if u.verdict != "undecided"), "undecided"),
        "bounds": {name: list(getattr(kinds, name)) for name in ("free", "fixed", "bounded")},
        "tests": {name: _test_entry(u) for name, u in found.items()},
        "two_solutions": None,
    }
    x = next((u.reversal for u in found.values() if u.reversal is not None), None)
    if x is not None and len(x) <= LARGEST_SHOWN:
        parts = two_solutions(M, lower, upper, x)
        entry["two_solutions"] = {name: as_text(v) for name, v in zip(("q", "z", "other"), parts, strict=True)}
    return entry


def _test_entry(u: Uniqueness) -> Entry:
    tree = None if u.p is None or u.p.tree is None else as_lines(u.p.tree)
    return {"verdict": u.verdict, "proof": u.proof, "witness": u.witness, "reason": u.reason, "tree": tree}


def solutions_of(problem: MLCP, at_most_one: bool, seconds: float, near: Array | None = None) -> Entry:
    """All solutions z of an LCP or MLCP with its q: their number, the isolated ones, the dimension of the set.

    Where there is none because the linear inequalities alone have none, `farkas` is the y of `infeasibility` for the
    equivalent LCP with `unknowns` unknowns. `at_most_one`: two solutions are known to be impossible; the search then
    starts at `near` (n).
    """
    deadline = clock() + seconds
    entry: Entry = {"count": None, "points": [], "dimension": None, "reason": None, "unknowns": None, "farkas": None}
    if at_most_one and near is not None and np.isfinite(near).all():
        M, q = Matrix(problem.M).exact, [*map(exact, problem.q)]
        try:
            z = solution_on_face(M, q, problem.lower, problem.upper, near, deadline)
        except OutOfTimeError:
            return entry | {"reason": OUT_OF_TIME}
        if z is not None:
            return entry | {"count": 1, "points": [as_text(z)], "dimension": 0}
    try:
        lcp = equivalent_lcp(problem, deadline)
        entry["unknowns"] = len(lcp.q)
        if not lcp.q:
            return entry | {"count": 1, "points": [as_text(lcp.point([]))], "dimension": 0}
        if len(lcp.q) > LARGEST:
            return entry | {"reason": f"as an LCP it has {len(lcp.q)} unknowns; solutions are counted up to {LARGEST}"}
        y = infeasibility(lcp.M, lcp.q, deadline)
    except OutOfTimeError:
        return entry | {"reason": OUT_OF_TIME}
    if y is not None:
        return entry | {"count": 0, "farkas": as_text(y)}
    found = solution_set(lcp.M, lcp.q, deadline, at_most_one)
    points = {tuple(lcp.point(list(piece.vertices[0]))) for piece in found.pieces if not _dimension(lcp, piece)}
    entry |= {"points": [as_text(list(z)) for z in sorted(points)], "reason": found.reason}
    dimension = max((_dimension(lcp, piece) for piece in found.pieces), default=None)
    return entry | {
        "count": "infinite" if dimension else None if found.reason else len(points), "dimension": dimension,
    }  # fmt: skip


def _dimension(lcp: EquivalentLCP, piece: Piece) -> int:
    """Dimension of a piece in z, which may be smaller than in the unknowns of the equivalent LCP."""
    corner, *others = (lcp.point(list(v)) for v in piece.vertices)
    origin = lcp.point([fmpq(0)] * len(lcp.q))
    spans = [[a - b for a, b in zip(z, corner, strict=True)] for z in others]
    spans += [[a - b for a, b in zip(lcp.point(list(ray)), origin, strict=True)] for ray in piece.rays]
    return int(fmpq_mat(spans).rank()) if spans else 0


def existence_entry(p: RationalFriction, coulomb: bool, seconds: float) -> Entry:
    """Return whether the problem with friction cones has a solution, under Coulomb's law or as a cone problem."""
    return {"law": "Coulomb's law" if coulomb else "cone problem", **vars(existence(p, coulomb, clock() + seconds))}


def reduced_exactly(system: Array, free: int, deadline: float = math.inf) -> tuple[fmpq_mat, list[fmpq]]:
    """M and q of M z + q after exact elimination of the first `free` unknowns of a mixed system (n, n + 1).

    The last column holds the constants. Raises DataError where the block of the free unknowns is singular, and
    OutOfTimeError.
    """
    n = len(system)
    square = fmpq_mat([[*map(exact, row)] for row in system] + [[0] * (n + 1)])
    try:
        reduced = schur_complement(square, range(free), range(free, n + 1), deadline)
    except ZeroDivisionError:
        raise DataError(f"the block of the {free} free unknowns is singular") from None
    rows = reduced.tolist()[:-1]
    return fmpq_mat([row[:-1] for row in rows]), [row[-1] for row in rows]


def entry_rows(entries: Entry) -> list[tuple[str, str]]:
    """Label and text of every entry: `distance`, `uniqueness`, `solutions`, and a list in `existence`."""
    rows = []
    if entries.get("distance"):
        rows.append(("distance", _distance_words(entries["distance"])))
    if entries.get("uniqueness"):
        rows.append(("for every q", _uniqueness_words(entries["uniqueness"])))
    if entries.get("solutions"):
        rows.append(("for this q", solutions_words(entries["solutions"])))
    for found in entries.get("existence") or ():
        support = found["proof"] or found["reason"]
        rows.append((found["law"], f"{EXISTENCE[found['verdict']]}: {support}"))
    return rows


def wrapped(rows: list[tuple[str, str]]) -> str:
    """Labels and texts wrapped to 80 columns."""
    return "\n".join(
        line
        for label, words in rows
        for line in textwrap.wrap(words, 80, initial_indent=f"{label:<16}", subsequent_indent=" " * 16)
    )


EXISTENCE = {"exists": "a solution exists", "none": "no solution", "undecided": "undecided"}


def _distance_words(d: Entry) -> str:
    lower, upper, beta = d["lower"], d["upper"], d["beta_2"]
    away = f"{upper:.6g}" if lower > (1 - 1e-6) * upper else f"{lower:.6g} to {upper:.6g}"
    at_most = "without a bound" if beta["upper"] is None else f"at most {beta['upper']:.6g}"
    return f"{away} to the nearest matrix that is not P; beta_2 {at_most}"


def _uniqueness_words(u: Entry) -> str:
    kinds = ", ".join(f"{len(some)} {name}" for name, some in u["bounds"].items() if some)
    number = {"unique": "exactly one solution", "not unique": "not unique", "undecided": "undecided"}[u["verdict"]]
    against = "some x has (M x)_i = 0 where z_i is free and x_i (M x)_i <= 0 elsewhere"
    tests = (f"{name} test: {t['proof'] or t['reason'] or against}" for name, t in u["tests"].items())
    return f"{number} ({kinds}); {'; '.join(tests)}"


def solutions_words(s: Entry) -> str:
    """The number of solutions of `solutions_of` as text."""
    if s["count"] is None:
        return f"solutions not counted: {s['reason']}; {len(s['points'])} found"
    if s["count"] == "infinite":
        return f"infinitely many solutions, a set of dimension {s['dimension']}"
    if s["count"] == 0:
        return "no solution" + (": the linear inequalities have none (Farkas)" if s["farkas"] else "")
    return "exactly one solution" if s["count"] == 1 else f"exactly {s['count']} solutions"
