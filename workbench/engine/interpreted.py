"""Kernels interpreted as the Python functions they are made from: a hundred times slower, but without compilation.

With NUMBA_DISABLE_JIT=1 nothing is compiled: debuggers, `print` and tracebacks work everywhere. Otherwise small tasks
can request it, since compiling a kernel takes a quarter of a second and interpreting it on two unknowns almost none:

    with interpreting(problem.size):
        find_solver("lemke").solve(problem)

There a kernel called from Python is interpreted, and so are the kernels that it calls in turn, until this process has
interpreted for `UNSOUGHT`; from then on only those whose machine code is not on disk, up to `SECONDS`. All others run
compiled, even when called from an interpreted one. Loops over the steps of a run are outside such blocks.

Constructs that exist only in compiled code are replaced by NumPy in interpreted kernels: an address is the row of
numbers from that position on, vector lanes are arrays of eight.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.engine.numba_internals import CPUDispatcher, callable_intrinsic, config
from workbench.engine.timing import effort

OFF = bool(config.DISABLE_JIT)
"""Whether compilation is disabled."""
SMALL = 8
"""Largest number of unknowns of a small task: half of the LCP solves then take a millisecond, and none 0.6 s."""
UNSOUGHT = 0.1
"""Processor seconds of interpreting before a process searches for machine code: loading it would take as long."""
SECONDS = 1.0
"""Processor seconds of interpreting before a process compiles kernels, which would take several times as long."""


class _Thread(threading.local):
    """State of a thread: whether it may interpret, and since when it does by `timing.effort`, 0 if it does not."""

    allowed = False
    since = 0.0


class _Process:
    """Seconds that all threads have spent interpreting."""

    spent = 0.0


_thread = _Thread()


@contextmanager
def interpreting(unknowns: int) -> Iterator[None]:
    """Context in which kernels that are not compiled yet are interpreted, if there are few unknowns."""
    before = _thread.allowed
    _thread.allowed = unknowns <= SMALL
    try:
        yield
    finally:
        _thread.allowed = before


def seconds_interpreted() -> float:
    """Return the processor seconds that this process has spent interpreting kernels."""
    return _Process.spent + (effort() - _thread.since if _thread.since else 0.0)


def count_anew() -> None:
    """Begin to count the seconds spent interpreting: what follows is a task of its own, as in a new process."""
    _Process.spent = 0.0


def is_interpreted(is_ready: Callable[[], bool]) -> bool:
    """Return whether a kernel called from Python now is interpreted; `is_ready` searches for its machine code."""
    if not _thread.allowed:
        return False
    seconds = seconds_interpreted()
    return seconds < UNSOUGHT or (seconds < SECONDS and not is_ready())


def in_python(function: Callable) -> Callable:
    """Return the function, with a clock and NumPy's arithmetic without warnings around the outermost one."""
    if _thread.since:
        return function

    def outermost(*args: Any) -> Any:
        _thread.since = effort()
        try:
            with np.errstate(all="ignore"):
                return function(*args)
        finally:
            _Process.spent = seconds_interpreted()
            _thread.since = 0.0

    return outermost


def interpreted(function: Callable) -> Any:
    """Return a kernel that is never compiled; like compiled ones it divides as NumPy does, without warnings."""
    kernel: Any = np.errstate(all="ignore")(function)
    kernel.py_func = function
    return kernel


def python_of(function: Any) -> Callable:
    """Return the Python function given to numba's decorators, which return it unchanged if compilation is disabled."""
    return getattr(function, "py_func", function)


def building_block(compiled: Callable, python: Callable) -> Any:
    """Return a numba intrinsic with an equivalent in Python."""
    return python if OFF else callable_intrinsic(compiled, python)


class _Part(CPUDispatcher):
    """A function of compiled code that is a plain one in Python."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


def part(inline: bool) -> Callable[[Callable], Any]:
    """Decorator for a part of compiled loops that is a plain function in Python, where a kernel would be compiled.

    `inline` copies its code into each loop before types are inferred, so that it is not compiled on its own.
    """
    options = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    def decorate(function: Callable) -> Any:
        return function if OFF else _Part(function, targetoptions=options | {"inline": "always" if inline else "never"})

    return decorate
