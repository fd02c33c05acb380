"""Check whether the distance to a singular principal minor lies between these bounds. Standard library only.

sigma = min over index sets a of sigma_min(M_aa) is the 2-norm distance of M to the nearest matrix with a singular
principal minor, and for a P-matrix to the nearest non-P matrix (`matrices.distances` has the proof).
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import (
    Rows,
    dot,
    index_sets,
    indices,
    is_positive_semidefinite,
    part,
    rational,
    times,
    transposed,
    vector,
)
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError, TooLongError
from workbench.certificates.repetition import LARGEST


def check_distance(M: Rows, verdict: Any, support: dict[str, Any]) -> None:
    """Raise RefusedError unless the verdict [lower, upper], upper None for no bound, encloses sigma.

    From above: |M_aa x| <= upper |x| for one index set a. From below: W M + M^T W - W^2 - s I is positive semidefinite
    for a diagonal W with any signs, with lower^2 <= s, since 2 (W x) . (M x) <= |W x|^2 + |M x|^2; or else
    lower <= sigma_min(M_aa) for all a, which is checked again.
    """
    if not isinstance(verdict, list) or len(verdict) != 2:
        raise RefusedError("the verdict is not a pair of bounds")
    lower, upper = rational(verdict[0]), None if verdict[1] is None else rational(verdict[1])
    if lower < 0:
        raise RefusedError("the lower bound is not a number >= 0")
    above = () if upper is None else ("index_set", "x")
    below = ("diagonal",) if "diagonal" in support else ()
    check_fields(support, (*above, *below), "the support")
    if upper is not None:
        _check_above(M, upper, support)
    if below:
        _check_diagonal(M, lower, support["diagonal"])
    elif lower > 0:
        _repeat_below(M, lower)


def _check_above(M: Rows, upper: Fraction, support: dict[str, Any]) -> None:
    a = indices(support.get("index_set"), len(M), "the index set")
    x = vector(support.get("x"), len(a), "x")
    image = times(part(M, a), x)
    if not any(x) or upper < 0 or dot(image, image) > upper**2 * dot(x, x):
        raise RefutedError("x does not show the upper bound")


def _check_diagonal(M: Rows, lower: Fraction, given: Any) -> None:
    check_fields(given, ("W", "s"), "the diagonal")
    n, W, s = len(M), vector(given["W"], len(M), "W"), rational(given["s"])
    S = []
    for i in range(n):
        check_time()
        S.append([W[i] * M[i][j] + M[j][i] * W[j] - (W[i] ** 2 + s) * (i == j) for j in range(n)])
    if lower**2 > s or not is_positive_semidefinite(S):
        raise RefutedError("the diagonal W does not show the lower bound")


def _repeat_below(M: Rows, lower: Fraction) -> None:
    n = len(M)
    if n > LARGEST:
        raise TooLongError(f"a bound over 2^{n} index sets, which are repeated up to order {LARGEST}")
    for a in index_sets(n):
        columns = transposed(part(M, a))
        gram = [[dot(u, v) - lower**2 * (i == j) for j, v in enumerate(columns)] for i, u in enumerate(columns)]
        if not is_positive_semidefinite(gram):
            raise RefutedError(f"the index set {a} is below the lower bound")
