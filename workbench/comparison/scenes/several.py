"""Solutions of Coulomb's law at single steps of a scene, and which of them each formulation's step is nearest to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.scenes.single import answers
from workbench.comparison.several import LARGEST, ExaminedSteps, PosedStep, chosen_steps, examine
from workbench.problems.bridges.dense import of_one_kind
from workbench.problems.classes import CoulombNCP
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.friction_problem import FrictionProblem
from workbench.scenes.run import SteppingScheme
from workbench.scenes.stepper import SceneStepper
from workbench.scenes.track import Track
from workbench.support.arrays import Array
from workbench.support.errors import DataError, WorkbenchError

CHANGES, EVEN = 8, 12
"""Steps that are examined: those whose number of contacts changes, and evenly spread ones."""


@dataclass(frozen=True, eq=False)
class CoulombRows:
    """Coulomb's problem of a step over its contact rows, all normal ones first.

    `rows` (n, n_v) and `rate` (n,): the contact velocities are rows v + rate [m/s]; `compliance` (n,) of these rows.
    """

    problem: FrictionProblem
    rows: Array
    rate: Array
    compliance: Array

    def velocity(self, v: Array) -> Array:
        """Return the contact velocities (n,) of v (n_v,)."""
        return self.rows @ v + self.rate


def coulomb_rows(blocks: ContactBlocks) -> CoulombRows | None:
    """Return the blocks' contacts; None where there are too many rows, or other things than round friction cones."""
    if not 0 < blocks.size <= LARGEST:
        return None
    try:
        law, _, there = of_one_kind(blocks)
    except DataError:
        return None
    # Ellipsoids have other units.
    if not isinstance(law, CoulombNCP) or not np.isin(there(np.ones(blocks.size)), (0, 1)).all():
        return None
    L, N, _ = blocks.whole
    rows = np.array([there(column) for column in (L @ blocks.J).toarray().T]).T
    problem = FrictionProblem(law.M, law.q, law.mu, law.d)
    return CoulombRows(problem, rows, there(blocks.c), there(N.diagonal()))


@dataclass(frozen=True, eq=False)
class SceneSolutions:
    """Examined steps among the `steps` of a run of a scene under exact Coulomb friction, made by `stepper`."""

    stepper: SteppingScheme
    exact: Track
    steps: NDArray[np.int64]
    posed: dict[int, CoulombRows] = field(default_factory=dict)

    @cached_property
    def examined(self) -> ExaminedSteps:
        """The steps, posed and examined once."""
        return examine(self.exact.h, self._posed())

    def _posed(self) -> Iterator[PosedStep]:
        contacts = self.exact.contacts[self.steps]
        changed = self.steps[1:][contacts[1:] != contacts[:-1]]
        some = np.array(chosen_steps(changed, self.steps, CHANGES, EVEN), dtype=np.int64)
        for k in some[self.exact.contacts[some] > 0]:
            try:
                ((_, x),) = answers(self.stepper, self.exact, np.array([k]))
            except WorkbenchError:
                continue
            posed = self.stepper.posed if isinstance(self.stepper, SceneStepper) else None
            found = coulomb_rows(posed.blocks) if posed else None
            if found:
                self.posed[k] = found
                yield PosedStep(int(k), found.problem, found.compliance, found.velocity(x.v))

    def velocities(self, stepper: SteppingScheme, steps: Sequence[int]) -> dict[int, Array]:
        """Return the contact velocities (n,) [m/s] after a formulation's steps from the states before examined ones."""
        found = answers(stepper, self.exact, np.array(steps, dtype=np.int64))
        return {k: self.posed[k].velocity(x.v) for k, x in found}
