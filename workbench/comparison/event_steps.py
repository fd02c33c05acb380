"""Event-driven motions as runs: states at the ends of steps, and the impulses in between."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from workbench.events.phase import Integrator
from workbench.events.simulation import EventRun, simulate_events
from workbench.judge import coulomb
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import RIGID
from workbench.problems.solution import Status
from workbench.step.record import RunRecord, visited
from workbench.step.run import Course, Run
from workbench.step.scheme import SYMPLECTIC
from workbench.step.simulation import whole_steps
from workbench.support.arrays import Array

FINEST, COARSER = Integrator(dense=True), Integrator(rtol=1e-11, atol=1e-13, dense=True)
"""Tolerances of a motion, and of the same motion once more: their distance is its uncertainty."""
SOLVER = "event-driven"
CARRIES = 1e-9
"""Fraction of an impulse's scale below which a contact counts as unloaded."""


@dataclass(frozen=True, eq=False)
class SampledMotion(Run):
    """The event-driven motion `events`, sampled at the ends of steps of h [s]; impulses are those of each step.

    Velocities u are those at the ends themselves. No step problem is solved, so residuals are NaN.
    """

    events: EventRun = field(default=None, repr=False)  # type: ignore[assignment]
    last: dict[str, Array] = field(default_factory=dict, repr=False)
    """The mechanics at the end of each step; `record` has those at its start."""

    @property
    def residuals(self) -> Array:
        return np.full(self.steps, np.nan)

    @cached_property
    def _Jv(self) -> Array:
        return np.einsum("kij,kj->ki", self.last["J"], self.record.after)

    @property
    def u_n(self) -> Array:
        """(K, r) J_n v + b_n [m/s] at the end of the step; phi/h under the gap law, under Moreau's where phi > 0."""
        r, gap = self.case.size[2], self.last["phi"]
        by_gap = gap > 0 if self.normal == "moreau" else np.full(gap.shape, self.normal == "gap")
        return np.where(by_gap, gap / self.h, self._Jv[:, :r] + self.last["rate"][:, :r])

    @property
    def slack(self) -> Array:
        return self.u_n

    @property
    def u_t(self) -> Array:
        _, _, r, d = self.case.size
        return (self._Jv[:, r:] + self.last["r_t"]).reshape(-1, r, d)

    @cached_property
    def contact_impulse(self) -> Array:
        J = 0.5 * (self.record.J + self.last["J"])
        return np.einsum("kij,ki->kj", J, self.record.p[:, : J.shape[1]])

    @cached_property
    def judged(self) -> coulomb.Verdict:
        """The judge's measures of impulses only: the law holds at every instant, but not for the impulses of a step."""
        none = np.full(self.steps, np.nan)
        law_t = self.u_t
        found = coulomb.judge(*self.terms._replace(u_n=self.u_n, u_t=law_t))
        return replace(found, signorini=none, cone=none, dissipation=none, natural_map=none, law=none)


def sampled(events: EventRun, exact: Formulation, h: float) -> SampledMotion:
    """Sample a whole event-driven motion, whose integrator kept its interpolants, as a run of exact Coulomb friction
    with steps of h [s]. Raises DataError where the record does not fit into memory."""
    case, steps = events.case, whole_steps(events.duration, h)
    m = case.size[1]
    q, v, p = events.states(h * np.arange(1.0, steps + 1))
    # At the start this is the state before an impact, whose impulses are part of the first step.
    q, v = (np.vstack([x, y]) for x, y in zip(case.start(), (q, v), strict=True))
    # Impacts occur within steps: a contact that is open at the start of one has its rows there too, which Moreau's law
    # would leave out.
    found = visited(case, q, v, h, "velocity" if case.normal == "moreau" else case.normal)
    impulses = np.diff(p, axis=0, prepend=0.0)
    nothing = np.zeros((steps, 0))
    record = RunRecord(
        q=q, v=v, after=v[1:], p=np.hstack([impulses, np.full((steps, m), np.nan)]),
        **{name: x[:-1] for name, x in found.items()},
        M=np.zeros((steps, 0, 0)), q_=nothing, lower=nothing, upper=nothing, mu=nothing, z=nothing,
        effort=np.zeros((steps, 2)),
    )  # fmt: skip
    return SampledMotion(
        case, exact, SOLVER, "Coulomb NCP", CARRIES, Course(h, steps, SYMPLECTIC, case.normal, RIGID), Status.SOLVED,
        "", 0.0, 0.0, record, events=events, last={name: x[1:] for name, x in found.items()},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class EventMotion:
    """The motion of a case under Coulomb's law, and the same at coarser tolerances, read at steps of any size.

    `reason` tells why one of them ended early, "" if neither did.
    """

    first: EventRun
    second: EventRun
    exact: Formulation
    _known: dict[float, tuple[SampledMotion, SampledMotion]] = field(default_factory=dict, repr=False)

    @property
    def reason(self) -> str:
        return self.first.reason or self.second.reason

    def at(self, h: float) -> tuple[SampledMotion, SampledMotion]:
        """Return both as runs of steps of h [s]. Raises DataError where a record does not fit into memory."""
        if h not in self._known:
            self._known[h] = sampled(self.first, self.exact, h), sampled(self.second, self.exact, h)
        return self._known[h]


def event_motion(case: Case, exact: Formulation, duration: float | None) -> EventMotion:
    """Follow a case from event to event for `duration` [s], twice; the second time not if the first ended early."""
    first = simulate_events(case, duration, FINEST)
    return EventMotion(first, first if first.reason else simulate_events(case, duration, COARSER), exact)
