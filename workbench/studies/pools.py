"""Pools that run units of work in parallel: an executor that can be restarted, and its number of workers."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables for the number of threads of libraries: a worker has one."""


@dataclass(frozen=True)
class Pool:
    """Executor with `workers` that take a unit each; restarted whenever it breaks.

    `killed` are the exceptions of a unit whose workers died repeatedly, if the executor replaces workers by itself.
    """

    start: Callable[[], AbstractContextManager[Any]]
    workers: int
    killed: type[Exception] | tuple[()] = ()
