"""Page of formulations compared with recordings: the answer with its intervals, then the evidence."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from workbench.builtin.reports.figures.reality import figures
from workbench.builtin.reports.pages.motion import moving
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.exams.recorded.findings import MEASURES
from workbench.exams.recorded.intervals import DRAWS
from workbench.exams.recorded.phases import PHASES

VERDICTS = {"less": "better", "more": "worse", "cannot tell": "cannot tell"}


def render(title: str, words: Sequence[str], result: Any, provenance: dict[str, Any]) -> str:
    """The whole page of a `verbs.reality.RealityResult` as text."""
    f, trial = result.findings, result.trial
    shown, moves = figures(f), _motion(result)
    rows = f.subjects[f.subjects["reason"].fillna("") == ""]
    return environment().get_template("reality.html.j2").render(
        title=title, words=words, result=result, body=trial.thrower.body, figures=shown, noise=trial.noise,
        subjects=[_subject(r, f.reference) for r in rows.to_dict("records")],
        errors=[(name.replace("_", " "), unit, meaning) for name, (unit, meaning) in MEASURES.items()],
        table=[[r["label"], *(_spanned(r, name) for name in MEASURES)] for r in rows.to_dict("records")],
        phases=[p for p in PHASES if f.by_phase[f.by_phase["phase"] == p]["samples"].max() > 0],
        by_phase=_by_phase(f.by_phase), draws=DRAWS, c={"name": moves["name"], "scene": True},
        relaxed=bool((rows["rows"] == "relaxed").any()), motion=moves["motion"],
        reference=moves["words"], provenance=provenance, **scripts(shown, moves["viewer"]),
    )  # fmt: skip


def _motion(result: Any) -> dict[str, Any]:
    """Return the data that `motion.html.j2` needs to show a toss with its predictions; empty without a motion."""
    found = result.motion
    if found is None:
        return {"name": "", "motion": {}, "viewer": "", "words": ""}
    motion, name = found
    tracks = list(motion.tracks)
    words = Markup(
        "Grey: <b>recording</b> {} (“reference”), whose error under {} is the median of all tosses; its contact forces "
        "were not recorded"
    ).format(name, result.findings.reference)
    shown = list(dict.fromkeys((0, 1, len(tracks) - 1)))
    return {"name": name, "words": words, **moving(motion, tracks, shown, {})}


def _subject(r: dict[Any, Any], reference: str) -> list[str]:
    more = _spanned(r, "position_more", signed=True)
    return [
        r["label"], f"{r['mu']:.3g} ({r['mu_low']:.3g} to {r['mu_high']:.3g})", f"{r['e']:.3g}",
        f"{r['train_position']:.3g}", str(int(r["tosses"])), _spanned(r, "position"),
        *(("–", "reference") if r["label"] == reference else (more, VERDICTS[r["position_verdict"]])),
    ]  # fmt: skip


def _by_phase(frame: pd.DataFrame) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for r in frame[frame["samples"] > 0].to_dict("records"):
        found.setdefault(r["label"], [r["label"]]).append(_spanned(r, "position"))
    return list(found.values())


def _spanned(r: Any, name: str, signed: bool = False) -> str:
    mean, low, high = (r[f"{name}{part}"] for part in ("", "_low", "_high"))
    form = "+.2f" if signed else ".3g"
    return "–" if pd.isna(mean) else f"{mean:{form}} ({low:{form}} to {high:{form}})".replace("-", "−")
