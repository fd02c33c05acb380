"""Reproductions of papers, one file per paper. Adding one is a file and a line in `REPRODUCTIONS`.

The file is the name with underscores, and holds `reproduce(progress)`, which computes and returns a `Reproduction`.
Pages are imported when first asked for: they bring the cases, formulations and solvers of their paper along. What a
page needs beside its file lies in modules whose names start with an underscore.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from workbench.support.errors import UnknownNameError

if TYPE_CHECKING:
    from workbench.builtin.reports.reproductions.claims import Reproduction
    from workbench.support.progress import ProgressCallback

REPRODUCTIONS = (
    "idetc2016-60064",
    "cnd-17-1068",
    "friction-notes",
    "detc2017-67988",
    "hal-01224915",
    "arxiv-2207-05060",
)


def known_names(names: Iterable[str]) -> list[str]:
    """The names, each once. Raises UnknownNameError, which lists the known ones, for one that is not among them."""
    for name in names:
        if name not in REPRODUCTIONS:
            raise UnknownNameError("reproduction", name, list(REPRODUCTIONS))
    return list(dict.fromkeys(names))


def find_reproduction(name: str) -> "Callable[[ProgressCallback], Reproduction]":
    """The `reproduce` function of this name. Raises UnknownNameError."""
    known_names([name])
    return import_module(f"workbench.builtin.reports.reproductions.{name.replace('-', '_')}").reproduce
