"""Balls dropped from several heights: each leaves the ground with e times its approach speed."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sphere

RADIUS = 0.1
HEIGHTS = (0.1, 0.173, 0.31)
"""Several heights [m], since each has its contact at another time within the step."""
RESTITUTION = (0.0, 0.5, 1.0)


def trial(e: float) -> Trial:
    balls = tuple(
        replace(sphere("ball", 1.0, RADIUS), name=f"ball {i + 1}", position=(float(i), 0.0, RADIUS + height))
        for i, height in enumerate(HEIGHTS)
    )
    return Trial(balls, 0.3, 0.4, e=e, settling=0.0)


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        for ball, height in enumerate(HEIGHTS):
            w = record.velocity[:, ball, 2]
            low = int(np.argmin(w))
            value = float(max(w[low:].max(), 0.0) / np.sqrt(2 * 9.81 * height))
            what = f"{name}, {height:g} m"
            found.append(MeasuredQuantity("rebound over impact", what, value, record.trial.e, 0.02, "1"))
    return found


EXPERIMENT = Experiment(
    "bounce", "Bounce",
    "Balls are dropped from 0.1, 0.173 and 0.31 m. Each rebounds with e times its impact speed sqrt(2 g H), "
    "for e = 0, 0.5 and 1.",
    "Newton's restitution", "0.02: a step of 1 ms changes the speed by 0.4 to 0.7 %",
    {f"e = {e:g}": trial(e) for e in RESTITUTION}, measure,
)  # fmt: skip
