"""The motion of a comparison: bodies, contact points and forces at moments that the reference and all runs share."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from math import ceil, lcm
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from workbench.arrays import Array
from workbench.errors import DataError
from workbench.mechanics.case import Case
from workbench.mechanics.solids import GROUND, Plane, Solid, joined, slabs
from workbench.step.run import Run

MOMENTS = 241


@dataclass(frozen=True, eq=False)
class MotionTrack:
    """What one run moves like, at the K moments of a `Motion`, NaN after its end.

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
class Motion:
    """At most 241 moments t (K,) [s], evenly spread from 0 on: `bodies` that move, `ground` at rest, a track a run.

    The reference's track comes first. Where all bodies are balls there are `radii` (B,) [m] in the place of `bodies`.
    """

    t: Array
    bodies: tuple[Solid, ...]
    ground: tuple[Solid, ...]
    tracks: tuple[MotionTrack, ...]
    radii: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def sizes(self) -> Array:
        """How far each body reaches from its centre (B,) [m]."""
        return self.radii if self.radii.size else reaches(self.bodies)

    def save(self, path: str | Path) -> None:
        """One `.npz` file of plain arrays."""
        arrays: dict[str, Any] = {"t": self.t, "radii": self.radii}
        for kind in ("bodies", "ground", "tracks"):
            for i, x in enumerate(getattr(self, kind)):
                arrays |= {f"{kind}/{i}/{f.name}": getattr(x, f.name) for f in fields(x)}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Motion":
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
            raise DataError(f"{path} holds no motion ({error}); a file that Motion.save wrote is needed") from None


def _several(arrays: Any, kind: str, make: Any) -> Any:
    """The solids or tracks of a kind that a file holds."""
    found: list[Any] = []
    while f"{kind}/{len(found)}/{fields(make)[0].name}" in arrays:
        given = {f.name: arrays[f"{kind}/{len(found)}/{f.name}"] for f in fields(make)}
        found.append(make(**{name: x if x.ndim else x.item() for name, x in given.items()}))
    return tuple(found)


def motion(case: Case, reference: Run, runs: Sequence[Run]) -> Motion | None:
    """What the reference and the runs move like; None for a case without `solids`."""
    shapes = case.solids()
    if not shapes:
        return None
    strides = [round(run.h / reference.h) for run in runs]
    every = lcm(*strides)
    every *= max(1, ceil(reference.steps // every / (MOMENTS - 1)))
    K = reference.steps // every + 1
    first = _track(reference, "reference", every, K)
    tracks = [_track(run, "run", every // stride, K) for run, stride in zip(runs, strides, strict=True)]
    solids = [x for x in shapes if isinstance(x, Solid)]
    bodies = [joined([x for x in solids if x.body == k]) for k in range(first.position.shape[1])]
    rest = [x for x in solids if x.body == GROUND]
    low, high = reach(first, reaches(bodies), rest)
    ground = [*rest, *slabs([x for x in shapes if isinstance(x, Plane)], low, high)]
    t = every * reference.h * np.arange(K, dtype=float)
    return Motion(t, tuple(bodies), tuple(ground), (first, *tracks))


def reaches(bodies: Sequence[Solid]) -> Array:
    """How far each body reaches from its centre (B,) [m]."""
    return np.array([np.linalg.norm(x.vertices, axis=1).max() for x in bodies])


def reach(track: MotionTrack, sizes: Array, rest: Sequence[Solid]) -> tuple[Array, Array]:
    """Corners (3,) of a box about all that bodies of sizes (B,) [m] come to, and about the solids of the ground."""
    sizes = sizes[:, None]
    corners = [track.position - sizes, track.position + sizes, *(x.vertices for x in rest)]
    points = np.concatenate([x.reshape(-1, 3) for x in corners])
    return np.nanmin(points, axis=0), np.nanmax(points, axis=0)


def _track(run: Run, role: str, every: int, K: int) -> MotionTrack:
    """A run at every so many of its steps, K moments in all."""
    ends = every * np.arange(min(K, run.steps // every + 1))
    q, steps = run.states_q[ends], ends[1:] - 1
    impulse = np.concatenate([run.p_n[steps][..., None], run.p_t[steps]], axis=-1)
    none = np.full((1, *impulse.shape[1:]), np.nan)

    def sampled(x: Array) -> Array:
        return np.concatenate([x, np.full((K - len(x), *x.shape[1:]), np.nan)])

    with np.errstate(over="ignore", invalid="ignore"):
        position, orientation, point, axes = map(sampled, (*run.case.poses(q), *run.case.contacts(q)))
    force = sampled(np.concatenate([none, impulse / run.h]))
    slip = sampled(np.concatenate([none[..., 1:], run.u_t[steps]]))
    label, mu = run.formulation.label, run.mu.max(axis=0, initial=0.0)
    return MotionTrack(label, role, run.solver, run.h, position, orientation, point, axes, force, slip, mu)
