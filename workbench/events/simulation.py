"""Event-driven simulation of a case under Coulomb's law: phase after phase, event after event.

Theory, scope and limits: docs/explanation/events.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from workbench.events.decision import NextModes, next_modes
from workbench.events.impact import AT_REST, impact
from workbench.events.modes import EventError, Mode, Modes, NotUniqueError, closed, rates, sticking
from workbench.events.motions import MotionState, SmoothMotion, Turning, project_on_constraints
from workbench.events.onset import begin_slip
from workbench.events.phase import BREAK, HALT, LIFT, OVER, PAINLEVE, RECLOCK, SHARE, TOUCH, Integrator, Phase, follow
from workbench.mechanics.case import Array, Case
from workbench.mechanics.second_order import Dynamics, SecondOrder
from workbench.step.sliding.state import CLOSED
from workbench.support.errors import DataError

T = TypeVar("T")

CROWDED = 1e-12
"""Time [s] between events below which modes chatter."""
MOST_CROWDED = 4
SOON = 1e-8
"""Time [s] between impacts below which they accumulate, however few."""
MOMENT = 1e-6
"""Time [s] after an event at which forces that vanish there have their signs."""
BEGINS = {Mode.OPEN: "lifts off", Mode.SLIP: "slips", Mode.STICK: "sticks"}
"""Names of the events at which the modes of a contact begin."""
MOST_BRANCHES = 16
"""Motions that are followed where Coulomb's law leaves several."""
LONGEST = 100
"""Duration of a motion in those of its case, up to which it is followed: most take seconds for each of these."""
MOST_IMPACTS = 40
"""Number of successive impacts with decreasing intervals that count as accumulation (Zeno)."""


@dataclass(frozen=True)
class ContactEvent:
    """An event of a contact at a time t [s]; gap rate u_n and sliding speed before it [m/s], normal force after it
    [N], or the normal impulse of an impact [N s]; NaN where there is none."""

    t: float
    contact: int
    what: str
    u_n: float = np.nan
    u_t: float = np.nan
    lambda_n: float = np.nan
    p_n: float = np.nan


class Fork(NamedTuple):
    """A moment t [s] at which the motion is not unique: the ways in which it may continue, and the number of the one
    taken, None where it ends there."""

    t: float
    ways: tuple[str, ...]
    taken: int | None


class Stretch(NamedTuple):
    """A phase, the contacts' modes in it, and how their uniqueness is known."""

    phase: Phase
    modes: Modes
    unique: str


@dataclass(eq=False)
class EventRun:
    """An event-driven motion: phases, events, and the reason why it ended before `duration` [s] ("" if it did not).

    `forks` are the moments at which it is not unique.
    `friction_work` [J] and `impact_loss` [J] of all, `correction` the largest projection, `differences` the largest
    relative difference of two orders in the rows' derivatives.
    """

    case: Case
    duration: float
    method: Integrator
    stretches: list[Stretch] = field(default_factory=list)
    events: list[ContactEvent] = field(default_factory=list)
    forks: list[Fork] = field(default_factory=list)
    reason: str = ""
    impact_loss: float = 0.0
    differences: float = 0.0

    @property
    def end(self) -> MotionState:
        """The last state."""
        return self.stretches[-1].phase.last

    @property
    def correction(self) -> float:
        return max(s.phase.correction for s in self.stretches)

    @property
    def choices(self) -> tuple[int, ...]:
        """The ways taken at the forks."""
        return tuple(fork.taken for fork in self.forks if fork.taken is not None)

    @property
    def friction_work(self) -> float:
        return self.end.w

    def state(self, t: float) -> MotionState:
        """The state at a time t [s], before any impact at that time. Raises DataError outside the motion."""
        if 0 < t - self.end.t <= CROWDED:
            t = self.end.t
        for stretch in self.stretches:
            if t <= stretch.phase.last.t:
                first = stretch.phase.motion.state(stretch.phase.s[0], stretch.phase.y[0])
                if t < first.t:
                    break
                return stretch.phase.at(t)
        raise DataError(f"t = {t:g} s; a time from 0 to {self.end.t:.9g} s is needed")

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        """q (k, n_q), v (k, n), impulses p (k, r + d r) [N s] at many times t (k,) [s], as in `state`; the last ones
        for times after the end. The run's integrator must have kept its interpolants."""
        sizes = self.end.q.size, self.end.v.size, 1, self.end.p.size
        found, t = np.empty((t.size, sum(sizes))), np.minimum(t, self.end.t)
        which = np.searchsorted([s.phase.last.t for s in self.stretches], t)
        for k in np.unique(which):
            found[which == k] = self.stretches[k].phase.at_many(t[which == k])
        between, v, _, p = np.split(found, np.cumsum(sizes[:-1]), axis=1)
        q, data = np.empty_like(between), self.case.data()
        # Interpolated quaternions are not exactly of unit length.
        for here, to in zip(between, q, strict=True):
            self.case.advance(here, self.end.v, 0.0, data, to)
        return q, np.ascontiguousarray(v), p

    def table(self) -> pd.DataFrame:
        """The events, one row each, with the fields of `ContactEvent`."""
        return pd.DataFrame([vars(e) for e in self.events], columns=list(ContactEvent.__dataclass_fields__))

    def modes(self) -> pd.DataFrame:
        """The modes of every contact over time: contact, start [s], end [s], mode."""
        rows: list[dict[str, Any]] = []
        for stretch in self.stretches:
            p = stretch.phase
            start, end = p.motion.state(p.s[0], p.y[0]).t, p.last.t
            for i, mode in enumerate(stretch.modes):
                last = next((row for row in reversed(rows) if row["contact"] == i), None)
                if last is not None and last["mode"] == mode.name.lower():
                    last["end"] = end
                else:
                    rows.append({"contact": i, "start": start, "end": end, "mode": mode.name.lower()})
        found = pd.DataFrame(rows, columns=["contact", "start", "end", "mode"])
        return found.sort_values(["contact", "start"], ignore_index=True)


def duration_of(case: Case, given: float | None) -> float:
    """The duration of a motion [s]: the one given, or the case's own. Raises DataError."""
    duration, most = case.duration if given is None else given, LONGEST * case.duration
    if not (np.isfinite(duration) and duration > 0):
        raise DataError(f"duration {duration:g} s; a positive number of seconds is needed")
    if duration > most:
        raise DataError(
            f"duration {duration:g} s; motions are followed for at most {most:g} s, {LONGEST} times the case's duration"
        )
    return duration


def simulate_events(
    case: Case, duration: float | None = None, method: Integrator = Integrator(), choices: tuple[int, ...] = ()  # noqa: B008
) -> EventRun:  # fmt: skip
    """The motion of a case under exact Coulomb friction, with rigid contacts, from its start for `duration` [s].

    None is the case's own duration. Where the motion is not unique, `choices` says which of its ways it takes, fork by
    fork. A motion that cannot be continued, or comes to a fork without a choice, ends early with its `reason`. Raises
    DataError for a duration that is not positive, or too long to follow.
    """
    duration = duration_of(case, duration)
    case.must_fit()
    q, v = (np.asarray(x, dtype=float) for x in case.start())
    driver = _Driver(EventRun(case, duration, method), SecondOrder(case), choices)
    try:
        driver.go(MotionState(0.0, q, v, 0.0, np.zeros(case.size[2] * (1 + case.size[3]))))
    except (EventError, DataError) as error:
        driver.run.reason = str(error)
    driver.run.differences = driver.mechanics.differences
    return driver.run


def simulate_branches(
    case: Case, duration: float | None = None, method: Integrator = Integrator(), most: int = MOST_BRANCHES  # noqa: B008
) -> list[EventRun]:  # fmt: skip
    """Every motion that Coulomb's law leaves to a case, depth first over its forks; a single one where it is unique.

    Of more than `most` motions the last ones end at a fork. Raises DataError as `simulate_events`.
    """
    found: list[EventRun] = []
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        choices = waiting.pop()
        run = simulate_events(case, duration, method, choices)
        ways = len(run.forks[-1].ways) if len(run.forks) > len(choices) else 0
        if ways and len(found) + len(waiting) + ways <= most:
            waiting += [(*choices, k) for k in reversed(range(ways))]
        else:
            found.append(run)
    return found


@dataclass(eq=False)
class _Driver:
    run: EventRun
    mechanics: SecondOrder
    choices: tuple[int, ...]
    impacts: list[float] = field(default_factory=list)

    def go(self, state: MotionState) -> None:
        x = self.mechanics.at(state.q, state.v)
        on = [int(i) for i in np.flatnonzero((x.phi <= CLOSED) & (x.u_n <= CLOSED))]
        if any(x.u_n[i] < -CLOSED for i in on):
            state, on = self._impact(state, x, on)
            x = self.mechanics.at(state.q, state.v)
        still = CROWDED * max(1.0, float(np.abs(state.v).max()))
        resting = [i for i in on if np.linalg.norm(x.u_t[i]) <= still]
        decision, fresh = self._decide(state, on, resting)
        recent: list[float] = []
        while True:
            phase = self._follow(state, decision, fresh)
            self.run.stretches.append(Stretch(phase, decision.modes, decision.unique))
            state = phase.last
            if phase.trouble:
                raise EventError(phase.trouble)
            if phase.end == OVER or state.t >= self.run.duration:
                return
            if phase.end == RECLOCK:
                fresh = []
                continue
            if phase.ends:
                recent = [t for t in recent if state.t - t <= CROWDED] + [state.t]
                if len(recent) > MOST_CROWDED:
                    raise EventError(f"at {state.t:.12g} s the modes alternate: chattering, which is not followed")
                state, decision, fresh = self._react(state, decision, phase)
            else:
                fresh = []

    def _sticks(self, x: Dynamics) -> Array:
        return np.maximum(x.mu, x.mu_s)

    def _one(self, t: float, decide: Callable[[], T]) -> T:
        """Return the decision at t [s], or the chosen one of several; raises NotUniqueError if none is chosen."""
        try:
            return decide()
        except NotUniqueError as several:
            k = len(self.run.forks)
            taken = self.choices[k] if k < len(self.choices) else None
            self.run.forks.append(Fork(float(t), several.ways, taken))
            if taken is None:
                raise
            answer: T = several.answers[taken]
            return answer

    def _decide(self, state: MotionState, on: list[int], resting: list[int]) -> tuple[NextModes, list[int]]:
        """The next modes, and the contacts that begin to slide from rest."""
        x = self.mechanics.at(state.q, state.v)
        decision = self._one(state.t, lambda: next_modes(x, on, resting, self._sticks(x)))
        return decision, [i for i in resting if decision.modes[i] == Mode.SLIP]

    def _follow(self, state: MotionState, decision: NextModes, fresh: list[int]) -> Phase:
        """The next phase, up to the end or an event."""
        run, x = self.run, self.mechanics.at(state.q, state.v)
        d, modes = x.u_t.shape[1], decision.modes
        rub = np.array([i for i, m in enumerate(modes) if m == Mode.SLIP and x.mu[i] > 0], dtype=np.int64)
        if d == 2 and fresh and len(rub):
            begun = np.array([i for i in fresh if i in rub], dtype=np.int64)
            if len(begun) < len(rub):
                raise EventError(f"at {state.t:.12g} s slip begins while another contact slides: not followed")
            return begin_slip(self.mechanics, state, modes, decision.e, begun, run.duration, run.method)
        motion: SmoothMotion = SmoothMotion(self.mechanics, modes, decision.e)
        if d == 2 and len(rub):
            speeds = np.linalg.norm(x.u_t[rub], axis=1)
            motion = Turning(self.mechanics, modes, decision.e, rub, int(speeds.argmin()))
        return follow(motion, state, run.duration, run.method, self._sticks(x), decision.among > 1)

    def _react(self, state: MotionState, decision: NextModes, phase: Phase) -> tuple[MotionState, NextModes, list[int]]:
        """The state after the events that end a phase, the next modes, and the contacts that begin to slide."""
        kinds = {what for what, _ in phase.ends}
        which = [i for _, i in phase.ends]
        motion = phase.motion
        f = motion.force(phase.s[-1], phase.y[-1])
        if PAINLEVE in kinds:
            sliding = [i for i, m in enumerate(decision.modes) if m == Mode.SLIP]
            b = f.x.J_n[sliding] @ np.linalg.solve(f.x.M, f.x.f) + f.x.c_n[sliding]
            what = "becomes singular" if phase.lost_p else "loses the P-property"
            raise EventError(f"at {state.t:.12g} s W_s {what} (Painlevé); b = {', '.join(f'{y:.3g}' for y in b)} m/s2")
        if kinds == {SHARE}:
            which = [int(i) for i in sticking(decision.modes) if f.x.mu_s[i] > f.x.mu[i]]
            if not which:
                raise EventError(
                    f"at {state.t:.12g} s redundant contacts cannot keep their modes any longer: which of them change "
                    "first is not determined"
                )
            kinds = {BREAK}
        if kinds == {LIFT}:
            return self._open(state, decision, which, f.x)
        if kinds == {BREAK}:
            return self._break(state, decision, which, f.x, f.rates.lambda_t)
        modes = list(decision.modes)
        if TOUCH in kinds:
            return self._touch(state, decision, [i for what, i in phase.ends if what == TOUCH])
        if kinds != {HALT}:
            raise EventError(f"at {state.t:.12g} s several events coincide: {', '.join(sorted(kinds))}")
        speeds = np.linalg.norm(f.x.u_t, axis=1)
        halted = [i for i, m in enumerate(modes) if m == Mode.SLIP and f.x.mu[i] > 0 and (
            i in which or speeds[i] <= AT_REST)]  # fmt: skip
        for i in halted:
            modes[i] = Mode.STICK
        q, v, _ = project_on_constraints(self.mechanics, state.q, state.v, tuple(modes))
        after = state._replace(q=q, v=v)
        on = [int(i) for i in closed(decision.modes)]
        resting = [i for i in on if modes[i] == Mode.STICK or (f.x.mu[i] == 0 and speeds[i] <= AT_REST)]
        found, fresh = self._decide(after, on, resting)
        for i in halted:
            reverses = found.modes[i] == Mode.SLIP and f.e[i] @ found.e[i] < 0
            self._note(after, i, "reverses" if reverses else BEGINS[found.modes[i]], found)
        self._note_changes(after, decision.modes, found, halted)
        return after, found, fresh

    def _open(
        self, state: MotionState, decision: NextModes, which: list[int], x: Dynamics
    ) -> tuple[MotionState, NextModes, list[int]]:
        """Open contacts whose normal force has vanished; the forces of the others are continuous, and so are their
        modes.

        Where other contacts touch without force, such as the other side of a guide, the contact problem shortly after
        decides.
        """
        modes, e = list(decision.modes), decision.e.copy()
        for i in which:
            modes[i], e[i] = Mode.OPEN, 0.0
        found = NextModes(tuple(modes), e, "the normal force vanishes: continuous")
        touching = [
            i for i, m in enumerate(decision.modes)
            if m == Mode.OPEN and abs(x.phi[i]) <= CLOSED and abs(x.u_n[i]) <= CLOSED
        ]  # fmt: skip
        if touching:
            motion = SmoothMotion(self.mechanics, found.modes, found.e)
            phase = Phase(motion, self.run.method, [state.t], [motion.packed(state)])
            later = motion.state(state.t + MOMENT, phase.after(0, MOMENT))
            on = sorted({*map(int, closed(found.modes)), *touching})
            found, _ = self._decide(later, on, [i for i in on if found.modes[i] == Mode.STICK])
        for i in which:
            self._note(state, i, "lifts off", found)
        self._note_changes(state, decision.modes, found, which)
        return state, found, []

    def _break(
        self, state: MotionState, decision: NextModes, which: list[int], x: Dynamics, lambda_t: Array
    ) -> tuple[MotionState, NextModes, list[int]]:
        """Contacts at the edge of their cones begin to slide, opposite to their friction force."""
        static = [i for i in which if x.mu_s[i] > x.mu[i]]
        if static:
            on = [int(i) for i in closed(decision.modes)]
            sticks = self._sticks(x)
            sticks[static] = 0.0
            resting = [i for i in on if decision.modes[i] == Mode.STICK]
            found = self._one(state.t, lambda: next_modes(x, on, resting, sticks))
            fresh = [i for i in resting if found.modes[i] == Mode.SLIP]
        else:
            modes, e = list(decision.modes), decision.e.copy()
            for i in which:
                modes[i], e[i] = Mode.SLIP, -lambda_t[i] / np.linalg.norm(lambda_t[i])
            found, fresh = NextModes(tuple(modes), e, "the friction force is continuous"), which
        for i in fresh:
            self._note(state, i, "slips", found)
        return state, found, fresh

    def _touch(
        self, state: MotionState, decision: NextModes, which: list[int]
    ) -> tuple[MotionState, NextModes, list[int]]:
        """Contacts whose gaps have closed collide, together with all closed contacts."""
        on = sorted({*map(int, closed(decision.modes)), *which})
        self.impacts = [*self.impacts, state.t]
        self._must_not_accumulate()
        x = self.mechanics.at(state.q, state.v)
        after, stay = self._impact(state, x, on)
        x = self.mechanics.at(after.q, after.v)
        still = AT_REST * max(1.0, float(np.abs(after.v).max()))
        resting = [i for i in stay if np.linalg.norm(x.u_t[i]) <= still]
        if resting:
            held = tuple(
                Mode.STICK if i in resting else Mode.SLIP if i in stay else Mode.OPEN for i in range(len(x.mu))
            )
            q, v, _ = project_on_constraints(self.mechanics, after.q, after.v, held)
            after = after._replace(q=q, v=v)
        found, fresh = self._decide(after, stay, resting)
        self._note_changes(after, decision.modes, found, which)
        return after, found, fresh

    def _impact(self, state: MotionState, x: Dynamics, on: list[int]) -> tuple[MotionState, list[int]]:
        """Return the state after an impact of the contacts `on`, and the contacts that stay closed."""
        v, p_n, p_t = self._one(state.t, lambda: impact(x, state.v, on))
        impulse_n, impulse_t = np.zeros(len(x.mu)), np.zeros_like(x.u_t)
        impulse_n[on], impulse_t[on] = p_n, p_t
        here, there = (float(0.5 * y @ x.M @ y) for y in (state.v, v))
        self.run.impact_loss += here - there
        for i, p in zip(on, p_n, strict=True):
            if x.u_n[i] < -CLOSED:
                u_t = float(np.linalg.norm(x.u_t[i]))
                self.run.events.append(ContactEvent(state.t, i, "touches down", float(x.u_n[i]), u_t, p_n=float(p)))
        u_n = x.u_n + x.J_n @ (v - state.v)
        still = AT_REST * max(1.0, float(np.abs(x.u_n[on]).max()))
        p = state.p + np.concatenate([impulse_n, impulse_t.ravel()])
        return state._replace(v=v, p=p), [i for i in on if u_n[i] <= still]

    def _must_not_accumulate(self) -> None:
        t = self.impacts[-MOST_IMPACTS:]
        pauses = np.diff(t)
        if len(t) == MOST_IMPACTS and (np.diff(pauses) < 0).all():
            ratio = pauses[-1] / pauses[-2]
            end = t[-1] + pauses[-1] * ratio / (1 - ratio)
            raise EventError(
                f"Zeno: {MOST_IMPACTS} impacts in a row, each sooner than the last; they accumulate at {end:.12g} s"
            )
        if len(t) > 1 and pauses[-1] <= SOON:
            raise EventError(f"Zeno: impacts {pauses[-1]:.1e} s apart; they accumulate near {t[-1]:.12g} s")

    def _note_changes(self, state: MotionState, before: Modes, found: NextModes, but: list[int]) -> None:
        """Record the contacts whose modes have changed, except those already recorded."""
        for i, (was, now) in enumerate(zip(before, found.modes, strict=True)):
            if was != now and i not in but:
                self._note(state, i, BEGINS[now], found)

    def _note(self, state: MotionState, i: int, what: str, found: NextModes) -> None:
        x = self.mechanics.at(state.q, state.v)
        force = rates(x, found.modes, found.e)
        u_t = float(np.linalg.norm(x.u_t[i]))
        self.run.events.append(ContactEvent(state.t, i, what, float(x.u_n[i]), u_t, float(force.lambda_n[i])))
