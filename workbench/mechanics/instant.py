"""Contact data of one instant where contacts come and go: sparse, and every contact with directions of its own."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, set_all
from workbench.engine.layout import Packed
from workbench.engine.lazy import sparse
from workbench.engine.stored import STORED, Stored, add_product, as_sparse, as_stored, stored
from workbench.support.arrays import Array
from workbench.support.errors import DataError

KINDS = {0: "frictionless", 1: "planar", 2: "sliding", 3: "sliding and torsion", 5: "sliding, torsion and rolling"}
"""Number of friction directions, and the motions that friction of the contact resists."""


class Places(NamedTuple):
    """Positions, bodies and axes of the r contacts of an instant, for drawings and for net forces of bodies.

    point (r, 3) [m]; pair (r, 2) numbers of the two bodies, -1 for what does not move; acts (R, 6) what a unit of
    impulse along each row is on the second body, a force along acts[:3] and a moment acts[3:] about the point, in the
    axes of the world, and the opposite on the first. For limits of joints pair is (-1, -1).
    """

    point: Array
    pair: NDArray[np.int64]
    acts: Array

    @classmethod
    def unset(cls, r: int, R: int) -> "Places":
        """Return room for the places of contacts."""
        return cls(np.empty((r, 3)), np.empty((r, 2), dtype=np.int64), np.empty((R, 6)))


PLACES = argument_type(Places, MATRIX, types.Array(types.int64, 2, "C"), MATRIX)


class InstantArrays(Packed):
    """The numbers of an `Instant`, as kernels take them; M, J, J_b and J_f by rows (`engine.stored`)."""

    sizes = (
        "n", "r", "ends", "R", "m", "k", "M_ends", "M_entries", "J_ends", "J_entries", "J_b_ends", "J_b_entries",
        "J_f_ends", "J_f_entries",
    )  # fmt: skip
    integers = (
        "first", "key", "M_pointer", "M_column", "J_pointer", "J_column", "J_b_pointer", "J_b_column", "J_f_pointer",
        "J_f_column",
    )  # fmt: skip
    fields: ClassVar[dict[str, tuple]] = {
        "h": (), "v": ("n",), "f": ("n",), "M_pointer": ("M_ends",), "M_column": ("M_entries",),
        "M_data": ("M_entries",), "first": ("ends",), "key": ("r",), "phi": ("r",), "e": ("r",), "heading": ("r", 2),
        "mu": ("R",), "rate": ("R",), "eps": ("R",), "J_pointer": ("J_ends",), "J_column": ("J_entries",),
        "J_data": ("J_entries",), "g": ("m",), "r_b": ("m",), "eps_b": ("m",), "J_b_pointer": ("J_b_ends",),
        "J_b_column": ("J_b_entries",), "J_b_data": ("J_b_entries",), "limit": ("k",), "r_f": ("k",), "eps_f": ("k",),
        "J_f_pointer": ("J_f_ends",), "J_f_column": ("J_f_entries",), "J_f_data": ("J_f_entries",),
    }  # fmt: skip
    spans: ClassVar[dict[str, tuple[str, str]]] = {"free": ("h", "f")}

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


INSTANT = InstantArrays.compiled
MATRICES = {"M": ("n", "n"), "J": ("R", "n"), "J_b": ("m", "n"), "J_f": ("k", "n")}


@dataclass(frozen=True, eq=False)
class Instant:
    """Formulary section 1 with n velocities and r contacts, contact i with d_i friction directions (`KINDS`).

    The rows first[i]:first[i + 1] of J (R, n), rate (R,) [m/s], eps (R,) [1/kg] and mu (R,) are those of contact i, its
    normal first; first (r + 1,). Every direction has a friction coefficient of its own, that of torsion and rolling in
    metres; that of a normal is 1. phi (r,) gap [m], e (r,) restitution. A limit of a joint is a contact of no
    direction. `key` (r,) is the same number at the next step for the same two features; `heading` (r, 2) a unit tangent
    that turns with the bodies, in the first two directions.

    M (n, n) sparse SPD, v, f (n,), h [s]. Bilateral rows J_b (m, n), g, r_b, eps_b (m,). Rows of dry friction J_f
    (k, n) with |p_f| <= limit (k,) [N s], rates r_f and compliances eps_f (k,).
    `numbers` holds options of formulations that single contacts have for themselves, name by name, (r,) each; `places`
    says where the contacts are, None where that is not known.
    Raises DataError naming what is wrong.
    """

    h: float
    M: Any
    v: Array
    f: Array
    first: NDArray[np.int64]
    J: Any
    mu: Array
    phi: Array
    rate: Array
    e: Array
    eps: Array
    key: NDArray[np.int64]
    heading: Array
    J_b: Any
    g: Array
    r_b: Array
    eps_b: Array
    J_f: Any
    limit: Array
    r_f: Array
    eps_f: Array
    numbers: dict[str, Array] = field(default_factory=dict)
    places: Places | None = None

    def __post_init__(self) -> None:
        _find_fault(self)
        packed = self.arrays
        # From here on they are views of these.
        for name in (*packed.fields, *MATRICES):
            self.__dict__.pop(name, None)

    @classmethod
    def of_kernels(
        cls, arrays: InstantArrays, sound: bool, numbers: dict[str, Array] | None = None, places: Places | None = None
    ) -> "Instant":
        """An instant that kernels have written, whose shapes fit, and found `sound` (`is_sound`) or not."""
        found = object.__new__(cls)
        found.__dict__.update(arrays=arrays, numbers=numbers or {}, places=places)
        if not sound:
            _find_fault(found)
        return found

    def __getattr__(self, name: str) -> Any:
        if name in MATRICES:
            parts = Stored(*(getattr(self.arrays, f"{name}_{part}") for part in Stored._fields))
            rows, columns = MATRICES[name]
            self.__dict__[name] = as_sparse(parts, (getattr(self.arrays, rows), getattr(self.arrays, columns)))
            return self.__dict__[name]
        if name in InstantArrays.fields:
            return getattr(self.arrays, name)
        raise AttributeError(f"an instant has no '{name}'")

    @cached_property
    def arrays(self) -> InstantArrays:
        """All numbers, as kernels take them."""
        sizes = {"n": self.v.size, "r": self.phi.size, "ends": self.first.size, "R": self.mu.size, "m": self.g.size}
        given = {name: getattr(self, name) for name in InstantArrays.fields if name[:2] not in ("M_", "J_")}
        for name in MATRICES:
            X = as_stored(_sparse(getattr(self, name)))
            sizes |= {f"{name}_ends": X.pointer.size, f"{name}_entries": X.data.size}
            given |= {f"{name}_{part}": numbers for part, numbers in zip(Stored._fields, X, strict=True)}
        found: InstantArrays = InstantArrays.unset(**sizes, k=self.limit.size)
        for name, numbers in given.items():
            setattr(found, name, numbers)
        return found

    @property
    def contacts(self) -> int:
        return self.arrays.r

    @property
    def directions(self) -> NDArray[np.int64]:
        """d_i (r,) of every contact."""
        return np.diff(self.first) - 1


def without_friction(s: Instant) -> Instant:
    """Return the same instant with the normals of its contacts alone, without places and contacts' own numbers."""
    arrays, normals = s.arrays, s.first[:-1]
    starts, ends = (arrays.J_pointer[normals + k] for k in (0, 1))
    entries = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts, ends)])
    sizes = dict(zip(arrays.sizes, arrays._sizes, strict=True))
    bare: InstantArrays = InstantArrays.unset(
        **sizes | {"R": normals.size, "J_ends": normals.size + 1, "J_entries": entries.size}
    )
    # Those of the rows of contacts stand together.
    bare.buffer[: bare.place("mu").start] = arrays.buffer[: arrays.place("mu").start]
    bare.buffer[bare.place("g").start :] = arrays.buffer[arrays.place("g").start :]
    bare.first, bare.J_pointer = np.arange(normals.size + 1), np.append(0, np.cumsum(ends - starts))
    for name in ("mu", "rate", "eps"):
        setattr(bare, name, getattr(arrays, name)[normals])
    bare.J_column, bare.J_data = arrays.J_column[entries], arrays.J_data[entries]
    return Instant.of_kernels(bare, True)


def pushed(s: Instant, f: Array, mu: Array) -> Instant:
    """Return the same instant with forces f (n,) and friction coefficients mu (R,) added.

    Raises DataError where a coefficient becomes negative.
    """
    arrays = s.arrays.copy()
    arrays.f = arrays.f + f
    arrays.mu = arrays.mu + mu
    return Instant.of_kernels(arrays, bool((arrays.mu >= 0).all()), s.numbers, s.places)


NOT_NEGATIVE = "mu", "e", "eps", "eps_b", "limit", "eps_f"


@kernel(types.void(types.float64, VECTOR, VECTOR, STORED, INSTANT), checked=False)
def set_bodies(h, v, f, M, s):
    """Fill what belongs to no contact, and zero wherever a scene may have nothing to say.

    Contacts then have no restitution, no compliance and no rate, and axes that do not turn; other rows have no error,
    no rate, no compliance and no limit.
    """
    s.free[0] = h
    s.first[0] = s.J_pointer[0] = s.J_b_pointer[0] = s.J_f_pointer[0] = 0
    copy(v, s.v)
    copy(f, s.f)
    for i in range(M.pointer.shape[0]):
        s.M_pointer[i] = M.pointer[i]
    for k in range(M.data.shape[0]):
        s.M_column[k], s.M_data[k] = M.column[k], M.data[k]
    for i in range(s.phi.shape[0]):
        s.heading[i, 0], s.heading[i, 1] = 1.0, 0.0
    for x in (s.e, s.rate, s.eps, s.g, s.r_b, s.eps_b, s.limit, s.r_f, s.eps_f):
        set_all(0.0, x)


@kernel(types.boolean(PLACES), checked=False)
def are_finite(places):
    """Return whether all numbers of places are."""
    wrong = 0
    for i in range(places.point.shape[0]):
        for c in range(3):
            wrong += not np.isfinite(places.point[i, c])
    for k in range(places.acts.shape[0]):
        for c in range(6):
            wrong += not np.isfinite(places.acts[k, c])
    return wrong == 0


@kernel(types.boolean(INSTANT), checked=False)
def is_sound(s):
    """Return whether `first` rises, all numbers are finite, and those not negative that must not be."""
    first, r = s.first, s.phi.shape[0]
    wrong = first[0] != 0 or first[r] != s.mu.shape[0]
    for i in range(r):
        wrong |= first[i + 1] <= first[i] or not (np.isfinite(s.heading[i, 0]) and np.isfinite(s.heading[i, 1]))
    for x, ends in (
        (s.M_data, s.M_pointer), (s.J_data, s.J_pointer), (s.J_b_data, s.J_b_pointer), (s.J_f_data, s.J_f_pointer)
    ):  # fmt: skip
        for k in range(ends[ends.shape[0] - 1]):
            wrong |= not np.isfinite(x[k])
    for x in (s.v, s.f, s.phi, s.rate, s.g, s.r_b, s.r_f):
        for k in range(x.shape[0]):
            wrong |= not np.isfinite(x[k])
    for x in (s.mu, s.e, s.eps, s.eps_b, s.limit, s.eps_f):
        for k in range(x.shape[0]):
            wrong |= not 0.0 <= x[k] < np.inf
    return not wrong


@kernel(types.void(INSTANT, VECTOR, VECTOR), checked=False)
def row_velocities(s, v, u):
    """u (R,): J v + rate."""
    copy(s.rate, u)
    add_product(Stored(s.J_pointer, s.J_column, s.J_data), v, u)


def _entries(value: Any) -> Array:
    return value.data if sparse.issparse(value) else value


def _find_fault(s: Instant) -> None:
    """Raise DataError naming what is wrong, if anything is."""
    n, r, R, m, k = s.v.size, s.phi.size, s.mu.size, s.g.size, s.limit.size
    shapes = {
        "M": (n, n), "v": (n,), "f": (n,), "first": (r + 1,), "J": (R, n), "mu": (R,), "phi": (r,), "rate": (R,),
        "e": (r,), "eps": (R,), "key": (r,), "heading": (r, 2), "J_b": (m, n), "g": (m,), "r_b": (m,),
        "eps_b": (m,), "J_f": (k, n), "limit": (k,), "r_f": (k,), "eps_f": (k,),
    }  # fmt: skip
    given = {name: getattr(s, name) for name in shapes}
    given |= {f"numbers[{name!r}]": value for name, value in s.numbers.items()}
    if s.places is not None:
        shapes |= {"point": (r, 3), "pair": (r, 2), "acts": (R, 6)}
        given |= s.places._asdict()
    for name, value in given.items():
        shape = shapes.get(name, (r,))
        if value.shape != shape:
            raise DataError(f"{name} has shape {value.shape}; {shape} is needed")
    _must_rise(s.first, R)
    for name, value in given.items():
        entries = _entries(value)
        if not np.isfinite(entries).all():
            raise DataError(f"{name} has an entry that is {entries[~np.isfinite(entries)][0]}; all must be finite")
        if name in NOT_NEGATIVE and (value < 0).any():
            raise DataError(f"{name} = {value.min():g} is negative; {name} >= 0 is needed")


def _must_rise(first: NDArray[np.int64], R: int) -> None:
    if not first.size or first[0] != 0 or first[-1] != R or (first[1:] <= first[:-1]).any():
        raise DataError(f"first = {first}; it must rise from 0 to {R}, by one at least")


def _sparse(X: Any) -> Any:
    """Return a sparse matrix, empty for a shape; valid ones are not copied: a copy takes longer than a contact."""
    if isinstance(X, tuple):
        return stored(np.zeros(X[0] + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), X)
    return X if isinstance(X, sparse.csr_array) and X.dtype == float else sparse.csr_array(X, dtype=float)


def instant(h: float, M: Any, v: Any, f: Any, **given: Any) -> Instant:
    """Return an `Instant` of the given data; others are zero or absent, `mu` of a normal is 1, and keys count up."""
    v = np.array(v, dtype=float)
    n = v.size
    J, J_b, J_f = (_sparse(given.pop(name, (0, n))) for name in ("J", "J_b", "J_f"))
    first = np.asarray(given.pop("first", [0]), dtype=np.int64)
    r, R, m, k = first.size - 1, J.shape[0], J_b.shape[0], J_f.shape[0]
    _must_rise(first, R)
    sizes = {
        "mu": R, "phi": r, "rate": R, "e": r, "eps": R, "g": m, "r_b": m, "eps_b": m, "limit": k, "r_f": k, "eps_f": k
    }  # fmt: skip
    values = {name: np.zeros(size) for name, size in sizes.items()}
    values["key"], values["heading"] = np.arange(r), np.empty((r, 2))
    values["heading"][:] = 1.0, 0.0
    numbers, places = given.pop("numbers", {}), given.pop("places", None)
    strange = given.keys() - values.keys()
    if strange:
        known = ", ".join(f.name for f in fields(Instant))
        raise DataError(f"an instant has no {sorted(strange)[0]}; it has {known}")
    for name, value in given.items():
        if np.ndim(value) and np.shape(value) != values[name].shape:
            raise DataError(f"{name} has shape {np.shape(value)}; {values[name].shape} is needed")
        values[name][...] = value
    values["mu"][first[:-1]] = 1.0
    return Instant(
        h=h, M=_sparse(M), v=v, f=np.array(f, dtype=float), first=first, J=J, J_b=J_b,
        J_f=J_f, numbers={name: np.asarray(x, dtype=float) for name, x in numbers.items()}, places=places, **values,
    )  # fmt: skip
