"""The sliding problem of Blumentals, Brogliato and Bertails-Descoubes: accelerations and forces of sliding contacts.

All contacts are closed and slide, so the direction of friction is known and |lambda_n| alone gives its size. Bilateral
multipliers are split, lambda_nb = lambda+ - lambda-, |lambda_nb| = lambda+ + lambda-; lambda+ is eliminated. The paper
prints the second row of eq. (3) with C instead of Cbar.
"""

from workbench.language.formulation import SlidingSymbols, formulation
from workbench.language.modelling import Declaration, Relation, complements, declare, equals


@formulation(
    "sliding-lcp",
    friction="sliding Coulomb friction at bilateral and unilateral contacts, at acceleration level",
    source="Blumentals, Brogliato & Bertails-Descoubes 2015, hal-01224915, eq. (3) corrected",
)
def sliding_lcp(s: SlidingSymbols) -> Declaration:
    plus, minus, lambda_nu = s.lambda_plus, s.lambda_minus, s.lambda_nu
    relations: list[Relation] = []
    recover = {}
    if s.m_b:
        relations += [
            equals(s.A @ plus - s.Abar @ minus + s.B @ lambda_nu + s.w_1),
            complements(plus, minus),
        ]
        recover["lambda_nb"] = plus - minus
    if s.m_u:
        relations.append(complements(s.C @ plus - s.Cbar @ minus + s.D @ lambda_nu + s.w_2, lambda_nu))
        recover["lambda_nu"] = lambda_nu
    return declare(*relations, recover=recover)
