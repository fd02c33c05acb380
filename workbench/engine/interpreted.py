"""Kernels as the Python functions that they are made from, a hundred times slower and at once.

Where NUMBA_DISABLE_JIT=1 nothing is compiled: everything is open to debuggers, `print` and tracebacks. Elsewhere small
work may ask for it, since compiling a kernel takes a quarter of a second and interpreting it on two unknowns none:

    with interpreting(problem.size):
        find_solver("lemke").solve(problem)

There a kernel that Python calls is interpreted, and so are the kernels that it calls in turn, while this process has
interpreted for less than `UNSOUGHT`; from then on those whose machine code is not on the disk, up to `SECONDS`. All
others run compiled, also in the midst of an interpreted one. Loops over the steps of a run are outside of such blocks.

What only compiled code has, NumPy does in interpreted kernels: an address is the row of numbers from that place on,
vector lanes are arrays of eight.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.engine.numba_internals import callable_intrinsic, config

OFF = bool(config.DISABLE_JIT)
"""Whether nothing is compiled."""
SMALL = 8
"""Unknowns up to which work is small: of methods for LCPs half the solves take a millisecond then, and none 0.6 s."""
UNSOUGHT = 0.1
"""Seconds for which a process interprets kernels before it looks for machine code: loading it would take as long."""
SECONDS = 1.0
"""Seconds for which a process interprets kernels before it compiles them, which would take several times as long."""


class _Thread(threading.local):
    """What a thread interprets: whether it may, and since when it does, by `time.perf_counter`; 0 while it does not."""

    allowed = False
    since = 0.0


class _Process:
    """Seconds that all threads have spent on interpreting."""

    spent = 0.0


_thread = _Thread()


@contextmanager
def interpreting(unknowns: int) -> Iterator[None]:
    """A block whose kernels are interpreted where they are not compiled yet, if so many unknowns are few."""
    before = _thread.allowed
    _thread.allowed = unknowns <= SMALL
    try:
        yield
    finally:
        _thread.allowed = before


def seconds_interpreted() -> float:
    """Seconds that this process has spent on interpreting kernels."""
    return _Process.spent + (time.perf_counter() - _thread.since if _thread.since else 0.0)


def is_interpreted(is_ready: Callable[[], bool]) -> bool:
    """Whether a kernel that Python calls now is interpreted; `is_ready` looks for its machine code."""
    if not _thread.allowed:
        return False
    seconds = seconds_interpreted()
    return seconds < UNSOUGHT or (seconds < SECONDS and not is_ready())


def in_python(function: Callable) -> Callable:
    """The function, and around the outermost one a clock and NumPy's arithmetic without warnings."""
    if _thread.since:
        return function

    def outermost(*args: Any) -> Any:
        _thread.since = time.perf_counter()
        try:
            with np.errstate(all="ignore"):
                return function(*args)
        finally:
            _Process.spent = seconds_interpreted()
            _thread.since = 0.0

    return outermost


def interpreted(function: Callable) -> Any:
    """A kernel that is never compiled; like compiled ones it divides as NumPy does, without warnings."""
    kernel: Any = np.errstate(all="ignore")(function)
    kernel.py_func = function
    return kernel


def python_of(function: Any) -> Callable:
    """The Python function that numba's decorators were given; where nothing is compiled they return it."""
    return getattr(function, "py_func", function)


def building_block(compiled: Callable, python: Callable) -> Any:
    """An intrinsic of numba's, and what does the same in Python."""
    return python if OFF else callable_intrinsic(compiled, python)
