"""The exam: its truths against closed forms, formulations and engines in it, and what it says of them."""

import json
import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import workbench as wb
from workbench.algorithms.contact_blocks import BlockSolver
from workbench.builtin.reports.text import exam as exam_words
from workbench.builtin.reports.text.exam import ranked, sentences, tally, told, worst
from workbench.cli.main import main
from workbench.errors import UnknownNameError, WorkbenchError
from workbench.exams.examine import examine
from workbench.exams.experiment import Measured
from workbench.exams.experiments import EXPERIMENTS, chain, halving, painleve, slope
from workbench.exams.protocol import FIELDS, packed, unpacked
from workbench.exams.record import Record
from workbench.exams.scene import FormulationWorld, TrialScene
from workbench.exams.subject import (
    ENGINES,
    FOLDER,
    CannotPlayError,
    EndedError,
    FormulationSubject,
    Subject,
)
from workbench.exams.touching import Shapes, frames
from workbench.exams.trial import Trial, cube_on_feet, sled, sphere, turning

H = 5e-3


@cache
def played(formulation: str, experiment: str, trial: str, h: float = H) -> Record:
    return FormulationSubject(wb.formulations.find(formulation), "").play(EXPERIMENTS[experiment].trials[trial], h)


def measured(formulation: str, experiment: str, trial: str, h: float = H) -> dict[str, float]:
    found = EXPERIMENTS[experiment].measure({trial: played(formulation, experiment, trial, h)})
    return {x.quantity: x.value for x in found}


def test_every_file_of_experiments_and_adapters_is_listed():
    files = {path.stem for path in (FOLDER / "experiments").glob("*.py")} - {"__init__"}
    assert files == {x.measure.__module__.rpartition(".")[2] for x in EXPERIMENTS.values()}
    adapters = {path.stem for path in (FOLDER / "adapters").glob("*.py")} - {"__init__"}
    assert adapters == {x.adapter for x in ENGINES.values()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_what_it_is_and_where_its_truth_comes_from(name):
    x = EXPERIMENTS[name]
    assert x.trials
    assert all((x.title, x.what, x.source, x.bound))
    assert x.measure({}) == []


def test_what_slides_down_a_slope_has_the_acceleration_of_coulombs_law():
    found = measured("coulomb", "slope", "mu = 0.5, 30 degrees")["acceleration of slip"]
    assert found == pytest.approx(9.81 * (0.5 - 0.5 * np.sqrt(0.75)), rel=1e-9)


def test_what_rests_on_a_slope_does_not_creep_under_coulombs_law_and_creeps_where_contacts_are_soft():
    assert abs(measured("coulomb", "slope", "mu = 0.5, 20 degrees")["creep"]) < 1e-12
    assert measured("mujoco", "slope", "mu = 0.5, 20 degrees")["creep"] > 1e-3


@pytest.mark.parametrize(
    ("formulation", "slip"),
    [
        # mu u / sqrt(u^2 + v_s^2) = tan 20, and mu (2 y - y^2) = tan 20 with y = u / eps_v; both speeds are 1 mm/s.
        ("hunt-crossley", np.tan(np.pi / 9) / np.sqrt(0.25 - np.tan(np.pi / 9) ** 2)),
        ("ipc", 1 - np.sqrt(1 - 2 * np.tan(np.pi / 9))),
    ],
)
def test_smooth_friction_creeps_where_its_law_carries_the_load(formulation, slip):
    found = measured(formulation, "slope", "mu = 0.5, 20 degrees")["creep"]
    assert found == pytest.approx(1e-3 * slip, rel=1e-6)


def test_associated_flow_throws_a_fast_block_as_high_as_its_formula_says():
    # One impulse opens the contacts with mu |u_t|, and carries the weight for a step; then free flight, which the
    # velocities at the ends of steps make h v / 2 higher.
    h, mu = 2e-3, 0.5
    up = (mu * 6.0 - mu**2 * 9.81 * h) / (1 + mu**2)
    found = measured("ccp", "lift", "block", h)["lift"]
    assert found == pytest.approx(up**2 / (2 * 9.81) + 0.5 * h * up, abs=1e-5)
    assert measured("coulomb", "lift", "block")["lift"] < 1e-9


@pytest.mark.parametrize(("formulation", "factor"), [("stewart-trinkle", np.sqrt(2)), ("box", np.sqrt(0.5))])
def test_friction_within_a_square_depends_on_the_direction(formulation, factor):
    straight, across = (measured(formulation, "yaw", yaw)["distance"] for yaw in ("0 degrees", "45 degrees"))
    assert across / straight == pytest.approx(factor, rel=0.02)


def test_a_step_of_first_order_loses_half_a_step_of_the_stopping_distance():
    for h in (H, 2 * H):
        lost = 1 / (2 * 0.3 * 9.81) - measured("coulomb", "stopping", "1 kg at 1 m/s", h)["distance"]
        assert lost == pytest.approx(0.5 * h, rel=0.05)


def test_exact_coulomb_friction_passes_what_rolls_spins_and_is_pinched():
    trials = (("rolling", "2 m/s"), ("spin", "10 rad/s"), ("groove", "slides, mu = 0.2"))
    for name, trial in trials:
        found = EXPERIMENTS[name].measure({trial: played("coulomb", name, trial)})
        assert found
        assert all(x.error < 0.1 for x in found)


def test_a_block_on_a_belt_breaks_away_when_friction_is_used_up():
    found = measured("coulomb", "conveyor", "20 m/s3")
    assert abs(found["creep before it breaks away"]) < 1e-12
    assert found["largest friction"] == pytest.approx(0.5 * 9.81, rel=1e-9)
    assert found["speed of slip"] == pytest.approx(0.5 * 20 * (0.4 - 0.5 * 9.81 / 20) ** 2, rel=1e-3)
    record = played("coulomb", "conveyor", "20 m/s3")
    assert record.imbalance() < 1e-9
    assert replace(record, trial=replace(record.trial, swing=(0.0, 0.0, 0.0))).imbalance() > 0.5


def test_a_wedge_goes_away_from_under_a_block_where_nothing_rubs():
    found = EXPERIMENTS["wedge"].measure({"mu = 0": played("coulomb", "wedge", "mu = 0")})
    assert all(x.error < 1e-6 for x in found)
    # Momentum along the ground: what the wedge gets, the block gets the other way.
    record = played("coulomb", "wedge", "mu = 0")
    assert record.velocity[-1, :, 0] @ [2.0, 1.0] == pytest.approx(0, abs=1e-9)


def hertz(balls: int) -> np.ndarray:
    """Velocities of equal balls that touch, after the first came with 1, by Hertz's law between them (balls,)."""

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        push = np.maximum(0.0, y[: balls - 1] - y[1:balls]) ** 1.5
        return np.concatenate([y[balls:], np.diff(push, prepend=0.0, append=0.0) * -1.0])

    start = np.zeros(2 * balls)
    start[balls] = 1.0
    return solve_ivp(rates, (0.0, 40.0), start, rtol=1e-9, atol=1e-11).y[balls:, -1]


def test_an_impulse_goes_through_a_chain_as_hertz_says_and_not_as_newton_does_for_all_contacts_at_once():
    assert pytest.approx(hertz(5)[-1], abs=5e-5) == chain.HERTZ
    apart, touching, plastic = (measured("coulomb", "chain", trial) for trial in chain.EXPERIMENT.trials)
    assert apart["speed of the last ball"] == pytest.approx(1.0)
    assert touching["speed of the last ball"] == pytest.approx(0.4)
    assert plastic["speed of the last ball"] == pytest.approx(0.2)
    for found in (apart, touching, plastic):
        assert found["momentum"] == pytest.approx(1.0)
    assert touching["energy kept"] == pytest.approx(1.0)


def test_painleves_rod_slides_below_the_critical_friction_and_catches_above():
    # With a thin tip the ground pushes with 1 / (1.6 - 1.2 mu) of the weight at first, which ends at mu = 4/3.
    x, z, I = painleve.X, painleve.Z, painleve.INERTIA
    for mu in (0.5, 1.0):
        assert 1 + x * (x - mu * z) / I == pytest.approx(1.6 - 1.2 * mu, abs=0.01)
        turning = painleve.rates(mu, np.array([painleve.LEAN, 0.0, -3.0]))[1]
        assert turning == pytest.approx(9.81 * (mu * z - x) / I / (1.6 - 1.2 * mu), rel=0.02)
    for trial in painleve.EXPERIMENT.trials:
        found = painleve.measure({trial: played("coulomb", "painleve", trial, 1e-3)})
        assert all(x.error < 0.05 for x in found)
    # At once: after a single step the tip stands.
    caught = played("coulomb", "painleve", "mu = 2", 1e-3)
    assert caught.velocity[1, 0, 0] - caught.velocity[1, 0, 4] * z == pytest.approx(0, abs=1e-3)
    assert -caught.velocity[1, 0, 4] == pytest.approx(z * 3.0 / (I + x * x + z * z), rel=0.01)


def test_half_the_step_is_taken_where_a_trial_says_so():
    class Told(Still):
        def play(self, trial: Trial, h: float) -> Record:
            assert h == pytest.approx(H / trial.finer)
            return super().play(trial, h)

    found = examine([Told()], [halving.EXPERIMENT], [H]).rows
    assert sorted(found["trial"]) == sorted(halving.TRIALS)


def test_a_step_of_first_order_loses_half_as_much_with_half_the_step():
    trials = "thrown block", "thrown block" + halving.HALVED
    records = {name: played("coulomb", "halving", name, h) for name, h in zip(trials, (H, 0.5 * H), strict=True)}
    (found,) = halving.measure(records)
    assert found.value == pytest.approx(0.25 * H * 2.0, rel=0.01)


def test_a_record_whose_forces_are_wrong_is_out_of_balance():
    record = played("coulomb", "stopping", "1 kg at 1 m/s")
    assert record.imbalance() < 1e-9
    wrong = replace(record, wrench=record.wrench + np.array([0, 0, 0.01 * 9.81, 0, 0, 0]))
    assert wrong.imbalance() == pytest.approx(0.01, rel=1e-6)
    assert np.isnan(replace(record, wrench=record.wrench * np.nan).imbalance())


def test_energy_of_a_record_is_that_of_its_bodies():
    record = played("coulomb", "rolling", "2 m/s")
    start, end = record.energy[[record.pushed, -1]]
    assert start == pytest.approx(0.5 * 4 + 9.81 * 0.1)
    # Of a ball that slides and then rolls 5/7 of the kinetic energy is left.
    assert end - 0.981 == pytest.approx(5 / 7 * 2.0, rel=1e-6)


def test_contacts_of_a_stack_are_those_of_its_feet():
    trial = Trial((cube_on_feet("low", 1.0, 0.2, 0.0), cube_on_feet("high", 1.0, 0.2, 0.2)), 0.5, 0.1)
    x, orientation = TrialScene(trial).poses(TrialScene(trial).start()[0])
    found = Shapes(trial).close(x, turning(orientation), np.full(2, 1e-3))
    assert sorted(zip(found.a.tolist(), found.b.tolist(), strict=True)) == [(-1, 0)] * 4 + [(0, 1)] * 4
    assert abs(found.gap).max() < 1e-12
    assert np.allclose(found.normal, [0, 0, 1])
    assert np.allclose(found.point[:, 2], [0.0] * 4 + [0.2] * 4)
    assert len(set(found.key.tolist())) == 8


def test_balls_touch_balls_along_the_line_of_their_centres():
    balls = (sphere("a", 1.0, 0.1), sphere("b", 1.0, 0.2, position=(0.0, 0.25, 0.0)))
    found = Shapes(Trial(balls, 0.5, 0.1, planes=())).close(
        np.array([[0, 0, 0], [0, 0.25, 0.0]]), np.eye(3)[None].repeat(2, 0), np.zeros(2)
    )
    assert (found.a, found.b) == (0, 1)
    assert found.gap == pytest.approx(-0.05)
    assert np.allclose(found.normal, [[0, 1, 0]])


def test_frames_are_right_handed_for_any_normal():
    normal = np.random.default_rng(0).normal(size=(50, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    found = frames(np.concatenate([normal, np.eye(3), -np.eye(3)]))
    assert np.allclose(found @ np.swapaxes(found, 1, 2), np.eye(3))
    assert np.allclose(np.linalg.det(found), 1)


def test_arrays_travel_to_the_last_bit():
    x = np.random.default_rng(1).normal(size=(3, 2)) * np.array([1e-300, np.nan])
    assert unpacked(json.loads(json.dumps(packed(x)))).tobytes() == x.tobytes()


@pytest.mark.parametrize("experiment", ["stack", "conveyor"])
def test_a_trial_that_has_travelled_is_the_same(experiment):
    trial = next(iter(EXPERIMENTS[experiment].trials.values()))
    found = Trial.of(json.loads(json.dumps(trial.plain())))
    assert json.dumps(found.plain()) == json.dumps(trial.plain())
    assert np.array_equal(TrialScene(found).start()[0], TrialScene(trial).start()[0])
    assert found.solids()[-1].name == trial.solids()[-1].name


def test_answers_of_another_solver_are_taken_within_its_own_tolerance():
    class Half(BlockSolver):
        def solve_from(self, problem, start):
            found = self.solve(problem)
            return replace(found, z=0.5 * found.z, residual=problem.residual(0.5 * found.z), tolerance=self.tolerance)

    trial = EXPERIMENTS["lift"].trials["ball"]
    lenient, strict = (
        FormulationWorld(trial, wb.formulations.find("coulomb"), H, Half(tolerance=x)) for x in (9, 1e-9)
    )
    lenient.step()
    assert lenient.state()[2][0, 2] == pytest.approx(-0.5 * 9.81 * H)
    with pytest.raises(ValueError, match="at 0 s"):
        strict.step()


def test_a_world_that_explodes_is_told():
    trial = Trial((sled(),), 0.5, 0.1, gravity=(0.0, 0.0, -1e9))
    with pytest.raises(CannotPlayError, match="explodes"):
        FormulationSubject(wb.formulations.find("coulomb"), "").play(
            replace(trial, planes=(((0, 0, 1), (0, 0, -1e9)),)), H
        )


class Still(Subject):
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
    subject, twice = Still(), replace(slope.EXPERIMENT, name="again")
    found = examine([subject], [slope.EXPERIMENT, twice], [H])
    assert len(subject.asked) == len(set(subject.asked)) == 6
    assert tally(found)[0]["unplayed"] == tally(found)[0]["failed"] == ["slope", "again"]
    assert "not played in full: slope, again" in sentences(found)[1]
    rows = found.rows[found.rows["experiment"] == "again"]
    assert rows["reason"].tolist().count("too rough") == 2
    assert not rows[rows["reason"] != ""]["passed"].any()
    assert rows[rows["quantity"] == "creep"]["passed"].tolist() == [True, True]
    assert rows[rows["quantity"] == "acceleration of slip"]["passed"].tolist() == [False, False]


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
    assert asked[:2] + asked[3:] == list(slope.trials().values())
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
        ((0, 0), 1, "nobody passes the experiment."),
        ((0, 0), 3, "nobody passes any experiment."),
        ((3, 3), 3, "all 3 experiments are passed by ccp and box."),
        ((2, 1), 3, "nobody passes all 3 experiments; the most, 2, are passed by ccp."),
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
        == f"At 1 ms a step {words}"
    )


def test_who_passes_most_stands_first_and_of_equals_the_reference(monkeypatch):
    scores = {"box": 3, "ccp": 5, "mujoco": 4, "coulomb": 4}
    rows = [{"subject": name, "step": h, "passed": k} for h in (1e-3, 5e-3) for name, k in scores.items()]
    monkeypatch.setattr(exam_words, "tally", lambda exam: rows)
    assert ranked(SimpleNamespace(subjects=scores)) == ["ccp", "coulomb", "mujoco", "box"]


def test_a_number_passes_up_to_its_bound_on_either_side_and_an_experiment_when_all_its_numbers_do():
    values = (1.5, 0.5, 1.51, 0.49)
    numbers = [Measured("height", "block", x, 1.0, 0.5, "m") for x in values]
    for chosen, all_pass in ((numbers[:2], True), (numbers[1:3], False), (numbers[3:], False)):
        experiment = replace(slope.EXPERIMENT, trials={}, measure=lambda _, chosen=chosen: chosen)
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
    assert "the reference" in first
    assert second == "ccp"
    assert page.count('href="motions/lift-1-at-5000-us.html#ccp"') == 1
    assert "✗" in page


def test_the_command_writes_rows_page_motions_and_badges(tmp_path, capsys):
    out = tmp_path / "exam"
    assert (
        main(["exam", "ccp", "--experiment", "lift", "--step", "5e-3", "--out", str(out), "--json", "--workers", "1"])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((out / "exam.json").read_text())
    assert told[0]["failed"] == ["lift"]
    assert {x.name for x in out.iterdir()} == {
        "exam.csv", "exam.json", "journal.jsonl", "motions", "provenance.json", "report.html",
    }  # fmt: skip
    page = (out / "motions" / "lift-1-at-5000-us.html").read_text()
    assert "Content-Security-Policy" in page
    assert "ccp is grey" in page


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"subjects": ["nobody"]}, "formulation"), ({"experiments": ["flying"]}, "experiment"),
        ({"subjects": ["coulomb"], "steps": [1.0]}, "1e-5 to 0.02"),
        ({"subjects": ["bullet"], "python": ["/nowhere/python"]}, "is no program"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_line(given, words):
    with pytest.raises((UnknownNameError, WorkbenchError), match=words) as told:
        wb.exam(**given)
    assert "\n" not in str(told.value)


def test_what_could_not_be_played_goes_before_what_is_passed():
    columns = ["passed", "error", "trial"]
    rows = pd.DataFrame([[True, 0.9, "a"], [False, np.nan, "b"], [True, 0.1, "c"]], columns=columns)
    assert worst(rows)["trial"] == "b"
    assert worst(pd.concat([rows, pd.DataFrame([[False, 2.0, "d"]], columns=columns)]))["trial"] == "d"
    assert worst(rows[rows["passed"].astype(bool)])["trial"] == "a"


def test_numbers_are_told_in_the_unit_of_the_larger_of_two():
    assert [told(x, "m") for x in (0.0, 1e-11, -1.25e-8, 3e-5, 0.0012, 0.68)] == [
        "0", "0", "-12.5 nm", "30 µm", "1.2 mm", "0.68 m",
    ]  # fmt: skip
    assert told(0.41, "m/s", beside=0.9888) == "0.41 m/s"
    assert told(0.41, "m/s") == "410 mm/s"
    assert told(9.81, "N") == "9.81 N"
