"""Heavy modules, imported when they are first used.

A declaration that has been compiled before does without CVXPY, a small dense problem without sparse matrices:

    from workbench.engine.lazy import cvxpy as cp
    from workbench.engine.lazy import sparse
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any


class Lazy:
    """Stands for a module until one of its attributes is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> tuple:
        return Lazy, (self._name,)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


if TYPE_CHECKING:
    import cvxpy
    from scipy import sparse
else:
    cvxpy, sparse = Lazy("cvxpy"), Lazy("scipy.sparse")
