"""Check a certificate: what is claimed of M and q, claim by claim, in exact arithmetic. Standard library only.

No module here imports anything that finds verdicts. The format is that of docs/certificates.md.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.certificates.bounded import check_uniqueness
from workbench.certificates.classes import check_class, check_indefinite
from workbench.certificates.distance import check_distance
from workbench.certificates.exact import RefusedError, Rows, Vector, rank, rational, vector
from workbench.certificates.friction import LAWS, Friction, check_existence
from workbench.certificates.repetition import TooLongError
from workbench.certificates.solutions import check_solutions

FORMAT, VERSION = "contact workbench certificate", 1

Support = dict[str, Any]
Known = dict[str, str]

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


@dataclass(frozen=True)
class Problem:
    """What a document is about: M with q or bounds, or a friction problem."""

    M: Rows
    q: Vector | None = None
    bounds: Any = None
    friction: Friction | None = None


Check = Callable[[Problem, Support, Known], None]


def read(document: Any) -> tuple[Problem, list[dict[str, Any]]]:
    """The problem and the claims. RefusedError for another format or version, or where the digest does not fit."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise RefusedError(f"this is no certificate: its format is not {FORMAT!r}")
    if document.get("version") != VERSION:
        raise RefusedError(f"version {str(document.get('version'))[:20]} of the format is not known, only {VERSION}")
    if document.get("digest") != digest(document):
        raise RefusedError("the content does not fit its digest: it was damaged or edited")
    claims = document.get("claims")
    if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims):
        raise RefusedError("a certificate needs a list of claims")
    if document.get("friction") is not None:
        friction = Friction(document["friction"])
        return Problem(friction.W, friction=friction), claims
    rows, q = document.get("M"), document.get("q")
    if not isinstance(rows, list) or not rows:
        raise RefusedError("a certificate needs a matrix M")
    M = [vector(row, len(rows), f"row {i} of M") for i, row in enumerate(rows)]
    return Problem(M, None if q is None else vector(q, len(M), "q"), document.get("bounds")), claims


def verify(document: Any) -> list[Finding]:
    """Check every claim; claims may rest on others that hold. Raises RefusedError where the whole cannot be read."""
    problem, claims = read(document)
    known: dict[str, str] = {}
    findings = [_checked(problem, claim, known) for claim in claims]
    # A claim that rests on others is tried again as long as more of them hold.
    proved = -1
    while len(known) > proved:
        proved = len(known)
        findings = [
            _checked(problem, claim, known) if finding.result == REFUSED else finding
            for claim, finding in zip(claims, findings, strict=True)
        ]
    return findings


def _checked(problem: Problem, claim: dict[str, Any], known: dict[str, str]) -> Finding:
    about, verdict, support = str(claim.get("about")), claim.get("verdict"), claim.get("support")
    try:
        if not isinstance(support, dict):
            raise RefusedError("the support is not an object")
        if about in OTHERS:
            OTHERS[about](problem, {**support, "verdict": verdict}, known)
        else:
            check_class(problem.M, about, str(verdict), support, known)
            known[about] = str(verdict)
    except TooLongError as why:
        return Finding(about, _shown(verdict), TOO_LONG, str(why))
    except RefusedError as why:
        return Finding(about, _shown(verdict), REFUSED, str(why))
    except RecursionError:
        return Finding(about, _shown(verdict), REFUSED, "its tree is too deep to be followed")
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


def _check_rank(problem: Problem, support: Support, _known: Known) -> None:
    found = rank(problem.M)
    if type(support["verdict"]) is not int or support["verdict"] != found:
        raise RefusedError(f"the rank is {found}")


def _check_solutions(problem: Problem, support: Support, known: Known) -> None:
    if problem.q is None:
        raise RefusedError("solutions are those of a right-hand side q, which is not given")
    check_solutions(problem.M, problem.q, support, known)


def _check_distance_to_non_p(problem: Problem, support: Support, known: Known) -> None:
    if known.get("P") != "yes":
        raise RefusedError("the distance to a singular minor is that to the non-P matrices for a proved P-matrix only")
    check_distance(problem.M, support)


def _check_existence(law: str) -> Check:
    def check(problem: Problem, support: Support, _known: Known) -> None:
        if problem.friction is None:
            raise RefusedError("that is a claim on a friction problem, which is not given")
        check_existence(problem.friction, law, support["verdict"], support)

    return check


OTHERS: dict[str, Check] = {
    "rank": _check_rank,
    "indefinite": lambda problem, support, _known: check_indefinite(problem.M, support),
    "solutions": _check_solutions,
    "distance_to_degenerate": lambda problem, support, _known: check_distance(problem.M, support),
    "distance_to_non_p": _check_distance_to_non_p,
    "uniqueness": lambda problem, support, _known: check_uniqueness(
        problem.M, problem.bounds, support["verdict"], support
    ),
    **{law: _check_existence(law) for law in LAWS},
}
