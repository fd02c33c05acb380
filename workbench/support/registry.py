"""Registries of named objects, each imported on first use, since importing one compiles its kernels.

A registry finds the objects that come with the workbench, those that an installed package announces by an entry point
(`workbench.formulations`, `.cases`, `.solvers`, `.metrics`), and those in user code:

    FORMULATIONS.find("box")                    # comes with the workbench
    FORMULATIONS.find("./mine.py:elliptic")     # in a file
    FORMULATIONS.find("package.module:name")    # in a module that can be imported
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from workbench.support.errors import UnknownNameError, WorkbenchError
from workbench.support.own_code import is_python_file, load_file, reason_of
from workbench.support.signals import EndedBySignal, imported


class Registry(Sequence):
    """The objects of one kind in order; `places` maps a name to "module.object" below the package.

    `is_one` tells whether an object is of this kind; `line` describes it in one line, for lists; `group` is the group
    of entry points under which packages announce such objects.
    """

    def __init__(
        self, kind: str, package: str, places: Mapping[str, str], is_one: Callable[[Any], bool],
        line: Callable[[Any], str], group: str = "",
    ) -> None:  # fmt: skip
        self.kind, self.package, self.bundled = kind, package, dict(places)
        self.is_one, self.line, self.group = is_one, line, group

    @cached_property
    def announced(self) -> dict[str, EntryPoint]:
        """Entry points of installed packages by name; names of the workbench take precedence."""
        found = entry_points(group=self.group) if self.group else ()
        return {point.name: point for point in found if point.name not in self.bundled}

    @property
    def names(self) -> list[str]:
        """The names that `find` accepts, the workbench's own first."""
        return [*self.bundled, *self.announced]

    def find(self, name: str) -> Any:
        """Return the object with this name or place.

        Raises UnknownNameError, which lists the known names, or WorkbenchError.
        """
        if name in self.bundled:
            module, _, attribute = self.bundled[name].rpartition(".")
            return getattr(imported(f"{self.package}.{module}"), attribute)
        if name in self.announced:
            return self._announced(self.announced[name])
        place, _, attribute = name.rpartition(":")
        if is_python_file(name):
            return self._member(load_file(name), name, "")
        if is_python_file(place):
            return self._member(load_file(place), place, attribute)
        if place:
            return self._member(_module(place), place, attribute)
        raise UnknownNameError(self.kind, name, [*self.names, f"FILE.py:{self.kind.upper()}"])

    def _announced(self, point: EntryPoint) -> Any:
        try:
            thing = point.load()
        except Exception as error:
            raise WorkbenchError(f"{self.kind} '{point.name}' ({point.value}): {reason_of(error)}") from error
        if not self.is_one(thing):
            raise WorkbenchError(
                f"{self.kind} '{point.name}' ({point.value}) is a {type(thing).__name__}, no {self.kind}"
            )
        return thing

    def _member(self, module: Any, place: str, attribute: str) -> Any:
        """Return the named object of a module, or its only one if no name is given."""
        here = {key: thing for key, thing in vars(module).items() if not key.startswith("_") and self.is_one(thing)}
        own = {
            key: thing for key, thing in here.items() if getattr(thing, "__module__", None) in (module.__name__, None)
        }
        if not attribute and len(own or here) == 1:
            return next(iter((own or here).values()))
        thing = getattr(module, attribute, None) if attribute else None
        if thing is None:
            if not here:
                raise WorkbenchError(f"{place} has no {self.kind}")
            raise UnknownNameError(f"{self.kind} of {place}", attribute, list(own or here))
        missing = sorted(getattr(thing, "__abstractmethods__", ()))
        if missing:
            raise WorkbenchError(f"{place}:{attribute} lacks {', '.join(missing)}, which a {self.kind} needs")
        if not self.is_one(thing):
            raise WorkbenchError(f"{place}:{attribute} is a {type(thing).__name__}; a {self.kind} is needed")
        return thing

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Any]:
        return map(self.find, self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, i: Any) -> Any:
        """Return the object with a name, at a position, or those of a slice."""
        if isinstance(i, str):
            return self.find(i)
        names = self.names[i]
        return self.find(names) if isinstance(names, str) else tuple(map(self.find, names))

    def _ipython_key_completions_(self) -> list[str]:
        return self.names

    def __repr__(self) -> str:
        return f"{len(self)} {self.kind}s: {', '.join(self.names)}"

    def lines(self) -> dict[str, str]:
        """Descriptions of all names in one line each; for an object that cannot be loaded, the reason."""
        return {name: self._line(name) for name in self.names}

    def _line(self, name: str) -> str:
        try:
            return self.line(self.find(name))
        except WorkbenchError as error:
            return f"cannot be used: {error}"

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><td><code>{html.escape(n)}</code></td><td>{html.escape(w)}</td></tr>" for n, w in self.lines().items()
        )
        return f"<table><tr><th>{self.kind}</th><th></th></tr>{''.join(rows)}</table>"


def _module(name: str) -> Any:
    """Return a module by its dotted name; raises WorkbenchError if it cannot be imported."""
    try:
        return imported(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise WorkbenchError(
                f"there is no module '{name}'; give FILE.py:NAME, or package.module:NAME of something installed"
            ) from None
        raise WorkbenchError(f"{name} cannot be imported: {reason_of(error)}") from error
    except EndedBySignal:
        raise
    except (Exception, SystemExit) as error:
        raise WorkbenchError(f"{name} cannot be imported: {reason_of(error)}") from error
