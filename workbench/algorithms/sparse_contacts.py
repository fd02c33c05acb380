"""Kernels for a W of few blocks, (1 + d, 1 + d): one for every two contacts that share a body.

Vectors go contact by contact, normal first: z, u (r, 1 + d). W stands in block rows: the blocks of contact i are
blocks[first[i] : first[i + 1]], in the columns column[...]. The equation that Newton's method solves is, contact by
contact with rho_i = (1 + d) / tr W_ii,

    Coulomb   z_n = max(y_n, 0),   z_t = the projection of y_t on the disc of radius mu max(y_n, 0)
    CCP       z = P_K(y)

with y = z - rho u (Alart & Curnier 1991; for the CCP the natural map). Alart and Curnier's map has no De Saxce term, so
that fewer of its derivatives are singular; it has the same solutions.
"""

import numpy as np
from numba import types

from workbench.algorithms.one_contact import project
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR

BLOCKS = types.Array(types.float64, 3, "C")
PLACES = types.Array(types.int64, 3, "C")
FLAG, NUMBER, COUNT = types.boolean, types.float64, types.int64


@kernel(types.void(INDICES, INDICES, BLOCKS, MATRIX, MATRIX, MATRIX))
def contact_velocity(first, column, blocks, q, z, u):
    """u = W z + q, all (r, 1 + d)."""
    r, m = q.shape
    for i in range(r):
        for a in range(m):
            u[i, a] = q[i, a]
        for p in range(first[i], first[i + 1]):
            j = column[p]
            for a in range(m):
                for b in range(m):
                    u[i, a] += blocks[p, a, b] * z[j, b]


@kernel(types.void(VECTOR, VECTOR, NUMBER, NUMBER, VECTOR, MATRIX, MATRIX))
def alart_curnier(z, u, mu, rho, gap, C, B):
    """One contact: the gap (m,) of Alart and Curnier's equations and C, B (m, m) with d gap = C dz + B du."""
    m = z.shape[0]
    y_n, radius = z[0] - rho * u[0], 0.0
    for a in range(1, m):
        radius += (z[a] - rho * u[a]) ** 2
    radius = np.sqrt(radius)
    closed = y_n > 0.0
    limit = mu * y_n if closed else 0.0
    sticks = closed and radius <= limit
    share = limit / radius if radius > 0.0 else 0.0
    gap[0] = rho * u[0] if closed else z[0]
    for a in range(m):
        for b in range(m):
            C[a, b], B[a, b] = 0.0, 0.0
    C[0, 0], B[0, 0] = (0.0, rho) if closed else (1.0, 0.0)
    for a in range(1, m):
        if sticks:
            gap[a], B[a, a] = rho * u[a], rho
            continue
        e_a = (z[a] - rho * u[a]) / radius if radius > 0.0 else 0.0
        gap[a] = z[a] - limit * e_a
        for b in range(1, m):
            e_b = (z[b] - rho * u[b]) / radius if radius > 0.0 else 0.0
            turn = share * ((1.0 if a == b else 0.0) - e_a * e_b)
            C[a, b] = (1.0 if a == b else 0.0) - turn
            B[a, b] = rho * turn
        if closed:
            C[a, 0], B[a, 0] = -mu * e_a, mu * rho * e_a


@kernel(types.void(VECTOR, VECTOR, NUMBER, NUMBER, VECTOR, MATRIX, MATRIX))
def natural_blocks(z, u, mu, rho, gap, C, B):
    """One contact of a CCP: the natural map's gap (m,) and C, B (m, m) with d gap = C dz + B du."""
    m = z.shape[0]
    for a in range(m):
        gap[a] = z[a] - rho * u[a]
    project(gap, mu, B)
    for a in range(m):
        gap[a] = z[a] - gap[a]
        for b in range(m):
            C[a, b] = (1.0 if a == b else 0.0) - B[a, b]
            B[a, b] *= rho


@kernel(NUMBER(VECTOR, FLAG, MATRIX, MATRIX, MATRIX, BLOCKS, BLOCKS))
def all_contacts(mu, associated, z, u, gap, C, B):
    """Every contact's gap, C and B, in units in which rho is 1; returns |gap|_2."""
    total = 0.0
    for i in range(z.shape[0]):
        if associated:
            natural_blocks(z[i], u[i], mu[i], 1.0, gap[i], C[i], B[i])
        else:
            alart_curnier(z[i], u[i], mu[i], 1.0, gap[i], C[i], B[i])
        for a in range(z.shape[1]):
            total += gap[i, a] ** 2
    return np.sqrt(total)


@kernel(types.void(INDICES, INDICES, BLOCKS, PLACES, BLOCKS, BLOCKS, NUMBER, VECTOR))
def newton_matrix(first, column, blocks, place, C, B, eps, values):
    """The entries of C + B (W + eps I): that of block p, row a, column b goes to values[place[p, a, b]]."""
    r, m = C.shape[0], C.shape[1]
    for i in range(r):
        for p in range(first[i], first[i + 1]):
            for a in range(m):
                for b in range(m):
                    s = C[i, a, b] + eps * B[i, a, b] if column[p] == i else 0.0
                    for k in range(m):
                        s += B[i, a, k] * blocks[p, k, b]
                    values[place[p, a, b]] = s
