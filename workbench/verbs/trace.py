"""`trace`: a pivoting method on a small LCP, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpq_mat

from workbench.builtin.reports.text.trace import as_data, cells, heads, in_words, tableau_cells, to_text
from workbench.diagnostics.tracing import judice_pires, keller, lemke, murty, pgs
from workbench.diagnostics.tracing.trace import Trace
from workbench.matrices.linear_algebra.rationals import Vector, nearest_double
from workbench.support.errors import UnknownNameError, WorkbenchError
from workbench.verbs.check import problem_of
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from workbench.builtin.reports.figures.cones import Picture

LARGEST = 12
"""Largest number of unknowns: tables of more are unreadable."""
SOLVERS = ("lemke", "murty", "judice-pires", "keller", "pgs")
MOST, MOST_EXACT = 10_000, 30
"""Largest numbers of steps, and of sweeps in fractions, whose digits grow with each."""
STEPS, EXACT_SWEEPS = 1000, 10
"""Default numbers of steps, and of sweeps in fractions."""


@dataclass(frozen=True, repr=False, eq=False)
class Traced(Result):
    """Every step of a method on a problem; `data` is ready for JSON, `text` for a terminal, `latex` for a paper."""

    title: str
    trace: Trace = field(repr=False)
    judged: str = field(repr=False)

    @property
    def data(self) -> dict[str, Any]:
        return as_data(self.trace, self.title, self.judged)

    @property
    def text(self) -> str:
        return to_text(self.trace, self.title)

    @property
    def latex(self) -> str:
        """The steps as a table, with booktabs."""
        from workbench.builtin.reports.text.trace_latex import to_latex

        return to_latex(self.trace, self.title)

    @property
    def words(self) -> list[str]:
        return in_words(self.trace)

    def tableau(self, step: int) -> pd.DataFrame:
        """The tableau after a pivot, in fractions, the next pivot in brackets; WorkbenchError if there is none."""
        import pandas as pd

        pivots = len(self.trace.pivots)
        if not 0 <= step < pivots:
            there = f"steps are 0 to {pivots - 1}" if pivots else f"{self.trace.solver} has none"
            raise WorkbenchError(f"there is no tableau after step {step}; {there}")
        (_, *columns), *rows = tableau_cells(self.trace, step)
        return pd.DataFrame([row[1:] for row in rows], index=[row[0] for row in rows], columns=columns)

    def picture(self) -> Picture:
        """Draw the path through the complementary cones of two or three unknowns, or the sweeps of two. Raises
        WorkbenchError for other numbers of unknowns."""
        from workbench.builtin.reports.figures.traces import picture

        return picture(self.trace)

    @property
    def drawn(self) -> str:
        from workbench.builtin.reports.figures.traces import is_drawable

        return self.picture().svg if is_drawable(self.trace) else ""

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per step, with the text of `text`; z is separate (`points`)."""
        import pandas as pd

        steps = self.trace.steps
        frame = pd.DataFrame([cells(self.trace, step)[:-1] for step in steps], columns=list(heads(self.trace)[:-1]))
        frame[frame.columns[0]] = [step.number for step in steps]
        if self.trace.pivots:
            frame["rule"] = [step.rule for step in self.trace.pivots]
        else:
            frame["change"] = [step.change for step in self.trace.sweeps]
            frame["residual"] = [step.residual for step in self.trace.sweeps]
        return frame

    @property
    def points(self) -> pd.DataFrame:
        """One row per step and index: step, index, z, w as doubles and as fractions ("" where there are none)."""
        import pandas as pd

        rows = [
            (step.number, i, *(_double(x) for x in pair), *(str(x) if isinstance(x, fmpq) else "" for x in pair))
            for step in self.trace.steps
            for i, pair in enumerate(zip(step.z, step.w, strict=True))
        ]
        return pd.DataFrame(rows, columns=["step", "index", "z", "w", "z_exact", "w_exact"])

    @property
    def ratios(self) -> pd.DataFrame:
        """One row per step and candidate for leaving the basis: step, unknown, ratio, exact, leaves."""
        import pandas as pd

        name = self.trace.system.name
        rows = [
            (step.number, name(unknown), nearest_double(ratio), str(ratio), unknown in step.leaving)
            for step in self.trace.pivots
            for unknown, ratio in step.ratios
        ]
        return pd.DataFrame(rows, columns=["step", "unknown", "ratio", "exact", "leaves"])

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"steps": self.frame, "points": self.points, "ratios": self.ratios}

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.trace import render

        return render(self.trace, self.title, facts or self.facts)


def trace(
    what: Any, *, rhs: Any = None, solver: str = "lemke", max_steps: int | None = None, ties: str = "lexicographic",
    exact: bool = False,
) -> Traced:  # fmt: skip
    """Return every pivot or sweep of a method on an LCP of at most 12 unknowns, in exact fractions.

    `what` is M or M and q as for `check`, `rhs` is q (n,). `solver` is "lemke", "murty", "judice-pires", "keller"
    (symmetric M) or "pgs" (positive diagonal; in doubles, or `exact` for few sweeps). `ties` of Lemke's method are
    broken by the "lexicographic" rule, or the "first" row leaves, with which it may cycle. It stops after `max_steps`,
    by default 1000, or 10 exact sweeps. Raises WorkbenchError for input that cannot be read or traced.

    >>> import workbench as wb
    >>> found = wb.trace([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], rhs=[-3, 6, -1])
    >>> found.words[0]
    'lemke, after 5 pivots: a solution, z = (0, 1, 3), w = (2, 0, 0).'
    >>> wb.trace([[1, 2, 0], [0, 1, 2], [2, 0, 1]], rhs=[-1, -1, -1], ties="first").trace.outcome
    'cycle'
    """
    if solver not in SOLVERS:
        raise UnknownNameError("traced solver", str(solver), list(SOLVERS))
    if ties not in lemke.TIES:
        raise WorkbenchError(f"ties is '{ties}'; {' or '.join(lemke.TIES)} is needed")
    if ties != lemke.TIES[0] and solver != "lemke":
        raise WorkbenchError(f"ties={ties} is for lemke; {solver} has no ratio test with that choice")
    if exact and solver != "pgs":
        raise WorkbenchError(f"exact is for pgs; {solver} is traced in exact fractions anyway")
    most = _steps(max_steps, exact)
    M, q, name = problem_of(what, rhs)
    _refuse(M.values.shape, q is None, name)
    assert q is not None
    A, b = M.exact, q.exact.entries()
    if len(b) != A.nrows():
        raise WorkbenchError(f"q has {len(b)} entries; the {A.nrows()} x {A.nrows()} matrix needs {A.nrows()}")
    judged = M.judged if M.judged == q.judged else f"M: {M.judged}; q: {q.judged}"
    return Traced(name, _traced(A, b, solver, most, ties, exact), judged)


def _traced(M: fmpq_mat, q: Vector, solver: str, most: int, ties: str, exact: bool) -> Trace:
    n = len(q)
    if solver == "lemke":
        return lemke.trace(M, q, most, ties)
    if solver == "murty":
        return murty.trace(M, q, most)
    if solver == "judice-pires":
        return judice_pires.trace(M, q, most)
    if solver == "keller":
        i, j = next(((i, j) for i in range(n) for j in range(i) if M[i, j] != M[j, i]), (0, 0))
        if i != j:
            raise WorkbenchError(
                f"keller needs a symmetric M; M[{i}, {j}] = {M[i, j]} and M[{j}, {i}] = {M[j, i]}. lemke takes any"
            )
        return keller.trace(M, q, most)
    k = next((i for i in range(n) if nearest_double(M[i, i]) <= 0), None)
    if k is not None:
        raise WorkbenchError(f"pgs divides by the diagonal, which must be positive; M[{k}, {k}] = {M[k, k]}")
    return pgs.trace(M, q, most, exact)


def _steps(max_steps: Any, exact: bool) -> int:
    largest = MOST_EXACT if exact else MOST
    if max_steps is None:
        return EXACT_SWEEPS if exact else STEPS
    if isinstance(max_steps, bool) or not isinstance(max_steps, int) or not 1 <= max_steps <= largest:
        kind = "exact sweeps" if exact else "steps"
        raise WorkbenchError(
            f"max_steps = {str(max_steps)[:40]} is out of range; give a whole number of {kind}, 1 to {largest}"
        )
    return max_steps


def _refuse(shape: tuple[int, ...], without_q: bool, name: str) -> None:
    rows, columns = shape
    if rows != columns:
        raise WorkbenchError(f"{name} holds a matrix of {rows} x {columns}; that of an LCP is square")
    if rows > LARGEST:
        raise WorkbenchError(
            f"{name} has {rows} unknowns; at most {LARGEST} are traced. workbench solve or check takes it whole"
        )
    if without_q:
        raise WorkbenchError(f"{name} has no right-hand side; give q too, as rhs")


def _double(x: Any) -> float:
    return nearest_double(x) if isinstance(x, fmpq) else x
