"""The diagnosis as a whole: rank and its gap, dependent rows, definiteness with its proof, JSON and the text page."""

import json
from fractions import Fraction

import numpy as np
import pytest

from workbench.algorithms import METHODS, find_solver
from workbench.builtin.reports.pages.check import render
from workbench.builtin.reports.text.check import enclosure_text, to_text
from workbench.diagnostics.check import check_matrix
from workbench.matrices.linear_algebra.definiteness import definiteness, proved_positive_definite
from workbench.problems.rank import dependent_rows, rank, ranks
from workbench.readers.matrix import Matrix, matrix_of
from workbench.support.errors import DataError


def with_singular_values(rng, m: int, n: int, sigma) -> np.ndarray:
    U, V = np.linalg.qr(rng.standard_normal((m, m)))[0], np.linalg.qr(rng.standard_normal((n, n)))[0]
    return U[:, : len(sigma)] * np.asarray(sigma) @ V[:, : len(sigma)].T


def form(M: np.ndarray, x: list[str]) -> Fraction:
    """x^T M x in Fractions."""
    y = [Fraction(value) for value in x]
    return sum((y[i] * Fraction(M[i, j]) * y[j] for i in range(len(y)) for j in range(len(y))), Fraction(0))


# Rank


def test_rank_gap_and_condition():
    rng = np.random.default_rng(0)
    M = with_singular_values(rng, 7, 5, [4, 2, 0.5, 1e-6, 1e-9])
    loose = rank(M, tolerance=1e-3)
    assert (loose.value, rank(M).value) == (3, 5)
    assert loose.gap == pytest.approx(5e5, rel=1e-6)
    assert loose.condition == pytest.approx(8)
    assert rank(M).gap is None
    assert rank(M).tolerance == pytest.approx(7 * 4 * 2.0**-52, rel=1e-12, abs=0)


def test_rank_of_exactly_singular_and_zero():
    zero = rank(np.zeros((2, 3)))
    assert (zero.value, zero.gap, zero.condition) == (0, None, None)
    assert rank(np.diag([3.0, 0.0])).gap == np.inf


def test_ranks_of_a_trajectory():
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 5, (3, 4))
    M = np.array([[with_singular_values(rng, 4, 6, np.arange(1.0, r + 1)) for r in row] for row in truth])
    assert (ranks(M * 10.0 ** rng.uniform(-20, 20, (3, 4, 1, 1))) == truth).all()
    assert (ranks(M) == [[rank(A).value for A in row] for row in M]).all()
    assert (ranks(M, 1.5) == truth - 1).all()
    assert (ranks(M, np.full((3, 4), 1.5)) == truth - 1).all()


@pytest.mark.parametrize("function", [rank, ranks, dependent_rows])
@pytest.mark.parametrize("M", [np.zeros(3), np.zeros((0, 2)), np.array([[1, np.nan]])])
def test_rank_refuses(function, M):
    with pytest.raises(DataError):
        function(M)


def test_planted_dependent_rows_are_named():
    """Two disjoint planted relations, a zero row, rows in very different units."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        A = rng.standard_normal((9, 12))
        order = rng.permutation(9)
        first, second, zero = sorted(order[:3].tolist()), sorted(order[3:5].tolist()), int(order[5])
        A[first[0]] = A[first[1:]].T @ rng.uniform(0.5, 2, 2)
        A[second[0]] = -3 * A[second[1]]
        A[zero] = 0
        A *= 10.0 ** rng.integers(-6, 7, (9, 1))
        assert dependent_rows(A) == sorted([tuple(first), tuple(second), (zero,)])


def test_dependent_sets_are_minimal_and_count_the_deficiency():
    rng = np.random.default_rng(3)
    for _ in range(20):
        A = (rng.integers(-2, 3, (7, 4)) @ rng.integers(-2, 3, (4, 6))).astype(float)
        sets = dependent_rows(A)
        assert len(sets) == 7 - rank(A).value
        for rows in sets:
            assert rank(A[list(rows)]).value == len(rows) - 1 or not A[list(rows)].any()
            for left_out in rows:
                kept = [i for i in rows if i != left_out]
                assert not kept or rank(A[kept]).value == len(kept)


def test_independent_rows():
    assert dependent_rows(np.random.default_rng(4).standard_normal((4, 6))) == []


# Definiteness


@pytest.mark.parametrize(
    ("eigenvalues", "verdict"),
    [
        ([1, 2, 5], "positive definite"),
        ([0, 2, 5], "positive semidefinite"),
        ([-1, -2, -5], "negative definite"),
        ([-1, 0, 0], "negative semidefinite"),
        ([-1, 2, 5], "indefinite"),
        ([-1, 0, 5], "indefinite"),
        ([0, 0, 0], "positive semidefinite"),
    ],
)
def test_definiteness_follows_sylvester(eigenvalues, verdict):
    """C D C^T plus a skew part, with a random integer C, so that zero eigenvalues are exactly zero."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        C = np.tril(rng.integers(-3, 4, (3, 3)), -1) + np.eye(3, dtype=int)
        C = C[rng.permutation(3)] @ (np.triu(rng.integers(-3, 4, (3, 3)), 1) + np.eye(3, dtype=int))
        K = rng.integers(-9, 10, (3, 3))
        M = (C @ np.diag(eigenvalues) @ C.T + K - K.T).astype(float)
        found = definiteness(Matrix(M))
        assert (found.verdict, found.exact) == (verdict, True)
        assert (found.positive_direction is not None) == (max(eigenvalues) > 0)
        assert (found.negative_direction is not None) == (min(eigenvalues) < 0)
        assert found.positive_direction is None or form(M, found.positive_direction) > 0
        assert found.negative_direction is None or form(M, found.negative_direction) < 0


@pytest.mark.parametrize("lead", [[], [2.0], [-2.0], [0.0]])
def test_zero_diagonal_blocks_are_indefinite(lead):
    """After the leading pivot the Schur complement has a zero diagonal, whatever the sign of its coupling."""
    n = len(lead) + 2
    for coupling in (1.0, -1.0):
        M = np.zeros((n, n))
        M[-1, -2] = M[-2, -1] = coupling
        if lead and lead[0]:
            M[0, 0], M[0, 1:], M[1:, 0] = lead[0], 1.0, 1.0
            M[1:, 1:] += 1 / lead[0]
        elif lead:
            M[0, 0] = lead[0]
        found = definiteness(Matrix(M))
        assert found.verdict == "indefinite"
        assert form(M, found.positive_direction) > 0 > form(M, found.negative_direction)


def test_definiteness_beside_the_rounding_of_eigenvalues():
    """[[a, b], [b, b b / a]] within an ulp: eigenvalues round to either sign, the exact verdict follows the minor."""
    rng = np.random.default_rng(6)
    verdicts = set()
    for _ in range(100):
        a, b = rng.uniform(1, 2, 2)
        M = np.array([[a, b], [b, b * b / a]])
        minor = Fraction(a) * Fraction(M[1, 1]) - Fraction(b) ** 2
        found = definiteness(Matrix(M))
        assert abs(found.smallest) <= found.tolerance
        assert found.verdict == ("positive definite" if minor > 0 else "indefinite" if minor < 0 else "never")
        verdicts.add(found.verdict)
    assert verdicts == {"positive definite", "indefinite"}


@pytest.mark.thorough
def test_large_matrices():
    rng = np.random.default_rng(7)
    n = 90
    K, units = rng.standard_normal((n, n)), 10.0 ** rng.uniform(-4, 4, n)
    S = with_singular_values(rng, n, n, np.linspace(1, 2, n))
    definite = (S @ S.T + K - K.T) * units[:, None] * units
    low_rank = K[:, : n - 1] @ K[:, : n - 1].T
    assert (definiteness(Matrix(definite)).verdict, definiteness(Matrix(definite)).exact) == ("positive definite", True)
    assert (definiteness(Matrix(-definite)).verdict, definiteness(Matrix(-definite)).exact) == (
        "negative definite",
        True,
    )
    assert (definiteness(Matrix(K)).verdict, definiteness(Matrix(K)).exact) == ("indefinite", True)
    assert definiteness(Matrix(low_rank)).verdict == "undecided"
    assert check_matrix(Matrix(definite))["p_matrix"]["verdict"] == "P"
    larger = 3.0 * np.eye(400) + np.diag(np.ones(399), 1)
    for sign, verdict in ((1, "positive definite"), (-1, "negative definite")):
        found = check_matrix(Matrix(sign * larger))["definiteness"]
        assert (found["verdict"], found["exact"]) == (verdict, True)


def test_the_bounded_cholesky_test_is_never_wrong():
    """Two by two around the boundary, against the exact minor of the symmetric part."""
    rng = np.random.default_rng(8)
    proved = 0
    for _ in range(500):
        a, b = rng.uniform(1, 2, 2)
        M = np.array([[a, b], [b, b * b / a * (1 + rng.choice([0, 1e-16, -1e-16, 1e-15, 1e-13, 1e-12]))]])
        if proved_positive_definite(M):
            proved += 1
            assert Fraction(M[0, 0]) * Fraction(M[1, 1]) > Fraction(b) ** 2
    assert 0 < proved < 500
    assert not proved_positive_definite(np.array([[1e-320, 0], [0, 1]]))
    assert not proved_positive_definite(np.array([[1, 1e300], [-1e300, 1]]) * 1e-100)


def test_definiteness_refuses_a_rectangle():
    with pytest.raises(DataError, match="2 x 3"):
        definiteness(Matrix(np.ones((2, 3))))


# The whole


def samples():
    rng = np.random.default_rng(9)
    cycle = np.eye(5) - 1.5 * np.roll(np.eye(5), 1, axis=1)
    return {
        "P, definite": Matrix(np.array([[2.0, 1], [-1, 2]])),
        "P by minors": Matrix(np.array([[1.0, 5], [0, 1]])),
        "not P": Matrix(cycle),
        "ones": Matrix(np.ones((2, 2))),
        "as written": Matrix(np.array([[1, -4 / 3], [-0.75, 1]]), ("1 -4/3", "-0.75 1")),
        "zero": Matrix(np.zeros((3, 3))),
        "one": Matrix(np.array([[3.0]])),
        "wide": Matrix(rng.standard_normal((2, 4))),
        "tall": Matrix(rng.standard_normal((4, 2))),
        "random": Matrix(rng.standard_normal((14, 14)) + 4 * np.eye(14)),
        "huge": Matrix(np.array([[1e308, 1e308], [-1e308, 1e308]])),
        "tiny": Matrix(np.array([[5e-324, 0], [1e308, 5e-324]])),
        "undecided": Matrix(np.eye(61) + 1.999 * np.roll(np.eye(61), 1, axis=1)),
        "P by dominance": Matrix(np.tril(10.0 ** rng.uniform(-8, 8, (24, 24)))),
        "large": Matrix(rng.standard_normal((300, 300))),
    }


@pytest.mark.parametrize("name", samples())
def test_json_round_trip_and_page(name):
    result = check_matrix(samples()[name], seconds=0.2)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    page = to_text(result)
    assert max(map(len, page.splitlines())) <= 80
    assert page.isascii()
    assert to_text(json.loads(json.dumps(result))) == page
    assert " ".join(page.split()).endswith(result["in_words"])


def test_what_a_check_says():
    found = {name: check_matrix(matrix, seconds=0.2) for name, matrix in samples().items() if name != "large"}
    assert found["P, definite"]["p_matrix"]["proof"].startswith("the symmetric part is positive definite")
    assert "exactly one solution for every q" in found["P, definite"]["in_words"]
    assert found["P by minors"]["definiteness"]["verdict"] == "indefinite"
    assert found["P by minors"]["p_matrix"]["verdict"] == "P"
    assert found["not P"]["p_matrix"]["witness"]["index_set"] == [0, 1, 2, 3, 4]
    assert "no solution or several" in found["not P"]["in_words"]
    assert "proof" not in found["not P"]["p_matrix"]
    assert found["ones"]["p_matrix"]["witness"] == {
        "index_set": [0, 1],
        "minor": "0",
        "sign_reversal": ["-1", "1"],
    }
    assert "A solution exists for every q" in found["ones"]["in_words"]
    assert (found["as written"]["rank"]["exact"], found["as written"]["p_matrix"]["witness"]["minor"]) == (1, "0")
    assert found["P by dominance"]["p_matrix"]["verdict"] == "P"
    assert found["undecided"]["p_matrix"]["verdict"] == "undecided"
    assert "out of time" in found["undecided"]["p_matrix"]["reason"]
    assert "undecided" in found["undecided"]["in_words"]
    # A distance of zero would say that it is no P-matrix.
    unknown = found["undecided"]
    assert unknown["distance_to_non_p"] is unknown["distance_to_degenerate"] is unknown["beta_2"] is None
    assert "distance" not in to_text(unknown)
    assert found["wide"]["p_matrix"] is found["wide"]["definiteness"] is found["wide"]["symmetric"] is None
    assert "2 x 4" in found["wide"]["in_words"]


# The matrices whose distance was false when it came from doubles.
NEAR = [
    (("0.100000000000000000000000000001 0.1", "0.1 0.1"), "5e-31", "2e+30"),
    (("1 1", "1 4503599627370497/4503599627370496"), "1.11022e-16", "9.0072e+15"),
]


@pytest.mark.parametrize(("rows", "distance", "beta_2"), NEAR)
def test_the_distance_is_that_of_the_exact_decimals(rows, distance, beta_2):
    matrix = matrix_of([row.split() for row in rows], "M")
    result = check_matrix(matrix, q=matrix_of([["1"], ["-1"]], "q"))
    text, page = to_text(result), render(result, "M", {})
    assert f"distance          {distance} to the nearest matrix that is not P" in text
    assert f"beta_2            {beta_2}: " in text
    assert f"{distance} in the 2-norm, enclosed" in page
    entry = result["distance_to_non_p"]
    assert entry == result["distance_to_degenerate"]
    assert 0 < entry["lower"] <= entry["upper"] < entry["lower"] * (1 + 1e-9)
    assert result["beta_2"]["lower"] <= 1 / entry["lower"] * (1 + 1e-15)
    assert result["beta_2"]["upper"] >= 1 / entry["upper"] * (1 - 1e-15)


def test_solvers_tell_how_far_they_are_from_the_solution_of_a_p_matrix():
    M, q = Matrix(np.array([[2.0, 1], [-1, 2]])), Matrix(np.array([[-1.0], [-1.7]]))
    result = check_matrix(M, q=q)
    bounds = {s["name"]: s["error_bound"] for s in result["solvers"] if s["verified"]}
    exact = [float(Fraction(x)) for x in result["solutions"]["points"][0]]
    assert {"lemke", "murty", "pgs"} <= set(bounds)
    assert {s["name"] for s in result["solvers"]} == {x.name for x in map(find_solver, METHODS) if "LCP" in x.solves}
    for solver in result["solvers"]:
        if solver["verified"]:
            assert np.linalg.norm(np.subtract(solver["z"], exact)) <= solver["error_bound"] + 1e-16 < 1e-8
    assert result["alpha_2"]["lower"] >= 1
    assert "of the solution" in " ".join(to_text(result).split())
    assert "distance to the solution" in render(result, "M", {})
    nothing = check_matrix(Matrix(np.array([[1.0, 2], [2, 1]])), q=q)
    assert nothing["alpha_2"] is nothing["beta_2"] is None
    assert {s["error_bound"] for s in nothing["solvers"]} == {None}
    assert nothing["distance_to_non_p"]["upper"] == 0.0 < nothing["distance_to_degenerate"]["lower"] <= 1.0
    assert "1 to the nearest singular principal minor" in to_text(nothing)


def test_an_undecided_matrix_has_no_distance_to_others():
    """That of its principal minors may still be known; it is that to the non-P matrices only if it is P."""
    rng = np.random.default_rng(1)
    result = check_matrix(Matrix(rng.normal(size=(14, 14)) + 4 * np.eye(14) + 9 * np.eye(14, k=1)), seconds=0.0)
    assert result["p_matrix"]["verdict"] == "undecided"
    assert result["distance_to_non_p"] is result["beta_2"] is None
    assert result["distance_to_degenerate"]["upper"] > 0


def test_an_enclosure_is_one_number_where_its_digits_agree():
    assert enclosure_text({"lower": 0.1234564, "upper": 0.1234566}) == "0.123456 to 0.123457"
    assert enclosure_text({"lower": 0.1234561, "upper": 0.1234562}) == "0.123456"
    assert enclosure_text({"lower": 0.129, "upper": 0.251}, 2) == "0.12 to 0.26"
    assert enclosure_text({"lower": 0.0, "upper": 0.0}) == "0"
    assert enclosure_text({"lower": 0.0, "upper": 1 / 3}, 3) == "at most 0.334"
    assert enclosure_text({"lower": 2 / 3, "upper": None}, 3) == "at least 0.666"


def test_page_shows_short_exact_numbers_and_rounds_long_ones():
    assert "is -1/3\n" in to_text(check_matrix(Matrix(np.array([[-1 / 3]]), ("-1/3",))))
    long = to_text(check_matrix(Matrix(np.array([[-1 / 3]]))))
    assert "is ~-0.333333\n" in long


def test_symmetry_is_measured_relative_to_the_entries():
    result = check_matrix(Matrix(np.array([[2.0, 1], [1 + 1e-13, 2]]) * 1e9))
    assert result["symmetric"] is True
    assert result["asymmetry"] == pytest.approx(5e-14, rel=1e-2)
    assert check_matrix(Matrix(np.array([[2.0, 1], [1.001, 2]])))["symmetric"] is False
