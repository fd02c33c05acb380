"""Does a mixed LCP with bounds have exactly one solution for every q, and for every matrix of a box?

For one M it does if and only if M_ff is regular for the free unknowns f, and the Schur complement
S = M_cc - M_cf M_ff^-1 M_fc of the bounded ones c is a P-matrix (`p_property.bounded`). For all M of a box,
X = M_ff^-1 M_fc is enclosed column by column: with R the inverse at the centre and X the solution there, it moves by at
most

    E = (I - |R| D_ff)^-1 |R| (D_fc + D_ff |X|)

so that S is in a box around C_cc - C_cf X, and the P-property of this box (`p_box`) is sufficient. Without free
unknowns it is necessary too.
"""

from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError
from workbench.matrices.intervals.p_box import AllP, all_p, as_lines
from workbench.matrices.linear_algebra.in_time import solution
from workbench.matrices.linear_algebra.rationals import (
    as_text,
    extend_from_schur,
    identity,
    moduli,
    rows_as_text,
    submatrix,
)
from workbench.matrices.p_property.bounded import Pattern, reduced_test, reverses
from workbench.readers.interval_matrix import IntervalMatrix

ALL, NOT_ALL, UNDECIDED = "all", "not all", "undecided"


@dataclass(frozen=True, eq=False)
class UniqueBox:
    """Verdict "all", "not all" or "undecided" on uniqueness for every q, over the matrices of a box.

    All: `proof` in words, and `support` (`certificates.unique_box`), None where it was too long to keep. Not all: a
    `member`, and `x` by which its solutions are not unique for some q. Undecided: `reason`.
    """

    verdict: str
    proof: str | None = None
    support: dict[str, Any] | None = None
    member: fmpq_mat | None = None
    x: list[fmpq] | None = None
    reason: str | None = None


def unique_box(M: IntervalMatrix, kinds: Pattern, deadline: float) -> UniqueBox:
    """Decide for the square box and the unknowns of these kinds, by about `deadline`."""
    f, c = list(kinds.free), list(kinds.bounded)
    centre = reduced_test(M.centre, kinds, 1.0)
    if centre.reversal is not None:
        return UniqueBox(NOT_ALL, member=M.centre, x=centre.reversal)
    try:
        eliminated = _eliminated(M, f, c, deadline)
    except OutOfTimeError:
        return UniqueBox(UNDECIDED, reason=f"{OUT_OF_TIME} before the free unknowns were eliminated")
    except ZeroDivisionError:
        eliminated = None
    if eliminated is None:
        return UniqueBox(UNDECIDED, reason="the equations of the free unknowns are not proved regular for all matrices")
    S, support = eliminated
    if not c:
        return UniqueBox(
            ALL, "no unknown is bounded, and the matrix of the equations is regular", support | {"tree": []}
        )
    found = all_p(S, deadline)
    if found.verdict == "all":
        what = "the Schur complements on the free unknowns are" if f else "the parts that are not fixed are"
        tree = None if found.tree is None else support | {"tree": as_lines(found.tree)}
        return UniqueBox(ALL, f"{what} P-matrices: {found.proof}", tree)
    if found.verdict == UNDECIDED:
        return UniqueBox(UNDECIDED, reason=found.reason)
    return _member(M, kinds, found)


def _member(M: IntervalMatrix, kinds: Pattern, found: AllP) -> UniqueBox:
    """The matrix with the signs of the Schur complement that is not P, if solutions are not unique for it."""
    reversal = [fmpq(x) for x in (found.p.sign_reversal if found.p else None) or ()]
    if reversal:
        signs = {i: -1 if x < 0 else 1 for i, x in zip(kinds.bounded, reversal, strict=True)}
        x = extend_from_schur(M.centre, list(kinds.free), dict(zip(kinds.bounded, reversal, strict=True)))
        C, D = M.centre.tolist(), M.radius.tolist()
        A = fmpq_mat([
            [C[i][j] - signs[i] * (-1 if x[j] < 0 else 1) * D[i][j] if i in signs else C[i][j] for j in range(M.order)]
            for i in range(M.order)
        ])  # fmt: skip
        if reverses(A, kinds, x) and A in M:
            return UniqueBox(NOT_ALL, member=A, x=x)
    why = "the Schur complements on the free unknowns are not all P-matrices in an enclosure that holds others too"
    return UniqueBox(UNDECIDED, reason=why)


def _eliminated(
    M: IntervalMatrix, f: list[int], c: list[int], deadline: float
) -> tuple[IntervalMatrix, dict[str, Any]] | None:
    """A box that holds the Schur complements on c of all matrices, and its support; None where M_ff is not proved
    regular. Raises OutOfTimeError, and ZeroDivisionError for a singular centre."""
    if not f:
        S = IntervalMatrix(submatrix(M.centre, c), submatrix(M.radius, c))
        return S, {"by": "schur", "R": [], "x": [], "X": [], "E": []}
    m, one = len(f), fmpq(1)
    C, D = submatrix(M.centre, f), submatrix(M.radius, f)
    R = solution(C, identity(m), deadline)
    size = moduli(R)
    C_fc, D_fc, C_cf, D_cf = (submatrix(A, a, b) for a, b in ((f, c), (c, f)) for A in (M.centre, M.radius))
    X = R * C_fc if c else fmpq_mat(m, 0)
    spread = size * (D_fc + D * moduli(X)) if c else fmpq_mat(m, 0)
    right = fmpq_mat(m, len(c) + 1, [v for row in spread.tolist() for v in (*row, one)] if c else [one] * m)
    found = solution(identity(m) - size * D, right, deadline).tolist()
    # An inverse-positive Z-matrix: the series of |R| D converges.
    if any(row[-1] <= 0 for row in found):
        return None
    E = fmpq_mat(m, len(c), [v for row in found for v in row[:-1]])
    support = {
        "by": "schur", "R": rows_as_text(R), "x": as_text([row[-1] for row in found]), "X": rows_as_text(X),
        "E": rows_as_text(E),
    }  # fmt: skip
    if not c:
        return IntervalMatrix(fmpq_mat(0, 0), fmpq_mat(0, 0)), support
    centre = submatrix(M.centre, c) - C_cf * X
    return IntervalMatrix(centre, submatrix(M.radius, c) + moduli(C_cf) * E + D_cf * (moduli(X) + E)), support
