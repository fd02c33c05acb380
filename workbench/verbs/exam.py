"""`exam`: test formulations and physics engines against the friction law that they claim."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.text.exam import badges, sentences
from workbench.exams.examine import Exam, examine
from workbench.exams.experiments import EXPERIMENTS, VERSION
from workbench.exams.plays import Play, played, plays, record_of
from workbench.exams.record import Record
from workbench.exams.subject import ENGINES, EngineSubject, ExamSubject, FormulationSubject
from workbench.exams.trial import Trial
from workbench.language.formulation import Formulation
from workbench.studies.units import kept_or_made
from workbench.support import __version__
from workbench.support.errors import UnknownNameError, WorkbenchError
from workbench.support.numbers import must_be_whole
from workbench.support.output import path_of, provenance, write_json
from workbench.support.progress import ProgressCallback
from workbench.support.sources import digest_of
from workbench.verbs.find import find_formulation, several, steps_of
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

SLOW = ("staggered",)
"""Formulations that are examined only on request: their steps take a hundred times as long."""

FEW = 12
"""Number of plays below which further processes cost more than they save."""


@dataclass(frozen=True, repr=False, eq=False)
class ExamResult(Result):
    """`rows`, one per measured number; `badges`, one line for every subject and step."""

    exam: Exam = field(repr=False)
    absent: tuple[str, ...] = ()
    """Subjects that could not be examined, and why."""

    title = "Contact exam"

    @property
    def rows(self) -> pd.DataFrame:
        """One row per subject, step, experiment and measured number; meanings in `attrs["columns"]`."""
        return self.exam.rows

    @property
    def words(self) -> list[str]:
        return [*sentences(self.exam), *self.absent]

    @property
    def badges(self) -> list[dict[str, Any]]:
        """The passed experiments of every subject at every step, with a badge in shields.io's format."""
        return badges(self.exam, VERSION)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"exam": self.exam.rows}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(exam=VERSION, steps=list(self.exam.steps), subjects=self.exam.subjects)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.exam import render

        return render(self.title, self.absent, self.exam, VERSION, facts or self.facts)

    def write(self, folder: Path) -> None:
        """Write the page, its motions in a folder, the rows, and exam.json with the badges."""
        from workbench.builtin.reports.pages.exam import motions

        super().write(folder)
        write_json(folder / "exam.json", self.badges)
        (folder / "motions").mkdir()
        for name, page in motions(self.exam, self.facts):
            (folder / "motions" / name).write_bytes(page.encode())


def exam(
    subjects: Sequence[str | Formulation] = (), *, experiments: Sequence[str] = (), steps: Sequence[float] = (1e-3,),
    python: Sequence[str] = (), folder: str | Path | None = None, workers: int = 1,
    progress: ProgressCallback | None = None,
) -> ExamResult:  # fmt: skip
    """Run experiments with theoretically known outcomes with formulations and engines, at steps [s].

    `subjects` are formulations, or names of engines (`workbench.exams.subject.ENGINES`; `drake` is all of Drake's, and
    `mujoco` both the formulation and the engine); by default all formulations but the slowest, and every installed
    engine. `experiments` are names of `EXPERIMENTS`, by default all. Engines are searched in each `python`, a path, and
    in this one. Results are kept in `folder`, where repeating the same exam runs only what is missing; without a folder
    nothing is kept. `workers` processes run at once. Raises WorkbenchError for unknown names, or if a requested engine
    is absent.

    >>> import workbench as wb
    >>> found = wb.exam(["ccp"], experiments=["lift"])
    >>> found.rows[["trial", "passed"]].values.tolist()
    [['block', False], ['ball', False]]
    """
    must_be_whole("workers", workers)
    subjects, experiments, python, steps = several(subjects), several(experiments), several(python), steps_of(steps)
    for name in experiments:
        if name not in EXPERIMENTS:
            raise UnknownNameError("experiment", str(name), list(EXPERIMENTS))
    for h in steps:
        if not 1e-5 <= h <= 0.02:
            raise WorkbenchError(f"step {h:g} s; one of 1e-5 to 0.02 s is needed, since a trial lasts half a second")
    for path in python:
        if shutil.which(path) is None:
            raise WorkbenchError(f"python '{path}' is not a program; name a Python in which engines are installed")
    chosen = [EXPERIMENTS[name] for name in experiments] or list(EXPERIMENTS.values())
    sitting, absent = _subjects(subjects, [*python, sys.executable])
    steps = sorted(steps)
    units = {_key(play): play for play in plays(sitting, chosen, steps)}
    found: dict[tuple[str, Trial, float], Record | str] = {}
    try:
        processes = workers if len(units) > FEW else 1
        for key, rows in kept_or_made(units, played, None if folder is None else path_of("folder", folder), processes):
            play = units[key]
            found[play.name] = record_of(play, rows)
            if progress:
                progress(f"{play.subject.name}, {1e3 * play.h:g} ms", len(found), len(units))
        return ExamResult(examine(sitting, chosen, steps, found), tuple(absent))
    finally:
        for subject in sitting:
            subject.close()


def _key(play: Play) -> str:
    """Digest of all that determines the record of a play: code, engine version, options, trial and step."""
    subject = play.subject
    own = digest_of(subject.formulation.build) if isinstance(subject, FormulationSubject) else digest_of()
    facts = own, subject.name, subject.version, play.trial, play.h
    return sha256(repr(facts).encode()).hexdigest()[:32]


def _subjects(wanted: Sequence[str | Formulation], pythons: Sequence[str]) -> tuple[list[ExamSubject], list[str]]:
    """The subjects, formulations first; and the reasons why engines not requested by name are absent."""
    names = list(wanted) or [*(x for x in FORMULATIONS.names if x not in SLOW), *ENGINES]
    found: list[ExamSubject] = []
    absent: dict[str, str] = {}
    try:
        for name in names:
            engines = _engines(name)
            formulation = not engines or name in FORMULATIONS.names
            if formulation:
                found.append(FormulationSubject(_formulation(name), f"workbench {__version__}"))
            for engine in engines:
                if engine in [subject.name for subject in found]:
                    continue
                try:
                    found.append(_engine(engine, pythons))
                except WorkbenchError as error:
                    if wanted and not formulation:
                        raise
                    absent.setdefault(ENGINES[engine].adapter, str(error))
    except BaseException:
        for subject in found:
            subject.close()
        raise
    return sorted(found, key=lambda x: isinstance(x, EngineSubject)), list(absent.values())


def _formulation(name: str | Formulation) -> Formulation:
    """Return the formulation; raises UnknownNameError with the engines too for a plain name of neither."""
    try:
        return find_formulation(name)
    except UnknownNameError:
        if not isinstance(name, str) or ":" in name:
            raise
        raise UnknownNameError("formulation or engine", name, [*FORMULATIONS.names, *ENGINES, "FILE.py:NAME"]) from None


def _engines(name: str | Formulation) -> list[str]:
    """The engines of a name: one, or all variants of one."""
    return [x for x in ENGINES if name in (x, x.partition("/")[0])]


def _engine(name: str, pythons: Sequence[str]) -> ExamSubject:
    """The engine in the first Python that has it."""
    for python in pythons[:-1]:
        try:
            return EngineSubject(name, python)
        except WorkbenchError:
            continue
    return EngineSubject(name, pythons[-1])
