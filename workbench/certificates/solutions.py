"""Check whether these are all solutions of 0 <= z  perp  w = M z + q >= 0. Standard library only.

Each solution lies in a branch of a tree in which every branching fixes w_i = 0 on one side and z_i = 0 on the other. A
cover is the list of the tree's nodes in preorder:

["branch", i]          what follows covers the side z_i = 0, then the side w_i = 0
["none", [y, ...]]     no z >= 0, w >= 0 with w = M z + q here: y_i >= 0 where w_i may be positive, (M^T y)_j <= 0 where
                       z_j may be, and y . q < 0 (Farkas)
["point", k, [c, ...]] everything is fixed, and the only solution here is the k-th of the list: c > 0 on the unknowns
                       (z_i, or w_i where z_i = 0 is fixed) that are zero there, one number per index and 0 for the
                       others, has c . unknowns = 0 for every z, and these zeros determine z
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import Rows, Vector, dot, index, rank, times, transposed, vector
from workbench.certificates.outcomes import PremiseError, RefusedError, RefutedError


def check_solutions(M: Rows, q: Vector, count: Any, support: dict[str, Any], known: dict[str, str]) -> None:
    """Raise RefusedError unless the support proves the number of solutions of LCP(q, M): an integer, or "infinite"."""
    by_p = "by" in support
    other = () if count == "infinite" else ("by",) if by_p else ("cover",)
    check_fields(support, ("points", *other), "the support")
    if not isinstance(support["points"], list):
        raise RefusedError("the points are not a list")
    points = [vector(z, len(M), f"point {k}") for k, z in enumerate(support["points"])]
    for k, z in enumerate(points):
        if not is_solution(M, q, z):
            raise RefutedError(f"point {k} does not solve the problem")
    if len({tuple(z) for z in points}) != len(points):
        raise RefutedError("a point is listed twice")
    if count == "infinite":
        _check_infinite(M, q, points)
    elif type(count) is not int or count != len(points):
        raise RefutedError(f"{len(points)} points do not make the count {str(count)[:20]}")
    elif by_p:
        if support["by"] != "P" or count != 1:
            raise RefusedError("one solution follows from a P-matrix, and nothing else does")
        if known.get("P") != "yes":
            raise PremiseError("that M is a P-matrix is not verified")
    else:
        _check_cover(M, q, support["cover"], points)


def check_no_solution(M: Rows, q: Vector, cover: Any) -> None:
    """Raise RefusedError unless the cover proves that there is no solution."""
    _check_cover(M, q, cover, [])


def is_solution(M: Rows, q: Vector, z: Vector) -> bool:
    """Whether 0 <= z  perp  M z + q >= 0, exactly."""
    w = [u + c for u, c in zip(times(M, z), q, strict=True)]
    return min(z) >= 0 and min(w) >= 0 and not any(u * v for u, v in zip(z, w, strict=True))


def _check_infinite(M: Rows, q: Vector, points: Rows) -> None:
    """If the midpoint of two solutions is a solution, so is the whole segment: on it z^T w is quadratic, nonnegative,
    and zero at three points."""
    if len(points) != 2:
        raise RefusedError("infinitely many solutions are shown by two, and the segment between them")
    if not is_solution(M, q, [(x + y) / 2 for x, y in zip(*points, strict=True)]):
        raise RefutedError("the middle of the two points does not solve the problem")


def _check_cover(M: Rows, q: Vector, cover: Any, points: Rows) -> None:
    if not isinstance(cover, list):
        raise RefusedError("the cover of all branches is not a list")
    nodes, columns = iter(cover), transposed(M)
    _check_node(M, columns, q, frozenset(), frozenset(), nodes, points)
    if next(nodes, None) is not None:
        raise RefusedError("the cover continues after every branch has ended")


def _check_node(
    M: Rows, columns: Rows, q: Vector, a: frozenset[int], b: frozenset[int], nodes: Iterator[Any], points: Rows
) -> None:
    """One branch: w_i = 0 on a, z_i = 0 on b."""
    n, node = len(M), next(nodes, None)
    if not isinstance(node, list) or not node:
        raise RefusedError("a branch of the cover is missing")
    kind, *data = node
    if kind == "branch" and len(data) == 1:
        i = index(data[0], n, "the index of a branch")
        if i in a or i in b:
            raise RefusedError(f"the cover branches twice on index {i}")
        _check_node(M, columns, q, a, b | {i}, nodes, points)
        _check_node(M, columns, q, a | {i}, b, nodes, points)
    elif kind == "none" and len(data) == 1:
        y = vector(data[0], n, "y")
        image = times(columns, y)
        allowed = all(y[i] >= 0 for i in range(n) if i not in a) and all(image[j] <= 0 for j in range(n) if j not in b)
        if not (allowed and dot(y, q) < 0):
            raise RefutedError(f"y does not rule out the branch with w = 0 on {sorted(a)} and z = 0 on {sorted(b)}")
    elif kind == "point" and len(data) == 2 and len(a) + len(b) == n:
        z = points[index(data[0], len(points), "the number of a point")]
        _check_only(M, q, sorted(a), z, vector(data[1], n, "c"))
    else:
        raise RefusedError(f"the cover has a node {str(node)[:40]}, which is none of branch, none, point")


def _check_only(M: Rows, q: Vector, a: list[int], z: Vector, c: Vector) -> None:
    """Check that z alone has (M z + q)_a = 0, z >= 0 on a and zero elsewhere, and M z + q >= 0.

    Every other such z' has unknowns >= 0 with c . unknowns = 0, so that all where c > 0 are zero for z' too.
    """
    n = len(M)
    at = [*(z[j] for j in a), Fraction(1)]
    equations = [[*(M[i][j] for j in a), q[i]] for i in a]
    if any(z[i] for i in range(n) if i not in a) or any(dot(row, at) for row in equations):
        raise RefutedError("the point is not in its branch")
    # Each unknown as a row over (z_a, 1).
    rows = [
        [*(Fraction(i == j) for j in a), Fraction(0)] if i in a else [*(M[i][j] for j in a), q[i]] for i in range(n)
    ]
    tight = [rows[i] for i in range(n) if c[i]]
    if min(c) < 0 or any(dot(row, at) for row in tight):
        raise RefutedError("c is not positive on zero unknowns alone")
    total = [dot(list(column), c) for column in zip(*rows, strict=True)]
    # c . unknowns vanishes on the solutions of the equations: it is a combination of the equations.
    if any(total) and rank([*equations, total]) != rank(equations):
        raise RefutedError("c . unknowns is not zero throughout the branch")
    if rank([row[:-1] for row in (*equations, *tight)]) != len(a):
        raise RefutedError("the zeros of the point do not leave it alone")
