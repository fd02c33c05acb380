"""MuJoCo's own engine on a scene: the real `mj_step` with the options of the file, as a row beside the formulations."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.engine.timing import clock
from workbench.mechanics.instant import Places
from workbench.problems.solution import Status
from workbench.scenes.mujoco.bodies import velocities
from workbench.scenes.mujoco.model import warnings_of_mujoco
from workbench.scenes.mujoco.package import mujoco
from workbench.scenes.mujoco.scene import MujocoScene
from workbench.scenes.run import TrackRecorder
from workbench.scenes.track import StepContacts, Track
from workbench.step.simulation import whole_steps
from workbench.support.arrays import Array
from workbench.support.errors import DataError

CONES = "pyramidal", "elliptic"


class MujocoEngine:
    """The engine of a scene's file, on the file's own model; margins are those of the file.

    `timeconst` [s] makes all contacts, limits, equalities and dry friction that stiff (solref's first number; MuJoCo
    takes at least two steps), `cone` is pyramidal or elliptic; None leaves them as they are.
    """

    def __init__(self, scene: MujocoScene, timeconst: float | None = None, cone: str | None = None) -> None:
        if timeconst is not None and not (np.isfinite(timeconst) and timeconst > 0):
            raise DataError(f"timeconst = {timeconst:g}; a positive number of seconds is needed")
        if cone is not None and cone not in CONES:
            raise DataError(f"cone = '{cone}'; pyramidal or elliptic is needed")
        self.scene, self.timeconst, self.cone = scene, timeconst, cone
        given = {"timeconst": timeconst, "cone": cone}
        own = ",".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in given.items()
            if value is not None
        )
        self.label = f"engine:mujoco,{own}" if own else "engine:mujoco"

    @property
    def words(self) -> str:
        m = self._model(self.scene.step)
        integrator, solver = (_word(kind, value) for kind, value in (
            (mujoco().mjtIntegrator, m.opt.integrator), (mujoco().mjtSolver, m.opt.solver)
        ))  # fmt: skip
        return (
            f"mj_step of MuJoCo {mujoco().__version__}: integrator {integrator}, {CONES[m.opt.cone]} cone, solver "
            f"{solver} with at most {m.opt.iterations} iterations to {m.opt.tolerance:g}"
        )

    def _model(self, h: float) -> Any:
        m = copy.copy(self.scene.model)
        m.opt.timestep = h
        if self.cone:
            m.opt.cone = CONES.index(self.cone)
        if self.timeconst is not None:
            kinds = "geom_solref", "pair_solref", "jnt_solref", "dof_solref", "eq_solref"
            for name in (*kinds, "tendon_solref_lim", "tendon_solref_fri"):
                ref = getattr(m, name)
                ref[ref[:, 0] > 0, 0] = self.timeconst
        return m

    def state(self, h: float, t: float) -> tuple[Array, Array]:
        """Coordinates and velocities after steps of h [s] up to a time t [s]; raises DataError where MuJoCo fails."""
        m = self._model(h)
        d = self._begun(m)
        with warnings_of_mujoco():
            for k in range(round(t / h)):
                d.ctrl[:] = self.scene.controls.at(k * h)
                mujoco().mj_step(m, d)
                if reason := _broken(d):
                    raise DataError(f"at {k * h:g} s: {reason}")
        return np.append(d.qpos, d.act), d.qvel.copy()

    def _begun(self, m: Any) -> Any:
        d = mujoco().MjData(m)
        self.scene.reset(d)
        d.time = 0.0
        return d

    def run(self, h: float, duration: float, progress: Callable[[int], None] | None = None) -> Track:
        """Steps of h [s] from the scene's start, controlled as the scene is, as far as MuJoCo goes."""
        mj, scene, m = mujoco(), self.scene, self._model(h)
        d, steps, seconds = self._begun(m), whole_steps(duration, h), 0.0
        kept, status, reason = TrackRecorder(scene, *scene.start(), h), Status.SOLVED, ""
        with warnings_of_mujoco():
            while kept.steps < steps:
                d.ctrl[:] = scene.controls.at(kept.steps * h)
                begun = clock()
                mj.mj_step(m, d)
                seconds += clock() - begun
                reason = _broken(d)
                if reason:
                    status = Status.NOT_FINITE
                    break
                found = touched(scene, m, d, h)
                contacts = found.phi.size + d.nl
                solved = int(d.solver_niter[: max(1, d.nisland)].sum())
                kept.keep(np.append(d.qpos, d.act), d.qvel, found, (contacts, np.nan, np.inf, solved, 1))
                if progress:
                    progress(kept.steps)
        return kept.track(self.label, "mj_step", steps, status, reason, seconds)


def touched(scene: MujocoScene, m: Any, d: Any, h: float) -> StepContacts:
    """What touched in the step of h [s] that has just been made.

    `d` has its velocities at the end of the step, its kinematics and contacts at the start.
    """
    mj, c = mujoco(), d.contact
    there = np.flatnonzero((c.efc_address >= 0) & (c.geom >= 0).all(axis=1))
    forces = np.zeros((there.size, 6))
    for k, i in enumerate(there):
        mj.mj_contactForce(m, d, i, forces[k])
    mj.mj_comVel(m, d)
    frame, point, body = c.frame[there].reshape(-1, 3, 3), c.pos[there], m.geom_bodyid[c.geom[there]]
    (v_1, w_1), (v_2, w_2) = (velocities(m, d, body[:, side], point) for side in (0, 1))
    u = np.concatenate([frame @ (v_2 - v_1)[:, :, None], frame @ (w_2 - w_1)[:, :, None]], axis=1)[:, :, 0]
    u[:, 1:4] += c.surfacevel[there]
    acts = np.zeros((there.size, 6, 6))
    acts[:, :3, :3] = acts[:, 3:, 3:] = frame
    kept = np.arange(6) < c.dim[there, None]
    pair = np.where(scene.holds(c.geom[there])[:, None], -1, scene.body_numbers[body])
    places = Places(point, pair, acts[kept])
    first = np.append(0, np.cumsum(kept.sum(axis=1)))
    phi = c.dist[there] - c.includemargin[there]
    return StepContacts(first, h * forces[kept], u[kept], phi, places)


def _broken(d: Any) -> str:
    """Why MuJoCo has begun anew; empty where it has not."""
    mj = mujoco()
    for kind in (mj.mjtWarning.mjWARN_BADQPOS, mj.mjtWarning.mjWARN_BADQVEL, mj.mjtWarning.mjWARN_BADQACC):
        if d.warning[kind].number:
            return "MuJoCo: " + mj.mju_warningText(kind, d.warning[kind].lastinfo)
    return "" if np.isfinite(d.qvel).all() else "a velocity is not finite"


def _word(kind: Any, value: int) -> str:
    return str(kind(value).name.rpartition("_")[2].lower())
