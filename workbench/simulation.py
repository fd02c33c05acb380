"""Running a formulation: over a case, as a `Run`; or over one `ContactSystem`, as a `ContactSolution`."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from workbench import stepping
from workbench.assembly import Compiled, Work, compiled
from workbench.case import Case
from workbench.contact import ContactSolution, ContactSystem
from workbench.errors import DataError, UnknownNameError
from workbench.estimate import normal_estimate
from workbench.formulation import Formulation
from workbench.hooks import NORMAL_LAWS, given_axes, never_again, remember_impulses
from workbench.problems import Array, Problem
from workbench.record import Rows
from workbench.relaxation import Relaxation
from workbench.run import Run, make_problem
from workbench.solution import Solution, Status
from workbench.solvers.base import KernelSolver, Solver

# The same functions, interpreted: handing a hook from Python to compiled code costs numba 0.1 ms, calling it does not.
begin_step = stepping.begin_step.py_func
finish_pass = stepping.finish_pass.py_func
end_step = stepping.end_step.py_func


def normal_law(name: str) -> float:
    """The number of a normal law; raises UnknownNameError."""
    if name not in NORMAL_LAWS:
        raise UnknownNameError("normal law", name, list(NORMAL_LAWS))
    return NORMAL_LAWS[name]


ESTIMATES = {"none": stepping.NO_ESTIMATE, "last": stepping.LAST, "start": stepping.START}


class Stepper:
    """The arrays and hooks of one compiled declaration, ready to pose and finish steps."""

    def __init__(self, c: Compiled, h: float, normal: str, v_th: float) -> None:
        _, _, r, d = c.size
        hooks = c.hooks
        self.c = c
        self.work: Work = c.room()
        # No step has been taken: there are no last impulses.
        self.work.out[:] = np.nan
        self.core, self.theta = c.core(h, normal_law(normal), v_th)
        self.own = self.theta[c.own]
        self.given = hooks.given or given_axes
        self.again = hooks.again or never_again
        self.remember = hooks.remember or remember_impulses
        self.own_start, self.numbers = self.own.copy(), np.array(hooks.numbers, dtype=float)
        self.estimate = ESTIMATES[hooks.estimate]
        self.memory = np.full(r + d * r if hooks.memory is None else hooks.memory, np.nan)

    def begin(self) -> None:
        """The formulation's own data, the core's being in place."""
        self.own[:] = self.own_start
        if self.estimate != stepping.NO_ESTIMATE:
            normal_estimate(self.core, self.memory, self.estimate == stepping.START, self.lcp())
        self.given(self.core, self.memory, self.own, self.numbers)

    def lcp(self, other: Any = None) -> Any:
        """The kernel that `normal_estimate` uses; where nothing is estimated `other`, so that none is compiled."""
        if self.estimate == stepping.NO_ESTIMATE:
            return other
        from workbench.solvers.lemke import lemke_kernel

        return lemke_kernel

    def pose(self) -> Status:
        """Stamp and eliminate: whether a problem now stands in the work arrays."""
        return Status(stepping.pose(self.c.plan, self.theta, self.work))

    def problem(self) -> Problem:
        """The problem that now stands in the work arrays; raises DataError where it cannot be posed."""
        status = self.pose()
        if status is not Status.SOLVED:
            raise DataError(self.why_not_posed(status))
        w = self.work
        return make_problem(self.c, w.M.copy(), w.q.copy(), w.lower.copy(), w.upper.copy(), w.mu.copy())

    def finish_pass(self, z: Array) -> bool:
        """Take z as the solution of this pass; whether the formulation asks for another."""
        self.work.z[:] = z
        return finish_pass(self.core, self.work, self.again, self.memory, self.own, self.numbers)

    def solve(self, solver: Solver) -> tuple[Solution, int, int]:
        """All passes of one step with a solver: the last Solution, iterations over all passes, passes."""
        iterations = 0
        for passes in range(1, stepping.PASSES + 1):
            solution = solver.solve(self.problem())
            iterations += solution.iterations
            if solution.claimed not in (Status.SOLVED, Status.INACCURATE) or not self.finish_pass(solution.z):
                return solution, iterations, passes
        status = Status.NO_FIXED_POINT
        return replace(solution, claimed=status, reason=status.meaning), iterations, stepping.PASSES

    def why_not_posed(self, status: Status) -> str:
        """One line on why the problem could not be posed; for a singular elimination, which rows are dependent."""
        declaration, A, start = self.c.declaration, self.work.A, self.c.own.start
        for p in declaration.hooks.own:
            if not np.isfinite(self.theta[start : start + p.size]).all():
                return f"parameter '{p.name()}' is left without a value (it is not finite)"
            start += p.size
        if status is not Status.SINGULAR or not np.isfinite(A).all():
            return Status.NOT_FINITE.meaning
        from workbench.diagnostics.rank import dependent_rows
        from workbench.notation import plain_relation

        n_f = self.c.plan.n_free
        place = [(i, F) for F in declaration.equations for i in range(F.size)]
        names = []
        for group in dependent_rows(A[:n_f, :n_f].copy()):
            rows: dict[str, list[str]] = {}
            for i, F in (place[k] for k in sorted(group)):
                rows.setdefault(plain_relation(F), []).append(str(i))
            names.append(" with ".join(f"{_few(some, 4, ', ')} of '{words} = 0'" for words, some in rows.items()))
        unknowns = ", ".join(u.name() for u in declaration.free)
        return (
            f"free unknowns ({unknowns}) cannot be eliminated: dependent rows {_few(names, 2, '; ')}; "
            "constraint relaxation (eps > 0) is the way out"
        )


def _few(words: list[str], most: int, between: str) -> str:
    """The words, of more than `most` only the first: a message is a line."""
    return between.join(words if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1} more"])


SYSTEM_DATA = (
    "M", "f", "v", "J_b", "g", "r_b", "J_n", "phi", "r_n", "J_t", "r_t", "mu", "mu_s", "e", "eps_n", "eps_t", "eps_b",
)  # fmt: skip


def pose(formulation: Formulation, system: ContactSystem) -> Stepper:
    """Compile a formulation for a system's size and fill in the system's data; `Stepper.problem()` is then posed."""
    c = compiled(formulation, *system.size)
    stepper = Stepper(c, system.h, system.normal, system.v_th)
    core = stepper.core
    for name in SYSTEM_DATA:
        getattr(core, name)[:] = getattr(system, name)
    stepping.discretise(core)
    stepper.begin()
    d = system.size[3]
    if d == 2 and (core.frame[:, 1] != 0).any() and np.any(np.diff(np.reshape(system.eps_t, (-1, 2)))):
        raise DataError("eps_t differs between the two tangents of a contact, but the axes turn; give both the same")
    return stepper


def solve_system(formulation: Formulation, system: ContactSystem, solver: Solver) -> tuple[ContactSolution, Solution]:
    """One step of a given system; impulses in the system's own axes, nan where the solver gave no answer.

    Raises DataError when the problem cannot be posed.
    """
    n, _, r, d = system.size
    stepper = pose(formulation, system)
    solution = stepper.solve(solver)[0]
    out = stepper.work.out
    if solution.claimed not in (Status.SOLVED, Status.INACCURATE):
        out[:] = np.nan
    stepping.turn_back(stepper.core, out[n + r : n + r + d * r])
    v, p_n, p_t, p_b = np.split(out.copy(), [n, n + r, n + r + d * r])
    return ContactSolution(v, p_n, p_t, p_b), solution


def whole_steps(duration: float, h: float) -> int:
    """How many steps of h [s] fit into a duration [s]; a thousandth of a step short still counts."""
    return int(min(duration / h + 1e-3, 1e15))


def simulate(
    case: Case,
    formulation: Formulation,
    solver: Solver,
    h: float,
    duration: float | None = None,
    *,
    explicit: bool = False,
    normal: str | None = None,
    relaxation: Relaxation | None = None,
    progress: Any = None,
) -> Run:
    """Step a case from its start; failures and refusals are Runs with a status and a reason, never exceptions.

    h, duration in seconds. `explicit` selects the position update q + h Gamma v, `normal` the normal law
    (`hooks.NORMAL_LAWS`), `relaxation` the compliance of the constraint rows; None is the case's own.
    `progress` is called with the number of finished steps now and then. Raises DataError for h <= 0 or no step at all.
    """
    duration = case.duration if duration is None else duration
    if not (np.isfinite(h) and h > 0):
        raise DataError(f"step {h:g} s; a positive number of seconds is needed")
    if not (np.isfinite(duration) and duration >= h):
        raise DataError(f"duration {duration:g} s; at least one step of {h:g} s is needed")
    steps = whole_steps(duration, h)
    c = compiled(formulation, *case.size)
    normal = case.normal if normal is None else normal
    stepper = Stepper(c, h, normal, case.v_th)
    relaxation = case.relaxation if relaxation is None else relaxation
    q, v = case.start()
    rows, done = Rows(stepper.core, stepper.work, q.size, steps), np.zeros(1, dtype=np.int64)
    start = time.perf_counter()
    compiled_case = all(hasattr(f, "py_func") for f in (case.fill, case.advance))
    loop = _compiled_loop if isinstance(solver, KernelSolver) and compiled_case else _python_loop
    status, reason = loop(case, stepper, relaxation.data(), solver, explicit, steps, q, v, rows, done, progress)
    seconds = time.perf_counter() - start
    k = int(done[0])
    if status is not Status.SOLVED and k < steps:
        reason = f"step {k} (t = {k * h:.4g} s): {reason or status.meaning}"
    return Run(
        case, formulation, solver.name, c.kind, solver.tolerance, h, explicit, normal, relaxation, status, reason,
        steps, c.seconds, seconds, rows.record(k, q, v), c,
    )  # fmt: skip


def first_step(
    case: Case, formulation: Formulation, h: float, normal: str | None = None, relaxation: Relaxation | None = None
) -> Stepper:
    """A run's first step, its data and hooks filled in; `Stepper.problem()` poses it. None is the case's own."""
    c = compiled(formulation, *case.size)
    stepper = Stepper(c, h, case.normal if normal is None else normal, case.v_th)
    numbers = (case.relaxation if relaxation is None else relaxation).data()
    q, v = case.start()
    _begin(case, stepper, numbers, q, v, Rows(stepper.core, stepper.work, q.size, 1).rows[0])
    return stepper


def first_problem(
    case: Case, formulation: Formulation, h: float, normal: str, relaxation: Relaxation | None = None
) -> Problem | None:
    """The problem of a run's first step; None where it cannot be posed."""
    try:
        return first_step(case, formulation, h, normal, relaxation).problem()
    except DataError:
        return None


def _compiled_loop(case, s, relaxation, solver, explicit, steps, q, v, rows, done, progress) -> tuple[Status, str]:
    # The objection is asked once, at the first step's problem: kernels themselves never refuse. `run` begins that step
    # again, so what its hooks have noted must not stay.
    memory = s.memory.copy()
    _begin(case, s, relaxation, q, v, rows.rows[0])
    s.memory[:] = memory
    try:
        reason = solver.why_not(s.problem())
    except DataError as error:
        return _posing_failure(s), str(error)
    if reason:
        return Status.REFUSED, reason
    args = (
        s.c.plan, s.core, s.theta, s.work, case.fill, case.advance, case.data(), relaxation, s.given, s.again,
        s.remember, s.own, s.own_start, s.numbers, s.memory, s.estimate, s.lcp(solver.kernel), solver.kernel,
        explicit,
    )  # fmt: skip
    chunk = steps if progress is None else max(200, steps // 50)
    worst = Status.SOLVED
    while done[0] < steps:
        some = min(steps, int(done[0]) + chunk)
        status = Status(stepping.run(*args, some, q, v, rows.rows, rows.effort, done))
        if progress is not None:
            progress(int(done[0]))
        if status is Status.INACCURATE:
            worst = status
        elif status is not Status.SOLVED:
            posed = s.pose()
            if posed is Status.SOLVED:
                return status, ""
            return _posing_failure(s), s.why_not_posed(posed)
    return worst, ""


def _posing_failure(s: Stepper) -> Status:
    return Status.SINGULAR if np.isfinite(s.work.A).all() else Status.NOT_FINITE


def _python_loop(case, s, relaxation, solver, explicit, steps, q, v, rows, done, progress) -> tuple[Status, str]:
    worst, data, q_next = Status.SOLVED, case.data(), np.empty_like(q)
    for k in range(steps):
        row = rows.rows[k]
        _begin(case, s, relaxation, q, v, row)
        try:
            if k == 0 and (reason := solver.why_not(s.problem())):
                return Status.REFUSED, reason
            solution, *effort = s.solve(solver)
        except DataError as error:
            return _posing_failure(s), str(error)
        if solution.claimed is Status.INACCURATE:
            worst = Status.INACCURATE
        elif solution.claimed is not Status.SOLVED:
            return solution.claimed, solution.reason
        end_step(s.core, s.work, s.remember, s.memory, case.advance, data, explicit, q, v, row, q_next)
        rows.effort[k] = effort
        done[0] = k + 1
        if progress is not None and k % 100 == 99:
            progress(k + 1)
    return worst, ""


def _begin(case: Case, s: Stepper, relaxation: Array, q: Array, v: Array, row: Array) -> None:
    begin_step(
        s.core, s.work, case.fill, case.data(), relaxation, s.given, s.memory, s.own, s.own_start, s.numbers,
        s.estimate, s.lcp(), q, v, row,
    )  # fmt: skip
