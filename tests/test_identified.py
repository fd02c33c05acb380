"""Identification on recordings: searches, their losses, how few tosses suffice, and what has no answer.

Most throws are those of a thrower whose errors are known, so that nothing has to be simulated.
"""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.tosses import CUBE, RATE, SILENT, THROWER, recording, tosses
from workbench.exams.recorded.findings import findings
from workbench.exams.recorded.throws import Subject
from workbench.exams.recorded.trial import Outcome, RealityTrial, tried
from workbench.problems.solution import Status
from workbench.verbs.find import find_case, find_formulation

COARSE = 13
FINE = 9
OF_E = 7

MOMENTS = 60

MU, E = 0.2, 0.3
"""What the thrower's bodies have."""
BOX = Subject(find_formulation("box"))


def still(name: str, intervals: int):
    states = np.zeros((intervals + 1, 13))
    states[:, 3] = 1.0
    return recording(states, name)


class Thrower:
    """Throws that are off by |mu - MU| + |e - E| metres, and of which some tosses end with a status."""

    def __init__(self, normal="moreau", ends=(), refused="") -> None:
        self.normal, self.ends, self.refused = normal, ends, refused
        self.body = SimpleNamespace(gravity=9.81, mass=1.0)

    def refusal(self, subject):
        return self.refused

    def throw(self, subject, starts, samples, mu, e, in_time=None):
        if in_time:
            in_time(0)
        states = np.zeros((len(starts), 1 + samples.max(), 13))
        states[..., 3] = 1.0
        states[..., 0] = (np.abs(mu - MU) + np.abs(e - E) * (self.normal == "moreau") + np.zeros(len(starts)))[:, None]
        status = np.zeros(len(starts), dtype=int)
        for k, end in enumerate(self.ends):
            status[k :: max(len(self.ends), 1)] = int(end)
        return states, status


def trial(thrower, tosses=4, **given):
    made = tuple(still(f"{k}", 4 + k) for k in range(tosses))
    return RealityTrial(thrower, made, made, SILENT, **given)


def test_mu_is_searched_for_then_e_then_mu_on_a_finer_grid_about_it():
    found = tried(trial(Thrower()), BOX)
    assert (found.reason, found.mu, found.e) == ("", pytest.approx(MU), pytest.approx(E))
    assert found.search.shape == (COARSE + OF_E + FINE, 2)
    # Every point has the loss of every toss there.
    expected = np.abs(found.search[:, 0] - MU) + np.abs(found.search[:, 1] - E)
    assert found.losses == pytest.approx(np.tile(expected[:, None], (1, 4)))
    width = 0.6 / (COARSE - 1)
    assert found.search[-FINE, 0] == pytest.approx(MU - width)
    assert found.search[-1, 0] == pytest.approx(MU + width)


@pytest.mark.parametrize(("bounds", "first", "last"), [((MU, 0.8), MU, MU + 0.05), ((-0.4, MU), MU - 0.05, MU)])
def test_the_finer_grid_stays_within_the_bounds(bounds, first, last):
    found = tried(trial(Thrower("gap"), mu=bounds), BOX)
    assert (found.search[-FINE, 0], found.search[-1, 0]) == (pytest.approx(first), pytest.approx(last))


def test_without_restitution_in_the_normal_law_none_is_searched_for():
    found = tried(trial(Thrower("gap")), BOX)
    assert (found.e, len(found.search)) == (0.0, COARSE + FINE)
    assert not found.search[:, 1].any()


ANSWERED = {Status.SOLVED, Status.INACCURATE}


@pytest.mark.parametrize("status", Status)
def test_a_toss_has_an_error_only_where_every_step_has_an_answer(status):
    found = tried(trial(Thrower(ends=(status, Status.SOLVED))), BOX)
    assert np.isfinite(found.position[0, 0]) == np.isfinite(found.losses[0, 0]) == (status in ANSWERED)
    assert np.isfinite(found.position[1, 0])
    assert np.isfinite(found.step[0][0]).all() == (status in ANSWERED)
    assert found.failures == ("" if status in ANSWERED else f"2 {status.name.lower().replace('_', ' ')}")


@pytest.mark.thorough
def test_identification_sees_nothing_of_the_tosses_that_it_is_tested_on():
    """Tosses of two surfaces: the friction of those to identify by is found, and the others are predicted by it."""
    train, test = tosses(3, 30, mu=0.2, e=0.0), tosses(4, 30, mu=0.5, e=0.0, seed=2)
    found = tried(RealityTrial(THROWER, train, test, SILENT), Subject(find_formulation("coulomb")))
    assert (found.mu, found.e) == (pytest.approx(0.2), 0.0)
    assert found.losses.min(axis=0).max() < 1e-9
    assert (found.position.shape[0], len(found.step)) == (4, 4)
    assert np.nanmean(found.position) > 1e-3


def test_half_of_the_tosses_suffice_and_fewer_do_not():
    half = tried(trial(Thrower(ends=(Status.RAY, Status.SOLVED))), BOX)
    assert (half.reason, half.mu) == ("", pytest.approx(MU))
    fewer = tried(trial(Thrower(ends=(Status.RAY, Status.RAY, Status.SOLVED)), 6), BOX)
    assert fewer.reason == "it finished on fewer than 50 % of the tosses"
    assert np.isnan(fewer.mu)


def test_what_is_refused_has_the_reason_and_what_comes_late_another(monkeypatch):
    assert tried(trial(Thrower(refused="it has no relaxed rows")), BOX).reason == "it has no relaxed rows"
    # The last moment is one yet.
    monkeypatch.setattr(time, "time", lambda: 5.0)
    assert tried(trial(Thrower(), until=5.0), BOX).reason == ""
    for thrower in (Thrower(), Thrower(refused="it is refused")):
        assert tried(trial(thrower, until=4.9), BOX).reason == (
            "the time limit was reached before it was finished; allow more seconds"
        )


def test_shorter_recordings_end_in_what_is_not_defined():
    found = tried(trial(Thrower(), 3), BOX)
    assert np.isnan(found.position).tolist() == [[False] * 5 + [True] * 2, [False] * 6 + [True], [False] * 7]
    assert [len(x) for x in found.step] == [4, 5, 6]


NONE = np.zeros((0, 0))


def outcome(search, losses, mu, e, position=NONE, **more):
    step = tuple(np.zeros((np.isfinite(row).sum() - 1, 2)) for row in position)
    return Outcome(BOX, "", mu, e, np.array(search, dtype=float), np.array(losses, dtype=float), position,
                   0.0 * position, step, **more)  # fmt: skip


def interval_of_mu(mus, losses):
    """That of a subject for which 0.2 was found, by the losses of the tosses at each mu."""
    one = outcome(np.stack([mus, np.zeros(len(mus))], axis=1), losses, 0.2, 0.0, np.ones((2, 5)))
    made = (still("a", 4), still("b", 4))
    row = findings(RealityTrial(SimpleNamespace(body=CUBE), made, made, SILENT), [one]).subjects.iloc[0]
    return row["mu_low"], row["mu_high"]


def test_the_interval_of_mu_is_that_of_tosses_that_have_errors_everywhere():
    mus, nan = [0.1, 0.2, 0.3], np.nan
    # The second toss alone would say 0.1.
    assert interval_of_mu(mus, [[5.0, 0.0], [0.0, nan], [5.0, 9.0]]) == (0.2, 0.2)
    assert np.isnan(interval_of_mu(mus, [[nan, 0.0], [0.0, nan], [5.0, nan]])).all()


def test_the_interval_of_mu_is_that_of_tosses_drawn_again():
    """Twelve tosses are predicted best at 0.2 and eight at 0.4: of twenty drawn again these are the more in 13 %."""
    mus = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    losses = np.abs(mus[:, None] - np.repeat([0.2, 0.4], [12, 8]))
    assert interval_of_mu(mus, losses) == (0.2, 0.4)
    assert interval_of_mu(mus, np.tile(losses[:, :1], 20)) == (0.2, 0.2)


def curves(lengths, **more):
    """Findings of a subject whose errors of position are one in tosses of these numbers of intervals."""
    made = tuple(still(f"{k}", n) for k, n in enumerate(lengths))
    position = np.full((len(lengths), 1 + max(lengths)), np.nan)
    for row, n in zip(position, lengths, strict=True):
        row[: n + 1] = 1.0 + n
    search = [[0.2, 0.0], [0.3, 0.0], [0.2, 0.1], [0.2, 0.0], [0.3, 0.0]]
    one = outcome(search, np.ones((5, 2)), 0.2, 0.0, position, **more)
    thrower = SimpleNamespace(body=CUBE)
    return findings(RealityTrial(thrower, made, made, SILENT), [one])


def test_errors_over_time_are_of_the_tosses_that_last_as_long_as_half_of_them():
    found = curves([4, 6, 10]).over_time
    position = found[found["measure"] == "position"]
    assert position["t"].tolist() == pytest.approx([k / RATE for k in range(7)])
    # The toss that lasts just as long is one of them: 7 and 11 m.
    assert position["value"].tolist() == pytest.approx([9e3] * 7)


def test_a_curve_has_no_more_points_than_one_can_see():
    found = curves([200, 200]).over_time
    assert (found["measure"] == "position").sum() == MOMENTS


def test_the_spread_of_an_ensemble_is_a_curve_where_there_is_one():
    assert "spread" not in set(curves([4, 4]).over_time["measure"])
    found = curves([4, 4], spread=np.full((2, 5), 0.002)).over_time
    assert found.loc[found["measure"] == "spread", "value"].tolist() == pytest.approx([2.0] * 5)


def test_the_point_of_the_search_that_was_chosen_is_the_last_with_both_numbers():
    found = curves([4, 4])
    assert found.search["chosen"].tolist() == [False, False, False, True, False]
    assert found.search[["mu", "e"]].values.tolist() == [[0.2, 0.0], [0.3, 0.0], [0.2, 0.1], [0.2, 0.0], [0.3, 0.0]]
    assert found.subjects["rows"].tolist() == ["rigid"]
    assert set(found.subjects.attrs["columns"]) == set(found.subjects)


def test_rows_of_a_subject_with_springs_are_relaxed():
    rigid = outcome([[0.2, 0.0]], [[1.0, 1.0]], 0.2, 0.0, np.ones((2, 5)))
    soft = replace(rigid, subject=Subject(BOX.formulation, find_case("cube").relaxation))
    made = (still("a", 4), still("b", 4))
    found = findings(RealityTrial(SimpleNamespace(body=CUBE), made, made, SILENT), [rigid, soft])
    assert found.subjects["rows"].tolist() == ["rigid", "relaxed"]


def test_tosses_tell_mu_whose_errors_change_with_it_near_by_more_than_the_noise():
    """At the identified restitution, within a step of the coarse grid; a toss without an answer tells nothing."""
    noisy = replace(SILENT, rest=(0.0, 0.002))
    search = [[0.15, 0.1], [0.2, 0.1], [0.25, 0.1], [0.5, 0.1], [0.2, 0.3]]
    losses = [
        [0.010, 0.010, 0.010, 0.010, np.nan], [0.011, 0.013, 0.010, 0.010, 0.0], [0.010, 0.010, 0.010, 0.013, 0.0],
        [0.010, 0.010, 0.090, 0.010, 0.0], [0.900, 0.010, 0.010, 0.010, 0.0],
    ]  # fmt: skip
    one = outcome(search, losses, 0.2, 0.1, np.ones((2, 5)))
    made = (still("a", 4), still("b", 4))
    given = RealityTrial(SimpleNamespace(body=CUBE), made, made, noisy)
    assert findings(given, [one]).subjects.loc[0, "informative"] == 2
    # Without a rest that shows the noise every change counts but rounding.
    assert findings(replace(given, noise=SILENT), [one]).subjects.loc[0, "informative"] == 3
