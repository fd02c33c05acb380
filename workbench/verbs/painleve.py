"""`painleve`: is the sliding friction at a state well posed, and up to which friction?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from workbench.builtin.reports.text import proved as proved_text
from workbench.builtin.reports.text.check import in_lines
from workbench.builtin.reports.text.painleve import as_data, in_words, to_text
from workbench.diagnostics.painleve import Painleve, of_case
from workbench.diagnostics.painleve_contacts import Alternatives, alternatives
from workbench.diagnostics.painleve_map import SLIP, MapAxis, RegimeMap, axis, regime_map
from workbench.diagnostics.proved_ranges import ProvedRanges, proved_of_case
from workbench.engine.interpreted import interpreting
from workbench.engine.timing import clock
from workbench.mechanics.case import Case
from workbench.step.sliding.state import SlidingState, coordinates
from workbench.support.errors import UnknownNameError, WorkbenchError
from workbench.support.numbers import exact_number
from workbench.support.output import provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_case
from workbench.verbs.results import Result
from workbench.verbs.states import GivenState, state_of

if TYPE_CHECKING:
    import pandas as pd

LEAST = 0.1
"""Time [s] that each part of the work has in any case."""


@dataclass(frozen=True, repr=False, eq=False)
class Regimes(Result):
    """Findings on the closed contacts of a case: `state` of those that slide (None where one of them is at rest),
    `contacts`, what they may do besides, `where` that is, and `map`, or `proved`, where two parameters vary."""

    case: Case = field(repr=False)
    given: Mapping[str, Fraction] = field(repr=False)
    state: Painleve | None = field(repr=False)
    contacts: Alternatives = field(repr=False)
    where: SlidingState = field(repr=False)
    map: RegimeMap | None = field(repr=False)
    proved: ProvedRanges | None = field(repr=False, default=None)

    def certificate(self, seconds: float = 60.0) -> dict[str, Any]:
        """The proved map, ready for JSON and for `verify` (docs/certificates.md).

        Of a case of your own it holds for the functions that are written in it. Raises WorkbenchError without a
        proved map, where a sign is not certain over the ranges, and where `seconds` do not suffice.
        """
        from workbench.diagnostics.map_certificate import map_certificate

        if self.proved is None:
            raise WorkbenchError("a certificate is of a proved map: give x, y and prove")
        return map_certificate(self.case, self.case.rationals(self.given), self.proved, seconds)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"Sliding friction of {self.case.name}"

    @property
    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        found = as_data(self.state, self.contacts, self.case, self.given, self.map)
        q, v = coordinates(self.case, self.where)
        found["state"] = {"q": q.tolist(), "v": v.tolist(), "slip": self.where.slip}
        return found | {"proved": None if self.proved is None else proved_text.as_data(self.proved)}

    @property
    def text(self) -> str:
        text = to_text(self.state, self.contacts, self.case, self.map)
        return text if self.proved is None else "\n".join([text, *map(in_lines, proved_text.in_words(self.proved))])

    @property
    def words(self) -> list[str]:
        words = in_words(self.state, self.contacts, self.map)
        return words if self.proved is None else words + proved_text.in_words(self.proved)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The map, one row per rectangle of cells alike (x, x2, y, y2, regime, answers, p_matrix) or per proved box (x,
        x2, y, y2, verdict, p_matrix); without one the critical frictions, one row per line."""
        import pandas as pd

        if self.proved is not None:
            from workbench.builtin.reports.figures.proved import frame

            return frame(self.proved)
        if self.map is not None:
            from workbench.builtin.reports.figures.regimes import rectangles

            return rectangles(self.map)
        rows = [(x.name, x.critical.value) for x in (self.state.losses if self.state else ())]
        return pd.DataFrame(rows, columns=["line", "critical"])

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        drawn = self.map is not None or self.proved is not None
        return {"map" if drawn else "critical_friction": self.frame}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.case.name, parameters=vars(self.case))

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.painleve import render

        return render(self.state, self.contacts, self.case, self.given, facts or self.facts, self.map, self.proved)


def painleve(
    case: str | Case, given: Mapping[str, Any] | None = None, *, x: tuple[str, Any] | None = None,
    y: tuple[str, Any] | None = None, prove: bool = False, seconds: float = 60.0,
    progress: ProgressCallback | None = None, **state: Unpack[GivenState],
) -> Regimes:  # fmt: skip
    """Regime, P verdict, critical friction and Proposition 1 of the contacts that slide, at the start of a case.

    `given` sets parameters; whole numbers, `Fraction`s and strings such as "4/3" are taken exactly. Another state than
    the start: coordinates `q`, velocities `v`; or `at` [s] of a run under exact Coulomb friction. `slip` [deg], one
    angle or one for each closed contact, is the direction in which contacts slide that are at rest (`SlidingState`).
    `x` and `y`, each (parameter, values) or ("slip", angles), ask for a map; with `prove` they are (parameter, (from,
    to)), and boxes of them are proved at the start (the wedged box where it is wedged) until at most 1 % is undecided.
    `seconds` bound the work; the map tells what they did not suffice for. Raises WorkbenchError
    for a state at which no contact is closed.

    >>> import workbench as wb
    >>> wb.painleve("rod", {"tan_theta": 2, "mu": "4/3"}).state.regime.name
    'inconsistent'
    >>> wb.painleve("wedged-box", slip=0).state.system.size
    (0, 2)
    >>> wb.painleve("block", v=[0, 0, 0]).contacts.motions.name
    'stick'
    """
    end = clock() + seconds
    exact = {name: exact_value(name, value) for name, value in (given or {}).items()}
    if (x is None) != (y is None):
        raise WorkbenchError("a map needs both x and y, each a parameter and its values")
    found = find_case(case, **{name: float(value) for name, value in exact.items()})
    ranges = None
    if prove:
        if x is None or y is None or any(own is not None for own in state.values()):
            raise WorkbenchError("prove needs x and y, each a parameter and its ends, and takes none of q, v, at, slip")
        ranges = dict(exact_range(*x) for x in (x, y))
        x = y = None
    axes = None if x is None or y is None else (map_axis(found, *x), map_axis(found, *y))
    if axes and axes[0].name == axes[1].name:
        raise WorkbenchError(f"x and y are both {axes[0].name}; a map needs two parameters")
    where = state_of(found, progress, end, **state)
    n, m, r, _ = found.size
    with interpreting(n + m + r):
        beside = alternatives(found, where, max(0.1 * (end - clock()), LEAST))
        rests = beside.at_rest and where.slip is None
        judged = None if rests else of_case(found, exact, where, max(0.25 * (end - clock()), LEAST))
    drawn = None if axes is None else regime_map(found, *axes, where, progress, max(end - clock(), LEAST))
    left = max(end - clock(), LEAST)
    proof = None if ranges is None else proved_of_case(found, exact, ranges, seconds=left, progress=progress)
    return Regimes(found, exact, judged, beside, where, drawn, proof)


def map_axis(case: Case, name: str, values: Any) -> MapAxis:
    """Return the axis of a map for a parameter, or "slip". Raises UnknownNameError for a name that the case does not
    have; a value that it refuses leaves a gap in the map."""
    found = axis(case, name, values)
    if name != SLIP:
        try:
            case.with_parameters(**{name: float(found.values[0])})
        except UnknownNameError:
            raise
        except WorkbenchError:
            pass
    return found


def exact_range(name: str, ends: Any) -> tuple[str, tuple[Fraction, Fraction]]:
    """A parameter and the two ends of its range, exactly. Raises WorkbenchError."""
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise WorkbenchError(f"{name}: the two ends of its range are needed, such as (0, '3/2')") from None
    return name, (exact_value(name, low), exact_value(name, high))


def exact_value(name: str, value: Any) -> Fraction:
    """Return a parameter's value as written, within the range of doubles. Raises WorkbenchError."""
    try:
        if isinstance(value, str | Decimal):
            return exact_number(str(value), name)
        exact = Fraction(value)
        float(exact)
    except OverflowError:
        raise WorkbenchError(f"{name}: the value is beyond the range of doubles") from None
    except (ValueError, TypeError):
        shown = repr(value)[:60]
        raise WorkbenchError(f"{name} = {shown}; a number, or a string such as '4/3', is needed") from None
    return exact
