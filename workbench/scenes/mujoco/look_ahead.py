"""Contacts and limits that close within the step are seen: margins are raised, on the copy that the scene works with.

A geom's extra margin is what its surface may travel in the step, twice: at the larger of its speed now and its speed at
the step's end without contacts. That of a joint or tendon limit likewise. A body that is hit within the step moves
faster than both: along 250 steps of MuJoCo's humanoid, ant, quadruped and three others at most one contact in a run was
not seen before it closed, and was then less than a millimetre deep; without look-ahead 1 to 97 were, up to 12 cm.
"""

from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.scenes.mujoco.bodies import velocities
from workbench.scenes.mujoco.forces import kept_rows
from workbench.scenes.mujoco.package import mujoco

SAFETY = 2.0


class LookAhead:
    """Raises the margins of a copy of a model; `file` is the model as its file has it."""

    def __init__(self, file: Any, copy: Any) -> None:
        self.file, self.copy = file, copy
        self.override = bool(file.opt.enableflags & mujoco().mjtEnableBit.mjENBL_OVERRIDE)

    def raise_margins(self, data: Any, then: Array, h: float) -> None:
        """For a step of h [s] from data whose kinematics are done to velocities `then` (n,) without contacts."""
        m, file = self.copy, self.file
        now = data.qvel.copy()
        geoms = np.maximum(self._speeds(data, then), self._speeds(data, now))
        extra = SAFETY * h * geoms
        m.geom_margin[:] = file.geom_margin + extra
        m.geom_gap[:] = 0.0
        m.body_margin[:] = 0.0
        np.maximum.at(m.body_margin, m.geom_bodyid, m.geom_margin)
        m.pair_margin[:] = file.pair_margin + extra[file.pair_geom1] + extra[file.pair_geom2]
        m.pair_gap[:] = 0.0
        if self.override:
            m.opt.o_margin = file.opt.o_margin + 2 * extra.max(initial=0.0)
        joint = np.abs(np.stack([now, then])).max(axis=0)
        m.jnt_margin[:] = file.jnt_margin + SAFETY * h * np.add.reduceat(joint, file.jnt_dofadr)[: file.njnt]
        tendons = kept_rows(data.ten_J, m.ten_J_rownnz, m.ten_J_rowadr, m.ten_J_colind, m.nv)
        tendon = np.abs(tendons @ np.stack([now, then]).T).max(axis=1, initial=0.0)
        m.tendon_margin[:] = file.tendon_margin + SAFETY * h * tendon

    def _speeds(self, data: Any, v: Array) -> Array:
        """(ngeom,) a bound on the speed [m/s] of any point of each geom at the velocities v; leaves qvel at v."""
        m = self.copy
        data.qvel[:] = v
        mujoco().mj_comVel(m, data)
        centre, spin = velocities(m, data, m.geom_bodyid, data.geom_xpos)
        return np.linalg.norm(centre, axis=1) + np.linalg.norm(spin, axis=1) * m.geom_rbound

    def contact_margin(self, geoms: Array) -> Array:
        """The file's own margin (r,) of contacts between pairs of geoms (r, 2)."""
        if self.override:
            return np.full(len(geoms), self.file.opt.o_margin)
        margin = self.file.geom_margin[geoms].sum(axis=1)
        for k in range(self.file.npair):
            both = {self.file.pair_geom1[k], self.file.pair_geom2[k]}
            margin[[set(pair) == both for pair in geoms]] = self.file.pair_margin[k]
        return margin
