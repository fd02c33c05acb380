"""A complementarity problem over one parameter: a pencil of matrices, or a case with one parameter varied.

A case gives numbers at a value of its parameter. Polynomials of low degree through some values are checked at the
others; where they agree, their coefficients are taken as exact.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.matrices.paths.parametric import Parametric
from workbench.mechanics.case import Case
from workbench.readers.matrix import Matrix
from workbench.step.one_step import first_step
from workbench.step.sliding.exact import ExactSliding, as_doubles, as_rational
from workbench.step.sliding.state import sliding_system
from workbench.support.errors import DataError

DEGREE = 3
"""Largest degree in the parameter that is tried."""
SAMPLES = 9
"""Number of parameter values at which a case is evaluated."""
TOLERANCE = fmpq(1, 10**12)
"""Distance from a polynomial, relative to the largest entry of a row or column, that counts as round-off."""
DOUBLES = f"doubles at {SAMPLES} values, interpolated by polynomials within 1e-12"


@dataclass(frozen=True, eq=False)
class Varied:
    """P(t) s = Q(t) y - w(t), 0 <= s perp y >= 0, over the parameter called `parameter` with its `unit`.

    The displayed values of a solution, one per unknown, are called `names`, in `shown_unit`: s_j - y_j of the first
    `split`, y_j of the others. `source` describes the origin of the coefficients.
    """

    data: Parametric
    parameter: str
    unit: str
    names: tuple[str, ...]
    shown_unit: str
    split: int
    source: str


def of_pencil(parameter: str, M: tuple[Matrix, Matrix | None], q: tuple[Matrix, Matrix | None]) -> Varied:
    """LCP(q_0 + t q_1, M_0 + t M_1), M_i (n, n), q_i (n, 1), None where constant; DataError for other shapes."""
    n = len(M[0].values)
    for name, pair, shape in (("M", M, (n, n)), ("q", q, (n, 1))):
        for i, given in enumerate(pair):
            if given is not None and given.values.shape != shape:
                shown = " x ".join(map(str, given.values.shape))
                raise DataError(f"{name}{i} is {shown}; it must be {n} x {shape[1]}, as M0 has {n} rows")

    def polynomials(pair: tuple[Matrix, Matrix | None]) -> list[list[fmpq_poly]]:
        rows = [m.exact.tolist() for m in pair if m is not None]
        return [[fmpq_poly(list(x)) for x in zip(*row, strict=True)] for row in zip(*rows, strict=True)]

    data = Parametric.lcp(polynomials(M), [row[0] for row in polynomials(q)])
    typed = all(m is None or m.written is not None for m in (*M, *q))
    source = "from the decimals as given" if typed else "from doubles as exact numbers where no decimals were given"
    return Varied(data, parameter, "", tuple(f"z_{i}" for i in range(n)), "", 0, f"M0 + t M1, q0 + t q1, {source}")


def of_sliding(case: Case, given: Mapping[str, Fraction], parameter: str, low: Fraction, high: Fraction) -> Varied:
    """The contacts that slide at the start of a case, from `low` to `high`; `given`, its parameters as typed.

    Raises DataError where the contacts do not slide, or the parameter does not enter by polynomials.
    """

    def contacts(t: Fraction) -> tuple[ExactSliding, bool]:
        there = case.with_parameters(**{parameter: float(t)})
        found = there.exact_sliding({**given, parameter: t}) if hasattr(there, "exact_sliding") else None
        return found or as_doubles(sliding_system(there)), found is not None

    first, exact = contacts(_values(low, high)[0])

    def rows(t: Fraction) -> fmpq_mat:
        pair = contacts(t)[0].pair()
        return fmpq_mat([p + q + w for p, q, w in zip(*(x.tolist() for x in (pair.P, pair.Q, pair.w)), strict=True)])

    polynomials = _fitted(rows, case, parameter, low, high, fmpq(0) if exact else TOLERANCE)
    m, b = first.m, first.m_b
    data = Parametric.of(
        [row[:m] for row in polynomials], [row[m:-1] for row in polynomials], [row[-1] for row in polynomials]
    )
    names = tuple(f"lambda_nb {j}" if j < b else f"lambda_nu {j - b}" for j in range(m))
    source = f"the contacts that slide at the start of {case.name}, from {'rational data' if exact else DOUBLES}"
    return Varied(data, parameter, _unit(case, parameter), names, "N", b, source)


def of_step(case: Case, formulation: Formulation, h: float, parameter: str, low: Fraction, high: Fraction) -> Varied:
    """The LCP of a formulation at the first step, of h [s], of a case; DataError where it is not an LCP, as above."""

    def rows(t: Fraction) -> fmpq_mat:
        problem = first_step(case.with_parameters(**{parameter: float(t)}), formulation, h).problem()
        if getattr(problem, "kind", "") != "LCP":
            raise DataError(f"{formulation.label} poses no LCP; along a parameter only LCPs are followed")
        table = np.column_stack([problem.M, problem.q])
        if not np.isfinite(table).all():
            raise DataError(f"{case.name}: the LCP at {parameter} = {float(t):g} has entries that are not finite")
        return fmpq_mat([[as_rational(x) for x in row] for row in table.tolist()])

    polynomials = _fitted(rows, case, parameter, low, high, TOLERANCE)
    data = Parametric.lcp([row[:-1] for row in polynomials], [row[-1] for row in polynomials])
    partners = compiled(formulation, *case.size).declaration.partners
    names = tuple(f"{u.name()} {i}" for u in partners for i in range(u.size))
    source = f"the first step of {formulation.label} on {case.name}, from {DOUBLES}"
    return Varied(data, parameter, _unit(case, parameter), names, "", 0, source)


def _unit(case: Case, parameter: str) -> str:
    name = case.aliases.get(parameter, parameter)
    return next((unit for known, _, unit, _ in case.parameter_table() if known == name), "")


def _values(low: Fraction, high: Fraction) -> list[Fraction]:
    """Values of the parameter that are doubles."""
    if not low < high:
        raise DataError(f"the parameter goes from {low} to {high}; FROM < TO is needed")
    try:
        found = [Fraction(float(low + k * (high - low) / (SAMPLES - 1))) for k in range(SAMPLES)]
    except OverflowError:
        raise DataError("the parameter goes beyond the range of doubles, in which a case is computed") from None
    if len(set(found)) < SAMPLES:
        raise DataError(f"the parameter goes from {low} to {high}; fewer than {SAMPLES} doubles lie in between")
    return found


def _fitted(
    rows: Callable[[Fraction], fmpq_mat], case: Case, parameter: str, low: Fraction, high: Fraction, tolerance: fmpq
) -> list[list[fmpq_poly]]:
    """Polynomials through the numbers of a case; DataError where an entry is not a polynomial."""
    values = _values(low, high)
    samples = [rows(t) for t in values]
    m, n = samples[0].nrows(), samples[0].ncols()
    if any((x.nrows(), x.ncols()) != (m, n) for x in samples):
        raise DataError(f"{case.name}: the number of unknowns changes with {parameter}")
    tables = [x.tolist() for x in samples]
    size = [[max(abs(table[i][j]) for table in tables) for j in range(n)] for i in range(m)]
    fitted = []
    for i in range(m):
        row = []
        for j in range(n):
            # The right-hand side has a separate unit; for the others the smaller scale of row and column counts.
            scale = max(line[j] for line in size)
            scale = scale if j == n - 1 else min(scale, max(size[i][:-1]))
            p = _polynomial([as_rational(t) for t in values], [table[i][j] for table in tables], tolerance * scale)
            if p is None:
                raise DataError(
                    f"{case.name}: {parameter} enters the problem in no polynomial of degree {DEGREE} or less (entry "
                    f"[{i}, {j}]); a parameter that does, such as a friction coefficient, can be followed"
                )
            row.append(p)
        fitted.append(row)
    return fitted


def _polynomial(t: list[fmpq], values: list[fmpq], tolerance: fmpq) -> fmpq_poly | None:
    """The polynomial of lowest degree through evenly spaced values that fits the others within the tolerance."""
    for degree in range(DEGREE + 1):
        chosen = [round(k * (len(t) - 1) / max(degree, 1)) for k in range(degree + 1)]
        powers = fmpq_mat([[t[i] ** k for k in range(degree + 1)] for i in chosen])
        p = fmpq_poly(powers.solve(fmpq_mat(degree + 1, 1, [values[i] for i in chosen])).entries())
        if all(abs(p(x) - y) <= tolerance for x, y in zip(t, values, strict=True)):
            return p
    return None
