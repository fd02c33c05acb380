"""The bodies that move: where they are and their momenta.

A body is a link with joints of its own and everything that is welded to it, as one rigid body.
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX
from workbench.scenes.mujoco.package import mujoco
from workbench.support.arrays import Array

F64, I64, INT32 = types.float64, types.int64, types.Array(types.int32, 1, "C")


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


@kernel(types.UniTuple(F64, 6)(MATRIX, MATRIX, INT32, I64, MATRIX, I64))
def point_velocity(cvel, centre, root, body, point, i):
    """Velocity and angular velocity of point i of a body: cvel (nbody, 6) are the spins, and the velocities at the
    centres of the roots."""
    x, y, z, r = cvel[body, 0], cvel[body, 1], cvel[body, 2], root[body]
    a, b, c = point[i, 0] - centre[r, 0], point[i, 1] - centre[r, 1], point[i, 2] - centre[r, 2]
    u, v, w = cvel[body, 3] + (y * c - z * b), cvel[body, 4] + (z * a - x * c), cvel[body, 5] + (x * b - y * a)
    return u, v, w, x, y, z


@kernel(types.void(MATRIX, MATRIX, INT32, INDICES, MATRIX, MATRIX))
def point_velocities(cvel, centre, root, body, point, found):
    """found (k, 6) of points (k, 3), each of its body (k,)."""
    for i in range(found.shape[0]):
        moving = point_velocity(cvel, centre, root, body[i], point, i)
        for k in range(6):
            found[i, k] = moving[k]


def velocities(model: Any, data: Any, body: NDArray[np.int64], point: Array) -> tuple[Array, Array]:
    """Velocities (k, 3) of points (k, 3) of bodies (k,) of the model, and their angular velocities (k, 3)."""
    found = np.empty((len(point), 6))
    given = np.ascontiguousarray(body, dtype=np.int64), np.ascontiguousarray(point)
    point_velocities(data.cvel, data.subtree_com, model.body_rootid, *given, found)
    return found[:, :3].copy(), found[:, 3:].copy()
