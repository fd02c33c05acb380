"""Comparisons on disk: the page from a folder is the one that was written, several make one, and none is believed."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.tables import TIMES
from tests.test_file_comparison import redundant
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.reports.pages.comparison import render
from workbench.cli.main import main
from workbench.comparison import saved
from workbench.comparison.motion import DrawnMotion
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.output import write_json

pytestmark = pytest.mark.thorough

FORMULATIONS = ["box", "coulomb"]
EVIL = "</script></title><img src=x onerror=alert(1)>"
OWN = """
from typing import ClassVar
from dataclasses import dataclass
import numpy as np
from workbench import Case, Truth, quantity
from workbench.mechanics.sketch import Arrow, Disc, Line, Outline

print("run")

@dataclass(frozen=True)
class Slab(Case):
    name: ClassVar = "slab"
    size: ClassVar = (2, 0, 1, 1)
    duration: ClassVar = 0.02
    mass: float = quantity(2.0, "kg", "mass", "positive")

    def mechanics(self, q, v):
        return dict(M=self.mass * np.eye(2), f=[0, -9.81 * self.mass], J_n=[[0, 1]], J_t=[[1, 0]], phi=[q[1]], mu=[0.5])

    def start(self):
        return np.zeros(2), np.array([1.0, 0.0])

    def centre(self, q):
        return np.stack([q[..., 0], 0 * q[..., 0], q[..., 1]], axis=-1)

    def energy(self, q, v):
        return 0.5 * self.mass * (v**2).sum(-1) + 9.81 * self.mass * q[..., 1]

    def truths(self, reference):
        return [Truth("a <b>", np.inf, float(reference.t[-1]), 1e-3, "s", "a test")]

    def sketch(self):
        return [Outline([(0, 0), (1, 0), (1, 1)]), Line([(-1, 0), (2, 0)]), Disc((0, 0.5), 0.1),
                Arrow((0, 0), (1, 0.3), "v<0>")]
"""


def wheel(formulations=FORMULATIONS, **options):
    return wb.compare("wheel", formulations, **{"duration": 0.02, "steps": (1e-3, 2e-3)} | options)


@pytest.fixture(scope="module")
def whole():
    return wheel()


@pytest.fixture(scope="module")
def folders(whole, tmp_path_factory):
    """What `whole` has, once more in three parts."""
    place = tmp_path_factory.mktemp("runs")
    parts = {"one": ("box", 1e-3), "two": ("coulomb", 1e-3), "three": (FORMULATIONS, 2e-3)}
    for name, (formulations, steps) in parts.items():
        part = wheel(formulations, steps=steps)
        (place / name).mkdir()
        saved.save(part.comparison, place / name)
        write_json(place / name / "provenance.json", part.facts)
    whole.save(place / "whole")
    return place


@pytest.fixture
def copy(folders, tmp_path):
    """A folder that a test may damage."""
    return Path(shutil.copytree(folders / "whole", tmp_path / "copy"))


def timeless(c):
    return replace(c, runs=c.runs.assign(**dict.fromkeys(TIMES, 0.0)))


def changed(folder, file, change):
    """A JSON file of a folder after `change` was made to it."""
    data = json.loads((folder / file).read_text("utf-8"))
    change(data)
    write_json(folder / file, data)


def outside_scripts(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def but_for_provenance(page):
    start, end = page.index("<h2>Provenance</h2>"), page.index("<script>")
    assert end > start
    return re.sub('<meta name="date"[^>]*>', "", page[:start]) + page[end:]


@pytest.mark.thorough
def test_a_page_from_disk_is_the_page_that_was_written(folders):
    found = wb.report(folders / "whole")
    assert but_for_provenance(found.html()) == but_for_provenance((folders / "whole/report.html").read_text("utf-8"))
    assert found.comparison.remarks == ()


def test_frames_come_back_with_their_units(whole, folders):
    found = wb.report(folders / "whole")
    for name, frame in whole.frames.items():
        pd.testing.assert_frame_equal(found.frames[name], frame)
        assert found.frames[name].attrs == frame.attrs
        # Other programs have the units from the file itself.
        assert pd.read_parquet(folders / f"whole/{name}.parquet").attrs["columns"] == frame.attrs["columns"]


@pytest.mark.thorough
def test_a_page_of_a_file_is_made_again_too(tmp_path):
    found = wb.compare(redundant(1), ["box", "coulomb", "ccp"])
    found.save(tmp_path / "file")
    again = wb.report(tmp_path / "file")
    assert but_for_provenance(again.html()) == but_for_provenance((tmp_path / "file/report.html").read_text("utf-8"))
    # What is made again is saved as it was, and can be made again.
    (tmp_path / "twice").mkdir()
    saved.save(again.comparison, tmp_path / "twice")
    assert (tmp_path / "twice/comparison.json").read_bytes() == (tmp_path / "file/comparison.json").read_bytes()


@pytest.mark.thorough
def test_a_case_of_ones_own_is_shown_without_running_its_code(tmp_path, capsys):
    (tmp_path / "own.py").write_text(OWN)
    wb.compare(f"{tmp_path}/own.py:Slab", ["coulomb"]).save(tmp_path / "slab")
    assert "run" in capsys.readouterr().out
    (tmp_path / "own.py").unlink()
    found = wb.report(tmp_path / "slab")
    assert but_for_provenance(found.html()) == but_for_provenance((tmp_path / "slab/report.html").read_text("utf-8"))
    page = outside_scripts(found.html())
    assert all(f"<{x} " in page for x in ("polygon", "polyline", "circle", "line"))
    assert "v&lt;0&gt;" in page
    assert "a &lt;b&gt;</td><td>inf s</td>" in page
    assert "run" not in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.parametrize("names", [["one", "two", "three"], ["three", "two", "one"]])
def test_parts_make_the_whole(whole, folders, names):
    parts = wb.report([folders / name for name in names]).comparison
    if names[0] == "one":
        for name in (*saved.FRAMES, "onward"):
            pd.testing.assert_frame_equal(getattr(timeless(parts), name), getattr(timeless(whole.comparison), name))
        facts = whole.facts
        assert render(timeless(parts), facts) == render(timeless(whole.comparison), facts)
        moves, moved = parts.motion, whole.comparison.motion
        assert [(x.label, x.step) for x in moves.tracks] == [(x.label, x.step) for x in moved.tracks]
        rows = np.searchsorted(moved.t, moves.t)
        for x, y in zip(moves.tracks, moved.tracks, strict=True):
            np.testing.assert_array_equal(x.force, y.force[rows])
            np.testing.assert_array_equal(x.position, y.position[rows])
    assert parts.settings.steps == ((1e-3, 2e-3) if names[0] == "one" else (2e-3, 1e-3))
    assert set(parts.runs["label"]) == set(FORMULATIONS)
    assert len(parts.runs) == len(whole.runs)
    assert len(parts.trajectories) == len(whole.trajectories)


def test_of_a_run_that_is_there_twice_the_newer_is_shown_and_that_is_said(folders, copy):
    def later(facts):
        facts["created"] = "2999-01-01T00:00:00+00:00"

    changed(copy, "provenance.json", later)
    runs = pd.read_parquet(copy / "runs.parquet")
    runs["solve_time"] = 77.0
    runs.to_parquet(copy / "runs.parquet", index=False)
    for order in ([copy, folders / "one"], [folders / "one", copy]):
        c = wb.report(order).comparison
        assert (c.runs["solve_time"] == 77.0).all()
        assert not c.runs.duplicated(["label", "solver", "step", "window"]).any()
        assert len(c.trajectories) == len(pd.read_parquet(copy / "trajectories.parquet"))
        (remark,) = c.remarks
        assert str(copy) in remark
        assert "2999" in remark
    assert remark in wb.report(order).html().replace("&#39;", "'")


def other_parameter(content):
    content["case"]["parameters"]["mu"] = 0.25


def other_reference(content):
    content["settings"]["reference_step"] = 5e-5


def other_declaration(content):
    content["mathematics"][0]["relations"][0] += "x"


def other_metrics(content):
    content["metrics"].pop()


def other_case(content):
    content["name"] = "cube"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (other_parameter, "mu 0.25 instead of 0.3"), (other_reference, "reference step 5e-05 instead of 0.0001"),
        (other_declaration, "another declaration of box"), (other_metrics, "in one of them alone"),
        (other_case, "case cube instead of case wheel"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_by_what_differs(folders, copy, change, words):
    changed(copy, "comparison.json", change)
    with pytest.raises(DataError, match=words) as said:
        wb.report([folders / "one", copy])
    assert str(copy) in str(said.value)
    assert "\n" not in str(said.value)


def test_another_exact_solution_is_refused(folders, copy):
    steps = pd.read_parquet(copy / "trajectories.parquet")
    row = steps.index[(steps["role"] == "reference") & (steps["p_n"] > 0)][0]
    steps.loc[row, "p_n"] = np.nextafter(steps.loc[row, "p_n"], 1.0)
    attrs, steps.attrs = steps.attrs, {}
    assert attrs
    steps.to_parquet(copy / "trajectories.parquet", index=False)
    with pytest.raises(DataError, match="the exact solutions differ"):
        wb.report([folders / "one", copy])


def test_versions_of_what_computes_must_agree(folders, copy):
    changed(copy, "provenance.json", lambda facts: facts["versions"].update(altair="1.0"))
    assert len(wb.report([folders / "one", copy]).runs)
    changed(copy, "provenance.json", lambda facts: facts["versions"].update(numpy="1.0"))
    with pytest.raises(DataError, match=r"version of numpy 1.0 instead of \d"):
        wb.report([folders / "one", copy])


FILES = (
    "comparison.json",
    "motion.npz",
    "provenance.json",
    "runs.parquet",
    "trajectories.parquet",
    "diagnostics.parquet",
)


@pytest.mark.parametrize("file", FILES)
def test_what_is_damaged_is_refused_in_one_line(copy, file):
    content = (copy / file).read_bytes()
    for damaged in (b"", content[: len(content) // 2], content[len(content) // 3 :], b"\xff" * 40, b"[" * 100_000):
        (copy / file).write_bytes(damaged)
        with pytest.raises(DataError, match=re.escape(file)) as said:
            wb.report(copy)
        assert "\n" not in str(said.value)
        assert len(str(said.value)) < 600
    (copy / file).unlink()
    with pytest.raises(DataError, match=re.escape(file)):
        wb.report(copy)


def test_another_format_is_refused_and_says_what_to_do(copy):
    changed(copy, "comparison.json", lambda content: content.update(version=0))
    with pytest.raises(DataError, match=f"has format 0, and this workbench reads {saved.VERSION}; run compare again"):
        wb.report(copy)
    changed(copy, "comparison.json", lambda content: content.update(format="something else"))
    with pytest.raises(DataError, match="is not a saved comparison"):
        wb.report(copy)


def test_runs_of_another_comparison_are_refused(folders, copy):
    shutil.copy(folders / "two/comparison.json", copy)
    with pytest.raises(DataError, match="are of different comparisons"):
        wb.report(copy)


def said(data):
    """The same data with markup in the place of every text that no other text has to agree with."""
    if isinstance(data, dict):
        kept = ("name", "formulation", "label", "shown", "part", "unit", "of", "section_axes")
        return {key: x if key in kept else said(x) for key, x in data.items()}
    if isinstance(data, list):
        return [said(x) for x in data]
    return rf"\text{{{EVIL}}}" if isinstance(data, str) else data


def test_markup_in_a_file_stays_text(copy):
    content = json.loads((copy / "comparison.json").read_text("utf-8"))
    texts = ("formulations", "metrics", "mathematics", "truths")
    content |= {key: said(content[key]) for key in texts} | {"name": EVIL, "remarks": [EVIL]}
    content["case"] |= {"description": EVIL, "source": EVIL}
    content["case"]["shapes"].append({"kind": "Arrow", "tail": [0, 0], "head": [1, 1], "label": EVIL})
    evil = f"box:{EVIL}"
    for kind in ("formulations", "mathematics"):
        content[kind][0]["label"] = evil
    write_json(copy / "comparison.json", content)
    for name in saved.FRAMES:
        frame = pd.read_parquet(copy / f"{name}.parquet")
        names = {column: EVIL for column in ("reason", "notes", "witness", "verdict") if column in frame}
        frame.assign(label=frame["label"].replace("box", evil), **names).to_parquet(copy / f"{name}.parquet")
    motion = DrawnMotion.load(copy / "motion.npz")
    tracks = tuple(replace(x, label=x.label.replace("box", evil), solver=EVIL) for x in motion.tracks)
    bodies = tuple(replace(x, name=EVIL) for x in motion.bodies)
    replace(motion, tracks=tracks, bodies=bodies).save(copy / "motion.npz")
    page = wb.report(copy).html()
    # Within scripts nothing may close them.
    assert page.count("<script>") == page.count("</script>") == 2
    assert "<img" not in outside_scripts(page)
    assert outside_scripts(page).count("&lt;img") > 50


@pytest.mark.parametrize("value", [None, [], {}, -1, "x", 10**400, {"not finite": "nan"}, [[[]]]])
def test_wrong_values_are_refused_in_one_line(copy, value):
    whole = json.loads((copy / "comparison.json").read_text("utf-8"))
    for way, last in (
        ((), "settings"), (("settings",), "relaxation"), (("settings", "relaxation"), "k_n"), ((), "name"),
        (("metrics", 0), "column"), (("case", "shapes"), 0),
        (("case", "shapes", 0), "points"), (("mathematics", 0), "sets"), ((), "truths"),
        (("formulations", 0), "options"),
    ):  # fmt: skip
        content = json.loads(json.dumps(whole))
        at = content
        for key in way:
            at = at[key]
        if type(at[last]) is type(value):
            # It may well be another of its kind.
            continue
        at[last] = value
        write_json(copy / "comparison.json", content)
        with pytest.raises(WorkbenchError) as said:
            saved.load(copy)
        assert "\n" not in str(said.value)


def test_the_command_writes_a_folder_that_can_be_merged_again(folders, tmp_path, capsys):
    both = tmp_path / "both"
    assert main(["report", str(folders / "one"), str(folders / "two"), "--out", str(both)]) == 0
    assert "Both runs are verified" in (both / "report.html").read_text("utf-8")
    assert "Confidence: " in capsys.readouterr().out
    assert len(wb.report([both, folders / "three"]).runs) == len(pd.read_csv(folders / "whole/runs.csv"))
    facts = json.loads((both / "provenance.json").read_text("utf-8"))
    assert facts["parameters"]["mu"] == Wheel().mu
    assert [line.split(" of ")[0] for line in facts["runs"]] == [str(folders / "one"), str(folders / "two")]
    assert main(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
