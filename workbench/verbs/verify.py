"""`verify`: check whether a certificate proves its claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.certificates.documents import read_document
from workbench.certificates.limits import ORDER, SECONDS
from workbench.certificates.outcomes import STATUS, VERIFIED, Finding, RefusedError, outcome, sentences, text
from workbench.certificates.problem import LARGE, ProblemData
from workbench.certificates.verify import verify as verify_document
from workbench.problems.classes import MLCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import WorkbenchError
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from flint import fmpq, fmpq_mat

    from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
    from workbench.readers.interval_matrix import IntervalMatrix


@dataclass(frozen=True, repr=False, eq=False)
class Verified(Result):
    """The outcome of each claim of a certificate, and of all: "verified", "refuted" or "not verified".

    True if it `holds`: at least one claim is verified, and every claim is. `left_out`: verdicts of the check that the
    certificate does not claim, each {about, reason}.
    """

    title: str
    findings: list[Finding] = field(repr=False)
    left_out: list[dict[str, str]] = field(default_factory=list, repr=False)

    @property
    def outcome(self) -> str:
        return outcome(self.findings)

    @property
    def holds(self) -> bool:
        return self.outcome == VERIFIED

    @property
    def status(self) -> int:
        """Exit status of the command: 0 if verified, 1 if refuted, 3 if not verified."""
        return STATUS[self.outcome]

    def __bool__(self) -> bool:
        return self.holds

    @property
    def words(self) -> list[str]:
        return sentences(self.findings)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per claim: its subject, the claim, the outcome, and its reason."""
        import pandas as pd

        return pd.DataFrame(
            [vars(finding) for finding in self.findings], columns=["about", "claim", "result", "reason"]
        )

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"claims": self.frame}

    @property
    def text(self) -> str:
        return text(self.findings, self.left_out)


def verify(
    certificate: str | Path | Mapping[str, Any], of: Any = None, *, rhs: Any = None, seconds: float = SECONDS
) -> Verified:
    """Check every claim of a certificate, a file or the result of `check(...).certificate()`, by independent code.

    `of` is the problem that the certificate should be about, and `rhs` its q, as for `check`: all numbers must
    be the same, and for an LCP given as a bare matrix only claims on the matrix are checked. Without `of` the
    certificate's own problem is used. Claims that are not checked within `seconds` are not verified. Raises
    WorkbenchError if it is not a certificate, was damaged, or is about another problem.

    >>> import workbench as wb
    >>> found = wb.verify(wb.check([[2, -1], [-1, 2]]).certificate(), of=[[2, -1], [-1, 2]])
    >>> found.holds, set(found.frame["result"])
    (True, {'verified'})
    """
    if of is None and rhs is not None:
        raise WorkbenchError("rhs is the q of a matrix, which is not given; give the matrix as of")
    given = None if of is None else _given(of, rhs)
    name = Path(certificate).name if isinstance(certificate, str | Path) else "the certificate"
    try:
        document = read_document(certificate) if isinstance(certificate, str | Path) else certificate
        findings = verify_document(document, given, seconds)
        return Verified(name, findings, [dict(entry) for entry in document["left_out"]])
    except OSError as error:
        raise WorkbenchError(f"cannot read '{certificate}': {error.strerror}") from None
    except RefusedError as why:
        raise WorkbenchError(f"{name}: {why}") from None


def _given(of: Any, rhs: Any) -> ProblemData:
    """The numbers of this matrix, or of the problem that `check` would read."""
    from workbench.diagnostics.certificate import rational_rows
    from workbench.diagnostics.problem_check import in_rationals
    from workbench.matrices.classes.structure import nonzeros
    from workbench.matrices.intervals.uncertain_problem import UncertainMLCP
    from workbench.readers.interval_matrix import IntervalMatrix
    from workbench.readers.matrix import Matrix
    from workbench.verbs.check import box_of, other_problem, problem_of, right_hand_side

    if isinstance(of, UncertainMLCP):
        return _uncertain(of.M, of.q, of)
    if isinstance(of, IntervalMatrix) or isinstance(rhs, IntervalMatrix):
        return _uncertain(box_of(of, "the matrix"), right_hand_side(rhs))
    problem = other_problem(of) if rhs is None else None
    if problem is None:
        matrix, q, _ = problem_of(of, rhs)
        if any(x is not None and x.upper is not None for x in (matrix, q)):
            return _uncertain(IntervalMatrix.of(matrix), None if q is None else IntervalMatrix.of(q))
        if len(matrix.values) > ORDER:
            return ProblemData(LARGE, [{j: _fraction(x) for j, x in row.items()} for row in nonzeros(matrix)])
        M = _rows(matrix.exact)
        return ProblemData("matrix", M) if q is None else ProblemData("LCP", M, [*map(_fraction, q.exact.entries())])
    if isinstance(problem, MLCP):
        lower, upper = (
            [Fraction(x) if isfinite(x) else None for x in bounds.tolist()] for bounds in (problem.lower, problem.upper)
        )
        of_M = Matrix(problem.M)
        large = problem.size > ORDER
        rows = [{j: _fraction(x) for j, x in row.items()} for row in nonzeros(of_M)] if large else _rows(of_M.exact)
        return ProblemData("MLCP", rows, [*map(Fraction, problem.q.tolist())], lower, upper)
    if problem.size > ORDER:
        p = problem if isinstance(problem, FrictionProblem) else problem.local
        W = [{j: _fraction(x) for j, x in row.items()} for row in rational_rows(p)]
        data = [[*map(Fraction, x.tolist())] for x in (p.q, p.mu)]
        return ProblemData("friction problem", W, data[0], mu=data[1], d=p.d)
    friction = in_rationals(problem)
    numbers, mu = [*map(_fraction, friction.q)], [*map(_fraction, friction.mu)]
    return ProblemData("friction problem", _rows(friction.W), numbers, mu=mu, d=friction.d)


def _uncertain(box: IntervalMatrix, q: IntervalMatrix | None, problem: UncertainMLCP | None = None) -> ProblemData:
    """The box, or the LCP with q, or the MLCP with bounds."""
    M, radius = _rows(box.centre), _rows(box.radius)
    if q is None:
        return ProblemData("interval matrix", M, radius=radius, symmetric=box.symmetric)
    middle, spread = ([*map(_fraction, A.entries())] for A in (q.centre, q.radius))
    if problem is None or problem.is_lcp:
        return ProblemData("uncertain LCP", M, middle, radius=radius, q_radius=spread, symmetric=box.symmetric)
    lower, upper = (
        [None if x is None else (_fraction(x[0]), _fraction(x[1])) for x in bounds]
        for bounds in (problem.lower, problem.upper)
    )
    return ProblemData(
        "uncertain MLCP", M, middle, radius=radius, q_radius=spread, symmetric=box.symmetric, ends=(lower, upper)
    )


def _rows(M: fmpq_mat) -> list[list[Fraction]]:
    return [[_fraction(x) for x in row] for row in M.tolist()]


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
