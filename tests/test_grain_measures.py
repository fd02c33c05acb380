"""Measures of grains on constructed data, truths of the scenes, and the study of a flow."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit

import workbench as wb
from workbench.builtin.cases import SCENES
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.text.flow import _over_mu
from workbench.comparison.scenes.flow_differences import flow_differences
from workbench.scenes.grains.measures import Watched, force_distribution, passing_rate, passing_time, solid_fraction
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.truths import weight_carried
from workbench.scenes.grains.walls import Flat
from workbench.scenes.run import run
from workbench.scenes.stepper import SceneStepper
from workbench.support.errors import DataError, UnknownNameError, WorkbenchError

BINS = np.append(np.arange(0.0, 6.0, 0.25), 6.0)

pytestmark = pytest.mark.thorough

FLOOR = Flat(0.5, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def made(scene, law, h, steps, since=0.0):
    watched = Watched(SceneStepper(scene, FORMULATIONS.find(law), h), scene, since)
    return watched, run(scene, watched, steps)


def test_a_cubic_packing_is_pi_sixths_solid():
    k = np.arange(7)
    x = np.stack(np.meshgrid(k, k, k), axis=-1).reshape(-1, 3) * 2.0
    assert solid_fraction(x, np.ones(len(x)), (1 / 6, 5 / 6)) == pytest.approx(np.pi / 6, abs=0.01)
    assert solid_fraction(x, np.full(len(x), 0.5), (1 / 6, 5 / 6)) == pytest.approx(np.pi / 48, abs=0.01)
    with pytest.raises(DataError, match="1 spheres have no solid fraction"):
        solid_fraction(x[:1], np.ones(1))


def test_the_rate_is_that_of_the_middle_of_what_passes():
    t = np.linspace(0, 1, 101)
    start = np.linspace(0, 2, 100)
    z = start - 3.0 * t[:, None]
    # 50 grains a metre at 3 m/s, 2 kg each.
    assert passing_rate(z, t, np.full(100, 2.0)) == pytest.approx(300.0, rel=0.02)
    assert np.isnan(passing_rate(z[:, :9], t, np.full(9, 2.0)))
    assert np.isnan(passing_rate(z + 100, t, np.full(100, 2.0)))
    # The 40th of them is at 0.8 m, and there after 0.8/3 s.
    assert passing_time(z, t, 0.4) == pytest.approx(0.8 / 3, abs=0.01)
    assert np.isnan(passing_time(z + 100, t, 0.1))


def test_a_distribution_of_forces_integrates_to_their_share():
    forces = np.random.default_rng(0).exponential(size=20_000)
    density = force_distribution(forces, BINS)
    assert density @ np.diff(BINS) == pytest.approx((forces < 6).mean(), rel=1e-12)
    assert density[4] == pytest.approx(np.exp(-1.125), rel=0.1)
    assert np.isnan(force_distribution(np.zeros(0), BINS)).all()


@pytest.mark.parametrize(("law", "share"), [("coulomb", 0.0), ("ccp", 1.0)])
def test_a_sliding_grain_floats_at_mu_h_times_its_speed_under_associated_flow_alone(law, share):
    h, mu = 1e-3, 0.5
    # From where associated flow holds it; lower down it would be thrown up at mu times its speed at once.
    scene = Grains([0.1], [(0, 0, 0.1 + mu * h * 2.0)], [[2.0, 0, 0, 0, 0, 0]], walls=[FLOOR], mu=mu)
    watched, track = made(scene, law, h, 30, since=0.0199)
    found = watched.measured()
    assert found["coordination"] == 1.0
    assert found["float_gap"] == pytest.approx(share * mu * h * found["slip"], rel=1e-6, abs=1e-12)
    assert 1.5 < found["slip"] < 2.0
    assert len(watched.forces) == 10
    np.testing.assert_allclose(weight_carried(scene, track)[20:], 1.0, rtol=0.05)


def test_two_grains_on_another_press_on_all_three():
    x = [(0, 0, 0.1), (0.21, 0, 0.1), (0.105, 0, 0.1 + np.sqrt(0.2**2 - 0.105**2))]
    scene = Grains([0.1] * 3, x, walls=[FLOOR], mu=0.5)
    watched, _ = made(scene, "coulomb", 1e-3, 2)
    found = watched.measured()
    # Four contacts: two of the upper one with the lower ones, and two with the floor: six ends.
    assert found["coordination"] == pytest.approx(2.0)
    assert found["slip"] < 1e-9
    assert found["strong_contacts"] == 0.0
    assert found["overlap"] < 1e-12


def test_a_run_in_which_nothing_touches_has_no_contact_measures():
    scene = Grains([0.1], [(0, 0, 5.0)], walls=[FLOOR])
    watched, _ = made(scene, "coulomb", 1e-3, 3)
    assert np.isnan(watched.measured()["coordination"])


def test_what_scenes_measure_themselves():
    x = np.zeros((5, 100, 3))
    angle = np.radians(20.0)
    x[..., 0], x[..., 2] = -np.sin(angle), -np.cos(angle)
    track = SimpleNamespace(position=x, t=np.arange(5.0))
    assert SCENES.find("rotating-drum")().measured(track)["slope"] == pytest.approx(20.0)
    x[..., 0] *= -1
    assert SCENES.find("rotating-drum")(turning=-1.0).measured(track)["slope"] == pytest.approx(20.0)
    column = SCENES.find("column-collapse")()
    x[..., 0], x[..., 1], x[..., 2] = column.foot * np.linspace(0, 3, 100), 0.0, 0.25
    assert column.measured(track)["runout"] == pytest.approx(1.7, rel=1e-6)
    assert column.measured(track)["height"] == 0.25
    # A cone of height 0.3 and radius 1, filled evenly, on grains of radius 0.005.
    rng = np.random.default_rng(0)
    cone = rng.uniform([-1, -1, 0], [1, 1, 0.3], (60_000, 3))
    cone = cone[cone[:, 2] < 0.3 * (1 - np.hypot(cone[:, 0], cone[:, 1]))] + [0, 0, 0.005 * np.sqrt(2 / 3)]
    heap = SimpleNamespace(position=cone[None], t=np.zeros(1))
    assert column.measured(heap)["slope"] == pytest.approx(np.degrees(np.arctan(0.3)), rel=0.02)
    # Ten grains as high as 0.3 m, of which one falls at 1 m/s once the hole is open.
    t, z = np.linspace(0, 1, 51), np.full((51, 10), 0.3)
    z[:, 0] -= np.maximum(t - 0.2, 0.0)
    falling = SimpleNamespace(position=np.stack([0 * z, 0 * z, z], axis=-1), t=t)
    assert SCENES.find("hopper")(N=10).measured(falling)["delay"] == pytest.approx(0.3, abs=0.03)
    assert SCENES.find("hopper")(N=10, opens=0.7).measured(falling)["height"] == pytest.approx(0.25)
    # One grain of 400 passes every 10 ms from 0.2 s on: the discharge has begun when 40 have.
    for t, heard in ((np.arange(0, 0.55, 0.01), False), (np.arange(0, 0.75, 0.01), True)):
        z = 0.3 - 100.0 * (t[:, None] > 0.2 + 0.01 * np.arange(400))
        passing = SimpleNamespace(position=np.stack([0 * z, 0 * z, z], axis=-1), t=t)
        found = SCENES.find("hopper")(N=400, spread=0.0).measured(passing)
        assert np.isfinite([found["discharge"], found["delay"]]).tolist() == [heard, heard]
    mass = SCENES.find("hopper")(N=400, spread=0.0).scene().mass[0]
    assert found["discharge"] == pytest.approx(100.0 * mass, rel=0.01)
    hopper = SCENES.find("hopper")()
    assert hopper.beverloo(1500.0) == pytest.approx(0.58 * 1500 * np.sqrt(9.81) * 0.03**2.5)
    assert SCENES.find("hopper")(opening=0.01).beverloo(1500.0) == 0.0


@pytest.mark.parametrize("name", ["packing", "column-collapse", "hopper", "rotating-drum", "silo"])
@pytest.mark.parametrize("law", ["coulomb", "ccp"])
def test_momentum_and_energy_are_balanced_step_by_step(name, law):
    case = SCENES.find(name)(N=25)
    _, track = made(case.scene(), law, 2e-3, 15)
    assert track.finished
    truths = case.truths(track)
    assert len(truths) >= 2
    assert all(x.holds for x in truths), truths


def test_a_balance_that_is_off_is_seen():
    case = SCENES.find("column-collapse")(N=10)
    _, track = made(case.scene(), "coulomb", 5e-3, 30)
    names = {x.name for x in case.truths(track)}
    assert names == {"momentum balance", "energy balance", "energy gained", "weight carried"}
    assert next(x for x in case.truths(track) if x.name == "weight carried").theory > 0
    track.touched.wrench[-1, 3, 2] += 1e-4
    assert {x.name for x in case.truths(track) if not x.holds} >= {"momentum balance", "weight carried"}
    track.touched.wrench[-1, 3, 2] -= 1e-4
    track.v[7, 2] += 1e-6
    assert not all(x.holds for x in case.truths(track))
    track.v[7, 2] -= 1e-6
    track.energy[9] += 1e-3
    assert {x.name for x in case.truths(track) if not x.holds} == {"energy balance", "energy gained"}


@pytest.fixture(scope="module")
def found():
    values = {"N": 25, "seed": 5}
    steps = [4e-3, 2e-3]
    return wb.flow("rotating-drum", values=values, mu=[0.3], steps=steps, seeds=2, duration=0.08, roughness=1e-4)


def test_a_flow_has_a_row_a_run_with_units_and_meanings(found):
    rows = found.rows
    assert list(rows["step"]) == [4e-3] * 4 + [2e-3] * 4
    assert list(rows["formulation"]) == ["coulomb", "coulomb", "ccp", "ccp"] * 2
    assert list(rows["seed"]) == [0, 1] * 4
    assert rows["finished"].all()
    assert set(rows.attrs["columns"]) == set(rows.columns)
    ccp = rows[rows["formulation"] == "ccp"]
    np.testing.assert_allclose(ccp["float_gap"], ccp["artefact"], rtol=0.02)
    np.testing.assert_allclose(rows["needed_step"] * rows["artefact"], 1e-4 * found.flow.radius * rows["step"])


def test_the_page_of_a_flow_answers_first(found, tmp_path):
    assert "No significant difference between ccp and coulomb" in found.words[0]
    assert any(word.startswith("Associated flow (ccp) opens sliding contacts by μ h |uₜ|") for word in found.words)
    assert "Checks against theory that hold: momentum balance, energy balance and weight carried in every run." in (
        found.words
    )
    assert found.words[-1].startswith("Confidence: each number is the mean difference")
    found.save(tmp_path / "out")
    assert '<p class="lead">25 grains in a rotating drum' in found.html()
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert '<td class="yes">8 of 8 runs</td>' in page
    assert page.count("<circle cx=") == 2 * 3 * 25
    assert "default-src" in page
    assert all(f'id="figure-{name}"' in page for name in ("differences", "flow", "artefact", "forces"))
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {
        "flow.csv",
        "differences.csv",
        "forces.csv",
        "truths.csv",
        "report.html",
    }


def test_a_run_that_fails_is_a_row_with_its_reason(monkeypatch):
    monkeypatch.setattr("workbench.verbs.flow.MOST", 20)
    monkeypatch.setattr("workbench.verbs.flow.AFTER", {})
    found = wb.flow(
        "packing", ["ccp"], values={"N": 30}, mu=[0.5], steps=[1e-3], seeds=1, duration=2e-3, tolerance=1e-12
    )
    row = found.rows.iloc[0]
    assert (row["finished"], row["steps"]) == (False, 0)
    assert row["reason"] in found.words[0]
    with pytest.raises(DataError, match=r"opening = 0.5 m"):
        wb.flow("hopper", values={"opening": 0.5})


def test_grains_without_friction_flow_alike_under_both_laws():
    found = wb.flow("rotating-drum", values={"N": 12}, mu=[0.0], steps=[4e-3], seeds=2, duration=0.04)
    rows = found.rows
    assert rows["finished"].all()
    assert (rows["artefact"] == 0).all()
    assert rows["needed_step"].isna().all()
    assert not any("holds contacts that slide open" in word for word in found.words)
    assert '<canvas tabindex="0"' in found.html()


def test_one_run_of_each_law_is_reported_in_the_table_and_not_drawn_over_axes_of_two_points():
    found = wb.flow("rotating-drum", values={"N": 12}, mu=[0.3], steps=[4e-3], seeds=1, duration=0.04)
    page = found.html()
    assert 'id="figure-flow"' not in page
    assert 'id="figure-artefact"' in page
    (heard,) = (x for x in found.words if x.startswith("Associated flow"))
    beside = found.rows["artefact"].max() / found.flow.roughness
    assert heard.endswith(f"At the steps used here it is {float(f'{beside:.2g}'):g} times the roughness.")
    assert (found.rows["residual"] <= found.rows["worst_residual"]).all()
    assert (found.rows["worst_residual"] <= 1e-2).all()


def test_what_makes_no_flow_is_refused_in_a_line():
    with pytest.raises(UnknownNameError, match="unknown scene 'hoper'; did you mean 'hopper'"):
        wb.flow("hoper")
    with pytest.raises(WorkbenchError, match=r"roughness = 2; a number between 0 and 1"):
        wb.flow("hopper", roughness=2)
    with pytest.raises(WorkbenchError, match="at least one formulation, one friction coefficient and one step"):
        wb.flow("hopper", mu=[])
    with pytest.raises(DataError, match=r"steps -1 to -1 s in 1 s; at least one whole step"):
        wb.flow("hopper", steps=[-1])
    for seeds in (0, 2.5, 1e6):
        with pytest.raises(WorkbenchError, match=re.escape(f"seeds = {seeds:g}; a whole number from 1 to 1000")):
            wb.flow("hopper", seeds=seeds)
    with pytest.raises(DataError, match=r"mu = -1; a nonnegative number"):
        wb.flow("hopper", mu=[-1])


def test_a_measure_over_mu_rises_or_falls_where_the_starts_tell():
    case = SimpleNamespace(measures={"x": ("deg", "")})
    for slope, said in ((50.0, "increasing"), (-50.0, "decreasing"), (1.0, "no significant change")):
        rows = flow_rows(lambda f, mu, h, s, slope=slope: 20 + slope * mu + s, mus=(0.1, 0.5), seeds=3)
        (words,) = _over_mu(SimpleNamespace(case=case), rows)
        # Starts 0, 1, 2: a spread of 1, and 4.3 / 3^1/2 of it on either side.
        assert f"{21 + 0.1 * slope:.3g} ± 2.5 at μ = 0.1 and {21 + 0.5 * slope:.3g} ± 2.5 at μ = 0.5" in words
        assert said in words
    assert _over_mu(SimpleNamespace(case=case), flow_rows(lambda *_: 1.0, mus=(0.1, 0.5), seeds=1)) == []
    assert _over_mu(SimpleNamespace(case=case), flow_rows(lambda *_: 1.0, seeds=3)) == []


def flow_rows(values, steps=(1.0, 2.0), mus=(0.1,), seeds=4):
    """Rows with a measure x: values(formulation, mu, step, seed)."""
    return pd.DataFrame([
        {"formulation": f, "mu": mu, "step": h, "seed": s, "x": values(f, mu, h, s)}
        for f in ("coulomb", "ccp") for mu in mus for h in steps for s in range(seeds)
    ])  # fmt: skip


def test_a_measure_that_is_zero_has_no_relative_difference():
    assert flow_differences(flow_rows(lambda *_: 0.0), ["x"]).empty


def test_differences_are_those_of_pairs_beside_coulombs_mean():
    d = flow_differences(flow_rows(lambda f, mu, h, s: 10.0 + s + (0.5 * h if f == "ccp" else 0.1 * h)), ["x"])
    ccp = d[d["formulation"] == "ccp"].set_index("step")
    # The starts' own scatter is in both runs of a pair, and leaves nothing open.
    assert ccp.loc[1.0, "difference"] == pytest.approx(0.4 / 11.6)
    assert ccp.loc[2.0, "difference"] == pytest.approx(0.8 / 11.7)
    np.testing.assert_allclose(ccp["uncertainty"], 0, atol=1e-12)
    own = d[d["formulation"] == "coulomb"]
    assert own[["step", "runs"]].to_numpy().tolist() == [[2.0, 4]]
    assert own["difference"].iloc[0] == pytest.approx(0.1 / 11.6)


def test_what_chance_makes_is_reported_about_as_seldom_as_it_should_be():
    rng, heard = np.random.default_rng(0), 0
    for _ in range(15):
        d = flow_differences(flow_rows(lambda *_: rng.normal(10, 1), mus=(0.1, 0.5), seeds=3), ["x"])
        heard += bool(d[d["formulation"] == "ccp"]["significant"].any())
    # 5 % of 15 are less than one.
    assert heard <= 3
    d = flow_differences(flow_rows(lambda f, *_: rng.normal(10, 1) + 8 * (f == "ccp"), seeds=4), ["x"])
    assert d[d["formulation"] == "ccp"]["significant"].all()
    # As wide as the theory's: two means of 4 each, spread 2^1/2, 6 degrees of freedom, 2 means.
    assert d["uncertainty"].iloc[-1] == pytest.approx(0.1 * stdtrit(6, 1 - 0.05 / 4) * np.sqrt(2 / 4), rel=0.5)


def test_less_is_reported_as_more_is_and_every_further_measure_widens_what_chance_may_make():
    rng = np.random.default_rng(1)
    rows = flow_rows(lambda f, *_: rng.normal(10, 1) - 8 * (f == "ccp")).assign(y=lambda x: x["x"])
    both = (flow_differences(rows, measures) for measures in (["x"], ["x", "y"]))
    one, two = (d[d["formulation"] == "ccp"] for d in both)
    assert (one["difference"] < 0).all()
    assert one["significant"].all()
    wider = two["uncertainty"].iloc[0] / one["uncertainty"].iloc[0]
    assert wider == pytest.approx(stdtrit(6, 1 - 0.05 / 8) / stdtrit(6, 1 - 0.05 / 4))


def test_one_start_or_a_missing_run_tells_nothing():
    one = flow_differences(flow_rows(lambda f, mu, h, s: 10.0 + h, seeds=1), ["x"])
    assert np.isinf(one["uncertainty"].astype(float)).all()
    assert not one["significant"].any()
    rows = flow_rows(lambda f, mu, h, s: 10.0 + h * (f == "ccp"), seeds=2)
    assert set(flow_differences(rows[rows["step"] > 1.0], ["x"])["step"]) == {2.0}
    left = rows[~((rows["formulation"] == "coulomb") & (rows["step"] == 1.0))]
    assert set(flow_differences(left, ["x"])["formulation"]) == {"ccp"}
    assert flow_differences(rows[rows["formulation"] == "ccp"], ["x"]).empty
