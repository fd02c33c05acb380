"""The errors a person may see. Each message is one line: what was wrong, its value, what would be right."""

import difflib
from collections.abc import Iterable

NEAR = 0.55
"""Likeness from which a name is taken for a mistyped one: 'boks' and 'box' have 0.57."""


def meant(name: str, known: Iterable[str]) -> str:
    """The known name nearest to a mistyped one as a question with a blank behind it; empty where none is near."""
    near = difflib.get_close_matches(name, known, 1, NEAR)
    return f"did you mean '{near[0]}'? " if near else ""


class WorkbenchError(Exception):
    """Base of every error that the command line prints as one line with exit code 2.

    Names out of files may hold anything: what cannot be printed, line ends among them, is escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


class DataError(WorkbenchError):
    """Contact data, a matrix or a file that cannot be used as given."""


class ModellingError(WorkbenchError):
    """A declaration that is not a mixed complementarity problem; the message names the culprit."""


class UnknownNameError(WorkbenchError):
    """A case, formulation, solver or option that does not exist; the message lists those that do."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        super().__init__(f"unknown {kind} '{name}'; {meant(name, known)}known: {', '.join(known)}")
