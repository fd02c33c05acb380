"""No worker of a command outlives it by a second; `python -m tests.orphans` does this at more moments."""

import signal
import sys

import pytest

from tests.orphans import ALLOWED, COMMANDS, moments, outlived

if sys.platform != "linux":
    pytest.skip("processes are found in /proc, and ended by the kernel", allow_module_level=True)


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_workers_end_with_a_command_at_work_or_compiling(command, number):
    (moment,) = moments(seed=len(command) + number, count=1)
    assert outlived(command, number, moment, cold=True)[1] < ALLOWED
