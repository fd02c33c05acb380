"""Page of a study: findings, figures, orders of convergence, and the cheapest row below an error bound."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.builtin.reports.figures.study import figures
from workbench.builtin.reports.pages.page import environment, in_script, script, scripts
from workbench.builtin.reports.text.study import in_words, with_unit
from workbench.comparison.columns import SHOWN, Column
from workbench.comparison.metric import Metric
from workbench.studies.tables import (
    ERRORS,
    by_scheme,
    by_variant,
    errors_of,
    first_window,
    orders,
    varied,
    varied_numbers,
)


def render(
    title: str, words: Sequence[str], rows: pd.DataFrame, metrics: tuple[Metric, ...], provenance: dict[str, Any],
    shown: Sequence[str] = ERRORS,
) -> str:  # fmt: skip
    """Return the page as text, with the errors of the names `shown`."""
    about, rows = rows.attrs["columns"], by_scheme(rows)
    numbers = varied_numbers(rows)
    window = first_window(rows)
    errors = errors_of(metrics, window, shown)
    drawn = figures(window, errors, numbers, {name: about[name]["unit"] for name in numbers})
    table = by_variant(window, errors)
    return environment().get_template("study.html.j2").render(
        title=title, words=words, description=" ".join(words), figures=drawn, errors=errors,
        given=[(name, about[name], _range(rows[name])) for name in varied(rows)],
        orders=_orders(window, errors), several_steps=window["step"].nunique() > 2,
        table=[_line(row, errors) for row in table.to_dict("records")], several=rows["case"].nunique() > 1,
        cases=list(rows["case"].unique()), bounds=in_script(_bounds(table, errors)), provenance=provenance,
        **scripts(drawn, *([script("study.js")] if errors else [])),
    )  # fmt: skip


def _orders(rows: pd.DataFrame, errors: Sequence[Column]) -> list[tuple[str, str, int, list[str]]]:
    """Return case, formulation, number of steps, and a sentence on the fit of each error."""
    found: dict[tuple[str, str], tuple[int, dict[str, str]]] = {}
    for column in errors:
        for case, label, fit in orders(rows, column):
            steps, said = found.get((case, label), (fit.steps, {}))
            found[case, label] = max(steps, fit.steps), said | {column.name: in_words(fit, column)}
    return [(*key, steps, [said.get(c.name, "–") for c in errors]) for key, (steps, said) in found.items()]


def _range(values: pd.Series) -> str:
    if pd.api.types.is_numeric_dtype(values) and values.nunique() > 6:
        return f"{values.nunique()} values from {values.min():.6g} to {values.max():.6g}"
    return ", ".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in values.dropna().unique()[:20])


def _line(row: dict[Any, Any], errors: Sequence[Column]) -> dict[str, Any]:
    cells = [(with_unit(row[f"{c.name}_median"], c), with_unit(row[f"{c.name}_worst"], c)) for c in errors]
    verified = "yes" if not row["unverified"] else f"{100 * (1 - row['unverified']):.3g} %"
    return row | {
        "cells": cells,
        "time": f"{1e6 * row['time']:.3g}",
        "step": f"{1e3 * row['step']:g}",
        "verified": verified,
    }


def _bounds(table: pd.DataFrame, errors: Sequence[Column]) -> dict[str, Any]:
    """Return the data to find the cheapest variant below a bound: names, units and first bounds of the errors, and for
    each variant its case, name, time per step [µs], whether it is verified throughout, and its largest errors."""
    rows = [
        [
            r["case"], f"{r['label']}, {r['solver']}, {1e3 * r['step']:g} ms", 1e6 * r["time"], r["unverified"] == 0,
            *(None if pd.isna(x := r[f"{c.name}_worst"]) else SHOWN[c.shown][0] * x for c in errors),
        ]
        for r in table.to_dict("records")
    ]  # fmt: skip
    names = [[c.heading, SHOWN[c.shown][2] or c.unit] for c in errors]
    return {"errors": [[*name, _middle([row[4 + i] for row in rows])] for i, name in enumerate(names)], "rows": rows}


def _middle(largest: Sequence[float | None]) -> float:
    """A bound to begin with, of two digits, below which about half of the variants lie."""
    known = sorted(x for x in largest if x is not None)
    return float(f"{1.05 * known[(len(known) - 1) // 2]:.2g}") if known else 1.0
