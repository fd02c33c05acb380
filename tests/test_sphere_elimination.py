"""Nonlinear elimination: a few contacts solved as they are while the others keep the linear laws of a Newton step."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import packing
from workbench.algorithms import sphere_elimination, sphere_newton
from workbench.algorithms.sphere_elimination import DenseContacts, Elimination, solved
from workbench.algorithms.sphere_newton import SOLVER, NewtonIteration, PackedNewton
from workbench.algorithms.spheres import SpherePacking


@pytest.mark.parametrize("without", [None, "irregular_steps", "approach"])
@pytest.mark.parametrize("seed", range(5))
def test_dense_contacts_obey_coulombs_law_though_the_matrix_is_not_symmetric(seed, without, monkeypatch):
    # Newton's steps and proximal points: each is enough here without the other.
    if without:
        monkeypatch.setattr(sphere_elimination, without, lambda *given: None)
    rng = np.random.default_rng(seed)
    r, mu = 12, rng.uniform(0.1, 0.8, 12)
    A, S = rng.normal(size=(2, 3 * r, 3 * r))
    W, q = A @ A.T / r + np.eye(3 * r) + 0.3 * (S - S.T), rng.normal(size=3 * r)
    z, residual = solved(DenseContacts(W, q, mu, False), np.zeros(3 * r))
    z, u = z.reshape(r, 3), (W @ z + q).reshape(r, 3)
    size = abs(z).max()
    assert residual <= 1e-9
    p_n, p_t, u_n, slip = z[:, 0], z[:, 1:], u[:, 0], np.linalg.norm(u[:, 1:], axis=1)
    assert (p_n >= -1e-9 * size).all()
    assert (u_n >= -1e-8).all()
    assert abs(p_n * u_n).max() < 1e-7
    assert (np.linalg.norm(p_t, axis=1) <= mu * p_n + 1e-8 * size).all()
    np.testing.assert_allclose(slip[:, None] * p_t, -(mu * p_n)[:, None] * u[:, 1:], atol=1e-7)
    assert (p_n < 1e-9).any()
    assert (slip[p_n > 1e-3] > 1e-3).any()


def step_of(p, sweeps=50, eps=1e-5):
    """Newton's method at a packing's iterate after some sweeps, its impulses there, and the step from there."""
    packed = SpherePacking(p)
    newton = PackedNewton(p, packed)
    z = newton.begin(packed.gathered(packed.swept(np.zeros((p.blocks, 3)), sweeps)))
    newton.start(z, z, eps)
    return newton, z, newton.newton_step(eps)


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
def test_contacts_that_come_out_obey_their_law_and_the_others_their_linear_laws(law):
    eps, p = 1e-5, packing(60, "at rest", law).blocks
    newton, z, step = step_of(p, eps=eps)
    C, B, gap = newton.C.copy(), newton.B.copy(), newton.gap.copy()
    on = Elimination(newton, z, eps, step)
    for _ in range(2):
        on.eliminate(on.worst())
    out, moved = on.out, on.z - z
    u = newton.J @ p.inertia.response(newton.J.T @ moved) + eps * moved
    left = (gap + newton.each(C, moved) + newton.each(B, u)).reshape(-1, 3)
    others = np.setdiff1d(np.arange(p.blocks), out)
    size = np.linalg.norm(gap)
    assert abs(left[others]).max() < 1e-6 * size
    assert on.gaps[out].max() < 1e-6 * size
    # A linear law is not the law: with none of them out both would be the same.
    assert abs(left[out]).max() > 1e-3 * size


def test_the_worst_contacts_come_out_and_none_twice():
    newton, z, step = step_of(packing(200, "moving, h = 10 ms", "coulomb").blocks, 300)
    on = Elimination(newton, z, 1e-5, step)
    first = on.worst()
    assert 0 < first.size <= 10
    assert on.gaps[first].min() >= np.delete(on.gaps, first).max()
    errors = [on.error]
    while on.advance(0.0):
        assert np.unique(on.out).size == on.out.size
        errors.append(on.error)
    assert on.least == on.newton.start(on.best, z, 1e-5) == min(*errors, on.error) < errors[0]
    assert on.least < on.error


def test_contacts_that_stay_unsolved_end_it(monkeypatch):
    monkeypatch.setattr(sphere_elimination, "SOLVED", -1.0)
    newton, z, step = step_of(packing(300, "at rest", "coulomb").blocks)
    on = Elimination(newton, z, 1e-5, step)
    while on.advance(0.0):
        pass
    assert (on.unsolved, on.out.size) == (3, 30)


def test_contacts_that_the_others_cannot_do_without_end_it(monkeypatch):
    def singular(matrix):
        raise np.linalg.LinAlgError("singular matrix")

    monkeypatch.setattr(np.linalg, "inv", singular)
    newton, z, step = step_of(packing(60, "at rest", "coulomb").blocks)
    on = Elimination(newton, z, 1e-5, step)
    error, first = on.error, on.worst()
    while on.advance(0.0):
        pass
    assert (on.least, on.out.tolist()) == (error, first.tolist())


@pytest.mark.thorough
def test_packings_are_solved_that_newton_steps_alone_leave(monkeypatch):
    monkeypatch.setattr(sphere_newton, "FIRST", 1000)
    p = packing(300, "at rest", "coulomb").blocks
    solver = replace(SOLVER, stop=1e-10, most=40)
    assert solver.solve(p).residual <= 1e-10
    monkeypatch.setattr(Elimination, "advance", lambda self, error: False)
    assert solver.solve(p).residual > 1e-8


def test_sweeps_are_kept_only_where_they_help():
    p = packing(60, "at rest", "coulomb").blocks
    solved = replace(SOLVER, stop=1e-12).solve(p).z
    on = NewtonIteration(p, SpherePacking(p), solved)
    there = on.error
    on.offer(on.z + 1.0)
    assert on.error == there
    on.z, on.error = on.z + 1.0, on.error_of(on.z + 1.0)
    on.sweep(200)
    assert there < on.error == on.error_of(on.z) < 1e-2 * on.error_of(on.newton.begin(solved) + 1.0)
