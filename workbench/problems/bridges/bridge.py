"""The interface of a bridge: the kinds it connects, its conditions, and the image of a problem."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from workbench.support.arrays import Array


class Image(NamedTuple):
    """The converted problem, `back` from its unknowns to those of the original, and `there`, the inverse for starts."""

    problem: Any
    back: Callable[[Array], Array]
    there: Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Bridge:
    """A conversion: a solution of `forward(problem).problem`, mapped back, solves the problem.

    `leads` maps every kind of problem that the bridge accepts to the kinds that may result. `cost` compares bridges: 1
    for reordering the unknowns, more for forming or factoring a matrix or adding unknowns. `applies` returns None, or
    the mathematical reason why the problem cannot be converted; `forward` may raise DataError if only the numbers show
    that. `exact` bridges are free of round-off, so that a proof for the image holds for the problem.
    """

    name: str
    leads: Mapping[str, frozenset[str]]
    cost: int
    applies: Callable[[Any], str | None]
    forward: Callable[[Any], Image]
    exact: bool = False


def between(begins: Iterable[str], *ends: str) -> dict[str, frozenset[str]]:
    """Return the `leads` of a bridge whose possible results are the same for every kind it accepts."""
    return dict.fromkeys(begins, frozenset(ends))
