"""What is claimed of contact blocks: when an answer counts, which is kept, how often a solver begins, what is local."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from tests.block_problems import cone, half_planes, intervals, pose
from tests.test_local import local_block, own, plain
from workbench.algorithms import block_islands, few_blocks, find_solver, small_cones
from workbench.algorithms.base import EXACT
from workbench.algorithms.contact_blocks import IslandAnswers
from workbench.algorithms.small_cones import VERIFIED
from workbench.problems import small_blocks
from workbench.problems.contact_blocks import ContactBlocks
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


def test_of_two_answers_the_better_one_is_kept_island_by_island():
    p = pair()
    assert p.part.tolist() == [0, 1]
    right = SOLVER.solve(p).z
    first, second = (np.where(np.arange(6) // 3 == k, right, 0.1) for k in (0, 1))
    progress = IslandAnswers(p, first.copy(), p.block_residuals(first))
    progress.offer(second)
    np.testing.assert_array_equal(progress.x, right)
    np.testing.assert_array_equal(progress.residuals, p.block_residuals(right))
    worse = np.full(3, 0.1)
    progress.put(np.array([0]), np.arange(3), worse, p.block_residuals(first)[1:])
    np.testing.assert_array_equal(progress.x, right)
    progress.residuals[0] = 1.0
    progress.put(np.array([0]), np.arange(3), worse, np.full(1, 0.5))
    np.testing.assert_array_equal(progress.x, np.append(worse, right[3:]))


@pytest.mark.parametrize(
    ("residuals", "begun"),
    [([1.0, 1.0, 1.0, 1.0], 3), ([1.0, 0.9 * VERIFIED], 2), ([1.1 * VERIFIED, 1.0, 0.0], 3), ([np.inf], 1)],
)
def test_the_solver_of_small_islands_begins_anew_until_it_is_verified(residuals, begun, monkeypatch):
    left = list(residuals)

    def fake(A, q, sets, start, z, info):
        assert start is z
        info[0] = 5
        return left.pop(0)

    # The same functions interpreted: what they call can be another then.
    monkeypatch.setattr(small_cones, "solve_small", fake)
    monkeypatch.setattr(few_blocks, "solve_anew", small_cones.solve_anew.py_func)
    monkeypatch.setattr(block_islands, "solve_dense", few_blocks.solve_dense.py_func)
    p = pair(0.3)
    assert block_islands.solve_islands(p, list(block_islands.islands(p)), np.zeros(6)) == 5 * begun
    assert len(left) == len(residuals) - begun


@pytest.mark.thorough
@pytest.mark.parametrize(("left", "goes_on"), [(0.9 * EXACT, False), (1.1 * EXACT, True)])
def test_cones_that_rounding_keeps_from_more_are_left(left, goes_on, monkeypatch):
    """Their solver has begun anew already; whoever asks for another residual gets it."""
    p = pair(0.3)
    monkeypatch.setattr(ContactBlocks, "block_residuals", lambda p, x: np.full(2, left))
    monkeypatch.setattr(few_blocks, "solved_few", lambda p, enough, at_last, *_: (left <= at_last, 1, 1))
    assert any("Newton" in stage for stage in SOLVER.solve(p).stages) == goes_on
    assert any("Newton" in stage for stage in SOLVER.adjusted(1e-12, None).solve(p).stages)


def test_only_methods_that_can_come_no_further_are_left_at_more_than_was_asked_for():
    """Asked for what rounding never gives: cones and LCPs are left where their methods end, other bounds go on."""
    plain, bounded = intervals(np.zeros(3), np.full(3, np.inf)), intervals(np.full(3, -9.0), np.full(3, 9.0))
    rng = np.random.default_rng(3)
    J, b = np.eye(6) + 0.2 * rng.standard_normal((6, 6)), -rng.uniform(0.1, 1.0, 6)
    for block, left in ((cone(3, 0.5), True), (plain, True), (bounded, False)):
        p = pose(np.eye(6), b, J, [block, block])
        x = np.zeros(p.size)
        residuals = p.block_residuals(x)
        assert few_blocks.solved_few(p, 1e-300, 1e-9, x, residuals)[0] == left
        assert 0 < residuals.max() < 1e-9
        np.testing.assert_array_equal(residuals, p.block_residuals(x))


def test_what_is_not_finite_of_a_guess_is_nothing(monkeypatch):
    p = pair(0.3)
    guess = SOLVER.solve(p).z
    guess[3:] = np.nan, np.inf, -np.inf
    begun = []
    monkeypatch.setattr(type(SOLVER), "all_islands", lambda self, progress: begun.append(progress.x.copy()))
    SOLVER.solve(p, guess)
    np.testing.assert_array_equal(begun, [np.append(guess[:3], np.zeros(3))])


@pytest.mark.parametrize("seed", [0, 5, 27])
def test_a_second_sweep_refines_a_block_by_itself(seed, monkeypatch):
    """Where W is nearly singular the first one leaves what its rounding makes."""
    J = np.ones((3, 3)) + 1e-5 * np.random.default_rng(seed).normal(size=(3, 3))
    p = pose(np.eye(3), -np.ones(3), J, [half_planes(0.5)])
    residuals = []
    for sweeps in (1, block_islands.SWEEPS_OF_ONE):
        monkeypatch.setattr(block_islands, "SWEEPS_OF_ONE", sweeps)
        x = np.zeros(p.size)
        block_islands.solve_single(p, np.array([0]), x)
        residuals.append(p.residual(x))
    assert residuals[1] < 0.1 * residuals[0]


def test_islands_of_bounds_are_pivoted_on_only_where_their_matrix_is_symmetric():
    one = intervals(np.full(3, -1.0), np.ones(3))
    askew = (*one[:2], one[2] + np.eye(3, k=1), *one[3:])
    for second, able in ((one, True), (askew, False)):
        J = np.eye(6) + np.eye(6, k=3)
        (island,) = block_islands.islands(pose(np.eye(6), -np.ones(6), J, [one, second]))
        assert island.method == (few_blocks.BOUNDED if able else few_blocks.MIXED)


@pytest.mark.parametrize("limit", ["MOST_ROWS", "MOST_UNKNOWNS", "MOST_VELOCITIES"])
def test_few_blocks_are_dense_up_to_each_limit_and_say_the_same_beyond(limit, monkeypatch):
    x = np.linspace(-1, 1, 6)
    expected = pair(0.3).block_residuals(x)
    for most, few in ((6, True), (5, False)):
        monkeypatch.setattr(small_blocks, limit, most)
        p = pair(0.3)
        assert (p.small is not None) == few
        assert p.block_residuals(x) == pytest.approx(expected)


def test_entries_of_zero_couple_nothing():
    for count in (2, 80):
        J = sparse.csr_array(np.eye(3 * count))
        J = sparse.csr_array((np.append(J.data, 0.0), np.append(J.indices, 0), np.append(J.indptr[:-1], J.nnz + 1)))
        p = pose(np.eye(3 * count), -np.ones(3 * count), J, [cone(3, 0.5)] * count)
        assert (p.small is None) == (count > 2)
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


def test_a_normal_along_which_nothing_moves_but_for_the_rounding_of_meshes_parts_nothing():
    pytest.importorskip("mujoco")
    from workbench.scenes.mujoco.rows import LOCKED, Collisions, Constraints, parts

    def of(normal, tangent=1.0):
        one, table, three = np.zeros(1, dtype=np.int32), np.zeros((1, 3)), np.arange(3, dtype=np.int32)
        J, length = np.array([normal, tangent, 0.5 * tangent]), np.ones(3, dtype=np.int32)
        rows = Constraints(J, length, *(three,) * 4, table[0])
        found = Collisions(one, one + 3, one[:, None], table, table, table[0], *(table,) * 5)
        return parts(rows, found, 0, LOCKED)

    assert [of(x) for x in (0.9e-3, 1.1e-3)] == [False, True]
    # Beside rows that are nothing themselves it is held against a length, of 1 mm.
    assert [of(x, 0.0) for x in (0.9e-6, 1.1e-6)] == [False, True]
