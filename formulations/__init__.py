"""The formulations, one file each. Adding one is a file and a line in `FORMULATIONS` (time steps) or `SLIDING`."""

from formulations.anitescu_potra import anitescu_potra
from formulations.box import box_friction
from formulations.ccp import ccp
from formulations.coulomb import coulomb
from formulations.discrete_velocity import discrete_velocity
from formulations.frictionless import frictionless
from formulations.hybrid import hybrid
from formulations.mujoco import mujoco
from formulations.phantom_inertia import phantom_inertia
from formulations.sliding_lcp import sliding_lcp
from formulations.staggered import staggered
from formulations.stewart_trinkle import stewart_trinkle

FORMULATIONS = (
    frictionless,
    stewart_trinkle,
    anitescu_potra,
    discrete_velocity,
    phantom_inertia,
    box_friction,
    hybrid,
    ccp,
    mujoco,
    staggered,
    coulomb,
)

SLIDING = (sliding_lcp,)
"""Formulations of one instant, at acceleration level: they make no time steps."""
