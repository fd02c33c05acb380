"""A solution of a problem without bodies as a single step, which the metrics see as they see a trajectory."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.comparison.measured import modes
from workbench.judge import coulomb
from workbench.judge.laws import Terms, judge_by
from workbench.mechanics.law import COULOMB, Law
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.arrays import Array

MODES = ("open", "sliding", "sticking")
"""Modes of a contact."""


@dataclass(frozen=True, eq=False)
class ProblemStep:
    """Impulses p (n,) of a problem, the velocities that follow, and the judge's word; a leading axis of one step.

    `tolerance` is that of the answer's solver, `v_th` (r,) the velocities at the contacts that count as none, `law`
    the one that its formulation discretises; the step is one of 1 s.
    """

    problem: FrictionProblem
    p: Array
    tolerance: float
    v_th: Array
    law: Law = COULOMB

    def _parts(self, x: Array) -> tuple[Array, Array]:
        r = self.problem.contacts
        return x[None, :r], x[None, r:].reshape(1, r, self.problem.d)

    @property
    def free(self) -> float:
        """|q|_2, the unit of velocities; 1 if nothing moves."""
        return float(np.linalg.norm(self.problem.q)) or 1.0

    @cached_property
    def u(self) -> Array:
        """(n,) contact velocities W p + q."""
        return self.problem.W @ self.p + self.problem.q

    @property
    def p_n(self) -> Array:
        return self._parts(self.p)[0]

    @property
    def p_t(self) -> Array:
        return self._parts(self.p)[1]

    @property
    def u_n(self) -> Array:
        return self._parts(self.u)[0]

    @property
    def slack(self) -> Array:
        return self.u_n

    @property
    def u_t(self) -> Array:
        return self._parts(self.u)[1]

    @property
    def mu(self) -> Array:
        return self.problem.mu[None]

    @property
    def h(self) -> float:
        """Impulses and forces are the same numbers."""
        return 1.0

    @property
    def terms(self) -> Terms:
        return Terms(self.p_n, self.p_t, self.u_n, self.u_t, self.mu, self.problem.dense, self.problem.q)

    @cached_property
    def judged(self) -> coulomb.Verdict:
        return coulomb.judge(*self.terms)

    @cached_property
    def judged_by_law(self) -> coulomb.Verdict:
        return self.judged if self.law == COULOMB else judge_by(self.law, self.h, self.terms)

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """open, sliding or sticking."""
        return tuple(map(str, modes(self)[0]))
