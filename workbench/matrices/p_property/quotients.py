"""P-matrices as quotients M = B C^-1 of two strictly row-dominant matrices with positive diagonals.

Every mixture D B + (I - D) C, D = diag(d) with 0 <= d <= 1, is strictly row-dominant too, hence of positive
determinant, and det M_aa is that of the mixture which takes the rows a from B and the others from C, divided by det C:
M is a P-matrix. C = I is row dominance itself, diagonal C the H+-matrices. Such a C is a feasible point of a linear
programme:

    c_ii - sum_j |c_ij| >= 1,    b_ii - sum_j |b_ij| >= 1,    B = M C,    sums over j != i,

which is separable by the columns of C except for these 2 n rows, and is solved by column generation: for weights
u, v >= 0 of the rows the best column k of C maximises u_k c_k + v_k b_k - sum_{j != k} (u_j |c_j| + v_j |b_j|), b = M
c. The floating-point result is checked exactly (`witness.dominant`).

Sources: Johnson and Tsatsomeros (Linear Multilinear Algebra 38, 1995) for the property; Sznajder and Gowda (Linear
Algebra Appl. 223/224, 1995) for mixtures of rows; Dantzig and Wolfe (Oper. Res. 8, 1960) for the method.
"""

import math
from collections.abc import Iterator

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from workbench.engine.lazy import optimize
from workbench.engine.timing import clock
from workbench.matrices.linear_algebra.rationals import exact
from workbench.matrices.p_property.scaled import Scaled
from workbench.matrices.p_property.witness import PVerdict, dominant

LARGEST = 150
"""Largest order for which the programme is tried: one column takes a tenth of a second there."""
LARGEST_MULTIPLE = 1e7
"""Largest multiple of a generated column."""
DAMPED = 0.1
"""Weight of the former weights in the new ones, which damps jumps."""
ROUNDS = 60
SMALL = 1e-9

Vector = NDArray[np.float64]


def quotients(A: Vector, deadline: float = math.inf) -> Iterator[Vector | None]:
    """Yield None after every linear programme, so that callers can check the clock; at last a C (n, n), if any.

    A (n, n) is finite. C and A C are strictly row-dominant with positive diagonals, up to rounding.
    """
    n = len(A)
    weight = np.ones(2 * n)
    columns: list[Vector] = []
    index: list[int] = []
    for _ in range(ROUNDS):
        before = len(columns)
        for k in range(n):
            c = _column(A, k, weight) if weight[k] + weight[n + k] > SMALL else None
            yield None
            if c is not None:
                columns.append(c / np.abs(np.r_[c, A @ c]).max())
                index.append(k)
        if len(columns) == before:
            return
        dominance = np.array([_dominance(A, c, k) for c, k in zip(columns, index, strict=True)]).T
        p = len(columns)
        # Minimises the total violation of the rows; its multipliers are the weights of the next round.
        master = optimize.linprog(
            np.r_[np.zeros(p), np.ones(2 * n)], np.c_[-dominance, -np.eye(2 * n)], -np.ones(2 * n),
            bounds=[(0, LARGEST_MULTIPLE)] * p + [(0, None)] * (2 * n),
            options={"time_limit": max(0.0, deadline - clock())},
        )  # fmt: skip
        yield None
        if master.x is None:
            return
        if master.fun < SMALL:
            C = np.zeros((n, n))
            for c, k, multiple in zip(columns, index, master.x[:p], strict=True):
                C[:, k] += multiple * c
            yield C
            return
        weight = DAMPED * weight - (1 - DAMPED) * master.ineqlin.marginals


def _dominance(A: Vector, c: Vector, k: int) -> Vector:
    """Contribution of column k to the dominance of the rows of C, and of A C: its diagonal entry, minus the others."""
    both = np.r_[c, A @ c]
    own = [k, len(c) + k]
    result = -np.abs(both)
    result[own] = both[own]
    return result


def _column(A: Vector, k: int, weight: Vector) -> Vector | None:
    """The best column k for the weights, unless it costs more than it contributes."""
    n = len(A)
    u, v = weight[:n], weight[n:]
    # Positive and negative parts of c, then of b = A c; the contribution is scaled to one.
    cost, gain = np.r_[u, u, v, v], np.zeros(4 * n)
    cost[[k, n + k, 2 * n + k, 3 * n + k]] = 0.0
    gain[[k, n + k, 2 * n + k, 3 * n + k]] = u[k], -u[k], v[k], -v[k]
    rows = np.r_[np.c_[A, -A, -np.eye(n), np.eye(n)], gain[None]]
    # The rows are dense: presolving takes time and finds nothing.
    found = optimize.linprog(
        cost, A_eq=rows, b_eq=np.r_[np.zeros(n), 1.0], method="highs-ds", options={"presolve": False}
    )
    if found.x is None or not found.fun < 1.0 - SMALL:
        return None
    return found.x[:n] - found.x[n : 2 * n]


class Quotients:
    """The search for C, for M and then for its transpose, in small steps."""

    def __init__(self, M: fmpq_mat, scaled: Scaled, deadline: float = math.inf) -> None:
        self.verdicts = _verdicts(M, scaled, deadline) if len(scaled.A) <= LARGEST else iter(())

    def go(self, until: float) -> PVerdict | None:
        """Search until the time is up, C is confirmed, or it is known that there is none."""
        for verdict in self.verdicts:
            if verdict or clock() > until:
                return verdict
        return None


def _verdicts(M: fmpq_mat, scaled: Scaled, deadline: float) -> Iterator[PVerdict | None]:
    """Yield None for every step without a verdict."""
    # A = R M T: row scaling by R preserves dominance, and C is T times the C found for A.
    for N, A, t in ((M, scaled.A, scaled.t), (M.transpose(), scaled.A.T, scaled.r)):
        for C in quotients(A, deadline):
            if C is None:
                yield None
                continue
            rows = [[s * exact(x) for x in row] for s, row in zip(t, C, strict=True)]
            tree = ("quotient", rows)
            if not (dominant(fmpq_mat(rows)) and dominant(N * fmpq_mat(rows))):
                yield None
            elif N is M:
                yield PVerdict("P", "M = B C^-1 with strictly row-dominant B and C", tree=tree)
            else:
                yield PVerdict("P", "M^T = B C^-1 with strictly row-dominant B and C", tree=("transpose", tree))
