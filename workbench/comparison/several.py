"""Search for several solutions of Coulomb's step; where they exist, a distance from the reference may not be an error.

Coulomb's law with impulses for unknowns is no convex problem. Sampled steps of exact Coulomb friction are solved once
more with the contacts in reverse order, which leads a solver to another solution where there is one near its path. That
none is found is evidence and no proof. Of a single problem with few contacts all solutions are found, with proof.
"""

from collections.abc import Mapping

import numpy as np

from workbench.algorithms.asking import solved_by
from workbench.algorithms.escalation import default_solver
from workbench.diagnostics.coulomb_answers import modes_words
from workbench.engine.timing import clock
from workbench.matrices.solutions.coulomb_islands import solutions_by_islands
from workbench.matrices.solutions.coulomb_solutions import CoulombSolutions
from workbench.matrices.solutions.existence import rational_friction
from workbench.problems.classes import CoulombNCP
from workbench.problems.friction_problem import FrictionProblem, reversed_contacts
from workbench.step.run import Run
from workbench.support.arrays import Array, evenly

SAMPLED = 40
"""Steps that are solved once more."""
LARGEST = 30
"""Largest number of rows of a problem of which all solutions are searched."""
SEARCH = 3.0
"""Seconds for this search."""
SAME = 1e-6
"""Share of the largest contact velocity without impulses up to which two velocities count as the same."""


def several_solutions(exact: Run) -> str:
    """A sentence where sampled steps of exact Coulomb friction have several solutions, "" where none was found."""
    _, _, r, d = exact.case.size
    if not exact.steps or r < 2:
        return ""
    steps = evenly(np.arange(exact.steps), SAMPLED)
    found = [(apart, k) for k in steps if (apart := _apart(exact, k, r, d)) > 0]
    if not found:
        return ""
    largest, _ = max(found)
    return (
        f"At {1e3 * exact.h:g} ms Coulomb's step itself has several solutions in {len(found)} of {len(steps)} sampled "
        f"steps, the first at t = {exact.h * found[0][1]:.3g} s: with the contacts in reverse order another one comes "
        f"out, contact velocities up to {largest:.2g} m/s away and verified too. From there on a distance from the "
        "reference may be a choice that Coulomb's law leaves open, and no error of a formulation."
    )


def _apart(exact: Run, k: int, r: int, d: int) -> float:
    """Distance [m/s] of the contact velocities of step k and of another solution; 0 where none is found."""
    record = exact.record
    order, rows = reversed_contacts(r, d)
    M, q, mu = record.M[k], record.q_[k], record.mu[k]
    turned = CoulombNCP(M[np.ix_(rows, rows)], q[rows], mu[order], d)
    other = solved_by(default_solver(turned.kind), turned)
    if not other.verified:
        return 0.0
    p: Array = np.empty_like(q)
    p[rows] = other.z
    # Compliance is no velocity.
    moved = (M - np.diag(record.eps[k])) @ (p - record.z[k])
    apart = float(np.abs(moved).max())
    return apart if apart > SAME * float(np.abs(q).max()) else 0.0


def counted(problem: FrictionProblem) -> CoulombSolutions | None:
    """All solutions of Coulomb's law; None where they are not known, or are a continuum."""
    if problem.size > LARGEST or not problem.contacts:
        return None
    friction = rational_friction(problem.dense, problem.q, problem.mu, problem.d)
    found = solutions_by_islands(friction, clock() + SEARCH)
    return found if isinstance(found.count, int) and found.count == len(found.points) else None


def which_solution(
    problem: FrictionProblem, found: CoulombSolutions, reference: Array, velocities: Mapping[str, Array]
) -> str:
    """A sentence on several solutions, and which of them each formulation is nearest to.

    `reference` (n) is the velocity of the reference, `velocities` (n) those of formulations by their labels. Distances
    are relative to |q|.
    """
    free = float(np.linalg.norm(problem.q)) or 1.0

    def nearest(u: Array) -> tuple[int, float]:
        apart = [float(np.linalg.norm(x.u - u)) / free for x in found.points]
        return int(np.argmin(apart)), min(apart)

    own, _ = nearest(reference)
    near: dict[int, list[str]] = {}
    for label, u in velocities.items():
        k, apart = nearest(u)
        near.setdefault(k, []).append(f"{label} ({100 * apart if apart > SAME else 0:.2g} %)")
    parts = []
    for k, x in enumerate(found.points):
        index = "degenerate" if x.index is None else f"index {x.index:+d}"
        which = f"{k + 1}: {modes_words(x.modes)}, {index}{', the reference' * (k == own)}"
        parts.append(f"{which}; nearest to it: {', '.join(near.get(k, ['no formulation']))}")
    return (
        f"Coulomb's law has several solutions here, proved to be exactly {found.count}. {'. '.join(parts)}. A distance "
        "from the reference may be a choice that the law leaves open, and no error of a formulation."
    )
