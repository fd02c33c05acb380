"""Lemke's method where contacts are redundant, rigid or relaxed: towers of boxes, the cube, precision, rays."""

from fractions import Fraction

import numpy as np
import pytest

from tests.lcps import lemke_workspace
from workbench.algorithms import judice_pires, keller, murty
from workbench.algorithms.lemke import double_double as lemke_twice
from workbench.algorithms.lemke import method as lemke
from workbench.algorithms.lemke import path as lemke_path
from workbench.builtin.cases.cube import Cube
from workbench.builtin.formulations import FORMULATIONS
from workbench.engine import double_double
from workbench.mechanics.contact import ContactSystem
from workbench.mechanics.relaxation import RIGID
from workbench.problems.classes import LCP
from workbench.problems.solution import Status
from workbench.step.one_step import pose
from workbench.step.simulation import simulate

BY_NAME = {f.name: f for f in FORMULATIONS}
POLYGON = BY_NAME["anitescu-potra"]
ROUND_OFF = 1e-12
BY_ROW = 1e-10
"""Residual of round-off where rows whose own terms vanish are measured by a 1e-4th of the others'."""
MOTIONS = ("rest", "slide", "spin", "tremble", "push", "any")


def row(axis, x):
    return np.concatenate([axis, np.cross(x, axis)])


def tower(rng, boxes, motion, eps_n=0.0, eps_t=0.0):
    """Unit cubes, each on four corners of the one below; the compliances eps are in units of the inverse mass.

    Masses spread over two decades about one between a gram and a tonne. Every instant has a solution: all normals
    point up, hence no impulses but zero balance one another, and q^T v = 0 on SOL(0, M).
    """
    n, r, scale = 6 * boxes, 4 * boxes, 10 ** rng.uniform(-3, 3)
    m = scale * 10 ** rng.uniform(-1, 1, boxes)
    J_n, J_t = np.zeros((r, n)), np.zeros((2 * r, n))
    axes = np.eye(3)
    for i in range(r):
        k = i // 4
        x = np.array([i % 2 - 0.5, i // 2 % 2 - 0.5, -0.5])
        for body, sign, arm in ((k, 1, x), (k - 1, -1, x + axes[2])):
            if body >= 0:
                place = slice(6 * body, 6 * body + 6)
                J_n[i, place] = sign * row(axes[2], arm)
                J_t[2 * i, place], J_t[2 * i + 1, place] = sign * row(axes[0], arm), sign * row(axes[1], arm)
    h, v = 10 ** rng.uniform(-4, -1.5), np.zeros((boxes, 6))
    if motion == "slide":
        v[:, 0] = 1.0
    elif motion == "spin":
        v[:, 1], v[:, 5] = 5.0, 2 * np.pi
    elif motion == "push":
        v[rng.integers(boxes), 0] = 20 * h * rng.uniform()
    elif motion != "rest":
        v = (1e-6 if motion == "tremble" else 1.0) * rng.normal(size=v.shape)
    f = np.zeros((boxes, 6))
    f[:, 2] = -9.81 * m
    mu = rng.uniform(0, 1.5, r) if rng.random() < 0.5 else 0.5
    return ContactSystem(
        np.diag(np.repeat(m, 6) * np.tile([1, 1, 1, *3 * [1 / 6]], boxes)), v.ravel(), f.ravel(), h, J_n, J_t, mu,
        eps_n=eps_n / scale, eps_t=eps_t / scale,
    )  # fmt: skip


@pytest.mark.parametrize("relaxed", [True, False], ids=["relaxed", "rigid"])
@pytest.mark.parametrize(("boxes", "directions"), [(1, 4), (1, 16), (2, 4), (2, 8), (4, 4)])
def test_towers_of_boxes_are_solved_to_round_off(boxes, directions, relaxed):
    rng = np.random.default_rng([boxes, directions, relaxed])
    formulation = POLYGON.with_options(directions=directions)
    for k in range(36):
        compliances = 10 ** rng.uniform(-9, -2, 2) if relaxed else np.zeros(2)
        problem = pose(formulation, tower(rng, boxes, MOTIONS[k % 6], *compliances)).problem()
        solution = lemke.SOLVER.solve(problem)
        assert solution.claimed is Status.SOLVED, (k, solution)
        assert solution.residual <= BY_ROW, (k, solution)


def test_towers_without_friction_agree_with_keller():
    """Relaxed normal forces are unique however many corners share them."""
    rng = np.random.default_rng(7)
    for k in range(24):
        problem = pose(BY_NAME["frictionless"], tower(rng, 3, MOTIONS[k % 6], 10 ** rng.uniform(-6, -2))).problem()
        a, b = lemke.SOLVER.solve(problem), keller.SOLVER.solve(problem)
        assert a.claimed is b.claimed is Status.SOLVED
        np.testing.assert_allclose(a.z, b.z, rtol=0, atol=1e-8 * np.abs(b.z).max())


def test_relaxed_towers_with_fixed_bounds_are_solved_by_every_method_that_promises_to():
    """Symmetric positive definite by the compliance alone: P for murty and judice-pires, and unique."""
    rng = np.random.default_rng(8)
    for k in range(24):
        system = tower(rng, 2, MOTIONS[k % 6], *10 ** rng.uniform(-8, -2, 2))
        problem = pose(BY_NAME["box"], system).problem()
        answers = [solver.SOLVER.solve(problem) for solver in (judice_pires, murty, keller)]
        for solution in answers:
            assert solution.claimed is Status.SOLVED, (k, solution)
            assert solution.residual <= 1e-10, (k, solution)
            # Velocities agree where forces, though unique, hang on the last digits of the data.
            apart = np.abs(problem.M @ (solution.z - answers[0].z)).max()
            assert apart <= 1e-9 * np.abs(problem.q).max(), (k, solution)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("anitescu-potra", {}),
        ("anitescu-potra", {"directions": 16}),
        ("discrete-velocity", {}),
        ("phantom-inertia", {"axes": "fixed"}),
        ("box", {"bounds": "coupled"}),
    ],
    ids=lambda x: x if isinstance(x, str) else None,
)
def test_the_cube_comes_to_rest_on_its_four_vertices(name, options):
    for h, relaxation in ((1e-2, None), (5e-3, None), (5e-3, RIGID)):
        if relaxation is RIGID and name != "anitescu-potra":
            continue
        run = simulate(
            Cube(), BY_NAME[name].with_options(**options), lemke.SOLVER, h, normal="velocity", relaxation=relaxation
        )
        assert run.status is Status.SOLVED, run.reason
        assert run.residuals.max() <= BY_ROW
        assert np.abs(run.states_v[-1]).max() < 1e-3


def test_twice_the_precision_gives_32_digits():
    rng = np.random.default_rng(1)

    def exact(pair):
        return Fraction(pair[0]) + Fraction(pair[1])

    for _ in range(300):
        a, b, c = (float(x) for x in rng.normal(size=3) * 10 ** rng.uniform(-8, 8, 3))
        assert exact(double_double.two_sum(a, b)) == Fraction(a) + Fraction(b)
        assert exact(double_double.two_product(a, b)) == Fraction(a) * Fraction(b)
        x, y, z = (double_double.two_sum(s, s * float(rng.normal()) * 1e-17) for s in (a, b, c))
        for computed, wanted, size in (
            (double_double.product(a, b, c), Fraction(a) * Fraction(b) * Fraction(c), abs(a * b * c)),
            (double_double.quotient(*x, *y), exact(x) / exact(y), abs(a / b)),
            (double_double.less_product(*x, *y, *z), exact(x) - exact(y) * exact(z), abs(a) + abs(b * c)),
        ):
            assert abs(exact(computed) - wanted) <= 1e-31 * size


def test_pivots_in_twice_the_precision_survive_a_nearly_singular_basis():
    """Two relaxed rows that differ by 1e-13: after both exchanges T holds their inverse, 1e13, to full accuracy."""
    a, eps = 1.0, 2.0**-43
    M = np.array([[a + eps, a], [a, a + eps]])
    T, low = np.column_stack([-M, -np.ones(2), [-1.0, -0.5]]), np.zeros((2, 4))
    for k in range(2):
        lemke_twice.pivot_twice(T, low, k, k)
    determinant = Fraction(a + eps) ** 2 - Fraction(a) ** 2
    np.testing.assert_array_equal(T[0, 0], float(-Fraction(a + eps) / determinant))
    np.testing.assert_array_equal(T[0, 1], float(Fraction(a) / determinant))
    np.testing.assert_array_equal(T[0, 3], float((Fraction(a + eps) - Fraction(a) / 2) / determinant))


def path_in_twice_the_precision(M, q):
    """Status, the z that was to enter, its column, the basis and the constants."""
    n = len(q)
    basic, b, t, info = np.empty(n, int), np.empty(n), np.empty(n), np.zeros(1, int)
    one, smallest = np.ones(n), lemke.FIRST_PIVOT
    status, entering = lemke_twice.follow_path_twice(M, q, one, 1.0, one, smallest, b, basic, t, info)
    return status, entering, t, basic, b


def test_both_precisions_follow_the_same_path():
    """Same basis, same solution, on degenerate problems in whole numbers too."""
    rng = np.random.default_rng(4)
    for k in range(60):
        n = int(rng.integers(2, 20))
        A = rng.integers(-2, 3, (n, n)).astype(float) if k % 2 else rng.normal(size=(n, n))
        M, q = A @ A.T + np.eye(n), -np.ones(n) if k % 2 else rng.normal(size=n)
        if q.min() >= 0:
            continue
        work = lemke_workspace(M)
        info = np.zeros(1, dtype=np.int64)
        status, _ = lemke_path.follow_path(M, q, 1.0, work, 1000, info)
        wanted, _, _, basic, b = path_in_twice_the_precision(M, q)
        assert status == wanted == Status.SOLVED
        single, double = np.zeros(n), np.zeros(n)
        there = work.basic[:n]
        single[there[there >= 0]] = work.b[:n][there >= 0]
        double[basic[basic >= 0]] = b[basic >= 0]
        np.testing.assert_array_equal(single != 0, double != 0)
        np.testing.assert_allclose(single, double, rtol=1e-10, atol=1e-10)


def test_a_ray_carries_its_certificate():
    """Infeasible semidefinite problems, scaled badly: a true ray; and no longer one for another matrix or column."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        A = rng.normal(size=(n, n - 1))
        # The null vector of the last rows is made positive, so that a pull along it has nothing to balance it.
        y = rng.uniform(0.5, 2, n)
        A -= np.outer(y, y @ A) / (y @ y)
        M, q = A @ A.T, -y
        D = 10 ** rng.uniform(-4, 4, n)
        solution = lemke.SOLVER.solve(LCP(D[:, None] * M * D, D * q))
        assert solution.claimed is Status.RAY, solution
        status, entering, t, basic, _ = path_in_twice_the_precision(M, q)
        assert status == Status.RAY
        one = np.ones(n)
        assert lemke.is_ray(M, q, one, 1.0, one, basic, t, entering)
        assert not lemke.is_ray(M + np.eye(n), q, one, 1.0, one, basic, t, entering), "a ray of M is none of M + I"
    # Two unknowns that move together, z_0 basic and z_1 entering: a ray if neither falls, by M z = 0 alone it is none.
    for sign in (1.0, -1.0):
        M, one = np.array([[1, -sign], [-sign, 1]]), np.ones(2)
        column = np.array([0, -1]), np.array([sign, 0.0]), 1
        assert lemke.is_ray(M, -one, one, 1.0, one, *column) == (sign > 0)
        # Along it q^T z must fall: nothing else tells of no solution.
        assert not lemke.is_ray(M, one, one, 1.0, one, *column)
