"""The cases, one file each. To add one, write a file and a line in `CASES`, or in `SCENES` if contacts come and go."""

from inspect import isabstract
from typing import Any

from workbench.support.registry import Registry


def _is_case(thing: Any) -> bool:
    from workbench.mechanics.case import Case

    kind = thing if isinstance(thing, type) else type(thing)
    return issubclass(kind, Case) and not isabstract(kind)


def _is_scene(thing: Any) -> bool:
    from workbench.scenes.case import SceneCase

    kind = thing if isinstance(thing, type) else type(thing)
    return issubclass(kind, SceneCase) and not isabstract(kind)


CASES = Registry("case", "workbench.builtin.cases", {
    "wheel": "wheel.Wheel",
    "cube": "cube.Cube",
    "block": "block.Block",
    "sphere": "sphere.Sphere",
    "bouncing-ball": "bouncing_ball.BouncingBall",
    "drawer": "drawer.Drawer",
    "gripper": "gripper.Gripper",
    "off-axis": "off_axis.OffAxis",
    "particle": "particle.Particle",
    "pinched-capsule": "pinched_capsule.PinchedCapsule",
    "pushed-box": "pushed_box.PushedBox",
    "rod": "rod.Rod",
    "rod-in-guide": "rod_in_guide.RodInGuide",
    "sheath": "sheath.Sheath",
    "spatial-particle": "spatial_particle.SpatialParticle",
    "sphere-stack": "sphere_stack.SphereStack",
    "stacked-cubes": "stacked_cubes.StackedCubes",
    "table": "table.Table",
    "three-bodies": "three_bodies.ThreeBodies",
    "tippe-top": "tippe_top.TippeTop",
    "tripod": "tripod.Tripod",
    "v-groove": "v_groove.VGroove",
    "wedged-box": "wedged_box.WedgedBox",
    "woodpecker": "woodpecker.Woodpecker",
}, _is_case, lambda case: case.description, "workbench.cases")  # fmt: skip
"""The cases in the order in which they are listed: name, then module and class below this package."""

SCENES = Registry("scene", "workbench.builtin.cases", {
    "packing": "packing.Packing",
    "column-collapse": "column_collapse.ColumnCollapse",
    "hopper": "hopper.Hopper",
    "rotating-drum": "rotating_drum.RotatingDrum",
    "silo": "silo.Silo",
}, _is_scene, lambda case: case.description, "workbench.scenes")  # fmt: skip
"""Scenes of any number of bodies, by name (`workbench.scenes.case.SceneCase`)."""
