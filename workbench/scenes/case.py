"""A scene with parameters, kept by name beside the cases: a system of any number of bodies, and its truths."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from workbench.mechanics.case import Truth
from workbench.mechanics.parameters import Parameters
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.support.arrays import Array


@dataclass(frozen=True)
class SceneCase(Parameters, ABC):
    """Subclasses are frozen dataclasses of `quantity`s with a name, a description and the duration of a run [s].

    `measures` are the numbers that the scene is about, (unit, meaning) by name; `measured` finds them in a run.
    """

    description: ClassVar[str] = ""
    source: ClassVar[str] = ""
    duration: ClassVar[float]
    measures: ClassVar[dict[str, tuple[str, str]]] = {}

    @abstractmethod
    def scene(self) -> Scene:
        """The scene with these parameters; raises DataError where they make none."""

    def bed(self, position: Array) -> NDArray[np.bool_]:
        """Which bodies (B,) at these positions (B, 3) make the bed whose solid fraction counts; all of them here."""
        return np.ones(len(position), dtype=bool)

    def measured(self, track: Track) -> dict[str, float]:
        """The `measures` of a run; NaN for one that it does not tell."""
        return {}

    def truths(self, track: Track) -> list[Truth]:
        """What is known of the motion, held against a run of exact Coulomb friction."""
        return []
