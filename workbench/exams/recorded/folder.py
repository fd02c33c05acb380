"""A folder of recordings in the format of its description: CSV, Parquet, .npz, .mat and torch's old files."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.exams.recorded.description import BUNDLED, FILE, Columns, Description, read_description
from workbench.exams.recorded.recording import Recording, interval_of, with_rates
from workbench.mechanics.case import planar_orientation
from workbench.mechanics.solids import rotated
from workbench.readers.matlab import read_variables
from workbench.readers.npz import read_arrays
from workbench.readers.torch_tensor import read_tensor
from workbench.support.arrays import Array
from workbench.support.errors import DataError, in_short

LARGEST_FILE, MOST_FILES = 100_000_000, 10_000
Arrays = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Recordings:
    """All recordings of a folder, ordered by the numbers in their names, and the reasons why others are `left_out`."""

    description: Description
    recordings: tuple[Recording, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def interval(self) -> float:
        """Time between samples [s], the same for all."""
        return self.recordings[0].interval


def read_folder(folder: Path, about: Path | None = None) -> Recordings:
    """Read the recordings of a folder; `about` is a description other than its `recordings.toml`.

    Raises DataError if there is no such folder, no description, or not a single recording.
    """
    if not folder.is_dir():
        raise DataError(f"'{folder}' is not a folder; a folder of recordings is needed")
    found = read_description(about or _description_of(folder))
    paths = [p for p in folder.glob(found.files) if p.is_file() and p.name != FILE]
    if not paths or len(paths) > MOST_FILES:
        raise DataError(f"'{folder}' has {len(paths)} files {found.files}; 1 to {MOST_FILES} are needed")
    made: list[Recording] = []
    left_out: dict[str, str] = {}
    for path in sorted(paths, key=_number_first):
        try:
            one = recording(path, found)
            if made and abs(one.interval / made[0].interval - 1.0) > 0.01:
                raise DataError(f"samples {one.interval:.3g} s apart, the first recording's {made[0].interval:.3g} s")
            made.append(one)
        except DataError as error:
            left_out[path.name] = re.sub(rf"^{re.escape(path.name)}[:,]? ", "", str(error))
    if not made:
        first = next(iter(left_out))
        raise DataError(f"none of the {len(left_out)} files of '{folder}' can be used; {first}: {left_out[first]}")
    return Recordings(found, tuple(made), left_out)


def _description_of(folder: Path) -> Path:
    own = folder / FILE
    if own.exists() or not any(folder.glob("*.pt")):
        if not own.exists():
            raise DataError(f"'{folder}' has no {FILE}, which says what its files hold; see docs/howto/reality.md")
        return own
    return BUNDLED


def _number_first(path: Path) -> tuple[float, str]:
    digits = re.search(r"\d{1,15}", path.stem)
    return (float(digits[0]) if digits else -1.0), path.name


def recording(path: Path, about: Description) -> Recording:
    """Read the recording in one file. Raises DataError in one line."""
    name = path.name
    if path.suffix not in READERS:
        raise DataError(f"{name} ends in '{path.suffix[:20]}'; {', '.join(READERS)} are read")
    if path.stat().st_size > LARGEST_FILE:
        raise DataError(f"{name} has more than {LARGEST_FILE} bytes")
    names = sorted({x for c in about.columns.values() for x in ([c] if isinstance(c, str) else c)})
    arrays = READERS[path.suffix](path, names)

    def get(key: str, count: int) -> Array | None:
        return _stacked(arrays, about.columns[key], count, f"{name}, {key}") if key in about.columns else None

    time = get("time", 1)
    interval = 1.0 / about.rate if time is None else interval_of(time[:, 0], name)
    states = _states(get, about, interval, name)
    return Recording(name, interval, states)


def _states(get: Callable[[str, int], Array | None], about: Description, interval: float, name: str) -> Array:
    """States (T, 13) in SI units and the axes of `Recording`."""
    space = 2 if about.planar else 3
    position, velocity = get("position", space), get("velocity", space)
    turn, spin = (
        get("angle", 1) if about.planar else get("orientation", 4),
        get("angular_velocity", 1 if about.planar else 3),
    )
    assert position is not None
    position = about.length * _in_space(position)
    T = len(position)
    if turn is None:
        turn = np.tile([1.0, 0.0, 0.0, 0.0], (T, 1))
    orientation = planar_orientation(turn[:, 0])[:, 0] if about.planar else turn
    if any(x is not None and len(x) != T for x in (velocity, orientation, spin)):
        raise DataError(f"{name} has columns of different lengths")
    states = with_rates(position, orientation, interval)
    if velocity is not None:
        states[:, 7:10] = about.length * _in_space(velocity)
    if spin is not None and about.planar:
        # A rotation from x to z is about -y.
        states[:, 10:13] = spin * [0.0, -1.0, 0.0]
    elif spin is not None:
        conjugate = orientation * [1.0, -1.0, -1.0, -1.0]
        states[:, 10:13] = spin if about.in_body else rotated(conjugate, spin)
    return states


def _in_space(x: Array) -> Array:
    """(T, 3) from (T, 3), or from x and z in a plane."""
    return x if x.shape[1] == 3 else np.stack([x[:, 0], 0.0 * x[:, 0], x[:, 1]], axis=1)


def _stacked(arrays: Arrays, columns: Columns, count: int, place: str) -> Array:
    """`count` columns (T, count), from one array or from separate ones."""
    names = [columns] if isinstance(columns, str) else columns
    parts = []
    for key in names:
        if key not in arrays:
            raise DataError(f"{place}: there is no column '{key[:40]}'; there are {', '.join(arrays)[:80]}")
        x = np.asarray(arrays[key], dtype=float)
        x = x.T if x.ndim == 2 and x.shape[0] == 1 else x
        if x.ndim not in (1, 2):
            raise DataError(f"{place}: '{key[:40]}' has shape {x.shape}; columns are needed")
        if not x.size:
            raise DataError(f"{place}: '{key[:40]}' is empty; samples are needed")
        x = x.reshape(len(x), -1)
        wrong = ~np.isfinite(x).all(axis=1)
        if wrong.any():
            raise DataError(f"{place}: sample {int(wrong.argmax())} of '{key[:40]}' is not finite")
        parts.append(x)
    if len({len(x) for x in parts}) != 1 or sum(x.shape[1] for x in parts) != count:
        raise DataError(f"{place}: {[x.shape for x in parts]}; {count} columns of one length are needed")
    return np.concatenate(parts, axis=1)


def _csv(path: Path, names: list[str]) -> Arrays:
    import pandas as pd

    try:
        frame = pd.read_csv(path, skipinitialspace=True, comment="#")
        found = _frame(frame, names)
    except (ValueError, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise DataError(f"{path.name} is not a CSV file of numbers: {in_short(error)}") from None
    missing = [x for x in names if x not in found]
    if missing:
        there = ", ".join(map(str, frame.columns))[:80]
        raise DataError(f"{path.name} has no column '{missing[0][:40]}'; its first line, cut at commas, has {there}")
    return found


def _parquet(path: Path, names: list[str]) -> Arrays:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            wanted = [x for x in names if x in file.schema_arrow.names]
            return _frame(file.read(columns=wanted).to_pandas(), names)
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise DataError(f"{path.name} is not a readable Parquet file: {in_short(error)}") from None


def _frame(frame: Any, names: list[str]) -> Arrays:
    return {str(c): frame[c].to_numpy(dtype=float) for c in frame.columns if str(c) in names}


def _mat(path: Path, names: list[str]) -> Arrays:
    found: Any = read_variables(path.read_bytes(), path.name)
    return {key: found[key].array() for key in names if key in found}


def _torch(path: Path, names: list[str]) -> Arrays:
    tensor = read_tensor(path)
    rows = tensor.reshape(-1, tensor.shape[-1]) if tensor.ndim >= 2 else tensor.reshape(-1, 1)
    return {str(k): rows[:, k] for k in range(rows.shape[1])}


READERS: dict[str, Callable[[Path, list[str]], Arrays]] = {
    ".csv": _csv, ".parquet": _parquet, ".npz": read_arrays, ".mat": _mat, ".pt": _torch,
}  # fmt: skip
