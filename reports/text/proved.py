"""Regimes proved over a box of parameters, as data for programs, in words and in rows of text."""

from typing import Any

import numpy as np

from workbench.builtin.reports.text.painleve import plain
from workbench.diagnostics.box_regime import MEANINGS, VERDICTS
from workbench.diagnostics.proved_ranges import P_WORDS, ProvedRanges


def as_data(r: ProvedRanges) -> dict[str, Any]:
    """JSON-ready; box k is from `lower[k]` to `upper[k]`, as shares of the ranges, which are exact doubles."""
    found = r.witness()
    witness = found and {"verdict": found[1], "parameters": {name: str(x) for name, x in found[0].items()}}
    return plain({
        "ranges": {name: [str(x) for x in span] for name, span in zip(r.names, r.ranges, strict=True)},
        "state": r.state,
        "in_words": in_words(r),
        "shares": r.shares(),
        "p_matrix": p_shares(r),
        "witness": witness,
        "evaluated": r.boxes,
        "seconds": r.seconds,
        "verdicts": list(VERDICTS),
        "boxes": {"lower": r.corner, "upper": r.corner + r.side, "verdict": r.verdict, "p_matrix": r.p},
    })  # fmt: skip


def p_shares(r: ProvedRanges) -> dict[str, float]:
    """Share of the parameters for which M_mu is proved a P-matrix, proved none, and undecided."""
    return {name: r.share(r.p == k) for k, name in P_WORDS.items()}


def rows(r: ProvedRanges) -> list[tuple[str, str]]:
    """Labels and words."""
    found = [("parameters", _ranges(r)), ("state", r.state)]
    found += [(MEANINGS[name], _percent(share)) for name, share in r.shares().items()]
    found.append(("P-matrix", ", ".join(f"{name} {_percent(share)}" for name, share in p_shares(r).items())))
    witness = r.witness()
    if witness is not None:
        values = ", ".join(f"{name} = {float(x):.10g}" for name, x in witness[0].items())
        found.append(("witness", f"{MEANINGS[witness[1]]} at {values}"))
    return [*found, ("effort", f"{r.boxes} boxes in {r.seconds:.2g} s")]


def in_words(r: ProvedRanges) -> list[str]:
    """Sentences made from the findings."""
    shares = r.shares()
    proved = {name: share for name, share in shares.items() if name != "undecided"}
    where = f"{r.state} for {_ranges(r)}"
    if shares.get("unique") == 1:
        words = [f"The sliding contacts have exactly one solution {where}: proved."]
    elif proved:
        parts = ", ".join(f"{MEANINGS[name]} on {_percent(share)}" for name, share in proved.items())
        words = [f"Proved {where}: {parts}; undecided on {_percent(shares.get('undecided', 0.0))} of the range."]
    else:
        words = [f"Nothing was proved {where} in {r.seconds:.2g} s."]
    p = p_shares(r)
    if 0 < p["undecided"] < 1:
        words.append(
            f"M_μ is a P-matrix on {_percent(p['P'])} and none on {_percent(p['not P'])}, proved; all critical states "
            f"lie in the remaining {_percent(p['undecided'])}."
        )
    return words


def _ranges(r: ProvedRanges) -> str:
    spans = (f"{name} in [{float(a):g}, {float(b):g}]" for name, (a, b) in zip(r.names, r.ranges, strict=True))
    return ", ".join(spans)


def _percent(share: float) -> str:
    """A share, its last digit rounded down so that less than everything is never shown as 100 %."""
    return f"{np.floor(1e4 * share) / 1e2:g} %" if share > 0.01 else f"{100 * share:.3g} %"
