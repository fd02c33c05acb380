"""To which classes of LCP theory do all, some or none of the matrices of a box belong?

Every class has matrices of the box that decide for all of it (docs/formulary.md, section 9.8):

    M, H_plus, S, copositive,       one extreme matrix decides for all, another one for some
    strictly copositive
    P                               the 2^(n-1) matrices A_z (`signed_tree`); for none a vector whose sign every member
                                    reverses
    PD                              P of the box of symmetric parts, whose A_z are symmetric (Rohn and Rex 1996); for
                                    some a semidefinite programme (`definite_member`)
    PSD, column and row sufficient  the A_z, each by itself (row: those of the transposed box)
    nondegenerate                   as P where one member is P; else the signs of (5^n - 1) / 2 determinants

What follows from one class for another is drawn as for single matrices: from "all" to "all", from a member to a member,
from "none" back to "none". Witnesses are members with exact entries.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock, moment
from workbench.matrices.classes.matrix_classes import IMPLICATIONS, NO, YES, class_verdict
from workbench.matrices.intervals.definite_member import definite_member
from workbench.matrices.intervals.p_box import AllP, all_p, as_lines, uncertain_components
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.rationals import (
    as_text,
    doubles,
    exact,
    identity,
    moduli,
    rows_as_text,
    spread,
    submatrix,
)
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.support.arrays import index_sets

ALL, SOME, NONE, UNDECIDED = "all", "some", "none", "undecided"
BOX_CLASSES = (
    "P", "PD", "PSD", "M", "H_plus", "S", "copositive", "strictly_copositive", "nondegenerate", "column_sufficient",
    "row_sufficient",
)  # fmt: skip
PATTERNS = 40
"""Sign patterns that are tried for a member that is a P-matrix, or a vector that refutes all members."""
EXACT_INVERSE = 8
"""Order up to which an inverse is computed exactly where doubles do not suffice."""
MOST_CORNERS = 8
"""Uncertain entries of a symmetric principal submatrix up to which all its corners are looked at."""

Support = dict[str, Any]
_ZERO = fmpq(0)


@dataclass(frozen=True, eq=False)
class Member:
    """A matrix of the box (n, n), rational, and what shows that it belongs to a class or that it does not."""

    matrix: fmpq_mat
    support: Support


@dataclass(eq=False)
class BoxVerdict:
    """What is known of one class on the box.

    `every` and `never` are the proofs, in words, that all members belong to the class or that none does, with
    `support` for a certificate (`certificates.boxes`; of an extreme member what shows it); `inside` is a member that
    belongs to it, `outside` one that does not; `reason` says why the rest is open.
    """

    every: str | None = None
    never: str | None = None
    support: Support = field(default_factory=dict)
    inside: Member | None = None
    outside: Member | None = None
    reason: str | None = None

    @property
    def verdict(self) -> str:
        if self.every or self.never:
            return ALL if self.every else NONE
        return SOME if self.inside and self.outside else UNDECIDED


class _Verdicts(dict[str, BoxVerdict]):
    """Verdicts by class, with what follows from one class for another."""

    def __init__(self) -> None:
        super().__init__({name: BoxVerdict() for name in BOX_CLASSES})

    def draw(self) -> None:
        """Every conclusion of the theorems with one premise."""
        news = True
        while news:
            news = False
            for premises, conclusion, source in IMPLICATIONS:
                if len(premises) == 1 and premises[0] in self and conclusion in self:
                    news |= self._draw(premises[0], conclusion, f"CPS section {source}")

    def _draw(self, premise: str, conclusion: str, source: str) -> bool:
        a, b, news = self[premise], self[conclusion], False
        if a.every and not b.every:
            b.every, b.support = f"follows from {premise} ({source})", {"by": "implication", "from": [premise]}
            news = True
        if b.never and not a.never:
            a.never = f"none is {conclusion}, which {premise} would imply ({source})"
            a.support, news = {"by": "implication", "conclusion": conclusion}, True
        if a.inside and not b.inside:
            b.inside = Member(a.inside.matrix, {"by": "implication", "from": [premise]})
            news = True
        if b.outside and not a.outside:
            a.outside = Member(b.outside.matrix, {"by": "implication", "conclusion": conclusion})
            news = True
        return news

    def is_open(self, name: str) -> bool:
        return self[name].verdict == UNDECIDED


def box_classes(box: IntervalMatrix, deadline: float) -> tuple[dict[str, BoxVerdict], AllP]:
    """The verdict on each of `BOX_CLASSES` for a square box, by about `deadline` (`clock()`), and that on P by itself.

    Of a symmetric box the verdicts are about its symmetric matrices.
    """
    known = _Verdicts()
    p = _p(box, known, moment(deadline, 0.4))
    stages: list[tuple[str, Callable[[str, float], None]]] = [
        *((name, lambda name, until: _extreme(name, box, known[name], until)) for name in EXTREMES),
        ("PD", lambda _, until: _definite(box, known["PD"], p, until)),
        ("P", lambda _, until: _some_p(box, known, until)),
        ("PSD", lambda _, until: _vertices("PSD", box, known["PSD"], until)),
        ("nondegenerate", lambda _, until: _nondegenerate(box, known, until)),
        ("column_sufficient", lambda _, until: _sufficient("column_sufficient", box, known, until)),
        ("row_sufficient", lambda _, until: _sufficient("row_sufficient", box, known, until)),
    ]
    for k, (name, decide) in enumerate(stages):
        known.draw()
        if known.is_open(name):
            try:
                decide(name, moment(deadline, max(1.0 / (len(stages) - k), 0.3)))
            except OutOfTimeError:
                known[name].reason = f"{OUT_OF_TIME} before its test was complete"
    known.draw()
    for entry in known.values():
        if entry.verdict == UNDECIDED:
            entry.reason = entry.reason or "no member that is in the class, and no proof that none is, was found"
    return known, p


# P


def _p(box: IntervalMatrix, known: _Verdicts, deadline: float) -> AllP:
    found, entry = all_p(box, deadline), known["P"]
    if found.verdict == ALL:
        entry.every, entry.support = found.proof, _of_tree(found)
    elif found.p is not None:
        support = {"index_set": list(found.p.index_set or ()), "minor": found.p.minor, "x": found.p.sign_reversal}
        entry.outside = Member(box.member(found.signs or ()), support)
    else:
        entry.reason = found.reason
    if box.symmetric and found.verdict == ALL:
        known["PD"].every, known["PD"].support = "symmetric, and every member is a P-matrix", _of_tree(found)
    return found


def _of_tree(found: AllP) -> Support:
    return {"by": "tree", "tree": None if found.tree is None else as_lines(found.tree)}


def _some_p(box: IntervalMatrix, known: _Verdicts, deadline: float) -> None:
    entry = known["P"]
    if entry.inside or entry.every:
        return
    if box.symmetric:
        # Symmetric matrices are P where they are PD.
        entry.inside = known["PD"].inside
        if known["PD"].never:
            entry.never, entry.support = "symmetric, and none is PD", {"by": "symmetric", "from": "PD"}
        return
    _some(box, "P", entry, deadline)


def _some(box: IntervalMatrix, name: str, entry: BoxVerdict, deadline: float) -> None:
    """A member that is P or column sufficient, or a vector that shows that none is. Raises OutOfTimeError.

    Of all members, centre + diag(s) radius diag(s) is the most favourable one for vectors x with the signs s: where it
    reverses the sign of such an x, so does every member.
    """
    for k, A in enumerate(_candidates(box)):
        seen: list[list[int]] = []
        while True:
            check_clock(deadline)
            found = class_verdict(A, name, deadline)
            if found.verdict == YES:
                entry.inside = Member(A, found.witness or {})
                return
            x = [fmpq(v) for v in (found.witness or {}).get("x") or ()]
            signs = [-1 if v < 0 else 1 for v in x]
            if not x or signs in seen:
                break
            support = [i for i, v in enumerate(x) if v]
            reversal = common_reversal(box, signs, support, deadline, strictly=name != "P")
            if reversal is not None:
                entry.never = "one vector shows it of every member"
                entry.support = {"by": "vector", "x": as_text(reversal)}
                return
            seen.append(signs)
            A = opposite(box, signs)
            if len(seen) > (PATTERNS if k == 0 else 1):
                break
    entry.reason = f"a member is not {name}; that one is, or that none is, was not found"


def _candidates(box: IntervalMatrix) -> Iterator[fmpq_mat]:
    """Members that are P-matrices before others: the centre, large diagonals with small and with skew rest, then
    members by chance."""
    n = box.order
    yield box.centre
    yield EXTREMES["H_plus"][2](box)
    yield _clipped(box, lambda i, j: -box.centre[j, i])
    rng = np.random.default_rng(0)
    for _ in range(PATTERNS):
        yield opposite(box, rng.choice((-1, 1), n).tolist())


def opposite(box: IntervalMatrix, signs: list[int]) -> fmpq_mat:
    """centre + diag(s) radius diag(s)."""
    return box.centre * 2 - box.member(signs)


def common_reversal(
    box: IntervalMatrix, signs: list[int], a: list[int], deadline: float, strictly: bool = False
) -> list[fmpq] | None:
    """x (n), not zero, of these signs on the index set a and zero elsewhere, with x_i (A x)_i <= 0 for all i and every
    member A, and < 0 for one i if `strictly`; None where there is none. Raises OutOfTimeError."""
    best, k = opposite(box, signs), len(a)
    rows = [[-signs[i] * signs[j] * best[i, j] for j in a] for i in a]

    def point(row: list[fmpq]) -> list[fmpq] | None:
        return solve_inequalities(fmpq_mat([*rows, row]), [_ZERO] * k + [fmpq(1)], deadline)[0]

    def unit(i: int) -> list[fmpq]:
        return [fmpq(i == j) for j in range(k)]

    if not strictly:
        y = point([fmpq(1)] * k)
    else:
        # Of two vectors, one with y_i > 0 and one with a negative i-th image, the sum has both.
        pairs = ((point(unit(i)), point(rows[i])) for i in range(k))
        y = next(([p + q for p, q in zip(u, v, strict=True)] for u, v in pairs if u and v), None)
    if y is None:
        return None
    return spread(box.order, a, [signs[i] * value for i, value in zip(a, y, strict=True)])


# Classes that one extreme matrix decides


def _clipped(box: IntervalMatrix, wanted: Callable[[int, int], fmpq], diagonal: str = "upper") -> fmpq_mat:
    """The member whose entries off the diagonal are as near to the wanted ones as the intervals allow."""
    L, U, ends = box.lower, box.upper, getattr(box, diagonal)
    n = range(box.order)
    rows = [[ends[i, i] if i == j else min(max(wanted(i, j), L[i, j]), U[i, j]) for j in n] for i in n]
    return fmpq_mat(rows)


def _is_z(A: fmpq_mat) -> bool:
    return all(A[i, j] <= 0 for i in range(A.nrows()) for j in range(A.nrows()) if i != j)


def _largest_moduli(box: IntervalMatrix) -> fmpq_mat:
    """Lower ends on the diagonal, the ends of the larger modulus off it."""
    L, U = box.lower, box.upper
    return _clipped(box, lambda i, j: U[i, j] if U[i, j] >= -L[i, j] else L[i, j], "lower")


Extreme = Callable[[IntervalMatrix], fmpq_mat]
_LEAST, _LARGEST = "the matrix of the lower ends", "the matrix of the upper ends"
EXTREMES: dict[str, tuple[Extreme, str, Extreme, str]] = {
    "H_plus": (
        _largest_moduli, "the member of least diagonal and largest entries off it",
        lambda box: _clipped(box, lambda i, j: _ZERO), "the member of largest diagonal and smallest entries off it",
    ),
    "M": (
        lambda box: box.lower if _is_z(box.upper) else box.upper,
        f"no entry off the diagonal is positive in any member, and {_LEAST}",
        lambda box: _clipped(box, lambda i, j: min(box.upper[i, j], _ZERO)),
        "the member of largest entries, none positive off the diagonal,",
    ),
    "S": (lambda box: box.lower, _LEAST, lambda box: box.upper, _LARGEST),
    "strictly_copositive": (lambda box: box.lower, _LEAST, lambda box: box.upper, _LARGEST),
    "copositive": (lambda box: box.lower, _LEAST, lambda box: box.upper, _LARGEST),
}  # fmt: skip
"""Per class the member that belongs to it only if all do, and the one that does so if any does, each in words."""


def _extreme(name: str, box: IntervalMatrix, entry: BoxVerdict, deadline: float) -> None:
    """By the extreme matrices of `EXTREMES`."""
    least, least_in_words, most, most_in_words = EXTREMES[name]
    worst, best = least(box), most(box)
    found = class_verdict(worst, name, deadline)
    if found.verdict == YES:
        entry.every = f"{least_in_words} is ({found.proof})"
        entry.support = {"by": "extreme", "member": found.witness or {}}
        return
    if found.verdict == NO:
        entry.outside = Member(worst, found.witness or {})
    found = class_verdict(best, name, deadline)
    if found.verdict == NO:
        entry.never = f"{most_in_words} is not"
        entry.support = {"by": "extreme", "member": found.witness or {}}
    elif found.verdict == YES:
        entry.inside = Member(best, found.witness or {})
    entry.reason = found.reason


# Definite and semidefinite


def _definite(box: IntervalMatrix, entry: BoxVerdict, p: AllP, deadline: float) -> None:
    """PD of all by P of the box of symmetric parts; of some or none by a semidefinite programme."""
    if not entry.outside:
        if not box.symmetric or p.verdict == UNDECIDED:
            p = all_p(box.symmetric_part(), moment(deadline, 0.6))
        if p.verdict == ALL:
            entry.every, entry.support = f"symmetric parts: {p.proof}", _of_tree(p)
            return
        if p.signs:
            entry.outside = Member(box.member(p.signs), {"x": (p.p.sign_reversal if p.p else None)})
        entry.reason = p.reason
    found = definite_member(box, deadline)
    if found.member is not None:
        entry.inside = Member(found.member, {"by": "factors"})
    elif found.columns is not None:
        entry.never = "a positive semidefinite X has <A, X> <= 0 for every member A"
        entry.support = {"by": "columns", "columns": [as_text(x) for x in found.columns]}


def _vertices(name: str, box: IntervalMatrix, entry: BoxVerdict, deadline: float) -> None:
    """A class of which all members are if all A_z are, one after the other. Raises OutOfTimeError."""
    of = box.transpose() if name == "row_sufficient" else box
    for signs in vertex_signs(box):
        check_clock(deadline)
        A = of.member(signs)
        A = A.transpose() if of is not box else A
        found = class_verdict(A, name, deadline)
        if found.verdict == NO:
            entry.outside = Member(A, found.witness or {})
            break
        if found.verdict == YES and entry.inside is None:
            entry.inside = Member(A, found.witness or {})
        if found.verdict not in (YES, NO):
            raise OutOfTimeError
    else:
        entry.every, entry.support = "every vertex matrix A_z is", {"by": "vertices"}
        return
    if entry.inside is None:
        found = class_verdict(box.centre, name, deadline)
        if found.verdict == YES:
            entry.inside = Member(box.centre, found.witness or {})
    if entry.inside is None and name == "PSD":
        found_none = definite_member(box, deadline)
        if found_none.strict:
            entry.never = "a positive semidefinite X has <A, X> < 0 for every member A"
            entry.support = {"by": "columns", "columns": [as_text(x) for x in found_none.columns or ()]}


def vertex_signs(box: IntervalMatrix) -> Iterator[tuple[int, ...]]:
    """One z (n) of each set of signs that give the same A_z: 2^(n - c) with c components of the uncertain entries."""
    label = uncertain_components(box)
    first = {int(c): i for i, c in reversed(list(enumerate(label)))}
    free = [i for i, c in enumerate(label) if first[int(c)] != i]
    for chosen in itertools.product((1, -1), repeat=len(free)):
        z = [1] * box.order
        for i, s in zip(free, chosen, strict=True):
            z[i] = s
        yield tuple(z)


def _sufficient(name: str, box: IntervalMatrix, known: _Verdicts, deadline: float) -> None:
    entry = known[name]
    if box.symmetric:
        # Symmetric matrices are sufficient where they are PSD (CPS section 3.5).
        psd = known["PSD"]
        known[name] = BoxVerdict(
            psd.every, psd.never, {"by": "symmetric", "from": "PSD"}, psd.inside, psd.outside, psd.reason
        )
        return
    _vertices(name, box, entry, deadline)
    if entry.outside and not entry.inside:
        of_rows = name == "row_sufficient"
        _some(box.transpose() if of_rows else box, "column_sufficient", entry, deadline)
        if of_rows and entry.inside:
            entry.inside = Member(entry.inside.matrix.transpose(), entry.inside.support)


# Nondegenerate


def _nondegenerate(box: IntervalMatrix, known: _Verdicts, deadline: float) -> None:
    """Minors that change their sign on the box vanish somewhere in it; those that do not keep all members regular."""
    entry, p = known["nondegenerate"], known["P"]
    if p.inside and p.outside and not box.symmetric:
        a = tuple(p.outside.support.get("index_set") or ())
        if a:
            entry.outside = singular_between(p.inside.matrix, p.outside.matrix, a)
            return
    if entry.inside is None:
        _regular_member(box, entry, deadline)
    if not box.symmetric:
        _by_vertex_minors(box, entry, deadline)
    else:
        _by_symmetric_minors(box, entry, deadline)


def _regular_member(box: IntervalMatrix, entry: BoxVerdict, deadline: float) -> None:
    """A nondegenerate member, or an index set whose minor is zero and certain."""
    found = class_verdict(box.centre, "nondegenerate", deadline)
    if found.verdict == YES:
        entry.inside = Member(box.centre, found.witness or {})
        return
    a = (found.witness or {}).get("index_set")
    if a is None:
        return
    entry.outside = Member(box.centre, found.witness or {})
    if not any(submatrix(box.radius, a).entries()):
        entry.never, entry.support = "a principal minor that is certain is zero", {"by": "minor", "index_set": a}
        return
    rng = np.random.default_rng(1)
    for _ in range(PATTERNS):
        A = _between(box, rng)
        again = class_verdict(A, "nondegenerate", deadline)
        if again.verdict == YES:
            entry.inside = Member(A, again.witness or {})
            return


def _between(box: IntervalMatrix, rng: np.random.Generator) -> fmpq_mat:
    """A member by chance."""
    n = box.order
    parts = rng.integers(-64, 65, (n, n))
    if box.symmetric:
        parts = np.tril(parts) + np.tril(parts, -1).T
    rows = [[box.centre[i, j] + box.radius[i, j] * fmpq(int(parts[i, j]), 64) for j in range(n)] for i in range(n)]
    return fmpq_mat(rows)


def _by_vertex_minors(box: IntervalMatrix, entry: BoxVerdict, deadline: float) -> None:
    """Each minor keeps one sign: where `regularity` shows that, or else that of all det (C - diag(y) D diag(z))_aa, y
    and z signs (Rohn, Linear Algebra Appl. 126, 1989); or it vanishes somewhere. Raises OutOfTimeError."""
    nodes = list[list]()
    for a in index_sets(range(box.order), 1):
        k = len(a)
        check_clock(deadline)
        C, D = submatrix(box.centre, a), submatrix(box.radius, a)
        # Few vertices are decided faster.
        found = regularity(IntervalMatrix(C, D)) if k > 2 else None
        if found is not None:
            nodes.append(_regular_node(found))
            continue
        nodes.append(["vertices"])
        first: fmpq_mat | None = None
        for y, z in itertools.product(itertools.product((1, -1), repeat=k), repeat=2):
            if y[0] < 0:
                continue
            check_clock(deadline)
            B = fmpq_mat(k, k, [C[i, j] - y[i] * D[i, j] * z[j] for i in range(k) for j in range(k)])
            if first is None:
                first, sign = B, B.det()
            if B.det() * sign <= 0:
                first, B = _embedded(box.centre, a, first), _embedded(box.centre, a, B)
                entry.outside = singular_between(first, B, a)
                return
    entry.every = "no principal minor vanishes between its vertices"
    whole = all(node == ["vertices"] for node in nodes)
    entry.support = {"by": "vertices"} if whole else {"by": "bisection", "tree": nodes}


def _regular_node(found: tuple[fmpq_mat, list[fmpq]]) -> list:
    R, x = found
    return ["regular", rows_as_text(R), as_text(x)]


def _embedded(A: fmpq_mat, a: tuple[int, ...], B: fmpq_mat) -> fmpq_mat:
    """A with B in the place of A_aa."""
    rows = A.tolist()
    for p, i in enumerate(a):
        for q, j in enumerate(a):
            rows[i][j] = B[p, q]
    return fmpq_mat(rows)


def singular_between(A: fmpq_mat, B: fmpq_mat, a: tuple[int, ...]) -> Member:
    """A matrix between A and B, whose minors of a have no common strict sign, in which this minor is zero.

    From A to B entry by entry: the minor is affine in each, so that it vanishes at a rational place.
    """
    rows, before = A.tolist(), submatrix(A, a).det()
    for i, j in itertools.product(a, repeat=2):
        start = rows[i][j]
        rows[i][j] = B[i, j]
        after = submatrix(fmpq_mat(rows), a).det()
        if before == 0 or before * after <= 0:
            part = before / (before - after) if before != after else fmpq(0)
            rows[i][j] = start + part * (B[i, j] - start)
            break
        before = after
    return Member(fmpq_mat(rows), {"index_set": list(a), "minor": "0"})


def _by_symmetric_minors(box: IntervalMatrix, entry: BoxVerdict, deadline: float) -> None:
    """The same of symmetric members by bisection: each minor is enclosed on smaller and smaller boxes. Raises
    OutOfTimeError."""
    nodes = list[list]()
    for a in index_sets(range(box.order), 1):
        k = len(a)
        part = IntervalMatrix(submatrix(box.centre, a), submatrix(box.radius, a), True)
        sign, stack = part.centre.det(), [part]
        for A in _corners(part):
            if A.det() * sign <= 0:
                entry.outside = _of_both_signs(box, a, A, part.centre)
                return
        while stack:
            check_clock(deadline)
            one = stack.pop()
            if one.centre.det() * sign <= 0:
                entry.outside = _of_both_signs(box, a, one.centre, part.centre)
                return
            found = regularity(one)
            if found is not None:
                nodes.append(_regular_node(found))
                continue
            i, j = max(itertools.product(range(k), repeat=2), key=lambda at: one.radius[at[0], at[1]])
            nodes.append(["cut", i, j])
            stack += _halves(one, i, j)[::-1]
    entry.every, entry.support = "no principal minor vanishes, by bisection", {"by": "bisection", "tree": nodes}


def _corners(box: IntervalMatrix) -> Iterator[fmpq_mat]:
    """The symmetric members with ends for entries, where these are few."""
    places = [(i, j) for i in range(box.order) for j in range(i + 1) if box.radius[i, j] != 0]
    if len(places) > MOST_CORNERS:
        return
    for ends in itertools.product((1, -1), repeat=len(places)):
        A = fmpq_mat(box.centre)
        for (i, j), end in zip(places, ends, strict=True):
            A[i, j] = A[j, i] = box.centre[i, j] + end * box.radius[i, j]
        yield A


def _of_both_signs(box: IntervalMatrix, a: tuple[int, ...], A: fmpq_mat, B: fmpq_mat) -> Member:
    """Two symmetric members between which the minor of a vanishes, A and B in their rows and columns a."""
    other = {"other": rows_as_text(_embedded(box.centre, a, B)), "other_minor": str(B.det())}
    support = {"index_set": list(a), "minor": str(A.det()), **other}
    return Member(_embedded(box.centre, a, A), support)


def regularity(box: IntervalMatrix) -> tuple[fmpq_mat, list[fmpq]] | None:
    """R (n, n) and x (n) > 0 with (|I - R C| + |R| D) x < x, which show that no member of the square box is singular:
    then I - R A has a spectral radius below one for every A. None where none were found."""
    n, one = box.order, fmpq(1)
    for R in _inverses(box.centre):
        bound = moduli(identity(n) - R * box.centre) + moduli(R) * box.radius
        x = fmpq_mat(n, 1, [one] * n)
        for _ in range(3):
            x = bound * x + fmpq_mat(n, 1, [one / 2**20] * n)
            if all(u < v for u, v in zip((bound * x).entries(), x.entries(), strict=True)):
                return R, list(x.entries())
    return None


def _inverses(C: fmpq_mat) -> Iterator[fmpq_mat]:
    """The inverse in doubles, and of small matrices the exact one."""
    n = C.nrows()
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            near = np.linalg.inv(doubles(C))
        except np.linalg.LinAlgError:
            near = np.full((n, n), np.nan)
    if np.isfinite(near).all():
        yield fmpq_mat(n, n, [exact(x) for x in near.ravel().tolist()])
    if n <= EXACT_INVERSE and C.det() != 0:
        yield C.inv()


def _halves(box: IntervalMatrix, i: int, j: int) -> list[IntervalMatrix]:
    """The lower and the upper half of a symmetric box along its entries ij and ji."""
    found = []
    for sign in (-1, 1):
        centre, radius = box.centre.tolist(), box.radius.tolist()
        half = radius[i][j] / 2
        for at in {(i, j), (j, i)}:
            centre[at[0]][at[1]] += sign * half
            radius[at[0]][at[1]] = half
        found.append(IntervalMatrix(fmpq_mat(centre), fmpq_mat(radius), True))
    return found
