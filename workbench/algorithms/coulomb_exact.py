"""Friction-cone problems to round-off: the Coulomb NCP and the CCP over r contacts, planar or spatial.

Method: block Gauss-Seidel sweeps whose blocks are solved exactly (`one_contact`; Jourdan, Alart & Jean 1998),
alternated with a semismooth Newton method on the natural map (Acary, Bremond & Huber 2018), Levenberg-Marquardt
regularised where redundant contacts make W singular. Sweeps find the modes (open, stick, slide), Newton's method, which
is quadratic once they are right, the digits. Where both stall, the proximal point method goes on (Rockafellar
1976). The best iterate is kept and graded by the relative size of its natural map, and by its worst contact's residual.

Guarantees: the CCP with W symmetric PSD is convex, and has an answer if it is strictly feasible. Coulomb's problem
has one under the criterion of Acary, Cadoux, Lemarechal & Malick (2011), not always unique, and no method is proven to
find it: hence the grade. Cost of the compiled cycles: O(n^2) a sweep, O(n^3) a Newton step, n = r (1 + d).
"""

from dataclasses import dataclass

import numpy as np
from numba import types

from workbench.algorithms.base import EXACT, KernelSolver, kernel_arguments, refusal
from workbench.algorithms.components import FEW
from workbench.algorithms.coulomb_parts import Part, Staged, solve_by_parts
from workbench.algorithms.dense_newton import ENOUGH, newton, norm
from workbench.algorithms.one_contact import natural_map, one_contact
from workbench.algorithms.sparse_contacts import alart_curnier, natural_blocks
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE, VECTOR, affine, copy, lu_factor, lu_solve, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.engine.timing import clock
from workbench.problems.classes import Array, ConeProblem, Cones, Problem
from workbench.problems.residual import contact_residual
from workbench.problems.solution import Solution, Status

CLAIM = 1e-12
"""Relative size of the natural map up to which the method claims SOLVED."""
NEARLY_ENOUGH = 1e-14
"""Relative size of the natural map at which the alternation stops."""
PROXIMAL_CLAIM = 1e-10
"""Residual up to which a proximal subproblem counts as solved."""
LARGEST_DENSE, LARGEST_BURST = 100, 200
"""Unknowns up to which the kernel, with its dense factors, goes before the sparse ones, and up to which the undamped
Newton steps with which it begins do."""
UNDAMPED = 12
"""Newton steps that are tried without damping."""
FIRST_SWEEPS, CYCLES, PROXIMAL_STEPS, LAST_SWEEPS = 4, 5, 100, 50

SOLVED, INACCURATE, NOT_FINITE = int(Status.SOLVED), int(Status.INACCURATE), int(Status.NOT_FINITE)


@kernel(types.void(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR))
def sweep(W, q, mu, d, associated, z):
    """One block Gauss-Seidel sweep: each contact solved exactly with the others held; z (r (1 + d),) is updated."""
    n, r = q.shape[0], mu.shape[0]
    rows = scratch_indices(1 + d)
    block, free, own = scratch_matrix(1 + d, 1 + d), scratch(1 + d), scratch(1 + d)
    for i in range(r):
        rows[0] = i
        for k in range(d):
            rows[1 + k] = r + d * i + k
        for k in range(1 + d):
            free[k] = q[rows[k]]
            for j in range(n):
                free[k] += W[rows[k], j] * z[j]
            for j in range(1 + d):
                block[k, j] = W[rows[k], rows[j]]
                free[k] -= block[k, j] * z[rows[j]]
        one_contact(block, free, mu[i : i + 1], associated, own)
        for k in range(1 + d):
            z[rows[k]] = own[k]


@kernel(types.float64(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, INDICES))
def active_set(W, q, mu, d, associated, z, info):
    """Undamped Newton steps on `sparse_contacts`' equations from z = 0; z takes the last iterate. Returns the residual.

    Most problems of a few contacts need no more. The steps end where there is no next one, or it gains nothing.
    """
    n, r, m = q.shape[0], mu.shape[0], 1 + d
    A, pivots, u, step, right = scratch_matrix(n, n), scratch_indices(n), scratch(n), scratch(n), scratch(n)
    z_i, u_i, gap, C, B = scratch(m), scratch(m), scratch(m), scratch_matrix(m, m), scratch_matrix(m, m)
    rows = scratch_indices(m)
    for i in range(n):
        z[i] = 0.0
    residual = np.inf
    for _ in range(UNDAMPED):
        affine(W, q, z, u)
        for i in range(r):
            own = 0.0
            for a in range(m):
                rows[a] = i if a == 0 else r + d * i + a - 1
                z_i[a], u_i[a] = z[rows[a]], u[rows[a]]
                own += W[rows[a], rows[a]]
            if not own > 0.0:
                return np.inf
            if associated:
                natural_blocks(z_i, u_i, mu[i], m / own, gap, C, B)
            else:
                alart_curnier(z_i, u_i, mu[i], m / own, gap, C, B)
            for a in range(m):
                for j in range(n):
                    s = 0.0
                    for k in range(m):
                        s += B[a, k] * W[rows[k], j]
                    A[rows[a], j] = s
                for k in range(m):
                    A[rows[a], rows[k]] += C[a, k]
                right[rows[a]] = -gap[a]
        if lu_factor(A, pivots) != 0:
            return np.inf
        lu_solve(A, pivots, right, step)
        info[0] += 1
        for i in range(n):
            z[i] += step[i]
        before, residual = residual, natural_map(W, q, mu, d, associated, z, u)
        if residual <= ENOUGH or residual == np.inf or (residual <= NEARLY_ENOUGH and residual > 0.1 * before):
            break
    return residual


@kernel(types.float64(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, INDICES))
def alternate(W, q, mu, d, associated, z, info):
    """`active_set`, then from z = 0 sweeps and Newton's method in turn, more sweeps each time.

    z (n,) takes the best iterate, whose residual is returned: inf at once where the data are not finite. Newton's
    method works on a copy: the sweeps go on from where they were, out of reach of its local minima.
    """
    n = q.shape[0]
    gap, iterate, trial = scratch(n), scratch(n), scratch(n)
    set_all(0.0, iterate)
    copy(iterate, z)
    info[0] = 0
    best = natural_map(W, q, mu, d, associated, z, gap) if np.isfinite(norm(mu)) else np.inf
    # For one contact a sweep is the solution.
    if mu.shape[0] > 1 and NEARLY_ENOUGH < best < np.inf:
        residual = active_set(W, q, mu, d, associated, trial, info)
        if residual < best:
            best = residual
            copy(trial, z)
    sweeps = FIRST_SWEEPS
    for _ in range(CYCLES):
        for _ in range(sweeps):
            if best <= NEARLY_ENOUGH or best == np.inf:
                return best
            sweep(W, q, mu, d, associated, iterate)
            info[0] += 1
            residual = natural_map(W, q, mu, d, associated, iterate, gap)
            if residual < best:
                best = residual
                copy(iterate, z)
        copy(iterate, trial)
        residual = newton(W, q, mu, d, associated, trial, info)
        if residual < best:
            best = residual
            copy(trial, z)
        sweeps *= 2
    return best


@kernel(types.float64(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, INDICES))
def approach(W, q, mu, d, associated, z, info):
    """`alternate`, then the proximal point method; z (n,) takes the best iterate, whose residual is returned.

    The proximal point method (Rockafellar 1976) solves the problem of W + eps I, q - eps z for the next z: positive
    definite however redundant the contacts, and for the CCP convergent for every eps. eps falls while that succeeds,
    and rises if not.
    """
    n = q.shape[0]
    best = alternate(W, q, mu, d, associated, z, info)
    if best <= CLAIM or best == np.inf:
        return best
    center, trial, W_eps, q_eps = np.zeros(n), np.empty(n), W.copy(), np.empty(n)
    eps, factor = 0.0, 0.2
    for i in range(n):
        eps += W[i, i] / n
    for _ in range(PROXIMAL_STEPS):
        if best <= CLAIM or best == np.inf:
            break
        for i in range(n):
            W_eps[i, i] = W[i, i] + eps
            q_eps[i] = q[i] - eps * center[i]
        copy(center, trial)
        residual = newton(W_eps, q_eps, mu, d, associated, trial, info)
        if residual > PROXIMAL_CLAIM:
            for _ in range(FIRST_SWEEPS):
                sweep(W_eps, q_eps, mu, d, associated, trial)
            info[0] += FIRST_SWEEPS
            residual = newton(W_eps, q_eps, mu, d, associated, trial, info)
        if residual > PROXIMAL_CLAIM:
            eps, factor = 8.0 * eps, np.sqrt(factor)
            continue
        eps *= factor
        copy(trial, center)
        residual = newton(W, q, mu, d, associated, trial, info)
        if residual < best:
            best = residual
            copy(trial, z)
    return best


@kernel(types.float64(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, INDICES))
def to_round_off(W, q, mu, d, associated, z, info):
    """`approach`, then sweeps where a contact is wrong by its own residual, as a light one beside heavy ones may be.

    Returns the relative size of the natural map, or that residual where it stays above `EXACT`.
    """
    best = approach(W, q, mu, d, associated, z, info)
    # A single contact is solved by itself.
    if mu.shape[0] == 1 or best > CLAIM:
        return best
    worst = contact_residual(W, q, mu, d, associated, z)
    for _ in range(LAST_SWEEPS):
        if worst <= EXACT:
            return best
        sweep(W, q, mu, d, associated, z)
        info[0] += 1
        worst = contact_residual(W, q, mu, d, associated, z)
    return worst


@kernel(types.int64(types.float64))
def _grade(residual):
    """The status that the best residual earns; `approach` returns inf for data that are not finite."""
    if residual == np.inf:
        return NOT_FINITE
    return SOLVED if residual <= CLAIM else INACCURATE


@kernel(SOLVE)
def coulomb_kernel(M, q, lower, upper, mu, d, z, info):
    """The Coulomb NCP: M = W, z = [p_n, p_t]; lower and upper are not used."""
    return _grade(to_round_off(M, q, mu, d, False, z, info))


@kernel(SOLVE)
def ccp_kernel(M, q, lower, upper, mu, d, z, info):
    """The CCP (conic QP): M = W, z = [p_n, p_t]; lower and upper are not used."""
    return _grade(to_round_off(M, q, mu, d, True, z, info))


@dataclass(frozen=True)
class ExactSolver(KernelSolver):
    """Compiled cycles where W is small; Newton's method with sparse factors where it is not or they stop short."""

    def solve(self, problem: Problem, guess: Array | None = None) -> Solution:
        """As `KernelSolver.solve`, over (M, H) too, without use of the guess; `stages` says how far each one came."""
        return self._solved(problem, None)

    def solve_from(self, problem: Problem, start: Array) -> Solution:
        """The stages over many contacts from a start (n,), and all of them from zero where these end in no solution."""
        return self._solved(problem, start)

    def _solved(self, problem: Problem, first: Array | None) -> Solution:
        reason = self.why_not(problem)
        if reason:
            return refusal(self, problem, reason)
        start = clock()
        assert isinstance(problem, Cones)
        found = None if first is None else _searched(problem, first)
        if found is None or found[1] > CLAIM:
            found = min(filter(None, (found, self.in_stages(problem))), key=lambda one: one[1])
        z, gap, iterations, stages = found
        residual = float(problem.residual(z))
        if gap <= CLAIM and residual > self.tolerance:
            z, residual, swept = contact_by_contact(problem, z, self.tolerance)
            iterations += swept
            stages += (f"{swept} sweeps, contact by contact: {residual:.1e}",)
        elapsed = clock() - start
        claimed = Status(_grade(gap if residual <= self.tolerance else residual))
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        return Solution(z, claimed, residual, self.tolerance, iterations, elapsed, self.name, reason, stages)

    def in_stages(self, problem: Cones) -> tuple[Array, float, int, tuple[str, ...]]:
        """The best iterate, its residual, the iterations, and what every stage came to.

        A problem that falls into parts is solved part by part, and as a whole where one of them comes to no end.
        """
        if isinstance(problem, ConeProblem) and problem.size > FEW and not isinstance(problem, Part):
            found = solve_by_parts(problem, self.in_stages)
            if found is not None:
                whole = found if found[1] <= CLAIM else self.in_stages(Part.all_of(problem))
                return min(found, whole, key=lambda one: one[1])
        z, info, best = np.zeros(problem.size), np.zeros(1, dtype=np.int64), np.inf
        stages = []
        if isinstance(problem, ConeProblem) and problem.size <= LARGEST_BURST:
            W, q, _, _, mu, d = kernel_arguments(problem)
            # What the kernel does, to the last bit, where that is cheap whatever the problem.
            dense, words = (to_round_off, "sweeps and ") if problem.size <= LARGEST_DENSE else (active_set, "")
            best = dense(W, q, mu, d, problem.associated, z, info)
            stages.append(f"{info[0]} dense {words}Newton steps: {best:.1e}")
        iterations = int(info[0])
        if best > CLAIM:
            z_blocks, residual, steps, report = _searched(problem)
            iterations += steps
            stages += report
            if residual < best:
                z, best = z_blocks, residual
        return z, best, iterations, tuple(stages)


def contact_by_contact(problem: Cones, z: Array, enough: float) -> tuple[Array, float, int]:
    """What sweeps make of z until its residual is at most `enough`: the best iterate, its residual, their number."""
    from workbench.algorithms.coulomb_bodies import in_blocks

    blocks = in_blocks(problem)
    trial, best = z[blocks.rows], float(problem.residual(z))
    for k in range(LAST_SWEEPS):
        if best <= enough or not blocks.sweep(1, trial):
            return z, best, k
        residual = float(problem.residual(blocks.plain(trial)))
        if residual < best:
            z, best = blocks.plain(trial), residual
    return z, best, LAST_SWEEPS


def _searched(problem: Cones, start: Array | None = None) -> Staged:
    """What the stages with sparse factors come to, from zero or from a start (n,)."""
    # Lazy, since SciPy takes longer to import than small problems to solve.
    from workbench.algorithms.coulomb_bodies import in_blocks
    from workbench.algorithms.coulomb_newton import solve_blocks

    p = in_blocks(problem)
    search = solve_blocks(p, start)
    return p.plain(search.z), search.residual, p.swept + p.factors, tuple(search.report)


COULOMB = ExactSolver(
    name="coulomb-exact",
    kernel=coulomb_kernel,
    solves=frozenset({"Coulomb NCP", "global Coulomb NCP"}),
    guaranteed_for="one contact with W positive definite; several contacts: no proof, graded by the residual",
    source="de Saxce & Feng 1998; Jourdan, Alart & Jean 1998; Acary, Bremond & Huber 2018",
)
CCP = ExactSolver(
    name="ccp-exact",
    kernel=ccp_kernel,
    solves=frozenset({"conic QP", "global conic QP"}),
    guaranteed_for="strictly feasible problems with W symmetric PSD, by convexity; graded by the residual",
    source="Anitescu & Tasora 2010; Jourdan, Alart & Jean 1998; Acary, Bremond & Huber 2018",
)
