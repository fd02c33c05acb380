"""Critical friction for arbitrary sliding directions: the circular cone over all directions of slip.

With friction s mu_j against the unit direction t_j the normal accelerations have the matrix D, whose columns are
N_j - s mu_j W_nt,j t_j. The critical friction

    s* = sup {s : all principal minors of D are positive for all unit t_1, ..., t_r and all frictions up to s}

below which sliding is well posed in every direction. For one contact s* mu = W_nn / |W_nt|. For several contacts
the minors are affine in each x_j = s t_j separately. They are positive on a product of convex sets if they are positive
at all its corners: polygons around the circles bound s* from below, without any search along s, since they are nested;
directions on the circles bound it from above. Where the worst corner lies outside its circle, the polygon is cut
there, which tightens both bounds.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat

from workbench.diagnostics.contact_exact import ExactContacts
from workbench.diagnostics.critical_friction import Root
from workbench.engine.timing import clock
from workbench.matrices.linear_algebra.rationals import dot, doubles
from workbench.mechanics.contact import Array
from workbench.step.sliding.exact import as_rational
from workbench.support.arrays import index_sets

LARGEST = 4
"""Largest number of contacts for which directions are searched."""
SETTLED = 1e-6
"""Relative width of the enclosure at which the search ends."""
MARGIN = 1e-9
"""Relative widening of an end of the enclosure for rounding in the search, before it is proved."""
HIGHEST = 1e6
"""Largest friction up to which a loss is searched for."""
MOST_CORNERS = 20_000
REDUNDANT = 1e-9
"""Relative size of an eigenvalue of balanced normal rows below which these count as dependent."""
DENOMINATOR = 1 << 24
"""Denominator of the tangent of half the angle of a direction, which makes the direction rational."""

Direction = tuple[fmpq, ...]
"""A point of the plane, or of the line, with rational coordinates."""


@dataclass(frozen=True, eq=False)
class AnyDirection:
    """s* lies in [lo, hi], proved for the doubles as exact numbers; both None with a `reason` where there is none.

    hi is inf where no loss was found up to `HIGHEST`. `worst`: angles [deg] of a direction of each contact in which the
    P-property is lost at hi. `exact`: s* where it is known to be rational.
    """

    lo: float | None
    hi: float | None
    worst: tuple[float, ...] = ()
    exact: str | None = None
    reason: str = ""


def any_direction(e: ExactContacts, seconds: float = 10.0) -> AnyDirection:
    """s* of these contacts, all coefficients times s; `seconds` limits the search, not the proof after it."""
    if e.r > LARGEST:
        return AnyDirection(None, None, reason=f"{e.r} contacts; directions are searched for {LARGEST} at most")
    if redundant(e):
        return AnyDirection(None, None, reason="the normal rows are dependent: no P-matrix at zero friction already")
    if not any(e.mu):
        return AnyDirection(None, None, reason="all friction coefficients are zero")
    if e.r == 1:
        return _single(e)
    N, B = e.doubles()
    mu = doubles(e.mu)
    return _several(e, N, B * mu[None, :, None], clock() + seconds)


def redundant(e: ExactContacts) -> bool:
    """Return whether normal rows count as dependent, so that the normal forces are not unique."""
    N, _ = e.doubles()
    size = np.sqrt(np.maximum(np.diag(N), 0.0))
    return not size.all() or not np.linalg.eigvalsh(N / np.outer(size, size))[0] > REDUNDANT


def _single(e: ExactContacts) -> AnyDirection:
    """s* = W_nn / (mu |W_nt|)."""
    tangents = [e.W[0, 1 + k] * e.mu[0] for k in range(e.d)]
    square = dot(tangents, tangents)
    if square == 0:
        return AnyDirection(math.inf, math.inf)
    worst = (math.degrees(_angle(tuple(tangents))),)
    if e.d == 1:
        root = e.W[0, 0] / abs(tangents[0])
        return AnyDirection(*Root(root, root).bracket, worst, str(root))
    value = arb(e.W[0, 0]) / arb(square).sqrt()
    return AnyDirection(*Root(value.lower().fmpq(), value.upper().fmpq()).bracket, worst)


def _several(e: ExactContacts, N: Array, B: Array, end: float) -> AnyDirection:
    slides = [m != 0 for m in e.mu]
    tangents = [_first(e.d) if moving else [] for moving in slides]
    while True:
        polygons = [_corners(t, e.d) for t in tangents]
        places = [np.array([[float(arb(x)) for x in p] for p in polygon]) for polygon in polygons]
        low, at = _least(N, B, places)
        corners = [p[k] for p, k in zip(places, at, strict=True)]
        units = [_near(x) for x in corners]
        high, _ = _least(N, B, [np.array([[float(arb(x)) for x in u]]) for u in units])
        outside = [k for k, x in enumerate(corners) if slides[k] and np.linalg.norm(x) > 1 + 1e-12 and e.d == 2]
        many = math.prod(map(len, polygons)) * 2 > MOST_CORNERS
        if not outside or high <= low * (1 + SETTLED) or many or clock() > end or low > HIGHEST:
            break
        for k in outside:
            tangents[k] = sorted({*tangents[k], units[k]}, key=_angle)
    lo = _proved(e, polygons, min(low, HIGHEST) * (1 - MARGIN))
    angles = tuple(math.degrees(_angle(u)) if moving else 0.0 for u, moving in zip(units, slides, strict=True))
    if not high < HIGHEST:
        return AnyDirection(lo, math.inf)
    hi = high * (1 + MARGIN)
    return AnyDirection(lo, hi if not _all_positive(e, [[u] for u in units], as_rational(hi)) else math.inf, angles)


def _first(d: int) -> list[Direction]:
    """The directions of the axes, both senses, by angle."""
    one, none = fmpq(1), fmpq(0)
    return [(one,), (-one,)] if d == 1 else [(none, -one), (one, none), (none, one), (-one, none)]


def _corners(tangents: list[Direction], d: int) -> list[Direction]:
    """The corners of the polygon whose sides touch the unit circle at these points, by angle; zero without points."""
    if not tangents:
        return [(fmpq(0),) * d]
    if d == 1:
        return tangents
    pairs = zip(tangents, [*tangents[1:], tangents[0]], strict=True)
    return [_meeting(a, b) for a, b in pairs]


def _meeting(a: Direction, b: Direction) -> Direction:
    """Intersection of the tangents at the points a and b of the circle: (a + b) / (1 + a . b)."""
    over = 1 + a[0] * b[0] + a[1] * b[1]
    return (a[0] + b[0]) / over, (a[1] + b[1]) / over


def _near(x: Array) -> Direction:
    """A rational point of the unit circle in the direction of x; on the line, and for zero, x itself."""
    if len(x) == 1 or not x.any():
        return tuple(map(as_rational, x.tolist()))
    quarter = round(math.atan2(x[1], x[0]) / (0.5 * math.pi))
    p = math.tan(0.5 * (math.atan2(x[1], x[0]) - 0.5 * math.pi * quarter))
    half = fmpq(round(p * DENOMINATOR), DENOMINATOR)
    c, s = (1 - half * half) / (1 + half * half), 2 * half / (1 + half * half)
    for _ in range(quarter % 4):
        c, s = -s, c
    return c, s


def _angle(u: Direction) -> float:
    return math.atan2(float(arb(u[1])) if len(u) > 1 else 0.0, float(arb(u[0])))


def _least(N: Array, B: Array, places: Sequence[Array]) -> tuple[float, tuple[int, ...]]:
    """The smallest s at which a minor vanishes over all choices of a corner for each contact, and that choice; inf."""
    sizes = tuple(map(len, places))
    least = np.full(sizes, np.inf)
    for a in index_sets(range(len(places)), 1):
        chosen = [places[j] for j in a]
        grid = np.meshgrid(*(np.arange(len(p)) for p in chosen), indexing="ij")
        columns = [(p @ B[np.ix_(a, [j])][:, 0].T)[g] for j, p, g in zip(a, chosen, grid, strict=True)]
        values = np.linalg.eigvals(np.linalg.solve(N[np.ix_(a, a)], np.stack(columns, axis=-1)))
        real = np.where(np.abs(values.imag) <= 1e-9 * np.abs(values), values.real, 0.0).max(axis=-1)
        with np.errstate(divide="ignore"):
            s = np.where(real > 0, 1 / real, np.inf)
        shape = [len(places[j]) if j in a else 1 for j in range(len(places))]
        least = np.minimum(least, s.reshape(shape))
    at = np.unravel_index(least.argmin(), sizes)
    return float(least[at]), tuple(map(int, at))


def _proved(e: ExactContacts, polygons: list[list[Direction]], s: float) -> float:
    """s, halved until all minors are positive at all corners of the polygons."""
    while s > 0 and not _all_positive(e, polygons, as_rational(s)):
        s = 0.5 * s
    return s


def _all_positive(e: ExactContacts, polygons: list[list[Direction]], s: fmpq) -> bool:
    """Return whether all principal minors are positive at friction s for all choices of corners, exactly."""
    columns = [[_column(e, j, x, s) for x in polygon] for j, polygon in enumerate(polygons)]
    return all(minor > 0 for minor in _minors(columns))


def _minors(columns: list[list[list[fmpq]]]) -> Iterator[Any]:
    for a in index_sets(range(len(columns)), 1):
        for chosen in itertools.product(*(columns[j] for j in a)):
            yield fmpq_mat([[column[i] for column in chosen] for i in a]).det()


def _column(e: ExactContacts, j: int, x: Direction, s: fmpq) -> list[fmpq]:
    """Column j of D, N_j - s mu_j W_nt,j x."""
    k = e.normal(j)
    return [
        e.W[e.normal(i), k] - s * e.mu[j] * sum((e.W[e.normal(i), k + 1 + t] * y for t, y in enumerate(x)), fmpq(0))
        for i in range(e.r)
    ]
