"""The result of a check as a page of plain text."""

import textwrap
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from flint import arb, fmpq

from workbench.engine.timing import OUT_OF_TIME

WIDTH = 80
LONGEST_EXACT = 16
"""Longest exact number [characters] that is shown in full; longer ones are rounded."""
LONGEST_VECTOR = 64
"""Entries up to which a vector is shown in full."""
MOST_SHOWN = 8
"""Solutions or faces listed; the JSON has them all."""


def to_text(result: dict) -> str:
    """The result of `check` as a page of plain text, at most 80 columns wide."""
    lines = [
        line
        for label, value in _rows(result)
        for line in textwrap.wrap(
            value, WIDTH, initial_indent=f"{label:<18}", subsequent_indent=" " * 18, break_on_hyphens=False
        )
    ]
    return "\n".join([*lines, "", in_lines(result["in_words"])]) + "\n"


def in_lines(sentences: str) -> str:
    """Sentences as lines of a terminal's width."""
    return "\n".join(textwrap.wrap(sentences, WIDTH, break_on_hyphens=False))


def _rows(result: dict) -> Iterator[tuple[str, str]]:
    m, n, r, sigma = result["rows"], result["n"], result["rank"], result["singular_values"]
    yield "matrix", f"{m} x {n}" + {True: ", symmetric", False: ", not symmetric", None: ""}[result["symmetric"]]
    yield "judged", result["judged"]
    for note in result["notes"]:
        yield "note", note
    late = f"; in exact arithmetic undecided: {OUT_OF_TIME}" if r["late"] else ""
    exact = late if r["exact"] is None else f"; in exact arithmetic {r['exact']}"
    if sigma is None:
        reason = f"singular values undecided: {OUT_OF_TIME}"
        yield "rank", f"{'unknown' if r['value'] is None else r['value']}; {reason}"
    else:
        yield "rank", f"{r['value']} (singular values above {r['tolerance']:.3g}){exact}"
        yield from _singular_values(result)
    if result["definiteness"] is None:
        return
    form = result["definiteness"]
    yield "symmetric part", f"{form['verdict']} ({form['proof']})"
    if form["tolerance"] is not None:
        low, high = form["smallest_eigenvalue"], form["largest_eigenvalue"]
        yield "its eigenvalues", f"{low:.4g} to {high:.4g}, to within {form['tolerance']:.1g}"
    # A definite form needs no example: the proof covers every direction.
    if form["verdict"] == "indefinite" and form["exact"]:
        yield "x^T M x > 0", f"at x = {vector(form['positive_direction'])}"
        yield "x^T M x < 0", f"at x = {vector(form['negative_direction'])}"
    yield from _p_rows(result["p_matrix"])
    yield from _distance_rows(result)
    yield from _class_rows(result["classes"])
    if result["solutions"] is not None:
        yield from _solution_rows(result["solutions"])
        yield from _margin_rows(result)
    for solver in result["solvers"]:
        residual = "" if solver["residual"] is None else f", residual {solver['residual']:.1e}"
        if solver["error_bound"] is not None:
            residual += f", within {rounded(solver['error_bound'], 2)} of the solution"
        reason = f": {solver['reason']}" if solver["reason"] else ""
        good = "verified" if solver["verified"] else "not verified"
        if solver["elsewhere"]:
            good = f"solves a neighbouring problem (q moved by {solver['moved']:.1e})"
        yield (
            solver["name"],
            f"{solver['claimed']}{reason}"
            if solver["residual"] is None
            else (f"{good}, claims {solver['claimed']}{residual}{reason}"),
        )


def _singular_values(result: dict[str, Any]) -> Iterator[tuple[str, str]]:
    r, sigma = result["rank"], result["singular_values"]
    if 0 < r["value"] < len(sigma):
        gap = "infinite, the next singular value is zero" if r["gap"] is None else f"{r['gap']:.3g}"
        yield "gap", f"{gap} (last singular value that counts / first that does not)"
    shown = [f"{s:.4g}" for s in sigma]
    yield "singular values", "  ".join(shown if len(shown) <= 12 else [*shown[:6], "...", *shown[-5:]])
    if result["condition"] is not None:
        yield "condition", f"{result['condition']:.4g}" + (" on the range" if r["value"] < len(sigma) else "")


def _p_rows(p: dict) -> Iterator[tuple[str, str]]:
    yield "P-matrix", {"P": "yes", "not P": "no", "undecided": "undecided"}[p["verdict"]]
    if "witness" in p:
        witness = p["witness"]
        if witness["index_set"] is not None:
            value = "not positive" if witness["minor"] is None else number(witness["minor"])
            indices = ", ".join(map(str, witness["index_set"]))
            yield "witness", f"principal minor of rows and columns {{{indices}}} (from 0) is {value}"
        if witness["sign_reversal"] is not None:
            yield "sign reversal", f"x_i (M x)_i <= 0 for all i at x = {vector(witness['sign_reversal'])}"
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


def _distance_rows(result: dict[str, Any]) -> Iterator[tuple[str, str]]:
    to_non_p, degenerate = result["distance_to_non_p"], result["distance_to_degenerate"]
    if to_non_p and to_non_p["upper"]:
        yield "distance", f"{enclosure_text(to_non_p)} to the nearest matrix that is not P, in the 2-norm"
        yield "beta_2", f"{enclosure_text(result['beta_2'])}: |z(q) - z(q')| <= beta_2 |q - q'| for the solutions z"
    elif degenerate and degenerate["upper"]:
        yield "distance", f"{enclosure_text(degenerate)} to the nearest singular principal minor, in the 2-norm"
    if result["alpha_2"]:
        yield "alpha_2", f"{enclosure_text(result['alpha_2'])}: |z - z*| <= alpha_2 |min(z, M z + q)| for every z"


def enclosure_text(enclosure: dict[str, Any], digits: int = 6) -> str:
    """Format an enclosure with a number of digits: one number if both bounds round to it, else outward bounds."""
    lower, upper = enclosure["lower"], enclosure["upper"]
    if upper is None:
        return f"at least {rounded(lower, digits, ROUND_FLOOR)}"
    if f"{lower:.{digits}g}" == f"{upper:.{digits}g}":
        return f"{upper:.{digits}g}"
    if lower == 0:
        return f"at most {rounded(upper, digits)}"
    return f"{rounded(lower, digits, ROUND_FLOOR)} to {rounded(upper, digits)}"


def rounded(x: float, digits: int, rounding: str = ROUND_CEILING) -> str:
    """Format a bound with a number of digits, rounded up or, with ROUND_FLOOR, down."""
    return f"{Context(digits, rounding).create_decimal_from_float(x):.{digits}g}"


def _class_rows(classes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for verdict, label in (("yes", "is"), ("no", "is not"), ("undecided", "undecided")):
        some = {name.replace("_", " "): entry for name, entry in classes.items() if entry["verdict"] == verdict}
        reasons = {entry["reason"] for entry in some.values()}
        if verdict == "undecided" and len(reasons) == 1 and len(some) > 1:
            yield label, f"{', '.join(some)}: {reasons.pop()}"
            continue
        late = [name for name, entry in some.items() if (entry["reason"] or "").startswith(OUT_OF_TIME)]
        names = [name for name in some if name not in late]
        if names:
            yield label, ", ".join(names)
        if late:
            yield label, f"{OUT_OF_TIME}: {', '.join(late)}"


def _solution_rows(solutions: dict[str, Any]) -> Iterator[tuple[str, str]]:
    count = solutions["count"]
    yield "solutions", f"not counted: {solutions['reason']}" if count is None else str(count)
    for face in solutions["faces"][:MOST_SHOWN]:
        if face["dimension"] == 0:
            yield "z", vector(face["vertices"][0])
            continue
        corners = f"{len(face['vertices'])} vertices" if len(face["vertices"]) > 1 else "one vertex"
        yield f"face of dim. {face['dimension']}", f"{corners} {'; '.join(map(vector, face['vertices'][:MOST_SHOWN]))}"
        if face["rays"]:
            yield "its rays", "; ".join(map(vector, face["rays"][:MOST_SHOWN]))
    if len(solutions["faces"]) > MOST_SHOWN:
        yield "", f"and {len(solutions['faces']) - MOST_SHOWN} more, see --json"


def _margin_rows(result: dict[str, Any]) -> Iterator[tuple[str, str]]:
    margin = result["margin"]
    if margin is not None:
        if margin["distance"] is None:
            yield "margin of q", str(margin["reason"])
        else:
            facet = margin["facet"]
            least, most = margin["distance"]
            away = f"{most:.4g}" if least > 0.999 * most else f"{least:.4g} to {most:.4g}"
            yield (
                "margin of q",
                f"{away} to a facet of complementary cones (index {facet['index']} left out of "
                f"{{{', '.join(map(str, facet['index_set']))}}}), {margin['here']} solutions here, "
                f"{margin['beyond']} beyond; rounding moves q by up to {margin['rounding']:.1e}",
            )
    known = [i for i in result["solutions"]["indices"] if i is not None]
    if known:
        yield "indices", ", ".join("degenerate" if i is None else f"{i:+d}" for i in result["solutions"]["indices"])
    if result["degree"] is not None:
        parity = "even" if result["degree"] % 2 == 0 else "odd"
        yield "degree", f"{result['degree']}: an {parity} number of solutions for every q off the facets"


def vector(x: list[str]) -> str:
    """All entries of a short vector, the first ones of a long one."""
    if len(x) <= LONGEST_VECTOR:
        return "(" + ", ".join(map(number, x)) + ")"
    return f"({', '.join(map(number, x[:MOST_SHOWN]))}, ... {len(x)} entries, see --json)"


def number(exact: str) -> str:
    """An exact "p/q" as it is when short, else about six digits of it, marked as rounded."""
    if len(exact) <= LONGEST_EXACT:
        return exact
    return f"~{arb(fmpq(exact)).str(6, radius=False)}"
