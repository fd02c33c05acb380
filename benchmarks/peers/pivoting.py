"""Pivoting codes for LCPs that Python can call: Drake, QuantEcon, lemkelcp."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Failed, Measure, Peer, Task, in_process

PIVOTS = 100
"""Pivots allowed, as a multiple of the size."""
PATIENCE = 2.0
"""Seconds after which lemkelcp, whose pivots are Python loops, is given up."""


def drake(warm: bool = False) -> Peer:
    """Drake's UnrevisedLemkeSolver through a MathematicalProgram, which is how Python reaches it.

    A solver keeps its last basis, hence a fresh one for each cold solve; `warm` keeps one and lets it solve
    the problem `task.data`, the one before, first.
    """

    def load() -> Measure:
        from pydrake.solvers import MathematicalProgram, UnrevisedLemkeSolver

        def programme(problem: Any) -> tuple[Any, Any]:
            mathematical = MathematicalProgram()
            z = mathematical.NewContinuousVariables(problem.size)
            mathematical.AddLinearComplementarityConstraint(problem.M, problem.q, z)
            return mathematical, z

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            posed, z = programme(task.problem)

            def fresh() -> Callable[[], Any]:
                solver = UnrevisedLemkeSolver()
                if warm:
                    solver.Solve(programme(task.data)[0])

                def solve() -> Any:
                    result = solver.Solve(posed)
                    return result.GetSolution(z), "" if result.is_success() else "no success claimed"

                return solve

            return fresh

        return in_process(ready)

    return Peer("Drake", load, "UnrevisedLemkeSolver, " + ("basis kept" if warm else "a fresh one for each solve"))


def quantecon() -> Peer:
    def load() -> Measure:
        from quantecon.optimize import lcp_lemke

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            M, q = np.array(task.problem.M), np.array(task.problem.q)

            def solve() -> Any:
                found = lcp_lemke(M, q, max_iter=PIVOTS * q.size)
                return found.z, "" if found.success else f"status {found.status}"

            return lambda: solve

        return in_process(ready)

    return Peer("QuantEcon", load, f"lcp_lemke, at most {PIVOTS} n pivots")


def lemkelcp() -> Peer:
    def load() -> Measure:
        import lemkelcp.lemkelcp as module

        # Written for Python 2, where range() is a list, and used as one.
        module.range = lambda *bounds: list(range(*bounds))

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            M, q = np.array(task.problem.M), np.array(task.problem.q)

            def solve() -> Any:
                z, code, word = module.lemkelcp(M, q, PIVOTS * q.size)
                if code:
                    raise Failed(word)
                return z

            return lambda: solve

        return in_process(ready, PATIENCE)

    return Peer("lemkelcp", load, f"range() patched to be a list, at most {PIVOTS} n pivots")
