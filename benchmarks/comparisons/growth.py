"""How the cost grows with the number of bodies, in rows of cubes or stacks that do not touch each other.

Nothing couples them, so that the work of a code that sees this grows linearly. Two measurements: exact Coulomb
friction on the row's W alone, beside codes that keep W in sparse blocks, and whole steps of the compiled stepper.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import Comparison, Measure, Options, Peer, Task
from benchmarks.peers import floor, ours
from benchmarks.peers.siconos import siconos
from benchmarks.rows import Row, row_problem
from formulations import FORMULATIONS
from workbench.assembly import compiled
from workbench.problems import Array
from workbench.simulation import simulate
from workbench.solvers import default_solver

CONTACTS = (8, 16, 32, 64, 128, 256, 512, 1000)
STACK = 8
"""Contacts of one stack of two boxes."""
BODIES = (1, 2, 4, 8, 16)
STEPS, H = 20, 1e-3


def solver_tasks(options: Options) -> list[Task]:
    found = []
    for contacts in CONTACTS[:2] if options.quick else CONTACTS:
        problem = row_problem(contacts, STACK)
        found.append(Task(f"{contacts} contacts", problem.coulomb(), f"{contacts} contacts", contacts, problem))
    return found


SOLVER = Comparison(
    "growth",
    "Growth: exact Coulomb friction on a row of stacks",
    f"Towers of two boxes, {STACK} contacts each, beside each other: W has one block a tower.",
    solver_tasks,
    (
        ours.solver("coulomb-exact", apart=True),
        siconos("Siconos NSGS", "friction", "NSGS", 1e-12, 10_000),
        siconos("Siconos NSN_AC", "friction", "NSN_AC", 1e-12, 1000),
        siconos("Siconos PROX", "friction", "PROX", 1e-12, 1000),
        floor.PEER,
    ),
)


@dataclass(frozen=True)
class Steps:
    """What is judged of a run: the residuals of its steps, which the run has from its problems."""

    size: int

    def residual(self, residuals: Array) -> Array:
        return residuals


def step_tasks(options: Options) -> list[Task]:
    steps = 2 if options.quick else STEPS
    return [
        Task(f"{bodies} cubes", Steps(4 * bodies), f"{bodies} cubes", 4 * bodies, bodies, steps)
        for bodies in (BODIES[:2] if options.quick else BODIES)
    ]


def stepped(name: str) -> Peer:
    """The compiled loop of a formulation; the time is the loop's own, as `Run` reports it."""
    formulation = next(f for f in FORMULATIONS if f.name == name)

    def load() -> Measure:
        def measure(task: Task) -> tuple[Any, float, str]:
            case = Row(bodies=float(task.data))
            solver = default_solver(compiled(formulation, *case.size).kind)
            run = simulate(case, formulation, solver, H, task.count * H)
            done = run.steps == task.count
            return run.residuals if done else np.full(1, np.inf), run.solve_time, run.reason

        return measure

    return Peer(name, load)


STEPPER = Comparison(
    "growth-steps",
    "Growth: steps of a row of cubes",
    f"{STEPS} steps of {H * 1e3:g} ms of cubes that slide on the ground beside each other, four contacts each, by the "
    "compiled loop; the size is the number of contacts, ratios are to the frictionless step.",
    step_tasks,
    (stepped("frictionless"), stepped("stewart-trinkle"), stepped("ccp"), stepped("coulomb")),
    unit="steps/s",
    rivals=False,
)
