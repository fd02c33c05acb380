"""Solutions of problems in files: the impulses p and velocities u of a friction problem, the unknowns z of others.

    .npz            arrays p, u, in the workbench's order (all normals, then the tangents contact by contact), or z
    .csv            rows of quantity, index, value, in the same order
    .hdf5, .h5      FCLIB's layout: the problem, and in the group `solution` r = p and u contact by contact, and for a
                    global problem v of the bodies and l = p_b of bilateral constraints

A solution may be the start of another solve; it is not trusted more than any other point.
"""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.classes import Array
from workbench.problems.friction_problem import (
    FrictionProblem,
    GlobalFrictionProblem,
    contact_by_contact,
    normals_first,
)
from workbench.readers.npz import FileProblem, read_arrays
from workbench.support.errors import DataError
from workbench.support.output import replaced

ENDINGS = (".npz", ".csv", ".hdf5", ".h5")
"""Extensions of files to which solutions are written."""
QUANTITIES = ("p", "z")
"""Names of the arrays from which a solve may start."""


def write_answer(problem: FileProblem, values: Mapping[str, Array], path: str | Path) -> None:
    """Write the arrays of a solution; the file is written whole or not at all. Raises WorkbenchError on failure."""
    suffix = Path(path).suffix.lower()
    if suffix not in ENDINGS:
        raise DataError(f"cannot write a solution to '{path}'; its name must end in one of {', '.join(ENDINGS)}")
    if suffix in (".hdf5", ".h5"):
        if not isinstance(problem, FrictionProblem | GlobalFrictionProblem):
            raise DataError(
                f"FCLIB's layout holds friction problems, and this is an {problem.kind}; write .npz or .csv"
            )
        friction = problem
        whole(path, lambda stage: _write_fclib(friction, values, stage))
    elif suffix == ".csv":
        whole(path, lambda stage: _write_csv(values, stage))
    else:
        whole(path, lambda stage: _write_npz(values, stage))


def read_answer(path: str | Path, problem: FileProblem) -> Array:
    """Read the impulses p, or unknowns z, of a solution of a problem of this size (n,). Raises DataError.

    The error of a file without a solution names the files that can hold one.
    """
    path, friction = Path(path), isinstance(problem, FrictionProblem | GlobalFrictionProblem)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"{path.name} {what}; give a file with a solution")
    suffix, name = path.suffix.lower(), "p" if friction else "z"
    found: Array | list[float] | None = None
    if suffix in (".hdf5", ".h5") and friction:
        from workbench.readers.fclib import read_solution

        found = read_solution(path)
        if found is not None and found.size == problem.size:
            found = found[normals_first(problem.contacts, problem.d)]  # type: ignore[union-attr]
    elif suffix in (".npz", ".csv"):
        found = (read_arrays(path, QUANTITIES) if suffix == ".npz" else _read_csv(path)).get(name)
    if found is None:
        right = "impulses p in .npz or .csv, or FCLIB HDF5 with a group solution" if friction else "z in .npz or .csv"
        raise DataError(f"{path.name} holds no solution; give a file with one: {right}")
    found = np.asarray(found, dtype=float)
    if found.shape != (problem.size,):
        raise DataError(f"{path.name} holds {name} of shape {found.shape}; this problem has {problem.size} unknowns")
    if not np.isfinite(found).all():
        raise DataError(f"{path.name} holds {found[~np.isfinite(found)][0]}; every number of a solution must be finite")
    return found


def whole(path: str | Path, write: Callable[[str], None]) -> None:
    """Write a file through a temporary one in the same folder. Raises WorkbenchError where that fails."""
    try:
        with replaced(path) as stage:
            write(str(stage))
    except OSError as error:
        raise DataError(f"cannot write '{path}': {error.strerror or error}; choose another place") from None


def _write_npz(values: Mapping[str, Array], path: str) -> None:
    with open(path, "wb") as file:
        np.savez(file, **dict(values))  # type: ignore[arg-type]


def _write_csv(values: Mapping[str, Array], path: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("quantity", "index", "value"))
        rows.writerows((name, i, repr(float(x))) for name, array in values.items() for i, x in enumerate(array))


def _read_csv(path: Path) -> dict[str, list[float]]:
    from workbench.readers.text import read_text

    text, name = read_text(path)
    lines = list(csv.reader(text.splitlines()))
    if not lines or lines[0][:3] != ["quantity", "index", "value"]:
        raise DataError(
            f"{name} is not a solution: its first line must be quantity,index,value, then come lines such as p,0,1.5"
        )
    found: dict[str, list[float]] = {}
    for number, words in enumerate(lines[1:], start=2):
        try:
            quantity, index, value = words[0], int(words[1]), float(words[2])
        except (IndexError, ValueError):
            raise DataError(
                f"{name}, line {number} is not of the form quantity,index,value: {','.join(words)[:40]!r}"
            ) from None
        if index != len(found.setdefault(quantity, [])):
            raise DataError(f"{name}, line {number}: index {index} found where {len(found[quantity])} is needed")
        found[quantity].append(value)
    return found


def _write_fclib(problem: FrictionProblem | GlobalFrictionProblem, values: Mapping[str, Array], path: str) -> None:
    from workbench.readers.fclib import write_fclib

    order = contact_by_contact(problem.contacts, problem.d)
    solution = {"r": values["p"][order], "u": values["u"][order]}
    if isinstance(problem, GlobalFrictionProblem):
        n, m = problem.G.shape
        K = sparse.csc_array(sparse.block_array([[problem.M, -problem.G], [problem.G.T, None]]) if m else problem.M)
        x = sparse.linalg.spsolve(K, np.concatenate([problem.f + problem.H @ values["p"], -problem.b]))
        solution |= {"v": x[:n], "l": x[n:]} if m else {"v": x}
    write_fclib(problem, path, solution)
