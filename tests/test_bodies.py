"""Rigid bodies in space: free motion, joints, collisions; what physics keeps, to round-off or to first order in h."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from workbench.algorithms.escalation import default_solver
from workbench.engine.compiling import kernel
from workbench.language.assemble.find import compiled
from workbench.mechanics.bodies import (
    GROUND,
    RigidBodies,
    add_direction,
    fill_body,
    fill_contact,
    place,
    point_of,
    rotation,
    turned,
)  # fmt: skip
from workbench.mechanics.case import quantity
from workbench.mechanics.core import FILL, Core
from workbench.step.simulation import simulate
from workbench.verbs.find import find_formulation

TOP = np.array([[2.0, 0.3, 0.5, 0.7]])
PAIR = np.array([[2.0, 0.8, 0.8, 0.8], [0.7, 0.4, 0.4, 0.4]])


@kernel(FILL)
def fill_top(q, v, data, core):
    """A top without gravity whose only contact, with a plane far below, stays open."""
    fill_body(core, v, 0, 2.0, 0.3, 0.5, 0.7, data[1])
    n, t, x = np.zeros(3), np.zeros(3), np.zeros(3)
    n[2] = t[0] = 1.0
    fill_contact(core, 0, q, GROUND, 0, x, n, t, q[2] + 100.0, 0.3)


@kernel(FILL)
def fill_pendulum(q, v, data, core):
    """The same top hung from the origin by the point (0, 0, 1) of its own axes."""
    fill_top(q, v, data, core)
    s, x, R = np.zeros(3), np.empty(3), np.empty((3, 3))
    s[2] = 1.0
    rotation(q, 0, R)
    point_of(q, 0, s, x)
    for i in range(3):
        n = np.zeros(3)
        n[i] = 1.0
        core.J_b[i] = 0.0
        add_direction(core.J_b, i, q, 0, R, x, n, 1.0)
        core.g[i] = x[i]


@kernel(FILL)
def fill_pair(q, v, data, core):
    """Two rough spheres, radii 1 and 1/2, that may touch."""
    fill_body(core, v, 0, 2.0, 0.8, 0.8, 0.8, data[1])
    fill_body(core, v, 1, 0.7, 0.4, 0.4, 0.4, data[1])
    n, t, x = np.empty(3), np.empty(3), np.empty(3)
    distance = 0.0
    for i in range(3):
        n[i] = q[7 + i] - q[i]
        distance += n[i] * n[i]
    distance = np.sqrt(distance)
    for i in range(3):
        n[i] /= distance
        x[i] = q[i] + n[i]
    length = np.hypot(n[0], n[1])
    t[0], t[1], t[2] = -n[1] / length, n[0] / length, 0.0
    fill_contact(core, 0, q, 0, 1, x, n, t, distance - 1.5, 0.4)


@dataclass(frozen=True)
class Sample(RigidBodies):
    """A system of bodies given by its mechanics and its inertias."""

    description: ClassVar[str] = "a test system"
    source: ClassVar[str] = "test"
    duration: ClassVar[float] = 1.0
    windows: ClassVar[dict[str, tuple[float, float]]] = {}
    table: ClassVar[Any] = TOP
    begin: ClassVar[Any] = None

    gravity: float = quantity(0.0, "m/s2", "gravitational acceleration")

    def inertias(self):
        return self.table

    def start(self):
        return self.begin

    def sketch(self):
        return ()

    def truths(self, reference):
        return []


def sample(label, rows, mechanics, q, v, table, contacts=1):
    members = dict(
        name=label, size=(6 * len(table), rows, contacts, 2), fill=staticmethod(mechanics), table=table,
        begin=property(lambda self: (q.copy(), v.copy())),
    )  # fmt: skip
    return type(label, (Sample,), members)


def run(case, h, duration, label="coulomb", **options):
    f = find_formulation(label)
    r = simulate(case, f, default_solver(compiled(f, *case.size).kind), h, duration, **options)
    assert r.steps == r.steps_wanted, r.reason
    assert r.residuals.max() <= r.tolerance
    return r


def random_turn(seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=7)
    q[3:] /= np.linalg.norm(q[3:])
    return q, rng


@pytest.mark.parametrize("seed", range(5))
def test_attitudes_agree_with_an_independent_library(seed):
    q, rng = random_turn(seed)
    R, expected = np.empty((3, 3)), Rotation.from_quat(np.roll(q[3:], -1)).as_matrix()
    rotation(q, 0, R)
    np.testing.assert_allclose(R, expected, atol=1e-15)
    s, x = rng.normal(size=3), np.empty(3)
    np.testing.assert_allclose(turned(q, 0, s), expected @ s, atol=1e-15)
    point_of(q, 0, s, x)
    np.testing.assert_allclose(x, q[:3] + expected @ s, atol=1e-15)


def test_placed_bodies_are_turned_about_their_axes():
    q = place(((1.0, 2.0, 3.0),), ((0.0, 0.0, 0.0), (0, 2, 0), np.pi / 2))
    np.testing.assert_array_equal(q[:7], [1, 2, 3, 1, 0, 0, 0])
    np.testing.assert_allclose(turned(q, 1, np.array([0.0, 0.0, 1.0])), [1, 0, 0], atol=1e-15)


def test_the_row_of_a_direction_is_the_velocity_of_the_material_point():
    q, rng = random_turn(7)
    s, n, v, x, J = rng.normal(size=3), rng.normal(size=3), rng.normal(size=6), np.empty(3), np.zeros((1, 6))
    R = np.empty((3, 3))
    rotation(q, 0, R)
    point_of(q, 0, s, x)
    add_direction(J, 0, q, 0, R, x, n, 1.0)
    assert J[0] @ v == pytest.approx(n @ (v[:3] + np.cross(turned(q, 0, v[3:]), x - q[:3])), abs=1e-14)
    add_direction(J, 0, q, GROUND, R, x, n, 1.0)
    add_direction(J, 0, q, 0, R, x, n, -1.0)
    np.testing.assert_array_equal(J, 0.0)


def order(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def test_a_free_top_keeps_energy_and_angular_momentum_to_first_order_and_turns_as_eulers_equations_say():
    q, v = place(((0.0, 0.0, 0.0), (1, 2, 3), 0.8)), np.array([0.1, -0.2, 0.3, 1.0, 4.0, -2.0])
    case = sample("top", 0, fill_top, q, v, TOP)()
    drift = []
    for h in (4e-3, 2e-3, 1e-3):
        r = run(case, h, 1.0)
        L = case.angular_momentum(r.states_q, r.states_v)
        E = case.energy(r.states_q, r.states_v)
        np.testing.assert_allclose(np.linalg.norm(r.states_q[:, 3:], axis=1), 1.0, atol=1e-14)
        np.testing.assert_allclose(r.states_q[-1, :3], v[:3], rtol=1e-12)
        drift.append([np.abs(L - L[0]).max(), np.abs(E - E[0]).max()])
    np.testing.assert_allclose(order(drift), 1.0, atol=0.1)


def test_a_ball_joint_holds_and_the_pendulum_keeps_energy_and_vertical_angular_momentum_to_first_order():
    q = place(((0.0, 0.0, 0.0), (0, 1, 0), 1.0))
    q[:3] = -turned(q, 0, np.array([0.0, 0.0, 1.0]))
    # Turning about the hook: the centre's velocity is omega x (centre - hook).
    omega = np.array([0.5, 0.3, -0.4])
    v = np.concatenate([turned(q, 0, np.cross(omega, [0.0, 0.0, -1.0])), omega])
    case = sample("pendulum", 3, fill_pendulum, q, v, TOP)(gravity=9.81)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        r = run(case, h, 1.0)
        hook = r.states_q[:, :3] + turned(r.states_q, 0, np.array([0.0, 0.0, 1.0]))
        E, L = case.energy(r.states_q, r.states_v), case.angular_momentum(r.states_q, r.states_v)[:, 2]
        errors.append([np.abs(E - E[0]).max(), np.abs(L - L[0]).max(), np.linalg.norm(hook, axis=1).max()])
    orders = order(errors)
    np.testing.assert_allclose(orders[:, :2], 1.0, atol=0.15)
    # Stabilised: the joint's error does not grow, it is one step's curvature, h^2.
    np.testing.assert_allclose(orders[:, 2], 2.0, atol=0.15)


@pytest.mark.parametrize("label", ["coulomb", "ccp", "stewart-trinkle", "hybrid", "phantom-inertia"])
def test_a_collision_keeps_the_total_momentum_and_angular_momentum_to_round_off(label):
    q = place(((0.0, 0.0, 0.0),), ((1.6, 0.9, 0.3),))
    v = np.array([1.0, 0.2, 0.1, 0.3, -2.0, 1.0, -1.0, -0.3, 0.2, 3.0, 1.0, 0.5])
    case = sample("pair", 0, fill_pair, q, v, PAIR)()
    r = run(case, 1e-3, 0.6, label, normal="gap")
    assert r.p_n.max() > 0.1
    assert np.linalg.norm(r.p_t, axis=-1).max() > 0.01
    P = case.momentum(r.states_v)
    np.testing.assert_allclose(P, P[:1] + 0 * P, atol=1e-12)
    # Impulses act at one point: angular momentum before and after the impulse, at the same coordinates, is the same.
    before, after = (case.angular_momentum(r.states_q[:-1], x) for x in (r.states_v[:-1], r.states_v[1:]))
    np.testing.assert_allclose(after, before, atol=1e-12)
    E = case.energy(r.states_q, r.states_v)
    assert np.diff(E).max() < 1e-12


def test_time_is_a_coordinate_of_its_own():
    q = np.append(place(((0.0, 0.0, 0.0),)), 0.25)
    case = sample("clock", 0, fill_top, q, np.zeros(6), TOP)()
    assert run(case, 1e-2, 0.5).states_q[-1, 7] == pytest.approx(0.75, abs=1e-14)


def test_what_a_case_does_not_write_is_zero():
    case = sample("top", 0, fill_top, place(((0.0, 0.0, 0.0),)), np.zeros(6), TOP)()
    assert {"r_n", "r_t", "r_b", "mu_s", "e"} <= set(Core.fields)
    r = run(case, 1e-2, 0.05)
    assert not r.record.r_t.any()
    assert not r.record.eps.any()
