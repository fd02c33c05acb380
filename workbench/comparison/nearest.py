"""The problem nearest to a given one that bodies can have: W = J M^-1 J^T is symmetric and positive semidefinite.

The W of a file is often neither, by the digits that were printed or by the code that made it. Formulations over bodies
then take the nearest W that is (Higham, Linear Algebra Appl. 103, 1988: the symmetric part, its negative eigenvalues
set to zero), provided that this hardly moves the velocity of the exact solution.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.problems.classes import equilibration, is_psd
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.arrays import Array
from workbench.support.errors import DataError

MOST_MOVED = 1e-4
"""Share of |q|_2 by which the nearest W may move the exact velocity: a hundredth of a percent. It bounds from below
which differences of formulations mean anything, and these are mostly above a percent. Of Siconos' friction problems
with such a W, all but one move by less than 6e-5, and that one by 6e-4."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """A problem with the nearest W (n, n), and what was wrong with the given one.

    asymmetry   |W - W^T| / |W| in the Frobenius norm
    least       smallest eigenvalue of the symmetric part over its largest
    moved       distance of the two exact velocities over |q|_2; inf where no exact solution over the nearest W is found
    """

    problem: FrictionProblem
    asymmetry: float
    least: float
    moved: float

    @property
    def near(self) -> bool:
        return self.moved <= MOST_MOVED

    @property
    def words(self) -> str:
        return f"relative asymmetry {self.asymmetry:.1e}, smallest eigenvalue {self.least:.1e} of the largest"

    @property
    def facts(self) -> dict[str, Any]:
        """Facts for a page and provenance.json."""
        return {
            "what": self.words,
            "moved": self.moved if np.isfinite(self.moved) else None,
            "most": MOST_MOVED,
            "taken": self.near,
        }


def nearest(problem: FrictionProblem) -> Nearest | None:
    """The nearest problem of bodies, None where the given one is that already.

    Raises DataError where W is too large to be held dense, or the given problem is not solved exactly.
    """
    W = problem.dense
    if is_psd(W):
        return None
    size, values = float(np.linalg.norm(W)), np.linalg.eigvalsh(0.5 * (W + W.T))
    near, u = replace(problem, W=nearest_psd(W)), exact_velocity(problem)
    if u is None:
        raise DataError(
            "W is not symmetric positive semidefinite, and the exact solution is not verified, so the effect of "
            "the nearest such W is unknown"
        )
    other = exact_velocity(near)
    free = float(np.linalg.norm(problem.q)) or 1.0
    moved = np.inf if other is None else float(np.linalg.norm(other - u)) / free
    return Nearest(near, float(np.linalg.norm(W - W.T)) / size, float(values[0] / np.abs(values).max()), moved)


def of_bodies(problem: FrictionProblem) -> tuple[FrictionProblem, float | None]:
    """Return the problem for formulations over bodies, and its change of the exact velocity, None if unchanged.

    Raises DataError where that is more than `MOST_MOVED`.
    """
    found = nearest(problem)
    if found is None:
        return problem, None
    if not found.near:
        raise DataError(
            f"W is not of the form J M^-1 J^T: {found.words}; the nearest that is one moves the exact velocity by "
            f"{found.moved:.1e} |q|, and at most {MOST_MOVED:g} |q| is accepted; over W as it is there is "
            "coulomb, and ccp where W is symmetric"
        )
    return found.problem, found.moved


def nearest_psd(W: Array) -> Array:
    """The symmetric positive semidefinite matrix nearest to W (n, n), in the norm of D W D (`equilibration`).

    So that light contacts count as heavy ones do.
    """
    S = 0.5 * (W + W.T)
    if is_psd(S):
        return S
    D = equilibration(S)
    values, vectors = np.linalg.eigh(D[:, None] * S * D)
    A = (vectors * np.maximum(values, 0.0)) @ vectors.T / D[:, None] / D
    return 0.5 * (A + A.T)


def exact_velocity(problem: FrictionProblem) -> Array | None:
    """u = W p + q (n,) of the exact solution, None where it is not verified."""
    law = problem.coulomb()
    solution = default_solver(law.kind).solve(law)
    return problem.velocity(solution.z) if solution.verified else None
