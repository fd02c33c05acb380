"""Siconos (Apache-2.0) from Debian: Moreau-Jean time stepping, contacts by Bullet, one law for every pair.

Debian's Bullet computes in single precision. `SiconosPlane`, a box of 1000 m, then has contacts decimetres inside;
so planes are smaller blocks here, with gaps accurate to micrometres.
"""

import subprocess
from importlib.metadata import version

import numpy as np
from siconos import kernel
from siconos.io.io_base import MechanicsIO
from siconos.mechanics.collision import bullet

WIDE, DEEP = 10.0, 1.0
"""Half the edges of the blocks whose upper faces are the planes [m]."""


def packaged():
    """The Debian version, since its 4.4.0 reports itself as 4.5.0; elsewhere the version that Siconos reports."""
    try:
        asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "python3-siconos"], capture_output=True, text=True)
    except OSError:
        return version("siconos")
    return asked.stdout or version("siconos")


VERSION = f"Siconos {packaged()}"


def upright(normal):
    """A rotation that maps z to the normal, which does not point down, as a quaternion with the scalar first."""
    x, y, z = np.array(normal) / np.linalg.norm(normal)
    q = np.array([1.0 + z, -y, x, 0.0])
    return q / np.linalg.norm(q)


def turning(orientation):
    """The matrix from a body's axes to world axes, of a unit quaternion."""
    w, axis = orientation[0], orientation[1:]
    cross = np.cross(axis, np.eye(3)).T
    return np.eye(3) + 2 * (w * cross + cross @ cross)


def box(half):
    """A box of half edges (3,), with an inside margin thinner than the box."""
    found = bullet.SiconosBox(*(2 * np.array(half)))
    found.setInsideMargin(0.1 * min(half))
    return found


def touching(shapes):
    """Contactors of shapes, each at a position (3,) in the axes of its owner."""
    found = bullet.SiconosContactorSet()
    for shape, at in shapes:
        found.append(bullet.SiconosContactor(shape, [*at, 1.0, 0.0, 0.0, 0.0], 0))
    return found


class World:
    """NSGS with default settings, 1000 sweeps to 1e-4; contacts are active below a gap `threshold` [m], default 0."""

    def __init__(self, trial, h, threshold=0.0):
        self.h, self.steps, self.bodies, self.output = h, 0, [], MechanicsIO()
        self.mass = [x["mass"] for x in trial["bodies"]]
        options = bullet.SiconosBulletOptions()
        # Tilting the shapes would find more points of a pair, for spheres too: a sphere should have one.
        options.perturbationIterations = options.minimumPointsPerturbationThreshold = 0
        manager = bullet.SiconosBulletCollisionManager(options)
        manager.insertNonSmoothLaw(kernel.NewtonImpactFrictionNSL(trial["e"], 0.0, trial["mu"], 3), 0, 0)
        for normal, point in trial["planes"]:
            block = touching([(box((WIDE, WIDE, DEEP)), (0.0, 0.0, -DEEP))])
            manager.insertStaticContactorSet(block, [*point, *upright(normal)])
        self.system = kernel.NonSmoothDynamicalSystem(0.0, 1e6)
        for k, x in enumerate(trial["bodies"]):
            pose = [*x["position"], *x["orientation"]]
            body = bullet.RigidBodyDS(pose, [0.0] * 6, x["mass"], np.diag(x["inertia"]))
            body.setUseContactorInertia(False)
            shapes = [(bullet.SiconosSphere(r), at) for *at, r in x["spheres"]]
            body.setContactors(touching(shapes + [(box(b[3:]), b[:3]) for b in x["boxes"]]))
            body.setNumber(k)
            self.system.insertDynamicalSystem(body)
            self.bodies.append(body)
        self.pull(np.array(trial["gravity"]))
        integrator, friction = kernel.MoreauJeanOSI(0.5), kernel.FrictionContact(3)
        integrator.setConstraintActivationThreshold(threshold)
        friction.setKeepLambdaAndYState(True)
        self.simulation = kernel.TimeStepping(self.system, kernel.TimeDiscretisation(0.0, h))
        self.simulation.insertIntegrator(integrator)
        self.simulation.insertNonSmoothProblem(friction)
        self.simulation.insertInteractionManager(manager)

    def step(self):
        if self.steps:
            # Makes the state, with later changes, the start of the next step.
            self.simulation.clearNSDSChangeLog()
            self.simulation.nextStep()
        self.begun = [np.array(body.q()[:3]) for body in self.bodies]
        self.simulation.computeOneStep()
        self.steps += 1

    def push(self, velocity):
        for body, v in zip(self.bodies, velocity, strict=True):
            # The angular velocity is in the body's axes. The first of both is used before the first step.
            twist = [*v[:3], *(turning(body.q()[3:]).T @ v[3:])]
            body.setVelocity0(twist)
            body.setVelocity(twist)
            body.computeForces(0.0)

    def pull(self, gravity):
        for body, mass in zip(self.bodies, self.mass, strict=True):
            body.setFExtPtr(mass * gravity)
            body.computeForces(0.0)

    def state(self):
        poses = [body.q() for body in self.bodies]
        twists = [body.twist() for body in self.bodies]
        velocity = [np.append(v[:3], turning(q[3:]) @ v[3:]) for q, v in zip(poses, twists, strict=True)]
        return [q[:3] for q in poses], [q[3:] for q in poses], velocity

    def contacts(self):
        if self.system.topology().indexSetsSize() < 2:
            return []
        output, found = self.output.contactPoints(self.system, 1), []
        for x in [] if output is None else np.asarray(output):
            # An impulse acts on the first body, which is named twice if the other is the ground.
            first, second = int(x[23]), int(x[24])
            # Points have moved with the first body during the step.
            point = x[1:4] - self.bodies[first].q()[:3] + self.begun[first]
            found.append((-1 if second == first else second, first, point, x[10:13] / self.h))
        return found
