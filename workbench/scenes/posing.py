"""Posing: the contact data of an instant as the blocks of a formulation, compiled once (`assemble.local`).

Contacts are taken together by their number of directions. Their hooks run on cores of one contact (`single`), and what
these hold then is stamped into the blocks of all at once (`layout`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms.asking import solved_by
from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import Instant
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mass import Mass, mass_of
from workbench.problems.small_blocks import MOST_VELOCITIES
from workbench.problems.solution import Status
from workbench.scenes.blocks import Answer
from workbench.scenes.kinds import ContactSizes, Group, Kind
from workbench.scenes.layout import Layout
from workbench.scenes.memory import Memory
from workbench.scenes.numbers import own_numbers
from workbench.scenes.rows import measured
from workbench.scenes.single import Given, Outline
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
        self.formulation, self.recovery = formulation, recovery
        self.law, self.v_th = normal_law(normal), v_th
        self.kinds: dict[int, Kind] = {}
        self._sizes: ContactSizes | None = None
        self._mass: tuple[Any, Any] = None, None
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

    def mass(self, M: Any) -> Mass:
        """The factors of M, whose pattern seldom changes."""
        pattern = M.indptr.tobytes(), M.indices.tobytes()
        self._mass = pattern, mass_of(M, self._mass[1] if self._mass[0] == pattern else None)
        return self._mass[1]

    def kept(self, layout: Layout) -> list[Any]:
        """`Layout.kept`, which seldom changes."""
        arrangement = layout.arrangement
        if self._kept[0] != arrangement:
            self._kept = arrangement, list(layout.kept())
        return self._kept[1]

    def pose(self, s: Instant, memory: Memory | None = None, solver: Solver | None = None) -> "Posed":
        """The step that begins with this instant; `memory` is what the steps before it have left.

        `solver` finds the impulses without friction, where a formulation asks for them; by default the exact one.
        """
        posed = Posed(self, s, Memory() if memory is None else memory)
        posed.begin(solver or default_solver(ContactBlocks.kind))
        return posed


class Posed:
    """The problem of one step, pass by pass, and what its answer means."""

    def __init__(self, poser: Poser, s: Instant, memory: Memory) -> None:
        self.poser, self.instant, self.memory, self.sizes = poser, s, memory, poser.sizes(s.first)
        self.mass = poser.mass(s.M) if self.sizes.hooked or s.v.size <= MOST_VELOCITIES else None
        self.rows, motion = measured(s, self.mass, self.sizes.hooked, self.sizes.products)
        self.b = motion.b
        self.last: tuple[Any, Any, Any] = None, None, None
        self.outline = Outline(np.empty((s.contacts, 2)), np.empty(s.contacts, dtype=np.int64))
        self.groups = [self._group(*some) for some in self.sizes.kinds]
        if self.groups:
            rows = self.rows
            data = Given(
                rows.first, s.phi, s.e, rows.mu, s.rate, s.eps, rows.scale, motion.u, motion.gain, s.heading, motion.W,
                motion.origin,
            )  # fmt: skip
            largest = float(np.abs(self.b).max(initial=0.0))
            for g in self.groups:
                g.fill(s.h, data, largest, poser.recovery, self.outline)

    def begin(self, solver: Solver) -> None:
        """What the formulation does before a step; `solver` finds the impulses without friction, where they are asked
        for."""
        for g, p_bar in zip(self.groups, self._estimates(solver), strict=True):
            g.give(p_bar)

    def _group(self, kind: Kind, members: Any, rows: Any) -> Group:
        s = self.instant
        memory = self.memory.recall(kind.d, s.key[members], kind.memory)
        numbers = np.empty((members.size, kind.numbers.size))
        numbers[:] = kind.numbers
        if s.numbers:
            own = {name: values[members] for name, values in s.numbers.items()}
            own_numbers(self.poser.formulation, max(kind.d, 1), own, numbers)
        return Group(kind, members, rows, memory, numbers)

    def _estimates(self, solver: Solver) -> list[Array]:
        """The normal impulses that contacts may have: the last step's, and those without friction for new ones."""
        estimates = {g.kind.block.hooks.estimate for g in self.groups}
        if not estimates - {"none"}:
            return [np.zeros(g.members.size) for g in self.groups]
        new = [g.new("start" in estimates) for g in self.groups]
        found = self._frictionless(solver) if any(some.any() for some in new) else self.instant.phi
        return [np.where(some, found[g.members], g.memory[:, 0]) for g, some in zip(self.groups, new, strict=True)]

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
        self.layout = Layout(self.instant, self.rows, self.groups, self.sizes, self.outline)
        self.blocks = self.layout.problem(self.b, self.poser.recovery, self.mass)
        return self.blocks

    def guess(self) -> Array:
        """The last step's answer (X,), contact by contact, zero where there is none."""
        x = np.zeros(self.blocks.size)
        for sort, keys, places in self.poser.kept(self.layout):
            x[places] = self.memory.recall(sort, keys, places.shape[1])
        x[np.isnan(x)] = 0.0
        return x

    def velocity(self, x: Array) -> Array:
        """v+ (n,) of an answer x (X,)."""
        return self._read(x)[0]

    def impulses(self, x: Array) -> tuple[Array, Array, Array]:
        """P (R,) of the contacts in the rows of the instant, p_b (m,), p_f (k,) [N s], of an answer x (X,)."""
        _, P, found = self._read(x)
        return found.P, *self.layout.beside(P)

    def again(self, x: Array) -> bool:
        """Whether the formulation asks for another pass after this answer."""
        if not self.sizes.again:
            return False
        _, _, found = self._read(x)
        largest = float(np.abs(found.in_use).max(initial=0.0))
        # Every contact is asked: their hooks prepare the next pass.
        asked = [g.asks(self.rows.first, found.u, found.in_use, largest) for g in self.groups]
        return any(asked)

    def remember(self, x: Array) -> None:
        """Keep what the next step needs, by the contacts' keys."""
        _, _, found = self._read(x)
        self.memory.forget()
        for g in self.groups:
            g.remember(self.rows.first, found.u, found.own)
            self.memory.keep(g.kind.d, self.instant.key[g.members], g.memory)
        for sort, keys, places in self.poser.kept(self.layout):
            self.memory.keep(sort, keys, x[places])

    def _read(self, x: Array) -> tuple[Array, Array, Answer]:
        """`Layout.read` of an answer x (X,), which is asked for several times."""
        layout, last, found = self.last
        if layout is not self.layout or last is not x:
            found = self.layout.read(self.blocks, x)
            self.last = self.layout, x, found
        return found
