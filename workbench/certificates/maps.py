"""Check what is claimed of sliding contacts for all parameters of some ranges. Standard library only.

The ranges are cut into boxes; the tree of the cuts is a text in preorder: a digit cuts the box in half along the
parameter of this number, and what follows is its lower, then its upper half; two characters end a box, of which all
states

"u", "n", "s", "l"   have one answer, none, several; can lock ("?": nothing is claimed)
"+", "-"             have, or none has, exactly one answer whatever the loads ("?": nothing is claimed)

For each choice a of one unknown of every pair (`mechanisms`) B_a has the columns P_j, and -Q_j for j in a; the unknowns
x of this mode solve B_a x = -w. Whatever the loads there is one answer where all determinants of B_a, up to (-1)^|a|,
have one sign (column W-property: Sznajder and Gowda, Linear Algebra Appl. 1995). By Cramer's rule a mode is feasible
where all x are positive, and infeasible where one is negative or where numerators have opposite signs: then it is so
too where the determinant is zero, since adj(B_a) w is not.
"""

import itertools
from fractions import Fraction
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import rational
from workbench.certificates.forms import Form, constant, enclosed, variable
from workbench.certificates.limits import check_time
from workbench.certificates.mechanisms import FUNCTIONS, Column, EnclosedParameters, Number, Sliding
from workbench.certificates.outcomes import RefusedError, RefutedError
from workbench.certificates.problem import Ranges
from workbench.certificates.programme import functions

ANSWERS = {"u": "unique", "n": "none", "s": "several", "l": "locking", "?": "undecided"}
"""Verdicts on the answers by their letter."""
PROPERTY = {"+": "P", "-": "not P"}
"""Verdicts on one answer for all loads by their sign."""
DEEPEST = 60
"""Largest number of halvings of one parameter."""

Corner = tuple[Fraction, ...]


def check_map(ranges: Ranges, verdict: Any, support: Any) -> None:
    """Raise RefusedError unless the tree proves the verdict: for each verdict that occurs its exact share of the
    ranges."""
    check_fields(support, ("tree",), "the support")
    if not isinstance(support["tree"], str) or not isinstance(verdict, dict):
        raise RefusedError("the tree is not a text, or the verdict not an object of shares")
    known = {*ANSWERS.values(), *PROPERTY.values()}
    if not set(verdict) <= known:
        raise RefusedError(f"a share is of {min(set(verdict) - known)[:20]!r}, which is no verdict")
    found: dict[str, Fraction] = {}
    judged, d = Judge(ranges), len(ranges.ranges)
    letters = iter(support["tree"])
    stack: list[tuple[Corner, Corner]] = [((Fraction(0),) * d, (Fraction(1),) * d)]
    while stack:
        check_time()
        corner, side = stack.pop()
        letter = next(letters, "")
        if letter.isascii() and letter.isdigit() and int(letter) < d:
            stack += halves(corner, side, int(letter))[::-1]
            continue
        second = next(letters, "")
        if letter not in ANSWERS or second not in ("+", "-", "?") or not letter:
            raise RefusedError(f"the tree of cuts has {letter + second!r}, which is neither a cut nor the end of a box")
        judged.check(corner, side, letter, second)
        volume = Fraction(1)
        for x in side:
            volume *= x
        for name in (ANSWERS[letter], PROPERTY.get(second)):
            if name:
                found[name] = found.get(name, Fraction(0)) + volume
    if next(letters, None) is not None:
        raise RefusedError("the tree of cuts continues after everything is proved")
    if {name: rational(x) for name, x in verdict.items()} != found:
        raise RefutedError("the shares are not those of the boxes")


def halves(corner: Corner, side: Corner, k: int) -> list[tuple[Corner, Corner]]:
    """The lower and the upper half of a box along one parameter. RefusedError for boxes that are too small."""
    half = side[k] / 2
    if half.denominator > 1 << DEEPEST:
        raise RefusedError(f"a parameter is halved more than {DEEPEST} times")
    smaller = (*side[:k], half, *side[k + 1 :])
    return [(corner, smaller), ((*corner[:k], corner[k] + half, *corner[k + 1 :]), smaller)]


class Judge:
    """The verdicts on boxes of these ranges. RefusedError for functions that are not known by name."""

    def __init__(self, ranges: Ranges) -> None:
        if isinstance(ranges.functions, dict):
            self.functions = functions(ranges.functions)
        elif ranges.functions in FUNCTIONS:
            self.functions = FUNCTIONS[ranges.functions]
        else:
            raise RefusedError(f"{ranges.functions[:40]!r} is no name of functions; these are {', '.join(FUNCTIONS)}")
        self.ranges = list(ranges.ranges.values())
        self.names = list(ranges.ranges)
        self.fixed = {name: x for name, x in ranges.parameters.items() if name not in ranges.ranges}

    def check(self, corner: Corner, side: Corner, answers: str, p: str) -> None:
        """Raise RefutedError unless this is proved on the box with this corner and these sides, in shares of the
        ranges."""
        if answers == p == "?":
            return
        data = self.functions(self._parameters(corner, side))
        if p != "?" and _property(data) != p:
            raise RefutedError(f"one answer for all loads ({p}) is not proved {_where(corner)}")
        if answers != "?" and not _proved(data, answers):
            raise RefutedError(f"the verdict {ANSWERS[answers]!r} is not proved {_where(corner)}")

    def _parameters(self, corner: Corner, side: Corner) -> EnclosedParameters:
        spans = [high - low for low, high in self.ranges]
        half = [s * x / 2 for s, x in zip(spans, side, strict=True)]
        reach = tuple(enclosed(x)[1] for x in half)
        found = {name: constant(x, reach) for name, x in self.fixed.items()}
        for k, name in enumerate(self.names):
            centre = self.ranges[k][0] + spans[k] * corner[k] + half[k]
            found[name] = variable(centre, half[k], k, reach)
        return EnclosedParameters(found, reach)


def _where(corner: Corner) -> str:
    return f"on the box from {', '.join(map(str, corner))} of the ranges"


def _modes(data: Sliding) -> list[tuple[tuple[bool, ...], list[Column]]]:
    """For each mode which unknowns are y_j, and B_a."""
    m = range(len(data.w))
    return [
        (a, [[-x for x in data.Q[j]] if a[j] else data.P[j] for j in m])
        for a in itertools.product((False, True), repeat=len(m))
    ]


def _property(data: Sliding) -> str:
    """ "+" where all determinants have one sign, "-" where they do not, "?" where that is open."""
    signs = set()
    for a, columns in _modes(data):
        sign = _sign(determinant(columns))
        signs.add(None if sign is None else sign * (-1) ** sum(a))
        if 0 in signs or {1, -1} <= signs:
            return "-"
    return "?" if None in signs else "+"


def _proved(data: Sliding, answers: str) -> bool:
    locks = -1 if data.locking is None else data.locking.sign
    if answers == "l" or locks is None or locks > 0:
        return answers == "l" and locks == 1
    if answers == "u" and _property(data) == "+":
        return True
    found = [_feasible(columns, data.w) for _, columns in _modes(data)]
    if answers == "s":
        return found.count(True) > 1
    return None not in found and found.count(True) == (answers == "u")


def _feasible(columns: list[Column], w: Column) -> bool | None:
    """Whether the mode has a solution at every state of the box (True), at none (False), or neither is proved."""
    sign = _sign(determinant(columns))
    seen = set()
    for j in range(len(columns)):
        # x_j = -det(B with w in the place of column j) / det B.
        seen.add(_sign(determinant([*columns[:j], w, *columns[j + 1 :]])))
        if {1, -1} <= seen or (sign and sign in seen):
            return False
    return True if sign and seen == {-sign} else None


def _sign(x: Number) -> int | None:
    return x.sign if isinstance(x, Form) else (x > 0) - (x < 0)


def determinant(columns: list[Column]) -> Number:
    """By expansion along the column with most whole numbers 0."""
    if len(columns) == 1:
        return columns[0][0]
    k = max(range(len(columns)), key=lambda j: sum(isinstance(x, int) and x == 0 for x in columns[j]))
    others = columns[:k] + columns[k + 1 :]
    total: Number = 0
    for i, x in enumerate(columns[k]):
        if not (isinstance(x, int) and x == 0):
            minor = determinant([column[:i] + column[i + 1 :] for column in others])
            total = total + (x * minor if (i + k) % 2 == 0 else -(x * minor))
    return total
