"""The discharge over the opening, in the coordinates in which Beverloo's law is a line."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Figure, short
from workbench.builtin.reports.figures.flow import by_mu, colours, panels
from workbench.builtin.reports.figures.styles import INK
from workbench.comparison.scenes.discharge import POWER, Discharge
from workbench.scenes.grains.measures import BEVERLOO

HEIGHT = 260


def figures(x: Discharge) -> list[Figure]:
    """Plots of all runs and the lines fitted to them, one for each friction coefficient; none if nothing flows."""
    rows = x.rows.dropna(subset=["rate"])
    if rows.empty:
        return []
    several = rows["step"].nunique() > 1

    def label(r: pd.Series) -> str:
        return f"{r['formulation']}, {1e3 * r['step']:g} ms" if several else str(r["formulation"])

    points = pd.DataFrame({
        "formulation": rows.apply(label, axis=1), "panel": panels(rows)["panel"], "x": rows["across"].map(short),
        "y": (rows["rate"] ** POWER).map(short), "kind": "run",
    })  # fmt: skip
    right = 1.04 * float(rows["across"].max())
    laws = x.laws.dropna(subset=["C"])
    lines = [_line(label(r), f"μ = {r['mu']:g}", r["C"], r["k"], right, "fit") for _, r in laws.iterrows()]
    lines += [
        _line("", panel, BEVERLOO["C"], BEVERLOO["k"], right, "source") for panel in dict.fromkeys(points["panel"])
    ]
    data = pd.concat([points, *lines], ignore_index=True)
    colour, dash = colours(list(dict.fromkeys(points["formulation"])))
    across = alt.X("x:Q", title="opening over grain diameter, D/d", scale=alt.Scale(domain=[0, right]))
    up = alt.Y("y:Q", title="(W / ρ g^1/2 d^5/2)^2/5")
    base = alt.Chart(data).encode(x=across, y=up)
    layers = [
        base.transform_filter("datum.kind == 'source'").mark_line(color=INK, strokeDash=[2, 3]),
        base.transform_filter("datum.kind == 'fit'").mark_line(strokeWidth=1.8).encode(color=colour, strokeDash=dash),
        base.transform_filter("datum.kind == 'run'").mark_point(filled=True, size=36, opacity=0.7).encode(color=colour),
    ]
    caption = (
        "Points: runs. In these coordinates Beverloo's law is a line with zero at k and slope "
        f"C^2/5. Dotted: C = {BEVERLOO['C']:g}, k = {BEVERLOO['k']:g} (Beverloo, Leniger & van de Velde 1961)."
    )
    return [Figure("discharge", "Discharge against opening", caption, by_mu(layers, data, HEIGHT))]


def _line(label: str, panel: str, C: float, k: float, right: float, kind: str) -> pd.DataFrame:
    x = np.array([max(k, 0.0), right])
    y = C**POWER * (x - k)
    return pd.DataFrame({"formulation": label, "panel": panel, "x": map(short, x), "y": map(short, y), "kind": kind})
