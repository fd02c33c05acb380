"""One smooth phase: integrated step by step, projected after each, until a guard changes sign; roots to round-off.

Guards are functions of the state that are positive during the mode. A guard that starts at zero, such as the gap
of a contact that has just opened, is active once it has been clearly positive. Roots are found by integrating a step
again from the last accepted state with varying length; single states are found in the same way. Many states at once
come from the steps' interpolants, of order seven, where the integrator keeps them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from workbench.engine.lazy import integrate, optimize
from workbench.events.modes import EventError, Mode, sliding_matrix
from workbench.events.motions import Along, Force, MotionState, SmoothMotion, Turning
from workbench.events.redundant import bears
from workbench.matrices.p_property.verdict import smallest_minor
from workbench.mechanics.case import Array
from workbench.support.errors import DataError

ARMED = 1e-10
"""Fraction of a guard's scale that it must exceed before its sign counts."""
STOPPED = float(np.log(1e-12))
"""ln of the sliding speed [m/s] at which the end of slip in space is extrapolated."""
SLOWER = float(np.log(4.0))
"""ln of the speed ratio at which the phase switches to the time of a slower contact."""
SLOW = float(np.log(1e-2))
"""ln of the sliding speed [m/s] above which a state between two steps is found in time, not in tau."""
MOST_ANEW = 200
"""Limit of steps when a step is integrated again, over one step or a small multiple of it."""
MOST_SECANTS = 120
NUDGE = float(np.sqrt(np.finfo(float).eps))
"""Increment of a state, relative or absolute, of the finite-difference Jacobian of an implicit integrator."""


class Integrator(NamedTuple):
    """An integrator of SciPy, by name, its tolerances, whether the interpolant of every step is kept, and the largest
    number of steps in a phase."""

    name: str = "DOP853"
    rtol: float = 3e-14
    atol: float = 1e-15
    dense: bool = False
    steps: int = 20_000

    def solver(self, motion: SmoothMotion, s: float, y: Array, end: float, whole: bool = False) -> Any:
        """The stepper of a motion from (s, y) to `end`; with `whole` it first tries the whole interval."""
        first, kind = 0.999 * (end - s) if whole else None, getattr(integrate, self.name)
        # SciPy's own Jacobian uses increments of the size of atol, where differences are only round-off.
        implicit = {"jac": lambda s, y: jacobian(lambda x: motion.slope(s, x), y, NUDGE * np.maximum(1.0, np.abs(y)))}
        given = implicit if issubclass(kind, integrate.Radau | integrate.BDF) else {}
        atol = np.full(y.size, self.atol)
        if not motion.force(s, y).rates.unique:
            # The load distribution of redundant contacts is not unique, and rounding changes it by more than rtol.
            atol[motion.impulses] = np.inf
        return kind(motion.slope, s, y, end, rtol=self.rtol, atol=atol, first_step=first, **given)


def jacobian(g: Callable[[Array], Array], x: Array, nudges: Array) -> Array:
    """dg/dx (m, n) at x (n,) by forward differences with increments `nudges` (n,)."""
    now = g(x)
    return np.column_stack([(g(x + step) - now) / size for step, size in zip(np.diag(nudges), nudges, strict=True)])


class Guard(NamedTuple):
    """A guard's name, its contact, its value and the scale of the value."""

    what: str
    contact: int
    value: float
    scale: float


LIFT, BREAK, HALT, TOUCH, PAINLEVE, SHARE = "lift", "break", "halt", "touch", "painleve", "share"
"""Guards: the normal force, the cone of a sticking contact, the sliding velocity in the plane, the gap of an open
contact, the least principal minor of W_s; for redundant contacts, 1 while some forces can balance the motion, else
-1."""
OVER, RECLOCK = "over", "reclock"
"""Ends of a phase without a guard: the time is over; another contact slides slower."""


@dataclass(eq=False)
class Phase:
    """A motion from its start to its end: accepted s and y, the guards that ended it, and its cost.

    `between` are the interpolants of the steps, from each of s to the next, where they are kept; `ends` are the guards
    that vanish at the end, the first one the earliest, empty where it is over or interrupted.
    `trouble` is why it cannot be followed any further, if it cannot. `lost_p` says that W_s is no P-matrix from the
    beginning, of a motion that was chosen among several.
    """

    motion: SmoothMotion
    method: Integrator
    s: list[float]
    y: list[Array]
    between: list[Any] = field(default_factory=list)
    ends: list[tuple[str, int]] = field(default_factory=list)
    end: str = ""
    trouble: str = ""
    lost_p: bool = False
    correction: float = 0.0

    @property
    def last(self) -> MotionState:
        return self.motion.state(self.s[-1], self.y[-1])

    def after(self, k: int, length: float) -> Array:
        """y at a distance `length` after the accepted step k, integrated again and projected."""
        return self._from(self.motion, self.s[k], self.y[k], length)

    def _from(self, motion: SmoothMotion, s: float, y: Array, length: float) -> Array:
        if s + length == s:
            return y
        solver = self.method.solver(motion, s, y, s + length, whole=True)
        for _ in range(MOST_ANEW):
            _step(solver)
            if solver.status != "running":
                return motion.projected(solver.t, solver.y)[0]
        raise EventError(f"{MOST_ANEW} steps are not enough to integrate over {length:.1e} s: the motion is too rough")

    def at(self, t: float) -> MotionState:
        """The state at t [s] within the phase, integrated again from the accepted step before."""
        motion, times = self.motion, self.times
        k = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
        if times[k] == t or k == len(times) - 1:
            return motion.state(self.s[k], self.y[k])
        if not isinstance(motion, Turning):
            return motion.state(t, self.after(k, t - times[k]))
        if min(motion.logarithms(y).min() for y in self.y[k : k + 2]) > SLOW:
            timed, start = Along(motion.mechanics, motion.modes, motion.e, motion.which), motion.state(0.0, self.y[k])
            return timed.state(t, self._from(timed, start.t, timed.packed(start), t - start.t))
        length = _root(lambda h: motion.state(0.0, self.after(k, h)).t - t, self.s[k + 1] - self.s[k])
        return motion.state(0.0, self.after(k, length))

    def go_on(self, solver: Any) -> None:
        """Take one step of an integrator that is at the last accepted state, and project it."""
        _step(solver)
        if self.method.dense:
            self.between.append(solver.dense_output())
        y, correction = self.motion.projected(solver.t, solver.y)
        solver.y, solver.f = y, self.motion.slope(solver.t, y)
        self.s.append(solver.t)
        self.y.append(y)
        self.correction = max(self.correction, correction)

    @property
    def times(self) -> list[float]:
        """The time t [s] of every accepted step."""
        return [self.motion.state(s, y).t for s, y in zip(self.s, self.y, strict=True)]

    def at_many(self, t: Array) -> Array:
        """q, v, w, p side by side (k, .) at times t (k,) [s] within the phase, by the interpolants."""
        step = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, max(len(self.s) - 2, 0))
        found = np.empty((len(t), self.motion.width))
        for k in np.unique(step):
            here, between = step == k, self.between[k]
            turning = isinstance(self.motion, Turning)
            s = _when(between, self.s[k], self.s[k + 1], t[here]) if turning else t[here]
            found[here] = between(s)[: self.motion.width].T
        return found


def _when(between: Any, start: float, end: float, t: Array) -> Array:
    """Return where an interpolant's last component, which rises from `start` to `end`, equals t (k,).

    Secants within brackets that shrink to round-off."""
    low, high = np.full(t.shape, start), np.full(t.shape, end)
    early, late = (between(x)[-1] - t for x in (low, high))
    amid = low
    for k in range(MOST_SECANTS):
        slope = np.where(late > early, late - early, 1.0)
        amid = np.where((k % 3 < 2) & (late > early), low - early * (high - low) / slope, 0.5 * (low + high))
        off = between(amid)[-1] - t
        if (np.abs(off) <= 4 * np.finfo(float).eps * np.abs(t)).all():
            break
        low, early = np.where(off < 0, amid, low), np.where(off < 0, off, early)
        high, late = np.where(off < 0, high, amid), np.where(off < 0, late, off)
    return amid


def _step(solver: Any) -> None:
    message = solver.step()
    if solver.status == "failed":
        raise EventError(f"the integrator stops: {message}")


def _root(g: Callable[[float], float], length: float) -> float:
    """The root of g on [0, length] to round-off; an end point if g has one sign."""
    if g(0.0) * g(length) >= 0:
        return 0.0 if abs(g(0.0)) < abs(g(length)) else length
    return float(optimize.brentq(g, 0.0, length, xtol=4e-16 * max(length, 1e-3), rtol=4 * np.finfo(float).eps))


def guards(phase: Phase, f: Force, sticks: Array) -> list[Guard]:
    """All guards of a phase's mode at one of its states."""
    motion, x, found = phase.motion, f.x, []
    force = float(np.abs(f.rates.lambda_n).max(initial=0.0)) or 1.0
    speed = max(1.0, float(np.abs(x.u_t).max(initial=0.0)))
    d = x.u_t.shape[1]
    for i, mode in enumerate(motion.modes):
        lam = float(f.rates.lambda_n[i])
        if mode == Mode.OPEN:
            found.append(Guard(TOUCH, i, float(x.phi[i]), 1.0))
            continue
        if f.rates.unique:
            found.append(Guard(LIFT, i, lam, force))
        if mode == Mode.STICK and f.rates.unique:
            found.append(Guard(BREAK, i, sticks[i] * lam - float(np.linalg.norm(f.rates.lambda_t[i])), force))
        elif mode == Mode.SLIP and d == 1 and x.mu[i] > 0:
            found.append(Guard(HALT, i, float(f.e[i] @ x.u_t[i]), speed))
    if not f.rates.unique:
        found.append(Guard(SHARE, -1, 1.0 if bears(x, motion.modes, f.e, f.rates, sticks) else -1.0, 1.0))
    elif Mode.SLIP in motion.modes:
        least = float(smallest_minor(sliding_matrix(x, motion.modes, f.e)))
        found.append(Guard(PAINLEVE, -1, -least if phase.lost_p else least, 1.0))
    return found


def _least_minor(motion: SmoothMotion, phase: Phase) -> float:
    """Return the smallest minor of W_s at the beginning of a phase; 1 where nothing slides or forces are not unique."""
    f = motion.force(phase.s[0], phase.y[0])
    if Mode.SLIP not in motion.modes or not f.rates.unique:
        return 1.0
    return float(smallest_minor(sliding_matrix(f.x, motion.modes, f.e)))


def follow(
    motion: SmoothMotion, state: MotionState, end: float, method: Integrator, sticks: Array, chosen: bool = False
) -> Phase:
    """Follow a motion from a state up to the time `end` [s], the first event, or trouble: an integrator that fails, a
    guard that starts at zero and turns negative at once.

    Of a motion that was `chosen` among several, W_s need not be a P-matrix: its least minor keeps the sign that it has.
    """
    phase = Phase(motion, method, [0.0 if isinstance(motion, Turning) else state.t], [motion.packed(state)])
    try:
        phase.lost_p = chosen and _least_minor(motion, phase) < 0
        _follow(phase, end, sticks)
    except (EventError, DataError) as error:
        phase.trouble, last = str(error), max(1, len(phase.s) - 1)
        del phase.s[last:], phase.y[last:], phase.between[last - 1 :]
    return phase


def _follow(phase: Phase, end: float, sticks: Array) -> None:
    motion, y, t = phase.motion, phase.y[0], phase.last.t
    turning = motion if isinstance(motion, Turning) else None
    armed: set[tuple[str, int]] = set()
    before = _values(motion, phase, sticks, armed)
    solver = phase.method.solver(motion, phase.s[0], y, np.inf if turning else end)
    for _ in range(phase.method.steps):
        phase.go_on(solver)
        y = phase.y[-1]
        now = _values(motion, phase, sticks, armed)
        gone = [key for key, g in now.items() if g.value < 0 and key in armed]
        late = [key for key, g in now.items() if g.value < -ARMED * g.scale and key not in armed]
        if gone or late:
            _cut_at_roots(phase, [*gone, *late], sticks, before, armed)
            break
        before = now
        if turning is not None:
            L = turning.logarithms(y)
            if L[turning.slowest] <= STOPPED:
                _extrapolate(phase, turning)
                break
            if L.min() < L[turning.slowest] - SLOWER:
                phase.end = RECLOCK
                break
            if phase.last.t >= end:
                _cut(phase, _root(lambda h: motion.state(0.0, phase.after(-2, h)).t - end, phase.s[-1] - phase.s[-2]))
                phase.end = OVER
                break
        elif solver.status == "finished":
            phase.end = OVER
            break
    else:
        raise EventError(f"{phase.method.steps} steps after {t:.9g} s and no event: the motion is too fast to follow")
    if phase.last.t > end:
        phase.ends, phase.end = [], OVER


def _values(
    motion: SmoothMotion, phase: Phase, sticks: Array, armed: set[tuple[str, int]]
) -> dict[tuple[str, int], Guard]:
    found = guards(phase, motion.force(phase.s[-1], phase.y[-1]), sticks)
    armed |= {(g.what, g.contact) for g in found if g.value > ARMED * g.scale}
    return {(g.what, g.contact): g for g in found}


def _at_once(key: tuple[str, int], t: float) -> str:
    what, i = key
    said = {
        LIFT: f"contact {i} loses its normal force", BREAK: f"contact {i} slips", HALT: f"contact {i} reverses",
        TOUCH: f"contact {i} closes again", PAINLEVE: "W_s loses the P-property",
        SHARE: "no forces of the redundant contacts bear the motion",
    }[what]  # fmt: skip
    return f"at {t:.12g} s {said} as soon as its mode begins: grazing or chattering, which is not followed"


def _cut(phase: Phase, length: float) -> None:
    """Cut the last step of a phase to a length."""
    y = phase.after(-2, length)
    phase.s[-1], phase.y[-1] = phase.s[-2] + length, y


EARLIEST = 1e-6
"""Fraction of a step in which a guard that starts at zero must have been positive."""
TOGETHER = 1e-12
"""Events within this time [s] count as simultaneous."""


def _cut_at_roots(
    phase: Phase, gone: list[tuple[str, int]], sticks: Array, before: dict[tuple[str, int], Guard],
    armed: set[tuple[str, int]],
) -> None:  # fmt: skip
    """End the phase at the first root among those guards, with all that vanish there. Raises EventError where a
    guard that starts at zero is negative from there on."""
    motion, step = phase.motion, phase.s[-1] - phase.s[-2]

    def value(key: tuple[str, int], h: float) -> float:
        y = phase.after(-2, h)
        found = guards(phase, motion.force(phase.s[-2] + h, y), sticks)
        return next(g.value for g in found if (g.what, g.contact) == key)

    def root(key: tuple[str, int]) -> float:
        first = 0.0
        if key not in armed:
            # It must have been positive in between.
            first = step
            while value(key, first) <= 0:
                first *= 0.5
                if first < EARLIEST * step:
                    raise EventError(_at_once(key, motion.state(phase.s[-2], phase.y[-2]).t))
        elif before[key].value <= 0:
            return 0.0
        return first + _root(lambda h: value(key, first + h), step - first)

    roots = {key: root(key) for key in gone}
    first = min(roots.values())
    times = {key: motion.state(phase.s[-2] + h, phase.after(-2, h)).t for key, h in roots.items()}
    earliest = min(times.values())
    _cut(phase, first)
    phase.ends = sorted((key for key in gone if times[key] - earliest <= TOGETHER), key=lambda key: times[key])


def _extrapolate(phase: Phase, motion: Turning) -> None:
    """Extrapolate to the end of slip: t + u/A of every contact that stops there, and the state at that time."""
    f, y = motion.force(phase.s[-1], phase.y[-1]), phase.y[-1]
    speeds, (faster, _) = np.exp(motion.logarithms(y)), motion.turning(y, f.x.J_t @ f.rates.a + f.x.c_t)
    rest = speeds[motion.slowest] / -faster[motion.slowest]
    # Contacts that have not stopped to first order continue to slide.
    stops = speeds + 2 * rest * faster <= 0
    stops[motion.slowest] = True
    at = motion.state(0.0, y)
    q, v = motion.mechanics.advanced(at.q, at.v, rest), at.v + rest * f.rates.a
    stopped = y.copy()
    stopped[: len(q)], stopped[len(q) : len(q) + len(v)], stopped[-1] = q, v, at.t + rest
    phase.y[-1] = stopped
    phase.ends = [(HALT, int(i)) for i in motion.which[stops]]
