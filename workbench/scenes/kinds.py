"""Contacts of one kind: what those with as many friction directions share, and those of one step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.language.assemble.local import local_block
from workbench.language.formulation import Formulation
from workbench.language.hooks import given_axes, remember_impulses
from workbench.mechanics.core import Core
from workbench.mechanics.instant import InstantArrays
from workbench.problems.block_kernels import BlockArrays
from workbench.scenes.blocks import place_blocks
from workbench.scenes.rows import ContactRows
from workbench.scenes.single import (
    BENT,
    COUPLED,
    CoreOffsets,
    Cores,
    OneContact,
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
        core, blank = (
            Core((n, 0, 1, n - 1), 1.0, law, v_th, block.own.stop - block.own.start, block.rest) for _ in range(2)
        )
        self.theta = core.place("b_n").start
        blank.buffer[self.theta :] = block.theta
        at = {name: core.place(name).start for name in CoreOffsets._fields if name in core.fields}
        self.one = OneContact(core, blank, CoreOffsets(**at, J=core.place("J_n").start, across=n))
        hooks = block.hooks
        self.given, self.again = hooks.given or given_axes, hooks.again
        self.remember = hooks.remember or remember_impulses
        self.memory = n if hooks.memory is None else hooks.memory
        self.numbers = np.array(hooks.numbers, dtype=float)
        self.sizes = {"size": core.buffer.size, "square": n * n, "width": self.memory, "hooks": self.numbers.size}
        self.idle = hooks.given is None and not self.numbers.any()
        """Whether nothing happens before a step: no hook, and axes fixed in space."""
        self.hooked = any(hook is not None for hook in (hooks.given, hooks.again, hooks.remember))
        """Whether hooks of the formulation's own may look at the inertia."""
        self.forgetful = not self.hooked and hooks.estimate == "none"
        """Whether nothing asks for what the last step has left."""

    def cores(self, members: Any) -> Cores:
        """Those of some contacts, to be filled."""
        cores: Cores = Cores.unset(count=members.size, **self.sizes)
        cores.members = members
        if self.numbers.size:
            cores.numbers = self.numbers
        return cores

    def must_be_fine(self, wrong: int) -> None:
        """Raises ModellingError where a hook has done what it may not."""
        if wrong:
            label = self.block.formulation.label
            raise ModellingError(f"{label} is not local to its contacts: {WRONG[wrong]}")


class ContactSizes:
    """Contacts taken together by their number of directions, as long as these do not change.

    `kinds` have their members; unknowns, rows (r,) those of every contact's block; `copies` of the system, `main` the
    one whose velocity is v+, `cones` their laws; `products` how many numbers of W, `widest` how many rows at most.
    """

    def __init__(self, first: Any, kind: Callable[[int], Kind]) -> None:
        self.first = first.tobytes()
        d = np.diff(first) - 1
        self.kinds = [(kind(k), np.flatnonzero(d == k)) for k in np.unique(d).tolist()]
        blocks = [k.block for k, _ in self.kinds]
        self.copies, self.main = (blocks[0].copies, blocks[0].main) if blocks else (1, 0)
        self.unknowns, self.rows = np.ones((2, d.size), dtype=np.int64)
        for k, members in self.kinds:
            if k.d:
                self.unknowns[members], self.rows[members] = k.block.k, k.block.m
        self.cones = {block.cone for block in blocks}
        self.hooked = any(k.hooked for k, _ in self.kinds)
        self.again = any(k.again is not None for k, _ in self.kinds)
        self.estimates = {k.block.hooks.estimate for k, _ in self.kinds} - {"none"}
        self.products, self.widest = int(((1 + d) ** 2).sum()), int(d.max(initial=0)) + 1


class Group:
    """The contacts of one kind in a step, and their cores."""

    def __init__(self, kind: Kind, s: InstantArrays, rows: ContactRows, cores: Cores, recovery: float) -> None:
        self.kind, self.s, self.rows, self.cores = kind, s, rows, cores
        fill_cores(s, rows, cores, recovery, kind.one)

    def new(self, start: bool) -> Any:
        """Which contacts have no past to estimate their normal impulse by; `start` as `estimate.is_new` has it."""
        found = np.empty(self.cores.members.size)
        find_new(self.cores, start, self.kind.one, found)
        return found > 0.0

    def give(self) -> None:
        """What the formulation does before a step."""
        if not self.kind.idle:
            self.kind.must_be_fine(call_given(self.rows, self.cores, self.kind.given, self.kind.one))

    def asks(self) -> bool:
        """Whether a contact wants another pass, after what `rows` have read of this one."""
        if self.kind.again is None:
            return False
        asked = call_again(self.s, self.rows, self.cores, self.kind.again, self.kind.one)
        self.kind.must_be_fine(max(-asked, 0))
        return bool(asked)

    def remember(self) -> Array:
        """What the next step needs (count, memory), of what `rows` have read; see `Kind.forgetful`."""
        call_remember(self.s, self.rows, self.cores, self.kind.remember, self.kind.one)
        memory: Array = self.cores.memory
        return memory

    def place(self, blocks: BlockArrays) -> None:
        """The blocks where they belong; contacts without directions are placed with other single rows."""
        if self.kind.d:
            place_blocks(self.rows, self.cores, self.kind.theta, self.kind.block.stamp, blocks)
