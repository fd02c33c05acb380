"""Derivatives of a motion by parameters of its case, forward and in reverse, under one formulation.

A step is a function of its state (coordinates, velocities, the formulation's memory) and of the parameters: a problem
is posed and solved, and the solution is carried back. Its derivative follows the same steps. The motion is simulated
and recorded first. Then tangents of the state are propagated from step to step, for all parameters at once (forward
mode), or adjoints from the end to the start (reverse mode, one sweep for any number of parameters; Griewank & Walther
2008). The record of a step has the size of the state, the last impulses and the solution, and nothing is computed
twice, but for the passes of formulations that iterate. Steps are compiled (`sweep`, `passes`) where everything about
them is regular, and taken one by one (`one_step`) where it is not, or where the case is written in Python.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from workbench.algorithms.lemke.method import lemke_kernel
from workbench.derivatives import sweep
from workbench.derivatives.differences import SHIFT, differences
from workbench.derivatives.one_step import (
    Carried,
    DataSlope,
    LinearisedStep,
    State,
    Step,
    after,
    carried,
    has_several_estimates,
    solved,
)  # fmt: skip
from workbench.derivatives.parameters import CaseParameter, slope_of
from workbench.derivatives.passes import TapedPasses
from workbench.derivatives.slopes import Machine
from workbench.derivatives.taped import TapedSweeps, are_supported, machine_of
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.problems.problem import Indices
from workbench.problems.solution import Status
from workbench.step.run import Course, Run
from workbench.step.scheme import SYMPLECTIC
from workbench.step.simulation import run_whole, whole_steps
from workbench.support.arrays import Array
from workbench.support.errors import DataError, UnknownNameError
from workbench.support.progress import ProgressCallback

PIECE = 500
"""Number of compiled steps between checks for interrupts."""


@dataclass(frozen=True)
class Output:
    """A quantity of the state at the end of a motion, by name."""

    name: str
    of: Callable[[Case, State], float]


def _energy(case: Case, state: State) -> float:
    return float(case.energy(state.q, state.v))


def _centre(axis: int, case: Case, state: State) -> float:
    return float(case.centre(state.q)[axis])


def _entry(of: str, i: int, case: Case, state: State) -> float:
    return float(getattr(state, of)[i])


def output_of(case: Case, name: str) -> Output:
    """The output of this name: q[i], v[i], energy, or x, y, z of the centre of mass; raises UnknownNameError."""
    q, v = case.start()
    known: dict[str, Callable[[Case, State], float]]
    known = {"energy": _energy, **{axis: partial(_centre, k) for k, axis in enumerate("xyz")}}
    known |= {f"q[{i}]": partial(_entry, "q", i) for i in range(len(q))}
    known |= {f"v[{i}]": partial(_entry, "v", i) for i in range(len(v))}
    if name not in known:
        raise UnknownNameError("output", name, list(known))
    return Output(name, known[name])


@dataclass(frozen=True)
class MotionDerivative:
    """Derivatives of the outputs at the end, (outputs,), by one parameter; NaN with a `reason` where there is none.

    kinks: the steps that have one-sided derivatives only; jumps: those whose data jump within the reach of the
    differences, or are too noisy for them; switches: how often a set changed its mode from step to step; events: how
    many contacts of a scene came or went. Parameters shift these changes in time.
    """

    derivative: Array
    kinks: tuple[int, ...] = ()
    jumps: tuple[int, ...] = ()
    switches: int = 0
    reason: str = ""
    events: int = 0


@dataclass(frozen=True, eq=False)
class Tangents:
    """Tangents of the states (steps + 1) of a motion by K parameters: q (steps + 1, K, n_q), v (steps + 1, K, n), and
    all inputs of steps (steps + 1, K, n_x), as in `sweep`.

    For each parameter: kinks and jumps, the steps that have one-sided derivatives only, and those whose data jump
    within the reach of the differences; the reason why there is no derivative, "" where there is one (tangents are NaN
    from that step on). switches: how often a set changed its mode from step to step; alone: number of steps that were
    not compiled.
    """

    inputs: Array
    n_q: int
    n: int
    kinks: tuple[tuple[int, ...], ...]
    jumps: tuple[tuple[int, ...], ...]
    reasons: tuple[str, ...]
    switches: int
    alone: int

    @property
    def q(self) -> Array:
        return self.inputs[..., : self.n_q]

    @property
    def v(self) -> Array:
        return self.inputs[..., self.n_q : self.n_q + self.n]


class Motion:
    """A motion of a case with steps of h [s] over a duration [s], recorded so that its derivatives can be computed.

    states_q (steps + 1, n_q), states_v (steps + 1, n). Raises DataError where it does not reach its end.
    """

    def __init__(self, case: Case, formulation: Formulation, h: float, duration: float | None = None) -> None:
        self.case = case
        self.steps = whole_steps(case.duration if duration is None else duration, h)
        self.step = Step(case, formulation, h)
        self.n_s = sum(x.size for x in self.step.state) - self.step.state.memory.size + self.step.rest
        solver = self.step.solver
        course = Course(h, self.steps, SYMPLECTIC, case.normal, case.relaxation)
        run = run_whole(case, formulation, solver, course)
        if run.status is not Status.SOLVED:
            raise DataError(run.reason or run.status.meaning)
        self.states_q, self.states_v, self.rows = run.states_q, run.states_v, _rows(run, self.step.rest)
        hooks = self.step.stepper.c.hooks
        remembers = hooks.again is not None or hooks.remember is not None
        self.is_compiled = case.is_compiled and not remembers and are_supported(self.step.stepper.c.sets)

    @property
    def end(self) -> State:
        """Coordinates and velocities after the last step."""
        return State(self.states_q[-1], self.states_v[-1], np.zeros(0), np.zeros(0))

    @cached_property
    def record(self) -> Array:
        """The rows of all steps, with all of the memory."""
        if self.step.rest:
            sweep.follow_memory(self.rows, self._machine(0))
        return self.rows

    def sweeps(self, count: int = 0) -> TapedSweeps:
        """Compiled sweeps over the record: in reverse, or forward with `count` tangents."""
        return TapedSweeps(self._machine(count), count)

    def passes(self, count: int) -> TapedPasses | None:
        """Compiled derivatives of single steps that make passes, `count` at once; None where they are not supported."""
        hooks, sets = self.step.stepper.c.hooks, self.step.stepper.c.sets
        if not (self.step.iterates and self.case.is_compiled and hooks.remember is None and are_supported(sets)):
            return None
        return TapedPasses(self.step, self._machine(count), count)

    def _machine(self, count: int) -> Machine:
        """Data of compiled sweeps, with room for so many tangents."""
        s, case, data = self.step.stepper, self.case, self.case.data()
        functions = s.stepping.functions if s.is_compiled else s.functions(case, lemke_kernel)
        inputs, others = self.n_s + data.size + s.core.v.size, self.step.rest + s.track.q.size
        found = machine_of(s, functions, s.stepping.settings, inputs, others, count)
        room, at = found.sweep, slice(self.n_s, self.n_s + data.size)
        room.asks = not self.step.velocities_alone
        room.x[at], room.unit[at] = data, np.where(data != 0, np.abs(data), 1.0)
        return found

    def start_of(self, p: CaseParameter) -> Array:
        """The tangent (n_x,) of the first step's inputs by a parameter."""
        return np.concatenate([p.q, p.v, np.zeros(self.n_s - p.q.size - p.v.size), p.along])

    def state(self, k: int) -> State:
        """The state at the beginning of step k of a compiled motion."""
        return self.tangent(self.record[k])

    def tangent(self, x: Array) -> State:
        """The state, or a tangent of it, from the inputs x (n_x,) of compiled steps, where memory is the last
        impulses."""
        return self.step.parts(x)

    def told(self, notes: Indices, state: State) -> tuple[list[bool], list[bool]]:
        """Which of the tangents of a compiled step from a state are one-sided, and which are rough (`Carried`), by its
        notes (K,) (`sweep.ahead`)."""
        beside = (notes & sweep.BESIDE).any() and has_several_estimates(self.step, state)
        rough = (notes & sweep.ROUGH > 0) | beside
        return (notes & sweep.KINK > 0).tolist(), rough.tolist()

    def solved(self, k: int, state: State) -> LinearisedStep:
        """Solve step k from a state; raises DataError."""
        try:
            return solved(self.step, state)
        except DataError as error:
            raise DataError(f"step {k}: {error}") from None


def _rows(run: Run, rest: int) -> Array:
    """Rows (steps + 1, .) [q, v, the last step's v+, p_n, p_t, p_b, the rest of the memory (rest,), unknown so far, its
    solution] of every step; NaN if none."""
    r = run.record
    last = np.concatenate([r.after, r.p], axis=1)
    none, unsolved = np.full((1, last.shape[1]), np.nan), np.full((1, r.z.shape[1]), np.nan)
    memory = np.full((len(r.q), rest), np.nan)
    return np.concatenate([r.q, r.v, np.concatenate([none, last]), memory, np.concatenate([r.z, unsolved])], axis=1)


class _Notes:
    """Records about the steps for each of K parameters."""

    def __init__(self, K: int) -> None:
        self.kinks: list[list[int]] = [[] for _ in range(K)]
        self.jumps: list[list[int]] = [[] for _ in range(K)]
        self.reasons = [""] * K
        self.ends: dict[int, int] = {}
        self.switches = self.alone = 0
        self.last: Array | None = None

    def modes(self, codes: Array) -> None:
        """Add the modes (steps, X) of further steps."""
        both = codes if self.last is None or self.last.shape != codes[:1].shape else np.concatenate([self.last, codes])
        self.switches += int((both[1:] != both[:-1]).sum())
        self.last = codes[-1:] if len(codes) else self.last

    def compiled(self, k: int, are_kinks: Sequence[bool], are_rough: Sequence[bool]) -> None:
        """Add what is told of the tangents of compiled step k."""
        for j, both in enumerate(zip(are_kinks, are_rough, strict=True)):
            if not self.reasons[j]:
                self._note(j, k, *both)

    def _note(self, j: int, k: int, is_kink: bool, is_rough: bool) -> None:
        for noted, steps in ((is_kink, self.kinks[j]), (is_rough, self.jumps[j])):
            if noted:
                steps.append(k)

    def carried(self, j: int, k: int, of: Callable[[], Carried]) -> State | None:
        """The tangent `of` parameter j after step k; None where it has no derivative."""
        try:
            found = of()
        except DataError as error:
            self.reasons[j], self.ends[j] = f"step {k}: {error}", k
            return None
        self._note(j, k, found.is_kink, found.is_rough)
        return found.state


def tangents_of(
    motion: Motion,
    parameters: Sequence[CaseParameter],
    progress: ProgressCallback | None = None,
    steps: int | None = None,
) -> Tangents:
    """Tangents of the states after 0 to `steps` steps (default: all), for all parameters at once."""
    n_q, n = motion.states_q.shape[1], motion.states_v.shape[1]
    K, start, step = len(parameters), motion.step.state, motion.step
    steps = motion.steps if steps is None else steps
    n_d, n_s = step.case.data().size, motion.n_s
    found, memory, notes = np.zeros((steps + 1, K, n_s + n_d)), np.zeros((K, start.memory.size)), _Notes(K)
    for j, p in enumerate(parameters):
        found[0, j] = motion.start_of(p)
        found[:, j, n_s:] = p.along
    at_once = motion.is_compiled and all(p.in_data_alone for p in parameters)
    sweeps, state, k = motion.sweeps(K) if at_once else None, start, 0
    passes = motion.passes(K) if all(p.in_data_alone for p in parameters) else None
    units, room = np.array([p.unit for p in parameters]), sweeps or passes
    while k < steps and not all(notes.reasons):
        if progress and k % PIECE == 0:
            progress("following the derivatives", k, steps)
        end = min(steps, k + PIECE - k % PIECE)
        codes = np.empty((end - k, room.machine.system.x.size if room else 0), dtype=np.int64)
        if passes is not None:
            left, state = passes.ahead(k, end, state, units, found, codes)
            notes.modes(codes[: left - k])
            if left > k:
                memory[:] = [motion.tangent(one).memory for one in found[left]]
            k = left
            if k == end:
                continue
        if sweeps is not None:
            compiled = np.empty((end - k, K), dtype=np.int64)
            left = sweeps.ahead(k, end, motion.record, found, codes, compiled)
            notes.modes(codes[: left - k])
            for i in np.flatnonzero(compiled[: left - k].any(axis=1)).tolist():
                notes.compiled(k + i, *motion.told(compiled[i], motion.state(k + i)))
            k = left
            if k == end:
                continue
            state = motion.state(k)
        data: Sequence[DataSlope | None] = (None if sweeps is None else sweeps.slopes(found[k])) or [None] * K
        x = motion.solved(k, state)
        notes.alone += 1
        tangents = [motion.tangent(one) for one in found[k]]
        if sweeps is None:
            tangents = [one._replace(memory=its) for one, its in zip(tangents, memory, strict=True)]
        directions = [p.direction(one) for p, one in zip(parameters, tangents, strict=True)]
        known = passes.along(x, directions) if passes is not None else None
        if x.sensitivity is not None:
            at: Any = x.sensitivity.system.at if passes is None or known is None else passes.machine.system
            notes.modes(at.mode[None].copy())
        for j, direction in enumerate(directions):
            if notes.reasons[j]:
                continue
            by_itself = partial(carried, step, x, direction, data[j])
            after_it = notes.carried(j, k, by_itself if known is None else partial(itemgetter(j), known))
            if after_it is None:
                # Later steps are compiled for all others.
                found[k + 1 :, j] = 0.0
            else:
                rest = after_it.memory[after_it.memory.size - step.rest :]
                found[k + 1, j, :n_s] = np.concatenate([after_it.q, after_it.v, after_it.out, rest])
                memory[j] = after_it.memory
        if sweeps is None:
            state = after(step, x)
        k += 1
    for j, last in notes.ends.items():
        found[last + 1 :, j] = np.nan
    kinks, jumps = (tuple(map(tuple, x)) for x in (notes.kinks, notes.jumps))
    return Tangents(found, n_q, n, kinks, jumps, tuple(notes.reasons), notes.switches, notes.alone)


class MotionGradient(NamedTuple):
    """Derivatives `by` parameters (K,) of a function of a motion's states, the number of its steps `in_reverse` mode,
    and `kinks` and `jumps` of each parameter as in `Tangents`; reverse mode has none."""

    by: Array
    in_reverse: int
    kinks: tuple[tuple[int, ...], ...]
    jumps: tuple[tuple[int, ...], ...]


def gradient_of(
    motion: Motion,
    due_q: Array,
    due_v: Array,
    parameters: Sequence[CaseParameter],
    progress: ProgressCallback | None = None,
) -> MotionGradient:
    """The derivatives by parameters of a function of the states with the gradients due_q (steps + 1, n_q), due_v
    (steps + 1, n).

    Reverse mode goes back from the end to the first step that is not compiled or has no derivative by one of its inputs
    (though it may have one along the parameters); forward mode covers the steps before. Raises DataError where a
    parameter has no derivative there.
    """
    n_q, n, step, k = due_q.shape[1], due_v.shape[1], motion.step, motion.steps
    n_d, n_s = step.case.data().size, motion.n_s
    due, given = np.zeros(n_s + n_d), np.ascontiguousarray(np.concatenate([due_q, due_v], axis=1), dtype=float)
    due[: n_q + n] = given[-1]
    if motion.is_compiled and all(p.in_data_alone for p in parameters):
        sweeps, end = motion.sweeps(), k + 1
        while 0 < k < end:
            end, start = k, max(0, k - PIECE)
            k = sweeps.back(k, start, motion.record, given, due)
            if k > start:
                break
    if k == 0:
        none = ((),) * len(parameters)
        return MotionGradient(np.array([motion.start_of(p) @ due for p in parameters]), motion.steps, none, none)
    tangents = tangents_of(motion, parameters, progress, k)
    for p, reason in zip(parameters, tangents.reasons, strict=True):
        if reason:
            raise DataError(f"no derivative by {p.name}: {reason}")
    # The gradients at states before the last one of reverse mode belong to these states alone.
    earlier = np.einsum("ki,kji->j", given[:k], tangents.inputs[:k, :, : n_q + n])
    return MotionGradient(tangents.inputs[k] @ due + earlier, motion.steps - k, tangents.kinks, tangents.jumps)


def motion_derivatives(
    case: Case, formulation: Formulation, outputs: Sequence[str], parameters: Sequence[str], h: float,
    duration: float | None = None, progress: ProgressCallback | None = None,
) -> tuple[Array, dict[str, MotionDerivative]]:  # fmt: skip
    """The outputs at the end of a motion of `duration` [s] with steps of h [s], and their derivatives by parameters.

    Raises UnknownNameError for an output or a parameter that the case does not have, DataError where the motion itself
    does not reach its end.
    """
    wanted = [output_of(case, name) for name in outputs]
    moving = [CaseParameter(case, name) for name in parameters]
    motion = Motion(case, formulation, h, duration)
    tangents, end = tangents_of(motion, moving, progress), motion.end
    found = {}
    for j, p in enumerate(moving):
        last = State(tangents.q[-1, j], tangents.v[-1, j], np.zeros(0), np.zeros(0))
        derivative = np.full(len(wanted), np.nan) if tangents.reasons[j] else _of_outputs(p, wanted, end, last)
        found[p.name] = MotionDerivative(
            derivative, tangents.kinks[j], tangents.jumps[j], tangents.switches, tangents.reasons[j]
        )
    return np.array([one.of(case, end) for one in wanted]), found


def _of_outputs(p: CaseParameter, wanted: Sequence[Output], end: State, tangent: State) -> Array:
    """Derivatives of the outputs by a parameter that moves the end of a motion along a tangent."""

    def of(s: float) -> list[Array]:
        beside = State(*(x + s * dx for x, dx in zip(end, tangent, strict=True)))
        return [np.array([one.of(p.moved(s), beside) for one in wanted])]

    return slope_of(of, SHIFT * p.direction(tangent).reach(end))[0]


OfStates = Callable[[Array, Array], tuple[float, Array, Array]]
"""A function of all states, q (steps + 1, n_q) and v (steps + 1, n): its value and its gradients by them."""


def motion_gradient(
    case: Case, formulation: Formulation, of: str | OfStates, parameters: Sequence[str], h: float,
    duration: float | None = None,
) -> tuple[float, Motion, MotionGradient]:  # fmt: skip
    """The output of this name at the end of a motion, or a function of its states; the motion; and the derivatives by
    parameters.

    Raises like `motion_derivatives`, and DataError where a parameter has no derivative, for gradients that do not have
    the shapes of the states, and for numbers that are not finite.
    """
    function = of if callable(of) else partial(_of_end, case, output_of(case, of))
    moving = [CaseParameter(case, name) for name in parameters]
    motion = Motion(case, formulation, h, duration)
    value, due_q, due_v = checked(function, motion.states_q, motion.states_v)
    found = gradient_of(motion, due_q, due_v, moving)
    if not callable(of):
        still = State(*(np.zeros(x.size) for x in motion.end))
        direct = [float(_of_outputs(p, [output_of(case, of)], motion.end, still)[0]) for p in moving]
        found = found._replace(by=found.by + direct)
    return value, motion, found


def _of_end(case: Case, output: Output, q: Array, v: Array) -> tuple[float, Array, Array]:
    """An output at the end of states, and its gradients by all of these."""
    end, due = State(q[-1], v[-1], np.zeros(0), np.zeros(0)), (np.zeros(q.shape), np.zeros(v.shape))

    def beside(part: int, i: int, s: float) -> list[Array]:
        state = [x.copy() for x in end]
        state[part][i] += s
        return [np.array([output.of(case, State(*state))])]

    for part in (0, 1):
        for i, x in enumerate(end[part]):
            due[part][-1, i] = differences(partial(beside, part, i), SHIFT * (1.0 + abs(x)))[0][0][0]
    return output.of(case, end), *due


def checked(of: OfStates, q: Array, v: Array) -> tuple[float, Array, Array]:
    """A function of states q (steps + 1, n_q), v (steps + 1, n) and its gradients by them.

    Raises DataError where it gives no finite number with finite gradients of these shapes.
    """
    states = q.copy(), v.copy()
    answer = of(*states)
    try:
        value, *due = answer
        value, due = float(value), [np.array(x, dtype=float) for x in due]
    except (TypeError, ValueError) as error:
        raise DataError(f"the function gives no number with gradients by q and v: {error}") from None
    if [x.shape for x in due] != [x.shape for x in states]:
        given, needed = (" and ".join(str(x.shape) for x in xs) or "none" for xs in (due, states))
        raise DataError(f"the function's gradients have the shapes {given}; {needed} are needed")
    for what, x in (("value", np.array(value)), ("gradient by q", due[0]), ("gradient by v", due[1])):
        if not np.isfinite(x).all():
            place = tuple(np.argwhere(~np.isfinite(x))[0].tolist())
            at = ", entry {1} at state {0}," if place else ""
            raise DataError(f"the function's {what}{at.format(*place)} is {x[place]}; a finite one is needed")
    return value, due[0], due[1]
