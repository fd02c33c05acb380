"""Time limits: what they count and what not, and whose errors are whose."""

import time
from concurrent.futures import Future

import numpy as np
import pytest

from workbench.comparison import limits
from workbench.comparison.limits import limited
from workbench.engine import timing
from workbench.engine.timing import STATE, clock, reading, standing_still


def compiles(seconds):
    """What a first call does while its kernel is compiled."""
    with standing_still():
        time.sleep(seconds)
    return "done"


def out_of_time_itself(words):
    raise TimeoutError(words)


def works(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def lost(task, claimed, reason, iterate):
    return task, claimed, reason


@pytest.mark.thorough
def test_compiling_is_left_out_of_the_limit_and_working_is_not():
    found = list(limited(compiles, [(0.6,), (0.0,)], 0.3, lost))
    assert found == ["done", "done"]
    assert list(limited(works, [(600,)], 0.3, lost)) == [((600,), "TIME_LIMIT", "no answer within 0.3 s")]


@pytest.mark.thorough
def test_a_timeout_of_the_task_is_its_own():
    """And what comes after it is done."""
    waiting = [("a file that does not come",), ("another",)]
    found = list(limited(out_of_time_itself, waiting, 60.0, lost))
    assert [why[1:] for why in found] == [
        ("FAILED", "TimeoutError: a file that does not come"), ("FAILED", "TimeoutError: another"),
    ]  # fmt: skip


def test_the_clock_may_be_read_from_elsewhere(monkeypatch):
    monkeypatch.setattr(timing, "_state", [3.0, 0.0])
    elsewhere = np.zeros(STATE)
    timing.show(elsewhere)
    assert elsewhere.tolist() == [3.0, 0.0]
    with standing_still():
        assert reading(elsewhere) == reading(elsewhere) == clock()
    assert elsewhere[0] > 3.0
    assert elsewhere[1] == 0.0
    assert clock() <= reading(elsewhere) <= clock()


@pytest.mark.parametrize("ends", [True, False])
def test_what_ends_in_time_is_done(ends):
    """With a clock that stands still for ever only the end of the task ends the wait."""
    future = Future()
    if ends:
        future.set_result(1)
    state = [0.0, 0.0 if not ends else 1.0]
    assert limits._done(future, state, reading(state) + (60.0 if ends else 0.0)) == ends
