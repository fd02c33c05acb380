"""One step as blocks of few unknowns each, a contact, a joint's dry friction or a bilateral row, over sparse bodies.

    M v+ = b + J^T P,     u = J v+
    P_i = R_i x_i + s_i,     F_i = L_i u_i + N_i x_i + c_i,     F_i complementary to x_i in its set

for every block i, with its rows u_i, P_i (m_i,) of J and its unknowns x_i, F_i (k_i,). Sets are products of intervals
[lower, upper], free unknowns among them (F = 0 there), or one friction cone. Every formulation that is local to its
contacts is of this form (`assemble.local`); with W = J M^-1 J^T it is F = (L W R + N) x + L (J M^-1 b + W s) + c.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array

NO_CONE, COULOMB, ASSOCIATED = 0, 1, 2
"""What a block's set is: intervals; the friction cone under Coulomb's law; the friction cone with associated flow."""


@dataclass(frozen=True, eq=False)
class ContactBlocks:
    """B blocks over n velocities, in R rows of J and X unknowns; matrices of blocks are stored row by row, flat.

    M (n, n) sparse SPD, b (n,), J (R, n) sparse; row, unknown (B + 1,): block i has the rows row[i]:row[i + 1] and the
    unknowns unknown[i]:unknown[i + 1]; L, N, R flat, k_i m_i, k_i k_i and m_i k_i numbers for block i; c, lower, upper
    (X,), s (R,); cone (B,) one of NO_CONE, COULOMB, ASSOCIATED, mu (B,) its friction coefficient, 0 without a cone. A
    block with a cone has k_i = m_i and x_i = P_i = [p_n, p_t], u_i = [u_n, u_t].
    """

    M: Any
    b: Array
    J: Any
    row: NDArray[np.int64]
    unknown: NDArray[np.int64]
    L: Array
    N: Array
    R: Array
    c: Array
    s: Array
    lower: Array
    upper: Array
    cone: NDArray[np.int64]
    mu: Array
    kind = "contact blocks"

    @property
    def size(self) -> int:
        return self.c.size

    @cached_property
    def starts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the numbers of every block begin (B + 1,) in L and in R, which have as many, and in N."""
        m, k = np.diff(self.row), np.diff(self.unknown)
        return np.append(0, np.cumsum(k * m)), np.append(0, np.cumsum(k * k))
