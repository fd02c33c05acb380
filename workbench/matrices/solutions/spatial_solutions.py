"""All solutions of Coulomb's law in given modes with sliding contacts in space: branch and bound over the directions.

For given unit sliding directions e_j = (cos, sin) of the contacts that slide, p_t = -mu p_n e, the other unknowns y
(impulses of sticking contacts, normal impulses of sliding ones) solve a linear system A(e) y = b: zero velocity where
a contact sticks, zero normal velocity where it slides. The remaining conditions are t_j . u_t,j = 0, t_j normal to e_j,
and

    excluded   if the enclosed y, u violate an inequality, or Krawczyk's operator of F(y, angles) leaves the box, or,
               where A may be singular, [W R, -e, q], whose columns a solution adds up to zero, has full rank; or if
               a vector contradicts the modes (`contradictions`),
    settled    if F' is regular over a somewhat larger box, which then contains one zero at most, and a zero is known,
    divided    otherwise.

Rounding is bounded as in `planar_solutions`. Every contact's rows are scaled by a power of two first, which does
not change directions.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from workbench.engine.timing import check_clock
from workbench.matrices.solutions.contact_modes import FRICTIONLESS, OPEN, STICK
from workbench.matrices.solutions.contradictions import contradicted
from workbench.matrices.solutions.impulse_bound import UNBOUNDED
from workbench.matrices.solutions.planar_solutions import ROUNDING, enclosed_inverses
from workbench.matrices.solutions.slides import Slides, directions
from workbench.problems.classes import Array

TOGETHER = 64
"""Number of boxes that are processed at once: many cost less each, but a search that must fail comes later to a box
that is too narrow."""
FIRST = 4
"""Number of arcs into which a circle is divided first."""
TURNED = 0.1234
"""Angle of an end of the first arcs: a direction that data are unlikely to have."""
LARGER = 1.25
"""Factor of the enlarged box within which a zero is unique."""
NARROWEST = 1e-7
"""Half width below which boxes are not divided further: the equations are singular nearby."""
SINGULAR_NARROWEST = 0.15
"""The same where the equations are singular in every direction, so that only contradictions exclude a box."""
SLIMMEST = 1e-6
"""Smallest relative width of a box of y, relative to that of the angles."""
NEWTON_STEPS = 30


@dataclass(frozen=True, eq=False)
class Settled:
    """A zero of the equations: y (m), angles (s), and half widths (s) of a box around `middle` without another one."""

    y: Array
    angles: Array
    middle: Array
    within: Array

    def holds(self, angles: Array) -> bool:
        """Whether these angles are in the box, with a margin for rounding."""
        off = np.abs((angles - self.middle + np.pi) % (2 * np.pi) - np.pi)
        return bool((off < 0.999 * self.within).all())


def sliding_zeros(slides: Slides, deadline: float) -> tuple[list[Settled], bool]:
    """Settled boxes, which contain all zeros that may be solutions, and whether nothing else was left open.

    Raises OutOfTimeError.
    """
    s = len(slides.sliding)
    found: list[Settled] = []
    arcs = TURNED + 2 * np.pi / FIRST * np.arange(FIRST)
    middles = np.stack([x.ravel() for x in np.meshgrid(*[arcs] * s, indexing="ij")], axis=1)
    stack = [(middles, np.full_like(middles, np.pi / FIRST))]
    while stack:
        check_clock(deadline)
        middle, half = stack.pop()
        if len(middle) > TOGETHER:
            stack.append((middle[TOGETHER:], half[TOGETHER:]))
            middle, half = middle[:TOGETHER], half[:TOGETHER]
        out, alone, y = _judged(slides, middle, half)
        left = ~out
        for k in np.flatnonzero(alone):
            zero = next((x for x in found if _covers(x, middle[k], half[k])), None) or _newton(
                slides, y[k], middle[k], LARGER * half[k]
            )
            if zero is not None:
                left[k] = False
                found.append(zero)
        middle, half = middle[left], half[left]
        widths = half.max(axis=1)
        if (widths < NARROWEST).any() or ((widths < SINGULAR_NARROWEST).any() and slides.redundant):
            return found, False
        if len(middle):
            widest = np.argmax(half, axis=1)[:, None]
            half = half.copy()
            np.put_along_axis(half, widest, np.take_along_axis(half, widest, 1) / 2, 1)
            step = np.zeros_like(half)
            np.put_along_axis(step, widest, np.take_along_axis(half, widest, 1), 1)
            stack.append((np.concatenate([middle - step, middle + step]), np.concatenate([half, half])))
    return found, True


def _covers(zero: Settled, middle: Array, half: Array) -> bool:
    """Whether a box lies in the uniqueness box of a zero."""
    off = np.abs((middle - zero.middle + np.pi) % (2 * np.pi) - np.pi)
    return bool((off + half <= 0.999 * zero.within).all())


def _judged(slides: Slides, middle: Array, half: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array]:
    """For boxes middle +- half (N, s): whether they are excluded; if not, whether the larger one has one zero at most.

    Also y (N, m) at the middle.
    """
    with np.errstate(all="ignore"):
        # First: it excludes nine wide boxes in ten.
        out = contradicted(slides, middle, half)
        alone, y, left = np.zeros_like(out), np.zeros((len(out), len(slides.held))), np.flatnonzero(~out)
        if left.size:
            b = _Boxes.around(slides, middle[left], LARGER * half[left])
            out[left] = b.usable & (_fails(slides, b) | b.leaves(half[left]))
            odd = ~b.usable
            if odd.any():
                out[left[odd]] = _of_full_rank(slides, b.e[odd], b.turn[odd])
            rest = b.usable & ~out[left]
            alone[left[rest]] = b.of(rest).has_one_zero(slides)
            y[left] = b.y
        return out, alone, y


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Properties of N boxes: centres e, t (N, s, 2), y (N, m), p, u (N, n), half widths `wide` (N, s); bounds.

    With angles = middle + x, |x| <= wide: |e - e(middle)| <= turn, |t - t(middle)| <= bend, y within dy of the centre
    and u within du, both bounds also by Taylor's formula; slip = e . u_t and across = t . u_t at the centre, with
    their derivatives by the angles (N, s, s), where y is a function of them, and the remainders of second order.
    `loose` (N, n, m) bounds the change of du/dy = G.
    """

    wide: Array
    e: Array
    t: Array
    turn: Array
    bend: Array
    G: Array
    loose: Array
    y: Array
    dy: Array
    u: Array
    du: Array
    slip: Array
    slip_by: Array
    slip_rest: Array
    across: Array
    across_by: Array
    across_rest: Array
    usable: NDArray[np.bool_]

    @staticmethod
    def around(slides: Slides, middle: Array, wide: Array) -> "_Boxes":
        W, q, held, place = slides.W, slides.q, slides.held, slides.slide
        mu, tangents = slides.mu[slides.sliding], slides.tangents
        size = np.abs(W)
        e, t = directions(middle)
        curved = 0.5 * wide[..., None] ** 2 + ROUNDING
        turn, bend = wide[..., None] * np.abs(t) + curved, wide[..., None] * np.abs(e) + curved
        G = slides.columns(e)
        loose, second = np.zeros_like(G), np.zeros_like(G)
        loose[:, :, place] = mu * np.einsum("nsk,isk->nis", turn, size[:, tangents])
        second[:, :, place] = mu * np.einsum("nsk,isk->nis", np.broadcast_to(curved, e.shape), size[:, tangents])
        A, rhs = G[:, held], -q[held]
        R, bound = enclosed_inverses(A)
        y = _times(R, rhs[None])
        defect = np.abs(rhs - _times(A, y)) + ROUNDING * (np.abs(rhs) + _times(np.abs(A), np.abs(y)))
        defect += np.finfo(float).tiny

        # A (y - y0) = defect - (A(e) - A) y, and |y| is at most |y0| + dy, and slides.most.
        first = _times(bound, defect) + _times(bound @ loose[:, held], np.abs(y))
        reach = (bound @ loose[:, held]).sum(axis=2)
        norm = reach.max(axis=1, keepdims=True)
        dy = np.where(norm < 0.9, first + reach * first.max(axis=1, keepdims=True) / (1 - norm), np.inf)
        dy = np.minimum(dy, _times(bound, defect + _times(loose[:, held], slides.most[held])))
        # The derivative of y, and its remainder.
        friction = np.einsum("isk,nsk->nis", W[:, tangents], t) * (-mu * y[:, place])[:, None, :]
        y_by = -R @ friction[:, held]
        largest = np.minimum(np.abs(y) + dy, slides.most[held])
        y_rest = _times(bound, defect + _times(second[:, held], np.abs(y)))
        y_rest += _times(bound, _times(loose[:, held], np.minimum(dy, largest + np.abs(y))))
        y_rest += ROUNDING * _times(bound @ np.abs(friction[:, held]), wide)
        dy = np.minimum(dy, _times(np.abs(y_by), wide) + y_rest)
        # Not much narrower than the angles, so that rounding is small in both.
        dy = np.maximum(dy, SLIMMEST * wide.max(axis=1)[:, None] * bound.sum(axis=2) * np.abs(q).max())
        dy *= 1 + ROUNDING

        p = slides.impulses(y, e)
        u = p @ W.T + q
        rounding = ROUNDING * (np.abs(p) @ size.T + np.abs(q))
        u_by = G @ y_by + friction
        u_rest = _times(np.abs(G), y_rest) + _times(loose, dy) + _times(second, np.abs(y)) + rounding
        u_rest += ROUNDING * _times(np.abs(G) @ np.abs(y_by) + np.abs(friction), wide)
        du = _times(np.abs(G) + loose, dy) + _times(loose, np.abs(y)) + rounding
        du = np.minimum(du, _times(np.abs(u_by), wide) + u_rest)

        u_t, du_t, rest_t, by_t = u[:, tangents], du[:, tangents], u_rest[:, tangents], u_by[:, tangents]
        slip, across = _dot(u_t, e), _dot(u_t, t)
        diagonal = np.arange(len(mu))
        slip_by, across_by = (np.einsum("nskj,nsk->nsj", by_t, x) for x in (e, t))
        slip_by[:, diagonal, diagonal] += across
        across_by[:, diagonal, diagonal] -= slip
        slip_rest = _dot(curved, np.abs(u_t)) + _dot(turn, du_t) + _dot(np.abs(e), rest_t + ROUNDING * np.abs(u_t))
        across_rest = _dot(curved, np.abs(u_t)) + _dot(bend, du_t) + _dot(np.abs(t), rest_t + ROUNDING * np.abs(u_t))
        slip_rest += ROUNDING * _times(np.einsum("nskj,nsk->nsj", np.abs(by_t), np.abs(e)), wide)
        across_rest += ROUNDING * _times(np.einsum("nskj,nsk->nsj", np.abs(by_t), np.abs(t)), wide)
        usable = (dy < np.sqrt(UNBOUNDED)).all(axis=1) & np.isfinite(du).all(axis=1)
        return _Boxes(
            wide, e, t, turn, bend, G, loose, y, dy, u, du, slip, slip_by, slip_rest, across, across_by, across_rest,
            usable,
        )  # fmt: skip

    def of(self, some: NDArray[np.bool_]) -> "_Boxes":
        """A subset of the boxes."""
        return _Boxes(*(getattr(self, x.name)[some] for x in fields(self)))

    def leaves(self, half: Array) -> NDArray[np.bool_]:
        """Whether no zero of `across` is within `half` (N, s) of the middle, by Newton's step."""
        C, _ = enclosed_inverses(self.across_by)
        step = np.abs(_times(C, self.across))
        off = np.abs(np.eye(half.shape[1]) - C @ self.across_by) + ROUNDING * (np.abs(C) @ np.abs(self.across_by))
        slack = _times(off, self.wide) + _times(np.abs(C), self.across_rest)
        slack += ROUNDING * _times(np.abs(C), np.abs(self.across))
        return np.asarray((step > (1 + ROUNDING) * (slack + half)).any(axis=1))

    def has_one_zero(self, slides: Slides) -> NDArray[np.bool_]:
        """Whether the Jacobian of F = (u_held, t . u_t) by (y, angles) is regular for all points of the box."""
        held, tangents, mu = slides.held, slides.tangents, slides.mu[slides.sliding]
        m, s, wide = len(held), len(mu), self.wide
        W_t = slides.W[:, tangents]
        T, T_size = (np.einsum("isk,nsk->nis", x, y) for x, y in ((W_t, self.t), (np.abs(W_t), np.abs(self.t))))
        T_off = np.einsum("isk,nsk->nis", np.abs(W_t), self.bend)
        y_n, dy_n = np.abs(self.y[:, None, slides.slide]), self.dy[:, None, slides.slide]
        full = np.concatenate([self.G, -mu * self.y[:, None, slides.slide] * T], axis=2)
        off = np.concatenate([self.loose, mu * (dy_n * (T_size + T_off) + y_n * T_off)], axis=2)
        sizes = np.concatenate([np.abs(self.G), mu * y_n * T_size], axis=2)

        def rows(x: Array, direction: Array) -> Array:
            return np.concatenate([x[:, held], np.einsum("nskj,nsk->nsj", x[:, tangents], direction)], axis=1)

        J, K = rows(full, self.t), rows(off, np.abs(self.t) + self.bend)
        K[:, m:] += np.einsum("nskj,nsk->nsj", np.abs(full[:, tangents]), self.bend)
        K += ROUNDING * rows(sizes, np.abs(self.t))
        place = m + np.arange(s)
        u_t, du_t = np.abs(self.u[:, tangents]), self.du[:, tangents]
        J[:, place, place] -= self.slip
        K[:, place, place] += _dot(u_t, self.turn) + _dot(du_t, np.abs(self.e) + self.turn)
        C, _ = enclosed_inverses(J)
        radii = np.concatenate([self.dy, wide], axis=1)
        spread = np.abs(np.eye(m + s) - C @ J) + np.abs(C) @ (K + ROUNDING * np.abs(J)) + ROUNDING * np.eye(m + s)
        return np.asarray(((1 + ROUNDING) * _times(spread, radii) < radii).all(axis=1))


def _times(A: Array, x: Array) -> Array:
    return np.asarray((A @ x[..., None])[..., 0])


def _dot(x: Array, y: Array) -> Array:
    return np.asarray((x * y).sum(axis=-1))


def _fails(slides: Slides, b: _Boxes) -> NDArray[np.bool_]:
    """Whether an inequality, or t . u_t = 0, is certainly violated."""
    high, place, mu = b.y + b.dy, slides.slide, slides.mu
    out = np.asarray((high[:, place] < 0).any(axis=1) | (np.abs(b.y) - b.dy > slides.most[slides.held]).any(axis=1))
    u_t, du_t = b.u[:, slides.tangents], b.du[:, slides.tangents]

    def slack(off: Array, x: Array, by: Array, rest: Array) -> Array:
        plain = _dot(np.abs(u_t), off) + _dot(du_t, np.abs(x) + off)
        return np.minimum(plain, (1 + ROUNDING) * (_times(np.abs(by), b.wide) + rest))

    out |= (b.slip + slack(b.turn, b.e, b.slip_by, b.slip_rest) < 0).any(axis=1)
    out |= (np.abs(b.across) > slack(b.bend, b.t, b.across_by, b.across_rest)).any(axis=1)
    at = 0
    for i, mode in enumerate(slides.modes):
        if mode == OPEN:
            out |= b.u[:, i] + b.du[:, i] < 0
        elif mode == STICK:
            low = np.maximum(np.abs(b.y[:, at + 1 : at + 3]) - b.dy[:, at + 1 : at + 3], 0.0)
            least = (1 - ROUNDING) * np.linalg.norm(low, axis=1)
            out |= (high[:, at] < 0) | (least > (1 + ROUNDING) * mu[i] * np.maximum(high[:, at], 0.0))
            at += 3
        elif mode == FRICTIONLESS:
            out |= high[:, at] < 0
            at += 1
    return out


def _of_full_rank(slides: Slides, e: Array, turn: Array) -> NDArray[np.bool_]:
    """Whether the columns du/dy, -e and q of active rows are independent for all directions of the box."""
    mu, sliding, place = slides.mu, slides.sliding, slides.slide
    rows = np.concatenate([slides.held, slides.tangents.ravel()])
    N, m, s = len(e), len(slides.held), len(sliding)
    B, K = np.zeros((N, len(rows), m + s + 1)), np.zeros((N, len(rows), m + s + 1))
    B[:, :, :m] = slides.columns(e)[:, rows]
    K[:, :, place] = mu[sliding] * np.einsum("nsk,isk->nis", turn, np.abs(slides.W[np.ix_(rows)][:, slides.tangents]))
    for j in range(s):
        B[:, m + 2 * j : m + 2 * j + 2, m + j] = -e[:, j]
        K[:, m + 2 * j : m + 2 * j + 2, m + j] = turn[:, j]
    size = np.linalg.norm(slides.q[rows])
    if not size > 0:
        return np.zeros(N, dtype=bool)
    B[:, :, -1] = slides.q[rows] / size
    scale = np.maximum(np.linalg.norm(B, axis=1, keepdims=True), np.finfo(float).tiny)
    B, K = B / scale, K / scale
    finite = np.isfinite(B).all(axis=(1, 2))
    P = np.zeros((N, m + s + 1, len(rows)))
    P[finite] = np.linalg.pinv(B[finite])
    E = np.abs(np.eye(m + s + 1) - P @ B) + np.abs(P) @ (K + ROUNDING * (np.abs(B) + 1)) + ROUNDING
    found: NDArray[np.bool_] = finite & (E.sum(axis=2).max(axis=1) < 1 - ROUNDING)
    return found


def _newton(slides: Slides, y: Array, middle: Array, wide: Array) -> Settled | None:
    """The zero near a box, if Newton's method finds one within it."""
    m, angles, start = len(y), middle.copy(), y.copy()
    held, mu = slides.held, slides.mu[slides.sliding]
    for _ in range(NEWTON_STEPS):
        e, t = directions(angles[None])
        p = slides.impulses(start[None], e)
        u = p @ slides.W.T + slides.q
        T = np.einsum("isk,nsk->nis", slides.W[:, slides.tangents], t)
        full = np.concatenate([slides.columns(e), -(mu * start[slides.slide])[None, None, :] * T], axis=2)
        across = np.einsum("nskj,nsk->nsj", full[:, slides.tangents], t)
        J = np.concatenate([full[:, held], across], axis=1)[0]
        u_t = u[:, slides.tangents]
        k = m + np.arange(len(angles))
        J[k, k] -= np.einsum("nsk,nsk->ns", u_t, e)[0]
        F = np.concatenate([u[0, held], np.einsum("nsk,nsk->ns", u_t, t)[0]])
        try:
            step = np.linalg.solve(J, F)
        except np.linalg.LinAlgError:
            return None
        start, angles = start - step[:m], angles - step[m:]
        if not np.isfinite(angles).all() or (np.abs(angles - middle) > 2 * wide).any():
            return None
        if np.abs(step[m:]).max() < 1e-14 and np.abs(step[:m]).max() <= 1e-13 * max(np.abs(start).max(), 1e-300):
            break
    zero = Settled(start, angles, middle, wide)
    return zero if zero.holds(angles) else None
