"""Errors of the motion: distances of positions, orientations, velocities and energies from the reference's."""

from typing import Any

import numpy as np

from workbench.comparison.measured import SPAN, Measured, MeasuredRun, angles
from workbench.comparison.metric import distance
from workbench.comparison.once import energies
from workbench.step.run import Run


@distance(
    "position-error", unit="1",
    meaning="largest distance of the centre of mass from the reference over the window, relative to the longer of the "
    "reference's path from its start and the run's distance from there (so at most 200 %), and at least to the way "
    "covered in that time at v_th or at the speed that forces cause in one step",
    heading="position",
)  # fmt: skip
def position_error(m: MeasuredRun, a: Run, b: Run) -> float:
    apart = m.case.centre(a.states_q[m.ends(a)]) - m.case.centre(b.states_q[m.ends(b)])
    return np.linalg.norm(apart, axis=-1).max() / m.length(a, b)


@distance(
    "path-error", unit="m", shown="millimetres", heading="motion",
    meaning="largest distance of a body from its position in the reference, over the window",
)  # fmt: skip
def path_error(m: MeasuredRun, a: Run, b: Run) -> float:
    apart = m.case.poses(a.states_q[m.ends(a)])[0] - m.case.poses(b.states_q[m.ends(b)])[0]
    return np.linalg.norm(apart, axis=-1).max()


@distance(
    "orientation-error", unit="deg", meaning="largest angle of a body from its orientation in the reference",
    defined="where the case has bodies that rotate", heading="turn", shown="degrees",
)  # fmt: skip
def orientation_error(m: MeasuredRun, a: Run, b: Run) -> float:
    here, there = (m.case.orientation(x.states_q[m.ends(x)]) for x in (a, b))
    if not here.shape[-2]:
        return np.nan
    return float(np.degrees(angles(here, there).max()))


@distance(
    "velocity-error", unit="1",
    meaning="for a case the RMS distance |v − v*|_M over the window, relative to the larger of the reference's largest "
    "|v*|_M in its whole run and the RMS of |v|_M (so at most 200 %), and at least to the velocity that forces cause "
    "in a step; for a problem |u − u*| over |q|, u = W p + q",
    defined="where something moves or pushes", heading="velocity",
)  # fmt: skip
def velocity_error(m: Measured, a: Any, b: Any) -> float:
    return m.velocities_apart(a, b)


@distance(
    "energy-error", unit="1",
    meaning=f"largest difference of energy, averaged over every {100 * SPAN:g} % of the window, relative to the "
    "largest of the reference's largest kinetic energy, its range of energies in the whole run and the run's largest "
    "change of energy (so at most 200 %), and at least to the work of forces over the window at its first speed",
    defined="where something moves or pushes", heading="energy",
)  # fmt: skip
def energy_error(m: MeasuredRun, a: Run, b: Run) -> float:
    here, there = (energies(x)[m.ends(x)] for x in (a, b))
    return np.abs(m.over_spans(here - there)).max() / (m.span * m.energy(a, b))
