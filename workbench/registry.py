"""Lists of things by name, each imported when it is first asked for: importing one compiles its kernels."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from workbench.errors import UnknownNameError


class Registry(Sequence):
    """The things of one package in order; `places` maps a name to "module.object" below the package."""

    def __init__(self, kind: str, package: str, places: Mapping[str, str]) -> None:
        self.kind, self.package, self.places = kind, package, dict(places)

    @property
    def names(self) -> list[str]:
        return list(self.places)

    def find(self, name: str) -> Any:
        """The thing of this name; raises UnknownNameError, which lists the known ones."""
        if name not in self.places:
            raise UnknownNameError(self.kind, name, self.names)
        module, _, attribute = self.places[name].partition(".")
        return getattr(import_module(f"{self.package}.{module}"), attribute)

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Any]:
        return map(self.find, self.places)

    def __getitem__(self, i: Any) -> Any:
        names = self.names[i]
        return self.find(names) if isinstance(names, str) else tuple(map(self.find, names))
