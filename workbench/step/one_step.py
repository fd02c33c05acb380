"""A single step, of a given `ContactSystem` or the first one of a case."""

from dataclasses import replace

import numpy as np

from workbench.algorithms.base import Solver
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.language.modelling import Declaration
from workbench.mechanics.case import Case
from workbench.mechanics.contact import ContactSolution, ContactSystem
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.classes import MatrixProblem
from workbench.problems.solution import Solution, Status
from workbench.step import stepping
from workbench.step.stepper import Stepper
from workbench.step.stepping import PASSES
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SYSTEM_DATA = (
    "M", "f", "v", "J_b", "g", "r_b", "J_n", "phi", "r_n", "J_t", "r_t", "mu", "mu_s", "e", "eps_n", "eps_t", "eps_b",
    "heading",
)  # fmt: skip


def filled(formulation: Formulation, system: ContactSystem, passes: int = PASSES) -> Stepper:
    """Compile a formulation for a system's size and copy the system's data, without derived quantities."""
    stepper = Stepper(compiled(formulation, *system.size), system.h, system.law, system.v_th, passes)
    for name in SYSTEM_DATA:
        getattr(stepper.core, name)[:] = getattr(system, name)
    return stepper


def pose(formulation: Formulation, system: ContactSystem, passes: int = PASSES) -> Stepper:
    """Begin a step of a system under a formulation; `Stepper.problem()` then forms its problem."""
    stepper = filled(formulation, system, passes)
    core = stepper.core
    stepping.discretise(core)
    stepper.begin()
    d = system.size[3]
    if d == 2 and (core.frame[:, 1] != 0).any() and np.any(np.diff(np.reshape(system.eps_t, (-1, 2)))):
        raise DataError("eps_t differs between the two tangents of a contact, but the axes turn; give both the same")
    return stepper


def declared(formulation: Formulation, system: ContactSystem) -> Declaration:
    """Return the declaration of a system's step, with the parameter values of the first pass, in the current axes.

    >>> from formulations import FORMULATIONS
    >>> block = ContactSystem(np.eye(2), [1, -1], [0, 0], 0.01, [[0, 1]], [[1, 0]], mu=0.3)
    >>> declaration = declared(FORMULATIONS.find("ccp"), block)
    >>> problem = declaration.problem()
    >>> p_n = problem.var_dict["p_n"]
    >>> value = problem.solve("CLARABEL")
    >>> print(p_n.value.round(4))
    [1.1927]
    >>> declaration.parameters["mu"].value = np.zeros(1)
    >>> value = problem.solve("CLARABEL")
    >>> print(p_n.value.round(4))
    [1.]

    Raises DataError if the step cannot be begun, ModellingError for an invalid declaration.
    """
    return with_values(pose(formulation, system))


def with_values(stepper: Stepper) -> Declaration:
    """Return the declaration of a step that has begun, with the parameter values of the first pass."""
    declaration = stepper.c.formulation.declaration(*stepper.c.size)
    values, start = stepper.c.views(stepper.core.theta), 0
    for p in declaration.hooks.own:
        values[p.name()] = stepper.own[start : start + p.size].reshape(p.shape)
        start += p.size
    # Recovered expressions may contain parameters of their own.
    for p in (*declaration.parameters.values(), *declaration.hooks.own):
        if p.name() in values:
            p.value = values[p.name()].copy()
    return declaration


def solve_system(
    formulation: Formulation, system: ContactSystem, solver: Solver, *, passes: int = PASSES
) -> tuple[ContactSolution, Solution]:
    """Solve one step of a given system; impulses in the system's own axes, nan if the solver found no solution.

    `passes` limits the passes of a fixed point (status NO_FIXED_POINT beyond). Raises DataError if the problem cannot
    be formed. Iterations and time of the Solution are those of all passes.
    """
    n, _, r, d = system.size
    stepper = pose(formulation, system, passes)
    solution, iterations, _ = stepper.solve(solver)
    out = stepper.work.out
    if solution.claimed not in (Status.SOLVED, Status.INACCURATE):
        out[:] = np.nan
    stepping.turn_back(stepper.core, out[n + r : n + r + d * r])
    v, p_n, p_t, p_b = np.split(out.copy(), [n, n + r, n + r + d * r])
    return ContactSolution(v, p_n, p_t, p_b), replace(solution, iterations=iterations)


def first_step(
    case: Case, formulation: Formulation, h: float, normal: str | None = None, relaxation: Relaxation | None = None,
    start: tuple[Array, Array] | None = None,
) -> Stepper:  # fmt: skip
    """Return a run's first step, ready for `Stepper.problem()`; None is the case's own.

    `start` are other initial coordinates q and velocities v; the formulation's memory is empty there.
    """
    c = compiled(formulation, *case.size)
    stepper = Stepper(c, h, case.normal if normal is None else normal, case.v_th)
    stepper.follow(case, case.relaxation if relaxation is None else relaxation, 1)
    if start is not None:
        stepper.track.q, stepper.track.v = start
    stepper.begin_case(case, 0)
    return stepper


def first_problem(
    case: Case, formulation: Formulation, h: float, normal: str, relaxation: Relaxation | None = None
) -> MatrixProblem | None:
    """Return the problem of a run's first step, or None if it cannot be formed."""
    try:
        return first_step(case, formulation, h, normal, relaxation).problem()
    except DataError:
        return None
