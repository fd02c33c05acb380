"""DART by dartpy (BSD-2). Friction of two surfaces is the smaller, restitution the product; sleeping is disabled."""

import dartpy
import numpy as np

VERSION = f"DART {dartpy.__version__}"
DEEP = 50.0
"""Half the edge of the blocks whose upper faces are the planes [m]."""


def frame(rotation, position):
    found = dartpy.math.Isometry3()
    found.set_rotation(rotation)
    found.set_translation(position)
    return found


def axes(normal):
    """A rotation whose third axis is the normal."""
    across = np.cross([0.0, 1.0, 0.0], normal)
    across /= np.linalg.norm(across)
    return np.stack([across, np.cross(normal, across), normal], axis=1)


class World:
    """`solver`: box, the engine's default, an LCP with a box for friction; or nsgs, Gauss-Seidel with cones."""

    def __init__(self, trial, h, solver="box"):
        self.world, self.bodies, dynamics = dartpy.simulation.World(), [], dartpy.dynamics
        self.world.setTimeStep(h)
        self.world.setGravity(trial["gravity"])
        awake = self.world.getDeactivationOptions()
        awake.mEnabled = False
        self.world.setDeactivationOptions(awake)
        self.world.setCollisionDetector(dartpy.collision.OdeCollisionDetector())
        if solver == "nsgs":
            self.world.getConstraintSolver().setBoxedLcpSolver(dartpy.constraint.NsgsFrictionSolver())

        def skeleton(shapes, pose, mobile):
            skeleton = dynamics.Skeleton()
            joint, body = skeleton.createFreeJointAndBodyNodePair()
            skeleton.setMobile(mobile)
            joint.setRelativeTransform(pose)
            for shape, at in shapes:
                node = body.createShapeNode(shape)
                node.createCollisionAspect()
                node.createDynamicsAspect()
                node.getDynamicsAspect().setFrictionCoeff(trial["mu"])
                node.getDynamicsAspect().setRestitutionCoeff(trial["e"] ** 0.5)
                node.setRelativeTranslation(at)
            self.world.addSkeleton(skeleton)
            return joint, body

        for normal, point in trial["planes"]:
            block = dynamics.BoxShape([2 * DEEP] * 3)
            skeleton([(block, [0.0, 0.0, -DEEP])], frame(axes(np.array(normal)), point), mobile=False)
        for x in trial["bodies"]:
            shapes = [(dynamics.SphereShape(r), at) for *at, r in x["spheres"]]
            shapes += [(dynamics.BoxShape(2 * np.array(b[3:])), b[:3]) for b in x["boxes"]]
            rotation = dartpy.math.Quaternion(*x["orientation"]).to_rotation_matrix()
            joint, body = skeleton(shapes, frame(rotation, x["position"]), mobile=True)
            body.setInertia(dynamics.Inertia(x["mass"], np.zeros(3), np.diag(x["inertia"])))
            self.bodies.append((joint, body))

    def step(self):
        self.world.step()

    def push(self, velocity):
        for (joint, _), v in zip(self.bodies, velocity, strict=True):
            joint.setLinearVelocity(v[:3])
            joint.setAngularVelocity(v[3:])

    def pull(self, gravity):
        self.world.setGravity(gravity)

    def state(self):
        poses = [body.getWorldTransform() for _, body in self.bodies]
        turns = [x.quaternion() for x in poses]
        velocity = [np.concatenate([b.getLinearVelocity(), b.getAngularVelocity()]) for _, b in self.bodies]
        return [x.translation() for x in poses], [(q.w(), q.x(), q.y(), q.z()) for q in turns], velocity

    def contacts(self):
        number, found = {body.getSkeleton().getName(): k for k, (_, body) in enumerate(self.bodies)}, []
        for x in self.world.getLastCollisionResult().getContacts():
            sides = (x.collisionObject1, x.collisionObject2)
            a, b = (number.get(side.getShapeFrame().asShapeNode().getSkeleton().getName(), -1) for side in sides)
            # The reported force acts on the first body.
            found.append((b, a, x.point, x.force))
        return found
