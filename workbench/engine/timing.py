"""A clock that stops while functions are compiled or loaded from disk at their first call.

A solve or a run thus takes the same time the first time as the second."""

import threading
import time
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager
from time import thread_time

STATE = 2
"""Numbers of the clock's state: seconds that it was stopped, and since when it is stopped now, 0 while it runs."""
_state: MutableSequence[float] = [0.0] * STATE


class _Thread(threading.local):
    """Processor seconds of a thread while the clock was stopped."""

    stopped = 0.0


_thread = _Thread()


def clock() -> float:
    """Return seconds since an arbitrary time, for differences."""
    return reading(_state)


def effort() -> float:
    """Return processor seconds of this thread while the clock ran, for differences; a busy machine adds none."""
    return thread_time() - _thread.stopped


def moment(deadline: float, part: float) -> float:
    """Return the time, by `clock`, at which this share of the time from now to the deadline will have passed."""
    return clock() + seconds_left(deadline, part)


def seconds_left(deadline: float, part: float) -> float:
    """Return this share of the seconds from now to the deadline, 0 after the deadline."""
    return part * max(0.0, deadline - clock())


OUT_OF_TIME = "out of time"
"""Beginning of the reason if something is undecided that more time might have decided."""


class OutOfTimeError(Exception):
    """The deadline passed before a verdict was reached."""


def check_clock(deadline: float, seconds: float = 0.0) -> None:
    """Raise OutOfTimeError if work of so many seconds, begun now, would end after the deadline."""
    if clock() + seconds > deadline:
        raise OutOfTimeError


class Pace:
    """Uninterruptible steps of similar cost: the time of the last step predicts whether the next one will end in time.

    `growth` is the factor by which a step may cost more than the one before.
    """

    def __init__(self, deadline: float, growth: float = 1.5) -> None:
        self.deadline, self.growth, self.begun = deadline, growth, clock()
        check_clock(deadline)

    def step(self) -> None:
        """Begin another step. Raises OutOfTimeError if it would end after the deadline."""
        now = clock()
        check_clock(self.deadline, self.growth * (now - self.begun))
        self.begun = now


def reading(state: MutableSequence[float]) -> float:
    """Return the reading of the clock with this state, possibly that of another process on this machine."""
    return (state[1] or time.perf_counter()) - state[0]


def show(state: MutableSequence[float]) -> None:
    """Store the clock's state from now on in the given place, where another process may read it."""
    global _state
    state[:STATE] = _state[:STATE]
    _state = state


@contextmanager
def standing_still() -> Iterator[None]:
    """Context in which the clock is stopped."""
    if _state[1]:
        yield
        return
    _state[1], begun = time.perf_counter(), thread_time()
    try:
        yield
    finally:
        _thread.stopped += thread_time() - begun
        # In this order, a reader in between sees the clock behind, never ahead.
        _state[0] += time.perf_counter() - _state[1]
        _state[1] = 0.0
