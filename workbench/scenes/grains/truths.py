"""What is known of any motion of grains: balances of momentum and of energy, step by step, and the weight on the floor.

With v+ after a step, J^T P what the contacts gave, and centres that move by h v+ (angular velocities do no harm, since
the inertia of a sphere has no axes), the balances are identities of the step and hold up to rounding:

    M (v+ - v) = h f + J^T P         E+ - E = v+ . J^T P - |v+ - v|_M^2 / 2

A contact that carries has u_n = - phi / h under Coulomb's law and friction never pushes along: what contacts at rest
can give is p_n (- phi)_+ / h each, from overlaps that are pushed apart.
"""

import numpy as np

from workbench.mechanics.case import Truth
from workbench.scenes.grains.scene import Grains
from workbench.scenes.track import Track
from workbench.support.arrays import Array

ROUNDING = 1e-10
"""Of balances, beside the largest of what is balanced."""


def balances(scene: Grains, track: Track) -> list[Truth]:
    """Momentum and energy, the worst step; and that no energy is gained, where no wall moves."""
    if not track.steps:
        return []
    change, given, weight = momenta(scene, track)
    off = float(np.abs(change - given - weight).max())
    largest = float(max(np.abs(given).max(), np.abs(weight).max(), np.abs(change).max()))
    truths = [Truth("momentum balance", off, 0.0, ROUNDING * largest, "N s", "M (v+ - v) = h f + J^T P, worst step")]
    gained, worked = energies(scene, track)
    scale = float(np.abs(track.energy).max() + np.abs(worked).max())
    off = float(np.abs(gained - worked).max())
    truths.append(Truth("energy balance", off, 0.0, ROUNDING * scale, "J", "E+ - E = v+ . J^T P - |v+ - v|^2 / 2"))
    if not any(np.any(wall.velocity(scene.q[:1, :3], 0.0)) for wall in scene.walls):
        steps = track.touched
        apart = (steps.load * np.maximum(-np.nan_to_num(steps.gap), 0.0)).sum(axis=1)
        most = float((gained - apart).max())
        truths.append(
            Truth("energy gained", max(most, 0.0), 0.0, ROUNDING * scale, "J", "at most overlaps times forces")
        )
    return truths


def weight(scene: Grains, track: Track) -> list[Truth]:
    """That walls and ground carry the grains' weight, but for what these gain or lose in speed: exactly it at rest.

    The mean over the last fifth of the steps; nothing without gravity, or where nothing is within reach then.
    """
    last = track.steps // 5
    pull = float(np.linalg.norm(scene.gravity))
    if not (last and pull and track.contacts[-last:].any()):
        return []
    v = track.v.reshape(len(track.v), -1, 6)[:, :, :3] @ (scene.gravity / pull) @ scene.mass / scene.mass.sum()
    theory = 1.0 - float(v[-1] - v[-1 - last]) / (pull * track.h * last)
    carried = float(weight_carried(scene, track)[-last:].mean())
    source = "forces of ground and walls over the grains' weight, mean over the last fifth, by the change of momentum"
    return [Truth("weight carried", carried, theory, 1e-9, "1", source)]


def momenta(scene: Grains, track: Track) -> tuple[Array, Array, Array]:
    """Of every step and grain (K, N, 6) [N s, N m s]: the change of momentum, what contacts gave, what gravity gave."""
    v = track.v.reshape(len(track.v), -1, 6)
    M = scene.M.diagonal().reshape(-1, 6)
    change = M * np.diff(v, axis=0)
    return change, track.h * track.touched.wrench, np.broadcast_to(track.h * scene.weight, change.shape)


def energies(scene: Grains, track: Track) -> tuple[Array, Array]:
    """The energy gained in every step (K,) [J], and what contacts gave less |v+ - v|_M^2 / 2."""
    change, given, _ = momenta(scene, track)
    v = track.v.reshape(len(track.v), -1, 6)
    half = 0.5 * (change * np.diff(v, axis=0)).sum(axis=(1, 2))
    return np.diff(track.energy), (given * v[1:]).sum(axis=(1, 2)) - half


def weight_carried(scene: Grains, track: Track) -> Array:
    """The force of walls and ground on all grains together against gravity, beside their weight, every step (K,)."""
    down = scene.gravity / np.linalg.norm(scene.gravity)
    force = track.touched.wrench[:, :, :3].sum(axis=1) @ -down
    return force / float((scene.weight[:, :3] @ down).sum())
