"""Deadlines hold: some tries of `tests.deadlines` in this process, and the exact operations that keep one."""

import random
import time
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.deadlines import PROCESSOR_TIME, Try, measured
from workbench.engine import timing
from workbench.engine.timing import OutOfTimeError, Pace, clock
from workbench.matrices.linear_algebra import in_time
from workbench.matrices.linear_algebra.in_time import (
    bits,
    echelon,
    exact_determinant,
    exact_rank,
    null_vector,
    solution,
)
from workbench.readers.matrix import matrix_of
from workbench.support.errors import DataError
from workbench.support.numbers import parse_entry, parse_rational, parse_row

ALWAYS = float("inf")
LONG = 1000
"""Bits of entries with which an elimination of order 100 takes seconds."""


def of_rank(n, r, b, seed):
    """A matrix (n, n) of rank r, about, with whole numbers of b bits."""
    chance = random.Random(seed)
    A, B = (fmpq_mat(m, k, [chance.getrandbits(b // 2) for _ in range(m * k)]) for m, k in ((n, r), (r, n)))
    return A * B


def held(tried, folder, monkeypatch):
    """The data of a try that has kept its limit, about."""
    words = tried.written(folder)
    # Runs load or compile kernels, which the clock leaves out and processor time does not; how far each comes, and what
    # it needs, is a matter of speed.
    measured(words)
    monkeypatch.setattr(timing, "time", PROCESSOR_TIME)
    (before, *_), (after, _, data) = measured(words), measured(words)
    assert min(before, after) < 2 * tried.allowed
    return data


@pytest.mark.parametrize(
    "tried",
    [
        pytest.param(Try("psd", 800, 0.5), marks=pytest.mark.thorough),
        pytest.param(Try("digits", 100, 0.5, ("q",)), marks=pytest.mark.thorough),
        Try("minus identity", 14, 0.5, ("q",)),
        pytest.param(Try("nonnegative", 1200, 0.5), marks=pytest.mark.thorough),
        pytest.param(Try("quotient", 200, 0.5, ("certificate",)), marks=pytest.mark.thorough),
    ],
    ids=lambda tried: tried.kind,
)
def test_a_check_keeps_its_limit_and_says_what_it_left_undecided(tried, tmp_path, monkeypatch):
    found = held(tried, tmp_path, monkeypatch)
    assert found["n"] == tried.order
    for entry in found["classes"].values():
        assert (entry["verdict"] == "undecided") == (entry["reason"] is not None)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["friction", "planar friction", "bounded"])
@pytest.mark.parametrize("order", [60, 150, 300])
def test_a_check_of_a_problem_keeps_its_limit(kind, order, tmp_path, monkeypatch):
    found = held(Try(kind, order, 0.5), tmp_path, monkeypatch)
    assert found["facts"]["size"] == order


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["psd", "psd and skew", "sparse", "copositive", "nonnegative", "indefinite"])
@pytest.mark.parametrize("order", [128, 400, 2000])
def test_a_check_of_a_large_matrix_keeps_its_limit(kind, order, tmp_path, monkeypatch):
    assert held(Try(kind, order, 1.0, ("q",)), tmp_path, monkeypatch)["n"] == order


@pytest.mark.parametrize("operation", [
    lambda M, end: exact_determinant(M, end), lambda M, end: solution(M, M, end), lambda M, end: echelon(M, end),
    lambda M, end: exact_rank(M, end), lambda M, end: null_vector(M, end),
], ids=["determinant", "solution", "echelon", "rank", "null vector"])  # fmt: skip
def test_what_would_end_too_late_is_not_begun(operation):
    M = of_rank(100, 50, LONG, 1)
    begun = time.process_time()
    with pytest.raises(OutOfTimeError):
        operation(M, clock() + 0.1)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(("n", "r", "b"), [(3, 2, 10), (12, 12, 40), (15, 6, 200), (40, 11, 20)])
def test_with_time_the_operations_are_exact(n, r, b):
    M = of_rank(n, r, b, n)
    assert exact_rank(M, ALWAYS) == M.rank() == r
    assert echelon(M, ALWAYS) == M.rref()
    assert exact_determinant(M, ALWAYS) == M.det()
    if r < n:
        v = null_vector(M, ALWAYS)
        assert any(v)
        assert not any((M * fmpq_mat(n, 1, v)).entries())
    else:
        assert M * solution(M, M * M, ALWAYS) == M * M


def test_the_rank_is_exact_where_the_prime_hides_it():
    n = in_time.SMALL + 2
    M = fmpq_mat(n, n, [fmpq(in_time.PRIME if i == 0 else 1) * (i == j) for i in range(n) for j in range(n)])
    assert exact_rank(M, ALWAYS) == n


def test_digits_are_those_of_rows_as_whole_numbers():
    assert bits(fmpq_mat(2, 2, [fmpq(1, 3), fmpq(-5, 6), fmpq(7), fmpq(0)])) == 3
    assert bits(fmpq_mat(0, 0)) == 0


def test_a_step_is_not_begun_where_one_like_the_last_would_end_too_late(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(timing, "clock", lambda: now[0])
    pace = Pace(10.0)
    pace.step()
    now[0] = 3.0
    pace.step()
    now[0] = 6.0
    with pytest.raises(OutOfTimeError):
        pace.step()


def test_estimates_grow_with_order_and_digits():
    for cost in (in_time.elimination_seconds, in_time.minors_seconds, lambda n, b: in_time.solution_seconds(n, 5, b)):
        assert 0 < cost(20, 50) < cost(40, 50) < cost(40, 500)
    assert 0 < in_time.product_seconds(100) < in_time.product_seconds(200)


ENTRIES = ["2", "-0.5", "+.5", "1e-3", "4/3", "-7E2", "12.", "0", "1e-400", "123456789012345678901234567890", "-0.0"]


def test_a_row_is_read_as_its_entries_are():
    for entries in (ENTRIES, [x for x in ENTRIES if "/" not in x], ["7"]):
        assert parse_row(entries, str) == [parse_entry(x, "") for x in entries]
    assert np.signbit(parse_row(["1", "-0.0"], str)[1])


@pytest.mark.parametrize("entry", ["", "1 2", "nan", "1_0", "0x1", "1e999", "1e99999", "1/0", "9" * 1001, "inf", "2i"])
def test_a_row_with_what_is_no_number_is_refused_as_the_entry_is(entry):
    with pytest.raises(DataError) as alone:
        parse_entry(entry, "entry 1")
    with pytest.raises(DataError) as caught:
        parse_row(["1", entry, "2"], lambda j: f"entry {j}")
    assert str(caught.value) == str(alone.value)


def test_rationals_of_text_mean_what_is_typed():
    for entry in ENTRIES:
        value = Fraction(entry)
        assert parse_rational(entry) == fmpq(value.numerator, value.denominator)
    M = matrix_of([["0", "1e-3"], ["4/3", "0"]], "M")
    assert M.exact.entries() == [fmpq(0), fmpq(1, 1000), fmpq(4, 3), fmpq(0)]
    assert M.values.tolist() == [[0.0, 0.001], [4 / 3, 0.0]]
