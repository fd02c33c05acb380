"""What a bridge is: the kinds between which it leads, when it applies, and the image of a problem."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from workbench.arrays import Array


class Image(NamedTuple):
    """The problem that a bridge makes of another, `back` from its unknowns to theirs, and `there`, for starts."""

    problem: Any
    back: Callable[[Array], Array]
    there: Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Bridge:
    """A solution of `forward(problem).problem`, carried back, solves the problem.

    `leads` has, for every kind of problem at which it begins, the kinds at which it may end. `cost` compares bridges: 1
    for a new order of the unknowns, more where a matrix is formed or factored, or where unknowns are added. `applies`
    returns None, or the mathematical reason why the problem has no image; `forward` may raise DataError where only the
    numbers show that. `exact` bridges round nothing, so that a proof about the image is one about the problem.
    """

    name: str
    leads: Mapping[str, frozenset[str]]
    cost: int
    applies: Callable[[Any], str | None]
    forward: Callable[[Any], Image]
    exact: bool = False


def between(begins: Iterable[str], *ends: str) -> dict[str, frozenset[str]]:
    """The `leads` of a bridge that may end at the same kinds wherever it begins."""
    return dict.fromkeys(begins, frozenset(ends))
