"""A formulation: a function from contact symbols to a declaration, with a name, a source and options."""

import inspect
import typing
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from workbench.engine.lazy import cvxpy as cp
from workbench.engine.travel import Travelling, found_elsewhere
from workbench.language.modelling import Declaration, Equals, equals, free, leaves, nonneg
from workbench.mechanics.core import SHARED
from workbench.mechanics.law import COULOMB, Law
from workbench.support.errors import ModellingError, UnknownNameError, WorkbenchError
from workbench.support.own_code import reason_of


class Symbols(ABC):
    """Symbols of a formulation: sizes (the fields), data as CVXPY parameters, and the names of the results."""

    about: ClassVar[str]
    needed: ClassVar[frozenset[str]] = frozenset()
    """Names that every declaration must recover; the rest of `answer` is optional."""

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters, in their order in the parameter vector."""

    @property
    @abstractmethod
    def answer(self) -> dict[str, int]:
        """Names and lengths of the recovered quantities, in their order in `Work.out`."""

    @abstractmethod
    def make(self, name: str) -> Any:
        """Return the symbol of this name, or its replacement if it has no entries; raises KeyError if unknown."""

    def __reduce__(self) -> tuple:
        # CVXPY objects are not pickled but created again.
        return type(self), tuple(getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        # Created on demand: names and shapes alone must not import CVXPY.
        if not vars(self):
            # While it is being copied or unpickled it has no sizes yet.
            raise AttributeError(name)
        try:
            symbol = self.make(name)
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__} has no '{name}'; it has {', '.join(self.shapes)}; what depends on other data "
                "is a parameter of your own that a hook fills"
            ) from None
        object.__setattr__(self, name, symbol)
        return symbol

    @classmethod
    def sizes(cls) -> str:
        """Names of the sizes, such as (n, m, r, d)."""
        return f"({', '.join(f.name for f in fields(cls))})"  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class ContactSymbols(Symbols):
    """The symbols of formulary section 1 for n velocities, m bilateral rows, r contacts, d friction directions.

    d is 1 in the plane, 2 in space, 3 with torsion about the normal, 5 with rolling as well, and less if some of these
    directions have no friction.

    b = M v + h f; b_n, b_t, b_b are the constants of the constraint rows (prescribed rates, and the gap term or
    restitution if the run's normal law has them); eps_* are constraint relaxations, zero for rigid contact.
    """

    n: int
    m: int
    r: int
    d: int
    about = "one time step"
    needed = frozenset({"v", "p_n"})

    def __post_init__(self) -> None:
        if not 1 <= self.d <= 5:
            raise ModellingError(f"d = {self.d} friction directions; 1 in the plane, 2 in space, up to 5 are needed")
        if self.r < 1:
            raise ModellingError(f"{self.r} contacts; a formulation needs at least one")

    def make(self, name: str) -> Any:
        if name == "p_b":
            return free("p_b", self.m) if self.m else None
        shape = self.shapes[name]
        return leaves.CoreSymbol(shape, name=name) if 0 not in shape else None

    def __str__(self) -> str:
        return f"n = {self.n} velocities, m = {self.m} bilateral rows, r = {self.r} contacts, d = {self.d} tangents"

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return core_shapes(self.n, self.m, self.r, self.d)

    @property
    def answer(self) -> dict[str, int]:
        return {"v": self.n, "p_n": self.r, "p_t": self.d * self.r, "p_b": self.m}

    def balance(self, v: Any, p_n: Any, p_t: Any = None, p_b: Any = None) -> Any:
        """M v+ - (M v + h f) - J_n^T p_n - J_t^T p_t - J_b^T p_b, which is zero by the dynamics (D).

        p_b is the step's own unless another is given, for a second velocity of the same step.
        """
        F = self.M @ v - self.b - self.J_n.T @ p_n
        if p_t is not None:
            F = F - self.J_t.T @ p_t
        return F - self.J_b.T @ (self.p_b if p_b is None else p_b) if self.m else F

    def bilateral(self, v: Any, p_b: Any = None) -> tuple[Equals, ...]:
        """J_b v+ + b_b + eps_b p_b = 0, with p_b as in `balance`; no rows if there are no bilateral constraints."""
        if not self.m:
            return ()
        return (equals(self.J_b @ v + self.b_b + cp.multiply(self.eps_b, self.p_b if p_b is None else p_b)),)

    def un(self, v: Any, p_n: Any) -> Any:
        """Normal law J_n v+ + b_n + eps_n p_n (r,) [m/s]."""
        return self.J_n @ v + self.b_n + cp.multiply(self.eps_n, p_n)

    def ut(self, v: Any, p_t: Any) -> Any:
        """Sliding velocity J_t v+ + b_t + eps_t p_t (d r,) [m/s]."""
        return self.J_t @ v + self.b_t + cp.multiply(self.eps_t, p_t)


def core_shapes(n: int, m: int, r: int, d: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the core parameters, in their order in the parameter vector."""
    sizes = dict(n=n, m=m, r=r, t=d * r)
    return {name: tuple(sizes[s] for s in shape) for name, shape in SHARED.items()}


@dataclass(frozen=True, eq=False)
class SlidingSymbols(Symbols):
    """The blocks of formulary section 5 for m_b bilateral and m_u unilateral contacts, all of them sliding.

    `lambda_plus`, `lambda_minus` are the parts of the bilateral multipliers, `lambda_nu` the unilateral ones. If a size
    is zero, its blocks and unknowns are empty arrays, which drop out of every sum.
    """

    m_b: int
    m_u: int
    about = "sliding contacts at one instant"

    def __post_init__(self) -> None:
        if self.m_b + self.m_u < 1:
            raise ModellingError("no contact at all; a sliding problem needs at least one")

    def make(self, name: str) -> Any:
        unknowns = {
            "lambda_plus": ("lambda+", free, self.m_b), "lambda_minus": ("lambda-", nonneg, self.m_b),
            "lambda_nu": ("lambda_nu", nonneg, self.m_u),
        }  # fmt: skip
        if name in unknowns:
            symbol, kind, size = unknowns[name]
            return kind(symbol, size) if size else np.zeros(0)
        shape = self.shapes[name]
        return leaves.CoreSymbol(shape, name=name) if 0 not in shape else np.zeros(shape)

    def __str__(self) -> str:
        return f"m_b = {self.m_b} bilateral contacts, m_u = {self.m_u} unilateral contacts, all of them sliding"

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        b, u = self.m_b, self.m_u
        return {
            "A": (b, b), "Abar": (b, b), "B": (b, u), "w_1": (b,), "C": (u, b), "Cbar": (u, b), "D": (u, u), "w_2": (u,)
        }  # fmt: skip

    @property
    def answer(self) -> dict[str, int]:
        return {"lambda_nb": self.m_b, "lambda_nu": self.m_u}


SPRINGS = "timeconst", "stiffness"
"""Options that give contacts their own compliance."""


ASKING = {
    "axes": {
        "fixed": "contacts slide along the axes", "body": "contacts slide along axes of the body",
        "sliding": "contacts slide in slowly changing directions",
    },
    "bounds": {"last": "normal forces change little from step to step"},
}  # fmt: skip
"""Options whose values restrict the motions on which the formulation agrees with Coulomb's law."""


@dataclass(frozen=True)
class Formulation:
    """A named declaration with its options; `declaration` builds it for one size."""

    name: str
    build: Callable[..., Declaration]
    friction: str
    source: str
    defaults: dict[str, Any]
    kinds: dict[str, Any]
    symbols: type[Symbols] = ContactSymbols
    chosen: dict[str, Any] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    declared: str = ""

    def __hash__(self) -> int:
        return hash(self.label)

    def __reduce__(self) -> tuple:
        # The module attribute with the function's name is the Formulation that the decorator put there.
        known = getattr(found_elsewhere(self.build), "build", None) is self.build
        where = (self.build.__module__, self.build.__qualname__) if known else (None, Travelling(self.build))
        others = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "build"}
        return _restore, (*where, others)

    @property
    def options(self) -> dict[str, Any]:
        return self.defaults | self.chosen

    @property
    def axes(self) -> str | None:
        """Return the tangent axes in use (the option `axes`), or None without this option, as in isotropic friction.

        `with_options(axes="sliding")` returns the same formulation with other axes.
        """
        return self.options.get("axes")

    def condition(self, d: int) -> str:
        """Return the condition for motions as under Coulomb's law with d tangents, in words that follow "as long as".

        It joins the declared condition and those of the options (`ASKING`); in the plane, axes impose none. Empty if
        nothing is known.
        """
        asking = [name for name in ASKING if d > 1 or name != "axes"]
        by_options = [ASKING[name].get(self.options.get(name, "")) for name in asking]
        return " and ".join(filter(None, [self.declared, *by_options]))

    @property
    def soft(self) -> bool:
        """True if its contacts respond to penetration: it has a time constant or a stiffness of its own."""
        return any(name in self.options for name in SPRINGS)

    @property
    def label(self) -> str:
        """The name with the options that differ from their defaults, in command-line syntax."""
        chosen = _listed({k: v for k, v in self.chosen.items() if v != self.defaults[k]})
        return f"{self.name}:{chosen}" if chosen else self.name

    @property
    def listed_options(self) -> str:
        """All options, including defaults, in command-line syntax."""
        return _listed(self.options)

    @property
    def option_rows(self) -> list[tuple[str, str, str, str]]:
        """For every option: its name, its value, the allowed values, and its meaning in words."""
        return [(k, _plain(x), _values(self.kinds[k]), self.meanings.get(k, "")) for k, x in self.options.items()]

    @property
    def described_options(self) -> dict[str, str]:
        """For every option: its value, the allowed values and its meaning in words."""
        return {k: f"{x}, {taken}{meaning and f': {meaning}'}" for k, x, taken, meaning in self.option_rows}

    def with_options(self, **options: Any) -> "Formulation":
        """Return the formulation with other options; raises UnknownNameError or ModellingError."""
        for key, value in options.items():
            if key not in self.defaults:
                known = [f"{k} (default {_plain(v)})" for k, v in self.defaults.items()]
                raise UnknownNameError(f"option of {self.name}", key, known or ["none"])
            options[key] = _option(self.name, key, value, self.kinds[key])
        return replace(self, chosen=self.chosen | options)

    def declaration(self, *size: int) -> Declaration:
        """Return the declaration for one size, for a time step (n, m, r, d); raises ModellingError."""
        if len(size) != len(fields(self.symbols)):  # type: ignore[arg-type]
            raise ModellingError(
                f"{self.name} is about {self.symbols.about}, of size {self.symbols.sizes()}; {size} was given"
            )
        s = self.symbols(*size)
        declaration = self._built(s)
        answer, given = {name for name, length in s.answer.items() if length}, set(declaration.recover)
        needed = s.needed or answer
        if not needed <= given <= set(s.answer):
            others = sorted(set(s.answer) - needed)
            may = f", and may have {' and '.join(others)}" if others else ""
            raise ModellingError(
                f"{self.name}: recover has {sorted(given)}; it needs {' and '.join(sorted(needed, reverse=True))}{may}"
            )
        acting = {p.name() for F in declaration.expressions for p in F.parameters()}
        if "J_t" in acting and "p_t" in s.answer and "p_t" not in given:
            raise ModellingError(
                f"{self.name}: J_t acts in the relations; recover needs p_t, the friction impulses, too"
            )
        return declaration

    @cached_property
    def law(self) -> Law:
        """The law that it discretises, read from its declaration for one contact; Coulomb's if that declares none."""
        from workbench.language.values import by_values

        if self.symbols is not ContactSymbols:
            return COULOMB
        try:
            with by_values():
                return self.declaration(3, 0, 1, 2).law
        except Exception:
            # It uses more of CVXPY than `values` covers, or declares nothing for a contact in space.
            try:
                return self.declaration(3, 0, 1, 2).law
            except ModellingError:
                return COULOMB

    def _built(self, s: Symbols) -> Declaration:
        """Build the declaration; an error in the function becomes a ModellingError that names the line."""
        file = self.build.__code__.co_filename
        try:
            with warnings.catch_warnings():
                # Between vectors CVXPY reads * as a scalar product, warns, and continues; that is hardly what was
                # meant.
                warnings.filterwarnings("error", message=r"\s*This use of ``\*`` has resulted")
                declaration = self.build(s, **_arguments(self.build, self.options))
        except WorkbenchError:
            raise
        except Exception as error:
            raise ModellingError(f"{self.name}: {Path(file).name}, {reason_of(error, file)}") from error
        if not isinstance(declaration, Declaration):
            raise ModellingError(f"{self.name} returns {type(declaration).__name__}; it has to return declare(...)")
        return declaration


def _values(kind: Any) -> str:
    """The values that an annotation allows, in words."""
    if typing.get_origin(kind) is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(kind)))
    members = typing.get_args(kind)
    return " or ".join(map(_values, members)) if members else {int: "a whole number", float: "a number"}[kind]


def _is_option_type(kind: Any) -> bool:
    if typing.get_origin(kind) is typing.Literal:
        return True
    members = typing.get_args(kind)
    return all(map(_is_option_type, members)) if members else kind in (int, float)


def _restore(module: str | None, build: Any, others: dict[str, Any]) -> Formulation:
    """Restore a formulation whose function is found by module and name, or was pickled with it."""
    return Formulation(build=build if module is None else attrgetter(build)(import_module(module)).build, **others)


def _listed(options: dict[str, Any]) -> str:
    return ",".join(f"{k}={_plain(v)}" for k, v in options.items())


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _option(formulation: str, key: str, value: Any, kind: Any) -> Any:
    """Convert `value` (perhaps text) to the annotated type: int, float, a Literal of words, or a union of these."""
    words: list[str] = []
    for k in (
        typing.get_args(kind) if typing.get_origin(kind) is not typing.Literal and typing.get_args(kind) else (kind,)
    ):
        if typing.get_origin(k) is typing.Literal:
            words += typing.get_args(k)
            if value in typing.get_args(k):
                return value
        else:
            words.append({int: "a whole number", float: "a number"}[k])
            try:
                number = k(value)
            except (TypeError, ValueError, OverflowError):
                continue
            if number == float(value) and not np.isnan(number):
                return number
    raise ModellingError(f"{formulation}: option {key}={value} is not {' or '.join(words)}")


@cache
def groups_of(build: Callable[..., Declaration]) -> dict[str, Any]:
    """Parameters of a formulation's function that stand for a group of options, with their dataclasses."""
    _, *parameters = inspect.signature(build).parameters.values()
    hints = typing.get_type_hints(build)
    kinds: dict[str, Any] = {p.name: hints.get(p.name) for p in parameters if is_dataclass(p.default)}
    return {name: kind for name, kind in kinds.items() if is_dataclass(kind)}


def _arguments(build: Callable[..., Declaration], options: dict[str, Any]) -> dict[str, Any]:
    """The options as arguments of the function: those of a group are combined into its dataclass."""
    found = dict(options)
    for name, kind in groups_of(build).items():
        found[name] = kind(**{f.name: found.pop(f.name) for f in fields(kind)})
    return found


def formulation(
    name: str, *, friction: str, source: str, condition: str = ""
) -> Callable[[Callable[..., Declaration]], Formulation]:  # fmt: skip
    """Make a Formulation of a function (s: ContactSymbols or SlidingSymbols, **options) -> Declaration.

    The annotation of the first parameter says what the formulation is stated over. The other parameters are the
    options. A parameter whose annotation and default are a dataclass stands for a group of options, its fields, which
    formulations may share. Annotations (int, float, Literal[...], unions) are the values allowed, and
    `Annotated[int, "meaning"]` adds the meaning in words. `friction` names the friction model in words, `source` the
    paper and equation; `condition` completes "moves as under Coulomb's law as long as ...", in addition to the
    conditions of its options (`ASKING`).
    """

    def register(build: Callable[..., Declaration]) -> Formulation:
        first, *parameters = inspect.signature(build).parameters.values()
        defaults: dict[str, Any] = {}
        hints, full = typing.get_type_hints(build), typing.get_type_hints(build, include_extras=True)
        symbols = hints.get(first.name, ContactSymbols)
        for p in parameters:
            if p.name in (groups := groups_of(build)):
                kind = groups[p.name]
                hints |= typing.get_type_hints(kind)
                full |= typing.get_type_hints(kind, include_extras=True)
                defaults |= {f.name: getattr(p.default, f.name) for f in fields(kind)}
            else:
                defaults[p.name] = p.default
        for key, default in defaults.items():
            if default is inspect.Parameter.empty or not _is_option_type(hints.get(key)):
                raise ModellingError(
                    f"{name}: option '{key}' needs a default and an annotation: int, float, Literal[...] or a union"
                )
        meanings = {k: full[k].__metadata__[0] for k in defaults if hasattr(full[k], "__metadata__")}
        kinds = {k: hints[k] for k in defaults}
        return Formulation(
            name, build, friction, source, defaults, kinds, symbols, meanings=meanings, declared=condition
        )

    return register
