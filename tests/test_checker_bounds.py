"""The checker of certificates at its limits: of time, of sizes, and of the forms that a support may have."""

from fractions import Fraction
from pathlib import Path

import pytest

from tests.supports import cholesky, ldl
from tests.test_checker import exact
from workbench.certificates import documents, factors, inequalities, limits, pivots, repetition
from workbench.certificates import exact as arithmetic
from workbench.certificates.cones import check_cones
from workbench.certificates.distance import check_distance
from workbench.certificates.friction import LAWS
from workbench.certificates.inequalities import is_feasible
from workbench.certificates.outcomes import NOT_VERIFIED, REFUTED, VERIFIED, Finding, RefusedError, TooLongError, text
from workbench.certificates.problem import common, read_problem
from workbench.certificates.verify import verify

FULL, ONES = exact([[2, 1, 1], [1, 2, 1], [1, 1, 2]]), [Fraction(1)] * 3
UNIT = [exact([[int(i == j) for j in range(n)] for i in range(n)]) for n in range(4)]


def signed(problem, *claims):
    content = {
        "format": documents.FORMAT, "version": documents.VERSION, "problem": problem, "claims": list(claims),
        "left_out": [],
    }  # fmt: skip
    return {**content, "digest": documents.digest(content)}


SIGNS = signed({"M": [["1"]]}, {"about": "Z", "verdict": "yes", "support": {"by": "entries"}})


def result(problem, about, verdict, support):
    return verify(signed(problem, {"about": about, "verdict": verdict, "support": support}))[0].result


# Within a time.


@pytest.mark.parametrize(
    ("looks", "call"),
    [
        (3, lambda: arithmetic.vector(["1", "2", "3"], 3, "x")),
        (3, lambda: arithmetic.dot(ONES, ONES)),
        (3, lambda: arithmetic.symmetric(FULL)),
        (3, lambda: arithmetic.common_denominator(ONES)),
        # Nine denominators, three rows, and for each pivot the rows below it.
        (9 + 3, lambda: arithmetic.integers(FULL)),
        (9 + 3 + 3, lambda: arithmetic.determinant(FULL)),
        (9 + 3 + 3, lambda: arithmetic.rank(FULL)),
        (2, lambda: arithmetic.schur([[2, 1, 1], [1, 2, 1], [1, 1, 2]], 0, 1)),
        (6, lambda: arithmetic.solve(FULL, ONES)),
        (3, lambda: arithmetic.gram([[1], [1, 1], [1, 1, 1]])),
        (7, lambda: repetition.check(UNIT[3], "E0")),
        (9, lambda: is_feasible([], exact([[sign, k] for k in range(3) for sign in (1, -1)]))),
        (3, lambda: is_feasible(exact([[1, 0, 0]]), exact([[1, 0, 0], [2, 0, 0], [3, 0, 0]]))),
        # Two regions, and the products that prove one empty.
        (2 + 4, lambda: check_cones(exact([[-1]]), [["cone", []], ["empty", ["1"]]])),
        (2 + 2 + 6, lambda: check_distance(UNIT[2], ["1", None], {"diagonal": {"W": ["1", "1"], "s": "1"}})),
        # Six numbers and products, the rows of S, of L D, and of what they give.
        (5 + 2 + 2 + 2, lambda: factors.check(UNIT[2], "PD", ldl([0, 1], [[], ["0"]], ["2", "2"]))),
        (2 + 2 + 2, lambda: factors.check(UNIT[2], "PD", cholesky([0, 0], 0, [[1], [0, 1]]))),
        # Rows of integers, and three nodes or minors, with a Schur complement.
        (6 + 3 + 1, lambda: pivots.check_tree(UNIT[2], [["branch", 0]] * 3)),
        (6 + 1 + 3 + 1, lambda: pivots.check_tree(UNIT[2], [["minors"]])),
    ],
)
def test_the_clock_is_looked_at_between_long_operations(monkeypatch, looks, call):
    seen = []
    monkeypatch.setattr(limits, "perf_counter", lambda: seen.append(1) or 0.0)
    call()
    assert len(seen) >= looks


def test_a_time_limit_holds_up_to_its_end_and_no_longer_than_its_check(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(limits, "perf_counter", lambda: now[0])
    with limits.within(2.0):
        now[0] = 2.0
        limits.check_time()
        now[0] = 2.5
        with pytest.raises(TooLongError, match="the time limit of 2 s was over"):
            limits.check_time()
    limits.check_time()


def test_a_time_that_is_over_before_the_first_claim_leaves_all_of_them(monkeypatch):
    """Even the shortest, and where the problem alone took all of it."""
    ticks = iter(range(10_000))
    monkeypatch.setattr(limits, "perf_counter", lambda: float(next(ticks)))
    for seconds in (0.5, 1.5):
        found = verify(SIGNS, seconds=seconds)
        assert [f.result for f in found] == [NOT_VERIFIED]
        assert "was over" in found[0].reason


# Limits of sizes.


def test_the_limits_are_those_that_the_page_tells():
    page = " ".join((Path(__file__).parents[1] / "docs" / "certificates.md").read_text("utf-8").split())
    for words in (
        f"({limits.SECONDS:g} s) applies to all claims",
        f"at most {limits.LARGEST / 1e6:g} MB",
        f"{limits.MOST_VALUES / 1e6:g} million values",
        f"{limits.DEPTH} levels",
        f"{limits.ORDER} rows of a matrix that is written out",
        f"{limits.LARGEST_SIDE} of a large one",
        f"{limits.DIGITS // 1000} 000 digits",
        f"{limits.WHOLE_DIGITS} in a number without quotes",
        f"up to order {repetition.LARGEST};",
    ):
        assert words in page, words


def test_numbers_are_whole_or_texts_of_so_many_digits():
    nines, thirds = "9" * 20_000, "3" * 20_000
    for number, expected in ((2, 2), (-2, -2), ("-4/6", Fraction(-2, 3)), (f"-{nines}/{thirds}", -3)):
        assert arithmetic.rational(number) == expected
    for number in ("9" * 20_001, "1/" + "9" * 20_001, True, 1.0, None, "1/0", "+1", "1 "):
        with pytest.raises(RefusedError):
            arithmetic.rational(number)


def test_elimination_makes_as_many_inequalities_as_it_may(monkeypatch):
    rows = exact([[sign, k] for k in range(3) for sign in (1, -1)])
    monkeypatch.setattr(inequalities, "MOST", 9)
    assert is_feasible([], rows)
    monkeypatch.setattr(inequalities, "MOST", 8)
    with pytest.raises(TooLongError, match="more than 8 inequalities"):
        is_feasible([], rows)


def size(value):
    """How many values there are, and how many characters, those of keys among them."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    texts = [*value] if isinstance(value, dict) else [value] if isinstance(value, str) else []
    sizes = [size(x) for x in inside]
    return 1 + sum(values for values, _ in sizes), sum(map(len, texts)) + sum(length for _, length in sizes)


def test_a_document_may_be_as_large_as_the_limit(monkeypatch):
    for name, most in zip(("MOST_VALUES", "LARGEST"), size(SIGNS), strict=True):
        with monkeypatch.context() as limited:
            limited.setattr(documents, name, most)
            assert verify(SIGNS)[0].result == VERIFIED
            limited.setattr(documents, name, most - 1)
            with pytest.raises(RefusedError, match="it is larger than"):
                verify(SIGNS)


# What is refused as a problem.


@pytest.mark.parametrize(
    ("mu", "d", "words"),
    [
        (["1", "-1"], 1, "negative"),
        (["-1", "1"], 1, "negative"),
        (["1"], 1, "1 contacts with d = 1 tangents do not have 4 rows"),
        (["1"], 3, "1 contacts with d = 3 tangents"),
        ([], 1, "0 contacts"),
        (["1", "1"], 2, "2 contacts with d = 2"),
    ],
)
def test_a_friction_problem_has_contacts_in_the_plane_or_in_space(mu, d, words):
    W = [[str(int(i == j)) for j in range(4)] for i in range(4)]
    with pytest.raises(RefusedError, match=words):
        read_problem({"W": W, "q": ["0"] * 4, "mu": mu, "d": d})


def test_problems_of_two_kinds_are_never_the_same():
    lcp, free = {"M": [["1"]], "q": ["1"]}, [None]
    one, other = read_problem(lcp), read_problem({**lcp, "lower": free, "upper": free})
    with pytest.raises(RefusedError, match="its problem is of kind LCP, not MLCP"):
        common(one, other)
    with pytest.raises(RefusedError, match="its problem is of kind MLCP, not matrix"):
        common(other, read_problem({"M": [["1"]]}))


# Forms of a support, and of what is said.


def test_what_is_repeated_is_a_class_that_the_checker_repeats():
    for name in ("Z", "S", "Q", "PSD", "H_plus"):
        assert result({"M": [["1"]]}, name, "yes", {"by": "repetition"}) == NOT_VERIFIED
    assert result({"M": [["1"]]}, "P0", "yes", {"by": "repetition"}) == VERIFIED


def test_an_implication_needs_its_theorem_and_what_the_theorem_needs():
    """[[0]] is P0, and not P: hence degenerate. Of [[1]], which is P, the same support says nothing."""
    repeated = {"about": "P0", "verdict": "yes", "support": {"by": "repetition"}}
    minor = {"about": "P", "verdict": "no", "support": {"index_set": [0]}}
    back = {"by": "implication", "from": ["P0"], "conclusion": "P"}
    degenerate = {"about": "nondegenerate", "verdict": "no", "support": back}
    for M, expected in (("0", [VERIFIED, VERIFIED, VERIFIED]), ("1", [VERIFIED, REFUTED, NOT_VERIFIED])):
        assert [f.result for f in verify(signed({"M": [[M]]}, repeated, minor, degenerate))] == expected
    for about, support in (
        ("S", {"by": "implication", "from": ["P0"]}),
        ("S", {**back, "conclusion": "P0"}),
        ("nondegenerate", {**back, "from": []}),
    ):
        claim = {"about": about, "verdict": "no" if "conclusion" in support else "yes", "support": support}
        assert verify(signed({"M": [["0"]]}, repeated, minor, claim))[-1].result == NOT_VERIFIED


@pytest.mark.parametrize("verdict", ["unique", "not unique"])
def test_uniqueness_is_proved_by_the_fields_that_it_needs_and_no_others(verdict):
    M, good = ([["1"]], {"by": "tree", "tree": [["minors"]]}) if verdict == "unique" else ([["-1"]], {"x": ["1"]})
    problem = {"M": M, "q": ["0"], "lower": ["0"], "upper": [None]}
    for support, expected in ((good, VERIFIED), ({**good, "note": "1"}, NOT_VERIFIED), ({}, NOT_VERIFIED)):
        assert result(problem, "uniqueness", verdict, support) == expected


def test_the_distance_of_a_p_matrix_is_checked_too():
    minors = {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["minors"]]}}
    for lower, expected in (("2", VERIFIED), ("3", REFUTED)):
        bound = {"about": "distance_to_non_p", "verdict": [lower, None], "support": {}}
        assert [f.result for f in verify(signed({"M": [["2"]]}, minors, bound))] == [VERIFIED, expected]


@pytest.mark.parametrize(
    ("q", "coulomb", "cone"),
    [(["-1", "0"], REFUTED, REFUTED), (["1", "2"], VERIFIED, REFUTED), (["2", "2"], VERIFIED, VERIFIED)],
)
def test_existence_is_checked_with_the_contacts_and_tangents_of_the_problem(q, coulomb, cone):
    problem = {"W": [["0", "0"], ["0", "0"]], "q": q, "mu": ["1"], "d": 1}
    for law, expected in zip(LAWS, (coulomb, cone), strict=True):
        assert result(problem, law, "exists", {"kind": "no impulse"}) == expected


@pytest.mark.parametrize(
    ("verdict", "q", "mu", "support"),
    [
        # Of two contacts the one is pulled, and the problem is solved by no impulse.
        ("none", [0, 1, 0, 0, 0, 0], [1, 1], {"kind": "self-stress", "r": ["1", "-1", "0", "0", "0", "0"]}),
        # In space only contacts without any friction have polyhedral cones.
        ("exists", [1, 1, 0, 0, 1, 0], [0, 1], {"kind": "polyhedral", "x": ["0"] * 6}),
        ("exists", [1, -1, 0, 0, 0, 0], [1, 1], {"kind": "no impulse"}),
    ],
)
def test_what_proves_existence_holds_at_every_contact(verdict, q, mu, support):
    W = [["0"] * 6 for _ in range(6)]
    problem = {"W": W, "q": [str(x) for x in q], "mu": [str(x) for x in mu], "d": 2}
    assert result(problem, "cone problem", verdict, support) != VERIFIED


def test_bounds_are_shown_as_decimals():
    large = "1" * 400
    for verdict, shown in (
        (["1/3", None], "0.333333333 to inf"),
        (["2", "5/2"], "2 to 2.5"),
        ([large, large + "/2"], f"{large[:40]} to {large[:40]}"),
        (["1/x", 3], "1/x to 3"),
    ):
        claim = {"about": "distance_to_degenerate", "verdict": verdict, "support": {}}
        assert verify(signed({"M": [["1"]]}, claim))[0].claim == shown


def test_a_report_stands_in_columns():
    lines = text([Finding("P", "yes", VERIFIED), Finding("solutions", "infinite", REFUTED, "why")]).splitlines()
    assert lines[0].index(VERIFIED) == lines[1].index(REFUTED)
    assert lines[0].index("yes") == lines[1].index("infinite")
