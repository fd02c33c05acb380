"""Bridges: each converts one kind of problem to another and maps the solution back.

A solver of one kind of problem accepts every problem that a chain of bridges converts to that kind
(`algorithms.paths`), as in MathOptInterface (Legat, Dowson, Garcia & Lubin 2022) and in CVXPY (Agrawal, Verschueren,
Diamond & Boyd 2018).
"""

from workbench.problems.bridges import (
    bodies,
    bounds,
    cones,
    cones_over_bodies,
    dense,
    factored,
    formed,
    free_unknowns,
    generators,
    intervals,
    planar_coulomb,
    set_by_set,
)
from workbench.problems.bridges.bridge import Bridge, Image

__all__ = ["BRIDGES", "Bridge", "Image"]

BRIDGES: tuple[Bridge, ...] = (
    set_by_set.BRIDGE,
    intervals.BRIDGE,
    free_unknowns.BRIDGE,
    free_unknowns.EQUATIONS,
    bounds.BRIDGE,
    generators.BRIDGE,
    planar_coulomb.BRIDGE,
    cones.ASSOCIATED_CONES,
    cones.COULOMB_CONES,
    formed.BRIDGE,
    bodies.BRIDGE,
    cones_over_bodies.BRIDGE,
    dense.BRIDGE,
    factored.BRIDGE,
)
