"""Signals that strike while kernels compile, into empty caches, at moments out of a fixed seed.

The tests do a few; `python -m tests.strikes --moments 50` does that many for each signal, some five seconds each.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

SOLVE = """
import signal, sys
import numpy as np
from workbench.algorithms import find_solver
from workbench.problems.classes import LCP
number = int(sys.argv[1])

class Struck(Exception):
    pass

def strike(*_):
    raise Struck

def solved():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(20, 20))
    return lemke.solve(LCP(B @ B.T + np.eye(20), rng.normal(size=20))).verified

lemke = find_solver("lemke")
signal.signal(number, strike)
print("ready", flush=True)
try:
    solved()
    # The moment comes after the last kernel.
    signal.pause()
except Struck:
    print("struck", flush=True)
print(solved())
"""
COMPARE = [sys.executable, "-m", "workbench", "compare", "wheel", "--duration", "1", "--out", "result"]


def struck(number: int, moment: float) -> list[str]:
    """What is wrong after a handler has raised an exception that many seconds after compiling began."""
    with tempfile.TemporaryDirectory() as folder:
        process = _start([sys.executable, "-c", SOLVE, str(int(number))], folder)
        assert process.stdout.readline() == "ready\n"
        time.sleep(moment)
        process.send_signal(number)
        out, errors = process.communicate(timeout=300)
    wrong = [f"status {process.returncode}"] if process.returncode else []
    wrong += [f"it printed {out.split()}"] if out.split() != ["struck", "True"] else []
    return [*wrong, errors] if errors else wrong


def ended(number: int, moment: float) -> list[str]:
    """What is wrong after a command has been ended that many seconds after its hidden folder was made."""
    with tempfile.TemporaryDirectory() as folder:
        process = _start(COMPARE, folder)
        while process.poll() is None and not list(Path(folder).glob(".result-*")):
            time.sleep(0.001)
        time.sleep(moment)
        process.send_signal(number)
        # The pipe ends when the last process that holds it has ended: no worker stays behind.
        _, errors = process.communicate(timeout=300)
        left = sorted(path.name for path in Path(folder).iterdir() if path.name != "cache")
    wrong = [f"status {process.returncode}"] if process.returncode != 128 + number else []
    wrong += [f"it left {left}"] if left else []
    polite = number == signal.SIGINT and errors.startswith("workbench: interrupted")
    return [*wrong, errors] if errors and not polite else wrong


def _start(command: list[str], folder: str) -> subprocess.Popen:
    cache = str(Path(folder) / "cache")
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "CONTACT_WORKBENCH_CACHE": cache, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def moments(seed: int, count: int = 3) -> list[float]:
    """Seconds within which kernels compile."""
    rng = random.Random(seed)
    return [round(rng.uniform(0.0, 3.0), 3) for _ in range(count)]


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--moments", type=int, default=50)
    count = words.parse_args().moments
    for strike, names in (
        (struck, ("SIGALRM", "SIGTERM", "SIGHUP", "SIGUSR1")),
        (ended, ("SIGTERM", "SIGHUP", "SIGINT")),
    ):
        for seed, name in enumerate(names):
            found = {moment: strike(getattr(signal, name), moment) for moment in moments(seed, count)}
            wrong = {moment: words for moment, words in found.items() if words}
            print(f"{strike.__name__} by {name}: {len(found) - len(wrong)} of {count} as they should be", flush=True)
            for moment, words in wrong.items():
                print(f"  after {moment} s: {'; '.join(words)}")
