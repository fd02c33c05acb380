"""The page of one state of sliding contacts: is its friction well posed? One HTML file that opens offline."""

from collections.abc import Mapping
from typing import Any

from workbench.builtin.reports.figures.drawing import drawing
from workbench.builtin.reports.figures.regimes import map_figure
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.check import between
from workbench.builtin.reports.text.painleve import float_of, forces, in_words, number, regime_text, spans, vector
from workbench.diagnostics.painleve import Painleve
from workbench.diagnostics.painleve_map import RegimeMap
from workbench.mechanics.case import Case


def render(
    p: Painleve, case: Case, given: Mapping[str, Any], provenance: dict[str, Any], regimes: RegimeMap | None = None
) -> str:
    """The whole page as text."""
    shown = [] if regimes is None else [map_figure(regimes, case, given)]
    template = environment().get_template("painleve.html.j2")
    return template.render(
        p=p, case=case, given=dict(given), provenance=provenance, words=in_words(p, regimes), figures=shown,
        sketch=drawing(case.sketch(), f"{case.name} at its start"), number=number, spans=spans, forces=forces,
        vector=vector, regime_text=regime_text, float_of=float_of, between=between, bounds=_bounds(p), **scripts(shown),
    )  # fmt: skip


def _bounds(p: Painleve) -> list[tuple[str, Any, list[float | None]]]:
    """Proposition 1 in both scalings, with what it guarantees along each line."""
    if p.proposition is None or p.proposition.plain is None:
        return []
    names = (("rows as they are", "plain"), ("rows balanced", "balanced"))
    return [(words, getattr(p.proposition, n), [getattr(x, n) for x in p.losses]) for words, n in names]
