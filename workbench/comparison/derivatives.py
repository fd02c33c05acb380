"""Derivatives of a case's motion under several formulations, beside quotients of runs and the motion's own."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.assemble.find import compiled
from workbench.derivatives.motion import State, differences, motion_derivatives, moved, output_of
from workbench.errors import DataError, WorkbenchError
from workbench.escalation import default_solver
from workbench.events.simulation import simulate_events
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.progress import ProgressCallback
from workbench.step.simulation import simulate

APART = 1e-5
"""Share of a parameter by which runs are apart for difference quotients."""
FOLLOWED = 1e-3
"""The same of event-driven motions, which have more digits."""
THE_MOTION = "the motion"
"""What the row of the event-driven motion is called."""
NONE = np.zeros(0)


def derivatives_of(
    case: Case, formulations: Sequence[Formulation], outputs: Sequence[str], parameters: Sequence[str], h: float,
    duration: float, progress: ProgressCallback | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """A row for each parameter, output, and the motion or a formulation, of which exact friction is the first."""
    for name in outputs:
        output_of(case, name)
    truths = {name: _of_motion(case, outputs, name, duration) for name in parameters}
    found: dict[str, tuple[Array, Any, str]] = {}
    for k, formulation in enumerate(formulations):
        if progress:
            progress(f"derivatives: {formulation.label}", k, len(formulations))
        try:
            values, by = motion_derivatives(case, formulation, outputs, parameters, h, duration)
            found[formulation.label] = values, by, ""
        except DataError as reason:
            found[formulation.label] = np.full(len(outputs), np.nan), None, str(reason)
    rows = []
    for name in parameters:
        value, true, known = truths[name]
        quotients = {f.label: _quotient(case, f, outputs, name, h, duration) for f in formulations}
        first = found[formulations[0].label][1]
        exact = true if np.isfinite(true).all() else (first[name].derivative if first else true)
        for i, output in enumerate(outputs):
            of = {"parameter": name, "output": output}
            if np.isfinite(true[i]):
                rows.append(of | _row(THE_MOTION, value[i], true[i], (true[i], known[i]), 0.0))
            for f in formulations:
                values, by, why = found[f.label]
                one = by[name] if by else None
                derivative = one.derivative[i] if one else np.nan
                quotient, off = (x[i] for x in quotients[f.label])
                error = derivative / exact[i] - 1 if exact[i] else np.nan
                row = _row(f.label, values[i], derivative, (quotient, off), error)
                if one:
                    row |= {"kinks": len(one.kinks), "jumps": len(one.jumps), "switches": one.switches}
                rows.append(of | row | {"reason": one.reason if one else why})
    return rows


def _row(label: str, value: float, derivative: float, quotient: tuple[float, float], error: float) -> dict[str, Any]:
    return {
        "formulation": label, "value": value, "derivative": derivative, "error": error, "quotient": quotient[0],
        "quotient_error": quotient[1], "kinks": 0, "jumps": 0, "switches": 0, "reason": "",
    }  # fmt: skip


def _quotients(of: Callable[[float], Array], shift: float) -> tuple[Array, Array]:
    """The difference quotient of order four of arrays (outputs,), and how far that of order two is from it."""
    (fourth,), (second,) = differences(lambda s: [of(s)], shift)
    return fourth, abs(fourth - second)


def _of_motion(case: Case, outputs: Sequence[str], name: str, duration: float) -> tuple[Array, Array, Array]:
    """Outputs of the event-driven motion, their derivatives, and how well these are known; nan where it is not
    followed to its end."""
    at, unit = moved(case, name)

    def of(s: float) -> Array:
        beside = at(s)
        run = simulate_events(beside, duration)
        if run.reason:
            raise DataError(run.reason)
        end = State(run.end.q, run.end.v, NONE, NONE)
        return np.array([output_of(case, output).of(beside, end) for output in outputs])

    try:
        return of(0.0), *_quotients(of, FOLLOWED * unit)
    except WorkbenchError:
        none = np.full(len(outputs), np.nan)
        return none, none, none


def _quotient(
    case: Case, formulation: Formulation, outputs: Sequence[str], name: str, h: float, duration: float
) -> tuple[Array, Array]:
    """Of whole runs; nan where one of them does not reach the end."""
    at, unit = moved(case, name)
    solver = default_solver(compiled(formulation, *case.size).kind)

    def of(s: float) -> Array:
        beside = at(s)
        run = simulate(beside, formulation, solver, h, duration)
        if run.steps < run.steps_wanted:
            raise DataError(run.reason)
        end = State(run.states_q[-1], run.states_v[-1], NONE, NONE)
        return np.array([output_of(case, output).of(beside, end) for output in outputs])

    try:
        return _quotients(of, APART * unit)
    except WorkbenchError:
        return np.full(len(outputs), np.nan), np.full(len(outputs), np.nan)
