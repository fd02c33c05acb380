"""Summaries of a test set: success rates, performance profiles, shifted geometric means. Pure functions of arrays.

Rows of an array of costs are problems, columns methods; inf stands for a failure.
"""

import numpy as np
from numpy.typing import ArrayLike

from workbench.support.arrays import Array
from workbench.support.errors import DataError


def _costs(costs: ArrayLike) -> Array:
    costs = np.asarray(costs, dtype=float)
    if costs.ndim != 2 or 0 in costs.shape or not (costs >= 0).all():
        raise DataError(f"costs of shape {costs.shape}; (problems, methods) of numbers >= 0, inf for failures, needed")
    return costs


def success_rates(costs: ArrayLike) -> Array:
    """Share of the problems (k, s) that each method (s,) solves."""
    return np.isfinite(_costs(costs)).mean(axis=0)


def performance_ratios(costs: ArrayLike) -> Array:
    """Cost (k, s) over the least cost of that problem; inf for failures. Zero counts as the smallest double."""
    costs = np.maximum(_costs(costs), np.finfo(float).tiny)
    best = costs.min(axis=1, keepdims=True)
    return np.where(np.isfinite(costs), costs / np.where(np.isfinite(best), best, 1.0), np.inf)


def performance_profile(costs: ArrayLike, factors: ArrayLike | None = None) -> tuple[Array, Array]:
    """Factors tau (t,) and the share (t, s) of all problems that a method solves within tau of the best.

    The default factors are those at which a share changes, 1 first. Source: Dolan & More 2002.
    """
    ratios = performance_ratios(costs)
    if factors is None:
        factors = np.union1d(1.0, ratios[np.isfinite(ratios)])
    factors = np.asarray(factors, dtype=float)
    return factors, (ratios[None] <= factors[:, None, None]).mean(axis=1)


def shifted_geometric_mean(values: ArrayLike, shift: float) -> float:
    """exp(mean(ln(t + s))) - s of values t >= 0 with shift s > 0, in the unit of t; nan of nothing."""
    values = np.asarray(values, dtype=float)
    if not shift > 0 or (values < 0).any():
        raise DataError(f"shift {shift:g}; a positive shift and values >= 0 are needed")
    return float(np.exp(np.log(values + shift).mean()) - shift) if values.size else float("nan")
