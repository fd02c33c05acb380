"""One compiled time stepper for all formulations: begin (data, hooks, stamp, eliminate), solve, finish, advance.

All callers use the same functions: `run` is the compiled loop; `loops` has one in Python around a solver that is not
compiled, and a single step solves a given `ContactSystem`.

    M v+ = M v + h f + J_b^T p_b + J_n^T p_n + J_t^T p_t,     q+ = q + h Gamma(q) v+

or as in another scheme (`scheme`).
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import njit, types

from workbench.algorithms.components import solve_apart
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.interpreted import part
from workbench.engine.kernels import INDICES, SOLVE_T, VECTOR, copy, copy_at, is_finite, set_all
from workbench.engine.layout import Packed
from workbench.language.assemble.assembly import carry_back, eliminate, stamp
from workbench.language.assemble.plan import WORK
from workbench.language.estimate import normal_estimate
from workbench.language.hooks import AGAIN, GIVEN, REMEMBER
from workbench.mechanics.core import ADVANCE_T, CORE, FILL_T, GAP, MOREAU, approach, friction_coefficient, open_contact
from workbench.mechanics.relaxation import COUNT, is_rigid, relax, relax_across
from workbench.problems.residual import bounded_residual, contact_residual, mixed_residual
from workbench.problems.solution import Status
from workbench.step.scheme import EXPLICIT, MIDPOINT, changes, count, hold, keep_closed, pose_mean

PASSES = 50
"""Default limit of the passes of a fixed point (formulary, box: iterated bounds)."""

SOLVED, SINGULAR, NOT_FINITE = int(Status.SOLVED), int(Status.SINGULAR), int(Status.NOT_FINITE)
NO_FIXED_POINT, INACCURATE = int(Status.NO_FIXED_POINT), int(Status.INACCURATE)


@kernel(types.void(CORE))
def discretise(core):
    """Compute b = M v + h f, the constants of the rows, the friction coefficient, and Moreau's open contacts.

    The constants are rates, gap term, Newton restitution and stabilisation.
    """
    n = core.v.shape[0]
    for i in range(n):
        s = core.h * core.f[i]
        for j in range(n):
            s += core.M[i, j] * core.v[j]
        core.b[i] = s
    for i in range(core.phi.shape[0]):
        # Newton restitution acts on approaching contacts only (formulary, normal law iii).
        core.b_n[i] = core.r_n[i] + core.e[i] * approach(core, i)
        if core.law == GAP:
            core.b_n[i] += core.phi[i] / core.h
    copy(core.r_t, core.b_t)
    for i in range(core.g.shape[0]):
        core.b_b[i] = core.r_b[i] + core.g[i] / core.h
    for i in range(core.mu.shape[0]):
        core.frame[i, 0], core.frame[i, 1] = 1.0, 0.0
        core.mu[i] = friction_coefficient(core, i)
        if core.law == MOREAU and core.phi[i] > 0.0:
            open_contact(core, i)


@kernel(types.void(CORE, VECTOR))
def turn_back(core, p_t):
    """Rotate friction impulses from the current axes to the case's own."""
    r = core.mu.shape[0]
    if p_t.shape[0] == 2 * r:
        for i in range(r):
            c, s = core.frame[i, 0], core.frame[i, 1]
            x, y = p_t[2 * i], p_t[2 * i + 1]
            p_t[2 * i], p_t[2 * i + 1] = c * x - s * y, s * x + c * y


GIVEN_T, AGAIN_T, REMEMBER_T = (types.FunctionType(t) for t in (GIVEN, AGAIN, REMEMBER))
I64 = types.int64
NO_ESTIMATE, LAST, START = range(3)
BOUNDED, CONIC, COULOMB, MIXED = range(4)
RESIDUAL = {
    "LCP": BOUNDED, "MLCP": BOUNDED, "equations": BOUNDED, "conic QP": CONIC, "Coulomb NCP": COULOMB,
    "mixed NCP": MIXED,
}  # fmt: skip
"""Residual for each class of problem."""


class RunBuffer(Packed):
    """State of a compiled run: (q, v), constants, memory, and its record, a row a step."""

    sizes = ("n_q", "n", "n_data", "n_memory", "n_own", "n_numbers", "n_out", "r", "steps", "width")
    integers = ("passes", "effort", "since")
    fields: ClassVar[dict[str, tuple]] = {
        "passes": (),  # limit of the passes of a fixed point in each step
        "q": ("n_q",),
        "v": ("n",),
        "q_next": ("n_q",),
        "scratch_q": ("n_q",),
        "q_at": ("n_q",),  # where the data of a step are evaluated, and the velocity for its forces
        "v_at": ("n",),
        "theta": (1,),  # share of the step at which the next step's laws hold
        "v_before": ("n",),  # velocity one step ago, or v itself if the velocities may have jumped since
        "since": ("r", 3),  # state of each contact, `scheme.PRESSED` and so on
        "memory_kept": ("n_memory",),  # the memory at the beginning of a step, for repeating it
        "out_kept": ("n_out",),
        "data": ("n_data",),  # `Case.data`
        "relaxation": (COUNT,),
        "memory": ("n_memory",),
        "own_start": ("n_own",),
        "numbers": ("n_numbers",),
        "residual": (1,),  # of the last pass
        "effort": ("steps", 2),  # iterations and passes
        "rows": ("steps", "width"),  # [q, `Core.recorded`, `Work.recorded`]
    }

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


TRACK = RunBuffer.compiled


class Functions(NamedTuple):
    """The compiled functions called in a run: the case's, the formulation's hooks, and kernels of solvers."""

    fill: Any
    advance: Any
    given: Any
    again: Any
    remember: Any
    lcp: Any  # for `normal_estimate`
    solve: Any


class StepSettings(NamedTuple):
    """Other settings of a run.

    The estimate of p_bar, tangents a contact, and the scheme; the kind of problem, the largest residual of a verified
    solution, and whether an unverified one ends the loop.
    """

    estimate: int  # `NO_ESTIMATE`, `LAST` or `START`
    d: int
    scheme: int  # `scheme.KINDS`
    theta: float
    kind: int  # `RESIDUAL`
    tolerance: float
    strict: bool


FUNCTIONS = argument_type(Functions, FILL_T, ADVANCE_T, GIVEN_T, AGAIN_T, REMEMBER_T, SOLVE_T, SOLVE_T)
SETTINGS = argument_type(StepSettings, I64, I64, I64, types.float64, I64, types.float64, types.boolean)

# The next are compiled as parts of `run`, and interpreted if the solver or the case is not compiled. Functions called
# by them are plain functions in Python, since interpreted code would otherwise call compiled ones.


@part(inline=True)
def evaluate(core, track, functions, settings):
    """Evaluate the case's data at the scheme's state, for velocities v at the start of the step."""
    q, v, h = track.q, track.v, core.h
    copy(v, core.v)
    copy(q, track.q_at)
    copy(v, track.v_at)
    if settings.scheme == MIDPOINT:
        functions.advance(q, v, track.theta[0] * h, track.data, track.q_at)
        for i in range(v.shape[0]):
            track.v_at[i] += 0.5 * (v[i] - track.v_before[i])
    elif settings.theta < 1.0:
        functions.advance(q, v, (1.0 - settings.theta) * h, track.data, track.q_at)
    functions.fill(track.q_at, track.v_at, track.data, core)
    if settings.scheme == MIDPOINT:
        pose_mean(core, track.theta[0])


@kernel(types.void(I64, CORE, WORK, TRACK, FUNCTIONS, SETTINGS))
def begin_step(k, core, work, track, functions, settings):
    """Evaluate and record the data of step k, then the formulation's own; work.out is still the last step's."""
    q, own, memory = track.q, core.own, track.memory
    mean = settings.scheme == MIDPOINT
    if mean:
        copy(memory, track.memory_kept)
        copy(work.out, track.out_kept)
    # Hooks add to the compliances, so those of the last step must be cleared.
    set_all(0.0, core.eps_b)
    set_all(0.0, core.eps_n)
    set_all(0.0, core.eps_t)
    evaluate(core, track, functions, settings)
    if mean:
        keep_closed(core, track.since)
    discretise(core)
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    rigid = is_rigid(track.relaxation)
    if mean and rigid:
        hold(core, track.since)
    if not rigid:
        relax(core, track.relaxation, work.out[n + r : n + r + t])
    copy_at(q, track.rows[k], 0)
    copy_at(core.recorded, track.rows[k], q.shape[0])
    if not rigid:
        relax_across(core, track.relaxation, work.out[n : n + r])
    copy(track.own_start, own)
    if settings.estimate != NO_ESTIMATE:
        normal_estimate(core, memory, settings.estimate == START, functions.lcp)
    functions.given(core, memory, own, track.numbers)


@njit(inline="always")
def pose(core, work):
    """Stamp and eliminate, so that work holds the problem of this pass; returns a Status."""
    stamp(core.theta, work)
    if eliminate(work):
        return SINGULAR
    return SOLVED if is_finite(work.posed) else NOT_FINITE


@njit(inline="always")
def finish_pass(core, work, track, again):
    """Compute v+ and the impulses from z; returns whether the formulation asks for another pass."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    carry_back(work)
    v, p_n, p_t = work.out[:n], work.out[n : n + r], work.out[n + r : n + r + t]
    return again(core, track.memory, core.own, track.numbers, v, p_n, p_t)


@kernel(types.float64(WORK, I64, I64))
def residual_of(work, kind, d):
    """Return the residual of work.z in the current problem, as in `problems`."""
    if kind == MIXED:
        return mixed_residual(work.M, work.q, work.lower, work.upper, work.mu, work.info[1:], work.z)
    if kind != BOUNDED:
        return contact_residual(work.M, work.q, work.mu, d, kind == CONIC, work.z)
    return bounded_residual(work.M, work.q, work.lower, work.upper, work.z)


@kernel(types.Tuple((I64, types.float64))(WORK, SETTINGS, SOLVE_T))
def solve_posed(work, settings, solve):
    """Solve the current problem by a compiled solver; returns a Status and the problem's residual of work.z.

    A result that passes the residual is SOLVED, whatever the solver claims, and no other is.
    """
    status = solve_apart(solve, work.M, work.q, work.lower, work.upper, work.mu, settings.d, work.z, work.info)
    residual = residual_of(work, settings.kind, settings.d) if is_finite(work.z) else np.inf
    if residual <= settings.tolerance:
        return SOLVED, residual
    return INACCURATE if status == SOLVED else status, residual


@kernel(I64(I64, CORE, WORK, TRACK, AGAIN_T, SOLVE_T, SETTINGS))
def solve_passes(k, core, work, track, again, solve, settings):
    """Make passes of step k by a compiled solver until none is needed; returns a Status.

    Unless it is SOLVED or, without `settings.strict`, INACCURATE, `work` holds the problem of the failed pass, and
    `track.effort` counts the passes before it. `track.residual` is that of the last pass.
    """
    worst, wanted = SOLVED, True
    track.effort[k, 0], track.effort[k, 1] = 0, 0
    while wanted:
        if track.effort[k, 1] == track.passes:
            return NO_FIXED_POINT
        status = pose(core, work)
        if status == SOLVED:
            status, track.residual[0] = solve_posed(work, settings, solve)
        if status == INACCURATE and not settings.strict:
            worst = INACCURATE
        elif status != SOLVED:
            return status
        track.effort[k, 0] += work.info[0]
        track.effort[k, 1] += 1
        wanted = finish_pass(core, work, track, again)
    return worst if is_finite(work.out) else NOT_FINITE


@part(inline=True)
def is_made_again(core, work, track, settings):
    """Return whether the step must be repeated with its laws on v+ (`scheme`); if so, restore its initial memory."""
    n, r = core.v.shape[0], core.mu.shape[0]
    again = settings.scheme == MIDPOINT and track.theta[0] < 1.0
    if again:
        again = changes(core, track.since, work.out[:n], work.out[n : n + r])
    if again:
        copy(track.memory_kept, track.memory)
        copy(track.out_kept, work.out)
        track.theta[0] = 1.0
    return again


@part(inline=False)
def move(core, v, track, functions, settings, q_next):
    """Compute the coordinates after the step, v being the velocities in its laws."""
    q, q_at, data = track.q, track.q_at, track.data
    if settings.scheme == MIDPOINT:
        # q + h Gamma(q_at) v; advancing by zero time normalises quaternions.
        functions.advance(q_at, v, core.h, data, q_next)
        functions.advance(q_at, v, 0.0, data, track.scratch_q)
        for i in range(q.shape[0]):
            q_next[i] += q[i] - track.scratch_q[i]
        copy(q_next, track.scratch_q)
        functions.advance(track.scratch_q, v, 0.0, data, q_next)
    elif settings.scheme == EXPLICIT:
        functions.advance(q, track.v, core.h, data, q_next)
    else:
        functions.advance(q_at, v, settings.theta * core.h, data, q_next)


@kernel(types.boolean(I64, CORE, WORK, TRACK, FUNCTIONS, SETTINGS))
def end_step(k, core, work, track, functions, settings):
    """Remember, record and advance, so that (q, v) are the next state; returns False if the step must be repeated."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    q, v, out_v = track.q, track.v, work.out[:n]
    p_n, p_t = work.out[n : n + r], work.out[n + r : n + r + t]
    finished = not is_made_again(core, work, track, settings)
    if finished:
        if settings.scheme == MIDPOINT:
            count(core, track.since, out_v, p_n)
        turn_back(core, p_t)
        functions.remember(core, track.memory, core.own, track.numbers, out_v, p_n, p_t)
        copy_at(work.recorded, track.rows[k], q.shape[0] + core.recorded.shape[0])
        move(core, out_v, track, functions, settings, track.q_next)
        copy(track.q_next, q)
        if settings.scheme == MIDPOINT and track.theta[0] < 1.0:
            copy(v, track.v_before)
            for i in range(n):
                v[i] += (out_v[i] - v[i]) / track.theta[0]
        else:
            copy(out_v, v)
            copy(v, track.v_before)
        track.theta[0] = settings.theta
    return finished


@kernel(I64(I64, I64, CORE, WORK, TRACK, FUNCTIONS, SETTINGS, INDICES))
def run(start, steps, core, work, track, functions, settings, done):
    """Run from step `start` to `steps`; returns a Status. done[0] receives the number of finished steps.

    `track` receives all else. The run ends before `steps` at a step without a solution (`solve_passes`), which has then
    begun.
    """
    worst, done[0] = SOLVED, start
    while done[0] < steps:
        k = done[0]
        begin_step(k, core, work, track, functions, settings)
        status = solve_passes(k, core, work, track, functions.again, functions.solve, settings)
        if status == INACCURATE and not settings.strict:
            worst = INACCURATE
        elif status != SOLVED:
            return status
        if end_step(k, core, work, track, functions, settings):
            done[0] = k + 1
    return worst
