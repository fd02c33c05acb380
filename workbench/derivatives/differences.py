"""Slopes of data by central differences of order four, each datum at the width at which its slope is known best, or at
the narrowest of an array where it is known there as well: differences at one width keep linear relations between data,
as of rows of contacts that are nearly redundant, which solutions with them amplify.

Of values at -2, -1, 0, 1, 2 steps the slope is that of the polynomial through the outer four. Its error is at most
about the fourth difference, or the square of the disagreement with a slope of order two. The curvature of smooth data
vanishes from both as the width shrinks, and noise grows; kinks and jumps within reach stay.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR
from workbench.support.arrays import Array
from workbench.support.errors import DataError

WIDTHS = 1e-3, 3e-5, 1e-6, 1e-8
"""Fractions of a parameter and of the state by which they are varied, until all slopes are known."""
ROUGH, BENT = 1e-5, 3e-8
"""Shares of a slope up to which one of order two disagrees with it and its fourth difference reaches where its error is
negligible: those of a smooth datum whose slope is off by 1e-10."""
LEVEL, ROUNDED, ULP = 1e-4, 1e-14, 1e-2
"""Share of the data per unit of the input that counts as the size of a slope; fraction of the largest data that may be
rounding, and the share of that which always is, half a unit in the last place."""
TIMES = 10.0
"""Slopes at two widths contradict each other if they differ by this many times their estimated errors."""
KNOWN = 1e-7
"""Estimated error, as a share of a slope, above which data are rough: they are noisy, or jump, or have a kink."""
SHIFT = 1e-5
"""The fraction by which inputs are varied where smoothness is not in question."""
AT = -2.0, -1.0, 1.0, 2.0
"""The points, in steps, in the order of the values."""
SLOPE, ERROR, STEP, APART = range(4)
"""What is known of a datum: its slope, the estimated error, the step, and the disagreement with a slope of order two;
all infinite before anything is known."""
F64 = types.float64


@kernel(F64(F64, F64, F64, F64, F64), linked=True)
def fourth(far_back, back, near, far, step):
    """Return the slope of order four of the values at the points `AT`."""
    return (8.0 * (near - back) - (far - far_back)) / (12.0 * step)


@kernel(F64(F64, F64, F64), linked=True)
def second(back, near, step):
    """Return the slope of order two of the inner values."""
    return (near - back) / (2.0 * step)


@kernel(F64(F64, F64, F64, F64, F64, F64), linked=True)
def fourth_difference(y, far_back, back, near, far, step):
    """Return the fourth difference of values around y as an error of a slope."""
    return (far + far_back - 4.0 * (near + back) + 6.0 * y) / (4.0 * step)


@kernel(types.boolean(VECTOR, MATRIX, types.int64, F64, F64, F64, F64, types.boolean, MATRIX))
def refine(data, values, i, step, unit, rounding, noise, joins, known):
    """Improve what is `known` (4, n) of the slope of datum i by a number of this unit, by its `values` (4, n) at a
    narrower step than before; return whether the slope needs none that is narrower still. `rounding` is what rounding
    may add to slopes, `noise` what it always adds to values. Data that are not finite have slope zero. A datum that
    `joins` others takes the step unless its slope is known badly there."""
    y, far_back, back, near, far = data[i], values[0, i], values[1, i], values[2, i], values[3, i]
    slope = fourth(far_back, back, near, far, step)
    if slope - slope != 0.0 or y - y != 0.0:
        known[SLOPE, i] = known[ERROR, i] = 0.0
        return True
    bend = abs(fourth_difference(y, far_back, back, near, far, step))
    apart = abs(slope - second(back, near, step))
    size = max(abs(slope), LEVEL * abs(y) / unit)
    # Rounding of the values, which in few digits may be equal by chance.
    error, wider = max(bend, noise / step, apart * apart / size if size > 0.0 else 0.0), known[ERROR, i]
    if wider < np.inf:
        # Noise that shows now was there at the wider step, by chance unseen.
        wider = max(wider, bend * step / known[STEP, i])
        gap = abs(slope - known[SLOPE, i])
        if gap > TIMES * (wider + error) + rounding:
            # Noise may look like a slope, above all at narrow steps, and so may jumps at wide ones.
            wider, error = max(wider, gap), max(error, gap)
        known[ERROR, i] = wider
    # A slope that is known well is kept: a narrower step only adds noise, which may be small by chance.
    settled = known[APART, i] <= ROUGH * size + rounding and wider <= BENT * size + rounding
    if error <= BENT * size + rounding if joins else not settled and error < wider:
        known[SLOPE, i], known[ERROR, i], known[STEP, i], known[APART, i] = slope, error, step, apart
        settled = apart <= ROUGH * size + rounding and error <= BENT * size + rounding
    return settled


@kernel(types.boolean(F64, F64, F64, MATRIX, types.int64))
def is_rough(y, unit, rounding, known, i):
    """Return whether the slope of datum i, y, is known too badly at all widths."""
    return known[ERROR, i] > KNOWN * max(abs(known[SLOPE, i]), LEVEL * abs(y) / unit) + rounding


@kernel(types.boolean(VECTOR, MATRIX, F64, F64, F64, F64, MATRIX))
def refine_slopes(y, values, step, unit, rounding, noise, known):
    """Improve what is `known` (4, n) of the slopes of data y (n,) by a number of this unit from their values (4, n) at
    the points `AT`; return whether none needs a narrower step (`refine`)."""
    settled, narrows = True, False
    for i in range(y.shape[0]):
        settled &= refine(y, values, i, step, unit, rounding, noise, False, known)
        narrows |= known[STEP, i] == step and known[SLOPE, i] != 0.0
    if narrows:
        for i in range(y.shape[0]):
            if step < known[STEP, i] < np.inf:
                refine(y, values, i, step, unit, rounding, noise, True, known)
    return settled


@kernel(types.boolean(VECTOR, F64, F64, MATRIX))
def are_rough(y, unit, rounding, known):
    """Return whether the slope of any of the data y (n,) is known too badly (`is_rough`)."""
    found = False
    for i in range(y.shape[0]):
        found |= is_rough(y[i], unit, rounding, known, i)
    return found


def size_of(y: Array, least: float = 0.0) -> float:
    """Return the largest size of the finite entries of y, or `least`."""
    return float(np.abs(y[np.isfinite(y)]).max(initial=least))


def slopes(
    of: Callable[[float], Sequence[Array]], unit: float, sizes: Sequence[float] = (), hidden: float = 0.0
) -> tuple[list[Array], bool]:
    """Return the slopes at 0 of arrays that depend on a number of this unit, and whether some are known badly: the
    arrays are noisy there, jump or have a kink within reach.

    Rounding is that of the largest number of an array, or of numbers of the size given for it; `hidden` is the size of
    numbers that may have cancelled before.
    """
    here = [np.ascontiguousarray(y, dtype=float) for y in of(0.0)]
    known = [np.full((4, y.size), np.inf) for y in here]
    largest = [size_of(y, size) for y, size in zip(here, sizes or [0.0] * len(here), strict=True)]
    noise = [ULP * ROUNDED * max(most, hidden) for most in largest]
    both = zip(largest, noise, strict=True)
    rounding = [max(ROUNDED * most, TIMES * least) / (WIDTHS[0] * unit) for most, least in both]
    for width in WIDTHS:
        step = width * unit
        try:
            around = [of(k * step) for k in AT]
        except DataError:
            if width == WIDTHS[-1]:
                raise
            continue
        settled = True
        for y, off, least, found, *values in zip(here, rounding, noise, known, *around, strict=True):
            settled &= bool(refine_slopes(y.ravel(), np.array(values).reshape(4, -1), step, unit, off, least, found))
        if settled:
            break
    rough = any(are_rough(y.ravel(), unit, off, found) for y, off, found in zip(here, rounding, known, strict=True))
    return [found[SLOPE].reshape(y.shape) for y, found in zip(here, known, strict=True)], rough


def differences(of: Callable[[float], Sequence[Array]], shift: float) -> tuple[list[Array], list[Array]]:
    """Differences of orders four and two of arrays at a shift. Values that are not finite, the memory of a first step
    and bounds, have derivative zero."""
    found: tuple[list[Array], list[Array]] = [], []
    for far_back, back, near, far in zip(*(of(k * shift) for k in AT), strict=True):
        with np.errstate(invalid="ignore"):
            both = fourth.py_func(far_back, back, near, far, shift), second.py_func(back, near, shift)
        for slopes, values in zip(found, both, strict=True):
            slopes.append(np.where(np.isfinite(both[1]), values, 0.0))
    return found
