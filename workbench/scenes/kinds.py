"""Contacts of one kind: what those with as many friction directions share, and those of one step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.assemble.local import local_block
from workbench.language.formulation import Formulation
from workbench.language.hooks import given_axes
from workbench.mechanics.core import Core
from workbench.problems.block_kernels import BlockArrays
from workbench.scenes.blocks import Arrangement, place_blocks
from workbench.scenes.single import (
    BENT,
    COUPLED,
    ContactMotion,
    CoreOffsets,
    Cores,
    Given,
    OneContact,
    Outline,
    all_coordinates,
    call_again,
    call_given,
    call_remember,
    fill_cores,
    find_new,
)
from workbench.support.arrays import Array
from workbench.support.errors import ModellingError

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
        at = {name: core.place(name).start for name in core.fields}
        places = CoreOffsets(at["b"], at["J_n"], at["p_beyond"], at["frame"], across=n)
        self.one = OneContact(core, core.buffer, self.blank, places)
        self.h, self.b_beyond, self.b_n, self.eps_n = (at[name] for name in ("h", "b_beyond", "b_n", "eps_n"))
        hooks = block.hooks
        self.memory = n if hooks.memory is None else hooks.memory
        self.numbers = np.array(hooks.numbers, dtype=float)
        self.idle = hooks.given is None and not self.numbers.any()
        """Whether nothing happens before a step: no hook, and axes fixed in space."""
        self.hooked = any(hook is not None for hook in (hooks.given, hooks.again, hooks.remember))
        """Whether hooks of the formulation's own may look at the inertia."""


class ContactSizes:
    """Contacts taken together by their number of directions, as long as these do not change.

    `kinds` have their members and these' rows (count, 1 + d); unknowns, rows (r,) those of every contact's block;
    `copies` of the system, `main` the one whose velocity is v+, `cones` their laws; `products` how many numbers of W.
    """

    def __init__(self, first: Any, kind: Callable[[int], Kind]) -> None:
        self.first = first.tobytes()
        d = np.diff(first) - 1
        self.kinds = []
        for k in np.unique(d).tolist():
            members = np.flatnonzero(d == k)
            self.kinds.append((kind(k), members, first[members][:, None] + np.arange(1 + k)))
        blocks = [k.block for k, *_ in self.kinds]
        self.copies, self.main = (blocks[0].copies, blocks[0].main) if blocks else (1, 0)
        self.unknowns, self.rows = np.ones((2, d.size), dtype=np.int64)
        for k, members, _ in self.kinds:
            if k.d:
                self.unknowns[members], self.rows[members] = k.block.k, k.block.m
        self.cones = {block.cone for block in blocks}
        self.hooked = any(k.hooked for k, *_ in self.kinds)
        self.again = any(block.hooks.again is not None for block in blocks)
        self.products = int(((1 + d) ** 2).sum())


@dataclass
class Group:
    """The contacts of one kind in a step: which they are, their rows (count, 1 + d), memories and numbers of hooks."""

    kind: Kind
    members: Any
    rows: Any
    memory: Array
    numbers: Array

    def fill(self, h: float, data: Given, b_beyond: float, recovery: float, outline: Outline) -> None:
        """The cores under the run's normal law, row by row, and the outline of the contacts, as all that follows
        leaves it."""
        kind, n, count = self.kind, self.kind.one.places.across, self.members.size
        states, roots = np.empty((count, kind.blank.size)), np.empty((count, n * n))
        self.cores, self.outline = Cores(self.members, states, roots, self.memory, self.numbers), outline
        kind.blank[kind.h], kind.blank[kind.b_beyond] = h, b_beyond
        fill_cores(self.cores, data, recovery, kind.one, outline)

    def new(self, start: bool) -> Any:
        """Which contacts have no past to estimate their normal impulse by; `start` as `estimate.is_new` has it."""
        found = np.empty(self.members.size)
        find_new(self.cores, start, self.kind.one, found)
        return found > 0.0

    def give(self, p_bar: Array) -> None:
        """What the formulation does before a step, p_bar being the estimated normal impulses."""
        kind = self.kind
        if not kind.idle:
            self.must_be(call_given(self.cores, p_bar, kind.block.hooks.given or given_axes, kind.one, self.outline))

    def motion(self, first: Any, u: Array, P: Array) -> ContactMotion:
        """Of velocities u, turned by nothing, and impulses P (R,) in the contacts' rows."""
        x = np.empty((self.members.size, self.kind.core.v.size))
        all_coordinates(self.cores, first, u, x)
        return ContactMotion(x, *self.impulses(P))

    def asks(self, first: Any, u: Array, P: Array, largest: float) -> bool:
        """Whether a contact wants another pass, after velocities u, impulses P (R,) of this one in the axes in use;
        `largest` is the largest impulse of all contacts [N s]."""
        kind, asked = self.kind, np.zeros(1, dtype=np.int64)
        if kind.block.hooks.again is None:
            return False
        found = self.motion(first, u, P)
        self.must_be(call_again(self.cores, found, largest, kind.block.hooks.again, kind.one, self.outline, asked))
        return bool(asked[0])

    def remember(self, first: Any, u: Array, P: Array) -> None:
        """What the next step needs, of velocities u, impulses P (R,) in the instant's own axes."""
        kind = self.kind
        if kind.block.hooks.remember is None:
            p = P[self.rows] if kind.d else np.concatenate(self.impulses(P), axis=1)
            self.memory[:, : p.shape[1]] = p
        else:
            call_remember(self.cores, self.motion(first, u, P), kind.block.hooks.remember, kind.one)

    def impulses(self, P: Array) -> tuple[Array, Array]:
        """p_n (count, 1) and p_t (count, d), or (count, 1) where there is no direction, of P (R,)."""
        p = P[self.rows]
        return p[:, :1].copy(), p[:, 1:].copy() if self.kind.d else np.zeros_like(p)

    def place(self, at: Arrangement, blocks: BlockArrays, b_n: Array, eps_n: Array) -> None:
        """The blocks where they belong; of contacts without directions what theirs are made of, b_n, eps_n (r,)."""
        kind = self.kind
        if kind.d:
            place_blocks(self.cores, kind.b_n, kind.block.stamp, at, blocks)
        else:
            states = self.cores.states
            b_n[self.members], eps_n[self.members] = states[:, kind.b_n], states[:, kind.eps_n]

    def must_be(self, wrong: int) -> None:
        """Raises ModellingError where a hook has done what it may not."""
        if wrong:
            label = self.kind.block.formulation.label
            raise ModellingError(f"{label} is not local to its contacts: {WRONG[wrong]}")
