"""`report`: the page of a comparison from saved results, of one folder or of several together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.comparison.merging import Saved, merged
from workbench.support.errors import DataError, WorkbenchError
from workbench.verbs.compare import Compared
from workbench.verbs.find import several

OF_ALL = ("python", "platform", "versions", "case", "scene", "rows", "parameters", "file", "problem", "known")
"""Entries of the first run's provenance that apply to all."""


class Reported(Compared):
    """A comparison from saved runs."""

    def html(self, facts: dict[str, Any] | None = None) -> str:
        try:
            return super().html(facts)
        except WorkbenchError:
            raise
        except Exception as error:
            # Every value has been read with its right type, and together they are still inconsistent.
            raise DataError(f"these runs make no page ({type(error).__name__}: {error}); they are damaged") from error


def report(runs: str | Path | Sequence[str | Path]) -> Reported:
    """Return the comparison saved by `compare` in one folder, or combined from several, without computing anything.

    Several folders can be combined if they have the same case and parameters, the same scene up to the same time, or
    the same file, and the same reference, settings, metrics and versions; formulations, solvers and steps may differ.
    If two folders have the same run, the newer one is used, and a remark says so. Nothing in a folder is imported or
    executed. Raises WorkbenchError, with one line that names what is missing, damaged, or different.

    >>> import workbench as wb
    >>> folder = wb.compare("wheel", "box", duration=0.02).save("box")
    >>> wb.report([folder, wb.compare("wheel", "ccp", duration=0.02).save("ccp")]).title
    '2 formulations on wheel'
    """
    found = [Saved.of(folder) for folder in several(runs)]
    if not found:
        raise DataError("no folder is given; name at least one that workbench compare wrote")
    c = merged(found)
    first = found[0].provenance
    of_all = {name: first[name] for name in OF_ALL if name in first}
    made = [f"{s.folder} of {s.provenance['created']}: {s.provenance.get('command', 'made in Python')}" for s in found]
    settings = {"settings": vars(c.settings) | {"relaxation": str(c.settings.relaxation)}} if c.stepped else {}
    return Reported(c, of_all | settings | {"runs": made})
