"""Has an MLCP with bounds one solution for every q? Standard library only.

Free unknowns f have w_f = 0; fixed ones drop out; the others are bounded on one side or both. Solutions are unique for
every q if M_ff is regular and the Schur complement of M on f, of the bounded unknowns, is a P-matrix; they are not if
some x, not zero, has x = 0 where bounds fix, (M x)_f = 0, and x_i (M x)_i <= 0 at the bounded ones (Robinson, Math.
Oper. Res. 17, 1992; docs/formulary.md, section 3).
"""

from typing import Any

from workbench.certificates.exact import RefusedError, Rows, determinant, dot, indices, part, solve, times, vector
from workbench.certificates.pivots import check_tree


def check_uniqueness(M: Rows, bounds: Any, verdict: Any, support: dict[str, Any]) -> None:
    """RefusedError unless the support proves the verdict "unique" or "not unique"."""
    n = len(M)
    if not isinstance(bounds, dict):
        raise RefusedError("the bounds are not given")
    free, fixed, bounded = (indices(bounds.get(kind), n, kind) for kind in ("free", "fixed", "bounded"))
    if sorted([*free, *fixed, *bounded]) != list(range(n)):
        raise RefusedError("the unknowns are not shared out to free, fixed and bounded")
    if verdict == "not unique":
        x = vector(support.get("x"), n, "x")
        image = times(M, x)
        if (
            not any(x)
            or any(x[i] for i in fixed)
            or any(image[i] for i in free)
            or any(x[i] * image[i] > 0 for i in bounded)
        ):
            raise RefusedError("x does not show two solutions for some q")
    elif verdict == "unique":
        complement = _schur_complement(M, free, bounded)
        if complement:
            check_tree(complement, support.get("tree"))
    else:
        raise RefusedError(f"{str(verdict)[:20]!r} is no verdict on uniqueness")


def _schur_complement(M: Rows, free: list[int], bounded: list[int]) -> Rows:
    """M_cc - M_cf M_ff^-1 M_fc."""
    if not free:
        return part(M, bounded)
    if determinant(part(M, free)) == 0:
        raise RefusedError("the matrix of the free unknowns is singular")
    columns = [solve(part(M, free), [M[i][j] for i in free]) or [] for j in bounded]
    return [
        [M[i][j] - dot([M[i][k] for k in free], column) for j, column in zip(bounded, columns, strict=True)]
        for i in bounded
    ]
