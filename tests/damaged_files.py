"""Files for fuzzing: valid ones of every format the readers know, and what chance makes of them."""

import io
import json
import os
import pickle
import random
import re
import tempfile
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import scipy.io
from scipy import sparse

from tests import siconos_text as text
from tests.problem_files import matlab73, random_problems
from workbench.readers.files import write_problem_file

ABSURD = (
    "0", "-1", "1", "2", "3", "5", "7", "-0.0", "1e400", "-1e400", "nan", "inf", "1e-400", "1e308", "1e150", "0.5", "x",
    "0x10", "1_0", "\u0663", "4/3", "1/0", "2147483647", "2147483648", "-2147483648", "4294967296", "999999999999",
    "9223372036854775808", "1e9", "5000", "5001", "100000", "", "true", "null", "[]", "{}", "-", "+", ".", "1e", "1e-3",
    "9" * 400, "\x00", "%",
)  # fmt: skip
"""What is put in the place of numbers."""
TYPES = ("<f8", ">f8", "<f4", "<f2", "<i8", "<i4", "<u8", "|i1", "|b1", "<c16", "|O", "|S8", "<U8", "<M8[s]", "|V8")
WRONG = (
    {"a": 1.0}, np.array([[{}, 1]], dtype=object), "text", 1j * np.eye(2), np.zeros((0, 3)), np.zeros((2, 2, 2)),
    np.array([[np.nan]]), sparse.eye_array(9).tocsc(),
)  # fmt: skip
"""Values of MATLAB that are no matrices of real numbers, or large ones."""


class Damage:
    """Damaged files; pickles in them would make the folder `mark`."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark
        self.valid = valid_files()
        self.whole = {content for _, content in self.valid}

    def __reduce__(self):
        """What a pickle of it does when it is loaded."""
        return os.mkdir, (str(self.mark),)

    def file(self, rng: random.Random) -> tuple[str, bytes]:
        """A file's name and content."""
        suffix = rng.choice(sorted({Path(name).suffix for name, _ in self.valid}))
        name, content = rng.choice([file for file in self.valid if file[0].endswith(suffix)])
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            special = {".hdf5": self._hdf5, ".npz": self._npz, ".npy": self._npy, ".mat": self._mat}.get(suffix, words)
            change = rng.choices((special, flips, pieces, self._other), (6, 2, 2, 0.1))[0]
            content = change(content, rng)
        # Now and then under another ending: content decides, or is refused.
        if rng.random() < 0.1:
            name = rng.choice(self.valid)[0]
        return name, content

    def _other(self, content: bytes, rng: random.Random) -> bytes:
        """A pickle, noise, nothing, or two files one after the other."""
        return rng.choice((pickle.dumps(self), rng.randbytes(200), b"", content + rng.choice(self.valid)[1]))

    def _array(self, rng: random.Random) -> np.ndarray:
        """An array that nobody asked for."""
        kind = rng.choice(TYPES)
        shape = tuple(rng.choice((0, 1, 2, 3, 9, 12)) for _ in range(rng.choice((0, 1, 1, 2, 2, 3))))
        if kind == "|O":
            array = np.empty(shape, dtype=object)
            array[...] = self
            return array
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        return np.frombuffer(rng.randbytes(size), kind).reshape(shape)

    def _npy(self, content: bytes, rng: random.Random) -> bytes:
        """Another array, a header that lies, or fewer entries than it says."""
        choice = rng.randrange(4)
        if choice == 0:
            file = io.BytesIO()
            np.save(file, self._array(rng), allow_pickle=True)
            return file.getvalue()
        if choice == 1:
            shape = tuple(rng.choice((-1, 0, 1, 3, 5000, 10**6, 2**31, 2**63, 10**30)) for _ in range(rng.randrange(4)))
            kind = rng.choice((*TYPES, "__import__('os')", "[('a', '<f8')]"))
            header = f"{{'descr': {kind!r}, 'fortran_order': {rng.choice(ABSURD)}, 'shape': {shape}}}".ljust(117) + "\n"
            return b"\x93NUMPY" + bytes((rng.randrange(1, 4), 0)) + len(header).to_bytes(2, "little") + header.encode()
        return rng.choice((words, flips, pieces))(content, rng)

    def _npz(self, content: bytes, rng: random.Random) -> bytes:
        """Members changed, dropped, renamed, doubled; a bomb; a count of bytes that lies."""
        # Of a file damaged before; what that makes of the library is not for us to foresee.
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [(name or "M.npy", archive.read(name)) for name in archive.namelist()]
        except Exception:
            return flips(content, rng)
        names = [f"{key}.npy" for key in ("M", "q", "lower", "upper", "W", "mu", "H", "f", "w", "G", "b", "W.i", "W.x")]
        choice = rng.randrange(8)
        k = rng.randrange(len(members)) if members else 0
        if choice == 0 or not members:
            members.append((rng.choice(names), self._npy(b"", rng)))
        elif choice == 1:
            del members[k]
        elif choice == 2:
            members[k] = (rng.choice((*names, "../M.npy", "/M.npy", "M", "M.npy.npy", "\u0663.npy")), members[k][1])
        elif choice == 3:
            side = rng.choice((4_000, 20_000))
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({side}, {side})}}".ljust(117) + "\n"
            bomb = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(20_000_000)
            members[k] = (members[k][0], bomb)
        else:
            members[k] = (members[k][0], self._npy(members[k][1], rng))
        file = io.BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(file, "w", rng.choice((0, zipfile.ZIP_DEFLATED))) as archive:
            # Names given twice are meant.
            warnings.simplefilter("ignore")
            for name, member in members:
                archive.writestr(name, member)
        return file.getvalue()

    def _mat(self, content: bytes, rng: random.Random) -> bytes:
        """Another variable, or the same bytes with a few 4-byte words replaced, which are types, lengths and flags."""
        if rng.random() < 0.3:
            file = io.BytesIO()
            value = rng.choice(WRONG)
            scipy.io.savemat(
                file, {"M": value} if rng.random() < 0.8 else {"q": value}, do_compression=rng.random() < 0.5
            )
            return file.getvalue()
        damaged = bytearray(content)
        for _ in range(rng.choice((1, 2, 4))):
            if len(damaged) < 140:
                break
            place = rng.randrange(124, len(damaged) - 8) // 4 * 4
            number = rng.choice((0, 1, 5, 6, 9, 14, 15, 17, 2**16, 2**31 - 1, 2**31, 2**32 - 1, rng.randrange(2**32)))
            damaged[place : place + 4] = number.to_bytes(4, "little")
        return bytes(damaged)

    def _hdf5(self, content: bytes, rng: random.Random) -> bytes:
        """One dataset replaced, emptied, linked, or with an absurd number in it; the file as such is sound."""
        # To write into a damaged file can corrupt the library's memory; only whole ones are changed from inside.
        if content not in self.whole:
            return flips(content, rng)
        file = io.BytesIO(content)
        try:
            with h5py.File(file, "r+") as f:
                found: list[str] = []
                f.visit(found.append)
                key = rng.choice(found)
                self._replace(f, key, rng)
        # A change that HDF5 does not allow.
        except (OSError, RuntimeError, ValueError, KeyError, TypeError):
            return flips(content, rng)
        return file.getvalue()

    def _replace(self, f: h5py.File, key: str, rng: random.Random) -> None:
        member = f[key]
        choice = rng.randrange(9)
        if isinstance(member, h5py.Dataset) and choice < 3 and member.size and member.dtype.kind in "iuf":
            values = np.atleast_1d(np.array(member[()]))
            number = rng.choice((-3, -2, -1, 0, 1, 2, 3, 1e9, 2**31 - 1, -(2**31), 1e308, np.nan, np.inf, 0.5))
            if values.dtype.kind != "f":
                number = int(number) if abs(number) < 2**31 else -1
            values.flat[rng.randrange(values.size)] = number
            del f[key]
            f[key] = values
            return
        del f[key]
        if choice == 3:
            shape = (rng.choice((10**6, 10**9, 10**12)),)
            f.create_dataset(key, shape=shape, dtype="f8", chunks=(1000,), compression=rng.choice((None, "gzip")))
        elif choice == 4:
            f[key] = rng.choice((h5py.SoftLink("/"), h5py.SoftLink(f"/{key}"), h5py.ExternalLink("/etc/passwd", "/")))
        elif choice == 5:
            f.create_group(key)
        elif choice == 6:
            f[key] = h5py.Empty("f8")
        elif choice == 7:
            array = self._array(rng)
            f[key] = array if array.dtype.kind in "iufbcSV" else np.array([f.ref] * 3, dtype=h5py.ref_dtype)


def flips(content: bytes, rng: random.Random) -> bytes:
    """Some bytes replaced."""
    damaged = bytearray(content)
    for _ in range(rng.choice((1, 2, 5, 30)) if damaged else 0):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged)


def pieces(content: bytes, rng: random.Random) -> bytes:
    """Cut off, or a piece taken out, doubled, or put elsewhere."""
    a, b = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    c = rng.randrange(len(content) + 1)
    doubled = content[:c] + content[a:b] + content[c:]
    return rng.choice((content[:a], content[:a] + content[b:], content[:b] + content[a:], doubled))


def words(content: bytes, rng: random.Random) -> bytes:
    """Words replaced by absurd ones, taken out, doubled, exchanged; the first few are the likelier ones."""
    parts = re.split(rb"([\s,;:\[\]{}()]+)", content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        k = min(rng.randrange(len(parts)), rng.choice((12, 60, 10**9))) // 2 * 2
        choice = rng.randrange(6)
        if choice < 3:
            parts[k] = rng.choice(ABSURD).encode()
        elif choice == 3:
            parts[k : k + 2] = []
        elif choice == 4:
            parts[k:k] = parts[k : k + 2]
        else:
            j = rng.randrange(len(parts)) // 2 * 2
            parts[k], parts[j] = parts[j], parts[k]
        parts = parts or [b"", b" ", b""]
    return b"".join(parts)


def valid_files() -> list[tuple[str, bytes]]:
    """(name, content) of every format and kind of problem, small."""
    rng = np.random.default_rng(0)
    files = [(f"a{suffix}", content) for suffix in (".hdf5", ".npz") for content in _written(rng, suffix)]
    files += [("a.dat", content.encode()) for content in _texts(rng)]
    M, q = rng.normal(size=(4, 4)).round(3), rng.normal(size=4).round(3)
    files.append(("a.json", json.dumps({"M": M.tolist(), "q": q.tolist()}).encode()))
    files += [
        ("a.csv", _saved(np.savetxt, M, delimiter=",")),
        ("a.txt", _saved(np.savetxt, M)),
        ("a.npy", _saved(np.save, M)),
    ]
    files += [("a.mtx", _saved(scipy.io.mmwrite, A)) for A in (M, M + M.T, sparse.coo_array(M))]
    files += [
        ("a.mat", _saved(scipy.io.savemat, {"M": A, "q": q}, do_compression=packed))
        for A in (M, sparse.csc_array(M)) for packed in (False, True)
    ]  # fmt: skip
    files += [("a.mat", matlab73({"M": A, "q": q[:, None]})) for A in (M, sparse.csc_array(M))]
    return files


def _saved(save, value, **options) -> bytes:
    file = io.BytesIO()
    save(file, value, **options)
    return file.getvalue()


def _written(rng: np.random.Generator, suffix: str) -> list[bytes]:
    contents = []
    with tempfile.TemporaryDirectory() as folder:
        for problem in random_problems(rng):
            if suffix == ".npz" or "friction" in problem.kind:
                write_problem_file(problem, Path(folder) / f"p{suffix}")
                contents.append((Path(folder) / f"p{suffix}").read_bytes())
    return contents


def _texts(rng: np.random.Generator) -> list[str]:
    printed = [
        text.dense,
        text.triplets,
        text.columns,
        text.rows,
        lambda A: text.blocks(A, *([3] * (s // 3) for s in A.shape)),
    ]
    M, q, mu = rng.normal(size=(6, 6)), rng.normal(size=6), np.array([0.3, 0.6])
    H, f, w = rng.normal(size=(9, 6)), rng.normal(size=9), rng.normal(size=6)
    found = []
    for layout in printed:
        found += [text.lcp(M, q, layout), text.lcp(M, q, layout) + text.line(q - 1) + text.line(q + 1)]
        found += [text.local(M, q, mu, 3, layout), text.local(M, q, np.full(3, 0.2), 2, layout)]
        found += [text.global_(np.eye(9), H, f, w, mu, 3, layout)]
    equations = np.arange(6) < 2
    found += [text.mlcp(M, q, equations, a, b) for a, b in ((True, False), (False, True), (True, True))]
    return [*found, text.tall_mlcp(rng.normal(size=(6, 5)), f[:6], 2, 3)]
