"""The step under the loupe: what each formulation does at one contact in one moment, for the page of a comparison."""

import json
from base64 import b64encode
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.builtin.reports.figures.styles import INK, dashes, palette
from workbench.builtin.reports.figures.tangent_plane import Mark, picture
from workbench.builtin.reports.pages.motion import decimals, moments
from workbench.builtin.reports.text.headline import extremes
from workbench.builtin.reports.text.loupe import (
    OPEN,
    SLIDES,
    STICKS,
    VALUES,
    StepContact,
    cells,
    grouped,
    in_words,
    lead,
    modes,
)
from workbench.comparison.columns import MODES
from workbench.comparison.result import Comparison
from workbench.support.arrays import Array

MOMENTS, CONTACTS, NUMBERS = 241, 60, 300_000
"""Moments and contacts at most, and numbers that the page holds at most, of which moments are left out."""
EARLIEST = 0.1
"""Share of the time before which the page does not open: runs have hardly parted."""
ALIKE = 0.5
"""Share of the reference's sliding velocity within which another slides alike."""
REFERENCE = "reference"
STATE_OF = dict(zip(MODES, (OPEN, SLIDES, STICKS), strict=True))


def loupe(c: Comparison) -> dict[str, Any] | None:
    """Return the data of `loupe.html.j2`: the most instructive moment and the numbers of all; None without any."""
    runs = _runs(c)
    # Comparisons that were saved by an older workbench do not tell modes.
    if len(runs) < 2 or not {"mode", "determined", "least_impulse"} <= set(c.trajectories):
        return None
    steps, contacts = _moments(c, runs)
    given = np.array([_values(c, rows, steps, contacts) for rows in runs.values()])
    # A run that blows up ends in numbers that the page's have no room for.
    values = np.where(abs(given) <= np.finfo(np.float32).max, given, np.nan).astype(np.float32)
    labels, d = list(runs), 2 if "p_t2" in c.trajectories else 1
    shown = [label not in c.turned for label in labels]
    h = [float(rows["step"].iloc[0]) if c.case else 1.0 for rows in runs.values()]
    first = int(np.searchsorted(steps, EARLIEST * steps[-1]))
    k, i = _telling(values[:, first:], shown)
    k += first
    now = values[:, k, i].astype(float)
    at, each = [StepContact(*x) for x in now], [[StepContact(*x) for x in row] for row in values[:, k].astype(float)]
    digits = decimals(steps if c.motion is None else c.motion.t)
    when = f"{steps[k]:.{digits}f} s" if c.case else ""
    cards = {card["label"]: card for card in c.mathematics}
    styles = [(INK, [1, 0]), *zip(palette(labels[1:]), dashes(labels[1:]), strict=True)]
    marks = [
        _mark(label, style, cards.get(label), x, on, _pace(now, shown))
        for label, style, x, on in zip(labels, styles, at, shown, strict=True)
    ]
    data = {
        "t": [float(f"{x:.6g}") for x in steps], "contacts": contacts, "d": d, "h": h, "decimals": digits,
        "labels": labels, "at": [k, i], "values": b64encode(values.tobytes()).decode(), "time": bool(c.case),
    }  # fmt: skip
    visible = [j for j, on in enumerate(shown) if on and j]
    # Of impulses that the velocity leaves open there is no picture at first sight: it would show one of many.
    few = [labels.index(x) for x in extremes(c) if x in labels and at[0].determined]
    title = f"Friction in the tangent plane of contact {contacts[i]}, described below"
    return {
        "data": json.dumps(data), "d": d, "contacts": contacts, "contact": i, "moment": k, "moments": len(steps),
        "left_out": c.trajectories["contact"].nunique() - len(contacts), "case": bool(c.case),
        "picture": picture(marks, d, title),
        "first": picture([marks[0], *(replace(marks[j], shown=True) for j in few)], d, title),
        "few": [(labels[j], marks[j].colour, marks[j].dash, in_words(at[j], at[0])) for j in few],
        "lead": lead(when, contacts[i], at[0], h[0]),
        "words": grouped([labels[j] for j in visible], [at[j] for j in visible], at[0]),
        "runs": [
            {
                "label": label, "colour": m.colour, "dash": m.dash, "shown": m.shown, "cells": cells(x, at[0], step),
                "modes": modes(all_contacts, each[0]),
            }
            for label, m, x, all_contacts, step in zip(labels, marks, at, each, h, strict=True)
        ],
        "estimated": _estimated(c),
        "compliant": bool(c.case and c.settings.relaxation and np.isfinite(c.settings.relaxation.k_t)),
        "turning": [x["label"] for x in c.mathematics if set(x["section_axes"] or ()) - {"fixed"}],
    }  # fmt: skip


def _runs(c: Comparison) -> dict[str, pd.DataFrame]:
    """The rows of `trajectories` by label, the reference first: of the first step size and solver."""
    rows = c.trajectories
    if rows.empty:
        return {}
    exact = rows["role"] == "reference"
    found = {REFERENCE: rows[exact]}
    others = rows[~exact]
    if c.case:
        others = others[others["step"] == c.settings.steps[0]]
    for label, some in others.groupby("label", sort=False):
        found[str(label)] = some[some["solver"] == some["solver"].iloc[0]]
    return found


def _moments(c: Comparison, runs: dict[str, pd.DataFrame]) -> tuple[Array, list[int]]:
    """Times [s], ends of steps and evenly spread, and the contacts that bear the most friction, as many as fit."""
    exact = runs[REFERENCE]
    borne = (exact["mu"] * exact["p_n"]).groupby(exact["contact"]).mean().sort_values(ascending=False, kind="stable")
    contacts = sorted(int(x) for x in borne.index[:CONTACTS])
    if c.case is None:
        return np.zeros(1), contacts
    longest = max(list(runs.values())[1:], key=len)
    t = np.unique(longest["t"].to_numpy())
    # Those of the motion, so that both parts of the page step together; no step ends at its first one.
    if (drawn := moments(c)) is not None:
        t = drawn[(drawn > 0) & (drawn <= t[-1] + 1e-9)]
    count = max(2, min(MOMENTS, t.size, NUMBERS // (len(runs) * len(contacts) * len(VALUES))))
    return t[np.unique(np.linspace(0, t.size - 1, count).round().astype(int))], contacts


def _values(c: Comparison, rows: pd.DataFrame, steps: Array, contacts: list[int]) -> Array:
    """(K, C, 14) `VALUES` of a run, NaN where it has no step."""
    found = np.full((len(steps), len(contacts), len(VALUES)), np.nan)
    for place, contact in enumerate(contacts):
        own = rows[rows["contact"] == contact]
        zero = np.zeros(len(own))
        p_t, u_t = (np.column_stack([own[f"{name}1"], own.get(f"{name}2", zero)]) for name in ("p_t", "u_t"))
        # A file knows no last step: what slides before the step is the free velocity.
        free = None if c.case else np.column_stack([own["free_t1"], own.get("free_t2", zero)])
        axis, slid = _axes(c, str(own["label"].iloc[0]), p_t, u_t, free)
        every = np.column_stack([
            own["mode"].map(STATE_OF).astype(float), own["p_n"], p_t, own["u_n"], u_t, own["mu"], axis, slid,
            own.get("gap", zero + np.nan), own["least_impulse"], own["least_velocity"], own["determined"],
        ])  # fmt: skip
        if c.case is None:
            found[:, place] = every
            continue
        t = own["t"].to_numpy()
        right = np.clip(np.searchsorted(t, steps), 0, len(t) - 1)
        left = np.clip(right - 1, 0, None)
        near = np.where(np.abs(t[left] - steps) < np.abs(t[right] - steps), left, right)
        # The reference has a row for every tenth of its steps.
        reached = np.abs(t[near] - steps) <= max(c.settings.steps[0], t[-1] - t[-2] if len(t) > 1 else 0.0)
        found[reached, place] = every[near[reached]]
    return found


def _estimated(c: Comparison) -> list[str]:
    """Formulations shown that bound friction by other normal forces than those of the step itself."""
    return list(dict.fromkeys(f.name for f in c.formulations if f.options.get("bounds") == "last"))


def _axes(c: Comparison, label: str, p_t: Array, u_t: Array, free: Array | None) -> tuple[Array, Array]:
    """Angle of the first axis in use, and whether the contact slid before each step, by the step before or `free`."""
    if free is None:
        before, last = (np.concatenate([x[:1], x[:-1]]) for x in (u_t, p_t))
    else:
        before, last = free, np.zeros_like(p_t)
    v_th = c.case.v_th if c.case else 0.0
    slid = np.hypot(*before.T) > v_th
    angles = {
        "fixed": np.zeros(len(u_t)), "sliding": np.arctan2(before[:, 1], before[:, 0]),
        "friction": np.arctan2(last[:, 1], last[:, 0]), "body": np.full(len(u_t), np.nan),
    }  # fmt: skip
    known = {card["label"]: card["section_axes"] for card in c.mathematics}
    stick, slide = known.get(label) or ("fixed", "fixed")
    return np.where(slid, angles[slide], angles[stick]), slid


def _shares(values: Array) -> Array:
    """(..., 2) friction over mu p_n, zero for open contacts, NaN without an answer."""
    limit = _named(values, "mu") * _named(values, "p_n")
    bears = (_named(values, "p_n") > _named(values, "least_p")) & (limit > 0)
    found = np.stack([_named(values, "p_t1"), _named(values, "p_t2")], axis=-1) / np.where(bears, limit, 1.0)[..., None]
    found[~bears] = 0.0
    found[np.isnan(_named(values, "state"))] = np.nan
    return found


def _named(values: Array, name: str) -> Array:
    return values[..., VALUES.index(name)]


def _telling(values: NDArray[np.float32], shown: list[bool]) -> tuple[int, int]:
    """Return the time and contact with the largest friction error of formulations that slide as the reference does.

    Where all stick, or have drifted away from the reference, just where they rub farthest from it. Friction that the
    motion leaves open tells nothing.
    """
    x = values.astype(float)[shown]
    shares, u_t = _shares(x), np.stack([_named(x, "u_t1"), _named(x, "u_t2")], axis=-1)
    apart = np.minimum(np.linalg.norm(shares[1:] - shares[0], axis=-1), 1.0) * shares[1:].any(axis=-1)
    apart = apart * (_named(x[1:], "determined") * _named(x[0], "determined"))
    bound = np.nan_to_num(_named(x[0], "mu") * _named(x[0], "p_n"))
    weight = np.minimum(bound / (0.5 * np.max(bound, initial=0.0) or 1.0), 1.0)
    slides = _named(x[0], "state") == SLIDES
    speed = np.linalg.norm(u_t[0], axis=-1)
    alike = slides & (np.linalg.norm(u_t[1:] - u_t[0], axis=-1) < ALIKE * speed)
    scores = (np.nan_to_num(apart * share).mean(axis=0) * weight for share in (alike, True))
    score = next(some for some in (*scores, weight) if some.any() or some is weight)
    k, i = np.unravel_index(int(np.argmax(score)), score.shape)
    return int(k), int(i)


def _pace(now: Array, shown: list[bool]) -> float:
    """The sliding speed by which others are drawn: the reference's, or the largest where that does not slide [m/s]."""
    speed = np.hypot(_named(now[shown], "u_t1"), _named(now[shown], "u_t2"))
    return float(speed[0] if now[0, VALUES.index("state")] == SLIDES else np.nanmax(speed, initial=0.0)) or 1.0


def _mark(
    label: str, style: tuple[str, list[int]], card: dict[str, Any] | None, x: StepContact, shown: bool, pace: float
) -> Mark:
    sections = (card[name] if card else None for name in ("section", "sliding_section"))
    section, sliding = (None if s is None else np.array(s) for s in sections)
    point = np.array([x.p_t1, x.p_t2]) / x.limit if x.bears else np.full(2, np.nan)
    slip = np.array([x.u_t1, x.u_t2]) / pace
    return Mark(label, *style, section, sliding, point, slip, x.axis, x.slid == 1, shown)
