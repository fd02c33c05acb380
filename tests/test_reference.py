"""The reference of a comparison: the event-driven motion, sampled, beside time stepping."""

import numpy as np
import pytest

import workbench as wb
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.comparison.decision import shared_up_to
from workbench.comparison.event_steps import EventMotion
from workbench.comparison.measured import modes, uncertainty_factor
from workbench.events.phase import Integrator
from workbench.events.simulation import simulate_events
from workbench.step.simulation import simulate
from workbench.support.errors import DataError, UnknownNameError
from workbench.verbs.find import find_case, find_formulation

COULOMB = find_formulation("coulomb")
DENSE = Integrator(dense=True)
H = 1e-3


def motion(name, duration=None, h=H, **parameters):
    events = simulate_events(find_case(name, **parameters), duration, DENSE)
    assert events.reason == ""
    return EventMotion(events, events, COULOMB).at(h)[0]


def stepped(name, h, duration=None, **parameters):
    return simulate(find_case(name, **parameters), COULOMB, default_solver("Coulomb NCP"), h, duration)


# Sampled


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("name", "duration", "parameters"),
    [
        ("wheel", 0.3, {}), ("bouncing-ball", 1.0, {}), ("off-axis", 0.1, {}), ("sphere", 0.8, {}),
        ("rod", 0.1, {"speed": 0.5}),
    ],
)  # fmt: skip
def test_states_between_steps_are_those_of_another_integration(name, duration, parameters):
    """In time and in the time that ends of slip allow, over impacts, at the start of slip."""
    run = simulate_events(find_case(name, **parameters), duration, DENSE)
    t = np.linspace(0.0, duration, 41)
    for moment, *found in zip(t, *run.states(t), strict=True):
        at = run.state(moment)
        np.testing.assert_allclose(np.concatenate(found), [*at.q, *at.v, *at.p], atol=1e-11, rtol=0)


def test_impulses_are_what_the_momentum_asks_for():
    """A particle falls, collides, slides, rests: m (v - v_0) = - m g t + p_n, m (u - u_0) = p_t, step by step."""
    run = motion("particle")
    case, t = run.case, run.h * np.arange(1, run.steps + 1)
    p_n, p_t = np.cumsum(run.p_n[:, 0]), np.cumsum(run.p_t[:, 0, 0])
    np.testing.assert_allclose(case.m * (run.v_after[:, 1] - case.climb), p_n - case.m * case.gravity * t, atol=1e-12)
    np.testing.assert_allclose(case.m * (run.v_after[:, 0] - case.speed), p_t, atol=1e-12)
    time, approach, after = case.impact()
    hit = int(time / run.h)
    assert not run.p_n[:hit].any()
    assert run.p_n[hit, 0] == pytest.approx(case.m * (approach + case.gravity * ((hit + 1) * run.h - time)), rel=1e-10)
    assert run.u_t[hit, 0, 0] == pytest.approx(after - case.mu * case.gravity * ((hit + 1) * run.h - time), rel=1e-10)


def test_a_sampled_motion_tells_what_its_contacts_do():
    run = motion("particle")
    time, _, after = run.case.impact()
    found = modes(run)[:, 0]
    stop = time + after / (run.case.mu * run.case.gravity)
    assert (found[: int(time / H)] == "open").all()
    assert (found[int(time / H) + 1 : int(stop / H) - 4] == "sliding").all()
    assert (found[int(stop / H) + 1 :] == "sticking").all()
    # No problem is solved, so that there is no residual of one.
    assert np.isnan(run.residuals).all()
    assert np.isnan(run.judged.natural_map).all()
    assert np.isfinite(run.judged.normaliser).all()


def test_the_net_impulse_of_contacts_that_turn_is_of_second_order():
    """Beside the sum over tenths of the steps; rows at the start alone leave an error of first order."""
    run, fine = motion("wheel", 0.2), motion("wheel", 0.2, h=H / 10)
    exact = fine.contact_impulse.reshape(run.steps, 10, -1).sum(axis=1)
    first = np.einsum("kij,ki->kj", run.record.J, run.record.p)
    off, off_first = (np.abs(x - exact).max() for x in (run.contact_impulse, first))
    assert off < 1e-4 * np.abs(exact).max()
    assert off_first > 10 * off


def test_an_impact_within_a_step_has_its_impulse_on_the_bodies():
    """Of a ball under Moreau's law, open at the start and the end of the step: m (v - v_0) = - m g t + the impulses."""
    run = motion("bouncing-ball", 1.0)
    case, t = run.case, run.h * np.arange(1, run.steps + 1)
    made = np.cumsum(run.contact_impulse, axis=0)[:, 2] - case.m * case.gravity * t
    np.testing.assert_allclose(case.m * (run.v_after[:, 2] - run.states_v[0, 2]), made, atol=1e-10)


# Beside time stepping

SMOOTH = ["wheel", "block", "sphere", "drawer", "gripper", "off-axis", "pushed-box", "rod", "rod-in-guide", "sheath",
          "three-bodies"]  # fmt: skip


@pytest.mark.share(6)
@pytest.mark.parametrize("name", SMOOTH)
def test_time_stepping_converges_to_the_motion(name):
    """Its distance is what half the step changes, doubled, as of a method of first order."""
    exact = motion(name)
    coarse, fine = stepped(name, H), stepped(name, H / 2)
    for x in ("states_q", "states_v"):
        there, here, half = getattr(exact, x), getattr(coarse, x), getattr(fine, x)[::2]
        change, size = 2 * np.abs(here - half).max(), np.abs(there).max()
        assert np.abs(here - there).max() == pytest.approx(change, rel=0.1, abs=1e-7 * size)
        # Extrapolated it is far closer: what is left are events within a step.
        assert np.abs(2 * half - here - there).max() <= 0.3 * change + 1e-7 * size


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["particle", "spatial-particle", "bouncing-ball", "v-groove"])
def test_over_impacts_time_stepping_is_off_by_so_many_steps(name):
    """The constant depends on where in its step the impact is."""
    off = []
    for h in (1e-3, 1e-4):
        exact, found = motion(name, h=h), stepped(name, h)
        off.append(np.abs(found.states_q - exact.states_q).max())
        # Speeds of some metres a second, and impacts a step late, or two.
        assert off[-1] <= 10.0 * h * max(1.0, np.abs(exact.states_v).max())
    assert off[1] < 0.4 * off[0]


@pytest.mark.thorough
def test_the_threshold_of_sticking_is_what_time_stepping_of_the_table_is_off_by():
    """Static friction holds up to v_th, which takes sqrt(2 v_th / jerk), at any step; the motion has no threshold."""
    rate, case = np.radians(10.0), find_case("table")
    tilt = np.arctan(case.mu_s)
    jerk = case.gravity * rate * (np.cos(tilt) + case.mu_s * np.sin(tilt))
    late = np.sqrt(2 * case.v_th / jerk)
    lost = (case.mu_s - case.mu) * case.gravity * np.cos(tilt) * late
    exact, found = motion("table", h=1e-4), stepped("table", 1e-4)
    # Steps of 0.1 ms are off by 0.14 mm/s without it.
    assert exact.states_v[-1, 0] - found.states_v[-1, 0] == pytest.approx(lost, abs=2e-4)
    sharp = stepped("table", 1e-4, v_th=1e-10)
    assert np.abs(sharp.states_v - exact.states_v).max() < 0.4 * lost


# In a comparison


def test_compare_measures_by_the_motion_and_knows_it_to_ten_digits():
    c = wb.compare("block", ["box", "coulomb"], steps=H).comparison
    assert c.settings.reference == "events"
    assert c.runs["path_reference"].max() < 1e-9
    assert not any("reference" in x for x in c.remarks)
    # Exact friction at the step is off by half a step's way, speed h / 2.
    case = c.case
    own = c.runs[(c.runs["label"] == "coulomb") & (c.runs["window"] == "all")]["path_error"].iloc[0]
    assert own == pytest.approx(0.5 * H * case.speed, rel=0.02)
    rows = c.trajectories[c.trajectories["role"] == "reference"]
    assert set(rows["solver"]) == {"event-driven"}


def test_a_stepped_reference_is_asked_for_or_said_why():
    asked = wb.compare("block", ["box"], steps=H, duration=0.05, reference="steps").comparison
    assert asked.settings.reference == "steps"
    assert not any("reference" in x for x in asked.remarks)
    assert asked.runs["path_reference"].max() > 1e-7
    for why, found in (
        ("compliant", wb.compare("block", ["box"], steps=H, duration=0.02, relaxation="k_n=1e6,b_n=1e3")),
        ("the case's own, gap", wb.compare("block", ["box"], steps=H, duration=0.02, normal="velocity")),
        ("the impact is not unique", wb.compare("wedged-box", ["frictionless"], steps=H, duration=0.05)),
    ):
        c = found.comparison
        assert c.settings.reference == "steps"
        assert any(x.startswith("The reference is time stepping at 0.1 ms") and why in x for x in c.remarks), why
    with pytest.raises(DataError, match="cube has no event-driven reference: the rows of its contacts are compliant"):
        wb.compare("cube", ["box"], steps=H, duration=0.02, reference="events")
    with pytest.raises(UnknownNameError, match="reference"):
        wb.compare("block", ["box"], steps=H, reference="steady")


def test_what_fails_in_somebodys_own_mechanics_leaves_a_stepped_reference(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("no event here")

    monkeypatch.setattr("workbench.comparison.event_steps.simulate_events", broken)
    c = wb.compare("block", ["box"], steps=H, duration=0.05).comparison
    assert any("ZeroDivisionError: no event here" in x for x in c.remarks)


def test_half_the_step_tells_half_the_error_and_coarser_tolerances_all_of_it():
    fine, half = (stepped("block", h, 0.01) for h in (H, H / 2))
    assert uncertainty_factor(fine, half) == 2.0
    assert uncertainty_factor(fine, fine) == 1.0


def test_errors_within_a_twentieth_share_a_place():
    assert shared_up_to(1e-3, 0.0) == pytest.approx(1.05e-3)
    assert shared_up_to(1e-3, 1e-4) == pytest.approx(1.1e-3)
    assert shared_up_to(1e-3, np.nan) == pytest.approx(1.05e-3)
    assert shared_up_to(np.nan, np.nan) == 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("name", [x for x in CASES.names if x not in ("cube", "wedged-box", "tippe-top")])
def test_every_case_but_two_has_a_motion_to_measure_by(name):
    assert wb.compare(name, ["coulomb"], steps=H).comparison.settings.reference == "events"
