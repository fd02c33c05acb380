"""Worker processes end with the process that started them, in whatever way that ends, and end no others."""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import active_children, get_context
from multiprocessing.connection import wait
from pathlib import Path

import pytest

import workbench as wb
from tests.orphans import ALLOWED
from tests.thorough import quickly
from workbench.support.processes import processes

ROOT = Path(__file__).parents[1]

HELD = """
import ctypes, os, sys, time

def hold(name):
    # In one write, since processes share the pipe. Python's interpreter is held as by compiled code.
    os.write(1, name.encode() + b"\\n")
    ctypes.PyDLL(None).sleep(60)
"""
WORKING = """
import sys
from held import hold
from workbench.support.processes import processes

def work(name):
    hold(name)

def nested(name):
    with processes(1) as pool:
        pool.submit(work, name).result()

place = sys.argv[1]
if place == "script" and __name__ != "__main__":
    hold(place)
if __name__ == "__main__":
    with processes(1, ["held_at_once"] if place == "server" else []) as pool:
        pool.submit(nested if place == "nested" else work, place).result()
"""
PLACES = ["work", "nested", "script", "server"]
"""Where a process holds the interpreter: a worker at work, a worker's worker, one that imports the user's script, and
the server of forks that imports what all workers need."""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends children on Linux only")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", quickly([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], signal.SIGKILL.__eq__))
def test_no_worker_outlives_its_parent_by_a_second(number, place, tmp_path):
    (tmp_path / "held.py").write_text(HELD)
    (tmp_path / "held_at_once.py").write_text("from held import hold\nhold('server')\n")
    (tmp_path / "working.py").write_text(WORKING)
    process = _started(tmp_path, "working.py", place)
    process.send_signal(number)
    _assert_ended_in_time(process)


WORKS = """    print("engine", file=sys.stderr, flush=True)
    while True:
        pass
"""
ADAPTERS = {
    "import": f"import sys\nVERSION = ''\nif True:\n{WORKS}",
    "step": f"import sys\nVERSION = ''\ndef World(*_, **__):\n{WORKS}",
}
"""Engines that never end what they are at."""
ASKING = """
import subprocess, sys, time
command = [sys.executable, *sys.argv[1:]]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=1) as engine:
    engine.stdin.write(b'{"trial": {}, "h": 1, "settings": {}}\\n')
    engine.stdin.flush()
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are waited for as POSIX has it")
@pytest.mark.parametrize("place", ADAPTERS)
def test_no_engine_of_the_exam_outlives_its_parent_by_a_second(place, tmp_path):
    (tmp_path / "adapter.py").write_text(ADAPTERS[place])
    (tmp_path / "asking.py").write_text(ASKING)
    process = _started(tmp_path, "asking.py", str(ROOT / "workbench" / "exams" / "protocol.py"), "adapter.py")
    process.kill()
    _assert_ended_in_time(process)


def _started(folder: Path, *command: str) -> subprocess.Popen:
    """A script that has begun to work in another process, which has said so."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=folder, env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline()
    return process


def _assert_ended_in_time(process: subprocess.Popen) -> None:
    try:
        process.wait(30)
        # The pipe ends when the last process that holds it has ended.
        assert select.select([process.stdout], [], [], ALLOWED)[0], "a process lives on"
        assert process.stdout.read() == ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


ELSEWHERE = f"""
import os, sys
sys.path[:] = ["lib", {str(ROOT)!r}, *sys.path]
os.environ.pop("PYTHONPATH", None)
from workbench.support.processes import processes

def told():
    import workbench
    left = [os.environ.get(name) for name in ("PYTHONPATH", "WORKBENCH_FORKS_FOR", "PYTHONSAFEPATH")]
    return left, workbench.__file__

if __name__ == "__main__":
    with processes(1, ["preloaded"]) as pool:
        assert pool.submit(told).result() == ([None] * 3, {str(ROOT / "workbench" / "__init__.py")!r})
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="there is no server of forks")
def test_workers_find_modules_where_their_parent_does(tmp_path):
    # In the current folder somebody's own package lies, of the same name.
    for folder in ("lib", "workbench"):
        (tmp_path / folder).mkdir()
    (tmp_path / "workbench" / "__init__.py").write_text("raise SystemExit('a decoy was imported')")
    (tmp_path / "lib" / "preloaded.py").write_text("print('preloaded', flush=True)")
    (tmp_path / "script.py").write_text(ELSEWHERE)
    command = [sys.executable, str(tmp_path / "script.py")]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "preloaded\n"


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


def test_no_pool_is_made_where_no_run_is_shared(monkeypatch):
    """A study's worker that Ctrl-C kills would leave semaphores of its own pool, of which Python complains."""
    monkeypatch.setattr("workbench.comparison.jobs.processes", lambda *_: pytest.fail("a pool is made"))
    assert wb.compare("block", "coulomb", duration=0.01).runs["verified"].all()
