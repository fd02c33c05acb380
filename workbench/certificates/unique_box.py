"""Check whether an MLCP has one solution for every q, and for every matrix of a box. Standard library only.

Free unknowns f have no bound; c are those that are bounded and not fixed. All, by "schur": R and x > 0 with
(|I - R C_ff| + |R| D_ff) x < x show that every M_ff is regular. X and E enclose M_ff^-1 M_fc:

    |R (C_fc - C_ff X)| + |R| (D_fc + D_ff |X|) + (|I - R C_ff| + |R| D_ff) E <= E

and a tree (`signed_pivots`) proves the box around C_cc - C_cf X with radii D_cc + |C_cf| E + D_cf (|X| + E), in which
all Schur complements lie, to be P. By "P": that all matrices are P is another claim. Not all: a member, and x that
shows two solutions for some q (`bounded`).
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.bounded import check_uniqueness
from workbench.certificates.boxes import MatrixBox, check_regular, member
from workbench.certificates.documents import check_fields
from workbench.certificates.exact import Rows, dot, part, transposed, vector
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import PremiseError, RefusedError, RefutedError
from workbench.certificates.signed_pivots import check_signed_tree

Bound = tuple[Fraction, Fraction] | None


def check_unique_box(
    box: MatrixBox, lower: list[Bound], upper: list[Bound], verdict: Any, support: dict[str, Any], known: dict[str, Any]
) -> None:
    """Raise RefusedError unless the solutions are unique for "all" matrices, or "not all"; bounds are [from, to]."""
    n = range(len(box.C))
    free = [i for i in n if lower[i] is None and upper[i] is None]
    fixed = [i for i in n if lower[i] and upper[i] == lower[i] and len({*(lower[i] or ())}) == 1]
    bounded = [i for i in n if i not in free and i not in fixed]
    by = support.get("by")
    if verdict == "not all":
        check_fields(support, ("matrix", "x"), "the support")
        A = member(box, support["matrix"])
        # Numbers for the kinds of the bounds: only which are finite or fixed counts.
        zeros, ones = ([None if i in free else Fraction(k * (i in bounded)) for i in n] for k in (0, 1))
        check_uniqueness(A, zeros, ones, "not unique", {"x": support["x"]})
    elif verdict == "all" and by == "P":
        check_fields(support, ("by",), "the support")
        if known.get("P") != "all":
            raise PremiseError("that all matrices are P is not verified")
    elif verdict == "all" and by == "schur":
        check_fields(support, ("by", "R", "x", "X", "E", "tree"), "the support")
        C, D = _complements(box, free, bounded, support)
        if bounded:
            check_signed_tree(C, D, support["tree"])
        elif support["tree"] != []:
            raise RefusedError("no unknown is bounded, and there is a tree")
    else:
        raise RefusedError(f"{str(verdict)[:20]!r} cannot be proved by {str(by)[:20]!r}")


def _complements(box: MatrixBox, f: list[int], c: list[int], support: dict[str, Any]) -> tuple[Rows, Rows]:
    """Centre and radii of a box that holds the Schur complements on c of all matrices."""
    if f:
        check_regular(part(box.C, f), part(box.D, f), support["R"], support["x"])
    elif support["R"] != [] or support["x"] != []:
        raise RefusedError("no unknown is free, and there is R or x")
    R, X, E = (_rows(support[name], len(f), k, name) for name, k in (("R", len(f)), ("X", len(c)), ("E", len(c))))
    C, D = (_between(A, f, f) for A in (box.C, box.D))
    rest = [
        [abs((i == j) - dot(row, column)) + _weighted(row, D_column) for j, (column, D_column) in
         enumerate(zip(transposed(C), transposed(D), strict=True))]
        for i, row in enumerate(R)
    ]  # fmt: skip
    for j, k in enumerate(c):
        check_time()
        centre, moduli, radii = ([row[j] for row in X], [abs(row[j]) for row in X], [row[j] for row in E])
        off = [box.C[i][k] - dot(C[p], centre) for p, i in enumerate(f)]
        spread = [box.D[i][k] + dot(D[p], moduli) for p, i in enumerate(f)]
        for row, more, e in zip(R, rest, radii, strict=True):
            if not abs(dot(row, off)) + _weighted(row, spread) + dot(more, radii) <= e:
                raise RefutedError("X and E do not enclose the free unknowns for all matrices")
    middle = [[box.C[i][k] - dot([box.C[i][p] for p in f], [row[j] for row in X]) for j, k in enumerate(c)] for i in c]
    radius = [
        [
            box.D[i][k]
            + dot([abs(box.C[i][p]) for p in f], [row[j] for row in E])
            + dot([box.D[i][p] for p in f], [abs(x[j]) + e[j] for x, e in zip(X, E, strict=True)])
            for j, k in enumerate(c)
        ]
        for i in c
    ]
    return middle, radius


def _weighted(row: list[Fraction], column: list[Fraction]) -> Fraction:
    return dot([abs(v) for v in row], column)


def _between(A: Rows, a: list[int], b: list[int]) -> Rows:
    return [[A[i][j] for j in b] for i in a]


def _rows(given: Any, m: int, n: int, name: str) -> Rows:
    if not isinstance(given, list) or len(given) != m:
        raise RefusedError(f"{name} is not a list of {m} rows")
    return [vector(row, n, f"a row of {name}") for row in given]
