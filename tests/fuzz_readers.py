"""Fuzzing of the readers: valid files of every format, damaged at random, must be read or refused in one line.

    python -m tests.fuzz_readers --minutes 10 [--seed 0] [--keep FOLDER]

Each input is made from (seed, number) alone, so that a failure can be had again. Inputs are read in a child process
with `MEMORY` bytes beyond what it starts with and `SECONDS` for each; a death or a hang of the child is a failure of
the input it was at. Nothing in a file may be executed: pickles among the inputs leave a mark if they are loaded.
"""

import argparse
import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SECONDS = 5.0
"""Time for one input [s]."""
MEMORY = 2 * 10**9
"""Memory beyond what a child starts with [bytes]."""
LONGEST_LINE = 400
"""Characters of a refusal."""


def outcomes(seed: int, seconds: float, count: int | None = None) -> Iterator[tuple[int, str, str]]:
    """(number, outcome, words) of one input after the other: outcome `read`, `refused`, or what went wrong."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end and (count is None or number < count):
        command = [sys.executable, "-m", "tests.fuzz_readers", "--child", str(seed), str(number), str(count or 10**9)]
        alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        # Without a buffer, so that `select` sees all that has not been read.
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
        with subprocess.Popen(command, **pipes, cwd=Path(__file__).parents[1], env=alone) as child:
            try:
                for heard in _listen(child, number, end):
                    yield heard
                    number = heard[0] + 1
            finally:
                child.kill()


def _listen(child: subprocess.Popen, number: int, end: float) -> Iterator[tuple[int, str, str]]:
    """What a child says, until it is done, dead or silent for too long, or the time is over."""
    assert child.stdout
    assert child.stderr
    # To import everything, and to make an input, is not what is timed.
    patience = 60.0
    while time.monotonic() < end or patience == SECONDS:
        if not select.select([child.stdout], [], [], patience)[0]:
            yield number, "hang", f"no answer within {patience:g} s"
            return
        line = child.stdout.readline()
        if not line:
            child.wait()
            if child.returncode:
                said = child.stderr.read().decode(errors="replace").strip().splitlines()
                yield number, "death", f"exit code {child.returncode}: {said[-1] if said else ''}"
            return
        found = json.loads(line)
        number, patience = found["number"], SECONDS
        if "outcome" in found:
            patience = 60.0
            yield number, found["outcome"], found["words"]


def run_child(seed: int, first: int, count: int) -> None:
    """Read inputs and tell what came of them, a line of JSON each."""
    from tests.damaged_files import Damage

    warnings.simplefilter("error")
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mark = Path("executed")
        damage = Damage(mark)
        for number in range(first, count):
            name, content = damage.file(random.Random(f"{seed} {number}"))
            path = Path(name)
            path.write_bytes(content)
            print(json.dumps({"number": number}), flush=True)
            outcome, words = _read(path)
            if mark.exists():
                outcome, words = "executed", "what was pickled in the file has run"
                mark.rmdir()
            path.unlink()
            print(json.dumps({"number": number, "outcome": outcome, "words": f"{name}: {words}"}), flush=True)


def _read(path: Path) -> tuple[str, str]:
    """Both ways in: the problem of `workbench solve`, the matrix of `workbench check`."""
    from workbench.readers.files import read_problem_file
    from workbench.readers.problem import read_problem
    from workbench.support.errors import DataError

    outcome, words = "refused", ""
    for reader in (read_problem_file, read_problem):
        start = time.perf_counter()
        try:
            reader(path)
            outcome = "read"
        except DataError as error:
            words = str(error)
            if "\n" in words or not words or len(words) > LONGEST_LINE:
                return "not one line", repr(words[:1000])
        except BaseException as error:
            return type(error).__name__, f"{reader.__name__}: {str(error)[:200]!r}"
        if time.perf_counter() - start > SECONDS:
            return "slow", reader.__name__
    return outcome, words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for inputs that fail")
    parser.add_argument("--child", nargs=3, type=int, help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.child:
        run_child(*o.child)
        return
    counts: Counter[str] = Counter()
    for number, outcome, words in outcomes(o.seed, 60.0 * o.minutes):
        counts[outcome] += 1
        if outcome in ("read", "refused"):
            continue
        print(f"input {number}: {outcome}: {words}", flush=True)
        if o.keep:
            from tests.damaged_files import Damage

            o.keep.mkdir(parents=True, exist_ok=True)
            name, content = Damage(Path("executed")).file(random.Random(f"{o.seed} {number}"))
            (o.keep / f"{number}-{name}").write_bytes(content)
    print(f"{counts.total()} inputs: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    sys.exit(bool(set(counts) - {"read", "refused"}))


if __name__ == "__main__":
    main()
