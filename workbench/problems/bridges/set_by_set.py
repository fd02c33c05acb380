"""LCPs, MLCPs and friction-cone problems as mixed problems: the same matrix, with the sets one after another."""

import numpy as np

from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.classes import LCP, MLCP, ConeProblem, ConicQP, CoulombNCP, is_sparse
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE, Sets, contact_by_contact


def applies(problem: MLCP | ConeProblem) -> str | None:
    return (
        f"W is sparse, with {problem.size} rows; a mixed problem has a dense matrix" if is_sparse(problem.M) else None
    )


def forward(problem: MLCP | ConeProblem) -> Image:
    if isinstance(problem, ConeProblem):
        r, d = problem.mu.size, problem.d
        none = np.full(problem.size, np.inf)
        cone = np.full(r, ASSOCIATED if problem.associated else COULOMB)
        sets = Sets(cone, (1 + d) * np.arange(r + 1), contact_by_contact(r, d), np.arange(r + 1))
        mixed = MixedNCP(problem.M, problem.q, -none, none, problem.mu, sets)
    else:
        each = np.arange(problem.size + 1)
        sets = Sets(np.full(problem.size, NO_CONE), each, each[:-1], np.zeros_like(each))
        mixed = MixedNCP(problem.M, problem.q, problem.lower, problem.upper, np.zeros(0), sets)
    return Image(mixed, lambda z: z, lambda z: z)


BRIDGE = Bridge(
    "its sets one by one",
    between((LCP.kind, MLCP.kind, ConicQP.kind, CoulombNCP.kind), MixedNCP.kind),
    1,
    applies,
    forward,
    exact=True,
)
