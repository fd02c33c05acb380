"""The P-property by walks, diagonal stability and the tree of principal pivots."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from tests.proofs import holds, verified
from workbench.engine.timing import clock
from workbench.matrices.p_property.diagonal_stability import FOUND, find_diagonal, proved_diagonal
from workbench.matrices.p_property.large import Tree, by_walk_and_tree
from workbench.matrices.p_property.minors import by_minors
from workbench.matrices.p_property.quotients import Quotients
from workbench.matrices.p_property.scaled import Scaled
from workbench.matrices.p_property.tree import DONE, MINORS
from workbench.matrices.p_property.verdict import p_verdict
from workbench.readers.matrix import Matrix

ALWAYS = float("inf")


def exact(M):
    return Matrix(M).exact


def in_time(M, method=by_walk_and_tree, seconds=10.0):
    return method(exact(M), clock() + seconds)


def samples(count, seed):
    """Matrices with positive diagonals near the boundary, every third one of half integers: many minors vanish."""
    rng = np.random.default_rng(seed)
    while count:
        n = int(rng.integers(2, 9))
        M = rng.normal(size=(n, n)) + np.eye(n) * rng.uniform(0, 1.6 * np.sqrt(n))
        if count % 3 == 0:
            M = np.round(2 * M) / 2
        if count % 7 == 0:
            M[0] = M[1]
        if (np.diag(M) > 0).all():
            count -= 1
            yield M


@pytest.mark.thorough
def test_walks_and_tree_agree_with_all_minors_and_every_verdict_is_verified():
    verdicts = set()
    for M in samples(150, 1):
        expected, found = in_time(M, by_minors), in_time(M)
        assert found.verdict == expected.verdict
        assert verified(exact(M), found)
        verdicts.add(found.verdict)
    assert verdicts == {"P", "not P"}


@pytest.mark.thorough
def test_the_tree_alone_decides_and_its_proofs_have_branches():
    """Without the walk and the diagonal W of the whole matrix, which settle most small ones before."""
    verdicts, kinds = set(), set()
    for M in samples(120, 2):
        tree = Tree(exact(M), Scaled.of(exact(M)), ALWAYS)
        found = tree.go(clock() + 10)
        assert found.verdict == in_time(M, by_minors).verdict
        assert verified(exact(M), found)
        verdicts.add(found.verdict)
        kinds.add(found.tree and found.tree[0])
    assert (verdicts, kinds) == ({"P", "not P"}, {None, "minors"})
    found = Tree(exact(cyclic(15, 1.8)), Scaled.of(exact(cyclic(15, 1.8))), ALWAYS).go(clock() + 10)
    assert found.tree[0] == "branch"
    assert verified(exact(cyclic(15, 1.8)), found)


def cyclic(n, c):
    """I + c (cyclic shift): all minors are 1 but the last, 1 - (-c)^n; P for c > 1 if and only if n is odd."""
    return np.eye(n) + c * np.roll(np.eye(n), 1, axis=1)


@pytest.mark.parametrize(
    ("n", "c", "verdict"), [(15, 1.5, "P"), (16, 1.5, "not P"), (17, 1.9, "P"), (20, 1.9, "not P")]
)
def test_the_cyclic_matrix_has_one_minor_that_can_be_negative(n, c, verdict):
    found = p_verdict(exact(cyclic(n, c)))
    assert found.verdict == verdict
    assert verified(exact(cyclic(n, c)), found)
    if verdict == "not P":
        assert found.index_set == tuple(range(n))
        assert fmpq(found.minor) == 1 - fmpq(*c.as_integer_ratio()) ** n


def row_dominant(n, rng):
    """Two random entries a row, and the diagonal above their absolute sum by 0.1 %."""
    B = np.zeros((n, n))
    for i in range(n):
        a = rng.choice(np.delete(np.arange(n), i), 2, replace=False)
        B[i, a] = rng.normal(size=2)
        B[i, i] = 1.001 * np.abs(B[i, a]).sum()
    return B


def quotient_of(M, seconds=30.0):
    return Quotients(exact(M), Scaled.of(exact(M))).go(clock() + seconds)


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "kind"), [(6, "quotient"), (14, "quotient"), (15, "transpose")])
def test_a_quotient_of_row_dominant_matrices_is_seen(n, kind):
    rng = np.random.default_rng(n)
    B, C = row_dominant(n, rng), row_dominant(n, rng)
    M = np.exp(2 * rng.normal(size=n))[:, None] * (B @ np.linalg.inv(C)) * np.exp(2 * rng.normal(size=n))
    found = quotient_of(M if kind == "quotient" else M.T)
    assert found.verdict == "P"
    assert verified(exact(M if kind == "quotient" else M.T), found)
    # Both kinds may fit a matrix; the other way round the proof does not fit.
    assert not verified(exact(M.T if kind == "quotient" else M), found)


@pytest.mark.thorough
def test_quotients_are_seen_among_p_matrices_only():
    """Small P-matrices near the boundary tend to be quotients, the others cannot be."""
    seen = {(in_time(M, by_minors).verdict, quotient_of(M) is not None) for M in samples(8, 4)}
    assert seen == {("P", True), ("not P", False)}


def test_the_rows_of_both_factors_must_be_dominant():
    M = exact([[2.0, 1.0], [-1.0, 2.0]])
    tree = ("quotient", [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]])
    assert holds(M, tree)
    assert not holds(exact([[1.0, -1.0], [0.0, 1.0]]), ("quotient", [[fmpq(1), fmpq(1)], [fmpq(0), fmpq(1)]]))
    assert not holds(exact([[1.0, 1.0], [-1.0, 2.0]]), tree)
    assert not holds(M, ("quotient", [[fmpq(-1), fmpq(0)], [fmpq(0), fmpq(-1)]]))
    assert not holds(M, ("quotient", [[fmpq(1)]]))


def test_what_rounding_leaves_open_is_settled_exactly():
    """A minor of 2^-60 beside entries of one, and one of exactly zero: no float can tell."""
    n = 15
    for gap, verdict in ((2.0**-60, "P"), (0.0, "not P")):
        M = cyclic(n, 1.7)
        M[:2, :2] = [[1.0, 1.0], [1.0 - gap, 1.0]] if gap == 0 else [[2.0**30, 1.0], [2.0**30, 1.0 + 2.0**-50]]
        found = p_verdict(exact(M))
        assert found.verdict == verdict
        assert verified(exact(M), found)


def test_proofs_and_witnesses_that_are_tampered_with_do_not_verify():
    M = cyclic(15, 1.8)
    proof = p_verdict(exact(M))
    worse = M.copy()
    worse[0, 0] = -1e-9
    assert not verified(exact(worse), proof)
    assert not verified(exact(cyclic(15, -1.8)), proof)
    loss = p_verdict(exact(cyclic(16, 1.8)))
    assert not verified(exact(M), loss)
    assert not verified(exact(cyclic(16, 1.8)), replace(loss, sign_reversal=["0"] * 16))
    assert not verified(exact(cyclic(16, 1.8)), replace(loss, minor="-1"))


@pytest.mark.thorough
@pytest.mark.parametrize("n", [16, 24])
def test_scaled_structured_matrices_are_proved_by_one_diagonal(n):
    rng = np.random.default_rng(n)
    K = rng.uniform(size=(n, n))
    np.fill_diagonal(K, 0.0)
    H = 1.001 * np.abs(np.linalg.eigvals(K)).max() * np.eye(n) + K * rng.choice([-1, 1], (n, n))
    A, S = rng.normal(size=(2, n, n))
    for M in (H, A @ A.T / n + 0.01 * np.eye(n) + S - S.T):
        scaled = np.exp(2 * rng.normal(size=n))[:, None] * M * np.exp(2 * rng.normal(size=n))
        found = p_verdict(exact(scaled))
        assert found.verdict == "P"
        assert found.tree[0] == "diagonal"
        assert verified(exact(scaled), found)


def test_a_hidden_negative_minor_is_found():
    rng, n = np.random.default_rng(5), 60
    B = rng.normal(size=(n, n))
    M = B @ B.T / n + 0.5 * np.eye(n) + rng.normal(size=(n, n)) / np.sqrt(n)
    a = np.ix_(*2 * [np.sort(rng.choice(n, 20, replace=False))])
    U, s, V = np.linalg.svd(M[a])
    M[a] -= s[-1] * (1 + 1e-6) * np.outer(U[:, -1], V[-1])
    found = p_verdict(exact(M), 20.0)
    assert found.verdict == "not P"
    assert verified(exact(M), found)


def test_a_matrix_that_is_not_diagonally_stable_is_reported_from_one_that_is():
    w = np.empty(3)
    for c, stable in ((1.9, True), (2.1, False)):
        # I + c (shift of three) is diagonally stable for c < 2, since W = I is best by symmetry.
        assert (find_diagonal(cyclic(3, c), w, np.empty(3), 100) == FOUND) == stable
        assert proved_diagonal(exact(cyclic(3, c)), [fmpq(1)] * 3) == stable


def test_undecided_says_what_was_reached():
    found = p_verdict(exact(cyclic(61, 1.999)), 0.0)
    assert found.verdict == "undecided"
    assert "out of time" in found.reason
    assert not verified(exact(cyclic(61, 1.999)), found)


def test_a_finished_tree_says_done_once():
    tree = Tree(exact(np.eye(3)), Scaled.of(exact(np.eye(3))), ALWAYS)
    assert tree.search() == DONE
    assert tree.log[: tree.state[1]].tolist() == [MINORS, 3]
