"""The page of a hopper's discharge: C and k, the motion out of the widest opening, the law, and every run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.builtin.reports.figures.discharge import figures
from workbench.builtin.reports.pages.flow import cell, checks, lead
from workbench.builtin.reports.pages.grains import grains_view
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.comparison.scenes.discharge import Discharge

SHOWN = ("opening", "formulation", "mu", "step", "seed", "discharge", "bulk", "delay", "contacts", "solve_time")


def render(title: str, words: Sequence[str], x: Discharge, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    widest = x.flows[-1]
    shown, moving = figures(x), grains_view(widest.moving)
    about = widest.rows.attrs["columns"] | {"opening": {"unit": "m", "meaning": "diameter of the hole"}}
    return environment().get_template("flow.html.j2").render(
        title=title, words=words, about_scene=lead(x.case), figures=shown, columns=SHOWN, checks=checks(x.truths),
        about=about,
        rows=[[cell(r[c]) for c in SHOWN] for r in x.rows.to_dict("records")], provenance=provenance,
        laws=[_law(r) for r in x.laws.to_dict("records")], motion=moving["motion"],
        **scripts(shown, moving["viewer"]),
    )  # fmt: skip


def _law(r: Mapping[Any, Any]) -> list[str]:
    spans = {name: (r[f"{name}_low"], r[f"{name}_high"]) for name in ("C", "k")}
    ends = {name: f"{low:.3g} to {high:.3g}" if np.isfinite(low) else "–" for name, (low, high) in spans.items()}
    # Without an interval a number says nothing.
    C, k = (r[name] if np.isfinite(r[f"{name}_low"]) else np.nan for name in ("C", "k"))
    values = [r["formulation"], r["mu"], r["step"], r["runs"], C, ends["C"], k, ends["k"], r["straight"]]
    return [cell(value) for value in values]
