"""The classes of a large matrix: from its structure first, then from its islands or diagonal blocks, one by one."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.engine.timing import OUT_OF_TIME, clock, moment, seconds_left
from workbench.matrices.classes.blocks import combined
from workbench.matrices.classes.matrix_classes import (
    CLASSES,
    NO,
    UNDECIDED,
    YES,
    ClassVerdict,
    matrix_classes,
    structured_classes,
)
from workbench.matrices.classes.structure import Structure, explored
from workbench.matrices.linear_algebra.blocks import irreducible_blocks, islands, neighbouring
from workbench.matrices.p_property.verdict import PVerdict, p_verdict
from workbench.readers.matrix import Matrix

LARGEST_ORDER = 256
"""Largest order for which everything is tried; beyond, `structure` and blocks, and the P verdict up to `LARGEST_P`."""
LARGEST_P = 600
"""Largest order for which entries are converted to rationals: one diagonal W may prove the P-property."""
WINDOW = 40
"""Rows of the principal submatrices in which a minor that is not positive is sought, where the whole is too large."""
ENTRY_SECONDS, TYPED_SECONDS = 3e-6, 1e-5
"""Seconds to convert an entry to a rational and calculate with it once or twice: from a double, and from text."""


@dataclass(frozen=True, eq=False)
class BlockVerdicts:
    """The verdicts on a matrix, and on its `blocks` where these were needed.

    `of_islands` tells whether the blocks are islands, or diagonal blocks of the block triangular form.
    """

    classes: dict[str, ClassVerdict]
    p: PVerdict
    blocks: list["MatrixBlock"] = field(default_factory=list)
    of_islands: bool = False


@dataclass(frozen=True, eq=False)
class MatrixBlock:
    """A block: its rows in the matrix, its entries, and the verdicts on it."""

    rows: list[int]
    matrix: Matrix
    judged: BlockVerdicts


def judged(matrix: Matrix, deadline: float) -> BlockVerdicts:
    """Verdicts on the classes of a square matrix by about `deadline` (`clock()`); out of time all are undecided."""
    if clock() > deadline:
        return _nothing(OUT_OF_TIME)
    if len(matrix.values) <= LARGEST_ORDER:
        p = p_verdict(matrix.exact, seconds_left(deadline, 0.5))
        return BlockVerdicts(matrix_classes(matrix.exact, deadline, p), p)
    return _of_structure(matrix, deadline)


def _nothing(reason: str) -> BlockVerdicts:
    open_ = dict.fromkeys(CLASSES, ClassVerdict(UNDECIDED, reason=reason))
    return BlockVerdicts(open_, PVerdict("undecided", reason=reason))


def _of_structure(matrix: Matrix, deadline: float) -> BlockVerdicts:
    """Verdicts from the structure come first; blocks, or a search for the P verdict, follow for what it leaves open."""
    n = len(matrix.values)
    each = ENTRY_SECONDS if matrix.written is None else TYPED_SECONDS
    with_rationals = n <= LARGEST_P and clock() + each * n * n < deadline
    s = Structure.of(matrix, moment(deadline, 0.6), with_rationals)
    found, why = explored(s)
    reason = f"{why}; all minors and cones are searched up to {LARGEST_ORDER} rows only"
    classes = structured_classes(found, reason)
    if all(verdict.verdict != UNDECIDED for verdict in classes.values()):
        return BlockVerdicts(classes, p_of_class(classes["P"]) or _nothing(reason).p)
    for of_islands, rows in ((True, islands(s.pattern)), (False, irreducible_blocks(s.pattern))):
        if len(rows) > 1:
            blocks = _blocks(matrix, rows, deadline)
            found += combined(n, rows, [b.judged.classes for b in blocks], of_islands)
            reason = _why_open(blocks, of_islands, reason)
            classes = structured_classes(found, reason)
            p = p_of_class(classes["P"]) or PVerdict("undecided", reason=reason)
            return BlockVerdicts(classes, p, blocks, of_islands)
    known = p_of_class(classes["P"])
    if known:
        return BlockVerdicts(classes, known)
    if with_rationals:
        verdict = p_verdict(matrix.exact, seconds_left(deadline, 0.7))
    else:
        verdict = _by_windows(matrix, neighbouring(s.pattern, WINDOW), moment(deadline, 0.6))
        if verdict.verdict == "undecided":
            why = f"{reason}, a proof by principal pivots up to {LARGEST_P}; {verdict.reason}"
            return BlockVerdicts(classes, PVerdict("undecided", reason=why))
    return BlockVerdicts(structured_classes(found, reason, verdict), verdict)


def _by_windows(matrix: Matrix, windows: Sequence[list[int]], deadline: float) -> PVerdict:
    """A minor of one of the windows that is not positive, as a verdict on the whole matrix."""
    undecided = 0
    for k, rows in enumerate(windows):
        if clock() > deadline:
            return PVerdict("undecided", reason=f"{OUT_OF_TIME} after {k} of {len(windows)} windows of {WINDOW} rows")
        found = p_verdict(matrix.part(rows).exact, seconds_left(deadline, 1 / (len(windows) - k)))
        if found.verdict == "not P":
            x = ["0"] * len(matrix.values)
            for i, value in zip(rows, found.sign_reversal or (), strict=True):
                x[i] = value
            return replace(found, index_set=tuple(rows[i] for i in found.index_set or ()), sign_reversal=x)
        undecided += found.verdict == "undecided"
    some = f", {undecided} of them undecided" if undecided else ""
    reason = f"in {len(windows)} windows of {WINDOW} rows no minor that is not positive was found{some}"
    return PVerdict("undecided", reason=reason)


def _blocks(matrix: Matrix, rows: Sequence[list[int]], deadline: float) -> list[MatrixBlock]:
    """The blocks in order, judged from the smallest to the largest; equal ones are judged once."""
    known: dict[Any, BlockVerdicts] = {}
    found: dict[int, MatrixBlock] = {}
    order = sorted(range(len(rows)), key=lambda k: len(rows[k]))
    for position, k in enumerate(order):
        part = matrix.part(rows[k])
        key = part.values.tobytes(), part.written
        if key not in known:
            known[key] = judged(part, moment(deadline, 1 / (len(order) - position)))
        found[k] = MatrixBlock(rows[k], part, known[key])
    return [found[k] for k in range(len(rows))]


def _why_open(blocks: list[MatrixBlock], of_islands: bool, otherwise: str) -> str:
    """The reason of the largest block that is open, for a class that the blocks would decide."""
    open_ = [b for b in blocks if b.judged.p.verdict == "undecided"]
    if not open_:
        return otherwise
    largest = max(open_, key=lambda b: len(b.rows))
    what = "islands" if of_islands else "diagonal blocks of the block triangular form"
    size = len(largest.rows)
    return f"{len(open_)} of {len(blocks)} {what} are open, the largest of {size} rows: {largest.judged.p.reason}"


def p_of_class(entry: ClassVerdict) -> PVerdict | None:
    """The P verdict where the classes decide it."""
    if entry.verdict == YES:
        return PVerdict("P", entry.proof)
    if entry.verdict == NO:
        witness = entry.witness or {}
        a = witness.get("index_set")
        return PVerdict("not P", entry.proof, None if a is None else tuple(a), witness.get("minor"), witness.get("x"))
    return None
