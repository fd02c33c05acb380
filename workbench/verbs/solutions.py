"""`solutions`: all solutions of one problem, proved to be all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.diagnostics.coulomb_answers import coulomb_entry, coulomb_words, every_q_entry, modes_words, point_words
from workbench.diagnostics.posed_problem import solutions_of, solutions_words, wrapped
from workbench.diagnostics.problem_check import LARGEST, in_rationals
from workbench.engine.interpreted import interpreting
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock, moment
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.files import read_problem_file
from workbench.readers.npz import FileProblem
from workbench.support.errors import WorkbenchError
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 6
"""Number of digits in a terminal."""


@dataclass(frozen=True, repr=False, eq=False)
class AllSolutions(Result):
    """The isolated solutions of a problem with its own q, and their number; `data` is ready for JSON.

    `count` is a number, "infinite", or None with the reason in `data["reason"]`; `mu` (r) are the coefficients of a
    friction problem.
    """

    title: str
    data: dict[str, Any] = field(repr=False)
    mu: Sequence[float] = field(default=(), repr=False)

    @property
    def count(self) -> int | str | None:
        return self.data["count"]

    @property
    def words(self) -> list[str]:
        said = coulomb_words(self.data) if "law" in self.data else solutions_words(self.data)
        return [f"{said[:1].upper()}{said[1:]}."]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per unknown of each solution: for a friction problem mode, p and u, for others z."""
        import pandas as pd

        friction = "law" in self.data
        rows: list[tuple[Any, ...]] = []
        for k, point in enumerate(self.data["points"], start=1):
            if not friction:
                rows += [(k, i, x) for i, x in enumerate(point)]
                continue
            r, n = len(point["modes"]), len(point["p"])
            for i in range(n):
                contact = i if i < r else (i - r) // (n // r - 1)
                rows.append((k, i, contact + 1, point["modes"][contact], point["p"][i], point["u"][i]))
        columns = ["solution", "index", *(("contact", "mode", "p", "u") if friction else ("z",))]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """One row per solution of a friction problem: modes, index, determinant, whether it is regular, residual, and
        the distance within which an exact solution is."""
        import pandas as pd

        rows = [
            (k, modes_words(x["modes"]), x["index"], x["determinant"], x["regular"], x["residual"], x["distance"])
            for k, x in enumerate(self.data["points"], start=1)
        ]
        columns = ["solution", "modes", "index", "determinant", "regular", "residual", "distance"]
        return pd.DataFrame(rows, columns=columns).astype({"index": "Int64"})

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return ({"kinds": self.kinds} if "law" in self.data else {}) | {"solutions": self.frame}

    def html(self, facts: dict[str, Any] | None = None) -> str:
        """The page, with a picture of all solutions of Coulomb's law."""
        from workbench.builtin.reports.pages.result import render

        figures = []
        if self.mu and self.data["points"]:
            from workbench.builtin.reports.figures.coulomb_solutions import solutions_figures

            figures = solutions_figures(self.data["points"], self.mu)
        return render(self.title, self.words, self.frames, facts or self.facts, figures)

    @property
    def text(self) -> str:
        """The number of solutions, and every solution in numbers."""
        rows = [("problem", self.title), ("solutions", self.words[0])]
        for k, point in enumerate(self.data["points"], start=1):
            rows.append((f"solution {k}", _shown(point)))
        return wrapped(rows)


def _shown(point: Any) -> str:
    if isinstance(point, list):
        return f"z = {', '.join(point)}"
    p, u = (", ".join(f"{x + 0.0:.{SHOWN}g}" for x in point[name]) for name in ("p", "u"))
    det = "" if point["determinant"] is None else f"; determinant {point['determinant']:.{SHOWN}g}"
    away = "exact" if point["exact"] else f"exact within {point['distance']:.1e}"
    return f"{point_words(point)}{det}; residual {point['residual']:.1e}, {away}; p = {p}; u = {u}"


def solutions(problem: FileProblem | str | Path, *, seconds: float = 10.0) -> AllSolutions:
    """Return all solutions of Coulomb's law, or of an LCP or MLCP, for the problem's q, proved to be all.

    `problem` is a friction problem, an LCP or MLCP, or the path of a file with one; its doubles are taken as exact
    numbers. Coulomb's law is searched for up to 8 coupled contacts in the plane and 4 in space, and for more only
    if it is known to have one solution for every q. More than 100 solutions are counted, not listed. Every
    solution has its contact modes, the sign of the determinant of the linearised law (its index), and the
    problem's own residual. If `seconds` end first, or a solution is degenerate in an undecidable way, `count` is
    None. Raises WorkbenchError for unreadable input or another kind of problem.

    >>> import numpy as np
    >>> import workbench as wb
    >>> from workbench.problems.friction_problem import FrictionProblem
    >>> W = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])
    >>> found = wb.solutions(FrictionProblem(W, np.array([-0.44875, -0.2583333333, 0.8934561483]), 1.05))
    >>> found.count, [(point["modes"], point["index"]) for point in found.data["points"]]
    (3, [(['slip'], 1), (['slip'], -1), (['stick'], 1)])
    """
    if not seconds > 0:
        raise WorkbenchError(f"a time limit of {seconds:g} s is out of range; give a positive number of seconds")
    name = Path(problem).name if isinstance(problem, str | Path) else ""
    given = read_problem_file(problem) if isinstance(problem, str | Path) else problem
    with interpreting(getattr(given, "size", 0)):
        if isinstance(given, MLCP):
            return AllSolutions(name or f"the {given.kind}", solutions_of(given, False, seconds))
        if not isinstance(given, FrictionProblem | GlobalFrictionProblem):
            kind = type(given).__name__
            raise WorkbenchError(f"a {kind} has no solutions to count; give a friction problem, an LCP or an MLCP")
        if not given.contacts:
            raise WorkbenchError("the problem has no contacts: its motion is free")
        if given.size > LARGEST:
            raise WorkbenchError(f"the problem has {given.size} rows; solutions are counted up to {LARGEST}")
        deadline = clock() + seconds
        try:
            friction = in_rationals(given, deadline)
        except OutOfTimeError:
            raise WorkbenchError(f"{OUT_OF_TIME}: W was not formed in rationals within {seconds:g} s") from None
        local = given.local if isinstance(given, GlobalFrictionProblem) else given
        unique = every_q_entry(friction, moment(deadline, 0.2))["verdict"] == "unique"
        found = coulomb_entry(friction, local, unique, deadline - clock())
    return AllSolutions(name or f"the {given.kind} problem", found, local.mu.tolist())
