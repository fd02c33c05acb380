"""A variant of a formulation has one name on a page, and two variants never share one."""

import pandas as pd
import pytest
from playwright.sync_api import expect

import workbench as wb
from workbench.builtin.reports.figures.comparison import apart, figures
from workbench.builtin.reports.figures.motion import drawn_tracks
from workbench.builtin.reports.pages.comparison import render
from workbench.builtin.reports.pages.motion import motion_view
from workbench.builtin.reports.text.names import name_of, named
from workbench.support.output import provenance


@pytest.mark.parametrize(
    ("label", "axes", "several", "name"),
    [
        ("hybrid", "sliding", False, "hybrid"),
        ("hybrid", "sliding", True, "hybrid with turned axes"),
        ("hybrid:axes=fixed", "fixed", False, "hybrid with fixed axes"),
        ("box", "fixed", True, "box with fixed axes"),
        ("box", "fixed", False, "box"),
        ("box:bounds=iterated,axes=sliding", "sliding", True, "box:bounds=iterated with turned axes"),
        ("hybrid:axes=fixed", "", True, "hybrid:axes=fixed"),
        ("ccp", "", False, "ccp"),
    ],
)
def test_a_name_says_which_axes(label, axes, several, name):
    assert name_of(label, axes, several) == name


@pytest.fixture(scope="module")
def compared():
    names = ["box", "box:axes=sliding", "hybrid", "ccp"]
    return wb.compare("wheel", names, duration=0.02, reference_step=5e-4).comparison


@pytest.mark.thorough
def test_every_part_of_a_page_calls_a_variant_by_one_name(compared):
    c, names = named(compared), {"box with fixed axes", "box with turned axes", "hybrid", "ccp"}
    assert list(c.runs["label"].unique()) == [f.label for f in c.formulations]
    assert {f.label for f in c.formulations} == names == {card["label"] for card in c.mathematics}
    assert names >= {x.label for x in c.motion.tracks if x.role == "run"} > {"ccp"}
    assert set(c.diagnostics["label"]) <= names >= set(c.trajectories["label"]) - {"coulomb"}
    assert c.turned == {"box with turned axes"}
    # What is saved for others keeps the labels, as the command line takes them.
    assert "hybrid" in set(compared.runs["label"])
    page = render(compared, provenance(case="wheel"))
    for name in names:
        assert f'<td class="name">{name}<' in page
    assert "box:axes=sliding" not in page.partition('id="glossary"')[0].rpartition("<h2>Figures")[0]


@pytest.mark.thorough
def test_curves_with_turned_axes_wait_to_be_singled_out(compared):
    (figure,) = [x for x in figures(named(compared)) if x.name == "position"]
    spec = str(figure.chart.to_dict()["layer"][0]["encoding"]["opacity"])
    assert 'indexof(["box with turned axes"], datum.label)' in spec
    legend = figure.chart.to_dict()["layer"][0]["encoding"]["color"]["legend"]["values"]
    assert "box with turned axes" not in legend
    assert {"box with fixed axes", "hybrid", "ccp"} <= set(legend)
    assert "box with turned axes" in {x.label for x in drawn_tracks(named(compared))}
    assert not motion_view(named(compared))["motion"]["shown"][1].startswith("box with turned")


def test_formulations_whose_points_coincide_share_a_plot():
    point = {"contact": 0, "closed": True, "p_t1": 0.5, "normalised_friction": 1.0, "slip": 2.0, "u_n": 0.0}
    rows = [{"label": x} | point for x in ("a with fixed axes", "b", "c", "d")]
    rows[2] |= {"p_t1": 0.53}
    rows[3] |= {"u_n": 1.0}
    points = pd.DataFrame(rows)
    points.attrs["of"] = 1
    shown, alike = apart(points)
    assert alike == "a with fixed axes and b"
    assert list(shown["label"]) == ["a\nfixed axes\nand 1 more", "c", "d"]


@pytest.mark.thorough
def test_the_meaning_of_a_word_goes_as_the_page_is_scrolled(compared, tmp_path, reader):
    (tmp_path / "report.html").write_text(render(compared, provenance(case="wheel")), "utf-8")
    page = reader.open(tmp_path / "report.html")
    page.locator("button.term").first.click()
    assert page.locator(".meaning:popover-open").count() == 1
    page.evaluate("scrollBy(0, 40)")
    expect(page.locator(".meaning:popover-open")).to_have_count(0)
