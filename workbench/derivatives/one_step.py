"""One step of a motion and its derivative along a direction, for any formulation and any step.

The posed problem and the next state are smooth functions of their arguments, the case's code included, and are
differentiated by the tape of the step's data (`taped`), or by differences of order four. The derivative of the solution
comes from `sensitivity`, never from differences of solutions, which miss kinks. Fixed points are iterated until their
tangent has converged. Where a step has only one-sided derivatives, the one along the direction is taken, and the step
is recorded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.escalation import default_solver
from workbench.derivatives.differences import LEVEL, size_of, slopes
from workbench.derivatives.sensitivity import Sensitivity, sensitivity_of
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.language.assemble.assembly import carry_back
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import Work
from workbench.language.estimate import NEGLIGIBLE, frictionless_impulses, is_new, momentum
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import is_rigid
from workbench.problems.classes import MatrixProblem
from workbench.problems.solution import Status
from workbench.step.loops import CaseStepper
from workbench.step.run import Course
from workbench.step.scheme import SYMPLECTIC
from workbench.step.stepper import Stepper, end_step
from workbench.step.stepping import NO_ESTIMATE, START
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SETTLED, UNSETTLED, UNCLEAR = 1e-11, 1e-7, 1e-5
"""Relative change per pass below which the tangent of a fixed point has converged, and above which it has not; up to
which noise of the data explains that."""
DATA = {
    "LCP": ("M", "q"), "MLCP": ("M", "q", "lower", "upper"), "conic QP": ("M", "q", "mu"),
    "Coulomb NCP": ("M", "q", "mu"), "mixed NCP": ("M", "q", "lower", "upper", "mu"), "equations": (),
}  # fmt: skip
"""The data of each kind of problem that may change."""
NUDGE, ALIKE = 1e-9, 1e-3
"""Share of the normal velocities by which one contact is closed, or of its reach by which a state is moved, to see
whether the load or the data jump; difference of impulses, as a share of the largest, up to which they do not."""
JUMP = "the step jumps here: its data differ on both sides, as where a contact closes"
"""Why there is no derivative where the data of a step jump."""
UNCONVERGED = "the derivative of its fixed point does not converge: its passes have kinks, or amplify rounding"
"""Why there is no derivative where passes of tangents do not converge."""
DRIFTS = "several neighbouring solutions or none: passes move friction that redundant contacts share"
"""Why there is none where the fixed point of the passes is not isolated."""
NOISY = "the derivative of its fixed point is not known: rounding of its data is amplified in its velocities"
"""Why there is none where the tangents of the iterated data converge, and those of the outputs do not."""
FURTHER = 3
"""Passes by which a step goes on whose iterated data have not converged."""
MOST_PASSES = 20
"""Number of passes after which the tangent of a fixed point is computed from its linear equations, unless the last five
have halved its change."""


Begun = tuple[Case, Array, Array, Array]


class State(NamedTuple):
    """Coordinates, velocities, the formulation's memory, and the last step's [v, p_n, p_t]; or tangents of these."""

    q: Array
    v: Array
    memory: Array
    out: Array


class Step:
    """One step of a formulation over a case as a function of state and parameter."""

    def __init__(self, case: Case, formulation: Formulation, h: float) -> None:
        c = compiled(formulation, *case.size)
        course = Course(h, 1, SYMPLECTIC, case.normal, case.relaxation)
        self.stepper = CaseStepper(case, formulation, default_solver(c.kind), course)
        self.case, self.solver = case, self.stepper.solver
        self.beside, self.names = case, DATA[c.kind]
        # Entries of the memory behind the last impulses.
        self.rest = max(0, self.stepper.memory.size - c.size[2] * (1 + c.size[3]))
        self.iterates = c.hooks.again is not None
        # Impulses that nothing uses need no derivative.
        asks = self.iterates or c.hooks.estimate != "none" or c.hooks.remember is not None or c.hooks.given is not None
        self.velocities_alone = not asks and bool(is_rigid(case.relaxation.data()))
        t = self.stepper.track
        self.state = State(t.q.copy(), t.v.copy(), t.memory.copy(), self.stepper.work.out.copy())

    def inputs(self, state: State, data: Array) -> Array:
        """The inputs (n_x,) of a compiled step, or a tangent of them, of which those of the memory that are not the
        last impulses follow these (`slopes`)."""
        rest = state.memory[state.memory.size - self.rest :]
        return np.concatenate([state.q, state.v, state.out, rest, data])

    def parts(self, x: Array) -> State:
        """The state, or a tangent of it, from the inputs x (n_x,) of a compiled step."""
        q, v, out, rest, _ = np.split(
            x, np.cumsum([self.state.q.size, self.state.v.size, self.state.out.size, self.rest])
        )
        memory = np.concatenate([out[v.size :][: self.state.memory.size - self.rest], rest])
        return State(q, v, memory, out)

    def begin(self, state: State, case: Case | None = None, data: Array | None = None) -> None:
        """Begin a step at a state, with the parameters of another case or with other `data` of the same."""
        s, t = self.stepper, self.stepper.track
        self.beside = case = case or self.case
        t.data[:] = case.data() if data is None else data
        if case is not self.case:
            t.relaxation[:], s.core.v_th = case.relaxation.data(), case.v_th
        t.q[:], t.v[:], t.memory[:], s.work.out[:] = state
        s.begin_case(case, 0)
        if case is not self.case:
            t.relaxation[:], s.core.v_th = self.case.relaxation.data(), self.case.v_th

    def begun(self) -> Begun:
        """What `begin` has set, for `begin_again`: the case, the contact data, the run's state, the last outputs."""
        s = self.stepper
        return self.beside, s.core.buffer.copy(), s.track.buffer.copy(), s.work.out.copy()

    def begin_again(self, begun: Begun) -> None:
        """`begin` as before, without evaluating anything."""
        s = self.stepper
        self.beside, s.core.buffer[:], s.track.buffer[:], s.work.out[:] = begun

    def problem(self) -> MatrixProblem:
        """The problem of the first step."""
        self.begin(self.state)
        return self.stepper.problem()

    def posed(self, own: Array) -> list[Array]:
        """Data of the problem after `begin`; for a fixed point with the formulation's own data `own`."""
        s = self.stepper
        if self.iterates:
            s.own[:] = own
        if s.pose() is not Status.SOLVED:
            raise DataError("the problem cannot be posed at neighbouring states")
        return self.data()

    def data(self) -> list[Array]:
        """Data of the problem that is posed."""
        return [np.array(getattr(self.stepper.work, name)) for name in self.names]

    def passed(self, z: Array, is_settled: bool) -> list[Array]:
        """The formulation's own data and [v, p_n, p_t] after the pass with the solution z, after `posed`.

        Passes that have settled remember this solution too, not only the start (`newton.turns_back`).
        """
        s = self.stepper
        own = s.own.copy()
        s.finish_pass(z)
        if is_settled:
            s.own[:] = own
            s.finish_pass(z)
        return [s.own.copy(), s.work.out.copy()]

    def ended(self, z: Array) -> State:
        """The state after the step with the solution z, after `posed`."""
        s, t = self.stepper, self.stepper.track
        s.finish_pass(z)
        end_step(0, s.core, s.work, t, s.functions(self.beside), s.settings(self.solver))
        return State(t.q.copy(), t.v.copy(), t.memory.copy(), s.work.out.copy())

    def outputs(self) -> Array:
        """Derivative of [v, p_n, p_t] by z, after `posed`; velocities alone where nothing uses the impulses."""
        w = self.stepper.work
        rows = []
        for z in (np.zeros(w.z.size), *np.eye(w.z.size)):
            w.z[:] = z
            carry_back(w)
            rows.append(w.out.copy())
        found: Array = (np.stack(rows)[1:] - rows[0]).T
        return found[: self.stepper.c.size[0]] if self.velocities_alone else found


def _sum(state: State, tangent: State, s: float) -> State:
    return State(*(x + s * dx for x, dx in zip(state, tangent, strict=True)))


class LinearisedStep(NamedTuple):
    """A step's state, the formulation's own data in the last pass, its solution, its sensitivity, and the outputs.

    earlier: the passes before, where their number is given, so that they need not converge; unsettled: why there is no
    derivative; is_rough: whether it jumps nearby (`has_several_estimates`), or its modes are not known
    (`Sensitivity.is_vague`).
    """

    state: State
    own: Array
    z: Array
    sensitivity: Sensitivity | None
    outputs: Array
    unsettled: str = ""
    earlier: "tuple[LinearisedStep, ...]" = ()
    is_rough: bool = False


def solved(step: Step, state: State) -> LinearisedStep:
    """Solve the step that begins at a state; raises DataError where it has no solution."""
    jumps = has_several_estimates(step, state)
    step.begin(state)
    solution, _, passes = step.stepper.solve(step.solver)
    if solution.claimed is not Status.SOLVED:
        raise DataError(solution.why_not)
    last = _solved_pass(step, state, solution.z)
    last = last._replace(is_rough=last.is_rough or jumps)
    if not step.iterates:
        return last
    at_end = step.data()
    step.begin(state)
    if not _agree(step.posed(last.own), at_end):
        return last._replace(unsettled="its passes change more than the data that it iterates")
    wanted = step.stepper.finish_pass(last.z)
    if wanted and passes > 1:
        # A converged iteration would have ended here: this one counts its passes.
        step.begin(state)
        earlier = []
        for _ in range(passes - 1):
            one = step.solver.solve(step.stepper.problem())
            if one.claimed is not Status.SOLVED:
                raise DataError(one.why_not)
            earlier.append(_solved_pass(step, state, one.z))
            step.stepper.finish_pass(one.z)
        final = _solved_pass(step, state, last.z)
        return final._replace(earlier=tuple(earlier), is_rough=final.is_rough or jumps)
    step.begin(state)
    step.posed(last.own)
    own, out = step.passed(last.z, True)
    if np.abs(own - last.own).max(initial=0.0) <= UNSETTLED * np.abs(last.own).max(initial=0.0):
        return last
    # Data may be steep where the outputs do not depend on them, and passes end with an error that may be round-off of
    # impulses far above the load: the next ones, of which each solution belongs to its own data, are closer.
    floor = floor_of(step.stepper, out)
    for _ in range(FURTHER):
        step.begin(state)
        step.posed(own)
        one = step.solver.solve(step.stepper.posed_problem())
        if one.claimed is not Status.SOLVED:
            break
        its, before = own, out
        own, out = step.passed(one.z, True)
        if floor.apart(out, before) <= UNSETTLED:
            step.begin(state)
            step.posed(its)
            further = _solved_pass(step, state, one.z)
            return further._replace(is_rough=further.is_rough or jumps)
    return last._replace(unsettled="its passes end before the iterated data converge")


def has_several_estimates(step: Step, state: State) -> bool:
    """Return whether velocities depend on how redundant contacts share the frictionless load that estimates p_n."""
    s, r = step.stepper, step.case.size[2]
    if s.estimate == NO_ESTIMATE:
        return False
    step.begin(state)
    core, starts = s.core, s.estimate == START
    nothing = NEGLIGIBLE * momentum(core)
    new = np.array([is_new(core, state.memory, starts, nothing, i) for i in range(r)])
    if not new.any():
        return False
    b_n, closing = core.b_n.copy(), np.abs(core.J_n @ np.linalg.solve(core.M, core.b)) + np.abs(core.b_n)
    loads: list[Array] = []
    # The load jumps where one of redundant contacts closes a little earlier.
    for nudge in (np.zeros(r), *(NUDGE * closing.max() * np.eye(r))):
        core.b_n[:], p_n = b_n - nudge, np.zeros(r)
        if frictionless_impulses(core, s.lcp(), p_n) != int(Status.SOLVED):
            return bool(loads)
        loads.append(p_n)
    largest = loads[0].max()
    others = [p_n for p_n in loads if np.abs(p_n - loads[0])[new].max() > ALIKE * largest]
    velocities = []
    for p_n in (loads[0], *others):
        memory = state.memory.copy()
        memory[:r][new] = np.maximum(p_n[new], NUDGE * largest)
        step.begin(state._replace(memory=memory))
        if s.solve(step.solver)[0].claimed is not Status.SOLVED:
            return True
        velocities.append(s.work.out[: step.case.size[0]].copy())
    apart = np.abs(np.array(velocities) - velocities[0]).max()
    return bool(apart > UNSETTLED * (1.0 + np.abs(velocities[0]).max()))


def _agree(one: list[Array], other: list[Array]) -> bool:
    """Return whether the data of two problems agree up to what may not have converged."""
    known = [(np.nan_to_num(x), np.nan_to_num(y)) for x, y in zip(one, other, strict=True)]
    return all(np.abs(x - y).max(initial=0.0) <= UNSETTLED * np.abs(y).max(initial=0.0) for x, y in known)


def _solved_pass(step: Step, state: State, z: Array) -> LinearisedStep:
    """The pass in the stepper, with its solution."""
    problem = step.stepper.problem()
    sensitivity = sensitivity_of(problem, z, still=step.stepper.c.still) if z.size else None
    is_vague = sensitivity is not None and sensitivity.is_vague
    return LinearisedStep(state, step.stepper.own.copy(), z, sensitivity, step.outputs(), is_rough=is_vague)


def after(step: Step, x: LinearisedStep) -> State:
    """The state after a step."""
    step.begin(x.state)
    step.posed(x.own)
    return step.ended(x.z)


@kernel(types.float64(VECTOR, VECTOR, types.int64, types.float64, types.float64))
def largest_change(one, other, n, velocities, impulses):
    """Return the largest difference of the n velocities or of the impulses of [v, p_n, p_t], relative to the largest of
    these in one, or these sizes."""
    worst = 0.0
    for part in range(2):
        apart, largest = 0.0, velocities if part == 0 else impulses
        for i in range(0 if part == 0 else n, n if part == 0 else one.shape[0]):
            apart, largest = max(apart, abs(one[i] - other[i])), max(largest, abs(one[i]))
        if apart > 0.0:
            worst = max(worst, apart / largest)
    return worst


class Floor(NamedTuple):
    """Sizes below which changes of the n velocities v and of impulses in [v, p_n, p_t] do not count."""

    n: int
    velocities: float
    impulses: float

    def apart(self, one: Array, other: Array) -> float:
        """`largest_change` from `other` to `one`."""
        return float(largest_change(one, other, self.n, self.velocities, self.impulses))


def floor_of(s: Stepper, out: Array, unit: float = 1.0) -> Floor:
    """The floor of changes of outputs `out` of the step that has begun, per unit of a parameter. Impulses of bodies in
    flight are round-off of their momentum."""
    n = s.c.size[0]
    v, p = (float(np.abs(x).max(initial=0.0)) for x in (out[:n], out[n:]))
    return Floor(n, LEVEL * (1.0 + v) / unit, LEVEL * max(p, momentum(s.core)) / unit)


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction of differentiation of a step: a tangent of its state, and one of the case's data (n_d,).

    unit: size of the data along the direction; they are varied by a small fraction of it. moved: the case varied
    by that much, if more than its data depend on the parameter.
    """

    state: State
    along: Array
    unit: float = 1.0
    moved: Callable[[float], Case] | None = None

    def reach(self, state: State) -> float:
        """The length along the direction within which neither the data nor the state move farther than their size."""
        least = self.unit
        for x, dx in zip(state, self.state, strict=True):
            far = np.abs(dx) > 0
            if far.any():
                # Along a direction of rounding errors the length has no bound.
                with np.errstate(over="ignore"):
                    least = min(least, float(((1.0 + np.abs(x[far])) / np.abs(dx[far])).min()))
        return least


class DataSlope(NamedTuple):
    """The tangent (n_y,) of the data of a step by its tape, and whether a condition holds just so (`tape.TIED`)."""

    along: Array
    is_tied: bool


class Carried(NamedTuple):
    """The tangent of the state after a step, whether it is one-sided, and whether data jump nearby or are noisy."""

    state: State
    is_kink: bool
    is_rough: bool


def carried(step: Step, x: LinearisedStep, t: Direction, data: DataSlope | None = None) -> Carried:
    """Propagate a direction through a step, by the tangent of its data along it if that is known, or by differences.

    Raises DataError where it has no derivative along it.
    """
    if x.unsettled:
        raise DataError(x.unsettled)
    if data is not None and not data.is_tied:
        return carried_by_tape(step, x, t, data.along)
    found = carried_by_differences(step, x, t)
    if data is None:
        return found
    # Differences tell whether a condition that holds just so matters; the tape's slopes are those on this side of it.
    exact = carried_by_tape(step, x, t, data.along)
    return exact._replace(is_rough=exact.is_rough or found.is_rough)


def carried_by_differences(step: Step, x: LinearisedStep, t: Direction) -> Carried:
    """`carried` by differences of the step's data, for any step."""
    reach, noted = t.reach(x.state), [False, x.is_rough]
    # Rows may contain gaps over the step, phi / h, which round as coordinates do.
    gaps = size_of(x.state.q) / float(step.stepper.core.h)
    # Passes of a step are varied by the same steps.
    known: dict[float, Begun] = {}

    def begun(s: float) -> None:
        if s in known:
            step.begin_again(known[s])
            return
        beside = _sum(x.state, t.state, s)
        if t.moved is not None:
            step.begin(beside, t.moved(s))
        else:
            step.begin(beside, data=step.case.data() + s * t.along)
        known[s] = step.begun()

    def posed(s: float, own: Callable[[float], Array]) -> list[Array]:
        given = own(s)
        begun(s)
        return step.posed(given)

    def first(s: float) -> Array:
        begun(s)
        return step.stepper.own.copy()

    def straight(own: Array) -> Callable[[float], Array]:
        """The own data along their slopes."""
        return lambda s: x.own + s * own

    def after_pass(own: Callable[[float], Array], z: Array, dz: Array) -> Callable[[float], Array]:
        """The own data that a pass computes. Slopes of them may cancel, as those of g and D u do in p = g - D u, or of
        U p and U (p - p_last), but the errors of slopes need not."""
        left: dict[float, Array] = {}

        def found(s: float) -> Array:
            if s not in left:
                posed(s, own)
                left[s], _ = step.passed(z + s * dz, not x.earlier)
            return left[s]

        return found

    def is_rough(own: Callable[[float], Array]) -> bool:
        """Whether own data jump, which need not show in the next problem, as where passes of another kind begin."""
        return slopes(lambda s: [own(s)], reach)[1]

    def solution(at: LinearisedStep, own: Callable[[float], Array], unit: float, repeats: bool = False) -> Array:
        """dz of a pass with these own data of a number of this unit; records data that jump or are noisy, and kinks
        unless the pass is to be repeated."""
        if at.sensitivity is None:
            return np.zeros(0)
        sizes = [size_of(x) for x in posed(0.0, own)]
        change, rough = slopes(lambda s: with_rows(step.names, posed(s, own), at.z), unit, sizes, gaps)
        try:
            along = by_name(step.names, change, at.z)
            found = derivative_of_solution(at.sensitivity, at.outputs, along)
        except DataError:
            if rough:
                raise DataError(JUMP) from None
            raise
        noted[0] |= not repeats and is_one_sided(at.sensitivity, at.outputs, along, found)
        noted[1] |= rough or at.is_rough
        return found

    def reach_with(velocities: Array) -> float:
        """`reach`, within which velocities, which may be curved, move no farther than 1 m/s."""
        fastest = reach * float(np.abs(velocities).max(initial=0.0))
        return reach / fastest if fastest > 1.0 else reach

    def fixed(own: Array) -> list[Array]:
        """The tangents of the own data and of the outputs after a pass, from those of the own data before it."""
        noted[:] = [False, x.is_rough]
        along = straight(own)
        dz = solution(x, along, reach, repeats=True)

        def all_after(s: float) -> list[Array]:
            posed(s, along)
            return step.passed(x.z + s * dz, True)

        # Where all unknowns are eliminated, the pass before tells how fast velocities change.
        velocities = last[2] if last and not dz.size else x.outputs[: step.case.size[0]] @ dz
        # Half of it, a quarter and so on: passes share the steps.
        unit = reach * 2.0 ** np.floor(np.log2(reach_with(velocities) / reach))
        after_it, rough = slopes(all_after, unit)
        noted[1] |= rough
        last[:] = own, dz, after_it[1][: step.case.size[0]]
        return after_it

    def last_pass(own: Array) -> tuple[Callable[[float], Array], Array, float]:
        """The own data of the last pass of those that settle, its dz, and the unit within which velocities after it may
        be curved."""
        before, along, velocities = last
        again, unit, sought = after_pass(straight(before), x.z, along), reach_with(velocities), list(noted)
        try:
            dz = solution(x, again, unit)
            if noted[1] == sought[1]:
                return again, dz, unit
        except DataError:
            # Rounding may make rows of redundant contacts contradict one another.
            pass
        noted[:] = sought
        dz = solution(x, straight(own), reach)
        return straight(own), dz, reach_with(x.outputs[: step.case.size[0]] @ dz)

    last: list[Array] = []
    noisy = jumps = False
    if step.iterates and not x.earlier:
        if step.stepper.estimate == NO_ESTIMATE:
            # Other data to begin with may mean other passes; an estimate is only a first guess.
            both = np.array([first(side * NUDGE * reach) for side in (-1.0, 1.0)])
            jumps = bool(np.abs(both[1] - both[0]).max(initial=0.0) > UNCLEAR * np.abs(both).max(initial=0.0))
        step.begin(x.state)
        step.posed(x.own)
        floor = floor_of(step.stepper, step.passed(x.z, True)[1], reach)
        try:
            along, noisy = _fixed(fixed, np.zeros(x.own.size), floor)
        except DataError as error:
            raise DataError(JUMP) if noted[1] and str(error) == UNCONVERGED else error from None
        own, dz, unit = last_pass(along)
    else:
        own, unit = first, reach
        for one in x.earlier:
            own = after_pass(own, one.z, solution(one, own, reach))
            noted[1] |= is_rough(own)
        dz = solution(x, own, reach)

    def ended(s: float) -> State:
        posed(s, own)
        return step.ended(x.z + s * dz)

    found, rough = slopes(ended, unit)
    return Carried(State(*found), noted[0], noted[1] or noisy or rough or jumps)


def carried_by_tape(step: Step, x: LinearisedStep, t: Direction, data: Array) -> Carried:
    """`carried` by the tangent of the step's data (n_y,): of the parameters of the mixed system, of the axes in use,
    of the memory behind the last impulses (`slopes`). Its passes must not change the data."""
    step.begin(x.state)
    step.posed(x.own)
    work, core, (n, _, r, d) = step.stepper.work, step.stepper.core, step.stepper.c.size
    theta, frame, rest, _ = np.split(data, np.cumsum([core.theta.size, core.frame.size, step.rest]))
    rows = rows_along(work, theta)
    dz, is_kink = np.zeros(0), False
    if x.sensitivity is not None:
        changes = change_along(work, rows)
        change = {name: changes[name] for name in step.names}
        dz = derivative_of_solution(x.sensitivity, x.outputs, change)
        is_kink = is_one_sided(x.sensitivity, x.outputs, change, dz)
    work.z[:] = x.z
    carry_back(work)
    out, v = outputs_along(work, rows, dz), work.out[:n].copy()
    if d == 2:
        at = slice(n + r, n + 3 * r)
        (c, s), (dc, ds) = core.frame.T, frame.reshape(r, 2).T
        (p, q), (dp, dq) = work.out[at].reshape(r, 2).T, out[at].reshape(r, 2).T
        out[at] = np.stack([c * dp - s * dq + dc * p - ds * q, s * dp + c * dq + ds * p + dc * q], axis=1).ravel()
    given = step.case.data()

    def after_it(s: float) -> list[Array]:
        q = np.empty(x.state.q.size)
        step.case.advance(x.state.q + s * t.state.q, v + s * out[:n], core.h, given + s * t.along, q)
        return [q]

    fastest = float((np.abs(out[:n]) / (1.0 + np.abs(v))).max(initial=0.0))
    (q,), is_rough = slopes(after_it, min(t.reach(x.state), 1.0 / fastest) if fastest > 0.0 else t.reach(x.state))
    memory = np.concatenate([out[n : n + x.state.memory.size - step.rest], rest])
    return Carried(State(q, out[:n], memory, out), is_kink, is_rough or x.is_rough)


def rows_along(work: Work, theta: Array) -> tuple[Array, Array]:
    """The tangents of A = T theta and of X = A_ff^-1 [A_fc, a_f] of a posed step, along one of theta."""
    n_f, A = work.X.shape[0], np.zeros(work.A.shape)
    np.add.at(A.reshape(-1), work.at, work.val * theta[work.par])
    X = np.linalg.solve(work.A[:n_f, :n_f], A[:n_f, n_f:] - A[:n_f, :n_f] @ work.X) if n_f else work.X
    return A, X


def change_along(work: Work, rows: tuple[Array, Array]) -> dict[str, Array]:
    """The tangents of a posed problem's data, by name."""
    (A, X), (n_f, n_c) = rows, (work.X.shape[0], work.q.size)
    partners, last = slice(n_f, n_f + n_c), n_f + n_c
    both = A[partners, n_f:] - A[partners, :n_f] @ work.X - work.A[partners, :n_f] @ X
    bounds = A[last + work.out.size :, last].copy()
    lower, upper, mu = np.split(bounds, [n_c, 2 * n_c])
    return {
        "M": both[:, :n_c], "q": both[:, n_c], "mu": mu, "lower": np.where(np.isnan(work.least), lower, 0.0),
        "upper": np.where(np.isnan(work.most), upper, 0.0),
    }  # fmt: skip


def outputs_along(work: Work, rows: tuple[Array, Array], dz: Array) -> Array:
    """The tangent of a posed step's outputs, of which `work` has the solution, along one of the solution."""
    (A, X), (n_f, n_c) = rows, (work.X.shape[0], work.q.size)
    dx, at = -(X @ np.append(work.z, 1.0) + work.X[:, :n_c] @ dz), slice(n_f + n_c, n_f + n_c + work.out.size)
    found: Array = A[at] @ np.concatenate([work.x, work.z, [1.0]]) + work.A[at, :-1] @ np.concatenate([dx, dz])
    return found


def _fixed(passed: Callable[[Array], list[Array]], own: Array, floor: Floor) -> tuple[Array, bool]:
    """The fixed point of the tangents of passes, and whether these are too noisy to converge further.

    By passes, or by their linear equations where they contract slowly. `passed` returns the tangents of the
    formulation's own data and of the outputs. Those of the outputs tell whether passes have converged, above a `floor`:
    the data themselves may be steep, and their slopes noisy, where the outputs do not depend on them, as tangents of
    Newton's method. Raises DataError where passes do not converge.
    """
    own, out = passed(own)
    apart, moved = [np.inf], np.inf
    while len(apart) < MOST_PASSES or apart[-1] <= 0.5 * apart[-5]:
        before, last = out, own
        own, out = passed(own)
        apart.append(floor.apart(out, before))
        moved = float(np.abs(own - last).max()) / (float(np.abs(own).max()) or 1.0)
        if apart[-1] <= SETTLED:
            return own, False
    if apart[-1] <= UNSETTLED:
        return own, False
    if apart[-1] <= UNCLEAR:
        return own, True
    size = float(np.abs(own).max()) or 1.0
    start, _ = passed(np.zeros(own.size))
    slope = np.stack([(passed(size * e)[0] - start) / size for e in np.eye(own.size)], axis=1)
    solution, _, _, values = np.linalg.lstsq(np.eye(own.size) - slope, start, rcond=None)
    if moved > UNCLEAR and not values[-1] > UNSETTLED * values[0]:
        raise DataError(DRIFTS)
    found = np.asarray(solution, dtype=float)
    after_it, out = passed(found)
    if floor.apart(passed(after_it)[1], out) > UNSETTLED:
        raise DataError(NOISY if moved <= UNCLEAR else UNCONVERGED)
    return found, False


def with_rows(names: Sequence[str], data: Sequence[Array], z: Array) -> list[Array]:
    """The data of a problem with the rows M z + q in place of q: terms that cancel in them have larger slopes."""
    return [data[0] @ z + x if name == "q" else x for name, x in zip(names, data, strict=True)]


def by_name(names: Sequence[str], change: Sequence[Array], z: Array) -> dict[str, Array]:
    """The change of a problem's data by name, from that of `with_rows`."""
    return {name: x - change[0] @ z if name == "q" else x for name, x in zip(names, change, strict=True)}


def derivative_of_solution(s: Sensitivity, outputs: Array, change: dict[str, Array]) -> Array:
    """dz along a change. Raises DataError where outputs have no derivative."""
    found = s.along(outputs, **change)
    if len(found) != 1:
        raise DataError(f"{len(found)} neighbouring solutions" if found else "no neighbouring solution")
    return found[0].z


def is_one_sided(s: Sensitivity, outputs: Array, change: dict[str, Array], dz: Array) -> bool:
    """Whether the outputs' derivative along a change, that of dz, is another one than against it."""
    if not s.system.between:
        return False
    try:
        left = s.along(outputs, **{name: -value for name, value in change.items()})
    except DataError:
        # None was found behind, as at mu = 0.
        return True
    both = len(left) == 1
    a, b = outputs @ dz, -(outputs @ left[0].z) if both else np.full(outputs.shape[0], np.inf)
    size = (np.abs(outputs) @ np.abs(dz)).max(initial=0.0)
    return not (both and np.abs(a - b).max(initial=0.0) <= 1e-7 * max(size, np.abs(a).max(initial=0.0)))
