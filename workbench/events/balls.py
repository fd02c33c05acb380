"""A case's mechanics in ball arithmetic: power series in time whose coefficients are balls (midpoint and radius).

The functions `fill` and `advance` of a case are run as Python over `Ball` instead of doubles, so that the enclosed
motion is that of the simulated equations, and no formula is written twice. Parameters are the case's doubles as exact
numbers. A ball contains the exact result of every operation (Johansson 2017, Arb, IEEE Trans. Comput. 66); a comparison
that a ball does not decide raises `UndecidedError`, and no ball is converted to a double implicitly.
"""

from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from flint import arb, arb_series
from numpy.typing import NDArray

from workbench.engine.interpreted import python_of
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.mechanics.case import Array, Case
from workbench.support.errors import DataError, WorkbenchError

Balls = NDArray[Any]
"""An array of `Ball`s; it may contain exact numbers."""


class UndecidedError(WorkbenchError):
    """Something that balls do not prove; the message says what, in one line."""


class Ball:
    """A power series (`arb_series`) with balls as coefficients and the order up to which it is known, or a constant
    (`arb`), which is known to every order.

    Comparisons are of the constant terms. Over a box that contains a whole step they hold for the whole step.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value if type(value) is arb_series or type(value) is arb else arb(float(value))

    def coefficient(self, k: int) -> arb:
        """The coefficient of the power k. Raises IndexError where it is not known."""
        if isinstance(self.value, arb):
            return self.value if k == 0 else arb(0)
        if k >= self.value.prec:
            raise IndexError(f"coefficient {k} of a series that is known up to order {self.value.prec - 1}")
        return self.value[k]

    @property
    def is_zero(self) -> bool:
        """True if it is exactly zero; unknown coefficients of a series may have any value."""
        return type(self.value) is arb and self.value.is_zero()

    def derivative(self) -> "Ball":
        return Ball(arb(0) if isinstance(self.value, arb) else self.value.derivative())

    def __add__(self, other: Any) -> "Ball":
        if type(other) is not Ball:
            if not _is_number(other):
                return NotImplemented
            other = Ball(other)
        return Ball(self.value + other.value)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Ball":
        return self + -other

    def __rsub__(self, other: Any) -> "Ball":
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Ball:
            if not _is_number(other):
                return NotImplemented
            other = Ball(other)
        # Zero times an unknown coefficient is zero.
        return ZERO if self.is_zero or other.is_zero else Ball(self.value * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Ball":
        if not _is_number(other):
            return NotImplemented
        other = as_ball(other)
        if other.coefficient(0).contains(0):
            raise UndecidedError("a divisor may be zero")
        return ZERO if self.is_zero else Ball(self.value / other.value)

    def __rtruediv__(self, other: Any) -> "Ball":
        return as_ball(other) / self

    def __pow__(self, power: int) -> "Ball":
        if power != 2:
            raise DataError(f"power {power}: squares are taken of balls")
        return self * self

    def __neg__(self) -> "Ball":
        return Ball(-self.value)

    def __abs__(self) -> "Ball":
        return self if self >= 0 else -self

    def __lt__(self, other: Any) -> bool:
        return _decided(self - other, lambda x: x < 0, lambda x: x >= 0)

    def __le__(self, other: Any) -> bool:
        return _decided(self - other, lambda x: x <= 0, lambda x: x > 0)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __eq__(self, other: Any) -> bool:
        return _decided(self - other, lambda x: x.is_zero(), lambda x: not x.contains(0))

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self != 0

    def sin(self) -> "Ball":
        return Ball(self.value.sin())

    def cos(self) -> "Ball":
        return Ball(self.value.cos())

    def exp(self) -> "Ball":
        return Ball(self.value.exp())

    def sqrt(self) -> "Ball":
        if not self > 0:
            raise UndecidedError("a root of what is not positive")
        return Ball(self.value.sqrt())


def _is_number(x: Any) -> bool:
    return isinstance(x, Ball | float | int | np.floating | np.integer)


def as_ball(x: Any) -> Ball:
    """Convert a number to a ball; doubles are exact."""
    return x if type(x) is Ball else Ball(x)


ZERO, ONE = Ball(0), Ball(1)


def _decided(x: Ball, yes: Callable[[arb], bool], no: Callable[[arb], bool]) -> bool:
    value = x.coefficient(0)
    if yes(value):
        return True
    if no(value):
        return False
    raise UndecidedError(f"the sign of {value.str(3)} is not proved")


class Dual:
    """a + b h for an infinitesimal h: derivatives with respect to the step of `advance`.

    `squares` are the arguments of the square roots in the last `advance`.
    """

    __slots__ = ("a", "b")
    squares: ClassVar[list["Dual"]] = []

    def __init__(self, a: Any, b: Any = 0.0) -> None:
        self.a, self.b = as_ball(a), as_ball(b)

    def __add__(self, other: Any) -> "Dual":
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = as_dual(other)
        return Dual(self.a + other.a, self.b + other.b)

    __radd__ = __add__

    def __neg__(self) -> "Dual":
        return Dual(-self.a, -self.b)

    def __sub__(self, other: Any) -> "Dual":
        return self + -other

    def __rsub__(self, other: Any) -> "Dual":
        return -self + other

    def __mul__(self, other: Any) -> "Dual":
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = as_dual(other)
        return Dual(self.a * other.a, self.a * other.b + self.b * other.a)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Dual":
        other = as_dual(other)
        quotient = self.a / other.a
        return Dual(quotient, (self.b - quotient * other.b) / other.a)

    def __pow__(self, power: int) -> "Dual":
        return Dual(self.a**power, 2 * self.a * self.b)

    def sqrt(self) -> "Dual":
        """Return one: roots in `advance` are norms of unit quaternions, which stay one (proved by `BallMechanics`)."""
        self.squares.append(self)
        return Dual(ONE)


def as_dual(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(x)


def _zeros(shape: Any) -> Balls:
    return np.full(shape, ZERO)


def _radians(x: Any) -> Ball:
    return as_ball(x) * Ball(arb.pi()) / 180


NUMPY = SimpleNamespace(sin=np.sin, cos=np.cos, sqrt=np.sqrt, radians=_radians, zeros=_zeros, empty=_zeros)
"""NumPy functions that kernels may use; for objects they call the methods."""
WORK_ARRAYS: dict[Any, Callable] = {scratch: lambda n: _zeros(n), scratch_matrix: lambda n, m: _zeros((n, m))}
"""Work arrays of kernels, as arrays of objects."""
HEADING = "head"
"""Kernels of this name write the yaw. Coulomb's law does not need it, and some are undefined at single instants."""


def _nothing(*_: Any) -> None:
    pass


@cache
def over_balls(function: Callable) -> Callable:
    """Turn a kernel, and the kernels that it calls, into Python functions whose arrays hold objects."""
    python = python_of(function)
    if not isinstance(python, FunctionType):
        # A case's method, in Python.
        return python
    names = dict(python.__globals__)
    for name in python.__code__.co_names:
        found = names.get(name)
        if found is np:
            names[name] = NUMPY
        elif found in WORK_ARRAYS:
            names[name] = WORK_ARRAYS[found]
        elif hasattr(found, "py_func"):
            names[name] = _nothing if name == HEADING else over_balls(found)
    return FunctionType(python.__code__, names, python.__name__, python.__defaults__, python.__closure__)


class BallDynamics(NamedTuple):
    """A state at acceleration level in balls, as `second_order.Dynamics`: M (n, n), f (n,), J_n (r, n), J_t (r, d, n);
    biases c_n (r,), c_t (r, d) [m/s2]; phi (r,) [m]; u_n (r,), u_t (r, d) [m/s]; mu, mu_s, e (r,); rate (n_q,)."""

    M: Balls
    f: Balls
    J_n: Balls
    J_t: Balls
    c_n: Balls
    c_t: Balls
    phi: Balls
    u_n: Balls
    u_t: Balls
    mu: Balls
    mu_s: Balls
    e: Balls
    rate: Balls


class BallMechanics:
    """The mechanics of a case without bilateral rows in ball arithmetic; raises UndecidedError for other cases."""

    def __init__(self, case: Case) -> None:
        if case.size[1]:
            raise UndecidedError(f"{case.name}: motions with bilateral constraints are not enclosed")
        self.case, self.data = case, np.array([Ball(x) for x in case.data()])
        self._fill, self._advance = over_balls(case.fill), over_balls(case.advance)
        self._prove_norms()

    def at(self, q: Sequence[Ball], v: Sequence[Ball], pace: Ball = ONE) -> BallDynamics:
        """The mechanics for coordinates q (n_q,) and velocities v (n,), series known up to an order k; `pace` is the
        derivative of time by the series' variable.

        All is known up to k. The rates of rows at fixed v need a derivative, and the next coefficients of the
        coordinates follow from the last ones of the velocities.
        """
        case = self.case
        n, _, r, d = case.size
        velocities = np.array(v)
        rate = self._rate(np.array(q), velocities)
        core = self._core([_integral(x, pace * dx) for x, dx in zip(q, rate, strict=True)], velocities)
        J_t, r_t = core.J_t.reshape(r, d, n), core.r_t.reshape(r, d)
        return BallDynamics(
            core.M, core.f, core.J_n, J_t,
            (_derivatives(core.J_n) @ velocities + _derivatives(core.r_n)) / pace,
            (_derivatives(J_t) @ velocities + _derivatives(r_t)) / pace,
            core.phi, core.J_n @ velocities + core.r_n, J_t @ velocities + r_t, core.mu, core.mu_s, core.e, rate,
        )  # fmt: skip

    def _prove_norms(self) -> None:
        """Prove that quaternions have norm one at the start and keep it, so that balls need no normalisation.

        The rate of a squared norm is a quadratic form in q and linear in v, hence zero if it is zero at these points.
        """
        q, v = (np.array([Ball(x) for x in y]) for y in self.case.start())
        self._rate(q, v)
        if not all(square.a == 1 for square in Dual.squares):
            raise UndecidedError("a quaternion of the start has another norm than one")
        points, rates = np.eye(len(q)), np.eye(len(v))
        for i, j, k in np.ndindex(len(q), len(q), len(v)) if Dual.squares else ():
            self._rate(each(Ball, points[i] + points[j]), each(Ball, rates[k]))
            if not all(square.b.coefficient(0).is_zero() for square in Dual.squares):
                raise UndecidedError("the norms of quaternions change")

    def _rate(self, q: Balls, v: Balls) -> Balls:
        Dual.squares.clear()
        there = np.empty(q.shape, dtype=object)
        self._run(self._advance, q, v, Dual(0.0, 1.0), self.data, there)
        return np.array([as_dual(x).b for x in there])

    def _core(self, q: Sequence[Ball], v: Balls) -> SimpleNamespace:
        n, _, r, d = self.case.size
        core = SimpleNamespace(
            M=_zeros((n, n)), f=_zeros(n), J_b=_zeros((0, n)), g=_zeros(0), r_b=_zeros(0), J_n=_zeros((r, n)),
            phi=_zeros(r), r_n=_zeros(r), J_t=_zeros((d * r, n)), r_t=_zeros(d * r), mu=_zeros(r), mu_s=_zeros(r),
            e=_zeros(r), heading=_zeros((r, 2)), eps_n=_zeros(r), eps_t=_zeros(d * r), v=v,
        )  # fmt: skip
        self._run(self._fill, np.array(q), v, self.data, core)
        for name, value in vars(core).items():
            setattr(core, name, each(as_ball, value))
        return core

    def _run(self, function: Callable, *arguments: Any) -> None:
        try:
            function(*arguments)
        except (TypeError, AttributeError, ValueError) as error:
            raise UndecidedError(f"{self.case.name}: its mechanics do not take balls: {error}") from None


def _integral(x: Ball, rate: Ball) -> Ball:
    """The series with the constant term of x and this derivative; it is known to one order more."""
    known = rate.value
    series = arb_series([known], x.value.prec) if isinstance(known, arb) else known
    return Ball(series.integral() + x.coefficient(0))


def _derivatives(X: Balls) -> Balls:
    return each(Ball.derivative, X)


def each(function: Callable, X: Balls) -> Balls:
    """Apply a function to every entry."""
    found = np.empty(X.size, dtype=object)
    found[:] = [function(x) for x in X.flat]
    return found.reshape(X.shape)


def double(x: Array) -> Balls:
    """Doubles (k,) as exact numbers."""
    return np.array([arb(float(y)) for y in x])
