"""Claims put to the verifier of certificates, each in a document of its own."""

import hashlib
import json
from fractions import Fraction

from workbench.certificates.outcomes import VERIFIED, RefusedError
from workbench.certificates.verify import verify
from workbench.matrices.p_property.witness import as_lines

REFUTED, NOT_VERIFIED = "refuted", "not verified"
LAWS = "Coulomb's law", "cone problem"


def with_digest(content):
    """The document with the digest that docs/certificates.md defines: SHA-256 of the rest, keys sorted, no spaces."""
    rest = {key: value for key, value in content.items() if key != "digest"}
    written = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    return {**rest, "digest": hashlib.sha256(written).hexdigest()}


def document(problem, *claims, **other):
    """The certificate of claims on a problem, with what else it is to hold."""
    head = {"format": "contact workbench certificate", "version": 2}
    return with_digest({**head, "problem": problem, "claims": list(claims), "left_out": [], **other})


def texts(rows):
    """Numbers or rows of them as a certificate writes them."""
    return [texts(x) if isinstance(x, list | tuple) else str(Fraction(str(x))) for x in rows]


def result(problem, about, verdict, support, known=()):
    """The outcome of a claim, and of those before it that it may rest on."""
    claim = {"about": about, "verdict": verdict, "support": support}
    try:
        return verify(document(problem, *known, claim))[-1].result
    except RefusedError:
        return NOT_VERIFIED


def proves(name, verdict, M, support, known=()) -> bool:
    """Whether the support proves the verdict on a class of M, a list of rows or an array, to the verifier."""
    rows = M.tolist() if hasattr(M, "tolist") else M
    exact = [[str(Fraction(x)) for x in row] for row in rows]
    return result({"M": exact}, name, verdict, support, known) == VERIFIED


def counts(M, q, verdict, known=(), **support) -> bool:
    """Whether the support proves the number of solutions of an LCP."""
    return result({"M": texts(M), "q": texts(q)}, "solutions", verdict, support, known) == VERIFIED


def shows(W, q, mu, d, law, verdict, support) -> bool:
    """Whether the support proves that a friction problem has a solution, or that it has none."""
    problem = {"W": texts(W), "q": texts(q), "mu": texts(mu), "d": d}
    return result(problem, law, verdict, support) == VERIFIED


def holds(M, tree) -> bool:
    """Whether a tree of principal pivots proves the rational M a P-matrix."""
    return proves("P", "yes", [[Fraction(str(x)) for x in row] for row in M.tolist()], {
        "by": "tree", "tree": json.loads(json.dumps(as_lines(tree))),
    })  # fmt: skip


def verified(M, verdict) -> bool:
    """Whether what supports a verdict "P" or "not P" proves it; a tree too large to keep proves nothing."""
    if verdict.verdict == "P":
        return verdict.tree is not None and holds(M, verdict.tree)
    if verdict.verdict != "not P" or not verdict.sign_reversal or not verdict.index_set:
        return False
    support = {"index_set": list(verdict.index_set), "x": [str(x) for x in verdict.sign_reversal]}
    if verdict.minor is not None:
        support["minor"] = str(verdict.minor)
    return proves("P", "no", [[Fraction(str(x)) for x in row] for row in M.tolist()], support)
