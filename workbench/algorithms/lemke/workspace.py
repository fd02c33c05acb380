"""Memory of Lemke's method: named arrays over one buffer, for a large problem, a small one, and eight small ones."""

from typing import ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.lanes import LANES
from workbench.engine.layout import Packed, length, over
from workbench.engine.rows import WIDTH

SMALL = WIDTH - 3
"""Largest order of a problem whose tableau has rows of `WIDTH` numbers."""


class Workspace(Packed):
    """Work arrays for order n, N = n + 1: unknown n is z0, column n the covering vector d. They can be reused.

    Slots number the m unknowns B that are basic in place of w's, z's and z0, and their rows R (`path`).
    """

    sizes = ("N",)
    integers = (
        "first", "count", "basic", "slot", "R", "B", "pick", "starts", "columns", "seeds", "order", "place", "rows",
        "pivots", "reach",
    )  # fmt: skip
    fields: ClassVar[dict[str, tuple]] = {
        # For every path.
        "scaled": ("N", "N"),  # row j: column j of D M D, or its blocks of rows; the last is d
        "first": ("N", "N"),  # row j: the first row of each of its blocks
        "count": ("N",),  # number of blocks in column j; -1 if it is full, -2 if it has not been used
        "H": ("N", "N"),  # (G^-1)^T; the factors of a basis to be solved
        "D": ("N",),  # of the scaling D M D
        "d": ("N",),
        "b": ("N",),  # constants of q
        "e": ("N",),  # constants of the perturbation
        "t": ("N",),  # the entering column
        "y": ("N",),  # its part G^-1 t_R
        "correction": ("N",),  # to y
        "row": ("N",),  # tableau row of the leaving unknown
        "times": ("N",),  # factors of the columns to be added
        "pick": ("N",),  # positions of these columns
        "basic": ("N",),  # unknown of a row: -1 w_i, n z0, else the z
        "slot": ("N",),  # slot of a row, -1 for w_i
        "R": ("N",),  # the row of a slot
        "B": ("N",),  # its unknown
        # The problem itself, row by row.
        "starts": ("N",),  # starts of the rows' nonzeros
        "columns": ("N", "N"),
        "values": ("N", "N"),
        # For solving on a basis.
        "w": ("N",),  # q + M z
        "rhs": ("N",),
        "x": ("N",),
        "seeds": ("N",),  # unknowns from which the breadth-first order begins
        "order": ("N",),
        "place": ("N",),  # position in that order, -1 outside
        "rows": ("N",),  # rows of the matrix in the order of U's
        "pivots": ("N",),  # the columns in which rows of U begin
        "reach": (2, "N"),  # extent of columns downwards and of rows to the right
    }


WORKSPACE = Workspace.compiled
count_numbers, place_workspace = length(Workspace), over(Workspace)


@kernel(VECTOR(types.int64))
def numbers_for(n):
    """Allocate the buffer of a workspace for problems of order n."""
    return np.empty(count_numbers(n + 1))


def tableau(lanes: int, width: int, own: dict[str, tuple]) -> dict[str, tuple]:
    """Return the fields of a tableau of order up to SMALL, in rows of `width` numbers, of `lanes` problems each."""
    return {
        "T": (SMALL * width * lanes,),  # -D M D, the covering vector, the constants of q and p
        "row": (width * lanes,),  # the pivot row
        "D": (SMALL * lanes,),  # of the scaling D M D
        "basic": (SMALL * lanes,),  # unknown of a row: w_i is i, z_i is n + i, z0 2 n
        "nonbasic": ((SMALL + 1) * lanes,),  # unknown of a column
        **own,
        # The perturbation is shared by all lanes, and last, so that vectors do not straddle cache lines.
        "p": (SMALL,),
    }


class LemkeTableau(Packed):
    """Tableau of one problem."""

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
    """Tableaus of eight problems in vector lanes."""

    sizes = ()
    fields: ClassVar[dict[str, tuple]] = tableau(
        LANES,
        SMALL + 3,
        {
            "A": (SMALL * SMALL * LANES,),  # M
            "q": (SMALL * LANES,),
            "col": (SMALL * LANES,),  # the pivot column
            "z": (SMALL * LANES,),  # the solution
        },
    )


TABLEAU, TABLEAU_NUMBERS, place_tableau = LemkeTableau.compiled, LemkeTableau().buffer.size, over(LemkeTableau)
EIGHT_NUMBERS, place_eight = EightTableaus().buffer.size, over(EightTableaus)
