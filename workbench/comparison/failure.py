"""The row of a computation that raised an error: its status and the reason in one line."""

from dataclasses import dataclass

from workbench.problems.solution import Status
from workbench.support.errors import WorkbenchError
from workbench.support.own_code import place_of

LONGEST = 300
"""Longest error message in a row [characters], since messages of compilers may fill pages."""
NOBODY = "–"
"""Solver name in the rows of jobs that reached no solver."""


@dataclass(frozen=True)
class Failed:
    """Reason why there is no answer. `claimed` is REFUSED if the workbench refuses the job, FAILED after an error."""

    claimed: str
    reason: str


def failed(error: Exception) -> Failed:
    """The row's part of an error: the workbench's own words, or the line of the user's file, the type of the error and
    the start of its message."""
    if isinstance(error, WorkbenchError) and not error.__cause__:
        return Failed(Status.REFUSED.name, str(error))
    # What tells of another error is no refusal: something broke.
    message = str(error) if isinstance(error, WorkbenchError) else f"{place_of(error)}{type(error).__name__}: {error}"
    words = " ".join(message.split())
    # A WorkbenchError escapes what cannot be printed.
    return Failed("FAILED", str(WorkbenchError(words if len(words) <= LONGEST else f"{words[:LONGEST]} ...")))
