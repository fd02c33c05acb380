"""Scenes on the command line and on disk: a model's file in, tables and a page out, errors in one line."""

import contextlib
import html
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.scenes import Balls
from tests.tables import TIMES
from workbench.builtin.reports.figures.scenes import figures_of_scene
from workbench.builtin.reports.text.headline import headline
from workbench.cli.main import main
from workbench.comparison import saved
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.output import write_json

pytestmark = pytest.mark.thorough

pytest.importorskip("mujoco")
BOX = """<mujoco model="box">
  <option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" friction="0.1"/>
    <body name="crate" pos="0 0 .1"><freejoint/><geom name="foot" type="box" size=".1 .1 .1" friction="0.3"/></body>
  </worldbody>
  <keyframe><key name="thrown" qpos="0 0 .1 1 0 0 0" qvel="1 0 0 0 0 0"/></keyframe>
</mujoco>"""


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A comparison by the command line: its folder and what was printed."""
    folder = tmp_path_factory.mktemp("scene")
    (folder / "box.xml").write_text(BOX)
    out = folder / "out"
    words = ["--key", "thrown", "--duration", "0.024", "--reference-step", "5e-4", "--out", str(out), "--json"]
    rows = ["-f", "coulomb", "-f", "ccp", "-f", "engine:mujoco"]
    rows += ["--solver", "blocks-exact"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["compare", str(folder / "box.xml"), *rows, *words]) == 0
    return out, printed.getvalue()


def test_a_model_is_compared_with_the_engine(made):
    out, printed = made
    rows = {row["label"]: row for row in json.loads(printed)}
    assert list(rows) == ["coulomb", "ccp", "engine:mujoco"]
    assert all(row["verified"] for row in rows.values())
    assert {row["step"] for row in rows.values()} == {0.004}
    # A sliding box is lifted under the cone problem, and goes in under MuJoCo's springs.
    assert rows["ccp"]["body_position_error"] > rows["coulomb"]["body_position_error"]
    assert rows["engine:mujoco"]["body_penetration"] > 1e-5 > rows["coulomb"]["body_penetration"]
    assert {row["first_pair"] for row in rows.values()} == {"crate–world"}
    assert rows["coulomb"]["first_contact"] == rows["ccp"]["first_contact"] == 0.0
    # The box, 0.2 m wide, slides at 1 m/s and decelerates by mu g.
    slid = 0.024 - 0.5 * 0.3 * 9.81 * 0.024**2
    for row in rows.values():
        assert row["body_size"] == pytest.approx(0.2)
        assert row["path_length"] == pytest.approx(slid, rel=1e-3)
    # A soft contact has no force before it has gone in.
    assert rows["engine:mujoco"]["first_contact"] in (0.0, 0.004)
    page = (out / "report.html").read_text("utf-8")
    for words in ("Errors by body", "engine:mujoco", "crate", "mj_step of MuJoCo"):
        assert words in page
    for name in (
        "bodies.csv",
        "bodies.parquet",
        "timeline.csv",
        "timeline.parquet",
        "runs.csv",
        "motion.npz",
        "provenance.json",
    ):
        assert (out / name).is_file()


def test_a_saved_comparison_is_reported_again(made):
    out, _ = made
    found = wb.report(out)
    assert found.comparison.scene.bodies == ("crate",)
    assert found.frames["bodies"].attrs["columns"]["growth"]["unit"] == "1"
    # The engine tells its contacts too.
    touching = found.frames["timeline"].groupby(["role", "label"])[["body", "other"]].first()
    assert (touching == ["crate", "world"]).all(axis=None)
    assert [label for role, label in touching.index if role == "run"] == ["ccp", "coulomb", "engine:mujoco"]
    assert "crate" in found.html()


SLIDES = dict(positions=[[0, 0, 0.1], [0, 0.5, 0.11]], velocities=[[1, 0.3, 0], [0.5, 0, 0]])


def slid(folder, *formulations, scene=SLIDES, **given):
    """A comparison on disk, without its page."""
    settings = dict(steps=6e-3, reference_step=1e-3, duration=0.024) | given
    found = wb.compare(Balls(**scene), formulations, **settings)
    folder.mkdir()
    saved.save(found.comparison, folder)
    write_json(folder / "provenance.json", found.facts)
    return found


@pytest.fixture(scope="module")
def ccp(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "ccp"
    slid(folder, "ccp")
    return folder


def test_saved_comparisons_of_a_scene_make_one_page(tmp_path):
    """The page of both is that of what was compared at once; of a run that both have the newer is taken."""
    whole = slid(tmp_path / "whole", "coulomb", "ccp", "mujoco").comparison
    parts = [tmp_path / "one", tmp_path / "two"]
    # What is stepped beyond what is compared makes no difference.
    slid(parts[0], "coulomb", "ccp"), slid(parts[1], "ccp", "mujoco", duration=0.025)
    found = wb.report(parts).comparison
    assert ["1 run is in" in x for x in found.remarks] == [True]
    for name in ("runs", "trajectories", "bodies", "timeline"):
        here, there = (getattr(c, name).reset_index(drop=True) for c in (found, whole))
        dropped = [*TIMES, "clipped"] if name == "runs" else []
        here, there = (x.drop(columns=dropped, errors="ignore") for x in (here, there))
        pd.testing.assert_frame_equal(here, there)
    assert found.scene == whole.scene
    for x, y in zip(found.motion.tracks, whole.motion.tracks, strict=True):
        assert (x.label, x.role) == (y.label, y.role)
        np.testing.assert_array_equal(x.position, y.position)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(duration=0.018), "compared up to 0.018 s instead of 0.024 s; --duration 0.018 makes both the same"),
        (dict(reference_step=5e-4), "reference step 0.0005 instead of 0.001"),
        (dict(scene=SLIDES | {"mu": 0.6}), "the exact solutions differ, as those of a changed model"),
        (dict(scene={"positions": [[0, 0, 0.1]], "velocities": [[1, 0, 0]]}), "the model's bodies differs"),
    ],
)
def test_comparisons_of_other_scenes_or_times_make_no_page(change, words, ccp, tmp_path):
    slid(tmp_path / "other", "ccp", **change)
    with pytest.raises(DataError, match=re.escape(words)):
        wb.report([ccp, tmp_path / "other"])


def test_engines_of_saved_comparisons_stay(made, tmp_path):
    """Beside those of a comparison without any, at another step."""
    model = made[0].parent / "box.xml"
    words = ["--key", "thrown", "--duration", "0.024", "--reference-step", "5e-4", "--step", "8e-3"]
    assert main(["compare", str(model), "-f", "box", *words, "--quiet", "--out", str(tmp_path / "box")]) == 0
    assert main(["report", str(tmp_path / "box"), str(made[0]), "--quiet", "--out", str(tmp_path / "both")]) == 0
    found = wb.report(tmp_path / "both").comparison
    assert list(found.runs["label"]) == ["box", "coulomb", "ccp", "engine:mujoco"]
    assert list(found.scene.engines) == ["engine:mujoco"]
    assert set(found.bodies["label"]) == set(found.runs["label"])


def test_a_comparison_has_slides(made, tmp_path):
    """A question with its answer, the motion, every figure, every formulation, and all that the page says."""
    found = wb.report(made[0])
    text = html.unescape(found.slides(tmp_path / "slides.html").read_text("utf-8")).replace("\xa0", " ")
    title, motion, *slides = re.findall("<section>.*?</section>", text, re.DOTALL)
    assert "<h1>box: which contact formulation?</h1>" in title
    answer, *others = (str(words) for words in headline(found.comparison).sentences)
    assert answer in title
    assert all(words in text for words in others)
    assert 'id="motion"' in motion
    shown = [f'id="figure-{f.name}"' for f in figures_of_scene(found.comparison)]
    assert [x for slide in slides for x in shown if x in slide] == shown
    assert [f"<h2>{x}</h2>" in slide for x, slide in zip(("coulomb", "ccp"), slides[-2:], strict=True)] == [True, True]


def test_the_chart_of_error_against_cost_names_every_row_on_a_telephone_too(made, reader):
    page = reader.open(made[0] / "report.html", width=360)
    page.wait_for_selector("#figure-ranking svg")
    words = page.locator("#figure-ranking svg text").all_text_contents()
    assert [sum(x.startswith(f"{name}\u2002") for x in words) for name in ("coulomb", "ccp")] == [1, 1]
    assert "solver time per step" in words
    assert any(re.fullmatch(r"[\d.]+ [µm]?s", x) for x in words)
    assert any(re.fullmatch(r"[\d.]+ mm", x) for x in words)


def test_the_formulation_below_the_reference_is_chosen(made, reader):
    page = reader.open(made[0] / "report.html", width=1000)
    page.wait_for_selector("#figure-timeline svg")
    choice = page.locator("#contacts select")
    for label in ("ccp", "engine:mujoco"):
        choice.select_option(label)
        page.wait_for_function(
            "x => [...document.querySelectorAll('#figure-timeline svg text')].some(y => y.textContent === x)", arg=label
        )
        words = page.locator("#figure-timeline svg text").all_text_contents()
        assert {"reference", "crate–world", label} <= set(words)
        assert not {"ccp", "engine:mujoco"} - {label} & set(words)


def test_damaged_bodies_are_one_line(made, tmp_path):
    out, _ = made
    for path in out.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "bodies.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"bodies\.parquet"):
        wb.report(tmp_path)


def test_values_of_the_model_are_set(box):
    found = wb.scene(box, {"geom/foot.friction": 0.4}, key="thrown")
    q, v = found.start()
    assert v[0] == 1
    assert found.instant(q, v, 0.0, 1e-3).mu.tolist() == [1.0, 0.4, 0.4] * 4


def test_a_scene_is_shown(box, capsys):
    assert main(["show", str(box)]) == 0
    said = capsys.readouterr().out
    assert "1 moving body" in said
    assert "4 with sliding friction" in said
    assert "crate" in said
    frame = wb.show(box).frame
    assert frame["against"].tolist() == ["the ground"] * 4
    assert frame["mu"].tolist() == [0.3] * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "BOX", "--relax", "rigid"], "--relax is for cases; box.xml is a scene"),
        (["compare", "BOX", "--time-limit", "3"], "--time-limit is for files"),
        (["compare", "wheel", "--key", "home"], "--key is for scenes; wheel is a case"),
        (["compare", "BOX", "--solver", "lemk"], "unknown solver 'lemk'"),
        (["compare", "BOX", "--key", "home"], "no keyframe 'home'; it has thrown"),
        (["compare", "BOX", "--set", "geom/foot.friction"], "give NAME=VALUE"),
        (["compare", "BOX", "-f", "engine:bullet"], "unknown engine 'engine:bullet'"),
        (["compare", "BOX", "-f", "engine:mujoco,stiff=1"], "'stiff=1' is not an option"),
        (["compare", "BOX", "-f", "engine:mujoco,timeconst=fast"], "timeconst=fast is not a number"),
        (["compare", "BOX", "--step", "4e-3", "--reference-step", "3e-3"], "; 0.002 s divides it; give that"),
        (["compare", "BOX", "--duration", "1e-4"], "at least one step"),
        (["compare", "nothing.xml"], "nothing.xml is not a file"),
        (["compare", "hopper", "--key", "home"], "no keyframes"),
        (["compare", "hopper", "--set", "N=100000"], "GB, more than 4"),
        (["compare", "hopper", "--set", "N=abc"], "N=abc: 'abc' is not a number"),
        (["compare", "hoper"], "unknown case or scene 'hoper'; did you mean 'hopper'?"),
        (["flow", "hopper", "--set", "N"], "give NAME=NUMBER"),
        (["show", "BOX", "--latex"], "--latex is for formulations"),
    ],
)
def test_bad_options_are_one_line(words, message, box, tmp_path, capsys):
    out = ["--out", str(tmp_path / "out")] if words[0] == "compare" else []
    assert main([str(box) if x == "BOX" else x for x in words] + out) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_is_for_cases_is_refused_in_python():
    with pytest.raises(WorkbenchError, match="normal is for cases"):
        wb.compare(Balls([[0, 0, 0.1]], [[0, 0, 0]]), normal="moreau")
    for verb, what in ((wb.compare, Balls([[0, 0, 0.1]], [[0, 0, 0]])), (wb.compare, "wheel"), (wb.study, "wheel")):
        with pytest.raises(TypeError, match="'stepz' is no setting of a comparison; known: steps, "):
            verb(what, "box", stepz=1e-3)
    for name, kind in (("steps", "cases and scenes"), ("scheme", "cases")):
        with pytest.raises(WorkbenchError, match=f"{name} is for {kind}; leave it out here"):
            wb.compare(FrictionProblem(np.eye(3), -np.ones(3), np.array([0.5]), 2), "coulomb", **{name: "midpoint"})
    with pytest.raises(WorkbenchError, match="is a scene already"):
        wb.scene(Balls([[0, 0, 0.1]], [[0, 0, 0]]), key="home")
    with pytest.raises(WorkbenchError, match="steps models from files"):
        wb.compare(Balls([[0, 0, 0.1]], [[0, 0, 0]]), "engine:mujoco")
