"""Mixed problems: friction cones, discs and bounds beside one another, over one matrix.

    F = M z + q,     z in a product of sets,     F complementary to z

The sets are intervals, friction cones under Coulomb's law or with associated flow, and discs of given radius, in any
number and order (`Sets`). A cone whose directions have friction coefficients of their own, mu_a, is an ellipsoid: with
z_a = s_a z'_a, s_a = mu_a / mu, it is the round cone of mu, the largest of them, and F'_a = s_a F_a (Goyal, Ruina &
Papadopoulos 1991: friction dissipates the most that the ellipse allows).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.errors import DataError
from workbench.problems.classes import _asked, _finite, _square
from workbench.problems.sets import NO_CONE, Sets

Indices = NDArray[np.int64]


class SetBySet(NamedTuple):
    """A problem set by set: A (n, n), q (n,), unit (n,) of the unknowns, coefficients or radii (B,), bounds (n,)."""

    A: Array
    q: Array
    unit: Array
    mu: Array
    lower: Array
    upper: Array


@dataclass(frozen=True, eq=False)
class MixedNCP:
    """F = M z + q complementary to z in its sets. M (..., n, n), q, lower, upper (..., n), mu (..., .) as `sets` say.

    Bounds are those of intervals and mean nothing for others. Raises DataError for wrong shapes, data that are not
    finite, lower > upper, and negative coefficients or radii.
    """

    M: Array
    q: Array
    lower: Array
    upper: Array
    mu: Array
    sets: Sets
    kind = "mixed NCP"

    def __post_init__(self) -> None:
        for name in ("M", "q", "mu"):
            object.__setattr__(self, name, _finite(name, getattr(self, name)))
        _square("M", self.M, self.q)
        if self.q.shape[-1] != self.sets.order.size or self.mu.shape[-1:] != (self.sets.at[-1],):
            raise DataError(
                f"q has {self.q.shape[-1]} entries and mu {self.mu.shape[-1:]}; the sets have "
                f"{self.sets.order.size} unknowns and {self.sets.at[-1]} coefficients"
            )
        for name in ("lower", "upper"):
            bound = np.broadcast_to(np.asarray(getattr(self, name), dtype=float), self.q.shape)
            object.__setattr__(self, name, np.ascontiguousarray(bound))
        if not (self.lower <= self.upper).all():
            raise DataError("lower must not exceed upper, and neither may be nan")
        if (self.mu < 0).any():
            raise DataError(f"mu = {self.mu.min():g} is negative; friction coefficients and radii are >= 0")

    @property
    def size(self) -> int:
        return self.q.shape[-1]

    @cached_property
    def set_by_set(self) -> SetBySet:
        """The problem set by set, ellipsoids as round cones; for one problem, not a batch."""
        s, order = self.sets, self.sets.order
        mu, unit = np.zeros(s.cone.size), np.ones(self.size)
        for i in np.flatnonzero(s.cone != NO_CONE):
            own = self.mu[s.at[i] : s.at[i + 1]]
            mu[i] = own.max()
            if own.size > 1 and mu[i] > 0:
                unit[s.first[i] + 1 : s.first[i + 1]] = own / mu[i]
        A = unit[:, None] * self.M[np.ix_(order, order)] * unit
        return SetBySet(A, unit * self.q[order], unit, mu, self.lower[order], self.upper[order])

    def plain(self, x: Array) -> Array:
        """z (n,) of the unknowns x (n,) of `set_by_set`."""
        z = np.empty(self.size)
        z[self.sets.order] = self.set_by_set.unit * x
        return z

    def residual(self, z: Array) -> Array:
        """Natural-map residual of z (..., n), dimensionless; one number per problem, inf where z is not finite.

        The measure is that of formulary 7.5: an interval by its row, a cone or disc as a contact.
        """
        z = _asked(z, self.q)
        if z.ndim == 1:
            return np.asarray(self._residual(z))
        found = np.empty(z.shape[:-1])
        for k in np.ndindex(found.shape):
            M, q, lower, upper, mu = (
                np.broadcast_to(x, (*found.shape, *x.shape[x.ndim - rank :]))[k]
                for x, rank in ((self.M, 2), (self.q, 1), (self.lower, 1), (self.upper, 1), (self.mu, 1))
            )
            found[k] = MixedNCP(M, q, lower, upper, mu, self.sets)._residual(z[k])
        return found

    def _residual(self, z: Array) -> float:
        from workbench.problems.residual import BlockSets, block_units, by_sets

        s, p = self.sets, self.set_by_set
        with np.errstate(divide="ignore", invalid="ignore"):
            # What a coefficient of zero leaves without effect must be zero.
            x = np.where(p.unit > 0, z[s.order] / p.unit, np.where(z[s.order] == 0, 0.0, np.inf))
        if not np.isfinite(x).all():
            return np.inf
        own = np.concatenate([p.A[a:b, a:b].ravel() for a, b in zip(s.first[:-1], s.first[1:], strict=True)])
        D, diagonal, part, A = np.empty(self.size), np.empty(self.size), self.parts(), p.A
        block_units(s.first, s.cone, own, p.q, x, D, diagonal)
        sets = BlockSets(s.first, s.cone, p.mu, p.lower, p.upper)
        found = by_sets(sets, part, D, p.q, abs(p.q), diagonal, x, lambda x: (A @ x, abs(A) @ abs(x)))
        return float(found.max(initial=0.0))

    def parts(self) -> Indices:
        """(B,) the least set of the part of every one: what M couples directly or through others."""
        from workbench.problems.islands import parts_of_matrix

        set_of = np.repeat(np.arange(self.sets.cone.size), np.diff(self.sets.first))
        return parts_of_matrix(self.set_by_set.A, set_of, self.sets.cone.size)
