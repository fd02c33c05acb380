"""One contact in space: where one slide is enough to find, and what all slides together say."""

import numpy as np
import pytest

from workbench.algorithms.one_contact import fill_sliding, has_one_answer, natural_map, one_contact, slide, slide_angles
from workbench.problems.classes import ConicQP, CoulombNCP

VERIFIED = 1e-11


def answers(W, q, mu, associated):
    """All solutions: take-off, stick and every zero of the slide equation, as far as the natural map verifies them."""
    found = [np.zeros(3), -np.linalg.solve(W, q)]
    angles = np.empty(12)
    for theta in angles[: slide_angles(W, q, mu, associated, angles)]:
        z = np.empty(3)
        fill_sliding(z, slide(W, q, mu, associated, theta)[0], mu, theta)
        found.append(z)
    kept: list[np.ndarray] = []
    for z in found:
        size = max(np.abs(z).max(), 1e-300)
        if natural_map(W, q, mu, associated, z, np.empty(3)) <= VERIFIED and not any(
            np.abs(z - other).max() <= 1e-6 * size for other in kept
        ):
            kept.append(z)
    return kept


def random_contact(rng, coupling):
    B = np.diag([1.0, *10.0 ** rng.uniform(-0.5, 0.5, 2)]) + coupling * rng.normal(size=(3, 3))
    return B @ B.T, rng.normal(size=3), float(rng.uniform(0.05, 1.5))


@pytest.mark.parametrize("associated", [False, True])
def test_where_one_answer_is_promised_there_is_one(associated):
    rng = np.random.default_rng(0)
    promised = 0
    for k in range(3000):
        W, q, mu = random_contact(rng, (0.1, 0.4, 1.0)[k % 3])
        if not has_one_answer(W, mu, associated):
            continue
        promised += 1
        (z,) = answers(W, q, mu, associated)
        kind = ConicQP if associated else CoulombNCP
        solution = np.empty(3)
        one_contact(W, q, mu, associated, solution)
        assert kind(W, q, [mu]).residual(solution) <= 1e-12
        np.testing.assert_allclose(solution, z, rtol=1e-8, atol=1e-8 * np.abs(z).max(initial=1e-3))
    assert promised > 800


def test_strong_coupling_has_several_answers_and_promises_none():
    """Friction drives the contact together: take-off, stick and slides hold at once."""
    rng = np.random.default_rng(1)
    several = 0
    for _ in range(3000):
        W, q, mu = random_contact(rng, 1.5)
        if len(answers(W, q, mu, False)) > 1:
            several += 1
            assert not has_one_answer(W, mu, False)
    assert several > 20


def test_the_promise_is_kept_up_to_its_bound_and_needs_symmetry():
    """For W = diag(1, a, b) the bound is mu^2 max(a, b) < 1, taken with a margin; for others it is in W's own units."""
    for a, b in ((1.0, 1.0), (4.0, 0.1), (0.2, 9.0)):
        critical = np.sqrt(0.9 / max(a, b))
        for scale in (1e-12, 1.0, 1e12):
            W = scale * np.diag([1.0, a, b])
            assert has_one_answer(W, 0.999 * critical, False)
            assert not has_one_answer(W, 1.001 * critical, False)
            W[0, 1] = 1e-3 * scale
            assert not has_one_answer(W, 0.5 * critical, False)
    assert not has_one_answer(np.diag([1.0, 0.0, 1.0]), 0.1, False)
    assert not has_one_answer(np.full((3, 3), np.nan), 0.1, False)
