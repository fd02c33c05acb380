"""The block of one contact: a formulation compiled once, from which problems with any number of contacts are built.

A declaration is a sum over contacts with relations contact by contact. It is compiled for one contact with n = 1 + d
velocities and no bilateral rows; with the identity as Jacobian, the velocity is the contact's own u = (u_n, u_t), and
the compiled numbers are those of `problems.contact_blocks`,

    P = R x + s,     F = L u + N x + c,     F complementary to x,

where x are all unknowns but the velocity. Each is linear in data of the contact alone, theta = [b_n, b_t, eps_n, eps_t,
mu, the formulation's own parameters, constants, 1], as in the declaration at one contact. `locality` checks at random
data that for more contacts the blocks agree with the declaration.

A formulation with several velocities, such as staggered projections, uses as many copies of the system: the rows of a
contact are those of one copy after those of the other.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, VECTOR, copy
from workbench.language.assemble.assembly import stamp
from workbench.language.assemble.find import compiled
from workbench.language.assemble.locality import CONTACT, LocalityClaim, Velocity, must_be_local, not_local
from workbench.language.assemble.plan import Compiled
from workbench.language.formulation import ContactSymbols, Formulation
from workbench.language.modelling import Hooks
from workbench.problems.sets import DISC, NO_CONE
from workbench.support.errors import ModellingError


class BlockStamp(NamedTuple):
    """B of one contact, flat, as a function of theta (`LocalBlock`), with k unknowns, m rows and the number of its
    cone."""

    constant: Any
    at: Any
    par: Any
    val: Any
    k: int
    m: int
    cone: int


STAMP = argument_type(BlockStamp, VECTOR, INDICES, INDICES, VECTOR, *(types.int64,) * 3)


@dataclass(frozen=True, eq=False)
class LocalBlock:
    """The block of one contact with d friction directions: m = copies (1 + d) rows and k unknowns.

    Its numbers form one matrix B with the rows [F (k) | P (m) | lower (k) | upper (k) | mu (1)] and the columns [u (m)
    | x (k) | 1]: B is `constant` plus val theta[par] at the positions `at` (`stamp_block`). `main` is the copy of the
    system whose velocity is v+.
    """

    formulation: Formulation
    d: int
    k: int
    copies: int
    main: int
    cone: int
    constant: np.ndarray
    at: np.ndarray
    par: np.ndarray
    val: np.ndarray
    theta: np.ndarray
    hooks: Hooks
    own: slice
    """The formulation's own parameters in theta."""

    @property
    def m(self) -> int:
        return self.copies * (1 + self.d)

    @cached_property
    def stamp(self) -> BlockStamp:
        """The data in the form that kernels take."""
        return BlockStamp(self.constant.reshape(-1), self.at, self.par, self.val, self.k, self.m, self.cone)

    @property
    def rest(self) -> int:
        """Number of constants after the own parameters in theta."""
        return self.theta.size - self.own.stop

    def at_data(self, theta: np.ndarray) -> np.ndarray:
        """Return B (3 k + m + 1, m + k + 1) of one contact with the data theta."""
        B = np.empty(self.constant.size)
        stamp_block(theta, self.stamp, B)
        return B.reshape(self.constant.shape)


@kernel(types.void(VECTOR, STAMP, VECTOR), _nrt=False)
def stamp_block(theta, stamp, B):
    """Fill B, flat, of a contact with the data theta."""
    copy(stamp.constant, B)
    for j in range(stamp.at.shape[0]):
        B[stamp.at[j]] += stamp.val[j] * theta[stamp.par[j]]


@lru_cache(maxsize=256)
def local_block(formulation: Formulation, d: int) -> LocalBlock:
    """Return the block of one contact with d = 1 to 5 friction directions; raises ModellingError if there is none."""
    if formulation.symbols is not ContactSymbols:
        raise ModellingError(f"{formulation.name} is about {formulation.symbols.about}; a time step is needed")
    c = compiled(formulation, 1 + d, 0, 1, d)
    reader = RowReader(c)
    velocities = reader.velocities()
    block = _block(reader, velocities)
    must_be_local(LocalityClaim(formulation, d, velocities, block.main, block.own, block.theta, block.at_data))
    if block.cone != NO_CONE:
        _must_be_plain(block)
    return block


def _must_be_plain(block: LocalBlock) -> None:
    """Raise ModellingError if a cone or disc holds anything but the contact's own impulses and velocities."""
    k, m = block.k, block.m
    L, R = block.constant[:k, :m], block.constant[k : k + m, m : m + k]
    if not (block.copies == 1 and np.array_equal(L, np.eye(k)) and np.array_equal(R, np.eye(k))):
        raise ModellingError(
            f"{block.formulation.name} has in its friction cone other unknowns than a contact's impulses, or opposite "
            "to it other rows than the normal and tangent rows; scenes take a cone for these alone"
        )
    if block.cone == DISC and _couples(block):
        raise ModellingError(
            f"{block.formulation.name} couples the normal row of a contact to its friction, or its friction to p_n, by "
            "more than the bodies; scenes take discs whose rows are their own"
        )


def _couples(block: LocalBlock) -> bool:
    """Return whether N, for generic data, couples the normal row with those of friction."""
    width = block.constant.shape[1]
    row, column = np.divmod(block.at, width)
    own = (row < block.k) & (block.m <= column) & (column < block.m + block.k)
    fixed = block.constant[: block.k, block.m : block.m + block.k]
    across = (row[own] == 0) != (column[own] == block.m)
    return bool(across.any() or fixed[0, 1:].any() or fixed[1:, 0].any())


def must_have_one_law(c: Compiled) -> None:
    """Raise ModellingError for sets that a scene's contact does not support: several cones, or p_n and one disc."""
    cones = c.sets.cone[c.sets.cone != NO_CONE]
    if c.sets.at[-1] > cones.size:
        raise not_local(
            c.formulation, "its cone has a coefficient for every direction; those of a scene's contacts are the scene's"
        )
    if cones.size > 1 or (cones.size and cones[0] != DISC and c.sets.cone.size > 1):
        raise not_local(
            c.formulation, "it has a friction cone or disc beside other sets; scenes take one cone, or p_n and one disc"
        )


class RowReader:
    """Read the rows of a declaration at one contact as linear functions of its data."""

    def __init__(self, c: Compiled) -> None:
        self.c, self.work = c, c.workspace()
        self.n, self.unknowns = c.size[0], c.constant.shape[1] - 1
        self.still = self.rows(np.zeros(c.theta.size))

    def rows(self, theta: np.ndarray) -> np.ndarray:
        """All rows at these data."""
        stamp(theta, self.work)
        return self.work.A.copy()

    def of(self, name: str, *place: int) -> np.ndarray:
        """The coefficients of one datum."""
        theta = np.zeros(self.c.theta.size)
        self.c.views(theta)[name][place] = 1.0
        return self.rows(theta) - self.still

    def velocities(self) -> list[Velocity]:
        """The velocities, which are the unknowns multiplied by M."""
        M = self.of("M", 0, 0)
        found = [Velocity(int(i), int(j), float(M[i, j])) for i, j in np.argwhere(M)]
        if not found:
            raise not_local(self.c.formulation, "no relation holds a balance M v+ = b + J^T p")
        n_f = self.c.plan.n_free - self.n
        if any(i > n_f or j > n_f or abs(value) != 1.0 for i, j, value in found):
            raise not_local(self.c.formulation, "M multiplies something other than a velocity")
        return found

    def answer(self, velocities: list[Velocity]) -> int:
        """Index of v+ among the velocities."""
        rows = self.still[self.unknowns : self.unknowns + self.n]
        for i, (_, first, _) in enumerate(velocities):
            if np.array_equal(rows, np.eye(self.n, rows.shape[1], first)):
                return i
        raise not_local(self.c.formulation, "the v+ that it recovers is not the velocity of a balance")


def _block(reader: RowReader, velocities: list[Velocity]) -> LocalBlock:
    """The rows of a declaration at one contact, in the order of a block."""
    c, n, X = reader.c, reader.n, reader.unknowns
    n_c = c.plan.lower.size
    balance = np.concatenate([first + np.arange(n) for first, _, _ in velocities])
    speeds = np.concatenate([first + np.arange(n) for _, first, _ in velocities])
    sign = np.repeat([-value for *_, value in velocities], n)[:, None]
    others, ours = np.setdiff1d(np.arange(X), balance), np.setdiff1d(np.arange(X), speeds)
    columns, k, bounds = np.concatenate([speeds, ours, [X]]), ours.size, X + 2 * n

    def block(A: np.ndarray) -> np.ndarray:
        """Bounds have rows for the partners only, which follow the free unknowns."""
        free = np.zeros((k - n_c, X + 1))
        sides = [np.concatenate([free, A[first : first + n_c]]) for first in (bounds, bounds + n_c)]
        mu = A[bounds + 2 * n_c :][:1] if c.plan.n_cone else np.zeros((1, X + 1))
        return np.ascontiguousarray(np.concatenate([A[others], sign * A[balance], *sides, mu])[:, columns])

    must_have_one_law(c)
    theta = np.zeros(c.theta.size)
    core, tail = c.views(theta), sum(x.size for name, x in c.views(theta).items() if name not in CONTACT)
    core["J_n"][0, 0], core["J_t"][:, 1:], theta[-1] = 1.0, np.eye(c.size[3]), 1.0
    constant = block(reader.rows(theta))
    for side, given, beyond in ((0, c.plan.lower, -np.inf), (1, c.plan.upper, np.inf)):
        first = k + n * len(velocities) + side * k
        constant[first : first + k - n_c, -1] = beyond
        constant[first + k - n_c : first + k, -1] += np.where(np.isnan(given), 0.0, given)
    entries: list[tuple[int, int, float]] = []
    for j in range(tail, theta.size - 1):
        one = np.zeros(theta.size)
        one[j] = 1.0
        B = block(reader.rows(one) - reader.still)
        entries += [(int(place), j - tail, B.flat[place]) for place in np.flatnonzero(B)]
    at, par, val = map(np.array, zip(*entries, strict=True))
    cone = int(c.sets.cone.max(initial=NO_CONE))
    return LocalBlock(
        c.formulation, c.size[3], k, len(velocities), reader.answer(velocities), cone, constant, at, par, val,
        c.theta[tail:], c.hooks,  slice(c.own.start - tail, c.own.stop - tail),
    )  # fmt: skip
