"""Drake (BSD-3), point contacts of a discrete plant. Two surfaces with equal coefficients have that coefficient."""

from importlib.metadata import version

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import Box, HalfSpace, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    ContactModel,
    CoulombFriction,
    DiscreteContactApproximation,
)
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

VERSION = f"Drake {version('drake')}"


class World:
    """`approximation`: sap, lagged, similar or tamsi; compliances are the plant's defaults."""

    def __init__(self, trial, h, approximation="lagged"):
        if trial["e"] > 0:
            raise ValueError("its discrete contact has no restitution")
        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlantSceneGraph(builder, h)
        plant.set_contact_model(ContactModel.kPoint)
        plant.set_discrete_contact_approximation(
            getattr(DiscreteContactApproximation, f"k{approximation.capitalize()}")
        )
        plant.mutable_gravity_field().set_gravity_vector(trial["gravity"])
        friction, names = CoulombFriction(trial["mu"], trial["mu"]), iter(range(10**6))

        def touches(body, shape, pose):
            plant.RegisterCollisionGeometry(body, pose, shape, f"shape {next(names)}", friction)

        for normal, point in trial["planes"]:
            touches(plant.world_body(), HalfSpace(), HalfSpace.MakePose(normal, point))
        self.bodies = []
        for x in trial["bodies"]:
            unit = UnitInertia(*(np.array(x["inertia"]) / x["mass"]))
            body = plant.AddRigidBody(x["name"], SpatialInertia(x["mass"], np.zeros(3), unit))
            for *at, r in x["spheres"]:
                touches(body, Sphere(r), RigidTransform(at))
            for b in x["boxes"]:
                touches(body, Box(*(2 * np.array(b[3:]))), RigidTransform(b[:3]))
            self.bodies.append(body)
        plant.Finalize()
        self.plant, self.simulator = plant, Simulator(builder.Build())
        self.context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for x, body in zip(trial["bodies"], self.bodies, strict=True):
            pose = RigidTransform(Quaternion(x["orientation"]), x["position"])
            plant.SetFreeBodyPose(self.context, body, pose)
        self.h, self.steps = h, 0

    def step(self):
        self.steps += 1
        self.simulator.AdvanceTo(self.steps * self.h)

    def push(self, velocity):
        for body, v in zip(self.bodies, velocity, strict=True):
            self.plant.SetFreeBodySpatialVelocity(self.context, body, SpatialVelocity(v[3:], v[:3]))

    def pull(self, gravity):
        self.plant.mutable_gravity_field().set_gravity_vector(gravity)

    def state(self):
        poses = [self.plant.EvalBodyPoseInWorld(self.context, body) for body in self.bodies]
        velocity = [self.plant.EvalBodySpatialVelocityInWorld(self.context, body) for body in self.bodies]
        return (
            [x.translation() for x in poses], [x.rotation().ToQuaternion().wxyz() for x in poses],
            [np.concatenate([v.translational(), v.rotational()]) for v in velocity],
        )  # fmt: skip

    def contacts(self):
        number, found = {body.index(): k for k, body in enumerate(self.bodies)}, []
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        for i in range(results.num_point_pair_contacts()):
            x = results.point_pair_contact_info(i)
            a, b = (number.get(body, -1) for body in (x.bodyA_index(), x.bodyB_index()))
            found.append((a, b, x.contact_point(), x.contact_force()))
        return found
