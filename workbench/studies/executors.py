"""Execution of units of work: processes of this machine, Dask, MPI, or any executor as in `concurrent.futures`.

Only a few more units than workers are submitted at once, so that memory does not grow with the study.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from workbench.studies.pools import THREADS, Pool
from workbench.support.errors import WorkbenchError
from workbench.support.numbers import must_be_whole
from workbench.support.processes import processes
from workbench.support.signals import uninterrupted

AHEAD = 3
"""Submitted units per worker."""
ATTEMPTS = 3
"""Times that a unit running alone may crash its process before it is given up."""

T = TypeVar("T")


def pool_of(wanted: Any, workers: int) -> Pool:
    """Return the executor of this name, or an object with a method `submit`; raises WorkbenchError.

    `workers` is for processes and objects: Dask and MPI have a fixed number.
    """
    must_be_whole("workers", workers)
    if hasattr(wanted, "submit"):
        return Pool(lambda: nullcontext(wanted), workers)
    if wanted in (None, "processes"):
        return Pool(lambda: _processes(workers), workers)
    if wanted == "mpi":
        from workbench.studies.on_mpi import mpi_pool

        return mpi_pool()
    if str(wanted).startswith("dask://"):
        from workbench.studies.on_dask import dask_pool

        return dask_pool(str(wanted).replace("dask://", "tcp://", 1))
    raise WorkbenchError(
        f"executor '{wanted}'; it can be processes, dask://HOST:PORT, mpi, submitit:slurm, submitit:local, "
        "or in Python an object with a method submit"
    )


def done(
    pool: Pool, function: Callable[[Any], T], units: Iterator[Any]
) -> Generator[tuple[Any, T | Exception], None, None]:
    """Yield each unit with the result of `function`, or the exception that it raised, in order of completion.

    Units in progress when a worker dies are repeated, each alone, to find the one that kills: it comes with the
    BrokenExecutor after `ATTEMPTS` times.
    """
    queue = _Queue(units, pool.killed)
    while queue:
        with pool.start() as executor:
            try:
                yield from queue.together(executor, function, AHEAD * pool.workers)
                yield from queue.one_by_one(executor, function)
            except BrokenExecutor as error:
                yield from queue.broken(error)


class _Queue:
    """Remaining units: those not submitted, those submitted, and those to be run alone, with attempts."""

    def __init__(self, units: Iterator[Any], killed: type[Exception] | tuple[()]) -> None:
        self.units = units
        self.killed = killed
        self.left = True
        self.waiting: dict[Future, Any] = {}
        self.alone: deque[tuple[Any, int]] = deque()

    def __bool__(self) -> bool:
        return self.left or bool(self.alone)

    def together(self, executor: Any, function: Callable, most: int) -> Iterator[tuple[Any, Any]]:
        while self.left or self.waiting:
            while self.left and len(self.waiting) < most:
                unit = next(self.units, None)
                self.left = unit is not None
                if self.left:
                    try:
                        # It may start a process, which must not be lost to an interruption.
                        with uninterrupted():
                            self.waiting[executor.submit(function, unit)] = unit
                    except BrokenExecutor:
                        self.alone.append((unit, 0))
                        raise
            if self.waiting:
                for future in wait(self.waiting, return_when=FIRST_COMPLETED).done:
                    # It remains in the queue until it is known not to be lost.
                    found = _result(future)
                    unit = self.waiting.pop(future)
                    if isinstance(found, self.killed):
                        # The culprit is this unit, or another one on the same worker.
                        self.alone.append((unit, 0))
                    else:
                        yield unit, found

    def one_by_one(self, executor: Any, function: Callable) -> Iterator[tuple[Any, Any]]:
        while self.alone:
            unit, attempts = self.alone.popleft()
            self.alone.appendleft((unit, attempts + 1))
            found = _result(executor.submit(function, unit))
            self.alone.popleft()
            yield unit, BrokenExecutor(str(found)) if isinstance(found, self.killed) else found

    def broken(self, error: BrokenExecutor) -> Iterator[tuple[Any, Any]]:
        self.alone.extend((unit, 0) for unit in self.waiting.values())
        self.waiting = {}
        while self.alone and self.alone[0][1] >= ATTEMPTS:
            yield self.alone.popleft()[0], error


def _result(future: Future) -> Any:
    """Return a unit's result, or the exception that it raised.

    Raises BrokenExecutor if its worker died, WorkbenchError if the executor gave up."""
    try:
        return future.result()
    except BrokenExecutor:
        raise
    except CancelledError as error:
        raise WorkbenchError(
            "the executor has stopped; finished runs are kept, and the same command resumes"
        ) from error
    except Exception as error:
        return error


@contextmanager
def _processes(workers: int) -> Iterator[Any]:
    """Start fresh processes, with one thread each for linear algebra unless the environment says otherwise."""
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        with processes(workers, ("workbench.studies.work",)) as pool:
            yield pool
    finally:
        for name in added:
            del os.environ[name]
