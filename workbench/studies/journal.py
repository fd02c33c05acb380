"""The journal of a study: finished rows, appended as they come, each record complete or absent (docs/decisions/0026).

A record is one line, a digest and JSON: {"key": ..., "at": ..., "rows": [...]}, the rows of one run, one for each
window, and when they were written [s since 1970]. What a process wrote before it died is there for the next one. A line
that was cut off or changed does not fit its digest, counts as absent, and is reported. Several processes, such as the
shards of a cluster, have a file each in one folder.
"""

import json
import math
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.signals import uninterrupted

DIGITS = 16
"""Hexadecimal digits of a digest."""
PATTERN = "journal*.jsonl"


Rows = list[dict[str, Any]]
"""The rows of one run, one for each window."""
BROKEN = ("FAILED", "CRASHED", "TIME_LIMIT")
"""What a row claims that has no answer for a reason that may be gone the next time: no refusal."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """Where the rows of a run stand, when they were written [s since 1970], and how they ended.

    `failed` is a run with a row of `BROKEN`, `verified` one whose rows all are.
    """

    path: Path
    start: int
    at: float
    failed: bool
    verified: bool

    @property
    def rows(self) -> Rows:
        """Read from the file; raises WorkbenchError where they do not stand there any more."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.start)
                record = _read(file.readline())
        except OSError as error:
            raise _unreadable(self.path, error) from error
        if record is None:
            raise WorkbenchError(f"'{self.path}' has been damaged since it was read; the same command goes on")
        return record["rows"]


@dataclass
class Kept:
    """What the journals of a folder hold: the latest record of each key, and damaged lines by file."""

    records: dict[str, JournalEntry] = field(default_factory=dict)
    damaged: dict[str, int] = field(default_factory=dict)

    def done(self, retry_failed: bool) -> set[str]:
        """Keys of runs that need not be made, all of them or all that have not failed."""
        return {key for key, record in self.records.items() if not (retry_failed and record.failed)}

    @property
    def rows(self) -> dict[str, Rows]:
        """The rows of all keys at once."""
        return {key: record.rows for key, record in self.records.items()}


def read_journals(folder: Path) -> Kept:
    """What is in the journals of a folder; raises WorkbenchError where one cannot be read."""
    found = Kept()
    for path in sorted(folder.absolute().glob(PATTERN)):
        try:
            with path.open("rb") as file:
                start = 0
                for line in file:
                    record = _read(line)
                    if record is None:
                        found.damaged[path.name] = found.damaged.get(path.name, 0) + 1
                    else:
                        rows, before = record["rows"], found.records.get(record["key"])
                        # Clocks may be put back, lines of a file stand in their order.
                        if before is None or before.path == path or before.at <= record["at"]:
                            verified = all(row.get("verified") for row in rows)
                            found.records[record["key"]] = JournalEntry(
                                path, start, record["at"], is_failed(rows), verified
                            )
                    start += len(line)
        except OSError as error:
            raise _unreadable(path, error) from error
    return found


def is_failed(rows: Rows) -> bool:
    """Whether a run has no answer in some window for a reason that may be gone the next time."""
    return any(row.get("claimed") in BROKEN for row in rows)


def _unreadable(path: Path, error: OSError) -> WorkbenchError:
    return WorkbenchError(f"'{path}' cannot be read: {error.strerror}")


def in_use(folder: Path) -> list[str]:
    """Names of the journals that a process is writing to."""
    found = []
    for path in sorted(folder.glob(PATTERN)):
        file = os.open(path, os.O_RDONLY)
        try:
            _lock(file)
        except BlockingIOError:
            found.append(path.name)
        finally:
            os.close(file)
    return found


class Journal:
    """A file to append to, kept open; `with` closes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            _lock(self.file)
            size = os.fstat(self.file).st_size
            if size and os.pread(self.file, 1, size - 1) != b"\n":
                # A record was cut off; the next one begins on a line of its own.
                self._write(b"\n")
        except BlockingIOError:
            raise WorkbenchError(
                f"another process is at work on '{path}'; wait for it, or give another folder"
            ) from None
        except OSError as error:
            raise self._failed(error) from error

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.file)

    def append(self, records: Iterable[tuple[str, Rows]]) -> None:
        """Add the rows of these keys; raises WorkbenchError where there is no room, and takes back what was half
        written."""
        content = b"".join(_line(key, rows) for key, rows in records)
        with uninterrupted():
            size = os.fstat(self.file).st_size
            try:
                self._write(content)
            except OSError as error:
                os.ftruncate(self.file, size)
                raise self._failed(error) from error

    def _write(self, content: bytes) -> None:
        while content:
            content = content[os.write(self.file, content) :]
        os.fdatasync(self.file)

    def _failed(self, error: OSError) -> WorkbenchError:
        return WorkbenchError(
            f"cannot write to '{self.path}': {error.strerror}; what was finished is kept, and the same command goes on"
        )


def _lock(file: int) -> None:
    """The lock goes with the process, however it ends; systems without such locks have none."""
    with suppress(ImportError):
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(file, LOCK_EX | LOCK_NB)


def _line(key: str, rows: Rows) -> bytes:
    record = {"key": key, "at": round(time.time(), 3), "rows": [_plain(row) for row in rows]}
    content = json.dumps(record, separators=(",", ":")).encode()
    return b"%s %s\n" % (_digest(content), content)


def _read(line: bytes) -> dict[str, Any] | None:
    digest, _, content = line.rstrip(b"\n").partition(b" ")
    if digest != _digest(content) or not line.endswith(b"\n"):
        return None
    record = json.loads(content)
    return record if isinstance(record, dict) and {"key", "at", "rows"} <= set(record) else None


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest()[:DIGITS].encode()


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Scalars of NumPy as Python's; what is not defined is left out."""
    found = {key: value.item() if hasattr(value, "item") else value for key, value in row.items()}
    return {k: v for k, v in found.items() if v is not None and not (isinstance(v, float) and math.isnan(v))}
