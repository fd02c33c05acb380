"""Posing: the contact data of an instant as the blocks of a formulation, compiled once (`assemble.local`).

Contacts are taken together by their number of directions. Their hooks run on cores of one contact (`single`), and what
these hold then is stamped into the blocks of all at once (`layout`).
"""

from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import Instant
from workbench.problems.contact_blocks import ContactBlocks
from workbench.scenes.kinds import Group, Kind
from workbench.scenes.layout import Layout
from workbench.scenes.mass import contact_products, mass_of, solve_mass
from workbench.scenes.rows import contact_rows, moved
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

    def pose(self, s: Instant) -> "Posed":
        """The step that begins with this instant."""
        return Posed(self, s)


class Posed:
    """The problem of one step, and what its answer means."""

    def __init__(self, poser: Poser, s: Instant) -> None:
        self.poser, self.instant = poser, s
        self.rows, directions = contact_rows(s), s.directions
        self.b = s.M @ s.v + s.h * s.f
        self.groups = [self._group(poser.kind(int(d)), np.flatnonzero(directions == d)) for d in np.unique(directions)]
        if self.groups:
            data = self._data(any(g.kind.hooked for g in self.groups))
            largest = float(np.abs(self.b).max(initial=0.0))
            for g in self.groups:
                g.fill(s.h, data, largest, poser.recovery)
                g.give(np.zeros(g.members.size))

    def _group(self, kind: Kind, members: Any) -> Group:
        count = members.size
        memory, numbers = np.full((count, kind.memory), np.nan), np.tile(kind.numbers, (count, 1))
        return Group(kind, members, np.empty((count, kind.blank.size)), memory, numbers)

    def _data(self, hooked: bool) -> Given:
        """What the cores are made from; contacts' own W and what forces do only where a hook may ask for them."""
        s, rows = self.instant, self.rows
        sizes, u, gain = np.diff(rows.first), np.empty(s.mu.size), np.zeros(s.mu.size)
        origin = np.concatenate([[0], np.cumsum(sizes * sizes)])
        moved(*rows[:5], s.v, u)
        if hooked:
            mass = mass_of(s.M)
            W, a = contact_products(rows, mass), s.h * s.f
            solve_mass(mass.begin, mass.member, mass.at, mass.factor, a, np.empty(a.size))
            moved(*rows[:5], a, gain)
        else:
            W, within = np.zeros(origin[-1]), np.arange(u.size) - np.repeat(rows.first[:-1], sizes)
            W[np.repeat(origin[:-1], sizes) + within * np.repeat(sizes + 1, sizes)] = 1.0
        return Given(rows.first, s.phi, s.e, rows.mu, s.rate, s.eps, rows.scale, u, gain, s.heading, W, origin[:-1])

    def problem(self) -> ContactBlocks:
        """The blocks, by what the cores hold now."""
        self.layout = Layout(self.instant, self.rows, self.groups)
        self.blocks = self.layout.problem(self.b, self.poser.recovery)
        return self.blocks

    def impulses(self, x: Array) -> tuple[Array, Array, Array]:
        """P (R,) of the contacts in the rows of the instant, p_b (m,), p_f (k,) [N s], of an answer x (X,)."""
        return self.layout.impulses(self.blocks, x)
