"""The judge of sliding contacts: how far accelerations and forces are from the law (1) of hal-01224915, as it stands.

It takes the mass matrix, the Jacobians and |lambda_n| from the system and nothing else: no Delassus block, no split of
lambda_nb, no LCP. Each number is a residual over the sum of the sizes of what was added up in its row, so that units
and the scaling of single rows do not matter.
"""

from dataclasses import dataclass

import numpy as np

from workbench.mechanics.contact import Array
from workbench.step.sliding.system import SlidingSystem


@dataclass(frozen=True)
class LawResidual:
    """Largest relative residuals of the dynamics, the bilateral rows, and 0 <= lambda_nu perp J_nu a + w_nu >= 0."""

    dynamics: float
    bilateral: float
    complementarity: float

    @property
    def worst(self) -> float:
        return max(self.dynamics, self.bilateral, self.complementarity)


def law_residual(s: SlidingSystem, a: Array, lambda_nb: Array, lambda_nu: Array) -> LawResidual:
    """Judge the acceleration a (n,) and the multipliers lambda_nb (m_b,), lambda_nu (m_u,) of a system.

    Complementarity is the natural map min(lambda_i W_ii, u_i), W_ii the effective inverse mass of the contact.
    """
    lambda_tb = -s.mu_b * s.xi_b * np.abs(lambda_nb)
    lambda_tu = -s.mu_u * s.xi_u * np.abs(lambda_nu)
    pairs = [(s.J_nb, lambda_nb), (s.J_nu, lambda_nu), (s.J_tb, lambda_tb), (s.J_tu, lambda_tu)]
    forces = s.f + sum(J.T @ x for J, x in pairs)
    size = np.abs(s.f) + sum(np.abs(J).T @ np.abs(x) for J, x in pairs)
    dynamics = _relative(s.M @ a - forces, np.abs(s.M) @ np.abs(a) + size)
    # What the forces would do one by one: a row at rest under large forces is measured against these.
    moved = np.abs(np.linalg.inv(s.M)) @ size
    bilateral = _relative(s.J_nb @ a + s.w_nb, np.abs(s.J_nb) @ moved + np.abs(s.w_nb))
    W = np.einsum("ij,ji->i", s.J_nu, np.linalg.solve(s.M, s.J_nu.T))
    scale = np.abs(s.J_nu) @ moved + np.abs(s.w_nu)
    return LawResidual(dynamics, bilateral, _relative(np.minimum(W * lambda_nu, s.J_nu @ a + s.w_nu), scale))


def _relative(residual: Array, size: Array) -> float:
    if not np.isfinite(residual).all():
        return np.inf
    return float(np.max(np.abs(residual) / np.where(size > 0, size, 1.0), initial=0.0))
