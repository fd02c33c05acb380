"""A comparison of a scene of grains: its motion as balls between walls, and what is known of the reference."""

import json
import re

import numpy as np
import pytest

import workbench as wb
from workbench.comparison.motion import DrawnMotion

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def found():
    scene = wb.scene("hopper", {"N": 6, "bin": 0.05, "opening": 0.03, "opens": 0})
    return wb.compare(scene, ["ccp", "frictionless"], steps=[4e-3], reference_step=4e-4, duration=0.06)


def test_grains_move_as_balls_between_their_walls(found, tmp_path):
    motion = found.comparison.motion
    scene = wb.scene("hopper", {"N": 6, "bin": 0.05, "opening": 0.03, "opens": 0})
    np.testing.assert_array_equal(motion.radii, scene.radius)
    np.testing.assert_array_equal(motion.sizes, scene.radius)
    assert motion.bodies == ()
    assert {x.name for x in motion.ground} >= {"wall", "rim", "floor"}
    assert [x.label for x in motion.tracks[1:]] == ["ccp", "frictionless"]
    motion.save(tmp_path / "motion.npz")
    np.testing.assert_array_equal(DrawnMotion.load(tmp_path / "motion.npz").radii, motion.radii)


def test_the_page_has_their_motion_and_the_checks(found):
    page = found.html()
    data = json.loads(re.search(r"const motion = (\{.*?\});\n", page)[1])
    assert data["radii"]["row"] == 6
    assert data["bodies"] == []
    assert '<input type="checkbox" name="layout" checked>' in page
    assert page.count("<circle cx=") % 6 == 0
    assert page.count("<circle cx=") > 0
    assert 'aria-label="checks of the reference"' in page
    assert all(truth.holds for truth in found.comparison.truths)
    names = {truth.name for truth in found.comparison.truths}
    assert {"momentum balance", "energy balance", "weight carried"} <= names
    assert f"{len(names)} of {len(names)} checks against theory hold." in found.words
