"""CVXPY, imported when it is first used: a declaration that has been compiled before does without it.

from workbench.lazy import cvxpy as cp
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any


class Lazy:
    """Stands for a module until one of its attributes is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


if TYPE_CHECKING:
    import cvxpy

    from workbench import leaves
else:
    cvxpy, leaves = Lazy("cvxpy"), Lazy("workbench.leaves")
