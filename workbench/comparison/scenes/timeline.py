"""When which bodies press on each other in a run of a scene, and whether they stick or slide there."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.comparison.columns import LABELS, SCENE, Column
from workbench.comparison.problem_step import MODES
from workbench.comparison.result import Comparison, by_first_solver
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track

WORLD = "world"
"""The name of what does not move, as MuJoCo and URDF have it."""
_, SLIDING, STICKING = MODES
KINDS = "slides", "sticks", "apart", "presses"
"""What a pair does otherwise in a run than in the reference (`otherwise`)."""
TIMELINE = (
    *(x for x in LABELS if x.of >= SCENE),
    Column("role", "", '"run", or "reference" for exact Coulomb friction at the reference\'s step', of=SCENE),
    Column("solver", "", "name of the solver", of=SCENE),
    Column("step", "s", "step size", of=SCENE),
    Column("body", "", "name of the body", of=SCENE),
    Column("other", "", f'name of the other body, "{WORLD}" for what does not move', of=SCENE),
    Column("interval", "1", "number of the interval in which the two press on each other throughout, from 0", of=SCENE),
    Column(
        "least_load", "N", "normal force above which they press: the tolerance of the run's answers times the median "
        "normal force of a contact in the reference", of=SCENE,
    ),
    Column(
        "mode", "", f"{STICKING}, or {SLIDING} where the sliding speed of their contacts, the mean by normal forces, "
        "is above the stick threshold v_th", of=SCENE,
    ),
    Column("start", "s", "start of the first of these steps", of=SCENE),
    Column("end", "s", "end of the last of these steps", of=SCENE),
    Column("impulse", "N s", "sum of the normal impulses in these steps", of=SCENE),
    Column("slip", "m", "distance that the two slide on each other in these steps", of=SCENE),
)  # fmt: skip
"""Columns of `timeline`: a row per run, pair of bodies, and time in which the pair sticks or slides throughout."""


def least_load(x: Track, reference: Track) -> float:
    """The normal force [N] above which a pair presses: what is below is rounding.

    An engine, whose answers have no tolerance, takes that of the reference.
    """
    tolerance = x.tolerance if np.isfinite(x.tolerance) else reference.tolerance
    return float(tolerance * np.median(reference.pressing.load)) if reference.pressing.load.size else 0.0


def timeline(scene: Scene, x: Track, reference: Track, until: float, role: str) -> pd.DataFrame:
    """The rows of `TIMELINE` of a run up to a time [s], pair by pair."""
    name = "coulomb" if role == "reference" else x.label
    label = {
        "scene": scene.name, "formulation": name.partition(":")[0] if role == "run" else name, "label": name,
        "role": role, "solver": x.solver, "step": x.h,
    }  # fmt: skip
    code, k, load, slip = _pairs(x, round(until / x.h), len(scene.bodies))
    least = least_load(x, reference)
    pressed = load > least
    code, k, load, slip = code[pressed], k[pressed], load[pressed], slip[pressed]
    slides = slip > scene.v_th
    # Another pair, or a step in between in which this one does not press, begins an interval.
    begins = np.append(True, (np.diff(code) != 0) | (np.diff(k) != 1))[: k.size]
    parts = np.flatnonzero(begins | np.append(True, slides[1:] != slides[:-1])[: k.size])
    last = np.append(parts[1:], k.size)[: parts.size] - 1
    number = np.cumsum(begins)[parts]
    first_of_pair = np.append(True, np.diff(code[parts]) != 0)[: parts.size]
    interval = number - number[first_of_pair][np.cumsum(first_of_pair) - 1]
    names = np.array([*scene.bodies, WORLD], dtype=object)
    # The number of the world, -1, is that of the last name.
    lower, upper = np.divmod(code[parts], len(names))
    body, other = np.where(lower == 0, upper, lower) - 1, np.where(lower == 0, lower, upper) - 1
    return pd.DataFrame({
        **label, "body": names[body], "other": names[other], "interval": interval, "least_load": least,
        "mode": np.where(slides[parts], SLIDING, STICKING), "start": k[parts] * x.h, "end": (k[last] + 1) * x.h,
        "impulse": _sums(x.h * load, parts), "slip": _sums(x.h * slip, parts),
    })  # fmt: skip


def _pairs(x: Track, steps: int, bodies: int) -> tuple[NDArray[Any], NDArray[Any], Array, Array]:
    """Of every pair and step in which one of its contacts presses: a number of the pair, the step, the load, the slip.

    By pair, then step.
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


def _sums(values: Array, parts: NDArray[np.int64]) -> Array:
    return np.add.reduceat(values, parts) if parts.size else np.zeros(0)


def first_contact(rows: pd.DataFrame) -> tuple[float, list[str]]:
    """When [s] the first contact of a run starts, and between which bodies; infinite where there is none."""
    begin = float(rows["start"].min()) if len(rows) else np.inf
    first = rows[rows["start"] == begin]
    return begin, list(dict.fromkeys(map(pair_name, first["body"], first["other"])))


def pair_name(body: str, other: str) -> str:
    """What two bodies that touch are called."""
    return f"{body}–{other}"


def covered(rows: pd.DataFrame, at: Array) -> Array:
    """For each time the part of it [s] before which these rows, of one run and pair, cover."""
    # The rows of a pair are in the order of time and do not overlap.
    edges = rows[["start", "end"]].to_numpy(dtype=float)
    length = np.cumsum(edges[:, 1] - edges[:, 0])
    so_far = np.column_stack([np.append(0.0, length[:-1])[: length.size], length])
    return np.interp(at, edges.ravel(), so_far.ravel()) if length.size else np.zeros_like(at)


def shared(rows: pd.DataFrame, others: pd.DataFrame) -> float:
    """How long [s] rows of a pair in one run last at the same time as rows of it in another one."""
    return float((covered(others, rows["end"].to_numpy()) - covered(others, rows["start"].to_numpy())).sum())


def lasting(rows: pd.DataFrame) -> float:
    """How long [s] rows last together."""
    return float((rows["end"] - rows["start"]).sum())


def by_pair(rows: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """The rows of one run by their two bodies."""
    return {(str(key[0]), str(key[1])): own for key, own in rows.groupby(["body", "other"], sort=False)}


def exact_and_runs(c: Comparison) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The rows of `timeline` of the reference, and by label those of runs at the first step size, in the order of
    `runs`, by the first solver."""
    frame = c.timeline
    if frame.empty:
        return frame, {}
    runs = frame[(frame["role"] == "run") & (frame["step"] == c.settings.steps[0])]
    verified = dict.fromkeys(c.runs["label"][c.runs["verified"]])
    runs = by_first_solver(runs[runs["label"].isin(verified)])
    return frame[frame["role"] == "reference"], {str(x): runs[runs["label"] == x] for x in verified}


def otherwise(rows: pd.DataFrame, exact: pd.DataFrame) -> list[dict[str, Any]]:
    """How long [s] each pair does otherwise in a run than in the reference.

    slides, sticks   it does so, where in the reference it does the other one
    apart, presses   it does so, where it does not in the reference
    """
    own, theirs, found = by_pair(rows), by_pair(exact), []
    for body, other in dict.fromkeys([*theirs, *own]):
        given, here = (of.get((body, other), rows[:0]) for of in (theirs, own))
        stuck, slid = (given[given["mode"] == mode] for mode in (STICKING, SLIDING))
        sticks, slides = (here[here["mode"] == mode] for mode in (STICKING, SLIDING))
        found.append({
            "pair": pair_name(body, other), "slides": shared(slides, stuck), "sticks": shared(sticks, slid),
            "apart": lasting(given) - shared(given, here), "presses": lasting(here) - shared(here, given),
        })  # fmt: skip
    return found
