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
from workbench.scenes.single import (
    BENT,
    COUPLED,
    CoreOffsets,
    Given,
    all_coordinates,
    call_again,
    call_given,
    call_remember,
    fill_cores,
    find_new,
)

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
        b, J, p_beyond, frame = (core.place(name).start for name in ("b", "J_n", "p_beyond", "frame"))
        self.places = CoreOffsets(b, J, p_beyond, frame, across=n)
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
        self.roots = np.ascontiguousarray(self.states[:, core.place("J_n").start : core.place("J_t").stop])

    def new(self, start: bool) -> Any:
        """Which contacts have no past to estimate their normal impulse by; `start` as `estimate.is_new` has it."""
        core, found = self.kind.core, np.empty(self.members.size)
        find_new(self.states, self.memory, start, core, core.buffer, found)
        return found > 0.0

    def give(self, p_bar: Array) -> None:
        """What the formulation does before a step, p_bar being the estimated normal impulses."""
        kind = self.kind
        if not kind.idle:
            hook, core = kind.block.hooks.given or given_axes, kind.core
            wrong = call_given(self.states, self.memory, self.numbers, p_bar, hook, core, core.buffer, kind.places)
            self.must_be(wrong)

    def velocities(self, first: Any, u: Array) -> Array:
        """Those of the contacts' rows u (R,), turned by nothing, in the coordinates of the cores (count, n)."""
        x = np.empty((self.members.size, self.kind.core.v.size))
        all_coordinates(self.roots, self.members, first, u, x)
        return x

    def asks(self, x: Array, p_n: Array, p_t: Array, largest: float) -> bool:
        """Whether a contact wants another pass, after velocities x, impulses p_n (count, 1), p_t (count, d) of this one
        in the axes in use; `largest` is the largest impulse of all contacts [N s]."""
        kind, asked = self.kind, np.zeros(1, dtype=np.int64)
        if kind.block.hooks.again is None:
            return False
        wrong = call_again(
            self.states, self.memory, self.numbers, x, p_n, p_t, largest, kind.block.hooks.again, kind.core,
            kind.core.buffer, kind.places, asked,
        )  # fmt: skip
        self.must_be(wrong)
        return bool(asked[0])

    def remember(self, x: Array, p_n: Array, p_t: Array) -> None:
        """What the next step needs, p_t in the instant's own axes."""
        kind = self.kind
        if kind.block.hooks.remember is None:
            self.memory[:, : p_n.shape[1] + p_t.shape[1]] = np.hstack([p_n, p_t])
        else:
            call_remember(
                self.states, self.memory, self.numbers, x, p_n, p_t, kind.block.hooks.remember, kind.core,
                kind.core.buffer,
            )  # fmt: skip

    def must_be(self, wrong: int) -> None:
        """Raises ModellingError where a hook has done what it may not."""
        if wrong:
            label = self.kind.block.formulation.label
            raise ModellingError(f"{label} is not local to its contacts: {WRONG[wrong]}")

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
