"""Parameters of a case from measured outputs of its motion: Gauss-Newton over the derivatives of the motion by steps.

The residuals of a motion y(t; theta) under a formulation from measurements y_k at
times t_k are r = (y - y_k) / sigma, and

    theta <- theta - (J^T J + lambda D)^-1 J^T r,     J = dr/dtheta,     D = diag(J^T J)

with lambda by Levenberg and Marquardt: a step that does not reduce |r|^2, or that the case refuses, is tried again
shorter. Between two steps motions and derivatives are interpolated linearly. Standard errors are those of the linear
model at the end, sigma^2 (J^T J)^-1; where steps have kinks or their data jump they say what holds on one side.

The 95 % interval of a parameter holds all its values at which |r|^2, minimised over the others, is at most

    |r|_min^2 (1 + F / (N - p)),     F the 95 % quantile of F(1, N - p)

(profile likelihood; Bates & Watts 1988, Nonlinear Regression Analysis, chapter 6). Where |r|^2 grows as the linear
model says this is value -+ sqrt(F) standard errors. Where it does not, as with kinks, values are tried one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from workbench.derivatives.differences import SHIFT, differences
from workbench.derivatives.motion import Motion, Output, output_of, tangents_of
from workbench.derivatives.one_step import State
from workbench.derivatives.parameters import CaseParameter, value_of, with_values
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.support.arrays import Array
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.progress import ProgressCallback

SETTLED = 1e-8
"""Relative change of the parameters, and of |r|^2, at which the fit has come to its end."""
MOST_RUNS, MOST_BESIDE = 60, 10
"""Motions that are run, with derivatives or without, before a fit is given up, and for the other
parameters beside one that is tried."""
DAMPING, SHORTER, LONGER, WEAKEST = 1e-3, 10.0, 0.1, 1e12
"""The first lambda, its factors after a failed and a successful step, and the largest that is tried."""
BESIDE, ALIKE = 1e-3, 0.5
"""Share of a parameter by which it is moved to try the linear model, and the relative error of the growth of |r|^2, or
of one residual's share of it, up to which that holds."""
DETERMINED = 1e-10
"""Singular values of J in units of its columns, relative to the largest, below which parameters are not determined."""
LEVEL, TRIED, HALVINGS = 0.95, 40, 12
"""Probability of an interval; values of a parameter that are tried on either side up to one well outside, and halvings
of the gap at the last one inside."""
WIDEST = 2**20
"""The widest interval that is sought, in units of the first try (`BESIDE`)."""
AGAIN, LOWER = 3, 1e-6
"""Fits that are made anew where intervals show a |r|^2 that is lower by this share of it."""
LARGEST, CONSTANT = 1e150, 1e-12
"""The largest measurement, and the spread of an output, relative to the largest, up to which it is constant."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Outputs `names` (m,) at times t (K,) [s]: values (K, m), nan where one is missing, and a scale sigma (m,)."""

    t: Array
    names: tuple[str, ...]
    values: Array
    sigma: Array

    @property
    def end(self) -> float:
        return float(self.t[-1])


def measurements(frame: pd.DataFrame) -> Measurements:
    """Those of a frame with a column t [s] and a column for each output; all outputs weigh by their own spread,
    constant ones by one unit.

    Raises DataError where there is no t, no output, times that do not rise from 0 or later, or no number.
    """
    if "t" not in frame or len(frame.columns) < 2:
        there = ", ".join(repr(str(x).strip()[:40]) for x in frame.columns[:20]) or "none"
        raise DataError(f"the measurements have the columns {there}; t and one output at least are needed")
    try:
        # What has an imaginary part would lose it without a word.
        numbers = frame.to_numpy().astype(float, casting="safe" if np.iscomplexobj(frame.to_numpy()) else "unsafe")
    except (TypeError, ValueError):
        raise DataError(f"an entry of the measurements is no number{_first_other(frame)}") from None
    t = numbers[:, frame.columns.get_loc("t")]
    if wrong := _not_rising(t):
        raise DataError(f"times t are needed that rise, from 0 or later, two at least; {wrong}")
    names = tuple(str(c) for c in frame.columns if c != "t")
    values = np.delete(numbers, frame.columns.get_loc("t"), axis=1)
    sizes = np.abs(values[~np.isnan(values)])
    # The squares of larger ones overflow.
    if not sizes.size or sizes.max() > LARGEST:
        raise DataError(f"measurements are beyond {LARGEST:g}, infinite, or all missing")
    spread = np.array([np.nanstd(x) if np.isfinite(x).any() else 1.0 for x in values.T])
    return Measurements(t, names, values, np.where(spread > CONSTANT * sizes.max(), spread, 1.0))


def _first_other(frame: pd.DataFrame) -> str:
    """Return the first entry that is no number, its column, and its row counted from 1."""
    for name in frame:
        for row, x in enumerate(frame[name], start=1):
            try:
                float(x)
            except (TypeError, ValueError):
                return f": '{str(x)[:40]}' in row {row} of column '{str(name)[:40]}'"
    return ""


def _not_rising(t: Array) -> str:
    """Return what is wrong with times; rows are counted from 1."""
    if len(t) < 2:
        return f"here is {len(t) or 'none'}"
    if not np.isfinite(t).all():
        row = int(np.argmin(np.isfinite(t)))
        return f"row {row + 1} has t = {t[row]:g}"
    if t[0] < 0:
        return f"row 1 has t = {t[0]:g}, before the motion begins"
    falls = np.flatnonzero(np.diff(t) <= 0)
    return (
        f"rows {falls[0] + 1} and {falls[0] + 2} have t = {t[falls[0]]:g} and {t[falls[0] + 1]:g}" if falls.size else ""
    )


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit came to: `values` (p,) of the parameters `names`, their standard `errors` (p,) and 95 % `intervals`
    (p, 2), their `correlation` (p, p), the root mean square `residual` relative to sigma, runs of the motion that were
    made, steps at the end with kinks or data that jump, and `reason` where the fit did not settle. Where the linear
    model does not hold beside the end, a standard error is nan; an interval without an end on a side is infinite."""

    names: tuple[str, ...]
    values: Array
    errors: Array
    intervals: Array
    correlation: Array
    residual: float
    runs: int
    rough_steps: int
    reason: str = ""


class _Model:
    """Residuals and their derivatives over the parameters."""

    def __init__(
        self, case: Case, formulation: Formulation, given: Measurements, names: Sequence[str], h: float,
        progress: ProgressCallback | None = None,
    ) -> None:  # fmt: skip
        self.case, self.formulation, self.given, self.names, self.h = case, formulation, given, names, h
        self.outputs = [output_of(case, name) for name in given.names]
        self.start = np.array([value_of(case, name) for name in names])
        self.duration = h * int(np.ceil(given.end / h - 1e-9))
        self.seen, self.runs, self.rough = np.isfinite(given.values), 0, 0
        self.progress = progress

    def tell(self, what: str, done: int, most: int) -> None:
        """Report progress."""
        if self.progress:
            self.progress(f"{what} under {self.formulation.label}", done, most)

    def motion(self, theta: Array) -> tuple[Case, Motion]:
        self.runs += 1
        case = with_values(self.case, dict(zip(self.names, map(float, theta), strict=True)))
        return case, Motion(case, self.formulation, self.h, self.duration)

    def residuals(self, case: Case, motion: Motion) -> Array:
        return self._scaled(self._at(case, motion.states_q, motion.states_v) - self.given.values)

    def _scaled(self, x: Array) -> Array:
        return (x / self.given.sigma)[self.seen]

    def _at(self, case: Case, q: Array, v: Array) -> Array:
        """Outputs (K, m) at the measured times, of states (steps + 1, .)."""
        place = self.given.t / self.h
        k = np.minimum(place.astype(np.int64), len(q) - 2)
        share = (place - k)[:, None]
        before, after = (self._values(case, q[k + i], v[k + i]) for i in (0, 1))
        return (1 - share) * before + share * after

    def _values(self, case: Case, q: Array, v: Array) -> Array:
        return np.array([[_of(one, case, *state) for one in self.outputs] for state in zip(q, v, strict=True)])

    def jacobian(self, case: Case, motion: Motion, names: Sequence[str]) -> Array:
        """dr/dtheta (N, .) by parameters; raises DataError where one has no derivative."""
        moving = [CaseParameter(case, name) for name in names]
        found = tangents_of(motion, moving)
        columns = []
        for j, p in enumerate(moving):
            if found.reasons[j]:
                raise DataError(f"no derivative by {p.name}: {found.reasons[j]}")
            q, v = found.q[:, j], found.v[:, j]
            size = max(float(np.abs(q).max(initial=0.0)), float(np.abs(v).max(initial=0.0)), 1.0 / p.unit)

            def outputs(s: float, p: CaseParameter = p, q: Array = q, v: Array = v) -> list[Array]:
                return [self._at(p.moved(s), motion.states_q + s * q, motion.states_v + s * v)]

            (fourth,), _ = differences(outputs, SHIFT / size)
            columns.append(self._scaled(fourth))
        self.rough = len({k for steps in (*found.kinks, *found.jumps) for k in steps})
        return np.stack(columns, axis=1)


def _of(output: Output, case: Case, q: Array, v: Array) -> float:
    return output.of(case, State(q, v, np.zeros(0), np.zeros(0)))


def fit_parameters(
    case: Case, formulation: Formulation, given: Measurements, names: Sequence[str], h: float,
    progress: ProgressCallback | None = None,
) -> Fit:  # fmt: skip
    """Fit the parameters `names` of a case under a formulation, by steps of h [s], to measurements, beginning from the
    case's own values.

    Raises UnknownNameError for names that the case does not have, DataError for fewer measurements than parameters,
    parameters that the measurements do not determine, and a motion that cannot be made or differentiated at the start.
    """
    model = _Model(case, formulation, given, names, h, progress)
    count = int(model.seen.sum())
    if count < len(names):
        raise DataError(f"{count} measurements; {len(names)} parameters need at least as many")
    place, every = _begin(model, model.start), list(range(len(names)))
    for _ in range(AGAIN):
        place, reason = _descended(model, place, every, MOST_RUNS)
        found, lowest = _found(model, place, reason)
        if lowest.size > (1.0 - LOWER) * place.size:
            break
        place = lowest
    return found


@dataclass(frozen=True, eq=False)
class _Place:
    """Parameters theta (p,), the case and its motion there, and the residuals r (N,)."""

    theta: Array
    case: Case
    motion: Motion
    r: Array

    @property
    def size(self) -> float:
        """|r|^2."""
        return float(self.r @ self.r)


def _begin(model: _Model, theta: Array) -> _Place:
    case, motion = model.motion(theta)
    return _Place(theta, case, motion, model.residuals(case, motion))


def _descended(model: _Model, here: _Place, free: Sequence[int], most: int) -> tuple[_Place, str]:
    """The place to which the method of Levenberg and Marquardt goes in the `free` parameters within so many more runs,
    and the reason why it did not settle."""
    damping, end = DAMPING, model.runs + most
    while True:
        if len(free) == len(model.names):
            model.tell("fitting", model.runs + most - end, most)
        J = model.jacobian(here.case, here.motion, [model.names[j] for j in free])
        _must_determine(J, [model.names[j] for j in free])
        better = False
        while not better and damping < WEAKEST and model.runs < end:
            A, theta = J.T @ J, here.theta.copy()
            step = np.linalg.solve(A + damping * np.diag(np.diag(A)), J.T @ here.r)
            theta[free] -= step
            try:
                there = _begin(model, theta)
            except WorkbenchError:
                damping *= SHORTER
                continue
            gain = here.size - there.size
            if gain >= 0:
                small = np.abs(step).max() <= SETTLED * np.abs(theta).max() or gain <= SETTLED**2 * here.size
                here, better, damping = there, True, damping * LONGER
                if small:
                    return here, ""
            else:
                damping *= SHORTER
        if not better:
            return here, f"{most} runs were not enough" if model.runs >= end else ""


def _must_determine(J: Array, names: Sequence[str]) -> None:
    """Raise DataError where a column of J is zero or depends on others."""
    size = np.linalg.norm(J, axis=0)
    if (size == 0).any():
        raise DataError(f"the measurements do not depend on {names[int(np.argmin(size))]}")
    values = np.linalg.svd(J / size, compute_uv=False)
    if values[-1] < DETERMINED * values[0]:
        raise DataError(f"the measurements do not distinguish {', '.join(names)}")


def _found(model: _Model, place: _Place, reason: str) -> tuple[Fit, _Place]:
    """The fit at a place, and the place of the lowest |r|^2 that is seen when intervals are sought."""
    theta, r = place.theta, place.r
    J = model.jacobian(place.case, place.motion, model.names)
    rough = model.rough
    _must_determine(J, model.names)
    spare, inverse = r.size - theta.size, np.linalg.inv(J.T @ J)
    own, variance = np.sqrt(np.diag(inverse)), place.size / spare if spare else np.nan
    linear = np.array([_is_linear(model, theta, J, r, j) for j in range(theta.size)])
    errors, intervals, lowest = (
        np.where(linear, own * np.sqrt(variance), np.nan),
        np.full((theta.size, 2), np.nan),
        place,
    )
    quantile = float(stats.f.ppf(LEVEL, 1, spare)) if spare else np.nan
    for j in range(theta.size if spare else 0):
        if linear[j]:
            intervals[j] = theta[j] + np.sqrt(quantile) * errors[j] * np.array([-1.0, 1.0])
            continue
        for side, sign in enumerate((-1.0, 1.0)):
            intervals[j, side], seen = _end_of(model, place, j, sign, place.size + quantile * variance)
            lowest = min(lowest, seen, key=lambda x: x.size)
    correlation, residual = inverse / np.outer(own, own), float(np.sqrt(np.mean(r**2)))
    return Fit(tuple(model.names), theta, errors, intervals, correlation, residual, model.runs, rough, reason), lowest


def _end_of(model: _Model, place: _Place, j: int, sign: float, most: float) -> tuple[float, _Place]:
    """The value of parameter j farthest from a place to one side at which |r|^2, minimised over the others, is at most
    `most`, inf if it seems to have no end; and the place of the lowest |r|^2 seen.

    |r|^2 may exceed `most` in between: first a width is found beyond which it does at two in a row, then values between
    are tried. Values that the case refuses are outside.
    """
    others, lowest, last = [k for k in range(place.theta.size) if k != j], place, place
    unit = sign * BESIDE * (abs(place.theta[j]) or 1.0)

    def is_inside(width: float) -> bool:
        nonlocal lowest, last
        # The others begin where they ended last.
        theta = last.theta.copy()
        theta[j] = place.theta[j] + width * unit
        try:
            there = _begin(model, theta)
            if others:
                there, _ = _descended(model, there, others, MOST_BESIDE)
        except WorkbenchError:
            return False
        last, lowest = there, min(lowest, there, key=lambda x: x.size)
        return there.size <= most

    width, outside = 1.0, 0
    while outside < 2:
        if width > WIDEST:
            return sign * np.inf, lowest
        outside = 0 if is_inside(width) else outside + 1
        width *= 2.0
    inside, step = 0.0, width / TRIED
    for k in range(TRIED, 0, -1):
        model.tell(f"95 % interval of {model.names[j]}", TRIED - k, TRIED)
        if is_inside(k * step):
            inside = k * step
            break
    for _ in range(HALVINGS):
        step *= 0.5
        inside += step if is_inside(inside + step) else 0.0
    return float(place.theta[j] + inside * unit), lowest


def _is_linear(model: _Model, theta: Array, J: Array, r: Array, j: int) -> bool:
    """Whether |r|^2 grows beside the end as the linear model says, by a parameter moved by `BESIDE` either way.

    It does not where motions are so rough that their derivatives say nothing of the objective as a whole.
    """
    for share in (BESIDE, -BESIDE):
        shift = np.zeros(theta.size)
        shift[j] = share * (abs(theta[j]) or 1.0)
        try:
            found = model.residuals(*model.motion(theta + shift))
        except WorkbenchError:
            continue
        expected = r + J @ shift
        predicted, actual = (float(x @ x - r @ r) for x in (expected, found))
        if abs(actual - predicted) > ALIKE * max(abs(predicted), float(r @ r) / r.size):
            return False
    return True
