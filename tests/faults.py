"""Studies, and `solve` with many files, that are killed, interrupted, starved of disk and damaged, at moments out of a
fixed seed, and then resumed.

After each the rows equal those of a command that nothing has disturbed, bit for bit but for times; no finished record
is lost; no process and no temporary file is left. The tests do a few; `python -m tests.faults --moments 50` does that
many of each kind, some five seconds each.
"""

import argparse
import io
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from tests.journals import damaged, kept
from tests.tables import TIMES
from workbench.cli.main import main

ROOT = Path(__file__).parents[1]
RUNS = 48
PATIENCE = 300


@dataclass(frozen=True)
class Command:
    """A command that keeps `RUNS` records in the folder "out": its words, files and table; `prepare` comes before."""

    words: Sequence[str]
    files: frozenset[str]
    table: Callable[[Path], pd.DataFrame]
    prepare: Callable[[Path], object] = lambda folder: None

    @cached_property
    def undisturbed(self) -> pd.DataFrame:
        """The rows of the command that nothing happens to."""
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(Path(folder))
            assert self.again(Path(folder)) == (0, "")
            return self.rows(Path(folder))

    def again(self, folder: Path, *words: str) -> tuple[int, str]:
        """The same command in this process, which has imported everything: its status, and what it says of errors."""
        said = io.StringIO()
        with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(said):
            status = main([*self.words, *words])
        return status, "\n".join(line for line in said.getvalue().splitlines() if line.startswith("workbench:"))

    def rows(self, folder: Path) -> pd.DataFrame:
        """The table in the folder, without times."""
        found = self.table(folder / "out")
        return found.drop(columns=[*TIMES], errors="ignore")


def problems(folder: Path) -> None:
    """LCPs that take some milliseconds each."""
    rng = np.random.default_rng(0)
    (folder / "problems").mkdir()
    for i in range(RUNS):
        half = rng.standard_normal((60, 40))
        np.savez(folder / "problems" / f"{i:02}.npz", M=half @ half.T + 0.1 * np.eye(60), q=rng.standard_normal(60))


STUDY = Command(
    [
        "study", "wheel", "--vary", f"mu=0.1:0.9:{RUNS // 2}", "-f", "box", "-f", "coulomb", "--duration", "0.01",
        "--reference-step", "5e-4", "--workers", "2", "--out", "out",
    ],
    frozenset({"journal.jsonl", "plan.parquet", "provenance.json", "report.html", "rows.csv", "rows.parquet"}),
    lambda out: pd.read_parquet(out / "rows.parquet"),
)  # fmt: skip
SOLVE = Command(
    ["solve", "problems", "--out", "out"],
    frozenset({"journal.jsonl", "profile.csv", "provenance.json", "results.csv", "summary.csv"}),
    lambda out: pd.read_csv(out / "results.csv"), problems,
)  # fmt: skip


class Run:
    """A command at work in a folder; an entry of their environment leads its processes to be found."""

    def __init__(self, folder: Path, *words: str, command: Command = STUDY, limit: int | None = None) -> None:
        self.out = folder / "out"
        command.prepare(folder)
        self.mark = f"FAULTS={folder}"
        # What a shell starts in the background ignores Ctrl-C, and so would this.
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbench", *command.words, *words], cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "FAULTS": str(folder)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: prepared(limit), restore_signals=False,
        )  # fmt: skip
        self.errors = ""

    def wait_for(self, records: int, seconds: float) -> None:
        """So many seconds after so many records are there, and their folder."""
        journal = self.out / "journal.jsonl"
        while self.process.poll() is None:
            if self.out.exists() and (not records or _lines(journal) >= records):
                break
            time.sleep(0.002)
        time.sleep(seconds)

    def end(self) -> int:
        """The status when it and all of its processes have ended; those that have not are errors."""
        _, self.errors = self.process.communicate(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.errors += f"processes are left: {left}\n" if left else ""
        return -1 if left else self.process.returncode

    def processes(self) -> list[int]:
        """All of its processes, found by their environment."""
        return marked(self.mark)

    def workers(self) -> list[int]:
        """The processes that make rows: those that a process of ours has forked."""
        return [pid for pid in self.processes() if _parent(pid) in set(self.processes()) - {self.process.pid}]


def marked(mark: str) -> list[int]:
    """Processes that live and have this entry, NAME=VALUE, in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
    return found


def _lines(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def prepared(limit: int | None = None) -> None:
    """What a process of ours does first: it hears Ctrl-C, and writes no file of more bytes than the limit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int((Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    return 0


def resumed(folder: Path, *words: str, command: Command = STUDY, may_be_damaged: bool = False) -> list[str]:
    """What is wrong after the same command has gone on."""
    out = folder / "out"
    before = kept(out)
    status, heard = command.again(folder, *words)
    wrong = [f"resuming ended with {status}: {heard}"] if status else []
    now = kept(out)
    lost = [key for key, record in before.items() if now.get(key) != record]
    wrong += [f"{len(lost)} of {len(before)} records are lost or were made again"] if lost else []
    wrong += [f"{len(now)} runs are kept, not {RUNS}"] if len(now) != RUNS else []
    with suppress(OSError):
        wrong += [] if command.rows(folder).equals(command.undisturbed) else ["the rows differ"]
    left = {path.name for path in out.iterdir()} ^ command.files | {path.name for path in folder.glob(".*")}
    wrong += [f"files are left or missing: {sorted(left)}"] if left else []
    wrong += [f"damage is reported, {damaged(out)}"] if damaged(out) and not may_be_damaged else []
    return wrong


def interrupted(number: int, folder: Path, records: int, seconds: float, command: Command = STUDY) -> list[str]:
    """What is wrong after a signal for the main process, and after going on."""
    run = Run(folder, command=command)
    run.wait_for(records, seconds)
    run.process.send_signal(number)
    status, wrong = run.end(), []
    if status == 0 or (status == -number != -signal.SIGKILL and (run.out / "provenance.json").exists()):
        # All was written by then; a signal that comes while the interpreter ends has nothing left to undo.
        return resumed(folder, command=command)
    if number == signal.SIGKILL:
        wrong += [] if status == -number else [f"status {status}"]
    else:
        wrong += [] if status == 128 + number else [f"status {status}: {run.errors}"]
        heard = re.findall(r"^workbench: interrupted.*$", run.errors, re.MULTILINE)
        there = len(kept(run.out))
        said = "the same command resumes" if there or command is STUDY else "nothing was written"
        wrong += [] if len(heard) == 1 and said in heard[0] else [run.errors]
        wrong += (
            [f"{there} are kept: {heard}"] if heard and " of " in heard[0] and f" {there} of " not in heard[0] else []
        )
        wrong += [run.errors] if "Traceback" in run.errors else []
    return wrong + resumed(folder, command=command)


def main_killed(folder: Path, records: int, seconds: float) -> list[str]:
    """kill -9 of the main process."""
    return interrupted(signal.SIGKILL, folder, records, seconds)


def main_terminated(folder: Path, records: int, seconds: float) -> list[str]:
    """SIGTERM for the main process."""
    return interrupted(signal.SIGTERM, folder, records, seconds)


def main_interrupted(folder: Path, records: int, seconds: float) -> list[str]:
    """SIGINT for the main process."""
    return interrupted(signal.SIGINT, folder, records, seconds)


def solving_killed(folder: Path, records: int, seconds: float) -> list[str]:
    """kill -9 of `solve` with a folder of problems."""
    return interrupted(signal.SIGKILL, folder, records, seconds, SOLVE)


def solving_interrupted(folder: Path, records: int, seconds: float) -> list[str]:
    """SIGINT for `solve` with a folder of problems."""
    return interrupted(signal.SIGINT, folder, records, seconds, SOLVE)


def worker_killed(folder: Path, records: int, seconds: float) -> list[str]:
    """kill -9 of a worker, which the study outlives."""
    run = Run(folder)
    run.wait_for(max(records, 1), seconds)
    for pid in run.workers()[:1]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wrong = [f"status {run.process.returncode}: {run.errors}"] if run.end() else []
    return wrong + resumed(folder)


def dask_worker_killed(folder: Path, records: int, seconds: float) -> list[str]:
    """kill -9 of one of Dask's workers, which its nanny replaces."""
    with dask(folder) as (address, workers):
        words = ["--executor", address]
        run = Run(folder, *words)
        run.wait_for(max(records, 1), seconds)
        for pid in workers()[:1]:
            os.kill(pid, signal.SIGKILL)
        wrong = [f"status {run.process.returncode}: {run.errors}"] if run.end() else []
        return wrong + resumed(folder, *words)


def disk_full(folder: Path, records: int, seconds: float) -> list[str]:
    """No room for all of it: a small file system in memory; for who may not mount one, a limit of the files' sizes."""
    size = 4096 * (1 + records * 10 + round(10 * seconds))
    with small_disk(folder, size) as (place, limit, enlarge):
        run = Run(place, limit=limit)
        status, wrong = run.end(), []
        wrong += [f"status {status}: {run.errors}"] if status not in (0, 2) else []
        lines = [line for line in run.errors.splitlines() if line.startswith("workbench: cannot write to")]
        wrong += [run.errors] if "Traceback" in run.errors or (status == 2 and len(lines) != 1) else []
        enlarge()
        return wrong + resumed(place)


def journal_damaged(folder: Path, records: int, seconds: float) -> list[str]:
    """The main process is killed, and bytes of the journal are changed, cut off or put in between."""
    run = Run(folder)
    run.wait_for(max(records, 1), seconds)
    run.process.kill()
    run.end()
    rng, journal = random.Random(f"{records} {seconds}"), run.out / "journal.jsonl"
    content = bytearray(journal.read_bytes())
    for _ in range(3):
        at = rng.randrange(len(content))
        kind = rng.choice(["changed", "cut off", "put in"])
        if kind == "changed":
            content[at] ^= 1 << rng.randrange(8)
        elif kind == "cut off":
            del content[max(at, 1) :]
        else:
            content[at:at] = rng.randbytes(100)
    journal.write_bytes(content)
    return resumed(folder, may_be_damaged=True)


FAULTS = (
    main_killed, worker_killed, main_terminated, main_interrupted, dask_worker_killed, disk_full, journal_damaged,
    solving_killed, solving_interrupted,
)  # fmt: skip


@contextmanager
def dask(folder: Path) -> Iterator[tuple[str, Callable[[], list[int]]]]:
    """A scheduler with two workers: its address for us, and a function that finds the workers' processes."""
    from distributed import LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL")
    with cluster:
        yield (
            cluster.scheduler_address.replace("tcp", "dask"),
            lambda: [nanny.pid for nanny in cluster.workers.values() if nanny.pid],
        )


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[tuple[Path, int | None, Callable[[], object]]]:
    """A folder on a disk of so many bytes, a limit where it is none, and a function that makes it large."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        yield place, size, lambda: None
        return
    try:
        yield place, None, lambda: subprocess.run(["mount", "-o", "remount,size=100m", str(place)], check=True)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def moments(seed: int, count: int) -> list[tuple[int, float]]:
    """Numbers of finished records and seconds thereafter: while it begins, while it runs, while it writes its page."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        records = rng.choice([0, rng.randrange(1, RUNS), rng.randrange(1, RUNS), RUNS])
        found.append((records, round(rng.uniform(0.0, 0.3 if 0 < records < RUNS else 2.0), 3)))
    return found


def tried(fault: Callable[[Path, int, float], list[str]], moment: tuple[int, float]) -> list[str]:
    """What is wrong after a fault at a moment, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return fault(Path(folder), *moment)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--moments", type=int, default=50)
    words.add_argument("--only", choices=[fault.__name__ for fault in FAULTS], action="append")
    given = words.parse_args()
    for seed, fault in enumerate(FAULTS):
        if given.only and fault.__name__ not in given.only:
            continue
        found = {moment: tried(fault, moment) for moment in moments(seed, given.moments)}
        wrong = {moment: heard for moment, heard in found.items() if heard}
        print(f"{fault.__name__}: {len(found) - len(wrong)} of {len(found)} as they should be", flush=True)
        for (records, seconds), heard in wrong.items():
            print(f"  {seconds} s after {records} records: {'; '.join(heard)}", flush=True)
