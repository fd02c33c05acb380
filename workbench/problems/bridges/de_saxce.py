"""Coulomb's law as the CCP whose normal velocities are raised by mu |u_t| of its own solution (De Saxce & Feng 1998).

    K contains z  perp  W z + q + s in K*,     s = mu |u_t| n

No bridge by itself: s is known with the solution only. A fixed point of s is one (Cadoux 2009; Acary, Cadoux,
Lemarechal & Malick 2011), and `algorithms.crossing` looks for it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.contact_blocks import ContactBlocks, Indices
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import ASSOCIATED, COULOMB

NAME = "Coulomb's law as a sequence of CCPs"


def is_shifted(problem: Any) -> bool:
    """Whether some contact is under Coulomb's law."""
    if isinstance(problem, ContactBlocks):
        return bool((problem.cone == COULOMB).any())
    if isinstance(problem, MixedNCP):
        return bool((problem.sets.cone == COULOMB).any())
    return isinstance(problem, CoulombNCP | GlobalCoulombNCP)


def shift(problem: Any, z: Array) -> Array:
    """s (n,) at z (n,)."""
    if isinstance(problem, CoulombNCP | GlobalCoulombNCP):
        return np.asarray(problem.shift(problem._moved(z) + problem.q))
    found = np.zeros(problem.size)
    if isinstance(problem, ContactBlocks):
        cone, first, order = problem.cone, problem.unknown, np.arange(problem.size)
        at, F = np.arange(problem.blocks + 1), problem.moved(z) + problem.free[1]
    else:
        cone, first, order, at = problem.sets.cone, problem.sets.first, problem.sets.order, problem.sets.at
        F = problem.M @ z + problem.q
    for i in np.flatnonzero(cone == COULOMB):
        slip = problem.mu[at[i] : at[i + 1]] * F[order[first[i] + 1 : first[i + 1]]]
        found[order[first[i]]] = np.linalg.norm(slip)
    return found


def associated(problem: Any, s: Array) -> Any:
    """The problem with associated flow and F raised by s. Raises DataError where W is not symmetric."""
    if isinstance(problem, CoulombNCP):
        return ConicQP(problem.M, problem.q + s, problem.mu, problem.d)
    if isinstance(problem, GlobalCoulombNCP):
        return GlobalConicQP(replace(problem.data, w=problem.data.w + s))
    if isinstance(problem, ContactBlocks):
        return replace(problem, cone=_flowing(problem.cone), c=problem.c + s)
    sets = replace(problem.sets, cone=_flowing(problem.sets.cone))
    return replace(problem, sets=sets, q=problem.q + s)


def _flowing(cone: Indices) -> Indices:
    return np.where(cone == COULOMB, ASSOCIATED, cone)
