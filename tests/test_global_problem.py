"""Friction problems over (M, H): residuals, sweeps, Newton steps and solutions as over W; large ones; refusals."""

import json

import numpy as np
import pytest
from scipy.linalg import block_diag

import workbench as wb
from tests import siconos_text
from workbench.algorithms import find_solver
from workbench.cli.main import main
from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.friction_problem import LARGEST_DENSE, FrictionProblem, GlobalFrictionProblem
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP, way
from workbench.problems.solution import Status
from workbench.readers.files import read_problem_file, write_problem_file
from workbench.support.errors import DataError

COULOMB, CCP = find_solver("coulomb-exact"), find_solver("ccp-exact")
LAWS = [(COULOMB, GlobalCoulombNCP, FrictionProblem.coulomb), (CCP, GlobalConicQP, FrictionProblem.ccp)]


def plates(rng, floors, feet, d=2, hinges=0, mu=0.5):
    """Plates on one another, each on more feet than it needs, falling and sliding; hinges hold neighbours together."""
    size, r = 3 * d, floors * feet
    n = floors * size
    point = np.column_stack([rng.uniform(-1, 1, (r, d)), np.full(r, -0.1)])
    e = np.roll(np.eye(1 + d), 1, axis=0)
    H = np.zeros((n, r * (1 + d)))
    for i in range(r):
        columns = [i, *range(r + d * i, r + d * (i + 1))]
        for body, sign, height in ((i // feet, 1.0, 0.0), (i // feet - 1, -1.0, 0.2)):
            if body >= 0:
                arm = point[i] + np.append(np.zeros(d), height)
                turn = np.cross(arm, e) if d == 2 else (arm[0] * e[:, 1] - arm[1] * e[:, 0])[:, None]
                H[body * size : (body + 1) * size, columns] = sign * np.column_stack([e, turn]).T
    G = np.zeros((n, hinges))
    for k in range(hinges):
        G[k * size, k], G[(k + 1) * size, k] = 1.0, -1.0
    m = np.repeat(rng.uniform(0.5, 2, floors), size)
    v = 0.3 * rng.normal(size=n)
    v[d::size] -= 1
    b, w = 0.1 * rng.normal(size=hinges), 0.1 * rng.normal(size=r * (1 + d))
    return GlobalFrictionProblem(np.diag(m), H, m * v, w, np.full(r, mu), d, G, b)


def coupled(rng, n, r, m=0):
    """A chain of n velocities, none of them independent of the others."""
    M = np.diag(rng.uniform(3, 4, n)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    H = rng.normal(size=(n, 3 * r)) * (rng.uniform(size=(n, 3 * r)) < 0.2)
    G = rng.normal(size=(n, m))
    return GlobalFrictionProblem(M, H, rng.normal(size=n), rng.normal(size=3 * r), np.full(r, 0.4), 2, G, np.ones(m))


def systems():
    rng = np.random.default_rng(1)
    yield plates(rng, 3, 5)
    yield plates(rng, 4, 4, d=1, hinges=2)
    yield plates(rng, 4, 4, hinges=3)
    yield coupled(rng, 65, 8)
    yield coupled(rng, 65, 8, 3)


def dense(g):
    """W and q by elimination, from the definition."""
    m = g.G.shape[1]
    K = np.block([[g.M.toarray(), -g.G.toarray()], [g.G.T.toarray(), np.zeros((m, m))]])
    H = np.vstack([g.H.toarray(), np.zeros((m, g.size))])
    return H.T @ np.linalg.solve(K, H), H.T @ np.linalg.solve(K, np.concatenate([g.f, -g.b])) + g.w


@pytest.mark.parametrize("g", list(systems()))
def test_velocities_trace_and_residual_are_those_of_the_problem_over_W(g):
    rng = np.random.default_rng(2)
    W, q = dense(g)
    np.testing.assert_allclose(g.local.dense, W, atol=1e-12)
    for there, here in ((CoulombNCP, GlobalCoulombNCP(g)), (ConicQP, GlobalConicQP(g))):
        expected = there(0.5 * (W + W.T), q, g.mu, g.d)
        np.testing.assert_allclose(here.q, q, atol=1e-12)
        over = here.by_set
        np.testing.assert_allclose(over.operator.diagonal, np.diag(W)[over.order], atol=1e-12)
        for _ in range(3):
            z = rng.normal(size=g.size)
            assert here.residual(z) == pytest.approx(expected.residual(z), rel=1e-11)
            assert here.unscaled_residual(z) == pytest.approx(expected.unscaled_residual(z), rel=1e-11)


def as_matrix(p, blocks):
    ends = p.laws.at_W
    return block_diag(
        *(blocks[a:b].reshape(m, m) for a, b, m in zip(ends[:-1], ends[1:], np.diff(p.laws.row), strict=True))
    )


@pytest.mark.parametrize("hinges", [0, 4])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(("solver", "over_bodies", "over_W"), LAWS)
def test_both_ways_judge_each_other_and_agree_where_the_answer_is_unique(solver, over_bodies, over_W, d, hinges):
    for seed in range(3):
        g = plates(np.random.default_rng(seed), 6, 7, d, hinges, mu=(0.2, 0.5, 1.0)[seed])
        here, there = over_bodies(g), over_W(g.local)
        a, b = solver.solve(here), solver.solve(there)
        assert a.claimed is b.claimed is Status.SOLVED
        assert max(here.residual(b.z), there.residual(a.z), a.residual) <= 1e-12
        if solver is CCP:
            np.testing.assert_allclose(g.local.W @ a.z, g.local.W @ b.z, atol=1e-9)


@pytest.mark.thorough
def test_thousands_of_contacts_of_a_few_bodies_are_solved():
    g = plates(np.random.default_rng(5), 3, 1000)
    assert g.size > LARGEST_DENSE
    with pytest.raises(DataError, match="W would have 9000 rows"):
        g.local  # noqa: B018
    for name in ("coulomb", "ccp"):
        s = wb.solve(g, name).solution
        assert s.claimed is Status.SOLVED
        assert s.residual <= 1e-12
        assert s.stages[0].startswith("over (M, H)")
        assert "too large" in s.stages[0]


def test_bodies_that_are_all_coupled_are_solved():
    g = coupled(np.random.default_rng(6), 300, 60)
    s = COULOMB.solve(GlobalCoulombNCP(g))
    assert s.claimed is Status.SOLVED
    assert g.local.coulomb().residual(s.z) <= 1e-12


def test_the_way_of_fewer_numbers_is_taken():
    redundant, few = plates(np.random.default_rng(7), 3, 20), plates(np.random.default_rng(7), 2, 4)
    elastic = coupled(np.random.default_rng(7), 400, 40)
    for g, bodies in ((redundant, True), (few, False), (elastic, False)):
        chosen = way(g)
        assert chosen.bodies is bodies
        assert chosen.over_W == 9 * (g.local.by_contacts()[0].tobsr((3, 3)).indices.size)
        answer = wb.solve(g)
        assert answer.solution.stages[0] == str(chosen)
        assert g.local.coulomb().residual(answer.p) <= 1e-10
    assert way(elastic).over_bodies > way(elastic).over_W
    # Solvers that want W get it.
    assert not wb.solve(redundant, solver="pgs").solution.stages


@pytest.mark.parametrize("hinges", [0, 2])
def test_units_of_masses_velocities_and_impulses_do_not_matter(hinges):
    rng = np.random.default_rng(8)
    g = plates(rng, 4, 12, hinges=hinges)
    z = rng.normal(size=g.size)
    for mass, speed in ((1e6, 1e-3), (1e-5, 1e4)):
        T = np.diag(10.0 ** rng.integers(-4, 5, g.f.size))
        other = GlobalFrictionProblem(
            T @ (mass * g.M) @ T,
            T @ g.H,
            speed * mass * T @ g.f,
            speed * g.w,
            g.mu,
            2,
            1e3 * T @ g.G,
            1e3 * speed * g.b,
        )
        p = GlobalCoulombNCP(other)
        assert p.residual(mass * speed * z) == pytest.approx(GlobalCoulombNCP(g).residual(z), rel=1e-9)
        s = COULOMB.solve(p)
        assert s.claimed is Status.SOLVED
        assert g.local.coulomb().residual(s.z / (mass * speed)) <= 1e-11


def test_a_singular_inertia_is_refused():
    rng = np.random.default_rng(9)
    nearly = [A @ A.T for A in rng.normal(size=(4, 6, 5))]
    H, f, w = rng.normal(size=(6, 3)), np.ones(6), np.ones(3)
    twice = np.repeat(rng.normal(size=(6, 1)), 2, axis=1)
    for M, G in (*((M, None) for M in nearly), (np.diag([1.0, 1, 1, 1, 1, 0]), None), (np.eye(6), twice)):
        g = GlobalFrictionProblem(M, H, f, w, np.ones(1), 2, G, np.zeros(0 if G is None else 2))
        for pose in (GlobalCoulombNCP, way, lambda g: g.local):
            with pytest.raises(DataError, match="is singular"):
                pose(g)


def test_an_inertia_that_is_not_symmetric_makes_no_conic_program():
    g = plates(np.random.default_rng(10), 6, 8)
    M = g.M.toarray()
    M[0, 1] = 0.2
    skew = GlobalFrictionProblem(M, g.H, g.f, g.w, g.mu, 2)
    with pytest.raises(DataError, match="symmetric M"):
        GlobalConicQP(skew)
    s = COULOMB.solve(GlobalCoulombNCP(skew))
    assert s.claimed is Status.SOLVED
    assert skew.local.coulomb().residual(s.z) <= 1e-12


def without_contacts():
    return GlobalFrictionProblem(np.diag([1.0, 2.0, 3.0]), np.zeros((3, 0)), np.ones(3), np.zeros(0), np.zeros(0))


@pytest.mark.parametrize("ending", ["hdf5", "npz", "dat"])
def test_without_contacts_the_motion_is_free_and_that_is_an_answer(tmp_path, capsys, ending):
    path, problem = tmp_path / f"free.{ending}", without_contacts()
    if ending == "dat":
        empty = (problem.M.toarray(), np.zeros((3, 0)), problem.f, problem.w, problem.mu, 3, siconos_text.columns)
        path.write_text(siconos_text.global_(*empty))
    else:
        write_problem_file(problem, path)
    read = read_problem_file(path)
    assert (read.kind, read.contacts, read.size, read.f.tolist()) == ("global friction", 0, 0, [1.0, 1.0, 1.0])
    assert main(["solve", str(path), "-f", "box", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["claimed"], row["verified"], row["residual"], row["contacts"]) == ("SOLVED", True, 0.0, 0)
    assert row["reason"].startswith("no contacts")
    assert main(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["velocities"] == 3
    assert main(["compare", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "no contacts" in capsys.readouterr().err
