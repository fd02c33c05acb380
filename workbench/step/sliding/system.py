"""Contacts that slide, at one instant: accelerations and forces, with friction at bilateral and unilateral contacts.

    M a = f + J_nb^T lambda_nb + J_nu^T lambda_nu + J_tb^T lambda_tb + J_tu^T lambda_tu
    J_nb a + w_nb = 0,    0 <= lambda_nu  perp  J_nu a + w_nu >= 0,    lambda_t = -mu xi |lambda_n|

Eliminating a leaves the blocks of formulary section 5, eliminating lambda+ as well the LCP (4) in (lambda-, lambda_nu):

    A lambda+ - Abar lambda- + B lambda_nu + w1 = 0,   0 <= lambda+ perp lambda- >= 0
    0 <= lambda_nu  perp  C lambda+ - Cbar lambda- + D lambda_nu + w2 >= 0

Source: Blumentals, Brogliato and Bertails-Descoubes 2015, hal-01224915, eqs. (1)-(4); f is the paper's -F.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from workbench.algorithms.asking import solved_by
from workbench.algorithms.base import Solver
from workbench.language.assemble.assembly import carry_back, eliminate, stamp
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import Work
from workbench.language.formulation import Formulation
from workbench.mechanics.contact import Array, _real, must_be_mass_matrix
from workbench.problems.classes import LCP
from workbench.problems.rank import dependent_rows
from workbench.problems.rank import rank as numerical_rank
from workbench.problems.solution import Solution, Status
from workbench.support.errors import DataError


def sliding_signs(v_t: Array) -> Array:
    """xi = sgn(v_t) (m,) of sliding velocities v_t (m,) [m/s]; raises DataError for a contact that does not slide."""
    v_t = np.atleast_1d(_real("v_t", v_t))
    at_rest = np.flatnonzero(~(np.abs(v_t) > 0))
    if at_rest.size:
        raise DataError(f"v_t[{at_rest[0]}] = {v_t[at_rest[0]]:g}; every contact must slide, v_t != 0")
    return np.sign(v_t)


class Blocks(NamedTuple):
    """The blocks of eq. (3): A, Abar (m_b, m_b), B (m_b, m_u), C, Cbar (m_u, m_b), D (m_u, m_u) [1/kg], w1, w2 [m/s2].

    Rows of the normal Jacobians without unit, as for point contacts.
    """

    A: Array
    Abar: Array
    B: Array
    C: Array
    Cbar: Array
    D: Array
    w1: Array
    w2: Array


class Inverse(NamedTuple):
    """A_xy = (rows of x) M^-1 (forces of y), formulary section 5 [1/kg]."""

    nb: Array
    tb: Array
    nbnu: Array
    nbtu: Array
    nunb: Array
    nutb: Array
    nu: Array
    tu: Array


class Multipliers(NamedTuple):
    """lambda_nb (m_b,), either sign, and lambda_nu (m_u,) [N]."""

    lambda_nb: Array
    lambda_nu: Array


def _t(J: Array) -> Array:
    return np.swapaxes(J, -1, -2)


def _times(J: Array, x: Array) -> Array:
    product: Array = (J @ x[..., None])[..., 0]
    return product


class SlidingData:
    """Quantities computed from the data of `SlidingSystem`, for one system or, over leading axes, for many."""

    M: Array
    f: Array
    J_nb: Array
    J_tb: Array
    mu_b: Any
    xi_b: Any
    w_nb: Any
    J_nu: Array
    J_tu: Array
    mu_u: Any
    xi_u: Any
    w_nu: Any

    @cached_property
    def inverse(self) -> Inverse:
        """The blocks A_xy of J M^-1 J^T."""
        J_nb, J_nu = self.J_nb, self.J_nu
        b, tb, u, tu = (np.linalg.solve(self.M, _t(J)) for J in (J_nb, self.J_tb, J_nu, self.J_tu))
        return Inverse(J_nb @ b, J_nb @ tb, J_nb @ u, J_nb @ tu, J_nu @ b, J_nu @ tb, J_nu @ u, J_nu @ tu)

    @cached_property
    def blocks(self) -> Blocks:
        """Eq. (3), its second row corrected to Cbar."""
        a, xb, xu = self.inverse, (self.mu_b * self.xi_b)[..., None, :], (self.mu_u * self.xi_u)[..., None, :]
        free = np.asarray(np.linalg.solve(self.M, self.f[..., None])[..., 0], dtype=float)
        return Blocks(
            a.nb - a.tb * xb, a.nb + a.tb * xb, a.nbnu - a.nbtu * xu,
            a.nunb - a.nutb * xb, a.nunb + a.nutb * xb, a.nu - a.tu * xu,
            _times(self.J_nb, free) + self.w_nb, _times(self.J_nu, free) + self.w_nu,
        )  # fmt: skip

    def friction(self, multipliers: Multipliers) -> Multipliers:
        """Friction forces (lambda_tb, lambda_tu) = -mu xi |lambda_n| [N]."""
        lambda_nb, lambda_nu = multipliers
        return Multipliers(-self.mu_b * self.xi_b * np.abs(lambda_nb), -self.mu_u * self.xi_u * lambda_nu)

    def acceleration(self, multipliers: Multipliers) -> Array:
        """a (n,) [m/s2, rad/s2] under these multipliers, by the dynamics."""
        t = self.friction(multipliers)
        normal = _times(_t(self.J_nb), multipliers[0]) + _times(_t(self.J_nu), multipliers[1])
        force = self.f + normal + _times(_t(self.J_tb), t[0]) + _times(_t(self.J_tu), t[1])
        return np.asarray(np.linalg.solve(self.M, force[..., None])[..., 0], dtype=float)


@dataclass(frozen=True, eq=False)
class SlidingStack(SlidingData):
    """Many systems of one size: the data of `SlidingSystem`, each with leading axes or shared, not checked."""

    M: Array
    f: Array
    J_nb: Array
    J_tb: Array
    mu_b: Array
    xi_b: Array
    w_nb: Array
    J_nu: Array
    J_tu: Array
    mu_u: Array
    xi_u: Array
    w_nu: Array

    @classmethod
    def of(cls, systems: Sequence["SlidingSystem"]) -> "SlidingStack":
        """Systems of one size, one after the other."""
        return cls(**{f.name: np.array([getattr(s, f.name) for s in systems]) for f in fields(cls)})


def _none() -> Array:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class SlidingSystem(SlidingData):
    """m_b bilateral and m_u unilateral contacts of a system with n velocities, all closed and sliding.

    M (n, n) SPD [kg, kg m2]; f (n,) applied and gyroscopic forces; J_nb, J_tb (m_b, n) normal and sliding direction of
    each bilateral contact, mu_b (m_b,) or number, xi_b (m_b,) = +-1 the sign of the sliding velocity (`sliding_signs`),
    w_nb (m_b,) [m/s2] the bias acceleration Jdot_nb v; the same with u for the unilateral contacts. Either kind may be
    left out. Arrays are stored read-only. Raises DataError naming the array, its value and what would be right.
    """

    M: Array
    f: Array
    J_nb: Array = field(default_factory=_none)
    J_tb: Array = field(default_factory=_none)
    mu_b: Array | float = 0.0
    xi_b: Array | float = 1.0
    w_nb: Array | float = 0.0
    J_nu: Array = field(default_factory=_none)
    J_tu: Array = field(default_factory=_none)
    mu_u: Array | float = 0.0
    xi_u: Array | float = 1.0
    w_nu: Array | float = 0.0

    def __post_init__(self) -> None:
        M = _real("M", self.M)
        if M.ndim != 2 or M.shape[0] != M.shape[1] or not M.size:
            raise DataError(f"M has shape {M.shape}; a square mass matrix is needed")
        n = len(M)
        rows = {}
        for name in ("J_nb", "J_nu"):
            J = _real(name, getattr(self, name))
            if J.size and (J.ndim != 2 or J.shape[1] != n):
                raise DataError(f"{name} has shape {J.shape}; (rows, {n}) is needed")
            rows[name[-1]] = len(J) if J.size else 0
        if not any(rows.values()):
            raise DataError("J_nb and J_nu are empty; at least one contact is needed")
        shapes: dict[str, tuple[int, ...]] = {"M": (n, n), "f": (n,)}
        for side, m in rows.items():
            shapes |= {f"J_n{side}": (m, n), f"J_t{side}": (m, n)}
            shapes |= {f"{name}_{side}": (m,) for name in ("mu", "xi")} | {f"w_n{side}": (m,)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, _stored(name, _real(name, getattr(self, name)), shape))
        self._check_physics()

    def _check_physics(self) -> None:
        for name in ("mu_b", "mu_u"):
            mu = getattr(self, name)
            if (mu < 0).any():
                raise DataError(f"{name} = {mu.min():g} is negative; {name} >= 0 is needed")
        for name in ("xi_b", "xi_u"):
            xi = getattr(self, name)
            wrong = np.flatnonzero(np.abs(xi) != 1)
            if wrong.size:
                raise DataError(f"{name}[{wrong[0]}] = {xi[wrong[0]]:g}; the sign of a sliding velocity is +1 or -1")
        must_be_mass_matrix(self.M)
        dependent = dependent_rows(self.J_nb) if self.m_b else []
        if dependent:
            sets = "; ".join(", ".join(map(str, rows)) for rows in dependent)
            raise DataError(f"bilateral rows of J_nb are dependent: {sets}; independent constraints are needed")

    @property
    def m_b(self) -> int:
        return len(self.J_nb)

    @property
    def m_u(self) -> int:
        return len(self.J_nu)

    @property
    def size(self) -> tuple[int, int]:
        """(m_b, m_u)."""
        return self.m_b, self.m_u

    def with_friction(self, scale: float) -> "SlidingSystem":
        """Return the system with all friction coefficients multiplied by `scale`."""
        return replace(self, mu_b=scale * self.mu_b, mu_u=scale * self.mu_u)

    @cached_property
    def lcp(self) -> LCP:
        """0 <= (lambda-, lambda_nu) perp M_mu (lambda-, lambda_nu) + z >= 0, eq. (4); DataError where A is singular."""
        A, Abar, B, C, Cbar, D, w1, w2 = self.blocks
        if self.m_b and numerical_rank(A).value < self.m_b:
            raise DataError(self.singular())
        X = np.linalg.solve(A, np.column_stack([Abar, -B, -w1]))
        G, H, z1 = np.split(X, [self.m_b, self.m_b + self.m_u], axis=1)
        return LCP(np.block([[G, H], [C @ G - Cbar, D + C @ H]]), np.concatenate([z1[:, 0], w2 + C @ z1[:, 0]]))

    def singular(self) -> str:
        """One line on a singular A, where there is no LCP in (lambda-, lambda_nu)."""
        A = self.blocks.A
        sets = "; ".join(", ".join(map(str, rows)) for rows in dependent_rows(A)) or "all together"
        return (
            f"A = A_nb - A_tb diag(mu_b xi_b) is singular (dependent rows: {sets}), so lambda+ cannot be eliminated; "
            f"less friction than max mu_b = {np.max(self.mu_b):g} is needed"
        )

    @property
    def M_mu(self) -> Array:
        """The matrix of the LCP (4), rows lambda+ [-] and unilateral accelerations [1/kg]."""
        return self.lcp.M

    @property
    def z(self) -> Array:
        """The vector (z1, z2) of the LCP (4)."""
        return self.lcp.q

    @cached_property
    def M_0(self) -> Array:
        """M_mu without friction: [[I, -A_nb^-1 A_nbnu], [0, A_c]]."""
        a = self.inverse
        G = np.linalg.solve(a.nb, a.nbnu)
        return np.block([[np.eye(self.m_b), -G], [np.zeros((self.m_u, self.m_b)), a.nu - a.nunb @ G]])

    @property
    def Theta(self) -> Array:
        """Contribution of friction, M_mu - M_0."""
        return self.M_mu - self.M_0

    def multipliers(self, z: Array) -> Multipliers:
        """lambda_nb and lambda_nu of a solution z = (lambda-, lambda_nu) of the LCP (4)."""
        minus, nu = np.split(np.asarray(z, dtype=float), [self.m_b])
        plus = (self.lcp.M @ z + self.lcp.q)[: self.m_b]
        return Multipliers(plus - minus, nu)


def _stored(name: str, value: Array, shape: tuple[int, ...]) -> Array:
    """`value` in the shape wanted, where a number stands for all entries, read-only."""
    if value.shape != shape and value.ndim and (value.size or 0 not in shape):
        raise DataError(f"{name} has shape {value.shape}; {shape} is needed")
    value = np.ascontiguousarray(np.broadcast_to(value, shape) if value.size else np.zeros(shape))
    if not np.isfinite(value).all():
        raise DataError(f"{name}{np.argwhere(~np.isfinite(value))[0].tolist()} is not finite")
    value.flags.writeable = False
    return value


def pose_sliding(formulation: Formulation, system: SlidingSystem) -> tuple[LCP, Work]:
    """The LCP that a sliding formulation's declaration makes of a system; DataError where A is singular."""
    c = compiled(formulation, *system.size)
    work, theta = c.workspace(), c.theta.copy()
    b = system.blocks
    for name, view in c.views(theta).items():
        view[:] = getattr(b, name.replace("_", ""))
    stamp(theta, work)
    if eliminate(work):
        raise DataError(system.singular())
    return LCP(work.M, work.q), work


def solve_sliding(
    formulation: Formulation, system: SlidingSystem, solver: Solver
) -> tuple[Multipliers, Array, Solution]:
    """Multipliers, acceleration (n,) and the solver's Solution; nan where the solver gave no answer.

    Raises DataError when the problem cannot be posed.
    """
    problem, work = pose_sliding(formulation, system)
    solution = solved_by(solver, problem)
    if solution.claimed in (Status.SOLVED, Status.INACCURATE):
        work.z[:] = solution.z
        carry_back(work)
    else:
        work.out[:] = np.nan
    multipliers = Multipliers(*np.split(work.out.copy(), [system.m_b]))
    return multipliers, system.acceleration(multipliers), solution
