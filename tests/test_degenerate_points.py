"""Derivatives at degenerate solutions: a small draw of `tests.degenerate_points`, and exact ones in rationals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.degenerate_points import DIRECTIONS, KINK, POINTS, SMOOTH, examine
from workbench.derivatives.modes import SetMode
from workbench.derivatives.sensitivity import sensitivity_of
from workbench.problems.classes import LCP


@pytest.mark.thorough
@pytest.mark.parametrize("kind", list(POINTS))
def test_one_sided_derivatives_are_those_of_differences(kind):
    fates, worst, lines = examine(kind, 10, seed=1)
    assert fates["wrong"] == fates["refused"] == fates[SMOOTH] == 0, lines
    assert fates["agreed"] >= 9 * DIRECTIONS
    assert 0.0 < worst <= 1e-6


def solved(A, b):
    """x of A x = b in rationals, None where A is singular."""
    n = len(b)
    rows = [[*A[i], b[i]] for i in range(n)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def complementary(M, q, inside, still):
    """All z in rationals with z = 0 on `still`, (M z + q) = 0 on `inside`, and z >= 0 complementary to it elsewhere."""
    n, found = len(q), []
    open_ = [i for i in range(n) if i not in inside and i not in still]
    for choice in product((False, True), repeat=len(open_)):
        a = [*inside, *(i for i, bears in zip(open_, choice, strict=True) if bears)]
        x = solved([[M[i][j] for j in a] for i in a], [-q[i] for i in a])
        if x is None:
            continue
        z = [Fraction(0)] * n
        for i, value in zip(a, x, strict=True):
            z[i] = value
        w = [sum((M[i][j] * z[j] for j in range(n)), q[i]) for i in range(n)]
        if all(z[i] >= 0 and w[i] >= 0 for i in open_) and z not in found:
            found.append(z)
    return found


def test_derivatives_of_small_lcps_are_the_exact_ones():
    """200 LCPs of rationals, most of them degenerate: dz by q and M, exactly."""
    rng, degenerate = np.random.default_rng(31), 0
    for _ in range(200):
        n = int(rng.integers(2, 5))
        X, Y = rng.integers(-2, 3, size=(n, n)), rng.integers(-1, 2, size=(n, n))
        M = X @ X.T + 2 * np.eye(n, dtype=int) + Y - Y.T
        place = rng.integers(0, 3, size=n)
        z, w = np.where(place == 0, rng.integers(1, 5, size=n), 0), np.where(place == 2, rng.integers(1, 5, size=n), 0)
        problem = LCP(M.astype(float), (w - M @ z).astype(float))
        s = sensitivity_of(problem, z.astype(float))
        names = {0: SetMode.INSIDE, 1: SetMode.LEAVES_LOWER, 2: SetMode.AT_LOWER}
        assert [one.mode for one in s.places] == [names[int(k)] for k in place]
        assert s.verdict[0] == (KINK if (place == 1).any() else SMOOTH)
        degenerate += bool((place == 1).any())
        dq, dM = rng.integers(-4, 5, size=n), rng.integers(-2, 3, size=(n, n))
        exact = [[Fraction(int(x)) for x in row] for row in M]
        r = [Fraction(int(x)) for x in dM @ z + dq]
        (expected,) = complementary(exact, r, [i for i in range(n) if place[i] == 0], np.flatnonzero(place == 2))
        (found,) = s.along(q=dq, M=dM)
        np.testing.assert_allclose(found.z, [float(x) for x in expected], rtol=1e-13, atol=1e-13)
    assert degenerate > 100
