"""The residuals of `classes`, compiled: the natural map, equilibrated by rows or contacts (formulary, 7.5).

A row, or a contact, has a unit D of its own, which makes z/D and D (M z + q) the same kind of quantity, the square root
of an energy where z are impulses, and a scale of its own by which its gap is measured. The worst one is the residual.
What nothing couples has no influence on one another: what a scale takes from elsewhere it takes from its own part,
that is from what M couples it to, directly or through others.
"""

from math import frexp, ldexp

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.scratch import INDICES, VECTOR, scratch, scratch_indices
from workbench.problems.islands import coupled_parts

FAR = 1e5
"""Impulses z/D of a contact count up to this multiple of the motion D u of its part: of near-redundant contacts they
are large beside it, along a ray, where nothing moves, without limit."""
FAR_SCALED = 1e3
"""What FAR is for the terms of a row of an LCP."""
FAINT = 1e-5
"""Share that counts of what cancels or does not compete, and sets the scale of rounding only: a free velocity that no
impulse has to answer, as a large gap or fast sliding makes it, and the velocities that impulses make one by one."""
FAINT_SCALED = 1e-4
"""What FAINT is for the terms of other rows of an LCP: where nothing moves along a row its own ones vanish, while a
contact has all of its impulse."""
ROUNDING = 1e-13
"""Share of the largest velocities up to which all that a part of an LCP holds is the rounding of others: the friction
rows of a contact that is open, or that across the direction of sliding. Its scale is FAINT_SCALED of that largest."""
QUIET = 1e-6
"""Share of the largest scale of an LCP's rows that every row has: methods round in all rows together."""
LARGE = 400
"""Binary exponent to which small data are raised, so that nothing is lost to underflow, nor squares to overflow."""

I64 = types.int64
READ_ROW, READ, READ_CUBE = (types.Array(types.float64, rank, "C", readonly=True) for rank in (1, 2, 3))


@kernel(types.void(READ, VECTOR))
def known_scales(M, D):
    """D (n,) = 1 / sqrt|M_ii| where that is more than rounding beside what the row meets, else 0."""
    n = M.shape[0]
    for i in range(n):
        met, diagonal = 0.0, abs(M[i, i])
        for j in range(n):
            if M[j, j] != 0.0:
                met = max(met, max(abs(M[i, j]), abs(M[j, i])) ** 2 / abs(M[j, j]))
        D[i] = 1.0 / np.sqrt(diagonal) if diagonal > 1e-12 * met else 0.0


@kernel(types.void(READ, VECTOR))
def equilibration(M, D):
    """`classes.equilibration` of one matrix, into D (n,)."""
    n = M.shape[0]
    largest, least = 0.0, np.inf
    for i in range(n):
        D[i] = abs(M[i, i])
        least = min(least, D[i]) if D[i] > 0.0 else least
        for j in range(n):
            largest = max(largest, abs(M[i, j]))
    # No |M_ij M_ji / M_jj| is larger than this: mostly no diagonal entry is rounding beside it, and none is looked at.
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
                    # Those found in this round are negative until it ends.
                    reach = max(reach, max(abs(M[i, j]), abs(M[j, i])) * D[j])
                if reach > 0.0:
                    D[i], new = -1.0 / reach, True
        for i in range(n):
            D[i] = abs(D[i])
    for i in range(n):
        if D[i] == 0.0:
            D[i] = 1.0


@kernel(types.void(INDICES, VECTOR))
def largest_of_part(part, value):
    """Every value (r,) becomes the largest one of its part."""
    for k in range(part.shape[0]):
        value[part[k]] = max(value[part[k]], value[k])
    for k in range(part.shape[0]):
        value[k] = value[part[k]]


@kernel(I64(READ_ROW, READ_ROW, READ_ROW))
def lift(D, z, q):
    """The binary exponent by which z and q (n,) may grow until the largest of z/D and D q reaches `LARGE`, or 0."""
    top, some = -5000, False
    for i in range(q.shape[0]):
        unit = frexp(D[i])[1]
        if z[i] != 0.0:
            top, some = max(top, frexp(z[i])[1] - unit), True
        if q[i] != 0.0:
            top, some = max(top, frexp(q[i])[1] + unit), True
    return max(0, LARGE - top) if some else 0


@kernel(types.float64(READ_ROW, READ_ROW))
def worst(gap, scale):
    """The largest gap over its scale; inf where a gap has no scale, or where something is not finite."""
    found = 0.0
    for i in range(gap.shape[0]):
        if not (gap[i] < np.inf and scale[i] < np.inf):
            return np.inf
        if gap[i] > 0.0:
            found = max(found, gap[i] / scale[i] if scale[i] > 0.0 else np.inf)
    return found


@kernel(types.float64(READ, READ_ROW, READ_ROW, READ_ROW, READ_ROW))
def bounded_residual(M, q, lower, upper, z):
    """The residual of an MLCP at z (n,)."""
    n = q.shape[0]
    D, gap, scale, z_up = scratch(n), scratch(n), scratch(n), scratch(n)
    owner, part = scratch_indices(n), scratch_indices(n)
    terms, elsewhere, motion, faint, own = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    equilibration(M, D)
    for i in range(n):
        owner[i] = i
    coupled_parts(M, owner, part)
    k, loudest, largest = lift(D, z, q), 0.0, 0.0
    for i in range(n):
        z_up[i] = ldexp(z[i], k)
    for i in range(n):
        # Powers of two, which round nothing, come first: M z may be too small for a double, but not D M z.
        share, exponent = frexp(D[i])
        power = ldexp(1.0, exponent)
        moved = size = 0.0
        for j in range(n):
            term = (power * M[i, j]) * z_up[j]
            moved += term
            size += abs(term)
        free = power * ldexp(q[i], k)
        w, moved, terms[i], free = share * (moved + free), share * moved, share * size, share * free
        y, low, high = z_up[i] / D[i], ldexp(lower[i], k) / D[i], ldexp(upper[i], k) / D[i]
        part_of_gap = min(max(w, y - high), y - low)
        gap[i] = abs(part_of_gap)
        # A row that holds with slack at a bound may move without limit, and may be far from where anything moves.
        slack = part_of_gap == 0.0 and not low < y < high
        motion[i] = min(abs(moved), abs(free)) if slack else max(abs(moved), abs(free))
        if low > -np.inf and high < np.inf:
            motion[i] = max(motion[i], abs(y))
        # What z can answer within its bounds competes.
        competes = max(min(-free, max(high, 0.0)), min(free, max(-low, 0.0)))
        scale[i], elsewhere[i], faint[i] = competes, FAINT_SCALED * terms[i], FAINT * abs(free)
        own[i] = max(abs(free), terms[i])
        loudest = max(loudest, own[i])
        if not np.isfinite(w + y):
            return np.inf
    largest_of_part(part, motion)
    largest_of_part(part, elsewhere)
    largest_of_part(part, own)
    # Free velocities of one contact come from the same bodies and carry the rounding of the largest.
    largest_of_part(part, faint)
    for i in range(n):
        scale[i] = max(max(scale[i], faint[i]), min(max(terms[i], elsewhere[i]), FAR_SCALED * motion[i]))
        if own[i] <= ROUNDING * loudest:
            scale[i] = max(scale[i], FAINT_SCALED * loudest)
        largest = max(largest, scale[i])
    for i in range(n):
        scale[i] = max(scale[i], QUIET * largest)
    return worst(gap, scale)


@kernel(types.void(READ_CUBE, READ, READ, READ, READ, VECTOR), nogil=True)
def bounded_residuals(M, q, lower, upper, z, found):
    """`bounded_residual` of every z (B, n) into found (B,); M, q and the bounds may be one for all.

    It is inf where the data are not finite or the bounds leave an unknown no finite value.
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


@kernel(types.float64(READ_ROW, I64, I64), linked=True)
def length(x, first, end):
    """|x[first : end]|_2, of numbers of any size."""
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


@kernel(types.void(READ_ROW, READ_ROW, I64, READ_ROW, VECTOR))
def contact_units(diagonal, q, d, z, D):
    """D (n,), sqrt(rho_i) in the rows of contact i, rho_i = (1 + d) / tr W_ii; |p_i|/|q_i| where W_ii moves nothing."""
    r = q.shape[0] // (1 + d)
    for i in range(r):
        first, trace = r + d * i, diagonal[i]
        for j in range(first, first + d):
            trace += diagonal[j]
        if trace > 0.0:
            D[i] = np.sqrt((1 + d) / trace)
        else:
            impulse, free = np.hypot(z[i], length(z, first, first + d)), np.hypot(q[i], length(q, first, first + d))
            D[i] = np.sqrt(impulse) / np.sqrt(free) if impulse > 0.0 and free > 0.0 else 1.0
        for j in range(first, first + d):
            D[j] = D[i]


@kernel(types.float64(VECTOR, VECTOR, types.float64))
def natural_gap(y, w, mu):
    """|y - P_K(y - w)| of one friction cone, y (1 + d,) an impulse and w a velocity in the contact's units."""
    m = y.shape[0]
    ahead, gap = scratch(m), scratch(m)
    for a in range(m):
        ahead[a] = y[a] - w[a]
    radius = length(ahead, 1, m)
    # Sine and cosine of the cone's angle from its axis.
    cosine = 1.0 / (np.sqrt(1.0 + mu * mu) if mu < 1e100 else mu)
    sine = mu * cosine
    # The polar cone first: with mu = 0 and y_t = w_t a negative y_n would pass for inside.
    if sine * radius <= -cosine * ahead[0]:
        return length(y, 0, m)
    # y - P(y - w) as w + (y - w - P(y - w)): y - w would lose the motion beside an impulse far out on a ray.
    outside = max(0.0, cosine * radius - sine * ahead[0])
    gap[0] = w[0] - sine * outside
    for a in range(1, m):
        along = cosine * outside * (ahead[a] / radius) if radius > 0.0 else 0.0
        gap[a] = w[a] + along if mu > 0.0 else y[a]
    return length(gap, 0, m)


@kernel(types.float64(VECTOR, VECTOR, I64, I64, types.float64))
def disc_gap(y, w, first, end, radius):
    """|y - P(y - w)| of the rows first : end, P being the projection on the disc of this radius."""
    gap = scratch(y.shape[0])
    for a in range(first, end):
        gap[a] = y[a] - w[a]
    size = length(gap, first, end)
    if size <= radius:
        return length(w, first, end)
    # y - P(y - w) as it is, or as w + (y - w - P(y - w)), whichever has the smaller numbers to take away.
    as_it_is = length(y, first, end) <= length(w, first, end)
    for a in range(first, end):
        e = gap[a] / size
        gap[a] = y[a] - radius * e if as_it_is else w[a] + (size - radius) * e
    return length(gap, first, end)


@kernel(types.float64(VECTOR, VECTOR))
def signorini_gap(y, w):
    """|min(y_n, w_n)|"""
    return abs(min(y[0], w[0]))


@kernel(types.float64(VECTOR, VECTOR, types.float64, types.boolean))
def contact_gap(y, w, mu, associated):
    """How far one contact is from its law, y (1 + d,) and w as for `natural_gap`; the w of Coulomb's law is changed.

    Of the CCP the larger one of the natural map and of |y_t| - mu y_n, to which the distance from a flat cone is blind.
    Of Coulomb's law the largest of Signorini's |min(y_n, w_n)|, of the law of sliding, |y_t - P(y_t - w_t)| with the
    projection on the disc of radius mu y_n, and of the natural map in De Saxce's form. For mu > 1 the last is divided
    by mu, which is what it multiplies the rounding of w_t by; it alone would take a falling body for an error of 1/mu.
    """
    m = y.shape[0]
    if associated:
        return max(natural_gap(y, w, mu), length(y, 1, m) - mu * max(y[0], 0.0))
    gap = max(signorini_gap(y, w), disc_gap(y, w, 1, m, mu * max(y[0], 0.0)))
    w[0] += mu * length(w, 1, m)
    # Beyond the doubles the shift says nothing more than that the contact slips, which the other two measure.
    return max(gap, natural_gap(y, w, mu) / max(1.0, mu)) if w[0] < np.inf else gap


@kernel(types.float64(*(READ_ROW,) * 2, INDICES, *(READ_ROW,) * 2, I64, types.boolean, *(READ_ROW,) * 3))
def cone_residual(D, diagonal, part, q, mu, d, associated, z, u, terms):
    """The residual of a friction-cone problem at z (n,), u = W z + q, terms = |W| |z|; D of `contact_units`, the
    diagonal of W."""
    r = mu.shape[0]
    gap, scale, size, made, motion = scratch(r), scratch(r), scratch(r), scratch(r), scratch(r)
    m = 1 + d
    y, w, change, given, term = scratch(m), scratch(m), scratch(m), scratch(m), scratch(m)
    for i in range(r):
        unit, still = D[i], False
        for a in range(m):
            k = i if a == 0 else r + d * i + a - 1
            y[a], w[a] = z[k] / unit, unit * u[k]
            change[a], given[a], term[a] = unit * (u[k] - q[k]), unit * q[k], unit * terms[k]
            still |= z[k] != 0.0 and not diagonal[k] > 0.0
        size[i], made[i] = length(y, 0, m), length(term, 0, m)
        moved, ahead, free = length(change, 0, m), length(w, 0, m), length(given, 0, m)
        gap[i] = contact_gap(y, w, mu[i], associated)
        # An idle contact may move without limit, and may be far from where anything moves.
        motion[i] = max(ahead, free) if size[i] > 0.0 or gap[i] > 0.0 else min(moved, free)
        scale[i] = max(moved, max(-given[0], FAINT * free))
        # Impulses that move nothing are no scale.
        size[i] = 0.0 if still else size[i]
        if not np.isfinite(ahead + size[i]):
            return np.inf
    largest_of_part(part, motion)
    for i in range(r):
        scale[i] = max(scale[i], min(max(size[i], FAINT * made[i]), FAR * motion[i]))
    return worst(gap, scale)


@kernel(types.void(READ, READ_ROW, READ_ROW, VECTOR, VECTOR))
def velocities(W, q, z, u, terms):
    """u = W z + q and terms = |W| |z|, all (n,)."""
    for i in range(q.shape[0]):
        moved = size = 0.0
        for j in range(q.shape[0]):
            term = W[i, j] * z[j]
            moved, size = moved + term, size + abs(term)
        # q comes last: beside impulses that cancel, however large they are, it would be lost.
        u[i], terms[i] = moved + q[i], size


@kernel(types.float64(READ, READ_ROW, READ_ROW, I64, types.boolean, READ_ROW))
def contact_residual(W, q, mu, d, associated, z):
    """The residual of a friction-cone problem over W (n, n) at z (n,)."""
    n, r = q.shape[0], mu.shape[0]
    D, diagonal, u, terms, z_up, q_up = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    owner, part = scratch_indices(n), scratch_indices(r)
    for i in range(n):
        diagonal[i], owner[i] = W[i, i], i if i < r else (i - r) // d
    contact_units(diagonal, q, d, z, D)
    k = lift(D, z, q)
    for i in range(n):
        z_up[i], q_up[i] = ldexp(z[i], k), ldexp(q[i], k)
    velocities(W, q_up, z_up, u, terms)
    coupled_parts(W, owner, part)
    return cone_residual(D, diagonal, part, q_up, mu, d, associated, z_up, u, terms)


@kernel(types.void(READ_CUBE, READ, READ, I64, types.boolean, READ, VECTOR), nogil=True)
def contact_residuals(W, q, mu, d, associated, z, found):
    """`contact_residual` of every z (B, n) into found (B,); W, q and mu may be one for all."""
    for b in range(z.shape[0]):
        W_b, q_b, mu_b = W[min(b, W.shape[0] - 1)], q[min(b, q.shape[0] - 1)], mu[min(b, mu.shape[0] - 1)]
        found[b] = contact_residual(W_b, q_b, mu_b, d, associated, z[b])
