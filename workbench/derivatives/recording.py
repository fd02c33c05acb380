"""Records the operations of kernels: they are interpreted once with numbers that write down what is done to them.

A kernel is interpreted as the Python function that it is made from, and so are the kernels that it calls. NumPy's
functions, abs, min and max are replaced by those of recorded numbers. A constant factor of zero makes a product zero.
"""

import math
from collections.abc import Callable, Iterable
from functools import cache
from types import CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from workbench.derivatives.tape import (
    ANGLE,
    AT_MOST,
    COSINE,
    EQUAL,
    EXP,
    LEAST,
    LESS,
    LINEAR,
    LOG,
    MOST,
    OVER,
    POWER,
    ROOT,
    SINE,
    SIZE,
    TIE,
    TIMES,
    UNKNOWN,
    Tape,
    evaluate,
)
from workbench.engine.compiling import Kernel
from workbench.engine.interpreted import python_of
from workbench.engine.kernels import larger_eigenvalue, largest_eigenvalue, lu_factor, lu_solve
from workbench.engine.layout import Packed
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.language.estimate import are_equal, has_settled
from workbench.language.newton import agree, turns_back
from workbench.problems.problem import Indices
from workbench.problems.solution import Status
from workbench.support.arrays import Array

Operation = tuple[int, int, int, float, float]
MOST_NUMBERS = 50_000
"""Numbers of a tape, beyond which differences take their place."""
SIMPLE, NEWTON, CONVERGED = 1e-3, 5, 1e-12
"""Share of the largest eigenvalue by which it exceeds the others; steps of Newton's method to it; square of the last
step but one up to which it converges, and with the last its derivative."""


class NotRecordableError(Exception):
    """An evaluation does something that a tape does not have."""


class BetweenModesError(NotRecordableError):
    """The evaluation is on the border of two branches; others may be recorded."""


class Recorder:
    """The operations and conditions so far, of inputs x (n_in,) of these sizes."""

    def __init__(self, x: Array, sizes: Array) -> None:
        self.inputs, self.at, self.sizes = x.size, x.copy(), sizes
        self.operations: list[Operation | float] = [0.0] * x.size
        self.conditions: dict[tuple[int, int, int], bool] = {}
        self._known: dict[Operation | str, int] = {}
        self.x = [Active(self, i, value) for i, value in enumerate(x)]

    def constant(self, value: float) -> int:
        """The number of a constant."""
        key = repr(float(value))
        if key not in self._known:
            self._known[key] = len(self.operations)
            self.operations.append(float(value))
        return self._known[key]

    def number(self, x: Any) -> int:
        """The number of a recorded one, or of a constant."""
        return x.index if isinstance(x, Active) else self.constant(x)

    def add(self, value: float, code: int, a: int, b: int | None = None, da: float = 0.0, db: float = 0.0) -> "Active":
        """The result of an operation, recorded once."""
        key = code, a, a if b is None else b, da, db
        if key not in self._known:
            if len(self.operations) == MOST_NUMBERS:
                raise NotRecordableError("too many operations")
            self._known[key] = len(self.operations)
            self.operations.append(key)
        return Active(self, self._known[key], value)

    def holds(self, kind: int, a: Any, b: Any, result: bool) -> bool:
        """The result of a condition, recorded."""
        self.conditions[kind, self.number(a), self.number(b)] = bool(result)
        return bool(result)

    def tape(self, outputs: Iterable[Any], late: int) -> Tape:
        """The tape of these outputs, without tangents; operations from number `late` on are those of q+."""
        out = [self.number(x) for x in outputs]
        wanted, used = self._needed(out), self._needed([*out, *(i for _, *both in self.conditions for i in both)])
        n, rows = self.inputs, self.operations
        constants = [i for i in range(n, len(rows)) if used[i] and isinstance(rows[i], float)]
        made = [i for i in range(n, len(rows)) if used[i] and not isinstance(rows[i], float)]
        place = {i: k for k, i in enumerate([*range(n), *constants, *made])}
        ties = [place[i] for i in made if wanted[i] and rows[i][0] in (SIZE, LEAST, MOST)]  # type: ignore[index]
        t = Tape(n_in=n, n_out=len(out), N=len(place), n_if=len(self.conditions), n_ties=len(ties), K=0)
        t.first = n + len(constants)
        t.late = t.first + sum(i < late for i in made)
        t.out, t.ties = [place[i] for i in out], ties
        t.value[n : t.first] = [rows[i] for i in constants]
        if made:
            code, a, b, t.da[t.first :], t.db[t.first :] = zip(*(rows[i] for i in made), strict=True)
            t.code[t.first :] = code
            t.a[t.first :], t.b[t.first :] = ([place[i] for i in x] for x in (a, b))
        if self.conditions:
            t.left, t.right = ([place[key[k]] for key in self.conditions] for k in (1, 2))
            t.relation = [2 * kind + held for (kind, _, _), held in self.conditions.items()]
        evaluate(t, self.at)
        reach = [*np.where(np.isfinite(self.at), self.sizes, 0.0).tolist(), *[0.0] * len(constants)]
        for da, a, db, b in zip(*(x[t.first :].tolist() for x in (abs(t.da), t.a, abs(t.db), t.b)), strict=True):
            moved = da * reach[a] + db * reach[b]
            # A length that is zero moves as far as its components, not infinitely far.
            reach.append(moved if math.isfinite(moved) else 1.0)
        size = np.array(reach)
        t.size, t.tie_size = size[t.left] + size[t.right], size[t.a[t.ties]] + size[t.b[t.ties]]
        return t

    def _needed(self, numbers: Iterable[int]) -> bytearray:
        """1 for these numbers and all that they are computed from; a sine and its cosine are kept together."""
        found = bytearray(len(self.operations))
        for i in numbers:
            found[i] = 1
        for i in range(len(found) - 1, self.inputs - 1, -1):
            row = self.operations[i]
            if found[i] and not isinstance(row, float):
                found[row[1]] = found[row[2]] = 1
                if row[0] in (SINE, COSINE):
                    found[i + 1 if row[0] == SINE else i - 1] = 1
        return found


class Active:
    """A recorded number and its value."""

    __slots__ = ("index", "recorder", "value")
    # NumPy's numbers leave operations to this class.
    __array_ufunc__ = None

    def __init__(self, recorder: Recorder, index: int, value: float) -> None:
        self.recorder, self.index, self.value = recorder, index, value

    def _linear(self, other: Any, mine: float, its: float) -> Any:
        if not isinstance(other, Active) and other == 0.0:
            return self * mine
        value = mine * self.value + its * _value(other)
        return self.recorder.add(value, LINEAR, self.index, self.recorder.number(other), mine, its)

    def __add__(self, other: Any) -> Any:
        return self._linear(other, 1.0, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._linear(other, 1.0, -1.0)

    def __rsub__(self, other: Any) -> Any:
        return self._linear(other, -1.0, 1.0)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Active):
            a, b = sorted((self.index, other.index))
            return self.recorder.add(self.value * other.value, TIMES, a, b)
        if other == 0.0 or other == 1.0:
            return self if other == 1.0 else 0.0
        return self.recorder.add(self.value * other, LINEAR, self.index, None, float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, Active):
            return self * (1.0 / other)
        return self.recorder.add(self.value / other.value, OVER, self.index, other.index)

    def __rtruediv__(self, other: Any) -> Any:
        if other == 0.0:
            return 0.0
        return self.recorder.add(other / self.value, OVER, self.recorder.constant(other), self.index)

    def __neg__(self) -> Any:
        return self * -1.0

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.recorder.add(abs(self.value), SIZE, self.index)

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, Active):
            raise NotRecordableError("a power that varies")
        if power in (0, 1, 2, 3):
            return (1.0, self, self * self, self * self * self)[int(power)]
        return self.recorder.add(self.value**power, POWER, self.index, self.recorder.constant(power))

    def __lt__(self, other: Any) -> bool:
        return self.recorder.holds(LESS, self, other, self.value < _value(other))

    def __gt__(self, other: Any) -> bool:
        return self.recorder.holds(LESS, other, self, _value(other) < self.value)

    def __le__(self, other: Any) -> bool:
        return self.recorder.holds(AT_MOST, self, other, self.value <= _value(other))

    def __ge__(self, other: Any) -> bool:
        return self.recorder.holds(AT_MOST, other, self, _value(other) <= self.value)

    def __eq__(self, other: object) -> bool:
        return self.recorder.holds(EQUAL, self, other, self.value == _value(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0.0

    __hash__ = None  # type: ignore[assignment]


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Active) else x


def _by(code: int, of: Callable) -> Callable:
    """A function of one number that is an operation."""
    return lambda x: x.recorder.add(of(x.value), code, x.index)


_root, _exp = _by(ROOT, np.sqrt), _by(EXP, np.exp)


def _sine(x: Active) -> Active:
    found = x.recorder.add(np.sin(x.value), SINE, x.index)
    # Its cosine is next.
    x.recorder.add(np.cos(x.value), COSINE, x.index)
    return found


def _cosine(x: Active) -> Active:
    _sine(x)
    return x.recorder.add(np.cos(x.value), COSINE, x.index)


def _sign(x: Active) -> float:
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0


def _is_nan(x: Active) -> bool:
    return x.recorder.holds(UNKNOWN, x, x, x.value != x.value)


def _is_finite(x: Active) -> bool:
    return _is_nan(x - x) is False


def _angle(y: Any, x: Any) -> Any:
    r = (y if isinstance(y, Active) else x).recorder
    return r.add(np.arctan2(_value(y), _value(x)), ANGLE, r.number(y), r.number(x))


def _of_two(code: int, plain: Callable) -> Callable:
    """min or max of any numbers, of which some are recorded."""

    def of(*given: Any) -> Any:
        given = tuple(given[0]) if len(given) == 1 else given
        found, *rest = given
        for x in rest:
            if isinstance(found, Active) or isinstance(x, Active):
                r = (found if isinstance(found, Active) else x).recorder
                found = r.add(plain(_value(found), _value(x)), code, *sorted((r.number(found), r.number(x))))
            else:
                found = plain(found, x)
        return found

    return of


least, most = _of_two(LEAST, min), _of_two(MOST, max)


RULES: dict[str, Callable] = {
    "sqrt": _root, "sin": _sine, "cos": _cosine, "tan": lambda x: _sine(x) / _cosine(x), "exp": _exp,
    "log": _by(LOG, np.log), "abs": abs, "absolute": abs, "fabs": abs, "sign": _sign,
    "hypot": lambda x, y: _root(x * x + y * y), "arctan2": _angle, "arctan": lambda x: _angle(x, 1.0),
    "arcsin": lambda x: _angle(x, _root(1.0 - x * x)), "arccos": lambda x: _angle(_root(1.0 - x * x), x),
    "sinh": lambda x: 0.5 * (_exp(x) - _exp(-x)), "cosh": lambda x: 0.5 * (_exp(x) + _exp(-x)),
    "tanh": lambda x: 1.0 - 2.0 / (_exp(2.0 * x) + 1.0), "radians": lambda x: x * (np.pi / 180.0),
    "square": lambda x: x * x, "isnan": _is_nan, "isfinite": _is_finite, "power": lambda x, y: x**y,
    "minimum": least, "maximum": most,
}  # fmt: skip
"""NumPy's functions of recorded numbers."""
RULES |= {"atan2": _angle, "atan": RULES["arctan"], "asin": RULES["arcsin"], "acos": RULES["arccos"]}


def _array(made: Callable) -> Callable:
    """NumPy's function that makes an array, which may hold recorded numbers."""

    def of(*given: Any, dtype: Any = None, **named: Any) -> Any:
        found = made(*given, dtype=dtype, **named)
        return found if dtype not in (None, float, np.float64) else found.astype(object)

    return of


def _room(*shape: int) -> Array:
    """`scratch` for recorded numbers."""
    return np.full(shape, 0.0, dtype=object)


def _factor(A: Array, pivots: Indices) -> int:
    """`kernels.lu_factor`, whose result does not depend on the choice of pivots, which is no condition."""
    n = len(A)
    pivots[:] = range(n)
    for k in range(n):
        row = max(range(k, n), key=lambda i: abs(_value(A[i, k])))
        if _value(A[row, k]) == 0.0:
            return k + 1
        A[[k, row]], pivots[[k, row]] = A[[row, k]], pivots[[row, k]]
        for i in range(k + 1, n):
            A[i, k] = f = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] = A[i, j] - f * A[k, j]
    return 0


def _largest_eigenvalue(S: Array) -> Any:
    """`kernels.largest_eigenvalue` of a positive S, where it is simple. Rotations, of more than two rows, depend on
    rounding: there by Newton's method for S x = lambda x, x x = 1, from that of the values."""
    n = len(S)
    values, vectors = np.linalg.eigh(np.array([[_value(x) for x in row] for row in S], dtype=float))
    size = values[-1]
    if not size - values[:-1].max(initial=0.0) > SIMPLE * size:
        raise NotRecordableError("several eigenvalues are the largest")
    if n == 2:
        return recordable(larger_eigenvalue)(S)
    z = np.array([*vectors[:, -1], 1.0], dtype=object)
    for k in range(NEWTON):
        J, right, pivots = _room(n + 1, n + 1), _room(n + 1), np.zeros(n + 1, dtype=np.int64)
        right[n] = 0.5
        for i in range(n):
            right[n] = right[n] - 0.5 * z[i] * z[i]
            for j in range(n):
                J[i, j] = S[i, j] * (1.0 / size)
                right[i] = right[i] - J[i, j] * z[j]
            right[i] = right[i] + z[n] * z[i]
            J[i, i], J[i, n], J[n, i] = J[i, i] - z[n], -z[i], z[i]
        step = _room(n + 1)
        _factor(J, pivots)
        recordable(lu_solve)(J, pivots, right, step)
        if k == NEWTON - 2 and not sum(x * x for x in step) <= CONVERGED:
            raise NotRecordableError("the largest eigenvalue is not simple enough")
        z = z + step
    return size * z[n]


def _settled(*_: Any) -> bool:
    """`estimate.has_settled`, `are_equal` and `newton.agree`, whose conditions do not change what a pass computes."""
    return True


def _turned(u: Array, start: Array) -> bool:
    """`newton.turns_back` of a slip that has not reversed, as at the end of passes."""
    start[:] = u
    return False


class _Functions:
    """A module of functions, with those of recorded numbers in front."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        plain = getattr(self._module, name)
        if name in ("zeros", "empty", "ones", "full", "eye", "zeros_like", "empty_like", "ones_like"):
            return _array(plain)
        if name not in RULES:
            return plain
        rule = RULES[name]
        return lambda *given: rule(*given) if any(isinstance(x, Active) for x in given) else plain(*given)


class _Kernels:
    """Another module, with its kernels as functions of recorded numbers."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _replaced(getattr(self._module, name))


MODULES = {np: _Functions(np), math: _Functions(math)}


def _names(code: CodeType) -> set[str]:
    inner = (_names(x) for x in code.co_consts if isinstance(x, CodeType))
    return set(code.co_names).union(*inner)


def _replaced(thing: Any) -> Any:
    """What stands for a thing that a recordable function refers to."""
    if thing is scratch or thing is scratch_matrix:
        return _room
    if thing is lu_factor:
        return _factor
    if thing is largest_eigenvalue:
        return _largest_eigenvalue
    if thing is has_settled or thing is are_equal or thing is agree:
        return _settled
    if thing is turns_back:
        return _turned
    if isinstance(thing, FunctionType) and thing.__module__.partition(".")[0] == "numpy":
        return thing
    if isinstance(thing, Kernel | FunctionType) or hasattr(thing, "py_func"):
        return recordable(thing)
    if isinstance(thing, ModuleType):
        return MODULES.get(thing) or _Kernels(thing)
    return thing


@cache
def recordable(function: Any) -> Callable:
    """A kernel as a function of recorded numbers."""
    plain: Any = python_of(function)
    own = {"abs": abs, "min": least, "max": most, "__builtins__": plain.__globals__["__builtins__"]}
    cells = tuple(CellType() for _ in plain.__closure__ or ())
    found = FunctionType(plain.__code__, own, plain.__name__, plain.__defaults__, cells)
    # A function that calls itself finds this one.
    for name in _names(plain.__code__) & plain.__globals__.keys():
        own[name] = found if plain.__globals__[name] is function else _replaced(plain.__globals__[name])
    for cell, there in zip(cells, plain.__closure__ or (), strict=True):
        cell.cell_contents = _replaced(there.cell_contents)
    return found


UNRECORDABLE = NotRecordableError, AttributeError, IndexError, TypeError, ValueError, ZeroDivisionError
"""What interpreting a kernel with recorded numbers may raise."""


def with_numbers(packed: Packed) -> Any:
    """The arrays and numbers of a packed object, which may be replaced by recorded ones, also in their `buffer`."""
    numbers = packed.buffer.astype(object)
    found = SimpleNamespace(buffer=numbers)
    for name, shape in (packed.fields | dict.fromkeys(packed.spans, ("span",))).items():
        own = getattr(packed, name)
        if name in packed.integers or shape == ():
            setattr(found, name, own.copy() if shape else own)
        else:
            setattr(found, name, numbers[packed.place(name)].reshape(own.shape))
    return found


def frictionless(solve: Any) -> Callable:
    """The solver of an LCP with recorded numbers: by its linear system where those unknowns are zero that are."""

    def of(M: Array, q: Array, lower: Array, upper: Array, mu: Array, d: int, z: Array, info: Indices) -> int:
        values, n = [np.array([_value(x) for x in A.flat]).reshape(A.shape) for A in (M, q, lower, upper)], len(q)
        found = np.zeros(n)
        status = int(solve(*values, np.zeros(0), d, found, info))
        if status != Status.SOLVED:
            return status
        bears = np.flatnonzero(found > 0.0)
        A, pivots, x = M[np.ix_(bears, bears)].copy(), np.zeros(bears.size, dtype=np.int64), _room(bears.size)
        if _factor(A, pivots):
            return int(Status.SINGULAR)
        recordable(lu_solve)(A, pivots, -q[bears], x)
        z[:] = 0.0
        z[bears] = x
        for i in range(n):
            w = q[i]
            for k, j in enumerate(bears):
                w = w + M[i, j] * x[k]
            if i not in bears and (_value(w) <= TIE * np.abs(values[1]).max() or not w > 0.0):
                raise BetweenModesError("a contact between two modes")
        if any(_value(one) <= TIE * found.max() or not one > 0.0 for one in x):
            raise BetweenModesError("a contact between two modes")
        return status

    return of
