"""Problems whose W no bodies have: the nearest one that they can have, when it is taken, and what is said of it."""

import json

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.text.comparison import known_in_words
from workbench.cli.main import main
from workbench.comparison.files import compare_problem
from workbench.comparison.nearest import nearest, nearest_psd
from workbench.problems.classes import is_psd
from workbench.problems.friction_problem import FrictionProblem
from workbench.readers.files import write_problem_file
from workbench.support.errors import DataError

MOST_MOVED = 1e-4

BY_NAME = {f.name: f for f in FORMULATIONS}
COULOMB = BY_NAME["coulomb"]


def given(skew=0.0, least=0.0, r=4):
    """W with an antisymmetric part of relative size `skew`, or whose smallest eigenvalue is -`least` of the largest."""
    rng = np.random.default_rng(3)
    J = rng.normal(size=(3 * r, 3 * r))
    values, V = np.linalg.eigh(J @ J.T)
    values[0] = -least * values[-1] if least else values[0]
    A = rng.normal(size=(3 * r, 3 * r))
    W = (V * values) @ V.T + skew * values[-1] * (A - A.T) / np.linalg.norm(A - A.T, 2)
    return FrictionProblem(W if skew else 0.5 * (W + W.T), J @ rng.normal(size=3 * r), np.full(r, 0.5), 2)


def test_the_nearest_matrix_is_the_symmetric_part_or_its_positive_part():
    W = given(skew=1e-3).dense
    assert np.array_equal(nearest_psd(W), 0.5 * (W + W.T))
    values, V = np.linalg.eigh(given(least=1e-2).dense)
    # With a diagonal of ones, D is the identity, and the projection is Higham's.
    scale = np.diag(1.0 / np.sqrt(np.diag((V * np.abs(values)) @ V.T)))
    S = scale @ ((V * values) @ V.T) @ scale
    S[np.diag_indices_from(S)] = 1.0
    values, V = np.linalg.eigh(S)
    assert values[0] < -1e-6
    assert np.allclose(nearest_psd(S), (V * np.maximum(values, 0)) @ V.T, atol=1e-13)


@pytest.mark.parametrize("decades", [0, 6, 12])
def test_it_is_positive_semidefinite_whatever_the_masses(decades):
    rng = np.random.default_rng(decades)
    W = given(skew=1e-3, least=1e-4).dense
    scale = 10.0 ** rng.uniform(-decades / 2, decades / 2, len(W))
    A = nearest_psd(scale[:, None] * W * scale)
    assert is_psd(A)
    assert np.allclose(A / scale[:, None] / scale, nearest_psd(W), atol=1e-9 * np.abs(W).max())


def test_where_w_is_that_of_bodies_nothing_is_taken_in_its_place():
    assert nearest(given()) is None
    assert wb.solve(given(), BY_NAME["box"]).moved is None


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", [{"skew": 1e-6}, {"least": 1e-8}], ids=["not symmetric", "indefinite"])
def test_what_hardly_moves_is_taken_and_reported(wrong):
    """Every formulation is solved; the distance is that of the exact velocities, worked out here by hand."""
    problem = given(**wrong)
    W = nearest_psd(problem.dense)
    near = FrictionProblem(W, problem.q, problem.mu, 2)
    u, u_near = (p.dense @ wb.solve(p, COULOMB).p + p.q for p in (problem, near))
    apart = np.linalg.norm(u - u_near) / np.linalg.norm(problem.q)
    assert 0 < apart < MOST_MOVED
    answer = wb.solve(problem, BY_NAME["stewart-trinkle"])
    assert answer.solution.verified
    assert answer.moved == pytest.approx(apart, rel=1e-3)
    assert np.allclose(answer.u, W @ answer.p + problem.q, atol=1e-12)
    c = compare_problem("p", problem, FORMULATIONS, COULOMB)
    assert set(c.runs[c.runs["verified"]]["label"]) == {f.label for f in FORMULATIONS}
    assert np.array_equal(c.problem.dense, W)
    assert c.known["nearest"]["moved"] == pytest.approx(apart, rel=1e-3)
    heard = " ".join(known_in_words(c))
    assert f"{c.known['nearest']['moved']:.1e} |q|" in heard
    assert "All rows, including exact Coulomb friction" in heard


def test_exact_friction_and_a_symmetric_ccp_keep_the_given_w():
    for problem, name in ((given(skew=1e-6), "coulomb"), (given(least=1e-8), "ccp")):
        answer = wb.solve(problem, BY_NAME[name])
        assert answer.moved is None
        assert np.allclose(answer.u, problem.dense @ answer.p + problem.q, atol=1e-12)
        assert answer.solution.verified
    # The CCP is a quadratic program, so that it needs a symmetric W.
    assert wb.solve(given(skew=1e-6), BY_NAME["ccp"]).moved > 0


def test_what_moves_too_far_is_refused_with_the_number():
    problem = given(skew=0.05)
    moved = nearest(problem).moved
    assert moved > MOST_MOVED
    for name in ("box", "ccp"):
        with pytest.raises(
            DataError, match=rf"of the form J M\^-1 J\^T.*moves the exact velocity by {moved:.1e}.*0\.0001"
        ):
            wb.solve(problem, BY_NAME[name])
    c = compare_problem("p", problem, [BY_NAME["box"], BY_NAME["ccp"], COULOMB], COULOMB)
    assert c.runs[c.runs["verified"]]["label"].tolist() == ["coulomb"]
    assert np.array_equal(c.problem.dense, problem.dense)
    assert any(f"{moved:.1e} |q|" in sentence and "refused" in sentence for sentence in known_in_words(c))


@pytest.mark.thorough
def test_without_an_exact_solution_nobody_can_tell():
    # Pulled apart along the normal of a contact whose W is negative: no impulse makes it stop.
    problem = FrictionProblem(-np.eye(3), np.array([-1.0, 0.0, 0.0]), np.array([0.5]), 2)
    with pytest.raises(DataError, match="exact solution is not verified"):
        wb.solve(problem, BY_NAME["box"])


def test_solve_tells_it_in_its_rows_and_lines(tmp_path, capsys):
    path = tmp_path / "p.npz"
    write_problem_file(given(skew=1e-6), path)
    assert main(["solve", str(path), "-f", "box", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert 0 < row["moved"] < MOST_MOVED
    assert main(["solve", str(path), "-f", "box"]) == 0
    assert f"changes the exact velocity by {row['moved']:.1e} |q|" in " ".join(capsys.readouterr().out.split())
