"""The checker of certificates at its limits: of time, of sizes, and of the forms that a support may have."""

from pathlib import Path

import pytest

from tests.proofs import LAWS, NOT_VERIFIED, REFUTED, document, result
from tests.supports import cholesky, ldl
from workbench.certificates import limits
from workbench.certificates.outcomes import VERIFIED, Finding, RefusedError, text
from workbench.certificates.verify import verify

SIGNS = document({"M": [["1"]]}, {"about": "Z", "verdict": "yes", "support": {"by": "entries"}})


# Within a time.


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
        "up to order 12;",
    ):
        assert words in page, words


def size(value):
    """How many values there are, and how many characters, those of keys among them."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    texts = [*value] if isinstance(value, dict) else [value] if isinstance(value, str) else []
    sizes = [size(x) for x in inside]
    return 1 + sum(values for values, _ in sizes), sum(map(len, texts)) + sum(length for _, length in sizes)


def test_a_document_may_be_as_large_as_the_limit(monkeypatch):
    for name, most in zip(("MOST_VALUES", "LARGEST"), size(SIGNS), strict=True):
        with monkeypatch.context() as limited:
            limited.setattr(f"workbench.certificates.documents.{name}", most)
            assert verify(SIGNS)[0].result == VERIFIED
            limited.setattr(f"workbench.certificates.documents.{name}", most - 1)
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
        verify(document({"W": W, "q": ["0"] * 4, "mu": mu, "d": d}))


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
        assert [f.result for f in verify(document({"M": [[M]]}, repeated, minor, degenerate))] == expected
    for about, support in (
        ("S", {"by": "implication", "from": ["P0"]}),
        ("S", {**back, "conclusion": "P0"}),
        ("nondegenerate", {**back, "from": []}),
    ):
        claim = {"about": about, "verdict": "no" if "conclusion" in support else "yes", "support": support}
        assert verify(document({"M": [["0"]]}, repeated, minor, claim))[-1].result == NOT_VERIFIED


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
        assert [f.result for f in verify(document({"M": [["2"]]}, minors, bound))] == [VERIFIED, expected]


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
        assert verify(document({"M": [["1"]]}, claim))[0].claim == shown


def test_a_report_stands_in_columns():
    lines = text([Finding("P", "yes", VERIFIED), Finding("solutions", "infinite", REFUTED, "why")]).splitlines()
    assert lines[0].index(VERIFIED) == lines[1].index(REFUTED)
    assert lines[0].index("yes") == lines[1].index("infinite")


IDENTITY = {n: {"M": [[str(int(i == j)) for j in range(n)] for i in range(n)]} for n in (2, 3)}
FULL = {"M": [["2", "1", "1"], ["1", "2", "1"], ["1", "1", "2"]]}


@pytest.mark.parametrize(
    ("problem", "about", "verdict", "support"),
    [
        (FULL, "rank", 3, {}),
        (FULL, "P", "yes", {"by": "tree", "tree": [["minors"]]}),
        (FULL, "P", "yes", {"by": "tree", "tree": [["branch", 0], ["minors"], ["minors"]]}),
        (FULL, "PD", "yes", ldl([0, 1, 2], [[], ["1/2"], ["1/2", "1/3"]], ["4", "3", "8/3"])),
        (IDENTITY[2], "PD", "yes", cholesky([0, 0], 0, [[1], [0, 1]])),
        (IDENTITY[3], "E0", "yes", {"by": "repetition"}),
        (IDENTITY[2], "distance_to_degenerate", ["1", None], {"diagonal": {"W": ["1", "1"], "s": "1"}}),
        ({"M": [["-1"]]}, "Q0", "no", {"q": ["-1"], "z": ["1"], "cover": [["none", ["1"]]]}),
    ],
)
def test_the_time_limit_holds_wherever_the_check_of_a_claim_is(monkeypatch, problem, about, verdict, support):
    """Whenever time is over, the claim is left; the clock is looked at once a row at least."""
    now, looks = [0], []

    def clock():
        now[0] += 1
        return 0.0 if now[0] < looks[0] else 9.0

    monkeypatch.setattr(limits, "perf_counter", clock)
    claim = {"about": about, "verdict": verdict, "support": support}
    outcomes = []
    for last in range(2, 60):
        now[0], looks[:] = 0, [last]
        (found,) = verify(document(problem, claim), seconds=1.0)
        outcomes.append(found)
        if now[0] < last:
            break
        assert (found.result, found.reason) == (NOT_VERIFIED, "the time limit of 1 s was over")
    assert len(outcomes) > 2 + len(problem["M"])


def test_numbers_are_whole_or_texts_of_so_many_digits():
    nines, thirds = "9" * 20_000, "3" * 20_000
    for number in (2, -2, "-4/6", f"-{nines}/{thirds}"):
        assert result({"M": [[number]]}, "rank", 1, {}) == VERIFIED
    for number in ("9" * 20_001, "1/" + "9" * 20_001, True, 1.0, None, "1/0", "+1", "1 "):
        with pytest.raises(RefusedError):
            verify(document({"M": [[number]]}))
