"""`verdict`: check a given solution of a contact problem against Coulomb's law, contact by contact."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.judge.contacts import SYMPTOMS, Contacts, by_contact
from workbench.judge.coulomb import Verdict, judge
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.answers import read_answer
from workbench.readers.files import read_problem_file
from workbench.support.arrays import Array
from workbench.support.errors import WorkbenchError
from workbench.verbs.results import Result
from workbench.verbs.scene import is_model
from workbench.verbs.verdict_log import JudgedLog, verdict_of_log

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "contact": ("", "number of the contact, from 1 on"),
    "p_n": ("N s", "normal impulse"),
    "p_t": ("N s", "magnitude of the friction impulse"),
    "u_n": ("m/s", "normal velocity W p + q"),
    "slip": ("m/s", "magnitude of the sliding velocity"),
    "mu": ("1", "friction coefficient"),
    "beyond": ("N s", "friction beyond mu p_n"),
    "beyond_force": ("N", "the same divided by the step, if a step is given"),
    "angle": ("degrees", "angle between friction and the direction opposite to the slip"),
    "symptoms": ("", "symptoms, ways in which the contact violates Coulomb's law"),
}


@dataclass(frozen=True, repr=False, eq=False)
class Judged(Result):
    """`rows`, one per contact, and the residuals of the whole solution (`verdict`, see `workbench.judge.coulomb`)."""

    title: str
    verdict: Verdict = field(repr=False)
    contacts: Contacts = field(repr=False)
    mu: Array = field(repr=False)
    step: float | None = None
    """[s]"""

    @cached_property
    def rows(self) -> pd.DataFrame:
        """One row per contact; units and meanings in `attrs["columns"]`."""
        import pandas as pd

        x, r = self.contacts, len(self.mu)
        seen = [", ".join(name for name in SYMPTOMS if x.symptoms[name][i]) for i in range(r)]
        force = x.beyond / self.step if self.step else np.full(r, np.nan)
        numbers = x.pressure, x.friction, x.opening, x.slip, self.mu, x.beyond, force, x.angle
        columns = (np.arange(1, r + 1), *numbers, seen)
        frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
        frame.attrs["columns"] = {name: {"unit": x[0], "meaning": x[1]} for name, x in COLUMNS.items()}
        return frame

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"contacts": self.rows}

    @property
    def words(self) -> list[str]:
        v, r = self.verdict, len(self.mu)
        words = [
            f"Residuals: natural map {v.natural_map:.1e}, Signorini {v.signorini:.1e} (relative); friction outside the "
            f"cone {v.cone:.1e} N s; dissipation {v.dissipation:.1e} J."
        ]
        beyond = self.contacts.symptoms["beyond the cone"]
        if self.step and beyond.any():
            worst = int(np.where(beyond, self.contacts.beyond, 0.0).argmax())
            force = self.contacts.beyond[worst] / self.step
            words.append(f"Friction exceeds the cone by up to {force:.3g} N, at contact {worst + 1}.")
        for name, meaning in SYMPTOMS.items():
            there = np.flatnonzero(self.contacts.symptoms[name])
            if there.size:
                few = ", ".join(str(i + 1) for i in there[:8]) + (", ..." if there.size > 8 else "")
                words.append(f"{there.size} of {r} contacts: {name} ({meaning}): {few}.")
        return words if len(words) > 1 else [*words, f"No defect at any of {r} contacts."]


def verdict(
    problem: str | Path | FrictionProblem, answer: Any = None, *, step: float | None = None
) -> Judged | JudgedLog:
    """Check impulses against the law of a friction problem, without solving anything.

    `problem` is a file or a problem; `answer` an array p (n,) in the workbench's order, all normals first, or a file:
    .npz or .csv with p, FCLIB's HDF5 with a `solution`. None means the solution in the problem's own file. With the
    `step` [s] of the impulses, forces are given too. A model's file (.xml, .urdf, .mjb) needs a log of MuJoCo's
    states, and is checked step by step. Raises WorkbenchError.

    >>> import numpy as np
    >>> import workbench as wb
    >>> from workbench.problems.friction_problem import FrictionProblem
    >>> brick = FrictionProblem(np.eye(3), np.array([-1.0, 0.5, 0.0]), 0.3)
    >>> wb.verdict(brick, [1.0, -0.5, 0.0]).words[1]
    '1 of 1 contacts: beyond the cone (more friction than mu p_n): 1.'
    """
    if step is not None and not (np.isfinite(step) and step > 0):
        raise WorkbenchError(f"step = {step:g} s; a positive number is needed")
    if is_model(problem) and isinstance(problem, str | Path):
        if not isinstance(answer, str | Path):
            raise WorkbenchError(
                f"{problem} is a model; a log of its states is needed, .npz or .csv with qpos and qvel"
            )
        return verdict_of_log(problem, answer)
    given = problem if isinstance(problem, FrictionProblem | GlobalFrictionProblem) else read_problem_file(problem)
    if not isinstance(given, FrictionProblem | GlobalFrictionProblem):
        raise WorkbenchError(f"{problem} holds another problem ({given.kind}); a friction problem is needed")
    p = _answer(problem, given, answer)
    local = given.local if isinstance(given, GlobalFrictionProblem) else given
    r, d = local.contacts, local.d
    u = local.velocity(p)
    parts = p[:r], p[r:].reshape(r, d), u[:r], u[r:].reshape(r, d)
    found = judge(*parts, local.mu, local.dense, local.q)
    contacts = by_contact(*parts, local.mu, found.normaliser, found.normaliser / found.rho)
    name = Path(problem).name if isinstance(problem, str | Path) else "the answer"
    return Judged(f"{name}: checked against Coulomb's law", found, contacts, local.mu, step)


def _answer(problem: Any, given: FrictionProblem | GlobalFrictionProblem, answer: Any) -> Array:
    """The impulses (n,), all normals first."""
    if answer is None:
        if not isinstance(problem, str | Path):
            raise WorkbenchError("an answer is needed: impulses p, or a file that holds them")
        answer = problem
    if isinstance(answer, str | Path):
        return read_answer(answer, given)
    p = np.asarray(answer, dtype=float)
    if p.shape != (given.size,):
        raise WorkbenchError(f"the answer has shape {p.shape}; ({given.size},) impulses are needed")
    if not np.isfinite(p).all():
        raise WorkbenchError(f"the answer holds {p[~np.isfinite(p)][0]}; every impulse must be finite")
    return p
