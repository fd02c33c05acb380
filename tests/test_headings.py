"""Tangent axes that turn with a body: the heading of a contact, what steps make of it, and who has axes at all."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.mechanics import filled, states
from tests.systems import random_system, slip
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.builtin.cases.cube import Cube
from workbench.builtin.formulations import FORMULATIONS
from workbench.language.assemble.find import compiled
from workbench.mechanics.bodies import GROUND, fill_contact
from workbench.mechanics.contact import ContactSystem
from workbench.mechanics.core import Core
from workbench.mechanics.relaxation import Relaxation
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

TURNING = [case() for case in CASES if case.size[3] == 2 and case.size[0] > 3]
WITH_AXES = [
    "stewart-trinkle",
    "anitescu-potra",
    "discrete-velocity",
    "phantom-inertia",
    "box",
    "hybrid",
    "staggered",
]
EVEN = Relaxation(k_n=1e10, b_n=1e8)
"""The cube's compliance along the normals alone."""


def coordinates(*attitudes):
    """Bodies at the origin."""
    return np.concatenate([[0, 0, 0, *np.roll(turn.as_quat(), 1)] for turn in attitudes])


def heading(n, t, *attitudes, between=(GROUND, 0)):
    """In the world, of a contact between two bodies of these attitudes."""
    core = Core((6 * len(attitudes), 0, 1, 2), 1e-3, 0.0, 0.0)
    fill_contact(core, 0, coordinates(*attitudes), *between, np.zeros(3), n, t, 0.0, 0.3)
    c, s = core.heading[0]
    return c * t + s * np.cross(n, t)


def scenes(seed, count=40):
    """Random attitudes, normals and tangents."""
    rng = np.random.default_rng(seed)
    for turn, frame in zip(Rotation.random(count, rng=rng), Rotation.random(count, rng=rng), strict=True):
        yield turn, *frame.as_matrix().T[:2].copy()


def solver_of(formulation, size):
    return default_solver(compiled(formulation, *size).kind)


def end_of(case, label, relaxation=None):
    f = find_formulation(label)
    r = simulate(case, f, solver_of(f, case.size), 1e-3, relaxation=relaxation)
    assert r.steps == r.steps_wanted, r.reason
    return r


def test_the_heading_is_the_first_body_axis_laid_into_the_tangent_plane():
    steep = 0
    for turn, n, t in scenes(0):
        x, y, _ = turn.as_matrix().T
        found = heading(n, t, turn)
        if abs(n @ x) < np.sqrt(0.5):
            expected = x - (n @ x) * n
        else:
            expected, steep = np.cross(y, n), steep + 1
        np.testing.assert_allclose(found, expected / np.linalg.norm(expected), rtol=0, atol=1e-13)
    assert 5 < steep < 35


def test_a_scene_that_is_turned_as_a_whole_turns_its_headings():
    whole = Rotation.random(rng=np.random.default_rng(1))
    for turn, n, t in scenes(2):
        expected = whole.apply(heading(n, t, turn))
        np.testing.assert_allclose(heading(whole.apply(n), whole.apply(t), whole * turn), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("axis", np.eye(3), ids="xyz")
def test_on_each_of_its_faces_a_body_has_a_heading_that_turns_with_it(axis):
    n, t = np.eye(3)[2], np.eye(3)[0]
    for down in (axis, -axis):
        lying = Rotation.align_vectors([n], [down])[0]
        for angle in np.linspace(-3, 3, 7):
            spun = Rotation.from_rotvec(angle * n)
            expected = spun.apply(heading(n, t, lying))
            np.testing.assert_allclose(heading(n, t, spun * lying), expected, rtol=0, atol=1e-14)


def test_a_body_that_tumbles_about_its_second_axis_keeps_its_heading_but_for_the_sign():
    for tilt in np.radians(np.arange(0, 360, 7.5)):
        found = heading(np.eye(3)[2], np.eye(3)[0], Rotation.from_euler("ZY", [0.4, tilt]))
        np.testing.assert_allclose(np.abs(found @ [np.cos(0.4), np.sin(0.4), 0.0]), 1.0, rtol=0, atol=1e-14)


def test_the_heading_is_that_of_the_body_that_the_normal_points_to_and_never_the_ground_s():
    n, t = np.eye(3)[2], np.eye(3)[0]
    turns = [Rotation.from_euler("Z", angle) for angle in (0.3, 0.8)]
    for between, angle in {(0, 1): 0.8, (1, 0): 0.3, (GROUND, 1): 0.8, (0, GROUND): 0.3}.items():
        expected = [np.cos(angle), np.sin(angle), 0.0]
        np.testing.assert_allclose(heading(n, t, *turns, between=between), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("case", TURNING, ids=lambda case: case.name)
def test_no_case_with_bodies_that_turn_has_headings_that_do_not(case):
    """All bodies, turned about the vertical by an angle, with their places."""
    angle = 0.7
    yaw = Rotation.from_euler("Z", angle)
    for q, v in states(case, 3, 5):
        turned = q.copy()
        if case.name == "wheel":
            turned[3] += angle
        else:
            for k in range(case.size[0] // 6):
                b, c, d, a = (yaw * Rotation.from_quat(np.roll(q[7 * k + 3 : 7 * k + 7], -1))).as_quat()
                turned[7 * k : 7 * k + 7] = *yaw.apply(q[7 * k : 7 * k + 3]), a, b, c, d
        before, after = (headings_of(case, x, v) for x in (q, turned))
        np.testing.assert_allclose(after, yaw.apply(before), rtol=0, atol=1e-12)


def headings_of(case, q, v):
    """(r, 3) in the world, up to the sign: tangents are what moves one of the contact's bodies, by its rows of J_t."""
    core, found = filled(case, q, v), []
    for i, (c, s) in enumerate(core.heading):
        rows = core.J_t[2 * i : 2 * i + 2].reshape(2, -1, 6)[:, :, :3]
        k = np.flatnonzero(rows.any(axis=(0, 2)))[0]
        found.append(c * rows[0, k] + s * rows[1, k])
    return np.array(found)


# What steps make of it


@pytest.mark.parametrize(
    ("label", "relaxation", "end"),
    [
        ("anitescu-potra:axes=body", EVEN, (0.3142, 1.6680)),
        ("anitescu-potra", EVEN, (0.0779, 1.6166)),
        ("box:axes=body", None, (0.6088, 1.3044)),
    ],
)
def test_the_cube_ends_where_an_independent_code_has_it(label, relaxation, end):
    np.testing.assert_allclose(end_of(Cube(), label, relaxation).states_q[-1, :2], end, rtol=0, atol=6e-5)


class Yawed(Cube):
    """The cube's throw, turned as a whole by an angle that no polygon knows."""

    angle = 0.5

    def start(self):
        q, v = super().start()
        yaw = Rotation.from_euler("Z", self.angle)
        q[3:], v[:3] = np.roll(yaw.as_quat(), 1), yaw.apply(v[:3])
        return q, v


@pytest.mark.parametrize("name", ["stewart-trinkle", "box", "hybrid"])
def test_a_throw_that_is_turned_as_a_whole_ends_in_the_turned_place_under_axes_of_the_body_alone(name):
    yaw = Rotation.from_euler("Z", Yawed.angle)
    for axes in ("body", "fixed"):
        one, other = (end_of(case, f"{name}:axes={axes}", EVEN).states_q[-1, :3] for case in (Cube(), Yawed()))
        apart = np.linalg.norm(yaw.apply(one) - other)
        assert apart < 1e-6 if axes == "body" else apart > 0.01


def turned(system, angle):
    """The same contacts in tangent axes turned by angles (r,), headings as they are in these."""
    c, s = np.cos(angle), np.sin(angle)
    Q = np.stack([np.stack([c, s], axis=1), np.stack([-s, c], axis=1)], axis=1)
    J_t = np.einsum("rij,rjn->rin", Q, np.reshape(system.J_t, (-1, 2, system.n))).reshape(-1, system.n)
    r_t = np.einsum("rij,rj->ri", Q, np.reshape(system.r_t, (-1, 2))).ravel()
    return replace(system, J_t=J_t, r_t=r_t, heading=np.einsum("rij,rj->ri", Q, system.heading))


def velocity(formulation, system):
    # Staggered projections settle slowly where friction and normal impulses are strongly coupled.
    answer, solution = solve_system(formulation, system, solver_of(formulation, system.size), passes=500)
    assert solution.verified
    return answer.v


@pytest.mark.share(3)
@pytest.mark.parametrize("f", FORMULATIONS, ids=lambda f: f.name)
def test_a_formulation_has_axes_if_and_only_if_its_answer_depends_on_them(f):
    """Tangents turned with their headings and slides leave the answer, unless the axes are fixed to the tangents."""
    # Facets that are all at work are isotropic; where friction is large some of them are not.
    mu = (2.0, 3.0) if f.name == "comfree" else (0.05, 0.4)
    # Its cone has no axes, its pyramid has.
    f = f.with_options(cone="pyramidal") if f.name == "mujoco-noslip" else f
    systems = [random_system(seed, r=2, d=2, mu=mu) for seed in range(12)]
    # A contact that sticks before the step has no slide to turn to.
    systems = [s for s in systems if np.linalg.norm(slip(s, s.v), axis=1).min() > 0.01][:2]
    angles = np.array([0.3, -1.1])
    for axes in (None,) if f.axes is None else ("fixed", "body", "sliding"):
        g = f if axes is None else f.with_options(axes=axes)
        assert g.axes == axes
        apart = [np.abs(velocity(g, s) - velocity(g, turned(s, angles))).max() for s in systems]
        assert max(apart) > 1e-3 if axes == "fixed" else max(apart) < 1e-9, axes


@pytest.mark.parametrize("name", WITH_AXES)
def test_axes_of_the_body_are_axes_fixed_to_its_headings(name):
    f = find_formulation(name)
    for seed in range(3):
        system = random_system(seed, r=2, d=2, mu=(0.05, 0.4))
        along = turned(system, np.arctan2(*np.transpose(system.heading)[::-1]))
        np.testing.assert_allclose(along.heading, [[1, 0], [1, 0]], rtol=0, atol=1e-15)
        expected = velocity(f.with_options(axes="fixed"), along)
        np.testing.assert_allclose(velocity(f.with_options(axes="body"), system), expected, rtol=0, atol=1e-10)


def test_a_system_without_headings_has_those_of_its_tangents_and_wants_unit_vectors():
    block = dict(M=np.eye(3), v=[1, 2, -1], f=[0, 0, 0], h=0.01, J_n=[[0, 0, 1]], J_t=np.eye(3)[:2], mu=0.3)
    np.testing.assert_array_equal(ContactSystem(**block).heading, [[1, 0]])
    with pytest.raises(DataError, match="has the length 5; a unit vector is needed"):
        ContactSystem(**block, heading=[[3, 4]])
    with pytest.raises(DataError, match="shape"):
        ContactSystem(**block, heading=[1, 0, 0])
