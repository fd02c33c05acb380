"""The smooth motion of one phase as an ordinary differential equation, in time or in a time that resolves slip's end.

In time y = (q, v, w, p) with the work w [J] dissipated by friction and the impulses p [N s] of the contacts, p' =
lambda. For contacts that slip in space the direction is singular where slip ends. Their phases evolve in the time tau
of the slowest one, i, with dt = u_i dtau; the state of every sliding contact j includes L_j = ln u_j and the angle
al_j of its direction, and ends with t:

    q' = u_i Gamma v,  v' = u_i a,  L_j' = e_j . s_j u_i/u_j,  al_j' = n_j . s_j u_i/u_j,  t' = u_i,  s = J_t a + c_t
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.events.modes import Mode, Modes, Rates, accelerate, closed, kept_rows, kinds_of, rates
from workbench.mechanics.case import Array
from workbench.mechanics.second_order import Dynamics, SecondOrder

INSTANT = 1e-20
"""Time [s] by which a projection moves coordinates, so that a time among them stays unchanged."""


class MotionState(NamedTuple):
    """The state at a time t [s]: coordinates q (n_q,), velocities v (n,); since the start the work w [J] dissipated by
    friction and the impulses p (r + d r,) of the contacts [N s], p_n before p_t."""

    t: float
    q: Array
    v: Array
    w: float
    p: Array


def angle_directions(angles: Array) -> Array:
    """Unit vectors (..., 2) of angles (...) [rad]."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


class Force(NamedTuple):
    """The mechanics of a state, its sliding directions e (r, d), accelerations and forces."""

    x: Dynamics
    e: Array
    rates: Rates


@dataclass(frozen=True, eq=False)
class SmoothMotion:
    """Phases in time with constant sliding directions e (r, d): the plane, and contacts that do not slide."""

    mechanics: SecondOrder
    modes: Modes
    e: Array

    @property
    def width(self) -> int:
        """The total size of q, v, w, p."""
        n, _, r, d = self.mechanics.case.size
        return self.mechanics.coordinates + n + 1 + r + d * r

    @property
    def impulses(self) -> slice:
        """The slice of y with the impulses p."""
        return slice(self.mechanics.coordinates + self.mechanics.case.size[0] + 1, self.width)

    def packed(self, state: MotionState) -> Array:
        """Pack a state into y."""
        return np.concatenate([state.q, state.v, [state.w], state.p])

    def state(self, s: float, y: Array) -> MotionState:
        """Unpack y at s into a state."""
        n, n_q, y = self.mechanics.case.size[0], self.mechanics.coordinates, np.ascontiguousarray(y)
        return MotionState(s, y[:n_q], y[n_q : n_q + n], float(y[n_q + n]), y[self.impulses])

    def moved(self, s: float, y: Array) -> tuple[Array, Array]:
        """dy/dt of q, v, w, p, and the tangential accelerations J_t a + c_t (r, d)."""
        at = self.state(s, y)
        n, _, r, d = self.mechanics.case.size
        core, rate, c = self.mechanics.in_core(at.q, at.v)
        u_t = core.J_t @ at.v + core.r_t
        e = np.ascontiguousarray(self.directions(s, y, u_t.reshape(r, d)))
        a, force, turns = np.empty(n), np.empty(r + d * r), np.empty(d * r)
        if not accelerate(core, c, kinds_of(self.modes), e, a, force, turns):
            x, _, found = self.force(s, y)
            a, force = found.a, np.concatenate([found.lambda_n, found.lambda_t.ravel()])
            turns = (x.J_t @ found.a + x.c_t).ravel()
        return np.concatenate([rate, a, [-(force[r:] @ u_t)], force]), turns.reshape(r, d)

    def directions(self, s: float, y: Array, u_t: Array) -> Array:
        """e (r, d) at y, with sliding velocities u_t (r, d)."""
        return self.e

    def force(self, s: float, y: Array) -> Force:
        """Mechanics, directions and forces at y."""
        at = self.state(s, y)
        x = self.mechanics.at(at.q, at.v)
        e = self.directions(s, y, x.u_t)
        return Force(x, e, rates(x, self.modes, e))

    def slope(self, s: float, y: Array) -> Array:
        """dy/ds."""
        return self.moved(s, y)[0]

    def projected(self, s: float, y: Array) -> tuple[Array, float]:
        """Project y onto the constraints of its mode, M-orthogonally; return it and the largest correction."""
        at = self.state(s, y)
        q, v, correction = project_on_constraints(self.mechanics, at.q, at.v, self.modes)
        y = y.copy()
        y[: len(q)], y[len(q) : len(q) + len(v)] = q, v
        return y, correction


def project_on_constraints(mechanics: SecondOrder, q: Array, v: Array, modes: Modes) -> tuple[Array, Array, float]:
    """Project coordinates and velocities so that the gaps of closed contacts and joints and the velocities of their
    rows vanish, including those of sticking contacts, with unit quaternions; return them and the largest correction
    [m, m/s, rad, rad/s]."""
    q = mechanics.advanced(q, v, 0.0)
    x = mechanics.without_biases(q, v)
    none = np.zeros_like(x.u_t)
    on, held = closed(modes), [Mode.SLIP if mode != Mode.OPEN else Mode.OPEN for mode in modes]
    places = kept_rows(x, tuple(held), none)
    shift = -_spread(x, places.A, np.concatenate([x.g, x.phi[on]]))
    q = mechanics.advanced(q, shift / INSTANT, INSTANT)
    x = mechanics.without_biases(q, v)
    rows = kept_rows(x, modes, none)
    change = -_spread(x, rows.A, rows.u)
    moved = max(float(np.abs(shift).max(initial=0.0)), float(np.abs(change).max(initial=0.0)))
    return q, v + change, moved


def _spread(x: Dynamics, A: Array, error: Array) -> Array:
    """The M-orthogonal velocity change (n,) that changes the rows A (k, n) by `error` (k,)."""
    if not len(A):
        return np.zeros(len(x.M))
    X = np.linalg.solve(x.M, A.T)
    change: Array = X @ np.linalg.lstsq(A @ X, error)[0]
    return change


@dataclass(frozen=True, eq=False)
class Along(SmoothMotion):
    """Phases in time in which the contacts `which` slide in space, fast enough for their velocities to determine e."""

    which: NDArray[np.int64]

    def directions(self, s: float, y: Array, u_t: Array) -> Array:
        e, u = self.e.copy(), u_t[self.which]
        e[self.which] = u / np.linalg.norm(u, axis=1)[:, None]
        return e


@dataclass(frozen=True, eq=False)
class Prescribed(SmoothMotion):
    """Phases in time in which the contacts `which` slide along angles that are polynomials in (t - start) / span."""

    which: NDArray[np.int64]
    coefficients: Array
    """(contacts, degree + 1), ascending."""
    start: float
    span: float

    def directions(self, s: float, y: Array, u_t: Array) -> Array:
        e = self.e.copy()
        powers = ((s - self.start) / self.span) ** np.arange(self.coefficients.shape[1])
        e[self.which] = angle_directions(self.coefficients @ powers)
        return e


@dataclass(frozen=True, eq=False)
class Turning(SmoothMotion):
    """Phases in the time tau of contact `which[slowest]`, with every sliding contact's direction as a state."""

    which: NDArray[np.int64]
    slowest: int

    def packed(self, state: MotionState) -> Array:
        u = self.mechanics.without_biases(state.q, state.v).u_t[self.which]
        speeds, angles = np.linalg.norm(u, axis=1), np.arctan2(u[:, 1], u[:, 0])
        return np.concatenate([super().packed(state), np.log(speeds), angles, [state.t]])

    def _split(self, y: Array) -> tuple[Array, Array]:
        """L and al of the sliding contacts."""
        k = len(self.which)
        return y[-1 - 2 * k : -1 - k], y[-1 - k : -1]

    def logarithms(self, y: Array) -> Array:
        """L (k,) of the contacts `which`."""
        return self._split(y)[0]

    def state(self, s: float, y: Array) -> MotionState:
        return super().state(float(y[-1]), y[: -1 - 2 * len(self.which)])

    def directions(self, s: float, y: Array, u_t: Array) -> Array:
        e = self.e.copy()
        e[self.which] = angle_directions(self._split(y)[1])
        return e

    def turning(self, y: Array, turns: Array) -> tuple[Array, Array]:
        """Rates e . s of the speeds, and n . s of the angles times the speed (k,) [m/s2], s = `turns` (r, d)."""
        e, s = angle_directions(self._split(y)[1]), turns[self.which]
        return np.sum(e * s, axis=1), e[:, 0] * s[:, 1] - e[:, 1] * s[:, 0]

    def slope(self, s: float, y: Array) -> Array:
        (moved, turns), L = self.moved(s, y), self.logarithms(y)
        faster, turning = self.turning(y, turns)
        u = np.exp(L[self.slowest])
        # The ratios u_i / u_j of the contacts: both may vanish together.
        share = np.exp(L[self.slowest] - L)
        return np.concatenate([u * moved, share * faster, share * turning, [u]])
