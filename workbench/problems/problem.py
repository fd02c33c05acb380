"""Complementarity problems: unknowns in a product of sets, and F = A z + q complementary to them in every set.

    z in K = K_1 x ... x K_B,     F = A z + q,     F complementary to z set by set

LCP, MLCP, conic QP, Coulomb NCP, mixed problem and contact blocks differ in their sets and in how A is stored. Each
gives its sets, an operator and q (`Problem.by_set`), from which follow the residual, De Saxce's shift and all methods
that need no matrix. Problems with a small dense matrix have kernels for the same residual.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.problems.sets import COULOMB, NO_CONE, BlockSets
from workbench.support.arrays import Array
from workbench.support.errors import DataError

Indices = NDArray[np.int64]


class Operator(Protocol):
    """A over X unknowns ordered set by set: `OverMatrix`, or `OverBodies`, which does not form it."""

    @property
    def diagonal(self) -> Array:
        """Diagonal of A (X,)."""
        ...

    @property
    def own(self) -> Array:
        """Diagonal blocks of A, flat, set by set, each row by row."""
        ...

    def products(self, x: Array) -> tuple[Array, Array]:
        """Return A x (X,), and the sums of the absolute values of the terms in its rows."""
        ...

    def parts(self) -> Indices:
        """(B,) the least set of each set's part: the sets that A couples, directly or through others."""
        ...

    def factors(self) -> tuple[Any, Any]:
        """Sparse J, V (X, k) with A = J V^T, if `why_no_factors` is None."""
        ...

    def why_no_factors(self) -> str | None:
        """Reason why such factors are not available, or None."""
        ...


@dataclass(frozen=True, eq=False)
class OverMatrix:
    """A (X, X), dense or sparse, with sets of the unknowns first[i] : first[i + 1]; first (B + 1,)."""

    A: Any
    first: Indices

    @cached_property
    def diagonal(self) -> Array:
        return np.array(self.A.diagonal())

    @cached_property
    def own(self) -> Array:
        return own_blocks(self.first, lambda rows, columns: np.asarray(self.A[rows, columns]).ravel())

    def products(self, x: Array) -> tuple[Array, Array]:
        return self.A @ x, abs(self.A) @ abs(x)

    def parts(self) -> Indices:
        from workbench.problems.islands import parts_of_matrix

        return parts_of_matrix(self.A, owners(self.first), self.first.size - 1)

    def factors(self) -> tuple[Any, Any]:
        from workbench.engine.lazy import sparse

        return sparse.csr_array(self.A), sparse.eye_array(int(self.first[-1]), format="csr")

    def why_no_factors(self) -> str | None:
        return None


def owners(first: Indices) -> Indices:
    """Return (X,) the set of every unknown, for sets of first[i] : first[i + 1]; first (B + 1,)."""
    return np.repeat(np.arange(first.size - 1), np.diff(first))


def block_places(first: Indices) -> tuple[Indices, Indices]:
    """Return row and column of every entry of diagonal blocks, flat, set by set, each row by row; first (B + 1,)."""
    k = np.diff(first)
    block = np.repeat(np.arange(k.size), k * k)
    a, b = np.divmod(np.arange(block.size) - np.repeat(np.cumsum(k * k) - k * k, k * k), np.maximum(k[block], 1))
    return first[block] + a, first[block] + b


def own_blocks(first: Indices, entries: Callable[[Indices, Indices], Array]) -> Array:
    """Return `Operator.own` of a matrix given by a function of its entries (rows, columns)."""
    row, column = block_places(first)
    return entries(row, column) if row.size else np.zeros(0)


@dataclass(frozen=True, eq=False)
class SetBySet:
    """A problem over x (X,), ordered set by set: z[order] = unit x, and A x + q complementary to x in `sets`.

    order, unit (X,), q (X,); sizes (X,) are the sums of the absolute values of the terms of q.
    """

    sets: BlockSets
    operator: Operator
    q: Array
    sizes: Array
    order: Indices
    unit: Array

    @cached_property
    def set_of(self) -> Indices:
        """(X,) the set of every unknown."""
        return owners(self.sets.first)

    @cached_property
    def part(self) -> Indices:
        """`Operator.parts`."""
        return self.operator.parts()

    @property
    def matrix(self) -> Any:
        """A, if the operator is an `OverMatrix`."""
        assert isinstance(self.operator, OverMatrix)
        return self.operator.A

    def unknowns(self, z: Array) -> Array:
        """Return x of z (X,), inf where a unit is zero, so that z has no effect, and z is not."""
        if self.unit.all():
            return np.asarray(z[self.order] / self.unit)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.unit > 0, z[self.order] / self.unit, np.where(z[self.order] == 0, 0.0, np.inf))

    def plain(self, x: Array) -> Array:
        """Return z of x (X,)."""
        z = np.empty(x.size)
        z[self.order] = self.unit * x
        return z

    def velocity(self, x: Array) -> Array:
        """Return A x + q (X,)."""
        return self.operator.products(x)[0] + self.q

    def shift(self, F: Array) -> Array:
        """Return De Saxce's shift (X,): mu |F_t| on the normal of every cone under Coulomb's law."""
        first, cone, mu, _, _ = self.sets
        shifted, slip, found = np.flatnonzero(cone == COULOMB), F.copy(), np.zeros(F.size)
        slip[first[shifted]] = 0.0
        found[first[shifted]] = mu[shifted] * np.sqrt(np.bincount(self.set_of, slip**2, cone.size)[shifted])
        return found

    def residuals(self, x: Array) -> Array:
        """Return the natural-map residual of every set (B,) at x, dimensionless, as in formulary 7.5.

        An interval is measured by row, a cone or disc as a contact; inf if x is not finite."""
        # Lazy import: stating problems needs no compiled code.
        from workbench.problems.residual import Iterate, measure_raised, scale_up

        if not np.isfinite(x).all():
            return np.full(self.sets.cone.size, np.inf)
        D, raised, found = np.empty(x.size), np.empty(x.size), np.empty(self.sets.cone.size)
        sets, part, own, free, sizes, diagonal = self._for_kernels
        up = scale_up(sets, diagonal, own, free, x, D, raised)
        with np.errstate(over="ignore", invalid="ignore"):
            moved, terms = self.operator.products(raised)
        measure_raised(sets, part, up, D, Iterate(raised, moved, free, sizes, terms, diagonal), found)
        return found

    @cached_property
    def _for_kernels(self) -> tuple[BlockSets, Indices, Array, Array, Array, Array]:
        """The sets, the parts, the diagonal blocks of A, q with its sizes, and the diagonal, as kernels take them."""
        A = self.operator
        # For cones and discs the diagonal suffices.
        own = A.own if (self.sets.cone == NO_CONE).any() else np.zeros(0)
        sets, numbers = self.sets, (self.part, own, self.q, self.sizes, A.diagonal)
        given: Any = [[np.require(y, requirements="W") for y in group] for group in (sets, numbers)]
        return BlockSets(*given[0]), *given[1]


class Problem:
    """Base of all problems; subclasses have `by_set`, q and the name of their `kind`."""

    kind: str

    @property
    def size(self) -> int:
        raise NotImplementedError

    @property
    def laws(self) -> Indices:
        """(B,) the type of each set and its law (`sets`)."""
        raise NotImplementedError

    @property
    def is_batch(self) -> bool:
        """Whether this is a batch of problems."""
        return False

    @cached_property
    def by_set(self) -> SetBySet:
        """The problem set by set, for a single problem, not a batch."""
        raise NotImplementedError

    def velocity(self, z: Array) -> Array:
        """Return A z + q (n,) at z (n,)."""
        p, F = self.by_set, np.empty(self.size)
        F[p.order] = p.velocity(self._asked(z)[p.order])
        return F

    def shift(self, F: Array) -> Array:
        """Return De Saxce's shift (n,) of F = A z + q (n,), which Coulomb's law adds to it."""
        p = self.by_set
        return p.plain(p.shift(p.unit * F[p.order]))

    def block_residuals(self, z: Array) -> Array:
        """Return the residual of every set (B,) at z (n,)."""
        return self.by_set.residuals(self.by_set.unknowns(self._asked(z)))

    def residual(self, z: Array) -> Any:
        """Return the natural-map residual of z (n,), dimensionless, inf if z is not finite: the largest of all sets."""
        return float(self.block_residuals(z).max(initial=0.0))

    def _asked(self, z: Any) -> Array:
        z = np.ascontiguousarray(z, dtype=float)
        if z.shape != (self.size,):
            raise DataError(f"z has shape {z.shape}; the problem has {self.size} unknowns")
        return z
