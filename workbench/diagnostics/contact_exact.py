"""Closed contacts at one instant in exact numbers: the accelerations of their rows as a function of their forces.

    a = W lambda + w,    W = J (M^-1 - M^-1 J_b^T (J_b M^-1 J_b^T)^-1 J_b M^-1) J^T

with the rows grouped by contact, the normal row before the d tangential ones; bilateral constraints are eliminated.
Doubles are taken as exact numbers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from workbench.matrices.linear_algebra.rationals import doubles, nearest_double
from workbench.mechanics.contact import Array
from workbench.step.sliding.exact import as_rational
from workbench.step.sliding.state import ClosedContacts
from workbench.support.errors import DataError


@dataclass(frozen=True, eq=False)
class ExactContacts:
    """W ((1 + d) r, (1 + d) r) [1/kg], w and u ((1 + d) r, 1) [m/s2, m/s], fmpq_mat or arb_mat; mu of r contacts.

    u are the velocities of the rows, zero for every normal row.
    """

    W: Any
    w: Any
    u: Any
    mu: tuple[Any, ...]
    d: int

    @property
    def r(self) -> int:
        return len(self.mu)

    def normal(self, i: int) -> int:
        """The normal row of contact i."""
        return i * (1 + self.d)

    def doubles(self) -> tuple[Array, Array]:
        """W_nn (r, r) and W_nt (r, r, d) to the nearest doubles."""
        n = 1 + self.d
        W = doubles(self.W).reshape(self.r, n, self.r, n)
        return W[:, 0, :, 0], W[:, 0, :, 1:]


def exact_contacts(c: ClosedContacts) -> ExactContacts:
    """The contacts in rational numbers. Raises DataError where the bilateral constraints are dependent."""
    n, m, (r, d) = len(c.M), len(c.J_b), c.u_t.shape
    J = np.concatenate([c.J_n[:, None, :], c.J_t], axis=1).reshape(-1, n)
    bias = np.concatenate([c.w_n[:, None], c.w_t], axis=1).ravel()
    K = _rationals(np.block([[c.M, c.J_b.T], [c.J_b, np.zeros((m, m))]]))
    rows = _rationals(np.hstack([J, np.zeros((len(J), m))]))
    try:
        held = K.solve(rows.transpose())
    except ZeroDivisionError:
        raise DataError("bilateral rows are dependent; independent constraints are needed") from None
    load = _rationals(np.concatenate([c.f, -c.w_b])[:, None])
    w = held.transpose() * load + _rationals(bias[:, None])
    u = np.concatenate([np.zeros((r, 1)), c.u_t], axis=1).reshape(-1, 1)
    return ExactContacts(rows * held, w, _rationals(u), tuple(map(as_rational, c.mu.tolist())), d)


def with_uncertainty(e: ExactContacts, tolerance: float) -> ExactContacts:
    """Balls around the numbers that contain all contacts with data within `tolerance` of these.

    The tolerance of W_ij is relative to sqrt(W_ii W_jj), that of w_i and u_i to the largest entry of the same kind of
    row, that of mu to itself; zeros remain zero.
    """
    size = [abs(nearest_double(e.W[i, i])) ** 0.5 for i in range(e.W.nrows())]

    def ball(x: fmpq, scale: float) -> arb:
        return arb(x) if x == 0 else arb(x) + arb(0, tolerance * max(scale, abs(nearest_double(x))))

    def column(x: Any) -> Any:
        values = [nearest_double(x[i, 0]) for i in range(len(size))]
        over = max((abs(v) / s for v, s in zip(values, size, strict=True) if s), default=0.0)
        return arb_mat([[ball(x[i, 0], over * s)] for i, s in enumerate(size)])

    W = arb_mat([[ball(e.W[i, j], a * b) for j, b in enumerate(size)] for i, a in enumerate(size)])
    return ExactContacts(W, column(e.w), column(e.u), tuple(ball(x, 0.0) for x in e.mu), e.d)


def _rationals(x: Array) -> fmpq_mat:
    return fmpq_mat([[as_rational(v) for v in row] for row in x.tolist()]) if x.size else fmpq_mat(*x.shape)
