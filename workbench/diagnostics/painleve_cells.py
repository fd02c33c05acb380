"""Many states of sliding contacts at once, in floating point: the cells of a map of regimes."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.diagnostics.proposition import betas_2, bilateral_limits
from workbench.diagnostics.sliding_regime import INCONSISTENT, INDETERMINATE, LIFT_OFF, REGIMES, SLIDING
from workbench.mechanics.contact import Array
from workbench.step.sliding.system import SlidingStack, SlidingSystem
from workbench.support.arrays import index_sets

TOLERANCE = 1e-9
"""Relative size below which a determinant or an unknown counts as zero, so that the cell is undecided."""
UNDECIDED = len(REGIMES)
"""Number of the regime of undecided cells; the others are numbered as in `REGIMES`."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Verdicts for each cell: number of the `regime`; number of solutions (`answers`, -1 if unknown); whether M_mu is a
    P-matrix and whether Proposition 1 proves it. P is not claimed if the regime is undecided."""

    regime: NDArray[np.int64]
    answers: NDArray[np.int64]
    p_matrix: NDArray[np.bool_]
    proposition_1: NDArray[np.bool_]

    @classmethod
    def filled(cls, shape: tuple[int, int], regime: int) -> "Cells":
        """Return cells of one regime without further verdicts."""
        return cls(np.full(shape, regime), np.full(shape, -1), np.zeros(shape, bool), np.zeros(shape, bool))

    def write(self, places: NDArray[np.int64], part: "Cells") -> None:
        """Write these cells at these places, counted row by row."""
        for f in fields(self):
            getattr(self, f.name).flat[places] = getattr(part, f.name)


class Stack(NamedTuple):
    """A_n, A_t (N, m, m), w, mu, xi (N, m) of N systems with unscaled rows, and m_b."""

    A_n: Array
    A_t: Array
    w: Array
    mu: Array
    xi: Array
    m_b: int

    @classmethod
    def of(cls, systems: list[SlidingSystem]) -> "Stack":
        s = SlidingStack.of(systems)
        a, b = s.inverse, s.blocks
        A_n, A_t = (
            np.concatenate([np.concatenate(upper, axis=-1), np.concatenate(lower, axis=-1)], axis=-2)
            for upper, lower in (((a.nb, a.nbnu), (a.nunb, a.nu)), ((a.tb, a.nbtu), (a.nutb, a.tu)))
        )
        w, mu, xi = (np.concatenate(x, axis=-1) for x in ((b.w1, b.w2), (s.mu_b, s.mu_u), (s.xi_b, s.xi_u)))
        return cls(A_n, A_t, w, mu, xi, systems[0].m_b)

    def balanced(self) -> "Stack":
        """Scale rows to unit effective mass, and w to a largest entry of one."""
        d = 1 / np.sqrt(np.einsum("kii->ki", self.A_n))
        both = d[:, :, None] * d[:, None, :]
        w = d * self.w
        largest = np.abs(w).max(axis=1, keepdims=True)
        return self._replace(A_n=both * self.A_n, A_t=both * self.A_t, w=w / np.where(largest > 0, largest, 1.0))


def cells_of(stack: Stack, index: NDArray[np.int64], mu: Array) -> Cells:
    """Compute every cell (K,): system `index` (K,) of the stack with the coefficients mu (K, m)."""
    even = stack.balanced()
    c = mu * stack.xi[index]
    P, Q = _pair(even, index, c)
    # Sizes of the terms of a column, before friction may cancel them; the slacks' columns are unit vectors.
    size = np.linalg.norm(np.abs(even.A_n[index]) + np.abs(even.A_t[index] * c[:, None, :]), axis=1)
    slack_size = np.where(np.arange(c.shape[1]) < even.m_b, size, 1.0)
    count, doubt, sign = np.zeros(len(index), dtype=int), np.zeros(len(index), dtype=bool), []
    opens = np.zeros(len(index), dtype=bool)
    for a in index_sets(range(mu.shape[1])):
        C = P.copy()
        C[:, :, list(a)] = Q[:, :, list(a)]
        scale = np.where(np.isin(np.arange(c.shape[1]), a), size, slack_size)
        det = np.linalg.det(C / scale[:, None, :])
        flat = np.abs(det) <= TOLERANCE
        doubt |= flat
        sign.append(np.where(flat, 0, np.sign(det)))
        C[flat] = np.eye(C.shape[-1])
        x = -np.linalg.solve(C, even.w[index][:, :, None])[:, :, 0]
        x[:, list(a)] *= -1
        slack = TOLERANCE * np.maximum(1.0, np.abs(x).max(axis=1, keepdims=True))
        out, inside = (x < -slack).any(axis=1), (x > slack).all(axis=1)
        count += inside & ~flat
        doubt |= ~out & ~inside & ~flat
        # Unilateral contacts outside the set have an acceleration and no force.
        if not set(range(stack.m_b, mu.shape[1])) <= set(a):
            opens |= inside & ~flat
    is_p = (np.abs(np.sum(sign, axis=0)) == len(sign)) & ~doubt
    conditions = {INCONSISTENT: count == 0, INDETERMINATE: count > 1, LIFT_OFF: opens}
    numbers = [REGIMES.index(name) for name in conditions]
    regime = np.where(doubt, UNDECIDED, np.select(list(conditions.values()), numbers, REGIMES.index(SLIDING)))
    return Cells(regime, np.where(doubt, -1, count), is_p, is_p & proposition_1(stack, index, c))


def _pair(stack: Stack, index: NDArray[np.int64], c: Array) -> tuple[Array, Array]:
    """P and Q (K, m, m) of `sliding.exact`."""
    rubbing = stack.A_t[index] * c[:, None, :]
    P, Q = stack.A_n[index] - rubbing, stack.A_n[index] + rubbing
    m_b, m = stack.m_b, c.shape[1]
    Q[:, :, m_b:] = -P[:, :, m_b:]
    P[:, :, m_b:] = -np.eye(m)[:, m_b:]
    return P, Q


def proposition_1(stack: Stack, index: NDArray[np.int64], c: Array) -> NDArray[np.bool_]:
    """Return whether Proposition 1 holds in each cell, with unscaled or balanced rows."""
    holds = np.zeros(len(index), dtype=bool)
    m_b = stack.m_b
    highest = np.abs(c[:, :m_b]).max(axis=1, initial=0.0)
    for s in (stack, stack.balanced()):
        M_0 = np.linalg.solve(*_pair(s, np.arange(len(s.A_n)), np.zeros(s.mu.shape)))
        limit = bilateral_limits(s.A_n[:, :m_b, :m_b], s.A_t[:, :m_b, :m_b])
        low = np.flatnonzero(highest < limit[index])
        M_mu = np.linalg.solve(*_pair(s, index[low], c[low]))
        holds[low] |= np.linalg.norm(M_mu - M_0[index[low]], 2, axis=(1, 2)) * betas_2(M_0, m_b)[index[low]] < 1
    return holds
