"""Steps of scenes with contacts of every kind, by the workbench and by the dense reference solver.

    python -m tests.agreement [--steps 1000] [MODEL.xml ...]

Six small scenes (`benchmarks/scenes`), or the models given, move in MuJoCo with controls drawn at random; the contact
problems of their states are posed and solved by the workbench, under exact Coulomb friction, and by `dense_contact`,
which shares no code and no method with it. Compared are the velocities after the step, and with them the net impulses
M (v+ - v) - h f. Coulomb's law may have several answers: where the two differ, each is held against the law by the
reference's own measure.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import mujoco
import numpy as np

from tests.dense_contact import DenseStep, dense_step, residual, solve
from workbench.algorithms.escalation import default_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.scenes.mujoco.scene import MujocoScene
from workbench.scenes.posing import Poser

SCENES = sorted((Path(__file__).parents[1] / "benchmarks" / "scenes").glob("*.xml"))
OBEYS = 1e-8
"""Residual up to which an answer obeys the law."""
SAME = 1e-6
"""Difference up to which two answers are the same, of the velocity that the contacts change."""


def instants(path: Path, count: int, seed: int = 0, every: int = 10) -> Iterator[Any]:
    """Instants of the scene along a run of MuJoCo, `every` so many steps, new controls every hundred."""
    scene, rng = MujocoScene(path), np.random.default_rng(seed)
    model, data = scene.model, mujoco.MjData(scene.model)
    for k in range(every * count):
        if k % 100 == 0:
            data.ctrl[:] = rng.uniform(-1, 1, model.nu)
        if k % every == every // 2:
            q = np.concatenate([data.qpos, data.act])
            yield scene.instant(q, data.qvel.copy(), data.time, scene.step)
        mujoco.mj_step(model, data)


def workbench_impulses(poser: Poser, given: Any, step: DenseStep) -> np.ndarray:
    """The workbench's answer in the scaled rows of the dense step."""
    posed = poser.pose(given)
    problem = posed.problem()
    P, p_b, p_f = posed.impulses(default_solver("contact blocks").solve(problem).z)
    kept = given.mu > 0
    p = np.concatenate([P[kept] / given.mu[kept], p_f / np.where(given.limit > 0, given.limit, 1.0), p_b])
    assert p.size == step.q.size
    return p


@dataclass(frozen=True)
class Compared:
    """Residuals of the workbench's answer and of the reference's, and how far their velocities are apart."""

    ours: float
    reference: float
    apart: float
    seconds: float

    @property
    def verdict(self) -> str:
        if self.ours > OBEYS:
            return "unsolved"
        if self.reference > OBEYS:
            return "no reference"
        return "same" if self.apart <= SAME else "another answer"


def compared(poser: Poser, given: Any) -> Compared:
    """One step by both; speeds are measured by kinetic energy, in units of what the contacts change."""
    step = dense_step(given)
    begun = perf_counter()
    p = workbench_impulses(poser, given, step)
    seconds = perf_counter() - begun
    q, error = solve(step)
    ours, reference, free = step.velocity(p), step.velocity(q), step.velocity(0 * q)

    def speed(v: np.ndarray) -> float:
        return float(np.sqrt(v @ step.M @ v))

    changed = max(speed(reference - free), 1e-12 * speed(free), 1e-300)
    return Compared(residual(step, p), error, speed(ours - reference) / changed, seconds)


VERDICTS = ["same", "another answer", "unsolved", "no reference"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.agreement", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", type=Path, default=SCENES)
    parser.add_argument("--steps", type=int, default=1000, help="of all scenes together")
    asked = parser.parse_args()
    poser = Poser(FORMULATIONS.find("coulomb"))
    print("| scene | steps | " + " | ".join(VERDICTS) + " | largest difference of the same | worst residual |")
    print("|" + "---|" * (len(VERDICTS) + 4))
    for path in asked.models:
        found = [compared(poser, given) for given in instants(path, -(-asked.steps // len(asked.models)))]
        counts = " | ".join(str(sum(c.verdict == v for c in found)) for v in VERDICTS)
        apart = max((c.apart for c in found if c.verdict == "same"), default=np.nan)
        print(f"| {path.stem} | {len(found)} | {counts} | {apart:.1e} | {max(c.ours for c in found):.1e} |", flush=True)


if __name__ == "__main__":
    main()
