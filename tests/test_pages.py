"""What a page holds: colours for all eyes, axes without spikes, the answer first, tables for other places."""

import base64
import csv
import io
import itertools
import re
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

import workbench as wb
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.figures.charts import PARTS
from workbench.builtin.reports.figures.comparison import figures
from workbench.builtin.reports.figures.ranges import range_of
from workbench.builtin.reports.figures.ranking import ranking_figure
from workbench.builtin.reports.figures.regimes import COLOURS as OF_REGIMES
from workbench.builtin.reports.figures.styles import FAMILIES, OF_FORMULATIONS
from workbench.builtin.reports.pages.page import typeset
from workbench.builtin.reports.pages.result import render as result_page
from workbench.builtin.reports.text.headline import compared as what_is_compared
from workbench.builtin.reports.text.headline import headline, subject
from workbench.comparison.decision import decide
from workbench.comparison.families import BARE, EXACT, family
from workbench.diagnostics.sliding_regime import REGIMES


@pytest.fixture(scope="module")
def compared():
    return wb.compare("wheel", ["box", "stewart-trinkle", "coulomb", "ccp"], duration=0.1, reference_step=5e-4)


@pytest.fixture(scope="module")
def page(compared):
    return compared.html()


# Colours and dashes


def linear(colour):
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def cielab(rgb):
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ rgb / (0.95047, 1.0, 1.08883)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira & Fernandes 2009, full severity: protanopia, deuteranopia, tritanopia.
EYES = [
    np.eye(3),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
]


def nearest(colours):
    """The least distance in CIELAB between two of these colours, to the eyes that tell them apart worst."""
    seen = ([cielab(np.clip(eyes @ linear(colour), 0, 1)) for colour in colours] for eyes in EYES)
    return min(np.linalg.norm(a - b) for found in seen for a, b in itertools.combinations(found, 2))


def test_formulations_are_told_apart_by_any_eyes():
    """Families by their hue, those of one family by lightness, and by their dash."""
    of_family = {}
    for f in FORMULATIONS:
        colour, _ = OF_FORMULATIONS[f.name]
        of_family.setdefault(family(f.name), []).append(colour)
    inked = [kind for kind in of_family if kind != EXACT]
    for a, b in itertools.combinations(inked, 2):
        apart = min(map(nearest, itertools.product(of_family[a], of_family[b])))
        assert apart > (12 if BARE in (a, b) else 18)
    assert min(nearest(of_family[kind]) for kind in inked if len(of_family[kind]) > 1) > 10
    assert len({marker for _, marker in FAMILIES.values()}) == len(FAMILIES)
    colours = [x for kind in inked for x in of_family[kind]]
    for colour in colours:
        luminance = np.array([0.2126, 0.7152, 0.0722]) @ linear(colour)
        assert 1.05 / (luminance + 0.05) > 2.2
        assert (luminance + 0.05) / 0.0589 > 2.2


def test_regimes_and_parts_of_an_error_are_told_apart_by_any_eyes():
    assert nearest(OF_REGIMES.values()) > 20
    assert nearest([OF_REGIMES[name] for name in REGIMES]) > 30
    assert nearest([colour for colour, _ in PARTS.values() if colour.startswith("#")]) > 15


def test_no_two_formulations_have_the_same_dash():
    dashes = [tuple(dash) for _, dash in OF_FORMULATIONS.values()]
    assert len(set(dashes)) == len(dashes)
    assert {f.name for f in FORMULATIONS} <= set(OF_FORMULATIONS)


# Axes


def curve(label, values):
    return pd.DataFrame({"label": label, "t": np.arange(len(values)) / 10, "contact": 0, "e": values})


def test_a_spike_does_not_set_the_axis_and_is_reported():
    usual = np.linspace(0.5, 1.5, 100)
    spiky = usual.copy()
    spiky[40], spiky[70] = 9e5, -1e4
    within = range_of(pd.concat([curve("a", usual), curve("b", spiky)]), "e")
    assert 1.5 <= within.high < 2.0
    assert 0.0 < within.low < 0.5
    assert "1 % of the values lie beyond the axis, up to 9e+05 (b)" in within.words
    # What a curve does all the time is in sight.
    assert range_of(pd.concat([curve("a", usual), curve("b", 100 * usual)]), "e").high == pytest.approx(150.0, rel=0.04)


def test_curves_that_lie_on_one_another_are_named():
    x = np.sin(np.arange(100.0))
    words = range_of(pd.concat([curve("a", x), curve("b", x + 1e-4), curve("c", x + 0.2), curve("d", x)]), "e").words
    assert words == "Coincident curves: a, b and d."
    gap = np.where(np.arange(100) < 50, np.nan, x)
    assert range_of(pd.concat([curve("a", x), curve("b", gap)]), "e").words == ""


@pytest.mark.thorough
def test_subscripts_and_exponents_are_typeset_and_names_are_not():
    words = {
        "M_μ <b>": "M<sub>μ</sub> &lt;b&gt;", "M_αα and u_t": "M<sub>αα</sub> and u<sub>t</sub>",
        "v^2 / 2 m/s2, LDL^T": "v<sup>2</sup> / 2 m/s<sup>2</sup>, LDL<sup>T</sup>",
        "path_error of a_b_c": "path_error of a_b_c", "10^25 and s2": "10^25 and s2",
    }  # fmt: skip
    assert {x: str(typeset(x)) for x in words} == words


def test_a_page_of_tables_has_headings_that_are_words_and_no_empty_column():
    frame = pd.DataFrame({"path_error": [0.5], "reason": [""], "share": [1.0]})
    frame.attrs["columns"] = {
        "path_error": {"unit": "m", "meaning": "how far"}, "reason": {"unit": "", "meaning": "why not"},
        "share": {"unit": "1", "meaning": "how much"},
    }  # fmt: skip
    page = result_page("some result", ["A sentence."], {"rows": frame}, {})
    assert re.findall(r"<th[^>]*>(.*?)</th>", page) == ['path error <span class="quiet">[m]</span>', "share"]
    assert re.findall(r"<dt>(.*?)</dt>", page)[:2] == ["path error", "share"]
    assert "<h2>Rows</h2>" in page
    failed = result_page("some result", ["A sentence."], {"rows": frame.assign(reason="no answer")}, {})
    assert "<td" in failed
    assert "no answer" in failed


def test_what_has_nothing_to_draw_is_no_figure(compared):
    c = compared.comparison
    shares = [x.name for m in c.metrics for x in m.columns if x.name in c.runs]
    still = c.trajectories.assign(position_error=0.0, misalignment=np.nan)
    c = type(c)(**{**vars(c), "trajectories": still, "runs": c.runs.assign(**dict.fromkeys(shares, 0.0))})
    c = replace(c, onward=c.onward.iloc[:0], timeline=c.timeline.iloc[:0])
    assert [f.name for f in figures(c)] == ["friction", "energy", "painleve"]


@pytest.mark.thorough
def test_of_very_many_contacts_the_range_is_drawn(compared, monkeypatch):
    monkeypatch.setattr("workbench.builtin.reports.figures.comparison.MOST_CONTACTS", 0)
    c, one = compared.comparison, compared.trajectories
    other = one.assign(contact=1, normalised_friction=0.5 * one["normalised_friction"])
    c = type(c)(**{**vars(c), "trajectories": pd.concat([one, other], ignore_index=True)})
    figure = next(f for f in figures(c) if f.name == "friction")
    assert "Shaded: from the least to the greatest" in figure.caption
    rows = next(iter(figure.chart.to_dict()["datasets"].values()))
    assert all(row["min"] == pytest.approx(0.5 * row["max"], rel=1e-4) for row in rows)
    assert all(row["median"] == pytest.approx(0.75 * row["max"], rel=1e-4) for row in rows)
    assert {row["label"] for row in rows} == set(compared.runs["label"])


# The first screen


def points_of(figure):
    data = figure.chart.to_dict()["datasets"]
    return pd.DataFrame(next(rows for rows in data.values() if "place" in rows[0])).set_index("name")


def test_the_ranking_has_a_point_for_every_entry_where_its_error_and_its_cost_are(compared):
    (figure,) = ranking_figure(compared.comparison)
    points, d = points_of(figure), decide(compared.comparison)
    assert list(points.index) == [x.names for x in d.entries]
    for x in d.entries:
        assert points["error"][x.names] == pytest.approx(1e3 * x.error, rel=1e-4)
        assert points["cost"][x.names] == pytest.approx(1e6 * x.cost, rel=1e-4)
        assert points["from"][x.names] <= points["cost"][x.names] <= points["to"][x.names]
    assert list(points.index[points["taken"]]) == [d.taken.names]
    # Names stand apart, in the order of the points.
    order = points.sort_values("error")
    assert (np.diff(np.log(order["label"])) > 0).all()
    band = next(rows for rows in figure.chart.to_dict()["datasets"].values() if "high" in rows[0])
    # Errors within a twentieth of each other tie.
    assert band[0]["high"] == pytest.approx(1e3 * (d.own + max(d.known, 0.05 * d.own)), rel=1e-4)


def test_where_friction_is_not_tested_or_nobody_is_as_good_none_is_ringed(compared):
    c = compared.comparison
    poor = c.runs.assign(path_error=c.runs["path_error"] + (c.runs["label"] != "coulomb"))
    (figure,) = ranking_figure(replace(c, runs=poor[poor["label"] != "coulomb"]))
    assert not points_of(figure)["taken"].any()
    assert "Ring" not in figure.caption


def test_what_has_no_answer_has_no_point(compared):
    c = compared.comparison
    runs = c.runs.copy()
    runs.loc[runs["label"] == "ccp", "verified"] = False
    (figure,) = ranking_figure(replace(c, runs=runs))
    assert not any("ccp" in x for x in points_of(figure).index)
    assert ranking_figure(replace(c, runs=runs.assign(path_error=0.0))) == []


def test_the_page_begins_with_the_recommendation_its_picture_and_how_sure_it_is(compared, page):
    first = headline(compared.comparison)
    assert first.price
    question = subject(compared.comparison)
    shown = [question[1:], *first.recommendation]
    shown += [x.partition(": ")[2][1:] for x in (first.confidence, first.price)]
    shown += ['id="figure-ranking"', 'id="motion"', "<table", what_is_compared(compared.comparison)]
    said = page.replace("\u00a0", " ")
    places = [said.index(x if x[0] in "<i" else str(escape(x)), said.index("<body")) for x in shown]
    assert places == sorted(places)


# Tables for other places


def saved(page, ending):
    found = re.search(rf'download="[^"]*\.{ending}" href="data:[^,]*;base64,([^"]*)"', page).group(1)
    return base64.b64decode(found).decode()


@pytest.mark.thorough
def test_the_table_is_saved_in_full_and_as_it_stands(compared, page, tmp_path):
    runs = next(iter(compared.comparison.windows.values()))
    runs = runs[~runs["sampled"]]
    rows = list(csv.DictReader(io.StringIO(saved(page, "csv"))))
    assert [float(r["velocity_error"]) for r in rows] == runs["velocity_error"].to_list()
    text = saved(page, "tex")
    head, *body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert "velocity [\\%]" in head
    assert len(body) == len(runs)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in (head, *body)} == {len(re.search(r"{(l\w+)}", text)[1]) - 1}
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    compared.save(tmp_path)
    assert (tmp_path / "errors.tex").read_text() == text
    markdown = (tmp_path / "errors.md").read_text()
    assert markdown == saved(page, "md")
    assert len({line.count(" |") for line in markdown.splitlines() if line.startswith("|")}) == 1


# The page as such


def test_no_script_runs_but_those_of_the_page(page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1).replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    digests = [base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-([^']*)'", policy) == digests
    assert "unsafe-eval" not in policy
    assert "connect-src" not in policy


def test_a_page_weighs_less_than_six_megabytes(page):
    assert len(page.encode()) < 6e6
