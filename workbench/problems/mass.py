"""The mass matrix of an instant, factored body by body, and the diagonal blocks of W.

Velocities that M couples, directly or through others, form a group: a free body, or the whole tree of a robot. Each
group has a dense Cholesky factor; the factors are consecutive in one array.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, VECTOR, least_members, unite
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch, scratch_indices
from workbench.engine.stored import STORED, Stored
from workbench.support.errors import DataError

I64 = types.int64


class Mass(Packed):
    """Groups and factors: group (n,) of every velocity.

    The velocities of group g are member[begin[g] : begin[g + 1]], and `within` (n,) is the position in the group; L_g
    is at[g] : at[g + 1], row by row."""

    sizes = ("n", "ends", "numbers")
    integers = ("group", "begin", "member", "within", "at")
    fields: ClassVar[dict[str, tuple]] = {
        "group": ("n",), "begin": ("ends",), "member": ("n",), "within": ("n",), "at": ("ends",), "factor": ("numbers",)
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


MASS = Mass.compiled
MISFIT = -1
NO_MASS = Mass(n=0, ends=1, numbers=0)
"""Placeholder where no factors are needed."""


@kernel(I64(STORED, INDICES))
def find_groups(M, group):
    """Find the group (n,) of every velocity of a symmetric pattern, in the order of their first velocities; returns
    their number."""
    n, count = group.shape[0], 0
    least = scratch_indices(n)
    for i in range(n):
        least[i] = i
    for i in range(n):
        for k in range(M.pointer[i], M.pointer[i + 1]):
            unite(i, M.column[k], least)
    least_members(least)
    for i in range(n):
        if least[i] == i:
            group[i] = count
            count += 1
        else:
            group[i] = group[least[i]]
    return count


@kernel(I64(STORED, MASS), checked=False)
def factorise(M, mass):
    """Find the groups and factor each by Cholesky; returns 0, or 1 + the first velocity whose pivot is not positive.

    Returns `MISFIT` where the mass has room for other groups.
    """
    group, begin, member, within = mass.group, mass.begin, mass.member, mass.within
    at, factor, n = mass.at, mass.factor, mass.group.shape[0]
    count = find_groups(M, group) if M.pointer.shape[0] == n + 1 else -1
    if count != begin.shape[0] - 1:
        return MISFIT
    for g in range(count + 1):
        begin[g] = 0
    for i in range(n):
        within[i] = begin[group[i] + 1]
        begin[group[i] + 1] += 1
    at[0] = 0
    for g in range(count):
        size = begin[g + 1]
        begin[g + 1] += begin[g]
        at[g + 1] = at[g] + size * size
    if at[count] != factor.shape[0]:
        return MISFIT
    for i in range(n):
        member[begin[group[i]] + within[i]] = i
    for k in range(factor.shape[0]):
        factor[k] = 0.0
    for i in range(n):
        g = group[i]
        size = begin[g + 1] - begin[g]
        for k in range(M.pointer[i], M.pointer[i + 1]):
            factor[at[g] + within[i] * size + within[M.column[k]]] += M.data[k]
    for g in range(count):
        size, first = begin[g + 1] - begin[g], at[g]
        for i in range(size):
            row = first + i * size
            for j in range(i + 1):
                other, s = first + j * size, factor[row + j]
                for k in range(j):
                    s -= factor[row + k] * factor[other + k]
                if j < i:
                    factor[row + j] = s / factor[other + j]
                elif s > 0.0:
                    factor[row + j] = np.sqrt(s)
                else:
                    return 1 + member[begin[g] + i]
    return 0


@kernel(types.void(MASS, VECTOR))
def solve_mass(mass, x):
    """Replace x (n,) by M^-1 x."""
    begin, member, at, factor = mass.begin, mass.member, mass.at, mass.factor
    y = scratch(x.shape[0])
    for g in range(begin.shape[0] - 1):
        size, first, a = begin[g + 1] - begin[g], at[g], begin[g]
        for i in range(size):
            s = x[member[a + i]]
            for k in range(i):
                s -= factor[first + i * size + k] * y[a + k]
            y[a + i] = s / factor[first + i * size + i]
        for i in range(size - 1, -1, -1):
            s = y[a + i]
            for k in range(i + 1, size):
                s -= factor[first + k * size + i] * y[a + k]
            y[a + i] = s / factor[first + i * size + i]
            x[member[a + i]] = y[a + i]


@kernel(types.void(INDICES, INDICES, INDICES, INDICES, VECTOR, MASS, VECTOR))
def own_products(first, start, column, place, value, mass, W):
    """Fill W_ii = J_i M^-1 J_i^T of every contact, flat; the rows are stored as in `scenes.rows`."""
    group, begin, within, at, factor = mass.group, mass.begin, mass.within, mass.at, mass.factor
    widest = 0
    for i in range(first.shape[0] - 1):
        widest = max(widest, first[i + 1] - first[i])
    n, begun = group.shape[0], 0
    y, origin, seen = scratch(widest * n), scratch_indices(n), scratch_indices(n)
    for g in range(n):
        seen[g] = -1
    for i in range(first.shape[0] - 1):
        rows, width = first[i + 1] - first[i], start[i + 1] - start[i]
        for a in range(rows):
            for b in range(a + 1):
                W[begun + a * rows + b] = 0.0
        # Columns ascend, but those of a group need not be adjacent.
        touched = 0
        for p in range(width):
            g = group[column[start[i] + p]]
            if seen[g] != i:
                seen[g], origin[touched] = i, g
                touched += 1
        for a in range(rows):
            for t in range(touched):
                for j in range(begin[origin[t]], begin[origin[t] + 1]):
                    y[a * n + j] = 0.0
            for p in range(width):
                j = column[start[i] + p]
                y[a * n + begin[group[j]] + within[j]] = value[place[i] + a * width + p]
            for t in range(touched):
                g = origin[t]
                size, front, first_y = begin[g + 1] - begin[g], at[g], a * n + begin[g]
                for j in range(size):
                    s = y[first_y + j]
                    for k in range(j):
                        s -= factor[front + j * size + k] * y[first_y + k]
                    y[first_y + j] = s / factor[front + j * size + j]
                for b in range(a + 1):
                    s = 0.0
                    for j in range(begin[g], begin[g + 1]):
                        s += y[a * n + j] * y[b * n + j]
                    W[begun + a * rows + b] += s
        for a in range(rows):
            for b in range(a):
                W[begun + b * rows + a] = W[begun + a * rows + b]
        begun += rows * rows


def mass_of(M: Stored, n: int) -> Mass:
    """Return the factors of a mass matrix (n, n). Raises DataError if it is not positive definite."""
    group = np.empty(n, dtype=np.int64)
    count = find_groups(M, group)
    sizes = np.bincount(group, minlength=count)
    mass: Mass = Mass.unset(n=n, ends=count + 1, numbers=int(sizes @ sizes))
    if wrong := factorise(M, mass):
        raise DataError(f"the mass matrix M is not positive definite: velocity {wrong - 1} has no inertia of its own")
    return mass
