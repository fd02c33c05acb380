"""Siconos as Debian packages it, in a child process under Debian's Python."""

from functools import cache
from pathlib import Path
from typing import Any

from scipy import sparse

from benchmarks.harness import Measure, Peer, Task
from benchmarks.peers.child import Child
from workbench.problems.sets import normals_first

PYTHON = "/usr/bin/python3"
DENSE = 10
"""Contacts up to which Siconos gets a dense W, above which sparse blocks: whatever is faster for its solvers."""


@cache
def child() -> Child:
    started = Child([PYTHON, str(Path(__file__).parents[1] / "children" / "siconos_child.py")])
    started.start()
    return started


def siconos(name: str, kind: str, solver: str, tolerance: float | None, iterations: int | None) -> Peer:
    """A solver by the end of its constant, SICONOS_<kind>_<solver>; None leaves an option as Siconos sets it."""

    def load() -> Measure:
        asked = {"kind": kind, "solver": solver, "tolerance": tolerance, "iterations": iterations}
        process = child()

        def measure(task: Task) -> tuple[Any, float, str]:
            words, arrays, back = QUESTIONS[kind](task)
            heard, answer = process.ask(asked | words, arrays)
            z = answer["z"][back]
            return z + task.problem.lower if kind == "mlcp" else z, heard["seconds"], heard["reason"]

        return measure

    about = f"tolerance {'default' if tolerance is None else f'{tolerance:g}'}, {iterations or 'default'} iterations"
    return Peer(name, load, about)


def friction(task: Task) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """W, q contact by contact, and where the workbench's entries of p are in the answer."""
    problem = task.data
    W, q = problem.by_contacts()
    back = normals_first(problem.contacts, problem.d)
    if problem.contacts <= DENSE:
        return {"storage": "dense"}, {"W": W.toarray(), "q": q, "mu": problem.mu}, back
    first, column, blocks = block_rows(W, 1 + problem.d)
    return {"storage": "blocks"}, {"first": first, "column": column, "blocks": blocks, "q": q, "mu": problem.mu}, back


def block_rows(W: Any, size: int) -> tuple[Any, Any, Any]:
    """The blocks of a sparse W that are not zero, row by row: where rows begin, columns, blocks (b, size, size)."""
    B = sparse.bsr_array(W, blocksize=(size, size))
    B.eliminate_zeros()
    B.sort_indices()
    return B.indptr, B.indices, B.data


def lcp(task: Task) -> tuple[dict[str, Any], dict[str, Any], Any]:
    return {}, {"M": task.problem.M, "q": task.problem.q}, slice(None)


def mlcp(task: Task) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """The mixed form in `task.data`; the problem's unknowns, shifted by their lower bounds, follow the free ones."""
    M, q, free = task.data
    return {}, {"M": M, "q": q, "free": free}, slice(free, free + task.problem.size)


QUESTIONS = {"friction": friction, "lcp": lcp, "mlcp": mlcp, "batch": lcp, "built batch": lcp}
