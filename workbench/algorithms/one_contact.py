"""One contact with friction, solved exactly, and the natural map that selects among its candidates.

Both flow rules are one problem with a switch kappa: K contains z perp u + (1 - kappa) mu |u_t| n in K*, u = W z + q.

    kappa = 0   Coulomb's law in De Saxce's form (de Saxce & Feng 1998): a sliding contact has u_n = 0
    kappa = 1   associated flow, the CCP (Anitescu & Tasora 2010): a sliding contact has u_n = mu |u_t|

Take-off (z = 0) and stick (u = 0) are linear. In a slide p_t = mu p_n e and u_t = -s e with a unit vector e(theta),
s >= 0, and u_n + kappa mu e.u_t = 0 gives p_n = -c/a with

    a = W_nn + mu W_nt.e + kappa mu e.b,     b = W_tn + mu W_tt e,     c = q_n + kappa mu e.q_t.

The remaining condition, u_t parallel to e, is the slide equation f(theta) = a (e x q_t) - c (e x b) = 0, a
trigonometric polynomial of degree 2 (Coulomb) or 3 (CCP). With t = tan(theta/2) it is a real polynomial of degree 4 or
6, whose real roots are separated by those of its derivative. Every root is a candidate; the natural map decides. If the
solution is known to be unique (`has_one_answer`), the first root found by Newton's method suffices.
"""

import numpy as np
from numba import types

from workbench.algorithms.many_directions import slide_by_multiplier
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, affine, copy, lu_factor, lu_solve, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.residual import FAR

ROUND_OFF = 1e-13
"""Natural-map residual below which two candidates are equally good; the one of smaller impulse is then preferred."""
NEWTON_STEPS = 20
"""Maximum number of Newton steps from a first guess of the sliding direction."""
TIKHONOV = 1e-8
"""Share of tr W that regularises a singular W: the square root of round-off, which balances both kinds of error."""


def _tangent_half_angle(degree: int) -> np.ndarray:
    """Return the matrix from samples of f to the coefficients of f(t) (1 + t^2)^degree.

    The samples are at -pi + 2 pi j / N, N = 2 degree + 1.

    Column m of its inverse holds sin^m cos^(2 degree - m) of the half angle, that is t^m / (1 + t^2)^degree.
    """
    N = 2 * degree + 1
    half = (-np.pi + 2 * np.pi * np.arange(N) / N) / 2
    m = np.arange(N)
    return np.linalg.inv(np.sin(half)[:, None] ** m * np.cos(half)[:, None] ** (N - 1 - m))


QUARTIC, SEXTIC = _tangent_half_angle(2), _tangent_half_angle(3)


@kernel(types.float64(MATRIX, VECTOR, types.float64, types.boolean, VECTOR, VECTOR))
def natural_map(W, q, mu, associated, z, gap):
    """Compute the natural map gap (n,) = z - P_K(z - rho (u + (1 - kappa) mu |u_t| n)); returns its relative size.

    u = W z + q, rho = n / tr W.

    |gap|_2 / max(c |z|_2, rho |q|_2), dimensionless, inf if not finite, c < 1 only if |z| is FAR times the motion it
    makes. Beyond mu = 1 the size under Coulomb's law is that of Alart and Curnier's equations, since De Saxce's shift
    multiplies the round-off of u_t by mu, and the flat cone shows only 1/mu of a falling body's error.
    """
    n, trace = q.shape[0], 0.0
    affine(W, q, z, gap)
    for i in range(n):
        trace += W[i, i]
    rho = n / trace if trace > 0.0 else 1.0
    size_q, size_z, impulse, moved, pushed = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        if W[i, i] > 0.0:
            impulse += z[i] ** 2 * W[i, i]
            moved += gap[i] ** 2 / W[i, i]
            pushed += q[i] ** 2 / W[i, i]
        elif z[i] != 0.0:
            impulse = np.inf
        size_z += z[i] ** 2
        size_q += q[i] ** 2
    far = FAR**2 * max(moved, pushed)
    if impulse > far:
        size_z *= far / impulse
    error, slip, radius = 0.0, 0.0, 0.0
    for j in range(1, n):
        slip += gap[j] ** 2
        radius += (z[j] - rho * gap[j]) ** 2
    slip, radius = np.sqrt(slip), np.sqrt(radius)
    steep = mu > 1.0 and not associated
    if steep:
        limit = mu * max(z[0], 0.0)
        error += min(z[0], rho * gap[0]) ** 2
        for j in range(1, n):
            y = z[j] - rho * gap[j]
            error += (rho * gap[j] if radius <= limit else z[j] - limit * (y / radius)) ** 2
    shifted = gap[0] if associated else gap[0] + mu * slip
    y_n = z[0] - rho * shifted
    # Check the polar cone first: with mu = 0 and y_t = 0 a negative y_n would count as inside.
    opens = mu * radius <= -y_n
    # z - P(y) as rho u + (y - P(y)): z - y would lose the motion next to a large impulse along a ray.
    outside = max(0.0, radius - mu * y_n) / (1.0 + mu**2)
    gap[0] = z[0] if opens else rho * shifted - mu * outside
    for j in range(1, n):
        e_j = (z[j] - rho * gap[j]) / radius if radius > 0.0 else 0.0
        gap[j] = z[j] if opens or mu == 0.0 else rho * gap[j] + outside * e_j
    if not steep:
        for j in range(n):
            error += gap[j] ** 2
    size = max(np.sqrt(size_z), rho * np.sqrt(size_q))
    value = np.sqrt(error) / size if size > 0.0 else np.sqrt(error)
    return value if np.isfinite(value + size) else np.inf


@kernel(types.void(VECTOR, types.float64, MATRIX))
def project(y, mu, P):
    """Project y (1 + d,) of one contact on the friction cone, with the derivative in P (1 + d, 1 + d)."""
    m = y.shape[0]
    radius = 0.0
    for a in range(1, m):
        radius += y[a] ** 2
    radius = np.sqrt(radius)
    opens = mu * radius <= -y[0]
    sticks = not opens and radius <= mu * y[0]
    for a in range(m):
        for b in range(m):
            P[a, b] = 1.0 if sticks and a == b else 0.0
    if sticks:
        return
    if opens:
        for a in range(m):
            y[a] = 0.0
        return
    share = 1.0 / (1.0 + mu**2)
    p_n = (y[0] + mu * radius) * share
    P[0, 0] = share
    if radius > 0.0:
        for a in range(1, m):
            P[0, a] = P[a, 0] = mu * share * y[a] / radius
            for b in range(1, m):
                e_ab = y[a] * y[b] / radius**2
                P[a, b] = mu**2 * share * e_ab + mu * p_n / radius * ((1.0 if a == b else 0.0) - e_ab)
        for a in range(1, m):
            y[a] *= mu * p_n / radius
    y[0] = p_n


@kernel(types.float64(VECTOR, types.int64, types.int64, types.float64))
def _derivative(c, degree, order, t):
    """Return the order-th derivative over order! of sum c[m] t^m at t: a polynomial with binomial weights."""
    value = 0.0
    for m in range(degree, order - 1, -1):
        weight = 1.0
        for k in range(order):
            weight *= (m - k) / (order - k)
        value = value * t + weight * c[m]
    return value


@kernel(types.int64(VECTOR, types.int64, VECTOR))
def real_roots(c, degree, roots):
    """Find all real roots of sum c[m] t^m, c[degree] != 0, ascending in roots (2 degree,); returns their number.

    The roots of each derivative separate those of the one before, from the linear one up; between two of them a sign
    change is located by Newton's method within a bracket. A turning point at which the polynomial vanishes to round-off
    is a (nearly) double root and is returned as well, so near-double roots are never lost.
    """
    largest = 0.0
    for m in range(degree):
        largest = max(largest, abs(c[m]))
    bound = 1.0 + largest / abs(c[degree])
    turning = scratch(degree + 1)
    turns = 0
    count = 0
    for order in range(degree - 1, -1, -1):
        count = 0
        left, f_left = -bound, _derivative(c, degree, order, -bound)
        for k in range(turns + 1):
            right = turning[k] if k < turns else bound
            f_right = _derivative(c, degree, order, right)
            if f_left * f_right < 0.0:
                low, high = left, right
                t, before = 0.5 * (low + high), high - low
                for _ in range(120):
                    f = _derivative(c, degree, order, t)
                    if (f < 0.0) == (f_left < 0.0):
                        low = t
                    else:
                        high = t
                    slope = (order + 1) * _derivative(c, degree, order + 1, t)
                    step = -f / slope if slope != 0.0 else np.inf
                    # Newton's step is used if it stays inside and at least halves the last one: it cannot cycle.
                    if not (low < t + step < high and abs(step) <= 0.5 * before):
                        step = 0.5 * (low + high) - t
                    t, before = t + step, abs(step)
                    if before <= 4e-16 * max(abs(t), 1e-8):
                        break
                roots[count] = t
                count += 1
            if order == 0 and k < turns:
                size, power = 0.0, 1.0
                for m in range(degree + 1):
                    size += abs(c[m] * power)
                    power *= right
                if abs(f_right) <= 1e-13 * size:
                    roots[count] = right
                    count += 1
            elif f_right == 0.0 and k < turns:
                roots[count] = right
                count += 1
            left, f_left = right, f_right
        turns = count
        for k in range(turns):
            turning[k] = roots[k]
    return count


@kernel(types.UniTuple(types.float64, 3)(MATRIX, VECTOR, types.float64, types.boolean, types.float64))
def slide(W, q, mu, associated, theta):
    """Return (p_n, f, df/dtheta) of a slide with friction towards theta, spatial contact; p_n = nan if a = 0."""
    x, y = np.cos(theta), np.sin(theta)
    kappa = mu if associated else 0.0
    b_x, b_y = W[1, 0] + mu * (W[1, 1] * x + W[1, 2] * y), W[2, 0] + mu * (W[2, 1] * x + W[2, 2] * y)
    db_x, db_y = mu * (W[1, 2] * x - W[1, 1] * y), mu * (W[2, 2] * x - W[2, 1] * y)
    a = W[0, 0] + mu * (W[0, 1] * x + W[0, 2] * y) + kappa * (x * b_x + y * b_y)
    da = mu * (W[0, 2] * x - W[0, 1] * y) + kappa * (x * b_y - y * b_x + x * db_x + y * db_y)
    c, dc = q[0] + kappa * (x * q[1] + y * q[2]), kappa * (x * q[2] - y * q[1])
    e_q, de_q = x * q[2] - y * q[1], -(x * q[1] + y * q[2])
    e_b, de_b = x * b_y - y * b_x, x * db_y - y * db_x - (x * b_x + y * b_y)
    p_n = -c / a if a != 0.0 else np.nan
    return p_n, a * e_q - c * e_b, da * e_q + a * de_q - dc * e_b - c * de_b


@kernel(types.int64(MATRIX, VECTOR, types.float64, types.boolean, VECTOR))
def slide_angles(W, q, mu, associated, angles):
    """Find the zeros of the slide equation in angles (12,); returns their number, 0 if it vanishes identically.

    The samples are rotated so that the largest is at t = infinity: the leading coefficient is then never small.
    """
    degree = 3 if associated else 2
    N = 2 * degree + 1
    table = SEXTIC if associated else QUARTIC
    samples, c = scratch(N), scratch(N)
    set_all(0.0, c)
    top = 0
    for j in range(N):
        samples[j] = slide(W, q, mu, associated, 2 * np.pi * j / N)[1]
        if abs(samples[j]) > abs(samples[top]):
            top = j
    if samples[top] == 0.0:
        return 0
    for m in range(N):
        for j in range(N):
            c[m] += table[m, j] * samples[(top + j) % N]
    count = real_roots(c, N - 1, angles)
    for k in range(count):
        theta = 2 * np.pi * top / N + np.pi + 2 * np.arctan(angles[k])
        _, f, slope = slide(W, q, mu, associated, theta)
        for _ in range(3):
            if f == 0.0 or slope == 0.0:
                break
            closer = theta - f / slope
            _, f_closer, slope_closer = slide(W, q, mu, associated, closer)
            if not abs(f_closer) < abs(f):
                break
            theta, f, slope = closer, f_closer, slope_closer
        angles[k] = theta
    return count


@kernel(types.float64(MATRIX, VECTOR, types.float64, types.boolean, VECTOR, VECTOR, types.float64, VECTOR))
def _better(W, q, mu, associated, candidate, gap, best, z):
    """Keep the candidate in z if its residual is better than `best`; returns the better residual."""
    residual = natural_map(W, q, mu, associated, candidate, gap)
    tied = max(residual, best) <= ROUND_OFF
    if not (abs(candidate[0]) < abs(z[0]) if tied else residual < best):
        return best
    for i in range(q.shape[0]):
        z[i] = candidate[i]
    return residual


@kernel(types.void(MATRIX, VECTOR, VECTOR))
def _stick(W, q, z):
    """Compute z = -W^-1 q, refined; for a singular W, iterated Tikhonov regularisation towards the smallest such z.

    A direction in which the bodies cannot move (W_tt singular) then has zero rather than arbitrary friction.
    """
    n = q.shape[0]
    LU, pivots, u, step = scratch_matrix(n, n), scratch_indices(n), scratch(n), scratch(n)
    for i in range(n):
        copy(W[i], LU[i])
    passes = 2
    if lu_factor(LU, pivots) != 0:
        passes = 4
        trace = 0.0
        for i in range(n):
            trace += W[i, i]
        for i in range(n):
            for j in range(n):
                LU[i, j] = W[i, j] + (TIKHONOV * trace if i == j else 0.0)
        if lu_factor(LU, pivots) != 0:
            return
    for i in range(n):
        z[i] = 0.0
    for _ in range(passes):
        affine(W, q, z, u)
        lu_solve(LU, pivots, u, step)
        for i in range(n):
            z[i] -= step[i]


@kernel(types.boolean(MATRIX, types.float64, types.boolean))
def has_one_answer(W, mu, associated):
    """Return whether a spatial contact is known to have a unique solution for any q: a slide found is then it.

    The CCP is convex. Coulomb's law is the CCP of q + s n with s = mu |u_t|, and the map of s to mu |u_t| is a
    contraction if mu^2 lambda_max(W_tt) (W^-1)_nn < 1: for a change of s, dz.W dz <= -ds dz_n <= |ds| ((W^-1)_nn dz.W
    dz)^1/2 and |du_t|^2 <= lambda_max(W_tt) dz.W dz. W must be symmetric, up to round-off, which the margin covers.
    """
    if associated:
        return True
    a, b, c = W[1, 1], W[1, 2], W[2, 2]
    rounding = 1e-9 * (W[0, 0] + a + c)
    apart = max(abs(W[0, 1] - W[1, 0]), abs(W[0, 2] - W[2, 0]), abs(b - W[2, 1]))
    both = a * c - b * b
    if not (apart <= rounding and both > 0.0):
        return False
    x, y = W[0, 1], W[0, 2]
    # 1 / (W^-1)_nn is the Schur complement on the normal row.
    schur = W[0, 0] - (c * x * x - 2.0 * b * x * y + a * y * y) / both
    largest = 0.5 * (a + c) + np.sqrt(0.25 * (a - c) ** 2 + b * b)
    return mu * mu * largest < 0.9 * schur


@kernel(types.float64(MATRIX, VECTOR, types.float64, types.boolean, types.float64))
def nearby_slide(W, q, mu, associated, theta):
    """Return the angle, from theta on, at which Newton's method for the slide equation no longer improves."""
    _, f, slope = slide(W, q, mu, associated, theta)
    for _ in range(NEWTON_STEPS):
        closer = theta - f / slope
        _, f_closer, slope = slide(W, q, mu, associated, closer)
        if not abs(f_closer) < abs(f):
            break
        theta, f = closer, f_closer
    return theta


@kernel(types.void(VECTOR, types.float64, types.float64, types.float64))
def fill_sliding(z, p_n, mu, theta):
    """Fill z (3) = [p_n, mu p_n e(theta)]."""
    z[0], z[1], z[2] = p_n, mu * p_n * np.cos(theta), mu * p_n * np.sin(theta)


@kernel(types.float64(MATRIX, VECTOR, types.float64, types.boolean, VECTOR))
def one_contact(W, q, mu, associated, z):
    """Solve one contact: W (1+d, 1+d), q (1+d,), any d; z (1+d,) = [p_n, p_t]. Returns the residual.

    The first of take-off, stick and slide that holds to round-off is returned; among slides of d <= 2 that of least
    impulse. A residual above round-off means that none holds; if W has a positive definite symmetric part, one does.
    """
    n = q.shape[0]
    candidate, gap = scratch(n), scratch(n)
    set_all(0.0, candidate)
    for i in range(n):
        z[i] = 0.0
    best = natural_map(W, q, mu, associated, z, gap)
    if best <= ROUND_OFF:
        return best
    if mu == 0.0 or n == 1:
        if W[0, 0] > 0.0:
            candidate[0] = -q[0] / W[0, 0]
            best = _better(W, q, mu, associated, candidate, gap, best, z)
        return best
    _stick(W, q, candidate)
    best = _better(W, q, mu, associated, candidate, gap, best, z)
    if best <= ROUND_OFF:
        return best
    if n == 2:
        for e in (-1.0, 1.0):
            kappa = mu * e if associated else 0.0
            a = W[0, 0] + mu * e * W[0, 1] + kappa * (W[1, 0] + mu * e * W[1, 1])
            if a != 0.0:
                candidate[0] = -(q[0] + kappa * q[1]) / a
                candidate[1] = mu * e * candidate[0]
                best = _better(W, q, mu, associated, candidate, gap, best, z)
        return best
    if n > 3:
        if slide_by_multiplier(W, q, mu, associated, candidate):
            best = _better(W, q, mu, associated, candidate, gap, best, z)
        return best
    if has_one_answer(W, mu, associated):
        theta = nearby_slide(W, q, mu, associated, np.arctan2(candidate[2], candidate[1]))
        p_n = slide(W, q, mu, associated, theta)[0]
        if p_n > 0.0:
            fill_sliding(candidate, p_n, mu, theta)
            best = _better(W, q, mu, associated, candidate, gap, best, z)
            if best <= ROUND_OFF:
                return best
    angles = scratch(12)
    for k in range(slide_angles(W, q, mu, associated, angles)):
        p_n = slide(W, q, mu, associated, angles[k])[0]
        if p_n > 0.0:
            fill_sliding(candidate, p_n, mu, angles[k])
            best = _better(W, q, mu, associated, candidate, gap, best, z)
    return best
