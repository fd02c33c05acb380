"""A comparison of a case with few steps, from its last formulation on, made by `ahead` in another process.

Both processes would need the same kernels in the same order up to the first row. So this one begins with those that the
other needs last before that row (`compile_last`).
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from workbench.support.lifetime import end_with

STEPS = 10
"""Number of steps of the shortened comparison."""


def in_short(case: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `wb.compare` for the shortened comparison of a case."""
    from workbench.verbs.find import find_formulations

    formulations = given["formulations"] or find_formulations(None)
    duration = min(given["duration"] or case.duration, STEPS * max(given["steps"]))
    return given | {"formulations": list(reversed(formulations)), "duration": duration, "workers": 1}


def compile_in_short(parent: int, case: Any, given: dict[str, Any]) -> None:
    """Make the shortened comparison of `wb.compare(case, **given)` in the process with the number `parent`."""
    end_with(parent)
    _alone()
    from workbench.verbs.compare import compare

    short = in_short(case, given)
    compile_last(case, short["formulations"])
    compare(case, **short)


def compile_last(case: Any, formulations: Sequence[Any]) -> None:
    """Compile what a comparison of a case needs before its first row, the last first, and then single steps.

    The declarations come first: they are needed as soon as there is a reference. The first row is that of a run without
    friction.
    """
    from workbench.comparison.result import refusals

    refusals(formulations, case.size)
    import numpy as np

    from workbench.algorithms.escalation import default_solver
    from workbench.language.assemble.assembly import carry_back, eliminate
    from workbench.mechanics.core import friction_coefficient
    from workbench.problems.classes import LCP
    from workbench.step.local_steps import remember_each
    from workbench.step.loops import run_each
    from workbench.step.stepping import begin_step, discretise, end_step, run, solve_passes

    end_step.ready()
    carry_back.ready()
    default_solver(LCP.kind).solve(LCP(np.eye(1), -np.ones(1)))
    for part in (solve_passes, begin_step, run, eliminate, friction_coefficient, discretise, run_each, remember_each):
        part.ready()


def _alone() -> None:
    """Leave the terminal to the other process, and its signals: Ctrl-C reaches all processes of a session."""
    with suppress(AttributeError, OSError):
        os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with suppress(AttributeError, OSError, ValueError):
            os.dup2(nothing, stream.fileno())  # type: ignore[union-attr]
