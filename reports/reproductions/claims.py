"""Parts of a reproduction: claims with computed verdicts, tables, figures and words, in sections.

    Reproduction -> Section -> Claim, Check, ResultTable, Figure

A verdict is never written down: it follows from the expected number, the computed one and the allowed difference. What
a paper says is a `Claim`; what we test besides, against theory or an independent program, is a `Check`. They are
counted apart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from markupsafe import Markup

from workbench.builtin.reports.figures.charts import Figure
from workbench.builtin.reports.figures.drawing import drawing
from workbench.mechanics.case import Truth
from workbench.mechanics.sketch import Shape
from workbench.support.progress import ProgressCallback

Verdict = Literal["confirmed", "confirmed in part", "differs", "not confirmed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Grid:
    """The number of a claim under other conditions: a row for each setting, a column for each value of a parameter.

    `rows` maps the name of a setting to its numbers, one for each of `values`; nan where there is no answer. Settings
    that belong together are named "group / setting".
    """

    setting: str
    parameter: str
    values: tuple[str, ...]
    rows: Mapping[str, Sequence[float]]
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """One testable statement of a paper: the number to expect, the computed one, and how they compare.

    `relation` "=" asks for |computed - expected| <= tolerance; "≤" and "≥" ask computed to be at most or at least
    `expected`, give or take the tolerance. `origin` says whose the expected number is. `why` explains what a reader
    would ask about the two numbers and is needed where they disagree; `form` prints both. Words may hold $LaTeX$.
    What depends on conditions that the paper does not state is `tried` under several, of which `computed` is one, and
    may be confirmed for some of them only. Raises ValueError where `computed` is not among the numbers tried.
    """

    kind: ClassVar[str] = "claim"
    statement: str
    expected: float
    computed: float
    unit: str = "-"
    tolerance: float = 0.0
    relation: Literal["=", "≤", "≥"] = "="
    origin: str = "the paper"
    why: str = ""
    form: str = ".4g"
    tried: Grid | None = None

    def __post_init__(self) -> None:
        if not any(x == self.computed or (np.isnan(x) and np.isnan(self.computed)) for x in self._numbers):
            raise ValueError(f"computed = {self.computed:g} is not among the numbers tried: {self.statement}")

    @property
    def _numbers(self) -> list[float]:
        return [x for row in self.tried.rows.values() for x in row] if self.tried else [self.computed]

    @property
    def verdict(self) -> Verdict:
        """Return the verdict. Outside the tolerance numbers differ; bounds and non-numbers are not confirmed."""
        held = [self.holds(x) for x in self._numbers]
        if all(held):
            return "confirmed"
        if any(held):
            return "confirmed in part"
        return "differs" if self.relation == "=" and np.isfinite(self.computed) else "not confirmed"

    def holds(self, x: float) -> bool:
        """Return whether this number is as the claim says."""
        beyond = {"=": abs(x - self.expected), "≤": x - self.expected, "≥": self.expected - x}[self.relation]
        return bool(beyond <= self.tolerance)

    @property
    def where(self) -> str:
        """The conditions under which a claim that is confirmed in part holds: "a · b / c (ρ: up to 1); d".

        A group stands for what holds in all of its settings; one where nothing does is named setting by setting.
        """
        if self.tried is None or self.verdict != "confirmed in part":
            return ""
        groups: dict[str, dict[str, list[bool]]] = {}
        for setting, row in self.tried.rows.items():
            groups.setdefault(setting.partition(" / ")[0], {})[setting] = [self.holds(x) for x in row]
        found: dict[str, list[str]] = {}
        for group, settings in groups.items():
            whole = list(map(all, zip(*settings.values(), strict=True)))
            for name, held in ({group: whole} if any(whole) else settings).items():
                if any(held):
                    found.setdefault(ranges(held, self.tried.values), []).append(name)
        if len(found) == 1 and next(iter(found.values())) == list(groups):
            return f"{self.tried.parameter}: {next(iter(found))}"
        return "; ".join(
            " · ".join(names) + ("" if words == ALL else f" ({self.tried.parameter}: {words})")
            for words, names in found.items()
        )

    @property
    def reason(self) -> str:
        """`why`, or a remark that numbers disagree without a given reason."""
        return self.why or ("" if self.verdict == "confirmed" else "Not explained yet.")

    @property
    def expected_text(self) -> str:
        """The expected number with its unit and, unless that is "=", its relation: "≤ 3 m"."""
        return ("" if self.relation == "=" else f"{self.relation} ") + self._with_unit(self.expected)

    @property
    def computed_text(self) -> str:
        """The computed number with its unit."""
        return self._with_unit(self.computed)

    def _with_unit(self, x: float) -> str:
        # Degrees follow their number without a space, and pure numbers have no unit.
        space = "" if self.unit in ("°", "-") else "\u202f"
        return number_text(x, self.form) + space + ("" if self.unit == "-" else self.unit)


@dataclass(frozen=True)
class Check(Claim):
    """A statement that is not the paper's: what theory, an independent program or this page expects."""

    kind: ClassVar[str] = "check"
    origin: str = "this page"

    @classmethod
    def of(cls, truth: Truth) -> "Check":
        """The check that a case's truth makes."""
        return cls(
            truth.name, truth.theory, truth.computed, truth.unit, truth.tolerance, origin=truth.source, form=".7g"
        )


@dataclass(frozen=True)
class ResultTable:
    """Rows of text and numbers under a heading; numbers are printed with four digits. Words may hold $LaTeX$.

    Columns are aligned for numbers, to the right, unless they are `words`.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    note: str = ""
    words: bool = False

    @property
    def cells(self) -> list[list[str]]:
        return [[x if isinstance(x, str) else number_text(x) for x in row] for row in self.rows]


@dataclass(frozen=True)
class Sketch:
    """Plane shapes in metres, such as a case's `sketch()`, with the words that belong to them."""

    title: str
    caption: str
    shapes: Sequence[Shape]

    @property
    def svg(self) -> Markup:
        return Markup(drawing(self.shapes, self.title))


@dataclass(frozen=True)
class Section:
    """One step of the argument, shown in this order. `prose` is plain text with $LaTeX$, paragraphs apart by a blank
    line; `mathematics` are LaTeX displays. Figure names are unique on the page."""

    title: str
    prose: str = ""
    mathematics: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    figures: tuple[Figure, ...] = ()
    sketches: tuple[Sketch, ...] = ()

    @property
    def paragraphs(self) -> list[str]:
        return [" ".join(part.split()) for part in self.prose.split("\n\n") if part.strip()]


@dataclass(frozen=True)
class Reproduction:
    """A paper's results compared with computed ones: `title`, `source`, a `lead` of a sentence or two, `sections`."""

    title: str
    source: str
    lead: str
    sections: tuple[Section, ...]

    @property
    def claims(self) -> list[Claim]:
        return [claim for section in self.sections for claim in section.claims]

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures]


def in_turn(parts: Sequence[Callable[[], Section]], progress: ProgressCallback) -> tuple[Section, ...]:
    """The sections that these functions compute, with their names as progress."""
    found = []
    for k, part in enumerate(parts):
        progress(part.__name__.replace("_", " "), k, len(parts))
        found.append(part())
    return tuple(found)


def number_text(x: float, form: str = ".4g") -> str:
    """A number as printed; "–" where it is not defined, and zero without digits or sign."""
    if np.isnan(x):
        return "–"
    return "0" if x == 0 else format(x, form)


ALL = "all"


def ranges(held: Sequence[bool], values: Sequence[str]) -> str:
    """Describe the values at which a claim held: "all", "up to b", "c to d, from e"; empty if it never did."""
    if all(held):
        return ALL
    ends = np.flatnonzero(np.diff([False, *held, False])).reshape(-1, 2) - [0, 1]
    words = []
    for first, last in ends:
        if first == last:
            words.append(values[first])
        elif first == 0:
            words.append(f"up to {values[last]}")
        elif last == len(values) - 1:
            words.append(f"from {values[first]}")
        else:
            words.append(f"{values[first]} to {values[last]}")
    return ", ".join(words)


def claims_frame(name: str, r: Reproduction) -> pd.DataFrame:
    """A row per claim and check: which of the two, its section, its numbers, its verdict, and how it was judged.

    "expected" is the paper's number in a claim; in a check it is the number of `origin`.
    """
    columns = (
        "paper", "kind", "section", "statement", "expected", "computed", "unit", "verdict", "where", "why", "relation",
        "tolerance", "origin",
    )  # fmt: skip
    rows = [
        (name, c.kind, s.title, c.statement, c.expected, c.computed, c.unit, c.verdict, c.where, c.reason,
         c.relation, c.tolerance, c.origin)
        for s in r.sections for c in s.claims
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns))
