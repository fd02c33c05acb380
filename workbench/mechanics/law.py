"""The contact law that a formulation discretises; its solutions are judged against it as well as against Coulomb's.

The default is Signorini's and Coulomb's law with the run's friction coefficients. A formulation states in numbers how
its own law differs, so that the judge needs none of the formulation's relations.
"""

from dataclasses import dataclass

import numpy as np

from workbench.support.errors import ModellingError


@dataclass(frozen=True)
class Law:
    """Signorini's law with friction of maximum dissipation within a set, which the fields describe; `name` in words.

    axes      friction coefficients of the directions of a contact, over mu: one for all, or one each (an ellipse)
    cohesion  the tensile force that a contact can carry [N]: p_n + h cohesion replaces p_n in both laws
    limit     if given, the bound of friction for any load (Tresca's law) [N]
    apart     whether sliding, torsion and rolling are bounded separately

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
        """(d,) friction coefficients of the directions of a contact over mu; raises ModellingError for too few."""
        if len(self.axes) == 1:
            return np.full(d, self.axes[0])
        if len(self.axes) < d:
            raise ModellingError(f"law '{self.name}' has {len(self.axes)} axes; contacts have {d} directions")
        return np.array(self.axes[:d])


COULOMB = Law()
"""The law of every formulation that declares no other."""
