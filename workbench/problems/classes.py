"""Problems over a matrix with sets of one kind: LCP, MLCP, conic QP, Coulomb NCP. Each validates its data.

All are `Problem`s and share one measure of error: the natural map, equilibrated by row or contact so that neither units
nor mass ratios matter. For every row of an LCP or MLCP, and every contact of a frictional problem, it is the gap
|y - P_K(y - D F)|, y = z/D, over a scale of that row or contact; the residual is the largest of them (`residual`;
formulary, section 7). Solvers never grade themselves.

The arrays may have leading batch axes (one problem per time step): `residual` then returns one number per problem.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.problems.problem import Indices, Operator, OverMatrix, Problem, SetBySet
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE, BlockSets, contact_by_contact
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SYMMETRY_TOLERANCE = 1e-10
"""Relative asymmetry |M - M^T|_max / |M|_max up to which a matrix counts as symmetric."""


def is_sparse(M: Any) -> bool:
    """Return whether M is a scipy sparse matrix, without importing scipy."""
    return hasattr(M, "tocsr")


def _finite(name: str, value: Any) -> Any:
    if np.iscomplexobj(value):
        raise DataError(f"{name} has complex entries; real ones are needed")
    if is_sparse(value):
        value = value.tocsr().astype(float)
        if not np.isfinite(value.data).all():
            raise DataError(
                f"{name} has an entry that is {value.data[~np.isfinite(value.data)][0]}; all must be finite"
            )
        return value
    value = np.array(value, dtype=float, order="C")
    # The sum of the squares is the faster check; large numbers may overflow in it.
    if not (math.isfinite(np.vdot(value, value)) or np.isfinite(value).all()):
        where = np.argwhere(~np.isfinite(value))[0]
        raise DataError(f"{name}{where.tolist()} is {value[tuple(where)]}; every entry must be finite")
    value.flags.writeable = False
    return value


def _square(name: str, M: Array, q: Array) -> None:
    if M.ndim < 2 or M.shape[-1] != M.shape[-2]:
        raise DataError(f"{name} has shape {M.shape}; a square matrix is needed")
    if q.shape != M.shape[:-1]:
        raise DataError(f"q has shape {q.shape}; {name} of shape {M.shape} needs {M.shape[:-1]}")


def _rows(x: Array, rank: int = 1) -> Array:
    """Return x with one leading axis."""
    axes = x.ndim - rank
    if not axes:
        return np.ascontiguousarray(x)[None]
    return np.ascontiguousarray(x).reshape(math.prod(x.shape[:axes]), *x.shape[axes:])


def _asked(z: Any, q: Array) -> Array:
    """Return z, broadcast to the problem's batch axes; raises DataError if its size is wrong."""
    z = np.asarray(z, dtype=float)
    if z.shape[-1:] != q.shape[-1:]:
        raise DataError(f"z has shape {z.shape}; the problem has {q.shape[-1]} unknowns")
    return z if z.shape == q.shape else np.broadcast_to(z, np.broadcast_shapes(z.shape, q.shape))


def equilibration(M: Array) -> Array:
    """Return D (..., n) such that D M D is free of units: unit diagonal if M has one, else entries of at most one.

    Exactly equivariant: E M E with a positive diagonal E gives D / E. A diagonal entry within round-off of
    |M_ij M_ji / M_jj| counts as zero; such rows take their scale from the rows coupled to them, or D = 1 if none of
    these has one.
    """
    size = np.abs(M)
    diagonal = np.diagonal(size, axis1=-2, axis2=-1)
    both = np.maximum(size, np.swapaxes(size, -1, -2))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
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
    # An entry beyond the range of doubles is infinite; M is then not definite, and symmetric only if it is exactly.
    with np.errstate(over="ignore"):
        return D[..., :, None] * M * D[..., None, :]


def is_symmetric(M: Array) -> bool:
    """Return whether |S - S^T|_max <= SYMMETRY_TOLERANCE |S|_max, S = D M D equilibrated, for every matrix of a batch.

    Exactly symmetric matrices are, whatever their scales. A sparse M is not equilibrated.
    """
    if is_sparse(M):
        return bool(abs(M - M.T).max() <= SYMMETRY_TOLERANCE * abs(M).max())
    if (np.swapaxes(M, -1, -2) == M).all():
        return True
    # The difference of two entries near the largest double is infinite, and M is then not symmetric.
    with np.errstate(over="ignore", invalid="ignore"):
        S = _scaled(M)
        asymmetry = np.abs(S - np.swapaxes(S, -1, -2)).max(initial=0.0)
    return bool(np.isfinite(asymmetry) and asymmetry <= SYMMETRY_TOLERANCE * np.abs(S).max(initial=0.0))


def is_psd(M: Array) -> bool:
    """Return whether M is symmetric and D M D has no eigenvalue below -n eps |D M D|_2 (numerical, no certificate)."""
    if not is_symmetric(M):
        return False
    w = np.linalg.eigvalsh(_scaled(M))
    return bool(np.all(w[..., 0] >= -M.shape[-1] * np.finfo(float).eps * np.abs(w).max(axis=-1, initial=0.0)))


@dataclass(frozen=True, eq=False)
class MLCP(Problem):
    """Mixed LCP with bounds: l <= z <= u, w = M z + q >= 0 where z = l, <= 0 where z = u, = 0 between.

    M (..., n, n), q, lower, upper (..., n); bounds may be infinite. An LCP is the case l = 0, u = inf. Raises DataError
    for wrong shapes, non-finite data or l > u.
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

    @property
    def laws(self) -> Indices:
        return np.full(self.size, NO_CONE)

    @property
    def is_batch(self) -> bool:
        return self.q.ndim > 1

    @cached_property
    def by_set(self) -> SetBySet:
        each = np.arange(self.size + 1)
        sets = BlockSets(each, self.laws, np.zeros(self.size), self.lower, self.upper)
        return SetBySet(sets, OverMatrix(self.M, each), self.q, abs(self.q), each[:-1], np.ones(self.size))

    def residual(self, z: Array) -> Array:
        """Natural-map residual of z (..., n), dimensionless; one number per problem, inf if z is not finite.

        All rows are measured together, since the round-off of a method in any row depends on the largest.
        """
        # Lazy import: stating problems needs no compiled code.
        from workbench.problems.residual import bounded_residuals

        z = _asked(z, self.q)
        found = np.empty(z.shape[:-1])
        data = _rows(self.M, 2), *map(_rows, (self.q, self.lower, self.upper, z))
        bounded_residuals(*data, found.reshape(-1))
        return found


@dataclass(frozen=True, eq=False)
class LCP(MLCP):
    """0 <= z  perp  M z + q >= 0. M (..., n, n), q (..., n)."""

    lower: Array = 0.0  # type: ignore[assignment]
    upper: Array = np.inf  # type: ignore[assignment]
    kind = "LCP"


@dataclass(frozen=True, eq=False)
class Equations(LCP):
    """The empty problem that remains once equations have been solved for all unknowns. M (..., 0, 0), q (..., 0).

    The residual is zero, since there is nothing to violate.
    """

    kind = "equations"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size:
            raise DataError(f"{self.size} unknowns are left; equations leave none")


def _cone_gap(z: Array, step: Array, mu: Array, d: int) -> Array:
    """Return z - P(z - step) with the Euclidean projection on the cones mu y_n >= |y_t|; all [n (r), t (d r)].

    Computed as step + (y - P(y)) with y = z - step: z - P(y) would lose the step next to a large impulse along a ray.
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


class ConeComplementarity(Problem):
    """K contains z perp W z + q (+ De Saxce shift) in K*, over r friction cones mu z_n >= |z_t|.

    Order of the unknowns: z = [p_n (r), p_t (d r)], tangential parts contact by contact. Subclasses decide how W is
    stored: they have q, mu, d and `_operator`, over the unknowns contact by contact.
    """

    q: Array
    mu: Array
    d: int
    kind = "cone"
    associated = True
    """Whether the flow rule is the CCP's; under Coulomb's law De Saxce's shift is added."""

    @property
    def size(self) -> int:
        return self.q.shape[-1]

    @property
    def laws(self) -> Indices:
        return np.full(self.mu.shape[-1], ASSOCIATED if self.associated else COULOMB)

    @property
    def is_batch(self) -> bool:
        return self.q.ndim > 1

    @cached_property
    def by_set(self) -> SetBySet:
        order, no_bound = contact_by_contact(self.mu.size, self.d), np.full(self.size, np.inf)
        first, q = (1 + self.d) * np.arange(self.mu.size + 1), self.q[order]
        sets = BlockSets(first, self.laws, self.mu, -no_bound, no_bound)
        return SetBySet(sets, self._operator(order, first), q, abs(q), order, np.ones(self.size))

    def _operator(self, order: Indices, first: Indices) -> Operator:
        """W over z[order], contact by contact."""
        raise NotImplementedError

    def unscaled_residual(self, z: Array) -> float:
        """Return the natural map with rho = 1 over |q|_2, FCLIB's measure, which depends on the units of the data.

        z (r(1+d),), of one problem.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            size, F = float(_norm(self.q)), self.velocity(z)
            value = float(_norm(_cone_gap(z, F + self.shift(F), self.mu, self.d))) / (size if size > 0 else 1.0)
            return value if np.isfinite(value) and np.isfinite(size) else np.inf


@dataclass(frozen=True, eq=False)
class ConeProblem(ConeComplementarity):
    """Friction-cone problem over a matrix W (..., r(1+d), r(1+d)), which is `M`.

    It may be a scipy sparse array if a dense one would not fit in memory; only solvers that say so accept that. Raises
    DataError for wrong shapes, non-finite data or negative mu.
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

    def residual(self, z: Array) -> Any:
        """`Problem.residual` of z (..., r(1+d)); one number per problem."""
        if is_sparse(self.M):
            return super().residual(z)
        from workbench.problems.residual import contact_residual, contact_residuals

        z = _asked(z, self.q)
        if z.ndim == 1:
            return contact_residual(self.M, self.q, self.mu, self.d, self.associated, np.ascontiguousarray(z))
        found, mu = np.empty(z.shape[:-1]), _rows(self.mu)
        data = _rows(self.M, 2), _rows(self.q), mu, self.d, self.associated, _rows(z)
        contact_residuals(*data, found.reshape(-1))
        return found

    def _operator(self, order: Indices, first: Indices) -> Operator:
        # Dense rows and columns are taken in a third of the time of an index.
        M: Any = self.M
        return OverMatrix(M[order][:, order] if is_sparse(M) else M.take(order, 0).take(order, 1), first)


@dataclass(frozen=True, eq=False)
class ConicQP(ConeProblem):
    """Cone complementarity problem; with W symmetric PSD it is min 1/2 z^T W z + q^T z over K (Anitescu & Tasora)."""

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


MatrixProblem = MLCP | ConeProblem
