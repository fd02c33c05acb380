"""The judge: does a contact solution satisfy Signorini's and Coulomb's laws, and by how much not?

It reads impulses and velocities alone, whoever produced them, and shares no code with assembly, problems, solvers or
stepping. All functions are vectorised over leading axes, usually the time steps. Definitions: formulary, metrics;
the natural map is that of Acary & Brogliato (2008) for de Saxce & Feng's (1998) form of the law.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import Array
from workbench.errors import DataError


@dataclass(frozen=True, eq=False)
class Verdict:
    """Four residuals and what they were measured by, one number per leading index; 0 is a perfect solution.

    signorini     |min(p_n, rho u_n)|_inf / normaliser: nonnegativity and complementarity of the normal law [-]
    cone          max (|p_t| - mu p_n)_+ over the contacts: friction beyond the cone [N s]
    dissipation   max | mu p_n |u_t| + p_t.u_t | over the contacts: friction that is not maximally dissipative [J]
    natural_map   |gamma - P_K(gamma - rho u~)|_2 / normaliser, u~ = u + mu |u_t| n: all of the law at once [-]
    rho           n_c (1 + d) / tr W over n_c contacts, that is 3 n_c / tr W in space: the unit of p/u [kg]
    normaliser    max(|gamma|_2, rho |q|_2), which makes the residuals independent of the units [N s]

    Signorini's law is about u_n itself, not De Saxce's shifted u~_n: a sliding contact has u_n = 0 < u~_n and p_n > 0.
    An answer that is not finite has infinite residuals.
    """

    signorini: Array
    cone: Array
    dissipation: Array
    natural_map: Array
    rho: Array
    normaliser: Array


def _shapes(p_n: Array, p_t: Array, u_n: Array, u_t: Array) -> None:
    if u_n.shape != p_n.shape or u_t.shape != p_t.shape or p_t.shape[:-1] != p_n.shape or p_t.shape[-1] not in (1, 2):
        raise DataError(
            f"p_n {p_n.shape}, p_t {p_t.shape}, u_n {u_n.shape}, u_t {u_t.shape} do not belong together; "
            "needed are (..., r) for normal and (..., r, d) for tangential parts, d = 1 or 2"
        )


def _distance_to_projection(y_n: Array, y_t: Array, p_n: Array, p_t: Array, mu: Array) -> Array:
    """|p - P_K(y)|^2 per contact, K the cone mu y_n >= |y_t|: itself, the apex, or the nearest point of a generator."""
    size = np.sqrt((y_t**2).sum(axis=-1))
    generator = np.maximum(0.0, (y_n + mu * size) / (1 + mu**2))
    # Without friction the cone is a half line, and |y_t| = 0 <= mu y_n says nothing about the sign of y_n.
    inside = (size <= mu * y_n) & (y_n >= 0)
    near_n = np.where(inside, y_n, generator)
    share = np.where(inside, 1.0, mu * generator / np.where(size > 0, size, 1.0))
    return (p_n - near_n) ** 2 + ((p_t - share[..., None] * y_t) ** 2).sum(axis=-1)


def judge(
    p_n: ArrayLike, p_t: ArrayLike, u_n: ArrayLike, u_t: ArrayLike, mu: ArrayLike, trace_W: ArrayLike, q_norm: ArrayLike
) -> Verdict:
    """Judge contact impulses and the velocities that follow from them.

    p_n (..., r), p_t (..., r, d) impulses [N s]; u_n (..., r) the value of the normal law, with its gap, restitution
    and compliance terms, and u_t (..., r, d) the sliding velocity [m/s]; mu (..., r); trace_W (...) trace of the
    Delassus operator [1/kg]; q_norm (...) |q|_2 of the free contact velocity [m/s]. mu, trace_W and q_norm
    broadcast. Where trace_W is not positive rho = 1; where nothing moves and nothing pushes the normaliser is 1.
    Raises DataError for shapes that do not belong together.
    """
    p_n, p_t, u_n, u_t, mu = (np.asarray(a, dtype=float) for a in (p_n, p_t, u_n, u_t, mu))
    _shapes(p_n, p_t, u_n, u_t)
    steps = p_n.shape[:-1]
    trace = np.broadcast_to(np.asarray(trace_W, dtype=float), steps)
    rho = np.where(trace > 0, p_n.shape[-1] * (1 + p_t.shape[-1]) / np.where(trace > 0, trace, 1.0), 1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        friction, slip = (np.sqrt((a**2).sum(axis=-1)) for a in (p_t, u_t))
        gamma = np.sqrt((p_n**2).sum(axis=-1) + (p_t**2).sum(axis=(-2, -1)))
        normaliser = np.maximum(gamma, rho * np.asarray(q_norm, dtype=float))
        normaliser = np.where(normaliser == 0, 1.0, normaliser)
        scale = rho[..., None]
        signorini = np.abs(np.minimum(p_n, scale * u_n)).max(axis=-1, initial=0.0) / normaliser
        cone = np.maximum(friction - mu * p_n, 0.0).max(axis=-1, initial=0.0)
        dissipation = np.abs(mu * p_n * slip + (p_t * u_t).sum(axis=-1)).max(axis=-1, initial=0.0)
        y_n, y_t = p_n - scale * (u_n + mu * slip), p_t - scale[..., None] * u_t
        natural_map = np.sqrt(_distance_to_projection(y_n, y_t, p_n, p_t, mu).sum(axis=-1)) / normaliser
    # Without this a nan or inf could hide behind a maximum or a projection onto the apex.
    sound = np.isfinite(gamma) & np.isfinite(u_n).all(axis=-1) & np.isfinite(slip).all(axis=-1)
    signorini, cone, dissipation, natural_map = (
        np.where(sound, a, np.inf) for a in (signorini, cone, dissipation, natural_map)
    )
    return Verdict(signorini, cone, dissipation, natural_map, rho, normaliser)


def normalised_friction(p_n: ArrayLike, p_t: ArrayLike, mu: ArrayLike) -> Array:
    """|p_t| / (mu p_n), dimensionless, (..., r): 1 on the rim of the cone; 0 where mu p_n is not positive.

    p_n (..., r), p_t (..., r, d), mu broadcastable to (..., r). Source: Peiret et al. 2016 (IDETC2016-60064).
    """
    limit = np.asarray(mu, dtype=float) * np.asarray(p_n, dtype=float)
    friction = np.linalg.norm(np.asarray(p_t, dtype=float), axis=-1)
    return np.where(limit > 0, friction / np.where(limit > 0, limit, 1.0), 0.0)


def misalignment(p_t: ArrayLike, u_t: ArrayLike, v_th: ArrayLike) -> Array:
    """Angle between friction p_t (..., r, d) and -u_t, in degrees, 0 to 180, (..., r).

    Not a number where it is not defined: |u_t| <= v_th [m/s] or p_t = 0. The angle comes from its tangent, since the
    arc cosine loses half of the digits near 0 and 180 degrees. In the plane (d = 1) it is 0 or 180.
    """
    p_t, u_t = np.asarray(p_t, dtype=float), np.asarray(u_t, dtype=float)
    defined = (np.linalg.norm(u_t, axis=-1) > np.asarray(v_th, dtype=float)) & (p_t != 0).any(axis=-1)
    along = -(p_t * u_t).sum(axis=-1)
    across = p_t[..., 0] * u_t[..., 1] - p_t[..., 1] * u_t[..., 0] if p_t.shape[-1] == 2 else 0.0
    return np.where(defined, np.degrees(np.arctan2(np.abs(across), along)), np.nan)
