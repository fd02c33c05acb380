"""Characters of pasted text and their plain equivalents: typeset minus signs, fraction characters, various blanks."""

import re
import unicodedata
from fractions import Fraction

from workbench.support.errors import DataError

_PLAIN = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2013\u2212\ufe63\uff0d", "-")
    | dict.fromkeys("\u2044\u2215", "/")
    | dict.fromkeys("\u201c\u201d\u201e", '"')
    | dict.fromkeys("\u2018\u2019", "'")
    | {"\u2026": "..."}
)
_VULGAR = re.compile(r"(?<![\d./])(\d{0,9})([\u00bc-\u00be\u2150-\u215e\u2189])(?![\d./])", re.ASCII)
_WIDTHLESS = re.compile(r"(?<![\w.])[\u200b-\u200f\u2060\ufeff]+|[\u200b-\u200f\u2060\ufeff]+(?![\w.])")
_NARROW = "\u00a0\u2006-\u200a\u202f"
_GROUPS = re.compile(rf"(?<![\d.,])\d{{1,3}}(?:[{_NARROW}]\d{{3}})+(?!\d)|\d[{_NARROW}][\u00bc-\u00be\u2150-\u215e]")


def plain(text: str, name: str) -> str:
    """The text with plain minus signs, fractions p/q and quotation marks.

    Raises DataError where a narrow blank between digits may group them, as in 12 345, or separate two entries.
    """
    if text.isascii():
        return text
    grouped = _GROUPS.search(text)
    if grouped:
        line, whole = text.count("\n", 0, grouped.start()) + 1, re.sub(r"\s", "", grouped.group())
        raise DataError(
            f"{name}, line {line}: {grouped.group()[:40]!r} may be one number or several; write {whole[:40]}, or commas"
        )
    text = _VULGAR.sub(lambda found: _fraction(*found.groups()), text.translate(_PLAIN))
    return _WIDTHLESS.sub("", text)


def _fraction(whole: str, character: str) -> str:
    part = Fraction(unicodedata.numeric(character)).limit_denominator(10)
    sum_of_both = int(whole or 0) + part
    return f"{sum_of_both.numerator}/{sum_of_both.denominator}"
