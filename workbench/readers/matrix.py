"""A matrix with its entries as floats and as exact rationals; from rows of text, and from a `.npy` file.

Exact values: a number in text is taken literally, so `0.1` is 1/10 and `4/3` is four thirds; a floating-point array
means the doubles (or integers) that it holds. `Matrix.values` is always the nearest double.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from tokenize import TokenError
from typing import IO, Any, BinaryIO

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.support.errors import DataError, in_short, naming
from workbench.support.numbers import parse_rational, parse_row

LARGEST_SIDE = 5000
"""Largest number of rows or columns: a dense diagnosis would take hours."""

AS_WRITTEN = "the numbers as written, exactly"
DOUBLES = "the stored doubles, each taken as an exact number (0.1 is 0.1 + 5.6e-18)"


@dataclass(frozen=True, eq=False)
class Matrix:
    """A real matrix, n x n or rectangular, at least 1 x 1.

    `values` (m, n) are finite doubles, read-only; `written` holds, for a matrix from text, one string per row
    with the entries as typed, separated by blanks; `notes` list parts of the text taken as names rather than numbers.
    `upper` are the upper end points of interval entries, in the same shape; this matrix then has the lower ones.
    Raises DataError for another shape or an entry that is not finite.
    """

    values: NDArray[np.float64]
    written: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    upper: "Matrix | None" = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=float)
        if values.ndim != 2 or values.size == 0:
            raise DataError(f"the array has shape {values.shape}; a matrix has two non-empty dimensions")
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise DataError(f"entry [{i}, {j}] is {values[i, j]}; every entry must be finite")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def judged(self) -> str:
        """The numbers that exact verdicts are about, as text."""
        return DOUBLES if self.written is None else AS_WRITTEN

    @cached_property
    def exact(self) -> fmpq_mat:
        """The entries as rationals (python-flint): as typed if they were text, else the doubles themselves."""
        if self.written is None:
            entries = [fmpq(*x.as_integer_ratio()) for x in self.values.ravel().tolist()]
        else:
            entries = [parse_rational(entry) for row in self.written for entry in row.split()]
        rows, columns = self.values.shape
        return fmpq_mat(rows, columns, entries)

    @cached_property
    def nonzero(self) -> int:
        """Number of entries other than zero, as doubles."""
        return int(np.count_nonzero(self.values))

    def part(self, a: list[int]) -> "Matrix":
        """The principal submatrix (len(a), len(a)) of these rows and columns, its entries as typed."""
        written = None
        if self.written is not None:
            rows = (self.written[i].split() for i in a)
            written = tuple(" ".join([row[j] for j in a]) for row in rows)
        return Matrix(self.values[np.ix_(a, a)], written)


class TextRows:
    """Rows of text for a matrix: each has its place in the text `name` and as many entries as the first."""

    def __init__(self, name: str) -> None:
        self.name, self.first = name, ""
        self.values: list[NDArray] = []
        self.written: list[str] = []

    @property
    def width(self) -> int:
        """Number of entries of a row; 0 before the first."""
        return len(self.values[0]) if self.values else 0

    def add(self, place: str, entries: list[str]) -> None:
        """Add a row from a place such as "line 3". Raises DataError for an entry that is not a number."""
        if max(len(entries), len(self.values) + 1) > LARGEST_SIDE:
            raise DataError(f"{self.name}, {place}: more than {LARGEST_SIDE} x {LARGEST_SIDE} entries; save fewer")
        row = parse_row(entries, lambda j: f"{self.name}, {place}, column {j + 1}") if entries else []
        if self.values and len(row) != self.width:
            raise DataError(
                f"{self.name}, {place} has {len(row)} entries, {self.first} has {self.width}; "
                "all rows must have the same length"
            )
        self.first = self.first or place
        self.values.append(np.array(row))
        self.written.append(" ".join(entries))

    def matrix(self, notes: Iterable[str] = ()) -> Matrix:
        """The matrix of all rows. Raises DataError if there are none."""
        if not self.values:
            raise DataError(f"{self.name} holds no numbers; write one matrix row per line, or [1 2; 3 4]")
        return Matrix(np.array(self.values), tuple(self.written), tuple(notes))


def matrix_of(rows: list[list[str]], place: str) -> Matrix:
    """The matrix of entries as typed; DataError gives the place of one that is not a number."""
    if max(len(rows), *map(len, rows)) > LARGEST_SIDE:
        raise DataError(f"{place} has more than {LARGEST_SIDE} x {LARGEST_SIDE} entries; save fewer")
    uneven = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if uneven is not None:
        raise DataError(
            f"{place}, row {uneven} has {len(rows[uneven])} entries, row 0 has {len(rows[0])}; "
            "all rows must have the same length"
        )
    # Most entries of a matrix in a sparse format are zeros.
    given = [{j: x for j, x in enumerate(row) if x != "0"} for row in rows]
    return sparse_matrix_of(given, len(rows[0]), place)


def sparse_matrix_of(rows: list[dict[int, str]], n: int, place: str) -> Matrix:
    """The matrix with n columns of entries as typed, by their columns; the others are zero."""
    values = np.zeros((len(rows), n))
    for i, row in enumerate(rows):
        if row:
            columns = list(row)
            values[i, columns] = parse_row(list(row.values()), partial(_place, place, i, columns))
    return Matrix(values, tuple(_row_text(row, n) for row in rows))


def _row_text(row: dict[int, str], n: int) -> str:
    pieces, last = [], 0
    for j in sorted(row):
        pieces += ["0 " * (j - last), row[j], " "]
        last = j + 1
    return "".join([*pieces, "0 " * (n - last)])[:-1]


def _place(name: str, i: int, columns: list[int], k: int) -> str:
    return f"{name}[{i}, {columns[k]}]"


def npy_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order (column-major or not) and type of the entries that follow in a .npy file. Raises DataError."""
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(file)
        if version not in readers:
            raise DataError(f"{name} has .npy format {version}; save a plain numeric array, format (1, 0) or (2, 0)")
        # numpy warns of headers written by Python 2.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return readers[version](file)
    except (ValueError, TypeError, OverflowError, MemoryError, RecursionError, SyntaxError, TokenError) as error:
        raise DataError(f"{name} is not a readable .npy file: {in_short(error, 80)}") from None


def exact_doubles(array: NDArray, name: str) -> NDArray[np.float64]:
    """Convert numbers to doubles. Raises DataError for integers that doubles may not represent."""
    if array.dtype.kind in "iu" and ((array > 2**53) | (array < -(2**53))).any():
        raise DataError(f"{name} holds integers beyond 2^53, which doubles cannot hold; save it as text")
    # The cast warns of a signalling NaN; values that are not finite are refused when the matrix is made.
    with np.errstate(invalid="ignore"):
        return array.astype(float)


def parse_npy(file: BinaryIO, file_size: int, name: str, vector: bool = False) -> Matrix:
    """The matrix of a .npy file, or its vector as a column if a vector is requested.

    The header is checked against the file's size before anything is allocated; nothing is ever unpickled.
    """
    shape, fortran_order, dtype = npy_header(file, name)
    if dtype.kind not in "biuf" or not np.can_cast(dtype, np.float64):
        raise DataError(f"{name} holds entries of type {str(dtype)[:40]}; real numbers of at most 64 bits are needed")
    if vector and len(shape) == 1:
        shape = (*shape, 1)
    if len(shape) != 2 or min(shape) < 1:
        raise DataError(f"{name} holds an array of shape {str(shape)[:60]}; a matrix has two non-empty dimensions")
    if max(shape) > LARGEST_SIDE:
        raise DataError(f"{name} says {str(shape)[:60]}; at most {LARGEST_SIDE} x {LARGEST_SIDE} can be read")
    needed, present = shape[0] * shape[1] * dtype.itemsize, file_size - file.tell()
    if present != needed:
        raise DataError(f"{name} has {present} bytes of data where {shape} entries of {dtype} need {needed}")
    array = np.frombuffer(file.read(needed), dtype).reshape(shape, order="F" if fortran_order else "C")
    with naming(name):
        return Matrix(exact_doubles(array, name))


def sparse_entries(name: str, shape: tuple[int, int], rows: Any, starts: Any, values: Any) -> Any:
    """The array of a sparse matrix: row indices, column starts, entries. Raises DataError."""
    m, n = shape
    if not (0 <= m <= LARGEST_SIDE and 0 <= n <= LARGEST_SIDE):
        raise DataError(f"{name} has shape {shape}; at most {LARGEST_SIDE} x {LARGEST_SIDE} can be read")
    rows, starts, values = (exact_doubles(x, name) for x in (rows, starts, values))
    if starts.size != n + 1 or starts[0] != 0 or not (np.diff(starts) >= 0).all():
        raise DataError(f"{name} has {starts.size} column starts, which do not fit {n} columns")
    count = int(starts[-1])
    if count > min(rows.size, values.size):
        raise DataError(f"{name} has {min(rows.size, values.size)} entries where its columns need {count}")
    i, j = rows[:count], np.repeat(np.arange(n), np.diff(starts).astype(np.int64))
    if ((i < 0) | (i >= m) | (i != np.floor(i))).any():
        raise DataError(f"{name} has entries outside its {m} x {n} matrix")
    full = np.zeros((m, n))
    np.add.at(full, (i.astype(np.int64), j), values[:count])
    return full
