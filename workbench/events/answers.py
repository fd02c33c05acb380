"""Solutions of contact problems, verified by the problem's own residual, and the search for a second solution."""

import itertools
from collections.abc import Iterator

import numpy as np

from workbench.algorithms import ROUND_OFF, find_solver
from workbench.engine.interpreted import interpreting
from workbench.mechanics.case import Array
from workbench.problems.classes import CoulombNCP
from workbench.problems.solution import Solution

STARTS = 8
"""Random starts of the search for a second solution where no method proves uniqueness."""
MOST_IN_PLANE = 4
"""Largest number of planar contacts for which all modes are enumerated."""


def solution_to_round_off(problem: CoulombNCP) -> Solution | None:
    """Return the solution to round-off; None where the problem's residual rejects it."""
    # Few events need one: compiling the solver would take longer than the motion.
    with interpreting(problem.size):
        found = find_solver(ROUND_OFF[problem.kind]).solve(problem)
    return found if found.residual <= found.tolerance else None


def others(problem: CoulombNCP, z: Array, X: Array, least: float) -> Iterator[Array]:
    """Answers whose X z differs (`differ`) from that of the answer z, by more than their residuals, as they are found.

    For a few planar contacts all modes are enumerated: the solutions of each mode are a polyhedron within the cones,
    which has a vertex, and this is the only solution of a mode on the cones' edges. For other contacts it tries all
    contacts open, all sticking, and `STARTS` random starts; a closed-form solver, such as that of one contact, ignores
    the start.
    """
    solver, residual = find_solver(ROUND_OFF[problem.kind]), float(problem.residual(z))
    if problem.d == 1 and problem.mu.size <= MOST_IN_PLANE:
        tried = _of_modes(problem)
    else:
        rng = np.random.default_rng(0)
        stick = np.asarray(-np.linalg.lstsq(problem.M, problem.q)[0], dtype=float)
        # A solution may be zero while others are large.
        scale = max(float(np.abs(z).max()), float(np.abs(stick).max()))
        starts = (scale * rng.normal(size=problem.size) for _ in range(STARTS))
        found = (solver.solve_from(problem, start).z for start in starts)  # type: ignore[attr-defined]
        tried = itertools.chain([np.zeros_like(z), stick], found)

    def is_another(other: Array) -> bool:
        if not differ(X @ z, X @ other, least):
            return False
        left = float(problem.residual(other))
        # Residuals are relative to forces; large forces cancel where a light body carries a heavy one.
        terms = max(float((abs(X) @ abs(one)).max()) for one in (z, other))
        apart = float(np.abs(X @ (z - other)).max())
        return left <= solver.tolerance and apart > (left + residual) * terms

    return filter(is_another, tried)


def distinct(answers: Iterator[Array], z: Array, X: Array, least: float) -> list[Array]:
    """z, and of other answers one for each X z that differs."""
    found = [z]
    for other in answers:
        if all(differ(X @ one, X @ other, least) for one in found):
            found.append(other)
    return found


def _of_modes(problem: CoulombNCP) -> Iterator[Array]:
    """Yield the minimum-norm solution of each mode of planar contacts: open, sticking, at either edge of the cone."""
    r, n = problem.mu.size, problem.size
    for modes in itertools.product(("open", "sticks", 1.0, -1.0), repeat=r):
        A, b = np.eye(n), np.zeros(n)
        for i, mode in enumerate(modes):
            if mode == "open":
                continue
            A[i], b[i] = problem.M[i], -problem.q[i]
            if mode == "sticks":
                A[r + i], b[r + i] = problem.M[r + i], -problem.q[r + i]
            else:
                A[r + i, i] = mode * problem.mu[i]
        yield np.asarray(np.linalg.lstsq(A, b)[0], dtype=float)


def differ(a: Array, b: Array, least: float) -> bool:
    """Return whether two results differ by more than 1e-7 of the larger one, or of `least` where both are smaller."""
    return bool(np.abs(a - b).max() > 1e-7 * max(least, np.abs(a).max(), np.abs(b).max()))
