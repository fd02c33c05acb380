"""The page of a study, of made-up rows: the search below a bound, what is drawn, hostile names, a large study."""

import json
import re

import pandas as pd
import pytest

from workbench.builtin.reports.pages.study import render
from workbench.builtin.reports.text.study import conclusions
from workbench.comparison.columns import CASE
from workbench.comparison.result import chosen_metrics
from workbench.studies.tables import by_variant, errors_of, front

pytestmark = pytest.mark.thorough

METRICS = chosen_metrics(CASE, None)
HOSTILE = ["own:a=</script><script>throw 1</script>", "<!--<script>", "a.b[0]:'x\"", "$\\text{<img src=x>}$"]


def made(variants, points=4, given=None, steps=(1e-3,), case="wheel"):
    """Rows of variants (label, velocity error, friction error, time [s], verified) at points that differ in mu."""
    rows = [
        {"point": k, **(given(k) if given else {"mu": 0.1 * (k + 1)}), "case": case,
         "formulation": label.partition(":")[0], "label": label, "solver": "direct", "step": h, "window": "all",
         "verified": verified, "velocity_error": velocity * (1 + k) * h / steps[0], "friction_error": friction,
         "cost": 1e-3 * time}
        for k in range(points) for h in steps for label, velocity, friction, time, verified in variants
    ]  # fmt: skip
    return pd.DataFrame(rows)


def html(rows):
    varied = list(rows.columns[1 : list(rows.columns).index("case")])
    rows.attrs["columns"] = {name: {"unit": "1", "meaning": f"{name}, varied", "defined": ""} for name in varied}
    return render("a study", [], rows, METRICS, {"made": "up"})


@pytest.fixture
def opened(reader, tmp_path):
    def at(rows, **how):
        path = tmp_path / "report.html"
        path.write_text(html(rows), "utf-8")
        return reader.open(path, **how)

    return at


def drawn(text):
    return json.loads(re.search(r"^const specs = (.*);$", text, re.MULTILINE)[1])


def test_the_fastest_below_a_bound_is_found(opened):
    # Largest velocity errors over four points: 4 %, 8 %, 40 %; the last one is not verified.
    page = opened(made([("slow", 0.01, 0.5, 3e-3, True), ("quick", 0.02, 0.001, 2e-3, True),
                        ("quickest", 0.1, 0.1, 1e-3, True), ("unproved", 0.0, 0.0, 1e-4, False)]))  # fmt: skip
    found, most = page.locator("#found"), page.locator("[name=most]")
    for bound, words in (
        ("4", "slow, direct, 1 ms: 3.00 µs"), ("8", "quick, direct, 1 ms: 2.00 µs"),
        ("40.1", "quickest, direct, 1 ms: 1.00 µs"), ("3.9", "No fully verified variant"), ("", "Enter a number"),
    ):  # fmt: skip
        most.fill(bound)
        assert found.text_content().startswith(words)
    most.fill("8")
    assert found.text_content().endswith("velocity error at most 8.00 %; 2 of 4 variants are within the bound.")
    page.locator("[name=error]").select_option("friction")
    assert found.text_content().startswith("quick, direct, 1 ms: 2.00 µs a step, friction error at most 0.100 %")


def test_the_unit_follows_the_chosen_error_and_variants_are_those_of_one_case(opened):
    rows = made([("a", 0.01, 0.5, 3e-3, True)]).assign(local_velocity_error=0.2)
    other = made([("b", 0.01, 0.5, 1e-3, True)], case="other")
    page = opened(pd.concat([rows, other], ignore_index=True))
    assert page.locator("#unit").text_content() == "%"
    assert page.locator("#found").text_content().startswith("a, direct")
    page.locator("[name=case]").select_option("other")
    assert page.locator("#found").text_content().startswith("b, direct, 1 ms: 1.00 µs")


def test_figures_exist_only_where_they_have_something_to_show():
    variants = [("a", 0.01, 0.5, 3e-3, True), ("b:k=2", 0.02, 0.4, 1e-3, True)]
    plane = made(variants, given=lambda k: {"mu": k % 2, "m": k // 2}, steps=(1e-3, 5e-4))
    assert list(drawn(html(plane))) == ["over-mu", "over-m", "over-step", "map", "pareto"]
    assert list(drawn(html(made(variants)))) == ["over-mu", "pareto"]
    assert list(drawn(html(made(variants, points=1)))) == ["pareto"]
    assert list(drawn(html(made(variants, given=lambda k: {"b.k": "xy"[k % 2]})))) == ["pareto"]
    # An option is one of its formulation alone, whose variants are one curve.
    options = html(made(variants, given=lambda k: {"b.k": k}))
    assert list(drawn(options)) == ["over-b-k", "pareto"]
    values = drawn(options)["over-b-k"]["datasets"].values()
    assert {row["label"] for rows in values for row in rows} == {"b"}


@pytest.mark.parametrize(
    "rows",
    [
        made([("a", 0.01, 0.5, 3e-3, False)]), made([("a", float("nan"), float("nan"), 3e-3, True)]),
        made([("a", 0.0, 0.0, 3e-3, True)]),
    ],
    ids=["nothing verified", "no error defined", "no error at all"],
)  # fmt: skip
def test_a_study_with_nothing_to_draw_has_a_page(opened, rows):
    assert drawn(html(rows)) == {}
    assert opened(rows).locator("h2", has_text="Table").count() == 1


def test_names_are_shown_as_they_are(opened):
    rows = made([(label, 0.01, 0.5, 3e-3, True) for label in HOSTILE], steps=(1e-3, 5e-4))
    page = opened(rows.assign(case="<b>case</b>", mu="<i>x</i>"))
    cells = page.locator("table").last.locator("xpath=preceding::td[contains(@class, 'name')]").all_text_contents()
    assert set(HOSTILE) <= set(cells)
    assert page.locator("main b, main img, main i").count() == 0
    page.locator("[name=most]").fill("5")
    assert page.locator("#found").text_content().startswith(HOSTILE[0])


def test_quantities_with_dots_and_brackets_are_drawn(opened):
    page = opened(made([("a", 0.01, 0.5, 3e-3, True)], given=lambda k: {"relax.k_n": 10.0**k, "a[0]:'": k % 2}))
    assert page.locator("#figure-over-relax-k-n .mark-line path").count() >= 1
    assert page.locator("#figure-map .mark-rect.role-mark path").count() == 4


def test_a_large_study_has_a_small_page():
    variants = [(name, 0.01 * (1 + i), 0.5, 1e-3, True) for i, name in enumerate("abcde")]
    rows = made(
        variants, points=1000, given=lambda k: {"mu": k / 1000, "m": (k * 0.618) % 1}, steps=(1e-3, 5e-4, 2.5e-4, 1e-4)
    )
    assert len(rows) == 20_000
    text = html(rows)
    specs = drawn(text)
    assert len(json.dumps(specs)) < 600_000
    shown = [row for rows in specs["over-mu"]["datasets"].values() for row in rows if row["label"] == "a"]
    assert len({row["x"] for row in shown}) == 25
    assert all(0 < row["x"] < 1 for row in shown)
    assert len(max(specs["map"]["datasets"].values(), key=len)) <= 5 * 25 * 25


def test_the_table_tells_medians_and_the_worst():
    rows = made([("a", 0.01, 0.5, 3e-3, True)], points=5)
    rows.loc[4, ["verified", "cost", "velocity_error"]] = [False, 1.0, 0.5]
    (row,) = by_variant(rows, errors_of(METRICS, rows)).to_dict("records")
    assert (row["points"], row["unverified"], row["time"]) == (5, pytest.approx(0.2), pytest.approx(3e-6))
    assert (row["velocity_error_median"], row["velocity_error_worst"]) == (pytest.approx(0.03), 0.5)


def test_the_front_is_what_nothing_beats():
    table = pd.DataFrame(
        [("x", 3.0, 1.0), ("x", 1.0, 10.0), ("x", 2.0, 9.5), ("x", 1.0, 9.0), ("x", 2.0, 4.0), ("x", 5.0, 1.0),
         ("y", 9.0, 99.0), ("y", 9.5, 4.0)], columns=["case", "time", "error"],
    )  # fmt: skip
    best = front(table)
    assert list(best.itertuples(index=False, name=None)) == [
        ("x", 1.0, 9.0),
        ("x", 2.0, 4.0),
        ("x", 3.0, 1.0),
        ("y", 9.0, 99.0),
        ("y", 9.5, 4.0),
    ]


def test_tables_and_figures_are_saved(opened, reader):
    page = opened(made([("a", 0.01, 0.5, 3e-3, True), ("b", 0.02, 0.4, 1e-3, True)], steps=(1e-3, 5e-4)))
    table = page.locator(".downloads", has_text="Save the table").last.locator("a")
    saved = {path.suffix: path for path in (reader.download(page, link) for link in table.all())}
    assert set(saved) == {".csv", ".md", ".tex"}
    found = pd.read_csv(saved[".csv"])
    assert found["formulation"].tolist() == ["a", "b", "a", "b"]
    assert found["velocity error, median"].tolist() == ["2.5 %", "5 %", "1.25 %", "2.5 %"]
    assert page.locator("figure .downloads button", has_text="Save as SVG").count() == 3


def test_a_trend_over_a_sample_is_of_quarters_and_over_a_grid_of_ends():
    def said(rows):
        return conclusions(rows, METRICS)[-1]

    # Two points of a sample at whose ends something else makes the error large or small.
    sample = made([("a", 0.01, 0.5, 3e-3, True)], points=16)
    sample["velocity_error"] = [0.9, *[0.01] * 7, *[0.04] * 7, 0.0001]
    assert said(sample) == "For mu = 0.1...0.4 to 1.3...1.6 the velocity error of a changes from 1 % to 4 %."
    grid = made([("a", 0.01, 0.5, 3e-3, True)])
    assert said(grid) == "For mu = 0.1 to 0.4 the velocity error of a changes from 1 % to 4 %."
    assert said(grid.assign(velocity_error=0.2)) == "For mu = 0.1 to 0.4 no velocity error changes."


def test_the_smallest_and_the_largest_error_are_named_with_the_points():
    # b is smallest at the median, a at one point of four, and exact Coulomb friction is no competitor.
    rows = made([(x, 0.01, 0.5, 3e-3, True) for x in ("a", "b", "c", "coulomb")])
    errors = {"a": [1, 30, 40, 50], "b": [2, 3, 4, 5], "c": [99, 99, 99, 99], "coulomb": [0, 0, 0, 0]}
    rows["path_error"] = [1e-3 * errors[label][k] for label, k in zip(rows["label"], rows["point"], strict=True)]
    assert conclusions(rows, METRICS)[0] == (
        "Over all points the median motion error is smallest for b (3.5 mm; the smallest at 3 of 4 points) "
        "and largest for c (99 mm)."
    )
    not_ranked = "Exact Coulomb friction is not ranked, because errors are measured from Coulomb's law"
    own = conclusions(rows, METRICS)[2]
    assert own.startswith(f"{not_ranked}; the time step alone causes median errors of 0 mm (motion)")
    assert conclusions(rows[rows["label"] != "coulomb"], METRICS)[2] == f"{not_ranked}."
    # One point has no median, and lengths have a unit of their size.
    one = rows[rows["point"] == 0].assign(path_error=lambda x: 1e3 * x["path_error"])
    assert conclusions(one, METRICS)[0] == "The motion error is smallest for a (1 m) and largest for c (99 m)."
    # What is not verified is no answer.
    rows.loc[rows["label"] == "b", "verified"] = False
    assert "smallest for a (35 mm; " in conclusions(rows, METRICS)[0]


def test_a_caption_speaks_of_shade_only_where_there_is_one():
    rows = made([("a", 0.01, 0.5, 3e-3, True), ("b", 0.02, 0.5, 3e-3, True)], steps=(1e-3, 5e-4))
    assert "Shaded: lower to upper quartile" in html(rows)
    # One row a point has no quartiles.
    assert "Shaded" not in html(rows[rows["step"] == 1e-3].copy())


def test_no_error_is_called_an_error_twice():
    rows = made([("a", 0.01, 0.5, 3e-3, True)], steps=(1e-3, 5e-4)).assign(local_velocity_error=0.2)
    text = html(rows)
    assert "local error" in text
    assert "error error" not in text
