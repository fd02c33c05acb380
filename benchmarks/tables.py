"""Tables of a comparison: who solved how many, how fast, and how much faster the workbench is."""

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import FLOOR, Result
from workbench.comparison.profiles import performance_profile

ANSWERED = 1e-4
"""Residual within which an answer is near enough for its time to be compared."""
RELIABLE = 0.9
"""Share of a group that a peer solves if the workbench is to be compared with it by speed."""


def frame(result: Result) -> pd.DataFrame:
    """All rows, with `cost`: seconds where all of the problem is solved, else inf."""
    rows = pd.DataFrame(result.rows)
    good = (rows["solved"] == rows["problems"]) & np.isfinite(rows["seconds"])
    return rows.assign(cost=rows["seconds"].where(good, np.inf))


def costs(rows: pd.DataFrame) -> pd.DataFrame:
    """Problems by solvers, in the order they were given; the floor is no solver."""
    solvers = rows[rows["peer"] != FLOOR]
    table = solvers.pivot_table(index="problem", columns="peer", values="cost", aggfunc="min", sort=False)
    return table[list(dict.fromkeys(solvers["peer"]))]


def summary(result: Result) -> pd.DataFrame:
    """One row a group and peer; `ratio` is the peer's time over the workbench's where both have answered."""
    rows = frame(result)
    ours = result.comparison.peers[0].name
    found = []
    for group, some in rows.groupby("group", sort=False):
        table = times(some)
        for peer, of_peer in some.groupby("peer", sort=False):
            ratios = _ratios(table, str(peer), ours)
            found.append(
                {
                    "group": group, "peer": peer, "problems": of_peer["problems"].sum(),
                    "solved": of_peer["solved"].sum(), "closely": of_peer["closely"].sum(),
                    "worst": of_peer["residual"].max(), "seconds": of_peer["seconds"].median(),
                    "ratio": ratios.median(), "ratio_low": ratios.quantile(0.25), "ratio_high": ratios.quantile(0.75),
                    "common": len(ratios), "why_not": _why_not(of_peer),
                }
            )  # fmt: skip
    return pd.DataFrame(found)


def times(rows: pd.DataFrame) -> pd.DataFrame:
    """Seconds of problems by peers, the floor among them; nan without an answer near enough, or most of a batch."""
    most = rows["solved"] >= RELIABLE * rows["problems"]
    near = (rows["residual"] <= ANSWERED) | most | (rows["peer"] == FLOOR)
    return rows.assign(near=rows["seconds"].where(near)).pivot_table(
        index="problem", columns="peer", values="near", aggfunc="min", sort=False, dropna=False
    )


def _ratios(table: pd.DataFrame, peer: str, ours: str) -> pd.Series:
    return (table[peer] / table[ours]).dropna() if ours in table else pd.Series(dtype=float)


def _why_not(rows: pd.DataFrame) -> str:
    """What the answers that do not count said of themselves, most frequent first."""
    words = rows.loc[rows["solved"] < rows["problems"], "remark"].replace("", "claimed to be solved").value_counts()
    return "; ".join(f"{count} x {word}" for word, count in words.head(2).items())


def profile(result: Result) -> pd.DataFrame:
    """Performance profile (Dolan & More 2002) of all problems: factor, peer, share."""
    table = costs(frame(result))
    factors, shares = performance_profile(table.to_numpy())
    return pd.DataFrame(shares, columns=table.columns).assign(factor=factors).melt("factor", value_name="share")


def markdown(result: Result) -> str:
    """Title, words, one table, what the ratios are against the fastest reliable peer, what is missing."""
    c = result.comparison
    table = summary(result)
    word = "time" if c.unit == "s" else c.unit
    lines = [f"## {c.title}", "", c.about, ""]
    near, close = (f"within {x:.0e}".replace("e-0", "e-") for x in c.within)
    lines += [f"| | solver | {near} | {close} | largest residual | {word} | times the workbench's | fails |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    last = ""
    for r in table.to_dict("records"):
        group, last = ("" if r["group"] == last else r["group"]), r["group"]
        lines.append(f"| {group} | {r['peer']} | {_counts(r)} | {_value(r, c.unit)} | {_ratio(r)} | {_fails(r)} |")
    lines += ["", *(_against_the_fastest(table, c.peers[0].name) if c.rivals else [])]
    lines += [f"Missing: {name} ({why})." for name, why in result.missing.items()]
    options = "; ".join(f"{p.name}: {p.about}" for p in c.peers if p.about)
    return "\n".join([*lines, "", f"Options: {options}.", ""])


def _counts(r: dict[str, Any]) -> str:
    if r["peer"] == FLOOR:
        return "- | - | -"
    worst = "-" if not np.isfinite(r["worst"]) else f"{r['worst']:.0e}"
    return f"{r['solved']}/{r['problems']} | {r['closely']}/{r['problems']} | {worst}"


def _value(r: dict[str, Any], unit: str) -> str:
    seconds = r["seconds"]
    if not np.isfinite(seconds):
        return "-"
    if unit != "s":
        return f"{1 / seconds:,.0f}"
    for scale, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {name}"
    return f"{seconds / 1e-6:.3g} us"


def _ratio(r: dict[str, Any]) -> str:
    if not r["common"]:
        return "-"
    return f"{r['ratio']:.3g} ({r['ratio_low']:.2g}-{r['ratio_high']:.2g})"


def _fails(r: dict[str, Any]) -> str:
    return "" if r["peer"] == FLOOR else r["why_not"].replace("|", "/")


def _against_the_fastest(table: pd.DataFrame, ours: str) -> list[str]:
    """For each group, how the workbench stands to the fastest peer that is reliable in it."""
    lines = []
    for group, some in table.groupby("group", sort=False):
        # The workbench's other solvers are no rivals: their names begin with its own.
        others = some[~some["peer"].str.startswith(ours) & (some["peer"] != FLOOR) & (some["common"] > 0)]
        reliable = others[others["solved"] >= RELIABLE * others["problems"]]
        if len(reliable):
            best = reliable.sort_values("ratio").iloc[0]
            lines.append(
                f"{group}: {best['ratio']:.3g} times as fast as {best['peer']}, the fastest that solves "
                f"{100 * RELIABLE:.0f} %."
            )
        elif len(some):
            lines.append(f"{group}: no peer solves {100 * RELIABLE:.0f} %.")
    return ["  \n".join(lines), ""] if lines else []
