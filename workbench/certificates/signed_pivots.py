"""Check whether a tree of principal pivots proves that every matrix of a box is a P-matrix.

The box |A - C| <= D is P if and only if the matrices A_z = C - diag(z) D diag(z), z a vector of signs, are: for x with
the signs z, x_i (A x)_i >= x_i (A_z x)_i (Bialas and Garloff, Linear Algebra Appl. 58, 1984; Rohn and Rex, SIAM J.
Matrix Anal. Appl. 17, 1996). A principal minor of A_z depends on the signs of its index set alone, and within a
connected component of the entries with D_ij + D_ji > 0 on them up to a common sign. Each index i is doubled to (i, +)
and (i, -), with entries C - D for equal signs and C + D for unequal ones; the hull of ij is that of its four entries.

A tree is the list of its nodes in preorder, each with positions among the remaining indices (`pivots`):

["branch", i]          both diagonal entries of i are positive; what follows proves the Schur complement on (i, +), then
                       that on (i, -) if an index of the component of i is pivoted already, then what remains without i
["dominant", u]        u > 0, and K u > 0 for the comparison matrix K of the hull: lower diagonal, largest moduli off it
["diagonal", w, u]     w, u > 0, W = diag(w), centre N and radius R of the hull, R zero and N lower on the diagonal:
                       W N + N^T W - diag(v) is positive definite, v_i = sum_j (w_i R_ij + w_j R_ji) u_j / u_i
["minors"]             one index is left, and both of its entries are positive

Standard library only.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from workbench.certificates.exact import (
    Integers,
    Rows,
    Vector,
    index,
    integers,
    is_positive_definite,
    schur,
    vector,
    without,
)
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError

Hull = list[list[tuple[int, int]]]


def components(D: Rows) -> list[int]:
    """For each index the least index of its connected component of uncertain entries."""
    n = len(D)
    label = list(range(n))
    for i in range(n):
        for j in range(n):
            if D[i][j] and label[i] != label[j]:
                old, new = max(label[i], label[j]), min(label[i], label[j])
                label = [new if x == old else x for x in label]
    return label


def check_signed_tree(C: Rows, D: Rows, tree: Any) -> None:
    """Raise RefusedError unless the tree proves every A with |A - C| <= D a P-matrix."""
    if not isinstance(tree, list):
        raise RefusedError("the tree of principal pivots is not a list")
    n = range(len(C))
    doubled = [
        [C[i][j] - D[i][j] if s == t else C[i][j] + D[i][j] for j in n for t in (0, 1)] for i in n for s in (0, 1)
    ]
    lines = iter(tree)
    _check(integers(doubled), 1, list(n), frozenset(), components(D), lines)
    if next(lines, None) is not None:
        raise RefusedError("the tree continues after everything is proved")


def _check(
    A: Integers, previous: int, rest: list[int], pivoted: frozenset[int], component: list[int], lines: Iterator[Any]
) -> None:
    """Check the doubled matrix of the indices `rest`, times a positive factor; `pivoted` are components."""
    check_time()
    m, line = len(rest), next(lines, None)
    if not isinstance(line, list) or not line:
        raise RefusedError(f"the tree has no proof for {m} indices")
    kind, *data = line
    if kind == "branch" and len(data) == 1:
        p = index(data[0], m, "the position of a pivot")
        _check_diagonal(A, p)
        own = component[rest[p]]
        left = rest[:p] + rest[p + 1 :]
        if left:
            for sign in range(1 + (own in pivoted)):
                k = 2 * p + sign
                # The partner has moved to 2 p, or stays there.
                _check(without(schur(A, k, previous), 2 * p), A[k][k], left, pivoted | {own}, component, lines)
            _check(without(without(A, 2 * p), 2 * p), previous, left, pivoted, component, lines)
    elif kind == "minors" and not data and m == 1:
        _check_diagonal(A, 0)
    elif kind == "dominant" and len(data) == 1:
        _check_dominant(_hull(A), vector(data[0], m, "u"))
    elif kind == "diagonal" and len(data) == 2:
        _check_stable(_hull(A), vector(data[0], m, "the diagonal W"), vector(data[1], m, "u"))
    else:
        raise RefusedError(f"the tree has a node {str(line)[:40]}, which is of no kind that is known")


def _check_diagonal(A: Integers, p: int) -> None:
    if min(A[2 * p][2 * p], A[2 * p + 1][2 * p + 1]) <= 0:
        raise RefutedError(f"the pivot at position {p} of {len(A) // 2} is not positive for all signs")


def _hull(A: Integers) -> Hull:
    """Least and largest entries over the signs; on the diagonal those of equal signs."""
    m = range(len(A) // 2)
    found = []
    for i in m:
        check_time()
        row = []
        for j in m:
            four = (A[2 * i][2 * j], A[2 * i + 1][2 * j + 1], A[2 * i][2 * j + 1], A[2 * i + 1][2 * j])
            some = four[:2] if i == j else four
            row.append((min(some), max(some)))
        found.append(row)
    return found


def _check_dominant(hull: Hull, u: Vector) -> None:
    for i, row in enumerate(hull):
        check_time()
        others = sum((max(-low, high) * u[j] for j, (low, high) in enumerate(row) if j != i), Fraction(0))
        if min(u) <= 0 or row[i][0] * u[i] <= others:
            raise RefutedError("u does not show the hull of a node dominant")


def _check_stable(hull: Hull, w: Vector, u: Vector) -> None:
    m = range(len(hull))
    if min(*w, *u) <= 0:
        raise RefutedError("the diagonal W or u has an entry that is not positive")
    # Twice centre and radius, so that they stay whole.
    N = [[2 * low if i == j else low + high for j, (low, high) in enumerate(row)] for i, row in enumerate(hull)]
    R = [[0 if i == j else high - low for j, (low, high) in enumerate(row)] for i, row in enumerate(hull)]
    S = []
    for i in m:
        check_time()
        v = sum(((w[i] * R[i][j] + w[j] * R[j][i]) * u[j] for j in m), Fraction(0)) / u[i]
        S.append([w[i] * N[i][j] + w[j] * N[j][i] - (v if i == j else 0) for j in m])
    if not is_positive_definite(S):
        raise RefutedError("W does not show that the matrices of a node's hull are positive definite with it")
