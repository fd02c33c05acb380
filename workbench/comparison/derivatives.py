"""Derivatives of a motion of a case or scene under several formulations, with difference quotients and exact values."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.algorithms.escalation import default_solver
from workbench.comparison.columns import CASE, Column, framed
from workbench.derivatives.differences import differences
from workbench.derivatives.motion import MotionDerivative, State, motion_derivatives, output_of
from workbench.derivatives.parameters import moved, value_of
from workbench.derivatives.scene_run import scene_derivatives, scene_end, scene_output, scene_parameter
from workbench.events.simulation import simulate_events
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.scenes.scene import Scene
from workbench.step.simulation import simulate, whole_steps
from workbench.support.arrays import Array
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.progress import ProgressCallback

APART = 1e-5
"""Share of a parameter by which runs are apart for difference quotients."""
FOLLOWED = 1e-3
"""Relative step of difference quotients of event-driven motions, which are more accurate."""
ROUNDING = 1e-12
"""Change of an output, per unit of a parameter and relative to its value or 1, that is rounding."""
EVENT_DRIVEN = "event-driven motion"
"""Name of the row of the event-driven motion."""
COLUMNS = (
    Column("parameter", "", "parameter of the case", of=CASE),
    Column("output", "", "quantity at the end of the motion: x, y, z [m], energy [J], q[i], v[i]", of=CASE),
    Column("formulation", "", "the formulation with its options, or the event-driven motion", of=CASE),
    Column("value", "", "value of the output, in its unit", of=CASE),
    Column("derivative", "", "derivative of the output by the parameter, in their units", "where there is one", CASE),
    Column("error", "1", "error of the derivative relative to the motion, else to exact Coulomb friction with the same "
           "steps", "where that is not zero", CASE),
    Column("quotient", "", "difference quotient of whole runs, of order four", "where all runs reach the end", CASE),
    Column("quotient_error", "", "difference from the quotient of order two", "where there is a quotient", CASE),
    Column("kinks", "1", "steps that have one-sided derivatives only", of=CASE),
    Column("jumps", "1", "steps whose data jump between the points of the difference quotient, or are noisy", of=CASE),
    Column("switches", "1", "changes of a row's or contact's mode from one step to the next", of=CASE),
    Column("events", "1", "contacts of a scene that came or went from one step to the next", of=CASE),
    Column("reason", "", "why there is no derivative", of=CASE),
)  # fmt: skip
"""Columns of the derivatives: a row per parameter, output and formulation."""


SAMPLES, REACH = 21, 0.2
"""Number of sampled values of a parameter, and their largest distance from its own value, as a share of it."""
SAMPLED = (
    Column("parameter", "", "parameter of the case", of=CASE),
    Column("at", "", "value of the parameter, in its unit", of=CASE),
    *(c for c in COLUMNS if c.name in ("output", "formulation", "value", "derivative", "kinks", "jumps", "reason")),
)
"""Columns of the samples: a row per parameter, its value, output and formulation."""


def samples_of(
    case: Case, formulations: Sequence[Formulation], outputs: Sequence[str], parameters: Sequence[str], h: float,
    duration: float, progress: ProgressCallback | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Outputs and their derivatives at values around each parameter's own (`SAMPLED`), first those of the motion, which
    has no derivatives here. Values that the case refuses are left out; a run that ends early has its reason."""
    shares, rows = np.linspace(-REACH, REACH, SAMPLES), []
    for name in parameters:
        at, unit = moved(case, name)
        for k, share in enumerate(shares):
            if progress:
                progress(f"outputs over {name}", k, len(shares))
            try:
                beside = at(share * unit)
            except DataError:
                continue
            of = {"parameter": name, "at": value_of(case, name) + share * unit}
            run = simulate_events(beside, duration)
            values = _at(beside, outputs, run.end.q, run.end.v) if not run.reason else np.full(len(outputs), np.nan)
            rows += [
                of | {"output": output, "formulation": EVENT_DRIVEN, "value": value, "derivative": np.nan, "kinks": 0,
                      "jumps": 0, "reason": run.reason} for output, value in zip(outputs, values, strict=True)
            ]  # fmt: skip
            for f in formulations:
                rows += [of | row for row in _sample(beside, f, outputs, name, h, duration)]
    return framed(rows, SAMPLED, CASE)


def _sample(
    case: Case, formulation: Formulation, outputs: Sequence[str], name: str, h: float, duration: float
) -> list[dict[str, Any]]:
    try:
        values, by = motion_derivatives(case, formulation, outputs, [name], h, duration)
        one = by[name]
        derivatives, why = one.derivative, one.reason
        steps = {"kinks": len(one.kinks), "jumps": len(one.jumps)}
    except DataError as reason:
        values = derivatives = np.full(len(outputs), np.nan)
        why, steps = str(reason), {"kinks": 0, "jumps": 0}
    return [
        {"output": output, "formulation": formulation.label, "value": values[i], "derivative": derivatives[i],
         "reason": why, **steps} for i, output in enumerate(outputs)
    ]  # fmt: skip


def derivatives_of(
    case: Case, formulations: Sequence[Formulation], outputs: Sequence[str], parameters: Sequence[str], h: float,
    duration: float, progress: ProgressCallback | None = None,
) -> pd.DataFrame:  # fmt: skip
    """A row (`COLUMNS`) for each parameter, output, and motion or formulation, first of exact Coulomb friction."""
    for name in outputs:
        output_of(case, name)
    truths = {name: _of_motion(case, tuple(outputs), name, duration) for name in parameters}

    def derive(f: Formulation) -> tuple[Array, dict[str, MotionDerivative]]:
        return motion_derivatives(case, f, outputs, parameters, h, duration)

    return _table(
        formulations, outputs, truths, derive, lambda f, name: _quotient(case, f, outputs, name, h, duration), progress
    )


def derivatives_of_scene(
    scene: Scene, formulations: Sequence[Formulation], outputs: Sequence[str], parameters: Sequence[str], h: float,
    duration: float, progress: ProgressCallback | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The same for a run of a scene, whose exact motion is not known."""
    steps, none = whole_steps(duration, h), np.full(len(outputs), np.nan)
    wanted, moving = [scene_output(scene, x) for x in outputs], {x: scene_parameter(scene, x) for x in parameters}

    def derive(f: Formulation) -> tuple[Array, dict[str, MotionDerivative]]:
        return scene_derivatives(scene, f, outputs, parameters, h, steps, progress)

    def quotient(f: Formulation, name: str) -> tuple[Array, Array]:
        p = moving[name]

        def of(s: float) -> Array:
            end = scene_end(scene, f, h, steps, p, s)
            return np.array([one(p.moved(s), *end) for one in wanted])

        return _quotients(of, APART * p.unit)

    truths = {x: ExactOutputs(p.unit, none, none, none) for x, p in moving.items()}
    return _table(formulations, outputs, truths, derive, quotient, progress)


class ExactOutputs(NamedTuple):
    """Outputs of the exact motion, their derivatives by a parameter of this unit, and how well these are known; nan
    where the motion is not known to its end."""

    unit: float
    value: Array
    derivative: Array
    error: Array


def _table(
    formulations: Sequence[Formulation], outputs: Sequence[str], truths: dict[str, "ExactOutputs"],
    derive: Callable[[Formulation], tuple[Array, dict[str, MotionDerivative]]],
    quotient: Callable[[Formulation, str], tuple[Array, Array]], progress: ProgressCallback | None,
) -> pd.DataFrame:  # fmt: skip
    """Return the rows, for parameters with what is known of the exact motion."""
    found: dict[str, tuple[Array, Any, str]] = {}
    for k, formulation in enumerate(formulations):
        if progress:
            progress(f"derivatives: {formulation.label}", k, len(formulations))
        try:
            found[formulation.label] = *derive(formulation), ""
        except DataError as reason:
            found[formulation.label] = np.full(len(outputs), np.nan), None, str(reason)
    rows: list[dict[str, Any]] = []
    for name, (unit, value, true, known) in truths.items():
        quotients = {f.label: _known(quotient, f, name, len(outputs)) for f in formulations}
        true = _nonzero(true, value, unit)
        own = {label: _nonzero(by[name].derivative, v, unit) for label, (v, by, _) in found.items() if by}
        exact = true if np.isfinite(true).all() else own.get(formulations[0].label, true)
        for i, output in enumerate(outputs):
            of = {"parameter": name, "output": output}
            if np.isfinite(true[i]):
                rows.append(of | _row(EVENT_DRIVEN, value[i], true[i], (true[i], known[i]), 0.0))
            for f in formulations:
                values, by, why = found[f.label]
                one = by[name] if by else None
                derivative = own[f.label][i] if one else np.nan
                by_runs, off = (x[i] for x in quotients[f.label])
                error = derivative / exact[i] - 1 if exact[i] else np.nan
                row = _row(f.label, values[i], derivative, (by_runs, off), error)
                if one:
                    counts = {"kinks": len(one.kinks), "jumps": len(one.jumps)}
                    row |= {**counts, "switches": one.switches, "events": one.events}
                rows.append(of | row | {"reason": one.reason if one else why})
    return framed(rows, COLUMNS, CASE)


def _known(
    quotient: Callable[[Formulation, str], tuple[Array, Array]], formulation: Formulation, name: str, count: int
) -> tuple[Array, Array]:
    """The difference quotients (count,), nan where a run does not reach the end."""
    try:
        return quotient(formulation, name)
    except WorkbenchError:
        return np.full(count, np.nan), np.full(count, np.nan)


def _at(case: Case, outputs: Sequence[str], q: Array, v: Array) -> Array:
    """The outputs (outputs,) of a state."""
    state = State(q, v, np.zeros(0), np.zeros(0))
    return np.array([output_of(case, name).of(case, state) for name in outputs])


def _nonzero(derivatives: Array, values: Array, unit: float) -> Array:
    """Derivatives of outputs with these values by a parameter of this unit, 0 where they are rounding of these."""
    return np.where(np.abs(derivatives) <= ROUNDING * (1.0 + np.abs(values)) / unit, 0.0, derivatives)


def _row(label: str, value: float, derivative: float, quotient: tuple[float, float], error: float) -> dict[str, Any]:
    return {
        "formulation": label, "value": value, "derivative": derivative, "error": error, "quotient": quotient[0],
        "quotient_error": quotient[1], "kinks": 0, "jumps": 0, "switches": 0, "events": 0, "reason": "",
    }  # fmt: skip


def _quotients(of: Callable[[float], Array], shift: float) -> tuple[Array, Array]:
    """Return the fourth-order difference quotient of arrays (outputs,) and its distance from the second-order one."""
    (fourth,), (second,) = differences(lambda s: [of(s)], shift)
    return fourth, abs(fourth - second)


@lru_cache(maxsize=16)
def _of_motion(case: Case, outputs: tuple[str, ...], name: str, duration: float) -> ExactOutputs:
    """Return what the event-driven motion says."""
    at, unit = moved(case, name)

    def of(s: float) -> Array:
        beside = at(s)
        run = simulate_events(beside, duration)
        if run.reason:
            raise DataError(run.reason)
        return _at(beside, outputs, run.end.q, run.end.v)

    try:
        return ExactOutputs(unit, of(0.0), *_quotients(of, FOLLOWED * unit))
    except WorkbenchError:
        none = np.full(len(outputs), np.nan)
        return ExactOutputs(unit, none, none, none)


def _quotient(
    case: Case, formulation: Formulation, outputs: Sequence[str], name: str, h: float, duration: float
) -> tuple[Array, Array]:
    """Return the difference quotient of whole runs and its error; raises DataError where one does not reach the end."""
    at, unit = moved(case, name)
    solver = default_solver(compiled(formulation, *case.size).kind)

    def of(s: float) -> Array:
        beside = at(s)
        run = simulate(beside, formulation, solver, h, duration)
        if run.steps < run.steps_wanted:
            raise DataError(run.reason)
        return _at(beside, outputs, run.states_q[-1], run.states_v[-1])

    return _quotients(of, APART * unit)
