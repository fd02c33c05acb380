"""Table of solvers and kinds of problems: the path and the guarantee for each solver and example."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from workbench.algorithms.base import Solver
from workbench.algorithms.paths import BridgePath, path_to
from workbench.problems.examples import examples


class Cell(NamedTuple):
    """A solver and a problem: the bridges on the path between them, or the reason why there is none.

    `guaranteed_for` names the problems at the end of the path, of kind `solved_as`, for which a solution is guaranteed;
    it is empty for a sequence of CCPs and without a path.
    """

    solver: str
    problem: str
    path: tuple[str, ...]
    solved_as: str
    guaranteed_for: str
    reason: str


def cells(solvers: Sequence[Solver], problems: Mapping[str, Any] | None = None) -> Iterator[Cell]:
    """Iterate over the table, solver by solver, for `problems` by name, or for the examples."""
    begun = {name: BridgePath(problem) for name, problem in (problems or examples()).items()}
    for solver in solvers:
        for name, start in begun.items():
            path = path_to(solver, start.start, begun=start)
            if isinstance(path, BridgePath):
                sure = "" if path.is_sequence else solver.guaranteed_for
                yield Cell(solver.name, name, path.names, path.end.kind, sure, "")
            else:
                yield Cell(solver.name, name, (), "", "", path)
