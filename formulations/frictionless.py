"""Moreau's frictionless time step: an LCP with a symmetric PSD matrix, hence also a convex QP."""

from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, complements, declare, equals, free, nonneg
from workbench.mechanics.law import Law


@formulation(
    "frictionless",
    friction="none",
    source="Moreau 1988, Unilateral contact and dry friction in finite freedom dynamics",
)
def frictionless(s: ContactSymbols) -> Declaration:
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    return declare(
        equals(s.balance(v, p_n)),
        *s.bilateral(v),
        complements(s.un(v, p_n), p_n),
        recover=dict(v=v, p_n=p_n),
        law=Law("Signorini without friction", axes=(0.0,)),
    )
