"""Distances against 50 digits that no code of the library's computes: `python -m tests.distances --count 10000`.

The truth is the least root of the characteristic polynomial of B^T B, exact, for every index set. All roots are real
and none is negative, so that Newton's method rises from zero to the least one.
"""

import argparse
import itertools
from collections.abc import Iterator
from time import process_time

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from workbench.matrices.distances.distance import distance
from workbench.readers.matrix import Matrix

BITS = 700
"""Precision of the truth: 210 digits, of which cancellation may eat three quarters."""
KINDS = ("random", "near", "graded", "whole", "ties", "doubles")


def matrices(seed: int, count: int) -> Iterator[tuple[str, Matrix]]:
    """Square matrices of order one to five, kind by kind."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        yield kind, _one(kind, rng, int(rng.integers(1 if kind == "random" else 2, 6)))


def _one(kind: str, rng: np.random.Generator, n: int) -> Matrix:
    if kind == "random":
        return Matrix(rng.normal(size=(n, n)) + rng.choice([0, 1, 2]) * np.eye(n))
    if kind == "near":
        # A matrix with a singular block, in decimals, off by 1e-20 to 1e-40.
        M = _singular(rng, n)
        digits = int(rng.integers(20, 41))
        return written([[x + fmpq(int(rng.integers(-9, 10)), 10**digits) for x in row] for row in M.tolist()])
    if kind == "graded":
        units = 10.0 ** rng.uniform(-6, 6, (2, n))
        return Matrix((rng.normal(size=(n, n)) + 2 * np.eye(n)) * units[0][:, None] * units[1])
    if kind == "whole":
        return Matrix(rng.integers(-3, 6, (n, n)).astype(float))
    if kind == "ties":
        # All principal submatrices of order two and more have the same smallest singular value.
        v = rng.integers(1, 9, n)
        small = fmpq(1, 10 ** int(rng.integers(1, 41)))
        return written([[fmpq(int(x * y)) + small * int(i == j) for j, y in enumerate(v)] for i, x in enumerate(v)])
    M = np.array([[float(x.p) / float(x.q) for x in row] for row in _singular(rng, n).tolist()])
    return Matrix(M * (1 + rng.integers(-3, 4, (n, n)) * 2.0**-52))


def _singular(rng: np.random.Generator, n: int) -> fmpq_mat:
    """Tenths, with a random principal submatrix of rank one less than its order, and positive elsewhere at a guess."""
    k = int(rng.integers(2, n + 1))
    M = [[fmpq(int(v), 10) for v in row] for row in rng.integers(-9, 10, (n, n)) + 10 * np.eye(n, dtype=int)]
    a = sorted(rng.choice(n, k, replace=False).tolist())
    for i in a:
        # Rows of these columns add up to the last of them.
        M[i][a[-1]] = sum((M[i][j] for j in a[:-1]), fmpq(0))
    return fmpq_mat(M)


def written(rows: list[list[fmpq]]) -> Matrix:
    """A matrix that came as text."""
    values = [[int(x.p) / int(x.q) for x in row] for row in rows]
    return Matrix(np.array(values), tuple(" ".join(str(x) for x in row) for row in rows))


def blocks(M: fmpq_mat) -> Iterator[fmpq_mat]:
    """All principal submatrices."""
    n = M.nrows()
    for a in (a for k in range(1, n + 1) for a in itertools.combinations(range(n), k)):
        yield fmpq_mat([[M[i, j] for j in a] for i in a])


def mixtures(M: fmpq_mat) -> Iterator[fmpq_mat]:
    """The matrices with each row from M or from the identity."""
    n = M.nrows()
    for chosen in itertools.product((False, True), repeat=n):
        yield fmpq_mat([[M[i, j] if chosen[i] else fmpq(i == j) for j in range(n)] for i in range(n)])


def truth(matrices: Iterator[fmpq_mat]) -> arb:
    """The least singular value of all of these, to 50 digits."""
    with ctx.workprec(BITS):
        return min((_least_root((B.transpose() * B).charpoly()) for B in matrices), key=float).sqrt()


def _least_root(p) -> arb:
    if p[0] == 0:
        return arb(0)
    p = p // p.gcd(p.derivative())
    values = [arb(c).mid() for c in p.coeffs()]
    x = arb(0)
    for _ in range(2000):
        f = slope = arb(0)
        for c in reversed(values):
            slope = slope * x + f
            f = f * x + c
        step = (f / slope).mid()
        x = (x - step).mid()
        if abs(step) < abs(x) * arb("1e-54"):
            return x
    raise AssertionError("Newton's method did not settle")


def holds(lower: fmpq, value: arb, upper: fmpq) -> bool:
    """lower <= value <= upper, for a value that is off in its fiftieth digit."""
    with ctx.workprec(BITS):
        return bool(arb(lower) * (1 - arb("1e-50")) <= value) and bool(value <= arb(upper) * (1 + arb("1e-50")))


def width(lower: fmpq, upper: fmpq) -> float:
    """Relative width of an enclosure."""
    ratio = (upper - lower) / upper if upper else fmpq(0)
    return int(ratio.p) / int(ratio.q)


def main() -> None:
    """Tell how many enclosures are false, and how wide they are."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    false, near, widest, zero, seconds = 0, 0, 0.0, 0, 0.0
    for kind, matrix in matrices(o.seed, o.count):
        start = process_time()
        found = distance(matrix).enclosure
        seconds += process_time() - start
        value = truth(blocks(matrix.exact))
        if not holds(found.lower, value, found.upper):
            false += 1
            print("FALSE", kind, matrix.exact, found)
        widest, zero = max(widest, width(found.lower, found.upper)), zero + (found.upper == 0)
        near += 0 < float(value) < 1e-15 * float(np.abs(matrix.values).max())
    print(
        f"{o.count} matrices: {false} false enclosures, widest {widest:.2g} relative; {near} nearer to a singular "
        f"minor than 1e-15 of their entries, {zero} with one; {1e3 * seconds / o.count:.2g} ms each"
    )


if __name__ == "__main__":
    main()
