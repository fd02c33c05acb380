"""Errors shown to users. Each message is one line: what was wrong, its value, what is expected."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby

NEAR = 0.55
"""Similarity at which a name is suggested for a mistyped one: 'boks' and 'box' have 0.57."""
FEW = 3
"""Number of entries of an array up to which a message lists them one by one."""


def meant(name: str, known: Iterable[str]) -> str:
    """Return the known name closest to a mistyped one as a question with a trailing blank; empty if none is close."""
    near = difflib.get_close_matches(str(name), known, 1, NEAR)
    return f"did you mean '{near[0]}'? " if near else ""


class WorkbenchError(Exception):
    """Base of every error that the command line prints as one line with exit code 2.

    Names read from files may contain anything: unprintable characters, including line ends, are escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


class DataError(WorkbenchError):
    """Contact data, a matrix or a file that cannot be used as given."""


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put a place in front of the message of a DataError within the block, unless it is there already."""
    try:
        yield
    except DataError as error:
        raise error if str(error).startswith(place) else DataError(f"{place}: {error}") from None


def in_short(error: Exception, length: int = 100) -> str:
    """Return the first line of another library's error, or its kind, up to a length."""
    return (str(error) or type(error).__name__).splitlines()[0][:length]


class ModellingError(WorkbenchError):
    """A declaration that is not a mixed complementarity problem; the message names the culprit."""


class UnknownNameError(WorkbenchError):
    """A case, formulation, solver or option that does not exist; the message lists the existing ones."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        # The name precedes its owner: unknown option 'axis' of box.
        what, of, owner = kind.partition(" of ")
        super().__init__(
            f"unknown {what} '{name}'{of}{owner}; {meant(name, known)}known: {', '.join(_in_short(known))}"
        )


def _in_short(names: list[str]) -> list[str]:
    """Return the names, where more than a few entries of an array follow each other as one: q[0] to q[6]."""
    found: list[str] = []
    for array, of in groupby(names, lambda name: name.partition("[")[0] if name.endswith("]") else name):
        entries = list(of)
        numbered = entries == [f"{array}[{i}]" for i in range(len(entries))]
        found += [f"{entries[0]} to {entries[-1]}"] if numbered and len(entries) > FEW else entries
    return found
