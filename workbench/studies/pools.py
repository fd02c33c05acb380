"""What runs units of work side by side: an executor that can be started again, and how many units it takes at once."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""What libraries are told how many threads they may have by: a worker has one."""


@dataclass(frozen=True)
class Pool:
    """Starts an executor, again whenever it breaks, whose `workers` take a unit each.

    `killed` is what a unit raises that was under way, again and again, where workers died, if the executor replaces
    them by itself.
    """

    start: Callable[[], AbstractContextManager[Any]]
    workers: int
    killed: type[Exception] | tuple[()] = ()
