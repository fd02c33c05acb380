"""Studies described in a TOML file: the arguments of `wb.study` by name."""

import tomllib
from pathlib import Path
from typing import Any

from workbench.studies.design import side_by_side
from workbench.support.errors import UnknownNameError, WorkbenchError

KEYS = {
    "cases": (str, list), "formulations": (str, list), "solvers": (str, list), "metrics": (str, list),
    "steps": (int, float, list), "duration": (int, float), "reference_step": (int, float),
    "scheme": (str,), "normal": (str,), "relaxation": (str,), "sample": (str,), "seed": (int,),
    "vary": (dict,), "together": (list,),
}  # fmt: skip
"""Allowed entries of a description, with their types."""


def described(path: Path) -> dict[str, Any]:
    """Return the arguments of `wb.study`; raises WorkbenchError in one line.

    `vary` is a table of quantities and their values, and each table in the list `together` has quantities that vary
    together, with equally many values each.
    """
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise WorkbenchError(f"'{path}' cannot be read: {error.strerror}; give a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WorkbenchError(f"{path.name} is not TOML: {error}") from error
    for key, value in given.items():
        if key not in KEYS:
            raise UnknownNameError(f"entry of {path.name}", key, list(KEYS))
        if not isinstance(value, KEYS[key]) or (isinstance(value, bool) and bool not in KEYS[key]):
            wanted = " or ".join(kind.__name__ for kind in KEYS[key])
            raise WorkbenchError(f"{path.name}: {key} is a {type(value).__name__}; {wanted} is needed")
    if "cases" not in given:
        raise WorkbenchError(f'{path.name} has no cases; give cases = ["wheel"]')
    parameters: dict[Any, Any] = dict(given.pop("vary", {}))
    for table in given.pop("together", []):
        if not all(isinstance(values, list) for values in table.values()):
            raise WorkbenchError(f"{path.name}: quantities that vary together need lists of values")
        parameters[tuple(table)] = side_by_side(table)
    return given | {"parameters": parameters}
