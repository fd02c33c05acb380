"""Verdicts on a friction problem (W, q, mu), and on each of its islands, contacts that W does not couple with others.

A solution consists of one for each island: their numbers multiply, and one exists, or is unique for every q, where that
holds for each of them.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq_mat

from workbench.diagnostics.contact_uniqueness import contact_uniqueness
from workbench.diagnostics.coulomb_answers import (
    SECONDS_OF_CONTACT,
    coulomb_entry,
    every_q_entry,
    every_q_verdict,
    with_answers,
)
from workbench.diagnostics.large_matrix import judged
from workbench.diagnostics.posed_problem import LARGEST_EXACT, Entry, distance_entry, existence_entry
from workbench.diagnostics.proved_answer import LARGEST as LARGEST_PROVED
from workbench.engine.lazy import sparse
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock, clock, moment, seconds_left
from workbench.matrices.linear_algebra.blocks import islands
from workbench.matrices.linear_algebra.rationals import exact
from workbench.matrices.p_property.verdict import PVerdict, p_verdict
from workbench.matrices.solutions.coulomb_islands import judged_once
from workbench.matrices.solutions.existence import Existence, rational_friction
from workbench.matrices.solutions.friction_cones import RationalFriction, at_rest_without_impulse
from workbench.problems.friction_problem import FrictionProblem
from workbench.readers.matrix import Matrix

LARGEST = 300
"""Largest order for which the matrix is written in rationals."""
LAWS = ("Coulomb's law", "cone problem")
SWEEPS = 300
"""Number of sweeps for a solution of islands with many contacts: a second or two."""
MOST_ENTRIES = 3_000_000
"""Largest number of entries of W for which a solution is computed."""
SEARCH = 5.0
"""Seconds for the search of all solutions under Coulomb's law, most of them for `solutions`."""


def friction_entry(friction: RationalFriction, local: FrictionProblem, deadline: float) -> Entry:
    """All verdicts on a friction problem that is given in rationals and in doubles."""
    found = p_verdict(friction.W, seconds_left(deadline, 0.3))
    entry: Entry = {"p_matrix": _p_support(found)}
    entry["distance"] = distance_entry(local.dense, found, seconds_left(deadline, 0.3))
    entry["every_q"] = every_q_entry(friction, moment(deadline, 0.3))
    existence = [existence_entry(friction, law, seconds_left(deadline, 0.4)) for law in (True, False)]
    unique = entry["every_q"]["verdict"] == "unique"
    entry["coulomb"] = coulomb_entry(friction, local, unique, min(SEARCH, seconds_left(deadline, 0.8)))
    entry["existence"] = with_answers(existence, friction, local, entry["coulomb"], deadline)
    return entry


def _p_support(found: PVerdict) -> Entry:
    return {"verdict": found.verdict, "proof": found.proof, "reason": found.reason, "index_set": found.index_set}


def contact_islands(p: FrictionProblem) -> list[list[int]]:
    """The contacts of each island."""
    contact = np.concatenate([np.arange(p.contacts), np.repeat(np.arange(p.contacts), p.d)])
    W = sparse.coo_array(p.W)
    some = W.data != 0
    places = contact[W.row[some]], contact[W.col[some]]
    return islands(sparse.csr_array((np.ones(some.sum()), places), shape=(p.contacts, p.contacts)))


def rows_of(contacts: Sequence[int], p: FrictionProblem) -> list[int]:
    """The rows of some contacts: normals first, then tangents contact by contact."""
    r, d = p.contacts, p.d
    return [*contacts, *(r + d * i + k for i in contacts for k in range(d))]


def island_problem(p: FrictionProblem, contacts: Sequence[int]) -> FrictionProblem:
    """The problem of some contacts alone."""
    rows = rows_of(contacts, p)
    return FrictionProblem(p.W[rows][:, rows], p.q[rows], p.mu[list(contacts)], p.d)


def by_islands(p: FrictionProblem, deadline: float) -> Entry:
    """All verdicts on a large friction problem from those on its islands, which may be one, and a computed solution."""
    parts = contact_islands(p)
    computed = _computed(p, max(map(len, parts)))
    alone = [island_problem(p, contacts) for contacts in parts]
    numbers = [
        tuple(x.tobytes() for x in (own.W.indptr, own.W.indices, own.W.data, own.q, own.mu)) for own in alone
    ]  # fmt: skip
    entries = judged_once(parts, numbers, lambda k, end: _of_island(alone[k], end), deadline)
    each = [{"contacts": contacts, **entry} for contacts, entry in zip(parts, entries, strict=True)]
    return {
        "p_matrix": _p_of_all(each, p),
        "distance": None,
        "every_q": _every_q_of_all(each),
        "coulomb": _coulomb_of_all(each),
        "existence": [_existence_of_all(each, i, law) for i, law in enumerate(LAWS)],
        "islands": {"count": len(each), "largest": max(map(len, parts)), "each": each},
        "computed": computed,
    }


def _computed(p: FrictionProblem, largest: int) -> Entry:
    """A solution under Coulomb's law in floating point: its residual, and whether that is small enough.

    `largest` is the number of contacts of the largest island.
    """
    # Lazy imports: most checks solve nothing, and the solvers take longer to import than a small matrix to check.
    from workbench.algorithms import nsgs
    from workbench.algorithms.escalation import default_solver

    if p.W.nnz > MOST_ENTRIES:
        reason = f"W has {p.W.nnz} entries; check computes one up to {MOST_ENTRIES}"
        return {"solver": None, "residual": None, "verified": False, "reason": reason}
    law = p.coulomb()
    # Methods to round-off cannot be interrupted, and may take minutes on many redundant contacts.
    short = largest <= LARGEST_PROVED
    solver = default_solver(law.kind).first if short else nsgs.SOLVER.adjusted(None, SWEEPS)
    solution = solver.solve(law)
    return {
        "solver": solution.solver, "residual": solution.residual if math.isfinite(solution.residual) else None,
        "verified": solution.verified, "reason": solution.reason or None,
    }  # fmt: skip


def _of_island(p: FrictionProblem, deadline: float) -> Entry:
    if clock() >= deadline:
        return _late()
    if p.size > LARGEST:
        return _of_large_island(p, deadline)
    return friction_entry(rational_friction(p.dense, p.q, p.mu, p.d), p, deadline)


def _late() -> Entry:
    """The entry of an island that is not reached."""
    open_ = {"verdict": "undecided", "proof": None, "witness": None, "reason": OUT_OF_TIME}
    return {
        "p_matrix": {"verdict": "undecided", "proof": None, "reason": OUT_OF_TIME, "index_set": None},
        "distance": None,
        "every_q": {"verdict": "undecided", "contacts": [], "contraction": None},
        "coulomb": _not_counted(OUT_OF_TIME),
        "existence": [{"law": law, **open_} for law in LAWS],
    }


def _not_counted(reason: str | None) -> Entry:
    """The entry of Coulomb's law where the number of solutions is open."""
    return {"law": LAWS[0], "count": None, "reason": reason, "dimension": None, "modes": None, "points": []}


def _of_large_island(p: FrictionProblem, deadline: float) -> Entry:
    """Return verdicts that need no rational W: P and definiteness, each contact alone, and the solution r = 0."""
    W = judged(Matrix(p.W.toarray()), moment(deadline, 0.5))
    reason = f"W is not proved positive definite, and has {p.size} rows; up to {LARGEST_EXACT} are taken in rationals"
    definite = W.classes["PD"]
    without_W = RationalFriction(fmpq_mat(0, 0), [*map(exact, p.q)], [*map(exact, p.mu)], p.d)
    existence = []
    for law in LAWS:
        if at_rest_without_impulse(without_W, law == LAWS[0]):
            found = Existence("exists", "r = 0 is a solution", {"kind": "no impulse"})
        elif definite.verdict == "yes":
            found = Existence("exists", f"W is positive definite ({definite.proof})", {"kind": "definite"})
        else:
            found = Existence("undecided", reason=reason)
        existence.append({"law": law, **vars(found)})
    contacts = []
    try:
        for i in range(p.contacts):
            check_clock(deadline, SECONDS_OF_CONTACT)
            one = island_problem(p, [i])
            alone = contact_uniqueness(rational_friction(one.dense, one.q, one.mu, one.d))
            contacts.append({**alone.entry(), "contact": i})
    except OutOfTimeError:
        pass
    return {
        "p_matrix": _p_support(W.p),
        "distance": None,
        "every_q": {"verdict": every_q_verdict(contacts, p.contacts, None), "contacts": contacts, "contraction": None},
        "coulomb": _not_counted(f"{p.contacts} contacts in one island"),
        "existence": existence,
    }


def _p_of_all(each: list[Entry], p: FrictionProblem) -> Entry:
    """The P verdict on W: that of all islands."""
    if len(each) == 1:
        return each[0]["p_matrix"]
    lost = next((x for x in each if x["p_matrix"]["verdict"] == "not P"), None)
    if lost:
        rows, a = rows_of(lost["contacts"], p), lost["p_matrix"]["index_set"]
        if a is None:
            return {"verdict": "not P", "proof": "an island is not", "reason": None, "index_set": None}
        return {"verdict": "not P", "proof": None, "reason": None, "index_set": [rows[i] for i in a]}
    open_ = _open(each, lambda x: x["p_matrix"]["verdict"] == "undecided")
    if open_:
        return {"verdict": "undecided", "proof": None, "reason": open_[0]["p_matrix"]["reason"], "index_set": None}
    return {"verdict": "P", "proof": f"each of the {len(each)} islands is", "reason": None, "index_set": None}


def _every_q_of_all(each: list[Entry]) -> Entry:
    verdicts = {x["every_q"]["verdict"] for x in each}
    verdict = "not unique" if "not unique" in verdicts else "unique" if verdicts == {"unique"} else "undecided"
    contacts = [{**one, "contact": x["contacts"][one["contact"]]} for x in each for one in x["every_q"]["contacts"]]
    factors = [x["every_q"]["contraction"] for x in each]
    known = [f for f in factors if f is not None]
    return {"verdict": verdict, "contacts": contacts, "contraction": max(known) if len(known) == len(each) else None}


def _coulomb_of_all(each: list[Entry]) -> Entry:
    if len(each) == 1:
        return each[0]["coulomb"]
    counts = [x["coulomb"]["count"] for x in each]
    entry = _not_counted(None)
    if 0 in counts or any(x["existence"][0]["verdict"] == "none" for x in each):
        return entry | {"count": 0, "reason": "an island has none"}
    open_ = _open(each, lambda x: x["coulomb"]["count"] is None)
    if open_:
        return entry | {"reason": f"{len(open_)} of {len(each)} islands are open, {_size(open_[0])}"}
    if "infinite" in counts:
        return entry | {"count": "infinite", "dimension": sum(x["coulomb"]["dimension"] or 0 for x in each)}
    return entry | {"count": math.prod(counts)}


def _existence_of_all(each: list[Entry], i: int, law: str) -> Entry:
    if len(each) == 1:
        return each[0]["existence"][i]
    verdicts = [x["existence"][i]["verdict"] for x in each]
    nothing = {"proof": None, "witness": None, "reason": None}
    if "none" in verdicts:
        lost = each[verdicts.index("none")]
        proof = f"the island of contact {lost['contacts'][0] + 1} has none: {lost['existence'][i]['proof']}"
        return {"law": law, "verdict": "none", **nothing, "proof": proof}
    open_ = _open(each, lambda x: x["existence"][i]["verdict"] == "undecided")
    if open_:
        why = open_[0]["existence"][i]["reason"]
        reason = f"{len(open_)} of {len(each)} islands are open, {_size(open_[0])}: {why}"
        return {"law": law, "verdict": "undecided", **nothing, "reason": reason}
    return {"law": law, "verdict": "exists", **nothing, "proof": f"each of the {len(each)} islands has one"}


def _open(each: list[Entry], is_open: Any) -> list[Entry]:
    """The islands that are open, the largest first."""
    return sorted((x for x in each if is_open(x)), key=lambda x: -len(x["contacts"]))


def _size(island: Entry) -> str:
    return f"the largest of {len(island['contacts'])} contacts"
