"""Answers of contact problems, by the problem's own residual, and the search for a second one."""

import numpy as np

from workbench.algorithms import ROUND_OFF, find_solver
from workbench.mechanics.case import Array
from workbench.problems.classes import CoulombNCP
from workbench.problems.solution import Solution

STARTS = 8
"""Random starts from which a second answer is looked for where no method proves that there is none."""


def solved(problem: CoulombNCP) -> Solution | None:
    """The answer to round-off; None where the problem's residual does not let it pass."""
    found = find_solver(ROUND_OFF[problem.kind]).solve(problem)
    return found if found.residual <= found.tolerance else None


def has_another(problem: CoulombNCP, z: Array, X: Array, least: float) -> bool:
    """Whether from `STARTS` random starts an answer is found whose X z differs (`differ`) from that of the answer z."""
    solver, rng = find_solver(ROUND_OFF[problem.kind]), np.random.default_rng(0)
    first, scale = X @ z, float(np.abs(z).max())
    for _ in range(STARTS):
        other = solver.solve_from(problem, scale * rng.normal(size=problem.size))  # type: ignore[attr-defined]
        if other.residual <= other.tolerance and differ(first, X @ other.z, least):
            return True
    return False


def differ(a: Array, b: Array, least: float) -> bool:
    """Whether two results differ by more than 1e-7 of the larger one, or of `least` where both are smaller."""
    return bool(np.abs(a - b).max() > 1e-7 * max(least, np.abs(a).max(), np.abs(b).max()))
