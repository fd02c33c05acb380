"""What Coulomb's law says of one contact at one moment, formulation by formulation; `loupe.js` says the same."""

from collections.abc import Sequence

import numpy as np

from workbench.arrays import Array

OPEN, SLIDES, STICKS = 0, 1, 2
STATES = ("open", "slides", "sticks")
VALUES = ("state", "p_n", "p_t1", "p_t2", "u_n", "u_t1", "u_t2", "mu", "axis", "slid")
"""Numbers of a run at a contact and a moment: its state (NaN: no answer); impulses [N s]; what the normal law is about
[m/s]; the sliding velocity [m/s]; the friction coefficient; the angle of the first tangent axis in use, and whether the
contact has slid before the step."""
BEYOND, OFF, LIFTS = 0.01, 1.0, 0.01
"""What is worth a word: a share of the disc, degrees, a share of the sliding speed."""
ROUND_OFF = 1e-6
"""Share of mu p_n up to which a distance from the rim is none, and of the sliding speed up to which a normal one is."""


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


def share(x: Array) -> float:
    """|p_t| / (mu p_n); NaN where there is nothing to divide by."""
    limit = x[7] * x[1]
    return float(np.hypot(x[2], x[3]) / limit) if limit > 0 else np.nan


def angle(x: Array) -> float:
    """Between friction and the direction against sliding [deg]; NaN where one of them is none."""
    friction, speed = float(np.hypot(x[2], x[3])), float(np.hypot(x[5], x[6]))
    if x[0] != SLIDES or friction <= BEYOND * x[7] * x[1] or speed == 0:
        return np.nan
    return float(np.degrees(np.arccos(np.clip(-(x[2] * x[5] + x[3] * x[6]) / (friction * speed), -1.0, 1.0))))


def faults(x: Array, exact: Array) -> list[tuple[str, str]]:
    """What a run (10,) does otherwise than Coulomb's law asks, each with the pair that it breaks: n, t or none."""
    if np.isnan(x[0]):
        return [("", "has no answer")]
    found = []
    if x[0] != exact[0]:
        found.append(("", f"{_does(x)} where exact friction {_does(exact)}"))
    if x[0] == OPEN:
        return found
    used, off, speed = share(x), angle(x), float(np.hypot(x[5], x[6]))
    if used > 10:
        found.append(("t", f"pushes {used:.0f} times as much as the disc allows"))
    elif used > 1 + BEYOND:
        found.append(("t", f"pushes {100 * (used - 1):.0f} % more than the disc allows"))
    elif x[0] == SLIDES and used < BEYOND:
        found.append(("t", "slides without friction"))
    elif x[0] == SLIDES and used < 1 - BEYOND:
        found.append(("t", f"slides with {100 * used:.0f} % of the disc's friction"))
    if off > OFF:
        found.append(("", f"pushes {off:.0f}° off the direction against sliding"))
    if abs(x[4]) > LIFTS * max(speed, float(np.hypot(exact[5], exact[6]))):
        found.append(("n", f"{'leaves' if x[4] > 0 else 'sinks in'} at {number(abs(x[4]))} m/s while it presses"))
    return found


def _does(x: Array) -> str:
    return "is open" if x[0] == OPEN else STATES[int(x[0])]


def lead(t: float | None, contact: int, exact: Array, force: str, h: float) -> str:
    """What the contact does under exact Coulomb friction; `force` is the unit, and h what makes forces of impulses."""
    when = f"At {number(t)} s, contact" if t is not None else "Contact"
    speed = f" at {number(float(np.hypot(exact[5], exact[6])))} m/s" if exact[0] == SLIDES else ""
    presses = f" and presses with {number(exact[1] / h)}{force and f' {force}'}" if exact[0] != OPEN else ""
    return f"{when} {contact} {_does(exact)}{speed} under exact Coulomb friction{presses}."


def grouped(labels: Sequence[str], values: Array, exact: Array) -> list[tuple[str, str]]:
    """Labels that have the same to be said of them, and what that is; values (L, 10)."""
    found: dict[str, list[str]] = {}
    for label, x in zip(labels, values, strict=True):
        words = ", ".join(words for _, words in faults(x, exact)) or "as Coulomb's law asks"
        found.setdefault(words, []).append(label)
    return [(", ".join(some), words) for words, some in found.items()]


def cells(x: Array, exact: Array, h: float) -> list[tuple[str, bool]]:
    """The cells of a row and whether each belongs to a pair that is broken: state, the two pairs, share and angle."""
    if np.isnan(x[0]):
        return [("no answer", True), *[("–", False)] * 6]
    broken, bears = {pair for pair, _ in faults(x, exact)}, x[0] != OPEN
    limit, speed, off = x[7] * x[1], float(np.hypot(x[5], x[6])), angle(x)
    slack = limit - float(np.hypot(x[2], x[3]))
    return [
        (STATES[int(x[0])], x[0] != exact[0]),
        (number(x[1] / h if bears else 0.0), "n" in broken),
        (number(x[4] if abs(x[4]) > ROUND_OFF * speed else 0.0), "n" in broken),
        (number(slack / h if bears and abs(slack) > ROUND_OFF * limit else 0.0), "t" in broken),
        (number(speed), "t" in broken), (number(share(x) if bears else np.nan), "t" in broken),
        (number(0.0 if off < 0.01 else off), off > OFF),
    ]  # fmt: skip
