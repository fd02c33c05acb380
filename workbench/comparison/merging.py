"""Several saved comparisons as one, where they are of the same system, settings and versions; why not, where not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workbench.comparison import saved
from workbench.comparison.columns import (
    CASE,
    DIAGNOSTICS,
    EVENTS,
    ONWARD,
    PROBLEM,
    RUNS,
    SCENE,
    TIMELINE,
    TRAJECTORIES,
    Column,
    framed,
)
from workbench.comparison.motion import DrawnMotion, measured_rows
from workbench.comparison.result import Comparison
from workbench.comparison.scenes.bodies import BODIES
from workbench.comparison.shown import SceneShown
from workbench.mechanics.relaxation import Relaxation
from workbench.support.errors import DataError

DRAWING = ("altair", "vl-convert-python", "rich")
"""Packages whose version changes no number."""
OF_MOMENTS = ("position", "orientation", "point", "axes", "force", "slip")
"""Arrays of a track with one entry for each moment."""
OF_A_RUN = ("label", "solver", "step")
"""Columns that identify a run; problems have no steps."""
FRAMES = ("runs", "trajectories", "bodies", "timeline", "events")
"""Frames with rows of runs."""


@dataclass(frozen=True, eq=False)
class Saved:
    """A comparison from a folder, with its provenance."""

    folder: Path
    comparison: Comparison
    provenance: dict[str, Any]

    @classmethod
    def of(cls, folder: str | Path) -> "Saved":
        """Read a folder; raises DataError in one line."""
        path = Path(folder)
        return cls(path, saved.load(path), saved.provenance_of(path))


def merged(several: Sequence[Saved]) -> Comparison:
    """Merge comparisons into one. Of a run that occurs twice the newer one is kept, and a remark says so.

    Raises DataError, which names what differs, where they are not of one system, reference, metrics and versions.
    """
    first, *others = several
    for other in others:
        if differs := difference(first, other):
            raise DataError(
                f"'{other.folder}' cannot be merged with '{first.folder}': {differs}; "
                "one page needs one system, reference and version"
            )
    if not others:
        return first.comparison
    remarks = list(dict.fromkeys(x for s in several for x in s.comparison.remarks))
    kept, left_out = _without_older(several)
    c, all_of = first.comparison, [s.comparison for s in several]
    sizes = tuple(dict.fromkeys(h for x in all_of for h in x.settings.steps))
    formulations = {f.label: f for x in all_of for f in x.formulations}
    engines = {label: words for x in all_of if x.scene for label, words in x.scene.engines.items()}
    cards = {card["label"]: card for x in all_of for card in x.mathematics}
    order: dict[str, list[Any]] = {"step": list(sizes), "label": [*formulations, *engines]}
    about = CASE if c.case else SCENE if c.scene else PROBLEM
    columns = [*RUNS, *(x for m in c.metrics for x in m.columns)]
    rows: list[Any] = [row for x in kept for row in x.runs.to_dict("records")]
    shown = _motion(kept, order)
    if shown is not None:
        # The path's length is a sum over the moments that all runs share.
        rows = measured_rows(rows, shown)
    diagnostics = _ordered(pd.concat([x.diagnostics for x in all_of]), order).drop_duplicates(
        ["label", "step", "quantity"], ignore_index=True
    )
    references = [_of_role(x.trajectories, "reference") for x in kept]
    # Its own uncertainty is known where a run of it at half its step was made.
    reference = max(references, key=lambda frame: frame.notna().sum().sum())
    of_runs = [_of_role(x.trajectories, "run") for x in kept]
    trajectories = pd.concat([reference, _ordered(pd.concat(of_runs), order)], ignore_index=True)
    times = {x.seconds for x in all_of}
    return replace(
        c, formulations=tuple(formulations.values()), mathematics=tuple(cards[label] for label in formulations),
        runs=framed(_ordered(pd.DataFrame(rows), order), columns, about),
        trajectories=framed(trajectories, [x for x in TRAJECTORIES if x.name in trajectories], about),
        diagnostics=framed(diagnostics, DIAGNOSTICS, about),
        settings=replace(c.settings, steps=sizes), remarks=(*remarks, *left_out),
        seconds=times.pop() if len(times) == 1 else None, motion=shown,
        scene=_scene([x.scene for x in all_of if x.scene], engines),
        bodies=framed(_ordered(pd.concat([x.bodies for x in kept]), order), BODIES, about) if c.scene else c.bodies,
        onward=framed(
            # Who made them twice made the same: declarations, settings and versions are.
            _ordered(pd.concat([x.onward for x in kept]), order)
            .drop_duplicates(["label", "step", "after"], ignore_index=True), ONWARD, about,
        ) if c.case else c.onward,
        timeline=_of_contacts([x.timeline for x in kept], order, TIMELINE, about),
        events=_of_contacts([x.events for x in kept], order, EVENTS, about),
    )  # fmt: skip


def _of_role(frame: pd.DataFrame, role: str) -> pd.DataFrame:
    return frame[frame["role"] == role]


def _of_contacts(
    frames: Sequence[pd.DataFrame], order: Mapping[str, list[Any]], columns: Sequence[Column], about: frozenset[str]
) -> pd.DataFrame:
    """Return the reference's rows, common to all, and those of all runs; empty if one comparison has none."""
    if any(frame.columns.empty for frame in frames):
        return pd.DataFrame()
    of_runs = _ordered(pd.concat([frame[frame["role"] != "reference"] for frame in frames]), order)
    return framed(pd.concat([_of_role(frames[0], "reference"), of_runs], ignore_index=True), columns, about)


def difference(a: Saved, b: Saved) -> str:
    """Return the first difference that prevents merging two comparisons, in words; empty if there is none."""
    x, y = a.comparison, b.comparison
    kinds = ["case" if c.case else "scene" if c.scene else "file" for c in (x, y)]
    if (x.name, kinds[0]) != (y.name, kinds[1]):
        return f"{kinds[1]} {y.name} instead of {kinds[0]} {x.name}"
    versions = [{k: v for k, v in s.provenance["versions"].items() if k not in DRAWING} for s in (a, b)]
    found = _first_difference("version of ", *versions)
    if x.case is not None and y.case is not None:
        found = found or _first_difference("", x.case.parameters, y.case.parameters)  # type: ignore[union-attr]
    if x.scene is not None and y.scene is not None:
        found = found or _of_scenes(x.scene, y.scene)
    if x.stepped:
        # How long a scene was stepped beyond what is compared makes no difference.
        free = {"steps", *["duration"] * (x.scene is not None)}
        settings = [{k: v for k, v in vars(c.settings).items() if k not in free} for c in (x, y)]
        found = found or _first_difference("", *settings)
    found = found or _first_difference("the problem's ", x.facts, y.facts)
    found = found or _first_difference("metric ", *({m.name: m.columns for m in c.metrics} for c in (x, y)))
    cards = [{card["label"]: card for card in c.mathematics} for c in (x, y)]
    changed = [f"another declaration of {x}" for x in cards[0] if x in cards[1] and cards[0][x] != cards[1][x]]
    return found or next(iter(changed), "") or _of_references(x, y)


def _of_scenes(x: SceneShown, y: SceneShown) -> str:
    facts = [{"bodies": s.bodies, "list of what is left out": s.left_out} | s.facts for s in (x, y)]
    found = _first_difference("the model's ", *facts)
    if not found and x.until != y.until:
        found = (
            f"compared up to {y.until:g} s instead of {x.until:g} s; --duration {min(x.until, y.until):g} makes both "
            "the same"
        )
    return found


def _scene(several: Sequence[SceneShown], engines: dict[str, str]) -> SceneShown | None:
    """Return the scene shown: the reason why the comparison stops, if one gives it, and the engines of all."""
    first = next((x for x in several if x.why), several[0] if several else None)
    return first and replace(first, engines=engines)


def _first_difference(what: str, x: Mapping[str, Any], y: Mapping[str, Any]) -> str:
    for key in dict.fromkeys([*x, *y]):
        if key not in x or key not in y:
            return f"{what}{key.replace('_', ' ')} in one of them alone"
        here, there = x[key], y[key]
        if here != there and not (here != here and there != there):
            short = isinstance(here, str | int | float | Relaxation)
            words = f"{str(there)[:60]} instead of {str(here)[:60]}" if short else "differs"
            return f"{what}{key.replace('_', ' ')} {words}"
    return ""


def _of_references(x: Comparison, y: Comparison) -> str:
    """Exact solutions that differ in any bit: those of another processor, of code or of a model that has changed."""
    frames = [c.trajectories[c.trajectories["role"] == "reference"].reset_index(drop=True) for c in (x, y)]
    for name in ("p_n", "u_n", "p_t1", "u_t1", "x", "y", "z", "load"):
        here, there = (frame[name].to_numpy() if name in frame else np.zeros(0) for frame in frames)
        if not np.array_equal(here, there, equal_nan=True):
            changed = "a changed model, changed code" if x.scene else "changed code"
            return f"the exact solutions differ, as those of {changed} or of another processor do"
    return ""


def _without_older(several: Sequence[Saved]) -> tuple[list[Comparison], list[str]]:
    """Return the comparisons without runs that a newer one has, and remarks on the runs left out."""
    kept, left_out = [], []
    for i, s in enumerate(several):
        c = s.comparison
        for j, other in enumerate(several):
            newer = (other.provenance["created"], j) > (s.provenance["created"], i)
            twice = _keys(c.runs) & _keys(other.comparison.runs) if newer else set()
            if twice:
                left_out.append(
                    f"{len(twice)} run{'s are' if len(twice) > 1 else ' is'} in '{s.folder}' and in '{other.folder}'; "
                    f"shown is the newer, of {other.provenance['created']}, in '{other.folder}'."
                )
                frames = {name: getattr(c, name) for name in FRAMES}
                frames = {name: x for name, x in frames.items() if len(x)}
                c = replace(c, **{name: x[[key not in twice for key in _in_order(x)]] for name, x in frames.items()})
        kept.append(c)
    return kept, left_out


def _motion(several: Sequence[Comparison], order: Mapping[str, list[Any]]) -> DrawnMotion | None:
    """The tracks of the runs that were kept, at the moments that all share; None where one has no motion."""
    motions = [c.motion for c in several if c.motion is not None]
    if len(motions) < len(several):
        return None
    first = motions[0]
    # In steps of the reference: those of different step sizes are thinned differently.
    h = several[0].settings.reference_step
    ticks = [np.round(m.t / h).astype(np.int64) for m in motions]
    shared = reduce(np.intersect1d, ticks)
    tracks = []
    for m, tick, c in zip(motions, ticks, several, strict=True):
        rows, there = np.searchsorted(tick, shared), _keys(c.runs)
        for x in m.tracks:
            if (x.label, x.solver, x.step) in there or (m is first and x.role == "reference"):
                arrays = {name: getattr(x, name)[rows] for name in OF_MOMENTS}
                tracks.append(replace(x, **arrays))
    places = {x: i for i, x in enumerate((h, label) for h in order["step"] for label in order["label"])}
    tracks.sort(key=lambda x: -1 if x.role == "reference" else places[x.step, x.label])
    return DrawnMotion(
        first.t[np.searchsorted(ticks[0], shared)], first.bodies, first.ground, tuple(tracks), first.radii
    )


def _in_order(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the values that identify runs, row by row."""
    return list(frame[[x for x in OF_A_RUN if x in frame]].itertuples(index=False, name=None))


def _keys(frame: pd.DataFrame) -> set[tuple[Any, ...]]:
    return set(_in_order(frame))


def _ordered(frame: pd.DataFrame, order: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Return the rows by step, then formulation, as in a comparison; other rows keep their order."""
    by = [name for name in order if name in frame]
    return frame.sort_values(by, key=lambda x: x.map(order[str(x.name)].index), kind="stable")
