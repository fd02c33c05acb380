"""A matrix from a text file, a `.npy` file or standard input, with its entries as floats and as exact rationals.

What counts as exact: a number written in text means what it says, so `0.1` is 1/10 and `4/3` is four thirds; a
floating-point array means the doubles (or integers) it holds. `Matrix.values` is always the nearest double.
"""

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from typing import IO, BinaryIO

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.errors import DataError

LARGEST_SIDE = 5000
"""Rows or columns beyond which a file is refused: a dense diagnosis would take hours."""
LARGEST_TEXT = 200_000_000
"""Characters of text read at most; a 5000 x 5000 matrix at 7 characters an entry."""
LONGEST_ENTRY = 1000
"""Characters of one number; a double needs at most 767 significant digits."""

# At most four digits of exponent: a longer one lies outside the range of doubles, and expanding it could fill memory.
_NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?)", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Matrix:
    """A real matrix, n x n or rectangular, at least 1 x 1.

    `values` (m, n) are finite doubles, read-only; `written` holds, for a matrix that came as text, one string per row
    with the entries as typed, separated by blanks. Raises DataError for another shape or an entry that is not finite.
    """

    values: NDArray[np.float64]
    written: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=float)
        if values.ndim != 2 or values.size == 0:
            raise DataError(f"the array has shape {values.shape}; a matrix has two non-empty dimensions")
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise DataError(f"entry [{i}, {j}] is {values[i, j]}; every entry must be finite")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @cached_property
    def exact(self) -> fmpq_mat:
        """The entries as rationals (python-flint): as typed where they were text, else the doubles themselves."""
        if self.written is None:
            entries = [fmpq(*x.as_integer_ratio()) for x in self.values.ravel().tolist()]
        else:
            fractions = (Fraction(entry) for row in self.written for entry in row.split())
            entries = [fmpq(x.numerator, x.denominator) for x in fractions]
        rows, columns = self.values.shape
        return fmpq_mat(rows, columns, entries)


def read_matrix(path: str | Path) -> Matrix:
    """Read a matrix from a text file, from a `.npy` file (by its suffix), or as text from standard input (`-`).

    Text has one row a line, entries separated by commas, semicolons or white space (the first row decides which),
    as integers, decimals or rationals `p/q`; `#` starts a comment. Raises DataError, in one line with the place and
    the offending text, for anything else.
    """
    if str(path) != "-" and Path(path).suffix.lower() == ".npy":
        with opened(path) as (file, size, name):
            return parse_npy(file, size, name)
    return parse_text(*read_text(path))


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[BinaryIO, int, str]]:
    """The open file, its size in bytes and its short name; DataError, in one line, where it cannot be read."""
    path = Path(path)
    shown = str(path) if len(str(path)) <= 100 else "..." + str(path)[-100:]
    try:
        if path.is_dir():
            raise DataError(f"{shown} is a folder; name a text or .npy file")
        with path.open("rb") as file:
            yield file, path.stat().st_size, path.name or str(path)
    except FileNotFoundError:
        raise DataError(f"{shown} does not exist; name a text or .npy file, or - for standard input") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{shown!r} cannot be read: {reason}; name a text or .npy file") from None


def read_text(path: str | Path) -> tuple[str, str]:
    """The text of a file, or of standard input (`-`), and the name to call it by. Raises DataError."""
    if str(path) == "-":
        text, name = _decoded("standard input", lambda: sys.stdin.read(LARGEST_TEXT + 1)), "standard input"
    else:
        with opened(path) as (file, size, name):
            # What says that it has no bytes may be a pipe.
            content = file.read(min(size, LARGEST_TEXT + 1) or LARGEST_TEXT + 1)
        # Cut where the limit is: a character that this splits is not what is wrong.
        text = _decoded(name, lambda: content.decode("utf-8", "strict" if len(content) <= LARGEST_TEXT else "ignore"))
    if len(text) > LARGEST_TEXT:
        raise DataError(f"{name} is longer than {LARGEST_TEXT // 10**6} million characters; save it as .npy")
    return text.removeprefix("\ufeff"), name


def _decoded(name: str, read: Callable[[], str]) -> str:
    try:
        return read()
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start} is not UTF-8 text; give a text file or a .npy array") from None


def parse_text(text: str, name: str) -> Matrix:
    """The matrix of a text with one row a line."""
    values: list[NDArray] = []
    written: list[str] = []
    separator, first_line = None, 0
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        if not values:
            separator, first_line = next((s for s in ";," if s in line), None), number
        entries = [entry.strip() for entry in line.split(separator)]
        if max(len(entries), len(values) + 1) > LARGEST_SIDE:
            raise DataError(f"{name}, line {number}: more than {LARGEST_SIDE} x {LARGEST_SIDE} entries; save fewer")
        places = (f"{name}, line {number}, column {j}" for j in range(1, len(entries) + 1))
        row = np.array([parse_entry(entry, place) for entry, place in zip(entries, places, strict=True)])
        if values and len(row) != len(values[0]):
            raise DataError(
                f"{name}, line {number} has {len(row)} entries, line {first_line} has {len(values[0])}; "
                "every row must have the same number"
            )
        values.append(row)
        written.append(" ".join(entries))
    if not values:
        raise DataError(f"{name} holds no numbers; write one matrix row a line")
    return Matrix(np.array(values), tuple(written))


def parse_entry(entry: str, place: str) -> float:
    """The double nearest to an entry of text; `place` names it in a refusal."""
    shown = repr(entry if len(entry) <= 40 else entry[:37] + "...")
    if not entry:
        raise DataError(f"{place} is empty; every row needs a number in every column")
    if len(entry) > LONGEST_ENTRY:
        raise DataError(f"{place}: {shown} has {len(entry)} characters; at most {LONGEST_ENTRY} are read")
    if _NOT_FINITE.fullmatch(entry):
        raise DataError(f"{place} is {entry}; every entry must be finite")
    if not _NUMBER.fullmatch(entry):
        raise DataError(f"{place}: {shown} is not a number; write 2, -0.5, 1e-3 or 4/3")
    numerator, _, denominator = entry.partition("/")
    try:
        # The quotient of two Python integers is correctly rounded, however large they are.
        value = int(numerator) / int(denominator) if denominator else float(entry)
    except ZeroDivisionError:
        raise DataError(f"{place}: {shown} divides by zero; give a nonzero denominator") from None
    except OverflowError:
        value = np.inf
    if not np.isfinite(value):
        raise DataError(f"{place}: {shown} exceeds the largest double, 1.8e308; change the units")
    return value


def exact_decimal(x: float) -> str:
    """Digits that mean exactly this double: text is read as typed, and the shortest digits, 0.1, mean 1/10."""
    return str(Decimal(x))


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
    values = np.empty((len(rows), len(rows[0])))
    # Zeros are most of what a sparse format leaves out.
    zero = {"0": 0.0}
    for i, row in enumerate(rows):
        values[i] = [zero[x] if x in zero else parse_entry(x, f"{place}[{i}, {j}]") for j, x in enumerate(row)]
    return Matrix(values, tuple(" ".join(row) for row in rows))


def npy_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether it goes by columns, and type of the entries that follow in a .npy file. Raises DataError."""
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(file)
        if version not in readers:
            raise DataError(f"{name} has .npy format {version}; save a plain numeric array, format (1, 0) or (2, 0)")
        # numpy warns of headers that Python 2 has written.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return readers[version](file)
    except (ValueError, TypeError, OverflowError, MemoryError, RecursionError, SyntaxError, TokenError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:80]
        raise DataError(f"{name} is not a readable .npy file: {reason}") from None


def exact_doubles(array: NDArray, name: str) -> NDArray[np.float64]:
    """Numbers as doubles. Raises DataError for integers that these may not hold."""
    if array.dtype.kind in "iu" and ((array > 2**53) | (array < -(2**53))).any():
        raise DataError(f"{name} holds integers beyond 2^53, which doubles cannot hold; save it as text")
    # Of a signalling nan the cast warns; what is not finite is refused where the matrix is made.
    with np.errstate(invalid="ignore"):
        return array.astype(float)


def parse_npy(file: BinaryIO, file_size: int, name: str, vector: bool = False) -> Matrix:
    """The matrix of a .npy file, or its vector as a column where one is wanted.

    The header is judged against the file's size before anything is allocated; nothing is ever unpickled.
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
    try:
        return Matrix(exact_doubles(array, name))
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
