"""Certificates of maps of cases that the verifier does not know by name: their functions as lists of operations."""

import copy
import json
from dataclasses import dataclass
from fractions import Fraction

import pytest

from tests.test_proved_ranges import RANGES
from workbench.certificates.documents import signed
from workbench.certificates.maps import Judge
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.problem import Ranges
from workbench.certificates.programme import functions
from workbench.certificates.verify import verify
from workbench.diagnostics.map_certificate import map_certificate, programme_of
from workbench.diagnostics.proved_ranges import proved_of_case, proved_ranges
from workbench.mechanics.functions import cos, radians, sign, sin, sqrt
from workbench.step.sliding.rows import SlidingRows
from workbench.support.errors import DataError

MU, ANGLE = (Fraction(0), Fraction(3)), (Fraction(10), Fraction(80))


@dataclass
class Own:
    """A mass on a slope whose friction also lifts it, written with the module's operations."""

    name = "own"

    def sliding_rows(self, p):
        lean = radians(p["angle"])
        coupling = cos(lean) * sin(lean) / sqrt(1 + p["k"])
        M = [[2.0, coupling], [coupling, 1]]
        return SlidingRows(M, [0, -p["g"] / 2], [[0, 1]], [[1, 0]], [p["mu"]], [sign(0 - p["speed"])])


GIVEN = {"k": Fraction(1, 3), "g": Fraction(981, 100), "speed": Fraction(2)}


def certified(share="1/20"):
    spans = {"mu": MU, "angle": ANGLE}
    found = proved_ranges(Own().sliding_rows, GIVEN, spans, Fraction(share))
    return json.loads(json.dumps(map_certificate(Own(), GIVEN, found, 60.0))), found


def test_a_map_of_a_case_of_ones_own():
    document, found = certified()
    (one,) = verify(document)
    assert one.result == VERIFIED
    verdict = document["claims"][0]["verdict"]
    for name in ("unique", "none"):
        assert abs(float(Fraction(verdict.get(name, "0"))) - found.shares().get(name, 0.0)) < 0.03
    # With the friction of another sign the same tree proves nothing.
    other = copy.deepcopy(document)
    other["problem"]["parameters"]["speed"] = "-2"
    assert verify(signed(other["problem"], other["claims"], []))[0].result != VERIFIED
    steps = document["problem"]["functions"]["steps"]
    assert {step[0] for step in steps} >= {"parameter", "number", "pi", "cos", "sin", "sqrt", "+", "*", "/", "sign"}


@pytest.mark.parametrize("name", list(RANGES))
def test_operations_agree_with_the_functions_known_by_name(name):
    """What the formulas of the verifier prove at points is not refuted by the operations of the case, nor the other
    way round."""
    case, spans = RANGES[name]
    given = {key: x for key, x in case.rationals({}).items() if key not in spans}
    known = Judge(Ranges(case.name, given, spans))
    written = Judge(Ranges(json.loads(json.dumps(programme_of(case, given, spans))), given, spans))
    agreed = 0
    for i in range(5):
        for j in range(5):
            corner = (Fraction(2 * i + 1, 11), Fraction(2 * j + 1, 11), *[Fraction(1, 3)] * (len(spans) - 2))
            verdicts = []
            for judge in (known, written):
                held = set()
                for letter in "unsl":
                    try:
                        judge.check(corner, (Fraction(1, 4096),) * len(spans), letter, "?")
                        held.add(letter)
                    except RefusedError:
                        pass
                verdicts.append(held)
            assert not (verdicts[0] and verdicts[1] and verdicts[0] != verdicts[1])
            agreed += bool(verdicts[0] and verdicts[0] == verdicts[1])
    assert agreed >= 12


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f["steps"].append(["exec", 0]),
        lambda f: f["steps"].append(["+", 0]),
        lambda f: f["steps"].append(["+", 0, 10**6]),
        lambda f: f["steps"].append(["+", 0, -1]),
        lambda f: f["steps"].append(["number", 3]),
        lambda f: f["steps"].append(["sign", 0, 2]),
        lambda f: f["steps"].insert(0, ["cos", 0]),
        lambda f: f["steps"].append([]),
        lambda f: f.update(steps=[]),
        lambda f: f.update(w=[]),
        lambda f: f.update(P=[]),
        lambda f: f.update(Q=[[0, 0]]),
        lambda f: f.update(w=["1/2"]),
        lambda f: f.update(w=[10**6]),
        lambda f: f.update(locking="1"),
        lambda f: f.pop("locking"),
        lambda f: f.update(extra=1),
        lambda f: f["steps"].__setitem__(0, ["parameter", "missing"]),
    ],
)
def test_operations_are_read_strictly(change):
    document, _ = certified("1/2")
    change(document["problem"]["functions"])
    try:
        (one,) = verify(signed(document["problem"], document["claims"], []))
    except RefusedError:
        return
    assert one.result != VERIFIED


def test_a_sign_that_changes_is_refused():
    spans = {"mu": MU, "speed": (Fraction(-1), Fraction(1))}
    fixed = {"k": GIVEN["k"], "g": GIVEN["g"], "angle": Fraction(30)}
    with pytest.raises(DataError, match="not certain over the ranges"):
        programme_of(Own(), fixed, spans)


def test_a_programme_needs_numbers_of_steps():
    with pytest.raises(RefusedError):
        functions({"steps": [["pi"]], "P": [[0, 0]], "Q": [[0]], "w": [0], "locking": None})


def test_a_programme_has_a_step():
    with pytest.raises(RefusedError, match="list of 1 to"):
        functions({"steps": [], "P": [["1"]], "Q": [["1"]], "w": ["1"], "locking": None})


def test_a_case_known_by_name_keeps_its_name():
    case, spans = RANGES["rod"]
    found = proved_of_case(case, {}, spans, Fraction(1, 10))
    assert map_certificate(case, case.rationals({}), found, 60.0)["problem"]["functions"] == "rod"


@pytest.mark.parametrize(
    ("D", "span", "locking", "proved"),
    [
        # One contact with a force y >= 0: D y - 1 >= 0.
        (2, (1, 2), None, "u+"), (2, (-2, -1), None, "n-"),
        # D changes its sign on the box, so that there is one answer here and none there.
        (2, (-1, 1), None, ""), (2, (0, 1), None, ""),
        # Nothing resists.
        ("0", (1, 2), None, "-"),
        # Locking, open, certain and excluded.
        ("-1", (-1, 1), 0, "+"), ("-1", (1, 2), 0, "l+"), ("-1", (-2, -1), 0, "u+"), ("-1", (-1, 0), 0, "+"),
    ],
)  # fmt: skip
def test_what_is_open_somewhere_on_a_box_is_not_proved_there(D, span, locking, proved):
    steps = [["parameter", "d"], ["number", "-1"], ["*", 0, 1]]
    given = {"steps": steps, "P": [["-1"]], "Q": [[D]], "w": ["-1"], "locking": locking}
    assert held_on_the_whole(given, span) == proved


@pytest.mark.parametrize(("span", "proved"), [((-1, 1), "-"), ((1, 2), "s-"), ((-2, -1), "n-")])
def test_every_unknown_of_a_mode_is_certain(span, proved):
    """Of two contacts that are not coupled the second has two answers for d > 0 and none for d < 0."""
    given = {
        "steps": [["parameter", "d"]], "P": [["-1", "0"], ["0", "-1"]], "Q": [["-1", "0"], ["0", "1"]], "w": ["-1", 0],
        "locking": None,
    }  # fmt: skip
    assert held_on_the_whole(given, span) == proved


def held_on_the_whole(given, span):
    """The letters of the verdicts that are proved on the range of d as one box."""
    judge = Judge(Ranges(given, {}, {"d": tuple(map(Fraction, span))}))
    held = ""
    for letters in ("u?", "n?", "s?", "l?", "?+", "?-"):
        try:
            judge.check((Fraction(0),), (Fraction(1),), *letters)
            held += letters.replace("?", "")
        except RefusedError:
            pass
    return held


@pytest.mark.parametrize(("low", "holds"), [("1/10", True), ("0", False), ("-1/10", False)])
def test_an_inertia_that_need_not_be_positive_proves_nothing(low, holds):
    """The rod's inertia over m l^2: its functions are multiplied by it, and are positive on all three ranges."""
    given = {"m": 1, "l": 1, "mu": 0, "xi": 1, "spin": 0, "gravity": 10, "angle": 45}
    ranges = Ranges("rod", {name: Fraction(x) for name, x in given.items()}, {"kappa": (Fraction(low), Fraction(1))})
    try:
        Judge(ranges).check((Fraction(0),), (Fraction(1),), "u", "+")
    except RefusedError:
        assert not holds
    else:
        assert holds
