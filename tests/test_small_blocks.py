"""Few contact blocks, dense and compiled: the numbers of the sparse way."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from tests.block_problems import KINDS, random_blocks
from workbench.problems.sets import NO_CONE
from workbench.support.errors import DataError


def both_ways(p):
    """The problem as it is, and once more as one of many blocks."""
    sparsely = replace(p)
    vars(sparsely)["few"] = None
    assert p.few is not None
    return p, sparsely


@pytest.mark.parametrize("seed", range(12))
def test_few_blocks_have_the_numbers_of_the_sparse_way(seed):
    rng = np.random.default_rng(seed)
    p = random_blocks(rng, sorted(KINDS), count=6, bodies=3, spread=0.5)
    # Constant impulses where there is no cone, and entries of J that are stored as two, which add up.
    s = np.where(p.cone[p.block_of_row] == NO_CONE, rng.standard_normal(p.s.size), 0.0)
    halves = np.column_stack([0.25 * p.J.data, 0.75 * p.J.data]).ravel(), np.repeat(p.J.indices, 2), 2 * p.J.indptr
    one, other = both_ways(replace(p, s=s, J=sparse.csr_array(halves, shape=p.J.shape)))
    assert one.J.nnz == 2 * p.J.nnz
    must_agree(one, other, rng.standard_normal(one.size))


@pytest.mark.parametrize("seed", range(4))
def test_few_blocks_may_be_among_many_bodies_with_masses_of_their_own(seed):
    rng = np.random.default_rng(seed)
    few = random_blocks(rng, sorted(KINDS), count=6, bodies=3, spread=0.5)
    n, entries = 3000, few.J.tocoo()
    columns = rng.permutation(n)[entries.col + 7]
    J = sparse.csr_array((entries.data, (entries.row, columns)), shape=(few.s.size, n))
    p = replace(few, M=sparse.diags_array(10 ** rng.uniform(-1, 1, n)), J=J, b=rng.standard_normal(n))
    must_agree(*both_ways(p), rng.standard_normal(p.size))
    coupled = p.M.tolil()
    coupled[0, 1] = coupled[1, 0] = 1e-3
    assert replace(p, M=sparse.csr_array(coupled)).few is None


def test_each_problem_has_the_masses_that_it_states():
    _, p = both_ways(random_blocks(np.random.default_rng(3), sorted(KINDS), count=6, bodies=3))
    x, rest = np.ones(p.size), replace(p, b=0.0 * p.b)
    vars(rest)["few"] = None
    v = rest.velocities(x)
    _, heavy = both_ways(replace(rest, M=4.0 * p.M))
    np.testing.assert_allclose(heavy.velocities(x), 0.25 * v, rtol=1e-9, atol=1e-12 * np.abs(v).max())
    np.testing.assert_array_equal(rest.velocities(x), v)


def must_agree(one, other, x):
    """Both have the same numbers, about answers x (X,)."""
    before = one.b.copy()
    (v, *free), (v_other, *free_other) = one.free, other.free
    pairs = [
        *zip(one.own, other.own, strict=True), *zip(free, free_other, strict=True), (v, v_other),
        (one.moved(x), other.moved(x)), (one.velocities(x), other.velocities(x)), (one.impulses(x), other.impulses(x)),
    ]  # fmt: skip
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1.0, np.abs(b).max(initial=0.0)))
    np.testing.assert_array_equal(one.b, before)
    np.testing.assert_array_equal(one.part, other.part)
    same = one.body[:, None] == one.body
    np.testing.assert_array_equal(same, other.body[:, None] == other.body)
    np.testing.assert_allclose(one.block_residuals(x), other.block_residuals(x), rtol=1e-9)


def test_a_singular_mass_matrix_is_reported_as_ever():
    p = random_blocks(np.random.default_rng(0), sorted(KINDS), count=3, bodies=2)
    M = p.M.toarray()
    M[0, 1] = M[1, 0] = np.sqrt(M[0, 0] * M[1, 1])
    M[0, 2:] = M[2:, 0] = M[1, 2:] = M[2:, 1] = 0.0
    with pytest.raises(DataError, match="is singular; it must be positive definite"):
        replace(p, M=sparse.csr_array(M)).velocities(np.zeros(p.size))
