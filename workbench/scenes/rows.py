"""Contact rows as compiled code takes them: every contact a dense block over the velocities that it touches.

The rows of contact i are [normal, directions], its columns column[start[i] : start[i + 1]], and its numbers stand at
place[i] : place[i + 1], row by row. A direction with a friction coefficient of its own is scaled by it, mu_a / mu, so
that the contact is isotropic with the one coefficient mu: u'_a = s_a u_a and p_a = s_a p'_a, by which |p'_t| <= mu p_n
is the ellipsoid of the coefficients and the flow that of largest dissipation.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, VECTOR, set_all
from workbench.engine.scratch import scratch, scratch_indices
from workbench.engine.stored import STORED, add_product, as_stored
from workbench.mechanics.instant import Instant
from workbench.problems.mass import MASS, NO_MASS, Mass, own_products, solve_mass
from workbench.support.arrays import Array

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


@kernel(types.void(INDICES, STORED, I64, INDICES, INDICES), checked=False)
def count_columns(first, J, n, start, place):
    """start, place (r + 1,), of contacts over n velocities."""
    seen = scratch_indices(n)
    for j in range(n):
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


class Motion(NamedTuple):
    """How an instant moves: b (n,) = M v + h f; u (R,) the velocities before the step in the rows of contacts, `gain`
    what forces add to them; W_ii of every contact, flat, from origin[i] on. Gain and W are told where hooks may ask
    for them; else they are 0 and the identity."""

    b: Array
    u: Array
    gain: Array
    W: Array
    origin: Any


MOTION = argument_type(Motion, *(VECTOR,) * 4, INDICES)


class Free(NamedTuple):
    """A step without contacts: inertia M (n, n), its length h [s], forces f and velocities v (n,) before it."""

    M: Any
    h: float
    f: Any
    v: Any


FREE = argument_type(Free, STORED, types.float64, VECTOR, VECTOR)


@kernel(types.void(STORED, VECTOR, FREE, types.boolean, MASS, ROWS, MOTION), checked=False)
def measure(J, mu, free, hooked, mass, rows, motion):
    """The rows of contacts, whose columns are counted, and how they move; `mass` is read where they are `hooked`."""
    first, b, gain, W, at = rows.first, motion.b, motion.gain, motion.W, 0
    h, f, v = free.h, free.f, free.v
    isotropic(first, mu, rows.scale, rows.mu)
    fill_rows(J, rows, scratch_indices(v.shape[0]))
    moved(rows, v, motion.u)
    for j in range(v.shape[0]):
        b[j] = h * f[j]
    add_product(free.M, v, b)
    for i in range(first.shape[0] - 1):
        motion.origin[i] = at
        at += (first[i + 1] - first[i]) ** 2
    if hooked:
        own_products(first, rows.start, rows.column, rows.place, rows.value, mass, W)
        a = scratch(v.shape[0])
        for j in range(v.shape[0]):
            a[j] = h * f[j]
        solve_mass(mass, a)
        moved(rows, a, gain)
    else:
        set_all(0.0, gain)
        set_all(0.0, W)
        for i in range(first.shape[0] - 1):
            for k in range(first[i + 1] - first[i]):
                W[motion.origin[i] + k * (first[i + 1] - first[i] + 1)] = 1.0


def measured(s: Instant, mass: Mass | None, hooked: bool, products: int) -> tuple[ContactRows, Motion]:
    """The contact rows of an instant and how they move, with so many numbers of W; `mass` may be None where nothing is
    `hooked`."""
    r, R, n = s.contacts, s.mu.size, s.v.size
    J, free = as_stored(s.J), Free(as_stored(s.M), float(s.h), s.f, s.v)
    start, place = np.empty(r + 1, dtype=np.int64), np.empty(r + 1, dtype=np.int64)
    count_columns(s.first, J, n, start, place)
    column, value = np.empty(start[-1], dtype=np.int64), np.empty(place[-1])
    rows = ContactRows(s.first, start, column, place, value, np.empty(R), np.empty(r))
    motion = Motion(np.empty(n), np.empty(R), np.empty(R), np.empty(products), np.empty(r, dtype=np.int64))
    measure(J, s.mu, free, hooked, NO_MASS if mass is None else mass, rows, motion)
    return rows, motion
