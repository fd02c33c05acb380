"""The engine MuJoCo beside the formulations of it, in scenes of the exam, step by step."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from workbench.algorithms.escalation import default_solver  # noqa: E402
from workbench.exams.adapters.mujoco import World  # noqa: E402
from workbench.exams.experiments import EXPERIMENTS  # noqa: E402
from workbench.exams.scene import FormulationWorld, TrialScene  # noqa: E402
from workbench.exams.touching import Shapes  # noqa: E402
from workbench.exams.trial import Trial  # noqa: E402
from workbench.language.formulation import Formulation  # noqa: E402
from workbench.mechanics.contact import ContactSystem  # noqa: E402
from workbench.step.one_step import solve_system  # noqa: E402
from workbench.support.arrays import Array  # noqa: E402
from workbench.verbs.find import find_formulation  # noqa: E402


class Halfway(Shapes):
    """Contacts where MuJoCo has them: half-way between the two surfaces, not on the body's own."""

    def close(self, x: Array, R: Array, reach: Array):
        found = super().close(x, R, reach)
        return found._replace(point=found.point - 0.5 * found.gap[:, None] * found.normal)


class Whole:
    """A trial under a formulation that is not local to its contacts: every step is one dense system, posed as a whole.

    The tangents are MuJoCo's, y and -x: its sweeps go through them in that order, and the first gives A_e.
    """

    def __init__(self, trial: Trial, formulation: Formulation, h: float) -> None:
        self.scene, self.formulation, self.h = TrialScene(trial), formulation, h

    def step(self) -> None:
        s = self.scene.instant(self.q, self.v, 0.0, self.h)
        J = s.J.toarray().reshape(-1, 3, self.v.size)
        J_t = np.stack([J[:, 2], -J[:, 1]], axis=1).reshape(-1, self.v.size)
        system = ContactSystem(s.M.toarray(), self.v, s.f, self.h, J[:, 0], J_t, s.mu[1::3], phi=s.phi)
        answer, solution = solve_system(self.formulation, system, default_solver("mixed NCP"))
        assert solution.verified
        self.v, self.found = answer.v, answer.p_n
        self.q = self.scene.advance(self.q, self.v, self.h)

    def state(self) -> tuple[Array, Array, Array]:
        return *self.scene.poses(self.q), self.v.reshape(-1, 6)

    def contacts(self) -> Array:
        return self.found[self.found > 0]


def apart(
    experiment: str, name: str, cone: str, formulation: str, shapes: type[Shapes] = Halfway, noslip: int = 0
) -> float:
    """How far velocities [m/s, rad/s] of ten steps of 2 ms are apart, after the engine's first.

    In that first step the contacts of MuJoCo are not yet closed. Its Delassus diagonal is the exact one, and its solver
    runs until it can do no more.
    """
    trial, h, world = EXPERIMENTS[experiment].trials[name], 2e-3, Whole if noslip else FormulationWorld
    engine, ours = World(trial.plain(), h, cone=cone, noslip=noslip), world(trial, find_formulation(formulation), h)
    engine.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
    engine.model.opt.tolerance, engine.model.opt.iterations, engine.model.opt.noslip_tolerance = 0.0, 300, 0.0
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


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("sweeps", [1, 3])
def test_ten_steps_of_the_engine_with_noslip_are_those_of_its_formulation(cone, sweeps):
    label = f"mujoco-noslip:cone={cone},sweeps={sweeps}"
    assert apart("slope", "mu = 0.5, 20 degrees", cone, label, noslip=sweeps) < 1e-12
