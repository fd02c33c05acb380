"""What formulations do to a flow of grains: a run of each, of every friction coefficient and step, and its measures.

Grains that collide soon have nothing in common from run to run but their statistics, which is what is compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.arrays import Array
from workbench.comparison.failure import failed
from workbench.errors import DataError, WorkbenchError
from workbench.language.formulation import Formulation
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.measures import MEASURES, Watched, force_distribution, solid_fraction
from workbench.scenes.grains.scene import Grains
from workbench.scenes.run import Stepper, run
from workbench.step.simulation import whole_steps

MakeStepper = Callable[[Grains, Formulation, float], Stepper]
Progress = Callable[[str, int, int], None]
BINS = np.append(np.arange(0.0, 6.0, 0.25), 6.0)
"""Of forces beside their mean."""
SAMPLES = 10
"""States of the second half of a run whose solid fraction is counted."""
FEWEST = 20
"""Grains of a bed, from which on it has a solid fraction."""
GIVEN = {
    "formulation": ("", "the formulation with its options"), "mu": ("1", "friction coefficient"),
    "step": ("s", "step size"), "finished": ("", "whether the run came to its end"),
    "reason": ("", "why it did not"), "steps": ("1", "steps made"), "solve_time": ("s", "of all steps"),
    "contacts": ("1", "contacts within reach, the mean over the run"),
    "residual": ("1", "the problems' own residual, the median over the steps"),
}  # fmt: skip
ARTEFACT = {
    "artefact": ("m", "mu h |u_t|, the gap at which associated flow holds a contact that slides, by the run's `slip`"),
    "needed_step": ("s", "step at which that is the grains' roughness"),
}


@dataclass(frozen=True)
class Flow:
    """`rows`, one a run, and `forces`, P(f) of each; of a case, with grains of this radius and roughness [m]."""

    case: SceneCase
    rows: pd.DataFrame
    forces: pd.DataFrame
    radius: float
    roughness: float


def flow(
    case: SceneCase, formulations: Sequence[Formulation], mus: Sequence[float], steps: Sequence[float],
    duration: float, roughness: float, stepper: MakeStepper, progress: Progress | None = None,
) -> Flow:  # fmt: skip
    """Every run; `roughness` is that of a grain beside its radius. Raises DataError for a scene without grains."""
    scene = case.scene()
    if not isinstance(scene, Grains):
        raise DataError(f"{case.name} has no grains; its measures are those of bodies: workbench compare {case.name}")
    if min(steps) <= 0 or duration < max(steps):
        raise DataError(
            f"steps {min(steps):g} to {max(steps):g} s in {duration:g} s; at least one whole step is needed"
        )
    rough = roughness * float(np.mean(scene.radius[: len(scene.mass)]))
    total = sum(whole_steps(duration, h) for h in steps) * len(mus) * len(formulations)
    rows, forces, done = [], [], 0
    for mu in mus:
        there = case.with_parameters(mu=mu)
        for h in steps:
            for f in formulations:

                def told(k: int, f: Any = f, h: float = h, before: int = done) -> None:
                    assert progress
                    progress(f"{f.label}, mu = {mu:g}, {h:g} s", before + k, total)  # noqa: B023

                row, pressing = _run(there, f, h, duration, stepper, told if progress else None)
                done += whole_steps(duration, h)
                artefact = mu * h * row.get("slip", np.nan)
                per_step = artefact / h
                rows.append(
                    {"formulation": f.label, "mu": mu, "step": h} | row
                    | {"artefact": artefact, "needed_step": rough / per_step if per_step > 0 else np.nan}
                )  # fmt: skip
                middle = 0.5 * (BINS[1:] + BINS[:-1])
                density = force_distribution(pressing, BINS)
                forces += [
                    {"formulation": f.label, "mu": mu, "step": h, "force": x, "density": y}
                    for x, y in zip(middle, density, strict=True)
                ]
    columns = GIVEN | case.measures | {name: tuple(x) for name, x in MEASURES.items()} | ARTEFACT
    frame = pd.DataFrame(rows).reindex(columns=list(columns))
    frame.attrs["columns"] = {name: {"unit": x[0], "meaning": x[1]} for name, x in columns.items()}
    return Flow(case, frame, pd.DataFrame(forces), float(scene.radius[: len(scene.mass)].mean()), rough)


def _run(
    case: SceneCase, f: Formulation, h: float, duration: float, stepper: MakeStepper,
    progress: Callable[[int], None] | None,
) -> tuple[dict[str, Any], Array]:  # fmt: skip
    """The measures of one run, and the forces of contacts that press beside their mean."""
    scene = case.scene()
    assert isinstance(scene, Grains)
    steps = whole_steps(duration, h)
    try:
        watched = Watched(stepper(scene, f, h), scene, 0.5 * duration)
        track = run(scene, watched, steps, progress=progress)
    except WorkbenchError as error:
        return {"finished": False, "reason": failed(error).reason, "steps": 0}, np.zeros(0)
    row: dict[str, Any] = {
        "finished": track.finished, "reason": track.reason, "steps": len(track.contacts), "solve_time": track.seconds,
        "contacts": float(track.contacts.mean()) if len(track.contacts) else 0.0,
        "residual": float(np.median(track.residual)) if len(track.residual) else np.nan,
    }  # fmt: skip
    if not track.finished:
        return row, np.zeros(0)
    some, solid = np.linspace(steps // 2, steps, SAMPLES).astype(int), []
    for x in track.position[some]:
        bed = case.bed(x)
        solid += [solid_fraction(x[bed], scene.radius[: len(bed)][bed])] if bed.sum() >= FEWEST else []
    forces = np.concatenate(watched.forces) if watched.forces else np.zeros(0)
    return row | case.measured(track) | watched.measured() | {
        "solid_fraction": float(np.mean(solid)) if solid else np.nan
    }, forces
