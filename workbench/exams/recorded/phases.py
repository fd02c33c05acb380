"""Phases of a recorded body between two samples: flight, impact, sliding, rolling over an edge, or rest."""

from typing import Literal, get_args

import numpy as np

from workbench.exams.recorded.body import Body
from workbench.exams.recorded.recording import ORIENTATION, POSITION, SPIN, VELOCITY, Recording
from workbench.mechanics.solids import rotated
from workbench.support.arrays import Array

Phase = Literal["flight", "impact", "sliding", "rolling", "rest"]
PHASES: tuple[str, ...] = get_args(Phase)
FLIGHT, IMPACT, SLIDING, ROLLING, REST = range(len(PHASES))
NEAR = 0.05
"""Height over the body's reach below which a point counts as touching: recorded vertices err by millimetres."""
HARD = 4.0
"""Contact force over weight, averaged between two samples, above which it is an impact."""
SLOW = 0.05
"""Speed of a point [m/s] below which it counts as at rest, about three times the error of recordings."""


def phases(recording: Recording, body: Body) -> np.ndarray:
    """Phase numbers (T - 1,) (`PHASES`) of every interval between samples, from its beginning and its end."""
    states = recording.states
    height, speed = heights(states, body), speeds(states, body)
    near = height < NEAR * body.reach
    # A point that touches at either end of the interval.
    touching = near[:-1] | near[1:]
    change = np.diff(states[:, VELOCITY], axis=0) / recording.interval
    force = np.linalg.norm(change + np.array([0.0, 0.0, body.gravity]), axis=1) / body.gravity
    speed = np.minimum(speed[:-1], speed[1:])
    slowest = np.where(touching, speed, np.inf).min(axis=1)
    # A body at rest does not rotate either: the single, lowest point of a sphere is at rest while it rolls.
    spin = body.reach * np.linalg.norm(states[:-1, SPIN], axis=1)
    moving = np.maximum(speed.max(axis=1), np.maximum(spin, np.linalg.norm(states[:-1, VELOCITY], axis=1)))
    found = np.where(slowest < SLOW, ROLLING, SLIDING)
    found = np.where(moving < SLOW, REST, found)
    found = np.where(force > HARD, IMPACT, found)
    return np.where(touching.any(axis=1), found, FLIGHT)


def heights(states: Array, body: Body) -> Array:
    """Heights (T, k) of a body's points above the floor [m]."""
    at = states[:, None, POSITION] + rotated(states[:, None, ORIENTATION], body.points)
    return at[..., 2] - body.radius - body.floor


def speeds(states: Array, body: Body) -> Array:
    """Speeds (T, k) of the lowest points of the balls around a body's points [m/s]."""
    turning = rotated(states[:, None, ORIENTATION], np.cross(states[:, None, SPIN], body.points))
    omega = rotated(states[:, None, ORIENTATION], states[:, None, SPIN])
    below = np.cross(omega, [0.0, 0.0, -body.radius])
    return np.linalg.norm(states[:, None, VELOCITY] + turning + below, axis=-1)
