"""Reading a comparison's timeline: contacts by name, and how the modes of a run differ from the reference's.

A contact is a pair of bodies in a scene and a number in a case; everything else is the same for both.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.comparison.columns import SLIDING
from workbench.comparison.result import Comparison, by_first_solver
from workbench.support.arrays import Array

KINDS = "slides", "sticks", "apart", "presses"
"""A difference of a contact's mode between a run and the reference (`otherwise`)."""
NAMES = ("contact", "body", "other")
"""Columns that name a contact: its number in a case, its two bodies in a scene."""


def contact_name(contact: tuple[Any, ...]) -> str:
    """Return the name of a contact: two bodies, or a number."""
    return f"contact {contact[0]}" if len(contact) == 1 else pair_name(*contact)


def pair_name(body: str, other: str) -> str:
    """Return the name of a pair of touching bodies."""
    return f"{body}–{other}"


def first_contact(rows: pd.DataFrame) -> tuple[float, list[str]]:
    """Return the time [s] at which a run's first contact starts, infinite if there is none, and its pairs of bodies."""
    begin = float(rows["start"].min()) if len(rows) else np.inf
    first = rows[rows["start"] == begin]
    return begin, list(dict.fromkeys(map(pair_name, first["body"], first["other"])))


def covered(rows: pd.DataFrame, at: Array) -> Array:
    """Return the total time [s] that these rows, of one run and contact, cover before each of the given times."""
    return _covered(rows[["start", "end"]].to_numpy(dtype=float), at)


def _covered(edges: Array, at: Array) -> Array:
    """`covered` by starts and ends (k, 2), which are in the order of time and do not overlap."""
    length = np.cumsum(edges[:, 1] - edges[:, 0])
    so_far = np.column_stack([np.append(0.0, length[:-1])[: length.size], length])
    return np.interp(at, edges.ravel(), so_far.ravel()) if length.size else np.zeros_like(at)


def _shared(edges: Array, others: Array) -> float:
    """Return the time [s] during which intervals of a contact in two runs overlap."""
    before = _covered(others, edges)
    return float((before[:, 1] - before[:, 0]).sum())


def lasting(rows: pd.DataFrame) -> float:
    """Return the total time [s] of the rows."""
    return float((rows["end"] - rows["start"]).sum())


def names_in(frame: pd.DataFrame) -> list[str]:
    """The columns of a timeline that name a contact."""
    return [x for x in NAMES if x in frame]


def rows_by_contact(rows: pd.DataFrame) -> dict[tuple[Any, ...], pd.DataFrame]:
    """The rows of one run by their contact."""
    return {tuple(key): own for key, own in rows.groupby(names_in(rows), sort=False)}


def until(c: Comparison) -> float:
    """The time [s] up to which a comparison's timeline goes."""
    return c.scene.until if c.scene else c.settings.duration or 0.0


def exact_and_runs(c: Comparison) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The rows of `timeline` of the reference, and by label those of runs at the first step size that are verified
    up to the end, in the order of `runs`, by the first solver."""
    frame = c.timeline
    if frame.empty:
        return frame, {}
    runs = frame[(frame["role"] == "run") & (frame["step"] == c.settings.steps[0])]
    whole = list(c.windows.values())[-1]
    verified = dict.fromkeys(whole["label"][whole["verified"] & (whole["step"] == c.settings.steps[0])])
    runs = by_first_solver(runs[runs["label"].isin(verified)])
    return frame[frame["role"] == "reference"], {str(x): runs[runs["label"] == x] for x in verified}


def otherwise(rows: pd.DataFrame, exact: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the time [s] that each contact spends in a mode other than the reference's.

    slides, sticks   it does so, where in the reference it does the other one
    apart, presses   it does so, where it does not in the reference
    """
    own, theirs, found = _edges(rows), _edges(exact), []
    for contact in dict.fromkeys([*theirs, *own]):
        (given, slid), (here, slides) = (of.get(contact, NEVER) for of in (theirs, own))
        both = _shared(here, given)
        found.append({
            "contact": contact_name(contact),
            "slides": _shared(here[slides], given[~slid]), "sticks": _shared(here[~slides], given[slid]),
            "apart": _time(given) - both, "presses": _time(here) - both,
        })  # fmt: skip
    return found


NEVER = np.zeros((0, 2)), np.zeros(0, dtype=bool)
"""Edges of a contact without intervals, and whether it slides in them."""


def _edges(rows: pd.DataFrame) -> dict[tuple[Any, ...], tuple[Array, NDArray[np.bool_]]]:
    """Return starts and ends (k, 2) [s] of each contact of a run, and whether it slides in between, as arrays: frames
    take a millisecond for each question."""
    edges, slides = rows[["start", "end"]].to_numpy(dtype=float), (rows["mode"] == SLIDING).to_numpy()
    places: dict[tuple[Any, ...], list[int]] = {}
    for k, contact in enumerate(zip(*(rows[x].tolist() for x in names_in(rows)), strict=True)):
        places.setdefault(contact, []).append(k)
    return {contact: (edges[k], slides[k]) for contact, k in places.items()}


def _time(edges: Array) -> float:
    return float((edges[:, 1] - edges[:, 0]).sum())
