"""Sliding contacts in numbers of any kind: doubles, rationals, or enclosures over a box of parameters."""

from typing import Any, NamedTuple


class SlidingRows(NamedTuple):
    """The data of `SlidingSystem` as nested lists, bilateral contacts first; a zero that is structure is the int 0.

    M (n, n) SPD, f (n,), J_n and J_t (m, n), mu and xi (m,), w_n (m,) or None for zero; m_b of the m contacts are
    bilateral.
    `locking` is a number that is positive where the contacts can lock: forces within their friction cones that cancel
    one another, of any size; None where no forces cancel.
    """

    M: list[list[Any]]
    f: list[Any]
    J_n: list[list[Any]]
    J_t: list[list[Any]]
    mu: list[Any]
    xi: list[int]
    m_b: int = 0
    w_n: list[Any] | None = None
    locking: Any = None


class Inverted(NamedTuple):
    """A_n = J_n M^-1 J_n^T, A_t = J_n M^-1 J_t^T (m, m) and w = J_n M^-1 f + w_n (m,), as lists."""

    A_n: list[list[Any]]
    A_t: list[list[Any]]
    w: list[Any]


def is_zero(x: Any) -> bool:
    """Return whether a number is zero by structure."""
    return isinstance(x, int) and x == 0


def times(a: Any, b: Any) -> Any:
    """The product, zero by structure where a factor is."""
    return 0 if is_zero(a) or is_zero(b) else a * b


def inverted(rows: SlidingRows) -> Inverted:
    """Eliminate the accelerations by M = L D L^T; pivots that enclose zero give numbers that enclose everything."""
    n = len(rows.M)
    L, D = [[0] * n for _ in range(n)], list[Any]()
    for j in range(n):
        column = [rows.M[i][j] for i in range(n)]
        for k in range(j):
            shared = times(D[k], L[j][k])
            for i in range(j, n):
                if not is_zero(shared) and not is_zero(L[i][k]):
                    column[i] = column[i] - shared * L[i][k]
        D.append(column[j])
        for i in range(j + 1, n):
            L[i][j] = 0 if is_zero(column[i]) else column[i] / column[j]

    def solved(x: list[Any]) -> list[Any]:
        y = list(x)
        for i in range(n):
            for k in range(i):
                part = times(L[i][k], y[k])
                y[i] = y[i] if is_zero(part) else y[i] - part
        return y

    def product(x: list[Any], y: list[Any]) -> Any:
        found: Any = 0
        for a, b, d in zip(x, y, D, strict=True):
            part = times(a, b)
            found = found if is_zero(part) else part / d + found
        return found

    normal, tangent, load = [solved(x) for x in rows.J_n], [solved(x) for x in rows.J_t], solved(rows.f)
    bias = rows.w_n or [0] * len(normal)
    return Inverted(
        [[product(x, y) for y in normal] for x in normal],
        [[product(x, y) for y in tangent] for x in normal],
        [product(x, load) + w for x, w in zip(normal, bias, strict=True)],
    )
