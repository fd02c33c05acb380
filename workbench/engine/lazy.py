"""Lazy imports of heavy modules; clocks are stopped during the import.

A declaration that has been compiled before does not need CVXPY, nor a small dense problem SciPy:

    from workbench.engine.lazy import cvxpy as cp
    from workbench.engine.lazy import sparse
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workbench.engine.timing import standing_still
from workbench.support.signals import imported

_STAND_INS: ContextVar[dict[str, Any]] = ContextVar("stand-ins", default={})  # noqa: B039


class Lazy:
    """A stand-in for a module until one of its attributes is accessed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loaded: ModuleType | None = None

    def __reduce__(self) -> tuple:
        return Lazy, (self._name,)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(_STAND_INS.get().get(self._name) or self._loaded or self._module(), attribute)

    def _module(self) -> ModuleType:
        with standing_still():
            self._loaded = imported(self._name)
        return self._loaded


@contextmanager
def standing_in(modules: dict[str, Any]) -> Iterator[None]:
    """Context in which lazy modules of these names are replaced by the given ones, in this thread."""
    token = _STAND_INS.set(modules)
    try:
        yield
    finally:
        _STAND_INS.reset(token)


if TYPE_CHECKING:
    import cvxpy
    from scipy import integrate, linalg, optimize, sparse, spatial
    from scipy.sparse import csgraph
else:
    cvxpy, integrate, linalg = Lazy("cvxpy"), Lazy("scipy.integrate"), Lazy("scipy.linalg")
    optimize, spatial = Lazy("scipy.optimize"), Lazy("scipy.spatial")
    sparse, csgraph = Lazy("scipy.sparse"), Lazy("scipy.sparse.csgraph")
