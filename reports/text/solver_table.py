"""The solvers of each problem, as `workbench list` prints them: a table of all, and the row of one as text."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.algorithms.table import Cell

WIDTH = 100
"""Columns of the terminal."""


def table(cells: "Sequence[Cell]") -> str:
    """Rows of solvers and columns of problems, with the number of bridges between them."""
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.solver, []).append(cell)
    problems = [cell.problem for cell in next(iter(rows.values()))]
    legend = ", ".join(f"{k} {name}" for k, name in enumerate(problems, start=1))
    words = (
        "Number of bridges from a small example of each kind of problem to a solver: 0 where the solver takes it "
        "directly, s where it solves Coulomb's law as a sequence of CCPs, - where there is no path. `workbench list "
        "SOLVER` lists the bridges and the reasons. Equations leave no unknowns, so any solver takes them. "
        f"Problems: {legend}."
    )
    lines = [f"{'solver':<18}" + "".join(f"{k:>5}" for k in range(1, len(problems) + 1))]
    lines += [f"{solver:<18}" + "".join(f"{mark(cell):>5}" for cell in some) for solver, some in rows.items()]
    return "\n".join([textwrap.fill(words, WIDTH), "", *lines])


def mark(cell: "Cell") -> str:
    """The number of bridges, s for a sequence, - for none."""
    if cell.reason:
        return "-"
    return "s" if not cell.guaranteed_for else str(len(cell.path))


def row(cells: "Sequence[Cell]") -> str:
    """Every problem with the bridges from it to a solver, or the reason why there are none, from its cells."""
    lines = []
    for cell in cells:
        found = cell.reason or f"through: {', '.join(cell.path)}"
        lines.append(textwrap.fill(
            f"{cell.problem:<22}{found if cell.reason or cell.path else 'directly'}", WIDTH, subsequent_indent=" " * 24
        ))  # fmt: skip
    return "\n".join(lines)
