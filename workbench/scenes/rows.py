"""Contact rows as compiled code takes them: every contact a dense block over the velocities that it touches.

The rows of contact i are [normal, directions], its columns column[start[i] : start[i + 1]], and its numbers stand at
place[i] : place[i + 1], row by row. A direction with a friction coefficient of its own is scaled by it, mu_a / mu, so
that the contact is isotropic with the one coefficient mu: u'_a = s_a u_a and p_a = s_a p'_a, by which |p'_t| <= mu p_n
is the ellipsoid of the coefficients and the flow that of largest dissipation.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.arrays import Array
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, VECTOR
from workbench.engine.stored import STORED, as_stored
from workbench.mechanics.instant import Instant
from workbench.problems.mass import Mass, own_products

I64 = types.int64


class ContactRows(NamedTuple):
    """The contact rows of an instant: see the module; scale (R,), mu (r,)."""

    first: Any
    start: Any
    column: Any
    place: Any
    value: Array
    scale: Array
    mu: Array


ROWS = argument_type(ContactRows, *(INDICES,) * 4, *(VECTOR,) * 3)


@kernel(types.void(INDICES, STORED, INDICES, INDICES, INDICES))
def count_columns(first, J, start, place, seen):
    """start, place (r + 1,); seen (n,) is scratch."""
    for j in range(seen.shape[0]):
        seen[j] = -1
    start[0] = place[0] = 0
    for i in range(first.shape[0] - 1):
        count = 0
        for k in range(J.pointer[first[i]], J.pointer[first[i + 1]]):
            if seen[J.column[k]] != i:
                seen[J.column[k]] = i
                count += 1
        start[i + 1] = start[i] + count
        place[i + 1] = place[i] + count * (first[i + 1] - first[i])


@kernel(types.void(INDICES, VECTOR, VECTOR, VECTOR))
def isotropic(first, mu, scale, reference):
    """scale (R,) of rows, and the coefficient (r,) that a contact then has: its first direction's, unless that is 0."""
    for i in range(first.shape[0] - 1):
        a, b = first[i], first[i + 1]
        one = 0.0
        if b > a + 1:
            one = mu[a + 1]
            if one == 0.0:
                for k in range(a + 1, b):
                    one = max(one, mu[k])
        reference[i] = one
        scale[a] = 1.0
        for k in range(a + 1, b):
            scale[k] = mu[k] / one if one > 0.0 else 1.0


@kernel(types.void(STORED, ROWS, INDICES))
def fill_rows(J, rows, at):
    """The columns of every contact in ascending order, and its numbers; at (n,) is scratch."""
    first, start, column, place, value, scale, _ = rows
    for i in range(first.shape[0] - 1):
        begin, width = start[i], 0
        for k in range(J.pointer[first[i]], J.pointer[first[i + 1]]):
            # Sorted as they come: contacts touch few velocities, and rows are sorted mostly.
            j, p = J.column[k], width
            while p > 0 and column[begin + p - 1] > j:
                p -= 1
            if p > 0 and column[begin + p - 1] == j:
                continue
            for s in range(width, p, -1):
                column[begin + s] = column[begin + s - 1]
            column[begin + p] = j
            width += 1
        for p in range(width):
            at[column[begin + p]] = p
        for a in range(first[i], first[i + 1]):
            row = place[i] + (a - first[i]) * width
            for p in range(width):
                value[row + p] = 0.0
            for k in range(J.pointer[a], J.pointer[a + 1]):
                value[row + at[J.column[k]]] += scale[a] * J.data[k]


@kernel(types.void(ROWS, VECTOR, VECTOR))
def moved(rows, v, u):
    """u (R,): the rows times v (n,)."""
    first, start, column, place, value, _, _ = rows
    for i in range(first.shape[0] - 1):
        width = start[i + 1] - start[i]
        for a in range(first[i], first[i + 1]):
            row, s = place[i] + (a - first[i]) * width, 0.0
            for p in range(width):
                s += value[row + p] * v[column[start[i] + p]]
            u[a] = s


def contact_rows(s: Instant) -> ContactRows:
    """The contact rows of an instant."""
    first = s.first
    r, n = s.contacts, s.v.size
    J = as_stored(s.J)
    start, place, scratch = (np.empty(size, dtype=np.int64) for size in (r + 1, r + 1, n))
    count_columns(first, J, start, place, scratch)
    scale, mu = np.empty(s.mu.size), np.empty(r)
    isotropic(first, s.mu, scale, mu)
    column, value = np.empty(start[-1], dtype=np.int64), np.empty(place[-1])
    rows = ContactRows(first, start, column, place, value, scale, mu)
    fill_rows(J, rows, scratch)
    return rows


def contact_products(rows: ContactRows, mass: Mass) -> np.ndarray:
    """W_ii of every contact, (1 + d_i)^2 numbers each, flat."""
    sizes = np.diff(rows.first)
    W = np.empty(int((sizes * sizes).sum()))
    own_products(*rows[:5], mass, W)
    return W
