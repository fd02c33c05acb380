"""The comparator on a friction problem without bodies: one step, many formulations, judged against exact Coulomb.

A file holds W, q, mu. There is no trajectory, hence no discretisation error; what is left of the error budget
(`cases`) is told in velocities u = W p + q, relative to |q|_2, and in impulses, relative to the exact:

    formulation      this formulation to round-off     -  exact Coulomb
    solver           this solver's answer              -  this formulation to round-off

Where W is singular, velocities do not determine impulses. Those of a contact are compared where the null space of W
leaves them alone, which is so under every formulation, and nowhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.algorithms import find_solver, is_quadratic_program
from workbench.comparison.cases import GENERIC_SOLVER, closed, friction, mathematics, misalignment, must_make_steps, rms
from workbench.comparison.jobs import Progress
from workbench.comparison.solving import Answer, limited, posed, solve_problem
from workbench.diagnostics.problem_facts import problem_facts
from workbench.diagnostics.redundancy import contact_modes, freedom
from workbench.errors import WorkbenchError
from workbench.judge import coulomb
from workbench.language.formulation import Formulation
from workbench.matrices.rank import rank
from workbench.problems.classes import Array, is_psd
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.problems.solution import Solution, Status

SLOW = 1e-6
"""Share of the exact solution's max(|p|_2/rho, |q|_2) up to which a contact's velocity counts as none, in every row:
what a generic optimiser leaves undecided."""
NOBODY = "–"
"""In the place of the solver's name where none was reached."""
UNTOUCHED = 1e-8
"""Largest part in the (orthonormal) null space of W of a contact whose impulses count as determined by the velocity."""
SAME_VELOCITY = 1e-8
"""Share of |q|_2 within which two exact solutions count as having the same velocity."""


@dataclass(frozen=True, eq=False)
class Step:
    """Impulses p (n,) of a problem, the velocities that follow, and the judge's word; a leading axis of one step.

    `tolerance` is that of the answer's solver, `v_th` the velocity at a contact that counts as none.
    """

    problem: FrictionProblem
    p: Array
    tolerance: float
    v_th: float

    def _parts(self, x: Array) -> tuple[Array, Array]:
        r = self.problem.contacts
        return x[None, :r], x[None, r:].reshape(1, r, self.problem.d)

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
    def u_t(self) -> Array:
        return self._parts(self.u)[1]

    @property
    def mu(self) -> Array:
        return self.problem.mu[None]

    @cached_property
    def judged(self) -> coulomb.Verdict:
        trace, size = self.problem.W.diagonal().sum(), float(np.linalg.norm(self.problem.q))
        return coulomb.judge(self.p_n, self.p_t, self.u_n, self.u_t, self.mu, trace, size)

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """open, sliding or sticking, by the velocity."""
        return contact_modes(self.u_n[0], self.u_t[0], self.v_th)


@dataclass(frozen=True, eq=False)
class FileComparison:
    """Tidy frames of a comparison on one problem. `runs`: a row per formulation and solver; `trajectories`: per run and
    contact, the exact solution's with role "reference". NaN means "not defined".

    `facts` are those of `problem_facts`; `known` tells of the exact solution whether its impulses and velocity are
    determined, and how far taking the symmetric part of W `moved` its velocity, a share of |q|. `mathematics` is that
    of `Comparison`, printed for one contact.
    """

    name: str
    facts: dict[str, Any]
    known: dict[str, Any]
    formulations: tuple[Formulation, ...]
    seconds: float | None
    d: int
    runs: pd.DataFrame
    trajectories: pd.DataFrame
    mathematics: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Task:
    """One row: a formulation by a solver, None for the one that takes it to round-off."""

    formulation: Formulation
    solver: str | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a task: an answer, or why there is none; whether the problem posed is a convex QP."""

    task: Task
    answer: Answer | None
    claimed: str
    reason: str = ""
    problem_class: str = ""
    convex: bool = False

    @property
    def solver(self) -> str:
        return self.answer.solution.solver if self.answer else self.task.solver or NOBODY

    @property
    def impulses(self) -> Array | None:
        """The impulses where there are any."""
        p = self.answer.impulses if self.answer else None
        return p if p is not None and np.isfinite(p).all() else None


def compare_problem(
    name: str, whole: FrictionProblem | GlobalFrictionProblem, formulations: Sequence[Formulation], exact: Formulation,
    solvers: Sequence[str] = (), seconds: float | None = None, progress: Progress | None = None,
    symmetric: bool = False,
) -> FileComparison:  # fmt: skip
    """Put a problem under every formulation with every solver and judge all of it against `exact`, exact Coulomb.

    Without `solvers` as `comparison.compare` chooses them. With `seconds` each row is made in another process and given
    up after that time. With `symmetric` the problem is that of (W + W^T)/2, since most formulations need a symmetric W.
    Raises WorkbenchError where exact Coulomb friction is not solved to its tolerance; whatever a formulation or a
    solver cannot do is a row with its reason.
    """
    must_make_steps(formulations)
    problem = whole.local if isinstance(whole, GlobalFrictionProblem) else whole
    cards = tuple(mathematics(f, (1 + problem.d, 0, 1, problem.d)) for f in formulations)
    if progress:
        progress("exact Coulomb friction", 0, 1)
    given, moved = problem, None
    if symmetric:
        problem = whole = replace(given, W=0.5 * (given.W + given.W.T))
    answer = exact_answer(problem, exact)
    reference = exact_step(problem, answer)
    if symmetric:
        there = exact_step(given, exact_answer(given, exact))
        moved = float(np.linalg.norm(there.u - reference.u)) / _free(problem)
    exact_outcome = _outcome(Task(exact, None), answer, "Coulomb NCP")
    found = _outcomes(exact_outcome, problem, formulations, [find_solver(s).name for s in solvers], seconds, progress)
    comparable, known = _determined(problem, reference, exact)
    rows, contacts = [], [_contacts(reference, reference, exact, "reference", "", comparable)]
    for task, outcome in found.items():
        if task.solver is None and solvers:
            continue
        p = outcome.impulses
        step = (
            None
            if p is None or outcome.answer is None
            else replace(reference, p=p, tolerance=outcome.answer.solution.tolerance)
        )
        to_round_off = found[Task(task.formulation, None)]
        rows.append(_row(name, outcome, step, _verified_impulses(to_round_off), reference, comparable))
        if step is not None:
            contacts.append(_contacts(step, reference, task.formulation, "run", outcome.solver, comparable))
    return FileComparison(
        name, problem_facts(whole), known | {"moved": moved}, tuple(formulations), seconds, problem.d,
        pd.DataFrame(rows), pd.concat(contacts, ignore_index=True), cards,
    )  # fmt: skip


def exact_answer(problem: FrictionProblem, exact: Formulation) -> Answer:
    """The exact solution; raises WorkbenchError where its residual is above its tolerance."""
    answer = solve_problem(problem, exact)
    s = answer.solution
    if not s.verified:
        raise WorkbenchError(
            f"the exact solution is not verified, so there is nothing to compare with: residual {s.residual:.1e} above "
            f"{s.tolerance:.0e}; {s.reason or s.claimed.meaning}"
        )
    return answer


def exact_step(problem: FrictionProblem, answer: Answer) -> Step:
    """The exact solution as a step, which sets the velocity that counts as none."""
    step = Step(problem, answer.solution.z, answer.solution.tolerance, 0.0)
    return replace(step, v_th=SLOW * float(step.judged.normaliser[0] / step.judged.rho[0]))


def _free(problem: FrictionProblem) -> float:
    """|q|_2, by which velocities are measured; 1 where nothing moves."""
    return float(np.linalg.norm(problem.q)) or 1.0


def outcome_of(problem: FrictionProblem, task: Task) -> Outcome:
    """Solve one task; a refusal is an Outcome with its reason."""
    try:
        answer = solve_problem(problem, task.formulation, task.solver)
    except WorkbenchError as error:
        return Outcome(task, None, Status.REFUSED.name, str(error))
    law = posed(problem, task.formulation)
    return _outcome(task, answer, law.kind, task.solver is None and is_quadratic_program(law))


def _outcome(task: Task, answer: Answer, kind: str, convex: bool = False) -> Outcome:
    return Outcome(task, answer, answer.solution.claimed.name, answer.solution.reason, kind, convex)


def _outcomes(
    exact: Outcome, problem: FrictionProblem, formulations: Sequence[Formulation], solvers: Sequence[str],
    seconds: float | None, progress: Progress | None,
) -> dict[Task, Outcome]:  # fmt: skip
    """Every formulation to round-off, and by the solvers; rows of a formulation stand together."""
    tasks = [Task(f, s) for f in formulations for s in (None, *solvers)]
    found = {exact.task: exact} if exact.task in tasks else {}
    waiting = [(problem, task) for task in tasks if task not in found]
    done = limited(outcome_of, waiting, seconds, lambda task, *why: Outcome(task[1], None, *why))
    for outcome in done:
        found[outcome.task] = outcome
        generic = Task(outcome.task.formulation, GENERIC_SOLVER)
        if outcome.convex and not solvers:
            waiting.append((problem, generic))
        if progress:
            progress(f"{outcome.task.formulation.label}, {outcome.solver}", len(found), len(found) + len(waiting))
    order = {f: i for i, f in enumerate(formulations)}
    return dict(sorted(found.items(), key=lambda item: order[item[0].formulation]))


def _verified_impulses(outcome: Outcome) -> Array | None:
    return outcome.impulses if outcome.answer and outcome.answer.solution.verified else None


def _row(
    name: str, outcome: Outcome, step: Step | None, to_round_off: Array | None, reference: Step,
    comparable: NDArray[np.bool_],
) -> dict[str, Any]:  # fmt: skip
    f = outcome.task.formulation
    row: dict[str, Any] = {
        "file": name, "formulation": f.name, "label": f.label, "options": f.listed_options, "solver": outcome.solver,
        "problem_class": outcome.problem_class, "claimed": outcome.claimed, "verified": False,
        **dict.fromkeys(("size", "residual", "tolerance", "iterations", "build_time", "solve_time"), np.nan),
        "reason": outcome.reason,
    }  # fmt: skip
    if outcome.answer:
        s: Solution = outcome.answer.solution
        row |= {
            "verified": s.verified and s.claimed in (Status.SOLVED, Status.INACCURATE), "size": outcome.answer.size,
            "residual": s.residual if np.isfinite(s.residual) else np.nan, "tolerance": s.tolerance,
            "iterations": s.iterations, "build_time": outcome.answer.build_time, "solve_time": s.solve_time,
        }  # fmt: skip
    return row | _metrics(step, to_round_off, reference, comparable)


MODES = ("open", "sliding", "sticking")
METRICS = (
    "velocity_error", "formulation_error", "solver_error", "impulse_error", "impulse_formulation_error",
    "impulse_solver_error", "friction_rmsd", "misalignment_rms", "other_mode", *MODES, "signorini", "cone",
    "dissipation", "natural_map",
)  # fmt: skip


def _metrics(
    step: Step | None, to_round_off: Array | None, exact: Step, comparable: NDArray[np.bool_]
) -> dict[str, float]:
    if step is None:
        return dict.fromkeys(METRICS, np.nan)
    problem, modes = step.problem, step.modes
    entries = np.concatenate([comparable, np.repeat(comparable, problem.d)])
    free, size = _free(problem), float(np.linalg.norm(exact.p[entries])) or np.nan

    def apart(a: Array | None, b: Array | None) -> tuple[float, float]:
        if a is None or b is None:
            return np.nan, np.nan
        difference = a - b
        velocity = float(np.linalg.norm(problem.W @ difference)) / free
        return velocity, float(np.linalg.norm(difference[entries])) / size

    pairs = [apart(step.p, exact.p), apart(to_round_off, exact.p), apart(step.p, to_round_off)]
    judged = step.judged
    values = (
        *(velocity for velocity, _ in pairs), *(impulse for _, impulse in pairs),
        rms((friction(step) - friction(exact))[0, comparable]), rms(misalignment(step)[0, comparable]),
        sum(a != b for a, b in zip(modes, exact.modes, strict=True)), *(modes.count(m) for m in MODES),
        *(float(getattr(judged, name)[0]) for name in ("signorini", "cone", "dissipation", "natural_map")),
    )  # fmt: skip
    return dict(zip(METRICS, values, strict=True))


def _contacts(
    step: Step, exact: Step, f: Formulation, role: str, solver: str, comparable: NDArray[np.bool_]
) -> pd.DataFrame:
    """One row per contact: impulses, velocities, what the law makes of them, and the exact solution's beside it."""
    columns: dict[str, Any] = {
        "formulation": f.name, "label": f.label, "role": role, "solver": solver, "contact": range(comparable.size),
        "mu": step.problem.mu, "p_n": step.p_n[0], "u_n": step.u_n[0], "normalised_friction": friction(step)[0],
        "misalignment": misalignment(step)[0], "mode": step.modes, "exact_friction": friction(exact)[0],
        "exact_mode": exact.modes, "closed": closed(step)[0], "determined": comparable,
    }  # fmt: skip
    for j in range(step.problem.d):
        columns[f"p_t{j + 1}"], columns[f"u_t{j + 1}"] = step.p_t[0, :, j], step.u_t[0, :, j]
    return pd.DataFrame(columns)


def _determined(problem: FrictionProblem, exact: Step, law: Formulation) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """(r,) whether the velocity determines each contact's impulses, and what is known of the exact solution.

    dimension   of the set of impulses with the exact velocity and modes (`diagnostics.redundancy`), 0: a point
    velocity    "unique", "not unique" or "not known", with the reason in words
    """
    W, r = problem.dense, problem.contacts
    _, sigma, Vt = np.linalg.svd(W)
    found = rank(W)
    N = Vt[found.value :].T
    parts = np.sqrt((N[:r] ** 2).sum(axis=1) + (N[r:] ** 2).reshape(r, -1).sum(axis=1))
    comparable = parts <= UNTOUCHED
    dimension = freedom(W, problem.mu, exact.modes, exact.u_t[0], found.tolerance)
    velocity, reason = _velocity(problem, exact, law, sigma)
    return comparable, {
        "null_space": problem.size - found.value, "comparable": int(comparable.sum()), "dimension": dimension,
        "velocity": velocity, "reason": reason, "residual": float(exact.judged.natural_map[0]),
        **{mode: exact.modes.count(mode) for mode in MODES},
    }  # fmt: skip


def _velocity(problem: FrictionProblem, exact: Step, law: Formulation, sigma: Array) -> tuple[str, str]:
    """Is the velocity of the exact solution the only one?

    With W symmetric positive definite the CCP's answer to a shift s along the normals is Lipschitz: subtracting the
    variational inequalities of two shifts gives |du| <= sqrt(cond W) |ds|. De Saxce's s = mu |u_t| has
    |ds| <= mu_max |du|, so mu_max sqrt(cond W) < 1 makes the fixed point unique. Without friction the problem is the
    CCP, whose velocity is unique.
    """
    W, mu_max = problem.dense, float(problem.mu.max())
    if mu_max == 0 and is_psd(W):
        return "unique", "without friction the problem is a convex quadratic program"
    bound = mu_max * float(np.sqrt(sigma[0] / sigma[-1])) if sigma[-1] > 0 else np.inf
    if bound < 1 and is_psd(W):
        return "unique", f"W is positive definite and μ_max √cond W = {bound:.3g} < 1, so De Saxcé's shift contracts"
    order = np.arange(problem.contacts)[::-1]
    entries = np.concatenate([order, (problem.contacts + problem.d * order[:, None] + np.arange(problem.d)).ravel()])
    turned = FrictionProblem(problem.W[entries][:, entries], problem.q[entries], problem.mu[order], problem.d)
    try:
        other = exact_step(turned, exact_answer(turned, law))
    except WorkbenchError:
        return "not known", "Coulomb's problem can have several, and no proof of uniqueness applies"
    apart = float(np.linalg.norm(other.u - exact.u[entries])) / _free(problem)
    if apart > SAME_VELOCITY:
        return (
            "not unique",
            f"solved with the contacts in reverse order, another velocity came out, {apart:.2g} |q| away",
        )
    return "not known", (
        "Coulomb's problem can have several, and no proof of uniqueness applies; solved with the contacts in reverse "
        f"order it gave the same velocity to {max(apart, 1e-16):.0e} |q|, which is evidence and no proof"
    )
