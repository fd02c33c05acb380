"""Parameters of a case from measured outputs of its motion: Gauss-Newton over the derivatives of the motion by steps.

The residuals of a motion y(t; theta) under a formulation from measurements y_k at
times t_k are r = (y - y_k) / sigma, and

    theta <- theta - (J^T J + lambda D)^-1 J^T r,     J = dr/dtheta,     D = diag(J^T J)

with lambda by Levenberg and Marquardt: a step that does not reduce |r|^2, or that the case refuses, is tried again
shorter. Between two steps motions and derivatives are interpolated linearly. Standard errors are those of the linear
model at the end, sigma^2 (J^T J)^-1; where steps have kinks or their data jump they say what holds on one side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

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
MOST_RUNS = 60
"""Motions that are run, with derivatives or without, before a fit is given up."""
DAMPING, SHORTER, LONGER, WEAKEST = 1e-3, 10.0, 0.1, 1e12
"""The first lambda, its factors after a failed and a successful step, and the largest that is tried."""
BESIDE, ALIKE = 1e-3, 0.5
"""Share of a parameter by which it is moved to try the linear model, and the relative error of the growth of |r|^2, or
of one residual's share of it, up to which that holds."""
DETERMINED = 1e-10
"""Singular values of J in units of its columns, relative to the largest, below which parameters are not determined."""
LARGEST = 1e150
"""The largest measurement."""


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
    """Those of a frame with a column t [s] and a column for each output; all outputs weigh by their own spread.

    Raises DataError where there is no t, no output, times that do not rise from 0 or later, or no number.
    """
    if "t" not in frame or len(frame.columns) < 2:
        there = ", ".join(repr(str(x).strip()[:40]) for x in frame.columns[:20]) or "none"
        raise DataError(f"the measurements have the columns {there}; t and one output at least are needed")
    try:
        # What has an imaginary part would lose it without a word.
        numbers = frame.to_numpy().astype(float, casting="safe" if np.iscomplexobj(frame.to_numpy()) else "unsafe")
    except (TypeError, ValueError):
        raise DataError("an entry of the measurements is no number") from None
    t = numbers[:, frame.columns.get_loc("t")]
    if not (len(t) > 1 and np.isfinite(t).all() and t[0] >= 0 and (np.diff(t) > 0).all()):
        raise DataError("times t are needed that rise, from 0 or later, two at least")
    names = tuple(str(c) for c in frame.columns if c != "t")
    values = np.delete(numbers, frame.columns.get_loc("t"), axis=1)
    sizes = np.abs(values[~np.isnan(values)])
    # The squares of larger ones overflow.
    if not sizes.size or sizes.max() > LARGEST:
        raise DataError(f"measurements are beyond {LARGEST:g}, infinite, or all missing")
    spread = np.array([np.nanstd(x) if np.isfinite(x).any() else 1.0 for x in values.T])
    return Measurements(t, names, values, np.where(spread > 0, spread, 1.0))


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit came to: `values` (p,) of the parameters `names`, their standard `errors` (p,), their `correlation`
    (p, p), the root mean square `residual` relative to sigma, runs of the motion that were made, steps at the end with
    kinks or data that jump, and `reason` where the fit did not settle. Where the linear model does not hold beside the
    end, a standard error is nan."""

    names: tuple[str, ...]
    values: Array
    errors: Array
    correlation: Array
    residual: float
    runs: int
    rough_steps: int
    reason: str = ""


class _Model:
    """Residuals and their derivatives over the parameters."""

    def __init__(self, case: Case, formulation: Formulation, given: Measurements, names: Sequence[str], h: float):
        self.case, self.formulation, self.given, self.names, self.h = case, formulation, given, names, h
        self.outputs = [output_of(case, name) for name in given.names]
        self.start = np.array([value_of(case, name) for name in names])
        self.duration = h * int(np.ceil(given.end / h - 1e-9))
        self.seen, self.runs, self.rough = np.isfinite(given.values), 0, 0

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

    def jacobian(self, case: Case, motion: Motion, progress: ProgressCallback | None) -> Array:
        """dr/dtheta (N, p); raises DataError where a parameter has no derivative."""
        moving = [CaseParameter(case, name) for name in self.names]
        found = tangents_of(motion, moving, progress)
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
    model = _Model(case, formulation, given, names, h)
    count = int(model.seen.sum())
    if count < len(names):
        raise DataError(f"{count} measurements; {len(names)} parameters need at least as many")
    theta, damping, reason = model.start, DAMPING, ""
    here, motion = model.motion(theta)
    r = model.residuals(here, motion)
    while True:
        if progress:
            progress(f"fitting {formulation.label}", model.runs, MOST_RUNS)
        J = model.jacobian(here, motion, None)
        _must_determine(J, names)
        better = False
        while not better and damping < WEAKEST and model.runs < MOST_RUNS:
            A = J.T @ J
            step = np.linalg.solve(A + damping * np.diag(np.diag(A)), J.T @ r)
            try:
                beside, other = model.motion(theta - step)
                found = model.residuals(beside, other)
            except WorkbenchError:
                damping *= SHORTER
                continue
            gain = float(r @ r - found @ found)
            if gain >= 0:
                small = np.abs(step).max() <= SETTLED * np.abs(theta).max() or gain <= SETTLED**2 * float(r @ r)
                theta, here, motion, r, better, damping = theta - step, beside, other, found, True, damping * LONGER
                if small:
                    return _found(model, theta, here, motion, r, "")
            else:
                damping *= SHORTER
        if not better:
            if model.runs >= MOST_RUNS:
                reason = f"{MOST_RUNS} runs were not enough"
            return _found(model, theta, here, motion, r, reason)


def _must_determine(J: Array, names: Sequence[str]) -> None:
    """Raise DataError where a column of J is zero or depends on others."""
    size = np.linalg.norm(J, axis=0)
    if (size == 0).any():
        raise DataError(f"the measurements do not depend on {names[int(np.argmin(size))]}")
    values = np.linalg.svd(J / size, compute_uv=False)
    if values[-1] < DETERMINED * values[0]:
        raise DataError(f"the measurements do not distinguish {', '.join(names)}")


def _found(model: _Model, theta: Array, case: Case, motion: Motion, r: Array, reason: str) -> Fit:
    J = model.jacobian(case, motion, None)
    _must_determine(J, model.names)
    spare, inverse = r.size - theta.size, np.linalg.inv(J.T @ J)
    own = np.sqrt(np.diag(inverse))
    linear = np.array([_is_linear(model, theta, J, r, j) for j in range(theta.size)])
    errors = np.where(linear, own * (np.sqrt(float(r @ r) / spare) if spare else np.nan), np.nan)
    return Fit(
        tuple(model.names), theta, errors, inverse / np.outer(own, own), float(np.sqrt(np.mean(r**2))), model.runs,
        model.rough, reason,
    )  # fmt: skip


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
