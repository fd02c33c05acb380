"""Exact Coulomb friction at one instant, dense and slow, by NumPy alone: what the workbench's solvers are held against.

It shares no code with them, and no method: every direction is scaled by its own friction coefficient, so that all cones
are |p_t| <= p_n; a single contact is solved by bisection along its sliding speed over its slip; and what Gauss-Seidel
leaves is finished by Newton's method on the augmented Lagrangian function of Alart and Curnier (1991).
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class DenseStep:
    """W p + q = u in scaled rows: cones first, then |p| <= 1 of dry friction from `dry` on, bilateral from `free` on.

    M v+ = b + A^T p with the scaled rows A; `cones` lists the rows of each contact, its normal first.
    """

    W: np.ndarray
    q: np.ndarray
    cones: list[np.ndarray]
    dry: int
    free: int
    M: np.ndarray
    b: np.ndarray
    A: np.ndarray

    def velocity(self, p):
        """v+ of the impulses p."""
        return np.linalg.solve(self.M, self.b + self.A.T @ p)


def dense_step(at):
    """The step that an `Instant` poses with Newton's rebound and the gap law (ii), rigid."""
    M, v, h = at.M.toarray(), at.v, at.h
    b = M @ v + h * at.f
    normal = np.zeros(at.mu.size, dtype=bool)
    normal[at.first[:-1]] = True
    constant = at.rate.copy()
    J = at.J.toarray()
    constant[normal] += at.phi / h + at.e * np.minimum(0.0, J[normal] @ v + at.rate[normal])
    kept = at.mu > 0
    ends = np.append(0, np.cumsum(kept))[at.first]
    cones = [np.arange(i, k) for i, k in pairwise(ends)]
    A = np.vstack([at.mu[kept, None] * J[kept], at.limit[:, None] * at.J_f.toarray(), at.J_b.toarray()])
    c = np.concatenate([(at.mu * constant)[kept], at.limit * at.r_f, at.g / h + at.r_b])
    dry = int(ends[-1])
    W = A @ np.linalg.solve(M, A.T)
    return DenseStep(W, A @ np.linalg.solve(M, b) + c, cones, dry, dry + at.limit.size, M, b, A)


def one_contact(W, q):
    """p of one contact, W (1 + d, 1 + d) positive semidefinite with W[0, 0] > 0, within round-off of the cone's law."""
    if q[0] >= 0:
        return np.zeros(q.size)
    S = W[1:, 1:] - np.outer(W[1:, 0], W[0, 1:]) / W[0, 0]
    slip = q[1:] - W[1:, 0] * q[0] / W[0, 0]
    values, axes = np.linalg.eigh(S)
    part = axes.T @ slip

    def impulse(damping):
        """Friction is -slip / damping of a contact that keeps touching; no damping is sticking."""
        p_t = -axes @ (part / np.maximum(values + damping, 1e-300))
        return np.append(-(q[0] + W[0, 1:] @ p_t) / W[0, 0], p_t)

    def slides(p):
        return not np.linalg.norm(p[1:]) <= p[0]

    low, high = 1e-14 * max(np.trace(W), 1e-300), 1e3 * np.trace(W)
    if not slides(impulse(low)):
        return impulse(low)
    while slides(impulse(high)):
        high *= 10.0
    while high > low * (1 + 1e-15):
        middle = np.sqrt(low * high)
        if middle in (low, high):
            break
        low, high = (middle, high) if slides(impulse(middle)) else (low, middle)
    return impulse(high)


def sweeps(step, p, count):
    """Gauss-Seidel, block by block."""
    p = p.copy()
    for _ in range(count):
        for rows in step.cones:
            W = step.W[np.ix_(rows, rows)]
            if W[0, 0] > 0:
                p[rows] = one_contact(W, step.q[rows] + step.W[rows] @ p - W @ p[rows])
        for i in range(step.dry, step.q.size):
            if step.W[i, i] > 0:
                p[i] -= (step.q[i] + step.W[i] @ p) / step.W[i, i]
                p[i] = p[i] if i >= step.free else np.clip(p[i], -1.0, 1.0)
    return p


def alart_curnier(step, p, rho):
    """The function whose zeros are the answers, [N s], and its Jacobian; rho (k,) positive, one number a block."""
    u = step.W @ p + step.q
    F, pushed = rho * u, p - rho * u
    H, eye = rho[:, None] * step.W, np.eye(p.size)
    derivative = eye - H
    for rows in step.cones:
        n, t = rows[0], rows[1:]
        radius = max(0.0, pushed[n])
        if radius == 0.0:
            F[rows], H[rows] = p[rows], eye[rows]
            continue
        size = np.linalg.norm(pushed[t])
        if size > radius:
            along = pushed[t] / size
            F[t] = p[t] - radius * along
            across = np.eye(t.size) - np.outer(along, along)
            H[t] = eye[t] - np.outer(along, derivative[n]) - radius / size * across @ derivative[t]
    for i in range(step.dry, step.free):
        if abs(pushed[i]) > 1.0:
            F[i], H[i] = p[i] - np.sign(pushed[i]), eye[i]
    return F, H


def scales(step):
    """rho: the inverse of each block's mean diagonal."""
    diagonal = np.diag(step.W).copy()
    for rows in step.cones:
        diagonal[rows] = diagonal[rows].mean()
    return 1.0 / np.where(diagonal > 0, diagonal, 1.0)


def residual(step, p):
    """The largest entry of the function over the largest impulse, or over the impulse that stops q alone."""
    rho = scales(step)
    size = max(np.abs(p).max(initial=0.0), np.abs(rho * step.q).max(initial=0.0), 1e-300)
    return np.abs(alart_curnier(step, p, rho)[0]).max(initial=0.0) / size


def newton(step, p, factor):
    """The best p on the way of 30 undamped steps, each the least change that zeroes the linearised function."""
    rho, best, error = factor * scales(step), p, residual(step, p)
    for _ in range(30):
        F, H = alart_curnier(step, p, rho)
        try:
            p = p - np.linalg.lstsq(H, F, rcond=1e-13)[0]
        except np.linalg.LinAlgError:
            # The singular values do not converge, far from anything.
            break
        found = residual(step, p)
        if not found < np.inf:
            break
        if found < error:
            best, error = p, found
        if error < TOLERANCE:
            break
    return best


def proximal(step, p):
    """p and its residual, the best found: sweeps, Newton's method at several scales, proximal points, damped steps."""
    size, best = np.trace(step.W) / step.q.size, p
    for eps in size * 10.0 ** -np.arange(1.0, 13.0):
        near = replace(step, W=step.W + eps * np.eye(p.size), q=step.q - eps * p)
        for factor in (1.0, 10.0, 0.1):
            found = newton(near, p, factor)
            if residual(near, found) < 1e-10:
                break
        p = found
        best = min(best, p, key=lambda x: residual(step, x))
        if residual(step, best) < TOLERANCE:
            break
    return best


def levenberg(step, p):
    """Levenberg and Marquardt's steps with halving, until the function is zero to round-off or nothing helps."""
    rho, damping = scales(step), 1e-8
    F, H = alart_curnier(step, p, rho)
    for _ in range(100):
        value = F @ F
        if residual(step, p) < TOLERANCE:
            break
        # The least squares problem itself rather than its normal equations, which square the condition.
        above = np.vstack([H, np.sqrt(damping * value / F.size) * np.eye(F.size)])
        direction = np.linalg.lstsq(above, np.append(-F, np.zeros(F.size)), rcond=None)[0]
        for halving in 0.5 ** np.arange(12):
            found = alart_curnier(step, p + halving * direction, rho)
            if found[0] @ found[0] < value * (1 - 1e-4 * halving):
                p, (F, H), damping = p + halving * direction, found, max(damping / 4, 1e-14)
                break
        else:
            if damping > 1e6:
                break
            damping = max(damping, 1e-10) * 30
    return p


def solve(step, tolerance=1e-10):
    """p and its residual, the best found: sweeps, Newton's method at several scales, proximal points, damped steps."""
    best = p = np.zeros(step.q.size)
    for count in (20, 60, 240):
        p = sweeps(step, p, count)
        candidates = (lambda f=f, p=p: newton(step, p, f) for f in (1.0, 10.0, 0.1))
        for candidate in (*candidates, lambda p=p: proximal(step, p), lambda p=p: levenberg(step, p)):
            best = min(best, candidate(), key=lambda x: residual(step, x))
            if residual(step, best) <= tolerance:
                return best, residual(step, best)
        p = min(p, best, key=lambda x: residual(step, x))
    return best, residual(step, best)
