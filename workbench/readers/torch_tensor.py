"""A tensor in torch's file format before version 1.6, without torch, and without executing the file's contents.

A file is a chain of pickles: magic number, version, facts about the machine, the tensor, and the keys of its
storages; then for each key the number of entries and the entries themselves. A pickle is a program for a stack
machine, which may call any function that it names. Here only the instructions that build plain values are followed; a
name remains a name, a call remains a record of the call, and the one call that makes a tensor is recognised by its
name. Codes and arguments of instructions are those of the standard library's `pickletools`, which executes none of
them.
"""

import io
import pickletools
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.support.arrays import Array
from workbench.support.errors import DataError, in_short

MAGIC, VERSION = 0x1950A86A20F9469CFC6C, 1001
CODES: dict[bytes, Any] = {x.code.encode("latin-1"): x for x in pickletools.opcodes}
LARGEST_FILE, MOST_INSTRUCTIONS = 200_000_000, 10_000
"""Largest number of bytes of a file, and of instructions of one of its pickles."""
TENSOR = "torch._utils _rebuild_tensor_v2"
STORAGES = {"DoubleStorage": "<f8", "FloatStorage": "<f4", "LongStorage": "<i8", "IntStorage": "<i4"}


class Name(str):
    """A name that a pickle wanted to import: "module name"."""


class Call(NamedTuple):
    """A call that a pickle wanted to make, with its arguments; it is never made."""

    function: Any
    arguments: Any


class Storage(NamedTuple):
    """The storage of a tensor's entries: the pickle's own record of it."""

    note: Any


class _UnreadableError(Exception):
    """Bytes that are not such a file."""


def read_tensor(path: str | Path) -> Array:
    """The tensor in a file, as doubles in its shape. Raises DataError, in one line, for anything else."""
    name = Path(path).name
    try:
        size = Path(path).stat().st_size
        if size > LARGEST_FILE:
            raise _UnreadableError(f"{size} bytes; at most {LARGEST_FILE} are read")
        return tensor_of(Path(path).read_bytes())
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror}") from None
    except (_UnreadableError, ValueError, TypeError, IndexError, KeyError, RecursionError, AttributeError) as error:
        raise DataError(f"{name} is not a tensor saved by torch before version 1.6: {in_short(error)}") from None


def tensor_of(content: bytes) -> Array:
    """The tensor in the bytes of a file; raises errors of many types, which `read_tensor` converts."""
    stream = io.BytesIO(content)
    if _value(stream) != MAGIC or _value(stream) != VERSION:
        raise _UnreadableError("it does not begin with torch's number")
    _value(stream)
    tensor, keys = _value(stream), _value(stream)
    if not isinstance(tensor, Call) or tensor.function != TENSOR:
        raise _UnreadableError("what it holds is not a tensor alone")
    storage, offset, shape, strides = tensor.arguments[:4]
    kind, key = _kind_and_key(storage)
    if keys != [key]:
        raise _UnreadableError("it has another storage than the tensor's")
    return _strided(_entries(stream, kind), offset, shape, strides)


def _kind_and_key(storage: Any) -> tuple[str, str]:
    """The type of a storage's entries, and its key."""
    if not isinstance(storage, Storage):
        raise _UnreadableError("its tensor names no storage")
    word, kind, key = storage.note[:3]
    if word != "storage" or not isinstance(kind, Name) or not isinstance(key, str):
        raise _UnreadableError("its storage has no kind and no key")
    module, _, short = kind.partition(" ")
    if module != "torch" or short not in STORAGES:
        raise _UnreadableError(f"its entries are of the kind '{kind[:40]}'; {', '.join(STORAGES)} are read")
    return STORAGES[short], key


def _entries(stream: io.BytesIO, kind: str) -> Array:
    """The entries of the only storage, which are the rest of the file."""
    count = int.from_bytes(stream.read(8), "little", signed=True)
    content = stream.read()
    width = np.dtype(kind).itemsize
    if count < 0 or count * width != len(content):
        raise _UnreadableError(f"{count} entries are announced, {len(content) / width:g} are there")
    return np.frombuffer(content, kind).astype(float)


def _strided(entries: Array, offset: Any, shape: Any, strides: Any) -> Array:
    """The tensor of this shape whose neighbours along each axis are `strides` entries apart."""
    numbers = [offset, *shape, *strides]
    if len(shape) != len(strides) or not all(type(x) is int and 0 <= x < 2**40 for x in numbers):
        raise _UnreadableError("its offset, shape and strides are not whole numbers from 0 on")
    count = 1
    for side in shape:
        count *= side
    last = offset + sum((side - 1) * step for side, step in zip(shape, strides, strict=True))
    if count > entries.size or (count and last >= entries.size):
        raise _UnreadableError(f"shape {tuple(shape)} reaches beyond its {entries.size} entries")
    if not count:
        return np.zeros(shape)
    places = np.full((1,) * len(shape), offset)
    for axis, (side, step) in enumerate(zip(shape, strides, strict=True)):
        places = places + step * np.arange(side).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return entries[places]


def _value(stream: io.BytesIO) -> Any:
    """The value that the next pickle of a stream builds, without its calls and imports."""
    stack: list[Any] = []
    marks: list[int] = []
    memory: dict[int, Any] = {}
    for name, argument in islice(_instructions(stream), MOST_INSTRUCTIONS):
        if name == "STOP":
            return stack.pop()
        if name == "MARK":
            marks.append(len(stack))
        elif name in ("BINPUT", "LONG_BINPUT"):
            memory[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memory[argument])
        elif name in PLAIN:
            stack.append(argument)
        elif name == "GLOBAL":
            stack.append(Name(argument))
        elif name in CONSTANTS:
            stack.append(CONSTANTS[name]())
        elif name in SIZES:
            wanted = SIZES[name]
            start = marks.pop() if wanted is None else len(stack) - wanted
            if start < 0:
                raise _UnreadableError(f"its pickle has nothing for the instruction {name}")
            values = stack[start:]
            del stack[start:]
            _build(name, stack, values)
    raise _UnreadableError(f"a pickle of it has more than {MOST_INSTRUCTIONS} instructions")


def _instructions(stream: io.BytesIO) -> Iterator[tuple[str, Any]]:
    """Names and arguments of the next instructions in a stream."""
    while code := stream.read(1):
        opcode = CODES.get(code)
        if opcode is None or opcode.name not in KNOWN:
            shown = opcode.name if opcode else f"{code[0]:#x}"
            raise _UnreadableError(f"its pickle has the instruction {shown}, which no tensor needs")
        if opcode.name == "GLOBAL":
            # The standard library's reader of names resolves escapes, which module names do not contain.
            yield opcode.name, f"{_line(stream)} {_line(stream)}"
        else:
            yield opcode.name, opcode.arg.reader(stream) if opcode.arg else None
    raise _UnreadableError("it is cut off")


def _line(stream: io.BytesIO) -> str:
    return stream.readline().decode("ascii").rstrip("\n")


def _build(name: str, stack: list[Any], values: list[Any]) -> None:
    """The result of an instruction on the values that it has taken from the stack."""
    if name.startswith("TUPLE"):
        stack.append(tuple(values))
    elif name.startswith("APPEND"):
        if not isinstance(stack[-1], list):
            raise _UnreadableError("its pickle appends to what is not a list")
        stack[-1].extend(values)
    elif name == "BINPERSID":
        stack.append(Storage(*values))
    elif name == "REDUCE":
        stack.append(Call(*values))
    # The contents of dictionaries, facts about the machine, are not needed; looking at their keys would call their
    # hash.


PLAIN = ("BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE", "SHORT_BINSTRING")
CONSTANTS: dict[str, Any] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_TUPLE": tuple, "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
}  # fmt: skip
SIZES: dict[str, int | None] = {
    "TUPLE": None, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3, "APPEND": 1, "APPENDS": None, "SETITEM": 2, "SETITEMS": None,
    "BINPERSID": 1, "REDUCE": 2,
}  # fmt: skip
"""Number of values that an instruction takes from the stack; None stands for all since the last mark."""
KNOWN = {
    "PROTO",
    "STOP",
    "MARK",
    "BINPUT",
    "LONG_BINPUT",
    "BINGET",
    "LONG_BINGET",
    "GLOBAL",
    *PLAIN,
    *CONSTANTS,
    *SIZES,
}
