"""Overlaps that nothing can undo are found before a run, or named where one ends."""

import numpy as np
import pytest

from tests.scenes import Balls
from workbench.algorithms import find_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.mechanics.instant import instant
from workbench.scenes.jammed import jammed
from workbench.scenes.posing import Poser
from workbench.scenes.run import run
from workbench.scenes.stepper import SceneStepper

COULOMB, BARE = FORMULATIONS.find("coulomb"), FORMULATIONS.find("frictionless")
H, RECOVERY = 0.01, 0.1


def squeezed(normals, phi, J_b=(), g=()):
    """A particle of three velocities with frictionless contacts along unit normals."""
    rows = np.reshape(normals, (-1, 3)).astype(float)
    more = {"J_b": np.reshape(J_b, (-1, 3)).astype(float), "g": np.array(g, dtype=float)} if len(g) else {}
    return instant(H, np.eye(3), np.zeros(3), np.zeros(3), J=rows, first=np.arange(len(rows) + 1), phi=phi, **more)


def test_two_walls_that_press_on_one_body_are_in_the_way_and_a_third_is_not():
    s = squeezed([[1, 0, 0], [-1, 0, 0], [0, 0, 1]], [-0.02, -0.02, -0.02])
    assert jammed(s, RECOVERY).tolist() == [True, True, False]
    # One of the two is nearly undone already: what is asked of it is little, of the other all the same.
    assert jammed(squeezed([[1, 0, 0], [-1, 0, 0]], [-0.02, 0.0]), RECOVERY).tolist() == [True, False]
    # There is room for what is asked.
    assert not jammed(squeezed([[1, 0, 0], [-1, 0, 0]], [-0.02, 0.002]), RECOVERY).any()


def test_an_equality_may_be_in_the_way():
    held = squeezed([[1, 0, 0]], [-0.02], J_b=[[1, 0, 0]], g=[0.0])
    assert jammed(held, RECOVERY).tolist() == [True, False]
    assert not jammed(squeezed([[0, 1, 0]], [-0.02], J_b=[[1, 0, 0]], g=[0.5]), RECOVERY).any()


@pytest.mark.parametrize("seed", range(8))
def test_what_is_not_jammed_has_a_step_and_what_is_has_none(seed):
    rng = np.random.default_rng(seed)
    normals = rng.standard_normal((5, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    s = squeezed(normals, rng.uniform(-0.02, 0.01, 5))
    problem = Poser(BARE, recovery=RECOVERY).pose(s).problem()
    found = find_solver("blocks-exact").solve(problem)
    assert (found.residual <= 1e-10) == (not jammed(s, RECOVERY).any())


def wedge(mu):
    """A particle 2 mm deep between walls that open upwards, 1 : 5, contacts with tangents up the wall and aside."""
    rows = [[[s, 0, 0.2], [-0.2 * s, 0, 1], [0, 1, 0]] for s in (1.0, -1.0)]
    J = np.reshape(rows, (-1, 3)) / np.sqrt([1.04, 1.04, 1.0] * 2)[:, None]
    phi, friction = np.array([-0.002, -0.002]), np.array([1.0, mu, mu] * 2)
    return instant(H, np.eye(3), np.zeros(3), np.zeros(3), J=J, first=np.array([0, 3, 6]), phi=phi, mu=friction)


@pytest.mark.parametrize("mu", [0.0, 0.19, 0.21, 1.0])
def test_friction_wedges_what_slides_faster_than_it_opens(mu):
    """Up the walls a particle opens contacts at 0.2 of the speed at which it slides: the friction angle decides."""
    assert not jammed(wedge(mu), RECOVERY).any()
    assert jammed(wedge(mu), RECOVERY, friction=True).any() == (mu > 0.2)
    problem = Poser(COULOMB, recovery=RECOVERY).pose(wedge(mu)).problem()
    solver = find_solver("blocks-exact").adjusted(None, 20)
    assert (solver.solve(problem).residual <= 1e-9) == (mu <= 0.2)


def test_a_run_that_comes_to_a_jam_names_it():
    """A ball between the ground and a rock above it."""
    scene = Balls([[0, 0, 0.09]], [[0, 0, 0]], fixed=[[0, 0, 0.27]])
    track = run(scene, SceneStepper(scene, COULOMB, H, find_solver("blocks-exact").adjusted(None, 20)), 1)
    assert track.reason == (
        "at 0 s: no motion can undo 2 overlaps and limits together: rigid contact has no answer there"
    )


SLOT = """<mujoco><worldbody>
    <geom name="left" type="box" size=".1 1 1" pos="-.2 0 0" euler="0 {angle} 0" friction="{mu}"/>
    <geom name="right" type="box" size=".1 1 1" pos=".2 0 0" euler="0 -{angle} 0" friction="{mu}"/>
    <body name="plug"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".15" friction="{mu}"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("mu", "said"), [(0.05, 0), (1.0, 1)])
def test_a_model_that_begins_wedged_is_stepped_with_its_overlaps_as_they_are(tmp_path, mu, said):
    pytest.importorskip("mujoco")
    from workbench.scenes.mujoco.scene import MujocoScene

    (tmp_path / "slot.xml").write_text(SLOT.format(angle=10, mu=mu))
    scene = MujocoScene(tmp_path / "slot.xml")
    assert sum("2 overlaps and limits that friction wedges" in x for x in scene.left_out) == said
    assert run(scene, SceneStepper(scene, COULOMB, scene.step), 5).finished


def test_a_step_that_friction_wedges_names_it():
    scene = Balls([[0, 0, 0.09]], [[0, 0, 0]], fixed=[[0.08, 0, 0.26]])
    track = run(scene, SceneStepper(scene, COULOMB, H, find_solver("blocks-exact").adjusted(None, 20)), 1)
    assert track.reason == (
        "at 0 s: friction wedges 2 overlaps and limits together: no motion can undo them, and Coulomb's law need not "
        "have an answer there"
    )
    track = run(scene, SceneStepper(scene, BARE, H, find_solver("blocks-exact").adjusted(None, 20)), 1)
    assert "wedge" not in track.reason


def test_a_model_that_begins_in_a_jam_is_stepped_with_its_overlaps_as_they_are(tmp_path):
    pytest.importorskip("mujoco")
    from workbench.scenes.mujoco.scene import MujocoScene

    walls = "".join(f'<geom type="box" size=".1 1 1" pos="{x} 0 0"/>' for x in (-0.2, 0.2))
    plug = '<body name="plug"><joint type="slide" axis="1 0 0"/><geom type="box" size=".15 .1 .1"/></body>'
    (tmp_path / "slot.xml").write_text(f"<mujoco><worldbody>{walls}{plug}</worldbody></mujoco>")
    scene = MujocoScene(tmp_path / "slot.xml")
    said = [x for x in scene.left_out if "no motion can undo" in x]
    assert len(said) == 1
    assert "0.05 deep: they count as touching" in said[0]
    track = run(scene, SceneStepper(scene, COULOMB, scene.step), 5)
    assert track.finished
    assert np.abs(track.v).max() < 1e-12
    # MuJoCo's own law is about how deep they are.
    soft = scene.softened()
    assert soft.instant(*soft.start(), 0.0, scene.step).phi.min() == pytest.approx(-0.05)
