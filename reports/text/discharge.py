"""Conclusions on Beverloo's law from runs over several openings of a hopper, in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.builtin.reports.text.conclusions import capital, significant
from workbench.comparison.scenes.discharge import LITERATURE, SURE, Discharge

UNLIKELY = 1 - SURE
NAMES = ("C", "k")
BIN = 2.5
"""Openings that a bin must be wide for its width not to matter."""
WIDE = 4.0
"""Times the sources' interval beyond which one that meets it says little."""


def sentences(x: Discharge) -> list[str]:
    """Return C and k of every formulation with published values, and how well the runs obey the law."""
    laws = x.laws.to_dict("records")
    known = [r for r in laws if np.isfinite(r["C_low"])]
    found = [_law(r) for r in known]
    if known:
        sources = " and ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in LITERATURE.items())
        found.append(
            f"Beverloo's law is W = C ρ g^1/2 (D − k d)^5/2, with ρ the bulk density of the grains, measured in each "
            f"run when the hole opens. Literature values for spheres: {sources} (Nedderman 1992)."
        )
    for r in laws:
        if not np.isfinite(r["C_low"]):
            found.append(f"{capital(_who(r))}: {r['runs']} runs with a discharge do not determine C and k.")
    return [*found, *_too_wide(x), *_left_out(x), *_how_sure(known)]


def _too_wide(x: Discharge) -> list[str]:
    """Return a warning if the bin is too narrow for the law."""
    widest = max(flow.case.opening / flow.case.bin for flow in x.flows)  # type: ignore[attr-defined]
    if BIN * widest <= 1:
        return []
    return [
        f"The law holds for bins wider than {BIN:g} openings (Mankoc et al. 2007, Granular Matter 9). Here the bin is "
        f"{significant(1 / widest)} times the widest opening, so C and k are specific to this bin."
    ]


def _law(r: Mapping[Any, Any]) -> str:
    constants = " and ".join(
        f"{x} = {significant(r[x])} ({significant(r[f'{x}_low'])} to {significant(r[f'{x}_high'])})" for x in NAMES
    )
    beside = [_beside(r, x) for x in NAMES]
    held = ", ".join(f"{x} is {words}" for x, words in zip(NAMES, beside, strict=True))
    if beside[0] == beside[1]:
        held = f"both are {beside[0]}"
    return f"{capital(_who(r))}: {constants}; compared with the literature, {held}. {_straight(r)}"


def _beside(r: Mapping[Any, Any], name: str) -> str:
    """Return whether an interval meets that of the sources; where it is many times as wide, that says little."""
    (least, most), low, high = LITERATURE[name], r[f"{name}_low"], r[f"{name}_high"]
    if high < least or low > most:
        return "too small" if high < least else "too large"
    return "consistent" + (", but the interval is wide" if high - low > WIDE * (most - least) else "")


def _straight(r: Mapping[Any, Any]) -> str:
    p = r["straight"]
    if not np.isfinite(p):
        return "A test of the law needs three openings and several starts."
    if p < UNLIKELY:
        return f"The discharge does not follow the law (p = {significant(p)})."
    return f"The runs do not contradict the law (p = {significant(p)})."


def _left_out(x: Discharge) -> list[str]:
    rows, found = x.rows, []
    ended = rows[~rows["finished"]]
    for r in ended.to_dict("records"):
        found.append(f"{capital(_who(r))}, opening {_mm(r)}, start {r['seed'] + 1}, ended early: {r['reason']}.")
    stuck = rows[rows["finished"] & rows["rate"].isna()]
    if len(stuck):
        each = ", ".join(f"{_mm(r)} ({_who(r)})" for r in stuck.drop_duplicates("opening").to_dict("records"))
        found.append(f"{len(stuck)} runs are omitted because too few grains passed for a rate: {each}.")
    return found


def _how_sure(known: Sequence[Mapping[Any, Any]]) -> list[str]:
    if not known:
        return []
    return [
        f"Confidence: each interval is a {100 * SURE:g} % interval from the scatter of the runs about the law "
        "(Student; Fieller for k). Overlapping intervals do not show that formulations agree; workbench flow hopper "
        "compares their discharge start by start."
    ]


def _who(r: Mapping[Any, Any]) -> str:
    return f"{r['formulation']} at μ = {r['mu']:g} and {1e3 * r['step']:g} ms"


def _mm(r: Mapping[Any, Any]) -> str:
    return f"{1e3 * r['opening']:g} mm"
