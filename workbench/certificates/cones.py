"""Check whether complementary cones cover all q for which the LCP is feasible, so that M is a Q0-matrix.

Standard library only. The feasible q are the cone spanned by the columns of I and of -M. A complementary cone takes one
of the two for each index. A cover is the list of the nodes of a tree in preorder:

["cone", a]    the complementary cone of the columns of -M for a, of I elsewhere, with facet normals f_0, ..., f_n-1;
               what follows covers, for i = 0, ..., n-1, the q with f_j . q > 0 for all j < i and f_i . q < 0
["empty", y]   no feasible q has v . q > 0 for all normals v of the regions above: y >= 0, one number per normal, not
               all zero, makes the combination of the normals not positive on every column (Farkas)

Facets need no separate cover: the union of the cones is closed, and the feasible q are the closure of their
interior, so that next to any uncovered q there would be an uncovered one that is on no facet.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from workbench.certificates.exact import Rows, dot, indices, solve, transposed, vector
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError


def check_cones(M: Rows, cover: Any) -> None:
    """Raise RefusedError unless the cover proves M a Q0-matrix."""
    if not isinstance(cover, list):
        raise RefusedError("the cover of the feasible q is not a list")
    n, nodes = len(M), iter(cover)
    unit = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    minus = [[-x for x in column] for column in transposed(M)]
    stack: list[Rows] = [[]]
    while stack:
        check_time()
        normals = stack.pop()
        stack += reversed(_parts(normals, unit, minus, nodes))
    if next(nodes, None) is not None:
        raise RefusedError("the cover continues after everything is covered")


def _parts(normals: Rows, unit: Rows, minus: Rows, nodes: Iterator[Any]) -> list[Rows]:
    """The rest of one region, as regions."""
    n, node = len(unit), next(nodes, None)
    if not isinstance(node, list) or len(node) != 2 or node[0] not in ("cone", "empty"):
        raise RefusedError("the cover of the feasible q lacks a node")
    if node[0] == "cone":
        a = indices(node[1], n, "the index set of a cone")
        generators = [minus[i] if i in a else unit[i] for i in range(n)]
        facets = [solve(generators, [Fraction(i == j) for j in range(n)]) for i in range(n)]
        if any(f is None for f in facets):
            raise RefutedError(f"the complementary cone of {a} has no interior")
        whole = [f for f in facets if f is not None]
        return [[*normals, *whole[:i], [-x for x in whole[i]]] for i in range(n)]
    y = vector(node[1], len(normals), "y")
    combined = [dot(list(column), y) for column in zip(*normals, strict=True)]
    if min(y, default=Fraction(0)) < 0 or not any(y) or any(dot(combined, c) > 0 for c in (*unit, *minus)):
        raise RefutedError("y does not show that a region holds no feasible q")
    return []
