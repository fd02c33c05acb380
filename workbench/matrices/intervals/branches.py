"""The solutions of an MLCP with uncertain data as a union of polyhedra, and the bounds of the unknowns over it.

    l <= z <= u,    w = M z + q,    w_i >= 0 where z_i = l_i,  <= 0 where z_i = u_i,  = 0 between

With |M - C| <= D, |q - c| <= d the largest and the least w at z are C z + c +- (D |z| + d), row by row (Oettli and
Prager 1964). So z solves one of the problems if and only if it lies between the least l and the largest u, and each
z_i has one of these places, as far as it has bounds:

    between     largest w_i >= 0 >= least w_i
    lower       z_i <= largest l_i, and largest w_i >= 0
    upper       z_i >= least u_i, and least w_i <= 0

All this is linear in the parts p, n >= 0 of z = p - n, |z| = p + n,
of which one is zero. Where the bounds fix the sign of z_k there is one part; elsewhere its sign is one more choice. The
bounds of z_k are the optima of linear programmes, found by branching on the choice that an optimum breaks most, best
bound first, in exact arithmetic throughout. For the LCP the choices are z_i = 0 or least w_i <= 0.
"""

import heapq
import itertools
from typing import NamedTuple

from flint import fmpq, fmpq_mat

from workbench.engine.timing import OutOfTimeError
from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
from workbench.matrices.linear_algebra.confirmed_lp import Optimum, least_unknown, proof_of_bound
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.rationals import Vector, as_text

BETWEEN, LOWER, UPPER = "between", "lower", "upper"
"""Where an unknown may be: w_i = 0, at its lower bound, at its upper bound."""

Choices = frozenset[tuple[int, int]]
"""Pairs of a choice and the position of what is chosen: the place of z_i (i < n), and the sign of z_(i - n) beyond."""
NOTHING_CHOSEN: Choices = frozenset()


class Option(NamedTuple):
    """What is chosen, rows over (parts, 1) that are nonnegative then, and the parts that are zero."""

    name: str
    rows: list[Vector]
    zeros: frozenset[int]


class Branches:
    """The inequalities of the solutions, the choices, and optima over them."""

    def __init__(self, problem: UncertainMLCP) -> None:
        self.n = n = problem.M.order
        self.C, self.D = problem.M.centre.tolist(), problem.M.radius.tolist()
        self.c, self.d = problem.q.centre.entries(), problem.q.radius.entries()
        pairs = list(zip(problem.lower, problem.upper, strict=True))
        self.parts: list[tuple[int, int]] = []
        for k, (low, high) in enumerate(pairs):
            if high is None or high[1] > 0:
                self.parts.append((k, 1))
            if low is None or low[0] < 0:
                self.parts.append((k, -1))
        self.place = {part: j for j, part in enumerate(self.parts)}
        self.rows: list[Vector] = []
        for i, (low, high) in enumerate(pairs):
            if high is None:
                self.rows.append(self._largest(i))
            if low is None:
                self.rows.append(self._least(i))
        for k, (low, high) in enumerate(pairs):
            if low:
                self.rows += self._at_least(k, low[0])[0]
            if high:
                self.rows += self._at_most(k, high[1])[0]
        places = {i: self._places(i, *pairs[i]) for i in problem.kinds.bounded}
        signs = {n + k: self._signs(k) for k in range(n) if {(k, 1), (k, -1)} <= self.place.keys()}
        # Where an optimum has no bound the first are chosen first: signs of z on which the largest and least w depend.
        first = {i: options for i, options in signs.items() if any(row[i - n] for row in self.D)}
        self.choices: dict[int, list[Option]] = {**first, **places, **signs}

    def _largest(self, i: int) -> Vector:
        """The largest w_i over (parts, 1)."""
        return [*(s * self.C[i][k] + self.D[i][k] for k, s in self.parts), self.c[i] + self.d[i]]

    def _least(self, i: int) -> Vector:
        """Minus the least w_i."""
        return [*(self.D[i][k] - s * self.C[i][k] for k, s in self.parts), self.d[i] - self.c[i]]

    def _at_least(self, k: int, value: fmpq) -> tuple[list[Vector], frozenset[int]]:
        """Rows and zero parts that say z_k >= value."""
        return self._beyond(k, 1, value)

    def _at_most(self, k: int, value: fmpq) -> tuple[list[Vector], frozenset[int]]:
        return self._beyond(k, -1, -value)

    def _beyond(self, k: int, sign: int, value: fmpq) -> tuple[list[Vector], frozenset[int]]:
        """Rows and zero parts that say sign * z_k >= value, one part of z_k being zero."""
        with_it, against = self.place.get((k, sign)), self.place.get((k, -sign))
        zeros = frozenset([against]) if against is not None and value >= 0 else frozenset[int]()
        part, slope = (with_it, 1) if value > 0 else (against, -1)
        if value == 0 or (part is None and value < 0):
            return [], zeros
        row = [fmpq(slope * (j == part)) for j in range(len(self.parts))]
        return [[*row, -value]], zeros

    def _places(self, i: int, low: tuple[fmpq, fmpq] | None, high: tuple[fmpq, fmpq] | None) -> list[Option]:
        """The places of an unknown with bounds."""
        largest, least = [self._largest(i)] if high else [], [self._least(i)] if low else []
        found = [Option(BETWEEN, [*largest, *least], frozenset())]
        if low:
            rows, zeros = self._at_most(i, low[1])
            found.append(Option(LOWER, [*rows, *largest], zeros))
        if high:
            rows, zeros = self._at_least(i, high[0])
            found.append(Option(UPPER, [*rows, *least], zeros))
        return found

    def _signs(self, k: int) -> list[Option]:
        """z_k >= 0 and z_k <= 0."""
        return [Option(name, [], frozenset([self.place[k, s]])) for name, s in ((">= 0", -1), ("<= 0", 1))]

    def chosen(self, places: list[str]) -> Choices:
        """The choices of these places (n)."""
        return frozenset(
            (i, [option.name for option in options].index(places[i]))
            for i, options in self.choices.items() if i < self.n
        )  # fmt: skip

    def inequalities(self, choices: Choices) -> tuple[fmpq_mat, Vector, list[int]]:
        """A and b of the polyhedron A x >= b of these choices, in the parts x that are not zero, and these."""
        options = [self.choices[i][k] for i, k in sorted(choices)]
        zeros = {j for option in options for j in option.zeros}
        others = [j for j in range(len(self.parts)) if j not in zeros]
        rows = [*self.rows, *(row for option in options for row in option.rows)]
        A = fmpq_mat(len(rows), len(others), [row[j] for row in rows for j in others])
        return A, [-row[-1] for row in rows], others

    def extreme(self, k: int, sign: int, start: Choices, deadline: float) -> tuple[fmpq | None, bool] | None:
        """The least sign * z_k, None where it has no bound, and whether it is taken on (else a bound below it); None
        where there is no solution. Raises OutOfTimeError where not even one bound was found."""
        heap: list[tuple] = []
        numbers = itertools.count()

        def add(choices: Choices) -> None:
            found = self._optimum(choices, k, sign, deadline)
            if found is not None:
                value, x, _ = found
                # What has no bound comes first, and of equals the latest.
                heapq.heappush(heap, (value is not None, value or fmpq(0), -next(numbers), value, choices, x))

        add(start)
        while heap:
            *_, value, choices, x = heapq.heappop(heap)
            i = self._broken(choices, x, k, value is not None)
            if i is None:
                return value, True
            try:
                for option in range(len(self.choices[i])):
                    add(choices | {(i, option)})
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
            found = self._optimum(choices, k, sign, deadline)
            if found is None:
                y = solve_inequalities(A, b, deadline)[1] if others else [fmpq(x > 0) for x in b]
                nodes.append(["none", as_text(y)])
                continue
            bound, x, multipliers = found
            if value is not None and bound is not None and bound >= value:
                part, slope = self._goal(k, sign, others)
                y = [fmpq(0)] * len(b) if part is None else multipliers
                y = y or proof_of_bound(A, b, others.index(part), slope, value, deadline)  # type: ignore[arg-type]
                nodes.append(["bound", as_text(y)])
                continue
            i = self._broken(choices, x, k, bound is not None)
            if i is None:
                return None
            nodes.append(["branch", i])
            stack += [choices | {(i, option)} for option in reversed(range(len(self.choices[i])))]
        return nodes

    def _goal(self, k: int, sign: int, others: list[int]) -> tuple[int | None, int]:
        """The part of z_k, if one is left, that bounds sign * z_k from below, and the sign with which it counts."""
        with_it, against = self.place.get((k, sign)), self.place.get((k, -sign))
        return (against, -1) if against in others else (with_it if with_it in others else None, 1)

    def _optimum(
        self, choices: Choices, k: int, sign: int, deadline: float
    ) -> tuple[fmpq | None, Vector, Vector | None] | None:
        """A bound below sign * z_k, None without one, the parts where it is taken on, and the multipliers that prove it
        (None where they were not found along with it); None where the inequalities have no solution."""
        A, b, others = self.inequalities(choices)
        part, slope = self._goal(k, sign, others)
        if not others:
            found = Optimum(fmpq(0), []) if max(b, default=fmpq(0)) <= 0 else None
        else:
            found = least_unknown(A, b, 0 if part is None else others.index(part), slope, deadline)
        if found is None:
            return None
        x = [fmpq(0)] * len(self.parts)
        for j, v in zip(others, found.point, strict=True):
            x[j] = v
        return found.value if part is not None else fmpq(0), x, found.multipliers

    def _broken(self, choices: Choices, x: Vector, goal: int, bounded: bool) -> int | None:
        """The open choice that the parts x break most, or that leaves open whether z_goal attains its bound; where
        there is no bound any open one."""
        done = {i for i, _ in choices}
        open_ = [i for i in self.choices if i not in done]
        if not bounded:
            return open_[0] if open_ else None
        point = [*x, fmpq(1)]

        def broken(option: Option) -> fmpq:
            left = (-sum((a * v for a, v in zip(row, point, strict=True)), fmpq(0)) for row in option.rows)
            return max([*left, *(x[j] for j in option.zeros)], default=fmpq(0))

        worst = max(open_, key=lambda i: min(map(broken, self.choices[i])), default=None)
        if worst is not None and min(map(broken, self.choices[worst])) > 0:
            return worst
        # A bound by one part of z is attained where the other part is zero.
        sign = self.n + goal
        if sign in open_ and any(x[j] for option in self.choices[sign] for j in option.zeros):
            return sign
        return None
