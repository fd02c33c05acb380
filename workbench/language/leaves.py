"""Leaves of CVXPY expression trees: unknowns with their sets, and contact data."""

from typing import Any

import cvxpy as cp
import numpy as np

from workbench.support.errors import ModellingError


class Unknown(cp.Variable):
    """A CVXPY variable (vector) with the set it lives in."""

    def __init__(self, name: str, size: int, member_of: Any) -> None:
        if not isinstance(size, int | np.integer):
            raise ModellingError(f"unknown '{name}' has size {size!r}; a whole number is needed")
        if size < 1:
            raise ModellingError(f"unknown '{name}' has {size} entries; it needs at least one")
        self.member_of = member_of
        super().__init__(size, name=name)


class CoreSymbol(cp.Parameter):
    """A parameter shared by all formulations: contact data of one instant."""
