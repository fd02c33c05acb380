"""Figures of a comparison of a scene: errors over time, and the time at which the comparison stops."""

import pandas as pd

from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.figures.ranges import SMALLEST, range_of
from workbench.builtin.reports.figures.ranking import ranking_figure
from workbench.builtin.reports.figures.timeline import timeline_figure
from workbench.comparison.result import Comparison, by_first_solver

PANELS = ("body_position_error", "body_orientation_error", "body_force_error", "one_step_error")
"""Errors that have a panel each."""
LEAST = 1e-9
"""Errors below this, in SI units, are round-off, and said to be 0."""
WIDTH, ROW = 760, 20
"""Width of all panels together, and height of a row [px]."""
UNCERTAIN = "uncertainty of the reference"


def figures_of_scene(c: Comparison) -> list[Figure]:
    """All figures, in the order of the page."""
    return [*ranking_figure(c), *timeline_figure(c), *_over_time(c)]


def _over_time(c: Comparison) -> list[Figure]:
    """The distance of the body that is farthest, and the difference of energy, moment by moment."""
    found = []
    stops = c.scene.until if c.scene and c.scene.why else None
    stop = " Dashed line: end of the comparison." if stops else ""
    for name, title, words, axis in (
        ("position_error", "Distance of the farthest body from the reference", "", "distance [m]"),
        ("orientation_error", "Largest orientation error of a body", "", "angle [rad]"),
        (
            "energy_error", "Difference of mechanical energy from the reference", "All bodies, springs included. ",
            "energy difference [J]",
        ),
    ):  # fmt: skip
        curves = _worst(c, name)
        if not (curves[name] > SMALLEST).any():
            continue
        within = range_of(curves, name, log=True)
        caption = (
            f"Against time, logarithmic. {words}A curve below “{UNCERTAIN}” is as good as the reference.{stop} "
            f"{within.words}"
        )
        chart = lines(curves, name, axis, log=True, within=within, ends=stops)
        found.append(Figure(name.removesuffix("_error"), title, caption.strip(), chart))
    return found


def _worst(c: Comparison, name: str) -> pd.DataFrame:
    """Return for the first solver's runs the largest value of any body at each time, and the reference's uncertainty
    as a curve in every plot."""
    frame = c.trajectories
    own = frame[frame["role"] == "reference"]
    runs = by_first_solver(frame[frame["role"] == "run"])
    parts = [runs.assign(step=runs["step"].map("{:g} s".format))]
    parts += [own.assign(label=UNCERTAIN, step=f"{h:g} s") for h in c.settings.steps]
    every = pd.concat(parts, ignore_index=True)
    return every.groupby(["label", "step", "t"], sort=False)[name].max().reset_index()
