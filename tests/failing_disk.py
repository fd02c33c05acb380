"""Commands on a disk that fails: every open, write, synchronisation, rename, truncation and removal in turn is refused,
since the disk is full or broken, or is the last thing that the process does; one that dies may leave half a write.

After each the same command runs again on a sound disk, and its results equal those of a command that nothing has
disturbed, byte for byte but for times. Before it, nothing has half a result under its final name, and a failure is one
line. `python -m tests.failing_disk [--only NAME] [--every N]` needs Linux and a C compiler and prints a table; the
tests do some points of one command.
"""

import argparse
import ctypes
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
KINDS = ("full", "broken", "death", "torn")
"""ENOSPC and EIO from the call; the process ends before it, or half-way through where it is a write."""
DIED = 99
TIMES = "time$|^time_|_time|seconds|^cost|^timings$"
"""Names of what is measured in seconds, and differs from run to run."""


@dataclass(frozen=True)
class Command:
    """A command of the command line, and what it needs in its folder."""

    words: str
    prepare: Callable[[Path], object] = lambda folder: None
    out: str = "out"


def _problems(folder: Path) -> None:
    rng = np.random.default_rng(0)
    (folder / "problems").mkdir()
    (folder / "answer").mkdir()
    for i in range(3):
        half = rng.standard_normal((6, 4))
        np.savez(folder / "problems" / f"{i}.npz", M=half @ half.T + 0.1 * np.eye(6), q=rng.standard_normal(6))


def _tosses(folder: Path) -> None:
    from tests.tosses import tosses, write_tosses

    write_tosses(folder / "tosses", tosses(4, 6, mu=0.2, e=0.0))


COMMANDS = {
    "solve FILE": Command("solve problems/0.npz --out answer/z.npz", _problems, "answer"),
    "solve FOLDER": Command("solve problems --out out", _problems),
    "compare": Command("compare wheel -f box --duration 0.01 --reference-step 1e-3 --out out"),
    "study": Command("study wheel --vary mu=0.2,0.4 -f box --duration 0.005 --reference-step 1e-3 --out out"),
    "reality": Command(
        "reality tosses -f box --rows rigid --share 0.5 --normal gap --members 0 --workers 1 --out out", _tosses
    ),
    "exam": Command("exam coulomb --experiment lift --step 5e-3 --workers 1 --out out"),
}


@contextmanager
def here(workers: int) -> Iterator[Any]:
    """Units of a study are made in this process, whose calls alone are counted and fail."""

    class Here:
        def submit(self, function: Callable, unit: Any) -> Future:
            future: Future = Future()
            future.set_result(function(unit))
            return future

    yield Here()


def command(words: str, folder: Path, armed: Callable[[], object] = lambda: None) -> tuple[int, str]:
    """Run a command in a forked process: its status, and what it says on standard error."""
    said, process = folder.with_suffix(".said"), os.fork()
    if not process:
        status = 97
        try:
            os.chdir(folder)
            heard = io.StringIO()
            with redirect_stdout(io.StringIO()), redirect_stderr(heard):
                from workbench.cli.main import main

                armed()
                status = main([*words.split(), "--json"] if "study" not in words else words.split())
        except BaseException as error:
            heard.write(f"Traceback: {error!r}")
        finally:
            shim().arm(b"", -1, 0, -1)
            said.write_text(heard.getvalue())
            os._exit(status)
    _, ended = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(ended), said.read_text() if said.exists() else ""


def shim() -> ctypes.CDLL:
    """The C functions that are before the system's in this process."""
    return ctypes.CDLL(os.environ["LD_PRELOAD"])


def points(words: str, prepare: Callable[[Path], object], folder: Path) -> list[str]:
    """Names of the calls of an undisturbed command below its folder, in their order."""
    prepare(folder)
    with open(folder.with_suffix(".calls"), "w+b") as log:
        status, heard = command(words, folder, lambda: shim().arm(bytes(folder), -1, 0, log.fileno()))
        assert status == 0, heard
        log.seek(0)
        return log.read().decode().split()


def content(out: Path) -> dict[str, Any]:
    """What is in a folder, without times: bytes, or what a table or a journal holds."""
    return {str(p.relative_to(out)): _content(p) for p in sorted(out.rglob("*")) if p.is_file()} if out.exists() else {}


def _content(path: Path) -> Any:
    import pandas as pd

    if _is_journal(path.name):
        from tests.journals import kept

        return {key: _timeless(rows) for key, (_, rows) in kept(path.parent).items()}
    match path.suffix:
        case ".csv" | ".parquet":
            frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
            kept_columns = [name for name in frame if not re.search(TIMES, str(name))]
            return frame[kept_columns].to_csv()
        case ".json":
            return _timeless(json.loads(path.read_text("utf-8")))
        case ".html":
            # Pages show times; whole ones end with their last tag.
            return path.read_text("utf-8").rstrip().endswith("</html>")
    return path.read_bytes()


def _timeless(x: Any) -> Any:
    if isinstance(x, dict):
        return {k: _timeless(v) for k, v in x.items() if not re.search(f"{TIMES}|^created$", k)}
    return [_timeless(v) for v in x] if isinstance(x, list) else x


def wrong_after(
    name: str, k: int, call: str, kind: str, expected: dict[str, Any], folder: Path
) -> tuple[str, list[str]]:
    """How a command ended whose k-th call failed in this way, and what is wrong with that and with running it again."""
    what = COMMANDS[name]
    what.prepare(folder)
    status, heard = command(what.words, folder, lambda: shim().arm(bytes(folder), k, KINDS.index(kind), -1))
    wrong, lines = [], [line for line in heard.splitlines() if line.startswith("workbench: ")]
    if status == DIED:
        how = "died"
    elif status == 0:
        how = "unharmed"
    else:
        how = "one line"
        wrong += [f"status {status}: {heard[-300:]}"] if status != 2 or len(lines) != 1 else []
        hidden = [p.name for p in folder.rglob(".*") if not p.name.endswith((".said", ".calls"))]
        wrong += [f"hidden files are left: {hidden}"] if hidden else []
    if "Traceback" in heard:
        wrong.append(f"a traceback: {heard[-300:]}")
    # A problem that could not be read is a row that says so, and stays one as every row without an answer does.
    told = status == 0 and kind == "broken" and call == "open" and "solve" in name
    for path, found in () if told else _results(folder / what.out).items():
        if found != expected.get(path):
            wrong.append(f"{path} is there and not whole")
    status, heard = command(what.words, folder)
    wrong += [f"again: status {status}: {heard[-300:]}"] if status else []
    now = content(folder / what.out)
    for path in sorted(expected.keys() | now.keys()):
        found, due = now.get(path), expected.get(path)
        if _is_journal(path) and found and due:
            # What failed stands there too.
            found = {key: rows for key, rows in found.items() if key in due}
        wrong += [f"{path} differs"] if found != due and not told else []
    hidden = [p.name for p in folder.rglob(".*")]
    wrong += [f"hidden files are left: {hidden}"] if hidden else []
    return how, wrong


def _results(out: Path) -> dict[str, Any]:
    """The files under their final names, but for what grows as rows come."""
    try:
        found = content(out)
    except Exception as error:
        return {f"a file that cannot be read ({error})": None, "": None}
    hidden = {path for path in found if any(part[:1] == "." for part in Path(path).parts)}
    return {path: x for path, x in found.items() if not _is_journal(path) and path not in hidden}


def _is_journal(path: str) -> bool:
    return Path(path).name.startswith("journal")


def tried(name: str, every: int = 1) -> tuple[list[str], Counter[tuple[str, str]], list[str]]:
    """The calls of a command, how it ended by kind of failure, and what was wrong, at every so many calls of each."""
    from workbench.cli.main import main

    what, ended, wrong = COMMANDS[name], Counter[tuple[str, str]](), []
    with tempfile.TemporaryDirectory(prefix="failing-") as place:
        first = Path(place).resolve() / "undisturbed"
        first.mkdir()
        # In this process, which then has imported, and compiled, what those that it forks need.
        what.prepare(first)
        with chdir(first), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert main(what.words.split()) == 0
        shutil.rmtree(first)
        first.mkdir()
        calls = points(what.words, what.prepare, first)
        expected = content(first / what.out)
        for kind in KINDS:
            for k in range(0, len(calls), every):
                if kind == "torn" and calls[k] != "write":
                    continue
                # The same folder again, whose name stands in results.
                shutil.rmtree(first)
                first.mkdir()
                how, found = wrong_after(name, k, calls[k], kind, expected, first)
                ended[kind, how if not found else "wrong"] += 1
                wrong += [f"{name}, {kind} at call {k} ({calls[k]}): {'; '.join(found)}"] if found else []
    return calls, ended, wrong


def preload() -> Path | None:
    """The compiled shim in a folder of its own; None where there is no compiler."""
    compiler = shutil.which("cc")
    if not compiler or sys.platform != "linux":
        return None
    place = Path(tempfile.mkdtemp(prefix="shim-")) / "failing_disk.so"
    source = ROOT / "tests" / "failing_disk.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", place, source, "-ldl"], check=True)
    return place


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--only", choices=COMMANDS, action="append")
    words.add_argument("--every", type=int, default=1)
    given = words.parse_args()
    if not os.environ.get("LD_PRELOAD"):
        place = preload()
        if place is None:
            print("a failing disk needs Linux and a C compiler")
            return 0
        try:
            environment = os.environ | {"LD_PRELOAD": str(place), "OPENBLAS_NUM_THREADS": "1"}
            return subprocess.call([sys.executable, "-m", "tests.failing_disk", *sys.argv[1:]], env=environment)
        finally:
            shutil.rmtree(place.parent)
    from workbench.studies import executors

    executors._processes = here
    failures = []
    print("| command | calls | kind | points | died | one line | unharmed | wrong |\n|---|---|---|---|---|---|---|---|")
    for name in given.only or COMMANDS:
        calls, ended, wrong = tried(name, given.every)
        for kind in KINDS:
            counts = [ended[kind, how] for how in ("died", "one line", "unharmed", "wrong")]
            print(f"| {name} | {len(calls)} | {kind} | {sum(counts)} | {' | '.join(map(str, counts))} |", flush=True)
        failures += wrong
    for line in failures:
        print(line)
    return int(bool(failures))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
