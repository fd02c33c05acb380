"""Numbers and pictures on pages: those of the results, in the units that are written beside them."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tests.test_study_page import html, made
from workbench.builtin.reports.figures.grains import stills
from workbench.builtin.reports.figures.sensitivity import figures as sensitivity
from workbench.builtin.reports.pages import study
from workbench.builtin.reports.text.sensitivity import sentences
from workbench.comparison.derivatives import EVENT_DRIVEN
from workbench.comparison.scenes.flow import Moving


def test_a_study_s_bounds_are_in_the_units_of_the_question(monkeypatch):
    """The largest velocity error over the points, in percent; one that is not verified may not be the answer."""
    monkeypatch.setattr(study, "figures", lambda *_: [])
    page = html(made([("slow", 0.01, 0.5, 3e-3, True), ("unproved", 0.02, 0.5, 1e-3, False)]))
    bounds = json.loads(re.search(r'id="bounds">(.*?)</script>', page)[1])
    # The search begins with a bound below which half of the variants lie.
    assert bounds["errors"][0] == ["velocity", "%", 4.2]
    assert [row[3] for row in bounds["rows"]] == [True, False]
    assert [row[2] for row in bounds["rows"]] == pytest.approx([3.0, 1.0])
    assert [row[4] for row in bounds["rows"]] == pytest.approx([4.0, 8.0])


def test_a_grain_that_is_higher_is_drawn_higher():
    """Two grains above one another, at the same place across the picture."""
    x = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]]])
    (_, svg), *_ = stills([Moving("ccp", np.zeros(1), x, np.array([1.0, 0.5]), ())], ["#8A4A6E"])
    circles = {float(r): (float(a), float(b)) for a, b, r in re.findall(r'cx="(.*?)" cy="(.*?)" r="(.*?)"', svg)}
    (large, below), (small, above) = sorted(circles.items(), reverse=True)
    assert large == pytest.approx(2.0 * small, abs=0.15)
    assert below[0] == pytest.approx(above[0], abs=0.1)
    # Down is positive in SVG; the eye looks down by 0.2 rad.
    assert below[1] - above[1] == pytest.approx(3.0 * np.cos(0.2) * large, rel=0.01)
    assert 'fill="#8A4A6E"' in svg


def test_a_tangent_has_the_slope_of_the_derivative_and_touches_its_curve():
    at = np.linspace(0.2, 0.4, 5)
    one = pd.DataFrame({"at": at, "value": 3.0 * at**2, "derivative": 6.0 * at, "kinks": 0, "jumps": 0})
    (figure,) = sensitivity(one.assign(parameter="mu", output="x", formulation="ccp"))
    (tangent,) = (x for rows in figure.chart.to_dict()["datasets"].values() for x in rows if "top" in x)
    run, rise = tangent["end"] - tangent["at"], tangent["top"] - tangent["value"]
    assert rise / run == pytest.approx(6.0 * 0.3)
    assert tangent["at"] + 0.5 * run == pytest.approx(0.3)
    assert tangent["value"] + 0.5 * rise == pytest.approx(3.0 * 0.3**2)


def test_the_motion_is_told_from_coulomb_s_law_that_lies_on_it():
    at = np.linspace(0.2, 0.4, 5)
    rows = pd.DataFrame({"at": at, "value": at, "derivative": 1.0, "kinks": 0, "jumps": 0})
    both = pd.concat([rows.assign(formulation=x) for x in (EVENT_DRIVEN, "coulomb")]).assign(parameter="mu", output="x")
    (figure,) = sensitivity(both)
    line = figure.chart.to_dict()["layer"][0]["encoding"]
    scale = line["color"]["scale"]
    assert scale["domain"] == [EVENT_DRIVEN, "coulomb"]
    assert len(set(scale["range"])) == 2
    # The wide line is drawn first, below the other one.
    assert EVENT_DRIVEN in line["strokeWidth"]["condition"]["test"]
    assert line["strokeWidth"]["condition"]["value"] > line["strokeWidth"]["value"]


def test_difference_quotients_are_told_to_differ_by_the_largest_difference():
    rows = [
        {"formulation": name, "parameter": "mu", "output": "v[0]", "derivative": -2.0, "quotient": -2.0 * (1 + apart),
         "quotient_error": 0.0, "error": 0.0, "kinks": 0, "jumps": 0, "reason": ""}
        for name, apart in (("coulomb", 1e-3), ("box", 1e-5))
    ]  # fmt: skip
    said = sentences(pd.DataFrame(rows), {"step": 1e-3, "duration": 0.1})
    assert said[-1].endswith("all differ from the derivatives by 1e-03 at most.")
