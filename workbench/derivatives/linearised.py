"""The law linearised at a solution: one linear system, and between modes a complementarity problem of the same kind.

Every set moves its impulse along the columns of R and keeps its law by the rows of L, with a curvature H in sliding:

    dx = R y + p,     S y = b - L^T (r + A p),     S = L^T A R + H,     r = dA x + dq

p and b are what a change of friction coefficients and bounds does by itself. Between modes some y are bounded, and
those of a contact with neither force nor velocity lie in its cone: F = S y + L^T (r + A p) - b complementary to y. A
solution of that is the one-sided derivative. Contacts, by n and t, with e the direction of sliding and k = mu for
associated flow, 0 for Coulomb's law:

    sticks     R = L = 1
    slides     R = (1, -mu e), (0, mu p_n t)     L = (1, -k e), (0, mu p_n t)     H = (0, mu p_n |u_t|)
               p = (0, -p_n e) dmu, b = (|u_t| dmu, 0) for associated flow
    on edge    sliding's, and y >= 0 along (0, e)
    touches    (1, -mu e), y >= 0

Sources: Robinson (Math. Oper. Res. 5, 1980); Bonnans & Ramirez (Math. Program. 104, 2005) for cones; Beremlijski,
Haslinger, Outrata & Pathó (SIAM J. Optim. 20, 2009) for Coulomb's law.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.derivatives.modes import Mode, Place
from workbench.errors import DataError
from workbench.problems.mixed import MixedNCP
from workbench.problems.problem import Indices, Matrix, Problem, SetBySet
from workbench.problems.sets import ASSOCIATED, DISC, NO_CONE, Sets

SINGULAR = 1e-12
"""Smallest singular value of the equilibrated S beside the largest from which on S is taken to be singular."""
LARGEST = 3000
"""Unknowns up to which A is formed."""


class Change(NamedTuple):
    """How the data of a problem change along a parameter, set by set: A (X, X), q, lower, upper (X,), mu (B,)."""

    A: Array
    q: Array
    mu: Array
    lower: Array
    upper: Array


def change_of(problem: Problem, **data: Any) -> Change:
    """The change of a problem's M (or W), q, mu, lower, upper, given in its own order; what is left out stays.

    Raises DataError for a shape other than that of the data, for a name that the problem does not have, and for
    coefficients of single directions.
    """
    p, n = problem.by_set, problem.size
    given = {}
    for name, value in data.items():
        own = getattr(problem, name, None)
        if name not in ("M", "q", "mu", "lower", "upper") or own is None:
            raise DataError(f"a {problem.kind} has no {name!r} that could change")
        change = np.asarray(value, dtype=float)
        if change.shape != np.shape(own):
            raise DataError(f"the change of {name} has shape {change.shape}; {name} has {np.shape(own)}")
        if not np.isfinite(change).all():
            raise DataError(f"the change of {name} has an entry that is not finite")
        given[name] = change
    A, mu = np.zeros((n, n)), np.zeros(p.sets.cone.size)
    if "M" in given:
        A = p.unit[:, None] * given["M"][np.ix_(p.order, p.order)] * p.unit
    if "mu" in given:
        mu = _coefficients(problem, given["mu"])
    none = np.zeros(n)
    q, lower, upper = (given.get(name, none)[p.order] for name in ("q", "lower", "upper"))
    return Change(A, p.unit * q, mu, lower, upper)


def _coefficients(problem: Problem, change: Array) -> Array:
    """Those of every set (B,)."""
    if not isinstance(problem, MixedNCP):
        return change
    at, found = problem.sets.at, np.zeros(problem.sets.cone.size)
    for i, count in enumerate(np.diff(at)):
        if count > 1 and change[at[i] : at[i + 1]].any():
            raise DataError(f"set {i} has a coefficient for every direction; a change of one alone is not taken")
        found[i] = change[at[i]] if count == 1 else 0.0
    return found


def matrix_of(p: SetBySet) -> Array:
    """A (X, X). Raises DataError where it would be too large."""
    if p.q.size > LARGEST:
        raise DataError(f"{p.q.size} unknowns; sensitivities are formed of at most {LARGEST}")
    if isinstance(p.operator, Matrix):
        return np.asarray(p.operator.A.toarray() if hasattr(p.operator.A, "toarray") else p.operator.A)
    return np.stack([p.operator.products(e)[0] for e in np.eye(p.q.size)], axis=1)


@dataclass(frozen=True, eq=False)
class Linearised:
    """A problem set by set at a solution x (X,), with the places of its sets: R, L (X, Y), H (Y,), and A (X, X).

    lower, upper (Y,) bound y, law (Y,) and mu (Y,) tell the cones that some y form together, `begins` (Y,) where a set
    of y begins. loose (Y,) is the unknown of x that each y is where its own bounds move, else -1.
    """

    problem: SetBySet
    x: Array
    places: tuple[Place, ...]
    A: Array
    R: Array
    L: Array
    H: Array
    lower: Array
    upper: Array
    law: Indices
    mu: Array
    begins: NDArray[np.bool_]
    loose: Indices

    @cached_property
    def S(self) -> Array:
        """(Y, Y)."""
        return self.L.T @ self.A @ self.R + np.diag(self.H)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """(Y,) which y have no bounds."""
        unbounded = (self.lower == -np.inf) & (self.upper == np.inf)
        return np.asarray((self.law == NO_CONE) & unbounded & (self.loose < 0), dtype=bool)

    @property
    def between(self) -> list[Place]:
        """The sets between two modes."""
        return [place for place in self.places if place.between]

    @cached_property
    def spectrum(self) -> tuple[Array, Array, Array, Array]:
        """U, the singular values, V^T of the equilibrated S = E S E, and E (Y,)."""
        size = np.sqrt(np.maximum(np.abs(self.S).max(axis=1, initial=0.0), np.abs(self.S).max(axis=0, initial=0.0)))
        E = 1.0 / np.where(size > 0, size, 1.0)
        return (*np.linalg.svd(E[:, None] * self.S * E), E)

    @property
    def is_singular(self) -> bool:
        """Whether S has a kernel, as far as rounding tells."""
        values = self.spectrum[1]
        return bool(values.size) and not values[-1] > SINGULAR * values[0]

    @property
    def condition(self) -> float:
        """That of the equilibrated S; 1 where it is empty."""
        values = self.spectrum[1]
        return float(values[0] / values[-1]) if values.size and values[-1] > 0 else (np.inf if values.size else 1.0)

    def kernel(self) -> Array:
        """(Y, k) the directions y that S does not move."""
        _, values, V, E = self.spectrum
        return E[:, None] * V[values <= SINGULAR * values.max(initial=0.0)].T

    def solved(self, right: Array, transposed: bool = False) -> Array:
        """S^-1 right, or S^-T right, of least norm where S is singular."""
        U, values, V, E = self.spectrum
        if transposed:
            U, V = V.T, U.T
        kept = values > SINGULAR * values.max(initial=0.0)
        return E * (V[kept].T @ ((U[:, kept].T @ (E * right)) / values[kept]))

    def sources(self, change: Change) -> tuple[Array, Array, Array]:
        """r, p (X,) and b (Y,) of a change."""
        p, b, column = np.zeros(self.x.size), np.zeros(self.H.size), 0
        set_of = self.problem.set_of
        for place in self.places:
            i, k = place.first, place.mode
            dmu = change.mu[set_of[i]]
            if k in (Mode.AT_LOWER, Mode.LEAVES_LOWER):
                p[i] = change.lower[i]
            elif k in (Mode.AT_UPPER, Mode.LEAVES_UPPER):
                p[i] = change.upper[i]
            elif k is Mode.FIXED:
                p[i] = (change.lower if self.velocity[i] > 0 else change.upper)[i]
            elif k in (Mode.SLIDES, Mode.EDGE) and place.law == DISC:
                p[i : place.end] = -dmu * place.e
            elif k in (Mode.SLIDES, Mode.EDGE) and place.e.size:
                p[i + 1 : place.end] = -dmu * self.x[i] * place.e
            if k in (Mode.SLIDES, Mode.TOUCHES) and place.law == ASSOCIATED:
                b[column] = place.speed * dmu
            column += _columns(place, self.problem.sets.mu[set_of[i]])
        return change.A @ self.x + change.q, p, b

    @cached_property
    def velocity(self) -> Array:
        """F = A x + q (X,)."""
        return self.problem.velocity(self.x)

    def right(self, change: Change) -> Array:
        """b - L^T (r + A p) (Y,), what S y is to be."""
        r, p, b = self.sources(change)
        return b - self.L.T @ (r + self.A @ p)

    def one_sided(self, change: Change) -> MixedNCP:
        """The problem whose solutions y are the one-sided derivatives along a change."""
        lower, upper, some = self.lower.copy(), self.upper.copy(), self.loose >= 0
        lower[some], upper[some] = change.lower[self.loose[some]], change.upper[self.loose[some]]
        crossing = lower > upper
        if crossing.any() and float((lower - upper)[crossing].max()) <= 1e-9 * float(np.abs(change.q).max(initial=0.0)):
            upper[crossing] = lower[crossing]
        elif crossing.any():
            raise DataError("equal bounds move across one another: there is no solution beside this one")
        start = np.flatnonzero(self.begins)
        cone = self.law[start]
        first = np.append(start, self.H.size)
        radius = np.where(cone == DISC, np.maximum(self._radii(change)[start], 0.0), self.mu[start])
        at = np.append(0, np.cumsum(cone != NO_CONE))
        sets = Sets(cone, first, np.arange(self.H.size), at)
        return MixedNCP(self.S, -self.right(change), lower, upper, radius[cone != NO_CONE], sets)

    def _radii(self, change: Change) -> Array:
        """(Y,) how the radius of the disc grows to which a y belongs."""
        set_of = self.problem.set_of
        found, column = np.zeros(self.H.size), 0
        for place in self.places:
            count = _columns(place, self.problem.sets.mu[set_of[place.first]])
            found[column : column + count] = change.mu[set_of[place.first]]
            column += count
        return found

    def derivative(self, y: Array, change: Change) -> tuple[Array, Array]:
        """dx and dF (X,) of y."""
        r, p, _ = self.sources(change)
        dx = self.R @ y + p
        return dx, self.A @ dx + r


def _columns(place: Place, mu: float) -> int:
    """How many y a place has; mu the coefficient of its set."""
    m, mode = place.end - place.first, place.mode
    if mode in (Mode.AT_LOWER, Mode.AT_UPPER, Mode.FIXED, Mode.OPEN):
        return 0
    if place.law == NO_CONE or mode is Mode.TOUCHES:
        return 1
    if mode is Mode.SLIDES:
        return (m - 1 if mu > 0 else 0) if place.law == DISC else (max(m - 1, 1) if mu > 0 else 1)
    return m


def linearised(p: SetBySet, x: Array, places: list[Place]) -> Linearised:
    """The system at a solution x (X,) whose sets have these places."""
    set_of = p.set_of
    columns: list[Array] = []
    rows: list[Array] = []
    table: list[tuple] = []
    for place in places:
        mu = float(p.sets.mu[set_of[place.first]])
        for column, row, *rest in _of_place(place, mu, x[place.first : place.end]):
            ahead, behind = np.zeros(x.size), np.zeros(x.size)
            ahead[place.first : place.end], behind[place.first : place.end] = column, row
            columns.append(ahead)
            rows.append(behind)
            table.append(tuple(rest))
    none = np.zeros((x.size, 0))
    H, lower, upper, law, mu_y, begins, loose = (
        np.array([entry[k] for entry in table], dtype=kind)
        for k, kind in enumerate((float, float, float, np.int64, float, bool, np.int64))
    )
    R, L = (np.stack(vectors, axis=1) if vectors else none for vectors in (columns, rows))
    return Linearised(p, x, tuple(places), matrix_of(p), R, L, H, lower, upper, law, mu_y, begins, loose)


def _of_place(place: Place, mu: float, x: Array) -> list[tuple]:
    """The columns of R and L over a set, with H, bounds, law and coefficient of each, where a set begins, `loose`."""
    m, mode, law, inf = place.end - place.first, place.mode, place.law, np.inf

    def entry(column: Array, row: Array, H: float = 0.0, low: float = -inf, high: float = inf) -> tuple:
        return column, row, H, low, high, NO_CONE, 0.0, True, -1

    if _columns(place, mu) == 0:
        return []
    if law == NO_CONE:
        one = np.ones(1)
        low, high = {Mode.LEAVES_LOWER: (0.0, inf), Mode.LEAVES_UPPER: (-inf, 0.0)}.get(mode, (-inf, inf))
        return [(one, one, 0.0, low, high, NO_CONE, 0.0, True, place.first if mode is Mode.LOOSE else -1)]
    if mode in (Mode.STICKS, Mode.NOTHING):
        whole = np.eye(m)
        apart = mode is Mode.STICKS
        return [
            (v, v, 0.0, -inf, inf, NO_CONE if apart else law, 0.0 if apart else mu, apart or k == 0, -1)
            for k, v in enumerate(whole)
        ]
    e, force = place.e, mu if law == DISC else mu * x[0]
    head = 0 if law == DISC else 1
    across = _across(e) if e.size > 1 else np.zeros((0, e.size))
    turning = [np.append(np.zeros(head), force * t) for t in across]
    found = []
    if law != DISC:
        k = mu if law == ASSOCIATED else 0.0
        low = 0.0 if mode is Mode.TOUCHES else -inf
        found.append(entry(np.append(1.0, -mu * e), np.append(1.0, -k * e), low=low))
    if mode is Mode.TOUCHES or mu == 0:
        return found
    if mode is Mode.SLIDES:
        return found + [entry(t, t, H=force * place.speed) for t in turning]
    inward = np.append(np.zeros(head), e)
    return [*found, entry(inward, inward, low=0.0), *(entry(t, t) for t in turning)]


def _across(e: Array) -> Array:
    """(d - 1, d) unit vectors across e (d,)."""
    return np.linalg.svd(e[None])[2][1:]
