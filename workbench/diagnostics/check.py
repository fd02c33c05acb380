"""What can be said of a matrix at once: rank, conditioning, definiteness, P-property, and what follows for its LCP.

0 <= z  perp  M z + q >= 0
"""

import math
import textwrap
from collections.abc import Iterator

import numpy as np
from flint import arb, fmpq

from workbench.diagnostics.definiteness import definiteness
from workbench.diagnostics.p_matrix import PVerdict, p_verdict
from workbench.diagnostics.rank import rank
from workbench.problems import SYMMETRY_TOLERANCE
from workbench.readers.matrix import Matrix

LARGEST_ORDER = 256
"""Order up to which exact arithmetic is used: beyond, the entries alone would take the time allowed."""
WIDTH = 80
LONGEST_EXACT = 16
"""Characters up to which an exact number is shown as it is; a longer one is shown as a rounded decimal."""

METHOD = "positive definite symmetric part, else principal minors by size: error bounds first, exact arithmetic after"

_UNIQUE = "exactly one solution for every q"
_CONSEQUENCE = {
    "P": f"M is a P-matrix: the LCP has {_UNIQUE}.",
    "not P": "M is not a P-matrix: for some q the LCP has no solution or several, for others it may have just one.",
    "undecided": f"Whether M is a P-matrix is undecided: the LCP may or may not have {_UNIQUE}.",
}


def check(matrix: Matrix, seconds: float = 10.0) -> dict:
    """Diagnose a matrix; the result is ready for JSON.

    Floats are rounded results in the unit of the matrix, exact numbers are strings "p/q", null stands for what is
    undefined or infinite, indices count from zero. `seconds` bounds the search for the P verdict. A matrix that is not
    square gets its rank only, with the reason in `in_words`.
    """
    M = matrix.values
    m, n = M.shape
    numerical = rank(M)
    result: dict = {
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
        return {**result, "symmetric": None, "definiteness": None, "p_matrix": None, "in_words": words}
    size = float(np.abs(M).max()) or 1.0
    # Divided first, so that the difference of two large entries cannot overflow.
    asymmetry = float(np.abs(M / size - M.T / size).max())
    form = definiteness(matrix)
    if n <= LARGEST_ORDER:
        verdict = p_verdict(matrix.exact, seconds)
    elif form.exact and form.verdict == "positive definite":
        verdict = PVerdict("P", f"the symmetric part is positive definite ({form.proof})")
    else:
        verdict = PVerdict(
            "undecided",
            reason=f"the order {n} exceeds {LARGEST_ORDER}, and the symmetric part is not proved positive definite",
        )
    words = _CONSEQUENCE[verdict.verdict]
    if form.exact and form.verdict == "positive semidefinite":
        words += " It is positive semidefinite: the LCP has a solution for every q for which it is feasible."
    return {
        **result,
        "symmetric": asymmetry <= SYMMETRY_TOLERANCE,
        "asymmetry": asymmetry,
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
        "in_words": words,
    }


def _p_entry(verdict: PVerdict, n: int) -> dict:
    support: dict = {"proof": verdict.proof}
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


def to_text(result: dict) -> str:
    """The result of `check` as a page of plain text, at most 80 columns wide."""
    lines = [
        line
        for label, value in _rows(result)
        for line in textwrap.wrap(value, WIDTH, initial_indent=f"{label:<18}", subsequent_indent=" " * 18)
    ]
    return "\n".join([*lines, "", *textwrap.wrap(result["in_words"], WIDTH)]) + "\n"


def _rows(result: dict) -> Iterator[tuple[str, str]]:
    m, n, r, sigma = result["rows"], result["n"], result["rank"], result["singular_values"]
    yield "matrix", f"{m} x {n}" + {True: ", symmetric", False: ", not symmetric", None: ""}[result["symmetric"]]
    exact = "" if r["exact"] is None else f"; in exact arithmetic {r['exact']}"
    yield "rank", f"{r['value']} (singular values above {r['tolerance']:.3g}){exact}"
    if 0 < r["value"] < len(sigma):
        gap = "infinite, the next singular value is zero" if r["gap"] is None else f"{r['gap']:.3g}"
        yield "gap", f"{gap} (last singular value that counts / first that does not)"
    shown = [f"{s:.4g}" for s in sigma]
    yield "singular values", "  ".join(shown if len(shown) <= 12 else [*shown[:6], "...", *shown[-5:]])
    if result["condition"] is not None:
        yield "condition", f"{result['condition']:.4g}" + (" on the range" if r["value"] < len(sigma) else "")
    if result["definiteness"] is None:
        return
    form = result["definiteness"]
    yield "symmetric part", f"{form['verdict']} ({form['proof']})"
    yield (
        "its eigenvalues",
        (f"{form['smallest_eigenvalue']:.4g} to {form['largest_eigenvalue']:.4g}, to within {form['tolerance']:.1g}"),
    )
    # A definite form needs no example: the proof covers every direction.
    if form["verdict"] == "indefinite" and form["exact"]:
        yield "x^T M x > 0", f"at x = {_vector(form['positive_direction'])}"
        yield "x^T M x < 0", f"at x = {_vector(form['negative_direction'])}"
    yield from _p_rows(result["p_matrix"])


def _p_rows(p: dict) -> Iterator[tuple[str, str]]:
    yield "P-matrix", {"P": "yes", "not P": "no", "undecided": "undecided"}[p["verdict"]]
    if "witness" in p:
        witness = p["witness"]
        indices = ", ".join(map(str, witness["index_set"]))
        yield "witness", f"principal minor of rows and columns {{{indices}}} (from 0) is {_number(witness['minor'])}"
        yield "sign reversal", f"x_i (M x)_i <= 0 for all i at x = {_vector(witness['sign_reversal'])}"
    else:
        yield ("reason", p["reason"]) if "reason" in p else ("proof", p["proof"])
    effort = p["effort"]
    if effort["minors_checked"]:
        yield (
            "effort",
            (
                f"{effort['minors_checked']} of {effort['minors_in_all']} principal minors, "
                f"{effort['exact_minors']} of them in exact arithmetic"
            ),
        )
    if p["smallest_relative_minor"] is not None:
        yield "smallest minor", f"{p['smallest_relative_minor']:.4g}, relative to the product of its diagonal entries"


def _vector(x: list[str]) -> str:
    return "(" + ", ".join(map(_number, x)) + ")"


def _number(exact: str) -> str:
    """An exact "p/q" as it is when short, else about six digits of it, marked as rounded."""
    if len(exact) <= LONGEST_EXACT:
        return exact
    return f"~{arb(fmpq(exact)).str(6, radius=False)}"
