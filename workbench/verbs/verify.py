"""`verify`: does a certificate prove what it says?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.certificates.exact import RefusedError
from workbench.certificates.verify import HOLDS, REFUSED, TOO_LONG, Finding
from workbench.certificates.verify import verify as verify_document
from workbench.errors import WorkbenchError
from workbench.problems.classes import MLCP
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 500_000_000
"""Bytes of a certificate that is read."""


@dataclass(frozen=True, repr=False, eq=False)
class Verified(Result):
    """What the check of each claim of a certificate came to; `holds` says whether none was refused."""

    title: str
    findings: list[Finding] = field(repr=False)

    @property
    def holds(self) -> bool:
        return not self._count(REFUSED)

    def _count(self, result: str) -> int:
        return sum(finding.result == result for finding in self.findings)

    @property
    def words(self) -> list[str]:
        refused, left = self._count(REFUSED), self._count(TOO_LONG)
        sentences = [f"{self._count(HOLDS)} of {len(self.findings)} claims hold in exact arithmetic."]
        if refused:
            sentences.append(f"{refused} refused.")
        if left:
            sentences.append(f"{left} not repeated: nothing shorter than going through all index sets proves them.")
        return sentences

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per claim: what it is about, what is claimed, and whether it holds."""
        import pandas as pd

        return pd.DataFrame(
            [vars(finding) for finding in self.findings], columns=["about", "claim", "result", "reason"]
        )

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"claims": self.frame}

    @property
    def text(self) -> str:
        width = max((len(f.about) for f in self.findings), default=0)
        rows = [
            f"{f.about:<{width}}  {f.claim:<8}  {f.result}{': ' if f.reason else ''}{f.reason}" for f in self.findings
        ]
        return "\n".join([*rows, "", " ".join(self.words)])


def verify(certificate: str | Path | Mapping[str, Any], of: Any = None) -> Verified:
    """Check every claim of a certificate, a file or what `check(...).certificate()` gave, by code of its own.

    `of` is the matrix that the certificate should be about, as `check` takes it; without it the certificate's own is
    taken. Raises WorkbenchError for what is no certificate, was damaged, or is about another matrix.

    >>> import workbench as wb
    >>> found = wb.verify(wb.check([[2, -1], [-1, 2]]).certificate())
    >>> found.holds, set(found.frame["result"])
    (True, {'holds'})
    """
    name = "the certificate"
    document: Any = certificate
    if isinstance(certificate, str | Path):
        name, document = Path(certificate).name, _read(Path(certificate))
    try:
        findings = verify_document(document)
    except RefusedError as why:
        raise WorkbenchError(f"{name}: {why}") from None
    if of is not None and not _is_about(document, of):
        raise WorkbenchError(f"{name} is about another problem than the one given")
    return Verified(name, findings)


def _is_about(document: dict[str, Any], of: Any) -> bool:
    """Whether the certificate has the numbers of this matrix, or of the problem that `check` would find there."""
    from workbench.diagnostics.problem_check import in_rationals
    from workbench.readers.matrix import Matrix
    from workbench.verbs.check import other_problem, problem_of

    problem = other_problem(of)
    if problem is None:
        return _texts(problem_of(of)[0].exact) == document.get("M")
    if isinstance(problem, MLCP):
        return _texts(Matrix(problem.M).exact) == document.get("M")
    friction, held = in_rationals(problem), document.get("friction") or {}
    numbers = [[str(x) for x in vector] for vector in (friction.q, friction.mu)]
    return [_texts(friction.W), *numbers] == [held.get(key) for key in ("W", "q", "mu")]


def _texts(M: Any) -> list[list[str]]:
    return [[str(x) for x in row] for row in M.tolist()]


def _read(path: Path) -> Any:
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise WorkbenchError(f"'{path}' has {size} bytes; certificates are read up to {LARGEST}")
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise WorkbenchError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, RecursionError):
        raise WorkbenchError(f"'{path}' is not JSON; a certificate is written by check --certificate") from None
