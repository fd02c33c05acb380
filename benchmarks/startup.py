"""Start-up: what a process takes before its first answer, and what the first `compare wheel` of all has to compile.

    python benchmarks/startup.py [--smoke]

Prints the time of small processes with all caches filled (the best of several; wall and processor seconds), then, for
a comparison of the wheel with numba's cache empty, the processor seconds spent in compiling, by module. Processor time
depends on what else the cores do: the first row, a bare `import numba`, tells how fast the machine was.
"""

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
FILE = """
import numpy as np
np.savez({path!r}, M=np.array([[2.0, 1.0], [1.0, 2.0]]), q=np.array([-1.0, -1.0]))
"""


def processes(folder):
    """What is measured: a name and the arguments of Python."""
    path = str(Path(folder) / "small.npz")
    subprocess.run([sys.executable, "-c", FILE.format(path=path)], check=True)
    return {
        "import numba": ["-c", "import numba"],
        "workbench --help": ["-m", "workbench", "--help"],
        "solve a given (M, q)": ["-c", GIVEN],
        "workbench solve FILE": ["-m", "workbench", "solve", path],
        "first step of a declared formulation": ["-c", DECLARED],
    }


def measure(arguments, rounds):
    """The best (wall, processor) seconds of several processes; one goes ahead and fills the caches."""
    found = []
    for _ in range(rounds + 1):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append((wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return tuple(map(min, zip(*found[1:], strict=True)))


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        print("| process | wall seconds | processor seconds |\n|---|---|---|")
        for name, arguments in processes(folder).items():
            wall, processor = measure(arguments, 1 if "--smoke" in sys.argv else 7)
            print(f"| {name} | {wall:.2f} | {processor:.2f} |")
        if "--smoke" in sys.argv:
            return
        print(flush=True)
        empty = os.environ | {"NUMBA_CACHE_DIR": folder}
        command = [sys.executable, __file__, "--compile", str(Path(folder) / "out")]
        subprocess.run(command, env=empty, check=True)


if __name__ == "__main__":
    compile_wheel(sys.argv[2]) if "--compile" in sys.argv else main()
