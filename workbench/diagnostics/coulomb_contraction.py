"""Uniqueness of solutions of Coulomb's law for every q, with any number of contacts: an exact sufficient condition.

For a positive definite S = (W + W^T)/2, with D = diag(mu) on the tangential rows W_t of W:

    lambda_max((S^-1)_nn) lambda < 1,    lambda S - W_t^T D^2 W_t positive semidefinite

(our own result; for symmetric W the smallest such lambda is lambda_max(D W_tt D)). For given s_i = mu_i |u_t,i|,
Coulomb's law is the cone problem of q + s n, whose solution p is unique, and monotone: dp . S dp <= -ds . dp_n, which
is at most |ds| (lambda_max((S^-1)_nn) dp . S dp)^1/2. The resulting s changes by at most |D du_t|, and this by at most
(lambda dp . S dp)^1/2, so that s is the fixed point of a contraction. (For one contact
`algorithms.one_contact.has_one_answer` tests this in floating point.) The eigenvalues are bounded by rationals, with
which the differences are proved positive semidefinite.
"""

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.definiteness import signs_of_form
from workbench.matrices.linear_algebra.in_time import solution
from workbench.matrices.linear_algebra.rationals import doubles, exact, identity, submatrix
from workbench.matrices.solutions.friction_cones import RationalFriction

LARGEST = 90
"""Largest number of rows of W for which it is inverted in rationals."""
ROOM = 1e-9
"""Relative excess of the bounds over the computed eigenvalues."""


def contracts(friction: RationalFriction, deadline: float) -> tuple[fmpq, fmpq] | None:
    """Upper bounds of both eigenvalues, whose product bounds the square of the contraction factor; None where that is
    not proved to be below one, or W is not positive definite or has more rows than `LARGEST`. Raises OutOfTimeError."""
    n, r = len(friction.q), len(friction.mu)
    if n > LARGEST:
        return None
    friction.decide(deadline)
    if not friction.psd:
        return None
    try:
        inverse = solution(friction.S, submatrix(identity(n), range(n), range(r)), deadline)
    except ZeroDivisionError:
        return None
    normal = submatrix(inverse, range(r))
    slips = [[friction.mu[i // friction.d] * friction.W[r + i, j] for j in range(n)] for i in range(n - r)]
    tangential = fmpq_mat(slips).transpose() * fmpq_mat(slips)
    first = _above(normal, identity(r), deadline)
    second = None if first is None else _above(tangential, friction.S, deadline)
    return (first, second) if first is not None and second is not None and first * second < 1 else None


def _above(A: fmpq_mat, B: fmpq_mat, deadline: float) -> fmpq | None:
    """A rational k for which k B - A is positive semidefinite, close to the smallest one."""
    check_clock(deadline)
    try:
        factor = np.linalg.cholesky(doubles(B))
        half = np.linalg.solve(factor, doubles(A))
        largest = float(np.linalg.eigvalsh(np.linalg.solve(factor, half.T))[-1])
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(largest):
        return None
    bound = exact(largest * (1 + ROOM))
    return bound if signs_of_form(bound * B - A, deadline).negative is None else None
