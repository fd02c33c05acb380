"""A recorded motion of one body, as evenly spaced states."""

from dataclasses import dataclass

import numpy as np

from workbench.support.arrays import Array
from workbench.support.errors import DataError

FEWEST, MOST = 5, 100_000
"""Largest number of samples of a recording."""
UNEVEN = 0.01
"""Relative difference allowed between sampling intervals."""
LARGEST = 1e6
"""Limits of metres, metres per second, radians per second; beyond, the units must be wrong."""
POSITION, ORIENTATION, VELOCITY, SPIN = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)
"""The 13 numbers of a state: position [m], quaternion (body to world, scalar first), velocity [m/s], angular
velocity in the body's axes [rad/s]."""


@dataclass(frozen=True, eq=False)
class Recording:
    """`states` (T, 13), `interval` seconds apart. Raises DataError for data that cannot be a recorded motion."""

    name: str
    interval: float
    states: Array

    def __post_init__(self) -> None:
        shape = self.states.shape
        if len(shape) != 2 or shape[1] != 13 or not FEWEST <= shape[0] <= MOST:
            raise DataError(f"{self.name} has states of shape {shape}; {FEWEST} to {MOST} samples of 13 are needed")
        if not (np.isfinite(self.interval) and self.interval > 0):
            raise DataError(f"{self.name}: samples {self.interval:g} s apart; a positive time is needed")
        wrong = ~(np.abs(self.states) < LARGEST).all(axis=1)
        if wrong.any():
            raise DataError(f"{self.name}: sample {int(wrong.argmax())} is not finite, or beyond {LARGEST:g} SI units")
        length = np.linalg.norm(self.states[:, ORIENTATION], axis=1)
        if np.abs(length - 1.0).max() > 0.1:
            worst = float(length[np.abs(length - 1.0).argmax()])
            raise DataError(f"{self.name}: an orientation of length {worst:.3g}; unit quaternions are needed")
        self.states[:, ORIENTATION] /= length[:, None]

    @property
    def t(self) -> Array:
        """Time (T,) since the first sample [s]."""
        return self.interval * np.arange(len(self.states), dtype=float)


def interval_of(t: Array, name: str) -> float:
    """The interval of evenly spaced sample times t (T,) [s]. Raises DataError if they are not evenly spaced."""
    if t.ndim != 1 or len(t) < FEWEST or not np.isfinite(t).all():
        raise DataError(f"{name} has times of shape {t.shape}; at least {FEWEST} finite ones are needed")
    back = np.diff(t) < 0
    if back.any():
        raise DataError(f"{name}: time runs back after sample {int(back.argmax())}")
    mean = float(t[-1] - t[0]) / (len(t) - 1)
    if not mean > 0 or np.abs(np.diff(t) - mean).max() > UNEVEN * mean:
        raise DataError(f"{name}: samples are not evenly spaced in time; resample them first")
    return mean


def with_rates(position: Array, orientation: Array, interval: float) -> Array:
    """States (T, 13) of poses (T, 3), (T, 4): velocities by central differences, second-order one-sided at the ends."""
    velocity = np.gradient(position, interval, axis=0, edge_order=2)
    near = orientation.copy()
    for k in range(1, len(near)):
        # A quaternion and its negative are the same orientation; differences need close neighbours.
        if near[k] @ near[k - 1] < 0:
            near[k] = -near[k]
    rate = np.gradient(near, interval, axis=0, edge_order=2)
    return np.concatenate([position, orientation, velocity, 2.0 * _vector_part(near, rate)], axis=1)


def _vector_part(q: Array, p: Array) -> Array:
    """The vector part of conj(q) p, quaternions (..., 4), scalar first."""
    a, u, b, w = q[..., :1], q[..., 1:], p[..., :1], p[..., 1:]
    return a * w - b * u - np.cross(u, w)


def angle_between(q: Array, p: Array) -> Array:
    """The rotation angle (...) [rad] from one orientation (..., 4) to another."""
    vector, scalar = np.linalg.norm(_vector_part(q, p), axis=-1), np.abs((q * p).sum(axis=-1))
    return 2.0 * np.arctan2(vector, scalar)
