"""Sliding contacts in exact numbers: the problem of accelerations as a pair of matrices with complementary columns.

Contact j, bilateral ones first, adds to the normal accelerations the column A_n,j - mu_j xi_j A_t,j for each newton of
lambda+_j (or lambda_nu,j), and -(A_n,j + mu_j xi_j A_t,j) for each newton of lambda-_j. With the slacks
s = (lambda+, u), u the unilateral accelerations, and y = (lambda-, lambda_nu) eq. (1) of hal-01224915 reads

    P s = Q y - w,    0 <= s perp y >= 0,    w = J_n M^-1 f + w_n

    P_j = A_n,j - mu_j xi_j A_t,j (bilateral), -e_j (unilateral)
    Q_j = A_n,j + mu_j xi_j A_t,j (bilateral), -(A_n,j - mu_j xi_j A_t,j) (unilateral)

so that M_mu = P^-1 Q. The minor of M_mu on an index set a is det C_a / det P, where C_a has the columns of Q on a
and of P elsewhere (Cramer): M_mu is a P-matrix iff all 2^m determinants have one sign and none is zero (the column
W-property of Sznajder and Gowda, Linear Algebra Appl. 223, 1995). This does not need a regular A, and only column j
depends on mu_j.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from workbench.mechanics.contact import Array
from workbench.step.sliding.system import SlidingSystem
from workbench.support.arrays import index_sets
from workbench.support.errors import DataError

BITS = 160
"""Working precision of balls: their own rounding is far below any tolerance in use."""


@dataclass(frozen=True, eq=False)
class MatrixPair:
    """P, Q (m, m) and w (m, 1), rationals (fmpq_mat) or balls (arb_mat)."""

    P: Any
    Q: Any
    w: Any

    def columns(self, a: Sequence[int]) -> Any:
        """C_a: the columns of Q on a, of P elsewhere."""
        m = self.P.nrows()
        return type(self.P)(m, m, [(self.Q if j in a else self.P)[i, j] for i in range(m) for j in range(m)])


@dataclass(frozen=True, eq=False)
class ExactSliding:
    """M (n, n), f (n, 1), J_n, J_t (m, n), w_n (m, 1) as fmpq_mat or arb_mat, m_b bilateral contacts first; mu and xi
    of every contact."""

    M: Any
    f: Any
    J_n: Any
    J_t: Any
    w_n: Any
    mu: tuple[Any, ...]
    xi: tuple[int, ...]
    m_b: int

    @property
    def m(self) -> int:
        return len(self.mu)

    @cached_property
    def inverse(self) -> tuple[Any, Any, Any]:
        """A_n = J_n M^-1 J_n^T, A_t = J_n M^-1 J_t^T (m, m) and w (m, 1)."""
        lever = self.J_n * self.M.inv()
        return lever * self.J_n.transpose(), lever * self.J_t.transpose(), lever * self.f + self.w_n

    def pair(self, mu: Sequence[Any] | None = None) -> MatrixPair:
        """The pair for the friction coefficients mu (m,), by default its own."""
        A_n, A_t, w = self.inverse
        mu, m, b = self.mu if mu is None else mu, self.m, self.m_b
        c = [x * sign for x, sign in zip(mu, self.xi, strict=True)]
        P, Q = ([[A_n[i, j] + side * c[j] * A_t[i, j] for j in range(m)] for i in range(m)] for side in (-1, 1))
        for i in range(m):
            for j in range(b, m):
                Q[i][j], P[i][j] = -P[i][j], type(P[i][j])(-1 if i == j else 0)
        kind = type(self.M)
        return MatrixPair(kind(P), kind(Q), w)


def as_rational(x: Fraction | float | int) -> fmpq:
    """Convert a number exactly to a rational; a double is a rational."""
    return fmpq(*x.as_integer_ratio())


def exact_rows(
    M: Sequence, f: Sequence, J_n: Sequence, J_t: Sequence, mu: Sequence, xi: Sequence[int], m_b: int,
    w_n: Sequence | None = None,
) -> ExactSliding:  # fmt: skip
    """Build from nested lists of Fractions, integers or doubles, in units in which all of them are rational."""

    def matrix(rows: Sequence) -> fmpq_mat:
        return fmpq_mat([[as_rational(x) for x in row] for row in rows])

    bias = [[x] for x in (w_n if w_n is not None else [0] * len(mu))]
    friction = tuple(as_rational(x) for x in mu)
    return ExactSliding(
        matrix(M), matrix([[x] for x in f]), matrix(J_n), matrix(J_t), matrix(bias), friction, tuple(xi), m_b
    )


def as_doubles(system: SlidingSystem) -> ExactSliding:
    """The system's doubles as exact numbers."""
    J_n, J_t, mu, xi, w = _stacked(system)
    signs = [int(x) for x in xi]
    M, f = system.M.tolist(), system.f.tolist()
    return exact_rows(M, f, J_n.tolist(), J_t.tolist(), mu.tolist(), signs, system.m_b, w.tolist())


def as_balls(system: SlidingSystem, tolerance: float) -> ExactSliding:
    """The system's data with an uncertainty: all data with a relative error of at most `tolerance`.

    It is relative to a scale that is independent of units and cancellation: M_ij to sqrt(M_ii M_jj); a nonzero entry of
    a Jacobian row J to sqrt(M_jj J M^-1 J^T); f_i to sqrt(M_ii f^T M^-1 f); w_n to itself and the effect of f on that
    row; mu to itself. Zeros of M and of the Jacobians are structural and remain zero. Use within `ball_arithmetic`.
    """
    J_n, J_t, mu, xi, w = _stacked(system)
    root, inverse = np.sqrt(np.diag(system.M)), np.linalg.inv(system.M)
    push = np.sqrt(system.f @ inverse @ system.f)

    def sizes(J: Array) -> Array:
        return np.sqrt(np.einsum("ij,jk,ik->i", J, inverse, J))

    def balls(x: Array, scale: Array) -> list[list[arb]]:
        return [
            [arb(float(a), tolerance * float(s)) for a, s in zip(*rows, strict=True)]
            for rows in zip(x, scale, strict=True)
        ]

    structure = [np.where(x != 0, np.outer(size, root), 0) for x, size in ((J_n, sizes(J_n)), (J_t, sizes(J_t)))]
    friction = tuple(arb(float(x), tolerance * float(x)) for x in mu)
    bias = (np.abs(w) + push * sizes(J_n))[:, None]
    return ExactSliding(
        arb_mat(balls(system.M, np.where(system.M != 0, np.outer(root, root), 0))),
        arb_mat(balls(system.f[:, None], push * root[:, None])),
        arb_mat(balls(J_n, structure[0])), arb_mat(balls(J_t, structure[1])), arb_mat(balls(w[:, None], bias)),
        friction, tuple(int(x) for x in xi), system.m_b,
    )  # fmt: skip


def ball_arithmetic() -> Any:
    """Context in which balls are computed with `BITS` bits."""
    return ctx.workprec(BITS)


def _stacked(system: SlidingSystem) -> tuple[Array, Array, Array, Array, Array]:
    """J_n, J_t, mu, xi, w_n of all contacts, bilateral ones first."""
    n = len(system.M)
    J_n, J_t = (
        np.vstack([b.reshape(-1, n), u.reshape(-1, n)])
        for b, u in ((system.J_nb, system.J_nu), (system.J_tb, system.J_tu))
    )
    s = system
    return J_n, J_t, np.append(s.mu_b, s.mu_u), np.append(s.xi_b, s.xi_u), np.append(s.w_nb, s.w_nu)


def regular_base(pair: MatrixPair) -> tuple[int, ...]:
    """The first index set a, by size, with det C_a != 0 (rationals); DataError where all are singular."""
    m = pair.P.nrows()
    for a in index_sets(range(m)):
        if pair.columns(a).det() != 0:
            return a
    raise DataError(f"all 2^{m} bases of the sliding problem are singular: the contacts are redundant")
