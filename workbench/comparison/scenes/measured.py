"""What a metric of scenes sees: runs beside the reference, body by body, and how far two of them are apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.comparison.columns import SCENE
from workbench.comparison.measured import SPAN, AnswerPair, Measured
from workbench.scenes.track import Track


@dataclass(frozen=True, eq=False)
class MeasuredScene(Measured):
    """A run of a scene, `steps` (k,) of which are compared; all answers are `Track`s of B bodies.

    coarse    the reference at twice its step: their difference is the reference's own uncertainty
    v_th      speed [m/s] below which a contact counts as sticking
    one_step  how far single steps are from Coulomb's law (`scenes.single`), NaN where that is not known
    """

    run: Track
    reference: Track
    exact: Track | None
    round_off: Track | None
    coarse: Track
    v_th: float
    one_step: float = np.nan

    about = SCENE

    @property
    def pairs(self) -> dict[str, AnswerPair]:
        parts = {
            "": (self.run, self.reference), "reference": (self.coarse, self.reference),
            "discretisation": (self.exact, self.reference), "formulation": (self.round_off, self.exact),
            "solver": (self.run, self.round_off),
        }  # fmt: skip
        if self.run is self.round_off:
            del parts["solver"]
        return {part: AnswerPair(both) for part, both in parts.items() if None not in both}

    @property
    def span(self) -> int:
        return max(1, round(SPAN * len(self.steps)))

    def ends(self, a: Track) -> NDArray[np.int64]:
        """(k,) the states of a track at the ends of the steps."""
        return (self.steps + 1) * round(self.run.h / a.h)

    def mean(self, a: Track, name: str) -> Array:
        """(k, B, ...) what a track's steps have under this name, the means over each of this run's steps."""
        stride, x = round(self.run.h / a.h), getattr(a.steps, name)
        every = self.steps[:, None] * stride + np.arange(stride)
        return x[self.steps] if stride == 1 else x[every].mean(axis=1)

    def smooth(self, a: Track, name: str) -> Array:
        """(k - span + 1, B, ...) the same, means over `span` steps: an impact may come a step earlier or later."""
        x = self.mean(a, name)
        so_far = np.cumsum(np.concatenate([0 * x[:1], x]), axis=0)
        return (so_far[self.span :] - so_far[: -self.span]) / self.span

    @property
    def carried(self) -> NDArray[np.bool_]:
        """(k, B) whether something presses on the body in the reference, all through the step."""
        return self._throughout(self.reference.steps.load > 0)

    @property
    def sticking(self) -> NDArray[np.bool_]:
        """(k, B) whether the body touches and does not slide in the reference, all through the step, nor before."""
        r = self.reference.steps
        return self._throughout((r.load > 0) & (r.slip <= self.v_th))

    def _throughout(self, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        stride = round(self.run.h / self.reference.h)
        return holds[self.steps[:, None] * stride + np.arange(stride)].all(axis=1)


def distances(a: Array, b: Array) -> Array:
    """(..., B) [m] between positions (..., B, 3)."""
    return np.linalg.norm(a - b, axis=-1)


def angles(a: Array, b: Array) -> Array:
    """(..., B) [rad], from 0 to pi, between orientations (..., B, 4), unit quaternions."""
    near = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return 4.0 * np.arcsin(np.minimum(0.5 * near, 1.0))
