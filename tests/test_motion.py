"""Shapes of cases, where they touch, the sketch that is drawn from them, and the motion of a comparison."""

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

from tests import mechanics
from tests.tables import TIMES
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.drawer import Drawer
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.cases.sphere import Sphere
from workbench.builtin.cases.stacked_cubes import StackedCubes
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.cases.woodpecker import Woodpecker
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import Settings
from workbench.comparison.motion import DrawnMotion, motion
from workbench.mechanics.bodies import RigidBodies, fill_body, fill_contact, place
from workbench.mechanics.sketch import Arrow, Outline, view
from workbench.mechanics.solids import GROUND, Plane, Solid, rotated, slabs
from workbench.step.simulation import simulate
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

MOMENTS = 241

EVERY_CASE = pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
PAIRS = {
    "gripper": [(0, 1), (0, 2), (0, GROUND)],
    "pinched-capsule": [(0, 1), (0, 1), (0, 2), (0, 2)],
    "sphere-stack": [*((k, GROUND) for k in range(4)), *((3, k) for k in range(3))],
    "stacked-cubes": 4 * [(0, GROUND)] + 4 * [(1, 0)],
    "three-bodies": [(0, 3), (1, 0), (1, 4), (1, 4), (0, 1), (2, 0)],
    "woodpecker": [(1, GROUND), (0, GROUND), (0, GROUND)],
}
"""Upper and lower body of every contact where there are several; of `three-bodies` the support is 3, the belt 4."""


def pairs(case):
    return PAIRS.get(case.name, case.size[2] * [(0, GROUND)])


def in_body(case, q, x, body):
    """The point x (3,) of the world in the axes of a body."""
    if body == GROUND:
        return x
    position, orientation = (y[body] for y in case.poses(q))
    return rotated(orientation * [1, -1, -1, -1], x - position)


@EVERY_CASE
def test_the_contact_rows_are_the_velocities_of_the_points_along_the_axes(kind):
    """So the forces along the axes, at the points, have the power p.u of the time stepping, whatever they are."""
    case = mechanics.scaled(kind())
    _, _, r, d = case.size
    for q, v in mechanics.states(case, 1, 5):
        core, (points, axes) = mechanics.filled(case, q, v), case.contacts(q)
        velocity = np.empty((r, 3))
        for i, (upper, lower) in enumerate(pairs(case)):
            rates = []
            for body in (upper, lower):
                s = [in_body(case, q, points[i], body)]
                rates.append(
                    0.0 if body == GROUND else mechanics.rate(case, partial(case.points, s=s, body=body), q, v)
                )
            velocity[i] = rates[0] - rates[1]
        along = np.einsum("iaj,ij->ia", axes, velocity)
        u = np.column_stack([core.J_n @ v + core.r_n, (core.J_t @ v + core.r_t).reshape(r, d)])
        np.testing.assert_allclose(along, u, rtol=0, atol=1e-7 * (1 + np.abs(u).max()))


@EVERY_CASE
def test_axes_and_orientations_are_of_unit_length_and_whole_trajectories_are_taken(kind):
    case = mechanics.scaled(kind())
    q = np.array([q for q, _ in mechanics.states(case, 2, 6)]).reshape(2, 3, -1)
    orientation, axes = case.poses(q)[1], case.contacts(q)[1]
    np.testing.assert_allclose(np.linalg.norm(orientation, axis=-1), 1, rtol=1e-14)
    products = np.einsum("...aj,...bj->...ab", axes, axes)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(1 + case.size[3]), products.shape), atol=1e-14)
    for whole, single in ((case.poses(q), case.poses(q[1, 2])), (case.contacts(q), case.contacts(q[1, 2]))):
        for x, y in zip(whole, single, strict=True):
            np.testing.assert_allclose(x[1, 2], y, rtol=0, atol=1e-15)


@EVERY_CASE
def test_contact_points_lie_on_a_surface_and_at_the_gap_from_planes(kind):
    """Within what polygons are away from circles; the drawer's pins are points in theory and have a radius here,
    and the woodpecker's points are those of small angles."""
    case = mechanics.scaled(kind())
    solids = case.solids()
    planes = [x for x in solids if isinstance(x, Plane)]
    met = 0
    for q, v in mechanics.states(case, 3, 5):
        phi, (points, axes) = mechanics.filled(case, q, v).phi, case.contacts(q)
        for i, bodies in enumerate(pairs(case)):
            surfaces = [x for x in solids if isinstance(x, Solid) and x.body in bodies and x.body != GROUND]
            near = [abs(outside(x, in_body(case, q, points[i], x.body))) / extent(x) for x in surfaces]
            assert min(near) < (0.5 if kind in (Drawer, Woodpecker) else 0.005)
            for plane in planes:
                if bodies[1] == GROUND and np.allclose(plane.normal, axes[i, 0]):
                    assert axes[i, 0] @ (points[i] - plane.point) == pytest.approx(
                        phi[i], abs=1e-14 * (1 + abs(phi[i]))
                    )
                    met += 1
    assert (met > 0) == bool(planes)


def outside(x, point):
    """How far a point lies outside of a convex solid [m], next to a face; negative inside."""
    corners = x.vertices[x.triangles]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return (((point - corners[:, 0]) * n).sum(axis=1) / np.linalg.norm(n, axis=1)).max()


def extent(x):
    return np.ptp(x.vertices, axis=0).max()


@pytest.mark.thorough
@EVERY_CASE
def test_solids_are_closed_convex_and_seen_from_outside(kind):
    for x in kind().solids():
        solid = x.slab(np.array([-1.0, -2.0, 0.5]), np.array([1.0, 0.5, 2.0])) if isinstance(x, Plane) else x
        directed = solid.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        edges = {tuple(e) for e in directed}
        assert len(edges) == len(directed)
        assert edges == {(b, a) for a, b in edges}
        vertices = np.unique(solid.triangles)
        np.testing.assert_array_equal(vertices, np.arange(len(solid.vertices)))
        assert len(vertices) - len(edges) // 2 + len(solid.triangles) == 2
        assert outside(solid, solid.vertices.mean(axis=0)) < 0
        assert max(outside(solid, y) for y in solid.vertices) < 1e-12 * extent(solid)


def test_the_slab_of_a_plane_lies_behind_it_under_the_box():
    rng = np.random.default_rng(4)
    for _ in range(20):
        n, point, low = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
        n, high = n / np.linalg.norm(n), low + rng.uniform(0.1, 2, 3)
        slab = Plane("slope", n, point).slab(low, high)
        depth = (slab.vertices - point) @ n
        assert depth.max() == pytest.approx(0, abs=1e-14)
        assert depth.min() < -1e-3
        # The foot of every point of the box on the plane is on its surface.
        x = rng.uniform(low, high)
        assert abs(outside(slab, x - n * ((x - point) @ n))) < 1e-14


@dataclass(frozen=True)
class Touching(RigidBodies):
    """Two bodies, each with the other and with the ground, as upper and as lower body."""

    name: ClassVar[str] = "touching"
    size: ClassVar[tuple[int, int, int, int]] = (12, 0, 4, 2)
    duration: ClassVar[float] = 1.0
    who: ClassVar[Any] = ((0, 1), (1, 0), (GROUND, 1), (0, GROUND))
    at: ClassVar[Any] = np.random.default_rng(5).normal(size=(4, 3))
    axes: ClassVar[Any] = np.linalg.qr(np.random.default_rng(6).normal(size=(4, 3, 3)))[0]

    def inertias(self):
        return np.ones((2, 4))

    def start(self):
        return place(((1.0, 2.0, 3.0), (1, 2, 3), 0.7), ((-1.0, 0.5, 2.0), (3, -1, 1), 2.0)), np.zeros(12)

    def fill(self, q, v, data, core):
        for k in range(2):
            fill_body(core, v, k, 1.0, 1.0, 1.0, 1.0, 0.0)
        for i, (a, b) in enumerate(self.who):
            fill_contact(core, i, q, a, b, self.at[i], self.axes[i, 0].copy(), self.axes[i, 1].copy(), 0.0, 0.5)


def test_points_and_axes_of_rigid_bodies_are_those_that_their_rows_were_made_of():
    case = Touching()
    points, axes = case.contacts(case.start()[0])
    np.testing.assert_allclose(points, case.at, atol=1e-14)
    np.testing.assert_allclose(axes[:, :2], case.axes[:, :2], atol=1e-14)
    np.testing.assert_allclose(axes[:, 2], np.cross(case.axes[:, 0], case.axes[:, 1]), atol=1e-14)


def test_what_solids_need_is_asked_for_at_the_start():
    class Nowhere(Block):
        def contacts(self, q):
            return super(Block, self).contacts(q)

    class Flat(Block):
        def contacts(self, q):
            return q[..., None, :2], np.zeros((*q.shape[:-1], 1, 3, 3))

    for kind, message in ((Nowhere, r"contacts\(q\) is needed"), (Flat, r"points of one state have shape \(1, 2\)")):
        with pytest.raises(DataError, match=message):
            kind().must_fit()


def test_sketches_show_balls_as_discs_planes_from_the_side_and_what_is_higher_last():
    floor, ball, arrow = Sphere().sketch()[0], Sphere().sketch()[-2], Sphere().sketch()[-1]
    assert isinstance(arrow, Arrow)
    np.testing.assert_allclose(np.linalg.norm(ball.points - arrow.tail, axis=1), Sphere().R, rtol=0.02)
    assert (floor.ground, ball.ground) == (True, False)
    lower, upper = (x for x in StackedCubes().sketch() if isinstance(x, Outline) and not x.ground)
    assert upper.points[:, 1].max() > lower.points[:, 1].max()
    drawer = [x for x in Drawer().sketch() if isinstance(x, Outline)][-1]
    plate = next(x for x in Drawer().solids() if x.name == "drawer")
    np.testing.assert_allclose(np.ptp(drawer.points, axis=0), np.ptp(plate.vertices, axis=0)[:2])


@EVERY_CASE
def test_outlines_are_convex_polygons_around_what_they_are_outlines_of(kind):
    case = kind()
    look = view(case.contacts(case.start()[0])[1])
    np.testing.assert_allclose(look @ look.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(look) == pytest.approx(1)
    outlines = [x for x in case.sketch() if isinstance(x, Outline)]
    for x in outlines:
        ahead = np.roll(x.points, -1, axis=0) - x.points
        turns = ahead[:, 0] * np.roll(ahead[:, 1], -1) - ahead[:, 1] * np.roll(ahead[:, 0], -1)
        assert turns.min() > -1e-12
    whole = np.concatenate([x.points for x in outlines if not x.ground])
    for k in {x.body for x in case.solids() if isinstance(x, Solid)} - {GROUND}:
        part = np.concatenate([x.vertices for x in case.solids() if isinstance(x, Solid) and x.body == k])
        flat = case.points(case.start()[0], part, k) @ look[:2].T
        assert (flat >= whole.min(axis=0) - 1e-12).all()
        assert (flat <= whole.max(axis=0) + 1e-12).all()


@pytest.fixture(scope="module")
def compared():
    """The wheel with two formulations at steps of which neither is a multiple of the other."""
    settings = Settings(steps=(2e-3, 3e-3), reference_step=1e-3, duration=0.06)
    given = [find_formulation(x) for x in ("box:axes=body", "frictionless")]
    return compare_case(Wheel(), given, find_formulation("coulomb"), settings=settings)


def test_tracks_are_the_trajectories_at_moments_that_all_runs_have(compared):
    m, frame = compared.motion, compared.trajectories
    np.testing.assert_allclose(m.t, 0.006 * np.arange(11), atol=1e-15)
    assert (m.tracks[0].role, len(m.tracks)) == ("reference", 5)
    assert {(x.label, x.step) for x in m.tracks[1:]} == {
        (f.label, h) for f in compared.formulations for h in (2e-3, 3e-3)
    }
    for track in m.tracks[1:]:
        assert track.role == "run"
        rows = frame[
            (frame["label"] == track.label) & (frame["step"] == track.step) & (frame["solver"] == track.solver)
        ]
        at = [np.abs(rows["t"] - t).argmin() for t in m.t[1:]]
        rows = rows.iloc[at]
        np.testing.assert_allclose(rows["t"], m.t[1:], atol=1e-12)
        np.testing.assert_array_equal(track.position[1:, 0], rows[["x", "y", "z"]])
        np.testing.assert_array_equal(track.force[1:, 0], rows[["p_n", "p_t1", "p_t2"]] / track.step)
        np.testing.assert_array_equal(track.slip[1:, 0], rows[["u_t1", "u_t2"]])
        assert np.isnan(track.force[0]).all()
        assert np.isnan(track.slip[0]).all()
        np.testing.assert_array_equal(track.mu, [0.3])
        np.testing.assert_allclose(np.linalg.norm(track.orientation, axis=-1), 1, rtol=1e-14)


def test_the_ground_reaches_as_far_as_the_motion(compared):
    m = compared.motion
    (body,), (floor,) = m.bodies, m.ground
    assert (body.name, floor.name) == ("wheel", "floor")
    for x in m.tracks[0].position[:, 0]:
        assert (floor.vertices.min(axis=0) <= x - Wheel().R)[:2].all()
        assert (x + Wheel().R <= floor.vertices.max(axis=0) + 1e-12)[:2].all()
    np.testing.assert_array_equal(np.unique(body.triangles), np.arange(len(body.vertices)))
    floor, wall = slabs([x for x in RodInGuide().solids() if isinstance(x, Plane)], -np.ones(3), np.ones(3))
    assert floor.vertices.max(axis=0)[0] <= 1e-15
    assert wall.vertices.min(axis=0)[2] >= -1e-15


def test_a_motion_is_saved_and_loaded_bit_for_bit(compared, tmp_path):
    m = compared.motion
    m.save(tmp_path / "motion.npz")
    found = DrawnMotion.load(tmp_path / "motion.npz")
    np.testing.assert_array_equal(found.t, m.t)
    for kind in ("bodies", "ground", "tracks"):
        assert len(getattr(found, kind)) == len(getattr(m, kind))
        for x, y in zip(getattr(found, kind), getattr(m, kind), strict=True):
            for f in fields(y):
                here, there = getattr(x, f.name), getattr(y, f.name)
                assert type(here) is type(there)
                np.testing.assert_array_equal(here, there)
    np.savez(tmp_path / "other.npz", t=np.zeros(2))
    (tmp_path / "text.npz").write_text("t = 0")
    for name in ("missing.npz", "other.npz", "text.npz"):
        with pytest.raises(DataError, match="holds no motion"):
            DrawnMotion.load(tmp_path / name)


def run(case, h, duration):
    return simulate(case, find_formulation("coulomb"), default_solver("Coulomb NCP"), h, duration)


def test_long_runs_are_thinned_and_what_ends_early_has_no_place_afterwards():
    case = Sphere()
    reference, short = run(case, 1e-3, 0.5), run(case, 1e-3, 0.3)
    m = motion(case, reference, [short])
    assert (len(m.t), m.t[0], m.t[-1]) == (167, 0.0, pytest.approx(0.498))
    assert len(m.t) <= MOMENTS
    np.testing.assert_allclose(np.diff(m.t), 3e-3, rtol=1e-12)
    _, track = m.tracks
    late = m.t > 0.3 + 1e-9
    for x in (track.position, track.orientation, track.point, track.axes, track.force, track.slip):
        gone = np.isnan(x.reshape(len(m.t), -1))
        assert gone[late].all()
        assert not gone[1:][~late[1:]].any()


def test_a_run_without_steps_has_its_start():
    case, refused = StackedCubes(), find_formulation("discrete-velocity")
    none = simulate(case, refused, default_solver("MLCP"), 1e-3, 5e-3)
    assert none.steps == 0
    _, track = motion(case, run(case, 1e-3, 5e-3), [none]).tracks
    np.testing.assert_allclose(track.position[0, :, 2], [0.05, 0.15], rtol=1e-15)
    assert np.isnan(track.position[1:]).all()
    assert np.isnan(track.force).all()


def test_a_case_without_shapes_is_compared_as_before():
    class Bare(Block):
        def solids(self):
            return ()

    settings = Settings(steps=(1e-2,), reference_step=1e-2, duration=0.1)
    given = [find_formulation("stewart-trinkle")]
    here, there = (
        compare_case(kind(), given, find_formulation("coulomb"), settings=settings) for kind in (Bare, Block)
    )
    assert here.motion is None
    assert there.motion is not None
    assert Bare().sketch() == ()
    timed = [*TIMES, "body_size", "path_length"]
    assert here.runs[timed[-2:]].isna().all(axis=None)
    assert here.runs.drop(columns=timed).equals(there.runs.drop(columns=timed))
    assert here.trajectories.equals(there.trajectories)
