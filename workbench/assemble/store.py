"""Compiled declarations on disk, so that a later process needs neither CVXPY nor the declaring function.

A file (`engine.disk`) holds arrays, no pickles. Its name is the hash of all that the numbers depend on: the sources
of the workbench and of the modules that the declaring function imports, its options, the size, the versions of CVXPY
and NumPy. So nothing stale is ever found. Formulations that cannot be found again by name, in a notebook say, are not
stored.
"""

import ast
import hashlib
import io
import json
import os
import sys
import time
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assemble.plan import Compiled, Plan
from workbench.engine.disk import read, write
from workbench.language.formulation import Formulation
from workbench.language.modelling import Hooks

VERSIONED = "numpy", "cvxpy", "numba"
"""Packages that a declaration may use beside the workbench, known by their versions."""
ROOMS = "engine", "mechanics", "language", "assemble"
"""Parts of the workbench that the numbers of a declaration depend on."""
HOOKS = "given", "again", "remember"


def _start_of_process() -> float:
    """Time [s] since the epoch; where the system does not tell, that of importing this module."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
        return min(time.time(), time.time() - up + ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return time.time()


STARTED = _start_of_process()
"""A source that is younger than this process may not be what was imported."""


def load(formulation: Formulation, size: tuple[int, ...]) -> Compiled | None:
    """The stored declaration; None where there is none that is whole."""
    name = _name(formulation, size)
    content = None if name is None else read(name)
    if content is None:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = dict(stored)
    facts = json.loads(arrays["facts"].tobytes())
    constant = np.zeros(facts["shape"])
    constant.reshape(-1)[arrays["place"]] = arrays["constant"]
    plan = Plan(*(arrays[name] if name in arrays else facts[name] for name in Plan._fields))
    hooks = {name: facts[name] and getattr(import_module(facts[name][0]), facts[name][1]) for name in HOOKS}
    kept = Hooks(**hooks, numbers=tuple(facts["numbers"]), memory=facts["memory"], estimate=facts["estimate"])
    return Compiled(formulation, size, facts["kind"], plan, constant, arrays["theta"], slice(*facts["own"]), kept)


def save(c: Compiled) -> None:
    """Store what has been compiled, where it can be found again; a folder that cannot be written to is no error."""
    name, hooks = _name(c.formulation, c.size), {name: getattr(c.hooks, name) for name in HOOKS}
    if name is None or not all(hook is None or _is_global(hook, hook.__name__) for hook in hooks.values()):
        return
    facts: dict[str, Any] = {key: hook and (hook.__module__, hook.__name__) for key, hook in hooks.items()}
    facts |= {name: value for name, value in c.plan._asdict().items() if isinstance(value, int)}
    facts |= dict(shape=c.constant.shape, kind=c.kind, own=(c.own.start, c.own.stop), numbers=c.hooks.numbers)
    facts |= dict(memory=c.hooks.memory, estimate=c.hooks.estimate)
    arrays: dict[str, Any] = {name: x for name, x in c.plan._asdict().items() if isinstance(x, np.ndarray)}
    flat = c.constant.reshape(-1)
    arrays |= dict(place=np.flatnonzero(flat), constant=flat[np.flatnonzero(flat)], theta=c.theta)
    file = io.BytesIO()
    np.savez(file, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **arrays)
    write(name, file.getvalue())


def _name(formulation: Formulation, size: tuple[int, ...]) -> str | None:
    """The name of the file of a formulation and size; None where what it depends on cannot be told."""
    module, name = formulation.build.__module__, formulation.build.__name__
    known = getattr(sys.modules.get(module), name, None)
    if getattr(known, "build", None) is not formulation.build:
        return None
    sources = _sources(module)
    if sources is None:
        return None
    facts = sources, module, name, sorted(formulation.options.items()), tuple(map(int, size)), _versions()
    return f"{hashlib.sha256(repr(facts).encode()).hexdigest()}.declaration"


def _is_global(thing: Any, name: str) -> bool:
    return getattr(sys.modules.get(thing.__module__), name, None) is thing


@lru_cache
def _versions() -> tuple[str, ...]:
    return tuple(version(name) for name in VERSIONED)


def _sources(module: str) -> str | None:
    """Hash of the sources of the workbench and of a module with all that it imports; None where there is a gap."""
    try:
        here = Path(__file__).parent.parent
        found = {str(path): _digest(path) for room in ROOMS for path in (here / room).glob("*.py")}
        todo = [module]
        while todo:
            name = todo.pop()
            known = name.partition(".")[0] in (*sys.stdlib_module_names, *VERSIONED, "workbench")
            if name in found or (known and name != "__main__" and not name.startswith("workbench.builtin.")):
                continue
            path = getattr(sys.modules.get(name), "__file__", None)
            if path is None or name == "__main__":
                return None
            found[name] = _digest(Path(path))
            todo += _imported(ast.parse(Path(path).read_bytes()), sys.modules[name])
    except (OSError, SyntaxError, ValueError):
        return None
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def _digest(path: Path) -> bytes:
    """Of a source that is what this process has imported; raises ValueError where it has been changed since."""
    if path.stat().st_mtime >= STARTED:
        raise ValueError(f"{path} was changed while this process was running")
    return hashlib.sha256(path.read_bytes()).digest()


def _imported(tree: ast.AST, module: Any) -> list[str]:
    """Names of the modules that a module's source imports."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), module.__package__)
            names.append(origin)
            names += [f"{origin}.{alias.name}" for alias in node.names if f"{origin}.{alias.name}" in sys.modules]
    return names
