"""Differences of formulations from Coulomb's law in granular flow, from several runs each, with their uncertainty.

Runs that begin alike (one seed) make a pair, whose difference is taken beside the mean of Coulomb's runs. Pairs
scatter, since grains that collide forget where they began: the mean of n pairs is known to +- t s / n^1/2, with s the
spread about the means of all steps at one friction coefficient, and t Student's number by which all means of a
formulation hold together with `SURE` (Bonferroni).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

EXACT = "coulomb"
SURE = 0.95
COLUMNS = ["measure", "formulation", "mu", "step", "runs", "difference", "uncertainty", "significant"]


def flow_differences(rows: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """A row per measure, formulation, friction coefficient and step, from complete rows with a `seed`.

    `difference` is relative to Coulomb's mean, `significant` whether it is larger than its `uncertainty`, which is
    infinite where no step has two runs. Coulomb's own is that from its smallest step: what the step does by itself.
    """
    found = []
    for measure in measures if EXACT in set(rows["formulation"]) else ():
        table = rows.pivot_table(measure, ["mu", "seed", "step"], "formulation", sort=False)
        for formulation in table.columns:
            beside = table[EXACT] if formulation != EXACT else _at_smallest(table[EXACT])
            pairs = pd.DataFrame({"own": table[formulation], "beside": beside}).dropna()
            if formulation == EXACT:
                pairs = pairs[pairs.index.get_level_values("step") > rows["step"].min()]
            if len(pairs):
                found.append(_means(pairs, len(measures)).assign(measure=measure, formulation=formulation))
    return pd.concat(found, ignore_index=True)[COLUMNS] if found else pd.DataFrame(columns=COLUMNS)


def _at_smallest(x: pd.Series) -> pd.Series:
    """Return for every row the value of its run at the smallest step."""
    step = x.index.get_level_values("step")
    return x.where(step == step.min()).groupby(["mu", "seed"]).transform("max")


def _means(pairs: pd.DataFrame, measures: int) -> pd.DataFrame:
    """Return means of paired values, index (mu, seed, step), by mu and step, for one of several measures."""
    by = pairs.groupby(["mu", "step"])
    scale = by["beside"].transform("mean").abs()
    difference = (pairs["own"] - pairs["beside"]) / scale.where(scale > 0)
    scatter = difference - difference.groupby(["mu", "step"]).transform("mean")
    both = pd.DataFrame({"difference": difference, "scatter": scatter**2}).dropna()
    found = both.groupby(["mu", "step"]).agg(
        difference=("difference", "mean"), runs=("difference", "count"), scatter=("scatter", "sum")
    ).reset_index()  # fmt: skip
    of_mu = found.groupby("mu")
    free = of_mu["runs"].transform("sum") - of_mu["runs"].transform("count")
    spread = np.sqrt(of_mu["scatter"].transform("sum") / free.where(free > 0))
    times = stdtrit(np.maximum(free, 1), 1 - 0.5 * (1 - SURE) / max(measures * len(found), 1))
    found["uncertainty"] = (times * spread / np.sqrt(found["runs"])).fillna(np.inf)
    return found.assign(significant=found["difference"].abs() > found["uncertainty"])
