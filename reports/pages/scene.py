"""Parts of a comparison's page that only scenes have: tables of bodies, and how the scene was compared."""

from typing import Any

import pandas as pd

from workbench.builtin.reports.pages.tables import table
from workbench.builtin.reports.text.comparison import cell, error_columns, judged_columns, symptom_columns
from workbench.builtin.reports.text.conclusions import significant
from workbench.builtin.reports.text.scenes import scene_data
from workbench.comparison.result import Comparison, by_first_solver
from workbench.comparison.scenes.bodies import BODIES, GROWTH
from workbench.comparison.scenes.horizon import MOST_GROWTH

MOST = 60
"""Bodies of which the page has a row; bodies.csv has all."""


def of_scene(c: Comparison) -> dict[str, Any]:
    """Return what the page of a scene has, and those of cases and problems have not."""
    return {
        "scene": scene_data(c), "bodies": by_body(c), "loupe": None, "most_growth": f"{MOST_GROWTH:g}",
        "solvers": "body_position_solver" in c.runs and c.runs["body_position_solver"].notna().any(),
    }  # fmt: skip


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
        (
            body,
            [cell(table.loc[body, x], column) for x in labels],
            cell(known[body][0], column),
            "–" if pd.isna(known[body][1]) else significant(known[body][1]),
        )
        for body in largest[:MOST]
    ]
    return {"labels": labels, "rows": rows, "left": max(0, len(table) - MOST), "growth": GROWTH.meaning}
