"""What a study of a flow of grains says, in sentences."""

from typing import Any

import numpy as np
import pandas as pd

from workbench.comparison.scenes.flow import Flow
from workbench.comparison.scenes.flow_differences import EXACT, SURE

ASSOCIATED = "ccp"


def sentences(f: Flow) -> list[str]:
    """The answer first: what associated flow changes and what nobody can tell; then at which step its artefact is
    finer than the grains, and how sure all of that is."""
    rows = f.rows[f.rows["finished"]]
    if rows.empty:
        return ["No run came to its end: " + "; ".join(dict.fromkeys(f.rows["reason"])) + "."]
    found = [*_changes(f), *_artefact(f, rows), *_how_sure(f, rows)]
    for r in f.rows[~f.rows["finished"]].to_dict("records"):
        found.append(
            f"{r['formulation']} with μ = {r['mu']:g}, {_ms(r['step'])} and start {r['seed'] + 1} ended early, "
            f"{r['reason']}."
        )
    return found


def _changes(f: Flow) -> list[str]:
    """Of every formulation and measure the changes that are told, and how large those that are not can be."""
    d, found = f.differences, []
    for formulation in [x for x in dict.fromkeys(d["formulation"]) if x != EXACT]:
        own = d[d["formulation"] == formulation]
        parts = [_of_measure(own[own["measure"] == m], m, formulation) for m in f.measures if m in set(own["measure"])]
        found += [part for part in parts if part]
    itself = d[(d["formulation"] == EXACT) & d["told"].astype(bool)]
    if len(itself):
        names = ", ".join(x.replace("_", " ") for x in dict.fromkeys(itself["measure"]))
        found.append(f"The step alone, under Coulomb's law, changes what can be told too: {names}.")
    return found


def _of_measure(d: pd.DataFrame, measure: str, formulation: str) -> str:
    title = measure.replace("_", " ").capitalize()
    if not np.isfinite(d["uncertainty"]).any():
        return ""
    told, others = d[d["told"]].sort_values(["mu", "step"]), d[~d["told"]]
    most = (others["difference"].abs() + others["uncertainty"]).max()
    if told.empty:
        return (
            f"{title}: these runs cannot tell {formulation} from {EXACT}; at every μ and step the difference is below "
            f"{_two(100 * most)} %."
        )
    each = "; ".join(
        f"{_two(100 * abs(r['difference']))} ± {_two(100 * r['uncertainty'])} % "
        f"{'more' if r['difference'] > 0 else 'less'} at μ = {r['mu']:g} and {_ms(r['step'])}"
        for r in told.to_dict("records")
    )
    rest = f" Elsewhere these runs cannot tell them apart: below {_two(100 * most)} %." if len(others) else ""
    return f"{title}: {formulation} has {each} than {EXACT}.{rest}"


def _artefact(f: Flow, rows: pd.DataFrame) -> list[str]:
    own = rows[(rows["formulation"] == ASSOCIATED) & (rows["needed_step"] > 0)]
    if own.empty:
        return []
    finest = own[own["step"] == own["step"].min()].groupby("mu")["needed_step"]
    steps = ", ".join(_needed(mu, x) for mu, x in finest)
    beside = own["artefact"] / f.roughness
    return [
        f"Associated flow ({ASSOCIATED}) holds contacts that slide open by μ h |uₜ|, the mean by their forces. That is "
        f"finer than the roughness of a grain, {1e6 * f.roughness:.3g} µm here, for steps below {steps}; at the steps "
        f"here it is {_two(beside.min())} to {_two(beside.max())} times the roughness."
    ]


def _needed(mu: Any, x: pd.Series) -> str:
    spread = "" if len(x) < 2 else f" ({_two(1e3 * x.min())} to {_two(1e3 * x.max())})"
    return f"{_two(1e3 * x.mean())} ms{spread} at μ = {mu:g}"


def _how_sure(f: Flow, rows: pd.DataFrame) -> list[str]:
    starts = rows["seed"].nunique()
    if EXACT not in set(rows["formulation"]):
        return []
    if not np.isfinite(f.differences["uncertainty"].astype(float)).any():
        return ["What is chance cannot be told from one start: give more (--seeds)."]
    return [
        f"How sure: every number is the mean over {starts} starts of a run less that of {EXACT} from the same start; ± "
        "is what the spread of these pairs leaves open, for all measures, μ and steps together with "
        f"{100 * SURE:g} % (Student's t, the spread of all steps at a μ). Grains that collide forget their start: "
        "single runs mean nothing."
    ]


def _two(x: float) -> str:
    return f"{float(f'{x:.2g}'):g}"


def _ms(step: float) -> str:
    return f"{1e3 * step:g} ms"
