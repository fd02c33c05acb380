"""Bullet by pybullet (zlib). Friction and restitution of two surfaces are multiplied; its damping is switched off."""

import numpy as np
import pybullet

VERSION = f"Bullet {pybullet.getAPIVersion()}"


class World:
    """The engine's default solver, sequential impulses: 50 sweeps per step."""

    def __init__(self, trial, h, sweeps=50):
        self.p = p = pybullet
        p.connect(p.DIRECT) if not p.isConnected() else p.resetSimulation()
        p.setGravity(*trial["gravity"])
        p.setPhysicsEngineParameter(fixedTimeStep=h, numSolverIterations=sweeps, restitutionVelocityThreshold=0)
        if trial["e"] > 0:
            # Contacts detected 2 cm before they close would remove the approach speed from which they rebound.
            p.setPhysicsEngineParameter(contactBreakingThreshold=1e-5)
        surface = {"lateralFriction": trial["mu"] ** 0.5, "restitution": trial["e"] ** 0.5}
        still = {"linearDamping": 0, "angularDamping": 0, "rollingFriction": 0, "spinningFriction": 0}
        for normal, point in trial["planes"]:
            plane = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE, planeNormal=normal), basePosition=point)
            p.changeDynamics(plane, -1, **surface)
        self.bodies = []
        for x in trial["bodies"]:
            kinds = [p.GEOM_SPHERE] * len(x["spheres"]) + [p.GEOM_BOX] * len(x["boxes"])
            shape = p.createCollisionShapeArray(
                kinds, radii=[s[3] for s in x["spheres"]] + [0.0] * len(x["boxes"]),
                halfExtents=[[0, 0, 0]] * len(x["spheres"]) + [list(b[3:]) for b in x["boxes"]],
                collisionFramePositions=[list(s[:3]) for s in (*x["spheres"], *x["boxes"])],
            )  # fmt: skip
            w, *axis = x["orientation"]
            body = p.createMultiBody(x["mass"], shape, basePosition=x["position"], baseOrientation=[*axis, w])
            p.changeDynamics(body, -1, localInertiaDiagonal=x["inertia"], **surface, **still)
            self.bodies.append(body)

    def step(self):
        self.p.stepSimulation()

    def push(self, velocity):
        for body, v in zip(self.bodies, velocity.tolist(), strict=True):
            self.p.resetBaseVelocity(body, v[:3], v[3:])

    def pull(self, gravity):
        self.p.setGravity(*gravity.tolist())

    def state(self):
        poses = [self.p.getBasePositionAndOrientation(body) for body in self.bodies]
        velocity = [np.concatenate(self.p.getBaseVelocity(body)) for body in self.bodies]
        return [x for x, _ in poses], [(q[3], *q[:3]) for _, q in poses], velocity

    def contacts(self):
        number, found = {body: k for k, body in enumerate(self.bodies)}, []
        for x in self.p.getContactPoints():
            a, b = (number.get(body, -1) for body in x[1:3])
            # The reported force acts on the first body; the normal points from the second to it.
            force = sum(np.multiply(x[i], x[j]) for i, j in ((9, 7), (10, 11), (12, 13)))
            found.append((b, a, x[6], force))
        return found
