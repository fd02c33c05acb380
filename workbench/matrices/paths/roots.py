"""Real roots of polynomials with rational coefficients, enclosed, and the exact signs of other polynomials there.

An irrational root is an irreducible polynomial p with an interval that contains one root of it. A polynomial f vanishes
there iff p divides f; otherwise the interval is halved until f has one sign on it. So the numbers a_0 + a_1 x + ... of
the field Q(x) are compared exactly, as polynomials modulo p.
"""

import itertools
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import arb, ctx, fmpq, fmpq_poly, fmpz_poly

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.rationals import nearest_double

BITS = 128
"""Working precision with which roots are first enclosed."""


@dataclass(frozen=True, eq=False)
class Root:
    """A real number in [lo, hi]; lo = hi if it is rational, else the only root of the irreducible `factor` there."""

    lo: fmpq
    hi: fmpq
    factor: fmpz_poly | None = None

    @property
    def value(self) -> float:
        return nearest_double((self.lo + self.hi) / 2)

    @property
    def bracket(self) -> tuple[float, float]:
        """Enclosing doubles, equal only if the number is that double; hi may be inf."""
        lo, hi = min(nearest_double(self.lo), sys.float_info.max), nearest_double(self.hi)
        lo = lo if fmpq(*lo.as_integer_ratio()) <= self.lo else math.nextafter(lo, -math.inf)
        return lo, hi if math.isinf(hi) or fmpq(*hi.as_integer_ratio()) >= self.hi else math.nextafter(hi, math.inf)

    @property
    def exact(self) -> str | None:
        return str(self.lo) if self.lo == self.hi else None

    @cached_property
    def modulus(self) -> fmpq_poly:
        """The minimal polynomial: numbers of the field are polynomials modulo this one."""
        return fmpq_poly([-self.lo, 1]) if self.factor is None else fmpq_poly(self.factor)

    def at(self, f: fmpz_poly | fmpq_poly) -> fmpq_poly:
        """f of this number, as a number of the field."""
        return fmpq_poly(f) % self.modulus

    def inverse(self, x: fmpq_poly) -> fmpq_poly:
        """1 / x of a nonzero number of the field."""
        divisor, cofactor, _ = x.xgcd(self.modulus)
        return cofactor / divisor[0]

    def sign(self, x: fmpq_poly) -> int:
        """Sign -1, 0 or 1 of a number of the field."""
        if x.degree() < 1:
            return _sign(x[0])
        numerator, root, bits = x.numer(), self, 2 * BITS
        while True:
            with ctx.workprec(bits + numerator.height_bits()):
                value = numerator(arb(root.lo).union(arb(root.hi)))
                if value > 0 or value < 0:
                    return 1 if value > 0 else -1
            root, bits = root.narrowed(), bits + BITS

    def narrowed(self) -> "Root":
        """The same number in an interval 2^-`BITS` times as wide."""
        assert self.factor is not None
        lo, hi, below = self.lo, self.hi, _sign(self.factor(self.lo))
        for _ in range(BITS):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if _sign(self.factor(middle)) == below else (lo, middle)
        return Root(lo, hi, self.factor)


def _sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


def real_roots(polynomials: Iterable[fmpz_poly], deadline: float = math.inf) -> dict[tuple[int, ...], list[Root]]:
    """The real roots of nonzero polynomials, in disjoint brackets, by the coefficients of their irreducible factors.

    Raises OutOfTimeError.
    """
    known = {key: f for p in polynomials for key, f in irreducible_factors(p).items()}
    keys = list(known)
    found: dict[tuple[int, ...], list[Root]] = {key: [] for key in keys}
    for root, k in isolated(list(known.values()), deadline):
        found[keys[k]].append(root)
    return found


def irreducible_factors(p: fmpz_poly) -> dict[tuple[int, ...], fmpz_poly]:
    """The factors by their coefficients, which are hashable."""
    return {tuple(map(int, f.coeffs())): f for f, _ in p.factor()[1]}


def isolated(irreducible: list[fmpz_poly], deadline: float = math.inf) -> list[tuple[Root, int]]:
    """The real roots of distinct irreducible polynomials in disjoint brackets, with the position of the polynomial.

    Raises OutOfTimeError.
    """
    bits = BITS
    while True:
        found = []
        for k, f in enumerate(irreducible):
            check_clock(deadline)
            with ctx.workprec(bits):
                found += [(root, k) for root in _real_roots(f)]
        found.sort(key=lambda r: r[0].lo)
        if all(x.hi < y.lo for (x, _), (y, _) in itertools.pairwise(found)):
            return found
        bits *= 2


def _real_roots(f: fmpz_poly) -> list[Root]:
    c = f.coeffs()
    if len(c) == 2:
        root = -fmpq(c[0], c[1])
        return [Root(root, root)]
    roots: Any = f.complex_roots()
    real = [z.real for z, _ in roots if z.imag == 0]
    return [Root(x.lower().fmpq(), x.upper().fmpq(), f) for x in real]
