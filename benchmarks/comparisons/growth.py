"""How the cost grows with the number of bodies, in rows of cubes or stacks that do not touch each other.

Nothing couples them, so that the work of a code that sees this grows linearly. Measured are problems of
rows alone, exact Coulomb friction beside codes that keep W in sparse blocks, and whole steps of the compiled stepper.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from benchmarks.comparisons import lcp, mlcp
from benchmarks.harness import Comparison, Measure, Options, Peer, Task
from benchmarks.peers import convex, floor, ours, pivoting
from benchmarks.peers.siconos import siconos
from benchmarks.rows import Row, row_problem
from workbench.algorithms.escalation import default_solver
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.problems.classes import LCP, MLCP, Array, MatrixProblem
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation

CONTACTS = (8, 16, 32, 64, 128, 256, 512, 1000)
STACK = 8
"""Contacts of one stack of two boxes."""
LARGEST_LCP = 7
"""How many of `CONTACTS` LCPs and MLCPs are posed for; the largest has a matrix of 75 MB."""
STACKS = (1, 2, 4, 8, 16, 32, 64, 125, 250)
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
        ours.solver("coulomb-exact"),
        siconos("Siconos NSGS", "friction", "NSGS", 1e-12, 10_000),
        siconos("Siconos NSN_AC", "friction", "NSN_AC", 1e-12, 1000),
        siconos("Siconos PROX", "friction", "PROX", 1e-12, 1000),
        floor.PEER,
    ),
)


def row(towers: list[MatrixProblem]) -> MatrixProblem:
    """The problems of towers as one, the first unknowns of all first, then the second ones: no block stands out."""
    order = np.argsort(np.concatenate([np.arange(t.size) for t in towers]), kind="stable")
    M = block_diag(*(t.M for t in towers))[np.ix_(order, order)]
    q, *bounds = (np.concatenate([getattr(t, k) for t in towers])[order] for k in ("q", "lower", "upper"))
    return LCP(M, q) if towers[0].kind == LCP.kind else MLCP(M, q, *bounds)


def tower_row(task: Callable[[int, int], Task], contacts: int) -> Task:
    """A row of the towers of another comparison."""
    problem = row([task(STACK, k).problem for k in range(contacts // STACK)])
    return Task(f"{contacts} contacts", problem, f"{contacts} contacts", contacts)


def tower_rows(task: Callable[[int, int], Task]) -> Callable[[Options], list[Task]]:
    return lambda options: [tower_row(task, n) for n in (CONTACTS[:2] if options.quick else CONTACTS[:LARGEST_LCP])]


def up_to(contacts: int, peer: Peer) -> Peer:
    """A peer that is not asked above so many contacts, where it takes minutes and cannot be interrupted."""

    return replace(peer, most=contacts)


LCPS = Comparison(
    "growth-lcp",
    "Growth: Stewart-Trinkle LCPs of a row of stacks",
    f"The towers of the LCP comparison, {STACK} contacts each, beside each other; four directions, n = 6 contacts.",
    tower_rows(lambda contacts, k: lcp.task(6 * contacts, k)),
    (ours.solver("lemke"), up_to(256, pivoting.quantecon()), floor.PEER),
)
MLCPS = Comparison(
    "growth-mlcp",
    "Growth: box friction on a row of stacks",
    f"The towers of the MLCP comparison, {STACK} contacts each, beside each other; n = 3 contacts.",
    tower_rows(mlcp.task),
    (
        ours.solver("proximal"),
        ours.solver("keller", "workbench keller"),
        up_to(256, convex.clarabel(1e-12)),
        floor.PEER,
    ),
)


def ccp_tasks(options: Options) -> list[Task]:
    found = []
    for contacts in CONTACTS[:2] if options.quick else CONTACTS:
        problem = row_problem(contacts, STACK)
        found.append(Task(f"{contacts} contacts", problem.ccp(), f"{contacts} contacts", contacts, problem))
    return found


CCPS = Comparison(
    "growth-ccp",
    "Growth: the CCP on a row of stacks",
    f"Towers of two boxes, {STACK} contacts each, beside each other.",
    ccp_tasks,
    (ours.solver("ccp-exact"), up_to(512, convex.clarabel(1e-12)), floor.PEER),
)


@dataclass(frozen=True)
class Steps:
    """What is judged of a run: the residuals of its steps, which the run has from its problems."""

    size: int

    def residual(self, residuals: Array) -> Array:
        return residuals


def stepped(name: str) -> Peer:
    """The compiled loop of a formulation; the time is that of all of `simulate`."""
    formulation = find_formulation(name)

    def load() -> Measure:
        # What is compiled for rows of several stacks is loaded here.
        simulate(Row(stacks=2.0), formulation, default_solver(compiled(formulation, *Row().size).kind), H, H)

        def measure(task: Task) -> tuple[Any, float, str]:
            solver = default_solver(compiled(formulation, *Row(height=task.data.height).size).kind)
            start = clock()
            run = simulate(task.data, formulation, solver, H, task.count * H)
            seconds = clock() - start
            done = run.steps == task.count
            return run.residuals if done else np.full(1, np.inf), seconds, run.reason

        return measure

    return Peer(name, load)


def stepper(name: str, height: int, what: str) -> Comparison:
    """Steps of rows of stacks, up to a thousand contacts."""

    def tasks(options: Options) -> list[Task]:
        steps = 2 if options.quick else STEPS
        found = []
        for stacks in STACKS[:2] if options.quick else STACKS:
            row = Row(stacks=float(stacks), height=float(height))
            contacts = row.size[2]
            if contacts <= CONTACTS[-1]:
                found.append(
                    Task(f"{contacts} contacts", Steps(contacts), f"{contacts} contacts", contacts, row, steps)
                )
        return found

    return Comparison(
        name,
        f"Growth: steps of a row of {what}",
        f"{STEPS} steps of {H * 1e3:g} ms of {what} that slide on the ground beside each other, by the compiled loop; "
        "ratios are to the frictionless step.",
        tasks,
        tuple(map(stepped, ("frictionless", "stewart-trinkle", "ccp", "coulomb"))),
        unit="steps/s",
        rivals=False,
    )


CUBES = stepper("growth-steps", 1, "cubes, four contacts each")
TOWERS = stepper("growth-stacks", 2, "stacks of two cubes, eight contacts each")
