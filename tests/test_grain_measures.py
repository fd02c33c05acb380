"""Measures of grains on constructed data, truths of the scenes, and the study of a flow."""

from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.cases import SCENES
from workbench.builtin.formulations import FORMULATIONS
from workbench.comparison.scenes.flow import BINS
from workbench.errors import DataError, UnknownNameError, WorkbenchError
from workbench.scenes.grains.measures import Watched, force_distribution, passing_rate, solid_fraction
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.truths import weight_carried
from workbench.scenes.grains.walls import Flat
from workbench.scenes.run import run
from workbench.scenes.stepper import SceneStepper

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
    assert found["strong"] == 0.0
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
    hopper = SCENES.find("hopper")()
    assert hopper.beverloo(1500.0) == pytest.approx(0.58 * 1500 * np.sqrt(9.81) * 0.035**2.5)
    assert SCENES.find("hopper")(opening=0.01).beverloo(1500.0) == 0.0


@pytest.mark.parametrize("name", ["packing", "column-collapse", "hopper", "rotating-drum"])
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
    assert names == {"momentum balance", "energy balance", "energy gained", "weight on the ground"}
    track.v[7, 2] += 1e-6
    assert not all(x.holds for x in case.truths(track))
    track.v[7, 2] -= 1e-6
    track.energy[9] += 1e-3
    assert {x.name for x in case.truths(track) if not x.holds} == {"energy balance", "energy gained"}


@pytest.fixture(scope="module")
def found():
    return wb.flow("rotating-drum", values={"N": 25}, mu=[0.3], steps=[4e-3, 2e-3], duration=0.08, roughness=1e-4)


def test_a_flow_has_a_row_a_run_with_units_and_meanings(found):
    rows = found.rows
    assert list(rows["step"]) == [4e-3, 4e-3, 2e-3, 2e-3]
    assert list(rows["formulation"]) == ["coulomb", "ccp"] * 2
    assert rows["finished"].all()
    assert set(rows.attrs["columns"]) == set(rows.columns)
    ccp = rows[rows["formulation"] == "ccp"]
    np.testing.assert_allclose(ccp["float_gap"], ccp["artefact"], rtol=0.02)
    np.testing.assert_allclose(rows["needed_step"] * rows["artefact"], 1e-4 * found.flow.radius * rows["step"])


def test_the_page_of_a_flow_answers_first(found, tmp_path):
    assert found.words[0].startswith("Associated flow (ccp) holds contacts that slide open by μ h |uₜ|")
    assert any(word.startswith("Slope: ccp has up to") for word in found.words)
    found.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "default-src" in page
    assert all(f'id="figure-{name}"' in page for name in ("flow", "artefact", "forces"))
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {"flow.csv", "forces.csv", "report.html"}


def test_a_run_that_fails_is_a_row_with_its_reason(monkeypatch):
    monkeypatch.setattr("workbench.verbs.flow.MOST", 20)
    monkeypatch.setattr("workbench.verbs.flow.AFTER", {})
    found = wb.flow("packing", ["ccp"], values={"N": 30}, mu=[0.5], steps=[1e-3], duration=2e-3, tolerance=1e-12)
    row = found.rows.iloc[0]
    assert (row["finished"], row["steps"]) == (False, 0)
    assert row["reason"] in found.words[0]
    with pytest.raises(DataError, match=r"opening = 0.5 m"):
        wb.flow("hopper", values={"opening": 0.5})


def test_what_makes_no_flow_is_refused_in_a_line():
    with pytest.raises(UnknownNameError, match="unknown scene 'hoper'; did you mean 'hopper'"):
        wb.flow("hoper")
    with pytest.raises(WorkbenchError, match=r"roughness = 2; a number between 0 and 1"):
        wb.flow("hopper", roughness=2)
    with pytest.raises(WorkbenchError, match="at least one formulation, one friction coefficient and one step"):
        wb.flow("hopper", mu=[])
    with pytest.raises(DataError, match=r"steps -1 to -1 s in 1 s; at least one whole step"):
        wb.flow("hopper", steps=[-1])
    with pytest.raises(DataError, match=r"mu = -1; a nonnegative number"):
        wb.flow("hopper", mu=[-1])
