"""Errors of single steps of a formulation from the states of exact Coulomb friction, without accumulation."""

import numpy as np

from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job
from workbench.step.local_steps import LocalSteps, local_steps
from workbench.step.run import Run


def from_exact(job: Job, exact: Run | Failed, alike: Run | Failed) -> LocalSteps | Failed:
    """Steps of a formulation to round-off, `job`, from all states of `exact`, exact Coulomb friction at the job's step.

    Where it has no answer to some of them, those from the states of `alike`, which is as compliant as the job.
    """
    found: list[LocalSteps | Failed] = []
    for base in (exact, alike) if alike is not exact else (exact,):
        try:
            steps = base if isinstance(base, Failed) else _steps(base, job)
        except Exception as error:
            steps = failed(error)
        if isinstance(steps, LocalSteps) and np.isfinite(steps.v_after).all():
            return steps
        found.append(steps)
    return found[0]


def _steps(base: Run, job: Job) -> LocalSteps:
    assert job.solver
    return local_steps(base, job.subject, job.solver, np.arange(base.steps))
