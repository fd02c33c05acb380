"""Problems as Siconos prints them: LCP, MLCP, FrictionContactProblem (2D, 3D), GlobalFrictionContactProblem.

    LCP              n, M, q
    MLCP             flags of storage, n equations, m complementarities, [block ends, kinds, M, q], [A, B, C, D, a, b]
    local friction   dimension, contacts, M = W, q, mu
    global friction  dimension, contacts, M, H, q = f, b = w, mu

A matrix is its storage (0 dense, 1 sparse blocks, 2 sparse), rows, columns and entries. Dense matrices and blocks are
printed column by column, the parts A, B, C, D of an MLCP row by row. What follows the last number is a remark. Sizes
are judged against the length of the text before memory is taken.
"""

import itertools
import math
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.errors import DataError
from workbench.friction_problem import FrictionProblem, GlobalFrictionProblem, Sparse
from workbench.problems import LCP, MLCP, Array
from workbench.readers.matrix import LARGEST_SIDE

DENSE, BLOCKS, SPARSE = 0, 1, 2
TRIPLET, COLUMNS, ROWS = 1, 2, 3
"""Layouts of a sparse print-out; in that of rows the lines `col j` are rows."""
AT_ONCE = 100_000
"""Rows of words that are in memory at a time."""
LONGEST_HEAD = 40
"""Words of a sparse print-out before its size; CXSparse names its version and author."""
_WHOLE = re.compile(r"-?\d{1,12}", re.ASCII)

SiconosProblem = LCP | MLCP | FrictionProblem | GlobalFrictionProblem


class Words:
    """The words of a text one after the other, from position `end` on."""

    def __init__(self, text: str, name: str, end: int = 0) -> None:
        self.text, self.name, self.end = text, name, end
        self.found = re.compile(r"\S+").finditer(text, end)

    def room(self, count: int) -> None:
        """DataError unless `count` more words can follow: each takes two characters."""
        if 2 * count > len(self.text) - self.end + 1:
            raise DataError(f"{self.name} says that {count} more numbers follow, but it is too short; it is cut off")

    def take(self, count: int) -> list[str]:
        self.room(count)
        words, match = [], None
        for match in itertools.islice(self.found, count):
            words.append(match.group())
        if len(words) < count:
            raise DataError(f"{self.name} ends {count - len(words)} numbers short of what its header says")
        self.end = match.end() if match else self.end
        return words

    def table(self, rows: int, width: int) -> Iterator[tuple[slice, list[str]]]:
        """Rows of `width` words, some at a time: which rows, and their words."""
        self.room(rows * width)
        for start in range(0, rows, AT_ONCE):
            some = slice(start, min(start + AT_ONCE, rows))
            yield some, self.take(width * (some.stop - some.start))

    def numbers(self, count: int) -> Array:
        self.room(count)
        values = np.empty(count)
        for some, words in self.table(count, 1):
            values[some] = self.as_numbers(words)
        return values

    def wholes(self, count: int, least: int = 0) -> NDArray[np.int64]:
        self.room(count)
        values = np.empty(count, dtype=np.int64)
        for some, words in self.table(count, 1):
            values[some] = self.as_wholes(words, least)
        return values

    def whole(self, least: int = 0) -> int:
        return int(self.wholes(1, least)[0])

    def as_numbers(self, words: list[str]) -> list[float]:
        try:
            values = [float(word) for word in words]
        except ValueError:
            word = next(word for word in words if not _is_number(word))
            raise DataError(f"{self.name}: {word[:40]!r} stands where a number is needed") from None
        if not all(map(math.isfinite, values)):
            word = next(word for word, value in zip(words, values, strict=True) if not math.isfinite(value))
            raise DataError(f"{self.name} holds {word[:40]}; every number must be finite")
        return values

    def as_wholes(self, words: list[str], least: int = 0) -> list[int]:
        for word in words:
            if not (_WHOLE.fullmatch(word) and int(word) >= least):
                raise DataError(f"{self.name}: {word[:40]!r} stands where a whole number >= {least} is needed")
        return [int(word) for word in words]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def parse(text: str, name: str) -> SiconosProblem:
    """The problem in a text; which one its first numbers tell. Raises DataError in one line."""
    head = _head(text)
    first, second, third = head[:3] if len(head) >= 3 else (0, 0, 0)
    if third >= 1 and second in (DENSE, BLOCKS, SPARSE) and head[2:4] == [first, first] and first > 0:
        return _lcp(Words(text, name))
    if {first, second} <= {0, 1} and first + second > 0 and len(head) >= 4 and (not first or head[4:5] == [0]):
        return _mlcp(Words(text, name))
    if first in (2, 3) and third in (DENSE, BLOCKS, SPARSE) and second >= 1 and len(head) >= 5:
        return _friction(Words(text, name))
    raise DataError(
        f"{name} is no problem as Siconos prints them: its first numbers are {' '.join(map(str, head)) or 'missing'}; "
        "an LCP begins n 0 n n, an MLCP 1 1 n m 0, a friction problem 3 contacts 0"
    )


def _head(text: str) -> list[int]:
    """The whole numbers with which the text begins, at most five."""
    found = (match.group() for match in itertools.islice(re.finditer(r"\S+", text), 5))
    return [int(word) for word in itertools.takewhile(_WHOLE.fullmatch, found)]


def _lcp(words: Words) -> LCP:
    n = words.whole(1)
    M = _square(words, n)
    return LCP(M, words.numbers(n))


def _square(words: Words, n: int) -> Array:
    M = _matrix(words)
    if M.shape != (n, n):
        raise DataError(f"{words.name}: M is {M.shape[0]} x {M.shape[1]}; {n} x {n} is needed")
    if n > LARGEST_SIDE:
        raise DataError(f"{words.name}: M has {n} rows; at most {LARGEST_SIDE} can be read")
    return M.toarray() if sparse.issparse(M) else M


def _mlcp(words: Words) -> MLCP:
    whole, parts = words.whole(), words.whole()
    n, m = words.whole(), words.whole()
    size = n + m
    words.room(size)
    if not size:
        raise DataError(f"{words.name} is an MLCP without unknowns")
    equations = np.arange(size) < n
    if whole:
        ends, kinds = _blocks_of(words, size)
        equations = np.repeat(kinds, np.diff(ends)) == 0
        if equations.sum() != n:
            raise DataError(f"{words.name}: its blocks hold {equations.sum()} equations where its header says {n}")
        M, q = _square(words, size), words.numbers(size)
    if parts:
        A, B, C, D = (words.numbers(i * j).reshape(i, j) for i, j in ((n, n), (m, m), (n, m), (m, n)))
        a, b = words.numbers(n), words.numbers(m)
        order = np.concatenate([np.flatnonzero(equations), np.flatnonzero(~equations)])
        M_parts, q_parts = np.empty((size, size)), np.empty(size)
        M_parts[np.ix_(order, order)], q_parts[order] = np.block([[A, C], [D, B]]), np.concatenate([a, b])
        if whole and not (np.array_equal(M, M_parts) and np.array_equal(q, q_parts)):
            raise DataError(f"{words.name}: M and q differ from their parts A, B, C, D, a, b, which it also holds")
        M, q = M_parts, q_parts
    return MLCP(M, q, np.where(equations, -np.inf, 0.0), np.full(size, np.inf))


def _blocks_of(words: Words, size: int) -> tuple[list[int], NDArray[np.int64]]:
    """Where the blocks of rows begin and end, and the kind of each: 0 equations, 1 complementarities."""
    ends = [words.whole()]
    while ends[-1] < size:
        ends.append(words.whole(ends[-1] + 1))
    if ends[0] != 0 or ends[-1] != size:
        raise DataError(f"{words.name}: its blocks of rows end at {ends[-1]}; they must cover 0 to {size}")
    kinds = words.wholes(len(ends) - 1)
    if kinds.max() > 1:
        raise DataError(f"{words.name} has blocks of kind {kinds.max()}; 0 (equations) and 1 are known")
    return ends, kinds


def _friction(words: Words) -> FrictionProblem | GlobalFrictionProblem:
    dimension, contacts = words.whole(2), words.whole(1)
    size = dimension * contacts
    words.room(size)
    M = _matrix(words)
    if M.shape == (size, size):
        # A global problem may have as many velocities as contact rows; then a second matrix follows, which is H.
        try:
            return _global(Words(words.text, words.name, words.end), M, contacts, dimension)
        except DataError:
            q, mu = words.numbers(size), words.numbers(contacts)
            return FrictionProblem.from_contacts(M, q, mu, dimension - 1)
    return _global(words, M, contacts, dimension)


def _global(words: Words, M: Sparse, contacts: int, dimension: int) -> GlobalFrictionProblem:
    n, size = M.shape[0], dimension * contacts
    if M.shape[1] != n:
        raise DataError(f"{words.name}: M is {n} x {M.shape[1]}; square, or {size} x {size}, is needed")
    H = _matrix(words)
    if H.shape != (n, size):
        raise DataError(f"{words.name}: H is {H.shape[0]} x {H.shape[1]}; {n} x {size} is needed")
    f, w, mu = words.numbers(n), words.numbers(size), words.numbers(contacts)
    return GlobalFrictionProblem.from_contacts(M, H, f, w, mu, dimension - 1)


def _matrix(words: Words) -> Sparse:
    """Storage, rows, columns and entries of a matrix; an array where it is printed dense."""
    storage, rows, columns = words.whole(), words.whole(1), words.whole(1)
    # Vectors as long as its sides follow every matrix, so that these are bounded by the length of the text.
    words.room(max(rows, columns))
    if storage == DENSE:
        if words.wholes(2).tolist() != [rows, columns]:
            raise DataError(f"{words.name} gives two different sizes for a matrix; the first is {rows} x {columns}")
        return words.numbers(rows * columns).reshape(columns, rows).T
    if storage == BLOCKS:
        return _blocks(words, rows, columns)
    if storage == SPARSE:
        return _print_out(words, rows, columns)
    raise DataError(f"{words.name} has a matrix of storage {storage}; 0 dense, 1 blocks, 2 sparse are known")


def _blocks(words: Words, rows: int, columns: int) -> Sparse:
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
    # Block rows after the last filled one are left out of the first index array.
    tall, wide = np.repeat(np.arange(filled[0] - 1), np.diff(starts)), places
    tops, heights, lefts, widths = ends[0][tall], np.diff(ends[0])[tall], ends[1][wide], np.diff(ends[1])[wide]
    # Each block is its number and its values, column by column.
    sizes = heights * widths
    firsts = np.concatenate([[0], np.cumsum(sizes + 1)])[:-1]
    values = words.numbers(count + int(sizes.sum()))
    wrong = np.flatnonzero(values[firsts] != np.arange(count))
    if wrong.size:
        raise DataError(f"{words.name}: the values of block {wrong[0]} do not follow those of the one before")
    block = np.repeat(np.arange(count), sizes)
    place = np.arange(block.size) - (firsts - np.arange(count))[block]
    i, j = tops[block] + place % heights[block], lefts[block] + place // heights[block]
    return sparse.csr_array((np.delete(values, firsts), (i, j)), shape=(rows, columns))


def _print_out(words: Words, rows: int, columns: int) -> Sparse:
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
    words.room(3 * entries)
    i, j, x = np.empty(entries, int), np.empty(entries, int), np.empty(entries)
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
    return sparse.csr_array((x, (i, j)), shape=(rows, columns))


def _lines(words: Words, count: int, inner: NDArray[np.int64], outer: NDArray[np.int64], x: Array) -> None:
    """The entries of `count` columns (or rows), each with its head, into the three arrays."""
    words.take(2)
    done = 0
    for column in range(count):
        head = words.take(7)
        first, last = (int(w) if _WHOLE.fullmatch(w) else -2 for w in (head[4], head[6]))
        if head[:2] != ["col", str(column)] or first != done or not first - 1 <= last < x.size:
            raise DataError(f"{words.name}: '{' '.join(head)[:60]}' is no head of column {column} of {x.size} entries")
        for some, table in words.table(last + 1 - first, 3):
            here = slice(first + some.start, first + some.stop)
            inner[here], outer[here] = words.as_wholes(table[0::3]), column
            x[here] = words.as_numbers(table[2::3])
        done = last + 1
    if done != x.size:
        raise DataError(f"{words.name}: its columns hold {done} entries where its header says {x.size}")
