"""The workbench's own solvers as peers: their compiled kernels, as a simulation calls them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Peer, Task, in_process
from workbench.algorithms import components, find_solver
from workbench.algorithms.base import EXACT, KernelSolver, kernel_arguments
from workbench.algorithms.coulomb_exact import ExactSolver
from workbench.problems.classes import Array, ConeProblem
from workbench.problems.solution import Solution, Status

NAME = "workbench"


def solver(name: str, shown: str = NAME, apart: bool = False, warm: bool = False) -> Peer:
    """A solver of the workbench; `solve` as a whole, with its verification, where it has no kernel.

    `warm` hands the kernel the solution of the problem before, `task.data`, to begin with; some take no notice.
    """
    return Peer(shown, lambda: in_process(lambda task: fresh_solve(name, task, warm)), name, apart)


def whole(solution: Solution) -> tuple[Array, str]:
    return solution.z, "" if solution.claimed is Status.SOLVED else solution.claimed.name


def staged(method: ExactSolver, problem: ConeProblem) -> tuple[Array, str]:
    """All stages of an exact solver, without the verification."""
    z, residual, _, _ = method.in_stages(problem)
    return z, "" if residual <= EXACT else Status.INACCURATE.name


def fresh_solve(name: str, task: Task, warm: bool) -> Callable[[], Callable[[], Any]]:
    """What `stopwatch.timed` asks for."""
    method: Any = find_solver(name)
    if isinstance(method, ExactSolver):
        return lambda: lambda: staged(method, task.problem)
    if not isinstance(method, KernelSolver):
        return lambda: lambda: whole(method.solve(task.problem))
    arguments = kernel_arguments(task.problem)
    first = method.solve(task.data).z if warm else np.zeros(task.problem.size)

    def fresh() -> Callable[[], Any]:
        z, info = first.copy(), np.zeros(1, dtype=np.int64)

        def solve() -> Any:
            status = Status(components.apart(method.kernel, arguments, z, info))
            return z, "" if status is Status.SOLVED else status.name

        return solve

    return fresh
