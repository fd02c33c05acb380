"""Runs that continue from the states of another run, to see how a formulation's errors develop over some steps.

    coulomb = simulate(case, exact, solver, 1e-3)
    (cone,) = onward(coulomb, ccp, other, [40], 100)
    cone.record.phi[30] - coulomb.record.phi[70]      # how far contacts have opened within 30 steps from step 40

The first of these steps equals the local step from there (`local_steps`), bit for bit.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import in_steps
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.problems.solution import Status
from workbench.step.local_steps import starts_of
from workbench.step.run import Run
from workbench.step.starts import Ends, run_from
from workbench.step.stepper import Stepper
from workbench.support.errors import DataError


def onward(base: Run, formulation: Formulation, solver: Solver, starts: Sequence[int], steps: int) -> list[Run]:
    """Return runs of `steps` steps from the state before each of the steps `starts` of `base`, a run without parts.

    They begin as if the formulation had made `base` up to there: its memory of the step before is that of `base`, as
    are step size [s], normal law, position update and relaxation. A run that fails ends early, with its status. Raises
    DataError unless `starts` are numbers of steps of `base` in increasing order.
    """
    if any(not 0 <= k < base.steps for k in starts) or list(starts) != sorted(set(starts)):
        raise DataError(f"starts {list(starts)}; increasing numbers from 0 to {base.steps - 1} are needed")
    case, c = base.case, compiled(formulation, *base.case.size)
    solver, s = in_steps(solver, c.kind), Stepper(c, base.h, base.normal, case.v_th, scheme=base.scheme)
    s.follow(case, base.relaxation, steps)
    begin, ends = (
        starts_of(base, formulation, s, solver, np.array(starts, dtype=np.int64)),
        Ends.unset(s, len(starts), steps, 1),
    )
    begun = clock()
    reasons, others = run_from(case, s, solver, begin, ends)
    seconds = (clock() - begun) / max(len(starts), 1)
    return [
        replace(
            base, formulation=formulation, solver=solver.name, kind=c.kind, tolerance=solver.tolerance,
            status=Status(ends.status[b]), reason=reasons[b], steps_wanted=steps, build_time=c.seconds,
            solve_time=seconds, record=ends.record(s, b), compiled=c, others=dict(others[b]),
        )
        for b in range(len(starts))
    ]  # fmt: skip
