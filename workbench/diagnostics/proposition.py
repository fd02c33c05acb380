"""Proposition 1 of Blumentals, Brogliato and Bertails-Descoubes: friction low enough for unique sliding forces.

For a positive definite M and independent constraints, max mu_b < mu_max_b = sigma_min(A_nb) / sigma_max(A_tb) and
|Theta|_2 < 1 / beta_2(M_0) make M_mu a P-matrix. The conditions are sufficient only, and neither is invariant under
scaling of the contact rows (M_mu mixes forces and accelerations: they change with the unit of mass), while the
P-property is. They are therefore given for unscaled rows and for rows balanced to unit effective mass, together with
the exact verdict on M_mu.

Sources: hal-01224915; Chen and Xiang, SIAM J. Optim. 18 (2007) for beta_2.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.diagnostics.friction_line import FrictionLine, norm
from workbench.matrices.p_property.verdict import PVerdict, p_verdict
from workbench.mechanics.contact import Array
from workbench.problems.rank import dependent_rows
from workbench.readers.matrix import Matrix
from workbench.step.sliding.system import SlidingSystem
from workbench.support.errors import DataError

LARGEST = 14
"""Largest number of unilateral contacts: beta_2 takes 2^m_u index sets."""
SETTLED = 1e-10
"""Relative length of a step at which the march along the friction ends."""
STEPS = 20_000
"""Limit of steps of a march, which then ends early, on the safe side."""


@dataclass(frozen=True)
class Inequalities:
    """Proposition 1 for one scaling of the contact rows.

    `mu_max_b` (inf without bilateral friction), |Theta|_2, beta_2(M_0), whether the two inequalities hold, and
    `scale`: for every s in [0, scale) they hold with all friction coefficients times s. At `scale` one of them fails
    (or the march was cut short, and `scale` is a lower bound of that); beyond it they may hold again. Where A is
    singular, Theta is None and holds False; scale is inf where no friction can violate the conditions.
    """

    mu_max_b: float
    theta: float | None
    beta: float
    holds: bool
    scale: float


@dataclass(frozen=True)
class Proposition:
    """The hypotheses of Proposition 1, plain and with balanced rows, and the exact verdict on M_mu.

    `independent`: whether all constraints are, by `diagnostics.rank`. `verdict` is None where A is singular and there
    is no M_mu.
    """

    independent: bool
    plain: Inequalities | None
    balanced: Inequalities | None
    verdict: PVerdict | None

    @property
    def holds(self) -> bool:
        """True if Proposition 1 proves uniqueness, in either scaling."""
        return any(b is not None and b.holds for b in (self.plain, self.balanced))


def proposition(system: SlidingSystem) -> Proposition:
    """Proposition 1 for a sliding system; no bounds where the constraints are dependent. DataError if too large."""
    if system.m_u > LARGEST:
        raise DataError(f"m_u = {system.m_u} unilateral contacts; beta_2 takes 2^m_u index sets, m_u <= {LARGEST}")
    try:
        verdict = p_verdict(Matrix(system.M_mu).exact)
    except DataError:
        verdict = None
    if dependent_rows(np.vstack([system.J_nb, system.J_nu])):
        return Proposition(False, None, None, verdict)
    return Proposition(True, bounds(system), bounds(balanced(system)), verdict)


def balanced(system: SlidingSystem) -> SlidingSystem:
    """Return the contacts with rows scaled to (J_n M^-1 J_n^T)_ii = 1, independent of the units of mass and length.

    The forces of contact i are divided by d_i, its accelerations multiplied: M_mu becomes the similar-looking
    diag(1/d_b, d_u) M_mu diag(d_b, d_u), with positive diagonals on both sides, which change no sign of a minor.
    """
    d_b, d_u = (1 / np.sqrt(np.diag(A)) for A in (system.inverse.nb, system.inverse.nu))
    return replace(
        system,
        J_nb=d_b[:, None] * system.J_nb, J_tb=d_b[:, None] * system.J_tb, w_nb=d_b * system.w_nb,
        J_nu=d_u[:, None] * system.J_nu, J_tu=d_u[:, None] * system.J_tu, w_nu=d_u * system.w_nu,
    )  # fmt: skip


def bounds(system: SlidingSystem) -> Inequalities:
    """The inequalities of Proposition 1 for these rows; the constraints must be independent."""
    mu_max_b, beta = bilateral_limit(system), beta_2(system.M_0, system.m_b)
    low = bool(np.max(system.mu_b, initial=0.0) < mu_max_b)
    try:
        theta = float(np.linalg.norm(system.Theta, 2))
    except DataError:
        theta = None
    holds = low and theta is not None and theta < 1 / beta
    return Inequalities(mu_max_b, theta, beta, holds, guaranteed_scale(system, mu_max_b, beta))


def bilateral_limit(system: SlidingSystem) -> float:
    """mu_max_b = sigma_min(A_nb) / sigma_max(A_tb); inf where the divisor is zero."""
    return float(bilateral_limits(system.inverse.nb, system.inverse.tb))


def bilateral_limits(A_nb: Array, A_tb: Array) -> Array:
    """mu_max_b (...) of stacks (..., m_b, m_b) of blocks."""
    if not A_nb.shape[-1]:
        return np.full(A_nb.shape[:-2], np.inf)
    smallest, largest = np.linalg.norm(A_nb, -2, axis=(-2, -1)), np.linalg.norm(A_tb, 2, axis=(-2, -1))
    return np.divide(smallest, largest, out=np.full(A_nb.shape[:-2], np.inf), where=largest > 0)


def beta_2(M: Array, fixed: int = 0) -> float:
    """beta_2 of one matrix; see `betas_2`."""
    return float(betas_2(M, fixed))


def betas_2(M: NDArray, fixed: int = 0) -> Array:
    """beta_2 (...) of a stack of P-matrices M (..., n, n), over their index sets.

    beta_2 is the maximum over d in [0, 1]^n of |(I - [d] + [d] M)^-1 [d]|_2. It is at a vertex: t = 1/d_i - 1 >= 0
    moves (M + diag t)^-1 along a straight line, on which a norm is convex, so that beta_2 = max over index sets a of
    |M_aa^-1|_2. The first `fixed` rows of M may be [I, -G] over [0, A_c] as in M_0: then a set (b, c) has
    M_aa^-1 = [[I, G_bc A_cc^-1], [0, A_cc^-1]], part of the matrix for all of b, and only sets with all the fixed
    indices count, 2^(n - fixed) of them.
    """
    n = M.shape[-1]
    largest = np.full(M.shape[:-2], 1.0 if fixed else 0.0)
    for k in range(1, n - fixed + 1):
        for free in itertools.combinations(range(fixed, n), k):
            a = [*range(fixed), *free]
            part = M[..., np.array(a)[:, None], a]
            largest = np.maximum(largest, 1 / np.linalg.norm(part, -2, axis=(-2, -1)))
    return largest


def guaranteed_scale(system: SlidingSystem, mu_max_b: float, beta: float) -> float:
    """The end of the interval [0, s) on which Proposition 1 holds with s mu instead of mu."""
    mu = np.append(system.mu_b, system.mu_u)
    return guaranteed(FrictionLine(system, np.zeros(len(mu)), mu), mu_max_b, beta)


def guaranteed(line: FrictionLine, mu_max_b: float, beta: float) -> float:
    """The end of the interval [0, s) on which Proposition 1 holds along a line of coefficients; 0 where it fails at 0.

    |Theta| need not grow with s, so the line is marched in steps too short to miss a violation: one in which M_mu
    changes by no more than 1 / beta - |Theta(s)| is safe, and so is all of A's range max mu_b < mu_max_b.
    """
    m_b = line.system.m_b
    start, rates = line.mu_0[:m_b], line.mu_1[:m_b]
    if np.max(start, initial=0.0) >= mu_max_b:
        return 0.0
    end = min(((mu_max_b - x) / r for x, r in zip(start, rates, strict=True) if r > 0), default=np.inf)
    s = 0.0
    for _ in range(STEPS):
        here = line.at(s)
        step = here.safe_step(1 / beta - norm(here.M_mu - line.system.M_0))
        if s + step >= end or not step > SETTLED * s:
            return float(min(s + max(step, 0.0), end))
        s += step
    return s
