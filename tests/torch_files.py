"""Tensors as torch saved them before version 1.6, written without torch, instruction by instruction."""

import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np


def text(x: str) -> bytes:
    return b"X" + struct.pack("<I", len(x.encode())) + x.encode()


def whole(x: int) -> bytes:
    return b"J" + struct.pack("<i", x)


def numbers(x: Any) -> bytes:
    return b"(" + b"".join(map(whole, x)) + b"t"


def tensor_pickle(shape: Any, strides: Any, offset: int = 0, entries: int = 0, kind: str = "DoubleStorage") -> bytes:
    """The pickle that would call torch's own function to make a tensor of the storage "7"."""
    storage = b"((" + text("storage") + f"ctorch\n{kind}\n".encode() + text("7") + text("cpu") + whole(entries) + b"Nt"
    arguments = storage + b"Q" + whole(offset) + numbers(shape) + numbers(strides) + b"\x89}t"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R."


def chain(tensor: bytes, key: bytes, entries: bytes) -> bytes:
    """A whole file."""
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    facts = pickle.dumps({"protocol_version": 1001, "little_endian": True}, 2)
    return magic + pickle.dumps(1001, 2) + facts + tensor + key + entries


def torch_bytes(x: Any, **given: Any) -> bytes:
    """A tensor of doubles as a file of torch's."""
    x = np.asarray(x, dtype="<f8")
    strides = [s // 8 for s in np.ascontiguousarray(x).strides]
    pickled = tensor_pickle(x.shape, strides, entries=x.size, **given)
    return chain(pickled, pickle.dumps(["7"], 2), struct.pack("<q", x.size) + x.tobytes())


def write_torch(path: Path, x: Any) -> Path:
    """Write such a file."""
    path.write_bytes(torch_bytes(x))
    return path
