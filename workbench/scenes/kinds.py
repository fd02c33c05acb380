"""Contacts of one kind: what those with as many friction directions share, and those of one step."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.assemble.local import local_block, stamp_blocks
from workbench.errors import ModellingError
from workbench.language.formulation import Formulation
from workbench.language.hooks import given_axes
from workbench.mechanics.core import Core
from workbench.scenes.single import BENT, COUPLED, Given, Places, call_given, fill_cores

WRONG = {
    COUPLED: "a hook changes the momentum b, which all contacts share",
    BENT: "a hook changes rows of J other than by turning tangent axes or opening the contact",
}


class Kind:
    """What contacts with d directions share: their block, and the core that their hooks run on."""

    def __init__(self, formulation: Formulation, d: int, law: float, v_th: float) -> None:
        # Without directions there is one along which nothing moves.
        self.d, self.block = d, local_block(formulation, max(d, 1))
        block, n = self.block, 1 + max(d, 1)
        self.core = core = Core((n, 0, 1, n - 1), 1.0, law, v_th, block.own.stop - block.own.start, block.rest)
        core.buffer[core.place("b_n").start :] = block.theta
        self.blank = core.buffer.copy()
        self.places = Places(*(core.place(name).start for name in ("b", "J_n", "p_beyond")))
        hooks = block.hooks
        self.memory = n if hooks.memory is None else hooks.memory
        self.numbers = np.array(hooks.numbers, dtype=float)
        self.idle = hooks.given is None and not self.numbers.any()
        """Whether nothing happens before a step: no hook, and axes fixed in space."""
        self.hooked = any(hook is not None for hook in (hooks.given, hooks.again, hooks.remember))
        """Whether hooks of the formulation's own may look at the inertia."""

    def size(self, copies: int) -> tuple[int, int]:
        """Unknowns and rows of a contact, those of one copy where it has no directions."""
        return (self.block.k, copies * (1 + self.d)) if self.d else (1, 1)


@dataclass
class Group:
    """The contacts of one kind in a step: their cores' numbers, row by row, their memories and numbers of hooks."""

    kind: Kind
    members: Any
    states: Array
    memory: Array
    numbers: Array

    def fill(self, h: float, data: Given, b_beyond: float, recovery: float) -> None:
        """The cores under the run's normal law."""
        core, blank = self.kind.core, self.kind.blank
        blank[core.place("h")], blank[core.place("b_beyond")] = h, b_beyond
        fill_cores(self.members, data, recovery, core, core.buffer, blank, self.states)

    def give(self, p_bar: Array) -> None:
        """What the formulation does before a step, p_bar being the estimated normal impulses."""
        kind = self.kind
        if not kind.idle:
            hook, core = kind.block.hooks.given or given_axes, kind.core
            wrong = call_given(self.states, self.memory, self.numbers, p_bar, hook, core, core.buffer, kind.places)
            self.must_be(wrong)

    def must_be(self, wrong: int) -> None:
        """Raises ModellingError where a hook has done what it may not."""
        if wrong:
            name = self.kind.block.formulation.name
            raise ModellingError(f"{name} is not local to its contacts: {WRONG[wrong]}")

    def of(self, name: str) -> Array:
        """A field of the cores (count, .)."""
        return self.states[:, self.kind.core.place(name)]

    def stamped(self) -> Array:
        """The matrices of the blocks (count, .)."""
        block = self.kind.block
        B = np.empty((self.members.size, block.constant.size))
        theta = np.ascontiguousarray(self.states[:, self.kind.core.place("b_n").start :])
        stamp_blocks(theta, block.constant, block.at, block.par, block.val, B)
        return B
