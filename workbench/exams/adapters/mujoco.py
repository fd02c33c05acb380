"""MuJoCo (Apache-2.0). Both geoms have the same friction; restitution is the rebound of its spring and damper."""

import mujoco
import numpy as np

VERSION = "MuJoCo " + mujoco.__version__


class World:
    """`cone` elliptic or pyramidal, `impratio`, `noslip` iterations: options of the engine, with its defaults."""

    def __init__(self, trial, h, cone="pyramidal", impratio=1.0, noslip=0):
        spec = mujoco.MjSpec()
        spec.option.timestep, spec.option.gravity = h, trial["gravity"]
        spec.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
        spec.option.impratio, spec.option.noslip_iterations = impratio, noslip
        surface = {"friction": [trial["mu"], 0, 0], "condim": 3}
        if trial["e"] > 0:
            # The damping ratio with which a mass on a spring leaves at e times its speed, with five steps per radian.
            ratio, rate = 1 / np.hypot(1, np.pi / np.log(min(trial["e"], 1 - 1e-9))), 0.2 / h
            surface["solref"] = [-(rate**2), -2 * ratio * rate]
        for normal, point in trial["planes"]:
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=point, zaxis=normal, contype=3, conaffinity=3,
                **surface,
            )  # fmt: skip
        for x in trial["bodies"]:
            body = spec.worldbody.add_body(
                pos=x["position"], quat=x["orientation"], mass=x["mass"], ipos=[0, 0, 0], inertia=x["inertia"],
                explicitinertial=True,
            )  # fmt: skip
            body.add_freejoint()
            for *at, r in x["spheres"]:
                body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[r, 0, 0], pos=at, **surface)
            for box in x["boxes"]:
                body.add_geom(
                    type=mujoco.mjtGeom.mjGEOM_BOX, size=box[3:], pos=box[:3], contype=2, conaffinity=1, **surface
                )
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def step(self):
        mujoco.mj_step(self.model, self.data)

    def push(self, velocity):
        v = velocity.copy()
        for k, (_, orientation, _) in enumerate(zip(*self.state(), strict=True)):
            mujoco.mju_rotVecQuat(v[k, 3:], velocity[k, 3:], orientation * [1, -1, -1, -1])
        self.data.qvel[:] = v.ravel()

    def pull(self, gravity):
        self.model.opt.gravity[:] = gravity

    def state(self):
        q, v = self.data.qpos.reshape(-1, 7), self.data.qvel.reshape(-1, 6).copy()
        for k in range(len(q)):
            mujoco.mju_rotVecQuat(v[k, 3:], self.data.qvel[6 * k + 3 : 6 * k + 6], q[k, 3:])
        return q[:, :3], q[:, 3:], v

    def contacts(self):
        found, force = [], np.zeros(6)
        for i, x in enumerate(self.data.contact):
            mujoco.mj_contactForce(self.model, self.data, i, force)
            a, b = (int(self.model.geom_bodyid[g]) - 1 for g in x.geom)
            found.append((a, b, x.pos.copy(), x.frame.reshape(3, 3).T @ force[:3]))
        return found
