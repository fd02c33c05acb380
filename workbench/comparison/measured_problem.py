"""Input of metrics of problems without bodies."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.columns import PROBLEM
from workbench.comparison.measured import AnswerPair, Measured

if TYPE_CHECKING:
    from workbench.comparison.problem_step import ProblemStep


@dataclass(frozen=True, eq=False)
class MeasuredProblem(Measured):
    """Input of a metric of problems without bodies: all solutions are `ProblemStep`s, `exact` is the reference.

    contacts (r,) tells whether the velocity determines the impulses of the contact, `null_space` what dimension that of
    W has.
    """

    run: "ProblemStep"
    reference: "ProblemStep"
    exact: "ProblemStep"
    round_off: "ProblemStep | None"
    contacts: NDArray[np.bool_]
    null_space: int

    about = PROBLEM

    @property
    def pairs(self) -> dict[str, AnswerPair]:
        found = {"": AnswerPair((self.run, self.exact))}
        if self.round_off is not None:
            found |= {
                "formulation": AnswerPair((self.round_off, self.exact)),
                "solver": AnswerPair((self.run, self.round_off)),
            }
        return found

    def velocities_apart(self, a: "ProblemStep", b: "ProblemStep") -> float:
        """Return the distance of the velocities u = W p + q, relative to |q|_2."""
        return float(np.linalg.norm(a.problem.W @ (a.p - b.p))) / a.free

    @property
    def determined(self) -> NDArray[np.bool_]:
        return self.contacts[None]

    @property
    def free_directions(self) -> int:
        return self.null_space
