"""The wheel of IDETC2016-60064 under the paper's models: what its page compares, its names, and its runs one by one."""

from dataclasses import replace

import pandas as pd

from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.hybrid import hybrid
from workbench.builtin.formulations.phantom_inertia import phantom_inertia
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import STEPS, Settings
from workbench.comparison.result import Comparison
from workbench.language.formulation import Formulation
from workbench.step.scheme import find_scheme
from workbench.support.errors import WorkbenchError

ITERATED = hybrid.with_options(bounds="iterated")
PAPER = (coulomb, hybrid, ITERATED, anitescu_potra, box_friction)
NAMES = {
    coulomb: "exact Coulomb", hybrid: "regularised, one pass", ITERATED: "regularised, iterated",
    anitescu_potra: "polygonal", box_friction: "box",
}  # fmt: skip
DURATION, LONG, STEP, FINE, SLIDING = 5.0, 8.0, 1e-3, 1e-4, 1.98
DEVIATION = {hybrid: 1.67, ITERATED: 1.67, anitescu_potra: 3.76, box_friction: 9.70}
"""Published RMS deviation of the normalised friction [%]; the paper does not say whether the bounds were iterated."""
MISALIGNMENT = {hybrid: 0.7, anitescu_potra: 14.0, box_friction: 12.6}
"""Published RMS misalignment [deg]."""
SLOW = 1e-3
"""A tenth of the paper's threshold v_th [m/s]."""
INDEPENDENT = {
    coulomb: ((0.0, 1e-9), (0.0, 0.01)),
    phantom_inertia: ((0.0, 5e-5), (0.175, 0.185)),
    phantom_inertia.with_options(lateral="regularised"): ((0.0, 0.01), (0.0, 0.01)),
    hybrid: ((0.151, 0.160), (0.0, 0.006)),
    ITERATED: ((0.0, 0.008), (0.0, 0.006)),
    anitescu_potra: ((2.9, 3.3), (12.5, 13.8)),
    anitescu_potra.with_options(directions=8): ((1.3, 1.7), (8.0, 8.3)),
    anitescu_potra.with_options(directions=16): ((0.445, 0.455), (4.85, 4.95)),
    box_friction: ((4.57, 4.76), (13.97, 14.37)),
}
"""Deviation [%], misalignment [deg] while sliding: ranges of independent runs, or a figure and half its last digit."""


def one_solver(c: Comparison) -> Comparison:
    """Return the comparison with one solver for each formulation, the first given one whose runs are verified.

    Raises WorkbenchError if there is none, since an unverified number is no evidence.
    """
    runs = c.runs[c.runs["verified"]].drop_duplicates(["label", "window", "step"])
    missing = [f.label for f in c.formulations if f.label not in set(runs["label"])]
    if missing:
        raise WorkbenchError(f"no verified run of {', '.join(missing)} on {c.name}")
    own = pd.MultiIndex.from_frame(runs[["label", "solver"]])
    steps = c.trajectories
    kept = pd.MultiIndex.from_frame(steps[["label", "solver"]]).isin(own) | (steps["role"] == "reference")
    return replace(c, runs=runs, trajectories=steps[kept])


def row(c: Comparison, f: Formulation, window: str = "all", step: float | None = None) -> pd.Series:
    """The row of a formulation in a window, at the first step size or at this one [s]."""
    step = c.settings.steps[0] if step is None else step
    return c.runs[(c.runs["label"] == f.label) & (c.runs["window"] == window) & (c.runs["step"] == step)].iloc[0]


def steps_of(c: Comparison, f: Formulation) -> pd.DataFrame:
    """The steps of a formulation."""
    return c.trajectories[(c.trajectories["label"] == f.label) & (c.trajectories["role"] == "run")]


def reference_of(c: Comparison) -> pd.DataFrame:
    """Return every tenth step of the reference."""
    return c.trajectories[c.trajectories["role"] == "reference"]


def compared(
    chosen: tuple[Formulation, ...], duration: float, scheme: str = "explicit", normal: str = "velocity",
    steps: tuple[float, ...] = (STEP,),
) -> Comparison:  # fmt: skip
    """Compare the wheel under these formulations, by their round-off solvers, with exact Coulomb friction at 0.1 ms."""
    # The papers measure by time stepping at a small step.
    settings = Settings(steps, FINE, duration, find_scheme(scheme), normal, reference=STEPS)
    return one_solver(compare_case(Wheel(), chosen, coulomb, ("coulomb-exact", "lemke", "judice-pires"), settings))


def percent(c: Comparison, f: Formulation, column: str = "friction_rmsd", window: str = "all") -> float:
    return 100 * float(row(c, f, window)[column])
