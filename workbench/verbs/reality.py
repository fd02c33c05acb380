"""`reality`: compare formulations with recorded motions, and decide whether the differences exceed the noise."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from workbench.builtin.reports.text.reality import sentences
from workbench.exams.recorded.findings import Findings, findings
from workbench.exams.recorded.folder import Recordings, read_folder
from workbench.exams.recorded.kept import key_of, outcome_of, tried_as_text
from workbench.exams.recorded.noise import noise_of
from workbench.exams.recorded.replay import replay, typical
from workbench.exams.recorded.throws import Subject, Thrower
from workbench.exams.recorded.trial import Outcome, RealityTrial
from workbench.language.formulation import Formulation
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.studies.units import kept_or_made
from workbench.support.errors import WorkbenchError
from workbench.support.output import path_of, provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_case, find_formulation, find_formulations, find_relaxation
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from workbench.comparison.motion import DrawnMotion

EXACT = "coulomb"
MOST_TRACKS = 8
"""Number of predictions that are shown with a recording."""
PREDICTING = "predicting the recordings"
"""What progress is called, from the first formulation on."""
SUBSTEPS = 4
"""Number of steps from one sample to the next."""


@dataclass(frozen=True, repr=False, eq=False)
class RealityResult(Result):
    """`subjects`, one row each; `noise` of the recordings, `outcomes` with every error of every toss."""

    recordings: Recordings = field(repr=False)
    trial: RealityTrial = field(repr=False)
    outcomes: tuple[Outcome, ...] = field(repr=False)
    findings: Findings = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.recordings.description.body.name}: contact formulations compared with recorded motions"

    @property
    def subjects(self) -> pd.DataFrame:
        """One row per formulation with rigid or relaxed rows; units and meanings in `attrs["columns"]`."""
        return self.findings.subjects

    @property
    def words(self) -> list[str]:
        return sentences(self.recordings, self.trial, self.findings)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        f = self.findings
        return {"subjects": f.subjects, "over_time": f.over_time, "search": f.search, "by_phase": f.by_phase}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(**self.settings)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.reality import render

        return render(self.title, self.words, self, facts or self.facts)

    @property
    def motion(self) -> tuple[DrawnMotion, str] | None:
        """A toss that is typical of the first subject, with the best predictions, and its recording's name.

        None for a body without a shape.
        """
        answered = [x for x in self.outcomes if not x.reason]
        first, *others = answered
        found = self.subjects.set_index("label")["position_more"]
        order = sorted(others, key=lambda x: float(found[x.subject.label]))
        number = typical(first)
        made = replay(self.trial, [first, *order[: MOST_TRACKS - 1]], number)
        return None if made is None else (made, self.trial.test[number].name)


class TrialSettings(TypedDict, total=False):
    """What all subjects share, as people give it; see `reality`, and `_trial` for defaults."""

    share: float
    step: float | None
    normal: str
    mu: tuple[float, float]
    e: tuple[float, float]
    members: int
    seconds: float | None


def reality(
    folder: str | Path, formulations: Sequence[str | Formulation] | None = None, *, about: str | Path | None = None,
    rows: Sequence[str] = ("rigid", "relaxed"), relaxation: str | Relaxation | None = None,
    kept: str | Path | None = None, workers: int = 1, progress: ProgressCallback | None = None,
    **settings: Unpack[TrialSettings],
) -> RealityResult:  # fmt: skip
    """Identify mu and e of every formulation on a share of recorded motions, and predict the others.

    `about` describes the folder if its `recordings.toml` does not; `rows` are rigid, relaxed, or both, and `relaxation`
    is that of the relaxed ones, by default that of the case `cube`; formulations with their own springs occur once,
    since these replace the rows' compliance. Exact Coulomb friction with rigid rows comes first, since the others are
    paired with it. Results are kept in the folder `kept`, where repeating the same call computes only what is missing;
    `workers` processes run at once. Raises WorkbenchError for unusable input.

    Settings: `share` of the recordings, a quarter by default; `step` [s], rounded to an integer fraction of the
    sampling interval, by default a quarter; `normal` law, moreau or gap; `mu` and `e`, the bounds of the searches, 0
    and 0.6 by default, where restitution is zero unless the normal law is moreau; `members` of the ensemble of starts,
    8 by default; and `seconds`, after which subjects that are not finished have that as their reason.
    """
    found = read_folder(path_of("folder", folder), None if about is None else path_of("about", about))
    trial = _trial(found, **settings)
    relaxed = find_case("cube").relaxation if relaxation is None else find_relaxation(relaxation)
    assert relaxed is not None
    subjects = _subjects(formulations, rows, relaxed)
    outcomes = tuple(_outcomes(trial, subjects, None if kept is None else path_of("kept", kept), workers, progress))
    if outcomes[0].reason:
        raise WorkbenchError(
            f"{outcomes[0].subject.label}, with which all are compared, has no answer: {outcomes[0].reason}"
        )
    facts = {
        "folder": Path(folder).name, "source": found.description.source, "recordings": len(found.recordings),
        "left_out": dict(found.left_out), "identified_on": [r.name for r in trial.train], "step": trial.thrower.h,
        "normal_law": trial.thrower.normal, "mu": list(trial.mu), "e": list(trial.e), "relaxation": str(relaxed),
        "members": trial.members,
    }  # fmt: skip
    return RealityResult(found, trial, outcomes, findings(trial, outcomes), facts)


def _trial(
    found: Recordings, *, share: float = 0.25, step: float | None = None, normal: str = "moreau",
    mu: tuple[float, float] = (0.0, 0.6), e: tuple[float, float] = (0.0, 0.6), members: int = 8,
    seconds: float | None = None,
) -> RealityTrial:  # fmt: skip
    if not 0 < share < 1:
        raise WorkbenchError(f"share = {share:g}; a number between 0 and 1 is needed")
    for name, (low, high), most in (("mu", mu, 10.0), ("e", e, 1.0)):
        if not 0 <= low < high <= most:
            raise WorkbenchError(
                f"{name} from {low:g} to {high:g}; bounds from 0 to {most:g} are needed, the lower first"
            )
    if normal not in ("moreau", "gap"):
        raise WorkbenchError(f"normal law '{normal}'; a thrown body flies, which moreau and gap allow")
    if members < 0:
        raise WorkbenchError(f"members = {members}; a whole number >= 0 is needed")
    count = len(found.recordings)
    train = np.unique(
        np.floor(np.arange(1, max(1, round(share * count)) + 1) * count / max(1, round(share * count))) - 1
    )
    if not 2 <= len(train) <= count - 2:
        raise WorkbenchError(
            f"{count} recordings, of which {len(train)} to identify mu on; at least 2 there and 2 others are needed"
        )
    interval = found.interval
    substeps = SUBSTEPS if step is None else round(interval / step) if 0 < step <= interval else 0
    if not 1 <= substeps <= 1000:
        raise WorkbenchError(
            f"step {step:g} s; from a thousandth of the time between samples, {interval:.3g} s, to all of it"
        )
    body = found.description.body
    chosen = set(train.astype(int).tolist())
    noise = noise_of(found.recordings, body)
    return RealityTrial(
        Thrower(body, interval / substeps, substeps, normal),
        tuple(r for i, r in enumerate(found.recordings) if i in chosen),
        tuple(r for i, r in enumerate(found.recordings) if i not in chosen),
        noise, mu, e, members if noise.flights else 0, np.inf if seconds is None else time.time() + seconds,
    )  # fmt: skip


def _subjects(wanted: Sequence[str | Formulation] | None, rows: Sequence[str], relaxed: Relaxation) -> list[Subject]:
    """The subjects: exact Coulomb friction first, each formulation once with each kind of rows."""
    for kind in rows:
        if kind not in ("rigid", "relaxed"):
            raise WorkbenchError(f"rows '{kind}'; they can be rigid or relaxed")
    chosen = find_formulations(list(wanted) if wanted else None)
    if not wanted:
        chosen = (*chosen, find_formulation("stewart-trinkle:directions=8"))
    kinds = [RIGID if kind == "rigid" else relaxed for kind in dict.fromkeys(rows)]
    exact = Subject(find_formulation(EXACT))
    others = [Subject(f, kind) for kind in kinds for f in chosen if kind is kinds[0] or not f.soft]
    return [exact, *(x for x in others if x.label != exact.label)]


def _outcomes(
    trial: RealityTrial, subjects: list[Subject], folder: Path | None, workers: int, progress: ProgressCallback | None
) -> list[Outcome]:
    """The outcomes: those in the folder, and the others, computed one after the other here, or in several processes."""
    # Errors of starts are the same for all subjects, so one ensemble suffices.
    trials = [trial, *(changed(trial, members=0) for _ in subjects[1:])]
    units = {key_of(*unit): unit for unit in zip(trials, subjects, strict=True)}
    found: dict[str, Outcome] = {}
    if progress:
        progress(PREDICTING, 0, len(units))
    for key, rows in kept_or_made(units, tried_as_text, folder, workers):
        found[key] = outcome_of(units[key][1], rows)
        if progress:
            progress(PREDICTING, len(found), len(units))
    return [found[key] for key in units]
