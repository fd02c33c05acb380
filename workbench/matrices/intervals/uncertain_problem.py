"""A mixed LCP with bounds whose data are known within intervals.

    l <= z <= u,    w = M z + q,    w_i >= 0 where z_i = l_i,  <= 0 where z_i = u_i,  = 0 between

M, q, l and u vary within their intervals, independently of each other. With l = 0 and no u it is an LCP.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from workbench.matrices.p_property.bounded import Pattern
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.support.errors import DataError

Ends = tuple[fmpq, fmpq]
"""Least and largest value."""


@dataclass(frozen=True, eq=False)
class UncertainMLCP:
    """All problems with M (n, n) and q (n, 1) of these boxes, and l_i, u_i between the ends of lower[i] and upper[i]
    (n), None for no bound, of which l <= u.

    Raises DataError for a q or bounds of another length, and where no l_i <= u_i.
    """

    M: IntervalMatrix
    q: IntervalMatrix
    lower: Sequence[Ends | None]
    upper: Sequence[Ends | None]

    def __post_init__(self) -> None:
        n = self.M.order
        if (self.q.order, self.q.centre.ncols()) != (n, 1):
            raise DataError(f"q has {self.q.order} entries; the {n} x {n} matrix needs {n}")
        for name, bounds in (("lower", self.lower), ("upper", self.upper)):
            if len(bounds) != n:
                raise DataError(f"{name} has {len(bounds)} entries; the {n} x {n} matrix needs {n}")
        for i, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if low and high and low[0] > high[1]:
                raise DataError(
                    f"no number lies between lower[{i}] >= {low[0]} and upper[{i}] <= {high[1]}; lower <= upper"
                )

    @staticmethod
    def lcp(M: IntervalMatrix, q: IntervalMatrix) -> "UncertainMLCP":
        """The LCP 0 <= z  perp  M z + q >= 0."""
        return UncertainMLCP(M, q, [(fmpq(0), fmpq(0))] * M.order, [None] * M.order)

    @cached_property
    def is_lcp(self) -> bool:
        """Whether every unknown is bounded below by zero and has no other bound."""
        return not any(self.upper) and all(low == (0, 0) for low in self.lower)

    @property
    def is_compact(self) -> bool:
        """Whether every unknown has both bounds, so that every problem has a solution (Facchinei and Pang 2003, volume
        I, corollary 2.2.5)."""
        return all(self.lower) and all(self.upper)

    @cached_property
    def kinds(self) -> Pattern:
        """The unknowns that are free, those fixed by exact bounds, and the others."""
        free = tuple(i for i in range(self.M.order) if self.lower[i] is None and self.upper[i] is None)
        fixed = tuple(
            i for i, (low, high) in enumerate(zip(self.lower, self.upper, strict=True))
            if low and low == high and low[0] == low[1]
        )  # fmt: skip
        return Pattern(free, fixed, tuple(i for i in range(self.M.order) if i not in free and i not in fixed))

    @cached_property
    def centre_bounds(self) -> tuple[list[fmpq | None], list[fmpq | None]]:
        """The bounds in the middle of their intervals."""
        middles = [[None if e is None else (e[0] + e[1]) / 2 for e in ends] for ends in (self.lower, self.upper)]
        return middles[0], middles[1]
