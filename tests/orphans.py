"""How long worker processes outlive a command that is killed, at moments out of a fixed seed.

The commands are those that work in processes of their own, with warm caches and with empty ones, so that the moment
often comes while a worker imports or compiles. The tests do a few moments; `python -m tests.orphans --moments 20` does
that many of each command, signal and cache, some three seconds each, and prints the longest time.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults import marked, prepared
from tests.tosses import tosses, write_tosses

ROOT = Path(__file__).parents[1]
ALLOWED = 1.0
"""Seconds that a worker may outlive its parent."""
PATIENCE = 60.0


def _recordings(folder: Path) -> None:
    write_tosses(folder / "tosses", tosses(8, 30, mu=0.2, e=0.3))


COMMANDS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "study": ("study wheel --vary mu=0.1:0.9:400 -f box -f coulomb --workers 2 --out out", lambda folder: None),
    "reality": ("reality tosses -f box -f ccp -f hybrid --workers 2 --out out", _recordings),
    "exam": ("exam coulomb ccp box --workers 2 --out out", lambda folder: None),
    "compare": (
        "compare wheel -f ccp -f staggered --solver cvxpy:CLARABEL --step 1e-3 5e-4 --out out", lambda folder: None
    ),
}  # fmt: skip
"""Words of a command, and what it needs in its folder."""


def outlived(command: str, number: int, seconds: float, cold: bool) -> tuple[int, float]:
    """How many processes a command has besides its own when this signal comes, so many seconds after the first of them
    was there, and for how many seconds one of them lives on after the command has ended."""
    words, prepare = COMMANDS[command]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        mark, cache = f"ORPHANS={folder}", str(folder / "cache")
        environment = os.environ | {"PYTHONPATH": str(ROOT), "ORPHANS": str(folder)}
        environment |= {"NUMBA_CACHE_DIR": cache, "CONTACT_WORKBENCH_CACHE": cache} if cold else {}
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", *words.split()], cwd=folder, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=prepared, restore_signals=False,
        )  # fmt: skip
        while process.poll() is None and set(marked(mark)) <= {process.pid}:
            time.sleep(0.005)
        time.sleep(seconds)
        others = len(set(marked(mark)) - {process.pid})
        process.send_signal(number)
        process.wait()
        ended = time.monotonic()
        while marked(mark):
            if time.monotonic() - ended > PATIENCE:
                raise AssertionError(f"{command}: {marked(mark)} live on for {PATIENCE:g} s")
            time.sleep(0.005)
        return others, time.monotonic() - ended


def moments(seed: int, count: int) -> list[float]:
    """Seconds within which workers start, import, compile and work."""
    rng = random.Random(seed)
    return [round(rng.uniform(0.0, 5.0), 3) for _ in range(count)]


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--moments", type=int, default=20)
    given.add_argument("--only", choices=COMMANDS, action="append")
    chosen = given.parse_args()
    print("| command | signal | caches | kills | with workers | longest [s] | over 1 s |")
    print("|---|---|---|---|---|---|---|")
    for name in chosen.only or COMMANDS:
        for number in (signal.SIGKILL, signal.SIGINT):
            for cold in (False, True):
                found = [outlived(name, number, moment, cold) for moment in moments(int(number), chosen.moments)]
                busy = sum(others > 0 for others, _ in found)
                late = sum(lasted > ALLOWED for _, lasted in found)
                longest = max(lasted for _, lasted in found)
                caches = "empty" if cold else "warm"
                print(
                    f"| {name} | {number.name} | {caches} | {len(found)} | {busy} | {longest:.2f} | {late} |",
                    flush=True,
                )
