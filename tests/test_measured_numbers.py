"""Measures of constructed motions, in closed form: what a number means, whatever made the motion."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.comparison.metrics import METRICS
from workbench.exams.experiments import EXPERIMENTS
from workbench.scenes.grains.measures import fall_time, passing_rate, passing_time


def test_one_step_that_invents_momentum_is_not_lost_among_others():
    """A mass of 2 kg on the ground, 50 steps, in one of them the ground gives 1 % more than is taken."""
    steps, mass, weight = 50, 2.0, 0.02
    p = np.full((steps, 1), weight)
    p[20] *= 1.01
    shape = (steps, 1, 1)
    record = SimpleNamespace(
        mass=np.full(shape, mass), J=np.ones(shape), J_b=np.zeros((steps, 0, 1)), b=np.full((steps, 1), -weight), p=p,
        after=np.zeros((steps, 1)),
    )  # fmt: skip
    run = SimpleNamespace(record=record)
    error = METRICS.find("momentum-error").function
    assert error(SimpleNamespace(run=run, steps=np.arange(20))) == 0.0
    assert error(SimpleNamespace(run=run, steps=np.arange(steps))) == pytest.approx(0.01 / 2.01, rel=1e-12)


H, V_TH = 1e-2, 1e-3


def rubbing(speed, x=None):
    """A run of one loaded contact that slides at a speed (K,) [m/s], its body's centre at x (K + 1, 3)."""
    K = len(speed)
    return SimpleNamespace(
        h=H, v_th=V_TH, tolerance=1e-9, judged=SimpleNamespace(normaliser=np.ones((K, 1))), p_n=np.ones((K, 1)),
        u_t=np.stack([speed, 0.0 * speed], axis=-1)[:, None], case=SimpleNamespace(centre=lambda q: q), states_q=x,
    )  # fmt: skip


def beside(run, reference, first=0):
    """What a metric sees of a run and a reference of the same steps, from the first on."""
    steps = np.arange(first, len(run.p_n))
    return SimpleNamespace(
        run=run, reference=reference, case=run.case, steps=steps, starts=lambda _: steps, ends=lambda _: steps + 1
    )  # fmt: skip


def value(name, m):
    return METRICS.find(name).function(m)


def test_creep_is_in_micrometres_a_second_and_slip_in_millimetres():
    slow = rubbing(np.full(40, 5e-4))
    m = beside(slow, rubbing(np.zeros(40)))
    assert value("creep", m) == pytest.approx(500.0)
    assert value("slip", m) == pytest.approx(0.2)
    # What slides in the reference does not creep.
    assert np.isnan(value("creep", beside(slow, rubbing(np.full(40, 2e-3)))))


def test_rest_is_since_the_start_of_the_motion_and_not_of_the_window():
    """A body slides at 1 m/s for 15 steps of 10 ms, then rests; the window begins with the fifth."""
    speed = np.where(np.arange(40) < 15, 1.0, 0.0)
    x = np.zeros((41, 3))
    x[1:, 0] = H * np.cumsum(speed)
    run, other = rubbing(speed, x), rubbing(speed, x + np.array([0.0, 0.002, 0.0]))
    assert value("rest-time", beside(run, other, 5)) == pytest.approx(0.15)
    assert value("rest-place", beside(run, other, 5)) == pytest.approx(2.0)
    assert np.isnan(value("rest-time", beside(rubbing(0 * speed + 1.0, np.arange(41.0)[:, None] * [H, 0, 0]), run)))


def test_a_lost_rebound_is_negative():
    """A ball strikes at 2 m/s in the eleventh step, with a restitution of 0.3, beside one of 0.8."""

    def struck(e):
        v = np.where(np.arange(21) <= 10, -2.0, 2.0 * e)[:, None]
        run, loaded = rubbing(np.zeros(20), np.zeros((21, 1))), (np.arange(20) == 10)[:, None]
        # Nothing is prescribed: a case that fills nothing leaves zeros.
        case = SimpleNamespace(size=(1, 0, 1, 1), v_th=V_TH, data=lambda: np.zeros(0), fill=lambda *_: None)
        moving = {"case": case, "states_v": v, "v_after": v[1:], "record": SimpleNamespace(J=np.ones((20, 1, 1)))}
        return SimpleNamespace(**(vars(run) | moving | {"p_n": 1.0 * loaded}))

    weak = beside(struck(0.3), struck(0.8))
    weak.falls = lambda k: np.zeros((len(k), 1))
    assert value("rebound", weak) == pytest.approx(-0.5)


def test_lift_is_what_a_gap_has_beyond_the_reference_s_and_beyond_none():
    """A contact at 1 mm, beside one that penetrates by 2 mm and beside one at 0.4 mm."""

    def at(phi):
        return SimpleNamespace(p_n=np.ones((3, 1)), case=None, record=SimpleNamespace(phi=np.full((4, 1), phi)))

    assert value("lift", beside(at(1e-3), at(-2e-3))) == pytest.approx(1.0)
    assert value("lift", beside(at(1e-3), at(4e-4))) == pytest.approx(0.6)
    assert value("lift", beside(at(-1e-3), at(4e-4))) == 0.0


def test_the_spin_that_a_disc_keeps_is_about_its_axis():
    record = SimpleNamespace(acceleration=lambda *_, **__: -29.43, speed=lambda t: np.array([0, 0, 0, 0.1, 0.2, -3.0]))
    _, left = EXPERIMENTS["spin"].measure({"10 rad/s": record})
    assert (left.value, left.error > 1) == (3.0, True)


def test_times_and_rates_of_falling_grains_are_between_the_moments_that_are_known():
    """Ten grains: one has passed the level after a second, five after two, all after three."""
    t, passed = np.arange(4.0), np.array([0, 1, 5, 10])
    z = np.where(np.arange(10) < passed[:, None], -1.0, 1.0)
    assert passing_time(z, t, 0.2) == pytest.approx(1.25)
    assert passing_time(z, t, 0.9) == pytest.approx(2.8)
    assert np.isnan(passing_time(z[:3], t[:3], 0.9))
    # From 4 to 0, half way between the third and the fourth moment, counted from the second one.
    assert fall_time(np.array([4.0, 4.0, 3.0, 1.0, 0.0]), np.arange(5.0), 1.0) == pytest.approx(1.5)
    evenly = np.where(np.arange(100) < np.arange(101)[:, None], -1.0, 1.0)
    assert passing_rate(evenly, np.linspace(0, 5, 101), np.full(100, 0.5)) == pytest.approx(10.0)
