"""P verdicts against brute force in fractions, against how the matrix was built, and under the known invariances."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.proofs import verified
from workbench.matrices.p_property.minors import _prove_positive
from workbench.matrices.p_property.verdict import p_verdict, smallest_minor
from workbench.readers.matrix import Matrix
from workbench.support.errors import DataError


def exact(rows) -> fmpq_mat:
    """Rows of ints, floats (their exact value), Fractions or "p/q" strings as a rational matrix."""
    table = [[Fraction(x) if isinstance(x, str) else Fraction(*x.as_integer_ratio()) for x in row] for row in rows]
    return fmpq_mat(len(table), len(table[0]), [fmpq(x.numerator, x.denominator) for row in table for x in row])


def fractions(M: fmpq_mat) -> list[list[Fraction]]:
    return [[Fraction(int(x.p), int(x.q)) for x in row] for row in M.tolist()]


def determinant(A: list[list[Fraction]]) -> Fraction:
    """Gaussian elimination in Fractions; shares nothing with the code under test."""
    A, value = [row[:] for row in A], Fraction(1)
    for k in range(len(A)):
        row = next((i for i in range(k, len(A)) if A[i][k] != 0), None)
        if row is None:
            return Fraction(0)
        if row != k:
            A[k], A[row], value = A[row], A[k], -value
        value *= A[k][k]
        for i in range(k + 1, len(A)):
            f = A[i][k] / A[k][k]
            A[i] = [x - f * y for x, y in zip(A[i], A[k], strict=True)]
    return value


def minors(M: fmpq_mat) -> dict[tuple[int, ...], Fraction]:
    A, n = fractions(M), M.nrows()
    sets = (a for k in range(1, n + 1) for a in itertools.combinations(range(n), k))
    return {a: determinant([[A[i][j] for j in a] for i in a]) for a in sets}


def assert_witness(M: fmpq_mat, verdict) -> None:
    A, a = fractions(M), verdict.index_set
    assert Fraction(verdict.minor) == determinant([[A[i][j] for j in a] for i in a]) <= 0
    x = [Fraction(value) for value in verdict.sign_reversal]
    assert any(x)
    assert all(x[i] * sum((m * y for m, y in zip(row, x, strict=True)), Fraction(0)) <= 0 for i, row in enumerate(A))


def h_plus(rng, n: int) -> np.ndarray:
    """Strictly row dominant with positive diagonal, then scaled so that its symmetric part is not definite."""
    A = rng.standard_normal((n, n))
    np.fill_diagonal(A, 0)
    A *= 0.98 / (np.abs(A).sum(axis=1, keepdims=True) + 1e-300)
    np.fill_diagonal(A, 1)
    return A * 100.0 ** np.arange(n)[:, None] * np.exp(rng.standard_normal(n))


def m_matrix(rng, n: int) -> np.ndarray:
    """s I - B with B >= 0 and s above the spectral radius of B."""
    B = rng.random((n, n))
    return 1.01 * np.abs(np.linalg.eigvals(B)).max() * np.eye(n) - B


def definite(rng, n: int) -> np.ndarray:
    """Positive definite symmetric part with a large skew one."""
    G, K = rng.standard_normal((2, n, n))
    return G @ G.T + 0.1 * np.eye(n) + 3 * (K - K.T)


def principal_pivot(M: fmpq_mat, a: list[int]) -> fmpq_mat:
    """The principal pivotal transform on a, which exchanges z_a and w_a in w = M z."""
    n = M.nrows()
    identity = fmpq_mat(n, n, [fmpq(i == j) for i in range(n) for j in range(n)])
    # w = M z as (basic)(w_b, z_a) = (rest)(z_b, w_a).
    basic = fmpq_mat(n, n, [-M[i, j] if j in a else identity[i, j] for i in range(n) for j in range(n)])
    rest = fmpq_mat(n, n, [-identity[i, j] if j in a else M[i, j] for i in range(n) for j in range(n)])
    return basic.inv() * rest


def boundary_sample(rng, n: int) -> fmpq_mat:
    """Small integers around a diagonal that makes P and not P about equally frequent; zero minors occur."""
    return exact((rng.integers(-3, 4, (n, n)) + (n + 1) * np.eye(n, dtype=int) // 2 + np.eye(n, dtype=int)).tolist())


@pytest.mark.parametrize("build", [h_plus, m_matrix, definite])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_matrices_built_to_be_p(build, n):
    verdict = p_verdict(exact(build(np.random.default_rng(n), n).tolist()))
    assert verdict.verdict == "P"
    assert verdict.proof
    assert verdict.index_set is verdict.minor is verdict.sign_reversal is verdict.reason is None


def test_agrees_with_brute_force_in_fractions():
    rng = np.random.default_rng(10)
    seen = set()
    for _ in range(80):
        M = boundary_sample(rng, int(rng.integers(1, 7)))
        verdict, truth = p_verdict(M), minors(M)
        failing = [a for a, value in truth.items() if value <= 0]
        assert verdict.verdict == ("not P" if failing else "P")
        seen.add((verdict.verdict, verdict.minor == "0"))
        if failing:
            assert len(verdict.index_set) == len(failing[0])
            assert_witness(M, verdict)
    assert seen == {("P", False), ("not P", False), ("not P", True)}


def test_every_minor_of_a_p_matrix_is_counted():
    verdict = p_verdict(exact(h_plus(np.random.default_rng(11), 7).tolist()))
    assert verdict.minors_checked == 2**7 - 1


def test_smallest_relative_minor_matches_brute_force():
    for seed in range(5):
        M = exact(h_plus(np.random.default_rng(seed), 6).tolist())
        truth = minors(M)
        relative = {a: value / np.prod([truth[i,] for i in a]) for a, value in truth.items()}
        assert p_verdict(M).smallest_relative_minor == pytest.approx(float(min(relative.values())), rel=1e-9)


@pytest.mark.parametrize("sign", [-1, 0])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_planted_minor_is_found(size, sign):
    """I minus a weighted cycle has determinant 1 - weight^size, and every smaller principal minor of it is 1."""
    rng, n = np.random.default_rng(20 + size), 9
    planted = sorted(rng.choice(n, size, replace=False).tolist())
    M = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    weight = Fraction(1) if sign == 0 else 1 + Fraction(1, 10**9)
    for i, j in zip(planted, planted[1:] + planted[:1], strict=True):
        M[i][j] -= weight
    # Rows and columns in different units, and entries that no cycle sees: one-way couplings out of the block.
    outside = [i for i in range(n) if i not in planted]
    for i, j in itertools.product(planted, outside):
        M[i][j] = Fraction(int(rng.integers(-5, 6)))
    d, e = (rng.integers(1, 1000, n).tolist() for _ in range(2))
    M = [[Fraction(d[i], e[j]) * M[i][j] for j in range(n)] for i in range(n)]
    verdict = p_verdict(exact(M))
    assert verdict.verdict == "not P"
    assert verdict.index_set == tuple(planted)
    assert np.sign(Fraction(verdict.minor)) == sign
    assert_witness(exact(M), verdict)


@pytest.mark.parametrize(
    ("rows", "truth"),
    [
        ([[1, 1], [1, 1]], "not P"),
        ([[1, "-4/3"], ["-3/4", 1]], "not P"),
        ([[1, "-4/3"], ["-3/4", "1000000000000000000001/1000000000000000000000"]], "P"),
        ([[1, "-4/3"], ["3/4", 1]], "P"),
        ([["1/3", "1/3"], ["1/3", "1/3"]], "not P"),
        ([[0, 1], [-1, 0]], "not P"),
        ([[1, -3, 0], [0, 1, -3], [-3, 0, 1]], "not P"),
    ],
)
def test_rationals_on_the_boundary(rows, truth):
    assert p_verdict(exact(rows)).verdict == truth


def test_decimals_mean_what_they_say():
    """0.1 * 3 != 0.3 in doubles; as written, the determinant is exactly zero."""
    written = Matrix(np.array([[0.1, 0.3], [0.1, 0.3]]), ("0.1 0.3", "1/10 3/10"))
    assert p_verdict(written.exact).minor == "0"


def test_near_singular_matrices_that_floats_misjudge():
    """Rank-one plus one unit in the last place: the computed determinant has a random sign, the verdict must not."""
    rng = np.random.default_rng(30)
    wrong = 0
    for _ in range(40):
        a, b = rng.uniform(1, 2, 2)
        M = np.array([[a, b], [a * b, b * b]])
        M[1, 1] = np.nextafter(M[1, 1], rng.choice([0.0, 9.0]))
        truth = Fraction(M[0, 0]) * Fraction(M[1, 1]) - Fraction(M[0, 1]) * Fraction(M[1, 0])
        assert p_verdict(exact(M.tolist())).verdict == ("P" if truth > 0 else "not P")
        wrong += (np.linalg.det(M) > 0) != (truth > 0)
    assert wrong > 0


def test_screen_never_proves_a_minor_that_is_not_positive():
    """Cycles whose minor is within a few units of the last place of zero, either side, in sizes 2 to 6."""
    rng = np.random.default_rng(31)
    proved = 0
    for _ in range(60):
        k = int(rng.integers(2, 7))
        A = np.eye(k)
        A[np.arange(k), (np.arange(k) + 1) % k] = -1 - rng.choice([-1e-3, 1e-3, -1e-15, 1e-15, 0.0, 1e-12, -1e-12], k)
        positive, relative = np.empty(1, dtype=np.int64), np.empty(1)
        _prove_positive(A, np.arange(k, dtype=np.int64)[None, :], positive, relative)
        truth = determinant(fractions(exact(A.tolist())))
        if positive[0]:
            assert truth > 0
            assert relative[0] == pytest.approx(float(truth), rel=1e-6)
        proved += int(positive[0])
    assert proved > 0


def test_verdict_is_invariant():
    """Under positive row and column scaling, a common permutation, transposition and principal pivoting."""
    rng = np.random.default_rng(40)
    seen = set()
    for _ in range(30):
        n = 5
        M = boundary_sample(rng, n)
        verdict = p_verdict(M).verdict
        seen.add(verdict)
        d, e = ([fmpq(int(x), 7) for x in rng.integers(1, 10**6, n)] for _ in range(2))
        order = rng.permutation(n).tolist()
        others = [
            fmpq_mat(n, n, [d[i] * M[i, j] * e[j] for i in range(n) for j in range(n)]),
            fmpq_mat(n, n, [M[i, j] for i in order for j in order]),
            M.transpose(),
        ]
        a = sorted(rng.choice(n, int(rng.integers(1, n + 1)), replace=False).tolist())
        if fmpq_mat(len(a), len(a), [M[i, j] for i in a for j in a]).det() > 0:
            others.append(principal_pivot(M, a))
        assert {p_verdict(other).verdict for other in others} == {verdict}
    assert seen == {"P", "not P"}


def test_entries_beyond_doubles():
    """The scaled matrix overflows a double, so that exact arithmetic has to decide alone."""
    assert p_verdict(exact([["1", "1" + "0" * 400], ["0", "1"]])).verdict == "P"
    verdict = p_verdict(exact([["1", "1" + "0" * 400], ["1", "1"]]))
    assert (verdict.verdict, verdict.smallest_relative_minor) == ("not P", -np.inf)


def test_time_limit_is_undecided_with_what_was_done():
    """Not diagonally stable, irreducible, with a tree that no single look at the clock sees through."""
    n = 61
    verdict = p_verdict(exact((np.eye(n) + 1.999 * np.roll(np.eye(n), 1, axis=1)).tolist()), seconds=0)
    assert verdict.verdict == "undecided"
    assert "out of time" in verdict.reason
    assert verdict.proof is verdict.index_set is None


def test_ones_and_a_speck_on_the_diagonal_defeat_every_error_bound_and_are_decided_all_the_same():
    n, speck = 16, Fraction(1, 10**20)
    rows = [[100**i * (1 + speck * (i == j)) for j in range(n)] for i in range(n)]
    verdict = p_verdict(exact(rows))
    assert verdict.verdict == "P"
    assert verified(exact(rows), verdict)


def test_a_block_triangular_matrix_is_what_its_blocks_are():
    rng = np.random.default_rng(4)
    for bad in (False, True):
        blocks = [np.eye(n) + 1.7 * np.roll(np.eye(n), 1, axis=1) for n in (5, 7, 9)]
        if bad:
            blocks[1] = np.array([[1.0, 2.0], [2.0, 1.0]])
        n = sum(map(len, blocks))
        M, start = np.triu(10.0 ** rng.uniform(-8, 8, (n, n)), 1), 0
        for b in blocks:
            M[start : start + len(b), start : start + len(b)] = b
            start += len(b)
        shuffle = rng.permutation(n)
        M = M[np.ix_(shuffle, shuffle)]
        verdict = p_verdict(exact(M.tolist()))
        assert verdict.verdict == ("not P" if bad else "P")
        assert verified(exact(M.tolist()), verdict)
        if not bad:
            assert sorted(len(block) for block, _ in verdict.tree[1]) == [5, 7, 9]


def test_p_verdict_refuses_a_rectangle():
    with pytest.raises(DataError, match="2 x 3"):
        p_verdict(fmpq_mat(2, 3))


def test_smallest_minor_of_a_batch():
    rng = np.random.default_rng(60)
    D = rng.integers(-3, 4, (4, 3, 5, 5)) + 3.0 * np.eye(5)
    values = smallest_minor(D)
    assert values.shape == (4, 3)
    for where in np.ndindex(4, 3):
        truth = min(minors(exact(D[where].tolist())).values())
        assert values[where] == pytest.approx(float(truth), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (9, 9), (4, 0, 0)])
def test_smallest_minor_refuses(shape):
    with pytest.raises(DataError, match="r <= 8"):
        smallest_minor(np.zeros(shape))
