"""Load a user's Python file as a module: user-defined formulations, cases, solvers and metrics."""

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from workbench.support.errors import WorkbenchError
from workbench.support.signals import EndedBySignal

PREFIX = "workbench_own_"
"""Modules with this prefix come from files that no import finds: their objects are pickled by value."""


def is_python_file(place: str) -> bool:
    """Return whether a place is written as a Python file, whether or not it exists."""
    return place.endswith(".py")


def load_file(place: str) -> ModuleType:
    """Return the module of a file, run once for each content; it may import modules from its own folder.

    Raises WorkbenchError in one line if there is no such file, or if running it fails.
    """
    path = Path(place).expanduser().resolve()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WorkbenchError(f"'{place}' cannot be read: {error.strerror or error}; give a Python file") from None
    digest = hashlib.sha256(str(path).encode() + b"\0" + content).hexdigest()[:12]
    name = f"{PREFIX}{''.join(c if c.isalnum() else '_' for c in path.stem)}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # After all installed packages: a file in the same folder must not replace a library.
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, (KeyboardInterrupt, EndedBySignal)):
            raise
        raise WorkbenchError(f"{place} cannot be run: {reason_of(error, str(path))}") from error
    return module


def place_of(error: BaseException) -> str:
    """Return the last line of a user's file through which an error came: "slope.py, line 12: "; "" if there is none."""
    through = [
        f"{Path(frame.f_code.co_filename).name}, line {line}: "
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").startswith(PREFIX)
    ]
    return through[-1] if through else ""


def reason_of(error: BaseException, file: str = "") -> str:
    """Return an exception in one line, with the line of `file` that raised it."""
    if isinstance(error, WorkbenchError):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    where = f"line {lines[-1]}: " if lines else ""
    words = " ".join(str(error).split())
    return f"{where}{type(error).__name__}{': ' + words if words else ''}"
