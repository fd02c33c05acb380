"""A step of contact data as a function with a gradient: what a layer of a neural network is, in NumPy.

The rows of a declaration are linear in its data theta (`assemble.assembly`), with w = (x, z, 1) the free unknowns, the
partners and 1:

    0 = A_f w,     F = A_c w complementary to z,     out = A_o w,     A = T theta

Of a function of `out` with gradient g, what is due to q of the problem without free unknowns is lambda_c
(`Sensitivity.gradient`); what is due to the equations follows from A_ff^T lambda_f = -A_cf^T lambda_c - A_of^T g, and
all of A from one outer product, (lambda_f, lambda_c, g) w^T, at the entries that T stamps. T and the step's own sums
(`stepping.discretise`) are transposed by hand; what a formulation's hook makes of its data, turned axes and estimates,
by its tape, or where it cannot be recorded by differences.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.escalation import default_solver, in_steps
from workbench.derivatives.differences import AT, SHIFT, fourth
from workbench.derivatives.recording import UNRECORDABLE, Recorder, frictionless, recordable, with_numbers
from workbench.derivatives.sensitivity import Sensitivity, sensitivity_of
from workbench.derivatives.tape import OTHER, Tape, carry_adjoints, evaluate, path
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, SOLVE, SOLVE_T, VECTOR, copy, set_all
from workbench.engine.scratch import scratch_matrix
from workbench.language.assemble.find import compiled
from workbench.language.estimate import normal_estimate
from workbench.language.formulation import Formulation
from workbench.mechanics.core import CORE, GAP
from workbench.problems.problem import Indices
from workbench.problems.solution import Status
from workbench.step import stepping
from workbench.step.stepper import Stepper
from workbench.support.arrays import Array
from workbench.support.errors import DataError, ModellingError

NEEDED = "M", "v", "J_n", "J_t", "mu"
"""Data without which there is no step; others are zero where they are left out."""
NOT_NEGATIVE = "mu", "e", "eps_n", "eps_t", "eps_b"
AT_KINKS = "limiting", "refuse"
MOST_TAPES = 64
"""Tapes of a hook that a layer keeps."""


class Hook(NamedTuple):
    """How a formulation prepares its data before a step: the estimate of p_bar (`stepping.NO_ESTIMATE` and so on), its
    hook, and the kernel that solves the estimate's LCP."""

    estimate: int
    given: Any
    lcp: Any


HOOK = argument_type(Hook, types.int64, stepping.GIVEN_T, SOLVE_T)


@kernel(SOLVE)
def never_solve(M, q, lower, upper, mu, d, z, info):
    """In the place of a solver where nothing is estimated."""
    return 0


@kernel(types.void(CORE, VECTOR, VECTOR, INDICES, VECTOR, stepping.TRACK, HOOK, VECTOR))
def differ_hook(core, buffer, given, moved, at, track, hook, found):
    """found[k] = at . d buffer / d given[k] for each k of `moved`, by differences of order four.

    `buffer` are the core's numbers, `given` what they are before the hook. What is not finite beside it does not move.
    """
    size = buffer.shape[0]
    ends = scratch_matrix(4, size)
    for k in moved:
        shift = SHIFT * (1.0 + abs(given[k]))
        for side in range(4):
            copy(given, buffer)
            buffer[k] += AT[side] * shift
            set_all(np.nan, track.memory)
            copy(track.own_start, core.own)
            if hook.estimate != stepping.NO_ESTIMATE:
                normal_estimate(core, track.memory, hook.estimate == stepping.START, hook.lcp)
            hook.given(core, track.memory, core.own, track.numbers)
            copy(buffer, ends[side])
        total = 0.0
        for a in range(size):
            if at[a] != 0.0:
                slope = fourth(ends[0, a], ends[1, a], ends[2, a], ends[3, a], shift)
                total += at[a] * slope if np.isfinite(slope) else 0.0
        found[k] = total


class StepOutputs(NamedTuple):
    """v+ (n,) [m/s, rad/s] and the impulses p_n (r,), p_t (d r,), p_b (m,) [N s] after a step, or gradients by them."""

    v: Any
    p_n: Any
    p_t: Any
    p_b: Any


@dataclass(frozen=True, eq=False)
class LayerStep:
    """A step that has been made: its data, its outputs, and what their gradient needs; X is A_ff^-1 A_fc."""

    data: Mapping[str, Array]
    outputs: StepOutputs
    A: Array
    X: Array
    w: Array
    sensitivity: Sensitivity | None
    given: Array
    posed: Array


class ContactLayer:
    """A step under a formulation, for n velocities, m bilateral rows and r contacts of d tangents, size = (n, m, r, d).

    It has no past: bounds by the last step's impulses are those of a first step. h [s] is the step, `normal` the normal
    law (`core.NORMAL_LAWS`). Where a solution stands between two modes, `at_kinks` is "limiting", the Jacobian of one
    of its sides, on which what touches without force opens and what sticks on the edge of its cone sticks; or "refuse".
    Raises ModellingError for a formulation that iterates its data from pass to pass, DataError for unknown options.
    """

    def __init__(
        self, formulation: Formulation, size: tuple[int, int, int, int], h: float, normal: str = "gap",
        at_kinks: str = "limiting",
    ) -> None:  # fmt: skip
        if not (np.isfinite(h) and h > 0):
            raise DataError(f"h = {h:g} s; a positive number is needed")
        if at_kinks not in AT_KINKS:
            raise DataError(f"at_kinks = {at_kinks!r}; one of {', '.join(AT_KINKS)} is needed")
        c = compiled(formulation, *size)
        if c.hooks.again is not None:
            raise ModellingError(f"{formulation.label} iterates its data over several passes; a layer cannot")
        self.size, self.at_kinks = c.size, at_kinks
        self.tapes: list[Tape] = []
        self.solver = in_steps(default_solver(c.kind), c.kind)
        self.stepper = Stepper(c, h, normal, 0.0)
        self.hooked = c.hooks.given is not None or c.hooks.estimate != "none" or any(c.hooks.numbers)
        self.row_of, self.column_of = np.divmod(c.plan.at, self.stepper.work.A.shape[1])
        n, m, r, d = c.size
        self.shapes: dict[str, tuple[int, ...]] = {
            "M": (n, n), "v": (n,), "J_n": (r, n), "J_t": (d * r, n), "mu": (r,), "f": (n,), "phi": (r,), "e": (r,),
            "r_n": (r,), "r_t": (d * r,), "eps_n": (r,), "eps_t": (d * r,), "J_b": (m, n), "g": (m,), "r_b": (m,),
            "eps_b": (m,),
        }  # fmt: skip
        self.places = {name: self.stepper.core.place(name) for name in (*self.shapes, "b", "b_n", "b_t", "b_b")}

    def batch(self, given: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        """The axes of a batch of data with these shapes.

        Raises DataError for a name that is none of `shapes`, data that are missing or of another shape.
        """
        leading = []
        for name, shape in given.items():
            if name not in self.shapes:
                raise DataError(f"a step has no {name!r}; it has {', '.join(self.shapes)}")
            own = self.shapes[name]
            axes = len(shape) - len(own)
            if axes < 0 or shape[axes:] != own:
                raise DataError(f"{name} has shape {shape}; {own} is needed, behind the axes of a batch")
            leading.append(shape[:axes])
        if missing := [name for name in NEEDED if name not in given]:
            raise DataError(f"{missing[0]} is missing; a step needs {', '.join(NEEDED)}")
        try:
            return np.broadcast_shapes(*leading)
        except ValueError:
            raise DataError(f"axes of a batch do not fit together: {', '.join(map(str, leading))}") from None

    def batched(self, given: Mapping[str, Any]) -> tuple[dict[str, Array], tuple[int, ...]]:
        """Data as they are given, every one with the axes of the batch first, and these axes.

        Raises DataError as `batch`, for entries that are not finite, and for negative mu.
        """
        arrays = {name: np.asarray(value, dtype=float) for name, value in given.items()}
        batch = self.batch({name: x.shape for name, x in arrays.items()})
        for name, x in arrays.items():
            if not np.isfinite(x).all():
                raise DataError(f"{name} has an entry that is not finite")
            if name in NOT_NEGATIVE and (x < 0).any():
                raise DataError(f"{name} = {x.min():g} is negative; {name} >= 0 is needed")
        return {name: np.broadcast_to(x, batch + self.shapes[name]) for name, x in arrays.items()}, batch

    def steps(self, given: Mapping[str, Any]) -> tuple[StepOutputs, list[LayerStep]]:
        """The outputs of a batch, its axes first, and its steps one after the other; raises DataError as `step`."""
        data, batch = self.batched(given)
        made = [self.step({name: x[k] for name, x in data.items()}) for k in np.ndindex(batch)]
        n, m, r, d = self.size
        sizes = (n, r, d * r, m)
        outputs = (np.array([step.outputs[i] for step in made]).reshape(*batch, size) for i, size in enumerate(sizes))
        return StepOutputs(*outputs), made

    def gradients(self, steps: list[LayerStep], due: StepOutputs, given: Mapping[str, Any]) -> dict[str, Array]:
        """The gradients by what was given to `steps`, in its own shapes; data that a batch shares collect their sum."""
        sizes = [np.shape(x)[-1] for x in due]
        flat = [np.asarray(x, dtype=float).reshape(len(steps), size) for x, size in zip(due, sizes, strict=True)]
        every = [self.gradient(step, StepOutputs(*(x[k] for x in flat))) for k, step in enumerate(steps)]
        batch, found = np.shape(due.v)[:-1], {}
        for name, value in given.items():
            whole = np.array([one[name] for one in every]).reshape(batch + self.shapes[name])
            own = np.shape(value)
            whole = whole.sum(axis=tuple(range(whole.ndim - len(own))))
            shared = tuple(i for i, (a, b) in enumerate(zip(own, whole.shape, strict=True)) if a == 1 != b)
            found[name] = whole.sum(axis=shared, keepdims=True)
        return found

    def step(self, data: Mapping[str, Array]) -> LayerStep:
        """One step of data in their `shapes`; raises DataError where it has no verified answer."""
        s, core, work = self.stepper, self.stepper.core, self.stepper.work
        s.follow()
        work.out[:] = np.nan
        for name in self.shapes:
            getattr(core, name)[...] = data.get(name, 0.0)
        stepping.discretise(core)
        given = core.buffer.copy()
        s.begin()
        posed = core.buffer.copy()
        problem = s.problem()
        sensitivity = None
        if problem.size:
            solution = self.solver.solve(problem)
            if solution.claimed is not Status.SOLVED:
                raise DataError(f"the step has no answer: {solution.why_not}")
            sensitivity = sensitivity_of(problem, solution.z, solution.residual)
            s.finish_pass(sensitivity.z)
        else:
            s.finish_pass(np.zeros(0))
        n, _, r, d = self.size
        w = np.concatenate([work.x, work.z, [1.0]])
        A = work.A.copy()
        out = work.out.copy()
        stepping.turn_back(core, out[n + r : n + r + d * r])
        outputs = StepOutputs(*np.split(out, [n, n + r, n + r + d * r]))
        return LayerStep(data, outputs, A, work.X.copy(), w, sensitivity, given, posed)

    def gradient(self, step: LayerStep, due: StepOutputs) -> dict[str, Array]:
        """Of a function of a step's outputs whose gradients by them are `due`, the gradients by all data.

        Raises DataError where outputs are not determined, and between two modes where these are refused.
        """
        core, c = self.stepper.core, self.stepper.c
        at = np.zeros(core.buffer.size)
        rows = self._due_to_rows(step, self._along_axes(step, due, at))
        # Every entry of A is due to its row and to w at its column.
        terms = c.plan.val * rows[self.row_of] * step.w[self.column_of]
        at[core.place("theta")] += np.bincount(c.plan.par, terms, c.theta.size)
        if self.hooked:
            at = self._through_hook(step, at)
        return self._through_sums(step, at)

    def _along_axes(self, step: LayerStep, due: StepOutputs, at: Array) -> Array:
        """`due` in the axes in use; what is due to the axes themselves is added to `at`."""
        v, p_n, p_t, p_b = (np.asarray(x, dtype=float) for x in due)
        place, (_, _, r, d) = self.stepper.core.place("frame"), self.size
        if d == 2:
            frame, (x, y) = step.posed[place].reshape(r, 2), p_t.reshape(r, 2).T
            c, s = frame.T
            p = step.outputs.p_t.reshape(r, 2)
            a, b = c * p[:, 0] + s * p[:, 1], c * p[:, 1] - s * p[:, 0]
            at[place] = np.stack([x * a + y * b, y * a - x * b], axis=1).ravel()
            p_t = np.stack([c * x + s * y, c * y - s * x], axis=1).ravel()
        return np.concatenate([v, p_n, p_t, p_b])

    def _due_to_rows(self, step: LayerStep, g: Array) -> Array:
        """Gradient by the rows of A w (rows,), of outputs in the axes in use with gradient g."""
        plan = self.stepper.c.plan
        n_f, n_c, n_o = plan.n_free, plan.lower.size, g.size
        A, last = step.A, n_f + n_c
        equations, partners, outputs = A[:n_f], A[n_f:last], A[last : last + n_o]
        found = np.zeros(A.shape[0])
        pulled = outputs[:, :n_f].T @ g
        if step.sensitivity is not None:
            due_to_z = outputs[:, n_f:last].T @ g - step.X[:, :n_c].T @ pulled
            data = step.sensitivity.plain_gradient(due_to_z, limiting=self.at_kinks == "limiting")
            found[n_f:last] = data["q"]
            pulled = pulled + partners[:, :n_f].T @ data["q"]
            row = last + n_o
            found[row : row + n_c] = np.where(np.isnan(plan.lower), data["lower"], 0.0)
            found[row + n_c : row + 2 * n_c] = np.where(np.isnan(plan.upper), data["upper"], 0.0)
            if plan.n_cone:
                found[row + 2 * n_c :] = data["mu"]
        if n_f:
            found[:n_f] = -np.linalg.solve(equations[:, :n_f].T, pulled)
        found[last : last + n_o] = g
        return found

    def _through_hook(self, step: LayerStep, at: Array) -> Array:
        """Gradient by the core's numbers before the formulation's hook, by its tape."""
        s, core = self.stepper, self.stepper.core
        moved = np.arange(core.place("r_n").start, core.place("own").start)
        found, tape = at.copy(), self._tape(step, moved)
        if tape is not None:
            tape.adjoint[:] = 0.0
            np.add.at(tape.adjoint, tape.out, at)
            carry_adjoints(tape, tape.N, tape.first)
            found[moved] = tape.adjoint[: moved.size]
            return found
        hook = Hook(s.estimate, s.given, s.lcp(never_solve))
        differ_hook(core, core.buffer, step.given, moved, at, s.track, hook, found)
        return found

    def _tape(self, step: LayerStep, moved: Indices) -> Tape | None:
        """A tape of the hook that holds at a step; None where it cannot be recorded."""
        x = step.given[moved]
        for tape in self.tapes:
            evaluate(tape, x)
            if path(tape) != OTHER:
                return tape
        try:
            self.tapes.append(self._recorded(step, moved, x))
        except UNRECORDABLE:
            return None
        del self.tapes[:-MOST_TAPES]
        return self.tapes[-1]

    def _recorded(self, step: LayerStep, moved: Indices, x: Array) -> Tape:
        """The tape of the hook at a step, by the core's numbers x; evaluated."""
        s, recorder = self.stepper, Recorder(x, 1.0 + np.abs(x))
        s.core.buffer[:] = step.given
        core, memory = with_numbers(s.core), np.full(s.memory.size, np.nan, dtype=object)
        core.buffer[moved], core.own[:] = recorder.x, s.track.own_start
        with np.errstate(all="ignore"):
            if s.estimate != stepping.NO_ESTIMATE:
                solve = frictionless(s.lcp(never_solve))
                recordable(normal_estimate)(core, memory, s.estimate == stepping.START, solve)
            recordable(s.given)(core, memory, core.own, s.track.numbers)
        return recorder.tape(core.buffer, 0)

    def _through_sums(self, step: LayerStep, at: Array) -> dict[str, Array]:
        """Gradients by the data, of gradients by the core's numbers after `discretise`."""
        core, data = self.stepper.core, {name: step.data.get(name, np.zeros(s)) for name, s in self.shapes.items()}
        due = {name: at[place] for name, place in self.places.items()}
        found = {name: due[name].reshape(shape).copy() for name, shape in self.shapes.items()}
        v, h, b_n = data["v"], core.h, due["b_n"]
        found["M"] += np.outer(due["b"], v)
        found["v"] += data["M"].T @ due["b"]
        found["f"] += h * due["b"]
        approach = np.minimum(0.0, data["J_n"] @ v + data["r_n"])
        restored = np.where(approach < 0, data["e"] * b_n, 0.0)
        # What Moreau's law opens has no impulse, so that nothing is due to its rows.
        found["phi"] += b_n / h if core.law == GAP else 0.0
        found["e"] += b_n * approach
        found["r_n"] += b_n + restored
        found["J_n"] += np.outer(restored, v)
        found["v"] += data["J_n"].T @ restored
        found["r_t"] += due["b_t"]
        found["r_b"] += due["b_b"]
        found["g"] += due["b_b"] / h
        return found
