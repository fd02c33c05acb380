"""A step like the one before in one compiled call: its contacts have the same keys, and are closed as they were.

Almost all steps are. The kernels are those that `posing` calls one by one, making room for what has changed in between.
Where anything has changed, or where the compiled solver of few blocks does not suffice, nothing is remembered, and
`posing` makes the step.

They do not count references (`_nrt`) to the arrays of the groups that they pass on, which would take a fifth of the
time of a step; so they must not create arrays of their own.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.few_blocks import solve_few
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, WITHIN, copy, is_finite
from workbench.language.assemble.local import STAMP
from workbench.mechanics.instant import INSTANT
from workbench.problems.block_kernels import BLOCKS
from workbench.problems.mass import MASS
from workbench.problems.small_blocks import FEW
from workbench.scenes.blocks import arrange, complete, place_blocks, read_few
from workbench.scenes.case_scene import MECHANICS, read
from workbench.scenes.rows import ROWS, measure
from workbench.scenes.single import (
    CORES,
    ONE,
    call_again,
    call_given,
    call_remember,
    estimate,
    fill_cores,
    parts_freely,
)
from workbench.step.scheme import fastest
from workbench.step.stepping import AGAIN_T, GIVEN_T, NO_ESTIMATE, REMEMBER_T, START

I64, F64 = types.int64, types.float64
TOO_FAST = 1e6
"""Speed [m/s, rad/s] beyond which a run has exploded and ends."""


class ContactsOfAKind(NamedTuple):
    """The contacts of one kind: their cores, what they remember, their blocks, and the formulation's hooks."""

    cores: Any
    one: Any
    memory: Any
    """(count, .) rows of what they remember of the step before, which receives what they remember of this one"""
    theta: int
    stamp: Any
    given: Any
    again: Any
    remember: Any
    idle: bool
    forgetful: bool


class Last(NamedTuple):
    """The step before: its arrays, which the next one takes over, and what must be the same."""

    rows: Any
    mass: Any
    blocks: Any
    few: Any
    unknowns: Any
    """(r,) unknowns of every contact's block, and its rows (`blocks.arrange`)"""
    block_rows: Any
    key: Any
    closed: Any
    counts: Any
    answer: Any
    """(X,) the answer, in whose place that of the next step is put"""


class Rules(NamedTuple):
    """How a formulation is posed: the recovery speed [m/s], whether hooks look at the inertia, whether they may ask for
    another pass, and the estimate of normal impulses (`stepping.StepSettings`)."""

    recovery: float
    hooked: bool
    iterates: bool
    estimate: int


class Stops(NamedTuple):
    """When a step counts as solved: `few_blocks.solve_few`, the residual of a verified answer, the most passes."""

    enough: float
    at_last: float
    tolerance: float
    passes: int


class StepAnswer(NamedTuple):
    """The velocities v (n,) after the step, the impulses P of all rows, and `NUMBERS` of the step."""

    v: Any
    P: Any
    numbers: Any


class Steps(NamedTuple):
    """K steps: the states before and after them, q (K + 1, n_q) and v (K + 1, n), and their `NUMBERS` (K, .)."""

    q: Any
    v: Any
    numbers: Any

    @classmethod
    def unset(cls, count: int, n_q: int, n: int) -> "Steps":
        """Room for so many."""
        return cls(np.empty((count + 1, n_q)), np.empty((count + 1, n)), np.empty((count, NUMBERS)))

    def part(self, first: int, count: int) -> "Steps":
        """So many of them, or as many as there are, from the `first` on."""
        end = first + count
        return Steps(self.q[first : end + 1], self.v[first : end + 1], self.numbers[first:end])


NUMBERS = 5
"""Numbers of a step: how many contacts it has, its residual and the largest that counts, iterations, passes."""
KINDS = 2
"""Kinds of contacts for which there is room: those with directions of one number, and limits of joints."""

CONTACTS = argument_type(
    ContactsOfAKind, CORES, ONE, MATRIX, I64, STAMP, GIVEN_T, AGAIN_T, REMEMBER_T, types.boolean, types.boolean
)
ALL_CONTACTS = types.UniTuple(CONTACTS, KINDS)
LAST = argument_type(Last, ROWS, MASS, BLOCKS, FEW, *(INDICES,) * 5, VECTOR)
RULES = argument_type(Rules, F64, types.boolean, types.boolean, I64)
STOPS = argument_type(Stops, F64, F64, F64, I64)
ANSWER = argument_type(StepAnswer, VECTOR, VECTOR, VECTOR)
STEPS = argument_type(Steps, MATRIX, MATRIX, MATRIX)


@kernel(types.boolean(INDICES, INDICES), linked=True)
def are_same(a, b):
    """Whether two arrays of one size are equal."""
    different = 0
    for i in range(a.shape[0]):
        different += a[i] != b[i]
    return different == 0


@kernel(types.boolean(INSTANT, LAST, ALL_CONTACTS, RULES), **WITHIN)
def begin_again(s, last, kinds, rules):
    """All that comes before the first pass; False where the step is not like the one before."""
    rows = last.rows
    if not are_same(s.key, last.key) or measure(s, last.mass, True, rules.hooked, rows):
        return False
    for kind in kinds:
        if not kind.forgetful:
            for j in range(kind.memory.shape[0]):
                copy(kind.memory[j], kind.cores.memory[j])
        fill_cores(s, rows, kind.cores, rules.recovery, kind.one)
    if rules.estimate != NO_ESTIMATE:
        free = parts_freely(s, rows)
        for kind in kinds:
            if estimate(kind.cores, rules.estimate == START, free, kind.one):
                return False
    wrong = 0
    for kind in kinds:
        if not kind.idle:
            wrong += call_given(rows, kind.cores, kind.given, kind.one)
    return wrong == 0


@kernel(types.boolean(INSTANT, LAST, ALL_CONTACTS, RULES), **WITHIN)
def pose_again(s, last, kinds, rules):
    """The blocks of a pass; False where others are closed than before, or they have other numbers."""
    rows = last.rows
    arrange(s, rows, 1, last.unknowns, last.block_rows)
    if not (are_same(rows.closed, last.closed) and are_same(rows.counts, last.counts)):
        return False
    for kind in kinds:
        place_blocks(rows, kind.cores, kind.theta, kind.stamp, last.blocks)
    return complete(s, rows, 1, rules.recovery, last.blocks, last.mass, last.few)


@kernel(types.boolean(INSTANT, LAST, ALL_CONTACTS, RULES, STOPS, ANSWER), checked=False, **WITHIN)
def step_again(s, last, kinds, rules, stops, answer):
    """The step from an instant, as `stepper.SceneStepper` makes it; False where it is not like the one before."""
    rows, blocks, few, X = last.rows, last.blocks, last.few, last.answer.shape[0]
    x, before, found = few.x, few.x_before, few.found
    if not begin_again(s, last, kinds, rules):
        return False
    copy(last.answer, x)
    passes, iterations, unchanged, asked = 0, 0.0, 0, 1
    while asked > 0 and unchanged < 2:
        if passes == stops.passes or not pose_again(s, last, kinds, rules):
            return False
        copy(x, before)
        done = solve_few(blocks, few, stops.enough, stops.at_last, before, x, few.residuals, found)
        if not (done and found[0] <= stops.tolerance):
            return False
        read_few(s, rows, blocks, last.mass, x, answer.v, answer.P)
        passes, iterations, same, asked = passes + 1, iterations + found[1], passes > 0, 0
        for k in range(X):
            same = same and x[k] == before[k]
        unchanged = unchanged + 1 if same else 0
        if rules.iterates:
            for kind in kinds:
                more = call_again(s, rows, kind.cores, kind.again, kind.one)
                if more < 0:
                    return False
                asked += more
    if not (is_finite(answer.v) and fastest(answer.v) < TOO_FAST):
        return False
    for kind in kinds:
        if not kind.forgetful:
            call_remember(s, rows, kind.cores, kind.remember, kind.one)
            for j in range(kind.memory.shape[0]):
                copy(kind.cores.memory[j], kind.memory[j])
    copy(x, last.answer)
    numbers = answer.numbers
    numbers[0], numbers[1], numbers[2] = s.phi.shape[0], found[0], stops.tolerance
    numbers[3], numbers[4] = iterations, passes
    return True


@kernel(I64(MECHANICS, INSTANT, LAST, ALL_CONTACTS, RULES, STOPS, STEPS), checked=False, _nrt=False)
def run_again(case, s, last, kinds, rules, stops, steps):
    """Steps of a case from the first of the states on, as long as they are like the one before; how many were made."""
    for k in range(steps.numbers.shape[0]):
        q, v, v_next, q_next = steps.q[k], steps.v[k], steps.v[k + 1], steps.q[k + 1]
        if not read(case, q, v, s):
            return k
        if not step_again(s, last, kinds, rules, stops, StepAnswer(v_next, last.few.P, steps.numbers[k])):
            return k
        case.advance(q, v_next, s.h, case.data, q_next)
        # The run ends there, so that it does not matter that the step is remembered.
        if not is_finite(q_next):
            return k
    return steps.numbers.shape[0]
