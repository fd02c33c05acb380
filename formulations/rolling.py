"""Exact Coulomb friction with torsion and rolling, each with a separate limit.

A contact with three directions resists spinning about its normal; one with five resists rolling too. Their coefficients
are lengths. The bounds |p_t| <= mu p_n, |torsion| <= mu_s p_n and |rolling| <= mu_r p_n hold independently, each with
maximum dissipation: a spinning wheel loses no grip. With one ball that bounds all of them together, as in `coulomb`, it
does. With only the one or two directions of sliding both are the same.
"""

from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, complements, declare, equals, free, friction_cone
from workbench.mechanics.law import Law


@formulation(
    "rolling",
    friction="exact Coulomb friction with separate bounds on torsion and rolling",
    source="Leine, Le Saux & Glocker 2005, Eur. J. Mech. A/Solids 24; Tasora & Anitescu 2013, Meccanica 48",
)
def rolling(s: ContactSymbols) -> Declaration:
    v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d, apart=True)
    return declare(
        equals(s.balance(v, p.n, p.t)),
        *s.bilateral(v),
        complements((s.un(v, p.n), s.ut(v, p.t)), p, law="coulomb"),
        recover=dict(v=v, p_n=p.n, p_t=p.t),
        law=Law("Coulomb, torsion and rolling apart", apart=True),
    )
