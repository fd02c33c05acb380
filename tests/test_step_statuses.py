"""How a step ends is what its solver says, and only with an answer is there a next state."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import workbench as wb
from workbench.algorithms.escalation import default_solver
from workbench.language.assemble.find import compiled
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.solution import Status
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.verbs.find import find_case, find_formulation

BOX = find_formulation("box")
ANSWERED = {Status.SOLVED, Status.INACCURATE}


class Claiming:
    """A solver that is off by a thousandth, and claims something of its answer."""

    name, guaranteed_for, tolerance = "claiming", frozenset(), 1e-8

    def __init__(self, claimed: Status, kind: str) -> None:
        self.claimed, self.own = claimed, default_solver(kind)
        self.solves = frozenset({kind})

    def why_not(self, problem):
        return None

    def solve(self, problem):
        found = self.own.solve(problem)
        z = 1.001 * found.z
        return replace(found, z=z, residual=float(problem.residual(z)), claimed=self.claimed)


@pytest.mark.parametrize("claimed", Status)
def test_a_run_goes_on_only_with_an_answer(claimed):
    case = find_case("wheel")
    solver = Claiming(claimed, compiled(BOX, *case.size).kind)
    run = simulate(case, BOX, solver, 1e-3, 5e-3)
    assert run.status is claimed
    assert (run.steps == run.steps_wanted) == (claimed in ANSWERED)


@pytest.mark.parametrize("claimed", Status)
def test_a_single_step_has_numbers_only_with_an_answer(claimed):
    system = wb.ContactSystem(
        M=np.eye(2), f=[0.0, -9.81], v=[1.0, 0.0], J_n=[[0.0, 1.0]], J_t=[[1.0, 0.0]], phi=[0.0], mu=[0.3], h=1e-3
    )
    answer, solution = solve_system(BOX, system, Claiming(claimed, compiled(BOX, *system.size).kind))
    assert solution.claimed is claimed
    assert np.isfinite(np.concatenate([answer.v, answer.p_n, answer.p_t])).all() == (claimed in ANSWERED)


@dataclass(frozen=True)
class Held(wb.Case):
    """A unit mass that a bilateral constraint holds at x = 0, above a floor that it never touches."""

    name: ClassVar[str] = "held"
    description: ClassVar[str] = "a mass on a spring"
    size: ClassVar[tuple[int, int, int, int]] = (2, 1, 1, 1)
    duration: ClassVar[float] = 0.05

    off: float = wb.quantity(0.1, "m", "distance from the constraint at the start")

    def mechanics(self, q, v):
        return dict(M=np.eye(2), f=np.zeros(2), J_b=[[1, 0]], g=[q[0]], J_n=[[0, 1]], J_t=[[1, 0]], phi=q[1], mu=0.0)

    def start(self):
        return np.array([self.off, 1.0]), np.zeros(2)

    def centre(self, q):
        return np.array([*q, 0.0]) if np.ndim(q) == 1 else np.column_stack([q, np.zeros(len(q))])

    def energy(self, q, v):
        return 0.5 * (v**2).sum(axis=-1) + 1.0


def test_a_relaxed_bilateral_row_is_a_spring_and_a_damper():
    """v+ = v - h (k (g + h v+) + b v+) of a unit mass, from a start off the constraint."""
    k, b, h = 400.0, 3.0, 1e-3
    case = Held()
    coulomb = find_formulation("coulomb")
    solver = default_solver(compiled(coulomb, *case.size).kind)
    run = simulate(case, coulomb, solver, h, normal="gap", relaxation=Relaxation(k_b=k, b_b=b))
    x, v = run.states_q[:, 0], run.states_v[:, 0]
    assert x[0] == case.off
    np.testing.assert_allclose(np.diff(v), -h * (k * (x[:-1] + h * v[1:]) + b * v[1:]), rtol=1e-9, atol=1e-12)
