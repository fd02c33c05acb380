"""Certificates that Coulomb's law has one solution for every q, or several for some: only true ones are accepted."""

from fractions import Fraction

import numpy as np
import pytest

from tests.test_coulomb_count import THREE, data
from tests.test_problem_certificates import certificate, with_digest
from workbench.certificates.coulomb_uniqueness import EVERY_Q, check_every_q
from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.verify import verify
from workbench.problems.friction_problem import FrictionProblem

COUPLED = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])


def every_q(document):
    return next((claim for claim in document["claims"] if claim["about"] == EVERY_Q), None)


def outcome(document, **changes):
    claim = {**every_q(document), **changes}
    return verify(with_digest({**document, "claims": [claim]}))[0].result


def holds(W, mu, d, verdict, **support):
    """Whether the verifier accepts a support; q has no effect."""
    r = len(mu)
    try:
        check_every_q(data(W, np.zeros(r * (1 + d)), mu, d), verdict, support)
    except RefusedError:
        return False
    return True


def several_found(W, mu, d, rng, tries):
    """Whether some q has several solutions, by Coulomb's law on samples: p_n, p_t of a slide or a stick gives q."""
    for _ in range(tries):
        e = rng.normal(size=d)
        e /= np.linalg.norm(e)
        c = W[0, 1:]
        stiff = W[0, 0] - mu * c @ e
        t = np.array([-e[1], e[0]]) if d == 2 else None
        B, b = W[1:, 1:], W[1:, 0]
        second = np.linalg.det(W) if d == 1 else stiff * (t @ B @ t) - (c @ t) * (b @ t - mu * t @ B @ e)
        if stiff < 0 or second < 0:
            return True
    return False


@pytest.mark.parametrize("d", [1, 2])
def test_the_criterion_is_that_of_its_inequalities(d):
    """At random W the verifier accepts it where both inequalities hold at all of many directions, and nowhere else."""
    rng, seen = np.random.default_rng(d), {True: 0, False: 0}
    for _ in range(200):
        W = np.round(0.5 * rng.normal(size=(1 + d, 1 + d)) + np.eye(1 + d), 2)
        mu = float(np.round(rng.uniform(0.05, 1.2), 2))
        fails = several_found(W, mu, d, rng, 400)
        accepted = holds(W, [mu], d, "unique", kind="criterion")
        # Samples may miss a narrow failure: then the verifier must find it.
        assert not (accepted and fails)
        seen[accepted] += 1
        if accepted == fails:
            assert d == 2
    assert min(seen.values()) > 20
    assert not holds(np.eye(2 * (1 + d)), [0.1, 0.1], d, "unique", kind="criterion")
    assert holds(np.eye(1 + d), [0.0], d, "unique", kind="criterion")
    assert not holds(-np.eye(1 + d), [0.0], d, "unique", kind="criterion")
    assert not holds(np.zeros((1 + d, 1 + d)), [0.0], d, "unique", kind="criterion")


def test_borders_of_the_criterion():
    # The critical friction of the contact with three solutions is sqrt(0.76); in the plane it is a / |c|.
    assert holds(COUPLED, [0.8717], 2, "unique", kind="criterion")
    assert not holds(COUPLED, [0.8718], 2, "unique", kind="criterion")
    assert not holds([[1, 0.5], [0.5, 1]], [2.0], 1, "unique", kind="criterion")
    assert holds([[1, 0.5], [0.5, 1]], [1.999], 1, "unique", kind="criterion")
    assert not holds([[1, 1], [1, 1]], [0.5], 1, "unique", kind="criterion")
    for c in (0.5, -0.5):
        W = [[1, c, 0], [c, 1, 0], [0, 0, 1]]
        assert holds(W, [1.999], 2, "unique", kind="criterion")
        assert not holds(W, [2.0], 2, "unique", kind="criterion")
    # The product of two negative numbers is positive.
    assert not holds(-np.eye(3), [0.5], 2, "unique", kind="criterion")
    assert not holds(-np.eye(2), [0.5], 1, "unique", kind="criterion")


def test_one_solution_for_a_q_shows_nothing():
    """In the plane, beyond the critical friction: q = (1, 2) has several solutions, (1, 0) one."""
    for q, shown in ((["1", "2"], True), (["1", "0"], False)):
        support = {"kind": "contact", "contact": 0, "q": q, "count": {"kind": "modes"}}
        assert holds([[1, 0.9], [0.9, 1]], [1.5], 1, "not unique", **support) == shown


def test_bounds_of_the_contraction_are_checked_one_by_one():
    W, mu = np.eye(6), [0.5, 0.5]
    assert holds(W, mu, 2, "unique", kind="contraction", normal="1", tangential="1/4")
    for normal, tangential in (("999/1000", "1/4"), ("1", "249/1000"), ("1", "1"), ("-1", "-1/4"), ("0", "1/4")):
        assert not holds(W, mu, 2, "unique", kind="contraction", normal=normal, tangential=tangential)
    for W in (-np.eye(6), np.zeros((6, 6)), np.diag([1, 1, 1, 1, 1, 0])):
        assert not holds(W, mu, 2, "unique", kind="contraction", normal="3/2", tangential="1/2")
    rng, seen = np.random.default_rng(3), 0
    for r, d in ((1, 1), (2, 1), (2, 2), (3, 2)):
        n = r * (1 + d)
        for _ in range(5):
            B = np.round(rng.normal(size=(n, n)), 2)
            W, mu = B @ B.T + n * np.eye(n) + 0.1 * np.round(rng.normal(size=(n, n)), 2), np.full(r, 0.3)
            claim = every_q(certificate(FrictionProblem(W, np.ones(n), mu, d)))
            if claim is None or claim["support"]["kind"] != "contraction":
                continue
            seen += 1
            k, m = (Fraction(claim["support"][name]) for name in ("normal", "tangential"))
            assert holds(W, mu, d, "unique", kind="contraction", normal=str(k), tangential=str(m))
            # The bounds are close to the smallest ones.
            assert not holds(W, mu, d, "unique", kind="contraction", normal=str(k * 9 / 10), tangential=str(m))
            assert not holds(W, mu, d, "unique", kind="contraction", normal=str(k), tangential=str(m * 9 / 10))
    assert seen > 5


def test_several_solutions_of_one_contact_are_shown_with_others_open():
    document = certificate(THREE)
    assert every_q(document)["verdict"] == "not unique"
    assert outcome(document) == VERIFIED
    support = every_q(document)["support"]
    for change in (
        {"q": ["1", "0", "0"]},
        {"contact": 1},
        {"contact": -1},
        {"count": None},
        {"count": {"kind": "modes"}},
    ):
        assert outcome(document, support=support | change) != VERIFIED
    assert outcome(document, verdict="unique") != VERIFIED
    assert outcome(document, verdict="unique", support={"kind": "criterion"}) != VERIFIED
    # As the second of two contacts.
    W, order = np.eye(6), [1, 4, 5]
    W[np.ix_(order, order)] = COUPLED
    both = certificate(FrictionProblem(W, np.ones(6), [0.1, 1.05], 2))
    assert (every_q(both)["verdict"], every_q(both)["support"]["contact"]) == ("not unique", 1)
    assert outcome(both) == VERIFIED
    assert outcome(both, support=every_q(both)["support"] | {"contact": 0}) != VERIFIED


@pytest.mark.parametrize(("W", "mu", "d", "verdict"), [
    (np.eye(3), [0.5], 2, "unique"), (COUPLED, [0.8], 2, "unique"), (np.eye(6), [0.5, 0.2], 2, "unique"),
    (np.eye(2), [0.5], 1, "unique"), ([[1, 0.9], [0.9, 1]], [1.5], 1, "not unique"),
    (-np.eye(3), [0.0], 2, "not unique"), ([[1, 0.2], [2, 0.1]], [0.5], 1, "not unique"),
])  # fmt: skip
def test_what_check_says_of_every_q_is_certified(W, mu, d, verdict):
    document = certificate(FrictionProblem(np.array(W, dtype=float), np.full(len(mu) * (1 + d), -1.0), mu, d))
    assert every_q(document)["verdict"] == verdict
    assert outcome(document) == VERIFIED
    other = {"unique": "not unique", "not unique": "unique"}[verdict]
    assert outcome(document, verdict=other) != VERIFIED


def test_every_island_has_one_solution():
    """Forty contacts that nothing couples: more than 90 rows, checked island by island."""
    W = np.kron(np.eye(3), np.eye(40))
    document = certificate(FrictionProblem(W, np.ones(120), np.full(40, 0.5), 2))
    claim = every_q(document)
    assert (claim["verdict"], claim["support"]["kind"]) == ("unique", "islands")
    assert outcome(document) == VERIFIED
    islands = claim["support"]["islands"]
    for false in (islands[1:], [*islands, islands[0]], [{**islands[0], "contacts": [0, 1]}, *islands[1:]], None):
        assert outcome(document, support={"kind": "islands", "islands": false}) != VERIFIED
    W[0, 1] = 0.1
    coupled = {**document, "problem": document["problem"] | {"W": [[str(Fraction(x)) for x in row] for row in W]}}
    assert outcome(coupled) != VERIFIED
