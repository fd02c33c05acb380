"""Read contact problems from files of other programs and write them; the content decides the format, not the name."""

import json
import zipfile
from pathlib import Path

import numpy as np

from workbench.problems.classes import LCP, is_sparse
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.answers import whole
from workbench.readers.npz import MATRICES, VECTORS, FileProblem, arrays_of, problem_of, read_npz, write_npz
from workbench.support.errors import DataError, naming

LARGEST_TEXT = 50_000_000
"""Largest size of a text file [bytes]: some ten thousand contacts, and half a gigabyte of memory at worst."""
LARGEST_NUMBER = 1e150
"""Largest entry: beyond it squares overflow, and residuals are meaningless."""
ENDINGS = (".dat", ".hdf5", ".h5", ".mat", ".npz", ".txt")
"""Extensions of files that count as problems when a folder is read."""
WRITTEN = (".hdf5", ".h5", ".npz", ".mat", ".dat", ".mtx")
"""Extensions for writing: FCLIB, arrays of numpy and MATLAB, Siconos' text, MatrixMarket."""
HDF5, ZIP, MATLAB, MARKET = b"\x89HDF\r\n\x1a\n", b"PK\x03\x04", b"MATLAB ", b"%%Matrix"


def read_problem_file(path: str | Path) -> FileProblem:
    """Read the problem in a file: FCLIB's HDF5; .npz, .mat or JSON with arrays of the same names; Siconos' text.

    Raises DataError, in one line, for anything unusable; nothing in a file is ever executed.
    """
    problem = _read(path)
    for name, value in vars(problem).items():
        largest = np.abs(value.data if is_sparse(value) else np.asarray(value)).max(initial=0.0)
        if LARGEST_NUMBER < largest < np.inf:
            raise DataError(
                f"{Path(path).name}: {name} holds {largest:.1e}; beyond {LARGEST_NUMBER:g} squares overflow"
            )
    return problem


def _read(path: str | Path) -> FileProblem:
    path = Path(path)
    shown = str(path) if len(str(path)) <= 100 else "..." + str(path)[-100:]
    try:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "is not a regular file" if path.exists() else "does not exist"
            raise DataError(f"{shown} {what}; give a file with a contact problem")
        with path.open("rb") as file:
            head = file.read(8)
            if head == HDF5:
                from workbench.readers.fclib import read_fclib

                return read_fclib(path)
            if head[:4] == ZIP:
                return read_npz(path)
            if path.stat().st_size > LARGEST_TEXT:
                raise DataError(f"{path.name} is longer than {LARGEST_TEXT // 10**6} MB; save it as HDF5 or .npz")
            if head == MARKET:
                raise DataError(
                    f"{path.name} holds a matrix alone; a problem needs q too: save both as .npz or .mat, or try "
                    "workbench check with --rhs"
                )
            content = head + file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{shown!r} cannot be read: {reason}; give a file with a contact problem") from None
    if head[:7] == MATLAB:
        return _matlab(content, path.name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path.name} is neither HDF5 nor .npz, and its byte {error.start} is not text; give a file with a contact "
            "problem"
        ) from None
    if not text.strip():
        raise DataError(f"{path.name} is empty; give a file with a contact problem")
    if text.lstrip()[:1] == "{":
        return _json(text, path.name)
    from workbench.readers.siconos import parse

    with naming(path.name):
        return parse(text, path.name)


def names_in(path: str | Path) -> set[str]:
    """The names of the arrays in .npz, .mat or JSON; empty if there are none, or the file cannot be read."""
    from workbench.readers.matlab import read_variables

    path = Path(path)
    try:
        if path.suffix.lower() == ".npz":
            with zipfile.ZipFile(path) as archive:
                return {name.partition(".")[0] for name in archive.namelist()}
        if path.suffix.lower() == ".mat":
            return set(read_variables(path.read_bytes(), path.name))
        data = json.loads(path.read_text("utf-8-sig"))
    except (DataError, OSError, ValueError, RecursionError, zipfile.BadZipFile):
        return set()
    return set(data) if isinstance(data, dict) else set()


def _json(text: str, name: str) -> FileProblem:
    """Arrays as lists of numbers, with the same names as in .npz."""
    try:
        data = json.loads(text)
        with naming(name):
            return problem_of({key: np.array(data[key], dtype=float) for key in MATRICES + VECTORS if key in data})
    except json.JSONDecodeError as error:
        raise DataError(f"{name} is not readable JSON: {error.msg} (line {error.lineno})") from None
    except RecursionError:
        raise DataError(f"{name} is nested too deeply; write W as a list of rows") from None
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} has a list that is not an array of numbers; rows of equal length are needed") from None


def _matlab(content: bytes, name: str) -> FileProblem:
    """Arrays of MATLAB, which has no vectors, with the same names as in .npz."""
    from workbench.readers.matlab import read_variables

    found = {key: array for key, array in read_variables(content, name).items() if key in MATRICES + VECTORS}
    arrays = {key: array.array() for key, array in found.items()}
    with naming(name):
        return problem_of({key: a if key in MATRICES else a.ravel() for key, a in arrays.items()})


def problem_files(paths: list[str]) -> list[tuple[Path, bool]]:
    """Files to process, and whether each was found in a folder rather than named; DataError if there are none."""
    found: list[tuple[Path, bool]] = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append((path, False))
            continue
        inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file())
        if not inside:
            raise DataError(f"{path} holds no problems; known endings: {', '.join(ENDINGS)} are looked for")
        found += [(p, True) for p in inside]
    return found


def write_problem_file(problem: FileProblem, path: str | Path) -> None:
    """Write a problem in the format of the extension, one of `WRITTEN`; a file is written whole or not at all.

    For an LCP in MatrixMarket format, M is in the file itself, NAME.mtx, and q next to it in NAME_q.mtx. Raises
    DataError for a kind of problem that the format does not support, and for one that would be too long to read back.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITTEN:
        raise DataError(f"cannot write '{path.name}': problems are written as {', '.join(WRITTEN)}")
    if suffix in (".hdf5", ".h5") and not isinstance(problem, FrictionProblem | GlobalFrictionProblem):
        raise DataError(f"FCLIB's layout holds friction problems, and this is an {problem.kind}; write it as .npz")
    if suffix == ".mtx":
        _write_market(problem, path)
    else:
        whole(path, lambda stage: _write(problem, suffix, stage))


def _write(problem: FileProblem, suffix: str, stage: str) -> None:
    if suffix == ".npz":
        write_npz(problem, stage)
    elif suffix == ".mat":
        from workbench.readers.matlab import write_variables

        write_variables(arrays_of(problem), stage)
        _must_be_readable(stage, suffix, LARGEST_TEXT)
    elif suffix == ".dat":
        from workbench.readers.siconos import write_siconos

        write_siconos(problem, stage)
        _must_be_readable(stage, suffix, LARGEST_TEXT)
    else:
        from workbench.readers.fclib import write_fclib

        write_fclib(problem, stage)  # type: ignore[arg-type]


def _must_be_readable(stage: str, suffix: str, most: int) -> None:
    size = Path(stage).stat().st_size
    if size > most:
        raise DataError(
            f"the problem takes {size / 1e6:.0f} MB as {suffix}, of which {most // 10**6} are read; write it as .npz"
        )


def _write_market(problem: FileProblem, path: Path) -> None:
    from workbench.readers.matrix_market import write_market
    from workbench.readers.text import LARGEST_TEXT as most

    if not isinstance(problem, LCP):
        raise DataError(
            f"MatrixMarket files hold an LCP, M in one and q in another, and this is a problem of kind {problem.kind}; "
            "write it as .npz"
        )

    def both(stage: str) -> None:
        write_market(problem.q[:, None], stage)
        whole(path, matrix)

    def matrix(stage: str) -> None:
        write_market(problem.M, stage)
        _must_be_readable(stage, ".mtx", most)

    # M is moved to its place first, and q only if that succeeded.
    whole(path.with_name(f"{path.stem}_q{path.suffix}"), both)
