"""Exact anisotropic Coulomb friction: an ellipse instead of the disc, with maximum dissipation within it.

An anisotropic surface, such as brushed metal or a tyre tread, has the friction coefficient mu along the first tangent
and `ratio` mu along the second. Sliding is not opposite to friction but normal to the ellipse at the impulse:
u_t = -lambda (p_1 / mu_1^2, p_2 / mu_2^2). In De Saxcé's form the normal row is shifted by |(mu_1 u_1, mu_2 u_2)|.
"""

from typing import Annotated

import numpy as np

from workbench.engine.lazy import cvxpy as cp
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, complements, declare, equals, free, friction_cone
from workbench.mechanics.law import Law
from workbench.support.errors import ModellingError


@formulation(
    "elliptic",
    friction="exact Coulomb friction with an ellipse of friction coefficients",
    source="Goyal, Ruina & Papadopoulos 1991, Wear 143; maximum dissipation: Moreau 1974",
)
def elliptic(
    s: ContactSymbols,
    ratio: Annotated[float, "ratio of the friction coefficients along the second and the first tangent"] = 0.5,
) -> Declaration:
    if not (np.isfinite(ratio) and ratio >= 0):
        raise ModellingError(f"ratio={ratio:g}; a number >= 0 is needed")
    axes = np.ones((s.d, 1))
    axes[1:2] = ratio
    S = cp.Constant(np.kron(np.eye(s.r), axes), name="S")
    v, p = free("v", s.n), friction_cone(S @ s.mu, s.r, s.d)
    return declare(
        equals(s.balance(v, p.n, p.t)),
        *s.bilateral(v),
        complements((s.un(v, p.n), s.ut(v, p.t)), p, law="coulomb"),
        recover=dict(v=v, p_n=p.n, p_t=p.t),
        law=Law(f"elliptic Coulomb, 1 : {ratio:g}", axes=(1.0, ratio, 1.0, 1.0, 1.0)),
    )
