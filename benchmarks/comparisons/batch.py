"""Many small LCPs: one contact under Stewart and Trinkle with four directions, six unknowns, one thread."""

from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit, types

from benchmarks.comparisons import lcp
from benchmarks.harness import Comparison, Measure, Options, Peer, Task, in_process
from benchmarks.peers import siconos
from workbench.algorithms.lemke.method import SOLVER
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.problems.classes import LCP

COUNT = 10_000
CUBE = types.Array(types.float64, 3, "C")
lemke = SOLVER.kernel


@kernel(types.void(CUBE, MATRIX, VECTOR, VECTOR, MATRIX, INDICES))
def loop(M, q, lower, upper, z, info):
    """One kernel call a problem: M (k, n, n), q, z (k, n), info (k,)."""
    none = np.empty(0)
    for i in range(len(M)):
        lemke(M[i], q[i], lower, upper, none, 2, z[i], info[i : i + 1])


def kernel_loop() -> Measure:
    def ready(task: Task) -> Any:
        M, q = np.array(task.problem.M), np.array(task.problem.q)
        lower, upper = np.zeros(6), np.full(6, np.inf)
        z, info = np.zeros_like(q), np.zeros(len(q), dtype=np.int64)

        def solve() -> Any:
            loop(M, q, lower, upper, z, info)
            return z

        return lambda: solve

    return in_process(ready)


def batch() -> Measure:
    from workbench.algorithms.batch import solve_batch

    def ready(task: Task) -> Any:
        M, q = np.array(task.problem.M), np.array(task.problem.q)
        return lambda: lambda: solve_batch(M, q).z

    return in_process(ready)


def quantecon_loop() -> Measure:
    from quantecon.optimize import lcp_lemke

    @njit
    def compiled(M, q, z):
        for i in range(len(M)):
            z[i] = lcp_lemke(M[i], q[i]).z

    def ready(task: Task) -> Any:
        M, q = np.array(task.problem.M), np.array(task.problem.q)
        z = np.zeros_like(q)

        def solve() -> Any:
            compiled(M, q, z)
            return z

        return lambda: solve

    return in_process(ready)


def tasks(options: Options) -> list[Task]:
    count = 100 if options.quick else COUNT
    first = lcp.task(6, 0)
    problems = [lcp.task(6, k).problem for k in range(count)]
    batch = LCP(np.stack([p.M for p in problems]), np.stack([p.q for p in problems]))
    return [replace(first, name=f"{count} LCPs", group=f"{count} LCPs of n = 6", problem=batch, count=count)]


COMPARISON = Comparison(
    "batch",
    "Many small LCPs, one thread",
    f"{COUNT} LCPs of six unknowns from the towers of the LCP comparison, one box on one corner.",
    tasks,
    (
        Peer("workbench", kernel_loop, "a compiled loop over the Lemke kernel"),
        Peer("workbench solve_batch", batch, "all of the call"),
        siconos.siconos("Siconos LEMKE, loop", "batch", "LEMKE", None, None),
        siconos.siconos("Siconos LEMKE, loop over problems built beforehand", "built batch", "LEMKE", None, None),
        Peer("QuantEcon, compiled loop", quantecon_loop, "lcp_lemke called by compiled code"),
    ),
    unit="LCP/s",
)
