"""Solving problems from files: friction problems under any formulation (`posing`), LCPs and MLCPs as they are."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT, Solver
from workbench.algorithms.best import watch
from workbench.algorithms.escalation import RATIONALS, default_solver
from workbench.algorithms.tuning import UNTUNED, Tuning
from workbench.comparison.failure import NOBODY, failed
from workbench.comparison.limits import TIME_LIMIT, limited
from workbench.comparison.posing import contact_system, local, over_bodies, over_W, stated
from workbench.comparison.profiles import performance_profile, shifted_geometric_mean, success_rates
from workbench.comparison.unmoved import refutation
from workbench.diagnostics.redundancy import MODE, contact_modes, freedom
from workbench.engine.interpreted import interpreting
from workbench.engine.timing import clock
from workbench.engine.travel import Parcel
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.problems.classes import MLCP, Array, ConeProblem, CoulombNCP, MatrixProblem
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.global_problem import GlobalConeProblem
from workbench.problems.solution import Solution, Status
from workbench.readers.files import read_problem_file
from workbench.readers.npz import FileProblem
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.support.errors import DataError, WorkbenchError

if TYPE_CHECKING:
    import pandas as pd

MOST_UNKNOWNS = 1000
"""Most unknowns for which a row gives the dimension of the set of exact impulses; a rank of that size takes 0.5 s."""
NO_ITERATE = "the method keeps no intermediate iterate"
SHIFT = 1e-3
"""Shift of the geometric mean of solve times [s]."""
COLUMNS = (
    "file", "kind", "formulation", "method", "solver", "claimed", "verified", "residual", "tolerance", "natural_map",
    "natural_map_unscaled", "undetermined", "moved", "size", "contacts", "iterations", "build_time", "solve_time",
    "reason", "stages", "path",
)  # fmt: skip

Task = tuple[Path, Formulation, str | None, bool, Tuning]
"""Arguments of `solve_row`."""
Row = tuple[dict[str, Any], dict[str, Array]]
"""A row of results, and the arrays of its answer: p and u of a friction problem, z of others; none without one."""


@dataclass(frozen=True)
class SolverAnswer:
    """Result of a solver: its Solution, the seconds of posing the problem, and contact impulses and velocities, if any.

    `moved` is the share of |q| by which the nearest W of bodies moves the exact velocity; None: W is the given one.
    """

    solution: Solution
    size: int
    build_time: float
    impulses: Array | None = None
    velocities: Array | None = None
    moved: float | None = None


def solve_problem(
    problem: FileProblem | ConeProblem, formulation: Formulation | None, solver: str | Solver | None = None,
    tuning: Tuning = UNTUNED,
) -> SolverAnswer:  # fmt: skip
    """Solve a problem: an LCP, MLCP or cone problem as it is, a friction problem under `formulation`.

    A global one is stated over (M, H) where that is smaller (`global_problem.way`; `Solution.stages` tells), over W
    elsewhere. The default solver is `auto`: the method for the problem's kind, then other methods where it fails, and
    in the end the search for a proof that there is no solution (`escalation`). Raises DataError where the problem
    cannot be posed, UnknownNameError for an unknown solver, WorkbenchError for one that cannot be tuned so.
    """
    start = clock()
    if isinstance(problem, MLCP | ConeProblem):
        return _direct(problem, solver, start, tuning)
    assert formulation is not None
    if not problem.contacts:
        free = Solution(np.zeros(0), Status.SOLVED, 0.0, EXACT, 0, 0.0, NOBODY, "no contacts: the motion is free")
        return SolverAnswer(free, 0, 0.0, free.z, free.z)
    direct = over_W(problem, formulation)
    if direct:
        law, taken, moved = direct
        proof = refutation(taken, law) if isinstance(taken, FrictionProblem) else ""
        if proof:
            nothing = np.full(problem.size, np.nan)
            none = Solution(nothing, Status.NO_SOLUTION, np.inf, EXACT, 0, 0.0, RATIONALS, proof, proof=proof)
            return SolverAnswer(none, problem.size, clock() - start, moved=moved)
        problem_class, chosen = stated(taken, law, solver)
        answer = _direct(problem_class, solver, start, tuning)
        s = answer.solution
        if s.z.shape != (problem.size,):
            raise DataError(f"the solver's answer has shape {s.z.shape}; {(problem.size,)} is needed")
        facts = (str(chosen), *s.stages) if chosen else s.stages
        u = taken.velocity(s.z)
        return replace(answer, solution=replace(s, stages=facts), impulses=s.z, velocities=u, moved=moved)
    taken, moved = over_bodies(problem, formulation)
    system = contact_system(taken)
    c = compiled(formulation, *system.size)
    method = tuning.of(_method(solver, c.kind, tuning))
    if tuning.start is not None:
        raise WorkbenchError(
            f"{formulation.label} is posed with bodies and takes no initial guess; coulomb and ccp take one"
        )
    build_time = clock() - start
    contact, solution = solve_system(formulation, system, method)
    solution = tuning.graded(solution)
    p = np.concatenate([contact.p_n, contact.p_t])
    return SolverAnswer(solution, c.plan.lower.size, build_time, p, taken.velocity(p), moved)


def solve_within(
    problem: FileProblem | ConeProblem, formulation: Formulation | None, solver: Solver | None, tuning: Tuning,
    seconds: float | None,
) -> SolverAnswer:  # fmt: skip
    """Call `solve_problem` in another process with a time limit; after it, return the solver's best iterate, if any.

    Raises what `solve_problem` does, WorkbenchError where it raises anything in the other process or takes that down.
    """
    if seconds is None:
        return solve_problem(problem, formulation, solver, tuning)

    def lost(task: Any, claimed: str, reason: str, iterate: Array | None) -> SolverAnswer:
        if claimed != TIME_LIMIT:
            raise WorkbenchError(reason)
        name, nothing = solver.name if solver else "default", np.full(problem.size, np.nan)
        late = Solution(nothing, Status.ITERATION_LIMIT, np.inf, EXACT, 0, seconds, name, f"{reason}, and {NO_ITERATE}")
        if iterate is None:
            return SolverAnswer(late, problem.size, 0.0)
        residual, values = judged_iterate(problem, formulation, iterate)
        late = replace(late, z=iterate, residual=residual, reason=f"{reason}; this is the best iterate")
        return SolverAnswer(late, iterate.size, 0.0, values.get("p"), values.get("u"))

    task = (problem, formulation, Parcel(solver), tuning)
    return next(limited(solve_problem, [task], seconds, lost))


def _direct(
    problem: MatrixProblem | GlobalConeProblem, solver: str | Solver | None, start: float, tuning: Tuning
) -> SolverAnswer:
    method = _method(solver, problem.kind, tuning)
    build_time = clock() - start
    with watch(problem.size):
        # Those over (M, H) only come with solvers that take them.
        found = tuning.solved(method, problem)  # type: ignore[arg-type]
    return SolverAnswer(found, problem.size, build_time)


def _method(solver: str | Solver | None, kind: str, tuning: Tuning) -> Solver:
    """Return the requested solver, else the chain for this kind of problem, or its first method if given a start or
    iterations.

    What takes over would neither begin from the start nor end after so many iterations.
    """
    if solver is not None:
        return find_solver(solver)
    chain = default_solver(kind)
    return chain if tuning.start is tuning.max_iterations is None else chain.first


def solve_row(
    path: Path, formulation: Formulation, solver: str | None = None, strict: bool = True, tuning: Tuning = UNTUNED,
    alone: bool = False,
) -> Row:  # fmt: skip
    """Solve one file; return a row of results (`COLUMNS`) and the arrays of its answer.

    Without `strict` a file that cannot be read is a row, not an error. `alone`: the row's times are compared with
    nothing, and include what interpreting takes where a problem is small.
    """
    found = _empty_row(path, solver)
    try:
        problem = read_problem_file(path)
    except DataError as error:
        if strict:
            raise
        return found | {"claimed": "UNREADABLE", "reason": str(error)}, {}
    found |= _about(problem, formulation, solver)
    with interpreting(problem.size) if alone else nullcontext():
        return _solved(found, problem, formulation, solver, tuning)


def _solved(
    found: dict[str, Any], problem: FileProblem, formulation: Formulation, solver: str | None, tuning: Tuning
) -> Row:
    """The row of a problem that has been read, filled in."""
    try:
        answer = solve_problem(problem, formulation, solver, tuning)
    except Exception as error:
        return found | vars(failed(error)), {}
    s = answer.solution
    found |= {
        "solver": s.solver, "claimed": s.claimed.name, "verified": s.verified, "residual": _finite(s.residual),
        "tolerance": s.tolerance, "size": answer.size, "iterations": s.iterations,
        "build_time": answer.build_time, "solve_time": s.solve_time, "reason": s.why_not,
        "stages": "; ".join(s.stages) or None, "path": "; ".join(s.path) or None, "moved": answer.moved,
    }  # fmt: skip
    p = answer.impulses
    if p is None or answer.velocities is None or not np.isfinite(p).all():
        return found, {"z": s.z} if isinstance(problem, MLCP) and np.isfinite(s.z).all() else {}
    if s.verified and formulation.name == "coulomb" and 0 < problem.size <= MOST_UNKNOWNS:
        found["undetermined"] = undetermined(local(problem).coulomb(), p)  # type: ignore[arg-type]
    return found | _natural_maps(problem, p), {"p": p, "u": answer.velocities}


def _about(problem: FileProblem, formulation: Formulation, solver: str | None) -> dict[str, Any]:
    contacts = None if isinstance(problem, MLCP) else problem.contacts
    return {
        "kind": problem.kind, "formulation": problem.kind if contacts is None else formulation.label, "solver": solver,
        "claimed": Status.REFUSED.name, "size": problem.size, "contacts": contacts,
    }  # fmt: skip


def _natural_maps(problem: FileProblem, p: Array) -> dict[str, float | None]:
    """Return the distance of impulses from exact Coulomb friction."""
    if isinstance(problem, MLCP) or not problem.contacts:
        return {}
    law, _ = stated(problem, "coulomb")
    return {
        "natural_map": _finite(float(law.residual(p))),
        "natural_map_unscaled": _finite(float(law.unscaled_residual(p))),
    }


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


def solve_rows(tasks: Iterable[Task], seconds: float | None = None) -> Iterator[Row]:
    """Yield the rows of tasks (arguments of `solve_row`) in order of completion.

    With `seconds` they are made in another process; a task that takes longer, or takes that process down, is a row that
    says so (`limits`), with the best iterate of a solver that has one.
    """
    yield from limited(solve_row, list(tasks), seconds, _lost)


def _lost(task: Task, claimed: str, reason: str, iterate: Array | None) -> Row:
    path, formulation, solver, *_ = task
    facts = {"formulation": formulation.label, "solver": solver, "claimed": claimed, "reason": reason}
    row = _empty_row(path, solver) | facts
    if claimed != TIME_LIMIT:
        return row, {}
    if iterate is None:
        return row | {"reason": f"{reason}, and {NO_ITERATE}"}, {}
    problem = read_problem_file(path)
    residual, values = judged_iterate(problem, formulation, iterate)
    row |= _about(problem, formulation, solver) | {"claimed": claimed, "residual": _finite(residual)}
    row |= _natural_maps(problem, iterate) | {"reason": f"{reason}; the best iterate has residual {residual:.1e}"}
    return row, values


def judged_iterate(
    problem: FileProblem | ConeProblem, formulation: Formulation | None, z: Array
) -> tuple[float, dict[str, Array]]:
    """The residual of z, unknowns of the problem itself or of a law over W, and the arrays of such an answer."""
    if isinstance(problem, MLCP | ConeProblem):
        return float(problem.residual(z)), {"z": z}
    direct = over_W(problem, formulation) if formulation else None
    # Only of laws over W are there iterates.
    assert direct is not None
    law, taken, _ = direct
    return float(stated(taken, law)[0].residual(z)), {"p": z, "u": taken.velocity(z)}


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
    """Per method (requested solver): number of problems, success rate (verified), shifted geometric mean of times.

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
