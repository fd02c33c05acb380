"""Cases by which contact models are compared: sliding without lifting, isotropy, wedging, gripping, stacks, creep."""

import numpy as np
import pytest

from tests.mechanics import failing, filled, rate, scaled, states
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.gripper import Z_1, Z_2, Z_C, Gripper
from workbench.builtin.cases.off_axis import OffAxis
from workbench.builtin.cases.pinched_capsule import PinchedCapsule, inertia
from workbench.builtin.cases.sheath import Sheath
from workbench.builtin.cases.sphere_stack import SphereStack
from workbench.builtin.cases.stacked_cubes import StackedCubes
from workbench.builtin.cases.wedged_box import WedgedBox
from workbench.language.assemble.find import compiled
from workbench.mechanics.contact import ContactSystem
from workbench.mechanics.relaxation import Relaxation
from workbench.step.one_step import pose, solve_system
from workbench.step.simulation import simulate
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

FROM_BOTH_SIDES = pytest.mark.parametrize("share", [0.99, 1.01], ids=["below", "above"])


def run(case, h=1e-3, duration=None, label="coulomb", **options):
    """simulate with the round-off solver; all of it done, and verified by the problems' own residuals."""
    formulation = find_formulation(label)
    r = simulate(case, formulation, default_solver(compiled(formulation, *case.size).kind), h, duration, **options)
    assert r.steps == r.steps_wanted, r.reason
    assert r.residuals.max() <= r.tolerance
    return r


def assert_truths(case, r, *expected):
    """The truths by name; all hold, and the expected ones are among them."""
    found = case.truths(r)
    assert failing(found) == set()
    assert {t.name for t in found} >= set(expected)
    return {t.name: t for t in found}


ARMS = {
    WedgedBox: lambda c, q: [(x, z) for z in (-c.height / 2, c.height / 2) for x in (-c.length / 2, c.length / 2)],
    Gripper: lambda c, q: turned([(-c.R, 0), (c.R, 0), (0, -c.R)], -q[2]),
    PinchedCapsule: lambda c, q: (
        np.repeat(turned([(-c.R, 0), (c.R, 0)], -q[2]), 2, axis=0) + [(0, -c.half), (0, c.half)] * 2
    ),
}
"""From the centre to the points in contact (r, 2) [m], in axes of the body, which turns by q[2] in the plane (x, z)."""


def turned(s, angle):
    c, s_ = np.cos(angle), np.sin(angle)
    return np.asarray(s) @ [[c, s_], [-s_, c]]


@pytest.mark.parametrize("kind", list(ARMS), ids=lambda kind: kind.name)
def test_the_rows_of_a_plane_case_are_the_rates_of_the_material_points_in_contact(kind):
    case = scaled(kind())
    for q, v in states(case, 10, 5):
        core, arms = filled(case, q, v), ARMS[kind](case, q)
        point = rate(case, lambda x, arms=arms: x[:2] + turned(arms, x[2]), q, v)
        # What they slide on: the fingers upwards and the floor along; the plates upwards; floor and roof along.
        along = {Gripper: [1, 1, 0], PinchedCapsule: [1] * 4, WedgedBox: [0] * 4}[kind]
        other = np.array([v[Z_1], v[Z_2], 0]) if kind is Gripper else np.zeros(4)
        found = core.J_t @ v + core.r_t
        np.testing.assert_allclose(found, point[np.arange(len(along)), along] - other, rtol=0, atol=1e-8)


def test_a_bead_in_a_sheath_slides_at_uniform_acceleration_and_never_lifts():
    rng = np.random.default_rng(1)
    for _ in range(10):
        m, mu, P = rng.uniform(0.1, 2), rng.uniform(0, 0.8), rng.uniform(0, 8)
        case = Sheath(m=m, mu=mu, pull=P, R=rng.uniform(0.01, 0.1), clearance=rng.uniform(1e-4, 1e-2))
        r = run(case, rng.uniform(1e-3, 1e-2))
        assert_truths(case, r, "final speed", "height gained", "impulse at the upper face")
        t = r.h * np.arange(r.steps + 1)
        np.testing.assert_allclose(r.states_v[:, 0], max(0, P / m - mu * 9.81) * t, rtol=0, atol=1e-11 * (P / m + 10))


@pytest.mark.parametrize("h", [1e-2, 5e-3])
def test_the_cone_complementarity_problem_jams_the_bead_at_a_speed_of_the_step(h):
    """Both faces ask for u_n + phi/h >= mu |u_t|, and the gaps add up to the clearance."""
    case = Sheath()
    r = run(case, h, 2.0, "ccp")
    np.testing.assert_allclose(r.states_v[-20:, 0], case.clearance / (2 * case.mu * h), rtol=1e-9)
    np.testing.assert_allclose(case.mu * r.p_n[-20:].sum(axis=1) / h, case.pull, rtol=1e-9)
    assert failing(case.truths(r)) == {"final speed", "height gained", "impulse at the upper face"}


def pulled(rng, direction):
    return OffAxis(m=rng.uniform(0.1, 2), mu=rng.uniform(0.1, 0.8), direction=direction)


def test_the_path_is_straight_under_coulomb_friction_whatever_its_direction():
    rng = np.random.default_rng(2)
    for direction in rng.uniform(-180, 180, 10):
        case = pulled(rng, direction)
        case = case.with_parameters(pull=rng.uniform(1.1, 5) * case.mu * case.m * case.gravity)
        for scheme in ("symplectic", "explicit"):
            r = run(case, 1e-2, scheme=scheme)
            assert_truths(case, r, "drift of the path", "final speed", "distance at this step")
        held = case.with_parameters(pull=0.9 * case.mu * case.m * case.gravity)
        assert np.abs(run(held, 1e-2).states_q).max() <= 1e-15
        assert held.truths(run(held, 1e-2)) == []


def inscribed(f, limit):
    """Net force on a body pulled from rest by f (2,) against the polygon |p_x| + |p_y| <= limit.

    All friction along the axis of the larger component, if that stays the larger one; else what levels the two.
    """
    large, small = np.abs(f).max(), np.abs(f).min()
    net = np.array([large - limit, small]) if large - limit >= small else np.full(2, (large + small - limit) / 2)
    return np.copysign(net if abs(f[0]) >= abs(f[1]) else net[::-1], f)


def circumscribed(f, limit):
    """The same against the box |p_x| <= limit, |p_y| <= limit."""
    return np.copysign(np.maximum(np.abs(f) - limit, 0), f)


@pytest.mark.parametrize(
    ("label", "net_force"),
    [
        ("stewart-trinkle", inscribed),
        ("anitescu-potra", inscribed),
        ("box", circumscribed),
        ("phantom-inertia:axes=fixed", circumscribed),
    ],
)
def test_polygons_drift_off_the_pull_by_their_closed_form(label, net_force):
    rng = np.random.default_rng(3)
    drifts = []
    for direction in rng.uniform(-180, 180, 8):
        case = pulled(rng, direction)
        limit = case.mu * case.m * case.gravity
        case = case.with_parameters(pull=rng.uniform(1.5, 5) * limit)
        f = case.pull * np.array([np.cos(np.radians(direction)), np.sin(np.radians(direction))])
        r = run(case, 1e-2, label=label)
        time = r.h * r.steps
        expected = net_force(f, limit) / case.m * time
        np.testing.assert_allclose(r.states_v[-1, :2], expected, rtol=0, atol=1e-9 * case.pull / case.m * time)
        drifts.append(abs(case.drift(expected)))
        assert case.drift(r.states_q[-1, :2]) == pytest.approx(case.drift(expected), abs=1e-6)
    assert max(drifts) > 5


def test_the_pull_of_horak_and_trinkle_goes_along_the_diagonal_of_the_polygon():
    case = OffAxis()
    r = run(case, 1e-2, label="stewart-trinkle")
    assert case.drift(r.states_q[-1, :2]) == pytest.approx(135 - case.direction, abs=1e-6)


def random_box(rng):
    """A box with a slot of random shape, b/H between 0.1 and 0.8."""
    H, slope = rng.uniform(0.02, 0.1), rng.uniform(0.1, 0.8)
    D = H * np.sqrt(1 + slope**2)
    height = rng.uniform(0.8, 0.98) * H
    box = WedgedBox(m=rng.uniform(0.1, 2), height=height, length=np.sqrt(D**2 - height**2), clearance=H - height)
    assert np.divide(*box.across[::-1]) == pytest.approx(slope)
    return box, slope


def wedged(case, h=1e-3):
    """One step of the box at rest across the slot."""
    _, (H, _) = case.start(), case.across
    q = np.array([0.0, 0.5 * H, case.tilt])
    core = filled(case, q, np.zeros(3))
    np.testing.assert_allclose(core.phi[[1, 2]], 0, atol=1e-15)
    data = {name: getattr(core, name) for name in ("M", "f", "J_n", "J_t", "mu", "phi")}
    return ContactSystem(v=np.zeros(3), h=h, normal="gap", **data)


@FROM_BOTH_SIDES
def test_the_box_holds_across_the_slot_if_and_only_if_mu_reaches_its_slope(share):
    rng = np.random.default_rng(4)
    coulomb = find_formulation("coulomb")
    for _ in range(20):
        box, slope = random_box(rng)
        mu = share * slope
        weight = mu * box.m * box.gravity
        # Above the slope, between what the weight's friction holds and the grip, where rest is the only answer.
        pull = weight * (0.5 * (1 + share) if share > 1 else rng.uniform(1.001, 3))
        case = box.with_parameters(mu=mu, pull=pull)
        answer, solution = solve_system(coulomb, wedged(case), default_solver("Coulomb NCP"))
        assert solution.verified
        motion = np.abs(answer.v * [1, 1, case.across[0]]).max() / (1e-3 * case.gravity)
        assert (motion <= 1e-9) == (share > 1)


def test_above_the_grip_the_wedge_and_sliding_both_obey_coulombs_law():
    rng = np.random.default_rng(5)
    for _ in range(10):
        box, slope = random_box(rng)
        case = box.with_parameters(mu=rng.uniform(1.1, 2) * slope)
        case = case.with_parameters(pull=rng.uniform(1.1, 3) * case.grip)
        problem = pose(find_formulation("coulomb"), wedged(case)).problem()
        weight = case.m * case.gravity

        def impulses(total, friction, case=case, slope=slope, weight=weight):
            """Of N_1 + N_2 and -(T_1 + T_2), h = 1 ms; corners 1 (floor) and 2 (roof)."""
            n, t = [total + weight, total - weight], [-friction - slope * total, -friction + slope * total]
            return 0.5e-3 * np.array([0, *n, 0, 0, *t, 0])

        rest = (case.pull - case.mu * weight) / (case.mu - slope) + weight
        assert problem.residual(impulses(rest, case.pull)) <= 1e-12
        assert problem.residual(impulses(weight * case.mu / slope, case.grip)) <= 1e-12


@pytest.mark.parametrize("label", ["coulomb", "stewart-trinkle", "box:bounds=coupled"])
def test_the_box_tips_wedges_and_rests_under_any_pull_below_the_grip(label):
    """In the plane the polygon and the pyramid are Coulomb's cone."""
    rng = np.random.default_rng(6)
    for _ in range(5):
        mu, share = rng.uniform(0.8, 1.2), rng.uniform(0.1, 0.7)
        weakest = WedgedBox(mu=mu).mu * 0.2 * 9.81
        case = WedgedBox(mu=mu, pull=weakest + share * (WedgedBox(mu=mu).grip - weakest))
        assert_truths(case, run(case, label=label, duration=0.5), "tilt", "normal forces", "speed", "friction")


def test_a_box_of_little_friction_slides_flat_and_a_slot_too_high_is_refused():
    for mu, pull in ((0.45, 2.0), (0.2, 0.5), (0.4, 0.5)):
        case = WedgedBox(mu=mu, pull=pull)
        assert assert_truths(case, run(case))["speed"].computed == pytest.approx(
            max(0, pull / 0.2 - mu * 9.81) * 0.3, abs=1e-9
        )
    with pytest.raises(DataError, match=r"wedged-box: slot 0\.05 m high; less than the diagonal 0\.0447"):
        WedgedBox(clearance=0.01)


def random_gripper(rng, share):
    """A gripper that squeezes with a share of the least force that holds."""
    m, M, mu = rng.uniform(0.1, 1), rng.uniform(1, 3, 2), rng.uniform(0.2, 1)
    lift = rng.uniform(1.2, 5) * m * 9.81
    a = (lift - m * 9.81) / (2 * M[0] + M[1] + m)
    squeeze = share * m * (9.81 + a) / (2 * mu)
    return Gripper(m=m, R=rng.uniform(0.02, 0.1), m_finger=M[0], m_carriage=M[1], mu=mu, lift=lift, squeeze=squeeze), a


@FROM_BOTH_SIDES
def test_the_gripper_holds_if_and_only_if_its_grip_carries_the_accelerated_weight(share):
    rng = np.random.default_rng(7)
    for _ in range(10):
        case, a = random_gripper(rng, share)
        r = run(case, 5e-3)
        found = assert_truths(case, r, "speed of the ball", "speed of the gripper", "error of the joints")
        slip = found["speed of the gripper"].computed - found["speed of the ball"].computed
        assert (slip <= 1e-12) == (share > 1)
        if share > 1:
            assert found["speed of the ball"].computed == pytest.approx(a * 0.5)
        # The squeeze passes through, and the external forces' impulse is the momentum.
        np.testing.assert_allclose(r.p_n[:, :2] / r.h, case.squeeze, rtol=1e-10)
        momentum = case.m * r.states_v[-1, 1] + (case.m_carriage + 2 * case.m_finger) * r.states_v[-1, Z_C]
        outside = (case.lift - case.m * case.gravity) * 0.5 + r.p_n[:, 2].sum()
        assert momentum == pytest.approx(outside, abs=1e-11 * case.lift)


def test_a_grip_too_weak_leaves_the_ball_and_a_lift_too_weak_the_gripper_on_the_floor():
    for squeeze, lift, expected in ((2.0, 10.0, (0.0, 8.8 / 6)), (14.0, 1.5, (0.0, 0.0)), (0.0, 1.5, (0.0, 0.25))):
        case = Gripper(squeeze=squeeze, lift=lift)
        assert case.accelerations == pytest.approx(expected)
        assert_truths(case, run(case), "speed of the ball", "speed of the gripper")


class Displaced(Gripper):
    def start(self):
        q, v = super().start()
        q[Z_1] += 1e-3
        q[Z_2] -= 2e-3
        return q, v


def test_stabilisation_takes_an_error_of_the_joints_away_in_one_step():
    q = run(Displaced(), duration=0.01).states_q
    error = np.abs(q[:, [Z_1, Z_2]] - q[:, [Z_C]]).max(axis=1)
    assert error[0] == pytest.approx(2e-3)
    assert error[1:].max() <= 1e-15


@FROM_BOTH_SIDES
def test_the_capsule_rests_if_and_only_if_the_plates_carry_its_weight(share):
    rng = np.random.default_rng(8)
    for _ in range(10):
        m, mu = rng.uniform(0.1, 2), rng.uniform(0.1, 1)
        size = dict(R=rng.uniform(0.01, 0.1), half=rng.uniform(0.01, 0.2), m_plate=rng.uniform(0.1, 5))
        case = PinchedCapsule(m=m, mu=mu, squeeze=share * m * 9.81 / (2 * mu), **size)
        found = assert_truths(case, run(case, duration=0.2), "speed", "friction", "plates' normal forces")
        assert ("creep" in found) == (share > 1)
        assert (found["speed"].computed > 0.01) == (share < 1)


def test_the_inertia_of_a_capsule_is_that_of_its_slices():
    """Discs of radius rho(s) along the axis, rho^2/4 + s^2 a unit of mass across it."""
    for R, half in ((0.03, 0.05), (0.2, 0.01), (0.05, 1e-9)):
        s = (half + R) * (np.arange(200_000) + 0.5) / 200_000
        rho = R**2 - np.maximum(0, s - half) ** 2
        expected = 2.5 * np.average(rho / 4 + s**2, weights=rho)
        assert inertia(2.5, R, half) == pytest.approx(expected, rel=1e-8)


def test_relaxed_friction_sags_by_the_stiffness_and_creeps_by_the_damping():
    """Four bristles carry the weight: m g/(4 k) down at rest, m g/(4 b) a second without stiffness."""
    case = PinchedCapsule()
    weight = case.m * case.gravity
    sagged = run(case, relaxation=Relaxation(k_t=1e4, b_t=1e2))
    fallen = sagged.states_q[0, 1] - sagged.states_q[-1, 1]
    assert fallen == pytest.approx(weight / 4e4, rel=1e-6)
    creeping = run(case, relaxation=Relaxation(k_t=0.0, b_t=1e3))
    assert -creeping.states_v[-1, 1] == pytest.approx(weight / 4e3, rel=1e-6)
    for r in (sagged, creeping):
        assert "creep" in failing(case.truths(r))


@pytest.mark.parametrize("ratio", [1e-6, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_stack_of_cubes_rests_whatever_the_ratio_of_the_masses(ratio, mu):
    case = StackedCubes(ratio=ratio, mu=mu, m=2.0, edge=0.3)
    r = run(case, duration=0.01)
    found = assert_truths(case, r, "force on the floor", "force between the cubes", "displacement")
    # Beside the heavy cube's impulses the light one's on top have few digits.
    assert r.residuals.max() <= (1e-9 if ratio < 1 else 1e-12)
    # The bounds mean something: five digits of the forces at a million, and no displacement to speak of.
    assert found["force on the floor"].tolerance <= 1e-5 * found["force on the floor"].theory
    assert found["displacement"].tolerance <= 1e-9 * case.edge


def random_stack(rng, share_balls, share_floor):
    """A stack whose friction coefficients are shares of the thresholds."""
    R = rng.uniform(0.02, 0.2)
    stack = SphereStack(m=rng.uniform(0.1, 2), R=R, space=rng.uniform(0.01, 0.8) * R)
    least = stack.thresholds
    return stack.with_parameters(mu=share_balls * least[0], mu_floor=share_floor * least[1])


@pytest.mark.parametrize("shares", [(1.01, 1.01), (0.99, 2.0), (2.0, 0.99), (0.99, 0.99)])
def test_the_stack_of_balls_stands_if_and_only_if_both_thresholds_are_reached(shares):
    rng = np.random.default_rng(9)
    for _ in range(4):
        case = random_stack(rng, *shares)
        r = run(case, duration=0.05)
        found = assert_truths(case, r, "vertical momentum")
        falls = -r.states_v[-1, 20] / (case.gravity * 0.05)
        assert (falls <= 1e-12) == ("displacement" in found) == (min(shares) > 1)
        assert min(shares) > 1 or falls > 1e-4


def test_the_forces_of_the_stack_are_known_to_the_rounding_of_its_gaps():
    """Which the smallest steps turn into the largest forces, as 1 / h^2."""
    for case in (SphereStack(), SphereStack(R=0.3, m=2.0)):
        for h in (1e-3, 1e-4, 3e-5):
            r = run(case, h, 200 * h)
            found = case.truths(r)
            assert len(found) == 6
            assert [t.name for t in found if not t.holds] == []
            weight = case.m * case.gravity
            assert all(t.tolerance < 1e-9 * weight for t in found) or h < 1e-3


def test_a_stack_without_friction_starts_to_fall_by_lagranges_equation():
    """One degree of freedom: three balls outwards at -z'' cot(alpha), the fourth down at z''."""
    for space in (0.001, 0.02, 0.05):
        case = SphereStack(mu=0.0, mu_floor=0.0, space=space)
        r = run(case, 1e-3, 1e-3)
        expected = -case.gravity / (1 + 3 / np.tan(case.alpha) ** 2)
        assert r.states_v[1, 20] / r.h == pytest.approx(expected, rel=1e-10)


def test_a_collapsing_stack_opens_and_closes_gaps_and_keeps_what_symmetry_keeps():
    case = SphereStack(mu=0.1, mu_floor=0.05)
    r = run(case, duration=0.4)
    closed = r.p_n > 1e-9 * case.m * case.gravity * r.h
    np.testing.assert_array_equal(closed[0], [True, True, True, False, True, True, True])
    np.testing.assert_array_equal(closed[-1], [True, True, True, True, False, False, False])
    assert r.states_q[-1, 23] == pytest.approx(case.R, abs=1e-12)
    q, v = r.states_q, r.states_v
    scale = 4 * case.m * np.sqrt(case.gravity * case.R)
    np.testing.assert_allclose(case.momentum(v)[:, :2], 0, atol=1e-10 * scale)
    np.testing.assert_allclose(case.angular_momentum(q, v), 0, atol=1e-10 * scale * case.R)
    assert np.diff(case.energy(q, v)).max() <= 1e-12 * case.energy(q[0], v[0])


def test_balls_too_far_apart_are_refused():
    with pytest.raises(DataError, match=r"sphere-stack: space = 0\.1 m; less than 0\.0732"):
        SphereStack(space=0.1)
