"""How far the P verdict of a box reaches: the largest radius proved over the smallest refuted, by order.

    python benchmarks/box_reach.py [--smoke]

Three families of midpoints that are diagonally stable, all entries uncertain. Each row: the bracket of the largest
uncertainty within ten seconds, and the slowest single verdict of all boxes below 0.9 and above 1.01 times it.
"""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import clock
from workbench.matrices.intervals.largest_uncertainty import largest_uncertainty
from workbench.matrices.intervals.p_box import all_p
from workbench.matrices.linear_algebra.rationals import exact, nearest_double
from workbench.readers.interval_matrix import IntervalMatrix

SECONDS = 10.0
FAMILIES = ("gram", "gram, skew, scaled", "shifted")


def midpoint(family, n, rng):
    """A diagonally stable matrix (n, n)."""
    G = rng.standard_normal((n, n))
    if family == "shifted":
        G /= np.sqrt(n)
        return G - 1.3 * np.linalg.eigvalsh(0.5 * (G + G.T))[0] * np.eye(n)
    C = G @ G.T / n + 0.1 * np.eye(n)
    if family == "gram":
        return C
    K = rng.standard_normal((n, n))
    return (C + 0.5 * (K - K.T)) * np.exp(rng.standard_normal(n))[:, None]


def rational(A):
    return fmpq_mat([[exact(x) for x in row] for row in A.tolist()])


def timed(box, factor):
    start = clock()
    return all_p(box.scaled(factor), start + SECONDS).verdict, clock() - start


def main():
    orders = (4, 6) if "--smoke" in sys.argv else (6, 10, 13, 16, 20, 24)
    print("| n | midpoint | proved / refuted in 10 s | s | at 0.9 | at 1.01 |\n|---|---|---|---|---|---|")
    for n in orders:
        for k, family in enumerate(FAMILIES):
            rng = np.random.default_rng(100 * n + k)
            C = midpoint(family, n, rng)
            box = IntervalMatrix(rational(C), rational(np.abs(C) * rng.random((n, n))))
            all_p(box.scaled(fmpq(1, 100)), clock() + SECONDS)
            start = clock()
            found = largest_uncertainty(box, "P", start + SECONDS)
            seconds = clock() - start
            share = nearest_double(found.lower / found.upper) if found.upper else float("nan")
            shown = [f"{word}, {took:.2g} s" for word, took in (timed(box, found.upper * f) for f in FACTORS)]
            print(f"| {n} | {family} | {share:.8f} | {seconds:.2g} | {shown[0]} | {shown[1]} |", flush=True)


FACTORS = (fmpq(9, 10), fmpq(101, 100))

if __name__ == "__main__":
    main()
