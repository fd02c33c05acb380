"""What contacts may do beside sliding: stick, slip, separation, impulses; friction that every direction bears."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_mat

import workbench as wb
from tests.sliding_systems import painleve
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.wheel import Wheel
from workbench.diagnostics.contact_exact import ExactContacts, exact_contacts
from workbench.diagnostics.painleve_contacts import alternatives
from workbench.diagnostics.slip_directions import any_direction
from workbench.diagnostics.slip_modes import SEPARATION, STICK, impacts, motions
from workbench.diagnostics.slip_modes_space import motions_in_space
from workbench.step.sliding.exact import as_rational
from workbench.step.sliding.state import ClosedContacts, SlidingState, closed_contacts, sliding_system
from workbench.step.sliding.system import SlidingSystem

FORWARD = "forward slip"
REVERSE = "reverse slip"


def contacts(W, w, mu, d, u=None):
    def column(x):
        return fmpq_mat([[as_rational(float(v))] for v in x])

    exact = fmpq_mat([[as_rational(v) for v in row] for row in np.asarray(W, dtype=float).tolist()])
    return ExactContacts(exact, column(w), column(np.zeros(len(w)) if u is None else u), tuple(map(as_rational, mu)), d)


def random_contacts(rng, r, d, least=0.02):
    n = (1 + d) * r
    A = rng.normal(size=(n, n))
    return A @ A.T + least * np.eye(n), rng.normal(size=n), rng.uniform(0.2, 3.0, r)


# In the plane


def rod_motions(case):
    """The motions of the rod's tip at rest, in closed form, from the rod's own lengths and angles."""
    c, s = np.cos(np.radians(case.angle)), np.sin(np.radians(case.angle))
    W_nn, W_nt, W_tt = (1 + c * c / case.kappa, -c * s / case.kappa, 1 + s * s / case.kappa)
    w_n, w_t = case.l * s * case.spin**2 - case.gravity, case.l * c * case.spin**2
    found = {SEPARATION: (0.0, 0.0)} if w_n > 0 else {}
    det = W_nn * W_tt - W_nt**2
    stick = -case.m * np.array([W_tt * w_n - W_nt * w_t, W_nn * w_t - W_nt * w_n]) / det
    if abs(stick[1]) < case.mu * stick[0]:
        found[STICK] = tuple(stick)
    for mode, side in ((FORWARD, 1), (REVERSE, -1)):
        force = -case.m * w_n / (W_nn - side * case.mu * W_nt)
        if force > 0 and side * (w_t + (W_nt - side * case.mu * W_tt) * force / case.m) > 0:
            found[mode] = (force, -side * case.mu * force)
    return found


def test_the_rod_at_rest_may_do_what_its_closed_forms_allow():
    rng, seen = np.random.default_rng(4), set()
    for _ in range(60):
        case = Rod(angle=rng.uniform(5, 175), spin=rng.choice([0.0, rng.uniform(0, 8)]), mu=rng.uniform(0.05, 4.0),
                   speed=0.0, kappa=rng.uniform(0.05, 1.0), m=rng.uniform(0.5, 2))  # fmt: skip
        found, expected = alternatives(case).motions, rod_motions(case)
        assert found.open == ""
        assert {m.modes[0] for m in found.found} == set(expected)
        for m in found.found:
            np.testing.assert_allclose(m.forces[0], expected[m.modes[0]], rtol=1e-9, atol=1e-9)
        seen.add(tuple(sorted(expected)))
    # For the rod never several: where its tip separates, l sin(theta) theta'^2 > g, the force of stick is negative.
    assert seen == {(SEPARATION,), (STICK,), (FORWARD,), (REVERSE,)}


def test_an_impulse_stops_the_rod_exactly_where_its_friction_is_beyond_the_critical_one():
    for angle, mu, spin in ((63.0, 1.4, 0.0), (63.0, 1.3, 0.0), (30.0, 2.6, 0.0), (63.0, 1.4, 5.0), (100.0, 3.0, 0.0)):
        case = Rod(angle=angle, mu=mu, spin=spin)
        a, _ = case.scalar_lcp(*case.start())
        found = alternatives(case).impacts
        assert found.open == ""
        assert [m.modes for m in found.found] == ([(STICK,)] if a < 0 else [])
        for m in found.found:
            assert m.forces[0][0] == pytest.approx(case.impulse(0.0), rel=1e-12)
    assert alternatives(Rod(speed=0.0)).impacts is None


def test_a_contact_at_rest_has_an_odd_number_of_motions_and_each_obeys_the_law():
    rng, counts = np.random.default_rng(0), set()
    for _ in range(60):
        W, w, mu = random_contacts(rng, 1, 1)
        found = motions(contacts(W, w, mu, 1), 1e-12, 0.0)
        counts.add(len(found.found))
        for m in found.found:
            (n, t), (a_n, a_t) = m.forces[0], m.rates[0]
            np.testing.assert_allclose(W @ [n, t] + w, [a_n, a_t], rtol=0, atol=1e-9 * (1 + abs(n)))
            assert min(n, a_n) == 0 <= max(n, a_n)
            assert abs(t) <= mu[0] * n * (1 + 1e-12)
            assert a_t == 0 or n == 0 or t == pytest.approx(-mu[0] * n * np.sign(a_t))
    assert counts == {1, 3}


def test_two_contacts_slide_or_rest_as_the_lcp_of_sliding_says():
    """Contacts that slide have the answers of the sliding LCP; the others those of all choices of slip and stick."""
    rng, counts = np.random.default_rng(3), set()
    for _ in range(40):
        M, J_b, J_n, J_t = np.eye(5), *(rng.normal(size=(r, 5)) for r in (1, 2, 2))
        f, mu, u = rng.normal(size=5), rng.uniform(0.2, 3, 2), rng.choice([-1.0, 1.0], 2)
        w_b, w_n, none = rng.normal(size=1), rng.normal(size=2), np.zeros((2, 1))
        c = ClosedContacts(np.arange(2), M, f, J_b, w_b, J_n, w_n, J_t[:, None], none, u[:, None], mu)
        found = motions(exact_contacts(c), 1e-12, 1e-3)
        system = SlidingSystem(M, f, J_b, 0 * J_b, 0.0, 1.0, w_b, J_n, J_t, mu, u, w_n)
        expected = sorted(a.multipliers.lambda_nu.tolist() for a in painleve(system).regime.answers)
        np.testing.assert_allclose(sorted([row[0] for row in m.forces] for m in found.found), expected, atol=1e-9)
        counts.add(len(expected))
    assert len(counts) >= 3


def test_what_hangs_on_rounding_is_open():
    # A force on the border of the cone, within the tolerance and beyond it.
    for off, words in ((0.0, "stick"), (1e-13, "stick"), (1e-6, "")):
        found = motions(contacts(np.eye(2), [-1.0, 0.5 + off], [0.5], 1), 1e-9, 0.0)
        assert words in found.open
        assert bool(found.open) == bool(words)
    found = motions(contacts([[1, 1], [1, 1]], [-1.0, 0.5], [0.5], 1), 1e-9, 0.0)
    assert "not determined" in found.open
    e = contacts(np.eye(2), [-1.0, 0.1], [0.0], 1)
    assert motions(e, 1e-9, 0.0).name == "frictionless"
    assert impacts(e, 1e-9).found == []


# In space


def scanned(W, w, mu):
    """How many directions of slip a fine scan of the circle finds."""
    angle = np.linspace(-np.pi, np.pi, 8001)
    t = np.stack([np.cos(angle), np.sin(angle)])
    stiff = W[0, 0] - mu * W[0, 1:] @ t
    force = -w[0] / stiff
    a = w[1:, None] + force * (W[1:, 0][:, None] - mu * W[1:, 1:] @ t)
    across, along = t[0] * a[1] - t[1] * a[0], (t * a).sum(axis=0)
    turns = (across[:-1] * across[1:] < 0) & (stiff[:-1] * stiff[1:] > 0)
    return int((turns & (force[:-1] > 0) & (along[:-1] > 0)).sum())


def test_a_contact_in_space_slips_in_the_directions_that_a_scan_finds():
    rng, counts = np.random.default_rng(1), set()
    for _ in range(60):
        W, w, mu = random_contacts(rng, 1, 2)
        found = motions_in_space(contacts(W, w, mu, 2), 1e-12)
        assert found.open == ""
        slips = [m for m in found.found if m.modes == ("slip",)]
        assert len(slips) == scanned(W, w, mu[0])
        assert len(found.found) % 2 == 1
        counts.add(len(found.found))
        for m in slips:
            t = np.array([np.cos(np.radians(m.angle[0])), np.sin(np.radians(m.angle[0]))])
            force, a = np.array(m.forces[0]), np.array(m.rates[0])
            np.testing.assert_allclose(W @ force + w, a, rtol=0, atol=1e-9 * (1 + np.abs(force).max()))
            np.testing.assert_allclose(force[1:], -mu[0] * force[0] * t, rtol=1e-9)
            np.testing.assert_allclose(a[1:] / np.linalg.norm(a[1:]), t, atol=1e-7)
    assert counts == {1, 3}
    for side in (-1.0, 1.0):
        (m,) = motions_in_space(contacts(np.eye(3), [side, 0.3, 0], [0.0], 2), 1e-9).found
        assert (m.modes, m.forces) == ((SEPARATION,) if side > 0 else ("frictionless",), [[max(-side, 0.0), 0.0, 0.0]])
    assert "whether stick" in motions_in_space(contacts(np.ones((3, 3)), [-1.0, 0.2, 0.1], [0.5], 2), 1e-9).open
    # Isotropic, no pull: every direction solves the equation, and none slips. With a pull, along it.
    assert motions_in_space(contacts(np.eye(3), [-1.0, 0, 0], [0.5], 2), 1e-9).name == "stick"
    (m,) = motions_in_space(contacts(np.eye(3), [-1.0, -3.0, 0], [0.5], 2), 1e-9).found
    assert (m.modes, abs(m.angle[0])) == (("slip",), 180.0)


def test_cases_at_rest_say_what_they_do():
    assert wb.painleve("block", v=[0, 0, 0]).contacts.motions.name == "stick"
    found = wb.painleve("sheath")
    assert (found.state, found.contacts.motions.name) == (None, "slip")
    assert "--slip ANGLE" in found.text
    assert found.data["alternatives"]["motions"]["name"] == "slip"
    assert "Motions of contacts at rest" in found.html()
    assert "regime" not in found.data
    assert found.frame.empty
    assert wb.painleve("sheath", slip=0.0).state.regime.name == "sliding"


# Any direction of slip


def lost(system) -> float:
    """The multiple of its friction up to which a system is P."""
    return painleve(system).losses[0].critical.lo


def test_one_contact_bears_W_nn_over_W_nt_in_its_worst_direction():
    case = Wheel()
    e = exact_contacts(closed_contacts(case, SlidingState()))
    found = any_direction(e)
    N, B = e.doubles()
    closed = N.item() / (case.mu * np.linalg.norm(B))
    assert found.lo == pytest.approx(closed, rel=1e-14)
    assert 0 < found.hi - found.lo < 1e-14 * found.hi
    around = [lost(sliding_system(case, SlidingState(slip=(x,)))) for x in np.arange(0.0, 360, 7.5)]
    assert min(around) >= found.lo
    assert min(around) == pytest.approx(closed, rel=1e-2)
    s = sliding_system(case, SlidingState(slip=found.worst))
    assert lost(s) == pytest.approx(found.lo, rel=1e-12)
    rod = any_direction(exact_contacts(closed_contacts(Rod(), SlidingState())))
    t = np.tan(np.radians(Rod().angle))
    assert rod.lo == pytest.approx((1 + (1 + t * t) / 3) / t / Rod().mu, rel=1e-12)
    assert rod.lo <= float(Fraction(rod.exact)) <= rod.hi


@pytest.mark.parametrize(("r", "d"), [(2, 1), (3, 1), (2, 2), (3, 2)])
def test_no_direction_of_several_contacts_loses_p_below_the_enclosure_and_one_does_above_it(r, d):
    rng = np.random.default_rng(10 * r + d)
    for _ in range(3):
        W, w, mu = random_contacts(rng, r, d, 0.5)
        e = contacts(W, w, mu, d)
        found = any_direction(e)
        assert 0 < found.lo <= found.hi <= found.lo * (1 + 2e-6)
        N, B = e.doubles()

        def least_minor(s, angles, N=N, B=B, mu=mu):
            t = np.stack([np.cos(angles), np.sin(angles)], axis=-1)[..., :d]
            D = N - s * np.einsum("ijd,...jd,j->...ij", B, t, mu)
            sets = [a for a in np.ndindex(*(2,) * r) if any(a)]
            return np.min([np.linalg.det(D[..., np.ix_(np.flatnonzero(a), np.flatnonzero(a))[0],
                                           np.flatnonzero(a)]) for a in sets], axis=0)  # fmt: skip

        tried = rng.uniform(-np.pi, np.pi, (20_000, r)) if d == 2 else np.pi * rng.integers(0, 2, (50, r))
        assert least_minor(found.lo, tried).min() > 0
        worst = np.radians(found.worst)
        assert least_minor(found.hi, worst) <= 1e-12
        assert least_minor(found.lo * (1 - 1e-5), worst) > 0


def test_directions_are_not_searched_where_there_is_nothing_to_find():
    none = any_direction(contacts(np.eye(3), np.ones(3), [0.5], 2))
    assert (none.lo, none.hi) == (np.inf, np.inf)
    W = np.ones((4, 4)) + np.diag([0, 1, 0, 1.0])
    assert "dependent" in any_direction(contacts(W, np.ones(4), [0.5, 0.5], 1)).reason
    assert "zero" in any_direction(contacts(np.eye(3), np.ones(3), [0.0], 2)).reason
    assert "5 contacts" in any_direction(contacts(np.eye(10), np.ones(10), [0.5] * 5, 1)).reason
    apart = any_direction(contacts(np.eye(6), np.ones(6), [0.5] * 2, 2))
    assert apart.lo > 1e5
    assert apart.hi == np.inf
