"""Picking runs out of a comparison, for pages that speak of one run at a time."""

from dataclasses import replace

import pandas as pd

from workbench.comparison.result import Comparison
from workbench.language.formulation import Formulation
from workbench.support.errors import WorkbenchError


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
