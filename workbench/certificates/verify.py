"""Check a certificate: its claims about M and q, one by one, in exact arithmetic. Standard library only.

No module here imports anything that finds verdicts. The format is that of docs/certificates.md.
"""

from collections.abc import Callable
from typing import Any

from workbench.certificates import blocks
from workbench.certificates.bounded import check_uniqueness
from workbench.certificates.boxes import BOX_CLASSES, MatrixBox, check_box_class, check_rank
from workbench.certificates.classes import CLASSES, check_class, check_indefinite
from workbench.certificates.coulomb_count import COUNT, check_count
from workbench.certificates.coulomb_uniqueness import EVERY_Q, check_every_q
from workbench.certificates.distance import check_distance
from workbench.certificates.documents import CLAIM_FIELDS, admit, check_fields
from workbench.certificates.exact import AnyRows, is_sparse, rank, rational
from workbench.certificates.friction import LAWS, Friction, check_existence
from workbench.certificates.largest_uncertainty import NAMES, check_largest_uncertainty
from workbench.certificates.limits import SECONDS, check_time, within
from workbench.certificates.maps import check_map
from workbench.certificates.outcomes import (
    NOT_VERIFIED,
    REFUTED,
    VERIFIED,
    Finding,
    PremiseError,
    RefusedError,
    RefutedError,
    TooLongError,
    printable,
)
from workbench.certificates.problem import LARGE, ProblemData, common, read_problem
from workbench.certificates.solutions import check_solutions
from workbench.certificates.uncertain import Uncertain, check_basis, check_bounds, check_solvable
from workbench.certificates.unique_box import check_unique_box

Claim = dict[str, Any]
Support = dict[str, Any]
Known = dict[str, Any]
"""Verified verdicts on classes, and those on the blocks of the matrix."""
Check = Callable[..., None]
"""Check a claim: problem, verdict, support, verified verdicts. Raises RefusedError."""


def verify(document: Any, given: ProblemData | None = None, seconds: float = SECONDS) -> list[Finding]:
    """Check every claim within `seconds`; claims may depend on others that are verified.

    With a `given` problem the certificate must be about this one, number by number, and claims are checked on the
    common data. Raises RefusedError if the whole is not a certificate, is damaged, exceeds a limit, or is about another
    one.
    """
    with within(seconds):
        document = admit(document)
        try:
            problem = read_problem(document["problem"])
        except TooLongError as why:
            return [_finding(claim, NOT_VERIFIED, str(why)) for claim in document["claims"]]
        return _findings(problem if given is None else common(problem, given), document["claims"])


def _findings(problem: ProblemData, claims: list[Claim], known: Known | None = None) -> list[Finding]:
    """The outcomes of the claims in order; `known` gets the verified verdicts."""
    known = {} if known is None else known
    found: dict[int, Finding] = {}
    while True:
        # A claim that depends on others is tried again as long as more of them are verified.
        proved, waiting = len(known), {}
        for k, claim in enumerate(claims):
            if k not in found:
                try:
                    found[k] = _checked(problem, claim, known)
                except PremiseError as why:
                    waiting[k] = _finding(claim, NOT_VERIFIED, str(why))
        if len(known) == proved:
            return [(found | waiting)[k] for k in range(len(claims))]


def _checked(problem: ProblemData, claim: Claim, known: Known) -> Finding:
    """Check one claim and record the outcome in `known`. Raises PremiseError if it depends on an unverified one."""
    about, verdict, support = claim["about"], claim["verdict"], claim["support"]
    try:
        check_time()
        check = CLAIMS[problem.kind].get(about) or _check_of_unknown(problem, about)
        if check is None:
            raise RefusedError(f"this is not a claim on the {problem.kind} alone")
        if not isinstance(support, dict):
            raise RefusedError("the support is not an object")
        check(problem, verdict, support, known)
        # The check of "blocks" has noted the verdicts on them.
        known.setdefault(about, verdict)
    except PremiseError:
        raise
    except RefutedError as why:
        return _finding(claim, REFUTED, str(why))
    except RefusedError as why:
        return _finding(claim, NOT_VERIFIED, str(why))
    except RecursionError:
        return _finding(claim, NOT_VERIFIED, "its tree is too deep to be followed")
    return _finding(claim, VERIFIED)


def _finding(claim: Claim, result: str, reason: str = "") -> Finding:
    shown = _basis(claim["verdict"]) if claim["about"] == "basis" else _shown(claim["verdict"])
    return Finding(printable(claim["about"][:40]), printable(shown), result, printable(reason))


def _basis(verdict: Any) -> str:
    """The first entries of a list of indices or places."""
    if not isinstance(verdict, list):
        return str(verdict)[:40]
    return ", ".join(str(x)[:12] for x in verdict[:4]) + (", ..." if len(verdict) > 4 else "")


def _shown(verdict: Any) -> str:
    """The verdict in a few characters; bounds as rounded decimals, shares in percent."""
    if isinstance(verdict, dict):
        return ", ".join(f"{str(name)[:20]} {_percent(x)}" for name, x in list(verdict.items())[:9])
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


def _percent(share: Any) -> str:
    try:
        return f"{float(100 * rational(share)):.6g} %"
    except (RefusedError, OverflowError):
        return str(share)[:20]


def _check_rank(problem: ProblemData, verdict: Any, support: Support, _known: Known) -> None:
    check_fields(support, (), "the support")
    found = rank(problem.M)
    if verdict != found:
        raise RefutedError(f"the rank is {found}")


def _check_distance_to_non_p(problem: ProblemData, verdict: Any, support: Support, known: Known) -> None:
    if known.get("P") != "yes":
        raise PremiseError("that M is a P-matrix is not verified")
    check_distance(problem.M, verdict, support)


def _judged(M: AnyRows, claims: list[Claim]) -> Known:
    """The verdicts on a block that are verified. RefutedError if a claim on it is refuted."""
    for claim in claims:
        check_fields(claim, CLAIM_FIELDS, "a claim on a block")
        if not isinstance(claim["about"], str):
            raise RefusedError("what a claim on a block is about is not a text")
    known: Known = {}
    for found in _findings(ProblemData(LARGE if is_sparse(M) else "matrix", M), claims, known):
        if found.result == REFUTED:
            raise RefutedError(f"the claim on {found.about} of a block of {len(M)} rows: {found.reason}")
    return known


def _friction(problem: ProblemData) -> Friction:
    return Friction(problem.M, problem.q or [], problem.mu or [], problem.d or 0)


def _box(problem: ProblemData) -> MatrixBox:
    return MatrixBox(problem.M, problem.radius or [], problem.symmetric)


def _uncertain(problem: ProblemData) -> Uncertain:
    return Uncertain(_box(problem), problem.q or [], problem.q_radius or [], *(problem.ends or (None, None)))


def _check_uniqueness_of_box(problem: ProblemData, verdict: Any, support: Support, known: Known) -> None:
    check_unique_box(_box(problem), *(problem.ends or ([], [])), verdict, support, known)


def _check_of_unknown(problem: ProblemData, about: str) -> Check | None:
    """The check of bounds of the unknown z_k."""
    name, _, digits = about.partition("_")
    if (
        problem.kind not in ("uncertain LCP", "uncertain MLCP")
        or name != "z"
        or not (digits.isascii() and digits.isdigit())
    ):
        return None
    k = int(digits[:9])
    if k >= len(problem.M) or about != f"z_{k}":
        return None
    return lambda problem, verdict, support, known: check_bounds(_uncertain(problem), k, verdict, support, known)


OF_LARGE_MATRICES: dict[str, Check] = {
    **{name: lambda p, verdict, support, known, name=name: check_class(p.M, name, verdict, support, known)
       for name in CLASSES},
    "blocks": lambda p, verdict, support, known: blocks.check(p.M, verdict, support, known, _judged),
    "indefinite": lambda p, verdict, support, _known: check_indefinite(p.M, verdict, support),
}  # fmt: skip
OF_MATRICES: dict[str, Check] = {
    **OF_LARGE_MATRICES,
    "rank": _check_rank,
    "distance_to_degenerate": lambda p, verdict, support, _known: check_distance(p.M, verdict, support),
    "distance_to_non_p": _check_distance_to_non_p,
}
OF_BOXES: dict[str, Check] = {
    **{f"r_{name}": lambda p, verdict, support, _known, name=name: check_largest_uncertainty(
        _box(p), name, verdict, support) for name in NAMES},
    **{name: lambda p, verdict, support, known, name=name: check_box_class(_box(p), name, verdict, support, known)
       for name in BOX_CLASSES},
    "rank": lambda p, verdict, support, _known: check_rank(_box(p), verdict, support),
}  # fmt: skip
OF_UNCERTAIN: dict[str, Check] = {
    **OF_BOXES,
    "solvable": lambda p, verdict, support, known: check_solvable(_uncertain(p), verdict, support, known),
    "basis": lambda p, verdict, support, _known: check_basis(_uncertain(p), verdict, support),
}
CLAIMS: dict[str, dict[str, Check]] = {
    "matrix": OF_MATRICES,
    LARGE: OF_LARGE_MATRICES,
    "LCP": {
        **OF_MATRICES,
        "solutions": lambda p, verdict, support, known: check_solutions(p.M, p.q or [], verdict, support, known),
    },
    "MLCP": {
        "uniqueness": lambda p, verdict, support, _known: check_uniqueness(
            p.M, p.lower or [], p.upper or [], verdict, support, _judged
        ),
    },
    "friction problem": {
        **{law: lambda p, verdict, support, _known, law=law: check_existence(_friction(p), law, verdict, support)
           for law in LAWS},
        COUNT: lambda p, verdict, support, _known: check_count(_friction(p), verdict, support),
        EVERY_Q: lambda p, verdict, support, _known: check_every_q(_friction(p), verdict, support),
    },
    "interval matrix": OF_BOXES,
    "uncertain LCP": OF_UNCERTAIN,
    "uncertain MLCP": {**OF_UNCERTAIN, "uniqueness": _check_uniqueness_of_box},
    "sliding contacts": {"map": lambda p, verdict, support, _known: check_map(p.sliding, verdict, support)},
}  # fmt: skip
"""The check of each possible subject of a claim, for each kind of problem; bounds of the unknowns come on top."""
