"""The solvers of each problem, as `workbench list` prints them: a table of all, and the row of one as text."""

import textwrap

from workbench.algorithms import SOLVERS, find_solver
from workbench.algorithms.table import Cell, cells
from workbench.cli.parsing import WIDTH


def bundled(name: str = "") -> list[Cell]:
    """The table of the bundled solvers, or the row of one of them."""
    return list(cells([find_solver(solver) for solver in SOLVERS.names if name in ("", solver)]))


def table() -> str:
    """Rows of solvers and columns of problems, with the number of bridges between them."""
    rows: dict[str, list[Cell]] = {}
    for cell in bundled():
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


def mark(cell: Cell) -> str:
    """The number of bridges, s for a sequence, - for none."""
    if cell.reason:
        return "-"
    return "s" if not cell.guaranteed_for else str(len(cell.path))


def row(name: str) -> str:
    """Every problem with the bridges from it to a solver, or the reason why there are none."""
    lines = []
    for cell in bundled(name):
        found = cell.reason or f"through: {', '.join(cell.path)}"
        lines.append(textwrap.fill(
            f"{cell.problem:<22}{found if cell.reason or cell.path else 'directly'}", WIDTH, subsequent_indent=" " * 24
        ))  # fmt: skip
    return "\n".join(lines)
