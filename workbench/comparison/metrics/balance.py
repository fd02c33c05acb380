"""Metrics of laws that every formulation must obey: balance of momentum, passivity, bilateral constraints."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.kinetic import kinetic
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import metric
from workbench.mechanics.core import Core
from workbench.step.parts import RunOfParts
from workbench.step.run import Run
from workbench.support.arrays import Array


def _pieces(run: Run) -> Sequence[Run]:
    """The run itself, or the parts that it consists of."""
    return run.parts if isinstance(run, RunOfParts) else (run,)


@metric(
    "momentum-error", unit="1",
    meaning="largest imbalance of momentum |M v⁺ − M v − h f − Jᵀ p| over |M v + h f| + |Jᵀ p|, each measured by the "
    "velocity that it causes, in the kinetic norm",
    defined="where something moves or pushes", heading="momentum", shown="small",
)  # fmt: skip
def momentum_error(m: MeasuredRun) -> float:
    return np.nanmax([_unbalanced(piece, m.steps) for piece in _pieces(m.run)])


def _unbalanced(run: Run, k: NDArray[np.int64]) -> float:
    r = run.record
    mass, J = r.mass[k], np.concatenate([r.J[k], r.J_b[k]], axis=1)
    impulse = np.einsum("kij,ki->kj", J, r.p[k])
    free, made = (np.linalg.solve(mass, x[..., None])[..., 0] for x in (r.b[k], impulse))
    size = kinetic(mass, free) + kinetic(mass, made)
    left = kinetic(mass, r.after[k] - free - made)
    return float((left[size > 0] / size[size > 0]).max(initial=0.0)) if (size > 0).any() else np.nan


@metric(
    "energy-gained", unit="J",
    meaning="largest increase of the work of contact impulses on the bodies, beyond that of moving surroundings; "
    "friction and passive contacts only dissipate, and springs of relaxed rows return what they stored",
    heading="gain",
)  # fmt: skip
def energy_gained(m: MeasuredRun) -> float:
    work = np.cumsum(sum(_work(piece)[m.steps] for piece in _pieces(m.run)))
    return float((work - np.minimum.accumulate(np.minimum(work, 0.0))).max(initial=0.0))


def _work(run: Run) -> Array:
    """(K,) [J] work of the contacts' impulses on bodies in each step, as if what they touch stood still.

    It is p . (u + u+)/2 with the velocities of both bodies: a drive's own, r_n and r_t, is what it does beyond that.
    """
    mean = 0.5 * (run.states_v[:-1] + run.record.after)
    driven = np.concatenate([given(run, "r_n", np.arange(run.steps)), run.record.r_t], axis=1)
    return ((np.einsum("kij,kj->ki", run.record.J, mean) + driven) * run.record.p[:, : driven.shape[1]]).sum(axis=1)


@metric(
    "bilateral-error", unit="of g",
    meaning="largest position error |g| of a bilateral constraint, in the unit of its row: m, or rad for angles",
    defined="where there are bilateral constraints", heading="joints", shown="small",
)  # fmt: skip
def bilateral_error(m: MeasuredRun) -> float:
    if not m.case.size[1]:
        return np.nan
    return max(float(np.abs(given(piece, "g", m.steps)).max(initial=0.0)) for piece in _pieces(m.run))


def given(run: Run, name: str, k: NDArray[np.int64]) -> Array:
    """Return an array (k, ...) of the case's mechanics, by name, at the states before these steps."""
    case, found = run.case, list[Array]()
    core, data = Core(case.size, run.h, 0.0, case.v_th), case.data()
    for q, v in zip(run.states_q[k], run.states_v[k], strict=True):
        core.v = v
        case.fill(q.copy(), v.copy(), data, core)
        found.append(getattr(core, name).copy())
    return np.array(found).reshape(len(k), getattr(core, name).size)
