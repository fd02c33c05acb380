"""Friction problems over (M, H) as problems over the matrix W = H^T M^-1 H, which is formed."""

from workbench.problems.bridges.bridge import Bridge, Image
from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.friction_problem import LARGEST_DENSE
from workbench.problems.global_problem import GlobalConeProblem, GlobalConicQP, GlobalCoulombNCP
from workbench.support.errors import DataError


def applies(problem: GlobalConeProblem) -> str | None:
    if problem.size > LARGEST_DENSE:
        return f"W would have {problem.size} rows; at most {LARGEST_DENSE} are formed"
    try:
        problem.data.inertia  # noqa: B018
    except DataError as error:
        return str(error)
    return None


def forward(problem: GlobalConeProblem) -> Image:
    local = problem.data.local
    return Image(local.ccp() if problem.associated else local.coulomb(), lambda z: z, lambda z: z)


BRIDGE = Bridge(
    "W formed",
    {GlobalConicQP.kind: frozenset({ConicQP.kind}), GlobalCoulombNCP.kind: frozenset({CoulombNCP.kind})},
    2,
    applies,
    forward,
)
