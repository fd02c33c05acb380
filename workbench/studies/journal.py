"""The journal of a study: finished rows, appended as they arrive, each record complete or absent (docs/decisions/0026).

A record is one line, a digest and JSON: {"key": ..., "at": ..., "rows": [...]}, with the rows of one run, one for each
window, and the time of writing [s since 1970]. Records of a process that died are available to the next one. A line
that is incomplete or changed does not match its digest, counts as absent, and is reported. Several processes, such as
the shards of a cluster, have one file each in the same folder.
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

from workbench.support.errors import WorkbenchError
from workbench.support.signals import uninterrupted

DIGITS = 16
"""Hexadecimal digits of a digest."""
PATTERN = "journal*.jsonl"


Rows = list[dict[str, Any]]
"""The rows of one run, one for each window."""
BROKEN = ("FAILED", "CRASHED", "TIME_LIMIT")
"""Outcomes of a row without a result, for a reason that may not recur; refusals are not among them."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """Position of a run's rows in the file, the time of writing [s since 1970], and their outcome.

    `failed`: some row is `BROKEN`; `verified`: all rows are verified.
    """

    path: Path
    start: int
    at: float
    failed: bool
    verified: bool

    @property
    def rows(self) -> Rows:
        """The rows, read from the file; raises WorkbenchError if they are no longer there."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.start)
                record = _read(file.readline())
        except OSError as error:
            raise _unreadable(self.path, error) from error
        if record is None:
            raise WorkbenchError(f"'{self.path}' has been damaged since it was read; the same command resumes")
        return record["rows"]


@dataclass
class Kept:
    """Contents of the journals of a folder: the latest record of each key, and damaged lines by file."""

    records: dict[str, JournalEntry] = field(default_factory=dict)
    damaged: dict[str, int] = field(default_factory=dict)

    def done(self, retry_failed: bool) -> set[str]:
        """Return the keys of runs that need not be made: all, or all that have not failed."""
        return {key for key, record in self.records.items() if not (retry_failed and record.failed)}

    @property
    def rows(self) -> dict[str, Rows]:
        """Return the rows of all keys."""
        return {key: record.rows for key, record in self.records.items()}


def read_journals(folder: Path) -> Kept:
    """Read the journals of a folder; raises WorkbenchError if one cannot be read."""
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
                        # Clocks may be set back; the lines of a file are in order.
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
    """Return whether a run has no result in some window for a reason that may not recur."""
    return any(row.get("claimed") in BROKEN for row in rows)


def _unreadable(path: Path, error: OSError) -> WorkbenchError:
    return WorkbenchError(f"'{path}' cannot be read: {error.strerror}")


def in_use(folder: Path) -> list[str]:
    """Return the names of the journals that a process is writing to."""
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
    """A file for appending, kept open; `with` closes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            _lock(self.file)
            size = os.fstat(self.file).st_size
            if size and os.pread(self.file, 1, size - 1) != b"\n":
                # The last record is incomplete; the next one begins on a new line.
                self._write(b"\n")
        except BlockingIOError:
            raise WorkbenchError(f"another process is using '{path}'; wait for it, or give another folder") from None
        except OSError as error:
            raise self._failed(error) from error

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.file)

    def append(self, records: Iterable[tuple[str, Rows]]) -> None:
        """Append the rows of these keys; raises WorkbenchError if that fails, and removes an incomplete record."""
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
            f"cannot write to '{self.path}': {error.strerror}; finished runs are kept, and the same command resumes"
        )


def _lock(file: int) -> None:
    """Lock a file for the lifetime of the process; systems without such locks have none."""
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
    """Convert NumPy scalars to Python's; undefined values are left out."""
    found = {key: value.item() if hasattr(value, "item") else value for key, value in row.items()}
    return {k: v for k, v in found.items() if v is not None and not (isinstance(v, float) and math.isnan(v))}
