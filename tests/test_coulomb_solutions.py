"""How many solutions Coulomb's law has: the closed criterion of one contact, and all solutions for one q."""

import json
import math
from pkgutil import resolve_name

import numpy as np
import pytest
from flint import fmpq
from scipy.optimize import fsolve

import workbench as wb
from tests.problem_files import data_folder
from workbench.algorithms.enumeration import all_solutions
from workbench.cli.main import main
from workbench.diagnostics.contact_uniqueness import contact_uniqueness
from workbench.diagnostics.coulomb_contraction import contracts
from workbench.engine.timing import clock
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.matrices.solutions.coulomb_islands import solutions_by_islands
from workbench.matrices.solutions.existence import rational_friction
from workbench.matrices.solutions.friction_cones import planar_impulses, planar_lcp, solves_coulomb
from workbench.problems.classes import LCP, CoulombNCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import WorkbenchError

COUPLED = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])
"""Both criteria of one contact differ here: a - mu |c| > 0 up to 10/9, the second up to sqrt(0.76)."""


def found(W, q, mu, d=2, seconds=60.0, near=None):
    data = (np.asarray(x, dtype=float) for x in (W, q, np.atleast_1d(mu)))
    return solutions_by_islands(rational_friction(*data, d), clock() + seconds, None if near is None else lambda: near)


def criterion(W, mu, d=2):
    n = len(W)
    return contact_uniqueness(rational_friction(np.asarray(W, float), np.zeros(n), np.atleast_1d(float(mu)), d))


def random_matrix(rng, n, kind):
    A = rng.normal(size=(n, n))
    return {
        "definite": A @ A.T / n + 0.1 * np.eye(n), "nearly symmetric": np.eye(n) + 0.3 * A,
        "any": A + 0.5 * np.eye(n),
    }[kind]  # fmt: skip


def test_a_stick_and_two_slides_are_all_solutions_of_the_yardstick():
    x = found(COUPLED, [-0.44875, -0.2583333333, 0.8934561483], 1.05)
    assert x.count == 3
    by_size = sorted(x.points, key=lambda s: -abs(s.determinant))
    assert [s.modes for s in by_size] == [("stick",), ("slip",), ("slip",)]
    assert np.allclose([s.determinant for s in by_size], [0.19, 0.1114, -0.0642], atol=1e-4)
    assert [s.index for s in by_size] == [1, 1, -1]
    law = CoulombNCP(COUPLED, np.array([-0.44875, -0.2583333333, 0.8934561483]), np.array([1.05]))
    assert max(float(law.residual(s.p)) for s in x.points) < 1e-15
    assert all(s.regular and s.distance < 1e-15 for s in x.points)


def test_the_critical_friction_of_the_yardstick_is_enclosed():
    low, high = criterion(COUPLED, 0.5).critical
    assert low * low < fmpq(76, 100) < high * high
    assert float(high - low) < 1e-12
    assert criterion(COUPLED, low).verdict == "unique"
    assert criterion(COUPLED, high).verdict == "not unique"
    # In the plane it is a / |c|, and where nothing couples there is none.
    assert criterion([[2, 1], [1, 3]], 1, 1).critical == (2, 2)
    assert criterion(np.eye(3), 5).critical is None


def sampled_minimum(W, mu):
    """Of both conditions over directions, as they are written in the plane of the contact; the independent oracle."""
    a, c, b, B = W[0, 0], W[0, 1:], W[1:, 0], W[1:, 1:]
    angles = np.linspace(0, 2 * np.pi, 20001)
    e, t = np.stack([np.cos(angles), np.sin(angles)]), np.stack([-np.sin(angles), np.cos(angles)])
    first = a - mu * c @ e
    second = first * (t * (B @ t)).sum(axis=0) - (c @ t) * (b @ t - mu * (t * (B @ e)).sum(axis=0))
    return first.min(), second.min()


def test_the_criterion_is_that_of_all_directions_also_where_w_is_not_symmetric():
    rng, seen = np.random.default_rng(1), set()
    for k in range(60):
        W = random_matrix(rng, 3, ("definite", "nearly symmetric", "any")[k % 3])
        mu = rng.uniform(0.1, 1.5)
        least = min(sampled_minimum(W, mu))
        verdict = criterion(W, mu).verdict
        if abs(least) > 1e-6:
            assert verdict == ("unique" if least > 0 else "not unique"), (W, mu, least)
            seen.add(verdict)
    assert seen == {"unique", "not unique"}


def test_where_the_criterion_holds_there_is_one_solution_and_where_it_fails_its_q_has_several():
    rng, counted = np.random.default_rng(2), {"unique": 0, "not unique": 0}
    for k in range(40):
        d = 1 + k % 2
        W, mu = random_matrix(rng, 1 + d, ("definite", "nearly symmetric")[k % 4 // 2]), rng.uniform(0.2, 1.5)
        x = criterion(W, mu, d)
        if x.verdict == "unique":
            for q in rng.normal(size=(3, 1 + d)):
                solutions = found(W, q, mu, d)
                assert solutions.count == 1
                assert solutions.points[0].index == 1
        elif x.q is not None:
            friction = rational_friction(W, np.zeros(1 + d), np.array([mu]), d)
            friction.q[:] = x.q
            assert solves_coulomb(friction, x.p)
            solutions = solutions_by_islands(friction, clock() + 60)
            assert solutions.count >= 2
            assert any(s.index == -1 for s in solutions.points)
        counted[x.verdict] += 1
    assert min(counted.values()) >= 5


def test_a_witness_is_moved_on_where_its_determinant_is_zero():
    """In the direction (0, -1) the determinant is h - 1, with h = |u_t| / (mu p_n), which begins at 1."""
    W = [[1, 1, 0], [1, 1, 1], [0, 1, 5]]
    x = criterion(W, 1)
    assert x.verdict == "not unique"
    friction = rational_friction(np.asarray(W, float), np.zeros(3), np.ones(1), 2)
    friction.q[:] = x.q
    assert any(s.index == -1 for s in solutions_by_islands(friction, clock() + 60).points)


def test_the_border_of_the_criterion_is_undecided():
    assert criterion([[1, 0.5], [0.5, 1]], 2, 1).verdict == "undecided"
    for c in (0.5, -0.5):
        # At the direction (1, 0), and at (-1, 0), where the tangent of half the angle is infinite.
        assert criterion([[1, c, 0], [c, 1, 0], [0, 0, 1]], 2).verdict == "undecided"
    assert criterion(np.zeros((3, 3)), 0.5).verdict == "undecided"
    assert criterion(np.zeros((2, 2)), 0.0, 1).verdict == "undecided"
    assert criterion(np.ones((2, 2)), 0.5, 1).verdict == "undecided"
    proofs = [criterion(np.eye(2), 0.5, 1).proof, criterion([[1, 0.5], [0.5, 1]], 2, 1).proof]
    assert proofs == [f"the closed criterion for one contact holds{words}" for words in ("", " with equality")]
    assert criterion([[1, 5, 0], [5, 1, 0], [0, 0, 1]], 0.0).verdict == "unique"
    assert criterion(-np.eye(2), 0.0, 1).verdict == "not unique"
    # The second condition is a product of two negative numbers.
    assert criterion(-np.eye(3), 0.5).verdict == "not unique"
    # A singular stick of negative determinant, each slide being well posed.
    x = criterion([[1, 2], [2, 1]], 0.1, 1)
    assert (x.verdict, x.critical) == ("not unique", (0, 0))


def scanned(W, q, mu):
    """Solutions of one contact in space by a scan of the sliding direction, without any enclosure."""
    some = [np.zeros(3)] if q[0] >= 0 else []
    stick = np.linalg.solve(W, -q)
    if mu * stick[0] >= np.hypot(*stick[1:]):
        some.append(stick)
    angles = np.linspace(0.01, 0.01 + 2 * np.pi, 4001)

    def at(angle):
        """Impulse, slip along the direction, and across it without the pole at which the normal row is singular."""
        e, t = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        pivot = W[0, 0] - mu * W[0, 1:] @ e
        p = -q[0] / pivot * np.stack([np.ones_like(pivot), *(-mu * e)])
        u = (W @ p + q.reshape(-1, *[1] * pivot.ndim))[1:]
        return p, (u * e).sum(axis=0), (u * t).sum(axis=0) * pivot

    values = at(angles)[2]
    for k in np.flatnonzero(values[:-1] * values[1:] <= 0):
        (a, b), f = angles[k : k + 2], values[k]
        for _ in range(80):
            middle = 0.5 * (a + b)
            h = at(middle)[2]
            a, b, f = (middle, b, h) if f * h > 0 else (a, middle, f)
        p, slip, _ = at(0.5 * (a + b))
        if p[0] > 0 and slip > 0:
            some.append(p)
    return some


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", ["definite", "nearly symmetric", "any"])
def test_a_scan_of_directions_finds_the_same_solutions_of_one_contact(kind):
    rng, counts = np.random.default_rng(3), set()
    for _ in range(40 if kind == "any" else 14):
        W, q, mu = random_matrix(rng, 3, kind), rng.normal(size=3), rng.uniform(0.2, 1.5)
        x, other = found(W, q, mu), scanned(W, q, mu)
        assert x.count == len(other), (W, q, mu)
        for p in other:
            assert min(np.abs(s.p - p).max() for s in x.points) < 1e-9 * max(1.0, np.abs(p).max())
        counts.add(x.count)
    assert counts >= ({0, 1, 2} if kind == "any" else {1})


def newton_answers(W, q, mu, rng, starts):
    """Zeros of the natural map that a general solver reaches from random starts."""
    law, n, r = CoulombNCP(W, q, mu, 2), len(q), len(mu)

    def misfit(p):
        u = W @ p + q
        out = np.empty(n)
        for i in range(r):
            rows = [r + 2 * i, r + 2 * i + 1]
            out[i] = min(p[i], u[i])
            y, most = p[rows] - u[rows], mu[i] * max(p[i], 0.0)
            size = np.hypot(*y)
            out[rows] = p[rows] - (y if size <= most else y * (most / size))
        return out

    for _ in range(starts):
        p, _, flag, _ = fsolve(misfit, rng.normal(size=n) * 3, full_output=True)
        if flag == 1 and float(law.residual(p)) < 1e-9:
            yield p


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(8))
def test_newton_from_many_starts_finds_no_solution_outside_the_list_of_two_contacts(seed):
    rng, reached, undecided = np.random.default_rng(seed), 0, 0
    for k in range(5):
        W = random_matrix(rng, 6, ("definite", "nearly symmetric")[k % 2])
        q, mu = rng.normal(size=6) - np.r_[1, 1, 0, 0, 0, 0], rng.uniform(0.2, 1.2, 2)
        x = found(W, q, mu)
        if x.count is None:
            # A zero at infinity, which no division of the angles excludes.
            assert "singular" in x.reason
            undecided += 1
            continue
        if k % 2 == 0:
            # Degree theory: a positive definite W has solutions, whose indices add up to one.
            assert sum(s.index for s in x.points) == 1
        for p in newton_answers(W, q, mu, rng, 15):
            assert min((np.abs(s.p - p).max() for s in x.points), default=math.inf) < 1e-6 * max(1, np.abs(p).max())
            reached += 1
    assert reached > 20
    assert undecided <= 1


def test_solutions_in_the_plane_are_those_that_enumeration_of_the_lcp_finds():
    rng, counts = np.random.default_rng(5), []
    for k in range(40):
        r = 1 + k % 2
        W = random_matrix(rng, 2 * r, ("definite", "any")[k % 4 // 2])
        q, mu = rng.normal(size=2 * r), rng.uniform(0.2, 1.5, r)
        friction = rational_friction(W, q, mu, 1)
        x = solutions_by_islands(friction, clock() + 60)
        M, c = planar_lcp(friction)
        lcp = LCP(np.array([[nearest_double(v) for v in row] for row in M.tolist()]), [*map(nearest_double, c)])
        other = [np.array(planar_impulses(friction, list(z)), dtype=float) for z in all_solutions(lcp)]
        for p in other:
            assert min(np.abs(s.p - p).max() for s in x.points) < 1e-7 * max(1.0, np.abs(p).max())
        for s in x.points:
            assert solves_coulomb(friction, list(s.exact))
            assert min(np.abs(s.p - p).max() for p in other) < 1e-7 * max(1.0, np.abs(s.p).max())
        counts.append(x.count)
    assert {0, 1, 2} <= set(counts)


def test_beyond_the_critical_friction_two_signs_of_the_index_meet():
    # a - mu W_nt = -2 for a slip forth: where q_n > 0 it is a solution beside separation and stick (formulary, 5).
    W = [[1, 3], [3, 9.5]]
    paradox = found(W, [1, 20], 1, 1)
    assert sorted((s.modes[0], s.index) for s in paradox.points) == [("open", 1), ("slip+", -1), ("stick", 1)]
    assert [s.modes for s in found(W, [-1, 20], 1, 1).points] == [("stick",)]
    # Without a stick, and with W_tt too small for one, there are two or none.
    negative = [[1, 3], [3, 8.5]]
    assert sorted(s.index for s in found(negative, [1, 20], 1, 1).points) == [-1, 1]
    none = found(negative, [-1, 20], 1, 1)
    assert (none.count, none.points) == (0, [])
    q = np.array([-1.0, 20.0])
    existence = wb.check(FrictionProblem(np.array(negative), q, [1.0], 1)).data["problem"]["existence"]
    assert existence[0]["verdict"] == "none"


def test_a_solution_on_the_border_between_modes_is_counted_once_and_said():
    edge = found(np.eye(3), [-1, 0.5, 0], 0.5)
    assert (edge.count, edge.points[0].borders) == (1, ("contact 1 is between stick and slip",))
    touch = found(np.eye(3), [0, 0.5, 0], 0.5)
    assert (touch.count, touch.points[0].borders) == (1, ("contact 1 touches",))
    assert not touch.points[0].regular
    assert touch.points[0].index is None
    planar = found(np.eye(2), [-1, 0.5], 0.5, 1)
    assert (planar.count, planar.points[0].borders) == (1, ("contact 1 is between stick and slip",))
    # Nothing tells directions of slip apart that nothing drives.
    still = found(np.eye(3), [0, 0, 0], 0.5)
    assert still.count is None
    assert "neither impulse nor velocity" in still.reason
    assert found(np.eye(2), [0, 0], 0.5, 1).count == 1


def test_redundant_contacts_have_a_continuum():
    # Two contacts carry one body: only the sum of their impulses is determined.
    W = np.kron(np.ones((2, 2)), np.eye(2))
    order = [0, 2, 1, 3]
    planar = found(W[np.ix_(order, order)], [-1, -1, 0.1, 0.1], [0.5, 0.5], 1)
    assert (planar.count, planar.dimension) == ("infinite", 2)
    W = np.kron(np.ones((2, 2)), np.eye(3))
    order = [0, 3, 1, 2, 4, 5]
    W, q = W[np.ix_(order, order)], np.array([-1, -1, 0.1, 0, 0.1, 0])
    answer = wb.solve(FrictionProblem(W, q, [0.5, 0.5])).p
    spatial = found(W, q, [0.5, 0.5], near=answer)
    assert (spatial.count, spatial.dimension) == ("infinite", 3)
    # Sliding together they have one too, which is not counted wrong.
    sliding = found(W, [-1, -1, 5, 0, 5, 0], [0.5, 0.5])
    assert sliding.count is None
    assert "cannot be told apart" in sliding.reason


def test_frictionless_contacts_stand_beside_others():
    x = found(np.eye(6), [-1, -1, 3, 0, 0.1, 0], [0, 0.5])
    assert [s.modes for s in x.points] == [("frictionless", "stick")]
    x = found(np.eye(6), [-1, -1, 3, 0, 2, 0], [0, 0.5])
    assert [s.modes for s in x.points] == [("frictionless", "slip")]
    assert np.allclose(x.points[0].p, [1, 1, 0, 0, -0.5, 0])
    assert found(np.eye(4), [-1, 1, 0.3, 2], [0, 0], 1).points[0].modes == ("frictionless", "open")


@pytest.mark.thorough
def test_four_contacts_in_space_and_eight_in_the_plane_are_searched_in_time():
    rng = np.random.default_rng(1)
    for r, d in ((4, 2), (8, 1)):
        n = r * (1 + d)
        A = rng.normal(size=(n, 2 * n))
        W, q = A @ A.T / (2 * n), rng.normal(size=n) - np.repeat([1, 0], [r, n - r])
        x = wb.solutions(FrictionProblem(W, q, np.full(r, 0.5), d), seconds=120)
        assert x.count >= 1
        assert sum(point["index"] for point in x.data["points"]) == 1


def constructed(rng, W, mu):
    """q with a known solution in random modes, and that solution; no contact is between two modes."""
    r = len(mu)
    p, u = np.zeros(3 * r), np.zeros(3 * r)
    for i in range(r):
        mode, e, rows = rng.integers(3), rng.normal(size=2), [r + 2 * i, r + 2 * i + 1]
        e /= np.hypot(*e)
        if mode == 0:
            u[i], u[rows] = rng.uniform(0.2, 2), rng.normal(size=2)
        else:
            p[i] = rng.uniform(0.2, 2)
            p[rows] = -mu[i] * p[i] * e * (rng.uniform(0, 0.9) if mode == 1 else 1)
            u[rows] = 0 if mode == 1 else rng.uniform(0.2, 2) * e
    return u - W @ p, p


def of_one_body(rng, r):
    """W (3 r, 3 r) of contacts of one body at places in sixteenths, exactly, and J (3 r, 6)."""
    J = np.empty((3 * r, 6))
    for i in range(r):
        x, y, z = rng.integers(-16, 17, 3) / 16
        arms = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
        J[[i, r + 2 * i, r + 2 * i + 1]] = np.concatenate([np.eye(3), arms], axis=1)[rng.permutation(3)]
    return J @ np.diag([1, 1, 1, 2, 2, 2]) @ J.T, J


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(8))
def test_four_contacts_in_space_are_searched_within_the_time_of_check_and_no_solution_is_missed(seed):
    rng, mu = np.random.default_rng(seed), np.array([0.3, 0.5, 0.7, 0.2])
    A = rng.normal(size=(12, 24))
    W = A @ A.T / 24
    q, p = constructed(rng, W, mu)
    x = found(W, q, mu, seconds=20)
    assert x.count == len(x.points) > 0
    assert min(np.abs(s.p - p).max() for s in x.points) < 1e-12


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(1, 9))
def test_redundant_contacts_of_one_body_are_no_obstacle_where_their_solutions_are_isolated(seed):
    """W has rank six of twelve; without a bound of the impulses no singular combination of modes could be excluded."""
    rng = np.random.default_rng(seed)
    W, J = of_one_body(rng, 4)
    velocity = np.round(64 * rng.normal(size=6)) / 64
    q, mu = J @ velocity, np.full(4, 0.5)
    answer = wb.solve(FrictionProblem(W, q, mu)).p
    x = found(W, q, mu)
    # None of these comes to rest, where impulses would not be isolated.
    assert x.count == 1
    assert all(np.abs(s.p - answer).max() < 1e-8 for s in x.points)
    assert all(float(CoulombNCP(W, q, mu).residual(s.p)) < 1e-14 for s in x.points)


def test_problems_of_four_contacts_from_files_have_one_solution_proved():
    for name in ("Rover1039.dat", "Confeti-ex13-4contact-Fc3D-SBM.dat"):
        path = data_folder() / "friction_3d" / name
        if not path.exists():
            pytest.skip(f"no real problems in {data_folder()}; set WORKBENCH_DATA to a folder with some")
        rows = dict(wb.check(path).rows)
        assert rows["for this q"].startswith("Coulomb's law has exactly one solution: proved")


def test_time_and_size_end_the_search_with_a_reason():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    late = found(A @ A.T, rng.normal(size=12), np.full(4, 0.7), seconds=0.05)
    assert late.count is None
    assert late.reason.startswith("out of time")
    assert "counted up to 4 in space" in found(np.ones((15, 15)), -np.ones(15), np.ones(5)).reason
    assert "counted up to 8 in the plane" in found(np.ones((18, 18)), -np.ones(18), np.ones(9), 1).reason


def test_scales_of_impulses_and_velocities_do_not_change_the_count():
    q = np.array([-0.44875, -0.2583333333, 0.8934561483])
    for s in (1e-12, 1e9):
        assert found(s * COUPLED, q, 1.05).count == 3
        assert found(COUPLED, s * q, 1.05).count == 3


# At the surface


def test_the_verb_and_the_command_print_every_solution(tmp_path, capsys):
    path = tmp_path / "three.json"
    path.write_text(json.dumps({"W": COUPLED.tolist(), "q": [-0.44875, -0.2583333333, 0.8934561483], "mu": [1.05]}))
    x = wb.solutions(path)
    assert x.count == 3
    assert x.words[0].startswith("Coulomb's law has exactly 3 solutions: proved")
    assert len(x.frame) == 9
    assert x.kinds["index"].tolist() == [1, -1, 1]
    assert x.kinds["regular"].all()
    assert "<th>determinant</th>" in x.html() or ">determinant<" in x.html()
    assert max(point["residual"] for point in x.data["points"]) < 1e-15
    assert main(["solve", str(path), "--all"]) == 0
    out = capsys.readouterr().out
    assert "exactly 3 solutions" in out
    assert "solution 3" in out
    assert main(["solve", str(path), "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["count"] == 3
    assert main(["solve", str(path), "--all", "--solver", "nsgs"]) != 0
    assert "--all excludes --solver" in capsys.readouterr().err
    checked = wb.check(path)
    rows = dict(checked.rows)
    assert rows["for every q"].startswith("not unique")
    assert "critical mu 0.871779788708" in rows["for every q"]
    assert rows["for this q"].startswith("Coulomb's law has exactly 3 solutions: proved")


def test_lcps_are_listed_too_and_other_things_refused():
    x = wb.solutions(LCP(np.array([[1.0, 2.0], [2.0, 1.0]]), -np.ones(2)))
    assert (x.count, x.words) == (3, ["Exactly 3 solutions."])
    assert len(x.frame) == 6
    with pytest.raises(WorkbenchError, match="no solutions to count"):
        wb.solutions(np.eye(3))
    with pytest.raises(WorkbenchError, match="time limit"):
        wb.solutions(FrictionProblem(np.eye(3), np.ones(3), 0.5), seconds=math.nan)
    big = FrictionProblem(np.eye(303), np.ones(303), np.ones(101))
    with pytest.raises(WorkbenchError, match="303 rows"):
        wb.solutions(big)


def test_one_contact_that_is_not_unique_alone_makes_the_whole_problem_so():
    W = np.eye(6)
    order = [1, 4, 5]
    W[np.ix_(order, order)] = COUPLED
    rows = dict(wb.check(FrictionProblem(W, -np.ones(6), [0.5, 1.05])).rows)
    assert rows["for every q"].startswith("not unique: contact 2, the others open, has several solutions for some q")
    rows = dict(wb.check(FrictionProblem(W, -np.ones(6), [0.3, 0.3])).rows)
    assert rows["for every q"].startswith("exactly one solution: friction changes the cone problem by a contraction")
    strong = FrictionProblem(np.eye(6), -np.ones(6), [1.5, 1.5])
    assert dict(wb.check(strong).rows)["for every q"].startswith("undecided: 2 of 2 contacts, each taken by itself,")


def uncoupled(*parts):
    """One friction problem of contacts in space (W, q, mu) that are not coupled."""
    r = len(parts)
    W, q = np.zeros((3 * r, 3 * r)), np.zeros(3 * r)
    for i, (own, constants, _) in enumerate(parts):
        rows = [i, r + 2 * i, r + 2 * i + 1]
        W[np.ix_(rows, rows)], q[rows] = own, constants
    return FrictionProblem(W, q, [mu for *_, mu in parts])


def test_numbers_of_solutions_of_islands_multiply():
    three, one = (COUPLED, [-0.44875, -0.2583333333, 0.8934561483], 1.05), (np.eye(3), [-1, 0.1, 0], 0.5)
    touch, none = (np.eye(3), [0, 0.5, 0], 0.5), (-np.eye(3), [-1, 0, 0], 0.5)
    problem = uncoupled(one, three, three)
    x = wb.solutions(problem)
    assert (x.count, len({tuple(point["p"]) for point in x.data["points"]})) == (9, 9)
    assert all(point["residual"] < 1e-14 and point["modes"][0] == "stick" for point in x.data["points"])
    # A contact that sticks is known exactly, the ones that slide are enclosed.
    assert all((point["distance"] > 0) == ("slip" in point["modes"]) for point in x.data["points"])
    # Each of the others has indices +1, +1 and -1.
    assert sorted(point["index"] for point in x.data["points"]) == [-1] * 4 + [1] * 5
    assert x.data["points"][0]["exact"] is None
    exact = uncoupled((np.eye(3), [-1, 0.125, 0], 0.5), (2 * np.eye(3), [-1, 0, 0.5], 1))
    assert found(exact.dense, exact.q, exact.mu).points[0].exact == (1, fmpq(1, 2), fmpq(-1, 8), 0, 0, fmpq(-1, 4))
    degenerate = wb.solutions(uncoupled(one, touch, three)).data["points"]
    assert [point["borders"] for point in degenerate] == [["contact 2 touches"]] * 3
    lost = wb.solutions(uncoupled(one, three, none))
    assert (lost.count, lost.data["reason"]) == (0, "the island of contact 3 has none, all its modes were searched")
    many = wb.solutions(uncoupled(*[three] * 5))
    assert (many.count, many.data["points"]) == (243, [])
    assert "island by island" in many.words[0]
    assert "41 of index +1, 40 of index -1" not in wb.solutions(uncoupled(*[three] * 2)).words[0]
    assert "41 of index +1" in wb.solutions(uncoupled(*[three] * 4)).words[0]


def test_a_contact_that_touches_while_another_slides_leaves_the_number_open():
    """Its normal velocity and impulse are exactly zero; the directions of the sliding contact are irrational."""
    W = np.eye(6)
    W[4, 0] = 0.25
    W[0, 2] = W[2, 0] = 0.5
    W[0, 3] = W[3, 0] = 0.25
    q = np.array([-1.0, 0.0, 2.0, 1.0, 1.0, 0.5])
    x = found(W, q, [0.5, 0.5])
    assert x.count is None
    assert "on the border of what is possible" in x.reason
    q[1] = 0.125
    assert found(W, q, [0.5, 0.5]).count == 1


@pytest.mark.parametrize("seed", range(6))
def test_no_vector_contradicts_modes_that_have_a_solution(monkeypatch, seed):
    """Whatever candidates are proposed, those that are confirmed exclude no solution."""
    rng = np.random.default_rng(seed)

    def proposed(slides, middle, half):
        # Half of them point against the sliding directions of their boxes, which velocities of slides do not.
        found = rng.normal(size=(len(middle), len(slides.q)))
        if middle.shape[1] and rng.integers(0, 2):
            found[:, 1:] = -np.abs(found[:, 1:2]) * np.stack([np.cos(middle[:, 0]), np.sin(middle[:, 0])], axis=1)
        return found / np.abs(found).max(axis=1, keepdims=True)

    monkeypatch.setattr("workbench.matrices.solutions.contradictions._candidates", proposed)
    assert found(COUPLED, np.array([-0.44875, -0.2583333333, 0.8934561483]), [1.05]).count == 3


def test_islands_with_the_same_numbers_are_judged_once(monkeypatch):
    """A hundred and twenty islands of four contacts are searched as one."""
    rng, r, searched = np.random.default_rng(0), 4, []
    name = "workbench.matrices.solutions.coulomb_islands.coulomb_solutions"
    search = resolve_name(name)

    def counted(friction, *rest):
        searched.append(len(friction.mu))
        return search(friction, *rest)

    monkeypatch.setattr(name, counted)
    J, q = rng.normal(size=(3 * r, 3 * r)), rng.normal(size=3 * r)
    W = np.kron(np.eye(120), J @ J.T + 0.1 * np.eye(3 * r))
    many = FrictionProblem.from_contacts(W, np.tile(q, 120), np.full(120 * r, 0.6), 2)
    found = wb.check(many, seconds=60).data["problem"]
    assert (found["coulomb"]["count"], found["islands"]["count"]) == (1, 120)
    assert [x["contacts"] for x in found["islands"]["each"]] == [[*range(r * k, r * k + r)] for k in range(120)]
    assert searched == [r]
    few = uncoupled(*[(COUPLED, [-0.44875, -0.2583333333, 0.8934561483], 1.05)] * 2, (COUPLED, [1, 0, 0], 1.05))
    searched.clear()
    assert wb.solutions(few).count == 9
    assert searched == [1, 1]


def test_an_island_with_a_continuum_gives_the_whole_one():
    """In the plane: two contacts that carry one body, and one that is not coupled with them."""
    W = np.zeros((6, 6))
    W[np.ix_([0, 2], [0, 2])], W[np.ix_([3, 5], [3, 5])], W[1, 1], W[4, 4] = 1.0, 1.0, 1.0, 1.0
    x = wb.solutions(FrictionProblem(W, np.array([-1, -1, -1, 0.1, 0.1, 0.1]), [0.5] * 3, 1))
    assert (x.count, x.data["dimension"]) == ("infinite", 2)
    # In space it is found around computed impulses, those of the island alone. Rows: normals, then tangents.
    W = np.zeros((9, 9))
    for rows in ([0, 2], [3, 7], [4, 8]):
        W[np.ix_(rows, rows)] = 1.0
    W[1, 1] = W[5, 5] = W[6, 6] = 1.0
    x = wb.solutions(FrictionProblem(W, np.array([-1, -2, -1, 0.1, 0, 0.2, 0, 0.1, 0]), [0.5] * 3))
    assert (x.count, x.data["dimension"]) == ("infinite", 3)
    # An island that is open leaves the number open, and is named.
    still = wb.solutions(uncoupled((np.eye(3), [-1, 0.1, 0], 0.5), (np.eye(3), [0, 0, 0], 0.5)))
    assert still.count is None
    assert still.data["reason"].startswith("in the island of contact 2: at a solution a contact has neither")


def test_a_contraction_shows_uniqueness_with_many_contacts():
    # lambda_max(D W_tt D) lambda_max((W^-1)_nn) = mu^2 for the unit matrix.
    for mu, holds in ((0.999, True), (1.001, False)):
        factor = contracts(rational_friction(np.eye(30), np.zeros(30), np.full(10, mu), 2), clock() + 20)
        assert (factor is not None) == holds
        assert not holds or mu**2 <= nearest_double(factor[0] * factor[1]) < mu**2 * (1 + 1e-8)
    # Where it holds, the closed criterion of each contact does, also where W is not symmetric.
    rng, seen = np.random.default_rng(7), 0
    for _ in range(60):
        W, mu = random_matrix(rng, 3, "definite") + 0.05 * rng.normal(size=(3, 3)), rng.uniform(0.05, 0.8)
        if contracts(rational_friction(W, np.zeros(3), np.array([mu]), 2), clock() + 20) is not None:
            assert criterion(W, mu).verdict == "unique"
            seen += 1
    assert seen >= 10
    assert contracts(rational_friction(-np.eye(3), np.zeros(3), np.array([0.1]), 2), clock() + 20) is None
    assert contracts(rational_friction(np.zeros((3, 3)), np.zeros(3), np.array([0.1]), 2), clock() + 20) is None
    many = wb.solutions(FrictionProblem(np.eye(30), -np.ones(30), np.full(10, 0.5)))
    assert many.count == 1
    assert many.data["points"][0]["modes"] == ["slip"] * 10


def test_pages_draw_all_solutions(tmp_path):
    """Of three solutions each is a dot; in the plane too, and open contacts have none."""
    path = tmp_path / "coupled.json"
    path.write_text(json.dumps({"W": COUPLED.tolist(), "q": [-0.44875, -0.2583333333, 0.8934561483], "mu": [1.05]}))
    for page in (wb.check(path).html(), wb.solutions(path).html()):
        for name in ("1: slip, index +1", "2: slip, index -1", "3: stick, index +1"):
            assert name in page
    plane = FrictionProblem(np.diag([1.0, 2, 1, 2]), np.array([-1.0, 1, 0.9, 0]), [0.3, 0.3], 1)
    page = wb.solutions(plane).html()
    assert "slip-, open, index +1" in page or "slip+, open, index +1" in page
    assert "All solutions of Coulomb" not in wb.solutions(FrictionProblem(np.eye(3), np.ones(3), 0.3)).html()
