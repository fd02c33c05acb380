"""An exam's course: what is played and kept, what is said of it, and the command."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.builtin.reports.text import exam as exam_words
from workbench.builtin.reports.text.exam import failures, of_bound, ranked, sentences, tally, with_unit, worst
from workbench.cli.main import main
from workbench.exams.examine import examine
from workbench.exams.experiment import MeasuredQuantity
from workbench.exams.experiments import EXPERIMENTS
from workbench.exams.record import Record
from workbench.exams.subject import CannotPlayError, EndedError, ExamSubject, FormulationSubject
from workbench.exams.trial import Trial
from workbench.support.errors import UnknownNameError, WorkbenchError

FIELDS = ("position", "orientation", "velocity", "wrench", "contacts")

pytestmark = pytest.mark.thorough

H = 5e-3


class Still(ExamSubject):
    """A subject that plays some trials, in which nothing moves."""

    name, version = "still", "1"

    def __init__(self) -> None:
        self.asked: list[Trial] = []

    def play(self, trial: Trial, h: float) -> Record:
        self.asked.append(trial)
        if trial.mu == 0.8:
            raise CannotPlayError("too rough")
        K, B = round((trial.settling + trial.duration) / h), len(trial.bodies)
        shapes = [(K + 1, B, 3), (K + 1, B, 4), (K + 1, B, 6), (K, B, 6), (K,)]
        return Record(trial, h, **dict(zip(FIELDS, map(np.zeros, shapes), strict=True)))


def test_a_trial_is_played_once_and_what_cannot_be_played_is_no_pass():
    subject, twice = Still(), replace(EXPERIMENTS["slope"], name="again")
    found = examine([subject], [EXPERIMENTS["slope"], twice], [H])
    assert len(subject.asked) == len(set(subject.asked)) == 6
    assert tally(found)[0]["unplayed"] == tally(found)[0]["failed"] == ["slope", "again"]
    assert "incomplete: slope, again" in sentences(found)[1]
    rows = found.rows[found.rows["experiment"] == "again"]
    assert rows["reason"].tolist().count("too rough") == 2
    assert not rows[rows["reason"] != ""]["passed"].any()
    assert rows[rows["quantity"] == "creep"]["passed"].tolist() == [True, True]
    assert rows[rows["quantity"] == "acceleration of slip"]["passed"].tolist() == [False, False]


def test_half_the_step_is_taken_where_a_trial_says_so():
    class Told(Still):
        def play(self, trial: Trial, h: float) -> Record:
            assert h == pytest.approx(H / trial.finer)
            return super().play(trial, h)

    found = examine([Told()], [EXPERIMENTS["halving"]], [H]).rows
    assert sorted(found["trial"]) == sorted(
        name for name, trial in EXPERIMENTS["halving"].trials.items() if trial.finer == 1
    )


def test_an_interrupted_exam_goes_on_where_it_was(tmp_path, monkeypatch):
    asked: list[Trial] = []

    def play(self: FormulationSubject, trial: Trial, h: float) -> Record:
        asked.append(trial)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return Still().play(trial, h)

    monkeypatch.setattr(FormulationSubject, "play", play)
    given = {"experiments": ["slope"], "steps": [H], "folder": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        wb.exam(["coulomb"], **given)
    found = wb.exam(["coulomb"], **given)
    # The two that were done are not asked for again; what could not be played is known, too.
    assert len(asked) == 3 + 4
    assert asked[:2] + asked[3:] == list(EXPERIMENTS["slope"].trials.values())
    again = wb.exam(["coulomb"], **given)
    assert len(asked) == 3 + 4
    pd.testing.assert_frame_equal(again.rows, found.rows)
    assert again.rows["reason"].tolist().count("too rough") == 2
    # With another step nothing of this is an answer.
    wb.exam(["coulomb"], **given | {"steps": [2 * H]})
    assert len(asked) == 7 + 6


def test_an_engine_whose_process_ended_plays_again_the_next_time(tmp_path, monkeypatch):
    asked = []

    def play(self: FormulationSubject, trial: Trial, h: float) -> Record:
        asked.append(trial)
        raise EndedError("its process ended")

    monkeypatch.setattr(FormulationSubject, "play", play)
    for k in (1, 2):
        found = wb.exam(["coulomb"], experiments=["spin"], steps=[H], folder=tmp_path)
        assert set(found.rows["reason"]) == {"its process ended"}
        assert len(asked) == k * len(EXPERIMENTS["spin"].trials)


@pytest.mark.parametrize(
    ("passed", "of", "words"),
    [
        ((1, 0), 1, "the experiment is passed by ccp."),
        ((0, 0), 1, "no subject passes the experiment."),
        ((0, 0), 3, "no subject passes any experiment."),
        ((3, 3), 3, "all 3 experiments are passed by ccp and box."),
        ((2, 1), 3, "no subject passes all 3 experiments; ccp passes the most, 2."),
    ],
)
def test_the_first_sentence_says_who_passes_most(monkeypatch, passed, of, words):
    rows = [
        {"step": 1e-3, "subject": name, "passed": k, "of": of, "failed": [], "unplayed": []}
        for name, k in zip(("ccp", "box"), passed, strict=True)
    ]
    monkeypatch.setattr(exam_words, "tally", lambda exam: rows)
    assert (
        sentences(SimpleNamespace(steps=(1e-3,), subjects=dict.fromkeys(("ccp", "box"))))[0]
        == f"With 1 ms steps {words}"
    )


def test_who_passes_most_stands_first_and_of_equals_the_reference(monkeypatch):
    scores = {"box": 3, "ccp": 5, "mujoco": 4, "coulomb": 4}
    rows = [{"subject": name, "step": h, "passed": k} for h in (1e-3, 5e-3) for name, k in scores.items()]
    monkeypatch.setattr(exam_words, "tally", lambda exam: rows)
    assert ranked(SimpleNamespace(subjects=scores)) == ["ccp", "coulomb", "mujoco", "box"]


def test_a_number_passes_up_to_its_bound_on_either_side_and_an_experiment_when_all_its_numbers_do():
    values = (1.5, 0.5, 1.51, 0.49)
    numbers = [MeasuredQuantity("height", "block", x, 1.0, 0.5, "m") for x in values]
    for chosen, all_pass in ((numbers[:2], True), (numbers[1:3], False), (numbers[3:], False)):
        experiment = replace(EXPERIMENTS["slope"], trials={}, measure=lambda _, chosen=chosen: chosen)
        found = examine([Still()], [experiment], [H])
        assert found.rows["passed"].tolist() == [x.value in values[:2] for x in chosen]
        assert (tally(found)[0]["failed"] == []) == all_pass


def test_the_number_in_a_cell_is_the_one_farthest_off_and_badges_count_experiments():
    found = wb.exam(["ccp", "coulomb"], experiments=["lift"], steps=[H])
    ccp, coulomb = found.badges
    assert (ccp["passed"], coulomb["passed"]) == (0, 1)
    assert ccp["badge"]["color"] == "red"
    assert coulomb["badge"]["message"] == "1 of 1"
    assert "passed by coulomb" in found.words[0]
    page = found.html()
    first, second = re.findall(r'<td class="name">(.*?)</td>', page)[:2]
    assert first.startswith("coulomb<")
    assert "exact Coulomb friction" in first
    assert second == "ccp"
    assert page.count('href="motions/lift-1-at-5000-us.html#ccp"') == 1
    assert "✗ 297<" in page


def test_a_column_has_one_quantity_with_its_unit_in_the_head():
    page = wb.exam(["ccp", "coulomb"], experiments=["slope"], steps=[H]).html()
    numbers = page[page.index("<summary>All numbers") :]
    heads = re.findall("<th[^>]*>(.*?)</th>", numbers)
    assert "creep, mu = 0.5, 20 degrees [µm/s]" in heads
    assert "acceleration of slip, mu = 0.5, 30 degrees [m/s<sup>2</sup>]" in heads
    cells = [x for x in re.findall("<td[^>]*>(.*?)</td>", numbers.partition("</table>")[0]) if x not in ("", "–")]
    names = ("theory", "ccp", "coulomb")
    assert all(x in names or re.fullmatch(r"-?[\d.]+( ± [\d.]+)?", x) for x in cells)


def test_every_failure_has_its_number_its_theory_and_its_bound():
    found = wb.exam(["ccp"], experiments=["lift", "rest"], steps=[H])
    ((words, causes),) = failures(found.exam)
    assert words.startswith("ccp passes 1 of 2 and fails lift")
    assert causes == ["lift: lift, block: 297 mm, theory 0, within 1 mm; 297 times the bound."]
    assert causes[0].partition(";")[0] in found.html()
    ((_, unplayed),) = failures(examine([Still()], [EXPERIMENTS["slope"]], [H]))
    assert unplayed[0].startswith("slope: acceleration of slip, mu = 0.2, 15 degrees: 0, theory 0.6439 m/s2")
    assert unplayed[0].endswith(
        "; 100 times the bound; mu = 0.8, 30 degrees: too rough; mu = 0.8, 45 degrees: too rough."
    )


def test_a_formulation_and_an_engine_of_one_name_are_told_apart():
    pytest.importorskip("mujoco")
    page = wb.exam(["mujoco"], experiments=["lift"], steps=[H]).html()
    assert "<dt>mujoco</dt><dd>Formulation in the workbench&#39;s time stepper: Coulomb&#39;s cone" in page
    assert re.search(r"<dt>mujoco/elliptic</dt><dd>Engine MuJoCo [\d.]+: elliptic friction cone</dd>", page)


def test_a_deviation_above_its_bound_is_never_printed_as_one_below_it():
    assert [of_bound(x) for x in (0.0, 0.456, 1.0, 1.01, 9.96, 579.4, 35_700.0)] == [
        "0.00", "0.46", "1.00", "1.0", "10", "579", "> 999",
    ]  # fmt: skip


def test_the_command_writes_rows_page_motions_and_badges(tmp_path, capsys):
    out = tmp_path / "exam"
    assert (
        main(["exam", "ccp", "--experiment", "lift", "--step", "5e-3", "--out", str(out), "--json", "--workers", "1"])
        == 0
    )
    heard = json.loads(capsys.readouterr().out)
    assert heard == json.loads((out / "exam.json").read_text())
    assert heard[0]["failed"] == ["lift"]
    assert {x.name for x in out.iterdir()} == {
        "exam.csv", "exam.json", "journal.jsonl", "motions", "provenance.json", "report.html",
    }  # fmt: skip
    page = (out / "motions" / "lift-1-at-5000-us.html").read_text()
    assert "Content-Security-Policy" in page
    assert "Grey: ccp." in page


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"subjects": ["drke"]}, "formulation or engine 'drke'; did you mean 'drake"),
        ({"experiments": ["flying"]}, "experiment"),
        ({"subjects": ["coulomb"], "steps": [1.0]}, "1e-5 to 0.02"),
        ({"subjects": ["bullet"], "python": ["/nowhere/python"]}, "is not a program"),
    ],
)  # fmt: skip
def test_mistakes_are_reported_in_one_line(given, words):
    with pytest.raises((UnknownNameError, WorkbenchError), match=words) as heard:
        wb.exam(**given)
    assert "\n" not in str(heard.value)


def test_what_could_not_be_played_goes_before_what_is_passed():
    columns = ["passed", "error", "trial"]
    rows = pd.DataFrame([[True, 0.9, "a"], [False, np.nan, "b"], [True, 0.1, "c"]], columns=columns)
    assert worst(rows)["trial"] == "b"
    assert worst(pd.concat([rows, pd.DataFrame([[False, 2.0, "d"]], columns=columns)]))["trial"] == "d"
    assert worst(rows[rows["passed"].astype(bool)])["trial"] == "a"


def test_numbers_are_reported_in_the_unit_of_the_larger_of_two():
    assert [with_unit(x, "m") for x in (0.0, 1e-11, -1.25e-8, 3e-5, 0.0012, 0.68)] == [
        "0", "0", "-12.5 nm", "30 µm", "1.2 mm", "0.68 m",
    ]  # fmt: skip
    assert with_unit(0.41, "m/s", beside=0.9888) == "0.41 m/s"
    assert with_unit(0.41, "m/s") == "410 mm/s"
    assert with_unit(9.81, "N") == "9.81 N"
