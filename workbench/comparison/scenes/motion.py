"""The motion of a comparison of a scene: its bodies, and the net contact force on each, at moments that all share."""

from collections.abc import Sequence
from math import ceil, lcm

import numpy as np

from workbench.arrays import Array
from workbench.comparison.motion import MOMENTS, Motion, reach, reaches
from workbench.comparison.motion import MotionTrack as Shown
from workbench.mechanics.solids import GROUND, Plane, Solid, ball, joined, slabs
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track

MARK = 0.01
"""Radius of the ball that stands for a body without a shape [m]."""


def motion(scene: Scene, reference: Track, runs: Sequence[Track], until: float) -> Motion | None:
    """What the reference and the runs move like up to a time [s]; None for a scene without shapes."""
    shapes, radii = scene.solids(), scene.radii()
    if not (shapes or radii.size):
        return None
    strides = [round(x.h / reference.h) for x in runs]
    steps, every = round(until / reference.h), lcm(*strides)
    every *= max(1, ceil(steps // every / (MOMENTS - 1)))
    K = steps // every + 1
    first = _shown(reference, "reference", every, K)
    tracks = [_shown(x, "run", every // stride, K) for x, stride in zip(runs, strides, strict=True)]
    solids = [x for x in shapes if isinstance(x, Solid)]
    bodies = [] if radii.size else [_body(solids, i, name) for i, name in enumerate(scene.bodies)]
    rest = [x for x in solids if x.body == GROUND]
    low, high = reach(first, radii if radii.size else reaches(bodies), rest)
    ground = [*rest, *slabs([x for x in shapes if isinstance(x, Plane)], low, high)]
    t = every * reference.h * np.arange(K, dtype=float)
    return Motion(t, tuple(bodies), tuple(ground), (first, *tracks), radii)


def _body(solids: Sequence[Solid], i: int, name: str) -> Solid:
    return joined([x for x in solids if x.body == i] or [ball(name, MARK, body=i)])


def _shown(x: Track, role: str, every: int, K: int) -> Shown:
    """A run at every so many of its steps, K moments in all; of every body one force, that of all its contacts.

    Its components are those of the world. Friction cones and sliding velocities are those of single contacts, which a
    run of a scene does not keep.
    """
    ends = every * np.arange(min(K, (len(x.q) - 1) // every + 1))
    steps, bodies = ends[1:] - 1, x.position.shape[1]

    def sampled(a: Array) -> Array:
        return np.concatenate([a, np.full((K - len(a), *a.shape[1:]), np.nan)])

    none = np.full((1, bodies, 3), np.nan)
    place = np.concatenate([none, np.where(np.isnan(x.steps.place), x.position[:-1], x.steps.place)[steps]])
    axes = np.broadcast_to(np.eye(3), (K, bodies, 3, 3))
    force, slip = np.concatenate([none, x.steps.wrench[steps, :, :3]]), np.full((K, bodies, 2), np.nan)
    return Shown(
        x.label, role, x.solver, x.h, sampled(x.position[ends]), sampled(x.orientation[ends]), sampled(place), axes,
        sampled(force), slip, np.zeros(bodies),
    )  # fmt: skip
