"""An LCP (q, M) from a file: M, and q if the file or a second one has it.

The extension determines the format: `.npy`, `.npz`, `.mat`, `.mtx` (MatrixMarket), `.json`, `.dat` (Siconos, if its
first four lines are those of an LCP), else text (`text`; JSON if it begins with a brace). A matrix in brackets instead
of a file name is such a text itself. If there are two matrices they are called M and q; a single one is M, and
FILE.npz:NAME selects one by name. Two arrays of an archive called mid and rad, or midpoint and radius, are intervals.
Nothing is ever unpickled, and sizes are checked before memory is allocated.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from workbench.readers.intervals import ends, within
from workbench.readers.matlab import read_variables
from workbench.readers.matrix import Matrix, matrix_of, parse_npy
from workbench.readers.matrix_market import parse_market
from workbench.readers.npz import unreadable
from workbench.readers.siconos import is_lcp, parse_typed_lcp
from workbench.readers.text import opened, parse_text, read_text
from workbench.support.errors import DataError, naming

LARGEST_FILE = 500_000_000
"""Largest size of a MATLAB file [bytes]."""
INTERVALS = (("mid", "rad"), ("midpoint", "radius"))
"""Names of midpoints and radii in an archive."""
SCIPY = {"indices", "indptr", "shape", "data", "format"}
"""Names of the arrays in an archive that scipy.sparse.save_npz writes, of compressed rows or columns."""
_WRITTEN_OUT = re.compile(r"\s*([^\W\d]\w*\s*=\s*)?((np\.|numpy\.)?(array|matrix|Matrix)\s*\(\s*)?[\[{]")
_MEMBER = re.compile(r"(.+\.(?:npz|mat)):([^:/\\]+)", re.IGNORECASE)


def name_of(path: str | Path) -> str:
    """Display name of a file, of standard input or of a matrix given directly."""
    return "standard input" if str(path) == "-" else "the matrix" if _is_text(path) else Path(path).name


def _is_text(path: str | Path) -> bool:
    """Return whether the argument is the matrix itself, in brackets, instead of a file."""
    return isinstance(path, str) and bool(_WRITTEN_OUT.match(path)) and not _exists(path)


def _exists(path: str | Path) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def read_problem(
    path: str | Path, rhs: str | Path | None = None, intervals: bool = False
) -> tuple[Matrix, Matrix | None]:
    """M (m, n) and q (n, 1), None if there is none; q from `rhs` replaces the file's own.

    Interval entries are read if `intervals` is set (`Matrix.upper`), and refused otherwise. Raises DataError, in one
    line, for anything unusable, including a q whose length differs from M's.
    """
    if str(rhs) == str(path) == "-":
        raise DataError("standard input cannot be both the matrix and --rhs; give one of them as a file")
    M, q = _read(path)
    if rhs is not None:
        vector, own = _read(rhs, vector=True)
        q = vector if own is None else own
    uncertain = next((part for part in (M, q) if part is not None and part.upper is not None), None)
    if uncertain is not None and not intervals:
        what = "M" if uncertain is M else "q"
        raise DataError(f"{what} has entries that are intervals, which check takes; give single numbers here")
    if q is None:
        return M, None
    m, n = M.values.shape
    if 1 not in q.values.shape:
        raise DataError(f"q is a {q.values.shape[0]} x {q.values.shape[1]} matrix; a vector of {n} numbers is needed")
    if m != n:
        raise DataError(f"the matrix is {m} x {n}; an LCP with q needs a square one")
    if q.values.size != n:
        raise DataError(f"q has {q.values.size} entries; the {n} x {n} matrix needs {n}")
    return M, _column(q)


def _column(q: Matrix) -> Matrix:
    """The vector as a column, with its upper end points."""
    entries = None if q.written is None else tuple(" ".join(q.written).split())
    return Matrix(q.values.reshape(-1, 1), entries, q.notes, q.upper and _column(q.upper))


def _read(path: str | Path, vector: bool = False) -> tuple[Matrix, Matrix | None]:
    """M, and q if it is there too; if a `vector` is requested, only that."""
    wanted = "q" if vector else "M"
    if _is_text(path):
        return _of_text(str(path), "the right-hand side" if vector else name_of(path), wanted)
    member = None if _exists(path) else _MEMBER.fullmatch(str(path))
    if member:
        path, wanted = member.groups()
    suffix = Path(path).suffix.lower() if str(path) != "-" else ""
    if suffix == ".npz":
        return _npz(path, wanted, vector)
    if suffix == ".mat":
        return _matlab(path, wanted)
    if suffix == ".npy":
        with opened(path) as (file, size, name):
            return parse_npy(file, size, name, vector), None
    text, name = read_text(path)
    if suffix == ".json" and not ends(text, name):
        return _json(text, name, wanted)
    if suffix == ".mtx" or text.startswith("%%MatrixMarket"):
        return parse_market(text, name), None
    if suffix == ".dat" and is_lcp(text):
        return parse_typed_lcp(text, name)
    return _of_text(text, name, wanted)


def _of_text(text: str, name: str, wanted: str) -> tuple[Matrix, Matrix | None]:
    both = ends(text, name)
    if both is None:
        return _of_numbers(text, name, wanted)
    low, high = (_of_numbers(part, name, wanted) for part in both)
    M, q = (part and replace(part, upper=upper) for part, upper in zip(low, high, strict=True))
    return M, q  # type: ignore[return-value]


def _of_numbers(text: str, name: str, wanted: str) -> tuple[Matrix, Matrix | None]:
    if text.lstrip().startswith("{"):
        return _json(text, name, wanted)
    found = parse_text(text, name)
    first = _chosen(list(found), wanted, name)
    return found[first], found.get("q") if first == "M" else None


def _json(text: str, name: str, wanted: str) -> tuple[Matrix, Matrix | None]:
    """{"M": [[...], ...], "q": [...]} or one of them alone; numbers, or strings such as "4/3"."""
    data = _parsed(text, name)
    if isinstance(data, list):
        data = {wanted: data}
    if wanted == "q":
        return _json_matrix(data.get("q") if isinstance(data, dict) else data, f"{name}, q", vector=True), None
    if not isinstance(data, dict) or "M" not in data:
        raise DataError(f'{name} has no "M"; write {{"M": [[2, 1], [1, 2]], "q": [-5, "-7/2"]}}')
    q = data.get("q")
    M = _json_matrix(data["M"], f"{name}, M")
    return M, None if q is None else _json_matrix(q, f"{name}, q", vector=True)


def _parsed(text: str, name: str) -> Any:
    """Numbers are kept as typed, so that they are exact."""

    def refuse(word: str) -> NoReturn:
        raise DataError(f"{name} holds {word}; every entry must be finite")

    try:
        return json.loads(text, parse_int=_Typed, parse_float=_Typed, parse_constant=refuse)
    except RecursionError:
        raise DataError(f"{name} is nested too deeply; write M as a list of rows") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise DataError(f"{name} is not readable JSON: {error.msg} ({where})") from None


class _Typed(str):
    """A JSON number as typed."""

    __slots__ = ()


def _json_matrix(data: Any, place: str, vector: bool = False) -> Matrix:
    rows = [[x] for x in data] if vector and isinstance(data, list) else data
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        raise DataError(f"{place} is not {'a list of numbers' if vector else 'a list of rows, each a list of numbers'}")
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            if not isinstance(x, str):
                raise DataError(f'{place}[{i}][{j}] is a {type(x).__name__}, not a number; write 2, -0.5 or "4/3"')
    return matrix_of([[x.strip() for x in row] for row in rows], place)


def _chosen(names: list[str], wanted: str, place: str, file: str = "") -> str:
    if wanted in names:
        return wanted
    if len(names) == 1 and wanted in ("M", "q"):
        return names[0]
    shown = ", ".join(names)[:80] or "nothing"
    if wanted not in ("M", "q"):
        raise DataError(f"{place} holds {shown}, and no {wanted[:40]}")
    choice = f", or be chosen, as in {file[-60:]}:{names[0][:20]}" if file and names else ""
    raise DataError(
        f"{place} holds {shown}; the {'matrix' if wanted == 'M' else 'vector'} must be called {wanted}{choice}"
    )


def _npz(path: str | Path, wanted: str, vector: bool) -> tuple[Matrix, Matrix | None]:
    with opened(path) as (file, _, name):
        try:
            with zipfile.ZipFile(file) as archive:
                members = {
                    i.filename.removesuffix(".npy"): i for i in archive.infolist() if i.filename.endswith(".npy")
                }

                def read(key: str) -> Matrix:
                    with archive.open(members[key]) as member:
                        return parse_npy(member, members[key].file_size, f"{name}, {key}", vector or key == "q")  # type: ignore[arg-type]

                if members.keys() >= SCIPY:
                    raise DataError(
                        f"{name} is a sparse matrix of SciPy; save it by scipy.io.mmwrite('matrix.mtx', A) or "
                        "np.savez(..., M=A.toarray())"
                    )
                return _named(list(members), read, wanted, name)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            raise unreadable(name, error) from None


def _matlab(path: str | Path, wanted: str) -> tuple[Matrix, Matrix | None]:
    with opened(path) as (file, size, name):
        if size > LARGEST_FILE:
            raise DataError(f"{name} has {size} bytes; at most {LARGEST_FILE} are read")
        found = read_variables(file.read(), name)

    def read(key: str) -> Matrix:
        with naming(found[key].name):
            return Matrix(found[key].array())

    return _named(list(found), read, wanted, name)


def _named(names: list[str], read: Callable[[str], Matrix], wanted: str, place: str) -> tuple[Matrix, Matrix | None]:
    """The wanted array of a file and, with M, its q; midpoints and radii make a matrix of intervals."""
    pair = next((pair for pair in INTERVALS if set(pair) <= set(names)), None)
    if pair and wanted in ("M", "q") and wanted not in names:
        first, matrix = "", within(read(pair[0]), read(pair[1]), place)
    else:
        first = _chosen(names, wanted, place, place)
        matrix = read(first)
    return matrix, read("q") if wanted == "M" and "q" in names and first != "q" else None
