"""Up to which time runs of a scene are compared, on motions that are made up: what ends it, and what is said of it."""

import numpy as np
import pytest

from tests import tracks
from workbench.comparison.scenes.horizon import MOST_GROWTH, horizon
from workbench.support.errors import WorkbenchError

LEAST = 1e-6
PERTURBATION = 1e-7

FINE, H, END = 0.125, 0.5, 4.0
BODIES = "first", "second"


def track(h, apart, end=END):
    """A run up to a time, in which the second body is apart(t) [m] from where it was and the first one at rest."""
    steps = round(end / h)
    position = np.zeros((steps + 1, 2, 3))
    position[:, 1, 0] = apart(h * np.arange(steps + 1))
    return tracks.track(steps, h, 2, position, round(END / h))


def still(t):
    return 0 * t


def grown(factor):
    """Times from 1 on at which the displacement has grown so much."""
    return lambda t: PERTURBATION * np.where(t >= 1, factor, 1.0)


STAYS = grown(1.0)


def ended(rows, reference=still, coarse=still, displaced=STAYS, ends=(END, END, END)):
    runs = zip((FINE, 2 * FINE, 2 * FINE), (reference, coarse, displaced), ends, strict=True)
    return horizon(*(track(*x) for x in runs), rows, BODIES)


FAR = track(H, lambda t: 0.1 * t)


def test_all_of_it_is_compared_where_the_reference_is_known_and_nothing_grows():
    end = ended([FAR], coarse=lambda t: 0.01 * t, displaced=lambda t: 0.01 * t + PERTURBATION)
    assert (end.until, end.why) == (END, "")
    np.testing.assert_allclose(end.growth, [0.0, 1.0])
    # The mean over the steps that are compared, the start not among them.
    np.testing.assert_allclose(end.uncertainty, [0.0, 0.01 * np.mean(np.arange(1, 9) * H)])


@pytest.mark.parametrize(("factor", "until"), [(0.99 * MOST_GROWTH, END), (1.01 * MOST_GROWTH, 0.5)])
def test_it_stops_before_the_step_at_which_a_displacement_has_grown_too_much(factor, until):
    end = ended([FAR], displaced=grown(factor))
    assert end.until == until
    assert end.growth[1] == pytest.approx(factor if until == END else 1.0)
    assert ("chaotic at 1 s" in end.why and "second" in end.why) == (until < END)


def test_what_has_grown_stays_grown():
    end = ended([FAR], displaced=lambda t: PERTURBATION * np.where(t == 1.0, 50.0, 1.0))
    assert (end.until, end.growth[1]) == (END, pytest.approx(50.0))


@pytest.mark.parametrize(("share", "until"), [(0.32, END), (0.35, 1.5)])
def test_it_stops_where_the_reference_is_off_by_a_third_of_what_rows_are(share, until):
    """The median of the rows, not the worst of them."""
    rows = [track(H, lambda t, k=k: k * t) for k in (0.001, 0.1, 0.2)]
    wrong = lambda t: np.where(t >= 2, share * 0.1 * t, 0.0)  # noqa: E731
    end = ended(rows, coarse=wrong, displaced=wrong)
    assert end.until == until
    assert ("more than a third" in end.why) == (until < END)


def test_what_runs_have_differed_by_counts_where_they_meet_again():
    """Runs were 100 mm off once: an uncertainty of 20 mm comes later, where they are where the reference is."""
    once = track(H, lambda t: np.where(t == 1.0, 0.1, 0.0))
    wrong = lambda t: np.where(t >= 2, 0.02, 0.0)  # noqa: E731
    assert ended([once], coarse=wrong, displaced=wrong).until == END


@pytest.mark.parametrize(("apart", "until"), [(0.9 * LEAST, END), (1.1 * LEAST, 0.5)])
def test_what_nobody_sees_ends_no_comparison(apart, until):
    wrong = lambda t: np.where(t >= 1, apart, 0.0)  # noqa: E731
    assert ended([track(H, still)], coarse=wrong, displaced=wrong).until == until


def test_it_stops_with_the_reference_at_a_whole_number_of_the_largest_step():
    end = ended([FAR, track(H / 2, lambda t: t)], ends=(1.375, END, END))
    assert end.until == 1.0
    assert "at 125 ms has no verified step at 1.375 s: it ended" in end.why


def test_of_two_runs_of_the_reference_that_end_the_first_to_do_so_is_named():
    end = ended([FAR], ends=(3.0, 1.25, END))
    assert end.until == 1.0
    assert "at 250 ms has no verified step at 1.25 s" in end.why


def test_nothing_to_compare_is_one_line():
    with pytest.raises(WorkbenchError, match=r"nothing can be compared: the motion is chaotic at 0\.5 s"):
        ended([FAR], displaced=lambda t: PERTURBATION * np.where(t > 0, 2 * MOST_GROWTH, 1.0))
    with pytest.raises(WorkbenchError, match=r"no verified step at 0\.25 s"):
        ended([FAR], ends=(0.25, END, END))
