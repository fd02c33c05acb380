"""Check the largest factor r of the radii of a box with which all matrices are P, PD or H_plus. Standard library only.

The claim is [lower, upper], each null where nothing is claimed: with radii lower D all belong to the class, with upper
D not all do. All |A - C| <= r D do if and only if the matrices of another box with radii r E around B are P:

    P         B = C,                E = D
    PD        B = (C + C^T) / 2,    E = (D + D^T) / 2
    H_plus    B = <C>, the comparison matrix, with the same diagonal,   E = D

A `tree` (`signed_pivots`) proves the lower end. For the upper one a principal minor, of `index_set`, of the matrix
B - r diag(z) E diag(z) with the `signs` z is not positive; of PD it is that of a symmetric part, and for H_plus the
comparison matrix of the worst member is no larger than this matrix.
"""

from typing import Any

from workbench.certificates.boxes import MatrixBox
from workbench.certificates.classes import comparison
from workbench.certificates.documents import check_fields
from workbench.certificates.exact import determinant, indices, part, rational, symmetric
from workbench.certificates.outcomes import RefusedError, RefutedError
from workbench.certificates.signed_pivots import check_signed_tree

NAMES = ("P", "PD", "H_plus")


def check_largest_uncertainty(box: MatrixBox, name: str, verdict: Any, support: dict[str, Any]) -> None:
    """Raise RefusedError unless both ends that are claimed are proved."""
    check_fields(support, ("tree", "signs", "index_set"), "the support")
    if not isinstance(verdict, list) or len(verdict) != 2 or verdict == [None, None]:
        raise RefusedError("the verdict is not a pair of factors")
    lower, upper = (None if x is None else rational(x) for x in verdict)
    if min(x for x in (lower, upper) if x is not None) < 0:
        raise RefusedError("a factor is negative")
    # Twice the symmetric part has the same signs.
    B, E = (symmetric(box.C), symmetric(box.D)) if name == "PD" else (box.C, box.D)
    B = comparison(B) if name == "H_plus" else B
    n = len(B)
    if lower is not None:
        check_signed_tree(B, [[lower * x for x in row] for row in E], support["tree"])
    elif support["tree"] is not None:
        raise RefusedError("there is a tree, and no lower factor is claimed")
    if upper is None:
        if support["signs"] is not None or support["index_set"] is not None:
            raise RefusedError("there is a minor, and no upper factor is claimed")
        return
    z, a = support["signs"], indices(support["index_set"], n, "the index set")
    if not isinstance(z, list) or len(z) != n or not all(type(s) is int and abs(s) == 1 for s in z) or not a:
        raise RefusedError(f"the signs are not {n} of 1 and -1, or the index set is empty")
    vertex = [[B[i][j] - upper * z[i] * z[j] * E[i][j] for j in range(n)] for i in range(n)]
    if determinant(part(vertex, a)) > 0:
        raise RefutedError(f"the principal minor of {a} is positive with the radii times {upper}")
