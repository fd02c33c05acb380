"""Figures of a flow of grains: what they draw of constructed runs; and that the documentation's are of its runs."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from docs.flows.__main__ import HERE, PAGE, STUDIES, flow_of, written
from workbench.builtin.reports.figures.flow import artefact_figure, difference_figure
from workbench.comparison.scenes.flow import at_roughness


def runs(artefact=0.5):
    """Two starts of two steps at one friction coefficient: the CCP's gap is the step times `artefact`."""
    rows = [
        {"formulation": f, "mu": 0.3, "step": h, "seed": s, "finished": True}
        for f in ("coulomb", "ccp") for h in (2.0, 4.0) for s in (0, 1)
    ]  # fmt: skip
    rows = pd.DataFrame(rows)
    gap = artefact * rows["step"].where(rows["formulation"] == "ccp", 0.0)
    needed = np.where(gap > 0, 0.1 / max(artefact, 1e-9), np.nan)
    return rows.assign(float_gap=gap, artefact=gap, needed_step=needed)


def drawn(figure):
    """The rows that a figure draws."""
    (rows,) = figure.chart.to_dict()["datasets"].values()
    return pd.DataFrame(rows)


def test_the_gap_is_continued_to_the_step_at_which_it_is_the_roughness():
    found = drawn(artefact_figure(SimpleNamespace(rows=runs(), roughness=0.1)))
    fine = found[found["kind"] == "fine"]
    assert fine[["step", "gap", "said"]].values.tolist() == [[200.0, 1.0, "2e+02 ms"]]
    assert found[found["kind"] == "gap"][["formulation", "step", "gap"]].values.tolist() == [
        ["ccp", 2000.0, 10.0], ["ccp", 4000.0, 20.0],
    ]  # fmt: skip
    assert found[found["kind"] == "asked"]["gap"].tolist() == [10.0, 20.0]
    assert artefact_figure(SimpleNamespace(rows=runs(0.0), roughness=0.1)) is None


def test_the_step_of_the_roughness_is_reported_by_the_runs_whose_gap_is_nearest_to_it():
    rows = pd.DataFrame({"mu": [0.1] * 3 + [0.5] * 2, "step": [1.0, 2.0, 4.0, 2.0, 4.0]})
    rows["needed_step"] = [1.7, 1.9, 2.5, 0.5, 0.7]
    assert at_roughness(rows)[["mu", "step"]].values.tolist() == [[0.1, 2.0], [0.5, 2.0]]


def test_a_difference_is_drawn_with_what_is_open_and_whether_it_is_reported():
    d = pd.DataFrame({
        "measure": ["x", "x", "y"], "formulation": "ccp", "mu": 0.3, "step": [2e-3, 4e-3, 2e-3],
        "difference": [0.1, -0.2, 0.1], "uncertainty": [0.3, 0.05, np.inf], "significant": [False, True, False],
    })  # fmt: skip
    found = drawn(difference_figure(SimpleNamespace(differences=d), ["x", "y"]))
    rows = found[["step", "low", "high", "significant"]].values.tolist()
    assert rows == [[2.0, -20.0, 40.0, False], [4.0, -25.0, -15.0, True]]
    assert difference_figure(SimpleNamespace(differences=d[d["measure"] == "y"]), ["y"]) is None


@pytest.mark.thorough
def test_the_tables_of_the_documentation_are_those_of_its_runs():
    text = PAGE.read_text("utf-8")
    assert written(text) == text
    assert all((HERE / f"{name}-differences.svg").exists() for name in STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_the_runs_of_the_documentation_are_whole_pairs(name):
    f = flow_of(name)
    assert f.rows["finished"].all()
    assert set(STUDIES[name]) <= set(f.measures)
    assert (f.rows.groupby(["mu", "step", "seed"])["formulation"].nunique() == 2).all()
    # The gap is what associated flow asks for, and nothing under Coulomb's law.
    ccp = f.rows["formulation"] == "ccp"
    np.testing.assert_allclose(f.rows["float_gap"][ccp], f.rows["artefact"][ccp], rtol=0.01)
    assert (f.rows["float_gap"][~ccp].abs() < 1e-2 * f.roughness).all()
