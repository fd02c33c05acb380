"""The cases, one file each. Adding one is a file and a line in `CASES`."""

from cases.wheel import Wheel

CASES = (Wheel,)
