"""Equations without complementarity: stating the step already solves them, so that no unknowns remain."""

from workbench.algorithms.base import KernelSolver
from workbench.engine.compiling import kernel
from workbench.engine.kernels import SOLVE
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)


@kernel(SOLVE)
def nothing_left(M, q, lower, upper, mu, d, z, info):
    """Return with no unknowns and no iterations."""
    info[0] = 0
    return SOLVED


SOLVER = KernelSolver(
    name="elimination",
    kernel=nothing_left,
    solves=frozenset({"equations"}),
    guaranteed_for="equations with a unique solution; others are refused earlier, with the dependent rows",
    source="Gauss elimination with scaled partial pivoting, of every step",
)
