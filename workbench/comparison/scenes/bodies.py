"""Measures of every body of a scene; a row of `runs` has the largest value over the bodies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.comparison.columns import LABELS, SCENE, Column
from workbench.comparison.measured import angles, distances
from workbench.comparison.metric import Metric, distance, metric
from workbench.comparison.scenes.measured import MeasuredScene
from workbench.scenes.track import Track
from workbench.support.arrays import Array


@dataclass(frozen=True)
class OfBody:
    """A number for every body (B,) of a run, NaN where it is not defined; of a distance, for any two runs."""

    column: Column
    function: Callable[..., Array]

    def of_worst(self) -> Metric:
        """The metric that is the largest of all bodies."""
        c = self.column
        name = f"body-{c.name.replace('_', '-')}"
        facts = {
            "unit": c.unit, "meaning": f"{c.meaning}; largest value of all bodies", "defined": c.defined,
            "heading": c.heading, "shown": c.shown,
        }  # fmt: skip
        if c.name.endswith("_error"):

            def apart(m: MeasuredScene, a: Track, b: Track) -> float:
                return worst(self.function(m, a, b))

            return distance(name, **facts)(apart)

        def of_one(m: MeasuredScene) -> float:
            return worst(self.function(m))

        return metric(name, **facts)(of_one)


def worst(values: Array) -> float:
    """The largest of the bodies that have a value; NaN where none has."""
    return float(np.nanmax(values)) if np.isfinite(values).any() else np.nan


def of_body(name: str, unit: str, heading: str, shown: str, meaning: str, defined: str = "") -> Any:
    """Make an OfBody of a function (m) or (m, a, b) -> (B,)."""
    return lambda function: OfBody(Column(name, unit, meaning, defined, SCENE, heading, shown), function)


@of_body(
    "position_error", "m", "position", "millimetres",
    "mean distance of the centre of mass from the reference's over the time compared",
)  # fmt: skip
def position_error(m: MeasuredScene, a: Track, b: Track) -> Array:
    return distances(a.position[m.ends(a)], b.position[m.ends(b)]).mean(axis=0)


@of_body(
    "orientation_error", "rad", "turn", "radians",
    "mean angle between the orientation and the reference's over the time compared",
)  # fmt: skip
def orientation_error(m: MeasuredScene, a: Track, b: Track) -> Array:
    return angles(a.orientation[m.ends(a)], b.orientation[m.ends(b)]).mean(axis=0)


@of_body(
    "force_error", "N", "force", "number",
    "mean distance of the net contact force from the reference's, both averaged over every twentieth of the time",
)  # fmt: skip
def force_error(m: MeasuredScene, a: Track, b: Track) -> Array:
    return distances(m.smooth(a, "wrench")[..., :3], m.smooth(b, "wrench")[..., :3]).mean(axis=0)


@of_body(
    "moment_error", "N m", "moment", "number",
    "the same for the moment of all contact forces about the body's centre of mass",
)  # fmt: skip
def moment_error(m: MeasuredScene, a: Track, b: Track) -> Array:
    return distances(m.smooth(a, "wrench")[..., 3:], m.smooth(b, "wrench")[..., 3:]).mean(axis=0)


@of_body(
    "creep", "m/s", "creep", "number",
    "median sliding speed of the body on what it touches, over the steps in which it sticks in the reference",
    "where there is such a step in which it touches in the run too",
)  # fmt: skip
def creep(m: MeasuredScene) -> Array:
    sticks = m.sticking & (m.run.touched.load[m.steps] > 0)
    slip = np.where(sticks, m.run.touched.slip[m.steps], np.nan)
    return np.array([np.median(x[np.isfinite(x)]) if np.isfinite(x).any() else np.nan for x in slip.T])


@of_body(
    "drift", "m", "drift", "millimetres",
    "displacement of the body along what it touches in the steps in which it sticks there in the reference, such as "
    "the drift of an object out of a grasp", "where there is such a step",
)  # fmt: skip
def drift(m: MeasuredScene) -> Array:
    moved = m.run.h * np.where(m.sticking[..., None], m.run.touched.slide[m.steps], 0.0).sum(axis=0)
    return np.where(m.sticking.any(axis=0), np.linalg.norm(moved, axis=-1), np.nan)


@of_body("slip", "m", "slip", "millimetres", "distance that the body slides on other bodies")
def slip(m: MeasuredScene) -> Array:
    return m.run.h * m.run.touched.slip[m.steps].sum(axis=0)


@of_body(
    "lift", "m", "lift", "millimetres",
    "largest excess of the gap below the body over the reference's at that time, while a contact carries it there",
    "where contacts are detected before they close",
)  # fmt: skip
def lift(m: MeasuredScene) -> Array:
    beyond = m.run.touched.gap[m.steps] - np.maximum(np.nan_to_num(m.mean(m.reference, "gap")), 0.0)
    return _largest(np.where(m.carried, beyond, np.nan))


@of_body("penetration", "m", "depth", "millimetres", "largest penetration depth of a contact of the body")
def penetration(m: MeasuredScene) -> Array:
    return _largest(-m.run.touched.gap[m.steps])


def _largest(x: Array) -> Array:
    """Return the largest of x (k, B) for each body (B,), at least 0; NaN without a value."""
    return np.where(np.isfinite(x).any(axis=0), np.max(np.where(np.isfinite(x), x, 0.0), axis=0, initial=0.0), np.nan)


ERRORS = (position_error, orientation_error, force_error, moment_error)
SYMPTOMS = (creep, drift, slip, lift, penetration)
GROWTH = Column(
    "growth", "1",
    "largest growth of an initial displacement of 1e-7 m over the time compared", "",
    SCENE, "growth",
)  # fmt: skip
BODIES = (
    *(x for x in LABELS if x.of >= SCENE), Column("solver", "", "name of the solver", of=SCENE),
    Column("step", "s", "step size", of=SCENE),
    Column("body", "", "name of the body", of=SCENE),
    *(x.column for x in (*ERRORS, *SYMPTOMS)), GROWTH,
)  # fmt: skip
"""Columns of `bodies`: a row per run and body."""


def rows_by_body(m: MeasuredScene) -> dict[str, Array]:
    """Return the columns `BODIES` of every body (B,) of a run, except growth, which belongs to the reference."""
    return {x.column.name: x.function(m, m.run, m.reference) for x in ERRORS} | {
        x.column.name: x.function(m) for x in SYMPTOMS
    }
