"""Certificates of the largest uncertainty that keeps a class: closed forms, all vertices, and forged factors."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import workbench as wb
from tests.boxes import all_vertices_p, random_box
from workbench.certificates.documents import signed
from workbench.certificates.outcomes import VERIFIED
from workbench.certificates.verify import verify


def claim(document, name):
    return next(c for c in document["claims"] if c["about"] == f"r_{name}")


def outcome(document, name, **changes):
    forged = copy.deepcopy(document)
    one = claim(forged, name)
    one["verdict"] = changes.pop("verdict", one["verdict"])
    one["support"] |= changes
    return verify(signed(forged["problem"], [one], []))[0].result


@pytest.mark.parametrize("name", ["P", "PD", "H_plus"])
def test_the_identity_keeps_every_class_up_to_one_over_n(name):
    """C = I, D = ones: the rank-one loss is at r = 1/n."""
    document = json.loads(json.dumps(wb.check(wb.interval(np.eye(3), 1)).certificate()))
    low, high = map(Fraction, claim(document, name)["verdict"])
    third = Fraction(1, 3)
    assert low <= third <= high
    assert high - low < Fraction(1, 10**6)
    assert outcome(document, name) == VERIFIED
    # No forged factor on the wrong side is accepted, whatever proves it.
    assert outcome(document, name, verdict=[str(third + Fraction(1, 10**12)), str(high)]) != VERIFIED
    assert outcome(document, name, verdict=[str(low), str(third - Fraction(1, 10**12))]) != VERIFIED
    assert outcome(document, name, verdict=["1/3", str(high)]) != VERIFIED
    assert outcome(document, name, verdict=[str(low), "1/3"]) == VERIFIED
    # Each end may be claimed alone, and then nothing is given for the other.
    nothing = {"signs": None, "index_set": None}
    assert outcome(document, name, verdict=[str(low), None], **nothing) == VERIFIED
    assert outcome(document, name, verdict=[None, str(high)], tree=None) == VERIFIED
    for key in nothing:
        rest = {k: v for k, v in nothing.items() if k != key}
        assert outcome(document, name, verdict=[str(low), None], **rest) != VERIFIED
    # The box of a negative factor is that of the positive one.
    assert outcome(document, name, verdict=[str(-low), str(high)]) != VERIFIED
    assert outcome(document, name, more=1) != VERIFIED
    for change in (
        {"tree": []}, {"tree": None}, {"signs": [1, 1]}, {"signs": [1, 0, 1]}, {"signs": None}, {"index_set": []},
        {"index_set": [0]}, {"verdict": [str(low), None]}, {"verdict": [None, str(high)]}, {"verdict": [None, None]},
        {"verdict": ["-1", str(high)]}, {"verdict": [str(low)]}, {"verdict": "all"}, {"signs": [1, 1, 2]},
    ):  # fmt: skip
        assert outcome(document, name, **change) != VERIFIED, change


def test_definite_and_p_differ():
    """C = [[1, 1/2], [-1/2, 1]], D = ones: P up to 5/8, PD up to 1/2."""
    document = wb.check(wb.interval([["1", "1/2"], ["-1/2", "1"]], 1)).certificate()
    for name, factor in (("P", Fraction(5, 8)), ("PD", Fraction(1, 2))):
        low, high = map(Fraction, claim(document, name)["verdict"])
        assert low <= factor <= high
        assert outcome(document, name) == VERIFIED
    low, high = claim(document, "P")["verdict"]
    wrong = copy.deepcopy(document)
    claim(wrong, "PD").update(verdict=[low, high], support=claim(document, "P")["support"])
    assert outcome(wrong, "PD") != VERIFIED


@pytest.mark.parametrize("seed", range(4))
def test_factors_of_random_boxes_agree_with_all_vertices(seed):
    rng = np.random.default_rng(seed)
    box = random_box(rng, 3, bool(seed % 2))
    document = json.loads(json.dumps(wb.check(box).certificate()))
    for c in document["claims"]:
        if c["about"].startswith("r_"):
            assert outcome(document, c["about"][2:]) == VERIFIED
    if any(c["about"] == "r_P" for c in document["claims"]):
        low, high = claim(document, "P")["verdict"]
        assert low is None or all_vertices_p(box.scaled(fmpq(low)))
        assert high is None or not all_vertices_p(box.scaled(fmpq(high)))
