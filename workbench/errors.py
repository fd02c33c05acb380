"""The errors a person may see. Each message is one line: what was wrong, its value, what would be right."""

import difflib


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
        near = difflib.get_close_matches(name, known, 1)
        meant = f"did you mean '{near[0]}'? " if near else ""
        super().__init__(f"unknown {kind} '{name}'; {meant}known: {', '.join(known)}")
