"""Steps of the wheel: the compiled loop for every formulation, beside loops over the optimisers.

The compiled loop does all of a step: mechanics, hooks, stamping, elimination, solving, recording. The other loops only
solve the problems that it has recorded, one after the other: Clarabel with its solver object updated in place, CVXPY
re-solving one canonical form with new parameters. Both take convex problems alone; scaling them is not timed for
Clarabel.
"""

from functools import cache
from typing import Any

import numpy as np

from benchmarks.harness import Comparison, Measure, Peer, Task, in_process
from benchmarks.peers.convex import checked, clarabel_solver, rows, triangle
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.step.run import Run, make_problem
from workbench.step.simulation import simulate
from workbench.verbs.find import find_case, find_formulations

H = 1e-3
STEPS = 2000
VARIANTS = {
    "stewart-trinkle": {"directions": 8}, "anitescu-potra": {"directions": 16}, "hybrid": {"bounds": "iterated"},
}  # fmt: skip
CASE = find_case("wheel")


def run(formulation: Formulation, steps: int) -> Run:
    """So many steps by the solver that takes the formulation's problems to round-off."""
    solver = default_solver(compiled(formulation, *CASE.size).kind)
    return simulate(CASE, formulation, solver, H, steps * H)


def task(formulation: Formulation, steps: int) -> Task:
    """The problems of a run as one batch; `data` is the formulation and the problems one by one."""
    r = run(formulation, steps).record
    c = compiled(formulation, *CASE.size)
    batch = make_problem(c, r.M, r.q_, r.lower, r.upper, r.mu)
    each = [make_problem(c, r.M[k], r.q_[k], r.lower[k], r.upper[k], r.mu[k]) for k in range(len(r.M))]
    return Task(formulation.label, batch, formulation.label, CASE.size[2], (formulation, each), len(each))


def compiled_loop() -> Measure:
    """The time is that of the loop alone, as `Run` reports it."""

    def measure(task: Task) -> tuple[Any, float, str]:
        done = run(task.data[0], task.count)
        return done.record.z, done.solve_time, "" if done.steps == task.count else done.reason

    return measure


def clarabel_loop() -> Measure:
    """One solver object, updated: the structure stays, P, q and the bounds are new."""
    import clarabel  # noqa: F401  (is it there?)

    def ready(task: Task) -> Any:
        qps = [checked(p) for p in task.data[1]]
        new = [(triangle(qp).data, qp.c, rows(qp)[1]) for qp in qps]

        def solve() -> Any:
            solver = clarabel_solver(qps[0], None)
            z = np.empty((len(qps), qps[0].c.size))
            for k, (P, c, b) in enumerate(new):
                solver.update(P=P, q=c, b=b)
                z[k] = qps[k].original(np.array(solver.solve().x))
            return z

        return lambda: solve

    return in_process(ready)


def cvxpy_loop() -> Measure:
    method = find_solver("cvxpy:CLARABEL")

    def ready(task: Task) -> Any:
        checked(task.data[1][0])
        return lambda: lambda: np.array([method.solve(p).z for p in task.data[1]])

    return in_process(ready)


@cache
def listed(quick: bool) -> list[Formulation]:
    """Every formulation with its default options, and some with others."""
    if quick:
        return [f for f in find_formulations(None) if f.name in ("stewart-trinkle", "ccp")]
    all_of_them = find_formulations(None)
    return [g for f in all_of_them for g in (f, *([f.with_options(**VARIANTS[f.name])] if f.name in VARIANTS else []))]


COMPARISON = Comparison(
    "wheel",
    "Steps of the wheel",
    f"{STEPS} steps of {H * 1e3:g} ms; the compiled loop does everything of a step, the other loops only solve the "
    "problems it has recorded.",
    lambda options: [task(f, 20 if options.quick else STEPS) for f in listed(options.quick)],
    (
        Peer("workbench", compiled_loop, "compiled loop, the solver that reaches round-off"),
        Peer("Clarabel, updated", clarabel_loop, "one solver object, default tolerances"),
        Peer("CVXPY re-solve (Clarabel)", cvxpy_loop, "the workbench's cvxpy:CLARABEL"),
    ),
    unit="steps/s",
)
