"""The package `mujoco`, which is imported when a model is first read."""

from functools import cache
from typing import Any

from workbench.support.errors import DataError
from workbench.support.signals import imported

OLDEST = (4, 0)
"""The first version of which all this is true: margins add up and are distances, and actuators have several inputs."""


@cache
def mujoco() -> Any:
    """The package; raises DataError where it is absent or too old."""
    try:
        module = imported("mujoco")
    except ImportError as reason:
        raise DataError(f"models of MuJoCo need the package mujoco ({reason}); pip install mujoco") from None
    version = tuple(int(x) for x in module.__version__.split(".")[:2])
    if version < OLDEST:
        raise DataError(f"mujoco {module.__version__} is too old; pip install 'mujoco>={OLDEST[0]}.{OLDEST[1]}'")
    return module
