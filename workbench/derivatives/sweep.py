"""Derivatives of a recorded motion, step after step, forward and in reverse: the compiled part.

A step maps inputs x = [q, v, last step's v+, p_n, p_t, p_b, data of the case] to the next ones, through: contact
data y(x), differentiated by differences along tangents or along each input; the mixed system A(y), linear in y; its
solution, differentiated by the linearised law (`linearised`); q+, differentiated by differences. In reverse, the
adjoint of y is known before y is varied, so that each input takes two evaluations of the contact data, whatever the
parameters.

Steps whose modes do not all hold by a clear margin, whose data jump within the reach of the differences, or whose
outputs are not unique because of redundant contacts, are left to the caller.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from workbench.assemble.plan import WORK
from workbench.derivatives.elimination import factorise, find_kernel, solve_factorised
from workbench.derivatives.linearised import due_to_sources, find_columns, find_matrix, find_sources
from workbench.derivatives.modes import (
    NO_PLACE,
    find_modes,
    is_between,
)  # fmt: skip
from workbench.derivatives.system import SYSTEM
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import FASTER, MATRIX, VECTOR, copy, copy_at, is_finite, lu_factor, lu_solve, set_all
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch
from workbench.mechanics.core import CORE
from workbench.step.stepping import FUNCTIONS, OTHER, SETTINGS, SOLVED, TRACK, begin_step, pose, residual_of

SHIFT = 1e-5
"""Fraction of a parameter and of the state by which they are varied for differences of order two."""
WIDTHS, WIDE = (3e-2, 1e-3, 3e-5, 1e-6), 1e-3
"""The same of order four, of the contact data: the first at which these are smooth enough; and of the coordinates."""
ROUGH, LEVEL, ROUNDED = 1e-5, 1e-4, 1e-14
"""Relative disagreement of slopes of orders two and four up to which the latter are known to its square; share of the
data per unit of the input that counts as the size of a slope; fraction of the largest data that may be rounding."""
CLEAR = 1e-6
"""Smallest relative margin of modes that need no closer examination."""
VERIFIED = 1e-9
"""Largest residual with which a recorded result counts as the solution."""
LEAST = 1e-11
"""Margin that counts as zero."""
CONSISTENT, SAME, ASIDE = 1e-7, 1e-7, 1e-3
"""Fractions of the terms of a right-hand side, or an output: the part that may lie outside the range where redundant
rows are consistent, and the allowed dependence of an output on the load distribution of redundant contacts; fraction of
the impulses by which that distribution is varied to test this."""
I64, F64 = types.int64, types.float64
CUBE, CODES = types.Array(types.float64, 3, "C"), types.Array(types.int64, 2, "C")


class Sweep(Packed):
    """Work space for the derivative of a step. n_x inputs, n_y contact data: the parameters of the mixed system and the
    axes in use; c columns of the mixed system, K tangents."""

    sizes = ("n_q", "n", "n_o", "n_d", "n_x", "n_y", "n_f", "X", "B", "rows", "columns", "nnz", "K")
    integers = ("asks", "row_of", "column_of", "order", "coefficient", "pivots", "active")
    fields: ClassVar[dict[str, tuple]] = {
        "asks": (),  # whether the impulses of a step have an effect on the next
        "row_of": ("nnz",),
        "column_of": ("nnz",),
        "order": ("X",),
        "coefficient": ("B",),  # index of a set's coefficient among the problem's, -1 for none
        "active": ("n_x",),  # inputs that reverse mode differentiates
        "x": ("n_x",),
        "unit": ("n_x",),  # size of an input
        "moved": ("n_x",),
        "y": ("n_y",),
        "largest": (1,),  # largest of the finite y
        "ahead": ("n_y",),
        "behind": ("n_y",),
        "w": ("columns",),  # [free unknowns, solution, 1]
        "raw": ("n_o",),  # the solution in the axes in use
        "LU": ("n_f", "n_f"),
        "pivots": ("n_f",),
        "q_ahead": ("n_q",),
        "dy": ("K", "n_y"),
        "answers": ("K", "n_o"),
        "terms": ("K",),  # sizes of the terms of their sums
    }

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


SWEEP = Sweep.compiled


class Machine(NamedTuple):
    """Data of a step: the stepper's parts, and work space for its derivative."""

    core: Any
    work: Any
    track: Any
    functions: Any
    settings: Any
    system: Any
    sweep: Any


MACHINE = argument_type(Machine, CORE, WORK, TRACK, FUNCTIONS, SETTINGS, SYSTEM, SWEEP)


@kernel(types.void(MACHINE, VECTOR))
def enter(m, x):
    """Copy the inputs x (n_x,) to the beginning of a step."""
    core, work, track = m.core, m.work, m.track
    n_q, n, r, t = track.q.shape[0], core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    after = n_q + n
    for i in range(n_q):
        track.q[i] = x[i]
    for i in range(n):
        track.v[i] = x[n_q + i]
    for i in range(work.out.shape[0]):
        work.out[i] = x[after + i]
    # The default memory (`hooks.remember_impulses`).
    for i in range(min(r + t, track.memory.shape[0])):
        track.memory[i] = x[after + n + i]
    for i in range(track.data.shape[0]):
        track.data[i] = x[after + work.out.shape[0] + i]


@kernel(types.void(MACHINE))
def begin(m):
    """Compute the contact data of the entered step in the core. A separate kernel, because inlining by numba shares
    names with the caller."""
    begin_step(0, m.core, m.work, m.track, m.functions, m.settings)


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def contact_data(m, x, y):
    """Compute the contact data y (n_y,) of a step with the inputs x (n_x,); they are also left in the core."""
    core, r = m.core, m.core.mu.shape[0]
    enter(m, x)
    begin(m)
    copy_at(core.theta, y, 0)
    for i in range(r):
        k = y.shape[0] - 2 * (r - i)
        y[k], y[k + 1] = core.frame[i, 0], core.frame[i, 1]


@kernel(types.void(I64, MATRIX, MACHINE))
def recall(k, rows, m):
    """Load the inputs of step k from the record of a motion, and the solution into `work`."""
    s, n_q, n, n_o = m.sweep, m.track.q.shape[0], m.core.v.shape[0], m.work.out.shape[0]
    for i in range(n_q + n + n_o):
        s.x[i] = rows[k, i]
    for i in range(m.work.z.shape[0]):
        m.work.z[i] = rows[k, n_q + n + n_o + i]


@kernel(types.boolean(MACHINE))
def is_posed(m):
    """Pose the problem of the contact data in the core; return whether it can be posed."""
    return pose(m.core, m.work) == SOLVED


@kernel(types.boolean(MACHINE))
def stand(m):
    """Pose the step of the inputs x, with its solution in `work`; return whether all modes hold by a clear margin."""
    work, s, p = m.work, m.sweep, m.system
    contact_data(m, s.x, s.y)
    if not is_posed(m):
        return False
    if m.settings.kind != OTHER and not residual_of(work, m.settings.kind, m.settings.d) <= VERIFIED:
        return False
    order, A, M, X = s.order, p.A, work.M, p.x.shape[0]
    for a in range(X):
        i = order[a]
        p.q[a], p.x[a], p.lower[a], p.upper[a] = work.q[i], work.z[i], work.lower[i], work.upper[i]
        for b in range(X):
            A[a, b] = M[i, order[b]]
    for i in range(s.coefficient.shape[0]):
        p.mu[i] = work.mu[s.coefficient[i]] if s.coefficient[i] >= 0 else 0.0
    find_modes(p, LEAST)
    clear = True
    for a in range(X):
        clear &= p.mode[a] == NO_PLACE or (not is_between(p.mode[a]) and p.margin[a] > CLEAR)
    return clear


@kernel(types.UniTuple(I64, 2)(MACHINE, types.boolean))
def linearise(m, transposed):
    """Factorise S, or S^T, at the solution in the system, and A_ff, or its transpose; return Y and the rank, -1 if it
    is undecided."""
    work, s, p = m.work, m.sweep, m.system
    n_f, n_c, A, X, LU, z, w, raw, order, x = (
        work.X.shape[0], work.q.shape[0], work.A, work.X, s.LU, work.z, s.w, s.raw, s.order, p.x
    )  # fmt: skip
    for a in range(n_c):
        z[order[a]] = x[a]
    for i in range(n_f):
        total = X[i, n_c]
        for j in range(n_c):
            total += X[i, j] * z[j]
        w[i] = -total
        for j in range(n_f):
            LU[i, j] = A[j, i] if transposed else A[i, j]
    for j in range(n_c):
        w[n_f + j] = z[j]
    w[n_f + n_c] = 1.0
    for i in range(raw.shape[0]):
        raw[i] = 0.0
        for j in range(w.shape[0]):
            raw[i] += A[n_f + n_c + i, j] * w[j]
    if lu_factor(s.LU, s.pivots):
        return 0, -1
    Y = find_columns(p)
    find_matrix(p, Y)
    return Y, factorise(p, Y, transposed)


@kernel(F64(MACHINE, VECTOR, VECTOR, I64, VECTOR))
def carried(m, dx, g, counted, found):
    """The solution's tangent (n_o,) for dx (X,) and -g (n_f,) in the free unknowns, data fixed; g is overwritten.

    Returns the largest sum of the sizes of the terms of the first `counted` entries.
    """
    work, s = m.work, m.sweep
    n_f, n_c, largest = work.X.shape[0], work.q.shape[0], 0.0
    dz, size, A, X, order = scratch(n_c), scratch(n_f), work.A, work.X, s.order
    for a in range(n_c):
        dz[order[a]] = dx[a]
    for i in range(n_f):
        g[i], size[i] = -g[i], abs(g[i])
        for j in range(n_c):
            term = X[i, j] * dz[j]
            g[i], size[i] = g[i] - term, size[i] + abs(term)
    for i in range(found.shape[0]):
        found[i] = terms = 0.0
        for j in range(n_f):
            found[i] += A[n_f + n_c + i, j] * g[j]
            terms += abs(A[n_f + n_c + i, j]) * size[j]
        for j in range(n_c):
            term = A[n_f + n_c + i, n_f + j] * dz[j]
            found[i], terms = found[i] + term, terms + abs(term)
        if i < counted:
            largest = max(largest, terms)
    return largest


@kernel(types.boolean(MACHINE, I64, I64, I64))
def move_aside(m, Y, rank, counted):
    """Put another solution x of redundant contacts into the system, S being factorised; False where that changes the
    first `counted` entries of the solution."""
    p, work = m.system, m.work
    y, dx, size, change = scratch(Y), scratch(p.x.shape[0]), 0.0, 0.0
    g, found, moved = scratch(work.X.shape[0]), scratch(work.out.shape[0]), 0.0
    find_kernel(p, Y, rank, y)
    for a in range(p.x.shape[0]):
        dx[a] = 0.0
        for b in range(Y):
            dx[a] += p.R[b, a] * y[b]
        size, change = max(size, abs(p.x[a])), max(change, abs(dx[a]))
    set_all(0.0, g)
    terms = carried(m, dx, g, counted, found)
    for i in range(counted):
        moved = max(moved, abs(found[i]))
    if not (change > 0.0 and moved <= SAME * terms):
        return False
    for a in range(p.x.shape[0]):
        p.x[a] += ASIDE * size / change * dx[a]
    return True


@kernel(F64(MACHINE, I64, I64, I64, VECTOR, VECTOR))
def answer(m, Y, rank, counted, dy, found):
    """The tangent (n_o,) of the solution in the axes in use along dy (n_y,); returns the size of the terms of its first
    `counted` entries, NaN where redundant rows are inconsistent."""
    work, s, p = m.work, m.sweep, m.system
    n_f, n_c, X, n_o = work.X.shape[0], work.q.shape[0], p.x.shape[0], found.shape[0]
    rho, g, r, terms = scratch(work.A.shape[0]), scratch(n_f), scratch(X), scratch(X)
    dmu, low, high, shift = scratch(p.mu.shape[0]), scratch(X), scratch(X), scratch(X)
    b, right, y, size = scratch(Y), scratch(Y), scratch(Y), 0.0
    row_of, column_of, order, coefficient, w = s.row_of, s.column_of, s.order, s.coefficient, s.w
    val, par, A, W, L, R, E, begins, ends = work.val, work.par, work.A, p.A, p.L, p.R, p.E, p.begin, p.end
    set_all(0.0, rho)
    for k in range(row_of.shape[0]):
        rho[row_of[k]] += val[k] * dy[par[k]] * w[column_of[k]]
    lu_solve(s.LU, s.pivots, rho, g)
    bounds = n_f + n_c + n_o
    for a in range(X):
        i = order[a]
        r[a], low[a], high[a], shift[a] = rho[n_f + i], rho[bounds + i], rho[bounds + n_c + i], 0.0
        terms[a] = abs(r[a])
        for j in range(n_f):
            term = A[n_f + i, j] * g[j]
            r[a], terms[a] = r[a] - term, terms[a] + abs(term)
    for i in range(dmu.shape[0]):
        dmu[i] = rho[bounds + 2 * n_c + coefficient[i]] if coefficient[i] >= 0 else 0.0
    find_sources(p, dmu, low, high, shift, b)
    for a in range(X):
        for j in range(X):
            term = W[a, j] * shift[j]
            r[a], terms[a] = r[a] + term, terms[a] + abs(term)
    for k in range(Y):
        right[k], total = b[k], abs(b[k])
        for a in range(begins[k], ends[k]):
            right[k] -= L[k, a] * r[a]
            total += abs(L[k, a]) * terms[a]
        size = max(size, E[k] * total)
    outside = solve_factorised(p, Y, rank, right, y)
    for k in range(Y):
        for a in range(begins[k], ends[k]):
            shift[a] += R[k, a] * y[k]
    largest = carried(m, shift, g, counted, found)
    for i in range(n_o):
        found[i] += rho[n_f + n_c + i]
        if i < counted:
            largest = max(largest, abs(rho[n_f + n_c + i]))
    return largest if outside <= CONSISTENT * size else np.nan


@kernel(types.void(MACHINE, I64, VECTOR, VECTOR, VECTOR, VECTOR))
def due_to_data(m, Y, a, given, out, found):
    """The adjoint of the contact data (n_y,), from a (Y,) for the rows of the law, given (X,) for the solution and out
    (n_o,) for the outputs: the transpose of `answer`, with A_ff^T factorised."""
    work, s, p = m.work, m.sweep, m.system
    n_f, n_c, X, n_o = work.X.shape[0], work.q.shape[0], p.x.shape[0], out.shape[0]
    rho, force, left, u, v = scratch(work.A.shape[0]), scratch(X), scratch(X), scratch(n_f), scratch(n_f)
    bounds = n_f + n_c + n_o
    row_of, column_of, order, coefficient, w = s.row_of, s.column_of, s.order, s.coefficient, s.w
    val, par, A, W, L, begins, ends = work.val, work.par, work.A, p.A, p.L, p.begin, p.end
    set_all(0.0, rho)
    set_all(0.0, force)
    for k in range(Y):
        for i in range(begins[k], ends[k]):
            force[i] += L[k, i] * a[k]
    for i in range(X):
        left[i] = given[i]
        for j in range(X):
            left[i] -= W[j, i] * force[j]
        rho[n_f + order[i]] = -force[i]
    for i in range(n_o):
        rho[n_f + n_c + i] = out[i]
    mu, low, high = scratch(p.mu.shape[0]), scratch(X), scratch(X)
    due_to_sources(p, a, left, mu, low, high)
    for i in range(X):
        rho[bounds + order[i]], rho[bounds + n_c + order[i]] = low[i], high[i]
    for i in range(mu.shape[0]):
        if coefficient[i] >= 0:
            rho[bounds + 2 * n_c + coefficient[i]] += mu[i]
    for j in range(n_f):
        u[j] = 0.0
        for i in range(n_c + n_o):
            u[j] -= A[n_f + i, j] * rho[n_f + i]
    lu_solve(s.LU, s.pivots, u, v)
    for j in range(n_f):
        rho[j] = v[j]
    set_all(0.0, found)
    for k in range(row_of.shape[0]):
        found[par[k]] += val[k] * rho[row_of[k]] * w[column_of[k]]


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def turned_back(m, dy, out):
    """Transform a tangent of the solution (n_o,) from the axes in use to the case's own, along dy (n_y,)."""
    s, r = m.sweep, m.core.mu.shape[0]
    n = m.core.v.shape[0]
    if m.core.b_t.shape[0] != 2 * r:
        return
    for i in range(r):
        a, f = n + r + 2 * i, s.y.shape[0] - 2 * r + 2 * i
        cos, sin, dc, ds = s.y[f], s.y[f + 1], dy[f], dy[f + 1]
        x, z, dx, dz = s.raw[a], s.raw[a + 1], out[a], out[a + 1]
        out[a], out[a + 1] = cos * dx - sin * dz + dc * x - ds * z, sin * dx + cos * dz + ds * x + dc * z


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def turned_along(m, out, found):
    """The transpose of `turned_back`: adds the adjoint of the axes to found (n_y,), that of the solution to out."""
    s, r = m.sweep, m.core.mu.shape[0]
    n = m.core.v.shape[0]
    if m.core.b_t.shape[0] != 2 * r:
        return
    for i in range(r):
        a, f = n + r + 2 * i, s.y.shape[0] - 2 * r + 2 * i
        cos, sin, x, z, X, Z = s.y[f], s.y[f + 1], s.raw[a], s.raw[a + 1], out[a], out[a + 1]
        found[f], found[f + 1] = X * x + Z * z, Z * x - X * z
        out[a], out[a + 1] = cos * X + sin * Z, cos * Z - sin * X


@kernel(types.boolean(MACHINE, VECTOR, I64, F64))
def find_slope(m, t, only, unit):
    """Put the slope of the contact data along a tangent of the inputs t (n_x,), or along one input alone, into `ahead`;
    return False where there may be a jump or kink within reach. Nonfinite entries have slope zero."""
    x, moved, y, slope, there = m.sweep.x, m.sweep.moved, m.sweep.y, m.sweep.ahead, m.sweep.behind
    second, even = scratch(y.shape[0]), scratch(y.shape[0])
    for width in WIDTHS:
        step = width * unit
        set_all(0.0, slope)
        set_all(0.0, second)
        set_all(0.0, even)
        for k in (1, 2):
            for side in (1.0, -1.0):
                for i in range(x.shape[0]):
                    along = t[i] if only < 0 else 1.0 if i == only else 0.0
                    moved[i] = x[i] + side * k * step * along
                contact_data(m, moved, there)
                for i in range(y.shape[0]):
                    slope[i] += side * (8.0 if k == 1 else -1.0) * there[i] / (12.0 * step)
                    second[i] += side * there[i] / (2.0 * step) if k == 1 else 0.0
                    even[i] += (-4.0 if k == 1 else 1.0) * (there[i] - y[i]) / (4.0 * step)
        if is_settled(y, slope, second, even, unit, ROUNDED * m.sweep.largest[0] / step):
            return True
    return False


@kernel(types.boolean(VECTOR, VECTOR, VECTOR, VECTOR, F64, F64))
def is_settled(y, slope, second, even, unit, rounding):
    """Whether slopes of orders four and two agree and the fourth difference vanishes, as it does but at kinks."""
    smooth = True
    for i in range(y.shape[0]):
        if not slope[i] - slope[i] == 0.0:
            slope[i] = 0.0
            continue
        size = max(abs(slope[i]), LEVEL * abs(y[i]) / unit)
        smooth &= max(abs(slope[i] - second[i]), abs(even[i])) <= ROUGH * size + rounding
    return smooth


@kernel(F64(MACHINE, VECTOR))
def unit_along(m, t):
    """The length of a tangent (n_x,) along which no input moves farther than its own unit."""
    s, least = m.sweep, np.inf
    for i in range(t.shape[0]):
        if t[i] != 0.0 and s.x[i] - s.x[i] == 0.0:
            least = min(least, s.unit[i] / abs(t[i]))
    return least if least < np.inf else 1.0


@kernel(types.void(MACHINE))
def find_units(m):
    """Compute the sizes of the state, the last solution and the contact data; those of the data are constant."""
    s, size = m.sweep, 0.0
    x, unit, y = s.x, s.unit, s.y
    for i in range(x.shape[0] - m.track.data.shape[0]):
        unit[i] = 1.0 + abs(x[i])
    for i in range(y.shape[0]):
        size = max(size, abs(y[i])) if y[i] - y[i] == 0.0 else size
    s.largest[0] = size


@kernel(types.void(MACHINE, VECTOR, VECTOR, F64, VECTOR))
def coordinates(m, t, dv, unit, found):
    """The tangent of q+ along a tangent of the inputs (n_x,) and one of v+ (n_o,), by differences of order four."""
    s, n_q, n = m.sweep, m.track.q.shape[0], m.core.v.shape[0]
    q, v, data = scratch(n_q), scratch(n), scratch(m.track.data.shape[0])
    after = s.x.shape[0] - data.shape[0]
    least = unit
    for i in range(n):
        if dv[i] != 0.0:
            least = min(least, (1.0 + abs(s.raw[i])) / abs(dv[i]))
    for i in range(n_q):
        found[i] = 0.0
    for k in (1, 2):
        for side in (1.0, -1.0):
            step = side * k * WIDE * least
            for i in range(n_q):
                q[i] = s.x[i] + step * t[i]
            for i in range(n):
                v[i] = s.raw[i] + step * dv[i]
            for i in range(data.shape[0]):
                data[i] = s.x[after + i] + step * t[after + i]
            m.functions.advance(q, v, m.core.h, data, s.q_ahead)
            for i in range(n_q):
                found[i] += side * (8.0 if k == 1 else -1.0) * s.q_ahead[i] / (12.0 * WIDE * least)


@kernel(types.boolean(MACHINE, MATRIX, MATRIX))
def step_ahead(m, tangents, found):
    """The tangents (K, n_x) after a step whose inputs and solution are loaded; False where they are undetermined."""
    s, n_q, n, n_o = m.sweep, m.track.q.shape[0], m.core.v.shape[0], m.work.out.shape[0]
    if not stand(m):
        return False
    find_units(m)
    for j in range(tangents.shape[0]):
        if not find_slope(m, tangents[j], -1, unit_along(m, tangents[j])):
            return False
        copy(s.ahead, s.dy[j])
    counted, out = n_o if s.asks else n, scratch(n_o)
    Y, rank = linearise(m, False)
    if rank < 0:
        return False
    for j in range(tangents.shape[0]):
        s.terms[j] = answer(m, Y, rank, counted, s.dy[j], s.answers[j])
        if s.terms[j] != s.terms[j]:
            return False
    if rank < Y:
        # Outputs must not depend on the load distribution of redundant contacts.
        if not move_aside(m, Y, rank, counted):
            return False
        Y, rank = linearise(m, False)
        for j in range(tangents.shape[0]):
            if rank < 0:
                return False
            answer(m, Y, rank, counted, s.dy[j], out)
            for i in range(counted):
                if not abs(out[i] - s.answers[j, i]) <= SAME * s.terms[j]:
                    return False
    for j in range(tangents.shape[0]):
        answers, after = s.answers[j], found[j]
        turned_back(m, s.dy[j], answers)
        if not is_finite(answers):
            return False
        coordinates(m, tangents[j], answers, unit_along(m, tangents[j]), after)
        for i in range(n):
            after[n_q + i] = answers[i]
        for i in range(n_o):
            after[n_q + n + i] = answers[i] if i < counted else 0.0
        for i in range(n_q + n + n_o, after.shape[0]):
            after[i] = tangents[j, i]
    return True


@kernel(I64(I64, I64, MATRIX, CUBE, CODES, MACHINE))
def ahead(start, steps, rows, tangents, modes, m):
    """Tangents (steps + 1, K, n_x) of a recorded motion from step `start` on, and the modes (steps - start, X); returns
    the first step that is left to the caller, or `steps`."""
    for k in range(start, steps):
        recall(k, rows, m)
        if not step_ahead(m, tangents[k], tangents[k + 1]):
            return k
        for a in range(modes.shape[1]):
            modes[k - start, a] = m.system.mode[a]
    return steps


@kernel(types.boolean(MACHINE, VECTOR, VECTOR, VECTOR))
def in_reverse(m, out, found, outside):
    """The adjoint of the contact data (n_y,) from that of the solution (n_o,); `outside`: the adjoint of inconsistent
    redundant rows. False where the rank is undecided or the solution is not unique."""
    work, s, p = m.work, m.sweep, m.system
    n_f, n_c, X, n_y = work.X.shape[0], work.q.shape[0], p.x.shape[0], s.y.shape[0]
    Y, rank = linearise(m, True)
    if rank < 0:
        return False
    turned, axes, given, right, a = scratch(out.shape[0]), scratch(n_y), scratch(X), scratch(Y), scratch(Y)
    terms, largest, A, free, order = scratch(X), 0.0, work.A, work.X, s.order
    copy(out, turned)
    set_all(0.0, axes)
    turned_along(m, turned, axes)
    for i in range(X):
        given[i] = terms[i] = 0.0
        for k in range(out.shape[0]):
            row = n_f + n_c + k
            moved, size = A[row, n_f + order[i]], abs(A[row, n_f + order[i]])
            for j in range(n_f):
                term = A[row, j] * free[j, order[i]]
                moved, size = moved - term, size + abs(term)
            given[i], terms[i] = given[i] + turned[k] * moved, terms[i] + abs(turned[k]) * size
    for k in range(Y):
        right[k] = total = 0.0
        for i in range(p.begin[k], p.end[k]):
            right[k] += p.R[k, i] * given[i]
            total += abs(p.R[k, i]) * terms[i]
        largest = max(largest, p.E[k] * total)
    if not solve_factorised(p, Y, rank, right, a) <= CONSISTENT * largest:
        return False
    due_to_data(m, Y, a, given, turned, found)
    for i in range(n_y - 2 * m.core.mu.shape[0], n_y):
        found[i] = axes[i]
    if rank < Y:
        find_kernel(p, Y, rank, a)
        set_all(0.0, given)
        set_all(0.0, turned)
        due_to_data(m, Y, a, given, turned, outside)
    return True


@kernel(types.void(MACHINE, VECTOR, VECTOR, VECTOR))
def through_coordinates(m, due, found, at_v):
    """The adjoints of the inputs (n_x,) and of v+ (n,) from that of q+, the first part of `due`."""
    s, n_q, n, n_d = m.sweep, m.track.q.shape[0], m.core.v.shape[0], m.track.data.shape[0]
    q, v, data, state = scratch(n_q), scratch(n), scratch(n_d), s.x.shape[0] - n_d
    for i in range(n_q):
        q[i] = s.x[i]
    for i in range(n):
        v[i], at_v[i] = s.raw[i], 0.0
    for i in range(n_d):
        data[i] = s.x[state + i]
    set_all(0.0, found)
    for i in range(n_q + n + n_d):
        j = i - n_q - n
        if j >= 0 and not s.active[state + j]:
            continue
        unit = s.unit[i] if i < n_q else s.unit[state + j] if j >= 0 else 1.0 + abs(v[i - n_q])
        total = 0.0
        for sign in (1.0, -1.0):
            step = sign * SHIFT * unit
            if i < n_q:
                q[i] = s.x[i] + step
            elif j < 0:
                v[i - n_q] = s.raw[i - n_q] + step
            else:
                data[j] = s.x[state + j] + step
            m.functions.advance(q, v, m.core.h, data, s.q_ahead)
            for a in range(n_q):
                total += due[a] * s.q_ahead[a] / (2.0 * step)
        if i < n_q:
            q[i], found[i] = s.x[i], total
        elif j < 0:
            v[i - n_q], at_v[i - n_q] = s.raw[i - n_q], total
        else:
            data[j], found[state + j] = s.x[state + j], total


@kernel(types.UniTuple(F64, 2)(VECTOR, VECTOR), **FASTER)
def sum_of_products(x, y):
    """x . y, and the sum of the absolute values of its terms."""
    total = size = 0.0
    for i in range(x.shape[0]):
        term = x[i] * y[i]
        total, size = total + term, size + abs(term)
    return total, size


@kernel(types.boolean(MACHINE, VECTOR, VECTOR))
def step_back(m, due, found):
    """The adjoint of the inputs (n_x,) of a step whose inputs and solution are loaded, from the adjoint of those
    after it; False where it cannot be determined."""
    s, n_q, n, n_o = m.sweep, m.track.q.shape[0], m.core.v.shape[0], m.work.out.shape[0]
    n_x, n_y, counted = s.x.shape[0], s.y.shape[0], m.work.out.shape[0] if m.sweep.asks else m.core.v.shape[0]
    if not stand(m):
        return False
    find_units(m)
    Y, rank = linearise(m, False)
    if rank < 0:
        return False
    due_here, due_aside, due_outside, out, at_v = scratch(n_y), scratch(n_y), scratch(n_y), scratch(n_o), scratch(n)
    ahead = s.ahead
    through_coordinates(m, due, found, at_v)
    for i in range(n_o):
        out[i] = due[n_q + n + i] if i < counted else 0.0
    for i in range(n):
        out[i] += due[n_q + i] + at_v[i]
    if not in_reverse(m, out, due_here, due_outside):
        return False
    redundant = rank < Y
    if redundant:
        # The adjoint must not depend on the load distribution of redundant contacts.
        Y, rank = linearise(m, False)
        if not move_aside(m, Y, rank, counted) or not in_reverse(m, out, due_aside, due_outside):
            return False
    for i in range(n_x - m.track.data.shape[0], n_x):
        found[i] += due[i]
    for i in range(n_x):
        if not s.active[i] or s.x[i] - s.x[i] != 0.0:
            continue
        if not find_slope(m, due, i, s.unit[i]):
            return False
        total, size = sum_of_products(due_here, ahead)
        if redundant:
            other, _ = sum_of_products(due_aside, ahead)
            outside, against = sum_of_products(due_outside, ahead)
            if abs(other - total) > SAME * size or abs(outside) > CONSISTENT * against:
                return False
        found[i] += total
    return is_finite(found)


@kernel(I64(I64, I64, MATRIX, MATRIX, VECTOR, VECTOR, MACHINE))
def back(end, start, rows, given, due, found, m):
    """The adjoint of the inputs (n_x,) of a recorded motion: `due` starts with that of step `end` and is taken back
    to `start`. Where a step is left to the caller, `due` is that of the step after it, which is returned, else
    `start`. given (steps + 1, n_q + n) adds to the states' adjoints; found is overwritten."""
    for k in range(end - 1, start - 1, -1):
        recall(k, rows, m)
        if not step_back(m, due, found):
            return k + 1
        for i in range(given.shape[1]):
            found[i] += given[k, i]
        copy(found, due)
    return start
