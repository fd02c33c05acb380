"""Tasks with a time limit, in another process, since compiled code cannot be interrupted in any other way.

The limit is by that process' own `timing.clock`, which the other one reads in memory that both see: it stands still
while functions and declarations are compiled or fetched from the disk and while the task's modules are imported.
"""

import pickle
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from workbench.algorithms import SOLVERS, best
from workbench.comparison.failure import failed
from workbench.engine import timing
from workbench.engine.timing import STATE, reading, standing_still
from workbench.support.arrays import Array
from workbench.support.processes import processes

IMPORTED = (
    "workbench.comparison.solving",
    *(f"workbench.algorithms.{where.rpartition('.')[0]}" for where in SOLVERS.bundled.values()),
)
"""Modules that processes with a time limit start with."""
TIME_LIMIT = "TIME_LIMIT"
"""Status in the row of a task that ran out of time."""
LARGEST = 10**6
"""Unknowns up to which an iterate is kept."""
LOOK = 0.1
"""Seconds after which the clock is read again where it may have stood still."""

T = TypeVar("T")


def limited(
    function: Callable[..., T], waiting: list, seconds: float | None, lost: Callable[[Any, str, str, Array | None], T]
) -> Iterator[T]:
    """Yield function(*task) for every task of `waiting`, in order of completion; tasks may be appended meanwhile.

    With `seconds` another process makes them, and what takes longer, or takes that process down, is
    lost(task, "TIME_LIMIT" or "CRASHED", reason, iterate); an error raised there is lost as `failure.failed` has it.
    The iterate is the best one that the solver has offered (`algorithms.best`), or None.
    """
    while waiting and seconds is None:
        yield function(*waiting.pop(0))
    while waiting and seconds is not None:
        iterate = None
        try:
            with _shared() as (path, numbers), processes(1, IMPORTED) as pool:
                state, place = numbers[:STATE], numbers[STATE:]
                # What is imported first must not count.
                pool.submit(_begin, path).result()
                while waiting:
                    begun = reading(state)
                    future = pool.submit(_run, pickle.dumps((function, waiting[0])))
                    if not _done(future, state, begun + seconds):
                        iterate = best.last_iterate(place)
                        raise _OutOfTimeError
                    yield future.result()
                    del waiting[0]
        except _OutOfTimeError:
            yield lost(waiting.pop(0), TIME_LIMIT, f"no answer within {seconds:g} s", iterate)
        except BrokenExecutor:
            yield lost(waiting.pop(0), "CRASHED", "its solving process has died", None)
        except Exception as error:
            # What cannot be sent to another process, or raised there.
            yield lost(waiting.pop(0), *_words(error), None)


def _words(error: Exception) -> tuple[str, str]:
    found = failed(error)
    return found.claimed, found.reason


class _OutOfTimeError(Exception):
    """The task's time is over, which a TimeoutError of its own does not say."""


def _done(future: Future, state: Any, deadline: float) -> bool:
    """Return True if a task ends before the clock with this state reads `deadline`."""
    while (left := deadline - reading(state)) > 0:
        if wait([future], min(left, LOOK)).done:
            return True
    return future.done()


@contextmanager
def _shared() -> Iterator[tuple[str, Any]]:
    """A file and its numbers in memory, which another process can have too."""
    with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "numbers"
        with path.open("wb") as file:
            # Zeros that take no room until they are written.
            file.truncate(8 * (STATE + best.HEAD + LARGEST))
        yield str(path), _mapped(path)


def _mapped(path: str | Path) -> Any:
    with open(path, "r+b") as file:
        return np.frombuffer(mmap(file.fileno(), 0), dtype=float)


def _begin(path: str) -> None:
    """The first task of a new process: it keeps its clock and iterates where the other process sees them."""
    numbers = _mapped(path)
    timing.show(numbers[:STATE])
    best.show(numbers[STATE:])


def _run(call: bytes) -> Any:
    """A task in the new process; the modules that it comes with are imported while the clock stands still."""
    with standing_still():
        function, task = pickle.loads(call)
    return function(*task)
