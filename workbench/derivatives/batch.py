"""Steps of a batch of contact data, and the adjoints of their data: the compiled part of a layer (`layer`)."""

from typing import NamedTuple

import numpy as np
from numba import types

from workbench.derivatives.differences import AT, SHIFT, fourth
from workbench.derivatives.slopes import MACHINE, read_data
from workbench.derivatives.sweep import (
    due_to_solution,
    in_reverse,
    is_between_none,
    is_clear,
    is_posed,
    linearise,
    may_contradict,
    read_answer,
)  # fmt: skip
from workbench.derivatives.tape import OTHER as OTHER_PATH
from workbench.derivatives.tape import TAPE, carry_adjoints, evaluate, path
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, is_finite, set_all
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.language.assemble.assembly import carry_back, stamp
from workbench.language.estimate import normal_estimate
from workbench.mechanics.core import CORE, FILL, GAP, approach
from workbench.step.stepping import NO_ESTIMATE, SOLVED, START, discretise, solve_posed, turn_back
from workbench.support.arrays import Array

I64 = types.int64


class Batch(NamedTuple):
    """B steps: `Core.whole` before and after the formulation's hook, `Work.X`, and `Work.recorded` with impulses along
    the case's axes, (B, .) each; residuals (B,) of the solutions, inf where there is none."""

    given: Array
    prepared: Array
    eliminated: Array
    answers: Array
    residuals: Array


BATCH = argument_type(Batch, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR)


@kernel(FILL)
def fill_nothing(q, v, data, core):
    """In the place of a case: the data are in the core."""


@kernel(types.void(MACHINE))
def estimate(m):
    """Estimate the normal impulses of the contact data in the core, if asked for, as in a first step."""
    core, track, functions, settings = m.core, m.track, m.functions, m.settings
    set_all(np.nan, track.memory)
    if settings.estimate != NO_ESTIMATE:
        normal_estimate(core, track.memory, settings.estimate == START, functions.lcp)


@kernel(types.void(MACHINE))
def prepare(m):
    """Apply the formulation's hook to the contact data in the core, as in a first step, after `estimate`."""
    core, track = m.core, m.track
    set_all(np.nan, track.memory)
    copy(track.own_start, core.own)
    m.functions.given(core, track.memory, core.own, track.numbers)


@kernel(types.void(BATCH, MACHINE), checked=False)
def make_steps(b, m):
    """Make the steps of the data in `given`, to which their sums (`discretise`) and estimates are added, by a compiled
    solver."""
    core, work = m.core, m.work
    given, prepared, eliminated, answers, residuals = b.given, b.prepared, b.eliminated, b.answers, b.residuals
    first = core.v.shape[0] + core.mu.shape[0]
    last = first + core.b_t.shape[0]
    for k in range(residuals.shape[0]):
        copy(given[k], core.whole)
        discretise(core)
        estimate(m)
        copy(core.whole, given[k])
        prepare(m)
        copy(core.whole, prepared[k])
        residuals[k] = np.inf
        set_all(0.0, work.z)
        if not is_posed(m):
            continue
        status, residual = solve_posed(work, m.settings, m.functions.solve)
        if status == SOLVED:
            carry_back(work)
            turn_back(core, work.out[first:last])
            copy(work.X.reshape(work.X.size), eliminated[k])
            copy(work.recorded, answers[k])
            residuals[k] = residual


@kernel(types.boolean(BATCH, I64, MACHINE))
def restore(b, k, m):
    """Put step k and its solution in their places; return whether all modes hold, as in `sweep.is_between_none`."""
    core, work = m.core, m.work
    copy(b.prepared[k], core.whole)
    read_data(core, m.sweep.y)
    stamp(core.theta, work)
    copy(b.eliminated[k], work.X.reshape(work.X.size))
    copy(b.answers[k], work.recorded)
    return is_between_none(m)


@kernel(types.boolean(BATCH, I64, MACHINE, VECTOR, VECTOR))
def step_back(b, k, m, out, found):
    """The adjoint of a step's parameters and axes (n_y,) from that of its outputs (n_o,); False where a mode does not
    hold by a clear margin, or data might move redundant rows of S in ways that contradict one another."""
    outside = scratch(found.shape[0])
    if not restore(b, k, m):
        return False
    Y, rank = linearise(m)
    if rank < 0 or not is_clear(m, Y, rank):
        return False
    if not in_reverse(m, Y, rank, out, found) or not is_finite(found):
        return False
    return rank == Y or not may_contradict(m, Y, rank, outside)


@kernel(types.void(BATCH, MATRIX, MATRIX, INDICES, MACHINE), checked=False)
def steps_back(b, due, found, left, m):
    """`step_back` of a batch: found (B, n_y) from due (B, n_o); left (B,) is 1 for steps left to the caller."""
    for k in range(left.shape[0]):
        left[k] = 0 if step_back(b, k, m, due[k], found[k]) else 1


@kernel(types.void(BATCH, I64, MACHINE, VECTOR, VECTOR), checked=False)
def begin_back(b, k, m, out, given):
    """The adjoint `given` (X,) of the solution of step k in the system, whatever its modes, from that of its outputs
    (n_o,); `sweep.due_to_parameters` may follow."""
    restore(b, k, m)
    read_answer(m)
    due_to_solution(m, out, given, scratch(given.shape[0]))


@kernel(types.void(CORE, CORE))
def take_sums_back(core, due):
    """Take the adjoints `due` of a core's numbers back through its sums (`stepping.discretise`), in place.

    What Moreau's law opens has no impulse, so that nothing is due to its rows.
    """
    for i in range(core.v.shape[0]):
        due.f[i] += core.h * due.b[i]
        for j in range(core.v.shape[0]):
            due.M[i, j] += due.b[i] * core.v[j]
            due.v[j] += core.M[i, j] * due.b[i]
    for i in range(core.phi.shape[0]):
        b_n, rate = due.b_n[i], approach(core, i)
        restored = core.e[i] * b_n if rate < 0.0 else 0.0
        due.e[i] += b_n * rate
        due.r_n[i] += b_n + restored
        if core.law == GAP:
            due.phi[i] += b_n / core.h
        for j in range(core.v.shape[0]):
            due.J_n[i, j] += restored * core.v[j]
            due.v[j] += restored * core.J_n[i, j]
    for i in range(core.b_t.shape[0]):
        due.r_t[i] += due.b_t[i]
    for i in range(core.g.shape[0]):
        due.r_b[i] += due.b_b[i]
        due.g[i] += due.b_b[i] / core.h


@kernel(types.void(MATRIX, MATRIX, CORE, CORE), checked=False)
def sums_back(given, at, core, due):
    """`take_sums_back` for the adjoints `at` (B, .) of the core's numbers `given` (B, .), in place."""
    for k in range(given.shape[0]):
        copy(given[k], core.whole)
        copy(at[k], due.whole)
        take_sums_back(core, due)
        copy(due.whole, at[k])


@kernel(types.void(TAPE, MATRIX, I64, I64, MATRIX, INDICES), checked=False)
def hooks_back(tape, given, first, end, at, left):
    """Take the adjoints `at` (B, .) of the core's numbers back through the formulation's hook, in place, by its tape,
    whose inputs are the numbers first : end. left (B,) is 1 for steps to be taken, then for those that take another
    tape."""
    adjoint, out = tape.adjoint, tape.out
    for k in range(left.shape[0]):
        if left[k] == 0:
            continue
        evaluate(tape, given[k, first:end])
        if path(tape) == OTHER_PATH:
            continue
        set_all(0.0, adjoint)
        for i in range(out.shape[0]):
            adjoint[out[i]] += at[k, i]
        carry_adjoints(tape, adjoint.shape[0], tape.first)
        for i in range(first, end):
            at[k, i] = adjoint[i - first]
        left[k] = 0


@kernel(types.void(MACHINE, VECTOR, INDICES, VECTOR, VECTOR))
def differ_hook(m, given, moved, at, found):
    """found[k] = at . d buffer / d given[k] for each k of `moved`, by differences of order four.

    `given` are the core's numbers before the hook, the buffer those behind it. What is not finite beside it does not
    move.
    """
    buffer = m.core.whole
    size = buffer.shape[0]
    ends = scratch_matrix(4, size)
    for k in moved:
        shift = SHIFT * (1.0 + abs(given[k]))
        for side in range(4):
            copy(given, buffer)
            buffer[k] += AT[side] * shift
            prepare(m)
            copy(buffer, ends[side])
        total = 0.0
        for a in range(size):
            if at[a] != 0.0:
                slope = fourth(ends[0, a], ends[1, a], ends[2, a], ends[3, a], shift)
                total += at[a] * slope if np.isfinite(slope) else 0.0
        found[k] = total
