"""What a study of a flow of grains says, in sentences."""

from typing import Any

import pandas as pd

from workbench.comparison.scenes.flow import Flow

EXACT, ASSOCIATED = "coulomb", "ccp"


def sentences(f: Flow) -> list[str]:
    """The answer first: at which step associated flow is no coarser than the grains; then what it changes, and how far
    the step itself does."""
    rows = f.rows[f.rows["finished"]]
    if rows.empty:
        return ["No run came to its end: " + "; ".join(dict.fromkeys(f.rows["reason"])) + "."]
    found = [*_artefact(f, rows), *_changes(f, rows)]
    left = f.rows[~f.rows["finished"]]
    for r in left.to_dict("records"):
        found.append(f"{r['formulation']} with μ = {r['mu']:g} and {1e3 * r['step']:g} ms ended early, {r['reason']}.")
    return found


def _artefact(f: Flow, rows: pd.DataFrame) -> list[str]:
    own = rows[(rows["formulation"] == ASSOCIATED) & (rows["needed_step"] > 0)]
    if own.empty:
        return []
    finest = own[own["step"] == own["step"].min()].sort_values("mu")
    steps = ", ".join(f"{1e3 * r['needed_step']:.2g} ms at μ = {r['mu']:g}" for r in finest.to_dict("records"))
    # Where all that is drawn is below, or above, say so.
    below = (own["artefact"] <= f.roughness).mean()
    held = f"That holds for {100 * below:.0f} % of the runs here."
    return [
        "Associated flow (ccp) holds contacts that slide open by μ h |uₜ|. That is less than the roughness of a "
        f"grain, {1e6 * f.roughness:.3g} µm here, for steps below {steps}. {held}"
    ]


def _changes(f: Flow, rows: pd.DataFrame) -> list[str]:
    """Of every measure the largest change from exact Coulomb friction to associated flow, and from step to step."""
    found: list[str] = []
    if not {EXACT, ASSOCIATED} <= set(rows["formulation"]):
        return found
    for name in (*f.case.measures, "solid_fraction", "coordination"):
        both = rows.pivot_table(name, ["mu", "step"], "formulation")
        change = (both[ASSOCIATED] / both[EXACT] - 1.0).dropna()
        if change.empty:
            continue
        place: Any = change.abs().idxmax()
        (mu, step), worst = place, float(change[place])
        finest = change[change.index.get_level_values("step") == rows["step"].min()]
        of_step = both[EXACT].groupby("mu").agg(lambda x: (x.max() - x.min()) / abs(x.mean())).max()
        word = "more" if worst > 0 else "less"
        found.append(
            f"{name.replace('_', ' ').capitalize()}: ccp has up to {100 * abs(worst):.3g} % {word} than coulomb "
            f"(μ = {mu:g}, {1e3 * step:g} ms), and up to {100 * finest.abs().max():.3g} % more or less at the smallest "
            f"step. Coulomb itself varies by up to {100 * of_step:.3g} % over the steps"
            f"{'; so these runs tell no difference' if abs(worst) <= of_step else ''}."
        )
    return found
