"""Formulations compared on granular flow: runs over friction coefficients and steps, and their measures.

Grains that collide soon have nothing in common from run to run but their statistics, which is what is compared: every
run is made from several starts, drawn with the `seed` of the case and those after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.comparison.failure import Failed
from workbench.comparison.jobs import Report, run_jobs
from workbench.comparison.scenes.flow_differences import flow_differences
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Truth
from workbench.mechanics.solids import Plane, Solid, slabs
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.measures import MEASURES, Watched, force_distribution, solid_fraction
from workbench.scenes.grains.scene import Grains
from workbench.scenes.run import SteppingScheme, run
from workbench.scenes.track import Track
from workbench.step.simulation import whole_steps
from workbench.support.arrays import Array
from workbench.support.errors import DataError
from workbench.support.progress import ProgressCallback

MakeGrainStepper = Callable[[Grains, Formulation, float], SteppingScheme]
BINS = np.append(np.arange(0.0, 6.0, 0.25), 6.0)
"""Bins of forces relative to their mean."""
SAMPLES = 10
"""States of the second half of a run whose solid fraction is counted."""
FEWEST = 20
"""Grains of a bed, from which on it has a solid fraction."""
GIVEN = {
    "formulation": ("", "the formulation with its options"), "mu": ("1", "friction coefficient"),
    "step": ("s", "step size"), "seed": ("", "number of the random start"),
    "finished": ("", "whether the run reached its end"),
    "reason": ("", "why it did not"), "steps": ("1", "steps made"), "solve_time": ("s", "time of all steps"),
    "contacts": ("1", "mean number of detected contacts over the run"),
    "residual": ("1", "residual of the posed problem, median over the steps"),
    "worst_residual": ("1", "largest such residual of a step; up to ten times the tolerance is accepted from sweeps"),
}  # fmt: skip
COMPARED = ("solid_fraction", "coordination", "strong_contacts")
"""Measures of all scenes by which formulations are compared, after those of the scene itself."""
ARTEFACT = {
    "artefact": ("m", "mu h |u_t|, the gap at which associated flow keeps a sliding contact; u_t is `slip`"),
    "needed_step": ("s", "step at which that gap equals the grains' roughness"),
}


MOMENTS = 121
"""Moments of a motion that is shown, at most."""


@dataclass(frozen=True)
class Moving:
    """Positions (K, N, 3) [m] of grains of radius (N,) [m] in one run, at times t (K,) [s] that all runs share.

    `ground` holds the walls that are drawn.
    """

    formulation: str
    t: Array
    position: Array
    radius: Array
    ground: tuple[Solid, ...]


@dataclass(frozen=True)
class GranularFlow:
    """`rows`, one a run, and `forces`, P(f) of each; of a case, with grains of this radius and roughness [m].

    `truths` are the case's, of every run. `moving` are the runs of every formulation at the largest friction
    coefficient and the smallest step, from the first start.
    """

    case: SceneCase
    rows: pd.DataFrame
    forces: pd.DataFrame
    truths: pd.DataFrame
    moving: tuple[Moving, ...]
    radius: float
    roughness: float

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that formulations are compared by."""
        return (*self.case.measures, *COMPARED)

    @property
    def differences(self) -> pd.DataFrame:
        """Difference of each formulation from Coulomb's law; see `flow_differences`."""
        return flow_differences(self.rows[self.rows["finished"]], self.measures)


class FlowPlan(NamedTuple):
    """Runs of a scene of grains: under every formulation, with every mu and step [s], from so many random starts.

    `duration` in seconds; `roughness` of a grain relative to its radius; `stepper` makes what steps a scene.
    """

    case: SceneCase
    formulations: Sequence[Formulation]
    mus: Sequence[float]
    steps: Sequence[float]
    seeds: int
    duration: float
    roughness: float
    stepper: MakeGrainStepper


def flow_runs(plan: FlowPlan, progress: ProgressCallback | None = None) -> GranularFlow:
    """Return all runs of a plan. Raises DataError for a scene without grains."""
    case, formulations, mus, steps, seeds, duration, roughness, stepper = plan
    scene = case.scene()
    if not isinstance(scene, Grains):
        raise DataError(f"{case.name} has no grains; use: workbench compare {case.name}")
    if min(steps) <= 0 or duration < max(steps):
        raise DataError(
            f"steps {min(steps):g} to {max(steps):g} s in {duration:g} s; at least one whole step is needed"
        )
    for mu in mus:
        # What no case can have is refused before anything is run.
        case.with_parameters(mu=mu)
    jobs = [Planned(f, mu, h, seed) for mu in mus for h in steps for f in formulations for seed in range(seeds)]
    rough = roughness * float(np.mean(scene.radius[: len(scene.mass)]))
    rows, forces, truths, moving = [], [], [], []
    for x, made in run_jobs(FlowRuns(case, duration, stepper), jobs, progress):
        if isinstance(made, Failed):
            made = Made({"finished": False, "reason": made.reason, "steps": 0})
        artefact = x.mu * made.row.get("slip", np.nan)
        rows.append(x.named | made.row | {
            "artefact": x.step * artefact, "needed_step": rough / artefact if artefact > 0 else np.nan
        })  # fmt: skip
        density = force_distribution(made.forces, BINS)
        middle = 0.5 * (BINS[1:] + BINS[:-1])
        forces += [x.named | {"force": f, "density": y} for f, y in zip(middle, density, strict=True)]
        truths += [x.named | {**vars(truth), "holds": truth.holds} for truth in made.truths]
        if made.moving and (x.mu, x.step, x.seed) == (max(mus), min(steps), 0):
            moving.append(made.moving)
    about = columns(case)
    frame = pd.DataFrame(rows).reindex(columns=list(about))
    frame.attrs["columns"] = about
    mean = float(scene.radius[: len(scene.mass)].mean())
    return GranularFlow(case, frame, pd.DataFrame(forces), pd.DataFrame(truths), tuple(moving), mean, rough)


def at_roughness(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of one step for each friction coefficient: the step closest to the `needed_step` of its artefact."""
    own = rows.assign(far=np.log(rows["step"] / rows["needed_step"]))
    own["far"] = own.groupby(["mu", "step"])["far"].transform("mean").abs()
    return rows[own["far"] == own.groupby("mu")["far"].transform("min")]


def columns(case: SceneCase) -> dict[str, dict[str, str]]:
    """Unit and meaning of every column of a flow's rows."""
    each = GIVEN | case.measures | {name: tuple(x) for name, x in MEASURES.items()} | ARTEFACT
    return {name: {"unit": x[0], "meaning": x[1]} for name, x in each.items()}


class Made(NamedTuple):
    """Result of a run: its measures, the forces of loaded contacts, truths, and the positions of its grains."""

    row: dict[str, Any]
    forces: Array = np.zeros(0)
    truths: Sequence[Truth] = ()
    moving: Moving | None = None


class Planned(NamedTuple):
    """One run: a formulation, a friction coefficient, a step [s], and which start."""

    formulation: Formulation
    mu: float
    step: float
    seed: int

    @property
    def named(self) -> dict[str, Any]:
        return {"formulation": self.formulation.label, "mu": self.mu, "step": self.step, "seed": self.seed}

    def __str__(self) -> str:
        return f"{self.formulation.label}, mu = {self.mu:g}, {self.step:g} s, start {self.seed + 1}"


@dataclass(frozen=True)
class FlowRuns:
    """Runs of a case for a duration [s], with their friction coefficients and starts."""

    case: SceneCase
    duration: float
    stepper: MakeGrainStepper

    def steps(self, job: Planned) -> int:
        return whole_steps(self.duration, job.step)

    def worth_sharing(self, jobs: Sequence[Planned]) -> Sequence[Planned]:
        return ()

    def make(self, job: Planned, report: Report = None) -> Made:
        """The run of a job; raises WorkbenchError where there is none."""
        seed = {"seed": getattr(self.case, "seed", 0) + job.seed} if job.seed else {}
        case = self.case.with_parameters(mu=job.mu, **seed)
        scene = case.scene()
        assert isinstance(scene, Grains)
        watched = Watched(self.stepper(scene, job.formulation, job.step), scene, 0.5 * self.duration)
        track = run(scene, watched, self.steps(job), progress=report)
        row: dict[str, Any] = {
            "finished": track.finished, "reason": track.reason, "steps": track.steps,
            "solve_time": track.solve_time, "contacts": float(track.contacts.mean()) if track.steps else 0.0,
            "residual": float(np.median(track.residuals)) if len(track.residuals) else np.nan,
            "worst_residual": float(track.residuals.max()) if len(track.residuals) else np.nan,
        }  # fmt: skip
        if not track.finished:
            return Made(row)
        row |= case.measured(track) | watched.measured() | {"solid_fraction": _solid(case, scene, track)}
        forces = np.concatenate(watched.forces) if watched.forces else np.zeros(0)
        return Made(row, forces, case.truths(track), _moving(job.formulation.label, scene, track))


def _moving(label: str, scene: Grains, track: Track) -> Moving:
    """Return the grains' positions at `MOMENTS` or fewer equidistant times of a run."""
    every = -(-track.steps // (MOMENTS - 1))
    x, radius = track.position[::every], scene.radius[: len(scene.mass)]
    low, high = (x - radius[:, None]).min(axis=(0, 1)), (x + radius[:, None]).max(axis=(0, 1))
    shapes = [shape for wall in scene.walls for shape in wall.shapes(low, high)]
    faces = slabs([shape for shape in shapes if isinstance(shape, Plane)], low, high)
    ground = (*(shape for shape in shapes if isinstance(shape, Solid)), *faces)
    return Moving(label, track.t[::every], x, radius, ground)


def _solid(case: SceneCase, scene: Grains, track: Track) -> float:
    """The solid fraction of the bed, the mean over moments of the second half; NaN where there is hardly a bed."""
    steps, solid = track.steps, []
    for x in track.position[np.linspace(steps // 2, steps, SAMPLES).astype(int)]:
        bed = case.bed(x)
        solid += [solid_fraction(x[bed], scene.radius[: len(bed)][bed])] if bed.sum() >= FEWEST else []
    return float(np.mean(solid)) if solid else np.nan
