"""Friction problems in FCLIB's HDF5 layout, local and global, in the plane and in space: reading and writing.

    fclib_local    W, vectors q, mu; with bilateral rows V, R and the vector s
    fclib_global   M, H, vectors f, w, mu; with bilateral constraints G and the vector b
    ..._rolling    the same with rolling friction, vector mu_r and five rows per contact: refused by name, not read
    a matrix       m, n, nzmax, nz and arrays p, i, x: triplets (nz >= 0, i rows, p columns),
                   compressed columns (nz = -1) or compressed rows (nz = -2)

Source: Acary, Bremond, Huber et al., FCLIB. A matrix with one stored triangle is symmetric. Solutions and guesses
in such files are not part of the problem. Files are not trusted: no link is followed, and types and sizes are checked
before anything is read.
"""

import struct
from collections.abc import Callable, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.classes import Array
from workbench.problems.friction_problem import LARGEST_DENSE, FrictionProblem, GlobalFrictionProblem, Sparse
from workbench.support.errors import DataError, in_short, naming

ALWAYS_READ = 1_000_000
"""Number of entries of an array that are read from a file of any size; beyond it, one per byte of the file (arrays may
be compressed)."""
T = TypeVar("T")
ROLLING = 5
"""Number of rows of a contact with rolling friction."""
COMPRESSED_COLUMNS, COMPRESSED_ROWS = -1, -2


def read_fclib(path: str | Path) -> FrictionProblem | GlobalFrictionProblem:
    """Read the problem in an HDF5 file. Raises DataError, in one line, for anything unusable."""
    return _read(path, _problem)


def read_solution(path: str | Path) -> Array | None:
    """Read the impulses r (n,) of a file's group `solution`, contact by contact; None if there is no such group.

    Raises DataError as `read_fclib` does.
    """

    def impulses(file: h5py.File, name: str, most: int) -> Array | None:
        return _Group(file, "solution", name, most).array("r") if "solution" in file else None

    return _read(path, impulses)


def _read(path: str | Path, what: Callable[[h5py.File, str, int], T]) -> T:
    name = Path(path).name
    try:
        most = max(ALWAYS_READ, Path(path).stat().st_size)
        with naming(name):
            with Path(path).open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
                refuse_endless_heaps(mapped)
            with h5py.File(path, "r") as opened:
                return what(opened, name, most)
    # The HDF5 library may raise any error on a damaged file.
    except (OSError, RuntimeError, ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise DataError(f"{name} is not a readable HDF5 file: {in_short(error)}") from None


def _problem(file: h5py.File, name: str, most: int) -> FrictionProblem | GlobalFrictionProblem:
    if "fclib_local" in file:
        return _local(_Group(file, "fclib_local", name, most))
    if "fclib_global" in file:
        return _global(_Group(file, "fclib_global", name, most))
    rolling = next((key for key in file if key.startswith("fclib_") and key.endswith("_rolling")), None)
    if rolling:
        mu = _Group(file, rolling, name, most).inside("vectors").array("mu")
        raise DataError(_rolling(name, f"{mu.size} contacts, with {ROLLING} rows each"))
    raise DataError(f"{name} is an HDF5 file without fclib_local or fclib_global; FCLIB's layout is needed")


def refuse_endless_heaps(content: bytes | mmap) -> None:
    """Raise DataError for a local heap with a cyclic free list, which the HDF5 library would follow for ever.

    Source: HDF5 File Format Specification 3.0, III.D: "HEAP", version 0, size, head of the free list, address of the
    data; there, at each free block, the next one (1 ends the list) and its size.
    """
    at = content.find(b"HEAP\0")
    while at >= 0 and at + 32 <= len(content):
        size, free, data = struct.unpack_from("<QQQ", content, at + 8)
        seen = set()
        # The library refuses blocks outside the heap itself; the file may be truncated.
        while free != 1 and free + 16 <= min(size, len(content) - data):
            if free in seen:
                raise DataError("not a readable HDF5 file: the free list of a local heap has no end")
            seen.add(free)
            free = struct.unpack_from("<Q", content, data + free)[0]
        at = content.find(b"HEAP\0", at + 1)


class _Group:
    """A group of a file: members by hard links only, arrays up to `most` entries."""

    def __init__(self, parent: h5py.Group, key: str, name: str, most: int) -> None:
        self.name, self.most = f"{name}, {key}", most
        self.group = _member(parent, key, h5py.Group, name)

    def __contains__(self, key: str) -> bool:
        return key in self.group

    def inside(self, key: str) -> "_Group":
        return _Group(self.group, key, self.name, self.most)

    def whole(self, key: str) -> int:
        """An integer, stored as a scalar or an array of one."""
        values = self.array(key)
        if values.size != 1 or values[0] != np.floor(values[0]) or abs(values[0]) > 2**40:
            raise DataError(f"{self.name}/{key} is {str(values)[:40]}; a whole number is needed")
        return int(values[0])

    def array(self, key: str, first: int | None = None) -> Array:
        """A vector (a scalar counts as one entry), or its `first` entries, as doubles."""
        data: h5py.Dataset = _member(self.group, key, h5py.Dataset, self.name)
        where = f"{self.name}/{key}"
        if data.dtype.kind not in "iuf" or data.dtype.itemsize > 8:
            raise DataError(f"{where} has entries of type {str(data.dtype)[:40]}; real numbers are needed")
        if data.external or data.is_virtual:
            raise DataError(f"{where} keeps its entries in other files; a self-contained file is needed")
        if data.shape is None or data.ndim > 1:
            raise DataError(f"{where} has shape {data.shape}; a vector is needed")
        if first is not None and data.size < first:
            raise DataError(f"{where} has {data.size} entries; {first} are needed")
        length = data.size if first is None else first
        if length > self.most:
            raise DataError(f"{where} claims {length} entries; at most {self.most} are read from a file of this size")
        # The cast warns of a signalling NaN.
        with np.errstate(invalid="ignore"):
            values = np.atleast_1d(np.asarray(data[()] if data.ndim == 0 else data[:length], dtype=float))
        if not np.isfinite(values).all():
            raise DataError(f"{where} holds {values[~np.isfinite(values)].flat[0]}; every entry must be finite")
        return values


def _rolling(name: str, what: str) -> str:
    return f"{name} has rolling friction of {what}; contacts with 2 or 3 rows and without it can be read"


def _member(parent: h5py.Group, key: str, kind: type, name: str) -> Any:
    link = parent.get(key, getlink=True)
    if link is None:
        raise DataError(f"{name} has no '{key}', which FCLIB's layout needs")
    if not isinstance(link, h5py.HardLink):
        raise DataError(f"{name}/{key} is a link to elsewhere; a self-contained file is needed")
    member = parent[key]
    if not isinstance(member, kind):
        raise DataError(f"{name}/{key} is a {type(member).__name__}; a {kind.__name__} is needed")
    return member


def _local(g: _Group) -> FrictionProblem:
    vectors = g.inside("vectors")
    q, mu, d = vectors.array("q"), vectors.array("mu"), _tangents(g)
    W = _matrix(g.inside("W"), q.size, q.size)
    if "V" in g or "R" in g:
        s = vectors.array("s")
        if max(q.size, s.size) > LARGEST_DENSE:
            raise DataError(f"{g.name} has bilateral rows and {q.size} unknowns; at most {LARGEST_DENSE} can be read")
        V, R = _matrix(g.inside("V"), q.size, s.size), _matrix(g.inside("R"), s.size, s.size)
        W, q = _without_bilateral(W.toarray(), q, V.toarray(), R.toarray(), s)
    return FrictionProblem.from_contacts(W, q, mu, d)


def _without_bilateral(W: Array, q: Array, V: Array, R: Array, s: Array) -> tuple[Array, Array]:
    """Eliminate the bilateral impulses p_b from u = W p + V p_b + q with V^T p + R p_b + s = 0."""
    try:
        X = np.linalg.solve(R, np.column_stack([V.T, s]))
    except np.linalg.LinAlgError:
        raise DataError("R is singular; bilateral impulses that are not unique cannot be eliminated") from None
    return W - V @ X[:, :-1], q - V @ X[:, -1]


def _global(g: _Group) -> GlobalFrictionProblem:
    vectors = g.inside("vectors")
    f, w, mu, d = vectors.array("f"), vectors.array("w"), vectors.array("mu"), _tangents(g)
    M, H = _matrix(g.inside("M"), f.size, f.size), _matrix(g.inside("H"), f.size, w.size)
    if "G" not in g:
        return GlobalFrictionProblem.from_contacts(M, H, f, w, mu, d)
    b = vectors.array("b")
    return GlobalFrictionProblem.from_contacts(M, H, f, w, mu, d, _matrix(g.inside("G"), f.size, b.size), b)


def _tangents(g: _Group) -> int:
    vectors = g.inside("vectors")
    if "mu_r" in vectors:
        mu_r = vectors.array("mu_r")
        if mu_r.any():
            raise DataError(_rolling(g.name, f"{np.count_nonzero(mu_r)} contacts, mu_r up to {mu_r.max():g}"))
    dimension = g.whole("spacedim")
    if dimension not in (2, 3):
        raise DataError(f"{g.name}/spacedim is {dimension}; 2 or 3 is needed")
    return dimension - 1


def _matrix(g: _Group, rows: int, columns: int) -> Sparse:
    """The matrix of a group, which must be rows x columns, according to the vectors of the problem."""
    m, n, nz = g.whole("m"), g.whole("n"), g.whole("nz")
    if (m, n) != (rows, columns):
        raise DataError(f"{g.name} is {m} x {n}; its vectors need {rows} x {columns}")
    if nz < COMPRESSED_ROWS:
        raise DataError(f"{g.name}/nz is {nz}; the number of triplets, -1 (columns) or -2 (rows) is needed")
    if nz >= 0:
        i, j = _places(g, "i", nz, rows), _places(g, "p", nz, columns)
    else:
        sides = (n, m) if nz == COMPRESSED_COLUMNS else (m, n)
        p = g.array("p", first=sides[0] + 1)
        if p[0] != 0 or (np.diff(p) < 0).any() or (p != np.floor(p)).any():
            raise DataError(f"{g.name}/p is not a list of starts: it must begin with 0, be whole and never fall")
        nz_stored = int(p[-1])
        inner = _places(g, "i", nz_stored, sides[1])
        outer = np.repeat(np.arange(sides[0]), np.diff(p).astype(int))
        i, j = (inner, outer) if nz == COMPRESSED_COLUMNS else (outer, inner)
    return _both_triangles(sparse.csr_array((g.array("x", first=i.size), (i, j)), shape=(rows, columns)))


def _places(g: _Group, key: str, count: int, limit: int) -> np.ndarray:
    values = g.array(key, first=count)
    wrong = (values < 0) | (values >= limit) | (values != np.floor(values))
    if wrong.any():
        raise DataError(f"{g.name}/{key} holds {values[wrong][0]:g}; whole numbers from 0 to {limit - 1} are needed")
    return values.astype(int)


def _both_triangles(A: Sparse) -> Sparse:
    """A itself, or the symmetric matrix of which it is one triangle; neither M nor W is ever triangular otherwise."""
    upper, lower = (part(A, k).count_nonzero() for part, k in ((sparse.triu, 1), (sparse.tril, -1)))
    square = A.shape[0] == A.shape[1]
    return A + A.T - sparse.diags_array(A.diagonal()) if square and bool(upper) != bool(lower) else A


def write_fclib(
    problem: FrictionProblem | GlobalFrictionProblem, path: str | Path, solution: Mapping[str, Array] | None = None
) -> None:
    """Write a problem as FCLIB does: W, M, H, G by compressed rows, contact by contact, 4-byte indices.

    With `solution`, add a group of that name with the vectors r, u (contact by contact), v, l.
    """
    with h5py.File(path, "w") as file:
        if isinstance(problem, FrictionProblem):
            W, q = problem.by_contacts()
            group = _write(file, "fclib_local", {"W": W}, {"q": q, "mu": problem.mu})
        else:
            H, w = problem.by_contacts()
            matrices, vectors = {"M": problem.M, "H": H}, {"f": problem.f, "w": w, "mu": problem.mu}
            if problem.G.shape[1]:
                matrices, vectors = matrices | {"G": problem.G}, vectors | {"b": problem.b}
            group = _write(file, "fclib_global", matrices, vectors)
        group["spacedim"] = np.array([1 + problem.d], dtype=np.int32)
        for name, value in (solution or {}).items():
            file[f"solution/{name}"] = value


def _write(file: h5py.File, key: str, matrices: Mapping[str, Sparse], vectors: Mapping[str, Array]) -> h5py.Group:
    group = file.create_group(key)
    for name, value in vectors.items():
        group[f"vectors/{name}"] = value
    for name, A in matrices.items():
        A = sparse.csr_array(A)
        A.sort_indices()
        numbers = {"m": A.shape[0], "n": A.shape[1], "nzmax": A.nnz, "nz": COMPRESSED_ROWS}
        for word, number in numbers.items():
            group[f"{name}/{word}"] = np.array([number], dtype=np.int32)
        group[f"{name}/p"], group[f"{name}/i"] = A.indptr.astype(np.int32), A.indices.astype(np.int32)
        group[f"{name}/x"] = A.data
    return group
