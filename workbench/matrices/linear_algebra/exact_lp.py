"""Linear inequalities in exact arithmetic: a nonnegative solution or a proof that there is none; bounds of unknowns.

The dual simplex method with a zero objective: every basis is dual feasible, so Bland's rule of least indices alone
makes it finite (Bland, Math. Oper. Res. 2, 1977). No tolerance, no rounding, and a certificate in either case.
"""

from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from workbench.engine.timing import Pace

HASTE = 3
"""Pivots per row by size, before Bland's rule takes over."""


def exchange(T: fmpq_mat, r: int, c: int) -> fmpq_mat:
    """T after row variable r and column variable c of y = T x have been exchanged; T[r, c] must not be zero.

    T_ij - T_ic T_rj / p off row and column, T_ic / p and -T_rj / p on them, 1 / p at the pivot p: one rank-one product
    once the pivot's entries are shifted by one.
    """
    m, n = T.nrows(), T.ncols()
    p = T[r, c]
    column, row = [T[i, c] for i in range(m)], [T[r, j] for j in range(n)]
    column[r], row[c] = p + 1, p - 1
    return T - fmpq_mat(m, 1, column) * fmpq_mat(1, n, [x / p for x in row])


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Basic unknowns as affine functions of the others: x_basic = T (x_others, 1), all unknowns required >= 0.

    `T` (m, k + 1) has the constants in its last column; `basic` (m) and `others` (k) hold the indices of the unknowns.
    """

    T: fmpq_mat
    basic: tuple[int, ...]
    others: tuple[int, ...]

    def value(self, unknown: int) -> fmpq:
        """The unknown at the basic point, where the others are zero."""
        return self.T[self.basic.index(unknown), len(self.others)] if unknown in self.basic else fmpq(0)

    def exchanged(self, r: int, c: int) -> "Dictionary":
        """The dictionary with basic unknown r and other unknown c (positions) exchanged."""
        basic, others = list(self.basic), list(self.others)
        basic[r], others[c] = others[c], basic[r]
        return Dictionary(exchange(self.T, r, c), tuple(basic), tuple(others))


def made_feasible(d: Dictionary, deadline: float) -> tuple[Dictionary, int | None]:
    """A dictionary of the same equations with constants >= 0, and None; or a dictionary and the row that makes it
    impossible: a negative constant and no positive coefficient. Raises OutOfTimeError."""
    count, pace = 0, Pace(deadline)
    while True:
        pace.step()
        k = len(d.others)
        negative = [i for i in range(len(d.basic)) if d.T[i, k] < 0]
        if not negative:
            return d, None
        # The worst row is usually the better choice; the least index cannot cycle.
        by_size = count < HASTE * len(d.basic)
        r = min(negative, key=lambda i: d.T[i, k] if by_size else d.basic[i])
        entering = [j for j in range(k) if d.T[r, j] > 0]
        if not entering:
            return d, r
        d = d.exchanged(r, max(entering, key=lambda j: d.T[r, j] if by_size else -d.others[j]))
        count += 1


def least(d: Dictionary, unknown: int, sign: int, deadline: float) -> tuple[Dictionary, fmpq | None]:
    """The smallest value of sign (1 or -1) times an unknown over all points of a feasible dictionary, None if it is
    unbounded, and a dictionary whose basic point attains it. By Bland's rule. Raises OutOfTimeError."""
    pace, zero = Pace(deadline), fmpq(0)
    if unknown in d.others and sign > 0:
        return d, zero
    while True:
        pace.step()
        k = len(d.others)
        if unknown in d.others:
            if sign > 0:
                return d, zero
            entering = [d.others.index(unknown)]
        else:
            goal = d.basic.index(unknown)
            entering = [j for j in range(k) if sign * d.T[goal, j] < 0]
        if not entering:
            return d, sign * d.value(unknown)
        c = min(entering, key=lambda j: d.others[j])
        limits = [(-d.T[i, k] / d.T[i, c], d.basic[i], i) for i in range(len(d.basic)) if d.T[i, c] < 0]
        if not limits:
            return d, None
        d = d.exchanged(min(limits)[2], c)


def solve_inequalities(
    A: fmpq_mat, b: list[fmpq], deadline: float
) -> tuple[list[fmpq], None] | tuple[None, list[fmpq]]:
    """x >= 0 with A x >= b, or y >= 0 with y^T A <= 0 and y^T b > 0 (Farkas), exactly. Raises OutOfTimeError."""
    m, n = A.nrows(), A.ncols()
    table = [x for row, bound in zip(A.tolist(), b, strict=True) for x in (*row, -bound)]
    # Unknowns 0 .. n - 1 are x, the others the slacks A x - b.
    start = Dictionary(fmpq_mat(m, n + 1, table), tuple(range(n, n + m)), tuple(range(n)))
    d, r = made_feasible(start, deadline)
    if r is None:
        return [d.value(j) for j in range(n)], None
    # The row says: its unknown minus the coefficients times the others equals a negative constant, identically.
    y = [fmpq(0)] * m
    if d.basic[r] >= n:
        y[d.basic[r] - n] = fmpq(1)
    for j, unknown in enumerate(d.others):
        if unknown >= n:
            y[unknown - n] = -d.T[r, j]
    return None, y
