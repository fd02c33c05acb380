"""Single steps: distance from the step of exact Coulomb friction from the same state, free of drift and chaos.

Rigid formulations are asked at states of exact Coulomb friction. A soft one has no force before a contact has gone in,
so that from a rigid state its error may come to 1 by construction: it is asked at states of its own run, as an engine
is. There exact Coulomb friction takes what has gone in as touching and what has come apart as joined, since to put that
right within one step is no part of the law.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.mechanics.instant import Instant
from workbench.problems.solution import Status
from workbench.scenes.run import SteppingScheme
from workbench.scenes.scene import Scene
from workbench.scenes.stepper import Stepped
from workbench.scenes.track import Track
from workbench.support.arrays import Array, evenly
from workbench.support.errors import WorkbenchError

MOST = 40
"""Steps in a sample."""


class ZeroGapScene:
    """A scene without penetration and without joint drift."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scene, name)

    def under(self, formulation: str) -> "ZeroGapScene":
        return ZeroGapScene(self.scene.under(formulation))

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        given = self.scene.instant(q, v, t, h)
        return replace(given, phi=np.maximum(given.phi, 0.0), g=np.zeros_like(given.g))


def from_exact(stepper: SteppingScheme, exact: Track, steps: NDArray[np.int64]) -> float:
    """The error of a rigid formulation's single steps from states of exact Coulomb friction, at its step."""
    pairs = ((x.given, x.v, exact.v[k + 1]) for k, x in answers(stepper, exact, steps))
    return _apart(pairs)


def from_own(exact: SteppingScheme, run: Track, steps: NDArray[np.int64]) -> float:
    """Return the error of a run's steps against steps of exact Coulomb friction from the same states.

    `exact` steps the scene as `ZeroGapScene`.
    """
    pairs = ((x.given, run.v[k + 1], x.v) for k, x in answers(exact, run, steps))
    return _apart(pairs)


def answers(stepper: SteppingScheme, base: Track, steps: NDArray[np.int64]) -> Iterable[tuple[int, Stepped]]:
    """Yield verified steps from states of a run, each after the preceding step, which fills a formulation's memory."""
    for k in evenly(steps, MOST):
        x = None
        stepper.begin()
        for i in (k - 1, k) if k else (k,):
            x = stepper.step(base.q[i], base.v[i], i * base.h)
        assert x
        if x.status is not Status.SOLVED or not x.residual <= x.tolerance:
            raise WorkbenchError(
                f"a single step at {k * base.h:g} s has no verified solution: {x.reason or x.status.meaning}"
            )
        yield int(k), x


def _apart(pairs: Iterable[tuple[Instant, Array, Array]]) -> float:
    """The metric `one-step-error` of velocities (n,) after steps of an instant, under both."""
    apart, size = 0.0, [0.0, 0.0]
    for given, one, other in pairs:
        free = given.v + given.h * _solver(given.M)(given.f)
        apart += _square(given, one - other)
        size = [s + _square(given, x - free) for s, x in zip(size, (one, other), strict=True)]
    mean = 0.5 * sum(map(np.sqrt, size))
    return float(np.sqrt(apart) / mean) if mean > 0 else np.nan


def _solver(M: Any) -> Callable[[Array], Array]:
    return sparse.linalg.factorized(sparse.csc_array(M))


def _square(given: Instant, v: Array) -> float:
    return float(v @ (given.M @ v))
