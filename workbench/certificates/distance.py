"""Is the distance to a singular principal minor between these bounds? Standard library only.

sigma = min over index sets a of sigma_min(M_aa) is the 2-norm distance of M to the nearest matrix with a singular
principal minor, and of a P-matrix to the nearest matrix that is none (`matrices.distances` has the proof).
"""

from fractions import Fraction
from itertools import combinations
from typing import Any

from workbench.certificates.exact import (
    RefusedError,
    Rows,
    dot,
    indices,
    is_positive_semidefinite,
    part,
    rational,
    times,
    transposed,
    vector,
)
from workbench.certificates.repetition import LARGEST, TooLongError


def check_distance(M: Rows, support: dict[str, Any]) -> None:
    """RefusedError unless the verdict [lower, upper] encloses sigma.

    From above: |M_aa x| <= upper |x| for one index set a. From below: W M + M^T W - W^2 - s I is positive semidefinite
    for a diagonal W >= 0, with lower^2 <= s, or else lower <= sigma_min(M_aa) for all a, which is repeated.
    """
    lower, upper = (x if x is None else rational(x) for x in _pair(support.get("verdict")))
    if lower is None or lower < 0:
        raise RefusedError("the lower bound is not a number >= 0")
    if upper is not None:
        _check_above(M, upper, support)
    if lower > 0:
        _check_below(M, lower, support.get("diagonal"))


def _pair(given: Any) -> list[Any]:
    if not isinstance(given, list) or len(given) != 2:
        raise RefusedError("the verdict is not a pair of bounds")
    return given


def _check_above(M: Rows, upper: Fraction, support: dict[str, Any]) -> None:
    a = indices(support.get("index_set"), len(M), "the index set")
    x = vector(support.get("x"), len(a), "x")
    image = times(part(M, a), x)
    if not any(x) or upper < 0 or dot(image, image) > upper**2 * dot(x, x):
        raise RefusedError("x does not show the upper bound")


def _check_below(M: Rows, lower: Fraction, diagonal: Any) -> None:
    n = len(M)
    if isinstance(diagonal, dict):
        W, s = vector(diagonal.get("W"), n, "W"), rational(diagonal.get("s"))
        S = [[W[i] * M[i][j] + M[j][i] * W[j] - (W[i] ** 2 + s) * (i == j) for j in range(n)] for i in range(n)]
        if min(W) < 0 or lower**2 > s or not is_positive_semidefinite(S):
            raise RefusedError("the diagonal W does not show the lower bound")
        return
    if n > LARGEST:
        raise TooLongError(f"a bound over 2^{n} index sets, which are repeated up to order {LARGEST}")
    for a in (list(a) for k in range(1, n + 1) for a in combinations(range(n), k)):
        columns = transposed(part(M, a))
        gram = [[dot(u, v) - lower**2 * (i == j) for j, v in enumerate(columns)] for i, u in enumerate(columns)]
        if not is_positive_semidefinite(gram):
            raise RefusedError(f"the index set {a} is below the lower bound")
