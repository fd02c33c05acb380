"""The problem classes. Each validates its data and owns its residual; solvers never grade themselves.

All four are one statement, *z in K, F(z) = M z + q complementary to it*, over different sets K, and share one
measure of error, the natural map with a scale-free normaliser (formulary, section 7):

    residual(z) = |z - P_K(z - rho F(z))|_2 / max(|z|_2, rho |q|_2),     rho = n / tr M          frictional problems
    residual(z) = |z - P_K(z - rho F(z))|_2 / max(rho |M z|_2, rho |q|_2, |z_B|_2)               LCP and MLCP

`rho` carries the units of z/F, so that the number does not depend on them; where the trace is not positive, rho = 1.
For frictional problems the trace is that of the Delassus operator W, hence rho = 3 n_c / tr W. The second normaliser
does not grow with z along a ray of the homogeneous problem, so that a diverging iterate cannot pass for a solution;
z_B are the entries with two finite bounds, which cannot diverge.
The arrays may carry leading batch axes (one problem per time step): `residual` then returns one number per problem.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.errors import DataError

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

SYMMETRY_TOLERANCE = 1e-10
"""Relative asymmetry |M - M^T|_max / |M|_max up to which a matrix counts as symmetric."""


def _finite(name: str, value: Array) -> Array:
    value = np.array(value, dtype=float, order="C")
    if not np.isfinite(value).all():
        where = np.argwhere(~np.isfinite(value))[0]
        raise DataError(f"{name}{where.tolist()} is {value[tuple(where)]}; every entry must be finite")
    value.flags.writeable = False
    return value


def _square(name: str, M: Array, q: Array) -> None:
    if M.ndim < 2 or M.shape[-1] != M.shape[-2]:
        raise DataError(f"{name} has shape {M.shape}; a square matrix is needed")
    if q.shape != M.shape[:-1]:
        raise DataError(f"q has shape {q.shape}; {name} of shape {M.shape} needs {M.shape[:-1]}")


def _natural_map(M: Array, q: Array, z: Array, project: Map, extent: Map, shift: Map | None = None) -> Array:
    trace = np.trace(M, axis1=-2, axis2=-1)
    rho = np.where(trace > 0, M.shape[-1] / np.where(trace > 0, trace, 1.0), 1.0)[..., None]
    Mz = np.einsum("...ij,...j->...i", M, z)
    w = Mz + q
    if shift is not None:
        w = w + shift(w)
    gap = _norm(z - project(z - rho * w))
    size = np.maximum(extent(rho * Mz), rho[..., 0] * _norm(q))
    # Where nothing sets a scale, z = 0 is the solution and the residual is the plain distance.
    value = gap / np.where(size > 0, size, 1.0)
    return np.where(np.isfinite(value), value, np.inf)


def _norm(z: Array) -> Array:
    return np.linalg.norm(z, axis=-1)


def is_symmetric(M: Array) -> bool:
    """Whether |M - M^T|_max <= SYMMETRY_TOLERANCE |M|_max, for every matrix of the batch."""
    size = np.abs(M).max(initial=0.0)
    return bool(np.abs(M - np.swapaxes(M, -1, -2)).max(initial=0.0) <= SYMMETRY_TOLERANCE * size)


def is_psd(M: Array) -> bool:
    """Whether M is symmetric with no eigenvalue below -n eps |M|_2 (numerical, hence not a certificate)."""
    if not is_symmetric(M):
        return False
    w = np.linalg.eigvalsh(M)
    return bool(np.all(w[..., 0] >= -M.shape[-1] * np.finfo(float).eps * np.abs(w).max(axis=-1, initial=0.0)))


@dataclass(frozen=True, eq=False)
class MLCP:
    """Mixed LCP with bounds: l <= z <= u, w = M z + q >= 0 where z = l, <= 0 where z = u, = 0 between.

    M (..., n, n), q, lower, upper (..., n); bounds may be infinite. An LCP is the case l = 0, u = inf.
    Raises DataError for wrong shapes, non-finite data or l > u.
    """

    M: Array
    q: Array
    lower: Array
    upper: Array
    kind = "MLCP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "M", _finite("M", self.M))
        object.__setattr__(self, "q", _finite("q", self.q))
        _square("M", self.M, self.q)
        for name in ("lower", "upper"):
            bound = np.broadcast_to(np.asarray(getattr(self, name), dtype=float), self.q.shape)
            if np.isnan(bound).any():
                raise DataError(f"{name}{np.argwhere(np.isnan(bound))[0].tolist()} is nan; bounds are numbers or +-inf")
            object.__setattr__(self, name, np.ascontiguousarray(bound))
        if (self.lower > self.upper).any():
            i = tuple(np.argwhere(self.lower > self.upper)[0])
            raise DataError(f"lower[{i[-1]}] = {self.lower[i]} exceeds upper[{i[-1]}] = {self.upper[i]}")

    @property
    def size(self) -> int:
        return self.q.shape[-1]

    def residual(self, z: Array) -> Array:
        """Natural-map residual of z (..., n), dimensionless; one number per problem."""
        bounded = np.where(np.isfinite(self.lower) & np.isfinite(self.upper), z, 0.0)

        def extent(step: Array) -> Array:
            return np.maximum(_norm(step), _norm(bounded))

        return _natural_map(self.M, self.q, z, lambda y: np.clip(y, self.lower, self.upper), extent)


@dataclass(frozen=True, eq=False)
class LCP(MLCP):
    """0 <= z  perp  M z + q >= 0. M (..., n, n), q (..., n)."""

    lower: Array = 0.0  # type: ignore[assignment]
    upper: Array = np.inf  # type: ignore[assignment]
    kind = "LCP"


def _project_cone(y: Array, mu: Array, d: int) -> Array:
    """Euclidean projection of y = [y_n (r), y_t (d r)] onto the cones mu y_n >= |y_t|, contact by contact."""
    r = mu.shape[-1]
    y_n = y[..., :r]
    y_t = y[..., r:].reshape(*y.shape[:-1], r, d)
    size = np.linalg.norm(y_t, axis=-1)
    # The sign counts where mu = 0 and nothing pulls sideways: there 0 <= mu y_n holds for every y_n.
    inside, polar = (size <= mu * y_n) & (y_n >= 0), mu * size <= -y_n
    p_n = np.where(inside, y_n, np.where(polar, 0.0, (y_n + mu * size) / (1 + mu**2)))
    shrink = np.where(inside, 1.0, mu * p_n / np.where(size > 0, size, 1.0))
    return np.concatenate([p_n, (shrink[..., None] * y_t).reshape(*y.shape[:-1], r * d)], axis=-1)


@dataclass(frozen=True, eq=False)
class ConeProblem:
    """K contains z perp W z + q (+ De Saxce shift) in K*, over r friction cones mu z_n >= |z_t|.

    Order of the unknowns: z = [p_n (r), p_t (d r)], tangential parts contact by contact; W (..., r(1+d), r(1+d)).
    Raises DataError for wrong shapes, non-finite data or negative mu.
    """

    M: Array
    q: Array
    mu: Array
    d: int = 2
    kind = "cone"

    def __post_init__(self) -> None:
        for name in ("M", "q", "mu"):
            object.__setattr__(self, name, _finite(name, getattr(self, name)))
        _square("W", self.M, self.q)
        if self.d not in (1, 2) or self.mu.shape[-1] * (1 + self.d) != self.q.shape[-1]:
            raise DataError(
                f"{self.mu.shape[-1]} contacts with {self.d} tangential directions do not make {self.size} unknowns"
            )
        if (self.mu < 0).any():
            raise DataError(f"mu = {self.mu.min()} is negative; a friction coefficient is >= 0")

    @property
    def size(self) -> int:
        return self.q.shape[-1]

    def residual(self, z: Array) -> Array:
        """Natural-map residual of z (..., r(1+d)), dimensionless; one number per problem."""
        return _natural_map(self.M, self.q, z, lambda y: _project_cone(y, self.mu, self.d), lambda _: _norm(z))


@dataclass(frozen=True, eq=False)
class ConicQP(ConeProblem):
    """Cone complementarity problem; W symmetric PSD makes it min 1/2 z^T W z + q^T z over K (Anitescu & Tasora)."""

    kind = "conic QP"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_symmetric(self.M):
            raise DataError("a conic QP needs a symmetric W; this one is not")


@dataclass(frozen=True, eq=False)
class CoulombNCP(ConeProblem):
    """Exact Coulomb friction in De Saxce's form: the conic map shifted by mu |u_t| along each normal."""

    kind = "Coulomb NCP"

    def residual(self, z: Array) -> Array:
        """Natural-map residual with u~ = u + mu |u_t| n, dimensionless; one number per problem."""
        r = self.mu.shape[-1]

        def de_saxce(w: Array) -> Array:
            slip = np.linalg.norm(w[..., r:].reshape(*w.shape[:-1], r, self.d), axis=-1)
            return np.concatenate([self.mu * slip, np.zeros_like(w[..., r:])], axis=-1)

        return _natural_map(
            self.M, self.q, z, lambda y: _project_cone(y, self.mu, self.d), lambda _: _norm(z), de_saxce
        )


Problem = MLCP | ConeProblem
