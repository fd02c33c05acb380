"""The judge: whether a contact solution satisfies Signorini's and Coulomb's laws, and the size of its errors.

It reads impulses and velocities alone, from any source, and shares no code with assembly, problems, solvers or
stepping. All functions are vectorised over leading axes, usually the time steps. Definitions: formulary, metrics;
the natural map is that of Acary & Brogliato (2008) for de Saxcé & Feng's (1998) form of the law.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.support.arrays import Array
from workbench.support.errors import DataError

FAR = 1e5
"""Impulses serve as a scale up to this multiple of the surrounding motion: along a ray on which nothing moves they
grow without limit."""
FAINT = 1e-5
"""Fraction, to allow for rounding only, of a free velocity that needs no impulse (at a large gap, or in fast
sliding), and of the velocities due to single impulses."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """Five residuals, one number per leading index, and their scales per contact; 0 is perfect.

    signorini     max |min(p_n, rho u_n)| / normaliser: nonnegativity and complementarity of the normal law [-]
    cone          max (|p_t| - mu p_n)_+ over the contacts: friction outside the cone [N s]
    dissipation   max | mu p_n |u_t| + p_t.u_t | over the contacts: deviation from maximum dissipation [J]
    natural_map   max |p - P_K(p - rho u~)| / normaliser, u~ = u + mu |u_t| n: the whole law in one residual [-]
    law           the largest of Signorini's, of max |p_t - P(p_t - rho u_t)| / normaliser with the projection on the
                  disc of radius mu p_n, and of the natural map of each contact over max(1, mu). Unlike the natural
                  map, none of these decreases with mu (there a falling body counts as an error of 1/mu) [-]
    rho           (..., r) (1 + d) / tr W_ii, that is 3 / tr W_ii in space: the unit of p/u at contact i [kg]
    normaliser    (..., r) scale of impulses at contact i (formulary, 7.4) [N s]

    Signorini's law uses u_n itself, not De Saxcé's shifted u~_n: a sliding contact has u_n = 0 < u~_n and p_n > 0.
    A solution that is not finite has infinite residuals.
    """

    signorini: Array
    cone: Array
    dissipation: Array
    natural_map: Array
    law: Array
    rho: Array
    normaliser: Array


@dataclass(frozen=True, eq=False)
class Discs:
    """Bounds of friction: the directions fall into `parts`, each of size mu p_n at most, or `radius` where given."""

    parts: tuple[slice, ...]
    radius: Array | float | None = None

    def limit(self, mu: Array, p_n: Array) -> Array:
        """Radius of the bound (..., r) [N s]."""
        return mu * p_n if self.radius is None else np.broadcast_to(self.radius, p_n.shape)

    def beyond(self, y: Array, p: Array, mu: Array, p_n: Array) -> Array:
        """|p_t - P(y_t)| per contact, where P(y_t) is the nearest point to y_t in each part's disc, for a normal
        impulse p_n (..., r) where it is positive."""
        limit, near = self.limit(mu, np.maximum(p_n, 0.0)), np.empty_like(y[..., 1:])
        for k in self.parts:
            y_t = y[..., k.start + 1 : k.stop + 1]
            size = _length(y_t)
            share = np.where(size > limit, limit / np.where(size > 0, size, 1.0), 1.0)
            near[..., k] = share[..., None] * y_t
        return _length(p[..., 1:] - near)


def _shapes(p_n: Array, p_t: Array, u_n: Array, u_t: Array, W: Array, q: Array) -> None:
    if u_n.shape != p_n.shape or u_t.shape != p_t.shape or p_t.shape[:-1] != p_n.shape or not 1 <= p_t.shape[-1] <= 5:
        raise DataError(
            f"p_n {p_n.shape}, p_t {p_t.shape}, u_n {u_n.shape}, u_t {u_t.shape} do not belong together; "
            "needed are (..., r) for normal and (..., r, d) for tangential parts, d = 1 to 5"
        )
    n = p_n.shape[-1] * (1 + p_t.shape[-1])
    if W.shape[-2:] != (n, n) or q.shape[-1:] != (n,):
        raise DataError(f"W {W.shape} and q {q.shape} do not belong to {n} impulses; (..., {n}, {n}) and (..., {n})")


def _by_contact(x: Array, r: int, d: int) -> Array:
    """Reorder x (..., r (1 + d)) from [n, t] to (..., r, 1 + d)."""
    return np.concatenate([x[..., :r, None], x[..., r:].reshape(*x.shape[:-1], r, d)], axis=-1)


def _length(x: Array) -> Array:
    """|x|_2 along the last axis, without overflow or underflow."""
    return np.hypot.reduce(x, axis=-1)


def _distance_to_projection(y: Array, p: Array, mu: Array) -> Array:
    """|p - P_K(y)| per contact, K the cone mu y_n >= |y_t|: y itself, the apex, or the nearest point of a generator."""
    y_n, y_t = y[..., 0], y[..., 1:]
    size, slope = _length(y_t), np.hypot(1.0, mu)
    generator = np.maximum(0.0, (y_n / slope + mu / slope * size) / slope)
    # Without friction the cone is a half line, and |y_t| = 0 <= mu y_n says nothing about the sign of y_n.
    inside = (size <= mu * y_n) & (y_n >= 0)
    share = np.where(inside, 1.0, mu * generator / np.where(size > 0, size, 1.0))
    near = np.concatenate([np.where(inside, y_n, generator)[..., None], share[..., None] * y_t], axis=-1)
    return _length(p - near)


def _coupled(W: Array, r: int, d: int) -> NDArray[np.bool_]:
    """Mask (..., r, r) of contacts that W couples, directly or through others."""
    rows = np.concatenate([np.arange(r), np.repeat(np.arange(r), d)])
    blocks = np.zeros((*W.shape[:-2], r, r), dtype=bool)
    where = np.nonzero(W)
    blocks[(*where[:-2], rows[where[-2]], rows[where[-1]])] = True
    reach = (blocks | np.swapaxes(blocks, -1, -2) | np.eye(r, dtype=bool)).astype(np.float32)
    for _ in range(max(r - 1, 0).bit_length()):
        reach = (reach @ reach > 0).astype(np.float32)
    return reach > 0


def _largest(of: Array, coupled: NDArray[np.bool_]) -> Array:
    """The largest value among all contacts coupled to each."""
    return np.where(coupled, of[..., None, :], 0.0).max(axis=-1, initial=0.0)


def _normaliser(p: Array, u: Array, q: Array, W: Array, rho: Array, gap: Array) -> Array:
    """The scale of impulses (..., r), from arrays (..., r, 1 + d)."""
    r, d, root = rho.shape[-1], p.shape[-1] - 1, np.sqrt(rho)
    moves = _by_contact(np.diagonal(W, axis1=-2, axis2=-1), r, d) > 0
    size = np.where((moves | (p == 0)).all(axis=-1), _length(p), 0.0)
    coupled = _coupled(W, r, d)
    takes_part = (p != 0).any(axis=-1) | (gap > 0)
    # An unloaded contact may move without limit, and may be far from any motion.
    idle = np.minimum(_length(u - q), _length(q))
    motion = np.where(takes_part, np.maximum(_length(u), _length(q)), idle)
    motion = root * _largest(root * motion, coupled)
    z = np.concatenate([p[..., 0], p[..., 1:].reshape(*p.shape[:-2], r * d)], axis=-1)
    terms = rho * _length(_by_contact(np.einsum("...ij,...j->...i", np.abs(W), np.abs(z)), r, d))
    answered = np.maximum(_length(u - q), np.maximum(-q[..., 0], FAINT * _length(q)))
    return np.maximum(rho * answered, np.minimum(np.maximum(size, FAINT * terms), FAR * motion))


def judge(
    p_n: ArrayLike, p_t: ArrayLike, u_n: ArrayLike, u_t: ArrayLike, mu: ArrayLike, W: ArrayLike, q: ArrayLike,
    discs: Discs | None = None,
) -> Verdict:  # fmt: skip
    """Judge contact impulses and the velocities that follow from them.

    p_n (..., r), p_t (..., r, d) impulses [N s]; u_n (..., r) the value of the normal law, with its gap, restitution
    and compliance terms, and u_t (..., r, d) the sliding velocity [m/s]; mu (..., r); the Delassus operator
    W (..., n, n) [1/kg] and the free velocity q (..., n) [m/s], in the order [n (r), t (d r)]. mu, W and q broadcast.
    Where W has no effect at a contact its rho is |p|/|q|, or 1. `discs` replace the single disc of radius mu p_n.
    Raises DataError for inconsistent shapes.
    """
    p_n, p_t, u_n, u_t, mu, W, q = (np.asarray(a, dtype=float) for a in (p_n, p_t, u_n, u_t, mu, W, q))
    _shapes(p_n, p_t, u_n, u_t, W, q)
    r, d = p_t.shape[-2:]
    p, u = (np.concatenate([n[..., None], t], axis=-1) for n, t in ((p_n, p_t), (u_n, u_t)))
    q = np.broadcast_to(_by_contact(q, r, d), p.shape)
    sound = (np.isfinite(p) & np.isfinite(u) & np.isfinite(q)).all(axis=(-2, -1))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        trace = _by_contact(np.diagonal(W, axis1=-2, axis2=-1), r, d).sum(axis=-1)
        held = _length(p) / _length(q)
        rho = np.where(trace > 0, (1 + d) / trace, np.where((held > 0) & (held < np.inf), held, 1.0))
        slip = _length(u[..., 1:])
        shift = np.concatenate([(mu * slip)[..., None], np.zeros_like(u_t)], axis=-1)
        y, normal = p - rho[..., None] * u, np.abs(np.minimum(p_n, rho * u_n))
        if discs is None:
            discs = Discs((slice(0, d),))
            gap = _distance_to_projection(y - rho[..., None] * shift, p, mu)
            # Beyond the range of doubles the shift only says that the contact slips.
            share = np.where(np.isfinite(gap), gap, 0.0) / np.maximum(1.0, mu)
            gap = np.where(np.isfinite(gap), gap, np.inf)
        else:
            y_n = np.maximum(y[..., 0], 0.0)
            gap = share = np.hypot(p_n - y_n, discs.beyond(y, p, mu, y_n))
        errors = np.max([normal, discs.beyond(y, p, mu, p_n), share], axis=0)
        normaliser = _normaliser(p, u, q, W, rho, errors)
        signorini, natural_map, law = (
            np.where(error > 0, error / normaliser, 0.0).max(axis=-1, initial=0.0) for error in (normal, gap, errors)
        )
        limit = discs.limit(mu, p_n)
        cone = np.max([np.maximum(_length(p_t[..., k]) - limit, 0.0) for k in discs.parts], axis=0)
        slips = sum(_length(u_t[..., k]) for k in discs.parts)
        cone = cone.max(axis=-1, initial=0.0)
        dissipation = np.abs(limit * slips + (p_t * u_t).sum(axis=-1)).max(axis=-1, initial=0.0)
    # Without this a NaN or inf could hide behind a maximum or a projection onto the apex.
    sound &= np.isfinite(normaliser).all(axis=-1)
    signorini, cone, dissipation, natural_map, law = (
        np.where(sound, a, np.inf) for a in (signorini, cone, dissipation, natural_map, law)
    )
    return Verdict(signorini, cone, dissipation, natural_map, law, rho, normaliser)


def normalised_friction(p_n: ArrayLike, p_t: ArrayLike, mu: ArrayLike) -> Array:
    """|p_t| / (mu p_n), dimensionless, (..., r): 1 on the boundary of the cone; 0 where mu p_n is not positive.

    p_n (..., r), p_t (..., r, d), mu broadcastable to (..., r). Source: Peiret et al. 2016 (IDETC2016-60064).
    """
    limit = np.asarray(mu, dtype=float) * np.asarray(p_n, dtype=float)
    friction = np.linalg.norm(np.asarray(p_t, dtype=float), axis=-1)
    return np.where(limit > 0, friction / np.where(limit > 0, limit, 1.0), 0.0)


def misalignment(p_t: ArrayLike, u_t: ArrayLike, v_th: ArrayLike) -> Array:
    """Angle between friction p_t (..., r, d) and -u_t, in degrees, 0 to 180, (..., r).

    NaN where it is undefined: |u_t| <= v_th [m/s] or p_t = 0. The angle comes from its tangent, since the
    arc cosine loses half of the digits near 0 and 180 degrees. In the plane (d = 1) it is 0 or 180.
    """
    p_t, u_t = np.asarray(p_t, dtype=float), np.asarray(u_t, dtype=float)
    defined = (np.linalg.norm(u_t, axis=-1) > np.asarray(v_th, dtype=float)) & (p_t != 0).any(axis=-1)
    # The angle depends on directions alone, whatever the sizes.
    p, u = (x / np.maximum(np.abs(x).max(axis=-1, keepdims=True), 1e-300) for x in (p_t, u_t))
    along = -(p * u).sum(axis=-1)
    across = p[..., 0] * u[..., 1] - p[..., 1] * u[..., 0] if p.shape[-1] == 2 else 0.0
    return np.where(defined, np.degrees(np.arctan2(np.abs(across), along)), np.nan)
