"""Horizon of a scene: the time up to which the reference is known well enough to compare runs with it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.measured import distances
from workbench.scenes.track import Track
from workbench.support.arrays import Array
from workbench.support.errors import WorkbenchError

PERTURBATION = 1e-7
"""Displacement of the start [m], whose growth is observed."""
SHARE = 1.0 / 3.0
"""Share of the differences shown up to which the reference's own uncertainty is accepted."""
LEAST = 1e-6
"""Uncertainty up to which a comparison never ends [m], too small to be shown."""
MOST_GROWTH = 1e4
"""Growth from which on a motion is unpredictable: a tenth of a micrometre has become a millimetre."""


@dataclass(frozen=True, eq=False)
class Horizon:
    """`until` [s], a whole number of the largest steps compared; `why` in a sentence, empty at the end of all runs."""

    until: float
    why: str
    growth: Array
    """(B,) the most that a displacement of the start has grown by then"""
    uncertainty: Array
    """(B,) the mean difference of the reference at its step and at twice that up to then [m]"""


def horizon(reference: Track, coarse: Track, displaced: Track, rows: Sequence[Track], bodies: Sequence[str]) -> Horizon:
    """Return the `Horizon` up to which `rows` are compared with a reference.

    `coarse` is the reference at twice its step, `displaced` the same from a start that is displaced by `PERTURBATION`.
    It stops where the reference does; where the difference of reference and `coarse` exceeds `SHARE` of the median of
    the rows' differences, the largest so far of any body; and where the displacement has grown
    `MOST_GROWTH` times; all of this at whole numbers of the rows' largest step. Raises WorkbenchError where that is
    before the first of them.
    """
    largest = max(x.h for x in rows)
    runs = (reference, coarse, displaced)
    steps = min(int(x.t[-1] / largest + 1e-6) for x in runs)
    t = largest * np.arange(steps + 1, dtype=float)
    position, twice, moved = (x.position[_at(x, t)] for x in runs)
    apart = distances(twice, position)
    grown = np.maximum.accumulate(distances(moved, twice)) / PERTURBATION
    shown = np.median([_shown(x, reference, t) for x in rows], axis=0)
    ends = [_ended(x, t[-1], largest) for x in runs]
    unknown = apart.max(axis=1) > np.maximum(LEAST, SHARE * shown)
    beyond = np.flatnonzero(unknown | (grown.max(axis=1) > MOST_GROWTH))
    why = next(filter(None, ends), "")
    if beyond.size:
        k = int(beyond[0])
        steps = k - 1
        why = _unknown(apart, shown, k, t, bodies) if unknown[k] else _wild(grown, k, t, bodies)
    if steps < 1:
        raise WorkbenchError(f"nothing can be compared: {why or 'there is no step'}; a smaller step may help")
    return Horizon(round(float(t[steps]), 12), why, grown[steps], apart[1 : steps + 1].mean(axis=0))


def _at(x: Track, t: Array) -> NDArray[np.int64]:
    """The states of a track at times t, or the last before; after its end the last."""
    return np.clip((t / x.h + 1e-6).astype(np.int64), 0, len(x.q) - 1)


def _shown(x: Track, reference: Track, t: Array) -> Array:
    """(T,) the largest difference so far of any body from the reference, at times t."""
    stride, k = round(x.h / reference.h), _at(x, t)
    k = np.minimum(k, (len(reference.q) - 1) // stride)
    apart = distances(x.position[k], reference.position[k * stride]).max(axis=1)
    return np.maximum.accumulate(apart)


def _ended(x: Track, last: float, largest: float) -> str:
    """Return the reason why an incomplete run of the reference ends the comparison."""
    if x.finished or last < x.t[-1] - largest:
        return ""
    return f"exact Coulomb friction at {1e3 * x.h:g} ms has no verified step {x.reason}"


def _unknown(apart: Array, shown: Array, k: int, t: Array, bodies: Sequence[str]) -> str:
    body = int(apart[k].argmax())
    return (
        f"the reference itself is not known any more at {t[k]:.3g} s: at its step and at twice that {bodies[body]} is "
        f"{1e3 * apart[k, body]:.2g} mm apart, more than a third of the {1e3 * shown[k]:.2g} mm that runs differ from "
        "it"
    )


def _wild(grown: Array, k: int, t: Array, bodies: Sequence[str]) -> str:
    body = int(grown[k].argmax())
    return (
        f"the motion is chaotic at {t[k]:.3g} s: a displacement of the start by 1e-7 m has grown {grown[k, body]:.2g} "
        f"times at {bodies[body]}"
    )
