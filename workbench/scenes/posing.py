"""Posing: the contact data of an instant as the blocks of a formulation, compiled once (`assemble.local`).

Contacts are taken together by their number of directions. Their hooks run on cores of one contact (`single`), and what
these hold then is stamped into the blocks of all at once (`layout`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms.asking import solved_by
from workbench.algorithms.base import Solver
from workbench.arrays import Array
from workbench.escalation import default_solver
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import Instant
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mass import mass_of, solve_mass
from workbench.problems.small_blocks import MOST_VELOCITIES
from workbench.problems.solution import Status
from workbench.scenes.kinds import Group, Kind
from workbench.scenes.layout import Layout
from workbench.scenes.memory import Memory
from workbench.scenes.numbers import own_numbers
from workbench.scenes.rows import contact_products, contact_rows, moved
from workbench.scenes.single import Given
from workbench.step.stepper import normal_law


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

    def kind(self, d: int) -> Kind:
        """What contacts with d directions share."""
        if d not in self.kinds:
            self.kinds[d] = Kind(self.formulation, d, self.law, self.v_th)
        return self.kinds[d]

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
        self.poser, self.instant, self.memory = poser, s, memory
        self.rows, directions = contact_rows(s), s.directions
        self.b = s.M @ s.v + s.h * s.f
        self.groups = [self._group(poser.kind(int(d)), np.flatnonzero(directions == d)) for d in np.unique(directions)]
        hooked = any(g.kind.hooked for g in self.groups)
        self.mass = mass_of(s.M) if hooked or s.v.size <= MOST_VELOCITIES else None
        if self.groups:
            data = self._data(hooked)
            largest = float(np.abs(self.b).max(initial=0.0))
            for g in self.groups:
                g.fill(s.h, data, largest, poser.recovery)

    def begin(self, solver: Solver) -> None:
        """What the formulation does before a step; `solver` finds the impulses without friction, where they are asked
        for."""
        for g, p_bar in zip(self.groups, self._estimates(solver), strict=True):
            g.give(p_bar)

    def _group(self, kind: Kind, members: Any) -> Group:
        s, count = self.instant, members.size
        memory, numbers = self.memory.recall(kind.d, s.key[members], kind.memory), np.tile(kind.numbers, (count, 1))
        if s.numbers:
            own = {name: values[members] for name, values in s.numbers.items()}
            own_numbers(self.poser.formulation, max(kind.d, 1), own, numbers)
        return Group(kind, members, np.empty((count, kind.blank.size)), memory, numbers)

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

    def _data(self, hooked: bool) -> Given:
        """What the cores are made from; contacts' own W and what forces do only where a hook may ask for them."""
        s, rows = self.instant, self.rows
        sizes, u, gain = rows.first[1:] - rows.first[:-1], np.empty(s.mu.size), np.zeros(s.mu.size)
        origin = np.concatenate([[0], np.cumsum(sizes * sizes)])
        moved(rows, s.v, u)
        if hooked:
            assert self.mass is not None
            W, a = contact_products(rows, self.mass), s.h * s.f
            solve_mass(self.mass, a)
            moved(rows, a, gain)
        else:
            W, within = np.zeros(origin[-1]), np.arange(u.size) - np.repeat(rows.first[:-1], sizes)
            W[np.repeat(origin[:-1], sizes) + within * np.repeat(sizes + 1, sizes)] = 1.0
        return Given(rows.first, s.phi, s.e, rows.mu, s.rate, s.eps, rows.scale, u, gain, s.heading, W, origin[:-1])

    def problem(self) -> ContactBlocks:
        """The blocks of the next pass, by what the cores hold now."""
        self.layout = Layout(self.instant, self.rows, self.groups)
        self.blocks = self.layout.problem(self.b, self.poser.recovery, self.mass)
        return self.blocks

    def guess(self) -> Array:
        """The last step's answer (X,), contact by contact, zero where there is none."""
        return self.layout.recalled(self.memory)

    def velocity(self, x: Array) -> Array:
        """v+ (n,) of an answer x (X,)."""
        n, main = self.instant.v.size, self.layout.main
        return self.blocks.velocities(x)[main * n : (main + 1) * n]

    def impulses(self, x: Array) -> tuple[Array, Array, Array]:
        """P (R,) of the contacts in the rows of the instant, p_b (m,), p_f (k,) [N s], of an answer x (X,)."""
        return self.layout.impulses(self.layout.all_impulses(self.blocks, x))

    def again(self, x: Array) -> bool:
        """Whether the formulation asks for another pass after this answer."""
        if all(g.kind.block.hooks.again is None for g in self.groups):
            return False
        P, u = self.layout.isotropic(self.layout.all_impulses(self.blocks, x), turned=True), self._speeds(x)
        largest = float(np.abs(P).max(initial=0.0))
        # Every contact is asked: their hooks prepare the next pass.
        asked = [g.asks(g.velocities(self.rows.first, u), *self._parts(g, P), largest) for g in self.groups]
        return any(asked)

    def remember(self, x: Array) -> None:
        """Keep what the next step needs, by the contacts' keys."""
        P, u = self.layout.isotropic(self.layout.all_impulses(self.blocks, x), turned=False), self._speeds(x)
        self.memory.forget()
        for g in self.groups:
            g.remember(g.velocities(self.rows.first, u), *self._parts(g, P))
            self.memory.keep(g.kind.d, self.instant.key[g.members], g.memory)
        self.layout.keep(self.memory, x)

    def _speeds(self, x: Array) -> Array:
        u = np.empty(self.instant.mu.size)
        moved(self.rows, self.velocity(x), u)
        return u

    def _parts(self, g: Group, P: Array) -> tuple[Array, Array]:
        """p_n (count, 1) and p_t (count, d) of a group."""
        normals, d = self.rows.first[g.members][:, None], g.kind.d
        return P[normals], P[normals + 1 + np.arange(d)] if d else np.zeros((g.members.size, 1))
