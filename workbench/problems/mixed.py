"""Mixed problems: friction cones, discs and bounds combined, over one matrix.

    F = M z + q,     z in a product of sets,     F complementary to z

The sets are intervals, friction cones under Coulomb's law or with associated flow, and discs of given radius, in any
number and order (`Sets`). A cone with a friction coefficient mu_a for each direction is an ellipsoid: with z_a = s_a
z'_a, s_a = mu_a / mu, it becomes the round cone of mu, the largest of them, and F'_a = s_a F_a (Goyal, Ruina &
Papadopoulos 1991: friction maximises dissipation over the ellipse).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.problems.classes import _asked, _finite, _square
from workbench.problems.problem import Indices, OverMatrix, Problem, SetBySet
from workbench.problems.sets import NO_CONE, BlockSets, Sets
from workbench.support.arrays import Array
from workbench.support.errors import DataError


@dataclass(frozen=True, eq=False)
class MixedNCP(Problem):
    """F = M z + q complementary to z in its sets. M (..., n, n), q, lower, upper (..., n), mu (..., .) as `sets` say.

    Bounds apply to intervals and are ignored for other sets. Raises DataError for wrong shapes, data that are not
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

    @property
    def laws(self) -> Indices:
        return self.sets.cone

    @property
    def is_batch(self) -> bool:
        return self.q.ndim > 1

    @cached_property
    def by_set(self) -> SetBySet:
        """The problem set by set, with ellipsoids scaled to round cones."""
        s, order = self.sets, self.sets.order
        mu, unit = np.zeros(s.cone.size), np.ones(self.size)
        for i in np.flatnonzero(s.cone != NO_CONE):
            own = self.mu[s.at[i] : s.at[i + 1]]
            mu[i] = own.max()
            if own.size > 1 and mu[i] > 0:
                unit[s.first[i] + 1 : s.first[i + 1]] = own / mu[i]
        A, q = unit[:, None] * self.M[np.ix_(order, order)] * unit, unit * self.q[order]
        sets = BlockSets(s.first, s.cone, mu, self.lower[order], self.upper[order])
        return SetBySet(sets, OverMatrix(A, s.first), q, abs(q), order, unit)

    def velocity(self, z: Array) -> Array:
        # Directions without friction have no unit.
        return self.M @ self._asked(z) + self.q

    def residual(self, z: Array) -> Array:
        """`Problem.residual` of z (..., n); one number per problem."""
        z = _asked(z, self.q)
        if z.ndim == 1:
            return np.asarray(super().residual(z))
        found = np.empty(z.shape[:-1])
        for k in np.ndindex(found.shape):
            M, q, lower, upper, mu = (
                np.broadcast_to(x, (*found.shape, *x.shape[x.ndim - rank :]))[k]
                for x, rank in ((self.M, 2), (self.q, 1), (self.lower, 1), (self.upper, 1), (self.mu, 1))
            )
            found[k] = MixedNCP(M, q, lower, upper, mu, self.sets).residual(z[k])
        return found
