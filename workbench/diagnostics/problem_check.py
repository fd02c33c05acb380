"""Check a problem from a file that is not an LCP: an MLCP with bounds, or a friction problem (W, q, mu)."""

import math

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.diagnostics.check import check_matrix
from workbench.diagnostics.coulomb_answers import coulomb_words, every_q_words
from workbench.diagnostics.friction_check import LARGEST, by_islands, contact_islands, friction_entry
from workbench.diagnostics.posed_problem import (
    LARGEST_EXACT,
    Entry,
    entry_rows,
    reduced_exactly,
    solutions_of,
    uniqueness_entry,
)
from workbench.diagnostics.problem_facts import problem_facts
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock, moment, seconds_left
from workbench.matrices.linear_algebra.rationals import exact
from workbench.matrices.p_property.bounded import pattern
from workbench.matrices.solutions.existence import rational_friction
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.matrix import Matrix


def check_posed(problem: MLCP | FrictionProblem | GlobalFrictionProblem, seconds: float = 10.0) -> Entry:
    """Facts and verdicts, ready for JSON; `seconds` limits all verdicts together. DataError if there is no W."""
    deadline = clock() + seconds
    facts = problem_facts(problem, moment(deadline, 0.3))
    entry: Entry = {"facts": facts, "p_matrix": None, "problem": None, "reason": None}
    if isinstance(problem, MLCP):
        large = problem.size > LARGEST
        return entry | {"problem": (_of_large_bounds if large else _of_bounds)(problem, deadline)}
    local = problem.local if isinstance(problem, GlobalFrictionProblem) else problem
    if local.size > LARGEST or (local.size > LARGEST_EXACT and len(contact_islands(local)) > 1):
        posed = by_islands(local, deadline)
        return entry | {"p_matrix": posed.pop("p_matrix"), "problem": posed}
    try:
        friction = in_rationals(problem, deadline)
    except OutOfTimeError:
        return entry | {"reason": f"{OUT_OF_TIME} before W was formed in rationals"}
    posed = friction_entry(friction, local, deadline)
    return entry | {"p_matrix": posed.pop("p_matrix"), "problem": posed}


def _of_bounds(problem: MLCP, deadline: float) -> Entry:
    M = Matrix(problem.M).exact
    unique = uniqueness_entry(M, problem.lower, problem.upper, seconds_left(deadline, 0.5))
    near = default_solver(problem.kind).first.solve(problem).z if clock() < deadline else None
    solutions = solutions_of(problem, unique["verdict"] == "unique", seconds_left(deadline, 0.9), near)
    return {"uniqueness": unique, "solutions": solutions}


def _of_large_bounds(problem: MLCP, deadline: float) -> Entry:
    """Decide from the classes of the part without fixed unknowns: if that is P, the bounds do not matter."""
    kinds = pattern(problem.lower, problem.upper)
    moving = sorted((*kinds.free, *kinds.bounded))
    part = check_matrix(Matrix(problem.M).part(moving), seconds_left(deadline, 1.0)) if moving else None
    p: Entry = {"verdict": "yes"} if part is None else part["classes"]["P"]
    verdict, proof, witness, reason = "undecided", None, None, None
    if p["verdict"] == "yes":
        verdict, proof = "unique", "the part of M that is not fixed is a P-matrix"
    elif p["verdict"] == "no" and not kinds.free:
        verdict = "not unique"
        x = (p["witness"] or {}).get("x")
        if x is not None:
            values = dict(zip(moving, x, strict=True))
            witness = {"x": [values.get(i, "0") for i in range(problem.size)]}
    else:
        found = p["reason"] or "the part of M that is not fixed is not P"
        eliminated = f"; free unknowns are eliminated up to {LARGEST} rows" if kinds.free else ""
        reason = f"whether the part that is not fixed is P decides{eliminated}: {found}"
    test = {"verdict": verdict, "proof": proof, "witness": witness, "reason": reason, "tree": None}
    solutions: Entry = dict.fromkeys(("dimension", "reason", "unknowns", "farkas")) | {"count": None, "points": []}
    if verdict == "unique":
        solutions |= {"count": 1, "dimension": 0}
    else:
        solutions |= {"reason": f"solutions are counted up to {LARGEST} rows"}
    unique = {
        "verdict": verdict,
        "bounds": {name: list(getattr(kinds, name)) for name in ("free", "fixed", "bounded")},
        "tests": {"class": test},
        "two_solutions": None,
        "part": part,
    }
    return {"uniqueness": unique, "solutions": solutions}


def in_rationals(problem: FrictionProblem | GlobalFrictionProblem, deadline: float = math.inf) -> RationalFriction:
    """W = H^T M^-1 H of a small global problem without rounding, so that it is semidefinite; otherwise W itself. Raises
    OutOfTimeError."""
    if isinstance(problem, FrictionProblem):
        return rational_friction(problem.dense, problem.q, problem.mu, problem.d)
    n, m = problem.G.shape
    if n + m + problem.size > LARGEST_EXACT:
        return in_rationals(problem.local)
    M, G, H = (matrix.toarray() for matrix in (problem.M, problem.G, problem.H))
    none = np.zeros((m + problem.size, m + problem.size))
    system = np.block([[M, -G, -H], [np.vstack([G.T, H.T]), none]])
    constants = np.concatenate([-problem.f, problem.b, problem.w])
    W, q = reduced_exactly(np.column_stack([system, constants]), n + m, deadline)
    return RationalFriction(W, q, [exact(x) for x in problem.mu], problem.d)


def text_rows(name: str, entry: Entry) -> list[tuple[str, str]]:
    """The entry as labels and texts."""
    facts = entry["facts"]
    what = f"{facts['kind']}, {facts['size']} unknowns"
    if facts.get("contacts") is not None:
        contacts, space = facts["contacts"], "space" if facts["dimension"] == 3 else "the plane"
        what += f", {contacts} contact{'s' * (contacts != 1)} in {space}"
    rows = [("problem", f"{name}: {what}")]
    if "note" in facts:
        rows.append(("note", facts["note"]))
    if "rank" in facts:
        kind = "symmetric" if facts["symmetric"] else f"not symmetric (asymmetry {facts['asymmetry']:.3g})"
        ends = f"{facts['eigenvalue_min']:.6g} to {facts['eigenvalue_max']:.6g}"
        rows.append(
            ("rank", f"{facts['rank']} of {facts['size']} (singular values above {facts['rank_tolerance']:.3g})")
        )
        rows.append(("matrix", f"{kind}; eigenvalues of the symmetric part {ends}"))
    if entry["p_matrix"]:
        p = entry["p_matrix"]
        support = p["proof"] or p["reason"] or f"minor of rows {list(p['index_set'])}"
        rows.append(("P-matrix", f"{p['verdict']}: {support}"))
    posed = entry["problem"] or {}
    count, largest = (posed["islands"][k] for k in ("count", "largest")) if "islands" in posed else (1, 0)
    if count > 1:
        rows.append(("islands", f"{count}, the largest of {largest} contacts; each is checked alone"))
    if "coulomb" in posed:
        rows.append(("for every q", every_q_words(posed["every_q"], facts["contacts"])))
        rows.append(("for this q", coulomb_words(posed["coulomb"])))
    rows += entry_rows(posed)
    if "computed" in posed:
        rows.append(("computed", _computed_words(posed["computed"])))
    if entry["reason"]:
        rows.append(("not judged", entry["reason"]))
    return rows


def _computed_words(found: Entry) -> str:
    """The solution in floating point as text."""
    if not found["verified"]:
        return f"no solution of Coulomb's law was found in floating point: {found['reason'] or found['solver']}"
    return f"a solution of Coulomb's law by {found['solver']}, residual {found['residual']:.1e} in floating point"
