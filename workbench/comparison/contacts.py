"""Rows of `timeline` and `events`: when the contacts of a run stick and slide, and which of the reference's events it
misses."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.comparison.columns import MISSED, OPEN, SLIDING, SPURIOUS, STICKING, WORLD
from workbench.comparison.event_steps import SampledMotion
from workbench.comparison.measured import closed, modes
from workbench.events.modes import Mode
from workbench.mechanics.case import Case
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.step.record import visited
from workbench.step.run import Run
from workbench.support.arrays import Array

TOLERANCE = 5
"""Steps by which an event may come earlier or later than in the reference: time stepping places events at the ends of
steps, and a soft contact takes some steps to carry its load. What lasts no longer is no change of mode, so that
chattering from step to step makes no events; but a touch between two flights is one however short, as impacts are."""


class ModeChange(NamedTuple):
    """An event: the new behaviour of a contact from a time t [s] on."""

    t: float
    contact: int
    what: str


def modes_beside(run: Run, reference: Run) -> NDArray[np.str_]:
    """Return the modes open, sliding or sticking (K, r) as `measured.modes` does, but with a closed contact
    without load open if it has no load in the reference's step either.

    The load sharing among redundant contacts depends on the solver. The reference decides which of them bear load,
    so that a run differs from it by its motion alone, or by a load where there is none.
    """
    found = modes(run)
    if isinstance(reference, SampledMotion):
        stride, steps = round(run.h / reference.h), min(run.steps, int(reference.steps * reference.h / run.h + 1e-9))
        bears = closed(run)
        bears[:steps] |= closed(reference)[: steps * stride].reshape(steps, stride, bears.shape[1]).any(axis=1)
        found = np.where(bears, found, OPEN)
    return found


def timeline(
    named: dict[str, Any], run: Run | Track, reference: Run | Track, what: Case | Scene, until: float
) -> pd.DataFrame:
    """The rows of `TIMELINE` of a run, of a scene up to a time [s]; those of an event-driven reference itself are its
    events' own intervals. `named` is what all rows begin with (`rows.of_run`)."""
    if run is reference and isinstance(run, SampledMotion):
        return pd.DataFrame(named | _exact(run))
    if isinstance(run, Track):
        assert isinstance(what, Scene)
        assert isinstance(reference, Track)
        return pd.DataFrame(named | _by_pair(run, reference, what, until))
    assert isinstance(reference, Run)
    mode = modes_beside(run, reference)
    i, k = np.nonzero(mode.T != OPEN)
    slip = np.linalg.norm(run.u_t[k, i], axis=-1)
    at, rows = intervals(i, k, run.h, run.p_n[k, i] / run.h, slip, mode[k, i] == SLIDING)
    return pd.DataFrame(named | {"contact": at} | rows)


def _by_pair(run: Track, reference: Track, scene: Scene, until: float) -> dict[str, Any]:
    """The columns of the intervals of a scene, in which contacts are pairs of bodies."""
    code, k, load, slip = _pairs(run, round(until / run.h), len(scene.bodies))
    least = least_load(run, reference)
    pressed = load > least
    code, k, load, slip = code[pressed], k[pressed], load[pressed], slip[pressed]
    at, rows = intervals(code, k, run.h, load, slip, slip > scene.v_th)
    names = np.array([*scene.bodies, WORLD], dtype=object)
    # The number of the world, -1, is that of the last name.
    lower, upper = np.divmod(at, len(names))
    body, other = np.where(lower == 0, upper, lower) - 1, np.where(lower == 0, lower, upper) - 1
    return {"body": names[body], "other": names[other], "least_load": least} | rows


def intervals(
    code: NDArray[Any], k: NDArray[Any], h: float, load: Array, slip: Array, slides: NDArray[np.bool_]
) -> tuple[NDArray[Any], dict[str, Any]]:
    """The code of the contact of every row of a timeline, and the row's other columns.

    What is given is a row for each step k of h [s] in which a contact presses, by contact, then step: normal force
    [N], sliding speed [m/s], and whether it slides.
    """
    # Another contact, or a step in between in which this one does not press, begins an interval.
    begins = np.append(True, (np.diff(code) != 0) | (np.diff(k) != 1))[: k.size]
    parts = np.flatnonzero(begins | np.append(True, slides[1:] != slides[:-1])[: k.size])
    last = np.append(parts[1:], k.size)[: parts.size] - 1
    number = np.cumsum(begins)[parts]
    first = np.append(True, np.diff(code[parts]) != 0)[: parts.size]
    return code[parts], {
        "interval": number - number[first][np.cumsum(first) - 1], "mode": np.where(slides[parts], SLIDING, STICKING),
        "start": k[parts] * h, "end": (k[last] + 1) * h,
        "impulse": _sums(h * load, parts), "slip": _sums(h * slip, parts),
    }  # fmt: skip


def _sums(values: Array, parts: NDArray[np.int64]) -> Array:
    return np.add.reduceat(values, parts) if parts.size else np.zeros(0)


def least_load(x: Track, reference: Track) -> float:
    """Return the normal force [N] above which a pair is loaded; smaller forces are rounding.

    An engine, whose answers have no tolerance, takes that of the reference.
    """
    tolerance = x.tolerance if np.isfinite(x.tolerance) else reference.tolerance
    return float(tolerance * np.median(reference.pressing.load)) if reference.pressing.load.size else 0.0


def _pairs(x: Track, steps: int, bodies: int) -> tuple[NDArray[Any], NDArray[Any], Array, Array]:
    """Return number, step, load and slip of every pair of bodies in each step in which one of its contacts presses.

    Sorted by pair, then step.
    """
    pressed = x.pressed[:steps]
    count = int(pressed.sum())
    pair, load, slip = x.pressing.pair[:count], x.pressing.load[:count], x.pressing.slip[:count]
    width = max(pressed.size, 1)
    k = np.repeat(np.arange(pressed.size), pressed)
    code = (pair.min(axis=1) + 1) * (bodies + 1) + pair.max(axis=1) + 1
    both, of = np.unique(code * width + k, return_inverse=True)
    total: Any = np.bincount(of, load, both.size)
    code, k = np.divmod(both, width)
    return code, k, total, np.bincount(of, load * slip, both.size) / np.where(total > 0, total, 1.0)


def _exact(run: SampledMotion) -> dict[str, Any]:
    """The columns of the intervals of an event-driven motion; distances are sums over parts as long as its steps."""
    rows = run.events.modes()
    rows = rows[rows["mode"] != Mode.OPEN.name.lower()]
    i, start, end = (rows[name].to_numpy() for name in ("contact", "start", "end"))
    # What ends when the next one starts, at one contact, is of the same interval.
    first = np.append(True, np.diff(i) != 0)[: i.size]
    begins = first | np.append(True, start[1:] != end[:-1])[: i.size]
    number = np.cumsum(begins) - 1
    impulse = _impulses(run, end)[np.arange(i.size), i] - _impulses(run, start)[np.arange(i.size), i]
    return {
        "contact": i, "interval": number - number[first][np.cumsum(first) - 1] if i.size else number,
        "mode": np.where(rows["mode"] == Mode.SLIP.name.lower(), SLIDING, STICKING), "start": start, "end": end,
        "impulse": impulse, "slip": _slips(run, i, start, end),
    }  # fmt: skip


def _impulses(run: SampledMotion, t: Array) -> Array:
    """(k, r) normal impulses [N s] up to times t, before the impacts then."""
    return np.where(t[:, None] > 0, run.events.states(t)[2][:, : run.case.size[2]], 0.0)


def _slips(run: SampledMotion, i: NDArray[Any], start: Array, end: Array) -> Array:
    """Return the distances (k,) that contacts i slide between times [s], by the midpoint rule."""
    parts = np.maximum(np.ceil((end - start) / run.h).astype(int), 1)
    row = np.repeat(np.arange(i.size), parts)
    place = np.arange(row.size) - np.repeat(np.cumsum(parts) - parts, parts) + 0.5
    width = ((end - start) / parts)[row]
    q, v, _ = run.events.states(start[row] + place * width)
    found = visited(run.case, q, v, run.h, run.normal)
    r, d = run.case.size[2:]
    u_t = (np.einsum("kij,kj->ki", found["J"], v)[:, r:] + found["r_t"]).reshape(-1, r, d)
    speed = np.linalg.norm(u_t[np.arange(row.size), i[row]], axis=-1)
    return np.bincount(row, width * speed, i.size).astype(float)


def changes(mode: NDArray[np.str_], h: float, start: float, lasts: float) -> list[ModeChange]:
    """Return the mode changes of contacts with modes (k, r) in steps of h [s] from a time `start` on.

    Modes that last no longer than `lasts` [s] are left out, except touches.
    """
    return [
        ModeChange(start + h * k, i, what)
        for i in range(mode.shape[1]) for k, what in _of_contact(mode[:, i], int(lasts / h + 1e-6))
    ]  # fmt: skip


def _of_contact(mode: NDArray[np.str_], brief: int) -> list[tuple[int, str]]:
    """Return the steps at the start of which a contact's mode changes, and the new modes."""
    edges = [0, *np.flatnonzero(mode[1:] != mode[:-1]) + 1, len(mode)]
    pieces = [(str(mode[a]), a, b) for a, b in pairwise(edges)]
    # A brief gap after a touch is none.
    pieces = [(x, a, b) for x, a, b in pieces if x != OPEN or b - a > brief or a == 0]
    found: list[tuple[int, str]] = []
    held = None
    for j, (x, a, b) in enumerate(pieces):
        before = pieces[j - 1][0] if j else None
        if x == OPEN:
            found += [(a, "lifts off")] * (j > 0)
            held = None
            continue
        found += [(a, "touches down")] * (before == OPEN)
        if b - a > brief:
            found += [(a, "slips" if x == SLIDING else "sticks")] * (held not in (None, x))
            held = x
    return found


def unmatched(
    here: list[ModeChange], there: list[ModeChange], tolerance: float, window: tuple[float, float]
) -> tuple[list[ModeChange], list[ModeChange]]:
    """Events of the reference (`there`) that a run (`here`) misses, and those that it has in excess.

    A match is the same change of the same contact within `tolerance` [s]. Of what is nearer than that to the start or
    the end of the window, the other one may lie beyond.
    """
    found: tuple[list[ModeChange], list[ModeChange]] = [], []
    for contact, what in dict.fromkeys((x.contact, x.what) for x in (*there, *here)):
        own, theirs = ([x for x in xs if (x.contact, x.what) == (contact, what)] for xs in (here, there))
        a = b = 0
        while a < len(own) or b < len(theirs):
            late = np.inf if b == len(theirs) else -np.inf if a == len(own) else theirs[b].t - own[a].t
            if abs(late) <= tolerance:
                a, b = a + 1, b + 1
            elif late > 0:
                found[1].append(own[a])
                a += 1
            else:
                found[0].append(theirs[b])
                b += 1
    low, high = window[0] + tolerance, window[1] - tolerance
    missed, spurious = ([x for x in sorted(xs) if low <= x.t <= high] for xs in found)
    return missed, spurious


def events_apart(run: Run, reference: Run, steps: NDArray[np.int64]) -> tuple[list[ModeChange], list[ModeChange]]:
    """`unmatched` of the steps of a run."""
    if not steps.size:
        return [], []
    stride, first, last = round(run.h / reference.h), steps[0], steps[-1] + 1
    here, there = modes_beside(run, reference)[first:last], modes_beside(reference, reference)
    start, lasts = first * run.h, TOLERANCE * run.h
    return unmatched(
        changes(here, run.h, start, lasts),
        changes(there[first * stride : last * stride], reference.h, start, lasts),
        (TOLERANCE + 1e-6) * run.h, (start, last * run.h),
    )  # fmt: skip


def event_rows(named: dict[str, Any], run: Run, reference: Run) -> pd.DataFrame:
    """The rows of `EVENTS` of a run; of the reference itself its own events, with speeds and forces where it is
    event-driven."""
    if run is not reference:
        every = np.arange(min(run.steps, int(reference.steps * reference.h / run.h + 1e-9)))
        apart = zip((MISSED, SPURIOUS), events_apart(run, reference, every), strict=True)
        rows = [named | {"role": role} | x._asdict() for role, xs in apart for x in xs]
    elif isinstance(run, SampledMotion):
        rows = [named | vars(x) for x in run.events.events]
    else:
        found = changes(modes_beside(run, run), run.h, 0.0, TOLERANCE * run.h)
        rows = [named | x._asdict() for x in sorted(found)]
    return pd.DataFrame(rows)
