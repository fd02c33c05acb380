"""The page of a traced method: how it ended, its way through the cones, every step. One file that opens offline."""

import re
from typing import Any

from markupsafe import Markup, escape

from workbench.builtin.reports.figures.traces import is_drawable, picture, title_of_picture
from workbench.builtin.reports.pages.page import environment
from workbench.builtin.reports.text.check import number
from workbench.builtin.reports.text.trace import MEANINGS, cells, detail, heads, in_words, tableau_cells
from workbench.diagnostics.tracing.trace import Trace

TABLEAUX = 40
"""Steps whose tableau the page holds; `--tableau` prints all."""


def render(trace: Trace, title: str, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    system = trace.system
    numbers = [[number(str(x)) for x in (*row, b)] for row, b in zip(system.M.tolist(), system.q, strict=True)]
    drawn = picture(trace) if is_drawable(trace) else None
    return environment().get_template("trace.html.j2").render(
        title=title, solver=trace.solver, words=[_marked(sentence) for sentence in in_words(trace)], picture=drawn,
        picture_title=title_of_picture(trace), marked=_marked, n=system.n, data=numbers,
        heads=heads(trace), meanings=MEANINGS, provenance=provenance,
        steps=[([_marked(cell) for cell in cells(trace, step)], _marked(detail(trace, step))) for step in trace.steps],
        tableaux=[(s.number, [[_marked(x) for x in row] for row in tableau_cells(trace, s.number)])
                  for s in trace.pivots[:TABLEAUX]],
        left_out=max(0, len(trace.pivots) - TABLEAUX),
    )  # fmt: skip


def _marked(text: str) -> Markup:
    """Text, escaped, with lower indices, minus signs and the signs of mathematics."""
    safe = str(escape(text)).replace("&gt;=", "≥").replace("&lt;=", "≤").replace("^T", "ᵀ").replace("^2", "²")
    safe = re.sub(r"\b([wzqM])_(\w+?)(?=²|\b)", r"\1<sub>\2</sub>", safe)
    return Markup(re.sub(r"(?<![\w.])-(?=\d)", "−", safe))
