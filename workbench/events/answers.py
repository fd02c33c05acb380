"""Answers of contact problems, by the problem's own residual, and the search for a second one."""

import itertools

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
    """Whether an answer is found whose X z differs (`differ`) from that of the answer z.

    Tried are that all contacts open, that all stick, and `STARTS` random starts, of which a solver in closed form, as
    that of one contact is, takes no notice.
    """
    solver, rng = find_solver(ROUND_OFF[problem.kind]), np.random.default_rng(0)
    stick = -np.linalg.lstsq(problem.M, problem.q)[0]
    # An answer may be zero beside others that are large.
    scale = max(float(np.abs(z).max()), float(np.abs(stick).max()))
    starts = (scale * rng.normal(size=problem.size) for _ in range(STARTS))
    others = (solver.solve_from(problem, start).z for start in starts)  # type: ignore[attr-defined]
    return any(
        differ(X @ z, X @ other, least) and problem.residual(other) <= solver.tolerance
        for other in itertools.chain((np.zeros_like(z), stick), others)
    )


def differ(a: Array, b: Array, least: float) -> bool:
    """Whether two results differ by more than 1e-7 of the larger one, or of `least` where both are smaller."""
    return bool(np.abs(a - b).max() > 1e-7 * max(least, np.abs(a).max(), np.abs(b).max()))
