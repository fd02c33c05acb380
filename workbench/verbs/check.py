"""`check`: whether an LCP, a matrix, or a formulation on a case is well posed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from flint import fmpq_mat

from workbench.builtin.reports.text.check import to_text
from workbench.diagnostics.check import check_matrix
from workbench.engine.interpreted import SMALL, interpreting
from workbench.engine.timing import clock, seconds_left
from workbench.language.formulation import Formulation
from workbench.matrices.intervals.uncertain_problem import Ends, UncertainMLCP
from workbench.matrices.p_property.verdict import INTERPRETED
from workbench.mechanics.case import Case
from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.files import ENDINGS, names_in, read_problem_file
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.readers.matrix import Matrix, exact_doubles, matrix_of
from workbench.readers.npz import FileProblem
from workbench.readers.problem import name_of, read_problem
from workbench.step.sliding.state import coordinates
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.numbers import exact_decimal
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_case, find_formulation
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from workbench.builtin.reports.figures.cones import Picture
    from workbench.diagnostics.lead_matrix import LeadMatrixReport
    from workbench.verbs.states import GivenState

LEAST = 0.1
"""Least time [s] left for the verdicts after the run to the state that they are about."""
HEADLINES = ("for every q", "for this q", "Coulomb's law", "cone problem")
"""Questions that are answered first."""
SECONDS_OF_PAGE = 2.0
"""Time [s] for the proofs in a page."""
EXACT, FLOAT = (str, Fraction, Decimal), (float, np.floating)
"""Types of numbers in Python that are not doubles, and that are."""


@dataclass(frozen=True, repr=False, eq=False)
class Checked(Result):
    """Verdicts on a matrix and its LCP: `data` for JSON (`diagnostics.check.check_matrix`), `text` for a terminal."""

    title: str
    data: dict[str, Any] = field(repr=False)
    matrix: Matrix = field(repr=False)
    q: Matrix | None = field(repr=False)

    def certificate(self, seconds: float = 10.0) -> dict[str, Any]:
        """All verdicts with their proofs, ready for JSON and for `verify` (docs/certificates.md).

        Proofs that take longer than `seconds` are omitted. Raises DataError for large or non-square matrices.
        """
        from workbench.diagnostics.certificate import certificate

        return certificate(self.matrix, self.q, self.data, seconds)

    @property
    def text(self) -> str:
        return to_text(self.data)

    @property
    def words(self) -> list[str]:
        return [self.data["in_words"]]

    def picture(self) -> Picture:
        """Draw the number of solutions over q: the complementary cones. Raises WorkbenchError unless n is 2 or 3.

        >>> import workbench as wb
        >>> wb.check([[1, 2], [2, 1]]).picture().svg[:4]
        '<svg'
        """
        from workbench.builtin.reports.figures.cones import picture

        return picture(self.data)

    @property
    def drawn(self) -> str:
        from workbench.builtin.reports.figures.cones import UNKNOWNS

        return self.picture().svg if self.data["n"] in UNKNOWNS else ""

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per matrix class: verdict and its support."""
        import pandas as pd

        classes = self.data["classes"] or {}
        rows = [
            (name, c["verdict"], c["proof"] or c["reason"] or str(c["witness"] or "")) for name, c in classes.items()
        ]
        return pd.DataFrame(rows, columns=["class", "verdict", "support"])

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"classes": self.frame}

    def html(self, facts: dict[str, Any] | None = None, seconds: float = SECONDS_OF_PAGE) -> str:
        """The page, with the proofs that are written within this time [s]."""
        from workbench.builtin.reports.pages.check import render
        from workbench.diagnostics.certificate import LARGEST as LARGEST_CERTIFICATE
        from workbench.diagnostics.certificate import writing_seconds

        n = self.data["n"]
        proofs = self.certificate(seconds) if n <= LARGEST_CERTIFICATE and writing_seconds(n, 0) < seconds else None
        return render(self.data, self.title, facts or self.facts, proofs)


class Answers(Result):
    """Base of checks that answer questions in one line each."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Questions and answers as text."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        from workbench.diagnostics.posed_problem import wrapped

        return wrapped(self.rows)

    @property
    def words(self) -> list[str]:
        answers = [f"{question}: {answer}" for question, answer in self.rows if question in HEADLINES]
        return [sentence[:1].upper() + sentence[1:] + "." for sentence in answers]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per question: the question, and the answer as text."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=["question", "answer"])

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"answers": self.frame}


@dataclass(frozen=True, repr=False, eq=False)
class CheckedFormulation(Answers):
    """Verdicts on the lead matrix of a formulation on a case (`report`); `data` is ready for JSON."""

    title: str
    report: LeadMatrixReport = field(repr=False)

    @property
    def data(self) -> dict[str, Any]:
        from workbench.diagnostics.lead_matrix import as_data

        return as_data(self.report)

    @property
    def rows(self) -> list[tuple[str, str]]:
        from workbench.diagnostics.lead_matrix import text_rows

        return text_rows(self.report)


@dataclass(frozen=True, repr=False, eq=False)
class CheckedProblem(Answers):
    """Verdicts on an MLCP with bounds or a friction problem; `data` is ready for JSON."""

    title: str
    data: dict[str, Any] = field(repr=False)
    problem: FileProblem = field(repr=False)

    def certificate(self, seconds: float = 10.0) -> dict[str, Any]:
        """Uniqueness or existence with their proofs, ready for JSON and for `verify` (docs/certificates.md)."""
        from workbench.diagnostics.certificate import certificate_of_posed

        return certificate_of_posed(self.problem, self.data, seconds)

    @property
    def rows(self) -> list[tuple[str, str]]:
        from workbench.diagnostics.problem_check import text_rows

        return text_rows(self.title, self.data)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        """The page, with a picture of all solutions of Coulomb's law if they are known."""
        from workbench.builtin.reports.pages.result import render

        points = ((self.data.get("problem") or {}).get("coulomb") or {}).get("points")
        figures = []
        if points and isinstance(self.problem, FrictionProblem | GlobalFrictionProblem):
            from workbench.builtin.reports.figures.coulomb_solutions import solutions_figures

            figures = solutions_figures(points, self.problem.mu.tolist())
        return render(self.title, self.words, self.frames, facts or self.facts, figures)


@dataclass(frozen=True, repr=False, eq=False)
class CheckedBox(Answers):
    """Verdicts on all matrices of a box, and bounds of the solutions of an LCP or MLCP with uncertain data; `data` is
    ready for JSON (`diagnostics.box_check.check_box`)."""

    title: str
    data: dict[str, Any] = field(repr=False)
    box: IntervalMatrix = field(repr=False)
    problem: UncertainMLCP | None = field(repr=False)

    def certificate(self, seconds: float = 10.0) -> dict[str, Any]:
        """All verdicts with their proofs, ready for JSON and for `verify` (docs/certificates.md).

        Proofs that take longer than `seconds` are omitted.
        """
        from workbench.diagnostics.box_certificate import certificate_of_box

        return certificate_of_box(self.box, self.problem, self.data, seconds)

    @property
    def rows(self) -> list[tuple[str, str]]:
        from workbench.builtin.reports.text.box_check import text_rows

        return text_rows(self.title, self.data)

    @property
    def text(self) -> str:
        from workbench.builtin.reports.text.check import in_lines
        from workbench.diagnostics.posed_problem import wrapped

        return f"{wrapped(self.rows)}\n\n{in_lines(self.data['in_words'])}"

    def html(self, facts: dict[str, Any] | None = None, seconds: float = SECONDS_OF_PAGE) -> str:
        """The page, with the proofs that are written within this time [s]."""
        from workbench.builtin.reports.pages.box import render

        return render(self.title, self.data, self.rows, facts or self.facts, self.certificate(seconds))

    @property
    def words(self) -> list[str]:
        return [self.data["in_words"]]

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The answers, the classes, and the intervals of M entry by entry."""
        import pandas as pd

        classes = [(name, found["verdict"], found["proof"]) for name, found in self.data["classes"].items()]
        centre, radius = self.data["M"]["centre"], self.data["M"]["radius"]
        n = range(self.data["n"])
        entries = [(i, j, centre[i][j], radius[i][j]) for i in n for j in n]
        return {
            **super().frames,
            "classes": pd.DataFrame(classes, columns=["class", "verdict", "proof"]),
            "intervals": pd.DataFrame(entries, columns=["row", "column", "middle", "radius"]),
        }


def check(
    what: Any, formulation: str | Formulation | None = None, *, rhs: Any = None, step: float = 1e-3,
    at: float | None = None, q: Any = None, v: Any = None, seconds: float = 10.0,
) -> Checked | CheckedBox | CheckedFormulation | CheckedProblem:  # fmt: skip
    """Return verdicts with proofs or witnesses on a matrix, its LCP, or the lead matrix of a formulation on a case.

    `what` is a matrix (array, rows of numbers or of strings such as "4/3", `Matrix`, the path of a file, text such as
    "[1 2; 3 4]"), an LCP or MLCP, or, with a `formulation`, a case or its name. A case is checked at its first step of
    `step` [s], from other coordinates `q` or velocities `v` if given, or at the step `at` [s] of its run under exact
    Coulomb friction. `rhs` is q (n,), or a file with it. For a matrix with intervals (`interval`, or text such as
    "[2+-0.1 1; 1 2]") the verdicts hold for all matrices within, and `rhs` may be uncertain too; bounds make it an MLCP
    (`uncertain_mlcp`). `seconds` limits all verdicts together; `data["judged"]` says whether they concern decimals as
    written or doubles. Raises WorkbenchError for unreadable input.

    >>> import workbench as wb
    >>> found = wb.check([["2", "-1"], ["-1", "4/3"]], rhs=[-1, 1])
    >>> found.data["p_matrix"]["verdict"]
    'P'
    >>> wb.check("wheel", "phantom-inertia").report.problem_class
    'LCP'
    """
    if formulation is not None:
        return _of_case(find_case(what), find_formulation(formulation), step, seconds, at=at, q=q, v=v)
    if not (at is None and q is None and v is None):
        raise WorkbenchError("at, q and v are for a case and a formulation; the q of an LCP is given as rhs")
    if isinstance(what, UncertainMLCP):
        if rhs is not None:
            raise WorkbenchError("the uncertain MLCP has its own q; rhs is for a matrix")
        return check_uncertain("the MLCP", what.M, what, seconds)
    if isinstance(what, IntervalMatrix) or isinstance(rhs, IntervalMatrix):
        return check_intervals("the matrix", box_of(what, "the matrix"), right_hand_side(rhs), seconds)
    if rhs is None and (problem := other_problem(what)) is not None:
        name = name_of(what) if isinstance(what, str | Path) else f"the {problem.kind} problem"
        return check_posed_problem(name, problem, seconds)
    M, q, name = problem_of(what, rhs)
    if M.upper is not None or (q is not None and q.upper is not None):
        return check_intervals(name, IntervalMatrix.of(M), None if q is None else IntervalMatrix.of(q), seconds)
    return check_problem(name, M, q, seconds)


def check_intervals(name: str, M: IntervalMatrix, q: IntervalMatrix | None, seconds: float) -> CheckedBox:
    """`check` for all matrices of a box, and all q of another one (n, 1) if given."""
    return check_uncertain(name, M, None if q is None else UncertainMLCP.lcp(M, q), seconds)


def check_uncertain(name: str, M: IntervalMatrix, problem: UncertainMLCP | None, seconds: float) -> CheckedBox:
    """`check` for all matrices of a box, and a problem with it if given."""
    from workbench.diagnostics.box_check import check_box

    with interpreting(M.order):
        return CheckedBox(name, check_box(M, problem, seconds), M, problem)


def interval(mid: Any, rad: Any = 0, symmetric: bool = False) -> IntervalMatrix:
    """Return all matrices (m, n) within `rad` of `mid` entry by entry, for `check`; a vector (n,) is a column.

    Both are arrays or rows of numbers; `rad` may also be one number for all entries, >= 0. Floats are exact doubles,
    strings such as "1/10" are taken literally. With `symmetric` only the symmetric matrices count. Raises
    WorkbenchError for entries that are not numbers, for different shapes and for a negative radius.

    >>> import workbench as wb
    >>> wb.check(wb.interval([["2", "1"], ["1", "2"]], "1/10"), rhs=[-1, -1]).data["solutions"]["upper"]
    ['2/5', '2/5']
    """
    centre = box_of(mid, "the middle").centre
    m, n = centre.nrows(), centre.ncols()
    if np.ndim(np.asarray(rad, dtype=object)) == 0:
        one = _matrix([[rad]], "the radius").exact[0, 0]
        return IntervalMatrix(centre, fmpq_mat(m, n, [one] * (m * n)), symmetric)
    return IntervalMatrix(centre, box_of(rad, "the radius").centre, symmetric)


def uncertain_mlcp(M: Any, q: Any, lower: Any, upper: Any) -> UncertainMLCP:
    """Return the MLCP l <= z <= u, w = M z + q with uncertain data, for `check`; w_i >= 0 at l_i, <= 0 at u_i.

    M (n, n) and q (n) are an `interval`, or numbers as there. `lower` and `upper` (n) have a number, a pair (from, to)
    of numbers for an uncertain bound, or None or an infinity for no bound. Raises WorkbenchError for entries that are
    no numbers, other lengths, and where no number lies between the bounds.

    >>> import workbench as wb
    >>> p = wb.uncertain_mlcp(wb.interval([["2"]], "1/10"), ["-1"], [None], [("1", "2")])
    >>> wb.check(p).data["solutions"]["signs"]
    ['between']
    """
    box, right = box_of(M, "the matrix"), right_hand_side(q)
    if right is None:
        raise WorkbenchError("an MLCP needs q; give the numbers of q, zeros where there are none")
    return UncertainMLCP(box, right, _ends(lower, "lower", -1), _ends(upper, "upper", 1))


def _ends(bounds: Any, name: str, side: int) -> list[Ends | None]:
    """The ends of bounds as exact numbers."""
    found: list[Ends | None] = []
    try:
        given = list(bounds)
    except TypeError:
        raise WorkbenchError(f"{name} is {bounds!r}; give a bound for each unknown, None for no bound") from None
    for i, x in enumerate(given):
        if x is None or (isinstance(x, FLOAT) and x == side * np.inf):
            found.append(None)
            continue
        if isinstance(x, FLOAT) and not np.isfinite(x):
            raise WorkbenchError(f"{name}[{i}] is {x}; give a number, or {side * np.inf} or None for no bound")
        pair = list(x) if isinstance(x, tuple | list | np.ndarray) else [x, x]
        if len(pair) != 2:
            raise WorkbenchError(f"{name}[{i}] has {len(pair)} numbers; give one, or a pair (from, to)")
        low, high = _matrix([pair], f"{name}[{i}]").exact.entries()
        if low > high:
            raise WorkbenchError(f"{name}[{i}] is from {low} to {high}; give the smaller number first")
        found.append((low, high))
    return found


def box_of(given: Any, name: str) -> IntervalMatrix:
    """A box from a box, from numbers, or from input of `problem_of`; a vector is a column."""
    if isinstance(given, IntervalMatrix):
        return given
    if isinstance(given, str | Path | Matrix):
        return IntervalMatrix.of(_matrix_of(given)[0])
    rows = np.asarray(given, dtype=object)
    return IntervalMatrix.of(_matrix(rows.reshape(-1, 1).tolist() if rows.ndim == 1 else given, name))


def right_hand_side(rhs: Any) -> IntervalMatrix | None:
    """q as a column, of intervals where `rhs` has some; None where there is none."""
    if rhs is None:
        return None
    q = box_of(rhs, "rhs")
    return q if q.centre.ncols() == 1 or q.order > 1 else q.transpose()


def _of_case(
    case: Case, f: Formulation, step: float, seconds: float, **given: Unpack[GivenState]
) -> CheckedFormulation:
    from workbench.diagnostics.lead_matrix import lead_matrix
    from workbench.verbs.states import state_of

    end, at = clock() + seconds, given["at"]
    state = state_of(case, None, end, **given)
    start = None if state.is_start else coordinates(case, state)
    where = "first step" if start is None else "step from the given state"
    if at is not None:
        where = f"step after {at:g} s"
    exact = find_formulation("coulomb")
    _, m, r, d = case.size
    with interpreting(SMALL if m + r + d * r <= INTERPRETED else m + r + d * r):
        report = lead_matrix(case, f, exact, step, max(end - clock(), LEAST), start, where)
    return CheckedFormulation(f"{f.label} on {case.name}, {where}", report)


def seconds_before_proofs(deadline: float, share: float, n: int, entries: int) -> float:
    """Return the seconds left for verdicts on n unknowns, less this share or what writing a certificate takes.

    `deadline` is by `timing.clock`; `entries` of the matrix are not zero; a share of 0 means that nothing is proved.
    """
    from workbench.diagnostics.certificate import writing_seconds

    left = seconds_left(deadline, 1.0)
    kept = max(share * left, writing_seconds(n, entries)) if share else 0.0
    return max(0.0, left - kept)


def check_posed_problem(name: str, problem: FileProblem, seconds: float) -> CheckedProblem:
    """`check` for a problem with bounds or a friction problem."""
    from workbench.diagnostics.problem_check import check_posed

    with interpreting(problem.size):
        return CheckedProblem(name, check_posed(problem, seconds), problem)


def problem_of(what: Any, rhs: Any = None) -> tuple[Matrix, Matrix | None, str]:
    """M, q and a name from a matrix input of `check`, with `rhs` instead of its own q. Raises WorkbenchError."""
    M, q, name = _matrix_of(what)
    if isinstance(rhs, str | Path):
        if not isinstance(what, str | Path):
            raise WorkbenchError("rhs is a file and the matrix is an array; give both as files, or both as arrays")
        M, q = read_problem(what, rhs, intervals=True)
    elif rhs is not None:
        q = _matrix([[x] for x in np.ravel(np.asarray(rhs, dtype=object))], "rhs")
    return M, q, name


def other_problem(what: Any) -> MLCP | FrictionProblem | GlobalFrictionProblem | None:
    """The MLCP with bounds or the friction problem that is given or in a file; None for a matrix or an LCP."""
    if isinstance(what, str | Path):
        what = _other_problem_of(Path(what))
    if isinstance(what, MLCP) and what.kind == LCP.kind:
        return None
    return what if isinstance(what, MLCP | FrictionProblem | GlobalFrictionProblem) else None


def _other_problem_of(path: Path) -> FileProblem | None:
    suffix = path.suffix.lower()
    if suffix not in (*ENDINGS, ".json"):
        return None
    # Rows of numbers may begin like Siconos' text by chance.
    if suffix in (".dat", ".txt") and _is_matrix(path):
        return None
    try:
        return read_problem_file(path)
    except DataError:
        # Readers of matrices report errors better, but do not know bounds and friction.
        if suffix in (".hdf5", ".h5") or names_in(path) & {"W", "H", "lower", "upper"}:
            raise
        return None


def _is_matrix(path: Path) -> bool:
    """Return whether the file can be read as a square matrix."""
    try:
        rows, columns = read_problem(path)[0].values.shape
    except DataError:
        return False
    return rows == columns


def check_problem(
    name: str, M: Matrix, q: Matrix | None, seconds: float, progress: ProgressCallback | None = None
) -> Checked:
    """`check` for a matrix with its entries as written, and q (n, 1) if there is one."""
    rows, columns = M.values.shape
    if rows != columns:
        raise WorkbenchError(f"{name} is {rows} x {columns}; the matrix of an LCP is square")
    if q is not None and q.values.size != rows:
        raise WorkbenchError(f"q has {q.values.size} entries; the {rows} x {rows} matrix needs {rows}")
    with interpreting(rows):
        return Checked(name, check_matrix(M, seconds, q, progress), M, q)


def _matrix_of(what: Any) -> tuple[Matrix, Matrix | None, str]:
    """M, q and a name."""
    if isinstance(what, Case):
        raise WorkbenchError(f"{what.name} is a case; give a formulation too, as in check('{what.name}', 'box')")
    if isinstance(what, str | Path):
        return (*read_problem(what, intervals=True), name_of(what))
    if isinstance(what, Matrix):
        return what, None, "the matrix"
    if isinstance(what, LCP) or (isinstance(what, MLCP) and what.kind == "LCP"):
        return Matrix(what.M), Matrix(what.q.reshape(-1, 1)), "the LCP"
    return _matrix(what, "the matrix"), None, "the matrix"


def _matrix(given: Any, name: str) -> Matrix:
    """Rows of numbers; strings, fractions, decimals and integers are taken literally, floats are exact doubles.

    Raises WorkbenchError if the rows differ in length or an entry is not a number.
    """
    try:
        rows = [] if isinstance(given, np.ndarray) and given.dtype != object else [list(row) for row in given]
        entries = [x for row in rows for x in row]
        if any(isinstance(x, EXACT) or (isinstance(x, int) and abs(x) > 2**53) for x in entries):
            floats = any(isinstance(x, FLOAT) for x in entries)
            typed = matrix_of([[_typed(x) for x in row] for row in rows], name)
            return (
                replace(typed, notes=("floats among the entries are the doubles that they are",)) if floats else typed
            )
        array = np.asarray(given)
        if array.dtype.kind == "c":
            raise WorkbenchError(f"{name} has complex entries; real ones are needed")
        return Matrix(exact_doubles(array if array.dtype.kind in "biuf" else array.astype(float), name))
    except (TypeError, ValueError, OverflowError):
        raise WorkbenchError(f"{name} is not an array of numbers: rows of equal length are needed") from None


def _typed(x: Any) -> str:
    """Digits that give exactly this number."""
    return exact_decimal(float(x)) if isinstance(x, FLOAT) else str(x).strip()
