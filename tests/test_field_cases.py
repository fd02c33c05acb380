"""Pushed box, table, V groove, tippe top and bouncing ball: closed forms over their regimes, what redundant contacts
leave open, static and kinetic friction, Jellett's invariant, orders of convergence."""

import numpy as np
import pytest

from tests.mechanics import failing
from tests.test_case_registry import run
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.bouncing_ball import BouncingBall
from workbench.builtin.cases.pushed_box import PushedBox
from workbench.builtin.cases.table import Table
from workbench.builtin.cases.tippe_top import TippeTop
from workbench.builtin.cases.v_groove import VGroove
from workbench.judge.coulomb import judge
from workbench.language.assemble.find import compiled
from workbench.mechanics.contact import ContactSystem
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.rank import rank
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation

COULOMB = find_formulation("coulomb")
EXACT = find_solver("coulomb-exact")


def exact(case, h=1e-3, duration=None, **options):
    """Exact Coulomb friction, all steps done and verified."""
    r = simulate(case, COULOMB, EXACT, h, duration, **options)
    assert r.steps == r.steps_wanted, r.reason
    assert r.residuals.max() <= r.tolerance
    return r


def names(truths):
    return [t.name for t in truths]


def test_a_run_without_a_step_has_no_truths():
    """Eliminating p_t fails where contacts are redundant: a run of no steps."""
    for kind in (PushedBox, Table):
        r = simulate(kind(), find_formulation("discrete-velocity"), find_solver("lemke"), 1e-3)
        assert (r.steps, kind().truths(r)) == (0, [])


# The pushed box


def pushed(rng):
    """A box with random data and a push of up to twice the friction limit, to either side."""
    case = PushedBox(
        m=rng.uniform(1, 20), length=rng.uniform(0.2, 1), width=rng.uniform(0.3, 1), height=rng.uniform(0.5, 1),
        mu=rng.uniform(0.1, 0.8), gravity=rng.uniform(2, 20), line=rng.uniform(0, 1),
    )  # fmt: skip
    return case.with_parameters(force=rng.uniform(-2, 2) * case.mu * case.m * case.gravity)


def test_the_box_sticks_slides_or_tips_as_statics_has_it():
    rng, regimes = np.random.default_rng(1), {"sticks": 0, "slides": 0, "tips": 0}
    for _ in range(80):
        case = pushed(rng)
        weight = case.m * case.gravity
        margin = min(case.front(), weight - case.front()) / weight
        if abs(margin) < 0.02:
            continue
        r = exact(case, duration=0.02)
        turned, moved = np.abs(r.states_v[-1, 3:]).max(), abs(r.states_v[-1, 0])
        if margin < 0:
            regimes["tips"] += 1
            assert (case.truths(r), turned > 1e-4) == ([], True)
            # Forward is about +y.
            assert (r.states_v[-1, 4] > 0) == (case.front() > weight)
            continue
        slides = abs(case.force) > case.mu * weight
        regimes["slides" if slides else "sticks"] += 1
        assert (len(case.truths(r)), failing(case.truths(r))) == (4, set())
        assert (moved > 1e-4) == slides
        assert turned <= 1e-10
    assert min(regimes.values()) >= 10


def test_twelve_forces_on_the_box_hold_six_degrees_of_freedom_and_the_motion_is_unique_all_the_same():
    case = PushedBox()
    r = exact(case, 1e-3, 0.02)
    assert rank(r.W[0]).value == 6 < len(r.W[0])
    others = [run(case, label, 1e-3, 20) for label in ("stewart-trinkle", "box:bounds=coupled", "anitescu-potra")]
    stiff = [Relaxation(k_n=k, k_t=10 * k) for k in (1e9, 1e11)]
    relaxed = [exact(case, 1e-3, 0.02, relaxation=x) for x in stiff]
    for other in others:
        np.testing.assert_allclose(other.states_v, r.states_v, rtol=0, atol=1e-10)
    errors = [np.abs(x.states_v - r.states_v).max() for x in relaxed]
    assert errors[1] < 0.1 * errors[0] < 1e-4
    # Resultants agree, single corners do not.
    share = [x.p_n[-1] / x.p_n[-1].sum() for x in (r, *others, relaxed[1])]
    np.testing.assert_allclose([x[1::2].sum() for x in share], share[0][1::2].sum(), rtol=0, atol=1e-6)
    assert max(np.abs(x - share[0]).max() for x in share) > 0.01


# The table


def test_the_table_holds_up_to_the_static_coefficient_and_slides_under_the_kinetic_one():
    """Planes of one angle, on both sides of tan(angle) = mu_s; between mu and mu_s a table at rest stays."""
    rng, held = np.random.default_rng(2), 0
    for _ in range(40):
        mu_s, share = rng.uniform(0.2, 0.6), rng.uniform(0.5, 1.5)
        case = Table(mu=rng.uniform(0.3, 1) * mu_s, mu_s=mu_s, angle=np.degrees(np.arctan(share * mu_s)), rate=0.0)
        r = exact(case, duration=0.05)
        assert failing(case.truths(r)) == set()
        held += share < 1
        slides = case.gravity * (np.sin(a := np.radians(case.angle)) - case.mu * np.cos(a))
        # The first step still sees the static coefficient.
        start = case.gravity * (np.sin(a) - mu_s * np.cos(a))
        expected = 0.0 if share < 1 else 1e-3 * start + slides * 0.049
        np.testing.assert_allclose(r.states_v[-1], [expected, 0, 0, 0, 0, 0], rtol=0, atol=1e-9)
    assert 10 < held < 30


def test_the_tilting_table_slips_at_the_angle_of_static_friction_whatever_the_rest():
    rng = np.random.default_rng(3)
    for _ in range(10):
        mu_s = rng.uniform(0.2, 0.6)
        case = Table(
            m=rng.uniform(1, 50), mu=rng.uniform(0.5, 1) * mu_s, mu_s=mu_s, gravity=rng.uniform(2, 20),
            angle=np.degrees(np.arctan(mu_s)) - 3, rate=rng.uniform(5, 40),
        )  # fmt: skip
        for duration in (2.5 / case.rate, 5 / case.rate):
            truths = case.truths(exact(case, duration / 200, duration))
            assert (len(truths), failing(truths)) == (3, set())
            assert truths[0].theory == pytest.approx(min(case.angle + duration * case.rate, case.angle + 3))
            assert (truths[1].theory > 0) == (duration * case.rate > 3)


def test_the_truths_of_the_table_notice_other_coefficients_and_other_gravity():
    case = Table()
    for changed, missed in (
        (dict(mu=0.33), {"speed gained"}),
        (dict(mu_s=0.42), {"angle held"}),
        (dict(gravity=9.0), {"speed gained", "normal forces in all"}),
    ):
        assert failing(case.truths(exact(case.with_parameters(**changed)))) == missed
    assert case.with_parameters(mu_s=0.9).truths(exact(case, duration=0.01)) == []


def test_the_speed_of_the_tilting_table_converges_to_first_order():
    error = []
    for h in (4e-3, 2e-3, 1e-3):
        truth = {t.name: t for t in Table(mu_s=0.0, angle=17.0).truths(exact(Table(mu_s=0.0, angle=17.0), h))}
        error.append(truth["speed gained"].computed - truth["speed gained"].theory)
    np.testing.assert_allclose(np.divide(error[:-1], error[1:]), 2, atol=0.05)


def test_a_block_holds_up_to_mu_s_and_feels_mu_once_it_slides():
    """One step of a pushed block: static friction at rest or below v_th, kinetic above."""
    rng, axes = np.random.default_rng(4), np.eye(3)
    for label in ("coulomb", "stewart-trinkle", "box", "discrete-velocity"):
        formulation = find_formulation(label)
        solver = default_solver(compiled(formulation, 3, 0, 1, 2).kind)
        for _ in range(10):
            m, mu, h, v_th = rng.uniform(1, 5), rng.uniform(0.1, 0.5), 1e-3, 1e-2
            mu_s = mu * rng.uniform(1.1, 2)
            for share, speed in ((0.99, 0.0), (1.01, 0.0), (0.99, 0.9 * v_th), (0.99, 1.1 * v_th)):
                push = share * mu_s * m * 9.81
                data = np.array([speed, 0, 0]), np.array([push, 0, -m * 9.81]), h, axes[2:], axes[:2], mu
                system = ContactSystem(m * axes, *data, mu_s=mu_s, v_th=v_th)
                v = solve_system(formulation, system, solver)[0].v
                friction = (mu_s if speed <= v_th else mu) * 9.81
                expected = max(0.0, speed + h * (push / m - friction))
                np.testing.assert_allclose(v, [expected, 0, 0], rtol=0, atol=1e-12)
                assert (expected > 0) == (share > 1 or speed > 0)


# The V groove


def grooved(rng, wedges=False):
    alpha = rng.uniform(10, 60)
    tan = np.tan(np.radians(alpha))
    mu = rng.uniform(1.1, 1.5) * tan if wedges else rng.uniform(0.1, 0.9) * min(tan, 1 / tan)
    return VGroove(
        R=rng.uniform(0.05, 0.5), m=rng.uniform(0.5, 5), alpha=alpha, mu=mu, gravity=rng.uniform(2, 20),
        spin=rng.choice([-1, 1]) * rng.uniform(5, 50),
    )  # fmt: skip


def test_the_spinning_disc_is_braked_as_both_walls_have_it_and_rests_within_the_interval():
    rng = np.random.default_rng(5)
    for _ in range(20):
        case = grooved(rng)
        end = case.spin / -case.spinning()[2]
        truths = case.truths(exact(case, end / rng.uniform(50, 300), 1.2 * end))
        assert (len(truths), failing(truths)) == (6, set())
        still = case.with_parameters(spin=0.0)
        truths = still.truths(exact(still, 1e-3, 0.01))
        assert (len(truths), failing(truths)) == (2, set())


def test_without_friction_the_groove_carries_half_the_weight_over_the_sine_on_either_side():
    case = VGroove(mu=0.0)
    r = exact(case, duration=0.05)
    np.testing.assert_allclose(r.p_n / r.h, case.m * 9.81 / (2 * np.sin(np.radians(30))), rtol=1e-10)
    np.testing.assert_allclose(case.at_rest(), r.p_n[0, 0] / r.h, rtol=1e-10)
    assert names(case.truths(r)) == names(VGroove().truths(exact(VGroove(), duration=0.05)))


def judged_at_rest(case, N):
    """The judge's worst residual of normal forces N on both walls, friction as moments and forces ask for."""
    h, alpha = 1e-3, np.radians(case.alpha)
    T = (N * np.sin(alpha) - 0.5 * case.m * case.gravity) / np.cos(alpha)
    p_n, p_t, u = np.full(2, h * N), h * np.array([[T], [-T]]), np.zeros(2)
    verdict = judge(p_n, p_t, u, u[:, None], case.mu, 0.25 * np.eye(4), -h * case.gravity * np.ones(4))
    return max(verdict.signorini, verdict.natural_map)


def test_at_rest_any_normal_force_of_the_interval_is_exact_coulomb_and_no_other():
    rng = np.random.default_rng(6)
    for wedges in (False, True):
        for _ in range(5):
            case = grooved(rng, wedges)
            low, high = case.at_rest()
            assert np.isinf(high) == wedges
            inside = np.linspace(low, min(high, 100 * low), 20)
            assert max(judged_at_rest(case, N) for N in inside) <= 1e-12
            outside = [0.99 * low] if wedges else [0.99 * low, 1.01 * high]
            assert min(judged_at_rest(case, N) for N in outside) > 1e-4


def test_compliance_chooses_among_the_forces_at_rest_and_not_among_the_velocities():
    case = VGroove(spin=0.0)
    rigid = exact(case, duration=0.01)
    assert rank(rigid.W[0]).value == 3 < len(rigid.W[0])
    found = [rigid.p_n[-1] / rigid.h]
    for ratio in (0.1, 10.0):
        r = exact(case, duration=0.5, relaxation=Relaxation(k_n=1e6, k_t=ratio * 1e6))
        assert np.abs(r.states_v[-1]).max() <= 1e-9
        found.append(r.p_n[-1] / r.h)
    low, high = case.at_rest()
    for N in found:
        assert N[0] == pytest.approx(N[1], rel=1e-6)
        assert low * (1 - 1e-9) <= N[0] <= high * (1 + 1e-9)
    assert np.ptp([N[0] for N in found]) > 0.01 * (high - low)


def test_a_disc_that_climbs_its_wall_leaves_the_groove_and_has_no_truths():
    case = VGroove(alpha=60.0, mu=0.8)
    r = exact(case, duration=0.1)
    assert case.truths(r) == []
    assert r.states_q[-1, 1] > r.states_q[0, 1] + 1e-3
    # Spun anticlockwise it climbs the wall on its left.
    assert r.states_q[-1, 0] < -1e-3


# The tippe top


@pytest.mark.parametrize("label", ["frictionless", "anitescu-potra", "box", "hybrid", "ccp", "phantom-inertia"])
def test_no_friction_law_touches_jellett_s_invariant(label):
    case = TippeTop()
    truths = {t.name: t for t in case.truths(run(case, label, 1e-3))}
    assert truths["Jellett's invariant"].holds


def test_jellett_s_invariant_drifts_to_first_order_and_the_top_rises():
    worst = []
    for h in (2e-3, 1e-3, 5e-4):
        case = TippeTop()
        r = exact(case, h)
        J = case.jellett(r.states_q, r.states_v)
        worst.append(np.abs(J / J[0] - 1).max())
        z, E = r.states_q[:, 2], case.energy(r.states_q, r.states_v)
        assert z[0] < case.R < z[-1]
        # Spin about the vertical is what energy falls with; each step of the attitude's rounding may give some back.
        assert np.diff(E).max() <= 1e-6 * E[0]
        assert E[-1] < 0.5 * E[0]
        seconds = E[:: round(0.1 / h)]
        assert np.diff(seconds).max() <= 1e-5 * E[0]
    np.testing.assert_allclose(np.divide(worst[:-1], worst[1:]), 2, atol=0.1)


def test_the_smaller_the_step_the_longer_the_top_rolls():
    """Its rise at 1 ms is the step's own work: at a fifth of that it rolls on all the time, and loses no energy."""
    case = TippeTop()
    slips, rises = [], []
    for h in (1e-3, 5e-4, 2e-4):
        r = exact(case, h, 2.0)
        fast = np.linalg.norm(r.u_t[:, 0], axis=1) > case.v_th
        assert not fast[round(0.06 / h) : round(0.2 / h)].any()
        slips.append(int(fast[round(0.06 / h) :].sum()) * h)
        rises.append(r.states_q[-1, 2] > case.R)
        E = case.energy(r.states_q, r.states_v)
    assert slips[0] > slips[1] > slips[2] == 0
    assert rises == [True, False, False]
    assert E[-1] == pytest.approx(E[round(0.06 / h)], rel=1e-3)


def test_above_the_threshold_the_least_energy_at_the_invariant_falls_from_the_foot_to_the_head():
    case = TippeTop()
    c, a = np.linspace(-1, 1, 2001), case.eps / case.R
    rIr = case.R**2 * (case.I_1 * (1 - c**2) + case.I_3 * (a - c) ** 2)
    for share, falls in ((1.01, True), (0.99, False)):
        J = share * case.threshold()
        least = J**2 / (2 * rIr) + case.m * case.gravity * (case.R - case.eps * c)
        assert (np.diff(least).min() > 0) == falls
    assert case.jellett(*case.start()) > case.threshold() > TippeTop(spin=20.0).jellett(*TippeTop(spin=20.0).start())


def test_a_smooth_floor_and_a_slow_spin_leave_the_top_upright():
    for case in (TippeTop(mu=0.0), TippeTop(spin=20.0)):
        r = exact(case)
        assert r.states_q[:, 2].max() < case.R
        assert names(case.truths(r)) == ["Jellett's invariant"]


# The bouncing ball


def test_oblique_impacts_stick_or_slide_as_worked_out_by_hand_at_any_angle():
    rng, sticks = np.random.default_rng(7), 0
    for angle in np.linspace(-80, 80, 33):
        case = BouncingBall(
            m=rng.uniform(0.1, 5), R=rng.uniform(0.03, 0.3), mu=rng.uniform(0.05, 0.5), e=rng.uniform(0, 1),
            height=rng.uniform(0.3, 2), spin=rng.uniform(-30, 30),
        )  # fmt: skip
        case = case.with_parameters(speed=case.approach() * np.tan(np.radians(angle)))
        fall = case.approach() / case.gravity
        r = exact(case, fall / 300, 1.2 * fall)
        truths = case.truths(r)
        assert (names(truths), failing(truths)) == (["speed after impact", "spin after impact"], set())
        impact = int(np.flatnonzero(r.p_n[:, 0])[0])
        before, after = r.states_v[impact], r.states_v[impact + 1]
        assert after[2] == pytest.approx(-case.e * before[2], rel=1e-12)
        # Angular momentum about the contact point.
        turn = 0.4 * case.m * case.R**2 * (after[4] - before[4])
        assert turn + case.m * case.R * (after[0] - before[0]) == pytest.approx(0, abs=1e-10)
        sticks += abs(after[0] - case.R * after[4]) < 1e-9
    assert 5 < sticks < 28


def test_heights_fall_by_the_square_of_e_and_a_perfect_ball_loses_none():
    for e in (0.4, 0.7, 0.9, 1.0):
        case = BouncingBall(e=e, mu=0.0, speed=0.0, spin=0.0)
        for h in (2e-3, 1e-3, 5e-4):
            truths = case.truths(exact(case, h, 3.0))
            assert (len(truths) >= 4, failing(truths)) == (True, set())
            if e == 1.0:
                assert max(abs(t.computed - t.theory) for t in truths[2:]) <= 2 * case.gravity * h**2


def test_the_truths_of_the_ball_notice_another_restitution_and_another_friction():
    truths = BouncingBall().truths(exact(BouncingBall()))
    assert (len(truths), failing(truths)) == (4, set())
    sliding = BouncingBall(mu=0.1)
    for mu, e in ((0.11, 0.8), (0.1, 0.85)):
        r = exact(BouncingBall(mu=mu, e=e))
        assert {"speed after impact", "spin after impact"} <= failing(sliding.truths(r))
    assert "height of bounce 1" in failing(sliding.truths(r))
