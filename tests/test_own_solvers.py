"""Solvers of somebody's own: what they claim counts for nothing beside the problem's own residual."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import workbench as wb
from workbench.algorithms import find_solver
from workbench.algorithms.tuning import Tuning
from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.solution import Solution, Status
from workbench.support.errors import DataError, WorkbenchError

BOX = MLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], [-1.0, -1.0], [1.0, 3.0])
FRICTION = FrictionProblem(np.eye(3) + 0.1, [-1.0, 0.5, 0.2], [0.3])


@dataclass(frozen=True)
class Own:
    """One that takes what a bundled solver finds and makes something else of it, its residual claimed to be zero."""

    answer: str = "right"
    name: ClassVar[str] = "own"
    solves: ClassVar[frozenset[str]] = frozenset({"LCP", "MLCP", "contact blocks"})
    guaranteed_for: ClassVar[str] = "nothing"
    tolerance: ClassVar[float] = 1e-9

    def why_not(self, problem):
        return None

    def solve(self, problem):
        if self.answer == "nothing":
            return None
        exact = find_solver("blocks-exact" if problem.kind == "contact blocks" else "proximal").solve(problem)
        z = {"right": exact.z, "wrong": 1.05 * exact.z, "short": exact.z[1:], "nan": np.nan * exact.z}[self.answer]
        return Solution(z, Status.SOLVED, 0.0, self.tolerance, 1, 0.0, self.name)

    def solve_from(self, problem, start):
        return self.solve(problem)


class Prover(Own):
    """Claims that there is no solution."""

    def solve(self, problem):
        return replace(super().solve(problem), claimed=Status.NO_SOLUTION, z=np.full(problem.size, np.nan), proof="so")


def test_the_residual_of_an_answer_is_the_problems_whoever_claims_another():
    right, wrong = (wb.solve(BOX, solver=Own(x)) for x in ("right", "wrong"))
    assert right.verified
    assert right.residual == BOX.residual(right.z)
    assert not wrong.verified
    assert wrong.residual == BOX.residual(wrong.z) > 1e-3
    nowhere = wb.solve(BOX, solver=Own("nan"))
    assert (nowhere.verified, nowhere.residual) == (False, np.inf)
    assert not wb.solve(BOX, solver=Prover()).verified


def test_a_residual_claimed_from_a_start_is_measured_too():
    start = Tuning(start=np.zeros(2))
    assert start.solved(Own(), BOX).verified
    assert not start.solved(Own("wrong"), BOX).verified
    bundled = find_solver("lemke")
    boasting = type(
        "Boasting", (type(bundled),), {"solve_from": lambda self, problem, start: Own("wrong").solve(problem)}
    )
    found = start.solved(boasting(**vars(bundled)), LCP(BOX.M, BOX.q))
    assert not found.verified


@pytest.mark.parametrize(("what", "formulation", "steps"), [
    ("wheel", "box", {"duration": 0.01, "reference_step": 5e-4}),
    (FRICTION, "box", {}),
    (wb.scene("hopper", {"N": 4}), "coulomb", {"duration": 0.02, "reference_step": 5e-4, "steps": [4e-3]}),
], ids=["case", "file", "scene"])  # fmt: skip
@pytest.mark.parametrize(("answer", "good"), [("right", True), ("wrong", False)])
def test_comparisons_measure_it(what, formulation, steps, answer, good):
    runs = wb.compare(what, [formulation], solvers=[Own(answer)], **steps).runs
    rows = runs[runs["solver"] == "own"]
    assert len(rows) > 0
    assert (rows["verified"] == good).all()


@pytest.mark.parametrize(("answer", "words"), [
    ("short", r"own: z has shape \(1,\); the problem's unknowns have \(2,\)"),
    ("nothing", "own: solve returned NoneType; a Solution is needed"),
])  # fmt: skip
def test_what_is_no_answer_to_the_problem_is_refused_in_a_line(answer, words):
    with pytest.raises(DataError, match=words):
        wb.solve(BOX, solver=Own(answer))


def test_a_class_is_called_and_what_lacks_a_part_is_no_solver():
    assert wb.solve(LCP(BOX.M, BOX.q), solver=Own).verified
    with pytest.raises(WorkbenchError, match="Half is not a solver; it lacks: solves, guaranteed_for, tolerance, why_"):
        wb.solve(BOX, solver=type("Half", (), {"name": "half", "solve": None}))
    with pytest.raises(WorkbenchError, match="Thawed has no hash; a dataclass that is a solver has frozen=True"):
        wb.compare(FRICTION, ["box"], solvers=[type("Thawed", (Own,), {"__hash__": None})()])


def test_where_one_solver_refuses_and_another_answers_the_page_is_drawn_from_the_answer():
    found = wb.compare(FRICTION, ["box"], solvers=["elimination", "murty"])
    assert list(found.runs["claimed"]) == ["REFUSED", "SOLVED"]
    assert "figure-ranking" in found.html()
