"""Derivatives of a recorded motion, step after step, forward and in reverse: the compiled part.

A step maps inputs x = [q, v, last step's v+, p_n, p_t, p_b, the rest of the memory, data of the case] to the next ones,
through: data y(x) and q+, differentiated by their tape (`tape`); the mixed system A(y), linear in y; its solution,
differentiated by the linearised law (`linearised`). Each step is factorised once, for both modes. Without a tape the
data are differentiated by differences (`slopes`), forward alone.

Forward, one-sided derivatives of a few unknowns between modes are those of their linear complementarity problem, and
are noted. Other steps whose modes do not all hold by a clear margin, whose data have a kink, or whose outputs are not
unique because of redundant contacts, are left to the caller, and so are those at which the tape does not hold.
"""

import numpy as np
from numba import types

from workbench.derivatives.choices import ALLOWED, AT_LOWER, BETWEEN, is_within
from workbench.derivatives.columns import (
    add_products,
    add_row,
    add_sizes,
    clear,
    put_largest,
    put_row,
    put_sizes,
    solve_columns,
)  # fmt: skip
from workbench.derivatives.differences import AT, fourth
from workbench.derivatives.elimination import (
    factorise,
    find_kernel,
    find_left_kernel,
    lu_solve_transposed,
    solve_factorised,
    solve_transposed,
)  # fmt: skip
from workbench.derivatives.linearised import (
    depends_on_impulses,
    due_to_sources,
    find_columns,
    find_matrix,
    find_sources,
    linearise_there,
    settle,
)  # fmt: skip
from workbench.derivatives.modes import NO_PLACE, find_modes, is_between
from workbench.derivatives.sensitivity import POLISHED, TIMES, WORST
from workbench.derivatives.slopes import MACHINE, find_slope, find_units, step_data
from workbench.derivatives.tape import OTHER, carry_adjoints, carry_sizes, carry_tangents, evaluate, path, turn_ties
from workbench.derivatives.tape import SAME as HOLDS
from workbench.engine.compiling import kernel
from workbench.engine.kernels import (
    FAST,
    MATRIX,
    VECTOR,
    copy,
    is_finite,
    largest_eigenvalue,
    lu_factor,
    set_all,
)  # fmt: skip
from workbench.engine.lanes import LANES
from workbench.engine.scratch import INDICES, scratch, scratch_indices, scratch_matrix
from workbench.problems.sets import NO_CONE
from workbench.step.stepping import SOLVED, pose, residual_of

WIDE = 1e-3
"""Fraction of the state by which it is varied for differences of the coordinates after a step."""
CLEAR = 1e-6
"""Smallest relative margin of modes that need no closer examination: that of a solution, of its residual and S."""
VERIFIED = 1e-9
"""Relative difference of velocities up to which a posed step is the recorded one."""
LEAST = 1e-11
"""Margin that counts as zero."""
CONSISTENT, SAME, ASIDE = 1e-7, 1e-7, 1e-3
"""Fractions of the terms of a right-hand side, or an output: the part that may lie outside the range where redundant
rows are consistent, and the allowed dependence of an output on the load distribution of redundant contacts; fraction of
the impulses by which that distribution is varied to test this."""
ALIKE, KINKED = 1e-11, 1e-9
"""Relative difference of the data by the tape and by the step, or of v+ and the terms that cancel in it, and of slopes
on both sides of a kink, that is rounding."""
KINK, ROUGH, BESIDE = 1, 2, 4
"""Notes on the tangent of a step, which add up: it is one-sided; the modes are not known, or the data jump nearby or
are noisy; the tape holds just so, or there is none."""
FEW = 8
"""Largest number of unknowns between modes whose one-sided derivatives are compiled."""
I64, F64 = types.int64, types.float64
CODES = types.Array(types.int64, 2, "C")
CUBE = types.Array(types.float64, 3, "C")


@kernel(types.void(I64, MATRIX, MACHINE), checked=False)
def recall(k, rows, m):
    """Load the inputs of step k, v+ included, from the record of a motion, and the solution into `work`."""
    s, n_q, n = m.sweep, m.track.q.shape[0], m.core.v.shape[0]
    x, z, n_d = s.x, m.work.z, m.track.data.shape[0]
    own = x.shape[0] - n - n_d
    for i in range(own):
        x[i] = rows[k, i]
    for i in range(n):
        x[own + n_d + i] = rows[k + 1, n_q + i]
    for i in range(z.shape[0]):
        z[i] = rows[k, own + i]


@kernel(types.void(MATRIX, MACHINE))
def follow_memory(rows, m):
    """Complete the record of a motion by the rest of the memory, which is only known from the steps before."""
    s, n_q = m.sweep, m.track.q.shape[0]
    own = s.x.shape[0] - m.core.v.shape[0] - m.track.data.shape[0]
    n_m = own - n_q - m.core.v.shape[0] - m.work.out.shape[0]
    for k in range(rows.shape[0] - 1):
        recall(k, rows, m)
        step_data(m, s.x, s.y)
        for i in range(n_m):
            rows[k + 1, own - n_m + i] = s.y[s.y.shape[0] - n_q - n_m + i]


@kernel(types.boolean(MACHINE))
def is_posed(m):
    """Pose the problem of the contact data in the core; return whether it can be posed."""
    return pose(m.core, m.work) == SOLVED


@kernel(types.boolean(MACHINE))
def is_on_tape(m):
    """Return whether the data of the inputs are those of the tape, whose numbers are computed; `way` says if it holds
    there.

    Without a tape nothing is compared."""
    s, t = m.sweep, m.tape
    y, out, value, same = s.y, t.out, t.value, True
    s.way[0] = HOLDS
    if out.shape[0] == 0:
        return True
    evaluate(t, s.x)
    s.way[0] = path(t)
    for k in range(out.shape[0]):
        one, other = value[out[k]], y[k]
        if one - one == 0.0 or other - other == 0.0:
            same &= abs(one - other) <= ALIKE * (s.largest[0] + abs(other))
    return same


@kernel(types.boolean(MACHINE))
def is_loaded(m):
    """Pose the step of the inputs x, with its solution in `work`; return whether it can be posed, with the data of the
    tape, whose conditions may hold just so."""
    step_data(m, m.sweep.x, m.sweep.y)
    find_units(m)
    return is_on_tape(m) and m.sweep.way[0] != OTHER and is_posed(m)


@kernel(types.boolean(MACHINE))
def is_between_none(m):
    """Put the posed problem and its solution, which are in `work`, into the system; return whether all modes hold,
    there or at a neighbouring solution (`settle`), by margins of which `margin` is the smallest."""
    work, s, p = m.work, m.sweep, m.system
    order, A, M, X, margin, between = s.order, p.A, work.M, p.x.shape[0], s.margin, False
    for a in range(X):
        i = order[a]
        p.q[a], p.x[a], p.lower[a], p.upper[a] = work.q[i], work.z[i], work.lower[i], work.upper[i]
        for b in range(X):
            A[a, b] = M[i, order[b]]
    for i in range(s.coefficient.shape[0]):
        p.mu[i] = work.mu[s.coefficient[i]] if s.coefficient[i] >= 0 else 0.0
    find_modes(p, LEAST)
    margin[0] = np.inf
    for a in range(X):
        if p.mode[a] == NO_PLACE:
            continue
        if is_between(p.mode[a]):
            between = True
        else:
            margin[0] = min(margin[0], p.margin[a])
    if between and not settle(p):
        margin[0] = 0.0
    return margin[0] > LEAST


@kernel(F64(MACHINE, I64, F64))
def condition(m, Y, most):
    """Return the condition number of the equilibrated S, regular and factorised, or a larger one that is below `most`,
    too."""
    p, size, inverse, N = m.system, 0.0, 0.0, -(-Y // LANES) * LANES
    b, y, off = scratch_matrix(Y, N), scratch_matrix(Y, N), scratch(N)
    there, back, E, S = scratch_matrix(Y, Y), scratch_matrix(Y, Y), p.E, p.S
    clear(b)
    for k in range(Y):
        b[k, k] = 1.0 / E[k]
    solve_factorised(p, Y, Y, b, y, off)
    for k in range(Y):
        for i in range(Y):
            there[k, i], back[k, i] = E[i] * S[i, k] * E[k], y[i, k] / E[i]
            size, inverse = size + there[k, i] ** 2, inverse + back[k, i] ** 2
    # Norms that are no smaller, of the entries and of the squares, take a fraction of the time and mostly suffice.
    found = np.sqrt(size * inverse)
    if found < most:
        return found
    found = np.sqrt(put_squares(there) * put_squares(back))
    return found if found < most else np.sqrt(largest_eigenvalue(there) * largest_eigenvalue(back))


@kernel(F64(MATRIX), **FAST)
def put_squares(A):
    """Put A A^T in the place of A (n, n); return the norm of its entries, no less than its largest eigenvalue."""
    n, size = A.shape[0], 0.0
    squares = scratch_matrix(n, n)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += A[i, k] * A[j, k]
            squares[i, j] = total
            size += total * total
    for i in range(n):
        copy(squares[i], A[i])
    return np.sqrt(size)


@kernel(types.boolean(MACHINE, I64, I64))
def is_clear(m, Y, rank):
    """Return whether all modes hold by more than the solution's error, after `linearise`: the verdict of
    `sensitivity.sensitivity_of`."""
    margin = m.sweep.margin[0]
    if margin > CLEAR:
        return True
    if rank < Y:
        return False
    error = error_of(m)
    return margin > error * WORST or condition(m, Y, margin / error) < margin / error


@kernel(F64(MACHINE))
def error_of(m):
    """Return the error of a well-conditioned solution, relative as margins are."""
    return TIMES * max(residual_of(m.work, m.settings.kind, m.settings.d), 1e-16)


@kernel(types.UniTuple(I64, 3)(MACHINE))
def linearise_known(m):
    """Linearise the law in the modes that are known in view of the solution's error, all others being between two, as
    `sensitivity.sensitivity_of`; return Y, the rank, -1 where S is not regular, and whether some are not known."""
    least, vague = LEAST, 0
    if not read_answer(m):
        return 0, -1, 0
    error = error_of(m)
    # Those of larger residual are improved first.
    if error > TIMES * POLISHED:
        return 0, -1, 0
    while True:
        Y, rank, between, margin = linearise_there(m.system, least)
        if rank < Y:
            return Y, -1, vague
        vague = 1 if least > LEAST and between > 0 else 0
        if margin > error * WORST:
            return Y, rank, vague
        known = error * min(condition(m, Y, margin / error), WORST)
        if margin > known or least >= known:
            return Y, rank, vague
        least = known


@kernel(types.void(MATRIX, I64, VECTOR, VECTOR), **FAST)
def multiply_rows(A, first, x, found):
    """Compute found (K,) = A[first : first + K] x. Loops over plain arrays are compiled to vector instructions."""
    for k in range(found.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            total += A[first + k, j] * x[j]
        found[k] = total


@kernel(types.void(MATRIX, I64, VECTOR, VECTOR, VECTOR, VECTOR), **FAST)
def add_weighted_rows(A, first, weights, sizes, found, terms):
    """Add weights (K,) A[first : first + K] to found (N,), and sizes (K,) times the sizes of the entries to terms."""
    for k in range(weights.shape[0]):
        if sizes[k] != 0.0:
            for j in range(found.shape[0]):
                found[j] += weights[k] * A[first + k, j]
                terms[j] += sizes[k] * abs(A[first + k, j])


@kernel(types.boolean(MACHINE))
def read_answer(m):
    """Compute [free unknowns, solution, 1] and the outputs of the solution in the system, and factorise A_ff; return
    whether that is regular."""
    work, s = m.work, m.sweep
    n_f, n_c, A, X, LU, w, raw, order, x = (
        work.X.shape[0], work.q.shape[0], work.A, work.X, s.LU, s.w, s.raw, s.order, m.system.x
    )  # fmt: skip
    for a in range(n_c):
        w[n_f + order[a]] = x[a]
    w[n_f + n_c] = 1.0
    multiply_rows(X, 0, w[n_f:], w[:n_f])
    for i in range(n_f):
        w[i] = -w[i]
        for j in range(n_f):
            LU[i, j] = A[i, j]
    multiply_rows(A, n_f + n_c, w, raw)
    return lu_factor(s.LU, s.pivots) == 0


@kernel(types.UniTuple(I64, 2)(MACHINE))
def linearise(m):
    """Factorise S at the solution in the system, and A_ff; return Y and the rank, -1 if it is undecided."""
    p = m.system
    if not read_answer(m):
        return 0, -1
    Y = find_columns(p)
    find_matrix(p, Y)
    return Y, factorise(p, Y)


@kernel(types.UniTuple(I64, 2)(MACHINE, I64, I64))
def linearise_aside(m, Y, rank):
    """`linearise` in the same modes at another solution, after `move_aside`: mostly with the same S."""
    if depends_on_impulses(m.system):
        return linearise(m)
    return (Y, rank) if read_answer(m) else (0, -1)


@kernel(types.boolean(MACHINE))
def is_recorded(m):
    """Return whether the solution leads to the recorded v+, after `linearise`: the step is posed as it was."""
    raw, x, n, size, apart = m.sweep.raw, m.sweep.x, m.core.v.shape[0], 0.0, 0.0
    for i in range(n):
        after = x[x.shape[0] - n + i]
        size, apart = max(size, abs(after)), max(apart, abs(raw[i] - after))
    return apart <= VERIFIED * size or apart <= ALIKE * largest_term(m)


@kernel(F64(MACHINE))
def largest_term(m):
    """Return the largest sum of the sizes of the terms of a velocity v+: at rest these cancel, and v+ is rounding."""
    A, X, w, n_f, found = m.work.A, m.work.X, m.sweep.w, m.work.X.shape[0], 0.0
    sizes, first = scratch(n_f), n_f + m.work.q.shape[0]
    for i in range(n_f):
        sizes[i] = 0.0
        for j in range(X.shape[1]):
            sizes[i] += abs(X[i, j] * w[n_f + j])
    for i in range(m.core.v.shape[0]):
        total = 0.0
        for j in range(w.shape[0]):
            total += abs(A[first + i, j]) * (sizes[j] if j < n_f else abs(w[j]))
        found = max(found, total)
    return found


@kernel(types.void(MACHINE, MATRIX, MATRIX, I64, MATRIX, VECTOR))
def carried(m, dx, g, counted, found, largest):
    """The solution's tangents (n_o, K) for dx (X, K) and g (n_f, K) in the free unknowns, data fixed, which is
    overwritten, and the largest sums (K,) of the sizes of the terms of their first `counted` entries."""
    work, n_f, n_c, order, K = m.work, g.shape[0], dx.shape[0], m.sweep.order, dx.shape[1]
    dz, size, terms = scratch_matrix(n_c, K), scratch_matrix(n_f, K), scratch_matrix(counted, K)
    for a in range(n_c):
        put_row(1.0, dx, a, dz, order[a])
    put_sizes(g, size)
    add_sizes(work.X, 0, 0, dz, size)
    add_products(-1.0, work.X, 0, 0, dz, g)
    clear(found)
    add_products(1.0, work.A, n_f + n_c, 0, g, found)
    add_products(1.0, work.A, n_f + n_c, n_f, dz, found)
    clear(terms)
    add_sizes(work.A, n_f + n_c, 0, size, terms)
    add_sizes(work.A, n_f + n_c, n_f, dz, terms)
    put_largest(terms, largest)


@kernel(types.boolean(MACHINE, I64, I64, I64))
def move_aside(m, Y, rank, counted):
    """Put another solution x of redundant contacts into the system, S being factorised; False where that changes the
    first `counted` entries of the solution."""
    p, work, X, n_f = m.system, m.work, m.system.x.shape[0], m.work.X.shape[0]
    y, size, change, moved = scratch(Y), 0.0, 0.0, 0.0
    dx, g, found = scratch_matrix(X, LANES), scratch_matrix(n_f, LANES), scratch_matrix(work.out.shape[0], LANES)
    terms = scratch(LANES)
    find_kernel(p, Y, rank, y)
    clear(dx)
    for a in range(X):
        for b in range(Y):
            dx[a, 0] += p.R[b, a] * y[b]
        size, change = max(size, abs(p.x[a])), max(change, abs(dx[a, 0]))
    clear(g)
    carried(m, dx, g, counted, found, terms)
    for i in range(counted):
        moved = max(moved, abs(found[i, 0]))
    if not (change > 0.0 and moved <= SAME * terms[0]):
        return False
    for a in range(X):
        p.x[a] += ASIDE * size / change * dx[a, 0]
    return True


@kernel(types.void(MACHINE, MATRIX, MATRIX))
def rows_along(m, dy, found):
    """Compute the tangents (., K) of the rows of the mixed system at its solution from those of its data (n_y, K)."""
    s, work = m.sweep, m.work
    row_of, column_of, w, val, par = s.row_of, s.column_of, s.w, work.val, work.par
    clear(found)
    for k in range(row_of.shape[0]):
        add_row(val[k] * w[column_of[k]], dy, par[k], found, row_of[k])


@kernel(types.void(MACHINE, I64, I64, MATRIX, MATRIX, MATRIX, VECTOR))
def answer(m, rank, counted, y, dx, found, largest):
    """The tangents (n_o, K) of the solution in the axes in use along those of the data (`dy`), with those of the
    unknowns y (Y, K) of the law and dx (X, K) of the impulses; `largest` (K,) are the sizes of the terms of their first
    `counted` entries if rows are redundant, NaN where these are inconsistent."""
    work, s, p, K, Y = m.work, m.sweep, m.system, y.shape[1], y.shape[0]
    n_f, n_c, X, n_o, order = work.X.shape[0], work.q.shape[0], p.x.shape[0], found.shape[0], s.order
    rho, g, dmu = scratch_matrix(work.A.shape[0], K), scratch_matrix(n_f, K), scratch_matrix(p.mu.shape[0], K)
    r, terms, low, high = scratch_matrix(X, K), scratch_matrix(X, K), scratch_matrix(X, K), scratch_matrix(X, K)
    right, total, off, size = scratch_matrix(Y, K), scratch_matrix(Y, K), scratch(K), scratch(K)
    bounds, redundant = n_f + n_c + n_o, rank < Y
    rows_along(m, s.dy, rho)
    solve_columns(s.LU, s.pivots, rho, g)
    for i in range(n_f):
        put_row(-1.0, g, i, g, i)
    for a in range(X):
        put_row(1.0, rho, n_f + order[a], r, a)
        put_row(1.0, rho, bounds + order[a], low, a)
        put_row(1.0, rho, bounds + n_c + order[a], high, a)
    put_sizes(r, terms)
    for a in range(X):
        add_products(1.0, work.A, n_f + order[a], 0, g, r[a : a + 1])
        if redundant:
            add_sizes(work.A, n_f + order[a], 0, g, terms[a : a + 1])
    clear(dmu)
    for i in range(dmu.shape[0]):
        if s.coefficient[i] >= 0:
            put_row(1.0, rho, bounds + 2 * n_c + s.coefficient[i], dmu, i)
    find_sources(p, dmu, low, high, dx, right)
    add_products(1.0, p.A, 0, 0, dx, r)
    if redundant:
        add_sizes(p.A, 0, 0, dx, terms)
        put_sizes(right, total)
        add_sizes(p.L, 0, 0, terms, total)
        for k in range(Y):
            put_row(p.E[k], total, k, total, k)
        put_largest(total, size)
    for k in range(Y):
        for a in range(p.begin[k], p.end[k]):
            add_row(-p.L[k, a], r, a, right, k)
    solve_factorised(p, Y, rank, right, y, off)
    for k in range(Y):
        for a in range(p.begin[k], p.end[k]):
            add_row(p.R[k, a], y, k, dx, a)
    carried(m, dx, g, counted if redundant else 0, found, largest)
    for i in range(n_o):
        add_row(1.0, rho, n_f + n_c + i, found, i)
    for j in range(K if redundant else 0):
        for i in range(counted):
            largest[j] = max(largest[j], abs(rho[n_f + n_c + i, j]))
        if not off[j] <= CONSISTENT * size[j]:
            largest[j] = np.nan


@kernel(types.void(MACHINE, I64, VECTOR, VECTOR, VECTOR, F64, VECTOR))
def due_to_data(m, Y, a, given, out, least, found):
    """The adjoint of the contact data (n_y,), from a (Y,) for the rows of the law, given (X,) for the solution and out
    (n_o,) for the outputs: the transpose of `answer`. Sums of at most the share `least` of their terms are zero."""
    work, s, p = m.work, m.sweep, m.system
    n_f, n_c, X, n_o = work.X.shape[0], work.q.shape[0], p.x.shape[0], out.shape[0]
    rho, force, left, u, v = scratch(work.A.shape[0]), scratch(X), scratch(X), scratch(n_f), scratch(n_f)
    sizes, terms, size = scratch(work.A.shape[0]), scratch(n_f + n_c), scratch(found.shape[0])
    bounds = n_f + n_c + n_o
    row_of, column_of, order, coefficient, w = s.row_of, s.column_of, s.order, s.coefficient, s.w
    val, par, A, W, L, begins, ends = work.val, work.par, work.A, p.A, p.L, p.begin, p.end
    set_all(0.0, rho)
    set_all(0.0, force)
    for k in range(Y):
        for i in range(begins[k], ends[k]):
            force[i] -= L[k, i] * a[k]
    for i in range(X):
        sizes[i] = abs(force[i])
        rho[n_f + order[i]] = force[i]
    copy(given, left)
    add_weighted_rows(W, 0, force, sizes, left, terms)
    for i in range(n_o):
        rho[n_f + n_c + i] = out[i]
    mu, low, high = scratch(p.mu.shape[0]), scratch(X), scratch(X)
    due_to_sources(p, a, left, mu, low, high)
    for i in range(X):
        rho[bounds + order[i]], rho[bounds + n_c + order[i]] = low[i], high[i]
    for i in range(mu.shape[0]):
        if coefficient[i] >= 0:
            rho[bounds + 2 * n_c + coefficient[i]] += mu[i]
    for i in range(bounds):
        sizes[i] = abs(rho[i])
    set_all(0.0, u)
    set_all(0.0, terms)
    add_weighted_rows(A, n_f, rho[n_f:bounds], sizes[n_f:bounds], u, terms)
    for j in range(n_f):
        u[j] = u[j] if abs(u[j]) > least * terms[j] else 0.0
    lu_solve_transposed(s.LU, s.pivots, u, v)
    for j in range(n_f):
        rho[j] = -v[j]
    set_all(0.0, found)
    set_all(0.0, size)
    for k in range(row_of.shape[0]):
        term, i = val[k] * rho[row_of[k]] * w[column_of[k]], par[k]
        found[i], size[i] = found[i] + term, size[i] + abs(term)
    for i in range(found.shape[0]):
        found[i] = found[i] if abs(found[i]) > least * size[i] else 0.0


@kernel(types.void(MACHINE, MATRIX, MATRIX))
def turned_back(m, dy, out):
    """Transform tangents of the solution (n_o, K) from the axes in use to the case's own, along dy (n_y, K)."""
    s, r = m.sweep, m.core.mu.shape[0]
    n = m.core.v.shape[0]
    if m.core.b_t.shape[0] != 2 * r:
        return
    for i in range(r):
        a, f = n + r + 2 * i, m.core.theta.shape[0] + 2 * i
        cos, sin, x, z = s.y[f], s.y[f + 1], s.raw[a], s.raw[a + 1]
        for j in range(out.shape[1]):
            dc, ds, dx, dz = dy[f, j], dy[f + 1, j], out[a, j], out[a + 1, j]
            out[a, j], out[a + 1, j] = cos * dx - sin * dz + dc * x - ds * z, sin * dx + cos * dz + ds * x + dc * z


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def turned_along(m, out, found):
    """The transpose of `turned_back`: adds the adjoint of the axes to found (n_y,), that of the solution to out."""
    s, r = m.sweep, m.core.mu.shape[0]
    n = m.core.v.shape[0]
    if m.core.b_t.shape[0] != 2 * r:
        return
    for i in range(r):
        a, f = n + r + 2 * i, m.core.theta.shape[0] + 2 * i
        cos, sin, x, z, X, Z = s.y[f], s.y[f + 1], s.raw[a], s.raw[a + 1], out[a], out[a + 1]
        found[f], found[f + 1] = X * x + Z * z, Z * x - X * z
        out[a], out[a + 1] = cos * X + sin * Z, cos * Z - sin * X


@kernel(F64(MACHINE, VECTOR))
def unit_along(m, t):
    """The length of a tangent (n_x,) along which no input moves farther than its own unit."""
    s, least = m.sweep, np.inf
    for i in range(t.shape[0]):
        if t[i] != 0.0 and s.x[i] - s.x[i] == 0.0:
            least = min(least, s.unit[i] / abs(t[i]))
    return least if least < np.inf else 1.0


@kernel(types.void(MACHINE, VECTOR, VECTOR, F64, VECTOR))
def coordinates(m, t, dv, unit, found):
    """The tangent of q+ along a tangent of the inputs (n_x,) and one of v+ (n_o,), by differences of order four."""
    s, n_q, n = m.sweep, m.track.q.shape[0], m.core.v.shape[0]
    q, v, data, values = scratch(n_q), scratch(n), scratch(m.track.data.shape[0]), scratch_matrix(4, n_q)
    after = t.shape[0] - data.shape[0]
    least = unit
    for i in range(n):
        if dv[i] != 0.0:
            least = min(least, (1.0 + abs(s.raw[i])) / abs(dv[i]))
    for k in range(4):
        step = AT[k] * WIDE * least
        for i in range(n_q):
            q[i] = s.x[i] + step * t[i]
        for i in range(n):
            v[i] = s.raw[i] + step * dv[i]
        for i in range(data.shape[0]):
            data[i] = s.x[after + i] + step * t[after + i]
        m.functions.advance(q, v, m.core.h, data, values[k])
    for i in range(n_q):
        found[i] = fourth(values[0, i], values[1, i], values[2, i], values[3, i], WIDE * least)


@kernel(types.boolean(MACHINE, MATRIX))
def slopes_along(m, tangents):
    """Compute the tangents `dy` (n_y, .) of the contact data along those of the inputs (K, n_x), by the tape; return
    False where they have a kink."""
    s, t, n_y = m.sweep, m.tape, m.sweep.y.shape[0]
    x, y, dy, out, tangent, smooth = s.x, s.y, s.dy, t.out, t.tangent, True
    for i in range(t.first):
        moves = i < tangents.shape[1] and x[i] - x[i] == 0.0
        for j in range(tangents.shape[0]):
            tangent[i, j] = tangents[j, i] if moves else 0.0
    carry_tangents(t, t.first, t.late)
    for k in range(n_y - m.track.q.shape[0]):
        if y[k] - y[k] == 0.0:
            put_row(1.0, tangent, out[k], dy, k)
        else:
            set_all(0.0, dy[k])
    if turn_ties(t):
        carry_tangents(t, t.first, t.late)
        for k in range(n_y - m.track.q.shape[0]):
            for j in range(tangents.shape[0]):
                if y[k] - y[k] == 0.0:
                    smooth &= abs(tangent[out[k], j] - dy[k, j]) <= KINKED * abs(dy[k, j])
    return smooth


@kernel(types.void(MACHINE, MATRIX, MATRIX))
def coordinates_along(m, answers, found):
    """Compute the tangents of q+ (K, n_q), the first of `found`, from those of v+ in `answers` (n_o, .), after
    `slopes_along`."""
    t, n_q, n, last = m.tape, m.track.q.shape[0], m.core.v.shape[0], m.sweep.x.shape[0] - m.core.v.shape[0]
    tangent, out, first = t.tangent, t.out, m.sweep.y.shape[0] - m.track.q.shape[0]
    for i in range(n):
        put_row(1.0, answers, i, tangent, last + i)
    carry_tangents(t, t.late, t.a.shape[0])
    for j in range(found.shape[0]):
        for i in range(n_q):
            found[j, i] = tangent[out[first + i], j]


@kernel(I64(MACHINE, I64, INDICES, VECTOR))
def find_bounded(m, Y, rows, side):
    """Find the y with a bound: their indices, and 1 where it is below, -1 where it is above; return their number, -1 if
    there are too many, or if any is bounded otherwise."""
    p, count = m.system, 0
    for i in range(Y):
        if p.law[i] != NO_CONE or p.loose[i] >= 0 or (count == FEW and (p.low[i] == 0.0 or p.high[i] == 0.0)):
            return -1
        if p.low[i] == 0.0 or p.high[i] == 0.0:
            rows[count], side[count] = i, 1.0 if p.low[i] == 0.0 else -1.0
            count += 1
    return count


@kernel(types.void(MACHINE, I64, INDICES, VECTOR, MATRIX, MATRIX))
def move_bounded(m, Y, rows, side, M, dx):
    """Compute how the y of `rows` move, M (N, N), and the impulses, dx (X, K), where their rows of the law move by
    `side`, one in each column."""
    p, N = m.system, side.shape[0]
    b, y, off = scratch_matrix(Y, FEW), scratch_matrix(Y, FEW), scratch(FEW)
    clear(b)
    for k in range(N):
        b[rows[k], k] = side[k]
    solve_factorised(p, Y, Y, b, y, off)
    clear(dx)
    for i in range(Y):
        for a in range(p.begin[i], p.end[i]):
            add_row(p.R[i, a], y, i, dx, a)
    for k in range(N):
        for i in range(N):
            M[i, k] = side[i] * y[rows[i], k]


@kernel(types.void(MATRIX, MATRIX, MATRIX, VECTOR, MATRIX, INDICES))
def find_forces(M, q, effects, size, found, count):
    """Compute `found` (N, .) of 0 <= found, complementary to M found + q >= 0, for the first K columns of q (N, .), and
    the numbers `count` (K,) of solutions, 2 for more than one, by their effects on outputs (n_o, .), of which `size`
    (K,) is the largest."""
    N, A, right, z = q.shape[0], np.empty(M.shape), np.empty(q.shape), np.empty(q.shape)
    lower, upper, every, state, pivots = np.zeros(N), np.full(N, np.inf), np.arange(N), np.arange(N), np.arange(N)
    here, force = scratch(N), scratch(N)
    clear(found)
    count[:] = 0
    for choice in range(1 << N):
        for i in range(N):
            bears = (choice >> i) % 2 == 1
            state[i] = BETWEEN if bears else AT_LOWER
            put_row(-1.0 if bears else 0.0, q, i, right, i)
            for k in range(N):
                A[i, k] = M[i, k] if bears else 1.0 if i == k else 0.0
        if lu_factor(A, pivots):
            continue
        solve_columns(A, pivots, right, z)
        for j in range(count.shape[0]):
            for i in range(N):
                here[i], force[i] = q[i, j], z[i, j]
            if count[j] == 2 or not is_within(M, here, lower, upper, every, state, force):
                continue
            if count[j] == 0:
                for i in range(N):
                    found[i, j] = force[i]
                count[j] = 1
            for i in range(effects.shape[0]):
                apart = 0.0
                for a in range(N):
                    apart += effects[i, a] * (force[a] - found[a, j])
                if not abs(apart) <= ALLOWED * size[j]:
                    count[j] = 2


@kernel(types.boolean(MACHINE, I64, I64, MATRIX, MATRIX, INDICES))
def answer_between(m, Y, counted, y, dx, notes):
    """Add to the tangents in `answers`, for which the y (Y, .) had no bounds, what these make of them, and note kinks;
    return whether each is the only one. dx (X, .), those of the impulses, is overwritten."""
    s, bounded, sides, n_f, n_o = m.sweep, scratch_indices(FEW), scratch(FEW), m.work.X.shape[0], m.work.out.shape[0]
    N = find_bounded(m, Y, bounded, sides)
    if N <= 0:
        return N == 0
    X, wide, M, count = dx.shape[0], dx.shape[1], scratch_matrix(N, N), scratch_indices(notes.shape[0])
    moved, effects, still = scratch_matrix(X, FEW), scratch_matrix(n_o, FEW), scratch_matrix(n_f, FEW)
    q, force, back = scratch_matrix(N, wide), scratch_matrix(N, wide), scratch_matrix(N, wide)
    g, out, change, size = (
        scratch_matrix(n_f, wide),
        scratch_matrix(n_o, wide),
        scratch_matrix(counted, wide),
        scratch(wide),
    )
    move_bounded(m, Y, bounded, sides[:N], M, moved)
    clear(still)
    carried(m, moved, still, counted, effects, size)
    clear(g)
    carried(m, dx, g, counted, out, size)
    for k in range(N):
        put_row(sides[k], y, bounded[k], q, k)
    find_forces(M, q, effects[:counted], size, force, count)
    for j in range(notes.shape[0]):
        if count[j] != 1:
            return False
    for k in range(N):
        put_row(-1.0, q, k, q, k)
        for a in range(X):
            add_row(moved[a, k], force, k, dx, a)
    find_forces(M, q, effects[:counted], size, back, count)
    add_products(1.0, effects, 0, 0, force, s.answers[:counted])
    clear(change)
    add_products(1.0, effects, 0, 0, force, change)
    add_products(1.0, effects, 0, 0, back, change)
    # What moves the outputs besides the impulses is no part of a kink.
    clear(g)
    carried(m, dx, g, counted, out, size)
    for j in range(notes.shape[0]):
        alike = count[j] == 1
        for i in range(counted):
            alike &= abs(change[i, j]) <= SAME * size[j]
        notes[j] |= 0 if alike else KINK
    return True


@kernel(types.boolean(MACHINE, I64, I64, I64, I64))
def are_determined(m, Y, rank, K, counted):
    """Return whether the first `counted` of the K tangents in `answers` do not depend on how redundant contacts share
    the load, S being factorised; the system is left at another of its solutions."""
    s, n_o, wide, same = m.sweep, m.work.out.shape[0], m.sweep.dy.shape[1], True
    if not move_aside(m, Y, rank, counted):
        return False
    Y, rank = linearise_aside(m, Y, rank)
    if rank < 0:
        return False
    y, dx = scratch_matrix(Y, wide), scratch_matrix(m.system.x.shape[0], wide)
    out, terms = scratch_matrix(n_o, wide), scratch(wide)
    answer(m, rank, counted, y, dx, out, terms)
    for i in range(counted):
        for j in range(K):
            same &= abs(out[i, j] - s.answers[i, j]) <= SAME * s.terms[j]
    return same


@kernel(types.boolean(MACHINE, MATRIX, MATRIX, INDICES))
def step_ahead(m, tangents, found, notes):
    """The tangents (K, n_x) after a step whose inputs and solution are loaded, and notes on them (K,); False where they
    are undetermined."""
    s, taped, vague = m.sweep, m.tape.out.shape[0] > 0, 0
    for j in range(notes.shape[0]):
        notes[j] = 0
    if not is_loaded(m) or (taped and not slopes_along(m, tangents)):
        return False
    holds = is_between_none(m)
    Y, rank = linearise(m)
    holds = holds and rank >= 0 and is_clear(m, Y, rank)
    if not holds:
        Y, rank, vague = linearise_known(m)
    if rank < 0 or not is_recorded(m):
        return False
    tied = taped and s.way[0] != HOLDS
    K, wide, one = tangents.shape[0], s.dy.shape[1], scratch(s.y.shape[0])
    counted = m.work.out.shape[0] if s.asks else m.core.v.shape[0]
    y, dx = scratch_matrix(Y, wide), scratch_matrix(m.system.x.shape[0], wide)
    for j in range(0 if taped and not tied else K):
        # Differences tell whether a condition that holds just so matters.
        if not find_slope(m, tangents[j], unit_along(m, tangents[j]), one):
            notes[j] |= ROUGH
        # Redundant rows may contradict one another there.
        if rank < Y and notes[j] > 0:
            return False
        if not tied:
            for i in range(one.shape[0]):
                s.dy[i, j] = one[i]
    answer(m, rank, counted, y, dx, s.answers, s.terms)
    for j in range(K):
        if s.terms[j] != s.terms[j]:
            return False
        notes[j] |= (ROUGH if vague else 0) | (BESIDE if tied else 0)
    if not holds and not answer_between(m, Y, counted, y, dx, notes):
        return False
    if rank < Y and not are_determined(m, Y, rank, K, counted):
        return False
    return end_ahead(m, tangents, counted, found)


@kernel(types.boolean(MACHINE, MATRIX, I64, MATRIX))
def end_ahead(m, tangents, counted, found):
    """Compute the tangents (K, n_x) after a step from those before it, of its data and of the first `counted` outputs;
    return whether they are finite."""
    s, n_q, n, n_o = m.sweep, m.track.q.shape[0], m.core.v.shape[0], m.work.out.shape[0]
    first, n_d, taped = n_q + n + n_o, m.track.data.shape[0], m.tape.out.shape[0] > 0
    n_m = tangents.shape[1] - first - n_d
    dv, finite = scratch(n_o), True
    turned_back(m, s.dy, s.answers)
    for j in range(tangents.shape[0]):
        after = found[j]
        for i in range(n_o):
            dv[i] = s.answers[i, j]
        finite &= is_finite(dv)
        if not taped:
            coordinates(m, tangents[j], dv, unit_along(m, tangents[j]), after)
        for i in range(n):
            after[n_q + i] = dv[i]
        for i in range(n_o):
            after[n_q + n + i] = dv[i] if i < counted else 0.0
        for i in range(n_m):
            after[first + i] = s.dy[s.y.shape[0] - n_q - n_m + i, j]
        for i in range(first + n_m, after.shape[0]):
            after[i] = tangents[j, i]
    if taped:
        coordinates_along(m, s.answers, found)
    return finite


@kernel(I64(I64, I64, MATRIX, CUBE, CODES, CODES, MACHINE), checked=False)
def ahead(start, steps, rows, tangents, modes, notes, m):
    """Tangents (steps + 1, K, n_x) of a recorded motion from step `start` on, the modes (steps - start, X), and the
    notes (steps - start, K); returns the first step that is left to the caller, or `steps`."""
    for k in range(start, steps):
        recall(k, rows, m)
        if not step_ahead(m, tangents[k], tangents[k + 1], notes[k - start]):
            return k
        for a in range(modes.shape[1]):
            modes[k - start, a] = m.system.mode[a]
    return steps


@kernel(types.void(MACHINE, VECTOR, VECTOR, VECTOR))
def due_to_solution(m, out, given, terms):
    """The adjoint `given` (X,) of the solution in the system from that of the outputs (n_o,), after `linearise`, and
    the sizes of the terms of its sums."""
    work, s = m.work, m.sweep
    n_f, n_c = work.X.shape[0], work.q.shape[0]
    turned, axes, A, free, order = scratch(out.shape[0]), scratch(s.y.shape[0]), work.A, work.X, s.order
    due, size, sizes, moved = scratch(n_f + n_c), scratch(n_f + n_c), scratch(out.shape[0]), scratch(n_f)
    copy(out, turned)
    turned_along(m, turned, axes)
    set_all(0.0, due)
    set_all(0.0, size)
    for k in range(out.shape[0]):
        sizes[k] = abs(turned[k])
    add_weighted_rows(A, n_f + n_c, turned, sizes, due, size)
    for j in range(n_f):
        moved[j] = -due[j]
    add_weighted_rows(free, 0, moved, size[:n_f], due[n_f:], size[n_f:])
    for i in range(n_c):
        given[i], terms[i] = due[n_f + order[i]], size[n_f + order[i]]


@kernel(types.void(MACHINE, VECTOR, VECTOR, VECTOR, VECTOR), checked=False)
def due_to_parameters(m, a, given, out, found):
    """The adjoint of the contact data and the axes in use (n_y,), from a (Y,) for the rows of the law and the adjoints
    of the solution (X,) and the outputs (n_o,)."""
    turned, axes, frames = scratch(out.shape[0]), scratch(found.shape[0]), m.core.theta.shape[0]
    copy(out, turned)
    set_all(0.0, axes)
    turned_along(m, turned, axes)
    due_to_data(m, a.shape[0], a, given, turned, 0.0, found)
    for i in range(frames, frames + 2 * m.core.mu.shape[0]):
        found[i] = axes[i]


@kernel(types.boolean(MACHINE, I64, I64, VECTOR, VECTOR))
def in_reverse(m, Y, rank, out, found):
    """The adjoint of the contact data, in `found` (n_y,), from that of the outputs (n_o,), after `linearise`. False
    where the solution is not unique."""
    p, X, largest = m.system, m.system.x.shape[0], 0.0
    given, terms, right, a = scratch(X), scratch(X), scratch(Y), scratch(Y)
    due_to_solution(m, out, given, terms)
    for k in range(Y):
        right[k] = total = 0.0
        for i in range(p.begin[k], p.end[k]):
            right[k] += p.R[k, i] * given[i]
            total += abs(p.R[k, i]) * terms[i]
        largest = max(largest, p.E[k] * total)
    if not solve_transposed(p, Y, rank, right, a) <= CONSISTENT * largest:
        return False
    due_to_parameters(m, a, given, out, found)
    return True


@kernel(types.boolean(MACHINE, I64, I64, VECTOR))
def may_contradict(m, Y, rank, found):
    """Compute how far data move redundant rows in ways that contradict one another, in `found` (n_y,), after
    `linearise`; return whether any does."""
    given, a, none, moves = scratch(m.system.x.shape[0]), scratch(Y), scratch(m.work.out.shape[0]), False
    find_left_kernel(m.system, Y, rank, a)
    set_all(0.0, given)
    set_all(0.0, none)
    due_to_data(m, Y, a, given, none, CONSISTENT, found)
    for i in range(found.shape[0]):
        moves |= found[i] != 0.0
    return moves


@kernel(types.void(MACHINE, VECTOR, types.boolean, I64, VECTOR))
def due_to_inputs(m, due, sizes, start, found):
    """Compute the adjoint of the inputs (n_w,) from that of the data (n_y,), or the size of its terms, by the tape's
    operations from `start` on."""
    t, out = m.tape, m.tape.out
    adjoint, N = t.adjoint, t.a.shape[0]
    set_all(0.0, adjoint)
    for k in range(out.shape[0]):
        adjoint[out[k]] += abs(due[k]) if sizes else due[k]
    if sizes:
        carry_sizes(t, N, start)
    else:
        carry_adjoints(t, N, start)
    for i in range(found.shape[0]):
        found[i] = adjoint[i]


@kernel(types.boolean(VECTOR, VECTOR, F64, VECTOR))
def are_alike(x, y, share, sizes):
    """Return whether the entries of x (n,) are those of y up to this share of the sizes."""
    same = True
    for i in range(x.shape[0]):
        same &= abs(x[i] - y[i]) <= share * abs(sizes[i])
    return same


@kernel(types.boolean(MACHINE, VECTOR, VECTOR))
def step_back(m, due, found):
    """The adjoint of the inputs (n_x,) of a step whose inputs and solution are loaded, from the adjoint of those
    after it; False where it cannot be determined."""
    s, n_q, n, n_o = m.sweep, m.track.q.shape[0], m.core.v.shape[0], m.work.out.shape[0]
    n_x, n_y, n_w, n_d = due.shape[0], s.y.shape[0], s.x.shape[0], m.track.data.shape[0]
    counted, first = n_o if s.asks else n, m.tape.first
    if m.tape.out.shape[0] == 0 or not is_loaded(m) or not is_between_none(m):
        return False
    Y, rank = linearise(m)
    if rank < 0 or not is_clear(m, Y, rank) or not is_recorded(m):
        return False
    # The derivative is that on this side of conditions that hold just so; redundant rows may contradict one another.
    if rank < Y and s.way[0] != HOLDS:
        return False
    here, aside, outside, out = scratch(n_y), scratch(n_y), scratch(n_y), scratch(n_o)
    total, size, other, against = scratch(n_w), scratch(n_w), scratch(n_w), scratch(n_w)
    # Of the data, only q+ depends on v+, by the last operations.
    set_all(0.0, here)
    for i in range(n_q):
        here[n_y - n_q + i] = due[i]
    due_to_inputs(m, here, False, m.tape.late, total)
    for i in range(n_o):
        out[i] = due[n_q + n + i] if i < counted else 0.0
    for i in range(n):
        out[i] += due[n_q + i] + total[n_x + i]
    if not in_reverse(m, Y, rank, out, here):
        return False
    pass_on(m, due, here)
    due_to_inputs(m, here, False, first, total)
    if rank < Y:
        # The adjoint must not depend on the load distribution of redundant contacts.
        if not move_aside(m, Y, rank, counted):
            return False
        Y, rank = linearise_aside(m, Y, rank)
        if rank < 0 or not in_reverse(m, Y, rank, out, aside):
            return False
        pass_on(m, due, aside)
        due_to_inputs(m, aside, False, first, other)
        # Sums are no larger than the sizes of their terms.
        if not are_alike(other[:n_x], total, SAME, total):
            due_to_inputs(m, here, True, first, size)
            if not are_alike(other[:n_x], total, SAME, size):
                return False
        if may_contradict(m, Y, rank, outside):
            due_to_inputs(m, outside, False, first, other)
            due_to_inputs(m, outside, True, first, against)
            for i in range(n_x):
                if abs(other[i]) > CONSISTENT * against[i]:
                    return False
    if turn_ties(m.tape):
        due_to_inputs(m, here, True, first, size)
        due_to_inputs(m, here, False, first, other)
        if not are_alike(other, total, KINKED, size):
            return False
    for i in range(n_x):
        found[i] = total[i] + (due[i] if i >= n_x - n_d else 0.0)
    return is_finite(found)


@kernel(types.void(MACHINE, VECTOR, VECTOR))
def pass_on(m, due, found):
    """Put the adjoints of q+ and of the rest of the memory into that of the data (n_y,)."""
    n_q, n_y, n_x = m.track.q.shape[0], found.shape[0], due.shape[0]
    n_m = n_x - n_q - m.core.v.shape[0] - m.work.out.shape[0] - m.track.data.shape[0]
    for i in range(n_q):
        found[n_y - n_q + i] = due[i]
    for i in range(n_m):
        found[n_y - n_q - n_m + i] = due[n_x - m.track.data.shape[0] - n_m + i]


@kernel(I64(I64, I64, MATRIX, MATRIX, VECTOR, VECTOR, MACHINE), checked=False)
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
