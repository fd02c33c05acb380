"""Numbers and matrices in Siconos' print format, as doubles or, for exact arithmetic, as typed.

A matrix is its storage (0 dense, 1 sparse blocks, 2 sparse), rows, columns and entries. Dense matrices and blocks are
printed column by column. Sizes are checked against the length of the text before memory is allocated.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.problems.classes import Array
from workbench.problems.friction_problem import Sparse
from workbench.readers.matrix import LARGEST_SIDE, Matrix, matrix_of
from workbench.support.errors import DataError
from workbench.support.numbers import parse_entry

DENSE, BLOCKS, SPARSE = STORAGES = 0, 1, 2
TRIPLET, COLUMNS, ROWS = 1, 2, 3
"""Layouts of a sparse print-out; in the one by rows the lines `col j` are rows."""
AT_ONCE = 100_000
"""Number of rows of words that are in memory at a time."""
LONGEST_HEAD = 40
"""Words of a sparse print-out before its size; CXSparse prints its version and author."""
HEADER = "CXSparse"
"""First line of a sparse print-out; CXSparse prints its version, date and author."""
WHOLE = re.compile(r"-?\d{1,12}", re.ASCII)

Numbers = NDArray[Any]
"""Doubles, or words as typed."""


class Words:
    """The words of a text in order, from position `end` on; numbers among them become doubles."""

    dtype: type = float

    def __init__(self, text: str, name: str, end: int = 0) -> None:
        self.text, self.name, self.end = text, name, end
        self.found = re.compile(r"\S+").finditer(text, end)

    def again(self) -> "Words":
        """A copy from here on, to look ahead."""
        return type(self)(self.text, self.name, self.end)

    def must_hold(self, count: int) -> None:
        """Raise DataError unless `count` more words can follow: each takes two characters."""
        if 2 * count > len(self.text) - self.end + 1:
            raise DataError(f"{self.name} says that {count} more numbers follow, but it is too short; it is cut off")

    def take(self, count: int) -> list[str]:
        self.must_hold(count)
        words, match = [], None
        for match in itertools.islice(self.found, count):
            words.append(match.group())
        if len(words) < count:
            raise DataError(f"{self.name} ends {count - len(words)} short of the numbers that its header says")
        self.end = match.end() if match else self.end
        return words

    def table(self, rows: int, width: int) -> Iterator[tuple[slice, list[str]]]:
        """Rows of `width` words, some at a time: which rows, and their words."""
        self.must_hold(rows * width)
        for start in range(0, rows, AT_ONCE):
            some = slice(start, min(start + AT_ONCE, rows))
            yield some, self.take(width * (some.stop - some.start))

    def numbers(self, count: int) -> Numbers:
        self.must_hold(count)
        values: Numbers = np.empty(count, dtype=self.dtype)
        for some, words in self.table(count, 1):
            values[some] = self.as_numbers(words)
        return values

    def wholes(self, count: int, least: int = 0) -> NDArray[np.int64]:
        self.must_hold(count)
        values = np.empty(count, dtype=np.int64)
        for some, words in self.table(count, 1):
            values[some] = self.as_wholes(words, least)
        return values

    def whole(self, least: int = 0) -> int:
        return int(self.wholes(1, least)[0])

    def as_numbers(self, words: list[str]) -> list[Any]:
        try:
            values = [float(word) for word in words]
        except ValueError:
            word = next(word for word in words if not _is_number(word))
            raise DataError(f"{self.name}: {word[:40]!r} found where a number is needed") from None
        if not all(map(math.isfinite, values)):
            word = next(word for word, value in zip(words, values, strict=True) if not math.isfinite(value))
            raise DataError(f"{self.name} holds {word[:40]}; every number must be finite")
        return values

    def as_wholes(self, words: list[str], least: int = 0) -> list[int]:
        for word in words:
            if not (WHOLE.fullmatch(word) and int(word) >= least):
                raise DataError(f"{self.name}: {word[:40]!r} found where a whole number >= {least} is needed")
        return [int(word) for word in words]


class TypedWords(Words):
    """Words whose numbers are kept as typed: rationals `4/3` are allowed too, and all are exact."""

    dtype = object

    def as_numbers(self, words: list[str]) -> list[Any]:
        for word in words:
            parse_entry(word, self.name)
        return words


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Entries:
    """A matrix as printed in the text called `name`.

    `values` are all of a dense one (rows, columns), or the entries (k,) at rows `i` and columns `j`.
    """

    name: str
    shape: tuple[int, int]
    values: Numbers
    i: NDArray[np.int64] | None = None
    j: NDArray[np.int64] | None = None

    def matrix(self) -> Sparse:
        """An array if it is printed dense, else sparse; repeated entries are added."""
        return self.values if self.i is None else sparse.csr_array((self.values, (self.i, self.j)), shape=self.shape)

    def dense(self) -> Array:
        """The matrix as an array. Raises DataError if a dimension is too long."""
        self._short(self.name)
        M = self.matrix()
        return M.toarray() if sparse.issparse(M) else M

    def typed(self, place: str) -> Matrix:
        """The matrix with its entries as typed. Raises DataError if one is repeated."""
        self._short(place)
        if self.i is None or self.j is None:
            return matrix_of(self.values.tolist(), place)
        if np.unique(self.i * self.shape[1] + self.j).size < self.values.size:
            raise DataError(f"{place} gives an entry twice; every place may be named once")
        full = np.full(self.shape, "0", dtype=object)
        full[self.i, self.j] = self.values
        return matrix_of(full.tolist(), place)

    def _short(self, place: str) -> None:
        if max(self.shape) > LARGEST_SIDE:
            raise DataError(f"{place} is {self.shape[0]} x {self.shape[1]}; sides up to {LARGEST_SIDE} can be read")


def read_entries(words: Words) -> Entries:
    """Storage, rows, columns and entries of a matrix. Raises DataError."""
    storage, rows, columns = words.whole(), words.whole(1), words.whole()
    # Vectors as long as its dimensions follow every matrix, so these are bounded by the length of the text.
    words.must_hold(max(rows, columns))
    if storage == DENSE:
        if words.wholes(2).tolist() != [rows, columns]:
            raise DataError(f"{words.name} gives two different sizes for a matrix; the first is {rows} x {columns}")
        return Entries(words.name, (rows, columns), words.numbers(rows * columns).reshape(columns, rows).T)
    if storage == BLOCKS:
        return _blocks(words, rows, columns)
    if storage == SPARSE:
        return _print_out(words, rows, columns)
    raise DataError(f"{words.name} has a matrix of storage {storage}; 0 dense, 1 blocks, 2 sparse are known")


def _blocks(words: Words, rows: int, columns: int) -> Entries:
    """Numbers of blocks, block rows, block columns; the ends of these; two arrays of compressed rows; the blocks."""
    count, *shape = words.wholes(3)
    ends = [np.concatenate([[0], words.wholes(k)]) for k in shape]
    filled = words.wholes(2)
    starts, places = (words.wholes(k) for k in filled)
    sound = (
        all((np.diff(e) > 0).all() and e[-1] == side for e, side in zip(ends, (rows, columns), strict=True))
        and 1 <= filled[0] <= shape[0] + 1
        and filled[1] == count
        and (np.diff(starts) >= 0).all()
        and (starts[0], starts[-1]) == (0, count)
        and (places < shape[1]).all()
    )
    if not sound:
        raise DataError(f"{words.name}: the table of its {count} blocks does not fit a {rows} x {columns} matrix")
    # The first index array omits block rows after the last filled one.
    tall, wide = np.repeat(np.arange(filled[0] - 1), np.diff(starts)), places
    tops, heights, lefts, widths = ends[0][tall], np.diff(ends[0])[tall], ends[1][wide], np.diff(ends[1])[wide]
    # Each block is its number and its values, column by column.
    sizes = heights * widths
    firsts = np.concatenate([[0], np.cumsum(sizes + 1)])[:-1]
    values = words.numbers(count + int(sizes.sum()))
    wrong = [k for k, value in enumerate(values[firsts]) if Fraction(value) != k]
    if wrong:
        raise DataError(f"{words.name}: the values of block {wrong[0]} do not follow those of the one before")
    block = np.repeat(np.arange(count), sizes)
    place = np.arange(block.size) - (firsts - np.arange(count))[block]
    i, j = tops[block] + place % heights[block], lefts[block] + place // heights[block]
    return Entries(words.name, (rows, columns), np.delete(values, firsts), i, j)


def _print_out(words: Words, rows: int, columns: int) -> Entries:
    """A sparse matrix as CXSparse prints it: `col j : locations a to b` and `i : x`, or triplets `i j : x`."""
    layout, word, before = words.whole(), "", ""
    if layout not in (TRIPLET, COLUMNS, ROWS):
        raise DataError(f"{words.name} has a sparse matrix of layout {layout}; 1 triplets, 2 columns, 3 rows are known")
    for _ in range(LONGEST_HEAD):
        before, word = word, words.take(1)[0]
        if "-by-" in word:
            break
    sides = words.as_wholes(word.rstrip(",").split("-by-", 1))
    if sides != [rows, columns]:
        raise DataError(f"{words.name}: the sparse print-out is {word[:40]}; {rows} x {columns} is needed")
    entries = words.as_wholes([words.take(4)[3].rstrip(",")])[0]
    words.must_hold(3 * entries)
    i, j = np.empty(entries, int), np.empty(entries, int)
    x: Numbers = np.empty(entries, dtype=words.dtype)
    if before == "triplet:":
        for some, table in words.table(entries, 4):
            i[some], j[some] = words.as_wholes(table[0::4]), words.as_wholes(table[1::4])
            x[some] = words.as_numbers(table[3::4])
    elif layout == ROWS:
        _lines(words, rows, j, i, x)
    else:
        _lines(words, columns, i, j, x)
    if entries and (i.max() >= rows or j.max() >= columns):
        raise DataError(f"{words.name} has an entry ({i.max()}, {j.max()}) outside its {rows} x {columns} matrix")
    return Entries(words.name, (rows, columns), x, i, j)


def _lines(words: Words, count: int, inner: NDArray[np.int64], outer: NDArray[np.int64], x: Numbers) -> None:
    """Read the entries of `count` columns (or rows), each with its header, into the three arrays."""
    words.take(2)
    done = 0
    for column in range(count):
        head = words.take(7)
        first, last = (int(w) if WHOLE.fullmatch(w) else -2 for w in (head[4], head[6]))
        if head[:2] != ["col", str(column)] or first != done or not first - 1 <= last < x.size:
            raise DataError(
                f"{words.name}: '{' '.join(head)[:60]}' is not the head of column {column} of {x.size} entries"
            )
        for some, table in words.table(last + 1 - first, 3):
            here = slice(first + some.start, first + some.stop)
            inner[here], outer[here] = words.as_wholes(table[0::3]), column
            x[here] = words.as_numbers(table[2::3])
        done = last + 1
    if done != x.size:
        raise DataError(f"{words.name}: its columns hold {done} entries where its header says {x.size}")


def print_matrix(A: Sparse) -> Iterator[str]:
    """The lines of a sparse matrix: triplets if most entries are zero, else dense.

    A 2 x 2 matrix is always dense: for one contact in the plane, its triplets would begin like an LCP.
    """
    rows, columns = A.shape
    if rows == 2 or 2 * A.nnz > rows * columns:
        yield from print_dense(A.toarray())
        return
    T = sparse.coo_array(A)
    yield from (str(SPARSE), str(rows), str(columns), str(TRIPLET), HEADER)
    yield f"triplet: {rows}-by-{columns}, nzmax: {T.nnz} nnz: {T.nnz}"
    yield from (f"    {i} {j} : {x!r}" for i, j, x in zip(*map(np.ndarray.tolist, (T.row, T.col, T.data)), strict=True))


def print_dense(A: Array, number: Callable[[float], str] = repr) -> Iterator[str]:
    """The lines of an array, one column each; `number` prints an entry."""
    rows, columns = A.shape
    yield from (str(DENSE), str(rows), str(columns), f"{rows}\t{columns}")
    yield from (" ".join(map(number, column.tolist())) for column in A.T)
