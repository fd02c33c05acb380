"""Exact Coulomb friction with cohesion: a closed contact bears tension up to a pull, with friction mu (p_n + pull).

The cone's apex is shifted to a tension of `cohesion` [N], as for wet sand or a magnet: x = p_n + h cohesion lies in the
cone together with p_t. An open contact has no pull. A body hangs from the ceiling if its weight is below the cohesion,
and falls otherwise.
"""

from typing import Annotated

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.lazy import cvxpy as cp
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, friction_cone
from workbench.mechanics.law import Law
from workbench.support.errors import ModellingError


@formulation(
    "cohesive",
    friction="exact Coulomb friction with cohesion",
    source="Raous, Cangémi & Cocu 1999, Comput. Methods Appl. Mech. Eng. 177 (adhesion of full intensity)",
)
def cohesive(s: ContactSymbols, cohesion: Annotated[float, "tensile strength of a contact [N]"] = 1.0) -> Declaration:
    if not (np.isfinite(cohesion) and cohesion >= 0):
        raise ModellingError(f"cohesion={cohesion:g}; a number >= 0 [N] is needed")
    pull = cp.Parameter(s.r, nonneg=True, name="pull")
    v, p_n, x = free("v", s.n), free("p_n", s.r), friction_cone(s.mu, s.r, s.d, names=("x", "p_t"))
    return declare(
        equals(p_n - x.n + pull),
        equals(s.balance(v, p_n, x.t)),
        *s.bilateral(v),
        complements((s.un(v, p_n), s.ut(v, x.t)), x, law="coulomb"),
        recover=dict(v=v, p_n=p_n, p_t=x.t),
        hooks=Hooks(given, own=(pull,), numbers=(cohesion,)),
        law=Law(f"Coulomb, cohesion {cohesion:g} N", cohesion=cohesion),
    )


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set the pull of closed contacts: own = pull (r); numbers = [cohesion]."""
    for i in range(own.shape[0]):
        own[i] = core.h * numbers[0] if core.phi[i] <= 0.0 else 0.0
