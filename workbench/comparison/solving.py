"""Solving problems from files: friction problems under any formulation (`posing`), LCPs and MLCPs as they are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.algorithms import default_solver, find_solver
from workbench.algorithms.base import EXACT, Solver, solved_by
from workbench.assemble.find import compiled
from workbench.comparison.escalation import solve_or_refute
from workbench.comparison.failure import NOBODY, failed
from workbench.comparison.limits import limited
from workbench.comparison.posing import contact_system, local, over_bodies, over_W, stated
from workbench.comparison.profiles import performance_profile, shifted_geometric_mean, success_rates
from workbench.diagnostics.redundancy import MODE, contact_modes, freedom
from workbench.engine.timing import clock
from workbench.errors import DataError
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.problems.classes import MLCP, Array, CoulombNCP, Problem
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.global_problem import GlobalConeProblem
from workbench.problems.solution import Solution, Status
from workbench.readers.files import read_problem_file
from workbench.readers.npz import FileProblem
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate

if TYPE_CHECKING:
    import pandas as pd

MOST_UNKNOWNS = 1000
"""Unknowns up to which a row tells the dimension of the set of exact impulses; a rank of that size takes 0.5 s."""
SHIFT = 1e-3
"""Shift of the geometric mean of solve times [s]."""
COLUMNS = (
    "file", "kind", "formulation", "method", "solver", "claimed", "verified", "residual", "tolerance", "natural_map",
    "natural_map_unscaled", "undetermined", "moved", "size", "contacts", "iterations", "build_time", "solve_time",
    "reason", "stages",
)  # fmt: skip

T = TypeVar("T")
Task = tuple[Path, Formulation, str | None, bool]
"""Arguments of `solve_row`."""


@dataclass(frozen=True)
class Answer:
    """What a solver made of a problem: its Solution, seconds of posing it, and contact impulses and velocities, if any.

    `moved` is the share of |q| by which the nearest W of bodies moves the exact velocity; None: W is the given one.
    """

    solution: Solution
    size: int
    build_time: float
    impulses: Array | None = None
    velocities: Array | None = None
    moved: float | None = None


def solve_problem(problem: FileProblem, formulation: Formulation, solver: str | Solver | None = None) -> Answer:
    """Solve a problem: an LCP or MLCP as it is, a friction problem under `formulation`.

    A global one is stated over (M, H) where that is smaller (`global_problem.way`; `Solution.stages` tells), over W
    elsewhere. The default solver is the one that takes the problem's class to round-off; LCPs and MLCPs that it fails
    on are taken further, to a solution or the proof that there is none (`solve_or_refute`). Raises DataError where the
    problem cannot be posed, UnknownNameError for an unknown solver.
    """
    start = clock()
    if isinstance(problem, MLCP):
        return _direct(problem, solver, start)
    if not problem.contacts:
        free = Solution(np.zeros(0), Status.SOLVED, 0.0, EXACT, 0, 0.0, NOBODY, "no contacts: the motion is free")
        return Answer(free, 0, 0.0, free.z, free.z)
    direct = over_W(problem, formulation)
    if direct:
        law, taken, moved = direct
        problem_class, chosen = stated(taken, law, solver)
        answer = _direct(problem_class, solver, start)
        s = answer.solution
        if s.z.shape != (problem.size,):
            raise DataError(f"the solver's answer has shape {s.z.shape}; {(problem.size,)} is needed")
        facts = (str(chosen), *s.stages) if chosen else s.stages
        u = taken.velocity(s.z)
        return replace(answer, solution=replace(s, stages=facts), impulses=s.z, velocities=u, moved=moved)
    taken, moved = over_bodies(problem, formulation)
    system = contact_system(taken)
    c = compiled(formulation, *system.size)
    method = find_solver(solver) if solver else default_solver(c.kind)
    build_time = clock() - start
    contact, solution = solve_system(formulation, system, method)
    p = np.concatenate([contact.p_n, contact.p_t])
    return Answer(solution, c.plan.lower.size, build_time, p, taken.velocity(p), moved)


def _direct(problem: Problem | GlobalConeProblem, solver: str | Solver | None, start: float) -> Answer:
    method = find_solver(solver) if solver else default_solver(problem.kind)
    build_time = clock() - start
    if solver is None and isinstance(problem, MLCP):
        return Answer(solve_or_refute(problem), problem.size, build_time)
    # Those over (M, H) only come with solvers that take them.
    return Answer(solved_by(method, problem), problem.size, build_time)  # type: ignore[arg-type]


def solve_row(path: Path, formulation: Formulation, solver: str | None = None, strict: bool = True) -> dict[str, Any]:
    """One file as a row of results (`COLUMNS`); without `strict` a file that cannot be read is a row, not an error."""
    found = _empty_row(path, solver)
    try:
        problem = read_problem_file(path)
    except DataError as error:
        if strict:
            raise
        return found | {"claimed": "UNREADABLE", "reason": str(error)}
    contacts = None if isinstance(problem, MLCP) else problem.contacts
    found |= {
        "kind": problem.kind, "formulation": problem.kind if contacts is None else formulation.label, "solver": solver,
        "claimed": Status.REFUSED.name, "size": problem.size, "contacts": contacts,
    }  # fmt: skip
    try:
        answer = solve_problem(problem, formulation, solver)
    except Exception as error:
        return found | vars(failed(error))
    s = answer.solution
    found |= {
        "solver": s.solver, "claimed": s.claimed.name, "verified": s.verified, "residual": _finite(s.residual),
        "tolerance": s.tolerance, "size": answer.size, "iterations": s.iterations,
        "build_time": answer.build_time, "solve_time": s.solve_time, "reason": s.why_not,
        "stages": "; ".join(s.stages) or None, "moved": answer.moved,
    }  # fmt: skip
    if contacts and answer.impulses is not None and np.isfinite(answer.impulses).all():
        law, _ = stated(problem, "coulomb")  # type: ignore[arg-type]
        if s.verified and formulation.name == "coulomb" and problem.size <= MOST_UNKNOWNS:
            found["undetermined"] = undetermined(local(problem).coulomb(), answer.impulses)  # type: ignore[arg-type]
        found["natural_map"] = _finite(float(law.residual(answer.impulses)))
        found["natural_map_unscaled"] = _finite(float(law.unscaled_residual(answer.impulses)))
    return found


def undetermined(law: CoulombNCP, p: Array) -> int:
    """Dimension of the set of impulses with the velocity and modes of p (r + d r,), an exact solution."""
    r, u = law.mu.size, law.M @ p + law.q
    u_t = u[r:].reshape(r, law.d)
    modes = contact_modes(u[:r], u_t, MODE * float(np.abs(law.q).max(initial=np.abs(u).max())))
    return freedom(law.M, law.mu, modes, u_t)


def _empty_row(path: Path, solver: str | None) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"file": str(path), "method": solver or "default", "verified": False}


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def solve_rows(tasks: Iterable[Task], seconds: float | None = None) -> Iterator[dict[str, Any]]:
    """Rows of tasks, which are the arguments of `solve_row`, as they come.

    With `seconds` they are made in another process; a task that takes longer, or takes that process down, is a row that
    says so (`limits`).
    """
    yield from limited(solve_row, list(tasks), seconds, _lost)


def _lost(task: Task, claimed: str, reason: str) -> dict[str, Any]:
    path, formulation, solver, _ = task
    facts = {"formulation": formulation.label, "solver": solver, "claimed": claimed, "reason": reason}
    return _empty_row(path, solver) | facts


def exported_step(case: Case, formulation: Formulation, h: float, step: int) -> FrictionProblem:
    """The local problem of one step of a case under exact Coulomb friction, bilateral constraints eliminated.

    h [s]; step counts from 0. Raises DataError where the run does not get that far.
    """
    if step < 0:
        raise DataError(f"step number {step}; steps are counted from 0")
    run = simulate(case, formulation, default_solver("Coulomb NCP"), h, (step + 1) * h)
    if run.steps <= step:
        raise DataError(f"{case.name} makes {run.steps} steps of {h:g} s, step {step} is not among them: {run.reason}")
    record = run.record
    return FrictionProblem(record.M[step], record.q_[step], record.mu[step], case.size[3])


def summary(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Per method (solver asked for): problems it was given, success rate (verified), shifted geometric mean of times.

    Solved is also what was proved to have no solution, which `without_solution` counts.
    The mean is over the problems that every method with a success has solved; `mean_over` counts them.
    """
    # Lazy, since one problem needs no table.
    import pandas as pd

    table = cost_table(rows)
    costs = table.to_numpy()
    solved = np.isfinite(costs)
    able = solved.any(axis=0)
    common = solved[:, able].all(axis=1) & able.any()
    refuted = rows["method"][rows["claimed"] == Status.NO_SOLUTION.name].value_counts()
    means = [shifted_geometric_mean(costs[common, s], SHIFT) if able[s] else np.nan for s in range(able.size)]
    return pd.DataFrame(
        {
            "method": table.columns, "problems": len(costs), "solved": solved.sum(axis=0),
            "without_solution": [int(refuted.get(method, 0)) for method in table.columns],
            "success_rate": success_rates(costs), "time_mean": means, "mean_over": int(common.sum()),
        }
    )  # fmt: skip


def cost_table(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Solve times [s], one row a file, one column a method; inf where the answer is not verified."""
    cost = rows["solve_time"].astype(float).where(rows["verified"].astype(bool), np.inf).fillna(np.inf)
    table = rows.assign(cost=cost).pivot_table(index="file", columns="method", values="cost", aggfunc="min", sort=False)
    return table.fillna(np.inf)


def profile(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Performance profile of solve times: factor, method, share of the problems solved within it of the best."""
    import pandas as pd

    costs = cost_table(rows)
    factors, shares = performance_profile(costs.to_numpy())
    wide = pd.DataFrame(shares, columns=costs.columns).assign(factor=factors)
    return wide.melt("factor", var_name="method", value_name="share")
