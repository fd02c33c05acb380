"""Intervals among the entries of a text: `[1.9, 2.1]` and `2.0+-0.1`, also with a plus-minus sign.

A text with intervals is read twice, once with the lower end points and once with the upper ones. A pair in
brackets may also be a row: [[1, 2], [3, 4]] and [[1, 2]; [3, 4]] hold rows, and so does a single pair; write 2.0+-0.1
for an interval there. Two arrays, midpoints and radii, are the other form.
"""

import re
from dataclasses import replace

from workbench.readers.interval_matrix import IntervalMatrix
from workbench.readers.matrix import Matrix, matrix_of
from workbench.support.errors import DataError, naming
from workbench.support.numbers import parse_entry, parse_rational

MOST_ENTRIES = 40_000
"""Largest number of intervals in two arrays; verdicts on boxes end far below."""
_DIGITS = r"(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_PAIR = re.compile(rf"\[\s*([+-]?{_DIGITS})\s*,\s*([+-]?{_DIGITS})\s*\]", re.ASCII)
_SPREAD = re.compile(r"([+-]?[\w./]+(?:[eE][+-]\d+)?)[ \t]*(?:\+/?-|\u00b1)[ \t]*([^\s,;\]\[\"']*)", re.ASCII)


def ends(text: str, name: str) -> tuple[str, str] | None:
    """The text with the lower and with the upper end points of its intervals; None if there are none.

    Raises DataError for an invalid radius and for end points in the wrong order.
    """
    found: list[tuple[int, int, str, str]] = []
    if "+-" in text or "+/-" in text or "\u00b1" in text:
        found += [_of_spread(match, name) for match in _SPREAD.finditer(text)]
    found += [_of_pair(match, name) for match in _intervals(text)]
    if not found:
        return None
    found.sort()
    return tuple(_replaced(text, [(start, end, pair[k]) for start, end, *pair in found]) for k in (0, 1))  # type: ignore[return-value]


def within(middle: Matrix, radius: Matrix, name: str) -> Matrix:
    """The matrix with the lower end points of all intervals, and the upper ones as `upper`, without rounding.

    Raises DataError for different shapes, a negative radius, and more than `MOST_ENTRIES` entries.
    """
    if middle.values.size > MOST_ENTRIES:
        shape = " x ".join(map(str, middle.values.shape))
        raise DataError(f"{name} holds {shape} intervals; at most {MOST_ENTRIES} are read")
    with naming(name):
        box = IntervalMatrix(middle.exact, radius.exact)
    lower, upper = (matrix_of([[*map(str, row)] for row in end.tolist()], name) for end in (box.lower, box.upper))
    return replace(lower, upper=upper)


def _of_spread(match: re.Match, name: str) -> tuple[int, int, str, str]:
    middle, radius = match.groups()
    for number in (middle, radius):
        parse_entry(number, f"{name}, {match.group()[:40]!r}")
    centre, spread = parse_rational(middle), parse_rational(radius)
    if spread < 0:
        raise DataError(f"{name}: {match.group()[:40]!r} has a negative radius; a radius is zero or positive")
    return match.start(), match.end(), str(centre - spread), str(centre + spread)


def _of_pair(match: re.Match, name: str) -> tuple[int, int, str, str]:
    low, high = match.groups()
    for number in (low, high):
        parse_entry(number, f"{name}, {match.group()[:40]!r}")
    if parse_rational(low) > parse_rational(high):
        raise DataError(f"{name}: {match.group()[:40]!r} has its lower end above the upper one")
    return match.start(), match.end(), low, high


def _intervals(text: str) -> list[re.Match]:
    """The pairs in brackets that are entries rather than rows."""
    pairs = list(_PAIR.finditer(text))
    if not pairs:
        return []
    marked = list(text)
    for pair in pairs:
        marked[pair.start() : pair.end()] = " " * (pair.end() - pair.start())
    rest = "".join(marked)
    depths, mixed = _brackets(rest, {pair.start() for pair in pairs})

    def is_entry(at: int) -> bool:
        if depths[at] > 0:
            return depths[at] > 1 or at in mixed
        begin, end = rest.rfind("\n", 0, at) + 1, rest.find("\n", at)
        line = rest[begin : end if end >= 0 else len(rest)]
        return bool(line.strip()) and "=" not in line and not rest.lstrip().startswith("{")

    return [pair for pair in pairs if is_entry(pair.start())]


def _brackets(text: str, pairs: set[int]) -> tuple[list[int], set[int]]:
    """The bracket depth at each character, and the characters of outermost brackets in which pairs are entries.

    These contain numbers besides the `pairs`, given by their first characters, outside of further brackets; or rows
    that end with semicolons and of which one has several pairs.
    """
    depths, mixed, depth, begin = [], set[int](), 0, 0
    beside, row, longest, ended = False, 0, 0, False
    for at, c in enumerate(text):
        depth += (c == "[") - (c == "]")
        depths.append(depth)
        if c == "[" and depth == 1:
            begin, beside, row, longest, ended = at, False, 0, 0, False
        elif depth == 1:
            beside |= c not in "],; \t\r\n"
            ended |= c == ";"
            row = 0 if c == ";" else row + (at in pairs)
            longest = max(longest, row)
        elif c == "]" and depth == 0 and (beside or (ended and longest > 1)):
            mixed.update(range(begin, at))
    return depths, mixed


def _replaced(text: str, parts: list[tuple[int, int, str]]) -> str:
    pieces, last = [], 0
    for start, end, new in parts:
        pieces += [text[last:start], new]
        last = end
    return "".join([*pieces, text[last:]])
