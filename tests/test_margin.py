"""The margin of q: nothing changes nearer, beyond the facet the count is another, and rounding is reported."""

import random

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from tests.inequalities import reduced
from workbench.diagnostics.robustness import degree_entry, index_entries, is_elsewhere, margin_entry, moved
from workbench.engine.timing import OutOfTimeError
from workbench.matrices.classes.matrix_classes import matrix_classes
from workbench.matrices.distances.margin import Cones, margin, projected, square_root
from workbench.matrices.linear_algebra.factors import factors, split
from workbench.matrices.solutions.solution_set import solution_set

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
    for M, q, chance in samples(60, 1):
        found = margin(fmpq_mat(M), q, ALWAYS)
        least = None if found is None else square_root(found.least_squared)
        if found is not None:
            assert counted(M, found.neighbour) == found.beyond != found.here
            away = sum(((x - y) ** 2 for x, y in zip(q, found.neighbour, strict=True)), fmpq(0))
            assert square_root(away) == pytest.approx(found.value, rel=1e-12)
            assert found.nearest == on_facet(M, found)
            changes += 1
        for _ in range(8):
            direction = [fmpq(chance.randint(-99, 99)) for _ in q]
            length = square_root(sum((x * x for x in direction), fmpq(0)))
            reach = 100.0 if least is None else 0.999 * least
            if length == 0 or reach == 0:
                continue
            factor = fmpq(*(reach / length).as_integer_ratio())
            near = [x + factor * d for x, d in zip(q, direction, strict=True)]
            here = counted(M, q) if found is None else found.here
            assert counted(M, near) == here, (M, q, near)
    assert changes > 40


def on_facet(M, found):
    """The point of the facet with the margin's multipliers, from the facet's name alone."""
    others = [j for j in range(len(M)) if j != found.facet.i]
    columns = [[-row[j] if j in found.facet.a else int(k == j) for k, row in enumerate(M)] for j in others]
    return [sum((c * g[k] for c, g in zip(found.multipliers, columns, strict=True)), fmpq(0)) for k in range(len(M))]


def test_where_no_facets_coincide_the_margin_is_one_number_of_any_size():
    chance, changes = random.Random(6), 0
    for _ in range(60):
        n = chance.randint(2, 3)
        M = [[chance.randint(-99, 99) for _ in range(n)] for _ in range(n)]
        q = [fmpq(chance.randint(-999, 999), 7) for _ in range(n - 1)] + [fmpq(0)]
        found = margin(fmpq_mat(M), q, ALWAYS)
        if found is None:
            continue
        changes += 1
        assert found.squared == found.least_squared
        for factor in (fmpq(10) ** 300, fmpq(1, 10**300)):
            scaled = margin(fmpq_mat(M), [factor * x for x in q], ALWAYS)
            assert scaled.squared == factor**2 * found.squared
            assert (scaled.here, scaled.beyond) == (found.here, found.beyond)
            assert counted(M, scaled.neighbour) == scaled.beyond
        at_zero = margin(fmpq_mat(M), [fmpq(0)] * n, ALWAYS)
        assert at_zero.squared == at_zero.least_squared == 0
        assert at_zero.here != at_zero.beyond == counted(M, at_zero.neighbour)
    assert changes > 40


def test_the_degree_is_the_sum_of_the_indices_for_every_right_hand_side():
    chance, degrees = random.Random(7), set()
    for _ in range(40):
        n = chance.randint(1, 3)
        M = fmpq_mat([[chance.randint(-9, 9) for _ in range(n)] for _ in range(n)])
        if matrix_classes(M, ALWAYS)["R0"].verdict != "yes":
            continue
        degrees.add(degree_entry(M, ALWAYS))
        for _ in range(3):
            q = [fmpq(chance.randint(-999, 999), 101) for _ in range(n)]
            points = [list(map(str, point)) for point in solution_set(M, q, ALWAYS).points]
            indices = index_entries(M, q, points)
            if None not in indices:
                assert sum(indices) == degree_entry(M, ALWAYS), (M, q)
    assert {-1, 0, 1} <= degrees


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
    for _ in range(120):
        k, n = chance.randint(1, 5), 5
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


def test_what_rounding_moves_is_reported_beside_the_margin():
    found = margin_entry(fmpq_mat([[1, 2], [2, 1]]), [fmpq(-3), fmpq(-4)], False, ALWAYS)
    # The nearest point is 11/5 of the column (1, 2); half a unit in the last place of q and of that column move q.
    assert found["rounding"] == pytest.approx(2.0**-53 * (5 + 11 / 5 * 5**0.5), rel=1e-12)
    assert not found["fragile"]
    assert margin_entry(fmpq_mat([[1, 2], [2, 1]]), [fmpq(0), fmpq(0)], False, ALWAYS)["fragile"]
    moved_off = margin_entry(fmpq_mat([[1, 2], [2, 1]]), [fmpq(-1), -2 - fmpq(1, 2**52)], False, ALWAYS)
    assert moved_off["fragile"]
    assert moved_off["distance"][0] > 0
    large = fmpq_mat([[int(i == j) - 2 * int(i < j) for j in range(10)] for i in range(10)])
    assert "exceeds 9" in margin_entry(large, [fmpq(1)] * 10, False, ALWAYS)["reason"]
    assert degree_entry(large, ALWAYS) is None
    assert margin_entry(large, [fmpq(1)] * 10, True, ALWAYS)["reason"].startswith("none: M is a P-matrix")
    skew = fmpq_mat([[0, 1], [-1, 0]])
    assert "out of time" in margin_entry(skew, [fmpq(1)] * 2, False, 0.0)["reason"]
    assert degree_entry(skew, 0.0) is None


def test_facets_and_factors_keep_to_the_time():
    cones = Cones(fmpq_mat([[0, 1], [-1, 0]]), ALWAYS)
    cones.deadline = 0.0
    with pytest.raises(OutOfTimeError):
        next(cones.facets())
    with pytest.raises(OutOfTimeError):
        cones.degree()
    S = fmpq_mat([[1, 1], [1, 1]])
    assert factors(S, False, ALWAYS)["D"] == split(S, ALWAYS)["D"] == ["1", "0"]
    for made in (lambda: factors(S, False, 0.0), lambda: split(S, 0.0)):
        with pytest.raises(OutOfTimeError):
            made()


def test_degenerate_solutions_have_no_index():
    M = fmpq_mat([[-1, 0], [0, 1]])
    assert index_entries(M, [fmpq(1), fmpq(1)], [["0", "0"], ["1", "0"]]) == [1, -1]
    assert index_entries(M, [fmpq(0), fmpq(1)], [["0", "0"]]) == [None]
    assert index_entries(fmpq_mat([[0]]), [fmpq(0)], [["1"]]) == [None]


@pytest.mark.parametrize(
    ("q", "z", "least"),
    [
        ((-1.5, -2), (1, 0), 2.0),
        ((-0.5, 3), (1, 0), 0.5),
        ((-1.5, 3), (1, 0), 0.5),
        ((-1, 0), (1, 0), 0.0),
        ((2, 0), (-1, 0), 0.0),
    ],
)
def test_the_least_change_of_q_that_makes_a_point_a_solution(q, z, least):
    assert moved(fmpq_mat([[1, 0], [0, 1]]), [fmpq(int(2 * x), 2) for x in q], list(map(float, z))) == least


@pytest.mark.parametrize(
    ("z", "count", "elsewhere"),
    [
        ((1.0, 2.0), 2, False),
        ((1.0, 2.0 + 1e-9), 2, False),
        ((0.0, 0.0), 2, False),
        ((1.0, 2.0 + 1e-6), 2, True),
        ((0.5, 1.0), 2, True),
        ((0.5, 1.0), "infinite", False),
        ((0.5, 1.0), None, False),
    ],
)
def test_a_point_that_no_solution_is_near_to_is_elsewhere(z, count, elsewhere):
    M, q = fmpq_mat([[2, 1], [1, 2]]), [fmpq(1), fmpq(-1)]
    assert is_elsewhere(M, q, list(z), {"count": count, "points": [["0", "0"], ["1", "2"]]}) == elsewhere


def test_what_is_small_beside_the_sizes_of_a_problem_is_not_elsewhere():
    M, q, origin = fmpq_mat([[2, 1], [1, 2]]), [fmpq(1), fmpq(1)], {"count": 1, "points": [["0", "0"]]}
    assert not is_elsewhere(M, q, [1e-17, 0.0], origin)
    assert is_elsewhere(M, [x / 10**12 for x in q], [1e-17, 0.0], origin)
    assert is_elsewhere(M, q, [1e-3, 0.0], origin)


def test_roots_of_rationals_out_of_the_range_of_doubles():
    assert square_root(fmpq(1, 10**700)) == 0.0
    assert square_root(fmpq(4, 10**600)) == pytest.approx(2e-300, rel=1e-15)
    assert square_root(fmpq(9 * 10**400)) == pytest.approx(3e200, rel=1e-15)
    assert square_root(fmpq(2)) == 2**0.5


def test_an_answer_that_hangs_on_rounding_is_called_so():
    """q = -M (1, 1, 0) in doubles: rounding moved it off a complementary cone, and no solution is left."""
    M = np.array([[0.4, 4 / 3, -1.0], [-2 / 3, -5 / 6, -1.0], [2.5, 0.0, 0.0]])
    found = wb.check(M, rhs=-(M @ [1.0, 1.0, 0.0])).data
    assert found["solutions"]["count"] == 0
    assert found["margin"]["fragile"]
    assert found["margin"]["distance"][1] < 1e-15
    assert (found["margin"]["here"], found["margin"]["beyond"]) == (0, 2)
    assert "depends on rounding" in found["in_words"]
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
