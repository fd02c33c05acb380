"""Codes for convex QPs: Clarabel, SCS and OSQP called directly, and a CVXPY re-solve.

    min 1/2 z^T W z + q^T z  over  mu z_n >= |z_t|, contact by contact (the CCP), or over bounds (box friction)

They get the problem in the scaled unknowns of `workbench.algorithms.quadratic`, in which every cone is a Lorentz cone;
scaling is no part of their time but for CVXPY, where it is part of a re-solve.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import Failed, Measure, Peer, Task, in_process
from workbench.algorithms.quadratic import CONVEX_KINDS, ScaledQP, scaled
from workbench.problems.classes import Array, MatrixProblem, is_symmetric
from workbench.problems.solution import Status

LARGEST_PARAMETER = 300
"""Unknowns n up to which CVXPY is asked: its canonical form of n x n parameters takes gigabytes soon after."""


def checked(problem: MatrixProblem) -> ScaledQP:
    """The scaled problem; Failed where it is no QP. Slightly negative eigenvalues are left to the code."""
    if problem.kind not in CONVEX_KINDS:
        raise Failed(f"a {problem.kind} is not convex")
    if not is_symmetric(problem.M):
        raise Failed("the matrix is not symmetric")
    return scaled(problem)


def triangle(qp: ScaledQP) -> Any:
    """The upper triangle of P with all its zeros, so that another P of the size has the same structure."""
    column, row = np.tril_indices(qp.c.size)
    pointer = np.concatenate([[0], np.cumsum(np.arange(1, qp.c.size + 1))])
    return sparse.csc_matrix((qp.P[row, column], row, pointer), shape=qp.P.shape)


def rows(qp: ScaledQP) -> tuple[Any, Array]:
    """A and b of A y + s = b: s >= 0 for the finite bounds, lower ones first, then s = y in a cone a contact."""
    eye = sparse.csr_array(np.eye(qp.c.size))
    below, above = np.isfinite(qp.lower), np.isfinite(qp.upper)
    order = np.column_stack([np.arange(qp.r), qp.r + np.arange(qp.d * qp.r).reshape(qp.r, qp.d)]).ravel()
    A = sparse.csc_matrix(sparse.vstack([-eye[below], eye[above], -eye[order]]))
    return A, np.concatenate([-qp.lower[below], qp.upper[above], np.zeros(order.size)])


def clarabel_solver(qp: ScaledQP, tolerance: float | None) -> Any:
    """A Clarabel solver object for the problem."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # What presolve takes out could not be updated.
    settings.presolve_enable = False
    if tolerance is not None:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    A, b = rows(qp)
    bounds = b.size - (1 + qp.d) * qp.r
    cones = [clarabel.NonnegativeConeT(bounds)] if bounds else []
    cones += [clarabel.SecondOrderConeT(1 + qp.d)] * qp.r
    return clarabel.DefaultSolver(triangle(qp), qp.c, A, b, cones, settings)


def clarabel(tolerance: float | None) -> Peer:
    def load() -> Measure:
        import clarabel  # noqa: F401  (is it there?)

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            qp = checked(task.problem)

            def solve() -> Any:
                answer = clarabel_solver(qp, tolerance).solve()
                return qp.original(np.array(answer.x)), str(answer.status)

            return lambda: solve

        return in_process(ready)

    return Peer(named("Clarabel", tolerance), load, "called directly, setup included")


def clarabel_bodies(tolerance: float) -> Peer:
    """Clarabel over the bodies' velocities, W not formed: min 1/2 v^T M v - b^T v with (u_n, mu u_t) in Lorentz cones.

    For tasks whose problem has `blocks` (`benchmarks.packings`); multipliers (y_n, y_t) are impulses (y_n, mu y_t).
    """

    def load() -> Measure:
        import clarabel as package

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            p, order = task.data.blocks, task.data.order
            unit = np.where(np.arange(p.size) % 3 == 0, 1.0, np.repeat(p.mu, 3))
            A, b = sparse.csc_matrix(-sparse.diags_array(unit) @ p.J), unit * p.c
            settings = package.DefaultSettings()
            settings.verbose = False
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
            cones = [package.SecondOrderConeT(3)] * p.blocks

            def solve() -> Any:
                answer = package.DefaultSolver(sparse.csc_matrix(p.M), -p.b, A, b, cones, settings).solve()
                return (unit * np.array(answer.z))[order], str(answer.status)

            return lambda: solve

        return in_process(ready)

    return Peer(named("Clarabel", tolerance), load, "over the bodies, setup included")


def osqp(tolerance: float) -> Peer:
    def load() -> Measure:
        import osqp as package

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            qp = checked(task.problem)
            P, A = triangle(qp), sparse.csc_matrix(np.eye(qp.c.size))

            def solve() -> Any:
                solver = package.OSQP()
                solver.setup(
                    P, qp.c, A, qp.lower, qp.upper,
                    verbose=False, eps_abs=tolerance, eps_rel=tolerance, max_iter=100_000, polishing=True,
                )  # fmt: skip
                answer = solver.solve()
                return qp.original(answer.x), answer.info.status

            return lambda: solve

        return in_process(ready)

    return Peer(named("OSQP", tolerance), load, "polishing on")


def scs(tolerance: float | None) -> Peer:
    def load() -> Measure:
        import scs

        options = {} if tolerance is None else {"eps_abs": tolerance, "eps_rel": tolerance, "max_iters": 100_000}

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            qp = checked(task.problem)
            A, b = rows(qp)
            data = {"P": triangle(qp), "A": A, "b": b, "c": qp.c}
            cone = {"l": b.size - (1 + qp.d) * qp.r, "q": [1 + qp.d] * qp.r}

            def solve() -> Any:
                answer = scs.SCS(data, cone, verbose=False, **options).solve()
                return qp.original(answer["x"]), answer["info"]["status"]

            return lambda: solve

        return in_process(ready)

    return Peer(named("SCS", tolerance), load, "called directly, setup included")


def cvxpy() -> Peer:
    """CVXPY with Clarabel: the canonical form is kept, so that a solve is a re-solve with new numbers."""

    def load() -> Measure:
        from workbench.algorithms import find_solver

        method = find_solver("cvxpy:CLARABEL")

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            if task.problem.size > LARGEST_PARAMETER:
                raise Failed(f"not tried above {LARGEST_PARAMETER} unknowns")

            def solve() -> Any:
                found = method.solve(task.problem)
                if found.claimed is Status.REFUSED:
                    raise Failed(found.reason)
                return found.z, found.reason

            solve()
            return lambda: solve

        return in_process(ready)

    return Peer("CVXPY re-solve (Clarabel)", load, "the workbench's cvxpy:CLARABEL, tolerance 1e-13 on the gap")


def named(name: str, tolerance: float | None) -> str:
    return name if tolerance is None else f"{name} at {tolerance:g}"
