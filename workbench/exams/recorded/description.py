"""Description of a folder of recordings by a small TOML file: the body, the surface, the columns and their units.

files = "*.csv"
[body]
mass = 0.37                          # kg
inertia = [8.1e-4, 8.1e-4, 8.1e-4]   # kg m2, principal
box = [0.1048, 0.1048, 0.1048]       # m; or vertices = [[x, y, z], ...]; or sphere = 0.03
[surface]
height = 0.0                         # m
[columns]
time = "t"                           # s; or rate = 148 below [units]
position = ["x", "y", "z"]
orientation = ["qw", "qx", "qy", "qz"]
"""

import tomllib
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from workbench.exams.recorded.body import Body
from workbench.support.arrays import Array
from workbench.support.errors import DataError, UnknownNameError, in_short

FILE = "recordings.toml"
"""The file of a folder that describes it."""
BUNDLED = Path(__file__).parent / "contactnets.toml"
"""The description of a folder with torch's files and without a description file: the tosses of ContactNets."""
LARGEST_FILE = 1_000_000
KEYS: dict[str, tuple[str, ...]] = {
    "": ("name", "source", "files", "body", "surface", "columns", "units"),
    "body": ("mass", "inertia", "box", "vertices", "sphere"),
    "surface": ("height", "gravity"),
    "columns": ("time", "position", "orientation", "angle", "velocity", "angular_velocity"),
    "units": ("length", "rate", "angular_velocity"),
}
"""The tables of a description and their allowed keys."""
Columns = str | list[str]
"""Name of one array with all components, or a list with a name for each component."""


@dataclass(frozen=True, eq=False)
class Description:
    """The body, the location of its motion in the files, and its units.

    files     pattern of the files' names
    columns   names in the files by meaning (`KEYS`)
    length    metres per unit of length of the files
    rate      samples per second, 0 if there are times
    in_body   whether angular velocities are in the body's axes, otherwise in the world's
    """

    body: Body
    files: str
    columns: dict[str, Columns]
    length: float = 1.0
    rate: float = 0.0
    in_body: bool = True
    source: str = ""
    planar: bool = field(default=False)


def read_description(path: Path) -> Description:
    """Read the description in a file. Raises DataError, or UnknownNameError for an unknown key."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(f"{path.name} has more than {LARGEST_FILE} bytes; a description has a few lines")
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path.name} is not TOML: {in_short(error)}") from None
    try:
        return described(table)
    except UnknownNameError:
        raise
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None


def described(table: dict[str, Any]) -> Description:
    """The description in a TOML table. Raises as `read_description`."""
    for name, known in KEYS.items():
        part = table.get(name, {}) if name else table
        if not isinstance(part, dict):
            raise DataError(f"{name} is not a table; write [{name}]")
        for key in part:
            if key not in known:
                raise UnknownNameError(f"word of [{name}]" if name else "table", key, list(known))
    body = _body(table)
    columns = {key: _columns(key, value) for key, value in table.get("columns", {}).items()}
    units = table.get("units", {})
    planar = "angle" in columns
    if "position" not in columns or (planar and "orientation" in columns):
        raise DataError("[columns] needs position, and orientation or angle, not both")
    rate = _number(units, "rate", 0.0)
    if (rate > 0) == ("time" in columns):
        raise DataError("the time of samples is needed once: time in [columns], or rate [Hz] in [units]")
    axes = units.get("angular_velocity", "body")
    if axes not in ("body", "world"):
        raise DataError(f"[units] angular_velocity = '{str(axes)[:40]}'; it can be body or world")
    length = _number(units, "length", 1.0)
    if not length > 0:
        raise DataError(f"[units] length = {length:g}; metres in a unit of length are needed")
    files, source = str(table.get("files", "*")), str(table.get("source", ""))
    if "/" in files or "\\" in files or not files:
        raise DataError(f"files = '{files[:40]}'; a pattern such as *.csv is needed")
    return Description(body, files, columns, length, rate, axes == "body", source, planar)


def _body(table: dict[str, Any]) -> Body:
    body, surface = table.get("body", {}), table.get("surface", {})
    given = [key for key in ("box", "vertices", "sphere") if key in body]
    if len(given) != 1:
        raise DataError(f"[body] has {' and '.join(given) or 'no shape'}; one of box, vertices and sphere is needed")
    radius = _number(body, "sphere", 0.0)
    if "box" in body:
        points = 0.5 * _array(body, "box", (3,)) * np.array(list(product((-1.0, 1.0), repeat=3)))
    else:
        points = _array(body, "vertices", (-1, 3)) if "vertices" in body else np.zeros((1, 3))
    return Body(
        str(table.get("name", "body"))[:60], _number(body, "mass"), _array(body, "inertia", (3,)), points, radius,
        _number(surface, "height", 0.0), _number(surface, "gravity", 9.81),
    )  # fmt: skip


def _number(table: dict[str, Any], key: str, default: float | None = None) -> float:
    value = table.get(key, default)
    if value is None:
        raise DataError(f"{key} is missing; a finite number is needed")
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise DataError(f"{key} = {str(value)[:40]}; a finite number is needed")
    return float(value)


def _array(table: dict[str, Any], key: str, shape: tuple[int, ...]) -> Array:
    try:
        return np.asarray(table.get(key, "nothing"), dtype=float).reshape(shape)
    except (ValueError, TypeError, OverflowError):
        numbers = "triples of numbers" if len(shape) == 2 else f"{shape[0]} numbers"
        raise DataError(f"{key} = {str(table.get(key))[:40]}; {numbers} are needed") from None


def _columns(key: str, value: Any) -> Columns:
    several = value if isinstance(value, list) else [value]
    if several and all(isinstance(x, str | int) and not isinstance(x, bool) for x in several):
        return [str(x) for x in value] if isinstance(value, list) else str(value)
    raise DataError(f"[columns] {key} = {str(value)[:40]}; a name or a list of names is needed")
