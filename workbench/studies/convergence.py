"""Order of convergence: fits of errors over the step size, with confidence intervals.

Two models of an error e at steps h are compared, with relative deviations, since errors are known by their digits:

    e = C h^p              a straight line in logarithms, p its slope
    e = e_0 + C h^p        the limit at small steps is the formulation's own error e_0

The second is used only if an F test at 95 % prefers it, or if the first finds that the error does not decrease, or,
with three steps, hardly. Intervals are those of 95 % by the scatter about the fit, which needs one step more than the
model has parameters; with several points of a study each has its own C in the first model. The reference has an error
too, which shifts all errors of a point alike: an interval includes those of the errors with the reference's uncertainty
added and subtracted (formulary, section 7.11).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls
from scipy.stats import f as fisher
from scipy.stats import t as student

from workbench.support.arrays import Array

ORDERS = np.linspace(0.25, 4.0, 151)
"""Orders that are tried for a model with a limit."""
LEVEL = 0.95
LEAST_ORDER = 0.5
"""Lower than the order of any scheme: with such an order, an error hardly decreases with the step."""
ROUNDING = 1e-18
"""Sums of squares below this are round-off."""
LEAST_STEPS = 4
"""Smallest number of steps for claiming that errors through impacts are bounded by C h."""
LEAST = 1e-12
"""Errors below are round-off, and no order is fitted."""


@dataclass(frozen=True)
class Order:
    """The order p and the limit e_0 of an error, with intervals of 95 %; NaN if the steps do not determine them.

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
        """True if the error falls with the step: "limit", "vanishes", "hardly", "not", "unknown" or "zero"."""
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
    """The least C with e <= C h at all steps, for errors without an order.

    Such are errors through impacts, which depend on the times of impacts within steps. `last` is the error at the
    smallest step.
    """

    steps: int
    C: float
    last: float
    falls: str
    """Verdict on C as a bound: "bounded", "not", "unknown" below `LEAST_STEPS`; "zero" for an error that is zero."""


def error_bound(h: Array, errors: Array) -> Bound:
    """Return the bound of errors (steps,) at steps h [s], NaN left out.

    It is rejected if e / h is more than twice as large in the smaller half of the steps as in the larger: a constant
    error, or one that decreases with the square root of the step, exceeds this."""
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
    """Return the order of errors (points, steps) at steps h [s]; NaN is left out, and two steps at least are needed.

    `uncertainty` (points,) is that of the reference, in the unit of the errors; NaN is none. Errors that do not exceed
    it determine no order.
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
        # A shift cannot determine what the errors themselves do not.
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
    # From an error that grows as the step decreases nothing follows, unless it is seen to level off.
    grows = line.p_high < -LEAST
    limit, better = _limit(steps, middle, -1.0 if grows else 1.0)
    own = _left_of_power(steps, middle, _line(np.log(steps), np.log(middle)[None]).p)
    freedom = len(steps) - 3
    significant = freedom > 0 and (own - better) * freedom > fisher.ppf(LEVEL, 1, freedom) * max(better, ROUNDING)
    # If the straight line finds no decrease, the error has reached its limit; so it has if it hardly decreases and
    # three steps cannot distinguish the models.
    flat = line.falls == "not" or (freedom == 0 and line.falls == "hardly")
    return replace(limit if limit.limit > 0 and (significant or (flat and not grows)) else line, last=last)


def _line(x: Array, y: Array) -> Order:
    """Fit the common slope of lines (points, steps) with separate constants."""
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
    """Return the sum of squares of relative deviations of the best C h^p, in the measure of the other model."""
    power = h**p / e
    return float(((power * power.sum() / (power @ power) - 1) ** 2).sum())


def _limit(h: Array, e: Array, sign: float) -> tuple[Order, float]:
    """Return the best fit of e_0 + C h^p, C of this sign, and the sum of squares of its relative deviations."""
    fits = [(p, *_at_order(h, e, p, sign)) for p in ORDERS]
    p, limit, left = min(fits, key=lambda fit: fit[2])
    freedom = len(h) - 3
    if freedom <= 0:
        return Order(len(h), p, np.nan, np.nan, limit, np.nan, np.nan), left
    # All fits that an F test does not distinguish from the best.
    most = left * (1 + fisher.ppf(LEVEL, 1, freedom) / freedom)
    near = [(q, c) for q, c, x in fits if x <= most]
    orders, limits = ([fit[i] for fit in near] for i in (0, 1))
    return Order(len(h), p, min(orders), max(orders), limit, min(limits), max(limits)), left


def _at_order(h: Array, e: Array, p: float, sign: float) -> tuple[float, float]:
    """Return the limit e_0 >= 0 and the sum of squares of relative deviations, at a given order and sign of C."""
    (limit, _), left = nnls(np.stack([1 / e, sign * (h / h.max()) ** p / e], axis=1), np.ones(len(e)))
    return float(limit), float(left**2)
