"""Matrices in brackets: `[1 2; 3 4]` of MATLAB, `[[1, 2], [3, 4]]` of Python, and as numpy prints them.

Entries are separated by commas or by blanks, not by both; rows by semicolons, line ends or separate brackets. `%` and
`#` begin a comment, and with a single pair of brackets `...` at the end of a line continues it.
"""

import re

from workbench.readers.matrix import Matrix, TextRows
from workbench.support.errors import DataError

_BEFORE = re.compile(r"(?:\s|[%#].*)*")
_CALL = re.compile(r"(?:np\.|numpy\.)?(?:array|matrix|Matrix)\s*\(")
_CLOSING = re.compile(r"[\s,]*(?:dtype\s*=\s*[\w.']{1,40}\s*,?\s*)?\)")
_COMMENT = re.compile(r"(?<![^\s;,\[\]])[%#].*")
_CONTINUED = re.compile(r"\.\.\.[ \t]*\n")
_NUMPY = re.compile(r"(?:np|numpy)\.(?:float|u?int)\d+\(([^()]*)\)")
LEADING_ZERO = re.compile(r"\d,0\d", re.ASCII)
"""A comma as in 1,05 is decimal, not a separator."""
_FRACTION = re.compile(r"Fraction\((-?\d+), ?(\d+)\)")


def begins_with_bracket(text: str) -> bool:
    """Return whether a text is a matrix in brackets rather than rows."""
    begin = _BEFORE.match(text).end()  # type: ignore[union-attr]
    call = _CALL.match(text, begin)
    return text[call.end() if call else begin :][:100].lstrip().startswith("[")


def unquoted(entry: str) -> str:
    """An entry without the blanks and quotation marks around it."""
    entry = entry.strip()
    return entry[1:-1].strip() if len(entry) > 1 and entry[0] in "\"'" and entry[0] == entry[-1] else entry


def parse_brackets(text: str, name: str, first_line: int) -> Matrix:
    """Parse a text that begins with a bracket; `name` is in every DataError, places are rows from 1."""
    body = _COMMENT.sub("", "\n".join(text.splitlines())).lstrip()
    called = _CALL.match(body)
    body = body[called.end() :].lstrip() if called else body
    nested = bool(re.match(r"\[\s*\[", body))
    if not nested:
        body = _CONTINUED.sub(" ", body)
    if "..." in body:
        raise DataError(f"{name} has '...' instead of entries; write all of them")
    end = _end(body)
    if end is None:
        raise DataError(f"{name}: the bracket of line {first_line} is not closed; end it with ]{']' if nested else ''}")
    after = body[end:]
    closing = _CLOSING.match(after) if called else None
    after = (after[closing.end() :] if closing else after).strip().strip(";,").strip()
    if after or (called and not closing):
        shown = repr(after[:30]) if after else "no )"
        raise DataError(f"{name}: {shown} follows the matrix; write a vector as q = [1; 2] on a line of its own")
    inside = _FRACTION.sub(r"\1/\2", _NUMPY.sub(r"\1", body[1 : end - 1]))
    rows = TextRows(name)
    for number, row in enumerate(_nested(inside, name) if nested else _flat(inside, name), start=1):
        rows.add(f"row {number}", _entries(row, f"{name}, row {number}"))
    return rows.matrix()


def _end(body: str) -> int | None:
    """Position of the end of the outermost bracket."""
    depth = 0
    for found in re.finditer(r"[\[\]]", body):
        depth += 1 if found.group() == "[" else -1
        if depth == 0:
            return found.end()
    return None


def _nested(inside: str, name: str) -> list[str]:
    """The rows of [[1, 2], [3, 4]]."""
    pieces = re.split(r"\[([^\[\]]*)\]", inside)
    # In numpy's print-out line ends separate the rows; [[1 2] [3 4]] on one line is one row in MATLAB.
    apart = all(x.strip() in (",", ";") or (not x.strip() and "\n" in x) for x in pieces[2:-1:2])
    if pieces[0].strip() or pieces[-1].strip() not in ("", ",") or not apart:
        raise DataError(f"{name} is not rows in brackets; write [[1, 2], [3, 4]], or [1 2; 3 4]")
    return pieces[1::2]


def _flat(inside: str, name: str) -> list[str]:
    """The rows of [1 2; 3 4]."""
    lines = [line.strip() for line in inside.split("\n") if line.strip()]
    if any(line.endswith(",") for line in lines[:-1]):
        raise DataError(f"{name} has a line that ends with a comma; end a row with ; and a continued line with ...")
    return [row.strip() for line in lines for row in line.split(";") if row.strip()]


def _entries(row: str, place: str) -> list[str]:
    if "," not in row:
        return [unquoted(entry) for entry in row.split()]
    if LEADING_ZERO.search(row):
        raise DataError(f"{place}: {row[:40]!r} has a comma that may be decimal; write 1.05, or 1, 5")
    entries = [unquoted(entry) for entry in row.split(",")]
    if len(entries) > 1 and not entries[-1]:
        entries.pop()
    mixed = next((entry for entry in entries if " " in entry or "\t" in entry), None)
    if mixed is not None:
        raise DataError(
            f"{place}: {mixed[:40]!r} has both commas and blanks; write 1, 2, 3 or 1 2 3, and decimals as 1.5"
        )
    return entries
