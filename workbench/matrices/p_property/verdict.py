"""The P-matrix verdict: all principal minors positive, equivalent to one solution of LCP(q, M) for every q.

The verdict never depends on a rounding error: error bounds come first, then exact arithmetic for undecided signs, and
it has a witness or a proof (`witness`) that can be verified independently. Deciding takes exponential time in the worst
case (Coxson 1994), so an unfinished search is "undecided" after the time allowed.

Source: Samelson, Thrall and Wesler (Proc. AMS 9, 1958) for unique solvability.
"""

import itertools
from dataclasses import replace

import numpy as np
from flint import fmpq_mat
from numpy.typing import ArrayLike, NDArray

from workbench.engine.lazy import sparse
from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.linear_algebra.blocks import irreducible_blocks
from workbench.matrices.linear_algebra.definiteness import (
    EXACT_SIZE,
    positive_definite,
    proved_positive_definite,
    signs_of_form,
    symmetric_part,
)
from workbench.matrices.linear_algebra.rationals import doubles, exact, submatrix
from workbench.matrices.p_property.large import by_walk_and_tree
from workbench.matrices.p_property.minors import by_minors
from workbench.matrices.p_property.witness import PVerdict, first_loss, not_p
from workbench.support.errors import DataError

BY_SIZE = 14
"""Largest order for which all minors are computed, by size: a tenth of a second, with a smallest witness."""
LARGEST_BATCH_ORDER = 8
"""Largest order for which `smallest_minor` computes all 2^r - 1 minors of every matrix of a batch."""
INTERPRETED = 24
"""Largest order up to which a P verdict is a small task: its kernels run for milliseconds and compile for seconds."""


def p_verdict(M: fmpq_mat, seconds: float = 10.0) -> PVerdict:
    """Decide whether the rational matrix M (n, n) is a P-matrix, in about `seconds` (wall time) at most.

    In turn: the diagonal; a positive definite symmetric part; up to order `BY_SIZE` all minors; beyond, a diagonal W,
    a walk to a minor that is not positive, and the tree of principal pivots. Raises DataError when M is not square.
    """
    n = M.nrows()
    if n != M.ncols():
        raise DataError(f"the matrix is {n} x {M.ncols()}; the P-property needs a square one")
    deadline = clock() + seconds
    for i in range(n):
        if M[i, i] <= 0:
            return not_p(M, (i,), minors_checked=i + 1, exact_minors=i + 1)
    proof = _definite(M, deadline)
    if proof:
        return PVerdict("P", proof, tree=("diagonal", [1] * n))
    if n <= BY_SIZE:
        return by_minors(M, deadline)
    nonzero = np.array([x != 0 for x in M.entries()]).reshape(n, n)
    blocks = irreducible_blocks(sparse.csr_array(nonzero))
    if len(blocks) == 1:
        return by_walk_and_tree(M, deadline)
    return _by_blocks(M, blocks, deadline)


def _definite(M: fmpq_mat, deadline: float) -> str | None:
    """A proof that the symmetric part is positive definite, as text; None if it is not or none was found."""
    n = M.nrows()
    if n > BY_SIZE:
        values = doubles(M)
        if proved_positive_definite(values):
            return "the symmetric part is positive definite (Cholesky factor with an error bound)"
        # Exact arithmetic is slow here, and worth it only where floating point leaves the sign open.
        with np.errstate(over="ignore", invalid="ignore"):
            S = 0.5 * values + 0.5 * values.T
            clear = np.isfinite(S).all() and np.linalg.eigvalsh(S)[0] < -n * np.finfo(float).eps * np.abs(S).max() * n
        if n > EXACT_SIZE or clear:
            return None
        try:
            definite = positive_definite(symmetric_part(M), deadline)
        except OutOfTimeError:
            return None
        return "the symmetric part is positive definite (exact leading minors)" if definite else None
    try:
        signs = signs_of_form(symmetric_part(M), deadline)
    except OutOfTimeError:
        return None
    definite = signs.negative is None and not signs.singular
    return "the symmetric part is positive definite (exact LDL^T)" if definite else None


def p_verdict_of(M: ArrayLike, seconds: float = 10.0) -> PVerdict:
    """`p_verdict` of the matrix M (n, n) of doubles, taken as exact numbers."""
    rows = np.asarray(M, dtype=float).tolist()
    return p_verdict(fmpq_mat([[exact(x) for x in row] for row in rows]), seconds)


def _by_blocks(M: fmpq_mat, blocks: list[list[int]], deadline: float) -> PVerdict:
    """Principal minors of a block triangular matrix are products of those of its blocks."""
    trees, undecided = [], None
    for k, block in enumerate(blocks):
        share = max(0.0, deadline - clock()) / (len(blocks) - k)
        verdict = p_verdict(submatrix(M, block), share)
        if verdict.verdict == "not P":
            a = first_loss(M, [block[i] for i in verdict.index_set or ()])
            return not_p(M, a, verdict.minors_checked, verdict.exact_minors)
        if verdict.verdict == "undecided":
            undecided = undecided or verdict
        trees.append((block, verdict.tree))
    if undecided:
        return replace(undecided, reason=f"one of {len(blocks)} irreducible diagonal blocks: {undecided.reason}")
    tree = None if any(t is None for _, t in trees) else ("blocks", trees)
    return PVerdict("P", f"all {len(blocks)} diagonal blocks of its block triangular form are P-matrices", tree=tree)


def smallest_minor(D: ArrayLike) -> NDArray[np.float64]:
    """Smallest principal minor (...) of every matrix of a batch D (..., r, r), r <= 8, in floating point.

    Minors of different order differ in unit (that of an entry to the power of the order): the sign shows the loss of
    the P-property along a trajectory, the size only its approach. Raises DataError for another shape.
    """
    D = np.asarray(D, dtype=float)
    if D.ndim < 2 or D.shape[-1] != D.shape[-2] or not 1 <= D.shape[-1] <= LARGEST_BATCH_ORDER:
        raise DataError(f"D has shape {D.shape}; (..., r, r) with 1 <= r <= {LARGEST_BATCH_ORDER} is needed")
    r = D.shape[-1]
    smallest = np.full(D.shape[:-2], np.inf)
    for k in range(1, r + 1):
        for a in itertools.combinations(range(r), k):
            rows = np.array(a)[:, None]
            smallest = np.minimum(smallest, np.linalg.det(D[..., rows, list(a)]))
    return smallest
