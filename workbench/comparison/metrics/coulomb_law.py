"""The judge's residuals of Signorini's and Coulomb's laws (formulary, section 7.4), largest over the window."""

import numpy as np

from workbench.comparison.measured import Measured
from workbench.comparison.metric import metric
from workbench.mechanics.law import COULOMB


@metric(
    "signorini",
    unit="1",
    meaning="largest |min(p_n, ρ u_n)| of a contact, over its scale of impulses",
    heading="Signorini",
    shown="small",
)
def signorini(m: Measured) -> float:
    return m.run.judged.signorini[m.steps].max()


@metric("cone", unit="N s", meaning="largest (|p_t| − μ p_n)₊, in the unit of impulse", heading="cone", shown="small")
def cone(m: Measured) -> float:
    return m.run.judged.cone[m.steps].max()


@metric(
    "dissipation", unit="J", meaning="largest |μ p_n |u_t| + p_t·u_t|, in the unit of energy", heading="dissipation",
    shown="small",
)  # fmt: skip
def dissipation(m: Measured) -> float:
    return m.run.judged.dissipation[m.steps].max()


@metric(
    "natural-map",
    unit="1",
    meaning="residual of Coulomb's law as a whole, for the worst contact over its scale of impulses",
    heading="natural map",
    shown="small",
)
def natural_map(m: Measured) -> float:
    return m.run.judged.natural_map[m.steps].max()


@metric(
    "law-natural-map",
    unit="1",
    meaning="residual of the law that the formulation discretises (column law), as natural-map for Coulomb's",
    defined="for a law other than Coulomb's",
    heading="natural map of its law",
    shown="small",
)
def law_natural_map(m: Measured) -> float:
    return np.nan if m.run.law == COULOMB else m.run.judged_by_law.natural_map[m.steps].max()
