"""Certificates of the number of solutions of Coulomb's law: what the verifier repeats, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

from tests.test_problem_certificates import certificate, with_digest
from workbench.certificates.coulomb_count import COUNT, check_count
from workbench.certificates.friction import Friction
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.verify import verify
from workbench.diagnostics.problem_check import in_rationals
from workbench.engine.timing import clock
from workbench.matrices.solutions.coulomb_solutions import coulomb_solutions
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
        number = coulomb_solutions(in_rationals(problem), clock() + 60.0).count
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
