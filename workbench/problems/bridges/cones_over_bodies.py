"""Contact blocks of cones under one law and of bilateral rows as a friction problem over (M, H): `bodies` reversed.

H = J^T in the rows of cones, G = J^T in those of free unknowns, f = b, [w, b] = c.
"""

import numpy as np

from workbench.engine.lazy import sparse
from workbench.problems.bridges.bodies import bilateral_impulses
from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE, normals_first
from workbench.support.arrays import Array


def applies(p: ContactBlocks) -> str | None:
    cones, k = p.cone != NO_CONE, np.diff(p.unknown)
    if set(p.cone[cones].tolist()) not in ({COULOMB}, {ASSOCIATED}):
        return "(M, H) has friction cones under one law"
    inside = np.repeat(~cones, k)
    if (p.lower[inside] != -np.inf).any() or (p.upper[inside] != np.inf).any():
        return "unknowns with bounds have no place in (M, H)"
    if k[cones].max() > 3 or (k[cones] != k[cones][0]).any() or k[cones][0] == 1:
        return "all friction cones must have one direction, or all two"
    if p.N.any() or p.s.any() or (p.whole[0] != sparse.eye_array(p.size)).nnz or (p.whole[2] != p.whole[0]).nnz:
        return "(M, H) has no compliance, and no unknowns other than impulses: L = R = 1 and N = s = 0 are needed"
    return None


def forward(p: ContactBlocks) -> Image:
    cones = p.cone != NO_CONE
    inside = np.repeat(cones, np.diff(p.unknown))
    r, d = int(cones.sum()), int(np.diff(p.unknown)[cones][0]) - 1
    contacts, bilateral = np.flatnonzero(inside)[normals_first(r, d)], np.flatnonzero(~inside)
    J_T = p.J.T.tocsc()
    data = GlobalFrictionProblem(
        p.M, J_T[:, contacts], p.b, p.c[contacts], p.mu[cones], d, J_T[:, bilateral], p.c[bilateral]
    )

    def back(z: Array) -> Array:
        x = np.empty(p.size)
        x[contacts], x[bilateral] = z, bilateral_impulses(data, z)
        return x

    law = GlobalCoulombNCP if (p.cone == COULOMB).any() else GlobalConicQP
    return Image(law(data), back, lambda x: x[contacts])


BRIDGE = Bridge(
    "friction cones over (M, H)",
    between([ContactBlocks.kind], GlobalConicQP.kind, GlobalCoulombNCP.kind),
    1,
    applies,
    forward,
)
