"""Derivatives of single steps against differences, at random states of every formulation and case:

    python -m tests.derivative_states [--states 1000] [--only FORMULATION/CASE ...] [--seed 0] [--out FILE]

States are drawn along runs with random parameters, half of them moved at random. A step is differentiated along random
directions of the coordinates, velocities, forces, friction and restitution coefficients and last impulses, and by every
parameter of the case. Differences of order eight are taken of the same step, at the largest of several shifts at which
those of order six agree with them; a derivative that differs is held against the smallest at which they do. Each
derivative is counted once: `FATES`. A line tells how to repeat a wrong one.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numba import types

from cases import CASES
from formulations import FORMULATIONS
from workbench.derivatives.motion import Motion
from workbench.derivatives.one_step import JUMP, Direction, LinearisedStep, State, carried, solved
from workbench.derivatives.sensitivity import REDUNDANT
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, is_finite
from workbench.language.assemble.plan import WORK
from workbench.mechanics.case import Case
from workbench.mechanics.core import CORE, FILL
from workbench.mechanics.second_order import EIGHTH
from workbench.step.stepping import FUNCTIONS, SETTINGS, SOLVED, TRACK, run
from workbench.support.arrays import Array
from workbench.support.errors import DataError, WorkbenchError
from workbench.verbs.find import find_case, find_formulation

H, STEPS, STATES_A_RUN = 1e-3, 200, 25
"""Step size [s], steps of a run, and states drawn from it."""
SIXTH = (3 / 4, -3 / 20, 1 / 60, 0.0)
AHEAD, AHEAD_TOO = (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4), (-11 / 6, 3.0, -3 / 2, 1 / 3, 0.0)
"""Weights of one-sided differences of orders four and three."""
NOISE, ROUND_OFF = np.array([1.0, -8.0, 28.0, -56.0, 70.0, -56.0, 28.0, -8.0, 1.0]), 2.0**-53
"""Weights of the eighth difference."""
SHIFTS = tuple(10.0**-k for k in range(2, 11))
"""Shifts of differences, in units of the direction."""
RIGHT, CLOSE, KNOWN = 1e-6, 1e-9, 1e-10
"""Relative errors: of a right derivative, of a smooth one, and up to which a difference is known well enough for it."""
FLOOR = 1e-3
"""Smallest change of velocities and coordinates, as a share of the largest, relative to which errors are."""
NOISE_TIMES = 10.0
"""A difference may be off by this many times the error that its orders and its noise tell."""
NEAR = 1e-3
"""Margin of a mode below which the differences may reach another one."""
FATES = {
    "agreed": "the derivative is that of differences, to 1e-6",
    "kinks": "said to be a kink; both one-sided derivatives are those of differences",
    "near": "said to be near-degenerate: a margin below 1e-3, data that jump, or a kink; differences reach beyond it",
    "set-valued": "said to have none: redundant contacts, or several solutions or none nearby",
    "refused": "no derivative, for another reason",
    "noisy": "the derivative is that of differences as far as these are known, which is less than 1e-7",
    "unsettled": "differences do not settle, and nothing says why",
    "wrong": "the derivative is not that of differences",
    "nan": "not finite, without a reason",
}
"""What becomes of a derivative."""
SET_VALUED = (
    "are not determined", "contradict one another", "share the load", REDUNDANT, "neighbouring solution",
    "is not determined",
)  # fmt: skip
"""Words of reasons for no derivative at a step whose solution or velocities are not unique nearby."""


BESIDE_DATA = ("v_th", "k_n", "b_n", "k_t", "b_t")
"""Parameters of cases that act on more than the data, and are not varied."""


@kernel(types.boolean(CORE, WORK, TRACK, FUNCTIONS, SETTINGS, VECTOR, VECTOR, VECTOR, types.float64, MATRIX))
def steps_around(core, work, track, functions, settings, x, t, z, shift, found):
    """Put the ends [q, v, memory, out] of steps from x + k shift t, k = -4 ... 4, into found (9, n_s), where x and t
    are [q, v, memory, out, data] and z the solution at x; False where one is not solved."""
    n_q, n, n_m, n_o = track.q.shape[0], track.v.shape[0], track.memory.shape[0], work.out.shape[0]
    done = np.zeros(1, dtype=np.int64)
    for k in range(9):
        s = (k - 4) * shift
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
        if run(0, 1, core, work, track, functions, settings, done) != SOLVED:
            return False
        for i in range(n_q):
            found[k, i] = track.q[i]
        for i in range(n):
            found[k, n_q + i] = track.v[i]
        for i in range(n_m):
            found[k, n_q + n + i] = track.memory[i]
        for i in range(n_o):
            found[k, n_q + n + n_m + i] = work.out[i]
        if not is_finite(track.v):
            return False
    return True


def loaded(case: Case) -> Case:
    """The same case with further data: forces (n,), and what is added to mu (r,) and e (r,); zero."""
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
        self.case = loaded(self.plain)
        self.motion = Motion(self.case, find_formulation(formulation), H, H)
        self.step, s = self.motion.step, self.motion.step.stepper
        kernel_of = getattr(self.step.solver, "kernel", None)
        self.functions, self.settings = s.functions(self.case, kernel_of), s.settings(self.step.solver)
        self.is_compiled = kernel_of is not None and s.c.kind in self.step.solver.solves
        t = s.track
        self.sizes = np.cumsum([t.q.size, t.v.size, t.memory.size, s.work.out.size])
        self.sweeps = self.motion.sweeps(1) if self.motion.is_compiled else None

    def parts(self, x: Array) -> list[Array]:
        """q, v, memory, out and data."""
        return np.split(x, self.sizes)

    def inputs(self, x: Array) -> list[Array]:
        """The same as compiled steps take them: q, v, out, the memory behind the last impulses, and data."""
        q, v, memory, out, data = self.parts(x)
        return [q, v, out, memory[memory.size - self.step.rest :], data]

    def end(self, x: Array, z: Array, t: Array, shift: float) -> Array | None:
        """The ends (9, n_s) of steps from x + k shift t, k = -4 ... 4; None where one is not solved."""
        s, found = self.step.stepper, np.zeros((9, self.sizes[-1]))
        if self.is_compiled:
            good = steps_around(s.core, s.work, s.track, self.functions, self.settings, x, t, z, shift, found)
            return found if good else None
        for k in range(9):
            try:
                found[k] = self.one(x + (k - 4) * shift * t, z)[0]
            except DataError:
                return None
        return found

    def one(self, x: Array, z: Array) -> tuple[Array, Array]:
        """The end (n_s,) of the step from x, and its solution; raises DataError."""
        s, parts = self.step.stepper, self.parts(x)
        self.step.begin(State(*parts[:4]), data=parts[4])
        s.work.z[:] = z
        solution, _, _ = s.solve(self.step.solver)
        if solution.claimed.name != "SOLVED" or not np.isfinite(s.work.out).all():
            raise DataError(solution.why_not)
        return np.concatenate(self.step.ended(solution.z)), solution.z

    def states(self, count: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """States x along runs with random parameters, half of them moved, each with the solution of its step."""
        drawn = 0
        while drawn < count:
            self.step.case = self.varied(rng)
            x, z = self.start(), np.zeros(self.step.stepper.work.z.size)
            chosen = set(rng.choice(STEPS, min(STATES_A_RUN, count - drawn), replace=False).tolist())
            for k in range(max(chosen) + 1):
                try:
                    after, z_after = self.one(x, z)
                    if k in chosen:
                        drawn += 1
                        there = x if drawn % 2 else self.moved(x, rng)
                        yield there, self.one(there, z)[1]
                except DataError:
                    drawn += k in chosen
                    if k in chosen:
                        continue
                    break
                x, z = np.concatenate([after, self.parts(x)[4]]), z_after

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


class Solution:
    """A step at a state x of a pair with its solution z: its derivatives, compiled or else one by one."""

    def __init__(self, pair: Pair, x: Array, z: Array) -> None:
        self.pair, self.x, self.z = pair, x, z
        self.margin = np.inf
        if pair.sweeps is not None:
            *own, data = pair.inputs(x)
            here = np.concatenate([*own, z])
            after = np.full(here.size, np.nan)
            after[: pair.sizes[1]] = pair.one(x, z)[0][: pair.sizes[1]]
            self.rows = np.stack([here, after])
            at = slice(here.size - z.size, here.size - z.size + data.size)
            pair.sweeps.room.x[at] = data
            pair.sweeps.room.unit[at] = pair.units(data)

    def derivative(self, t: Array) -> tuple[Array, bool, bool]:
        """The tangent of [q, v] after the step along t, whether it is one-sided, and whether data jump; DataError."""
        found, data = self._compiled(t)
        if found is not None:
            return found, False, False
        parts = self.pair.parts(t)
        x = self._solved
        # Of all passes, where their number is given.
        margins = (one.sensitivity.margin for one in (*x.earlier, x) if one.sensitivity is not None)
        self.margin = min(self.margin, *margins, np.inf)
        one = carried(self.pair.step, x, Direction(State(*parts[:4]), parts[4]), data)
        return np.concatenate(one.state[:2]), one.is_kink, one.is_rough

    def _compiled(self, t: Array) -> tuple[Array | None, Array | None]:
        """The tangent by compiled steps, None where these leave it to the others; and that of the data by a tape."""
        sweeps = self.pair.sweeps
        if sweeps is None:
            return None, None
        along = np.concatenate(self.pair.inputs(t))
        tangents = np.zeros((2, 1, along.size))
        tangents[0, 0] = along
        system = sweeps.machine.system
        modes = np.empty((1, system.x.size), dtype=np.int64)
        if sweeps.ahead(0, 1, self.rows, tangents, modes) != 1:
            slopes = sweeps.slopes(tangents[0])
            return None, None if slopes is None else slopes[0]
        self.margin = min(self.margin, float(system.margin[system.mode >= 0].min(initial=np.inf)))
        return tangents[1, 0, : self.pair.sizes[1]], None

    @cached_property
    def _solved(self) -> LinearisedStep:
        return solved(self.pair.step, State(*self.pair.parts(self.x)[:4]))


def error(one: Array, other: Array, sizes: Array) -> float:
    """The largest difference of two tangents (n_x,) of [q, v], each part relative to its own size or its floor."""
    n_q = int(sizes[0])
    worst = 0.0
    for part, floor in zip((slice(n_q), slice(n_q, None)), sizes[1:], strict=True):
        a, b = one[part], other[part]
        size = max(float(np.abs(b).max(initial=0.0)), floor)
        worst = max(worst, float(np.abs(a - b).max(initial=0.0)) / size)
    return worst


def one_sided(ends: Array, shift: float) -> tuple[Array, Array]:
    """Differences of orders four and three of the ends (5, n_s) of steps by 0 ... 4 shifts."""
    return np.array(AHEAD) @ ends / shift, np.array(AHEAD_TOO) @ ends / shift


def central(ends: Array, shift: float) -> tuple[Array, Array]:
    """Differences of orders eight and six of the ends (9, n_s)."""
    odd = ends[5:] - ends[3::-1]
    return np.array(EIGHTH[:4]) @ odd / shift, np.array(SIXTH) @ odd / shift


@dataclass
class Tally:
    """What became of the derivatives of a pair; errors of those whose difference is known well enough."""

    fates: Counter[str] = field(default_factory=Counter)
    errors: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    states: int = 0
    seconds: float = 0.0


def known_at(pair: Pair, x: Array, z: Array, t: Array, sizes: Array, of: Any, shift: float) -> tuple[Array, float]:
    """The difference of [q, v] at a shift, and how well it is known; not at all where a step is not solved."""
    ends = pair.end(x, z, t, shift)
    if ends is None:
        return np.zeros(pair.sizes[1]), np.inf
    ends = ends[:, : pair.sizes[1]]
    high, low = of(ends, shift)
    # Rounding of the ends, and noise of solutions, which the eighth difference shows.
    noise = ROUND_OFF * np.abs(ends[4]) + np.abs(NOISE @ ends) / np.linalg.norm(NOISE)
    return high, error(low, high, sizes) + error(high + noise / shift, high, sizes)


def settled(pair: Pair, x: Array, z: Array, t: Array, sizes: Array, of: Any) -> tuple[Array, float]:
    """The difference of [q, v] that is known best of all shifts, and how well."""
    best, known = np.zeros(pair.sizes[1]), np.inf
    for shift in SHIFTS:
        found, own = known_at(pair, x, z, t, sizes, of, shift)
        if own < known:
            best, known = found, own
        if known <= KNOWN:
            break
    return best, known


def nearest(pair: Pair, x: Array, z: Array, t: Array, sizes: Array) -> tuple[Array, float]:
    """The difference at the smallest shift at which it is known to a tenth of `RIGHT`: others reach over more kinks."""
    for shift in reversed(SHIFTS):
        found, known = known_at(pair, x, z, t, sizes, central, shift)
        if known <= 0.1 * RIGHT:
            break
    return found, known


def judge(pair: Pair, solution: Solution, t: Array, tally: Tally) -> tuple[str, float, float]:
    """The fate of the derivative along t, its error, and how well the difference is known that gives it."""
    x, z = solution.x, solution.z
    q, v = pair.parts(x)[:2]
    sizes = np.array([q.size, FLOOR * (1 + np.abs(q).max()), FLOOR * (1 + np.abs(v).max())])
    try:
        found, is_kink, is_rough = solution.derivative(t)
        if is_kink:
            left = -solution.derivative(-t)[0]
    except DataError as reason:
        words = str(reason)
        tally.reasons[words.split(":")[-1]] += 1
        fate = "near" if JUMP in words else "set-valued" if any(w in words for w in SET_VALUED) else "refused"
        return fate, np.nan, np.nan
    if not np.isfinite(found).all():
        return "nan", np.nan, np.nan
    if is_kink:
        offs, known = [], 0.0
        for one, of in ((found, lambda e, s: one_sided(e[4:], s)), (left, lambda e, s: one_sided(e[4::-1], -s))):
            other, own = settled(pair, x, z, t, sizes, of)
            if own > 0.1 * RIGHT:
                return "near", np.nan, own
            offs.append(error(one, other, sizes))
            known = max(known, own)
        # Where a kink is within rounding, all differences are those of one side.
        return ("kinks" if max(offs) <= RIGHT else "near" if min(offs) <= RIGHT else "wrong"), max(offs), known
    other, known = settled(pair, x, z, t, sizes, central)
    off = error(found, other, sizes)
    if off <= RIGHT and known <= KNOWN:
        tally.errors.append(off)
    elif off > RIGHT and known <= 0.1 * RIGHT:
        other, known = nearest(pair, x, z, t, sizes)
        off = error(found, other, sizes)
    if off <= RIGHT:
        return "agreed", off, known
    if is_rough or solution.margin < NEAR:
        return "near", off, known
    if known <= 0.1 * RIGHT:
        return "wrong", off, known
    return ("noisy" if off <= NOISE_TIMES * known <= 1.0 else "unsettled"), off, known


def examine(pair: Pair, count: int, seed: int, only: int = -1, most: int = 5) -> Tally:
    """Judge the derivatives at `count` states of a pair, or at one of them, and describe the first few bad ones."""
    tally, start = Tally(), perf_counter()
    rng = np.random.default_rng([seed, *pair.name.encode()])
    for k, (x, z) in enumerate(pair.states(count, rng)):
        tally.states += 1
        directions = pair.directions(x, rng)
        if only not in (-1, k):
            continue
        solution = Solution(pair, x, z)
        for name, t in directions.items():
            fate, off, known = judge(pair, solution, t, tally)
            tally.fates[fate] += 1
            if fate in ("wrong", "unsettled", "nan") or only == k:
                line = f"{pair.name} seed {seed} state {k} by {name}: {fate}, {off:.1e} off, known to {known:.0e}, "
                line += f"margin {solution.margin:.0e}"
                if len(tally.lines) < most or only == k:
                    tally.lines.append(line)
    tally.seconds = perf_counter() - start
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
        told = f"{100 * (1 - c[['refused', 'nan', 'wrong', 'unsettled']].sum() / every):.2f} %"
        numbers = [int(c["states"]), every, *(int(c[f]) for f in FATES)]
        close = f"{100 * c['close'] / c['known']:.1f} %"
        lines.append(f"| {' | '.join(map(str, [name, *numbers, told, close, f'{worst[name]:.0e}']))} |")
    return "\n".join([*lines, "", *(f"- {fate}: {meaning}" for fate, meaning in FATES.items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=1000)
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
    for formulation in FORMULATIONS.names:
        for case in CASES.names:
            name = f"{formulation}/{case}"
            if name in done or not any(fnmatch(name, pattern) for pattern in o.only):
                continue
            try:
                pair = Pair(formulation, case)
            except DataError as error:
                print(f"{name}: {error}", flush=True)
                continue
            tally = examine(pair, o.states, o.seed, o.state)
            row = row_of(pair, tally)
            print(row, *tally.lines, dict(tally.reasons) or "", sep="\n  ", flush=True)
            if out:
                with out.open("a") as f:
                    f.write(row + "\n")
            bad += tally.fates["wrong"] + tally.fates["nan"]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
