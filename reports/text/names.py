"""Names of formulation variants on a page, the same in texts, tables and figures."""

from dataclasses import replace

import pandas as pd

from workbench.comparison.result import Comparison
from workbench.comparison.shown import SavedFormulation


def name_of(label: str, axes: str, several: bool) -> str:
    """A label in words: "box with turned axes".

    `axes` is the option in use, "" where there is none, as in the plane. A formulation's own axes are not mentioned
    where its label does not either, unless it is there along `several` axes.
    """
    formulation, _, options = label.partition(":")
    others = [x for x in options.split(",") if x and not x.startswith("axes=")]
    if not axes or not (several or "axes=" in options):
        return label
    name = f"{formulation}:{','.join(others)}" if others else formulation
    return f"{name} with {'turned' if axes == 'sliding' else axes} axes"


def named(c: Comparison) -> Comparison:
    """Return the comparison with these names in place of labels; only for texts read by people."""
    axes = dict(zip(c.runs["label"], c.runs.get("axes", pd.Series("", c.runs.index)), strict=True))
    variants = [(f.name, axes.get(f.label, "")) for f in c.formulations]
    along = {name: len({x for other, x in variants if other == name}) for name, _ in variants}
    names = {
        f.label: name_of(f.label, own, along[f.name] > 1)
        for f, (_, own) in zip(c.formulations, variants, strict=True)
    }  # fmt: skip

    def renamed(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(label=frame["label"].map(lambda x: names.get(x, x))) if len(frame) else frame

    return replace(
        c, runs=renamed(c.runs), trajectories=renamed(c.trajectories), diagnostics=renamed(c.diagnostics),
        onward=renamed(c.onward), timeline=renamed(c.timeline), events=renamed(c.events),
        mathematics=tuple(card | {"label": names[card["label"]]} for card in c.mathematics),
        formulations=tuple(
            SavedFormulation(f.name, names[f.label], f.friction, dict(f.options), f.axes) for f in c.formulations
        ),
        motion=c.motion and replace(
            c.motion, tracks=tuple(replace(x, label=names.get(x.label, x.label)) for x in c.motion.tracks)
        ),
    )  # fmt: skip
