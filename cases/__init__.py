"""The cases, one file each. Adding one is a file and a line in `CASES`."""

from cases.block import Block
from cases.cube import Cube
from cases.particle import Particle
from cases.rod import Rod
from cases.rod_in_guide import RodInGuide
from cases.sphere import Sphere
from cases.wheel import Wheel

CASES = (Wheel, Cube, Block, Sphere, Particle, Rod, RodInGuide)
