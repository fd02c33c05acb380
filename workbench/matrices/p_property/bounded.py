"""Uniqueness for every q of a mixed LCP with bounds: two tests, in exact arithmetic, with one certificate.

    l <= z <= u,    w = M z + q,    w_i >= 0 where z_i = l_i,  <= 0 where z_i = u_i,  = 0 between

The normal map of the box is affine on each of its faces: on the face where the unknowns of an index set a lie between
their bounds, its linear part has the determinant det M_aa. Such a map is a homeomorphism, so that there is exactly
one solution for every q, if and only if these determinants have the same nonzero sign (Robinson, Math. Oper. Res. 17,
1992, theorem 4.3). The sets a contain all free unknowns f, none that its bounds fix, and any of the others, c. Hence

    natural test    det M_aa has the same nonzero sign for all a that contain f and lie in f and c;
    reduced test    M_ff is regular, and the Schur complement M_cc - M_cf M_ff^-1 M_fc is a P-matrix,

which are equivalent, since det M_aa / det M_ff are the principal minors of the Schur complement. If all unknowns
are bounded below by zero, this is the theorem of Samelson, Thrall and Wesler (Cottle, Pang and Stone 1992, theorem
3.3.7); for all boxes at once it says that M itself is P (Facchinei and Pang 2003, volume I, section 3.5). It does not
depend on which bounds are finite, nor on their values.

The certificate of "not unique" is x != 0 with x = 0 where z is fixed, (M x)_f = 0 and x_i (M x)_i <= 0 for all i;
`two_solutions` turns it into a q for which there are two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock, seconds_left
from workbench.matrices.linear_algebra.in_time import null_space, solution
from workbench.matrices.linear_algebra.rationals import (
    affine,
    as_text,
    exact,
    extend_from_schur,
    nearest_double,
    product,
    spread,
    submatrix,
    whole_rows,
)
from workbench.matrices.p_property.verdict import p_verdict
from workbench.matrices.p_property.witness import PVerdict, schur_complement
from workbench.problems.classes import Array
from workbench.support.arrays import index_sets
from workbench.support.errors import DataError

LARGEST_NATURAL = 12
"""Largest number of bounded unknowns for which the natural test is made: 2^12 determinants."""


Bounds = Array | Sequence[fmpq | None]
"""Bounds (n), infinite or None where there is none."""


@dataclass(frozen=True)
class Pattern:
    """The unknowns that are free, those fixed by their bounds, and the others."""

    free: tuple[int, ...]
    fixed: tuple[int, ...]
    bounded: tuple[int, ...]


def pattern(lower: Array, upper: Array) -> Pattern:
    """The pattern of the bounds (n,). Raises DataError where no number lies between them."""
    empty = ~(lower <= upper) | (lower == np.inf) | (upper == -np.inf)
    if empty.any():
        i = int(np.argmax(empty))
        raise DataError(f"no number lies between lower[{i}] = {lower[i]} and upper[{i}] = {upper[i]}; lower <= upper")
    free, fixed = np.isinf(lower) & np.isinf(upper), lower == upper
    kinds = (free, fixed, ~free & ~fixed)
    return Pattern(*(tuple(np.flatnonzero(kind).tolist()) for kind in kinds))


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """Verdict "unique", "not unique" or "undecided" on solutions for every q, and its support.

    Unique: `proof` as text, and from the reduced test `p`, the verdict on the Schur complement with its tree. Not
    unique: `reversal`, the x (n) of the module's docstring. Undecided: `reason`.
    """

    verdict: str
    proof: str | None = None
    reversal: list[fmpq] | None = None
    reason: str | None = None
    p: PVerdict | None = None

    @property
    def witness(self) -> dict | None:
        """The certificate of a "not unique" verdict, ready for JSON."""
        return None if self.reversal is None else {"x": as_text(self.reversal)}


def reduced_test(M: fmpq_mat, kinds: Pattern, seconds: float) -> Uniqueness:
    """The test by the Schur complement on the free unknowns; M (n, n) rational, in about `seconds`."""
    deadline = clock() + seconds
    try:
        x = _singular_free(M, kinds, deadline)
        S = None if x is not None or not kinds.bounded else schur_complement(M, kinds.free, kinds.bounded, deadline)
    except OutOfTimeError:
        return Uniqueness("undecided", reason=f"{OUT_OF_TIME} before the Schur complement was formed")
    if x is not None:
        return Uniqueness("not unique", reversal=x)
    if S is None:
        return Uniqueness("unique", "no unknown is bounded, and the matrix of the equations is regular")
    found = p_verdict(S, seconds_left(deadline, 1.0))
    if found.verdict == "not P":
        reversal = [fmpq(text) for text in found.sign_reversal or ()]
        # Zero on the fixed unknowns, and with (M x)_f = 0.
        x = extend_from_schur(M, list(kinds.free), dict(zip(kinds.bounded, reversal, strict=True)))
        return Uniqueness("not unique", reversal=x, p=found)
    if found.verdict == "undecided":
        return Uniqueness("undecided", reason=f"whether the Schur complement is P: {found.reason}", p=found)
    what = "its Schur complement on the free unknowns" if kinds.free else "the part of M that is not fixed"
    return Uniqueness("unique", f"{what} is a P-matrix: {found.proof}", p=found)


def natural_test(M: fmpq_mat, kinds: Pattern, deadline: float) -> Uniqueness:
    """The test by the determinants of all faces of the box; M (n, n) rational, `deadline` by `clock()`."""
    if len(kinds.bounded) > LARGEST_NATURAL:
        faces = f"2^{len(kinds.bounded)} faces"
        return Uniqueness("undecided", reason=f"the box has {faces} to look at; at most 2^{LARGEST_NATURAL} are")
    try:
        x = _singular_free(M, kinds, deadline)
    except OutOfTimeError:
        return Uniqueness("undecided", reason=f"{OUT_OF_TIME} before the block of the free unknowns was decided")
    if x is not None:
        return Uniqueness("not unique", reversal=x)
    # Positive factors of rows change no sign of a minor.
    N = whole_rows(M)
    positive = _minor(N, kinds.free) > 0
    for a in index_sets(kinds.bounded, 1):
        if clock() > deadline:
            return Uniqueness("undecided", reason=f"{OUT_OF_TIME} before all 2^{len(kinds.bounded)} faces were seen")
        determinant = _minor(N, (*kinds.free, *a))
        if determinant == 0 or (determinant > 0) != positive:
            # All smaller sets have the right sign: M x vanishes on one index less, and x_i (M x)_i has the sign of this
            # one.
            return Uniqueness("not unique", reversal=extend_from_schur(M, [*kinds.free, *a[:-1]], {a[-1]: 1}))
    faces = 2 ** len(kinds.bounded)
    return Uniqueness("unique", f"the determinants of all {faces} faces of the box are {'> 0' if positive else '< 0'}")


def _singular_free(M: fmpq_mat, kinds: Pattern, deadline: float) -> list[fmpq] | None:
    """x with M_ff x_f = 0, zero elsewhere; None where M_ff is regular. Raises OutOfTimeError."""
    _, found = null_space(submatrix(M, kinds.free), deadline) if kinds.free else ([], [])
    return spread(M.nrows(), kinds.free, found[0]) if found else None


def _minor(N: fmpz_mat, a: tuple[int, ...]) -> int:
    return int(fmpz_mat(len(a), len(a), [N[i, j] for i in a for j in a]).det()) if a else 1


def reverses(M: fmpq_mat, kinds: Pattern, x: list[fmpq]) -> bool:
    """Whether x (n) is a certificate of "not unique", exactly, independently of the code that produced it."""
    if len(x) != M.nrows() or not any(x) or any(x[i] for i in kinds.fixed):
        return False
    Mx = product(M, x)
    return all(Mx[i] == 0 for i in kinds.free) and all(x[i] * Mx[i] <= 0 for i in kinds.bounded)


def solution_on_face(
    M: fmpq_mat, q: list[fmpq], lower: Bounds, upper: Bounds, near: Array, deadline: float = math.inf
) -> list[fmpq] | None:
    """The exact solution z (n) whose entries are at the same bounds as those of `near`; None where there is none.

    An entry of `near` counts as being at a bound if it differs from it by round-off. Raises OutOfTimeError.
    """
    low, high = exact_bounds(lower), exact_bounds(upper)
    slack = 1e-9 * np.maximum(1.0, np.abs(near))
    at: dict[int, fmpq] = {}
    for i, (x, below, above) in enumerate(zip(near, low, high, strict=True)):
        if below is not None and x <= nearest_double(below) + slack[i]:
            at[i] = below
        elif above is not None and x >= nearest_double(above) - slack[i]:
            at[i] = above
    between = [i for i in range(len(q)) if i not in at]
    z = [at.get(i, fmpq(0)) for i in range(len(q))]
    w = affine(M, z, q)
    if between:
        try:
            rhs = fmpq_mat(len(between), 1, [-w[i] for i in between])
            part = solution(submatrix(M, between), rhs, deadline).entries()
        except ZeroDivisionError:
            return None
        for i, value in zip(between, part, strict=True):
            z[i] = value
    return z if solves(M, q, low, high, z) else None


def solves(M: fmpq_mat, q: list[fmpq], lower: Bounds, upper: Bounds, z: list[fmpq]) -> bool:
    """Whether z (n) solves the problem, exactly."""
    for x, y, low, high in zip(z, affine(M, z, q), exact_bounds(lower), exact_bounds(upper), strict=True):
        above, below = low is None or x >= low, high is None or x <= high
        if not (above and below and (y <= 0 or x == low) and (y >= 0 or x == high)):
            return False
    return True


def exact_bounds(bounds: Bounds) -> list[fmpq | None]:
    """Bounds (n) as rationals, None for an infinite one."""
    if isinstance(bounds, np.ndarray):
        return [None if np.isinf(x) else exact(x) for x in bounds.tolist()]
    return list(bounds)


def two_solutions(M: fmpq_mat, lower: Array, upper: Array, x: list[fmpq]) -> tuple[list[fmpq], list[fmpq], list[fmpq]]:
    """q, z and z' (n): z and z' = z - t x solve the problem with this q. x is a certificate of "not unique".

    t > 0 is as large as the box allows, at most one. Where z_i and z_i' differ, at most one of them is at a bound.
    """
    n, kinds = len(x), pattern(lower, upper)
    both = [i for i in kinds.bounded if np.isfinite(lower[i]) and np.isfinite(upper[i]) and x[i] != 0]
    t = min([fmpq(1), *((exact(upper[i]) - exact(lower[i])) / abs(x[i]) for i in both)])
    Mx = product(M, x)
    z, other, w = [fmpq(0)] * n, [fmpq(0)] * n, [fmpq(0)] * n
    zero = fmpq(0)
    for i in range(n):
        step, slope = t * x[i], t * Mx[i]
        if i in kinds.free:
            z[i] = step
        elif np.isfinite(lower[i]):
            base = exact(lower[i])
            z[i], other[i], w[i] = base + max(step, zero), base + max(-step, zero), max(slope, zero)
        else:
            base = exact(upper[i])
            z[i], other[i], w[i] = base + min(step, zero), base + min(-step, zero), min(slope, zero)
    return [a - b for a, b in zip(w, product(M, z), strict=True)], z, other
