"""Facts about a problem before solving it: sizes, rank, hardness, symmetry, definiteness."""

import math
from typing import Any

import numpy as np

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock
from workbench.matrices.linear_algebra.in_time import EIGENVALUES, SINGULAR_VALUES, product_seconds
from workbench.problems.classes import MLCP, Array, is_psd, is_symmetric
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.problems.rank import rank
from workbench.support.errors import DataError


def problem_facts(
    problem: MLCP | FrictionProblem | GlobalFrictionProblem, deadline: float = math.inf
) -> dict[str, Any]:
    """Facts of a problem by name, JSON-ready; None where one does not apply or is not available. Facts of the matrix
    are omitted where they would take beyond the deadline.

    hardness      (1 + d) n_c / n, contact rows over velocities (3 n_c / n in space); known of global problems only
    rank_share    rank W / (1 + d) n_c, below 1 where contacts are redundant (hyperstatic)
    condition     condition number on the range
    asymmetry     |W - W^T| / |W| in the Frobenius norm
    eigenvalues   smallest and largest of the symmetric part

    Definitions: formulary, section 7.
    """
    if isinstance(problem, MLCP):
        free = int((np.isinf(problem.lower) & np.isinf(problem.upper)).sum())
        return {"kind": problem.kind, "size": problem.size, "equations": free} | _in_time(problem.M, deadline)
    facts: dict[str, Any] = {
        "kind": problem.kind, "size": problem.size, "contacts": problem.contacts, "dimension": 1 + problem.d,
        "mu_min": float(problem.mu.min()) if problem.contacts else None,
        "mu_max": float(problem.mu.max()) if problem.contacts else None,
        "velocities": None, "bilateral": None, "hardness": None,
    }  # fmt: skip
    if isinstance(problem, GlobalFrictionProblem):
        n, m = problem.G.shape
        facts |= {"velocities": n, "bilateral": m, "hardness": problem.size / n}
    try:
        local = problem.local if isinstance(problem, GlobalFrictionProblem) else problem
        return facts | {"entries": int(local.W.nnz)} | _in_time(local.dense, deadline)
    except DataError as error:
        return facts | {"note": str(error)}


def _in_time(W: Array, deadline: float) -> dict[str, Any]:
    try:
        check_clock(deadline, (SINGULAR_VALUES + 2 * EIGENVALUES) * product_seconds(len(W)))
    except OutOfTimeError:
        return {"note": f"{OUT_OF_TIME} before rank and eigenvalues were computed"}
    return matrix_facts(W)


def matrix_facts(W: Array) -> dict[str, Any]:
    """Rank, condition, asymmetry and definiteness of a square matrix (n, n); verdicts up to rounding."""
    found, size = rank(W), np.linalg.norm(W)
    eigenvalues = np.linalg.eigvalsh(0.5 * (W + W.T))
    return {
        "rank": found.value, "rank_share": found.value / W.shape[0], "rank_tolerance": found.tolerance,
        "rank_gap": None if found.gap is None or np.isinf(found.gap) else found.gap, "condition": found.condition,
        "asymmetry": float(np.linalg.norm(W - W.T) / size) if size > 0 else 0.0, "symmetric": is_symmetric(W),
        "eigenvalue_min": float(eigenvalues[0]), "eigenvalue_max": float(eigenvalues[-1]), "psd": is_psd(W),
    }  # fmt: skip
