"""Where the blocks of a step stand in its problem."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.engine.lazy import sparse
from workbench.mechanics.instant import Instant
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import DISC, NO_CONE
from workbench.scenes.blocks import own_axes, place_blocks, write_rows
from workbench.scenes.kinds import Group
from workbench.scenes.memory import Memory
from workbench.scenes.rows import Rows


class Layout:
    """Where the blocks of a step stand, and the impulses that an answer of theirs means.

    Blocks are contacts with directions that are not open, in the order of the instant, then for every copy of the
    system its contacts without directions, bilateral rows and rows of dry friction.
    """

    def __init__(self, s: Instant, rows: Rows, groups: list[Group]) -> None:
        self.instant, self.rows, self.groups, self.copies, self.main = s, rows, groups, 1, 0
        r = s.contacts
        self.frame, closed = unturned(r), np.zeros(r, dtype=bool)
        k, m = np.zeros(r, dtype=np.int64), np.zeros(r, dtype=np.int64)
        for g in groups:
            self.copies, self.main = g.kind.block.copies, g.kind.block.main
            self.frame[g.members], closed[g.members] = g.of("frame"), g.of("J_n").any(axis=1)
            k[g.members], m[g.members] = g.kind.size(self.copies)
        rubs = s.directions > 0
        self.rubbing, self.plain = np.flatnonzero(closed & rubs), np.flatnonzero(closed & ~rubs)
        self.single = self.plain.size + s.g.size + s.limit.size
        ones = np.ones(self.copies * self.single, dtype=np.int64)
        k, m = np.concatenate([k[self.rubbing], ones]), np.concatenate([m[self.rubbing], ones])
        self.row, self.unknown = _ends(m), _ends(k)
        self.flat = np.stack([_ends(k * m), _ends(k * k)], axis=1)
        self.first_single = int(self.row[self.rubbing.size])
        self.block, self.target, self.jump = np.full(r, -1), np.full(r, -1), np.zeros(r, dtype=np.int64)
        self.block[self.rubbing] = np.arange(self.rubbing.size)
        self.target[self.rubbing] = self.row[: self.rubbing.size]
        self.target[self.plain] = self.first_single + np.arange(self.plain.size)
        self.jump[self.rubbing], self.jump[self.plain] = 1 + s.directions[self.rubbing], self.single

    def problem(self, b: Array, recovery: float) -> ContactBlocks:
        """The blocks, over the momentum b (n,) = M v + h f."""
        copies = self.copies
        B, X, R = self.row.size - 1, int(self.unknown[-1]), int(self.row[-1])
        L, N, back = np.empty(self.flat[-1, 0]), np.empty(self.flat[-1, 1]), np.empty(self.flat[-1, 0])
        c, s, lower, upper, mu = np.empty(X), np.zeros(R), np.empty(X), np.empty(X), np.zeros(B)
        cone, flat = np.full(B, NO_CONE), self.flat.ravel()
        for g in self.groups:
            if g.kind.d:
                size = g.kind.size(copies)
                place_blocks(
                    g.members, g.stamped(), *size, self.block, self.row, self.unknown, flat, L, N, back, c, s, lower,
                    upper, mu,
                )  # fmt: skip
                mine = self.block[g.members]
                cone[mine[mine >= 0]] = g.kind.block.cone
        if self.single:
            self._singles(recovery, L, N, back, c, lower, upper)
        M = self.instant.M
        if copies > 1:
            M, b = sparse.block_diag([M] * copies, format="csr"), np.tile(b, copies)
        row, unknown = self.row, self.unknown
        if (discs := cone == DISC).any():
            row, unknown, L, N, back, cone, mu = normals_apart(row, L, N, back, cone, mu, discs)
        J = self._J()
        # A cone's tip that is not at zero is an impulse that is there whatever the answer.
        self.given = np.where(np.repeat(cone != NO_CONE, np.diff(row)), s, 0.0)
        if self.given.any():
            b, s = b + J.T @ self.given, s - self.given
        return ContactBlocks(M, b, J, row, unknown, L, N, back, c, s, lower, upper, cone, mu)

    def all_impulses(self, blocks: ContactBlocks, x: Array) -> Array:
        """In all rows, of an answer x (X,)."""
        return blocks.impulses(x) + self.given

    def _singles(self, recovery: float, L: Array, N: Array, R: Array, c: Array, lower: Array, upper: Array) -> None:
        """The blocks of one row: contacts without directions, bilateral rows, dry friction."""
        s = self.instant
        b_n, eps_n = np.zeros(s.contacts), np.zeros(s.contacts)
        for g in self.groups:
            if not g.kind.d:
                b_n[g.members], eps_n[g.members] = g.of("b_n")[:, 0], g.of("eps_n")[:, 0]
        n, off = self.plain.size, np.clip(s.g / s.h, -recovery, recovery)
        beyond = np.full(s.g.size, np.inf)
        at, at_N, x = self.flat[self.rubbing.size, 0], self.flat[self.rubbing.size, 1], self.unknown[self.rubbing.size]
        L[at:], R[at:] = 1.0, 1.0
        for place, values in (
            (N[at_N:], (eps_n[self.plain], s.eps_b, s.eps_f)),
            (c[x:], (b_n[self.plain], s.r_b + off, s.r_f)),
            (lower[x:], (np.zeros(n), -beyond, -s.limit)),
            (upper[x:], (np.full(n, np.inf), beyond, s.limit)),
        ):
            place[:] = np.tile(np.concatenate(values), self.copies)

    def _J(self) -> Any:
        """The rows of all blocks, of every copy of the system."""
        s, rows, copies, n = self.instant, self.rows, self.copies, self.instant.v.size
        width = np.diff(rows.start)
        rubbing = np.repeat(width[self.rubbing], copies * self.jump[self.rubbing])
        single = np.concatenate([width[self.plain], np.diff(s.J_b.indptr), np.diff(s.J_f.indptr)])
        pointer = _ends(np.concatenate([rubbing, np.tile(single, copies)]))
        index, data = np.empty(pointer[-1], dtype=np.int64), np.empty(pointer[-1])
        write_rows(*rows[:5], self.frame, self.target, self.jump, copies, n, pointer, index, data)
        for k in range(copies):
            at = int(pointer[self.first_single + k * self.single + self.plain.size])
            for more in (s.J_b, s.J_f):
                index[at : at + more.nnz], data[at : at + more.nnz] = more.indices + k * n, more.data
                at += more.nnz
        return sparse.csr_array((data, index, pointer), shape=(pointer.size - 1, copies * n))

    def impulses(self, P: Array) -> tuple[Array, Array, Array]:
        """P (R,) of the contacts in the rows of the instant, p_b (m,), p_f (k,) [N s], of impulses in all rows."""
        s = self.instant
        at = self.first_single + self.main * self.single + self.plain.size
        found = self.isotropic(P, turned=False) * self.rows.scale
        return found, P[at : at + s.g.size], P[at + s.g.size : at + s.g.size + s.limit.size]

    def isotropic(self, P: Array, turned: bool) -> Array:
        """Impulses (R,) of the contacts in scaled directions, in the axes in use where `turned`, else the instant's."""
        first, target, found = self.rows.first, self.target + self.main * self.jump, np.empty(self.instant.mu.size)
        own_axes(first, unturned(first.size - 1) if turned else self.frame, target, P, found)
        return found

    def recalled(self, memory: Memory) -> Array:
        """The unknowns (X,) as they were at the last step, zero where they are new."""
        x = np.zeros(int(self.unknown[-1]))
        for sort, keys, places in self._kept():
            x[places] = np.nan_to_num(memory.recall(sort, keys, places.shape[1]))
        return x

    def keep(self, memory: Memory, x: Array) -> None:
        """The unknowns x (X,) for the next step."""
        for sort, keys, places in self._kept():
            memory.keep(sort, keys, x[places])

    def _kept(self) -> Iterator[tuple[Any, Any, Any]]:
        """Sorts, keys and places (count, .) of unknowns that belong together from step to step."""
        s, first = self.instant, int(self.unknown[self.rubbing.size])
        for g in self.groups:
            some = g.members[self.block[g.members] >= 0]
            if some.size:
                places = self.unknown[self.block[some]][:, None] + np.arange(g.kind.block.k)
                yield ("x", g.kind.d), s.key[some], places
        at = first + self.single * np.arange(self.copies)
        begun = 0
        for sort, keys in ("plain", s.key[self.plain]), ("b", np.arange(s.g.size)), ("f", np.arange(s.limit.size)):
            yield sort, keys, begun + np.arange(keys.size)[:, None] + at
            begun += keys.size


def normals_apart(row: Any, L: Array, N: Array, R: Array, cone: Any, mu: Array, discs: Any) -> tuple:
    """Blocks in which a normal row stands before a disc that it does not couple to, as two: row, unknown, L, N, R, cone
    and mu of the blocks then."""
    m = np.diff(row)
    block = np.repeat(np.arange(m.size), m * m)
    within = np.arange(block.size) - np.repeat(_ends(m * m)[:-1], m * m)
    a, b = np.divmod(within, m[block])
    kept = ~discs[block] | ((a == 0) == (b == 0))
    one = np.repeat(np.arange(m.size), 1 + discs)
    second = np.append(False, one[1:] == one[:-1])
    sizes = np.where(second, m[one] - 1, np.where(discs[one], 1, m[one]))
    ends, first = _ends(sizes), discs[one] & ~second
    return (
        ends, ends, L[kept], N[kept], R[kept], np.where(first, NO_CONE, cone[one]), np.where(first, 0.0, mu[one]),
    )  # fmt: skip


def unturned(r: int) -> Array:
    """Axes (r, 2) that nothing has turned."""
    return np.tile([1.0, 0.0], (r, 1))


def _ends(sizes: Any) -> Any:
    """0 and the cumulative sums."""
    found = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=found[1:])
    return found
