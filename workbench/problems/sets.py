"""Sets of unknowns (intervals, friction cones under one law or another, discs), and their positions."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.support.arrays import Array
from workbench.support.errors import DataError

NO_CONE, COULOMB, ASSOCIATED, APART, DISC = range(5)
"""Type of a block's set: intervals; the friction cone under Coulomb's law; the friction cone with associated flow;
Coulomb's law with separate bounds of sliding, torsion and rolling (`residual.disc_end`); a disc, or ball."""
CONES = COULOMB, ASSOCIATED, APART

Indices = NDArray[np.int64]


def normals_first(r: int, d: int) -> Indices:
    """Positions (r (1 + d),), in a vector ordered contact by contact, of the entries of [n (r), t (d r)]."""
    first = (1 + d) * np.arange(r)
    return np.concatenate([first, (first[:, None] + 1 + np.arange(d)).ravel()])


def contact_by_contact(r: int, d: int) -> Indices:
    """The inverse of `normals_first`."""
    return np.concatenate([np.arange(r)[:, None], r + np.arange(d * r).reshape(r, d)], axis=1).ravel()


def contact_of_row(r: int, d: int) -> Indices:
    """(r (1 + d),) the contact of every entry of [n (r), t (d r)]."""
    return np.concatenate([np.arange(r), np.repeat(np.arange(r), d)])


class BlockSets(NamedTuple):
    """B sets, one after another: set i has the unknowns first[i] : first[i + 1] of X and the type cone[i].

    first (B + 1,); cone, mu (B,), for a disc its radius; lower, upper (X,), which are read for intervals only.
    """

    first: Indices
    cone: Indices
    mu: Array
    lower: Array
    upper: Array


@dataclass(frozen=True, eq=False)
class Sets:
    """B sets, one after another: their types, and the positions of their unknowns in z (n,).

    cone (B,) as in `ContactBlocks`; order (n,) the positions in z of the unknowns of all sets, set i having first[i] :
    first[i + 1], first (B + 1,), a cone its normal first; a set has the entries at[i] : at[i + 1] of mu, at (B + 1,): a
    cone one coefficient or one for every direction, a disc its radius, an interval none. Raises DataError if these are
    inconsistent.
    """

    cone: Indices
    first: Indices
    order: Indices
    at: Indices

    def __post_init__(self) -> None:
        for name in ("cone", "first", "order", "at"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.int64))
        m, count = np.diff(self.first), np.diff(self.at)
        if not np.array_equal(np.sort(self.order), np.arange(self.order.size)) or m.sum() != self.order.size:
            raise DataError("order and first must share out the unknowns among the sets, each once")
        for i in np.flatnonzero((m < 1) | (self.cone < NO_CONE) | (self.cone > DISC)):
            raise DataError(
                f"set {i} has {m[i]} unknowns and cone {self.cone[i]}; 1 or more and 0 to {DISC} are needed"
            )
        one = np.where(self.cone == NO_CONE, 0, 1)
        if ((count != one) & ~(np.isin(self.cone, CONES) & (count == m - 1))).any():
            raise DataError("an interval has no coefficient, a disc one radius, a cone one or one for every direction")

    @property
    def code(self) -> Indices:
        """All of it as one row of numbers, for kernels: cone, first, at, order."""
        return np.concatenate([self.cone, self.first, self.at, self.order])

    @property
    def set_of(self) -> Indices:
        """(n,) the set of every unknown, set by set."""
        return np.repeat(np.arange(self.cone.size), np.diff(self.first))

    @property
    def begins(self) -> NDArray[np.bool_]:
        """(n,) mask, set by set, of the unknowns that begin a block: all of an interval, the first of other sets."""
        found: NDArray[np.bool_] = self.cone[self.set_of] == NO_CONE
        found[self.first[:-1]] = True
        return found

    @property
    def in_intervals(self) -> NDArray[np.bool_]:
        """(n,) mask, in the order of z, of the unknowns in intervals."""
        found = np.empty(self.order.size, dtype=bool)
        found[self.order] = self.cone[self.set_of] == NO_CONE
        return found

    def without(self, gone: NDArray[np.bool_]) -> "Sets":
        """Return the sets without some unknowns (n,) of intervals."""
        left = ~gone[self.order]
        count = np.bincount(self.set_of[left], minlength=self.cone.size)
        some, place = count > 0, np.cumsum(~gone) - 1
        numbers = np.append(0, np.cumsum(np.diff(self.at)[some]))
        return Sets(self.cone[some], np.append(0, np.cumsum(count[some])), place[self.order[left]], numbers)
