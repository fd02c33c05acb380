"""A metric: one number for each row of `runs`, with its unit and its meaning. `metrics` has one file for each.

    @metric("creep", unit="m", meaning="distance that sticking contacts move", heading="creep")
    def creep(m: MeasuredRun) -> float: ...

The annotation of its parameter says what a metric is about: `MeasuredRun` cases, `MeasuredProblem` problems from
files, `Measured` or nothing both. NaN means "not defined".
"""

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from workbench.comparison.columns import BOTH, CASE, PROBLEM, RUNS, SHOWN, Column
from workbench.comparison.failure import failed
from workbench.comparison.measured import Measured, MeasuredProblem, MeasuredRun
from workbench.errors import DataError

ABOUT = {MeasuredRun: CASE, MeasuredProblem: PROBLEM}


@dataclass(frozen=True)
class Metric:
    """A metric by name; `function` takes a `Measured` and returns the number that stands in `column`."""

    name: str
    function: Callable[[Any], float]
    column: Column


def metric(
    name: str, *, unit: str, meaning: str, defined: str = "", heading: str = "", shown: str = "number"
) -> Callable[[Callable[[Any], float]], Metric]:
    """Make a Metric of a function (m: Measured) -> float.

    `unit` is that of the number, "1" for a pure one; `meaning` a sentence without its full stop; `defined` tells where
    it is no NaN; `heading` stands above it in tables, which show it as `shown` (`columns.SHOWN`). Raises DataError for
    a name that `runs` has already, or an unknown `shown`.
    """
    column = name.replace("-", "_")
    if not name or column in {c.name for c in RUNS}:
        raise DataError(f"a metric cannot be called '{name}'; runs has a column of that name")
    if shown not in SHOWN:
        raise DataError(f"metric {name}: shown='{shown}'; it can be {', '.join(SHOWN)}")

    def register(function: Callable[[Any], float]) -> Metric:
        first = next(iter(inspect.signature(function).parameters), "")
        about = ABOUT.get(typing.get_type_hints(function).get(first, Measured), BOTH)
        return Metric(name, function, Column(column, unit, meaning, defined, about, heading or name, shown))

    return register


def evaluate(metrics: Sequence[Metric], m: Measured) -> dict[str, Any]:
    """The metrics' columns of a row, and `notes` on those that raised an error or returned no number."""
    values: dict[str, Any] = {}
    notes = []
    for x in metrics:
        value: Any = np.nan
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = x.function(m)
            if not isinstance(found, Real):
                raise TypeError(f"a number is needed, and it returned {found!r}")
            value = float(found)
        except Exception as error:
            notes.append(f"{x.name}: {failed(error).reason}")
        values[x.column.name] = value
    return values | {"notes": "; ".join(notes)}
