"""A comparison of a case with few steps, from its last formulation on, made by `ahead` in another process.

Both processes would need the same kernels in the same order up to the first row. So this one begins with those that the
other needs last before that row (`compile_last`).
"""

import os
import sys
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
    from workbench.verbs.compare import compare, compile_last

    short = in_short(case, given)
    compile_last(case, short["formulations"])
    compare(case, **short)


def _alone() -> None:
    """Leave the terminal to the other process, and its signals: Ctrl-C reaches all processes of a session."""
    with suppress(AttributeError, OSError):
        os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with suppress(AttributeError, OSError, ValueError):
            os.dup2(nothing, stream.fileno())  # type: ignore[union-attr]
