"""Where Lemke's method keeps its numbers: names over one buffer, of a large problem, of a small one, and of eight."""

from typing import ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.lanes import LANES
from workbench.engine.layout import Packed, length, over
from workbench.engine.rows import WIDTH

SMALL = WIDTH - 3
"""Largest order of a problem that has its tableau in rows of `WIDTH` numbers."""


class Workspace(Packed):
    """A problem of order n, N = n + 1: unknown n is z0, column n the covering vector d. Every solve may use the same.

    Slots number the m unknowns B that are basic in the stead of w's, z's and z0, and their rows R (`path`).
    """

    sizes = ("N",)
    integers = (
        "first", "count", "basic", "slot", "R", "B", "pick", "starts", "columns", "seeds", "order", "place", "rows",
        "pivots", "reach",
    )  # fmt: skip
    fields: ClassVar[dict[str, tuple]] = {
        # Of every path.
        "scaled": ("N", "N"),  # row j: column j of D M D, or its blocks of rows; the last is d
        "first": ("N", "N"),  # row j: the first row of each of its blocks
        "count": ("N",),  # of blocks in column j; -1 where it is full, -2 where it has not been used
        "H": ("N", "N"),  # (G^-1)^T; the factors of a basis that is solved
        "D": ("N",),  # of the scaling D M D
        "d": ("N",),
        "b": ("N",),  # constants of q
        "e": ("N",),  # constants of the perturbation
        "t": ("N",),  # the entering column
        "y": ("N",),  # its part G^-1 t_R
        "correction": ("N",),  # to y
        "row": ("N",),  # of the tableau, that of the leaving unknown
        "times": ("N",),  # factors of the columns that are added up
        "pick": ("N",),  # the places of these columns
        "basic": ("N",),  # unknown of a row: -1 w_i, n z0, else the z
        "slot": ("N",),  # of a row, -1 for w_i
        "R": ("N",),  # the row of a slot
        "B": ("N",),  # its unknown
        # The problem itself, row by row.
        "starts": ("N",),  # where the nonzeros of a row begin
        "columns": ("N", "N"),
        "values": ("N", "N"),
        # Of a solve on a basis.
        "w": ("N",),  # q + M z
        "rhs": ("N",),
        "x": ("N",),
        "seeds": ("N",),  # unknowns from which the breadth-first order begins
        "order": ("N",),
        "place": ("N",),  # in that order, -1 outside
        "rows": ("N",),  # of the matrix in the order of U's
        "pivots": ("N",),  # the columns in which rows of U begin
        "reach": (2, "N"),  # how far down columns and right rows can get
    }


WORKSPACE = Workspace.compiled
count_numbers, place_workspace = length(Workspace), over(Workspace)


@kernel(VECTOR(types.int64))
def numbers_for(n):
    """The buffer of a workspace for problems of order n."""
    return np.empty(count_numbers(n + 1))


def tableau(lanes: int, width: int, own: dict[str, tuple]) -> dict[str, tuple]:
    """The fields of a tableau of order up to SMALL, in rows of `width` numbers, of `lanes` problems each."""
    return {
        "T": (SMALL * width * lanes,),  # -D M D, the covering vector, the constants of q and p
        "row": (width * lanes,),  # the one that is pivoted on
        "D": (SMALL * lanes,),  # of the scaling D M D
        "basic": (SMALL * lanes,),  # unknown of a row: w_i is i, z_i is n + i, z0 2 n
        "nonbasic": ((SMALL + 1) * lanes,),  # unknown of a column
        **own,
        # The perturbation is the same for all lanes, and last, so that vectors do not lie across lines of the cache.
        "p": (SMALL,),
    }


class LemkeTableau(Packed):
    """That of one problem."""

    sizes = ()
    integers = ("basic", "nonbasic", "where")
    fields: ClassVar[dict[str, tuple]] = tableau(
        1,
        WIDTH,
        {
            "where": (2 * SMALL + 1,),  # the column of a nonbasic unknown
        },
    )


class EightTableaus(Packed):
    """Those of eight problems in vector lanes."""

    sizes = ()
    fields: ClassVar[dict[str, tuple]] = tableau(
        LANES,
        SMALL + 3,
        {
            "A": (SMALL * SMALL * LANES,),  # M
            "q": (SMALL * LANES,),
            "col": (SMALL * LANES,),  # the column that is pivoted on
            "z": (SMALL * LANES,),  # the answer
        },
    )


TABLEAU, TABLEAU_NUMBERS, place_tableau = LemkeTableau.compiled, LemkeTableau().buffer.size, over(LemkeTableau)
EIGHT_NUMBERS, place_eight = EightTableaus().buffer.size, over(EightTableaus)
