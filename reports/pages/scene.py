"""Page of a comparison of a scene: distance of each body's motion from Coulomb's law."""

from typing import Any

import pandas as pd

from workbench.builtin.reports.figures.charts import Figure
from workbench.builtin.reports.pages.cards import cards
from workbench.builtin.reports.pages.contacts import contacts
from workbench.builtin.reports.pages.motion import motion_view
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.pages.tables import budgets, places, table
from workbench.builtin.reports.pages.terms import meanings
from workbench.builtin.reports.text.comparison import cell, error_columns, judged_columns, symptom_columns
from workbench.builtin.reports.text.glossary import GLOSSARY
from workbench.builtin.reports.text.headline import headline, subject
from workbench.builtin.reports.text.scenes import compared, scene_data, summary, touches_nothing
from workbench.comparison.result import Comparison, by_first_solver
from workbench.comparison.scenes.bodies import BODIES, GROWTH
from workbench.comparison.scenes.horizon import MOST_GROWTH

MOST = 60
"""Bodies of which the page has a row; bodies.csv has all."""


def render_scene(c: Comparison, provenance: dict[str, Any], drawings: list[Figure]) -> str:
    """The whole page as text."""
    moving, every, parts = motion_view(c), tables_of_scene(c), budgets(c)
    # Without contact all formulations are the same point.
    drawn = [f for f in drawings if f.name != "ranking" or not touches_nothing(c)]
    columns = {x.name: (x.title, x.meaning) for t in (*every, *parts) for x in t["columns"]}
    return (
        environment()
        .get_template("scene.html.j2")
        .render(
            c=c,
            scene=scene_data(c),
            several=len(c.settings.steps) > 1,
            provenance=provenance,
            ranking=[f for f in drawn if f.name == "ranking"],
            contacts=contacts(c),
            bars=[f for f in drawn if f.name == "timeline"],
            figures=[f for f in drawn if f.name not in ("ranking", "timeline")],
            about=subject(c),
            compared=compared(c),
            headline=headline(c),
            places=places(c),
            summary=summary(c),
            solvers="body_position_solver" in c.runs and c.runs["body_position_solver"].notna().any(),
            tables=every,
            budgets=parts,
            bodies=by_body(c),
            most_growth=f"{MOST_GROWTH:g}",
            cards=cards(c),
            glossary=GLOSSARY,
            motion=moving["motion"],
            meanings=meanings(columns),
            **scripts(drawn, moving["viewer"]),
        )
    )


def tables_of_scene(c: Comparison) -> list[dict[str, Any]]:
    """Errors, symptoms and costs."""
    found = [table("Distance from Coulomb's law, farthest body", c.runs, error_columns(c))]
    if symptoms := symptom_columns(c):
        found.append(table("Symptoms, worst body", c.runs, symptoms))
    return [*found, table("Cost", c.runs, judged_columns(c))]


def by_body(c: Comparison) -> dict[str, Any]:
    """A row for every body: how far it is off at the first step size, by the first solver of everyone, and how a
    displacement grew."""
    bodies = by_first_solver(c.bodies[c.bodies["step"] == c.settings.steps[0]])
    if bodies.empty:
        return {}
    column = {x.name: x for x in BODIES}["position_error"]
    table = bodies.pivot_table(index="body", columns="label", values="position_error", sort=False, dropna=False)
    labels = [x for x in dict.fromkeys(c.runs["label"]) if x in table]
    known = dict(
        zip(scene_data(c).bodies, zip(scene_data(c).uncertainty, scene_data(c).growth, strict=True), strict=True)
    )
    largest = table[labels].max(axis=1).sort_values(ascending=False, kind="stable").index
    rows = [
        (body, [cell(table.loc[body, x], column) for x in labels], cell(known[body][0], column), _grown(known[body][1]))
        for body in largest[:MOST]
    ]
    return {"labels": labels, "rows": rows, "left": max(0, len(table) - MOST), "growth": GROWTH.meaning}


def _grown(x: float) -> str:
    return "–" if pd.isna(x) else f"{float(f'{x:.2g}'):g}"
