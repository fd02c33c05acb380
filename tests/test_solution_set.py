"""The exact solution set: examples of the textbooks, and random problems against the definition."""

import itertools
import time

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.inequalities import feasible, solvable
from tests.problem_files import data_folder
from workbench.algorithms import find_solver
from workbench.algorithms.enumeration import all_solutions
from workbench.engine.timing import clock
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.matrices.solutions import solution_set as module
from workbench.matrices.solutions.solution_set import solution_set
from workbench.problems.classes import LCP
from workbench.readers.problem import read_problem

ALWAYS = float("inf")


def exact(M) -> fmpq_mat:
    return fmpq_mat([[fmpq(*float(x).as_integer_ratio()) for x in row] for row in np.asarray(M).tolist()])


def vector(q) -> list[fmpq]:
    return [fmpq(*float(x).as_integer_ratio()) for x in np.asarray(q).tolist()]


def solutions(M, q, **options):
    return solution_set(exact(M), vector(q), ALWAYS, **options)


def as_sets(found):
    return {(frozenset(piece.vertices), frozenset(piece.rays)) for piece in found.pieces}


def texts(vectors):
    return sorted([[str(x) for x in v] for v in vectors])


@pytest.mark.parametrize(
    ("M", "q", "points"),
    [
        # Murty 1988, section 1.1: one solution; none; two.
        ([[2, 1], [1, 2]], [-5, -6], [["4/3", "7/3"]]),
        ([[-1]], [-1], []),
        ([[-1]], [1], [["0"], ["1"]]),
        # Cottle, Pang and Stone, example 4.4.7, and Murty's matrix of exponentially many pivots.
        ([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1], [["0", "1", "3"]]),
        (np.triu(2 * np.ones((6, 6)), 1) + np.eye(6), [-1] * 6, [["0"] * 5 + ["1"]]),
        # All four complementary cones hold q.
        ([[-1, 0], [0, -1]], [1, 1], [["0", "0"], ["0", "1"], ["1", "0"], ["1", "1"]]),
        ([[0, -1], [1, 0]], [-1, 0], []),
    ],
)
def test_isolated_solutions(M, q, points):
    found = solutions(M, q)
    assert found.count == len(points)
    assert texts(found.points) == points
    assert found.dimension == (0 if points else None)


def test_a_segment():
    """Cottle, Pang and Stone, remark 4.1.14: z_1 + z_2 = 1."""
    found = solutions([[1, 1], [1, 1]], [-1, -1])
    assert (found.count, found.dimension, len(found.pieces)) == ("infinite", 1, 1)
    assert texts(found.pieces[0].vertices) == [["0", "1"], ["1", "0"]]
    assert found.pieces[0].rays == []


def test_faces_of_several_dimensions():
    """A vertex, a ray and a quadrant, from a diagonal of independent problems."""
    ray = solutions([[0, 0], [0, -1]], [0, 1])
    assert (ray.count, ray.dimension) == ("infinite", 1)
    assert [(texts(p.vertices), texts(p.rays)) for p in ray.pieces] == [
        ([["0", "0"]], [["1", "0"]]),
        ([["0", "1"]], [["1", "0"]]),
    ]
    quadrant = solutions(np.zeros((2, 2)), [0, 0])
    assert (quadrant.dimension, texts(quadrant.pieces[0].rays)) == (2, [["0", "1"], ["1", "0"]])
    mixed = solutions([[0, -1], [0, 0]], [1, 0])
    assert [(p.dimension, texts(p.vertices), texts(p.rays)) for p in mixed.pieces] == [
        (1, [["0", "0"], ["0", "1"]], []),
        (1, [["0", "1"]], [["1", "0"]]),
    ]


def test_a_point_beside_a_face():
    """z_1 = 1 with z_2 free, and the isolated origin of an unstable pair."""
    found = solutions([[-1, 0], [-1, 0]], [1, 1])
    assert found.count == "infinite"
    assert texts(found.points) == [["0", "0"]]
    assert [(p.dimension, texts(p.vertices), texts(p.rays)) for p in found.pieces[1:]] == [
        (1, [["1", "0"]], [["0", "1"]])
    ]


def test_a_cube_of_solutions():
    """w_i = 0 for z_i in [0, 1] three times over: eight vertices by double description."""
    M = np.zeros((6, 6))
    for i in range(3):
        M[3 + i, i] = -1
    found = solutions(M, [0, 0, 0, 1, 1, 1])
    cube = next(piece for piece in found.pieces if piece.support == (0, 1, 2))
    assert (cube.dimension, len(cube.vertices), cube.rays) == (3, 8, [])


@pytest.mark.parametrize(
    ("normals", "vertices"),
    [
        (np.vstack([np.eye(3), -np.eye(3)]), 8),
        (np.array(list(itertools.product((1, -1), repeat=3))), 6),
        (np.array(list(itertools.product((1, -1), repeat=4))), 8),
    ],
    ids=["cube", "octahedron", "16-cell"],
)
def test_double_description_of_degenerate_polytopes(normals, vertices):
    """normals . x <= 1, each inequality twice and in any order: more of them hold at a vertex than it needs."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        rows = rng.permutation(np.tile(np.c_[-normals, np.ones(len(normals))], (2, 1)))
        constraints = [vector(row) for row in rows]
        rays = module._extreme_rays(constraints, ALWAYS)
        points = {tuple(x / ray[-1] for x in ray[:-1]) for ray in rays}
        assert len(points) == len(rays) == vertices


def random_problems(count, largest, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, largest + 1))
        yield rng.integers(-2, 3, (n, n)), rng.integers(-2, 3, n)


def test_solutions_are_solutions_and_none_is_missed_where_there_are_any():
    counts = set()
    for M, q in random_problems(250, 3, 0):
        found = solutions(M, q)
        assert (found.count != 0) == solvable(M.tolist(), q.tolist())
        counts.add(found.count)
        A, c = exact(M), vector(q)
        for piece in found.pieces:
            middle = [sum(column, fmpq(0)) / len(piece.vertices) for column in zip(*piece.vertices, strict=True)]
            far = [x + sum(r, fmpq(0)) for x, *r in zip(middle, *piece.rays, strict=True)]
            for z in (*piece.vertices, middle, far):
                w = [x + y for x, y in zip((A * fmpq_mat(len(z), 1, list(z))).entries(), c, strict=True)]
                assert min(z) >= 0
                assert min(w) >= 0
                assert not any(x * y for x, y in zip(z, w, strict=True))
    assert {0, 1, 2, 3, "infinite"} <= counts


def test_the_tree_and_the_bases_find_the_same(monkeypatch):
    for M, q in random_problems(150, 5, 1):
        by_bases = solutions(M, q)
        with monkeypatch.context() as patch:
            patch.setattr(module, "BY_BASES", 0)
            by_tree = solutions(M, q)
        assert (by_tree.count, as_sets(by_tree)) == (by_bases.count, as_sets(by_bases))


def test_no_piece_lies_in_another():
    for M, q in random_problems(120, 4, 2):
        pieces = solutions(M, q).pieces
        for one in pieces:
            for other in pieces:
                inside = set(one.vertices) <= set(other.vertices) and set(one.rays) <= set(other.rays)
                assert one is other or not inside


def test_nondegenerate_problems_agree_with_enumeration_in_floating_point():
    rng = np.random.default_rng(3)
    for n in (4, 7, 10):
        M, q = rng.standard_normal((n, n)), rng.standard_normal(n)
        found = np.array(sorted([nearest_double(x) for x in z] for z in solutions(M, q).points))
        floats = np.array(sorted(z.tolist() for z in all_solutions(LCP(M, q))))
        assert found.shape == floats.shape
        assert np.allclose(found, floats, rtol=1e-8, atol=1e-8)


def test_a_p_matrix_of_order_twenty():
    rng = np.random.default_rng(4)
    n = 20
    A = rng.standard_normal((n, n))
    M, q = A @ A.T / n + np.eye(n) + np.triu(A, 1) / 9, rng.standard_normal(n)
    # Time of this process, which other work on the machine does not change.
    start = time.process_time()
    found = solutions(M, q)
    assert time.process_time() - start < 5
    assert found.count == 1
    z = np.array([nearest_double(x) for x in found.points[0]])
    assert np.allclose(z, find_solver("lemke").solve(LCP(M, q)).z, atol=1e-9)
    assert solutions(M, q, unique=True).points == found.points


def test_planted_solutions_at_order_sixteen():
    """Block-diagonal copies of a problem with two solutions and of one with a segment."""
    M, q = np.kron(np.eye(8), [[0, 0], [0, 0]]), np.ones(16)
    assert solutions(M, q).count == 1
    M[:3, :3], q[:3] = -np.eye(3), 1
    assert solutions(M, q).count == 8
    M[3:5, 3:5], q[3:5] = 1, -1
    found = solutions(M, q)
    assert (found.count, found.dimension, len(found.pieces)) == ("infinite", 1, 8)


def test_a_branch_ends_by_proof_alone():
    """Whatever basis and row the floats propose, "forbidden" means that the inequalities have no solution."""
    rng = np.random.default_rng(5)
    ended = 0
    for M, q in random_problems(1500, 3, 6):
        n = len(q)
        order = rng.permutation(2 * n).tolist()
        i = int(rng.integers(n))
        a, b = (frozenset({i}), frozenset()) if rng.integers(2) else (frozenset(), frozenset({i}))
        fixed = n + i if a else i
        others = [v for v in order[n:] if v != fixed]
        node = module._Node(np.zeros((n, 1)), order[:n], others, a, b)
        if module._forbidding(exact(M), vector(q), node, int(rng.integers(n)), ALWAYS) is not None:
            ended += 1
            rows = [[int(k == j) for k in range(n)] + [0] for j in range(n)]
            rows += [[*map(int, M[j]), int(q[j])] for j in range(n)]
            assert not feasible([*rows, [-x for x in rows[fixed]]])
    assert ended > 100


def test_the_deadline_is_reported():
    found = solution_set(exact(np.eye(18)), vector(np.zeros(18)), clock() + 0.2)
    assert found.count is None
    assert "18 unknowns" in found.reason


# Problems that nobody here wrote


def problem(name):
    path = data_folder() / "lcp" / f"{name}.dat"
    if not path.exists():
        pytest.skip(f"{path} is absent; set WORKBENCH_DATA to a folder with lcp/ of Siconos' test data")
    M, q = read_problem(path)
    return M, q, solution_set(M.exact, q.exact.entries(), clock() + 20)


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("lcp_CPS_2", [["0", "1", "3"]]),
        ("lcp_CPS_4", [["2", "2", "2", "92"]]),
        ("lcp_deudeu", [["4/3", "7/3"]]),
        ("lcp_exp_murty", [["0", "0", "0", "0", "0", "1"]]),
        ("lcp_ortiz_block", [["2/3", "0", "1/3", "0"]]),
        ("lcp_trivial", [["1", *(f"1/{k}" for k in range(2, 10))]]),
    ],
)
def test_siconos_problems_with_one_solution(name, points):
    _, _, found = problem(name)
    assert (found.count, texts(found.points)) == (1, points)


def test_siconos_problem_with_a_segment():
    _, _, found = problem("lcp_CPS_1")
    assert texts(found.pieces[0].vertices) == [["0", "1"], ["1", "0"]]


def test_siconos_problem_of_order_26():
    M, q, found = problem("lcp_mmc")
    assert found.count == 1
    z = np.array([nearest_double(x) for x in found.points[0]])
    assert float(LCP(M.values, q.values.ravel()).residual(z)) < 1e-13
