"""Kernels that a comparison needs are compiled by a second process, where a processor is idle and they are missing."""

import subprocess
import sys

import pytest

from workbench.builtin.formulations import FORMULATIONS
from workbench.cli.ahead import compiled_ahead
from workbench.cli.compare import chosen
from workbench.cli.in_short import in_short
from workbench.cli.main import parsed

SLEEPER = """
import os, sys, time
os.getloadavg = lambda: (0.0, 0.0, 0.0)
os.sched_getaffinity = lambda _: {0, 1}
from pathlib import Path
from workbench.cli.ahead import compiled_ahead
from workbench.cli.compare import chosen
from workbench.cli.main import parsed
words = ["compare", "block", "-f", "box"]
since, there = time.monotonic(), set()
with compiled_ahead(words, *chosen(parsed(words))):
    while time.monotonic() < since + 100 and not any("stepping.end_step" in p.name for p in there):
        there = set(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc"))
        time.sleep(0.2)
print(any("stepping.end_step" in p.name for p in there))
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no process is left")
"""


@pytest.mark.thorough
def test_a_second_process_compiles_while_the_first_does_nothing_and_ends_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    # In the current folder others of its modules' names may lie.
    (tmp_path / "workbench").mkdir()
    (tmp_path / "workbench" / "__init__.py").write_text("raise SystemExit('a decoy was imported')")
    said = subprocess.run(
        [sys.executable, "-P", "-c", SLEEPER], capture_output=True, text=True, timeout=200, cwd=tmp_path
    )
    assert said.stdout.split("\n")[:2] == ["True", "no process is left"], said


@pytest.mark.parametrize(
    ("load", "ready", "word"),
    [(1.6, False, "box"), (0.0, True, "box"), (0.0, False, "./mine.py:box")],
    ids=["no processor is idle", "nothing to do", "code of one's own"],
)
def test_no_second_process_where_it_would_not_help(load, ready, word, monkeypatch):
    class Each:
        def is_ready(self):
            return ready

    monkeypatch.setattr("workbench.step.local_steps.remember_each", Each())
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load), raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr("workbench.cli.ahead._started", lambda *_: pytest.fail("a process was started"))
    with compiled_ahead(["compare", "wheel", "-f", word], *chosen(parsed(["compare", "wheel"]))):
        pass


def test_a_second_process_that_cannot_start_harms_nothing(monkeypatch):
    class Each:
        def is_ready(self):
            return False

    def refuse(_):
        tried.append(1)
        raise OSError("no more processes")

    tried = []
    monkeypatch.setattr("workbench.step.local_steps.remember_each", Each())
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refuse)
    with compiled_ahead(["compare", "wheel"], *chosen(parsed(["compare", "wheel"]))):
        pass
    assert tried


def test_the_comparison_in_short_is_the_same_one_from_its_end_on():
    case, given = chosen(parsed(["compare", "wheel", "--step", "1e-3,5e-4", "--relax", "rigid"]))
    short = in_short(case, given)
    assert [f.name for f in short["formulations"]][::-1] == FORMULATIONS.names
    assert short["duration"] == pytest.approx(0.01)
    assert {k: v for k, v in short.items() if k not in ("formulations", "duration", "workers")} == {
        k: v for k, v in given.items() if k not in ("formulations", "duration", "workers")
    }
    case, given = chosen(parsed(["compare", "wheel", "-f", "box", "-f", "ccp", "--duration", "2e-3"]))
    short = in_short(case, given)
    assert [f.label for f in short["formulations"]] == ["ccp", "box"]
    assert short["duration"] == 2e-3
