"""The runs of a comparison on a scene: formulations by solvers, and engines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.algorithms.base import Solver
from workbench.comparison.jobs import Job, Report
from workbench.engine.travel import Parcel
from workbench.language.formulation import Formulation
from workbench.scenes.run import SteppingScheme, perturbed, run
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.step.simulation import whole_steps

FEW = 2000
"""Steps of all runs up to which they stay in one process: others take a second to start."""
MakeStepper = Callable[[Any, Formulation, float, Solver], SteppingScheme]
"""Return the stepper of a scene under a formulation at a step [s] with a solver; may raise WorkbenchError."""


class SceneEngine(Protocol):
    """A row that is no formulation: another engine's own steps of the same scene, from its start."""

    @property
    def label(self) -> str: ...
    @property
    def words(self) -> str:
        """Description in one sentence."""

    def run(self, h: float, duration: float, progress: Report = None) -> Track: ...


@dataclass(frozen=True, eq=False)
class SceneRuns:
    """Runs of a scene for a duration [s], which `stepper` steps."""

    scene: Scene
    stepper: MakeStepper
    duration: float

    def __reduce__(self) -> tuple:
        return SceneRuns, (Parcel(self.scene), self.stepper, self.duration)

    def steps(self, job: Job) -> int:
        return whole_steps(self.duration, job.h)

    def make(self, job: Job, report: Report = None) -> Track:
        """Simulate one run step by step; raise WorkbenchError if that is impossible."""
        if not isinstance(job.subject, Formulation):
            engine: SceneEngine = job.subject
            return engine.run(job.h, self.duration, report)
        assert job.solver
        start = perturbed(self.scene, job.displaced) if job.displaced else None
        stepper = self.stepper(self.scene, job.subject, job.h, job.solver)
        return run(self.scene, stepper, self.steps(job), start, report)

    def worth_sharing(self, jobs: Sequence[Job]) -> Sequence[Job]:
        return jobs if sum(map(self.steps, jobs)) > FEW else ()
