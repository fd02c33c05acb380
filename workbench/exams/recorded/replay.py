"""One recorded toss and its predictions by the subjects: the motion that a page shows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.comparison.motion import DrawnMotion, MotionTrack, motion
from workbench.exams.recorded.recording import Recording
from workbench.exams.recorded.tossed import begun
from workbench.exams.recorded.trial import Outcome, RealityTrial
from workbench.step.simulation import simulate
from workbench.support.arrays import Array


def typical(one: Outcome) -> int:
    """The test toss with the median error of a subject."""
    errors = np.array([np.nan if np.isnan(x).all() else np.nanmean(x) for x in one.position])
    order = np.argsort(errors)
    return int(order[(np.isfinite(errors).sum() - 1) // 2])


def replay(trial: RealityTrial, outcomes: Sequence[Outcome], number: int) -> DrawnMotion | None:
    """Recording `number` of the test and the subjects' runs from its start; None for a body without a shape.

    The recording's track comes first, with the role "reference"; between samples its poses are interpolated.
    """
    thrower, recorded = trial.thrower, trial.test[number]
    duration = float(recorded.t[-1])
    runs = [
        simulate(
            begun(thrower.body, recorded.states[0], one.mu, one.e), one.subject.formulation,
            thrower.solver(one.subject), thrower.h, duration, normal=thrower.normal, relaxation=one.subject.relaxation,
        )
        for one in outcomes
    ]  # fmt: skip
    longest = max(runs, key=lambda run: run.steps)
    found = motion(longest.case, longest, runs)
    if found is None:
        return None
    tracks = [_net(x, one.subject.label) for x, one in zip(found.tracks[1:], outcomes, strict=True)]
    return replace(found, tracks=(_recorded(recorded, found.t, tracks[0]), *tracks))


def _net(track: MotionTrack, label: str) -> MotionTrack:
    """The track with all contacts combined into one, at the mean position by normal forces: all axes are the same."""
    force = np.nansum(track.force, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = track.force[..., :1] / force[..., :1]
    point = np.nansum(share * track.point, axis=1, keepdims=True)
    there = np.where(force[..., :1] > 0.0, point, np.nan)
    slip = np.full_like(track.slip[:, :1], np.nan)
    return replace(track, label=label, point=there, axes=track.axes[:, :1], force=force, slip=slip, mu=track.mu[:1])


def _recorded(recorded: Recording, t: Array, like: MotionTrack) -> MotionTrack:
    """The track of a recording at times t (K,): poses only, since contacts are not recorded."""
    q = recorded.states[:, :7].copy()
    for k in range(1, len(q)):
        if q[k, 3:] @ q[k - 1, 3:] < 0:
            q[k, 3:] *= -1.0
    there = np.stack([np.interp(t, recorded.t, column) for column in q.T], axis=1)
    turn = there[:, 3:] / np.linalg.norm(there[:, 3:], axis=1)[:, None]
    none = np.full_like(like.force, np.nan)
    return replace(
        like, label="recording", role="reference", position=there[:, None, :3], orientation=turn[:, None], force=none
    )
