"""What a study costs beside its runs: the machinery's share of the time, and the memory of the main process.

`python -m benchmarks.study` makes 20,000 runs of the wheel (5 formulations, 4 steps, 1000 friction coefficients, all of
10 ms) in two processes, and writes their table and page; `--points 20` is a short form, and the first run compiles.
The machinery's share is measured by the clock, which other work on the machine blurs, and by the processor's time of
workers in `run_unit` and of the main process. With `--copied` each worker makes the rows of one point and hands them on
for all others, which measures memory without the work.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import workbench as wb
from workbench.studies import study as machinery
from workbench.studies.work import run_unit

FORMULATIONS = ["box", "ccp", "stewart-trinkle", "mujoco", "coulomb"]
STEPS = [1e-3, 2e-3, 2.5e-3, 5e-3]
FIRST = []
"""The rows of a worker's first unit, where they are copied."""


def timed(unit):
    """A unit's records, and seconds of its worker: by the clock and by the processor, in `run_unit`."""
    start, busy = time.perf_counter(), time.process_time()
    records = run_unit(unit)
    return records, time.perf_counter() - start, time.process_time() - busy


def copied(unit):
    """As `timed`, with the rows of the first unit that this worker has had."""
    if not FIRST:
        FIRST.extend(rows for _, rows in run_unit(unit))
    return [(key, rows) for (key, _), rows in zip(unit.wanted, FIRST, strict=True)], 0.0, 0.0


def memory(name):
    """The main process's [MB], where Linux tells: now (VmRSS) or the most there ever was (VmHWM)."""
    (line,) = (x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(name))
    return int(line.split()[1]) * 1024 / 1e6


def measure(points, workers, work):
    """A study of so many points, and what it took."""
    spent, busy, whole = [], [], machinery.done

    def done(pool, function, units):
        for unit, found in whole(pool, work, units):
            if isinstance(found, Exception):
                raise found
            records, seconds, processor = found
            spent.append(seconds)
            busy.append(processor)
            yield unit, records

    def progress(p):
        if not moments:
            moments.append((time.perf_counter(), time.process_time(), memory("VmRSS")))
        moments[1:] = [(time.perf_counter(), time.process_time(), p.kept + p.made)]

    moments, machinery.done = [], done
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = wb.study(
            "wheel", FORMULATIONS, parameters={"mu": f"0.05:1.5:{points}"}, steps=STEPS, duration=0.01,
            reference_step=5e-4, folder=folder, workers=workers, progress=progress,
        )  # fmt: skip
        assert found.whole
        after_runs, ended = memory("VmHWM"), time.perf_counter()
        found.write(Path(folder))
    (begun, own_begun, before), (last, own_last, runs) = moments
    wall, own, load = last - begun, own_last - own_begun, os.getloadavg()[0]
    print(f"{runs} runs, {workers} workers, load {load:.1f}; planning {begun - start:.1f} s")
    if sum(busy):
        print(
            f"wall {wall:.1f} s; workers in rows_of {sum(spent):.1f} s by the clock, {sum(busy):.1f} of the processor"
        )
        print(f"share of the machinery by the clock, 1 - sum/(workers x wall): {1 - sum(spent) / (workers * wall):.1%}")
        print(f"processor time of the main process over that of the workers: {own / sum(busy):.1%} ({own:.1f} s)")
    print(f"table and page {time.perf_counter() - ended:.1f} s")
    print(
        f"memory of the main process: {before:.0f} MB when it begins, at most {after_runs:.0f} MB with all runs made, "
        f"{memory('VmHWM'):.0f} MB with the table and the page written"
    )


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--points", type=int, default=1000)
    words.add_argument("--workers", type=int, default=2)
    words.add_argument("--copied", action="store_true", help="make one point's rows, and copy them")
    given = words.parse_args()
    measure(given.points, given.workers, copied if given.copied else timed)
