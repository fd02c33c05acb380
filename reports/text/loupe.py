"""Coulomb's law at one contact and moment, formulation by formulation; `loupe.js` has the same text."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

OPEN, SLIDES, STICKS = 0, 1, 2
STATES = ("open", "slides", "sticks")
BEYOND, OFF, LIFTS = 0.01, 1.0, 0.01
"""Smallest deviations that are mentioned: relative to the disc, in degrees, relative to the sliding speed."""
FEW = 10.0
"""Times the impulse that counts as none up to which differences of impulses do: the law's residual bounds each number
of a contact no better."""


@dataclass(frozen=True)
class StepContact:
    """Solution of a run at a contact in one step: `state`, NaN without an answer; impulses p_n, p_t1, p_t2 [N s]; the
    normal law's `slack` u_n + φ/h and the sliding velocity u_t1, u_t2 [m/s]; mu; the angle of the first tangent `axis`
    in use [rad], and whether it `slid` before the step; the `gap` before the step [m], NaN in a file, which
    knows neither gaps nor units; up to what impulses and velocities count as none, `least_p` and `least_u`; and
    whether the motion has `determined` the impulses.
    """

    state: float
    p_n: float
    p_t1: float
    p_t2: float
    slack: float
    u_t1: float
    u_t2: float
    mu: float
    axis: float
    slid: float
    gap: float
    least_p: float
    least_u: float
    determined: float

    @property
    def bears(self) -> bool:
        return self.limit > 0 and self.p_n > self.least_p

    @property
    def limit(self) -> float:
        return self.mu * self.p_n

    @property
    def friction(self) -> float:
        return float(np.hypot(self.p_t1, self.p_t2))

    @property
    def speed(self) -> float:
        return float(np.hypot(self.u_t1, self.u_t2))

    @property
    def share(self) -> float:
        """Return |p_t| / (mu p_n); NaN if mu p_n is zero."""
        return self.friction / self.limit if self.bears else np.nan

    @property
    def angle(self) -> float:
        """Angle between friction and the direction opposite to sliding [deg]; NaN if either is undefined."""
        if self.state != SLIDES or not self.bears or self.friction <= BEYOND * self.limit or self.speed == 0:
            return np.nan
        along = -(self.p_t1 * self.u_t1 + self.p_t2 * self.u_t2) / (self.friction * self.speed)
        return float(np.degrees(np.arccos(np.clip(along, -1.0, 1.0))))


VALUES = tuple(field.name for field in fields(StepContact))


def number(x: float) -> str:
    """Three digits, as JavaScript prints them."""
    if not np.isfinite(x):
        return "–"
    if abs(x) < 1e-12:
        return "0"
    if 1e-3 <= abs(x) < 1e5:
        return f"{float(f'{x:.3g}'):.6f}".rstrip("0").rstrip(".")
    digits, _, power = f"{x:.1e}".partition("e")
    return f"{digits}e{int(power):+d}"


def faults(x: StepContact, exact: StepContact) -> list[tuple[str, str]]:
    """Return a run's violations of Coulomb's law, each with the violated pair: n, t, the angle or none.

    Nothing is a fault that the tolerance of the run, relative to the scale of the step, leaves open.
    """
    if np.isnan(x.state):
        return [("", "has no answer")]
    found = []
    if x.state != exact.state:
        found.append(("", f"{_does(x)} where the reference {_does(exact)}"))
    few = FEW * x.least_p
    fast = max(x.least_u, LIFTS * max(x.speed, exact.speed))
    if not x.bears:
        if x.friction > few:
            found.append(("t", "has friction without a normal force"))
    elif x.slack > fast and x.p_n > few:
        found.append(("n", f"presses while separating, {_slack(x)}"))
    if x.state != OPEN and x.slack < -fast:
        found.append(("n", f"violates the normal law, {_slack(x)}"))
    return found + (_of_friction(x, few) if x.bears and is_determined(x, exact) else [])


def _of_friction(x: StepContact, few: float) -> list[tuple[str, str]]:
    """Faults of size and direction."""
    found, used = [], x.share
    if used > 10 and x.friction - x.limit > few:
        found.append(("t", f"friction is {used:.0f} times μ pₙ"))
    elif used > 1 + BEYOND and x.friction - x.limit > few:
        found.append(("t", f"friction is {100 * (used - 1):.0f} % above μ pₙ"))
    elif x.state == SLIDES and used < 1 - BEYOND and x.limit - x.friction > few:
        some = f"friction is {100 * used:.0f} % of μ pₙ"
        found.append(("t", "slides without friction" if used < BEYOND else some))
    if x.angle > OFF and 2 * np.sin(np.radians(x.angle) / 2) * x.friction > few:
        found.append(("angle", f"friction deviates by {x.angle:.0f}° from the direction opposite to sliding"))
    return found


def is_determined(x: StepContact, exact: StepContact) -> bool:
    """Return whether the motions of both leave no choice of the contact's friction."""
    return bool(x.determined and exact.determined)


def _does(x: StepContact) -> str:
    return "is open" if x.state == OPEN else "has no answer" if np.isnan(x.state) else STATES[int(x.state)]


def _slack(x: StepContact) -> str:
    """The normal law's slack, and the gap that is in it where it is one to be seen."""
    seen = f" at a gap of {number(1e3 * x.gap)} mm" if abs(x.gap) > SEEN else ""
    return f"u_n = {number(x.slack)}" if np.isnan(x.gap) else f"u_n + φ/h = {number(x.slack)} m/s{seen}"


SEEN = 1e-6
"""Gaps from which on they are named [m]."""


def lead(when: str, contact: int, exact: StepContact, h: float) -> str:
    """Return the contact's mode under Coulomb's law; `when` is a time or empty; impulses over h are forces."""
    case = not np.isnan(exact.gap)
    speed = f" at {number(exact.speed)}{' m/s' if case else ''}" if exact.state == SLIDES else ""
    some = f"a normal force of {number(exact.p_n / h)} N" if case else f"a normal impulse of {number(exact.p_n / h)}"
    force = some if exact.p_n > exact.least_p else "no normal force"
    presses = f", with {force}" if exact.state in (SLIDES, STICKS) else ""
    start = f"At {when}, contact" if when else "Contact"
    return f"{start} {contact} {_does(exact)}{speed} under Coulomb's law{presses}."


def grouped(labels: Sequence[str], contacts: Sequence[StepContact], exact: StepContact) -> list[tuple[str, str]]:
    """Labels that have the same to be said of them, and what that is."""
    found: dict[str, list[str]] = {}
    for label, x in zip(labels, contacts, strict=True):
        found.setdefault(in_words(x, exact), []).append(label)
    return [(", ".join(some), words) for words, some in found.items()]


def in_words(x: StepContact, exact: StepContact) -> str:
    """Return the text on one run."""
    words = [words for _, words in faults(x, exact)]
    if x.bears and not is_determined(x, exact):
        words.append("the motion does not determine its friction")
    return ", ".join(words) or "Coulomb's law holds"


def cells(x: StepContact, exact: StepContact, h: float) -> list[tuple[str, bool]]:
    """Return the cells of a row and whether each violates the law: state, gap, the two pairs, share and angle."""
    if np.isnan(x.state):
        return [("no answer", True), *[("–", False)] * 7]
    broken, known = {pair for pair, _ in faults(x, exact)}, not x.bears or is_determined(x, exact)
    left, few = x.limit - x.friction, FEW * x.least_p
    return [
        (STATES[int(x.state)], x.state != exact.state),
        (number(1e3 * x.gap if abs(x.gap) > SEEN or np.isnan(x.gap) else 0.0), False),
        (number(x.p_n / h if x.p_n > x.least_p else 0.0), "n" in broken),
        (number(x.slack if abs(x.slack) > x.least_u else 0.0), "n" in broken),
        (number(left / h if abs(left) > max(few, 1e-6 * x.limit) else 0.0) if known else FREE, "t" in broken),
        (number(x.speed if x.speed > x.least_u else 0.0), "t" in broken),
        (number(x.share) if known else FREE, "t" in broken and x.bears),
        (number(0.0 if x.angle < 0.01 else x.angle) if known else FREE, "angle" in broken),
    ]  # fmt: skip


FREE = "n/u"
"""Text in place of quantities that the motion does not determine."""


def modes(contacts: Sequence[StepContact], exact: Sequence[StepContact]) -> list[tuple[str, bool]]:
    """Return the mode of each contact in a run, and whether it differs from the reference."""
    return [
        ("–" if np.isnan(x.state) else STATES[int(x.state)], x.state != y.state and not np.isnan(x.state + y.state))
        for x, y in zip(contacts, exact, strict=True)
    ]
