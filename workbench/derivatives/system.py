"""A problem set by set at a solution, with its modes and the linearised law, as compiled code sees it."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.engine.layout import Packed
from workbench.problems.problem import Indices


class System(Packed):
    """X unknowns in B sets; arrays of X rows use Y of them where the law is linearised (`linearised`).

    Values with one entry per interval row, cone or disc are stored at its first unknown.
    """

    sizes = ("X", "B", "ends")
    integers = ("first", "cone", "set_of", "still", "mode", "begin", "end", "law", "begins", "loose", "row", "column")
    fields: ClassVar[dict[str, tuple]] = {
        "first": ("ends",),  # B + 1
        "cone": ("B",),
        "set_of": ("X",),
        "still": ("X",),  # whether no data reach a cone's normal row, or the bounds of a row (`Compiled.still`)
        "mu": ("B",),
        "lower": ("X",),
        "upper": ("X",),
        "A": ("X", "X"),
        "q": ("X",),
        "x": ("X",),
        "F": ("X",),  # A x + q
        "mode": ("X",),  # a number of `modes`, `modes.NO_PLACE` behind the first of a cone or disc
        "margin": ("X",),
        "e": ("X",),  # direction of sliding, at the tangents
        "speed": ("X",),  # |u_t|
        "R": ("X", "X"),  # (Y, X), a row for each column of R
        "L": ("X", "X"),  # likewise
        "begin": ("X",),  # (Y,) where these columns have entries
        "end": ("X",),
        "H": ("X",),  # (Y,), and the next ones, too
        "low": ("X",),
        "high": ("X",),
        "law": ("X",),
        "mu_y": ("X",),
        "begins": ("X",),
        "loose": ("X",),
        "S": ("X", "X"),  # (Y, Y)
        "E": ("X",),  # (Y,) units in which S has entries of order one
        "LU": ("X", "X"),
        "row": ("X",),
        "column": ("X",),
    }
    spans: ClassVar[dict[str, tuple[str, str]]] = {"bounds": ("mu", "upper"), "answer": ("q", "x")}

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


SYSTEM = System.compiled


def empty_system(first: Indices, cone: Indices) -> System:
    """An empty system for a problem whose set i has the unknowns first[i] : first[i + 1] and the kind cone[i], none of
    which has separate discs."""
    s = System(X=int(first[-1]), B=cone.size, ends=first.size)
    s.first, s.cone, s.set_of = first, cone, np.repeat(np.arange(cone.size), np.diff(first))
    return s
