"""Exact Coulomb friction with Signorini's condition, in De Saxcé's form: the reference of every comparison."""

from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, complements, declare, equals, free, friction_cone


@formulation(
    "coulomb",
    friction="exact Coulomb friction",
    source="de Saxcé & Feng 1998; CND-17-1068, eq. (5d) without its relaxation term",
)
def coulomb(s: ContactSymbols) -> Declaration:
    v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d)
    return declare(
        equals(s.balance(v, p.n, p.t)),
        *s.bilateral(v),
        complements((s.un(v, p.n), s.ut(v, p.t)), p, law="coulomb"),
        recover=dict(v=v, p_n=p.n, p_t=p.t),
    )
