"""A metric: one number for each row of `runs`, with its unit and its meaning. `metrics` has one file for each.

    @metric("creep", unit="m", meaning="distance that sticking contacts move", heading="creep")
    def creep(m: MeasuredRun) -> float: ...

    @distance("velocity-error", unit="1", meaning="RMS distance of the velocities", heading="velocity")
    def velocity_error(m: MeasuredRun, a: Run, b: Run) -> float: ...

A distance compares any two answers: this row's with the reference, and the pairs that make its error budget (`PARTS`),
each in a column of its own. The annotation of `m` says what a metric is about: `MeasuredRun` cases, `MeasuredProblem`
problems from files, `Measured` or nothing both, `MeasuredScene` scenes. NaN means "not defined".
"""

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.comparison.columns import BOTH, RUNS, SHOWN, Column, framed
from workbench.comparison.failure import failed
from workbench.comparison.measured import PARTS, Measured
from workbench.engine.travel import Travelling, found_elsewhere
from workbench.support.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Metric:
    """A metric by name; `function` takes a `Measured` and returns the number that stands in `column`.

    That of a distance takes two answers besides; its `parts` have the columns of the error budget.
    """

    name: str
    function: Callable[..., float]
    column: Column
    parts: tuple[Column, ...] = ()

    def __reduce__(self) -> tuple:
        # The module attribute of the function's name is the Metric that the decorator left there, or the function.
        found = found_elsewhere(self.function)
        known = getattr(found, "function", found) is self.function
        where = (self.function.__module__, self.function.__qualname__) if known else (None, Travelling(self.function))
        return _restored, (*where, self.name, self.column, self.parts)

    @property
    def columns(self) -> tuple[Column, ...]:
        """`column` and the columns of the parts."""
        return self.column, *self.parts

    def values(self, m: Measured) -> dict[str, Any]:
        """Values of the columns; NaN for a part that lacks one of its two solutions."""
        if not self.parts:
            return {self.column.name: self.function(m)}
        pairs = m.pairs
        return {
            c.name: pairs[c.part].factor * self.function(m, *pairs[c.part].answers) if c.part in pairs else np.nan
            for c in self.columns
        }


def _restored(module: str | None, thing: Any, name: str, column: Column, parts: tuple[Column, ...]) -> Metric:
    if module is not None:
        thing = attrgetter(thing)(import_module(module))
        thing = getattr(thing, "function", thing)
    return Metric(name, thing, column, parts)


def metric(
    name: str, *, unit: str, meaning: str, defined: str = "", heading: str = "", shown: str = "number"
) -> Callable[[Callable[[Any], float]], Metric]:
    """Make a Metric of a function (m: Measured) -> float.

    `unit` is that of the number, "1" for a pure one; `meaning` a sentence without its full stop; `defined` tells where
    it is no NaN; `heading` stands above it in tables. `shown` says how tables show the number, whose unit stays `unit`
    in frames: "number" as it is, "percent" times 100, "degrees" of degrees, "radians" as degrees, "milliseconds" of
    seconds, "millimetres" of metres, "small" by its order of magnitude, "count" without a fraction. "small" and "count"
    are on the page and not in the terminal's table, unless they are asked for by name. Raises DataError for a name that
    `runs` has already, or an unknown `shown`.
    """

    _must_be_free(name, shown)

    def register(function: Callable[[Any], float]) -> Metric:
        return Metric(name, function, _column(name, function, unit, meaning, defined, heading, shown))

    return register


def distance(
    name: str, *, unit: str, meaning: str, defined: str = "", heading: str = "", shown: str = ""
) -> Callable[[Callable[[Any, Any, Any], float]], Metric]:
    """Make a Metric of a function (m: Measured, a, b) -> float, the distance of two answers of a window.

    Its column is the distance of this row's answer from the reference. Those of the error budget have the names of
    `PARTS` at the end, "velocity_formulation" of "velocity-error". Arguments and errors as for `metric`; a pure number
    is shown in percent unless something else is asked for.
    """
    shown = shown or ("percent" if unit == "1" else "number")
    _must_be_free(name, shown)

    def register(function: Callable[[Any, Any, Any], float]) -> Metric:
        total = _column(name, function, unit, meaning, defined, heading, shown)
        parts = [
            replace(total, name=f"{total.name.removesuffix('_error')}_{part}", part=part, heading=heading_of,
                    meaning=f"{meaning}: {what}", defined="where both are there", of=total.of & about)
            for part, (heading_of, what, about) in PARTS.items() if total.of & about
        ]  # fmt: skip
        return Metric(name, function, total, tuple(parts))

    return register


def _must_be_free(name: str, shown: str) -> None:
    if not name or name.replace("-", "_") in {c.name for c in RUNS}:
        raise DataError(f"a metric cannot be called '{name}'; runs has a column of that name")
    if shown not in SHOWN:
        raise DataError(f"metric {name}: shown='{shown}'; it can be {', '.join(SHOWN)}")


def _column(
    name: str, function: Callable[..., float], unit: str, meaning: str, defined: str, heading: str, shown: str
) -> Column:
    first = next(iter(inspect.signature(function).parameters), "")
    about = getattr(typing.get_type_hints(function).get(first), "about", BOTH)
    return Column(name.replace("-", "_"), unit, meaning, defined, about, heading or name, shown)


def evaluate(metrics: Sequence[Metric], m: Measured) -> dict[str, Any]:
    """The metrics' columns of a row, and `notes` on those that raised an error or returned no number."""
    values: dict[str, Any] = {}
    notes = []
    for x in metrics:
        values |= {c.name: np.nan for c in x.columns if m.about <= c.of}
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = x.values(m)
            for name, value in found.items():
                if not isinstance(value, Real):
                    raise TypeError(f"a number is needed, and it returned {value!r}")
                if name in values:
                    values[name] = float(value)
        except Exception as error:
            notes.append(f"{x.name}: {failed(error).reason}")
    return values | {"notes": "; ".join(notes)}


def framed_runs(rows: Sequence[dict[str, Any]], metrics: Sequence[Metric], about: frozenset[str]) -> "pd.DataFrame":
    """Return the frame `runs`, with the columns of the metrics behind the others."""
    return framed(rows, [*RUNS, *(c for x in metrics for c in x.columns)], about)
