"""The engine MuJoCo beside the formulations of it, in scenes of the exam, step by step."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

import workbench as wb  # noqa: E402
from workbench.arrays import Array  # noqa: E402
from workbench.exams.adapters.mujoco import World  # noqa: E402
from workbench.exams.experiments import EXPERIMENTS  # noqa: E402
from workbench.exams.scene import FormulationWorld  # noqa: E402
from workbench.exams.touching import Shapes, Touching  # noqa: E402


class Halfway(Shapes):
    """Contacts where MuJoCo has them: half-way between the two surfaces, not on the body's own."""

    def close(self, x: Array, R: Array, reach: Array) -> Touching:
        found = super().close(x, R, reach)
        return found._replace(point=found.point - 0.5 * found.gap[:, None] * found.normal)


def apart(experiment: str, name: str, cone: str, formulation: str, shapes: type[Shapes] = Halfway) -> float:
    """How far velocities [m/s, rad/s] of ten steps of 2 ms are apart, after the engine's first.

    In that first step the contacts of MuJoCo are not yet closed. Its Delassus diagonal is the exact one, and its solver
    runs until it can do no more.
    """
    trial, h = EXPERIMENTS[experiment].trials[name], 2e-3
    engine, ours = World(trial.plain(), h, cone=cone), FormulationWorld(trial, wb.formulations.find(formulation), h)
    engine.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
    engine.model.opt.tolerance, engine.model.opt.iterations = 0.0, 300
    ours.scene.shapes = shapes(trial)
    engine.step()
    x, orientation, v = engine.state()
    ours.q, ours.v = np.hstack([x, orientation]).ravel(), v.ravel()
    found = []
    for _ in range(10):
        engine.step()
        ours.step()
        assert len(engine.contacts()) == len(ours.contacts()) == len(trial.bodies[0].spheres)
        found.append(np.abs(engine.state()[2] - ours.state()[2]).max())
    return max(found)


@pytest.mark.parametrize(
    ("experiment", "trial", "cone", "formulation"),
    [
        ("rest", "block", "elliptic", "mujoco"), ("slope", "mu = 0.5, 20 degrees", "elliptic", "mujoco"),
        ("slope", "mu = 0.5, 30 degrees", "elliptic", "mujoco"), ("rest", "ball", "pyramidal", "mujoco-pyramid"),
    ],
)  # fmt: skip
def test_ten_steps_of_the_engine_are_those_of_its_formulation(experiment, trial, cone, formulation):
    assert apart(experiment, trial, cone, formulation) < 1e-12


def test_where_a_contact_is_within_the_overlap_is_seen():
    assert 1e-6 < apart("slope", "mu = 0.5, 20 degrees", "elliptic", "mujoco", Shapes) < 1e-4
