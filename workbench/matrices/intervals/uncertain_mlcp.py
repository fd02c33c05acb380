"""The solutions of an MLCP whose data are uncertain: whether there are any, bounds of every unknown, where it is.

    l <= z <= u,    w = M z + q,    w_i >= 0 where z_i = l_i,  <= 0 where z_i = u_i,  = 0 between

The bounds are optima over all solutions of all problems (`branches`). Before, the solution of the centre is bounded on
its basis: unknowns y = (z on a, w elsewhere) with G y = g, g = q + M z with z at its bounds elsewhere, move by at most
e = (I - |R| D)^-1 |R| (D |z| + d), R = G^-1, d the radius of g. Where all stay inside and there is one solution for
every M and q (`unique_box`), all is chosen. An LCP has l = 0 and no u.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock, seconds_left
from workbench.matrices.intervals.branches import BETWEEN, LOWER, NOTHING_CHOSEN, UPPER, Branches
from workbench.matrices.intervals.symmetric_lcp import symmetric_extreme
from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
from workbench.matrices.linear_algebra.in_time import solution
from workbench.matrices.linear_algebra.rationals import Vector, affine, identity, moduli
from workbench.matrices.p_property.bounded import solution_on_face
from workbench.support.arrays import Array

UNDETERMINED = "undetermined"
LARGEST = 60
"""Unknowns up to which the solutions are bounded."""


@dataclass(frozen=True, eq=False)
class CentreBasis:
    """The solution z (n) of the centre's problem, exactly, the place of each unknown there ("between", "lower" or
    "upper"), and how far z and w may move on this basis: radius (n) of z_i between bounds and of w_i elsewhere, None
    where no bound was found. `strict`: none reaches its bounds or zero, so that every problem has a solution with these
    places."""

    z: Vector
    places: list[str]
    radius: Vector | None
    strict: bool

    @property
    def basic(self) -> tuple[int, ...]:
        """The unknowns between their bounds."""
        return tuple(i for i, place in enumerate(self.places) if place == BETWEEN)


@dataclass(frozen=True, eq=False)
class SolutionBounds:
    """Bounds of the solutions of all problems of the box.

    lower, upper (n): bounds of z, None for no bound; `exact` tells whether both are taken on within the box.
    `places` (n): where z_i is for all solutions, "between", "lower" or "upper", or "undetermined". `solvable`: "one"
    solution for every problem, "some" for each, "none" for any, or "undecided". `basis` is that of the centre, where it
    was found; `reason` says what is left open.
    """

    lower: list[fmpq | None]
    upper: list[fmpq | None]
    exact: bool
    solvable: str
    places: list[str]
    basis: CentreBasis | None
    reason: str | None = None


def bounds(problem: UncertainMLCP, unique: bool, near: Array, deadline: float) -> SolutionBounds:
    """Bounds of the solutions, by about `deadline`; `unique` tells that there is one for every M, q and bounds. `near`
    (n) is a solution of the centre's problem in floating point, nan where none is known.

    Of a symmetric M they are those of its symmetric matrices where the basis of an LCP is known, or else hold for all.
    """
    M, n = problem.M, problem.M.order
    lower, upper = (
        [None if x is None else x[k] for x in ends] for k, ends in enumerate((problem.lower, problem.upper))
    )
    if n > LARGEST:
        why = f"the order {n} exceeds {LARGEST}"
        solvable = "one" if unique else "some" if problem.is_compact else "undecided"
        return SolutionBounds(lower, upper, False, solvable, _places(problem, lower, upper), None, why)
    basis = _basis(problem, near, deadline)
    strict = basis is not None and basis.strict
    solvable = "one" if unique else "some" if strict or problem.is_compact else "undecided"
    branches, start = Branches(problem), NOTHING_CHOSEN
    if basis is not None and strict and unique:
        start = branches.chosen(basis.places)
        for i in basis.basic:
            if basis.radius is not None:
                lower[i], upper[i] = basis.z[i] - basis.radius[i], basis.z[i] + basis.radius[i]
        for i, place in enumerate(basis.places):
            if place != BETWEEN:
                lower[i], upper[i] = (problem.lower if place == LOWER else problem.upper)[i]  # type: ignore[misc]
        if M.symmetric and problem.is_lcp:
            return _of_symmetric(problem, SolutionBounds(lower, upper, True, solvable, basis.places, basis), deadline)
    exact, reason = True, None
    for k, (i, sign) in enumerate(itertools.product(range(n), (1, -1))):
        until = clock() + seconds_left(deadline, 1.0 / (2 * n - k))
        try:
            found = branches.extreme(i, sign, start, until)
        except OutOfTimeError:
            exact, reason = False, f"{OUT_OF_TIME} before all bounds were found"
            continue
        if found is None:
            nothing: list[fmpq | None] = [None] * n
            return SolutionBounds(nothing, nothing, True, "none", [UNDETERMINED] * n, basis)
        value, attained = found
        exact &= attained
        reason = reason if attained else f"{OUT_OF_TIME} before all bounds were exact"
        ends = lower if sign > 0 else upper
        if value is not None and (ends[i] is None or value > sign * ends[i]):  # type: ignore[operator]
            ends[i] = sign * value
    if M.symmetric:
        exact, reason = False, reason or "they hold for all matrices of the box; symmetric ones may stay further inside"
    places = basis.places if basis is not None and strict and unique else _places(problem, lower, upper)
    return SolutionBounds(lower, upper, exact, solvable, places, basis, reason)


def _places(problem: UncertainMLCP, lower: list[fmpq | None], upper: list[fmpq | None]) -> list[str]:
    """Where each unknown is certainly, by its bounds."""
    found = []
    for z_low, z_high, low, high in zip(lower, upper, problem.lower, problem.upper, strict=True):
        at_low = low is not None and z_high is not None and z_high <= low[0]
        at_high = high is not None and z_low is not None and z_low >= high[1]
        above = low is None or (z_low is not None and z_low > low[1])
        below = high is None or (z_high is not None and z_high < high[0])
        found.append(LOWER if at_low else UPPER if at_high else BETWEEN if above and below else UNDETERMINED)
    return found


def _of_symmetric(problem: UncertainMLCP, around: SolutionBounds, deadline: float) -> SolutionBounds:
    """The bounds of an LCP over the symmetric matrices of a box on the basis of the centre."""
    lower, upper, exact = list(around.lower), list(around.upper), True
    a = around.basis.basic if around.basis else ()
    ends = list(itertools.product(range(len(a)), (1, -1)))
    for count, (k, sign) in enumerate(ends):
        until = clock() + seconds_left(deadline, 1.0 / (len(ends) - count))
        found = symmetric_extreme(problem.M, problem.q, a, k, sign, until)
        exact &= found is not None and found[1]
        if found is not None and sign > 0:
            lower[a[k]] = found[0]
        elif found is not None:
            upper[a[k]] = -found[0]
    reason = None if exact else f"{OUT_OF_TIME} before all bounds were exact"
    return SolutionBounds(lower, upper, exact, around.solvable, around.places, around.basis, reason)


def _basis(problem: UncertainMLCP, near: Array, deadline: float) -> CentreBasis | None:
    """The solution of the centre's problem with its bound; None where it was not found."""
    if not np.isfinite(near).all():
        return None
    try:
        z = solution_on_face(problem.M.centre, problem.q.centre.entries(), *problem.centre_bounds, near, deadline)
    except OutOfTimeError:
        return None
    if z is None:
        return None
    try:
        found = enclosed_basis(problem, z, deadline)
    except (ZeroDivisionError, OutOfTimeError):
        found = None
    radius, strict = (None, False) if found is None else (found.radius, found.strict)
    return CentreBasis(z, places_of(problem, z), radius, strict)


def places_of(problem: UncertainMLCP, z: Vector) -> list[str]:
    """Where the unknowns of z (n) are, for the bounds of the centre."""
    ends = zip(z, *problem.centre_bounds, strict=True)
    return [LOWER if x == low else UPPER if x == high else BETWEEN for x, low, high in ends]


@dataclass(frozen=True, eq=False)
class EnclosedUnknowns:
    """The unknowns of a basis, z between bounds and w elsewhere, as y (n) at the centre, R = G^-1 (n, n), and how far
    they move: radius (n); growth (n) = (I - |R| D)^-1 (1, ..., 1) > 0; and how much room each has, None without end."""

    y: Vector
    R: fmpq_mat
    radius: Vector
    growth: Vector
    room: list[fmpq | None]

    @property
    def strict(self) -> bool:
        """Whether all keep their places."""
        return all(r is None or r > e for r, e in zip(self.room, self.radius, strict=True))


def enclosed_basis(problem: UncertainMLCP, z: Vector, deadline: float) -> EnclosedUnknowns | None:
    """How far the unknowns of the basis of z (n), the exact solution of the centre's problem, may move; None where
    |R| D has a spectral radius of one or more. Raises OutOfTimeError, and ZeroDivisionError for a singular basis."""
    M, q, n, one = problem.M, problem.q, problem.M.order, fmpq(1)
    places = places_of(problem, z)
    inside = {i for i in range(n) if places[i] == BETWEEN}
    at = {i: (problem.lower if places[i] == LOWER else problem.upper)[i] for i in range(n) if i not in inside}
    w = affine(M.centre, z, q.centre.entries())
    G = fmpq_mat(n, n, [-M.centre[i, j] if j in inside else fmpq(i == j) for i in range(n) for j in range(n)])
    R = solution(G, identity(n), deadline)
    size = moduli(R)
    D = fmpq_mat(n, n, [M.radius[i, j] if j in inside else fmpq(0) for i in range(n) for j in range(n)])
    # Bounds that move by r add (|C| + D) r to what D |z| and d move.
    half = {i: (ends[1] - ends[0]) / 2 for i, ends in at.items() if ends and ends[0] < ends[1]}
    added = [sum(((abs(M.centre[i, j]) + M.radius[i, j]) * r for j, r in half.items()), fmpq(0)) for i in range(n)]
    spread = size * (M.radius * moduli(fmpq_mat(n, 1, z)) + q.radius + fmpq_mat(n, 1, added))
    both = fmpq_mat(n, 2, [x for v in spread.entries() for x in (v, one)])
    found = solution(identity(n) - size * D, both, deadline).tolist()
    # An inverse-positive Z-matrix: the series of |R| D converges.
    if any(row[1] <= 0 for row in found):
        return None
    y = [z[i] if i in inside else w[i] for i in range(n)]
    room = [_room(problem, i, places[i], y[i]) for i in range(n)]
    return EnclosedUnknowns(y, R, [row[0] for row in found], [row[1] for row in found], room)


def _room(problem: UncertainMLCP, i: int, place: str, y: fmpq) -> fmpq | None:
    """How far an unknown may move in its place; None where nothing bounds it."""
    low, high = problem.lower[i], problem.upper[i]
    if place == BETWEEN:
        ends = [y - low[1]] if low else []
        return min([*ends, high[0] - y] if high else ends, default=None)
    return None if i in problem.kinds.fixed else y if place == LOWER else -y
