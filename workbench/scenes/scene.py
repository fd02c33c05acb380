"""What a scene is: a system whose contacts come from elsewhere, instant by instant."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.mechanics.instant import Instant
from workbench.mechanics.solids import Plane, Solid
from workbench.support.arrays import Array

if TYPE_CHECKING:
    from workbench.mechanics.case import Truth
    from workbench.scenes.track import Track


class Scene(ABC):
    """A system whose contacts come and go. A state is coordinates q, velocities v (n,) [m/s, rad/s], a time t [s]."""

    name: str
    bodies: list[str]
    """Names of the bodies that move."""
    step: float
    """The step that the scene comes with [s]."""
    v_th: float = 0.01
    """Speed below which a contact counts as sticking [m/s]."""
    recovery: float = float("inf")
    """The largest speed at which overlaps and errors of bilateral rows are undone [m/s, rad/s]."""
    known: "Callable[[Track], Sequence[Truth]] | None" = None
    """What is known of a run under exact Coulomb friction, where somebody knows."""

    @abstractmethod
    def start(self) -> tuple[Array, Array]:
        """q and v at t = 0."""

    @abstractmethod
    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        """What acts and touches at this state, for a step of h [s]; raises DataError where the state has none."""

    def under(self, formulation: str) -> "Scene":
        """The scene as the formulation of this name has it: itself, unless it knows how soft that one is."""
        return self

    @abstractmethod
    def advance(self, q: Array, v: Array, h: float) -> Array:
        """The coordinates after h [s] with constant velocities v."""

    @abstractmethod
    def poses(self, q: Array) -> tuple[Array, Array]:
        """Positions (B, 3) [m] of the bodies' centres of mass and their orientations (B, 4), quaternions w first."""

    def momentum(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Linear (B, 3) [N s] and angular (B, 3) momentum [N m s] about its own centre of mass of every body."""
        raise NotImplementedError

    def energy(self, q: Array, v: Array) -> float:
        """Kinetic and potential energy [J]; NaN where it is not known."""
        return float("nan")

    def motion(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Positions (K, B, 3), orientations (K, B, 4) and energies (K,) of K states q (K, n_q), v (K, n)."""
        poses = [self.poses(x) for x in q]
        position, orientation = (np.array(x) for x in zip(*poses, strict=True))
        return position, orientation, np.array([self.energy(*state) for state in zip(q, v, strict=True)])

    def solids(self) -> tuple[Solid | Plane, ...]:
        """The shapes that the motion is drawn with, (body, shape) by `Solid`."""
        return ()

    def radii(self) -> Array:
        """Radii (B,) [m] of bodies that are all balls, and are drawn as such; empty where they are not."""
        return np.zeros(0)

    def facts(self) -> dict[str, Any]:
        """What a report says of the scene."""
        return {}
