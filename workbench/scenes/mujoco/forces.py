"""Inertia and forces of a step without contacts: what is implicit in the step is in the inertia, once.

A step from v to v+ that takes damping D and stiffness K at its end solves

    (M + h D + h^2 K) (v+ - v) = h (f(q, v) - h K v) + J^T P

with M with armatures. Which terms are implicit is the choice of the file's integrator, as in MuJoCo: damping of joints
(Euler; RK4 is taken for Euler), of tendons, actuators and fluid as well (implicit, implicitfast), and stiffness too
(discrete). Derivatives of Coriolis and gyroscopic forces, which make the matrix unsymmetric, stay explicit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.engine.stored import Stored, as_sparse, as_stored, stored
from workbench.scenes.mujoco.package import mujoco
from workbench.support.arrays import Array

Indices = NDArray[np.int32]


class Forces:
    """Inertia and forces of a model's data, for the integrator that the model names."""

    def __init__(self, model: Any) -> None:
        mj = mujoco()
        self.model = model
        self.kind = mj.mjtIntegrator(model.opt.integrator).name.removeprefix("mjINT_").lower()
        if self.kind == "implicit":
            model.opt.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
        elif self.kind == "rk4":
            model.opt.integrator = mj.mjtIntegrator.mjINT_EULER
        lower = kept_rows(np.arange(1.0, model.nC + 1), model.M_rownnz, model.M_rowadr, model.M_colind, model.nv)
        both = sparse.csr_array(lower + lower.T - sparse.diags_array(lower.diagonal()))
        self.taken = both.data.astype(int) - 1
        self.places = both.indptr.astype(np.int64), both.indices.astype(np.int64)
        self.diagonal = np.flatnonzero(both.indices == np.repeat(np.arange(model.nv), np.diff(both.indptr)))
        off = mj.mjtDisableBit.mjDSBL_DAMPER | mj.mjtDisableBit.mjDSBL_EULERDAMP
        self.damped = self.kind in ("euler", "rk4") and not model.opt.disableflags & off
        self.damping, self.poly = model.dof_damping.copy(), model.dof_dampingpoly.copy()
        for joint in np.flatnonzero(model.jnt_actuatorid >= 0):
            dof, actuator = model.jnt_dofadr[joint], model.jnt_actuatorid[joint]
            self.damping[dof] += model.actuator_damping[actuator]
            self.poly[dof] += model.actuator_dampingpoly[actuator]
        self.is_linear = not self.poly.any()

    def step(self, data: Any) -> tuple[Stored, Array, Array]:
        """Inertia (n, n), forces (n,) and velocities (n,) after the step without contacts; activations step too.

        `data` must be done up to accelerations, without constraints; its coordinates and time are those of the start
        afterwards, its activations those of the end.
        """
        mj, m = mujoco(), self.model
        q, v, t, f = data.qpos.copy(), data.qvel.copy(), data.time, data.qfrc_smooth.copy()
        M = Stored(*self.places, data.M[self.taken])
        if self.kind == "discrete" and data.efm_active:
            M, f = self._discrete(data, f)
        if self.kind.startswith("implicit"):
            mj.mj_implicit(m, data)
            D = kept_rows(data.qDeriv, m.D_rownnz, m.D_rowadr, m.D_colind, m.nv)
            M = as_stored(sparse.csr_array(as_sparse(M, (m.nv, m.nv)) - 0.5 * m.opt.timestep * (D + D.T)))
        else:
            mj.mj_Euler(m, data)
        if self.damped:
            M.data[self.diagonal] += m.opt.timestep * self._joint_damping(v)
        free = data.qvel.copy()
        data.qpos[:], data.qvel[:], data.time = q, v, t
        return M, f, free

    def _symmetric(self, values: Array) -> Any:
        """A matrix (n, n) of which MuJoCo keeps the lower triangle, in the places of M."""
        return stored(*self.places, values[self.taken], (self.model.nv, self.model.nv))

    def _joint_damping(self, v: Array) -> Array:
        """(n,) derivatives of the joints' damping forces a v + b v |v| + c v^3, their actuators' included."""
        if self.is_linear:
            return self.damping
        return self.damping + 2 * self.poly[:, 0] * np.abs(v) + 3 * self.poly[:, 1] * v**2

    def _discrete(self, data: Any, f: Array) -> tuple[Stored, Array]:
        """MuJoCo's effective metric and its shift of the forces by -h K v."""
        m = self.model
        tendons, actuators = data.efm_tid[: data.nefmT], data.efm_aid[: data.nefmA]
        outputs = m.actuator_outadr[actuators]
        J = sparse.vstack([
            kept_rows(data.ten_J, m.ten_J_rownnz, m.ten_J_rowadr, m.ten_J_colind, m.nv)[tendons],
            kept_rows(data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind, m.nv)[outputs],
        ])  # fmt: skip
        scale = np.append(data.efm_ts[: tendons.size], data.efm_as[: actuators.size])
        M = self._symmetric(data.M) + sparse.diags_array(data.efm_diag) + J.T @ sparse.diags_array(scale) @ J
        return as_stored(sparse.csr_array(M + self._symmetric(data.efm_fluid))), f + data.efm_c + data.efm_ca


def kept_rows(values: Array, lengths: Indices, starts: Indices, columns: Indices, n: int) -> Any:
    """A matrix (rows, n) of which MuJoCo keeps so many entries of every row from a start on."""
    ends = np.append(0, np.cumsum(lengths))
    at = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return stored(ends, columns[at].astype(np.int64), values[at], (len(lengths), n))
