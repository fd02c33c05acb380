"""Derivatives of a scene's step against differences of steps, in MuJoCo models with contacts of several kinds."""

from pathlib import Path

import numpy as np
import pytest

from workbench.algorithms.escalation import default_solver
from workbench.derivatives.scene_step import SceneStep
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

mujoco = pytest.importorskip("mujoco")
SCENES = Path(__file__).parents[1] / "benchmarks" / "scenes"
pytestmark = pytest.mark.thorough


def step_of(name, label, steps=60):
    """The step of a scene after some steps of MuJoCo's own."""
    from workbench.scenes.mujoco.scene import MujocoScene

    scene = MujocoScene(SCENES / f"{name}.xml")
    data = mujoco.MjData(scene.model)
    for _ in range(steps):
        mujoco.mj_step(scene.model, data)
    return SceneStep(scene, find_formulation(label), np.append(data.qpos, data.act), data.qvel.copy(), data.time)


def velocity(step, s, direction):
    posed, _ = step._posed(s, **direction)
    return posed.velocity(default_solver("contact blocks").solve(posed.blocks).z)


@pytest.mark.parametrize("label", ["coulomb", "ccp", "stewart-trinkle"])
@pytest.mark.parametrize("name", ["hopper", "quadruped"])
def test_a_step_of_a_scene_moves_with_its_state_forces_and_friction(name, label):
    step, rng = step_of(name, label), np.random.default_rng(3)
    n, R = step.v.size, step.instant.mu.size
    assert step.instant.contacts >= 4
    for moved, size in (("q", n), ("v", n), ("f", n), ("mu", R)):
        direction = {"q": np.zeros(n), "v": np.zeros(n), "f": np.zeros(n), "mu": np.zeros(R)}
        direction[moved] = rng.normal(size=size) * (0.1 if moved == "mu" else 1.0)
        found = step.along(**direction)
        assert not found.is_kink
        off = []
        for s in (1e-3, 1e-4, 1e-5, 1e-6):
            try:
                ends = [velocity(step, k * s, direction) for k in (1, -1, 2, -2)]
            except DataError:
                continue
            expected = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * s)
            off.append(np.abs(expected - found.v).max() / max(np.abs(expected).max(), 1e-3))
        assert min(off) < 1e-6, moved


def test_a_scene_whose_derivative_is_not_formed_says_why():
    with pytest.raises(DataError, match="iterates"):
        step_of("hopper", "box:bounds=iterated")
    pile = step_of("pile", "coulomb", steps=30)
    none = np.zeros(pile.v.size)
    with pytest.raises(DataError, match="share the load"):
        pile.along(none, none, none, np.arange(1.0, pile.instant.mu.size + 1))
