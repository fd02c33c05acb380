"""Pinocchio's contact solvers (BSD-2) in the workbench's own stepper; they need the workbench in the same Python.

Contacts, gaps and steps are the workbench's; Pinocchio solves for the impulses, with its own settings, in SI units and
from zero. Its result is used as it is, converged or not. By default it solves Coulomb's law. Without De Saxcé's
correction (`solve_ncp`) its ADMM solves the cone complementarity problem; its PGS has no other law: there the option
affects statistics only (pgs-solver.hxx of 4.1).
"""

import numpy as np
import pinocchio as pin

from workbench.builtin.formulations.ccp import ccp
from workbench.builtin.formulations.coulomb import coulomb
from workbench.exams.scene import FormulationWorld
from workbench.exams.trial import Trial
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.solution import Solution, Status

VERSION = f"Pinocchio {pin.__version__}"
FREE = pin.Model()
"""Contacts must belong to a body; only their friction coefficients are used."""
FREE.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")


class World(FormulationWorld):
    """`method` ADMM, for Coulomb's law with `ncp` and the CCP without, or PGS."""

    def __init__(self, trial, h, method="ADMM", ncp=True):
        super().__init__(Trial.of(trial), coulomb if ncp else ccp, h, ForeignSolver(method, ncp))


class ForeignSolver:
    """Solves contact blocks whose sets are friction cones with two directions, in SI units."""

    solves, guaranteed_for, tolerance = frozenset({ContactBlocks.kind}), "", np.inf

    def __init__(self, method, ncp):
        self.name, self.ncp = f"Pinocchio's {method}", ncp
        parts = "ConstraintSolver", "SolverSettings", "SolverResult"
        self.solver, self.settings, self.result = (getattr(pin, method + part) for part in parts)

    def why_not(self, problem):
        return None

    def solve(self, problem):
        x, done = np.zeros(problem.size), self.result()
        if x.size:
            # A column-major matrix, symmetric except for rounding; tangents come before the normal.
            order = np.arange(x.size).reshape(-1, 3)[:, [1, 2, 0]].ravel()
            A = np.stack([problem.moved(unit) for unit in np.eye(x.size)], axis=1)[np.ix_(order, order)]
            delassus, q = pin.DelassusOperatorDense(0.5 * (A + A.T)), problem.free[1][order]
            settings = self.settings()
            settings.solve_ncp = self.ncp
            models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
            for mu in problem.mu.tolist():
                contact = pin.PointContactConstraintModel(FREE, 1)
                contact.setFriction(mu)
                models.append(pin.ConstraintModel(contact))
                data.append(models[len(models) - 1].createData())
            self.solver(x.size).solve(delassus, q, models, data, settings, done)
            x[order] = done.retrieveConstraintImpulses()
        return Solution(x, Status.SOLVED, problem.residual(x), np.inf, done.iterations, 0.0, self.name)
