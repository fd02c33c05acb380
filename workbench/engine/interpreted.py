"""Where NUMBA_DISABLE_JIT=1 nothing is compiled: kernels are the Python functions that they are made from, a hundred
times slower and open to debuggers, `print` and tracebacks. What only compiled code has, NumPy does there: an address
is the row of numbers from that place on, vector lanes are arrays of eight."""

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.engine.numba_internals import config, intrinsic

OFF = bool(config.DISABLE_JIT)
"""Whether nothing is compiled."""


def interpreted(function: Callable) -> Any:
    """A kernel that is not compiled; like compiled ones it divides as NumPy does, without warnings."""
    kernel: Any = np.errstate(all="ignore")(function)
    kernel.py_func = function
    return kernel


def python_of(function: Any) -> Callable:
    """The Python function that numba's decorators were given; where nothing is compiled they return it."""
    return getattr(function, "py_func", function)


def building_block(compiled: Callable, python: Callable) -> Any:
    """An intrinsic of numba's, or what does the same in Python."""
    return python if OFF else intrinsic(compiled)
