"""Simulation of a case under a formulation from its start, step by step, as a `Run`."""

from typing import Any

import numpy as np

from workbench.algorithms.base import Solver
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.step.parts import run_parts
from workbench.step.run import Course, Run
from workbench.step.scheme import Scheme, find_scheme
from workbench.step.stepping import PASSES
from workbench.step.whole import run_whole
from workbench.support.errors import DataError


def whole_steps(duration: float, h: float) -> int:
    """Return how many steps of h [s] fit into a duration [s]; up to a thousandth of a step may be missing."""
    return int(min(duration / h + 1e-3, 1e15))


def simulate(
    case: Case,
    formulation: Formulation,
    solver: Solver,
    h: float,
    duration: float | None = None,
    *,
    scheme: Scheme | str | None = None,
    normal: str | None = None,
    relaxation: Relaxation | None = None,
    passes: int = PASSES,
    progress: Any = None,
) -> Run:
    """Simulate a case from its start; failures and refusals are Runs with a status and a reason, never exceptions.

    h, duration in seconds. `scheme` is one of `scheme.KINDS` or a `Scheme`; None is symplectic. `normal` is the normal
    law (`core.NORMAL_LAWS`), `relaxation` the compliance of the constraint rows; None is the case's own. `passes` is
    how many passes a fixed point (iterated bounds, staggered projections) may take in a step before the run ends with
    the status NO_FIXED_POINT. `progress` is called occasionally with the number of finished steps. Raises DataError for
    h <= 0, zero steps or passes < 1, UnknownNameError for an unknown scheme.
    """
    duration = case.duration if duration is None else duration
    if not (np.isfinite(h) and h > 0):
        raise DataError(f"step {h:g} s; a positive number of seconds is needed")
    if not (np.isfinite(duration) and duration >= h):
        raise DataError(f"duration {duration:g} s; at least one step of {h:g} s is needed")
    case.must_fit()
    steps = whole_steps(duration, h)
    normal = case.normal if normal is None else normal
    relaxation = case.relaxation if relaxation is None else relaxation
    go = run_parts if case.parts else run_whole
    course = Course(h, steps, find_scheme(scheme), normal, relaxation, passes)
    return go(case, formulation, solver, course, progress)
