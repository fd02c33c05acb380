"""The smallest singular value of a matrix, sigma_min(A) = min |A x| / |x|, between proved bounds in the 2-norm.

Many matrices of doubles at once: with computed factors A ~ U S V^T, X = U^T A V, |X - S| <= f and |U^T U - I|,
|V^T V - I| <= g, the inequality sigma_min(P A Q) <= |P| sigma_min(A) |Q| gives sigma_min(A) >= (s_min - f) / (1 + g)
(the idea of Rump, BIT 51, 2011). This is off by a multiple of the unit roundoff times |A|.

For one matrix of rationals, however close to singular: let P = (A A^T)^-1, so that sigma_min(A)^-2 is its largest
eigenvalue lambda. For m = 1, 2, 4, ..., both in arithmetic with error bounds (balls),

    tr(P^m P) / tr(P^m)  <=  lambda  <=  tr(P^m)^(1/m),

and the columns of A^-1 P^m tend to a vector x for which |A x| / |x| is sigma_min(A).
"""

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.in_time import exact_determinant, null_vector
from workbench.matrices.linear_algebra.rationals import dot, exact, nearest_double, product
from workbench.support.arrays import Array

SETTLED = 1e-12
"""Relative width of the bounds on lambda that suffices."""
SHARP = fmpq(1, 10**10)
"""Relative width of the resulting bounds on sigma_min; a vector with too few bits can prevent it."""
SQUARINGS = 60
"""Largest number of squarings of P^m: enough for any spectrum at this width."""
FIRST_BITS = 128
"""Precision of the first attempt with balls; it is doubled until the bounds converge."""
ROOT_BITS = 100


@dataclass(frozen=True, eq=False)
class LeastSingularValue:
    """0 <= lower <= sigma_min(A) <= upper, and x, not zero, with |A x| <= upper |x|."""

    lower: fmpq
    upper: fmpq
    x: list[fmpq]


def least_in_doubles(A: Array) -> tuple[Array, Array]:
    """Proved lower bounds (c,) of the smallest singular values of A (c, k, k), and estimates (c,) of them.

    A holds exact entries rounded once, of size at most one: nothing here overflows. A bound may be zero.
    """
    k = A.shape[-1]
    eps = float(np.finfo(float).eps)
    try:
        U, s, Vt = np.linalg.svd(A)
    except np.linalg.LinAlgError:
        return np.zeros(len(A)), np.zeros(len(A))
    V, Ut = Vt.transpose(0, 2, 1), U.transpose(0, 2, 1)
    size = _frobenius(A)
    # Products of k terms err by gamma_2k of the product of absolute values; twice that covers its evaluation.
    rounding = (2 * k + 8) * eps * _frobenius(U) * _frobenius(V) * size + 1e-290
    S = np.zeros_like(A)
    S[:, np.arange(k), np.arange(k)] = s
    f = 1.001 * _frobenius(Ut @ A @ V - S) + rounding
    g = np.maximum(_frobenius(Ut @ U - np.eye(k)), _frobenius(V.transpose(0, 2, 1) @ V - np.eye(k)))
    g = 1.001 * g + (2 * k + 8) * eps * (k + g)
    lower = (s[:, -1] - f) / (1 + g) - eps * size - 1e-290
    return np.maximum(lower * (1 - 1e-14), 0.0), s[:, -1]


def direction(A: Array) -> list[fmpq]:
    """An x (k) with |A x| close to sigma_min(A) |x|, from the singular vectors of A (k, k) in floating point."""
    return [exact(value) for value in np.linalg.svd(A)[2][-1]]


def _frobenius(A: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("cij,cij->c", A, A)))


def least_of_rationals(A: fmpq_mat, goal: fmpq | None = None, deadline: float = math.inf) -> LeastSingularValue:
    """Bounds on sigma_min(A) of A (k, k), to 1e-10 relative; or, sooner, a lower bound of at least `goal`. Raises
    OutOfTimeError."""
    bits = FIRST_BITS
    while True:
        check_clock(deadline)
        with ctx.workprec(bits):
            try:
                found = _by_powers(arb_mat(A).inv(), goal, deadline)
            except ZeroDivisionError:
                found = None
        if found is not None:
            lower, x = found
            upper = quotient(A, x)
            if upper <= lower * (1 + SHARP) or (goal is not None and lower >= goal):
                return LeastSingularValue(lower, upper, x)
        if bits == FIRST_BITS and exact_determinant(A, deadline) == 0:
            return LeastSingularValue(fmpq(0), fmpq(0), null_vector(A, deadline))
        bits *= 2


def _by_powers(R: arb_mat, goal: fmpq | None, deadline: float) -> tuple[fmpq, list[fmpq]] | None:
    """A lower bound and x from the inverse R of A; None where the balls are too wide to decide anything."""
    P = R.transpose() * R
    bound = P.trace()
    P = P * (1 / bound)
    Q, weights = P, P.entries()
    above = arb(1)
    for j in range(1, SQUARINGS):
        check_clock(deadline)
        below = sum((x * y for x, y in zip(Q.entries(), weights, strict=True)), arb(0))
        if not (above.rel_accuracy_bits() > ROOT_BITS and below.rel_accuracy_bits() > ROOT_BITS):
            return None
        lower = _dyadic((1 / (bound * above).sqrt()).lower())
        if bool(above < below * (1 + SETTLED)) or (goal is not None and lower >= goal):
            break
        Q = Q * Q
        trace = Q.trace()
        Q = Q * (1 / trace)
        above *= trace.root(2**j)
    # The error of the mean of the columns' Rayleigh quotients, weighted by their squares, is at most n times the width.
    k, squares, forms = Q.nrows(), Q * Q, Q * P * Q
    best = max(range(k), key=lambda i: (forms[i, i] / squares[i, i]).mid())
    x = R * arb_mat(k, 1, [Q[i, best].mid() for i in range(k)])
    return lower, [_dyadic(value.mid()) for value in x.entries()]


def quotient(A: fmpq_mat, x: list[fmpq]) -> fmpq:
    """A rational that is at least |A x| / |x|, and larger by at most 1e-30 relative."""
    y = product(A, x)
    return root(dot(y, y) / dot(x, x), up=True)


def root(square: fmpq, up: bool) -> fmpq:
    """A short rational at or above the square root (`up`), or at or below it."""
    with ctx.workprec(ROOT_BITS):
        ball = arb(square).sqrt()
        return _dyadic(ball.upper() if up else ball.lower())


def _dyadic(x: arb) -> fmpq:
    """The exact number of a ball without radius."""
    mantissa, exponent = x.man_exp()
    return fmpq(int(mantissa)) * fmpq(2) ** int(exponent)


def rounded_down(x: fmpq) -> float:
    """The largest double that does not exceed x."""
    value = nearest_double(x)
    exceeds = value == np.inf or (np.isfinite(value) and exact(value) > x)
    return float(np.nextafter(value, -np.inf)) if exceeds else value


def rounded_up(x: fmpq) -> float:
    """The smallest double that is not below x, possibly infinite."""
    return 0.0 - rounded_down(-x)
