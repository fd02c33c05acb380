"""The solutions of an LCP whose data are uncertain: bounds of every unknown, and which are certainly positive or zero.

    0 <= z  perp  M z + q >= 0,    |M - C| <= D,  |q - c| <= d

With lower and upper ends ML, MU, qL, qU the solutions of all these problems are exactly the z with

    z >= 0,    MU z + qU >= 0,    z_i (ML z + qL)_i <= 0 for all i

(Oettli and Prager 1964, with the signs fixed by z >= 0): a union of polyhedra, one for each choice of z_i = 0 or
(ML z + qL)_i <= 0. The bounds of z_k are the optima of linear programmes over it, found by branching on the choices
where an optimum breaks them, best bound first, in exact arithmetic throughout.

Before, the solution of the centre is bounded on its basis: unknowns y = (z on a, w elsewhere) with G y = q move by at
most e = (I - |R| D)^-1 |R| (D z + d), R = G^-1. Where all stay positive and every M is a P-matrix, all is chosen.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock, seconds_left
from workbench.matrices.intervals.symmetric_lcp import extreme as symmetric_extreme
from workbench.matrices.linear_algebra.confirmed_lp import Optimum, least_unknown, proof_of_bound
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.in_time import solution
from workbench.matrices.linear_algebra.rationals import as_text
from workbench.matrices.p_property.bounded import solution_on_face
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.support.arrays import Array

POSITIVE, ZERO, UNDETERMINED = "positive", "zero", "undetermined"
LARGEST = 60
"""Unknowns up to which the solutions are bounded."""

Vector = list[fmpq]
Choices = tuple[frozenset[int], frozenset[int]]
"""Indices with (ML z + qL)_i <= 0, and indices with z_i = 0."""


@dataclass(frozen=True, eq=False)
class Basis:
    """The solution z (n) of the centre's problem, exactly, its positive unknowns, and how far z and w may move on this
    basis: radius (n) of z_i on the basis and of w_i elsewhere, None where no bound was found. `strict`: all stay
    positive, so that every problem has a solution with these unknowns positive."""

    z: Vector
    basic: tuple[int, ...]
    radius: Vector | None
    strict: bool


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the solutions of all problems of the box.

    lower, upper (n): bounds of z, None for no bound; `exact` tells whether both are taken on within the box.
    `signs` (n): "positive", "zero" or "undetermined". `solvable`: "one" solution for every problem, "some" for each,
    "none" for any, or "undecided". `basis` is that of the centre, where it was found; `reason` says what is left open.
    """

    lower: list[fmpq | None]
    upper: list[fmpq | None]
    exact: bool
    solvable: str
    basis: Basis | None
    reason: str | None = None

    @property
    def signs(self) -> list[str]:
        return [
            POSITIVE if low is not None and low > 0 else ZERO if high == 0 else UNDETERMINED
            for low, high in zip(self.lower, self.upper, strict=True)
        ]


def bounds(M: IntervalMatrix, q: IntervalMatrix, all_p: bool, near: Array, deadline: float) -> Bounds:
    """Bounds of the solutions for M (n, n) and q (n, 1), by about `deadline`; `all_p` tells that every M is a P-matrix.
    `near` (n) is a solution of the centre's problem in floating point, nan where none is known.

    Of a symmetric M they are those of its symmetric matrices where the basis is known, or else hold for all.
    """
    n = M.order
    nothing: list[fmpq | None] = [None] * n
    zeros: list[fmpq | None] = [fmpq(0)] * n
    if n > LARGEST:
        why = f"the order {n} exceeds {LARGEST}"
        return Bounds(zeros, nothing, False, "one" if all_p else "undecided", None, why)
    basis = _basis(M, q, near, deadline)
    strict = basis is not None and basis.strict
    solvable = "one" if all_p else "some" if strict else "undecided"
    start: Choices = (frozenset(), frozenset())
    lower, upper = list(zeros), list(nothing)
    if basis is not None and strict and all_p:
        a = frozenset(basis.basic)
        start = (a, frozenset(range(n)) - a)
        for i in range(n):
            lower[i], upper[i] = _around(basis, i)
    if M.symmetric and start[0]:
        return _of_symmetric(M, q, Bounds(lower, upper, True, solvable, basis), deadline)
    problem, exact = UncertainLCP(M, q), True
    reason: str | None = None
    for k, (i, sign) in enumerate(itertools.product(range(n), (1, -1))):
        until = clock() + seconds_left(deadline, 1.0 / (2 * n - k))
        try:
            found = problem.extreme(i, sign, start, until)
        except OutOfTimeError:
            exact, reason = False, f"{OUT_OF_TIME} before all bounds were found"
            continue
        if found is None:
            return Bounds(nothing, nothing, True, "none", basis)
        value, attained = found
        exact &= attained
        reason = reason if attained else f"{OUT_OF_TIME} before all bounds were exact"
        if sign > 0:
            lower[i] = value if value is not None else fmpq(0)
        else:
            upper[i] = None if value is None else -value
    if M.symmetric:
        exact, reason = False, reason or "they hold for all matrices of the box; symmetric ones may stay further inside"
    return Bounds(lower, upper, exact, solvable, basis, reason)


def _of_symmetric(M: IntervalMatrix, q: IntervalMatrix, around: Bounds, deadline: float) -> Bounds:
    """The bounds of the symmetric matrices of a box on the basis of the centre."""
    lower, upper, exact = list(around.lower), list(around.upper), True
    a = around.basis.basic if around.basis else ()
    ends = list(itertools.product(range(len(a)), (1, -1)))
    for count, (k, sign) in enumerate(ends):
        until = clock() + seconds_left(deadline, 1.0 / (len(ends) - count))
        found = symmetric_extreme(M, q, a, k, sign, until)
        exact &= found is not None and found[1]
        if found is not None and sign > 0:
            lower[a[k]] = found[0]
        elif found is not None:
            upper[a[k]] = -found[0]
    reason = None if exact else f"{OUT_OF_TIME} before all bounds were exact"
    return Bounds(lower, upper, exact, around.solvable, around.basis, reason)


def _around(basis: Basis, i: int) -> tuple[fmpq, fmpq]:
    if i not in basis.basic or basis.radius is None:
        return fmpq(0), fmpq(0)
    return basis.z[i] - basis.radius[i], basis.z[i] + basis.radius[i]


class UncertainLCP:
    """The inequalities of the solutions, and optima over them."""

    def __init__(self, M: IntervalMatrix, q: IntervalMatrix) -> None:
        self.n = M.order
        self.above = [[*row, c] for row, c in zip(M.upper.tolist(), q.upper.entries(), strict=True)]
        self.below = [[*row, c] for row, c in zip(M.lower.tolist(), q.lower.entries(), strict=True)]

    def inequalities(self, choices: Choices) -> tuple[fmpq_mat, Vector, list[int]]:
        """A and b of the polyhedron A z >= b of these choices, in the unknowns that are not zero, and these."""
        a, b = choices
        others = [j for j in range(self.n) if j not in b]
        rows = [*self.above, *([-x for x in self.below[i]] for i in sorted(a))]
        A = fmpq_mat(len(rows), len(others), [row[j] for row in rows for j in others])
        return A, [-row[self.n] for row in rows], others

    def extreme(self, k: int, sign: int, start: Choices, deadline: float) -> tuple[fmpq | None, bool] | None:
        """The least sign * z_k, None where it has no bound, and whether it is taken on (else a bound below it); None
        where there is no solution. Raises OutOfTimeError where not even one bound was found."""
        heap: list[tuple] = []
        numbers = itertools.count()

        def add(choices: Choices) -> None:
            A, b, others = self.inequalities(choices)
            found = self._least(A, b, others, k, sign, deadline)
            if found is None:
                return
            value = found.value if k in others else fmpq(0)
            z = self._point(found, others)
            # What has no bound comes first, and of equals the latest.
            heapq.heappush(heap, (value is not None, value or fmpq(0), -next(numbers), value, choices, z))

        add(start)
        while heap:
            *_, value, (below, zero), z = heapq.heappop(heap)
            i = self._broken((below, zero), z, value is not None)
            if i is None:
                return value, True
            try:
                for choices in ((below | {i}, zero), (below, zero | {i})):
                    add(choices)
            except OutOfTimeError:
                # All that is left in the heap is no better.
                return value, False
        return None

    def cover(self, k: int, sign: int, value: fmpq | None, start: Choices, deadline: float) -> list[list] | None:
        """A cover that proves sign * z_k >= value, or with no value that nothing is a solution, as its nodes in
        preorder (`certificates.uncertain`); None where that is not so. Raises OutOfTimeError."""
        stack, nodes = [start], list[list]()
        while stack:
            choices = stack.pop()
            A, b, others = self.inequalities(choices)
            least = self._least(A, b, others, k, sign, deadline)
            if least is None:
                y = solve_inequalities(A, b, deadline)[1] if others else [fmpq(x > 0) for x in b]
                nodes.append(["none", as_text(y)])
                continue
            bound = least.value if k in others else fmpq(0)
            if value is not None and bound is not None and bound >= value:
                y = [fmpq(0)] * len(b) if k not in others else least.multipliers
                y = y or proof_of_bound(A, b, others.index(k), sign, value, deadline)
                nodes.append(["bound", as_text(y)])
                continue
            i = self._broken(choices, self._point(least, others), bound is not None)
            if i is None:
                return None
            nodes.append(["branch", i])
            below, zero = choices
            stack += [(below, zero | {i}), (below | {i}, zero)]
        return nodes

    def _least(self, A: fmpq_mat, b: Vector, others: list[int], k: int, sign: int, deadline: float) -> Optimum | None:
        """The least sign * z_k; any unknown will do where z_k is zero by choice."""
        if not others:
            return Optimum(fmpq(0), []) if max(b) <= 0 else None
        goal = others.index(k) if k in others else 0
        return least_unknown(A, b, goal, sign if k in others else 1, deadline)

    def _point(self, found: Optimum, others: list[int]) -> Vector:
        """z (n) where the optimum is attained."""
        z = [fmpq(0)] * self.n
        for j, v in zip(others, found.point, strict=True):
            z[j] = v
        return z

    def _broken(self, choices: Choices, z: Vector, bounded: bool) -> int | None:
        """An undecided index with z_i > 0 and (ML z + qL)_i > 0; of what has no bound any undecided one."""
        open_ = [i for i in range(self.n) if i not in choices[0] and i not in choices[1]]
        if not bounded:
            return open_[0] if open_ else None
        slack = {i: sum((x * v for x, v in zip(self.below[i], (*z, fmpq(1)), strict=True)), fmpq(0)) for i in open_}
        worst = max(open_, key=lambda i: z[i] * slack[i] if slack[i] > 0 else fmpq(-1), default=None)
        return worst if worst is not None and z[worst] > 0 and slack[worst] > 0 else None


def _basis(M: IntervalMatrix, q: IntervalMatrix, near: Array, deadline: float) -> Basis | None:
    """The solution of the centre's problem with its bound; None where it was not found."""
    n = M.order
    if not np.isfinite(near).all():
        return None
    try:
        z = solution_on_face(M.centre, q.centre.entries(), np.zeros(n), np.full(n, np.inf), near, deadline)
    except OutOfTimeError:
        return None
    if z is None:
        return None
    basic = tuple(i for i in range(n) if z[i] > 0)
    try:
        found = enclosed_basis(M, q, z, deadline)
    except (ZeroDivisionError, OutOfTimeError):
        found = None
    return Basis(z, basic, None if found is None else found.radius, found is not None and found.strict)


@dataclass(frozen=True, eq=False)
class EnclosedUnknowns:
    """The unknowns of a basis, z on it and w elsewhere, as y (n) at the centre, R = G^-1 (n, n), and how far they move:
    radius (n); growth (n) = (I - |R| D)^-1 (1, ..., 1) > 0."""

    y: Vector
    R: fmpq_mat
    radius: Vector
    growth: Vector

    @property
    def strict(self) -> bool:
        """Whether all stay positive."""
        return all(v > e for v, e in zip(self.y, self.radius, strict=True))


def enclosed_basis(M: IntervalMatrix, q: IntervalMatrix, z: Vector, deadline: float) -> EnclosedUnknowns | None:
    """How far the unknowns of the basis of z (n), the exact solution of the centre's problem, may move; None where
    |R| D has a spectral radius of one or more. Raises OutOfTimeError, and ZeroDivisionError for a singular basis."""
    n, one = M.order, fmpq(1)
    inside = {i for i in range(n) if z[i] > 0}
    w = (M.centre * fmpq_mat(n, 1, z) + q.centre).entries()
    G = fmpq_mat(n, n, [-M.centre[i, j] if j in inside else fmpq(i == j) for i in range(n) for j in range(n)])
    identity = fmpq_mat(n, n, [fmpq(i == j) for i in range(n) for j in range(n)])
    R = solution(G, identity, deadline)
    size = fmpq_mat(n, n, [abs(x) for x in R.entries()])
    D = fmpq_mat(n, n, [M.radius[i, j] if j in inside else fmpq(0) for i in range(n) for j in range(n)])
    spread = size * (D * fmpq_mat(n, 1, z) + q.radius)
    both = fmpq_mat(n, 2, [x for v in spread.entries() for x in (v, one)])
    found = solution(identity - size * D, both, deadline).tolist()
    # An inverse-positive Z-matrix: the series of |R| D converges.
    if any(row[1] <= 0 for row in found):
        return None
    y = [z[i] if i in inside else w[i] for i in range(n)]
    return EnclosedUnknowns(y, R, [row[0] for row in found], [row[1] for row in found])
