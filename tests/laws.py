"""The laws of contact as inequalities on impulses and velocities, for tests: how far an answer is from each."""

import numpy as np


def discs(p_t, u_t, radius):
    """Most dissipation within discs: p_t, u_t (r, d), radius (r,); largest violation, relative to the data."""
    size, slip = np.linalg.norm(p_t, axis=1), np.linalg.norm(u_t, axis=1)
    outside = np.maximum(size - radius, 0.0)
    lost = (p_t * u_t).sum(axis=1) + radius * slip
    return max(outside.max(), np.abs(lost).max()) / max(1e-300, size.max(), radius.max())


def signorini(p_n, u_n):
    """0 <= p_n perp u_n >= 0."""
    return max(np.maximum(-p_n, 0).max(), np.maximum(-u_n, 0).max(), np.abs(np.minimum(p_n, u_n)).max())


def within(p, u, lower, upper):
    """u >= 0 where p is at its lower bound, <= 0 at its upper one, 0 between."""
    return np.abs(p - np.clip(p - u, lower, upper)).max()
