"""The page of the check of a box: what holds for all its matrices, and for all solutions with uncertain data."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from workbench.builtin.reports.figures.uncertain import solutions_figure
from workbench.builtin.reports.pages.check import LARGEST_CERTIFICATE, MEANINGS
from workbench.builtin.reports.pages.page import data_link, environment, scripts
from workbench.matrices.linear_algebra.rationals import nearest_double

LARGEST_SHOWN = 12
"""Order up to which all entries are shown; of larger boxes the rows and columns that decide."""
LONGEST = 9
"""Longest exact number [characters] that is shown in full."""


@dataclass(frozen=True)
class TableCell:
    """An entry: its middle and radius as text (radius "" where it is certain), and the value of the member that is not
    a P-matrix (None without one), where it is within the interval (-1 to 1), and whether its minor has the entry."""

    middle: str
    radius: str
    value: str | None
    place: float
    decides: bool


def render(
    name: str, result: dict[str, Any], answers: Sequence[tuple[str, str]], provenance: dict[str, Any],
    certificate: dict[str, Any] | None,
) -> str:  # fmt: skip
    """The whole page as text, from the result of `diagnostics.box_check.check_box` and its certificate."""
    found = result["solutions"]
    figures = [solutions_figure(found)] if found and found["signs"] else []
    outside = result["classes"]["P"]["outside"]
    minor = outside["witness"].get("index_set") if outside else None
    shown = _shown(result["n"], minor)
    q = result["q"]
    of_q = q and [_cell(q["centre"][i], q["radius"][i], None, False) for i in shown]
    document = "" if certificate is None else json.dumps(certificate)
    held = document if len(document) <= LARGEST_CERTIFICATE else ""
    return environment().get_template("box.html.j2").render(
        name=name, r=result, answers=answers, classes=_classes(result["classes"]), figures=figures, shown=shown,
        cells=_cells(result, shown, outside, minor), of_q=of_q, of_bounds=_bounds(result, shown),
        minor=minor, outside=outside,
        value=_digits(outside["witness"]["minor"]) if minor and outside["witness"].get("minor") else None,
        certificate=data_link(held, "application/json") if held else None,
        left_out=[f"{x['about']} ({x['reason']})" for x in certificate["left_out"]] if held and certificate else [],
        provenance=provenance, **(scripts(figures) if figures else {}),
    )  # fmt: skip


def _shown(n: int, minor: list[int] | None) -> list[int]:
    """The rows and columns that the page shows."""
    return list(range(n)) if n <= LARGEST_SHOWN else (minor or [])[:LARGEST_SHOWN]


def _cells(
    result: dict[str, Any], shown: list[int], outside: dict[str, Any] | None, minor: list[int] | None
) -> list[list[TableCell]]:
    centre, radius = result["M"]["centre"], result["M"]["radius"]
    inside = set(minor or [])
    return [
        [
            _cell(centre[i][j], radius[i][j], outside["matrix"][i][j] if outside else None, {i, j} <= inside)
            for j in shown
        ]
        for i in shown
    ]


def _bounds(result: dict[str, Any], shown: list[int]) -> list[list[TableCell]] | None:
    """Lower and upper bound of the unknowns of an MLCP."""
    if result["kind"] != "MLCP":
        return None
    bounds = result["solutions"]["bounds"]
    return [[_bound(bounds["lower"][i], "-∞"), _bound(bounds["upper"][i], "∞")] for i in shown]


def _bound(ends: list[str] | None, otherwise: str) -> TableCell:
    if ends is None:
        return TableCell(otherwise, "", None, 0.0, False)
    low, high = map(fmpq, ends)
    return _cell(str((low + high) / 2), str((high - low) / 2), None, False)


def _cell(middle: str, radius: str, value: str | None, decides: bool) -> TableCell:
    spread = fmpq(radius)
    place = 0.0 if value is None or spread == 0 else nearest_double((fmpq(value) - fmpq(middle)) / spread)
    return TableCell(_digits(middle), _digits(radius) if spread != 0 else "", value and _digits(value), place, decides)


def _digits(exact: str) -> str:
    """Return a short number unchanged, a longer one rounded to five digits and marked as rounded."""
    return exact if len(exact) <= LONGEST else f"~{nearest_double(fmpq(exact)):.5g}"


def _classes(classes: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Name, verdict, meaning, and proof or reason."""
    return [
        (name.replace("_", " "), found["verdict"], MEANINGS[name], found["proof"] or found["reason"] or "")
        for name, found in classes.items()
    ]
