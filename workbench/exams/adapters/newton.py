"""Newton (Apache-2.0) on the CPU, in single precision. Its solvers' rules give two equal surfaces their friction.

Kernels are compiled when first needed, which takes minutes, and cached. Forces are those that a solver reports
(`CONTACT_F`): for XPBD those between two moving bodies are approximate, by its documentation, and lack restitution.
"""

import newton
import numpy as np
import warp

VERSION = f"Newton {newton.__version__}"
SOLVERS = newton.solvers


def upright(normal):
    """A rotation that maps z to the normal, which does not point down, as a quaternion with the scalar last."""
    x, y, z = np.array(normal) / np.linalg.norm(normal)
    q = np.array([-y, x, 0.0, 1.0 + z])
    return q / np.linalg.norm(q)


class World:
    """`solver` xpbd, vbd or mujoco with default settings; torsional and rolling friction, on by default, are off."""

    def __init__(self, trial, h, solver="xpbd"):
        if trial["e"] > 0 and solver != "xpbd":
            raise ValueError("its XPBD alone has restitution")
        warp.config.quiet = True
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        friction = {"mu": trial["mu"], "mu_torsional": 0.0, "mu_rolling": 0.0}
        surface = builder.ShapeConfig(density=0.0, restitution=trial["e"], **friction)
        for normal, point in trial["planes"]:
            builder.add_shape_plane(plane=None, xform=(point, upright(normal)), width=0.0, length=0.0, cfg=surface)
        for x in trial["bodies"]:
            w, *axis = x["orientation"]
            inertia = warp.mat33(*np.diag(x["inertia"]).ravel())
            pose = (x["position"], (*axis, w))
            body = builder.add_body(xform=pose, mass=x["mass"], inertia=inertia, lock_inertia=True)
            for *at, r in x["spheres"]:
                builder.add_shape_sphere(body, xform=(at, (0, 0, 0, 1)), radius=r, cfg=surface)
            for b in x["boxes"]:
                pose, (hx, hy, hz) = (b[:3], (0, 0, 0, 1)), b[3:]
                builder.add_shape_box(body, xform=pose, hx=hx, hy=hy, hz=hz, cfg=surface)
        builder.color()
        self.model, self.h = builder.finalize(device="cpu"), h
        self.model.set_gravity(trial["gravity"])
        pipeline = newton.CollisionPipeline(self.model)
        self.touching, self.collide = pipeline.contacts(), pipeline.collide
        if solver == "xpbd":
            self.solver = SOLVERS.SolverXPBD(self.model, enable_restitution=trial["e"] > 0)
        elif solver == "vbd":
            self.solver = SOLVERS.SolverVBD(self.model)
        else:
            # MuJoCo's own C code, which detects its contacts itself.
            self.solver, self.collide = SOLVERS.SolverMuJoCo(self.model, use_mujoco_cpu=True), None
        self.observed = self.solver.observables([SOLVERS.SolverBase.ObservableKind.CONTACT_F], contacts=self.touching)
        self.before, self.after = self.model.state(), self.model.state()

    def step(self):
        self.before.clear_forces()
        if self.collide:
            self.collide(self.before, self.touching)
        self.solver.step(self.before, self.after, None, self.touching, self.h, observables=self.observed)
        self.before, self.after = self.after, self.before

    def push(self, velocity):
        # Some solvers store velocities of bodies, others those of free joints, which are the same numbers.
        self.before.body_qd.assign(velocity.astype(np.float32))
        self.before.joint_qd.assign(velocity.astype(np.float32).ravel())

    def pull(self, gravity):
        self.model.set_gravity(gravity)
        self.solver.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)

    def state(self):
        pose = self.before.body_q.numpy().astype(float)
        turned = pose[:, [6, 3, 4, 5]]
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        return pose[:, :3], turned, self.before.body_qd.numpy().astype(float)

    def contacts(self):
        x, body, found = self.touching, np.append(self.model.shape_body.numpy(), -1), []
        count = int(x.rigid_contact_count.numpy()[0])
        # Contacts were detected at the state before the step; a force acts on the first of two, at a point in its axes.
        poses, forces = self.after.body_q.numpy().tolist(), self.observed.contact_f.numpy()[:count, :3].astype(float)
        shapes = (s.numpy()[:count] for s in (x.rigid_contact_shape0, x.rigid_contact_shape1))
        points = x.rigid_contact_point0.numpy()[:count].tolist()
        for a, b, point, force in zip(*(body[s].tolist() for s in shapes), points, forces, strict=True):
            if force.any():
                if a >= 0:
                    point = warp.transform_point(warp.transform(*poses[a]), warp.vec3(*point))
                found.append((b, a, np.array(point, dtype=float), force))
        return found
