"""Check whether a tree of principal pivots proves a P-matrix.

M is a P-matrix if and only if, for any index i, m_ii > 0 and both the Schur complement M/m_ii and M without row and
column i are P-matrices (Tsatsomeros and Li, BIT 40, 2000). A tree is the list of its nodes in preorder, each with
positions among the remaining indices:

["branch", i]           m_ii > 0; what follows proves the Schur complement on i, then the matrix without i
["blocks", [[...], ...]] block triangular: zero where the row is in a later block; what follows proves each block
["diagonal", [w, ...]]  w > 0 and W N + N^T W is positive definite (Moylan, IEEE Trans. Autom. Control 22, 1977)
["quotient", C]         C (rows) and N C are strictly row-dominant, their diagonals positive: every principal minor of
                        N = (N C) C^-1 is a quotient of determinants of such matrices (Johnson and Tsatsomeros, Linear
                        Multilinear Algebra 38, 1995)
["transpose"]           what follows proves N^T
["minors"]              all principal minors are positive, which is repeated here

Standard library only.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from workbench.certificates.exact import (
    Integers,
    Rows,
    dot,
    index,
    indices,
    integer_rows,
    is_positive_definite,
    schur,
    symmetric,
    transposed,
    vector,
    without,
)
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError, TooLongError

LARGEST_MINORS = 16
"""Largest order for which all minors are recomputed, which takes some seconds."""


def check_tree(M: Rows, tree: Any) -> None:
    """Raise RefusedError unless the tree proves M a P-matrix."""
    if not isinstance(tree, list):
        raise RefusedError("the tree of principal pivots is not a list")
    lines = iter(tree)
    _check(*_start(M), lines)
    if next(lines, None) is not None:
        raise RefusedError("the tree continues after everything is proved")


def _start(M: Rows) -> tuple[Integers, int, list[int]]:
    A, factors = integer_rows(M)
    return A, 1, factors


def _is_dominant(N: Rows) -> bool:
    """Whether every diagonal entry exceeds the sum of the absolute values of the others in its row."""
    return all(row[i] + abs(row[i]) > sum(map(abs, row)) for i, row in enumerate(N))


def _check(A: Integers, previous: int, factors: list[int], lines: Iterator[Any]) -> None:
    """Check A / previous, the Schur complement with its rows multiplied by the factors; only signs matter."""
    check_time()
    n, line = len(A), next(lines, None)
    if not isinstance(line, list) or not line:
        raise RefusedError(f"the tree has no proof for a matrix of order {n}")
    kind, *data = line
    if kind == "minors" and not data:
        _repeat_minors(A, previous)
    elif kind == "branch" and len(data) == 1:
        p = index(data[0], n, "the position of a pivot")
        if A[p][p] <= 0:
            raise RefutedError(f"the pivot at position {p} of {n} is not positive")
        rest = [f for i, f in enumerate(factors) if i != p]
        if rest:
            _check(schur(A, p, previous), A[p][p], rest, lines)
            _check(without(A, p), previous, rest, lines)
    elif kind == "transpose" and not data:
        N = [[Fraction(x, f) for x in row] for row, f in zip(A, factors, strict=True)]
        _check(*_start(transposed(N)), lines)
    elif kind == "quotient" and len(data) == 1:
        _check_quotient(A, data[0])
    elif kind == "blocks" and len(data) == 1:
        _check_blocks(A, previous, factors, data[0], lines)
    elif kind == "diagonal" and len(data) == 1:
        w = vector(data[0], n, "the diagonal W")
        if min(w) <= 0:
            raise RefutedError(f"the diagonal W has the entry {min(w)}, which is not positive")
        scaled = [[w[i] / factors[i] * x for x in row] for i, row in enumerate(A)]
        if not is_positive_definite(symmetric(scaled)):
            raise RefutedError("W N + N^T W is not positive definite for the diagonal W of the certificate")
    else:
        raise RefusedError(f"the tree has a node {str(line)[:40]}, which is of no kind that is known")


def _check_quotient(A: Integers, given: Any) -> None:
    n = len(A)
    if not isinstance(given, list) or len(given) != n:
        raise RefusedError(f"C has not {n} rows")
    C = [vector(row, n, "a row of C") for row in given]
    columns = transposed(C)
    product = [[dot([Fraction(x) for x in row], column) for column in columns] for row in A]
    if not (_is_dominant(C) and _is_dominant(product)):
        raise RefutedError("C and N C are not strictly row-dominant with positive diagonals")


def _check_blocks(A: Integers, previous: int, factors: list[int], blocks: Any, lines: Iterator[Any]) -> None:
    n = len(A)
    if not isinstance(blocks, list):
        raise RefusedError("the blocks are not a list")
    found = [indices(block, n, "a block") for block in blocks]
    if sorted(i for block in found for i in block) != list(range(n)) or not all(found):
        raise RefusedError("the blocks do not share out all indices")
    for k, block in enumerate(found):
        earlier = [j for other in found[:k] for j in other]
        if any(A[i][j] for i in block for j in earlier):
            raise RefutedError("the matrix is not block triangular in these blocks")
    for block in found:
        _check([[A[i][j] for j in block] for i in block], previous, [factors[i] for i in block], lines)


def _repeat_minors(A: Integers, previous: int) -> None:
    if len(A) > LARGEST_MINORS:
        raise TooLongError(f"all minors of order {len(A)} are too many to repeat; {LARGEST_MINORS} is the most")
    stack = [(A, previous)]
    while stack:
        check_time()
        B, before = stack.pop()
        if B[-1][-1] <= 0:
            raise RefutedError(f"a principal minor is {'negative' if B[-1][-1] < 0 else 'zero'}")
        if len(B) > 1:
            p = len(B) - 1
            stack += [(schur(B, p, before), B[p][p]), (without(B, p), before)]
