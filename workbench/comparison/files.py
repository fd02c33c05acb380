"""Comparing on a problem without bodies, such as files hold: many formulations, judged against exact Coulomb friction.

A file holds W, q, mu. There is no trajectory, hence no discretisation error; what is left of the error budget
(`cases`) is measured in velocities u = W p + q, relative to |q|_2, and in impulses, relative to the exact:

    formulation      this formulation to round-off     -  exact Coulomb
    solver           this solver's answer              -  this formulation to round-off

Where W is singular, velocities do not determine impulses. Those of a contact are compared where the null space of W
leaves them alone, which is so under every formulation, and nowhere else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.algorithms import find_solver, is_quadratic_program
from workbench.algorithms.base import Solver
from workbench.comparison.columns import DIAGNOSTICS, MODES, PROBLEM, TRAJECTORIES, framed
from workbench.comparison.cost import costs
from workbench.comparison.failure import NOBODY, failed
from workbench.comparison.jobs import Job
from workbench.comparison.limits import limited
from workbench.comparison.measured import closed, friction, least, misalignment
from workbench.comparison.measured_problem import MeasuredProblem, ProblemStep
from workbench.comparison.metric import Metric, evaluate, framed_runs
from workbench.comparison.nearest import nearest
from workbench.comparison.posing import posed
from workbench.comparison.result import GENERIC_SOLVER, Comparison, chosen_metrics, mathematics
from workbench.comparison.rows import declared, labels
from workbench.comparison.several import (
    ExaminedSteps,
    StepSolutions,
    counted,
    one_velocity,
    solution_columns,
    which_solution,
)
from workbench.comparison.solving import SolverAnswer, judged_iterate, solve_problem
from workbench.diagnostics.problem_facts import problem_facts
from workbench.diagnostics.redundancy import freedom
from workbench.engine.timing import standing_still
from workbench.language.formulation import Formulation
from workbench.matrices.solutions.coulomb_solutions import CoulombSolutions
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem, reversed_contacts
from workbench.problems.rank import rank
from workbench.problems.solution import Status
from workbench.support.arrays import Array
from workbench.support.errors import WorkbenchError
from workbench.support.progress import ProgressCallback

SLOW = 1e-6
"""Share of the exact solution's normaliser / rho up to which a contact's velocity counts as none, in every row: what a
generic optimiser leaves undecided."""
UNTOUCHED = 1e-8
"""Largest part in the (orthonormal) null space of W of a contact whose impulses count as determined by the velocity."""
SAME_VELOCITY = 1e-8
"""Share of |q|_2 within which two exact solutions count as having the same velocity."""


STEP = 1.0
"""A problem is a single step, of 1 s: impulses and forces are the same numbers."""


@dataclass(frozen=True, eq=False)
class JobOutcome:
    """Outcome of a job: an answer, or the reason why there is none, and whether the problem posed is a convex QP."""

    job: Job
    answer: SolverAnswer | None
    claimed: str
    reason: str = ""
    problem_class: str = ""
    convex: bool = False

    @property
    def solver(self) -> str:
        return self.answer.solution.solver if self.answer else self.job.solver.name if self.job.solver else NOBODY

    @property
    def impulses(self) -> Array | None:
        """The impulses where there are any."""
        p = self.answer.impulses if self.answer else None
        return p if p is not None and np.isfinite(p).all() else None


def compare_problem(
    name: str, whole: FrictionProblem | GlobalFrictionProblem, formulations: Sequence[Formulation], exact: Formulation,
    solvers: Sequence[str | Solver] = (), seconds: float | None = None, progress: ProgressCallback | None = None,
    metrics: Iterable[Metric | str] | None = None,
) -> Comparison:  # fmt: skip
    """Put a problem under every formulation with every solver and judge all of it against `exact`, exact Coulomb.

    Without `solvers` and `metrics` as `cases.compare_case` chooses them. With `seconds` each row is made in another
    process and given up after that time. Where bodies cannot have W, all rows are over the nearest W that they can, if
    that hardly moves the exact velocity (`nearest`); else formulations over bodies are refused. Raises WorkbenchError
    where exact Coulomb friction is not solved to its tolerance; whatever a formulation or a solver cannot do is a row
    with its reason.
    """
    metrics, found_solvers = chosen_metrics(PROBLEM, metrics), [find_solver(s) for s in solvers]
    problem = whole.local if isinstance(whole, GlobalFrictionProblem) else whole
    if progress:
        progress("exact Coulomb friction", 0, 1)
    instead = nearest(problem)
    if instead and instead.near:
        problem = whole = instead.problem
    answer = exact_answer(problem, exact)
    reference = exact_step(problem, answer)
    found = _outcomes(
        _outcome(Job(exact, None, STEP), answer, "Coulomb NCP"), problem, formulations, found_solvers, seconds, progress
    )
    solutions = counted(problem)
    compared, known = _determined(problem, reference, exact, solutions)
    examined = _examined(problem, reference, solutions, known["velocity"])
    velocities: dict[str, Array] = {}
    rows, contacts = [], [_contacts(reference, reference, exact, "reference", "", compared)]
    here = np.zeros(1, dtype=np.int64)
    for job, outcome in found.items():
        if job.solver is None and solvers:
            continue
        row, step = _row(name, outcome, problem.d), _step(outcome, reference)
        if step is not None:
            to_round_off = found[Job(job.subject, None, STEP)]
            verified = to_round_off.answer and to_round_off.answer.solution.verified
            beside = _step(to_round_off, reference) if verified else None
            row |= evaluate(
                metrics,
                MeasuredProblem(step, reference, reference, beside, here, compared, known["null_space"]),
            )
            row |= solution_columns(examined, {0: step.u})
            contacts.append(_contacts(step, reference, job.subject, "run", outcome.solver, compared))
            velocities.setdefault(job.subject.label, step.u)
        rows.append(row)
    trajectories = pd.concat(contacts, ignore_index=True).assign(file=name)
    cards = mathematics(formulations, (1 + problem.d, 0, 1, problem.d))
    remarks: tuple[str, ...] = ()
    if examined.several:
        remarks = (which_solution(examined.several[0], velocities),)
    return Comparison(
        name, tuple(formulations), metrics, framed_runs(rows, metrics, PROBLEM),
        framed(trajectories, [c for c in TRAJECTORIES if c.name in trajectories], PROBLEM),
        framed([], DIAGNOSTICS, PROBLEM), cards, remarks=remarks, problem=problem, facts=problem_facts(whole),
        known=known | {"nearest": instead and instead.facts}, seconds=seconds,
    )  # fmt: skip


def exact_answer(problem: FrictionProblem, exact: Formulation) -> SolverAnswer:
    """The exact solution; raises WorkbenchError where its residual is above its tolerance."""
    answer = solve_problem(problem, exact)
    s = answer.solution
    if not s.verified:
        raise WorkbenchError(
            f"the exact solution is not verified, so there is no reference: residual {s.residual:.1e} above "
            f"{s.tolerance:.0e}; {s.reason or s.claimed.meaning}"
        )
    return answer


def exact_step(problem: FrictionProblem, answer: SolverAnswer) -> ProblemStep:
    """The exact solution as a step, which sets the velocity that counts as none."""
    step = ProblemStep(problem, answer.solution.z, answer.solution.tolerance, np.zeros(problem.contacts))
    return replace(step, v_th=SLOW * step.judged.normaliser[0] / step.judged.rho[0])


def _step(outcome: JobOutcome, reference: ProblemStep) -> ProblemStep | None:
    """The answer as a step, judged as the exact one; None without impulses."""
    if outcome.answer is None or outcome.impulses is None:
        return None
    law = outcome.job.subject.law
    return replace(reference, p=outcome.impulses, tolerance=outcome.answer.solution.tolerance, law=law)


def outcome_of(problem: FrictionProblem, job: Job) -> JobOutcome:
    """Solve one job; an error gives a `JobOutcome` with its reason."""
    try:
        answer = solve_problem(problem, job.subject, job.solver)
        # The answer is there; what else is asked must not take it away when time is up.
        with standing_still():
            law = posed(problem, job.subject)
            convex = job.solver is None and is_quadratic_program(law)
    except Exception as error:
        return JobOutcome(job, None, **vars(failed(error)))
    return _outcome(job, answer, law.kind, convex)


def _lost(waiting: tuple[FrictionProblem, Job], claimed: str, reason: str, iterate: Array | None) -> JobOutcome:
    """Outcome of a job that exceeded its time, with the residual of the best iterate if its method has one."""
    problem, job = waiting
    if iterate is not None:
        residual, _ = judged_iterate(problem, job.subject, iterate)
        reason = f"{reason}; the best iterate has residual {residual:.1e}"
    return JobOutcome(job, None, claimed, reason)


def _outcome(job: Job, answer: SolverAnswer, kind: str, convex: bool = False) -> JobOutcome:
    return JobOutcome(job, answer, answer.solution.claimed.name, answer.solution.why_not, kind, convex)


def _outcomes(
    exact: JobOutcome, problem: FrictionProblem, formulations: Sequence[Formulation], solvers: Sequence[Solver],
    seconds: float | None, progress: ProgressCallback | None,
) -> dict[Job, JobOutcome]:  # fmt: skip
    """Solve every formulation to round-off and by each solver; jobs of a formulation are adjacent."""
    jobs = [Job(f, s, STEP) for f in formulations for s in (None, *solvers)]
    found = {exact.job: exact} if exact.job in jobs else {}
    waiting = [(problem, job) for job in jobs if job not in found]
    for outcome in limited(outcome_of, waiting, seconds, _lost):
        found[outcome.job] = outcome
        generic = Job(outcome.job.subject, find_solver(GENERIC_SOLVER), STEP)
        if outcome.convex and not solvers:
            waiting.append((problem, generic))
        if progress:
            progress(f"{outcome.job.subject.label}, {outcome.solver}", len(found), len(found) + len(waiting))
    order = {f: i for i, f in enumerate(formulations)}
    return dict(sorted(found.items(), key=lambda item: order[item[0].subject]))


def _row(name: str, outcome: JobOutcome, d: int) -> dict[str, Any]:
    """Return the row of a job without the metrics."""
    f = outcome.job.subject
    row: dict[str, Any] = {
        **labels(name, f), **declared(f, d), "solver": outcome.solver, "problem_class": outcome.problem_class,
        "claimed": outcome.claimed, "verified": False, "reason": outcome.reason, "notes": "",
    }  # fmt: skip
    if outcome.answer is None:
        return row
    s = outcome.answer.solution
    if s.claimed is Status.SOLVED and not s.verified:
        row["claimed"] = Status.INACCURATE.name
    return row | {
        "verified": s.verified and s.claimed in (Status.SOLVED, Status.INACCURATE), "size": outcome.answer.size,
        "residual": s.residual if np.isfinite(s.residual) else np.nan, "tolerance": s.tolerance,
        "iterations": s.iterations, "build_time": outcome.answer.build_time, "solve_time": s.solve_time,
        **costs([s.solve_time], 1),
    }  # fmt: skip


def _contacts(
    step: ProblemStep, exact: ProblemStep, f: Formulation, role: str, solver: str, comparable: NDArray[np.bool_]
) -> pd.DataFrame:
    """Return one row per contact: impulses, velocities, their residuals of the law, and the exact solution."""
    impulse, velocity = least(step)
    columns: dict[str, Any] = {
        "formulation": f.name, "label": f.label, "role": role, "solver": solver, "contact": range(comparable.size),
        "mu": step.problem.mu, "p_n": step.p_n[0], "u_n": step.u_n[0], "normalised_friction": friction(step)[0],
        "misalignment": misalignment(step)[0], "mode": step.modes, "exact_friction": friction(exact)[0],
        "exact_mode": exact.modes, "closed": closed(step)[0], "determined": comparable,
        "least_impulse": impulse[0], "least_velocity": velocity[0],
    }  # fmt: skip
    for j in range(step.problem.d):
        columns[f"p_t{j + 1}"], columns[f"u_t{j + 1}"] = step.p_t[0, :, j], step.u_t[0, :, j]
        columns[f"free_t{j + 1}"] = step.problem.q[comparable.size + j :: step.problem.d]
    return pd.DataFrame(columns)


def _determined(
    problem: FrictionProblem, exact: ProblemStep, law: Formulation, solutions: CoulombSolutions | None
) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """Return (r,) whether the velocity determines each contact's impulses, and the facts on the exact solution.

    dimension   of the set of impulses with the exact velocity and modes (`diagnostics.redundancy`), 0: a point
    velocity    "unique", "not unique" or "not known", with the reason in words
    """
    W, r = problem.dense, problem.contacts
    _, _, Vt = np.linalg.svd(W)
    found = rank(W)
    N = Vt[found.value :].T
    parts = np.sqrt((N[:r] ** 2).sum(axis=1) + (N[r:] ** 2).reshape(r, -1).sum(axis=1))
    comparable = parts <= UNTOUCHED
    dimension = freedom(W, problem.mu, exact.modes, exact.u_t[0], found.tolerance)
    velocity, reason = _velocity(problem, exact, law, solutions)
    return comparable, {
        "null_space": problem.size - found.value, "comparable": int(comparable.sum()), "dimension": dimension,
        "velocity": velocity, "reason": reason, "residual": float(exact.judged.natural_map[0]),
        **{mode: exact.modes.count(mode) for mode in MODES},
    }  # fmt: skip


def _examined(
    problem: FrictionProblem, exact: ProblemStep, solutions: CoulombSolutions | None, velocity: str
) -> ExaminedSteps:
    """Return the problem as the only step that is examined; `velocity` as in `_determined`."""
    if not solutions:
        return ExaminedSteps(STEP, 1, int(velocity == "unique"), {}, ())
    step = StepSolutions(0.0, solutions.points, np.array([x.u for x in solutions.points]), exact.u, problem.q)
    return ExaminedSteps(STEP, 1, 1, {0: step} if velocity == "not unique" else {}, ())


def _velocity(
    problem: FrictionProblem, exact: ProblemStep, law: Formulation, solutions: CoulombSolutions | None
) -> tuple[str, str]:
    """Return whether the velocity of the exact solution is unique, and the reason; `solutions` are all, if known."""
    if reason := one_velocity(problem):
        return "unique", reason
    if solutions:
        away = [float(np.linalg.norm(x.u - exact.u)) / exact.free for x in solutions.points]
        count = "one solution" if len(away) == 1 else f"{len(away)} solutions"
        searched = f"all modes were searched, with proof: Coulomb's law has exactly {count}"
        if max(away) <= SAME_VELOCITY:
            return "unique", searched
        return "not unique", f"{searched}, the farthest {max(away):.2g} |q| away"
    order, entries = reversed_contacts(problem.contacts, problem.d)
    turned = FrictionProblem(problem.W[entries][:, entries], problem.q[entries], problem.mu[order], problem.d)
    try:
        other = exact_step(turned, exact_answer(turned, law))
    except WorkbenchError:
        return "not known", "Coulomb's problem can have several, and no proof of uniqueness applies"
    apart = float(np.linalg.norm(other.u - exact.u[entries])) / exact.free
    if apart > SAME_VELOCITY:
        return (
            "not unique",
            f"solved with the contacts in reverse order, another velocity came out, {apart:.2g} |q| away",
        )
    return "not known", (
        "Coulomb's problem can have several, and no proof of uniqueness applies; solved with the contacts in reverse "
        f"order it gave the same velocity to {max(apart, 1e-16):.0e} |q|, which is evidence and no proof"
    )
