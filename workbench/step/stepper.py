"""Stepper of one compiled declaration: the functions of `stepping`, called from Python."""

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from workbench.algorithms.asking import solved_by
from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import Chain
from workbench.engine.compiling import argument_type
from workbench.engine.interpreted import python_of
from workbench.language.assemble.plan import WORK, Compiled, Work
from workbench.language.estimate import normal_estimate
from workbench.language.hooks import given_axes, never_again, remember_impulses
from workbench.mechanics.case import Case
from workbench.mechanics.core import CORE, NORMAL_LAWS
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.problems.classes import Array, MatrixProblem
from workbench.problems.solution import Solution, Status
from workbench.step import stepping
from workbench.step.record import width
from workbench.step.run import make_problem
from workbench.step.scheme import MIDPOINT, SYMPLECTIC, Scheme, at_start
from workbench.step.stepping import FUNCTIONS, SETTINGS, TRACK, Functions, RunBuffer, StepSettings
from workbench.support.errors import DataError, UnknownNameError

# The same functions, interpreted: passing a hook from Python to compiled code costs numba 0.1 ms, calling it does not.
begin_step = python_of(stepping.begin_step)
pose_problem = python_of(stepping.pose)
finish_pass = python_of(stepping.finish_pass)
end_step = python_of(stepping.end_step)
evaluate = python_of(stepping.evaluate)


def normal_law(name: str) -> float:
    """Return the number of a normal law; raises UnknownNameError."""
    if name not in NORMAL_LAWS:
        raise UnknownNameError("normal law", name, list(NORMAL_LAWS))
    return NORMAL_LAWS[name]


class Stepping(NamedTuple):
    """What compiled loops make steps with: a stepper's arrays, the functions that it calls, and its settings."""

    core: Any
    work: Any
    track: Any
    functions: Any
    settings: Any


STEPPING = argument_type(Stepping, CORE, WORK, TRACK, FUNCTIONS, SETTINGS)
ESTIMATES = {"none": stepping.NO_ESTIMATE, "last": stepping.LAST, "start": stepping.START}


class Stepper:
    """Arrays and hooks of one compiled declaration, to form and finish steps."""

    def __init__(
        self, c: Compiled, h: float, normal: str, v_th: float, passes: int = stepping.PASSES,
        scheme: Scheme = SYMPLECTIC,
    ) -> None:  # fmt: skip
        if not (isinstance(passes, int | np.integer) and passes >= 1):
            raise DataError(f"passes = {passes}; a whole number >= 1 is needed")
        _, _, r, d = c.size
        hooks = c.hooks
        self.c, self.passes, self.scheme = c, passes, scheme
        self.work: Work = c.workspace()
        # No step has been taken: there are no last impulses.
        self.work.out[:] = np.nan
        self.core = c.core(h, normal_law(normal), v_th)
        self.given = hooks.given or given_axes
        self.again = hooks.again or never_again
        self.remember = hooks.remember or remember_impulses
        self.estimate = ESTIMATES[hooks.estimate]
        self._sizes: Any = dict(
            n=c.size[0], n_memory=r + d * r if hooks.memory is None else hooks.memory, n_own=self.own.size,
            n_numbers=len(hooks.numbers), n_out=self.work.out.size, r=r,
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
        """Reset, and follow a case from its start; raises DataError if the record does not fit into memory."""
        # Bridges to the problem that was solved last, if any.
        self.path: tuple[str, ...] = ()
        none = np.zeros(0)
        q, v, data = (none, np.zeros(self.c.size[0]), none) if case is None else (*case.start(), case.data())
        across = width(self.core, self.work, q.size, steps)
        self.track = t = RunBuffer(n_q=q.size, n_data=data.size, steps=steps + 1, width=across, **self._sizes)
        t.passes, t.q, t.v, t.data, t.relaxation = self.passes, q, v, data, relaxation.data()
        t.theta, t.v_before, t.since = self.scheme.theta, v, 0
        if case is not None and self.scheme.kind == MIDPOINT:
            t.since = at_start(case, self.core)
        t.memory, t.own_start, t.numbers = np.nan, self.c.theta[self.c.own], self.c.hooks.numbers

    def begin_case(self, case: Case, k: int) -> None:
        """Begin step k of the case: its data, recorded, and the formulation's own."""
        begin_step(k, self.core, self.work, self.track, self.functions(case), self.settings())

    def begin(self) -> None:
        """Evaluate the formulation's own data, those of the core being in place."""
        self.own[:] = self.track.own_start
        if self.estimate != stepping.NO_ESTIMATE:
            normal_estimate(self.core, self.memory, self.estimate == stepping.START, self.lcp())
        self.given(self.core, self.memory, self.own, self.track.numbers)

    def lcp(self, other: Any = None) -> Any:
        """Return the kernel used by `normal_estimate`, or `other` if nothing is estimated, so that none is compiled."""
        if self.estimate == stepping.NO_ESTIMATE:
            return other
        from workbench.algorithms.lemke.method import lemke_kernel

        return lemke_kernel

    def functions(self, case: Case, solve: Any = None) -> Functions:
        """Return the functions called in a run of the case, with the kernel of a compiled solver."""
        return Functions(case.fill, case.advance, self.given, self.again, self.remember, self.lcp(solve), solve)

    def settings(self, solver: Solver | None = None) -> StepSettings:
        """Return the settings of a run with a solver; with a chain, a step without verified solution ends the loop."""
        kind, x = stepping.RESIDUAL[self.c.kind], self.scheme
        strict, tolerance = isinstance(solver, Chain), 0.0 if solver is None else float(solver.tolerance)
        return StepSettings(self.estimate, self.c.plan.d, x.kind, x.theta, kind, tolerance, strict)

    def pose(self) -> Status:
        """Stamp and eliminate; returns whether there is a problem in the work arrays."""
        return Status(pose_problem(self.core, self.work))

    def problem(self) -> MatrixProblem:
        """Return the problem in the work arrays; raises DataError if it cannot be formed."""
        status = self.pose()
        if status is not Status.SOLVED:
            raise DataError(self.why_not_posed(status))
        return self.posed_problem()

    def posed_problem(self) -> MatrixProblem:
        """Return the problem in the work arrays, which has been posed."""
        w = self.work
        return make_problem(self.c, w.M.copy(), w.q.copy(), w.lower.copy(), w.upper.copy(), w.mu.copy())

    def finish_pass(self, z: Array) -> bool:
        """Take z as the solution of this pass; returns whether the formulation asks for another."""
        self.work.z[:] = z
        return finish_pass(self.core, self.work, self.track, self.again)

    def solve(self, solver: Solver, done: tuple[int, int] = (0, 0)) -> tuple[Solution, int, int]:
        """Make all passes of one step: returns the last Solution with the time of all, their iterations and number.

        `done`: iterations and passes of the step that have been made already.
        """
        (iterations, first), seconds = done, 0.0
        for passes in range(first + 1, self.passes + 1):
            solution, wanted = self._pass(solver)
            iterations, seconds = iterations + solution.iterations, seconds + solution.solve_time
            if not wanted:
                return replace(solution, solve_time=seconds), iterations, passes
        reason = self.why_unsettled(solver)
        unsettled = replace(solution, claimed=Status.NO_FIXED_POINT, reason=reason, solve_time=seconds)
        return unsettled, iterations, self.passes

    def _pass(self, solver: Solver) -> tuple[Solution, bool]:
        """Make one pass; returns the result, and whether it is a solution and the formulation asks for another pass."""
        # A kernel may start from the last step's solution, in this loop as in the compiled one.
        guess = (self.work.z,) if hasattr(solver, "kernel") else ()
        solution = solved_by(solver, self.problem(), *guess, like=self.path)
        self.path = solution.path
        answered = solution.claimed in (Status.SOLVED, Status.INACCURATE)
        return solution, answered and self.finish_pass(solution.z)

    def why_unsettled(self, solver: Solver) -> str:
        """Return one line on a fixed point that has not settled, with the change of a further pass."""
        impulses = self.work.out[self.c.size[0] :]
        before = impulses.copy()
        self._pass(solver)
        size = max(np.abs(impulses).max(initial=0.0), np.abs(before).max(initial=0.0))
        change = np.abs(impulses - before).max(initial=0.0) / (size or 1.0)
        return (
            f"the state-dependent data did not settle within {self.passes} passes (another one changes the impulses by "
            f"{change:.2g} of the largest)"
        )

    def why_not_posed(self, status: Status) -> str:
        """Return one line on why the problem cannot be formed; for a singular elimination, which rows are dependent."""
        declaration, A, start = self.c.declaration, self.work.A, 0
        for p in declaration.hooks.own:
            if not np.isfinite(self.own[start : start + p.size]).all():
                return f"parameter '{p.name()}' is left without a value (it is not finite)"
            start += p.size
        if status is not Status.SINGULAR or not np.isfinite(A).all():
            return Status.NOT_FINITE.meaning
        from workbench.problems.rank import dependent_rows

        n_f = self.c.plan.n_free
        place = [(i, words) for words, size in self._relations for i in range(size)]
        names = []
        for group in dependent_rows(A[:n_f, :n_f].copy()):
            rows: dict[str, list[str]] = {}
            for i, words in (place[k] for k in sorted(group)):
                rows.setdefault(words, []).append(str(i))
            names.append(" with ".join(f"{_few(some, 4, ', ')} of '{words} = 0'" for words, some in rows.items()))
        unknowns = ", ".join(u.name() for u in declaration.free)
        return (
            f"free unknowns ({unknowns}) cannot be eliminated: dependent rows {_few(names, 2, '; ')}; "
            "constraint relaxation (eps > 0) avoids this"
        )

    @cached_property
    def _relations(self) -> list[tuple[str, int]]:
        """The left-hand side of every equation, and its number of rows; cached, since many steps may fail."""
        from workbench.language.notation import plain_relation

        return [(plain_relation(F), F.size) for F in self.c.declaration.equations]


def _few(words: list[str], most: int, between: str) -> str:
    """Join the words, or the first `most` of them and the number of others, so that a message fits a line."""
    return between.join(words if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1} more"])
