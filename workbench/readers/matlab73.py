"""Matrices in MATLAB's files of version 7.3, which are HDF5: numeric arrays, full or sparse.

Arrays are stored transposed, since MATLAB is column-major; a sparse one is a group of `data`, row indices `ir` and
column starts `jc`, with its number of rows in the attribute MATLAB_sparse. Source: files written by MATLAB; h5py reads
them. Files are not trusted: no link is followed, and types and sizes are checked before anything is read.
"""

import io
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np

from workbench.readers.fclib import refuse_endless_heaps
from workbench.readers.matrix import LARGEST_SIDE, exact_doubles, sparse_entries
from workbench.support.errors import DataError, in_short, naming

BLOCK = 512
"""Bytes before the HDF5 file itself, which identify MATLAB as the writer."""
PACKED = 1000
"""Largest number of bytes of entries per byte of a file; zeros are compressed about as much."""
DAMAGE = (OSError, RuntimeError, ValueError, TypeError, KeyError, OverflowError, MemoryError)
"""Errors of the HDF5 library on a damaged file."""


@dataclass(frozen=True, eq=False)
class StoredVariable:
    """An array in such a file, or another object of that name; at most `most` bytes of entries are read."""

    name: str
    stored: Any
    most: int

    def array(self) -> Any:
        """Its entries, which may be infinite or empty. Raises DataError unless they are real and not too many."""
        try:
            return self._sparse() if isinstance(self.stored, h5py.Group) else self._full()
        except DAMAGE as error:
            raise DataError(f"{self.name} is damaged: {in_short(error)}") from None

    def _full(self) -> Any:
        kind = _word(self.stored, "MATLAB_class")
        if kind in ("char", "cell", "struct", "function_handle") or "MATLAB_empty" in self.stored.attrs:
            raise DataError(f"{self.name} is {kind if kind != 'double' else 'empty'}; a numeric matrix is needed")
        return self._entries(self.stored, 2).T

    def _sparse(self) -> Any:
        if "MATLAB_sparse" not in self.stored.attrs:
            raise DataError(f"{self.name} is of class {_word(self.stored, 'MATLAB_class')}; a numeric matrix is needed")
        rows, members = int(self.stored.attrs["MATLAB_sparse"]), {}
        for key in ("ir", "jc", "data"):
            member = self.stored[key] if isinstance(self.stored.get(key, getlink=True), h5py.HardLink) else None
            members[key] = np.zeros(0) if member is None and key != "jc" else self._entries(member, 1)
        shape = (rows, members["jc"].size - 1)
        return sparse_entries(self.name, shape, members["ir"], members["jc"], members["data"])

    def _entries(self, data: Any, dimension: int) -> Any:
        if not isinstance(data, h5py.Dataset) or data.dtype.kind not in "iuf" or data.dtype.itemsize > 8:
            shown = str(getattr(data, "dtype", type(data).__name__))[:40]
            raise DataError(f"{self.name} has entries of type {shown}; real numbers are needed")
        if data.external or data.is_virtual:
            raise DataError(f"{self.name} keeps its entries in other files; a self-contained file is needed")
        if data.shape is None or data.ndim != dimension or (dimension == 2 and max(data.shape) > LARGEST_SIDE):
            shown = str(data.shape)[:60]
            raise DataError(f"{self.name} has shape {shown}; at most {LARGEST_SIDE} x {LARGEST_SIDE} can be read")
        if data.size * data.dtype.itemsize > self.most:
            raise DataError(f"{self.name} claims {data.size} entries, more than a file of this size holds")
        return exact_doubles(data[()], self.name)


def read_stored_variables(content: bytes, name: str) -> dict[str, StoredVariable]:
    """The variables of a file of version 7.3 by their names; their entries are not read. Raises DataError."""
    try:
        with naming(name):
            refuse_endless_heaps(content[BLOCK:])
        file = h5py.File(io.BytesIO(content), "r")
        keys = [key for key in file if isinstance(file.get(key, getlink=True), h5py.HardLink) and key[0] != "#"]
        most = PACKED * len(content)
        return {key: StoredVariable(f"{name}, {key[:40]}", file[key], most) for key in keys}
    except DAMAGE as error:
        raise DataError(f"{name} is not a readable MATLAB file (version 7.3): {in_short(error)}") from None


def _word(stored: Any, attribute: str) -> str:
    word = stored.attrs.get(attribute, b"unknown")
    return word.decode("ascii", "replace")[:20] if isinstance(word, bytes) else str(word)[:20]
