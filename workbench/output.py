"""Writing results so that an interruption loses nothing: everything into a temporary folder first, then renamed."""

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

from workbench.errors import WorkbenchError
from workbench.signals import uninterrupted

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = (
    "contact-workbench", "numpy", "scipy", "pandas", "pyarrow", "numba", "python-flint", "h5py", "cvxpy", "clarabel",
    "scs", "altair", "vl-convert-python", "rich",
)  # fmt: skip

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
BROKEN = (errno.EIO, errno.EROFS)
"""What a disk says that has no room, and one that fails."""


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """A temporary folder whose files replace those of `out` when the block ends without an error.

    It lies in `out`, which may be a disk of its own, or beside it where there is no such folder yet. Raises
    WorkbenchError at once when `out` cannot be written, before any work is done; folders made on the way are taken back
    when nothing comes of it.
    """
    out = out.absolute()
    if out.exists() and not out.is_dir():
        raise WorkbenchError(f"cannot write to '{out}': it is a file; --out needs a folder")
    missing = [p for p in (out.parent, *out.parent.parents) if not p.exists()]
    for folder in (out.parent, out):
        _clear(folder, out.name)
    stage = _stage(out if out.exists() else out.parent, out.name)
    # The folder is made within the block that removes it: a signal may come right after.
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
                    # Only an empty folder can be removed, hence only where nothing was written.
                    folder.rmdir()


@contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """A temporary file that takes the place of `path` when the block ends without an error.

    Raises WorkbenchError at once when `path` cannot be written.
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
            # Temporary files are private; a result may be read by whoever may read the folder's other files.
            umask = os.umask(0)
            os.umask(umask)
            stage.chmod(0o666 & ~umask)
            stage.replace(path)
    finally:
        # Where it could not be made there may be no such folder.
        with uninterrupted(), suppress(OSError):
            stage.unlink()


def page_path(path: str | Path) -> Path:
    """The path of a page that is to be written; raises WorkbenchError where its name is not that of one."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise WorkbenchError(f"{path}: a page is HTML; give a name that ends in .html")
    return Path(path)


def _stage(folder: Path, name: str) -> Path:
    """A new hidden place in a folder for what is to have this name."""
    return folder / f"{_mine(name)}{os.getpid()}-{token_hex(4)}"


def _clear(folder: Path, name: str) -> None:
    """Remove what killed processes of this machine have left in such places."""
    with suppress(OSError):
        for left in [path for path in folder.iterdir() if path.name.startswith(_mine(name))]:
            if not _lives(left.name.removeprefix(_mine(name)).partition("-")[0]):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _mine(name: str) -> str:
    return f".{name}-{platform.node()}-"


def _lives(process: str) -> bool:
    """Whether there may be a process of this number."""
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
    """Raises WorkbenchError in one line where the disk is full, a quota or a limit is reached, or the disk fails,
    within the block."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL + BROKEN:
            raise
        advice = "make room there" if error.errno in FULL else "choose another disk"
        raise WorkbenchError(f"cannot write to '{out}': {os.strerror(error.errno)}; {advice}") from error


def _move(stage: Path, out: Path) -> None:
    """Rename every file of `stage` to its place in `out`, having seen first that each place can take it."""
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
    """The processor's name, where the system tells."""
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
    """JSON for people: indented, with a line end."""
    path.write_text(json_text(data) + "\n", "utf-8")


def json_rows(frame: "pd.DataFrame") -> str:
    """The rows of a frame as JSON; what is not defined becomes null."""
    return json_text(frame.astype(object).where(frame.notna(), None).to_dict("records"))


def json_text(data: Any) -> str:
    """Data as JSON, arrays as lists; JSON has no numbers that are not finite, which become null."""
    return json.dumps(_plain(data), indent=2, default=str, allow_nan=False)


def _plain(data: Any) -> Any:
    if hasattr(data, "tolist"):
        # Arrays and scalars of NumPy.
        data = data.tolist()
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not isfinite(data) else data
