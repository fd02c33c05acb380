"""Dependence of the solution on the yaw of the scene, which isotropic friction excludes."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms.escalation import default_solver
from workbench.comparison.kinetic import kick, kinetic
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import metric
from workbench.step.local_steps import LocalSteps, local_steps
from workbench.step.parts import RunOfParts
from workbench.step.run import Run
from workbench.support.arrays import Array, evenly

ANGLES = np.radians(np.arange(8) * 11.25)
"""Yaws of the scene; polygons of four or eight directions repeat after a right angle."""
STATES = 3
"""Sampled steps of a window."""


class Turned:
    """A case with all tangent axes turned by an angle, which is the scene after a yaw as a formulation sees it."""

    is_compiled = False
    """False: its `fill` is not compiled, even if that of the case is."""

    def __init__(self, case: Any, angle: float) -> None:
        self.case, self.c, self.s = case, np.cos(angle), np.sin(angle)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.case, name)

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        self.case.fill(q, v, data, core)
        for rows in (core.J_t, core.r_t, core.heading):
            self.turn(rows.reshape(len(core.mu), 2, -1))

    def turn(self, x: Array) -> None:
        """Components (..., 2, n) along the case's axes become those along the turned ones."""
        along, across = x[..., 0, :].copy(), x[..., 1, :].copy()
        x[..., 0, :], x[..., 1, :] = self.c * along + self.s * across, self.c * across - self.s * along


def turned(run: Run, angle: float, k: NDArray[np.int64]) -> Run:
    """Some steps of a run in turned axes, as a run."""
    if isinstance(run, RunOfParts):
        parts = tuple(turned(part, angle, k) for part in run.parts)
        return replace(run, parts=parts, record=parts[0].record)
    case: Any = Turned(run.case, angle)
    record = run.record._replace(**{name: x[k] for name, x in run.record._asdict().items()})
    record = record._replace(q=np.append(record.q, record.q[-1:], axis=0), v=np.append(record.v, record.v[-1:], axis=0))
    r = run.case.size[2]
    # Picked rows are a copy.
    case.turn(record.p[:, r : 3 * r].reshape(len(k), r, 2, 1))
    return replace(run, case=case, record=record)


@metric(
    "yaw-spread", unit="1",
    meaning="change of a step by a yaw of the scene: RMS over sampled steps from exact Coulomb's states of the largest "
    "|v_ψ − v|_M, ψ up to 90°, over the RMS of |M⁻¹ Jᵀ p*|_M, the velocity change by contacts",
    defined="in space, where a contact acts and the formulation has an answer to every step", heading="yaw",
    shown="percent",
)  # fmt: skip
def yaw_spread(m: MeasuredRun) -> float:
    if m.local is None or m.case.size[3] != 2:
        return np.nan
    k = np.maximum(evenly(m.steps, STATES), 1)
    base = m.local.base
    if base.steps < 2:
        return np.nan
    mass, J_b = base.record.mass[k], base.record.J_b[k]
    v = [after_yaw(m.local, angle, k) for angle in ANGLES]
    changes = [kinetic(mass, x - v[0]) for x in v[1:]]
    size = np.linalg.norm(kinetic(mass, kick(mass, J_b, base.contact_impulse[k])))
    return float(np.linalg.norm(np.max(changes, axis=0)) / size) if size > 0 else np.nan


def after_yaw(local: LocalSteps, angle: float, k: NDArray[np.int64]) -> Array:
    """Velocities (., n) after the local steps k >= 1 in turned axes."""
    # Each with the step before it, which formulations may remember.
    base = turned(local.base, angle, np.stack([k - 1, k], axis=1).ravel())
    seconds = np.arange(1, 2 * k.size, 2)
    found = local_steps(base, local.formulation, default_solver(local.kind), seconds, local.relaxation)
    return found.v_after
