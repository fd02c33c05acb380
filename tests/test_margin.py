"""The margin of q: nothing changes nearer, beyond the facet the count is another, and rounding is told."""

import random

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from tests.inequalities import reduced
from workbench.matrices.margin import Cones, margin, projected, root

ALWAYS = float("inf")


def counted(M, q) -> int:
    """The number of solutions by all 2^n bases, in exact arithmetic; singular ones only matter on boundaries."""
    n, points = len(q), set()
    for a in range(2**n):
        index = [i for i in range(n) if a >> i & 1]
        if not index:
            z = [fmpq(0)] * n
        else:
            B = fmpq_mat([[fmpq(M[i][j]) for j in index] for i in index])
            if B.det() == 0:
                continue
            part = B.solve(fmpq_mat(len(index), 1, [-q[i] for i in index])).entries()
            z = [part[index.index(i)] if i in index else fmpq(0) for i in range(n)]
        w = [sum((M[i][j] * z[j] for j in range(n)), q[i]) for i in range(n)]
        if min(z) >= 0 and min(w) >= 0:
            points.add(tuple(z))
    return len(points)


def samples(count, seed):
    chance = random.Random(seed)
    for _ in range(count):
        n = chance.randint(1, 4)
        M = [[chance.randint(-3, 3) for _ in range(n)] for _ in range(n)]
        yield M, [fmpq(chance.randint(-9, 9), chance.randint(1, 5)) for _ in range(n)], chance


def test_within_the_margin_the_count_is_one_and_beyond_it_is_another():
    changes = 0
    for M, q, chance in samples(150, 1):
        found = margin(fmpq_mat(M), q, ALWAYS)
        least = None if found is None else root(found.least_squared)
        if found is not None:
            assert counted(M, found.neighbour) == found.beyond != found.here
            away = sum(((x - y) ** 2 for x, y in zip(q, found.neighbour, strict=True)), fmpq(0))
            assert root(away) == pytest.approx(found.value, rel=1e-12)
            changes += 1
        for _ in range(8):
            direction = [fmpq(chance.randint(-99, 99)) for _ in q]
            length = root(sum((x * x for x in direction), fmpq(0)))
            reach = 100.0 if least is None else 0.999 * least
            if length == 0 or reach == 0:
                continue
            factor = fmpq(*(reach / length).as_integer_ratio())
            near = [x + factor * d for x, d in zip(q, direction, strict=True)]
            here = counted(M, q) if found is None else found.here
            assert counted(M, near) == here, (M, q, near)
    assert changes > 100


def test_p_matrices_have_no_facet_at_which_anything_changes():
    for M, q, _ in samples(60, 2):
        n = len(q)
        P = [[abs(M[i][j]) + 9 if i == j else M[i][j] for j in range(n)] for i in range(n)]
        assert list(Cones(fmpq_mat(P), ALWAYS).facets()) == []
        assert margin(fmpq_mat(P), q, ALWAYS) is None


def test_margins_do_not_depend_on_the_order_of_the_unknowns_and_scale_with_q():
    for M, q, chance in samples(40, 3):
        n, found = len(q), margin(fmpq_mat(M), q, ALWAYS)
        order = chance.sample(range(n), n)
        permuted = margin(fmpq_mat([[M[i][j] for j in order] for i in order]), [q[i] for i in order], ALWAYS)
        longer = margin(fmpq_mat(M), [3 * x for x in q], ALWAYS)
        if found is None:
            assert permuted is longer is None
        else:
            assert permuted.squared == found.squared
            assert longer.squared == 9 * found.squared


def test_projections_on_cones_meet_the_conditions_of_optimality():
    chance = random.Random(4)
    for _ in range(80):
        k, n = chance.randint(1, 4), 4
        rows = [[chance.randint(-4, 4) for _ in range(n)] for _ in range(k)]
        if fmpq_mat(rows).rank() < k:
            continue
        generators = [[fmpq(x) for x in reduced(row)] for row in rows]
        q = [fmpq(chance.randint(-9, 9)) for _ in range(n)]
        c = projected(generators, q)
        left = [x - sum((v * g[r] for v, g in zip(c, generators, strict=True)), fmpq(0)) for r, x in enumerate(q)]
        slopes = [sum((x * y for x, y in zip(left, g, strict=True)), fmpq(0)) for g in generators]
        assert min(c) >= 0
        assert max(slopes) <= 0
        assert all(v * s == 0 for v, s in zip(c, slopes, strict=True))


def test_roots_of_rationals_out_of_the_range_of_doubles():
    assert root(fmpq(1, 10**700)) == 0.0
    assert root(fmpq(4, 10**600)) == pytest.approx(2e-300, rel=1e-15)
    assert root(fmpq(9 * 10**400)) == pytest.approx(3e200, rel=1e-15)
    assert root(fmpq(2)) == 2**0.5


def test_an_answer_that_hangs_on_rounding_is_called_so():
    """q = -M (1, 1, 0) in doubles: rounding moved it off a complementary cone, and no solution is left."""
    M = np.array([[0.4, 4 / 3, -1.0], [-2 / 3, -5 / 6, -1.0], [2.5, 0.0, 0.0]])
    found = wb.check(M, rhs=-(M @ [1.0, 1.0, 0.0])).data
    assert found["solutions"]["count"] == 0
    assert found["margin"]["fragile"]
    assert found["margin"]["distance"][1] < 1e-15
    assert (found["margin"]["here"], found["margin"]["beyond"]) == (0, 2)
    assert "hangs on rounding" in found["in_words"]
    elsewhere = [s for s in found["solvers"] if s["verified"]]
    assert len(elsewhere) == 5
    assert all(s["elsewhere"] and s["moved"] < 1e-15 for s in elsewhere)


def test_an_answer_that_does_not_is_not():
    found = wb.check([[1, 2], [2, 1]], rhs=[-3, -4]).data
    assert found["solutions"]["count"] == 3
    assert sorted(found["solutions"]["indices"]) == [-1, 1, 1]
    assert found["degree"] == sum(found["solutions"]["indices"])
    assert not found["margin"]["fragile"]
    # The nearest boundary of three solutions is the ray of -(1, 2), |(3, 4) x (1, 2)| / |(1, 2)| away.
    assert found["margin"]["distance"] == pytest.approx([2 / 5**0.5] * 2, rel=1e-14)
    assert not any(s["elsewhere"] for s in found["solvers"])


def test_a_q_on_a_boundary_has_no_margin():
    found = wb.check([[1, 2], [2, 1]], rhs=[-1, -2]).data
    assert found["margin"]["distance"] == [0.0, 0.0]
    assert "lies on a boundary" in found["in_words"]
