"""Derivatives of a scene's step against differences of steps, in MuJoCo models with contacts of several kinds."""

from pathlib import Path

import numpy as np
import pytest

from workbench.derivatives.scene_run import scene_parameter
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


@pytest.mark.parametrize("label", ["coulomb", "ccp", "stewart-trinkle"])
@pytest.mark.parametrize("name", ["hopper", "quadruped"])
def test_a_step_of_a_scene_moves_with_its_state_forces_and_friction(name, label):
    step, rng = step_of(name, label), np.random.default_rng(3)
    n, none = step.v.size, np.zeros(step.v.size)
    assert step.instant.contacts >= 4
    for moved in ("q", "v", "f[2]", "mu"):
        q, v = (rng.normal(size=n) if x == moved else none for x in ("q", "v"))
        p = scene_parameter(step.scene, moved if moved in ("f[2]", "mu") else "v[0]")
        f, mu = p.f, p.moved(p.mu).instant(step.q, step.v, step.t, step.h).mu - step.instant.mu

        def end(s, q=q, v=v, p=p):
            after = SceneStep(
                p.moved(s), find_formulation(label), step.scene.advance(step.q, q, s), step.v + s * v, step.t
            )
            return np.append(after.q_next, after.v_next)

        found = step.along(q, v, f, mu)
        assert not found.is_kink
        off = []
        for s in (1e-3, 1e-4, 1e-5, 1e-6):
            ends = [end(k * s) for k in (1, -1, 2, -2)]
            expected = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * s)
            sizes = np.append(np.full(step.q.size, step.h), np.ones(n)) * max(np.abs(expected).max(), 1e-3)
            off.append((np.abs(expected - np.append(found.q, found.v)) / sizes).max())
        assert min(off) < 1e-6, (moved, off)


def test_a_scene_whose_derivative_is_not_formed_says_why():
    with pytest.raises(DataError, match="iterates"):
        step_of("hopper", "box:bounds=iterated")
    pile = step_of("pile", "coulomb", steps=30)
    none = np.zeros(pile.v.size)
    with pytest.raises(DataError, match="share the load"):
        pile.along(none, none, none, np.arange(1.0, pile.instant.mu.size + 1))
