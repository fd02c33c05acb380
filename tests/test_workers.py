"""Worker processes end with the process that started them, in whatever way that ends, and end no others."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import active_children, get_context
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from tests.thorough import quickly
from workbench.comparison.jobs import processes

ROOT = Path(__file__).parents[1]

WORKING = """
import os, sys
from workbench.comparison.jobs import processes

def work():
    # In one write: two processes share the pipe.
    os.write(1, b"working\\n")
    while True:
        pass

if __name__ == "__main__":
    with processes(2, sys.argv[1:]) as pool:
        waiting = [pool.submit(work) for _ in range(2)]
        waiting[0].result()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("imported", [(), ("numpy",)], ids=["spawned", "forked"])
@pytest.mark.parametrize("number", quickly([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], signal.SIGKILL.__eq__))
def test_workers_end_when_their_parent_is_killed(number, imported, tmp_path):
    (tmp_path / "working.py").write_text(WORKING)
    process = subprocess.Popen(
        [sys.executable, "working.py", *imported], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert [process.stdout.readline() for _ in range(2)] == ["working\n"] * 2
    process.send_signal(number)
    try:
        # The pipe ends when the last process that holds it has ended.
        process.communicate(timeout=30)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -number


def test_a_pool_that_fails_ends_its_own_workers_only():
    other = get_context("spawn").Process(target=signal.pause, daemon=True)
    other.start()
    try:
        with pytest.raises(ZeroDivisionError), processes(1) as pool:
            pool.submit(divmod, 1, 0).result()
        # Not by joining: the pool's own thread joins as well, and only one of the two learns that a worker has ended.
        for worker in set(active_children()) - {other}:
            assert wait([worker.sentinel], 60)
        assert other.is_alive()
    finally:
        other.kill()
        other.join()
