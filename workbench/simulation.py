"""Running a formulation: over a case, as a `Run`; or over one `ContactSystem`, as a `ContactSolution`."""

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
from workbench.record import record, width
from workbench.relaxation import RIGID, Relaxation
from workbench.run import Run, make_problem
from workbench.solution import Solution, Status
from workbench.solvers.base import KernelSolver, Solver
from workbench.stepping import Track
from workbench.timing import clock

# The same functions, interpreted: handing a hook from Python to compiled code costs numba 0.1 ms, calling it does not.
begin_step = stepping.begin_step.py_func
pose_problem = stepping.pose.py_func
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
        self.core = c.core(h, normal_law(normal), v_th)
        self.given = hooks.given or given_axes
        self.again = hooks.again or never_again
        self.remember = hooks.remember or remember_impulses
        self.estimate = ESTIMATES[hooks.estimate]
        self._sizes = dict(
            n=c.size[0], n_memory=r + d * r if hooks.memory is None else hooks.memory, n_own=self.own.size,
            n_numbers=len(hooks.numbers),
        )  # fmt: skip
        self.follow()

    @property
    def own(self) -> Array:
        """The formulation's own parameters."""
        return self.core.own

    @property
    def memory(self) -> Array:
        return self.track.memory

    def follow(self, case: Case | None = None, relaxation: Relaxation = RIGID, steps: int = 0) -> None:
        """Start anew, a case from its own start; raises DataError where the record does not fit into memory."""
        none = np.zeros(0)
        q, v, data = (none, np.zeros(self.c.size[0]), none) if case is None else (*case.start(), case.data())
        room = width(self.core, self.work, q.size, steps)
        self.track = t = Track(n_q=q.size, n_data=data.size, steps=steps + 1, width=room, **self._sizes)
        t.q, t.v, t.data, t.relaxation = q, v, data, relaxation.data()
        t.memory, t.own_start, t.numbers = np.nan, self.c.theta[self.c.own], self.c.hooks.numbers

    def begin(self) -> None:
        """The formulation's own data, the core's being in place."""
        self.own[:] = self.track.own_start
        if self.estimate != stepping.NO_ESTIMATE:
            normal_estimate(self.core, self.memory, self.estimate == stepping.START, self.lcp())
        self.given(self.core, self.memory, self.own, self.track.numbers)

    def lcp(self, other: Any = None) -> Any:
        """The kernel that `normal_estimate` uses; where nothing is estimated `other`, so that none is compiled."""
        if self.estimate == stepping.NO_ESTIMATE:
            return other
        from workbench.solvers.lemke import lemke_kernel

        return lemke_kernel

    def pose(self) -> Status:
        """Stamp and eliminate: whether a problem now stands in the work arrays."""
        return Status(pose_problem(self.core, self.work))

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
        return finish_pass(self.core, self.work, self.track, self.again)

    def solve(self, solver: Solver) -> tuple[Solution, int, int]:
        """All passes of one step with a solver: the last Solution, iterations over all passes, passes."""
        iterations = 0
        for passes in range(1, stepping.PASSES + 1):
            problem = self.problem()
            # A kernel may start from the last step's answer, in this loop as in the compiled one.
            guess = (self.work.z,) if isinstance(solver, KernelSolver) else ()
            solution = solver.solve(problem, *guess)
            iterations += solution.iterations
            if solution.claimed not in (Status.SOLVED, Status.INACCURATE) or not self.finish_pass(solution.z):
                return solution, iterations, passes
        status = Status.NO_FIXED_POINT
        return replace(solution, claimed=status, reason=status.meaning), iterations, stepping.PASSES

    def why_not_posed(self, status: Status) -> str:
        """One line on why the problem could not be posed; for a singular elimination, which rows are dependent."""
        declaration, A, start = self.c.declaration, self.work.A, 0
        for p in declaration.hooks.own:
            if not np.isfinite(self.own[start : start + p.size]).all():
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


def filled(formulation: Formulation, system: ContactSystem) -> Stepper:
    """Compile a formulation for a system's size and fill in the system's data; nothing is derived from them yet."""
    stepper = Stepper(compiled(formulation, *system.size), system.h, system.normal, system.v_th)
    for name in SYSTEM_DATA:
        getattr(stepper.core, name)[:] = getattr(system, name)
    return stepper


def pose(formulation: Formulation, system: ContactSystem) -> Stepper:
    """Begin a step of a system under a formulation; `Stepper.problem()` then poses its problem."""
    stepper = filled(formulation, system)
    core = stepper.core
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
    normal = case.normal if normal is None else normal
    relaxation = case.relaxation if relaxation is None else relaxation
    if case.parts:
        from workbench.parts import simulate_parts

        return simulate_parts(case, formulation, solver, h, steps, explicit, normal, relaxation, progress)
    c = compiled(formulation, *case.size)
    stepper = Stepper(c, h, normal, case.v_th)
    stepper.follow(case, relaxation, steps)
    start = clock()
    loop = _compiled_loop if is_compiled(case, solver) else _python_loop
    status, reason, k = loop(case, stepper, solver, explicit, steps, progress)
    seconds = clock() - start
    if status is not Status.SOLVED and k < steps:
        reason = f"step {k} (t = {k * h:.4g} s): {reason or status.meaning}"
    return Run(
        case, formulation, solver.name, c.kind, solver.tolerance, h, explicit, normal, relaxation, status, reason,
        steps, c.seconds, seconds, record(stepper.core, stepper.work, stepper.track, k), c,
    )  # fmt: skip


def is_compiled(case: Case, solver: Solver) -> bool:
    """Whether the loop over the steps can be."""
    return isinstance(solver, KernelSolver) and all(hasattr(f, "py_func") for f in (case.fill, case.advance))


def first_step(
    case: Case, formulation: Formulation, h: float, normal: str | None = None, relaxation: Relaxation | None = None
) -> Stepper:
    """A run's first step, its data and hooks filled in; `Stepper.problem()` poses it. None is the case's own."""
    c = compiled(formulation, *case.size)
    stepper = Stepper(c, h, case.normal if normal is None else normal, case.v_th)
    stepper.follow(case, case.relaxation if relaxation is None else relaxation, 1)
    _begin(case, stepper, 0)
    return stepper


def first_problem(
    case: Case, formulation: Formulation, h: float, normal: str, relaxation: Relaxation | None = None
) -> Problem | None:
    """The problem of a run's first step; None where it cannot be posed."""
    try:
        return first_step(case, formulation, h, normal, relaxation).problem()
    except DataError:
        return None


def _compiled_loop(case, s, solver, explicit, steps, progress) -> tuple[Status, str, int]:
    # The objection is asked once, at the first step's problem: kernels themselves never refuse. `run` begins that step
    # again, so what its hooks have noted must not stay.
    memory = s.memory.copy()
    _begin(case, s, 0)
    s.memory[:] = memory
    try:
        reason = solver.why_not(s.problem())
    except DataError as error:
        return _posing_failure(s), str(error), 0
    if reason:
        return Status.REFUSED, reason, 0
    args = (
        s.core, s.work, s.track, case.fill, case.advance, s.given, s.again, s.remember, s.estimate,
        s.lcp(solver.kernel), solver.kernel, s.c.plan.d, explicit,
    )  # fmt: skip
    chunk = steps if progress is None else max(200, steps // 50)
    worst, done = Status.SOLVED, np.zeros(1, dtype=np.int64)
    while done[0] < steps:
        k = int(done[0])
        status = Status(stepping.run(k, min(steps, k + chunk), *args, done))
        if progress is not None:
            progress(int(done[0]))
        if status is Status.INACCURATE:
            worst = status
        elif status is not Status.SOLVED:
            posed = s.pose()
            if posed is Status.SOLVED:
                return status, "", int(done[0])
            return _posing_failure(s), s.why_not_posed(posed), int(done[0])
    return worst, "", steps


def _posing_failure(s: Stepper) -> Status:
    return Status.SINGULAR if np.isfinite(s.work.A).all() else Status.NOT_FINITE


def _python_loop(case, s, solver, explicit, steps, progress) -> tuple[Status, str, int]:
    worst = Status.SOLVED
    for k in range(steps):
        _begin(case, s, k)
        try:
            if k == 0 and (reason := solver.why_not(s.problem())):
                return Status.REFUSED, reason, k
            solution, *effort = s.solve(solver)
        except DataError as error:
            return _posing_failure(s), str(error), k
        if solution.claimed is Status.INACCURATE:
            worst = Status.INACCURATE
        elif solution.claimed is not Status.SOLVED:
            return solution.claimed, solution.reason, k
        end_step(k, s.core, s.work, s.track, s.remember, case.advance, explicit)
        s.track.effort[k] = effort
        if progress is not None and k % 100 == 99:
            progress(k + 1)
    return worst, "", steps


def _begin(case: Case, s: Stepper, k: int) -> None:
    begin_step(k, s.core, s.work, s.track, case.fill, s.given, s.estimate, s.lcp())
