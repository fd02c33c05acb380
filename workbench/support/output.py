"""Safe writing of results: everything goes into a temporary folder first, which is then renamed."""

import errno
import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from workbench.support.errors import WorkbenchError
from workbench.support.signals import uninterrupted

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = (
    "contact-workbench", "numpy", "scipy", "pandas", "pyarrow", "numba", "python-flint", "h5py", "cvxpy", "clarabel",
    "scs", "altair", "vl-convert-python", "rich",
)  # fmt: skip

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
BROKEN = (errno.EIO, errno.EROFS)
"""Error numbers of a full disk (FULL) and of a failing one."""


def path_of(name: str, given: Any) -> Path:
    """Return a path from what was given as `name`; raises WorkbenchError for what is none."""
    if not isinstance(given, str | os.PathLike):
        raise WorkbenchError(f"{name} = {given!r:.40}; a path is needed")
    return Path(given)


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Return a temporary folder whose files replace those of `out` when the block ends without an error.

    It is inside `out`, which may be a separate disk, or next to it if that folder does not exist yet. Raises
    WorkbenchError immediately if `out` cannot be written, before any work is done; folders created on the way are
    removed again if the block fails.
    """
    out = out.absolute()
    if out.exists() and not out.is_dir():
        raise WorkbenchError(f"cannot write to '{out}': it is a file; --out needs a folder")
    missing = [p for p in (out.parent, *out.parent.parents) if not p.exists()]
    for folder in (out.parent, out):
        _clear(folder, out.name)
    stage = _stage(out if out.exists() else out.parent, out.name)
    # The folder is created within the block that removes it: a signal may arrive right after.
    try:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            stage.mkdir(mode=0o700)
        except OSError as error:
            words = f"cannot write to '{out}': {error.strerror}; choose another folder with --out"
            raise WorkbenchError(words) from error
        with room_for(out):
            yield stage
        with uninterrupted():
            _move(stage, out)
    finally:
        with uninterrupted():
            shutil.rmtree(stage, ignore_errors=True)
            for folder in missing:
                with suppress(OSError):
                    # Only an empty folder can be removed, that is one in which nothing was written.
                    folder.rmdir()


@contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """Return a temporary file that replaces `path` when the block ends without an error.

    Raises WorkbenchError immediately if `path` cannot be written.
    """
    path = Path(path).absolute()
    if path.is_dir():
        raise WorkbenchError(f"cannot write to '{path}': it is a folder; give a file")
    _clear(path.parent, path.name)
    stage = _stage(path.parent, path.name)
    try:
        try:
            stage.touch(mode=0o600, exist_ok=False)
        except OSError as error:
            words = f"cannot write to '{path}': {error.strerror}; choose another file"
            raise WorkbenchError(words) from error
        with room_for(path):
            yield stage
            # Temporary files are private; a result gets the permissions of other files in the folder.
            umask = os.umask(0)
            os.umask(umask)
            stage.chmod(0o666 & ~umask)
            stage.replace(path)
    finally:
        # If the file could not be created, there may be no such folder.
        with uninterrupted(), suppress(OSError):
            stage.unlink()


def page_path(path: str | Path) -> Path:
    """Return the path of a page to be written; raises WorkbenchError if its name is not that of a page."""
    if path_of("page", path).suffix.lower() not in (".html", ".htm"):
        raise WorkbenchError(f"{path}: a page is HTML; give a name that ends in .html")
    return Path(path)


def _stage(folder: Path, name: str) -> Path:
    """Return a new hidden path in a folder for the result with this name."""
    return folder / f"{_mine(name)}{os.getpid()}-{token_hex(4)}"


def _clear(folder: Path, name: str) -> None:
    """Remove temporary files left by killed processes of this machine."""
    with suppress(OSError):
        for left in [path for path in folder.iterdir() if path.name.startswith(_mine(name))]:
            if not _lives(left.name.removeprefix(_mine(name)).partition("-")[0]):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _mine(name: str) -> str:
    return f".{name}-{platform.node()}-"


def _lives(process: str) -> bool:
    """Return whether a process with this number may exist."""
    if os.name != "posix" or not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


@contextmanager
def room_for(out: Path) -> Iterator[None]:
    """Raise WorkbenchError if the disk is full or fails, or a quota or limit is reached, within the block."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL + BROKEN:
            raise
        advice = "make room there" if error.errno in FULL else "choose another disk"
        raise WorkbenchError(f"cannot write to '{out}': {os.strerror(error.errno)}; {advice}") from error


def _move(stage: Path, out: Path) -> None:
    """Rename every file of `stage` to its place in `out`, after checking that all can be replaced."""
    moves = [(path, out / path.relative_to(stage)) for path in sorted(stage.rglob("*")) if path.is_file()]
    for _, target in moves:
        inside = [p for p in target.parents if out in (p, *p.parents)]
        blocked = next((p for p in inside if p.exists() and not p.is_dir()), target if target.is_dir() else None)
        if blocked:
            raise WorkbenchError(
                f"cannot write '{target}': '{blocked}' is in the way; remove it or choose another --out"
            )
    try:
        for path, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
    except OSError as error:
        raise WorkbenchError(f"cannot write to '{out}': {error.strerror}; choose another folder with --out") from error


def _processor() -> str:
    """Return the processor's name, if the system reports it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "processor unknown"


def provenance(**settings: Any) -> dict[str, Any]:
    """Versions, machine, time and settings of a run, JSON-ready."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, {_processor()}",
        "versions": versions,
        **settings,
    }


def write_json(path: Path, data: Any) -> None:
    """Write JSON for human readers: indented, with a final line end."""
    path.write_text(json_text(data) + "\n", "utf-8")


def json_rows(frame: "pd.DataFrame") -> str:
    """Return the rows of a frame as JSON; undefined values become null."""
    return json_text(frame.astype(object).where(frame.notna(), None).to_dict("records"))


def json_text(data: Any) -> str:
    """Return data as JSON, arrays as lists; numbers that are not finite become null, since JSON has none."""
    return json.dumps(_plain(data), indent=2, default=str, allow_nan=False)


def _plain(data: Any) -> Any:
    if hasattr(data, "tolist"):
        # NumPy arrays and scalars.
        data = data.tolist()
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not isfinite(data) else data
