"""Derivatives of single steps against differences, at random states of every formulation and case:

    python -m tests.derivative_states [--states 1000] [--only FORMULATION/CASE ...] [--seed 0] [--out FILE]

States are drawn along runs with random parameters, half of them moved at random. A step is differentiated along random
directions of the coordinates, velocities, forces, friction and restitution coefficients and last impulses, and by every
parameter of the case. Differences of order eight are taken of the same step, at the largest of several shifts at which
those of order six agree with them; a derivative that differs is held against the smallest at which they do, unless
modes are others even there. Each derivative is counted once: `FATES`. A line tells how to repeat a wrong one.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from functools import cache, cached_property, partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numba import types

from cases import CASES
from formulations import FORMULATIONS
from workbench.derivatives.motion import Motion
from workbench.derivatives.one_step import JUMP, Direction, LinearisedStep, State, carried, solved
from workbench.derivatives.sensitivity import REDUNDANT
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, copy_at, is_finite, set_all
from workbench.engine.scratch import scratch, scratch_indices
from workbench.mechanics.case import Case
from workbench.mechanics.core import FILL
from workbench.mechanics.second_order import EIGHTH
from workbench.problems.solution import Status
from workbench.step.stepper import STEPPING
from workbench.step.stepping import SOLVED, run
from workbench.support.arrays import Array
from workbench.support.errors import DataError, WorkbenchError
from workbench.verbs.find import find_case, find_formulation

H, STEPS, STATES_A_RUN, FAR = 1e-3, 200, 25, 1e6
"""Step size [s], steps of a run, states drawn from it, and coordinates and velocities [m, m/s] at which it diverges."""
SIXTH = 3 / 4, -3 / 20, 1 / 60, 0.0
CENTRAL = np.array([[-w for w in reversed(half)] + [0.0, *half] for half in (EIGHTH[:4], SIXTH)])
AHEAD = np.zeros((2, 9))
AHEAD[:, 4:] = (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4), (-11 / 6, 3.0, -3 / 2, 1 / 3, 0.0)
BACK = -AHEAD[:, ::-1]
"""Weights (2, 9) of values at -4, ..., 4 shifts: central differences of orders eight and six, and one-sided ones of
orders four and three."""
NOISE = np.array([[1.0, -8.0, 28.0, -56.0, 70.0, -56.0, 28.0, -8.0, 1.0], [-0.5, 3, -7, 7, 0, -7, 7, -3, 0.5]])
NOISE /= np.linalg.norm(NOISE, axis=1, keepdims=True)
"""Weights (2, 9) of the eighth and the mean seventh difference, for noise of variance one. The latter shows curvatures
that differ on both sides, as of s |s|, for which central differences of all orders are off, and alike."""
ROUND_OFF = 2.0**-53
SHIFTS = tuple(10.0**-k for k in range(2, 11))
"""Shifts of differences, in units of the direction."""
RIGHT, CLOSE, KNOWN = 1e-6, 1e-9, 1e-10
"""Relative errors: of a right derivative, of a smooth one, and up to which a difference is known well enough for it."""
FLOOR = 1e-3
"""Smallest change of velocities and coordinates, as a share of the largest, relative to which errors are."""
NOISE_TIMES = 10.0
"""A difference may be off by this many times the error that its orders and its noise tell."""
FURTHER = 3
"""Passes by which a step goes on that has settled, whose derivative is held against differences once more."""
NEAR = 1e-3
"""Margin of a mode below which the differences may reach another one."""
FATES = {
    "agreed": "the derivative is that of differences, to 1e-6",
    "kinks": "said to be a kink; both one-sided derivatives are those of differences",
    "near": "said to be near-degenerate: a margin below 1e-3, data that jump or are noise, modes that the solution "
    "does not tell apart or that are others at the smallest shift, or a kink beyond which differences reach",
    "set-valued": "said to have none: redundant contacts, or several solutions or none nearby",
    "refused": "no derivative, for another reason",
    "noisy": "the derivative is that of differences as far as these are known, which is less than 1e-7",
    "unsettled": "differences do not settle, and nothing says why",
    "wrong": "the derivative is not that of differences",
    "nan": "not finite, without a reason",
}
"""What becomes of a derivative."""
BAD = "refused", "unsettled", "wrong", "nan"
"""Fates that are not classified."""
CUBE = types.Array(types.float64, 3, "C")
SET_VALUED = (
    "are not determined", "contradict one another", "share the load", REDUNDANT, "neighbouring solution",
    "is not determined",
)  # fmt: skip
"""Words of reasons for no derivative at a step whose solution or velocities are not unique nearby."""
AMPLIFIED = "rounding of its data is amplified"
"""Words of the reason for none where data are noise."""


BESIDE_DATA = ("v_th", "k_n", "b_n", "k_t", "b_t")
"""Parameters of cases that act on more than the data, and are not varied."""


@kernel(types.boolean(VECTOR, VECTOR, VECTOR, types.float64, STEPPING, VECTOR))
def step_beside(x, t, z, s, m, end):
    """Make the step from x + s t, [q, v, memory, out, data], with the solution z at first, which is replaced; put its
    end, [q, v, memory, out], into `end`. Return whether it is solved."""
    core, work, track, done = m.core, m.work, m.track, scratch_indices(1)
    n_q, n, n_m, n_o = track.q.shape[0], track.v.shape[0], track.memory.shape[0], work.out.shape[0]
    for i in range(n_q):
        track.q[i] = x[i] + s * t[i]
    for i in range(n):
        track.v[i] = x[n_q + i] + s * t[n_q + i]
    for i in range(n_m):
        track.memory[i] = x[n_q + n + i] + s * t[n_q + n + i]
    for i in range(n_o):
        work.out[i] = x[n_q + n + n_m + i] + s * t[n_q + n + n_m + i]
    for i in range(track.data.shape[0]):
        track.data[i] = x[n_q + n + n_m + n_o + i] + s * t[n_q + n + n_m + n_o + i]
    copy(z, work.z)
    if run(0, 1, core, work, track, m.functions, m.settings, done) != SOLVED or not is_finite(track.v):
        return False
    copy(work.z, z)
    copy_at(track.q, end, 0)
    copy_at(track.v, end, n_q)
    copy_at(track.memory, end, n_q + n)
    copy_at(work.out, end, n_q + n + n_m)
    return True


@kernel(types.void(VECTOR, VECTOR, MATRIX, types.float64, STEPPING, CUBE))
def steps_beside(x, z, tangents, shift, m, ends):
    """Put the ends of steps from x + k shift t, k = -4 ... 4, into `ends` (K, 9, n_s) for each of the tangents t (K,
    n_x); z is the solution at x. Where one is not solved, they stay as they are."""
    own = scratch(z.shape[0])
    for j in range(tangents.shape[0]):
        for k in range(9):
            copy(z, own)
            if not step_beside(x, tangents[j], own, (k - 4) * shift, m, ends[j, k]):
                break


@kernel(types.int64(VECTOR, STEPPING, MATRIX, MATRIX))
def states_along(x, m, states, solutions):
    """Put the states of a run from x into `states` (N, n_x), and the solutions of their steps into `solutions` (N,
    n_z); return the number of steps that are solved."""
    n, z = states.shape[0], scratch(solutions.shape[1])
    set_all(0.0, z)
    for k in range(n):
        copy(x, states[k])
        if not step_beside(states[k], x, z, 0.0, m, x):
            return k
        copy(z, solutions[k])
    return n


@cache
def loaded(name: str) -> Case:
    """The case of this name with further data: forces (n,), and what is added to mu (r,) and e (r,); zero."""
    case = find_case(name)
    (n, _, r, _), own, inner = case.size, len(fields(case)), case.fill

    @kernel(FILL)
    def fill(q, v, data, core):
        for i in range(r):
            core.e[i] = 0.0
        inner(q, v, data, core)
        for i in range(n):
            core.f[i] += data[own + i]
        for i in range(r):
            core.mu[i] += data[own + n + i]
            core.e[i] += data[own + n + r + i]

    def data(self: Case) -> Array:
        return np.concatenate([type(case).data(self), np.zeros(n + 2 * r)])

    kind = type(type(case).__name__, (type(case),), {"fill": staticmethod(fill), "data": data})
    found: Case = object.__new__(kind)
    vars(found).update(vars(case))
    return found


class Pair:
    """A formulation over a case: its steps, their derivatives, and their differences."""

    def __init__(self, formulation: str, case: str) -> None:
        self.name = f"{formulation}/{case}"
        self.plain = find_case(case)
        self.case = loaded(case)
        self.motion = Motion(self.case, find_formulation(formulation), H, H)
        self.step, s = self.motion.step, self.motion.step.stepper
        self.is_compiled = s.is_compiled
        self.stepping, t = s.stepping, s.track
        self.sizes = np.cumsum([t.q.size, t.v.size, t.memory.size, s.work.out.size])
        self.sweeps, self.passes = cache(self.motion.sweeps), cache(self.motion.passes)

    def parts(self, x: Array) -> list[Array]:
        """q, v, memory, out and data."""
        return np.split(x, self.sizes)

    def inputs(self, x: Array) -> list[Array]:
        """The same as compiled steps take them: q, v, out, the memory behind the last impulses, and data."""
        q, v, memory, out, data = self.parts(x)
        return [q, v, out, memory[memory.size - self.step.rest :], data]

    def ends(self, x: Array, z: Array, tangents: Array, shift: float, further: int = 0) -> Array:
        """The ends [q, v] (K, 9, .) of steps from x + k shift t, k = -4 ... 4, for tangents t (K, n_x), z being the
        solution at x, with `further` passes; NaN where one is not solved."""
        found = np.full((len(tangents), 9, self.sizes[3]), np.nan)
        if self.is_compiled and not further:
            steps_beside(x, z, tangents, shift, self.stepping, found)
        else:
            for t, of_it in zip(tangents, found, strict=True):
                for k in range(9):
                    if (end := self.after(x + (k - 4) * shift * t, z.copy(), further)) is None:
                        break
                    of_it[k] = end
        return found[:, :, : self.sizes[1]]

    def after(self, x: Array, z: Array, further: int = 0) -> Array | None:
        """The end (n_s,) of the step from x after `further` passes, None without one; its solution is put into z, where
        it is sought first."""
        if self.is_compiled and not further:
            end = np.empty(self.sizes[3])
            return end if step_beside(x, x, z, 0.0, self.stepping, end) else None
        s, parts = self.step.stepper, self.parts(x)
        try:
            begin = partial(self.step.begin, State(*parts[:4]), data=parts[4])
            begin()
            s.work.z[:] = z
            solution, _, _ = s.solve(self.step.solver)
            for _ in range(further):
                if solution.claimed is Status.SOLVED:
                    own, _ = self.step.passed(solution.z, True)
                    begin()
                    self.step.posed(own)
                    solution = self.step.solver.solve(s.problem())
            if solution.claimed is not Status.SOLVED or not np.isfinite(s.work.out).all():
                return None
            z[:] = solution.z
            return np.concatenate(self.step.ended(solution.z))
        except DataError:
            return None

    def along(self, x: Array) -> tuple[Array, Array]:
        """The states of a run from x, and the solutions of their steps, up to one that is not solved."""
        states, solutions = np.zeros((STEPS, x.size)), np.zeros((STEPS, self.step.stepper.work.z.size))
        if self.is_compiled:
            count = states_along(x, self.stepping, states, solutions)
            return states[:count], solutions[:count]
        z = np.zeros(solutions.shape[1])
        for k in range(STEPS):
            states[k] = x
            if (end := self.after(x, z)) is None:
                return states[:k], solutions[:k]
            solutions[k], x = z, np.concatenate([end, x[end.size :]])
        return states, solutions

    def states(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """States x along runs with random parameters, half of them moved, each with the solution of its step."""
        drawn = 0
        while drawn < count:
            self.step.case = self.varied(rng)
            states, solutions = self.along(self.start())
            chosen = sorted(rng.choice(STEPS, min(STATES_A_RUN, count - drawn), replace=False))
            drawn += len(chosen)
            for i, k in enumerate(chosen):
                if k < len(states) and np.abs(states[k][: self.sizes[1]]).max() < FAR:
                    x, z = states[k] if i % 2 == 0 else self.moved(states[k], rng), solutions[k]
                    if self.after(x, z) is not None:
                        yield x, z

    def varied(self, rng: np.random.Generator) -> Case:
        """The case with its parameters varied by a quarter, or less where it refuses."""
        reach = 0.25
        while True:
            values = {
                f.name: getattr(self.plain, f.name) * (1 + reach * rng.uniform(-1, 1)) for f in fields(self.plain)
                if f.name not in BESIDE_DATA and f.metadata["sign"] != "count"
            }  # fmt: skip
            try:
                case = self.case.with_parameters(**values)
                case.start()
            except WorkbenchError:
                reach *= 0.5
            else:
                return case

    def start(self) -> Array:
        """The start of the step's case, without a last step."""
        q, v = self.step.case.start()
        none = np.full(self.sizes[3] - self.sizes[1], np.nan)
        return np.concatenate([q, v, none, self.step.case.data()])

    def moved(self, x: Array, rng: np.random.Generator) -> Array:
        """A state nearby: coordinates by up to a centimetre, velocities by up to a metre a second."""
        q, v, *rest = self.parts(x)
        q = q + 10 ** rng.uniform(-6, -2) * rng.normal(size=q.size)
        v = v + 10 ** rng.uniform(-4, 0) * rng.normal(size=v.size)
        on = np.empty(q.size)
        self.case.advance(q, v, 0.0, rest[-1], on)
        return np.concatenate([on, v, *rest])

    def units(self, data: Array) -> Array:
        """Sizes (n_data,) of the data: their own, the largest weight for forces, and 1."""
        n, own, units = self.case.size[0], len(fields(self.plain)), np.where(data != 0, np.abs(data), 1.0)
        units[own : own + n] = float(np.abs(self.step.stepper.core.f).max(initial=0.0)) or 1.0
        return units

    def floors(self, x: Array, end: Array) -> Array:
        """The number of coordinates, and the smallest sizes of changes of these and of velocities (`error`), of a step
        from x to its end."""
        largest = np.maximum(np.abs(x[: self.sizes[1]]), np.abs(end[: self.sizes[1]]))
        q, v = np.split(largest, self.sizes[:1])
        return np.array([q.size, FLOOR * (1 + q.max()), FLOOR * (1 + v.max())])

    def directions(self, x: Array, rng: np.random.Generator) -> dict[str, Array]:
        """Tangents (n_x,) of [q, v, memory, out, data], each in its own unit."""
        q, v, memory, out, data = self.parts(x)
        n, _, r, _ = self.case.size
        own, found = data.size - n - 2 * r, {}

        def add(name: str, start: int, values: Array) -> None:
            t = np.zeros(x.size)
            t[start : start + values.size] = values
            found[name] = t

        add("coordinates", 0, (1 + np.abs(q)) * rng.normal(size=q.size))
        add("velocities", self.sizes[0], (1 + np.abs(v)) * rng.normal(size=n))
        at, units = self.sizes[3], self.units(data)
        for k, f in enumerate(fields(self.plain)):
            if f.name not in BESIDE_DATA:
                add(f.name, at + k, units[k : k + 1])
        add("forces", at + own, units[own : own + n] * rng.normal(size=n))
        add("friction of contacts", at + own + n, 0.3 * rng.normal(size=r))
        add("restitution of contacts", at + own + n + r, 0.3 * rng.normal(size=r))
        if self.motion.is_compiled and not self.step.velocities_alone and np.isfinite(out).all():
            p = out[n:] * rng.normal(size=out.size - n)
            add("last impulses", self.sizes[2] + n, p)
            # The default memory begins with them.
            count = min(p.size, memory.size)
            found["last impulses"][self.sizes[1] : self.sizes[1] + count] = p[:count]
        return found


class Derivative(NamedTuple):
    """The tangent of [q, v] after a step, whether it is one-sided, whether data jump, or why there is none."""

    value: Array
    is_kink: bool = False
    is_rough: bool = False
    reason: str = ""


class Solution:
    """A step at a state x of a pair with its solution z: its derivatives, compiled or else one by one.

    margin: the smallest one of a mode; of all passes, where their number is given.
    """

    def __init__(self, pair: Pair, x: Array, z: Array) -> None:
        self.pair, self.x, self.z, self.margin, end = pair, x, z, np.inf, pair.after(x, z.copy())
        assert end is not None
        self.end, self.sizes = end, pair.floors(x, end)

    def derivatives(self, tangents: Array) -> list[Derivative]:
        """The derivatives along tangents (K, n_x)."""
        directions = [Direction(State(*parts[:4]), parts[4]) for parts in map(self.pair.parts, tangents)]
        found, data = self._compiled(tangents)
        found = found or self._by_passes(directions)
        if found is not None:
            return found
        if data is None and len(tangents) > 1:
            # The data may have a kink along one of them alone.
            return [self.derivatives(t[None])[0] for t in tangents]
        return [self._by_itself(one, None if data is None else data[k]) for k, one in enumerate(directions)]

    def _by_passes(self, directions: list[Direction]) -> list[Derivative] | None:
        """The derivatives by compiled passes, None where these leave them to the others."""
        passes = self.pair.passes(len(directions))
        try:
            found = None if passes is None else passes.along(self._solved, directions)
        except DataError:
            return None
        return None if found is None else [self._told(one) for one in found]

    def _by_itself(self, direction: Direction, data: Any) -> Derivative:
        """The derivative along a direction by itself, from the tangent of the step's data if that is known."""
        try:
            return self._told(carried(self.pair.step, self._solved, direction, data))
        except DataError as reason:
            return Derivative(np.zeros(0), reason=str(reason))

    @staticmethod
    def _told(one: Any) -> Derivative:
        return Derivative(np.concatenate(one.state[:2]), one.is_kink, one.is_rough)

    def _compiled(self, tangents: Array) -> tuple[list[Derivative] | None, list[Any] | None]:
        """The derivatives by compiled steps, None where these leave them to the others; and the tangents of the data,
        by a tape, None where there is none or they have a kink."""
        pair = self.pair
        if not pair.motion.is_compiled:
            return None, None
        sweeps, (inputs, data) = pair.sweeps(len(tangents)), self._inputs
        at = slice(inputs.shape[1] - self.z.size, inputs.shape[1] - self.z.size + data.size)
        sweeps.room.x[at], sweeps.room.unit[at] = data, pair.units(data)
        along = np.array([np.concatenate(pair.inputs(t)) for t in tangents])
        both = np.stack([along, np.zeros(along.shape)])
        system = sweeps.machine.system
        modes = np.empty((1, system.x.size), dtype=np.int64)
        notes = np.empty((1, len(tangents)), dtype=np.int64)
        if sweeps.ahead(0, 1, inputs, both, modes, notes) != 1:
            return None, sweeps.slopes(both[0])
        self.margin = min(self.margin, float(system.margin[system.mode >= 0].min(initial=np.inf)))
        told = pair.motion.told(notes[0], State(*pair.parts(self.x)[:4]))
        return [Derivative(*one) for one in zip(both[1, :, : pair.sizes[1]], *told, strict=True)], None

    @cached_property
    def _inputs(self) -> tuple[Array, Array]:
        """The rows before and after the step as compiled sweeps record them, and the data."""
        *own, data = self.pair.inputs(self.x)
        here = np.concatenate([*own, self.z])
        after = np.full(here.size, np.nan)
        after[: self.pair.sizes[1]] = self.end[: self.pair.sizes[1]]
        return np.stack([here, after]), data

    def changes(self, t: Array) -> bool:
        """Whether a mode is another one at the smallest shifts along t: the margin of a row at its bound, which is
        relative to its own velocity, does not tell how soon that vanishes."""
        step, here = self.pair.step, self.modes(self._solved)
        case = step.case
        try:
            for side in (-4.0, 4.0):
                *state, data = self.pair.parts(self.x + side * SHIFTS[-1] * t)
                step.case = object.__new__(type(case))
                vars(step.case).update(vars(case), data=partial(np.array, data))
                if self.modes(solved(step, State(*state))) != here:
                    return True
        except DataError:
            return True
        finally:
            step.case = case
        return False

    @staticmethod
    def modes(x: LinearisedStep) -> list[list[str]]:
        """The modes of all passes."""
        passes = [one.sensitivity for one in (*x.earlier, x) if one.sensitivity is not None]
        return [[place.mode for place in one.places] for one in passes]

    @property
    def settles(self) -> bool:
        """Whether the step makes passes until they change nothing, not a number of them."""
        return self.pair.step.iterates and not self._solved.earlier

    @cached_property
    def _solved(self) -> LinearisedStep:
        x = solved(self.pair.step, State(*self.pair.parts(self.x)[:4]))
        margins = (one.sensitivity.margin for one in (*x.earlier, x) if one.sensitivity is not None)
        self.margin = min(self.margin, *margins, np.inf)
        return x


def error(one: Array, other: Array, sizes: Array) -> Array:
    """The largest differences of tangents (..., n_x) of [q, v], each part relative to its own size or its floor."""
    n_q, worst = int(sizes[0]), np.zeros(other.shape[:-1])
    for part, floor in zip((slice(n_q), slice(n_q, None)), sizes[1:], strict=True):
        a, b = one[..., part], other[..., part]
        size = np.maximum(np.abs(b).max(axis=-1, initial=0.0), floor)
        worst = np.maximum(worst, np.abs(a - b).max(axis=-1, initial=0.0) / size)
    return worst


@dataclass
class Tally:
    """What became of the derivatives of a pair; errors of those whose difference is known well enough."""

    fates: Counter[str] = field(default_factory=Counter)
    errors: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    states: int = 0
    seconds: float = 0.0


def differences(
    solution: Solution,
    tangents: Array,
    weights: Array,
    enough: float,
    closer: bool = False,
) -> tuple[Array, Array]:
    """The differences of [q, v] (K, .) along tangents (K, n_x), at the first shift at which they are known well enough,
    or else best, and how well; not at all where steps are not solved.

    A closer look begins with the smallest shifts, as others reach over more kinks; passes that settle go on, since what
    is left of them has slopes of its own; and gaps over the step, of which velocities are made, round as coordinates.
    """
    x, K = solution.x, len(tangents)
    shifts, further = (SHIFTS[::-1], FURTHER if solution.settles else 0) if closer else (SHIFTS, 0)
    rounding = np.zeros(solution.pair.sizes[1])
    rounding[solution.pair.sizes[0] :] = ROUND_OFF * np.abs(x[: solution.pair.sizes[0]]).max() / H if closer else 0.0
    best, known, sizes = np.zeros((K, solution.pair.sizes[1])), np.full(K, np.inf), solution.sizes
    settled, before = np.zeros(K, dtype=bool), np.zeros(K)
    for shift in shifts:
        left = np.flatnonzero(~settled)
        if not left.size:
            break
        ends = solution.pair.ends(x, solution.z, tangents[left], shift, further)
        # A solver may keep the solution from which it starts where that solves the varied problem well enough.
        kept = (ends == ends[:, 4:5]).all(axis=(1, 2))
        if kept.any():
            ends[kept] = solution.pair.ends(x, np.zeros(solution.z.size), tangents[left[kept]], shift, further)
        moved = ends - ends[:, 4:5]
        high, low = weights[0] @ moved / shift, weights[1] @ moved / shift
        # Rounding of the ends, and noise of solutions, which the highest differences show.
        noise = rounding + ROUND_OFF * np.abs(ends[:, 4]) + np.abs(NOISE @ moved).max(axis=1)
        own = error(low, high, sizes) + error(high + noise / shift, high, sizes)
        if closer:
            # Noise, which may be small by chance, is a tenth of that at the shift before.
            before[left], own = own, np.maximum(own, 0.1 * np.where(np.isfinite(before[left]), before[left], 0.0))
        better = own < known[left]
        # Noise grows as shifts shrink: a difference known well enough to judge by is not improved any more.
        settled[left] |= (known[left] <= 0.1 * RIGHT) & ~(own <= 10 * known[left])
        best[left[better]], known[left[better]] = high[better], own[better]
        settled[left] |= known[left] <= enough
    return best, known


class Verdict(NamedTuple):
    """The fate of a derivative, its error, and how well the difference is known that gives it."""

    fate: str
    off: float = np.nan
    known: float = np.nan


def judge(solution: Solution, tangents: Array, tally: Tally) -> list[Verdict]:
    """The verdicts on the derivatives along tangents (K, n_x)."""
    found = solution.derivatives(tangents)
    smooth = [k for k, one in enumerate(found) if not one.reason and not one.is_kink]
    others, known = differences(solution, tangents[smooth], CENTRAL, KNOWN)
    verdicts = {k: _smooth(solution, tangents[k], found[k], *given, tally)
                for k, *given in zip(smooth, others, known.tolist(), strict=True)}  # fmt: skip
    for k, (t, one) in enumerate(zip(tangents, found, strict=True)):
        if one.reason:
            verdicts[k] = _none(one.reason, tally)
        elif one.is_kink:
            verdicts[k] = _kink(solution, t, one, tally)
    return [verdicts[k] for k in range(len(tangents))]


def _none(reason: str, tally: Tally) -> Verdict:
    """The verdict on a reason why there is no derivative."""
    tally.reasons[reason.split(":")[-1]] += 1
    if JUMP in reason or AMPLIFIED in reason:
        return Verdict("near")
    return Verdict("set-valued" if any(words in reason for words in SET_VALUED) else "refused")


def _kink(solution: Solution, t: Array, right: Derivative, tally: Tally) -> Verdict:
    """The verdict on a derivative that is one-sided."""
    left = solution.derivatives(-t[None])[0]
    if left.reason:
        return _none(left.reason, tally)
    both = [differences(solution, t[None], weights, KNOWN) for weights in (AHEAD, BACK)]
    known = max(float(own[0]) for _, own in both)
    if known > 0.1 * RIGHT:
        return Verdict("near", known=known)
    sizes = solution.sizes
    offs = [float(error(one, other[0], sizes))
            for one, (other, _) in zip((right.value, -left.value), both, strict=True)]  # fmt: skip
    # Where a kink is within rounding, all differences are those of one side.
    fate = "kinks" if max(offs) <= RIGHT else "near" if min(offs) <= RIGHT or right.is_rough else "wrong"
    return Verdict(fate, max(offs), known)


def _smooth(solution: Solution, t: Array, one: Derivative, other: Array, known: float, tally: Tally) -> Verdict:
    """The verdict on a two-sided derivative beside a difference."""
    if not np.isfinite(one.value).all():
        return Verdict("nan")
    sizes = solution.sizes
    off = float(error(one.value, other, sizes))
    if off <= RIGHT and known <= KNOWN:
        tally.errors.append(off)
    elif off > RIGHT:
        nearest, at = differences(solution, t[None], CENTRAL, 0.1 * RIGHT, closer=True)
        off, known = float(error(one.value, nearest[0], sizes)), float(at[0])
    if off <= RIGHT:
        fate = "agreed"
    elif one.is_rough or solution.margin < NEAR:
        fate = "near"
    elif off <= NOISE_TIMES * known <= 1.0:
        fate = "noisy"
    elif solution.changes(t):
        fate = "near"
    else:
        fate = "wrong" if known <= 0.1 * RIGHT else "unsettled"
    return Verdict(fate, off, known)


def examine(pair: Pair, count: int, seed: int, only: int = -1, most: int = 5, seconds: float = np.inf) -> Tally:
    """Judge the derivatives at `count` states of a pair, fewer if they take too many seconds of this process, or at one
    of them, and describe the first few bad ones."""
    tally, start = Tally(), process_time()
    rng = np.random.default_rng([seed, *pair.name.encode()])
    for k, (x, z) in enumerate(pair.states(count, rng)):
        tally.states += 1
        directions = pair.directions(x, rng)
        if only not in (-1, k):
            continue
        solution = Solution(pair, x, z)
        for name, found in zip(directions, judge(solution, np.array([*directions.values()]), tally), strict=True):
            tally.fates[found.fate] += 1
            if only == k or (found.fate in BAD and len(tally.lines) < most):
                line = f"{pair.name} seed {seed} state {k} by {name}: {found.fate}, {found.off:.1e} off, "
                tally.lines.append(f"{line}known to {found.known:.0e}, margin {solution.margin:.0e}")
        if only == k or process_time() - start > seconds:
            break
    tally.seconds = process_time() - start
    return tally


COLUMNS = ("formulation", "case", "states", *FATES, "close", "known", "worst", "seconds")


def row_of(pair: Pair, tally: Tally) -> str:
    errors = np.array(tally.errors)
    worst = f"{errors.max():.1e}" if errors.size else ""
    counts = tally.states, *(tally.fates[f] for f in FATES), int((errors <= CLOSE).sum()), errors.size
    return ",".join(map(str, (*pair.name.split("/"), *counts, worst, f"{tally.seconds:.1f}")))


def summary(paths: list[Path]) -> str:
    """Tables of rows that runs have written, by formulation and in all, as Markdown."""
    rows = pd.concat([pd.read_csv(path) for path in paths])
    worst = rows.groupby("formulation", sort=False)["worst"].max()
    counts = rows.groupby("formulation", sort=False)[["states", *FATES, "close", "known"]].sum()
    counts.loc["all"], worst["all"] = counts.sum(), rows["worst"].max()
    heads = ("formulation", "states", "derivatives", *FATES, "classified", "within 1e-9", "largest error")
    lines = [f"| {' | '.join(heads)} |", "|-" * len(heads) + "|"]
    for name, c in counts.iterrows():
        every = int(c[list(FATES)].sum())
        told = f"{100 * (1 - c[list(BAD)].sum() / every):.2f} %"
        numbers = [int(c["states"]), every, *(int(c[f]) for f in FATES)]
        close = f"{100 * c['close'] / c['known']:.1f} %"
        lines.append(f"| {' | '.join(map(str, [name, *numbers, told, close, f'{worst[name]:.0e}']))} |")
    return "\n".join([*lines, "", *(f"- {fate}: {meaning}" for fate, meaning in FATES.items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=np.inf, help="most time of a pair")
    parser.add_argument("--formulations", nargs="*", default=FORMULATIONS.names, help="labels, with their options")
    parser.add_argument("--only", nargs="*", default=["*/*"], help="FORMULATION/CASE, with * and ?")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=int, default=-1, help="describe this state alone")
    parser.add_argument(
        "--out", default="", help="CSV file to which a row is added for each pair; pairs in it are left out"
    )
    parser.add_argument("--summary", nargs="+", type=Path, help="print tables of such files instead")
    o = parser.parse_args()
    if o.summary:
        print(summary(o.summary))
        return
    out = Path(o.out) if o.out else None
    done = set()
    if out and out.exists():
        done = {"/".join(line.split(",")[:2]) for line in out.read_text().splitlines()[1:]}
    elif out:
        out.write_text(",".join(COLUMNS) + "\n")
    bad = 0
    print(",".join(COLUMNS))
    cases = CASES.names
    # Each formulation with another case at a time, so that the first pairs have all of both.
    for shift in range(len(cases)):
        for i, formulation in enumerate(o.formulations):
            name = f"{formulation}/{cases[(i + shift) % len(cases)]}"
            if name in done or not any(fnmatch(name, pattern) for pattern in o.only):
                continue
            try:
                pair = Pair(*name.split("/"))
            except DataError as error:
                print(f"{name}: {error}", flush=True)
                continue
            tally = examine(pair, o.states, o.seed, o.state, seconds=o.seconds)
            row = row_of(pair, tally)
            print(row, *tally.lines, dict(tally.reasons) or "", sep="\n  ", flush=True)
            if out:
                with out.open("a") as f:
                    f.write(row + "\n")
            bad += tally.fates["wrong"] + tally.fates["nan"]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
