"""Certificates of friction problems and of problems with bounds: every verdict is proved, and nothing false is."""

import contextlib
import copy
import json
import random

import numpy as np
import pytest

import workbench as wb
from tests.proofs import NOT_VERIFIED, with_digest
from tests.proofs import document as document_of
from tests.stress import damaged
from tests.test_bounded import random_box
from tests.test_existence import CLAMP, CLAMP_IN_SPACE
from workbench.certificates.coulomb_uniqueness import EVERY_Q
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem

FLOOR = CLAMP_IN_SPACE[[0, 2, 3]]


def friction(J, q, mu, d):
    J = np.asarray(J, float)
    return FrictionProblem(J @ J.T, np.asarray(q, float), np.full(len(J) // (1 + d), float(mu)), d)


def certificate(problem):
    """As it comes back from a file."""
    return json.loads(json.dumps(wb.check(problem).certificate()))


PROBLEMS = [
    (friction(CLAMP, [-1, -1, 0, 0], 0.5, 1), {("Coulomb's law", "self-stress"), ("cone problem", "self-stress")}),
    (friction(CLAMP, [1, -1, 0, 0], 0.5, 1), {("Coulomb's law", "polyhedral"), ("cone problem", "polyhedral")}),
    (friction(CLAMP, [1, -1, 1, -1], 0.5, 1), {("Coulomb's law", "solution"), ("cone problem", "self-stress")}),
    (friction(FLOOR, [-1, 3, 4], 0.5, 2), {("Coulomb's law", "interior"), ("cone problem", "interior")}),
    (friction(FLOOR, [1, 1, 0], 0.5, 2), {("Coulomb's law", "no impulse"), ("cone problem", "no impulse")}),
    (friction(CLAMP_IN_SPACE, [1, -1, 1, 0, -1, 0], 0.5, 2), {("cone problem", "self-stress")}),
    (
        FrictionProblem(np.eye(93) + 0.01, np.r_[-np.ones(31), np.zeros(62)], np.full(31, 0.5), 2),
        {("Coulomb's law", "definite")},
    ),
    pytest.param(
        friction(np.eye(93), np.r_[-np.ones(31), np.zeros(62)], 0.5, 2),
        {("Coulomb's law", "islands")},
        marks=pytest.mark.thorough,
    ),
    # A negative mass at the contact: no impulse stops it, and no theorem but the search says so.
    (FrictionProblem(-np.eye(2), np.array([-1.0, 0.0]), np.array([0.5]), 1), {("Coulomb's law", "cover")}),
    pytest.param(
        FrictionProblem(-np.eye(4), np.array([-1.0, -1.0, 0.0, 0.0]), np.full(2, 0.5), 1),
        {("Coulomb's law", "cover")},
        marks=pytest.mark.thorough,
    ),
]


@pytest.mark.parametrize(("problem", "kinds"), PROBLEMS, ids=lambda x: "" if isinstance(x, set) else str(x.q[:6]))
def test_existence_and_absence_are_proved_to_the_checker(problem, kinds):
    document = certificate(problem)
    found = {(claim["about"], claim["support"]["kind"]) for claim in document["claims"]}
    assert kinds <= found
    assert wb.verify(document, of=problem).holds
    for claim in document["claims"]:
        false = copy.deepcopy(document)
        other = {"exists": "none", "none": "exists"}.get(claim["verdict"], 7)
        false["claims"] = [{**claim, "verdict": other}]
        assert verify(with_digest(false))[0].result != VERIFIED
        # The same proof about a problem that pushes the contacts together, or apart, harder than its vectors reach.
        false["claims"], false["problem"]["q"] = [claim], [str(-1000 * (claim["verdict"] == "exists"))] * problem.size
        if claim["about"] != EVERY_Q and claim["support"]["kind"] not in ("definite", "cover", "modes", "directions"):
            assert verify(with_digest(false))[0].result != VERIFIED


def test_bounded_problems_are_proved_to_have_one_solution_for_every_q_or_not():
    rng, seen = np.random.default_rng(3), set()
    for _ in range(60):
        n = int(rng.integers(1, 5))
        lower, upper = random_box(rng, n)
        M = rng.integers(-2, 3, (n, n)) + 2.0 * np.eye(n) * rng.integers(0, 2)
        problem = MLCP(M, np.zeros(n), lower, upper)
        if problem.kind == "LCP":
            continue
        document = certificate(problem)
        assert document["left_out"] == []
        for claim, finding in zip(document["claims"], verify(document), strict=True):
            assert finding.result == VERIFIED, (M, lower, upper, finding)
            seen.add(claim["verdict"])
            other = {"unique": "not unique", "not unique": "unique"}[claim["verdict"]]
            false = {**document, "claims": [{**claim, "verdict": other}]}
            assert verify(with_digest(false))[0].result != VERIFIED
    assert seen == {"unique", "not unique"}


def test_damage_proves_nothing_false():
    chance, kept = random.Random(5), 0
    for problem, _ in PROBLEMS[:6]:
        whole = certificate(problem)
        true = {(claim["about"], str(claim["verdict"])) for claim in whole["claims"]}
        for _ in range(60):
            broken = with_digest({**whole, "claims": damaged(whole["claims"], chance)})
            with contextlib.suppress(RefusedError):
                held = {(f.about, f.claim) for f in verify(broken) if f.result == VERIFIED}
                assert held <= true
                kept += len(held)
            spoilt = {**whole, "problem": damaged(whole["problem"], chance)}
            if json.dumps(spoilt) != json.dumps(whole):
                with pytest.raises(RefusedError):
                    verify(spoilt)
    assert kept > 50


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"W": [["1"]], "q": ["0"], "mu": ["1"], "d": 1}, "do not have 1 rows"),
        ({"W": [["1", "0"], ["0", "1"]], "q": ["0", "0"], "mu": ["-1"], "d": 1}, "negative"),
        ({"W": [["1", "0"], ["0"]], "q": ["0", "0"], "mu": ["1"], "d": 1}, "row 1 of W"),
        ({"W": 1, "q": ["0", "0"], "mu": ["1"], "d": 1}, "W is not a list"),
        ({"W": [["1"]], "q": ["0"], "mu": 1, "d": 1}, "0 contacts"),
        ({"W": [["1", "0"], ["0", "1"]], "q": ["0", "0"], "mu": ["1"], "d": 2}, "do not have 2 rows"),
        ({"W": [["1", "0"], ["0", "1"]], "q": ["0", "0"], "mu": ["1", "1"], "d": 0}, "do not have 2 rows"),
        ({"W": [["1", "0"], ["0", "1"]], "q": ["0", "0"], "mu": ["1"]}, "has the fields"),
    ],
)
def test_a_friction_problem_that_is_none_is_refused(given, words):
    with pytest.raises(RefusedError, match=words):
        verify(document_of(given))


def test_claims_need_the_problem_that_they_are_about():
    claims = [
        {"about": "Coulomb's law", "verdict": "exists", "support": {"kind": "no impulse"}},
        {"about": "uniqueness", "verdict": "unique", "support": {"tree": [["minors"]]}},
        {"about": "solutions", "verdict": 0, "support": {"points": [], "cover": []}},
        {"about": "nonsense", "verdict": "yes", "support": {}},
        {"about": "P", "verdict": "yes", "support": None},
    ]
    document = {
        "format": "contact workbench certificate", "version": 2, "problem": {"M": [["1"]]}, "claims": claims,
        "left_out": [],
    }  # fmt: skip
    assert {finding.result for finding in verify(with_digest(document))} == {NOT_VERIFIED}


def test_the_answers_come_first_and_every_question_has_its_row():
    found = wb.check(PROBLEMS[0][0])
    questions = ["For every q", "For this q", "Coulomb's law", "Cone problem"]
    assert [sentence.partition(":")[0] for sentence in found.words] == questions
    assert all("no solution" in sentence for sentence in found.words[1:])
    page = found.html()
    assert page.index("Cone problem: no solution") < page.index("<table>")
    assert set(found.frame["question"]) >= {"problem", "rank", "P-matrix", "Coulomb's law", "cone problem"}
    bounded = wb.check(MLCP(np.eye(1), -np.ones(1), np.zeros(1), np.ones(1)))
    assert [sentence.partition(":")[0] for sentence in bounded.words] == ["For every q", "For this q"]


def test_from_a_friction_file_to_a_verified_certificate(tmp_path, capsys):
    problem, proof = tmp_path / "clamp.npz", str(tmp_path / "proof.json")
    p = PROBLEMS[0][0]
    np.savez(problem, W=p.dense, q=p.q, mu=p.mu)
    assert main(["check", str(problem), "--certificate", proof]) == 0
    assert main(["verify", proof, "--of", str(problem)]) == 0
    assert "3 of 3 claims hold" in capsys.readouterr().out
    np.savez(problem, W=p.dense, q=-p.q, mu=p.mu)
    assert main(["verify", proof, "--of", str(problem)]) == 2
    assert "another problem" in capsys.readouterr().err
