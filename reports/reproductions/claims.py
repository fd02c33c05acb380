"""What a reproduction is made of: claims with computed verdicts, tables, figures and words, in sections.

    Reproduction -> Section -> Claim, Check, Table, Figure

A verdict is never written down: it follows from the expected number, the computed one and the allowed difference. What
a paper says is a `Claim`; what we test besides, against theory or an independent program, is a `Check`. They are
counted apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from markupsafe import Markup

from workbench.builtin.reports.figures.charts import Figure
from workbench.builtin.reports.figures.drawing import drawing
from workbench.mechanics.case import Truth
from workbench.mechanics.sketch import Shape

Verdict = Literal["confirmed", "differs", "not confirmed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Claim:
    """One testable statement of a paper: the number to expect, the computed one, and how they compare.

    `relation` "=" asks for |computed - expected| <= tolerance; "≤" and "≥" ask computed to be at most or at least
    `expected`, give or take the tolerance. `origin` says whose the expected number is. `why` explains what a reader
    would ask about the two numbers and is needed where they disagree; `form` prints both. Words may hold $LaTeX$.
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

    @property
    def verdict(self) -> Verdict:
        """Beyond the tolerance two numbers differ, and a bound, or what is no number, is not confirmed."""
        beyond = {
            "=": abs(self.computed - self.expected),
            "≤": self.computed - self.expected,
            "≥": self.expected - self.computed,
        }[self.relation]
        if beyond <= self.tolerance:
            return "confirmed"
        return "differs" if self.relation == "=" and np.isfinite(beyond) else "not confirmed"

    @property
    def reason(self) -> str:
        """`why`; where the numbers disagree and nobody has said why, that."""
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
class Table:
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
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    sketches: tuple[Sketch, ...] = ()

    @property
    def paragraphs(self) -> list[str]:
        return [" ".join(part.split()) for part in self.prose.split("\n\n") if part.strip()]


@dataclass(frozen=True)
class Reproduction:
    """A paper's figures beside ours: `title`, the `source` reproduced, a `lead` of a sentence or two, `sections`."""

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


def number_text(x: float, form: str = ".4g") -> str:
    """A number as printed; "–" where it is not defined, and zero without digits or sign."""
    if np.isnan(x):
        return "–"
    return "0" if x == 0 else format(x, form)


def claims_frame(name: str, r: Reproduction) -> pd.DataFrame:
    """A row per claim and check: which of the two, where it stands, its numbers, its verdict, and how it was judged.

    "expected" is the paper's number in a claim; in a check it is the number of `origin`.
    """
    columns = (
        "paper", "kind", "section", "statement", "expected", "computed", "unit", "verdict", "why", "relation",
        "tolerance", "origin",
    )  # fmt: skip
    rows = [
        (name, c.kind, s.title, c.statement, c.expected, c.computed, c.unit, c.verdict, c.reason, c.relation,
         c.tolerance, c.origin)
        for s in r.sections for c in s.claims
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns))
