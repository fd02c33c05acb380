"""Janssen's law: what it says, what is measured of it, and the wall that spends its friction."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.builtin.cases import SCENES
from workbench.builtin.cases.silo import janssen
from workbench.builtin.formulations import FORMULATIONS
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat, Tube
from workbench.scenes.run import run
from workbench.scenes.stepper import SceneStepper
from workbench.verbs.flow import planned

pytestmark = pytest.mark.thorough


def test_janssens_share_is_the_pressure_of_a_slice_in_balance():
    # d sigma / dz = rho g - (4 mu K / D) sigma, integrated downwards in slices; sigma beside rho g H.
    s, slices = 3.0, 200_000
    sigma = 0.0
    for _ in range(slices):
        sigma += (1.0 - s * sigma) / slices
    assert janssen(s) == pytest.approx(sigma, rel=1e-4)
    assert janssen(0.0) == 1.0
    assert janssen(1e-9) == pytest.approx(1.0, rel=1e-8)
    assert 1e3 * janssen(1e3) == pytest.approx(1.0)


def test_what_the_ground_holds_is_by_normal_forces_alone():
    floor = Flat(0.5, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    scene = Grains([0.1, 0.1], [(0, 0, 0.1), (0, 0, 0.3)], [[1.0, 0, 0, 0, 0, 0]] * 2, walls=[floor], mu=0.5)
    track = run(scene, SceneStepper(scene, FORMULATIONS.find("coulomb"), 1e-3), 3)
    # Two grains, one on the other, slide on the floor: it pushes back, but holds their weight alone.
    np.testing.assert_allclose(track.touched.held[0], [0, 0, 9.81 * scene.mass.sum()], rtol=1e-6, atol=1e-6)
    assert (track.touched.wrench[:, :, 0].sum(axis=1) < -1.0).all()


def test_a_tube_that_rises_drags_what_touches_it_upwards():
    scene = Grains([0.1], [(0.9, 0, 0)], walls=[Tube(0.5, 1.0, axis=2, turning=2.0, rising=0.3)])
    given = scene.instant(*scene.start(), 0.0, 1e-3)
    np.testing.assert_allclose(-(given.rate @ given.places.acts[:, :3]), [0, 2, 0.3], atol=1e-14)


def test_a_silo_measures_the_last_fifth_of_what_its_floor_holds():
    silo = SCENES.find("silo")(N=4)
    pull = float(silo.scene().mass.sum() * silo.gravity)
    held = np.zeros((10, 3))
    held[8:, 2] = [0.2 * pull, 0.4 * pull]
    z = np.full((11, 4, 3), 0.05)
    track = SimpleNamespace(position=z, steps=10, touched=SimpleNamespace(held=held))
    found = silo.measured(track)
    assert found["floor"] == pytest.approx(0.3)
    assert found["height"] == 0.05
    assert janssen(4 * silo.mu * found["sideways"] * 2 * 0.05 / silo.bin) == pytest.approx(0.3)
    # Where the floor holds all, or nothing, there is no such K.
    for share in (1.2, 0.0):
        held[8:, 2] = share * pull
        assert np.isnan(silo.measured(track)["sideways"])


@pytest.fixture(scope="module")
def settled():
    """Silos whose walls have risen by more than a grain, and their runs."""
    found = []
    for seed in range(3):
        silo = SCENES.find("silo")(N=50, seed=seed)
        plan = planned(silo, ["coulomb"], mu=[silo.mu], steps=[8e-3], seeds=1)
        scene = silo.scene()
        found.append((silo, run(scene, plan.stepper(scene, plan.formulations[0], 8e-3), 80)))
    return found


def off(truths):
    """By how much the weights on the floors of several silos are off, their mean beside the tolerance.

    One pile of fifty grains is off by as much as the tolerance, up or down: which one is up to its seed and rounding.
    """
    floors = [found["weight on the floor"] for found in truths]
    return np.mean([x.computed - x.theory for x in floors]) / np.mean([x.tolerance for x in floors])


def test_silos_keep_janssens_law(settled):
    truths = [{x.name: x for x in silo.truths(track)} for silo, track in settled]
    assert abs(off(truths)) < 1
    for found in truths:
        assert set(found) == {"momentum balance", "energy balance", "weight carried", "weight on the floor"}
        assert all(x.holds for name, x in found.items() if name != "weight on the floor"), found
        assert found["weight carried"].theory == pytest.approx(1.0, abs=0.02)
        assert found["weight on the floor"].computed < 0.8


def test_it_is_no_law_of_a_wall_that_does_not_move_or_too_little_nor_of_twice_the_weight(settled):
    silo, track = settled[0]
    for rising in (0.0, 0.01):
        assert "weight on the floor" not in {x.name for x in replace(silo, rising=rising).truths(track)}
    double = [replace(track, touched=track.touched._replace(held=2.0 * track.touched.held)) for _, track in settled]
    truths = [{x.name: x for x in silo.truths(track)} for (silo, _), track in zip(settled, double, strict=True)]
    assert off(truths) > 1
