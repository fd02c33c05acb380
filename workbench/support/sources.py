"""Digest of the code that makes a row: the workbench's sources, the libraries' versions, and user code."""

import hashlib
import sys
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cloudpickle

ROOT = Path(__file__).parents[1]
"""The workbench's folder."""
COMPUTING = ("numpy", "scipy", "numba", "clarabel", "cvxpy")
"""Libraries whose version may change a result."""


@lru_cache(maxsize=1000)
def digest_of(*things: Any) -> str:
    """Return a digest of the code of functions and classes.

    For the workbench's own these are all of its sources, for others their file, or if there is none, as in a notebook,
    their pickled bytes.
    """
    found = hashlib.sha256(_workbench().encode())
    for thing in things:
        module = getattr(thing, "__module__", "") or ""
        if module.partition(".")[0] == "workbench":
            continue
        path = getattr(sys.modules.get(module), "__file__", None)
        found.update(Path(path).read_bytes() if path and Path(path).is_file() else cloudpickle.dumps(thing))
    return found.hexdigest()


@cache
def _workbench() -> str:
    """Digest of the workbench's sources, the bundled cases and formulations, and versions."""
    root = ROOT
    found = hashlib.sha256("".join(f"{name} {version(name)};" for name in COMPUTING).encode())
    for path in sorted({*root.rglob("*.py"), *(root / "builtin").glob("*/*.py")}):
        name = path.relative_to(root)
        # Only its own folder of reports: the workbench itself may be in a folder of that name.
        if "reports" not in name.parts:
            found.update(str(name).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()
