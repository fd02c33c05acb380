"""However the matrix of a problem is held, it is the same matrix, and measures the same."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tests.block_problems import KINDS, random_blocks
from workbench.problems.bridges import BRIDGES
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
from workbench.problems.sets import COULOMB

OVER = {bridge.name: bridge for bridge in BRIDGES}


def two_islands(rng, law):
    """Two bodies of six velocities, one of them held by a bilateral row, two contacts on each."""
    M = sparse.block_diag([(lambda X: X @ X.T + np.eye(6))(rng.normal(size=(6, 6))) for _ in range(2)])
    H = np.zeros((12, 12))
    # Unknowns [n (4), t (8)]: contacts 0 and 2 touch the first body.
    for i in range(4):
        columns = [i, 4 + 2 * i, 5 + 2 * i]
        body = slice(0, 6) if i % 2 == 0 else slice(6, 12)
        H[body, columns] = rng.normal(size=(6, 3))
    G = np.zeros((12, 1))
    G[:6, 0] = rng.normal(size=6)
    f, w, mu = rng.normal(size=12), rng.normal(size=12), rng.uniform(0.1, 2.0, 4)
    return law(GlobalFrictionProblem(M, H, f, w, mu, 2, G, rng.normal(size=1)))


def problems():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(6, 4))
    W, q, mu = X @ X.T + 0.1 * np.eye(6), rng.normal(size=6), np.array([0.3, 1.2])
    islands = np.kron(np.eye(2), W[:3, :3])
    yield from (
        LCP(W, q),
        MLCP(W, q, -np.ones(6), 2.0),
        ConicQP(W, q, mu),
        CoulombNCP(sparse.csr_array(islands), q, mu),
    )
    yield from (two_islands(rng, law) for law in (GlobalConicQP, GlobalCoulombNCP))
    yield from (random_blocks(rng, [name], count=4, bodies=3) for name in KINDS)
    yield OVER["its sets one by one"].forward(CoulombNCP(W, q, mu)).problem


PROBLEMS = list(problems())


def as_array(problem):
    """A over x, column by column."""
    A = problem.by_set.operator
    return np.stack([A.products(e)[0] for e in np.eye(problem.size)], axis=1)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.kind)
def test_an_operator_is_one_matrix_whatever_it_is_asked(problem):
    p = problem.by_set
    A, first = as_array(problem), p.sets.first
    np.testing.assert_allclose(p.operator.diagonal, np.diag(A), atol=1e-11)
    own = np.concatenate([A[a:b, a:b].ravel() for a, b in pairwise(first)])
    np.testing.assert_allclose(p.operator.own, own, atol=1e-11)
    if p.operator.why_no_factors() is None:
        J, V = p.operator.factors()
        np.testing.assert_allclose((J @ V.T).toarray(), A, atol=1e-11)
    set_of = np.repeat(np.arange(p.sets.cone.size), np.diff(first))
    row, column = np.nonzero(abs(A) > 1e-9)
    met = sparse.coo_array((np.ones(row.size), (set_of[row], set_of[column])), shape=(p.sets.cone.size,) * 2)
    labels = connected_components(met.tocsr(), directed=False)[1]
    least = np.array([np.flatnonzero(labels == label)[0] for label in labels])
    np.testing.assert_array_equal(p.part, least)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.kind)
def test_velocities_and_shifts_are_those_of_the_matrix(problem):
    rng = np.random.default_rng(5)
    p, z = problem.by_set, rng.normal(size=problem.size)
    x = p.unknowns(z)
    np.testing.assert_allclose(p.plain(x), z, rtol=1e-14)
    F = problem.velocity(z)
    np.testing.assert_allclose(F[p.order], (as_array(problem) @ x + p.q) / p.unit, atol=1e-11)
    shift = np.zeros(problem.size)
    for i in np.flatnonzero(p.sets.cone == COULOMB):
        rows = p.order[p.sets.first[i] : p.sets.first[i + 1]]
        shift[rows[0]] = p.sets.mu[i] * np.linalg.norm(F[rows[1:]])
    np.testing.assert_allclose(problem.shift(F), shift, rtol=1e-12)


def test_a_problem_measures_the_same_over_bodies_over_W_and_as_blocks():
    rng = np.random.default_rng(3)
    for law in (GlobalConicQP, GlobalCoulombNCP):
        over_bodies = two_islands(rng, law)
        over_W = OVER["W formed"].forward(over_bodies).problem
        blocks = OVER["contacts and bilateral rows as blocks"].forward(over_bodies)
        mixed = OVER["its sets one by one"].forward(over_W).problem
        z = rng.normal(size=over_bodies.size)
        expected = over_bodies.residual(z)
        assert over_W.residual(z) == pytest.approx(expected, rel=1e-9)
        assert mixed.residual(z) == pytest.approx(expected, rel=1e-9)
        # What holds a body counts as motion of its contacts where it is a block of its own.
        x = blocks.there(z)
        free = blocks.problem.block_residuals(x)[[1, 3]]
        np.testing.assert_allclose(free, over_bodies.block_residuals(z)[[1, 3]], rtol=1e-9)
        assert OVER["L W R + N formed"].forward(blocks.problem).problem.residual(x) == pytest.approx(
            blocks.problem.residual(x), rel=1e-9
        )


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.kind)
def test_the_size_of_what_cancels_does_not_cancel(problem):
    """Round-off is that of the terms: a row whose velocity is zero has as much of it as the others."""
    A, rng = as_array(problem), np.random.default_rng(6)
    for i in np.flatnonzero(np.count_nonzero(A, axis=1) > 1):
        x = rng.normal(size=problem.size)
        x -= (A[i] @ x) / (A[i] @ A[i]) * A[i]
        velocity, size = problem.by_set.operator.products(x)
        assert abs(velocity[i]) < 1e-12 * size.max()
        assert size[i] > 1e-3 * size.max()
