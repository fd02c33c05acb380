"""Input of metrics of scenes: runs and the reference, body by body, and the distance of two of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.columns import SCENE
from workbench.comparison.measured import MeasuredSteps
from workbench.scenes.track import Track
from workbench.support.arrays import Array


@dataclass(frozen=True, eq=False)
class MeasuredScene(MeasuredSteps):
    """A run of a scene, `steps` (k,) of which are compared; all answers are `Track`s of B bodies.

    second    the reference at twice its step
    v_th      speed [m/s] below which a contact counts as sticking
    single    how far single steps are from Coulomb's law (`scenes.single`), NaN where that is not known
    """

    run: Track
    reference: Track
    exact: Track | None
    round_off: Track | None
    second: Track
    v_th: float
    single: "Callable[[MeasuredScene], float]" = lambda m: np.nan

    about = SCENE

    @property
    def parts(self) -> dict[str, tuple[Any, Any]]:
        # A formulation to round-off has no solver's part.
        return super().parts | ({"solver": (None, None)} if self.run is self.round_off else {})

    def mean(self, a: Track, name: str) -> Array:
        """Return means (k, B, ...) of a track's data of this name over each of this run's steps."""
        return self.over(a, getattr(a.touched, name), np.mean)

    def smooth(self, a: Track, name: str) -> Array:
        """(k - span + 1, B, ...) the same, means over `span` steps: an impact may come a step earlier or later."""
        x = self.mean(a, name)
        so_far = np.cumsum(np.concatenate([0 * x[:1], x]), axis=0)
        return (so_far[self.span :] - so_far[: -self.span]) / self.span

    @property
    def carried(self) -> NDArray[np.bool_]:
        """(k, B) whether something presses on the body in the reference, all through the step."""
        return self.over(self.reference, self.reference.touched.load > 0, np.all)

    @property
    def sticking(self) -> NDArray[np.bool_]:
        """(k, B) whether the body touches and does not slide in the reference, all through the step, nor before."""
        r = self.reference.touched
        return self.over(self.reference, (r.load > 0) & (r.slip <= self.v_th), np.all)
