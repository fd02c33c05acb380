"""Problems solved over bridges: the image at the end of a path is solved, and the solution mapped back.

A solution is judged by the residual of the given problem, with the tolerance of the solver; a proof that there is no
solution is valid if all bridges are free of round-off. If Coulomb's law is treated as a sequence of CCPs, each uses the
shift mu |u_t| of the one before, until the residual of Coulomb's problem meets the tolerance or no longer decreases
(Cadoux 2009; Acary, Cadoux, Lemarechal & Malick 2011). Guarantee of the sequence: none.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms import best
from workbench.algorithms.base import Solver, begun, refusal, with_residual
from workbench.algorithms.paths import BridgePath, path_to
from workbench.engine.timing import clock
from workbench.problems.bridges import de_saxce
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array
from workbench.support.errors import DataError

MOST, PATIENCE = 200, 10
"""Maximum number of CCPs in a sequence, and of consecutive ones without a smaller residual."""


def solved_by_path(
    solver: Solver, problem: Any, start: Array | None = None, like: Sequence[str] = ()
) -> Solution:  # fmt: skip
    """Solve a problem as the image at the end of a path, `like` another's if possible; otherwise return a refusal.

    Solvers without warm start begin from zero.
    """
    if not problem.size:
        return Solution(np.zeros(0), Status.SOLVED, 0.0, solver.tolerance, 0, 0.0, solver.name)
    at = clock()
    path = path_to(solver, problem, like)
    if isinstance(path, str):
        return refusal(solver, problem, path)
    found = _sequence(solver, problem, path, start) if path.is_sequence else _crossed(solver, problem, path, start)
    return replace(found, path=path.names, solve_time=clock() - at)


def _crossed(solver: Any, problem: Any, path: BridgePath, start: Array | None) -> Solution:
    """Solve the image at the end of a path, map the solution back and judge it."""
    with best.carried_back(path.end.size, path.back):
        found = begun(solver, path.end, None if start is None else path.there(start))
    found = with_residual(solver, path.end, found)
    proof = found.proof if path.is_exact else ""
    z = path.back(found.z) if np.isfinite(found.z).all() else np.full(problem.size, np.nan)
    residual = float(problem.residual(z)) if np.isfinite(z).all() else np.inf
    claimed, reason = found.claimed, found.reason
    if claimed is Status.NO_SOLUTION and not proof:
        claimed, reason = Status.INFEASIBLE, "the problem that it becomes was proved to have no solution"
    elif claimed is Status.SOLVED and residual > found.tolerance:
        claimed = Status.INACCURATE
        reason = f"residual {found.residual:.1e} on the problem that it becomes, {residual:.1e} when carried back"
    return replace(found, z=z, residual=residual, claimed=claimed, reason=reason, proof=proof)


def _sequence(solver: Solver, problem: Any, path: BridgePath, start: Array | None) -> Solution:
    """Return the best solution in a sequence of CCPs, each with the shift of the one before it."""
    z = np.zeros(problem.size) if start is None else start
    iterations, vain, least = 0, 0, None
    for k in range(MOST):
        flowing = de_saxce.associated(problem, de_saxce.shift(problem, z))
        here = BridgePath(flowing)
        try:
            for bridge in path.bridges:
                here = here.over(bridge)
        except DataError as error:
            return least or refusal(solver, problem, str(error))
        found = _crossed(solver, flowing, here, z if k or start is not None else None)
        iterations += found.iterations
        residual = float(problem.residual(found.z)) if np.isfinite(found.z).all() else np.inf
        graded = replace(found, residual=residual, proof="", iterations=iterations)
        vain = 0 if least is None or residual < least.residual else vain + 1
        least = graded if vain == 0 or least is None else replace(least, iterations=iterations)
        if residual <= solver.tolerance or vain > PATIENCE or residual == np.inf:
            break
        z = found.z
    assert least is not None
    if least.verified or least.claimed is not Status.SOLVED:
        return least
    reason = f"the sequence of CCPs stalled at the residual {least.residual:.1e}"
    return replace(least, claimed=Status.INACCURATE, reason=reason)
