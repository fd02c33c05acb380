"""Projected Gauss-Seidel, sweep by sweep: each z_i in turn becomes max(0, z_i - w_i / M_ii).

In doubles, sweeps and termination agree bit for bit with the compiled `pgs`, which stops when a sweep moves z by at
most `TOLERANCE` and the natural map is as small. In exact fractions, whose digits grow with every sweep, it continues
until nothing moves or the allowed number of sweeps is reached.

Source: C. W. Cryer, SIAM J. Control 9 (1971); CPS section 5.3.
"""

import math
from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from workbench.algorithms.pgs import TOLERANCE
from workbench.diagnostics.tracing.tableau import TracedSystem, Vector
from workbench.diagnostics.tracing.trace import GaussSeidelSweep, Trace, is_solution
from workbench.matrices.linear_algebra.rationals import nearest_double


def trace(M: fmpq_mat, q: Vector, most: int, exact: bool = False) -> Trace:
    """Trace at most `most` sweeps from z = 0, M (n, n) having a positive diagonal, q (n,); in doubles, or `exact`."""
    system = TracedSystem(M, q)
    n = system.n
    number = (lambda x: x) if exact else nearest_double
    rows = [[number(M[i, j]) for j in range(n)] for i in range(n)]
    constants = [number(x) for x in q]
    z = [number(fmpq(0))] * n
    sweeps = [_sweep(0, rows, constants, z, None)]
    while len(sweeps) <= most:
        z, change = swept(rows, constants, z, move=True)
        sweeps.append(_sweep(len(sweeps), rows, constants, z, change))
        if not math.isfinite(change):
            return Trace("pgs", system, sweeps, "stopped", "the sweeps leave the range of doubles")
        if exact and is_solution(system, z):
            return Trace("pgs", system, sweeps, "solution", z=z)
        if not exact and max(change, sweeps[-1].residual) <= TOLERANCE:
            because = f"a sweep moves z by at most {TOLERANCE:.0e} of its size"
            return Trace("pgs", system, sweeps, "settled", because, z=z)
    because = f"the last of {len(sweeps) - 1} sweeps moves z by {sweeps[-1].change:.1e} of its size"
    return Trace("pgs", system, sweeps, "stopped", because)


def swept(M: Sequence[Sequence], q: Sequence, z: Sequence, move: bool) -> tuple[list, float]:
    """Return z after one sweep and its relative change (`GaussSeidelSweep`); a Jacobi sweep without `move`.

    Numbers are doubles or fractions. Sums are in the order of the compiled ones.
    """
    z, after = list(z), []
    step = size_z = size_q = 0 * q[0]
    for i, row in enumerate(M):
        w = q[i]
        for a, x in zip(row, z, strict=True):
            w += a * x
        y = max(z[i] - w / row[i], 0 * w)
        # Squares as products: Python's powers of doubles raise errors on overflow.
        step += row[i] * ((y - z[i]) * (y - z[i]))
        size_z += row[i] * (y * y)
        size_q += q[i] * q[i] / row[i]
        after.append(y)
        if move:
            z[i] = y
    size = max(size_z, size_q)
    share = step / size if size > 0 else size
    return after, math.sqrt(nearest_double(share) if isinstance(share, fmpq) else share)


def _sweep(number: int, M: Sequence[Sequence], q: Sequence, z: list, change: float | None) -> GaussSeidelSweep:
    w = [sum((a * x for a, x in zip(row, z, strict=True)), b) for row, b in zip(M, q, strict=True)]
    return GaussSeidelSweep(number, z, w, change, swept(M, q, z, move=False)[1])
