"""What a bridge is: the kinds between which it leads, when it applies, and the image of a problem."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from workbench.arrays import Array


class Image(NamedTuple):
    """The problem that a bridge makes of another, `back` from its unknowns to theirs, and `there`, for starts."""

    problem: Any
    back: Callable[[Array], Array]
    there: Callable[[Array], Array]


@dataclass(frozen=True)
class Bridge:
    """A solution of `forward(problem).problem`, carried back, solves the problem.

    `begins` and `ends` name kinds of problems, `cost` compares bridges: 1 for a new order of the unknowns, more where a
    matrix is formed or factored, or where unknowns are added. `applies` returns None, or the mathematical reason why
    the problem has no image; `forward` may raise DataError where only the numbers show that. `exact` bridges round
    nothing, so that a proof about the image is one about the problem.
    """

    name: str
    begins: frozenset[str]
    ends: frozenset[str]
    cost: int
    applies: Callable[[Any], str | None]
    forward: Callable[[Any], Image]
    exact: bool = False


def always(problem: Any) -> None:
    """No reason against any problem."""
