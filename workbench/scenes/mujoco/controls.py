"""What the actuators are commanded over time: constants, or the rows of a file, each held until the next."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from workbench.scenes.mujoco.package import mujoco
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SAME_TIME = 1e-9
"""Of a step: times of rows and of steps that differ by less are the same."""


class Controls:
    """Inputs (nu,) of a model's actuators at a time; `names` (nu,) of the inputs.

    `given` is None (the values at the start), a number for all, or a file:

    - .csv whose first row has `time` and names of inputs, in any order; every input has a column;
    - .csv of numbers alone or .npy (rows, nu): a row for each step of the model;
    - the same with one column more: the first is the time [s].

    A row holds from its time until the next row's; the first holds before as well, the last afterwards.
    """

    def __init__(self, model: Any, given: str | float | None, start: Array) -> None:
        self.names = _input_names(model)
        self.times, self.rows = np.zeros(1), start[None].copy()
        self.step = float(model.opt.timestep)
        if given is None:
            return
        if not model.nu:
            raise DataError(f"the model has no actuators that could follow '{given}'")
        constant = _number(given)
        if constant is not None:
            self.rows[:] = constant
        else:
            self.times, self.rows = self._file(Path(str(given)))
        if not np.isfinite(self.rows).all() or not np.isfinite(self.times).all():
            row, column = np.argwhere(~np.isfinite(np.column_stack([self.times, self.rows])))[0]
            what = "the time" if column == 0 else f"'{self.names[column - 1]}'"
            raise DataError(f"{given}: {what} of row {row + 1} is not finite; every control needs a finite number")
        if (np.diff(self.times) <= 0).any():
            row = int(np.argmax(np.diff(self.times) <= 0)) + 2
            raise DataError(f"{given}: the time of row {row} is not after that of the row before; times must rise")

    def at(self, t: float) -> Array:
        """(nu,) at the time t [s]."""
        return self.rows[max(int(np.searchsorted(self.times, t + SAME_TIME * self.step, side="right")) - 1, 0)]

    def _file(self, path: Path) -> tuple[Array, Array]:
        if not path.is_file():
            raise DataError(f"{path} is not a file; a number, a .csv or a .npy with controls is needed")
        header, table = _npy(path) if path.suffix == ".npy" else _csv(path)
        count = len(self.names)
        if header:
            missing = [x for x in self.names if x not in header]
            strange = [x for x in header if x not in ("time", *self.names)]
            if "time" not in header or missing or strange:
                what = "no column 'time'" if "time" not in header else ""
                what = what or (f"no column '{missing[0]}'" if missing else f"a column '{strange[0]}'")
                raise DataError(f"{path} has {what}; its columns are to be time, {', '.join(self.names)}")
            order = [header.index(x) for x in ("time", *self.names)]
            table = table[:, order]
        if table.shape[1] == count:
            return self.step * np.arange(len(table), dtype=float), table
        if table.shape[1] != count + 1:
            raise DataError(
                f"{path} has {table.shape[1]} columns; {count} (one row per step) or {count + 1} (time first) are "
                "needed"
            )
        return table[:, 0], table[:, 1:]


def _number(given: str | float) -> float | None:
    try:
        return float(given)
    except ValueError:
        return None


def _npy(path: Path) -> tuple[list[str], Array]:
    try:
        table = np.asarray(np.load(path, allow_pickle=False), dtype=float)
    except (ValueError, OSError, EOFError) as reason:
        raise DataError(f"{path} is not an .npy file of numbers: {reason}") from None
    if table.ndim != 2 or not len(table):
        raise DataError(f"{path} has shape {table.shape}; rows and columns are needed")
    return [], table


def _csv(path: Path) -> tuple[list[str], Array]:
    """The names in the first row, none where it holds numbers, and the numbers."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [[x.strip() for x in line] for line in csv.reader(file) if line and not line[0].startswith("#")]
    except (UnicodeDecodeError, csv.Error) as reason:
        raise DataError(f"{path} is not a .csv file: {reason}") from None
    header = lines.pop(0) if lines and _number(lines[0][0]) is None else []
    if not lines:
        raise DataError(f"{path} has no row of numbers")
    doubled = [x for i, x in enumerate(header) if x in header[:i]]
    if doubled:
        raise DataError(f"{path} has two columns '{doubled[0]}'; one for each input is needed")
    width = len(header or lines[0])
    for i, line in enumerate(lines):
        if len(line) != width or any(_number(x) is None for x in line):
            raise DataError(f"{path}: row {i + 1} is '{','.join(line)[:60]}'; {width} numbers are needed")
    return header, np.array(lines, dtype=float)


def _input_names(model: Any) -> list[str]:
    """(nu,) the actuators' names; of an actuator with several inputs, its name and the input's."""
    names: list[str] = []
    for i in range(model.nactuator):
        name = model.actuator(i).name or f"actuator{i}"
        count = int(model.actuator_ctrlnum[i])
        inputs = [mujoco().mj_actuatorInputName(model, i, k) for k in range(count)]
        names += [name] if count == 1 else [f"{name}.{x or k}" for k, x in enumerate(inputs)]
    return names
