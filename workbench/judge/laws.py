"""Solutions judged by the law that they claim to satisfy: Coulomb's after a transformation, or friction in other discs.

An ellipse of friction coefficients is Coulomb's disc for p_a / s_a and s_a u_a, where s_a is the ratio of a direction's
coefficient to the largest; a contact with a pull c is one without pull for p_n + c. Neither changes the power of
friction. The remaining laws, separate torsion and rolling and friction bounded independently of the load, have
separate discs.
"""

from typing import NamedTuple

import numpy as np

from workbench.judge.coulomb import Discs, Verdict, judge
from workbench.mechanics.law import Law
from workbench.support.arrays import Array


class Terms(NamedTuple):
    """A solution in the terms of Coulomb's law; arguments and shapes as in `coulomb.judge`."""

    p_n: Array
    p_t: Array
    u_n: Array
    u_t: Array
    mu: Array
    W: Array
    q: Array


def axes_of(law: Law, d: int) -> tuple[float, Array]:
    """The largest ratio of a direction's coefficient to mu, and the ratios of all (d,) to the largest."""
    ratios = law.ratios(d)
    largest = float(ratios.max())
    return largest, ratios / largest if largest > 0 else np.ones(d)


def borne_along(p_t: Array, scale: Array) -> Array:
    """p_t / scale; infinite where there is friction along a direction without any."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, p_t / scale, np.where(p_t == 0, 0.0, np.inf))


def in_coulombs_terms(law: Law, h: float, given: Terms) -> Terms:
    """Transform a solution of a step h [s] under a law to Coulomb's law; ModellingError for a law of too few axes."""
    p_n, p_t, u_n, u_t, mu, W, q = map(np.asarray, given)
    r, d = p_t.shape[-2:]
    (largest, scale), pull = axes_of(law, d), law.cohesion * h
    # W p + q with p_n + c instead of p_n.
    rows, q = np.concatenate([np.ones(r), np.tile(scale, r)]), q - pull * W[..., :, :r].sum(axis=-1)
    return Terms(
        p_n + pull, borne_along(p_t, scale), u_n, scale * u_t, largest * mu, rows[:, None] * W * rows, rows * q,
    )  # fmt: skip


def judge_by(law: Law, h: float, given: Terms) -> Verdict:
    """`coulomb.judge` for another law, for a solution of a step h [s]; raises the same errors."""
    own, d = in_coulombs_terms(law, h, given), np.shape(given.p_t)[-1]
    parts: tuple[slice, ...] = (slice(0, d),)
    if law.apart and d > 2:
        parts = tuple(slice(a, min(b, d)) for a, b in ((0, 2), (2, 3), (3, d)) if a < d)
    elif law.limit is None:
        return judge(*own)
    return judge(*own, Discs(parts, None if law.limit is None else law.limit * h))
