"""Keller's principal pivoting for symmetric positive semidefinite LCPs and MLCPs with bounds.

Each major step picks one infeasible unknown and drives it in the direction in which its w decreases to zero, while the
basic unknowns keep their own rows at zero. The drive ends when w vanishes (the unknown becomes basic) or the unknown
reaches its other bound; a basic unknown that reaches a bound on the way leaves the basis and the drive continues. Along
every drive 1/2 z^T M z + q^T z decreases strictly and ends at its minimum over a face of the box, hence on no face
twice. The driving variable is the infeasible unknown with the largest predicted decrease w^2 / M_ii.

It starts with a few projected Gauss-Seidel sweeps from zero, which decrease the same function: a maximal set of
independent unknowns that they leave between bounds becomes basic, and is solved for before the first drive. That saves
four pivots out of five. Unknowns that depend on the basic ones keep their values from the sweeps, so that redundant
contacts share their load (towers of 100: impulses up to 24 % larger in norm than with proximal).

The basic block stays positive definite whatever the rank of M: an unknown with a vanishing Schur complement cannot
enter. If nothing blocks its drive either, the direction p has M p = 0 and q^T p < 0, an infeasibility certificate
(Farkas). It is checked: INFEASIBLE if it holds, RAY if it does not (M was not positive semidefinite).

Source: E. L. Keller, The general quadratic optimization problem, Mathematical Programming 5 (1973); with bounds: C.
Lacoursière, Ghosts and machines, thesis, Umeå (2007). Guarantee: finite for symmetric positive semidefinite M, with a
solution or a proof that there is none. Cost: one Cholesky factorisation, then an update of it, n^2, per pivot; commonly
n / 4 pivots.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.algorithms.base import KernelSolver
from workbench.algorithms.bases import SIGN_TOLERANCE, backward_error, clip, infeasibilities, usable
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import FAST, INDICES, MATRIX, SOLVE, VECTOR, affine, set_all
from workbench.problems.classes import MatrixProblem, is_symmetric
from workbench.problems.solution import Status
from workbench.support.arrays import Array

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
INFEASIBLE = int(Status.INFEASIBLE)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

SWEEPS = 20
"""Gauss-Seidel sweeps before the first pivot, each as costly as choosing one: further sweeps save few pivots."""
INDEPENDENT = 1e-10
"""Share of its diagonal that the Schur complement of an unknown must keep for it to be basic from the start."""
PROMISING = 1e-16
"""Share of the initially predicted decrease below which a row's activity decides whether a wrong sign is round-off."""
DEPENDENT = 1e-14
"""Share of the terms of p^T M p below which it counts as zero: the driven unknown's row depends on the basic ones."""
NEGLIGIBLE = 1e-12
"""Share of |p| below which a component counts as round-off and must not block a ray."""
ACCEPTED = 1e-11
"""Largest componentwise backward error of a solution."""

I64, F64 = types.int64, types.float64


class Bounded(NamedTuple):
    """min 1/2 z^T M z + q^T z with z (n,) within bounds."""

    M: Array
    q: Array
    lower: Array
    upper: Array


class Pivots(NamedTuple):
    """State of the method: z, w (n,) and the basic unknowns, the first m of `basis` (n,).

    U^T U is their block of M, U (n, n); y, x (n,) are work arrays of `direction`."""

    U: Array
    basis: NDArray[np.int64]
    z: Array
    w: Array
    y: Array
    x: Array


BOUNDED = argument_type(Bounded, MATRIX, *(VECTOR,) * 3)
PIVOTS = argument_type(Pivots, MATRIX, INDICES, *(VECTOR,) * 4)


@kernel(types.void(MATRIX, VECTOR, VECTOR, VECTOR, I64, VECTOR), **FAST)
def projected_sweeps(M, q, lower, upper, sweeps, z):
    """Make projected Gauss-Seidel sweeps of z (n,), forwards and backwards."""
    n = M.shape[0]
    for k in range(sweeps):
        for j in range(n):
            i = j if k % 2 == 0 else n - 1 - j
            w = q[i]
            for c in range(n):
                w += M[i, c] * z[c]
            if M[i, i] > 0.0:
                z[i] = min(max(z[i] - w / M[i, i], lower[i]), upper[i])


@kernel(types.void(MATRIX, I64, VECTOR), **FAST)
def forward(U, m, y):
    """Replace y (m) by U^-T y. The loops run along four rows at a time, so that y is loaded a fourth as often."""
    k = 0
    while k + 4 <= m:
        a = y[k] / U[k, k]
        b = (y[k + 1] - a * U[k, k + 1]) / U[k + 1, k + 1]
        c = (y[k + 2] - a * U[k, k + 2] - b * U[k + 1, k + 2]) / U[k + 2, k + 2]
        d = (y[k + 3] - a * U[k, k + 3] - b * U[k + 1, k + 3] - c * U[k + 2, k + 3]) / U[k + 3, k + 3]
        y[k], y[k + 1], y[k + 2], y[k + 3] = a, b, c, d
        for j in range(k + 4, m):
            y[j] -= a * U[k, j] + b * U[k + 1, j] + c * U[k + 2, j] + d * U[k + 3, j]
        k += 4
    while k < m:
        y[k] /= U[k, k]
        for j in range(k + 1, m):
            y[j] -= y[k] * U[k, j]
        k += 1


@kernel(types.void(MATRIX, I64, VECTOR, VECTOR), **FAST)
def back(U, m, y, x):
    """Compute x (m) = -U^-1 y, also four rows at a time."""
    k = m - 1
    while k >= 3:
        a, b, c, d = -y[k], -y[k - 1], -y[k - 2], -y[k - 3]
        for j in range(k + 1, m):
            a -= U[k, j] * x[j]
            b -= U[k - 1, j] * x[j]
            c -= U[k - 2, j] * x[j]
            d -= U[k - 3, j] * x[j]
        a /= U[k, k]
        b = (b - U[k - 1, k] * a) / U[k - 1, k - 1]
        c = (c - U[k - 2, k] * a - U[k - 2, k - 1] * b) / U[k - 2, k - 2]
        d = (d - U[k - 3, k] * a - U[k - 3, k - 1] * b - U[k - 3, k - 2] * c) / U[k - 3, k - 3]
        x[k], x[k - 1], x[k - 2], x[k - 3] = a, b, c, d
        k -= 4
    while k >= 0:
        a = -y[k]
        for j in range(k + 1, m):
            a -= U[k, j] * x[j]
        x[k] = a / U[k, k]
        k -= 1


@kernel(F64(MATRIX, MATRIX, INDICES, I64, I64, VECTOR), **FAST)
def column(M, U, basis, m, i, y):
    """Compute y (m) = U^-T M_ai, the new column of the factor if unknown i enters; returns its Schur complement.

    U^T U = M_aa, a being the first m entries of basis.
    """
    for k in range(m):
        y[k] = M[i, basis[k]]
    forward(U, m, y)
    schur = M[i, i]
    for k in range(m):
        schur -= y[k] * y[k]
    return schur


@kernel(types.UniTuple(F64, 2)(MATRIX, MATRIX, INDICES, I64, I64, VECTOR, VECTOR), **FAST)
def direction(M, U, basis, m, i, y, x):
    """Compute the change x (m) of the basic unknowns per unit of z_i: with z_i's own, the direction p of the drive.

    y (m) is `column`'s. Returns row i's Schur complement p^T M p and the size sum_j sqrt(M_jj) |p_j|, whose square
    bounds the terms of p^T M p.
    """
    schur = column(M, U, basis, m, i, y)
    back(U, m, y, x)
    size = np.sqrt(max(M[i, i], 0.0))
    for k in range(m):
        size += np.sqrt(M[basis[k], basis[k]]) * abs(x[k])
    return schur, size


@kernel(I64(MATRIX, INDICES, I64, I64, VECTOR, F64))
def enter(U, basis, m, i, y, schur):
    """Append unknown i, of `column` y (m), to the basis; returns the new number of basic unknowns."""
    for k in range(m):
        U[k, m] = y[k]
    U[m, m] = np.sqrt(schur)
    basis[m] = i
    return m + 1


@kernel(I64(MATRIX, INDICES, I64, I64), **FAST)
def leave(U, basis, m, k):
    """Remove the k-th of m basic unknowns: delete its column of U, restore the triangle by Givens rotations; m - 1."""
    for i in range(k, m - 1):
        basis[i] = basis[i + 1]
    for i in range(m):
        for j in range(max(k, i - 1), m - 1):
            U[i, j] = U[i, j + 1]
    for i in range(k, m - 1):
        # Row i + 1 has moved one position to the left; rotate that entry into row i.
        a, b = U[i, i], U[i + 1, i]
        h = np.sqrt(a * a + b * b)
        cos, sin = a / h, b / h
        U[i, i], U[i + 1, i] = h, 0.0
        for j in range(i + 1, m - 1):
            a, b = U[i, j], U[i + 1, j]
            U[i, j], U[i + 1, j] = cos * a + sin * b, cos * b - sin * a
    return m - 1


@kernel(I64(MATRIX, VECTOR, VECTOR, VECTOR, MATRIX, INDICES, VECTOR))
def first_factor(M, lower, upper, z, U, basis, y):
    """Factor the block of a maximal set of independent unknowns between their bounds; returns their number."""
    m = 0
    for i in range(z.shape[0]):
        if lower[i] < z[i] < upper[i]:
            schur = column(M, U, basis, m, i, y)
            if schur > INDEPENDENT * M[i, i]:
                m = enter(U, basis, m, i, y, schur)
    return m


@kernel(types.void(MATRIX, INDICES, I64, VECTOR, VECTOR, VECTOR), **FAST)
def newton(U, basis, m, w, y, x):
    """Compute the change x (m) of the basic unknowns that sets their rows of w (n,) to zero."""
    for k in range(m):
        y[k] = w[basis[k]]
    forward(U, m, y)
    back(U, m, y, x)


@kernel(I64(BOUNDED, PIVOTS, I64, INDICES))
def settle(problem, on, m, info):
    """Set the rows of the m basic unknowns to zero; those that reach a bound leave. Returns the number that remain."""
    M, q, lower, upper = problem
    U, basis, z, w, y, x = on
    affine(M, q, z, w)
    while True:
        newton(U, basis, m, w, y, x)
        step, blocking = 1.0, -1
        for k in range(m):
            j = basis[k]
            if z[j] + x[k] < lower[j] or z[j] + x[k] > upper[j]:
                reach = ((upper[j] if x[k] > 0.0 else lower[j]) - z[j]) / x[k]
                if reach < step:
                    step, blocking = max(reach, 0.0), k
        for k in range(m):
            z[basis[k]] += step * x[k]
            w[basis[k]] *= 1.0 - step
        if blocking < 0:
            return m
        j = basis[blocking]
        z[j] = upper[j] if x[blocking] > 0.0 else lower[j]
        m = leave(U, basis, m, blocking)
        info[0] += 1


@kernel(types.Tuple((I64, F64))(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, INDICES), **FAST)
def most_promising(M, w, lower, upper, z, active):
    """Return the nonbasic unknown with the largest predicted decrease w^2 / M_ii (-1: none), and the decrease."""
    best, fall = -1, 0.0
    for i in range(w.shape[0]):
        if active[i] == 0 and ((w[i] < 0.0 and z[i] < upper[i]) or (w[i] > 0.0 and z[i] > lower[i])):
            promised = w[i] ** 2 / M[i, i] if M[i, i] > 0.0 else np.inf
            if promised > fall:
                best, fall = i, promised
    return best, fall


@kernel(types.boolean(MATRIX, INDICES, I64, I64, VECTOR, F64))
def is_null_direction(M, basis, m, i, x, size):
    """Return whether M p = 0 up to round-off, p being the direction of z_i with x (m) and size from `direction`."""
    for k in range(M.shape[0]):
        s = M[k, i]
        for j in range(m):
            s += M[k, basis[j]] * x[j]
        # Cauchy-Schwarz for PSD matrices: (M p)_k^2 <= M_kk p^T M p, and p^T M p is zero up to DEPENDENT size^2.
        if s**2 > DEPENDENT * max(M[k, k], 0.0) * size**2:
            return False
    return True


@kernel(I64(BOUNDED, PIVOTS, I64, I64, INDICES))
def drive(problem, on, m, i, info):
    """Drive z_i until its row holds, it reaches its other bound, or nothing blocks; w is not updated.

    Returns the new number of basic unknowns, or -Status.
    """
    M, _, lower, upper = problem
    U, basis, z, w, y, x = on
    w_i = w[i]
    sign = 1.0 if w_i < 0.0 else -1.0
    while True:
        info[0] += 1
        schur, size = direction(M, U, basis, m, i, y, x)
        enters = schur > DEPENDENT * size**2
        step = abs(w_i) / schur if enters else np.inf
        blocking = -1
        reach = upper[i] - z[i] if sign > 0.0 else z[i] - lower[i]
        if reach <= step:
            step, blocking = reach, m
        for k in range(m):
            j, p = basis[k], sign * x[k]
            if abs(p) * np.sqrt(M[j, j]) > NEGLIGIBLE * size:
                reach = (upper[j] - z[j]) / p if p > 0.0 else (lower[j] - z[j]) / p
                if reach < step:
                    step, blocking = max(reach, 0.0), k
        if step == np.inf:
            return -INFEASIBLE if is_null_direction(M, basis, m, i, x, size) else -RAY
        z[i] += sign * step
        for k in range(m):
            z[basis[k]] += sign * step * x[k]
        if blocking < 0:
            return enter(U, basis, m, i, y, schur)
        if blocking == m:
            z[i] = upper[i] if sign > 0.0 else lower[i]
            return m
        j = basis[blocking]
        z[j] = upper[j] if sign * x[blocking] > 0.0 else lower[j]
        w_i += sign * step * schur
        m = leave(U, basis, m, blocking)


@kernel(I64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, INDICES))
def by_drives(M, q, lower, upper, z, info):
    """Solve by drives (see the module); the data must be `usable`, M symmetric. Returns a Status.

    info[0] counts pivots, at most 50 (n + 10).
    """
    n = M.shape[0]
    w, y, x, U = np.empty(n), np.empty(n), np.empty(n), np.zeros((n, n))
    basis, active, side = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    set_all(0.0, z)
    clip(lower, upper, z)
    for k in range(n):
        active[k] = 0
    affine(M, q, z, w)
    _, first = most_promising(M, w, lower, upper, z, active)
    projected_sweeps(M, q, lower, upper, SWEEPS, z)
    m = first_factor(M, lower, upper, z, U, basis, y)
    problem, on = Bounded(M, q, lower, upper), Pivots(U, basis, z, w, y, x)
    m = settle(problem, on, m, info)
    while True:
        for k in range(n):
            active[k] = 0
        for k in range(m):
            active[basis[k]] = 1
        affine(M, q, z, w)
        i, fall = most_promising(M, w, lower, upper, z, active)
        if fall <= PROMISING * first:
            infeasibilities(M, q, lower, upper, SIGN_TOLERANCE, z, active, side)
            for k in range(n):
                # Basic unknowns are within their bounds; a row of the right sign needs no drive.
                if active[k] == 0 and side[k] == 0:
                    active[k] = 2
            i, fall = most_promising(M, w, lower, upper, z, active)
        if i < 0:
            break
        if info[0] >= 50 * (n + 10):
            return ITERATION_LIMIT
        m = drive(problem, on, m, i, info)
        if m < 0:
            return -m
    # Drives leave round-off behind.
    affine(M, q, z, w)
    newton(U, basis, m, w, y, x)
    for k in range(m):
        z[basis[k]] += x[k]
    clip(lower, upper, z)
    return SOLVED if backward_error(M, q, lower, upper, z) <= ACCEPTED else INACCURATE


@kernel(SOLVE)
def keller_kernel(M, q, lower, upper, mu, d, z, info):
    """Call `by_drives` if the data are usable."""
    info[0] = 0
    set_all(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    return by_drives(M, q, lower, upper, z, info)


def _objection(problem: MatrixProblem) -> str | None:
    if not is_symmetric(problem.M):
        return "keller needs a symmetric M (its pivots are those of a quadratic programme); this one is not symmetric"
    return None


SOLVER = KernelSolver(
    name="keller",
    kernel=keller_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for="symmetric positive semidefinite matrices",
    source="Keller 1973; bounds: Lacoursière 2007",
    objection=_objection,
)
