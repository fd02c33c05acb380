"""A tower of many boxes, one on the other, one step after another under every formulation.

    python -m benchmarks.tower [--boxes 200] [--steps 5] [--formulation NAME ...]

The boxes, 1 kg and 0.1 m, stand on four corners each and start with random velocities of `--speed`. Printed are the
first posing with all that is compiled or read from disk for it, then the medians of posing (the tower's own mechanics
apart) and of whole steps, the worst residual, and the most memory that the process has had.
"""

import argparse
import resource
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from benchmarks.provenance import one_line, provenance
from workbench.engine.compiling import kernel
from workbench.language.formulation import ContactSymbols
from workbench.mechanics.bodies import RigidBodies, fill_body, fill_contact, place, point_of, rotation
from workbench.mechanics.core import FILL
from workbench.problems.solution import Status
from workbench.scenes.case_scene import CaseScene
from workbench.scenes.posing import Poser
from workbench.scenes.stepper import SceneStepper
from workbench.verbs.find import find_formulations

HALF, MASS = 0.05, 1.0
INERTIA = MASS * (2 * HALF) ** 2 / 6.0


@kernel(FILL)
def fill(q, v, data, core):
    """Box k stands on box k - 1, the first one on the ground."""
    s, x, n, t, R = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((3, 3))
    n[2] = t[0] = 1.0
    for k in range(v.shape[0] // 6):
        fill_body(core, v, k, MASS, INERTIA, INERTIA, INERTIA, 9.81)
        level = 0.0
        if k > 0:
            rotation(q, k - 1, R)
            level = HALF
            for j in range(3):
                t[j], n[j] = R[j, 0], R[j, 2]
                level += n[j] * q[7 * (k - 1) + j]
        for i in range(4):
            s[0], s[1], s[2] = HALF if i % 2 else -HALF, HALF if i // 2 else -HALF, -HALF
            point_of(q, k, s, x)
            gap = n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - level
            fill_contact(core, 4 * k + i, q, k - 1, k, x, n, t, gap, 0.5)


def tower(boxes: int, speed: float) -> RigidBodies:
    """The case; its size is the class's."""

    @dataclass(frozen=True)
    class Tower(RigidBodies):
        name: ClassVar[str] = f"tower of {boxes} boxes"
        size: ClassVar[tuple[int, int, int, int]] = (6 * boxes, 0, 4 * boxes, 2)
        duration: ClassVar[float] = 0.05
        fill: ClassVar[Any] = staticmethod(fill)

        def inertias(self) -> np.ndarray:
            return np.tile([MASS, *3 * [INERTIA]], (boxes, 1))

        def start(self) -> tuple[np.ndarray, np.ndarray]:
            v = speed * np.random.default_rng(0).standard_normal(6 * boxes)
            return place(*(((0.0, 0.0, HALF * (2 * k + 1)),) for k in range(boxes))), v

    return Tower()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, default=200)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--speed", type=float, default=0.01)
    parser.add_argument("--formulation", "-f", action="append")
    options = parser.parse_args()
    print(one_line(provenance()))
    print(
        f"{'formulation':18} unknowns  first [s]  posing [ms]  step [s]  passes  worst residual  unsolved  memory [GB]"
    )
    scene = CaseScene(tower(options.boxes, options.speed))
    # The mechanics are compiled for all.
    given = scene.instant(*scene.start(), 0.0, scene.step)
    for f in find_formulations(None):
        if f.symbols is ContactSymbols and f.name in (options.formulation or [f.name]):
            begun = perf_counter()
            size = Poser(f).pose(given).problem().size
            print(
                f"{f.name:18} {size:8} {perf_counter() - begun:10.2f} {measured(scene, f, options.steps)}", flush=True
            )


def measured(scene: CaseScene, f: Any, steps: int) -> str:
    """The columns of one formulation, as far as its steps are solved."""
    stepper, (q, v) = SceneStepper(scene, f), scene.start()
    posing, whole, residuals, passes, unsolved = [], [], [0.0], 0, 0
    for k in range(steps):
        given = scene.instant(q, v, k * scene.step, scene.step)
        begun = perf_counter()
        stepper.poser.pose(given, stepper.memory, stepper.method).problem()
        posing.append(perf_counter() - begun)
        begun = perf_counter()
        x = stepper.step(q, v, k * scene.step)
        whole.append(perf_counter() - begun)
        unsolved += x.status is not Status.SOLVED
        residuals.append(x.residual)
        q, v, passes = x.q, x.v, max(passes, x.passes)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return (
        f"{1e3 * np.median(posing):12.1f} {np.median(whole):9.2f} {passes:7} {max(residuals):15.1e} {unsolved:9} "
        f"{memory:12.2f}"
    )


if __name__ == "__main__":
    main()
