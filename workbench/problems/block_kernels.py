"""Kernels of `contact_blocks`: blocks of W, units, and the residual block by block (formulary, 7.5).

A cone is measured as a contact of a friction-cone problem, an interval as a row of an MLCP. What differs from
`residual` is what matrices of blocks know: the terms of a row are those of its own block one by one, and what all
others make of it together, as for cones; a row's unit comes from its own block; a part is an island of blocks. Free
velocities are sums over bodies too, and count by the sizes of what is added up: rounding is a share of those.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, VECTOR
from workbench.engine.scratch import scratch
from workbench.problems.residual import (
    FAINT,
    FAINT_SCALED,
    FAR,
    FAR_SCALED,
    QUIET,
    READ_ROW,
    contact_gap,
    disc_gap,
    equilibration,
    length,
    signorini_gap,
)
from workbench.problems.sets import APART, COULOMB, DISC

I64, F64 = types.int64, types.float64
READ_INDICES = types.Array(types.int64, 1, "C", readonly=True)
STORED = (INDICES, INDICES, VECTOR)
"""first, column, values of a sparse matrix."""


@kernel(types.void(READ_INDICES, I64, *STORED, *STORED, I64, VECTOR))
def row_products(row, first, J_first, J_column, J, V_first, V_column, V, n, W):
    """W, flat: the products of rows a of J (R, n) and `first` + b of V for all a, b of the same block."""
    spread, at = np.zeros(n), 0
    for i in range(row.shape[0] - 1):
        m = row[i + 1] - row[i]
        for a in range(row[i], row[i + 1]):
            for p in range(J_first[a], J_first[a + 1]):
                spread[J_column[p]] = J[p]
            for b in range(row[i], row[i + 1]):
                if first <= b < first + V_first.shape[0] - 1:
                    total = 0.0
                    for p in range(V_first[b - first], V_first[b - first + 1]):
                        total += spread[V_column[p]] * V[p]
                    W[at + (a - row[i]) * m + b - row[i]] = total
            for p in range(J_first[a], J_first[a + 1]):
                spread[J_column[p]] = 0.0
        at += m * m


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, READ_ROW, VECTOR))
def own_matrices(row, unknown, L, N, R, W, A):
    """A = L W R + N block by block, flat as N; W flat, m_i m_i numbers for block i."""
    at_L, at_N, at_W = 0, 0, 0
    for i in range(row.shape[0] - 1):
        m, k = row[i + 1] - row[i], unknown[i + 1] - unknown[i]
        for p in range(k):
            for q in range(k):
                A[at_N + p * k + q] = N[at_N + p * k + q]
            for b in range(m):
                left = 0.0
                for a in range(m):
                    left += L[at_L + p * m + a] * W[at_W + a * m + b]
                for q in range(k):
                    A[at_N + p * k + q] += left * R[at_L + b * k + q]
        at_L, at_N, at_W = at_L + k * m, at_N + k * k, at_W + m * m


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, VECTOR))
def block_units(unknown, cone, A, q, x, D):
    """D (X,): `equilibration` of every block of intervals, `contact_units` of every cone; A flat."""
    at = 0
    for i in range(cone.shape[0]):
        first, k = unknown[i], unknown[i + 1] - unknown[i]
        if cone[i] == 0:
            own, unit = np.empty((k, k)), np.empty(k)
            for a in range(k):
                for b in range(k):
                    own[a, b] = A[at + a * k + b]
            equilibration(own, unit)
            for a in range(k):
                D[first + a] = unit[a]
        else:
            trace = 0.0
            for a in range(k):
                trace += A[at + a * (k + 1)]
            unit_of_cone = 1.0
            if trace > 0.0:
                unit_of_cone = np.sqrt(k / trace)
            else:
                impulse, free = length(x, first, first + k), length(q, first, first + k)
                if impulse > 0.0 and free > 0.0:
                    unit_of_cone = np.sqrt(impulse) / np.sqrt(free)
            for a in range(k):
                D[first + a] = unit_of_cone
        at += k * k


ROWS = (READ_ROW,) * 9
MEASURED = (VECTOR,) * 5


@kernel(types.void(I64, I64, I64, *ROWS, *MEASURED))
def measure_intervals(first, k, at, A, D, lower, upper, q, sizes, moved, made, x, gap, scale, loud, motion, faint):
    """The rows first : first + k, as `bounded_residual` has them: gaps, scales of their own, terms, motion."""
    for i in range(first, first + k):
        unit, terms, others = D[i], 0.0, moved[i]
        for j in range(k):
            term = A[at + (i - first) * k + j] * x[first + j]
            terms, others = terms + abs(term), others - term
        terms = unit * (terms + abs(others))
        w, free, change = unit * (moved[i] + q[i]), unit * q[i], unit * moved[i]
        y, low, high = x[i] / unit, lower[i] / unit, upper[i] / unit
        part_of_gap = min(max(w, y - high), y - low)
        gap[i] = abs(part_of_gap) if np.isfinite(w + y) else np.inf
        slack = part_of_gap == 0.0 and not low < y < high
        motion[i] = min(abs(change), abs(free)) if slack else max(abs(change), abs(free))
        if low > -np.inf and high < np.inf:
            motion[i] = max(motion[i], abs(y))
        # What x can answer within its bounds competes.
        scale[i] = max(min(-free, max(high, 0.0)), min(free, max(-low, 0.0)))
        loud[i], faint[i] = terms, FAINT * unit * sizes[i]


@kernel(I64(I64, I64))
def disc_end(first, m):
    """Of m rows [n, t], where the disc ends that begins at row `first`: sliding 1 : 3, torsion 3 : 4, rolling 4 : m."""
    return min(3 if first == 1 else 4 if first == 3 else m, m)


@kernel(F64(VECTOR, VECTOR, F64))
def apart_gap(y, w, mu):
    """The gap of Coulomb's law with a disc each for sliding, torsion and rolling."""
    gap, first, y_n = signorini_gap(y, w), 1, max(y[0], 0.0)
    while first < y.shape[0]:
        end = disc_end(first, y.shape[0])
        gap = max(gap, disc_gap(y, w, first, end, mu * y_n))
        first = end
    return gap


@kernel(F64(I64, VECTOR, VECTOR, F64))
def law_gap(cone, y, w, mu):
    """How far one block with a cone or a disc is from its law, in its units; w is changed."""
    if cone == APART:
        return apart_gap(y, w, mu)
    if cone == DISC:
        return disc_gap(y, w, 0, y.shape[0], mu)
    return contact_gap(y, w, mu, cone != COULOMB)


@kernel(types.void(I64, I64, I64, *ROWS, F64, I64, *MEASURED))
def measure_cone(first, k, at, A, D, lower, upper, q, sizes, moved, made, x, mu, cone, gap, scale, loud, motion, faint):
    """The contact of the rows first : first + k, as `cone_residual` has it; all that is found stands at `first`.

    Cones of several discs and discs of given radius are measured likewise, by their own equations.
    """
    unit, still = D[first], False
    y, w, step, given, noise, term = scratch(k), scratch(k), scratch(k), scratch(k), scratch(k), scratch(k)
    for a in range(k):
        i = first + a
        y[a], w[a] = x[i] / unit, unit * (moved[i] + q[i])
        step[a], given[a], noise[a], term[a] = unit * moved[i], unit * q[i], unit * sizes[i], unit * made[i]
        still |= x[i] != 0.0 and not A[at + a * (k + 1)] > 0.0
        gap[i] = scale[i] = loud[i] = motion[i] = faint[i] = 0.0
    size, change, ahead = length(y, 0, k), length(step, 0, k), length(w, 0, k)
    free, rounding, terms = length(given, 0, k), length(noise, 0, k), length(term, 0, k)
    gap[first] = law_gap(cone, y, w, mu / unit if cone == DISC else mu)
    # An idle contact may move without limit, and may be far from where anything moves.
    motion[first] = max(ahead, free) if size > 0.0 or gap[first] > 0.0 else min(change, free)
    # What x can answer competes; a disc bounds it, and what it bears counts as motion, as between two bounds.
    competes = -unit * q[first]
    if cone == DISC:
        competes, motion[first] = min(free, mu / unit), max(motion[first], size)
    scale[first] = max(change, max(competes, FAINT * rounding))
    # Impulses that move nothing are no scale.
    loud[first] = max(0.0 if still else size, FAINT * terms)
    if not np.isfinite(ahead + size):
        gap[first] = np.inf


@kernel(types.void(READ_INDICES, READ_INDICES, READ_INDICES, READ_ROW, *ROWS, VECTOR))
def block_residuals(unknown, part, cone, mu, A, D, lower, upper, q, sizes, moved, made, x, found):
    """The residual of every block into found (B,).

    q (X,) and the `sizes` of what it is the sum of; moved = (L W R + N) x (X,) and those, `made`.
    """
    B, X = cone.shape[0], x.shape[0]
    gap, scale, loud, motion, faint = np.empty(X), np.empty(X), np.empty(X), np.empty(X), np.empty(X)
    loudest, moves, faintest, largest, at = np.zeros(B), np.zeros(B), np.zeros(B), np.zeros(B), 0
    for i in range(B):
        first, k, p = unknown[i], unknown[i + 1] - unknown[i], part[i]
        if cone[i] == 0:
            measure_intervals(
                first, k, at, A, D, lower, upper, q, sizes, moved, made, x, gap, scale, loud, motion, faint,
            )  # fmt: skip
        else:
            measure_cone(
                first, k, at, A, D, lower, upper, q, sizes, moved, made, x, mu[i], cone[i],
                gap, scale, loud, motion, faint,
            )  # fmt: skip
        for j in range(first, first + k):
            loudest[p], moves[p] = max(loudest[p], loud[j]), max(moves[p], motion[j])
            faintest[p] = max(faintest[p], faint[j])
        at += k * k
    for i in range(B):
        p = part[i]
        for j in range(unknown[i], unknown[i + 1]):
            if cone[i] == 0:
                # Free velocities of one island come from the same bodies and carry the rounding of the largest.
                own = min(max(loud[j], FAINT_SCALED * loudest[p]), FAR_SCALED * moves[p])
                scale[j] = max(max(scale[j], faintest[p]), own)
                largest[p] = max(largest[p], scale[j])
            else:
                scale[j] = max(scale[j], min(loud[j], FAR * moves[p]))
    for i in range(B):
        found[i] = 0.0
        for j in range(unknown[i], unknown[i + 1]):
            size = max(scale[j], QUIET * largest[part[i]]) if cone[i] == 0 else scale[j]
            if not (gap[j] < np.inf and size < np.inf):
                found[i] = np.inf
            elif gap[j] > 0.0:
                found[i] = max(found[i], gap[j] / size if size > 0.0 else np.inf)
