"""Verdicts on random matrices, their witnesses put to the checker of certificates."""

from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from tests.proofs import document
from workbench.certificates.outcomes import VERIFIED
from workbench.certificates.verify import verify
from workbench.engine.timing import clock
from workbench.matrices.classes.matrix_classes import CLASSES, matrix_classes
from workbench.matrices.solutions.solution_cover import cover

ALWAYS = float("inf")


def exact(M) -> fmpq_mat:
    rows = np.asarray(M).tolist()
    return fmpq_mat([[fmpq(*x.as_integer_ratio()) if isinstance(x, float) else fmpq(x) for x in row] for row in rows])


def fractions(M) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in np.asarray(M).tolist()]


WRITTEN_LATER = ("tree", "factors", "cones")
"""Proofs that a certificate writes in full; test_certificates.py checks them."""


def verdicts(M, seconds: float = 30.0) -> dict[str, str]:
    """Verdicts on M, their witnesses checked on the way."""
    found = matrix_classes(exact(M), clock() + seconds)
    assert tuple(found) == CLASSES
    rows, claims = [[str(x) for x in row] for row in fractions(M)], []
    for name, entry in found.items():
        witness = entry.witness or {}
        if "q" in witness:
            q = [fmpq(x) for x in witness["q"]]
            witness = {**witness, "cover": cover(exact(M), q, [], clock() + seconds)}
        if witness and witness.get("by") not in WRITTEN_LATER:
            claims.append({"about": name, "verdict": entry.verdict, "support": witness})
        assert entry.proof or entry.witness or entry.reason
        assert (entry.reason is None) == (entry.verdict != "undecided")
    # What follows from other classes stands behind them, and is left out where these are written later.
    ordered: list[dict] = []
    while now := [c for c in claims if set(c["support"].get("from", ())) <= {o["about"] for o in ordered}]:
        ordered += now
        claims = [c for c in claims if c not in now]
    for outcome in verify(document({"M": rows}, *ordered)) if ordered else ():
        assert outcome.result == VERIFIED, (outcome, rows)
    return {name: entry.verdict for name, entry in found.items()}


def samples(count: int, largest: int, seed: int):
    """Integer matrices, entries -2 .. 2, of several kinds so that every class has members and strangers."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(1, largest + 1))
        A = rng.integers(-2, 3, (n, n))
        if k % 5 == 1:
            A = np.clip(A @ A.T, -2, 2)
        elif k % 5 == 2:
            A = np.abs(np.diag(np.diag(A))) + np.triu(A, 1) - np.triu(A, 1).T
        elif k % 5 == 3:
            A = np.abs(A) * np.sign(rng.integers(-1, 3, (n, n)))
        elif k % 5 == 4:
            A = 2 * np.eye(n, dtype=int) - np.abs(A) * (1 - np.eye(n, dtype=int)) * rng.integers(0, 2, (n, n))
        yield A.tolist()
