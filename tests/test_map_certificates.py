"""Certificates of proved maps: the verifier's formulas, its arithmetic, and forged maps."""

import copy
import json
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import workbench as wb
from tests.proofs import NOT_VERIFIED, REFUTED
from tests.sliding_systems import regime
from tests.test_proved_ranges import RANGES, found_of, system_at
from tests.thorough import quickly
from workbench.builtin.cases import CASES
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.wedged_box import WedgedBox
from workbench.certificates.documents import signed
from workbench.certificates.maps import Judge, halves
from workbench.certificates.mechanisms import FUNCTIONS
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.problem import Ranges
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.diagnostics.map_certificate import map_certificate
from workbench.diagnostics.proved_ranges import proved_of_case
from workbench.support.errors import DataError, WorkbenchError

KINDS = {"unique": "u", "none": "n", "indeterminate": "s"}


@cache
def certified(name):
    """The certificate of one of the ranges, as it comes back from a file."""
    case, found = RANGES[name][0], found_of(name)
    return json.loads(json.dumps(map_certificate(case, case.rationals({}), found, 60.0)))


def result(document):
    (found,) = verify(document)
    return found.result


def with_tree(document, tree, **shares):
    """The certificate of another tree, with shares that fit where none are given."""
    content = copy.deepcopy(document)
    (claim,) = content["claims"]
    claim["support"]["tree"] = tree
    claim["verdict"] = shares or shares_of(tree, len(content["problem"]["ranges"]))
    return signed(content["problem"], content["claims"], [])


def shares_of(tree, d):
    words = {"u": "unique", "n": "none", "s": "several", "l": "locking", "?": "undecided", "+": "P", "-": "not P"}
    found, stack, letters = {}, [Fraction(1)], iter(tree)
    for letter in letters:
        volume = stack.pop()
        if letter.isdigit():
            stack += [volume / 2] * 2
            continue
        for name in (words[letter], {"+": "P", "-": "not P"}.get(next(letters))):
            if name:
                found[name] = found.get(name, 0) + volume
    return {name: str(x) for name, x in found.items()}


def leaves(tree):
    """Positions of the letters that end a box."""
    found, k = [], 0
    while k < len(tree):
        if not tree[k].isdigit():
            found.append(k)
            k += 1
        k += 1
    return found


@pytest.mark.parametrize("name", quickly(RANGES, lambda name: name == "rod"))
def test_every_box_is_verified(name):
    document, found = certified(name), found_of(name)
    assert result(document) == VERIFIED
    (claim,) = document["claims"]
    shares = {key: float(Fraction(x)) for key, x in claim["verdict"].items()}
    # The verifier's enclosures are as narrow as those of the search: no share is lost.
    assert {key: shares[key] for key in found.shares()} == found.shares()
    assert shares.get("P", 0) == found.share(found.p == 1)


@pytest.mark.parametrize("name", quickly(RANGES, lambda name: name == "rod"))
def test_a_box_of_another_verdict_is_refused(name):
    document = certified(name)
    tree = document["claims"][0]["support"]["tree"]
    given = document["problem"]
    fixed = {key: Fraction(x) for key, x in given["parameters"].items()}
    spans = {key: (Fraction(low), Fraction(high)) for key, low, high in given["ranges"]}
    judge, chance = Judge(Ranges(given["functions"], fixed, spans)), random.Random(1)
    boxes = list(boxes_of(tree, 2))
    for corner, side, answers, p in chance.sample(boxes, 30):
        for wrong in "unsl":
            if answers not in ("?", wrong):
                assert not proved(judge, corner, side, wrong, "?")
        if p != "?":
            assert not proved(judge, corner, side, "?", "+-".replace(p, ""))
    # What the search left open has no verdict that the verifier would prove.
    for corner, side, *_ in [box for box in boxes if box[3] == "?"][:10]:
        assert not any(proved(judge, corner, side, "?", p) for p in "+-")
    # The same within a certificate whose shares fit.
    k = leaves(tree)[0]
    wrong = {"u": "n", "n": "u", "l": "u"}[tree[k]]
    assert result(with_tree(document, tree)) == VERIFIED
    assert result(with_tree(document, tree[:k] + wrong + tree[k + 1 :])) == REFUTED


def boxes_of(tree, d):
    """Corner, side and the two letters of each box."""
    stack, letters = [((Fraction(0),) * d, (Fraction(1),) * d)], iter(tree)
    for letter in letters:
        corner, side = stack.pop()
        if letter.isdigit():
            stack += halves(corner, side, int(letter))[::-1]
        else:
            yield corner, side, letter, next(letters)


def proved(judge, corner, side, answers, p):
    try:
        judge.check(corner, side, answers, p)
    except RefusedError:
        return False
    return True


def test_damaged_trees_are_refused():
    document = certified("rod")
    tree = document["claims"][0]["support"]["tree"]
    shares = document["claims"][0]["verdict"]
    for k in leaves(tree)[:40:10]:
        assert result(with_tree(document, tree[:k] + tree[k + 2 :], **shares)) != VERIFIED
    for wrong in ("", tree[:-2], tree[:-1], tree + "??", "2" + tree, "x" + tree, "é" + tree, "²" + tree, "0" * 70):
        assert result(with_tree(document, wrong, **shares)) == NOT_VERIFIED
    assert result(with_tree(document, tree, **{**shares, "unique": "1"})) == REFUTED
    assert result(with_tree(document, tree, unique="1", everything="0")) == NOT_VERIFIED
    # Nothing claimed is true, and says so.
    assert result(with_tree(document, "??")) == VERIFIED


def test_the_data_belong_to_the_proof():
    document = certified("rod")

    def changed(change):
        content = copy.deepcopy(document)
        change(content["problem"])
        return signed(content["problem"], content["claims"], [])

    for change in (
        lambda p: p["parameters"].update(kappa="1/4"),
        lambda p: p["parameters"].update(speed="4"),
        lambda p: p.update(ranges=[["angle", "10", "85"], ["mu", "0", "4"]]),
        lambda p: p.update(ranges=p["ranges"][::-1]),
    ):
        assert result(changed(change)) == REFUTED
    for change, words in (
        (lambda p: p.update(functions="wheel"), "no name of functions"),
        (lambda p: p["parameters"].pop("kappa"), "'kappa' is missing"),
        (lambda p: p["parameters"].update(m="-1"), "'m' need not be positive"),
        (lambda p: p["ranges"].append(["speed", "-1", "1"]), "direction of sliding is not certain"),
    ):
        (found,) = verify(changed(change))
        assert found.result == NOT_VERIFIED
        assert words in found.reason
    for change, words in (
        (lambda p: p.update(ranges=[]), "from 1 to 4 ranges"),
        (lambda p: p.update(ranges=[["mu", "1", "1"]]), "is empty"),
        (lambda p: p.update(ranges=[["mu", "0", "1"], ["mu", "0", "1"]]), "occurs twice"),
        (lambda p: p.update(parameters=[]), "need functions, parameters"),
    ):
        with pytest.raises(RefusedError, match=words):
            verify(changed(change))
    assert not {"d", "mu"} & set(document["problem"])


def judged(name, given, key, low, high, verdict):
    """Whether the verdict is proved for one parameter between two values, others as given or the case's own."""
    case = next(case for case in CASES if case.name == name)()
    fixed = {k: v for k, v in case.rationals(given).items() if k != key}
    return proved(Judge(Ranges(name, fixed, {key: (low, high)})), (Fraction(0),), (Fraction(1),), *verdict)


@pytest.mark.parametrize(
    ("name", "given", "key", "critical", "off"),
    [
        ("rod", {"tan_theta": Fraction(2)}, "mu", Fraction(4, 3), 1e-12),
        ("rod", {"angle": Fraction(45)}, "mu", Fraction(5, 3), 1e-12),
        ("rod-in-guide", {"angle": Fraction(30), "spin": Fraction(1)}, None, 2**0.5, 1e-9),
        ("rod-in-guide", {"angle": Fraction(60), "spin": Fraction(1)}, None, 1.347150628, 2e-9),
        ("tripod", {"direction": Fraction(0)}, "mu", 0.545275254, 2e-9),
        ("tripod", {"direction": Fraction(30)}, "mu", Fraction(17, 36), 1e-12),
        ("tripod", {"direction": Fraction(90)}, "mu", Fraction(11, 18), 1e-12),
        ("wedged-box", {}, "mu", None, 1e-12),
    ],
)
def test_the_critical_frictions_are_those_of_the_textbook(name, given, key, critical, off):
    """P just below and not just above: closed forms of each mechanism (formulary, section 5)."""
    if name == "wedged-box":
        H, square = Fraction(42, 1000), Fraction(20**2 + 40**2 - 42**2, 10**6)
        # (I / m + b^2 / 4) / (b H / 4), b its square root.
        b = Fraction(float(square) ** 0.5)
        critical = (Fraction(2000, 10**6) / 12 + square / 4) / (b * H / 4)
    at, off = Fraction(critical), Fraction(off)
    for low, high, p in ((at - 2 * off, at - off, "+"), (at + off, at + 2 * off, "-")):
        # Equal friction at both ends of the rod in its guide: the guide's varies a little around the wall's.
        fixed = given if key else {**given, "mu_wall": (low + high) / 2}
        assert [judged(name, fixed, key or "mu_guide", low, high, f"?{sign}") for sign in "+-"] == [p == "+", p == "-"]
    if key:
        assert not any(judged(name, given, key, at - off, at + off, f"?{sign}") for sign in "+-")


@pytest.mark.parametrize("name", RANGES)
def test_formulas_agree_with_the_mechanics_of_each_case(name):
    """At single states the verifier's verdict is that of the regime in floating point, from the case's own matrices."""
    case, ranges = RANGES[name]
    rng, seen = np.random.default_rng(2), set()
    for _ in range(25):
        values = {
            key: low + (high - low) * Fraction(int(rng.integers(1, 2**20)), 2**20)
            for key, (low, high) in ranges.items()
        }
        here = case.with_parameters(**{key: float(x) for key, x in values.items()})
        if isinstance(here, WedgedBox) and here.mu > here.across[1] / here.across[0]:
            letter = "l"
        else:
            kind = regime(system_at(here)).kind
            letter = KINDS.get(kind, "s")
        key, x = next(iter(values.items()))
        fixed = case.rationals(values)
        span = Fraction(1, 10**12)
        judge = Judge(Ranges(case.name, {k: v for k, v in fixed.items() if k != key}, {key: (x - span, x + span)}))
        judge.check((Fraction(0),), (Fraction(1),), letter, "?")
        seen.add(letter)
    assert len(seen) > 1


@pytest.mark.thorough
@pytest.mark.parametrize("given", [{"tan_theta": "3/2", "spin": 3}, {"tan_theta": 2, "b": "1/2"}, {"b": -3, "xi": 1}])
def test_the_rod_by_its_other_parameters(given):
    document = wb.vary("rod", along={"mu": (0, 3), "kappa": ("1/4", 1)}, given=given, undecided="1/20").certificate()
    assert result(document) == VERIFIED


def test_every_case_with_a_proved_map_has_a_certificate():
    assert set(FUNCTIONS) == {case.name for case in CASES if hasattr(case, "sliding_rows")}


def test_a_case_of_ones_own_has_its_functions_in_the_certificate():
    class Own(Rod):
        name = "own-rod"

    ranges = {"angle": (Fraction(40), Fraction(50)), "mu": (Fraction(0), Fraction(1))}
    found = proved_of_case(Own(), {}, ranges)
    document = map_certificate(Own(), Own().rationals({}), found, 10.0)
    assert result(document) == VERIFIED
    assert document["claims"][0]["verdict"]["unique"] == "1"
    with pytest.raises(DataError, match="allow more time"):
        map_certificate(Rod(), Rod().rationals({}), found, 0.0)


def test_commands_write_what_verify_reads(tmp_path, capsys):
    proof = str(tmp_path / "p.json")
    words = ["check", "--case", "rod", "--vary", "mu=0.1:2", "theta=50:70", "--undecided", "0.1"]
    assert main([*words, "--certificate", proof]) == 0
    assert f"certificate: {proof}" in capsys.readouterr().out
    assert main(["verify", proof]) == 0
    assert "map  unique" in capsys.readouterr().out
    assert (
        main(["painleve", "rod", "--x", "theta=40:80", "--y", "mu=1/2:2", "--prove", "--quiet", "--certificate", proof])
        == 0
    )
    capsys.readouterr()
    assert main(["verify", proof]) == 0
    for wrong, message in (
        (["painleve", "rod", "--certificate", proof], "--certificate needs --prove"),
        (["check", "--case", "rod", "--vary", "mu=0:3", "--certificate", proof], "two to four parameters"),
    ):
        assert main(wrong) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(WorkbenchError, match="proved map"):
        wb.painleve("rod").certificate()
