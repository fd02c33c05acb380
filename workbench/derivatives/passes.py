"""Derivatives of steps that make passes, compiled: of a fixed point, or of a given number of passes.

A pass poses the problem of its data w, the formulation's own, solves it, and computes those of the next one,
w+ = G(x, w, out), x being the inputs of the step and `out` the solution. A tape holds the data of the step and those of
all passes (`taped`). Tangents follow pass by pass; those of a fixed point repeat the last one until they have
converged. All tangents are computed at once. Steps are solved again one after another, since the record of a motion has
no passes. A step is left to the caller as in `sweep`, and where a mode does not hold by a clear margin, the tape has a
kink, or tangents do not converge.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numba import types

from workbench.derivatives.columns import put_row
from workbench.derivatives.differences import LEVEL
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
from workbench.derivatives.slopes import MACHINE, Machine, begin, find_units, step_data
from workbench.derivatives.sweep import (
    ALIKE,
    CODES,
    CUBE,
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
from workbench.engine.kernels import MATRIX, VECTOR, copy, copy_at
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.language.assemble.assembly import carry_back
from workbench.language.estimate import NEGLIGIBLE, is_new, momentum
from workbench.problems.problem import Indices
from workbench.step.stepping import NO_ESTIMATE, SOLVED, START, end_step, finish_pass, solve_posed
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


@kernel(types.void(MACHINE, VECTOR))
def put_state(m, state):
    """Put [q, v, memory, the last outputs] of the stepper into `state`."""
    t, first = m.track, 0
    for part in (t.q, t.v, t.memory, m.work.out):
        copy_at(part, state, first)
        first += part.shape[0]


@kernel(types.void(VECTOR, MACHINE))
def take_state(state, m):
    """Undo what has happened since `put_state`."""
    t, first = m.track, 0
    for part in (t.q, t.v, t.memory, m.work.out):
        for i in range(part.shape[0]):
            part[i] = state[first + i]
        first += part.shape[0]


@kernel(I64(MACHINE, MATRIX, MATRIX, MATRIX))
def make_passes(m, own, solutions, outputs):
    """Solve the step that has begun, with the own data, the solution and the outputs of pass p in the rows p, and the
    own data after all P passes in the row P of own (most + 1, n_own); return P, 0 where a pass is not solved or there
    are more than `most`."""
    core, work, count, wanted = m.core, m.work, 0, True
    while wanted:
        if count == solutions.shape[0] or not is_posed(m):
            return 0
        copy(core.own, own[count])
        status, _ = solve_posed(work, m.settings, m.functions.solve)
        if status != SOLVED:
            return 0
        copy(work.z, solutions[count])
        wanted = finish_pass(core, work, m.track, m.functions.again)
        copy(work.out, outputs[count])
        count += 1
    copy(core.own, own[count])
    return count


COUNTED, AT_REST, OPEN = range(3)


@kernel(I64(MACHINE, VECTOR, VECTOR))
def how_it_ends(m, own, z):
    """Begin the step with the own data after all passes, and the last solution: return whether others would follow, as
    in a step that counts its passes, whether it has settled, or neither. As `one_step.solved`."""
    core, work, apart, largest = m.core, m.work, 0.0, 0.0
    solved = scratch(core.theta.shape[0])
    copy(own, core.own)
    copy(core.theta, solved)
    begin(m)
    copy(own, core.own)
    # Passes may change more than their own data.
    for i in range(solved.shape[0]):
        if core.theta[i] != solved[i]:
            return OPEN
    if not is_posed(m):
        return OPEN
    copy(z, work.z)
    if finish_pass(core, work, m.track, m.functions.again):
        return COUNTED
    copy(own, core.own)
    finish_pass(core, work, m.track, m.functions.again)
    for i in range(own.shape[0]):
        apart, largest = max(apart, abs(core.own[i] - own[i])), max(largest, abs(own[i]))
    return AT_REST if apart <= UNSETTLED * largest else OPEN


@kernel(types.void(MACHINE, VECTOR, MATRIX, VECTOR, MATRIX))
def find_floors(m, x, tangents, units, floors):
    """Compute `one_step.floor_of` for every tangent (K, n_x) of the inputs x, of parameters of these `units`, at the
    outputs in `work`."""
    n, out, v, p = m.core.v.shape[0], m.work.out, 0.0, momentum(m.core)
    for i in range(out.shape[0]):
        v, p = max(v, abs(out[i])) if i < n else v, max(p, abs(out[i])) if i >= n else p
    for j in range(tangents.shape[0]):
        reach = units[j]
        for i in range(tangents.shape[1] - m.track.data.shape[0]):
            if tangents[j, i] != 0.0:
                reach = min(reach, (1.0 + abs(x[i])) / abs(tangents[j, i]))
        floors[j, 0], floors[j, 1] = LEVEL * (1.0 + v) / reach, LEVEL * p / reach


@kernel(types.boolean(MACHINE, VECTOR))
def is_estimated_anew(m, memory):
    """Return whether the step that has begun with this memory estimates the impulse of a contact from the frictionless
    load, which redundant contacts may share in several ways (`one_step.has_several_estimates`)."""
    found, estimate, nothing = False, m.settings.estimate, NEGLIGIBLE * momentum(m.core)
    if estimate != NO_ESTIMATE:
        for i in range(m.core.mu.shape[0]):
            found = found or is_new(m.core, memory, estimate == START, nothing, i)
    return found


@kernel(I64(I64, I64, I64, types.boolean, VECTOR, CUBE, CODES, MACHINE), checked=False)
def steps_ahead(start, steps, passes, settles, units, tangents, modes, m):
    """Tangents (steps + 1, K, n_x) of a motion whose step `start` begins with the state in the stepper, and the modes
    (steps - start, X), as far as steps make so many passes or settle, and are regular; returns the first step that is
    left to the caller, or `steps`, whose state is then in the stepper."""
    core, work, track, n_x, most = m.core, m.work, m.track, tangents.shape[2], m.track.passes
    n, n_q, n_o, n_d, n_own = core.v.size, track.q.size, work.out.size, track.data.size, core.own.size
    n_state, rest, floors = n_q + n + track.memory.size + n_o, n_x - n_q - n - n_o - n_d, scratch_matrix(units.size, 2)
    state, after, x = scratch(n_state), scratch(n_state), scratch(n_x + n + n_own + passes * n_o)
    own, solutions = scratch_matrix(most + 1, n_own), scratch_matrix(most, work.z.size)
    outputs = scratch_matrix(most, n_o)
    for k in range(start, steps):
        put_state(m, state)
        begin(m)
        anew = is_estimated_anew(m, state[n_q + n : n_state - n_o])
        count = 0 if anew else make_passes(m, own, solutions, outputs)
        if count == 0:
            take_state(state, m)
            return k
        last = count - 1
        end_step(0, core, work, track, m.functions, m.settings)
        put_state(m, after)
        take_state(state, m)
        # The inputs of the tape: those of the step, v+, the own data of a pass that settles, the outputs of all passes.
        copy_at(track.q, x, 0)
        copy_at(track.v, x, n_q)
        copy_at(work.out, x, n_q + n)
        copy_at(track.memory[track.memory.size - rest :], x, n_q + n + n_o)
        copy_at(track.data, x, n_x - n_d)
        copy_at(outputs[last, :n], x, n_x)
        ending, first = how_it_ends(m, own[count], solutions[last]), last if settles else 0
        regular = ending == (AT_REST if settles else COUNTED) and count - first == passes
        if regular:
            given = own[count:] if settles else own[:count]
            copy_at(given[0], x, n_x + n)
            for p in range(passes):
                copy_at(outputs[first + p], x, n_x + n + n_own + p * n_o)
            copy(outputs[last], work.out)
            find_floors(m, x, tangents[k], units, floors)
            regular = passes_ahead(
                m, x, given[:passes], solutions[first:count], settles, tangents[k], floors, tangents[k + 1]
            )
        take_state(after if regular else state, m)
        if not regular:
            return k
        for a in range(modes.shape[1]):
            modes[k - start, a] = m.system.mode[a]
    return steps


class TapedPasses:
    """Derivatives of single steps that make passes, K at once, by the tapes that hold there."""

    def __init__(self, step: Step, machine: Machine, K: int) -> None:
        self.step, self.machine, self.K = step, machine, K
        self._tapes = cache(lambda *kind: Tapes((system_of(machine), kind)))
        self._last: tuple[Machine, int, bool] | None = None

    def ahead(
        self, start: int, steps: int, state: State, units: Array, tangents: Array, modes: Indices
    ) -> tuple[int, State]:
        """`steps_ahead` from a state with the tape that held last; the first step that is left, with its state."""
        s = self.step.stepper
        if self._last is None:
            return start, state
        m, passes, settles = self._last
        t = s.track
        t.data[:] = self.step.case.data()
        t.q[:], t.v[:], t.memory[:], s.work.out[:] = state
        k = int(steps_ahead(start, steps, passes, settles, units, tangents, modes, m))
        return k, State(t.q.copy(), t.v.copy(), t.memory.copy(), s.work.out.copy())

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
        self._last = m, len(passes), settles
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
