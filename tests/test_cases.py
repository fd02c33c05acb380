"""The wheel, the block, the sphere and the particle: their contact as a material point of theirs; and what is special
about the last three, whose time stepping is known in closed form."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.mechanics import failing, filled, moved, rate, scaled, states
from tests.systems import SOFT
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.particle import Particle
from workbench.builtin.cases.sphere import Sphere
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.language.assemble.find import compiled
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation

SINGLE = (Wheel, Block, Sphere, Particle)
EVERY_CASE = pytest.mark.parametrize("case", [kind() for kind in SINGLE], ids=lambda c: c.name)
EVERY_MECHANICS = pytest.mark.parametrize("case", [scaled(kind()) for kind in SINGLE], ids=lambda c: c.name)

ATTITUDE = {
    "wheel": lambda q: Rotation.from_euler("ZXY", q[3:]).as_matrix(),
    "sphere": lambda q: Rotation.from_quat(np.roll(q[3:], -1)).as_matrix(),
    "block": lambda q: np.eye(3),
    "particle": lambda q: np.eye(3),
    "rod": lambda q: Rotation.from_euler("Y", -q[2]).as_matrix(),
    "rod-in-guide": lambda q: Rotation.from_euler("Y", -q[2]).as_matrix(),
}
"""Attitude (3, 3) of the body of a case at q."""
ARM = {
    "wheel": lambda case, q: case.R * Rotation.from_euler("ZX", q[3:5]).apply([0.0, 0.0, -1.0]),
    "sphere": lambda case, q: np.array([0.0, 0.0, -case.R]),
    "block": lambda case, q: np.array([0.0, 0.0, -case.height / 2]),
    "particle": lambda case, q: np.zeros(3),
    "rod": lambda case, q: -case.l * np.array([np.cos(q[2]), 0.0, np.sin(q[2])]),
    "rod-in-guide": lambda case, q: -case.l * np.array([np.cos(q[2]), 0.0, np.sin(q[2])]),
}
"""From the centre to the point in contact, the first of several, (3,) [m], world axes."""


def laws(case):
    """The normal laws that make sense: at velocity level a contact that starts open could never close."""
    return ("velocity", "gap") if (filled(case, *case.start()).phi <= 1e-12).all() else ("gap",)


def run(case, h, label="coulomb", **options):
    """simulate with the round-off solver; all of it done, and verified by the problems' own residuals."""
    formulation = find_formulation(label)
    solver = default_solver(compiled(formulation, *case.size).kind)
    r = simulate(case, formulation, solver, h, **{"normal": "gap", **options})
    assert r.steps == r.steps_wanted, r.reason
    assert r.residuals.max() <= r.tolerance
    return r


@EVERY_MECHANICS
def test_the_jacobians_are_the_rates_of_the_gap_and_of_the_material_point_in_contact(case):
    for q, v in states(case, 5):
        core, b = filled(case, q, v), ATTITUDE[case.name](q).T @ ARM[case.name](case, q)
        gap_rate = rate(case, lambda x, v=v: filled(case, x, v).phi, q, v)
        point_rate = rate(case, lambda x, b=b: case.centre(x) + ATTITUDE[case.name](x) @ b, q, v)
        np.testing.assert_allclose(core.J_n @ v + core.r_n, gap_rate, rtol=0, atol=1e-9)
        np.testing.assert_allclose(core.J_n[0] @ v, point_rate[2], rtol=0, atol=1e-9)
        np.testing.assert_allclose(core.J_t[: case.size[3]] @ v, point_rate[: case.size[3]], rtol=0, atol=1e-9)
        assert case.centre(q)[2] + ARM[case.name](case, q)[2] == pytest.approx(core.phi[0], abs=1e-14)


@EVERY_MECHANICS
def test_friction_and_heading_are_what_the_parameters_and_the_plane_allow(case):
    for q, v in states(case, 6, 5):
        core = filled(case, q, v)
        assert (core.mu == case.mu).all()
        np.testing.assert_allclose((core.heading**2).sum(axis=1), 1, rtol=1e-14)


@EVERY_CASE
def test_the_contact_slides_throughout_the_sliding_window(case):
    start, end = case.windows["sliding"]
    assert 0 <= start < end < case.duration
    r = run(case, 1e-3)
    inside = (r.t >= start) & (r.t < end)
    # Of a guide's two sides one is loaded.
    assert (r.p_n[inside] > 0).any(axis=1).all()
    assert (np.linalg.norm(r.u_t[inside], axis=-1) > case.v_th).all()
    # Nor does the window stop long before sliding does.
    assert np.linalg.norm(r.u_t[r.t >= end + 0.05], axis=-1).max(initial=0.0) <= case.v_th


def thrown(kind, rng):
    """A case of this kind with random parameters, and when it comes to rest or to roll [s]."""
    case = kind(
        m=rng.uniform(0.1, 10), mu=rng.uniform(0.1, 1), gravity=rng.uniform(1, 20), speed=rng.uniform(0.5, 5),
        direction=rng.uniform(-180, 180), **{"height" if kind is Block else "R": rng.uniform(0.05, 1)},
    )  # fmt: skip
    end = case.speed / (case.mu * case.gravity) * (1 if kind is Block else 2 / 7)
    return case, end


@pytest.mark.parametrize("kind", [Block, Sphere], ids=lambda k: k.name)
@pytest.mark.parametrize("scheme", ["symplectic", "explicit"])
@pytest.mark.parametrize("normal", ["velocity", "gap"])
def test_the_truths_hold_for_any_throw_under_both_updates_and_laws(kind, scheme, normal):
    rng = np.random.default_rng([7, scheme == "explicit", normal == "gap"])
    for _ in range(10):
        case, end = thrown(kind, rng)
        h = end / rng.uniform(30, 600)
        truths = case.truths(run(case, h, duration=1.3 * end + 2 * h, scheme=scheme, normal=normal))
        assert (len(truths), failing(truths)) == (3 if kind is Block else 4, set())
        # Sliding is over at the end of the step in which it stops, never before.
        assert truths[0].computed >= truths[0].theory == pytest.approx(end)


@pytest.mark.parametrize("kind", [Block, Sphere], ids=lambda k: k.name)
def test_the_speeds_are_those_of_uniform_deceleration_at_the_ends_of_the_steps(kind):
    rng = np.random.default_rng(8)
    for _ in range(10):
        case, end = thrown(kind, rng)
        r = run(case, end / 77.7, duration=1.3 * end)
        slowing, t = case.mu * case.gravity, r.h * np.arange(r.steps + 1)
        least = 0 if kind is Block else 5 / 7
        expected = np.maximum(least * case.speed, case.speed - slowing * t)
        direction = Rotation.from_euler("Z", case.direction, degrees=True).as_matrix()[:, 0]
        np.testing.assert_allclose(r.states_v[:, :3], expected[:, None] * direction, rtol=0, atol=1e-12 * case.speed)


@pytest.mark.parametrize("scheme", ["symplectic", "explicit"])
@pytest.mark.parametrize(("kind", "change"), [(Block, 1), (Sphere, 2 / 7)], ids=["block", "sphere"])
def test_the_distance_converges_to_first_order(kind, change, scheme):
    error = {}
    for h in (4e-3, 2e-3, 1e-3):
        truths = {t.name: t for t in kind().truths(run(kind(), h, scheme=scheme))}
        distance = truths["stopping distance" if kind is Block else "distance"]
        error[h] = distance.computed - distance.theory
    np.testing.assert_allclose([error[4e-3] / error[2e-3], error[2e-3] / error[1e-3]], 2, atol=0.01)
    # Euler and Maclaurin: half a step times the change of speed, too long with the speeds at the starts of the steps.
    assert error[1e-3] == pytest.approx(
        (0.5 if scheme == "explicit" else -0.5) * 1e-3 * change * kind().speed, rel=0.01
    )


@pytest.mark.parametrize("kind", [Block, Sphere], ids=lambda k: k.name)
def test_there_are_no_truths_without_friction_or_before_the_end_of_sliding(kind):
    assert kind(mu=0.0).truths(run(kind(mu=0.0), 1e-3)) == []
    assert kind().truths(run(kind(), 1e-3, "frictionless")) == []
    assert kind().truths(run(kind(), 1e-3, duration=0.3)) == []


@pytest.mark.parametrize("label", ["stewart-trinkle", "box", "discrete-velocity"])
def test_friction_in_a_polygon_misses_the_truths_of_the_block(label):
    """At 30 degrees from the axes neither the inscribed nor the circumscribed square is the disc; along one, both."""
    truths = Block().truths(run(Block(), 1e-3, label, duration=1.2))
    assert (len(truths), len(failing(truths))) == (3, 3)
    along = Block(direction=90.0)
    assert failing(along.truths(run(along, 1e-3, label))) == set()


def test_other_friction_misses_the_truths_except_those_that_friction_has_no_say_in():
    block, sphere, particle = (kind().truths(run(kind(mu=0.33), 1e-3)) for kind in (Block, Sphere, Particle))
    assert failing(block) == {t.name for t in block}
    assert failing(sphere) == {"end of sliding", "distance"}
    assert failing(particle) == {t.name for t in particle} - {"time of impact"}
    assert "time of impact" in failing(Particle().truths(run(Particle(gravity=9.0), 1e-3)))


# Friction that is viscous in the end never lets the sphere quite roll; MuJoCo's has a test of its own.
ROLLING = [f for f in FORMULATIONS if f.name not in {"frictionless", "ipc"} | SOFT]


@pytest.mark.parametrize("f", ROLLING, ids=lambda f: f.name)
def test_the_sphere_rolls_at_five_sevenths_whatever_the_law_of_friction(f):
    """Angular momentum about the floor knows no friction; not even the CCP's hop changes that."""
    rng = np.random.default_rng(10)
    for _ in range(3):
        case, end = thrown(Sphere, rng)
        holds = {t.name: t.holds for t in case.truths(run(case, end / 100, f.label, duration=2 * end))}
        assert (holds["final speed of the centre"], holds["energy lost"]) == (True, True)


def test_the_sphere_turns_about_its_angular_velocity_in_world_axes():
    """The normalised Euler step turns by 2 atan(h |omega|/2) about omega, from the left."""
    rng = np.random.default_rng(11)
    case = Sphere()
    for q, v in states(case, 12):
        h = rng.uniform(0.001, 0.1)
        end = moved(case, q, v, h)
        speed = np.linalg.norm(v[3:])
        turn = Rotation.from_rotvec(2 * np.arctan(h * speed / 2) * v[3:] / speed).as_matrix()
        np.testing.assert_allclose(ATTITUDE["sphere"](end), turn @ ATTITUDE["sphere"](q), rtol=0, atol=1e-14)
        np.testing.assert_allclose(end[:3], q[:3] + h * v[:3], rtol=0, atol=1e-15)
        assert np.linalg.norm(end[3:]) == pytest.approx(1, abs=1e-15)


def test_the_heading_of_the_sphere_turns_about_the_vertical_and_not_by_rolling():
    rng = np.random.default_rng(13)
    case = Sphere()
    for q, v in states(case, 14):
        before = filled(case, q, v).heading[0]
        psi = rng.uniform(-3, 3)
        b, c, d, a = (Rotation.from_euler("Z", psi) * Rotation.from_matrix(ATTITUDE["sphere"](q))).as_quat()
        after = filled(case, np.array([*q[:3], a, b, c, d]), v).heading[0]
        expected = Rotation.from_euler("Z", psi).apply([*before, 0.0])[:2]
        np.testing.assert_allclose(after, expected, rtol=0, atol=1e-13)
    # Half a turn about a level axis leaves no turn about the vertical to read off: a = d = 0.
    for q in [*run(case, 1e-3).states_q[::10], np.array([0, 0, case.R, 0, 0.6, 0.8, 0])]:
        np.testing.assert_allclose(filled(case, q, np.zeros(6)).heading[0], [1, 0], rtol=0, atol=1e-12)


def tossed(rng):
    """A particle with random parameters, thrown to either side, up or down, and the time at which it rests."""
    case = Particle(
        m=rng.uniform(0.1, 10), mu=rng.uniform(0.05, 1), gravity=rng.uniform(1, 20), height=rng.uniform(0.05, 2),
        speed=rng.choice([-1, 1]) * rng.uniform(0.5, 5), climb=rng.uniform(-3, 3),
    )  # fmt: skip
    time, _, after = case.impact()
    return case, time, after, time + abs(after) / (case.mu * case.gravity)


def test_the_truths_hold_for_any_particle_whether_it_slides_on_or_sticks():
    rng = np.random.default_rng(15)
    stuck = 0
    for _ in range(60):
        case, _, after, end = tossed(rng)
        h = end / rng.uniform(50, 600)
        truths = case.truths(run(case, h, duration=end + 5 * h))
        assert (len(truths), failing(truths)) == (2 if after == 0 else 4, set())
        stuck += after == 0
    assert 5 < stuck < 55


def test_the_time_stepping_meets_the_sliding_velocity_exactly_once_the_impact_is_over():
    rng = np.random.default_rng(17)
    for _ in range(20):
        case, time, _, end = tossed(rng)
        r = run(case, end / 301.3, duration=1.1 * end)
        first = int(np.flatnonzero(r.p_n[:, 0] > 0)[0])
        t = r.h * np.arange(first + 2, r.steps + 1)
        free = abs(case.speed) - case.mu * (case.impact()[1] + case.gravity * (t - time))
        expected = np.sign(case.speed) * np.maximum(0, free)
        np.testing.assert_allclose(r.states_v[first + 2 :, 0], expected, rtol=0, atol=1e-11 * abs(case.speed))
        # Free flight before; on the plane from the end of the step that closes the contact, at rest against it next.
        np.testing.assert_allclose(r.states_v[: first + 1, 0], case.speed, rtol=1e-13)
        falling = case.climb - case.gravity * r.h * np.arange(first + 1)
        np.testing.assert_allclose(r.states_v[: first + 1, 1], falling, rtol=0, atol=1e-11)
        assert np.abs(r.states_q[first + 1 :, 1]).max() <= 1e-12
        assert np.abs(r.states_v[first + 2 :, 1]).max() <= 1e-10


def test_the_particle_converges_to_first_order():
    """Steps that divide the fall into n + 1/2 parts: the impact falls at the same place of its step each time."""
    case = Particle()
    time, _, after = case.impact()
    rest = case.speed * time + after**2 / (2 * case.mu * case.gravity)
    error = []
    for n in (100, 200, 400, 800):
        r = run(case, time / (n + 0.5))
        parabola = case.height + case.climb * r.t - case.gravity * r.t**2 / 2
        flight = r.t < 0.9 * time
        error.append([np.abs(r.states_q[:-1, 1] - parabola)[flight].max(), abs(r.states_q[-1, 0] - rest)])
    np.testing.assert_allclose(np.divide(error[:-1], error[1:]), 2, atol=0.06)


@pytest.mark.parametrize(
    "label", ["stewart-trinkle", "anitescu-potra", "box:bounds=coupled", "discrete-velocity", "phantom-inertia"]
)
def test_in_the_plane_polygon_and_pyramid_are_exact_coulomb_friction(label):
    rng = np.random.default_rng(18)
    for case in [Particle(), *(tossed(rng)[0] for _ in range(5))]:
        exact, r = (run(case, 1e-3, name) for name in ("coulomb", label))
        np.testing.assert_allclose(r.states_v, exact.states_v, rtol=0, atol=1e-11)
        np.testing.assert_allclose(r.record.p[:, :2], exact.record.p[:, :2], rtol=0, atol=1e-11 * case.m)


def test_the_truths_of_the_particle_are_those_that_its_parameters_define():
    two = ["time of impact", "sliding velocity after impact"]
    for case in (Particle(mu=0.0), Particle(mu=0.95), Particle(speed=0.0)):
        truths = case.truths(run(case, 1e-3))
        assert [t.name for t in truths] == two
        assert failing(truths) == set()
    assert [t.name for t in Particle().truths(run(Particle(), 1e-3, duration=0.6))] == two
    # In flight; and with the last step that which closes the contact, the impact half done.
    for duration, closed in ((0.4, 0), (0.437, 1)):
        r = run(Particle(), 1e-3, duration=duration)
        assert ((r.p_n > 0).sum(), Particle().truths(r)) == (closed, [])


def test_the_velocity_law_holds_the_particle_up_and_the_explicit_update_throws_it_back():
    """Why the particle is for the gap law and the symplectic update, and that its truths notice."""
    case = Particle()
    held = run(case, 1e-3, normal="velocity")
    apex = case.height + case.climb**2 / (2 * case.gravity)
    assert held.states_q[-1, 1] == pytest.approx(apex, abs=1e-3)
    assert "time of impact" in failing(case.truths(held))
    thrown_back = run(case, 1e-3, scheme="explicit")
    assert thrown_back.states_v[:, 1].max() > 0.5 * case.impact()[1] > case.climb
    assert "sliding velocity after impact" in failing(case.truths(thrown_back))
