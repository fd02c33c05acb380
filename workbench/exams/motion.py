"""The motions of subjects in a trial, for drawing."""

from collections.abc import Mapping

import numpy as np

from workbench.comparison.motion import DrawnMotion, MotionTrack, reach, reaches
from workbench.exams.record import Record
from workbench.mechanics.solids import GROUND, Plane, Solid, joined, slabs
from workbench.support.arrays import Array

MOMENTS = 121


def motion(records: Mapping[str, Record], reference: str) -> DrawnMotion:
    """Records of one trial with one step size, by subject; the others are drawn over that of `reference`."""
    first = records[reference]
    K = len(first.position)
    every = max(1, (K - 1) // (MOMENTS - 1))
    order = [reference, *(name for name in records if name != reference)]
    tracks = tuple(_track(name, records[name], every, "run" if i else "reference") for i, name in enumerate(order))
    shapes = first.trial.solids()
    solids = [x for x in shapes if isinstance(x, Solid)]
    bodies = tuple(joined([x for x in solids if x.body == k]) for k in range(first.position.shape[1]))
    low, high = reach(tracks[0], reaches(bodies), [])
    ground = slabs([x for x in shapes if isinstance(x, Plane)], low, high)
    rest = [x for x in solids if x.body == GROUND]
    t = every * first.h * np.arange(len(tracks[0].position), dtype=float)
    return DrawnMotion(t, bodies, (*rest, *ground), tracks)


def _track(name: str, record: Record, every: int, role: str) -> MotionTrack:
    """A record at every `every`-th step; one force per body, that of all its contacts, at the centre of pressure."""
    ends = np.arange(0, len(record.position), every)
    x, wrench = record.position[ends], np.concatenate([np.full_like(record.wrench[:1], np.nan), record.wrench])[ends]
    force, moment = wrench[..., :3], wrench[..., 3:]
    size = (force**2).sum(axis=-1, keepdims=True)
    arm: Array = np.where(size > 0, np.cross(force, moment) / np.where(size > 0, size, 1.0), 0.0)
    K, B = x.shape[:2]
    axes, none = np.broadcast_to(np.eye(3), (K, B, 3, 3)), np.full((K, B, 2), np.nan)
    return MotionTrack(
        name, role, "", record.h, x, record.orientation[ends], x + np.where(np.isfinite(arm), arm, 0.0), axes, force,
        none, np.zeros(B),
    )  # fmt: skip
