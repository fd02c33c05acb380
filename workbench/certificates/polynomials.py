"""Polynomials in one unknown, and the number of their roots by Sturm's theorem. Standard library only."""

import itertools
from fractions import Fraction

from workbench.certificates.exact import Rows, Vector
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError

ZERO = Fraction(0)
Polynomial = Vector
"""Coefficients, the constant one first; the last is not zero."""
ROUND: Polynomial = [Fraction(1), ZERO, Fraction(1)]
"""1 + s^2."""
DIRECTION: tuple[Polynomial, Polynomial] = ([Fraction(1), ZERO, Fraction(-1)], [ZERO, Fraction(2)])
"""The unit vector e times 1 + s^2; s is the tangent of half its angle."""


def added(*terms: Polynomial) -> Polynomial:
    return trimmed([sum(some, ZERO) for some in itertools.zip_longest(*terms, fillvalue=ZERO)])


def trimmed(f: Polynomial) -> Polynomial:
    while f and not f[-1]:
        f = f[:-1]
    return f


def scaled(factor: Fraction, f: Polynomial) -> Polynomial:
    return trimmed([factor * x for x in f])


def product(f: Polynomial, g: Polynomial) -> Polynomial:
    found = [ZERO] * max(len(f) + len(g) - 1, 0)
    for i, x in enumerate(f):
        for j, y in enumerate(g):
            found[i + j] += x * y
    return trimmed(found)


def value(f: Polynomial, x: Fraction) -> Fraction:
    total = ZERO
    for coefficient in reversed(f):
        total = total * x + coefficient
    return total


def sturm_chain(f: Polynomial) -> Rows:
    """Sturm's chain of f: its sign changes count distinct roots (x, y], also multiple ones, with f(x), f(y) != 0."""
    found = [f, trimmed([k * x for k, x in enumerate(f)][1:])]
    while found[-1]:
        rest, divisor = found[-2], found[-1]
        while len(rest) >= len(divisor):
            check_time()
            shift = [ZERO] * (len(rest) - len(divisor))
            rest = added(rest, scaled(-rest[-1] / divisor[-1], [*shift, *divisor]))
        found.append(scaled(Fraction(-1), rest))
    return found[:-1]


def number_of_roots(chain: Rows, lo: Fraction | None = None, hi: Fraction | None = None) -> int:
    """The number of distinct roots in (lo, hi], or of all. RefusedError where an end is a root."""
    if lo is None or hi is None:
        ends = [[f[-1] * (-1) ** (len(f) - 1) for f in chain], [f[-1] for f in chain]]
    else:
        ends = [[value(f, x) for f in chain] for x in (lo, hi)]
    if not (ends[0][0] and ends[1][0]):
        raise RefusedError("an end of a bracket is a root")
    changes = [sum(x * y < 0 for x, y in itertools.pairwise([x for x in some if x])) for some in ends]
    return changes[0] - changes[1]
