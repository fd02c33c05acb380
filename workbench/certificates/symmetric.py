"""Check a bound of an uncertain LCP's solution over the symmetric matrices of a box. Standard library only.

On the basis a, with w_a = 0 for all data, z_a = -M_aa^-1 q_a. Let C, D, c, d be the middles and radii of M_aa and q_a
on a part of the box, R = C^-1, z = -R c, and N = (I - |R| D)^-1 nonnegative. Then on this part the unknowns are within
N |R| (D |z| + d) of z, and the inverse within N |R| D |R| of R (Neumann's series). The derivatives of z_k are

    -(R_ki z_j + R_kj z_i)  by the entries ij and ji together,      -R_ki z_i  by ii,      -R_ki  by q_i.

A proof of sign z_k >= value is a list of nodes in preorder:

["ends"]        every entry whose derivative has one sign on this part is at the end where sign z_k is least; what
                follows is about that part
["cut", i, j]   the entries ij and ji, or for j = -1 q_i, are halved; what follows covers the lower half, then the upper
["bound"]       sign z_k >= value here, by the bounds above
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from workbench.certificates.exact import Rows, Vector, index, solve, times, transposed
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError

ZERO = Fraction(0)


@dataclass(frozen=True)
class SymmetricBox:
    """Middles and radii of the symmetric M (m, m) and of q (m)."""

    C: Rows
    D: Rows
    c: Vector
    d: Vector

    def entry(self, i: int, j: int) -> tuple[Fraction, Fraction]:
        """Middle and radius of the entry ij, of q_i for j = -1."""
        return (self.c[i], self.d[i]) if j < 0 else (self.C[i][j], self.D[i][j])

    def replaced(self, i: int, j: int, middle: Fraction, radius: Fraction) -> "SymmetricBox":
        """The part with other numbers in the entries ij and ji."""
        C, D = [row[:] for row in self.C], [row[:] for row in self.D]
        c, d = self.c[:], self.d[:]
        if j < 0:
            c[i], d[i] = middle, radius
        else:
            C[i][j] = C[j][i] = middle
            D[i][j] = D[j][i] = radius
        return SymmetricBox(C, D, c, d)


def check_symmetric_bound(part: SymmetricBox, k: int, sign: int, value: Fraction, nodes: Any) -> None:
    """Raise RefusedError unless the nodes prove sign z_k >= value for all symmetric matrices of the part."""
    if not isinstance(nodes, list):
        raise RefusedError("the proof of a bound of symmetric matrices is not a list")
    rest, stack, m = iter(nodes), [part], len(part.c)
    while stack:
        check_time()
        here, node = stack.pop(), next(rest, None)
        if node == ["bound"]:
            z, spread, _, _ = _enclosed(here, k)
            if sign * z[k] - spread[k] < value:
                raise RefutedError(f"a part of the box does not bound the unknown by {value}")
        elif node == ["ends"]:
            stack.append(_at_ends(here, k, sign))
        elif isinstance(node, list) and len(node) == 3 and node[0] == "cut":
            i = index(node[1], m, "the row of a cut")
            j = -1 if node[2] == -1 else index(node[2], m, "the column of a cut")
            middle, radius = here.entry(i, j)
            stack += [here.replaced(i, j, middle + side * radius / 2, radius / 2) for side in (1, -1)]
        else:
            raise RefusedError(f"the proof has a node {str(node)[:40]}, which is none of bound, ends, cut")
    if next(rest, None) is not None:
        raise RefusedError("the proof continues after all parts are covered")


def _enclosed(part: SymmetricBox, k: int) -> tuple[Vector, Vector, Vector, Vector]:
    """z and its radii (m), and the row k of the inverse and its radii (m). RefutedError where there is no bound."""
    m = len(part.c)
    units = [[Fraction(i == j) for j in range(m)] for i in range(m)]
    columns = [solve(part.C, unit) for unit in units]
    if any(column is None for column in columns):
        raise RefutedError("the middle of a part is singular")
    R = transposed([column or [] for column in columns])
    size = [[abs(x) for x in row] for row in R]
    moved = [times(transposed(part.D), row) for row in size]
    Z = [[unit[j] - row[j] for j in range(m)] for unit, row in zip(units, moved, strict=True)]
    positive = solve(Z, [Fraction(1)] * m)
    # The Z-matrix I - |R| D has a nonnegative inverse.
    if positive is None or min(positive) <= 0:
        raise RefutedError("the radii of a part are too large for a bound")
    z = [-x for x in times(R, part.c)]
    ahead = [u + v for u, v in zip(times(part.D, [abs(x) for x in z]), part.d, strict=True)]
    spread = solve(Z, times(size, ahead)) or []
    # Row k of N |R| D |R|: N's row k is the solution for the transposed matrix.
    N = solve(transposed(Z), units[k]) or []
    off = times(transposed(size), times(transposed(moved), N))
    return z, spread, R[k], off


def _at_ends(part: SymmetricBox, k: int, sign: int) -> SymmetricBox:
    z, spread, row, off = _enclosed(part, k)
    found, m = part, len(part.c)
    for i in range(m):
        for j in range(-1, i + 1):
            middle, radius = part.entry(i, j)
            if not radius:
                continue
            # Minus the derivative.
            if j < 0:
                low, high = row[i] - off[i], row[i] + off[i]
            else:
                pairs = [(i, j)] if i == j else [(i, j), (j, i)]
                ends = [_product(row[a], off[a], z[b], spread[b]) for a, b in pairs]
                low, high = sum((x for x, _ in ends), ZERO), sum((x for _, x in ends), ZERO)
            if low > 0 or high < 0:
                falls = (low > 0) == (sign > 0)
                found = found.replaced(i, j, middle + radius if falls else middle - radius, ZERO)
    return found


def _product(x: Fraction, dx: Fraction, y: Fraction, dy: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the largest product of numbers within dx of x and dy of y."""
    ends = [u * v for u in (x - dx, x + dx) for v in (y - dy, y + dy)]
    return min(ends), max(ends)
