"""The motion of a comparison: bodies, contact points and forces at moments that the reference and all runs share."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from math import ceil, lcm
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from workbench.mechanics.case import Case
from workbench.mechanics.solids import GROUND, Plane, Solid, ball, joined, slabs
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.step.run import Run
from workbench.support.arrays import Array
from workbench.support.errors import DataError

MOMENTS = 241
MARK = 0.01
"""Radius of the ball that stands for a body without a shape [m]."""


@dataclass(frozen=True, eq=False)
class MotionTrack:
    """Motion of one run at the K moments of a `DrawnMotion`, NaN after its end.

    B bodies, r contacts, d tangents; the axes of a contact are its normal and the tangents of p_t's components. A force
    is the impulse of the step that ends at the moment over the step, the slip is that of the same step: NaN at the
    start, where no step ends. What happens in the steps between two moments is not in it: an impact between them has no
    force here. The forces of a step are shown at the place and in the axes that the contact has at its end.
    """

    label: str
    role: str
    """reference or run"""
    solver: str
    step: float
    """[s]"""
    position: Array
    """(K, B, 3) [m]"""
    orientation: Array
    """(K, B, 4) unit quaternions, scalar first, body to world"""
    point: Array
    """(K, r, 3) [m]"""
    axes: Array
    """(K, r, 1 + d, 3)"""
    force: Array
    """(K, r, 1 + d) [N]"""
    slip: Array
    """(K, r, d) [m/s]"""
    mu: Array
    """(r,) the largest friction coefficient in the run"""


@dataclass(frozen=True, eq=False)
class DrawnMotion:
    """Motion at up to 241 equidistant times t (K,) [s] from 0: moving `bodies`, fixed `ground`, a track for each run.

    The reference's track comes first. If all bodies are balls, `radii` (B,) [m] replace `bodies`.
    """

    t: Array
    bodies: tuple[Solid, ...]
    ground: tuple[Solid, ...]
    tracks: tuple[MotionTrack, ...]
    radii: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def sizes(self) -> Array:
        """Largest distance (B,) [m] of each body's points from its centre."""
        return self.radii if self.radii.size else reaches(self.bodies)

    @property
    def across(self) -> Array:
        """The longest edge of each body's box in its own axes (B,) [m]; 0 of a point mass, touched at its centre."""
        if self.radii.size:
            return 2.0 * self.radii
        first = self.tracks[0]
        at_centre = first.point.shape[1] and np.array_equal(first.point, first.position.repeat(first.point.shape[1], 1))
        if first.position.shape[1] == 1 and at_centre:
            return np.zeros(1)
        return np.array([np.ptp(x.vertices, axis=0).max() for x in self.bodies])

    def travelled(self, start: float, end: float) -> Array:
        """Length of each body's path in the reference (B,) [m] from one time [s] to another, moment by moment."""
        inside = (self.t >= start - 1e-9) & (self.t <= end + 1e-9)
        return np.linalg.norm(np.diff(self.tracks[0].position[inside], axis=0), axis=-1).sum(axis=0)

    def measures(self, start: float, end: float) -> tuple[float, float]:
        """Return the size of the largest body and the longest path in the reference between two times [s], in m."""
        return float(self.across.max()), float(self.travelled(start, end).max())

    def save(self, path: str | Path) -> None:
        """Write one `.npz` file of plain arrays."""
        arrays: dict[str, Any] = {"t": self.t, "radii": self.radii}
        for kind in ("bodies", "ground", "tracks"):
            for i, x in enumerate(getattr(self, kind)):
                arrays |= {f"{kind}/{i}/{f.name}": getattr(x, f.name) for f in fields(x)}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "DrawnMotion":
        """The motion that `save` wrote; raises DataError for a file that is none."""
        try:
            with Path(path).open("rb") as file, np.load(file) as arrays:
                kinds = {"bodies": Solid, "ground": Solid, "tracks": MotionTrack}
                found = {kind: _several(arrays, kind, make) for kind, make in kinds.items()}
                if not found["tracks"]:
                    raise KeyError("tracks")
                # Motions that were saved before there were balls have no radii.
                balls = {"radii": arrays["radii"]} if "radii" in arrays else {}
                return cls(arrays["t"], **found, **balls)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise DataError(f"{path} holds no motion ({error}); a file that DrawnMotion.save wrote is needed") from None


def _several(arrays: Any, kind: str, make: Any) -> Any:
    """The solids or tracks of a kind that a file holds."""
    found: list[Any] = []
    while f"{kind}/{len(found)}/{fields(make)[0].name}" in arrays:
        given = {f.name: arrays[f"{kind}/{len(found)}/{f.name}"] for f in fields(make)}
        found.append(make(**{name: x if x.ndim else x.item() for name, x in given.items()}))
    return tuple(found)


def motion(
    what: Case | Scene, reference: Run | Track, runs: Sequence[Run | Track], until: float = np.inf
) -> DrawnMotion | None:
    """Return the motion of the reference and the runs up to a time [s]; None for a case or a scene without shapes."""
    shapes, radii = what.solids(), what.radii() if isinstance(what, Scene) else np.zeros(0)
    if not (shapes or radii.size):
        return None
    strides = [round(run.h / reference.h) for run in runs]
    steps, every = int(min(np.round(until / reference.h), reference.steps)), lcm(*strides)
    every *= max(1, ceil(steps // every / (MOMENTS - 1)))
    K = steps // every + 1
    first = _track(reference, "reference", every, K)
    tracks = [_track(run, "run", every // stride, K) for run, stride in zip(runs, strides, strict=True)]
    solids = [x for x in shapes if isinstance(x, Solid)]
    names = what.bodies if isinstance(what, Scene) else map(str, range(first.position.shape[1]))
    bodies = () if radii.size else tuple(_body(solids, i, name) for i, name in enumerate(names))
    rest = [x for x in solids if x.body == GROUND]
    low, high = reach(first, radii if radii.size else reaches(bodies), rest)
    ground = (*rest, *slabs([x for x in shapes if isinstance(x, Plane)], low, high))
    return DrawnMotion(every * reference.h * np.arange(K, dtype=float), bodies, ground, (first, *tracks), radii)


def measured_rows(rows: Sequence[dict[str, Any]], shown: DrawnMotion | None) -> list[dict[str, Any]]:
    """Return rows of `runs` with `DrawnMotion.measures` over their windows, NaN where no motion is shown."""
    names, found = ("body_size", "path_length"), []
    for row in rows:
        sizes = (np.nan, np.nan) if shown is None else shown.measures(row["window_start"], row["window_end"])
        found.append(row | dict(zip(names, sizes, strict=True)))
    return found


def _body(solids: Sequence[Solid], i: int, name: str) -> Solid:
    return joined([x for x in solids if x.body == i] or [ball(name, MARK, body=i)])


def reaches(bodies: Sequence[Solid]) -> Array:
    """Return the largest distance (B,) [m] of each body's points from its centre."""
    return np.array([np.linalg.norm(x.vertices, axis=1).max() for x in bodies])


def reach(track: MotionTrack, sizes: Array, rest: Sequence[Solid]) -> tuple[Array, Array]:
    """Return corners (3,) of a box around the paths of bodies of sizes (B,) [m] and around the solids of the ground."""
    sizes = sizes[:, None]
    corners = [track.position - sizes, track.position + sizes, *(x.vertices for x in rest)]
    points = np.concatenate([x.reshape(-1, 3) for x in corners])
    return np.nanmin(points, axis=0), np.nanmax(points, axis=0)


def _track(run: Run | Track, role: str, every: int, K: int) -> MotionTrack:
    """A run sampled at every n-th step, K times in all."""
    ends = every * np.arange(min(K, run.steps // every + 1))
    arrays, mu = _of_bodies(run, ends) if isinstance(run, Track) else _of_contacts(run, ends)
    position, orientation, point, axes, force, slip = (
        np.concatenate([x, np.full((K - len(x), *x.shape[1:]), np.nan)]) for x in arrays
    )
    return MotionTrack(
        run.label, role, run.solver, run.h, position, orientation, point, axes, force, slip, mu
    )  # fmt: skip


def _of_contacts(run: Run, ends: NDArray[np.int64]) -> tuple[tuple[Array, ...], Array]:
    """Return the arrays of a case's `MotionTrack`, from `position` on, at these of its states."""
    q, steps = run.states_q[ends], ends[1:] - 1
    impulse = np.concatenate([run.p_n[steps][..., None], run.p_t[steps]], axis=-1)
    none = np.full((1, *impulse.shape[1:]), np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        places = (*run.case.poses(q), *run.case.contacts(q))
    force, slip = np.concatenate([none, impulse / run.h]), np.concatenate([none[..., 1:], run.u_t[steps]])
    return (*places, force, slip), run.mu.max(axis=0, initial=0.0)


def _of_bodies(run: Track, ends: NDArray[np.int64]) -> tuple[tuple[Array, ...], Array]:
    """Return the same for a scene, with one net contact force per body, in world axes.

    Friction cones and sliding velocities are those of single contacts, which a run of a scene does not keep.
    """
    steps, position, touched = ends[1:] - 1, run.position[ends], run.touched
    none = np.full_like(position[:1], np.nan)
    place = np.where(np.isnan(touched.place), run.position[:-1], touched.place)
    point, force = (np.concatenate([none, x[steps]]) for x in (place, touched.wrench[..., :3]))
    axes = np.broadcast_to(np.eye(3), (*position.shape, 3))
    slip = np.full((*position.shape[:2], 2), np.nan)
    return (position, run.orientation[ends], point, axes, force, slip), np.zeros(position.shape[1])
