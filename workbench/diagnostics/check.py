"""Check a matrix: rank, conditioning, definiteness, P-property, and the consequences for its LCP.

0 <= z  perp  M z + q >= 0
"""

import math

import numpy as np

from workbench.algorithms import OF_LCPS, find_solver
from workbench.diagnostics.large_matrix import LARGEST_ORDER, LARGEST_P, BlockVerdicts, judged, p_of_class
from workbench.diagnostics.robustness import degree_entry, index_entries, is_elsewhere, margin_entry, moved
from workbench.diagnostics.wellposedness import (
    class_entries,
    homogeneous_entry,
    in_words,
    solutions_entry,
    solver_entries,
)
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock, moment, seconds_left
from workbench.matrices.classes.matrix_classes import SOLVED, ClassVerdict, matrix_classes, structured_classes
from workbench.matrices.classes.structure import Explored, Structure, explored
from workbench.matrices.distances.distance import Distance, distance
from workbench.matrices.distances.error_bound import alpha_2, error_bound
from workbench.matrices.distances.index_sets import LARGEST as LARGEST_BY_SETS
from workbench.matrices.linear_algebra.definiteness import Definiteness, definiteness, proved_positive_definite
from workbench.matrices.linear_algebra.in_time import EIGENVALUES, SINGULAR_VALUES, exact_rank, product_seconds
from workbench.matrices.p_property.verdict import PVerdict, p_verdict
from workbench.matrices.p_property.witness import as_lines
from workbench.problems.classes import SYMMETRY_TOLERANCE
from workbench.problems.rank import rank
from workbench.readers.matrix import Matrix
from workbench.support.arrays import Array
from workbench.support.progress import ProgressCallback

LARGEST_SHOWN = 12
"""Largest order for which the result repeats M and q."""
DISTANCE = 1000.0
"""Cost of a bound on the distance, in products of two matrices of that order."""
STEPS = 6
BAND = 256
"""Rows that are compared with their columns at once."""


METHOD = (
    "positive definite symmetric part; all principal minors by size up to order 14; beyond, irreducible blocks, a "
    "diagonal W > 0, walks and a tree of principal pivots, quotients of row-dominant matrices; error bounds first, "
    "exact arithmetic after"
)

_UNIQUE = "exactly one solution for every q"
_CONSEQUENCE = {
    "P": f"M is a P-matrix: the LCP has {_UNIQUE}.",
    "not P": "M is not a P-matrix: for some q the LCP has no solution or several, for others it may have just one.",
    "undecided": f"Whether M is a P-matrix is undecided: the LCP may or may not have {_UNIQUE}.",
}


def check_matrix(
    matrix: Matrix, seconds: float = 10.0, q: Matrix | None = None, progress: ProgressCallback | None = None
) -> dict:
    """Diagnose a matrix, and the LCP with q (n, 1) if given; the result is ready for JSON.

    Floats are rounded results in the unit of the matrix, exact numbers are strings "p/q", null means undefined,
    infinite, or omitted for lack of time; indices count from zero. `seconds` limits the total: half of it goes to the P
    verdict (more without q), then half of the rest to the solutions, the remainder to the classes. For a matrix that is
    not square only the rank is computed, with the reason in `in_words`. `progress` is told the current step.
    """
    if q is not None:
        # Loading compiled kernels, or compiling them the first time, is start-up and does not count.
        for name in OF_LCPS:
            find_solver(name)
    tell = _Steps(progress)
    deadline = clock() + seconds
    M = matrix.values
    m, n = M.shape
    taken = matrix.judged if q is None or q.judged == matrix.judged else f"of M {matrix.judged}; of q {q.judged}"
    beginning = {"judged": taken, "notes": [*matrix.notes, *(q.notes if q is not None else ())]}
    if m != n:
        words = f"The matrix is {m} x {n}: symmetry, definiteness and the P-property are defined for square ones only."
        nothing = dict.fromkeys((*_SQUARE_ONLY, "classes", "blocks", "solutions", "homogeneous", "margin", "degree"))
        return {**beginning, **_rank_entries(matrix, False, deadline), **nothing, "solvers": [], "in_words": words}
    asymmetry = _asymmetry(M)
    small = n <= LARGEST_ORDER
    classes: dict[str, ClassVerdict] = {}
    large: BlockVerdicts | None = None
    tell("the P-property")
    structure = None
    if small:
        # Factorisations come first where nothing cheaper decides.
        structure = explored(Structure.of(matrix, moment(deadline, 0.3), True)) if n > SOLVED else None
        verdict = _p_of(matrix, structure, seconds_left(deadline, 0.7 if q is None else 0.5))
    else:
        large = judged(matrix, deadline)
        classes, verdict = large.classes, large.p
    tell("the rank")
    ranked = _rank_entries(matrix, verdict.verdict == "P", deadline)
    tell("the definiteness")
    form = definiteness(matrix, deadline) if small else _large_form(M, classes, deadline)
    if small:
        lcp = _of_lcp(matrix, q, verdict, structure, deadline, tell)
    else:
        lcp = _of_large_lcp(matrix, q, classes, deadline)
    if verdict.verdict == "undecided":
        verdict = p_of_class(ClassVerdict(**lcp["classes"]["P"])) or verdict
    tell("the distance to the nearest matrix that is not P")
    result: dict = (
        beginning
        | ranked
        | {
            "symmetric": asymmetry <= SYMMETRY_TOLERANCE,
            "asymmetry": asymmetry,
            "exactly_symmetric": matrix.exact == matrix.exact.transpose() if small else None,
            "definiteness": {
                "verdict": form.verdict,
                "exact": form.exact,
                "proof": form.proof,
                "smallest_eigenvalue": _finite(form.smallest),
                "largest_eigenvalue": _finite(form.largest),
                "tolerance": _finite(form.tolerance),
                "positive_direction": form.positive_direction,
                "negative_direction": form.negative_direction,
            },
            "p_matrix": p_entry(verdict, n),
            "blocks": None if large is None else _blocks_entry(large),
            **lcp,
        }
    )
    found = _distance(matrix, verdict, deadline)
    result |= _distance_entries(found, verdict)
    result |= _error_entries(matrix, q, result["solvers"], found if verdict.verdict == "P" else None, deadline)
    if n <= LARGEST_SHOWN:
        result["M"] = [[str(x) for x in row] for row in matrix.exact.tolist()]
        result["q"] = None if q is None else [str(x) for x in q.exact.entries()]
    return {**result, "in_words": f"{_CONSEQUENCE[verdict.verdict]} {in_words(result)}"}


def _asymmetry(M: Array) -> float:
    """The largest difference of an entry and its mirror image, relative to the largest entry; some rows at a time."""
    size = max(float(M.max()), -float(M.min())) or 1.0
    # Divided first, so that the difference of two large entries cannot overflow.
    bands = (slice(a, a + BAND) for a in range(0, len(M), BAND))
    return max(float(np.abs(M[band] / size - M[:, band].T / size).max()) for band in bands)


class _Steps:
    """Report to a progress bar which of the `STEPS` begins."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self.progress, self.done = progress, 0

    def __call__(self, label: str) -> None:
        if self.progress:
            self.progress(label, self.done, STEPS)
        self.done += 1


def _affordable(products: float, n: int, deadline: float) -> bool:
    """Return whether a computation that costs this many products of matrices of order n is likely to end in time."""
    return n <= LARGEST_ORDER or clock() + products * product_seconds(n) < deadline


def _rank_entries(matrix: Matrix, regular: bool, deadline: float) -> dict:
    """Sizes, singular values and rank; null where they would take too long, and n where M is known to be regular.

    "late": the search for the exact rank ran out of time.
    """
    m, n = matrix.values.shape
    entries = {"rows": m, "n": n}
    exact, late = n if regular else None, False
    if not regular and max(m, n) <= LARGEST_ORDER:
        # The rest of the time is for the classes.
        try:
            exact = exact_rank(matrix.exact, moment(deadline, 0.3))
        except OutOfTimeError:
            late = True
    if not _affordable(SINGULAR_VALUES, max(m, n), deadline):
        nothing = {"value": exact, "tolerance": None, "gap": None, "exact": exact, "late": late}
        return {**entries, "rank": nothing, "singular_values": None, "condition": None}
    numerical = rank(matrix.values)
    return {
        **entries,
        "rank": {
            "value": numerical.value,
            "tolerance": numerical.tolerance,
            "gap": _finite(numerical.gap),
            "exact": exact,
            "late": late,
        },
        "singular_values": numerical.singular_values.tolist(),
        "condition": _finite(numerical.condition),
    }


def _large_form(M: Array, classes: dict[str, ClassVerdict], deadline: float) -> Definiteness:
    """Definiteness from the classes; eigenvalues if there is time for them."""
    low = high = tolerance = math.nan
    if _affordable(EIGENVALUES, len(M), deadline):
        eigenvalues = np.linalg.eigvalsh(0.5 * M + 0.5 * M.T)
        low, high = float(eigenvalues[0]), float(eigenvalues[-1])
        tolerance = len(M) * float(np.finfo(float).eps) * max(abs(low), abs(high))
    pd, psd = classes["PD"], classes["PSD"]
    positive = np.flatnonzero(np.diag(M) > 0)
    if pd.verdict == "yes":
        return Definiteness("positive definite", low, high, tolerance, True, str(pd.proof))
    if psd.verdict == "yes" and pd.verdict == "no":
        return Definiteness("positive semidefinite", low, high, tolerance, True, str(psd.proof))
    if "x" in (psd.witness or {}) and positive.size:
        directions = [str(int(i == positive[0])) for i in range(len(M))], (psd.witness or {})["x"]
        return Definiteness(
            "indefinite", low, high, tolerance, True, "two exact directions of opposite sign", *directions
        )
    if not positive.size and _affordable(EIGENVALUES, len(M), deadline) and proved_positive_definite(-M):
        return Definiteness("negative definite", low, high, tolerance, True, "Cholesky factor with an error bound")
    return Definiteness("undecided", low, high, tolerance, False, f"{OUT_OF_TIME} before a proof was found")


def _p_of(matrix: Matrix, structure: Explored | None, seconds: float) -> PVerdict:
    """The P verdict: that of the structure if it refutes the property, otherwise that of a search."""
    known = p_of_class(structured_classes(*structure)["P"]) if structure else None
    return known if known and known.verdict == "not P" else p_verdict(matrix.exact, seconds)


def _distance(matrix: Matrix, p: PVerdict, deadline: float) -> Distance | None:
    """The distance to a singular principal minor: for every matrix of small order, beyond that for P-matrices only."""
    n = len(matrix.values)
    if n > LARGEST_BY_SETS and (p.verdict != "P" or n > LARGEST_P or not _affordable(DISTANCE, n, deadline)):
        return None
    return distance(matrix, seconds_left(deadline, 0.5))


def _distance_entries(found: Distance | None, p: PVerdict) -> dict:
    """The distances and beta_2; if M is not P, its distance to the non-P matrices is zero and beta_2 is null."""
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
    """alpha_2, if there is a q and the distance of a P-matrix; each solver's entry gets an error bound of its z."""
    for entry in solvers:
        entry["error_bound"] = None
    if q is None or found is None:
        return {"alpha_2": None}
    M, vector = matrix.exact, q.exact.entries()
    alpha = alpha_2(M, found, seconds_left(deadline, 0.5))
    for entry in solvers:
        if entry["z"] is not None and clock() < deadline:
            entry["error_bound"] = error_bound(M, vector, entry["z"], found, alpha)
    return {"alpha_2": alpha.entry()}


_SQUARE_ONLY = (
    "symmetric", "asymmetry", "exactly_symmetric", "definiteness", "p_matrix", "distance_to_non_p",
    "distance_to_degenerate", "beta_2", "alpha_2",
)  # fmt: skip


def _of_lcp(
    matrix: Matrix, q: Matrix | None, p: PVerdict, structure: Explored | None, deadline: float, tell: _Steps
) -> dict:
    """Solutions and solvers for this q, and the classes of M."""
    entries: dict = {"solutions": None, "homogeneous": None, "margin": None, "degree": None, "solvers": []}
    M = matrix.exact
    tell("solutions and solvers")
    if q is not None:
        vector = q.exact.entries()
        entries["solvers"] = solver_entries(matrix, q, deadline)
        entries["solutions"] = solutions_entry(M, vector, moment(deadline, 0.5), p.verdict == "P")
        entries["solutions"]["indices"] = index_entries(M, vector, entries["solutions"]["points"])
        entries["margin"] = margin_entry(M, vector, p.verdict == "P", moment(deadline, 0.3))
        for solver in entries["solvers"]:
            if solver["z"] is not None:
                solver["moved"] = moved(M, vector, solver["z"])
                solver["elsewhere"] = is_elsewhere(M, vector, solver["z"], entries["solutions"])
    tell("the classes")
    classes = matrix_classes(M, moment(deadline, 0.9), p, structure)
    if q is not None and classes["copositive"].verdict == "yes" and classes["R0"].verdict != "yes":
        entries["homogeneous"] = homogeneous_entry(M, vector, deadline)
    if classes["R0"].verdict == "yes":
        entries["degree"] = degree_entry(M, moment(deadline, 0.9))
    return {"classes": class_entries(classes), **entries}


def _of_large_lcp(matrix: Matrix, q: Matrix | None, classes: dict[str, ClassVerdict], deadline: float) -> dict:
    """Solutions are not searched for with so many unknowns, and the solvers report this themselves."""
    reason = f"the order {matrix.values.shape[0]} exceeds {LARGEST_ORDER}"
    nothing: dict = {"count": None, "points": [], "dimension": None, "faces": [], "indices": [], "reason": reason}
    return {
        "classes": class_entries(classes),
        "solutions": None if q is None else nothing,
        "homogeneous": None,
        "margin": None,
        "degree": None,
        "solvers": [] if q is None else solver_entries(matrix, q, deadline),
    }


def _blocks_entry(large: BlockVerdicts) -> dict | None:
    """The blocks that decided classes of a large matrix; equal ones once, with the rows of all."""
    if not large.blocks:
        return None
    kinds: dict[int, dict] = {}
    for block in large.blocks:
        known = block.judged
        entry: dict = {
            "rows": [], "classes": class_entries(known.classes), "p_matrix": p_entry(known.p, len(block.rows)),
            "blocks": _blocks_entry(known),
        }  # fmt: skip
        kinds.setdefault(id(known), entry)["rows"].append(block.rows)
    return {
        "count": len(large.blocks), "islands": large.of_islands,
        "largest": max(len(block.rows) for block in large.blocks), "kinds": list(kinds.values()),
    }  # fmt: skip


def p_entry(verdict: PVerdict, n: int) -> dict:
    support: dict = {"proof": verdict.proof, "tree": None if verdict.tree is None else as_lines(verdict.tree)}
    if verdict.verdict == "not P":
        index_set = None if verdict.index_set is None else list(verdict.index_set)
        reversal = verdict.sign_reversal
        support = {"witness": {"index_set": index_set, "minor": verdict.minor, "sign_reversal": reversal}}
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
