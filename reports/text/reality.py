"""Conclusions on formulations from recorded motions, in sentences: the result first, then its limits."""

from typing import Any

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.conclusions import listed
from workbench.exams.recorded.findings import Findings
from workbench.exams.recorded.folder import Recordings
from workbench.exams.recorded.trial import RealityTrial

FEW = 20
"""Intervals of which one is expected to miss its number by chance."""
NAMED = 4
"""Number of formulations of each kind that a sentence names in addition to the last one."""


def sentences(recordings: Recordings, trial: RealityTrial, f: Findings) -> list[str]:
    """Return the result, the effect of noise alone, the phases in which differences arise, and omissions."""
    rows = f.subjects[f.subjects["reason"].fillna("") == ""]
    base = rows.iloc[0]
    found = [
        _answer(recordings, trial, f, rows, base), _informative(trial, rows, base), _rest(rows, base),
        _noise(trial, f, base), _phases(trial, f),
        _caution(rows),
    ]  # fmt: skip
    for r in f.subjects[f.subjects["reason"].fillna("") != ""].to_dict("records"):
        found.append(f"{r['label']} has no results: {r['reason']}.")
    for r in rows[rows["failures"].fillna("") != ""].to_dict("records"):
        found.append(
            f"{r['label']} finished only {r['tosses']} of the {len(trial.test)} tosses ({r['failures']}); "
            "its errors and differences are over these."
        )
    if recordings.left_out:
        name, why = next(iter(recordings.left_out.items()))
        found.append(f"{len(recordings.left_out)} files were omitted, the first being {name}: {why}.")
    return [x for x in found if x]


def _answer(recordings: Recordings, trial: RealityTrial, f: Findings, rows: pd.DataFrame, base: Any) -> str:
    others = rows[rows["label"] != f.reference].sort_values("position_more")
    words = {
        kind: [f"{r['label']} ({difference(r, 'position_more')})" for r in some.to_dict("records")]
        for kind, some in others.groupby("position_verdict")
    }
    parts = [
        f"{f.reference.capitalize()} predicts the centre of the {recordings.description.body.name} with a mean error "
        f"of {span(base, 'position', 'mm')} over {int(base['tosses'])} tosses"
    ]
    if "less" in words:
        parts.append(f"better: {_some(words['less'])}")
    if "cannot tell" in words:
        parts.append(f"not significantly different: {_some(words['cannot tell'])}")
    if "more" in words:
        parts.append(f"worse: {_some(words['more'])}")
    return "; ".join(parts) + ". In brackets: paired differences and 95 % intervals."


def _some(words: list[str]) -> str:
    """Return the first names, the number of others, and the last."""
    if len(words) <= NAMED + 1:
        return listed(words)
    return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more, up to {words[-1]}"


def _informative(trial: RealityTrial, rows: pd.DataFrame, base: Any) -> str:
    """Return how many of the tosses tell mu under the first formulation, and under which one the fewest do."""
    noise, count = trial.noise.rest[1], len(trial.train)
    if not count or not np.isfinite(noise):
        return ""
    least = rows.sort_values("informative", kind="stable").iloc[0]
    fewer = f", fewest under {least['label']} ({least['informative']:.0f})" if least["label"] != base["label"] else ""
    return (
        f"Of the {count} tosses on which mu is identified, {base['informative']:.0f} tell it under {base['label']}"
        f"{fewer}: near the identified value their error changes by more than {1e3 * noise:.2g} mm, the noise of the "
        "recorded height at rest."
    )


def _rest(rows: pd.DataFrame, base: Any) -> str:
    unclear = rows[rows["rest_position_verdict"] == "cannot tell"]["label"]
    same = [x for x in unclear if x != base["label"]]
    words = f"The error of {base['label']} at the end of a recording is {span(base, 'rest_position', 'mm')} and "
    words += span(base, "rest_orientation", "degrees")
    return words + (f"; not significantly different there: {listed(same)}." if same else ".")


def _noise(trial: RealityTrial, f: Findings, base: Any) -> str:
    noise = trial.noise
    if not noise.flights:
        return "No recording begins with free flight, so the error of the recorded initial state is unknown."
    x, y, z = noise.velocity
    words = (
        f"Recorded initial velocities have errors of {x:.2g}, {y:.2g} and {z:.2g} m/s along x, y and z and of "
        f"{noise.spin:.2g} rad/s about each axis, estimated from {noise.flights} free flights"
    )
    spread = f.over_time[(f.over_time["label"] == f.reference) & (f.over_time["measure"] == "spread")]
    if spread.empty:
        return words + "."
    middle = float(spread["value"].mean())
    return (
        f"{words}. They alone move the prediction by {middle:.2g} mm on average up to {spread['t'].max():.2g} s, which "
        f"an exact model could not improve on; the error of {f.reference} is {base['position']:.3g} mm."
    )


def _phases(trial: RealityTrial, f: Findings) -> str:
    """Return the phase with the worst predictions of one interval, apart from flight without contact."""
    own = f.by_phase[(f.by_phase["label"] == f.reference) & (f.by_phase["samples"] > 0)].set_index("phase")
    if "flight" not in own.index or len(own) < 2:
        return ""
    worst = str(own["position"].drop("flight").idxmax())
    parts = [f"From one sample to the next, the error of {f.reference} is largest in {worst}"]
    parts.append(f"{span(own.loc[worst], 'position', 'mm')}, in flight {span(own.loc['flight'], 'position', 'mm')}")
    words = ": ".join(parts) + "."
    if trial.thrower.normal == "gap":
        words += " It includes the penetration of recorded states, which the normal law of gaps removes at once."
    return words


def _caution(rows: pd.DataFrame) -> str:
    count = len(rows) - 1
    if count < 2:
        return ""
    return f"The {count} intervals are not simultaneous: of {FEW} zero differences, about one would appear significant."


def span(row: Any, name: str, unit: str) -> str:
    """A number with its interval, "13.8 mm (12.9 to 14.8)"."""
    mean, low, high = (row[f"{name}{part}"] for part in ("", "_low", "_high"))
    return f"{mean:.3g} {unit} ({low:.3g} to {high:.3g})" if np.isfinite(mean) else "an unknown distance"


def difference(row: Any, name: str) -> str:
    """A difference with its interval, "+2.7 mm, +1.3 to +4.2"."""
    mean, low, high = (row[f"{name}{part}"] for part in ("", "_low", "_high"))
    return f"{mean:+.2f} mm, {low:+.2f} to {high:+.2f}".replace("-", "−")
