"""Schemes of the time step: their orders on closed forms, impacts, and that every road takes the same steps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from tests.refusals import refusal
from tests.test_parts import ROW
from tests.test_stepping import interpreted
from workbench.algorithms.escalation import default_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.events.modes import Mode
from workbench.events.phase import Integrator
from workbench.events.simulation import simulate_events
from workbench.language.assemble.find import compiled
from workbench.mechanics.case import Case, quantity
from workbench.mechanics.core import Core
from workbench.problems.solution import Status
from workbench.step.local_steps import local_steps, onward
from workbench.step.scheme import KINDS, Scheme, at_start, find_scheme
from workbench.step.simulation import simulate
from workbench.support.errors import DataError, UnknownNameError
from workbench.verbs.find import find_case, find_formulation

HELD = 2

H = (4e-3, 2e-3, 1e-3, 5e-4)
G = 9.81


def solver_of(case, f):
    return default_solver(compiled(f, *case.size).kind)


def run(case, h, duration, scheme, label="coulomb"):
    f = find_formulation(label)
    found = simulate(case, f, solver_of(case, f), h, duration, scheme=scheme)
    assert found.status is Status.SOLVED, found.reason
    return found


def slopes(errors):
    return np.log2(np.asarray(errors)[:-1] / np.asarray(errors)[1:])


def ends(case, duration, scheme, label="coulomb"):
    """The last states (q, v) at each of the steps."""
    runs = [run(case, h, duration, scheme, label) for h in H]
    return np.array([r.states_q[-1] for r in runs]), np.array([r.states_v[-1] for r in runs])


def way(q):
    """How far from the origin, in the plane."""
    return np.linalg.norm(q[:, :2], axis=1)


@dataclass(frozen=True)
class Slope(Case):
    """A particle that slides on a slope along a curve: x down the slope, y across, z off it."""

    name: ClassVar = "slope"
    size: ClassVar = (3, 0, 1, 2)
    duration: ClassVar = 1.0
    angle: float = quantity(20.0, "deg", "slope")
    mu: float = quantity(0.5, "-", "friction coefficient")
    v_th: float = quantity(1e-6, "m/s", "stick threshold", "positive")

    def mechanics(self, q, v):
        a = np.radians(self.angle)
        return {
            "M": np.eye(3), "f": G * np.array([np.sin(a), 0.0, -np.cos(a)]), "J_n": [[0.0, 0.0, 1.0]],
            "J_t": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "phi": [q[2]], "mu": [self.mu],
        }  # fmt: skip

    def start(self):
        return np.zeros(3), 2.0 * np.array([np.cos(np.radians(60)), np.sin(np.radians(60)), 0.0])

    def centre(self, q):
        return q

    def energy(self, q, v):
        return 0.5 * (v**2).sum(axis=-1)

    def exact(self, t):
        """x, y and their rates after t [s] of slip, with the direction of slip as the parameter.

        u' = -g sin(beta) (k - cos(al)), u al' = -g sin(beta) sin(al), so that u sin(al) / tan(al / 2)^k is constant.
        """
        a, start = np.radians(self.angle), np.radians(60.0)
        k, s = self.mu / np.tan(a), G * np.sin(a)

        def u(al):
            return 2.0 * (np.tan(al / 2) / np.tan(start / 2)) ** k * np.sin(start) / np.sin(al)

        def until(al, f):
            return quad(lambda x: f(x) * u(x) / (s * np.sin(x)), al, start, epsabs=1e-13, epsrel=1e-13)[0]

        al = brentq(lambda x: until(x, lambda _: 1.0) - t, 1e-3, start, xtol=1e-14)
        place = [until(al, lambda x: u(x) * np.cos(x)), until(al, lambda x: u(x) * np.sin(x))]
        return np.array(place), u(al) * np.array([np.cos(al), np.sin(al)])


def test_free_flight_is_exact_where_data_or_laws_are_amid_the_step():
    case, t = find_case("particle"), 0.4
    exact = np.array([case.speed * t, case.height + case.climb * t - G * t**2 / 2])
    for scheme in ("moreau-jean", "midpoint"):
        q, v = ends(case, t, scheme)
        np.testing.assert_allclose(q, np.tile(exact, (len(H), 1)), atol=1e-13)
        np.testing.assert_allclose(v[:, 1], case.climb - G * t, atol=1e-12)
    for scheme, sign in (("symplectic", -1), ("explicit", 1), ("moreau-jean:theta=0.75", -0.5)):
        q, _ = ends(case, t, scheme)
        np.testing.assert_allclose(q[:, 1] - exact[1], sign * G * t * np.array(H) / 2, rtol=1e-9)


def test_sliding_straight_and_then_resting():
    """The block: velocities are exact at every step, and a rectangle rule of them is off by mu g h t / 2."""
    case = find_case("block")
    slowing = case.mu * G
    t = 0.6
    exact = case.speed * t - slowing * t**2 / 2
    for scheme, sign in (("symplectic", -1), ("explicit", 1)):
        q, v = ends(case, t, scheme)
        np.testing.assert_allclose(way(q) - exact, sign * slowing * t * np.array(H) / 2, rtol=1e-9)
        np.testing.assert_allclose(way(v), case.speed - slowing * t, atol=1e-12)
    assert np.abs(way(ends(case, t, "moreau-jean")[0]) - exact).max() < 1e-12
    np.testing.assert_allclose(slopes(np.abs(way(ends(case, t, "midpoint")[0]) - exact)), 2.0, atol=0.01)
    # At rest the laws hold the velocity at zero under each of them, and leave no +-v behind.
    for scheme in KINDS:
        _, v = ends(case, 0.8, scheme)
        assert np.abs(v).max() < 1e-14


@pytest.mark.thorough
@pytest.mark.parametrize(("scheme", "order"), [("symplectic", 1), ("explicit", 1), ("moreau-jean", 1), ("midpoint", 2)])
def test_sliding_along_a_curve_on_a_slope(scheme, order):
    """The direction of friction turns: that of v+ is of first order, that of the mean velocity of second."""
    case = Slope()
    place, velocity = case.exact(1.0)
    stop = 2.0 * (case.mu / np.tan(np.radians(20)) + 0.5)
    assert stop / (G * np.sin(np.radians(20)) * ((case.mu / np.tan(np.radians(20))) ** 2 - 1)) > 1.0
    q, v = ends(case, 1.0, scheme)
    np.testing.assert_allclose(slopes(np.linalg.norm(v[:, :2] - velocity, axis=1)), order, atol=0.1)
    np.testing.assert_allclose(slopes(np.linalg.norm(q[:, :2] - place, axis=1)), order, atol=0.1)


def test_a_sphere_slides_and_then_rolls():
    """Its velocity is 5/7 v0 at any step; its way is of the scheme's order, also where slip ends within a step: there a
    trapezoidal rule of a velocity with a kink is off by mu g h^2 / 8 at most."""
    case = find_case("sphere")
    slid = 2 * case.speed / (7 * case.mu * G)
    exact, h = 6 / 7 * case.speed * slid + 5 / 7 * case.speed * (1.0 - slid), np.array(H)
    off = {}
    for scheme in KINDS:
        q, v = ends(case, 1.0, scheme)
        np.testing.assert_allclose(way(v), 5 / 7 * case.speed, rtol=1e-10)
        off[scheme] = np.abs(way(q) - exact)
    for scheme in ("symplectic", "explicit"):
        np.testing.assert_allclose(off[scheme], case.speed * h / 7, rtol=0.01)
    assert (off["moreau-jean"] <= case.mu * G * h**2 / 8).all()
    np.testing.assert_allclose(slopes(off["midpoint"]), 2.0, atol=0.1)


def test_theta_of_one_is_the_symplectic_scheme_to_the_last_bit():
    case = find_case("wheel")
    one, other = run(case, 1e-3, 0.1, Scheme("moreau-jean", 1.0)), run(case, 1e-3, 0.1, None)
    for name in ("q", "v", "p"):
        np.testing.assert_array_equal(getattr(one.record, name), getattr(other.record, name))


@pytest.mark.parametrize("scheme", ["symplectic", "moreau-jean", "midpoint"])
def test_a_plastic_impact_does_not_rebound_and_is_of_first_order(scheme):
    case = find_case("particle")
    time, _, after = case.impact()
    stop = time + after / (case.mu * G)
    exact = case.speed * time + after**2 / (2 * case.mu * G)
    errors = []
    for h in H:
        found = run(case, h, stop + 0.1, scheme)
        errors.append(abs(found.states_q[-1, 0] - exact) / h)
        late = found.t > time + 3 * h
        assert np.abs(found.states_v[1:][late, 1]).max() < 1e-12
        assert np.abs(found.states_v[-1]).max() < 1e-12
    # Moved on at v+, the first half of a step more or less.
    assert max(errors) < 2 * case.speed


def test_a_ball_bounces_with_its_own_restitution_under_the_midpoint_scheme():
    case = find_case("bouncing-ball")
    for h in H:
        found = run(case, h, 0.6, "midpoint")
        k = int(np.argmax(found.p_n[:, 0] > 0))
        before, after = found.states_v[k, 2], found.states_v[k + 1, 2]
        # Within the step it falls on, too.
        assert after == pytest.approx(-case.e * before, abs=2 * G * h)


@pytest.mark.parametrize("f", FORMULATIONS, ids=lambda f: f.name)
def test_every_formulation_steps_under_every_scheme(f):
    """Their schemes differ by what a step makes, a few hundredths of a second on."""
    case = find_case("rod", speed=0.5)
    h, runs = 5e-4, {}
    for scheme in ("symplectic", "moreau-jean", "midpoint"):
        found = simulate(case, f, solver_of(case, f), h, 0.03, scheme=scheme)
        assert found.status in (Status.SOLVED, Status.INACCURATE), found.reason
        runs[scheme] = found.states_q[-1]
    for scheme in ("moreau-jean", "midpoint"):
        assert np.abs(runs[scheme] - runs["symplectic"]).max() < 4 * h


@pytest.mark.parametrize("scheme", ["moreau-jean:theta=0.7", "midpoint"])
@pytest.mark.parametrize("label", ["coulomb", "box", "hunt-crossley", "staggered"])
@pytest.mark.parametrize("name", ["rod", "particle", "wheel"])
def test_steps_from_the_states_of_a_run_and_runs_onward_are_its_own(name, label, scheme):
    """A step of its own formulation from each state of a run leads to the next, whatever the scheme remembers."""
    case, f = find_case(name, **({"speed": 0.5} if name == "rod" else {})), find_formulation(label)
    solver = solver_of(case, f)
    base = simulate(case, f, solver, 2e-3, min(case.duration, 0.5), scheme=scheme)
    local = local_steps(base, f, solver, np.arange(base.steps))
    np.testing.assert_array_equal(local.after_q, base.states_q[1:])
    np.testing.assert_array_equal(local.v_after, base.v_after)
    (found,) = onward(base, f, solver, [25], 20)
    np.testing.assert_array_equal(found.states_q, base.states_q[25:46])


@pytest.mark.parametrize("scheme", ["moreau-jean", "midpoint"])
@pytest.mark.parametrize("label", ["box:bounds=iterated", "ccp", "coulomb"])
def test_a_case_in_plain_python_takes_the_same_steps(label, scheme):
    kind, f = type(find_case("particle")), find_formulation(label)
    one, other = (
        simulate(case, f, solver_of(case, f), 5e-3, 0.6, scheme=scheme) for case in (kind(), interpreted(kind)())
    )
    for name, x, y in zip(one.record._fields, one.record, other.record, strict=True):
        np.testing.assert_array_equal(x, y, err_msg=name)


def test_parts_take_the_steps_that_each_of_them_takes_alone():
    f = find_formulation("coulomb")
    found = simulate(ROW, f, solver_of(ROW.parts[0], f), 2e-3, 0.05, scheme="midpoint")
    for k, part in enumerate(ROW.parts):
        alone = simulate(part, f, solver_of(part, f), 2e-3, 0.05, scheme="midpoint")
        np.testing.assert_array_equal(found.parts[k].states_q, alone.states_q)


def test_what_is_no_scheme_is_refused_in_a_line():
    assert "symplectic" in refusal(find_scheme, "sympletic", error=UnknownNameError)
    assert "from 0.5 to 1" in refusal(find_scheme, "moreau-jean:theta=0.4", error=DataError)
    assert "from 0.5 to 1" in refusal(find_scheme, "moreau-jean:theta=nan", error=DataError)
    assert "theta=0.7" in refusal(find_scheme, "midpoint:theta=0.7", error=DataError)
    assert "theta=0.7" in refusal(find_scheme, "moreau-jean:mu=0.7", error=DataError)
    assert [str(find_scheme(x)) for x in (*KINDS, "moreau-jean:theta=0.7")] == [*KINDS, "moreau-jean:theta=0.7"]
    assert find_scheme(None) == Scheme("symplectic")
    assert "'0.1'; known: symplectic" in refusal(find_scheme, 0.1, error=UnknownNameError)
    assert "theta = 0.7 of the scheme midpoint; 0.5 is needed" in refusal(Scheme, "midpoint", 0.7, error=DataError)


def test_contacts_are_held_at_the_start_that_are_closed_and_stay():
    for name, held in (("particle", False), ("block", True), ("bouncing-ball", False)):
        case = find_case(name)
        assert at_start(case, Core(case.size, 1e-3, 0.0, case.v_th))[0, HELD] == held
    leaves = find_case("rod", spin=1.0)
    core = Core(leaves.size, 1e-3, 0.0, leaves.v_th)
    assert at_start(leaves, core)[0, HELD]
    # Closed, and not to stay.
    rising = type("Rising", (Bar,), {"start": lambda self: (Bar.start(self)[0], np.array([0.0, 1.0, 0.0]))})()
    assert not at_start(rising, Core(rising.size, 1e-3, 0.0, rising.v_th))[0, HELD]


@dataclass(frozen=True)
class Bar(Case):
    """A bar by its centre and angle, whose tip slides on the floor: the row of the contact turns with it."""

    name: ClassVar = "bar"
    size: ClassVar = (3, 0, 1, 1)
    duration: ClassVar = 0.2
    mu: float = quantity(0.3, "-", "friction coefficient")

    def mechanics(self, q, v):
        s, c = np.sin(q[2]), np.cos(q[2])
        return {
            "M": np.diag([1.0, 1.0, 1 / 3]), "f": [0.0, -G, 0.0], "J_n": [[0.0, 1.0, -c]], "J_t": [[1.0, 0.0, s]],
            "phi": [q[1] - s], "mu": [self.mu],
        }  # fmt: skip

    def start(self):
        return np.array([0.0, np.sin(1.0), 1.0]), np.array([1.0, -2.0 * np.cos(1.0), -2.0])

    def centre(self, q):
        return np.stack([q[..., 0], 0.0 * q[..., 0], q[..., 1]], axis=-1)

    def energy(self, q, v):
        return 0.5 * (v[..., 0] ** 2 + v[..., 1] ** 2 + v[..., 2] ** 2 / 3) + G * q[..., 1]


@dataclass(frozen=True)
class Pendulum(Bar):
    """The bar hinged at a point, its contact far off: a pendulum, whose energy is constant."""

    name: ClassVar = "pendulum"
    size: ClassVar = (3, 2, 1, 1)
    duration: ClassVar = 0.5

    def mechanics(self, q, v):
        s, c = np.sin(q[2]), np.cos(q[2])
        joint = {"J_b": [[1.0, 0.0, s], [0.0, 1.0, -c]], "g": [q[0] - c, q[1] - s], "phi": [q[1] + 10.0]}
        return super().mechanics(q, v) | joint

    def start(self):
        q = np.array([np.cos(1.0), np.sin(1.0), 1.0])
        return q, -2.0 * np.array([-np.sin(1.0), np.cos(1.0), 1.0])


@pytest.mark.share(2)
@pytest.mark.parametrize("case", [Bar(), Pendulum()], ids=lambda case: case.name)
def test_rows_that_turn_with_a_body(case):
    """Velocities of the midpoint scheme are of order two at every step, where a corrected gap would leave +-c h."""
    motion = simulate_events(case, method=Integrator(dense=True))
    assert not motion.reason
    assert not motion.events
    for scheme, order in (("symplectic", 1), ("moreau-jean", 1), ("midpoint", 2)):
        off = []
        for h in H[1:3]:
            found = run(case, h, case.duration, scheme)
            q, v, _ = motion.states(h * np.arange(1.0, found.steps + 1))
            off.append((np.abs(found.states_q[1:] - q).max(), np.abs(found.states_v[1:] - v).max()))
        q_off, v_off = map(slopes, np.transpose(off))
        np.testing.assert_allclose(v_off, order, atol=0.1, err_msg=scheme)
        assert (q_off > order - 0.1).all()


@dataclass(frozen=True)
class StuckBar(Bar):
    """The bar turns about its tip, which friction holds."""

    name: ClassVar = "stuck-bar"
    mu: float = quantity(5.0, "-", "friction coefficient")

    def start(self):
        return np.array([0.0, np.sin(1.0), 1.0]), -2.0 * np.array([-np.sin(1.0), np.cos(1.0), 1.0])


@pytest.mark.parametrize("normal", ["gap", "moreau"])
def test_a_bar_turns_about_its_stuck_tip(normal):
    """Once a contact sticks its steps are those of order two again, and it stays closed under Moreau's law."""
    case, coulomb = StuckBar(), find_formulation("coulomb")
    motion, off = simulate_events(case, 0.1), []
    assert [x.modes for x in motion.stretches] == [(Mode.STICK,)]
    for h in H:
        found = simulate(case, coulomb, solver_of(case, coulomb), h, 0.1, scheme="midpoint", normal=normal)
        assert (found.p_n > 0).all()
        off.append((np.abs(found.states_q[-1] - motion.end.q).max(), np.abs(found.states_v[-1] - motion.end.v).max()))
    # The first steps are made with the laws on v+, and 4 ms are long.
    np.testing.assert_allclose([slopes(x[1:]) for x in np.transpose(off)], 2, atol=0.1)


def test_friction_does_not_drive_a_block_back():
    """The step in which a block comes to rest would end with v+ = 2 v - v- beyond it."""
    case = find_case("block")
    for h in (1e-3, 1.3e-3, 1.7e-3):
        v = run(case, h, 0.8, "midpoint").states_v[:, :2]
        assert (v @ v[0] >= -1e-12).all()


@pytest.mark.thorough
def test_slip_that_reverses_at_once_costs_an_order():
    """Friction jumps by 2 mu lambda_n somewhere within the step: what its velocity misses is of first order."""
    case = Bar()
    motion = simulate_events(case, 0.3, Integrator(dense=True))
    assert [e.what for e in motion.events] == ["reverses"]
    off = []
    for h in H:
        found = run(case, h, 0.3, "midpoint")
        off.append(np.abs(found.states_v[-1] - motion.end.v).max() / h)
    assert 0.0 < max(off) < 2 * case.mu * G
