"""The part of a comparison's page on when contacts stick and slide, of cases and scenes."""

from typing import Any

from workbench.builtin.reports.figures.timeline import MOST_PAIRS, main_contacts
from workbench.builtin.reports.text.contact_modes import apart_cells, event_cells, lives, otherwise_words
from workbench.builtin.reports.text.scenes import began
from workbench.comparison.columns import SLIDING, STICKING
from workbench.comparison.jobs import EVENTS
from workbench.comparison.result import Comparison
from workbench.comparison.timeline import exact_and_runs, lasting, rows_by_contact

MOST_EVENTS = 60
"""Events of the reference that the page shows; events.csv has all."""


def contacts(c: Comparison) -> dict[str, Any]:
    """Return contact modes of the reference and differences of formulations; empty without contacts."""
    if c.timeline.empty:
        return {}
    none: dict[str, Any] = {"rows": (), "lives": (), "events": (), "apart": ()}
    return none | {"words": otherwise_words(c)} | (_of_scene(c) if c.scene else _of_case(c))


def _of_case(c: Comparison) -> dict[str, Any]:
    events = event_cells(c)
    return {
        "lives": lives(c), "events": events[:MOST_EVENTS], "left": max(0, len(events) - MOST_EVENTS),
        "exact": c.settings.reference == EVENTS, "apart": apart_cells(c),
        "v_th": f"{c.case.v_th:g}" if c.case else "",
    }  # fmt: skip


def _of_scene(c: Comparison) -> dict[str, Any]:
    exact = rows_by_contact(exact_and_runs(c)[0])
    pairs = [pair for pair in main_contacts(c) if pair in exact]
    rows = []
    for pair in pairs[:MOST_PAIRS]:
        own = exact[pair]
        modes = [lasting(own[own["mode"] == mode]) for mode in (STICKING, SLIDING)]
        times = (own["start"].min(), own["end"].max(), *modes)
        rows.append((*pair, *(f"{x:.4g}" for x in times), own["interval"].nunique()))
    least = f"{c.timeline['least_load'].iloc[0]:.1g}"
    return {"rows": rows, "left": max(0, len(pairs) - MOST_PAIRS), "began": began(c), "least": least}
