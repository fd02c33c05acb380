"""The page of one state of sliding contacts: is its friction well posed? One HTML file that opens offline."""

from collections.abc import Mapping
from typing import Any

from workbench.builtin.reports.figures.drawing import drawing
from workbench.builtin.reports.figures.proved import proved_figure
from workbench.builtin.reports.figures.regimes import map_figure
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.check import enclosure_text
from workbench.builtin.reports.text.contacts import MOST, described, rows
from workbench.builtin.reports.text.painleve import (
    accelerations,
    float_of,
    forces,
    in_words,
    meanings,
    number,
    parameters,
    regime_text,
    sliding_contacts,
    spans,
    vector,
    well_posed,
)
from workbench.builtin.reports.text.proved import in_words as proved_words
from workbench.diagnostics.painleve import Painleve
from workbench.diagnostics.painleve_contacts import Alternatives
from workbench.diagnostics.painleve_map import RegimeMap
from workbench.diagnostics.proved_ranges import ProvedRanges
from workbench.diagnostics.slip_modes import Motions
from workbench.mechanics.case import Case


def render(
    p: Painleve | None,
    a: Alternatives,
    case: Case,
    given: Mapping[str, Any],
    provenance: dict[str, Any],
    regimes: RegimeMap | None = None,
    proved: ProvedRanges | None = None,
) -> str:
    """The whole page as text."""
    shown = [] if regimes is None else [map_figure(regimes, case, given)]
    words = in_words(p, a, regimes)
    if proved is not None:
        shown.append(proved_figure(proved, case))
        words += proved_words(proved)
    template = environment().get_template("painleve.html.j2")
    return template.render(
        p=p, a=a, case=case, given=dict(given), provenance=provenance, words=words, figures=shown,
        sketch=drawing(case.sketch(), f"{case.name}, initial state"), moved=_moved(a), most=MOST, rows=rows,
        described=described, number=number, spans=spans, forces=forces, vector=vector, regime_text=regime_text,
        accelerations=accelerations, meanings=meanings(case), parameters=parameters(case), float_of=float_of,
        between=enclosure_text, sliding_contacts=sliding_contacts,
        bounds=[] if p is None else _bounds(p), verdict="" if p is None else well_posed(p), **scripts(shown),
    )  # fmt: skip


def _moved(a: Alternatives) -> list[tuple[Motions, str, str, str]]:
    """Return tables of motions, and of impulses and forces, with their headings."""
    found = []
    if a.motions is not None:
        found.append((a.motions, "Motions of contacts at rest", "forces [N]", "accelerations [m/s²]"))
    if a.impacts is not None and a.impacts.found:
        found.append((a.impacts, "Impacts without collision", "impulses [N s]", "velocities after [m/s]"))
    return found


def _bounds(p: Painleve) -> list[tuple[str, Any, list[float | None]]]:
    """Proposition 1 in both scalings, with what it guarantees along each line."""
    if p.proposition is None or p.proposition.plain is None:
        return []
    names = (("rows as they are", "plain"), ("rows balanced", "balanced"))
    return [(words, getattr(p.proposition, n), [getattr(x, n) for x in p.losses]) for words, n in names]
