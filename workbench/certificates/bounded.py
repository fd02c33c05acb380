"""Check whether an MLCP with bounds has one solution for every q. Standard library only.

Free unknowns f have w_f = 0; fixed ones drop out; the others are bounded on one side or both. Solutions are unique for
every q if M_ff is regular and the Schur complement of M on f, of the bounded unknowns, is a P-matrix; sufficient, by
"classes": claims on the part of M that is not fixed, which end in P. They are not if
some x, not zero, has x = 0 where bounds fix, (M x)_f = 0, and x_i (M x)_i <= 0 at the bounded ones (Robinson, Math.
Oper. Res. 17, 1992; docs/formulary.md, section 3).
"""

from collections.abc import Callable
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import (
    AnyRows,
    Rows,
    determinant,
    dot,
    is_sparse,
    nonzeros,
    part,
    solve,
    times,
    vector,
)
from workbench.certificates.limits import ORDER
from workbench.certificates.outcomes import RefusedError, RefutedError
from workbench.certificates.pivots import check_tree
from workbench.certificates.problem import Bounds

Judge = Callable[[AnyRows, list[dict[str, Any]]], dict[str, Any]]
"""Verified verdicts of claims on a matrix."""


def check_uniqueness(
    M: AnyRows, lower: Bounds, upper: Bounds, verdict: Any, support: dict[str, Any], judged: Judge | None = None
) -> None:
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
    elif verdict == "unique" and support.get("by") == "classes" and judged is not None:
        check_fields(support, ("by", "claims"), "the support")
        if not isinstance(support["claims"], list) or not len(fixed) < len(M):
            raise RefusedError("there are no claims on the part of M that is not fixed")
        if judged(_part(M, [i for i in n if i not in set(fixed)]), support["claims"]).get("P") != "yes":
            raise RefusedError("that the part of M that is not fixed is P is not verified")
    elif verdict == "unique":
        check_fields(support, ("by", "tree") if bounded else ("by",), "the support")
        if support["by"] != ("tree" if bounded else "equations"):
            raise RefusedError(f"uniqueness here cannot be proved by {str(support['by'])[:20]!r}")
        complement = _schur_complement(part(M, list(n)), free, bounded)
        if bounded:
            check_tree(complement, support["tree"])
    else:
        raise RefusedError(f"{str(verdict)[:20]!r} is not a verdict on uniqueness")


def _part(M: AnyRows, a: list[int]) -> AnyRows:
    """M_aa, in the form of M."""
    place = {i: k for k, i in enumerate(a)}
    if not is_sparse(M) or len(a) <= ORDER:
        return part(M, a)
    return [{place[j]: x for j, x in nonzeros(M[i]) if j in place} for i in a]


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
