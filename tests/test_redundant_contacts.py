"""Lemke's method where contacts are redundant, rigid or relaxed: towers of boxes, the cube, precision, rays."""

from fractions import Fraction

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.builtin.cases.cube import Cube
from workbench.builtin.formulations import FORMULATIONS
from workbench.mechanics.contact import ContactSystem
from workbench.mechanics.relaxation import RIGID
from workbench.problems.classes import LCP
from workbench.problems.solution import Status
from workbench.step.one_step import pose
from workbench.step.simulation import simulate

BY_NAME = {f.name: f for f in FORMULATIONS}
LEMKE = find_solver("lemke")
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
        solution = LEMKE.solve(problem)
        assert solution.claimed is Status.SOLVED, (k, solution)
        assert solution.residual <= BY_ROW, (k, solution)


def test_towers_without_friction_agree_with_keller():
    """Relaxed normal forces are unique however many corners share them."""
    rng = np.random.default_rng(7)
    for k in range(24):
        problem = pose(BY_NAME["frictionless"], tower(rng, 3, MOTIONS[k % 6], 10 ** rng.uniform(-6, -2))).problem()
        a, b = LEMKE.solve(problem), find_solver("keller").solve(problem)
        assert a.claimed is b.claimed is Status.SOLVED
        np.testing.assert_allclose(a.z, b.z, rtol=0, atol=1e-8 * np.abs(b.z).max())


def test_relaxed_towers_with_fixed_bounds_are_solved_by_every_method_that_promises_to():
    """Symmetric positive definite by the compliance alone: P for murty and judice-pires, and unique."""
    rng = np.random.default_rng(8)
    for k in range(24):
        system = tower(rng, 2, MOTIONS[k % 6], *10 ** rng.uniform(-8, -2, 2))
        problem = pose(BY_NAME["box"], system).problem()
        answers = [find_solver(name).solve(problem) for name in ("judice-pires", "murty", "keller")]
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
            Cube(), BY_NAME[name].with_options(**options), LEMKE, h, normal="velocity", relaxation=relaxation
        )
        assert run.status is Status.SOLVED, run.reason
        assert run.residuals.max() <= BY_ROW
        assert np.abs(run.states_v[-1]).max() < 1e-3


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
        solution = LEMKE.solve(LCP(D[:, None] * M * D, D * q))
        assert solution.claimed is Status.RAY, solution


def test_two_relaxed_rows_that_hardly_differ_are_solved_as_in_fractions():
    """Rows that differ by 1e-13, so that a basis is singular but for rounding: twice the precision resolves it."""
    for a, eps in ((1.0, 2.0**-43), (3.0, 2.0**-42), (0.5, 2.0**-45)):
        for q in ([-1.0, -0.5], [-0.25, -1.0]):
            b = a + eps
            solution = LEMKE.solve(LCP([[b, a], [a, b]], q))
            assert solution.verified
            determinant, x = Fraction(b) ** 2 - Fraction(a) ** 2, [Fraction(v) for v in q]
            z = [(Fraction(a) * x[1 - i] - Fraction(b) * x[i]) / determinant for i in range(2)]
            if min(z) < 0:
                z = [-min(v, 0) / Fraction(b) if v == min(x) else Fraction(0) for v in x]
            np.testing.assert_allclose(solution.z, [float(v) for v in z], rtol=1e-12)
