"""Equations without complementarity: posing a step has solved them for all unknowns, so that nothing is left to do."""

from workbench.algorithms.base import KernelSolver
from workbench.engine.compiling import kernel
from workbench.engine.kernels import SOLVE
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)


@kernel(SOLVE)
def nothing_left(M, q, lower, upper, mu, d, z, info):
    """No unknowns, no iterations."""
    info[0] = 0
    return SOLVED


SOLVER = KernelSolver(
    name="elimination",
    kernel=nothing_left,
    solves=frozenset({"equations"}),
    guaranteed_for="equations that determine their unknowns; others are refused before, with the dependent rows",
    source="Gauss elimination with scaled partial pivoting, of every step",
)
