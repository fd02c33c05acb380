"""What a comparison is made of: tasks, and peers, which are names and functions that solve and say how long it took."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.children.stopwatch import timed
from workbench.engine.timing import clock

LIMIT = 20.0
"""Seconds after which a solve is given up."""
BUDGET = 0.5
"""Seconds that one peer may spend on the rounds of one problem after the first."""
ROUNDS = 3
SOLVED, CLOSELY = 1e-8, 1e-10
"""Residuals within which an answer counts, and counts as close, if a comparison says nothing else."""
FLOOR = "one LU"
"""The peer that only factorises the problem's matrix: no solver with dense matrices can be much faster."""


class Failed(Exception):  # noqa: N818
    """A peer that gave no answer, and why."""


class Missing(Exception):  # noqa: N818
    """A peer or a test set that is not there, and what is needed."""


@dataclass(frozen=True, eq=False)
class Task:
    """A problem (anything with `size` and `residual(z)`), its name, the group it is counted in, its raw `data`.

    `count` is how many problems, or steps, one solve stands for.
    """

    name: str
    problem: Any
    group: str
    contacts: int | None = None
    data: Any = None
    count: int = 1


Measure = Callable[[Task], tuple[Any, float, str]]
"""Solves a task: z (None where there is none to judge), seconds, a remark. Raises Failed."""


@dataclass(frozen=True, eq=False)
class Peer:
    """`load()` imports what is needed and returns a Measure; ImportError or Missing where it is not installed."""

    name: str
    load: Callable[[], Measure]
    about: str = ""
    apart: bool = False
    """Whether it works in a process of its own: it may abort, or not come back."""
    most: int | None = None
    """Contacts above which it is not asked."""


@dataclass(frozen=True)
class Options:
    """What a run was asked for: a small part of everything (`quick`), and the folder of problems from files."""

    quick: bool = False
    data: Path | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Tasks and peers, the workbench's solver first; `tasks` raises Missing where the problems are not there."""

    name: str
    title: str
    about: str
    tasks: Callable[[Options], list[Task]]
    peers: tuple[Peer, ...]
    unit: str = "s"
    """What is shown: s, the time of a solve; else a rate, such as steps/s."""
    rivals: bool = True
    """Whether the peers solve the same problems, so that one can be said to be the fastest."""
    within: tuple[float, float] = (SOLVED, CLOSELY)
    """Residuals within which an answer counts, and counts as close."""


@dataclass(frozen=True)
class Result:
    """Rows, one a problem and peer, and the peers that are missing with the reason."""

    comparison: Comparison
    rows: list[dict[str, Any]]
    missing: dict[str, str] = field(default_factory=dict)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise Failed in here once the time is over; compiled code finishes first, so peers that may hang are children."""

    def stop(*_: object) -> None:
        raise Failed(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def in_process(ready: Callable[[Task], Callable[[], Callable[[], Any]]], limit: float = LIMIT) -> Measure:
    """A Measure from `ready(task)`, which returns the `fresh` of `stopwatch.timed`; the answer is z or (z, remark)."""

    def measure(task: Task) -> tuple[Any, float, str]:
        try:
            with time_limit(limit):
                # What solving compiles on the way does not count.
                answer, seconds = timed(ready(task), clock)
        except Failed:
            raise
        except Exception as error:
            raise Failed(" ".join(f"{type(error).__name__}: {error}".split())[:160]) from None
        z, remark = answer if isinstance(answer, tuple) else (answer, "")
        return z, seconds, remark

    return measure


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
