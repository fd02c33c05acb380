"""The law of contact that a formulation discretises: what its answers are held against beside Coulomb's.

Without anything else that is Signorini's and Coulomb's law with the run's friction coefficients; a formulation says in
what its own differs, in numbers, so that the judge needs none of the formulation's relations.
"""

from dataclasses import dataclass

import numpy as np

from workbench.errors import ModellingError


@dataclass(frozen=True)
class Law:
    """Signorini's law with friction of the most dissipation within a set, which this describes; `name` in words.

    axes      friction coefficients of the directions of a contact, over mu: one for all, or one each (an ellipse)
    cohesion  the pull that a contact bears [N]: p_n + h cohesion takes the place of p_n in both laws
    limit     where it is given, the bound of friction whatever the load (Tresca's law) [N]
    apart     whether sliding, torsion and rolling are each bounded for itself
    Raises ModellingError for numbers that are negative or not finite.
    """

    name: str = "Coulomb"
    axes: tuple[float, ...] = (1.0,)
    cohesion: float = 0.0
    limit: float | None = None
    apart: bool = False

    def __post_init__(self) -> None:
        numbers = {"axes": self.axes, "cohesion": (self.cohesion,), "limit": (self.limit or 0.0,)}
        for name, values in numbers.items():
            for x in values:
                if not (np.isfinite(x) and x >= 0):
                    raise ModellingError(f"law '{self.name}': {name} has {x:g}; numbers >= 0 are needed")

    def ratios(self, d: int) -> np.ndarray:
        """(d,) coefficients of the directions of a contact over mu; raises ModellingError for too few."""
        if len(self.axes) == 1:
            return np.full(d, self.axes[0])
        if len(self.axes) < d:
            raise ModellingError(f"law '{self.name}' has {len(self.axes)} axes; contacts have {d} directions")
        return np.array(self.axes[:d])


COULOMB = Law()
"""The law of every formulation that names no other."""
