"""The Painlevé-Klein rod and the rod in a guide: closed forms, regimes, and the time stepping beside them."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.mechanics import filled
from tests.sliding_systems import assert_close
from workbench.algorithms import find_solver
from workbench.algorithms.enumeration import all_solutions
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.sliding_lcp import sliding_lcp
from workbench.diagnostics.painleve import of_case
from workbench.matrices.p_property.verdict import smallest_minor
from workbench.problems.classes import LCP
from workbench.step.simulation import simulate
from workbench.step.sliding.law import law_residual
from workbench.step.sliding.motion import steps_sliding
from workbench.step.sliding.system import Multipliers, pose_sliding, solve_sliding

ENUMERATE = find_solver("enumerate")


T = np.degrees(np.arctan(2.0))
INDEPENDENT = [
    (30.0, 0.0, 0.5, [3.7723791096]), (T, 0.0, 1.0, [24.525]), (T, 5.0, 1.0, [0.0]), (T, 0.0, 1.4, []),
    (T, 4.0, 1.4, [0.0, (32 / np.sqrt(5) - 9.81) / 0.08]),
]  # fmt: skip


@pytest.mark.parametrize(("angle", "spin", "mu", "forces"), INDEPENDENT)
def test_the_rod_has_the_forces_worked_out_independently(angle, spin, mu, forces):
    case = Rod(angle=angle, spin=spin, mu=mu, speed=-1.0)
    q, v = case.start()
    s = case.sliding_system(q, v)
    problem, _ = pose_sliding(sliding_lcp, s)
    a, b = case.scalar_lcp(q, v)
    assert (problem.M.item(), problem.q.item()) == (pytest.approx(a, abs=1e-13), pytest.approx(b, abs=1e-12))
    found = sorted(z.item() for z in all_solutions(problem))
    np.testing.assert_allclose(found, forces, rtol=0, atol=1e-9 * max([1.0, *forces]))
    for force in found:
        lam = Multipliers(np.zeros(0), np.array([force]))
        assert law_residual(s, s.acceleration(lam), *lam).worst <= 1e-12
    verdict = of_case(case).verdict.verdict
    assert verdict == ("P" if a > 0 else "not P")
    if a > 0:
        (_, lambda_nu), *_ = solve_sliding(sliding_lcp, s, ENUMERATE)
        assert lambda_nu.item() == pytest.approx(max(0.0, -b / a), rel=1e-12)


def test_at_the_boundary_of_the_rod_every_force_is_a_solution():
    case = Rod(angle=T, spin=-np.sqrt(9.81 / np.sin(np.radians(T))), mu=4 / 3, speed=-1.0)
    s = case.sliding_system(*case.start())
    for force in (0.0, 1.0, 50.0):
        lam = Multipliers(np.zeros(0), np.array([force]))
        assert law_residual(s, s.acceleration(lam), *lam).worst <= 1e-14
    assert abs(s.M_mu.item()) + abs(s.z.item()) <= 1e-13


def test_the_critical_friction_of_the_rod_and_its_proposition():
    """mu_c = (1 + kappa (1 + tan^2)) / tan; Theta and beta are numbers, and Proposition 1 asks mu < mu_c."""
    for angle, kappa, mass in itertools.product((20.0, 45.0, T, 75.0), (1 / 3, 0.5), (1.0, 7.0)):
        t = np.tan(np.radians(angle))
        critical = (1 + kappa * (1 + t**2)) / t
        case = Rod(angle=angle, kappa=kappa, m=mass, mu=0.5)
        p = of_case(case).proposition
        for b in (p.plain, p.balanced):
            assert b.scale * 0.5 == pytest.approx(critical, rel=1e-9)
        for factor, expected in ((0.999, "P"), (1.001, "not P")):
            case = Rod(angle=angle, kappa=kappa, m=mass, mu=factor * critical)
            assert of_case(case).verdict.verdict == expected
        assert smallest_minor(replace(case.sliding_system(*case.start()), xi_u=1.0).M_mu) > 0
    # At mu_c Theta = W_nn for one contact, whatever the direction; towards the centre the bound is far from needed.
    assert 2 * np.sqrt(1 / 3 * 4 / 3) == pytest.approx(4 / 3)


# Both cases, stepped


@pytest.mark.parametrize("kind", [Rod, RodInGuide], ids=lambda k: k.name)
def test_the_sliding_system_is_the_time_stepping_s_mechanics(kind):
    rng = np.random.default_rng(3)
    for _ in range(20):
        case = kind(**{name: value * rng.uniform(0.7, 1.3) for name, value, *_ in kind.parameter_table()})
        q, v = rng.uniform(-1, 1, 3), rng.uniform(-5, 5, 3)
        s, core = case.sliding_system(q, v), filled(case, q, v)
        assert_close(s.M, core.M)
        assert_close(s.f, core.f)
        for J, rows in ((s.J_nu, core.J_n), (s.J_tu, core.J_t)):
            np.testing.assert_allclose(J[0], rows[-1], rtol=1e-14)
        np.testing.assert_allclose(s.xi_u, np.sign(core.J_t[-1:] @ v))
        assert s.mu_u.item() == core.mu[-1]
        if kind is RodInGuide:
            for i, sign in ((0, 1), (1, -1)):
                np.testing.assert_allclose(sign * core.J_n[i], s.J_nb[0], rtol=1e-14)
                np.testing.assert_allclose(core.J_t[i], s.J_tb[0], rtol=1e-14)
                assert s.mu_b.item() == core.mu[i]
                assert core.eps_n[i] == case.eps
            head = case.centre(q) + case.l * np.array([np.cos(q[2]), 0.0, np.sin(q[2])])
            assert head[0] == pytest.approx(-core.phi[2], abs=1e-14)
            h, turned = 1e-6, q[2] + 1e-6 * v[2]
            later = case.centre(q + h * v) + case.l * np.array([np.cos(turned), 0.0, np.sin(turned)])
            np.testing.assert_allclose((later - head)[[0, 2]] / h, [-core.J_n[2] @ v, core.J_t[2] @ v], atol=1e-4)


def run(case, h, **options):
    r = simulate(case, coulomb, default_solver("Coulomb NCP"), h, **{"normal": "gap", **options})
    assert r.steps == r.steps_wanted, r.reason
    return r


@pytest.mark.parametrize("scheme", ["symplectic", "explicit"])
@pytest.mark.parametrize("normal", ["velocity", "gap"])
@pytest.mark.parametrize("kind", [Rod, RodInGuide], ids=lambda k: k.name)
def test_the_truths_hold_for_other_parameters_too(kind, normal, scheme):
    rng = np.random.default_rng([4, normal == "gap"])
    counts = []
    for _ in range(6):
        given = dict(m=rng.uniform(0.1, 10), l=rng.uniform(0.3, 3), kappa=rng.uniform(0.1, 0.9),
                     angle=rng.uniform(25, 75), spin=rng.choice([-1, 1]) * rng.uniform(0.3, 1.5))  # fmt: skip
        if kind is Rod:
            given |= dict(mu=rng.uniform(0, 0.6), speed=rng.choice([-1, 1]) * rng.uniform(3, 6))
        else:
            given |= dict(mu_guide=rng.uniform(0, 0.5), mu_wall=rng.uniform(0, 0.5))
        truths = kind(**given).truths(run(kind(**given), 5e-4, duration=0.05, normal=normal, scheme=scheme))
        counts.append(len(truths))
        bad = [t for t in truths if not t.holds]
        # The explicit update with the gap law rebounds from its own penetration; its first step knows nothing of that.
        assert not bad or (scheme == "explicit" and normal == "gap" and all("angle" in t.name for t in bad)), bad
    assert sum(c > 0 for c in counts) >= 4


@pytest.mark.share(2)
@pytest.mark.parametrize("case", [Rod(), Rod(spin=1.0, mu=0.8), RodInGuide(), RodInGuide(spin=2.0)], ids=str)
def test_the_motion_converges_to_that_of_the_sliding_forces_to_first_order(case):
    error = {}
    for h in (4e-3, 2e-3, 1e-3):
        truth = next(t for t in case.truths(run(case, h, duration=0.2)) if "angle" in t.name)
        error[h] = truth.computed - truth.theory
    np.testing.assert_allclose([error[4e-3] / error[2e-3], error[2e-3] / error[1e-3]], 2, atol=0.05)


def test_the_force_of_the_guide_comes_to_the_sliding_lcp_s_as_its_compliance_goes():
    off = {}
    for eps in (1e-4, 1e-5):
        truths = RodInGuide(eps=eps).truths(run(RodInGuide(eps=eps), 1e-3, duration=0.01))
        off[eps] = [t.computed - t.theory for t in truths if "force" in t.name]
        changed = RodInGuide(eps=eps, eps_t=1e-3)
        others = changed.truths(run(changed, 1e-3, duration=0.01))
        np.testing.assert_allclose([t.computed for t in others], [t.computed for t in truths], rtol=1e-9)
    np.testing.assert_allclose(np.divide(off[1e-4], off[1e-5]), 10, rtol=1e-2)


def test_where_no_force_exists_the_rod_stops_at_once_by_an_impulse_that_does_not_go_with_the_step():
    case = Rod(angle=T, mu=1.4, speed=-1.0)
    impulses = []
    for h in (1e-3, 1e-4, 1e-5):
        r = run(case, h, duration=3 * h)
        (truth,) = case.truths(r)
        assert truth.holds
        assert abs(r.u_t[0, 0, 0]) <= 1e-9
        impulses.append(truth.computed - truth.theory)
    np.testing.assert_allclose(np.array(impulses[:-1]) / impulses[1:], 10, rtol=1e-6)
    assert case.impulse(0.0) > 0.1
    # Below the critical friction there is no such impulse: a force of the order of the weight.
    slow = run(Rod(angle=T, mu=1.3, speed=-1.0), 1e-5, duration=3e-5)
    assert slow.p_n[0, 0] < 0.01 * case.impulse(0.0)


def test_with_two_forces_the_time_stepping_takes_one_of_three_answers():
    case = Rod(angle=T, spin=4.0, mu=1.4, speed=-1.0)
    (truth,) = case.truths(run(case, 1e-4, duration=3e-4))
    assert truth.holds
    assert "nearest of three" in truth.name
    assert Rod(speed=0.0).truths(run(Rod(speed=0.0), 1e-3, duration=0.01)) == []


def test_the_rod_in_its_guide_loses_the_p_property_and_gains_it_back_as_friction_grows():
    """Rising at 30 degrees with mu_guide = 1.6, as mu_wall grows: not P, P, not P."""

    def verdict(mu_wall):
        case = RodInGuide(angle=30.0, spin=1.0, mu_guide=1.6, mu_wall=mu_wall)
        s = case.sliding_system(*case.start())
        found = of_case(case).verdict.verdict
        assert (smallest_minor(s.M_mu) > 0) == (found == "P")
        return found

    assert [verdict(x) for x in (0.2, 0.8, 1.6)] == ["not P", "P", "not P"]
    counts = {}
    for angle, mu_guide, mu_wall in ((60.0, 0.2, 0.2), (30.0, 0.0, 1.6), (60.0, 1.6, 0.0), (20.0, 1.6, 1.6)):
        case = RodInGuide(angle=angle, spin=1.0, mu_guide=mu_guide, mu_wall=mu_wall)
        lcp: LCP = case.sliding_system(*case.start()).lcp
        counts[angle, mu_guide, mu_wall] = len(all_solutions(lcp))
    assert list(counts.values()) == [1, 0, 2, 3]


def test_truths_end_where_the_slip_stops_or_the_wall_is_left():
    stopping, leaving = Rod(speed=-0.1), RodInGuide()
    for case, closed, duration in ((stopping, 0, 0.3), (leaving, 2, 0.6)):
        r = run(case, 1e-3, duration=duration)
        steps = steps_sliding(r, [closed])
        assert 10 < steps < r.steps
        # The step after the last that counts either does not slide on or is open.
        assert r.p_n[steps, closed] == 0 or (r.u_t[steps, :, 0] * r.u_t[0, :, 0]).min() <= 0
        assert all(t.holds for t in case.truths(r))
    # Compliance leaves at most one side of the guide loaded.
    assert np.min(r.p_n[:, :2], axis=1).max() == 0
