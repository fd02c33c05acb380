"""Metrics of scenes: the largest value over the bodies, energy, and errors of single steps."""

import numpy as np

from workbench.comparison.metric import distance, metric
from workbench.comparison.scenes import bodies
from workbench.comparison.scenes.measured import MeasuredScene
from workbench.scenes.track import Track

position_error, orientation_error, force_error, moment_error = (x.of_worst() for x in bodies.ERRORS)
creep, drift, slip, lift, penetration = (x.of_worst() for x in bodies.SYMPTOMS)


@distance(
    "scene-energy-error", unit="J", shown="number", heading="energy",
    meaning="difference of the mechanical energy from the reference's, the mean over the times that are compared",
    defined="where the scene has an energy",
)  # fmt: skip
def energy_error(m: MeasuredScene, a: Track, b: Track) -> float:
    return float(np.abs(a.energy[m.ends(a)] - b.energy[m.ends(b)]).mean())


@metric(
    "one-step-error", unit="1", shown="percent", heading="one step",
    meaning="RMS over a sample of steps of the distance between the velocities after one step and after one step of "
    "exact Coulomb from the same state, over the mean RMS of the velocity change by contacts under both, in the "
    "kinetic norm; from states of exact Coulomb friction, for soft formulations and engines from their own states",
    defined="where a contact acts",
)  # fmt: skip
def one_step_error(m: MeasuredScene) -> float:
    return m.single(m)
