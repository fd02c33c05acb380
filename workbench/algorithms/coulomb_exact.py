"""Friction-cone problems to round-off: the Coulomb NCP and the CCP over r contacts, planar or spatial.

Method: block Gauss-Seidel sweeps whose blocks are solved exactly (`one_contact`; Jourdan, Alart & Jean 1998),
alternated with a semismooth Newton method on the natural map (Acary, Bremond & Huber 2018), Levenberg-Marquardt
regularised where redundant contacts make W singular. Sweeps find the modes (open, stick, slide), Newton's method, which
is quadratic once they are right, the digits. Where both stall, the proximal point method goes on (Rockafellar
1976). The best iterate is kept and graded by its natural-map residual.

Guarantees: the CCP with W symmetric PSD is convex, and has an answer if it is strictly feasible. Coulomb's problem
has one under the criterion of Acary, Cadoux, Lemarechal & Malick (2011), not always unique, and no method is proven to
find it: hence the grade. Cost of the compiled cycles: O(n^2) a sweep, O(n^3) a Newton step, n = r (1 + d).
"""

from dataclasses import dataclass

import numpy as np
from numba import types

from workbench.algorithms.base import KernelSolver, kernel_arguments, refusal
from workbench.algorithms.components import FEW
from workbench.algorithms.coulomb_parts import Part, solve_by_parts
from workbench.algorithms.one_contact import natural_map, one_contact, project
from workbench.algorithms.sparse_contacts import alart_curnier, natural_blocks
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE, VECTOR, affine, copy, lu_factor, lu_solve, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.engine.timing import clock
from workbench.problems.classes import Array, ConeProblem, Cones, Problem
from workbench.problems.solution import Solution, Status

CLAIM = 1e-12
"""Natural-map residual up to which the method claims SOLVED."""
ENOUGH, NEARLY_ENOUGH = 2e-15, 1e-14
"""Residuals at which Newton's method and the alternation stop: below them there is only round-off to gain."""
PROXIMAL_CLAIM = 1e-10
"""Residual up to which a proximal subproblem counts as solved."""
LARGEST_DENSE, LARGEST_BURST = 100, 200
"""Unknowns up to which the kernel, with its dense factors, goes before the sparse ones, and up to which the undamped
Newton steps with which it begins do."""
UNDAMPED = 12
"""Newton steps that are tried without damping."""
FIRST_SWEEPS, CYCLES, NEWTON_STEPS, PROXIMAL_STEPS = 4, 5, 20, 100

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


@kernel(types.void(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, MATRIX))
def natural_map_jacobian(W, q, mu, d, associated, z, A):
    """An element A (n, n) of the generalised Jacobian of the natural map at z: I - DP (I - rho D(u + shift))."""
    n, r = q.shape[0], mu.shape[0]
    u = scratch(n)
    affine(W, q, z, u)
    trace = 0.0
    for i in range(n):
        trace += W[i, i]
    rho = n / trace if trace > 0.0 else 1.0
    # A first takes I - rho D(u + shift), then, block row by block row, I - DP A.
    for i in range(n):
        for j in range(n):
            A[i, j] = -rho * W[i, j]
        A[i, i] += 1.0
    y, P, old = scratch(1 + d), scratch_matrix(1 + d, 1 + d), scratch(1 + d)
    for i in range(r):
        first = r + d * i
        slip = 0.0
        for k in range(d):
            slip += u[first + k] ** 2
        slip = np.sqrt(slip)
        u_n = u[i]
        if not associated and slip > 0.0:
            u_n += mu[i] * slip
            for k in range(d):
                for j in range(n):
                    A[i, j] -= rho * mu[i] * u[first + k] / slip * W[first + k, j]
        y[0] = z[i] - rho * u_n
        for k in range(d):
            y[1 + k] = z[first + k] - rho * u[first + k]
        project(y, mu[i], P)
        for j in range(n):
            old[0] = A[i, j]
            for k in range(d):
                old[1 + k] = A[first + k, j]
            for k in range(1 + d):
                s = 0.0
                for m in range(1 + d):
                    s -= P[k, m] * old[m]
                A[i if k == 0 else first + k - 1, j] = s
    for i in range(n):
        A[i, i] += 1.0


@kernel(types.boolean(MATRIX, VECTOR, types.float64, VECTOR))
def _newton_direction(A, gap, damping, step):
    """step = -A^-1 gap, or with damping > 0 the Levenberg-Marquardt step; False where A is singular."""
    n = gap.shape[0]
    pivots, rhs = scratch_indices(n), scratch(n)
    LU = scratch_matrix(n, n)
    if damping == 0.0:
        for i in range(n):
            copy(A[i], LU[i])
            rhs[i] = -gap[i]
    else:
        for i in range(n):
            set_all(0.0, LU[i])
            rhs[i] = 0.0
            for k in range(n):
                rhs[i] -= A[k, i] * gap[k]
        for k in range(n):
            for i in range(n):
                if A[k, i] != 0.0:
                    for j in range(n):
                        LU[i, j] += A[k, i] * A[k, j]
        for i in range(n):
            LU[i, i] += damping
    if lu_factor(LU, pivots) != 0:
        return False
    lu_solve(LU, pivots, rhs, step)
    return True


@kernel(types.float64(VECTOR))
def norm(x):
    """|x|_2 of x (n,)."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 2
    return np.sqrt(s)


@kernel(types.float64(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, INDICES))
def newton(W, q, mu, d, associated, z, info):
    """Semismooth Newton with backtracking on |gap|_2 from z, in place, until it no longer falls. Returns the residual.

    A pure step is tried first. Where A is singular or its step useless, the damping ~ |gap|^2 of Levenberg-Marquardt
    keeps the convergence fast although the solutions of redundant contacts are not isolated; a strong one comes last.
    """
    n = q.shape[0]
    A = scratch_matrix(n, n)
    gap, ahead, step, trial = scratch(n), scratch(n), scratch(n), scratch(n)
    residual = natural_map(W, q, mu, d, associated, z, gap)
    for _ in range(NEWTON_STEPS):
        if residual <= ENOUGH:
            break
        natural_map_jacobian(W, q, mu, d, associated, z, A)
        info[0] += 1
        error = norm(gap)
        found = False
        for damping in (0.0, 1e-13 + 1e-3 * min(residual, 1.0) ** 2, 1e-12 + min(residual, 1.0)):
            if not _newton_direction(A, gap, damping, step):
                continue
            length = 1.0
            for _ in range(12):
                for i in range(n):
                    trial[i] = z[i] + length * step[i]
                reached = natural_map(W, q, mu, d, associated, trial, ahead)
                found = norm(ahead) < (1.0 - 1e-3 * length) * error
                if found:
                    break
                length *= 0.5
            if found:
                break
        if not found:
            break
        residual = reached
        copy(trial, z)
        copy(ahead, gap)
    return residual


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


@kernel(types.int64(types.float64))
def _grade(residual):
    """The status that the best residual earns; `approach` returns inf for data that are not finite."""
    if residual == np.inf:
        return NOT_FINITE
    return SOLVED if residual <= CLAIM else INACCURATE


@kernel(SOLVE)
def coulomb_kernel(M, q, lower, upper, mu, d, z, info):
    """The Coulomb NCP: M = W, z = [p_n, p_t]; lower and upper are not used."""
    return _grade(approach(M, q, mu, d, False, z, info))


@kernel(SOLVE)
def ccp_kernel(M, q, lower, upper, mu, d, z, info):
    """The CCP (conic QP): M = W, z = [p_n, p_t]; lower and upper are not used."""
    return _grade(approach(M, q, mu, d, True, z, info))


@dataclass(frozen=True)
class ExactSolver(KernelSolver):
    """Compiled cycles where W is small; Newton's method with sparse factors where it is not or they stop short."""

    def solve(self, problem: Problem, guess: Array | None = None) -> Solution:
        """As `KernelSolver.solve`, over (M, H) too, without use of the guess; `stages` says how far each one came."""
        reason = self.why_not(problem)
        if reason:
            return refusal(self, problem, reason)
        start = clock()
        assert isinstance(problem, Cones)
        z, residual, iterations, stages = self.in_stages(problem)
        elapsed = clock() - start
        claimed = Status(_grade(residual))
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        verified = float(problem.residual(z))
        return Solution(z, claimed, verified, self.tolerance, iterations, elapsed, self.name, reason, stages)

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
            dense, words = (approach, "sweeps and ") if problem.size <= LARGEST_DENSE else (active_set, "")
            best = dense(W, q, mu, d, problem.associated, z, info)
            stages.append(f"{info[0]} dense {words}Newton steps: {best:.1e}")
        iterations = int(info[0])
        if best > CLAIM:
            # Lazy, since SciPy takes longer to import than small problems to solve.
            from workbench.algorithms.coulomb_bodies import in_blocks
            from workbench.algorithms.coulomb_newton import solve_blocks

            search = solve_blocks(in_blocks(problem))
            iterations += search.problem.swept + search.problem.factors
            stages += search.report
            if search.residual < best:
                z, best = search.problem.plain(search.z), search.residual
        return z, best, iterations, tuple(stages)


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
