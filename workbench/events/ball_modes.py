"""Contact modes in ball arithmetic: the motion under a mode, and proofs that no other mode is possible.

Every decision is a strict inequality between balls; an undecided one raises UndecidedError.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_series

from workbench.events.balls import ZERO, Ball, BallDynamics, BallMechanics, Balls, UndecidedError, each
from workbench.events.modes import Mode, Modes
from workbench.events.phase import BREAK, HALT, LIFT, OVER, TOUCH
from workbench.events.taylor import enclosing_ball, newton

ARCS = 64
"""Number of arcs of sliding directions, examined one by one."""


def solve_in_balls(A: Balls, B: Balls) -> Balls:
    """Return X (k, m) with A X = B, A (k, k). Raises UndecidedError where A may be singular.

    Elimination after multiplication by an approximate inverse, which brings A close to the identity and keeps balls
    narrow (Neumaier 1990, Interval Methods for Systems of Equations, section 4.1).
    """
    k = len(A)
    try:
        near = np.linalg.inv(np.array([[float(x.coefficient(0).mid()) for x in row] for row in A]))
    except np.linalg.LinAlgError:
        raise UndecidedError("a linear system may be singular, as that of redundant contacts") from None
    T = near @ np.concatenate([A, B], axis=1)
    for i in range(k):
        T[i, i + 1 :] = T[i, i + 1 :] / T[i, i]
        for j in range(k):
            if j != i and not T[j, i].is_zero:
                T[j, i + 1 :] = T[j, i + 1 :] - T[j, i] * T[i, i + 1 :]
    return T[:, k:]


class ModeMotion(NamedTuple):
    """Accelerations a (n,) and forces lambda_n (r,), lambda_t (r, d) of a mode."""

    a: Balls
    lambda_n: Balls
    lambda_t: Balls


def accelerations(x: BallDynamics, modes: Modes, e: Balls) -> ModeMotion:
    """Accelerations and forces of a mode (`events.modes`); e (r, d) are the directions of slipping contacts."""
    r, d, n = x.J_t.shape
    on = [i for i, mode in enumerate(modes) if mode != Mode.OPEN]
    stuck = [i for i in on if modes[i] == Mode.STICK]
    A = np.concatenate([x.J_n[on], x.J_t[stuck].reshape(-1, n)])
    c = np.concatenate([x.c_n[on], x.c_t[stuck].ravel()])
    F = A.T.copy()
    for column, i in enumerate(on):
        if modes[i] == Mode.SLIP:
            F[:, column] = F[:, column] - x.mu[i] * (e[i] @ x.J_t[i])
    # One system for accelerations and forces: eliminating M^-1 first would satisfy exact constraints only to a ball.
    system = np.block([[x.M, -F], [A, np.full((len(A), len(A)), ZERO)]])
    answer = solve_in_balls(system, np.concatenate([x.f, -c])[:, None])[:, 0]
    lam, lambda_n, lambda_t = answer[n:], np.full(r, ZERO), np.full((r, d), ZERO)
    lambda_n[on] = lam[: len(on)]
    lambda_t[stuck] = lam[len(on) :].reshape(-1, d)
    for i in set(on) - set(stuck):
        lambda_t[i] = -x.mu[i] * lambda_n[i] * e[i]
    return ModeMotion(answer[:n], lambda_n, lambda_t)


def prove_unique_slip(x: BallDynamics, on: list[int], e: Balls) -> None:
    """Prove that W_s of the contacts `on`, all sliding along e (r, d), is a P-matrix, so that their forces are
    unique (Cottle, Pang & Stone 1992, theorem 3.3.7)."""
    F = np.array([x.J_n[i] - x.mu[i] * (e[i] @ x.J_t[i]) for i in on]).T
    W_s = x.J_n[on] @ solve_in_balls(x.M, F)
    for subset in range(1, 2 ** len(on)):
        kept = [k for k in range(len(on)) if subset >> k & 1]
        if not _determinant(W_s[np.ix_(kept, kept)]) > 0:
            raise UndecidedError("W_s is not a P-matrix (Painlevé)")


def _determinant(A: Balls) -> Ball:
    if not len(A):
        return Ball(1)
    rest = np.arange(1, len(A))
    minors = [_determinant(A[np.ix_(rest, np.delete(np.arange(len(A)), j))]) for j in range(len(A))]
    return sum(((-1) ** j * A[0, j] * minor for j, minor in enumerate(minors)), ZERO)


class ContactAnswer(NamedTuple):
    """The unique solution of a contact problem: mode, sliding direction e (d,), force or impulse lam (1 + d,)."""

    mode: Mode
    e: Balls
    lam: Balls


class SingleContact(NamedTuple):
    """The problem of one closed contact at rest with all others open, or of its impact; unknowns [lambda_n, lambda_t]:

    K contains lambda  perp  (a_n + mu |a_t|, a_t) in K*,     a = W lambda + w
    """

    W: Balls
    w: Balls
    mu: Ball

    @property
    def d(self) -> int:
        return len(self.w) - 1

    def slip(self, e: Balls) -> tuple[Ball, Balls]:
        """lambda_n and a_t (d,) of slip along e (d,). Raises UndecidedError unless W_s > 0 is proved."""
        W_s = self.W[0, 0] - self.mu * (self.W[0, 1:] @ e)
        if not W_s > 0:
            raise UndecidedError("W_s is negative (Painlevé)")
        lambda_n = -self.w[0] / W_s
        return lambda_n, self.w[1:] + (self.W[1:, 0] - self.mu * (self.W[1:, 1:] @ e)) * lambda_n

    def stick(self) -> tuple[Balls, list[Ball]]:
        """lambda (1 + d,) of stick, and the quantities that are positive iff it lies within the cone."""
        lam = solve_in_balls(self.W, -self.w[:, None])[:, 0]
        bound, t = self.mu * lam[0], lam[1:]
        if self.d == 1:
            return lam, [lam[0], bound - t[0], bound + t[0]]
        return lam, [lam[0], bound**2 - t @ t]

    def answer(self) -> ContactAnswer:
        """Return the solution, proved to be unique.

        Open and all directions of slip are examined one by one; sticking is a linear system, W positive definite.
        """
        directions = self._directions()
        # With W_s > 0 in every direction, w_n > 0 implies an open contact.
        if self.w[0] > 0:
            return ContactAnswer(Mode.OPEN, np.full(self.d, ZERO), np.full(1 + self.d, ZERO))
        lam, within = self.stick()
        if not directions:
            if not all(x > 0 for x in within):
                raise UndecidedError("neither stick nor slip is found")
            return ContactAnswer(Mode.STICK, np.full(self.d, ZERO), lam)
        if all(x > 0 for x in within):
            raise UndecidedError("stick and slip are both possible (Painlevé)")
        (e,) = directions
        lambda_n, _ = self.slip(e)
        return ContactAnswer(Mode.SLIP, e, np.array([lambda_n, *(-self.mu * lambda_n * e)]))

    def prove_stick(self) -> None:
        """Prove over a box that sticking, while it lies within the cone, is the only mode."""
        if self.d == 1:
            # With friction at its limit, a_n increases with lambda_n: its slopes are W_s of both directions and a Schur
            # complement of W. Hence it vanishes for at most one lambda_n.
            for side in (1, -1):
                self.slip(np.array([Ball(side)]))
        elif self.w[0] >= 0 or self._directions():
            raise UndecidedError("another mode than stick is possible")

    def slows(self) -> tuple[Ball, Ball, Balls]:
        """Positive bounds of the deceleration -e . a_t over all directions e, and the forces (1 + d,) over all e."""
        found = []
        for e in _arcs():
            lambda_n, a_t = self.slip(e)
            if not lambda_n > 0:
                raise UndecidedError("a contact opens as its slip ends")
            found.append((-(e @ a_t), np.array([lambda_n, *(-self.mu * lambda_n * e)])))
        rates = hull([np.array([A]) for A, _ in found])[0].coefficient(0)
        if not rates > 0:
            raise UndecidedError("friction does not stop slip from every direction")
        return Ball(rates.lower()), Ball(rates.upper()), hull([lam for _, lam in found])

    def _directions(self) -> list[Balls]:
        """Return the possible directions (d,) of slip, with all others excluded; at most one in space."""
        if self.d == 1:
            sides = [np.array([Ball(side)]) for side in (1, -1)]
            return [e for e in sides if (self.slip(e)[1] @ e) > 0 and self.slip(e)[0] > 0]
        left = []
        for k, e in enumerate(_arcs()):
            _, a_t = self.slip(e)
            across: Ball = e[0] * a_t[1] - e[1] * a_t[0]
            along: Any = e @ a_t
            if across.coefficient(0).contains(0) and not along.coefficient(0) < 0:
                left.append(k)
        if not left:
            return []
        # Neighbouring arcs; those on both sides of the first direction are counted from there.
        if left[-1] - left[0] > ARCS // 2:
            left = sorted(k - ARCS if k > ARCS // 2 else k for k in left)
        if left[-1] - left[0] >= min(len(left), ARCS // 4):
            raise UndecidedError("several directions of slip are possible")
        return [self._direction(enclosing_ball(_angle(left[0]).lower(), _angle(left[-1]).upper()))]

    def _direction(self, angles: arb) -> Balls:
        """The unique direction of slip within an arc, by Newton's method on the acceleration across it."""

        def across(angle: arb) -> Ball:
            e = unit(Ball(arb_series([angle, 1], 2)))
            _, a_t = self.slip(e)
            return e[0] * a_t[1] - e[1] * a_t[0]

        ends = [across(angle).coefficient(0) for angle in (angles.lower(), angles.upper())]
        if not (ends[0] * ends[1] < 0) or across(angles).coefficient(1).contains(0):
            raise UndecidedError("the direction of slip is not isolated")
        e = unit(Ball(newton(lambda s: across(s).coefficient(0), lambda s: across(s).coefficient(1), angles)))
        if not e @ self.slip(e)[1] > 0:
            raise UndecidedError("slip is possible in no direction")
        return e


def contact(x: BallDynamics, i: int, w: Balls | None = None) -> SingleContact:
    """The problem of contact i alone, with constants w (1 + d,), by default those of its accelerations."""
    J = np.concatenate([x.J_n[i : i + 1], x.J_t[i]])
    X = solve_in_balls(x.M, np.column_stack([x.f, J.T]))
    if w is None:
        w = J @ X[:, 0] + np.array([x.c_n[i], *x.c_t[i]])
    return SingleContact(constant(J @ X[:, 1:]), constant(w), x.mu[i])


def constant(X: Balls) -> Balls:
    """Constant terms of series, as constants."""
    return each(lambda x: Ball(x.coefficient(0)), X)


def unit(angle: Ball) -> Balls:
    """The unit vector (2,) of an angle [rad]."""
    return np.array([angle.cos(), angle.sin()])


def _angle(k: int) -> arb:
    """Arc k of directions [rad]."""
    return enclosing_ball(arb(2 * k), arb(2 * k + 2)) * arb.pi() / ARCS


def _arcs() -> list[Balls]:
    return [unit(Ball(_angle(k))) for k in range(ARCS)]


def hull(rows: Sequence[Balls]) -> Balls:
    """The smallest balls, entry by entry, that contain those of all rows."""
    found = []
    for column in zip(*rows, strict=True):
        ball = column[0].coefficient(0)
        for x in column[1:]:
            ball = ball.union(x.coefficient(0))
        found.append(Ball(ball))
    return np.array(found)


class WatchedQuantity(NamedTuple):
    """A quantity watched during a mode, its contact (-1: none), and the order to which it vanishes at the start."""

    what: str
    contact: int
    vanishes: int = 0


class ModeFlow:
    """The motion of a mode, y = (q, v, t), in time; implements `taylor.Flow`.

    `turning` is a contact that slides in space: y then ends with L = ln u and its angle al, and the motion evolves in
    tau with dt = u dtau (`events.motions.Turning`). `fresh` has the orders to which values vanish at the start.
    """

    def __init__(
        self, mechanics: BallMechanics, modes: Modes, e: Balls, duration: float, fresh: dict[tuple[str, int], int],
        turning: int | None = None,
    ) -> None:  # fmt: skip
        self.mechanics, self.modes, self.e, self.duration, self.turning = mechanics, modes, e, duration, turning
        self.on = [i for i, mode in enumerate(modes) if mode != Mode.OPEN]
        watched = [(what, i) for i, mode in enumerate(modes) for what in self._guards(mode, i)]
        self.watched = [WatchedQuantity(what, i, fresh.get((what, i), 0)) for what, i in [*watched, (OVER, -1)]]

    def _guards(self, mode: Mode, i: int) -> list[str]:
        d = self.mechanics.case.size[3]
        if mode == Mode.OPEN:
            return [TOUCH]
        if mode == Mode.STICK:
            return [LIFT, BREAK, BREAK] if d == 1 else [LIFT, BREAK]
        return [LIFT, HALT] if d == 1 and not self.e[i][0].is_zero else [LIFT]

    def split(self, y: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Any, Sequence[Any]]:
        """Split y into q, v, t, and (L, al) or nothing."""
        end = len(y) - (3 if self.turning is not None else 1)
        n_q = end - self.mechanics.case.size[0]
        return y[:n_q], y[n_q:end], y[end], y[end + 1 :]

    def _at(self, y: Sequence[Ball]) -> tuple[BallDynamics, Balls, ModeMotion]:
        q, v, _, turn = self.split(y)
        if self.turning is None:
            x, e = self.mechanics.at(q, v), self.e
        else:
            x, e = self.mechanics.at(q, v, turn[0].exp()), self.e.copy()
            e[self.turning] = unit(turn[1])
        return x, e, accelerations(x, self.modes, e)

    def slope(self, y: Sequence[Ball]) -> list[Ball]:
        x, e, motion = self._at(y)
        slope = [*x.rate, *motion.a, Ball(1)]
        if self.turning is None:
            return slope
        i, u = self.turning, self.split(y)[3][0].exp()
        s = x.J_t[i] @ motion.a + x.c_t[i]
        return [*(u * z for z in slope), e[i] @ s, e[i, 0] * s[1] - e[i, 1] * s[0]]

    def values(self, y: Sequence[Ball]) -> list[Ball]:
        x, _, motion = self._at(y)
        found = []
        for i, mode in enumerate(self.modes):
            bound, t = x.mu[i] * motion.lambda_n[i], motion.lambda_t[i]
            given = {
                TOUCH: [x.phi[i]],
                LIFT: [motion.lambda_n[i]],
                HALT: [self.e[i] @ x.u_t[i]],
                BREAK: [bound - t[0], bound + t[0]] if len(t) == 1 else [bound**2 - t @ t],
            }
            found += [value for what in dict.fromkeys(self._guards(mode, i)) for value in given[what]]
        return [*found, self.duration - self.split(y)[2]]

    def prove(self, box: Sequence[Ball]) -> None:
        x, e, _ = self._at(box)
        if len(self.on) == 1 and self.modes[self.on[0]] == Mode.STICK:
            contact(x, self.on[0]).prove_stick()
        elif self.on:
            prove_unique_slip(x, self.on, e)
