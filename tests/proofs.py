"""Verdicts on the P-property, put to the checker of certificates."""

from fractions import Fraction

from workbench.certificates.exact import determinant, part, times
from workbench.certificates.outcomes import RefusedError
from workbench.certificates.pivots import check_tree
from workbench.matrices.p_property.witness import as_lines


def fractions(M):
    return [[Fraction(str(x)) for x in row] for row in M.tolist()]


def holds(M, tree) -> bool:
    """Whether a tree of principal pivots proves the rational M a P-matrix."""
    try:
        check_tree(fractions(M), as_lines(tree))
    except RefusedError:
        return False
    return True


def verified(M, verdict) -> bool:
    """Whether what supports a verdict "P" or "not P" proves it; a tree too large to keep proves nothing."""
    if verdict.verdict == "P":
        return verdict.tree is not None and holds(M, verdict.tree)
    x = [Fraction(text) for text in verdict.sign_reversal or ()]
    if verdict.verdict != "not P" or len(x) != M.nrows() or not verdict.index_set:
        return False
    minor = determinant(part(fractions(M), list(verdict.index_set)))
    products = [a * b for a, b in zip(x, times(fractions(M), x), strict=True)]
    return any(x) and max(products) <= 0 and minor == Fraction(verdict.minor or 1) <= 0
