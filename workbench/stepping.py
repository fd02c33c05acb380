"""One compiled time stepper for every formulation: begin (data, hooks, stamp, eliminate), solve, finish, advance.

The same pieces serve every caller: `run` loops over them compiled; `simulation` loops over them in Python around a
solver that is not compiled, and takes one step of a `ContactSystem` that a person gives.

    M v+ = M v + h f + J_b^T p_b + J_n^T p_n + J_t^T p_t,     q+ = q + h Gamma(q) v+   (symplectic)
                                                              q+ = q + h Gamma(q) v    (explicit, IDETC2016-60064 (7))
"""

from typing import NamedTuple

import numpy as np
from numba import njit, types

from workbench.assembly import PLAN, WORK, carry_back, eliminate, stamp
from workbench.hooks import AGAIN, CORE, GAP, GIVEN, MOREAU, REMEMBER, approach, open_contact, sliding
from workbench.kernels import INDICES, MATRIX, SOLVE, VECTOR, is_finite, put, put_rows, spread
from workbench.relaxation import is_rigid, relax, relax_across
from workbench.solution import Status

FILL = types.void(VECTOR, VECTOR, VECTOR, CORE)
"""A case's mechanics: fill(q, v, data, core) writes what `hooks.Core` names."""
ADVANCE = types.void(VECTOR, VECTOR, types.float64, VECTOR, VECTOR)
"""A case's kinematics: advance(q, v, h, data, q_next) writes q + h Gamma(q) v."""

PASSES = 50
"""Cap on the passes of a fixed point (formulary, box: iterated bounds)."""

SOLVED, SINGULAR, NOT_FINITE = int(Status.SOLVED), int(Status.SINGULAR), int(Status.NOT_FINITE)
NO_FIXED_POINT, INACCURATE = int(Status.NO_FIXED_POINT), int(Status.INACCURATE)
CUBE = types.Array(types.float64, 3, "C")


class Record(NamedTuple):
    """What a run leaves behind, K steps long: states, impulses and the problems that were solved.

    Impulses p_t and the Jacobians are in the case's own axes; M, q_, lower, upper, mu, z are those of the problem.
    """

    q: np.ndarray  # (K + 1, n_q)
    v: np.ndarray  # (K + 1, n)
    p: np.ndarray  # (K, r + d r + m): p_n, p_t, p_b
    mass: np.ndarray  # (K, n, n)
    b: np.ndarray  # (K, n)
    J: np.ndarray  # (K, r + d r, n): J_n, J_t
    rate: np.ndarray  # (K, r + d r): b_n, b_t
    eps: np.ndarray  # (K, r + d r): compliance of these rows
    r_t: np.ndarray  # (K, d r)
    phi: np.ndarray  # (K, r)
    friction: np.ndarray  # (K, r): mu of the contacts
    M: np.ndarray  # (K, n_c, n_c)
    q_: np.ndarray  # (K, n_c)
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray
    z: np.ndarray
    effort: np.ndarray  # (K, 2): iterations, passes


COUNTS = types.Array(types.int64, 2, "C")
RECORD = types.NamedTuple(
    [CUBE if name in ("mass", "J", "M") else COUNTS if name == "effort" else MATRIX for name in Record._fields], Record
)


@njit(ADVANCE, cache=True)
def advance_by_rates(q, v, h, data, q_next):
    """q + h v, for cases whose velocities are the rates of their coordinates."""
    for i in range(q.shape[0]):
        q_next[i] = q[i] + h * v[i]


@njit(types.void(CORE), cache=True)
def discretise(core):
    """b = M v + h f, the constants of the constraint rows (rates, gap term, Newton restitution, stabilisation), the
    friction coefficient that is in force, and Moreau's law's open contacts."""
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
    put(core.r_t, core.b_t)
    for i in range(core.g.shape[0]):
        core.b_b[i] = core.r_b[i] + core.g[i] / core.h
    d = core.b_t.shape[0] // core.mu.shape[0]
    for i in range(core.mu.shape[0]):
        core.frame[i, 0], core.frame[i, 1] = 1.0, 0.0
        if core.mu_s[i] > core.mu[i]:
            speed = 0.0
            for j in range(d * i, d * (i + 1)):
                speed += sliding(core, j) ** 2
            if speed <= core.v_th**2:
                core.mu[i] = core.mu_s[i]
        if core.law == MOREAU and core.phi[i] > 0.0:
            open_contact(core, i)


@njit(types.int64(PLAN, CORE, WORK), cache=True)
def pose(plan, core, work):
    """Stamp and eliminate: the problem of this pass stands in work; a Status."""
    stamp(plan, work)
    if eliminate(plan, work):
        return SINGULAR
    finite = is_finite(work.q) and is_finite(work.mu)
    for i in range(work.M.shape[0]):
        finite = finite and is_finite(work.M[i])
    return SOLVED if finite else NOT_FINITE


@njit(types.void(CORE, VECTOR), cache=True)
def turn_back(core, p_t):
    """Friction impulses from the axes in use to the case's own."""
    r = core.mu.shape[0]
    if p_t.shape[0] == 2 * r:
        for i in range(r):
            c, s = core.frame[i, 0], core.frame[i, 1]
            x, y = p_t[2 * i], p_t[2 * i + 1]
            p_t[2 * i], p_t[2 * i + 1] = c * x - s * y, s * x + c * y


@njit(types.void(types.int64, CORE, VECTOR, RECORD), cache=True)
def note_data(k, core, q, record):
    """Record step k's data, before hooks turn any axes."""
    r = core.phi.shape[0]
    put(q, record.q[k])
    put(core.v, record.v[k])
    put_rows(core.M, 0, record.mass[k])
    put(core.b, record.b[k])
    put_rows(core.J_n, 0, record.J[k])
    put_rows(core.J_t, r, record.J[k])
    put(core.b_n, record.rate[k, :r])
    put(core.b_t, record.rate[k, r:])
    put(core.eps_n, record.eps[k, :r])
    put(core.eps_t, record.eps[k, r:])
    put(core.r_t, record.r_t[k])
    put(core.phi, record.phi[k])
    put(core.mu, record.friction[k])


@njit(types.void(types.int64, WORK, types.int64, types.int64, types.int64, RECORD), cache=True)
def note_solution(k, work, n, iterations, passes, record):
    """Record step k's problem and impulses (p_t already turned back)."""
    put(work.out[n:], record.p[k])
    put_rows(work.M, 0, record.M[k])
    put(work.q, record.q_[k])
    put(work.lower, record.lower[k])
    put(work.upper, record.upper[k])
    put(work.mu, record.mu[k])
    put(work.z, record.z[k])
    record.effort[k, 0] = iterations
    record.effort[k, 1] = passes


GIVEN_T, AGAIN_T, REMEMBER_T = (types.FunctionType(t) for t in (GIVEN, AGAIN, REMEMBER))
FILL_T, ADVANCE_T, SOLVE_T = (types.FunctionType(t) for t in (FILL, ADVANCE, SOLVE))
I64 = types.int64


@njit(
    types.void(I64, CORE, FILL_T, VECTOR, VECTOR, GIVEN_T, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, RECORD),
    cache=True,
)
def begin_step(k, core, fill, data, relaxation, given, memory, own, own_start, numbers, q, v, record):
    """The data of step k at (q, v), recorded, then the formulation's own."""
    put(v, core.v)
    # Hooks add to the compliances, so last step's must go.
    spread(0.0, core.eps_b)
    spread(0.0, core.eps_n)
    spread(0.0, core.eps_t)
    fill(q, v, data, core)
    discretise(core)
    # Every call hands over the whole core, which costs a microsecond: none where all rows are rigid.
    rigid = is_rigid(relaxation)
    r, t = core.mu.shape[0], core.b_t.shape[0]
    last = np.full(0 if rigid else r + t, np.nan)
    if not rigid:
        if k > 0:
            put(record.p[k - 1, : r + t], last)
        relax(core, relaxation, last[r:])
    note_data(k, core, q, record)
    if not rigid:
        relax_across(core, relaxation, last[:r])
    put(own_start, own)
    given(core, memory, own, numbers)


@njit(types.boolean(PLAN, CORE, WORK, AGAIN_T, VECTOR, VECTOR, VECTOR), cache=True)
def finish_pass(plan, core, work, again, memory, own, numbers):
    """Carry z back to v+ and the impulses; whether the formulation asks for another pass."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    carry_back(plan, work)
    return again(core, memory, own, numbers, work.out[:n], work.out[n : n + r], work.out[n + r : n + r + t])


@njit(
    types.void(
        I64, CORE, WORK, REMEMBER_T, VECTOR, ADVANCE_T, VECTOR, types.boolean, I64, I64, VECTOR, VECTOR, RECORD, INDICES
    ),
    cache=True,
)
def end_step(k, core, work, remember, memory, advance, data, explicit, iterations, passes, q, v, record, done):
    """Remember, record and advance: (q, v) become the next state, done[0] = k + 1."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    out_v, p_n, p_t = work.out[:n], work.out[n : n + r], work.out[n + r : n + r + t]
    turn_back(core, p_t)
    remember(core, out_v, p_n, p_t, memory)
    note_solution(k, work, n, iterations, passes, record)
    if explicit:
        advance(q, v, core.h, data, record.q[k + 1])
    else:
        advance(q, out_v, core.h, data, record.q[k + 1])
    put(record.q[k + 1], q)
    put(out_v, v)
    put(out_v, record.v[k + 1])
    done[0] = k + 1


@njit(
    I64(
        PLAN, CORE, WORK, FILL_T, ADVANCE_T, VECTOR, VECTOR, GIVEN_T, AGAIN_T, REMEMBER_T, VECTOR, VECTOR, VECTOR,
        VECTOR, SOLVE_T, types.boolean, I64, VECTOR, VECTOR, RECORD, INDICES,
    ),
    cache=True,
)  # fmt: skip
def run(
    plan, core, work, fill, advance, data, relaxation, given, again, remember, own, own_start, numbers, memory, solve,
    explicit, steps, q, v, record, done,
):  # fmt: skip
    """Step from step done[0] to `steps`, from the state (q, v), which is updated; a Status."""
    info = np.zeros(1, dtype=np.int64)
    worst = SOLVED
    for k in range(done[0], steps):
        begin_step(k, core, fill, data, relaxation, given, memory, own, own_start, numbers, q, v, record)
        iterations, passes, wanted = 0, 0, True
        while wanted:
            if passes == PASSES:
                return NO_FIXED_POINT
            status = pose(plan, core, work)
            if status == SOLVED:
                status = solve(work.M, work.q, work.lower, work.upper, work.mu, plan.d, work.z, info)
            if status == INACCURATE:
                worst = INACCURATE
            elif status != SOLVED:
                return status
            iterations += info[0]
            passes += 1
            wanted = finish_pass(plan, core, work, again, memory, own, numbers)
        if not is_finite(work.out):
            return NOT_FINITE
        end_step(k, core, work, remember, memory, advance, data, explicit, iterations, passes, q, v, record, done)
    return worst
