"""One step as blocks of few unknowns each, a contact, a joint's dry friction or a bilateral row, over sparse bodies.

    M v+ = b + J^T P,     u = J v+
    P_i = R_i x_i + s_i,     F_i = L_i u_i + N_i x_i + c_i,     F_i complementary to x_i in its set

for every block i, with its rows u_i, P_i (m_i,) of J and its unknowns x_i, F_i (k_i,). Sets are products of intervals
[lower, upper], free unknowns among them (F = 0 there), one friction cone, or one disc of given radius. Every
formulation that is local to its contacts is of this form (`language.assemble.local`); with W = J M^-1 J^T it is
F = (L W R + N) x + L (J M^-1 b + W s) + c.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from workbench.engine.lazy import sparse
from workbench.engine.stored import Stored, as_sparse, as_stored, stored
from workbench.problems.block_kernels import BlockArrays, is_sound
from workbench.problems.inertia import CHUNK, Inertia
from workbench.problems.mass import Mass, mass_of
from workbench.problems.problem import Indices, Problem, SetBySet, block_places
from workbench.problems.sets import DISC, NO_CONE, BlockSets
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SIZED_BY = {"n": "b", "blocks": "cone", "ends": "row", "rows": "s", "unknowns": "c", "flat": "L", "square": "N"}
"""Sizes of `BlockArrays`, and the arrays that have them."""
MOST_RESPONSES = 20_000_000
"""Numbers of M^-1 J^T up to which it is held where the inverse of M is not: 160 MB."""


@dataclass(frozen=True, eq=False)
class ContactBlocks(Problem):
    """B blocks over n velocities, in R rows of J and X unknowns; matrices of blocks are stored row by row, flat.

    M (n, n) sparse SPD, b (n,), J (R, n) sparse; row, unknown (B + 1,): block i has the rows row[i]:row[i + 1] and the
    unknowns unknown[i]:unknown[i + 1]; L, N, R flat, k_i m_i, k_i k_i and m_i k_i numbers for block i; c, lower, upper
    (X,), s (R,); cone (B,) one of NO_CONE, COULOMB, ASSOCIATED, APART, DISC, mu (B,) its friction coefficient, the
    radius of a disc, 0 of intervals. A block with a cone has k_i = m_i and x_i = P_i = [p_n, p_t], u_i = [u_n, u_t],
    one with a disc k_i = m_i and x_i = P_i = p_t; their bounds have no meaning.
    Raises DataError for wrong shapes, data that are not finite, bounds that leave nothing, negative mu.
    """

    M: Any
    b: Array
    J: Any
    row: Indices
    unknown: Indices
    L: Array
    N: Array
    R: Array
    c: Array
    s: Array
    lower: Array
    upper: Array
    cone: Indices
    mu: Array
    kind = "contact blocks"

    def __post_init__(self) -> None:
        for name in ("row", "unknown", "cone"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.int64))
        for name in ("b", "L", "N", "R", "c", "s", "lower", "upper", "mu"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))
        for name in ("M", "J"):
            given = getattr(self, name)
            # Scipy takes longer to make a matrix of a matrix than to pose a robot's contacts.
            if not (isinstance(given, sparse.csr_array) and given.dtype == float):
                object.__setattr__(self, name, sparse.csr_array(given, dtype=float))
        validate(self)
        # From here on they are views of `arrays`.
        for name in (*BlockArrays.fields, "M", "J"):
            self.__dict__.pop(name, None)

    @classmethod
    def of_kernels(cls, arrays: BlockArrays, mass: Mass | None = None, few: Any = None) -> "ContactBlocks":
        """Blocks that kernels have written and found sound (`block_kernels.is_sound`), with the factors of M, and what
        few blocks are asked for."""
        found = object.__new__(cls)
        known = {"arrays": arrays, "mass": mass, "few": few}
        found.__dict__.update({name: x for name, x in known.items() if x is not None})
        return found

    def __getattr__(self, name: str) -> Any:
        if name in ("M", "J"):
            rows = self.b.size if name == "M" else self.s.size
            self.__dict__[name] = as_sparse(self.stored(name), (rows, self.b.size))
            return self.__dict__[name]
        if name in BlockArrays.fields:
            return getattr(self.arrays, name)
        raise AttributeError(f"contact blocks have no '{name}'")

    @cached_property
    def arrays(self) -> BlockArrays:
        """The numbers of the blocks, as kernels take them."""
        sizes = {name: getattr(self, x).size for name, x in SIZED_BY.items()}
        stored = {name: as_stored(getattr(self, name)) for name in ("M", "J")}
        for name, X in stored.items():
            sizes |= {f"{name}_ends": X.pointer.size, f"{name}_entries": X.data.size}
        found = BlockArrays.unset(**sizes)
        for name, X in stored.items():
            for part, numbers in zip(Stored._fields, X, strict=True):
                setattr(found, f"{name}_{part}", numbers)
        for name in BlockArrays.fields:
            if name[:2] not in ("M_", "J_"):
                setattr(found, name, getattr(self, name))
        return found

    def stored(self, name: str) -> Stored:
        """M or J by rows."""
        return Stored(*(getattr(self.arrays, f"{name}_{part}") for part in Stored._fields))

    @cached_property
    def mass(self) -> Mass:
        """The factors of M, body by body. Raises DataError where it is not positive definite."""
        return mass_of(self.stored("M"), self.b.size)

    @property
    def size(self) -> int:
        return self.arrays.unknowns

    @property
    def blocks(self) -> int:
        return self.arrays.blocks

    @cached_property
    def starts(self) -> tuple[Indices, Indices]:
        """Where the numbers of every block begin (B + 1,) in L and in R, which have as many, and in N."""
        m, k = np.diff(self.row), np.diff(self.unknown)
        return np.append(0, np.cumsum(k * m)), np.append(0, np.cumsum(k * k))

    @cached_property
    def block_of_row(self) -> Indices:
        """(R,)"""
        return np.repeat(np.arange(self.blocks), np.diff(self.row))

    @cached_property
    def block_of_unknown(self) -> Indices:
        """(X,)"""
        return np.repeat(np.arange(self.blocks), np.diff(self.unknown))

    @cached_property
    def whole(self) -> tuple[Any, Any, Any]:
        """L (X, R), N (X, X), R (R, X) of all blocks, sparse."""
        return (
            block_diagonal(self.L, self.unknown, self.row),
            block_diagonal(self.N, self.unknown, self.unknown),
            block_diagonal(self.R, self.row, self.unknown),
        )

    @cached_property
    def few(self) -> Any:
        """`small_blocks.Few` where the blocks are few, else None."""
        from workbench.problems.small_blocks import room_for, set_up

        found = room_for(self.arrays)
        try:
            if found is not None:
                set_up(self.arrays, self.mass, found)
        except DataError:
            # Where that is due to rounding, another factorisation may do.
            return None
        return found

    @cached_property
    def inertia(self) -> Inertia:
        """M, factored once. Raises DataError where it is singular."""
        try:
            return _inertia(self.b.size, *(x.tobytes() for x in self.stored("M")))
        except DataError:
            raise DataError(f"M, of {self.b.size} velocities, is singular; it must be positive definite") from None

    @cached_property
    def rows(self) -> Any:
        """J (R, n) in the scaled velocities of `inertia`, v = scale v^."""
        J = self.J
        if not J.has_canonical_format:
            J = J.copy()
            J.sum_duplicates()
        return _scaled(J, self.inertia.scale) if self.b.size else J

    @cached_property
    def responses(self) -> Any:
        """(M^-1 J^T)^T (R, n) in scaled velocities, sparse; None where there are too many numbers."""
        if not self.b.size:
            return self.J
        if self.inertia.mobility is not None:
            return _scaled(self.rows, self.inertia.mobility)
        if self.inertia.inverse is not None:
            found = sparse.csr_array(self.rows @ self.inertia.inverse.T)
            found.sum_duplicates()
            return found
        if self.rows.shape[0] * self.b.size > MOST_RESPONSES:
            return None
        parts = [self._response(a) for a in range(0, self.rows.shape[0], CHUNK)]
        return sparse.csr_array(sparse.vstack(parts)) if parts else sparse.csr_array(self.rows.shape)

    def _response(self, first: int) -> Any:
        """The response to CHUNK rows of J, from `first` on."""
        return sparse.csr_array(self.inertia.response(self.rows[first : first + CHUNK].T.toarray()).T)

    @cached_property
    def own(self) -> tuple[Array, Array]:
        """The diagonal blocks of W = J M^-1 J^T, m_i m_i numbers for block i, and those of L W R + N, as N; flat."""
        from workbench.problems.block_kernels import own_matrices, row_products

        if self.few:
            return self.few.W[block_places(self.row)], self.few.own_A
        m = np.diff(self.row)
        W = np.zeros(int((m * m).sum()))
        responses = self.responses
        for first in range(0, self.s.size, CHUNK if responses is None else max(self.s.size, 1)):
            V = self._response(first) if responses is None else responses
            row_products(self.row, first, as_stored(self.rows), as_stored(V), self.b.size, W)
        A = np.empty(self.N.size)
        own_matrices(self.row, self.unknown, self.L, self.N, self.R, W, A)
        return W, A

    @cached_property
    def free(self) -> tuple[Array, Array, Array]:
        """v^ (n,) that M v = b + J^T s has, q (X,) of F = (L W R + N) x + q, and the sizes of what q is the sum of."""
        if self.few:
            few = self.few
            return few.velocity * np.sqrt(self.M.diagonal()), few.q, few.terms
        from workbench.problems.block_kernels import push

        b, none = self.b.copy(), np.zeros(self.size)
        push(self.arrays, self.stored("J"), none, self.s.copy(), b)
        v = self.inertia.response(self.inertia.scale * b) if b.size else b
        q, terms = self._pulled(v, none)
        return v, q + self.c, terms + abs(self.c)

    @cached_property
    def body(self) -> Indices:
        """(n,) which velocities M couples."""
        if self.few:
            return self.mass.group
        return self.inertia.body if self.b.size else np.zeros(0, dtype=np.int64)

    @cached_property
    def part(self) -> Indices:
        """(B,) the least block of the island of every one: what bodies couple directly or through others."""
        if self.few:
            return self.few.part
        from workbench.problems.islands import parts_over_bodies

        body = self.body.astype(np.int64)
        found = np.empty(self.blocks + int(body.max(initial=-1)) + 1, dtype=np.int64)
        parts_over_bodies(self.row, self.stored("J"), body, found)
        return found[: self.blocks]

    def among(self, blocks: Indices) -> "ContactBlocks":
        """The problem of some blocks, in ascending order, and of the velocities that they and M couple."""
        if len(blocks) == self.blocks:
            return self
        kept = np.zeros(self.blocks, dtype=bool)
        kept[blocks] = True
        rows, unknowns = kept[self.block_of_row], kept[self.block_of_unknown]
        J = self.J[rows]
        bodies = np.zeros(int(self.body.max(initial=-1)) + 1, dtype=bool)
        bodies[self.body[J.indices]] = True
        n = bodies[self.body]
        m, k = np.diff(self.row), np.diff(self.unknown)
        flat, square = np.repeat(kept, m * k), np.repeat(kept, k * k)
        return ContactBlocks(
            self.M[n][:, n], self.b[n], J[:, n], np.append(0, np.cumsum(m[kept])), np.append(0, np.cumsum(k[kept])),
            self.L[flat], self.N[square], self.R[flat], self.c[unknowns], self.s[rows], self.lower[unknowns],
            self.upper[unknowns], self.cone[kept], self.mu[kept],
        )  # fmt: skip

    def moved(self, x: Array) -> Array:
        """(L W R + N) x (X,)."""
        return self.few.A @ x if self.few else self._sums(x)[0]

    def _sums(self, x: Array) -> tuple[Array, Array]:
        """(L W R + N) x (X,), and the sizes of what its rows are the sums of."""
        return self._pulled(self._pushed(x)[0], x)

    def _pushed(self, x: Array) -> tuple[Array, Array]:
        """M^-1 J^T R x (n,) in scaled velocities, and R x (R,)."""
        from workbench.problems.block_kernels import push

        P, impulse = np.zeros(self.s.size), np.zeros(self.b.size)
        push(self.arrays, as_stored(self.rows), x, P, impulse)
        return self.inertia.response(impulse) if impulse.size else impulse, P

    def _pulled(self, v: Array, x: Array) -> tuple[Array, Array]:
        """L J v + N x (X,) of scaled velocities v (n,), and the sizes of what its rows are the sums of."""
        from workbench.problems.block_kernels import pull

        moved, terms = np.empty(self.size), np.empty(self.size)
        pull(self.arrays, as_stored(self.rows), v, x, moved, terms)
        return moved, terms

    def impulses(self, x: Array) -> Array:
        """P (R,) of x (X,)."""
        return self.motion(x)[1]

    def velocities(self, x: Array) -> Array:
        """v+ (n,) of x (X,)."""
        return self.motion(x)[0]

    def motion(self, x: Array) -> tuple[Array, Array]:
        """v+ (n,) and P (R,) of x (X,)."""
        if not self.few:
            v, P = self._pushed(self._asked(x))
            return self.inertia.scale * (self.free[0] + v) if v.size else v, P + self.s
        from workbench.problems.small_blocks import move

        v, P = np.empty(self.arrays.n), np.empty(self.arrays.rows)
        move(self.arrays, self._asked(x), self.mass, v, P)
        return v, P

    @property
    def laws(self) -> Indices:
        return self.cone

    @cached_property
    def by_set(self) -> SetBySet:
        sets = BlockSets(self.unknown, self.cone, self.mu, self.lower, self.upper)
        return SetBySet(sets, BlockOperator(self), *self.free[1:], np.arange(self.size), np.ones(self.size))

    def block_residuals(self, x: Array) -> Array:
        """As `Problem.block_residuals`; few blocks are measured by kernels."""
        if not self.few:
            return super().block_residuals(x)
        from workbench.problems.small_blocks import few_residuals

        found = np.empty(self.blocks)
        few_residuals(self.arrays, self.few, np.require(self._asked(x), requirements="W"), found)
        return found


@dataclass(frozen=True, eq=False)
class BlockOperator:
    """L W R + N of contact blocks, over bodies."""

    problem: ContactBlocks

    @property
    def own(self) -> Array:
        return self.problem.own[1]

    @cached_property
    def diagonal(self) -> Array:
        row, column = block_places(self.problem.unknown)
        return self.own[row == column]

    def products(self, x: Array) -> tuple[Array, Array]:
        """Of intervals the terms of their own block one by one, and what all others make of the row together."""
        from workbench.problems.block_kernels import own_terms

        p = self.problem
        moved, terms = p._sums(x)
        own_terms(p.unknown, p.cone, self.own, moved, x, terms)
        return moved, terms

    def parts(self) -> Indices:
        return self.problem.part

    def factors(self) -> tuple[Any, Any]:
        """Of blocks whose rows are their own unknowns, L = R = 1. A compliance is a velocity of its own."""
        p = self.problem
        N, none = p.whole[1], sparse.csr_array((p.size, 0))
        soft = np.flatnonzero(np.diff(N.indptr)) if N.nnz and N.data.any() else np.zeros(0, dtype=np.int64)
        one = sparse.eye_array(p.size, format="csr")[:, soft]
        J = sparse.hstack([p.rows, one if soft.size else none], format="csr")
        return J, sparse.hstack([p.responses, N[soft].T if soft.size else none], format="csr")

    def why_no_factors(self) -> str | None:
        p = self.problem
        k = np.diff(p.unknown)
        if (np.diff(p.row) == k).all() and k.size:
            row, column = block_places(p.unknown)
            one = np.where(row == column, 1.0, 0.0)
            if np.array_equal(p.L, one) and np.array_equal(p.R, one):
                return None if p.responses is not None else "too many velocities are coupled by M"
        return "blocks are needed whose rows are their own unknowns, L = R = 1"


@lru_cache(maxsize=4)
def _inertia(n: int, pointer: bytes, column: bytes, data: bytes) -> Inertia:
    """`Inertia` of M (n, n) by rows. From step to step few change, and factoring one takes longer than a sweep."""
    M = Stored(np.frombuffer(pointer, np.int64), np.frombuffer(column, np.int64), np.frombuffer(data))
    return Inertia(as_sparse(M, (n, n)), sparse.csr_array((n, 0)))


def _scaled(J: Any, scale: Array) -> Any:
    """The columns of a sparse matrix times numbers (n,)."""
    pointer, column, data = as_stored(J)
    return stored(pointer, column, data * scale[column], J.shape)


def block_diagonal(values: Array, row: Indices, column: Indices) -> Any:
    """Blocks (row[i + 1] - row[i]) x (column[i + 1] - column[i]), flat in values, as one sparse matrix."""
    height, width = np.diff(row), np.diff(column)
    per_row = np.repeat(width, height)
    first = np.append(0, np.cumsum(per_row))
    start = np.repeat(np.repeat(column[:-1], height), per_row)
    within = np.arange(values.size) - np.repeat(first[:-1], per_row)
    return sparse.csr_array((values, start + within, first), shape=(int(row[-1]), int(column[-1])))


def validate(p: ContactBlocks) -> None:
    """Raises DataError naming what is wrong, which is looked for where something is."""
    n, R, X, B, flat = p.b.size, p.s.size, p.c.size, p.cone.size, p.L.size
    shapes = {
        "M": (n, n), "J": (R, n), "b": (n,), "row": (B + 1,), "unknown": (B + 1,), "cone": (B,), "mu": (B,),
        "L": (flat,), "R": (flat,), "N": (p.N.size,), "c": (X,), "lower": (X,), "upper": (X,), "s": (R,),
    }  # fmt: skip
    fits = all(getattr(p, name).shape == shape for name, shape in shapes.items())
    if not (fits and is_sound(p.arrays)):
        _find_fault(p)


def _find_fault(p: ContactBlocks) -> None:
    n, B = p.b.size, p.cone.size
    for name in ("row", "unknown"):
        ends = getattr(p, name)
        if ends.shape != (B + 1,) or ends[0] != 0 or (np.diff(ends) < 0).any():
            raise DataError(f"{name} has shape {ends.shape}; it must rise from 0, in {B + 1} numbers for {B} blocks")
    m, k = np.diff(p.row), np.diff(p.unknown)
    R, X, flat = int(p.row[-1]), int(p.unknown[-1]), int((m * k).sum())
    shapes = {
        "M": (n, n), "b": (n,), "J": (R, n), "L": (flat,), "N": (int((k * k).sum()),), "R": (flat,), "c": (X,),
        "s": (R,), "lower": (X,), "upper": (X,), "cone": (B,), "mu": (B,),
    }  # fmt: skip
    for name, shape in shapes.items():
        value = getattr(p, name)
        if value.shape != shape:
            raise DataError(f"{name} has shape {value.shape}; {shape} is needed")
        entries = value.data if name in "MJ" else value
        bad = np.isnan(entries) if name in ("lower", "upper") else ~np.isfinite(entries)
        if bad.any():
            raise DataError(f"{name} has an entry that is {entries[bad][0]}; numbers are needed, finite but for bounds")
    _check_sets(p, m, k)
    _check_mass(p)


def _check_sets(p: ContactBlocks, m: Indices, k: Indices) -> None:
    cones = p.cone != NO_CONE
    if (strange := (p.cone < 0) | (p.cone > DISC)).any():
        raise DataError(f"cone[{np.argmax(strange)}] = {p.cone[strange][0]}; 0 to {DISC} is needed")
    if (wrong := cones & ((m != k) | (k == 0))).any():
        i = int(np.argmax(wrong))
        raise DataError(f"block {i} has a cone, {m[i]} rows and {k[i]} unknowns; as many of both are needed")
    if (p.mu < 0).any():
        raise DataError(f"mu = {p.mu.min():g} is negative; a friction coefficient is >= 0")
    bounded = ~np.repeat(cones, k)
    if (empty := bounded & ((p.lower > p.upper) | (p.lower == np.inf) | (p.upper == -np.inf))).any():
        i = int(np.argmax(empty))
        raise DataError(f"lower[{i}] = {p.lower[i]:g} and upper[{i}] = {p.upper[i]:g} leave no finite number")
    if cones.any():
        inside = np.repeat(cones, m * k)
        own = m[cones]
        count = own * own
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        if (p.R[inside] != (place % np.repeat(own + 1, count) == 0)).any() or p.s[np.repeat(cones, m)].any():
            raise DataError("a block with a cone has other impulses than its unknowns; R = 1 and s = 0 are needed")


def _check_mass(p: ContactBlocks) -> None:
    diagonal = p.M.diagonal()
    if (diagonal <= 0).any():
        i = int(np.argmin(diagonal))
        raise DataError(f"M[{i}, {i}] = {diagonal[i]:g}; M must be positive definite")
