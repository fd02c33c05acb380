"""Rows of `trajectories`: a run of a case step by step and contact by contact."""

from typing import Any

import numpy as np
import pandas as pd

from workbench.arrays import Array
from workbench.comparison.measured import friction, least, misalignment, modes, uncertainty_factor
from workbench.comparison.once import energies
from workbench.comparison.verdicts import sliding_minor
from workbench.diagnostics.determinacy import determinacy
from workbench.step.run import Run


def curves(run: Run, role: str, minor: Array | None = None, reference: Run | None = None) -> pd.DataFrame:
    """One row per step and contact, t the end of the step; the reference is thinned to every tenth step to keep files
    small.

    `reference` is what a run is held against; the reference itself is held against the second, which says how certain
    it is.
    """
    if not run.steps:
        return pd.DataFrame()
    thin = slice(None, None, 10 if role == "reference" else 1)
    _, _, r, d = run.case.size
    ratio, angle, judged, mode, (impulse, velocity) = (
        friction(run),
        misalignment(run),
        run.judged,
        modes(run),
        least(run),
    )
    record = run.record
    determined = np.ones_like(mode, dtype=bool)
    determined[thin] = determinacy(
        *(x[thin] for x in (record.mass, record.J, record.J_b, record.friction, mode != "open"))
    ).contacts
    energy = energies(run)[1:]
    centre = run.case.centre(run.states_q)[1:]
    frames = []
    for i in range(r):
        columns: dict[str, Any] = {
            "case": run.case.name, "formulation": run.formulation.name, "label": run.formulation.label, "role": role,
            "solver": run.solver,
            "step": run.h, "contact": i, "t": run.t + run.h, "x": centre[:, 0], "y": centre[:, 1], "z": centre[:, 2],
            "gap": run.record.phi[:, i], "mu": run.mu[:, i],
            "p_n": run.p_n[:, i], "u_n": run.u_n[:, i], "normalised_friction": ratio[:, i],
            "misalignment": angle[:, i], "mode": mode[:, i], "determined": determined[:, i],
            "least_impulse": impulse[:, i], "least_velocity": velocity[:, i], "energy": energy,
            "sliding_minor": sliding_minor(run) if minor is None else minor, "residual": run.residuals,
            "natural_map": judged.natural_map, "iterations": run.record.effort[:, 0],
        }  # fmt: skip
        for j in range(d):
            columns[f"p_t{j + 1}"], columns[f"u_t{j + 1}"] = run.p_t[:, i, j], run.u_t[:, i, j]
        if reference is not None:
            k = (np.arange(run.steps) + 1) * round(run.h / reference.h)
            factor = uncertainty_factor(run, reference) if role == "reference" else 1.0
            columns["position_error"] = factor * np.linalg.norm(
                centre - run.case.centre(reference.states_q[k]), axis=-1
            )
            columns["energy_error"] = factor * np.abs(energy - energies(reference)[k])
        frames.append(pd.DataFrame(columns).iloc[thin])
    return pd.concat(frames, ignore_index=True)
