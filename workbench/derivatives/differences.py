"""Slopes of data by central differences of order four, and whether the data are smooth within their reach.

Of values at -2, -1, 0, 1, 2 steps the slope is that of the polynomial through the outer four; a slope of order two that
disagrees, or a fourth difference that is not zero, shows a jump, a kink or too long a step.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.support.arrays import Array
from workbench.support.errors import DataError

WIDTHS = 1e-3, 3e-5, 1e-6, 1e-8
"""Fractions of a parameter and of the state by which they are varied: for each datum the first at which it is smooth
enough is taken."""
ROUGH, LEVEL, ROUNDED = 1e-5, 1e-4, 1e-14
"""Relative disagreement of slopes of orders two and four up to which the latter are known to its square; share of the
data per unit of the input that counts as the size of a slope; fraction of the largest data that may be rounding."""
NOISY = 1e-8
"""Relative disagreement of slopes, as a share of the largest, that may be noise of the data beyond rounding."""
SHIFT = 1e-5
"""The fraction by which inputs are varied where smoothness is not in question."""
AT = -2.0, -1.0, 1.0, 2.0
"""The points, in steps, in the order of the values."""
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


@kernel(types.boolean(F64, F64, F64, F64, F64, F64, F64, F64), linked=True)
def is_smooth(y, far_back, back, near, far, step, unit, rounding):
    """Return whether the slopes of orders four and two of values around y, by a number of this unit, agree and the
    fourth difference vanishes; `rounding` is what rounding may add to slopes."""
    slope = fourth(far_back, back, near, far, step)
    bend = fourth_difference(y, far_back, back, near, far, step)
    size = max(abs(slope), LEVEL * abs(y) / unit)
    return max(abs(slope - second(back, near, step)), abs(bend)) <= ROUGH * size + rounding


@kernel(types.boolean(VECTOR, MATRIX, F64, F64, F64, INDICES, VECTOR))
def smooth_slopes(y, values, step, unit, largest, settled, found):
    """Compute the slopes (n,) by a number of this unit of those data y (n,) that are not settled, from their values
    (4, n) at the points `AT`, and settle the smooth ones; return whether all are settled. Data that are not finite have
    slope zero. Of `largest` a fraction may be rounding."""
    every = True
    for i in range(y.shape[0]):
        if settled[i]:
            continue
        far_back, back, near, far = values[0, i], values[1, i], values[2, i], values[3, i]
        found[i], settled[i] = fourth(far_back, back, near, far, step), 1
        if found[i] - found[i] != 0.0 or y[i] - y[i] != 0.0:
            found[i] = 0.0
        elif not is_smooth(y[i], far_back, back, near, far, step, unit, ROUNDED * largest / step):
            settled[i], every = 0, False
    return every


def slopes(of: Callable[[float], Sequence[Array]], unit: float) -> tuple[list[Array], bool]:
    """Return the slopes of order four at 0 of arrays that depend on a number of this unit, and whether these jump or
    have a kink within reach. Values that are not finite have slope zero.

    Of `WIDTHS`, up to the first with smooth arrays, the one with the least rounding and disagreement is taken, or the
    widest that agrees with it as far: where terms cancel, the curvature that is left is large for what is left of the
    slope.
    """
    tried: list[tuple[float, list[Array], list[float]]] = []
    here, smooth = of(0.0), False
    for width in WIDTHS:
        step = width * unit
        try:
            values = [of(k * step) for k in AT]
        except DataError:
            if width == WIDTHS[-1]:
                raise
            continue
        found, bounds, worst, smooth = [], [], 0.0, True
        for y, *around in zip(here, *values, strict=True):
            still = ~np.isfinite(y) | ~np.isfinite(around).all(axis=0)
            far_back, back, near, far = (np.where(still, 0.0, x) for x in around)
            y = np.where(still, 0.0, y)
            slope = fourth.py_func(far_back, back, near, far, step)
            apart = np.abs(slope - second.py_func(back, near, step))
            bend = np.abs(fourth_difference.py_func(y, far_back, back, near, far, step))
            size = np.maximum(np.abs(slope), LEVEL * np.abs(y) / unit)
            rounding = ROUNDED * float(np.abs(y).max(initial=0.0)) / step
            beyond = float((np.maximum(apart, bend) - ROUGH * size).max(initial=0.0))
            smooth &= beyond <= rounding
            found.append(slope)
            bounds.append(max(beyond, rounding))
            if bounds[-1] > 0.0:
                worst = max(worst, bounds[-1] / float(size.max()) if size.any() else np.inf)
        if smooth and not tried:
            return found, False
        tried.append((worst, found, bounds))
        if smooth:
            break
    k = min(range(len(tried)), key=lambda i: tried[i][0])
    worst, best, bounds = tried[k]
    for _, other, _ in tried[:k]:
        between = (np.abs(a - b).max(initial=0.0) for a, b in zip(other, best, strict=True))
        if all(a <= bound for a, bound in zip(between, bounds, strict=True)):
            best = other
            break
    return best, not smooth and worst > NOISY


def slopes_by_datum(of: Callable[[float], Sequence[Array]], unit: float, size: float) -> tuple[list[Array], bool]:
    """Return the same as `slopes`, each datum at its own first smooth width, as in compiled sweeps.

    Data of contacts that are far apart in size are rough at different widths. Rounding is that of numbers of this size
    at least, or of the largest of an array.
    """
    here = [np.ascontiguousarray(y, dtype=float) for y in of(0.0)]
    found, settled = [np.zeros(y.size) for y in here], [np.zeros(y.size, dtype=np.int64) for y in here]
    largest, smooth = [float(np.abs(y[np.isfinite(y)]).max(initial=size)) for y in here], False
    for width in WIDTHS:
        step = width * unit
        try:
            around = [of(k * step) for k in AT]
        except DataError:
            if width == WIDTHS[-1]:
                raise
            continue
        smooth = True
        for y, most, known, slope, *values in zip(here, largest, settled, found, *around, strict=True):
            smooth &= bool(smooth_slopes(y.ravel(), np.array(values).reshape(4, -1), step, unit, most, known, slope))
        if smooth:
            break
    return [slope.reshape(y.shape) for slope, y in zip(found, here, strict=True)], not smooth


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
