"""Check a certificate: what is claimed of M and q, claim by claim, in exact arithmetic. Standard library only.

No module here imports anything that finds verdicts. The format is that of docs/certificates.md.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.certificates.classes import check_class, check_indefinite
from workbench.certificates.distance import check_distance
from workbench.certificates.exact import RefusedError, Rows, Vector, rank, rational, vector
from workbench.certificates.repetition import TooLongError
from workbench.certificates.solutions import check_solutions

FORMAT, VERSION = "contact workbench certificate", 1

HOLDS, REFUSED, TOO_LONG = "holds", "refused", "not repeated"


@dataclass(frozen=True)
class Finding:
    """What the check of one claim came to: "holds", "refused" or "not repeated", and why where it does not hold."""

    about: str
    claim: str
    result: str
    reason: str = ""


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of all but the digest itself, with sorted keys and no spaces."""
    content = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read(document: Any) -> tuple[Rows, Vector | None, list[dict[str, Any]]]:
    """M, q and the claims. RefusedError for another format or version, or content that its digest does not fit."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise RefusedError(f"this is no certificate: its format is not {FORMAT!r}")
    if document.get("version") != VERSION:
        raise RefusedError(f"version {str(document.get('version'))[:20]} of the format is not known, only {VERSION}")
    if document.get("digest") != digest(document):
        raise RefusedError("the content does not fit its digest: it was damaged or edited")
    rows, q, claims = document.get("M"), document.get("q"), document.get("claims")
    if not isinstance(rows, list) or not rows or not isinstance(claims, list):
        raise RefusedError("a certificate needs a matrix M and a list of claims")
    M = [vector(row, len(rows), f"row {i} of M") for i, row in enumerate(rows)]
    if not all(isinstance(claim, dict) for claim in claims):
        raise RefusedError("a claim is not an object")
    return M, None if q is None else vector(q, len(M), "q"), claims


def verify(document: Any) -> list[Finding]:
    """Check every claim; claims may rest on others that hold. Raises RefusedError where the whole cannot be read."""
    M, q, claims = read(document)
    known: dict[str, str] = {}
    findings = [_checked(M, q, claim, known) for claim in claims]
    # A claim that rests on others is tried again as long as more of them hold.
    proved = -1
    while len(known) > proved:
        proved = len(known)
        findings = [
            _checked(M, q, claim, known) if finding.result == REFUSED else finding
            for claim, finding in zip(claims, findings, strict=True)
        ]
    return findings


def _checked(M: Rows, q: Vector | None, claim: dict[str, Any], known: dict[str, str]) -> Finding:
    about, verdict, support = str(claim.get("about")), claim.get("verdict"), claim.get("support")
    try:
        if not isinstance(support, dict):
            raise RefusedError("the support is not an object")
        if about in OTHERS:
            OTHERS[about](M, q, {**support, "verdict": verdict}, known)
        else:
            check_class(M, about, str(verdict), support, known)
            known[about] = str(verdict)
    except TooLongError as why:
        return Finding(about, _shown(verdict), TOO_LONG, str(why))
    except RefusedError as why:
        return Finding(about, _shown(verdict), REFUSED, str(why))
    return Finding(about, _shown(verdict), HOLDS)


def _shown(verdict: Any) -> str:
    """The verdict in a few characters: bounds as rounded decimals."""
    if isinstance(verdict, list):
        return " to ".join(
            "inf" if x is None else str(x)[:40] if "/" not in str(x) else _decimal(str(x)) for x in verdict
        )
    return str(verdict)[:40]


def _decimal(text: str) -> str:
    try:
        return f"{float(rational(text)):.9g}"
    except (RefusedError, OverflowError):
        return text[:40]


def _check_rank(M: Rows, _q: Vector | None, support: dict[str, Any], _known: dict[str, str]) -> None:
    found = rank(M)
    if support["verdict"] != found:
        raise RefusedError(f"the rank is {found}")


def _check_solutions(M: Rows, q: Vector | None, support: dict[str, Any], known: dict[str, str]) -> None:
    if q is None:
        raise RefusedError("solutions are those of a right-hand side q, which is not given")
    check_solutions(M, q, support, known)


def _check_distance(M: Rows, _q: Vector | None, support: dict[str, Any], _known: dict[str, Any]) -> None:
    check_distance(M, support)


def _check_distance_to_non_p(M: Rows, _q: Vector | None, support: dict[str, Any], known: dict[str, Any]) -> None:
    if known.get("P") != "yes":
        raise RefusedError("the distance to a singular minor is that to the non-P matrices for a proved P-matrix only")
    check_distance(M, support)


OTHERS: dict[str, Callable[[Rows, Vector | None, dict[str, Any], dict[str, str]], None]] = {
    "rank": _check_rank,
    "indefinite": lambda M, _q, support, _known: check_indefinite(M, support),
    "solutions": _check_solutions,
    "distance_to_degenerate": _check_distance,
    "distance_to_non_p": _check_distance_to_non_p,
}
