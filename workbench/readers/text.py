"""Matrices in pasted text: rows of a file or a table, or the brackets of MATLAB and Python.

    1, 4/3           rows, entries separated by commas, semicolons or blanks; a line and a column of names are noted
    [1 2; 3 4]       MATLAB's brackets, [[1, 2], [3, 4]] Python's, array([[1., 2.], [3., 4.]]) numpy's (`brackets`)
    M = ...          a name before either, as MATLAB shows it; a second one, q = ..., is the vector
    {"M": ...}       JSON (`problem`)

Nothing is guessed: ambiguous text, such as decimal commas, is refused, with both ways to write it.
"""

import csv
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from workbench.readers.brackets import LEADING_ZERO, begins_with_bracket, parse_brackets, unquoted
from workbench.readers.characters import plain
from workbench.readers.matrix import Matrix, TextRows
from workbench.support.errors import DataError

LARGEST_TEXT = 200_000_000
"""Largest size of a text [bytes]; a 5000 x 5000 matrix at 7 characters an entry."""

_ASSIGNED = re.compile(r"^[ \t]*(?!dtype\b)([^\W\d]\w{0,60})[ \t]*=", re.MULTILINE)
_NAME = re.compile(r"[^\W\d].{0,60}")
_NO_NAME = re.compile(r"[+-]?(nan|inf|infinity)|n/?a|null|none|missing|true|false|i|j", re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_DECIMALS = re.compile(r"\s*[+-]?\d+,\d+(,\s+[+-]?\d+,\d+)+\s*", re.ASCII)


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[BinaryIO, int, str]]:
    """The open file, its size in bytes and its short name; DataError, in one line, if it cannot be read."""
    if not str(path).strip():
        raise DataError("the name of a file is empty; give a text or .npy file, or rows such as [1 2; 3 4]")
    path = Path(path)
    shown = str(path) if len(str(path)) <= 100 else "..." + str(path)[-100:]
    try:
        if path.is_dir():
            raise DataError(f"{shown} is a folder; give a text or .npy file")
        with path.open("rb") as file:
            yield file, path.stat().st_size, path.name or str(path)
    except FileNotFoundError:
        raise DataError(
            f"{shown} does not exist; give a text or .npy file, rows such as '[1 2; 3 4]', or - for standard input"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{shown!r} cannot be read: {reason}; give a text or .npy file") from None


def read_text(path: str | Path) -> tuple[str, str]:
    """The text of a file, or of standard input (`-`), and its display name. Raises DataError."""
    if str(path) == "-":
        text, name = _decoded("standard input", lambda: sys.stdin.read(LARGEST_TEXT + 1)), "standard input"
        size = len(text)
    else:
        with opened(path) as (file, size, name):
            # A file of reported size zero may be a pipe.
            content = b"" if size > LARGEST_TEXT else file.read(size or LARGEST_TEXT + 1)
        size = max(size, len(content))
        text = "" if size > LARGEST_TEXT else _decoded(name, lambda: content.decode("utf-8"))
    if size > LARGEST_TEXT:
        most = LARGEST_TEXT // 10**6
        raise DataError(f"{name} has {size} characters or more; at most {most} million are read; save it as .npy")
    return text.removeprefix("\ufeff"), name


def _decoded(name: str, read: Callable[[], str]) -> str:
    try:
        return read()
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start} is not UTF-8 text; give a text file or a .npy array") from None


def parse_text(text: str, name: str) -> dict[str, Matrix]:
    """The matrices of a text by the names they have there; "M" is the unnamed one.

    Raises DataError, in one line with the place and the offending text, for text that is no matrix or may be two.
    """
    text = plain(text, name)
    found: dict[str, Matrix] = {}
    for key, first_line, body in _statements(text):
        if key in found:
            raise DataError(f"{name}, line {first_line}: {key} is there twice; one matrix of this name is needed")
        place = name if len(found) == 0 and key == "M" else f"{name}, {key}"
        parse = parse_brackets if begins_with_bracket(body) else _parse_rows
        found[key] = parse(body, place, first_line)
    return found


def _statements(text: str) -> Iterator[tuple[str, int, str]]:
    """Names, first lines and texts of the matrices in the text; text before any name is called M."""
    places = list(_ASSIGNED.finditer(text))
    before = text[: places[0].start()] if places else text
    if not places or any(line.strip() and line.strip()[0] not in "#%" for line in before.splitlines()):
        yield "M", 1, before
    for place, following in zip_longest(places, places[1:]):
        body = text[place.end() : following.start() if following else None]
        yield place.group(1), text.count("\n", 0, place.end()) + 1, body


def _parse_rows(text: str, name: str, first_line: int) -> Matrix:
    """The matrix of a text with one row per line; a line and a column of names are skipped and noted."""
    rows = TextRows(name)
    header: list[str] = []
    labels: list[str] = []
    header_line = 0
    for number, line, separator, entries in _lines(text, first_line):
        if not rows.width and not header and _are_names(entries):
            header, header_line = entries, number
            continue
        # A separator after the last entry is allowed; elsewhere an empty entry is missing.
        if len(entries) > 1 and not entries[-1] and len(entries) != rows.width + bool(labels):
            entries.pop()
        if len(entries) > 1 and _is_name(entries[0]) and (labels or not rows.width):
            labels.append(entries.pop(0))
        two_ways = _two_ways(line, separator, entries)
        if two_ways:
            raise DataError(f"{name}, line {number}{two_ways}")
        rows.add(f"line {number}", entries)
    if header and rows.width and len(header) not in (rows.width, rows.width + bool(labels)):
        raise DataError(
            f"{name}, line {header_line} names {len(header)} columns, {rows.first} has {rows.width} entries; "
            "begin a line that is not a row with #"
        )
    return rows.matrix(_names(header, header_line, labels))


def _names(header: list[str], line: int, labels: list[str]) -> Iterator[str]:
    if header:
        yield f"line {line} was taken for names of columns: {_shown(', '.join(filter(None, header)))}"
    if labels:
        yield f"column 1 was taken for names of rows: {_shown(', '.join(labels))}"


def _lines(text: str, first_line: int) -> Iterator[tuple[int, str, str | None, list[str]]]:
    """Number, text, separator and entries of the lines that have any; the first of them determines the separator."""
    separator, known = None, False
    for number, line in enumerate(text.splitlines(), start=first_line):
        line = "" if line.lstrip().startswith("%") else line.partition("#")[0].strip()
        # MATLAB ends rows like this; with semicolons as separators the last one is dropped, too.
        line = line.removesuffix(";").strip()
        if not line:
            continue
        if not known:
            separator, known = next((s for s in ";," if s in line), None), True
        # Beyond the length of a row, quotation marks are not taken as those of a table.
        if '"' in line and separator and len(line) < csv.field_size_limit():
            entries = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
        else:
            entries = line.split(separator)
        quoted = '"' in line or "'" in line
        yield number, line, separator, list(map(unquoted if quoted else str.strip, entries))


def _are_names(entries: list[str]) -> bool:
    """Return whether a line names columns; above a column of names, and after a last separator, a name may be empty."""
    return any(entries) and all(map(_is_name, entries[not entries[0] : len(entries) - (not entries[-1])]))


def _is_name(entry: str) -> bool:
    return bool(_NAME.fullmatch(entry)) and not _NO_NAME.fullmatch(entry)


def _two_ways(line: str, separator: str | None, entries: list[str]) -> str:
    """Return why a line is ambiguous and how to write either meaning; "" if it is not."""
    odd = next((j for j, entry in enumerate(entries) if separator and len(entry.split()) > 1), None)
    odd = next((j for j, entry in enumerate(entries) if "," in entry), odd)
    where = "" if odd is None else f", column {odd + 1}"
    shown = repr(_shown(line if odd is None else entries[odd]))
    if odd is None and not (separator == "," and (_DECIMALS.fullmatch(line) or LEADING_ZERO.search(line))):
        return ""
    words = re.sub(r",\s+", " ", line) if separator == "," and "," not in "".join(entries) else " ".join(entries)
    points = words.replace(";", " ").split()
    one = _shown(", ".join(re.split(r"[,\s]+", " ".join(points))))
    if not any(map(_DECIMAL.fullmatch, points)):
        rows = f", or [{_shown(line)}] for rows" if separator == ";" else ""
        return f"{where}: {shown} has blanks inside; write {one}{rows}"
    other = _shown(", ".join(points).replace(",", ".").replace(". ", ", "))
    return f"{where}: {shown} has commas that may be decimal; write {other}, or {one}"


def _shown(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
