"""Writing results so that an interruption loses nothing: everything into a temporary folder first, then renamed."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError

PACKAGES = (
    "contact-workbench",
    "numpy",
    "scipy",
    "pandas",
    "numba",
    "cvxpy",
    "clarabel",
    "altair",
    "vl-convert-python",
)


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """A temporary folder beside `out` whose files replace those of `out` when the block ends without an error.

    Raises WorkbenchError at once when `out` cannot be written, before any work is done.
    """
    out = out.absolute()
    if out.exists() and not out.is_dir():
        raise WorkbenchError(f"cannot write to '{out}': it is a file; --out needs a folder")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists():
            # Renaming into it is what will be done later; ask now.
            tempfile.TemporaryFile(dir=out).close()
        stage = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise WorkbenchError(f"cannot write to '{out}': {error.strerror}; choose another folder with --out") from error
    try:
        yield stage
        for path in sorted(p for p in stage.rglob("*") if p.is_file()):
            target = out / path.relative_to(stage)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


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
        "platform": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "versions": versions,
        **settings,
    }
