"""The cases, one file each. Adding one is a file and a line in `CASES`."""

from cases.block import Block
from cases.bouncing_ball import BouncingBall
from cases.cube import Cube
from cases.drawer import Drawer
from cases.gripper import Gripper
from cases.off_axis import OffAxis
from cases.particle import Particle
from cases.pinched_capsule import PinchedCapsule
from cases.pushed_box import PushedBox
from cases.rod import Rod
from cases.rod_in_guide import RodInGuide
from cases.sheath import Sheath
from cases.spatial_particle import SpatialParticle
from cases.sphere import Sphere
from cases.sphere_stack import SphereStack
from cases.stacked_cubes import StackedCubes
from cases.table import Table
from cases.three_bodies import ThreeBodies
from cases.tippe_top import TippeTop
from cases.v_groove import VGroove
from cases.wedged_box import WedgedBox
from cases.wheel import Wheel

CASES = (
    Wheel,
    Cube,
    Block,
    Sphere,
    BouncingBall,
    Drawer,
    Gripper,
    OffAxis,
    Particle,
    PinchedCapsule,
    PushedBox,
    Rod,
    RodInGuide,
    Sheath,
    SpatialParticle,
    SphereStack,
    StackedCubes,
    Table,
    ThreeBodies,
    TippeTop,
    VGroove,
    WedgedBox,
)
