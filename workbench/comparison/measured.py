"""What a metric may see: an answer beside the exact one, in the same words for a trajectory and a single problem."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.judge import coulomb

if TYPE_CHECKING:
    from workbench.comparison.problem_step import ProblemStep
    from workbench.mechanics.case import Case
    from workbench.step.run import Run


class Answer(Protocol):
    """Impulses p_n (K, r), p_t (K, r, d) [N s], velocities u_n, u_t [m/s] after each of K steps, and the judge's word.

    A `Run` is one, and a `ProblemStep` with K = 1. `tolerance` is the solver's, `v_th` [m/s] counts as no sliding.
    """

    @property
    def p_n(self) -> Array: ...
    @property
    def p_t(self) -> Array: ...
    @property
    def u_n(self) -> Array: ...
    @property
    def u_t(self) -> Array: ...
    @property
    def mu(self) -> Array: ...
    @property
    def v_th(self) -> float: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def judged(self) -> coulomb.Verdict: ...


def rms(x: Array) -> float:
    """Root mean square of the entries that are defined; nan where none is."""
    x = x[np.isfinite(x)]
    return float(np.sqrt(np.mean(x**2))) if x.size else np.nan


def closed(run: Answer) -> NDArray[np.bool_]:
    """Whether each contact (K, r) carries more than the run's tolerance.

    Without that, the friction ratio and angle of an interior-point answer's p_n = 1e-10 in flight would be random.
    """
    return run.p_n > run.tolerance * run.judged.normaliser[:, None]


def friction(run: Answer) -> Array:
    """Normalised friction (K, r); 0 for contacts that are open."""
    return coulomb.normalised_friction(np.where(closed(run), run.p_n, 0.0), run.p_t, run.mu)


def misalignment(run: Answer) -> Array:
    """Angle between friction and -u_t (K, r) [deg]; nan where a contact is open, does not slide or has no friction."""
    rubs = np.linalg.norm(run.p_t, axis=-1) > run.tolerance * run.judged.normaliser[:, None]
    return np.where(closed(run) & rubs, coulomb.misalignment(run.p_t, run.u_t, run.v_th), np.nan)


@dataclass(frozen=True, eq=False)
class Measured:
    """What a metric sees of a row of `runs`: the answer and what it is compared with.

    run, reference    this row's answer, and exact Coulomb friction, of a case at a much smaller step
    exact, round_off  exact Coulomb friction at this row's step, and this formulation solved to round-off; None where
                      they do not reach the end of the window
    steps             (k,) steps of `run`, `exact`, `round_off` that lie in the window; those of a problem are [0]
    in_reference      (k,) the steps of `reference` that start at the same times
    contacts          (r,) whether impulses of the contact are compared
    """

    run: Any
    reference: Any
    exact: Any
    round_off: Any
    steps: NDArray[np.int64]
    in_reference: NDArray[np.int64]
    contacts: NDArray[np.bool_]

    def friction_apart(self, a: Answer | None, b: Answer | None) -> float:
        """RMS over the window of the difference of normalised friction; nan where one of them is None."""
        if a is None or b is None:
            return np.nan
        x, y = (friction(r)[self.in_reference if r is self.reference else self.steps] for r in (a, b))
        return rms((x - y)[:, self.contacts])

    def apart(self, a: Any, b: Any) -> float:
        """What the error budget takes apart: friction in a case, velocities in a problem."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class MeasuredRun(Measured):
    """What a metric of cases sees: all answers are `Run`s."""

    run: "Run"
    reference: "Run"
    exact: "Run | None"
    round_off: "Run | None"

    @property
    def case(self) -> "Case":
        return self.run.case

    @property
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of `states_q`, `states_v` at the ends of the window's steps: in the run and, then, in the reference."""
        return self.steps + 1, self.in_reference + round(self.run.h / self.reference.h)

    def apart(self, a: Any, b: Any) -> float:
        return self.friction_apart(a, b)


@dataclass(frozen=True, eq=False)
class MeasuredProblem(Measured):
    """What a metric of problems without bodies sees: all answers are `ProblemStep`s, `exact` is the reference."""

    run: "ProblemStep"
    reference: "ProblemStep"
    exact: "ProblemStep"
    round_off: "ProblemStep | None"

    def apart(self, a: Any, b: Any) -> float:
        """Distance of the velocities W p + q over |q|_2."""
        if a is None or b is None:
            return np.nan
        return float(np.linalg.norm(a.problem.W @ (a.p - b.p))) / a.free

    def impulses_apart(self, a: Any, b: Any) -> float:
        """Distance of the impulses that are compared over the exact ones."""
        if a is None or b is None:
            return np.nan
        entries = np.concatenate([self.contacts, np.repeat(self.contacts, a.problem.d)])
        size = float(np.linalg.norm(self.exact.p[entries])) or np.nan
        return float(np.linalg.norm((a.p - b.p)[entries])) / size
