"""Coulomb's law as a CCP whose normal velocities are raised by mu |u_t| of its solution (De Saxce & Feng 1998).

    K contains z  perp  W z + q + s in K*,     s = mu |u_t| n

This is not a bridge, since s is known only with the solution. A fixed point of s is a solution (Cadoux 2009; Acary,
Cadoux, Lemarechal & Malick 2011), which `algorithms.crossing` searches for.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
from workbench.problems.problem import Indices, Problem
from workbench.problems.sets import ASSOCIATED, COULOMB
from workbench.support.arrays import Array

NAME = "Coulomb's law as a sequence of CCPs"


def is_shifted(problem: Problem) -> bool:
    """Return whether some contact obeys Coulomb's law."""
    return bool((problem.laws == COULOMB).any())


def shift(problem: Problem, z: Array) -> Array:
    """Return s (n,) at z (n,)."""
    return problem.shift(problem.velocity(z))


def associated(problem: Any, s: Array) -> Any:
    """Return the problem with associated flow and F raised by s. Raises DataError if W is not symmetric."""
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
