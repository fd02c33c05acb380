"""One sliding contact with any number d of friction directions, including torsion and rolling, by a secular equation.

Rows are scaled so that the cone is mu p_n >= |p_t|. A sliding contact has u_t = -lambda p_t with lambda > 0, and
u_n = kappa mu |u_t|, kappa = 0 for Coulomb's law and 1 for associated flow (`one_contact`). For a given lambda this is
linear,

    (W_tt + lambda I) p_t = -(q_t + W_tn p_n),   W_nn p_n + W_nt p_t + q_n = kappa mu^2 lambda p_n.

With x = (W_tt + lambda I)^-1 q_t and y = (W_tt + lambda I)^-1 W_tn it becomes

    p_n = -N / D,   p_t = -(x + y p_n),   N = q_n - W_nt x,   D = W_nn - W_nt y - kappa mu^2 lambda,

and lambda follows from |p_t| = mu p_n, one equation in one unknown, as in trust region methods (Moré & Sorensen 1983).
It is solved as |D x - N y| = mu |N|, which has no poles. For Coulomb's law with q_n < 0 it has a root with p_n > 0
between 0 and infinity. For associated flow with a symmetric W, D is concave in lambda and has one zero; D and N differ
in sign where p_n > 0, which is below or above that zero depending on the sign of N there. A singular W may have
solutions under associated flow that correspond to no multiplier; `one_contact` detects this by the natural map.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix

EVALUATIONS = 200
"""Maximum number of evaluations of the secular equation; about ten are usual."""
LEAST = 1e-12
"""Smallest multiplier relative to tr W. It regularises a singular W."""
WIDER = 16.0
"""Growth factor of an unbounded bracket."""
ROUND_OFF = 4e-16
"""Relative change of the multiplier at which only round-off remains."""
POLISHES = 2


NUMBER, FLAG = types.float64, types.boolean


@kernel(types.UniTuple(NUMBER, 3)(MATRIX, VECTOR, NUMBER, NUMBER, VECTOR, VECTOR))
def at_multiplier(W, q, kappa_mu, multiplier, x, y):
    """Return (N, D, |D x - N y|) at a multiplier lambda, with x, y (d,); kappa_mu = kappa mu. All nan if singular."""
    d = x.shape[0]
    A, rhs, pivots = scratch_matrix(d, d), scratch(d), scratch_indices(d)
    for a in range(d):
        for b in range(d):
            A[a, b] = W[1 + a, 1 + b]
        A[a, a] += multiplier
        rhs[a] = q[1 + a]
    if lu_factor(A, pivots) != 0:
        return np.nan, np.nan, np.nan
    lu_solve(A, pivots, rhs, x)
    for a in range(d):
        rhs[a] = W[1 + a, 0]
    lu_solve(A, pivots, rhs, y)
    N, D, size = q[0], W[0, 0] - kappa_mu**2 * multiplier, 0.0
    for a in range(d):
        N -= W[0, 1 + a] * x[a]
        D -= W[0, 1 + a] * y[a]
    for a in range(d):
        size += (D * x[a] - N * y[a]) ** 2
    return N, D, np.sqrt(size)


@kernel(NUMBER(MATRIX, VECTOR, NUMBER, VECTOR, VECTOR))
def pole(W, q, mu, x, y):
    """Return the zero of D for associated flow, by Newton's method from above, which is monotone since D is concave."""
    multiplier = W[0, 0] / mu**2
    for _ in range(EVALUATIONS):
        _, D, _ = at_multiplier(W, q, mu, multiplier, x, y)
        slope = -(mu**2)
        for a in range(y.shape[0]):
            slope += y[a] ** 2
        closer = multiplier - D / slope
        if not (D < 0.0 and slope < 0.0 and 0.0 < closer < multiplier):
            break
        multiplier = closer
    return multiplier


@kernel(NUMBER(MATRIX, VECTOR, NUMBER, NUMBER, NUMBER, NUMBER, VECTOR, VECTOR))
def short(W, q, mu, kappa_mu, sign, multiplier, x, y):
    """Return the residual of a multiplier: positive below the root, negative above; sign is that of D at the root."""
    N, _, size = at_multiplier(W, q, kappa_mu, multiplier, x, y)
    return sign * size + mu * N


@kernel(types.void(MATRIX, VECTOR, NUMBER, NUMBER, NUMBER, VECTOR))
def polish(W, q, mu, kappa_mu, multiplier, z):
    """Make Newton steps on the law's equations in z and lambda together, without the cancellation near D = 0."""
    n = q.shape[0]
    A, rhs, step, pivots = scratch_matrix(n + 1, n + 1), scratch(n + 1), scratch(n + 1), scratch_indices(n + 1)
    for _ in range(POLISHES):
        A[n, n] = rhs[n] = 0.0
        for a in range(n):
            share = -(kappa_mu**2) if a == 0 else 1.0
            rhs[a] = -q[a] - share * multiplier * z[a]
            for b in range(n):
                A[a, b] = W[a, b]
                rhs[a] -= W[a, b] * z[b]
            A[a, a] += share * multiplier
            A[a, n] = share * z[a]
            A[n, a] = -(mu**2) * z[0] if a == 0 else z[a]
            rhs[n] -= 0.5 * A[n, a] * z[a]
        if lu_factor(A, pivots) != 0:
            return
        lu_solve(A, pivots, rhs, step)
        for a in range(n):
            z[a] += step[a]
        multiplier += step[n]


@kernel(FLAG(MATRIX, VECTOR, NUMBER, FLAG, VECTOR))
def slide_by_multiplier(W, q, mu, associated, z):
    """Compute z (1 + d,) of a sliding contact, mu > 0; returns False if no multiplier is found.

    Neither take-off nor stick may hold.
    """
    n = q.shape[0]
    x, y = scratch(n - 1), scratch(n - 1)
    trace = 0.0
    for a in range(n):
        trace += W[a, a]
    kappa_mu, sign, low, high = mu if associated else 0.0, 1.0, LEAST * trace, 0.0
    # If even the least multiplier is too large, the contact sticks under either law.
    if associated and short(W, q, mu, 0.0, 1.0, low, x, y) <= 0.0:
        kappa_mu = 0.0
    elif associated:
        high = max(pole(W, q, mu, x, y), low)
        if at_multiplier(W, q, mu, high, x, y)[0] > 0.0:
            sign, low, high = -1.0, high, 0.0
    f_low = short(W, q, mu, kappa_mu, sign, low, x, y)
    ended = high > 0.0
    high = high if ended else max(2.0 * low, W[0, 0])
    f_high = short(W, q, mu, kappa_mu, sign, high, x, y)
    for _ in range(EVALUATIONS):
        if ended or not f_high > 0.0:
            break
        low, f_low, high = high, f_high, WIDER * high
        f_high = short(W, q, mu, kappa_mu, sign, high, x, y)
    at, side = low, 0
    for k in range(EVALUATIONS):
        if not (f_low > 0.0 and f_high <= 0.0):
            break
        # The Illinois method, with an occasional bisection.
        middle = low + (high - low) * f_low / (f_low - f_high)
        if not low < middle < high or k % 8 == 7:
            middle = 0.5 * (low + high)
        if abs(middle - at) <= ROUND_OFF * middle:
            break
        at, f = middle, short(W, q, mu, kappa_mu, sign, middle, x, y)
        if f <= 0.0:
            f_low *= 0.5 if side == 1 else 1.0
            high, f_high, side = middle, f, 1
        else:
            f_high *= 0.5 if side == -1 else 1.0
            low, f_low, side = middle, f, -1
    N, D, _ = at_multiplier(W, q, kappa_mu, at, x, y)
    z[0] = -N / D
    for a in range(n - 1):
        z[1 + a] = -(x[a] + y[a] * z[0])
    if at > LEAST * trace:
        polish(W, q, mu, kappa_mu, at, z)
    return z[0] > 0.0
