"""Test of one subject against recordings: mu and e identified on some of them, its errors on the others.

The error of a toss is the distance between predicted and recorded centre, averaged over its samples. It is minimised
over mu, then over e at that mu, then over a finer grid of mu around it: three grid searches within bounds. Every point
is kept, since the curve shows how well a parameter is determined and the minimum alone does not.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from workbench.exams.recorded.noise import Noise, ensemble
from workbench.exams.recorded.recording import ORIENTATION, POSITION, Recording, angle_between
from workbench.exams.recorded.throws import Subject, Thrower
from workbench.problems.solution import Status
from workbench.support.arrays import Array
from workbench.support.errors import WorkbenchError

COARSE, FINE, OF_E = 13, 9, 7
"""Numbers of points of the three grids."""
FEWEST = 0.5
"""Fraction of the tosses that a subject must be able to predict to be identified at all."""


class TimeOverError(WorkbenchError):
    """The allowed time is over."""


@dataclass(frozen=True, eq=False)
class RealityTrial:
    """Common data of all subjects: throws, recordings for identification and test, bounds, and the time limit.

    mu, e    (lowest, highest) of the searches; e is zero if the normal law is not Moreau's
    members  of the ensemble of initial states under the first subject, 0 for none
    """

    thrower: Thrower
    train: tuple[Recording, ...]
    test: tuple[Recording, ...]
    noise: Noise
    mu: tuple[float, float] = (0.0, 0.6)
    e: tuple[float, float] = (0.0, 0.6)
    members: int = 0
    until: float = np.inf


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a subject; if it was refused, only `reason` is set.

    search    (k, 2) mu, e of every point of the search; `losses` (k, train) errors of the tosses there [m]
    position  (test, S) distance of the centre from the recording [m], NaN where there is no sample; `angle` [rad]
    step      one for each test toss: errors (T - 1, 2) [m, rad] of one interval, started from the recorded state
    spread    (test, S) mean distance of an ensemble's members from the prediction itself [m]
    """

    subject: Subject
    reason: str = ""
    mu: float = np.nan
    e: float = np.nan
    search: Array = field(default_factory=lambda: np.zeros((0, 2)))
    losses: Array = field(default_factory=lambda: np.zeros((0, 0)))
    position: Array = field(default_factory=lambda: np.zeros((0, 0)))
    angle: Array = field(default_factory=lambda: np.zeros((0, 0)))
    step: tuple[Array, ...] = ()
    spread: Array = field(default_factory=lambda: np.zeros((0, 0)))
    failures: str = ""
    seconds: float = 0.0


def samples_of(recordings: tuple[Recording, ...]) -> np.ndarray:
    """Number of intervals of each recording."""
    return np.array([len(r.states) - 1 for r in recordings], dtype=np.int64)


def starts_of(recordings: tuple[Recording, ...]) -> Array:
    """First states (B, 13)."""
    return np.array([r.states[0] for r in recordings])


def recorded(recordings: tuple[Recording, ...]) -> Array:
    """States (B, 1 + most intervals, 13), NaN after the last."""
    found = np.full((len(recordings), 1 + int(samples_of(recordings).max()), 13), np.nan)
    for one, r in zip(found, recordings, strict=True):
        one[: len(r.states)] = r.states
    return found


def tried(trial: RealityTrial, subject: Subject) -> Outcome:
    """Identify and test one subject. Refusals, failures and the time limit give an `Outcome` with a reason."""
    begun = time.monotonic()

    def in_time(_: int) -> None:
        if time.time() > trial.until:
            raise TimeOverError("the time limit was reached before it was finished; allow more seconds")

    try:
        in_time(0)
        reason = trial.thrower.refusal(subject)
        if reason:
            return Outcome(subject, reason)
        mu, e, search, losses = identified(trial, subject, in_time)
        return _tested(trial, subject, mu, e, search, losses, begun, in_time)
    except WorkbenchError as error:
        return Outcome(subject, str(error))


def identified(
    trial: RealityTrial, subject: Subject, in_time: Callable[[int], None]
) -> tuple[float, float, Array, Array]:
    """mu, e, and every point of the search with its losses.

    Raises WorkbenchError if it cannot predict enough of the tosses.
    """
    truth, starts, samples = recorded(trial.train), starts_of(trial.train), samples_of(trial.train)
    search: list[tuple[float, float]] = []
    losses: list[Array] = []

    def best(points: list[tuple[float, float]]) -> int:
        count = len(points)
        mu, e = (np.repeat(x, len(starts)) for x in np.array(points).T)
        states, status = trial.thrower.throw(
            subject, np.tile(starts, (count, 1)), np.tile(samples, count), mu, e, in_time
        )
        found = _distance(states, np.tile(truth, (count, 1, 1)))
        found = np.where(_answered(status)[:, None], found, np.nan)
        losses.extend(_means(found).reshape(count, -1))
        search.extend(points)
        return int(np.argmin([_loss(x) for x in losses[-count:]]))

    low, high = trial.mu
    mus = np.linspace(low, high, COARSE)
    mu, e = float(mus[best([(float(x), 0.0) for x in mus])]), 0.0
    if trial.thrower.normal == "moreau":
        es = np.linspace(*trial.e, OF_E)
        e = float(es[best([(mu, float(x)) for x in es])])
    width = (high - low) / (COARSE - 1)
    mus = np.linspace(max(low, mu - width), min(high, mu + width), FINE)
    mu = float(mus[best([(float(x), e) for x in mus])])
    if not np.isfinite(_loss(losses[-1])):
        raise WorkbenchError(f"it finished on fewer than {100 * FEWEST:g} % of the tosses")
    return mu, e, np.array(search), np.array(losses)


def _loss(errors: Array) -> float:
    """The mean over tosses; infinite if too few reached their end."""
    known = np.isfinite(errors)
    return float(errors[known].mean()) if known.mean() >= FEWEST else np.inf


def _means(errors: Array) -> Array:
    """Means over the samples of each toss, NaN if it has none."""
    known = np.isfinite(errors)
    with np.errstate(invalid="ignore"):
        return np.where(known, errors, 0.0).sum(axis=1) / known.sum(axis=1)


def _distance(states: Array, truth: Array) -> Array:
    return np.linalg.norm(states[..., POSITION] - truth[..., POSITION], axis=-1)


def _answered(status: np.ndarray) -> np.ndarray:
    return np.isin(status, (int(Status.SOLVED), int(Status.INACCURATE)))


def _tested(
    trial: RealityTrial, subject: Subject, mu: float, e: float, search: Array, losses: Array, begun: float,
    in_time: Callable[[int], None],
) -> Outcome:  # fmt: skip
    truth, starts, samples = recorded(trial.test), starts_of(trial.test), samples_of(trial.test)
    states, status = trial.thrower.throw(subject, starts, samples, mu, e, in_time)
    whole = np.where(_answered(status)[:, None, None], states, np.nan)
    missed = [Status(int(x)).name.lower().replace("_", " ") for x in status[~_answered(status)]]
    failures = ", ".join(f"{missed.count(x)} {x}" for x in dict.fromkeys(missed))
    # One interval from every recorded state.
    every = np.concatenate([r.states[:-1] for r in trial.test])
    after = np.concatenate([r.states[1:] for r in trial.test])
    single, ended = trial.thrower.throw(subject, every, np.ones(len(every), dtype=np.int64), mu, e, in_time)
    last = np.where(_answered(ended)[:, None], single[:, 1], np.nan)
    errors = np.stack([_distance(last, after), angle_between(last[:, ORIENTATION], after[:, ORIENTATION])], axis=1)
    spread = np.zeros((0, 0))
    if trial.members:
        others = ensemble(starts, trial.noise, trial.members, seed=2)
        flown, _ = trial.thrower.throw(subject, others, np.tile(samples, trial.members), mu, e, in_time)
        apart = _distance(flown.reshape(trial.members, *whole.shape), whole)
        spread = apart.mean(axis=0)
    angle = angle_between(whole[..., ORIENTATION], truth[..., ORIENTATION])
    step = tuple(np.split(errors, np.cumsum(samples)[:-1]))
    return Outcome(
        subject, "", mu, e, search, losses, _distance(whole, truth), angle, step, spread,
        failures, time.monotonic() - begun,
    )  # fmt: skip
