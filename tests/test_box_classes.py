"""Verdicts for all matrices of a box, against all of its vertex matrices, its members, and closed forms."""

import itertools
import math

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.boxes import all_vertices_p, random_box, random_member, rational
from workbench.engine.timing import clock
from workbench.matrices.classes.matrix_classes import class_verdict
from workbench.matrices.intervals.box_classes import box_classes
from workbench.matrices.intervals.largest_uncertainty import BOXES, largest_uncertainty
from workbench.matrices.intervals.p_box import all_p
from workbench.matrices.linear_algebra.rationals import exact
from workbench.readers.interval_matrix import IntervalMatrix

WIDTH = 1e-7


def identity_with_ones(n):
    ones = fmpq_mat(n, n, [fmpq(1)] * (n * n))
    return IntervalMatrix(fmpq_mat(n, n, [fmpq(i == j) for i in range(n) for j in range(n)]), ones)


def radius(box, name):
    found = largest_uncertainty(box, name, clock() + 20)
    assert found.lower <= found.upper
    assert found.upper - found.lower <= exact(1.01 * WIDTH) * found.upper
    return found


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("name", BOXES)
def test_largest_uncertainty_of_the_identity(n, name):
    found = radius(identity_with_ones(n), name)
    assert found.lower <= fmpq(1, n) <= found.upper


def test_p_reaches_farther_than_definiteness():
    box = IntervalMatrix(fmpq_mat([[1, fmpq(1, 2)], [fmpq(-1, 2), 1]]), fmpq_mat([[1, 1], [1, 1]]))
    for name, value in (("P", fmpq(5, 8)), ("PD", fmpq(1, 2)), ("H_plus", fmpq(1, 4))):
        found = radius(box, name)
        assert found.lower <= value <= found.upper, name


def test_largest_uncertainty_at_its_borders():
    certain = largest_uncertainty(IntervalMatrix(fmpq_mat([[2]]), fmpq_mat([[0]])), "P", clock() + 5)
    assert (certain.lower, certain.upper) == (0, None)
    assert certain.reason == "nothing is uncertain"
    outside = largest_uncertainty(IntervalMatrix(fmpq_mat([[-2]]), fmpq_mat([[1]])), "P", clock() + 5)
    assert (outside.lower, outside.upper) == (0, 0)
    never = largest_uncertainty(
        IntervalMatrix(fmpq_mat([[1, 0], [0, 1]]), fmpq_mat([[0, 1], [0, 0]])), "P", clock() + 5
    )
    assert never.upper is None
    assert never.lower > 2**40


def test_symmetric_members_may_all_be_nondegenerate():
    # [[1, a], [b, -1]] with a, b in [-1.1, 1.1] is singular at (1, -1), and never where a = b.
    R = fmpq_mat([[0, fmpq(11, 10)], [fmpq(11, 10), 0]])
    C = fmpq_mat([[1, 0], [0, -1]])
    symmetric, _ = box_classes(IntervalMatrix(C, R, True), clock() + 10)
    assert symmetric["nondegenerate"].verdict == "all"
    independent, _ = box_classes(IntervalMatrix(C, R), clock() + 10)
    assert independent["nondegenerate"].verdict == "some"
    singular = independent["nondegenerate"].outside.matrix
    assert singular in IntervalMatrix(C, R)
    assert singular.det() == 0


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(6))
def test_p_of_a_box_agrees_with_all_vertices(seed):
    """Radii around the critical one, n = 2 to 5: neither a false "all" nor a false "none"."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        n = int(rng.integers(2, 6))
        box = random_box(rng, n)
        box = IntervalMatrix(box.centre + rational(np.eye(n) * 1.5), box.radius)
        found = largest_uncertainty(box, "P", clock() + 10)
        if not found.upper:
            continue
        for factor in (fmpq(1, 2), fmpq(99, 100), fmpq(999, 1000), fmpq(1001, 1000), fmpq(11, 10)):
            part = box.scaled(factor * found.upper)
            verdict = all_p(part, clock() + 10)
            assert verdict.verdict == ("all" if all_vertices_p(part) else "not all")
            if verdict.verdict == "not all":
                A = part.member(verdict.signs)
                rows = verdict.p.index_set
                assert fmpq_mat([[A[i, j] for j in rows] for i in rows]).det() <= 0


def test_a_common_diagonal_does_not_prove_too_much():
    """I + K with a large skew K is no H-matrix; W = I proves small boxes around it, and large ones are refuted."""
    rng, n = np.random.default_rng(4), 5
    for _ in range(5):
        K = np.round(rng.standard_normal((n, n)), 2)
        box = IntervalMatrix(rational(np.eye(n) + K - K.T), rational(np.ones((n, n))))
        small = all_p(box.scaled(fmpq(1, 2 * n)), clock() + 10)
        assert small.verdict == "all"
        assert small.tree[0][0] == "diagonal"
        for factor in (fmpq(1, 3), fmpq(1, 2)):
            large = box.scaled(factor)
            assert all_p(large, clock() + 10).verdict == ("all" if all_vertices_p(large) else "not all")


@pytest.mark.thorough
def test_brackets_agree_with_brute_force():
    rng = np.random.default_rng(5)
    for n in (2, 3, 4):
        for _ in range(5):
            box = random_box(rng, n)
            box = IntervalMatrix(box.centre + rational(np.eye(n) * 2), box.radius)
            found = largest_uncertainty(box, "P", clock() + 10)
            if found.upper:
                assert all_vertices_p(box.scaled(found.lower))
                assert not all_vertices_p(box.scaled(found.upper))


@pytest.mark.share(2)
@pytest.mark.parametrize(("seed", "n", "symmetric"), [(2, 3, False), (0, 2, False), (1, 2, True), (3, 3, True)])
def test_members_agree_with_the_verdict_on_their_box(seed, n, symmetric):
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(8):
        box = random_box(rng, n, symmetric)
        known, _ = box_classes(box, clock() + 10)
        members = [box.centre, box.lower, box.upper, *(random_member(box, rng) for _ in range(4))]
        for name, found in known.items():
            seen.add((name, found.verdict))
            assert not (found.every and found.outside)
            assert not (found.never and found.inside)
            wanted = {"all": "yes", "none": "no"}.get(found.verdict)
            for A in members if wanted else ():
                assert class_verdict(A, name, clock() + 10).verdict == wanted, (name, box)
            if found.inside:
                assert found.inside.matrix in box
                assert class_verdict(found.inside.matrix, name, clock() + 10).verdict == "yes", name
            if found.outside:
                assert found.outside.matrix in box
                shown = found.outside.support
                if "other" in shown:
                    assert fmpq(shown["minor"]) * fmpq(shown["other_minor"]) <= 0
                else:
                    assert class_verdict(found.outside.matrix, name, clock() + 10).verdict == "no", name
    assert {verdict for _, verdict in seen} >= {"all", "some", "none"}
    assert {name for name, _ in seen} == set(known)


def test_a_point_is_a_box():
    M = fmpq_mat([[2, -1], [-1, 2]])
    known, _ = box_classes(IntervalMatrix(M, M * fmpq(0)), clock() + 10)
    assert {name: found.verdict for name, found in known.items()} == dict.fromkeys(known, "all")
    assert len(known) == 11


def test_few_uncertain_entries_have_few_vertices():
    """Signs count within a component of the uncertain entries: 2^(n - c) matrices differ."""
    from workbench.matrices.intervals.box_classes import vertex_signs

    n, rng = 5, np.random.default_rng(3)
    D = np.zeros((n, n))
    D[0, 3] = D[4, 1] = D[2, 2] = 1.0
    box = IntervalMatrix(rational(rng.standard_normal((n, n))), rational(D))
    few = {str(box.member(z)) for z in vertex_signs(box)}
    assert len(few) == 4
    assert few == {str(box.member(z)) for z in itertools.product((1, -1), repeat=n)}


def test_time_limit_is_kept():
    rng = np.random.default_rng(0)
    G, n = rng.standard_normal((30, 30)), 30
    C = G @ G.T / n + 0.1 * np.eye(n) + 0.5 * (G - G.T)
    box = IntervalMatrix(rational(C), rational(0.5 * np.abs(C) / math.sqrt(n)))
    all_p(box.scaled(fmpq(1, 1000)), clock() + 1)
    start = clock()
    assert all_p(box, start + 1.0).verdict in ("undecided", "not all", "all")
    assert clock() - start < 2.0
