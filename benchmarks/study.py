"""What a study costs beside its runs: the machinery's share of the time, and the memory of the main process.

`python -m benchmarks.study` makes 20,000 runs of the wheel (5 formulations, 4 steps, 1000 friction coefficients, all of
10 ms) in two processes; `--points 20` is a short form, and the first run compiles. Two measures: by the clock, which
other work on the machine blurs, and by the processor's time of workers in `rows_of` and of the main process.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import workbench as wb
from workbench.studies import study as machinery
from workbench.studies.work import rows_of

FORMULATIONS = ["box", "ccp", "stewart-trinkle", "mujoco", "coulomb"]
STEPS = [1e-3, 2e-3, 2.5e-3, 5e-3]


def timed(unit):
    """A unit's records, and seconds of its worker: by the clock and by the processor, in `rows_of`."""
    start, busy = time.perf_counter(), time.process_time()
    records = rows_of(unit)
    return records, time.perf_counter() - start, time.process_time() - busy


def memory():
    """The main process's [MB] now, where Linux tells."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(points, workers):
    """A study of so many points, and what it took."""
    spent, busy, seen = [], [], []

    def done(pool, function, units):
        for unit, found in whole(pool, timed, units):
            if isinstance(found, Exception):
                raise found
            records, seconds, processor = found
            spent.append(seconds)
            busy.append(processor)
            yield unit, records

    def progress(p):
        now.append((p.kept + p.made, time.perf_counter(), time.process_time()))
        if len(now) % 50 == 1:
            seen.append(memory())

    now, whole = [], machinery.done
    machinery.done = done
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = wb.study(
            "wheel", FORMULATIONS, parameters={"mu": f"0.05:1.5:{points}"}, steps=STEPS, duration=0.01,
            reference_step=5e-4, folder=folder, workers=workers, progress=progress,
        )  # fmt: skip
    planned, ended = now[0], now[-1]
    wall, own = ended[1] - planned[1], ended[2] - planned[2]
    print(f"{ended[0]} runs, {workers} workers, load {os.getloadavg()[0]:.1f}; planning {planned[1] - start:.1f} s")
    print(f"wall {wall:.1f} s; workers in rows_of {sum(spent):.1f} s by the clock, {sum(busy):.1f} s of the processor")
    print(f"share of the machinery by the clock, 1 - sum/(workers x wall): {1 - sum(spent) / (workers * wall):.1%}")
    print(f"processor time of the main process over that of the workers: {own / sum(busy):.1%} ({own:.1f} s)")
    print(f"memory of the main process: {seen[0]:.0f} MB when it begins, {memory():.0f} MB at its end")
    assert found.whole


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--points", type=int, default=1000)
    words.add_argument("--workers", type=int, default=2)
    given = words.parse_args()
    measure(given.points, given.workers)
