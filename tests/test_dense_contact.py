"""The dense reference solver: its answers obey the laws as they are written down."""

import numpy as np
import pytest

from tests.dense_contact import dense_step, one_contact, solve
from workbench.mechanics.instant import instant


def breaches(W, q, p):
    """How far p is from Coulomb's law on |p_t| <= p_n, condition by condition."""
    u = W @ p + q
    slip, force = np.linalg.norm(u[1:]), np.linalg.norm(p[1:])
    # Against maximum dissipation: sliding friction has its full size, against the slip.
    return [-p[0], -u[0], p[0] * u[0], force - p[0], p[1:] @ u[1:] + p[0] * slip]


@pytest.mark.parametrize("d", [0, 1, 2, 3, 5])
def test_one_contact_opens_sticks_and_slides_as_the_law_says(d):
    rng = np.random.default_rng(d)
    found = set()
    for _ in range(200):
        B = rng.normal(size=(1 + d, 2 + d))
        W, q = B @ B.T, rng.normal(size=1 + d) - np.append(1.0, np.zeros(d))
        p = one_contact(W, q)
        u = W @ p + q
        assert max(breaches(W, q, p)) < 1e-9 * max(1.0, np.abs(q).max(), np.abs(p).max())
        found.add("open" if not p.any() else "sticks" if np.linalg.norm(u[1:]) < 1e-9 else "slides")
    assert found == {"open", "sticks"} | ({"slides"} if d else set())


def random_instant(rng):
    """Three bodies with contacts of every kind, dry friction that gives way or not, and a bilateral row."""
    n, d = 18, rng.choice([0, 1, 2, 3, 5], 5)
    first = np.append(0, np.cumsum(1 + d))
    B = rng.normal(size=(n, n))
    return instant(
        0.01, B @ B.T + n * np.eye(n), rng.normal(size=n), 9.0 * rng.normal(size=n), first=first,
        J=rng.normal(size=(first[-1], n)), mu=rng.choice([0.0, 0.02, 0.5, 1.0], first[-1]),
        phi=rng.choice([0.0, 0.01], 5), e=rng.choice([0.0, 0.5], 5), J_f=rng.normal(size=(3, n)),
        limit=[1e-3, 0.1, 10.0], J_b=rng.normal(size=(1, n)), g=[1e-3],
    )  # fmt: skip


def test_a_step_with_contacts_of_every_kind_obeys_every_law_at_once():
    rng = np.random.default_rng(0)
    for _ in range(12):
        step = dense_step(random_instant(rng))
        p, residual = solve(step)
        assert residual < 1e-10
        u = step.W @ p + step.q
        for rows in step.cones:
            W = step.W[np.ix_(rows, rows)]
            assert max(breaches(W, u[rows] - W @ p[rows], p[rows])) < 1e-8
        dry, bilateral = slice(step.dry, step.free), slice(step.free, None)
        assert np.abs(p[dry]).max() <= 1 + 1e-9
        assert np.abs(p[dry] * u[dry] + np.abs(u[dry])).max() < 1e-8
        assert np.abs(u[bilateral]).max() < 1e-8
        assert np.abs(step.A @ step.velocity(p) + step.q - step.A @ step.velocity(0 * p) - u).max() < 1e-8


def test_a_direction_of_smaller_friction_carries_no_more_than_its_own_share():
    at = instant(
        0.01, np.eye(3), [3.0, 0.0, 0.0], [0.0, 0.0, -10.0], first=[0, 3], J=np.eye(3)[[2, 0, 1]], mu=[1.0, 0.2, 0.7]
    )
    p, _ = solve(step := dense_step(at))
    assert np.allclose(step.velocity(p), [3.0 - 0.2 * 0.1, 0.0, 0.0], atol=1e-12)


def test_dry_friction_gaps_and_rebounds_are_counted_in_their_own_units():
    at = instant(
        0.01, np.eye(4), [2.0, 0.1, -3.0, -3.0], np.zeros(4), J_f=np.eye(4)[:2], limit=[0.5, 0.5], first=[0, 1, 2],
        J=np.eye(4)[2:], phi=[0.02, 0.0], e=[0.0, 0.5],
    )  # fmt: skip
    p, _ = solve(step := dense_step(at))
    assert np.allclose(step.velocity(p), [1.5, 0.0, -2.0, 1.5], atol=1e-12)
