"""What a person asks of a solve: a start, a tolerance, a number of iterations, the best iterate at a time limit."""

import numpy as np
import pytest

import workbench as wb
from workbench.algorithms import best, find_solver
from workbench.algorithms.base import EXACT
from workbench.algorithms.escalation import default_solver
from workbench.algorithms.tuning import Tuning
from workbench.problems.classes import LCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.solution import Status
from workbench.support.errors import DataError, WorkbenchError

NO_ITERATE = "the method keeps no intermediate iterate"


def pressed(r=20, seed=1):
    """Many contacts of a few bodies, pressed and sliding."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * r, 2 * r))
    return FrictionProblem(J @ J.T, J @ rng.normal(size=2 * r), rng.uniform(0.2, 0.8, r), 2)


def chain(n=60):
    """A string that hangs on an obstacle: Gauss-Seidel creeps."""
    M = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    return LCP(M, 1e-3 * np.sin(np.linspace(0, 9, n)) - 1e-4)


@pytest.mark.parametrize("name", ["pgs", "clarabel", "cvxpy:CLARABEL", "cvxpy:SCS"])
def test_solvers_with_a_tolerance_and_a_limit_keep_to_them(name):
    solver, problem = find_solver(name), chain()
    usual = solver.solve(problem)
    loose = Tuning(tolerance=1e-4).solved(solver, problem)
    assert 0 < loose.iterations < usual.iterations
    assert loose.residual > usual.residual
    short = Tuning(max_iterations=3).solved(solver, problem)
    assert short.iterations <= 3
    assert short.claimed is not Status.SOLVED
    # The limit also holds where a solver that misses the tolerance goes on.
    fewer = loose.iterations - 1
    assert Tuning(tolerance=1e-4, max_iterations=fewer).solved(solver, problem).iterations <= fewer
    # What is asked for once holds for that once.
    assert find_solver(name).solve(problem).iterations == usual.iterations


@pytest.mark.parametrize("name", ["lemke", "murty", "proximal", "keller", "coulomb-exact", "enumerate"])
def test_solvers_without_a_number_of_iterations_refuse_one(name):
    with pytest.raises(WorkbenchError, match=f"{name} iterates to round-off .*pgs, nsgs, apgd, admm, clarabel"):
        Tuning(max_iterations=7).of(find_solver(name))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["lemke", "murty", "proximal", "keller", "pgs", "clarabel", "auto", "cvxpy:SCS"])
def test_an_answer_is_graded_by_the_tolerance_that_is_asked_for(name):
    """Whether its solver stops there, goes on to round-off, or is content with more."""
    for tolerance in (1e-3, 1e-30):
        answer = wb.solve(chain(), solver=name, tolerance=tolerance)
        assert answer.tolerance == tolerance
        assert answer.verified == (tolerance > 1e-20)
        assert (answer.status is Status.SOLVED) == answer.verified
        assert answer.residual > 0


@pytest.mark.parametrize("name", ["coulomb", "ccp"])
def test_from_its_answer_a_cone_problem_is_solved_at_once(name):
    usual = wb.solve(pressed(), name)
    again = wb.solve(pressed(), name, start=usual)
    assert again.verified
    assert again.solution.iterations < usual.solution.iterations
    assert np.allclose(again.u, usual.u, atol=1e-9)
    # A start that leads nowhere costs time and no more.
    astray = wb.solve(pressed(), name, start=1e8 * np.random.default_rng(2).normal(size=60))
    assert astray.verified


@pytest.mark.parametrize("name", ["lemke", "pgs"])
def test_from_its_answer_an_lcp_is_solved_at_once(name):
    usual = wb.solve(chain(), solver=name)
    again = wb.solve(chain(), solver=name, start=usual.z)
    assert again.verified
    assert again.solution.iterations < 0.1 * usual.solution.iterations
    assert np.allclose(again.z, usual.z, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(solver="murty", start=np.zeros(60)), "murty takes no initial guess; coulomb-exact"),
        (dict(solver="lemke", start=np.zeros(59)), r"shape \(59,\); 60"),
        (dict(solver="lemke", start=np.full(60, np.nan)), "60 finite numbers"),
        (dict(solver="pgs", tolerance=-1.0), "tolerance -1"),
        (dict(solver="pgs", max_iterations=0), "0 iterations"),
        (dict(solver="lemke", max_iterations=3), "takes no number of iterations"),
    ],
)
def test_what_cannot_be_asked_for_is_reported(arguments, words):
    with pytest.raises(WorkbenchError, match=words):
        wb.solve(chain(), **arguments)


def test_over_bodies_there_is_nothing_to_start_from():
    with pytest.raises(WorkbenchError, match="box is posed with bodies"):
        wb.solve(pressed(), "box", start=np.zeros(60))
    block = wb.ContactSystem(np.eye(2), [1, -1], [0, 0], 0.01, [[0, 1]], [[1, 0]], mu=0.3)
    with pytest.raises(WorkbenchError, match="takes no start"):
        wb.solve(block, start=np.zeros(2))


def test_at_a_time_limit_the_best_iterate_is_handed_back():
    """Of sweeps that have no end; the residual is the problem's own, below that of the first sweep."""
    problem = chain(200)
    first = wb.solve(problem, solver="pgs", max_iterations=1)
    answer = wb.solve(problem, solver="pgs", tolerance=1e-300, max_iterations=10**12, seconds=0.5)
    assert answer.status is Status.ITERATION_LIMIT
    assert "no answer within 0.5 s; this is the best iterate" in answer.solution.reason
    assert answer.residual == problem.residual(answer.z) < first.residual


class Endless:
    """Never comes to an end, and shows nothing."""

    name, guaranteed_for, tolerance, solves = "endless", "nothing", EXACT, frozenset({"LCP"})

    def why_not(self, problem):
        return None

    def solve(self, problem):
        while True:
            pass


def test_a_method_without_iterates_says_so():
    answer = wb.solve(chain(), solver=Endless(), seconds=0.2)
    assert np.isnan(answer.z).all()
    assert not answer.verified
    assert NO_ITERATE in answer.solution.reason


@pytest.mark.thorough
def test_within_its_time_the_answer_is_the_usual_one():
    for problem, name in ((pressed(), "box"), (pressed(), "coulomb"), (chain(), None)):
        usual, timed = (wb.solve(problem, name, seconds=seconds) for seconds in (None, 60.0))
        for key in usual.values:
            assert np.array_equal(usual.values[key], timed.values[key])
    with pytest.raises(DataError, match="one instant"):
        wb.solve(pressed(), "sliding-lcp")
    with pytest.raises(WorkbenchError, match="one instant"):
        wb.solve(pressed(), "sliding-lcp", seconds=60.0)


def test_only_what_is_watched_is_kept(monkeypatch):
    place = np.zeros(best.HEAD + 5)
    monkeypatch.setattr(best, "_place", np.zeros(best.HEAD))
    best.offer(np.ones(3))
    best.show(place)
    best.offer(np.ones(3))
    assert best.last_iterate(place) is None
    with best.watch(3):
        assert best.last_iterate(place) is None
        best.offer(np.arange(3.0))
        best.offer(np.ones(2))
        assert best.last_iterate(place).tolist() == [0.0, 1.0, 2.0]
    with best.watch(6):
        assert not best.watched(6)


@pytest.mark.parametrize("formulation", ["ccp", "coulomb", "box"])
def test_the_default_solver_is_graded_by_the_tolerance_that_is_asked_for(formulation):
    for tolerance in (1e-3, 1e-6, 1e-12):
        answer = wb.solve(pressed(), formulation, tolerance=tolerance)
        assert answer.tolerance == tolerance
        assert answer.verified


def test_a_chain_is_adjusted_by_its_first_method():
    blocks, exact = default_solver("contact blocks"), default_solver("conic QP")
    assert blocks.adjusted(1e-3, 7).first == find_solver("blocks-exact").adjusted(1e-3, 7)
    assert blocks.adjusted(1e-3, 7).tolerance == 1e-3
    assert blocks.adjusted(None, 7).tolerance == blocks.tolerance
    assert exact.adjusted(1e-3, None).first is exact.first
    with pytest.raises(WorkbenchError, match="no number of iterations"):
        exact.adjusted(None, 7)
