"""Bounds on sigma(M) = min over index sets a of sigma_min(M_aa) without examining all index sets, in floating point.

Below, by a diagonal W >= 0 and s >= 0 with W M + M^T W - W^2 - s I >= 0: for x supported on a and y = M_aa x,
s |x|^2 + |W x|^2 <= 2 x^T W y <= |W x|^2 + |y|^2, so that sigma_min(M_aa)^2 >= s for every a. Above, by a search for
an index set with a small singular value.
"""

import itertools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.engine.timing import OutOfTimeError, clock, standing_still
from workbench.matrices.distances.singular_values import least_of_rationals, root
from workbench.matrices.linear_algebra.definiteness import proved_positive_definite, signs_of_form, symmetric_part
from workbench.matrices.linear_algebra.rationals import exact
from workbench.matrices.p_property.diagonal_stability import root_diagonal
from workbench.support.arrays import Array

LARGEST_BALLS = 40
"""Largest order of a rational matrix whose smallest singular value is enclosed, however small it is."""
LARGEST_PROGRAMME = 40
"""Largest order for which W comes from a semidefinite programme; beyond, a W that proves the P-property is scaled."""
LEAST_SECONDS = 1.0
"""Least time for which a semidefinite programme is set up; half of it is for the solver."""
LARGEST_SEARCHED = 128
"""Largest size of the index sets that are searched."""
STARTS = 20
"""Number of random index sets from which a search starts."""
MARGINS = (1e-13, 1e-12, 1e-10, 1e-8, 1e-6)
"""Differences, relative to the matrix, between a computed eigenvalue and its proved lower bound: tried in turn."""
CUBE = 1e-9
"""Seconds of one factorisation over the cube of the order: it is not started with less time."""
FLAT = 1e-3
"""Relative width at which the search for the scale of W ends: near its maximum s changes by the square of that."""


@dataclass(frozen=True, eq=False)
class Diagonal:
    """W = diag(`w`) >= 0 and `s` >= 0 with W M + M^T W - W^2 - s I positive semidefinite, exactly."""

    w: list[fmpq]
    s: fmpq

    @property
    def lower(self) -> fmpq:
        """The bound on sigma(M): sqrt(s), rounded down."""
        return root(self.s, up=False)


def definite_diagonal(M: fmpq_mat, deadline: float = math.inf) -> Diagonal | None:
    """W = c I and s = c^2 for c at or just below the smallest eigenvalue of (M + M^T)/2; None where that is not
    positive, or out of time. For a symmetric M this is the optimum: sigma(M) = c."""
    n = M.nrows()
    if n > LARGEST_BALLS:
        return None
    S = symmetric_part(M)
    try:
        signs = signs_of_form(S, deadline)
        if signs.negative is not None or signs.singular:
            return None
        c = least_of_rationals(S, deadline=deadline).lower
    except OutOfTimeError:
        return None
    return Diagonal([c] * n, c * c)


def stable_diagonal(A: Array, end: float) -> Diagonal | None:
    """The best W found for A (n, n), exact entries rounded once, by the time `end` of `clock`; None if there is none.

    W comes from a semidefinite programme, up to order `LARGEST_PROGRAMME`, and from diagonal stability.
    """
    size = float(np.abs(A).max())
    if not 1e-200 < size < 1e200:
        return None
    size = 2.0 ** math.frexp(size)[1]
    A = A / size
    best, s = None, 0.0
    for find in (_definite, _scaled, _programme):
        w = find(A, end)
        proved = 0.0 if w is None else _proved(A, w, end)
        if proved > s:
            best, s = w, proved
    if best is None:
        return None
    unit = exact(size)
    return Diagonal([exact(value) * unit for value in best.tolist()], exact(s) * unit * unit)


def _time_for(n: int, end: float) -> bool:
    """Whether there is time for a factorisation of order n."""
    return clock() + CUBE * n**3 < end


def _proved(A: Array, w: Array, end: float) -> float:
    """A proved s for this w, or zero.

    With u = 2^-53, A errs by u |A| and each entry of S is rounded four times at most; `off` is three times the largest
    row sum of all that, and covers entries below the range of doubles.
    """
    n = len(A)
    WA = w[:, None] * A
    S = WA + WA.T - np.diag(w * w)
    size = np.abs(WA) + np.abs(WA).T + np.diag(w * w)
    off = 8 * float(np.finfo(float).eps) * float(size.sum(axis=1).max()) + 1e-100 * float(w.max()) + 1e-200
    least = float(np.linalg.eigvalsh(S)[0])
    for margin in MARGINS:
        s = least - off - margin * float(size.max())
        if s > 0 and _time_for(n, end) and proved_positive_definite(S - (s + off) * np.eye(n)):
            return s
    return 0.0


def _definite(A: Array, end: float) -> Array | None:
    """W = c I, the best for a symmetric A, with the smallest eigenvalue c of the symmetric part."""
    if not _time_for(len(A), end):
        return None
    c = float(np.linalg.eigvalsh(0.5 * A + 0.5 * A.T)[0])
    return np.full(len(A), c) if c > 0 else None


def _programme(A: Array, end: float) -> Array | None:
    """W that maximises s."""
    n = len(A)
    if n > LARGEST_PROGRAMME or end - clock() < LEAST_SECONDS:
        return None
    with standing_still():
        import cvxpy as cp

    w, s = cp.Variable(n, nonneg=True), cp.Variable()
    block = cp.bmat([[cp.diag(w) @ A + A.T @ cp.diag(w) - s * np.eye(n), cp.diag(w)], [cp.diag(w), np.eye(n)]])
    limit = max(0.1, 0.5 * (end - clock()))
    # An inaccurate result, or one cut short, is still a candidate: it is proved or dropped.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cp.Problem(cp.Maximize(s), [block >> 0]).solve(solver=cp.CLARABEL, time_limit=limit)
        except cp.SolverError:
            return None
    return None if w.value is None else np.maximum(w.value, 0.0)


def _scaled(A: Array, end: float) -> Array | None:
    """The multiple of a W that proves diagonal stability with the largest s, a concave function of the factor."""
    n, d = len(A), np.diag(A)
    if not (d > 0).all():
        return None
    d = np.sqrt(d)
    try:
        w = root_diagonal(A / d[:, None] / d, end)
    except OutOfTimeError:
        return None
    if w is None or not (np.isfinite(w).all() and (w > 0).all()):
        return None
    S = w[:, None] * A
    S = S + S.T
    least, square = float(np.linalg.eigvalsh(S)[0]), w * w
    if least <= 0:
        return None

    def lowest(power: float) -> float:
        c = math.exp(power)
        return float(np.linalg.eigvalsh(c * S - c * c * np.diag(square))[0])

    # At the left end some s > 0 is possible because of the smallest eigenvalue; at the right end none, by the diagonal.
    left, right = least / (2 * square.max()), (np.diag(S) / square).min()
    # The result still has to be proved.
    return math.exp(_highest(lowest, math.log(left), math.log(right), end - 2 * CUBE * n**3)) * w


def _highest(f: Callable[[float], float], left: float, right: float, end: float) -> float:
    """The maximiser in [left, right] of an f that first rises and then falls: golden sections until `end`."""
    ratio = (math.sqrt(5) - 1) / 2
    inner = [right - ratio * (right - left), left + ratio * (right - left)]
    values = [f(x) for x in inner]
    while right - left > FLAT and clock() < end:
        if values[0] > values[1]:
            right = inner[1]
            inner = [right - ratio * (right - left), inner[0]]
            values = [f(inner[0]), values[0]]
        else:
            left = inner[0]
            inner = [inner[1], left + ratio * (right - left)]
            values = [values[1], f(inner[1])]
    return inner[int(np.argmax(values))]


def low_index_set(A: Array, end: float) -> tuple[int, ...]:
    """An index set a with a small sigma_min(A_aa) for A (n, n), n >= 1, found by adding and removing single indices.

    It starts from all indices, the smallest diagonal entry, then random sets until `end`, at most `STARTS`; sets beyond
    `LARGEST_SEARCHED` indices are not changed. Nothing is proved here; every index set bounds sigma from above.
    """
    n = len(A)
    A = A / (float(np.abs(A).max()) or 1.0)
    best: tuple[int, ...] = (int(np.abs(np.diag(A)).argmin()),)
    least = abs(A[best[0], best[0]])
    rng = np.random.default_rng(0)
    random = (np.flatnonzero(rng.uniform(size=n) < rng.uniform()) for _ in range(STARTS))
    for start in itertools.chain([np.arange(n)], [np.array(best)], random):
        if len(start) and _time_for(len(start), end):
            sigma, a = _descend(A, start, end)
            if sigma < least:
                least, best = sigma, a
    return best


def _descend(A: Array, a: NDArray[np.int64], end: float) -> tuple[float, tuple[int, ...]]:
    """sigma_min and index set once no single added or removed index is expected to lower it."""
    sigma = math.inf
    best = a
    while True:
        U, s, Vt = np.linalg.svd(A[np.ix_(a, a)])
        if not s[-1] < sigma * (1 - 1e-9):
            break
        sigma, best = float(s[-1]), a
        if sigma < 1e-300 or len(a) > LARGEST_SEARCHED or not _time_for(len(a), end):
            break
        i = _best_change(A, a, U, s, Vt)
        a = np.setdiff1d(a, [i]) if i in a else np.union1d(a, [i])
    return sigma, tuple(best.tolist())


def _best_change(A: Array, a: NDArray[np.int64], U: Array, s: Array, Vt: Array) -> int:
    """The index whose addition or removal makes |A_aa^-1| largest, as estimated by the singular vectors.

    With K = A_aa^-1, K u = tau v and v^T K = tau u^T, removing i leaves K - K_i K^i / K_ii, and adding j, with the
    column c and the row r of A and the Schur complement t = A_jj - r K c, borders K + K c r K / t by -K c / t, -r K / t
    and 1/t. Their parts on span(v, e_j) and span(u, e_j) are no larger than the whole.
    """
    n, k = len(A), len(a)
    b = np.setdiff1d(np.arange(n), a)
    K, u, v, tau = Vt.T / s @ U.T, U[:, -1], Vt[-1], 1 / s[-1]
    gain = np.zeros(n)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if k > 1:
            gain[a] = np.abs(tau - tau**2 * u * v / np.diag(K)) / np.sqrt((1 - u**2) * (1 - v**2))
        C, R = A[np.ix_(a, b)], A[np.ix_(b, a)]
        t = A[b, b] - np.einsum("ja,aj->j", R @ K, C)
        left, right = tau * (u @ C), tau * (R @ v)
        part = np.array([[tau + left * right / t, -left / t], [-right / t, 1 / t]]).transpose(2, 0, 1)
    # A gain that is not a number belongs to a change that leaves a singular matrix, or nothing.
    gain[b] = np.linalg.norm(np.where(np.isfinite(part), part, 1e300), axis=(1, 2))
    return int(np.nan_to_num(gain, nan=0.0).argmax())
