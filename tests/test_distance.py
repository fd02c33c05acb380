"""The distance to the matrices that are not P, beta_2, alpha_2 and error bounds: enclosures of the exact numbers."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mat

import workbench as wb
from tests.distances import blocks, holds, matrices, mixtures, truth, width, written
from workbench.matrices.distances.distance import distance
from workbench.matrices.distances.error_bound import alpha_2, error_bound
from workbench.matrices.distances.index_sets import least_singular_value, principal
from workbench.matrices.distances.singular_values import (
    least_in_doubles,
    least_of_rationals,
    quotient,
    rounded_down,
    rounded_up,
)
from workbench.matrices.p_property.verdict import p_verdict
from workbench.readers.matrix import Matrix
from workbench.support.errors import DataError

ONE = fmpq(1)


def p_matrices(seed, count, largest=5):
    """Random P-matrices with their distances, every third one with a principal minor near zero."""
    rng = np.random.default_rng(seed)
    while count:
        n = int(rng.integers(1, largest + 1))
        M = rng.normal(size=(n, n)) + 1.3 * np.sqrt(n) * np.eye(n)
        if count % 3 == 0 and n > 1:
            M[:2, :2] = [[1, 1], [1, 1 + 10.0 ** -rng.integers(1, 16)]]
        matrix = Matrix(M)
        if p_verdict(matrix.exact).verdict == "P":
            count -= 1
            yield matrix, distance(matrix)


def certified(M, found):
    """Whether the certificate in a distance's entry proves its bounds, in exact arithmetic."""
    n, c = M.nrows(), found.entry()["certificate"]
    a, x = c["index_set"], [fmpq(v) for v in c["x"]]
    y = [sum((M[i, j] * v for j, v in zip(a, x, strict=True)), fmpq(0)) for i in a]
    lower, upper = fmpq(c["lower"]), fmpq(c["upper"])
    above = any(x) and sum(v * v for v in y) <= upper**2 * sum(v * v for v in x)
    if c["all_index_sets"]:
        below = all(_semidefinite(B.transpose() * B, lower) for B in blocks(M))
    elif c["diagonal"]:
        w, s = [fmpq(v) for v in c["diagonal"]["W"]], fmpq(c["diagonal"]["s"])
        rows = [[w[i] * M[i, j] + w[j] * M[j, i] - w[i] ** 2 * int(i == j) for j in range(n)] for i in range(n)]
        below = min(w) >= 0 and lower**2 <= s and _semidefinite(fmpq_mat(rows), lower)
    else:
        below = lower == 0
    return above and below


def _semidefinite(S, lower):
    """Whether S - l^2 I is positive definite for every l < lower."""
    n, l = S.nrows(), lower * (1 - fmpq(1, 10**40))
    T = S - fmpq_mat([[l * l * int(i == j) for j in range(n)] for i in range(n)])
    return lower == 0 or all(fmpq_mat([row[:k] for row in T.tolist()[:k]]).det() > 0 for k in range(1, n + 1))


def test_the_distance_is_enclosed_against_fifty_digits():
    """Among the matrices are many a hair's breadth from a singular minor; `python -m tests.distances` tries more."""
    near = 0
    for kind, matrix in matrices(0, 240):
        found = distance(matrix)
        lower, upper = found.enclosure.lower, found.enclosure.upper
        value = truth(blocks(matrix.exact))
        assert holds(lower, value, upper), (kind, matrix.exact)
        assert width(lower, upper) <= 1e-9
        near += 0 < float(value) < 1e-15 * np.abs(matrix.values).max()
    assert near > 60


@pytest.mark.parametrize(
    ("text", "first_digits"),
    [
        ("[0.100000000000000000000000000001 0.1; 0.1 0.1]", "5e-31"),
        (f"[1 1; 1 {1 + 2.0**-52:.52f}]", "1.11022302462516e-16"),
        ("[1 1e-200; 0 1e-290]", "1e-290"),
        ("[2 1; 1 2]", "1"),
    ],
)
def test_known_distances_of_decimals(text, first_digits):
    """The first two were false by orders of magnitude, or by a tenth, when they were computed from doubles."""
    found = distance(wb.check(text).matrix).enclosure
    assert f"{rounded_up(found.upper):.15g}" == first_digits
    assert width(found.lower, found.upper) < 1e-12


def test_known_values_of_beta_2():
    for M, beta in (
        ([[1, -3], [0, 1]], (3 + np.sqrt(13)) / 2),
        ([[1, 2, 0], [0, 1, 2], [2, 0, 1]], 1 + np.sqrt(2)),
    ):
        found = distance(Matrix(np.array(M))).beta_2.entry()
        assert found["lower"] <= beta * (1 + 1e-15)
        assert found["upper"] >= beta * (1 - 1e-15)
        assert found["upper"] - found["lower"] < 1e-9 * beta


def test_certificates_hold_in_exact_arithmetic():
    rng = np.random.default_rng(2)
    found = [(matrix.exact, distance(matrix)) for _, matrix in matrices(3, 60)]
    for n in (15, 22):
        for M in (rng.normal(size=(n, n)) + 1.4 * np.sqrt(n) * np.eye(n), 0.1 * np.eye(n) + np.ones((n, n))):
            matrix = Matrix(M)
            found.append((matrix.exact, distance(matrix, seconds=1.0)))
            assert found[-1][1].enclosure.lower > 0
    assert all(certified(M, d) for M, d in found)
    kinds = {(d.diagonal is not None, d.complete) for _, d in found}
    assert {(True, False), (False, True)} <= kinds


def test_no_time_is_no_excuse_for_a_false_bound():
    """Whatever the time allows, the enclosure holds, and there is one."""
    rng = np.random.default_rng(4)
    for n in (3, 9, 15, 30):
        M = rng.normal(size=(n, n)) + 0.5 * n * np.eye(n)
        matrix = Matrix(M)
        least = min(np.linalg.svd(M[np.ix_(a, a)])[1][-1] for a in itertools.combinations(range(n), 2))
        for seconds in (-1.0, 0.0, 0.02):
            found = distance(matrix, seconds).enclosure
            assert 0 <= found.lower <= found.upper
            assert rounded_down(found.lower) <= least * (1 + 1e-12)
            assert rounded_up(found.upper) <= np.abs(np.diag(M)).min() * (1 + 1e-12)


def test_the_nearest_matrix_with_a_singular_minor_is_that_near():
    for matrix, found in p_matrices(5, 20):
        a = np.ix_(found.index_set, found.index_set)
        U, s, V = np.linalg.svd(matrix.values[a])
        nearest = matrix.values.copy()
        nearest[a] -= s[-1] * np.outer(U[:, -1], V[-1])
        assert abs(np.linalg.svd(nearest[a])[1][-1]) < 1e-14 * np.linalg.norm(matrix.values)
        assert np.linalg.norm(nearest - matrix.values, 2) <= rounded_up(found.enclosure.upper) + 1e-14


def test_beta_2_is_the_lipschitz_constant_and_alpha_2_chen_and_xiangs():
    """No D in [0, 1]^n exceeds either, and vertices reach both: alpha_2 with rows of M and of the identity."""
    rng = np.random.default_rng(6)
    for matrix, found in p_matrices(7, 30):
        n, M = len(matrix.values), matrix.values
        alpha = alpha_2(matrix.exact, found)
        value = truth(mixtures(matrix.exact))
        assert holds(alpha.reciprocal.lower, value, alpha.reciprocal.upper)
        assert width(alpha.lower, alpha.upper) <= 1e-9
        inside = [np.diag(d) for d in rng.uniform(size=(50, n))]
        inverses = [(np.linalg.inv(np.eye(n) - D + D @ M), D) for D in inside]
        assert max(np.linalg.norm(K, 2) for K, _ in inverses) <= rounded_up(alpha.upper) * (1 + 1e-9)
        assert max(np.linalg.norm(K @ D, 2) for K, D in inverses) <= rounded_up(found.beta_2.upper) * (1 + 1e-9)


def solution(M, q):
    """The exact solution of the LCP of a P-matrix, by trying all bases."""
    n = len(q)
    for a in itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(n + 1)):
        z = [fmpq(0)] * n
        if a:
            B = fmpq_mat([[M[i, j] for j in a] for i in a])
            for i, value in zip(a, B.solve(fmpq_mat(len(a), 1, [-q[i] for i in a])).entries(), strict=True):
                z[i] = value
        w = (M * fmpq_mat(n, 1, z)).entries()
        if min(z) >= 0 and min(x + y for x, y in zip(w, q, strict=True)) >= 0:
            return z
    raise AssertionError("no solution")


def test_no_z_is_further_from_the_solution_than_its_error_bound():
    rng = np.random.default_rng(8)
    ratios = []
    for matrix, found in p_matrices(9, 60):
        n, M = len(matrix.values), matrix.exact
        q = [fmpq(*x.as_integer_ratio()) for x in rng.normal(size=n).tolist()]
        exact, alpha = solution(M, q), alpha_2(M, found)
        rounded = np.array([int(x.p) / int(x.q) for x in exact])
        for size in (0.0, 1e-12, 1e-3, 10.0):
            z = rounded + size * rng.normal(size=n) * (rng.uniform(size=n) < 0.7)
            bound = error_bound(M, q, z, found, alpha)
            error = sum((fmpq(*x.as_integer_ratio()) - y) ** 2 for x, y in zip(z.tolist(), exact, strict=True))
            assert fmpq(*bound.as_integer_ratio()) ** 2 >= error
            ratios.append(bound / float(arb(error).sqrt()) if error else 1.0)
    assert np.median(ratios) < 10


def test_an_exact_solution_has_no_error_and_a_scaled_one_the_least_bound():
    M, q = fmpq_mat([[2, 0], [0, 1]]), [fmpq(-4), fmpq(1)]
    found = distance(Matrix(np.diag([2.0, 1.0])))
    alpha = alpha_2(M, found)
    assert error_bound(M, q, [2.0, 0.0], found, alpha) == 0.0
    assert error_bound(M, q, [3.0, 0.0], found, alpha) == pytest.approx(2.0)
    assert error_bound(M, q, [3.0, 0.0], found, replace(alpha, lower=ONE, upper=None)) == pytest.approx(2.0)
    with pytest.raises(DataError, match="2 finite ones"):
        error_bound(M, q, [np.nan, 0.0], found, alpha)


def test_without_a_lower_bound_there_is_no_error_bound():
    M = Matrix(np.array([[1.0, 40.0], [0.0, 1.0]]))
    found = distance(M)
    nothing = replace(found, enclosure=replace(found.enclosure, lower=fmpq(0)))
    assert nothing.beta_2.upper is None
    assert (
        error_bound(M.exact, [ONE, ONE], [0.5, 0.5], nothing, replace(found.enclosure, lower=ONE, upper=None)) is None
    )
    alpha = alpha_2(M.exact, nothing)
    assert holds(alpha.reciprocal.lower, truth(mixtures(M.exact)), alpha.reciprocal.upper)


def test_bounds_in_doubles_stay_below_however_singular_the_matrices_are():
    rng = np.random.default_rng(10)
    for k in (1, 2, 4):
        A = rng.uniform(-1, 1, (40, k, k))
        if k > 1:
            A[:20, -1] = A[:20, 0] * (1 + rng.integers(-2, 3, (20, 1)) * 2.0**-52)
        lower, _ = least_in_doubles(A)
        for B, bound in zip(A, lower.tolist(), strict=True):
            exact = least_of_rationals(Matrix(B).exact)
            assert fmpq(*bound.as_integer_ratio()) <= exact.upper
        assert (lower[20:] > 0).all()


def test_the_vector_of_a_bound_gives_it():
    for _, matrix in matrices(11, 30):
        found = least_of_rationals(matrix.exact)
        assert found.lower <= found.upper == quotient(matrix.exact, found.x)


def test_the_vector_has_the_bits_that_it_needs():
    """x gives an upper bound as sharp as the lower one, however many digits cancel."""
    for digits in (20, 38, 39, 40, 60, 200):
        M = fmpq_mat([[3, 1, 2], [1, 1, 1], [4, 2, 3]]) + fmpq(1, 10**digits) * fmpq_mat(
            [[0, 0, 0], [0, 7, 0], [1, 0, 3]]
        )
        found = least_of_rationals(M)
        assert 0 < found.lower < fmpq(10) ** (1 - digits)
        assert width(found.lower, found.upper) <= 1e-10


def test_a_search_cut_short_is_not_taken_for_a_proof():
    """The set that matters comes last: nothing of what was seen before bounds alpha_2 from above, nor the distance."""
    n = 12
    M = Matrix(np.eye(n) - (1 - 1e-6) / n * np.ones((n, n)))
    least = np.linalg.svd(M.values)[1][-1]
    short = least_singular_value(principal(M.exact), -math.inf, fmpq(0))
    assert not short.complete
    assert short.lower == 0
    found = distance(M)
    nothing = replace(found, enclosure=replace(found.enclosure, lower=fmpq(0)))
    assert alpha_2(M.exact, nothing, seconds=-1.0).upper is None
    assert rounded_up(alpha_2(M.exact, found, seconds=-1.0).upper) >= (1 - 1e-9) / least


def test_doubles_around_a_rational():
    tenth = fmpq(1, 10)
    down, up = rounded_down(tenth), rounded_up(tenth)
    assert up == np.nextafter(down, 1)
    assert fmpq(*down.as_integer_ratio()) < tenth < fmpq(*up.as_integer_ratio())
    assert rounded_down(ONE) == rounded_up(ONE) == 1.0
    huge, tiny = fmpq(10) ** 400, fmpq(1, 10**400)
    assert (rounded_down(huge), rounded_up(huge)) == (np.finfo(float).max, np.inf)
    assert (rounded_down(tiny), rounded_up(tiny)) == (0.0, 5e-324)
    assert str(rounded_up(fmpq(0))) == "0.0"
    with ctx.workprec(200):
        assert arb(fmpq(*up.as_integer_ratio())) > arb(tenth)


@pytest.mark.parametrize("rows", [[[0]], [[0, 0], [0, 0]], [[1, 1], [1, 1]], [[0, 1], [1, 0]]])
def test_a_singular_minor_is_at_no_distance(rows):
    found = distance(written([[fmpq(x) for x in row] for row in rows]))
    assert found.enclosure.lower == found.enclosure.upper == 0
    assert certified(fmpq_mat(rows), found)


def test_a_distance_needs_a_square_matrix():
    with pytest.raises(DataError, match="2 x 3"):
        distance(Matrix(np.ones((2, 3))))
