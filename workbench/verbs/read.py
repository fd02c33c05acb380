"""`read`: a problem or a matrix from a file."""

from pathlib import Path
from typing import Any

from workbench.readers.files import ENDINGS, read_problem_file
from workbench.readers.matrix import Matrix
from workbench.readers.npz import FileProblem
from workbench.readers.problem import read_problem
from workbench.support.errors import DataError


def facts_of(path: str | Path) -> dict[str, Any]:
    """Return facts about the problem in a file: kind, sizes, rank, symmetry and so on. Raises DataError."""
    from workbench.diagnostics.problem_facts import problem_facts

    return problem_facts(read_problem_file(path))


def read(path: str | Path) -> FileProblem | Matrix:
    """Read a file: a friction problem, an LCP or MLCP, otherwise a matrix with its entries as written.

    Problems are read from FCLIB's HDF5, Siconos' text, .npz or .mat; matrices from text, .csv, .npy, .mtx or
    .json. Raises DataError, in one line, for anything unusable; nothing in a file is ever executed.

    >>> import tempfile, pathlib
    >>> import workbench as wb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "matrix.csv"
    ...     _ = file.write_text("2, -1\\n-1, 4/3\\n")
    ...     wb.read(file).exact
    [ 2,  -1]
    [-1, 4/3]
    """
    if Path(path).suffix.lower() not in ENDINGS:
        return read_problem(path)[0]
    try:
        return read_problem_file(path)
    except DataError as no_problem:
        try:
            M, q = read_problem(path)
        except DataError:
            raise no_problem from None
        if q is not None:
            raise
        return M
