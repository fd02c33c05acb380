"""Check whether an MLCP with bounds has one solution for every q. Standard library only.

Free unknowns f have w_f = 0; fixed ones drop out; the others are bounded on one side or both. Solutions are unique for
every q if M_ff is regular and the Schur complement of M on f, of the bounded unknowns, is a P-matrix. They are not if
some x, not zero, has x = 0 where bounds fix, (M x)_f = 0, and x_i (M x)_i <= 0 at the bounded ones (Robinson, Math.
Oper. Res. 17, 1992; docs/formulary.md, section 3).
"""

from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import Rows, determinant, dot, part, solve, times, vector
from workbench.certificates.outcomes import RefusedError, RefutedError
from workbench.certificates.pivots import check_tree
from workbench.certificates.problem import Bounds


def check_uniqueness(M: Rows, lower: Bounds, upper: Bounds, verdict: Any, support: dict[str, Any]) -> None:
    """Raise RefusedError unless the support proves the verdict "unique" or "not unique"."""
    n = range(len(M))
    free = [i for i in n if lower[i] is None and upper[i] is None]
    fixed = [i for i in n if lower[i] is not None and lower[i] == upper[i]]
    bounded = [i for i in n if i not in free and i not in fixed]
    if verdict == "not unique":
        check_fields(support, ("x",), "the support")
        x = vector(support["x"], len(M), "x")
        image = times(M, x)
        if (
            not any(x)
            or any(x[i] for i in fixed)
            or any(image[i] for i in free)
            or any(x[i] * image[i] > 0 for i in bounded)
        ):
            raise RefutedError("x does not show two solutions for some q")
    elif verdict == "unique":
        check_fields(support, ("by", "tree") if bounded else ("by",), "the support")
        if support["by"] != ("tree" if bounded else "equations"):
            raise RefusedError(f"uniqueness here cannot be proved by {str(support['by'])[:20]!r}")
        complement = _schur_complement(M, free, bounded)
        if bounded:
            check_tree(complement, support["tree"])
    else:
        raise RefusedError(f"{str(verdict)[:20]!r} is not a verdict on uniqueness")


def _schur_complement(M: Rows, free: list[int], bounded: list[int]) -> Rows:
    """M_cc - M_cf M_ff^-1 M_fc."""
    if not free:
        return part(M, bounded)
    if determinant(part(M, free)) == 0:
        raise RefutedError("the matrix of the free unknowns is singular")
    columns = [solve(part(M, free), [M[i][j] for i in free]) or [] for j in bounded]
    return [
        [M[i][j] - dot([M[i][k] for k in free], column) for j, column in zip(bounded, columns, strict=True)]
        for i in bounded
    ]
