"""Proved motions: closed forms within their balls, simulated motions beside them, and wrong ones outside."""

from dataclasses import dataclass
from typing import Any, ClassVar

import flint
import numpy as np
import pytest

from cases import CASES
from workbench.events.ball_modes import accelerations
from workbench.events.balls import Ball, BallMechanics, Dual, UndecidedError
from workbench.events.enclosure import EnclosedMotion, enclose
from workbench.events.modes import Mode, rates
from workbench.events.simulation import simulate_events
from workbench.events.taylor import constants, first_root
from workbench.mechanics.case import Case, quantity
from workbench.mechanics.second_order import SecondOrder
from workbench.support.arrays import Array
from workbench.support.errors import DataError

arb = flint.arb


@pytest.fixture(autouse=True)
def _precision():
    """Of what is worked out here: balls narrower than those that are tested."""
    with flint.ctx.workprec(1000):
        yield


def case_of(name: str, **parameters: float) -> Case:
    return CASES.find(name)().with_parameters(**parameters)


def told(found: EnclosedMotion) -> list[tuple[int, str]]:
    return [(e.contact, e.what) for e in found.events]


@dataclass(frozen=True)
class Slope(Case):
    """A particle of 1 kg that climbs a slope, in the plane of the fall line; axes: uphill, normal."""

    name: ClassVar[str] = "climbing"
    size: ClassVar[tuple[int, int, int, int]] = (2, 0, 1, 1)
    duration: ClassVar[float] = 0.5

    pull: float = quantity(3.0, "m/s2", "gravity along the slope")
    press: float = quantity(9.0, "m/s2", "gravity across it")
    mu: float = quantity(0.25, "-", "friction coefficient", "nonnegative")
    speed: float = quantity(1.0, "m/s", "initial speed")

    def start(self) -> tuple[Array, Array]:
        return np.zeros(2), np.array([self.speed, 0.0])

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        unit = np.eye(2)
        core.M[:], core.f[:], core.J_n[:], core.J_t[:] = unit, [-self.pull, -self.press], unit[1:], unit[:1]
        core.phi[0], core.mu[0] = q[1], self.mu

    def centre(self, q: Array) -> Array:
        return np.stack([q[..., 0], np.zeros_like(q[..., 0]), q[..., 1]], axis=-1)

    def energy(self, q: Array, v: Array) -> Array:
        return 0.5 * (v**2).sum(axis=-1) + self.pull * q[..., 0] + self.press * q[..., 1]


@dataclass(frozen=True)
class Ladder(Case):
    """A ladder of 1 kg on floor and wall, q = (x of its top, z of its foot, angle from the floor)."""

    name: ClassVar[str] = "ladder"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 2, 1)
    duration: ClassVar[float] = 0.6

    mu: float = quantity(0.0, "-", "friction coefficient", "nonnegative")
    spin: float = quantity(0.0, "rad/s", "initial rate of the angle")

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, self.spin])

    def fill(self, q: Array, v: Array, data: Array, core: Any) -> None:
        c, s = np.cos(q[2]), np.sin(q[2])
        core.M[:] = np.array([[1, 0, -s], [0, 1, c], [-s, c, 1.5]], dtype=core.M.dtype)
        core.f[:] = np.array([c * v[2] ** 2, s * v[2] ** 2 - 10, -10 * c], dtype=core.f.dtype)
        core.J_n[:] = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
        core.J_t[:] = np.array([[1, 0, -2 * s], [0, 1, 2 * c]], dtype=core.J_t.dtype)
        core.phi[0], core.phi[1], core.mu[:] = q[1], q[0], self.mu

    def centre(self, q: Array) -> Array:
        x = q[..., 0] + np.cos(q[..., 2])
        return np.stack([x, np.zeros_like(x), q[..., 1] + np.sin(q[..., 2])], axis=-1)

    def energy(self, q: Array, v: Array) -> Array:
        return np.zeros_like(q[..., 0])


# The equations


@pytest.mark.parametrize("mode", [Mode.OPEN, Mode.SLIP, Mode.STICK])
def test_accelerations_are_those_that_are_simulated(mode):
    case, rng = case_of("wheel"), np.random.default_rng(4)
    q, v = case.start()
    q, v, e = q + 0.2 * rng.normal(size=6), v + rng.normal(size=6), np.array([[0.6, 0.8]])
    y = constants([*map(arb, q), *map(arb, v)])
    found = accelerations(BallMechanics(case).at(y[:6], y[6:]), (mode,), np.vectorize(Ball)(e))
    wanted = rates(SecondOrder(case).at(q, v), (mode,), e)
    for field in found._fields:
        mine = [float(x.coefficient(0).mid()) for x in getattr(found, field).flat]
        assert mine == pytest.approx(np.ravel(getattr(wanted, field)), rel=1e-11, abs=1e-11)


# Closed forms


def test_a_block_stops_at_the_time_of_its_formula():
    case = case_of("block")
    found = enclose(case)
    assert told(found) == [(0, "sticks")]
    v = list(map(arb, case.start()[1]))
    stops = (v[0] ** 2 + v[1] ** 2).sqrt() / (arb(case.mu) * arb(case.gravity))
    assert found.events[0].t.contains(stops)
    assert found.events[0].radius < 1e-14
    assert found.events[0].t_low < float(stops.mid()) < found.events[0].t_high
    assert found.reason == ""
    assert found.contains(simulate_events(case))


def test_a_climbing_particle_reverses_or_stays():
    case = Slope()
    found = enclose(case)
    assert told(found) == [(0, "reverses")]
    stops = arb(1) / (arb(3) + arb(0.25) * 9)
    assert found.events[0].t.contains(stops)
    assert found.events[0].radius < 1e-30
    back = -(arb(3) - arb(0.25) * 9) * (arb(0.5) - stops)
    assert found.end.v[0].contains(back)
    assert found.contains(simulate_events(case))
    assert told(enclose(Slope(mu=0.5))) == [(0, "sticks")]


def test_a_thrown_particle_falls_slides_and_stops():
    case = case_of("particle")
    found = enclose(case)
    assert told(found) == [(0, "touches down"), (0, "sticks")]
    g, climb = arb(case.gravity), arb(case.climb)
    falls = (climb + (climb**2 + 2 * g * arb(case.height)).sqrt()) / g
    assert found.events[0].t.contains(falls)
    stops = falls + (arb(case.speed) - arb(case.mu) * (g * falls - climb)) / (arb(case.mu) * g)
    assert found.events[1].t.contains(stops)
    assert max(e.radius for e in found.events) < 1e-25
    assert found.contains(simulate_events(case))


@pytest.mark.thorough
def test_a_sphere_slides_until_it_rolls():
    case = case_of("sphere")
    found = enclose(case)
    assert told(found) == [(0, "sticks")]
    v = list(map(arb, case.start()[1]))
    speed = (v[0] ** 2 + v[1] ** 2).sqrt()
    assert found.events[0].t.contains(2 * speed / (7 * arb(case.mu) * arb(case.gravity)))
    assert found.events[0].radius < 1e-14
    assert found.end.v[0].contains(5 * v[0] / 7)
    assert found.contains(simulate_events(case))


@pytest.mark.thorough
def test_a_frictionless_ladder_leaves_the_wall_at_two_thirds_of_its_height():
    found = enclose(Ladder())
    assert told(found) == [(1, "lifts off")]
    angle = found.state(found.events[0].t_low - 1e-15).q[2]
    # Of the inertia 1/2 about the centre: 3 sin = 2 sin(1) whatever it is.
    assert (3 * angle.sin() - 2 * arb(1).sin()).abs_upper() < 1e-13
    assert found.contains(simulate_events(Ladder()))


# Simulated motions


RODS: list[tuple[dict[str, float], float, list[str]]] = [
    ({}, 0.1, []),
    ({"speed": 0.5}, 0.45, ["sticks", "slips"]),
    ({"angle": 40.0, "spin": 3.8}, 0.05, ["lifts off"]),
]


@pytest.mark.share(3)
@pytest.mark.parametrize(("parameters", "duration", "events"), RODS)
def test_simulated_rods_lie_within_the_enclosure(parameters, duration, events):
    case = case_of("rod", **parameters)
    found, run = enclose(case, duration), simulate_events(case, duration)
    assert [what for _, what in told(found)] == events
    assert found.reason == ""
    assert found.end.radius < 1e-18
    assert all(e.radius < 1e-18 for e in found.events)
    assert found.contains(run)
    assert found.differences(run).largest < 1e-12


def test_a_wrong_motion_is_not_contained():
    for name, parameters, changed in (
        ("rod", {"speed": 0.5}, {"mu": 0.5 + 1e-9}),
        ("particle", {}, {"gravity": 9.81 + 1e-9}),
    ):
        duration = {"rod": 0.1, "particle": None}[name]
        found = enclose(case_of(name, **parameters), duration)
        assert not found.contains(simulate_events(case_of(name, **parameters, **changed), duration))
        assert found.contains(simulate_events(case_of(name, **parameters), duration))


def test_other_events_are_infinitely_far():
    found = enclose(case_of("particle"))
    assert found.differences(simulate_events(case_of("particle"), 1.0)).largest == np.inf


@pytest.mark.thorough
def test_a_ladder_slides_on_floor_and_wall():
    case = Ladder(mu=0.2, spin=-1.0)
    found = enclose(case, 0.2)
    assert (told(found), found.reason) == ([], "")
    assert found.contains(simulate_events(case, 0.2))


@pytest.mark.parametrize(
    ("name", "duration"), [pytest.param("bouncing-ball", 0.5, marks=pytest.mark.thorough), ("spatial-particle", 0.6)]
)
def test_impacts_in_space_with_and_without_restitution(name, duration):
    case = case_of(name)
    found = enclose(case, duration)
    assert (told(found), found.reason) == ([(0, "touches down")], "")
    assert found.contains(simulate_events(case, duration))


def test_a_turning_direction_of_slip():
    case = case_of("wheel")
    found = enclose(case, 0.05)
    assert found.reason == ""
    assert found.contains(simulate_events(case, 0.05))


# What is not proved


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("rod", {"mu": 2.0, "angle": 60.0, "speed": -4.0}, "W_s is negative (Painlevé)"),
        *(
            pytest.param(name, {}, reason, marks=pytest.mark.thorough)
            for name, reason in (
                ("rod-in-guide", "redundant"), ("gripper", "bilateral"), ("table", "static friction"),
                ("cube", "several contacts"),
            )
        ),
    ],
)  # fmt: skip
def test_what_is_not_proved_ends_with_a_reason(name, parameters, reason):
    found = enclose(case_of(name, **parameters))
    assert reason in found.reason
    assert "not proved: " in found.reason
    assert found.differences(simulate_events(case_of(name, **parameters))).largest == np.inf


@pytest.mark.thorough
def test_forces_of_sliding_contacts_are_unique_for_p_matrices_alone():
    assert enclose(Ladder(mu=1.0, spin=1.0), 0.02).reason == ""
    assert "W_s is not a P-matrix" in enclose(Ladder(mu=2.0, spin=1.0), 0.02).reason


def test_events_that_coincide_are_not_ordered():
    found = enclose(case_of("v-groove"))
    assert "not proved to be apart" in found.reason


def test_roots_are_the_first_and_double_ones_are_refused():
    zero = arb(0)
    # (1 - s)(2 - s), of which the remainder is zero.
    assert first_root([arb(2), arb(-3), arb(1), zero], arb(1.5)).contains(1)
    assert first_root([arb(2), arb(-3), arb(1), zero], arb(0.5)) is None
    with pytest.raises(UndecidedError):
        first_root([arb(1), arb(-2), arb(1), zero], arb(1.5))
    # s^2 (1 - s) starts at zero.
    assert first_root([zero, zero, arb(1), arb(-1), zero], arb(0.5), 2) is None
    with pytest.raises(UndecidedError):
        first_root([zero, zero, arb(1), arb(-1), zero], arb(0.5))


def test_times_outside_are_refused():
    found = enclose(case_of("particle"), 0.1)
    assert found.state(0.1).t.contains(0.1)
    with pytest.raises(DataError, match="not within"):
        found.state(0.2)
    with pytest.raises(DataError, match="positive"):
        enclose(case_of("particle"), 0.0)


def test_no_ball_becomes_a_double_unseen():
    x = Ball(arb(1, 0.5))
    with pytest.raises(TypeError):
        float(x)
    with pytest.raises(UndecidedError):
        bool(x > 1)
    with pytest.raises(UndecidedError):
        1 / (x - 1)
    assert x > 0.4
    assert np.sin(x).value.contains(arb(1).sin())


def test_duals_differentiate_what_advance_may_compute():
    """At h = 0: a + b h of sums, products, quotients and squares, by the rules of calculus in rationals."""
    x, y = Dual(3.0, 5.0), Dual(2.0, -4.0)
    for found, value, slope in (
        (x + y, 5, 1), (x - y, 1, 9), (1.0 - x, -2, -5), (x * y, 6, -2), (x / y, 1.5, 5.5), (x**2, 9, 30), (-x, -3, -5),
    ):  # fmt: skip
        assert found.a == Ball(value)
        assert found.b == Ball(slope)
