"""The certificate of a box of matrices, and of the solutions of an LCP or MLCP with uncertain data."""

from collections.abc import Callable, Sequence
from typing import Any

from flint import fmpq, fmpq_mat

from workbench.certificates.boxes import MatrixBox
from workbench.certificates.documents import Entry, signed
from workbench.certificates.outcomes import RefusedError
from workbench.certificates.uncertain import Uncertain, check_basis
from workbench.diagnostics.certificate import Stage, collected, written
from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.classes.matrix_classes import class_verdict, matrix_classes
from workbench.matrices.intervals.box_classes import ALL, EXTREMES, NONE, SOME
from workbench.matrices.intervals.branches import BETWEEN, NOTHING_CHOSEN, Branches
from workbench.matrices.intervals.symmetric_lcp import symmetric_cover
from workbench.matrices.intervals.uncertain_mlcp import EnclosedUnknowns, enclosed_basis, places_of
from workbench.matrices.intervals.uncertain_problem import Ends, UncertainMLCP
from workbench.matrices.linear_algebra.rationals import as_text, exact, fraction, nearest_double, rows_as_text
from workbench.matrices.p_property.verdict import p_verdict
from workbench.matrices.p_property.witness import as_lines
from workbench.readers.interval_matrix import IntervalMatrix


def certificate_of_box(M: IntervalMatrix, p: UncertainMLCP | None, result: Entry, seconds: float) -> Entry:
    """The JSON-ready certificate of the result of `check_box` for this box and a problem with it, if there is one.

    Verdicts whose proof could not be written within `seconds` are listed in "left_out" with the reason.
    """
    deadline = clock() + seconds
    stages: list[Stage] = [
        (name, found["verdict"], lambda name=name, found=found: _of_class(M, name, found, deadline))
        for name, found in result["classes"].items()
        if found["verdict"] in (ALL, SOME, NONE)
    ]
    rank = result["rank"]
    stages.append(("rank", rank["at_least"], lambda: rank["support"]))
    for name, bracket in result["largest_uncertainty"].items():
        found = bracket["support"]
        if found["lower"] is not None or found["upper"] is not None:
            # An end without a proof is not claimed.
            proof = {key: value for key, value in found.items() if key in ("tree", "signs", "index_set")}
            stages.append((f"r_{name}", [found["lower"], found["upper"]], lambda proof=proof: proof))
    if p is not None:
        stages += _of_solutions(p, result, deadline)
    claims, left_out = collected(stages, seconds)
    members = "symmetric" if M.symmetric else "all"
    problem: Entry = {"M": rows_as_text(M.centre), "radius": rows_as_text(M.radius), "members": members}
    if p is not None:
        problem |= {"q": as_text(p.q.centre.entries()), "q_radius": as_text(p.q.radius.entries())}
        if not p.is_lcp:
            problem |= {"lower": _ends(p.lower), "upper": _ends(p.upper)}
    return signed(problem, claims, left_out)


def _ends(bounds: Sequence[Ends | None]) -> list[list[str] | None]:
    return [None if x is None else as_text([*x]) for x in bounds]


# Classes


def _of_class(M: IntervalMatrix, name: str, found: Entry, deadline: float) -> Entry | None:
    if found["verdict"] == SOME:
        inside = _member(name, "yes", found["inside"], deadline)
        outside = _member(name, "no", found["outside"], deadline)
        return None if inside is None or outside is None else {"by": "members", "inside": inside, "outside": outside}
    support = found["support"]
    if support["by"] == "extreme":
        least, _, most, _ = EXTREMES[name]
        A, verdict = (least(M), "yes") if found["verdict"] == ALL else (most(M), "no")
        claims = _claims(A, name, verdict, support["member"], deadline)
        return None if claims is None else {"by": "extreme", "claims": claims}
    return None if support["by"] == "tree" and support["tree"] is None else support


def _member(name: str, verdict: str, given: Entry, deadline: float) -> Entry | None:
    witness = given["witness"]
    if "other" in witness:
        return {"index_set": witness["index_set"], "matrices": [given["matrix"], witness["other"]]}
    A = fmpq_mat([[fmpq(x) for x in row] for row in given["matrix"]])
    claims = _claims(A, name, verdict, witness, deadline)
    return None if claims is None else {"matrix": given["matrix"], "claims": claims}


def _claims(A: fmpq_mat, name: str, verdict: str, witness: Entry, deadline: float) -> list[Entry] | None:
    """The claims on one matrix A (n, n) that prove the verdict on a class; None where a proof has no written form."""
    if not witness or witness.get("by") == "implication":
        # What follows for the box may have a proof of its own for the member.
        witness = class_verdict(A, name, deadline).witness or {}
    needed = {name: (verdict, witness)}
    if witness.get("by") == "implication":
        needed = _chain(A, name, deadline)
    found = []
    for about, (answer, support) in needed.items():
        trees: Entry = {"p_matrix": {}}
        if support.get("by") == "tree":
            tree = p_verdict(A, max(0.0, deadline - clock())).tree
            trees = {"p_matrix": {"tree": None if tree is None else as_lines(tree)}}
        text = written(A, None, about, {k: v for k, v in support.items() if v is not None}, trees, deadline)
        if not text:
            return None
        found.append({"about": about, "verdict": answer, "support": text})
    return found


def _chain(A: fmpq_mat, name: str, deadline: float) -> dict[str, tuple[str, Entry]]:
    """The verdicts on which that on a class rests, by implication, before it."""
    known = matrix_classes(A, deadline)
    found: dict[str, tuple[str, Entry]] = {}

    def add(about: str) -> None:
        support = known[about].witness or {}
        if support.get("by") == "implication":
            for other in (*support.get("from", ()), *filter(None, [support.get("conclusion")])):
                if other not in found:
                    add(other)
        found[about] = (known[about].verdict, support)

    add(name)
    return found


# Solutions


def _of_solutions(p: UncertainMLCP, result: Entry, deadline: float) -> list[Stage]:
    """About, verdict, and what writes the support: uniqueness, whether there are solutions, the basis, bounds of the
    unknowns."""
    found, unique, branches, n = result["solutions"], result["uniqueness"], Branches(p), p.M.order
    stages: list[Stage] = []
    if unique is not None and unique["verdict"] != "undecided":
        stages.append(("uniqueness", unique["verdict"], lambda: unique["support"]))
    if found["solvable"] == "none":

        def cover() -> Entry:
            return {"by": "cover", "cover": branches.cover(0, 1, None, NOTHING_CHOSEN, deadline)}

        return [*stages, ("solvable", "none", cover)]
    basis, start = _strict_basis(p, found, deadline), NOTHING_CHOSEN
    if basis is not None:
        places = places_of(p, [fmpq(x) for x in found["centre"]])
        verdict: Any = [i for i in range(n) if places[i] == BETWEEN] if p.is_lcp else places
        stages.append(("basis", verdict, lambda: _of_basis(p, verdict, basis)))
        if found["solvable"] == "one":
            start = branches.chosen(places)
    if found["solvable"] == "one":
        stages.append(("solvable", "one", lambda: {"by": "P" if p.is_lcp else "uniqueness"}))
    elif found["solvable"] == "some":
        stages.append(("solvable", "some", lambda: {"by": "compact" if basis is None else "basis"}))
    chosen = ("cover" if basis is None or found["solvable"] != "one" else "basis", start)
    # Bounds of the symmetric members alone need not hold for all members, of which covers are.
    narrow: list[int] = verdict if p.M.symmetric and p.is_lcp and chosen[0] == "basis" else []

    def bounds(k: int, ends: list[str | None]) -> Entry | None:
        if k in narrow:
            at, a = narrow.index(k), tuple(narrow)
            return _of_ends("symmetric", ends, lambda sign, end: symmetric_cover(p.M, p.q, a, at, sign, end, deadline))
        return _of_ends(chosen[0], ends, lambda sign, end: branches.cover(k, sign, end, chosen[1], deadline))

    for k in range(n):
        ends = [found["lower"][k], found["upper"][k]]
        stages.append((f"z_{k}", ends, lambda k=k, ends=ends: bounds(k, ends)))
    return stages


def _of_ends(by: str, ends: list[str | None], cover_of: Callable[[int, fmpq], list | None]) -> Entry | None:
    """The support of both bounds of an unknown; `cover_of` proves sign z_k >= end, None where it does not."""
    support: Entry = {"by": by}
    for name, sign, end in (("lower", 1, ends[0]), ("upper", -1, ends[1])):
        if end is not None:
            cover = cover_of(sign, sign * fmpq(end))
            if cover is None:
                return None
            support[name] = cover
    return support


def _strict_basis(p: UncertainMLCP, found: Entry, deadline: float) -> EnclosedUnknowns | None:
    if found["centre"] is None:
        return None
    try:
        basis = enclosed_basis(p, [fmpq(x) for x in found["centre"]], deadline)
    except (ZeroDivisionError, OutOfTimeError):
        return None
    return basis if basis is not None and basis.strict else None


def _of_basis(p: UncertainMLCP, verdict: Any, basis: EnclosedUnknowns) -> Entry:
    """Doubles where they suffice for Krawczyk's test, the exact numbers otherwise."""
    room = zip(basis.room, basis.radius, basis.growth, strict=True)
    slack = min([(r - e) / g for r, e, g in room if r is not None], default=fmpq(2)) / 2
    radii = [e + slack * g for e, g in zip(basis.radius, basis.growth, strict=True)]
    M = p.M
    C, D = ([[*map(fraction, row)] for row in A.tolist()] for A in (M.centre, M.radius))
    box = MatrixBox(C, D, M.symmetric)
    q, d = ([*map(fraction, A.entries())] for A in (p.q.centre, p.q.radius))
    lower, upper = (
        [None if x is None else (fraction(x[0]), fraction(x[1])) for x in bounds] for bounds in (p.lower, p.upper)
    )
    claimed = Uncertain(box, q, d) if p.is_lcp else Uncertain(box, q, d, list(lower), list(upper))

    def support(R: list[fmpq], y: list[fmpq], e: list[fmpq]) -> Entry:
        n = M.order
        return {"centre": as_text(y), "radii": as_text(e), "R": [as_text(R[i * n : (i + 1) * n]) for i in range(n)]}

    rounded = support(*([exact(nearest_double(x)) for x in v] for v in (basis.R.entries(), basis.y, radii)))
    try:
        check_basis(claimed, verdict, rounded)
    except RefusedError:
        return support(basis.R.entries(), basis.y, radii)
    return rounded
