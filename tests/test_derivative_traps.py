"""Derivatives that naive methods get silently wrong, each on a small example; those of one contact, which need no
motion, are in `test_sensitivity`, and the impact time of a wall in `test_impact_gradients`."""

import numpy as np
import pytest

import workbench as wb
from tests.derivative_states import State, carried, solved
from workbench.derivatives.motion import Motion, motion_derivatives
from workbench.derivatives.one_step import after
from workbench.derivatives.parameters import CaseParameter
from workbench.derivatives.sensitivity import sensitivity_of
from workbench.problems.classes import LCP
from workbench.support.errors import DataError
from workbench.verbs.find import find_case, find_formulation

H, STEPS = 1e-3, 50


def by_mu(label, steps):
    """Velocities of a sliding rod after some steps, and their derivatives by mu."""
    names = [f"v[{i}]" for i in range(3)]
    v, found = motion_derivatives(find_case("rod"), find_formulation(label), names, ["mu"], H, steps * H)
    assert found["mu"].reason == ""
    return v, found["mu"].derivative


def quotient(label, steps):
    """The same by differences of order four of whole runs."""
    case, shift = find_case("rod"), 1e-3

    def v(k):
        return Motion(case.with_parameters(mu=case.mu + k * shift), find_formulation(label), H, steps * H).end.v

    return (8 * (v(1) - v(-1)) - (v(2) - v(-2))) / (12 * shift)


def test_few_passes_are_farther_off_in_the_derivative_than_in_the_velocity():
    """A step of five sweeps has its own derivative, which is not that of the fixed point: 7 % off."""
    (v, swept), (v_fixed, fixed) = by_mu("gauss-seidel:sweeps=5", 1), by_mu("box:bounds=iterated", 1)
    np.testing.assert_allclose(v, v_fixed, rtol=0, atol=5e-5 * np.abs(v).max())
    assert np.abs(swept - fixed).max() > 0.05 * np.abs(fixed).max()
    for label, found in (("gauss-seidel:sweeps=5", swept), ("box:bounds=iterated", fixed)):
        np.testing.assert_allclose(found, quotient(label, 1), rtol=0, atol=1e-7 * np.abs(found).max())


def test_the_last_pass_alone_has_another_derivative_than_the_fixed_point():
    case = find_case("rod")
    motion, p = Motion(case, find_formulation("box:bounds=iterated"), H, H), CaseParameter(find_case("rod"), "mu")
    start = State(p.q, p.v, *(np.zeros(x.size) for x in motion.step.state[2:]))
    x = solved(motion.step, motion.step.state)
    whole = carried(motion.step, x, p.direction(start)).state.v
    # As if its bounds +-mu p_bar moved with mu alone.
    upper = np.nan_to_num(x.sensitivity.problem.upper, posinf=0.0) / case.mu
    (last,) = x.sensitivity.along(x.outputs, lower=-upper, upper=upper)
    assert np.abs((x.outputs @ last.z)[:3] - whole).max() > 0.05 * np.abs(whole).max()


def test_bounds_of_the_last_step_are_state():
    """Carried from step to step, the derivative is that of differences; without its memory it is a third off."""
    case, f = find_case("rod"), find_formulation("box")
    _, found = by_mu("box", STEPS)
    np.testing.assert_allclose(found, quotient("box", STEPS), rtol=0, atol=1e-7 * np.abs(found).max())
    step, p = Motion(case, f, H, H).step, CaseParameter(case, "mu")
    state = step.state
    t = State(p.q, p.v, *(np.zeros(x.size) for x in state[2:]))
    for _ in range(STEPS):
        x = solved(step, state)
        one = carried(step, x, p.direction(t)).state
        t, state = t._replace(q=one.q, v=one.v), after(step, x)
    assert np.abs(t.v - found).max() == pytest.approx(0.37 * np.abs(found).max(), rel=0.02)


def test_a_point_of_the_central_path_is_no_solution():
    """Of p u = 1e-6 at u = 1e-3 an open contact would move by -0.276 of q; it does not move, and who asks is told."""
    W, kappa, u = 1 / 0.276 - 1, 1e-6, 1e-3
    p = kappa / u
    q = u - W * p
    assert -p / (u + W * p) == pytest.approx(-0.276)
    open_contact = LCP(np.array([[W]]), np.array([1e-3]))
    with pytest.raises(DataError, match="not a solution"):
        sensitivity_of(LCP(np.array([[W]]), np.array([q])), np.array([p]))
    s = sensitivity_of(open_contact, np.zeros(1))
    (found,) = s.along(q=[1.0])
    assert s.verdict[0].name == "SMOOTH"
    assert found.z[0] == 0.0


def test_the_impact_time_turns_the_sign_of_a_bounce():
    """A ball that bounces is lower for a greater height of fall, but higher by steps that ignore when it lands."""
    found = wb.sensitivity("bouncing-ball", ["coulomb"], of="z", to="height", duration=0.6)
    row = found.table.set_index("formulation")
    case = find_case("bouncing-ball")
    fall = np.sqrt(2 * case.height / case.gravity)
    # z = e v_1 s - g s^2 / 2 from landing at v_1 on, s = t - v_1 / g.
    v_1, s = case.gravity * fall, 0.6 - fall
    by_speed = case.e * s - (case.e * v_1 - case.gravity * s) / case.gravity
    assert row.loc["event-driven motion", "derivative"] == pytest.approx(by_speed * case.gravity / v_1, rel=1e-6)
    assert row.loc["coulomb", "derivative"] == pytest.approx(1.0, rel=1e-6)
    assert row.loc["coulomb", "error"] < -1


def test_equal_contacts_have_one_sided_derivatives_at_the_ends_of_their_load():
    """Of two equal contacts the higher one bears nothing: dv/db_1 is 0 ahead and -1 behind, never -1/2."""
    problem = LCP(np.ones((2, 2)), -np.ones(2))
    for loaded, side, dv in ((1, 1.0, 0.0), (0, -1.0, 1.0)):
        z = np.zeros(2)
        z[loaded] = 1.0
        (found,) = sensitivity_of(problem, z).along(np.ones((1, 2)), q=[side, 0.0])
        assert found.z.sum() == pytest.approx(dv, abs=1e-10)
    with pytest.raises(DataError, match="kink"):
        sensitivity_of(problem, np.full(2, 0.5)).along(q=[1.0, 0.0])
