"""Restitution: Newton's in the normal law, Poisson's in two phases; closed forms, the phases' own laws, energy."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.builtin.cases.bouncing_ball import BouncingBall
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.mechanics.contact import ContactSystem
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate

LEMKE = find_solver("lemke")
NEWTON, POISSON = (anitescu_potra.with_options(restitution=word) for word in ("newton", "poisson"))
UNDRIVEN = dict(f=0.0, r_n=0.0, r_t=0.0, g=0.0, phi=0.0)
"""No forces and no prescribed rates: whatever energy a step gains, the impact has made."""


def step(formulation, system):
    answer, solution = solve_system(formulation, system, LEMKE)
    assert solution.verified, solution.reason
    return answer


def gain(formulation, system):
    """Relative change of the kinetic energy."""
    before, after = (v @ system.M @ v for v in (system.v, step(formulation, system).v))
    return after / before - 1


def rod(angle, v, mu, e):
    """A rod of 1 kg and 1 m that meets the floor with its lower end, at an angle [rad] with the level."""
    arm = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    J_n, J_t = np.array([[0.0, 1.0, -arm[0]]]), np.array([[1.0, 0.0, arm[1]]])
    return ContactSystem(np.diag([1.0, 1.0, 1 / 12]), np.array(v), np.zeros(3), 1e-3, J_n, J_t, mu, e=e)


def rates(system, v):
    """Normal and tangential rate of a single planar contact."""
    return (system.J_n @ v)[0], (system.J_t @ v)[0]


def double_pendulum(e, mu=0.5):
    """Two rods of 1 kg and 1 m, at 20 and 30 degrees, whose tip meets a rough floor (Kane & Levinson 1985)."""
    a, b = np.radians([20.0, 30.0])
    M = np.array([[4 / 3, np.cos(a - b) / 2], [np.cos(a - b) / 2, 1 / 3]])
    J_n, J_t = np.array([[np.sin(a), np.sin(b)]]), np.array([[np.cos(a), np.cos(b)]])
    return ContactSystem(M, np.array([-0.1, -0.2]), np.zeros(2), 1e-3, J_n, J_t, mu, e=e)


@pytest.mark.parametrize("slip", [(1.5, 0.0), (0.3, -0.2), (0.0, 0.0)])
def test_for_a_central_impact_the_two_are_one(systems, slip):
    for e in (0.0, 0.4, 1.0):
        system = replace(systems.particle(slip), e=e)
        newton, poisson = step(NEWTON, system), step(POISSON, system)
        np.testing.assert_allclose(poisson.v, newton.v, rtol=0, atol=1e-14)
        np.testing.assert_allclose(poisson.p_t, newton.p_t, rtol=0, atol=1e-14)
        assert poisson.v[2] == pytest.approx(e, abs=1e-14)


def test_without_friction_a_single_contact_rebounds_at_e_times_its_approach(systems):
    for seed in range(20):
        e = np.random.default_rng(seed).uniform(0, 1)
        system = systems.random_system(seed, r=1, d=2, m=seed % 2, mu=(0.0, 0.0), e=e, **UNDRIVEN)
        for formulation in (NEWTON, POISSON):
            rebound = system.J_n @ step(formulation, system).v
            np.testing.assert_allclose(rebound, -e * system.J_n @ system.v, rtol=1e-11)


def test_an_eccentric_impact_that_slides_throughout_rebounds_at_e_under_both():
    rng = np.random.default_rng(1)
    for _ in range(20):
        system = rod(rng.uniform(0.2, 1.3), [rng.uniform(5, 9), rng.uniform(-1, -0.2), 0.0], 0.1, rng.uniform(0, 1))
        newton, poisson = step(NEWTON, system), step(POISSON, system)
        assert rates(system, newton.v)[1] > 0
        assert rates(system, poisson.v)[0] == pytest.approx(-system.e[0] * system.v[1], rel=1e-11)
        np.testing.assert_allclose(poisson.v, newton.v, rtol=0, atol=1e-11)


def test_an_eccentric_impact_that_sticks_tells_them_apart():
    """Sticking leaves S p_n = u_n - (u_n- - W_nt u_t- / W_tt), S = W_nn - W_nt^2 / W_tt, so that u_n = 0 at the end of
    compression gives Poisson's rebound, e times this bracket and not e times u_n-."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        v = [rng.uniform(-0.3, 0.3), -1.0, rng.uniform(-0.3, 0.3)]
        system = rod(rng.uniform(0.4, 1.1), v, 50.0, rng.uniform(0.1, 1))
        J = np.vstack([system.J_n, system.J_t])
        W, (u_n, u_t) = J @ np.linalg.solve(system.M, J.T), rates(system, system.v)
        bracket, S = u_n - W[0, 1] * u_t / W[1, 1], W[0, 0] - W[0, 1] ** 2 / W[1, 1]
        e, newton, poisson = system.e[0], step(NEWTON, system), step(POISSON, system)
        np.testing.assert_allclose(rates(system, newton.v), [-e * u_n, 0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(rates(system, poisson.v), [-e * bracket, 0], rtol=0, atol=1e-12)
        assert newton.p_n[0] == pytest.approx((-e * u_n - bracket) / S)
        assert poisson.p_n[0] == pytest.approx(-(1 + e) * bracket / S)


def test_newton_lets_the_double_pendulum_gain_energy_and_poisson_does_not():
    """Kane's puzzle: the tip reverses its sliding, and a rebound at e = 0.5 leaves 1.59 times the energy."""
    assert gain(NEWTON, double_pendulum(0.5)) == pytest.approx(0.587, abs=1e-3)
    assert gain(NEWTON, double_pendulum(0.0)) == gain(POISSON, double_pendulum(0.0)) < 0
    losses = [gain(POISSON, double_pendulum(e)) for e in np.linspace(0, 1, 11)]
    assert max(losses) < 0


def test_poisson_gains_no_energy_where_theory_says_so(systems):
    """One e <= 1 for all contacts, with friction; or any e <= 1 without. Newton gains on the same systems.

    With the impulses p_1, p_2 of the phases T+ - T- = p_1.u_c - p_1.W p_1/2 + p_2.u+ - p_2.W p_2/2. Compression gives
    p_1.u_c <= 0, decompression p_n2.u_n+ = e p_c.u_n+ = e (p_1.W p_2 - p_t1.(u_t+ - u_tc)); friction of up to
    mu e p_c at least pays for -e p_t1.u_t+. What is left is e p_1.W p_2 - p_1.W p_1/2 - p_2.W p_2/2 <= 0.
    """
    newton = []
    for (seed, shape), rough in itertools.product(enumerate(20 * list(systems.SHAPES.values())), (True, False)):
        e = np.random.default_rng(seed).uniform(0, 1, 1 if rough else shape["r"])
        system = systems.random_system(seed, **shape, mu=(0.05, 1.0) if rough else (0.0, 0.0), e=e[0] if rough else e,
                                       **UNDRIVEN)  # fmt: skip
        assert gain(POISSON, system) <= 1e-12
        newton.append(gain(NEWTON, system))
    assert max(newton) > 0.05


def test_with_friction_and_different_restitutions_poisson_may_gain_energy(systems):
    """The limit of the theorem: in decompression each contact's friction loss is that of its own e. Found by search."""
    system = systems.random_system(297, r=3, d=2, mu=(0.05, 1.0), e=np.array([0.0, 0.0, 1.0]), **UNDRIVEN)
    assert gain(POISSON, system) == pytest.approx(0.00636, abs=1e-5)
    assert gain(POISSON, replace(system, e=1.0)) < 0


def test_without_restitution_poisson_is_newton(systems):
    for seed, shape in enumerate(systems.SHAPES.values()):
        system = systems.random_system(seed, **shape, e=0.0, normal="gap")
        np.testing.assert_array_equal(step(POISSON, system).v, step(NEWTON, system).v)


@pytest.mark.parametrize("directions", [4, 8])
@pytest.mark.parametrize("eps", [0.0, 0.05])
def test_both_phases_obey_their_laws(systems, directions, eps):
    """Compression: an impact without restitution and forces. Decompression: Signorini and friction on what it adds."""
    newton, poisson = (f.with_options(directions=directions) for f in (NEWTON, POISSON))
    for shape, seed in itertools.product(systems.SHAPES.values(), range(3)):
        s = systems.random_system(seed, **shape, mu=(0.05, 0.5), eps_n=eps, eps_t=eps, normal="velocity")
        first, a = step(newton, replace(s, e=0.0, f=np.zeros(s.n))), step(poisson, s)
        if not s.e.any():
            continue
        parts = [s.M @ a.v, s.M @ s.v, s.h * s.f, s.J_n.T @ a.p_n, s.J_t.T @ a.p_t, s.J_b.T @ a.p_b]
        np.testing.assert_allclose(parts[0], sum(parts[1:]), rtol=0, atol=1e-11 * np.abs(parts).max())
        given_back = a.p_n - first.p_n
        rise, u_n = given_back - s.e * first.p_n, s.J_n @ a.v + s.r_n + eps * a.p_n
        np.testing.assert_allclose(np.minimum(rise, u_n), 0, rtol=0, atol=1e-11)
        friction = (a.p_t - first.p_t).reshape(len(s.mu), -1)
        u_t = systems.slip(s, a.v) + eps * a.p_t.reshape(friction.shape)
        for p, u, limit in zip(friction, u_t, s.mu * given_back, strict=True):
            corner = systems.corners(directions, limit, np.eye(len(p)), circumscribed=False)
            assert systems.polygon_error(p, u, corner) <= 1e-10


def test_turned_axes_turn_both_phases(systems):
    poisson = POISSON.with_options(axes="sliding")
    for seed in range(5):
        s = systems.random_system(seed, r=2, d=2, m=1, e=0.7, mu=(0.1, 0.5))
        T = np.zeros((4, 4))
        for i, (x, y) in enumerate(systems.slip(s, s.v)):
            speed = np.hypot(x, y)
            c, sin = (x / speed, y / speed) if speed > s.v_th else (1.0, 0.0)
            T[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, sin], [-sin, c]]
        by_hand, turned = step(POISSON, replace(s, J_t=T @ s.J_t, r_t=T @ s.r_t)), step(poisson, s)
        np.testing.assert_allclose(turned.v, by_hand.v, rtol=0, atol=1e-11)
        np.testing.assert_allclose(T @ turned.p_t, by_hand.p_t, rtol=0, atol=1e-11)


@pytest.mark.parametrize("noise", [0.0, -1e-15, 1e-15])
def test_a_contact_at_rest_does_not_hop(systems, noise):
    """Weight is not compression: a bounce of e m g h would throw it up at e g h."""
    system = replace(systems.particle((0.5, 0.0), fall=noise), e=0.9, f=np.array([0.0, 0.0, -19.62]))
    for formulation in (NEWTON, POISSON):
        answer = step(formulation, system)
        assert abs(answer.v[2]) <= 2e-15
        assert answer.v[0] == pytest.approx(0.5 - 0.5 * 9.81 * system.h)


def test_open_contacts_are_not_there(systems):
    """Moreau's law: a contact with a gap has no impulse, whatever rate it is given, and asks for no second pass."""
    system = replace(systems.particle((0.5, 0.0)), e=0.5, phi=0.1, r_n=-0.3, normal="moreau")
    for formulation in (NEWTON, POISSON):
        answer = step(formulation, system)
        np.testing.assert_array_equal(answer.v, system.v)
        assert answer.p_n[0] == 0
    run = simulate(BouncingBall(), POISSON, LEMKE, 1e-3)
    np.testing.assert_array_equal(run.record.effort[:, 1], np.where(run.record.phi[:, 0] > 0, 1, 2))


@pytest.mark.parametrize("formulation", [NEWTON, POISSON], ids=lambda f: f.label)
def test_the_ball_bounces_to_its_heights_and_loses_energy_only(formulation):
    for e in (0.5, 0.8, 1.0):
        case, energy = BouncingBall(e=e), []
        for h in (2e-3, 1e-3, 5e-4):
            run = simulate(case, formulation, LEMKE, h)
            assert run.steps == run.steps_wanted, run.reason
            truths = case.truths(run)
            # Poisson's decompression is followed by the weight of a whole step: first order as well.
            late = h * case.approach() * len(truths) * (formulation is POISSON)
            assert len(truths) > 2
            assert all(abs(t.computed - t.theory) <= t.tolerance + late for t in truths)
            energy.append(case.energy(run.states_q, run.states_v))
        # The symplectic update keeps the energy up to m g h u / 2, and so does each impact.
        for h, E in zip((2e-3, 1e-3, 5e-4), energy, strict=True):
            assert np.maximum.accumulate(E[::-1])[::-1].max() <= E[0] + case.m * case.gravity * h * case.approach()


@pytest.mark.parametrize("formulation", [NEWTON, POISSON], ids=lambda f: f.label)
def test_the_height_of_the_bounce_converges_to_first_order(formulation):
    """Steps that divide the fall into n + 1/2 parts: the impact falls at the same place of its step each time."""
    case, error = BouncingBall(), []
    fall, u = case.approach() / case.gravity, case.approach()
    for n in (100, 200, 400, 800):
        run = simulate(case, formulation, LEMKE, h := fall / (n + 0.5), 2.3 * fall)
        top = run.states_q[n + 3 :, 2].max() - case.R
        error.append(top - case.e**2 * case.height)
    np.testing.assert_allclose(np.divide(error[:-1], error[1:]), 2, atol=0.05)
    # Noticed a step's fall below the floor; after Poisson's bounce the weight acts for all of the step.
    e, late = case.e, case.e * (formulation is POISSON)
    assert error[-1] / (h * u) == pytest.approx(e * (1 - e) / 2 - (1 - e**2) - late, abs=0.01)


@pytest.mark.parametrize("formulation", [NEWTON, POISSON], ids=["newton", "poisson"])
@pytest.mark.parametrize(("fall", "rate"), [(0.0, -1.0), (-1.0, 0.0), (-0.25, -0.75), (-1.0, 1.0), (-3.0, 2.0)])
def test_it_is_the_floor_that_a_particle_rebounds_from(systems, formulation, fall, rate):
    """r_n is the rate of the floor: only the approach J_n v + r_n rebounds, and rebounds relative to it."""
    for e in (0.0, 0.5, 1.0):
        system = replace(systems.particle((0.0, 0.0), fall=fall), e=e, r_n=rate)
        assert step(formulation, system).v[2] + rate == pytest.approx(-e * (fall + rate), abs=1e-14)
