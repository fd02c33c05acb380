"""The largest uncertainty that keeps a property: the largest r for which every |A - C| <= r D has it.

Boxes with a larger r hold those with a smaller one, so that a bracket is sound: all are at its lower end, one is not at
its upper end. A member that is refuted gives more than its own r: along its signs z the minor of its index set is
det (C - r diag(z) D diag(z))_aa, and vanishes first at the reciprocal of the largest real eigenvalue of
C_aa^-1 (z D z)_aa. Once that is near what is proved, the next r tried lies just below, so that few boxes
have to be decided.

    P                 as it is
    PD                P of the box of the symmetric parts
    H_plus            P of the box around the comparison matrix of C, whose worst member is that of the box
"""

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, clock, seconds_left
from workbench.matrices.intervals.p_box import AllP, all_p
from workbench.matrices.linear_algebra.rationals import doubles, exact, submatrix
from workbench.readers.interval_matrix import IntervalMatrix

WIDTH = 1e-7
"""Relative width of the bracket that is sought."""
ABOVE = 1e-10
"""By which part an eigenvalue's r is taken larger, so that the minor is not positive there."""
LARGEST = 2**40
"""Multiple of the radii beyond which none is tried: they hardly ever matter then."""

BOXES = {
    "P": lambda box: box,
    "PD": lambda box: box.symmetric_part(),
    "H_plus": lambda box: _comparison(box),
}
"""Per class the box that is P exactly as long as all members of the given one belong to the class."""


@dataclass(frozen=True, eq=False)
class Bracket:
    """lower <= r* <= upper for the largest factor r* of the radii that keeps the class; upper None where none was
    refuted; both zero where the centre itself is outside. `reason` says why the bracket is wide.

    `tree` proves the box of `BOXES` with the radii times lower to be P (`p_box`), None where it was too long to keep or
    the centre is outside; `lost` are the signs z (n) and the index set of a minor of it that is not positive at upper.
    """

    lower: fmpq
    upper: fmpq | None
    reason: str | None = None
    tree: list[tuple] | None = None
    lost: tuple[tuple[int, ...], tuple[int, ...]] | None = None


def largest_uncertainty(box: IntervalMatrix, name: str, deadline: float) -> Bracket:
    """The bracket for one of the classes in `BOXES`, by about `deadline` (`clock()`)."""
    part = BOXES[name](box)
    low, high, zero = fmpq(0), None, fmpq(0)
    first = all_p(part.scaled(zero), deadline)
    if first.verdict != "all":
        return Bracket(zero, zero if first.verdict == "not all" else None, first.reason, lost=_lost(first))
    if not part.uncertain:
        return Bracket(zero, None, "nothing is uncertain", first.tree)
    r, reason, tree, lost = fmpq(1), None, first.tree, None
    while high is None or high - low > exact(WIDTH) * high:
        if clock() > deadline:
            reason = reason or OUT_OF_TIME
            break
        # A box that is not decided soon leaves time for smaller ones.
        found = all_p(part.scaled(r), clock() + seconds_left(deadline, 0.2))
        if found.verdict == "all":
            low, tree = r, found.tree
            if high is None and r > LARGEST:
                return Bracket(low, None, "no larger multiple of the radii is tried", tree)
            r = _simple(2 * low, 2 * low) if high is None else _next(low, high)
        elif found.verdict == "not all":
            high, lost = _first_loss(part, found, r), _lost(found)
            r = _next(low, high)
        else:
            reason = found.reason
            r = _simple((low + r) / 2, r)
            if r <= low or (high is not None and r - low < exact(1e-3) * high):
                break
    wide = high is None or high - low > exact(WIDTH) * high
    return Bracket(low, high, reason if wide else None, tree, lost)


def _lost(found: AllP) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The signs and the index set of a minor that is not positive."""
    return tuple(found.signs or ()), tuple((found.p and found.p.index_set) or ())


def _next(low: fmpq, high: fmpq) -> fmpq:
    """Just below what is refuted once that is near what is proved, else between the two."""
    if low < high * fmpq(9, 10):
        return _simple((low + high) / 2, high)
    return _simple(high * (1 - exact(0.3 * WIDTH)), high)


def _simple(x: fmpq, size: fmpq) -> fmpq:
    """A number near x with few digits, 40 bits finer than the size."""
    step = fmpq(2) ** (int(size.p).bit_length() - int(size.q).bit_length() - 40)
    return step * ((x / step).p // (x / step).q)


def _first_loss(box: IntervalMatrix, found: AllP, r: fmpq) -> fmpq:
    """A factor, at most r, at which the refuted minor is still not positive, near to the least one."""
    a, z = found.p.index_set if found.p else (), found.signs or ()
    if not a:
        return r
    C = submatrix(box.centre, a)
    D = fmpq_mat(len(a), len(a), [z[i] * z[j] * box.radius[i, j] for i in a for j in a])
    eigenvalues = np.linalg.eigvals(doubles(C.solve(D)))
    real = eigenvalues.real[np.abs(eigenvalues.imag) <= 1e-9 * np.abs(eigenvalues)]
    if not real.size or real.max() <= 0:
        return r
    least = exact((1 + ABOVE) / real.max())
    return least if least < r and (C - least * D).det() <= 0 else r


def _comparison(box: IntervalMatrix) -> IntervalMatrix:
    rows = box.centre.tolist()
    centre = fmpq_mat([[x if i == j else -abs(x) for j, x in enumerate(row)] for i, row in enumerate(rows)])
    return IntervalMatrix(centre, box.radius)
