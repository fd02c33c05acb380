"""Compiled residuals of `classes`: the natural map, equilibrated by rows or contacts (formulary, 7.5).

Each row or contact has a unit D, which makes z/D and D (M z + q) the same kind of quantity (the square root of an
energy if z are impulses), and a scale by which its gap is divided. The largest quotient is the residual. Uncoupled
parts do not influence each other: a scale uses other rows only of its own part, those that M couples to it directly or
through others.

One kernel measures all problems (`measure`). It sees sets and rows in units: an LCP has one set for every row, and
problems without a matrix supply the products of its rows (`measure_raised`).
"""

from math import frexp, ldexp
from typing import NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import WITHIN
from workbench.engine.scratch import INDICES, MATRIX, VECTOR, scratch, scratch_indices, scratch_matrix
from workbench.problems.islands import READ_INDICES, coupled_parts
from workbench.problems.sets import APART, ASSOCIATED, COULOMB, DISC, NO_CONE, BlockSets
from workbench.support.arrays import Array

FAR = 1e5
"""Impulses z/D of a contact count up to this multiple of the motion D u of its part: those of nearly redundant contacts
are larger, and without limit along a ray, where nothing moves."""
FAR_SCALED = 1e3
"""The counterpart of FAR for the terms of a row of an LCP."""
FAINT = 1e-5
"""Weight of terms that cancel or need no impulse; they only set the scale of round-off. Such are a free velocity that
no impulse has to oppose (a large gap, fast sliding), and the velocities due to single impulses."""
FAINT_SCALED = 1e-4
"""The counterpart of FAINT for the terms of other rows of an LCP: if nothing moves along a row its own terms vanish,
while a contact still has its whole impulse."""
ROUNDING = 1e-13
"""Share of the largest velocities up to which all terms in a part of an LCP are round-off of others: the friction rows
of an open contact, or the row across the sliding direction. The scale is then FAINT_SCALED of the largest."""
QUIET = 1e-6
"""Lower bound of a row's scale as a share of the largest scale of an LCP's rows: methods round in all rows together."""
LARGE = 400
"""Binary exponent to which small data are scaled up, so that nothing underflows and squares do not overflow."""

I64 = types.int64
READ_ROW, READ, READ_CUBE = (types.Array(types.float64, rank, "C", readonly=True) for rank in (1, 2, 3))


@kernel(types.void(READ, VECTOR))
def known_scales(M, D):
    """Fill D (n,) = 1 / sqrt|M_ii| where M_ii exceeds the round-off of the row's other entries, else 0."""
    n = M.shape[0]
    for i in range(n):
        met, diagonal = 0.0, abs(M[i, i])
        for j in range(n):
            if M[j, j] != 0.0:
                met = max(met, max(abs(M[i, j]), abs(M[j, i])) ** 2 / abs(M[j, j]))
        D[i] = 1.0 / np.sqrt(diagonal) if diagonal > 1e-12 * met else 0.0


@kernel(types.void(READ, VECTOR))
def equilibration(M, D):
    """Fill D (n,) with `classes.equilibration` of one matrix."""
    n = M.shape[0]
    largest, least = 0.0, np.inf
    for i in range(n):
        D[i] = abs(M[i, i])
        least = min(least, D[i]) if D[i] > 0.0 else least
        for j in range(n):
            largest = max(largest, abs(M[i, j]))
    # No |M_ij M_ji / M_jj| is larger than this: usually no diagonal entry is within its round-off, and none is checked.
    if least > 1e-12 * (largest * (largest / least)):
        for i in range(n):
            D[i] = 1.0 / np.sqrt(D[i]) if D[i] > 0.0 else 0.0
    else:
        known_scales(M, D)
    new = True
    while new:
        new = False
        for i in range(n):
            if D[i] == 0.0:
                reach = 0.0
                for j in range(n):
                    # Entries found in this round are negative until it ends.
                    reach = max(reach, max(abs(M[i, j]), abs(M[j, i])) * D[j])
                if reach > 0.0:
                    D[i], new = -1.0 / reach, True
        for i in range(n):
            D[i] = abs(D[i])
    for i in range(n):
        if D[i] == 0.0:
            D[i] = 1.0


@kernel(I64(READ_ROW, READ_ROW, READ_ROW))
def growth_exponent(D, z, q):
    """Return the binary exponent by which z and q (n,) may be scaled up until the largest of z/D, D q is `LARGE`."""
    top, some = -5000, False
    for i in range(q.shape[0]):
        unit = frexp(D[i])[1]
        if z[i] != 0.0:
            top, some = max(top, frexp(z[i])[1] - unit), True
        if q[i] != 0.0:
            top, some = max(top, frexp(q[i])[1] + unit), True
    return max(0, LARGE - top) if some else 0


@kernel(types.float64(READ_ROW, I64, I64), linked=True)
def length(x, first, end):
    """Return |x[first : end]|_2 without overflow or underflow."""
    total = 0.0
    for k in range(first, end):
        total += x[k] * x[k]
    # `hypot` takes ten times as long.
    if 1e-280 < total < 1e280:
        return np.sqrt(total)
    total = 0.0
    for k in range(first, end):
        total = np.hypot(total, x[k])
    return total


@kernel(types.float64(types.float64, READ_ROW, READ_ROW, I64, I64))
def unit_of_set(trace, q, x, first, end):
    """Return sqrt(rho) of a cone or disc, rows first : end, with rho = m / tr W_ii; |x_i|/|q_i| if W_ii is zero."""
    if trace > 0.0:
        return np.sqrt((end - first) / trace)
    impulse, free = length(x, first, end), length(q, first, end)
    return np.sqrt(impulse) / np.sqrt(free) if impulse > 0.0 and free > 0.0 else 1.0


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, READ_ROW, VECTOR))
def block_units(first, cone, diagonal, own, q, x, D):
    """Fill D (X,): `equilibration` of every block of intervals and `unit_of_set` of all other sets.

    diagonal (X,) of W; own: its diagonal blocks, flat, block after block, each row by row; only those of intervals are
    read.
    """
    at = 0
    for i in range(cone.shape[0]):
        begin, end, trace = first[i], first[i + 1], 0.0
        m = end - begin
        if cone[i] == NO_CONE:
            equilibration(own[at : at + m * m].reshape(m, m), D[begin:end])
        else:
            for k in range(begin, end):
                trace += diagonal[k]
            unit = unit_of_set(trace, q, x, begin, end)
            for k in range(begin, end):
                D[k] = unit
        at += m * m


@kernel(types.void(I64, READ_ROW, READ_ROW, READ_ROW, VECTOR))
def contact_units(m, diagonal, q, x, D):
    """Fill D (X,) with `unit_of_set` of contacts of m rows each, one after another."""
    for first in range(0, q.shape[0], m):
        trace = 0.0
        for k in range(first, first + m):
            trace += diagonal[k]
        unit = unit_of_set(trace, q, x, first, first + m)
        for k in range(first, first + m):
            D[k] = unit


@kernel(types.float64(VECTOR, VECTOR, I64, I64, types.float64))
def natural_gap(y, w, first, end, mu):
    """Return |y - P_K(y - w)| of the friction cone of the rows first : end, normal first.

    y is an impulse and w a velocity in the contact's units."""
    m = end - first
    ahead, gap = scratch(m), scratch(m)
    for a in range(m):
        ahead[a] = y[first + a] - w[first + a]
    radius = length(ahead, 1, m)
    # Sine and cosine of the cone's angle from its axis.
    cosine = 1.0 / (np.sqrt(1.0 + mu * mu) if mu < 1e100 else mu)
    sine = mu * cosine
    # Check the polar cone first: with mu = 0 and y_t = w_t a negative y_n would count as inside.
    if sine * radius <= -cosine * ahead[0]:
        return length(y, first, end)
    # y - P(y - w) as w + (y - w - P(y - w)): y - w would lose the motion next to a large impulse along a ray.
    outside = max(0.0, cosine * radius - sine * ahead[0])
    gap[0] = w[first] - sine * outside
    for a in range(1, m):
        along = cosine * outside * (ahead[a] / radius) if radius > 0.0 else 0.0
        gap[a] = w[first + a] + along if mu > 0.0 else y[first + a]
    return length(gap, 0, m)


@kernel(types.float64(VECTOR, VECTOR, I64, I64, types.float64))
def disc_gap(y, w, first, end, radius):
    """Return |y - P(y - w)| of the rows first : end, P being the projection on the disc of this radius."""
    m = end - first
    gap = scratch(m)
    for a in range(m):
        gap[a] = y[first + a] - w[first + a]
    size = length(gap, 0, m)
    if size <= radius:
        return length(w, first, end)
    # y - P(y - w) directly, or as w + (y - w - P(y - w)), whichever subtracts smaller numbers.
    as_it_is = length(y, first, end) <= length(w, first, end)
    for a in range(m):
        e = gap[a] / size
        gap[a] = y[first + a] - radius * e if as_it_is else w[first + a] + (size - radius) * e
    return length(gap, 0, m)


@kernel(types.float64(VECTOR, VECTOR, I64, I64, types.float64, types.boolean))
def contact_gap(y, w, first, end, mu, associated):
    """Return the violation of the contact law in rows first : end, in their units; w is changed for Coulomb's law.

    For the CCP, the larger of the natural map and |y_t| - mu y_n, since the distance from a flat cone does not show the
    latter. For Coulomb's law, the largest of Signorini's |min(y_n, w_n)|, of the law of sliding, |y_t - P(y_t - w_t)|
    with the projection on the disc of radius mu y_n, and of the natural map in De Saxce's form. For mu > 1 the last is
    divided by mu, which multiplies the round-off of w_t; undivided it would give a falling body an error of 1/mu.
    """
    y_n = max(y[first], 0.0)
    if associated:
        return max(natural_gap(y, w, first, end, mu), length(y, first + 1, end) - mu * y_n)
    gap = max(abs(min(y[first], w[first])), disc_gap(y, w, first + 1, end, mu * y_n))
    w[first] += mu * length(w, first + 1, end)
    # If the shift overflows it only says that the contact slips, which the other two measure.
    return max(gap, natural_gap(y, w, first, end, mu) / max(1.0, mu)) if w[first] < np.inf else gap


@kernel(I64(I64, I64))
def disc_end(first, m):
    """Return the end of the disc that begins at row `first` of m: sliding 1 : 3, torsion 3 : 4, rolling 4 : m."""
    return min(3 if first == 1 else 4 if first == 3 else m, m)


@kernel(types.float64(VECTOR, VECTOR, I64, I64, types.float64))
def apart_gap(y, w, first, end, mu):
    """Return the violation of Coulomb's law, rows first : end, with separate discs for sliding, torsion and rolling."""
    gap, a, y_n = abs(min(y[first], w[first])), 1, max(y[first], 0.0)
    while a < end - first:
        last = disc_end(a, end - first)
        gap = max(gap, disc_gap(y, w, first + a, first + last, mu * y_n))
        a = last
    return gap


MOTION, LOUD, SIZE, HELD, TOP, SCALE = range(6)
"""For a part: the largest motion, the largest impulse or terms compared with it, the size of free velocities, the
largest term of a row; for what is solved together: the largest term of a row, and its scale."""


class Iterate(NamedTuple):
    """Values of every row (X,) at an iterate, in units.

    The iterate y, its velocity w = W y + free, the free velocity, the sizes of the terms of the latter and of W y; and
    the diagonal of W in any units."""

    y: Array
    w: Array
    free: Array
    sizes: Array
    terms: Array
    diagonal: Array


BLOCK_SETS = argument_type(BlockSets, INDICES, INDICES, VECTOR, VECTOR, VECTOR)
ITERATE = argument_type(Iterate, *(VECTOR,) * 6)


@kernel(types.UniTuple(types.float64, 3)(ITERATE, I64, types.float64, types.float64), **WITHIN)
def measure_row(rows, k, low, high):
    """Return for row k within [low, high]: its gap, the free velocity that y can oppose, and its motion."""
    y, w, free = rows.y[k], rows.w[k], rows.free[k]
    gap, moved = min(max(w, y - high), y - low), w - free
    # A row at a bound with slack may move without limit, far from where anything else moves.
    slack = gap == 0.0 and not low < y < high
    motion = min(abs(moved), abs(free)) if slack else max(abs(moved), abs(free))
    if low > -np.inf and high < np.inf:
        motion = max(motion, abs(y))
    # The free velocity that y can oppose within its bounds counts.
    competes = max(min(-free, max(high, 0.0)), min(free, max(-low, 0.0)))
    return abs(gap) if np.isfinite(w + y) else np.inf, competes, motion


@kernel(types.UniTuple(types.float64, 4)(ITERATE, I64, I64, I64, types.float64, VECTOR, VECTOR), **WITHIN)
def measure_set(rows, a, b, cone, mu, w, moved):
    """Return for a cone or disc of the rows a : b: its gap, its preliminary scale, its impulses that count, its motion.

    w, moved (X,) are overwritten there."""
    y, free, still = rows.y, rows.free, False
    for k in range(a, b):
        w[k], moved[k] = rows.w[k], rows.w[k] - free[k]
        still |= y[k] != 0.0 and not rows.diagonal[k] > 0.0
    impulse, change, ahead, given = length(y, a, b), length(moved, a, b), length(w, a, b), length(free, a, b)
    if cone == APART:
        gap = apart_gap(y, w, a, b, mu)
    elif cone == DISC:
        gap = disc_gap(y, w, a, b, mu)
    else:
        gap = contact_gap(y, w, a, b, mu, cone == ASSOCIATED)
    # An idle contact may move without limit, far from where anything else moves.
    motion = max(ahead, given) if impulse > 0.0 or gap > 0.0 else min(change, given)
    competes = -free[a]
    # A disc bounds the free velocity that y can oppose, and its impulse counts as motion, as between two bounds.
    if cone == DISC:
        competes, motion = min(given, mu), max(motion, impulse)
    scale = max(change, max(competes, FAINT * length(rows.sizes, a, b)))
    # Impulses that move nothing do not set the scale.
    loud = max(0.0 if still else impulse, FAINT * length(rows.terms, a, b))
    return gap if np.isfinite(ahead + impulse) else np.inf, scale, loud, motion


@kernel(types.float64(types.float64, types.float64), **WITHIN)
def relative(gap, scale):
    """Return gap / scale; inf if a gap has zero scale, or if either is not finite."""
    if not (gap < np.inf and scale < np.inf):
        return np.inf
    return (gap / scale if scale > 0.0 else np.inf) if gap > 0.0 else 0.0


@kernel(types.float64(BLOCK_SETS, INDICES, INDICES, ITERATE, VECTOR))
def measure(sets, part, together, rows, found):
    """Fill found (B,) with the residual of every set, for intervals the worst row; returns the worst of all.

    part (B,) as in `coupled_parts`. `together` (B,) groups the sets that one method solves, and rounds, together: the
    rows of an LCP, else a part; groups are labelled, like parts, by one of the sets. The residual is inf if a gap has
    zero scale, or if something is not finite.
    """
    first, cone, mu, lower, upper = sets
    B, X = cone.shape[0], rows.y.shape[0]
    gap, scale, largest = scratch(X), scratch(X), scratch_matrix(B, 6)
    for i in range(B):
        for kind in range(6):
            largest[i, kind] = 0.0
    for i in range(B):
        a, p, t = first[i], part[i], together[i]
        if cone[i] != NO_CONE:
            measured = measure_set(rows, a, first[i + 1], cone[i], mu[i], gap, scale)
            gap[a], scale[a], found[i], motion = measured
            largest[p, MOTION], largest[p, LOUD] = max(largest[p, MOTION], motion), max(largest[p, LOUD], found[i])
            continue
        for k in range(a, first[i + 1]):
            gap[k], scale[k], motion = measure_row(rows, k, lower[k], upper[k])
            terms = rows.terms[k]
            all_of_it = max(abs(rows.free[k]), terms)
            largest[p, MOTION], largest[p, LOUD] = max(largest[p, MOTION], motion), max(largest[p, LOUD], terms)
            # Free velocities of one part come from the same bodies and have the round-off of the largest.
            largest[p, SIZE] = max(largest[p, SIZE], abs(rows.sizes[k]))
            largest[p, HELD], largest[t, TOP] = max(largest[p, HELD], all_of_it), max(largest[t, TOP], all_of_it)
    for i in range(B):
        a, p, t = first[i], part[i], together[i]
        if cone[i] != NO_CONE:
            scale[a] = max(scale[a], min(found[i], FAR * largest[p, MOTION]))
            continue
        least = FAINT * largest[p, SIZE]
        if largest[p, HELD] <= ROUNDING * largest[t, TOP]:
            least = max(least, FAINT_SCALED * largest[t, TOP])
        for k in range(a, first[i + 1]):
            counts = min(max(rows.terms[k], FAINT_SCALED * largest[p, LOUD]), FAR_SCALED * largest[p, MOTION])
            scale[k] = max(scale[k], max(least, counts))
            largest[t, SCALE] = max(largest[t, SCALE], scale[k])
    worst = 0.0
    for i in range(B):
        a, b, quiet, found[i] = first[i], first[i] + 1, 0.0, 0.0
        if cone[i] == NO_CONE:
            b, quiet = first[i + 1], QUIET * largest[together[i], SCALE]
        for k in range(a, b):
            found[i] = max(found[i], relative(gap[k], max(scale[k], quiet)))
        worst = max(worst, found[i])
    return worst


@kernel(types.UniTuple(types.float64, 2)(I64), linked=True)
def power(up):
    """Return 2^up as two factors, of which one alone may be in range."""
    return ldexp(1.0, up // 2), ldexp(1.0, up - up // 2)


@kernel(I64(BLOCK_SETS, READ_ROW, READ_ROW, READ_ROW, READ_ROW, VECTOR, VECTOR))
def scale_up(sets, diagonal, own, q, x, D, raised):
    """Fill D (X,) with the units of all rows, and raised (X,) with x times a power of two; returns its exponent.

    diagonal, own, q, x as in `block_units`. Powers of two are exact: small data are scaled up, so that nothing
    underflows.
    """
    block_units(sets.first, sets.cone, diagonal, own, q, x, D)
    up = growth_exponent(D, x, q)
    half, rest = power(up)
    for k in range(x.shape[0]):
        raised[k] = x[k] * half * rest
    return up


@kernel(types.float64(BLOCK_SETS, INDICES, I64, READ_ROW, ITERATE, VECTOR))
def measure_raised(sets, part, up, D, rows, found):
    """`measure` of what `scale_up` has prepared: `rows` in the problem's units, of which y = `raised`, w = W y and the
    terms are scaled up, and the free velocities and their sizes are not yet."""
    B, X = sets.cone.shape[0], D.shape[0]
    y, w, free, sizes, terms = scratch(X), scratch(X), scratch(X), scratch(X), scratch(X)
    lower, upper, mu, (half, rest) = scratch(X), scratch(X), scratch(B), power(up)
    for i in range(B):
        # The radius of a disc is an impulse, unlike a friction coefficient.
        mu[i] = sets.mu[i] * half * rest / D[sets.first[i]] if sets.cone[i] == DISC else sets.mu[i]
    for k in range(X):
        given = rows.free[k] * half * rest
        y[k], w[k], free[k] = rows.y[k] / D[k], D[k] * (rows.w[k] + given), D[k] * given
        sizes[k], terms[k] = D[k] * (rows.sizes[k] * half * rest), D[k] * rows.terms[k]
        lower[k], upper[k] = sets.lower[k] * half * rest / D[k], sets.upper[k] * half * rest / D[k]
    scaled = BlockSets(sets.first, sets.cone, mu, lower, upper)
    return measure(scaled, part, part, Iterate(y, w, free, sizes, terms, rows.diagonal), found)


@kernel(types.UniTuple(types.float64, 2)(READ, I64, READ_ROW), **WITHIN)
def row_product(W, row, x):
    """Return a row of W (n, n) times x (n,), and the sum of the absolute values of its terms."""
    total = size = 0.0
    for j in range(x.shape[0]):
        term = W[row, j] * x[j]
        total, size = total + term, size + abs(term)
    return total, size


@kernel(types.float64(READ, READ_ROW, READ_ROW, READ_ROW, READ_ROW))
def bounded_residual(M, q, lower, upper, z):
    """Return the residual of an MLCP at z (n,)."""
    n = q.shape[0]
    D, z_up, low, high = scratch(n), scratch(n), scratch(n), scratch(n)
    w, free, terms = scratch(n), scratch(n), scratch(n)
    first, cone, part, one = scratch_indices(n + 1), scratch_indices(n), scratch_indices(n), scratch_indices(n)
    equilibration(M, D)
    k = growth_exponent(D, z, q)
    for i in range(n):
        z_up[i], first[i], cone[i], one[i] = ldexp(z[i], k), i, NO_CONE, 0
    first[n] = n
    coupled_parts(M, first[:n], part)
    for i in range(n):
        # Powers of two, which are exact, come first: M z may underflow where D M z does not.
        share, exponent = frexp(D[i])
        power, total, size = ldexp(1.0, exponent), 0.0, 0.0
        for j in range(n):
            term = (power * M[i, j]) * z_up[j]
            total, size = total + term, size + abs(term)
        given = power * ldexp(q[i], k)
        w[i], terms[i], free[i] = share * (total + given), share * size, share * given
        low[i], high[i] = ldexp(lower[i], k) / D[i], ldexp(upper[i], k) / D[i]
    for i in range(n):
        z_up[i] /= D[i]
    rows = Iterate(z_up, w, free, free, terms, D)
    return measure(BlockSets(first, cone, low, low, high), part, one, rows, scratch(n))


@kernel(types.void(READ_CUBE, READ, READ, READ, READ, VECTOR), nogil=True)
def bounded_residuals(M, q, lower, upper, z, found):
    """Fill found (B,) with `bounded_residual` of every z (B, n); M, q and the bounds may be shared.

    It is inf if the data are not finite or the bounds leave an unknown no finite value.
    """
    for b in range(z.shape[0]):
        M_b, q_b = M[min(b, M.shape[0] - 1)], q[min(b, q.shape[0] - 1)]
        lower_b, upper_b = lower[min(b, lower.shape[0] - 1)], upper[min(b, upper.shape[0] - 1)]
        usable = True
        for i in range(z.shape[1]):
            usable &= lower_b[i] < np.inf and upper_b[i] > -np.inf and np.isfinite(q_b[i])
            for j in range(z.shape[1]):
                usable &= np.isfinite(M_b[i, j])
        found[b] = bounded_residual(M_b, q_b, lower_b, upper_b, z[b]) if usable else np.inf


@kernel(types.float64(READ, READ_ROW, READ_ROW, I64, types.boolean, READ_ROW))
def contact_residual(W, q, mu, d, associated, z):
    """Return the residual of a friction-cone problem over W (n, n) at z (n,)."""
    n, r, m = q.shape[0], mu.shape[0], 1 + d
    D, diagonal, y, free = scratch(n), scratch(n), scratch(n), scratch(n)
    z_up, w, terms = scratch(n), scratch(n), scratch(n)
    first, cone, part, coefficient = scratch_indices(r + 1), scratch_indices(r), scratch_indices(r), scratch(r)
    place, owner = scratch_indices(n), scratch_indices(n)
    for i in range(r):
        first[i], cone[i], coefficient[i] = m * i, ASSOCIATED if associated else COULOMB, mu[i]
        for a in range(m):
            place[m * i + a] = i if a == 0 else r + d * i + a - 1
            owner[place[m * i + a]] = i
    first[r] = n
    for k in range(n):
        diagonal[k], y[k], free[k] = W[place[k], place[k]], z[place[k]], q[place[k]]
    contact_units(m, diagonal, free, y, D)
    up = growth_exponent(D, y, free)
    for k in range(n):
        z_up[k] = ldexp(z[k], up)
    coupled_parts(W, owner, part)
    for k in range(n):
        total, size = row_product(W, place[k], z_up)
        # q is added last: added to large cancelling impulses it would be lost.
        given = ldexp(free[k], up)
        w[k], terms[k], free[k], y[k] = D[k] * (total + given), D[k] * size, D[k] * given, ldexp(y[k], up) / D[k]
    rows = Iterate(y, w, free, free, terms, diagonal)
    return measure(BlockSets(first, cone, coefficient, y, y), part, part, rows, scratch(r))


@kernel(types.UniTuple(I64, 2)(INDICES, I64), linked=True)
def parts_of_code(code, n):
    """Return the number of sets of n unknowns in a `Sets.code`, and where the order of the unknowns begins in it."""
    B = (code.shape[0] - n - 2) // 3
    return B, 3 * B + 2


Q, LOWER, UPPER, UNIT, MU = range(5)
"""Rows of a mixed problem set by set (`order_by_set`)."""


@kernel(types.void(READ, READ_ROW, READ_ROW, READ_ROW, READ_ROW, INDICES, MATRIX, MATRIX))
def order_by_set(M, q, lower, upper, mu, code, A, rows):
    """Put a mixed problem set by set, with ellipsoids scaled to round cones, into A (n, n) and the rows (5, n) of q,
    bounds, units (z[order] = unit x), and one coefficient a set. `code` are its `Sets`."""
    n, unit, largest = q.shape[0], rows[UNIT], rows[MU]
    B, start = parts_of_code(code, n)
    first, at, order = code[B : 2 * B + 1], code[2 * B + 1 : start], code[start:]
    for i in range(B):
        largest[i], count = 0.0, at[i + 1] - at[i]
        for a in range(count):
            largest[i] = max(largest[i], mu[at[i] + a])
        for k in range(first[i], first[i + 1]):
            unit[k] = 1.0
        if count > 1 and largest[i] > 0.0:
            for a in range(count):
                unit[first[i] + 1 + a] = mu[at[i] + a] / largest[i]
    for k in range(n):
        i = order[k]
        rows[Q, k], rows[LOWER, k], rows[UPPER, k] = unit[k] * q[i], lower[i], upper[i]
        for j in range(n):
            A[k, j] = unit[k] * M[i, order[j]] * unit[j]


@kernel(types.float64(READ, READ_ROW, READ_ROW, READ_ROW, READ_ROW, INDICES, READ_ROW))
def mixed_residual(M, q, lower, upper, mu, code, z):
    """Return the residual of a mixed problem at z (n,); `code` are its `Sets`."""
    n = q.shape[0]
    B, start = parts_of_code(code, n)
    A, rows, x, D, raised = scratch_matrix(n, n), scratch_matrix(5, n), scratch(n), scratch(n), scratch(n)
    moved, terms, sizes, diagonal, found = scratch(n), scratch(n), scratch(n), scratch(n), scratch(B)
    part, owner, first, unit = scratch_indices(B), scratch_indices(n), code[B : 2 * B + 1], rows[UNIT]
    order_by_set(M, q, lower, upper, mu, code, A, rows)
    count = 0
    for i in range(B):
        count += (first[i + 1] - first[i]) ** 2
        for k in range(first[i], first[i + 1]):
            owner[k] = i
    own, at = scratch(count), 0
    for k in range(n):
        z_k, diagonal[k], sizes[k] = z[code[start + k]], A[k, k], abs(rows[Q, k])
        # Impulses along directions without friction have no unit.
        x[k] = z_k / unit[k] if unit[k] > 0.0 else 0.0
        if not np.isfinite(x[k]) or (unit[k] == 0.0 and z_k != 0.0):
            return np.inf
        for j in range(first[owner[k]], first[owner[k] + 1]):
            own[at] = A[k, j]
            at += 1
    sets = BlockSets(first, code[:B], rows[MU, :B], rows[LOWER], rows[UPPER])
    up = scale_up(sets, diagonal, own, rows[Q], x, D, raised)
    for k in range(n):
        moved[k], terms[k] = row_product(A, k, raised)
    coupled_parts(A, owner, part)
    return measure_raised(sets, part, up, D, Iterate(raised, moved, rows[Q], sizes, terms, diagonal), found)


@kernel(types.void(READ_CUBE, READ, READ, READ, READ, INDICES, READ, VECTOR), nogil=True)
def mixed_residuals(M, q, lower, upper, mu, code, z, found):
    """Fill found (B,) with `mixed_residual` of every z (B, n); M, q, bounds and mu may be shared."""
    for b in range(z.shape[0]):
        M_b, q_b, mu_b = M[min(b, M.shape[0] - 1)], q[min(b, q.shape[0] - 1)], mu[min(b, mu.shape[0] - 1)]
        lower_b, upper_b = lower[min(b, lower.shape[0] - 1)], upper[min(b, upper.shape[0] - 1)]
        found[b] = mixed_residual(M_b, q_b, lower_b, upper_b, mu_b, code, z[b])


@kernel(types.void(READ_CUBE, READ, READ, I64, types.boolean, READ, VECTOR), nogil=True)
def contact_residuals(W, q, mu, d, associated, z, found):
    """Fill found (B,) with `contact_residual` of every z (B, n); W, q and mu may be shared."""
    for b in range(z.shape[0]):
        W_b, q_b, mu_b = W[min(b, W.shape[0] - 1)], q[min(b, q.shape[0] - 1)], mu[min(b, mu.shape[0] - 1)]
        found[b] = contact_residual(W_b, q_b, mu_b, d, associated, z[b])
