"""Contact data of one instant where contacts come and go: sparse, and every contact with directions of its own."""

from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.lazy import sparse
from workbench.engine.stored import stored
from workbench.support.arrays import Array
from workbench.support.errors import DataError

KINDS = {0: "frictionless", 1: "planar", 2: "sliding", 3: "sliding and torsion", 5: "sliding, torsion and rolling"}
"""Number of friction directions, and the motions that friction of the contact resists."""


@dataclass(frozen=True, eq=False)
class Places:
    """Positions, bodies and axes of the r contacts of an instant, for drawings and for net forces of bodies.

    point (r, 3) [m]; pair (r, 2) numbers of the two bodies, -1 for what does not move; acts (R, 6) what a unit of
    impulse along each row is on the second body, a force along acts[:3] and a moment acts[3:] about the point, in the
    axes of the world, and the opposite on the first. For limits of joints pair is (-1, -1).
    """

    point: Array
    pair: NDArray[np.int64]
    acts: Array

    @classmethod
    @lru_cache(maxsize=16)
    def unknown(cls, r: int, R: int) -> "Places":
        """Return the places of contacts at unknown positions: they act on no body."""
        return cls(np.zeros((r, 3)), np.full((r, 2), -1), np.zeros((R, 6)))


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
        try:
            sound = self._fits() and self._has_valid_numbers()
        except TypeError:
            # Arrays of other types, or with gaps between their numbers.
            self._made_plain()
            sound = self._fits() and self._has_valid_numbers()
        # What is wrong is looked for where something is.
        if not sound:
            _find_fault(self)

    def _made_plain(self) -> None:
        """All arrays as kernels take them."""
        for name in ("v", "f", "phi", "rate", "g", "r_b", "r_f", "heading", *NOT_NEGATIVE):
            object.__setattr__(self, name, np.require(getattr(self, name), float, ["C", "W"]))
        for name in ("M", "J", "J_b", "J_f"):
            object.__setattr__(self, name, sparse.csr_array(getattr(self, name), dtype=float, copy=True))
        object.__setattr__(self, "first", np.require(self.first, np.int64, ["C", "W"]))

    def _fits(self) -> bool:
        """Return whether all shapes belong together."""
        n, r, R, m, k = self.v.size, self.phi.size, self.mu.size, self.g.size, self.limit.size
        places = self.places
        return (
            (
                self.M.shape, self.J.shape, self.J_b.shape, self.J_f.shape, self.v.shape, self.f.shape,
                self.first.shape, self.heading.shape, self.mu.shape, self.rate.shape, self.eps.shape, self.phi.shape,
                self.e.shape, self.key.shape, self.g.shape, self.r_b.shape, self.eps_b.shape, self.limit.shape,
                self.r_f.shape, self.eps_f.shape,
            )
            == (
                (n, n), (R, n), (m, n), (k, n), (n,), (n,), (r + 1,), (r, 2), (R,), (R,), (R,), (r,), (r,), (r,), (m,),
                (m,), (m,), (k,), (k,), (k,),
            )
            and all(x.shape == (r,) for x in self.numbers.values())
            and (
                places is None
                or (places.point.shape, places.pair.shape, places.acts.shape) == ((r, 3), (r, 2), (R, 6))
            )
        )  # fmt: skip

    def _has_valid_numbers(self) -> bool:
        """Return whether `first` rises, all numbers are finite, and those not negative that must not be."""
        places, numbers = self.places, self.numbers
        point, acts = (NOTHING, NOTHING) if places is None else (places.point.ravel(), places.acts.ravel())
        signed = (
            self.M.data, self.J.data, self.J_b.data, self.J_f.data, self.v, self.f, self.phi, self.rate, self.g,
            self.r_b, self.r_f, point, acts,
        )  # fmt: skip
        not_negative = self.mu, self.e, self.eps, self.eps_b, self.limit, self.eps_f
        return bool(
            has_valid_numbers(self.first, self.mu.size, signed, not_negative, self.heading)
            and (not numbers or np.isfinite(np.concatenate(list(numbers.values()))).all())
            and (places is None or np.isfinite(places.pair).all())
        )

    @property
    def contacts(self) -> int:
        return self.phi.size

    @property
    def directions(self) -> NDArray[np.int64]:
        """d_i (r,) of every contact."""
        return np.diff(self.first) - 1


NOT_NEGATIVE = "mu", "e", "eps", "eps_b", "limit", "eps_f"
NOTHING = np.zeros(0)


@kernel(types.boolean(INDICES, types.int64, types.UniTuple(VECTOR, 13), types.UniTuple(VECTOR, 6), MATRIX))
def has_valid_numbers(first, rows, signed, not_negative, heading):
    """Compiled part of `Instant._has_valid_numbers`."""
    r = first.shape[0] - 1
    wrong = first[0] != 0 or first[r] != rows
    for i in range(r):
        wrong |= first[i + 1] <= first[i]
    for x in signed:
        for k in range(x.shape[0]):
            wrong |= not np.isfinite(x[k])
    for x in not_negative:
        for k in range(x.shape[0]):
            wrong |= not 0.0 <= x[k] < np.inf
    for i in range(heading.shape[0]):
        wrong |= not (np.isfinite(heading[i, 0]) and np.isfinite(heading[i, 1]))
    return not wrong


def _entries(value: Any) -> Array:
    return value.data if sparse.issparse(value) else value


def _find_fault(s: Instant) -> None:
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
        given |= vars(s.places)
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
