"""Runs that continue from the states of another run, to see how a formulation's errors develop over some steps.

    coulomb = simulate(case, exact, solver, 1e-3)
    (cone,) = onward(coulomb, ccp, other, [40], 100)
    cone.record.phi[30] - coulomb.record.phi[70]      # how far contacts have opened within 30 steps from step 40

The first of these steps equals the local step from there (`local_steps`), bit for bit.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import in_steps
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.step.local_steps import keeps_memory, past_of, recall_in_python
from workbench.step.record import record
from workbench.step.run import Run
from workbench.step.stepper import Stepper
from workbench.step.whole import loop_of
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
    # Two steppers: steps visited on the way must not be recorded in a run's rows.
    seen, s = (Stepper(c, base.h, base.normal, case.v_th, scheme=base.scheme) for _ in range(2))
    seen.follow(case, base.relaxation, 1)
    past, functions, keeps = past_of(base, formulation, seen), seen.functions(case), keeps_memory(c)
    solver, found = in_steps(solver, c.kind), []
    loop = loop_of(case, solver, c.kind)
    for k in range(max(starts, default=-1) + 1) if keeps else starts:
        recall_in_python(k, past, seen.core, seen.work, seen.track, functions)
        if k in starts:
            s.follow(case, base.relaxation, steps)
            s.track.q[:], s.track.v[:], s.track.memory[:] = past.q[k], past.v[k], seen.memory
            s.track.v_before[:], s.track.since[:] = seen.track.v_before, seen.track.since
            s.work.out[:], s.work.z[:] = seen.work.out, seen.work.z
            others: Counter[str] = Counter()
            begin = clock()
            status, reason, done = loop(case, s, solver, steps, None, others)
            found.append(replace(
                base, formulation=formulation, solver=solver.name, kind=c.kind, tolerance=solver.tolerance,
                status=status, reason=reason, steps_wanted=steps, build_time=c.seconds, solve_time=clock() - begin,
                record=record(s.core, s.work, s.track, done), compiled=c, others=dict(others),
            ))  # fmt: skip
        if keeps:
            seen.begin_case(case, 0)
    return found
