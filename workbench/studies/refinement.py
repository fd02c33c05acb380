"""Refinement: runs of one case at decreasing steps, and their errors against the event-driven motion, phase by phase.

    smooth        up to the first event
    stick-slip    from there to the first impact: contacts begin and cease to slide, and open
    impacts       from there to the end

An error at any time includes effects of earlier phases. The window is the same for all steps: the first phase ends two
of the largest steps before the event, which a step may reach early. A study measures windows of its case against a
motion sampled at one step, with an error budget that takes four more runs a row; here the motion is read at the ends of
each run's own steps.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.comparison.columns import CASE, RUNS, Column, framed
from workbench.comparison.event_steps import EventMotion, event_motion
from workbench.comparison.failure import failed
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import Metric, evaluate
from workbench.comparison.metrics.motion_errors import position_error, velocity_error
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.step.run import Run
from workbench.step.scheme import Scheme
from workbench.step.simulation import simulate
from workbench.studies.convergence import Bound, Order, error_bound, order
from workbench.support.errors import DataError
from workbench.support.progress import ProgressCallback

SMOOTH, STICK_SLIP, IMPACTS = PHASES = "smooth", "stick-slip", "impacts"
IMPACT = "touches down"
"""Name of impacts among the events of a motion."""
FEWEST = 4
"""Smallest number of steps of a phase at the largest step."""
ERRORS: tuple[Metric, ...] = (position_error, velocity_error)

COLUMNS = (
    Column("case", "", "name of the case", of=CASE),
    Column("label", "", "the formulation with the options that differ from their defaults", of=CASE),
    Column("scheme", "", "scheme of the time step", of=CASE),
    Column("phase", "", "phase of the motion: smooth, stick-slip or impacts, including everything before it", of=CASE),
    Column("error", "", "position_error or velocity_error, as in `runs` of a comparison", of=CASE),
    Column("verdict", "", "vanishes, limit, not, hardly, zero, bounded, unknown", of=CASE),
    Column("order", "1", "order p of C h^p or e_0 + C h^p", "where one is fitted", CASE),
    Column("order_low", "1", "lower end of its 95 % interval", "for three steps or more", CASE),
    Column("order_high", "1", "upper end", "for three steps or more", CASE),
    Column("limit", "1", "e_0, the error as the step goes to zero, which is that of the formulation's law", of=CASE),
    Column("limit_low", "1", "lower end of its 95 % interval", "where there is a limit", CASE),
    Column("limit_high", "1", "upper end", "where there is a limit", CASE),
    Column("bound", "1/s", "least C with e <= C h at all steps", "through impacts, where such a bound exists", CASE),
    Column("last", "1", "the error at the smallest step", of=CASE),
    Column("uncertainty", "1", "uncertainty of the motion: its change with coarser tolerances", of=CASE),
)
"""Columns of the orders: a row per formulation, scheme, phase and error."""


_OF_RUNS = {c.name: c for c in (*RUNS, *(c for m in ERRORS for c in m.columns))}
_OWN = {c.name: c for c in COLUMNS}
ROWS = tuple(
    _OWN.get(name) or _OF_RUNS[name]
    for name in (
        "case", "formulation", "label", "scheme", "solver", "step", "phase", "verified", "reason", "cost",
        "position_error", "position_reference", "velocity_error", "velocity_reference",
    )
)  # fmt: skip
"""Columns of the rows: one per formulation, scheme, step and phase."""


class MotionPhase(NamedTuple):
    """Start and end [s] of a phase of the motion."""

    name: str
    start: float
    end: float

    def steps(self, h: float, count: int) -> np.ndarray:
        """The steps of h [s], of `count`, that lie in the phase."""
        first, last = int(np.ceil(self.start / h - 1e-6)), int(np.floor(self.end / h + 1e-6))
        return np.arange(first, min(last, count))


def phases(known: EventMotion, coarsest: float) -> list[MotionPhase]:
    """Return the phases of a motion that are long enough for steps up to `coarsest` [s]."""
    motion = known.first
    times = [e.t for e in motion.events]
    first = min(times, default=np.inf)
    impact = min((e.t for e in motion.events if e.what == IMPACT), default=np.inf)
    end = motion.duration
    found = (
        MotionPhase(SMOOTH, 0.0, min(end, first - 2 * coarsest)),
        MotionPhase(STICK_SLIP, first, min(end, impact - 2 * coarsest)), MotionPhase(IMPACTS, impact, end),
    )  # fmt: skip
    return [x for x in found if x.end - x.start > FEWEST * coarsest]


def motions(case: Case, exact: Formulation, duration: float | None) -> EventMotion:
    """Return the motion of a case under Coulomb's law for `duration` [s]; raises DataError if it cannot be computed."""
    found = event_motion(case, exact, duration)
    if found.reason:
        run = found.first if found.first.reason else found.second
        beyond = f" beyond {run.end.t:.4g} s; ask for a shorter duration" if run.stretches else ""
        raise DataError(f"{case.name} has no event-driven motion to measure against{beyond}: {run.reason}")
    return found


def refined(
    case: Case, formulations: Sequence[Formulation], schemes: Sequence[Scheme], steps: Sequence[float],
    known: EventMotion, progress: ProgressCallback | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Return a row for each formulation, scheme, step [s] and phase (`ROWS`), with the reason if a run fails.

    Raises DataError if no phase is long enough for these steps.
    """
    windows = phases(known, max(steps))
    if not windows:
        raise DataError(
            f"no phase of the motion lasts {FEWEST} steps of {max(steps):g} s; give smaller steps, or a longer duration"
        )
    variants = [(f, x, h) for f in formulations for x in schemes for h in sorted(steps, reverse=True)]
    rows: list[dict[str, Any]] = []
    for k, (f, scheme, h) in enumerate(variants):
        if progress:
            progress(f"{f.label}, {scheme}, {h:g} s", k, len(variants))
        base = {"case": case.name, "formulation": f.name, "label": f.label, "scheme": str(scheme), "step": h}
        try:
            solver: Solver = default_solver(compiled(f, *case.size).kind)
            run = simulate(case, f, solver, h, known.first.duration, scheme=scheme)
            rows += [base | {"phase": x.name} | _measured(run, x, known) for x in windows]
        except Exception as error:
            rows += [base | {"phase": x.name, "verified": False, "reason": failed(error).reason} for x in windows]
    return framed(rows, ROWS, CASE)


def _measured(run: Run, phase: MotionPhase, known: EventMotion) -> dict[str, Any]:
    """Return the errors of a run in a phase, empty if the run does not reach its end."""
    k = phase.steps(run.h, run.steps_wanted)
    cost = run.solve_time / max(run.steps, 1)
    found: dict[str, Any] = {"solver": run.solver, "cost": cost, "verified": False, "reason": ""}
    if not k.size or k[-1] >= run.steps:
        return found | {"reason": run.reason}
    residual = float(run.residuals[: k[-1] + 1].max())
    if not residual <= run.tolerance:
        return found | {"reason": f"residual {residual:.1e} above {run.tolerance:.0e}"}
    reference, second = known.at(run.h)
    # In the step of an impact the velocity is completely different, so that its RMS decreases only with the root of the
    # step.
    metrics = ERRORS[:1] if phase.name == IMPACTS else ERRORS
    errors = evaluate(metrics, MeasuredRun(run, reference, None, None, k, second, None, None))
    return found | {"verified": True, **errors}


def known(name: str) -> str:
    """Return the column of the motion's uncertainty for an error."""
    return f"{name.removesuffix('_error')}_reference"


def orders(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the orders, limits and bounds of all errors (`COLUMNS`)."""
    found: list[dict[str, Any]] = []
    for (case, label, scheme, phase), own in rows.groupby(["case", "label", "scheme", "phase"], sort=False):
        for name in (m.column.name for m in ERRORS):
            good = own[own["verified"]]
            if name not in good or good[name].isna().all():
                continue
            h, e, off = good["step"].to_numpy(), good[name].to_numpy(), float(good[known(name)].max())
            line = {"case": case, "label": label, "scheme": scheme, "phase": phase, "error": name, "uncertainty": off}
            found.append(
                line | (_bounded(error_bound(h, e)) if phase == IMPACTS else _fitted(order(h, e, np.array([off]))))
            )
    return framed(found, COLUMNS, CASE)


def _fitted(x: Order) -> dict[str, Any]:
    own = {"order": x.p, "order_low": x.p_low, "order_high": x.p_high}
    limit = {"limit": x.limit, "limit_low": x.limit_low, "limit_high": x.limit_high}
    # A limit whose interval reaches zero is within the motion's uncertainty and does not count.
    verdict = "vanishes" if x.falls == "limit" and x.limit_low <= 0 < x.p_low else x.falls
    return {"verdict": verdict, "last": x.last, **own, **limit}


def _bounded(x: Bound) -> dict[str, Any]:
    return {"verdict": x.falls, "last": x.last, "bound": x.C if x.falls == "bounded" else np.nan}
