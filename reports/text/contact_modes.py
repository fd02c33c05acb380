"""Contact modes over time in sentences: in the reference, and differences under each formulation."""

from operator import itemgetter

import pandas as pd

from workbench.builtin.reports.text.comparison import UNDEFINED
from workbench.builtin.reports.text.conclusions import few, listed
from workbench.comparison.columns import MISSED, SPURIOUS
from workbench.comparison.result import Comparison, by_first_solver
from workbench.comparison.timeline import KINDS, exact_and_runs, otherwise, rows_by_contact, until

FIRST = 0.02
"""Relative time up to which contact counts as present from the start, and up to which differences are invisible."""
OTHERWISE = {
    "slides": "slides for {} s instead of sticking",
    "sticks": "sticks for {} s instead of sliding",
    "apart": "is open for {} s instead of closed",
    "presses": "is closed for {} s instead of open",
}
"""Words for a contact's difference from the reference, by its kind."""
TELLING = {
    "slides": "Slipping where the reference sticks: {}.",
    "sticks": "Sticking where the reference slides: {}.",
}
"""Differences that a sentence mentions."""
CLEAR = 1.2
"""Factor by which that lasts longer than under exact Coulomb friction at the same step, if it is worth a sentence."""
ROUNDING = 1e-12
"""Speeds and forces of events up to this are printed as 0."""
MOST = 6
"""Intervals or times that are listed; files have all."""


def otherwise_words(c: Comparison) -> list[str]:
    """Return lasting differences of contact modes from the reference under each formulation, each for the contact with
    the longest one."""
    exact, runs = exact_and_runs(c)
    said: dict[str, list[str]] = {}
    for label, rows in runs.items():
        words, contacts = [], otherwise(rows, exact)
        for kind in KINDS:
            most = max(contacts, key=itemgetter(kind), default=None)
            if most is not None and most[kind] > FIRST * until(c):
                words.append(f"{most['contact']} {OTHERWISE[kind].format(f'{most[kind]:.2g}')}")
        if words:
            said.setdefault("; ".join(words), []).append(label)
    return [f"{listed(labels)}: {words}." for words, labels in said.items()]


def slip_words(c: Comparison) -> list[str]:
    """A sentence for formulations with friction that slip long where the reference sticks, and one for the reverse."""
    exact, runs = exact_and_runs(c)
    without = {f.label for f in c.formulations if f.friction == "none"}
    found = {label: otherwise(rows, exact) for label, rows in runs.items() if label not in without}
    said = []
    for kind, words in TELLING.items():
        longest = {label: max((x[kind] for x in contacts), default=0.0) for label, contacts in found.items()}
        least = max(FIRST * until(c), CLEAR * longest.get("coulomb", 0.0))
        order = sorted((x for x, t in longest.items() if t > least), key=lambda x: -longest[x])
        if order:
            said.append(words.format(few([f"{label} ({longest[label]:.2g} s)" for label in order])))
    return said


def lives(c: Comparison) -> list[str]:
    """Return the modes of a case's contacts in the reference, from start to end; contacts with equal modes together."""
    exact, end = exact_and_runs(c)[0], until(c)
    said: dict[str, list[str]] = {}
    for contact, rows in rows_by_contact(exact).items():
        words, now = [], 0.0
        for mode, start, stop in rows[["mode", "start", "end"]].itertuples(index=False):
            if start > now:
                words.append(("open", start))
            words.append((mode, stop))
            now = stop
        if now < end * (1 - 1e-9):
            words.append(("open", end))
        told = [f"{what} until {t:.5g} s" if t < end * (1 - 1e-9) else f"{what} until the end" for what, t in words]
        more = f", and {len(told) - MOST} more intervals" if len(told) > MOST else ""
        said.setdefault(f"{', then '.join(told[:MOST])}{more}", []).append(str(contact[0]))
    return [f"Contact{'s' * (len(own) > 1)} {listed(own)}: {words}." for words, own in said.items()]


def event_cells(c: Comparison) -> list[tuple[str, ...]]:
    """The events of the reference as rows of a table: time, contact, what, gap rate, sliding speed, force, impulse."""
    if c.events.empty:
        return []
    rows = c.events[c.events["role"] == "reference"]
    numbers = rows[["u_n", "u_t", "lambda_n", "p_n"]].to_numpy(dtype=float)
    return [
        (f"{t:.10g}", str(contact), str(what), *(_cell(x) for x in own))
        for (t, contact, what), own in zip(rows[["t", "contact", "what"]].itertuples(index=False), numbers, strict=True)
    ]


def _cell(x: float) -> str:
    return UNDEFINED if pd.isna(x) else "0" if abs(x) < ROUNDING else f"{x:.5g}"


def apart_cells(c: Comparison) -> list[tuple[str, str, str]]:
    """Return the missed and spurious events of each formulation at the first step size, in words."""
    if c.events.empty:
        return []
    rows = by_first_solver(c.events[(c.events["role"] != "reference") & (c.events["step"] == c.settings.steps[0])])
    return [
        (str(label), _listed_events(own[own["role"] == MISSED]), _listed_events(own[own["role"] == SPURIOUS]))
        for label, own in rows.groupby("label", sort=False)
    ]


def _listed_events(rows: pd.DataFrame) -> str:
    """List up to `MOST` events, each with its contact and time."""
    told = [
        f"{what} at {t:.4g} s (contact {contact})"
        for t, contact, what in rows[["t", "contact", "what"]].head(MOST).itertuples(index=False)
    ]
    return "; ".join([*told, *[f"{len(rows) - MOST} more"] * (len(rows) > MOST)]) or UNDEFINED
