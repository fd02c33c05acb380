"""When which bodies press on each other in a run of a scene, and whether they stick or slide there."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.comparison.timeline import WORLD, intervals, pair_name
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track


def least_load(x: Track, reference: Track) -> float:
    """The normal force [N] above which a pair presses: what is below is rounding.

    An engine, whose answers have no tolerance, takes that of the reference.
    """
    tolerance = x.tolerance if np.isfinite(x.tolerance) else reference.tolerance
    return float(tolerance * np.median(reference.pressing.load)) if reference.pressing.load.size else 0.0


def timeline(scene: Scene, x: Track, reference: Track, until: float, role: str) -> pd.DataFrame:
    """The rows of `TIMELINE` of a run up to a time [s], pair by pair."""
    name = "coulomb" if role == "reference" else x.label
    label = {
        "scene": scene.name, "formulation": name.partition(":")[0] if role == "run" else name, "label": name,
        "role": role, "solver": x.solver, "step": x.h,
    }  # fmt: skip
    code, k, load, slip = _pairs(x, round(until / x.h), len(scene.bodies))
    least = least_load(x, reference)
    pressed = load > least
    code, k, load, slip = code[pressed], k[pressed], load[pressed], slip[pressed]
    at, rows = intervals(code, k, x.h, load, slip, slip > scene.v_th)
    names = np.array([*scene.bodies, WORLD], dtype=object)
    # The number of the world, -1, is that of the last name.
    lower, upper = np.divmod(at, len(names))
    body, other = np.where(lower == 0, upper, lower) - 1, np.where(lower == 0, lower, upper) - 1
    return pd.DataFrame(label | {"body": names[body], "other": names[other], "least_load": least} | rows)


def _pairs(x: Track, steps: int, bodies: int) -> tuple[NDArray[Any], NDArray[Any], Array, Array]:
    """Of every pair and step in which one of its contacts presses: a number of the pair, the step, the load, the slip.

    By pair, then step.
    """
    pressed = x.pressed[:steps]
    count = int(pressed.sum())
    pair, load, slip = x.pressing.pair[:count], x.pressing.load[:count], x.pressing.slip[:count]
    width = max(pressed.size, 1)
    k = np.repeat(np.arange(pressed.size), pressed)
    code = (pair.min(axis=1) + 1) * (bodies + 1) + pair.max(axis=1) + 1
    both, of = np.unique(code * width + k, return_inverse=True)
    total: Any = np.bincount(of, load, both.size)
    code, k = np.divmod(both, width)
    return code, k, total, np.bincount(of, load * slip, both.size) / np.where(total > 0, total, 1.0)


def first_contact(rows: pd.DataFrame) -> tuple[float, list[str]]:
    """When [s] the first contact of a run starts, and between which bodies; infinite where there is none."""
    begin = float(rows["start"].min()) if len(rows) else np.inf
    first = rows[rows["start"] == begin]
    return begin, list(dict.fromkeys(map(pair_name, first["body"], first["other"])))
