"""Derivatives of steps that make passes, compiled: of a fixed point, or of a given number of passes.

A pass poses the problem of its data w, the formulation's own, solves it, and computes those of the next one,
w+ = G(x, w, out), x being the inputs of the step and `out` the solution. A tape holds the data of the step and those of
all passes (`taped`). Tangents follow pass by pass; those of a fixed point repeat the last one until they have
converged. All tangents are computed at once. A step is left to the caller as in `sweep`, and where a mode does not hold
by a clear margin, the tape has a kink, or tangents do not converge.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numba import types

from workbench.derivatives.columns import put_row
from workbench.derivatives.one_step import (
    SETTLED,
    UNSETTLED,
    Carried,
    Direction,
    LinearisedStep,
    State,
    Step,
    floor_of,
    largest_change,
)  # fmt: skip
from workbench.derivatives.slopes import MACHINE, Machine, find_units, step_data
from workbench.derivatives.sweep import (
    ALIKE,
    KINKED,
    answer,
    are_determined,
    end_ahead,
    is_between_none,
    is_clear,
    is_posed,
    linearise,
    slopes_along,
)  # fmt: skip
from workbench.derivatives.tape import SAME, carry_tangents, evaluate, path, turn_ties
from workbench.derivatives.taped import Tapes, recorded, system_of, widened
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.language.assemble.assembly import carry_back
from workbench.support.arrays import Array

MOST = 1000
"""Largest number of passes of tangents of a fixed point."""
I64 = types.int64


@kernel(types.boolean(MACHINE, VECTOR, MATRIX, types.boolean))
def are_taped(m, x, own, settles):
    """Return whether a step with the inputs x (n_in,) of the tape has its data, and passes the data own (P, n_own)."""
    s, t, n_own = m.sweep, m.tape, own.shape[1]
    y, out, value, n_y = s.y, t.out, t.value, s.y.shape[0]
    copy(x, s.x)
    step_data(m, s.x, y)
    find_units(m)
    evaluate(t, x)
    if path(t) != SAME:
        return False
    for k in range(m.core.theta.shape[0] + 2 * m.core.mu.shape[0]):
        one, other = value[out[k]], y[k]
        is_known = one - one == 0.0 or other - other == 0.0
        if is_known and not abs(one - other) <= ALIKE * (s.largest[0] + abs(other)):
            return False
    for p in range(own.shape[0]):
        last = p == own.shape[0] - 1
        if last and not settles:
            break
        apart, largest = 0.0, 0.0
        for i in range(n_own):
            wanted = own[p if settles else p + 1, i]
            apart = max(apart, abs(value[out[n_y + p * n_own + i]] - wanted))
            largest = max(largest, abs(wanted))
        if not apart <= UNSETTLED * largest:
            return False
    return True


@kernel(types.UniTuple(I64, 2)(MACHINE, VECTOR, VECTOR))
def linearise_pass(m, own, z):
    """Linearise the law at the solution z of the pass with the data own (n_own,), as in `sweep.linearise`; return the
    rank -1 where a mode does not hold by a clear margin."""
    copy(own, m.core.own)
    if not is_posed(m):
        return 0, -1
    copy(z, m.work.z)
    carry_back(m.work)
    if not is_between_none(m):
        return 0, -1
    Y, rank = linearise(m)
    if rank < 0 or not is_clear(m, Y, rank):
        return 0, -1
    return Y, rank


@kernel(types.boolean(MACHINE, I64, I64, I64))
def answer_pass(m, Y, rank, K):
    """Compute `answers` of a linearised pass along the tangents `dy` of its data; return whether all K exist."""
    s, wide, found = m.sweep, m.sweep.dy.shape[1], True
    y, dx = scratch_matrix(Y, wide), scratch_matrix(m.system.x.shape[0], wide)
    answer(m, rank, s.answers.shape[0], y, dx, s.answers, s.terms)
    for j in range(K):
        found &= s.terms[j] == s.terms[j]
    return found


@kernel(types.void(MACHINE, I64, I64))
def take_own(m, from_output, from_input):
    """Put the tangents of the formulation's own data into those of the pass: of the outputs of the tape from number
    `from_output` on, unless that is negative, and into the inputs from number `from_input` on, likewise."""
    s, t, n_own = m.sweep, m.tape, m.core.own.shape[0]
    first = m.core.theta.shape[0] - m.core.rest.shape[0] - n_own
    for i in range(n_own):
        put_row(1.0, t.tangent, t.out[from_output + i], s.dy, first + i)
        if from_input >= 0:
            put_row(1.0, s.dy, first + i, t.tangent, from_input + i)


@kernel(types.void(MACHINE, I64))
def give_answers(m, place):
    """Put the tangents of the outputs of a pass into the inputs of the tape from number `place` on, and carry them."""
    t, answers = m.tape, m.sweep.answers
    for i in range(answers.shape[0]):
        put_row(1.0, answers, i, t.tangent, place + i)
    carry_tangents(t, t.first, t.late)


@kernel(types.boolean(MACHINE, I64, I64, MATRIX))
def settle_pass(m, Y, rank, floors):
    """Repeat the linearised last pass until the tangents of its outputs have converged; return whether they do. Of each
    tangent, `floors` (K, 2) are the sizes below which velocities and impulses do not count."""
    s, n_o, n_y, K = m.sweep, m.work.out.shape[0], m.sweep.y.shape[0], floors.shape[0]
    n, place = m.core.v.shape[0], s.x.shape[0]
    one, other, before = scratch(n_o), scratch(n_o), scratch_matrix(n_o, s.dy.shape[1])
    first = m.core.theta.shape[0] - m.core.rest.shape[0] - m.core.own.shape[0]
    for i in range(m.core.own.shape[0]):
        put_row(1.0, s.dy, first + i, m.tape.tangent, place + i)
    for k in range(MOST):
        if not answer_pass(m, Y, rank, K):
            return False
        settled = k > 0
        for j in range(K):
            for i in range(n_o):
                one[i], other[i] = s.answers[i, j], before[i, j]
            settled = settled and largest_change(one, other, n, floors[j, 0], floors[j, 1]) <= SETTLED
        if settled:
            return True
        for i in range(n_o):
            put_row(1.0, s.answers, i, before, i)
        give_answers(m, place + m.core.own.shape[0])
        take_own(m, n_y, place)
    return False


@kernel(types.boolean(MACHINE, I64))
def are_smooth(m, K):
    """Return whether K tangents of the own data after all passes are the same on both sides of kinks of the tape."""
    t, n_y, same = m.tape, m.sweep.y.shape[0], True
    own = scratch_matrix(t.out.shape[0] - n_y, t.tangent.shape[1])
    for i in range(own.shape[0]):
        put_row(1.0, t.tangent, t.out[n_y + i], own, i)
    if turn_ties(t):
        carry_tangents(t, t.first, t.late)
        for i in range(own.shape[0]):
            for j in range(K):
                same = same and abs(t.tangent[t.out[n_y + i], j] - own[i, j]) <= KINKED * abs(own[i, j])
    return same


@kernel(types.boolean(MACHINE, VECTOR, MATRIX, MATRIX, types.boolean, MATRIX, MATRIX, MATRIX))
def passes_ahead(m, x, own, solutions, settles, tangents, floors, found):
    """The tangents (K, n_x) after a step from those before it, with the inputs x (n_in,) of the tape, and passes with
    the data own (P, n_own) and the solutions (P, n_z), of which the last may settle; False where they are not known."""
    s, n_o, n_y, n_own, K = m.sweep, m.work.out.shape[0], m.sweep.y.shape[0], own.shape[1], tangents.shape[0]
    outputs, n_q = s.x.shape[0] + n_own, m.track.q.shape[0]
    if not are_taped(m, x, own, settles) or not slopes_along(m, tangents):
        return False
    for p in range(own.shape[0]):
        Y, rank = linearise_pass(m, own[p], solutions[p])
        if rank < 0:
            return False
        if settles:
            if not settle_pass(m, Y, rank, floors):
                return False
        else:
            if p > 0:
                take_own(m, n_y + (p - 1) * n_own, -1)
            if not answer_pass(m, Y, rank, K):
                return False
        if rank < Y and not are_determined(m, Y, rank, K, n_o):
            return False
        give_answers(m, outputs + p * n_o)
    # The rest of the memory is that after all passes.
    for k in range(m.core.theta.shape[0] + 2 * m.core.mu.shape[0], n_y - n_q):
        put_row(1.0, m.tape.tangent, m.tape.out[k], s.dy, k)
    return are_smooth(m, K) and end_ahead(m, tangents, n_o, found)


class TapedPasses:
    """Derivatives of single steps that make passes, K at once, by the tapes that hold there."""

    def __init__(self, step: Step, machine: Machine, K: int) -> None:
        self.step, self.machine, self.K = step, machine, K
        self._tapes = cache(lambda *kind: Tapes((system_of(machine), kind)))

    def along(self, x: LinearisedStep, directions: Sequence[Direction]) -> list[Carried] | None:
        """The derivatives of a solved step along K directions of its state and data; None where they are left to
        others."""
        if x.unsettled:
            return None
        m, passes, settles = self.machine, (*x.earlier, x), not x.earlier
        own, z = np.array([one.own for one in passes]), np.array([one.z for one in passes])
        outputs = self._outputs(x.state, own, z)
        inputs = self.step.inputs(x.state, self.step.case.data())
        given = np.concatenate([inputs, outputs[-1, : m.core.v.size], own[0], outputs.ravel()])
        tape = self._tapes(len(passes), settles).at(given, lambda: recorded(m, given, len(passes), settles))
        if tape is None:
            return None
        floors = [floor_of(self.step.stepper, outputs[-1], one.reach(x.state))[1:] for one in directions]
        tangents = np.array([self.step.inputs(one.state, one.along) for one in directions])
        found = np.empty(tangents.shape)
        m = m._replace(tape=widened(tape, self.K))
        if not passes_ahead(m, given, own, z, settles, tangents, np.array(floors), found):
            return None
        return [Carried(self.step.parts(one), False, x.is_rough) for one in found]

    def _outputs(self, state: State, own: Array, z: Array) -> Array:
        """The outputs (P, n_o) of all passes."""
        work, found = self.step.stepper.work, []
        self.step.begin(state)
        for its, solution in zip(own, z, strict=True):
            self.step.posed(its)
            work.z[:] = solution
            carry_back(work)
            found.append(work.out.copy())
        return np.array(found)
