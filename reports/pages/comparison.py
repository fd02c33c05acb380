"""The comparison report: one HTML file that opens offline, readable without the code, and the frames as files."""

from pathlib import Path
from typing import Any, Literal

import pandas as pd

from workbench.builtin.reports.figures.charts import Figure, remove_figures, write_figures
from workbench.builtin.reports.figures.comparison import figures
from workbench.builtin.reports.figures.drawing import drawing
from workbench.builtin.reports.pages.cards import cards
from workbench.builtin.reports.pages.contacts import contacts
from workbench.builtin.reports.pages.loupe import loupe
from workbench.builtin.reports.pages.motion import motion_view
from workbench.builtin.reports.pages.page import environment, script, scripts
from workbench.builtin.reports.pages.scene import of_scene, tables_of_scene
from workbench.builtin.reports.pages.tables import budgets, places, table
from workbench.builtin.reports.pages.terms import meanings
from workbench.builtin.reports.text.comparison import (
    error_columns,
    held_against,
    judged_columns,
    known_in_words,
    symptom_columns,
)
from workbench.builtin.reports.text.conclusions import capital, uncertainty
from workbench.builtin.reports.text.exports import latex_of, markdown, of_runs
from workbench.builtin.reports.text.glossary import GLOSSARY
from workbench.builtin.reports.text.headline import compared, findings, followed, headline, subject
from workbench.builtin.reports.text.mechanisms import reasons
from workbench.builtin.reports.text.names import named
from workbench.builtin.reports.text.scenes import touches_nothing
from workbench.comparison import saved
from workbench.comparison.files import SLOW
from workbench.comparison.result import Comparison
from workbench.support.output import room_for, write_json

FACTS: list[tuple[str, str, str]] = [
    ("contacts", "contacts n_c", "{}"),
    ("dimension", "components of a contact, 1 + d", "{}"),
    ("size", "size of W, n = (1 + d) n_c", "{}"),
    ("rank", "rank W", "{}"),
    ("rank_tolerance", "largest singular value counted as zero", "{:.1e}"),
    ("rank_gap", "ratio of the last one counted to the first one dropped", "{:.1e}"),
    ("rank_share", "rank W / ((1 + d) n_c); below 1 contacts are redundant", "{:.3g}"),
    ("condition", "condition number on the range", "{:.3g}"),
    ("asymmetry", "asymmetry |W − Wᵀ| / |W|", "{:.1e}"),
    ("eigenvalue_min", "smallest eigenvalue of the symmetric part", "{:.3g}"),
    ("eigenvalue_max", "largest eigenvalue of the symmetric part", "{:.3g}"),
    ("mu_min", "smallest friction coefficient", "{:g}"),
    ("mu_max", "largest friction coefficient", "{:g}"),
    ("velocities", "generalised velocities n_v", "{}"),
    ("bilateral", "bilateral rows", "{}"),
    ("hardness", "hardness, (1 + d) n_c / n_v", "{:.3g}"),
]
"""Key of `problem_facts`, words, format; a fact that does not apply is left out."""


def save(
    c: Comparison, folder: Path, provenance: dict[str, Any], drawn: Literal["pdf", "svg", "png"] | None = None
) -> None:
    """Write report.html, all that it is made from (`saved`), tables as CSV, and, if `drawn`, each figure as a file.

    The first table of the page is errors.md and errors.tex besides.
    """
    saved.save(c, folder)
    c.runs.to_csv(folder / "runs.csv", index=False)
    if c.case is not None:
        c.diagnostics.to_csv(folder / "diagnostics.csv", index=False)
    if c.scene is not None:
        c.bodies.to_csv(folder / "bodies.csv", index=False)
    for name in ("timeline", "events"):
        if len(getattr(c, name).columns):
            getattr(c, name).to_csv(folder / f"{name}.csv", index=False)
    write_json(folder / "provenance.json", provenance)
    by_name = named(c)
    shown = figures(by_name)
    (folder / "report.html").write_bytes(_page(by_name, provenance, shown).encode())
    errors = _tables(by_name)[0]
    (folder / "errors.md").write_text(markdown(of_runs(errors)), "utf-8")
    (folder / "errors.tex").write_text(latex_of(of_runs(errors)), "utf-8")
    if drawn:
        write_figures(shown, folder / "figures", drawn)


def remove_others(c: Comparison, folder: Path, kept_figures: str | None) -> None:
    """Take away what an earlier comparison has left in the folder and this one does not have, figures with endings
    other than `kept_figures` too. Raises WorkbenchError where the disk fails."""
    others = {
        "diagnostics.csv": c.case, "onward.parquet": c.case, "motion.npz": c.motion, "problem.npz": c.problem,
        "bodies.csv": c.scene, "bodies.parquet": c.scene, "timeline.csv": c.case or c.scene,
        "timeline.parquet": c.case or c.scene, "events.csv": c.case, "events.parquet": c.case,
    }  # fmt: skip
    with room_for(folder):
        remove_figures(folder / "figures", keep=kept_figures)
        for name, owner in others.items():
            if owner is None:
                (folder / name).unlink(missing_ok=True)


def render(c: Comparison, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    by_name = named(c)
    return _page(by_name, provenance, figures(by_name))


def _page(c: Comparison, provenance: dict[str, Any], shown: list[Figure]) -> str:
    """The page with these figures, whose drawing takes half of its time; `c` is `named`."""
    moving, tables, parts = motion_view(c), _tables(c), budgets(c)
    # Without contact all formulations are the same point.
    drawn = [f for f in shown if f.name != "ranking" or not touches_nothing(c)]
    columns = {x.name: (x.title, x.meaning) for t in (*tables, *parts) for x in t["columns"]}
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            c=c,
            several=len(c.settings.steps) > 1,
            provenance=provenance,
            about=subject(c),
            headline=headline(c),
            ranking=[f for f in drawn if f.name == "ranking"],
            motion=moving["motion"],
            places=places(c),
            summary=findings(c),
            reasons=reasons(c),
            contacts=contacts(c),
            bars=[f for f in drawn if f.name == "timeline"],
            figures=[f for f in drawn if f.name not in ("ranking", "timeline")],
            tables=tables,
            budgets=parts,
            cards=cards(c),
            compared=compared(c),
            glossary=GLOSSARY,
            meanings=meanings(columns),
            **(of_scene(c) if c.scene else _of_step(c)),
            **scripts(drawn, *([] if c.scene else [script("loupe.js")]), moving["viewer"]),
        )
    )


def _of_step(c: Comparison) -> dict[str, Any]:
    """Return what the page of a case or of a problem has, and that of a scene has not."""
    found: dict[str, Any] = {
        "bodies": {}, "loupe": loupe(c), "followed": followed(c), "uncertainty": uncertainty(c),
        "verdicts": _verdicts(c.diagnostics),
        "sketch": drawing(c.case.sketch(), f"{c.name}, initial state") if c.case else "",
    }  # fmt: skip
    if c.case is None:
        facts = [(words, form.format(c.facts[key])) for key, words, form in FACTS if c.facts.get(key) is not None]
        found |= {"facts": facts, "known": known_in_words(c), "slow": SLOW}
    return found


def _tables(c: Comparison) -> list[dict[str, Any]]:
    """Return errors and symptoms in each window, and the judge's residuals of the last one, the whole run.

    A window that is all of the run, as one that ends with it may be, stands for that too.

    Cross-checks of sampled steps have no motion; they are in the last table and in those of the budget.
    """
    if c.scene:
        return tables_of_scene(c)
    errors, judged, symptoms = error_columns(c), judged_columns(c), symptom_columns(c)
    last = held_against(c)
    if c.case is None:
        return [table("Distance from the exact solution", c.runs, [*errors, *symptoms]), table(last, c.runs, judged)]
    windows: dict[tuple[float, float], tuple[str, pd.DataFrame]] = {}
    for name, runs in c.windows.items():
        start, end = runs[["window_start", "window_end"]].iloc[0]
        windows.setdefault((start, end), (f"window “{name}”", runs[~runs["sampled"]]))
    tables = [
        table(f"{capital(name)}: {start:g} s ≤ t < {end:g} s", runs, errors) | {"clipped": runs["clipped"].any()}
        for (start, end), (name, runs) in windows.items()
    ]
    tables += [table(f"Symptoms, {name}", runs, symptoms) for name, runs in windows.values() if symptoms]
    name, runs = list(c.windows.items())[-1]
    return [*tables, table(f"{last}, window “{name}”", runs, judged)]


def _verdicts(diagnostics: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a row per formulation and step with a column per quantity."""
    if diagnostics.empty:
        return []
    rows = []
    for label, by_label in diagnostics.groupby("label", sort=False):
        for h in by_label["step"].unique():
            cells = by_label[by_label["step"] == h].to_dict("records")
            rows.append({"formulation": label, "step": f"{1e3 * h:g} ms", "cells": cells})
    return rows
