"""Contact blocks that are few, as dense matrices made by compiled code.

Of a robot's step, scipy's sparse matrices took 3 ms to set up what is solved in 0.2 ms.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, set_all
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.engine.stored import Stored
from workbench.problems.block_kernels import BLOCKS, own_terms, push
from workbench.problems.islands import parts_over_bodies
from workbench.problems.mass import MASS, solve_mass
from workbench.problems.residual import READ_ROW, Iterate, measure_raised, row_product, scale_up
from workbench.problems.sets import NO_CONE, BlockSets

MOST_ROWS, MOST_UNKNOWNS, MOST_VELOCITIES = 200, 400, 400
"""Rows, unknowns and velocities up to which contact blocks are few; of a diagonal M, velocities may be many."""


class Few(Packed):
    """What few blocks are asked for: W (R, R), A = L W R + N (X, X), its diagonal blocks, flat, the velocity (n,)
    that M v = b + J^T s has, q (X,) of F = A x + q, the sizes `terms` (X,) of what q is the sum of, and `part` (B,) as
    of `islands.parts_over_bodies`; and room for two answers x, x_before (X,), impulses P (R,),
    residuals (B,) and three numbers found."""

    sizes = ("n", "blocks", "rows", "unknowns", "square")
    integers = ("part",)
    fields: ClassVar[dict[str, tuple]] = {
        "W": ("rows", "rows"), "A": ("unknowns", "unknowns"), "own_A": ("square",), "velocity": ("n",),
        "q": ("unknowns",), "terms": ("unknowns",), "part": ("blocks",), "x": ("unknowns",), "x_before": ("unknowns",),
        "P": ("rows",), "residuals": ("blocks",), "found": (3,),
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


FEW = Few.compiled
NO_FEW = Few(n=0, blocks=0, rows=0, unknowns=0, square=0)
"""Placeholder where blocks are many."""


@kernel(types.int64(BLOCKS, MASS, INDICES))
def place_groups(blocks, mass, place):
    """Place the groups of velocities that J touches one after another: place (groups,), -1 of all others; returns how
    many velocities these groups have."""
    group, begin, count = mass.group, mass.begin, 0
    for g in range(place.shape[0]):
        place[g] = -1
    for k in range(blocks.J_pointer[blocks.s.shape[0]]):
        place[group[blocks.J_column[k]]] = 0
    for g in range(place.shape[0]):
        if place[g] == 0:
            place[g] = count
            count += begin[g + 1] - begin[g]
    return count


@kernel(types.void(BLOCKS, MASS, INDICES, MATRIX))
def forward_rows(blocks, mass, place, Z):
    """Z (., R) = L^-1 J^T, velocities in the order of `place_groups`, so that W = Z^T Z."""
    group, begin, within, at, factor = mass.group, mass.begin, mass.within, mass.at, mass.factor
    pointer, column, data, rows = blocks.J_pointer, blocks.J_column, blocks.J_data, Z.shape[1]
    for i in range(Z.shape[0]):
        set_all(0.0, Z[i])
    for r in range(rows):
        for k in range(pointer[r], pointer[r + 1]):
            j = column[k]
            Z[place[group[j]] + within[j], r] += data[k]
    for g in range(begin.shape[0] - 1):
        a, size, first = place[g], begin[g + 1] - begin[g], at[g]
        for i in range(size if a >= 0 else 0):
            own, diagonal = Z[a + i], factor[first + i * size + i]
            for k in range(i):
                f, other = factor[first + i * size + k], Z[a + k]
                if f != 0.0:
                    for r in range(rows):
                        own[r] -= f * other[r]
            for r in range(rows):
                own[r] /= diagonal


@kernel(types.void(MATRIX, MATRIX))
def gram(Z, W):
    """W = Z^T Z."""
    for a in range(W.shape[0]):
        row = W[a]
        for b in range(a + 1):
            row[b] = 0.0
        for j in range(Z.shape[0]):
            z, other = Z[j, a], Z[j]
            if z != 0.0:
                for b in range(a + 1):
                    row[b] += z * other[b]
        for b in range(a):
            W[b, a] = row[b]


@kernel(types.void(BLOCKS, FEW))
def block_matrix(blocks, few):
    """A (X, X) = L W R + N, and its diagonal blocks, flat."""
    row, unknown, L, N, R = blocks.row, blocks.unknown, blocks.L, blocks.N, blocks.R
    W, A, own_A, cone, left = few.W, few.A, few.own_A, blocks.cone, scratch(few.W.shape[0])
    at_i, N_i = 0, 0
    for i in range(row.shape[0] - 1):
        m, k = row[i + 1] - row[i], unknown[i + 1] - unknown[i]
        for p in range(k):
            own, at_j = A[unknown[i] + p], 0
            set_all(0.0, own)
            set_all(0.0, left)
            for q in range(k):
                own[unknown[i] + q] = N[N_i + p * k + q]
            for a in range(m):
                f, given = L[at_i + p * m + a], W[row[i] + a]
                if f != 0.0:
                    for b in range(left.shape[0]):
                        left[b] += f * given[b]
            for j in range(row.shape[0] - 1):
                first, count, top, width = unknown[j], unknown[j + 1] - unknown[j], row[j], row[j + 1] - row[j]
                if cone[j] != NO_CONE:
                    # R of a cone is the identity.
                    for b in range(width):
                        own[first + b] += left[top + b]
                else:
                    for b in range(width):
                        for q in range(count):
                            own[first + q] += left[top + b] * R[at_j + b * count + q]
                at_j += width * count
            for q in range(k):
                own_A[N_i + p * k + q] = own[unknown[i] + q]
        at_i, N_i = at_i + k * m, N_i + k * k


@kernel(types.void(BLOCKS, FEW))
def free_rows(blocks, few):
    """q (X,) = L J v + c, and the sizes of what it is the sum of."""
    row, unknown, L, c = blocks.row, blocks.unknown, blocks.L, blocks.c
    pointer, column, data = blocks.J_pointer, blocks.J_column, blocks.J_data
    v, q, terms, at = few.velocity, few.q, few.terms, 0
    for i in range(row.shape[0] - 1):
        m = row[i + 1] - row[i]
        for p in range(unknown[i], unknown[i + 1]):
            q[p], terms[p] = c[p], abs(c[p])
        for a in range(m):
            u, size = 0.0, 0.0
            for k in range(pointer[row[i] + a], pointer[row[i] + a + 1]):
                term = data[k] * v[column[k]]
                u, size = u + term, size + abs(term)
            for p in range(unknown[i + 1] - unknown[i]):
                q[unknown[i] + p] += L[at + p * m + a] * u
                terms[unknown[i] + p] += abs(L[at + p * m + a]) * size
        at += m * (unknown[i + 1] - unknown[i])


@kernel(types.void(BLOCKS, FEW, VECTOR, VECTOR), checked=False)
def few_residuals(blocks, few, x, found):
    """`problem.SetBySet.residuals` of the blocks at x (X,), found (B,)."""
    X, A, own = x.shape[0], few.A, few.own_A
    sets = BlockSets(blocks.unknown, blocks.cone, blocks.mu, blocks.lower, blocks.upper)
    D, diagonal, raised, moved, terms = scratch(X), scratch(X), scratch(X), scratch(X), scratch(X)
    for k in range(X):
        if not np.isfinite(x[k]):
            for i in range(found.shape[0]):
                found[i] = np.inf
            return
    for k in range(X):
        diagonal[k] = A[k, k]
    up = scale_up(sets, diagonal, own, few.q, x, D, raised)
    for k in range(X):
        total, size = row_product(A, k, raised)
        moved[k], terms[k] = total, size
    own_terms(sets.first, sets.cone, own, moved, raised, terms)
    measure_raised(sets, few.part, up, D, Iterate(raised, moved, few.q, few.terms, terms, diagonal), found)


@kernel(types.void(BLOCKS, MASS, FEW), checked=False)
def set_up(blocks, mass, few):
    """All that few blocks are asked for."""
    rows, B, groups = blocks.s.shape[0], blocks.cone.shape[0], mass.begin.shape[0] - 1
    part, place = scratch_indices(B + groups), scratch_indices(groups)
    J = Stored(blocks.J_pointer, blocks.J_column, blocks.J_data)
    Z, P, x = scratch_matrix(place_groups(blocks, mass, place), rows), scratch(rows), scratch(blocks.c.shape[0])
    forward_rows(blocks, mass, place, Z)
    gram(Z, few.W)
    block_matrix(blocks, few)
    copy(blocks.b, few.velocity)
    copy(blocks.s, P)
    set_all(0.0, x)
    push(blocks, J, x, P, few.velocity)
    solve_mass(mass, few.velocity)
    free_rows(blocks, few)
    parts_over_bodies(blocks.row, J, mass.group, part)
    for i in range(B):
        few.part[i] = part[i]


@kernel(types.void(BLOCKS, READ_ROW, MASS, VECTOR, VECTOR), checked=False)
def move(blocks, x, mass, v, P):
    """v (n,) and P (R,) of x (X,)."""
    copy(blocks.b, v)
    copy(blocks.s, P)
    push(blocks, Stored(blocks.J_pointer, blocks.J_column, blocks.J_data), x, P, v)
    solve_mass(mass, v)


def has_small_factors(n: int, entries: int) -> bool:
    """Whether the dense factors of a mass matrix (n, n) with so many entries are small: n is, or it is diagonal."""
    return 0 < n <= MOST_VELOCITIES or 0 < n == entries


def room_for(blocks: Any) -> Few | None:
    """Room for the numbers of blocks (`block_kernels.BlockArrays`) if they are few, else None."""
    few = blocks.rows <= MOST_ROWS and blocks.unknowns <= MOST_UNKNOWNS
    few = few and has_small_factors(blocks.n, blocks.M_entries)
    sizes = {name: getattr(blocks, name) for name in Few.sizes}
    return Few.unset(**sizes) if few else None
