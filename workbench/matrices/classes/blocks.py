"""Classes of a matrix from the classes of its islands, or of the diagonal blocks of its block triangular form.

Principal minors are products of those of the diagonal blocks, which decides P, P0, nondegenerate and, by the comparison
matrix, H_plus. For x >= 0 the last block in which x is not zero decides E0 and E. For R0, S and Q the blocks are solved
one after the other, the last one first. A matrix that belongs to one of the classes `INHERITED` does so with all its
principal submatrices. Of islands every class is that of all of them (CPS, chapter 3, for the definitions).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.matrices.classes.matrix_classes import CLASSES, NO, YES, ClassVerdict
from workbench.matrices.classes.structure import Finding

MADE = frozenset({"P", "P0", "nondegenerate", "H_plus", "E0", "E", "R0", "S", "Q"})
"""Classes of a block triangular matrix whose diagonal blocks all belong to them."""
INHERITED = frozenset(CLASSES) - {"R0", "S", "Q", "Q0"}
"""Classes of all principal submatrices of a matrix that belongs to them."""
VECTORS, INDICES, NUMBERS = ("x", "y"), ("index_set", "entry"), ("minor",)
"""Parts of a witness that a block has and that the whole matrix has with zeros elsewhere, or with its own indices."""

Block = Sequence[int]


def combined(
    n: int, blocks: Sequence[Block], classes: Sequence[dict[str, ClassVerdict]], of_islands: bool
) -> Iterator[Finding]:
    """What the verdicts on all diagonal blocks, or islands, say of the whole matrix of order n."""
    what = "islands" if of_islands else "diagonal blocks of its block triangular form"
    for name in CLASSES:
        verdicts = [found[name].verdict for found in classes]
        if NO in verdicts and (of_islands or name in INHERITED):
            k = verdicts.index(NO)
            yield name, NO, None, _lifted(classes[k][name].witness or {}, blocks[k], n)
        elif verdicts.count(YES) == len(verdicts) and (of_islands or name in MADE):
            yield name, YES, f"each of the {len(blocks)} {what} is {name}", {"by": "blocks"}


def _lifted(witness: dict[str, Any], block: Block, n: int) -> dict[str, Any]:
    """The witness of a block for the whole matrix, or the reference to the verdicts on blocks."""
    if not set(witness) <= {*VECTORS, *INDICES, *NUMBERS}:
        return {"by": "blocks"}
    lifted: dict[str, Any] = {}
    for key, value in witness.items():
        if key in INDICES:
            lifted[key] = [block[i] for i in value]
        elif key in VECTORS and value is not None:
            lifted[key] = ["0"] * n
            for i, x in zip(block, value, strict=True):
                lifted[key][i] = x
        else:
            lifted[key] = value
    return lifted
