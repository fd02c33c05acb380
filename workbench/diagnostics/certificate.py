"""The certificate of a check: its problem, and every verdict with its proof, in the format of docs/certificates.md."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly

from workbench.certificates.coulomb_count import COUNT, check_count, directions
from workbench.certificates.coulomb_uniqueness import EVERY_Q, check_every_q
from workbench.certificates.documents import Entry, signed
from workbench.certificates.friction import Friction
from workbench.certificates.outcomes import RefusedError
from workbench.diagnostics.coulomb_contraction import contracts
from workbench.diagnostics.friction_check import island_problem
from workbench.diagnostics.problem_check import in_rationals
from workbench.engine.lazy import sparse
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock
from workbench.matrices.classes.q_matrix import unsolvable
from workbench.matrices.classes.structure import nonzeros
from workbench.matrices.linear_algebra.factors import factors, split
from workbench.matrices.linear_algebra.rationals import as_text, exact, fraction, nearest_double, rows_as_text
from workbench.matrices.linear_algebra.sparse_form import BITS, sparse_form
from workbench.matrices.paths.roots import irreducible_factors, isolated
from workbench.matrices.solutions.coulomb_islands import island, islands_of
from workbench.matrices.solutions.existence import rational_friction
from workbench.matrices.solutions.friction_cones import RationalFriction, planar_lcp
from workbench.matrices.solutions.solution_cover import cover, support_of
from workbench.matrices.solutions.solution_set import Piece, SolutionSet
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.matrix import Matrix
from workbench.support.arrays import Array
from workbench.support.errors import DataError

LARGEST = 600
"""Largest order for which a certificate contains all entries of M; beyond, those other than zero."""
MOST_ENTRIES = 1_000_000
"""Largest number of entries other than zero of a larger matrix."""
MULTIPLICATIONS = 50_000_000
"""Largest number of products of a sparse factor: the verifier takes 20 s for these."""

ENTRY_SECONDS = 2.5e-6
"""Seconds to write an entry of M, twice: for the digest and for the file."""

MOST_MODES = 4
"""Largest number of contacts in the plane whose 4^r modes the verifier repeats."""
BRACKET = 50
"""Half the width of the brackets of sliding directions, in binary digits after the point."""

LONG = ("tree", "factors", "cones")
"""Proofs that a check keeps in a short form."""

Posed = MLCP | FrictionProblem | GlobalFrictionProblem
Stage = tuple[str, Any, Callable[..., Entry | None]]
"""What is claimed, the verdict, and the function that writes the proof, None where it has no written form."""


def certificate(matrix: Matrix, q: Matrix | None, result: Entry, seconds: float = 10.0) -> Entry:
    """The JSON-ready certificate of the result of `check` for this matrix (n, n) and q (n, 1).

    A verdict whose proof could not be written within `seconds`, M itself included, is omitted and listed in "left_out"
    with the reason. Beyond order `LARGEST` there are no claims on q. Raises DataError for a matrix that is not square,
    and for one beyond this order with more than `MOST_ENTRIES` entries other than zero.
    """
    n = matrix.values.shape[0]
    if result["p_matrix"] is None:
        shape = " x ".join(map(str, matrix.values.shape))
        raise DataError(f"the matrix is {shape}; certificates are written for square ones")
    entries = matrix.nonzero
    if n > LARGEST and entries > MOST_ENTRIES:
        raise DataError(
            f"the matrix is {n} x {n} with {entries} entries other than zero; certificates are written up to order "
            f"{LARGEST}, or {MOST_ENTRIES} such entries"
        )
    large = n > LARGEST
    claims, left_out = _claims(
        matrix, None if large else q, result, clock() + seconds - writing_seconds(n, entries), seconds
    )
    if large:
        return signed({"M": _large(matrix)}, claims, left_out)
    problem: Entry = {"M": rows_as_text(matrix.exact)}
    return signed(problem if q is None else problem | {"q": as_text(q.exact.entries())}, claims, left_out)


def _claims(
    matrix: Matrix, q: Matrix | None, result: Entry, deadline: float, seconds: float
) -> tuple[list[Entry], list[Entry]]:
    """The claims with their proofs, and the verdicts left out."""
    vector = None if q is None else q.exact.entries()
    claims, left_out = collected(
        [
            (about, verdict, partial(_written, matrix, vector, about, support, result, deadline))
            for about, verdict, support in _verdicts(result, q is not None)
        ],
        seconds,
    )
    blocks = result.get("blocks")
    if blocks:
        kinds = [
            {"rows": kind["rows"], "claims": _claims(matrix.part(kind["rows"][0]), None, kind, deadline, seconds)[0]}
            for kind in blocks["kinds"]
        ]
        form = "islands" if blocks["islands"] else "block triangular"
        claims.insert(0, {"about": "blocks", "verdict": form, "support": {"kinds": kinds}})
    return claims, left_out


def collected(stages: Iterable[Stage], seconds: float) -> tuple[list[Entry], list[Entry]]:
    """The claims whose proofs are written, and the others with the reason."""
    claims, left_out = [], []
    for about, verdict, write in stages:
        try:
            support, reason = write(), "its proof has no written form"
        except OutOfTimeError:
            support, reason = None, f"{OUT_OF_TIME}: its proof was not written within {seconds:.2g} s"
        if support is None:
            left_out.append({"about": about, "reason": reason})
        else:
            claims.append({"about": about, "verdict": verdict, "support": support})
    return claims, left_out


def _large(matrix: Matrix) -> Entry:
    """The entries other than zero, row by row."""
    rows = nonzeros(matrix)
    return {"n": len(rows), "rows": [[list(row), as_text([*row.values()])] for row in rows]}


def writing_seconds(n: int, entries: int) -> float:
    """Estimate the seconds to write a certificate of order n, with so many entries other than zero, once its proofs are
    available."""
    return ENTRY_SECONDS * (n * n if n <= LARGEST else entries)


def certificate_of_posed(problem: Posed, result: Entry, seconds: float = 10.0) -> Entry:
    """Return the certificate for the result of `check_posed` on an MLCP with bounds or a friction problem.

    Raises DataError where nothing was checked, as for a large MLCP.
    """
    if result["problem"] is None:
        raise DataError(f"{result['reason']}, and so are certificates")
    deadline = clock() + seconds
    if isinstance(problem, MLCP):
        unique = result["problem"]["uniqueness"]
        matrix = Matrix(problem.M)
        about: Entry = {
            "M": rows_as_text(matrix.exact) if problem.size <= LARGEST else _large(matrix),
            "q": as_text([*map(exact, problem.q)]),
            "lower": _bounds(problem.lower),
            "upper": _bounds(problem.upper),
        }
        supports = _of_part(matrix, unique, seconds) if unique.get("part") else _of_uniqueness(unique)
        found = [("uniqueness", unique["verdict"], support) for support in supports]
    elif "islands" in result["problem"]:
        return _of_islands(problem, result["problem"], deadline)
    else:
        friction = in_rationals(problem)
        about = {"W": rows_as_text(friction.W), "q": as_text(friction.q), "mu": as_text(friction.mu), "d": friction.d}
        found = [
            (entry["law"], entry["verdict"], _of_existence(friction, entry, deadline))
            for entry in result["problem"]["existence"]
            if entry["verdict"] != "undecided"
        ]
    claims, left_out = collected(((a, v, lambda s=s: s) for a, v, s in found), seconds)
    if not isinstance(problem, MLCP):
        parts = [(contacts, island(friction, contacts)[0]) for contacts in islands_of(friction)]
        plain = _plain(friction)
        _with_count(claims, left_out, plain, parts, result["problem"]["coulomb"]["count"])
        whole = [(list(range(len(friction.mu))), friction)]
        _with_every_q(claims, left_out, plain, whole, [result["problem"]["every_q"]], deadline)
    return signed(about, claims, left_out)


def _with_count(
    claims: list[Entry], left_out: list[Entry], p: Friction, parts: list[tuple[list[int], RationalFriction]],
    count: int | str | None,
) -> None:  # fmt: skip
    """Add the claim that Coulomb's law has so many solutions, or the reason why the verifier does not repeat it.

    `parts`: the contacts of each island, and its problem.
    """
    support, reason = _of_count(p, parts, count)
    if support is not None:
        claims.append({"about": COUNT, "verdict": count, "support": support})
    elif count is not None:
        left_out.append({"about": COUNT, "reason": reason})


def _of_count(
    p: Friction, parts: list[tuple[list[int], RationalFriction]], count: int | str | None
) -> tuple[Entry | None, str]:
    if not isinstance(count, int):
        return None, "that solutions are infinitely many is not repeated"
    supports = []
    for contacts, alone in parts:
        place = f" of the island of contact {contacts[0] + 1}" if len(parts) > 1 else ""
        r = len(contacts)
        if p.d == 2 and r > 1:
            return None, f"that it is {count} is proved by a search in ball arithmetic{place}, which is not repeated"
        if r > MOST_MODES:
            return None, f"that it is {count} is proved by the modes of {r} contacts{place}, too many to repeat"
        supports.append(_count_of_one(alone))
    support = supports[0]
    if len(parts) > 1:
        each = [{"contacts": contacts, "support": own} for (contacts, _), own in zip(parts, supports, strict=True)]
        support = {"kind": "islands", "islands": each}
    try:
        check_count(p, count, support)
    except RefusedError as why:
        return None, f"that it is {count} is proved in a way that is not repeated: {why}"
    return support, ""


def _with_every_q(
    claims: list[Entry], left_out: list[Entry], p: Friction, parts: list[tuple[list[int], RationalFriction]],
    each: list[Entry], deadline: float,
) -> None:  # fmt: skip
    """Add the claim that Coulomb's law has one solution for every q, or several for some, or the reason why the
    verifier does not repeat it.

    `parts`: the contacts of each island, and its problem; `each`: what was found on every island (`every_q_entry`).
    """
    verdicts = [x["verdict"] for x in each]
    lost = next((k for k, x in enumerate(verdicts) if x == "not unique"), None)
    if lost is None and set(verdicts) != {"unique"}:
        return
    verdict = "unique" if lost is None else "not unique"
    try:
        if lost is not None:
            support = _of_several(*parts[lost], each[lost])
        else:
            supports = [_of_one(alone, deadline) for _, alone in parts]
            islands = [{"contacts": c, "support": x} for (c, _), x in zip(parts, supports, strict=True)]
            support = supports[0] if len(parts) == 1 else {"kind": "islands", "islands": islands}
        check_every_q(p, verdict, support)
    except (OutOfTimeError, RefusedError) as why:
        reason = f"that it is {verdict} is proved in a way that is not repeated: {str(why) or OUT_OF_TIME}"
        left_out.append({"about": EVERY_Q, "reason": reason})
    else:
        claims.append({"about": EVERY_Q, "verdict": verdict, "support": support})


def _of_one(friction: RationalFriction, deadline: float) -> Entry:
    """The support that every q has one solution. Raises OutOfTimeError."""
    bounds = contracts(friction, deadline)
    if bounds is None:
        return {"kind": "criterion"}
    return {"kind": "contraction", **dict(zip(("normal", "tangential"), map(str, bounds), strict=True))}


def _of_several(contacts: list[int], friction: RationalFriction, found: Entry) -> Entry:
    """The support that a contact has several solutions for some q. Raises RefusedError where no q is known."""
    x = next(x for x in found["contacts"] if x["verdict"] == "not unique")
    i = x["contact"]
    one, rows = island(friction, [i])
    # Where no slide has a negative determinant, a stick has, or without friction an impulse.
    q = [fmpq(y) for y in x["q"]] if x["q"] else [-one.W[j, 0] for j in range(len(rows))]
    count = _count_of_one(replace(one, q=q))
    return {"kind": "contact", "contact": contacts[i], "q": as_text(q), "count": count}


def _count_of_one(friction: RationalFriction) -> Entry:
    """The support of the number of solutions of one contact, or of contacts in the plane."""
    if friction.d == 1:
        return {"kind": "modes"}
    return {"kind": "directions", "brackets": _brackets(_plain(friction))}


def _plain(friction: RationalFriction) -> Friction:
    *W, q, mu = ([*map(fraction, some)] for some in (*friction.W.tolist(), friction.q, friction.mu))
    return Friction(W, q, mu, friction.d)


def _brackets(p: Friction) -> list[list[str]]:
    """Around each direction in which one contact may slide in space: an interval of the tangent of half its angle."""
    across = fmpq_poly([fmpq(x.numerator, x.denominator) for x in directions(p)[0]])
    found = []
    for root, _ in isolated(list(irreducible_factors(across.numer()).values())) if across.degree() > 0 else []:
        middle, off = (root.lo + root.hi) / 2, (root.hi - root.lo) + fmpq(1, 2**BRACKET)
        found.append([str(middle - off), str(middle + off)])
    return found


def _of_islands(problem: FrictionProblem | GlobalFrictionProblem, posed: Entry, deadline: float) -> Entry:
    """The certificate of a friction problem that was checked island by island."""
    p = problem.local if isinstance(problem, GlobalFrictionProblem) else problem
    if p.size > LARGEST:
        rows = rational_rows(p)
        W: Any = {"n": p.size, "rows": [[list(row), as_text([*row.values()])] for row in rows]}
        plain: Any = [{j: fraction(x) for j, x in row.items()} for row in rows]
    else:
        W = rows_as_text(Matrix(p.dense).exact)
        plain = [[*map(fraction, row)] for row in Matrix(p.dense).exact.tolist()]
    about = {"W": W, "q": as_text([*map(exact, p.q)]), "mu": as_text([*map(exact, p.mu)]), "d": p.d}
    claims, left_out = [], []
    for i, entry in enumerate(posed["existence"]):
        if entry["verdict"] == "undecided":
            continue
        some = [x for x in posed["islands"]["each"] if x["existence"][i]["verdict"] == entry["verdict"]]
        parts = []
        for x in some if entry["verdict"] == "exists" else some[:1]:
            alone = island_problem(p, x["contacts"])
            friction = rational_friction(alone.dense, alone.q, alone.mu, alone.d)
            support = _of_existence(friction, x["existence"][i], deadline)
            parts.append({"contacts": x["contacts"], "support": support})
        if any(part["support"] is None for part in parts):
            left_out.append({"about": entry["law"], "reason": "the proof of an island has no written form"})
            continue
        all_of_them = entry["verdict"] == "exists"
        support = {"kind": "islands", "islands": parts} if all_of_them else {"kind": "island", **parts[0]}
        claims.append({"about": entry["law"], "verdict": entry["verdict"], "support": support})
    of_islands = [
        (x["contacts"], rational_friction(alone.dense, alone.q, alone.mu, alone.d))
        for x in posed["islands"]["each"]
        if (alone := island_problem(p, x["contacts"])).size <= LARGEST
    ]
    q, mu = ([*map(Fraction, x.tolist())] for x in (p.q, p.mu))
    whole = Friction(plain, q, mu, p.d)
    _with_count(claims, left_out, whole, of_islands, posed["coulomb"]["count"])
    if len(of_islands) == len(posed["islands"]["each"]):
        each = [x["every_q"] for x in posed["islands"]["each"]]
        _with_every_q(claims, left_out, whole, of_islands, each, deadline)
    elif posed["every_q"]["verdict"] != "undecided":
        left_out.append({"about": EVERY_Q, "reason": f"an island has more than {LARGEST} rows"})
    return signed(about, claims, left_out)


def rational_rows(p: FrictionProblem) -> list[dict[int, fmpq]]:
    """The exact entries of W other than zero, row by row."""
    found: list[dict[int, fmpq]] = [{} for _ in range(p.size)]
    W = sparse.coo_array(p.W)
    for i, j, x in zip(W.row.tolist(), W.col.tolist(), W.data.tolist(), strict=True):
        if x:
            found[i][j] = exact(x)
    return found


def _bounds(bounds: Array) -> list[str | None]:
    return [str(exact(x)) if np.isfinite(x) else None for x in bounds.tolist()]


def _of_uniqueness(unique: Entry) -> list[Entry | None]:
    """The proof of the verdict: an x that refutes it, or a tree for the Schur complement."""
    tests = [test for test in unique["tests"].values() if test["verdict"] == unique["verdict"]]
    if unique["verdict"] == "not unique":
        return [tests[0]["witness"]]
    if unique["verdict"] == "undecided":
        return []
    trees = [test["tree"] for test in tests if test["tree"]]
    return [{"by": "tree", "tree": trees[0]} if trees else None if unique["bounds"]["bounded"] else {"by": "equations"}]


def _of_part(matrix: Matrix, unique: Entry, seconds: float) -> list[Entry | None]:
    """The proof of the verdict on a large MLCP, by the claims on the part that is not fixed."""
    if unique["verdict"] != "unique":
        return _of_uniqueness(unique)
    moving = sorted((*unique["bounds"]["free"], *unique["bounds"]["bounded"]))
    written = certificate(matrix.part(moving), None, unique["part"], seconds)["claims"]
    claims = {claim["about"]: claim for claim in written}
    needed, waiting = {"blocks"}, ["P"]
    for about in waiting:
        support = claims.get(about, {}).get("support", {})
        waiting += {*support.get("from", ()), *filter(None, [support.get("conclusion")])} - {*waiting}
    return [{"by": "classes", "claims": [claim for name, claim in claims.items() if name in needed | {*waiting}]}]


def _of_existence(friction: RationalFriction, entry: Entry, deadline: float) -> Entry | None:
    witness = entry["witness"]
    try:
        if witness is None:
            # In space no shorter proof than the search itself is known.
            if friction.d != 1:
                return None
            M, q = planar_lcp(friction)
            return {"kind": "cover", "cover": cover(M, q, [], deadline)}
        if witness["kind"] == "definite":
            found = factors(friction.W + friction.W.transpose(), True, deadline)
            return None if found is None else {"kind": "definite", "factors": found}
    except OutOfTimeError:
        return None
    return dict(witness)


def _verdicts(result: Entry, with_q: bool) -> list[tuple[str, Any, Entry]]:
    """Return the claims: name, verdict and the proof kept by the check."""
    found: list[tuple[str, Any, Entry]] = []
    rank, form = result.get("rank"), result.get("definiteness")
    if rank and rank["exact"] is not None and result["n"] <= LARGEST:
        found.append(("rank", rank["exact"], {}))
    if form and form["positive_direction"] and form["negative_direction"]:
        support = {"positive": form["positive_direction"], "negative": form["negative_direction"]}
        found.append(("indefinite", "yes", support))
    found += [
        (name, entry["verdict"], entry["witness"] or {})
        for name, entry in result["classes"].items()
        if entry["verdict"] != "undecided"
    ]
    for name in ("distance_to_degenerate", "distance_to_non_p"):
        bounds = (result.get(name) or {}).get("certificate")
        if bounds:
            support = {key: bounds[key] for key in ("index_set", "x", "diagonal") if bounds.get(key) is not None}
            found.append((name, [bounds["lower"], bounds["upper"]], support))
    if with_q and result["solutions"]["count"] is not None:
        found.append(("solutions", result["solutions"]["count"], {}))
    return found


def _written(
    matrix: Matrix, q: list[fmpq] | None, about: str, support: Entry, result: Entry, deadline: float
) -> Entry | None:
    """Write out a proof that is kept in a short form; of a large matrix the sparse factor only."""
    by = support.get("by")
    if len(matrix.values) > LARGEST:
        return _sparse_factor(matrix, support.get("w"), deadline) if by == "factors" else support
    if by == "blocks" or (by not in LONG and "q" not in support and about != "solutions"):
        return support
    return written(matrix.exact, q, about, support, result, deadline)


def written(
    M: fmpq_mat, q: list[fmpq] | None, about: str, support: Entry, result: Entry, deadline: float
) -> Entry | None:
    """Write out the proof of a matrix in full, that of a tree from the `result`; None where it has no written form."""
    by = support.get("by")
    if about == "solutions":
        return _of_solutions(M, q or [], result, deadline)
    if by == "tree":
        tree = result["p_matrix"].get("tree")
        return None if tree is None else {"by": "tree", "tree": tree}
    if by == "factors":
        S = M + M.transpose()
        return split(S, deadline) if about == "copositive" else factors(S, about == "PD", deadline)
    if "q" in support:
        return {**support, "cover": cover(M, [fmpq(x) for x in support["q"]], [], deadline)}
    if by == "cones":
        nodes: list[list] = []
        unsolvable(M, deadline, nodes)
        return {"by": "cones", "cover": [[kind, x if kind == "cone" else as_text(x)] for kind, x in nodes]}
    return support


def _sparse_factor(matrix: Matrix, w: list[str] | None, deadline: float) -> Entry | None:
    """The sparse factor that proves a large matrix, times diag(w), positive definite, unless its check would take too
    long."""
    values = sparse.csr_array(matrix.values)
    if w is not None:
        values = sparse.csr_array(sparse.diags_array([nearest_double(fmpq(x)) for x in w]) @ values)
    form = sparse_form(values, deadline)
    factor = form and form.factor
    if not factor or factor.multiplications > MULTIPLICATIONS:
        return None
    starts = factor.G.indptr.tolist()
    columns, entries = factor.G.indices.tolist(), [int(x) for x in factor.G.data.tolist()]
    G = [[columns[a:b], entries[a:b]] for a, b in itertools.pairwise(starts)]
    return {
        "by": "sparse_cholesky", "order": factor.order.tolist(), "powers": factor.powers.tolist(), "bits": BITS, "G": G,
        **({} if w is None else {"w": w}),
    }  # fmt: skip


def _of_solutions(M: fmpq_mat, q: list[fmpq], result: Entry, deadline: float) -> Entry:
    faces = result["solutions"]["faces"]
    if result["p_matrix"]["verdict"] == "P":
        return {"by": "P", "points": [faces[0]["vertices"][0]]}
    pieces = []
    for face in faces:
        corners, rays = ([tuple(map(fmpq, vector)) for vector in face[key]] for key in ("vertices", "rays"))
        pieces.append(Piece(face["dimension"], tuple(face["support"]), corners, rays))
    return support_of(M, q, SolutionSet(result["solutions"]["count"], pieces), deadline)
