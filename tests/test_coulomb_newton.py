"""Newton's method with sparse factors: its derivatives, and problems of many contacts against independent methods."""

import numpy as np
import pytest
from scipy import sparse

from benchmarks.towers import tower_problem
from workbench.algorithms import find_solver
from workbench.judge.coulomb import judge
from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.solution import Status

COULOMB, CCP = find_solver("coulomb-exact"), find_solver("ccp-exact")
LAWS = [(COULOMB, CoulombNCP), (CCP, ConicQP)]


def tower(rng, floors, d=2, legs=4):
    """(W, q): `floors` plates on one another with `legs` feet each, more than they need, falling and sliding."""
    size, r = 3 * d, floors * legs
    J = np.zeros((r * (1 + d), floors * size))
    for i in range(r):
        upper, lower = i // legs, i // legs - 1
        point = np.append(rng.uniform(-1, 1, d), -0.1)
        n, tangents = np.eye(1 + d)[d], np.eye(1 + d)[:d]
        for row, e in zip([i, *range(r + d * i, r + d * (i + 1))], [n, *tangents], strict=True):
            for body, sign, height in ((upper, 1.0, 0.0), (lower, -1.0, 0.2)):
                if body >= 0:
                    arm = point + np.append(np.zeros(d), height)
                    turn = np.atleast_1d(np.cross(arm, e)) if d == 2 else np.atleast_1d(arm[0] * e[1] - arm[1] * e[0])
                    J[row, body * size : (body + 1) * size] = sign * np.concatenate([e, turn])
    inverse_mass = np.repeat(rng.uniform(0.5, 2, floors), size)
    v = 0.3 * rng.normal(size=floors * size)
    v[d::size] -= 1
    W = J * inverse_mass @ J.T
    return (W + W.T) / 2, J @ v


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(("solver", "problem"), LAWS)
def test_towers_of_redundant_contacts_are_solved_to_round_off(solver, problem, d):
    rng = np.random.default_rng(7)
    for floors, mu in ((8, 0.2), (14, 0.7), (24, 1.2)):
        W, q = tower(rng, floors, d)
        r = 4 * floors
        assert np.linalg.matrix_rank(W) < W.shape[0]
        p = problem(W, q, np.full(r, mu), d)
        s = solver.solve(p)
        assert s.claimed is Status.SOLVED, s.stages
        assert s.residual <= 1e-11
        if problem is CoulombNCP:
            u = W @ s.z + q
            shape = (r, d)
            v = judge(s.z[:r], s.z[r:].reshape(shape), u[:r], u[r:].reshape(shape), p.mu, W, q)
            assert max(v.signorini, v.natural_map) <= 1e-11
            assert v.cone <= 1e-11 * v.normaliser.max()


@pytest.mark.parametrize(("solver", "problem"), LAWS)
def test_dense_and_sparse_matrices_give_one_answer(solver, problem):
    """Also: the velocities of a CCP are unique, so that the compiled kernel must agree."""
    rng = np.random.default_rng(3)
    W, q = tower(rng, 11)
    mu = np.full(44, 0.4)
    dense, thin = problem(W, q, mu), problem(sparse.csr_array(W), q, mu)
    a, b = solver.solve(dense), solver.solve(thin)
    np.testing.assert_array_equal(a.z, b.z)
    assert thin.residual(b.z) == pytest.approx(dense.residual(a.z), abs=1e-14)
    if problem is ConicQP:
        z, none = np.zeros(q.size), np.zeros(0)
        solver.kernel(W, q, none, none, mu, 2, z, np.zeros(1, dtype=np.int64))
        np.testing.assert_allclose(W @ z, W @ a.z, atol=1e-11)


def test_a_problem_in_other_units_is_solved_as_well():
    rng = np.random.default_rng(5)
    W, q = tower(rng, 15)
    mu = np.full(60, 0.5)
    for mass, speed in ((1.0, 1.0), (1e6, 1e-3), (1e-5, 1e4)):
        s = COULOMB.solve(CoulombNCP(W / mass, q * speed, mu))
        assert s.claimed is Status.SOLVED
        assert s.residual <= 1e-12


def test_a_matrix_that_is_not_quite_symmetric_is_taken_as_it_is():
    rng = np.random.default_rng(6)
    W, q = tower(rng, 15)
    W = W * (1 + 1e-3 * rng.uniform(-1, 1, W.shape))
    s = COULOMB.solve(CoulombNCP(W, q, np.full(60, 0.5)))
    assert s.claimed is Status.SOLVED
    assert s.residual <= 1e-12


def test_an_unsolvable_problem_is_not_called_solved():
    """One of many contacts approaches on a body that nothing can move."""
    rng = np.random.default_rng(10)
    W, q = tower(rng, 12)
    r = 49
    at = [*range(48), *range(49, 49 + 96)]
    W_all, q_all = np.zeros((3 * r, 3 * r)), np.zeros(3 * r)
    W_all[np.ix_(at, at)], q_all[at] = W, q
    q_all[48] = -1.0
    s = COULOMB.solve(CoulombNCP(W_all, q_all, np.full(r, 0.5)))
    assert s.claimed is Status.INACCURATE
    assert not s.verified
    assert s.reason


def test_a_quasi_static_row_of_independent_contacts_needs_no_more_than_sweeps():
    r = 4000
    W = sparse.eye_array(3 * r, format="csr")
    q = np.random.default_rng(11).normal(size=3 * r)
    s = COULOMB.solve(CoulombNCP(W, q, np.full(r, 0.5)))
    assert s.claimed is Status.SOLVED
    assert s.residual <= 1e-12


@pytest.mark.parametrize(("contacts", "seed"), [(100, 1), (100, 4), pytest.param(150, 1, marks=pytest.mark.thorough)])
def test_high_towers_that_slide_or_tumble_are_solved(contacts, seed):
    """Proximal points do not go back to where a burst of Newton steps, which gained nothing, began."""
    found = COULOMB.solve(tower_problem(contacts, seed).coulomb())
    assert found.verified
    assert found.residual <= 1e-10
