"""P verdicts of boxes against definitions: `python -m tests.box_stress --count 2000 --samples 10000 --seed 1`.

Box k depends on k and the seed alone; `--first 801` omits the 800 before. Boxes of order 2 to 12 have radii around the
largest that keeps P. A verdict on all members is compared with all principal minors of all vertex matrices
C - diag(z) D diag(z) (Bialas and Garloff 1984), computed exactly where doubles do not tell their signs; members by
chance must not contradict it, nor the verdict that no member is a P-matrix; the two members of "some" are checked.
Up to order 8 the bracket of the largest uncertainty is compared with all vertices at both ends.
"""

import argparse
import sys
from collections import Counter

import numpy as np
from flint import fmpq, fmpq_mat

from tests.boxes import all_vertices_p, index_sets, rational
from workbench.engine.timing import clock
from workbench.matrices.intervals.box_classes import box_classes
from workbench.matrices.intervals.largest_uncertainty import largest_uncertainty
from workbench.matrices.intervals.p_box import all_p
from workbench.readers.interval_matrix import IntervalMatrix

SECONDS = 10.0
ORDERS = range(2, 13)
FACTORS = fmpq(1, 2), fmpq(9, 10), fmpq(999, 1000), fmpq(1001, 1000), fmpq(11, 10), fmpq(2), fmpq(8)
"""Radii, as multiples of the largest that keeps P."""
SETS = 20
"""Principal minors of every sample of a box whose members are all said to be P-matrices."""
MOST_BRACKET, NARROW = 8, fmpq(1, 10**6)
"""Largest order of boxes whose brackets are compared with all vertices, and the relative width that these may have."""
DOUBTFUL = 1e-6
"""Minor, relative to the product of the largest entries of its rows, up to which it is computed exactly."""


def minor(A: fmpq_mat, a: tuple[int, ...]) -> fmpq:
    return fmpq_mat([[A[i, j] for j in a] for i in a]).det()


def is_p(A: fmpq_mat) -> bool:
    return all(minor(A, a) > 0 for a in index_sets(A.nrows()))


class Samples:
    """Members C + D k / 8 with whole k from -8 to 8, every fourth of them a corner, as doubles and exactly."""

    def __init__(self, box: IntervalMatrix, count: int, rng: np.random.Generator) -> None:
        n = box.order
        self.box, self.k = box, rng.integers(-8, 9, (count, n, n))
        self.k[::4] = rng.choice([-8, 8], self.k[::4].shape)
        C, D = (
            np.array([[float(int(x.p) / int(x.q)) for x in row] for row in X.tolist()])
            for X in (box.centre, box.radius)
        )
        self.values = C + D * self.k / 8

    def exact(self, i: int) -> fmpq_mat:
        C, D, n = self.box.centre, self.box.radius, self.box.order
        return fmpq_mat([[C[a, b] + D[a, b] * fmpq(int(self.k[i, a, b]), 8) for b in range(n)] for a in range(n)])

    def may_be_positive(self, which: np.ndarray, a: tuple[int, ...]) -> np.ndarray:
        """Which of some samples have a minor that is positive, or so small that rounding may hide it."""
        part = self.values[np.ix_(which, a, a)]
        return np.linalg.det(part) > -DOUBTFUL * np.abs(part).max(axis=2).prod(axis=1)

    def surely_positive(self, which: np.ndarray, a: tuple[int, ...]) -> np.ndarray:
        part = self.values[np.ix_(which, a, a)]
        return np.linalg.det(part) > DOUBTFUL * np.abs(part).max(axis=2).prod(axis=1)


def not_p(samples: Samples) -> bool:
    """Whether no sample is a P-matrix."""
    left = np.arange(len(samples.k))
    for a in index_sets(samples.box.order):
        left = left[samples.may_be_positive(left, a)]
        if not left.size:
            return True
    return not any(is_p(samples.exact(i)) for i in left)


def positive(samples: Samples, rng: np.random.Generator) -> bool:
    """Whether the samples' minors are positive, as many as `SETS`."""
    every, n = np.arange(len(samples.k)), samples.box.order
    for _ in range(SETS):
        a = tuple(np.flatnonzero(rng.random(n) < rng.random()).tolist()) or (int(rng.integers(n)),)
        doubtful = every[~samples.surely_positive(every, a)]
        if any(minor(samples.exact(i), a) <= 0 for i in doubtful):
            return False
    return True


def bracket_failure(box: IntervalMatrix, found) -> str:
    """What is wrong with the bracket of the largest uncertainty of a box of low order; empty where nothing is."""
    if box.order > MOST_BRACKET:
        return ""
    if found.upper - found.lower > NARROW * found.upper:
        return f"the largest uncertainty is only known to {float(found.lower)} to {float(found.upper)}"
    if not all_vertices_p(box.scaled(found.lower)) or all_vertices_p(box.scaled(found.upper)):
        return "the bracket of the largest uncertainty is wrong"
    return ""


def random_box(n: int, rng: np.random.Generator) -> tuple[IntervalMatrix, str]:
    """A box around a matrix of one of three families, mostly with a radius around the largest that keeps P, and what is
    wrong with the bracket of that radius."""
    while True:
        G, K = rng.standard_normal((2, n, n))
        C = G @ G.T / n + 0.1 * np.eye(n)
        if rng.random() < 0.5:
            C += 0.5 * (K - K.T)
        if rng.random() < 0.3:
            C = C * np.exp(rng.standard_normal(n))[:, None]
        D = np.abs(C) * rng.random((n, n)) * (rng.random((n, n)) < rng.choice([0.2, 0.6, 1.0]))
        box = IntervalMatrix(rational(np.round(64 * C) / 64), rational(np.round(64 * D) / 64))
        if rng.random() < 0.25:
            # Around a matrix that is none: for small radii no member is.
            few = rng.permutation(n)[: rng.integers(1, n + 1)]
            C[few, few] -= rng.random() * np.diag(C)[few] + np.linalg.eigvalsh(C + C.T)[-1] * rng.random()
            return IntervalMatrix(rational(np.round(64 * C) / 64), box.radius), ""
        found = largest_uncertainty(box, "P", clock() + SECONDS)
        if found.upper:
            part = box.scaled(FACTORS[rng.integers(len(FACTORS))] * found.upper)
            return part, bracket_failure(box, found)


def failure(box: IntervalMatrix, samples: Samples, rng: np.random.Generator, seen: Counter) -> str:
    """What is wrong with the verdicts on a box; empty where nothing is."""
    known, _ = box_classes(box, clock() + SECONDS)
    p, every = known["P"], all_p(box, clock() + SECONDS).verdict
    seen[p.verdict] += 1
    seen["P of all undecided"] += every == "undecided"
    if every != "undecided" and (every == "all") != all_vertices_p(box):
        return f"P of all members: {every}"
    if p.verdict == "all" and not positive(samples, rng):
        return "a member is no P-matrix"
    if p.verdict == "none" and not not_p(samples):
        return "a member is a P-matrix"
    if p.verdict == "some" and not (is_p(p.inside.matrix) and not is_p(p.outside.matrix)):
        return "the members of both kinds are not"
    if any(x.matrix not in box for x in (p.inside, p.outside) if x):
        return "a member is not in the box"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    seen, wrong, last = Counter[str](), 0, args.first + args.count - 1
    for k in range(args.first, last + 1):
        rng = np.random.default_rng([args.seed, k])
        box, reason = random_box(ORDERS[k % len(ORDERS)], rng)
        reason = reason or failure(box, Samples(box, args.samples, rng), rng, seen)
        if reason:
            wrong += 1
            print(f"box {k}: {reason}\n{box.centre}\n{box.radius}")
        if k % 50 == 0 or k == last:
            print(f"boxes {args.first} to {k}, {wrong} wrong; verdicts on P: {dict(seen)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
