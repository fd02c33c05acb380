"""Certificates of the number of solutions of Coulomb's law: what the verifier repeats, and what it refuses."""

import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.test_problem_certificates import certificate, with_digest
from workbench.certificates.coulomb_count import COUNT, check_count
from workbench.certificates.friction import Friction
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.verify import verify
from workbench.cli.main import main
from workbench.diagnostics.problem_check import in_rationals
from workbench.engine.timing import clock
from workbench.matrices.solutions.coulomb_islands import solutions_by_islands
from workbench.problems.friction_problem import FrictionProblem

THREE = FrictionProblem(
    np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]), np.array([-0.44875, -0.2583333333, 0.8934561483]),
    np.array([1.05]), 2,
)  # fmt: skip


def count_claim(document):
    return next((claim for claim in document["claims"] if claim["about"] == COUNT), None)


def outcome(document, **changes):
    """The verifier's outcome for the claim on the number, with some of its fields changed."""
    claim = {**count_claim(document), **changes}
    return verify(with_digest({**document, "claims": [claim]}))[0].result


def data(W, q, mu, d):
    rows = [[Fraction(x) for x in row] for row in W]
    return Friction(rows, [Fraction(x) for x in q], [Fraction(x) for x in mu], d)


def test_three_solutions_of_one_contact_are_proved_to_be_all():
    document = certificate(THREE)
    assert count_claim(document)["verdict"] == 3
    assert outcome(document) == VERIFIED
    assert all(outcome(document, verdict=k) != VERIFIED for k in (0, 1, 2, 4, "3", None))


def test_brackets_must_hold_all_directions_and_one_each():
    document = certificate(THREE)
    kind, brackets = "directions", count_claim(document)["support"]["brackets"]
    assert len(brackets) >= 2
    for k, (lo, hi) in enumerate(brackets):
        rest = brackets[:k] + brackets[k + 1 :]
        width = Fraction(hi) - Fraction(lo)
        moved = [str(Fraction(lo) + width), str(Fraction(hi) + width)]
        for false in (
            rest,
            [*rest, moved],
            [*brackets, [lo, hi]],
            [*rest, [hi, lo]],
            [*brackets, moved],
            [*rest, [lo]],
        ):
            assert outcome(document, support={"kind": kind, "brackets": false}) != VERIFIED
    whole = [["-1000000", "1000000"]]
    assert outcome(document, support={"kind": kind, "brackets": whole}) != VERIFIED
    assert outcome(document, support={"kind": "modes"}) != VERIFIED
    assert outcome(document, support={"kind": kind, "brackets": brackets, "more": []}) != VERIFIED


@pytest.mark.parametrize(("r", "d"), [(1, 2), (1, 1), (2, 1)])
def test_numbers_found_by_the_search_are_repeated(r, d):
    rng, seen = np.random.default_rng(r + 10 * d), set()
    n = r * (1 + d)
    for _ in range(10):
        # Not symmetric, and often indefinite: numbers from zero on.
        W = np.round(rng.normal(size=(n, n)) + 0.7 * np.eye(n), 3)
        problem = FrictionProblem(W, np.round(rng.normal(size=n), 3), np.round(rng.uniform(0, 2, r), 2), d)
        document = certificate(problem)
        number = solutions_by_islands(in_rationals(problem), clock() + 60.0).count
        assert count_claim(document)["verdict"] == number
        assert outcome(document) == VERIFIED
        assert outcome(document, verdict=number + 1) != VERIFIED
        seen.add(number)
    assert {0, 1} <= seen


def test_a_direction_at_infinity_is_tried():
    # W = I: u_t = q_t - p_t, so that p_t opposes q_t = (-1, 0), where the tangent of half the angle is infinite.
    p = data(np.eye(3), [-1, -1, 0], [Fraction(1, 2)], 2)
    brackets = [["-1", "1"]]
    # At e = (1, 0) the velocity points the other way.
    check_count(p, 1, {"kind": "directions", "brackets": brackets})
    with pytest.raises(RefusedError):
        check_count(p, 0, {"kind": "directions", "brackets": brackets})


@pytest.mark.parametrize(
    ("W", "q", "mu", "d", "support"),
    [
        # At the border between stick and slip.
        (np.eye(3), [-2, -1, 0], [Fraction(1, 2)], 2, {"kind": "directions", "brackets": [["-1", "1"]]}),
        # Impulses of redundant contacts form a continuum.
        (np.zeros((2, 2)), [0, 0], [1], 1, {"kind": "modes"}),
        # Without velocity at q = 0 and a large mu, D vanishes in some direction.
        ([[1, 1, 0], [1, 2, 0], [0, 0, 1]], [0, 0, 0], [2], 2, {"kind": "directions", "brackets": []}),
        # Two contacts in space.
        (np.eye(6), [1, 1, 0, 0, 0, 0], [1, 1], 2, {"kind": "modes"}),
    ],
)
def test_what_is_not_decided_is_refused(W, q, mu, d, support):
    for number in range(4):
        with pytest.raises(RefusedError):
            check_count(data(W, q, mu, d), number, support)


def test_without_normal_velocity_a_contact_may_only_touch():
    check_count(data(np.eye(3), [0, 1, 0], [1], 2), 1, {"kind": "directions", "brackets": []})


def test_numbers_that_are_not_repeated_are_left_out_with_a_reason():
    W = np.eye(6)
    W[0, 1] = W[1, 0] = 0.1
    document = certificate(FrictionProblem(W, np.array([-1.0, -1, 2, 0, 0, 2]), np.array([0.5, 0.5]), 2))
    assert count_claim(document) is None
    assert next(x["reason"] for x in document["left_out"] if x["about"] == COUNT).endswith("not repeated")


def test_numbers_of_islands_are_repeated_one_by_one_and_multiplied():
    r = 3
    W, q = np.zeros((3 * r, 3 * r)), np.zeros(3 * r)
    for i in range(r):
        rows = [i, r + 2 * i, r + 2 * i + 1]
        W[np.ix_(rows, rows)], q[rows] = THREE.dense, THREE.q
    document = certificate(FrictionProblem(W, q, np.full(r, 1.05)))
    claim = count_claim(document)
    assert claim["verdict"] == 27
    assert outcome(document) == VERIFIED
    assert all(outcome(document, verdict=k) != VERIFIED for k in (1, 3, 9, 26, 81))
    first, second, third = claim["support"]["islands"]
    more = {"contacts": [0], "support": {"kind": "islands", "islands": [first]}}
    for islands in (
        [first, second], [first, second, second], [first, second, third, third], [more, second, third], [], None,
        [first, second, {**third, "contacts": []}], [first, second, {**third, "support": []}],
        [first, second, {**third, "contacts": [1]}], [{**first, "contacts": [0, 1]}, third],
        [first, second, {**third, "more": 1}],
    ):  # fmt: skip
        assert outcome(document, support={"kind": "islands", "islands": islands}) != VERIFIED
    # A coupling between them would make them no islands.
    W[0, 1] = W[1, 0] = 0.1
    coupled = certificate(FrictionProblem(W, q, np.full(r, 1.05)))
    document["problem"] = coupled["problem"]
    assert outcome(document) != VERIFIED


def test_numbers_of_islands_of_a_large_problem_are_repeated():
    """More contacts than are taken together in rationals."""
    r = 40
    W = np.eye(3 * r)
    q = np.concatenate([np.full(r, -1.0), np.tile([0.25, 0.1], r)])
    document = certificate(FrictionProblem(W, q, np.full(r, 0.5)))
    assert count_claim(document)["verdict"] == 1
    assert outcome(document) == VERIFIED
    assert outcome(document, verdict=2) != VERIFIED


def test_what_a_certificate_leaves_out_is_shown(tmp_path, capsys):
    """Of two contacts in space that are coupled the number is found by a search that the verifier does not repeat."""
    W = np.eye(6) + 0.1
    document = certificate(FrictionProblem(W, np.array([-1.0, -1, 0.2, 0.1, 3, 0.1]), [0.5, 0.5]))
    assert count_claim(document) is None
    verified = wb.verify(document)
    assert [x["about"] for x in verified.left_out] == [COUNT]
    assert f"Not in the certificate: {COUNT}: that it is 1 is proved by a search in ball arithmetic" in verified.text
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(document))
    assert main(["verify", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == document["left_out"]
    alone = [sys.executable, "-m", "workbench.certificates", str(path)]
    assert "Not in the certificate" in subprocess.run(alone, capture_output=True, text=True, check=True).stdout
