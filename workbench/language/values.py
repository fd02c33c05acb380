"""Declarations in plain numbers: the part of CVXPY that declarations use, for evaluation alone.

Within `by_values()` a formulation's function and the language use this module in place of CVXPY. The resulting
declaration is the usual one, with the same function, options and data, and its expressions have a `.value` once their
unknowns and parameters have one. CVXPY's checks are not made, and a missing operation raises an error. Importing CVXPY
takes a second, this module a millisecond.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import numpy as np

from workbench.engine.lazy import standing_in


def by_values() -> AbstractContextManager[None]:
    """Context in which the language works with numbers instead of CVXPY, in this thread only."""
    import workbench.language.values as here

    return standing_in({"cvxpy": here, "workbench.language.leaves": here})


class Expression:
    """A function of other expressions."""

    args = ()
    """The language checks CVXPY's trees for mistakes; expressions evaluated here have already passed those checks."""
    __array_ufunc__ = None
    """NumPy leaves sums and products with arrays to this class."""

    shape: tuple[int, ...]

    def __init__(self, f: Callable[..., np.ndarray], *parts: "Expression") -> None:
        self._f, self._parts = f, parts
        self.shape = f(*(np.broadcast_to(1.0, part.shape) for part in parts)).shape

    @staticmethod
    def cast_to_const(value: Any) -> "Expression":
        """Return the expression itself, or numbers as one; raises TypeError or ValueError."""
        return value if isinstance(value, Expression) else Constant(value)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def value(self) -> Any:
        return self._f(*(part.value for part in self._parts))

    def leaves(self) -> "Iterable[Leaf]":
        """Leaves from left to right, in CVXPY's order."""
        for part in self._parts:
            yield from part.leaves()

    def variables(self) -> list[Any]:
        return list({leaf.id: leaf for leaf in self.leaves() if isinstance(leaf, Variable)}.values())

    def parameters(self) -> list[Any]:
        return list({leaf.id: leaf for leaf in self.leaves() if isinstance(leaf, Parameter)}.values())

    def is_constant(self) -> bool:
        return not self.variables()

    def is_affine(self) -> bool:
        return True

    def is_dpp(self) -> bool:
        return True

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        # As in CVXPY, a relation.
        return self - other

    def __add__(self, other: Any) -> "Expression":
        return Expression(np.add, self, self.cast_to_const(other))

    def __radd__(self, other: Any) -> "Expression":
        return self.cast_to_const(other) + self

    def __neg__(self) -> "Expression":
        return Expression(np.negative, self)

    def __sub__(self, other: Any) -> "Expression":
        return Expression(np.subtract, self, self.cast_to_const(other))

    def __rsub__(self, other: Any) -> "Expression":
        return self.cast_to_const(other) - self

    def __matmul__(self, other: Any) -> "Expression":
        return Expression(np.matmul, self, self.cast_to_const(other))

    def __rmatmul__(self, other: Any) -> "Expression":
        return self.cast_to_const(other) @ self

    def __mul__(self, other: Any) -> "Expression":
        other = self.cast_to_const(other)
        if self.size != 1 and other.size != 1:
            raise TypeError("CVXPY's * is a product of matrices where neither side is a number")
        return multiply(self, other)

    def __rmul__(self, other: Any) -> "Expression":
        return self.cast_to_const(other) * self

    def __truediv__(self, other: Any) -> "Expression":
        return Expression(np.divide, self, self.cast_to_const(other))

    def __getitem__(self, key: Any) -> "Expression":
        return Expression(lambda x: x[key], self)

    @property
    def T(self) -> "Expression":
        return Expression(np.transpose, self)


class Leaf(Expression):
    """A leaf of an expression: a shape, a name and a value, which may be missing."""

    numbers = count()

    def __init__(self, shape: Any, name: str | None = None, value: Any = None) -> None:
        self.shape = shape if isinstance(shape, tuple) else (int(shape),)
        self.id, self._name, self._value = next(self.numbers), name, value

    def name(self) -> str:
        return self._name or f"leaf{self.id}"

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def leaves(self) -> "Iterable[Leaf]":
        yield self


class Constant(Leaf):
    """Constant numbers."""

    def __init__(self, value: Any, name: str | None = None) -> None:
        numbers = np.asarray(value, dtype=float)
        super().__init__(numbers.shape, name, numbers)


class Variable(Leaf):
    """Unknown numbers."""


class Parameter(Leaf):
    """Data."""

    def __init__(self, shape: Any = (), name: str | None = None, value: Any = None, nonneg: bool = False) -> None:
        super().__init__(shape, name, None if value is None else np.asarray(value, dtype=float))

    def project(self, value: np.ndarray) -> np.ndarray:
        """Positive values are admissible for all data that can be declared here."""
        return value


class Unknown(Variable):
    """See `leaves.Unknown`."""

    def __init__(self, name: str, size: int, member_of: Any) -> None:
        super().__init__(size, name)
        self.member_of = member_of


class CoreSymbol(Parameter):
    """See `leaves.CoreSymbol`."""


def multiply(x: Any, y: Any) -> Expression:
    """Multiply entry by entry."""
    return Expression(np.multiply, Expression.cast_to_const(x), Expression.cast_to_const(y))
