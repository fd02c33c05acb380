"""Problems without bodies as metrics see them: a solution as a single step, which they see as a trajectory."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.columns import PROBLEM
from workbench.comparison.measured import AnswerPair, Measured, modes
from workbench.judge import coulomb
from workbench.judge.laws import Terms, judge_by
from workbench.mechanics.law import COULOMB, Law
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.arrays import Array


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


@dataclass(frozen=True, eq=False)
class MeasuredProblem(Measured):
    """Input of a metric of problems without bodies: all solutions are `ProblemStep`s, `exact` is the reference.

    contacts (r,) tells whether the velocity determines the impulses of the contact, `null_space` what dimension that of
    W has.
    """

    run: ProblemStep
    reference: ProblemStep
    exact: ProblemStep
    round_off: ProblemStep | None
    contacts: NDArray[np.bool_]
    null_space: int

    about = PROBLEM

    @property
    def pairs(self) -> dict[str, AnswerPair]:
        found = {"": AnswerPair((self.run, self.exact))}
        if self.round_off is not None:
            found |= {
                "formulation": AnswerPair((self.round_off, self.exact)),
                "solver": AnswerPair((self.run, self.round_off)),
            }
        return found

    def velocities_apart(self, a: ProblemStep, b: ProblemStep) -> float:
        """Return the distance of the velocities u = W p + q, relative to |q|_2."""
        return float(np.linalg.norm(a.problem.W @ (a.p - b.p))) / a.free

    @property
    def determined(self) -> NDArray[np.bool_]:
        return self.contacts[None]

    @property
    def free_directions(self) -> int:
        return self.null_space
