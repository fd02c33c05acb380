"""The rank of all matrices of a box: members, closed forms, and its certificate."""

import copy
import itertools

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import workbench as wb
from tests.boxes import random_box, random_member
from workbench.certificates.documents import signed
from workbench.certificates.outcomes import VERIFIED
from workbench.certificates.verify import verify
from workbench.engine.timing import clock
from workbench.matrices.intervals.rank_box import least_rank
from workbench.readers.interval_matrix import IntervalMatrix


@pytest.mark.parametrize("seed", range(3))
def test_no_member_has_a_smaller_rank(seed):
    rng, seen = np.random.default_rng(seed), set()
    for _ in range(30):
        box = random_box(rng, int(rng.integers(1, 5)), bool(rng.random() < 0.3))
        found, n = least_rank(box, clock() + 10), box.order
        members = [box.centre, box.lower, box.upper, *(random_member(box, rng) for _ in range(10))]
        members += [box.member(z) for z in itertools.product((1, -1), repeat=n)]
        assert min(A.rank() for A in members) >= found.at_least
        if found.member is not None:
            assert found.member in box
            assert found.member.rank() < n
        seen.add((found.at_least == n, found.member is not None))
    assert {(True, False), (False, True)} <= seen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[2+-0.1 1; 1 2+-0.1]", "2 for every matrix"),
        # The certain entry off the diagonal is the only regular submatrix; 1/2 * 2 = 1.
        ("[2+-2 1; 1 2+-2]", "at least 1 for every matrix of the box; 1 for [1/2 1; 1 2]"),
        ("[1 2; 2 4+-0.1]", "at least 1 for every matrix of the box; 1 for [1 2; 2 4]"),
        ("[0+-1]", "at least 0 for every matrix of the box; 0 for [0]"),
        ("[0 0; 0 0+-0]", "at least 0"),
    ],
)
def test_rank_in_words(text, words):
    assert words in dict(wb.check(text).rows)["rank"]


def test_the_certificate_of_the_rank():
    document = wb.check("[4+-1 1; 1 4]").certificate()
    claim = next(c for c in document["claims"] if c["about"] == "rank")
    assert claim["verdict"] == 2

    def outcome(radius=None, **change):
        content = copy.deepcopy(document)
        if radius:
            content["problem"]["radius"] = radius
        forged = {**claim, **{key: x for key, x in change.items() if key == "verdict"}}
        forged["support"] = {**claim["support"], **{key: x for key, x in change.items() if key != "verdict"}}
        (found,) = verify(signed(content["problem"], [forged], []))
        return found.result

    assert outcome() == VERIFIED
    assert outcome(verdict=1) != VERIFIED
    assert outcome(x=["0", "0"]) != VERIFIED
    assert outcome(x=["-1", "-1"]) != VERIFIED
    assert outcome(rows=[0], columns=[0], R=[["1/4"]], x=["1"], verdict=1) == VERIFIED
    assert outcome(rows=[0, 0]) != VERIFIED
    assert outcome(R=[["0", "0"], ["0", "0"]]) != VERIFIED
    assert outcome(R=[["1/4", "0"], ["0", "1/4"]]) == VERIFIED
    # Its lower corner is [[0, 1], [0, 4]], although the entries of R D x cancel.
    inverse = [["4/15", "-1/15"], ["-1/15", "4/15"]]
    assert outcome(radius=[["4", "0"], ["4", "0"]], R=inverse, x=["1", "1"]) != VERIFIED
    # [[1/4, 1], [1, 4]] is singular.
    assert outcome(radius=[["15/4", "0"], ["0", "0"]]) != VERIFIED


def test_a_singular_matrix_between_two_signs():
    box = IntervalMatrix(fmpq_mat([[1, 0], [0, 1]]), fmpq_mat([[0, 2], [2, 0]]))
    found = least_rank(box, clock() + 10)
    assert found.at_least == 1
    assert found.member.det() == 0
    assert found.member[0, 1] * found.member[1, 0] == fmpq(1)
