"""Certificates as documents: bound to their problem, read strictly, checked within limits, with three outcomes."""

import itertools
import json
import subprocess
import sys
from fractions import Fraction
from time import process_time
from types import MappingProxyType

import numpy as np
import pytest

import workbench as wb
from tests.proofs import NOT_VERIFIED, REFUTED, document, with_digest
from workbench.certificates import limits
from workbench.certificates.documents import read_document
from workbench.certificates.outcomes import VERIFIED, Finding, RefusedError, outcome, text
from workbench.certificates.problem import ProblemData, common, read_problem
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import WorkbenchError

M, q = [["2", "-1"], ["-1", "4/3"]], ["-1", "1"]
SIGNS = {"about": "Z", "verdict": "yes", "support": {"by": "entries"}}
WRONG = {"about": "rank", "verdict": 1, "support": {}}
OPEN = {"about": "P", "verdict": "yes", "support": {"by": "implication", "from": ["PD"]}}


GOOD = document({"M": M, "q": q}, SIGNS)


def results(*arguments, **options):
    return [finding.result for finding in verify(*arguments, **options)]


def refusal(*arguments, **options):
    with pytest.raises(RefusedError) as why:
        verify(*arguments, **options)
    message = str(why.value)
    assert "\n" not in message
    assert len(message) < 200
    return message


# Bound to the problem.


def test_a_document_has_exactly_one_kind_of_problem():
    friction = {"W": M, "q": q, "mu": ["1/2"], "d": 1}
    assert "has the fields" in refusal(document({**friction, "M": [["-1", "0"], ["0", "-1"]]}, SIGNS))
    assert "is unknown" in refusal({**GOOD, "friction": friction})
    assert "has the fields" in refusal(document({"M": M, "bounds": {"free": [0, 1]}}, SIGNS))
    assert "lacks the field 'problem'" in refusal({key: x for key, x in GOOD.items() if key != "problem"})
    assert "needs a problem" in refusal(document([M], SIGNS))


def test_claims_on_a_friction_problem_say_nothing_of_another_matrix():
    """Classes of W are no claims on -I, whatever else the document says."""
    identity = [["1", "0"], ["0", "1"]]
    positive = {"about": "P", "verdict": "yes", "support": {"by": "entries"}}
    assert results(document({"W": identity, "q": q, "mu": ["1"], "d": 1}, positive)) == [NOT_VERIFIED]
    minus = [["-1", "0"], ["0", "-1"]]
    with pytest.raises(WorkbenchError, match="another problem than the one given: M differs"):
        wb.verify(document({"M": identity}, positive), of=minus)


def problems():
    rng = np.random.default_rng(4)
    A = rng.integers(-2, 3, (2, 2)).astype(float)
    yield ProblemData("matrix", [[Fraction(1)]]), {}
    lower, upper = np.array([-np.inf, 0.1]), np.array([np.inf, 0.3])
    yield MLCP(A, np.array([0.1, -1.0]), lower, upper), {"lower": [None, str(Fraction(0.1))]}
    yield FrictionProblem(A @ A.T, np.array([-1.0, 0.1]), np.array([0.3]), 1), {"mu": [str(Fraction(0.3))], "d": 1}


def test_a_certificate_is_compared_number_by_number_with_the_problem_given():
    bounded, contact = [problem for problem, _ in problems()][1:]
    for given, others in (
        (bounded, [MLCP(bounded.M, bounded.q, bounded.lower, np.array([np.inf, 0.4])),
                   MLCP(bounded.M, bounded.q, np.array([-np.inf, 0.2]), bounded.upper),
                   MLCP(bounded.M, bounded.q + 1, bounded.lower, bounded.upper),
                   MLCP(bounded.M + np.eye(2), bounded.q, bounded.lower, bounded.upper),
                   MLCP(bounded.M, bounded.q, np.zeros(2), np.full(2, np.inf)), contact]),
        (contact, [FrictionProblem(contact.dense, contact.q, np.array([0.4]), 1),
                   FrictionProblem(contact.dense, contact.q - 1, contact.mu, 1),
                   FrictionProblem(2 * contact.dense, contact.q, contact.mu, 1), contact.dense, bounded]),
    ):  # fmt: skip
        proof = wb.check(given).certificate()
        assert wb.verify(proof, of=given)
        for other in others:
            with pytest.raises(WorkbenchError, match="about another problem"):
                wb.verify(proof, of=other)


def test_the_numbers_of_tangents_are_compared():
    W, velocity = [["1" if i == j else "0" for j in range(6)] for i in range(6)], ["1"] * 6
    plane, space = (read_problem({"W": W, "q": velocity, "mu": ["0"] * r, "d": d}) for r, d in ((3, 1), (2, 2)))
    assert common(plane, plane) == plane
    with pytest.raises(RefusedError, match="W differs"):
        common(plane, read_problem({"W": [["2"] * 6] * 6, "q": velocity, "mu": ["0"] * 3, "d": 1}))
    for problem, given in itertools.permutations((plane, space)):
        with pytest.raises(RefusedError, match="mu differs"):
            common(problem, given)


def test_an_lcp_is_bound_to_its_q_and_a_bare_matrix_to_claims_on_it_alone():
    rhs = [-1, 1]
    proof = wb.check(M, rhs=rhs).certificate()
    assert wb.verify(proof, of=M, rhs=rhs)
    with pytest.raises(WorkbenchError, match="q differs"):
        wb.verify(proof, of=M, rhs=[-1, 2])
    bare = wb.verify(proof, of=M)
    assert not bare
    assert {f.about for f in bare.findings if f.result == NOT_VERIFIED} == {"solutions"}
    assert wb.verify(wb.check(M).certificate(), of=M, rhs=rhs)
    assert wb.check(M).certificate()["problem"] == {"M": M}
    with pytest.raises(WorkbenchError, match="give the matrix as of"):
        wb.verify(proof, rhs=rhs)


def test_equal_numbers_may_be_written_otherwise():
    proof = document({"M": [["4/2", "-1"], ["-1", "8/6"]]}, SIGNS)
    assert wb.verify(proof, of=M)


def test_the_verifier_derives_the_kinds_of_bounds():
    """Both unknowns free: the equations M z + q = 0, M singular or not; both bounded: M must be P."""
    unique = {"about": "uniqueness", "verdict": "unique", "support": {"by": "equations"}}
    tree = {**unique, "support": {"by": "tree", "tree": [["minors"]]}}
    turn, zeros, free = [["0", "1"], ["-1", "0"]], ["0", "0"], [None, None]
    assert results(document({"M": turn, "q": q, "lower": free, "upper": free}, unique, tree)) == [
        VERIFIED,
        NOT_VERIFIED,
    ]
    assert results(document({"M": turn, "q": q, "lower": zeros, "upper": free}, unique, tree)) == [
        NOT_VERIFIED,
        REFUTED,
    ]
    assert results(document({"M": turn, "q": q, "lower": zeros, "upper": zeros}, unique)) == [VERIFIED]
    assert "no number lies between lower[1]" in refusal(
        document({"M": turn, "q": q, "lower": ["0", "1"], "upper": ["0", "1/2"]}, unique)
    )
    assert "not a list of 2 bounds" in refusal(document({"M": turn, "q": q, "lower": ["0"], "upper": free}, unique))
    assert "not a list of 2 bounds" in refusal(document({"M": turn, "q": q, "lower": "00", "upper": free}, unique))
    other = {**unique, "support": {"x": ["0", "1"]}, "verdict": "not unique"}
    half = {"M": [["1", "0"], ["0", "0"]], "q": q}
    assert results(document({**half, "lower": zeros, "upper": free}, other)) == [VERIFIED]
    assert results(document({**half, "lower": zeros, "upper": [None, "0"]}, other)) == [REFUTED]
    assert results(document({**half, "lower": free, "upper": free}, other)) == [VERIFIED]
    assert results(document({**half, "M": turn, "lower": free, "upper": free}, other)) == [REFUTED]
    assert results(document({**half, "M": [["1", "0"], ["0", "1"]], "lower": zeros, "upper": free}, other)) == [REFUTED]
    assert results(document({**half, "lower": free, "upper": free}, {**other, "support": {"x": zeros}})) == [REFUTED]
    assert results(document({**half, "lower": free, "upper": free}, {**other, "verdict": "perhaps"})) == [NOT_VERIFIED]
    assert results(document({**half, "lower": free, "upper": free}, unique)) == [REFUTED]


def test_free_and_bounded_unknowns_together_need_the_schur_complement():
    unique = {"about": "uniqueness", "verdict": "unique", "support": {"by": "tree", "tree": [["minors"]]}}
    bounds = {"lower": [None, "0"], "upper": [None, None]}
    for corner, result in (("7", VERIFIED), ("6", REFUTED), ("5", REFUTED)):
        assert results(document({"M": [["1", "2"], ["3", corner]], "q": q, **bounds}, unique)) == [result]
    assert results(document({"M": [["0", "1"], ["1", "1"]], "q": q, **bounds}, unique)) == [REFUTED]
    one = {"M": [["1"]], "q": ["0"], "lower": [None]}
    for support, upper, result in (
        (unique["support"], "0", VERIFIED),
        ({"by": "equations"}, "0", NOT_VERIFIED),
        ({"by": "equations", "tree": [["minors"]]}, "0", NOT_VERIFIED),
        ({"by": "equations"}, None, VERIFIED),
        ({"by": "tree"}, None, NOT_VERIFIED),
    ):
        assert results(document({**one, "upper": [upper]}, {**unique, "support": support})) == [result], support


# Three outcomes.


@pytest.mark.parametrize(
    ("claims", "expected", "status", "words"),
    [
        ([SIGNS], VERIFIED, 0, "1 of 1 claims hold in exact arithmetic."),
        ([SIGNS, WRONG], REFUTED, 1, "1 of 2 claims hold in exact arithmetic. 1 refuted."),
        ([WRONG, OPEN], REFUTED, 1, "Nothing is verified. 1 refuted. 1 not verified."),
        ([SIGNS, OPEN], NOT_VERIFIED, 3, "1 of 2 claims hold in exact arithmetic. 1 not verified."),
        ([OPEN], NOT_VERIFIED, 3, "Nothing is verified. 1 not verified."),
        ([], NOT_VERIFIED, 3, "Nothing is verified: the certificate makes no claim."),
    ],
)
def test_three_outcomes_are_told_apart_everywhere(tmp_path, capsys, claims, expected, status, words):
    proof = document({"M": M}, *claims)
    found = wb.verify(proof)
    assert (found.outcome, found.holds, bool(found)) == (expected, expected == VERIFIED, expected == VERIFIED)
    assert " ".join(found.words) == words
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(proof), "utf-8")
    if status:
        with pytest.raises(SystemExit) as end:
            main(["verify", str(path)])
        assert end.value.code == status
    else:
        assert main(["verify", str(path)]) == 0
    shown = capsys.readouterr().out
    assert shown.strip().endswith(words)
    alone = subprocess.run(
        [sys.executable, "-m", "workbench.certificates", str(path)], capture_output=True, text=True, check=False
    )
    assert (alone.returncode, alone.stdout) == (status, shown)


def test_the_check_by_itself_refuses_in_a_line_what_is_no_certificate(tmp_path, capsys):
    path = tmp_path / "proof.json"
    path.write_text("[" * 100_000, "utf-8")
    for options in ([], ["--time-limit", "nan"], ["--time-limit", "-1"]):
        alone = subprocess.run(
            [sys.executable, "-m", "workbench.certificates", str(path), *options],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (alone.returncode, alone.stdout, alone.stderr.count("\n")) == (2, "", 1)
        path.write_text(json.dumps(GOOD), "utf-8")
    assert main(["verify", str(path), "--rhs", "q.csv"]) == 2
    assert main(["verify", str(path), "--time-limit", "0"]) == 2
    assert main(["verify", str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 3


def test_the_distance_to_matrices_that_are_not_p_needs_a_p_matrix():
    bound = {"about": "distance_to_non_p", "verdict": ["1/2", None], "support": {}}
    minors = {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["minors"]]}}
    assert results(document({"M": M}, bound)) == [NOT_VERIFIED]
    assert results(document({"M": M}, bound, minors)) == [VERIFIED, VERIFIED]
    assert results(document({"M": [["-1"]]}, bound, minors)) == [NOT_VERIFIED, REFUTED]


def test_what_is_too_long_is_not_verified():
    ones = [["1"] * 13 for _ in range(13)]
    nonnegative = {"about": "E0", "verdict": "yes", "support": {"by": "repetition"}}
    found = wb.verify(document({"M": ones}, nonnegative))
    assert not found
    assert found.findings[0].reason == "a statement on 2^13 index sets, which are repeated up to order 12"
    bound = {"about": "distance_to_degenerate", "verdict": ["1", None], "support": {}}
    assert results(document({"M": ones}, bound)) == [NOT_VERIFIED]
    assert results(document({"M": ones}, {**bound, "verdict": ["0", None]})) == [VERIFIED]
    assert results(document({"M": [["1", "0"], ["0", "2"]]}, bound)) == [VERIFIED]
    assert results(document({"M": [["1", "1"], ["1", "1"]]}, bound)) == [REFUTED]


def test_the_largest_order_is_still_repeated(monkeypatch):
    """At the limit the check is made, one row beyond it is not."""
    minors = {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["minors"]]}}
    repeated = {"about": "E0", "verdict": "yes", "support": {"by": "repetition"}}
    bound = {"about": "distance_to_degenerate", "verdict": ["1/2", None], "support": {}}
    for limit, expected in ((2, VERIFIED), (1, NOT_VERIFIED)):
        for name in ("pivots.LARGEST_MINORS", "repetition.LARGEST", "distance.LARGEST"):
            monkeypatch.setattr(f"workbench.certificates.{name}", limit)
        assert results(document({"M": M}, minors, repeated, bound)) == [expected] * 3


def test_what_a_claim_prints_is_one_line():
    about = "P\x1b[2K\nP  yes  verified"
    lines = text(verify(document({"M": M}, {**SIGNS, "about": about, "verdict": "yes\nyes"}))).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(r"P\x1b[2K\nP  yes  verified")
    assert outcome([Finding("P", "yes", REFUTED)]) == REFUTED


# Read strictly.


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "another"}, "this is not a certificate"),
        ({"version": 1}, "version 1 of the format is not read, only 2"),
        ({"version": 3}, "version 3 of"),
        ({"version": "2"}, "version '2' of the format is not read, only 2"),
        ({"version": True}, "'True' of type bool"),
        ({"version": 2.0}, "'2.0' of type float"),
        ({"more": 1}, "the certificate has the field 'more', which is unknown"),
        ({"claims": {}}, "needs a list of claims"),
        ({"left_out": {}}, "needs a list of left_out"),
        ({"left_out": [{"about": "P"}]}, "an entry of left_out lacks the field 'reason'"),
        ({"left_out": [{"about": 1, "reason": "x"}]}, "what an entry of left_out is about"),
        ({"left_out": [{"about": "P", "reason": None}]}, "what an entry of left_out is about"),
        ({"claims": [1]}, "an entry of claims is not an object"),
        ({"claims": [{**SIGNS, "note": "x"}]}, "an entry of claims has the field 'note'"),
        ({"claims": [{"about": "Z", "verdict": "yes"}]}, "an entry of claims lacks the field 'support'"),
        ({"claims": [{**SIGNS, "about": ["Z"]}]}, "what an entry of claims is about, and its reason, are texts"),
        ({"claims": [{**SIGNS, "verdict": float("nan")}]}, "'nan' of type float"),
        ({"claims": [{**SIGNS, "verdict": 10**4000}]}, "a whole number of more than 4000 digits"),
        ({"claims": [{**SIGNS, "verdict": (1, 2)}]}, "of type tuple"),
        ({"problem": {"M": [["1", "0"]]}}, "row 0 of M is not a list of 1 numbers"),
        ({"problem": {"M": [["1.5"]]}}, "'1.5' is not an exact number"),
        ({"problem": {"M": [["1" * 20_001]]}}, "has more than 20000 digits"),
        ({"problem": {"M": [["1/" + "1" * 20_001]]}}, "has more than 20000 digits"),
        ({"problem": {"M": []}}, "M is not a list of 1 to 600 rows"),
        ({"problem": {"M": [["1"]] * 601}}, "M is not a list of 1 to 600 rows"),
        ({"problem": {"M": [["1"]], "q": None}}, "q is not a list of 1 numbers"),
    ],
)  # fmt: skip
def test_a_document_that_is_not_strictly_one_is_refused_in_a_line(change, words):
    content = {**GOOD, **change}
    try:
        content = with_digest(content)
    except ValueError:
        content["digest"] = ""
    assert words in refusal(content)


def test_numbers_at_the_limits_are_read(monkeypatch):
    large = document(
        {"M": [["1" * 20_000 + "/" + "1" * 20_000]]}, {**SIGNS, "about": "rank", "verdict": 1, "support": {}}
    )
    assert results(large) == [VERIFIED]
    assert results(document({"M": M}, {**WRONG, "verdict": 10**4000 - 1})) == [REFUTED]
    monkeypatch.setattr("workbench.certificates.problem.ORDER", 2)
    assert len(read_problem({"M": M}).M) == 2
    monkeypatch.setattr("workbench.certificates.problem.ORDER", 1)
    with pytest.raises(RefusedError, match="M is not a list of 1 to 1 rows"):
        read_problem({"M": M})


def test_depth_and_size_are_limited(monkeypatch):
    def nested(depth):
        return [] if depth == 1 else [nested(depth - 1)]

    # The document, its claims, and a claim are three; the support's value begins the fourth.
    assert results(document({"M": M}, {**SIGNS, "support": nested(limits.DEPTH - 3)})) == [NOT_VERIFIED]
    assert f"deeper than {limits.DEPTH}" in refusal(document({"M": M}, {**SIGNS, "support": nested(limits.DEPTH - 2)}))
    itself = []
    itself.append(itself)
    assert f"deeper than {limits.DEPTH}" in refusal({**GOOD, "claims": itself})
    many = [[]] * 100
    for _ in range(5):
        many = [many] * 100
    begun = process_time()
    monkeypatch.setattr("workbench.certificates.documents.MOST_VALUES", 10_000)
    assert "larger than" in refusal({**GOOD, "claims": many})
    assert process_time() - begun < 10
    monkeypatch.setattr("workbench.certificates.documents.LARGEST", 300)
    assert "larger than" in refusal(document({"M": M}, SIGNS, left_out=[{"about": "P", "reason": "x" * 300}]))
    assert "larger than" in refusal({**GOOD, "x" * 301: 1})


def test_a_mapping_is_read_as_a_file_is(tmp_path):
    assert wb.verify(MappingProxyType(GOOD))
    assert "a key that is not text" in refusal({**GOOD, 1: 2})
    assert "this is not a certificate" in refusal([GOOD])
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(GOOD), "utf-8")
    assert read_document(path) == GOOD
    assert wb.verify(path, of=M, rhs=[-1, 1])
    path.write_text('{"a": -' + "9" * 4000 + "}", "utf-8")
    assert read_document(path) == {"a": 1 - 10**4000}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (b'{"a": 1, "b": 2, "a": 1}', "the key 'a' occurs twice"),
        (b'{"x": [{"c": 0, "d": 1, "d": 2}]}', "the key 'd' occurs twice"),
        (b'{"a": 1.0}', "holds the number 1.0"),
        (b'{"a": 1e400}', "holds the number 1e400"),
        (b'{"a": NaN}', "holds the number NaN"),
        (b'{"a": -Infinity}', "holds the number -Infinity"),
        (b'{"a": ' + b"9" * 4001 + b"}", "a whole number of 4001 digits"),
        (b"[" * 100_000, f"deeper than {limits.DEPTH}"),
        (b'{"a":' * 100_000, f"deeper than {limits.DEPTH}"),
    ],
)
def test_a_file_that_is_not_strict_json_is_refused_in_a_line(tmp_path, content, words):
    path = tmp_path / "proof.json"
    path.write_bytes(content)
    with pytest.raises(WorkbenchError, match=words):
        wb.verify(path)


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(GOOD), "utf-8")
    for limit, fits in ((path.stat().st_size, True), (path.stat().st_size - 1, False)):
        monkeypatch.setattr("workbench.certificates.documents.LARGEST", limit)
        if fits:
            assert read_document(path) == GOOD
        else:
            with pytest.raises(RefusedError, match="more than"):
                read_document(path)


@pytest.mark.parametrize(
    "claim",
    [
        {**SIGNS, "support": {"by": "entries", "note": "x"}},
        {**SIGNS, "support": {"by": ["entries"]}},
        {**SIGNS, "support": {}},
        {**SIGNS, "support": {"by": "split", "order": [0, 1], "L": [[], ["0"]], "D": ["1", "1"]}},
        {**SIGNS, "verdict": "maybe"},
        {**SIGNS, "verdict": ["yes"]},
        {"about": "PD", "verdict": "yes", "support": {"by": "ldl", "order": [0, 1], "L": [[], ["-1/2"]]}},
        {"about": "P", "verdict": "no", "support": {"index_set": [0], "minor": "1", "sign": "1"}},
        {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["minors", 1]]}},
        {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["transpose", 1], ["minors"]]}},
        {"about": "P", "verdict": "yes", "support": {"by": "tree", "tree": [["transpose"]] * 5000}},
        {"about": "solutions", "verdict": 1, "support": {"points": [], "cover": [], "by": "P"}},
        {"about": "solutions", "verdict": 1, "support": {"points": [["1/2", "0"]], "by": "PD"}},
        {"about": "solutions", "verdict": "infinite", "support": {"points": [], "cover": []}},
        {"about": "distance_to_degenerate", "verdict": ["0", None], "support": {"x": ["1"]}},
        {"about": "distance_to_degenerate", "verdict": ["0"], "support": {}},
        {"about": "distance_to_degenerate", "verdict": None, "support": {}},
        {"about": "distance_to_degenerate", "verdict": ["-1", None], "support": {}},
        {"about": "distance_to_degenerate", "verdict": ["0", None], "support": {"diagonal": {"W": ["1", "1"]}}},
        {"about": "distance_to_degenerate", "verdict": [None, None], "support": {}},
        {"about": "uniqueness", "verdict": "unique", "support": {"by": "equations"}},
        {"about": "cone problem", "verdict": "exists", "support": {"kind": "no impulse"}},
    ],
)
def test_a_claim_or_support_of_no_known_form_is_not_verified(claim):
    assert results(document({"M": M, "q": q}, claim)) == [NOT_VERIFIED]


def test_every_field_of_a_support_is_checked():
    singular = {"M": [["1", "1"], ["1", "1"]]}
    for support, result in (
        ({"index_set": [0, 1], "minor": "0", "x": ["1", "-1"]}, VERIFIED),
        ({"index_set": [0, 1], "minor": "0"}, VERIFIED),
        ({"index_set": [0, 1], "minor": "-1"}, REFUTED),
        ({"index_set": [0, 1], "minor": "0", "x": ["1", "1"]}, REFUTED),
    ):
        assert results(document(singular, {"about": "P", "verdict": "no", "support": support})) == [result]
    friction = {"W": [["1", "0"], ["0", "1"]], "q": ["1", "0"], "mu": ["1"], "d": 1}
    ldl = {"by": "ldl", "order": [0, 1], "L": [[], ["0"]], "D": ["2", "2"]}
    for support, result in (
        ({"kind": "no impulse"}, VERIFIED),
        ({"kind": "no impulse", "r": ["0", "0"]}, NOT_VERIFIED),
        ({"kind": ["no impulse"]}, NOT_VERIFIED),
        ({"kind": "self-stress", "r": ["0", "0"]}, NOT_VERIFIED),
        ({"kind": "definite", "factors": ldl}, VERIFIED),
        ({"kind": "definite", "factors": {**ldl, "D": ["2", "1"]}}, REFUTED),
        ({"kind": "definite", "factors": {**ldl, "by": "split"}}, NOT_VERIFIED),
        ({"kind": "definite", "factors": []}, NOT_VERIFIED),
    ):
        assert results(document(friction, {"about": "cone problem", "verdict": "exists", "support": support})) == [
            result
        ]
    listed = {"about": "cone problem", "verdict": ["exists"], "support": {"kind": "no impulse"}}
    assert results(document(friction, listed)) == [NOT_VERIFIED]
    unsolved = {"q": ["-1"], "z": ["1"], "cover": [["none", ["1"]]]}
    assert results(document({"M": [["-1"]]}, {"about": "Q", "verdict": "no", "support": unsolved})) == [REFUTED]


# Within a time.


def long_numbers(n, digits):
    """Positive numbers, those on the diagonal larger than the sum of the others."""
    rng = np.random.default_rng(1)
    one, nine = b"19"

    def number(digits):
        return rng.integers(one, nine + 1, digits, np.uint8).tobytes().decode()

    return [[number(digits + 3 * (i == j)) for j in range(n)] for i in range(n)]


LONG = long_numbers(20, 9000)
NO_SOLUTION = {"q": LONG[0], "cover": [["branch", 0], ["none", LONG[1]], ["none", LONG[2]]]}


@pytest.mark.parametrize(
    ("problem", "claim"),
    [
        ({"M": long_numbers(16, 300)}, {**SIGNS, "about": "P", "support": {"by": "tree", "tree": [["minors"]]}}),
        ({"M": [["1"] * 12] * 12}, {**SIGNS, "about": "E0", "support": {"by": "repetition"}}),
        ({"M": long_numbers(60, 2000)}, {"about": "rank", "verdict": 60, "support": {}}),
        ({"M": LONG}, {"about": "Q", "verdict": "no", "support": NO_SOLUTION}),
    ],
)
def test_the_time_limit_holds_inside_of_long_arithmetic(problem, claim):
    begun = process_time()
    found = verify(document(problem, *[claim] * (200 if len(str(claim)) < 1000 else 2)), seconds=0.1)
    assert process_time() - begun < 8
    assert found[-1].result == NOT_VERIFIED
    assert found[-1].reason == "the time limit of 0.1 s was over"
    assert not [f for f in verify(document({"M": M}, SIGNS)) if f.result != VERIFIED]


def test_a_time_limit_is_positive():
    for seconds in (0.0, -1.0, float("nan")):
        assert "give a positive number of seconds" in refusal(GOOD, seconds=seconds)
