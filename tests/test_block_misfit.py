"""Redundant contacts whose velocities do not fit together by little: found out by magnifying what does not fit."""

from dataclasses import replace

import numpy as np
import pytest

from tests.block_problems import cone, intervals, pose
from workbench.algorithms import block_newton, few_blocks, find_solver
from workbench.algorithms.block_islands import dense_matrix
from workbench.algorithms.block_misfit import misfit, solve_magnified

SOLVER = find_solver("blocks-exact")
CONTACTS, MU, PRESS, APART = 24, 0.2, 1e-3, 3e-12
HARD = (39, 45, 106, 143, 164, 172)
"""Seeds of which most are left unsolved by the solver of small islands."""


def resting(seed, apart=APART):
    """A plate on many contacts and a rubbing joint: nothing moves, but for `apart` that contacts ask for [m/s]."""
    rng = np.random.default_rng(seed)
    points = np.c_[rng.uniform(-1, 1, (CONTACTS, 2)), np.zeros(CONTACTS)]
    J = [np.r_[axis, np.cross(x, axis)] for x in points for axis in np.eye(3)[[2, 0, 1]]]
    free = PRESS * np.r_[0.9 * MU * rng.standard_normal(2), -1.0, 0.2 * rng.standard_normal(3)]
    M = np.diag([1, 1, 1, 0.4, 0.4, 0.4])
    blocks = [cone(3, MU) for _ in points] + [intervals([-1e-4], [1e-4])]
    c = np.append(apart * rng.standard_normal(3 * CONTACTS), 0.0)
    return replace(pose(M, M @ free, np.array([*J, np.eye(6)[5]]), blocks), c=c)


def almost(seed):
    """The answer of the problem in which all velocities fit."""
    return SOLVER.solve(resting(seed, 0.0)).z


@pytest.mark.parametrize("seed", HARD)
def test_what_does_not_fit_is_solved_from_where_it_is_magnified(seed):
    p, x = resting(seed), almost(seed)
    assert 1e-9 < p.residual(x) < 1e-7
    found, iterations = solve_magnified(p, x)
    assert p.residual(found) < 5e-10
    assert iterations > 0


def test_a_misfit_is_what_no_velocity_brings_about():
    p, x = resting(39), almost(39)
    left, A = misfit(p, x), dense_matrix(p)
    carrying = np.flatnonzero(left)
    assert np.linalg.norm(A[carrying].T @ left[carrying]) < 1e-6 * np.linalg.norm(A) * np.linalg.norm(left)
    assert 0.1 * APART < abs(left).max() < 10 * APART
    # Without it some motion of the plate is what all of them ask for.
    J, asked = p.J.toarray()[carrying], (left - p.c)[carrying]
    v = np.linalg.lstsq(J, asked, rcond=None)[0]
    assert abs(J @ v - asked).max() < 1e-3 * APART < abs(asked).max()


def test_what_is_open_slides_or_lies_on_its_bound_has_no_misfit():
    """The first contact carries nothing, the second slides along its first axis, on ice; the others bear it."""
    x = almost(39)
    assert misfit(resting(39), x)[[0, 1, 2, 3, 4, 5, -1]].all()
    p, gone, J = resting(39), [0, 1, 2, 4, 5], resting(39).J.toarray()
    x[6:-1] += np.linalg.lstsq(J[6:-1].T, J[gone].T @ x[gone], rcond=None)[0]
    x[gone], p.mu[1], p.mu[2:-1], p.upper[-1] = 0.0, 0.0, 1.0, x[-1]
    p.c[4] += 1e-3
    left = misfit(p, x)
    assert p.residual(x) < 1e-7
    assert not left[[0, 1, 2, 4, -1]].any()
    assert left[[3, 5, 6, 7, 8]].all()


def test_where_all_fits_nothing_is_magnified():
    p, x = resting(39, 0.0), almost(39)
    assert solve_magnified(p, x * (1.0 + 1e-8)) is None
    sliding = replace(p, b=p.b + 0.01 * p.M.diagonal())
    assert solve_magnified(sliding, x) is None


def test_the_solver_comes_to_it_where_other_methods_stop_short(monkeypatch):
    p, x = resting(39), almost(39)
    monkeypatch.setattr(few_blocks, "solved_few", lambda *_: (False, 0, 0))
    monkeypatch.setattr(block_newton, "solve_island", lambda part, guess, *_: (guess, 0, ()))
    found = SOLVER.solve(p, x)
    assert found.verified
    assert "what does not fit" in found.stages[-1]
    assert not SOLVER.adjusted(None, 20).solve(p, x).verified
