"""Does an error vanish with the step, at which order, or what does it come to? Fits with their uncertainty.

Two models of an error e at steps h are held against each other, with relative deviations, since errors are known by
their digits:

    e = C h^p              a straight line in logarithms, p its slope
    e = e_0 + C h^p        what is left at the limit of small steps is the formulation's own error e_0

The second counts only where an F test at 95 % says that it is better, or where the first finds that the error does
not fall, or of three steps hardly. Intervals are those of 95 % by the scatter about the fit, which needs one step more
than the model has numbers; with several points of a study each has a C of its own in the first model. The reference has
an error too, which shifts all of a point's errors alike: an interval holds those of the errors with the reference's
uncertainty added, and taken away (formulary, section 7.11).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls
from scipy.stats import f as fisher
from scipy.stats import t as student

from workbench.arrays import Array

ORDERS = np.linspace(0.25, 4.0, 151)
"""Orders that are tried where there is a limit."""
LEVEL = 0.95
LEAST_ORDER = 0.5
"""An error of a lower order than any scheme has hardly falls with the step."""
ROUNDING = 1e-18
"""Sums of squares that are nothing but rounding."""
LEAST_STEPS = 4
"""Steps from which on errors through impacts may be said to be bounded by C h."""
LEAST = 1e-12
"""Errors below are round-off, and no order is fitted."""


@dataclass(frozen=True)
class Order:
    """The order p and the limit e_0 of an error, with intervals of 95 %; NaN where the steps do not tell.

    `last` is the median error at the smallest step.
    """

    steps: int
    p: float
    p_low: float
    p_high: float
    limit: float = 0.0
    limit_low: float = 0.0
    limit_high: float = 0.0
    last: float = np.nan

    @property
    def falls(self) -> str:
        """Whether it falls with the step: "limit", "vanishes", "hardly", "not", "unknown"; "zero" if it is."""
        if self.last == 0:
            return "zero"
        if np.isnan(self.p):
            return "unknown"
        if self.limit > 0:
            return "limit"
        low, high = (self.p if np.isnan(x) else x for x in (self.p_low, self.p_high))
        if high < LEAST_ORDER:
            return "not" if low <= 0 else "hardly"
        return "vanishes" if low > 0 else "unknown"


UNKNOWN = Order(0, np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class Bound:
    """The least C with e <= C h at all steps of errors whose order no fit tells, as through impacts: there the error
    follows where in their steps they fall. `last` is the error at the smallest step."""

    steps: int
    C: float
    last: float
    falls: str
    """Whether C is one: "bounded", "not", "unknown" below `LEAST_STEPS`; "zero" of an error that is zero."""


def bound(h: Array, errors: Array) -> Bound:
    """The bound of errors (steps,) at steps h [s], NaN left out. It is none where e / h is more than twice as large in
    the smaller half of the steps as in the larger: an error that stays, or falls with the root of the step, makes more
    of it."""
    known = np.isfinite(errors)
    h, e = np.asarray(h, dtype=float)[known], np.asarray(errors, dtype=float)[known]
    by_size = np.argsort(-h)
    ratio, half = (e / h)[by_size], len(h) // 2
    last = float(e[by_size[-1]]) if len(h) else np.nan
    if len(h) < LEAST_STEPS:
        return Bound(len(h), np.nan, last, "unknown")
    if e.max() <= LEAST:
        return Bound(len(h), 0.0, 0.0, "zero")
    holds = ratio[half:].max() <= 2 * ratio[:half].max()
    return Bound(len(h), float(ratio.max()), last, "bounded" if holds else "not")


def order(h: Array, errors: Array, uncertainty: Array | None = None) -> Order:
    """The order of errors (points, steps) at steps h [s]; NaN is left out, and two steps at least are needed.

    `uncertainty` (points,) is how well the reference is known, in the unit of the errors; NaN is none. Errors that do
    not exceed it tell no order.
    """
    h, errors = np.asarray(h, dtype=float), np.atleast_2d(np.asarray(errors, dtype=float))
    found = _order(h, errors)
    if uncertainty is None or np.isnan(found.p):
        return found
    shift = np.nan_to_num(np.asarray(uncertainty, dtype=float))[:, None]
    fits = [found, _order(h, errors + shift), _order(h, errors - shift)]
    if any(np.isnan(fit.p) for fit in fits):
        return replace(UNKNOWN, steps=found.steps, last=found.last)

    def reach(name: str, pick: np.ufunc) -> float:
        # What these errors themselves do not tell, no shift does.
        own = getattr(found, name)
        return own if np.isnan(own) else float(pick.reduce([getattr(fit, name) for fit in fits]))

    return replace(
        found, p_low=reach("p_low", np.fmin), p_high=reach("p_high", np.fmax),
        limit_low=reach("limit_low", np.fmin), limit_high=reach("limit_high", np.fmax),
    )  # fmt: skip


def _order(h: Array, errors: Array) -> Order:
    good, all_of = np.isfinite(errors) & (errors > LEAST), errors[np.isfinite(errors)]
    errors = np.where(good & (good.sum(axis=1, keepdims=True) >= 2), errors, np.nan)
    used = np.isfinite(errors).any(axis=0)
    if used.sum() < 2:
        return replace(UNKNOWN, last=0.0) if np.nanmax(all_of, initial=0.0) <= LEAST < all_of.size else UNKNOWN
    line = _line(np.log(h), np.log(errors))
    steps, middle = h[used], np.nanmedian(errors[:, used], axis=0)
    last = float(middle[np.argmin(steps)])
    if len(steps) < 3:
        return replace(line, last=last)
    # An error that grows as the step shrinks comes to nothing that these steps tell, unless it is seen to stop growing.
    grows = line.p_high < -LEAST
    limit, better = _limit(steps, middle, -1.0 if grows else 1.0)
    own = _left_of_power(steps, middle, _line(np.log(steps), np.log(middle)[None]).p)
    freedom = len(steps) - 3
    significant = freedom > 0 and (own - better) * freedom > fisher.ppf(LEVEL, 1, freedom) * max(better, ROUNDING)
    # Where the straight line finds that it does not fall, the error has come to its limit; so it has where it hardly
    # falls and three steps cannot tell the models apart.
    flat = line.falls == "not" or (freedom == 0 and line.falls == "hardly")
    return replace(limit if limit.limit > 0 and (significant or (flat and not grows)) else line, last=last)


def _line(x: Array, y: Array) -> Order:
    """The common slope of lines (points, steps) that each have a constant of their own."""
    known = np.isfinite(y)
    n, points = int(known.sum()), int(known.any(axis=1).sum())
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    dx = np.where(known, x - np.where(known, x, 0.0).sum(axis=1, keepdims=True) / count, 0.0)
    dy = np.where(known, y - np.nansum(y, axis=1, keepdims=True) / count, 0.0)
    slope = float((dx * dy).sum() / (dx * dx).sum())
    left = float(((dy - slope * dx) ** 2).sum())
    freedom = n - points - 1
    width = student.ppf(0.5 + LEVEL / 2, freedom) * np.sqrt(left / freedom / (dx * dx).sum()) if freedom > 0 else np.nan
    return Order(int(known.any(axis=0).sum()), slope, slope - width, slope + width)


def _left_of_power(h: Array, e: Array, p: float) -> float:
    """The sum of squares of relative deviations of the best C h^p, by the measure of the other model."""
    power = h**p / e
    return float(((power * power.sum() / (power @ power) - 1) ** 2).sum())


def _limit(h: Array, e: Array, sign: float) -> tuple[Order, float]:
    """The best fit of e_0 + C h^p, C of this sign, and the sum of squares of its relative deviations."""
    fits = [(p, *_at_order(h, e, p, sign)) for p in ORDERS]
    p, limit, left = min(fits, key=lambda fit: fit[2])
    freedom = len(h) - 3
    if freedom <= 0:
        return Order(len(h), p, np.nan, np.nan, limit, np.nan, np.nan), left
    # All that an F test does not tell from the best.
    most = left * (1 + fisher.ppf(LEVEL, 1, freedom) / freedom)
    near = [(q, c) for q, c, x in fits if x <= most]
    orders, limits = ([fit[i] for fit in near] for i in (0, 1))
    return Order(len(h), p, min(orders), max(orders), limit, min(limits), max(limits)), left


def _at_order(h: Array, e: Array, p: float, sign: float) -> tuple[float, float]:
    """The limit e_0 >= 0 and the sum of squares of relative deviations, at a given order and sign of C."""
    (limit, _), left = nnls(np.stack([1 / e, sign * (h / h.max()) ** p / e], axis=1), np.ones(len(e)))
    return float(limit), float(left**2)
