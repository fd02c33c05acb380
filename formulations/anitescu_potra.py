"""Anitescu and Potra's time step: Stewart and Trinkle's LCP at velocity level, solvable by Lemke's method.

Under one normal law (velocity or gap, a property of the run) the two are the same LCP; one declaration serves both.
"""

from formulations.stewart_trinkle import stewart_trinkle
from workbench.formulation import formulation

anitescu_potra = formulation(
    "anitescu-potra",
    friction="polygon inscribed in the Coulomb disc",
    source="Anitescu & Potra 1997, Nonlinear Dynamics 14; IDETC2016-60064 refers to it as the polygonal model",
)(stewart_trinkle.build)
