"""How far a P-matrix is from losing the P-property, in the 2-norm: 1/beta_2(M), exactly or bounded from below.

beta_2(M) = max over D = diag(d), 0 <= d <= 1, of |(I - D + D M)^-1 D|_2 (Chen and Xiang, SIAM J. Optim. 18, 2007). The
maximum lies at a vertex: in every t_i = 1/d_i - 1 the matrix (M + diag t)^-1 moves along a segment of rank one, and a
norm is convex. Hence beta_2 = max over index sets a of |M_aa^-1|_2, and

    1/beta_2 = min over a of sigma_min(M_aa),

the distance to the matrices that are not P: nearer ones keep every M_aa regular on the way, and E = -sigma u v^T on the
minimising a makes det (M + E)_aa = 0.

The bound: a diagonal W with W M + M^T W - W^2 - s I >= 0 gives, for x supported on a and y = M_aa x,
s |x|^2 + |W x|^2 <= 2 x^T W y <= |W x|^2 + |y|^2, so that sigma_min(M_aa)^2 >= s for every a.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from workbench.arrays import Array
from workbench.engine.timing import clock
from workbench.errors import DataError
from workbench.matrices.definiteness import proved_positive_definite
from workbench.matrices.diagonal_stability import root_diagonal

LARGEST_EXACT = 14
"""Order up to which all 2^n - 1 index sets are taken."""
LARGEST_PROGRAMME = 40
"""Order up to which W is found by a semidefinite programme; beyond, a W that proves the P-property is scaled."""
BATCH = 4096


@dataclass(frozen=True, eq=False)
class Distance:
    """Distance of a P-matrix to the non-P matrices in the 2-norm, in the unit of its entries.

    `value` is 1/beta_2 to about 1e-13 relative, with the minimising `index_set`; None where it was not computed.
    `lower_bound` is certified: never above the distance; None where none was found. `method` says how.
    """

    value: float | None
    lower_bound: float | None
    index_set: tuple[int, ...] | None
    method: str

    @property
    def beta_2(self) -> float | None:
        return 1.0 / self.value if self.value else None

    @property
    def beta_2_bound(self) -> float | None:
        """Certified upper bound of beta_2."""
        return None if not self.lower_bound else 1.0 / self.lower_bound


def distance(M: Array, seconds: float = 5.0) -> Distance:
    """The distance of M (n, n), known to be a P-matrix, to the matrices that are not. Raises DataError for a shape."""
    M = np.asarray(M, dtype=float)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or not M.size:
        raise DataError(f"M has shape {M.shape}; a square matrix is needed")
    found = least_singular_value(M, seconds) if len(M) <= LARGEST_EXACT else None
    if found is None:
        bound = lower_bound(M, programme=len(M) <= LARGEST_PROGRAMME and seconds >= 1.0)
        method = "a diagonal W with W M + M^T W - W^2 - s I >= 0" if bound else "no bound found"
        return Distance(None, bound, None, method)
    value, index_set = found
    method = f"smallest singular value of all {2 ** len(M) - 1} principal submatrices"
    # A computed singular value is off by a modest multiple of the unit roundoff times the norm.
    off = 8 * len(M) ** 3 * float(np.finfo(float).eps) * float(np.abs(M).max())
    return Distance(value, max(0.0, value - off), index_set, method)


def least_singular_value(M: Array, seconds: float) -> tuple[float, tuple[int, ...]] | None:
    """min over index sets a of sigma_min(M_aa), and a; None if time ran out."""
    n, end = len(M), clock() + seconds
    least = np.inf
    where: tuple[int, ...] = (0,)
    for k in range(1, n + 1):
        sets = itertools.combinations(range(n), k)
        while chunk := list(itertools.islice(sets, BATCH)):
            a = np.array(chunk)
            sigma = np.linalg.svd(M[a[:, :, None], a[:, None, :]], compute_uv=False)[:, -1]
            best = int(sigma.argmin())
            if sigma[best] < least:
                least, where = float(sigma[best]), chunk[best]
            if clock() > end:
                return None
    return least, where


def lower_bound(M: Array, programme: bool = True) -> float | None:
    """A certified sqrt(s) with W M + M^T W - W^2 - s I >= 0 for some diagonal W >= 0; None where none was found.

    W comes from a semidefinite programme, which takes seconds from order 40 on, and from diagonal stability.
    """
    size = float(np.abs(M).max())
    A = M / size
    candidates = [w for w in (_programme(A) if programme else None, _scaled(A)) if w is not None]
    best = 0.0
    for w in candidates:
        S = w[:, None] * A
        S = S + S.T - np.diag(w**2)
        s = float(np.linalg.eigvalsh(S)[0])
        for margin in (1e-12, 1e-10, 1e-8, 1e-6):
            t = s - margin * (1 + abs(s))
            if t > 0 and proved_positive_definite(S - t * np.eye(len(A))):
                best = max(best, t)
                break
    # The rounding of M / size and of S is far below the margin; the factor covers that of the square root.
    return size * float(np.sqrt(best)) * (1 - 1e-12) if best > 0 else None


def _programme(A: Array) -> Array | None:
    import cvxpy as cp

    n = len(A)
    w, s = cp.Variable(n, nonneg=True), cp.Variable()
    block = cp.bmat([[cp.diag(w) @ A + A.T @ cp.diag(w) - s * np.eye(n), cp.diag(w)], [cp.diag(w), np.eye(n)]])
    try:
        cp.Problem(cp.Maximize(s), [block >> 0]).solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return None
    return None if w.value is None else np.maximum(w.value, 0.0)


def _scaled(A: Array) -> Array | None:
    """The multiple of a W that proves diagonal stability that gives the largest s."""
    if not (np.diag(A) > 0).all():
        return None
    d = np.sqrt(np.diag(A))
    w = root_diagonal(A / d[:, None] / d)
    if w is None:
        return None
    S = w[:, None] * A
    S = S + S.T
    factors = np.linalg.eigvalsh(S)[0] / (w**2).max() * np.geomspace(0.05, 1.0, 25)
    values = [np.linalg.eigvalsh(c * S - np.diag((c * w) ** 2))[0] for c in factors]
    return factors[int(np.argmax(values))] * w
