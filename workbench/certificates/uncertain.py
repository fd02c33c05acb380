"""Check what is claimed of the solutions of an LCP with uncertain data. Standard library only.

    0 <= z  perp  M z + q >= 0,    |M - C| <= D,  |q - c| <= d

The solutions of all these problems are the z with z >= 0, MU z + qU >= 0 and z_i (ML z + qL)_i <= 0 for all i (Oettli
and Prager, Numer. Math. 6, 1964, with the signs fixed by z >= 0). A cover is a list of nodes in preorder, each of a
branch in which (ML z + qL)_i <= 0 for i in a and z_i = 0 for i in b:

["branch", i]   what follows covers the branch with i in a, then that with i in b
["bound", y]    sign z_k >= value here: y >= 0 has one number for each row of MU z + qU >= 0, then one for each of
                -(ML z + qL)_i >= 0, i in a in increasing order, and sign z_k - value is at least this combination
["none", y]     nothing solves the inequalities here: the combination is at most a negative number

Claims on "basis", a list of indices: every problem has a solution with these unknowns positive and the others zero, and
w positive there. With unknowns x = (z on the basis, w elsewhere) of G x = q, R any matrix and radii e, Krawczyk's test
|R (q - G x)| + |R| (D z + d) + (|I - R G| + |R| D) e < e encloses x for all data, and x - e > 0.
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.boxes import Box
from workbench.certificates.documents import check_fields
from workbench.certificates.exact import Vector, dot, index, indices, rational, times, transposed, vector
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import PremiseError, RefusedError, RefutedError

Support = dict[str, Any]
ZERO = Fraction(0)


class Uncertain:
    """The box of M, and q within d of c (n)."""

    def __init__(self, box: Box, c: Vector, d: Vector) -> None:
        self.n, self.box, self.c, self.d = len(c), box, c, d
        L, U = box.lower, box.upper
        # Rows over (z, 1) that are nonnegative at every solution; those of `below` on one side of a branching.
        self.above = [[*row, q + e] for row, q, e in zip(U, c, d, strict=True)]
        self.below = [[*(-x for x in row), e - q] for row, q, e in zip(L, c, d, strict=True)]


def check_solvable(p: Uncertain, verdict: Any, support: Support, known: dict[str, Any]) -> None:
    """Raise RefusedError unless every problem has "one" solution or "some", or "none" has any."""
    by = support.get("by")
    if (verdict, by) == ("one", "P"):
        check_fields(support, ("by",), "the support")
        if known.get("P") != "all":
            raise PremiseError("that all matrices are P is not verified")
    elif (verdict, by) == ("some", "basis"):
        check_fields(support, ("by",), "the support")
        if "basis" not in known:
            raise PremiseError("the basis is not verified")
    elif (verdict, by) == ("none", "cover"):
        check_fields(support, ("by", "cover"), "the support")
        _check_cover(p, None, ZERO, frozenset(), frozenset(), support["cover"])
    else:
        raise RefusedError(f"{str(verdict)[:20]!r} cannot be proved by {str(by)[:20]!r}")


def check_basis(p: Uncertain, verdict: Any, support: Support) -> None:
    """Raise RefusedError unless every problem has a solution whose positive unknowns are those of the verdict."""
    n, a = p.n, set(indices(verdict, p.n, "the basis"))
    check_fields(support, ("centre", "radii", "R"), "the support")
    x, e = vector(support["centre"], n, "the centre"), vector(support["radii"], n, "the radii")
    if not isinstance(support["R"], list) or len(support["R"]) != n:
        raise RefusedError(f"R is not a list of {n} rows")
    R = [vector(row, n, "a row of R") for row in support["R"]]
    size = [[abs(v) for v in row] for row in R]
    # G x = q: w = M z + q.
    C, D = p.box.C, p.box.D
    G = [[-C[i][j] if j in a else Fraction(i == j) for j in range(n)] for i in range(n)]
    spread = [[D[i][j] if j in a else ZERO for j in range(n)] for i in range(n)]
    off = [abs(v) for v in times(R, [q - v for q, v in zip(p.c, times(G, x), strict=True)])]
    moved = times(size, [u + d for u, d in zip(times(spread, [abs(v) for v in x]), p.d, strict=True)])
    again = times(size, times(spread, e))
    columns = transposed(G)
    for i in range(n):
        check_time()
        rest = dot([abs((i == j) - dot(R[i], column)) for j, column in enumerate(columns)], e)
        if not off[i] + moved[i] + rest + again[i] < e[i]:
            raise RefutedError("the radii do not enclose the unknowns of the basis for all data")
        if not x[i] > e[i]:
            raise RefutedError(f"the {'unknown' if i in a else 'slack'} {i} need not be positive on the basis")


def check_bounds(p: Uncertain, k: int, verdict: Any, support: Support, known: dict[str, Any]) -> None:
    """Raise RefusedError unless z_k of all solutions is within the verdict [lower, upper], upper None for no bound.

    `by` "cover" starts without choices, "basis" with those of the verified basis, where all M are P-matrices.
    """
    by = support.get("by")
    if not isinstance(verdict, list) or len(verdict) != 2:
        raise RefusedError("the verdict is not a pair of bounds")
    if by not in ("cover", "basis"):
        raise RefusedError(f"bounds cannot be proved by {str(by)[:20]!r}")
    ends = [name for name, end in zip(("lower", "upper"), verdict, strict=True) if end is not None]
    check_fields(support, ("by", *ends), "the support")
    a: frozenset[int] = frozenset()
    b = a
    if by == "basis":
        if known.get("P") != "all" or "basis" not in known:
            raise PremiseError("that all matrices are P, and the basis, are not verified")
        a = frozenset(known["basis"])
        b = frozenset(range(p.n)) - a
    for name, sign, end in (("lower", 1, verdict[0]), ("upper", -1, verdict[1])):
        if end is not None:
            _check_cover(p, (k, sign), sign * rational(end), a, b, support[name])


Goal = tuple[int, int]


def _check_cover(
    p: Uncertain, goal: Goal | None, value: Fraction, a: frozenset[int], b: frozenset[int], cover: Any
) -> None:
    if not isinstance(cover, list):
        raise RefusedError("the cover of all branches is not a list")
    nodes, stack = iter(cover), [(a, b)]
    while stack:
        check_time()
        a, b = stack.pop()
        node = next(nodes, None)
        if not isinstance(node, list) or len(node) != 2:
            raise RefusedError("a branch of the cover is missing")
        kind, data = node
        if kind == "branch":
            i = index(data, p.n, "the index of a branch")
            if i in a or i in b:
                raise RefusedError(f"the cover branches twice on index {i}")
            stack += [(a, b | {i}), (a | {i}, b)]
        elif kind == "none" or (kind == "bound" and goal is not None):
            _check_leaf(p, goal if kind == "bound" else None, value, a, b, data)
        else:
            raise RefusedError(f"the cover has a node {str(node)[:40]}, which is none of branch, bound, none")
    if next(nodes, None) is not None:
        raise RefusedError("the cover continues after every branch has ended")


def _check_leaf(p: Uncertain, goal: Goal | None, value: Fraction, a: frozenset[int], b: frozenset[int], y: Any) -> None:
    rows = [*p.above, *(p.below[i] for i in sorted(a))]
    multipliers = vector(y, len(rows), "y")
    left = [-v for v in times(transposed(rows), multipliers)]
    # What the goal has beyond the combination, over (z, 1): nowhere negative where z >= 0, and z = 0 on b.
    if goal is not None:
        left[goal[0]] += goal[1]
        left[p.n] -= value
    last = left.pop()
    if min(multipliers) < 0 or any(v < 0 for j, v in enumerate(left) if j not in b):
        raise RefutedError(f"y is no combination for the branch of {sorted(a)} and {sorted(b)}")
    if last < 0 if goal is not None else last <= 0:
        raise RefutedError(f"y does not prove the branch of {sorted(a)} and {sorted(b)}")
