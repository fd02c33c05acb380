"""Diagonal stability: a diagonal W > 0 with W B + B^T W positive definite, which proves B a P-matrix.

The property covers positive definite symmetric parts (W = I), M- and H+-matrices, and is invariant under diagonal
scaling and principal pivoting. W comes from a barrier method for

    minimise tau   subject to   W B + B^T W + tau I >= 0,   w >= 0,   mean of w = 1/2,

stopped as soon as W itself suffices, or once the duality gap shows that none does. Then the dual matrix Z is a
certificate that there is none, and indicates where a principal pivot helps most. W is found in floating point and
proved by a Cholesky factor with an error bound, or exactly (`proved_diagonal`).

Sources: Barker, Berman and Plemmons (Linear Multilinear Algebra 5, 1978); Moylan (IEEE Trans. Autom. Control 22, 1977);
Boyd and Vandenberghe, Convex Optimization (2004), chapter 11, for the method; Rump (BIT 46, 2006) for the proof.
"""

import math

import numpy as np
from flint import fmpq, fmpq_mat
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, lu_factor, lu_solve
from workbench.engine.timing import Pace
from workbench.matrices.linear_algebra.definiteness import (
    EXACT_SIZE,
    positive_definite,
    proved_positive_definite,
    symmetric_part,
)
from workbench.matrices.linear_algebra.rationals import doubles

FOUND, NONE, UNSETTLED, STUCK = 1, 0, 2, 3
STEPS = 80
"""Largest number of Newton steps; fifteen are usual."""
LARGE = 64
"""Order above which LAPACK's calls cost less than loops."""
LARGEST = 600
"""Largest order for which the barrier method is started; a step takes a third of a second there."""
SHRINK = 0.1
"""Factor on the barrier's weight once the Newton decrement is small."""


@kernel(types.boolean(MATRIX, MATRIX))
def cholesky(S, L):
    """L L^T = S (m, m) in the lower triangle of L; return False where a pivot is not positive."""
    m = S.shape[0]
    for j in range(m):
        s = S[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        if not s > 0.0:
            return False
        d = np.sqrt(s)
        L[j, j] = d
        for i in range(j + 1, m):
            s = S[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / d
        for k in range(j + 1, m):
            L[j, k] = 0.0
    return True


@kernel(types.void(MATRIX, MATRIX))
def inverse_from(L, K):
    """K = (L L^T)^-1."""
    m = L.shape[0]
    X = np.zeros((m, m))
    for j in range(m):
        X[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, m):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k] * X[k, j]
            X[i, j] = s / L[i, i]
    product = np.dot(X.T, X)
    for i in range(m):
        for j in range(m):
            K[i, j] = product[i, j]


# NumPy's functions take several seconds to compile, and few matrices are large.


@kernel(types.void(MATRIX, MATRIX))
def inverse_of_large(S, K):
    """K = S^-1. Raises LinAlgError."""
    inverse, m = np.linalg.inv(S), S.shape[0]
    for i in range(m):
        for j in range(m):
            K[i, j] = inverse[i, j]


@kernel(types.void(MATRIX, VECTOR, VECTOR))
def solve_large(H, g, step):
    """H step = g. Raises LinAlgError."""
    found = np.linalg.solve(H, g)
    for i in range(g.shape[0]):
        step[i] = found[i]


@kernel(types.void(MATRIX, VECTOR, types.float64, MATRIX))
def form(B, w, tau, S):
    """S = W B + B^T W + tau I."""
    m = B.shape[0]
    for i in range(m):
        for j in range(m):
            S[i, j] = w[i] * B[i, j] + w[j] * B[j, i]
        S[i, i] += tau


@kernel(types.boolean(MATRIX, MATRIX, VECTOR, MATRIX, MATRIX))
def proves(B, R, w, S, L):
    """Whether W B' + B'^T W is positive definite for every |B' - B| <= R entrywise, proved.

    A symmetric matrix with |E| <= W R + R^T W is at most the diagonal of the row sums of this bound, since the rest
    is diagonally dominant. With u = 2^-53, forming S errs by 3u |S| entrywise and a Cholesky factorisation of S - T,
    T diagonal, that succeeds proves S - T + E positive definite, |E|_2 <= (m + 2) u tr S; twice that covers every
    rounding made here, and 1e-12 of the row sums covers their summation.
    """
    m = B.shape[0]
    form(B, w, 0.0, S)
    trace = 0.0
    for i in range(m):
        trace += S[i, i]
    for i in range(m):
        spread, rounding = 0.0, (m + 2) * 1.2e-16 * abs(trace)
        for j in range(m):
            spread += w[i] * R[i, j] + w[j] * R[j, i]
            rounding += 1e-15 * (w[i] * abs(B[i, j]) + w[j] * abs(B[j, i]))
        S[i, i] -= spread * (1.0 + 1e-12) + 2.0 * rounding + 1e-290
    return cholesky(S, L)


@kernel(types.void(MATRIX, MATRIX, VECTOR, types.float64, VECTOR, MATRIX, VECTOR))
def newton_system(B, K, w, weight, score, H, g):
    """H and g of a Newton step in w, tau and the multiplier of the mean, (m + 2,); K (m, m) = S^-1. Fills `score`."""
    m = B.shape[0]
    G = np.dot(B, K)
    P = np.dot(G, B.T)
    GK = np.dot(G, K)
    trace, square = 0.0, 0.0
    for i in range(m):
        score[i] = K[i, i] * P[i, i]
        trace += K[i, i]
        for j in range(m):
            square += K[i, j] * K[i, j]
            H[i, j] = 2.0 * (G[i, j] * G[j, i] + P[i, j] * K[i, j])
        H[i, i] += 1.0 / (w[i] * w[i])
        H[i, m] = H[m, i] = 2.0 * GK[i, i]
        H[i, m + 1] = H[m + 1, i] = 1.0
        g[i] = 2.0 * G[i, i] + 1.0 / w[i]
    H[m, m], H[m, m + 1], H[m + 1, m], H[m + 1, m + 1] = square, 0.0, 0.0, 0.0
    g[m] = trace - 1.0 / weight


@kernel(types.float64(MATRIX, VECTOR, types.float64, VECTOR, VECTOR, MATRIX, MATRIX))
def feasible_length(B, w, tau, step, w_new, S, L):
    """The first length tried for which w_new = w + length step and tau make S definite, S = L L^T; 0 if none does."""
    m, length = B.shape[0], 1.0
    for i in range(m):
        if step[i] < 0.0:
            length = min(length, -0.95 * w[i] / step[i])
    for _ in range(30):
        for i in range(m):
            w_new[i] = w[i] + length * step[i]
        form(B, w_new, tau + length * step[m], S)
        if cholesky(S, L):
            return length
        length *= 0.6
    return 0.0


@kernel(types.int64(MATRIX, VECTOR, VECTOR, VECTOR, types.int64))
def barrier(B, w, score, at, steps):
    """w (m,) > 0 with W B + B^T W positive definite (floating point): FOUND, NONE, UNSETTLED after `steps` or STUCK.

    B (m, m) has ones on its diagonal. `score` (m,) is Z_ii (B Z B^T)_ii for the dual matrix Z: large where a
    principal pivot helps most. at = [tau, weight of the barrier] is zero initially; w and `at` allow to continue.
    """
    m = B.shape[0]
    S, L, K = np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
    H, pivots = np.zeros((m + 2, m + 2)), np.empty(m + 2, dtype=np.int64)
    g, step, w_new = np.zeros(m + 2), np.empty(m + 2), np.empty(m)
    tau, weight = at[0], at[1]
    if weight == 0.0:
        for i in range(m):
            w[i] = 0.5
            score[i] = 0.0
        form(B, w, 0.0, S)
        if cholesky(S, L):
            return FOUND
        # Gershgorin's bound makes the start feasible.
        for i in range(m):
            s = 1.0 - S[i, i]
            for j in range(m):
                if j != i:
                    s += abs(S[i, j])
            tau = max(tau, s)
        weight = tau
    form(B, w, tau, S)
    cholesky(S, L)
    for _ in range(steps):
        if m > LARGE:
            inverse_of_large(S, K)
        else:
            inverse_from(L, K)
        newton_system(B, K, w, weight, score, H, g)
        if m > LARGE:
            solve_large(H, g, step)
        elif lu_factor(H, pivots):
            return STUCK
        else:
            lu_solve(H, pivots, g, step)
        decrement = 0.0
        for i in range(m + 1):
            decrement += g[i] * step[i]
        length = feasible_length(B, w, tau, step, w_new, S, L)
        if length == 0.0:
            return STUCK
        tau += length * step[m]
        for i in range(m):
            w[i] = w_new[i]
        if tau < 0.0:
            return FOUND
        if decrement < 1.0:
            # At the centre the best tau is lower by at most 2 m weight.
            if tau > 4.0 * m * weight:
                return NONE
            weight *= SHRINK
    at[0], at[1] = tau, weight
    return UNSETTLED


@kernel(types.int64(MATRIX, VECTOR, VECTOR, types.int64))
def find_diagonal(B, w, score, steps):
    """Run `barrier` from its beginning."""
    return barrier(B, w, score, np.zeros(2), steps)


def root_diagonal(A: NDArray[np.float64], deadline: float = math.inf) -> NDArray[np.float64] | None:
    """A candidate w for A (n, n) with ones on the diagonal: from both dominances of an H+-matrix, or by the barrier.

    Raises OutOfTimeError.
    """
    n = len(A)
    comparison = -np.abs(A)
    np.fill_diagonal(comparison, np.diag(A))
    try:
        u, v = np.linalg.solve(comparison, np.ones(n)), np.linalg.solve(comparison.T, np.ones(n))
    except np.linalg.LinAlgError:
        u = v = np.zeros(n)
    if (u > 0).all() and (v > 0).all():
        # W <A> u + <A>^T W u = v/u + 1 > 0: a dominance of W A + A^T W.
        return v / u
    if n > LARGEST:
        return None
    A, w, at, found = np.ascontiguousarray(A), np.empty(n), np.zeros(2), UNSETTLED
    pace = Pace(deadline)
    for _ in range(STEPS):
        pace.step()
        try:
            found = barrier(A, w, np.empty(n), at, 1)
        except np.linalg.LinAlgError:
            return None
        if found != UNSETTLED:
            break
    return w if found == FOUND else None


def proved_diagonal(M: fmpq_mat, w: list[fmpq], deadline: float = math.inf) -> bool:
    """Whether W M + M^T W is positive definite, by an error bound or, up to order `EXACT_SIZE`, in exact arithmetic.

    Raises OutOfTimeError.
    """
    n = M.nrows()
    if not all(x > 0 for x in w):
        return False
    WM = fmpq_mat(n, n, [w[i] * M[i, j] for i in range(n) for j in range(n)])
    if proved_positive_definite(doubles(WM)):
        return True
    return n <= EXACT_SIZE and positive_definite(symmetric_part(WM), deadline)
