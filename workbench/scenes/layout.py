"""Where the blocks of a step stand in its problem."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.engine.lazy import sparse
from workbench.engine.stored import Stored, as_stored, stored
from workbench.mechanics.instant import Instant
from workbench.problems.block_kernels import BlockArrays
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mass import Mass
from workbench.problems.sets import DISC, NO_CONE
from workbench.scenes.blocks import Answer, Arrangement, SingleRowData, arrange, complete, read_answer
from workbench.scenes.kinds import ContactSizes, Group
from workbench.scenes.rows import ContactRows
from workbench.scenes.single import Outline
from workbench.support.arrays import Array


class Layout:
    """Where the blocks of a step stand, and the impulses that an answer of theirs means.

    Blocks are contacts with directions that are not open, in the order of the instant, then for every copy of the
    system its contacts without directions, bilateral rows and rows of dry friction.
    """

    def __init__(
        self, s: Instant, rows: ContactRows, groups: list[Group], sizes: ContactSizes, outline: Outline
    ) -> None:
        self.instant, self.rows, self.groups, self.frame = s, rows, groups, outline.frame
        self.copies, self.main, self.cones = sizes.copies, sizes.main, sizes.cones
        r, beside = s.contacts, s.g.size + s.limit.size
        order, block, target, jump = np.empty((4, r), dtype=np.int64)
        ends, counts = np.empty((4, r + self.copies * (r + beside) + 1), dtype=np.int64), np.empty(8, dtype=np.int64)
        at = Arrangement(order, block, target, jump, ends[0], ends[1], ends[2], ends[3], counts)
        arrange(rows.first, rows.start, outline.closed, sizes.unknowns, sizes.rows, self.copies, beside, at)
        self.rubbing, plain, B, *self.sizes = counts.tolist()
        row, unknown, begin_L, begin_N = ends[:, : B + 1]
        self.at = Arrangement(order, block, target, jump, row, unknown, begin_L, begin_N, counts)
        self.plain = order[self.rubbing : self.rubbing + plain]
        self.single = plain + beside

    def problem(self, b: Array, recovery: float, mass: Mass | None) -> ContactBlocks:
        """The blocks, over the momentum b (n,) = M v + h f; `mass` are the factors of M, if they are there."""
        s, copies, n = self.instant, self.copies, self.instant.v.size
        (R, X, flat, square, entries), B = self.sizes, self.at.row.size - 1
        blocks = BlockArrays(
            self.at.row, self.at.unknown, np.empty(flat), np.empty(square), np.empty(flat), np.empty(X), np.empty(R),
            np.empty(X), np.empty(X), np.empty(B, dtype=np.int64), np.empty(B),
        )  # fmt: skip
        b_n, eps_n = np.zeros((2, s.contacts))
        for g in self.groups:
            g.place(self.at, blocks, b_n, eps_n)
        J_b, J_f = as_stored(s.J_b), as_stored(s.J_f)
        J = Stored.of_size(R, entries + copies * (J_b.data.size + J_f.data.size))
        given = SingleRowData(b_n, eps_n, J_b, s.g, s.r_b, s.eps_b, J_f, s.r_f, s.eps_f, s.limit, float(s.h), recovery)
        sound = complete(given, self.rows, self.frame, self.at, copies, s.M.data, b, blocks, J)
        self.given = None
        rows = stored(*J, (R, copies * n))
        if sound and copies == 1 and mass is not None and DISC not in self.cones:
            return ContactBlocks.of_kernels(s.M, b, rows, blocks, mass)
        M = s.M
        if copies > 1:
            M, b = sparse.block_diag([M] * copies, format="csr"), np.tile(b, copies)
        if (blocks.cone == DISC).any():
            blocks = normals_apart(blocks)
        # A cone's tip that is not at zero is an impulse that is there whatever the answer.
        tips = np.where(np.repeat(blocks.cone != NO_CONE, np.diff(blocks.row)), blocks.s, 0.0)
        if tips.any():
            self.given = tips
            b, blocks = b + rows.T @ tips, blocks._replace(s=blocks.s - tips)
        return ContactBlocks(M, b, rows, *blocks)

    def read(self, blocks: ContactBlocks, x: Array) -> tuple[Array, Array, Answer]:
        """Of an answer x (X,) the velocities v+ (n,), the impulses in all rows, and what they mean for contacts."""
        n, R = self.instant.v.size, self.instant.mu.size
        v, P = blocks.motion(x)
        if self.given is not None:
            P = P + self.given
        v, found = v[self.main * n : (self.main + 1) * n], Answer(*(np.empty(R) for _ in range(4)))
        read_answer(self.rows, self.frame, self.at.target, self.at.jump, self.main, v, P, found)
        return v, P, found

    def beside(self, P: Array) -> tuple[Array, Array]:
        """p_b (m,), p_f (k,) [N s] of the impulses in all rows."""
        s = self.instant
        at = int(self.at.row[self.rubbing]) + self.main * self.single + self.plain.size
        return P[at : at + s.g.size], P[at + s.g.size : at + s.g.size + s.limit.size]

    @property
    def arrangement(self) -> tuple[Any, ...]:
        """What `kept` depends on."""
        s, at = self.instant, self.at
        return s.key.tobytes(), s.first.tobytes(), at.block.tobytes(), at.unknown.tobytes(), s.g.size, s.limit.size

    def kept(self) -> Iterator[tuple[Any, Any, Any]]:
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


def _ends(sizes: Any) -> Any:
    """0 and the cumulative sums."""
    found = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=found[1:])
    return found
