"""M_mu along a line of friction coefficients, mu(s) = mu_0 + s mu_1, and a bound of its change, for marches.

With X = A(s)^-1, Y = X [Abar, -B], primes for d/ds, T = A_tb [mu_1b xi_b] = -A' and R = [Abar', -B'],
M_mu = P + Q Y, P = [[0, 0], [-Cbar, D]], Q = [I; C], and exactly

    M_mu(s + x) - M_mu(s) = x (P' + Q' Y) + x (Q + x Q') (I - x X T)^-1 Z,    Z = X R + X T Y,

in norm at most x |M_mu'| + x^2 (|Q| t + |Q'|) |Z| / (1 - x t), t = |X T|.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.mechanics.contact import Array
from workbench.step.sliding.system import SlidingSystem


def norm(M: NDArray) -> float:
    """The 2-norm, 0 for an empty matrix."""
    return float(np.linalg.norm(M, 2)) if M.size else 0.0


@dataclass(frozen=True, eq=False)
class Here:
    """M_mu at a point of the line and the bound of its change, x slope + x^2 bend / (1 - x t) for 0 <= x < 1/t."""

    M_mu: Array
    slope: float
    bend: float
    t: float

    def safe_step(self, margin: float) -> float:
        """The largest x up to which the change stays within `margin`; inf if unlimited."""
        if margin <= 0:
            return 0.0
        # (bend - slope t) x^2 + (slope + margin t) x - margin = 0, its least positive root, without cancellation.
        p, q = self.bend - self.slope * self.t, self.slope + margin * self.t
        denominator = q + np.sqrt(max(q * q + 4 * p * margin, 0.0))
        with np.errstate(over="ignore"):
            return float(2 * margin / denominator) if denominator > 0 else np.inf


@dataclass(frozen=True, eq=False)
class FrictionLine:
    """The line of coefficients mu_0 + s mu_1 (m,), bilateral contacts first, which replace the system's own."""

    system: SlidingSystem
    mu_0: Array
    mu_1: Array

    def at(self, s: float) -> Here:
        """Evaluate at s; raises numpy.linalg.LinAlgError where A(s) is singular."""
        m, n = self.system.m_b, len(self.mu_0)
        a, xi = self.system.inverse, np.append(self.system.xi_b, self.system.xi_u)
        cb, cu = np.split(xi * (self.mu_0 + s * self.mu_1), [m])
        rb, ru = np.split(xi * self.mu_1, [m])
        X = np.linalg.inv(a.nb - a.tb * cb)
        Y = X @ np.hstack([a.nb + a.tb * cb, a.nbtu * cu - a.nbnu])
        Q, Q_rate = np.vstack([np.eye(m), a.nunb - a.nutb * cb]), np.vstack([np.zeros((m, m)), -a.nutb * rb])
        P = np.block([[np.zeros((m, n))], [-a.nunb - a.nutb * cb, a.nu - a.tu * cu]])
        P_rate = np.block([[np.zeros((m, n))], [-a.nutb * rb, -a.tu * ru]])
        T = a.tb * rb
        Z = X @ np.hstack([T, a.nbtu * ru]) + X @ T @ Y
        slope, t = norm(P_rate + Q_rate @ Y + Q @ Z), norm(X @ T)
        return Here(P + Q @ Y, slope, (norm(Q) * t + norm(Q_rate)) * norm(Z), t)
