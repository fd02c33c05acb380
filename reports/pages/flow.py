"""The page of a flow of grains: the answer, the motion, its figures, what theory says, and every run."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.builtin.reports.figures.flow import figures
from workbench.builtin.reports.pages.grains import grains_view
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.conclusions import capital
from workbench.comparison.scenes.flow import GranularFlow
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.case import GrainCase

LEFT_OUT = ("finished", "reason", "steps")


def render(title: str, words: Sequence[str], flow: GranularFlow, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    shown, moving = figures(flow), grains_view(flow.moving)
    columns = [c for c in flow.rows.columns if c not in LEFT_OUT]
    rows = [[cell(r[c]) for c in columns] for r in flow.rows.to_dict("records")]
    return environment().get_template("flow.html.j2").render(
        title=title, words=words, about_scene=lead(flow.case), figures=shown, columns=columns, rows=rows,
        checks=checks(flow.truths), laws=[], about=flow.rows.attrs["columns"], provenance=provenance,
        motion=moving["motion"], **scripts(shown, moving["viewer"]),
    )  # fmt: skip


def lead(case: SceneCase) -> str:
    """Return the scene's description with its number of grains."""
    text = case.description.replace("N ", f"{case.N:g} ") if isinstance(case, GrainCase) else case.description
    return capital(text)


def checks(truths: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the checks against theory, one row for all runs."""
    found = []
    for name, of_runs in truths.groupby("name", sort=False) if len(truths) else ():
        unit = of_runs["unit"].iloc[0]
        ranges = {c: _range(of_runs[c], unit) for c in ("computed", "theory", "tolerance")}
        held, source = int(of_runs["holds"].sum()), of_runs["source"].iloc[0]
        found.append({"name": name, "held": held, "runs": len(of_runs), "source": source} | ranges)
    return found


def _range(x: "pd.Series[float]", unit: str) -> str:
    low, high = f"{x.min():.3g}", f"{x.max():.3g}"
    return f"{low if low == high else f'{low} to {high}'}{'' if unit in ('', '1') else f' {unit}'}"


def cell(x: Any) -> str:
    if isinstance(x, float):
        return "–" if pd.isna(x) else f"{x:.3g}"
    return str(x)
