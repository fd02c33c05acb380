"""Proved motions: state and event times under exact Coulomb friction, enclosed in ball arithmetic.

Between events the motion is a validated Taylor series (`taylor`) of the case's own mechanics (`balls`). At an event
the next mode is proved to be unique (`ball_modes`). The enclosure ends where a proof fails, with a one-line reason.
Proofs hold among motions that are analytic between events, for the case's doubles as exact parameters and start.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from workbench.events.ball_modes import ModeFlow, WatchedQuantity, contact, solve_in_balls, unit
from workbench.events.balls import ZERO, Ball, BallDynamics, BallMechanics, Balls, UndecidedError, double
from workbench.events.modes import Mode
from workbench.events.phase import HALT, LIFT, OVER, TOUCH
from workbench.events.simulation import EventRun, duration_of
from workbench.events.taylor import TaylorStep, constants, enclosing_ball, first_root, horner, newton, step, to_doubles
from workbench.mechanics.case import Array, Case
from workbench.step.sliding.state import CLOSED
from workbench.support.errors import DataError

PRECISION = 384
"""Precision of midpoints [bits]."""
MOST_STEPS = 400
SLOWEST = 1e-14
"""Sliding speed [m/s] in space below which the end of slip is enclosed at once."""
CLAIMED = 1e-11
"""Error bound [s, m, rad, m/s, rad/s] claimed for the motions of `simulate_events`: docs/explanation/events.md."""
MOMENTS = 8
"""Number of times at which states are compared, besides the end."""


class EnclosedEvent(NamedTuple):
    """An event of a contact at a time t [s], a ball."""

    contact: int
    what: str
    t: arb

    @property
    def t_mid(self) -> float:
        """The double nearest to the midpoint."""
        return float(self.t.mid())

    @property
    def radius(self) -> float:
        """The ball's radius, rounded up."""
        return float(np.nextafter(float(self.t.rad()), np.inf))

    @property
    def t_low(self) -> float:
        """A double before the ball; `t_high` is one after it."""
        return float(np.nextafter(float(self.t.lower()), -np.inf))

    @property
    def t_high(self) -> float:
        return float(np.nextafter(float(self.t.upper()), np.inf))


class EnclosedState(NamedTuple):
    """Time t [s], coordinates q (n_q,) and velocities v (n,), each in balls (`flint.arb`)."""

    t: arb
    q: list[arb]
    v: list[arb]

    @property
    def mid(self) -> tuple[Array, Array]:
        """Midpoints of q and v as doubles."""
        return to_doubles(self.q)[0], to_doubles(self.v)[0]

    @property
    def radius(self) -> float:
        """The largest radius of coordinates and velocities."""
        return max(float(x.rad()) for x in (*self.q, *self.v))


class Distances(NamedTuple):
    """Largest distances of a simulated motion from the balls: event times [s], coordinates, velocities; inf where
    the events differ."""

    t: float
    q: float
    v: float

    @property
    def largest(self) -> float:
        return max(self)


@dataclass(eq=False)
class EnclosedMotion:
    """A proved motion of a case: events, steps, and why it ends before `duration` [s] ("" if it does not)."""

    case: Case
    duration: float
    events: list[EnclosedEvent] = field(default_factory=list)
    reason: str = ""
    end: EnclosedState | None = None
    steps: list[tuple[ModeFlow, TaylorStep, arb]] = field(default_factory=list)
    """The steps, each with its flow and the s at which it ends."""

    def state(self, t: float) -> EnclosedState:
        """The state at a time t [s]. Raises DataError outside the steps, and within the balls of events."""
        with ctx.workprec(PRECISION):
            for flow, taken, end in self.steps:
                first, last = (flow.split(taken.at(s))[2] for s in (arb(0), end))
                if first <= t <= last:
                    return _state(flow, taken.at(_moment(flow, taken, t)))
            if self.end is not None and self.end.t.contains(t):
                return self.end
        raise DataError(f"t = {t:g} s is not within the steps of the enclosure")

    def differences(self, run: EventRun) -> Distances:
        """Distances of a simulated motion of the same duration from this one, up to the end of this one."""
        if self.end is None or not self.steps:
            return Distances(np.inf, np.inf, np.inf)
        until = min(float(self.end.t.lower()), run.end.t)
        # An event that ends the enclosure is not part of it.
        simulated = [x for x in run.events if not self.reason or x.t < until - CLAIMED]
        if [(x.contact, x.what) for x in simulated] != [(x.contact, x.what) for x in self.events]:
            return Distances(np.inf, np.inf, np.inf)
        times = [_distance(e.t, x.t) for e, x in zip(self.events, simulated, strict=True)]
        off_q = off_v = 0.0
        for t in np.linspace(0.0, until, MOMENTS + 1)[:-1]:
            mine, theirs = self.state(float(t)), run.state(float(t))
            off_q = max(off_q, *map(_distance, mine.q, theirs.q))
            off_v = max(off_v, *map(_distance, mine.v, theirs.v))
        if not self.reason:
            off_q = max(off_q, *map(_distance, self.end.q, run.end.q))
            off_v = max(off_v, *map(_distance, self.end.v, run.end.v))
        return Distances(max(times, default=0.0), off_q, off_v)

    def contains(self, run: EventRun, error: float = CLAIMED) -> bool:
        """Return whether a simulated motion lies within the balls widened by its error [s, m, rad, m/s, rad/s]."""
        return self.differences(run).largest <= error


def _distance(ball: arb, x: float) -> float:
    """Distance of a double from the nearest point of a ball, rounded up."""
    return max(0.0, float(((ball - arb(float(x))).abs_lower()).upper()))


def _state(flow: ModeFlow, y: list[arb]) -> EnclosedState:
    q, v, t, _ = flow.split(y)
    return EnclosedState(t, list(q), list(v))


def _moment(flow: ModeFlow, taken: TaylorStep, t: float) -> arb:
    """The s of a step at which the time is t."""
    clock = flow.split(taken.y)[2]
    slope = [k * c for k, c in enumerate(clock)][1:]
    return newton(lambda s: horner(clock, s) - t, lambda s: horner(slope, s), enclosing_ball(arb(0), arb(taken.h)))


def enclose(case: Case, duration: float | None = None) -> EnclosedMotion:
    """Enclose the motion of a case under exact Coulomb friction, with rigid contacts, from its start.

    Parameters and start are the case's doubles as exact numbers; a contact that is closed at the start to within
    `sliding.state.CLOSED` keeps its gap. The default `duration` [s] is the case's own. Where a proof fails the motion
    ends, with its `reason`. Raises DataError as `simulate_events`.
    """
    duration = duration_of(case, duration)
    case.must_fit()
    found, cap = EnclosedMotion(case, duration), ctx.cap
    try:
        with ctx.workprec(PRECISION):
            _Driver(found, BallMechanics(case)).go()
    except UndecidedError as error:
        at = f"at {float(found.end.t.mid()):.12g} s " if found.end is not None else ""
        found.reason = f"{at}not proved: {error}"
    finally:
        ctx.cap = cap
    return found


def _at(mechanics: BallMechanics, y: list[arb]) -> BallDynamics:
    """The mechanics at y = (q, v, t)."""
    x = constants(y)
    n = mechanics.case.size[0]
    return mechanics.at(x[: -n - 1], x[-n - 1 : -1])


@dataclass(eq=False)
class _Driver:
    found: EnclosedMotion
    mechanics: BallMechanics

    def go(self) -> None:
        q, v = self.found.case.start()
        y = [*double(q), *double(v), arb(0)]
        flow: ModeFlow | None
        flow, y = self._begin(y)
        while flow is not None:
            y, end = self._follow(flow, y)
            flow, y = self._react(flow, y, end)

    def _begin(self, y: list[arb]) -> tuple[ModeFlow, list[arb]]:
        x = _at(self.mechanics, y)
        r, d = x.u_t.shape
        if any(s > k for s, k in zip(x.mu_s, x.mu, strict=True)):
            raise UndecidedError("static friction is not enclosed")
        on = [i for i in range(r) if float(x.phi[i].coefficient(0).mid()) <= CLOSED]
        if not all(x.u_n[i].coefficient(0).is_zero() for i in on):
            raise UndecidedError("a closed contact moves along its normal at the start")
        if len(on) == 1:
            (i,) = on
            resting = all(u.coefficient(0).is_zero() for u in x.u_t[i])
            return self._closed(y, i, None if resting else x.u_t[i])
        modes, e = [Mode.OPEN] * r, np.full((r, d), ZERO)
        for i in on:
            if d == 2 and not x.mu[i].is_zero:
                raise UndecidedError("several contacts with friction in space")
            modes[i] = Mode.SLIP
            e[i] = ZERO if x.mu[i].is_zero else Ball(1 if x.u_t[i, 0] > 0 else -1)
        return self._flow(y, modes, e, {})

    def _flow(
        self, y: list[arb], modes: list[Mode], e: Balls, fresh: dict[tuple[str, int], int]
    ) -> tuple[ModeFlow, list[arb]]:
        """The flow of a mode in time, and its start."""
        return ModeFlow(self.mechanics, tuple(modes), e, self.found.duration, fresh), y

    def _closed(self, y: list[arb], i: int, u_t: Balls | None) -> tuple[ModeFlow, list[arb]]:
        """The flow after an instant at which contact i alone is closed; u_t (d,) is its sliding velocity or None."""
        x = _at(self.mechanics, y)
        r, d = x.u_t.shape
        modes, e = [Mode.OPEN] * r, np.full((r, d), ZERO)
        if u_t is None and not x.mu[i].is_zero:
            modes[i], e[i], _ = contact(x, i).answer()
            if modes[i] == Mode.SLIP and d == 2:
                raise UndecidedError("slip in space that begins from rest is not enclosed")
            return self._flow(y, modes, e, {(TOUCH, i): 2, (HALT, i): 1})
        turning = []
        if u_t is not None and not x.mu[i].is_zero:
            if d == 1:
                e[i] = Ball(1 if u_t[0] > 0 else -1)
            else:
                logarithm, angle = _polar(u_t)
                e[i], turning = unit(Ball(angle)), [logarithm, angle]
        problem = contact(x, i)
        problem.slip(e[i])
        if problem.w[0] > 0:
            return self._flow(y, modes, e, {(TOUCH, i): 2})
        modes[i] = Mode.SLIP
        slips = ModeFlow(self.mechanics, tuple(modes), e, self.found.duration, {}, i if turning else None)
        return slips, [*y, *turning]

    def _follow(self, flow: ModeFlow, y: list[arb]) -> tuple[list[arb], WatchedQuantity]:
        """Follow a flow to its end; return the end state and the quantity that ends it."""
        self.found.end = _state(flow, y)
        for k in range(MOST_STEPS):
            taken, end, s = _first_event(flow, step(flow, y), first=k == 0)
            self.found.steps.append((flow, taken, s))
            y = taken.at(s)
            self.found.end = _state(flow, y)
            if end is not None:
                return y, end
            if flow.turning is not None and flow.split(y)[3][0] < float(np.log(SLOWEST)):
                return y, WatchedQuantity(HALT, flow.turning)
        raise UndecidedError(f"{MOST_STEPS} steps and no event")

    def _note(self, i: int, what: str, t: arb) -> None:
        self.found.events.append(EnclosedEvent(i, what, t))

    def _react(self, flow: ModeFlow, y: list[arb], end: WatchedQuantity) -> tuple[ModeFlow | None, list[arb]]:
        """The flow after the event that ends one."""
        if end.what == OVER:
            return None, y
        if flow.turning is not None:
            (*y,) = self._halted(flow, y) if end.what == HALT else y[:-2]
        i, modes, e, t = end.contact, list(flow.modes), flow.e.copy(), y[-1]
        if end.what == TOUCH:
            return self._collide(flow, y, i)
        if end.what == LIFT:
            if not _at(self.mechanics, y).phi[i].coefficient(0).contains(0):
                raise UndecidedError("a contact lifts off whose gap is not exactly zero at the start")
            self._note(i, "lifts off", t)
            modes[i], e[i] = Mode.OPEN, ZERO
            # The normal acceleration is continuous, hence zero.
            return self._flow(y, modes, e, {(TOUCH, i): 3})
        if len(flow.on) > 1:
            raise UndecidedError("a contact stops sliding while others are closed: not enclosed")
        if end.what == HALT:
            found, y = self._closed(y, i, None)
            words = {Mode.STICK: "sticks", Mode.SLIP: "reverses", Mode.OPEN: "lifts off"}
            self._note(i, words[found.modes[i]], t)
            self.found.end = _state(found, y)
            return found, y
        if len(e[i]) == 2:
            raise UndecidedError("slip in space that begins from rest is not enclosed")
        lambda_t = contact(_at(self.mechanics, y), i).stick()[0][1]
        modes[i], e[i] = Mode.SLIP, Ball(-1 if lambda_t > 0 else 1)
        self._note(i, "slips", t)
        # The tangential acceleration is continuous, hence zero.
        return self._flow(y, modes, e, {(HALT, i): 2})

    def _collide(self, flow: ModeFlow, y: list[arb], i: int) -> tuple[ModeFlow, list[arb]]:
        """The flow after the impact of contact i, with all others open."""
        if flow.on:
            raise UndecidedError("a contact collides while others are closed: not enclosed")
        x, n = _at(self.mechanics, y), self.mechanics.case.size[0]
        impulse = contact(x, i, np.array([x.u_n[i] * (1 + x.e[i]), *x.u_t[i]])).answer()
        J = np.concatenate([x.J_n[i : i + 1], x.J_t[i]])
        change = solve_in_balls(x.M, (J.T @ impulse.lam)[:, None])[:, 0]
        before = y[-n - 1 : -1]
        y = [*y[: -n - 1], *(a + b.coefficient(0) for a, b in zip(before, change, strict=True)), y[-1]]
        self._note(i, "touches down", y[-1])
        if not x.e[i].is_zero:
            return self._flow(y, [Mode.OPEN] * len(x.mu), np.full(x.u_t.shape, ZERO), {(TOUCH, i): 1})
        after = None if impulse.mode == Mode.STICK else _at(self.mechanics, y).u_t[i]
        return self._closed(y, i, after)

    def _halted(self, flow: ModeFlow, y: list[arb]) -> list[arb]:
        """End of slip in space: (q, v, t).

        Over a box that the motion does not leave before, whatever its direction, friction decelerates it by some A in
        [low, high] > 0. So it stops after u/A, in some direction.
        """
        i, mechanics = flow.turning, self.mechanics
        assert i is not None
        q, v, t, (logarithm, _) = flow.split(y)
        start, u = [*q, *v], logarithm.exp()
        box, span = [*start], arb(0)
        for _ in range(MOST_STEPS):
            x = _at(mechanics, [*box, t])
            low, high, lam = contact(x, i).slows()
            J = np.concatenate([x.J_n[i : i + 1], x.J_t[i]])
            a = solve_in_balls(x.M, (x.f + J.T @ lam)[:, None])[:, 0]
            slope = [f.coefficient(0) for f in (*x.rate, *a)]
            rest = enclosing_ball((u / high.value).lower(), (u / low.value).upper())
            image = [z + span * f for z, f in zip(start, slope, strict=True)]
            if rest <= span.upper() and all(b.contains_interior(z) for b, z in zip(box, image, strict=True)):
                break
            span = enclosing_ball(arb(0), 2 * rest.upper())
            box = [_widened(enclosing_ball(b, z + span * f)) for b, z, f in zip(box, start, slope, strict=True)]
        else:
            raise UndecidedError("no box is found that contains the end of slip")
        if not all(gap > 0 for j, gap in enumerate(x.phi) if j != i) or not t + rest < self.found.duration:
            raise UndecidedError("another event may coincide with the end of slip")
        return [*(z + rest * f for z, f in zip(start, slope, strict=True)), t + rest]


def _polar(u: Balls) -> tuple[arb, arb]:
    """ln |u| and the angle [rad] of a nonzero plane vector; the angle is counted from a double near it."""
    x, y = (z.coefficient(0) for z in u)
    near = arb(float(np.arctan2(float(y.mid()), float(x.mid()))))
    c, s = near.cos(), near.sin()
    return (x * x + y * y).log() / 2, ((c * y - s * x) / (c * x + s * y)).atan() + near


def _first_event(flow: ModeFlow, taken: TaylorStep, first: bool) -> tuple[TaylorStep, WatchedQuantity | None, arb]:
    """A step, shortened until all signs along it are proved; the event within it, if any, and its s, or the end."""
    while True:
        try:
            roots = [
                (first_root(c, arb(taken.h), w.vanishes if first else 0), w)
                for c, w in zip(taken.values, flow.watched, strict=True)
            ]
            break
        except UndecidedError:
            if taken.h < 1e-10:
                raise
            taken = taken._replace(h=0.6 * taken.h)
    met = [(s, w) for s, w in roots if s is not None]
    if not met:
        return taken, None, arb(taken.h)
    s, event = min(met, key=lambda root: float(root[0].mid()))
    if not all(s < other for other, w in met if w is not event):
        raise UndecidedError("events are not proved to be apart")
    return taken, event, s


def _widened(x: arb) -> arb:
    """A ball around x with 1.5 times its radius, never zero."""
    return x + arb(0, 0.5) * x.rad() + arb(0, 1e-60)
