"""Interior-point method for packings under associated flow, including large ones for which sweeps are slow.

The CCP is a convex problem over second-order cones, in units in which every cone has the slope 1:

    M v = b + A^T p,   s = A v + c,   p, s in K,   p . s = 0

Predictor and corrector with the Nesterov-Todd scaling of every cone, p and s in the interior, one step length for both.
The matrix M + A^T D A, D positive definite, is factored front by front (`fronts`) and serves both. Sources: Nesterov &
Todd 1998; Mehrotra 1992; Vandenberghe 2010, "The CVXOPT linear and quadratic cone program solvers", section 4. Cost of
an iteration: one factorisation; there are 15 to 30, for any number of contacts. A start is ignored.
"""

import numpy as np
from scipy import sparse

from workbench.algorithms import best
from workbench.algorithms.sphere_newton import LARGEST, PackedNewton
from workbench.algorithms.spheres import SOLVER as SWEEPS
from workbench.algorithms.spheres import OfSpheres, SpherePacking
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import NO_CONE
from workbench.support.arrays import Array

STOP, MOST = 1e-6, 60
"""Default residual at which it stops, and iteration limit. Round-off limits the residual to some 1e-7."""
NEARLY, SHORT = 0.99, 1e-8
"""Share of the way to the boundary of the cones that a step takes, and the step length at which it gives up."""
NEAR, PATIENCE = 1e-3, 3
"""Residual near a solution, from which it stops after so many consecutive iterations without progress."""
LAST_SWEEPS = 100
"""Maximum number of final sweeps, which reduce the round-off."""
ROOM = 30.0
"""Size of the first p and s, in units of the velocities without impulses: with less, first steps are short."""
FLIP = np.array([1.0, -1.0, -1.0])


def product(x: Array, y: Array) -> Array:
    """Jordan product of x and y (B, 3): p . s = 0 in the cones is p o s = 0."""
    found = x[:, :1] * y + y[:, :1] * x
    found[:, 0] = (x * y).sum(axis=1)
    return found


def quotient(x: Array, y: Array) -> Array:
    """Return the z with x o z = y, x inside the cone."""
    z = np.empty_like(y)
    z[:, 0] = (x * FLIP * y).sum(axis=1) / depth(x)
    z[:, 1:] = (y[:, 1:] - z[:, :1] * x[:, 1:]) / x[:, :1]
    return z


def depth(x: Array) -> Array:
    """Return x_0^2 - |x_t|^2 (B,), without cancellation."""
    radius = np.hypot(x[:, 1], x[:, 2])
    return (x[:, 0] - radius) * (x[:, 0] + radius)


def longest(x: Array, step: Array) -> float:
    """Return the largest length up to 1 / NEARLY for which x + length step stays in all cones, x inside."""
    # The least positive root of a + 2 b t + c t^2, the depth along the step.
    a, b, c = depth(x), (x * FLIP * step).sum(axis=1), depth(step)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    # With b >= 0 and c >= 0 there is no positive root; the other form has no cancellation.
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.where(b < 0, a / (root - b), np.where(c < 0, -(b + root) / c, np.inf))
    ahead = (b < 0) & (b * b >= a * c) | (c < 0)
    # A step through the apex has a double root, which round-off may hide.
    with np.errstate(divide="ignore", invalid="ignore"):
        apex = np.where(step[:, 0] < 0, -x[:, 0] / step[:, 0], np.inf)
    return float(np.minimum(apex, np.where(ahead, length, np.inf)).min(initial=1.0 / NEARLY))


class Scaling:
    """Nesterov-Todd scaling W of every cone, W p = W^-1 s = `point` (B, 3)."""

    def __init__(self, p: Array, s: Array):
        deep_p, deep_s = depth(p), depth(s)
        p, s = p / np.sqrt(deep_p)[:, None], s / np.sqrt(deep_s)[:, None]
        w = s + FLIP * p
        w /= np.sqrt(2.0 * (1.0 + (p * s).sum(axis=1)))[:, None]
        self.w, self.size = w, (deep_s / deep_p)[:, None] ** 0.25
        self.v = w.copy()
        self.v[:, 0] += 1.0
        self.v /= np.sqrt(2.0 * self.v[:, :1])

    def times(self, x: Array) -> Array:
        return self.size * (2.0 * (self.v * x).sum(axis=1)[:, None] * self.v - FLIP * x)

    def divided(self, x: Array) -> Array:
        v = FLIP * self.v
        return (2.0 * (v * x).sum(axis=1)[:, None] * v - FLIP * x) / self.size

    @property
    def inverse_square(self) -> Array:
        """Return W^-2 (B, 3, 3)."""
        w = FLIP * self.w
        return (2.0 * w[:, :, None] * w[:, None, :] - np.diag(FLIP)) / self.size[:, :, None] ** 2


def _each(blocks: Array, x: Array) -> Array:
    """Return blocks[i] x[i] for every cone i."""
    found: Array = np.einsum("iab,ib->ia", blocks, x)
    return found


class Interior:
    """State of the method: v (n,) in scaled velocities, p and s (B, 3) inside the cones of slope 1."""

    def __init__(self, problem: ContactBlocks, packed: SpherePacking):
        self.newton = newton = PackedNewton(problem, packed)
        rough = (problem.mu > 0) & (problem.cone != NO_CONE)
        slope = np.where(rough, problem.mu, 1.0)
        # Tangents of contacts without friction do not move.
        self.unit = np.where(rough[:, None], 1.0, [1.0, 0.0, 0.0])
        self.unit[:, 0] /= slope
        row = newton.J.tocoo()
        block = problem.block_of_row[row.row]
        self.there = packed.there
        within = row.row - problem.row[block]
        data = row.data * self.unit[block, within]
        self.A = sparse.csr_array((data, (3 * block + within, row.col)), shape=(3 * problem.blocks, problem.b.size))
        self.A_T = sparse.csr_array(self.A.T)
        self.c = np.zeros(self.there.shape)
        self.c[self.there] = newton.laws.c
        self.c *= self.unit
        self.K, self.v = newton.matrix.K, problem.free[0].copy()
        self.given = self.K @ self.v
        start = abs(self._moved(self.v)) + abs(self.c)
        self.p: Array = np.zeros(self.there.shape)
        self.p[:, 0] = max(ROOM * float(start.mean()), np.finfo(float).tiny)
        self.s = self.p.copy()

    @property
    def z(self) -> Array:
        """The impulses (R,) in the scaled rows of `newton`."""
        found: Array = (self.unit * self.p)[self.there]
        return found

    def _moved(self, v: Array) -> Array:
        """Return A v (B, 3)."""
        found: Array = (self.A @ v).reshape(-1, 3)
        return found

    @np.errstate(all="ignore")
    def advance(self) -> bool:
        """Make one predictor and corrector step; returns False if round-off prevents it."""
        scaling = Scaling(self.p, self.s)
        D2 = scaling.inverse_square
        D = self.unit[:, :, None] * D2 * self.unit[:, None, :]
        square = self.there[:, :, None] & self.there[:, None]
        factors = self.newton.matrix.factored(self.newton.laws, D[square], positive=True)
        if factors is None:
            return False
        point = scaling.times(self.p)
        force = self.given + self.A_T @ self.p.ravel() - self.K @ self.v
        off = self._moved(self.v) + self.c - self.s
        gap = float((self.p * self.s).sum())

        def step(right: Array) -> tuple[Array, Array, Array]:
            """Return the step with W dp + W^-1 ds = right that removes the residuals `force` and `off`."""
            given = force + self.A_T @ (scaling.divided(right) - _each(D2, off)).ravel()
            dv = factors.solve(given)
            dv += factors.solve(given - self.K @ dv - self.A_T @ _each(D2, self._moved(dv)).ravel())
            ds = self._moved(dv) + off
            return dv, scaling.divided(right - scaling.divided(ds)), ds

        dv, dp, ds = step(-point)
        length = NEARLY * min(longest(self.p, dp), longest(self.s, ds))
        after = float(((self.p + length * dp) * (self.s + length * ds)).sum())
        centring = min(max(after / gap, 0.0), 1.0) ** 3 * gap / len(self.p)
        right = -product(point, point) - product(scaling.times(dp), scaling.divided(ds))
        right[:, 0] += centring
        dv, dp, ds = step(quotient(point, right))
        length = NEARLY * min(longest(self.p, dp), longest(self.s, ds))
        if not np.isfinite(length * dv).all() or length < SHORT:
            return False
        self.v += length * dv
        self.p += length * dp
        self.s += length * ds
        return bool((depth(self.p) > 0).all() and (depth(self.s) > 0).all())


class SphereInterior(OfSpheres):
    """Solver of sphere packings (see the module); its iterations are factorisations."""

    def search(self, problem: ContactBlocks, packed: SpherePacking, x: Array) -> tuple[Array, float, int]:
        found, iterations, vain = problem.residual(x), 0, 0
        if found <= self.stop or not problem.blocks:
            return x, found, 0
        on = Interior(problem, packed)
        while found > self.stop and iterations < self.most and vain < PATIENCE and on.advance():
            iterations, vain = iterations + 1, vain + (found < NEAR)
            on.newton.start(on.z, on.z, 0.0)
            on.newton.judged()
            if on.newton.least < found:
                found, x, vain = on.newton.least, on.newton.x, 0
                best.offer(x)
        if found <= self.stop or found > NEAR:
            return x, found, iterations
        # The remaining error is round-off of the whole at light spheres, which sweeps reduce contact by contact.
        swept, residual, sweeps = SWEEPS.adjusted(self.stop, LAST_SWEEPS).search(problem, packed, x)
        return (swept, residual, iterations + sweeps) if residual < found else (x, found, iterations)


SOLVER = SphereInterior(
    STOP, MOST, "interior-point", "contacts of spheres with associated flow", "Nesterov & Todd 1998; Mehrotra 1992",
    largest=LARGEST, associated=True,
)  # fmt: skip
