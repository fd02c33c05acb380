"""Contact blocks of one kind as the dense problem that they are: F = (L W R + N) x + q over all of W."""

import numpy as np
from numpy.typing import NDArray

from workbench.errors import DataError
from workbench.problems.classes import LCP, MLCP, Array, ConicQP, CoulombNCP, Problem
from workbench.problems.contact_blocks import ASSOCIATED, COULOMB, NO_CONE, ContactBlocks


def dense_matrix(p: ContactBlocks) -> Array:
    """L W R + N (X, X)."""
    L, N, R = p.whole
    if not p.b.size:
        return N.toarray()
    J = p.rows.toarray()
    return L @ (J @ p.inertia.response(J.T)) @ R.toarray() + N.toarray()


def normals_first(p: ContactBlocks) -> NDArray[np.int64]:
    """Where the unknowns [n (r), t (d r)] of a friction-cone problem stand in x, blocks of cones with as many rows."""
    first = p.unknown[:-1]
    m = p.size // p.blocks
    return np.concatenate([first, (first[:, None] + np.arange(1, m)).ravel()])


def dense(p: ContactBlocks) -> tuple[Problem, NDArray[np.int64]]:
    """An LCP, MLCP, ConicQP or CoulombNCP, and where its unknowns stand in x.

    Raises DataError for blocks of several kinds, and for cones in other than one or two directions.
    """
    A, q, laws = dense_matrix(p), p.free[1], set(p.cone.tolist())
    if laws <= {NO_CONE}:
        plain = not p.lower.any() and bool((p.upper == np.inf).all())
        return LCP(A, q) if plain else MLCP(A, q, p.lower, p.upper), np.arange(p.size)
    directions = set((np.diff(p.unknown) - 1).tolist())
    if laws not in ({COULOMB}, {ASSOCIATED}) or not directions <= {1, 2} or len(directions) > 1:
        raise DataError("blocks of several kinds are no dense problem of one kind")
    order = normals_first(p)
    law = CoulombNCP if laws == {COULOMB} else ConicQP
    return law(A[np.ix_(order, order)], q[order], p.mu, directions.pop()), order
