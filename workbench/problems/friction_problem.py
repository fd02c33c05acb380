"""Frictional contact problems as stored in files: local (W, q, mu) and global (M, H, f, w, mu).

    local     u = W p + q
    global    M v = H p + G p_b + f,   u = H^T v + w,   G^T v + b = 0

with Coulomb's law between u and p at every contact (Acary, Bremond & Huber 2018; FCLIB). Eliminating v (and p_b) turns
the global form into the local one, W = H^T M^-1 H without bilateral constraints. Files number u and p contact by
contact, normal first; here, as everywhere in the workbench, all normal parts come first: [n (r), t (d r)].
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.problems.classes import Array, ConicQP, CoulombNCP
from workbench.problems.inertia import Inertia
from workbench.problems.sets import contact_by_contact, normals_first
from workbench.support.errors import DataError

LARGEST_DENSE = 5000
"""Largest number of unknowns for a dense matrix: 200 MB."""
Sparse = Any
"""scipy.sparse.csr_array, for which scipy has no type."""


def reversed_contacts(r: int, d: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the contacts (r,) in reverse order, and the corresponding entries of [n (r), t (d r)] (r (1 + d),)."""
    order = np.arange(r)[::-1]
    return order, np.concatenate([order, (r + d * order[:, None] + np.arange(d)).ravel()])


def _vector(name: str, value: Any, size: int) -> Array:
    value = np.array(value, dtype=float)
    if value.shape != (size,):
        raise DataError(f"{name} has shape {value.shape}; ({size},) is needed")
    if not np.isfinite(value).all():
        i = int(np.argmin(np.isfinite(value)))
        raise DataError(f"{name}[{i}] is {value[i]}; every entry must be finite")
    value.flags.writeable = False
    return value


def _matrix(name: str, value: Any, rows: int, columns: int, why: str = "") -> Sparse:
    value = sparse.csr_array(value, dtype=float)
    if value.shape != (rows, columns):
        raise DataError(f"{name} is {' x '.join(map(str, value.shape))}; {rows} x {columns} is needed{why}")
    if not np.isfinite(value.data).all():
        raise DataError(f"{name} has an entry that is {value.data[~np.isfinite(value.data)][0]}; all must be finite")
    value.sum_duplicates()
    return value


def _friction(mu: Any, d: int) -> Array:
    mu = np.atleast_1d(np.asarray(mu, dtype=float))
    if d not in (1, 2):
        raise DataError(f"d = {d} tangential directions; 1 in the plane or 2 in space is needed")
    mu = _vector("mu", mu, mu.size)
    if (mu < 0).any():
        raise DataError(f"mu = {mu.min():g} is negative; a friction coefficient is >= 0")
    return mu


@dataclass(frozen=True, eq=False)
class FrictionProblem:
    """Local problem of r contacts with d tangential directions: W (n, n) sparse, q (n,), mu (r,), n = r (1 + d).

    W is kept as given: it may be rank deficient (redundant contacts), and slightly asymmetric or indefinite. Raises
    DataError for wrong shapes, data that are not finite, negative mu.
    """

    W: Sparse
    q: Array
    mu: Array
    d: int = 2
    kind = "friction"

    def __post_init__(self) -> None:
        mu = _friction(self.mu, self.d)
        if not mu.size:
            raise DataError("no contacts; a local friction problem has at least one")
        n = mu.size * (1 + self.d)
        values = {"mu": mu, "q": _vector("q", self.q, n), "W": _matrix("W", self.W, n, n, f", as q has {n} entries")}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        return self.q.size

    @property
    def contacts(self) -> int:
        return self.mu.size

    @cached_property
    def dense(self) -> Array:
        """Return W as an array; raises DataError if it would not fit in memory."""
        if self.size > LARGEST_DENSE:
            raise DataError(f"W has {self.size} rows; at most {LARGEST_DENSE} are held as a dense matrix")
        return self.W.toarray()

    def coulomb(self) -> CoulombNCP:
        """The problem under exact Coulomb friction, as files state it; W stays sparse if a dense one would not fit."""
        return CoulombNCP(self._fitting, self.q, self.mu, self.d)

    def ccp(self) -> ConicQP:
        """The cone complementarity problem with the same data; raises DataError if W is not symmetric."""
        return ConicQP(self._fitting, self.q, self.mu, self.d)

    @property
    def _fitting(self) -> Any:
        return self.dense if self.size <= LARGEST_DENSE else self.W

    def velocity(self, p: Array) -> Array:
        """Return u = W p + q (n,) for impulses p (n,)."""
        return self.W @ p + self.q

    @classmethod
    def from_contacts(cls, W: Any, q: Any, mu: Any, d: int) -> "FrictionProblem":
        """Return the problem for data ordered contact by contact, normal first."""
        mu = _friction(mu, d)
        n = mu.size * (1 + d)
        order = normals_first(mu.size, d)
        q = _vector("q", q, n)[order]
        return cls(_matrix("W", W, n, n)[order][:, order], q, mu, d)

    def by_contacts(self) -> tuple[Sparse, Array]:
        """W and q in the order contact by contact, normal first."""
        order = contact_by_contact(self.contacts, self.d)
        return self.W[order][:, order], self.q[order]


@dataclass(frozen=True, eq=False)
class GlobalFrictionProblem:
    """Global problem: M (n, n), H (n, r (1 + d)), f (n,), w (r (1 + d),), mu (r,), G (n, m), b (m,).

    Without contacts, r = 0, it is free motion and has no local problem. Columns of H and entries of w are in the
    workbench's order. Raises DataError as `FrictionProblem` does.
    """

    M: Sparse
    H: Sparse
    f: Array
    w: Array
    mu: Array
    d: int = 2
    G: Sparse = None
    b: Array = field(default_factory=lambda: np.zeros(0))
    kind = "global friction"

    def __post_init__(self) -> None:
        mu, n = _friction(self.mu, self.d), np.size(self.f)
        m, rows = np.size(self.b), mu.size * (1 + self.d)
        values = {
            "mu": mu, "f": _vector("f", self.f, n), "w": _vector("w", self.w, rows), "M": _matrix("M", self.M, n, n),
            "H": _matrix("H", self.H, n, rows), "b": _vector("b", self.b, m),
            "G": _matrix("G", sparse.csr_array((n, 0)) if self.G is None else self.G, n, m),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        return self.w.size

    @property
    def contacts(self) -> int:
        return self.mu.size

    @cached_property
    def inertia(self) -> Inertia:
        """M and G, factored. Raises DataError if they form a singular matrix."""
        return Inertia(self.M, self.G)

    @cached_property
    def free_velocity(self) -> Array:
        """u (r (1 + d),) without impulses, which is q of the local problem."""
        return self.inertia.scaled(self.H).T @ self.inertia.velocity(self.f, self.b) + self.w

    def velocity(self, p: Array) -> Array:
        """Return u (r (1 + d),) for impulses p (r (1 + d),), which is W p + q of the local problem."""
        H = self.inertia.scaled(self.H)
        return H.T @ self.inertia.response(H @ p) + self.free_velocity

    @cached_property
    def local(self) -> FrictionProblem:
        """The local problem. W is made exactly symmetric if M is; raises DataError if M (with G) is singular."""
        if self.size > LARGEST_DENSE:
            raise DataError(f"W would have {self.size} rows; at most {LARGEST_DENSE} are formed")
        H = self.inertia.scaled(self.H)
        W = H.T @ self.inertia.response(H if self.inertia.inverse is not None else H.toarray())
        if abs(self.M - self.M.T).max() == 0:
            W = 0.5 * (W + W.T)
        return FrictionProblem(W, self.free_velocity, self.mu, self.d)

    @classmethod
    def from_contacts(cls, M: Any, H: Any, f: Any, w: Any, mu: Any, d: int, G: Any = None, b: Any = ()):
        """Return the problem for data whose contact columns are ordered contact by contact, normal first."""
        plain = cls(M, H, f, w, mu, d, G, b)
        order = normals_first(plain.contacts, d)
        return replace(plain, H=plain.H[:, order], w=plain.w[order])

    def by_contacts(self) -> tuple[Sparse, Array]:
        """H and w in the order contact by contact, normal first."""
        order = contact_by_contact(self.contacts, self.d)
        return self.H[:, order], self.w[order]
