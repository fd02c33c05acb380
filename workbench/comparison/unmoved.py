"""Contacts whose velocity no impulse changes, since their rows of W are zero: one of them may rule out every solution.

A normal velocity that stays negative breaks non-penetration, and in a cone complementarity problem a velocity that
stays outside the dual cone, u_n < mu |u_t|, does the same. Solvers would iterate until their limit on either.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.problems.classes import is_sparse
from workbench.problems.friction_problem import FrictionProblem


def refutation(problem: FrictionProblem, law: str) -> str:
    """The proof that a problem has no solution under "coulomb" or "ccp"; "" where no single contact gives one."""
    r, d = problem.contacts, problem.d
    still = _zero_rows(problem)
    q_n, q_t = problem.q[:r], problem.q[r:].reshape(r, d)
    i = int(np.argmin(np.where(still[:r], q_n, np.inf)))
    if still[i] and q_n[i] < 0:
        return f"no solution: row {i} of W is zero, so that contact {i} keeps its normal velocity {q_n[i]:g} < 0"
    if law != "ccp":
        return ""
    whole = still[:r] & still[r:].reshape(r, d).all(axis=1)
    with np.errstate(over="ignore"):
        i = int(np.argmin(np.where(whole, q_n - problem.mu * np.linalg.norm(q_t, axis=1), np.inf)))
    squares = sum(Fraction(x) ** 2 for x in q_t[i].tolist())
    if whole[i] and Fraction(float(q_n[i])) ** 2 < Fraction(float(problem.mu[i])) ** 2 * squares:
        return f"no solution: the rows of contact {i} in W are zero, so that it keeps its velocity, with u_n < mu |u_t|"
    return ""


def _zero_rows(problem: FrictionProblem) -> NDArray[np.bool_]:
    """(n,) which rows of W have no entry but zero."""
    W = problem.W
    if not is_sparse(W):
        return ~(W != 0).any(axis=1)
    entries = W.tocoo()
    return np.bincount(entries.row[entries.data != 0], minlength=problem.size) == 0
