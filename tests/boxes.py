"""Boxes of matrices for tests: by chance, their members, and what all vertex matrices tell of them."""

import itertools

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.readers.interval_matrix import IntervalMatrix


def rational(A):
    """The doubles of an array as exact numbers."""
    return fmpq_mat([[fmpq(*float(x).as_integer_ratio()) for x in row] for row in np.atleast_2d(A)])


def doubles(A):
    """An array of the doubles nearest to exact numbers."""
    return np.array([[int(x.p) / int(x.q) for x in row] for row in A.tolist()])


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


DOUBTFUL = 1e-6
"""Determinant of C - diag(z) D diag(z), of order 12 at most, up to which doubles do not tell its sign, if the rows
of |C| + D have length one.

Partial pivoting is exact for a matrix that differs by less than 12 * 12 * 2^11 * 2^-53 = 4e-11 in every entry
(Wilkinson's growth factor), which moves the determinant by less than 2e-9 (Hadamard's inequality).
"""


def vertex(box, a, z):
    """The block of index set a of C - diag(z) D diag(z), exactly; z has the signs of a alone."""
    C, D = box.centre, box.radius
    return fmpq_mat(
        [
            [C[i, j] - D[i, j] if y == x else C[i, j] + D[i, j] for j, x in zip(a, z, strict=True)]
            for i, y in zip(a, z, strict=True)
        ]
    )


def all_vertices_p(box):
    """Whether every matrix C - diag(z) D diag(z) has positive principal minors, all of them, exactly.

    A minor depends on the signs in its index set alone. Only determinants whose sign doubles do not tell are
    computed in rationals.
    """
    C, D = (np.array([[int(x.p) / int(x.q) for x in row] for row in X.tolist()]) for X in (box.centre, box.radius))
    for k in range(1, box.order + 1):
        signs = np.array([(1, *z) for z in itertools.product((1, -1), repeat=k - 1)])
        equal = signs[:, :, None] == signs[:, None, :]
        for a in itertools.combinations(range(box.order), k):
            part = np.ix_(a, a)
            blocks = np.where(equal, C[part] - D[part], C[part] + D[part])
            lengths = np.linalg.norm(np.abs(C[part]) + np.abs(D[part]), axis=1, keepdims=True)
            minors = np.linalg.det(blocks / np.where(lengths, lengths, 1))
            if np.any(minors < -DOUBTFUL):
                return False
            if any(vertex(box, a, z).det() <= 0 for z in signs[minors <= DOUBTFUL]):
                return False
    return True
