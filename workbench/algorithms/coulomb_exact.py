"""Friction-cone problems to round-off: the Coulomb NCP and the CCP over r contacts, planar or spatial.

Uncoupled parts are solved separately (`coulomb_parts`). A single contact is solved in closed form (`one_contact`), some
dozens of them with dense matrices (`small_cones`); larger problems, and those that fail there, by the same method with
sparse factors (`coulomb_newton`). Contacts over bodies are solved as contact blocks.

Guarantees: the CCP with W symmetric PSD is convex, and has a solution if it is strictly feasible. Coulomb's problem has
one under the criterion of Acary, Cadoux, Lemarechal & Malick (2011), not always unique, and no method is proven to find
it; solutions are therefore judged by the problem's own residual.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from workbench.algorithms.base import EXACT, KernelSolver, refusal
from workbench.algorithms.components import FEW
from workbench.algorithms.coulomb_parts import Part, Staged, solve_by_parts
from workbench.algorithms.small_cones import solve_small
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, SOLVE, VECTOR, is_finite, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.engine.timing import clock
from workbench.problems import sets
from workbench.problems.classes import Array, ConeProblem, MatrixProblem, is_sparse
from workbench.problems.global_problem import GlobalConeProblem
from workbench.problems.islands import READ, READ_ROW
from workbench.problems.sets import BlockSets
from workbench.problems.solution import Solution, Status

LARGEST_DENSE = 200
"""Largest number of unknowns for dense factors."""

Answer = tuple[Array, int, tuple[str, ...]]
"""z, the iterations, and the outcome of every stage."""

NUMBER, COUNT = types.float64, types.int64
SOLVED, INACCURATE, NOT_FINITE = int(Status.SOLVED), int(Status.INACCURATE), int(Status.NOT_FINITE)


@kernel(NUMBER(READ, READ_ROW, READ_ROW, COUNT, COUNT, VECTOR, INDICES))
def contacts_in_one_go(W, q, mu, d, law, z, info):
    """Solve cones of one law with dense matrices from z (r (1 + d),), which receives the best iterate.

    Returns the residual, inf if the data are not finite."""
    n, r = q.shape[0], mu.shape[0]
    info[0] = 0
    limit = scratch(r)
    for i in range(r):
        limit[i] = mu[i]
    if not is_finite(limit):
        return np.inf
    first, cone, place = scratch_indices(r + 1), scratch_indices(r), scratch_indices(n)
    own, free, x, no_bounds = scratch_matrix(n, n), scratch(n), scratch(n), scratch(n)
    for i in range(r):
        first[i], cone[i] = (1 + d) * i, law
        place[(1 + d) * i] = i
        for a in range(d):
            place[(1 + d) * i + 1 + a] = r + d * i + a
    first[r] = n
    for i in range(n):
        free[i], x[i], no_bounds[i] = q[place[i]], z[place[i]], 0.0
        for j in range(n):
            own[i, j] = W[place[i], place[j]]
    residual = solve_small(own, free, BlockSets(first, cone, limit, no_bounds, no_bounds), x, x, info)
    for i in range(n):
        z[place[i]] = x[i]
    return residual


@kernel(COUNT(NUMBER))
def _grade(residual):
    """Return the status for a residual."""
    if residual == np.inf:
        return NOT_FINITE
    return SOLVED if residual <= EXACT else INACCURATE


@kernel(SOLVE)
def coulomb_kernel(M, q, lower, upper, mu, d, z, info):
    """The Coulomb NCP: M = W, z = [p_n, p_t]; lower and upper are not used."""
    set_all(0.0, z)
    return _grade(contacts_in_one_go(M, q, mu, d, sets.COULOMB, z, info))


@kernel(SOLVE)
def ccp_kernel(M, q, lower, upper, mu, d, z, info):
    """The CCP (conic QP): M = W, z = [p_n, p_t]; lower and upper are not used."""
    set_all(0.0, z)
    return _grade(contacts_in_one_go(M, q, mu, d, sets.ASSOCIATED, z, info))


@dataclass(frozen=True)
class ExactSolver(KernelSolver):
    """The compiled dense method if W is small; sparse factors if it is not, or if the dense method fails."""

    def solve(self, problem: MatrixProblem, guess: Array | None = None) -> Solution:
        """Solve one problem, also over (M, H), ignoring the guess; `stages` reports the outcome of each stage."""
        return self._solved(problem, None)

    def solve_from(self, problem: MatrixProblem, start: Array) -> Solution:
        """Solve from a start (n,), and from zero if that fails."""
        return self._solved(problem, start)

    def _solved(self, problem: MatrixProblem, first: Array | None) -> Solution:
        reason = self.why_not(problem)
        if reason:
            return refusal(self, problem, reason)
        start = clock()
        way: Any = self._over_bodies if isinstance(problem, GlobalConeProblem) else self._over_W
        z, iterations, stages = way(problem, first)
        residual, elapsed = float(problem.residual(z)), clock() - start
        claimed = Status(_grade(residual))
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        return Solution(z, claimed, residual, self.tolerance, iterations, elapsed, self.name, reason, stages)

    def _over_bodies(self, problem: GlobalConeProblem, first: Array | None) -> Answer:
        """Solve as contact blocks, or over W if M alone is singular."""
        # Lazy import: the modules for bodies take longer to import than small problems to solve.
        from workbench.algorithms.contact_blocks import SOLVER
        from workbench.problems.bridges.bodies import BRIDGE

        reason = BRIDGE.applies(problem)
        if reason:
            local = problem.data.local
            z, iterations, stages = self._over_W(local.ccp() if problem.associated else local.coulomb(), first)
            return z, iterations, (f"over W, since {reason}", *stages)
        image = BRIDGE.forward(problem)
        found = SOLVER.solve(image.problem, None if first is None else image.there(first))
        return image.back(found.z), found.iterations, found.stages

    def _over_W(self, problem: ConeProblem, first: Array | None) -> Answer:
        found = None if first is None else self._from(problem, first)
        if found is None or found[1] > self.tolerance:
            found = min(filter(None, (found, self.in_stages(problem))), key=lambda one: one[1])
        z, _, iterations, stages = found
        return z, iterations, stages

    def _from(self, problem: ConeProblem, first: Array) -> Staged:
        """Run the first stage alone from a start (n,): dense matrices for few contacts, sparse factors for many."""
        return _in_one_go(problem, first) if problem.size <= LARGEST_DENSE else _searched(problem, first)

    def in_stages(self, problem: ConeProblem) -> Staged:
        """Return the best iterate, its residual, the iterations, and the outcome of every stage.

        A problem with several parts is solved part by part, and as a whole if one of them fails.
        """
        if problem.size > FEW and not isinstance(problem, Part):
            found = solve_by_parts(problem, self.in_stages)
            if found is not None:
                whole = found if found[1] <= self.tolerance else self.in_stages(Part.all_of(problem))
                return min(found, whole, key=lambda one: one[1])
        none = np.zeros(problem.size), np.inf, 0, ()
        z, best, iterations, stages = _in_one_go(problem) if problem.size <= LARGEST_DENSE else none
        if best > self.tolerance:
            z_blocks, residual, steps, report = _searched(problem)
            iterations, stages = iterations + steps, stages + report
            if residual < best:
                z, best = z_blocks, residual
        return z, best, iterations, stages


def _in_one_go(problem: ConeProblem, start: Array | None = None) -> Staged:
    """Run the dense method from zero or from a start (n,)."""
    W: Any = problem.M
    W, law = W.toarray() if is_sparse(W) else W, sets.ASSOCIATED if problem.associated else sets.COULOMB
    z, info = np.zeros(problem.size) if start is None else np.array(start, dtype=float), np.zeros(1, dtype=np.int64)
    residual, steps = contacts_in_one_go(W, problem.q, problem.mu, problem.d, law, z, info), int(info[0])
    return z, residual, steps, (f"{steps} dense sweeps and Newton steps: {residual:.1e}",)


def _searched(problem: ConeProblem, start: Array | None = None) -> Staged:
    """Run the stages with sparse factors from zero or from a start (n,)."""
    # Lazy import: SciPy takes longer to import than small problems to solve.
    from workbench.algorithms.coulomb_newton import BlockProblem
    from workbench.algorithms.stages import solve_in_stages

    p = BlockProblem(problem.M, problem.q, problem.mu, problem.d, problem.associated)
    search = solve_in_stages(p, start)
    return p.plain(search.z), search.residual, p.swept + p.factors, tuple(search.report)


COULOMB_EXACT = ExactSolver(
    name="coulomb-exact",
    kernel=coulomb_kernel,
    solves=frozenset({"Coulomb NCP", "global Coulomb NCP"}),
    guaranteed_for="one contact with W positive definite; several contacts: no proof, checked by the residual",
    source="de Saxce & Feng 1998; Jourdan, Alart & Jean 1998; Acary, Bremond & Huber 2018",
)
CCP_EXACT = ExactSolver(
    name="ccp-exact",
    kernel=ccp_kernel,
    solves=frozenset({"conic QP", "global conic QP"}),
    guaranteed_for="strictly feasible problems with W symmetric PSD, by convexity; checked by the residual",
    source="Anitescu & Tasora 2010; Jourdan, Alart & Jean 1998; Acary, Bremond & Huber 2018",
)
