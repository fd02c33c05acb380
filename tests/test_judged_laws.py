"""The judge of laws other than Coulomb's: what obeys a law is acquitted, what breaks it is not."""

import numpy as np
import pytest

from workbench.judge.coulomb import judge
from workbench.judge.laws import Terms, judge_by
from workbench.mechanics.law import Law


def terms(seed, d):
    """A random answer of one contact, W = 1: free velocity q, impulses p, velocities p + q."""
    rng = np.random.default_rng(seed)
    p, q = rng.standard_normal(1 + d), rng.standard_normal(1 + d)
    u = p + q
    return Terms(p[:1], p[None, 1:], u[:1], u[None, 1:], np.array([0.5]), np.eye(1 + d), q)


@pytest.mark.parametrize(("law", "d"), [
    (Law("frictionless", axes=(0.0,)), 2), (Law("line", axes=(1.0, 0.0)), 2),
    (Law("ellipse", axes=(0.3, 1.2)), 2), (Law("sticky", cohesion=2.0), 2),
    (Law("Tresca", limit=0.7), 2), (Law("Tresca", limit=0.7), 1), (Law("apart", apart=True), 5),
    (Law("apart", apart=True), 3), (Law("all", axes=(1.0, 0.5, 2.0, 1.0, 1.0), cohesion=0.3, apart=True), 5),
], ids=lambda x: getattr(x, "name", x))  # fmt: skip
def test_what_obeys_a_law_is_found_to_and_what_breaks_it_is_not(law, d):
    """The law's answer for W = 1 by a fixed point of its projections, and other impulses beside it."""
    h, mu, rng = 0.1, 0.5, np.random.default_rng(3)
    ratios = law.ratios(d)
    parts = [slice(0, 2), slice(2, 3), slice(3, d)] if law.apart else [slice(0, d)]
    for seed in range(8):
        q = np.append(rng.standard_normal() - 1.5, 2.0 * np.random.default_rng(seed).standard_normal(d))
        pull = law.cohesion * h
        p_n = max(-q[0], -pull)
        p_t = np.zeros(d)
        for k in (slice(a.start, min(a.stop, d)) for a in parts if a.start < d):
            limit = law.limit * h if law.limit is not None else mu * (p_n + pull)
            if limit == 0:
                continue
            free = -q[1:][k]
            s = ratios[k]
            if np.linalg.norm(np.divide(free, s, out=np.full_like(free, np.inf), where=s > 0)) <= limit:
                p_t[k] = free
                continue
            # p = s^2 free / (s^2 + x) has the size of the limit in the terms of the axes.
            low, high = 0.0, 1e9
            for _ in range(200):
                x = 0.5 * (low + high)
                size = np.linalg.norm(s * free / (s**2 + x))
                low, high = (x, high) if size > limit else (low, x)
            p_t[k] = s**2 * free / (s**2 + x)

        def judged(p, q=q):
            u = q + p
            given = Terms(p[:1], p[None, 1:], u[:1], u[None, 1:], np.array([mu]), np.eye(1 + d), q)
            return judge_by(law, h, given)

        p = np.append(p_n, p_t)
        right = judged(p)
        assert max(right.signorini, right.cone, right.dissipation, right.natural_map) < 1e-7
        for i in range(1 + d):
            if i == 0 or ratios[i - 1] > 0 or law.limit is not None:
                wrong = p.copy()
                wrong[i] += 0.3
                assert judged(wrong).natural_map > 1e-3


def test_by_coulombs_law_the_judge_of_laws_is_the_judge():
    # Torsion and rolling apart are none where there are two directions.
    for law, d in ((Law(), 1), (Law(), 2), (Law(), 3), (Law("apart", apart=True), 2)):
        given = terms(d, d)
        own, plain = judge_by(law, 0.1, given), judge(*given)
        for name in ("signorini", "cone", "dissipation", "natural_map"):
            assert getattr(own, name) == getattr(plain, name)
