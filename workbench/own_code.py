"""Somebody's own Python file as a module: formulations, cases, solvers and metrics that live beside their work."""

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from workbench.errors import WorkbenchError
from workbench.signals import EndedBySignal

PREFIX = "workbench_own_"
"""Modules of this prefix come from files that no import finds: what they define travels to other processes by value."""


def is_python_file(place: str) -> bool:
    """Whether a place is written as a Python file, be it there or not."""
    return place.endswith(".py")


def load_file(place: str) -> ModuleType:
    """The module that a file holds, run once for each content; it may import what lies beside it.

    Raises WorkbenchError in one line where there is no such file, or where running it fails.
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
    # Behind everything that is installed: a file beside it must not take the place of a library.
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


def reason_of(error: BaseException, file: str = "") -> str:
    """An exception in one line, with the line of `file` where it came from."""
    if isinstance(error, WorkbenchError):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    where = f"line {lines[-1]}: " if lines else ""
    words = " ".join(str(error).split())
    return f"{where}{type(error).__name__}{': ' + words if words else ''}"
