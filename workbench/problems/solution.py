"""Result of a solver: a point, and the solver's claims about it."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class Status(IntEnum):
    """Outcome of a solver or step. The integer is the return value of compiled kernels; `meaning` explains it."""

    SOLVED = 0
    RAY = 1
    ITERATION_LIMIT = 2
    SINGULAR = 3
    INFEASIBLE = 4
    NOT_FINITE = 5
    NO_FIXED_POINT = 6
    INACCURATE = 7
    REFUSED = 8
    NO_SOLUTION = 9

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Status.SOLVED: "the method's own stopping test holds",
    Status.RAY: "the pivoting path ended on a secondary ray: the method proves neither a solution nor its absence",
    Status.ITERATION_LIMIT: "the iteration limit was reached",
    Status.SINGULAR: "a matrix that had to be inverted is singular to working precision",
    Status.INFEASIBLE: "the method found no point that satisfies the constraints",
    Status.NOT_FINITE: "the data or an iterate is not finite",
    Status.NO_FIXED_POINT: "the state-dependent data did not settle within the permitted passes",
    Status.INACCURATE: "the method stopped short of its own tolerance",
    Status.REFUSED: "the method does not apply to this problem",
    Status.NO_SOLUTION: "the problem was proved to have no solution, by a certificate checked in exact arithmetic",
}


@dataclass(frozen=True)
class Solution:
    """A point z and the outcome that its solver reports.

    `claimed` is the solver's own outcome. If z passes the problem's residual (`Problem.residual`, dimensionless) by
    `tolerance`, the status is SOLVED, even if the method ended on a ray, infeasibility or a limit; `verified` says
    whether it does. A fixed point that did not settle is never verified, since z solves the problem of its last pass
    only. A method with stages reports the outcome of each in `stages`; `path` names the bridges to the problem that was
    actually solved (`problems.bridges`). If `proof` is given there is no solution, z is nan, and the checked claim is
    that proof.
    """

    z: NDArray[np.float64]
    claimed: Status
    residual: float
    tolerance: float
    iterations: int
    solve_time: float
    solver: str
    reason: str = ""
    stages: tuple[str, ...] = ()
    proof: str = ""
    path: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.claimed is not Status.SOLVED and self.verified and not self.proof:
            if self.reason == self.claimed.meaning:
                object.__setattr__(self, "reason", "")
            object.__setattr__(self, "claimed", Status.SOLVED)

    @property
    def why_not(self) -> str:
        """The reason, or if none is given, that the residual is too large; "" if there is nothing to say."""
        if self.reason or self.verified:
            return self.reason
        word = f"{self.solver} claims {self.claimed.name}"
        if not np.isfinite(self.z).all():
            return f"{word}, and its answer is not finite"
        return f"{word}, and the residual {self.residual:.1e} is above the tolerance {self.tolerance:.0e}"

    @cached_property
    def verified(self) -> bool:
        if self.proof:
            return True
        settled = self.claimed is not Status.NO_FIXED_POINT and bool(np.isfinite(self.z).all())
        return settled and bool(self.residual <= self.tolerance)
