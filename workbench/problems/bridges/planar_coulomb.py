"""Coulomb's law in the plane as an LCP: with two directions, Stewart and Trinkle's polygon is exact.

    0 <= n      perp  u_n >= 0
    0 <= b+-    perp  lambda +- u_t >= 0,      t = b+ - b-
    0 <= lambda perp  mu n - b+ - b- >= 0

lambda is |u_t| if the contact slides. Contacts without friction have only n. Source: Stewart & Trinkle 1996.
"""

import numpy as np

from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.bridges.generators import applies
from workbench.problems.classes import LCP, CoulombNCP
from workbench.support.arrays import Array


def forward(problem: CoulombNCP) -> Image:
    W, q, r = problem.M, problem.q, problem.mu.size
    some = np.flatnonzero(problem.mu)
    k, t, n = some.size, r + some, r + 3 * some.size
    # z = B x with x = [n (r), b+ (k), b- (k), lambda (k)].
    B = np.zeros((problem.size, n))
    B[np.arange(r), np.arange(r)] = 1.0
    plus, minus, slip = (r + i * k + np.arange(k) for i in range(3))
    if k:
        B[t, plus], B[t, minus] = 1.0, -1.0
    M = B.T @ W @ B
    M[plus, slip] = M[minus, slip] = 1.0
    M[slip, some], M[slip, plus], M[slip, minus] = problem.mu[some], -1.0, -1.0

    def there(z: Array) -> Array:
        z_t, u_t = (z[t], (W @ z + q)[t]) if k else (np.zeros(0), np.zeros(0))
        return np.concatenate([z[:r], np.maximum(z_t, 0.0), np.maximum(-z_t, 0.0), abs(u_t)])

    return Image(LCP(M, B.T @ q), lambda x: B @ x, there)


BRIDGE = Bridge("Coulomb's law in the plane as an LCP", between([CoulombNCP.kind], LCP.kind), 2, applies, forward)
