"""A model of MuJoCo as a scene."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.engine.lazy import sparse
from workbench.errors import DataError
from workbench.mechanics.instant import Instant, instant
from workbench.scenes.mujoco import rows
from workbench.scenes.mujoco.bodies import Bodies
from workbench.scenes.mujoco.look_ahead import LookAhead
from workbench.scenes.mujoco.model import load
from workbench.scenes.mujoco.package import mujoco
from workbench.scenes.scene import Scene


class MujocoScene(Scene):
    """The model of an MJCF, URDF or MJB file, from its start or from a keyframe.

    Coordinates are MuJoCo's qpos and, behind it, the activations of its actuators; velocities are its qvel. Contacts
    and limits that may close within a step are seen (`look_ahead`); those of a joint are contacts of no direction.
    Raises DataError naming what is wrong with file, values that are set, or keyframe.
    """

    def __init__(self, path: str | Path, sets: Mapping[str, str] = {}, key: str | None = None) -> None:
        mj = mujoco()
        self.path = Path(path)
        self.name = self.path.stem
        self.model = load(self.path, sets)
        self.step = float(self.model.opt.timestep)
        self._bodies = Bodies(self.model)
        self.bodies = self._bodies.names
        self._copy = copy.copy(self.model)
        self._copy.opt.cone = mj.mjtCone.mjCONE_ELLIPTIC
        self._copy.opt.jacobian = mj.mjtJacobian.mjJAC_SPARSE
        self._copy.opt.enableflags &= ~int(mj.mjtEnableBit.mjENBL_SLEEP)
        self._flags = int(self._copy.opt.disableflags)
        self._ahead = LookAhead(self.model, self._copy)
        self._data = mj.MjData(self._copy)
        self._reset(self._data, key)
        self._start = self._data.qpos.copy(), self._data.qvel.copy()

    def _reset(self, data: Any, key: str | None) -> None:
        mj = mujoco()
        if key is None:
            mj.mj_resetData(self.model, data)
            return
        names = [self.model.key(i).name for i in range(self.model.nkey)]
        if key not in names:
            known = ", ".join(x or "(without a name)" for x in names) or "none"
            raise DataError(f"{self.name} has no keyframe '{key}'; it has {known}")
        mj.mj_resetDataKeyframe(self.model, data, names.index(key))

    def start(self) -> tuple[Array, Array]:
        return self._start[0].copy(), self._start[1].copy()

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        mj, m, d = mujoco(), self._copy, self._data
        self._smooth(q, v, t, h)
        self._ahead.raise_margins(d, h)
        m.opt.disableflags = self._flags
        mj.mj_collision(m, d)
        mj.mj_makeConstraint(m, d)
        J = rows.jacobian(d, m.nv)
        touching = rows.joined(rows.contacts(m, d, J, self._ahead, self._bodies), rows.limits(m, d, J, self.model))
        bilateral = np.flatnonzero(d.efc_type == rows.EQUALITY)
        dry = np.flatnonzero(np.isin(d.efc_type, rows.DRY_FRICTION))
        return instant(
            h, self._inertia(), v, d.qfrc_smooth.copy(), first=touching.first, J=J[touching.row], mu=touching.mu,
            phi=touching.phi, rate=touching.rate, key=touching.key, J_b=J[bilateral], g=d.efc_pos[bilateral],
            J_f=J[dry], limit=h * d.efc_frictionloss[dry], places=touching.places,
            numbers=rows.soft_numbers(touching.solref, touching.solimp, m.opt.impratio),
        )  # fmt: skip

    def _smooth(self, q: Array, v: Array, t: float, h: float) -> None:
        """Kinematics, inertia and all forces but those of contacts and constraints."""
        mj, m, d = mujoco(), self._copy, self._data
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise DataError("a state with a coordinate or velocity that is not finite has no contacts")
        d.qpos[:], d.qvel[:], d.time = q, v, t
        m.opt.timestep = h
        m.opt.disableflags = self._flags | mj.mjtDisableBit.mjDSBL_CONSTRAINT
        mj.mj_fwdPosition(m, d)
        mj.mj_fwdVelocity(m, d)
        mj.mj_fwdActuation(m, d)
        mj.mj_fwdAcceleration(m, d)

    def _inertia(self) -> Any:
        m, d = self._copy, self._data
        starts = np.append(m.M_rowadr, m.M_rowadr[-1:] + m.M_rownnz[-1:])
        lower = sparse.csr_array((d.M.copy(), m.M_colind.copy(), starts), shape=(m.nv, m.nv))
        diagonal = lower.diagonal()
        return lower + lower.T + sparse.diags_array(m.opt.timestep * self.model.dof_damping - diagonal)

    def advance(self, q: Array, v: Array, h: float) -> Array:
        after = q.copy()
        mujoco().mj_integratePos(self.model, after, v, h)
        return after

    def _kinematics(self, q: Array, v: Array) -> None:
        mj, m, d = mujoco(), self._copy, self._data
        d.qpos[:], d.qvel[:] = q, v
        mj.mj_kinematics(m, d)
        mj.mj_comPos(m, d)
        mj.mj_comVel(m, d)

    def poses(self, q: Array) -> tuple[Array, Array]:
        self._data.qpos[:] = q
        mujoco().mj_kinematics(self._copy, self._data)
        return self._bodies.poses(self._data)

    def momentum(self, q: Array, v: Array) -> tuple[Array, Array]:
        self._kinematics(q, v)
        return self._bodies.momentum(self._copy, self._data)
