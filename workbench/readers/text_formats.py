"""Matrices in the text formats of others: MatrixMarket and Siconos. Their numbers mean what is typed.

MatrixMarket: R. F. Boisvert, R. Pozo, K. Remington, NIST IR 5935 (1996). Siconos prints dense matrices and the blocks
of block-sparse ones column by column.
"""

import itertools
import re

import numpy as np

from workbench.errors import DataError
from workbench.readers.matrix import LARGEST_SIDE, Matrix, parse_entry

SYMMETRIES = {"general": None, "symmetric": 1, "skew-symmetric": -1}
DENSE, BLOCKS = 0, 1


def matrix_of(rows: list[list[str]], place: str) -> Matrix:
    """The matrix of entries as typed; DataError names the place of one that is no number."""
    if max(len(rows), *map(len, rows)) > LARGEST_SIDE:
        raise DataError(f"{place} has more than {LARGEST_SIDE} x {LARGEST_SIDE} entries; save fewer")
    uneven = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if uneven is not None:
        raise DataError(
            f"{place}, row {uneven} has {len(rows[uneven])} entries, row 0 has {len(rows[0])}; "
            "every row must have the same number"
        )
    values = [[parse_entry(x, f"{place}[{i}, {j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]
    return Matrix(np.array(values), tuple(" ".join(row) for row in rows))


def parse_market(text: str, name: str) -> Matrix:
    """A MatrixMarket file: array or coordinate, real, integer or pattern, general or (skew-)symmetric."""
    lines = text.splitlines()
    words = (lines[0] if lines else "").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise DataError(f"{name} is not a MatrixMarket file: line 1 must be %%MatrixMarket matrix ...")
    layout, kind, symmetry = words[2:]
    if layout not in ("array", "coordinate") or kind not in ("real", "integer", "pattern", "double"):
        raise DataError(f"{name} is a MatrixMarket file of kind '{layout} {kind}'; a real matrix is needed")
    if symmetry not in SYMMETRIES:
        raise DataError(f"{name} is {symmetry}; general, symmetric or skew-symmetric matrices can be read")
    body = [(i, line.split()) for i, line in enumerate(lines, start=1) if line.strip() and line[0] != "%"]
    if not body or len(body[0][1]) != (2 if layout == "array" else 3):
        raise DataError(f"{name} has no line with the numbers of rows and columns")
    m, n, *count = (_whole(word, f"{name}, line {body[0][0]}") for word in body[0][1])
    _sides(m, n, name)
    if SYMMETRIES[symmetry] and m != n:
        raise DataError(f"{name} is {symmetry} and {m} x {n}; a square matrix is needed")
    sign = SYMMETRIES[symmetry]
    if layout == "array":
        first = {None: 0, 1: 0, -1: 1}[sign]
        places = [(i, j) for j in range(n) for i in range(0 if sign is None else j + first, m)]
        entries = [(row, words[0]) for row, words in body[1:] if len(words) == 1]
        if len(entries) != len(places) or len(body) - 1 != len(places):
            raise DataError(
                f"{name} has {len(body) - 1} lines of entries where {m} x {n} needs {len(places)}, one each"
            )
    else:
        places, entries = _coordinates(body[1:], count[0], m, n, kind == "pattern", name)
    rows = [["0"] * n for _ in range(m)]
    for (i, j), (line, entry) in zip(places, entries, strict=True):
        parse_entry(entry, f"{name}, line {line}")
        rows[i][j] = entry
        if sign and i != j:
            rows[j][i] = entry if sign > 0 else entry[1:] if entry.startswith("-") else "-" + entry.removeprefix("+")
    return matrix_of(rows, name)


def _coordinates(
    body: list[tuple[int, list[str]]], count: int, m: int, n: int, pattern: bool, name: str
) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
    if len(body) != count:
        raise DataError(f"{name} has {len(body)} lines of entries where its header says {count}")
    places, entries = [], []
    for line, words in body:
        where = f"{name}, line {line}"
        if len(words) != (2 if pattern else 3):
            raise DataError(f"{where} has {len(words)} words; row, column{'' if pattern else ' and value'} are needed")
        i, j = _whole(words[0], where) - 1, _whole(words[1], where) - 1
        if not (0 <= i < m and 0 <= j < n):
            raise DataError(f"{where}: entry ({i + 1}, {j + 1}) lies outside the {m} x {n} matrix")
        places.append((i, j))
        entries.append((line, "1" if pattern else words[2]))
    if len(set(places)) != len(places):
        raise DataError(f"{name} gives an entry twice; every place may be named once")
    return places, entries


def is_siconos(text: str) -> bool:
    """Whether the text begins like an LCP of Siconos: n, kind of storage, n and n again, a line each."""
    lines = list(itertools.islice((line.split() for line in text.splitlines() if line.strip()), 4))
    if [len(words) for words in lines] != [1, 1, 1, 1]:
        return False
    (n,), (storage,), (rows,), (columns,) = lines
    return storage in ("0", "1", "2") and n == rows == columns and n.isdecimal()


def parse_siconos(text: str, name: str) -> tuple[Matrix, Matrix]:
    """M and q of an LCP printed by Siconos, dense or block-sparse; what follows q is a remark."""
    words = _Words(text, name)
    n, storage = words.whole(), words.whole()
    rows, columns = words.whole(), words.whole()
    _sides(rows, columns, name)
    if storage == DENSE:
        if (words.whole(), words.whole()) != (rows, columns):
            raise DataError(f"{name} gives two different sizes for M; the first is {rows} x {columns}")
        flat = words.take(rows * columns)
        M = [[flat[i + rows * j] for j in range(columns)] for i in range(rows)]
    elif storage == BLOCKS:
        M = _blocks(words, rows, columns, name)
    else:
        raise DataError(f"{name} holds a matrix of Siconos' storage {storage}; dense (0) and blocks (1) can be read")
    q = words.take(n)
    return matrix_of(M, f"{name}, M"), matrix_of([[x] for x in q], f"{name}, q")


def _blocks(words: "_Words", rows: int, columns: int, name: str) -> list[list[str]]:
    """Blocks in compressed rows: their number, the ends of block rows and columns, two index arrays, the blocks."""
    count, block_rows, block_columns = words.whole(), words.whole(), words.whole()
    ends = [[0, *words.wholes(k)] for k in (block_rows, block_columns)]
    filled = [words.whole(), words.whole()]
    starts, places = words.wholes(filled[0]), words.wholes(filled[1])
    sound = (
        all(a == sorted(a) and a[-1] == side for a, side in zip(ends, (rows, columns), strict=True))
        and filled == [block_rows + 1, count]
        and starts == sorted(starts)
        and starts[0] == 0
        and starts[-1] == count
        and all(j < block_columns for j in places)
    )
    if not sound:
        raise DataError(f"{name}: the table of its {count} blocks does not fit a {rows} x {columns} matrix")
    M = [["0"] * columns for _ in range(rows)]
    for i in range(block_rows):
        for k in range(starts[i], starts[i + 1]):
            if words.whole() != k:
                raise DataError(f"{name}: the values of block {k} do not follow those of the one before")
            (top, bottom), (left, right) = (ends[axis][p : p + 2] for axis, p in ((0, i), (1, places[k])))
            values = words.take((bottom - top) * (right - left))
            for position, value in enumerate(values):
                column, row = divmod(position, bottom - top)
                M[top + row][left + column] = value
    return M


class _Words:
    """The words of a text, one after the other."""

    def __init__(self, text: str, name: str) -> None:
        self.found, self.name, self.at = re.finditer(r"\S+", text), name, 0

    def take(self, count: int) -> list[str]:
        words = [match.group() for match in itertools.islice(self.found, count)]
        self.at += len(words)
        if len(words) < count:
            raise DataError(
                f"{self.name} ends after {self.at} words, {count - len(words)} short of what its header says"
            )
        return words

    def wholes(self, count: int) -> list[int]:
        return [_whole(word, self.name) for word in self.take(count)]

    def whole(self) -> int:
        return self.wholes(1)[0]


def _whole(word: str, place: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= 12):
        raise DataError(f"{place}: {word[:40]!r} is not a whole number, which is needed here")
    return int(word)


def _sides(m: int, n: int, name: str) -> None:
    if not (1 <= m <= LARGEST_SIDE and 1 <= n <= LARGEST_SIDE):
        raise DataError(f"{name} says {m} x {n}; sides from 1 to {LARGEST_SIDE} can be read")
