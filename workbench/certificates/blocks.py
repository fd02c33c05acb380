"""Verdicts on a matrix from verdicts on its islands, or on its diagonal blocks. Standard library only.

The claim "blocks" has the verdict "islands" or "block triangular" and the support `kinds`, a list of {rows, claims}:
`rows` are lists of indices whose principal submatrices are all equal, `claims` those on this submatrix. The lists share
out all indices. Islands are coupled by no entry. Otherwise no entries may lead from one block to another and back, so
that M is block triangular in some order of the blocks.

Principal minors are then products of those of the blocks (P, P0, nondegenerate; H_plus by the comparison matrix). E0
and E are decided in the last block in which x >= 0 is not zero; for R0, S and Q the blocks are solved one after the
other, the last one first. All classes but R0, S, Q and Q0 belong to all principal submatrices. Of islands every class
is that of all of them.
"""

from collections.abc import Callable
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import AnyRows, indices, is_sparse, nonzeros, part
from workbench.certificates.limits import ORDER, check_time
from workbench.certificates.outcomes import PremiseError, RefusedError, RefutedError

MADE = ("P", "P0", "nondegenerate", "H_plus", "E0", "E", "R0", "S", "Q")
"""Classes of a block triangular matrix whose diagonal blocks all belong to them."""
NOT_INHERITED = ("R0", "S", "Q", "Q0")
ISLANDS, TRIANGULAR = "islands", "block triangular"

Claims = list[dict[str, Any]]
Known = dict[str, Any]
Judge = Callable[[AnyRows, Claims], Known]


def check(M: AnyRows, verdict: Any, support: dict[str, Any], known: Known, judge: Judge) -> None:
    """Raise RefusedError unless M has these blocks, and note the verdicts on them that `judge` verifies."""
    check_fields(support, ("kinds",), "the support")
    if verdict not in (ISLANDS, TRIANGULAR):
        raise RefusedError(f"blocks are {ISLANDS} or {TRIANGULAR}, not {str(verdict)[:20]!r}")
    n, kinds = len(M), support["kinds"]
    if not isinstance(kinds, list) or not all(isinstance(kind, dict) for kind in kinds):
        raise RefusedError("the kinds of blocks are not a list of objects")
    label, count = [-1] * n, 0
    for kind in kinds:
        check_fields(kind, ("rows", "claims"), "a kind of blocks")
        if not isinstance(kind["rows"], list) or not isinstance(kind["claims"], list):
            raise RefusedError("the rows and the claims of a kind of blocks are not lists")
        for rows in kind["rows"]:
            for i in indices(rows, n, "a block"):
                if label[i] >= 0:
                    raise RefusedError(f"row {i} belongs to two blocks")
                label[i] = count
            if not rows:
                raise RefusedError("a block is empty")
            count += 1
    if -1 in label:
        raise RefusedError(f"row {label.index(-1)} belongs to no block")
    edges = {(label[i], label[j]) for i, row in enumerate(M) for j, x in nonzeros(row) if x and label[i] != label[j]}
    if verdict == ISLANDS and edges:
        raise RefutedError("an entry couples two of the islands")
    if not _is_acyclic(count, edges):
        raise RefutedError("the matrix is not block triangular in these blocks")
    verdicts = []
    for kind in kinds:
        if kind["rows"]:
            first, *others = kind["rows"]
            block = _part(M, first)
            if any(_part(M, rows) != block for rows in others):
                raise RefutedError("blocks of one kind are different")
            verdicts.append(judge(block, kind["claims"]))
    known["blocks"] = verdict, verdicts


def _is_acyclic(count: int, edges: set[tuple[int, int]]) -> bool:
    """Whether no chain of edges leads from a block back to it."""
    targets: list[list[int]] = [[] for _ in range(count)]
    before = [0] * count
    for i, j in edges:
        targets[i].append(j)
        before[j] += 1
    order = [b for b in range(count) if not before[b]]
    for b in order:
        for c in targets[b]:
            before[c] -= 1
            if not before[c]:
                order.append(c)
    return len(order) == count


def _part(M: AnyRows, rows: list[int]) -> AnyRows:
    """The principal submatrix, as a large one where it is too large to be written out."""
    check_time()
    if not is_sparse(M) or len(rows) <= ORDER:
        return part(M, rows)
    place = {i: k for k, i in enumerate(rows)}
    return [{place[j]: x for j, x in nonzeros(M[i]) if j in place} for i in rows]


def check_class(name: str, verdict: str, support: dict[str, Any], known: Known) -> None:
    """Raise RefusedError unless the verdicts on the blocks prove that on the whole matrix."""
    check_fields(support, ("by",), "the support")
    if "blocks" not in known:
        raise PremiseError("the verdicts on the blocks are not verified")
    form, found = known["blocks"]
    islands, verdicts = form == ISLANDS, [one.get(name) for one in found]
    if verdict == "yes" and (islands or name in MADE) and verdicts and set(verdicts) == {"yes"}:
        return
    if verdict == "no" and (islands or name not in NOT_INHERITED) and "no" in verdicts:
        return
    raise RefusedError(f"the verdicts on the {form} parts do not give a {verdict} to {name}")
