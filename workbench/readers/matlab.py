"""Matrices in MATLAB's files of level 5 (versions 5 to 7; `matlab73` for 7.3): numeric arrays, full or sparse.

A file is 128 bytes of header and then elements, each a tag (type, bytes) and its data; an array is an element,
compressed or not, of elements: flags, dimensions, name, then entries, or row indices, column starts and entries of a
sparse one. Source: MathWorks, MAT-File Level 5 File Format. Not read by scipy, whose reader trusts damaged tags and row
indices and then crashes the process. Sizes are checked before memory is allocated; anything that is not an array of
numbers is skipped.
"""

import itertools
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.readers.matrix import LARGEST_SIDE, exact_doubles, sparse_entries
from workbench.support.errors import DataError, naming

if TYPE_CHECKING:
    from workbench.readers.matlab73 import StoredVariable

HEAD = 128
MATRIX, COMPRESSED = 14, 15
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
SPARSE = 5
NUMERIC = range(SPARSE, 16)
OTHER = {1: "cell", 2: "struct", 3: "object", 4: "char", 16: "function", 17: "opaque"}
COMPLEX = 0x800
ENOUGH, ENTRY = 65_536, 20
"""Bytes of an array's flags, dimensions and name; most bytes per entry, with row indices and starts."""


@dataclass(frozen=True, eq=False)
class MatlabArray:
    """An array in a file: its dimensions and class; `kind` and `data` are its element, `order` the byte order."""

    name: str
    shape: tuple[int, ...]
    flags: int
    kind: int
    data: memoryview
    order: str

    def array(self) -> Any:
        """Its entries, which may be infinite or empty. Raises DataError unless they are real and not too many."""
        number = self.flags & 0xFF
        if number not in NUMERIC:
            raise DataError(f"{self.name} is of class {OTHER.get(number, number)}; a numeric matrix is needed")
        if self.flags & COMPLEX:
            raise DataError(f"{self.name} has complex entries; real numbers are needed")
        if len(self.shape) != 2 or max(self.shape) > LARGEST_SIDE or min(self.shape) < 0:
            shown = str(self.shape)[:60]
            raise DataError(f"{self.name} has shape {shown}; at most {LARGEST_SIDE} x {LARGEST_SIDE} can be read")
        most = ENOUGH + ENTRY * self.shape[0] * self.shape[1]
        try:
            parts = list(_elements(_inside(self.kind, self.data, most, self.order), self.order))[3:]
        except _DamagedError as error:
            raise DataError(f"{self.name} is damaged: {error}") from None
        needed = 3 if number == SPARSE else 1
        if len(parts) < needed:
            raise DataError(f"{self.name} has {len(parts)} parts; its class needs {needed}")
        arrays = [self._numbers(*part) for part in parts[:needed]]
        with naming(self.name):
            if number == SPARSE:
                return sparse_entries(self.name, (self.shape[0], self.shape[1]), *arrays)
            return self._full(*arrays)

    def _numbers(self, kind: int, data: memoryview) -> Any:
        if kind not in TYPES or len(data) % np.dtype(TYPES[kind]).itemsize:
            raise DataError(f"{self.name} has {len(data)} bytes of type {kind}, not numbers")
        return np.frombuffer(data, self.order + TYPES[kind])

    def _full(self, values: Any) -> Any:
        if values.size != self.shape[0] * self.shape[1]:
            raise DataError(f"{self.name} has {values.size} entries where its shape is {self.shape}")
        return exact_doubles(values, self.name).reshape(self.shape, order="F")


def read_variables(content: bytes, name: str) -> Mapping[str, "MatlabArray | StoredVariable"]:
    """The arrays of a file by their names; their entries are not read. Raises DataError in one line."""
    if content[:10] == b"MATLAB 7.3" and content[512:516] == b"\x89HDF":
        # Imported here, since most files need no HDF5.
        from workbench.readers.matlab73 import read_stored_variables

        return read_stored_variables(content, name)
    try:
        return dict(_variables(content, name))
    except _DamagedError as error:
        raise DataError(f"{name} is not a readable MATLAB file (version 5 to 7): {error}") from None


class _DamagedError(Exception):
    """Bytes that are not elements."""


def _variables(content: bytes, name: str) -> Iterator[tuple[str, MatlabArray]]:
    order = {b"IM": "<", b"MI": ">"}.get(content[HEAD - 2 : HEAD])
    if order is None or struct.unpack_from(order + "H", content, HEAD - 4) != (0x100,):
        raise _DamagedError("its head is another one")
    for kind, data in _elements(memoryview(content)[HEAD:], order):
        if kind not in (MATRIX, COMPRESSED):
            continue
        head = list(itertools.islice(_elements(_inside(kind, data, ENOUGH, order), order), 3))
        if [k for k, _ in head] != [6, 5, 1] or len(head[0][1]) != 8 or len(head[1][1]) % 4:
            raise _DamagedError("an array has no flags, sides and name")
        flags, shape = struct.unpack_from(order + "I", head[0][1])[0], np.frombuffer(head[1][1], order + "i4")
        key = bytes(head[2][1]).decode("latin-1")
        yield key, MatlabArray(f"{name}, {key[:40]}", tuple(shape.tolist()), flags, kind, data, order)


def _inside(kind: int, data: memoryview, most: int, order: str) -> memoryview:
    """The elements of an array, as far as they are among its first `most` bytes."""
    if kind == MATRIX:
        return data[:most]
    try:
        unpacked = zlib.decompressobj().decompress(data, most)
    except zlib.error as error:
        raise _DamagedError(str(error)) from None
    if len(unpacked) < 8 or struct.unpack_from(order + "I", unpacked)[0] != MATRIX:
        raise _DamagedError("what is packed is not an array")
    return memoryview(unpacked)[8:]


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Types and data of the elements in order."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise _DamagedError("it is cut off")
        kind, size = struct.unpack_from(order + "II", data, at)
        start = at + 8
        if kind >> 16:
            # A small element has its data in place of the size.
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
        end = start + size
        if end > len(data) or (start == at + 4 and size > 4):
            raise _DamagedError(f"{size} bytes are said to follow byte {start}, which it has not")
        yield kind, data[start:end]
        at = end if kind == COMPRESSED else end + -end % 8


def write_variables(arrays: Mapping[str, Any], path: str | Path) -> None:
    """Write arrays by name, vectors as columns. Raises DataError for a dimension longer than the reader accepts."""
    # Imported here, since reading needs no scipy. Its writer is safe for our own arrays.
    from scipy.io import savemat

    for name, array in arrays.items():
        if max(array.shape) > LARGEST_SIDE:
            shown = " x ".join(map(str, array.shape))
            raise DataError(f"{name} is {shown}; sides up to {LARGEST_SIDE} are read from .mat; write .hdf5 or .npz")
    with open(path, "wb") as file:
        savemat(file, dict(arrays), do_compression=True, oned_as="column")
