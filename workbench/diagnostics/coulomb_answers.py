"""The number of solutions of Coulomb's law: for every q, contact by contact, and for this q; entries ready for JSON."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from workbench.diagnostics.contact_uniqueness import contact_uniqueness
from workbench.diagnostics.coulomb_contraction import contracts
from workbench.diagnostics.proved_answer import LARGEST, computed_impulses, proved_impulses
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock, clock, moment
from workbench.matrices.linear_algebra.rationals import as_text, nearest_double
from workbench.matrices.solutions.coulomb_islands import solutions_by_islands
from workbench.matrices.solutions.coulomb_solutions import CoulombSolution, CoulombSolutions, enclosed_point
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import Array
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import DataError

Entry = dict[str, Any]
SHOWN = 9
"""Largest number of solutions whose modes are named in one sentence."""
SECONDS_OF_CONTACT = 0.1
"""Approximate seconds for the criterion at one contact."""


def every_q_entry(friction: RationalFriction, deadline: float) -> Entry:
    """Decide if every q has one solution: the criterion at each contact, as far as time allows, and for several
    contacts a contraction test. A contact that is "not unique" alone makes the whole problem so."""
    contacts: list[Entry] = []
    bounds = None
    try:
        bounds = contracts(friction, moment(deadline, 0.5))
        for i in range(len(friction.mu)):
            check_clock(deadline, SECONDS_OF_CONTACT)
            contacts.append(contact_uniqueness(friction, i).entry())
    except OutOfTimeError:
        pass
    contraction = None if bounds is None else math.sqrt(nearest_double(bounds[0] * bounds[1]))
    verdict = every_q_verdict(contacts, len(friction.mu), contraction)
    return {"verdict": verdict, "contacts": contacts, "contraction": contraction}


def every_q_verdict(contacts: list[Entry], number: int, contraction: float | None) -> str:
    """Decide if all contacts have one solution for every q, from the verdicts on some of them."""
    verdicts = {x["verdict"] for x in contacts}
    if contraction is not None or (number == 1 and "unique" in verdicts):
        return "unique"
    return "not unique" if "not unique" in verdicts else "undecided"


def every_q_words(found: Entry, contacts: int) -> str:
    """The verdict as text."""
    seen = found["contacts"]
    if found["verdict"] == "not unique":
        x = next(x for x in seen if x["verdict"] == "not unique")
        alone = f"contact {x['contact'] + 1}, the others open, has" if contacts > 1 else "there are"
        return f"not unique: {alone} several solutions for some q ({x['proof']}; {_critical_words(x)})"
    if contacts == 1 and seen:
        said = "exactly one solution" if found["verdict"] == "unique" else "undecided"
        return f"{said}: {seen[0]['proof']}; {_critical_words(seen[0])}"
    if found["verdict"] == "unique":
        factor = found["contraction"]
        if factor is None:
            return "exactly one solution: each island has one"
        return f"exactly one solution: friction changes the cone problem by a contraction, of factor {factor:.3g}"
    if not seen:
        return f"undecided: {OUT_OF_TIME} before a contact was checked"
    few = contacts if len(seen) == contacts else f"the first {len(seen)}"
    unique = sum(x["verdict"] == "unique" for x in seen)
    return (
        f"undecided: {unique} of {few} contacts, each taken by itself, have one solution, which is necessary but not "
        "sufficient"
    )


def _critical_words(x: Entry) -> str:
    if x["critical_mu"] is None:
        return "for any mu"
    low, high = x["critical_mu"]
    if high == 0:
        return "for any mu > 0"
    digits = next((k for k in range(6, 18) if f"{low:.{k}g}" != f"{high:.{k}g}"), 18) - 1
    return f"critical mu {low:.{max(digits, 6)}g}"


def coulomb_entry(friction: RationalFriction, local: FrictionProblem, unique: bool, seconds: float) -> Entry:
    """All solutions for this q: number, and modes, index and residual of each; `unique`: there is at most one."""
    deadline = clock() + seconds
    law, known = local.coulomb(), None

    @cache
    def near() -> Array | None:
        computed = computed_impulses(law) if len(friction.mu) <= LARGEST else None
        return None if computed is None or not np.isfinite(computed).all() else computed

    if unique and (computed := near()) is not None:
        known = proved_impulses(friction, computed).enclosure
    if known is not None:
        found = CoulombSolutions(1, [enclosed_point(known)])
    else:
        found = solutions_by_islands(friction, deadline, near)
    return {
        "law": "Coulomb's law", "count": found.count, "reason": found.reason, "dimension": found.dimension,
        "modes": None if found.modes is None else list(found.modes),
        "points": [_point(x, float(law.residual(x.p))) for x in found.points],
    }  # fmt: skip


def _point(x: CoulombSolution, residual: float) -> Entry:
    return {
        "modes": list(x.modes), "index": x.index, "determinant": x.determinant, "regular": x.regular,
        "borders": list(x.borders), "residual": residual, "distance": x.distance, "p": x.p.tolist(), "u": x.u.tolist(),
        "exact": None if x.exact is None else as_text(list(x.exact)),
    }  # fmt: skip


def coulomb_words(found: Entry) -> str:
    """The number of solutions as text."""
    count, points = found["count"], found["points"]
    if count is None:
        seen = f"; {len(points)} found" if points else ""
        return f"solutions of Coulomb's law not counted: {found['reason']}{seen}"
    if count == "infinite":
        dimension = found["dimension"]
        return f"Coulomb's law has infinitely many solutions: proved, a continuum of dimension {dimension} or more"
    if count == 0:
        return f"Coulomb's law has no solution: proved, {found['reason'] or 'all modes were searched'}"
    number = "exactly one solution" if count == 1 else f"exactly {count} solutions"
    if not points:
        return f"Coulomb's law has {number}: proved, island by island"
    return f"Coulomb's law has {number}: proved ({_points_words(points)})"


def _points_words(points: list[Entry]) -> str:
    """Some solutions as text: modes and index of each, or where there are many the numbers of each index."""
    if len(points) <= SHOWN:
        return "; ".join(map(point_words, points))
    kinds = Counter("degenerate" if x["index"] is None else f"of index {x['index']:+d}" for x in points)
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))


def point_words(x: Entry) -> str:
    """A solution as text: the modes of its contacts, and its index."""
    index = f", index {x['index']:+d}" if x["index"] is not None else ""
    return modes_words(x["modes"]) + (index if x["regular"] else f", degenerate: {'; '.join(x['borders'])}")


def modes_words(modes: Sequence[str]) -> str:
    """How many contacts have each mode, as text."""
    numbers: dict[str, int] = Counter(modes)
    return ", ".join(f"{number} {mode}" if len(modes) > 1 else str(mode) for mode, number in numbers.items())


def with_answers(
    existence: list[Entry], friction: RationalFriction, local: FrictionProblem, found: Entry, deadline: float
) -> list[Entry]:
    """Existence where only a solution itself shows it: one that was found, or a computed one that is proved."""
    return [
        _with_answer(entry, friction, local, found) if entry["verdict"] == "undecided" and clock() < deadline else entry
        for entry in existence
    ]


def _with_answer(entry: Entry, friction: RationalFriction, local: FrictionProblem, found: Entry) -> Entry:
    coulomb = entry["law"] == "Coulomb's law"
    points = found["points"] if coulomb else []
    if coulomb and found["count"] == 0:
        return entry | {"verdict": "none", "proof": "all modes were searched", "witness": None, "reason": None}
    exact = next((x["exact"] for x in points if x["exact"]), None)
    if exact is not None:
        witness = {"kind": "solution", "r": exact}
        return entry | {"verdict": "exists", "proof": "r is a solution, exactly", "witness": witness, "reason": None}
    # No answer to so many contacts is proved, and computing one may take longer than the limit.
    if len(friction.mu) > LARGEST:
        return entry
    try:
        law = local.coulomb() if coulomb else local.ccp()
        computed = np.array(points[0]["p"]) if points else computed_impulses(law)
    except DataError:
        return entry
    answer = proved_impulses(friction, computed, coulomb)
    if answer.distance is None:
        return entry
    proof = f"within {answer.distance:.1e} of the computed impulses there is an exact solution (Krawczyk's test)"
    return entry | {"verdict": "exists", "proof": proof, "witness": answer.witness, "reason": None}
