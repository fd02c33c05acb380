"""Rows of `trajectories`: a run of a scene moment by moment and body by body."""

from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.comparison.motion import MOMENTS
from workbench.comparison.scenes.measured import angles, distances
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track


def curves(scene: Scene, x: Track, beside: Track, until: float, role: str) -> pd.DataFrame:
    """A row per moment, at most 241 of them evenly spread, and body; errors against `beside`, at times that both have.

    The reference's is its run at twice the step: the difference is its own uncertainty. The last moment is the last
    that is compared.
    """
    finer, coarser = sorted((x, beside), key=lambda y: y.h)
    stride = round(coarser.h / finer.h)
    last = min(round(until / coarser.h), len(coarser.q) - 1, (len(finer.q) - 1) // stride)
    k = np.arange(1, last + 1)[:: max(1, ceil(last / (MOMENTS - 1)))]
    rows = {finer.h: k * stride, coarser.h: k}
    own, theirs = rows[x.h], rows[beside.h]
    bodies = len(scene.bodies)
    name = "coulomb" if role == "reference" else x.label

    def flat(values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, bodies)

    position, steps = x.position[own], own - 1
    return pd.DataFrame({
        "scene": scene.name, "formulation": name, "label": name, "role": role, "solver": x.solver, "step": x.h,
        "body": np.tile(scene.bodies, len(k)), "t": flat(own * x.h),
        **{axis: position[..., i].ravel() for i, axis in enumerate("xyz")},
        "gap": x.steps.gap[steps].ravel(), "load": x.steps.load[steps].ravel(), "energy": flat(x.energy[own]),
        "residual": flat(x.residual[steps]), "iterations": flat(x.iterations[steps]),
        "position_error": distances(position, beside.position[theirs]).ravel(),
        "orientation_error": angles(x.orientation[own], beside.orientation[theirs]).ravel(),
        "energy_error": flat(np.abs(x.energy[own] - beside.energy[theirs])),
    })  # fmt: skip
