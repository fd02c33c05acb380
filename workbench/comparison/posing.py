"""Problem of a formulation for friction data without bodies: over W, over (M, H), or over bodies.

Exact Coulomb friction and, where W is symmetric, the CCP are stated over W itself, which may be sparse. Every other
formulation is put over a system of bodies with the same W and q: unit masses and J with J J^T = W; q enters as
prescribed rates, v = 0. For a W that is not symmetric positive semidefinite the nearest one is taken (`nearest`). Such
systems are dense. Where one would not fit, what is left of the frictionless formulation is the CCP with mu = 0, over W.
"""

from dataclasses import replace

import numpy as np

from workbench.algorithms import find_solver
from workbench.algorithms.base import Solver
from workbench.comparison.nearest import of_bodies
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, Formulation
from workbench.mechanics.contact import ContactSystem
from workbench.problems.bridges.factored import factor
from workbench.problems.classes import ConeProblem, ConicQP, CoulombNCP, MatrixProblem, is_symmetric
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.problems.global_problem import GlobalConeProblem, GlobalConicQP, GlobalCoulombNCP, Way, way
from workbench.step.one_step import pose
from workbench.support.errors import DataError

DIRECT = {"coulomb": FrictionProblem.coulomb, "ccp": FrictionProblem.ccp}
"""Formulations that are problem classes over W."""
LOCAL_KINDS = {"coulomb": CoulombNCP.kind, "ccp": ConicQP.kind}
DIRECT_OVER_BODIES: dict[str, type[GlobalConeProblem]] = {"coulomb": GlobalCoulombNCP, "ccp": GlobalConicQP}
"""Return the same problem over (M, H)."""
MOST_BYTES = 4e9
"""Memory up to which a formulation is put over bodies: some 900 contacts in space under boxes, 600 under polygons of
four directions."""
FEW = 100
"""Number of contacts up to which memory is not checked."""
COPIES, COPIES_OF_J = 25, 35
"""Dense matrices of the problem's and of the Jacobian's size that assembling and solving hold at once: measured with
356 contacts in space (box 0.6 GB, Stewart and Trinkle's 1.0) and 667 in the plane (0.9 and 1.6 GB)."""


def contact_system(problem: FrictionProblem) -> ContactSystem:
    """A system of unit masses with the problem's W, q and mu. Raises DataError unless W is symmetric PSD."""
    J, r = factor(problem.dense), problem.contacts
    n = J.shape[1]
    return ContactSystem(
        M=np.eye(n), v=np.zeros(n), f=np.zeros(n), h=1.0, J_n=J[:r], J_t=J[r:], mu=problem.mu,
        r_n=problem.q[:r], r_t=problem.q[r:], normal="velocity",
    )  # fmt: skip


def over_W(
    problem: FrictionProblem | GlobalFrictionProblem, formulation: Formulation
) -> tuple[str, FrictionProblem | GlobalFrictionProblem, float | None] | None:
    """Return the law of `DIRECT` that a formulation is over W, its problem, and the change `moved` of that.

    None for formulations that need bodies. Raises DataError where W is not symmetric, the law needs that, and the
    nearest W moves too far.
    """
    if formulation.name == "frictionless" and needed_bytes(formulation, problem.contacts, problem.d) > MOST_BYTES:
        law, problem = "ccp", replace(problem, mu=np.zeros(problem.contacts))
    elif formulation.name in DIRECT:
        law = formulation.name
    else:
        return None
    given = problem.M if isinstance(problem, GlobalFrictionProblem) else problem.W
    if law == "ccp" and not is_symmetric(given):
        return law, *of_bodies(local(problem))
    return law, problem, None


def over_bodies(
    problem: FrictionProblem | GlobalFrictionProblem, formulation: Formulation
) -> tuple[FrictionProblem, float | None]:
    """Return the problem for `contact_system` and its change `moved`. Raise DataError if there is none."""
    if formulation.symbols is not ContactSymbols:
        raise DataError(f"{formulation.name} is for {formulation.symbols.about}; a friction problem is one time step")
    r, d = problem.contacts, problem.d
    needed = needed_bytes(formulation, r, d)
    if needed > MOST_BYTES:
        raise DataError(
            f"{formulation.label} makes {unknowns(formulation, r, d)} unknowns of {r} contacts, with dense matrices of "
            f"{needed / 1e9:.3g} GB in all, and at most {MOST_BYTES / 1e9:g} GB are allowed; coulomb, ccp and "
            "frictionless are sparse over W and take more contacts"
        )
    return of_bodies(local(problem))


def unknowns(formulation: Formulation, r: int, d: int) -> int:
    """Size of the problem that a formulation makes of r contacts with d tangents: it grows by as much with each."""
    two, three = (compiled(formulation, (1 + d) * k, 0, k, d).plan.lower.size for k in (2, 3))
    return two + (r - 2) * (three - two)


def needed_bytes(formulation: Formulation, r: int, d: int) -> float:
    """Memory [bytes] that it takes to put r contacts under a formulation over bodies; 0 for `FEW`."""
    if r <= FEW:
        return 0.0
    return 8.0 * (COPIES * unknowns(formulation, r, d) ** 2 + COPIES_OF_J * ((1 + d) * r) ** 2)


def local(problem: FrictionProblem | GlobalFrictionProblem) -> FrictionProblem:
    """The problem over W. Raises DataError where W is too large to be formed."""
    return problem.local if isinstance(problem, GlobalFrictionProblem) else problem


def stated(
    problem: FrictionProblem | GlobalFrictionProblem, law: str, solver: str | Solver | None = None
) -> tuple[ConeProblem | GlobalConeProblem, Way | None]:
    """A problem under a law of `DIRECT`; a global one over (M, H) where that is smaller, or the solver wants bodies.

    A solver that takes neither gets it over (M, H), from where bridges lead to it.
    """
    if isinstance(problem, FrictionProblem):
        return DIRECT[law](problem), None
    bodies = DIRECT_OVER_BODIES[law]
    if solver and bodies.kind not in (solves := find_solver(solver).solves):
        return (DIRECT[law](problem.local) if LOCAL_KINDS[law] in solves else bodies(problem)), None
    chosen = way(problem)
    return (bodies(problem) if chosen.bodies else DIRECT[law](problem.local)), chosen


def posed(problem: FrictionProblem, formulation: Formulation) -> MatrixProblem:
    """Return the problem that `solve_problem` passes to the solver, in the first of several passes."""
    direct = over_W(problem, formulation)
    if direct:
        law, same, _ = direct
        return DIRECT[law](local(same))
    return pose(formulation, contact_system(problem)).problem()
