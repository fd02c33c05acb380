"""The cone complementarity problem: friction cones with associated flow, the optimality conditions of a conic QP.

It imposes u_n (+ phi/h with the gap law) >= mu |u_t|: a sliding contact lifts off as if the gap were phi - mu h |u_t|.
"""

from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, complements, declare, equals, free, friction_cone


@formulation(
    "ccp",
    friction="Coulomb's cone with associated flow, a relaxation of Coulomb's law",
    source="Anitescu & Tasora 2010; Negrut, Serban & Tasora, CND-17-1068, eqs. (7)-(11)",
    condition="sliding contacts may open",
)
def ccp(s: ContactSymbols) -> Declaration:
    v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d)
    return declare(
        equals(s.balance(v, p.n, p.t)),
        *s.bilateral(v),
        complements((s.un(v, p.n), s.ut(v, p.t)), p),
        recover=dict(v=v, p_n=p.n, p_t=p.t),
    )
