"""Contact blocks for tests: random ones of any sets, and towers of boxes under several formulations."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from benchmarks.towers import jacobians
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE


def pose(M, b, J, contacts):
    """`ContactBlocks` of (L, N, R, c, s, lower, upper, cone, mu) block by block; the rows of J go to them in turn."""
    L, N, R, c, s, lower, upper, cone, mu = (list(x) for x in zip(*contacts, strict=True)) if contacts else [[]] * 9
    row = np.append(0, np.cumsum([len(x) for x in s]))
    unknown = np.append(0, np.cumsum([len(x) for x in c]))
    flat = [np.concatenate([np.ravel(x) for x in some] or [[]]) for some in (L, N, R, c, s, lower, upper)]
    return ContactBlocks(M, b, J, row, unknown, *flat, np.array(cone, dtype=np.int64), np.array(mu))


def cone(m, mu, law=COULOMB, c=0.0, eps=0.0):
    """A contact with m - 1 directions, its normal row shifted by c."""
    one, zero = np.eye(m), np.zeros(m)
    return one, eps * one, one, np.append(c, np.zeros(m - 1)), zero, zero, zero, law, mu


def intervals(lower, upper, c=0.0, eps=0.0):
    """Rows that are their own unknowns, within bounds."""
    k = len(lower)
    return np.eye(k), eps * np.eye(k), np.eye(k), np.full(k, c), np.zeros(k), lower, upper, NO_CONE, 0.0


def polygon(mu, directions=4, c=0.0, eps=0.0):
    """Stewart and Trinkle's contact in space: x = [p_n, beta, sigma]."""
    k = directions + 2
    angle = 2 * np.pi * np.arange(directions) / directions
    R = np.zeros((3, k))
    R[0, 0] = 1.0
    R[1:, 1:-1] = np.cos(angle), np.sin(angle)
    N = eps * R.T @ R
    N[1:-1, -1], N[-1, 0], N[-1, 1:-1] = 1.0, mu, -1.0
    zero = np.zeros(k)
    return R.T, N, R, np.append(c, np.zeros(k - 1)), np.zeros(3), zero, zero + np.inf, NO_CONE, 0.0


def half_planes(mu, directions=4, c=0.0, eps=0.0):
    """Glocker's discrete velocities: x = [p_n, p_t (2), w_up, w_lo], p_t free."""
    count = directions // 2
    angle = np.pi * np.arange(count) / count
    E = np.array([np.cos(angle), np.sin(angle)])
    k = 3 + 2 * count
    R = np.zeros((3, k))
    R[:, :3] = np.eye(3)
    N = eps * R.T @ R
    N[1:3, 3 : 3 + count], N[1:3, 3 + count :] = -E, E
    N[3 : 3 + count, 1:3], N[3 + count :, 1:3] = E.T, -E.T
    N[3:, 0] = mu
    lower = np.append([0, -np.inf, -np.inf], np.zeros(2 * count))
    return R.T, N, R, np.append(c, np.zeros(k - 1)), np.zeros(3), lower, np.full(k, np.inf), NO_CONE, 0.0


def box(mu, load, c=0.0, eps=0.0):
    """Lacoursiere's box, its bounds from a load p_n."""
    bound = np.full(2, mu * load)
    return intervals(np.append(0.0, -bound), np.append(np.inf, bound), np.array([c, 0, 0]), eps)


def tower(floors, contact, seed=0, push=0.0, shake=0.0, h=1e-3, heavy=1.0):
    """Unit boxes on one another, four contacts a face; contact(load) is the block of a contact that carries `load`."""
    rng = np.random.default_rng(seed)
    m = np.geomspace(1.0, heavy, floors)
    shift = np.cumsum(rng.uniform(-0.02, 0.02, (floors, 2)), axis=0)
    J_n, J_t = jacobians(4 * floors, shift)
    rows = np.stack([J_n, J_t[::2], J_t[1::2]], axis=1).reshape(-1, 6 * floors)
    M = np.concatenate([np.r_[np.full(3, k), np.full(3, k / 6)] for k in m])
    v = shake * rng.normal(size=(floors, 6))
    v[floors // 2, 0] += push
    f = np.zeros((floors, 6))
    f[:, 2] = -9.81 * m
    above = 9.81 * np.cumsum(m[::-1])[::-1] * h / 4
    blocks = [contact(above[i // 4]) for i in range(4 * floors)]
    return pose(sparse.diags_array(M), M * v.ravel() + h * f.ravel(), sparse.csr_array(rows), blocks)


FORMULATIONS = {
    "coulomb": lambda mu: lambda load: cone(3, mu),
    "ccp": lambda mu: lambda load: cone(3, mu, ASSOCIATED),
    "polygon": lambda mu: lambda load: polygon(mu),
    "half planes": lambda mu: lambda load: half_planes(mu),
    "box": lambda mu: lambda load: box(mu, load),
}


KINDS = {
    "coulomb": lambda mu, c: cone(3, mu, COULOMB, c),
    "ccp": lambda mu, c: cone(3, mu, ASSOCIATED, c),
    "planar": lambda mu, c: cone(2, mu, COULOMB, c),
    "rolling": lambda mu, c: cone(6, mu, COULOMB, c),
    "frictionless": lambda mu, c: cone(1, 0.0, COULOMB, c),
    "polygon": lambda mu, c: polygon(mu, 4, c),
    "half planes": lambda mu, c: half_planes(mu, 4, c),
    "box": lambda mu, c: box(mu, 1.0, c),
    "limit": lambda mu, c: intervals([0.0], [np.inf], c),
    "dry": lambda mu, c: intervals([-0.3], [0.3], c),
    "bilateral": lambda mu, c: intervals([-np.inf], [np.inf], c),
}


def random_blocks(rng, kinds, count=None, bodies=None, spread=0.0, n=6):
    """Random bodies, each row between one or two of them, with blocks of the kinds named."""
    count, bodies = count or int(rng.integers(1, 7)), bodies or int(rng.integers(1, 5))
    contacts, rows = [], []
    size = 10.0 ** rng.uniform(-spread, spread, bodies)
    for _ in range(count):
        made = KINDS[kinds[rng.integers(len(kinds))]](rng.choice([0.0, 0.3, 1.0]), rng.normal())
        contacts.append(made)
        one, other = rng.integers(bodies), rng.integers(-1, bodies)
        block = np.zeros((len(made[4]), n * bodies))
        block[:, n * one : n * one + n] = rng.normal(size=(len(block), n))
        if other >= 0 and other != one:
            block[:, n * other : n * other + n] = rng.normal(size=(len(block), n))
        rows.append(block)
    M = sparse.block_diag([k * (lambda X: X @ X.T + np.eye(n))(rng.normal(size=(n, n))) for k in size])
    b = np.concatenate([k * rng.normal(size=n) for k in size])
    return feasible(rng, pose(M, b, sparse.csr_array(np.vstack(rows)), contacts))


def feasible(rng, p):
    """The problem with c for which some velocities open all contacts, slide at none and hold the bilateral rows.

    It has a solution then: under Coulomb's law by Acary, Cadoux, Lemaréchal and Malick's criterion (2011).
    """
    L = p.whole[0]
    c = -(L @ (p.J @ rng.normal(size=p.b.size)))
    normal = np.zeros(p.size, dtype=bool)
    normal[p.unknown[:-1]] = (p.cone > 0) | (p.lower[p.unknown[:-1]] == 0)
    return replace(p, c=c + np.where(normal, rng.uniform(0.0, 2.0, p.size), 0.0))
