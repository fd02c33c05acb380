"""`sensitivity`: derivatives of the end of a motion by parameters, under several formulations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.builtin.reports.text.conclusions import listed
from workbench.builtin.reports.text.sensitivity import sampled_in_words, sentences
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.scenes.scene import Scene
from workbench.step.simulation import whole_steps
from workbench.support.errors import WorkbenchError
from workbench.support.numbers import must_be_seconds
from workbench.support.output import provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_case, find_formulation, find_formulations, must_differ, names_of
from workbench.verbs.results import Result
from workbench.verbs.scene import duration_of, is_scene, scene

if TYPE_CHECKING:
    import pandas as pd

CLASSICAL = (
    "coulomb", "ccp", "stewart-trinkle", "anitescu-potra", "box", "hybrid", "phantom-inertia", "staggered", "mujoco",
    "sap",
)  # fmt: skip
"""Default formulations."""
STEP = 1e-3
"""Default step of cases [s]."""
IN_SCENES = tuple(name for name in CLASSICAL if name != "staggered")
"""The same for scenes, where those that iterate have no derivatives."""


@dataclass(frozen=True, repr=False, eq=False)
class Sensitivities(Result):
    """`table` has a row for each parameter, output and formulation, with the event-driven motion first, if any."""

    case: Case
    settings: dict[str, Any]
    table: pd.DataFrame = field(repr=False)
    formulations: tuple[Formulation, ...] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        of, to = (listed(self.settings[key]) for key in ("of", "to"))
        return f"{self.case.name}: derivatives of {of} with respect to {to}"

    @property
    def words(self) -> list[str]:
        return sentences(self.table, self.settings)

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Outputs and derivatives at values of each parameter around its own, which takes some runs for each."""
        from workbench.comparison.derivatives import samples_of

        s = self.settings
        return samples_of(self.case, self.formulations, s["of"], s["to"], s["step"], s["duration"])

    def html(self, facts: dict[str, Any] | None = None) -> str:
        """The page, with outputs drawn over the parameters."""
        from workbench.builtin.reports.figures.sensitivity import figures
        from workbench.builtin.reports.pages.result import render

        frames = {**self.frames, "samples": self.samples}
        words = [*self.words, *sampled_in_words(self.samples)]
        return render(self.title, words, frames, facts or self.facts, figures(self.samples))

    def write(self, folder: Path) -> None:
        """Save like every result, with samples.csv."""
        super().write(folder)
        self.samples.to_csv(folder / "samples.csv", index=False)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"derivatives": self.table}

    @property
    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"case": self.case.name, **self.settings, "derivatives": self.table.to_dict("records")}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.case.name, parameters=vars(self.case), **self.settings)


@dataclass(frozen=True, repr=False, eq=False)
class SceneSensitivities(Sensitivities):
    """The same for a scene, without samples."""

    case: Scene  # type: ignore[assignment]

    def html(self, facts: dict[str, Any] | None = None) -> str:
        return Result.html(self, facts)

    def write(self, folder: Path) -> None:
        Result.write(self, folder)

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(scene=self.case.name, **self.settings)


def sensitivity(
    what: str | Path | Case | type[Case] | Scene, formulations: Any = None, *, of: str | Sequence[str],
    to: str | Sequence[str], step: float | None = None, duration: float | None = None,
    progress: ProgressCallback | None = None,
) -> Sensitivities:  # fmt: skip
    """Return the derivatives of outputs `of` the end of a motion of a case or scene by parameters `to`, under
    formulations (default: `CLASSICAL`, of scenes `IN_SCENES`).

    Outputs of a case are x, y, z of the centre of mass [m], energy [J], and q[i], v[i]. Parameters are those of the
    case, and v[i], q[i] at its start (q[i] where each coordinate has its own velocity). Each derivative is that of the
    motion with steps of `step` [s] (default: 1 ms), by the chain rule over steps (`derivatives.motion`), together with
    the difference quotient of whole runs. Errors are relative to the derivative of the event-driven motion with the
    parameter varied, or, if it cannot be followed, to exact Coulomb friction with the same steps.

    A scene, or the file of a model, has the outputs energy, q[i], v[i], and the parameters mu (a change common to all
    sliding friction), mass[BODY], v[i] at the start, and f[i], a constant force along a velocity; steps are its own by
    default (`derivatives.scene_run`). Raises UnknownNameError for unknown names, DataError for an invalid step or
    duration, and if no formulation is given.

    >>> import workbench as wb
    >>> found = wb.sensitivity("block", ["coulomb"], of="x", to="mu", duration=0.1)
    >>> bool(abs(found.table["error"].iloc[-1]) < 0.02)
    True
    """
    from workbench.comparison.derivatives import derivatives_of, derivatives_of_scene

    subject = scene(what) if is_scene(what) else find_case(what)  # type: ignore[arg-type]
    usual = IN_SCENES if isinstance(subject, Scene) else CLASSICAL
    chosen = find_formulations(usual if formulations is None else formulations)
    if not chosen:
        raise WorkbenchError("no formulation is given; name at least one")
    if step is None:
        step = subject.step if isinstance(subject, Scene) else STEP
    if duration is None:
        duration = duration_of(what) if isinstance(subject, Scene) else subject.duration
    must_differ(chosen)
    must_be_seconds(step, duration)
    # Derivatives, quotients and the event-driven motion end with the last whole step.
    duration = step * whole_steps(duration, step)
    outputs, parameters = names_of("of", of), names_of("to", to)
    # Errors need exact Coulomb friction with time steps where the motion cannot be followed.
    exact = find_formulation("coulomb")
    others = [f for f in chosen if f.label != exact.label]
    settings = {"of": outputs, "to": parameters, "step": step, "duration": duration}
    if isinstance(subject, Scene):
        table = derivatives_of_scene(subject, [exact, *others], outputs, parameters, step, duration, progress)
        return SceneSensitivities(subject, settings, table, (exact, *others))
    table = derivatives_of(subject, [exact, *others], outputs, parameters, step, duration, progress)
    return Sensitivities(subject, settings, table, (exact, *others))
