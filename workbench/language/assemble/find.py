"""The compiled declaration of a formulation: from this process, from disk, so that it needs no CVXPY, or compiled now.

A file (`engine.disk`) holds the tensor of a declaration as arrays, without pickles or names. Everything else (bounds,
hooks, layout) comes from the current declaration, which is declared again in plain numbers (`language.values`). Before
it is used, the tensor is compared with the declaration's values at random data, different in every process. So a wrong
file counts as missing, whatever its digest says (docs/decisions/0021).

The name of a file is the hash of everything on which the bits of the tensor depend: the sources of the workbench and of
the modules that the declaring function imports, its options, the size, the versions of CVXPY and NumPy. Formulations
that cannot be found again by name, such as those of a notebook, are not stored.
"""

import ast
import hashlib
import io
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from workbench.engine.disk import alone, read, write
from workbench.engine.timing import standing_still
from workbench.language.assemble.plan import Compiled
from workbench.language.assemble.rows import DeclaredRows, read_rows
from workbench.language.formulation import Formulation
from workbench.language.values import by_values

VERSIONED = "numpy", "cvxpy", "numba"
"""Packages that a declaration may use in addition to the workbench, identified by their versions."""
ROOMS = "engine", "mechanics", "language", "language/assemble"
"""Packages of the workbench on which the numbers of a declaration depend."""
ROUND_OFF = 1e-12
"""Largest relative difference allowed between a stored tensor and the current declaration."""
WHOLE, REAL = np.dtype(np.int64), np.dtype(np.float64)
ARRAYS = {"at": WHOLE, "par": WHOLE, "val": REAL, "first": WHOLE, "place": WHOLE, "constant": REAL}
"""Stored arrays: the entries of `Plan`, and the nonzero entries of the constant A with their positions."""


@lru_cache(maxsize=256)
def compiled(formulation: Formulation, *size: int) -> Compiled:
    """Compile a formulation for one size: for a time step n velocities, m bilateral rows, r contacts, d tangents."""
    start = perf_counter()
    with standing_still():
        c = load_declaration(formulation, size)
        if c is None:
            from workbench.language.assemble.tensor import compile_declaration

            name = _name(formulation, size)
            with nullcontext() if name is None else alone(name):
                # Another process may have compiled it in the meantime.
                c = load_declaration(formulation, size)
                if c is None:
                    c = compile_declaration(formulation, size)
                    save_declaration(c)
    return replace(c, seconds=perf_counter() - start)


def load_declaration(formulation: Formulation, size: tuple[int, ...]) -> Compiled | None:
    """Load a stored declaration; None if there is none that agrees with the current declaration."""
    name = _name(formulation, size)
    content = None if name is None else read(name)
    if content is None:
        return None
    arrays = _arrays(content)
    if arrays is None:
        return None
    try:
        with by_values():
            return _agreeing(read_rows(formulation, size), **arrays)
    except Exception:
        # It uses more of CVXPY than `values` covers, or cannot be declared at all.
        return _agreeing(read_rows(formulation, size), **arrays)


def _arrays(content: bytes) -> dict[str, np.ndarray] | None:
    """The arrays in a file's content, or None if it holds anything else."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ARRAYS}
    except Exception:
        # Content that is not an archive of arrays raises various exceptions.
        return None
    fine = all(arrays[name].ndim == 1 and arrays[name].dtype == kind for name, kind in ARRAYS.items())
    return arrays if fine else None


def _agreeing(
    rows: DeclaredRows, at: Any, par: Any, val: Any, first: Any, place: Any, constant: Any
) -> Compiled | None:
    """The declaration with a stored tensor, if the tensor agrees with it."""
    A = np.zeros(rows.shape)
    # Compiled code does not check bounds.
    ends = [(at, A.size), (par, rows.theta.size), (place, A.size), (first, at.size + 1)]
    if not (at.size == par.size == val.size and place.size == constant.size and first.size == 1) or any(
        x.size and not 0 <= x.min() <= x.max() < end for x, end in ends
    ):
        return None
    A.reshape(-1)[place] = constant
    found = rows.compiled(A, at, par, val, int(first[0]))
    return found if rows.difference(found, np.random.default_rng()) <= ROUND_OFF else None


def save_declaration(c: Compiled) -> None:
    """Store a compiled declaration that can be found again; a folder that is not writable is no error."""
    name = _name(c.formulation, c.size)
    if name is None:
        return
    flat, file = c.constant.reshape(-1), io.BytesIO()
    place, first = np.flatnonzero(flat), np.array([c.plan.first])
    np.savez(file, at=c.plan.at, par=c.plan.par, val=c.plan.val, first=first, place=place, constant=flat[place])
    write(name, file.getvalue())


def _name(formulation: Formulation, size: tuple[int, ...]) -> str | None:
    """Name of the file for a formulation and size; None if its dependencies cannot be determined."""
    module, name = formulation.build.__module__, formulation.build.__name__
    known = getattr(sys.modules.get(module), name, None)
    if getattr(known, "build", None) is not formulation.build:
        return None
    sources = _sources(module)
    if sources is None:
        return None
    facts = sources, module, name, sorted(formulation.options.items()), tuple(map(int, size)), _versions()
    return f"{hashlib.sha256(repr(facts).encode()).hexdigest()}.declaration"


@lru_cache
def _versions() -> tuple[str, ...]:
    return tuple(version(name) for name in VERSIONED)


def _sources(module: str) -> str | None:
    """Hash of the sources of the workbench and of a module with all its imports; None if a source is missing."""
    try:
        here = Path(__file__).parents[2]
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
            todo += _imported(Path(path).read_bytes(), sys.modules[name].__package__)
    except (OSError, SyntaxError, ValueError):
        return None
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def _imported(source: bytes, package: str | None) -> list[str]:
    """Names of the modules that a module's source imports."""
    sure, perhaps = _import_statements(source, package)
    return [*sure, *(name for name in perhaps if name in sys.modules)]


@lru_cache(maxsize=1024)
def _import_statements(source: bytes, package: str | None) -> tuple[list[str], list[str]]:
    """Names that a source imports as modules, and names imported from modules that may be modules too."""
    sure, perhaps = [], []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            sure += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            sure.append(origin)
            perhaps += [f"{origin}.{alias.name}" for alias in node.names]
    return sure, perhaps
