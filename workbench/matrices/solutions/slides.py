"""Modes with sliding contacts in space, in scaled doubles: data of the search for their solutions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.matrices.linear_algebra.rationals import doubles, nearest_double
from workbench.matrices.solutions.contact_modes import FRICTIONLESS, SLIP, STICK, Modes
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.matrices.solutions.impulse_bound import ImpulseBound
from workbench.matrices.solutions.planar_solutions import ROUNDING
from workbench.problems.classes import Array

SINGULAR = 1e-12
"""Share of the largest singular value up to which the smallest one counts as zero."""


@dataclass(frozen=True, eq=False)
class Slides:
    """Data of modes with at least one contact that slides, in doubles, scaled: W (n, n), q (n), mu (r) and places."""

    friction: RationalFriction
    modes: Modes
    bound: ImpulseBound

    @cached_property
    def unit(self) -> Array:
        """The contact's scale of every row (n), a power of two: W is scaled from both sides."""
        r = len(self.friction.mu)
        W, unit = self.friction.W, np.ones(3 * r)
        for i in range(r):
            rows = [i, r + 2 * i, r + 2 * i + 1]
            size = sum(abs(nearest_double(W[k, k])) for k in rows) / 3
            unit[rows] = 2.0 ** -round(0.5 * np.log2(size)) if 0 < size < np.inf else 1.0
        return unit

    @cached_property
    def W(self) -> Array:
        return self.unit[:, None] * doubles(self.friction.W) * self.unit

    @cached_property
    def q(self) -> Array:
        return self.unit * doubles(self.friction.q)

    @cached_property
    def mu(self) -> Array:
        return doubles(self.friction.mu)

    @cached_property
    def most(self) -> Array:
        """Bounds (n) of |p| of any solution."""
        return self.bound.most / self.unit

    @cached_property
    def weights(self) -> Array | None:
        """Weights (r) whose sum of products with normal impulses of any solution is at most one, if known."""
        if self.bound.weights is None or not self.bound.total > 0:
            return None
        return self.bound.weights / self.bound.total * self.unit[: len(self.mu)] * (1 - ROUNDING)

    @cached_property
    def sliding(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.array(self.modes) == SLIP)

    @cached_property
    def tangents(self) -> NDArray[np.int64]:
        """Tangential rows (s, 2) of the sliding contacts."""
        return len(self.mu) + 2 * self.sliding[:, None] + np.arange(2)

    @cached_property
    def held(self) -> NDArray[np.int64]:
        """Rows (m) with zero velocity, the normal ones of sliding contacts last; y are their impulses."""
        r, rows = len(self.mu), []
        for i, mode in enumerate(self.modes):
            if mode == STICK:
                rows += [i, r + 2 * i, r + 2 * i + 1]
            elif mode == FRICTIONLESS:
                rows.append(i)
        return np.array([*rows, *self.sliding], dtype=np.int64)

    @property
    def slide(self) -> slice:
        """The slice of the sliding contacts in y."""
        return slice(len(self.held) - len(self.sliding), len(self.held))

    @cached_property
    def redundant(self) -> bool:
        """Whether the equations seem to be singular in every direction."""
        rng = np.random.default_rng(0)
        e, _ = directions(rng.uniform(0, 2 * np.pi, (8, len(self.sliding))))
        return bool(self.singular(e).all())

    def singular(self, e: Array) -> NDArray[np.bool_]:
        """Whether the equations seem to be singular in directions e (N, s, 2)."""
        values = np.linalg.svd(self.columns(e)[:, self.held], compute_uv=False)
        return np.asarray(values[:, -1] <= SINGULAR * values[:, 0])

    def columns(self, e: Array) -> Array:
        """du/dy (N, n, m) for directions e (N, s, 2)."""
        found = np.repeat(self.W[None, :, self.held], len(e), axis=0)
        friction = np.einsum("nsk,isk->nis", e, self.W[:, self.tangents])
        found[:, :, self.slide] -= self.mu[self.sliding] * friction
        return found

    def impulses(self, y: Array, e: Array) -> Array:
        """p (N, n)."""
        p = np.zeros((len(y), len(self.q)))
        p[:, self.held] = y
        p[:, self.tangents] = -(self.mu[self.sliding] * y[:, self.slide])[..., None] * e
        return p


def directions(angles: Array) -> tuple[Array, Array]:
    """e and t (N, s, 2)."""
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)
