"""The record of a subject's play of a trial, and quantities read from it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.exams.protocol import gravity
from workbench.exams.trial import Trial
from workbench.mechanics.solids import turning
from workbench.support.arrays import Array


@dataclass(frozen=True, eq=False)
class Record:
    """K steps of h [s] of a trial with B bodies; states are K + 1, the one at `pushed` after the push."""

    trial: Trial
    h: float
    position: Array
    """(K + 1, B, 3) centres of mass [m]"""
    orientation: Array
    """(K + 1, B, 4) unit quaternions, scalar first, body to world"""
    velocity: Array
    """(K + 1, B, 6) linear and angular in the axes of the world [m/s, rad/s]"""
    wrench: Array
    """(K, B, 6) contact wrench of a step [N, N m], about the centre of mass before it; NaN if not reported"""
    contacts: Array
    """(K,) number of contacts counted by the subject; NaN if not reported"""

    @property
    def pushed(self) -> int:
        """Index of the state after the push, from which the bodies move with their given velocities."""
        return round(self.trial.settling / self.h)

    def at(self, t: float) -> int:
        """Index of the state at t [s] after the push."""
        return min(self.pushed + round(t / self.h), len(self.position) - 1)

    def path(self, body: int = 0) -> Array:
        """Displacement of a body from its position at the push, from then on: (., 3) [m]."""
        x = self.position[self.pushed :, body]
        return x - x[0]

    def speed(self, t: float, body: int = 0) -> Array:
        """The velocity (6,) of a body t [s] after the push."""
        return self.velocity[self.at(t), body]

    @property
    def most_contacts(self) -> float:
        """The largest number of contacts before the push."""
        counted = self.contacts[: max(1, self.pushed)]
        return float(counted.max()) if counted.size else np.nan

    def acceleration(self, begin: float, end: float, along: int = 0, body: int = 0) -> float:
        """Mean rate of one of a body's six velocities between two times [s] after the push."""
        first, last = (self.speed(t, body)[along] for t in (begin, end))
        return float(last - first) / (end - begin)

    def creep(self, begin: float, end: float, along: int = 0, body: int = 0) -> float:
        """Mean speed of a body along an axis between two times [s] after the push, from its positions [m/s]."""
        first, last = (self.position[self.at(t), body, along] for t in (begin, end))
        return float(last - first) / (end - begin)

    @cached_property
    def energy(self) -> Array:
        """Kinetic and potential energy (K + 1,) [J], for a trial with constant gravity."""
        mass = np.array([body.mass for body in self.trial.bodies])
        inertia = np.array([body.inertia for body in self.trial.bodies])
        own = np.einsum("kbji,kbj->kbi", turning(self.orientation), self.velocity[..., 3:])
        kinetic = 0.5 * ((self.velocity[..., :3] ** 2).sum(axis=-1) @ mass + (inertia * own**2).sum(axis=(1, 2)))
        return kinetic - self.position @ np.array(self.trial.gravity) @ mass

    def imbalance(self) -> float:
        """The largest |m dv/dt - F - m g| of a body over its weight: the mismatch of reported forces and motion."""
        mass = np.array([body.mass for body in self.trial.bodies])[:, None]
        change = np.diff(self.velocity[..., :3], axis=0)
        if 0 < self.pushed <= len(change) and any(any(body.velocity) for body in self.trial.bodies):
            change[self.pushed - 1] = np.nan
        pull = gravity(self.trial.plain(), self.h, np.arange(len(change))[:, None])[:, None]
        error = mass * (change / self.h - pull) - self.wrench[..., :3]
        share = np.linalg.norm(error, axis=-1) / (mass[:, 0] * np.linalg.norm(self.trial.gravity))
        return float(np.nanmax(share)) if np.isfinite(share).any() else np.nan
