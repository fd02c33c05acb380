"""A model of MuJoCo as a scene."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.stored import Stored
from workbench.mechanics.instant import Instant
from workbench.mechanics.solids import Plane, Solid
from workbench.scenes.jammed import jammed
from workbench.scenes.mujoco import rows, shapes
from workbench.scenes.mujoco.bodies import Bodies
from workbench.scenes.mujoco.controls import Controls
from workbench.scenes.mujoco.forces import Forces
from workbench.scenes.mujoco.left_out import in_the_way, left_out, locked, overlaps
from workbench.scenes.mujoco.look_ahead import LookAhead
from workbench.scenes.mujoco.model import load_model, warnings_of_mujoco
from workbench.scenes.mujoco.package import mujoco
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array, is_finite
from workbench.support.errors import DataError, UnknownNameError


class MujocoScene(Scene):
    """The model of an MJCF, URDF or MJB file, from its start or from a keyframe.

    Coordinates are MuJoCo's qpos and, behind it, the activations of its actuators; velocities are its qvel. Contacts
    and limits that may close within a step are seen (`look_ahead`); limits are contacts of no direction. `sets` sets
    values of the model (`settings`), `ctrl` commands the actuators (`controls`); `left_out` says what of the model
    is not taken over. Raises DataError naming what is wrong with any of them.
    """

    recovery = 0.1
    """[m/s, rad/s]: what overlaps is thrown up at that speed at most, which is half a millimetre high."""
    soft = False
    """Whether equalities and dry friction are as soft as MuJoCo has them, instead of rigid."""

    def __init__(
        self,
        path: str | Path,
        sets: Mapping[str, str] | None = None,
        key: str | None = None,
        ctrl: str | float | None = None,
    ) -> None:
        mj = mujoco()
        self.path, self.given = Path(path), (str(path), dict(sets or {}), key, ctrl)
        self.name = self.path.stem
        self.model, self.notes = load_model(self.path, sets or {})
        self.step = float(self.model.opt.timestep)
        self._bodies = Bodies(self.model)
        self.bodies, self.body_numbers = self._bodies.names, self._bodies.number
        self.copy = _seeing(self.model)
        self._flags = int(self.copy.opt.disableflags)
        self._bare = self._flags | int(mj.mjtDisableBit.mjDSBL_CONSTRAINT | mj.mjtDisableBit.mjDSBL_SENSOR)
        self._ahead = LookAhead(self.model, self.copy)
        file = rows.constants(self.model, self._bodies.number, self._ahead.override)
        self._forces = Forces(self.copy)
        self._reader = rows.Reader(file, self.model.nv)
        self._data = mj.MjData(self.copy)
        self._activated: dict[bytes, Array] = {}
        self._jammed = np.zeros(0, dtype=np.int64)
        self.reset(self._data)
        self.controls = Controls(self.model, ctrl, self._data.ctrl)
        self._start = np.append(self._data.qpos, self._data.act), self._data.qvel.copy()
        self.left_out = left_out(self.model)
        first = self.instant(*self.start(), 0.0, self.step)
        for friction in (False, True):
            stuck = jammed(first, self.recovery, friction)[: first.contacts]
            self.left_out += in_the_way(self.model, first, stuck, friction)
            self._jammed = np.union1d(self._jammed, rows.features(first.key[stuck]))
            first = self.instant(*self.start(), 0.0, self.step)
        self.left_out += overlaps(self.model, self.bodies, first, self.recovery)
        held = rows.held(self.model, self._data)
        self.held = np.unique(rows.features(held))
        """Pairs of geoms, as `rows.features` of their contacts, that nothing can part at the start."""
        self.left_out += locked(self.model, held)

    def __reduce__(self) -> tuple:
        return _again, (self.given, self.soft)

    def under(self, formulation: str) -> "MujocoScene":
        """With equalities and dry friction as soft as MuJoCo has them, for its own formulations."""
        return self.softened() if formulation in ("mujoco", "mujoco-pyramid") else self

    def softened(self) -> "MujocoScene":
        """The same with equalities and dry friction as soft as MuJoCo has them, instead of rigid."""
        other = object.__new__(MujocoScene)
        other.__dict__ |= vars(self) | {"soft": True}
        return other

    def mass_of(self, body: str) -> float:
        """The mass [kg] of a body of the model; raises UnknownNameError."""
        names = [self.model.body(b).name for b in range(1, self.model.nbody)]
        if body not in names:
            raise UnknownNameError("body", body, [name for name in names if name])
        return float(self.copy.body(body).mass[0])

    def with_mass(self, body: str, mass: float) -> "MujocoScene":
        """The same with another mass [kg] of a body, whose radii of gyration stay.

        Raises UnknownNameError for a name that is no body's, DataError for a mass that is not positive.
        """
        before = self.mass_of(body)
        if not (np.isfinite(mass) and mass > 0 and before > 0):
            raise DataError(f"the mass of '{body}' is {before:g} kg and shall be {mass:g} kg; both must be positive")
        other = MujocoScene(*self.given)
        for model in (other.model, other.copy):
            model.body(body).mass[0] = mass
            model.body(body).inertia[:] = self.copy.body(body).inertia * (mass / before)
            mujoco().mj_setConst(model, mujoco().MjData(model))
        other._bodies = Bodies(other.model)
        return other.softened() if self.soft else other

    def reset(self, data: Any) -> None:
        """Puts data of the model to the start; raises DataError for a keyframe that the model does not have."""
        mj, key = mujoco(), self.given[2]
        if key is None:
            mj.mj_resetData(self.model, data)
            return
        names = [self.model.key(i).name for i in range(self.model.nkey)]
        if key not in names:
            known = ", ".join(x or "(without a name)" for x in names) or "none"
            raise DataError(f"{self.path} has no keyframe '{key}'; it has {known}")
        mj.mj_resetDataKeyframe(self.model, data, names.index(key))

    def start(self) -> tuple[Array, Array]:
        return self._start[0].copy(), self._start[1].copy()

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        mj, m, d = mujoco(), self.copy, self._data
        with warnings_of_mujoco():
            M, f = self._without_contacts(q, v, t, h)
            mj.mj_collision(m, d)
            mj.mj_makeConstraint(m, d)
        if self.soft:
            mj.mj_projectConstraint(m, d)
            mj.mj_referenceConstraint(m, d)
        s = self._reader.instant(d, self.soft, h, f, M)
        if self._jammed.size and not self.soft:
            held = np.isin(rows.features(s.key), self._jammed)
            s.phi[held] = np.maximum(s.phi[held], 0.0)
        return s

    def _without_contacts(self, q: Array, v: Array, t: float, h: float) -> tuple[Stored, Array]:
        """Inertia and forces, with kinematics, controls and raised margins in the data; activations are stepped."""
        mj, m, d = mujoco(), self.copy, self._data
        if not (is_finite(q) and is_finite(v)):
            raise DataError(f"a state at t = {t:g} s is not finite")
        d.qpos[:], d.qvel[:], d.time, d.ctrl[:] = q[: m.nq], v, t, self.controls.at(t)
        if m.na:
            d.act[:] = q[m.nq :]
        m.opt.timestep, m.opt.disableflags = h, self._bare
        mj.mj_forward(m, d)
        M, f, free = self._forces.step(d)
        if m.na:
            self._activated = {q.tobytes(): d.act.copy()}
        self._ahead.raise_margins(d, free, h)
        m.opt.disableflags = self._flags
        return M, f

    def advance(self, q: Array, v: Array, h: float) -> Array:
        """Coordinates after h [s]; activations as the last instant has stepped them if it was at q, else unchanged."""
        after, nq = q.copy(), self.copy.nq
        mujoco().mj_integratePos(self.copy, after[:nq], v, h)
        if q.size > nq:
            after[nq:] = self._activated.get(q.tobytes(), q[nq:])
        return after

    def poses(self, q: Array) -> tuple[Array, Array]:
        return self._bodies.poses(self._moved(q))

    def momentum(self, q: Array, v: Array) -> tuple[Array, Array]:
        return self._bodies.momentum(self.copy, self._moved(q, v))

    def energy(self, q: Array, v: Array) -> float:
        """Kinetic energy and those of gravity and springs [J]."""
        data = self._moved(q, v)
        mujoco().mj_energyPos(self.copy, data)
        mujoco().mj_energyVel(self.copy, data)
        return float(data.energy.sum())

    def _moved(self, q: Array, v: Array | None = None) -> Any:
        """Data with coordinates q, and velocities v where they matter."""
        mj, m, d = mujoco(), self.copy, self._data
        d.qpos[:] = q[: m.nq]
        mj.mj_fwdKinematics(m, d)
        if v is not None:
            d.qvel[:] = v
            mj.mj_makeM(m, d)
            mj.mj_comVel(m, d)
        return d

    def solids(self) -> tuple[Solid | Plane, ...]:
        return shapes.solids(self.copy, self._moved(self._start[0]), self._bodies)

    def holds(self, geoms: Array) -> NDArray[np.bool_]:
        """Whether nothing can part the pairs of geoms (k, 2) where they are at the start (k,)."""
        return np.isin(rows.pairs(geoms, self.model.ngeom), self.held)

    def contact_names(self, s: Instant) -> list[dict[str, str]]:
        """Of every contact of an instant its name by geoms, or whose limit it is, and the bodies that it is between."""
        assert s.places is not None
        rows_, m = [], self.model
        for key, pair in zip(s.key.tolist(), s.places.pair, strict=True):
            bodies = [self.bodies[b] if b >= 0 else "" for b in pair]
            rows_.append({"name": rows.contact_name(m, key), "first body": bodies[0], "second body": bodies[1]})
        return rows_

    def velocity_names(self) -> list[str]:
        """(n,) the joints that the velocities belong to, with numbers where they have several."""
        m = self.model
        names = [m.joint(int(j)).name or f"joint {j}" for j in m.dof_jntid]
        return [f"{x}.{i - m.jnt_dofadr[m.dof_jntid[i]]}" if names.count(x) > 1 else x for i, x in enumerate(names)]

    def facts(self) -> dict[str, Any]:
        m = self.model
        words = {"velocities": m.nv, "joints": m.njnt, "tendons": m.ntendon, "actuators": m.nactuator}
        return {"left_out": self.left_out, "note": self.notes, **{what: int(n) for what, n in words.items()}}


def _again(given: tuple, soft: bool) -> MujocoScene:
    scene = MujocoScene(*given)
    return scene.softened() if soft else scene


def _seeing(model: Any) -> Any:
    """A copy that sets up rows of constraints as the scene reads them, and only from where the bodies are."""
    mj = mujoco()
    m = copy.copy(model)
    m.opt.cone, m.opt.jacobian = mj.mjtCone.mjCONE_ELLIPTIC, mj.mjtJacobian.mjJAC_SPARSE
    for flag in (mj.mjtEnableBit.mjENBL_SLEEP, mj.mjtEnableBit.mjENBL_SPECULATIVE, mj.mjtEnableBit.mjENBL_IPC):
        m.opt.enableflags &= ~int(flag)
    return m
