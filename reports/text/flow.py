"""Conclusions of a study of granular flow, in sentences."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from workbench.builtin.reports.text.conclusions import listed, significant
from workbench.comparison.scenes.flow import GranularFlow, at_roughness
from workbench.comparison.scenes.flow_differences import EXACT, SURE

ASSOCIATED = "ccp"
ANYTHING = "unbounded with so few starts"


def sentences(f: GranularFlow) -> list[str]:
    """The answer first: what associated flow changes and what nobody can tell; then at which step its artefact is
    finer than the grains, and how sure all of that is."""
    rows = f.rows[f.rows["finished"]]
    if rows.empty:
        return ["No run finished: " + "; ".join(dict.fromkeys(f.rows["reason"])) + "."]
    found = [*_changes(f), *_over_mu(f, rows), *_artefact(f, rows), *_checked(f), *_how_sure(f, rows)]
    for r in f.rows[~f.rows["finished"]].to_dict("records"):
        found.append(
            f"{r['formulation']} with μ = {r['mu']:g}, {_ms(r['step'])} and start {r['seed'] + 1} ended early, "
            f"{r['reason']}."
        )
    return found


def _changes(f: GranularFlow) -> list[str]:
    """Return the significant differences of every formulation, and bounds of the others."""
    d, found = f.differences, []
    d = d[np.isfinite(d["uncertainty"].astype(float))]
    for formulation in [x for x in dict.fromkeys(d["formulation"]) if x != EXACT]:
        own = d[d["formulation"] == formulation]
        each = {m: own[own["measure"] == m] for m in f.measures if m in set(own["measure"])}
        found += [_significant(x, m, formulation) for m, x in each.items() if x["significant"].any()]
        found += _not_significant(
            {m: x for m, x in each.items() if not x["significant"].any()}, formulation, len(found) > 0
        )
    itself = d[(d["formulation"] == EXACT) & d["significant"].astype(bool)]
    if len(itself):
        names = listed([x.replace("_", " ") for x in dict.fromkeys(itself["measure"])])
        found.append(f"The time step alone, under Coulomb's law, also causes a significant change: {names}.")
    return found


def _significant(d: pd.DataFrame, measure: str, formulation: str) -> str:
    clear, others = d[d["significant"]].sort_values(["mu", "step"]), d[~d["significant"]]
    each = listed([
        f"{significant(100 * abs(r['difference']))} ± {significant(100 * r['uncertainty'])} % "
        f"{'more' if r['difference'] > 0 else 'less'} at μ = {r['mu']:g} and {_ms(r['step'])}"
        for r in clear.to_dict("records")
    ])  # fmt: skip
    rest = f" Elsewhere there is no significant difference: it is {_below(others)}." if len(others) else ""
    return f"{_title(measure)}: {formulation} has {each} than {EXACT}.{rest}"


def _not_significant(each: dict[str, pd.DataFrame], formulation: str, others: bool) -> list[str]:
    if not each:
        return []
    bounds = {m.replace("_", " "): _below(x) for m, x in each.items()}
    known = [f"{m} {words}" for m, words in bounds.items() if words != ANYTHING]
    open_ = [m for m, words in bounds.items() if words == ANYTHING]
    rest = " in other measures" if others else ""
    found = f"No significant difference between {formulation} and {EXACT}{rest}."
    found += f" At all μ and steps the difference is, in {listed(known)}." if known else ""
    return [found + (f" In {listed(open_)} it is {ANYTHING}." if open_ else "")]


def _below(d: pd.DataFrame) -> str:
    """Return an upper bound on differences that are not significant."""
    most = float((d["difference"].abs() + d["uncertainty"]).max())
    return f"below {significant(100 * most)} %" if most < 1 else ANYTHING


def _over_mu(f: GranularFlow, rows: pd.DataFrame) -> list[str]:
    """Return the scene's own measures over the friction coefficient, under Coulomb's law at the smallest step."""
    own = rows[(rows["formulation"] == EXACT) & (rows["step"] == rows["step"].min())]
    if own["mu"].nunique() < 2 or own.groupby("mu")["seed"].nunique().min() < 2:
        return []
    found = []
    for measure, (unit, _) in f.case.measures.items():
        by = own.dropna(subset=[measure]).groupby("mu")[measure]
        n, mean = by.count(), by.mean()
        if len(n) < 2 or n.min() < 2:
            continue
        half = stdtrit(n - 1, 0.5 * (1 + SURE)) * by.std() / np.sqrt(n)
        each = listed(
            [
                f"{significant(x, 3)} ± {significant(e)} at μ = {mu:g}"
                for mu, x, e in zip(n.index, mean, half, strict=True)
            ]
        )
        of = "" if unit in ("", "1") else f" [{unit}]"
        found.append(
            f"{_title(measure)}{of} over μ, {EXACT} at {_ms(own['step'].iloc[0])}: {each} ({_order(mean, half)})."
        )
    return found


def _order(mean: pd.Series, half: pd.Series) -> str:
    """Return whether a mean rises or falls significantly from the smallest to the largest friction coefficient."""
    change, open_ = mean.iloc[-1] - mean.iloc[0], half.iloc[-1] + half.iloc[0]
    if not abs(change) > open_:
        return "no significant change"
    return "increasing" if change > 0 else "decreasing"


def _checked(f: GranularFlow) -> list[str]:
    """Return the truths with the number of runs in which each holds."""
    if f.truths.empty:
        return []
    held = f.truths.groupby("name", sort=False)["holds"].agg(["sum", "count"])
    whole = [str(name) for name, r in held.iterrows() if r["sum"] == r["count"]]
    rest = [f"{name} in {r['sum']} of {r['count']} runs" for name, r in held.iterrows() if r["sum"] < r["count"]]
    always = [f"{listed(whole)} in every run"] if whole else []
    return [f"Checks against theory that hold: {'; '.join([*always, *rest])}."]


def _artefact(f: GranularFlow, rows: pd.DataFrame) -> list[str]:
    own = rows[(rows["formulation"] == ASSOCIATED) & (rows["needed_step"] > 0)]
    if own.empty:
        return []
    steps = ", ".join(_needed(mu, x) for mu, x in at_roughness(own).groupby("mu")["needed_step"])
    beside = dict.fromkeys(significant(x) for x in np.sort(own["artefact"] / f.roughness)[[0, -1]])
    return [
        f"Associated flow ({ASSOCIATED}) opens sliding contacts by μ h |uₜ|, the force-weighted mean. This gap is "
        f"smaller than the roughness of a grain, {1e6 * f.roughness:.3g} µm here, for steps below {steps}. At the "
        f"steps used here it is {' to '.join(beside)} times the roughness."
    ]


def _needed(mu: Any, x: pd.Series) -> str:
    spread = "" if len(x) < 2 else f" ({significant(1e3 * x.min())} to {significant(1e3 * x.max())})"
    return f"{significant(1e3 * x.mean())} ms{spread} at μ = {mu:g}"


def _how_sure(f: GranularFlow, rows: pd.DataFrame) -> list[str]:
    starts = rows["seed"].nunique()
    if EXACT not in set(rows["formulation"]):
        return []
    if not np.isfinite(f.differences["uncertainty"].astype(float)).any():
        return ["One start does not give a confidence interval: use more (--seeds)."]
    return [
        f"Confidence: each number is the mean difference from {EXACT} over {starts} starts, paired by start. The "
        f"interval ± is Student's t from the spread of the pairs of all steps at a μ, simultaneous at {100 * SURE:g} % "
        "for all measures, μ and steps. Colliding grains are chaotic, so single runs are not significant."
    ]


def _ms(step: float) -> str:
    return f"{1e3 * step:g} ms"


def _title(measure: str) -> str:
    return measure.replace("_", " ").capitalize()
