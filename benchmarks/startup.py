"""Start-up: what a process takes before its first answer, and what the first `compare wheel` of all has to compile.

    python benchmarks/startup.py [--smoke] [--before FOLDER]

Prints the processor seconds of small processes, the best of several: with all caches filled, and with numba's cache
empty. With another checkout in FOLDER (`git worktree add ../before REVISION`) its processes take turns with those of
this one. Then, for a comparison of the wheel with numba's cache empty, the processor seconds spent in compiling, by
module. Processor time depends on what else the cores do: the first row, a bare `import numba`, tells how fast the
machine was.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
GIVEN = """
import numpy as np
from workbench.problems.classes import LCP
from workbench.algorithms import find_solver
M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, -1.0])
assert find_solver("lemke").solve(LCP(M, q)).verified
"""
DECLARED = """
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import FORMULATIONS
from workbench.step.one_step import first_step
from workbench.algorithms import find_solver
step = first_step(CASES.find("wheel")(), FORMULATIONS.find("stewart-trinkle"), 1e-3)
assert step.solve(find_solver("lemke"))[0].verified
"""
FILES = """
import numpy as np
np.savez({lcp!r}, M=np.array([[2.0, 1.0], [1.0, 2.0]]), q=np.array([-1.0, -1.0]))
np.savez({friction!r}, W=np.eye(3) + 0.2, q=np.array([-1.0, 0.8, 0.2]), mu=np.array([0.5]))
"""
MATRIX = ["-m", "workbench", "check", "[2 1; 1 4/3]"]


def processes(folder):
    """What is measured: a name and the arguments of Python."""
    lcp, friction = (str(Path(folder) / f"{name}.npz") for name in ("lcp", "friction"))
    subprocess.run([sys.executable, "-c", FILES.format(lcp=lcp, friction=friction)], check=True)
    return {
        "import numba": ["-c", "import numba"],
        "`workbench --help`": ["-m", "workbench", "--help"],
        "`workbench list`": ["-m", "workbench", "list"],
        "`check '[2 1; 1 4/3]'`": MATRIX,
        "`check '[2 1; 1 4/3]' --rhs '[-1; 1]'`": [*MATRIX, "--rhs", "[-1; 1]"],
        "`check FILE`, one contact": ["-m", "workbench", "check", friction],
        "`solve FILE`, an LCP": ["-m", "workbench", "solve", lcp],
        "`solve FILE`, one contact": ["-m", "workbench", "solve", friction],
        "`show box`": ["-m", "workbench", "show", "box"],
        "solve a given (M, q)": ["-c", GIVEN],
        "first step of a declared formulation": ["-c", DECLARED],
    }


def seconds(arguments, root, cache=None):
    """Processor seconds of a process of the checkout at `root`, with numba's cache in another place."""
    environment = os.environ | {"PYTHONPATH": str(root)} | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=root, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cold_seconds(arguments, root):
    """The same with numba's cache empty."""
    with tempfile.TemporaryDirectory() as cache:
        return seconds(arguments, root, cache)


def measured(arguments, roots, rounds):
    """The best processor seconds with caches filled, and with numba's cache empty, of each checkout in turn."""
    for root in roots:
        seconds(arguments, root)
    warm = [[seconds(arguments, root) for root in roots] for _ in range(rounds)]
    # What compiles for ten seconds varies less.
    cold = [[cold_seconds(arguments, root) for root in roots] for _ in range(min(rounds, 2))]
    return [*map(min, zip(*warm, strict=True)), *map(min, zip(*cold, strict=True))]


def compile_wheel(folder):
    """In a process of its own, with an empty cache: seconds and functions compiled by module, for `compare wheel`."""
    from numba.core import event

    class Watch(event.Listener):
        def __init__(self):
            self.inner, self.spent, self.count = [], defaultdict(float), defaultdict(int)

        def on_start(self, event):
            self.inner.append((time.process_time(), 0.0))

        def on_end(self, event):
            # What is compiled on the way to another function counts for its own module.
            start, others = self.inner.pop()
            took = time.process_time() - start
            module = event.data["dispatcher"].py_func.__module__
            self.spent[module] += took - others
            self.count[module] += 1
            if self.inner:
                self.inner[-1] = (self.inner[-1][0], self.inner[-1][1] + took)

    from workbench.cli.main import main

    watch, start = Watch(), time.process_time()
    event.register("numba:compile", watch)
    status = main(["compare", "wheel", "--quiet", "--duration", "0.1", "--reference-step", "1e-3", "--out", folder])
    assert status == 0
    total = time.process_time() - start
    print("| module | functions | processor seconds |\n|---|---|---|")
    for module, spent in sorted(watch.spent.items(), key=lambda pair: -pair[1]):
        print(f"| {module} | {watch.count[module]} | {spent:.2f} |")
    print(f"| all | {sum(watch.count.values())} | {sum(watch.spent.values()):.2f} |")
    print(f"\nThe whole command took {total:.1f} processor seconds, its optimisers' processes excluded.")


def main(smoke, before):
    roots = [ROOT] if before is None else [Path(before).resolve(), ROOT]
    heads = ["caches filled", "numba's cache empty"]
    if before is not None:
        heads = [f"{head}, {when}" for head in heads for when in ("before", "now")]
    with tempfile.TemporaryDirectory() as folder:
        print(f"| process | {' | '.join(heads)} |\n|{'---|' * (1 + len(heads))}")
        for name, arguments in processes(folder).items():
            spent = measured(arguments, roots, 1 if smoke else 5)
            print(f"| {name} | {' | '.join(f'{x:.2f}' for x in spent)} |", flush=True)
        if smoke:
            return
        print(flush=True)
        empty = os.environ | {"NUMBA_CACHE_DIR": folder}
        command = [sys.executable, __file__, "--compile", str(Path(folder) / "out")]
        subprocess.run(command, env=empty, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="one process of each, and nothing is compiled by module")
    parser.add_argument("--before", metavar="FOLDER", help="another checkout, measured in turns with this one")
    parser.add_argument("--compile", metavar="FOLDER", help=argparse.SUPPRESS)
    given = parser.parse_args()
    compile_wheel(given.compile) if given.compile else main(given.smoke, given.before)
