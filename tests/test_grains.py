"""Scenes of spheres: who touches, the rows of J, the exact turn, walls, bad data, and the four scenes by name."""

import itertools

import numpy as np
import pytest

from workbench.builtin.cases import SCENES
from workbench.mechanics.solids import rotated
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.neighbours import close_pairs
from workbench.scenes.grains.placing import layers
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat, Sieve, Tube
from workbench.support.errors import DataError, UnknownNameError

AHEAD = 0.05
MOST = 200_000

SPACE = 1e-3

MOST_PAIRS = 60

FLOOR = Flat(0.3, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def cloud(N=40, seed=0, **given):
    """Overlapping spheres of different sizes in motion above a floor, a few of them fixed."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (N + 5, 3))
    radius = rng.uniform(0.08, 0.2, N + 5)
    return Grains(
        radius[:N], x[:N], rng.normal(0, 1, (N, 6)), walls=[FLOOR], fixed=(x[N:], radius[N:]), recovery=0.0, **given
    )


@pytest.mark.parametrize("decades", [0, 1, 4])
def test_close_pairs_are_all_there_are_whatever_the_sizes(decades):
    rng = np.random.default_rng(decades)
    x, reach = rng.uniform(0, 1, (300, 3)), 0.2 * 10 ** rng.uniform(-decades, 0, 300)
    i, j = close_pairs(x, reach)
    assert (i < j).all()
    assert (np.diff(i * 300 + j) > 0).all()
    a, b = np.triu_indices(300, 1)
    touching = np.linalg.norm(x[a] - x[b], axis=1) <= reach[a] + reach[b]
    assert set(zip(a[touching], b[touching], strict=True)) <= set(zip(i, j, strict=True))
    assert (np.linalg.norm(x[i] - x[j], axis=1) <= (1 + 1e-9) * (reach[i] + reach[j])).all()
    assert touching.sum() > 10


def test_too_many_pairs_are_refused_before_they_are_listed():
    with pytest.raises(DataError, match=f"more than {MOST_PAIRS} pairs of spheres a sphere"):
        close_pairs(np.random.default_rng(0).uniform(0, 1e-3, (20_000, 3)), np.full(20_000, 1.0))


def test_the_limit_of_pairs_is_itself_allowed():
    """All N (N - 1) / 2 pairs of 121 spheres are 60 a sphere; those of 122 are half a pair a sphere more."""
    i, j = close_pairs(np.zeros((2 * MOST_PAIRS + 1, 3)), np.full(2 * MOST_PAIRS + 1, 1.0))
    assert list(zip(i, j, strict=True)) == [(a, b) for a in range(121) for b in range(a + 1, 121)]
    with pytest.raises(DataError, match="more than 60 pairs of spheres a sphere"):
        close_pairs(np.zeros((122, 3)), np.full(122, 1.0))


def test_gaps_points_and_velocities_are_those_of_the_definition():
    scene = cloud()
    q, v = scene.start()
    given = scene.instant(q, v, 0.0, 1e-3)
    x, V = np.vstack([q.reshape(-1, 7)[:, :3], scene.fixed]), np.vstack([v.reshape(-1, 6), np.zeros((5, 6))])
    u, places = (given.J @ v + given.rate).reshape(-1, 3), given.places
    kinds = set()
    for k, (a, b) in enumerate(places.pair):
        n, t, s = places.acts[3 * k : 3 * k + 3, :3]
        np.testing.assert_allclose([n @ t, t @ s, s @ n, n @ np.cross(t, s)], [0, 0, 0, 1], atol=1e-14)
        i, other = divmod(int(given.key[k]), 46)
        kinds.add((a < 0, other))
        if other == 45:
            gap, point, moved = x[b, 2] - scene.radius[b], x[b] * [1, 1, 0], np.zeros(3)
        else:
            other = i if i != b else other
            gap = np.linalg.norm(x[b] - x[other]) - scene.radius[b] - scene.radius[other]
            point = x[b] - (scene.radius[b] + 0.5 * gap) * (x[b] - x[other]) / np.linalg.norm(x[b] - x[other])
            moved = V[other, :3] + np.cross(V[other, 3:], point - x[other])
            assert (other >= 40) == (a < 0)
        assert given.phi[k] == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(places.point[k], point, atol=1e-14)
        at_point = V[b, :3] + np.cross(V[b, 3:], point - x[b]) - (moved if other != 45 else 0.0)
        np.testing.assert_allclose(u[k], [n @ at_point, t @ at_point, s @ at_point], atol=1e-13)
    assert len(given.key) == len(set(given.key))
    assert {still for still, _ in kinds} == {True, False}


def test_every_contact_that_a_step_can_close_or_that_associated_flow_feels_is_there():
    scene, h = cloud(), 1e-2
    q, v = scene.start()
    known = set(scene.instant(q, v, 0.0, h).key)
    # Among contacts at a distance of more than any step can reach, those that matter are the known ones.
    far = cloud(gravity=(0.0, 0.0, -1e4)).instant(q, v, 0.0, h)
    u = (far.J @ v + far.rate).reshape(-1, 3)
    needed = far.phi <= -h * u[:, 0] + 0.5 * h * np.linalg.norm(u[:, 1:], axis=1)
    assert len(known) < len(far.key)
    assert set(far.key[needed]) <= known
    assert set(far.key[far.phi <= AHEAD * 0.08]) <= known


def test_what_comes_fast_is_seen_from_afar():
    scene = Grains([0.1, 0.1], [(0, 0, 0), (1.2, 0, 0)], [[100, 0, 0, 0, 0, 0], np.zeros(6)], gravity=np.zeros(3))
    q, v = scene.start()
    assert scene.instant(q, v, 0.0, 1.001e-2).contacts == 1
    assert scene.instant(q, v, 0.0, 5e-3).contacts == 0


def test_what_a_struck_grain_may_reach_is_seen_before_it_is_struck():
    # The first flies at the second, which nothing but that blow will send to the third, 0.02 m away.
    x, v = [(0, 0, 0), (0.21, 0, 0), (0.43, 0, 0)], [[10, 0, 0, 0, 0, 0], np.zeros(6), np.zeros(6)]
    scene = Grains([0.1] * 3, x, v, gravity=np.zeros(3))
    pairs = {tuple(pair) for pair in scene.instant(*scene.start(), 0.0, 5e-3).places.pair}
    assert pairs == {(0, 1), (1, 2)}
    # A blow that comes later sends nobody.
    assert scene.instant(*scene.start(), 0.0, 4e-4).contacts == 0


def test_contacts_do_nothing_to_the_momentum_of_all_and_its_moment():
    scene = cloud()
    q, v = scene.start()
    given = scene.instant(q, v, 0.0, 1e-3)
    inner = np.repeat((given.places.pair >= 0).all(axis=1), 3)
    given_to = (given.J.T @ (inner * np.random.default_rng(1).normal(size=inner.size))).reshape(-1, 6)
    x = q.reshape(-1, 7)[:, :3]
    np.testing.assert_allclose(given_to[:, :3].sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((np.cross(x, given_to[:, :3]) + given_to[:, 3:]).sum(axis=0), 0, atol=1e-12)


def test_contacts_without_friction_have_no_directions():
    scene = Grains([1.0, 1.0], [(0, 0, 1), (0, 0, 3)], walls=[FLOOR], mu=0.0, gravity=np.zeros(3))
    given = scene.instant(*scene.start(), 0.0, 1e-3)
    assert sorted(given.directions) == [0, 2]
    assert given.J.shape[0] == given.mu.size == 4


def test_a_turn_is_exact_however_large():
    scene = Grains([1.0], [(0, 0, 0)], [[0, 0, 0, 0.3, -0.7, 1.1]])
    q, v = scene.start()
    whole = scene.advance(q, v, 3.0)
    many = q
    for _ in range(1000):
        many = scene.advance(many, v, 3e-3)
    np.testing.assert_allclose(whole, many, atol=1e-12)
    angle, axis = 3.0 * np.linalg.norm(v[3:]), v[3:] / np.linalg.norm(v[3:])
    np.testing.assert_allclose(whole[3:], [np.cos(angle / 2), *np.sin(angle / 2) * axis], atol=1e-14)
    # Turned on about another axis of the world, what was turned goes along.
    w = np.array([0, 0, 0, 0, 0, np.pi / 2])
    later = scene.advance(whole, w, 1.0)
    x, y, z = rotated(whole[3:], np.array([0.3, 0.5, 0.7]))
    np.testing.assert_allclose(rotated(later[3:], np.array([0.3, 0.5, 0.7])), [-y, x, z], atol=1e-14)


def test_walls_are_as_far_as_their_nearest_points():
    rng = np.random.default_rng(0)
    x = np.vstack([rng.uniform(-0.9, 0.9, (50, 3)), np.zeros(3)])
    turn, up = np.linspace(0, 2 * np.pi, 4001), np.linspace(-1, 1, 2001)
    for wall, points in (
        (Tube(0.1, 2.0, 2), lambda p: np.column_stack([2 * np.cos(turn), 2 * np.sin(turn), 0 * turn + p[2]])),
        (Sieve(0.1, 1.0), lambda p: plate(p, turn, 0.5)),
        (Sieve(0.1, 1.0, opens=1.0), lambda p: plate(p, turn, 0.0)),
        (Flat(0.1, (0, 0, -1), (0, 0, 1)), lambda p: np.column_stack([0 * up + p[0], 0 * up + p[1], 0 * up - 1])),
    ):
        distance, normal = wall.facing(x, 0.0)
        np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, rtol=1e-14)
        for p, d, n in zip(x, distance, normal, strict=True):
            on_wall = points(p)
            assert d == pytest.approx(np.linalg.norm(on_wall - p, axis=1).min(), abs=1e-5)
            assert np.linalg.norm(on_wall - (p - d * n), axis=1).min() < 2e-3


def plate(p, turn, hole):
    """The rim of the hole, and the foot of a point where that is on the plate."""
    rim = np.column_stack([hole * np.cos(turn), hole * np.sin(turn), 0 * turn])
    return np.vstack([rim, p * [1, 1, 0]]) if np.hypot(p[0], p[1]) >= hole else rim


def test_a_drum_drags_what_touches_it():
    scene = Grains([0.1], [(0, 0, -0.9)], walls=[Tube(0.5, 1.0, axis=1, turning=2.0)])
    q, v = scene.start()
    given = scene.instant(q, v, 0.0, 1e-3)
    drag = -(given.rate @ given.places.acts[:, :3])
    np.testing.assert_allclose(drag, np.cross([0, 2, 0], [0, 0, -1]), atol=1e-14)


BAD = {
    "0 grains; 1 to": dict(radius=[], x=np.zeros((0, 3))),
    f"1 to {MOST} are": dict(radius=np.ones(1_000_000), x=np.zeros((1_000_000, 3))),
    r"radius\[1\] = -1 m": dict(radius=[1, -1], x=[(0, 0, 0), (9, 0, 0)]),
    "x has shape": dict(radius=[1, 1], x=[(0, 0, 0)]),
    "x has an entry that is nan": dict(radius=[1], x=[(0, 0, np.nan)]),
    "grains 1 and 3 overlap by 0.5 m": dict(radius=[1, 1, 1], x=[(0, 0, 0), (5, 0, 0), (1.5, 0, 0)]),
    "a speed of 2e\\+06 at the start; up to 1e\\+06": dict(radius=[1], x=[(0, 0, 9)], v=[(2e6, 0, 0, 0, 0, 0)]),
    "gravity of 1e\\+300": dict(radius=[1], x=[(0, 0, 9)], gravity=(0, 0, -1e300)),
    "masses or inertias of 1.6.*e-297 to": dict(radius=[1], x=[(0, 0, 9)], density=1e-297),
    "a wall or a fixed grain and grain 1 overlap": dict(radius=[1], x=[(0, 0, 0.5)], walls=[FLOOR]),
}


@pytest.mark.parametrize("said", BAD)
def test_what_makes_no_scene_is_refused_in_a_line(said):
    with pytest.raises(DataError, match=said) as error:
        Grains(**BAD[said])
    assert "\n" not in str(error.value)


def test_radii_over_four_decades_make_a_scene():
    scene = Grains([1e-4, 1e-3, 1e-2, 1.0], [(0, 0, 1e-4), (5e-3, 0, 1e-3), (0.1, 0, 1e-2), (3, 0, 1)], walls=[FLOOR])
    given = scene.instant(*scene.start(), 0.0, 1e-3)
    assert given.contacts == 4
    np.testing.assert_allclose(given.phi, 0, atol=1e-15)


@pytest.mark.parametrize("kind", SCENES, ids=lambda kind: kind.name)
def test_a_scene_by_name_starts_without_contact_forces_that_throw_it_apart(kind):
    case = kind().with_parameters(N=60, seed=3)
    scene = case.scene()
    q, v = scene.start()
    given = scene.instant(q, v, 0.0, scene.step)
    assert len(scene.bodies) == 60
    # A packing is in contact at once; all others fall from a disorder in which nothing touches.
    assert (given.phi <= 0).any() == (kind.name == "packing")
    assert np.isinf(scene.recovery) <= bool(given.phi.min(initial=1.0) > -1e-12)
    linear, _ = scene.momentum(q, v)
    assert linear.shape == (60, 3)
    other = kind().with_parameters(N=60, seed=3).scene()
    np.testing.assert_array_equal(q, other.start()[0])


def test_parameters_of_scenes_are_checked_as_those_of_cases():
    hopper = SCENES.find("hopper")()
    assert isinstance(hopper, SceneCase)
    for given, said in (
        ({"N": 0}, "N = 0; a whole positive"),
        ({"N": 2.5}, "N = 2.5"),
        ({"N": 1e9}, "hopper: N = 1e\\+09 grains; 1 to 200000 are possible"),
        ({"radius": -1}, "radius = -1"),
    ):
        with pytest.raises(DataError, match=said):
            hopper.with_parameters(**given)
    with pytest.raises(UnknownNameError, match="did you mean 'opening'"):
        hopper.with_parameters(opning=1)
    with pytest.raises(DataError, match=r"opening = 0.2 m; less than the bin's 0.08 m"):
        hopper.with_parameters(opening=0.2).scene()
    with pytest.raises(DataError, match="fit at the start; 300 do not"):
        SCENES.find("rotating-drum")(filling=3.0).scene()


HUGE = [
    ("column-collapse", {"slender": 1e9}, "up to 450 radii are possible"),
    ("column-collapse", {"slender": 1e-9}, "up to 450 radii are possible"),
    ("hopper", {"radius": 1e-9}, "in a space 0.08 m wide; up to 5000 radii are possible"),
    ("rotating-drum", {"radius": 1e-9}, "in a space 0.14 m wide; up to 5000 radii are possible"),
    ("rotating-drum", {"drum": 1e-4}, "m wide; up to 5000 radii are possible"),
    ("silo", {"bin": 1e4}, "in a space 10000 m wide; up to 5000 radii are possible"),
    *((name, {"radius": 1e308}, r"radius = 1e\+308 m; 1e-09 to 1e\+06 m are possible") for name in ("hopper", "silo")),
    *((kind.name, {"N": 1e6}, r"N = 1e\+06 grains; 1 to 200000 are possible") for kind in SCENES),
    *((kind.name, {"density": 1e-300}, "masses or inertias of") for kind in SCENES),
    *((kind.name, {"gravity": 1e300}, r"gravity of 1e\+300") for kind in SCENES),
]


@pytest.mark.parametrize(("name", "given", "said"), HUGE)
def test_what_would_take_all_memory_or_leave_the_range_of_doubles_is_refused_in_a_line(name, given, said):
    with pytest.raises(DataError, match=said) as error:
        SCENES.find(name)().with_parameters(**given).scene()
    assert "\n" not in str(error.value)


def test_layers_reach_every_place_that_has_room():
    # Beside a grid that is far too wide, in layers of both kinds.
    half, r = 3.0, 0.05
    found = layers(9000, r, 0.0, half, lambda x: np.ones(len(x), dtype=bool))
    a = 2 * r * (1 + SPACE)
    i, j = np.meshgrid(np.arange(-80, 81), np.arange(-80, 81))
    flat = a * np.stack([(i + 0.5 * j).ravel(), (np.sqrt(0.75) * j).ravel()], axis=-1)
    for shift in (np.zeros(2), a * np.array([0.5, np.sqrt(1 / 12)])):
        z = r if not shift.any() else r + a * np.sqrt(2 / 3)
        own = found[np.isclose(found[:, 2], z), :2]
        wide = flat + shift
        np.testing.assert_array_equal(own, wide[(np.abs(wide) <= half - r).all(axis=1)][: len(own)])
        assert len(own) == (np.abs(wide) <= half - r).all(axis=1).sum()


def test_a_packing_is_that_of_the_shared_problems():
    scene = SCENES.find("packing")(N=300).scene()
    given = scene.instant(*scene.start(), 0.0, 1e-3)
    assert (given.phi <= 0).sum() == 757
    assert all(a < b for a, b in itertools.pairwise(given.first))
