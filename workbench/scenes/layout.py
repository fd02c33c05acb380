"""Where the blocks of a step stand in its problem."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.engine.lazy import sparse
from workbench.engine.stored import Stored, as_stored, stored
from workbench.mechanics.instant import Instant
from workbench.problems.block_kernels import BlockArrays
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mass import Mass
from workbench.problems.sets import DISC, NO_CONE
from workbench.scenes.blocks import (
    COUNTS,
    Arrangement,
    ContactLayout,
    SingleRowData,
    arrange,
    draw,
    own_axes,
    place_blocks,
    place_singles,
    write_rows,
)
from workbench.scenes.kinds import Group
from workbench.scenes.memory import Memory
from workbench.scenes.rows import ContactRows


class Layout:
    """Where the blocks of a step stand, and the impulses that an answer of theirs means.

    Blocks are contacts with directions that are not open, in the order of the instant, then for every copy of the
    system its contacts without directions, bilateral rows and rows of dry friction.
    """

    def __init__(self, s: Instant, rows: ContactRows, groups: list[Group]) -> None:
        self.instant, self.rows, self.groups, self.copies, self.main = s, rows, groups, 1, 0
        r, beside = s.contacts, s.g.size + s.limit.size
        order, block, target, jump, *sizes = np.empty((7, r), dtype=np.int64)
        outline = ContactLayout(np.empty((r, 2)), *sizes)
        for g in groups:
            self.copies, self.main = g.kind.block.copies, g.kind.block.main
            draw(g.states, g.members, g.kind.places, *g.kind.size(self.copies), outline)
        ends = np.empty((4, r + self.copies * (r + beside) + 1), dtype=np.int64)
        counts = np.empty(len(COUNTS), dtype=np.int64)
        arrange(
            rows.first, rows.start, outline, self.copies, beside,
            Arrangement(order, block, target, jump, ends[0], ends[1], ends[2], ends[3], counts),
        )  # fmt: skip
        self.rubbing, plain, B, self.entries = counts.tolist()
        row, unknown, begin_L, begin_N = ends[:, : B + 1]
        self.at = Arrangement(order, block, target, jump, row, unknown, begin_L, begin_N, counts)
        self.frame, self.plain = outline.frame, order[self.rubbing : self.rubbing + plain]
        self.single, self.first_single = plain + beside, int(row[self.rubbing])

    def problem(self, b: Array, recovery: float, mass: Mass | None) -> ContactBlocks:
        """The blocks, over the momentum b (n,) = M v + h f; `mass` are the factors of M, if they are there."""
        copies = self.copies
        B, X, R = self.at.row.size - 1, int(self.at.unknown[-1]), int(self.at.row[-1])
        L, back, N = *np.empty((2, self.at.begin_L[-1])), np.empty(self.at.begin_N[-1])
        c, lower, upper = np.empty((3, X))
        s, cone, mu = np.zeros(R), np.full(B, NO_CONE), np.zeros(B)
        blocks = BlockArrays(self.at.row, self.at.unknown, L, N, back, c, s, lower, upper, cone, mu)
        for g in self.groups:
            if g.kind.d:
                place_blocks(g.members, g.stamped(), *g.kind.size(copies), self.at, blocks)
                mine = self.at.block[g.members]
                cone[mine[mine >= 0]] = g.kind.block.cone
        if self.single:
            place_singles(self._beside(recovery), self.at, copies, blocks)
        M = self.instant.M
        if copies > 1:
            M, b = sparse.block_diag([M] * copies, format="csr"), np.tile(b, copies)
        if (cone == DISC).any():
            blocks = normals_apart(blocks)
        J = self._J()
        # A cone's tip that is not at zero is an impulse that is there whatever the answer.
        self.given = np.where(np.repeat(blocks.cone != NO_CONE, np.diff(blocks.row)), s, 0.0)
        if self.given.any():
            b, blocks = b + J.T @ self.given, blocks._replace(s=s - self.given)
        if mass is None or copies > 1:
            return ContactBlocks(M, b, J, *blocks)
        return ContactBlocks.of_kernels(M, b, J, blocks, mass)

    def all_impulses(self, blocks: ContactBlocks, x: Array) -> Array:
        """In all rows, of an answer x (X,)."""
        return blocks.impulses(x) + self.given

    def _beside(self, recovery: float) -> SingleRowData:
        """What the blocks of one row are made of: contacts without directions, bilateral rows, dry friction."""
        s = self.instant
        b_n, eps_n = np.zeros((2, s.contacts))
        for g in self.groups:
            if not g.kind.d:
                b_n[g.members], eps_n[g.members] = g.of("b_n")[:, 0], g.of("eps_n")[:, 0]
        c_b = s.r_b + np.clip(s.g / s.h, -recovery, recovery) if s.g.size else s.r_b
        return SingleRowData(b_n, eps_n, c_b, s.eps_b, s.r_f, s.eps_f, s.limit)

    def _J(self) -> Any:
        """The rows of all blocks, of every copy of the system."""
        s, copies, n = self.instant, self.copies, self.instant.v.size
        size, R = self.entries + copies * (s.J_b.nnz + s.J_f.nnz), int(self.at.row[-1])
        J = Stored(np.empty(R + 1, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size))
        write_rows(self.rows, self.frame, self.at, copies, n, as_stored(s.J_b), as_stored(s.J_f), J)
        return stored(*J, (R, copies * n))

    def impulses(self, P: Array) -> tuple[Array, Array, Array]:
        """P (R,) of the contacts in the rows of the instant, p_b (m,), p_f (k,) [N s], of impulses in all rows."""
        s = self.instant
        at = self.first_single + self.main * self.single + self.plain.size
        found = self.isotropic(P, turned=False) * self.rows.scale
        return found, P[at : at + s.g.size], P[at + s.g.size : at + s.g.size + s.limit.size]

    def isotropic(self, P: Array, turned: bool) -> Array:
        """Impulses (R,) of the contacts in scaled directions, in the axes in use where `turned`, else the instant's."""
        first, found = self.rows.first, np.empty(self.instant.mu.size)
        target = self.at.target + self.main * self.at.jump
        own_axes(first, unturned(first.size - 1) if turned else self.frame, target, P, found)
        return found

    def recalled(self, memory: Memory) -> Array:
        """The unknowns (X,) as they were at the last step, zero where they are new."""
        x = np.zeros(int(self.at.unknown[-1]))
        for sort, keys, places in self._kept():
            x[places] = memory.recall(sort, keys, places.shape[1])
        x[np.isnan(x)] = 0.0
        return x

    def keep(self, memory: Memory, x: Array) -> None:
        """The unknowns x (X,) for the next step."""
        for sort, keys, places in self._kept():
            memory.keep(sort, keys, x[places])

    def _kept(self) -> Iterator[tuple[Any, Any, Any]]:
        """Sorts, keys and places (count, .) of unknowns that belong together from step to step."""
        s, first = self.instant, int(self.at.unknown[self.rubbing])
        for g in self.groups:
            some = g.members[self.at.block[g.members] >= 0]
            if some.size:
                places = self.at.unknown[self.at.block[some]][:, None] + np.arange(g.kind.block.k)
                yield ("x", g.kind.d), s.key[some], places
        at = first + self.single * np.arange(self.copies)
        for sort, keys in ("plain", s.key[self.plain]), ("b", np.arange(s.g.size)), ("f", np.arange(s.limit.size)):
            if keys.size:
                yield sort, keys, np.arange(keys.size)[:, None] + at
            at = at + keys.size


def normals_apart(p: BlockArrays) -> BlockArrays:
    """Blocks in which a normal row stands before a disc that it does not couple to, as two."""
    m, discs = np.diff(p.row), p.cone == DISC
    block = np.repeat(np.arange(m.size), m * m)
    within = np.arange(block.size) - np.repeat(_ends(m * m)[:-1], m * m)
    a, b = np.divmod(within, m[block])
    kept = ~discs[block] | ((a == 0) == (b == 0))
    one = np.repeat(np.arange(m.size), 1 + discs)
    second = np.append(False, one[1:] == one[:-1])
    ends = _ends(np.where(second, m[one] - 1, np.where(discs[one], 1, m[one])))
    first = discs[one] & ~second
    return p._replace(
        row=ends, unknown=ends, L=p.L[kept], N=p.N[kept], R=p.R[kept], cone=np.where(first, NO_CONE, p.cone[one]),
        mu=np.where(first, 0.0, p.mu[one]),
    )  # fmt: skip


def unturned(r: int) -> Array:
    """Axes (r, 2) that nothing has turned."""
    return np.tile([1.0, 0.0], (r, 1))


def _ends(sizes: Any) -> Any:
    """0 and the cumulative sums."""
    found = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=found[1:])
    return found
