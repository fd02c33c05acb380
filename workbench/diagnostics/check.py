"""What can be said of a matrix at once: rank, conditioning, definiteness, P-property, and what follows for its LCP.

0 <= z  perp  M z + q >= 0
"""

import math

import numpy as np

from workbench.algorithms import SOLVERS, find_solver
from workbench.diagnostics.robustness import degree_entry, index_entries, is_elsewhere, margin_entry, moved
from workbench.diagnostics.wellposedness import (
    class_entries,
    homogeneous_entry,
    in_words,
    solutions_entry,
    solver_entries,
)
from workbench.engine.timing import clock
from workbench.matrices.definiteness import definiteness
from workbench.matrices.distance import Distance, distance
from workbench.matrices.error_bound import alpha_2, error_bound
from workbench.matrices.index_sets import LARGEST as LARGEST_BY_SETS
from workbench.matrices.matrix_classes import consequences, matrix_classes
from workbench.matrices.p_matrix import PVerdict, p_verdict
from workbench.matrices.p_witness import as_lines
from workbench.matrices.rank import rank
from workbench.problems.classes import SYMMETRY_TOLERANCE
from workbench.readers.matrix import Matrix

LARGEST_ORDER = 256
"""Order up to which exact arithmetic is used: beyond, the entries alone would take the time allowed."""
LARGEST_SHOWN = 12
"""Order up to which the result repeats M and q."""

LARGEST_P = 600
"""Order up to which the P verdict is sought: one diagonal W may prove it."""
METHOD = (
    "positive definite symmetric part; all principal minors by size up to order 14; beyond, irreducible blocks, a "
    "diagonal W > 0, walks and a tree of principal pivots; error bounds first, exact arithmetic after"
)

_UNIQUE = "exactly one solution for every q"
_CONSEQUENCE = {
    "P": f"M is a P-matrix: the LCP has {_UNIQUE}.",
    "not P": "M is not a P-matrix: for some q the LCP has no solution or several, for others it may have just one.",
    "undecided": f"Whether M is a P-matrix is undecided: the LCP may or may not have {_UNIQUE}.",
}


def check(matrix: Matrix, seconds: float = 10.0, q: Matrix | None = None) -> dict:
    """Diagnose a matrix, and the LCP with q (n, 1) where it is given; the result is ready for JSON.

    Floats are rounded results in the unit of the matrix, exact numbers are strings "p/q", null stands for what is
    undefined or infinite, indices count from zero. `seconds` bounds the whole: half of what is left goes to the P
    verdict, then half to the solutions, the rest to the classes. A matrix that is not square gets its rank only, with
    the reason in `in_words`.
    """
    if q is not None:
        # Loading compiled kernels, or compiling them the first time, is start-up and not counted.
        for name in SOLVERS.bundled:
            find_solver(name)
    deadline = clock() + seconds
    M = matrix.values
    m, n = M.shape
    numerical = rank(M)
    result: dict = {
        "judged": matrix.judged if q is None or q.judged == matrix.judged else f"of M {matrix.judged}; of q {q.judged}",
        "notes": [*matrix.notes, *(q.notes if q is not None else ())],
        "rows": m,
        "n": n,
        "rank": {
            "value": numerical.value,
            "tolerance": numerical.tolerance,
            "gap": _finite(numerical.gap),
            "exact": int(matrix.exact.rank()) if max(m, n) <= LARGEST_ORDER else None,
        },
        "singular_values": numerical.singular_values.tolist(),
        "condition": _finite(numerical.condition),
    }
    if m != n:
        words = f"The matrix is {m} x {n}: symmetry, definiteness and the P-property are defined for square ones only."
        nothing = dict.fromkeys((*_SQUARE_ONLY, "classes", "solutions", "homogeneous", "margin", "degree"))
        return {**result, **nothing, "solvers": [], "in_words": words}
    size = float(np.abs(M).max()) or 1.0
    # Divided first, so that the difference of two large entries cannot overflow.
    asymmetry = float(np.abs(M / size - M.T / size).max())
    form = definiteness(matrix)
    definite = form.exact and form.verdict == "positive definite"
    if n <= LARGEST_P:
        verdict = p_verdict(matrix.exact, seconds / 2)
    elif definite:
        verdict = PVerdict("P", f"the symmetric part is positive definite ({form.proof})")
    else:
        verdict = PVerdict(
            "undecided",
            reason=f"the order {n} exceeds {LARGEST_P}, and the symmetric part is not proved positive definite",
        )
    if n <= LARGEST_ORDER:
        lcp = _of_lcp(matrix, q, verdict, deadline)
    else:
        lcp = _of_large_lcp(matrix, q, form.proof if definite else None, deadline)
    if verdict.verdict == "undecided" and lcp["classes"]["P"]["verdict"] == "yes":
        verdict = PVerdict("P", lcp["classes"]["P"]["proof"])
    result |= {
        "symmetric": asymmetry <= SYMMETRY_TOLERANCE,
        "asymmetry": asymmetry,
        "exactly_symmetric": matrix.exact == matrix.exact.transpose() if n <= LARGEST_ORDER else None,
        "definiteness": {
            "verdict": form.verdict,
            "exact": form.exact,
            "proof": form.proof,
            "smallest_eigenvalue": form.smallest,
            "largest_eigenvalue": form.largest,
            "tolerance": form.tolerance,
            "positive_direction": form.positive_direction,
            "negative_direction": form.negative_direction,
        },
        "p_matrix": _p_entry(verdict, n),
        **lcp,
    }
    found = _distance(matrix, verdict, deadline)
    result |= _distance_entries(found, verdict)
    result |= _error_entries(matrix, q, result["solvers"], found if verdict.verdict == "P" else None, deadline)
    if n <= LARGEST_SHOWN:
        result["M"] = [[str(x) for x in row] for row in matrix.exact.tolist()]
        result["q"] = None if q is None else [str(x) for x in q.exact.entries()]
    return {**result, "in_words": f"{_CONSEQUENCE[verdict.verdict]} {in_words(result)}"}


def _distance(matrix: Matrix, p: PVerdict, deadline: float) -> Distance | None:
    """The distance to a singular principal minor: of every matrix of small order, and of P-matrices beyond."""
    n = len(matrix.values)
    if n > LARGEST_BY_SETS and (p.verdict != "P" or n > LARGEST_P):
        return None
    return distance(matrix, _share(deadline, 0.5) - clock())


def _distance_entries(found: Distance | None, p: PVerdict) -> dict:
    """The distances and beta_2: to the non-P matrices zero, and beta_2 undefined (null), where M is none itself."""
    entry = found.entry() if found else None
    to_non_p: dict | None = entry if p.verdict == "P" else None
    if p.verdict == "not P":
        zero = {"lower": 0.0, "upper": 0.0, "index_set": list(p.index_set or ())}
        to_non_p = {**zero, "method": "M is not a P-matrix itself", "certificate": None}
    return {
        "distance_to_non_p": to_non_p,
        "distance_to_degenerate": entry,
        "beta_2": found.beta_2.entry() if found and p.verdict == "P" else None,
    }


def _error_entries(
    matrix: Matrix, q: Matrix | None, solvers: list[dict], found: Distance | None, deadline: float
) -> dict:
    """alpha_2, where there is a q and the distance of a P-matrix; each solver's entry gets a bound of its z's error."""
    for entry in solvers:
        entry["error_bound"] = None
    if q is None or found is None:
        return {"alpha_2": None}
    M, vector = matrix.exact, q.exact.entries()
    alpha = alpha_2(M, found, _share(deadline, 0.5) - clock())
    for entry in solvers:
        if entry["z"] is not None and clock() < deadline:
            entry["error_bound"] = error_bound(M, vector, entry["z"], found, alpha)
    return {"alpha_2": alpha.entry()}


_SQUARE_ONLY = (
    "symmetric", "asymmetry", "exactly_symmetric", "definiteness", "p_matrix", "distance_to_non_p",
    "distance_to_degenerate", "beta_2", "alpha_2",
)  # fmt: skip


def _of_lcp(matrix: Matrix, q: Matrix | None, p: PVerdict, deadline: float) -> dict:
    """Solutions and solvers for this q, and the classes of M."""
    entries: dict = {"solutions": None, "homogeneous": None, "margin": None, "degree": None, "solvers": []}
    M = matrix.exact
    if q is not None:
        vector = q.exact.entries()
        entries["solvers"] = solver_entries(matrix, q, deadline)
        entries["solutions"] = solutions_entry(M, vector, _share(deadline, 0.5), p.verdict == "P")
        entries["solutions"]["indices"] = index_entries(M, vector, entries["solutions"]["points"])
        entries["margin"] = margin_entry(M, vector, p.verdict == "P", _share(deadline, 0.3))
        for solver in entries["solvers"]:
            if solver["z"] is not None:
                solver["moved"] = moved(M, vector, solver["z"])
                solver["elsewhere"] = is_elsewhere(solver["z"], entries["solutions"])
    classes = matrix_classes(M, _share(deadline, 0.9), p)
    if q is not None and classes["copositive"].verdict == "yes" and classes["R0"].verdict != "yes":
        entries["homogeneous"] = homogeneous_entry(M, vector, deadline)
    if classes["R0"].verdict == "yes":
        entries["degree"] = degree_entry(M, _share(deadline, 0.9))
    return {"classes": class_entries(classes), **entries}


def _of_large_lcp(matrix: Matrix, q: Matrix | None, definite: str | None, deadline: float) -> dict:
    """Without exact arithmetic there is only what follows from a proof of positive definiteness."""
    reason = f"the order {matrix.values.shape[0]} exceeds {LARGEST_ORDER}"
    nothing: dict = {"count": None, "points": [], "dimension": None, "faces": [], "indices": [], "reason": reason}
    return {
        "classes": class_entries(consequences({"PD": definite} if definite else {}, reason)),
        "solutions": None if q is None else nothing,
        "homogeneous": None,
        "margin": None,
        "degree": None,
        "solvers": [] if q is None else solver_entries(matrix, q, deadline),
    }


def _share(deadline: float, part: float) -> float:
    """The moment at which this part of the time left will be over."""
    now = clock()
    return now + part * max(0.0, deadline - now)


def _p_entry(verdict: PVerdict, n: int) -> dict:
    support: dict = {"proof": verdict.proof, "tree": None if verdict.tree is None else as_lines(verdict.tree)}
    if verdict.verdict == "not P":
        support = {
            "witness": {
                "index_set": list(verdict.index_set or ()),
                "minor": verdict.minor,
                "sign_reversal": verdict.sign_reversal,
            }
        }
    elif verdict.verdict == "undecided":
        support = {"reason": verdict.reason}
    return {
        "verdict": verdict.verdict,
        **support,
        "method": METHOD,
        "effort": {
            "minors_checked": verdict.minors_checked,
            "exact_minors": verdict.exact_minors,
            "minors_in_all": f"2^{n} - 1",
        },
        "smallest_relative_minor": _finite(verdict.smallest_relative_minor),
    }


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None
