"""Problems in Siconos' text format: LCP, relay, MLCP, FrictionContactProblem (2D, 3D), GlobalFrictionContactProblem.

    LCP              n, M, q
    relay            n, M, q, lower, upper
    MLCP             flags of storage, n equations, m complementarities, [block ends, kinds, M, q], [A, B, C, D, a, b]
    local friction   dimension, contacts, M = W, q, mu
    global friction  dimension, contacts, M, H, q = f, b = w, mu

A matrix is its storage (0 dense, 1 sparse blocks, 2 sparse), rows, columns and entries, which are read as doubles or,
for exact arithmetic, as typed. Dense matrices and blocks are printed column by column; the parts A, B, C, D of an MLCP
row by row. Sizes are checked against the length of the text before memory is allocated. Text after the last number is a
comment; but exactly 2 n numbers after an LCP, lower <= upper and not all equal, are the bounds of a relay.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.problems.classes import LCP, MLCP, Array
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem, Sparse
from workbench.readers.matrix import LARGEST_SIDE, Matrix, matrix_of
from workbench.support.errors import DataError
from workbench.support.numbers import exact_decimal, parse_entry

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

ROLLING = 5
"""Number of rows of a contact with rolling friction."""

SiconosProblem = LCP | MLCP | FrictionProblem | GlobalFrictionProblem
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


def parse(text: str, name: str) -> SiconosProblem:
    """Parse the problem in a text; its first numbers tell the kind. Raises DataError in one line."""
    head = _head(text)
    first, second, third, fourth, fifth = (*head, *[-1] * 5)[:5]
    # An MLCP of one equation and one complementarity begins 1 1 1 1 0, an LCP of one unknown 1 1 1 1 and a size.
    if {first, second} in ({0, 1}, {1}) and min(third, fourth) >= 0 and (not first or fifth == 0):
        return _mlcp(Words(text, name))
    if first > 0 and second in STORAGES and third == fourth == first:
        return _lcp(Words(text, name))
    # Without contacts there is no local problem, but a global one, which begins with a square M.
    if first in (2, 3) and (second >= 1 or (second == 0 and fourth == fifth)) and third in STORAGES and len(head) == 5:
        return _friction(Words(text, name))
    raise DataError(f"{name} {_other_kind(head) or _nothing_known(head)}")


def _head(text: str) -> list[int]:
    """The integers with which the text begins, at most five."""
    found = (match.group() for match in itertools.islice(re.finditer(r"\S+", text), 5))
    return [int(word) for word in itertools.takewhile(WHOLE.fullmatch, found)]


def _other_kind(head: list[int]) -> str | None:
    """The other Siconos format that the text is in, and the supported ones; None if it is unknown."""
    if len(head) == 5 and head[1] >= 1 and head[2] in STORAGES:
        size, count, _, rows, columns = head
        if size == ROLLING and rows > 1:
            return f"is rolling friction of {count} contacts with {ROLLING} rows each; contacts of 2 or 3 can be read"
        if size == rows == columns and count < size:
            return f"is a second-order cone LCP of {size} unknowns in {count} cones; friction problems can be read"
    if len(head) >= 3 and head[0] in STORAGES and head[1] == head[2] >= 1:
        return (
            f"begins with a {head[1]} x {head[2]} matrix, as a bare matrix or a generic mechanical problem does; "
            "an LCP, a relay, an MLCP or a friction problem can be read"
        )
    return None


def _nothing_known(head: list[int]) -> str:
    return (
        f"is not a problem in Siconos' text format: it begins with {' '.join(map(str, head)) or 'no whole numbers'}; "
        "an LCP begins n 0 n n, an MLCP 1 1 n m 0, a friction problem 3 contacts 0"
    )


def _lcp(words: Words) -> LCP | MLCP:
    n = words.whole(1)
    M, q = _entries(words, n).dense(), words.numbers(n)
    bounds = _bounds(words, n)
    return MLCP(M, q, *bounds) if bounds else LCP(M, q)


def _entries(words: Words, n: int) -> Entries:
    M = read_entries(words)
    if M.shape != (n, n):
        raise DataError(f"{words.name}: M is {M.shape[0]} x {M.shape[1]}; {n} x {n} is needed")
    return M


def _bounds(words: Words, n: int) -> tuple[Array, Array] | None:
    """The bounds of a relay, if exactly 2 n valid numbers follow."""
    rest = [match.group() for match in itertools.islice(words.found, 2 * n + 1)]
    try:
        lower, upper = np.split(np.array(Words.as_numbers(words, rest)), 2)
    except (DataError, ValueError):
        return None
    fitting = lower.size == n and (lower <= upper).all() and (lower < upper).any()
    return (lower, upper) if fitting else None


def is_lcp(text: str) -> bool:
    """Return whether the text begins like an LCP: n, kind of storage, n and n again, one per line."""
    lines = list(itertools.islice((line.split() for line in text.splitlines() if line.strip()), 4))
    if [len(words) for words in lines] != [1, 1, 1, 1]:
        return False
    (n,), (storage,), (rows,), (columns,) = lines
    return storage in map(str, STORAGES) and n == rows == columns and n.isdecimal()


def parse_typed_lcp(text: str, name: str) -> tuple[Matrix, Matrix]:
    """M (n, n) and q (n, 1) of an LCP, their entries as typed. Raises DataError in one line."""
    words = TypedWords(text, name)
    n = words.whole(1)
    M, q = _entries(words, n), words.numbers(n)
    if _bounds(words, n):
        raise DataError(f"{name} is a relay, {n} unknowns with two bounds each; an LCP is needed here")
    return M.typed(f"{name}, M"), matrix_of([[x] for x in q], f"{name}, q")


def _mlcp(words: Words) -> MLCP:
    whole, parts = words.whole(), words.whole()
    n, m = words.whole(), words.whole()
    size = n + m
    words.must_hold(size)
    if not size:
        raise DataError(f"{words.name} is an MLCP without unknowns")
    equations = np.arange(size) < n
    if whole:
        ends, kinds = _blocks_of(words, size)
        equations = np.repeat(kinds, np.diff(ends)) == 0
        if equations.sum() != n:
            raise DataError(f"{words.name}: its blocks hold {equations.sum()} equations where its header says {n}")
        entries = read_entries(words)
        if entries.shape[0] > size == entries.shape[1] and parts and equations[:n].all():
            return _tall_mlcp(words, entries.dense(), n, m)
        if entries.shape != (size, size):
            raise DataError(f"{words.name}: M is {entries.shape[0]} x {entries.shape[1]}; {size} x {size} is needed")
        M, q = entries.dense(), words.numbers(size)
    if parts:
        A, B, C, D, a, b = _parts(words, n, m)
        order = np.concatenate([np.flatnonzero(equations), np.flatnonzero(~equations)])
        M_parts, q_parts = np.empty((size, size)), np.empty(size)
        M_parts[np.ix_(order, order)], q_parts[order] = np.block([[A, C], [D, B]]), np.concatenate([a, b])
        if whole and not (np.array_equal(M, M_parts) and np.array_equal(q, q_parts)):
            raise DataError(f"{words.name}: M and q differ from their parts A, B, C, D, a, b, which it also holds")
        M, q = M_parts, q_parts
    return MLCP(M, q, np.where(equations, -np.inf, 0.0), np.full(size, np.inf))


def _parts(words: Words, n: int, m: int) -> tuple[Array, ...]:
    """A (n, n), B (m, m), C (n, m), D (m, n), a (n,), b (m,)."""
    A, B, C, D = (words.numbers(i * j).reshape(i, j) for i, j in ((n, n), (m, m), (n, m), (m, n)))
    return A, B, C, D, words.numbers(n), words.numbers(m)


def _tall_mlcp(words: Words, M: Array, n: int, m: int) -> MLCP:
    """The MLCP of a tall M (rows, n + m), with rows - m > n equations: missing free unknowns for a square matrix are
    added as zero columns, after u.

    Only n + m numbers of such a q are printed, and of A and C those given by their strides; the end of q is b.
    """
    rows, size = M.shape
    q = words.numbers(size)
    _, B, _, D, _, b = _parts(words, n, m)
    known = rows - m
    if known > size:
        raise DataError(f"{words.name}: M is {rows} x {size}, and q is printed with {size} numbers; {known} are needed")
    if not (np.array_equal(M[known:], np.hstack([D, B])) and np.array_equal(q[known:], b[: size - known])):
        raise DataError(f"{words.name}: M and q differ from their parts D, B, b, which it also holds")
    square = np.hstack([M[:, :n], np.zeros((rows, rows - size)), M[:, n:]])
    lower = np.where(np.arange(rows) < known, -np.inf, 0.0)
    return MLCP(square, np.concatenate([q[:known], b]), lower, np.full(rows, np.inf))


def _blocks_of(words: Words, size: int) -> tuple[list[int], NDArray[np.int64]]:
    """Start and end of the blocks of rows, and the kind of each: 0 equations, 1 complementarities."""
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
    dimension, contacts = words.whole(2), words.whole()
    size = dimension * contacts
    words.must_hold(size)
    M = read_entries(words).matrix()
    if M.shape == (size, size):
        # A global problem may have as many velocities as contact rows; then a second matrix follows, which is H.
        try:
            return _global(words.again(), M, contacts, dimension)
        except DataError:
            q, mu = words.numbers(size), words.numbers(contacts)
            return FrictionProblem.from_contacts(M, q, mu, dimension - 1)
    return _global(words, M, contacts, dimension)


def _global(words: Words, M: Sparse, contacts: int, dimension: int) -> GlobalFrictionProblem:
    n, size = M.shape[0], dimension * contacts
    if M.shape[1] != n:
        raise DataError(f"{words.name}: M is {n} x {M.shape[1]}; square, or {size} x {size}, is needed")
    H = read_entries(words).matrix()
    if H.shape != (n, size):
        raise DataError(f"{words.name}: H is {H.shape[0]} x {H.shape[1]}; {n} x {size} is needed")
    f, w, mu = words.numbers(n), words.numbers(size), words.numbers(contacts)
    return GlobalFrictionProblem.from_contacts(M, H, f, w, mu, dimension - 1)


def write_siconos(problem: SiconosProblem, path: str | Path) -> None:
    """Print a problem as Siconos does. Raises DataError for bounds that neither an MLCP nor a relay has, and for G.

    Every number is read back as the same double; those of an LCP are exact, since they are also read literally.
    """
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in _printed(problem))


def _printed(problem: SiconosProblem) -> Iterator[str]:
    """The lines of a problem."""
    if isinstance(problem, LCP):
        yield from _printed_lcp(problem)
    elif isinstance(problem, MLCP):
        yield from _printed_mlcp(problem)
    elif isinstance(problem, FrictionProblem):
        W, q = problem.by_contacts()
        yield from (str(1 + problem.d), str(problem.contacts), *print_matrix(W), _line(q), _line(problem.mu))
    elif problem.G.shape[1]:
        raise DataError(
            f"Siconos' layout has no bilateral constraints, and this problem has {problem.G.shape[1]}; write it as "
            ".hdf5, .npz or .mat, or as a local one"
        )
    else:
        H, w = problem.by_contacts()
        yield from (str(1 + problem.d), str(problem.contacts), *print_matrix(problem.M), *print_matrix(H))
        yield from map(_line, (problem.f, w, problem.mu))


def _printed_lcp(problem: MLCP) -> Iterator[str]:
    yield str(problem.size)
    yield from print_dense(problem.M, exact_decimal)
    yield " ".join(map(exact_decimal, problem.q.tolist()))


def _printed_mlcp(problem: MLCP) -> Iterator[str]:
    """Equations and complementarities by blocks of rows, or a relay."""
    lower, upper = problem.lower, problem.upper
    if np.isfinite([lower, upper]).all() and (lower < upper).any():
        yield from (*_printed_lcp(problem), _line(lower), _line(upper))
        return
    equations = lower == -np.inf
    other = (upper != np.inf) | ~(equations | (lower == 0))
    if other.any():
        i = int(np.argmax(other))
        raise DataError(
            f"Siconos' layouts have rows from -inf to inf or 0 to inf, or bounds that are all finite and not all "
            f"equal; row {i} goes from {lower[i]:g} to {upper[i]:g}; write the MLCP as .npz or .mat"
        )
    ends = [0, *(np.flatnonzero(np.diff(equations)) + 1).tolist(), problem.size]
    yield from ("1", "0", str(equations.sum()), str((~equations).sum()), " ".join(map(str, ends)))
    yield " ".join("0" if equations[k] else "1" for k in ends[:-1])
    yield from (*print_dense(problem.M), _line(problem.q))


def _line(values: Array) -> str:
    return " ".join(map(repr, values.tolist()))
