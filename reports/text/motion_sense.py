"""Where the bodies of a comparison come to, beside what single steps say: both senses of being close."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.conclusions import CLEAR, listed
from workbench.comparison.measured import SPAN
from workbench.comparison.motion import Track
from workbench.comparison.result import Comparison

STILL = 1e-6
"""Distances [m] up to which nobody sees a difference."""


class Place(NamedTuple):
    """How far a run's body is from the reference's [m], of several the farthest: at the end, and at most."""

    end: float
    most: float


def places(c: Comparison) -> dict[str, Place]:
    """By label, of the runs at the first step size that come to the end of the motion."""
    if c.motion is None:
        return {}
    found: dict[str, Place] = {}
    for x in c.motion.tracks[1:]:
        apart = _apart(c.motion.tracks[0], x)
        if x.step == c.settings.steps[0] and np.isfinite(apart).all():
            found.setdefault(x.label, Place(float(apart[-1]), float(apart.max())))
    return found


def _apart(a: Track, b: Track) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        apart: np.ndarray = np.linalg.norm(a.position - b.position, axis=-1).max(axis=1)
    return apart


def motion_sense(c: Comparison, rows: pd.DataFrame, best: str, worst: str) -> str:
    """Who is nearest at the end among `rows`, and where the `best` and the `worst` of single steps are then."""
    everywhere = places(c)
    own = everywhere["coulomb"].end if "coulomb" in everywhere else 0.0
    found = {x: everywhere[x] for x in rows["label"] if x in everywhere}
    if c.motion is None or len(found) < 2:
        return ""
    at = f"at {c.motion.t[-1]:.3g} s"
    if max(x.end for x in found.values()) <= max(STILL, CLEAR * own):
        return f"The motion hides it: {at} all are within {_far(max(STILL, CLEAR * own))} of the reference."
    first = min(x.end for x in found.values())
    nearest = [x for x, place in found.items() if place.end <= max(CLEAR * first, first + own)]
    ends = [x for x in (best, worst) if x in found]
    if best in nearest:
        shown, others, verb = [best], [x for x in ends if x not in nearest], "The motion agrees"
    else:
        shown = [worst] if worst in nearest else nearest[:3]
        others, verb = [x for x in ends if x not in shown], "The motion ranks otherwise"
    rest = "".join(f", {x} {_place(found[x])}" for x in others)
    be = "are" if len(shown) > 1 else "is"
    near = f"{listed(shown)} {be} nearest to the reference, {_place(found[shown[0]])}"
    also = _since(rows, shown[0]) if best not in nearest else ""
    return f"{verb}: {at}, of those ranked, {near}{rest}{also}{_path(rows, shown)}."


def _path(rows: pd.DataFrame, shown: list[str]) -> str:
    """Whose path is closest over the window, where another one is near at the end: an end is one moment."""
    if "position_error" not in rows or rows["position_error"].isna().all():
        return ""
    closest = rows.dropna(subset=["position_error"]).sort_values("position_error", kind="stable").iloc[0]
    if closest["label"] in shown:
        return ""
    error = f"{100 * closest['position_error']:.3g} %"
    return f"; over all of the window the path is closest under {closest['label']} ({error})"


def _since(rows: pd.DataFrame, label: str) -> str:
    """Why a body may be near though single steps are not: impulses that are wrong in each may sum to about right."""
    if not {"local_velocity_error", "wrench_error"} <= set(rows):
        return ""
    row = rows[rows["label"] == label].iloc[0]
    if not 2 * row["wrench_error"] < row["local_velocity_error"]:
        return ""
    off = f"{100 * row['wrench_error']:.2g} %"
    return f"; the impulses of {label} over {100 * SPAN:g} % of the window sum to {off} off, less than in single steps"


def at_the_end(c: Comparison, label: str) -> str:
    """Where a run is at the end of the motion; empty where it has none or stops before."""
    place = places(c).get(label)
    return (
        ""
        if c.motion is None or place is None
        else f"; at {c.motion.t[-1]:.3g} s it is {_place(place)} from the reference"
    )


def _place(x: Place) -> str:
    return f"{_far(x.end)}" + (f" (up to {_far(x.most)} before)" if x.most > 2 * x.end else "")


def _far(x: float) -> str:
    return f"{1e3 * x:.3g} mm" if x < 0.9995 else f"{x:.3g} m"
