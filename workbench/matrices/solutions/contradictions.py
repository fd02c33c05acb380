"""Boxes of sliding directions without solution: a vector l that contradicts the modes (Farkas' lemma).

In given modes, with sliding directions in given arcs, impulses p are in a cone, and so are velocities u = W p + q. If

    l . u >= 0 for all these u,    p . W^T l <= 0 for all these p,    q . l < 0,

there is no solution, since l . u = p . W^T l + q . l. Nothing is inverted, so that a singular W is no obstacle. Where
impulses are bounded, c . p_n <= 1, it is enough that p . W^T l <= a c . p_n and a + q . l < 0 for some a >= 0. A
candidate is the residual of a least squares problem with signs: the velocities of slightly larger polyhedral cones of
impulses, minus velocities that are allowed, are fitted to -q. The three conditions are then checked for the cones
themselves, with bounds of rounding.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.matrices.solutions.contact_modes import OPEN, SLIP, STICK
from workbench.matrices.solutions.planar_solutions import ROUNDING
from workbench.matrices.solutions.slides import Slides, directions
from workbench.problems.classes import Array

MARGIN = 1e-6
"""Relative enlargement of cones, and absolute one of arcs, for candidates: the conditions then hold strictly."""
SIDES = 8
"""Number of edges of the polyhedral friction cone of a contact that sticks."""


def contradicted(slides: Slides, middle: Array, half: Array) -> NDArray[np.bool_]:
    """For boxes middle +- half (N, s) of less than half a turn: whether they are known to contain no solution."""
    return _confirmed(slides, middle, half + ROUNDING, _candidates(slides, middle, half + MARGIN))


def _candidates(slides: Slides, middle: Array, half: Array) -> Array:
    """Vectors l (N, n) that may contradict boxes, zero where there is a solution of the enlarged cones."""
    # Half a second, which small checks do not need.
    from scipy.optimize import nnls

    normals = _normals(slides, middle, half)
    edges = _edges(slides, middle, half)
    A, b = normals @ slides.W @ edges, -normals @ slides.q
    rows, equations = A.shape[1], len(slides.held)
    allowed = -np.eye(rows)[:, equations:]
    if slides.weights is not None:
        # The bound of the impulses is a further equation: what is missing to it is another unknown.
        size = np.linalg.norm(b, axis=1)[:, None]
        limited = size * (slides.weights @ edges[:, : len(slides.mu)])
        A, b = np.concatenate([A, limited[:, None]], axis=1), np.concatenate([b, size], axis=1)
        allowed = np.block([[allowed, np.zeros((rows, 1))], [np.zeros(allowed.shape[1]), 1.0]])
    A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), np.finfo(float).tiny)
    found = np.zeros((len(A), len(slides.q)))
    for k in range(len(A)):
        fitted = np.concatenate([A[k], allowed], axis=1)
        try:
            x, _ = nnls(fitted, b[k])
        except RuntimeError:
            # The iterations did not converge.
            continue
        left = (b[k] - fitted @ x)[:rows]
        left[equations:] = np.maximum(left[equations:], 0.0)
        found[k] = left @ normals[k]
    size = np.abs(found).max(axis=1, keepdims=True)
    return np.divide(found, size, out=np.zeros_like(found), where=np.isfinite(size) & (size > 0))


def _normals(slides: Slides, middle: Array, half: Array) -> Array:
    """Rows (N, -, n) whose product with a velocity is zero for the first ones, those held, and not negative for others:
    normal velocities of open contacts, and the two sides of each arc."""
    N, n = len(middle), len(slides.q)
    fixed = np.eye(n)[[*slides.held, *(i for i, mode in enumerate(slides.modes) if mode == OPEN)]]
    sides = np.zeros((N, 2 * len(slides.sliding), n))
    for j, rows in enumerate(slides.tangents):
        for side, sign in ((2 * j, 1), (2 * j + 1, -1)):
            _, t = directions(middle[:, j] - sign * half[:, j])
            sides[:, side, rows] = sign * t
    return np.concatenate([np.broadcast_to(fixed, (N, *fixed.shape)), sides], axis=1)


def _edges(slides: Slides, middle: Array, half: Array) -> Array:
    """Impulses (N, n, -) that span cones around those of the modes, in columns."""
    N, r, n = len(middle), len(slides.mu), len(slides.q)
    found = []
    j = 0
    for i, mode in enumerate(slides.modes):
        if mode == OPEN:
            continue
        if mode == STICK:
            points = directions(np.arange(SIDES) * 2 * np.pi / SIDES)[0] / np.cos(np.pi / SIDES)
            points = np.broadcast_to(points, (N, SIDES, 2))
        elif mode == SLIP:
            # The arc's ends, and where the tangents at these meet that at its middle.
            at, corner = middle[:, j, None], np.broadcast_to(half[:, j, None, None] / 2, (N, 2, 1))
            ends, corners = (directions(at + half[:, j, None] * np.array(x))[0] for x in ((-1, 1), (-0.5, 0.5)))
            points = -np.concatenate([ends, corners / np.cos(corner)], axis=1)
            j += 1
        else:
            points = np.zeros((N, 1, 2))
        edges = np.zeros((N, n, points.shape[1]))
        edges[:, i] = 1.0
        edges[:, r + 2 * i : r + 2 * i + 2] = (1 + MARGIN) * slides.mu[i] * np.swapaxes(points, 1, 2)
        found.append(edges)
    return np.concatenate(found, axis=2)


def _confirmed(slides: Slides, middle: Array, half: Array, l: Array) -> NDArray[np.bool_]:
    """Whether l (N, n) contradicts the modes with directions in these arcs."""
    r, size = len(slides.mu), np.abs(slides.W)
    image, rounding = l @ slides.W, 2 * ROUNDING * (np.abs(l) @ size)
    power = l @ slides.q + ROUNDING * (np.abs(l) @ np.abs(slides.q))
    most = np.zeros((len(l), r))
    out = np.ones(len(l), dtype=bool)
    j = 0
    for i, mode in enumerate(slides.modes):
        rows = slice(r + 2 * i, r + 2 * i + 2)
        if mode == OPEN:
            continue
        mu = slides.mu[i]
        most[:, i] = image[:, i] + rounding[:, i] + mu * rounding[:, rows].sum(axis=1)
        if mode == STICK:
            most[:, i] += mu * np.linalg.norm(image[:, rows], axis=1)
        elif mode == SLIP:
            out &= _largest(-l[:, rows], middle[:, j], half[:, j]) <= 0
            most[:, i] += mu * _largest(-image[:, rows], middle[:, j], half[:, j])
            j += 1
    most = np.maximum(most, 0.0)
    gained = most @ slides.most[:r]
    if slides.weights is not None:
        gained = np.minimum(gained, (most / slides.weights).max(axis=1))
    return out & (power + (1 + ROUNDING) * gained < 0)


def _largest(v: Array, middle: Array, half: Array) -> Array:
    """The largest e . v (N) for v (N, 2) and directions e in the arcs."""
    off = np.abs((np.arctan2(v[:, 1], v[:, 0]) - middle + np.pi) % (2 * np.pi) - np.pi)
    return np.linalg.norm(v, axis=1) * np.cos(np.maximum(off - half, 0.0))
