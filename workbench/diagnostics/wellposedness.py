"""Classes, solution set and solvers of one LCP as JSON-ready entries of a check, and their meaning in plain text.

Exact numbers are strings "p/q", indices count from zero, null means undefined, infinite or not given.
"""

import math
from typing import Any

from flint import fmpq, fmpq_mat

from workbench.algorithms import OF_LCPS, find_solver
from workbench.algorithms.enumeration import LARGEST as ENUMERATED
from workbench.engine.timing import OUT_OF_TIME, clock
from workbench.matrices.classes.matrix_classes import ClassVerdict
from workbench.matrices.linear_algebra.rationals import as_text, dot
from workbench.matrices.solutions.solution_set import Piece, SolutionSet, solution_set
from workbench.problems.classes import LCP
from workbench.problems.solution import Status
from workbench.readers.matrix import Matrix

LARGEST = 64
"""Largest number of unknowns for which the exact solution set is computed."""
LARGEST_SOLVED = 128
"""Largest number of unknowns for which the bundled solvers are tried."""

Entry = dict[str, Any]


def class_entries(classes: dict[str, ClassVerdict]) -> Entry:
    """Verdict of each class with proof, witness or reason, null where there is none."""
    return {name: vars(verdict) for name, verdict in classes.items()}


def solutions_entry(M: fmpq_mat, q: list[fmpq], deadline: float, is_p: bool) -> Entry:
    """The solution set: count, isolated points, dimension, and all maximal pieces in `faces`."""
    if M.nrows() > LARGEST:
        found = SolutionSet(None, [], f"the order {M.nrows()} exceeds {LARGEST}")
    else:
        found = solution_set(M, q, deadline, unique=is_p)
    return {
        "count": found.count,
        "points": [as_text(list(point)) for point in found.points],
        "dimension": found.dimension,
        "faces": [_face(piece) for piece in found.pieces],
        "reason": found.reason,
    }


def _face(piece: Piece) -> Entry:
    return {
        "dimension": piece.dimension,
        "support": list(piece.support),
        "vertices": [as_text(list(v)) for v in piece.vertices],
        "rays": [as_text(list(v)) for v in piece.rays],
    }


def homogeneous_entry(M: fmpq_mat, q: list[fmpq], deadline: float) -> Entry | None:
    """The rays of SOL(0, M) and the smallest q^T v over them (rays with entries that add up to one).

    For copositive M, q^T v >= 0 on all of SOL(0, M) guarantees that Lemke's method ends at a solution (CPS section
    4.4). None if the rays were not found in time.
    """
    if M.nrows() > LARGEST:
        return None
    found = solution_set(M, [fmpq(0)] * M.nrows(), deadline)
    if found.reason:
        return None
    rays = sorted({ray for piece in found.pieces for ray in piece.rays})
    products = [dot(q, ray) for ray in rays]
    return {"rays": [as_text(list(ray)) for ray in rays], "least_q_v": str(min(products)) if rays else None}


def solver_entries(M: Matrix, q: Matrix, deadline: float) -> list[Entry]:
    """Results of each bundled LCP solver on this problem: its own claim, and whether the residual confirms it."""
    problem = LCP(M.values, q.values.ravel())
    return [_solver_entry(x, problem, deadline) for x in OF_LCPS]


def _solver_entry(name: str, problem: LCP, deadline: float) -> Entry:
    # A compiled kernel cannot be interrupted: one that may take seconds is not started.
    if problem.size > LARGEST_SOLVED or clock() > deadline:
        large = f"order {problem.size} exceeds {LARGEST_SOLVED}, beyond which a solver might not end in time"
        reason = large if problem.size > LARGEST_SOLVED else OUT_OF_TIME
        nothing = dict.fromkeys(("residual", "tolerance", "iterations", "z", "moved"))
        return {"name": name, "claimed": "not run", "verified": False, **nothing, "elsewhere": False, "reason": reason}
    solution = find_solver(name).solve(problem)
    return {
        "name": name,
        "claimed": Status(solution.claimed).name.lower().replace("_", " "),
        "verified": solution.verified,
        "residual": solution.residual if math.isfinite(solution.residual) else None,
        "tolerance": solution.tolerance,
        "iterations": solution.iterations,
        "z": solution.z.tolist() if solution.verified else None,
        "moved": None,
        "elsewhere": False,
        "reason": solution.reason or None,
    }


def in_words(result: Entry) -> str:
    """Existence, uniqueness, and the methods that are guaranteed to work, as text, from the entries of a check."""
    sentences = [_existence(result["classes"])]
    if result["solutions"] is not None:
        sentences += [_this_q(result), _how_robust(result)]
    sentences.append(_methods(result))
    return " ".join(sentence for sentence in sentences if sentence)


def _existence(classes: Entry) -> str:
    verdict = {name: entry["verdict"] for name, entry in classes.items()}
    if verdict["P"] == "yes":
        return ""
    if verdict["Q"] == "yes":
        return "A solution exists for every q."
    if verdict["Q0"] == "yes":
        return "A solution exists whenever the inequalities z >= 0, M z + q >= 0 have one."
    if verdict["Q0"] == "no":
        return "For some q the inequalities z >= 0, M z + q >= 0 have a solution and the LCP has none."
    if verdict["Q"] == "no":
        return "For some q there is no solution."
    return "Whether a solution exists for every q is undecided."


def _this_q(result: Entry) -> str:
    solutions = result["solutions"]
    count, dimension = solutions["count"], solutions["dimension"]
    if count is None:
        at_least = len(solutions["points"])
        return f"For this q the solutions were not counted ({solutions['reason']}; {at_least} found)."
    if count == "infinite":
        isolated = len(solutions["points"])
        more = f" and {isolated} isolated one{'s' if isolated > 1 else ''}" if isolated else ""
        return f"For this q there are infinitely many solutions, a set of dimension {dimension}{more}."
    if count == 1:
        return "For this q there is exactly one solution."
    return f"For this q there are exactly {count} solutions." if count else "For this q there is no solution."


def _how_robust(result: Entry) -> str:
    margin = result["margin"]
    if margin is None or margin["distance"] is None:
        return ""
    least, most = margin["distance"]
    change = f"the number of solutions changes from {margin['here']} to {margin['beyond']}"
    if most == 0:
        return f"This q lies on a boundary, where {change}: any change of q, however small, decides."
    if margin["fragile"]:
        return (
            f"This depends on rounding: {most:.2g} away from q {change}, and half a unit in the last place of q and M "
            f"moves q by up to {margin['rounding']:.2g}."
        )
    away = f"{most:.3g}" if least > 0.999 * most else f"between {least:.3g} and {most:.3g}"
    return f"The nearest q at which {change} is {away} away (Euclidean)."


def _methods(result: Entry) -> str:
    """Theoretical guarantees of the bundled solvers in exact arithmetic, and the results of the guaranteed ones."""
    methods = guaranteed(result)
    if not methods:
        return "No bundled method is guaranteed to succeed here; an answer counts if its residual is verified."
    promise = f"In exact arithmetic, theory guarantees that these methods succeed here: {', '.join(methods)}."
    entries = {entry["name"]: entry for entry in result["solvers"]}
    run = [name for name in methods if name in entries and entries[name]["claimed"] != "not run"]
    verified = [name for name in run if entries[name]["verified"]]
    failed = [name for name in run if name not in verified]
    if not run:
        return promise
    if not failed:
        return f"{promise} Verified in floating point: {'all' if len(run) == len(methods) else ', '.join(run)}."
    return f"{promise} Verified in floating point: {', '.join(verified) or 'none'}; not verified: {', '.join(failed)}."


def guaranteed(result: Entry) -> list[str]:
    """The bundled solvers that are guaranteed to succeed, for this q or, if none is given, for every feasible q."""
    yes = {name for name, entry in result["classes"].items() if entry["verdict"] == "yes"}
    solutions, n, symmetric = result["solutions"], result["n"], result["exactly_symmetric"]
    solvable = solutions is None or solutions["count"] != 0
    rays = result["homogeneous"]
    methods = []
    # Lemke's method: CPS sections 4.4 and 3.9; P0 and Q0 after Aganagic and Cottle (Math. Program. 37, 1987).
    if (
        yes & {"P", "E"}
        or {"E0", "R0"} <= yes
        or (solvable and (yes & {"copositive_plus", "Z"} or {"P0", "Q0"} <= yes))
        or ("copositive" in yes and rays is not None and (rays["least_q_v"] is None or fmpq(rays["least_q_v"]) >= 0))
    ):
        methods.append("lemke")
    if "P" in yes:
        methods += ["murty", "judice-pires"]
    # By the pivots of judice-pires; or by convergence (Rockafellar 1976).
    if "P" in yes or ("PSD" in yes and solvable):
        methods.append("proximal")
    if symmetric and "PSD" in yes and solvable:
        methods += ["keller", "clarabel"]
    if (symmetric and "PD" in yes) or "H_plus" in yes:
        methods.append("pgs")
    # On a regular basis there is a solution if all principal minors are nonzero.
    if "nondegenerate" in yes and solvable and n <= ENUMERATED:
        methods.append("enumerate")
    return methods
