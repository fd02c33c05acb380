"""Problems that consist of uncoupled parts, solved part by part, so that the cost is that of the parts.

Unknowns i and j are coupled if M_ij or M_ji is not zero, and the unknowns of one contact always; a part is a connected
component of this graph. Rows of a part contain no unknowns of another, so that the combined solutions of the parts
solve the whole problem, and the whole has no solution if a part has none. Every part is solved independently, with its
own scales, tolerances, iteration limits and ties.
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE_T, VECTOR
from workbench.problems.classes import Array
from workbench.problems.islands import READ, coupled_parts
from workbench.problems.solution import Status

FEW = 32
"""Largest number of unknowns for which no parts are searched: the search takes a fortieth of solving a small LCP."""

Indices = NDArray[np.int64]
I64 = types.int64
SOLVED, INACCURATE, INFEASIBLE = int(Status.SOLVED), int(Status.INACCURATE), int(Status.INFEASIBLE)


@kernel(I64(READ, I64, I64, INDICES))
def find_parts(M, r, d, part):
    """Return the number of parts of M (n, n), and fill part (n,) with those of the unknowns, by first members.

    Unknowns are [n (r), t (d r), others]; r = 0 if none belong to contacts.
    """
    n, count = M.shape[0], 0
    owner, least = np.empty(n, dtype=np.int64), np.empty(n - d * r, dtype=np.int64)
    for i in range(n):
        owner[i] = i if i < r else (i - r) // d if i < r + d * r else i - d * r
    coupled_parts(M, owner, least)
    for k in range(least.shape[0]):
        # The least member of a part comes before all its others.
        if least[k] == k:
            part[k], count = count, count + 1
        else:
            part[k] = part[least[k]]
    for i in range(n - 1, -1, -1):
        part[i] = part[owner[i]]
    return count


@kernel(I64(I64, I64))
def worse(one, other):
    """Combine the statuses of two parts: the first that is not SOLVED or INACCURATE, with precedence for a proof."""
    if other == SOLVED or (other == INACCURATE and one != SOLVED):
        return one
    return other if one in (SOLVED, INACCURATE) or other == INFEASIBLE else one


@kernel(types.void(INDICES, I64, INDICES, INDICES))
def members_of_parts(part, count, first, members):
    """Fill the members of part k, members[first[k] : first[k + 1]], in ascending order; first (count + 1,) of zeros."""
    for i in range(members.shape[0]):
        first[part[i]] += 1
    # first holds the ends of the parts and is reduced to their beginnings, since they are filled backwards.
    for k in range(count):
        first[k + 1] += first[k]
    for i in range(members.shape[0] - 1, -1, -1):
        first[part[i]] -= 1
        members[first[part[i]]] = i


@kernel(I64(SOLVE_T, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, I64, INDICES, VECTOR, INDICES))
def solve_parts(solve, M, q, lower, upper, mu, d, part, z, info):
    """Apply a kernel part by part (`find_parts`); a guess z is split too, and info[0] is the sum over all parts."""
    n, r, bounded, count = q.shape[0], mu.shape[0], lower.shape[0] > 0, 0
    for i in range(n):
        count = max(count, part[i] + 1)
    first, members = np.zeros(count + 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    members_of_parts(part, count, first, members)
    own, status, iterations = np.zeros(1, dtype=np.int64), SOLVED, 0
    for k in range(count):
        start, m, contacts = first[k], first[k + 1] - first[k], 0
        while contacts < m and members[start + contacts] < r:
            contacts += 1
        M_k, q_k, z_k, mu_k = np.empty((m, m)), np.empty(m), np.empty(m), np.empty(contacts)
        lower_k, upper_k = np.empty(m if bounded else 0), np.empty(m if bounded else 0)
        for a in range(m):
            i = members[start + a]
            for b in range(m):
                M_k[a, b] = M[i, members[start + b]]
            q_k[a], z_k[a] = q[i], z[i]
            if bounded:
                lower_k[a], upper_k[a] = lower[i], upper[i]
            if a < contacts:
                mu_k[a] = mu[i]
        status = worse(status, solve(M_k, q_k, lower_k, upper_k, mu_k, d, z_k, own))
        iterations += own[0]
        for a in range(m):
            z[members[start + a]] = z_k[a]
    info[0] = iterations
    return status


@kernel(I64(SOLVE_T, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, I64, VECTOR, INDICES))
def solve_apart(solve, M, q, lower, upper, mu, d, z, info):
    """Apply the kernel `solve` to the parts of a problem, or to all of it if it has one part, or if its sets are given
    in `info` (`base.kernel_info`); returns a Status."""
    if M.shape[0] > FEW and info.shape[0] == 1:
        part = np.empty(q.shape[0], dtype=np.int64)
        count = find_parts(M, mu.shape[0], d, part)
        if count > 1:
            return solve_parts(solve, M, q, lower, upper, mu, d, part, z, info)
    return solve(M, q, lower, upper, mu, d, z, info)


def apart(kernel: Any, arguments: tuple, z: Array, info: Indices) -> int:
    """Call `solve_apart` from Python, arguments (M, q, lower, upper, mu, d).

    A kernel is passed to compiled code, which costs 0.1 ms, only if there are several parts.
    """
    M, q, lower, upper, mu, d = arguments
    if len(M) > FEW:
        part = np.empty(len(M), dtype=np.int64)
        count = find_parts(M, mu.size, d, part)
        if count > 1:
            return solve_parts(kernel, M, q, lower, upper, mu, d, part, z, info)
    return kernel(*arguments, z, info)
