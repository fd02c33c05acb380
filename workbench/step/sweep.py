"""Parameter sweep: one step of many systems with different data, in compiled loops.

    answer = sweep_steps(coulomb, block, mu=np.linspace(0, 1, 1000))      # p_t (1000, 2), one row a value of mu
    answer = sweep_steps(box, block, v=velocities, h=steps, threads=2)    # v (B, n), h (B,): they vary together

A varied datum has a leading axis for the systems, followed by the datum's own shape, or nothing for one number for all
of its entries; all other data are those of the given system. Every system makes its step as in `solve_system`: data,
hooks with all their passes, elimination and recovery are the stepper's own functions, and z has the same bits. A
failure of one system is its status. There is no Python between systems; threads share them in equal parts.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from workbench.algorithms.batch import Claims, compiled_solver, in_parts
from workbench.algorithms.escalation import AUTO, HOPELESS, in_steps
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE_T, VECTOR, copy, is_finite, set_all
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import WORK
from workbench.language.estimate import normal_estimate
from workbench.language.formulation import Formulation
from workbench.mechanics.contact import Array, ContactSystem, _real, normal_law_for
from workbench.mechanics.core import CORE
from workbench.problems.solution import Status
from workbench.step.one_step import filled, pose, solve_system
from workbench.step.stepper import Stepper
from workbench.step.stepping import (
    AGAIN_T,
    GIVEN_T,
    NO_ESTIMATE,
    PASSES,
    SETTINGS,
    START,
    TRACK,
    discretise,
    solve_passes,
    turn_back,
)
from workbench.support.errors import DataError, UnknownNameError

I64 = types.int64
COUNTS = types.Array(types.int64, 2, "C")
SOLVED, INACCURATE, REFUSED = int(Status.SOLVED), int(Status.INACCURATE), int(Status.REFUSED)
NOT_FINITE, NO_FIXED_POINT = int(Status.NOT_FINITE), int(Status.NO_FIXED_POINT)
STATUS, ITERATIONS, EFFORT = 0, 1, 2

VARIES = tuple(f.name for f in fields(ContactSystem) if f.name not in ("normal", "heading"))
NONNEGATIVE = ("mu", "mu_s", "e", "eps_n", "eps_t", "eps_b", "v_th")


@dataclass(frozen=True, eq=False)
class StepSweep(Claims):
    """v+ (B, n) [m/s, rad/s], p_n (B, r), p_t (B, d r), p_b (B, m) [N s], axes of the system; nan without a solution.

    status (B,) `Status` numbers claimed by the solver, `residuals` (B,) the problems' own (`Problem.residual`) in the
    last pass, inf without a solution; iterations (B,) over all passes, passes (B,); `seconds` is wall time of the
    loops. `others` counts the systems solved by other methods of the chain (`escalation`), by name.
    """

    v: Array
    p_n: Array
    p_t: Array
    p_b: Array
    status: np.ndarray
    residuals: Array
    iterations: np.ndarray
    passes: np.ndarray
    seconds: float
    solver: str
    others: dict[str, int] = field(default_factory=dict)


@kernel(types.boolean(CORE))
def is_uneven(core):
    """Return whether the tangents of a contact in space have different compliances, which rotated axes would mix."""
    apart = False
    if core.J_t.shape[0] == 2 * core.mu.shape[0]:
        for i in range(core.mu.shape[0]):
            apart |= core.eps_t[2 * i] != core.eps_t[2 * i + 1]
    return apart


@kernel(types.boolean(CORE))
def is_turned(core):
    """Return whether any contact's axes are rotated."""
    turned = False
    for i in range(core.mu.shape[0]):
        turned |= core.frame[i, 1] != 0.0
    return turned


class StepFunctions(NamedTuple):
    """The compiled functions called in a single step, as in `stepping.Functions`."""

    given: Any
    again: Any
    lcp: Any
    solve: Any


class VariedData(NamedTuple):
    """rows (B, .): the varied data; at (.,): their positions in the core's buffer; shared: all other data."""

    rows: Array
    at: np.ndarray
    shared: Array


class SweepResults(NamedTuple):
    """out (B, n_o), counts (B, 3) of status, iterations and passes, residuals (B,)."""

    out: Array
    counts: np.ndarray
    residuals: Array


FUNCTIONS = argument_type(StepFunctions, GIVEN_T, AGAIN_T, SOLVE_T, SOLVE_T)
VARIED = argument_type(VariedData, MATRIX, INDICES, VECTOR)
RESULTS = argument_type(SweepResults, MATRIX, COUNTS, VECTOR)


@njit(inline="always")
def begin(core, work, track, functions, estimate):
    """Evaluate the formulation's data of a first step, those of the core being in place; returns a `Status`."""
    uneven = is_uneven(core)
    discretise(core)
    set_all(np.nan, track.memory)
    set_all(np.nan, work.out)
    set_all(0.0, work.z)
    if estimate != NO_ESTIMATE:
        normal_estimate(core, track.memory, estimate == START, functions.lcp)
    functions.given(core, track.memory, core.own, track.numbers)
    return REFUSED if uneven and is_turned(core) else SOLVED


@kernel(
    types.void(I64, I64, VARIED, CORE, WORK, TRACK, FUNCTIONS, SETTINGS, RESULTS),
    nogil=True,
)
def sweep_part(first, last, varied, core, work, track, functions, settings, results):
    """Make the steps of systems `first` to `last`."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    for k in range(first, last):
        status, counts = NOT_FINITE, results.counts[k]
        track.effort[0, 0], track.effort[0, 1] = 0, 0
        if is_finite(varied.rows[k]):
            copy(varied.shared, core.whole)
            for i in range(varied.at.shape[0]):
                core.whole[varied.at[i]] = varied.rows[k, i]
            status = begin(core, work, track, functions, settings.estimate)
        if status == SOLVED:
            status = solve_passes(0, core, work, track, functions.again, functions.solve, settings)
        if status in (SOLVED, INACCURATE):
            results.residuals[k] = track.residual[0]
            turn_back(core, work.out[n + r : n + r + t])
            copy(work.out, results.out[k])
        else:
            set_all(np.nan, results.out[k])
            results.residuals[k] = np.inf
        counts[STATUS], counts[ITERATIONS], counts[EFFORT] = status, track.effort[0, 0], track.effort[0, 1]


def sweep_steps(
    formulation: Formulation, system: ContactSystem, *, solver: str | None = None, threads: int = 1,
    passes: int = PASSES, **varied: Any,
) -> StepSweep:  # fmt: skip
    """Solve one step of B systems under a formulation by a compiled solver (default: the one to round-off).

    `varied`: any datum of `ContactSystem` except the normal law and the headings, (B, its shape) or (B,). Gaps phi
    select the normal law as they do there. `passes` limits the passes of a fixed point. A system with data that are not
    finite gets the status NOT_FINITE. Raises DataError for inconsistent shapes, invalid data (negative friction, M not
    positive definite), or a solver that does not accept these problems; UnknownNameError for an unknown datum.
    """
    B, data = varied_data(system, VARIES, "contact datum", varied, _check)
    if "phi" in data:
        law = normal_law_for(system.normal, np.append(data["phi"], system.phi))
        system = replace(system, normal=law)
    rows = np.concatenate([value.reshape(B, int(np.prod(value.shape[1:]))) for value in data.values()], axis=1)
    c = compiled(formulation, *system.size)
    method = compiled_solver(solver, c.kind)
    reason = _objection(formulation, system, method)
    if reason:
        raise DataError(reason)
    n, m, r, d = system.size
    results = SweepResults(np.empty((B, n + r + d * r + m)), np.zeros((B, 3), dtype=np.int64), np.empty(B))

    def part(first: int, last: int) -> None:
        s: Stepper = filled(formulation, system, passes)
        shared = s.core.buffer.copy()
        at = np.concatenate([np.arange(len(shared))[s.core.place(name)] for name in data])
        functions = StepFunctions(s.given, s.again, s.lcp(method.kernel), method.kernel)
        sweep_part(
            first, last, VariedData(rows, at, shared), s.core, s.work, s.track, functions, s.settings(method),
            results,
        )  # fmt: skip

    seconds = in_parts(part, B, threads)
    others = take_over(formulation, system, data, passes, results) if solver is None else {}
    v, p_n, p_t, p_b = np.split(results.out, [n, n + r, n + r + d * r], axis=1)
    status, iterations, effort = results.counts.T
    return StepSweep(v, p_n, p_t, p_b, status, results.residuals, iterations, effort, seconds, method.name, others)


def take_over(
    formulation: Formulation, system: ContactSystem, data: dict[str, Array], passes: int, results: SweepResults
) -> dict[str, int]:
    """Solve by the chain the systems that the compiled method did not; returns how many each method has solved."""
    chain, others, lost = in_steps(AUTO, compiled(formulation, *system.size).kind), Counter[str](), 0
    closed = SOLVED, NOT_FINITE, REFUSED, NO_FIXED_POINT
    for k in np.flatnonzero(~np.isin(results.counts[:, STATUS], closed)):
        own = replace(system, **{name: value[k] for name, value in data.items()})
        try:
            contact, solution = solve_system(formulation, own, chain, passes=passes)
        except DataError:
            # Without a problem there is nothing to solve.
            continue
        results.counts[k, STATUS], results.residuals[k] = int(solution.claimed), np.inf
        if solution.claimed in (Status.SOLVED, Status.INACCURATE):
            results.out[k] = np.concatenate([contact.v, contact.p_n, contact.p_t, contact.p_b])
            results.residuals[k] = solution.residual
            others[solution.solver] += 1
        lost = 0 if solution.verified else lost + 1
        if lost == HOPELESS:
            break
    others.pop(chain.name, None)
    return dict(others)


def _objection(formulation: Formulation, system: ContactSystem, method: Any) -> str | None:
    """Return the solver's objection to the given system's problem; kernels themselves never refuse."""
    try:
        return method.why_not(pose(formulation, system).problem())
    except DataError:
        # The given system's problem cannot be formed; those of the sweep may.
        return None


def varied_data(
    system: Any, names: Sequence[str], kind: str, varied: dict[str, Any], check: Callable[[str, Array], None]
) -> tuple[int, dict[str, Array]]:
    """Return B and the varied data by name (B, shape of the system's own), numbers being expanded to all entries."""
    if not varied:
        raise DataError(f"nothing varies; give some of {', '.join(names)}, each with an axis for the systems in front")
    found: dict[str, Array] = {}
    B = -1
    for name, given in varied.items():
        if name not in names:
            raise UnknownNameError(kind, name, list(names))
        shape, value = np.shape(getattr(system, name)), _real(name, given)
        B = len(value) if B < 0 and value.ndim else B
        if value.shape not in ((B,), (B, *shape)):
            wanted = "(B,)" if B < 0 else f"{(B, *shape)} or {(B,)}" if shape else f"{(B,)}"
            raise DataError(f"{name} has shape {value.shape}; {wanted} is needed, B systems on the first axis")
        if value.ndim == 1:
            value = value.reshape(-1, *(1,) * len(shape))
        found[name] = np.broadcast_to(value, (B, *shape))
        check(name, found[name])
    return B, found


def _check(name: str, value: Array) -> None:
    """Raise DataError, naming the system, for finite but invalid values (B, ...)."""
    if name == "M":
        check_masses(value)
    if name == "h":
        check_entries(name, value, value <= 0, "a positive number")
    if name in NONNEGATIVE:
        check_entries(name, value, value < 0, "a nonnegative number")


def check_entries(name: str, value: Array, wrong: NDArray[np.bool_], right: str) -> None:
    """Raise DataError for the first entry of `value` that is `wrong`."""
    where = np.argwhere(wrong)
    if len(where):
        raise DataError(f"{name}{where[0].tolist()} = {value[tuple(where[0])]:g}; {right} is needed")


def check_masses(value: Array) -> None:
    """Raise DataError for the first finite matrix of `value` (B, n, n) that is not symmetric positive definite."""
    finite = np.flatnonzero(np.isfinite(value).all(axis=(1, 2)))
    M = value[finite]
    size = np.abs(M).max(axis=(1, 2), initial=0.0)
    apart = np.abs(M - np.swapaxes(M, 1, 2)).max(axis=(1, 2), initial=0.0)
    if (apart > 1e-10 * size).any():
        raise DataError(f"the mass matrix M[{finite[np.argmax(apart > 1e-10 * size)]}] is not symmetric")
    flat = np.linalg.eigvalsh(M)[:, 0] <= M.shape[1] * np.finfo(float).eps * size
    if flat.any():
        raise DataError(f"the mass matrix M[{finite[np.argmax(flat)]}] is not positive definite")
