"""Posing: the contact data of an instant as the blocks of a formulation, compiled once (`language.assemble.local`).

Contacts are taken together by their number of directions. Their hooks run on cores of one contact (`single`), and what
these hold then is stamped into the blocks of all at once (`blocks`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms.asking import solved_by
from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.engine.stored import Stored
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import Instant, InstantArrays
from workbench.problems.block_kernels import BlockArrays
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mass import NO_MASS, Mass, mass_of
from workbench.problems.sets import DISC
from workbench.problems.small_blocks import MOST_VELOCITIES
from workbench.problems.solution import Status
from workbench.scenes.blocks import arrange, complete, read_answer
from workbench.scenes.discs import with_tips_at_zero
from workbench.scenes.kinds import ContactSizes, Group, Kind
from workbench.scenes.memory import Memory
from workbench.scenes.numbers import own_numbers
from workbench.scenes.rows import ContactRows, measure
from workbench.step.stepper import normal_law
from workbench.support.arrays import Array


class Poser:
    """Poses instants as blocks of one formulation, under a normal law (`core.NORMAL_LAWS`).

    v_th [m/s] is the speed up to which a contact counts as sticking; an overlap, or a bilateral row that is off, is
    brought back at `recovery` [m/s] at most. Raises ModellingError for a formulation that is not local to its contacts.
    """

    def __init__(
        self, formulation: Formulation, normal: str = "gap", v_th: float = 0.01, recovery: float = np.inf
    ) -> None:
        self.formulation, self.recovery = formulation, float(recovery)
        self.law, self.v_th = normal_law(normal), v_th
        self.kinds: dict[int, Kind] = {}
        self._sizes: ContactSizes | None = None
        self._mass: Mass | None = None
        self._kept: tuple[Any, Any] = None, None

    def kind(self, d: int) -> Kind:
        """What contacts with d directions share."""
        if d not in self.kinds:
            self.kinds[d] = Kind(self.formulation, d, self.law, self.v_th)
        return self.kinds[d]

    def sizes(self, first: Any) -> ContactSizes:
        """What contacts with the rows first (r + 1,) share with those of the last step."""
        if self._sizes is None or self._sizes.first != first.tobytes():
            self._sizes = ContactSizes(first, self.kind)
        return self._sizes

    def measured(self, s: InstantArrays, sizes: ContactSizes) -> tuple[ContactRows, Mass | None]:
        """The contact rows of an instant and how they move; the factors of M where they are needed."""
        n, entries = s.n, int(s.J_pointer[-1])
        rows = ContactRows.unset(
            n=n, r=s.r, ends=s.ends, R=s.R, columns=entries, numbers=sizes.widest * entries, products=sizes.products,
            most=sizes.copies * (s.r + s.m + s.k) + s.r + 1,
        )  # fmt: skip
        if not (sizes.hooked or n <= MOST_VELOCITIES):
            measure(s, NO_MASS, False, False, rows)
            return rows, None
        # Groups of velocities seldom change.
        mass = NO_MASS if self._mass is None else self._mass.like()
        if measure(s, mass, True, sizes.hooked, rows):
            mass = mass_of(Stored(s.M_pointer, s.M_column, s.M_data), n)
            measure(s, mass, False, sizes.hooked, rows)
        self._mass = mass
        return rows, mass

    def kept(self, posed: "Posed") -> list[Any]:
        """`Posed.kept`, which seldom changes."""
        if self._kept[0] != posed.arrangement:
            self._kept = posed.arrangement, list(posed.kept())
        return self._kept[1]

    def pose(self, s: Instant, memory: Memory | None = None, solver: Solver | None = None) -> "Posed":
        """The step that begins with this instant; `memory` is what the steps before it have left.

        `solver` finds the impulses without friction, where a formulation asks for them; by default the exact one.
        """
        posed = Posed(self, s, Memory() if memory is None else memory)
        posed.begin(solver)
        return posed


class Posed:
    """The problem of one step, pass by pass, and what its answer means."""

    blocks: ContactBlocks

    def __init__(self, poser: Poser, s: Instant, memory: Memory) -> None:
        self.poser, self.instant, self.memory = poser, s, memory
        self.arrays = s.arrays
        self.sizes = poser.sizes(self.arrays.first)
        self.rows, self.mass = poser.measured(self.arrays, self.sizes)
        self.last: Any = None
        self.groups = [self._group(*some) for some in self.sizes.kinds]

    def _group(self, kind: Kind, members: Any) -> Group:
        cores = kind.cores(members)
        if not kind.forgetful:
            cores.memory = self.memory.recall(kind.d, self.arrays.key[members], kind.memory)
        if self.instant.numbers:
            own = {name: values[members] for name, values in self.instant.numbers.items()}
            own_numbers(self.poser.formulation, max(kind.d, 1), own, cores.numbers)
        return Group(kind, self.arrays, self.rows, cores, self.poser.recovery)

    def begin(self, solver: Solver | None) -> None:
        """What the formulation does before a step; `solver` finds the impulses without friction, where they are asked
        for."""
        if self.sizes.estimates:
            self._estimate(solver or default_solver(ContactBlocks.kind))
        for g in self.groups:
            g.give()

    def _estimate(self, solver: Solver) -> None:
        """The normal impulses that contacts may have: the last step's, and those without friction for new ones."""
        new = [g.new("start" in self.sizes.estimates) for g in self.groups]
        found = self._frictionless(solver) if any(some.any() for some in new) else self.arrays.phi
        for g, some in zip(self.groups, new, strict=True):
            g.cores.p_bar = np.where(some, found[g.cores.members], g.cores.memory[:, 0])

    def _frictionless(self, solver: Solver) -> Array:
        """p_n (r,) [N s] of the step without the friction of contacts; zero where that has no answer."""
        s = self.instant
        normals = s.first[:-1]
        bare = replace(
            s, first=np.arange(s.contacts + 1), J=s.J[normals], mu=s.mu[normals], rate=s.rate[normals],
            eps=s.eps[normals], numbers={}, places=None,
        )  # fmt: skip
        posed = Posed(self.poser, bare, Memory())
        problem: Any = posed.problem()
        solution = solved_by(solver, problem)
        return posed.impulses(solution.z)[0] if solution.claimed is Status.SOLVED else np.zeros(s.contacts)

    def problem(self) -> ContactBlocks:
        """The blocks of the next pass, by what the cores hold now."""
        s, rows, copies = self.arrays, self.rows, self.sizes.copies
        arrange(s, rows, copies, self.sizes.unknowns, self.sizes.rows)
        self.counts = rows.counts.tolist()
        B, R, X, flat, square, entries, masses = self.counts[2:]
        # What `kept` depends on.
        self.arrangement = s.key.tobytes(), self.sizes.first, rows.closed.tobytes(), s.m, s.k
        n = copies * s.n
        blocks: BlockArrays = BlockArrays.unset(
            n=n, blocks=B, ends=B + 1, rows=R, unknowns=X, flat=flat, square=square, M_ends=n + 1, M_entries=masses,
            J_ends=R + 1, J_entries=entries,
        )  # fmt: skip
        for g in self.groups:
            g.place(blocks)
        sound = complete(s, rows, copies, self.poser.recovery, blocks)
        self.given: Array | None = None
        if sound and DISC not in self.sizes.cones:
            self.blocks = ContactBlocks.of_kernels(blocks, self.mass if copies == 1 else None)
        else:
            self.blocks, self.given = with_tips_at_zero(blocks)
        return self.blocks

    def guess(self) -> Array:
        """The last step's answer (X,), contact by contact, zero where there is none."""
        return self.memory.answer(self.arrangement, self.poser.kept(self), self.blocks.size)

    def velocity(self, x: Array) -> Array:
        """v+ (n,) of an answer x (X,)."""
        return self._read(x)[0]

    def impulses(self, x: Array) -> tuple[Array, Array, Array]:
        """P (R,) of the contacts in the rows of the instant, p_b (m,), p_f (k,) [N s], of an answer x (X,)."""
        P = self._read(x)[1]
        m, k, plain, single = self._single()
        at = P.size - (self.sizes.copies - self.sizes.main) * single + plain
        return self.rows.P.copy(), P[at : at + m], P[at + m : at + m + k]

    def _single(self) -> tuple[int, int, int, int]:
        """Bilateral rows, those of dry friction, contacts without directions that are closed, and all three."""
        m, k, plain = self.arrays.m, self.arrays.k, self.counts[1]
        return m, k, plain, plain + m + k

    def again(self, x: Array) -> bool:
        """Whether the formulation asks for another pass after this answer."""
        if not self.sizes.again:
            return False
        self._read(x)
        # Every contact is asked: their hooks prepare the next pass.
        return any([g.asks() for g in self.groups])  # noqa: C419

    def remember(self, x: Array) -> None:
        """Keep what the next step needs, by the contacts' keys."""
        self._read(x)
        self.memory.forget()
        for g in self.groups:
            if not g.kind.forgetful:
                self.memory.keep(g.kind.d, self.arrays.key[g.cores.members], g.remember())
        self.memory.keep_answer(self.arrangement, self.poser.kept(self), x)

    def _read(self, x: Array) -> tuple[Array, Array]:
        """v+ (n,) and the impulses in all rows of an answer x (X,), which is asked for several times; `rows` have what
        they mean for contacts."""
        if self.last is None or self.last[0] is not self.blocks or self.last[1] is not x:
            n, main = self.arrays.n, self.sizes.main
            v, P = self.blocks.motion(x)
            if self.given is not None:
                P = P + self.given
            v = v[main * n : (main + 1) * n]
            read_answer(self.arrays, self.rows, main, v, P)
            self.last = self.blocks, x, v, P
        return self.last[2:]

    def kept(self) -> Iterator[tuple[Any, Any, Any]]:
        """Sorts, keys and places (count, .) of unknowns that belong together from step to step."""
        s, rows, (m, k, plain, single) = self.arrays, self.rows, self._single()
        for g in self.groups:
            members = g.cores.members
            some = members[rows.block[members] >= 0]
            if some.size:
                places = rows.unknown[rows.block[some]][:, None] + np.arange(g.kind.block.k)
                yield ("x", g.kind.d), s.key[some], places
        rubbing = self.counts[0]
        at = rows.unknown[rubbing] + single * np.arange(self.sizes.copies)
        closed = s.key[rows.order[rubbing : rubbing + plain]]
        for sort, keys in ("plain", closed), ("b", np.arange(m)), ("f", np.arange(k)):
            if keys.size:
                yield sort, keys, np.arange(keys.size)[:, None] + at
            at = at + keys.size
