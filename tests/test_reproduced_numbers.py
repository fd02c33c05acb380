"""What the reproductions compute, by other ways."""

import numpy as np
import pytest

from workbench.builtin.cases.block import Block
from workbench.builtin.cases.sphere import Sphere
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations.anitescu_potra import anitescu_potra
from workbench.builtin.formulations.box import box_friction
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.reports.reproductions import (
    _conic,
    _stick_slip,
    _wheel,
    _wheel_friction,
    cnd_17_1068,
    idetc2016_60064,
)
from workbench.builtin.reports.reproductions._wheel import one_solver, row
from workbench.builtin.reports.reproductions.page import make_page
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import Settings
from workbench.support.errors import WorkbenchError
from workbench.support.output import provenance

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def short():
    return _wheel.compared((coulomb, anitescu_potra, box_friction), 0.3)


def test_one_solver_is_left_for_each_formulation_and_it_is_verified(short):
    assert len(short.runs) == 3 * 2
    assert short.runs["verified"].all()
    assert set(short.trajectories["role"]) == {"run", "reference"}
    per_run = short.trajectories[short.trajectories["role"] == "run"].groupby("label")["solver"].nunique()
    assert (per_run == 1).all()
    unsolved = compare_case(Wheel(), [box_friction], coulomb, ["interior-point"], Settings((1e-3,), 1e-3, 0.01))
    with pytest.raises(WorkbenchError, match=r"no verified run of box on wheel"):
        one_solver(unsolved)


def test_what_the_wheel_page_computes_step_by_step_is_what_the_comparison_says(short):
    for f in (coulomb, anitescu_potra, box_friction):
        deviation = 100 * np.sqrt(_wheel_friction.squares(short, f).mean())
        assert deviation == pytest.approx(_wheel.percent(short, f), rel=1e-9, abs=1e-12)
        angle = _wheel_friction.angle_below(short, f, Wheel().v_th)
        assert angle == pytest.approx(row(short, f)["misalignment_rms"], rel=1e-9, abs=1e-9)


def test_sticking_ends_on_coulombs_disc_where_the_axes_are_turned_to_the_push():
    for angle in (10.0, 45.0, 130.0):
        assert _stick_slip.size(_stick_slip.RIGID, angle) == pytest.approx(1.0, abs=2e-7)
        # Otherwise on a square, turned to the last force or not at all.
        c, s = np.abs(_stick_slip.towards(angle))
        assert _stick_slip.size(box_friction, angle) == pytest.approx(1 / max(c, s), abs=2e-7)
        aside = _stick_slip.size(_stick_slip.RIGID, angle, 20.0)
        assert aside == pytest.approx(1 / np.cos(np.radians(20.0)), abs=2e-7)


def test_sliding_friction_follows_a_velocity_that_turns_a_little():
    friction, u = _stick_slip.step(_stick_slip.RIGID, _stick_slip.across(0.05), 1.0)
    assert friction[0] == pytest.approx(-1.0, abs=1e-12)
    assert u[1] > 0.04
    np.testing.assert_allclose(friction[1] / friction[0], u[1] / u[0], rtol=5e-3)


def test_the_bristle_cures_redundant_friction():
    assert {c.verdict for c in idetc2016_60064.redundancy().claims} == {"confirmed"}


@pytest.mark.parametrize("kind", [Sphere, Block])
def test_the_first_step_of_the_ccp_from_zero_gap_in_closed_form(kind):
    rng = np.random.default_rng(3)
    for _ in range(5):
        case = kind(
            mu=rng.uniform(0.05, 0.9), speed=rng.uniform(1, 9), m=rng.uniform(0.1, 5), gravity=rng.uniform(1, 20)
        )
        h = rng.uniform(1e-4, 5e-3)
        r = cnd_17_1068.run(case, h, duration=h)
        after, impulse = cnd_17_1068.first_step(case, h)
        assert cnd_17_1068.slip(r)[0] == pytest.approx(after, rel=1e-10)
        assert r.p_n[0, 0] == pytest.approx(impulse, rel=1e-10)


def test_the_impulses_of_the_redundant_box_lie_in_their_range():
    for v in ((0.0, 0.0, 0.0), (1.0, -0.4, 0.0)):
        velocities, impulses = _conic.reordered(v)
        least, most = _conic.normal_range(_conic.box_on_corners(v), velocities[0]).T
        assert np.ptp(velocities, axis=0).max() <= 1e-10
        assert (impulses >= least - 1e-8).all()
        assert (impulses <= most + 1e-8).all()


def test_the_page_of_the_ccp_explains_what_it_does_not_confirm():
    made = make_page("cnd-17-1068", provenance(), lambda *_: None)
    open_ones = made.claims[made.claims["verdict"] != "confirmed"]
    assert list(open_ones["section"]) == [
        "A sliding contact lifts off",
        "Started at its own gap, the sphere slides as under Coulomb's law",
    ]
    assert (open_ones["why"] != "Not explained yet.").all()
    # The frame's verdicts once more from its own columns, by other code.
    sign = made.claims["relation"].map({"=": 0, "≤": 1, "≥": -1})
    off = made.claims["computed"] - made.claims["expected"]
    within = np.where(sign == 0, off.abs(), sign * off) <= made.claims["tolerance"]
    assert list(within) == list(made.claims["verdict"] == "confirmed")
    assert sum(kind["confirmed"] for kind in made.counts.values()) >= 36
