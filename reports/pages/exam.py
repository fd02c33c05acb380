"""The page of the exam: results by subject and experiment, with their numbers; and pages with the motions of trials."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from workbench.builtin.reports.figures.motion import colours_of, stills
from workbench.builtin.reports.pages.motion import moving
from workbench.builtin.reports.pages.page import environment, script, scripts
from workbench.builtin.reports.text.exam import (
    REFERENCE,
    against,
    cells,
    contacts,
    failures,
    in_column,
    leading,
    ranked,
    scaled,
    tally,
)
from workbench.exams.examine import Exam
from workbench.exams.experiment import Experiment
from workbench.exams.motion import motion
from workbench.exams.record import Record

Files = dict[tuple[str, str, float], str]
"""The file with the motion of every trial, by experiment, trial and step."""


class ShownExam(NamedTuple):
    """A trial of which there is a motion: the file of its page, what it is, and with which step [s]."""

    file: str
    experiment: Experiment
    trial: str
    step: float


def render(title: str, absent: Sequence[str], exam: Exam, version: str, provenance: dict[str, Any]) -> str:
    """The whole page as text; its links lead to the pages of `motions`, in the folder of that name next to it."""
    names = ranked(exam)
    files = {(x.experiment.name, x.trial, x.step): x.file for x in _shown(exam)}
    scores = {(row["subject"], row["step"]): row for row in tally(exam)}
    table = [
        (name, [scores[name, h] for h in exam.steps], [_linked(exam, name, x, files) for x in exam.experiments])
        for name in names
    ]
    return environment().get_template("exam.html.j2").render(
        title=title, leading=leading(exam), failures=failures(exam), absent=absent, exam=exam, version=version,
        table=table,
        contacts=contacts(exam, names), sections=[_section(exam, x, files, names) for x in exam.experiments],
        reference=REFERENCE, several=len(exam.steps) > 1, provenance=provenance, **scripts([]),
    )  # fmt: skip


def motions(exam: Exam, provenance: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the file names and pages of the trials that at least one subject could run."""
    for shown in _shown(exam):
        records = _records(exam, shown)
        m = motion(records, _reference(records))
        view = moving(m, list(m.tracks), [0, *([1] if len(m.tracks) > 1 else [])], {})
        of = f"{shown.experiment.title}: {shown.trial}, {1e3 * shown.step:g} ms a step"
        page = environment().get_template("exam_motion.html.j2").render(
            title=of, shown=shown, c={"name": of, "scene": True}, motion=view["motion"], provenance=provenance,
            rows=_numbers(exam, shown),
            reference=Markup("Grey: {}").format(_reference(records)),
            **scripts([], view["viewer"], script("exam.js")),
        )  # fmt: skip
        yield shown.file, page


def _shown(exam: Exam) -> list[ShownExam]:
    found = []
    for experiment in exam.experiments:
        for i, trial in enumerate(experiment.trials):
            for h in exam.steps:
                shown = ShownExam(f"{experiment.name}-{i + 1}-at-{1e6 * h:g}-us.html", experiment, trial, h)
                if _records(exam, shown):
                    found.append(shown)
    return found


def _records(exam: Exam, shown: ShownExam) -> dict[str, Record]:
    """The records of a trial by subject, the reference first."""
    key = shown.experiment.name, shown.trial, shown.step
    found = {name: exam.records[name, *key] for name in exam.subjects if (name, *key) in exam.records}
    first = {name: found[name] for name in (REFERENCE,) if name in found}
    return first | found


def _reference(records: dict[str, Record]) -> str:
    return next(iter(records))


def _linked(exam: Exam, subject: str, experiment: Experiment, files: Files) -> list[dict[str, Any]]:
    """The cells of a subject in an experiment, each with where its motion is."""
    found = cells(exam, subject, experiment.name)
    for cell in found:
        trial = next((x for x in experiment.trials if cell["trial"].startswith(x)), "")
        there = (subject, experiment.name, trial, cell["step"]) in exam.records
        cell["link"] = f"motions/{files[experiment.name, trial, cell['step']]}#{subject}" if there else ""
    return found


def _section(exam: Exam, experiment: Experiment, files: Files, names: Sequence[str]) -> dict[str, Any]:
    """An experiment for itself: every number of every subject, and how the worst failure looks."""
    rows = exam.rows[exam.rows["experiment"] == experiment.name]
    columns = {
        (r["quantity"], r["trial"], r["step"]): (r, *scaled(r["unit"], max(abs(r["truth"]), r["bound"])))
        for r in rows[rows["value"].notna()].to_dict("records")
    }
    table = []
    for name in names:
        own = rows[rows["subject"] == name]
        at = {(r["quantity"], r["trial"], r["step"]): r for r in own.to_dict("records")}
        reasons = list(dict.fromkeys(own[own["reason"] != ""]["reason"]))
        line = [
            (in_column(at[key]["value"], factor), bool(at[key]["passed"])) if key in at else None
            for key, (_, factor, _) in columns.items()
        ]
        table.append((name, line, "; ".join(reasons)))
    heads = [(*key, "" if unit == "1" else unit) for key, (_, _, unit) in columns.items()]
    theory = [[in_column(r[x], factor) for x in ("truth", "bound")] for r, factor, _ in columns.values()]
    links = [(trial, file) for (name, trial, h), file in files.items() if (name, h) == (experiment.name, exam.steps[0])]
    return {
        "experiment": experiment, "heads": heads, "theory": theory, "table": table, "links": links,
        "picture": _picture(exam, experiment),
    }  # fmt: skip


def _picture(exam: Exam, experiment: Experiment) -> dict[str, Any] | None:
    """Return a picture of the end of the trial with the largest deviation, over the reference."""
    rows = exam.rows
    rows = rows[(rows["experiment"] == experiment.name) & (rows["step"] == exam.steps[0]) & (rows["error"] > 1)]
    for row in rows.sort_values("error", ascending=False, kind="stable").to_dict("records"):
        trial = next((x for x in experiment.trials if row["trial"].startswith(x)), "")
        records = _records(exam, ShownExam("", experiment, trial, exam.steps[0]))
        reference = _reference(records) if records else ""
        if row["subject"] not in records or reference == row["subject"]:
            continue
        m = motion({name: records[name] for name in (reference, row["subject"])}, reference)
        pictures = stills(m, m.tracks, colours_of(m.tracks))
        t, svg = max(zip(*zip(*pictures, strict=True), strict=True), key=lambda x: _apart(m, x[0]))
        return {"svg": Markup(svg), "says": f"{row['subject']} overlaid on {reference} at {t:.2g} s; {against(row)}"}
    return None


def _apart(m: Any, t: float) -> float:
    k = int(abs(m.t - t).argmin())
    return float(abs(m.tracks[0].position[k] - m.tracks[1].position[k]).max())


def _numbers(exam: Exam, shown: ShownExam) -> list[tuple[str, str, bool]]:
    """Return the measurements of every subject in a trial, in words."""
    rows = exam.rows
    rows = rows[(rows["experiment"] == shown.experiment.name) & rows["trial"].str.startswith(shown.trial)]
    rows = rows[rows["step"] == shown.step]
    return [(r["subject"], against(r), bool(r["passed"])) for r in rows.to_dict("records")]
