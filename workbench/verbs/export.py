"""`export`: the contact problem of one step of a model, for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.support.errors import WorkbenchError
from workbench.support.output import replaced, write_json
from workbench.verbs.find import find_formulation
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from workbench.mechanics.case import Case


@dataclass(frozen=True, repr=False, eq=False)
class Exported(Result):
    """The contact problem of one step: `problem`, its `contacts` and `velocities` with the model's names."""

    title: str
    problem: FrictionProblem | GlobalFrictionProblem
    contacts: pd.DataFrame = field(repr=False)
    velocities: list[str] = field(repr=False)
    changes: list[str]
    left_out: list[str]

    @property
    def words(self) -> list[str]:
        size = f"{self.problem.contacts} contacts with {self.problem.d} tangential directions each"
        return [
            f"{size}, {len(self.velocities)} velocities.",
            *self.changes,
            *(f"Left out: {x}" for x in self.left_out),
        ]

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"contacts": self.contacts}

    def problem_file(self, path: str | Path) -> Path:
        """Write the problem in the format of the extension, and NAME.names.json with its rows' names in the model.

        Raises WorkbenchError for an unsupported extension.
        """
        from workbench.readers.files import write_problem_file

        path = Path(path)
        write_problem_file(self.problem, path)
        named = {
            "problem": self.title, "contacts": self.contacts.to_dict("records"), "velocities": self.velocities,
            "changes": self.changes, "left out": self.left_out,
        }  # fmt: skip
        with replaced(path.with_suffix(".names.json")) as stage:
            write_json(stage, named)
        return path


def export(
    model: str | Path,
    at: float = 0.0,
    step: float | None = None,
    local: bool = False,
    sets: Mapping[str, str] | None = None,
    key: str | None = None,
    ctrl: str | float | None = None,
) -> Exported:
    """Return the contact problem of the step that begins at a time [s] of a MuJoCo model, an MJCF or URDF file.

    The state is computed by MuJoCo's own engine from the model's start, or from the keyframe `key`, with the
    controls `ctrl`; `step` [s] is the model's own by default. `local` forms W. Raises WorkbenchError in one line for
    unreadable files, and if nothing touches.

        wb.export("scene.xml", at=0.5).problem_file("step.hdf5")
    """
    import pandas as pd

    from workbench.scenes.export import exported
    from workbench.scenes.mujoco.engine import MujocoEngine
    from workbench.scenes.mujoco.scene import MujocoScene

    scene = MujocoScene(model, sets, key, ctrl)
    h = scene.step if step is None else step
    for name, value, least in (("at", at, "zero or more"), ("step", h, "more than zero")):
        if not (np.isfinite(value) and (value > 0 or (value == 0 and name == "at"))):
            raise WorkbenchError(f"{name} = {value:g} s; {least} is needed")
    q, v = MujocoEngine(scene).state(h, at)
    given = scene.instant(q, v, at, h)
    found = exported(given, scene.recovery)
    problem: Any = found.problem.local if local else found.problem
    contacts = pd.DataFrame(scene.contact_names(given)).assign(gap=given.phi, mu=problem.mu)
    title = f"{scene.name} at t = {at:g} s, step size {h:g} s"
    return Exported(title, problem, contacts, scene.velocity_names(), found.changes, scene.left_out)


def export_case(case: Case, path: str | Path, step: float, number: int = 0) -> None:
    """Write the local contact problem of one step of a case under exact Coulomb friction, steps of `step` [s] counted
    from 0. Raises DataError if the run does not get that far, WorkbenchError for an unsupported extension."""
    from workbench.comparison.solving import exported_step
    from workbench.readers.files import write_problem_file

    write_problem_file(exported_step(case, find_formulation("coulomb"), step, number), path)
