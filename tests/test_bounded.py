"""One solution for every q of a problem with bounds: both tests against an enumeration of faces in fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.proofs import verified
from workbench.engine.timing import clock
from workbench.matrices.p_property.bounded import natural_test, pattern, reduced_test, reverses, two_solutions
from workbench.matrices.p_property.witness import schur_complement
from workbench.support.errors import DataError

LARGEST_NATURAL = 12

INF = np.inf


def random_box(rng, n):
    """Bounds of every kind: free, below, above, both, fixed."""
    lower, upper = np.full(n, -INF), np.full(n, INF)
    for i, kind in enumerate(rng.integers(5, size=n)):
        low = float(rng.integers(-2, 2))
        if kind in (1, 3, 4):
            lower[i] = low
        if kind in (2, 3, 4):
            upper[i] = low + (kind == 3) * rng.integers(1, 4) / 2
    return lower, upper


def solved(A, b):
    """The x with A x = b; None where A is singular. Fractions, Gauss and Jordan."""
    rows = [[*map(Fraction, row), Fraction(c)] for row, c in zip(A, b, strict=True)]
    for k in range(len(rows)):
        p = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if p is None:
            return None
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def solves(M, q, lower, upper, z):
    """Whether z solves the problem, by definition."""
    w = [sum(a * x for a, x in zip(row, z, strict=True)) + c for row, c in zip(M, q, strict=True)]
    return all(
        low <= x <= high and (y <= 0 or x == low) and (y >= 0 or x == high)
        for x, y, low, high in zip(z, w, lower, upper, strict=True)
    )


def solutions(M, q, lower, upper):
    """All solutions, by the 3^n faces; None where a face's equations are singular."""
    n, found = len(q), set()
    for face in product(("low", "between", "high"), repeat=n):
        at = {i: lower[i] if s == "low" else upper[i] for i, s in enumerate(face) if s != "between"}
        if any(np.isinf(x) for x in at.values()):
            continue
        if any(s == "between" and lower[i] == upper[i] for i, s in enumerate(face)):
            continue
        a = [i for i in range(n) if i not in at]
        rest = [-q[i] - sum(M[i][j] * Fraction(x) for j, x in at.items()) for i in a]
        part = solved([[M[i][j] for j in a] for i in a], rest)
        if part is None:
            return None
        z = dict(zip(a, part, strict=True)) | {i: Fraction(x) for i, x in at.items()}
        z = tuple(z[i] for i in range(n))
        if solves(M, q, lower, upper, z):
            found.add(z)
    return found


def as_fractions(x):
    return [Fraction(int(v.p), int(v.q)) for v in x]


def random_matrix(rng, n, kind):
    """Entries of any sign; or with a positive definite part, so that unique ones are not rare; or of low rank."""
    A = rng.integers(-2, 3, (n, n))
    if kind == 1:
        K = rng.integers(-1, 2, (n, n))
        return A @ A.T + np.eye(n, dtype=int) + K - K.T
    if kind == 2:
        return A[:, :1] @ rng.integers(-2, 3, (1, n))
    return A + np.diag(rng.integers(0, 3, n))


@pytest.mark.thorough
def test_both_tests_agree_and_are_right_by_the_faces():
    rng = np.random.default_rng(1)
    count = {"unique": 0, "not unique": 0}
    for k in range(300):
        n = int(rng.integers(1, 5))
        A = random_matrix(rng, n, k % 3)
        lower, upper = random_box(rng, n)
        M, kinds = fmpq_mat(A.tolist()), pattern(lower, upper)
        found = [reduced_test(M, kinds, 10.0), natural_test(M, kinds, clock() + 10)]
        assert found[0].verdict == found[1].verdict, (A, lower, upper)
        count[found[0].verdict] += 1
        rows = A.tolist()
        if found[0].verdict == "unique":
            for _ in range(2):
                q = rng.integers(-4, 5, n).tolist()
                assert len(solutions(rows, q, lower, upper)) == 1, (A, lower, upper, q)
            assert not kinds.bounded or verified(schur_complement(M, kinds.free, kinds.bounded), found[0].p)
        for one in found if found[0].verdict == "not unique" else ():
            assert reverses(M, kinds, one.reversal)
            q, z, other = map(as_fractions, two_solutions(M, lower, upper, one.reversal))
            assert z != other
            assert solves(rows, q, lower, upper, z)
            assert solves(rows, q, lower, upper, other)
    assert min(count.values()) > 100


def test_only_the_signs_of_free_equations_may_be_negative():
    """One equation multiplied by -1: still one solution for every q, all determinants negative."""
    M = fmpq_mat([[2, 0, -1], [0, -2, -1], [1, 1, 3]])
    kinds = pattern(np.array([-INF, -INF, 0.0]), np.full(3, INF))
    assert "< 0" in natural_test(M, kinds, clock() + 10).proof
    everything_bounded = pattern(np.zeros(3), np.full(3, INF))
    assert reduced_test(M, everything_bounded, 10.0).verdict == "not unique"


def test_what_bounds_fix_does_not_count():
    M = fmpq_mat([[1, 5], [5, -3]])
    lower, upper = np.array([0.0, 2.0]), np.array([1.0, 2.0])
    kinds = pattern(lower, upper)
    assert kinds.fixed == (1,)
    assert reduced_test(M, kinds, 10.0).verdict == natural_test(M, kinds, clock() + 10).verdict == "unique"
    assert reduced_test(M, pattern(lower, upper + 1), 10.0).verdict == "not unique"
    for nothing in (kinds.__class__((), (0, 1), ()), kinds.__class__((0,), (1,), ())):
        assert reduced_test(M, nothing, 10.0).verdict == natural_test(M, nothing, clock() + 10).verdict == "unique"


def test_a_certificate_is_judged_by_itself():
    M, kinds = fmpq_mat([[0, 1], [-1, 0]]), pattern(np.array([-INF, 0.0]), np.full(2, INF))
    assert reverses(M, kinds, [fmpq(1), fmpq(0)])
    # M x is not zero on the free unknown; nothing; too short; z_0 may not move where it is fixed.
    assert not reverses(M, kinds, [fmpq(0), fmpq(1)])
    assert not reverses(M, kinds, [fmpq(0), fmpq(0)])
    assert not reverses(M, kinds, [fmpq(1)])
    assert not reverses(M, kinds.__class__((), (0,), (1,)), [fmpq(1), fmpq(0)])
    assert not reverses(fmpq_mat([[1]]), kinds.__class__((), (), (0,)), [fmpq(1)])


@pytest.mark.parametrize(("low", "high"), [(1.0, 0.0), (INF, INF), (-INF, -INF), (np.nan, 1.0)])
def test_bounds_without_a_number_between_are_refused(low, high):
    with pytest.raises(DataError, match=r"lower\[1\]"):
        pattern(np.array([0.0, low]), np.array([1.0, high]))


def test_what_takes_too_long_is_undecided():
    n = LARGEST_NATURAL + 1
    many = natural_test(fmpq_mat(np.eye(n, dtype=int).tolist()), pattern(np.zeros(n), np.full(n, INF)), clock() + 10)
    late = natural_test(fmpq_mat([[1]]), pattern(np.zeros(1), np.ones(1)), clock() - 1)
    assert (many.verdict, late.verdict) == ("undecided", "undecided")
    assert f"2^{n}" in many.reason
    assert "time" in late.reason


def test_two_solutions_lie_within_narrow_bounds():
    """The certificate's entries are longer than the box is wide, so both solutions need a part of it only."""
    rows, lower, upper = [[1, 3], [1, 1]], np.zeros(2), np.array([0.5, 0.25])
    found = reduced_test(fmpq_mat(rows), pattern(lower, upper), 10.0)
    assert found.verdict == "not unique"
    assert max(abs(x) for x in found.reversal) > 1
    q, z, other = map(as_fractions, two_solutions(fmpq_mat(rows), lower, upper, found.reversal))
    assert z != other
    assert solves(rows, q, lower, upper, z)
    assert solves(rows, q, lower, upper, other)
