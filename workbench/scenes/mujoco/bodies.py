"""The bodies that move: where they are and their momenta.

A body is a link with joints of its own and everything that is welded to it, as one rigid body.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.scenes.mujoco.package import mujoco


class Bodies:
    """The B rigid bodies of a model that have joints of their own.

    root (B,) the model's number of each, number (nbody,) of each of the model's bodies the rigid body that it is a part
    of, -1 for what does not move; mass (B,) [kg], centre (B, 3) [m] of mass and inertia (B, 3, 3) [kg m^2] about it, in
    the axes of the link.
    """

    def __init__(self, model: Any) -> None:
        self.root = np.flatnonzero(model.body_dofnum)
        of_root = {b: i for i, b in enumerate(self.root)}
        self.number: NDArray[np.int64] = np.array([of_root.get(b, -1) for b in model.body_weldid], dtype=np.int64)
        self.names = [model.body(b).name or f"body {b}" for b in self.root]
        count = self.root.size
        self.mass, self.centre, self.inertia = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
        data = mujoco().MjData(model)
        mujoco().mj_kinematics(model, data)
        for i, b in enumerate(self.root):
            parts = np.flatnonzero(self.number == i)
            mass, place, axes = model.body_mass[parts], data.xipos[parts], data.ximat[parts].reshape(-1, 3, 3)
            self.mass[i] = mass.sum()
            middle = mass @ place / self.mass[i] if self.mass[i] > 0 else data.xpos[b]
            r = place - middle
            R = data.xmat[b].reshape(3, 3)
            steiner = (r**2).sum(axis=1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
            own = axes * model.body_inertia[parts][:, None, :] @ axes.transpose(0, 2, 1)
            self.centre[i] = R.T @ (middle - data.xpos[b])
            self.inertia[i] = R.T @ (own + mass[:, None, None] * steiner).sum(axis=0) @ R

    def poses(self, data: Any) -> tuple[Array, Array]:
        """Centres of mass (B, 3) and quaternions (B, 4) of data whose kinematics are done."""
        R = data.xmat[self.root].reshape(-1, 3, 3)
        return data.xpos[self.root] + (R @ self.centre[:, :, None])[:, :, 0], data.xquat[self.root].copy()

    def momentum(self, model: Any, data: Any) -> tuple[Array, Array]:
        """Linear (B, 3) and angular momentum (B, 3) about the own centre of mass."""
        velocity, spin = velocities(model, data, self.root, self.poses(data)[0])
        R = data.xmat[self.root].reshape(-1, 3, 3)
        turned = R @ self.inertia @ R.transpose(0, 2, 1)
        return self.mass[:, None] * velocity, (turned @ spin[:, :, None])[:, :, 0]


def velocities(model: Any, data: Any, body: NDArray[np.int64], point: Array) -> tuple[Array, Array]:
    """Velocities (k, 3) of points (k, 3) of bodies (k,) of the model, and their angular velocities (k, 3)."""
    spin, found = data.cvel[body, :3], data.cvel[body, 3:]
    (x, y, z), (a, b, c) = (point - data.subtree_com[model.body_rootid[body]]).T, spin.T
    # spin x arm, entry by entry: np.cross takes as long as all else here.
    found[:, 0] += b * z - c * y
    found[:, 1] += c * x - a * z
    found[:, 2] += a * y - b * x
    return found, spin
