"""Boxes of matrices for tests: by chance, their members, and what all vertex matrices tell of them."""

import itertools

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.readers.interval_matrix import IntervalMatrix


def rational(A):
    """The doubles of an array as exact numbers."""
    return fmpq_mat([[fmpq(*float(x).as_integer_ratio()) for x in row] for row in np.atleast_2d(A)])


def random_box(rng, n, symmetric=False):
    """A box of order n with entries that are multiples of 1/16, some of them certain."""
    C = rng.integers(-16, 17, (n, n)) / 8 + rng.choice([0, 1, 2]) * np.eye(n)
    D = (
        rng.integers(0, 9, (n, n))
        / 16
        * rng.choice([1, 0.5, 0.25, 2])
        * (rng.random((n, n)) < rng.choice([0.3, 0.7, 1]))
    )
    if symmetric:
        C, D = (np.tril(X) + np.tril(X, -1).T for X in (C, D))
    return IntervalMatrix(rational(C), rational(D), symmetric)


def random_member(box, rng):
    """A member of the box."""
    n = box.order
    parts = rng.integers(-8, 9, (n, n))
    if box.symmetric:
        parts = np.tril(parts) + np.tril(parts, -1).T
    rows = [[box.centre[i, j] + box.radius[i, j] * fmpq(int(parts[i, j]), 8) for j in range(n)] for i in range(n)]
    return fmpq_mat(rows)


def index_sets(n):
    """All index sets but the empty one, the smallest first."""
    for k in range(1, n + 1):
        yield from itertools.combinations(range(n), k)


def all_vertices_p(box):
    """Whether every matrix C - diag(z) D diag(z) has positive principal minors, all of them, exactly.

    A minor depends on the signs in its index set alone.
    """
    C, D = box.centre.tolist(), box.radius.tolist()
    for a in index_sets(box.order):
        for z in itertools.product((1, -1), repeat=len(a) - 1):
            signs = dict(zip(a, (1, *z), strict=True))
            rows = [[C[i][j] - D[i][j] if signs[i] == signs[j] else C[i][j] + D[i][j] for j in a] for i in a]
            if fmpq_mat(rows).det() <= 0:
                return False
    return True
