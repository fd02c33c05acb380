"""Support of a verdict on the P-property, and its written form (`certificates.pivots` checks it).

Sources: Fiedler and Ptak (Czechoslovak Math. J. 12, 1962) for the sign reversal; Moylan (IEEE Trans. Autom. Control 22,
1977) for diagonal stability; Johnson and Tsatsomeros (Linear Multilinear Algebra 38, 1995) for the quotient;
Tsatsomeros and Li (BIT 40, 2000) for the tree of principal pivots.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpq_mat

from workbench.matrices.linear_algebra.in_time import solution
from workbench.matrices.linear_algebra.rationals import as_text, extend_from_schur, submatrix


@dataclass(frozen=True, eq=False)
class PVerdict:
    """Verdict "P", "not P" or "undecided", with its support.

    P: `proof`, as text, and `tree`: ("diagonal", w), ("minors",), ("branch", i, pivoted, removed) with i a position
    among the remaining indices, ("blocks", [(indices, tree), ...]), ("quotient", C) with C a list of n rows such that C
    and M C are strictly row-dominant with positive diagonals (`quotients`), or ("transpose", tree) with the tree of the
    transposed matrix; None if it was too large to keep. Not P: `index_set` a (zero-based), the exact `minor` det M_aa
    <= 0 as "p/q", and `sign_reversal`, an exact x != 0 with x_i (M x)_i <= 0 for all i. Undecided: `reason`.
    `minors_checked` counts the minors with proved signs, `exact_minors` those of them that needed exact arithmetic.
    `smallest_relative_minor` is the smallest det M_aa / prod_{i in a} m_ii found (floating point, to a few digits),
    dimensionless and invariant under positive scaling of rows and columns; None if no minor was computed, or m_ii <= 0.
    """

    verdict: str
    proof: str | None = None
    index_set: tuple[int, ...] | None = None
    minor: str | None = None
    sign_reversal: list[str] | None = None
    reason: str | None = None
    minors_checked: int = 0
    exact_minors: int = 0
    smallest_relative_minor: float | None = None
    tree: tuple | None = None


def not_p(
    M: fmpq_mat, a: tuple[int, ...], minors_checked: int, exact_minors: int, smallest: float | None = None
) -> PVerdict:
    """The witness from an index set a with det M_aa <= 0, whose subset b without the last index i has det M_bb > 0.

    Then x_i = 1, x_b = -M_bb^-1 M_bi gives (M x)_b = 0,
    (M x)_i = det M_aa / det M_bb <= 0. This x is a positive or negative multiple of M_aa^-1 e_i where the minor is
    negative, and a null vector of M_aa where it is zero.
    """
    x = extend_from_schur(M, list(a[:-1]), {a[-1]: 1})
    return PVerdict(
        "not P",
        index_set=tuple(sorted(a)),
        minor=str(submatrix(M, a).det()),
        sign_reversal=as_text(x),
        minors_checked=minors_checked,
        exact_minors=exact_minors,
        smallest_relative_minor=smallest,
    )


def first_loss(M: fmpq_mat, a: Sequence[int]) -> tuple[int, ...]:
    """A leading part of a at whose last index the minor ceases to be positive, by bisection (it is not for a)."""
    kept, lost = 0, len(a)
    while lost - kept > 1:
        middle = (kept + lost) // 2
        if submatrix(M, a[:middle]).det() > 0:
            kept = middle
        else:
            lost = middle
    return tuple(a[:lost])


def as_lines(tree: tuple[Any, ...]) -> list[list]:
    """A tree as the list of its nodes in preorder, numbers as "p/q" (`certificates.pivots`)."""
    kind = tree[0]
    if kind == "diagonal":
        return [["diagonal", as_text([fmpq(x) for x in tree[1]])]]
    if kind == "blocks":
        return [["blocks", [list(b) for b, _ in tree[1]]], *(line for _, t in tree[1] for line in as_lines(t))]
    if kind == "minors":
        return [["minors"]]
    if kind == "quotient":
        return [["quotient", [as_text(list(row)) for row in tree[1]]]]
    if kind == "transpose":
        return [["transpose"], *as_lines(tree[1])]
    _, p, pivoted, removed = tree
    return [["branch", p], *as_lines(pivoted), *as_lines(removed)]


def schur_complement(M: fmpq_mat, pivots: Sequence[int], rest: Sequence[int], deadline: float = math.inf) -> fmpq_mat:
    """M_rr - M_rp M_pp^-1 M_pr, exactly; M_pp nonsingular. Raises OutOfTimeError."""
    M_rr = submatrix(M, rest)
    if not pivots:
        return M_rr
    return M_rr - submatrix(M, rest, pivots) * solution(submatrix(M, pivots), submatrix(M, pivots, rest), deadline)


def dominant(N: fmpq_mat) -> bool:
    """Whether every diagonal entry exceeds the sum of the absolute values of the others in its row."""
    return all(row[i] + abs(row[i]) > sum(map(abs, row), fmpq(0)) for i, row in enumerate(N.tolist()))
