"""Bounds of the solutions of an uncertain LCP over the symmetric matrices of a box, on one basis, and their proofs.

On a basis a the solution is z_a = -M_aa^-1 q_a. With R = M_aa^-1 it changes with the symmetric pair of entries ij by
-(R_ki z_j + R_kj z_i), with q_i by -R_ki. Where such a derivative keeps its sign on a part of the box, an optimum of
z_k has that entry at an end; parts with entries left open are halved, best bound first. The optimum is exact once
the part that is best has shrunk to a point.
"""

import heapq
import itertools
from dataclasses import dataclass
from typing import NamedTuple

from flint import fmpq, fmpq_mat

from workbench.engine.timing import OutOfTimeError, check_clock
from workbench.matrices.linear_algebra.rationals import identity, moduli, submatrix
from workbench.readers.interval_matrix import IntervalMatrix

Interval = tuple[fmpq, fmpq]


class BasisPart(NamedTuple):
    """Centres and radii of M (m, m), symmetric, and q (m, 1) on the basis."""

    M: fmpq_mat
    D: fmpq_mat
    q: fmpq_mat
    d: fmpq_mat


@dataclass(frozen=True, eq=False)
class EnclosedBasis:
    """z (m) and R (m, m) at the centre, and how far they move in the part."""

    z: list[fmpq]
    R: fmpq_mat
    dz: list[fmpq]
    dR: fmpq_mat

    def slope(self, k: int, i: int, j: int) -> Interval:
        """The derivative of z_k by the entries ij and ji of M; by q_i where j is -1."""
        first = (self.R[k, i] - self.dR[k, i], self.R[k, i] + self.dR[k, i])
        if j < 0:
            return -first[1], -first[0]
        low, high = _product(first, (self.z[j] - self.dz[j], self.z[j] + self.dz[j]))
        if i != j:
            second = (self.R[k, j] - self.dR[k, j], self.R[k, j] + self.dR[k, j])
            other = _product(second, (self.z[i] - self.dz[i], self.z[i] + self.dz[i]))
            low, high = low + other[0], high + other[1]
        return -high, -low


def _product(x: Interval, y: Interval) -> Interval:
    ends = [u * v for u in x for v in y]
    return min(ends), max(ends)


def symmetric_extreme(
    M: IntervalMatrix, q: IntervalMatrix, basis: tuple[int, ...], k: int, sign: int, deadline: float
) -> tuple[fmpq, bool] | None:
    """The least sign * z_k over the symmetric M of the box, k a position of the basis, and whether it is exact (else a
    bound below it); None where not even a bound was found."""
    numbers = itertools.count()
    heap: list[tuple] = []

    def add(one: BasisPart) -> bool:
        """Whether the part could be bounded."""
        one, found, _ = _at_ends(one, k, sign)
        if found is None:
            return False
        heapq.heappush(heap, (sign * found.z[k] - found.dz[k], next(numbers), one, found))
        return True

    if not add(_on_basis(M, q, basis)):
        return None
    while True:
        bound, _, one, found = heapq.heappop(heap)
        if found.dz[k] == 0:
            return bound, True
        try:
            check_clock(deadline)
        except OutOfTimeError:
            return bound, False
        if not all(add(half) for half in _halves(one, *_widest(one, found, k))):
            return bound, False


def symmetric_cover(
    M: IntervalMatrix, q: IntervalMatrix, basis: tuple[int, ...], k: int, sign: int, value: fmpq, deadline: float
) -> list[list] | None:
    """The proof that sign * z_k >= value, k a position of the basis: nodes in preorder (`certificates.symmetric`);
    None where the parts cannot be bounded by it. Raises OutOfTimeError."""
    nodes: list[list] = []
    stack = [_on_basis(M, q, basis)]
    while stack:
        check_clock(deadline)
        one, found, moves = _at_ends(stack.pop(), k, sign)
        nodes += [["ends"]] * moves
        if found is None:
            return None
        if sign * found.z[k] - found.dz[k] >= value:
            nodes.append(["bound"])
        elif not _uncertain(one):
            return None
        else:
            i, j = _widest(one, found, k)
            nodes.append(["cut", i, j])
            stack += reversed(_halves(one, i, j))
    return nodes


def _on_basis(M: IntervalMatrix, q: IntervalMatrix, basis: tuple[int, ...]) -> BasisPart:
    a = list(basis)
    column = [fmpq_mat(len(a), 1, [x[i, 0] for i in a]) for x in (q.centre, q.radius)]
    return BasisPart(submatrix(M.centre, a), submatrix(M.radius, a), *column)


def _at_ends(one: BasisPart, k: int, sign: int) -> tuple[BasisPart, EnclosedBasis | None, int]:
    """The part with entries moved to ends as often as that helps, its enclosure, and how often."""
    found, moves = _enclosed(one), 0
    while found is not None and (smaller := _shrunk(one, found, k, sign)) is not None:
        one, moves = smaller, moves + 1
        found = _enclosed(one)
    return one, found, moves


def _enclosed(part: BasisPart) -> EnclosedBasis | None:
    """None where |R| D is too large for a bound."""
    m, one = part.M.nrows(), fmpq(1)
    try:
        R = part.M.inv()
    except ZeroDivisionError:
        return None
    size = moduli(R)
    try:
        grown = (identity(m) - size * part.D).inv()
    except ZeroDivisionError:
        return None
    # The Z-matrix has an inverse >= 0 exactly where the series of |R| D converges.
    if min((grown * fmpq_mat(m, 1, [one] * m)).entries()) <= 0:
        return None
    z = R * part.q * fmpq(-1)
    dz = grown * size * (part.D * moduli(z) + part.d)
    return EnclosedBasis(z.entries(), R, dz.entries(), grown * size * part.D * size)


def _uncertain(part: BasisPart) -> list[tuple[int, int]]:
    """The pairs ij of M, j <= i, and (i, -1) for q_i that are uncertain still."""
    m = part.M.nrows()
    pairs = [(i, j) for i in range(m) for j in range(i + 1) if part.D[i, j] != 0]
    return [*pairs, *((i, -1) for i in range(m) if part.d[i, 0] != 0)]


def _with(part: BasisPart, i: int, j: int, middle: fmpq, radius: fmpq) -> BasisPart:
    """The part with another interval in one place."""
    M, D, q, d = (fmpq_mat(x) for x in part)
    if j < 0:
        q[i, 0], d[i, 0] = middle, radius
    else:
        M[i, j] = M[j, i] = middle
        D[i, j] = D[j, i] = radius
    return BasisPart(M, D, q, d)


def _at(part: BasisPart, i: int, j: int) -> Interval:
    return (part.q[i, 0], part.d[i, 0]) if j < 0 else (part.M[i, j], part.D[i, j])


def _shrunk(part: BasisPart, found: EnclosedBasis, k: int, sign: int) -> BasisPart | None:
    """The part with every entry at the end that sign * z_k wants, where that is clear; None where none is."""
    smaller = None
    for i, j in _uncertain(part):
        low, high = found.slope(k, i, j)
        if low > 0 or high < 0:
            middle, radius = _at(part, i, j)
            end = middle - radius if (low > 0) == (sign > 0) else middle + radius
            smaller = _with(smaller or part, i, j, end, fmpq(0))
    return smaller


def _widest(part: BasisPart, found: EnclosedBasis, k: int) -> tuple[int, int]:
    """The uncertain entry that matters most to z_k."""

    def weight(at: tuple[int, int]) -> fmpq:
        low, high = found.slope(k, *at)
        return max(-low, high) * _at(part, *at)[1]

    return max(_uncertain(part), key=weight)


def _halves(part: BasisPart, i: int, j: int) -> list[BasisPart]:
    """The lower and the upper half along an entry."""
    middle, radius = _at(part, i, j)
    half = radius / 2
    return [_with(part, i, j, middle + side * half, half) for side in (-1, 1)]
