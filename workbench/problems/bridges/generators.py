"""The CCP as an LCP over generators of its cones: in the plane every friction cone has two, without friction one.

    K = {G x : x >= 0},     z = G x,     0 <= x  perp  G^T (W G x + q) >= 0,

since u lies in K* exactly if its products with the generators are not negative. G has the columns (1, mu) and (1, -mu)
of every contact, and (1, 0) where mu = 0; G^T W G is symmetric, and positive (semi)definite if W is. Cones in space
have no finite set of generators; finitely many generate a pyramid (Anitescu & Potra 1997).
"""

import numpy as np

from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.classes import LCP, ConeProblem, ConicQP, is_sparse
from workbench.support.arrays import Array


def applies(problem: ConeProblem) -> str | None:
    if problem.d > 1 and problem.mu.any():
        return "cones in space have no finite set of generators"
    return f"W is sparse, with {problem.size} rows; an LCP has a dense matrix" if is_sparse(problem.M) else None


def forward(problem: ConicQP) -> Image:
    r, mu = problem.mu.size, problem.mu
    some = np.flatnonzero(mu)
    G = np.zeros((problem.size, r + some.size))
    x = r + np.arange(some.size)
    G[np.arange(r), np.arange(r)], G[some, x] = 1.0, 1.0
    if some.size:
        G[r + some, some], G[r + some, x] = mu[some], -mu[some]

    def there(z: Array) -> Array:
        first, second = z[:r].copy(), z[some]
        if some.size:
            off = z[r + some] / mu[some]
            first[some], second = 0.5 * (second + off), 0.5 * (second - off)
        return np.maximum(np.concatenate([first, second]), 0.0)

    M = G.T @ problem.M @ G
    return Image(LCP(0.5 * (M + M.T), G.T @ problem.q), lambda y: G @ y, there)


BRIDGE = Bridge("cones by their generators as an LCP", between([ConicQP.kind], LCP.kind), 2, applies, forward)
