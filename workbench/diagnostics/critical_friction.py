"""The critical friction of sliding contacts, mu_c = sup {s : M_mu is a P-matrix on all of [0, s]}, with a certificate.

Along mu(s) = mu_0 + s mu_1 the P-property can be lost and regained, so that bisection proves nothing. With few
contacts the 2^m determinants of `sliding.exact` are polynomials in s, of degree m at most, with rational coefficients:
M_mu is P exactly where all of them have one sign. Ball arithmetic isolates the distinct roots of their irreducible
factors; between neighbouring roots one rational sample decides. With many contacts the line is marched: from a P point
every step in which M_mu changes by less than its distance to the non-P matrices is safe.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from workbench.diagnostics.friction_line import FrictionLine
from workbench.diagnostics.proposition import balanced
from workbench.engine.timing import clock
from workbench.matrices.distances.distance_bounds import stable_diagonal
from workbench.matrices.distances.index_sets import least_singular_value, principal
from workbench.matrices.distances.singular_values import rounded_down
from workbench.matrices.p_property.verdict import p_verdict
from workbench.matrices.paths.roots import Root, isolated
from workbench.mechanics.contact import Array
from workbench.readers.matrix import Matrix
from workbench.step.sliding.exact import ExactSliding, as_doubles, as_rational
from workbench.step.sliding.system import SlidingSystem
from workbench.support.arrays import index_sets
from workbench.support.errors import DataError

LARGEST_EXACT = 6
"""Largest number of contacts for which the 2^m polynomials are used."""
LARGEST_DISTANCE = 10
"""Largest number of contacts for which a march uses the exact distance instead of a certified lower bound."""
SETTLED, SETTLED_BY_BOUND = 1e-6, 1e-3
"""Relative length of a safe step at which a march ends: with the exact distance, and with a bound of it, whose
march ends below the critical friction anyway."""
NARROW = 1e-6
"""Relative width at which the search for a point without the P-property above the march ends."""
HIGHEST = 1e6
"""Largest s, times the first safe step, up to which a march looks for a loss of the P-property."""
SHARES = 8
"""Fraction of the remaining time that one verdict may take."""
ROUNDING = 1e-6
"""Fraction of a safe step given up to the rounding of the march's matrices, many times larger than this can be."""


@dataclass(frozen=True, eq=False)
class CriticalFriction:
    """The critical friction mu_c lies in [lo, hi]: P on all of [0, lo), not P at some point of [lo, hi].

    Both are None where M_mu is not a P-matrix at s = 0 already, both inf where it is one for every s >= 0; only hi is
    inf where no loss was found. `exact` is mu_c as "p/q" where it is known to be rational. `lost_on`: the index set
    whose minor vanishes there; the empty one is det A. `intervals` (few contacts only): all open intervals of s >= 0 on
    which M_mu is P, None standing for infinity; the first begins at 0 if M_mu is P there.
    """

    lo: float | None
    hi: float | None
    exact: str | None
    method: str
    lost_on: tuple[int, ...] | None = None
    intervals: tuple[tuple[Root, Root | None], ...] | None = None

    @property
    def value(self) -> float | None:
        """mu_c to within its bracket: the midpoint, or lo where there is no upper end."""
        if self.lo is None or self.hi is None:
            return None
        return self.lo if math.isinf(self.hi) else 0.5 * (self.lo + self.hi)


def critical_friction(
    system: SlidingSystem, mu_0: Array, mu_1: Array, exact: ExactSliding | None = None, seconds: float = 20.0
) -> CriticalFriction:
    """mu_c along mu_0 + s mu_1 (m_b + m_u,), bilateral contacts first, s >= 0; `seconds` limits a march.

    `exact`: the same contacts in rational data. Raises DataError for coefficients that become negative.
    """
    m = system.m_b + system.m_u
    mu_0, mu_1 = np.broadcast_to(mu_0, m).astype(float), np.broadcast_to(mu_1, m).astype(float)
    if (mu_0 < 0).any() or (mu_1 < 0).any():
        raise DataError(f"mu_0 = {mu_0.min():g}, mu_1 = {mu_1.min():g} at least; both must be nonnegative")
    if m > LARGEST_EXACT:
        return by_march(FrictionLine(balanced(system), mu_0, mu_1), seconds)
    return by_polynomials(exact or as_doubles(system), mu_0.tolist(), mu_1.tolist())


def by_polynomials(data: ExactSliding, mu_0: list[Any], mu_1: list[Any]) -> CriticalFriction:
    """mu_c and all P intervals, from the roots of the determinants."""
    polynomials = determinants(data, [as_rational(x) for x in mu_0], [as_rational(x) for x in mu_1])
    method = f"roots of {len(polynomials)} determinants, polynomials in s with rational coefficients"
    if any(p == 0 for p in polynomials.values()):
        a = next(a for a, p in polynomials.items() if p == 0)
        return CriticalFriction(None, None, None, f"{method}; that of {set(a) or '{}'} vanishes for every s", a, ())
    factors: dict[tuple, tuple[Any, tuple[int, ...]]] = {}
    for a, p in polynomials.items():
        for factor, _ in p.numer().factor()[1]:
            factors.setdefault(tuple(map(int, factor.coeffs())), (factor, a))
    roots = sorted(isolated([f for f, _ in factors.values()]), key=lambda r: r[0].lo)
    roots = [(root, k) for root, k in roots if root.hi >= 0]
    zero = Root(fmpq(0), fmpq(0))
    ends = [zero, *(r for r, _ in roots if r.hi > 0), None]
    intervals = tuple(
        (lo, hi) for lo, hi in itertools.pairwise(ends) if lo is not None and _p_between(polynomials, lo, hi)
    )
    starts = _one_sign([p(fmpq(0)) for p in polynomials.values()])
    if not starts:
        return CriticalFriction(None, None, None, method, None, intervals)
    if not roots:
        return CriticalFriction(math.inf, math.inf, None, method, None, intervals)
    first, k = roots[0]
    return CriticalFriction(*first.bracket, first.exact, method, list(factors.values())[k][1], intervals)


def determinants(data: ExactSliding, mu_0: list[fmpq], mu_1: list[fmpq]) -> dict[tuple[int, ...], fmpq_poly]:
    """det C_a of every index set a as a polynomial in s, from its values at s = 0, 1, ..., m."""
    m = data.m
    points = [data.pair([x + s * r for x, r in zip(mu_0, mu_1, strict=True)]) for s in range(m + 1)]
    powers = fmpq_mat([[fmpq(s) ** k for k in range(m + 1)] for s in range(m + 1)]).inv()
    return {
        a: fmpq_poly((powers * fmpq_mat(m + 1, 1, [pair.columns(a).det() for pair in points])).entries())
        for a in index_sets(range(m))
    }


def _p_between(polynomials: dict, lo: Root, hi: Root | None) -> bool:
    s = lo.hi + 1 if hi is None else (lo.hi + hi.lo) / 2
    return _one_sign([p(s) for p in polynomials.values()])


def _one_sign(values: list[fmpq]) -> bool:
    return all(v > 0 for v in values) or all(v < 0 for v in values)


def by_march(line: FrictionLine, seconds: float) -> CriticalFriction:
    """Bracket mu_c from below by safe steps and from above by the nearest non-P point found, with exact verdicts."""
    end = clock() + seconds
    lo, settled, bound = 0.0, SETTLED, "the distance to the matrices that are not P"
    if len(line.mu_0) > LARGEST_DISTANCE:
        settled, bound = SETTLED_BY_BOUND, "a certified lower bound of " + bound
    method, first = f"march in steps shorter than {bound}", 0.0
    if p_verdict(Matrix(line.at(0.0).M_mu).exact, seconds).verdict != "P":
        return CriticalFriction(None, None, None, method)
    while clock() < end - 0.5 * seconds:
        here = line.at(lo)
        step = (1 - ROUNDING) * here.safe_step(_room(here.M_mu))
        if math.isinf(step):
            return CriticalFriction(math.inf, math.inf, None, method)
        first = first or step
        lo += step
        if not step > settled * lo:
            break
    return CriticalFriction(lo, _not_p_above(line, lo, first, end), None, method)


def _room(M: Array) -> float:
    if len(M) <= LARGEST_DISTANCE:
        return rounded_down(least_singular_value(principal(Matrix(M).exact), math.inf, fmpq(0)).lower)
    diagonal = stable_diagonal(M, math.inf)
    return rounded_down(diagonal.lower) if diagonal else 0.0


def _not_p_above(line: FrictionLine, lo: float, first: float, end: float) -> float:
    """The lowest point above lo found not to be P: doubled steps until one is found, then bisection; otherwise inf.

    It need not be the first loss, so mu_c is bounded from below by lo and not by this bisection.
    """
    last, hi, step = lo, math.inf, max(lo, first) / 8
    while clock() < end and (hi - last > NARROW * last) and last < HIGHEST * first:
        s = last + step if math.isinf(hi) else 0.5 * (last + hi)
        share = (end - clock()) / SHARES
        if p_verdict(Matrix(line.at(s).M_mu).exact, share).verdict == "not P":
            hi = s
        else:
            last, step = s, 2 * step
    return hi
