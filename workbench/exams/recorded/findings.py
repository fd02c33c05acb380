"""The outcomes of all subjects as tidy frames: each error with its interval, and paired with the first subject's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.exams.recorded.intervals import Bootstrap, ConfidenceInterval
from workbench.exams.recorded.phases import PHASES, phases
from workbench.exams.recorded.trial import COARSE, Outcome, RealityTrial, samples_of
from workbench.support.arrays import Array

MM, DEGREES = 1e3, 180.0 / np.pi
MOMENTS = 60
"""Largest number of times at which a curve has a point."""
MEASURES: dict[str, tuple[str, str]] = {
    "position": ("mm", "distance between predicted and recorded centre, the mean over a toss"),
    "orientation": ("deg", "angle between predicted and recorded orientation, the mean over a toss"),
    "rest_position": ("mm", "distance between predicted and recorded centre at the end of a recording"),
    "rest_orientation": ("deg", "angle between predicted and recorded orientation at the end of a recording"),
    "step_position": ("mm", "distance after one interval between samples, begun at the recorded state"),
    "step_orientation": ("deg", "angle after one interval between samples, begun at the recorded state"),
}  # fmt: skip
"""Errors of a toss: unit and meaning."""
ROUNDING = 1e-6
"""Difference of two errors [mm, degrees] below which two motions count as equal."""
SUBJECT = {
    "label": ("", "formulation with its options; relaxed: with compliant rows, else with rigid ones"),
    "rows": ("", "rigid or relaxed constraint rows"),
    "reason": ("", "why there are no numbers"),
    "mu": ("1", "identified friction coefficient"), "mu_low": ("1", "low end of its 95 % interval"),
    "mu_high": ("1", "high end of its 95 % interval"),
    "informative": ("1", "tosses of those that it was identified on whose error changes with mu, within a step of the "
                    "coarse grid, by more than the noise of the recorded height at rest"),
    "e": ("1", "identified restitution"),
    "train_position": ("mm", "error of position on the tosses that it was identified on"),
    "tosses": ("1", "tosses that it predicted to their end"), "failures": ("", "how the others ended"),
    "seconds": ("s", "wall time"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Findings:
    """subjects   one row each: identified parameters, errors, differences from the first, all with intervals
    over_time  errors against time since release; search: every point of the searches; by_phase: errors of one interval
    reference  label of the subject with which the others are paired
    """

    reference: str
    subjects: pd.DataFrame
    over_time: pd.DataFrame
    search: pd.DataFrame
    by_phase: pd.DataFrame


def findings(trial: RealityTrial, outcomes: Sequence[Outcome]) -> Findings:
    """All frames. The first outcome must have a result: the others are paired with it, toss by toss."""
    boot = Bootstrap(len(trial.test))
    base = errors_of(outcomes[0], trial)
    rows, times, searches, by_phase = [], [], [], []
    kinds = [phases(r, trial.thrower.body) for r in trial.test]
    for one in outcomes:
        rows.append(_row(one, trial, boot, base))
        if not one.reason:
            times += _over_time(one, outcomes[0], trial)
            searches += _search(one)
            by_phase += _by_phase(one, outcomes[0], kinds, boot)
    columns = {name: {"unit": u, "meaning": m} for name, (u, m) in SUBJECT.items()}
    for name, (unit, meaning) in MEASURES.items():
        for part, words in PARTS.items():
            columns[f"{name}{part}"] = {"unit": unit, "meaning": f"{words}{meaning}"}
        columns[f"{name}_verdict"] = {"unit": "", "meaning": "less or more than the first subject, or cannot tell"}
    subjects = pd.DataFrame(rows).reindex(columns=list(columns))
    subjects.attrs["columns"] = columns
    return Findings(
        outcomes[0].subject.label, subjects, pd.DataFrame(times), pd.DataFrame(searches), pd.DataFrame(by_phase)
    )


PARTS = {
    "": "", "_low": "low end of the 95 % interval: ", "_high": "high end of the 95 % interval: ",
    "_more": "difference from the first subject on the same tosses: ",
    "_more_low": "low end of that difference's 95 % interval: ",
    "_more_high": "high end of that difference's 95 % interval: ",
}  # fmt: skip


def errors_of(one: Outcome, trial: RealityTrial) -> dict[str, Array]:
    """Errors (tosses,) by name (`MEASURES`), in their units; NaN for a toss that was not predicted to its end."""
    last = samples_of(trial.test)
    rows = np.arange(len(last))
    step = np.array([x.mean(axis=0) for x in one.step])
    return {
        "position": MM * _mean_over(one.position, last), "orientation": DEGREES * _mean_over(one.angle, last),
        "rest_position": MM * one.position[rows, last], "rest_orientation": DEGREES * one.angle[rows, last],
        "step_position": MM * step[:, 0], "step_orientation": DEGREES * step[:, 1],
    }  # fmt: skip


def _mean_over(errors: Array, last: np.ndarray) -> Array:
    """Means of errors (tosses, S) over the samples 0 to `last` of each toss."""
    return np.array([row[: k + 1].mean() for row, k in zip(errors, last, strict=True)])


def more_than(base: Array, errors: Array) -> Array:
    """Excess of errors over those of the first subject [mm, degrees]; differences by rounding count as zero."""
    more = errors - base
    return np.where(np.abs(more) <= ROUNDING, 0.0, more)


def _row(one: Outcome, trial: RealityTrial, boot: Bootstrap, base: dict[str, Array]) -> dict[str, Any]:
    rigid = "rigid" if one.subject.label == one.subject.formulation.label else "relaxed"
    row: dict[str, Any] = {"label": one.subject.label, "rows": rigid, "reason": one.reason}
    if one.reason:
        return row
    low, high = mu_interval(one)
    own = errors_of(one, trial)
    best = one.losses[_at(one)]
    row |= {
        "mu": one.mu, "mu_low": low, "mu_high": high, "informative": informative(one, trial), "e": one.e,
        "train_position": MM * float(np.nanmean(best)),
        "tosses": int(np.isfinite(own["position"]).sum()), "failures": one.failures, "seconds": one.seconds,
    }  # fmt: skip
    for name, values in own.items():
        difference = boot.interval(more_than(base[name], values))
        row |= _named(name, boot.interval(values)) | _named(f"{name}_more", difference)
        row[f"{name}_verdict"] = difference.verdict
    return row


def _named(name: str, x: ConfidenceInterval) -> dict[str, float]:
    return {name: x.mean, f"{name}_low": x.low, f"{name}_high": x.high}


def _at(one: Outcome) -> int:
    """Position of its result in the search."""
    return int(np.flatnonzero((one.search == [one.mu, one.e]).all(axis=1))[-1])


def mu_interval(one: Outcome) -> tuple[float, float]:
    """95 % interval of mu from searches on tosses resampled with replacement, at the identified restitution."""
    there = one.search[:, 1] == one.e
    mus, first = np.unique(one.search[there, 0], return_index=True)
    losses = one.losses[there][first]
    whole = np.isfinite(losses).all(axis=0)
    if not whole.any():
        return float("nan"), float("nan")
    means = Bootstrap(int(whole.sum())).means(losses[:, whole].T)
    low, high = np.percentile(mus[means.argmin(axis=1)], [2.5, 97.5])
    return float(low), float(high)


def informative(one: Outcome, trial: RealityTrial) -> int:
    """The number of tosses that say something of mu: their errors within a step of the coarse grid about the identified
    mu differ by more than the noise of the recordings at rest."""
    (low, high), noise = trial.mu, trial.noise.rest[1]
    near = (one.search[:, 1] == one.e) & (np.abs(one.search[:, 0] - one.mu) <= (high - low) / (COARSE - 1) + 1e-9)
    losses = one.losses[near][:, np.isfinite(one.losses[near]).all(axis=0)]
    return int((np.ptp(losses, axis=0) > max(np.nan_to_num(noise), ROUNDING / MM)).sum())


def _over_time(one: Outcome, first: Outcome, trial: RealityTrial) -> list[dict[str, Any]]:
    """Errors over time for the tosses recorded at least as long as half of them, so that all times share the tosses."""
    last = samples_of(trial.test)
    end = int(np.median(last))
    long = last >= end
    boot = Bootstrap(int(long.sum()))
    some = np.unique(np.linspace(0, end, min(end + 1, MOMENTS)).astype(int))
    found: list[dict[str, Any]] = []
    curves = {"position": (MM, one.position, first.position), "orientation": (DEGREES, one.angle, first.angle)}
    if one.spread.size:
        curves["spread"] = (MM, one.spread, one.spread)
    for name, (scale, errors, base) in curves.items():
        own = boot.intervals(scale * errors[long][:, some])
        more = boot.intervals(scale * (errors - base)[long][:, some])
        for k, x, d in zip(some, own, more, strict=True):
            t = float(k) * trial.test[0].interval
            found.append({"label": one.subject.label, "measure": name, "t": t} | _named("value", x) | _named("more", d))
    return found


def _search(one: Outcome) -> list[dict[str, Any]]:
    boot = Bootstrap(one.losses.shape[1])
    spans = boot.intervals(MM * one.losses.T)
    return [
        {"label": one.subject.label, "mu": mu, "e": e, "chosen": k == _at(one)} | _named("position", x)
        for k, ((mu, e), x) in enumerate(zip(one.search.tolist(), spans, strict=True))
    ]


def _by_phase(one: Outcome, first: Outcome, kinds: list[np.ndarray], boot: Bootstrap) -> list[dict[str, Any]]:
    found = []
    for number, phase in enumerate(PHASES):
        counts = np.array([(k == number).sum() for k in kinds], dtype=float)
        row: dict[str, Any] = {"label": one.subject.label, "phase": phase, "samples": int(counts.sum())}
        for column, (name, scale) in enumerate((("position", MM), ("orientation", DEGREES))):
            own, base = (
                np.array([scale * s[k == number, column].sum() for s, k in zip(x.step, kinds, strict=True)])
                for x in (one, first)
            )
            more = boot.interval(more_than(base, own), counts)
            row |= _named(name, boot.interval(own, counts)) | _named(f"{name}_more", more)
            row[f"{name}_verdict"] = more.verdict
        found.append(row)
    return found
