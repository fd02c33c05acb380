"""Check whether all, some or none of the matrices of a box |A - C| <= D belong to a class. Standard library only.

The members are all these matrices, or the symmetric ones. L = C - D, U = C + D, A_z = C - diag(z) D diag(z).

all, by   "tree"         P, and PD from the box of symmetric parts: `signed_pivots`
          "extreme"      the member of `EXTREMES` that is worst belongs to the class
          "vertices"     PSD, column and row sufficient: every A_z does, which is repeated; nondegenerate: for all index
                         sets a and signs y, z the determinants of (C - diag(y) D diag(z))_aa have one sign (Rohn 1989)
          "bisection"    nondegenerate: on parts of the box, cut for symmetric members only, no principal minor vanishes
          "implication"  all belong to another class, which implies this one
none, by  "vector"       x_i (A x)_i <= 0 for all i and all members (sufficient: and < 0 for one i)
          "columns"      <A, X> <= 0 (PSD: < 0) for X = sum x x^T and all members
          "extreme"      the member that is best does not belong to the class
          "minor"        nondegenerate: a principal minor that is certain is zero
          "implication"  none belongs to another class, which this one implies
          "symmetric"    none belongs to another class, which for symmetric matrices is the same
some, by  "members"      one that belongs to the class, `inside`, and one that does not, `outside`

A member is {matrix, claims}: the claims are those of a certificate of this one matrix, each resting on earlier ones
alone. That a member is degenerate may also be shown by {index_set, matrices}: this minor has opposite signs at two.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from workbench.certificates import repetition
from workbench.certificates.classes import CLASSES, check_class
from workbench.certificates.documents import CLAIM_FIELDS, check_fields
from workbench.certificates.exact import (
    Rows,
    Vector,
    determinant,
    dot,
    index,
    index_sets,
    indices,
    is_positive_semidefinite,
    part,
    symmetric,
    times,
    transposed,
    vector,
)
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import PremiseError, RefusedError, RefutedError, TooLongError
from workbench.certificates.signed_pivots import check_signed_tree, components
from workbench.certificates.theorems import follows

BOX_CLASSES = (
    "P", "PD", "PSD", "M", "H_plus", "S", "copositive", "strictly_copositive", "nondegenerate", "column_sufficient",
    "row_sufficient",
)  # fmt: skip
LARGEST_SIGNED = 8
"""Largest order for which 5^n / 2 determinants are recomputed, which takes some seconds."""
OF_SYMMETRIC = {"P": "PD", "column_sufficient": "PSD", "row_sufficient": "PSD"}
"""Classes that are the same for symmetric matrices (CPS sections 3.1 and 3.5)."""

FIELDS = {
    ("all", "tree"): ("tree",),
    ("all", "extreme"): ("claims",),
    ("all", "vertices"): (),
    ("all", "bisection"): ("tree",),
    ("all", "implication"): ("from",),
    ("none", "vector"): ("x",),
    ("none", "columns"): ("columns",),
    ("none", "extreme"): ("claims",),
    ("none", "minor"): ("index_set",),
    ("none", "implication"): ("conclusion",),
    ("none", "symmetric"): ("from",),
    ("some", "members"): ("inside", "outside"),
}
"""The fields of a support besides `by`, for a verdict and the value of `by`."""

Support = dict[str, Any]


@dataclass(frozen=True)
class MatrixBox:
    """All A with |A - C| <= D, or the symmetric ones, C and D then symmetric."""

    C: Rows
    D: Rows
    symmetric: bool = False

    @property
    def lower(self) -> Rows:
        """L."""
        return [[c - d for c, d in zip(*rows, strict=True)] for rows in zip(self.C, self.D, strict=True)]

    @property
    def upper(self) -> Rows:
        """U."""
        return [[c + d for c, d in zip(*rows, strict=True)] for rows in zip(self.C, self.D, strict=True)]

    def vertex(self, y: tuple[int, ...], z: tuple[int, ...]) -> Rows:
        """C - diag(y) D diag(z)."""
        n = range(len(self.C))
        return [[self.C[i][j] - y[i] * z[j] * self.D[i][j] for j in n] for i in n]

    def check_member(self, A: Rows) -> None:
        """Raise RefutedError unless A is one of the matrices."""
        for rows in zip(A, self.C, self.D, strict=True):
            check_time()
            if any(abs(a - c) > d for a, c, d in zip(*rows, strict=True)):
                raise RefutedError("a matrix given as a member is not in the box")
        if self.symmetric and transposed(A) != A:
            raise RefutedError("a matrix given as a member is not symmetric")


def check_box_class(box: MatrixBox, name: str, verdict: Any, support: Support, known: dict[str, str]) -> None:
    """Raise RefusedError unless the support proves that all, some or none belong to the class, given `known`."""
    by = support.get("by")
    if not isinstance(verdict, str) or not isinstance(by, str) or (verdict, by) not in FIELDS:
        raise RefusedError(f"{str(verdict)[:20]!r} cannot be proved by {str(by)[:20]!r}")
    check_fields(support, ("by", *FIELDS[verdict, by]), "the support")
    if by == "members":
        _check_inside(box, name, support["inside"])
        _check_outside(box, name, support["outside"])
    elif by == "implication":
        _check_implication(name, verdict, support, known)
    elif by == "symmetric":
        other = OF_SYMMETRIC.get(name)
        if not box.symmetric or other is None or support["from"] != other:
            raise RefusedError(f"the members and {str(support['from'])[:20]!r} say nothing on {name}")
        if known.get(other) != "none":
            raise PremiseError(f"that none is {other} is not verified")
    elif by == "extreme":
        _check_extreme(box, name, verdict, support["claims"])
    elif verdict == "all":
        _check_all(box, name, by, support)
    else:
        _check_none(box, name, by, support)


def _check_implication(name: str, verdict: str, support: Support, known: dict[str, str]) -> None:
    """All belong to a class that implies this one; or none belongs to a class that this one implies."""
    if verdict == "all":
        others = support["from"]
        if not isinstance(others, list) or len(others) != 1 or not isinstance(others[0], str):
            raise RefusedError("an implication needs a list of one premise in 'from'")
        premise, conclusion, other = others[0], name, others[0]
    else:
        premise, conclusion, other = name, support["conclusion"], support["conclusion"]
    if not isinstance(other, str) or known.get(other) != verdict:
        raise PremiseError(f"the verdict on {str(other)[:20]!r} is not verified")
    if not follows([premise], conclusion):
        raise RefusedError(f"no theorem says that {premise} makes {conclusion}")


# Members


def check_claims(A: Rows, name: str, verdict: str, claims: Any) -> None:
    """Raise RefusedError unless the claims on the one matrix A are proved, each by itself and earlier ones, and say
    that it is (yes) or is not (no) in the class."""
    if not isinstance(claims, list):
        raise RefusedError("the claims on a member are not a list")
    known: dict[str, str] = {}
    for claim in claims:
        check_fields(claim, CLAIM_FIELDS, "a claim on a member")
        about = claim["about"]
        if about not in CLASSES or not isinstance(claim["support"], dict):
            raise RefusedError(f"{str(about)[:20]!r} is no class of matrices, or its support is not an object")
        check_class(A, about, claim["verdict"], claim["support"], known)
        known[about] = claim["verdict"]
    if known.get(name) != verdict:
        raise RefusedError(f"the claims on a member do not end in {verdict} to {name}")


def member(box: MatrixBox, given: Any) -> Rows:
    """The matrix that is given as rows. Raises RefusedError unless it is in the box."""
    n = len(box.C)
    if not isinstance(given, list) or len(given) != n:
        raise RefusedError(f"a member is not a list of {n} rows")
    A = [vector(row, n, "a row of a member") for row in given]
    box.check_member(A)
    return A


def _check_inside(box: MatrixBox, name: str, given: Any) -> None:
    check_fields(given, ("matrix", "claims"), "a member")
    check_claims(member(box, given["matrix"]), name, "yes", given["claims"])


def _check_outside(box: MatrixBox, name: str, given: Any) -> None:
    if name != "nondegenerate" or not isinstance(given, dict) or "matrices" not in given:
        check_fields(given, ("matrix", "claims"), "a member")
        check_claims(member(box, given["matrix"]), name, "no", given["claims"])
        return
    check_fields(given, ("index_set", "matrices"), "a pair of members")
    a = indices(given["index_set"], len(box.C), "the index set")
    pair = given["matrices"]
    if not a or not isinstance(pair, list) or len(pair) != 2:
        raise RefusedError("a minor that vanishes between members is shown by two of them and its index set")
    first, second = (determinant(part(member(box, A), a)) for A in pair)
    if first * second > 0:
        raise RefutedError(f"the principal minor of {a} has one sign at both members")


def _is_z(A: Rows) -> bool:
    return all(x <= 0 for i, row in enumerate(A) for j, x in enumerate(row) if i != j)


def _check_extreme(box: MatrixBox, name: str, verdict: str, claims: Any) -> None:
    """Nonnegative vectors (S, copositive): L is worst and U best. Comparison matrices (H_plus): least diagonal and
    largest moduli are worst. M: for Z-matrices larger entries are better, and U must be one."""
    L, U, n = box.lower, box.upper, range(len(box.C))
    if name in ("S", "copositive", "strictly_copositive"):
        worst, best = L, U
    elif name == "M":
        worst = L if _is_z(U) else U
        best = [
            [x if i == j else max(min(x, Fraction(0)), L[i][j]) for j, x in enumerate(row)] for i, row in enumerate(U)
        ]
    elif name == "H_plus":
        worst = [[L[i][j] if i == j or -L[i][j] > U[i][j] else U[i][j] for j in n] for i in n]
        best = [[U[i][j] if i == j else min(max(Fraction(0), L[i][j]), U[i][j]) for j in n] for i in n]
    else:
        raise RefusedError(f"no single member decides on {name}")
    check_claims(worst if verdict == "all" else best, name, "yes" if verdict == "all" else "no", claims)


# All


def _check_all(box: MatrixBox, name: str, by: str, support: Support) -> None:
    if by == "tree" and name == "P":
        check_signed_tree(box.C, box.D, support["tree"])
    elif by == "tree" and name == "PD":
        check_signed_tree(symmetric(box.C), symmetric(box.D), support["tree"])
    elif by == "vertices" and name in ("PSD", "column_sufficient", "row_sufficient"):
        for z in _signs(box):
            A = box.vertex(z, z)
            if name != "PSD":
                repetition.check(A, name)
            elif not is_positive_semidefinite(symmetric(A)):
                raise RefutedError(f"the vertex matrix of the signs {list(z)} is not {name}")
    elif by == "vertices" and name == "nondegenerate":
        _repeat_minors(box)
    elif by == "bisection" and name == "nondegenerate":
        _check_bisection(box, support["tree"])
    else:
        raise RefusedError(f"that all are {name} cannot be proved by {by!r}")


def _signs(box: MatrixBox) -> Iterator[tuple[int, ...]]:
    """One z (n) of each set of signs that give the same A_z."""
    label = components(box.D)
    free = [i for i, first in enumerate(label) if first != i]
    if len(free) > repetition.LARGEST:
        raise TooLongError(f"2^{len(free)} vertex matrices are too many to repeat; 2^{repetition.LARGEST} are the most")
    for chosen in itertools.product((1, -1), repeat=len(free)):
        check_time()
        z = [1] * len(label)
        for i, s in zip(free, chosen, strict=True):
            z[i] = s
        yield tuple(z)


def _repeat_minors(box: MatrixBox) -> None:
    n = len(box.C)
    if n > LARGEST_SIGNED:
        raise TooLongError(f"5^{n} / 2 determinants are too many to repeat; the largest order is {LARGEST_SIGNED}")
    for a in index_sets(n):
        _repeat_minor(part(box.C, a), part(box.D, a))


def _repeat_minor(C: Rows, D: Rows) -> None:
    """Raise RefutedError unless the determinant has one sign for all |A - C| <= D, by all vertices."""
    k = len(C)
    if k > LARGEST_SIGNED:
        raise TooLongError(f"4^{k} / 2 determinants are too many to repeat; the largest order is {LARGEST_SIGNED}")
    box, seen = MatrixBox(C, D), set()
    for y, z in itertools.product(itertools.product((1, -1), repeat=k), repeat=2):
        if y[0] > 0:
            check_time()
            minor = determinant(box.vertex(y, z))
            seen.add((minor > 0) - (minor < 0))
    if seen not in ({1}, {-1}):
        raise RefutedError("a principal minor vanishes in the box")


def _check_bisection(box: MatrixBox, tree: Any) -> None:
    """Preorder trees of all index sets, by size and in the order of combinations: ["cut", i, j], for symmetric members,
    halves the entries ij and ji, lower half first; ["regular", R, x] as in `check_regular`; ["vertices"] repeats
    all."""
    if not isinstance(tree, list):
        raise RefusedError("the tree of bisections is not a list")
    nodes, n = iter(tree), len(box.C)
    for a in index_sets(n):
        _check_part(MatrixBox(part(box.C, a), part(box.D, a), box.symmetric), nodes)
    if next(nodes, None) is not None:
        raise RefusedError("the tree of bisections continues after everything is proved")


def _check_part(box: MatrixBox, nodes: Iterator[Any]) -> None:
    check_time()
    C, D, k, node = box.C, box.D, len(box.C), next(nodes, None)
    if not isinstance(node, list) or not node:
        raise RefusedError("the tree of bisections has no node for a part of the box")
    kind, *data = node
    # Entries ij and ji that vary independently are not halved together.
    if kind == "cut" and len(data) == 2 and box.symmetric:
        i, j = (index(x, k, "the index of a cut") for x in data)
        for side in (-1, 1):
            middle, radius = ([row[:] for row in M] for M in (C, D))
            for p, q in ((i, j), (j, i)):
                middle[p][q] = C[p][q] + side * D[p][q] / 2
                radius[p][q] = D[p][q] / 2
            _check_part(MatrixBox(middle, radius, True), nodes)
    elif kind == "regular" and len(data) == 2:
        check_regular(C, D, *data)
    elif node == ["vertices"]:
        _repeat_minor(C, D)
    else:
        raise RefusedError(f"the tree of bisections has a node {str(node)[:40]}, which is of no kind that is known")


def check_regular(C: Rows, D: Rows, inverse: Any, given: Any) -> None:
    """Check by any R and x > 0 with (|I - R C| + |R| D) x < x that every A with |A - C| <= D is regular."""
    k = len(C)
    x = vector(given, k, "x")
    if not isinstance(inverse, list) or len(inverse) != k:
        raise RefusedError(f"R is not a list of {k} rows")
    R, columns = [vector(row, k, "a row of R") for row in inverse], transposed(C)
    moved = times([[abs(v) for v in row] for row in R], times(D, x))
    for i, row in enumerate(R):
        rest = dot([abs((i == j) - dot(row, column)) for j, column in enumerate(columns)], x)
        if x[i] <= 0 or not rest + moved[i] < x[i]:
            raise RefutedError("R and x do not show that the matrices of a part are regular")


def check_rank(box: MatrixBox, verdict: Any, support: Support) -> None:
    """Raise RefusedError unless all members have at least this rank: rows and columns of a submatrix whose members are
    regular, by R and x as above."""
    check_fields(support, ("rows", "columns", "R", "x"), "the support")
    n = len(box.C)
    a, b = (indices(support[name], n, name) for name in ("rows", "columns"))
    if type(verdict) is not int or verdict != len(a) or verdict != len(b):
        raise RefusedError(f"{len(a)} rows and {len(b)} columns do not make the rank {str(verdict)[:20]}")
    if a:
        C, D = ([[A[i][j] for j in b] for i in a] for A in (box.C, box.D))
        check_regular(C, D, support["R"], support["x"])


# None


def _check_none(box: MatrixBox, name: str, by: str, support: Support) -> None:
    n = len(box.C)
    if by == "vector" and name in ("P", "column_sufficient", "row_sufficient"):
        x = vector(support["x"], n, "x")
        C, D = (transposed(M) if name == "row_sufficient" else M for M in (box.C, box.D))
        spread = times(D, [abs(v) for v in x])
        largest = [v * c + abs(v) * d for v, c, d in zip(x, times(C, x), spread, strict=True)]
        if not any(x) or max(largest) > 0 or (name != "P" and min(largest) == 0):
            raise RefutedError(f"the vector x does not contradict {name} for every member")
    elif by == "columns" and name in ("PD", "PSD"):
        largest_product = _largest_product(box, support["columns"])
        if largest_product > 0 or (name == "PSD" and largest_product == 0):
            raise RefutedError(f"the columns do not contradict {name} for every member")
    elif by == "minor" and name == "nondegenerate":
        a = indices(support["index_set"], n, "the index set")
        if not a or any(map(any, part(box.D, a))) or determinant(part(box.C, a)):
            raise RefutedError(f"the principal minor of {a} is not certain, or not zero")
    else:
        raise RefusedError(f"that none is {name} cannot be proved by {by!r}")


def _largest_product(box: MatrixBox, given: Any) -> Fraction:
    """The largest <A, X>, X = sum x x^T, not zero."""
    n = len(box.C)
    if not isinstance(given, list):
        raise RefusedError("the columns are not a list")
    columns = [vector(x, n, "a column") for x in given]
    if not any(map(any, columns)):
        raise RefutedError("the columns are all zero")
    rows: list[Vector] = [[x[i] for x in columns] for i in range(n)]
    total = Fraction(0)
    for i in range(n):
        for j in range(n):
            x = dot(rows[i], rows[j])
            total += box.C[i][j] * x + box.D[i][j] * abs(x)
    return total
