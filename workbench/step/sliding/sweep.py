"""Sliding contacts of many systems that differ in their data: forces and accelerations at one instant, in loops.

    answer = sweep_sliding(sliding_lcp, rod, mu_u=np.linspace(0, 3, 1000))    # lambda_nu (1000, 1)

What `sweep` is for time steps: a datum that varies has an axis for the systems in front, and behind it the datum's own
shape or a number for all of its entries. Blocks and accelerations are worked out for all systems at once, the problem
of each is stamped, eliminated, solved and carried back in a compiled loop, as by `solve_sliding`, to the same bits.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numba import types

from workbench.algorithms.batch import Claims, compiled_solver, in_parts
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, SOLVE_T, VECTOR, copy, is_finite, set_all
from workbench.language.assemble.assembly import carry_back, eliminate, stamp
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import WORK
from workbench.language.formulation import Formulation
from workbench.mechanics.contact import Array
from workbench.problems.solution import Status
from workbench.step.scheme import SYMPLECTIC
from workbench.step.sliding.system import Multipliers, SlidingStack, SlidingSystem
from workbench.step.stepping import BOUNDED, NO_ESTIMATE, SETTINGS, StepSettings, solve_posed
from workbench.step.sweep import COUNTS, ITERATIONS, STATUS, check_entries, check_masses, varied_data

I64 = types.int64
SOLVED, INACCURATE = int(Status.SOLVED), int(Status.INACCURATE)
SINGULAR, NOT_FINITE = int(Status.SINGULAR), int(Status.NOT_FINITE)
VARIES = tuple(f.name for f in fields(SlidingStack))


@dataclass(frozen=True, eq=False)
class SlidingSweep(Claims):
    """lambda_nb (B, m_b), lambda_nu (B, m_u) [N] and a (B, n) [m/s2, rad/s2], nan without an answer.

    status (B,) `Status` numbers that the solver claims, `residuals` (B,) the problems' own, inf without an answer;
    iterations (B,); `seconds` is wall time of the loops. Where several answers exist the solver has chosen one.
    """

    lambda_nb: Array
    lambda_nu: Array
    acceleration: Array
    status: np.ndarray
    residuals: Array
    iterations: np.ndarray
    seconds: float
    solver: str


@kernel(types.void(I64, I64, MATRIX, WORK, SETTINGS, SOLVE_T, MATRIX, COUNTS, VECTOR), nogil=True)
def sliding_part(first, last, theta, work, settings, solve, out, counts, residuals):
    """Solve the problems `first` to `last`, of parameters theta (B, n_theta), into out, counts (B, 3) and residuals."""
    for k in range(first, last):
        status = NOT_FINITE
        if is_finite(theta[k]):
            stamp(theta[k], work)
            status = SINGULAR if eliminate(work) else SOLVED
        if status == SOLVED:
            set_all(0.0, work.z)
            status, residuals[k] = solve_posed(work, settings, solve)
            counts[k, ITERATIONS] = work.info[0]
        if status in (SOLVED, INACCURATE):
            carry_back(work)
            copy(work.out, out[k])
        else:
            set_all(np.nan, out[k])
            residuals[k] = np.inf
        counts[k, STATUS] = status


def sweep_sliding(
    formulation: Formulation, system: SlidingSystem, *, solver: str | None = None, threads: int = 1, **varied: Any
) -> SlidingSweep:
    """Solve B systems of sliding contacts under a sliding formulation by a compiled solver (default: lemke).

    `varied`: any datum of `SlidingSystem`, (B, its shape) or (B,). Data that are not finite give their own system the
    status NOT_FINITE, a singular A, as dependent bilateral rows make it, SINGULAR. Raises DataError for shapes that do
    not fit, data that make no system, or a solver that takes no such problems; UnknownNameError for a datum.
    """
    B, data = varied_data(system, VARIES, "datum of sliding contacts", varied, _check)
    c = compiled(formulation, *system.size)
    method = compiled_solver(solver, c.kind)
    stack = SlidingStack(**{name: data.get(name, getattr(system, name)) for name in VARIES})
    theta, blocks = np.repeat(c.theta[None], B, axis=0), stack.blocks
    start = 0
    for name, view in c.views(c.theta).items():
        block = getattr(blocks, name.replace("_", ""))
        theta[:, start : start + view.size] = block.reshape(*block.shape[: block.ndim - view.ndim], view.size)
        start += view.size
    counts, residuals = np.zeros((B, 3), dtype=np.int64), np.empty(B)
    out = np.empty((B, sum(system.size)))
    settings = StepSettings(NO_ESTIMATE, 2, SYMPLECTIC.kind, SYMPLECTIC.theta, BOUNDED, method.tolerance, False)

    def part(first: int, last: int) -> None:
        sliding_part(first, last, theta, c.workspace(), settings, method.kernel, out, counts, residuals)

    seconds = in_parts(part, B, threads)
    found = Multipliers(out[:, : system.m_b], out[:, system.m_b :])
    status, iterations, _ = counts.T
    return SlidingSweep(*found, stack.acceleration(found), status, residuals, iterations, seconds, method.name)


def _check(name: str, value: Array) -> None:
    """Raise DataError, naming the system, for finite values (B, ...) that make no system."""
    if name == "M":
        check_masses(value)
    if name.startswith("mu"):
        check_entries(name, value, value < 0, "a nonnegative number")
    if name.startswith("xi"):
        check_entries(name, value, np.isfinite(value) & (np.abs(value) != 1), "the sign of a velocity, +1 or -1,")
