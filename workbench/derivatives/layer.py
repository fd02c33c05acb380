"""A step of contact data as a function with a gradient: what a layer of a neural network is, in NumPy.

The steps of a batch are made, and their gradients go back, in one compiled call each (`batch`), by the code that takes
adjoints back through a motion (`sweep`). Steps without a solution by the compiled solver, and gradients between two
modes or of redundant contacts, are left to Python, one after the other (`sensitivity`). The step's own sums
(`stepping.discretise`) are transposed by hand, estimates of impulses by the law that they satisfy (`estimates`); what a
formulation's hook makes of its data and turned axes, by its tape, or where it cannot be recorded by differences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from numbers import Integral
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from workbench.algorithms.escalation import are_far_beyond, default_solver, in_steps
from workbench.derivatives.batch import (
    Batch,
    begin_back,
    differ_hook,
    fill_nothing,
    hooks_back,
    make_steps,
    prepare,
    steps_back,
    sums_back,
)  # fmt: skip
from workbench.derivatives.estimates import take_back
from workbench.derivatives.recording import UNRECORDABLE, Recorder, recordable, with_numbers
from workbench.derivatives.sensitivity import POLISHED, Sensitivity, sensitivity_of
from workbench.derivatives.sweep import due_to_parameters
from workbench.derivatives.system import empty_system
from workbench.derivatives.tape import Tape
from workbench.derivatives.taped import FAILURES, are_supported, machine_of
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.core import advance_by_rates
from workbench.problems.sets import NO_CONE
from workbench.problems.solution import Status
from workbench.step.stepper import Stepper
from workbench.step.stepping import CONIC, COULOMB, turn_back
from workbench.support.arrays import Array
from workbench.support.errors import DataError, ModellingError
from workbench.support.numbers import must_be_seconds

NEEDED = "M", "v", "J_n", "J_t", "mu"
"""Data without which there is no step; others are zero where they are left out."""
NOT_NEGATIVE = "mu", "e", "eps_n", "eps_t", "eps_b"
AT_KINKS = "limiting", "refuse"
MEMORY = 1e9
"""Largest size of one step's data [bytes]."""
MOST_TAPES = 64
"""Tapes of a hook that a layer keeps."""
NO_CASE: Any = SimpleNamespace(fill=fill_nothing, advance=advance_by_rates)
"""In the place of a case: the data are given."""


class StepOutputs(NamedTuple):
    """v+ (n,) [m/s, rad/s] and the impulses p_n (r,), p_t (d r,), p_b (m,) [N s] after a step, or gradients by them."""

    v: Any
    p_n: Any
    p_t: Any
    p_b: Any


@dataclass(frozen=True, eq=False)
class LayerStep:
    """A step that has been made, or a batch of B: the axes of the batch, the shapes of the data, the outputs, and what
    their gradient needs; of the steps whose solution is not the compiled solver's, the sensitivity by number."""

    batch: tuple[int, ...]
    shapes: Mapping[str, tuple[int, ...]]
    outputs: StepOutputs
    arrays: Batch
    sensitivities: Mapping[int, Sensitivity]


class ContactLayer:
    """A step under a formulation, for n velocities, m bilateral rows and r contacts of d tangents, size = (n, m, r, d).

    It has no past: bounds by the last step's impulses are those of a first step. h [s] is the step, `normal` the normal
    law (`core.NORMAL_LAWS`). Where a solution stands between two modes, `at_kinks` is "limiting", the Jacobian of one
    of its sides, on which what touches without force opens and what sticks on the edge of its cone sticks; or "refuse".
    Raises ModellingError for a formulation that iterates its data from pass to pass or has sets without a gradient,
    DataError for unusable options.
    """

    def __init__(
        self, formulation: Formulation, size: tuple[int, int, int, int], h: float, normal: str = "gap",
        at_kinks: str = "limiting",
    ) -> None:  # fmt: skip
        must_be_seconds(h)
        _must_be_a_size(size)
        if at_kinks not in AT_KINKS:
            raise DataError(f"at_kinks = {at_kinks!r}; one of {', '.join(AT_KINKS)} is needed")
        c = compiled(formulation, *size)
        if c.hooks.again is not None:
            raise ModellingError(f"{formulation.label} iterates its data over several passes; a layer cannot")
        if not are_supported(c.sets):
            raise ModellingError(
                f"{formulation.label} has a coefficient for every direction or separate discs; a layer cannot"
            )
        self.size, self.at_kinks = c.size, at_kinks
        self.tapes: list[Tape] = []
        self.failures = 0
        self.solver: Any = in_steps(default_solver(c.kind), c.kind)
        self.stepper = s = Stepper(c, h, normal, 0.0)
        functions = s.functions(NO_CASE, default_solver(c.kind).kernel)
        self.machine = machine_of(s, functions, s.settings(self.solver), 0, 0)
        self.blank, self.due = s.core.buffer.copy(), s.core.like()
        self.hooked, self.estimates = c.hooks.given is not None or any(c.hooks.numbers), c.hooks.estimate != "none"
        n, m, r, d = c.size
        self.shapes: dict[str, tuple[int, ...]] = {
            "M": (n, n), "v": (n,), "J_n": (r, n), "J_t": (d * r, n), "mu": (r,), "f": (n,), "phi": (r,), "e": (r,),
            "r_n": (r,), "r_t": (d * r,), "eps_n": (r,), "eps_t": (d * r,), "J_b": (m, n), "g": (m,), "r_b": (m,),
            "eps_b": (m,),
        }  # fmt: skip
        self.places = {name: s.core.place(name) for name in self.shapes}
        self.system = empty_system(np.arange(r + 1), np.full(r, NO_CONE))

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
        arrays = {name: _real(name, value) for name, value in given.items()}
        batch = self.batch({name: x.shape for name, x in arrays.items()})
        for name, x in arrays.items():
            if not np.isfinite(x).all():
                raise DataError(f"{name} has an entry that is not finite")
            if name in NOT_NEGATIVE and (x < 0).any():
                raise DataError(f"{name} = {x.min():g} is negative; {name} >= 0 is needed")
        return {name: np.broadcast_to(x, batch + self.shapes[name]) for name, x in arrays.items()}, batch

    def step(self, given: Mapping[str, Any]) -> LayerStep:
        """A step of data in their `shapes`, or a batch of steps, whose axes come first in some or all of the data.

        Raises DataError as `batched`, and where a step has no verified answer."""
        data, batch = self.batched(given)
        B, work, machine = prod(batch), self.stepper.work, self.machine
        prepared, eliminated = np.empty((B, self.blank.size)), np.empty((B, work.X.size))
        b = Batch(np.tile(self.blank, (B, 1)), prepared, eliminated, np.zeros((B, work.recorded.size)), np.empty(B))
        for name, x in data.items():
            b.given[:, self.places[name]] = x.reshape(B, prod(self.shapes[name]))
        make_steps(b, machine)
        out, M, left = work.out.size, work.M.size, ~(b.residuals <= POLISHED)
        if machine.settings.kind in (CONIC, COULOMB):
            M, q = np.split(b.answers[:, out : out + M + work.q.size], [M], axis=1)
            left |= are_far_beyond(M, q, self._solutions(b))
        sensitivities = {k: self._made_alone(b, k) for k in np.flatnonzero(left).tolist()}
        n, _, r, d = self.size
        parts = np.split(b.answers[:, :out], [n, n + r, n + r + d * r], axis=1)
        outputs = StepOutputs(*(x.reshape(*batch, x.shape[1]) for x in parts))
        return LayerStep(batch, {name: np.shape(x) for name, x in given.items()}, outputs, b, sensitivities)

    def _solutions(self, b: Batch) -> Array:
        """(B, n_c)."""
        return b.answers[:, b.answers.shape[1] - self.stepper.work.z.size :]

    def _made_alone(self, b: Batch, k: int) -> Sensitivity:
        """The sensitivity of step k, which is made anew from its prepared data. Raises DataError."""
        s, (n, _, r, d) = self.stepper, self.size
        s.core.buffer[:] = b.prepared[k]
        problem = s.problem()
        solution = self.solver.solve(problem)
        if solution.claimed is not Status.SOLVED:
            raise DataError(f"the step has no answer: {solution.why_not}")
        found = sensitivity_of(problem, solution.z, solution.residual)
        s.finish_pass(found.z)
        turn_back(s.core, s.work.out[n + r : n + r + d * r])
        b.eliminated[k], b.answers[k] = s.work.X.ravel(), s.work.recorded
        return found

    def gradient(self, step: LayerStep, due: StepOutputs) -> dict[str, Array]:
        """Of a function of a step's outputs whose gradients by them are `due`, the gradients by the data, in the shapes
        in which they were given; data that a batch shares collect the sum.

        Raises DataError where outputs are not determined, and between two modes where these are refused.
        """
        b, core = step.arrays, self.stepper.core
        B, theta = b.residuals.size, core.theta.size
        for name, x, y in zip(due._fields, due, step.outputs, strict=True):
            if np.shape(x) != y.shape:
                raise DataError(f"the gradient by {name} has shape {np.shape(x)}; {y.shape} is needed")
        out = np.concatenate([np.reshape(x, (B, np.shape(x)[-1])) for x in due], axis=1, dtype=float)
        found, left = np.empty((B, theta + core.frame.size)), np.empty(B, dtype=np.int64)
        steps_back(b, out, found, left, self.machine)
        z = self._solutions(b)
        for k in np.flatnonzero(left).tolist():
            s = step.sensitivities.get(k)
            given = np.empty(z.shape[1])
            begin_back(b, k, self.machine, out[k], given)
            if s is None:
                s = sensitivity_of(self.stepper.posed_problem(), z[k], b.residuals[k])
            law, a = s.adjoint(given, limiting=self.at_kinks == "limiting")
            due_to_parameters(self.machine._replace(system=law.at), a, given, out[k], found[k])
        at = np.zeros(b.given.shape)
        at[:, core.place("theta")], at[:, core.place("frame")] = found[:, :theta], found[:, theta:]
        if self.hooked:
            self._through_hooks(b.given, at)
        if self.estimates:
            self._through_estimates(b.given, at)
        sums_back(b.given, at, core, self.due)
        gradients = {}
        for name, own in step.shapes.items():
            whole = at[:, self.places[name]].reshape(step.batch + self.shapes[name])
            gradients[name] = whole if whole.shape == own else _summed(whole, own)
        return gradients

    def _through_estimates(self, given: Array, at: Array) -> None:
        """Take the adjoints `at` (B, .) of the core's numbers back through the estimates, in place."""
        core, due = self.stepper.core, self.due
        for k in range(len(at)):
            core.buffer[:], due.buffer[:] = given[k], at[k]
            take_back(core, self.system, due, self.at_kinks == "limiting")
            at[k] = due.buffer

    def _through_hooks(self, given: Array, at: Array) -> None:
        """Take the adjoints `at` (B, .) of the core's numbers back through the formulation's hook, in place, by the
        tapes that hold at the numbers `given` (B, .), or by differences where it cannot be recorded."""
        core, left = self.stepper.core, np.ones(len(at), dtype=np.int64)
        first, end = core.place("r_n").start, core.place("own").start
        for tape in self.tapes:
            hooks_back(tape, given, first, end, at, left)
        while left.any():
            k, new = int(left.argmax()), None
            try:
                new = self._recorded(given[k], slice(first, end)) if self.failures < FAILURES else None
            except UNRECORDABLE:
                self.failures += 1
            if new is not None:
                self.tapes.append(new)
                hooks_back(new, given, first, end, at, left)
            else:
                found = at[k].copy()
                differ_hook(self.machine, given[k], np.arange(first, end), at[k], found)
                at[k] = found
            left[k] = 0
        del self.tapes[:-MOST_TAPES]

    def _recorded(self, given: Array, moved: slice) -> Tape:
        """The tape of the hook at the core's numbers `given`, of which some move. Raises one of `UNRECORDABLE`."""
        s, x, f = self.stepper, given[moved], self.machine.functions
        recorder = Recorder(x, 1.0 + np.abs(x))
        s.core.buffer[:] = given
        core = with_numbers(s.core)
        core.buffer[moved] = recorder.x
        with_tape: Any = SimpleNamespace(
            core=core, track=with_numbers(s.track), settings=self.machine.settings,
            functions=f._replace(given=recordable(f.given)),
        )  # fmt: skip
        with np.errstate(all="ignore"):
            recordable(prepare)(with_tape)
        return recorder.tape(core.buffer, 0)


def _must_be_a_size(size: Any) -> None:
    """Raise DataError unless it is (n, m, r, d), and a step's matrices fit into `MEMORY`."""
    whole = isinstance(size, Sequence) and len(size) == 4 and all(isinstance(x, Integral) and int(x) >= 0 for x in size)
    if not whole or size[0] < 1:
        raise DataError(f"size = {size!r:.40}; whole numbers (n, m, r, d) are needed, with at least one velocity")
    n, m, r, d = map(int, size)
    needed = 8 * (n + m + r + d * r) ** 2
    if needed > MEMORY:
        words = f"a step's matrices take {needed / 1e9:.1f} GB, more than {MEMORY / 1e9:g}"
        raise DataError(f"size = {size!r:.60}: {words}")


def _real(name: str, value: Any) -> Array:
    """An array of real numbers; raises DataError where a value is none."""
    try:
        array = np.asarray(value)
        return array.astype(float, casting="safe" if np.iscomplexobj(array) else "unsafe")
    except (TypeError, ValueError):
        raise DataError(f"{name} is no array of real numbers") from None


def _summed(x: Array, shape: tuple[int, ...]) -> Array:
    """The sum of x over the axes along which an array of this shape was broadcast."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    shared = tuple(i for i, (a, b) in enumerate(zip(shape, x.shape, strict=True)) if a == 1 != b)
    return x.sum(axis=shared, keepdims=True)
