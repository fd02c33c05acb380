"""The sensitivity of a solution: whether it has derivatives by its problem's data, of which kind, and their values.

Where all modes hold strictly and S (`linearised`) is regular, the solution is smooth. Between modes it has one-sided
derivatives, solutions of a complementarity problem. If that has exactly one solution for all changes, the solution is
locally unique and Lipschitz (strong regularity: Robinson 1980), and its derivatives jump. For interval rows and
contacts on edges this requires a P-matrix, the Schur complement of S on the bounded y. Where S is singular the impulses
are not unique; velocities may be.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.derivatives.choices import ALLOWED, find_candidates
from workbench.derivatives.linearised import DataChange, Linearised, change_of, linearised
from workbench.derivatives.modes import BEARING, SIDE, Place, SetMode
from workbench.matrices.p_property.verdict import p_verdict_of
from workbench.problems.mixed import MixedNCP
from workbench.problems.problem import Problem
from workbench.problems.sets import COULOMB, NO_CONE
from workbench.support.arrays import Array
from workbench.support.errors import DataError

LEAST = 1e-11
"""Margin, relative to a set's own impulse and velocity, above which a solution to round-off distinguishes a mode."""
TIMES = 10.0
"""A margin counts if it exceeds the accuracy of the solution by this factor."""
POLISHED, WORST = 1e-13, 1e8
"""Residual at which methods to round-off end, and would return what they start from; largest condition number of S that
a solution's accuracy accounts for."""
BADLY = 1e-3
"""Share of a solution up to which its error, by the condition number of S, leaves derivatives known."""
MOST_ROWS = 12
"""Largest number of bounded unknowns for which all one-sided derivatives are enumerated."""
MOST_SOLUTIONS = 4096
"""Largest number of these that are kept, which redundant contacts repeat."""
NEARLY, REGULAR = 1e-14, 1e-8
"""Shares of the largest singular value of a matrix above which the smallest is not rounding, or solutions are known
well."""
ROUNDED = 1e-13
"""Share of the terms of a sum up to which it is rounding."""
NEAR = 1e-4
"""Relative distance up to which an answer to round-off is the solution that was given."""
CONSISTENT = 1e-9
"""Share of its terms up to which a gradient of redundant contacts is one that their impulses do not move."""
UNDETERMINED = "no gradient: the contacts are redundant and their load sharing is not determined"
REDUNDANT = ": contacts are redundant, and may share the load in other ways nearby"
"""Why none were found, where the contacts that may bear are redundant."""
SOLVED = 1e-9
"""Residual up to which a candidate is a one-sided derivative."""


class PointKind(StrEnum):
    """The kind of a point for an optimiser."""

    SMOOTH = "differentiable"
    KINK = "one-sided derivatives only"
    SINGULAR = "the impulses are not determined"
    SEVERAL = "not the only solution nearby, or none nearby"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Derivative:
    """Derivatives of the unknowns z and of F = A z + q, both (n,), along a change of the data."""

    z: Array
    F: Array


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """A problem at a solution z (n,): the places of its sets, the kind of point, and the reason.

    is_vague: whether derivatives there need not be those of the exact solution: two modes differ by less than the
    accuracy of z, or S is so nearly singular that z itself is known badly.
    """

    problem: Problem
    z: Array
    system: Linearised
    is_vague: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        return self.system.places

    @property
    def margin(self) -> float:
        """The smallest relative margin with which a mode holds; 0 between modes, inf where nothing has a mode."""
        return min((place.margin for place in self.places), default=np.inf)

    @cached_property
    def verdict(self) -> tuple[PointKind, str]:
        """The kind of point, and the reason as text."""
        s = self.system
        words = _count(s.between)
        if not s.between:
            if s.is_singular:
                return PointKind.SINGULAR, f"S has a kernel of {s.kernel().shape[1]} dimensions: contacts are redundant"
            return PointKind.SMOOTH, f"every mode holds, by {self.margin:.1e} at least, and S is regular"
        if SetMode.NOTHING in s.between:
            return self._with_nothing(words)
        reduced = self._reduced
        if reduced is None:
            return PointKind.SINGULAR, f"{words}, and the other contacts are redundant"
        if s.is_singular:
            # What is left of the Schur complement is rounding, of any sign.
            return PointKind.UNDECIDED, f"{words}; the Schur complement on these is singular to rounding"
        verdict = p_verdict_of(reduced)
        if verdict.verdict == "P":
            return (
                PointKind.KINK,
                f"{words}; the Schur complement on these is a P-matrix, so that there is one solution nearby",
            )
        if verdict.verdict == "undecided":
            return PointKind.UNDECIDED, f"{words}; whether the Schur complement is a P-matrix was not decided in time"
        return PointKind.SEVERAL, f"{words}; the Schur complement on these is not a P-matrix"

    def _with_nothing(self, words: str) -> tuple[PointKind, str]:
        """The case of contacts with neither force nor velocity, which may move anywhere in their cones."""
        s = self.system
        laws = {place.law for place in self.places if place.law != NO_CONE}
        if COULOMB not in laws and np.allclose(s.S, s.S.T, rtol=0, atol=1e-12 * np.abs(s.S).max(initial=0.0)):
            least = float(np.linalg.eigvalsh(0.5 * (s.S + s.S.T))[0])
            if least > 1e-12 * float(np.abs(s.S).max()):
                return PointKind.KINK, f"{words}; S is positive definite, so that there is one solution nearby"
        return PointKind.UNDECIDED, f"{words}; nothing proves that there is one solution nearby"

    @cached_property
    def _reduced(self) -> Array | None:
        """The Schur complement of S on the bounded y; None where the rest is singular.

        Whether it is a P-matrix does not depend on the signs of the unknowns.
        """
        s, free = self.system, self.system.free
        if not _is_regular(s.S[np.ix_(free, free)], NEARLY):
            return None
        return _without(free, s.S, np.zeros(s.Y))[0][:, :-1]

    def along(self, outputs: Array | None = None, **data: Any) -> list[Derivative]:
        """All one-sided derivatives found along a change of the problem's M, q, mu, lower, upper (`change_of`).

        There is one where the point is smooth or a kink; several or none where the solution is not locally unique.
        Where impulses are not unique, the derivatives are those of `outputs` z, (k, n), or without outputs those of F,
        and the derivatives of z are one choice of many. Raises DataError where these are not unique either, and for a
        change that does not fit the problem.
        """
        change, s = change_of(self.problem, **data), self.system
        if not s.between:
            return [self._regular(change, outputs)]
        if outputs is not None and not self._inside.count_between:
            with suppress(DataError):
                return [replace(self, system=self._inside)._regular(change, outputs)]
        posed = s.one_sided(change)
        found: list[Derivative] = []
        solutions, complete = _solutions(posed)
        if not solutions and not complete:
            # Redundant where all may bear, or where those between modes do not.
            redundant = self._reduced is None or s.taken_for(BEARING).is_singular
            raise DataError(
                f"{_count(s.between)}; one-sided derivatives were not found{REDUNDANT if redundant else ''}"
            )
        for y in solutions:
            one = self._plain(*s.derivative(y, change))
            if not any(self._are_same(one, other, outputs) for other in found):
                found.append(one)
        # Of one solution several are found where S is nearly singular: others break a sign by less than `SOLVED`.
        return found[:1] if len(found) > 1 and self.verdict[0] is PointKind.KINK else found

    @cached_property
    def _inside(self) -> Linearised:
        """The law at a neighbouring solution with the same velocities, at which more modes hold."""
        return self.system.settled()

    def _are_same(self, one: Derivative, other: Derivative, outputs: Array | None) -> bool:
        if outputs is None:
            a, b = (np.concatenate([x.z, x.F]) for x in (one, other))
            size = 0.0
        else:
            a, b = outputs @ one.z, outputs @ other.z
            size = float((np.abs(outputs) @ np.abs(one.z)).max(initial=0.0))
        return bool(np.abs(a - b).max(initial=0.0) <= ALLOWED * max(size, np.abs(a).max(initial=0.0), 1e-300))

    def _regular(self, change: DataChange, outputs: Array | None) -> Derivative:
        s = self.system
        y = s.solved(s.right(change))
        if s.is_singular and (reason := self._undetermined(change, y, outputs)):
            raise DataError(reason)
        return self._plain(*s.derivative(y, change))

    def _undetermined(self, change: DataChange, y: Array, outputs: Array | None) -> str:
        """Why outputs, or velocities, have no derivative where impulses are not unique; "" where they have one."""
        s, p, name = self.system, self.system.problem, "velocities" if outputs is None else "outputs"
        Y, right = s.kernel(), s.right(change)
        C = s.A if outputs is None else outputs[:, p.order] * p.unit

        def of(system: Linearised, y: Array) -> Array:
            dx, dF = system.derivative(y, change)
            return dF if outputs is None else C @ dx

        if np.abs(C @ s.R @ Y).max(initial=0.0) > 1e-9 * np.abs(C).max(initial=0.0) * np.abs(s.R @ Y).max():
            return f"{name} are not determined: they depend on impulses that the law does not determine"
        # Relative to the terms of their sums, which may cancel.
        if (np.abs(s.S @ y - right) > 1e-9 * s.terms(change)).any():
            return f"{name} have a kink: redundant contacts would have to move in ways that contradict one another"
        reach = np.abs([s.solved(e) for e in np.eye(s.Y)]).T @ s.terms(change)
        here, size = of(s, y), np.abs(C) @ (np.abs(s.R) @ reach)
        for direction in (s.R @ Y).T:
            moved = self._moved(direction)
            other = of(moved, moved.solved(moved.right(change)))
            if np.abs(other - here).max(initial=0.0) > 1e-7 * size.max(initial=0.0):
                return f"{name} have no derivative: it depends on how redundant contacts share the load"
        return ""

    def _moved(self, direction: Array) -> Linearised:
        """The same modes at another of the solutions, a little along a direction (X,) of the kernel."""
        s = self.system
        size = float(np.abs(direction).max()) or 1.0
        return s.moved(s.x + 1e-3 * float(np.abs(s.x).max(initial=0.0)) * direction / size)

    def _plain(self, dx: Array, dF: Array) -> Derivative:
        p = self.system.problem
        F = np.full(dF.size, np.nan)
        F[p.order] = np.divide(dF, p.unit, out=np.zeros(dF.size), where=p.unit > 0)
        return Derivative(p.plain(dx), F)

    def gradient(self, g: Array, limiting: bool = False) -> DataChange:
        """Of a function of z with gradient g (n,), the gradient by all data, set by set, by one transposed solve.

        Its A (X, X) is the outer product of what is due to q and of x. Between two modes `limiting` takes the Jacobian
        of one side (`modes.SIDE`). Of redundant contacts there is a gradient of what the share of the load does not
        move. Raises DataError where there is none.
        """
        p = self.system.problem
        given = p.unit * np.asarray(g, dtype=float)[p.order]
        s = self._one_side(given, limiting)
        return s.gradient(given) if s.rank == s.Y else s.gradient(given, self._adjoint(s, given))

    def adjoint(self, given: Array, limiting: bool = False) -> tuple[Linearised, Array]:
        """The law from which the gradient of a function of x with gradient `given` (X,) is formed, and the adjoint a
        (Y,) of its rows, S^T a = R^T given. Raises DataError as `gradient`."""
        s = self._one_side(given, limiting)
        return s, self._adjoint(s, given)

    def _adjoint(self, s: Linearised, given: Array) -> Array:
        wanted = s.R.T @ given
        a = s.solved(wanted, transposed=True)
        if s.is_singular:
            E = s.at.E[: s.Y]
            left, size = np.abs(s.S.T @ a - wanted), np.abs(s.S.T) @ np.abs(a) + np.abs(s.R.T) @ np.abs(given)
            if (E * left).max() > CONSISTENT * (E * size).max():
                raise DataError(UNDETERMINED)
        return a

    def _one_side(self, given: Array, limiting: bool) -> Linearised:
        """The law from which the gradient of a function with gradient `given` (X,) by x is formed; DataError where it
        is none of a single solution."""
        s = self.system
        if not s.count_between:
            return s
        kind, reason = self.verdict
        if not limiting:
            raise DataError(f"no gradient: {reason}")
        if kind in (PointKind.SEVERAL, PointKind.SINGULAR):
            # Redundant contacts: a vertex of their impulses has some at zero, which may bear as well.
            bearing = s.taken_for(BEARING)
            if kind is PointKind.SEVERAL and not bearing.is_singular:
                raise DataError(f"no gradient: {reason}")
            moved = bearing.R @ bearing.redundancy()
            if abs(given @ moved) > CONSISTENT * (np.abs(given) @ np.abs(moved)):
                raise DataError(UNDETERMINED)
        return s.settled().taken_for(SIDE)


def _count(between: list[SetMode]) -> str:
    return "between modes: " + ", ".join(f"{between.count(mode)} {mode}" for mode in dict.fromkeys(between))


def _solutions(posed: MixedNCP) -> tuple[list[Array], bool]:
    """All solutions of a one-sided problem with few bounded unknowns, each by the active set, that with the smallest
    residual first; otherwise the one found.

    The second value is False where there may be others.
    """
    bounded = np.flatnonzero((posed.lower > -np.inf) | (posed.upper < np.inf))
    if posed.sets.cone.any() or bounded.size > MOST_ROWS:
        from workbench.algorithms.mixed_exact import SOLVER

        found = SOLVER.solve(posed)
        return ([found.z] if found.verified else []), False
    # Each choice takes a solve, of the bounded unknowns alone where the others follow from them.
    free = np.setdiff1d(np.arange(posed.size), bounded)
    if _is_regular(posed.M[np.ix_(free, free)], REGULAR):
        order, left, bounded = np.concatenate([bounded, free]), bounded.size, np.arange(bounded.size)
    else:
        order, left = np.arange(posed.size), posed.size
    M, q, lower, upper = posed.M[np.ix_(order, order)], posed.q[order], posed.lower[order], posed.upper[order]
    rows = np.empty((MOST_SOLUTIONS, q.size))
    count, complete = find_candidates(M, q, lower, upper, bounded, *_without(np.arange(q.size) >= left, M, q), rows)
    candidates = rows[:count, np.argsort(order)]
    residuals = np.array([float(posed.residual(y)) for y in candidates])
    best = np.argsort(residuals, kind="stable")
    return [candidates[i] for i in best if residuals[i] <= SOLVED], bool(complete)


def _is_regular(M: Array, least: float) -> bool:
    """Return whether the smallest singular value of M, if it is not empty, exceeds this share of the largest."""
    values = np.linalg.svd(M, compute_uv=False)
    return not values.size or bool(values[-1] > least * values[0])


def _without(free: NDArray[np.bool_], M: Array, q: Array) -> tuple[Array, Array]:
    """[S, s] and X of a linear system M y + q without the unknowns that are `free`: these are X [y, 1] of the others,
    whose rows are S y + s, in which what is left of terms that cancel is zero."""
    both = np.column_stack([M[:, ~free], q])
    left, X = M[np.ix_(~free, free)], np.asarray(-np.linalg.solve(M[np.ix_(free, free)], both[free]), dtype=float)
    rows, sizes = both[~free] + left @ X, np.abs(both[~free]) + np.abs(left) @ np.abs(X)
    rows[np.abs(rows) <= ROUNDED * sizes] = 0.0
    return rows, X


def sensitivity_of(
    problem: Problem, z: Array, residual: float | None = None, still: NDArray[np.bool_] | None = None
) -> Sensitivity:
    """The sensitivity of a solution z (n,) of a problem, which is first improved to round-off; its residual is measured
    unless it is known. All data may change, but those that are `still` (n,) (`Compiled.still`).

    Raises DataError for a batch, for separate torsion and rolling, and for z that is not a solution.
    """
    if problem.is_batch:
        raise DataError("one problem at a time has a sensitivity, not a batch")
    p, z = problem.by_set, np.array(z, dtype=float)
    residual = float(problem.residual(z) if residual is None else residual)
    if not residual <= 1e-6:
        raise DataError(f"z is not a solution: its residual is {residual:.1e}")
    if residual > POLISHED:
        z, residual = _polished(problem, z, residual)
    x, least, rounding = p.unknowns(z), LEAST, TIMES * max(residual, 1e-16)
    still = np.zeros(z.size, dtype=bool) if still is None else still[p.order]
    for _ in range(3):
        system = linearised(p, x, least, still)
        if system.margin > rounding * WORST:
            break
        known = rounding * min(system.condition, WORST)
        if system.margin > known or least >= known:
            break
        least = known
    is_open = system.rank < 0 and rounding * system.condition > BADLY
    return Sensitivity(problem, z, system, is_open or (least > LEAST and system.count_between > 0))


def _polished(problem: Problem, z: Array, residual: float) -> tuple[Array, float]:
    """The solution that a method to round-off finds from z, if it is better, and its residual."""
    from workbench.algorithms import ROUND_OFF, find_solver
    from workbench.algorithms.asking import solved_from

    if problem.kind not in ROUND_OFF:
        return z, residual
    found = solved_from(find_solver(ROUND_OFF[problem.kind]), problem, z)
    better = found.verified and float(found.residual) < residual
    # A solution other than the one in question is no improvement.
    near = better and np.abs(found.z - z).max(initial=0.0) <= NEAR * np.abs(z).max(initial=0.0)
    return (np.asarray(found.z), float(found.residual)) if near else (z, residual)
