"""How far the P verdict reaches in ten seconds, beside a plain compiled recursion over all 2^n - 1 minors.

    python benchmarks/p_reach.py [--smoke]

Prints a table: matrix, order, verdict, seconds, how it was decided; then the plain recursion (with the same error
bounds, no diagonal stability) at growing orders. Times are wall times of this machine; compare rows, not machines.
"""

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from workbench.matrices.p_property.tree import DONE, run_through
from workbench.matrices.p_property.verdict import p_verdict
from workbench.readers.matrix import Matrix

SECONDS = 10.0


def verdict(M, seconds=SECONDS):
    return p_verdict(Matrix(M).exact, seconds)


def boundary(G):
    """The smallest c found that makes G + c I a P-matrix, to a thousandth."""
    low, high = 0.0, 2 * np.linalg.norm(G, 2)
    while high - low > 1e-3 * high:
        c = 0.5 * (low + high)
        if verdict(G + c * np.eye(len(G)), 5.0).verdict == "P":
            high = c
        else:
            low = c
    return high


def cyclic(n, c):
    """One minor can be negative, the last, 1 - (-c)^n; not diagonally stable."""
    return np.eye(n) + c * np.roll(np.eye(n), 1, axis=1)


def structured(rng, n):
    D = np.exp(2 * rng.normal(size=(2, n)))
    K = rng.uniform(size=(n, n))
    np.fill_diagonal(K, 0.0)
    top = 1.001 * np.abs(np.linalg.eigvals(K)).max() * np.eye(n)
    A, S = rng.normal(size=(2, n, n))
    plain = {
        "M-matrix, scaled": top - K,
        "H+-matrix, scaled": top + K * rng.choice([-1, 1], (n, n)),
        "positive definite, not symmetric, scaled": A @ A.T / n + 0.01 * np.eye(n) + S - S.T,
    }
    return {name: D[0][:, None] * M * D[1] for name, M in plain.items()}


def hidden(rng, n):
    """One principal submatrix of order 0.3 n made singular and a millionth more."""
    B = rng.normal(size=(n, n))
    M = B @ B.T / n + 0.5 * np.eye(n) + rng.normal(size=(n, n)) / np.sqrt(n)
    a = np.ix_(*2 * [np.sort(rng.choice(n, 3 * n // 10, replace=False))])
    U, s, V = np.linalg.svd(M[a])
    M[a] -= s[-1] * (1 + 1e-6) * np.outer(U[:, -1], V[-1])
    return M


def collection(smoke):
    rng = np.random.default_rng(1)
    for n in (15,) if smoke else (20, 24, 28, 50):
        G = rng.normal(size=(n, n))
        c = boundary(G)
        yield f"Gaussian + c I, c 0.5 % above the boundary ({c:.4g})", G + 1.005 * c * np.eye(n)
        yield "the same, 0.5 % below", G + 0.995 * c * np.eye(n)
    for n in (16,) if smoke else (28, 29):
        yield "cyclic, c = 1.8", cyclic(n, 1.8)
    yield from structured(rng, 40 if smoke else 500).items()
    yield "one hidden negative minor", hidden(rng, 40 if smoke else 100)


def plain_recursion(n):
    """Seconds of the recursion through all minors of a P-matrix of order n."""
    rng = np.random.default_rng(n)
    B, R = np.zeros((n + 1, n, n)), np.zeros((n + 1, n, n))
    B[n] = np.eye(n) + 0.9 * rng.uniform(-1, 1, (n, n)) / n
    start = time.perf_counter()
    assert run_through(B, R, n, np.zeros(n + 1, dtype=np.int64)) == DONE
    return time.perf_counter() - start


def main():
    smoke = "--smoke" in sys.argv[1:]
    verdict(cyclic(15, 1.5))  # compiles
    print("| matrix | n | verdict | seconds | decided by |\n|---|---|---|---|---|")
    for name, M in collection(smoke):
        start = time.perf_counter()
        found = verdict(M)
        seconds = time.perf_counter() - start
        how = found.proof or found.reason or f"minor of {len(found.index_set)} rows"
        print(f"| {name} | {len(M)} | {found.verdict} | {seconds:.2f} | {how} |", flush=True)
    print("\n| plain recursion, n | seconds |\n|---|---|")
    for n in (14,) if smoke else (20, 22, 24, 26):
        print(f"| {n} | {plain_recursion(n):.2f} |", flush=True)


if __name__ == "__main__":
    main()
