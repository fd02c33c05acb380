"""Posing: the contact data of an instant as the blocks of a formulation, compiled once (`language.assemble.local`).

Contacts are taken together by their number of directions. Their hooks run on cores of one contact (`single`), and what
these hold then is stamped into the blocks of all at once (`blocks`). Arrays are made once for instants that are alike,
and a step writes into them by kernels alone.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from workbench.algorithms.asking import solved_by
from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.engine.stored import Stored
from workbench.language.assemble.local import local_block
from workbench.language.formulation import Formulation
from workbench.language.hooks import given_axes, never_again, remember_impulses
from workbench.mechanics.core import Core
from workbench.mechanics.instant import Instant, InstantArrays, without_friction
from workbench.problems.block_kernels import BlockArrays
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mass import NO_MASS, Mass, mass_of
from workbench.problems.sets import DISC
from workbench.problems.small_blocks import NO_FEW, Few, has_small_factors, room_for
from workbench.problems.solution import Status
from workbench.scenes.blocks import arrange, complete, place_blocks, read_answer, read_few
from workbench.scenes.discs import with_tips_at_zero
from workbench.scenes.numbers import own_places
from workbench.scenes.rows import ContactRows, measure
from workbench.scenes.single import (
    BENT,
    COUPLED,
    CoreOffsets,
    Cores,
    OneContact,
    call_again,
    call_given,
    call_remember,
    estimate,
    fill_cores,
    parts_freely,
)
from workbench.scenes.steady import KINDS, NUMBERS, ContactsOfAKind, Last, Rules, StepAnswer, Stops, step_again
from workbench.step.stepper import ESTIMATES, normal_law
from workbench.support.arrays import Array
from workbench.support.errors import ModellingError

WRONG = {
    COUPLED: "a hook changes the momentum b, which all contacts share",
    BENT: "a hook changes rows of J other than by turning tangent axes or opening the contact",
}
NOTHING: tuple[Any, Array] = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
NO_ANSWER: tuple[Any, list[Any], Array] = None, [], np.zeros(0)


def shape_of(s: Instant) -> tuple[bytes, Any]:
    """What instants share whose arrays are alike: the rows of contacts, and sizes."""
    return s.arrays.first.tobytes(), s.arrays._sizes


class Memory:
    """What is kept of contacts from step to step: rows of numbers by their keys, of several sorts, and an answer of
    which parts have keys. What is new begins as nan."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """All of it."""
        self.kept: dict[Any, tuple[Any, Array]] = {}
        self.last: tuple[Any, list[Any], Array] = NO_ANSWER

    def recall(self, sort: Any, keys: Any, width: int) -> Array:
        """The rows (count, width) that were kept for these keys at the last step."""
        known, rows = self.kept.get(sort, NOTHING)
        return _found(known, rows, keys, width)

    def keep(self, sort: Any, keys: Any, rows: Array) -> None:
        """In the place of what was kept of this sort; keys without rows are none."""
        if keys.size:
            self.kept[sort] = keys, rows.copy()

    def answer(self, arrangement: Any, parts: list[Any], size: int) -> Array:
        """The last answer (size,), part by part (sort, keys, places (count, .)), zero where there is none."""
        before, kept, last = self.last
        # From step to step little comes or goes.
        if before == arrangement:
            x = last.copy()
        else:
            x, rows = np.zeros(size), {sort: (keys, last[places]) for sort, keys, places in kept}
            for sort, keys, places in parts:
                known, numbers = rows.get(sort, NOTHING)
                x[places] = _found(known, numbers, keys, places.shape[1])
        x[np.isnan(x)] = 0.0
        return x

    def keep_answer(self, arrangement: Any, parts: list[Any], x: Array) -> None:
        """In the place of the last one."""
        self.last = arrangement, parts, x.copy()


def _found(known: Any, rows: Array, keys: Any, width: int) -> Array:
    """The rows (count, width) of some keys among those of the known ones, nan where there are none."""
    if not known.size or rows.shape[1] != width:
        return np.full((keys.size, width), np.nan)
    if known.tobytes() == keys.tobytes():
        return rows.copy()
    found, order = np.full((keys.size, width), np.nan), np.argsort(known, kind="stable")
    at = order[np.minimum(np.searchsorted(known, keys, sorter=order), known.size - 1)]
    same = known[at] == keys
    found[same] = rows[at[same]]
    return found


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
        self.sizes = {
            "size": core.buffer.size, "square": n * n, "width": self.memory, "hooks": self.numbers.size,
            "numbers_of_block": block.constant.size,
        }  # fmt: skip
        self.idle = hooks.given is None and not self.numbers.any()
        """Whether nothing happens before a step: no hook, and axes fixed in space."""
        self.hooked = any(hook is not None for hook in (hooks.given, hooks.again, hooks.remember))
        """Whether hooks of the formulation's own may look at the inertia."""
        self.forgetful = not self.hooked and hooks.estimate == "none"
        """Whether nothing asks for what the last step has left."""
        self.own: dict[tuple[str, ...], tuple[tuple[str, int], ...]] = {}
        """`own_places`, by the names of contacts' own numbers."""

    def cores(self, members: Any) -> Cores:
        """Those of some contacts, to be filled."""
        cores: Cores = Cores.unset(count=members.size, **self.sizes)
        cores.members = members
        return cores

    def contacts(self, cores: Cores, memory: Array) -> ContactsOfAKind:
        """Those of these cores, as a step takes them that is like the last one."""
        return ContactsOfAKind(
            cores, self.one, memory, self.theta, self.block.stamp, self.given, self.again or never_again,
            self.remember, self.idle, self.forgetful,
        )  # fmt: skip

    def set_numbers(self, cores: Cores, given: dict[str, Array]) -> None:
        """The numbers of the hooks: the formulation's, and contacts' own by the names of its options, (r,) each."""
        if self.numbers.size:
            cores.numbers[:] = self.numbers
        names = tuple(given)
        if names not in self.own:
            self.own[names] = own_places(self.block.formulation, max(self.d, 1), names)
        for name, place in self.own[names]:
            cores.numbers[:, place] = given[name][cores.members]

    def must_be_fine(self, wrong: int) -> None:
        """Raises ModellingError where a hook has done what it may not."""
        if wrong:
            label = self.block.formulation.label
            raise ModellingError(f"{label} is not local to its contacts: {WRONG[wrong]}")


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
        self.bare: Posed | None = None
        """The last step without friction, which the next one becomes where its arrays fit."""

    def kind(self, d: int) -> Kind:
        """What contacts with d directions share."""
        if d not in self.kinds:
            self.kinds[d] = Kind(self.formulation, d, self.law, self.v_th)
        return self.kinds[d]

    def pose(
        self, s: Instant, memory: Memory | None = None, solver: Solver | None = None, before: "Posed | None" = None
    ) -> "Posed":
        """The step that begins with this instant; `memory` is what the steps before it have left.

        `solver` finds the impulses without friction, where a formulation asks for them; by default the exact one. An
        earlier step, `before`, which nobody needs any more, becomes this one where its arrays fit.
        """
        posed = self.room(s, before)
        posed.take(s, Memory() if memory is None else memory)
        posed.begin(solver)
        return posed

    def room(self, s: Instant, before: "Posed | None") -> "Posed":
        """An earlier step where its arrays fit, else another one with room for this instant."""
        shape = shape_of(s)
        return before if before is not None and before.shape == shape else Posed(self, s.arrays, shape, before)


class Posed:
    """The problem of one step, pass by pass, and what its answer means.

    Its arrays serve all instants of one `shape`: the same rows of contacts, and sizes.
    """

    def __init__(self, poser: Poser, s: InstantArrays, shape: tuple[bytes, Any], before: "Posed | None" = None) -> None:
        self.poser, self.shape, self.keys_at = poser, shape, s.place("key")
        d = np.diff(s.first) - 1
        kinds = [poser.kind(k) for k in np.unique(d).tolist()]
        self.groups = [(kind, kind.cores(np.flatnonzero(d == kind.d))) for kind in kinds]
        blocks = [kind.block for kind in kinds]
        # Copies of the system, of which one has v+ as its velocity.
        self.copies, self.main = (blocks[0].copies, blocks[0].main) if blocks else (1, 0)
        self.unknowns, self.block_rows = np.ones((2, d.size), dtype=np.int64)
        for kind, cores in self.groups:
            if kind.d:
                self.unknowns[cores.members], self.block_rows[cores.members] = kind.block.k, kind.block.m
        self.discs = DISC in (block.cone for block in blocks)
        self.estimates = {block.hooks.estimate for block in blocks} - {"none"}
        self.iterates = any(kind.again is not None for kind in kinds)
        """Whether the formulation may ask for another pass."""
        self.hooked = any(kind.hooked for kind in kinds)
        self.factored = self.hooked or has_small_factors(s.n, s.M_entries)
        # Groups of velocities seldom change.
        self.mass: Mass = NO_MASS if before is None else before.mass.like()
        entries = s.J_entries
        self.rows = ContactRows.unset(
            n=s.n, r=s.r, ends=s.ends, R=s.R, columns=entries, numbers=(int(d.max(initial=0)) + 1) * entries,
            products=int(((1 + d) ** 2).sum()), most=self.copies * (s.r + s.m + s.k) + s.r + 1,
        )  # fmt: skip
        self.counts: list[int] = []
        self.arrangement: Any = None

    def take(self, s: Instant, memory: Memory) -> None:
        """The instant, its rows, the factors of M where they are needed, and the cores of its contacts."""
        self.instant, self.memory, self.arrays, given = s, memory, s.arrays, s.arrays
        if measure(given, self.mass, self.factored, self.hooked, self.rows):
            self.mass = mass_of(Stored(given.M_pointer, given.M_column, given.M_data), given.n)
            measure(given, self.mass, False, self.hooked, self.rows)
        for kind, cores in self.groups:
            if not kind.forgetful:
                cores.memory[:] = memory.recall(kind.d, given.key[cores.members], kind.memory)
            kind.set_numbers(cores, s.numbers)
            fill_cores(given, self.rows, cores, self.poser.recovery, kind.one)

    def begin(self, solver: Solver | None) -> None:
        """What the formulation does before a step; `solver` finds the impulses without friction, where they are asked
        for."""
        if self.estimates:
            self._estimate(solver or default_solver(ContactBlocks.kind))
        for kind, cores in self.groups:
            if not kind.idle:
                kind.must_be_fine(call_given(self.rows, cores, kind.given, kind.one))

    def _estimate(self, solver: Solver) -> None:
        """The normal impulses that contacts may have: the last step's, and those without friction for new ones."""
        start, free = "start" in self.estimates, parts_freely(self.arrays, self.rows)
        if sum([estimate(cores, start, free, kind.one) for kind, cores in self.groups]):
            found = self._frictionless(solver)
            for _, cores in self.groups:
                cores.p_bar = np.where(np.isnan(cores.p_bar), found[cores.members], cores.p_bar)

    def _frictionless(self, solver: Solver) -> Array:
        """p_n (r,) [N s] of the step without the friction of contacts; zero where that has no answer."""
        bare, poser = without_friction(self.instant), self.poser
        posed = poser.bare = poser.room(bare, poser.bare)
        posed.take(bare, Memory())
        problem: Any = posed.problem()
        solution = solved_by(solver, problem)
        return posed.impulses(solution.z)[0] if solution.claimed is Status.SOLVED else np.zeros(bare.contacts)

    def problem(self) -> ContactBlocks:
        """The blocks of the next pass, by what the cores hold now; those of the pass before are no more."""
        s, rows, copies = self.arrays, self.rows, self.copies
        arrange(s, rows, copies, self.unknowns, self.block_rows)
        self.__dict__.pop("last", None)
        counts = rows.counts.tolist()
        if counts != self.counts:
            self._make_room(counts)
        arrangement = s.buffer[self.keys_at].tobytes(), rows.closed.tobytes(), self.shape[0], s.m, s.k
        if arrangement != self.arrangement:
            self.arrangement, self.parts = arrangement, list(self._parts())
        for kind, cores in self.groups:
            # Contacts without directions are placed with other single rows.
            if kind.d:
                place_blocks(rows, cores, kind.theta, kind.block.stamp, self.stamped)
        sound = complete(s, rows, copies, self.poser.recovery, self.stamped, self.mass, self.few or NO_FEW)
        self.given: Array | None = None
        self.read: Any = None
        self.plain = sound and not self.discs
        if self.plain:
            mass = self.mass if self.factored and copies == 1 else None
            self.blocks = ContactBlocks.of_kernels(self.stamped, mass, self.few)
        else:
            self.blocks, self.given = with_tips_at_zero(self.stamped)
        return self.blocks

    def _make_room(self, counts: list[int]) -> None:
        """For blocks of which there are so many, as `ContactRows.counts` has it."""
        self.counts, n = counts, self.copies * self.arrays.n
        B, R, X, flat, square, entries, masses = counts[2:]
        self.stamped: BlockArrays = BlockArrays.unset(
            n=n, blocks=B, ends=B + 1, rows=R, unknowns=X, flat=flat, square=square, M_ends=n + 1, M_entries=masses,
            J_ends=R + 1, J_entries=entries,
        )  # fmt: skip
        self.few: Few | None = room_for(self.stamped) if self.factored and self.copies == 1 else None

    @cached_property
    def last(self) -> tuple[Last, tuple[ContactsOfAKind, ...], Rules] | None:
        """What the next step takes over if it is like this one (`steady`); None where none can be."""
        before, _, answer = self.memory.last
        # Any kind does for the rest of the room.
        kind: Kind | None = next(iter(self.poser.kinds.values()), None)
        if not (kind and self.plain and self.few and before == self.arrangement and len(self.groups) <= KINDS):
            return None
        key, closed = (np.frombuffer(x, dtype=np.int64).copy() for x in self.arrangement[:2])
        arrays = self.rows, self.mass, self.stamped, self.few, self.unknowns, self.block_rows
        kinds = [
            x.contacts(cores, cores.memory if x.forgetful else self.memory.kept[x.d][1]) for x, cores in self.groups
        ]
        none = kind.cores(np.zeros(0, dtype=np.int64))
        kinds += [kind.contacts(none, none.memory)] * (KINDS - len(kinds))
        rules = Rules(self.poser.recovery, self.hooked, self.iterates, ESTIMATES[max(self.estimates, default="none")])
        return Last(*arrays, key, closed, np.array(self.counts, dtype=np.int64), answer), tuple(kinds), rules

    def follow(self, s: Instant, stops: Stops) -> tuple[Array, Any] | None:
        """The answer x (X,) to the step from an instant of this shape and its `NUMBERS`, where the step is like the
        last one; it is remembered."""
        if self.last is None:
            return None
        for kind, cores in self.groups:
            kind.set_numbers(cores, s.numbers)
        answer = StepAnswer(np.empty(self.arrays.n), np.empty(self.stamped.rows), np.empty(NUMBERS))
        if not step_again(s.arrays, *self.last, stops, answer):
            return None
        self.instant, self.arrays, x = s, s.arrays, self.last[0].answer
        self.blocks, self.read = ContactBlocks.of_kernels(self.stamped, self.mass, self.few), (x, answer.v, answer.P)
        return x, answer.numbers

    def guess(self) -> Array:
        """The last step's answer (X,), contact by contact, zero where there is none."""
        return self.memory.answer(self.arrangement, self.parts, self.blocks.size)

    def velocity(self, x: Array) -> Array:
        """v+ (n,) of an answer x (X,)."""
        return self._read(x)[0]

    def impulses(self, x: Array) -> tuple[Array, Array, Array]:
        """P (R,) of the contacts in the rows of the instant, p_b (m,), p_f (k,) [N s], of an answer x (X,)."""
        P = self._read(x)[1]
        m, k, plain, single = self._single()
        at = P.size - (self.copies - self.main) * single + plain
        return self.rows.P.copy(), P[at : at + m], P[at + m : at + m + k]

    def _single(self) -> tuple[int, int, int, int]:
        """Bilateral rows, those of dry friction, contacts without directions that are closed, and all three."""
        m, k, plain = self.arrays.m, self.arrays.k, self.counts[1]
        return m, k, plain, plain + m + k

    def again(self, x: Array) -> bool:
        """Whether the formulation asks for another pass after this answer."""
        if not self.iterates:
            return False
        self._read(x)
        # Every contact is asked: their hooks prepare the next pass.
        asked = 0
        for kind, cores in self.groups:
            count = call_again(self.arrays, self.rows, cores, kind.again, kind.one)
            kind.must_be_fine(max(-count, 0))
            asked += count
        return asked > 0

    def remember(self, x: Array) -> None:
        """Keep what the next step needs, by the contacts' keys."""
        self._read(x)
        self.memory.forget()
        for kind, cores in self.groups:
            if not kind.forgetful:
                call_remember(self.arrays, self.rows, cores, kind.remember, kind.one)
                self.memory.keep(kind.d, self.arrays.key[cores.members], cores.memory)
        self.memory.keep_answer(self.arrangement, self.parts, x)

    def _read(self, x: Array) -> tuple[Array, Array]:
        """v+ (n,) and the impulses in all rows of an answer x (X,), which is asked for several times; `rows` have what
        they mean for contacts."""
        if self.read is None or self.read[0] is not x:
            n, main, few = self.arrays.n, self.main, self.few
            if self.plain and few and x.shape == (few.unknowns,) and x.dtype == float and x.flags.c_contiguous:
                v, P = np.empty(n), np.empty(few.rows)
                read_few(self.arrays, self.rows, self.stamped, self.mass, x, v, P)
            else:
                v, P = self.blocks.motion(x)
                if self.given is not None:
                    P = P + self.given
                v = v[main * n : (main + 1) * n]
                read_answer(self.arrays, self.rows, main, v, P)
            self.read = x, v, P
        return self.read[1:]

    def _parts(self) -> Iterator[tuple[Any, Any, Any]]:
        """Sorts, keys and places (count, .) of unknowns that belong together from step to step."""
        s, rows, (m, k, plain, single) = self.arrays, self.rows, self._single()
        for kind, cores in self.groups:
            members = cores.members
            some = members[rows.block[members] >= 0]
            if some.size:
                places = rows.unknown[rows.block[some]][:, None] + np.arange(kind.block.k)
                yield ("x", kind.d), s.key[some], places
        rubbing = self.counts[0]
        at = rows.unknown[rubbing] + single * np.arange(self.copies)
        closed = s.key[rows.order[rubbing : rubbing + plain]]
        for sort, keys in ("plain", closed), ("b", np.arange(m)), ("f", np.arange(k)):
            if keys.size:
                yield sort, keys, np.arange(keys.size)[:, None] + at
            at = at + keys.size
