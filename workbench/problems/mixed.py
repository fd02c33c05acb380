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

from workbench.problems.classes import _asked, _finite, _rows, _square
from workbench.problems.problem import Indices, OverMatrix, Problem, SetBySet
from workbench.problems.sets import BlockSets, Sets
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
        # Lazy import: stating problems needs no compiled code.
        from workbench.problems.residual import order_by_set

        s, A, rows = self.sets, np.empty(self.M.shape), np.empty((5, self.size))
        order_by_set(self.M, self.q, self.lower, self.upper, self.mu, s.code, A, rows)
        q, lower, upper, unit, mu = rows
        sets = BlockSets(s.first, s.cone, mu[: s.cone.size], lower, upper)
        return SetBySet(sets, OverMatrix(A, s.first), q, abs(q), s.order, unit)

    def velocity(self, z: Array) -> Array:
        # Directions without friction have no unit.
        return self.M @ self._asked(z) + self.q

    def residual(self, z: Array) -> Array:
        """`Problem.residual` of z (..., n); one number per problem."""
        from workbench.problems.residual import mixed_residuals

        z = _asked(z, self.q)
        found = np.empty(z.shape[:-1])
        data = [
            _rows(x if x.ndim == rank else np.broadcast_to(x, (*found.shape, *x.shape[-rank:])), rank)
            for x, rank in ((self.M, 2), (self.q, 1), (self.lower, 1), (self.upper, 1), (self.mu, 1))
        ]
        mixed_residuals(*data, self.sets.code, _rows(z), found.reshape(-1))
        return found
