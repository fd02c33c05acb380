"""Bounds of the solutions of an uncertain LCP: instances with closed forms, samples, and the basis of the centre."""

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from tests.boxes import doubles, random_member, rational
from workbench.algorithms import find_solver
from workbench.engine.timing import clock
from workbench.matrices.intervals.p_box import all_p
from workbench.matrices.intervals.uncertain_mlcp import bounds
from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
from workbench.matrices.linear_algebra.confirmed_lp import _confirmed, least_unknown
from workbench.matrices.linear_algebra.exact_lp import Dictionary, least, made_feasible
from workbench.matrices.p_property.bounded import solution_on_face
from workbench.problems.classes import LCP
from workbench.readers.interval_matrix import IntervalMatrix

M = [["2", "1"], ["1", "2"]]


def solutions(rhs, symmetric=False, radius="1/10"):
    return wb.check(wb.interval(M, radius, symmetric), rhs=rhs).data["solutions"]


def solution(A, b):
    """An exact solution of LCP(b, A); None where Lemke's method finds none."""
    near = find_solver("lemke").solve(LCP(doubles(A), doubles(fmpq_mat(len(b), 1, b))[:, 0])).z
    n = len(b)
    return solution_on_face(A, b, np.zeros(n), np.full(n, np.inf), near) if np.isfinite(near).all() else None


def test_hull_of_two_unknowns():
    found = solutions(["-1", "-1"])
    assert (found["lower"], found["upper"]) == (["4/15"] * 2, ["2/5"] * 2)
    assert found["exact"]
    assert found["solvable"] == "one"
    assert found["signs"] == ["positive"] * 2


def test_hull_of_the_symmetric_matrices_is_smaller():
    found = solutions(["-1", "-1"], symmetric=True)
    assert (found["lower"], found["upper"]) == (["40/139"] * 2, ["20/53"] * 2)
    assert found["exact"]
    # At the vertices of the box of both: 1/10 about every entry of M and of q.
    both = solutions(wb.interval(["-1", "-1"], "1/10"), symmetric=True)
    assert (both["lower"], both["upper"], both["exact"]) == (["25/139"] * 2, ["66/139"] * 2, True)


def test_hull_with_an_undetermined_unknown():
    found = solutions(["-1", "-1/2"])
    assert (found["lower"], found["upper"]) == (["9/20", "0"], ["10/19", "1/20"])
    assert found["signs"] == ["positive", "undetermined"]
    # Of symmetric matrices these bounds hold, and are not said to be the best ones.
    assert not solutions(["-1", "-1/2"], symmetric=True)["exact"]


def test_no_solution_for_any_data():
    found = wb.check(wb.interval([["-1"]], "1/2"), rhs=["-1"]).data["solutions"]
    assert found["solvable"] == "none"


def test_uncertain_right_hand_side():
    found = wb.check(wb.interval([["2"]]), rhs=wb.interval(["-1"], "1/2")).data["solutions"]
    assert (found["lower"], found["upper"]) == (["1/4"], ["3/4"])
    touching = wb.check(wb.interval([["2"]]), rhs=wb.interval(["1"], "1")).data["solutions"]
    assert touching["signs"] == ["zero"]


@pytest.mark.parametrize("seed", range(4))
def test_solutions_of_members_lie_within(seed):
    rng = np.random.default_rng(seed)
    n = 3
    C = np.round(rng.standard_normal((n, n)) + 1.5 * np.eye(n), 2)
    D, q = np.round(0.3 * rng.random((n, n)), 2), np.round(rng.standard_normal((n, 1)), 2)
    box, right = IntervalMatrix(rational(C), rational(D)), IntervalMatrix(rational(q), rational(np.full((n, 1), 0.1)))
    is_p = all_p(box, clock() + 10).verdict == "all"
    near = find_solver("lemke").solve(LCP(doubles(box.centre), doubles(right.centre)[:, 0])).z
    found = bounds(UncertainMLCP.lcp(box, right), is_p, near, clock() + 20)
    # Branching on all choices finds the same bounds as the basis of the centre does.
    assert found.lower == bounds(UncertainMLCP.lcp(box, right), False, near, clock() + 20).lower or not found.exact
    solved = 0
    for _ in range(40):
        A = random_member(box, rng)
        shift = rng.integers(-8, 9, n)
        b = [
            c + d * fmpq(int(s), 8)
            for c, d, s in zip(right.centre.entries(), right.radius.entries(), shift, strict=True)
        ]
        z = solution(A, b)
        if z is None:
            continue
        solved += 1
        assert found.solvable != "none"
        for x, low, high in zip(z, found.lower, found.upper, strict=True):
            assert low is None or low <= x
            assert high is None or x <= high
    assert solved or found.solvable in ("none", "undecided")


def test_linear_programmes_are_exact():
    rng = np.random.default_rng(2)
    for _ in range(20):
        A = rational(rng.integers(-3, 4, (5, 3)))
        b = [fmpq(int(x)) for x in rng.integers(-3, 2, 5)]
        table = [x for row, bound in zip(A.tolist(), b, strict=True) for x in (*row, -bound)]
        d, infeasible = made_feasible(Dictionary(fmpq_mat(5, 4, table), tuple(range(3, 8)), (0, 1, 2)), clock() + 5)
        for k, sign in ((0, 1), (1, -1)):
            found = least_unknown(A, b, k, sign, clock() + 5)
            assert (found is None) == (infeasible is not None)
            if found is not None:
                assert found.value == least(d, k, sign, clock() + 5)[1]


def test_a_larger_box_has_wider_bounds():
    small, large = solutions(["-1", "-1"], radius="1/20"), solutions(["-1", "-1"], radius="1/5")
    for k in range(2):
        assert fmpq(large["lower"][k]) < fmpq(small["lower"][k]) < fmpq(small["upper"][k]) < fmpq(large["upper"][k])


def test_a_basis_that_is_no_optimum_is_not_confirmed():
    # x >= 0, x_0 + x_1 >= 1: the least 2 x_0 + x_1 is one, at x_1 = 1 and not at x_0 = 1.
    A, b, c = fmpq_mat([[1, 1]]), [fmpq(1)], [fmpq(2), fmpq(1)]
    x, y, slack = np.array([1.0, 0.0]), np.array([2.0]), np.zeros(1)
    assert _confirmed(A, b, c, x, y, slack, clock() + 5) is None
    found = _confirmed(A, b, c, x[::-1], y, slack, clock() + 5)
    assert found.value == 1
    assert found.point == [0, 1]
