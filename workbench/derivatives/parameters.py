"""What motions are differentiated by: parameters of their case, and coordinates and velocities at its start."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

import numpy as np

from workbench.derivatives.differences import SHIFT, differences
from workbench.derivatives.one_step import Direction, State
from workbench.mechanics.case import Case
from workbench.mechanics.start import beginning
from workbench.support.arrays import Array
from workbench.support.errors import DataError, UnknownNameError


def place_at_start(case: Case, name: str) -> tuple[int, int] | None:
    """(0, i) of q[i], (1, i) of v[i] at the start of a case, None for one of its parameters; raises UnknownNameError.

    Coordinates are known by themselves where each has its own velocity; entries of a quaternion have none.
    """
    own = [f.name for f in fields(case)]
    if case.aliases.get(name, name) in own:
        return None
    q, v = case.start()
    places = {f"q[{i}]": (0, i) for i in range(len(q) if len(q) == len(v) else 0)}
    places |= {f"v[{i}]": (1, i) for i in range(len(v))}
    if name not in places:
        raise UnknownNameError(f"parameter of {case.name}", name, [*own, *places])
    return places[name]


def value_of(case: Case, name: str) -> float:
    """The value of a parameter or an entry of the start; raises UnknownNameError."""
    place = place_at_start(case, name)
    return float(getattr(case, case.aliases.get(name, name)) if place is None else case.start()[place[0]][place[1]])


def with_values(case: Case, values: Mapping[str, float]) -> Case:
    """The case with these parameters and entries of its start; raises UnknownNameError, and DataError as the case."""
    places = {name: place_at_start(case, name) for name in values}
    case = case.with_parameters(**{name: values[name] for name, place in places.items() if place is None})
    entries = [(*place, float(values[name])) for name, place in places.items() if place is not None]
    return beginning(case, entries) if entries else case


def moved(case: Case, name: str) -> tuple[Callable[[float], Case], float]:
    """The case with a parameter or an entry of its start varied, and its size: of an entry that of the largest of the
    coordinates or velocities, 1 where it is zero. Raises UnknownNameError."""
    place, at = place_at_start(case, name), value_of(case, name)
    size = abs(at) if place is None else float(np.abs(case.start()[place[0]]).max())
    return lambda shift: with_values(case, {name: at + shift}) if shift else case, size or 1.0


def slope_of(of: Callable[[float], Sequence[Array]], shift: float) -> list[Array]:
    """Slopes of arrays at a shift of a parameter, ahead where the case has no parameters behind, as at mu = 0."""
    try:
        return differences(of, shift)[0]
    except DataError:
        values = zip(*(of(k * shift) for k in range(3)), strict=True)
        return [(4 * near - far - 3 * here) / (2 * shift) for here, near, far in values]


class CaseParameter:
    """A parameter of a case, or an entry of its start, as a direction: the change of data and start, and of all else
    that depends on it."""

    def __init__(self, case: Case, name: str) -> None:
        self.name = name
        self.moved, self.unit = moved(case, name)
        beside, data = self.moved(SHIFT * self.unit), case.data()
        # The varied case shows what else depends on a parameter; building it takes longer than a step.
        same = np.array_equal(beside.relaxation.data(), case.relaxation.data()) and beside.v_th == case.v_th
        self.in_data_alone = case.is_compiled and same
        self.along = (beside.data() - data) / (SHIFT * self.unit)
        self.q, self.v = slope_of(lambda s: self.moved(s).start(), SHIFT * self.unit)

    def direction(self, tangent: State) -> Direction:
        return Direction(tangent, self.along, self.unit, None if self.in_data_alone else self.moved)
