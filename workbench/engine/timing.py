"""A clock that stands still while functions are compiled or fetched from the disk, which happens when they are first
called: what a solve or a run takes is the same the first time as the second."""

import time
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager

STATE = 2
"""Numbers of the clock's state: seconds that it stood still, and since when it stands still now, 0 while it runs."""
_state: MutableSequence[float] = [0.0] * STATE


def clock() -> float:
    """Seconds since some moment, for differences."""
    return reading(_state)


def moment(deadline: float, part: float) -> float:
    """When this part of the time from now to the deadline, both by `clock`, will be over."""
    return clock() + seconds_left(deadline, part)


def seconds_left(deadline: float, part: float) -> float:
    """This part of the seconds from now to the deadline, none where it is over."""
    return part * max(0.0, deadline - clock())


OUT_OF_TIME = "out of time"
"""With this the reason begins why something is undecided, wherever more time might have decided it."""


class OutOfTimeError(Exception):
    """The deadline passed before a verdict was reached."""


def check_clock(deadline: float, seconds: float = 0.0) -> None:
    """Raise OutOfTimeError once work of so many seconds, begun now, would end beyond the deadline."""
    if clock() + seconds > deadline:
        raise OutOfTimeError


class Pace:
    """Steps of similar cost that nothing interrupts: the last one's time tells whether the next one will end in time.

    `growth` is by how much a step may be dearer than the one before.
    """

    def __init__(self, deadline: float, growth: float = 1.5) -> None:
        self.deadline, self.growth, self.begun = deadline, growth, clock()
        check_clock(deadline)

    def step(self) -> None:
        """Begin another step. Raises OutOfTimeError where it would end beyond the deadline."""
        now = clock()
        check_clock(self.deadline, self.growth * (now - self.begun))
        self.begun = now


def reading(state: MutableSequence[float]) -> float:
    """What the clock with this state says, which may be that of another process on this machine."""
    return (state[1] or time.perf_counter()) - state[0]


def show(state: MutableSequence[float]) -> None:
    """Keep the clock's state from now on in the given place, where another process may read it."""
    global _state
    state[:STATE] = _state[:STATE]
    _state = state


@contextmanager
def standing_still() -> Iterator[None]:
    """Nothing that happens inside takes any time by `clock`."""
    if _state[1]:
        yield
        return
    _state[1] = time.perf_counter()
    try:
        yield
    finally:
        # In this order: who reads in between sees the clock behind, and never ahead.
        _state[0] += time.perf_counter() - _state[1]
        _state[1] = 0.0
