"""The outcomes of checking a claim: verified, refuted, or not verified. Standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VERIFIED, REFUTED, NOT_VERIFIED = "verified", "refuted", "not verified"

NO_CERTIFICATE = 2
"""Exit status if no claim was checked: no certificate, a damaged one, or one of another problem."""
STATUS = {VERIFIED: 0, REFUTED: 1, NOT_VERIFIED: 3}
"""Exit status of each outcome."""


class RefusedError(Exception):
    """The certificate's support does not prove its claim, which is no evidence against it; the message says why."""


class RefutedError(RefusedError):
    """The claim is wrong, or the numbers of its support contradict what they should show."""


class PremiseError(RefusedError):
    """The claim depends on another one that is not verified, or not yet."""


class TooLongError(RefusedError):
    """The check would exceed a limit, of time or of index sets."""


@dataclass(frozen=True)
class Finding:
    """The outcome of one claim: "verified", "refuted" or "not verified", with the reason of the last two."""

    about: str
    claim: str
    result: str
    reason: str = ""


def printable(text: str) -> str:
    """The text without characters that move a terminal's cursor or end a line."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def outcome(findings: Sequence[Finding]) -> str:
    """The overall outcome: refuted if one is, verified if there is one and all are, else not verified."""
    results = {finding.result for finding in findings}
    if REFUTED in results:
        return REFUTED
    return VERIFIED if results == {VERIFIED} else NOT_VERIFIED


def sentences(findings: Sequence[Finding]) -> list[str]:
    """The outcome as text."""
    verified, refuted, left = (sum(f.result == r for f in findings) for r in (VERIFIED, REFUTED, NOT_VERIFIED))
    if not findings:
        return ["Nothing is verified: the certificate makes no claim."]
    words = [f"{verified} of {len(findings)} claims hold in exact arithmetic." if verified else "Nothing is verified."]
    if refuted:
        words.append(f"{refuted} refuted.")
    if left:
        words.append(f"{left} not verified.")
    return words


def text(findings: Sequence[Finding], left_out: Sequence[Mapping[str, Any]] = ()) -> str:
    """One line per claim, the overall outcome as text, and one line per verdict without a claim."""
    about, claim = (max((len(getattr(f, name)) for f in findings), default=0) for name in ("about", "claim"))
    rows = [f"{f.about:<{about}}  {f.claim:<{claim}}  {f.result}{': ' if f.reason else ''}{f.reason}" for f in findings]
    others = [printable(f"Not in the certificate: {x['about'][:40]}: {x['reason'][:200]}.") for x in left_out]
    return "\n".join([*rows, *([""] if rows else []), " ".join(sentences(findings)), *others])
