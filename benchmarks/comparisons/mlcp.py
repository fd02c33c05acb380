"""MLCPs with bounds: box friction on the towers of the LCP comparison.

    0 <= p_n perp u_n + phi / h >= 0,   |p_t| <= mu p_bar, u_t against it at a bound and zero between

with p_bar the impulses of the frictionless step (formulary, section 3). Codes without bounds get an equivalent LCP:
with z = lower + y and a multiplier s for each finite upper bound, 0 <= y perp M y + (q + M lower) + s >= 0 and
0 <= s perp (upper - lower) - y >= 0. Siconos' MLCP solvers have no bounds either; they get the same with the velocity
as the free unknown, M v - J^T (lower + y) = M v_0 + h f, which is what their elimination of free unknowns is for.
"""

from dataclasses import replace

import numpy as np

from benchmarks.harness import Comparison, Measure, Options, Peer, Task
from benchmarks.peers import convex, floor, ours, pivoting, siconos
from benchmarks.towers import STATES, tower, tower_problem
from workbench.algorithms import find_solver
from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import LCP, MLCP, Array

CONTACTS = (10, 100)
PROBLEMS = 20


def task(contacts: int, k: int) -> Task:
    """Problem k with so many contacts; `data` are the velocity form's (M, q, number of free unknowns)."""
    system, local = tower(contacts, k), tower_problem(contacts, k)
    W, q = local.dense, local.q
    frictionless = find_solver("lemke").solve(LCP(W[:contacts, :contacts], q[:contacts]))
    bound = np.repeat(system.mu * frictionless.z, 2)
    lower = np.concatenate([np.zeros(contacts), -bound])
    upper = np.concatenate([np.full(contacts, np.inf), bound])
    problem = MLCP(W, q, lower, upper)
    name = f"{contacts}-{k} {STATES[k % len(STATES)]}"
    return Task(name, problem, f"{contacts} contacts", contacts, velocity_form(system, problem))


def velocity_form(system: ContactSystem, problem: MLCP) -> tuple[Array, Array, int]:
    """Mixed problem in (v, y, s) as one matrix, its constants, and the number of its free unknowns."""
    lcp = as_lcp(problem)
    r, n, rows = system.size[2], system.size[0], lcp.size
    J = np.zeros((rows, n))
    J[:r], J[r : problem.size] = system.J_n, system.J_t
    B = lcp.M.copy()
    B[: problem.size, : problem.size] = 0.0
    b = lcp.q.copy()
    b[: problem.size] = 0.0
    b[:r] = system.phi / system.h
    momentum = system.M @ system.v + system.h * system.f + J[: problem.size].T @ problem.lower
    M = np.block([[np.array(system.M), -J.T], [J, B]])
    return M, np.concatenate([-momentum, b]), n


def as_lcp(problem: MLCP) -> LCP:
    """The LCP in (y, s) of a problem whose lower bounds are finite."""
    n, above = problem.size, np.flatnonzero(np.isfinite(problem.upper))
    E = np.eye(n)[:, above]
    M = np.block([[problem.M, E], [-E.T, np.zeros((above.size, above.size))]])
    return LCP(M, np.concatenate([problem.q + problem.M @ problem.lower, (problem.upper - problem.lower)[above]]))


def through_lcp(peer: Peer) -> Peer:
    """A peer for LCPs, given the LCP of a problem with bounds; posing it is not timed."""

    def load() -> Measure:
        measure = peer.load()

        def measured(task: Task):
            posed = replace(task, problem=as_lcp(task.problem))
            z, seconds, remark = measure(posed)
            return task.problem.lower + z[: task.problem.size], seconds, remark

        return measured

    return Peer(f"{peer.name}, as LCP", load, peer.about)


def tasks(options: Options) -> list[Task]:
    if options.quick:
        return [task(10, k) for k in range(2)]
    return [task(contacts, k) for contacts in CONTACTS for k in range(PROBLEMS)]


COMPARISON = Comparison(
    "mlcp",
    "MLCPs with bounds: box friction",
    f"{PROBLEMS} towers each of 10 and 100 contacts; friction bounds from the frictionless step. Codes without bounds "
    "get the equivalent LCP, five unknowns a contact, Siconos' MLCP solvers the velocity as free unknown besides.",
    tasks,
    (
        ours.solver("proximal"),
        ours.solver("keller", "workbench keller"),
        siconos.siconos("Siconos MLCP_LCP_LEMKE", "mlcp", "LCP_LEMKE", None, None),
        siconos.siconos("Siconos MLCP_FB", "mlcp", "FB", 1e-12, 1000),
        siconos.siconos("Siconos MLCP_PGS", "mlcp", "PGS", 1e-12, 10_000),
        through_lcp(siconos.siconos("Siconos LEMKE", "lcp", "LEMKE", None, None)),
        through_lcp(pivoting.quantecon()),
        through_lcp(pivoting.drake()),
        convex.clarabel(1e-12),
        convex.osqp(1e-9),
        floor.PEER,
    ),
)
