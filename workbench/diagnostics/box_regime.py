"""Number of solutions of sliding contacts, for all parameters of a box at once.

The complementary bases C_a of `sliding.exact` are enclosed over the box: their determinants, and by Cramer's rule the
unknowns of each of the 2^m modes. Where all determinants have one certain sign every state of the box has exactly one
answer whatever the loads (column W-property). A mode is feasible where all its unknowns are certainly positive, and
infeasible where one is certainly negative, or two numerators have opposite signs: then the mode has no solution where
its determinant vanishes either, since adj(C_a) w is not zero there.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from workbench.mechanics.functions import UncertainSignError, sign
from workbench.step.sliding.rows import Inverted, SlidingRows, inverted, is_zero, times
from workbench.support.arrays import index_sets

MEANINGS = {
    "unique": "one solution",
    "none": "no solution",
    "several": "several solutions",
    "locking": "contacts that can lock",
    "undecided": "undecided",
}
"""Verdicts of a box, and what each says of every state in it."""
VERDICTS = tuple(MEANINGS)
UNIQUE, NONE, SEVERAL, LOCKING, UNDECIDED = range(5)


class BoxRegime(NamedTuple):
    """`verdict` indexes `VERDICTS`; `p`: at every state of the box M_mu is a P-matrix (True), at none (False), or None
    where that is undecided."""

    verdict: int
    p: bool | None

    @property
    def decided(self) -> bool:
        return self.verdict != UNDECIDED and self.p is not None


OPEN = BoxRegime(UNDECIDED, None)


def box_regime(rows: Callable[[], SlidingRows], known: BoxRegime = OPEN) -> BoxRegime:
    """The regime over a box, where `rows` evaluates the mechanics over it; `known` holds on the box already."""
    try:
        data = rows()
        system = inverted(data)
    except UncertainSignError:
        return known
    P, Q = columns_of(data, system)
    m = len(P)
    bases = {a: [Q[j] if j in a else P[j] for j in range(m)] for a in index_sets(range(m))}
    signs = {a: _sign(_det(columns)) for a, columns in bases.items()}
    p = known.p if known.p is not None else _one_sign(list(signs.values()))
    if known.verdict != UNDECIDED:
        return BoxRegime(known.verdict, p)
    locks = 0 if data.locking is None else _sign(data.locking)
    if locks is None or locks > 0:
        return BoxRegime(UNDECIDED if locks is None else LOCKING, p)
    if p:
        return BoxRegime(UNIQUE, p)
    return BoxRegime(_counted(bases, signs, system.w), p)


def _counted(bases: dict[tuple[int, ...], list[list[Any]]], signs: dict[Any, int | None], w: list[Any]) -> int:
    """The verdict by counting modes; columns C_a and the signs of their determinants."""
    feasible = undecided = 0
    for a, columns in bases.items():
        found = _mode(columns, a, signs[a], w)
        feasible += found is True
        undecided += found is None
        if feasible > 1:
            return SEVERAL
    if undecided:
        return UNDECIDED
    return UNIQUE if feasible else NONE


def _mode(columns: list[list[Any]], a: Sequence[int], det: int | None, w: list[Any]) -> bool | None:
    """Return whether a mode has a solution at every state of the box, at none (False), or None where that is open."""
    seen: set[int | None] = set()
    for j in range(len(columns)):
        # C_a (s, -y) = -w: the numerators of s and y.
        numerator = _sign(_det([*columns[:j], w, *columns[j + 1 :]]))
        seen.add(numerator if numerator is None or j in a else -numerator)
        if {1, -1} <= seen or (det and -det in seen):
            return False
    return True if det and seen == {det} else None


def columns_of(data: SlidingRows, system: Inverted) -> tuple[list[list[Any]], list[list[Any]]]:
    """Columns of P and Q of `sliding.exact`."""
    m = len(data.mu)
    P, Q = [], []
    for j in range(m):
        c = data.mu[j] * data.xi[j]
        rubbing = [times(c, system.A_t[i][j]) for i in range(m)]
        plus = [system.A_n[i][j] - rubbing[i] for i in range(m)]
        if j < data.m_b:
            P.append(plus)
            Q.append([system.A_n[i][j] + rubbing[i] for i in range(m)])
        else:
            P.append([-1 if i == j else 0 for i in range(m)])
            Q.append([-x for x in plus])
    return P, Q


def _det(columns: list[list[Any]]) -> Any:
    """Determinant of a few columns, expanded along the one with most zeros."""
    if len(columns) == 1:
        return columns[0][0]
    k = max(range(len(columns)), key=lambda j: sum(map(is_zero, columns[j])))
    others = columns[:k] + columns[k + 1 :]
    total: Any = 0
    for i, x in enumerate(columns[k]):
        if not is_zero(x):
            part = times(x, _det([c[:i] + c[i + 1 :] for c in others]))
            total = (part if (i + k) % 2 == 0 else -part) + total
    return total


def _sign(x: Any) -> int | None:
    try:
        return sign(x)
    except UncertainSignError:
        return None


def _one_sign(signs: list[int | None]) -> bool | None:
    """Return whether all determinants have one nonzero sign at every state of the box, at none, or None."""
    if 0 in signs or {1, -1} <= set(signs):
        return False
    return None if None in signs else True
