"""What outcomes say, by outcomes whose errors are known: intervals, pairs of tosses, phases, and the sentences."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.tosses import CUBE, RATE, SILENT, THROWER, recording
from workbench.builtin.reports.figures.reality import _axis
from workbench.builtin.reports.text.reality import sentences
from workbench.exams.recorded.description import Description
from workbench.exams.recorded.findings import findings
from workbench.exams.recorded.folder import Recordings
from workbench.exams.recorded.phases import PHASES
from workbench.exams.recorded.throws import Subject
from workbench.exams.recorded.trial import Outcome, RealityTrial
from workbench.verbs.find import find_case, find_formulation
from workbench.verbs.reality import _subjects, _trial

_, _, SLIDING, ROLLING, REST = range(5)

TOSSES, SHORT, LONG = 40, 9, 12
"""Recordings, of which the first half has few intervals and the other half more."""
LENGTH = np.repeat([SHORT, LONG], TOSSES // 2)
KIND = np.array([SLIDING] * 6 + [ROLLING] + [REST] * 5)
"""What a body does in each interval; in that in which it stops a corner stands still at the end."""
BASE = 20.0 + 10.0 * np.random.default_rng(6).random(TOSSES) + np.where(LENGTH == SHORT, 5.0, 0.0)
"""Errors of the first formulation [mm], larger in the short tosses."""


def stopped(intervals: int):
    """A cube that slides until it stops, and rests."""
    states = np.zeros((intervals + 1, 13))
    states[:, 2], states[:, 3] = 0.0524, 1.0
    states[:7, 7] = 0.2
    return recording(states)


TEST = tuple(stopped(int(n)) for n in LENGTH)
TRIAL = RealityTrial(THROWER, (), TEST, SILENT)


def outcome(name: str, error: np.ndarray, step: tuple[float, float] = (0.0, 0.0), falls: bool = False) -> Outcome:
    """The mean error [m] of each toss, which rises from zero to twice that or `falls` to zero, and those of single
    intervals of sliding and of rest."""
    position = np.full((TOSSES, LONG + 1), np.nan)
    for row, x, n in zip(position, error, LENGTH, strict=True):
        rising = x * np.linspace(0.0, 2.0, n + 1)
        row[: n + 1] = rising[::-1] if falls else rising
    single = np.where(KIND == SLIDING, *step)[:, None] * np.ones(2)
    return Outcome(
        Subject(find_formulation(name)), "", 0.2, 0.1, np.array([[0.2, 0.1]]), np.full((1, 5), 0.02), position,
        0.0 * position, tuple(single[:n] for n in LENGTH),
    )  # fmt: skip


@pytest.fixture(scope="module")
def found():
    """Formulations that differ from the first by less than tosses differ from each other."""
    noise = 1e-3 * np.random.default_rng(3).normal(size=TOSSES)
    base, noise = 1e-3 * BASE, noise - noise.mean()
    others = {"box": base + 1e-3 + noise, "hybrid": base - 1e-3 + noise, "sap": base + noise + 1e-5}
    made = [outcome("coulomb", base, (1e-3, 3e-3)), *(outcome(k, x, (2e-3, 3e-3)) for k, x in others.items())]
    made.append(outcome("ccp", base + noise, falls=True))
    lost = base + 2e-3
    lost[:5] = np.nan
    return findings(TRIAL, [*made, outcome("staggered", lost), Outcome(Subject(find_formulation("ipc")), "it broke")])


def test_differences_are_those_of_the_same_tosses(found):
    rows = found.subjects.set_index("label")
    assert rows.loc["coulomb", "position_more_high"] == rows.loc["coulomb", "position_more"] == 0.0
    for label, more, verdict in (("box", 1.0, "more"), ("hybrid", -1.0, "less"), ("sap", 0.01, "cannot tell")):
        r = rows.loc[label]
        assert (r["position_more"], r["rest_position_more"]) == (pytest.approx(more), pytest.approx(2 * more))
        assert r["position_verdict"] == r["rest_position_verdict"] == verdict
        # Of their own they vary by the tosses' 4 mm, their differences by the millimetre of the noise.
        assert 2.0 < r["position_high"] - r["position_low"] < 3.0
        assert 0.4 < r["position_more_high"] - r["position_more_low"] < 0.9
    assert rows.loc["ccp", ["position_verdict", "rest_position_verdict"]].tolist() == ["cannot tell", "less"]
    assert rows.loc["ccp", "rest_position"] == 0.0
    assert rows.loc["staggered", "position_more"] == pytest.approx(2.0), "by the tosses that it has predicted"
    assert rows.loc["staggered", "tosses"] == TOSSES - 5
    assert np.isnan(rows.loc["ipc", "position_more"])


def test_motions_that_differ_by_rounding_are_one():
    """Errors that are all larger by a few digits of a double are not said to be more; ten times the limit is."""
    base, step = 1e-3 * BASE, (1e-3, 3e-3)
    for more, verdict in ((1e-15, "cannot tell"), (1e-12, "cannot tell"), (1e-8, "more")):
        beside = tuple(x + more for x in step)
        rows = findings(TRIAL, [outcome("coulomb", base, step), outcome("box", base + more, beside)])
        one, phases = rows.subjects.set_index("label").loc["box"], rows.by_phase.set_index(["label", "phase"])
        assert one["position_verdict"] == phases.loc[("box", "rest"), "position_verdict"] == verdict


def test_errors_are_sorted_by_the_phase_they_arise_in(found):
    rows = found.by_phase.set_index(["label", "phase"])
    for phase, own, more in (("sliding", 2.0, 1.0), ("rest", 3.0, 0.0)):
        r = rows.loc[("box", phase)]
        assert (r["position"], r["position_more"]) == (pytest.approx(own), pytest.approx(more))
        assert r["samples"] == sum((KIND[:n] == PHASES.index(phase)).sum() for n in LENGTH)
    assert rows.loc[("box", "sliding"), "position_verdict"] == "more"
    assert rows.loc[("box", "rest"), "position_verdict"] == "cannot tell"
    assert rows.loc[("box", "impact"), "samples"] == 0


def test_errors_over_time_are_those_of_tosses_that_last_as_long(found):
    rows = found.over_time[found.over_time["measure"] == "position"].set_index(["label", "t"])
    times = rows.loc["coulomb"].index
    assert times.max() == pytest.approx(10 / RATE), "the median of 9 and 12 intervals, rounded down"
    share = 2.0 * times.to_numpy() * RATE / LONG
    assert rows.loc["coulomb", "value"].to_numpy() == pytest.approx(share * BASE[TOSSES // 2 :].mean())
    assert rows.loc["box", "more"].to_numpy() == pytest.approx(share * 1.0, abs=0.2)
    assert (rows.loc["coulomb", "more_high"] == 0.0).all()


def test_the_first_sentence_says_no_more_than_the_intervals(found):
    recordings = Recordings(Description(CUBE, "*", {}), TEST)
    words = sentences(recordings, TRIAL, found)
    better, same, worse = words[0].index("better:"), words[0].index("not significantly"), words[0].index("worse:")
    assert better < words[0].index("hybrid (−") < same < words[0].index("sap (+") < worse < words[0].index("box (+")
    assert same < words[0].index("ccp (") < worse < words[0].index("staggered (+")
    assert "not significantly different there: sap." in words[1]
    assert any("of 20 zero differences" in x for x in words)
    assert any("ipc has no results: it broke" in x for x in words)


def test_the_phase_that_is_predicted_worst_is_named(found):
    errors = {"flight": 1.0, "impact": 3.0, "sliding": 5.0, "rest": 2.0}
    rows = pd.DataFrame(
        {"label": "coulomb", "phase": k, "samples": 9, "position": x, "position_low": x, "position_high": x}
        for k, x in errors.items()
    )
    words = sentences(Recordings(Description(CUBE, "*", {}), TEST), TRIAL, replace(found, by_phase=rows))
    assert any("is largest in sliding: 5 mm (5 to 5), in flight 1 mm" in x for x in words)


def test_nothing_is_said_to_be_better_where_all_intervals_hold_zero():
    f = findings(TRIAL, [outcome("coulomb", 1e-3 * BASE), outcome("box", 1e-3 * BASE[::-1])])
    words = sentences(Recordings(Description(CUBE, "*", {}), TEST), TRIAL, f)
    assert "not significantly different: box" in words[0]
    assert not {"better", "worse"} & set(words[0].replace(";", " ").split())


def test_of_many_formulations_the_nearest_and_the_last_are_named():
    names = ["box", "ccp", "hybrid", "sap", "ipc", "mujoco", "staggered"]
    worse = [outcome(name, 1e-3 * (BASE + 4 + k)) for k, name in enumerate(names)]
    words = sentences(
        Recordings(Description(CUBE, "*", {}), TEST), TRIAL, findings(TRIAL, [outcome("coulomb", 1e-3 * BASE), *worse])
    )
    assert "worse: box (+4.00 mm" in words[0]
    assert ", sap (+7.00 mm" in words[0]
    assert ") and 3 more, up to staggered (+10.00 mm" in words[0]
    assert "ipc" not in words[0]


def test_an_axis_of_differences_is_compressed_only_where_one_is_far_from_most():
    scale, _ = _axis(pd.DataFrame({"value": [-9.0, 9.0, 80.0]}))
    assert scale.to_dict() == {}
    scale, axis = _axis(pd.DataFrame({"value": [-9.0, 9.0, 100.0]}))
    assert scale.to_dict()["type"] == "symlog"
    assert {-5, 0, 5, 100} <= set(axis.to_dict()["values"])


def test_springs_of_a_formulation_s_own_come_once():
    labels = [x.label for x in _subjects(["mujoco", "box"], ("rigid", "relaxed"), find_case("cube").relaxation)]
    assert labels == ["coulomb", "mujoco", "box", "box relaxed"]
    assert [x.label for x in _subjects(["mujoco"], ("relaxed",), find_case("cube").relaxation)][1:] == [
        "mujoco relaxed"
    ]


def test_every_recording_is_on_one_side_of_the_split():
    made = tuple(recording(TEST[0].states.copy(), f"{k}") for k in range(11))
    for share, count in ((0.25, 3), (0.5, 6)):
        trial = _trial(Recordings(Description(CUBE, "*", {}), made), share=share, members=0)
        train, test = ({r.name for r in x} for x in (trial.train, trial.test))
        assert (len(train), train & test, len(train | test)) == (count, set(), 11)
