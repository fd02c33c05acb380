"""The problem classes. Each validates its data and owns its residual; solvers never grade themselves.

All four are one statement, *z in K, F(z) = M z + q complementary to it*, over different sets K, and share one measure
of error, the natural map over a normaliser, made so that units do not matter (formulary, section 7):

    frictional problems    |z - P_K(z - rho F(z))|_2 / max(c |z|_2, rho |q|_2),  rho = n / tr W, that is 3 n_c / tr W,
                           c = 1, less only where |z| is FAR times the motion it makes
    LCP and MLCP           |y - P(y - D F)|_2 / max(s, min(|y|_2, FAR_SCALED s)),  z = D y,
                           s = max(|D (M z)_A|_2, |D q|_2, |y_B|_2)

The unknowns of an LCP may have different units (impulses, velocities), hence the diagonal D of `equilibration`, which
makes D M D dimensionless. No normaliser grows without limit along a ray of the homogeneous problem, so that a diverging
iterate cannot pass for a solution; rows that hold with slack at a bound are not among A, since there M z may grow
without limit; y_B are the entries with two finite bounds, which cannot diverge.
The arrays may carry leading batch axes (one problem per time step): `residual` then returns one number per problem.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.errors import DataError

FAR = 1e5
"""Impulses count in a frictional residual up to this multiple of the motion they make: of near-redundant contacts they
are large beside it, along a ray, where nothing moves, without limit."""
FAR_SCALED = 1e3
"""What FAR is for an LCP, whose unknowns are scaled one by one: ratios of masses spread them less."""
SYMMETRY_TOLERANCE = 1e-10
"""Relative asymmetry |M - M^T|_max / |M|_max up to which a matrix counts as symmetric."""


def is_sparse(M: Any) -> bool:
    """Whether M is one of scipy's sparse matrices, without importing scipy to ask."""
    return hasattr(M, "tocsr")


def _finite(name: str, value: Any) -> Any:
    if is_sparse(value):
        value = value.tocsr().astype(float)
        if not np.isfinite(value.data).all():
            raise DataError(
                f"{name} has an entry that is {value.data[~np.isfinite(value.data)][0]}; all must be finite"
            )
        return value
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


def _divide(gap: Array, size: Array) -> Array:
    # Where nothing sets a scale, z = 0 is the solution and the residual is the plain distance.
    value = gap / np.where((size > 0) & np.isfinite(size), size, 1.0)
    # A normaliser that overflows would make any gap look like none.
    return np.where(np.isfinite(value) & np.isfinite(size), value, np.inf)


def equilibration(M: Array) -> Array:
    """D (..., n) with D M D free of units: unit diagonal where M has one, else entries of at most one.

    Exactly equivariant: E M E with a positive diagonal E gives D / E. A diagonal entry that is rounding beside
    |M_ij M_ji / M_jj| counts as zero; such rows take their scale from the rows they meet, or
    D = 1 where none of them has one.
    """
    size = np.abs(M)
    diagonal = np.diagonal(size, axis1=-2, axis2=-1)
    both = np.maximum(size, np.swapaxes(size, -1, -2))
    with np.errstate(divide="ignore", invalid="ignore"):
        met = np.where(diagonal[..., None, :] > 0, both**2 / diagonal[..., None, :], 0.0).max(axis=-1, initial=0.0)
        known = diagonal > 1e-12 * met
        D = np.where(known, 1.0 / np.sqrt(diagonal), 0.0)
        while True:
            reach = (both * D[..., None, :]).max(axis=-1, initial=0.0)
            new = ~known & (reach > 0)
            if not new.any():
                return np.where(known, D, 1.0)
            D, known = np.where(new, 1.0 / reach, D), known | new


def _norm(z: Array) -> Array:
    return np.linalg.norm(z, axis=-1)


def _scaled(M: Array) -> Array:
    D = equilibration(M)
    return D[..., :, None] * M * D[..., None, :]


def is_symmetric(M: Array) -> bool:
    """Whether |S - S^T|_max <= SYMMETRY_TOLERANCE |S|_max, S = D M D equilibrated, for every matrix of the batch.

    A sparse M is measured as it stands.
    """
    if is_sparse(M):
        return bool(abs(M - M.T).max() <= SYMMETRY_TOLERANCE * abs(M).max())
    S = _scaled(M)
    return bool(np.abs(S - np.swapaxes(S, -1, -2)).max(initial=0.0) <= SYMMETRY_TOLERANCE * np.abs(S).max(initial=0.0))


def is_psd(M: Array) -> bool:
    """Whether M is symmetric with no eigenvalue of D M D below -n eps |D M D|_2 (numerical, hence no certificate)."""
    if not is_symmetric(M):
        return False
    w = np.linalg.eigvalsh(_scaled(M))
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
        with np.errstate(invalid="ignore", over="ignore"):
            D = equilibration(self.M)
            Mz = np.einsum("...ij,...j->...i", self.M, z)
            y, lower, upper = z / D, self.lower / D, self.upper / D
            # y - clip(y - D F, l, u) without its cancellation where y is huge.
            gap = np.clip(D * (Mz + self.q), y - upper, y - lower)
            slack = (gap == 0.0) & ((y == lower) | (y == upper))
            bounded = np.where(np.isfinite(self.lower) & np.isfinite(self.upper), y, 0.0)
            active = _norm(np.where(slack, 0.0, D * Mz))
            s = np.maximum(np.maximum(active, _norm(D * self.q)), _norm(bounded))
            return _divide(_norm(gap), np.maximum(s, np.minimum(_norm(y), FAR_SCALED * s)))


@dataclass(frozen=True, eq=False)
class LCP(MLCP):
    """0 <= z  perp  M z + q >= 0. M (..., n, n), q (..., n)."""

    lower: Array = 0.0  # type: ignore[assignment]
    upper: Array = np.inf  # type: ignore[assignment]
    kind = "LCP"


@dataclass(frozen=True, eq=False)
class Equations(LCP):
    """What is left of equations alone once they are solved for all unknowns: nothing. M (..., 0, 0), q (..., 0).

    The residual is zero, since nothing is left that could be violated.
    """

    kind = "equations"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size:
            raise DataError(f"{self.size} unknowns are left; equations leave none")


def _cone_gap(z: Array, step: Array, mu: Array, d: int) -> Array:
    """z - P(z - step) with the Euclidean projection on the cones mu y_n >= |y_t|; all [n (r), t (d r)].

    As step + (y - P(y)) with y = z - step: z - P(y) would lose the motion beside an impulse far out on a ray.
    """
    r = mu.shape[-1]
    y = z - step
    y_n = y[..., :r]
    y_t = y[..., r:].reshape(*y.shape[:-1], r, d)
    size = np.linalg.norm(y_t, axis=-1)
    opens = mu * size <= -y_n
    outside = np.maximum(0.0, size - mu * y_n) / (1 + mu**2)
    e = y_t / np.where(size > 0, size, 1.0)[..., None]
    beyond = np.concatenate([-mu * outside, (outside[..., None] * e).reshape(*y.shape[:-1], r * d)], axis=-1)
    return np.where(np.concatenate([opens, np.repeat(opens, d, axis=-1)], axis=-1), z, step + beyond)


class Cones:
    """K contains z perp W z + q (+ De Saxce shift) in K*, over r friction cones mu z_n >= |z_t|.

    Order of the unknowns: z = [p_n (r), p_t (d r)], tangential parts contact by contact. How W is held is up to those
    derived from this: they have q, mu, d, `_moved` and `_diagonal`.
    """

    q: Array
    mu: Array
    d: int
    kind = "cone"
    associated = True
    """Whether the flow rule is the CCP's; Coulomb's law has De Saxce's shift."""

    @property
    def size(self) -> int:
        return self.q.shape[-1]

    def shift(self, u: Array) -> Array | float:
        """What the law adds to F = W z + q before it is held against the dual cone: De Saxce's mu |u_t| n, or none."""
        if self.associated:
            return 0.0
        r = self.mu.shape[-1]
        slip = _norm(u[..., r:].reshape(*u.shape[:-1], r, self.d))
        return np.concatenate([self.mu * slip, np.zeros_like(u[..., r:])], axis=-1)

    def _moved(self, z: Array) -> Array:
        """W z."""
        raise NotImplementedError

    def _diagonal(self) -> Array:
        """That of W, (..., r(1+d))."""
        raise NotImplementedError

    def _gap(self, z: Array, u: Array, rho: Array | float) -> Array:
        """The natural map's |z - P_K(z - rho (u + shift))|_2 of z (..., r(1+d)), not normalised; rho (...)."""
        step = np.asarray(rho)[..., None] * (u + self.shift(u))
        return _norm(_cone_gap(z, step, self.mu, self.d))

    def residual(self, z: Array) -> Array:
        """Natural-map residual of z (..., r(1+d)), dimensionless; one number per problem."""
        diagonal = self._diagonal()
        trace = diagonal.sum(axis=-1)
        rho = np.where(trace > 0, self.size / np.where(trace > 0, trace, 1.0), 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            u = self._moved(z) + self.q
            size = np.maximum(_norm(z) * self._near(z, u, diagonal), rho * _norm(self.q))
            return _divide(self._gap(z, u, rho), size)

    def _near(self, z: Array, u: Array, diagonal: Array) -> Array:
        """The share of |z| that counts: 1 up to FAR times the motion that impulses make, both row by row in units of
        sqrt(W_kk), and less beyond."""
        # Impulses of rows with W_kk = 0 move nothing.
        moves = diagonal > 0
        root = np.sqrt(np.where(moves, diagonal, 1.0))
        impulse = _norm(np.where(moves | (z == 0), z * root, np.inf))
        motion = FAR * np.maximum(_norm(np.where(moves, self.q / root, 0.0)), _norm(np.where(moves, u / root, 0.0)))
        return np.where(impulse > motion, motion / np.where(impulse > 0, impulse, 1.0), 1.0)

    def unscaled_residual(self, z: Array) -> Array:
        """The natural map with rho = 1 over |q|_2, FCLIB's measure: it depends on the units of the data."""
        with np.errstate(invalid="ignore", over="ignore"):
            return _divide(self._gap(z, self._moved(z) + self.q, 1.0), _norm(self.q))


@dataclass(frozen=True, eq=False)
class ConeProblem(Cones):
    """The problem over W (..., r(1+d), r(1+d)), which is `M`.

    Instead of an array it may be a scipy sparse array where a dense one would not fit; only solvers that say so take
    that. Raises DataError for wrong shapes, non-finite data or negative mu.
    """

    M: Array
    q: Array
    mu: Array
    d: int = 2

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

    def _moved(self, z: Array) -> Array:
        return self.M @ z if is_sparse(self.M) else np.einsum("...ij,...j->...i", self.M, z)

    def _diagonal(self) -> Array:
        return self.M.diagonal() if is_sparse(self.M) else np.diagonal(self.M, axis1=-2, axis2=-1)


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
    associated = False


Problem = MLCP | ConeProblem
