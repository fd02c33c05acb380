"""Problems in numpy's .npz archives, the workbench's own format: plain numeric arrays, nothing pickled.

    LCP                M, q
    MLCP               M, q, lower, upper
    local friction     W, q, mu
    global friction    M, H, f, w, mu, and G, b with bilateral constraints

Matrices of friction problems may be arrays, or triplets W.i, W.j, W.x, the form in which they are written. Rows of
contacts are in the workbench's order: all normals, then the tangents contact by contact.
"""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.classes import LCP, MLCP, is_sparse
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.matrix import npy_header
from workbench.support.errors import DataError, in_short, naming

ALWAYS_READ, PACKED = 8_000_000, 100
"""Number of bytes of an array that are read from a file of any size; beyond it, this many per byte of the file."""

MATRICES, VECTORS = ("M", "W", "H", "G"), ("q", "lower", "upper", "mu", "f", "w", "b")
"""Names of the arrays."""

FileProblem = LCP | MLCP | FrictionProblem | GlobalFrictionProblem


def read_npz(path: str | Path) -> FileProblem:
    """Read the problem in an archive. Raises DataError, in one line, for anything unusable."""
    arrays, name = read_arrays(path, MATRICES + VECTORS), Path(path).name
    try:
        # A cast to doubles warns of a signalling NaN; the problem refuses it.
        with naming(name), np.errstate(invalid="ignore"):
            return problem_of(arrays)
    except (RuntimeError, ValueError, TypeError) as error:
        raise unreadable(name, error) from None


def read_arrays(path: str | Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of an archive that have these names, up to the first dot. Raises DataError in one line."""
    name = Path(path).name
    try:
        most = max(ALWAYS_READ, PACKED * Path(path).stat().st_size)
        with naming(name), zipfile.ZipFile(path) as archive:
            members = {m.filename.removesuffix(".npy"): m for m in archive.infolist() if m.filename.endswith(".npy")}
            arrays = {}
            for key, member in members.items():
                if key.partition(".")[0] in names:
                    with archive.open(member) as file:
                        arrays[key] = _array(file, member.file_size, most, f"{name}, {key}")
        return arrays
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, TypeError) as error:
        raise unreadable(name, error) from None


def unreadable(name: str, error: Exception) -> DataError:
    """Return the error for an archive of this name that cannot be read, with the reason."""
    if isinstance(error, zipfile.BadZipFile) and "not a zip file" in str(error):
        return DataError(f"{name} is not a readable .npz file: it is cut off, empty, or of another kind")
    return DataError(f"{name} is not a readable .npz file: {in_short(error)}")


def _array(file: IO[bytes], size: int, most: int, name: str) -> np.ndarray:
    """One .npy member of `size` bytes; its header is checked against that before memory is allocated."""
    shape, by_columns, dtype = npy_header(file, name)
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise DataError(f"{name} has entries of type {str(dtype)[:40]}; real numbers are needed")
    needed = dtype.itemsize * int(np.prod([int(s) for s in shape], dtype=object))
    if needed != size - file.tell() or needed > most:
        raise DataError(f"{name} says shape {str(shape)[:40]}, which does not fit the {size} bytes it has")
    return np.frombuffer(file.read(needed), dtype).reshape(shape, order="F" if by_columns else "C")


def problem_of(arrays: dict[str, np.ndarray]) -> FileProblem:
    """The problem of arrays with these names. Raises DataError if they form none, or several."""

    def has(*keys: str) -> bool:
        return all(key in arrays or f"{key}.x" in arrays for key in keys)

    if has("W", "q", "mu"):
        q, mu = arrays["q"], arrays["mu"]
        return FrictionProblem(_matrix(arrays, "W", (q.size, q.size)), q, mu, _tangents(q.size, mu.size))
    if has("M", "H", "f", "w", "mu"):
        f, w, mu, b = arrays["f"], arrays["w"], arrays["mu"], arrays.get("b", np.zeros(0))
        M, H = _matrix(arrays, "M", (f.size, f.size)), _matrix(arrays, "H", (f.size, w.size))
        G = _matrix(arrays, "G", (f.size, b.size)) if b.size else None
        return GlobalFrictionProblem(M, H, f, w, mu, _tangents(w.size, mu.size), G, b)
    if "M" in arrays and "q" in arrays:
        M, q = arrays["M"].astype(float), arrays["q"].astype(float)
        if M.ndim != 2 or not q.size:
            raise DataError(f"M has shape {M.shape} and q {q.size} entries; one problem is needed")
        bounds = [arrays[key].astype(float) for key in ("lower", "upper") if key in arrays]
        if any(bound.shape not in ((), q.shape) for bound in bounds):
            raise DataError(f"bounds have shapes {[b.shape for b in bounds]}; {q.shape} is needed")
        return MLCP(M, q, *bounds) if len(bounds) == 2 else LCP(M, q)
    held = ", ".join(arrays)[:80] or "nothing of these"
    raise DataError(f"M, q or W, q, mu or M, H, f, w, mu are needed; found {held}")


def _matrix(arrays: dict[str, np.ndarray], key: str, shape: tuple[int, int]) -> Any:
    if key in arrays:
        return arrays[key]
    if not all(f"{key}.{part}" in arrays for part in "ijx"):
        raise DataError(f"{key} is missing, or one of {key}.i, {key}.j, {key}.x")
    i, j, x = (arrays[f"{key}.{part}"] for part in "ijx")
    if not i.shape == j.shape == x.shape == (i.size,) or i.dtype.kind not in "iu" or j.dtype.kind not in "iu":
        raise DataError(f"{key}.i, {key}.j, {key}.x have shapes {i.shape}, {j.shape}, {x.shape} and are not triplets")
    if i.size and not (min(i.min(), j.min()) >= 0 and i.max() < shape[0] and j.max() < shape[1]):
        raise DataError(f"{key} has triplets outside {shape[0]} x {shape[1]}")
    return sparse.csr_array((x.astype(float), (i.astype(int), j.astype(int))), shape=shape)


def _tangents(rows: int, contacts: int) -> int:
    if not rows and not contacts:
        # Free motion, in any dimension.
        return 2
    if not contacts or rows not in (2 * contacts, 3 * contacts):
        raise DataError(f"{rows} rows do not belong to {contacts} contacts: 2 each in the plane, 3 in space are needed")
    return rows // contacts - 1


def arrays_of(problem: FileProblem) -> dict[str, Any]:
    """The arrays of a problem by name, with sparse matrices for friction problems."""
    names = {
        FrictionProblem: ("W", "q", "mu"), GlobalFrictionProblem: ("M", "H", "f", "w", "mu", "G", "b"),
        LCP: ("M", "q"), MLCP: ("M", "q", "lower", "upper"),
    }[type(problem)]  # fmt: skip
    return {name: getattr(problem, name) for name in names}


def write_npz(problem: FileProblem, path: str | Path) -> None:
    """Write a problem, with triplets for matrices of friction problems."""
    arrays: dict[str, Any] = {}
    for name, value in arrays_of(problem).items():
        if is_sparse(value):
            triplets = sparse.coo_array(value)
            arrays |= {f"{name}.i": triplets.row, f"{name}.j": triplets.col, f"{name}.x": triplets.data}
        else:
            arrays[name] = value
    with open(path, "wb") as file:
        np.savez(file, **arrays)
