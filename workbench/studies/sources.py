"""What the code of a row is: a digest of the workbench's sources, of the libraries' versions, and of somebody's own."""

import hashlib
import inspect
import sys
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cloudpickle

import workbench

COMPUTING = ("numpy", "scipy", "numba", "clarabel", "cvxpy")
"""Libraries whose version may change a number."""


@lru_cache(maxsize=1000)
def digest_of(*things: Any) -> str:
    """A digest of the code that functions and classes come from.

    Of the workbench's own that is all of its sources, of others the file that they stand in; where there is no such
    file, as in a notebook, the bytes that travel to another process.
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
    """A digest of the workbench's sources, the cases and formulations that come with it, and of versions."""
    root = Path(inspect.getfile(workbench)).parent
    found = hashlib.sha256("".join(f"{name} {version(name)};" for name in COMPUTING).encode())
    for path in sorted({*root.rglob("*.py"), *(root / "builtin").glob("*/*.py")}):
        name = path.relative_to(root)
        # Its own folder of reports: the workbench may lie in one that is called so as well.
        if "reports" not in name.parts:
            found.update(str(name).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()
