"""A simulated trajectory, and quantities derived from it."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.judge import coulomb
from workbench.judge.laws import Terms, judge_by
from workbench.language.assemble import find
from workbench.language.assemble.plan import Compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.law import COULOMB, Law
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.classes import LCP, MLCP, Array, ConicQP, CoulombNCP, Equations, MatrixProblem
from workbench.problems.mixed import MixedNCP
from workbench.problems.solution import Status
from workbench.step.record import RunRecord
from workbench.step.scheme import Scheme
from workbench.step.stepping import PASSES


def make_problem(c: Compiled, M: Array, q: Array, lower: Array, upper: Array, mu: Array) -> MatrixProblem:
    """Return the reduced problem (or a batch of them) in the class recognised for the declaration."""
    if c.kind == "LCP":
        return LCP(M, q)
    if c.kind == "MLCP":
        return MLCP(M, q, lower, upper)
    if c.kind == "equations":
        return Equations(M, q)
    if c.kind == MixedNCP.kind:
        mixed: Any = MixedNCP(M, q, lower, upper, mu, c.sets)
        return mixed
    return (ConicQP if c.kind == "conic QP" else CoulombNCP)(M, q, mu, c.plan.d)


@dataclass(frozen=True)
class Course:
    """Settings of a run: step size h [s], number of steps, scheme, normal law (`core.NORMAL_LAWS`), relaxation.

    `passes` limits the passes of a fixed point in a step.
    """

    h: float
    steps: int
    scheme: Scheme
    normal: str
    relaxation: Relaxation
    passes: int = PASSES


@dataclass(frozen=True, eq=False)
class Run:
    """A trajectory: K finished steps of a case under a formulation, solved by one solver, of the `course.steps` wanted.

    `others` counts the steps solved by other methods of the solver's chain (`escalation`), by name. Pickling a run
    drops its compiled declaration, which is compiled again when needed.

    Array properties have a leading step axis; velocities u are those in the contact laws, at the end of the step or,
    under the scheme midpoint, the mean over it; t is the start of the step.
    """

    case: Case
    formulation: Formulation
    solver: str
    kind: str
    tolerance: float
    course: Course
    status: Status
    reason: str
    build_time: float
    solve_time: float
    record: RunRecord = field(repr=False)
    compiled: Compiled | None = field(repr=False, default=None)
    others: dict[str, int] = field(default_factory=dict)

    @property
    def h(self) -> float:
        """Step size [s]."""
        return self.course.h

    @property
    def scheme(self) -> Scheme:
        return self.course.scheme

    @property
    def normal(self) -> str:
        """The normal law."""
        return self.course.normal

    @property
    def relaxation(self) -> Relaxation:
        return self.course.relaxation

    @property
    def steps_wanted(self) -> int:
        return self.course.steps

    @property
    def steps(self) -> int:
        return self.record.p.shape[0]

    @property
    def label(self) -> str:
        """That of its formulation."""
        return self.formulation.label

    @property
    def iterations(self) -> NDArray[np.int64]:
        """(K,) of the solver."""
        return self.record.effort[:, 0]

    @property
    def t(self) -> Array:
        """Start of each step [s]."""
        return self.h * np.arange(self.steps, dtype=float)

    @property
    def states_q(self) -> Array:
        """(K + 1, n_q), including the start."""
        return self.record.q

    @property
    def states_v(self) -> Array:
        return self.record.v

    @property
    def v_after(self) -> Array:
        """(K, n) velocity in the laws of each step: at its end, under midpoint its mean [m/s, rad/s]."""
        return self.record.after

    @property
    def p_n(self) -> Array:
        """(K, r) normal impulses [N s]."""
        return self.record.p[:, : self.case.size[2]]

    @property
    def p_t(self) -> Array:
        """(K, r, d) friction impulses [N s]."""
        _, _, r, d = self.case.size
        return self.record.p[:, r : r + d * r].reshape(-1, r, d)

    @property
    def mu(self) -> Array:
        """(K, r) friction coefficients in the law."""
        return self.record.friction

    @property
    def v_th(self) -> float:
        """Speed below which a contact counts as sticking [m/s]."""
        return self.case.v_th

    @cached_property
    def contact_impulse(self) -> Array:
        """(K, n) net impulse of all contacts on the bodies, J_n^T p_n + J_t^T p_t."""
        J = self.record.J
        return np.einsum("kij,ki->kj", J, self.record.p[:, : J.shape[1]])

    @cached_property
    def _Jv(self) -> Array:
        return np.einsum("kij,kj->ki", self.record.J, self.record.after)

    @property
    def contact_velocities(self) -> Array:
        """(K, (1+d) r) J v+ of all contact rows [m/s]."""
        return self._Jv

    @cached_property
    def _law(self) -> Array:
        """The contact rows J v+ + b + eps p of Signorini's and Coulomb's laws."""
        t = self.record.rate.shape[1]
        return self._Jv + self.record.rate + self.record.eps * self.record.p[:, :t]

    @property
    def u_n(self) -> Array:
        """(K, r) J_n v+ + b_n + eps_n p_n of the normal law [m/s]."""
        return self._law[:, : self.case.size[2]]

    @property
    def slack(self) -> Array:
        """(K, r) u_n, or phi/h if Moreau's law leaves a contact with a gap open [m/s]."""
        gap = self.record.phi
        return np.where((self.normal == "moreau") & (gap > 0), gap / self.h, self.u_n)

    @property
    def u_t(self) -> Array:
        """(K, r, d) sliding velocity at the end of the step [m/s]."""
        _, _, r, d = self.case.size
        return (self._Jv[:, r:] + self.record.r_t).reshape(-1, r, d)

    @cached_property
    def _delassus(self) -> tuple[Array, Array]:
        """W = J M^-1 J^T + diag(eps) (K, (1+d) r, (1+d) r) and q = J v_f + b, in the case's axes."""
        J, M, eps = self.record.J, self.record.mass, self.record.eps
        X = np.linalg.solve(M, np.swapaxes(J, 1, 2))
        free = np.linalg.solve(M, self.record.b[..., None])
        return J @ X + eps[..., None] * np.eye(eps.shape[1]), (J @ free)[..., 0] + self.record.rate

    @property
    def W(self) -> Array:
        return self._delassus[0]

    @property
    def free_rates(self) -> Array:
        return self._delassus[1]

    @property
    def law(self) -> Law:
        """The law that the formulation discretises."""
        return self.formulation.law

    @property
    def terms(self) -> Terms:
        """Input of the judge, including compliance for relaxed rows."""
        law_t = self._law[:, self.case.size[2] :].reshape(self.p_t.shape)
        return Terms(self.p_n, self.p_t, self.u_n, law_t, self.record.friction, self.W, self.free_rates)

    @cached_property
    def judged(self) -> coulomb.Verdict:
        """Residuals of every step by Coulomb's law, for relaxed rows with their compliance."""
        return coulomb.judge(*self.terms)

    @cached_property
    def judged_by_law(self) -> coulomb.Verdict:
        """Residuals of every step by the law that the formulation discretises."""
        return self.judged if self.law == COULOMB else judge_by(self.law, self.h, self.terms)

    def __getstate__(self) -> dict[str, object]:
        # The compiled declaration holds CVXPY objects, which cannot be pickled.
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"compiled": None}

    @cached_property
    def residuals(self) -> Array:
        """(K,) residuals of the solved problems."""
        if not self.steps:
            return np.zeros(0)
        r, c = self.record, self.compiled or find.compiled(self.formulation, *self.case.size)
        problem = make_problem(c, r.M, r.q_, r.lower, r.upper, r.mu)
        return problem.residual(r.z)
