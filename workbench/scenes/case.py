"""A scene with parameters, kept by name beside the cases: a system of any number of bodies, and its truths."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from workbench.mechanics.case import Truth
from workbench.mechanics.parameters import Parameters
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track


@dataclass(frozen=True)
class SceneCase(Parameters, ABC):
    """Subclasses are frozen dataclasses of `quantity`s with a name, a description and the duration of a run [s]."""

    description: ClassVar[str] = ""
    source: ClassVar[str] = ""
    duration: ClassVar[float]

    @abstractmethod
    def scene(self) -> Scene:
        """The scene with these parameters; raises DataError where they make none."""

    def truths(self, track: Track) -> list[Truth]:
        """What is known of the motion, held against a run of exact Coulomb friction."""
        return []
