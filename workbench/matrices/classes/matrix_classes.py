"""Membership of M in the classes of LCP theory: "yes", "no" or "undecided" per class, exact, with its support.

Definitions after Cottle, Pang and Stone, The Linear Complementarity Problem (1992), chapter 3 (CPS): P, P0 (all
principal minors > 0, >= 0), nondegenerate (none is 0), PD, PSD (x^T M x), Z (no positive entry off the diagonal), M (Z
and P; their K), H_plus (the comparison matrix, |m_ii| on and -|m_ij| off the diagonal, is M, and m_ii > 0), column and
row sufficient, copositive, strictly copositive, copositive plus, E0 and E (semimonotone, strictly), R0 (LCP(0, M) has
the zero solution alone), S (M x > 0 for some x >= 0), Q (solvable for every q), Q0 (solvable whenever feasible).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flint import fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, clock, moment, seconds_left
from workbench.matrices.classes import q_matrix
from workbench.matrices.classes.principal import scan
from workbench.matrices.classes.structure import Explored, Finding, Structure, explored, strategies
from workbench.matrices.classes.sufficiency import insufficient_vector
from workbench.matrices.linear_algebra.definiteness import signs_of_form, symmetric_part
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.factors import without_positive_borders
from workbench.matrices.linear_algebra.in_time import minor, null_vector, solution
from workbench.matrices.linear_algebra.rationals import Vector, as_text, doubles, exact, product, submatrix
from workbench.matrices.p_property.verdict import PVerdict, p_verdict

YES, NO, UNDECIDED = "yes", "no", "undecided"
CLASSES = (
    "P", "P0", "nondegenerate", "PD", "PSD", "Z", "M", "H_plus", "column_sufficient", "row_sufficient", "copositive",
    "strictly_copositive", "copositive_plus", "E0", "E", "R0", "S", "Q", "Q0",
)  # fmt: skip
SMALLEST_PLAYED = 12
"""Order above which linear inequalities are first tried in floating point."""
SOLVED = 60
"""Largest order for which linear inequalities are decided exactly, if there is time."""


@dataclass(frozen=True)
class ClassVerdict:
    """Verdict on one class: a `proof` as text and a `witness` that `certificates` can check, or a `reason`.

    A witness maps names to exact numbers as "p/q" strings, indices counting from zero. "by" names proofs beyond the
    numbers: entries (their signs), implication ("from" other classes), tree, factors and repetition (of all index
    sets); the factors of a matrix are computed when a certificate is written.
    """

    verdict: str
    proof: str | None = None
    witness: dict[str, Any] | None = None
    reason: str | None = None


IMPLICATIONS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("P",), "P0", "3.4"),
    (("P",), "nondegenerate", "3.6"),
    (("P0", "nondegenerate"), "P", "3.4"),
    (("P",), "E", "3.9"),
    (("P",), "column_sufficient", "3.5"),
    (("P",), "row_sufficient", "3.5"),
    (("P",), "Q", "3.3"),
    (("PD",), "P", "3.1"),
    (("PD",), "PSD", "3.1"),
    (("PD",), "strictly_copositive", "3.8"),
    (("PSD",), "column_sufficient", "3.5"),
    (("PSD",), "row_sufficient", "3.5"),
    (("PSD",), "copositive_plus", "3.8"),
    (("PSD",), "Q0", "3.1"),
    (("M",), "Z", "3.11"),
    (("M",), "P", "3.11"),
    (("M",), "H_plus", "3.3"),
    (("Z", "P"), "M", "3.11"),
    (("Z", "H_plus"), "M", "3.3"),
    (("Z",), "Q0", "3.11"),
    (("H_plus",), "P", "3.3"),
    (("column_sufficient",), "P0", "3.5"),
    (("row_sufficient",), "P0", "3.5"),
    (("row_sufficient",), "Q0", "3.5"),
    (("strictly_copositive",), "copositive_plus", "3.8"),
    (("strictly_copositive",), "E", "3.9"),
    (("copositive_plus",), "copositive", "3.8"),
    (("copositive_plus",), "Q0", "3.8"),
    (("copositive",), "E0", "3.9"),
    (("P0",), "E0", "3.9"),
    (("E",), "E0", "3.9"),
    (("E",), "R0", "3.9"),
    (("E",), "Q", "3.9"),
    (("nondegenerate",), "R0", "3.6"),
    (("E0", "R0"), "Q", "3.9"),
    (("P0", "Q"), "R0", "Aganagic and Cottle, Math. Program. 16, 1979"),
    (("Q",), "Q0", "3.2"),
    (("Q",), "S", "3.1"),
    (("Q0", "S"), "Q", "3.1"),
)
"""Classes that make up a premise, the implied class, and the source: a section of CPS, or a paper."""


class _Verdicts(dict[str, ClassVerdict]):
    """Verdicts reached so far; implications of a yes are drawn at once."""

    def settle(self, name: str, verdict: str, proof: str | None = None, **witness: Any) -> None:
        """Enter a verdict with its support and draw its implications; an existing yes is kept."""
        if self.get(name, _OPEN).verdict != YES:
            self[name] = ClassVerdict(verdict, proof, witness or None)
        self.conclude()

    def settle_all(self, found: Iterable[Finding]) -> None:
        for name, verdict, proof, witness in found:
            self.settle(name, verdict, proof, **witness)

    def conclude(self) -> None:
        """Draw every yes that follows from the others."""
        news = True
        while news:
            news = False
            for premises, conclusion, source in IMPLICATIONS:
                if conclusion not in self and all(self.is_yes(name) for name in premises):
                    proof = f"follows from {' and '.join(premises)} ({_cited(source)})"
                    self[conclusion] = ClassVerdict(YES, proof, {"by": "implication", "from": list(premises)})
                    news = True

    def refute(self) -> None:
        """Draw every no that follows: a premise fails if its conclusion does and the other premises hold."""
        news = True
        while news:
            news = False
            for premises, conclusion, source in IMPLICATIONS:
                open_ = [name for name in premises if not self.is_yes(name)]
                if self.get(conclusion, _OPEN).verdict == NO and len(open_) == 1 and open_[0] not in self:
                    others = [name for name in premises if name != open_[0]]
                    why = " and ".join([*(f"it is {name}" for name in others), f"it is not {conclusion}"])
                    proof = f"{why}, which {' and '.join(premises)} would imply ({_cited(source)})"
                    support = {"by": "implication", "from": others, "conclusion": conclusion}
                    self[open_[0]] = ClassVerdict(NO, proof, support)
                    news = True

    def is_yes(self, name: str) -> bool:
        return self.get(name, _OPEN).verdict == YES

    def open(self, *names: str) -> set[str]:
        return {name for name in names if name not in self}

    def complete(self, reasons: dict[str, str], reason: str) -> dict[str, ClassVerdict]:
        """All `CLASSES`; open ones have one of the reasons by name, or the general one."""
        return {name: self.get(name) or replace(_OPEN, reason=reasons.get(name, reason)) for name in CLASSES}


_OPEN = ClassVerdict(UNDECIDED)


def _cited(source: str) -> str:
    return f"CPS section {source}" if source[0].isdigit() else source


def matrix_classes(
    M: fmpq_mat, deadline: float, p: PVerdict | None = None, structure: Explored | None = None
) -> dict[str, ClassVerdict]:
    """The verdict on each of `CLASSES` for the rational matrix M (n, n), by about `deadline` (`clock()`).

    `p` is the verdict on the P-property, and `structure` the result of `explored`, if they are known already.
    """
    known, reasons = _Verdicts(), dict[str, str]()
    if M.nrows() <= SOLVED:
        try:
            _signs(M, known, reasons, moment(deadline, 0.3))
        except OutOfTimeError:
            reasons |= dict.fromkeys(("PD", "PSD"), f"{OUT_OF_TIME} before the symmetric part was decided")
        try:
            _dominance(M, known, reasons, moment(deadline, 0.3))
        except OutOfTimeError:
            reasons |= dict.fromkeys(("H_plus", "M"), f"{OUT_OF_TIME} before the comparison matrix was decided")
        _solvable_strictly(M, known, reasons, moment(deadline, 0.2))
    else:
        found, reason = structure or explored(Structure.of_rationals(M, moment(deadline, 0.5)))
        reasons |= dict.fromkeys(("PD", "PSD", "H_plus", "M", "S"), reason)
        known.settle_all(found)
    if known.open("P"):
        _principal(p or p_verdict(M, max(0.0, deadline - clock()) / 4), known, reasons)
    _stages(M, known, reasons, deadline)
    known.refute()
    return known.complete(reasons, _GENERAL)


def class_verdict(M: fmpq_mat, name: str, deadline: float) -> ClassVerdict:
    """The verdict on a single one of `TESTED` for the rational matrix M (n, n), by about `deadline` (`clock()`)."""
    known, reasons = _Verdicts(), dict[str, str]()
    for test in TESTED[name]:
        if name not in known:
            try:
                test(M, known, reasons, deadline)
            except OutOfTimeError:
                reasons[name] = f"{OUT_OF_TIME} before the test for {name} was complete"
    known.refute()
    return known.complete(reasons, _GENERAL)[name]


def _stages(M: fmpq_mat, known: _Verdicts, reasons: dict[str, str], deadline: float) -> None:
    """The slow tests, each with a share of the time, and again with the remaining time at the end."""
    stages: list[tuple[tuple[str, ...], Test]] = [
        (("S",), _solvable_strictly),
        (("copositive", "strictly_copositive", "copositive_plus"), _form),
        (("P0", "nondegenerate", "E0", "E", "R0"), _index_sets),
        *(((name,), partial(_sufficiency, name)) for name in ("column_sufficient", "row_sufficient")),
        (("Q", "Q0"), _solvable),
    ]
    for part in (0.3, 1.0):
        late = []
        for i, (names, decide) in enumerate(stages):
            until = moment(deadline, max(part / (len(stages) - i), 0.3))
            if known.open(*names):
                decide(M, known, reasons, until)
            if known.open(*names) and clock() > until:
                late.append((names, decide))
        stages = late


def structured_classes(found: Iterable[Finding], reason: str, p: PVerdict | None = None) -> dict[str, ClassVerdict]:
    """The verdicts that follow from `structure.explored` and from the P verdict; the others have this reason."""
    known, reasons = _Verdicts(), dict[str, str]()
    if p:
        _principal(p, known, reasons)
    known.settle_all(found)
    known.refute()
    return known.complete(reasons, reason)


_GENERAL = "no theorem applied, and the classes that would decide it are undecided"


def _signs(M: fmpq_mat, known: _Verdicts, _reasons: dict[str, str], deadline: float) -> None:
    """Z; nonnegative matrices, which are copositive; PD and PSD. Raises OutOfTimeError."""
    n, rows = M.nrows(), M.tolist()
    positive = next(((i, j) for i in range(n) for j in range(n) if i != j and rows[i][j] > 0), None)
    if positive is None:
        known.settle("Z", YES, "no entry off the diagonal is positive", by="entries")
    else:
        known.settle("Z", NO, entry=list(positive))
        known.settle("M", NO, entry=list(positive))
    if all(x >= 0 for row in rows for x in row):
        known.settle("copositive", YES, "no entry is negative", by="entries")
        if all(rows[i][i] > 0 for i in range(n)):
            known.settle("strictly_copositive", YES, "no entry is negative, and the diagonal is positive", by="entries")
    S = symmetric_part(M)
    signs = signs_of_form(S, deadline)
    if signs.negative is not None:
        known.settle("PSD", NO, x=as_text(signs.negative))
        known.settle("PD", NO, x=as_text(signs.negative))
    elif signs.singular:
        known.settle("PSD", YES, "exact LDL^T: every pivot is positive or zero", by="factors")
        known.settle("PD", NO, x=as_text(null_vector(S, deadline)))
    else:
        known.settle("PD", YES, "exact LDL^T: every pivot is positive", by="factors")
    if known.open("copositive") and signs_of_form(without_positive_borders(S), deadline).negative is None:
        proof = "the symmetric part is a positive semidefinite matrix plus a nonnegative one"
        known.settle("copositive", YES, proof, by="factors")


def _dominance(M: fmpq_mat, known: _Verdicts, _reasons: dict[str, str], deadline: float) -> None:
    """H_plus and M: a Z-matrix C is an M-matrix iff C d = e has a solution d > 0 (CPS section 3.11).

    Raises OutOfTimeError.
    """
    n = M.nrows()
    comparison = fmpq_mat([[x if i == j else -abs(x) for j, x in enumerate(row)] for i, row in enumerate(M.tolist())])
    try:
        d = solution(comparison, fmpq_mat(n, 1, [fmpq(1)] * n), deadline).entries()
    except ZeroDivisionError:
        d = [fmpq(0)]
    if min(d) > 0:
        known.settle("H_plus", YES, "d > 0 makes the comparison matrix's rows dominant", d=as_text(d))
        if known.is_yes("Z"):
            known.settle("M", YES, "Z, and M d > 0 for d > 0", d=as_text(d))
        return
    # Elimination without exchanges has a pivot that is not positive.
    minors = (minor(comparison, range(k), deadline) for k in range(1, n + 1))
    k, lost = next((k, x) for k, x in enumerate(minors, start=1) if x <= 0)
    a = list(range(k))
    known.settle("H_plus", NO, index_set=a, minor=str(lost))
    if known.is_yes("Z"):
        # Here the comparison matrix is M itself.
        known.settle("M", NO, index_set=a, minor=str(lost))


def _principal(p: PVerdict, known: _Verdicts, reasons: dict[str, str]) -> None:
    if p.verdict == "P":
        known.settle("P", YES, p.proof, by="tree")
    elif p.verdict == "not P":
        a = list(p.index_set or ())
        known.settle("P", NO, index_set=a, minor=p.minor, x=p.sign_reversal)
        name = "P0" if str(p.minor).startswith("-") else "nondegenerate"
        known.settle(name, NO, index_set=a, minor=p.minor)
    else:
        reasons["P"] = str(p.reason)


def _solvable_strictly(M: fmpq_mat, known: _Verdicts, reasons: dict[str, str], deadline: float) -> None:
    """Decide S by exact inequalities: M x >= e, or y >= 0 with y^T M <= 0 (Ville)."""
    n = M.nrows()
    if n > SOLVED:
        return
    x, y = _played(M, deadline)
    try:
        if x is y is None:
            x, y = solve_inequalities(M, [fmpq(1)] * n, deadline)
    except OutOfTimeError:
        reasons["S"] = f"{OUT_OF_TIME} before the linear inequalities were decided"
        return
    if x is not None:
        known["S"] = ClassVerdict(YES, "M x > 0 for x >= 0", {"x": as_text(x)})
        known.conclude()
    else:
        known.settle("S", NO, "y >= 0 is not zero, and y^T M <= 0", y=as_text(y))
        known.settle("Q", NO, "LCP(q, M) is not even feasible at q = -e", q=["-1"] * n)


def _played(M: fmpq_mat, deadline: float) -> tuple[Vector | None, Vector | None]:
    """x >= 0 with M x > 0, or y >= 0 not zero with y^T M < 0, from the strategies of the matrix game M in floating
    point, checked exactly; None and None if the game's value is too close to zero, or M is small."""
    if M.nrows() < SMALLEST_PLAYED:
        return None, None
    game = strategies(doubles(M), deadline - clock())
    if game is None:
        return None, None
    x, y = ([exact(v) for v in w] for w in game)
    if min(product(M, x)) > 0:
        return x, None
    return (None, y) if any(y) and max(product(M.transpose(), y)) < 0 else (None, None)


def _form(M: fmpq_mat, known: _Verdicts, reasons: dict[str, str], deadline: float) -> None:
    """The three copositive classes, by semimonotonicity of the symmetric part."""
    names = {"E0": "copositive", "E": "strictly_copositive", "plus": "copositive_plus"}
    wanted = known.open(*names.values())
    found = scan(symmetric_part(M), {k for k, name in names.items() if name in wanted}, deadline)
    for key, name in names.items():
        if key in found.found:
            known.settle(name, NO, x=as_text(found.found[key]))
        elif name in wanted and found.reason is None and key != "plus":
            known.settle(name, YES, "no principal submatrix of the symmetric part breaks it", by="repetition")
    if "copositive_plus" in known.open(*names.values()):
        if known.get("copositive", _OPEN).verdict == NO:
            known.settle("copositive_plus", NO, **(known["copositive"].witness or {}))
        elif found.reason is None:
            proof = "copositive, and no x >= 0 with x^T M x = 0 and (M + M^T) x != 0"
            known.settle("copositive_plus", YES, proof, by="repetition")
    reasons |= dict.fromkeys(known.open(*names.values()), found.reason or _GENERAL)


def _index_sets(M: fmpq_mat, known: _Verdicts, reasons: dict[str, str], deadline: float) -> None:
    """P0, nondegenerate, E0, E and R0 by the principal submatrices."""
    names = {"negative": "P0", "zero": "nondegenerate", "E0": "E0", "E": "E", "R0": "R0"}
    wanted = known.open(*names.values())
    found = scan(M, {key for key, name in names.items() if name in wanted}, deadline)
    for key, name in names.items():
        if key in found.found and key in ("negative", "zero"):
            a = found.found[key]
            known.settle(name, NO, index_set=list(a), minor=str(submatrix(M, a).det()))
        elif key in found.found:
            known.settle(name, NO, x=as_text(found.found[key]))
        elif name in wanted and found.reason is None:
            known.settle(name, YES, "no principal submatrix breaks it", by="repetition")
    reasons |= dict.fromkeys(known.open(*names.values()), found.reason or _GENERAL)


def _sufficiency(name: str, M: fmpq_mat, known: _Verdicts, reasons: dict[str, str], deadline: float) -> None:
    if M.nrows() > SOLVED:
        reasons[name] = f"the order {M.nrows()} exceeds {SOLVED}"
        return
    try:
        x = insufficient_vector(M if name == "column_sufficient" else M.transpose(), deadline)
    except OutOfTimeError:
        reasons[name] = f"{OUT_OF_TIME} before all principal pivotal transforms were seen"
        return
    if x is None:
        known.settle(name, YES, "every principal pivotal transform is so of order two", by="repetition")
    else:
        known.settle(name, NO, x=as_text(x))


def _solvable(M: fmpq_mat, known: _Verdicts, reasons: dict[str, str], deadline: float) -> None:
    """Q0, and with S also Q, by an unsolvable q or by a cover of the feasible q with complementary cones."""
    if M.nrows() > q_matrix.LARGEST:
        reasons |= dict.fromkeys(
            ("Q", "Q0"), f"no theorem applied, and a search takes order {q_matrix.LARGEST} at most"
        )
        return
    try:
        example = q_matrix.unsolvable(M, deadline)
    except OutOfTimeError:
        reasons |= dict.fromkeys(("Q", "Q0"), f"{OUT_OF_TIME} before the cones were seen, and no theorem applied")
        return
    if example is None:
        known.settle("Q0", YES, "the complementary cones cover all feasible q", by="cones")
    else:
        q, z = map(as_text, example)
        known.settle("Q0", NO, "LCP(q, M) is feasible at z, and has no solution", q=q, z=z)
        known.settle("Q", NO, "LCP(q, M) has no solution", q=q)


Test = Callable[[fmpq_mat, _Verdicts, dict[str, str], float], None]


TESTED: dict[str, tuple[Test, ...]] = {
    "P": (lambda M, known, reasons, deadline: _principal(p_verdict(M, seconds_left(deadline, 1.0)), known, reasons),),
    "PD": (_signs,),
    "PSD": (_signs,),
    "M": (_signs, _dominance),
    "H_plus": (_dominance,),
    "S": (_solvable_strictly,),
    "copositive": (_signs, _form),
    "strictly_copositive": (_signs, _form),
    "nondegenerate": (_index_sets,),
    "column_sufficient": (partial(_sufficiency, "column_sufficient"),),
    "row_sufficient": (partial(_sufficiency, "row_sufficient"),),
}
"""The tests that decide a class alone, in the order in which they are run."""
