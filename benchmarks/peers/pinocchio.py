"""Pinocchio's constraint solvers on a given W: ADMM, and projected Gauss-Seidel.

Both assume a symmetric W. Its contacts number their tangents before the normal, and its tolerances are absolute, so it
gets the problem in units in which tr W = n and |q| = 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Failed, Measure, Peer, Task, in_process
from workbench.problems.classes import is_symmetric

MODEL_BODY = 1


def pinocchio(name: str, method: str, coulomb: bool, tolerance: float | None, iterations: int | None) -> Peer:
    """`method` ADMM or PGS; the exact law or the CCP; None leaves an option as Pinocchio sets it."""

    def load() -> Measure:
        import pinocchio as pin

        solver, settings, result = (
            getattr(pin, method + suffix) for suffix in ("ConstraintSolver", "SolverSettings", "SolverResult")
        )

        def asked() -> Any:
            options = settings()
            options.solve_ncp = coulomb
            if tolerance is not None:
                options.absolute_complementarity_tol = options.absolute_feasibility_tol = tolerance
                options.relative_complementarity_tol = options.relative_feasibility_tol = 0.0
            if iterations is not None:
                options.max_iterations = iterations
            return options

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            problem = task.problem
            if not is_symmetric(problem.M):
                raise Failed("W is not symmetric")
            r, d = problem.mu.size, problem.d
            order = np.column_stack([r + d * np.arange(r), r + d * np.arange(r) + 1, np.arange(r)]).ravel()
            inertia, speed = np.trace(problem.M) / problem.size, np.linalg.norm(problem.q) or 1.0
            W, q = problem.M[np.ix_(order, order)] / inertia, problem.q[order] / speed
            models, data = contacts(pin, problem.mu)

            def fresh() -> Callable[[], Any]:
                method, found = solver(q.size), result()
                delassus, options = pin.DelassusOperatorDense(W), asked()

                def solve() -> Any:
                    done = method.solve(delassus, q, models, data, options, found)
                    z = np.empty(q.size)
                    z[order] = found.retrieveConstraintImpulses() * (speed / inertia)
                    return z, "" if done else f"stopped after {found.iterations} iterations"

                return solve

            return fresh

        return in_process(ready)

    about = f"tolerance {'default' if tolerance is None else f'{tolerance:g}'}, {iterations or 'default'} iterations"
    return Peer(name, load, about + ("" if coulomb else ", solve_ncp off"), apart=True)


def contacts(pin: Any, mu: Any) -> tuple[Any, Any]:
    """Point contacts of a free body with these friction coefficients; their geometry is never looked at."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for friction in mu:
        contact = pin.PointContactConstraintModel(model, MODEL_BODY)
        contact.setFriction(float(friction))
        wrapped = pin.ConstraintModel(contact)
        models.append(wrapped)
        data.append(wrapped.createData())
    return models, data
