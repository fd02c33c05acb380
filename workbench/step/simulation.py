"""Simulation of a case under a formulation from its start, step by step, as a `Run`."""

from collections import Counter
from typing import Any, TypedDict, Unpack

from workbench.algorithms.base import Solver
from workbench.engine.timing import clock
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.step.loops import CaseStepper
from workbench.step.parts import run_parts
from workbench.step.run import Course, Run
from workbench.step.scheme import Scheme, find_scheme
from workbench.step.stepping import PASSES
from workbench.support.numbers import must_be_seconds


def whole_steps(duration: float, h: float) -> int:
    """Return how many steps of h [s] fit into a duration [s]; up to a thousandth of a step may be missing."""
    return int(min(duration / h + 1e-3, 1e15))


class CourseSettings(TypedDict, total=False):
    """Settings of a run beside its steps: arguments of `course_of` by name."""

    scheme: Scheme | str | None
    normal: str | None
    relaxation: Relaxation | None
    passes: int


def simulate(
    case: Case, formulation: Formulation, solver: Solver, h: float, duration: float | None = None, *,
    progress: Any = None, **settings: Unpack[CourseSettings],
) -> Run:  # fmt: skip
    """Simulate a case from its start; failures and refusals are Runs with a status and a reason, never exceptions.

    h, duration in seconds; the settings and errors are those of `course_of`. `progress` is called occasionally with the
    number of finished steps.
    """
    course = course_of(case, h, duration, **settings)
    case.must_fit()
    return (run_parts if case.parts else run_whole)(case, formulation, solver, course, progress)


def course_of(
    case: Case, h: float, duration: float | None = None, *, scheme: Scheme | str | None = None,
    normal: str | None = None, relaxation: Relaxation | None = None, passes: int = PASSES,
) -> Course:  # fmt: skip
    """Return the settings of a run of a case; what is None is the case's own.

    h, duration in seconds. `scheme` is one of `scheme.KINDS` or a `Scheme`; None is symplectic. `normal` is the normal
    law (`core.NORMAL_LAWS`), `relaxation` the compliance of the constraint rows. `passes` is how many passes a fixed
    point (iterated bounds, staggered projections) may take in a step before the run ends with the status
    NO_FIXED_POINT. Raises DataError for h <= 0 or zero steps, UnknownNameError for an unknown scheme.
    """
    duration = case.duration if duration is None else duration
    must_be_seconds(h, duration)
    normal = case.normal if normal is None else normal
    relaxation = case.relaxation if relaxation is None else relaxation
    return Course(h, whole_steps(duration, h), find_scheme(scheme), normal, relaxation, passes)


def run_whole(case: Case, formulation: Formulation, solver: Solver, course: Course, progress: Any = None) -> Run:
    """Call `simulate` for a case without parts."""
    s, others, start = CaseStepper(case, formulation, solver, course), Counter[str](), clock()
    status, reason, k = s.loop(others, progress)
    t = s.track
    return s.as_run(case, status, reason, clock() - start, s.record(t.rows, t.effort[:k], t.q, t.v), others)
