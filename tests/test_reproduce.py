"""Reproductions: verdicts follow from numbers, pages are whole, safe and offline, the folder matches the registry."""

import json
import pickle
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import workbench.builtin.reports.reproductions
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.sphere import Sphere
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.reproductions import (
    REPRODUCTIONS,
    _conic,
    _stick_slip,
    _wheel,
    _wheel_friction,
    cnd_17_1068,
    find_reproduction,
    idetc2016_60064,
)
from workbench.builtin.reports.reproductions.claims import (
    Check,
    Claim,
    Grid,
    Reproduction,
    Section,
    Table,
    claims_frame,
    number_text,
)
from workbench.builtin.reports.reproductions.page import make_page, make_pages, render
from workbench.builtin.reports.reproductions.selection import one_solver, row
from workbench.builtin.reports.text.mathematics import plain
from workbench.cli.main import main
from workbench.comparison.cases import compare
from workbench.comparison.jobs import Settings
from workbench.errors import WorkbenchError
from workbench.mechanics.case import Truth
from workbench.output import provenance

VERDICTS_OF_TOY = ["confirmed", "differs", "not confirmed", "confirmed in part", "not confirmed"]
TIME = pd.DataFrame({"t": [0.0, 1.0, 2.0], "label": "a <b></script>", "y": [1.0, 0.0, 100.0]})
TOY = Reproduction(
    "Toys & <b>tops</b>",
    "A. Author: “<i>”",
    "What $x < y$ means.",
    (
        Section(
            "First <em>",
            "One & two.\n\nThree,\n   with $\\frac{1}{2}$.",
            (r"|u_t| \le \mu",),
            (
                Claim("$\\mu$ is right", 0.3, 0.3),
                Claim("<script>alert(1)</script>", 1.67, 1.9, "%", 0.1, why="Because 1 < 2."),
                Claim("no number", 1.0, np.nan, "m"),
                Claim(
                    "$k$ solved",
                    0,
                    3,
                    tried=Grid("set <", "$k$ [kg]", ("1", "2", "4"), {"a <": (0, 0, 3), "b": (7, 7, 7)}),
                ),
            ),
            (Table("A <table>", ("name", "$k$"), (("x & y", 1 / 3), ("z", np.nan)), "note <"),),
            (Figure("drawn", "Curve <x>", "caption $y$", lines(TIME, "y", "y [-]", log=True)),),
        ),
        Section("Second", claims=(Check("bound", 1.0, 2.0, relation="≤", origin="theory <"),)),
    ),
)


def test_verdicts_follow_from_the_numbers():
    def verdict(expected, computed, tolerance=0.0, relation="="):
        return Claim("", expected, computed, tolerance=tolerance, relation=relation).verdict

    assert verdict(1.67, 1.73, 0.1) == "confirmed"
    assert verdict(1.67, 1.78, 0.1) == verdict(1.67, 1.56, 0.1) == "differs"
    assert verdict(1.0, 1.0) == "confirmed"
    assert verdict(1.0, np.nextafter(1.0, 2.0)) == "differs"
    assert verdict(1.0, 1.0, relation="≤") == verdict(1.0, 0.5, relation="≤") == "confirmed"
    assert verdict(1.0, 1.01, relation="≤") == "not confirmed"
    assert verdict(1.0, 1.01, 0.02, "≤") == verdict(1.0, 0.99, 0.02, "≥") == "confirmed"
    assert verdict(1.0, 0.99, relation="≥") == "not confirmed"
    for relation in ("=", "≤", "≥"):
        assert verdict(1.0, np.nan, 1e9, relation) == "not confirmed"
    assert verdict(1.0, np.inf, 1.0) == verdict(1.0, np.inf, relation="≤") == "not confirmed"


def test_a_disagreement_that_nobody_explained_says_so():
    assert Claim("", 1.0, 2.0).reason == "Not explained yet."
    assert Claim("", 1.0, 2.0, why="Rounded.").reason == "Rounded."
    assert Claim("", 1.0, 1.0).reason == ""


def test_numbers_are_printed_with_their_unit_and_relation():
    claim = Claim("", 14.0, 12.6, "°", relation="≥", form=".1f")
    assert (claim.expected_text, claim.computed_text) == ("≥ 14.0°", "12.6°")
    assert Claim("", 2.0, 1.5, "m/s").computed_text == "1.5\u202fm/s"
    assert Claim("", 2.0, np.nan).computed_text == "–"
    assert number_text(-0.0, ".1e") == "0"


def test_a_claim_tried_under_several_conditions_says_for_which_it_holds():
    def claim(*rows, relation="="):
        return Claim(
            "",
            0.0,
            rows[0][0],
            relation=relation,
            tried=Grid("s", "k", tuple("abcde"), dict(zip("ABC", rows, strict=False))),
        )

    everywhere, nowhere = (0, 0, 0, 0, 0), (1, 2, 3, 4, np.nan)
    assert (claim(everywhere).verdict, claim(everywhere).where) == ("confirmed", "")
    assert (claim(nowhere).verdict, claim(nowhere).where) == ("differs", "")
    assert claim(nowhere, relation="≤").verdict == "not confirmed"
    mixed = claim(everywhere, nowhere, (0, 0, 1, 1, 0))
    assert (mixed.verdict, mixed.where) == ("confirmed in part", "A; C (k: up to b, e)")
    assert claim((1, 0, 0, 1, 1), nowhere).where == "A (k: b to c)"
    assert claim((0, 0, 1, 1, 1), (0, 0, 2, 2, 2), (1, 1, 1, 0, 0)).where == "A · B (k: up to b); C (k: from d)"
    assert claim((1, 1, 1, 1, 0)).where == "k: e"
    # A bound.
    assert claim((-1, 0, 1, 2, 3), relation="≥").where == "k: from b"

    # A group where it holds in all of the group's settings, or else by setting; the same everywhere needs no names.
    def where(**rows):
        named = {name.replace("_", " / "): row for name, row in rows.items()}
        return Claim("", 0, next(iter(rows.values()))[0], tried=Grid("s", "k", ("a", "b"), named)).where

    assert where(A_1=(0, 0), A_2=(0, 1), B=(1, 1)) == "A (k: a)"
    assert where(A_1=(1, 0), A_2=(0, 1), B=(0, 0)) == "A / 1 (k: b); A / 2 (k: a); B"
    assert where(A_1=(1, 0), A_2=(0, 0), B=(1, 0)) == "k: b"
    with pytest.raises(ValueError, match="not among"):
        Claim("", 0.0, 5.0, tried=Grid("s", "k", ("a",), {"A": (0,)}))


def test_a_truth_of_a_case_is_a_check():
    check = Check.of(Truth("stop", 2.1, 2.0, 0.2, "s", "algebra"))
    assert (check.expected, check.computed, check.origin, check.verdict) == (2.0, 2.1, "algebra", "confirmed")
    assert check.kind == "check"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"friction up to $\mu < \mu_c$ at 5 %", "friction up to μ < μ_c at 5 %"),
        (r"$\|\Theta\| < 1/\beta_2$ holds", "‖Θ‖ < 1/β_2 holds"),
        (r"$T = -h\,\omega \times J\omega$", "T = -h ω × Jω"),
        (r"$A_{nb}^{-1} A_{tb}$ and $10^{-4}$", "A_nb^-1 A_tb and 10^-4"),
        ("no mathematics, 5 $ and 7 %", "no mathematics, 5 $ and 7 %"),
    ],
)
def test_mathematics_is_text_in_a_terminal(text, shown):
    assert plain(text) == shown


def test_the_frame_has_a_row_per_claim():
    frame = claims_frame("toy", TOY)
    first = ["paper", "kind", "section", "statement", "expected", "computed", "unit", "verdict", "where", "why"]
    assert list(frame.columns[:10]) == first
    assert list(frame["kind"]) == ["claim"] * 4 + ["check"]
    assert list(frame["verdict"]) == VERDICTS_OF_TOY
    assert list(frame["section"]) == ["First <em>"] * 4 + ["Second"]
    assert (frame["paper"] == "toy").all()


@pytest.fixture(scope="module")
def page():
    return render("toy", TOY, provenance(command="workbench reproduce toy"))


def outside_scripts(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def test_the_page_loads_nothing_from_anywhere(page):
    text = outside_scripts(page)
    assert not re.search(r"""src\s*=|@import|url\(|<link|<iframe""", text)
    assert all(target.startswith(("#", "data:")) for target in re.findall(r'href\s*=\s*"([^"]*)"', text))
    assert page.count("<script>") == page.count("</script>") == 2


def test_words_are_escaped_and_mathematics_is_drawn(page):
    text = outside_scripts(page)
    for tag in ("<b>tops", "<i>", "<em>", "<script>alert", "a <b>", "A <table>", "<x>"):
        assert tag not in text, tag
    assert "Toys &amp; &lt;b&gt;tops" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&lt;math" not in text
    assert "$" not in text
    # Lead, prose, display, claim, table, caption, and of what was tried: claim, heading, parameter, verdict.
    assert text.count("<math") == 10
    # Bars close around what they enclose.
    assert text.count('lspace="0" rspace="0">&#x0007C;') == 2
    assert text.count("<p>Three, with ") == 1


def test_every_claim_has_its_numbers_its_verdict_and_its_reason(page):
    text = outside_scripts(page)
    assert text.count("✓ confirmed") == text.count("≠ differs") == 1
    assert text.count("✗ not confirmed") == 2
    for words in ("1.67\u202f%", "1.9\u202f%", "Because 1 &lt; 2.", "≤ 1", "theory &lt;", "0.3333"):
        assert words in text, words
    # What was tried.
    assert (text.count('class="holds"'), text.count('class="fails"')) == (2, 4)
    assert "set &lt;" in text
    assert "for a &lt; (<math" in text


def test_claims_of_the_paper_are_counted_apart_from_our_own_checks(page):
    text = " ".join(re.sub(r"<[^>]*>", " ", outside_scripts(page)).split())
    assert "Claims of the paper: 1 of 4 confirmed , 1 confirmed in part , 1 differs , 1 not confirmed ." in text
    assert "Checks of our own: 0 of 1 confirmed , 1 not confirmed ." in text
    assert "expected computed" in text.partition("2. Second")[2]
    assert "published computed" in text.partition("2. Second")[0]
    assert "published computed" not in text.partition("2. Second")[2]


def test_specs_are_strict_json(page):
    spec = re.search(r"const specs = (.*?);\nadd", page, flags=re.S).group(1)
    found = json.loads(spec.replace("<\\/", "</"), parse_constant=lambda name: pytest.fail(f"{name} in a figure"))
    assert list(found) == ["drawn"]


def test_a_browser_draws_the_figure(page, tmp_path, reader):
    path = tmp_path / "toy.html"
    path.write_text(page, "utf-8")
    assert reader.open(path).locator("#figure-drawn svg path").count() > 0


def test_a_page_without_figures_carries_no_drawing_library():
    assert len(render("plain", Reproduction("T", "S", "L", (Section("only"),)), provenance())) < 20_000


# The registry and the command line


def test_every_reproduction_in_the_folder_is_registered_and_the_other_way_round():
    folder = Path(workbench.builtin.reports.reproductions.__file__).parent
    found = {path.stem for path in folder.glob("*.py") if "\ndef reproduce(" in path.read_text("utf-8")}
    assert {name.replace("-", "_") for name in REPRODUCTIONS} == found
    assert len(set(REPRODUCTIONS)) == len(REPRODUCTIONS)
    assert all(callable(find_reproduction(name)) for name in REPRODUCTIONS)


@pytest.fixture
def toys(monkeypatch):
    """Two toy papers in place of the real ones, in this process."""
    for name in ("toy", "toy_two"):
        module = ModuleType(name)
        module.reproduce = lambda progress: progress("toys", 0, 1) or TOY
        monkeypatch.setitem(sys.modules, f"workbench.builtin.reports.reproductions.{name}", module)
    monkeypatch.setattr("workbench.builtin.reports.reproductions.REPRODUCTIONS", ("toy", "toy-two"))
    monkeypatch.setattr("os.cpu_count", lambda: 1)


def test_one_page_with_its_claims_and_provenance(toys, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "toy", "toy"]) == 0
    out = tmp_path / "toy-reproduction"
    assert {p.name for p in out.iterdir()} == {"toy.html", "claims.csv", "provenance.json"}
    assert len(pd.read_csv(out / "claims.csv")) == 5
    facts = json.loads((out / "provenance.json").read_text())
    assert facts["command"] == "workbench reproduce toy toy"
    assert list(facts["seconds"]) == ["toy"]
    text = capsys.readouterr().out
    assert "toy: 1 of 4 claims of the paper confirmed; 0 of 1 checks of our own" in text
    assert "<script>alert(1)</script>" in text
    assert text.rstrip().endswith("toy.html")


def test_all_pages_with_an_index_that_links_them(toys, tmp_path, capsys):
    assert main(["reproduce", "--all", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == {"toy.html", "toy-two.html", "index.html", "claims.csv", "provenance.json"}
    index = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert re.findall(r'href="([^"]*)"', index) == ["toy.html", "toy-two.html"]
    assert "Toys &amp; &lt;b&gt;" in index
    assert list(pd.read_csv(tmp_path / "out" / "claims.csv")["paper"]) == ["toy"] * 5 + ["toy-two"] * 5


def test_json_prints_the_claims(toys, tmp_path, capsys):
    assert main(["reproduce", "toy", "--json", "--out", str(tmp_path)]) == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert [r["verdict"] for r in rows] == VERDICTS_OF_TOY
    assert [r["kind"] for r in rows] == ["claim"] * 4 + ["check"]
    assert rows[2]["computed"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "idetc2016"], ["idetc2016", *REPRODUCTIONS]),
        (["reproduce", REPRODUCTIONS[0], "nothing"], ["nothing", *REPRODUCTIONS]),
        (["reproduce"], ["names", "--all", *REPRODUCTIONS]),
        (["reproduce", "--all", REPRODUCTIONS[0]], ["names", "--all"]),
        (["reproduce", REPRODUCTIONS[0], "--out", "file"], ["file", "folder"]),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.strip().split("\n"))) == ("", 1)
    assert all(word in err for word in words), err
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_page_that_fails_leaves_nothing(toys, tmp_path, monkeypatch):
    def broken(progress):
        raise WorkbenchError("no")

    monkeypatch.setattr(sys.modules["workbench.builtin.reports.reproductions.toy_two"], "reproduce", broken)
    assert main(["reproduce", "--all", "--out", str(tmp_path / "out"), "--quiet"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_pages_come_in_the_order_asked_for_and_report_their_progress(toys):
    heard = []
    pages = make_pages(["toy-two", "toy"], provenance(), lambda *said: heard.append(said))
    assert [page.name for page in pages] == ["toy-two", "toy"]
    assert heard == [("toys", 0, 1)] * 2
    # Pages travel between processes.
    assert pickle.loads(pickle.dumps(pages[0])).html == pages[0].html
    assert pages[0].counts == {
        "claim": {"confirmed": 1, "confirmed in part": 1, "differs": 1, "not confirmed": 1},
        "check": {"confirmed": 0, "confirmed in part": 0, "differs": 0, "not confirmed": 1},
    }


def test_pages_made_side_by_side_come_in_order_too(toys, monkeypatch):
    heard, second_is_done = [], Event()

    def last(progress):
        assert second_is_done.wait(60)
        return TOY

    monkeypatch.setattr(sys.modules["workbench.builtin.reports.reproductions.toy_two"], "reproduce", last)
    monkeypatch.setattr("workbench.builtin.reports.reproductions.page.processes", ThreadPoolExecutor)

    def hear(*said):
        heard.append(said)
        if said[0] == "toy":
            second_is_done.set()

    pages = make_pages(["toy-two", "toy"], provenance(), hear, workers=2)
    assert [page.name for page in pages] == ["toy-two", "toy"]
    assert [said[1:] for said in heard] == [(0, 2), (1, 2), (2, 2)]
    assert [said[0] for said in heard[1:]] == ["toy", "toy-two"]


# What the pages compute


@pytest.fixture(scope="module")
def short():
    return _wheel.compared((coulomb, anitescu_potra, box_friction), 0.3)


def test_one_solver_is_left_for_each_formulation_and_it_is_verified(short):
    assert len(short.runs) == 3 * 2
    assert short.runs["verified"].all()
    assert set(short.trajectories["role"]) == {"run", "reference"}
    per_run = short.trajectories[short.trajectories["role"] == "run"].groupby("label")["solver"].nunique()
    assert (per_run == 1).all()
    unsolved = compare(Wheel(), [box_friction], coulomb, ["lemke"], Settings((1e-3,), 1e-3, 0.01))
    with pytest.raises(WorkbenchError, match=r"no verified run of box on wheel"):
        one_solver(unsolved)


def test_what_the_wheel_page_computes_step_by_step_is_what_the_comparison_says(short):
    for f in (coulomb, anitescu_potra, box_friction):
        deviation = 100 * np.sqrt(_wheel_friction.squares(short, f).mean())
        assert deviation == pytest.approx(_wheel.percent(short, f), rel=1e-9, abs=1e-12)
        angle = _wheel_friction.angle_below(short, f, Wheel().v_th)
        assert angle == pytest.approx(row(short, f)["misalignment_rms"], rel=1e-9, abs=1e-9)


def test_sticking_ends_on_coulombs_disc_where_the_axes_are_turned_to_the_push():
    for angle in (10.0, 45.0, 130.0):
        assert _stick_slip.size(_stick_slip.RIGID, angle) == pytest.approx(1.0, abs=2e-7)
        # Otherwise on a square, turned to the last force or not at all.
        c, s = np.abs(_stick_slip.towards(angle))
        assert _stick_slip.size(box_friction, angle) == pytest.approx(1 / max(c, s), abs=2e-7)
        aside = _stick_slip.size(_stick_slip.RIGID, angle, 20.0)
        assert aside == pytest.approx(1 / np.cos(np.radians(20.0)), abs=2e-7)


def test_sliding_friction_follows_a_velocity_that_turns_a_little():
    friction, u = _stick_slip.step(_stick_slip.RIGID, _stick_slip.across(0.05), 1.0)
    assert friction[0] == pytest.approx(-1.0, abs=1e-12)
    assert u[1] > 0.04
    np.testing.assert_allclose(friction[1] / friction[0], u[1] / u[0], rtol=5e-3)


def test_the_bristle_cures_redundant_friction():
    assert {c.verdict for c in idetc2016_60064.redundancy().claims} == {"confirmed"}


@pytest.mark.parametrize("kind", [Sphere, Block])
def test_the_first_step_of_the_ccp_from_zero_gap_in_closed_form(kind):
    rng = np.random.default_rng(3)
    for _ in range(5):
        case = kind(
            mu=rng.uniform(0.05, 0.9), speed=rng.uniform(1, 9), m=rng.uniform(0.1, 5), gravity=rng.uniform(1, 20)
        )
        h = rng.uniform(1e-4, 5e-3)
        r = cnd_17_1068.run(case, h, duration=h)
        after, impulse = cnd_17_1068.first_step(case, h)
        assert cnd_17_1068.slip(r)[0] == pytest.approx(after, rel=1e-10)
        assert r.p_n[0, 0] == pytest.approx(impulse, rel=1e-10)


def test_the_impulses_of_the_redundant_box_lie_in_their_range():
    for v in ((0.0, 0.0, 0.0), (1.0, -0.4, 0.0)):
        velocities, impulses = _conic.reordered(v)
        least, most = _conic.normal_range(_conic.box_on_corners(v), velocities[0]).T
        assert np.ptp(velocities, axis=0).max() <= 1e-10
        assert (impulses >= least - 1e-8).all()
        assert (impulses <= most + 1e-8).all()


def test_the_page_of_the_ccp_explains_what_it_does_not_confirm():
    made = make_page("cnd-17-1068", provenance(), lambda *_: None)
    open_ones = made.claims[made.claims["verdict"] != "confirmed"]
    assert list(open_ones["section"]) == [
        "A sliding contact lifts off",
        "Started at its own gap, it slides like Coulomb",
    ]
    assert (open_ones["why"] != "Not explained yet.").all()
    # The frame's verdicts once more from its own columns, by other code.
    sign = made.claims["relation"].map({"=": 0, "≤": 1, "≥": -1})
    off = made.claims["computed"] - made.claims["expected"]
    within = np.where(sign == 0, off.abs(), sign * off) <= made.claims["tolerance"]
    assert list(within) == list(made.claims["verdict"] == "confirmed")
    assert sum(kind["confirmed"] for kind in made.counts.values()) >= 36
