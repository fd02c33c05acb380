"""Errors of the recordings, from phases that need no contact model: free flight, and rest.

A body in flight obeys Newton's and Euler's equations alone. The free flight from its recorded start and the recorded
state just before the first contact differ by the errors of the recorded velocities times the flight time.
"""

from dataclasses import dataclass

import numpy as np

from workbench.exams.recorded.body import Body
from workbench.exams.recorded.phases import FLIGHT, REST, heights, phases
from workbench.exams.recorded.recording import ORIENTATION, POSITION, SPIN, VELOCITY, Recording, angle_between
from workbench.support.arrays import Array
from workbench.support.errors import DataError

FEWEST = 4
"""Number of intervals of free flight from which velocities are estimated."""
SUBSTEPS = 2
"""Steps of free flight between two samples, by the classical Runge-Kutta method: the error is that of a rotation by
(omega t / 2)^5 / 120, 1e-8 rad for 10 rad/s at 100 Hz."""


@dataclass(frozen=True, eq=False)
class Noise:
    """flights   number of recordings that begin with free flight
    velocity  (3,) root mean square error of the initial velocity along each world axis [m/s]
    bias      (3,) its mean
    spin      root mean square error of the angular velocity about each axis [rad/s]
    rest      lowest point at rest: median height above the floor, and half the width of the 95 % interval [m]
    """

    flights: int
    velocity: Array
    bias: Array
    spin: float
    rest: tuple[float, float]


def noise_of(recordings: tuple[Recording, ...], body: Body) -> Noise:
    """The errors of recordings; NaN where no recording shows them."""
    velocity, spin, lowest = [], [], [np.zeros(0)]
    for one in recordings:
        found = phases(one, body)
        flight = int(np.argmax(np.append(found, -1) != FLIGHT))
        resting = np.append(found, -1) == REST
        lowest.append(heights(one.states[resting], body).min(axis=1))
        if flight >= FEWEST:
            t, end = flight * one.interval, one.states[flight]
            flown = fly(one.states[0], body, t, SUBSTEPS * flight)
            velocity.append((flown[POSITION] - end[POSITION]) / t)
            spin.append(angle_between(flown[ORIENTATION], end[ORIENTATION]) / t)
    low = np.concatenate(lowest)
    rest = (np.nan, np.nan)
    if low.size:
        a, middle, b = np.percentile(low, [2.5, 50.0, 97.5])
        rest = (float(middle), 0.5 * float(b - a))
    if not velocity:
        return Noise(0, np.full(3, np.nan), np.full(3, np.nan), np.nan, rest)
    v = np.array(velocity)
    return Noise(
        len(v), np.sqrt((v**2).mean(axis=0)), v.mean(axis=0), float(np.sqrt(np.square(spin).mean() / 3.0)), rest
    )


def fly(state: Array, body: Body, t: float, steps: int) -> Array:
    """The state (13,) after free flight for a time t [s]."""
    x, h = state.copy(), t / steps
    for _ in range(steps):
        a = _rate(x, body)
        b = _rate(x + 0.5 * h * a, body)
        c = _rate(x + 0.5 * h * b, body)
        x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + _rate(x + h * c, body))
    x[ORIENTATION] /= np.linalg.norm(x[ORIENTATION])
    return x


def _rate(x: Array, body: Body) -> Array:
    """The rate of change of a state in free flight, by Newton's and Euler's equations."""
    (a, *u), w = x[ORIENTATION], x[SPIN]
    scalar, vector = -0.5 * np.dot(u, w), 0.5 * (a * w + np.cross(u, w))
    torque = np.cross(body.inertia * w, w)
    return np.concatenate([x[VELOCITY], [scalar], vector, [0.0, 0.0, -body.gravity], torque / body.inertia])


def ensemble(states: Array, noise: Noise, members: int, seed: int) -> Array:
    """Initial states (members * B, 13), one ensemble after the other, whose velocities differ from `states` (B, 13) by
    the errors of the recordings. Raises DataError if no recording shows them."""
    if not noise.flights:
        raise DataError(
            f"no recording begins with {FEWEST} intervals of free flight, from which the error of the initial state is "
            "estimated"
        )
    random = np.random.default_rng(seed)
    found = np.tile(states, (members, 1))
    turned = random.normal(size=(len(found), 3)) * noise.spin
    found[:, VELOCITY] += random.normal(size=(len(found), 3)) * noise.velocity
    # Errors are isotropic, so body axes can be used.
    found[:, SPIN] += turned
    return found
