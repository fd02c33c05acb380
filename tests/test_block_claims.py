"""What is claimed of contact blocks: when an answer counts, which is kept, how often a solver begins, what is local."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from tests.block_problems import cone, half_planes, intervals, pose
from tests.test_local import local_block, own, plain
from workbench.algorithms import find_solver
from workbench.problems.solution import Status
from workbench.support.errors import DataError, ModellingError

SOLVER = find_solver("blocks-exact")


def pair(couple=0.0):
    """Two bodies of three velocities with a cone each; with `couple` the second one acts on both."""
    J = np.eye(6)
    J[3, 0] = couple
    return pose(np.eye(6), -np.ones(6), sparse.csr_array(J), [cone(3, 0.5), cone(3, 0.5)])


def test_an_answer_counts_up_to_the_tolerance_and_not_beyond():
    p = pair(0.3)
    short = SOLVER.adjusted(1e-3, None).solve(p, SOLVER.solve(p).z * (1 + 1e-5))
    assert 1e-7 < short.residual < 1e-3
    for share, claimed in ((1.01, Status.SOLVED), (0.99, Status.INACCURATE)):
        at_bound = replace(SOLVER, enough=1e-3, tolerance=share * short.residual)
        found = at_bound.solve(p, SOLVER.solve(p).z * (1 + 1e-5))
        assert (found.residual, found.claimed) == (short.residual, claimed)
        assert bool(found.reason) == (claimed is not Status.SOLVED)


def test_what_is_not_finite_of_a_guess_is_nothing(monkeypatch):
    p = pair(0.3)
    guess = SOLVER.solve(p).z
    guess[3:] = np.nan, np.inf, -np.inf
    begun = []
    monkeypatch.setattr(type(SOLVER), "all_islands", lambda self, progress: begun.append(progress.x.copy()))
    SOLVER.solve(p, guess)
    np.testing.assert_array_equal(begun, [np.append(guess[:3], np.zeros(3))])


def test_entries_of_zero_couple_nothing():
    for count in (2, 80):
        J = sparse.csr_array(np.eye(3 * count))
        J = sparse.csr_array((np.append(J.data, 0.0), np.append(J.indices, 0), np.append(J.indptr[:-1], J.nnz + 1)))
        p = pose(np.eye(3 * count), -np.ones(3 * count), J, [cone(3, 0.5)] * count)
        assert (p.few is None) == (count > 2)
        assert p.J.nnz == 3 * count + 1
        assert p.part.tolist() == list(range(count))


def test_what_is_not_finite_has_no_residual():
    p = pair()
    for strange in (np.nan, np.inf):
        x = np.zeros(6)
        x[0] = strange
        assert (p.block_residuals(x) == np.inf).all()


def test_bounds_and_impulses_that_cannot_be_are_reported():
    p = pose(np.eye(6), np.zeros(6), sparse.eye_array(6), [cone(3, 0.5), intervals([0.0] * 3, [1.0] * 3)])
    none = np.array([0.0, 0.0, 0.0, -np.inf, 0.0, 0.0])
    with pytest.raises(DataError, match=r"lower\[3\] = -inf and upper\[3\] = -inf leave no finite number"):
        replace(p, lower=none, upper=np.where(none < 0, none, 1.0))
    for changes in ({"s": np.array([0.0, 1.0, 0, 0, 0, 0])}, {"R": 2 * p.R}):
        with pytest.raises(DataError, match="R = 1 and s = 0 are needed"):
            replace(p, **changes)


LITTLE = 1e-6


@pytest.mark.parametrize(
    "change",
    [
        lambda s, v, p_n: plain(s, v, p_n, LITTLE * (np.ones((s.r, s.r)) @ p_n)),
        # Two contacts are as one says, three are not.
        lambda s, v, p_n: plain(s, v, p_n, 0.5 if s.r == 3 else 0.25),
    ],
    ids=["a little", "three contacts"],
)
def test_a_little_that_is_not_local_is_reported(change):
    with pytest.raises(ModellingError, match=r"its relations at [23] contacts are not those of one"):
        local_block(own(change), 2)


def test_of_two_answers_the_better_one_is_kept_island_by_island():
    p = pair()
    assert p.part.tolist() == [0, 1]
    right = SOLVER.solve(p).z
    for k in range(2):
        found = SOLVER.solve(p, np.where(np.arange(6) // 3 == k, right, 0.1))
        np.testing.assert_array_equal(found.z[3 * k : 3 * k + 3], right[3 * k : 3 * k + 3])
        assert found.verified


@pytest.mark.parametrize("seed", [0, 5, 27])
def test_a_block_whose_matrix_is_nearly_singular_is_solved_beyond_its_rounding(seed):
    J = np.ones((3, 3)) + 1e-5 * np.random.default_rng(seed).normal(size=(3, 3))
    assert SOLVER.solve(pose(np.eye(3), -np.ones(3), J, [half_planes(0.5)])).verified


def test_islands_of_bounds_are_solved_whether_or_not_their_matrix_is_symmetric():
    one = intervals(np.full(3, -1.0), np.ones(3))
    askew = (*one[:2], one[2] + np.eye(3, k=1), *one[3:])
    for second in (one, askew):
        p = pose(np.eye(6), -np.ones(6), np.eye(6) + np.eye(6, k=3), [one, second])
        assert SOLVER.solve(p).residual <= 1e-12


def test_blocks_have_the_same_residuals_alone_and_among_many():
    x = np.linspace(-1, 1, 6)
    alone, many = pair(0.3), 100
    J = sparse.block_diag([alone.J.toarray()] * many, format="csr")
    together = pose(np.eye(6 * many), -np.ones(6 * many), J, [cone(3, 0.5)] * (2 * many))
    np.testing.assert_allclose(together.block_residuals(np.tile(x, many)), np.tile(alone.block_residuals(x), many))


def test_a_normal_along_which_nothing_moves_but_for_the_rounding_of_meshes_parts_nothing():
    pytest.importorskip("mujoco")
    from workbench.scenes.mujoco.rows import LOCKED, Collisions, Constraints, parts

    def of(normal, tangent=1.0):
        one, table, three = np.zeros(1, dtype=np.int32), np.zeros((1, 3)), np.arange(3, dtype=np.int32)
        J, length = np.array([normal, tangent, 0.5 * tangent]), np.ones(3, dtype=np.int32)
        rows = Constraints(J, length, *(three,) * 4, *(table[0],) * 4)
        found = Collisions(one, one + 3, one[:, None], table, table, table[0], *(table,) * 5)
        return parts(rows, found, 0, LOCKED)

    assert [of(x) for x in (0.9e-3, 1.1e-3)] == [False, True]
    # Beside rows that are nothing themselves it is held against a length, of 1 mm.
    assert [of(x, 0.0) for x in (0.9e-6, 1.1e-6)] == [False, True]
