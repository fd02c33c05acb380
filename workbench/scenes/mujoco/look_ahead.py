"""Contacts and limits that close within the step are seen: margins are raised, on the copy that the scene works with.

A geom's extra margin is what its surface may travel in the step, twice: at the larger of its speed now and its speed at
the step's end without contacts. That of a joint or tendon limit likewise. A body that is hit within the step moves
faster than both: along 250 steps of MuJoCo's humanoid, ant, quadruped and three others at most one contact in a run was
not seen before it closed, and was then less than a millimetre deep; without look-ahead 1 to 97 were, up to 12 cm.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import MATRIX, VECTOR
from workbench.scenes.mujoco.bodies import INT32, point_velocity
from workbench.scenes.mujoco.package import mujoco
from workbench.support.arrays import Array

SAFETY = 2.0
F64 = types.float64


class Geoms(NamedTuple):
    """The body (ngeom,) of every geom, the root (nbody,) of every body, and radii [m] that geoms are within."""

    body: Any
    root: Any
    radius: Any


class Margins(NamedTuple):
    """Margins [m, rad] of geoms, of bodies (the largest of their geoms'), of pairs of geoms, of joints and tendons."""

    geom: Any
    body: Any
    pair: Any
    joint: Any
    tendon: Any


class Features(NamedTuple):
    """The pairs' geoms, the joints' first velocities, and the tendons' rows: the entries that begin at `start`."""

    one: Any
    other: Any
    first: Any
    length: Any
    start: Any
    column: Any


GEOMS = argument_type(Geoms, INT32, INT32, VECTOR)
MARGINS = argument_type(Margins, *(VECTOR,) * 5)
FEATURES = argument_type(Features, *(INT32,) * 6)


@kernel(types.void(GEOMS, MATRIX, MATRIX, MATRIX, VECTOR), checked=False)
def raise_speeds(geoms, cvel, centre, place, speed):
    """To what any point of a geom has at most [m/s], where that is more: the spins and velocities cvel (nbody, 6) are
    those at the centres of roots, `place` (ngeom, 3) where geoms are."""
    for i in range(speed.shape[0]):
        u, v, w, x, y, z = point_velocity(cvel, centre, geoms.root, geoms.body[i], place, i)
        found = np.sqrt(u * u + v * v + w * w) + np.sqrt(x * x + y * y + z * z) * geoms.radius[i]
        speed[i] = max(speed[i], found)


@kernel(F64(GEOMS, FEATURES, MARGINS, MARGINS, F64, VECTOR, VECTOR, VECTOR, VECTOR), checked=False)
def widen(geoms, features, file, margins, reach, speed, now, then, rows):
    """The file's margins and what is travelled in the time `reach` [s]; the largest that a geom's margin grows by.

    `now` and `then` (n,) are velocities, `rows` the entries of the tendons' Jacobian.
    """
    most = 0.0
    for b in range(margins.body.shape[0]):
        margins.body[b] = 0.0
    for i in range(speed.shape[0]):
        extra, b = reach * speed[i], geoms.body[i]
        margins.geom[i] = file.geom[i] + extra
        margins.body[b], most = max(margins.body[b], margins.geom[i]), max(most, extra)
    for i in range(margins.pair.shape[0]):
        margins.pair[i] = file.pair[i] + reach * speed[features.one[i]] + reach * speed[features.other[i]]
    count = margins.joint.shape[0]
    for j in range(count):
        travel = 0.0
        for k in range(features.first[j], features.first[j + 1] if j + 1 < count else now.shape[0]):
            travel += max(abs(now[k]), abs(then[k]))
        margins.joint[j] = file.joint[j] + reach * travel
    for t in range(margins.tendon.shape[0]):
        before = after = 0.0
        for p in range(features.start[t], features.start[t] + features.length[t]):
            before += rows[p] * now[features.column[p]]
            after += rows[p] * then[features.column[p]]
        margins.tendon[t] = file.tendon[t] + reach * max(abs(before), abs(after))
    return most


class LookAhead:
    """Raises the margins of a copy of a model; `file` is the model as its file has it."""

    def __init__(self, file: Any, copy: Any) -> None:
        self.file, self.copy = file, copy
        self.override = bool(file.opt.enableflags & mujoco().mjtEnableBit.mjENBL_OVERRIDE)
        copy.geom_gap[:] = copy.pair_gap[:] = 0.0
        self.geoms = Geoms(copy.geom_bodyid, copy.body_rootid, copy.geom_rbound)
        self.features = Features(
            copy.pair_geom1, copy.pair_geom2, copy.jnt_dofadr, copy.ten_J_rownnz, copy.ten_J_rowadr, copy.ten_J_colind
        )
        self.given, self.raised = (
            Margins(m.geom_margin, m.body_margin, m.pair_margin, m.jnt_margin, m.tendon_margin) for m in (file, copy)
        )

    def raise_margins(self, data: Any, then: Array, h: float) -> None:
        """For a step of h [s] from data whose kinematics are done to velocities `then` (n,) without contacts."""
        now, speed = data.qvel.copy(), np.zeros(self.copy.ngeom)
        for v in (then, now):
            data.qvel[:] = v
            mujoco().mj_comVel(self.copy, data)
            raise_speeds(self.geoms, data.cvel, data.subtree_com, data.geom_xpos, speed)
        most = widen(self.geoms, self.features, self.given, self.raised, SAFETY * h, speed, now, then, data.ten_J)
        if self.override:
            self.copy.opt.o_margin = self.file.opt.o_margin + 2 * most
