"""`painleve`: is the sliding friction at a state well posed, and up to which friction?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.builtin.reports.text.painleve import as_data, in_words, to_text
from workbench.diagnostics.painleve import Painleve, of_case
from workbench.diagnostics.painleve_map import Axis, RegimeMap, regime_map
from workbench.errors import WorkbenchError
from workbench.mechanics.case import Case
from workbench.output import provenance
from workbench.verbs.find import find_case
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Regimes(Result):
    """What is known of the sliding contacts of a case: `state`, and `map` where two parameters vary."""

    case: Case = field(repr=False)
    given: Mapping[str, Fraction] = field(repr=False)
    state: Painleve = field(repr=False)
    map: RegimeMap | None = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"Sliding friction of {self.case.name}"

    @property
    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return as_data(self.state, self.case, self.given, self.map)

    @property
    def text(self) -> str:
        return to_text(self.state, self.case, self.map)

    @property
    def words(self) -> list[str]:
        return in_words(self.state, self.map)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The map, one row per cell (x, y, kind); without one the critical frictions, one row per line."""
        import pandas as pd

        if self.map is not None:
            from workbench.builtin.reports.pages.painleve import rectangles

            return rectangles(self.map)
        rows = [(x.name, x.critical.value) for x in self.state.losses]
        return pd.DataFrame(rows, columns=["line", "critical"])

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"map" if self.map is not None else "critical_friction": self.frame}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.case.name, parameters=vars(self.case))

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.painleve import render

        return render(self.state, self.case, self.given, facts or self.facts, self.map)


def painleve(
    case: str | Case, given: Mapping[str, Any] | None = None, *, x: tuple[str, Any] | None = None,
    y: tuple[str, Any] | None = None,
) -> Regimes:  # fmt: skip
    """Regime, P verdict, critical friction and Proposition 1 of the contacts that slide at the start of a case.

    `given` sets parameters; whole numbers, `Fraction`s and strings such as "4/3" are taken exactly. `x` and `y`, each
    (parameter, values), ask for a map. Raises WorkbenchError for a case whose contacts do not slide.

    >>> import workbench as wb
    >>> wb.painleve("rod", {"tan_theta": 2, "mu": "4/3"}).state.regime.kind
    'none'
    """
    exact = {name: _exact(name, value) for name, value in (given or {}).items()}
    if (x is None) != (y is None):
        raise WorkbenchError("a map needs both x and y, each a parameter and its values")
    found = find_case(case, **{name: _double(name, value) for name, value in exact.items()})
    axes = None if x is None or y is None else (_axis(found, x), _axis(found, y))
    if axes and axes[0].name == axes[1].name:
        raise WorkbenchError(f"x and y are both {axes[0].name}; a map needs two parameters")
    state = of_case(found, exact)
    return Regimes(found, exact, state, None if axes is None else regime_map(found, *axes))


def _exact(name: str, value: Any) -> Fraction:
    try:
        return Fraction(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise WorkbenchError(f"{name} = {value!r}; a number, or a string such as '4/3', is needed") from None


def _double(name: str, value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise WorkbenchError(f"{name}: the value is beyond the range of doubles") from None


def _axis(case: Case, given: tuple[str, Any]) -> Axis:
    import numpy as np

    name, values = given
    return Axis(case.aliases.get(name, name), np.asarray(values, dtype=float))
