"""`vary`: the solutions of a problem along a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from flint import fmpq

from workbench.builtin.reports.text import proved as proved_text
from workbench.builtin.reports.text.check import in_lines
from workbench.builtin.reports.text.vary import as_data, in_words, place, rows, to_text
from workbench.diagnostics.proved_ranges import SHARE, ProvedRanges, proved_of_case
from workbench.diagnostics.solution_paths import SolutionPaths, curves
from workbench.diagnostics.varied import Varied, of_pencil, of_sliding, of_step
from workbench.engine.timing import OutOfTimeError, clock
from workbench.language.formulation import Formulation
from workbench.matrices.paths.path import follow
from workbench.mechanics.case import Case
from workbench.support.errors import WorkbenchError
from workbench.verbs.check import Answers, problem_of
from workbench.verbs.find import find_case, find_formulation
from workbench.verbs.painleve import exact_range, exact_value
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class ProvedOver(Answers):
    """Verdicts on the sliding contacts of a case with parameters `given`, proved over ranges of others (`proved`);
    `data` is ready for JSON."""

    title: str
    case: Case = field(repr=False)
    given: Mapping[str, Fraction] = field(repr=False)
    proved: ProvedRanges = field(repr=False)

    def certificate(self, seconds: float = 60.0) -> dict[str, Any]:
        """The proved boxes, ready for JSON and for `verify` (docs/certificates.md).

        Of a case of your own it holds for the functions that are written in it. Raises DataError where these need a
        sign that is not certain over the ranges, and where `seconds` do not suffice.
        """
        from workbench.diagnostics.map_certificate import map_certificate

        return map_certificate(self.case, self.case.rationals(self.given), self.proved, seconds)

    @property
    def data(self) -> dict[str, Any]:
        return {"case": self.case.name, **proved_text.as_data(self.proved)}

    @property
    def rows(self) -> list[tuple[str, str]]:
        return proved_text.rows(self.proved)

    @property
    def text(self) -> str:
        return "\n".join([super().text, "", *map(in_lines, self.words)])

    @property
    def words(self) -> list[str]:
        return proved_text.in_words(self.proved)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The answers, and the boxes with their verdicts."""
        from workbench.builtin.reports.figures.proved import frame

        return {**super().frames, "boxes": frame(self.proved)}

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.figures.proved import proved_figure
        from workbench.builtin.reports.pages.result import render

        figures = [proved_figure(self.proved, self.case)] if len(self.proved.names) == 2 else []
        return render(self.title, self.words, {"answers": self.frame}, facts or self.facts, figures)


@dataclass(frozen=True, repr=False, eq=False)
class Varying(Result):
    """The solutions along a parameter; `data` is ready for JSON, `text` for a terminal."""

    title: str
    paths: SolutionPaths = field(repr=False)

    @property
    def data(self) -> dict[str, Any]:
        return as_data(self.paths, self.title)

    @property
    def text(self) -> str:
        return to_text(self.paths, self.title)

    @property
    def words(self) -> list[str]:
        return in_words(self.paths)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per critical value and interval, in order: position, solutions, event."""
        import pandas as pd

        return pd.DataFrame(rows(self.paths), columns=[self.paths.problem.parameter, "solutions", "what"])

    @property
    def critical(self) -> pd.DataFrame:
        """One row per event: lo, hi (doubles that enclose the value), exact, count there, kind, before, after."""
        import pandas as pd

        found = [
            (*(place(c.t)[key] for key in ("lo", "hi", "exact")), c.solutions.count, e.kind, e.before, e.after)
            for c in self.paths.path.critical
            for e in c.events
        ]
        return pd.DataFrame(found, columns=["lo", "hi", "exact", "count", "kind", "before", "after"])

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"solutions": self.frame, "critical": self.critical, "curves": curves(self.paths)}

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.vary import render

        return render(self.paths, self.title, facts or self.facts)


class PencilKeywords(TypedDict, total=False):
    """What varies of a matrix problem, as people give it: `GivenPencil` by name."""

    rhs: Any
    pencil: Any
    pencil_rhs: Any


class GivenPencil(NamedTuple):
    """The q of a matrix, and the coefficients of t added to the matrix and to q; None for zero."""

    rhs: Any = None
    pencil: Any = None
    pencil_rhs: Any = None


def vary(
    what: Any, formulation: str | Formulation | None = None, *, along: tuple[str, Any, Any] | Mapping[str, Any],
    given: Mapping[str, Any] | None = None, step: float = 1e-3, seconds: float = 10.0, undecided: Any = SHARE,
    **data: Unpack[PencilKeywords],
) -> Varying | ProvedOver:  # fmt: skip
    """Return the solutions of an LCP as functions of a parameter, exactly: where they begin, meet, and diverge.

    `along` is (name, from, to); integers, `Fraction`s, doubles and strings such as "4/3" are taken as exact. `what`
    is a matrix as for `check`, with `rhs` its q, and `pencil`, `pencil_rhs` are the coefficients of t added to them,
    zero if omitted; or a case or its name, with parameters `given`: the contacts that slide at its start, or with a
    `formulation` the LCP of its first step of `step` [s]. `seconds` limits the search. Raises WorkbenchError
    for more than 8 unknowns, if no low-degree polynomial in the parameter describes the data, and when time is over.

    With `along` a mapping {name: (from, to)} of up to four parameters of a case, the answers of its sliding contacts
    are counted for all of them at once, proved box by box until at most the share `undecided` of the range is left.

    >>> import workbench as wb
    >>> found = wb.vary([[1, 0], [0, 1]], rhs=[-1, -1], pencil=[[0, 1], [1, 0]], along=("t", 0, 3))
    >>> print(found.words[2])
    At t = 1: family: infinitely many solutions ({0, 1} before, {0}, {1}, {0, 1} after).
    >>> wb.vary("rod", along=("mu", 0, 3), given={"tan_theta": 2}).critical.exact.tolist()
    ['4/3']
    >>> wb.vary("rod", along={"theta": (10, 80), "mu": ("0.1", "0.9")}).proved.shares()
    {'unique': 1.0}
    """
    linear = GivenPencil(**data)
    if isinstance(along, Mapping):
        if not isinstance(what, str | Case | type) or any(x is not None for x in (formulation, *linear)):
            raise WorkbenchError("along has ranges of parameters: give a case, and no formulation, rhs or pencil")
        return _over_ranges(what, along, given or {}, seconds, exact_value("undecided", undecided))
    name, low, high = along[0], *(exact_value(along[0], end) for end in along[1:])
    if linear.pencil is None and linear.pencil_rhs is None:
        title, problem = _of_case(what, formulation, name, low, high, given or {}, step)
    else:
        title, problem = _of_matrices(what, linear, name)
    start, end = (fmpq(x.numerator, x.denominator) for x in (low, high))
    try:
        return Varying(title, SolutionPaths(problem, follow(problem.data, start, end, clock() + seconds)))
    except OutOfTimeError:
        raise WorkbenchError(
            f"{seconds:g} s were not enough for the {2**problem.data.n} index sets of {problem.data.n} unknowns; "
            "allow more time, or take a shorter range"
        ) from None


def _over_ranges(
    what: Any, along: Mapping[str, Any], given: Mapping[str, Any], seconds: float, undecided: Fraction
) -> ProvedOver:
    exact = {name: exact_value(name, value) for name, value in given.items()}
    case = find_case(what, **{name: float(value) for name, value in exact.items()})
    ranges = dict(exact_range(name, ends) for name, ends in along.items())
    found = proved_of_case(case, exact, ranges, undecided, seconds)
    return ProvedOver(f"{case.name} over {', '.join(found.names)}", case, exact, found)


def _of_case(
    what: Any, formulation: Any, name: str, low: Fraction, high: Fraction, given: Mapping[str, Any], step: float
) -> tuple[str, Varied]:
    if not isinstance(what, str | Case | type):
        raise WorkbenchError("nothing varies: give a matrix with pencil or pencil_rhs, or a case and its parameter")
    exact = {key: exact_value(key, value) for key, value in given.items()}
    case = find_case(what, **{key: float(value) for key, value in exact.items()})
    # The LCP of this declaration is that of the contacts, with half of the unknowns eliminated.
    if formulation in (None, "sliding-lcp"):
        return f"{case.name} over {name}", of_sliding(case, exact, name, low, high)
    f = find_formulation(formulation)
    return f"{f.label} on {case.name} over {name}", of_step(case, f, step, name, low, high)


def _of_matrices(what: Any, linear: GivenPencil, name: str) -> tuple[str, Varied]:
    rhs, pencil, pencil_rhs = linear
    M_0, q_0, title = problem_of(what, rhs)
    if q_0 is None:
        raise WorkbenchError(f"{title} has no right-hand side; give q too, as rhs")
    M_1, q_1, _ = problem_of(what if pencil is None else pencil, pencil_rhs)
    if pencil is None:
        return f"{title} over {name}", of_pencil(name, (M_0, None), (q_0, q_1))
    return f"{title} over {name}", of_pencil(name, (M_0, M_1), (q_0, q_1))
