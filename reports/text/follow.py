"""Text on an event-driven motion."""

from collections.abc import Sequence

from workbench.events.enclosure import EnclosedMotion
from workbench.events.simulation import EventRun
from workbench.events.twice import Uncertainty

MOST = 8
"""Number of contacts listed individually."""
VERBS = {"open": "is open", "slip": "slides", "stick": "sticks"}


def sentences(run: EventRun, off: Uncertainty, proved: EnclosedMotion | None) -> list[str]:
    """Return sentences on the modes of each contact, the accuracy, the reason for the end, and the proof."""
    return [*_contacts(run), *_known(run, off), *_end(run), *_proof(run, proved)]


def motions_in_words(motions: Sequence[tuple[EventRun, Uncertainty]]) -> list[str]:
    """Return the differences of several motions of a case, depth first over their forks."""
    found = [f"Coulomb's law admits {len(motions)} motions."]
    before: tuple[int, ...] = ()
    for k, (run, off) in enumerate(motions, start=1):
        same = next((i for i, (a, b) in enumerate(zip(before, run.choices, strict=False)) if a != b), 0)
        fork = run.forks[same]
        begun = f"as motion {k - 1} until {_time(fork.t)}, then" if before and fork.t > 0 else f"at {_time(fork.t)}"
        said = "undecided" if fork.taken is None else fork.ways[fork.taken]
        more = len(run.choices) - same - 1
        later = f"; it takes the first branch at {more} later moment{'s' if more > 1 else ''}" if more > 0 else ""
        end = f"; it ends at {_time(run.end.t)}: {run.reason}" if run.reason and run.stretches else ""
        sure = "" if off.same_events else f"; a second integration finds other events after {_time(off.until)}"
        found.append(f"Motion {k}: {begun} {said}{later}{end}{sure}.")
        before = run.choices
    return found


def _contacts(run: EventRun) -> list[str]:
    if not run.stretches:
        return []
    modes = run.modes()
    found = []
    for contact, rows in list(modes.groupby("contact"))[:MOST]:
        parts = [f"{VERBS[r['mode']]} until {_time(r['end'])}" for r in rows.to_dict("records")]
        found.append(f"Contact {contact} {', '.join(parts)}.")
    left = modes["contact"].nunique() - MOST
    return [*found, f"{left} more contacts are in the table of modes."] if left > 0 else found


def _known(run: EventRun, off: Uncertainty) -> list[str]:
    if not run.stretches:
        return []
    if not off.same_events:
        return [f"A second integration finds other events: the motion is unknown after {_time(off.until)}."]
    times = f" and by {off.t:.0e} s in event times" if run.events else ""
    found = [
        f"A second integration (Radau, 1e-10) differs by {max(off.q, off.v):.0e} in coordinates and velocities{times}."
    ]
    return [*found, f"It ends at {_time(off.until)}: {off.reason}."] if off.reason else found


def _end(run: EventRun) -> list[str]:
    if not run.reason:
        return []
    where = f"It ends at {_time(run.end.t)}" if run.stretches else "It does not begin"
    if not run.forks or run.forks[-1].taken is not None:
        return [f"{where}: {run.reason}."]
    ways = "; or ".join(run.forks[-1].ways)
    return [f"{where}: {run.reason}. Either {ways}; --branches follows each."]


def _proof(run: EventRun, proved: EnclosedMotion | None) -> list[str]:
    if proved is None:
        return []
    if proved.end is None or not proved.steps:
        return [f"Nothing is proved: {proved.reason}."]
    end = _time(float(proved.end.t.mid()))
    count, radius = len(proved.events), max((e.radius for e in proved.events), default=0.0)
    events = f"{count} event{'s' if count > 1 else ''}, known to {radius:.0e} s" if count else "no event"
    off = proved.differences(run).largest
    beside = f"within {off:.0e} of it" if off < float("inf") else "another one"
    found = [f"Proved {'up to' if proved.reason else 'to its end,'} {end}: {events}; the motion above is {beside}."]
    return [*found, f"The proof ends there: {proved.reason}."] if proved.reason else found


def _time(t: float) -> str:
    return f"{t:.12g} s"
