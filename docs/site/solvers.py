"""Which solver takes which kind of problem, made from the solvers and the bridges."""

from docs.site.text import escaped, table
from workbench.algorithms.table import Cell
from workbench.builtin.reports.text.solver_table import mark
from workbench.problems.bridges import BRIDGES
from workbench.verbs.registries import solver_cells


def solvers() -> str:
    """A table of marks, every bridge, and every cell in words."""
    rows: dict[str, list] = {}
    for cell in solver_cells():
        rows.setdefault(cell.solver, []).append(cell)
    problems = [cell.problem for cell in next(iter(rows.values()))]
    marks = table(["problem", *(f"`{name}`" for name in rows)], [
        [problem, *(mark(some[k]) for some in rows.values())] for k, problem in enumerate(problems)
    ])  # fmt: skip
    bridges = table(["bridge", "from", "to"], [
        [escaped(b.name), kind, ", ".join(sorted(ends))] for b in BRIDGES for kind, ends in b.leads.items()
    ])  # fmt: skip
    words = [
        f"### {name}\n\n{table(['problem', 'path', 'guaranteed for'], map(_row, some))}" for name, some in rows.items()
    ]
    return "\n\n".join([marks, f"## Bridges\n\n{bridges}", "## Solver by solver", *words])


def _row(cell: Cell) -> list[str]:
    path = cell.reason or ", ".join(cell.path) or "directly"
    promise = "" if cell.reason else cell.guaranteed_for or "nothing; the residual decides"
    return [cell.problem, escaped(path), escaped(promise)]
