"""Rows of `trajectories`: a run step by step, of a case contact by contact, of a scene body by body."""

from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.comparison.columns import OPEN
from workbench.comparison.measured import angles, distances, friction, least, misalignment, modes, uncertainty_factor
from workbench.comparison.motion import MOMENTS
from workbench.comparison.once import energies
from workbench.comparison.verdicts import sliding_minor
from workbench.diagnostics.determinacy import determinacy
from workbench.mechanics.case import Case
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.step.run import Run
from workbench.support.arrays import Array

EVERY = 10
"""Stride of the steps kept of a case's reference, which is long."""


def curves(
    named: dict[str, Any], run: Run | Track, beside: Run | Track | None, what: Case | Scene, until: float
) -> pd.DataFrame:
    """A row per moment up to a time [s] and contact or body, t the end of the step; errors against `beside`, if given,
    at times that both have. `named` is what all rows begin with (`rows.of_run`).

    Moments are all steps of a case, and at most 241 of a scene, evenly spread. The reference is held against the
    second, which says how certain it is.
    """
    finer, coarser = sorted((run, beside or run), key=lambda x: x.h)
    stride = round(coarser.h / finer.h)
    last = min(round(until / coarser.h), coarser.steps, finer.steps // stride)
    if isinstance(run, Track):
        every = ceil(last / (MOMENTS - 1))
    else:
        every = EVERY if named["role"] == "reference" else 1
    k = np.arange(1, last + 1)[:: max(1, every)]
    if not k.size:
        return pd.DataFrame()
    rows = {finer.h: k * stride, coarser.h: k}
    own = rows[run.h]
    steps, (position, energy) = own - 1, (x[own] for x in _states(run))
    columns: dict[str, Any] = {
        "t": own * run.h, **{axis: position[..., i] for i, axis in enumerate("xyz")}, "energy": energy,
        "residual": run.residuals[steps], "iterations": run.iterations[steps],
    }  # fmt: skip
    if beside is not None:
        theirs = rows[beside.h]
        there, its_energy = (x[theirs] for x in _states(beside))
        factor = uncertainty_factor(run, beside) if named["role"] == "reference" else 1.0
        columns |= {
            "position_error": factor * distances(position, there),
            "energy_error": factor * np.abs(energy - its_energy),
        }  # fmt: skip
        if isinstance(run, Track) and isinstance(beside, Track):
            columns["orientation_error"] = angles(run.orientation[own], beside.orientation[theirs])
    columns |= _of_bodies(run, steps, what) if isinstance(run, Track) else _of_contacts(run, steps)
    wide = max(x.shape[1] for x in columns.values() if x.ndim == 2)
    # A scene moment by moment, a case contact by contact.
    order: Any = "C" if isinstance(run, Track) else "F"

    def flat(x: NDArray[Any]) -> NDArray[Any]:
        return np.broadcast_to(x.reshape(len(k), -1), (len(k), wide)).ravel(order)

    return pd.DataFrame(named | {name: flat(x) for name, x in columns.items()})


def _states(run: Run | Track) -> tuple[Array, Array]:
    """Positions (K + 1, B, 3) [m] of a scene's bodies, or of the centre of mass of a case; energies (K + 1,) [J]."""
    if isinstance(run, Track):
        return run.position, run.energy
    return run.case.centre(run.states_q)[:, None], energies(run)


def _of_bodies(run: Track, steps: NDArray[np.int64], what: Case | Scene) -> dict[str, NDArray[Any]]:
    """Return the columns of single bodies (k, B) in these steps."""
    assert isinstance(what, Scene)
    gap, load = run.touched.gap[steps], run.touched.load[steps]
    return {"body": np.broadcast_to(np.array(what.bodies, dtype=object), gap.shape), "gap": gap, "load": load}


def _of_contacts(run: Run, steps: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of single contacts (k, r) in these steps, and each step's residuals of Coulomb's law (k,)."""
    record, mode, (impulse, velocity) = run.record, modes(run), least(run)
    found = determinacy(*(x[steps] for x in (record.mass, record.J, record.J_b, record.friction, mode != OPEN)))
    columns = {
        "gap": record.phi, "mu": run.mu, "p_n": run.p_n, "u_n": run.u_n, "normalised_friction": friction(run),
        "misalignment": misalignment(run), "mode": mode, "least_impulse": impulse, "least_velocity": velocity,
        "sliding_minor": sliding_minor(run), "natural_map": run.judged.natural_map,
        **{f"p_t{j + 1}": run.p_t[..., j] for j in range(run.case.size[3])},
        **{f"u_t{j + 1}": run.u_t[..., j] for j in range(run.case.size[3])},
    }  # fmt: skip
    contact = np.broadcast_to(np.arange(run.case.size[2]), mode[steps].shape)
    return {name: x[steps] for name, x in columns.items()} | {"contact": contact, "determined": found.contacts}
