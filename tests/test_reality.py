"""Formulations against recordings: what made the recordings is found again, and errors of recordings are found."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.tosses import CUBE, RATE, SILENT, THROWER, recording, starts, tosses, write_tosses
from workbench.algorithms.escalation import default_solver
from workbench.cli.main import main
from workbench.exams.recorded import kept
from workbench.exams.recorded.folder import read_folder
from workbench.exams.recorded.intervals import Bootstrap, ConfidenceInterval
from workbench.exams.recorded.noise import ensemble, fly, noise_of
from workbench.exams.recorded.phases import phases
from workbench.exams.recorded.recording import with_rates
from workbench.exams.recorded.replay import replay, typical
from workbench.exams.recorded.throws import Subject
from workbench.exams.recorded.tossed import begun
from workbench.exams.recorded.trial import Outcome, RealityTrial
from workbench.mechanics.solids import rotated
from workbench.step.simulation import simulate
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

FLIGHT, IMPACT, SLIDING, ROLLING, REST = range(5)

REAL = Path(os.environ.get("WORKBENCH_DATA", "nowhere")) / "tosses"
"""The recorded tosses, which are never among the files of the project."""


def subject(name: str) -> Subject:
    return Subject(find_formulation(name))


@pytest.mark.parametrize("name", ["coulomb", "hybrid"])
def test_a_throw_takes_the_steps_of_a_run(name):
    """To the bit, whatever was thrown before it with the same arrays: memory of impulses, guesses and friction."""
    start = starts(2, seed=5)
    case = begun(CUBE, start[1], mu=0.3, e=0.1)
    f = find_formulation(name)
    run = simulate(case, f, default_solver("MLCP" if name == "hybrid" else "Coulomb NCP"), THROWER.h, 60 * THROWER.h,
                   normal="moreau")  # fmt: skip
    states, status = THROWER.throw(Subject(f), start, np.array([15, 15]), 0.3, 0.1)
    assert (status == int(run.status)).all()
    assert np.array_equal(states[1, :, :7], run.states_q[::4])
    assert np.array_equal(states[1, :, 7:], run.states_v[::4])


def test_mu_and_restitution_that_made_the_tosses_are_found(tmp_path):
    made = write_tosses(tmp_path / "made", tosses(8, 30, mu=0.2, e=0.3))
    found, box = wb.reality(made, ["box"], rows=("rigid",), share=0.375, members=0).outcomes
    assert (found.reason, found.mu, found.e) == ("", pytest.approx(0.2), pytest.approx(0.3))
    assert np.nanmax(found.position) < 1e-9
    assert np.nanmax(found.angle) < 1e-6
    assert max(np.abs(x).max() for x in found.step) < 1e-6
    assert np.nanmean(box.position) > 1e-3


def states_of(position, orientation=(1.0, 0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
    """Twelve equal states."""
    return np.tile(np.concatenate([position, orientation, velocity, spin]), (12, 1))


def test_phases_are_what_the_body_does():
    half = 0.0524

    def phase(states, body=CUBE):
        (only,) = set(phases(recording(states), body))
        return only

    assert phase(states_of((0, 0, half))) == REST
    assert phase(states_of((0, 0, half), velocity=(0.3, 0, 0))) == SLIDING
    falling = states_of((0, 0, 0.5))
    falling[:, 9] = -9.81 / RATE * np.arange(12)
    assert phase(falling) == FLIGHT
    turn = np.array([np.cos(0.2), 0.0, np.sin(0.2), 0.0])
    # Over the lower edge, which stands still: its vertices have the velocity v + omega x r = 0.
    s = np.array([half, 0.0, -half])
    x = rotated(turn, s)
    omega = np.array([0.0, 3.0, 0.0])
    rolling = states_of((0, 0, -x[2]), turn, -np.cross(omega, x), omega)
    assert phase(rolling) == ROLLING
    struck = states_of((0, 0, half))
    struck[6:, 9], struck[:6, 9] = 0.5, -0.5
    assert phases(recording(struck), CUBE)[5] == IMPACT
    ball = replace(CUBE, points=np.zeros((1, 3)), radius=0.02)
    assert phase(states_of((0, 0, 0.02), velocity=(0.4, 0, 0), spin=(0, 20.0, 0)), ball) == ROLLING
    assert phase(states_of((0, 0, 0.02), velocity=(0.4, 0, 0)), ball) == SLIDING


def test_an_interval_touches_by_either_end_and_its_force_has_the_weight_in_it():
    high = states_of((0, 0, 0.0524), velocity=(0.2, 0, 0))
    high[:6, 2] = 0.5
    assert (phases(recording(high), CUBE)[4:6] == FLIGHT).tolist() == [True, False]
    for weights, kind in ((3.5, IMPACT), (2.5, SLIDING)):
        struck = states_of((0, 0, 0.0524), velocity=(0.2, 0, 0))
        struck[:6, 9] = -weights * 9.81 / RATE
        assert phases(recording(struck), CUBE)[5] == kind


def test_free_flight_keeps_energy_and_angular_momentum():
    body = replace(CUBE, inertia=np.array([3e-4, 5e-4, 8e-4]))
    start = starts(1, seed=3)[0]
    end = fly(start, body, 0.4, 200)
    spin = [rotated(x[3:7], body.inertia * x[10:13]) for x in (start, end)]
    assert np.allclose(*spin, rtol=0, atol=1e-8)
    energy = [
        0.5 * body.mass * x[7:10] @ x[7:10] + 0.5 * body.inertia @ x[10:13] ** 2 + body.mass * 9.81 * x[2]
        for x in (start, end)
    ]
    assert energy[0] == pytest.approx(energy[1], rel=1e-9)


def test_errors_of_recorded_starts_are_reported_by_free_flight():
    random = np.random.default_rng(4)
    made = []
    for start in starts(40, seed=9):
        start[2] = 1.0
        states = np.array([fly(start, CUBE, t, 4) for t in np.arange(8) / RATE])
        states[0, 7:10] += 0.02 * random.normal(size=3) + [0.0, 0.0, 0.05]
        states[0, 10:13] += 0.3 * random.normal(size=3)
        made.append(recording(states))
    found = noise_of(tuple(made), CUBE)
    assert found.flights == 40
    assert found.velocity == pytest.approx([0.02, 0.02, 0.054], rel=0.3)
    assert found.bias == pytest.approx([0.0, 0.0, 0.05], abs=0.015)
    assert found.spin == pytest.approx(0.3, rel=0.2)
    members = ensemble(starts(2, seed=9), found, 500, seed=1)
    changed = members.reshape(500, 2, 13) - starts(2, seed=9)
    assert changed[..., :7].any() == 0
    assert changed[..., 7:].std(axis=(0, 1)) == pytest.approx([*found.velocity, *3 * [found.spin]], rel=0.1)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((-2, -1), "less"),
        ((-2, 0.1), "cannot tell"),
        ((-0.1, 2), "cannot tell"),
        ((1, 2), "more"),
        ((0, 2), "cannot tell"),
    ],
)
def test_a_difference_is_one_only_where_its_interval_leaves_zero_out(ends, said):
    assert ConfidenceInterval(sum(ends) / 2, *ends).verdict == said


def test_an_interval_is_as_wide_as_that_of_a_normal_mean():
    x = np.random.default_rng(1).normal(2.0, 3.0, size=400)
    found = Bootstrap(400).interval(x)
    half = 1.96 * x.std() / np.sqrt(400)
    assert (found.mean - found.low, found.high - found.mean) == (pytest.approx(half, rel=0.05),) * 2


def test_intervals_hold_the_mean_as_often_as_they_say():
    random, hits = np.random.default_rng(8), 0
    for k in range(60):
        x = random.normal(1.0, 2.0, size=50)
        found = Bootstrap(50, seed=k).interval(x)
        assert found.mean == pytest.approx(x.mean())
        hits += found.low <= 1.0 <= found.high
    assert 50 <= hits < 60
    none = Bootstrap(50).interval(np.zeros(50))
    assert none.verdict == "cannot tell"
    assert Bootstrap(50).interval(np.full(50, -1.0)).verdict == "less"
    # Samples of one toss stay together: their number does not narrow an interval.
    values, counts = random.normal(size=20), np.full(20, 7.0)
    few, many = Bootstrap(20).interval(values), Bootstrap(20).interval(7 * values, counts)
    assert (many.low, many.high) == (pytest.approx(few.low), pytest.approx(few.high))


def test_rates_of_poses_are_those_that_moved_them():
    start = starts(1, seed=2)[0]
    start[2] = 2.0
    states = np.array([fly(start, CUBE, t, 4) for t in np.arange(30) / 1000.0])
    states[15:, 3:7] *= -1.0
    found = with_rates(states[:, :3], states[:, 3:7], 1e-3)
    assert np.allclose(found[:, 7:], states[:, 7:], atol=2e-2)


def test_a_replay_lays_predictions_over_the_recording_with_the_force_that_moved_them():
    made = tosses(2, 30, mu=0.2, e=0.0)
    one = Outcome(subject("coulomb"), mu=0.2, e=0.0, position=np.array([[3.0, 1.0], [0.0, 0.5], [9.0, 9.0]]))
    assert typical(one) == 0
    motion = replay(RealityTrial(THROWER, (), made, SILENT), [one], 1)
    recording, track = motion.tracks
    assert (recording.label, track.label, len(motion.t)) == ("recording", "coulomb", 121)
    assert np.allclose(recording.position[::4], track.position[::4], rtol=0, atol=1e-12)
    assert np.linalg.norm(recording.position - track.position, axis=-1).max() < 2e-3
    x, h = track.position[:, 0], THROWER.h
    force = CUBE.mass * ((x[2:] - 2 * x[1:-1] + x[:-2]) / h**2 + [0.0, 0.0, 9.81])
    # The axes of a level floor are z, x and y.
    assert np.allclose(track.force[2:, 0], force[:, [2, 0, 1]], rtol=0, atol=1e-6 * np.abs(force).max())
    assert track.force[2:, 0, 0].max() > CUBE.mass * 9.81


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tosses(tmp_path_factory.mktemp("tosses"), tosses(6, 18, mu=0.2, e=0.0))


def test_the_command_writes_a_page_with_its_answer(folder, tmp_path, capsys):
    out = tmp_path / "out"
    words = ["reality", str(folder), "-f", "box", "--rows", "rigid", "--members", "1", "--normal", "gap", "--quiet"]
    assert main([*words, "--workers", "1", "--share", "0.5", "--json", "--out", str(out)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [r["label"] for r in rows] == ["coulomb", "box"]
    assert rows[0]["position_more"] == 0
    assert rows[1]["position_more_low"] <= rows[1]["position_more"] <= rows[1]["position_more_high"]
    page = (out / "report.html").read_text("utf-8")
    assert "Content-Security-Policy" in page
    assert f"mean error of {rows[0]['position']:.3g} mm (" in page
    assert {p.name for p in out.iterdir()} >= {"subjects.csv", "over_time.csv", "search.csv", "by_phase.csv"}


@pytest.mark.thorough
def test_workers_find_what_one_process_finds(folder):
    given = {"rows": ("rigid",), "share": 0.5, "members": 0, "mu": (0.1, 0.4), "e": (0.0, 0.3)}
    one, two = (wb.reality(folder, ["box"], workers=n, **given) for n in (1, 2))
    drop = ["seconds"]
    assert one.subjects.drop(columns=drop).equals(two.subjects.drop(columns=drop))


def test_what_is_finished_is_kept_to_the_last_bit_and_what_ran_out_of_time_is_done_the_next_time(
    folder, tmp_path, monkeypatch
):
    given = {"rows": ("rigid",), "share": 0.5, "members": 1, "mu": (0.1, 0.4), "e": (0.0, 0.3), "kept": tmp_path}
    one, asked = wb.reality(folder, ["box", "phantom-inertia"], **given), []
    monkeypatch.setattr(kept, "tried", lambda trial, x: asked.append(x.label) or Outcome(x, "not now"))
    said: list[tuple[str, int, int]] = []
    two = wb.reality(folder, ["box", "phantom-inertia", "ccp"], **given, progress=lambda *report: said.append(report))
    assert asked == ["ccp"]
    # From before the first one on.
    assert said == [("predicting the recordings", k, 4) for k in range(5)]
    for x, y in zip(one.outcomes, two.outcomes[:3], strict=True):
        assert (x.subject.label, x.mu, x.e, x.failures) == (y.subject.label, y.mu, y.e, y.failures) or x.reason
        for name in kept.ARRAYS:
            assert np.array_equal(getattr(x, name), getattr(y, name), equal_nan=True)
        assert all(map(np.array_equal, x.step, y.step))
        assert len(x.step) == len(y.step)
    assert "constraint relaxation" in two.outcomes[2].reason
    for _ in range(2):
        wb.reality(folder, ["box", "hybrid"], **given, seconds=1e-9)
    assert asked == ["ccp", "hybrid", "hybrid"]
    # Another bound of the search is another question.
    with pytest.raises(wb.WorkbenchError, match="not now"):
        wb.reality(folder, ["box"], **given | {"mu": (0.1, 0.5)})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"share": 2.0}, "share = 2"),
        ({"share": 0.01}, "at least 2"),
        ({"mu": (0.5, 0.2)}, "mu from 0.5 to 0.2"),
        ({"normal": "velocity"}, "normal law"),
        ({"step": 1.0}, "step 1 s"),
        ({"rows": ("soft",)}, "rows 'soft'"),
        ({"formulations": ["nothing"]}, "nothing"),
        ({"members": -1}, "members"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(folder, given, words):
    with pytest.raises(wb.WorkbenchError, match=words) as caught:
        wb.reality(folder, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not REAL.is_dir(), reason="the recorded tosses are not here")
def test_the_recorded_tosses_are_read_and_predicted():
    found = read_folder(REAL)
    assert len(found.recordings) == 190
    assert not found.left_out
    some = found.recordings[40:46]
    assert found.description.body.points.shape == (8, 3)
    rest = np.array([r.states[-1, 2] for r in found.recordings])
    assert np.median(rest) == pytest.approx(0.0524, abs=0.002)
    # Angular velocities are in the cube's axes: those of the recorded poses are.
    for r in some:
        again = with_rates(r.states[:, :3], r.states[:, 3:7], r.interval)
        assert np.median(np.abs(again[:12, 10:] - r.states[:12, 10:])) < 0.5
    count = np.array([len(r.states) - 1 for r in some])
    states, _ = THROWER.throw(subject("coulomb"), np.array([r.states[0] for r in some]), count, 0.18, 0.125)
    errors = [
        np.linalg.norm(x[: len(r.states), :3] - r.states[:, :3], axis=1).mean()
        for x, r in zip(states, some, strict=True)
    ]
    assert 0.002 < np.mean(errors) < 0.04


def test_every_option_of_the_command_reaches_the_comparison(monkeypatch, tmp_path):
    asked = {}

    def noted(folder, formulations, **given):
        asked.update(given)
        raise DataError("noted")

    monkeypatch.setattr("workbench.verbs.reality.reality", noted)
    words = ["--rows", "rigid", "--normal", "gap", "--mu", "0.1:0.9", "--e", "0.2:0.4", "--members", "3"]
    words += ["--share", "0.5", "--step", "1e-3", "--seconds", "60", "--workers", "1", "--quiet"]
    assert main(["reality", "nowhere", *words, "--out", str(tmp_path / "out")]) != 0
    given = {
        "rows": ("rigid",), "normal": "gap", "mu": (0.1, 0.9), "e": (0.2, 0.4), "members": 3, "share": 0.5,
        "step": 1e-3, "seconds": 60.0, "workers": 1,
    }  # fmt: skip
    assert {name: asked[name] for name in given} == given
