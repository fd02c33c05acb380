"""What `check` says of a formulation's problem, and of files with bounds or friction, beside what is known of them."""

import json

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from workbench.builtin.cases.pushed_box import PushedBox
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.formulations.coulomb import coulomb
from workbench.cli.main import main
from workbench.diagnostics.lead_matrix import as_data, lead_matrix, text_rows
from workbench.diagnostics.posed_problem import entry_rows, reduced_exactly, solutions_of, uniqueness_entry
from workbench.matrices.p_property.bounded import solution_on_face, solves
from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.step.one_step import first_step
from workbench.support.errors import WorkbenchError

INF = np.inf


def mlcp(M, q, lower, upper):
    return MLCP(np.array(M, float), np.array(q, float), np.array(lower, float), np.array(upper, float))


@pytest.mark.parametrize(
    ("problem", "count", "dimension", "points"),
    [
        (LCP(np.array([[-1.0]]), np.array([1.0])), 2, 0, [["0"], ["1"]]),
        (LCP(np.array([[-1.0]]), np.array([-1.0])), 0, None, []),
        (mlcp([[2]], [-3], [0], [1]), 1, 0, [["1"]]),
        (mlcp([[-2]], [1], [0], [1]), 3, 0, [["0"], ["1/2"], ["1"]]),
        (mlcp([[0]], [0], [0], [1]), "infinite", 1, []),
        (mlcp([[4, 1], [1, 0]], [1, -2], [-INF, 0], [INF, INF]), 0, None, []),
        # Twice the same equation: a line of solutions, and no second one from the splitting of free unknowns.
        (mlcp([[1, 1], [1, 1]], [-1, -1], [-INF, -INF], [INF, INF]), "infinite", 1, []),
        (mlcp([[0, 0], [0, 1]], [0, -1], [-INF, 0], [INF, INF]), "infinite", 1, []),
        (mlcp([[0, 1], [1, 1]], [-1, -3], [-INF, -INF], [INF, INF]), 1, 0, [["2", "1"]]),
        (mlcp([[5]], [1], [2], [2]), 1, 0, [["2"]]),
    ],
)
def test_solutions_are_counted_in_the_problems_own_unknowns(problem, count, dimension, points):
    found = solutions_of(problem, False, 10.0)
    assert (found["count"], found["dimension"], sorted(found["points"])) == (count, dimension, sorted(points))
    assert entry_rows({"solutions": found})[0][0] == "for this q"


def test_infeasible_inequalities_have_their_farkas_vector():
    assert solutions_of(LCP(np.array([[-1.0]]), np.array([-1.0])), False, 10.0)["farkas"] == ["1"]
    late = solutions_of(LCP(np.array([[-1.0]]), np.array([-1.0])), False, -1.0)
    assert (late["count"], late["reason"]) == (None, "out of time")


def test_a_solution_near_by_is_made_exact_and_judged():
    M, q = fmpq_mat([[3, 1], [1, 3]]), [fmpq(-1), fmpq(-7)]
    lower, upper = np.zeros(2), np.array([INF, 2.0])
    assert solution_on_face(M, q, lower, upper, np.array([1e-13, 2 - 1e-13])) == [fmpq(0), fmpq(2)]
    assert solution_on_face(M, q, lower, upper, np.array([0.5, 2.0])) is None
    assert solution_on_face(fmpq_mat([[1, 1], [1, 1]]), q, lower, upper, np.array([1.0, 1.0])) is None
    for z, good in ((("0", "2"), True), (("0", "7/3"), False), (("-1/3", "2"), False), (("0", "1"), False)):
        assert solves(M, q, lower, upper, [fmpq(*map(int, x.split("/"))) for x in z]) == good
    assert not solves(M, [fmpq(-3), fmpq(-7)], lower, upper, [fmpq(0), fmpq(2)])
    assert not solves(M, [fmpq(-2), fmpq(-5)], lower, upper, [fmpq(0), fmpq(2)])


def test_where_it_is_not_unique_two_solutions_are_shown():
    entry = uniqueness_entry(fmpq_mat([[-1]]), np.zeros(1), np.full(1, INF), 10.0)
    assert entry["verdict"] == "not unique"
    assert entry["two_solutions"] == {"q": ["1"], "z": ["1"], "other": ["0"]}
    assert "some x has" in entry_rows({"uniqueness": entry})[0][1]


def test_a_steps_elimination_is_that_of_the_stepper_without_rounding():
    stepper = first_step(PushedBox(), coulomb, 1e-3)
    problem = stepper.problem()
    n = stepper.c.plan.n_free + problem.size
    W, q = reduced_exactly(stepper.work.A[:n, : n + 1], stepper.c.plan.n_free)
    np.testing.assert_allclose(np.array(W.tolist(), dtype=float), problem.M, atol=1e-12 * np.abs(problem.M).max())
    np.testing.assert_allclose([float(x) for x in q], problem.q, atol=1e-12 * np.abs(problem.q).max())
    # Four corners of a rigid box: six of twelve impulses are redundant.
    assert W.rank() == 6
    with pytest.raises(WorkbenchError, match="singular"):
        reduced_exactly(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]), 1)


def test_a_report_on_the_box_has_both_tests_and_its_solution():
    report = lead_matrix(Wheel(), FORMULATIONS.find("box"), coulomb, seconds=2.0)
    found = report.posed["uniqueness"]
    assert found["verdict"] == found["tests"]["reduced"]["verdict"] == found["tests"]["natural"]["verdict"] == "unique"
    assert [len(found["bounds"][kind]) for kind in ("free", "fixed", "bounded")] == [6, 0, 3]
    assert report.posed["solutions"]["count"] == 1
    assert report.posed["distance"]["lower"] > 0
    json.dumps(as_data(report))
    assert "natural test" in " ".join(words for _, words in text_rows(report))


def test_a_report_on_redundant_contacts_is_not_misled_by_rounding():
    report = lead_matrix(PushedBox(), coulomb, coulomb, seconds=2.0)
    assert (report.p_verdict, report.classes["PSD"], report.classes["nondegenerate"]) == ("not P", "yes", "no")
    (found,) = report.posed["existence"]
    assert (found["law"], found["verdict"]) == ("Coulomb's law", "exists")


def test_files_with_friction_or_bounds_are_judged_as_what_they_are(tmp_path, capsys):
    friction = {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "q": [-1, 0.5, 0], "mu": [0.3]}
    bounds = {"M": [[-2]], "q": [1], "lower": [0], "upper": [1]}
    for name, data in (("friction.json", friction), ("bounds.json", bounds)):
        (tmp_path / name).write_text(json.dumps(data))
    np.savez(tmp_path / "bounds.npz", **bounds)
    np.savez(tmp_path / "friction.npz", **friction)
    for name in ("friction.json", "friction.npz"):
        assert main(["check", str(tmp_path / name), "--json", "--out", str(tmp_path / "page.html")]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [e["verdict"] for e in found["problem"]["existence"]] == ["exists", "exists"]
        assert found["p_matrix"]["verdict"] == "P"
    assert "Coulomb" in (tmp_path / "page.html").read_text()
    for name in ("bounds.json", "bounds.npz"):
        assert main(["check", str(tmp_path / name)]) == 0
        assert "exactly 3 solutions" in capsys.readouterr().out
    for wrong, word in ((friction | {"mu": [-1]}, "mu"), (bounds | {"lower": [3]}, "lower"), ({"W": [[1]]}, "needed")):
        (tmp_path / "wrong.json").write_text(json.dumps(wrong))
        assert main(["check", str(tmp_path / "wrong.json")]) == 2
        assert word in capsys.readouterr().err


def test_a_square_of_numbers_is_a_matrix_and_a_column_may_be_a_problem(tmp_path):
    """Siconos prints an MLCP that begins as this square does, and its problems with any number of entries a line."""
    (tmp_path / "square.txt").write_text("0 1 1\n0 0 0\n1 0 1\n")
    assert wb.check(tmp_path / "square.txt").data["n"] == 3
    numbers = [3, 1, 0, 3, 3, 3, 3, *np.eye(3, dtype=int).ravel(), -1, -1, -1, 0.5]
    (tmp_path / "column.dat").write_text("\n".join(map(str, numbers)))
    assert wb.check(tmp_path / "column.dat").data["facts"]["contacts"] == 1


def test_a_global_problem_is_reduced_without_rounding():
    """W = H^T M^-1 H in rationals has rank two; of doubles it might be indefinite."""
    H = np.array([[0.1, 0.1, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7]])
    plain = GlobalFrictionProblem(np.diag([3.0, 7.0]), H, np.zeros(2), np.array([-1.0, -1.0, 0, 0]), np.full(2, 0.5), 1)
    found = wb.check(plain).data["problem"]["existence"]
    assert [e["verdict"] for e in found] == ["exists", "exists"]
    # Clamped by G: v_0 = 0, and the contacts approach whatever acts.
    clamped = GlobalFrictionProblem(plain.M, H, plain.f, plain.w, plain.mu, 1, np.array([[1.0], [0.0]]), np.zeros(1))
    found = wb.check(clamped).data["problem"]["existence"]
    assert [e["verdict"] for e in found] == ["none", "none"]
    # The normal row is 0.1 v with v = f/3 = -2/3, less one, or more.
    for force, kind in ((-2.0, "interior"), (40.0, "no impulse")):
        one = GlobalFrictionProblem(
            np.eye(1) * 3, np.array([[0.1, 0.0]]), np.array([force]), np.array([-1.0, 0.0]), np.ones(1), 1
        )
        assert wb.check(one).data["problem"]["existence"][0]["witness"]["kind"] == kind
    local = wb.check(FrictionProblem(np.zeros((3, 3)), -np.ones(3), np.ones(1))).data["problem"]["existence"]
    assert [e["verdict"] for e in local] == ["none", "none"]


def test_a_large_problem_is_checked_island_by_island():
    n = 120
    p = FrictionProblem(np.eye(n), -np.ones(n), np.full(n // 3, 0.5))
    found = wb.check(p, seconds=60)
    assert found.data["facts"]["rank"] == n
    posed = found.data["problem"]
    assert (posed["islands"]["count"], posed["coulomb"]["count"]) == (40, 1)
    assert [e["verdict"] for e in posed["existence"]] == ["exists", "exists"]
    assert found.data["p_matrix"]["verdict"] == "P"
    assert wb.verify(found.certificate(), of=p)


def test_a_large_mlcp_is_decided_by_the_class_of_its_matrix():
    n = 301
    found = wb.check(MLCP(np.eye(n), np.zeros(n), np.full(n, -1.0), np.ones(n)), seconds=60)
    assert found.data["problem"]["uniqueness"]["verdict"] == "unique"
    assert found.data["facts"]["rank"] == n
