"""Data of a case and of a formulation that pages show and saved comparisons keep."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.comparison.plain_data import checked, written
from workbench.mechanics.case import Case
from workbench.mechanics.sketch import Arrow, Disc, Line, Outline, Shape
from workbench.support.errors import DataError

SHAPES: dict[str, type[Shape]] = {kind.__name__: kind for kind in (Outline, Line, Disc, Arrow)}


@dataclass(frozen=True)
class SavedCase:
    """Data of a case that a page shows."""

    name: str
    description: str
    source: str
    elastic: bool
    v_th: float
    parameters: dict[str, float]
    shapes: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, case: "Case | SavedCase") -> "SavedCase":
        if isinstance(case, SavedCase):
            return case
        shapes = tuple({"kind": type(x).__name__, **{k: written(v) for k, v in vars(x).items()}} for x in case.sketch())
        parameters = {name: float(value) for name, value in vars(case).items()}
        return cls(case.name, case.description, case.source, case.elastic, case.v_th, parameters, shapes)

    def sketch(self) -> list[Shape]:
        """Return the case at its start as plane shapes in metres; raises DataError for an unknown shape."""
        return [_shape(x) for x in self.shapes]


@dataclass(frozen=True)
class SceneShown:
    """Data of a scene that a page shows; growth and uncertainty [m] by body, at the end of the comparison.

    `until` [s] is when the comparison stops, and `why` is a sentence where that is before the end. `facts` are words
    with what they are, `left_out` what of the model is not taken over, `engines` rows that are no formulations.
    """

    name: str
    bodies: tuple[str, ...]
    v_th: float
    velocities: int
    duration: float
    until: float
    why: str
    growth: tuple[float, ...]
    uncertainty: tuple[float, ...]
    facts: dict[str, str]
    left_out: tuple[str, ...]
    engines: dict[str, str]

    @property
    def free(self) -> bool:
        """True if no joint holds any body."""
        return self.velocities == 6 * len(self.bodies)


@dataclass(frozen=True)
class SavedFormulation:
    """Data of a formulation that a page shows; `axes` is None if it has none."""

    name: str
    label: str
    friction: str
    options: dict[str, Any]
    axes: str | None


def _shape(given: dict[str, Any]) -> Shape:
    own = dict(given)
    kind = SHAPES.get(str(own.pop("kind", "")))
    try:
        assert kind
        for name, of in (("points", (-1, 2)), ("centre", (2,)), ("tail", (2,)), ("head", (2,))):
            if name in own:
                own[name] = np.array(own[name], dtype=float).reshape(of)
                assert np.isfinite(own[name]).all()
        for name, kind_of in (("radius", float), ("label", str), ("ground", bool)):
            if name in own:
                own[name] = checked(kind_of, own[name], name)
        return kind(**own)
    except (AssertionError, OverflowError, TypeError, ValueError):
        words = f"a sketch holds {', '.join(SHAPES)} with their points in metres"
        raise DataError(f"a shape of the case's sketch cannot be drawn: {str(given)[:60]}; {words}") from None
