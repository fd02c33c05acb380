"""Reading a model: MJCF, URDF or MJB, with a line for whatever is wrong with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import DataError
from workbench.scenes.mujoco.package import mujoco


def load(path: Path, sets: Mapping[str, str]) -> Any:
    """The compiled model; raises DataError in one line."""
    try:
        return mujoco().MjModel.from_xml_path(str(path))
    except ValueError as reason:
        raise DataError(f"{path}: {' '.join(str(reason).split())}") from None
