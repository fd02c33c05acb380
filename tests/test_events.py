"""Event-driven motions against closed forms and figures of independent runs."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from cases import CASES
from tests.mechanics import energy_error
from workbench.algorithms.escalation import default_solver
from workbench.events import answers, phase
from workbench.events.answers import others, solution_to_round_off
from workbench.events.impact import impact
from workbench.events.modes import EventError, Mode
from workbench.events.motions import project_on_constraints
from workbench.events.simulation import EventRun, simulate_branches, simulate_events
from workbench.events.twice import simulate_twice
from workbench.mechanics.case import Case, quantity
from workbench.mechanics.second_order import Dynamics, SecondOrder
from workbench.problems.classes import CoulombNCP
from workbench.step.simulation import simulate
from workbench.support.arrays import Array
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

EXACT = 1e-10
"""To which the figures are to be met [s, m, rad, m/s]; they have 12 digits."""
FORMULA = 1e-12


def run(name: str, duration: float | None = None, **parameters: float) -> EventRun:
    return simulate_events(CASES.find(name)().with_parameters(**parameters), duration)


def told(r: EventRun) -> list[tuple[int, str]]:
    return [(e.contact, e.what) for e in r.events]


def on_a_plane(core: Any, force: list[float], gap: float, mu: float) -> None:
    """Fill in a particle of 1 kg, its last coordinate normal to the plane."""
    unit = np.eye(len(force))
    core.M[:], core.f[:], core.J_n[:], core.J_t[:] = unit, force, unit[-1:], unit[:-1]
    core.phi[0], core.mu[0] = gap, mu


@dataclass(frozen=True)
class Pushed(Case):
    """A particle of 1 kg on a level plane under a force that depends on time, which is its last coordinate."""

    name: ClassVar[str] = "pushed"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 2)
    duration: ClassVar[float] = 2.0

    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    amplitude: float = quantity(4.0, "N/s", "growth of the force")
    turn: float = quantity(2.0, "rad/s", "rate at which its direction turns")

    def start(self) -> tuple[Array, Array]:
        return np.zeros(4), np.zeros(3)

    def force(self, t: float) -> tuple[float, float]:
        return self.amplitude * t * np.cos(self.turn * t), self.amplitude * t * np.sin(self.turn * t)

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        on_a_plane(core, [*self.force(q[3]), -9.81], q[2], self.mu)

    def advance(self, q: Array, v: Array, h: float, data: Array, q_next: Array) -> None:
        q_next[:3], q_next[3] = q[:3] + h * v, q[3] + h

    def centre(self, q: Array) -> Array:
        return q[..., :3]

    def energy(self, q: Array, v: Array) -> Array:
        return 0.5 * (v**2).sum(axis=-1) + 9.81 * q[..., 2]


@dataclass(frozen=True)
class Shaken(Pushed):
    """F = 5 sin 4t along x, in the plane."""

    name: ClassVar[str] = "shaken"
    size: ClassVar[tuple[int, int, int, int]] = (2, 0, 1, 1)

    def start(self) -> tuple[Array, Array]:
        return np.zeros(3), np.zeros(2)

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        on_a_plane(core, [5.0 * np.sin(4.0 * q[2]), -9.81], q[1], self.mu)

    def advance(self, q: Array, v: Array, h: float, data: Array, q_next: Array) -> None:
        q_next[:2], q_next[2] = q[:2] + h * v, q[2] + h

    def centre(self, q: Array) -> Array:
        return np.stack([q[..., 0], np.zeros_like(q[..., 0]), q[..., 1]], axis=-1)

    def energy(self, q: Array, v: Array) -> Array:
        return 0.5 * (v**2).sum(axis=-1) + 9.81 * q[..., 1]


@dataclass(frozen=True)
class Slope(Case):
    """A particle on a slope, thrown at an angle to the fall line; axes: downhill, across, normal."""

    name: ClassVar[str] = "thrown-on-a-slope"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 2)
    duration: ClassVar[float] = 2.0

    slope: float = quantity(20.0, "deg", "slope")
    mu: float = quantity(0.5, "-", "friction coefficient", "nonnegative")
    speed: float = quantity(2.0, "m/s", "initial speed", "positive")
    angle: float = quantity(60.0, "deg", "of the throw from downhill")

    def start(self) -> tuple[Array, Array]:
        a = np.radians(self.angle)
        return np.zeros(3), self.speed * np.array([np.cos(a), np.sin(a), 0.0])

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        b = np.radians(self.slope)
        on_a_plane(core, [9.81 * np.sin(b), 0.0, -9.81 * np.cos(b)], q[2], self.mu)

    def stops(self) -> float:
        """T = u_0 (k + cos al_0) / (g sin(beta) (k^2 - 1))."""
        k, b = self.mu / np.tan(np.radians(self.slope)), np.radians(self.slope)
        return float(self.speed * (k + np.cos(np.radians(self.angle))) / (9.81 * np.sin(b) * (k**2 - 1)))

    def centre(self, q: Array) -> Array:
        return q

    def energy(self, q: Array, v: Array) -> Array:
        b = np.radians(self.slope)
        return 0.5 * (v**2).sum(axis=-1) + 9.81 * (np.cos(b) * q[..., 2] - np.sin(b) * q[..., 0])


@pytest.mark.thorough
def test_a_block_stops_after_its_distance():
    r = run("block")
    assert told(r) == [(0, "sticks")]
    assert r.events[0].t == pytest.approx(2 / (0.3 * 9.81), abs=FORMULA)
    assert np.linalg.norm(r.end.q[:2]) == pytest.approx(4 / (2 * 0.3 * 9.81), abs=FORMULA)
    assert r.events[0].lambda_n == pytest.approx(9.81, abs=FORMULA)
    assert r.reason == ""
    assert abs(energy_error(r)) < FORMULA


@pytest.mark.thorough
def test_a_sphere_slides_until_it_rolls():
    r = run("sphere")
    assert told(r) == [(0, "sticks")]
    assert r.events[0].t == pytest.approx(2 * 5 / (7 * 0.2 * 9.81), abs=FORMULA)
    assert np.linalg.norm(r.end.v[:2]) == pytest.approx(5 / 7 * 5, abs=FORMULA)
    assert r.end.q[0] == pytest.approx(3.54335530777, abs=EXACT)
    assert np.linalg.norm(r.end.q[3:]) == pytest.approx(1, abs=FORMULA)
    assert r.correction < 1e-13


@pytest.mark.thorough
def test_a_ball_bounces_at_the_times_of_newtons_restitution():
    r = run("bouncing-ball", 2.3)
    t, e = np.sqrt(2 / 9.81), 0.8
    times = [t * (1 + 2 * sum(e**k for k in range(1, n + 1))) for n in range(4)]
    assert told(r) == 4 * [(0, "touches down")]
    assert [x.t for x in r.events] == pytest.approx(times, abs=FORMULA)
    assert r.state(2.0).q[0] == pytest.approx(2.23031273256, abs=EXACT)
    speed, spin = CASES.find("bouncing-ball")().after_impact()
    assert (r.state(1.0).v[0], r.state(1.0).v[4]) == pytest.approx((speed, spin), abs=FORMULA)
    assert abs(energy_error(r)) < FORMULA


@pytest.mark.thorough
def test_impacts_that_accumulate_end_the_motion_with_the_time():
    r = run("bouncing-ball", 5.0)
    assert r.reason.startswith("Zeno: 40 impacts in a row")
    assert float(r.reason.split("accumulate at ")[1].split(" s")[0]) == pytest.approx(4.06371276887, abs=1e-9)
    assert r.end.t < 4.0638


def test_a_rod_slides_as_in_independent_runs():
    r = run("rod")
    x, _, theta = r.end.q
    assert (x, theta) == pytest.approx((-1.08621375440157, 0.95095014628725), abs=FORMULA)
    assert (r.end.v[0], r.end.v[2]) == pytest.approx((-3.34840724676108, -0.74238529336341), abs=FORMULA)
    assert r.events == []
    assert list(r.modes()["mode"]) == ["slip"]


def test_a_slow_rod_sticks_and_slips_again():
    r = run("rod", 0.5, speed=0.5)
    assert told(r) == [(0, "sticks"), (0, "slips")]
    assert [e.t for e in r.events] == pytest.approx([0.0424454635834, 0.410629816522], abs=EXACT)
    assert r.state(0.3).q[2] == pytest.approx(0.776031112822, abs=EXACT)
    # The tip goes on against its friction.
    assert r.reason == ""
    f = r.stretches[-1].phase.motion.force(0.0, r.stretches[-1].phase.y[-1])
    assert f.x.u_t[0, 0] * f.rates.lambda_t[0, 0] < 0


def test_a_spinning_rod_lifts_off():
    r = run("rod", 0.1, angle=40, spin=3.8)
    assert told(r) == [(0, "lifts off")]
    assert r.events[0].t == pytest.approx(0.0131271065981, abs=EXACT)
    assert r.end.q[2] == pytest.approx(1.07791589618, abs=EXACT)


@pytest.mark.thorough
def test_a_rod_near_painleves_band_lifts_off_and_comes_back():
    r = run("rod", mu=1.5, angle=75, spin=-1, speed=-8)
    assert told(r) == [(0, "lifts off"), (0, "touches down")]
    assert r.events[0].t == pytest.approx(0.0523210880217, abs=EXACT)
    assert r.state(0.05).q[2] == pytest.approx(1.44163642697, abs=EXACT)


def test_a_rod_without_a_force_is_refused():
    r = run("rod", mu=2.0, angle=60, speed=-4.0)
    assert r.stretches == []
    assert "Painlevé: W_s = -" in r.reason


@pytest.mark.thorough
def test_a_particle_on_a_slope_turns_and_stops():
    case = Slope()
    r = simulate_events(case)
    assert told(r) == [(0, "sticks")]
    assert r.events[0].t == pytest.approx(case.stops(), abs=FORMULA)
    assert r.events[0].t == pytest.approx(1.25897567367638, abs=FORMULA)
    assert r.end.q[:2] == pytest.approx([0.88145246519203, 0.51199470990775], abs=FORMULA)


@pytest.mark.thorough
def test_a_direction_whose_rate_is_infinite_at_the_end():
    r = simulate_events(Slope(slope=15.0, mu=0.9, angle=100.0), 0.3)
    assert r.events[0].t == pytest.approx(0.24402262480425, abs=FORMULA)
    assert r.end.q[:2] == pytest.approx([-0.00522341469501, 0.23008284960127], abs=FORMULA)


@pytest.mark.thorough
def test_a_particle_too_fast_for_its_friction_never_stops():
    r = simulate_events(Slope(slope=30.0, mu=0.4), 1.0)
    assert r.events == []
    assert abs(energy_error(r)) < FORMULA


@pytest.mark.thorough
def test_a_shaken_particle_sticks_and_slips_either_way():
    r = simulate_events(Shaken(), 1.7)
    assert [e.what for e in r.events] == ["slips", "sticks", "slips", "sticks"]
    times = [0.157331495786, 0.889287163365, 0.942729659184, 1.674685326762]
    assert [e.t for e in r.events] == pytest.approx(times, abs=EXACT)
    assert r.state(0.9).q[0] == pytest.approx(0.261387363986, abs=EXACT)


@pytest.mark.thorough
def test_slip_in_space_starts_along_a_turning_force():
    r = simulate_events(Pushed())
    assert told(r) == [(0, "slips")]
    assert r.events[0].t == pytest.approx(0.3 * 9.81 / 4, abs=FORMULA)
    assert r.end.v[:2] == pytest.approx([-2.70350284930, -0.86959202487], abs=EXACT)
    assert r.end.q[:2] == pytest.approx([-1.16272817171, 0.18727058031], abs=EXACT)


@pytest.mark.thorough
def test_the_wheel():
    r = run("wheel")
    assert told(r) == [(0, "sticks")]
    assert r.events[0].t == pytest.approx(2.006822760884, abs=EXACT)
    one, two = r.state(1.0), r.state(2.0)
    assert one.q[:3] == pytest.approx([4.58059417145, -0.04740537224, 0.30137375929], abs=EXACT)
    assert float(r.case.energy(one.q, one.v)) == pytest.approx(8.972372737994, abs=EXACT)
    assert two.q[3] == pytest.approx(-9.5508557086, abs=1e-10)
    assert (r.end.q[0], r.end.q[5]) == pytest.approx((6.18879526633, 7.6354421437), abs=EXACT)
    f = r.stretches[1].phase.motion.force(0.0, r.stretches[1].phase.y[0]).rates
    assert np.linalg.norm(f.lambda_t[0]) / (0.3 * f.lambda_n[0]) == pytest.approx(0.43122580690, abs=EXACT)
    assert abs(energy_error(r)) < 1e-11
    assert r.correction < 1e-13


@pytest.mark.thorough
def test_a_thrown_particle_falls_collides_slides_and_rests():
    for name in ("particle", "spatial-particle"):
        r = run(name)
        time, approach, after = r.case.impact()
        assert told(r) == [(0, "touches down"), (0, "sticks")]
        assert r.events[0].t == pytest.approx(time, abs=FORMULA)
        assert r.events[0].u_n == pytest.approx(-approach, abs=FORMULA)
        assert r.events[1].t == pytest.approx(time + after / (0.3 * 9.81), abs=FORMULA)


def test_a_disc_in_a_groove_is_braked_at_both_walls_at_once():
    r = run("v-groove")
    assert told(r) == [(0, "sticks"), (1, "sticks")]
    N_1, N_2, slowing = r.case.spinning()
    assert [e.t for e in r.events] == pytest.approx(2 * [-40 / slowing], abs=FORMULA)
    f = r.stretches[0].phase.motion.force(0.0, r.stretches[0].phase.y[0]).rates
    assert f.lambda_n == pytest.approx([N_1, N_2], rel=1e-12)


@pytest.mark.thorough
def test_pulled_bodies_leave_rest_at_the_acceleration_left_by_friction():
    r = run("off-axis")
    a = r.case.pull / r.case.m - 0.3 * 9.81
    angle = np.radians(r.case.direction)
    assert r.end.q[:2] == pytest.approx(0.125 * a * np.array([np.cos(angle), np.sin(angle)]), abs=FORMULA)
    r = run("sheath")
    assert r.end.v[0] == pytest.approx(0.5 * r.case.acceleration, abs=FORMULA)
    assert list(r.modes()["mode"]) == ["slip", "open"]


def test_fingers_lift_a_ball():
    r = run("gripper")
    ball, carriage = r.case.accelerations
    assert (r.end.v[1], r.end.v[7]) == pytest.approx((0.5 * ball, 0.5 * carriage), abs=FORMULA)
    r = run("gripper", squeeze=3.0)
    ball, carriage = r.case.accelerations
    assert (r.end.v[1], r.end.v[7]) == pytest.approx((0.5 * ball, 0.5 * carriage), abs=FORMULA)


@pytest.mark.thorough
def test_redundant_feet_hold_up_to_static_friction():
    r = run("table", 1.2)
    held = (np.degrees(np.arctan(0.4)) - 12) / 10
    assert {e.what for e in r.events} == {"slips"}
    # The moment up to which forces in their cones exist is found to 1e-12 of the weight.
    assert r.events[0].t == pytest.approx(held, abs=1e-10)
    angles = np.radians([12 + 10 * held, 24.0])
    assert r.end.v[0] == pytest.approx(r.case.gain(*angles, 1.2 - held), abs=EXACT)


@pytest.mark.thorough
def test_redundant_contacts_whose_motion_is_unique():
    r = run("three-bodies")
    load = r.case.gravity + r.case.rise
    assert told(r) == [(5, "sticks")]
    assert r.events[0].t == pytest.approx(2 * r.case.speed / (7 * r.case.mu_ball * load), abs=EXACT)
    assert r.end.v[6] == pytest.approx(0.5 * r.case.belt * 0.5, abs=EXACT)
    assert np.linalg.norm(r.end.v[12:14]) == pytest.approx(5 / 7 * r.case.speed, abs=EXACT)
    r = run("pushed-box")
    assert r.end.v[0] == pytest.approx(0.5 * (50.0 - r.case.friction()) / r.case.m, abs=EXACT)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("pinched-capsule", {}), ("sphere-stack", {}), ("stacked-cubes", {}), ("stacked-cubes", {"ratio": 3e5})],
)
def test_stacks_stay(name, parameters):
    """Of a heavy body on a light one answers differ by more than round-off, and by no more than they are known."""
    r = run(name, **parameters)
    assert r.reason == ""
    assert np.abs(r.end.q - r.case.start()[0]).max() < 1e-10
    assert r.events == []


def test_an_integration_that_comes_no_further_ends():
    rng = np.random.default_rng(3)

    class Rough:
        def slope(self, s, y):
            return rng.normal(size=y.size) * 1e6

        def projected(self, s, y):
            return y, 0.0

        def force(self, s, y):
            return SimpleNamespace(rates=SimpleNamespace(unique=True))

    rough = phase.Phase(Rough(), phase.Integrator(), [0.0], [np.zeros(3)])
    with pytest.raises(EventError, match="too rough"):
        rough.after(0, 1.0)


def test_guides_and_drawers_slide_on_one_side_at_a_time():
    from workbench.step.sliding.motion import sliding_motion

    for name, coordinate in (("rod-in-guide", 2), ("drawer", 0)):
        r = run(name, 0.2)
        q, v = r.case.start()
        there, speed = sliding_motion(r.case.sliding_system, q, v, 0.2)
        # `sliding_motion` is good for ten digits.
        assert r.end.q[coordinate] == pytest.approx(there[coordinate], abs=1e-9)
        assert r.end.v[coordinate] == pytest.approx(speed[coordinate], abs=1e-9)


def test_a_guide_is_left_on_one_side_and_met_on_the_other():
    r = run("rod-in-guide", 0.3, spin=-4.0, angle=60.0)
    assert told(r) == [(1, "lifts off"), (0, "slips")]
    assert r.events[0].t == r.events[1].t
    assert abs(r.events[0].lambda_n) < FORMULA
    assert r.reason == ""
    # Nothing collides, so that friction alone takes energy.
    assert abs(energy_error(r)) < 1e-11


def test_a_motion_that_load_sharing_decides_is_refused():
    r = run("cube")
    assert r.reason == (
        "the motion is not unique: contacts are redundant, and how they share the load decides the friction"
    )
    assert r.stretches == []


@pytest.mark.thorough
def test_an_impact_that_wedges_a_body_or_does_not_is_not_unique():
    """The box goes on along its walls, or both corners jam: impulses that bring it to rest are as right as others."""
    r = run("wedged-box")
    assert r.reason == "the impact is not unique: 2 velocities solve the impulses' problem"
    # Time stepping closes the gap within the step in which it vanishes, and presses in that or the next one.
    h, case = 1e-5, r.case
    stepped = simulate(case, find_formulation("coulomb"), default_solver("Coulomb NCP"), h, 0.04)
    assert abs(h * np.argmax(stepped.p_n[:, 2] > 0) - r.end.t) <= 2 * h
    assert r.events == []


def test_a_rod_in_painleves_regime_slides_with_a_force_or_flies():
    """W_s < 0 < b: lambda = -b / W_s and lambda = 0 both solve the LCP. Without contact the centre falls freely."""
    case = CASES.find("rod")().with_parameters(mu=2.0, angle=60.0, spin=8.0)
    slides, flies = simulate_branches(case, 0.3)
    (fork,) = slides.forks
    assert fork.ways == ("contact 0 slides backward", "contact 0 opens")
    assert [r.choices for r in (slides, flies)] == [(0,), (1,)]
    c, s = np.cos(np.radians(60.0)), np.sin(np.radians(60.0))
    W_s = (1 + c * (c - case.mu * s) / case.kappa) / case.m
    b = case.l * s * 8.0**2 - case.gravity
    first = slides.stretches[0].phase
    force = first.motion.force(0.0, first.y[0]).rates.lambda_n[0]
    assert force == pytest.approx(-b / W_s, rel=FORMULA)
    assert force > 0
    for r in (slides, flies):
        assert r.reason == ""
        assert abs(energy_error(r)) < 1e-11 * case.m * (8.0 * case.l) ** 2
    q, v = flies.state(0.0).q, flies.state(0.0).v
    rise = v[1] + case.l * c * v[2]
    end = flies.end
    height = end.q[1] + case.l * np.sin(end.q[2])
    assert height == pytest.approx(q[1] + case.l * s + 0.3 * rise - 0.5 * case.gravity * 0.09, rel=FORMULA)
    assert end.q[2] == pytest.approx(q[2] + 0.3 * v[2], rel=FORMULA)
    # The slip ends before the rod flies: it has lost energy by then.
    assert told(slides) == [(0, "lifts off")]
    assert slides.friction_work > 0.0 == flies.friction_work


def test_every_way_of_an_impact_is_followed_up_to_a_number_of_motions():
    case = CASES.find("wedged-box")()
    late, second, first = simulate_branches(case, 0.05, most=3)
    assert [r.choices for r in (late, second, first)] == [(0, 0), (0, 1), (1,)]
    # The one whose fork is not taken ends there; those that jam stay where they are.
    assert late.forks[-1].taken is None
    assert late.end.t == late.forks[-1].t
    for r in (second, first):
        assert r.reason == ""
        assert np.abs(r.end.v).max() < 1e-12
        np.testing.assert_allclose(r.end.q, r.state(r.forks[-1].t).q, rtol=0, atol=1e-12)
    assert [e.t for e in second.events[:2]] == [e.t for e in late.events[:2]]


def test_a_unique_motion_has_no_branches():
    (only,) = simulate_branches(CASES.find("block")(), 0.8)
    assert (only.forks, only.choices) == ([], ())
    assert told(only) == [(0, "sticks")]


def test_durations_must_be_positive():
    with pytest.raises(DataError, match="a positive number"):
        run("block", 0.0)
    with pytest.raises(DataError, match="a time from 0"):
        run("block", 0.1).state(0.2)


def test_the_event_list_is_a_table():
    table = run("rod", 0.1, speed=0.5).table()
    assert list(table.columns) == ["t", "contact", "what", "u_n", "u_t", "lambda_n", "p_n"]
    assert list(table["what"]) == ["sticks"]


@pytest.mark.thorough
def test_a_second_integrator_finds_the_same_motion():
    r, off = simulate_twice(CASES.find("rod")().with_parameters(speed=0.5), 0.5)
    assert off.same_events
    assert off.until == pytest.approx(0.5)
    # Radau at 1e-10 is what they differ by.
    assert max(off.q, off.v, off.t) < 1e-9
    assert off.v > 0
    assert [e.what for e in r.events] == ["sticks", "slips"]


def test_differences_along_the_motion_are_exact_to_round_off():
    case = CASES.find("wheel")()
    mechanics, rng = SecondOrder(case), np.random.default_rng(5)
    for _ in range(5):
        q, v = rng.normal(size=6), 3 * rng.normal(size=6)
        x = mechanics.at(q, v)
        # u_n = z' + R sin(theta) theta'.
        assert x.c_n[0] == pytest.approx(case.R * np.cos(q[4]) * v[4] ** 2, abs=1e-12)
        assert x.rate == pytest.approx(v, abs=1e-12)
    assert mechanics.differences < 1e-11


def test_a_contact_with_two_motions_is_refused():
    case = CASES.find("rod")().with_parameters(mu=2.0, angle=60.0, speed=-4.0, spin=5.0)
    assert "2 accelerations solve the contact problem" in simulate_events(case).reason


def test_a_projection_meets_all_constraints_of_a_mode():
    mechanics, rng = SecondOrder(CASES.find("three-bodies")()), np.random.default_rng(2)
    q, v = mechanics.case.start()
    time, modes = q[21], 5 * (Mode.STICK,) + (Mode.SLIP,)
    q, v = q + 1e-5 * rng.normal(size=q.size), v + 1e-5 * rng.normal(size=v.size)
    q[21] = time
    for _ in range(2):
        q, v, moved = project_on_constraints(mechanics, q, v, modes)
    x = mechanics.at(q, v)
    assert np.abs(x.phi).max() < 1e-12
    assert np.abs(x.u_n).max() < 1e-14
    assert np.abs(x.u_t[:5]).max() < 1e-14
    assert moved < 1e-8
    assert q[21] == pytest.approx(time, abs=1e-18)


def test_an_interrupted_phase_is_kept_up_to_there():
    r = simulate_events(CASES.find("rod")(), method=phase.Integrator(steps=8))
    assert "8 steps after 0 s and no event" in r.reason
    assert 0 < r.end.t < 0.3
    whole = run("rod")
    assert r.end.q == pytest.approx(whole.state(r.end.t).q, abs=FORMULA)


# Answers


def resting(contacts: int, mu: float) -> CoulombNCP:
    """Contacts in the plane with W = (1, 0.9; 0.9, 1) each, and a weak tie, that rise at 0.1 and slide at 1.

    With mu = 2 each may open, or stick with n = 0.8/0.19 and t = -0.91/0.19. With mu = 1 it cannot stick, since 0.91 is
    more than 0.8, nor slide, since n = 0.1/(0.9 - 1) < 0.
    """
    W = np.eye(2 * contacts) + 0.9 * np.roll(np.eye(2 * contacts), contacts, axis=1) + 1e-3 * (contacts > 1)
    return CoulombNCP(W, np.repeat([0.1, 1.0], contacts), np.full(contacts, mu), 1)


@pytest.mark.parametrize("contacts", [1, 2, 5])
def test_a_second_answer_is_found_where_there_is_one(contacts):
    several, one = resting(contacts, 2.0), resting(contacts, 1.0)
    opens, sticks = np.zeros(2 * contacts), -np.linalg.solve(several.M, several.q)
    assert max(several.residual(opens), several.residual(sticks), one.residual(opens)) < 1e-12
    assert [*others(several, opens, several.M, 1.0)]
    assert [*others(several, sticks, several.M, 1.0)]
    assert not [*others(one, opens, one.M, 1.0)]


@pytest.mark.parametrize("n", [4, 5])
def test_a_second_answer_is_found_among_all_modes_and_from_random_starts(n):
    """Beside two such contacts one that has to press and some that have to open: neither do all open nor all stick."""
    two, own = resting(2, 2.0), [0, 1, n, n + 1]
    W, q, z = np.eye(2 * n), np.zeros(2 * n), np.zeros(2 * n)
    W[np.ix_(own, own)], q[own] = two.M, two.q
    q[2], q[3:n], z[2] = -1.0, 1.0, 1.0
    problem = CoulombNCP(W, q, np.full(n, 2.0), 1)
    assert problem.residual(z) < 1e-12
    assert min(problem.residual(np.zeros(2 * n)), problem.residual(-np.linalg.solve(W, q))) > 0.1
    assert [*others(problem, z, problem.M, 1.0)]


def test_among_few_contacts_in_the_plane_no_luck_is_needed(monkeypatch):
    """Beside contacts that may stick or open one has to press and one to open, and no start is random."""
    monkeypatch.setattr(answers, "STARTS", 0)
    two, n, own = resting(2, 2.0), 4, [0, 1, 4, 5]
    W, q, z = np.eye(2 * n), np.zeros(2 * n), np.zeros(2 * n)
    W[np.ix_(own, own)], q[own] = two.M, two.q
    q[2], q[3], z[2] = -1.0, 1.0, 1.0
    assert [*others(CoulombNCP(W, q, np.full(n, 2.0), 1), z, W, 1.0)]


def test_an_answer_that_is_not_verified_is_none():
    """Nothing moves a contact without mobility that approaches."""
    assert solution_to_round_off(CoulombNCP(np.zeros((2, 2)), np.array([-1.0, 0.0]), np.full(1, 0.5), 1)) is None


def test_restitution_is_of_contacts_that_approach():
    """A rod lands on its left end, e = 1/2, and turns its right end, which was rising, into the ground.

    Only the left end has an approach speed to give back: the right one comes to rest, u_n+ = 0.
    """
    M, J_n, none = np.diag([1.0, 1.0 / 3.0]), np.array([[1.0, -1.0], [1.0, 1.0]]), np.zeros(2)
    v = np.array([-0.4, 0.6])
    x = Dynamics(
        M=M, f=none, J_b=np.zeros((0, 2)), J_n=J_n, J_t=np.zeros((2, 1, 2)), c_b=np.zeros(0), c_n=none,
        c_t=np.zeros((2, 1)), g=np.zeros(0), phi=none, u_b=np.zeros(0), u_n=J_n @ v, u_t=np.zeros((2, 1)), mu=none,
        mu_s=none, e=np.full(2, 0.5), rate=v,
    )  # fmt: skip
    assert x.u_n.tolist() == pytest.approx([-1.0, 0.2])
    after, p_n, _ = impact(x, v, [0, 1])
    assert (p_n > 0).all()
    np.testing.assert_allclose(M @ (after - v), J_n.T @ p_n, atol=1e-12)
    np.testing.assert_allclose(J_n @ after, [0.5, 0.0], atol=1e-12)
